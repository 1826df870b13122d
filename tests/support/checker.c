/* The cluster as the input describes it: objects by kind, then Nodes joined with NodeClaims and pods with their
 * nodes (spec: scheduling 7, 8). The checks themselves are in checker_claims.c, checker_nodes.c
 * and checker_topology.c. */
#include "checker_int.h"

#include <stdarg.h>
#include <time.h>

#include "data/reader.h"

#define MAX_PRINTED 200

struct checker *checker_new(FILE *violations)
{
    static const char *const core[] = {K_NP, K_ZONE, "topology.kubernetes.io/region",   K_ITYPE, K_ARCH,
                                       K_OS, K_CT,   "node.kubernetes.io/windows-build"};
    struct checker *c = xcalloc(1, sizeof(*c));

    c->a = arena_new(1 << 20);
    c->scratch = arena_new(1 << 16);
    c->out = violations;
    c->now_ms = (int64_t)time(NULL) * 1000;
    c->res_cpu = resource_ix(c, STR("cpu"));
    c->res_memory = resource_ix(c, STR("memory"));
    c->res_pods = resource_ix(c, STR("pods"));
    for (size_t i = 0; i < ARRAY_LEN(core); i++)
        well_known_add(c, str_c(core[i]));
    return c;
}

void checker_free(struct checker *c)
{
    if (!c)
        return;
    struct strmap *maps[] = {&c->type_ix,  &c->node_by_provider, &c->node_by_name, &c->node_by_plan_name,
                             &c->shape_ix, &c->pod_ix,           &c->group_ix,     &c->group_alike,
                             &c->claim_ix, &c->volume_ix,        &c->class_ix,     &c->reqset_ix,
                             &c->list_ix,  &c->reservations,     &c->domain_ix,    &c->pool_ix};
    struct u64map *pairs[] = {&c->pod_verdicts, &c->pool_verdicts, &c->tolerance, &c->count_ix};

    for (size_t i = 0; i < ARRAY_LEN(maps); i++)
        strmap_fini(maps[i]);
    for (size_t i = 0; i < ARRAY_LEN(pairs); i++)
        u64map_fini(pairs[i]);
    void *arrays[] = {
        c->resources.v,         c->well_known.v,  c->types.v,   c->pools.v,  c->nodes.v,   c->shapes.v,  c->pods.v,
        c->pod_nodes.v,         c->groups.v,      c->daemons.v, c->claims.v, c->volumes.v, c->classes.v, c->csi,
        c->namespaces.v,        c->bad_classes.v, c->reqsets.v, c->lists.v,  c->hosts.v,   c->counts.v,  c->domains.v,
        c->reservations_left.v, c->daemon_pods.v, c->pdbs.v};
    for (size_t i = 0; i < ARRAY_LEN(arrays); i++)
        free(arrays[i]);
    sb_fini(&c->tmp);
    arena_free(c->scratch);
    arena_free(c->a);
    free(c);
}

void checker_fail(struct checker *c, const char *fmt, ...)
{
    va_list ap;

    if (++c->n_violations > MAX_PRINTED)
        return;
    va_start(ap, fmt);
    (void)vfprintf(c->out, fmt, ap);
    va_end(ap);
    (void)fputc('\n', c->out);
}

uint64_t checker_violations(const struct checker *c)
{
    return c->n_violations;
}

uint64_t checker_unverified(const struct checker *c)
{
    return c->n_unverified;
}

uint64_t checker_pods(const struct checker *c)
{
    return c->n_pending;
}

bool checker_setting(struct checker *c, const char *key_value, struct err *e)
{
    str key, value;

    if (!str_cut(str_c(key_value), '=', &key, &value))
        return err_set(e, ERR_INVALID, "settings have the form KEY=VALUE, not %s", key_value);
    if (str_is(key, "MIN_VALUES_POLICY"))
        c->best_effort = str_is(value, "BestEffort");
    else if (str_is(key, "FEATURE_GATES")) {
        c->no_reserved = str_contains(value, STR("ReservedCapacity=false"));
        c->spot_to_spot = str_contains(value, STR("SpotToSpotConsolidation=true"));
    }
    return true;
}

bool checker_now(struct checker *c, const char *rfc3339, struct err *e)
{
    return time_read(str_c(rfc3339), &c->now_ms) || err_set(e, ERR_INVALID, "%s is not a time", rfc3339);
}

