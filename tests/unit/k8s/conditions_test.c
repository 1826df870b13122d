/* Status conditions, against the lists that Karpenter itself has left on objects (lifecycle 1.1). */
#include "k8s/conditions.h"

#include "data/edit.h"
#include "model/duration.h"
#include "support/check.h"
#include "support/trees.h"

#define AWAITING "reason: AwaitingReconciliation, message: object is awaiting reconciliation, status: Unknown"
#define AT(second) "lastTransitionTime: '2026-11-16T03:00:" second "Z', observedGeneration: 1, "

static int64_t at(const char *second)
{
    AUTO(arena) struct arena *a = arena_new(0);
    int64_t ms = 0;
    struct err e;

    check_ok("a time", time_parse_rfc3339(arena_printf(a, "2026-11-16T03:00:%sZ", second), &ms, &e), &e);
    return ms;
}

static struct cond_object claim(struct arena *a, const char *now)
{
    return (struct cond_object){
        .arena = a,
        .obj = tree_yaml(a, "{metadata: {name: c, generation: 1, creationTimestamp: '2026-11-16T03:00:04Z'}}"),
        .set = &conds_nodeclaim,
        .now_ms = at(now),
    };
}

/* "Type=Status/Reason" of all, in their order. */
static str line(struct arena *a, const struct tree *obj)
{
    const struct tree *l = tree_at(obj, "status", "conditions", NULL);
    struct sb b = {0};

    for (uint32_t i = 0; l && i < l->n; i++)
        sb_printf(
            &b, "%s" STR_FMT "=" STR_FMT "/" STR_FMT, i ? " " : "", STR_ARG(tree_str(tree_get(&l->items[i], "type"))),
            STR_ARG(tree_str(tree_get(&l->items[i], "status"))), STR_ARG(tree_str(tree_get(&l->items[i], "reason"))));
    str s = sb_dup(&b, a);
    sb_fini(&b);
    return s;
}

static void a_new_claim(void **state)
{
    AUTO(arena) struct arena *a = arena_new(0);
    struct cond_object o = claim(a, "04.044");

    (void)state;
    conds_init(&o);
    conds_round(a, o.obj);
    check_tree(
        "all of them unknown", tree_get(o.obj, "status"),
        "{conditions: [{type: Launched, " AT("04") AWAITING "}, {type: Registered, " AT("04") AWAITING
        "}, {type: Initialized, " AT("04") AWAITING "}, {type: Ready, " AT(
            "04") "status: Unknown, reason: ReconcilingDependents, message: 'Launched=Unknown, Registered=Unknown, Initialized=Unknown'}]}");
    struct tree *was = tree_copy(a, o.obj);
    conds_init(&o);
    check_true("once", tree_equal(was, o.obj));
}

static void launched_and_not_registered(void **state)
{
    AUTO(arena) struct arena *a = arena_new(0);
    struct cond_object o = claim(a, "04.066");

    (void)state;
    conds_init(&o);
    check_true("changed", conds_true(&o, "Launched"));
    check_true("changed",
               conds_unknown(&o, "Registered", STR("NodeNotFound"), STR("Node not registered with cluster")));
    check_true("not changed",
               !conds_unknown(&o, "Registered", STR("NodeNotFound"), STR("Node not registered with cluster")));
    check_str("in the order of a real claim", line(a, o.obj),
              "Initialized=Unknown/AwaitingReconciliation Registered=Unknown/NodeNotFound Launched=True/Launched "
              "Ready=Unknown/ReconcilingDependents");
    check_str("what is missing", cond_get(o.obj, "Ready").message, "Initialized=Unknown, Registered=Unknown");
    check_i64("to the millisecond", cond_get(o.obj, "Launched").since_ms, at("04.066"));
    check_i64("not a transition", cond_get(o.obj, "Registered").since_ms, at("04"));
    conds_round(a, o.obj);
    check_i64("whole seconds", cond_get(o.obj, "Launched").since_ms, at("04"));

    o.now_ms = at("04.103");
    conds_true(&o, "ConsistentStateFound");
    conds_round(a, o.obj);
    check_str("others come behind", line(a, o.obj),
              "Initialized=Unknown/AwaitingReconciliation Registered=Unknown/NodeNotFound Launched=True/Launched "
              "ConsistentStateFound=True/ConsistentStateFound Ready=Unknown/ReconcilingDependents");
    o.now_ms = at("05.130");
    conds_true(&o, "Registered");
    conds_true(&o, "Initialized");
    check_str("ready", line(a, o.obj),
              "Launched=True/Launched ConsistentStateFound=True/ConsistentStateFound Registered=True/Registered "
              "Initialized=True/Initialized Ready=True/Ready");
    check_str("nothing to say", cond_get(o.obj, "Ready").message, "");
    check_i64("since", cond_get(o.obj, "Ready").since_ms, at("05.130"));
}

static void a_failed_launch(void **state)
{
    AUTO(arena) struct arena *a = arena_new(0);
    struct cond_object o = claim(a, "05");

    (void)state;
    conds_init(&o);
    conds_unknown(&o, "Launched", STR("LaunchFailed"), STR("no"));
    conds_unknown(&o, "Registered", STR("NodeNotFound"), STR("Node not registered with cluster"));
    check_str("equal times as they stand", cond_get(o.obj, "Ready").message,
              "Initialized=Unknown, Launched=Unknown, Registered=Unknown");
    conds_false(&o, "Registered", STR("MultipleNodesFound"), STR("two"));
    check_str("one is false", cond_get(o.obj, "Ready").reason, "UnhealthyDependents");
    check_str("newest first", cond_get(o.obj, "Ready").message,
              "Registered=False, Initialized=Unknown, Launched=Unknown");
}

