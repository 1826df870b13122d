/* What the smaller controllers of NodeClaims decide (lifecycle 4, checklist 14.4), and what all of them share. */
#include "control/claim_int.h"
#include "data/edit.h"
#include "model/duration.h"
#include "support/check.h"
#include "support/trees.h"

#define HOUR_NS (3600 * 1000000000ll)
#define NOW_MS INT64_C(1767225600000) /* 2026-01-01T00:00:00Z */

/* ---- drift by hash ---- */

static const struct {
    const char *name, *pool_hash, *pool_version, *claim_hash, *claim_version;
    bool want;
} hashes[] = {
    {"DR-7: another hash", "1", "v3", "2", "v3", true},
    {"the same", "1", "v3", "1", "v3", false},
    {"DR-8: the pool has none", "", "v3", "2", "v3", false},
    {"DR-8: the claim has none", "1", "v3", "", "v3", false},
    {"DR-8: versions differ", "1", "v3", "2", "v2", false},
    {"DR-8: the claim's version is missing", "1", "v3", "2", "", false},
    {"DR-8: both versions are missing", "1", "", "2", "", false},
};

static void drift_hashes(void **state)
{
    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(hashes); i++) {
        struct annotation of_pool[] = {{STR(HASH_ANNOTATION), str_c(hashes[i].pool_hash)},
                                       {STR(HASH_VERSION_ANNOTATION), str_c(hashes[i].pool_version)}};
        struct annotation of_claim[] = {{STR(HASH_ANNOTATION), str_c(hashes[i].claim_hash)},
                                        {STR(HASH_VERSION_ANNOTATION), str_c(hashes[i].claim_version)}};
        struct nodepool p = {.annotations = of_pool, .n_annotations = 2};
        struct nodeclaim c = {.annotations = of_claim, .n_annotations = 2};

        check_true(hashes[i].name, drift_by_hash(&p, &c) == hashes[i].want);
    }
}

/* ---- consolidatable ---- */

static const struct {
    const char *name;
    int64_t after_ns;
    enum cond_status initialized;
    int64_t initialized_ago_s, event_ago_s; /* -1: never */
    bool was, want;
    int64_t again_s; /* 0: done */
} settled[] = {
    {"CN-1: long after the last pod", HOUR_NS, COND_TRUE, 9000, 3600, false, true, 0},
    {"CN-1: not long after", HOUR_NS, COND_TRUE, 9000, 3599, false, false, 1},
    {"CN-1: no pod ever", HOUR_NS, COND_TRUE, 3600, -1, false, true, 0},
    {"CN-1: no pod, not for long", HOUR_NS, COND_TRUE, 600, -1, false, false, 3000},
    {"at once", 0, COND_TRUE, 0, 0, false, true, 0},
    {"CN-2: a pod came", HOUR_NS, COND_TRUE, 9000, 10, true, false, 3590},
    {"CN-2: never", DURATION_NEVER, COND_TRUE, 9000, 9000, true, false, 0},
    {"CN-2: not initialized any more", HOUR_NS, COND_UNKNOWN, 9000, 9000, true, false, 0},
    {"CN-2: not initialized", HOUR_NS, COND_FALSE, 9000, 9000, true, false, 0},
    {"as it was", HOUR_NS, COND_TRUE, 9000, 9000, true, true, 0},
};

static void consolidatable(void **state)
{
    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(settled); i++) {
        AUTO(arena) struct arena *a = arena_new(0);
        struct nodepool p = {.consolidate_after_ns = settled[i].after_ns};
        struct nodeclaim c = {
            .initialized = settled[i].initialized,
            .initialized_ms = NOW_MS - settled[i].initialized_ago_s * 1000,
            .last_pod_event_ms = settled[i].event_ago_s < 0 ? INT64_MIN : NOW_MS - settled[i].event_ago_s * 1000,
        };
        struct cond_object o = {
            .arena = a,
            .obj = tree_yaml(a, "{metadata: {generation: 1, creationTimestamp: '2025-12-01T00:00:00Z'}}"),
            .set = &conds_nodeclaim,
            .now_ms = NOW_MS};
        bool marked;

        conds_init(&o);
        if (settled[i].was)
            conds_true(&o, "Consolidatable");
        struct result r = consolidatable_decide(&o, &p, &c, &marked);
        check_true(settled[i].name, cond_is_true(o.obj, "Consolidatable") == settled[i].want);
        check_true(settled[i].name, cond_get(o.obj, "Consolidatable").present == settled[i].want);
        check_true(settled[i].name, marked == (settled[i].want && !settled[i].was));
        check_i64(settled[i].name, r.after_us, settled[i].again_s * 1000000);
    }
}

/* ---- pod events ---- */

