/* Which pods a node that goes away gets rid of, and when. */
#include "control/node_drain.h"

#include "base/sb.h"
#include "support/check.h"
#include "support/fixture.h"

#define NOW INT64_C(1700000000000)
#define S INT64_C(1000)
#define AT(s) ((moment){(uint32_t)(NOW / 1000 + (s))})

/* "expire a(9) evict b c of 3": what is deleted with which grace, what is evicted, how many are still to go. */
static str decide(struct fixture *f, const struct pod *pods, uint32_t n, int64_t deadline_ms)
{
    uint32_t ix[16];

    for (uint32_t i = 0; i < n; i++)
        ix[i] = i;
    struct drain d = drain_decide(f->a, f->t, pods, (struct pod_list){ix, n}, deadline_ms, NOW);
    sb_reset(&f->b);
    for (uint32_t i = 0; i < d.n_expiring; i++)
        sb_printf(&f->b, "expire " STR_FMT "(%lld) ", STR_ARG(d.expiring[i].name),
                  (long long)drain_grace_s(deadline_ms, NOW));
    for (uint32_t i = 0; i < d.n_evict; i++)
        sb_printf(&f->b, "evict " STR_FMT " ", STR_ARG(d.evict[i].name));
    sb_printf(&f->b, "of %u", d.n_waiting);
    return sb_view(&f->b);
}

#define PATIENT(n, seconds, ...)                                                                                       \
    {                                                                                                                  \
        .name = STR(n), .uid = uid_of(STR("u-" n)), .ns = SYM(DEFAULT), .phase = PHASE_RUNNING, .spec = &spec,         \
        .grace_s = (seconds), .started_ms = INT64_MIN, __VA_ARGS__                                                     \
    }
#define POD(n, ...) PATIENT(n, 30, __VA_ARGS__)
#define GOING(s) .terminating = true, .deleted = AT(s)

static void who_goes(void **state)
{
    struct fixture *f = *state;
    struct toleration equal = {.key = SYM(DISRUPTED), .effect = EFFECT_NO_SCHEDULE};
    struct toleration exists = {.key = SYM(DISRUPTED), .op = TOL_EXISTS};
    struct toleration other = {.key = sym_of(f->t, STR("node.kubernetes.io/unschedulable")), .op = TOL_EXISTS};
    struct podspec spec = {0}, stays = {.tolerations = {&equal, 1}}, stays_too = {.tolerations = {&exists, 1}},
                   goes = {.tolerations = {&other, 1}};
    const struct pod pods[] = {
        POD("plain", ),
        POD("tolerates", ),
        POD("tolerates-all", ),
        POD("cordon", ),
        POD("static", .owner = OWNER_NODE),
        POD("kept", .do_not_disrupt = STR("true")),
        POD("going", GOING(10)),
        POD("late", GOING(-50)),
        POD("stuck", GOING(-90)),
        POD("done", ),
    };
    struct pod v[ARRAY_LEN(pods)];

    memcpy(v, pods, sizeof(v));
    v[1].spec = &stays;
    v[2].spec = &stays_too;
    v[3].spec = &goes;
    v[9].phase = PHASE_SUCCEEDED;
    /* plain, cordon, kept, going and late are waited for; only two of them can be evicted. */
    check_str("no deadline", decide(f, v, ARRAY_LEN(v), NO_DEADLINE), "evict plain evict cordon of 5");
    check_str("nobody", decide(f, v, 0, NO_DEADLINE), "of 0");
    check_str("nobody who counts", decide(f, v + 8, 2, NO_DEADLINE), "of 0");
}

