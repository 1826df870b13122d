#include "k8s/admission.h"
#include "k8s/kinds.h"

#define MAX_BUDGETS 50

bool dec_class_ref(struct decoder *d, const struct tree *spec, const char *kind, str name, struct nodeclass_ref *ret,
                   struct err *e)
{
    const struct tree *ref;
    str group, ref_kind, ref_name;

    if (!dec_map(d, spec, "nodeClassRef", &ref, e))
        return false;
    if (!ref)
        return dec_fail(d, spec, "nodeClassRef", e, "required");
    if (!dec_need_str(d, ref, "name", &ref_name, e) || !dec_str(d, ref, "group", &group, e) ||
        !dec_str(d, ref, "kind", &ref_kind, e))
        return false;
    if (group.n == 0 && ref_kind.n == 0) {
        group = STR("karpenter.k8s.aws");
        ref_kind = STR("EC2NodeClass");
        objects_note(d->o,
                     "%s " STR_FMT ": nodeClassRef without group and kind is read as karpenter.k8s.aws EC2NodeClass",
                     kind, STR_ARG(name));
    }
    if (group.n == 0 || ref_kind.n == 0)
        return dec_fail(d, ref, group.n == 0 ? "group" : "kind", e, "required");
    if (memchr(group.p, '/', group.n))
        return dec_fail(d, tree_get(ref, "group"), NULL, e, "must not contain a version: write the group alone");
    *ret =
        (struct nodeclass_ref){dec_keep_shared(d, group), dec_keep_shared(d, ref_kind), dec_keep_shared(d, ref_name)};
    return true;
}

static bool dec_pool_reqs(struct decoder *d, const struct tree *spec, str name, struct claim_template *t, struct err *e)
{
    const struct tree *list;

    if (!dec_list(d, spec, "requirements", &list, e))
        return false;
    if (!list)
        return dec_fail(d, spec, "requirements", e, "required, though the list may be empty");
    if (!dec_reqs(d, spec, "requirements", REQ_POOL, &t->requirements, &t->n_requirements, e) ||
        !admit_reqs(d, list, t->requirements, ADMIT_NODEPOOL, e))
        return false;
    for (uint32_t i = 0; i < list->n; i++)
        if (!tree_get(&list->items[i], "operator"))
            objects_note(d->o, "NodePool " STR_FMT ": requirement on " STR_FMT " without operator is read as In",
                         STR_ARG(name), STR_ARG(tree_str(tree_get(&list->items[i], "key"))));
    return true;
}

/* Before v1 the field lived under disruption. It holds for new claims (control/claim_body.c) when the template has the default, which the API server fills in; the template is what it is,
 * and so is its hash, which Karpenter would compute without ever seeing the old field. */
static bool note_old_expiry(struct decoder *d, const struct tree *disruption, str name, int64_t modern_ns,
                            struct err *e)
{
    int64_t ns;

    if (!tree_get(disruption, "expireAfter"))
        return true;
    if (modern_ns == DEFAULT_EXPIRY_NS)
        objects_note(d->o, "NodePool " STR_FMT ": disruption.expireAfter is read as template.spec.expireAfter",
                     STR_ARG(name));
    else
        objects_note(d->o,
                     "NodePool " STR_FMT ": disruption.expireAfter is left out in favour of template.spec.expireAfter",
                     STR_ARG(name));
    return dec_duration(d, disruption, "expireAfter", /* never= */ true, &ns, e);
}