static struct ctaints taints_read(struct checker *c, const struct tree *list)
{
    struct ctaints t = {0};

    if (!list || list->kind != TREE_LIST)
        return t;
    t.v = arena_new_array(c->a, struct ctaint, list->n + 1);
    for (uint32_t i = 0; i < list->n; i++)
        t.v[t.n++] = (struct ctaint){
            .key = keep(c, tree_str(tree_get(&list->items[i], "key"))),
            .value = keep(c, tree_scalar(tree_get(&list->items[i], "value"))),
            .effect = keep(c, tree_str(tree_get(&list->items[i], "effect"))),
        };
    return t;
}

static const struct tree *condition_object(const struct tree *o, const char *type)
{
    const struct tree *list = tree_at(o, "status", "conditions", NULL);

    for (uint32_t i = 0; list && list->kind == TREE_LIST && i < list->n; i++)
        if (str_is(tree_str(tree_get(&list->items[i], "type")), type))
            return &list->items[i];
    return NULL;
}

static str condition(const struct tree *o, const char *type)
{
    return tree_str(tree_get(condition_object(o, type), "status"));
}

static str annotation(const struct tree *o, const char *key)
{
    return tree_str(tree_at(o, "metadata", "annotations", key, NULL));
}

static void hash_read(struct checker *c, const struct tree *o, str *ret_hash, str *ret_version)
{
    *ret_hash = keep(c, annotation(o, "karpenter.sh/nodepool-hash"));
    *ret_version = keep(c, annotation(o, "karpenter.sh/nodepool-hash-version"));
}

static struct cbudget budget_read(struct checker *c, const struct tree *t)
{
    const struct tree *reasons = tree_get(t, "reasons");
    struct cbudget b = {.nodes = keep(c, tree_scalar(tree_get(t, "nodes"))),
                        .schedule = keep(c, tree_str(tree_get(t, "schedule"))),
                        .any_reason = !reasons};

    b.has_duration = duration_read(tree_str(tree_get(t, "duration")), &b.duration_ms);
    b.reasons = arena_new_array(c->a, str, (reasons ? reasons->n : 0) + 1);
    for (uint32_t i = 0; reasons && reasons->kind == TREE_LIST && i < reasons->n; i++)
        b.reasons[b.n_reasons++] = keep(c, tree_str(&reasons->items[i]));
    return b;
}

static void disruption_read(struct checker *c, struct cpool *p, const struct tree *t)
{
    const struct tree *budgets = tree_get(t, "budgets");
    uint32_t n = budgets && budgets->kind == TREE_LIST ? budgets->n : 0;
    str after = tree_str(tree_get(t, "consolidateAfter"));

    p->never = str_is(after, "Never");
    (void)duration_read(after, &p->consolidate_after_ms);
    p->policy = keep(c, tree_str(tree_get(t, "consolidationPolicy")));
    p->budgets = arena_new_array(c->a, struct cbudget, n + 1);
    for (uint32_t i = 0; i < n; i++)
        p->budgets[p->n_budgets++] = budget_read(c, &budgets->items[i]);
    if (!budgets)
        p->budgets[p->n_budgets++] = (struct cbudget){.nodes = STR("10%"), .any_reason = true};
}

static str class_id(struct checker *c, str kind, str name)
{
    return arena_printf(c->a, STR_FMT "/" STR_FMT, STR_ARG(kind), STR_ARG(name));
}

