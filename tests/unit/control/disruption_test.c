/* Removals in words, how long they may take, and who counts in a pool with replicas. */
#include "control/disruption_int.h"
#include "support/check.h"
#include "support/cluster_feed.h"

/* QU-5 */
static void time_limits(void **state UNUSED)
{
    static const struct {
        uint32_t taken;
        int64_t s;
    } cases[] = {{0, 600}, {100, 600}, {4000, 600}, {10000, 800}, {40000, 3200}, {80000, 3600}, {100000, 3600}};

    for (size_t i = 0; i < ARRAY_LEN(cases); i++)
        check_i64("QU-5", removal_limit_ms(cases[i].taken), cases[i].s * 1000);
}

static struct removal *removal(struct arena *a, enum disrupt_method m, uint32_t nodes, uint32_t replacements)
{
    struct removal *r = arena_new_one(a, struct removal);

    r->method = m;
    r->id = STR("id");
    r->savings = 1.5;
    r->n_pods = 4;
    r->leavers = arena_new_array(a, struct leaver, nodes);
    for (; r->n_leavers < nodes; r->n_leavers++)
        r->leavers[r->n_leavers] = (struct leaver){
            .node = arena_printf(a, "n%u", r->n_leavers + 1),
            .claim = arena_printf(a, "c%u", r->n_leavers + 1),
            .pool = r->n_leavers % 2 ? STR("b") : STR("a"),
            .type = STR("m"),
            .capacity_type = STR("spot"),
            .price = 0.5,
        };
    r->replacements = arena_new_array(a, struct replacement, replacements);
    for (; r->n_replacements < replacements; r->n_replacements++)
        r->replacements[r->n_replacements] =
            (struct replacement){.capacity_type = STR("on-demand"), .types = STR("x, y")};
    return r;
}

/* CL-26 */
static void words(void **state UNUSED)
{
    static const struct {
        enum disrupt_method method;
        uint32_t nodes, replacements;
        const char *text, *title;
    } cases[] = {
        {METHOD_EMPTINESS, 1, 0, "delete: [n1]", "Empty/id: delete: nodepools=[a]: [n1] (savings: $1.50)"},
        {METHOD_MULTI, 3, 0, "delete: [n1, n2, n3]",
         "Underutilized/id: delete: nodepools=[a,b]: [n1, n2, n3] (savings: $1.50)"},
        {METHOD_SINGLE, 1, 1, "replace: [n1] -> [1 replacement]",
         "Underutilized/id: replace: nodepools=[a]: [n1] -> [1 replacement] (savings: $1.50)"},
        {METHOD_DRIFT, 2, 2, "replace: [n1, n2] -> [2 replacements]",
         "Drifted/id: replace: nodepools=[a,b]: [n1, n2] -> [2 replacements] (savings: $1.50)"},
    };

    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        AUTO(arena) struct arena *a = arena_new(0);
        struct removal *r = removal(a, cases[i].method, cases[i].nodes, cases[i].replacements);

        check_str("CL-26", removal_text(r, a), cases[i].text);
        check_str("CL-26: in full", removal_title(r, a), cases[i].title);
    }
}

/* CL-27 */
static void fields(void **state UNUSED)
{
    AUTO(arena) struct arena *a = arena_new(0);
    struct log_field f[REMOVAL_FIELDS];

    removal_fields(removal(a, METHOD_SINGLE, 1, 1), a, f);
    check_str("decision", f[0].s, "replace");
    check_i64("nodes", f[1].i, 1);
    check_i64("replacements", f[2].i, 1);
    check_i64("CL-27: pods of all nodes", f[3].i, 4);
    check_str(
        "who goes", f[4].s,
        "[{\"Node\":{\"name\":\"n1\"},\"NodeClaim\":{\"name\":\"c1\"},\"capacity-type\":\"spot\",\"instance-type\":\"m\"}]");
    check_str("who comes", f[5].s, "[{\"capacity-type\":\"on-demand\",\"instance-types\":\"x, y\"}]");
    removal_fields(removal(a, METHOD_DRIFT, 1, 2), a, f);
    check_str("types of one only", f[5].s, "[{\"capacity-type\":\"on-demand\"},{\"capacity-type\":\"on-demand\"}]");
}

static void some_stay(void **state UNUSED)
{
    AUTO(arena) struct arena *a = arena_new(0);
    struct removal *r = removal(a, METHOD_EMPTINESS, 3, 0);

    removal_keep(r, (const uint32_t[]){1}, 1);
    check_str("one is left", removal_title(r, a), "Empty/id: delete: nodepools=[b]: [n2] (savings: $0.50)");
}