static bool dec_template(struct decoder *d, const struct tree *pool, str name, struct claim_template *t, struct err *e)
{
    const struct tree *tmpl, *meta, *labels, *annotations, *spec;

    if (!dec_map(d, pool, "template", &tmpl, e))
        return false;
    if (!tmpl)
        return dec_fail(d, pool, "template", e, "required");
    if (!dec_map(d, tmpl, "metadata", &meta, e) || !dec_map(d, meta, "labels", &labels, e) ||
        !dec_map(d, meta, "annotations", &annotations, e) || !dec_map(d, tmpl, "spec", &spec, e))
        return false;
    if (!spec)
        return dec_fail(d, tmpl, "spec", e, "required");
    /* Template labels keep their spelling: they are part of the hash. */
    if (!dec_labels(d, labels, /* node_keys= */ false, &t->labels, e) || !admit_labels(d, labels, e) ||
        !dec_annotations(d, annotations, &t->annotations, &t->n_annotations, e) ||
        !dec_taints(d, spec, "taints", &t->taints, e) || !admit_taints(d, tree_get(spec, "taints"), e) ||
        !dec_taints(d, spec, "startupTaints", &t->startup_taints, e) ||
        !admit_taints(d, tree_get(spec, "startupTaints"), e) || !dec_pool_reqs(d, spec, name, t, e) ||
        !dec_class_ref(d, spec, "NodePool", name, &t->class_ref, e))
        return false;
    t->has_labels = labels != NULL;
    t->has_annotations = annotations != NULL;
    t->has_taints = tree_get(spec, "taints") != NULL;
    t->has_startup_taints = tree_get(spec, "startupTaints") != NULL;
    t->has_termination_grace = tree_get(spec, "terminationGracePeriod") != NULL;
    t->expire_after_ns = DEFAULT_EXPIRY_NS;
    if (!dec_duration(d, spec, "terminationGracePeriod", /* never= */ false, &t->termination_grace_ns, e) ||
        !dec_duration(d, spec, "expireAfter", /* never= */ true, &t->expire_after_ns, e))
        return false;

    return note_old_expiry(d, tree_get(pool, "disruption"), name, t->expire_after_ns, e);
}

static bool dec_reasons(struct decoder *d, const struct tree *t, struct budget *ret, struct err *e)
{
    static const struct {
        const char *name;
        enum budget_reason bit;
    } reasons[] = {{"Underutilized", BUDGET_UNDERUTILIZED}, {"Empty", BUDGET_EMPTY}, {"Drifted", BUDGET_DRIFTED}};
    const struct tree *list;

    if (!dec_list(d, t, "reasons", &list, e))
        return false;
    ret->all_reasons = list == NULL;
    for (uint32_t i = 0; list && i < list->n; i++) {
        size_t k = 0;

        while (k < ARRAY_LEN(reasons) && !str_is(tree_str(&list->items[i]), reasons[k].name))
            k++;
        if (k == ARRAY_LEN(reasons))
            return dec_fail(d, &list->items[i], NULL, e, "must be Underutilized, Empty or Drifted");
        ret->reasons |= reasons[k].bit;
    }
    return true;
}

static bool dec_budget(struct decoder *d, const struct tree *t, struct budget *ret, struct err *e)
{
    str nodes, schedule;

    if (!dec_is_map(d, t, e) || !dec_str(d, t, "nodes", &nodes, e) || !dec_str(d, t, "schedule", &schedule, e) ||
        !dec_reasons(d, t, ret, e) || !dec_budget_duration(d, t, "duration", &ret->duration_ns, e))
        return false;
    if (!tree_get(t, "nodes"))
        nodes = STR("10%");
    if (!budget_nodes_is_valid(nodes))
        return dec_fail(d, tree_get(t, "nodes"), NULL, e, "must be a number or a percentage up to 100%%");
    ret->has_duration = tree_get(t, "duration") != NULL;
    if (ret->has_duration != (tree_get(t, "schedule") != NULL))
        return dec_fail(d, t, NULL, e, "schedule and duration must be set together");
    if (ret->has_duration && !budget_schedule_is_valid(schedule))
        return dec_fail(d, tree_get(t, "schedule"), NULL, e,
                        "\"" STR_FMT "\" is not a schedule of five fields, nor @daily or the like", STR_ARG(schedule));
    ret->nodes = dec_keep_shared(d, nodes);
    ret->schedule = dec_keep_shared(d, schedule);
    return true;
}