static void pool_read(struct checker *c, const struct tree *o)
{
    const struct tree *spec = tree_get(o, "spec"), *tspec = tree_at(spec, "template", "spec", NULL);
    const struct tree *ref = tree_get(tspec, "nodeClassRef"), *limits = tree_get(spec, "limits");
    struct clabels labels = labels_read(c, tree_at(spec, "template", "metadata", "labels", NULL));
    struct cpool p = {.name = keep(c, tree_str(tree_at(o, "metadata", "name", NULL))), .node_limit = INT64_MAX};

    p.reqs = creqs_of_list(c, tree_get(tspec, "requirements"));
    p.written = creqs_copy(c, &p.reqs);
    p.is_static = tree_get(spec, "replicas") != NULL;
    disruption_read(c, &p, tree_get(spec, "disruption"));
    hash_read(c, o, &p.hash, &p.hash_version);
    for (uint32_t i = 0; i < p.reqs.n; i++)
        p.has_min_values |= p.reqs.v[i].min_values > 0;
    for (uint32_t i = 0; i < labels.n; i++)
        creqs_add(c, &p.reqs, creq_in(c, labels.v[i].key, labels.v[i].value));
    creqs_add(c, &p.reqs, creq_in(c, STR(K_NP), p.name));
    p.taints = taints_read(c, tree_get(tspec, "taints"));
    for (uint32_t i = 0; limits && limits->kind == TREE_MAP && i < limits->n; i++) {
        if (str_is(limits->keys[i], "nodes")) {
            p.node_limit = (int64_t)(quantity_parse(tree_scalar(&limits->items[i])) / 1000000000);
            continue;
        }
        uint32_t r = resource_ix(c, limits->keys[i]);
        p.limited |= 1u << r;
        p.limits.v[r] = quantity_parse(tree_scalar(&limits->items[i]));
    }
    p.usable =
        !p.is_static && !tree_at(o, "metadata", "deletionTimestamp", NULL) && !str_is(condition(o, "Ready"), "False");
    p.class_id = class_id(c, tree_str(tree_get(ref, "kind")), tree_str(tree_get(ref, "name")));
    strmap_put(&c->pool_ix, p.name, c->pools.n);
    vec_push(&c->pools, p);
}

static struct cnode *node_for(struct checker *c, str provider_id)
{
    uint32_t ix = strmap_get(&c->node_by_provider, provider_id);

    if (ix == MAP_NONE) {
        ix = c->nodes.n;
        struct cnode *n = vec_add(&c->nodes);
        n->provider_id = keep(c, provider_id);
        n->first_pod = NONE;
        n->pool = NONE;
        strmap_put(&c->node_by_provider, n->provider_id, ix);
    }
    return &c->nodes.v[ix];
}

static void claim_read(struct checker *c, const struct tree *o)
{
    const struct tree *spec = tree_get(o, "spec"), *status = tree_get(o, "status");
    str provider = tree_str(tree_get(status, "providerID"));

    if (provider.n == 0)
        return;
    struct cnode *n = node_for(c, provider);
    n->has_claim = true;
    n->claim_name = keep(c, tree_str(tree_at(o, "metadata", "name", NULL)));
    n->claim_labels = labels_read(c, tree_at(o, "metadata", "labels", NULL));
    n->claim_taints = taints_read(c, tree_get(spec, "taints"));
    n->startup_taints = taints_read(c, tree_get(spec, "startupTaints"));
    rvec_read(c, tree_get(status, "capacity"), &n->claim_capacity);
    rvec_read(c, tree_get(status, "allocatable"), &n->claim_allocatable);
    n->deletion_mark_claim =
        tree_at(o, "metadata", "deletionTimestamp", NULL) || str_is(condition(o, "InstanceTerminating"), "True");
    n->consolidatable = str_is(condition(o, "Consolidatable"), "True");
    n->drifted = str_is(condition(o, "Drifted"), "True");
    n->terminating = str_is(condition(o, "InstanceTerminating"), "True");
    n->was_initialized = str_is(condition(o, "Initialized"), "True");
    n->has_grace = tree_get(spec, "terminationGracePeriod") != NULL;
    hash_read(c, o, &n->hash, &n->hash_version);
    if (!time_read(tree_str(tree_get(status, "lastPodEventTime")), &n->quiet_since_ms) &&
        !time_read(tree_str(tree_get(condition_object(o, "Initialized"), "lastTransitionTime")), &n->quiet_since_ms))
        n->quiet_since_ms = INT64_MIN;
}

static void node_read(struct checker *c, const struct tree *o)
{
    const struct tree *spec = tree_get(o, "spec"), *status = tree_get(o, "status");
    str name = tree_str(tree_at(o, "metadata", "name", NULL)), provider = tree_str(tree_get(spec, "providerID"));
    struct clabels labels = labels_read(c, tree_at(o, "metadata", "labels", NULL));
    bool pooled = labels_get(&labels, STR(K_NP)).p != NULL;

    struct cnode *n = node_for(c, provider.n ? provider : name);
    n->has_node = true;
    n->node_name = keep(c, name);
    n->node_labels = labels;
    n->node_taints = taints_read(c, tree_get(spec, "taints"));
    rvec_read(c, tree_get(status, "capacity"), &n->node_capacity);
    rvec_read(c, tree_get(status, "allocatable"), &n->node_allocatable);
    n->deletion_mark_node = tree_at(o, "metadata", "deletionTimestamp", NULL) != NULL;
    n->not_ready = !str_is(condition(o, "Ready"), "True");
    n->guarded = str_is(annotation(o, K_DO_NOT_DISRUPT), "true");
    n->ignored = pooled && (provider.n == 0 ||
                            (!labels_get(&labels, STR(K_ITYPE)).n && !labels_get(&labels, STR(K_INITIALIZED)).n));
    strmap_put(&c->node_by_name, n->node_name, (uint32_t)(n - c->nodes.v));
}