static void pod_events(void **state)
{
    const struct pod loose = {.phase = PHASE_PENDING}, bound = {.phase = PHASE_PENDING, .node = SYM(ZONE)};
    const struct pod running = {.phase = PHASE_RUNNING, .node = SYM(ZONE)};
    const struct pod done = {.phase = PHASE_SUCCEEDED, .node = SYM(ZONE)};
    const struct pod failed = {.phase = PHASE_FAILED, .node = SYM(ZONE)};
    const struct pod ending = {.phase = PHASE_RUNNING, .node = SYM(ZONE), .terminating = true, .grace_s = 30};
    const struct pod gone = {.phase = PHASE_RUNNING, .node = SYM(ZONE), .terminating = true};
    const struct pod daemon = {.phase = PHASE_RUNNING, .node = SYM(ZONE), .owner = OWNER_DAEMONSET};
    const struct {
        const char *name;
        const struct pod *was, *is;
        bool want;
    } events[] = {
        {"bound", &loose, &bound, true},
        {"starts", &bound, &running, false},
        {"ends", &running, &done, true},
        {"fails", &bound, &failed, true},
        {"ended", &done, &failed, false},
        {"is deleted", &running, &ending, true},
        {"is deleted without grace", &running, &gone, false},
        {"being deleted", &ending, &ending, false},
        {"gone", &running, NULL, false},
        {"new, and bound", NULL, &running, true},
        {"new", NULL, &loose, false},
        {"waits", &loose, &loose, false},
        {"a daemon", NULL, &daemon, false},
    };

    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(events); i++)
        check_true(events[i].name, podevent_counts(events[i].was, events[i].is) == events[i].want);
}

static void pod_event_times(void **state)
{
    AUTO(arena) struct arena *a = arena_new(0);
    struct tree *c = tree_yaml(a, "{}");

    (void)state;
    check_true("PE-1: the first", podevent_decide(a, c, INT64_MIN, NOW_MS + 345));
    check_tree("PE-1: in seconds", c, "{status: {lastPodEventTime: '2026-01-01T00:00:00Z'}}");
    check_true("PE-1: too soon", !podevent_decide(a, c, NOW_MS, NOW_MS + 5000));
    check_true("PE-1: late enough", podevent_decide(a, c, NOW_MS, NOW_MS + 10000));
    check_tree("PE-1: replaced", c, "{status: {lastPodEventTime: '2026-01-01T00:00:10Z'}}");
    check_true("clocks of two replicas differ", !podevent_decide(a, c, NOW_MS, NOW_MS - 5000));
    check_true("the clock was set back", podevent_decide(a, c, NOW_MS, NOW_MS - 60000));
}

/* ---- expiration ---- */

static void expiration(void **state)
{
    struct nodeclaim c = {.created_ms = NOW_MS - 1000, .expire_after_ns = 3000000000};

    (void)state;
    check_i64("EX-2: not yet", expiration_left_ms(&c, NOW_MS), 2000);
    check_i64("EX-1: now", expiration_left_ms(&c, NOW_MS + 2000), 0);
    c.deleting = true;
    check_i64("on its way", expiration_left_ms(&c, NOW_MS + 2000), INT64_MAX);
    c = (struct nodeclaim){.created_ms = NOW_MS, .expire_after_ns = DURATION_NEVER};
    check_i64("EX-2: never", expiration_left_ms(&c, NOW_MS), INT64_MAX);
}

/* ---- consistency ---- */

static struct reslist resources(struct arena *a, int64_t cpu, int64_t gib)
{
    struct reslist l = {0};

    reslist_set(a, &l, SYM(CPU), cpu * 1000000000, false);
    reslist_set(a, &l, SYM(MEMORY), (gib << 30) * 1000, true);
    return l;
}

static void consistency(void **state)
{
    AUTO(arena) struct arena *a = arena_new(0);
    AUTO(syms) struct syms *t = syms_new();
    struct nodeclaim c = {.initialized = COND_TRUE, .requests = resources(a, 1, 1), .capacity = resources(a, 8, 128)};
    struct node n = {.capacity = resources(a, 8, 64)};
    uint32_t k;

    (void)state;
    str *v = consistency_issues(a, t, &c, &n, &k);
    check_i64("CS-1: one", k, 1);
    check_str("CS-1: half", v[0], "expected 128Gi of resource memory, but found 64Gi (50.0% of expected)");
    n.capacity = resources(a, 8, 116);
    consistency_issues(a, t, &c, &n, &k);
    check_i64("CS-1: nine tenths will do", k, 0);
    n.capacity = (struct reslist){0};
    v = consistency_issues(a, t, &c, &n, &k);
    check_i64("two", k, 2);
    check_str("in order", v[0], "expected 128Gi of resource memory, but found 0 (0.0% of expected)");
    check_str("in order", v[1], "expected 8 of resource cpu, but found 0 (0.0% of expected)");
    c.requests = (struct reslist){0};
    consistency_issues(a, t, &c, &n, &k);
    check_i64("nothing was asked for", k, 0);
    c.requests = resources(a, 1, 1);
    c.initialized = COND_UNKNOWN;
    consistency_issues(a, t, &c, &n, &k);
    check_i64("not there yet", k, 0);
    c.initialized = COND_TRUE;
    c.deleting = true;
    consistency_issues(a, t, &c, &n, &k);
    check_i64("not there any more", k, 0);
}

/* ---- hydration ---- */

static void class_labels(void **state)
{
    AUTO(arena) struct arena *a = arena_new(0);

    (void)state;
    check_str("HY-1",
              nodeclass_label(a, &(struct nodeclass_ref){STR("karpenter.kwok.sh"), STR("KWOKNodeClass"), STR("x")}),
              "karpenter.kwok.sh/kwoknodeclass");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(drift_hashes),    cmocka_unit_test(consolidatable), cmocka_unit_test(pod_events),
        cmocka_unit_test(pod_event_times), cmocka_unit_test(expiration),     cmocka_unit_test(consistency),
        cmocka_unit_test(class_labels),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