/* One group after the other, and the next one only when the one before is gone. */
static void groups(void **state)
{
    struct fixture *f = *state;
    struct podspec spec = {0};
    struct pod v[] = {
        POD("critical-daemon", .critical = true, .owner = OWNER_DAEMONSET),
        POD("critical", .critical = true),
        POD("daemon", .owner = OWNER_DAEMONSET),
        POD("plain", ),
    };

    check_str("1", decide(f, v, 4, NO_DEADLINE), "evict plain of 4");
    v[3].terminating = true;
    v[3].deleted = AT(5);
    check_str("1, on its way", decide(f, v, 4, NO_DEADLINE), "of 4");
    check_str("2", decide(f, v, 3, NO_DEADLINE), "evict daemon of 3");
    check_str("3", decide(f, v, 2, NO_DEADLINE), "evict critical of 2");
    check_str("4", decide(f, v, 1, NO_DEADLINE), "evict critical-daemon of 1");
    v[3].deleted = AT(-61);
    check_str("one that is stuck is not waited for", decide(f, v, 4, NO_DEADLINE), "evict daemon of 3");
}

static void deadlines(void **state)
{
    struct fixture *f = *state;
    struct podspec spec = {0};
    struct pod v[] = {PATIENT("kept", 60, .do_not_disrupt = STR("true"))};

    check_str("early", decide(f, v, 1, NOW + 210 * S), "of 1");
    check_str("at the last moment", decide(f, v, 1, NOW + 60 * S), "of 1");
    check_str("over it", decide(f, v, 1, NOW + 60 * S - 1), "expire kept(59) of 1");
    check_str("as much as is left", decide(f, v, 1, NOW + 35 * S), "expire kept(35) of 1");
    check_str("never less than a second", decide(f, v, 1, NOW - 500 * S), "expire kept(1) of 1");
    v[0].grace_s = 0;
    check_str("no grace", decide(f, v, 1, NOW), "of 1");
    check_str("no grace", decide(f, v, 1, NOW - 1), "expire kept(1) of 1");

    struct pod going[] = {PATIENT("long", 6000, GOING(6000)), PATIENT("short", 6000, GOING(100))};
    check_str("a grace that is too long is cut", decide(f, going, 2, NOW + 210 * S), "expire long(210) of 2");
    check_str("without a deadline it is not", decide(f, going, 2, NO_DEADLINE), "of 2");

    /* A deadline knows no groups. */
    struct pod mixed[] = {POD("plain", ), PATIENT("critical", 300, .critical = true)};
    check_str("critical pods too", decide(f, mixed, 2, NOW + 100 * S), "expire critical(100) evict plain of 2");
}

#define TEST(fn) cmocka_unit_test_setup_teardown(fn, fixture_setup, fixture_teardown)

/* Of nodes that go at the same time: the smaller the pod, the later. */
static void large_first(void **state)
{
    struct fixture *f = *state;
    struct resq room[] = {{.name = SYM(CPU), .v = 16000}, {.name = SYM(MEMORY), .v = 64000}};
    static const struct {
        const char *name;
        int64_t cpu, memory, wait_ms; /* cpu, memory: 0: not asked for */
    } cases[] = {
        {"a quarter of the node", 4000, 4000, 0},
        {"most of it", 15000, 0, 0},
        {"of either resource", 100, 16000, 0},
        {"less than a quarter", 3999, 0, 1000},
        {"an eighth", 2000, 1000, 1000},
        {"a sixteenth", 1000, 0, 2000},
        {"one in thirty-two", 0, 2000, 3000},
        {"next to nothing", 1, 0, 4000},
        {"nothing", 0, 0, 4000},
    };

    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        struct resq asked[] = {{.name = SYM(CPU), .v = cases[i].cpu}, {.name = SYM(MEMORY), .v = cases[i].memory}};
        struct podspec spec = {.requests = {asked, ARRAY_LEN(asked)}};
        const struct pod pods[] = {POD("a", )};
        uint32_t ix = 0;
        struct drain d = drain_decide(f->a, f->t, pods, (struct pod_list){&ix, 1}, NO_DEADLINE, NOW);

        check_i64("otherwise at once", d.evict[0].wait_ms, 0);
        drain_large_first(&d, pods, &(struct reslist){room, ARRAY_LEN(room)});
        check_i64(cases[i].name, d.evict[0].wait_ms, cases[i].wait_ms);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {TEST(who_goes), TEST(groups), TEST(deadlines), TEST(large_first)};

    return cmocka_run_group_tests(tests, NULL, NULL);
}