static str owner_of_kind(const struct tree *o, const char *kind)
{
    const struct tree *refs = tree_at(o, "metadata", "ownerReferences", NULL);

    for (uint32_t i = 0; refs && refs->kind == TREE_LIST && i < refs->n; i++)
        if (str_is(tree_str(tree_get(&refs->items[i], "kind")), kind))
            return tree_str(tree_get(&refs->items[i], "name"));
    return (str){0};
}

static void daemon_pod(struct checker *c, str owner, uint32_t shape)
{
    for (uint32_t i = 0; i < c->daemon_pods.n; i++)
        if (c->daemon_pods.v[i].shape == shape && str_eq(c->daemon_pods.v[i].owner, owner))
            return;
    struct daemon_pod d = {keep(c, owner), shape};
    vec_push(&c->daemon_pods, d);
}

/* do-not-disrupt on a pod: for good, or for so long after it started (spec: lifecycle 1.2). */
static bool pod_guarded(const struct checker *c, const struct tree *o)
{
    str value = annotation(o, K_DO_NOT_DISRUPT);
    int64_t length_ms, start_ms;

    if (value.n == 0 || str_is(value, "true"))
        return value.n != 0;
    if (!duration_read(value, &length_ms) || length_ms <= 0)
        return false;
    return !time_read(tree_str(tree_at(o, "status", "startTime", NULL)), &start_ms) || c->now_ms - start_ms < length_ms;
}

/* Eviction costs more than nothing unless priority and deletion cost are far below zero (spec: lifecycle 1.4). */
static bool pod_weightless(const struct tree *o)
{
    str cost = annotation(o, "controller.kubernetes.io/pod-deletion-cost");
    str priority = tree_scalar(tree_at(o, "spec", "priority", NULL));

    return 1.0 + json_number(cost) / 134217728.0 + json_number(priority) / 33554432.0 <= 0;
}

static void pod_read(struct checker *c, const struct tree *o)
{
    const struct tree *meta = tree_get(o, "metadata"), *spec = tree_get(o, "spec");
    str name = tree_str(tree_get(meta, "name")), ns = tree_str(tree_get(meta, "namespace"));
    str node = tree_str(tree_get(spec, "nodeName")), phase = tree_str(tree_at(o, "status", "phase", NULL));
    str scheduler = tree_str(tree_get(spec, "schedulerName"));
    bool finished = str_is(phase, "Succeeded") || str_is(phase, "Failed"),
         deleting = tree_get(meta, "deletionTimestamp") != NULL;

    if (ns.n == 0)
        ns = STR("default");
    struct cpod p = {.host = NONE, .next = NONE, .counted = !finished && !deleting};
    p.id = arena_printf(c->a, STR_FMT "/" STR_FMT, STR_ARG(ns), STR_ARG(name));
    p.daemon = owner_of_kind(o, "DaemonSet").p != NULL;
    p.shape = shape_of(c, ns, name, tree_get(meta, "labels"), spec, /* template_limits= */ false);
    if (finished)
        p.role = POD_OTHER;
    else if (node.n)
        p.role = POD_BOUND;
    else if (p.daemon || (scheduler.n && !str_is(scheduler, "default-scheduler")) || owner_of_kind(o, "Node").p)
        p.role = POD_OTHER;
    else
        p.role = POD_PENDING;
    p.mirror = owner_of_kind(o, "Node").p != NULL;
    p.stateful = owner_of_kind(o, "StatefulSet").p != NULL;
    p.unready = str_is(condition(o, "Ready"), "False");
    p.guarded = pod_guarded(c, o);
    p.weightless = pod_weightless(o);
    if (p.daemon)
        daemon_pod(c, owner_of_kind(o, "DaemonSet"), p.shape);
    strmap_put(&c->pod_ix, p.id, c->pods.n);
    vec_push(&c->pods, p);
    vec_push(&c->pod_nodes, node.n ? keep(c, node) : (str){0});
}

