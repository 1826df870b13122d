/* Workloads: what their pods look like and how many there should be. DaemonSets and selectors of controllers too. */
#include "k8s/kinds.h"
#include "k8s/podspec.h"

static bool dec_pod_template(struct decoder *d, const struct tree *spec, const struct meta *m, struct workload *w,
                             struct err *e)
{
    const struct tree *tmpl, *meta, *labels, *annotations, *pod;

    if (!dec_map(d, spec, "template", &tmpl, e) || !dec_map(d, tmpl, "spec", &pod, e))
        return false;
    if (!pod)
        return dec_fail(d, tmpl ? tmpl : spec, tmpl ? "spec" : "template", e, "required");
    if (!dec_map(d, tmpl, "metadata", &meta, e) || !dec_map(d, meta, "labels", &labels, e) ||
        !dec_map(d, meta, "annotations", &annotations, e) ||
        !dec_labels(d, labels, /* node_keys= */ false, &w->labels, e))
        return false;
    struct pod_source source = {.spec = pod, .fill_in = true};
    if (!dec_podspec(d, &source, w->labels, &w->spec, e) || !dec_scheduler(d, pod, &w->foreign_scheduler, e) ||
        !dec_priority(d, pod, &w->priority, e))
        return false;
    w->deletion_cost = dec_deletion_cost(d, annotations, object_kind_name(w->kind), m);
    w->do_not_disrupt = dec_keep_shared(d, tree_str(tree_get(annotations, "karpenter.sh/do-not-disrupt")));
    return true;
}

static void add_claim_source(struct decoder *d, struct claim_source *c, str name, bool ephemeral,
                             const struct tree *claim_spec)
{
    const struct tree *class = tree_get(claim_spec, "storageClassName");

    *c = (struct claim_source){sym_of(d->o->syms, name), ephemeral, class != NULL, dec_keep_shared(d, tree_str(class))};
}

/* Claims that come with each pod: ephemeral volumes, and for StatefulSets volumeClaimTemplates. */
static bool dec_claim_sources(struct decoder *d, const struct tree *spec, struct workload *w, struct err *e)
{
    const struct tree *pod = tree_at(spec, "template", "spec", NULL), *volumes, *templates;

    if (!dec_list(d, pod, "volumes", &volumes, e) || !dec_list(d, spec, "volumeClaimTemplates", &templates, e))
        return false;
    w->claims =
        arena_new_array(d->o->arena, struct claim_source, (volumes ? volumes->n : 0) + (templates ? templates->n : 0));
    for (uint32_t i = 0; volumes && i < volumes->n; i++) {
        const struct tree *t = &volumes->items[i], *source = tree_at(t, "ephemeral", "volumeClaimTemplate", NULL);

        if (tree_get(t, "ephemeral"))
            add_claim_source(d, &w->claims[w->n_claims++], tree_str(tree_get(t, "name")), /* ephemeral= */ true,
                             tree_get(source, "spec"));
    }
    for (uint32_t i = 0; templates && i < templates->n; i++) {
        const struct tree *t = &templates->items[i];
        const struct tree *meta;
        str name;

        if (!dec_is_map(d, t, e) || !dec_map(d, t, "metadata", &meta, e))
            return false;
        if (!meta)
            return dec_fail(d, t, "metadata", e, "required");
        if (!dec_need_str(d, meta, "name", &name, e))
            return false;
        add_claim_source(d, &w->claims[w->n_claims++], name, /* ephemeral= */ false, tree_get(t, "spec"));
    }
    return true;
}

static void add_controller(struct decoder *d, const struct meta *m, enum owner_kind kind, struct selector selector)
{
    vec_push(&d->o->controllers, (struct controller){m->ns, sym_of(d->o->syms, m->name), kind, selector});
}

static sym owning_deployment(struct decoder *d, const struct tree *owners)
{
    for (uint32_t i = 0; owners && i < owners->n; i++) {
        const struct tree *t = &owners->items[i];

        if (str_is(tree_str(tree_get(t, "kind")), "Deployment") && tree_is_true(tree_get(t, "controller")))
            return sym_of(d->o->syms, tree_str(tree_get(t, "name")));
    }
    return SYM(NONE);
}

/* Nothing but what pods look like. */
bool dec_podtemplate(struct decoder *d, struct err *e)
{
    struct workload w = {.kind = OBJ_PODTEMPLATE};
    const struct tree *meta;
    struct meta m;

    if (!dec_meta(d, /* namespaced= */ true, &m, e) || !dec_map(d, d->root, "metadata", &meta, e) ||
        !dec_int(d, meta, "generation", 0, INT64_MAX, &w.generation, e) || !dec_pod_template(d, d->root, &m, &w, e) ||
        !dec_take_id(d, OBJ_PODTEMPLATE, &m, e))
        return false;
    w.ns = m.ns;
    w.name = dec_keep(d, m.name);
    w.created_ms = m.created_ms;
    w.deleting = m.deleting;
    vec_push(&d->o->templates, w);
    return true;
}