static bool dec_budgets(struct decoder *d, const struct tree *disruption, struct nodepool *p, struct err *e)
{
    const struct tree *list;

    if (!dec_list(d, disruption, "budgets", &list, e))
        return false;
    if (list && list->n > MAX_BUDGETS)
        return dec_fail(d, list, NULL, e, "must have at most %d items", MAX_BUDGETS);
    p->n_budgets = list ? list->n : 1;
    p->budgets = arena_new_array(d->o->arena, struct budget, p->n_budgets);
    if (!list)
        p->budgets[0] = (struct budget){.nodes = STR("10%"), .all_reasons = true};
    for (uint32_t i = 0; list && i < list->n; i++)
        if (!dec_budget(d, &list->items[i], &p->budgets[i], e))
            return false;
    return true;
}

static bool dec_disruption(struct decoder *d, const struct tree *spec, struct nodepool *p, struct err *e)
{
    static const struct {
        const char *name;
        enum consolidation_policy policy;
    } policies[] = {
        {"WhenEmptyOrUnderutilized", CONSOLIDATE_EMPTY_OR_UNDERUTILIZED},
        {"WhenUnderutilized", CONSOLIDATE_EMPTY_OR_UNDERUTILIZED},
        {"WhenEmpty", CONSOLIDATE_EMPTY},
        {"Balanced", CONSOLIDATE_BALANCED},
    };
    const struct tree *t, *policy;
    size_t i = 0;

    if (!dec_map(d, spec, "disruption", &t, e) ||
        !dec_duration(d, t, "consolidateAfter", /* never= */ true, &p->consolidate_after_ns, e) ||
        !dec_budgets(d, t, p, e))
        return false;
    policy = tree_get(t, "consolidationPolicy");
    if (!policy)
        return true;
    while (i < ARRAY_LEN(policies) && !str_is(tree_str(policy), policies[i].name))
        i++;
    if (i == ARRAY_LEN(policies))
        return dec_fail(d, policy, NULL, e, "must be WhenEmpty, WhenEmptyOrUnderutilized or Balanced");
    p->policy = policies[i].policy;
    if (str_is(policy->text, "WhenUnderutilized"))
        objects_note(d->o,
                     "NodePool " STR_FMT ": consolidationPolicy WhenUnderutilized is read as WhenEmptyOrUnderutilized",
                     STR_ARG(p->name));
    return true;
}

static bool dec_size(struct decoder *d, const struct tree *spec, struct nodepool *p, struct err *e)
{
    int64_t weight = 0;

    if (!dec_int(d, spec, "weight", 1, 100, &weight, e) ||
        !dec_int(d, spec, "replicas", 0, INT64_MAX, &p->replicas, e) ||
        !dec_resources(d, d->o->arena, spec, "limits", &p->limits, e))
        return false;
    p->weight = (int32_t)weight;
    p->has_limits = tree_get(spec, "limits") != NULL;
    p->is_static = tree_get(spec, "replicas") != NULL;
    if (!p->is_static)
        return true;
    if (weight)
        return dec_fail(d, tree_get(spec, "weight"), NULL, e, "cannot be set together with replicas");
    if (p->limits.n > 1 || (p->limits.n == 1 && !sym_eq(p->limits.q[0].name, SYM(NODES))))
        return dec_fail(d, tree_get(spec, "limits"), NULL, e, "only \"nodes\" can be limited together with replicas");
    return true;
}

bool dec_nodepool(struct decoder *d, struct err *e)
{
    const struct tree *spec, *status;
    struct nodepool p = {0};
    struct meta m;

    if (!dec_object(d, /* namespaced= */ false, &m, &spec, &status, e))
        return false;
    p.name = dec_keep(d, m.name);
    p.uid = dec_keep(d, m.uid);
    p.name_sym = sym_of(d->o->syms, m.name);
    p.deleting = m.deleting;
    if (!dec_template(d, spec, p.name, &p.tmpl, e) || !dec_disruption(d, spec, &p, e) || !dec_size(d, spec, &p, e) ||
        !dec_condition(d, status, "Ready", &p.ready, NULL, e) ||
        !dec_condition(d, status, "NodeRegistrationHealthy", &p.registers, NULL, e) ||
        !dec_annotations(d, m.annotations, &p.annotations, &p.n_annotations, e) || !dec_take_id(d, OBJ_NODEPOOL, &m, e))
        return false;
    vec_push(&d->o->pools, p);
    return true;
}