static void daemonset_read(struct checker *c, const struct tree *o)
{
    const struct tree *t = tree_at(o, "spec", "template", NULL);
    str name = tree_str(tree_at(o, "metadata", "name", NULL)), ns = tree_str(tree_at(o, "metadata", "namespace", NULL));
    struct cdaemon d = {.name = keep(c, name)};

    d.shape = shape_of(c, ns.n ? ns : STR("default"), name, tree_at(t, "metadata", "labels", NULL), tree_get(t, "spec"),
                       true);
    d.unclear = c->shapes.v[d.shape].n_terms > 1;
    vec_push(&c->daemons, d);
}

static void alternatives_of(struct checker *c, struct cvolume *v, const struct tree *terms, const char *list_key,
                            bool local)
{
    v->alternatives = arena_new_array(c->a, struct creqs, (terms ? terms->n : 0) + 1);
    for (uint32_t i = 0; terms && terms->kind == TREE_LIST && i < terms->n; i++) {
        const struct tree *exprs = tree_get(&terms->items[i], list_key);
        struct creqs kept = {0};

        if (!exprs || exprs->n == 0)
            continue;
        for (uint32_t k = 0; k < exprs->n; k++) {
            const struct tree *x = &exprs->items[k];
            str op = tree_str(tree_get(x, "operator"));
            struct creq r = creq_make(c, tree_str(tree_get(x, "key")), op.n ? op : STR("In"), tree_get(x, "values"));

            if (!(local && str_is(r.key, K_HOST)))
                creqs_add(c, &kept, r);
        }
        v->alternatives[v->n_alternatives++] = kept;
    }
}

static void volume_read(struct checker *c, const struct tree *o)
{
    const struct tree *spec = tree_get(o, "spec");
    struct cvolume v = {.name = keep(c, tree_str(tree_at(o, "metadata", "name", NULL)))};

    v.unclaimed = !tree_get(spec, "claimRef");
    v.driver = keep(c, tree_str(tree_at(spec, "csi", "driver", NULL)));
    if (v.driver.n == 0 && tree_get(spec, "awsElasticBlockStore"))
        v.driver = STR("ebs.csi.aws.com");
    alternatives_of(c, &v, tree_at(spec, "nodeAffinity", "required", "nodeSelectorTerms", NULL), "matchExpressions",
                    tree_get(spec, "local") || tree_get(spec, "hostPath"));
    strmap_put(&c->volume_ix, v.name, c->volumes.n);
    vec_push(&c->volumes, v);
}

static void storage_class_read(struct checker *c, const struct tree *o)
{
    struct cvolume v = {.name = keep(c, tree_str(tree_at(o, "metadata", "name", NULL)))};

    v.driver = keep(c, tree_str(tree_get(o, "provisioner")));
    if (str_starts(v.driver, STR("kubernetes.io/")))
        v.driver = (str){0}; /* in-tree names are translated upstream; not judged here */
    v.immediate = !str_is(tree_str(tree_get(o, "volumeBindingMode")), "WaitForFirstConsumer");
    alternatives_of(c, &v, tree_get(o, "allowedTopologies"), "matchLabelExpressions", /* local= */ false);
    strmap_put(&c->class_ix, v.name, c->classes.n);
    vec_push(&c->classes, v);
}

static void pvc_read(struct checker *c, const struct tree *o)
{
    str ns = tree_str(tree_at(o, "metadata", "namespace", NULL)), name = tree_str(tree_at(o, "metadata", "name", NULL));
    struct cvolume_claim p = {.volume = keep(c, tree_str(tree_at(o, "spec", "volumeName", NULL))),
                              .storage_class = keep(c, tree_str(tree_at(o, "spec", "storageClassName", NULL)))};

    p.id = arena_printf(c->a, STR_FMT "/" STR_FMT, STR_ARG(ns.n ? ns : STR("default")), STR_ARG(name));
    p.lost = str_is(tree_str(tree_at(o, "status", "phase", NULL)), "Lost") ||
             tree_at(o, "metadata", "deletionTimestamp", NULL);
    strmap_put(&c->claim_ix, p.id, c->claims.n);
    vec_push(&c->claims, p);
}

