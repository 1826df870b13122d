/* What the controllers of NodePools decide (lifecycle 5, checklist 14.5). */
#include "control/claim_int.h"
#include "data/edit.h"
#include "support/check.h"
#include "support/trees.h"

static struct cond_object pool(struct arena *a)
{
    struct cond_object o = {.arena = a,
                            .obj =
                                tree_yaml(a, "{metadata: {generation: 1, creationTimestamp: '2026-01-01T00:00:00Z'}}"),
                            .set = &conds_nodepool,
                            .now_ms = INT64_C(1767225600000)};

    conds_init(&o);
    return o;
}

static const struct {
    const char *name, *class, *want;
} classes[] = {
    {"NP-5: missing", NULL, "False NodeClassNotFound: NodeClass not found on cluster"},
    {"NP-5: ready", "{status: {conditions: [{type: Ready, status: 'True'}]}}", "True NodeClassReady: "},
    {"NP-5: not ready", "{status: {conditions: [{type: Ready, status: 'False', reason: Subnets, message: none}]}}",
     "False Subnets: none"},
    {"NP-5: not known", "{status: {conditions: [{type: Ready, status: Unknown}]}}",
     "False NodeClassReadinessUnknown: Node Class Readiness Unknown"},
    {"NP-5: no conditions", "{metadata: {name: c}}", "False NodeClassReadinessUnknown: Node Class Readiness Unknown"},
    {"NP-5: terminating",
     "{metadata: {deletionTimestamp: '2026-01-01T00:00:00Z'}, status: {conditions: [{type: Ready, status: 'True'}]}}",
     "False NodeClassTerminating: NodeClass is Terminating"},
};

static void readiness(void **state)
{
    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(classes); i++) {
        AUTO(arena) struct arena *a = arena_new(0);
        struct cond_object o = pool(a);

        check_true(classes[i].name, readiness_decide(&o, classes[i].class ? tree_yaml(a, classes[i].class) : NULL));
        struct cond c = cond_get(o.obj, "NodeClassReady");
        check_str(
            classes[i].name,
            arena_printf(a, STR_FMT " " STR_FMT ": " STR_FMT, STR_ARG(c.status), STR_ARG(c.reason), STR_ARG(c.message)),
            classes[i].want);
        check_true(classes[i].name, !readiness_decide(&o, classes[i].class ? tree_yaml(a, classes[i].class) : NULL));
    }
}

static const struct {
    const char *name, *claim, *want; /* want NULL: untouched */
} claims[] = {
    {"NP-4: of an older version",
     "{metadata: {annotations: {karpenter.sh/nodepool-hash: old, karpenter.sh/nodepool-hash-version: v2}}}",
     "{metadata: {annotations: {karpenter.sh/nodepool-hash: new, karpenter.sh/nodepool-hash-version: v3}}}"},
    {"NP-4: of none", "{metadata: {}}",
     "{metadata: {annotations: {karpenter.sh/nodepool-hash: new, karpenter.sh/nodepool-hash-version: v3}}}"},
    {"NP-4: up to date",
     "{metadata: {annotations: {karpenter.sh/nodepool-hash: old, karpenter.sh/nodepool-hash-version: v3}}}", NULL},
    {"NP-4: drifted",
     "{metadata: {annotations: {karpenter.sh/nodepool-hash: old}}, status: {conditions: [{type: Drifted, status: 'True'}]}}",
     "{metadata: {annotations: {karpenter.sh/nodepool-hash: old, karpenter.sh/nodepool-hash-version: v3}}, status: "
     "{conditions: [{type: Drifted, status: 'True'}]}}"},
};

static void hash_versions(void **state)
{
    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(claims); i++) {
        AUTO(arena) struct arena *a = arena_new(0);
        struct tree *c = tree_yaml(a, claims[i].claim);

        check_true(claims[i].name, hash_adopt_claim(a, c, STR("new")) == (claims[i].want != NULL));
        check_tree(claims[i].name, c, claims[i].want ? claims[i].want : claims[i].claim);
    }
}

