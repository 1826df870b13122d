/* How many pods a capacity buffer has, what they are, and what is said of them (scheduling 21, checklist 27.13). */
#include "model/buffer.h"

#include "support/check.h"

#define NONE (-1) /* not set */

struct question {
    const char *name;
    enum buffer_ref ref;
    int64_t scale; /* of the workload */
    int64_t replicas, percentage;
    const char *limits, *requests; /* "cpu=1 memory=2Gi" */
    int64_t want;
};

static const struct question questions[] = {
    {"CB3 fixed", BUFFER_REF_TEMPLATE, 0, 5, NONE, NULL, "cpu=1", 5},
    {"CB3 none is none", BUFFER_REF_TEMPLATE, 0, 0, NONE, NULL, "cpu=1", 0},
    {"CB3 capped by a limit", BUFFER_REF_TEMPLATE, 0, 5, NONE, "cpu=3", "cpu=1", 3},
    {"CB3 a limit that does not bind", BUFFER_REF_TEMPLATE, 0, 5, NONE, "cpu=30", "cpu=1", 5},
    {"CB3 limits only", BUFFER_REF_TEMPLATE, 0, NONE, NONE, "cpu=4", "cpu=500m", 8},
    {"CB3 limits of something else", BUFFER_REF_TEMPLATE, 0, 5, NONE, "nvidia.com/gpu=1", "cpu=1", 5},
    {"CB3 nothing but those", BUFFER_REF_TEMPLATE, 0, NONE, NONE, "nvidia.com/gpu=1", "cpu=1", 0},
    {"CB3 percentage only", BUFFER_REF_SCALABLE, 10, NONE, 30, NULL, "cpu=1", 3},
    {"CB3 the larger of both: replicas", BUFFER_REF_SCALABLE, 10, 5, 30, NULL, "cpu=1", 5},
    {"CB3 the larger of both: percentage", BUFFER_REF_SCALABLE, 10, 2, 30, NULL, "cpu=1", 3},
    {"CB3 the larger, capped", BUFFER_REF_SCALABLE, 10, 5, 80, "cpu=6", "cpu=1", 6},
    {"CB3 a percentage of a PodTemplate is of nothing", BUFFER_REF_TEMPLATE, 0, NONE, 30, "cpu=2", "cpu=1", 2},
    {"CB3 a workload of none asks for what limits allow", BUFFER_REF_SCALABLE, 0, NONE, 30, "cpu=2", "cpu=1", 2},
    {"CB6 rounded up", BUFFER_REF_SCALABLE, 10, NONE, 25, NULL, "", 3},
    {"CB6 at least one", BUFFER_REF_SCALABLE, 3, NONE, 1, NULL, "", 1},
    {"CB6 zero percent", BUFFER_REF_SCALABLE, 10, NONE, 0, NULL, "", 0},
    {"CB6 of zero replicas", BUFFER_REF_SCALABLE, 0, NONE, 50, NULL, "", 0},
    {"CB6 all", BUFFER_REF_SCALABLE, 7, NONE, 100, NULL, "", 7},
    {"CB6 more than all", BUFFER_REF_SCALABLE, 4, NONE, 250, NULL, "", 10},
    {"CB5 memory", BUFFER_REF_TEMPLATE, 0, NONE, NONE, "memory=1Gi", "cpu=1 memory=256Mi", 4},
    {"CB5 the tightest of several", BUFFER_REF_TEMPLATE, 0, NONE, NONE, "cpu=10 memory=1Gi", "cpu=1 memory=512Mi", 2},
    {"CB5 rounded down", BUFFER_REF_TEMPLATE, 0, NONE, NONE, "cpu=5", "cpu=2", 2},
    {"CB5 less than one", BUFFER_REF_TEMPLATE, 0, 3, NONE, "cpu=100m", "cpu=1", 0},
    {"CB5 a limit of zero", BUFFER_REF_TEMPLATE, 0, 3, NONE, "cpu=0", "cpu=1", 0},
    {"CB5 nothing is asked for", BUFFER_REF_TEMPLATE, 0, 3, NONE, "cpu=1", "", 3},
    {"CB5 zero is asked for", BUFFER_REF_TEMPLATE, 0, 3, NONE, "cpu=1", "cpu=0", 3},
    {"CB5 less than a thousandth counts as one", BUFFER_REF_TEMPLATE, 0, NONE, NONE, "cpu=1", "cpu=100u", 1000},
    {"never more than a number of 32 bits", BUFFER_REF_TEMPLATE, 0, NONE, NONE, "memory=4Ti", "memory=1", INT32_MAX},
};

static struct reslist resources(struct arena *a, struct syms *t, const char *text)
{
    str rest = str_c(text), one, key, value;
    struct reslist l = {0};

    while (rest.n) {
        bool binary;
        int64_t v;
        struct err e;

        (void)str_cut(rest, ' ', &one, &rest);
        (void)str_cut(one, '=', &key, &value);
        check_ok(text, quantity_parse(value, sym_of(t, key), &v, &binary, &e), &e);
        reslist_set(a, &l, sym_of(t, key), v, binary);
    }
    return l;
}