static bool dec_workload(struct decoder *d, enum object_kind kind, struct workload *w, struct meta *m,
                         const struct tree **ret_spec, struct err *e)
{
    const struct tree *spec;

    *w = (struct workload){.kind = kind, .replicas = 1};
    if (!dec_meta(d, /* namespaced= */ true, m, e) || !dec_map(d, d->root, "spec", &spec, e))
        return false;
    if (!spec)
        return dec_fail(d, d->root, "spec", e, "required");
    /* In a running cluster controllers make their pods themselves; of all but DaemonSets the selector is enough. */
    bool template = !d->single || kind == OBJ_DAEMONSET;
    if ((template && (!dec_pod_template(d, spec, m, w, e) || !dec_claim_sources(d, spec, w, e))) ||
        !dec_selector(d, spec, "selector", &w->selector, e) ||
        !dec_int(d, spec, "replicas", 0, INT32_MAX, &w->replicas, e))
        return false;
    if (!d->single && w->selector.present && !selector_matches(&w->selector, d->o->syms, w->labels))
        return dec_fail(d, tree_get(spec, "selector"), NULL, e, "does not select the labels of the template");
    if (!dec_take_id(d, kind, m, e))
        return false;
    w->ns = m->ns;
    w->name = dec_keep(d, m->name);
    w->created_ms = m->created_ms;
    w->deleting = m->deleting;
    *ret_spec = spec;
    return true;
}

bool dec_deployment(struct decoder *d, struct err *e)
{
    const struct tree *spec;
    struct workload w;
    struct meta m;

    if (!dec_workload(d, OBJ_DEPLOYMENT, &w, &m, &spec, e))
        return false;
    vec_push(&d->o->workloads, w);
    return true;
}

bool dec_replicaset(struct decoder *d, struct err *e)
{
    const struct tree *spec;
    struct workload w;
    struct meta m;

    if (!dec_workload(d, OBJ_REPLICASET, &w, &m, &spec, e))
        return false;
    w.owner = owning_deployment(d, m.owners);
    vec_push(&d->o->workloads, w);
    add_controller(d, &m, OWNER_REPLICASET, w.selector);
    return true;
}

bool dec_statefulset(struct decoder *d, struct err *e)
{
    const struct tree *spec, *ordinals;
    struct workload w;
    struct meta m;

    if (!dec_workload(d, OBJ_STATEFULSET, &w, &m, &spec, e) || !dec_map(d, spec, "ordinals", &ordinals, e) ||
        !dec_int(d, ordinals, "start", 0, INT32_MAX, &w.ordinals, e))
        return false;
    vec_push(&d->o->workloads, w);
    add_controller(d, &m, OWNER_STATEFULSET, w.selector);
    return true;
}

bool dec_job(struct decoder *d, struct err *e)
{
    int64_t parallelism = 1, completions = -1, succeeded = 0;
    const struct tree *spec, *status;
    enum cond_status complete, failed;
    bool suspended;
    struct workload w;
    struct meta m;

    if (!dec_workload(d, OBJ_JOB, &w, &m, &spec, e) || !dec_map(d, d->root, "status", &status, e) ||
        !dec_int(d, spec, "parallelism", 0, INT32_MAX, &parallelism, e) ||
        !dec_int(d, spec, "completions", 0, INT32_MAX, &completions, e) ||
        !dec_int(d, status, "succeeded", 0, INT32_MAX, &succeeded, e) || !dec_bool(d, spec, "suspend", &suspended, e) ||
        !dec_condition(d, status, "Complete", &complete, NULL, e) ||
        !dec_condition(d, status, "Failed", &failed, NULL, e))
        return false;
    w.replicas = parallelism;
    if (completions >= 0)
        w.replicas = MIN(parallelism, MAX(completions - succeeded, 0));
    if (suspended || complete == COND_TRUE || failed == COND_TRUE)
        w.replicas = 0;
    vec_push(&d->o->workloads, w);
    return true;
}

bool dec_daemonset(struct decoder *d, struct err *e)
{
    const struct tree *spec;
    struct workload w;
    struct meta m;

    if (!dec_workload(d, OBJ_DAEMONSET, &w, &m, &spec, e))
        return false;
    vec_push(&d->o->daemons, (struct daemonset){m.ns, sym_of(d->o->syms, m.name), w.spec, w.labels});
    return true;
}

/* Its selector is a plain map of labels. */
bool dec_replication_controller(struct decoder *d, struct err *e)
{
    const struct tree *spec, *map;
    struct selector s = {0};
    struct meta m;

    if (!dec_meta(d, /* namespaced= */ true, &m, e) || !dec_map(d, d->root, "spec", &spec, e) ||
        !dec_map(d, spec, "selector", &map, e))
        return false;
    s.present = map != NULL;
    s.n_labels = s.n_exprs = map ? map->n : 0;
    s.exprs = arena_new_array(d->o->arena, struct req_expr, s.n_exprs);
    for (uint32_t i = 0; i < s.n_exprs; i++) {
        if (!dec_is_str(d, &map->items[i], e))
            return false;
        s.exprs[i] = (struct req_expr){
            .key = sym_of(d->o->syms, map->keys[i]), .op = OP_IN, .n_vals = 1, .vals = arena_new_one(d->o->arena, sym)};
        s.exprs[i].vals[0] = sym_of(d->o->syms, map->items[i].text);
    }
    if (!dec_take_id(d, OBJ_RC, &m, e))
        return false;
    add_controller(d, &m, OWNER_RC, s);
    return true;
}