static void counter(void **state)
{
    AUTO(arena) struct arena *a = arena_new(0);
    AUTO(syms) struct syms *t = syms_new();
    struct tree *p = tree_yaml(a, "{metadata: {name: p}}");
    struct reslist usage = {0};

    (void)state;
    counter_decide(a, t, p, &usage);
    check_tree("NP-1: nothing", tree_get(p, "status"),
               "{nodes: 0, resources: {cpu: '0', memory: '0', pods: '0', ephemeral-storage: '0', nodes: '0'}}");
    reslist_set(a, &usage, SYM(CPU), 6500000000, false);
    reslist_set(a, &usage, SYM(MEMORY), (512ll << 20) * 1000, true);
    reslist_set(a, &usage, SYM(NODES), 2000, false);
    reslist_set(a, &usage, sym_of(t, STR("example.com/gpu")), 1000, false);
    counter_decide(a, t, p, &usage);
    check_tree("NP-2: two", tree_get(p, "status"),
               "{nodes: 2, resources: {cpu: 6500m, memory: 512Mi, pods: '0', ephemeral-storage: '0', nodes: '2', "
               "example.com/gpu: '1'}}");
}

static void health(void **state)
{
    struct pool_note n = {0};

    (void)state;
    check_i64("nothing is known", pool_health_of(&n), HEALTH_UNKNOWN);
    check_i64("one failure is none", pool_health_with(&n, true), HEALTH_GOOD);
    check_i64("asking changes nothing", pool_health_of(&n), HEALTH_UNKNOWN);
    pool_health_add(&n, true);
    check_i64("LC-23: two", pool_health_with(&n, true), HEALTH_BAD);
    pool_health_add(&n, true);
    check_i64("LC-15: a success does not outweigh them", pool_health_with(&n, false), HEALTH_BAD);
    pool_health_add(&n, false);
    pool_health_add(&n, false);
    check_i64("two of four", pool_health_of(&n), HEALTH_BAD);
    pool_health_add(&n, false);
    check_i64("the oldest is forgotten", pool_health_of(&n), HEALTH_GOOD);
    pool_health_add(&n, false);
    check_i64("and the next", pool_health_of(&n), HEALTH_GOOD);
    check_i64("one failure", pool_health_with(&n, true), HEALTH_GOOD);
}

static const struct {
    const char *name;
    int64_t replicas, limit; /* limit -1: none */
    uint32_t active, going, pending;
    int64_t want;
    bool limited;
} statics[] = {
    {"SP-2: from nothing", 3, -1, 0, 0, 0, 3, false},
    {"SP-2: some are there", 3, -1, 2, 0, 0, 1, false},
    {"SP-1: enough", 3, -1, 3, 0, 0, 0, false},
    {"SP-2: none", 0, -1, 0, 0, 0, 0, false},
    {"SP-2: up to the limit", 5, 3, 1, 0, 0, 2, false},
    {"SP-2: those on their way out count", 5, 3, 1, 1, 0, 1, false},
    {"SP-2: at the limit", 5, 3, 2, 1, 0, 0, true},
    {"SP-2: beyond", 5, 3, 4, 1, 0, 0, true},
    {"SD-1: too many", 1, -1, 4, 0, 0, -3, false},
    {"SD-1: all", 0, 3, 4, 2, 0, -4, false},
    {"one is being replaced", 3, -1, 2, 0, 1, 0, false},
    {"one is being replaced, and its replacement is there", 3, -1, 3, 0, 1, 0, false},
    {"one is being replaced, and more are wanted", 5, -1, 2, 0, 1, 3, false},
    {"what is being replaced counts against the limit", 5, 4, 2, 1, 1, 0, true},
    {"SD-1: only those that stay", 2, -1, 2, 5, 0, 0, false},
};

static void replicas(void **state)
{
    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(statics); i++) {
        AUTO(arena) struct arena *a = arena_new(0);
        struct nodepool p = {.is_static = true, .replicas = statics[i].replicas, .has_limits = statics[i].limit >= 0};
        struct pool_census v = {statics[i].active, statics[i].pending, statics[i].going};
        bool limited;

        if (p.has_limits)
            reslist_set(a, &p.limits, SYM(NODES), statics[i].limit * 1000, false);
        check_i64(statics[i].name, static_decide(&p, v, &limited), statics[i].want);
        check_true(statics[i].name, limited == statics[i].limited);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(readiness), cmocka_unit_test(hash_versions), cmocka_unit_test(counter),
        cmocka_unit_test(health),    cmocka_unit_test(replicas),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