static void how_many(void **state UNUSED)
{
    for (size_t i = 0; i < ARRAY_LEN(questions); i++) {
        const struct question *q = &questions[i];
        AUTO(arena) struct arena *a = arena_new(0);
        struct syms *t = syms_new();
        struct reslist requests = resources(a, t, q->requests);
        struct buffer b = {.ref = q->ref,
                           .has_replicas = q->replicas != NONE,
                           .replicas = q->replicas,
                           .has_percentage = q->percentage != NONE,
                           .percentage = q->percentage,
                           .has_limits = q->limits != NULL};

        if (q->limits)
            b.limits = resources(a, t, q->limits);
        check_i64(q->name, buffer_replicas(&b, q->scale, &requests), q->want);
        syms_free(t);
    }
}

static void what_it_may_name(void **state UNUSED)
{
    check_true("CB2 Deployment", buffer_ref_is_known(STR("apps"), STR("Deployment")));
    check_true("CB2 without a group", buffer_ref_is_known(STR(""), STR("Deployment")));
    check_true("CB2 StatefulSet", buffer_ref_is_known(STR("apps"), STR("StatefulSet")));
    check_true("CB2 ReplicaSet", buffer_ref_is_known(STR("apps"), STR("ReplicaSet")));
    check_true("CB2 no Job", !buffer_ref_is_known(STR("apps"), STR("Job")));
    check_true("CB2 no other group", !buffer_ref_is_known(STR("example.com"), STR("Deployment")));
}

static void what_its_pods_are(void **state UNUSED)
{
    AUTO(arena) struct arena *a = arena_new(0);
    struct pod_volume volume = {.ephemeral = true};
    struct podspec plain = {.n_ports = 0}, with_volumes = {.base = &plain, .volumes = &volume, .n_volumes = 1};
    struct pod p = buffer_pod(&with_volumes, (lset_id){3}, SYM(DEFAULT), SYM(CPU), buffer_pod_name(a, STR("b"), 7),
                              buffer_pod_uid(a, STR("u-1"), 7));

    check_str("CB7 name", p.name, "capacity-buffer-b-7");
    check_str("CB7 the same uid every time", UID_STR(p.uid), "u-1-7");
    check_true("CB7 no volumes that need a claim", p.spec == &plain);
    check_i64("CB7 labels of the template", p.labels.v, 3);
    check_i64("CB7 the least important", p.priority, INT32_MIN);
    check_true("CB7 not bound, and known for what it is", !sym_some(p.node) && p.of_buffer && p.phase == PHASE_PENDING);
    p = buffer_pod(&plain, (lset_id){3}, SYM(DEFAULT), SYM(CPU), STR("x"), STR("y"));
    check_true("CB7 the spec as it is", p.spec == &plain);
}

static void what_is_said(void **state UNUSED)
{
    static const struct {
        const char *name;
        enum cond_status ready;
        int64_t replicas; /* of the status; NONE: not set */
        struct buffer_places places;
        const char *want;
    } t[] = {
        {"CB9 not ready", COND_FALSE, 2, {2, 0, 0}, "False NotReadyForProvisioning"},
        {"CB9 nothing known yet", COND_ABSENT, NONE, {0, 0, 0}, "False NotReadyForProvisioning"},
        {"CB9 replicas not set", COND_TRUE, NONE, {0, 0, 0}, "False BufferEmpty"},
        {"CB9 no replicas", COND_TRUE, 0, {0, 0, 0}, "False BufferEmpty"},
        {"CB9 not in the round", COND_TRUE, 2, {0, 0, 0}, ""},
        {"CB9 new machines",
         COND_TRUE,
         2,
         {0, 2, 0},
         "False RequiresNewCapacity: 2/2 virtual pods required new capacity, 0 failed"},
        {"CB9 some are new",
         COND_TRUE,
         3,
         {1, 2, 0},
         "False RequiresNewCapacity: 2/3 virtual pods required new capacity, 0 failed"},
        {"CB9 no place",
         COND_TRUE,
         2,
         {0, 0, 2},
         "False RequiresNewCapacity: 0/2 virtual pods required new capacity, 2 failed"},
        {"CB9 all fit",
         COND_TRUE,
         2,
         {2, 0, 0},
         "True FitsExistingCapacity: All 2 virtual pods fit on existing capacity"},
        {"CB9 not all that there should be", COND_TRUE, 3, {2, 0, 0}, ""},
    };

    for (size_t i = 0; i < ARRAY_LEN(t); i++) {
        AUTO(arena) struct arena *a = arena_new(0);
        struct buffer b = {
            .ready = t[i].ready, .has_status_replicas = t[i].replicas != NONE, .status_replicas = t[i].replicas};
        struct buffer_verdict v = buffer_judge(a, &b, &t[i].places);
        str got = !v.reason
                      ? STR("")
                      : arena_printf(a, "%s %s: " STR_FMT, v.fits ? "True" : "False", v.reason, STR_ARG(v.message));

        check_true(t[i].name, str_starts(got, str_c(t[i].want)) && (got.n == 0) == (t[i].want[0] == 0));
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(how_many),
        cmocka_unit_test(what_it_may_name),
        cmocka_unit_test(what_its_pods_are),
        cmocka_unit_test(what_is_said),
    };

    return cmocka_run_group_tests_name("model/buffer", tests, NULL, NULL);
}