static void a_new_generation(void **state)
{
    AUTO(arena) struct arena *a = arena_new(0);
    struct cond_object o = claim(a, "05");

    (void)state;
    conds_init(&o);
    conds_true(&o, "Launched");
    conds_true(&o, "Registered");
    conds_true(&o, "Initialized");
    check_true("ready", cond_is_true(o.obj, "Ready"));
    tree_set_i64(a, tree_sub(a, o.obj, "metadata"), "generation", 2);
    o.now_ms = at("09");
    check_true("refreshed", conds_refresh(&o, "Launched"));
    check_str("the others are of before", cond_get(o.obj, "Ready").message, "Registered=True, Initialized=True");
    check_true("unknown", cond_is_unknown(o.obj, "Ready"));
    conds_refresh(&o, "Registered");
    conds_refresh(&o, "Initialized");
    check_true("ready again", cond_is_true(o.obj, "Ready"));
    check_i64("since then", cond_get(o.obj, "Ready").since_ms, at("09"));
    check_i64("no transition", cond_get(o.obj, "Launched").since_ms, at("05"));
    check_true("nothing to refresh", !conds_refresh(&o, "Drifted"));

    /* A False of an older generation does not make it False. */
    conds_false(&o, "Registered", STR("MultipleNodesFound"), STR(""));
    tree_set_i64(a, tree_sub(a, o.obj, "metadata"), "generation", 3);
    conds_refresh(&o, "Launched");
    check_str("not known", cond_get(o.obj, "Ready").reason, "ReconcilingDependents");
}

static void a_deleted_claim(void **state)
{
    AUTO(arena) struct arena *a = arena_new(0);
    struct cond_object o = claim(a, "04.5");

    (void)state;
    conds_init(&o);
    conds_true(&o, "Launched");
    tree_set_i64(a, tree_sub(a, o.obj, "metadata"), "generation", 2);
    tree_set_str(a, tree_sub(a, o.obj, "metadata"), "deletionTimestamp", STR("2026-11-16T03:00:30Z"));
    o.now_ms = at("30");
    conds_true(&o, "InstanceTerminating");
    static const char *const types[] = {"Launched", "Registered", "Initialized", "InstanceTerminating", "Ready"};
    for (size_t i = 0; i < ARRAY_LEN(types); i++)
        check_i64(types[i], cond_get(o.obj, types[i]).observed, 2);
    check_i64("no transition of Ready", cond_get(o.obj, "Ready").since_ms, at("04"));
}

static void clearing(void **state)
{
    AUTO(arena) struct arena *a = arena_new(0);
    struct cond_object o = claim(a, "05");

    (void)state;
    conds_init(&o);
    check_true("not there", !conds_clear(&o, "Drifted"));
    conds_true_because(&o, "Drifted", STR("NodePoolDrifted"), STR("NodePoolDrifted"));
    conds_true(&o, "Launched");
    check_true("there", conds_clear(&o, "Drifted"));
    check_str("by name, Ready among them", line(a, o.obj),
              "Initialized=Unknown/AwaitingReconciliation Launched=True/Launched Ready=Unknown/ReconcilingDependents "
              "Registered=Unknown/AwaitingReconciliation");
    conds_true(&o, "Registered");
    check_str("by time again", line(a, o.obj),
              "Initialized=Unknown/AwaitingReconciliation Launched=True/Launched Registered=True/Registered "
              "Ready=Unknown/ReconcilingDependents");
}

static void a_new_pool(void **state)
{
    AUTO(arena) struct arena *a = arena_new(0);
    struct cond_object o = claim(a, "04.016");

    (void)state;
    o.set = &conds_nodepool;
    conds_init(&o);
    conds_unknown(&o, "NodeRegistrationHealthy", STR("AwaitingReconciliation"),
                  STR("object is awaiting reconciliation"));
    check_str("as recorded", line(a, o.obj),
              "ValidationSucceeded=Unknown/AwaitingReconciliation NodeClassReady=Unknown/AwaitingReconciliation "
              "NodeRegistrationHealthy=Unknown/AwaitingReconciliation Ready=Unknown/ReconcilingDependents");
    conds_round(a, o.obj);
    conds_true(&o, "ValidationSucceeded");
    conds_round(a, o.obj);
    check_str("then", line(a, o.obj),
              "NodeClassReady=Unknown/AwaitingReconciliation NodeRegistrationHealthy=Unknown/AwaitingReconciliation "
              "ValidationSucceeded=True/ValidationSucceeded Ready=Unknown/ReconcilingDependents");
    conds_false(&o, "NodeClassReady", STR("NodeClassNotFound"), STR("NodeClass not found on cluster"));
    check_str("false", cond_get(o.obj, "Ready").message, "NodeClassReady=False");
    check_str("false", cond_get(o.obj, "Ready").status, "False");
    conds_true(&o, "NodeClassReady");
    check_str("ready", cond_get(o.obj, "Ready").status, "True");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_new_claim),     cmocka_unit_test(launched_and_not_registered),
        cmocka_unit_test(a_failed_launch), cmocka_unit_test(a_new_generation),
        cmocka_unit_test(a_deleted_claim), cmocka_unit_test(clearing),
        cmocka_unit_test(a_new_pool),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