static void csinode_read(struct checker *c, const struct tree *o)
{
    const struct tree *drivers = tree_at(o, "spec", "drivers", NULL);

    for (uint32_t i = 0; drivers && drivers->kind == TREE_LIST && i < drivers->n; i++) {
        struct csi_limit l = {.node = keep(c, tree_str(tree_at(o, "metadata", "name", NULL))),
                              .driver = keep(c, tree_str(tree_get(&drivers->items[i], "name")))};

        if (!str_to_i64(tree_scalar(tree_at(&drivers->items[i], "allocatable", "count", NULL)), &l.count))
            continue;
        if (c->n_csi == c->cap_csi)
            c->csi = vec_grow(c->csi, &c->cap_csi, c->n_csi + 1, sizeof(*c->csi));
        c->csi[c->n_csi++] = l;
    }
}

static void namespace_read(struct checker *c, const struct tree *o)
{
    struct namespace_labels n = {.name = keep(c, tree_str(tree_at(o, "metadata", "name", NULL))),
                                 .labels = labels_read(c, tree_at(o, "metadata", "labels", NULL))};

    vec_push(&c->namespaces, n);
}

static void class_read(struct checker *c, const struct tree *o)
{
    if (str_is(condition(o, "Ready"), "False"))
        vec_push(&c->bad_classes,
                 class_id(c, tree_str(tree_get(o, "kind")), tree_str(tree_at(o, "metadata", "name", NULL))));
}

static void pdb_read(struct checker *c, const struct tree *o)
{
    const struct tree *spec = tree_get(o, "spec");
    str ns = tree_str(tree_at(o, "metadata", "namespace", NULL));
    str most = tree_scalar(tree_get(spec, "maxUnavailable")), least = tree_scalar(tree_get(spec, "minAvailable"));
    struct cpdb p = {.ns = keep(c, ns.n ? ns : STR("default")),
                     .name = keep(c, tree_str(tree_at(o, "metadata", "name", NULL))),
                     .selector = selector_read(c, tree_get(spec, "selector"))};

    p.always_unhealthy = str_is(tree_str(tree_get(spec, "unhealthyPodEvictionPolicy")), "AlwaysAllow");
    p.never = str_is(most, "0") || str_is(most, "0%") || str_is(least, "100%");
    p.counted = str_to_i64(tree_scalar(tree_at(o, "status", "disruptionsAllowed", NULL)), &p.allowed);
    vec_push(&c->pdbs, p);
}

static void not_modelled(struct checker *c, const struct tree *o)
{
    (void)o;
    c->partial = true;
}

static const struct {
    const char *kind;
    void (*read)(struct checker *c, const struct tree *o);
} kinds[] = {
    {"Pod", pod_read},
    {"Node", node_read},
    {"NodeClaim", claim_read},
    {"NodePool", pool_read},
    {"DaemonSet", daemonset_read},
    {"PersistentVolumeClaim", pvc_read},
    {"PersistentVolume", volume_read},
    {"StorageClass", storage_class_read},
    {"CSINode", csinode_read},
    {"Namespace", namespace_read},
    {"PodDisruptionBudget", pdb_read},
    {"KWOKNodeClass", class_read},
    {"EC2NodeClass", class_read},
    {"Deployment", not_modelled},
    {"ReplicaSet", not_modelled},
    {"StatefulSet", not_modelled},
    {"Job", not_modelled},
    {"CapacityBuffer", not_modelled},
    {"NodeOverlay", not_modelled},
};

bool checker_objects(struct checker *c, const char *path, struct err *e)
{
    AUTO(reader) struct reader *r = reader_open(path, e);
    const struct tree *o;

    if (!r)
        return false;
    for (;;) {
        if (!reader_next(r, &o, e))
            return false;
        if (!o)
            return true;
        str kind = tree_str(tree_get(o, "kind"));
        for (size_t i = 0; i < ARRAY_LEN(kinds); i++)
            if (str_is(kind, kinds[i].kind)) {
                kinds[i].read(c, o);
                break;
            }
    }
}

bool checker_plan(struct checker *c, const char *path, struct err *e)
{
    cluster_complete(c);
    if (!plan_read(c, path, e))
        return false;
    existing_check(c);
    topology_check(c);
    return true;
}

bool checker_disruption(struct checker *c, const char *path, struct err *e)
{
    c->disrupting = true;
    cluster_complete(c);
    shift_begin(c);
    return plan_read(c, path, e);
}