/* How long consolidation leaves alone what it has decided. */
static void settling(void **state UNUSED)
{
    static const struct {
        const char *name;
        uint32_t nominated, deleting, under_way;
        int64_t since_s;
        bool compat, want;
    } cases[] = {
        {"nothing happens", 0, 0, 0, 5, false, false},
        {"a replacement is not there yet", 0, 0, 1, 5, false, true},
        {"one node in twenty expects pods", 5, 0, 0, 5, false, false},
        {"more expect pods", 6, 0, 0, 5, false, true},
        {"one node in twenty goes", 0, 5, 0, 5, false, false},
        {"more go", 0, 6, 0, 5, false, true},
        {"some go, others expect pods", 3, 3, 0, 5, false, true},
        {"not quite a minute later", 100, 0, 1, 59, false, true},
        {"a minute later", 100, 0, 1, 60, false, false},
        {"Karpenter does not wait", 100, 0, 1, 5, true, false},
    };

    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        struct state_node nodes[100] = {0};
        struct snapshot s = {.nodes = nodes, .n_nodes = ARRAY_LEN(nodes)};
        const int64_t now_us = 1000000000;
        struct disruptor d = {.began_us = now_us - cases[i].since_s * 1000000, .under_way.n = cases[i].under_way};

        s.settings.consolidation = cases[i].compat ? CONSOLIDATION_COMPAT : CONSOLIDATION_THOROUGH;
        for (uint32_t k = 0; k < cases[i].nominated; k++)
            nodes[k].nominated = true;
        for (uint32_t k = 0; k < cases[i].deleting; k++)
            nodes[99 - k].deleting = true;
        check_true(cases[i].name, disruption_is_unsettled(&d, &s, now_us) == cases[i].want);
    }
}

/* When a run need not look around: the next of them will. */
static void between_looks(void **state UNUSED)
{
    static const struct {
        const char *name;
        uint32_t under_way;
        int64_t looked_s;
        bool drifted, want;
    } cases[] = {
        {"just looked", 1, 1, false, true},        {"not quite ten seconds ago", 1, 9, false, true},
        {"ten seconds ago", 1, 10, false, false},  {"it has settled", 0, 1, false, false},
        {"a node has drifted", 1, 1, true, false},
    };

    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        struct nodeclaim claim = {.drifted = cases[i].drifted ? COND_TRUE : COND_FALSE};
        struct state_node nodes[2] = {{0}, {.claim = &claim}};
        struct snapshot s = {.nodes = nodes, .n_nodes = ARRAY_LEN(nodes)};
        const int64_t now_us = 1000000000;
        struct disruptor d = {.began_us = now_us - 5000000,
                              .looked_us = now_us - cases[i].looked_s * 1000000,
                              .under_way.n = cases[i].under_way};

        s.settings.consolidation = CONSOLIDATION_THOROUGH;
        check_true(cases[i].name, disruption_is_between_looks(&d, &s, now_us) == cases[i].want);
    }
}

#define CLAIM                                                                                                          \
    "{apiVersion: karpenter.sh/v1, kind: NodeClaim, metadata: {name: %s, labels: {karpenter.sh/nodepool: a}}, spec: "  \
    "{requirements: [], nodeClassRef: {group: karpenter.kwok.sh, kind: KWOKNodeClass, name: default}}, status: "       \
    "{providerID: 'kwok://%s'}}"

static void check_census(struct cluster_feed *w, const char *name, uint32_t active, uint32_t pending, uint32_t deleting)
{
    struct pool_census v = store_pool_census(w->s, STR("a"));

    check_u64(name, v.active, active);
    check_u64(name, v.pending, pending);
    check_u64(name, v.deleting, deleting);
}

/* Lifecycle 2.8 */
static void census(void **state)
{
    struct cluster_feed *w = *state;

    cluster_putf(w, CLAIM, "c1", "m1");
    cluster_putf(w, CLAIM, "c2", "m2");
    check_census(w, "two", 2, 0, 0);
    store_set_pending(w->s, STR("kwok://m1"));
    check_census(w, "one is being replaced", 1, 1, 0);
    cluster_putf(w, CLAIM, "c1", "m1");
    check_census(w, "also when it changes", 1, 1, 0);
    store_mark(w->s, STR("kwok://m1"), true);
    check_census(w, "it goes", 1, 0, 1);
    store_mark(w->s, STR("kwok://m1"), false);
    check_census(w, "it does not", 2, 0, 0);
    check_census(w, "of another pool nothing", 2, 0, 0);
}

static void reservations(void **state)
{
    struct cluster_feed *w = *state;

    cluster_putf(w, CLAIM, "c1", "m1");
    check_i64("room", store_room(w->s, STR("a"), 4), 3);
    check_i64("some", store_reserve(w->s, STR("a"), 4, 2), 2);
    check_i64("what is left", store_reserve(w->s, STR("a"), 4, 5), 1);
    check_i64("none is left", store_reserve(w->s, STR("a"), 4, 1), 0);
    check_i64("another pool has its own", store_reserve(w->s, STR("b"), 1, 1), 1);
    store_release(w->s, STR("a"), 1);
    cluster_putf(w, CLAIM, "c2", "m2");
    check_i64("one was made", store_room(w->s, STR("a"), 4), 0);
    store_release(w->s, STR("a"), 2);
    check_i64("two were not", store_room(w->s, STR("a"), 4), 2);
    store_release(w->s, STR("a"), 7);
    store_release(w->s, STR("nobody"), 1);
    check_i64("no limit", store_reserve(w->s, STR("a"), INT64_MAX, 100), 100);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(time_limits),
        cmocka_unit_test(words),
        cmocka_unit_test(fields),
        cmocka_unit_test(some_stay),
        cmocka_unit_test(settling),
        cmocka_unit_test(between_looks),
        cmocka_unit_test_setup_teardown(census, cluster_feed_setup, cluster_feed_teardown),
        cmocka_unit_test_setup_teardown(reservations, cluster_feed_setup, cluster_feed_teardown),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
