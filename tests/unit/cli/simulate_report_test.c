/* The reports of made-up tallies, whole: what people, programs and browsers get. */
#include "cli/simulate/report.h"

#include <stdlib.h>

#include "cli/text.h"
#include "support/check.h"

static struct tally *made_up(double factor)
{
    struct tally *t = xcalloc(1, sizeof(*t));

    t->arena = arena_new(0);
    t->seconds = 86400;
    t->slot_s = 86400.0 / TALLY_SLOTS;
    t->usd = 100 * factor;
    t->total = (struct tally_slot){.covered_s = 86400,
                                   .usd = 100 * factor,
                                   .node_s = 86400 * 12.5 * factor,
                                   .cpu_used_s = 60,
                                   .cpu_s = 100 * factor,
                                   .memory_used_s = 45,
                                   .memory_s = 100 * factor,
                                   .nodes_max = 20,
                                   .launched = 30,
                                   .removed = 12,
                                   .evicted = factor < 1 ? 44 : 0};
    for (uint32_t i = 0; i < TALLY_SLOTS; i++)
        t->slots[i] = (struct tally_slot){.covered_s = t->slot_s, .usd = t->usd / TALLY_SLOTS, .node_s = i * t->slot_s};
    vec_push(&t->pools, (struct tally_pool){.name = STR("spot"), .usd = 40 * factor, .launched = 10});
    vec_push(&t->pools, (struct tally_pool){.name = STR("steady"), .usd = 60 * factor, .launched = 20});
    vec_push(&t->reasons, (struct tally_reason){STR("Empty"), 12});
    if (factor < 1)
        vec_push(&t->reasons, (struct tally_reason){STR("Underutilized"), 7});
    vec_push(&t->spends, (struct tally_spend){.type = STR("m5.large"),
                                              .capacity = STR("spot"),
                                              .usd = 100 * factor,
                                              .node_s = 86400 * 12.5,
                                              .launched = 30});
    if (factor >= 1)
        vec_push(&t->stuck, (struct tally_stuck){
                                .workload = STR("shop/<huge>"), .why = STR("no instance type has 999 CPUs"), .n = 3});
    for (uint32_t i = 1; i <= 100; i++)
        vec_push(&t->waits_ms, i * 1000);
    t->nodes_min = 4;
    t->n_pods = 103;
    t->n_ran = 100;
    t->n_stuck = factor >= 1 ? 3 : 0;
    return t;
}

static struct report report_of(struct arena *a, struct outcome *v, uint32_t n)
{
    return (struct report){.v = v,
                           .n = n,
                           .origin = "made up",
                           .seed = 7,
                           .start_ms = INT64_C(1767571200000),
                           .wanted_s = 86400,
                           .arena = a};
}

static const char alone[] = "1 day from 2026-01-05T00:00:00Z, seed 7, prices: made up\n"
                            "\n"
                            "                                           now\n"
                            "  cost                                 $100.00\n"
                            "    an hour                              $4.17\n"
                            "    a month of 730 h                 $3,041.67\n"
                            "  half of the pods ran within           50.0 s\n"
                            "    90% within                          90.0 s\n"
                            "    99% within                          99.0 s\n"
                            "    all within                      1 min 40 s\n"
                            "  pods created                             103\n"
                            "  pods that never ran                        3\n"
                            "  pods evicted                               0\n"
                            "  nodes at least                             4\n"
                            "    on average                            12.5\n"
                            "    at most                                 20\n"
                            "    launched                                30\n"
                            "    removed                                 12\n"
                            "  CPU requested of what nodes have       60.0%\n"
                            "    memory                               45.0%\n"
                            "\n"
                            "  cost of NodePools     now\n"
                            "  spot               $40.00\n"
                            "  steady             $60.00\n"
                            "\n"
                            "  nodes removed because  now\n"
                            "  Empty                   12\n"
                            "\n"
                            "  machines        launched  on average     cost\n"
                            "  m5.large  spot        30        12.5  $100.00\n"
                            "\n"
                            "Pods that never ran\n"
                            "  shop/<huge> ×3: no instance type has 999 CPUs\n";

static const char beside[] = "1 day from 2026-01-05T00:00:00Z, seed 7, prices: made up\n"
                             "\n"
                             "                                           now     cheaper\n"
                             "  cost                                 $100.00      $50.00  -50.0%\n";

static void text(void **state UNUSED)
{
    AUTO(arena) struct arena *a = arena_new(0);
    AUTO(tally) struct tally *one = made_up(1);
    AUTO(tally) struct tally *two = made_up(0.5);
    struct outcome v[] = {{"now", one}, {"cheaper", two}};
    struct sb out = {0};
    struct report r = report_of(a, v, 1);

    report_text(&out, &(struct text_style){0}, &r);
    check_str("one configuration", sb_view(&out), alone);
    sb_reset(&out);
    r = report_of(a, v, 2);
    report_text(&out, &(struct text_style){0}, &r);
    check_str("two configurations", str_sub(sb_view(&out), 0, sizeof(beside) - 1), beside);
    check_true("what only one of them has", str_contains(sb_view(&out), STR("Underutilized            0        7")));
    sb_reset(&out);
    r.wanted_s = 7 * 86400;
    report_text(&out, &(struct text_style){0}, &r);
    check_true("stopped early", str_starts(sb_view(&out), STR("1 day of the 7 days that were asked for from 2026")));
    sb_fini(&out);
}

static void json(void **state UNUSED)
{
    AUTO(arena) struct arena *a = arena_new(0);
    AUTO(tally) struct tally *one = made_up(1);
    AUTO(tally) struct tally *two = made_up(0.5);
    struct outcome v[] = {{"now", one}, {"cheaper", two}};
    struct report r = report_of(a, v, 2);
    static const char *const parts[] = {"\"apiVersion\": \"simulate.karpenter.sh/v1\"",
                                        "\"complete\": true",
                                        "\"total\": 100,",
                                        "\"p99\": 99,",
                                        "\"difference\": {\n        \"cost\": {\n          \"total\": -50,",
                                        "\"workload\": \"shop/<huge>\"",
                                        "\"reason\": \"Underutilized\",\n          \"nodes\": 7"};
    struct sb out = {0};

    report_json(&out, &r);
    for (size_t i = 0; i < ARRAY_LEN(parts); i++)
        check_true(parts[i], str_contains(sb_view(&out), str_c(parts[i])));
    sb_fini(&out);
}

/* Names come from outside, and the page loads nothing. */
static void html(void **state UNUSED)
{
    AUTO(arena) struct arena *a = arena_new(0);
    AUTO(tally) struct tally *one = made_up(1);
    AUTO(tally) struct tally *two = made_up(0.5);
    struct outcome v[] = {{"now", one}, {"<script>", two}};
    struct report r = report_of(a, v, 2);
    struct sb out = {0};

    report_html(&out, &r);
    str page = sb_view(&out);
    check_true("ends", str_ends(page, STR("</html>\n")));
    check_true("no scripts", !str_contains(page, STR("<script")));
    check_true("escaped", str_contains(page, STR("&lt;script&gt;")) && str_contains(page, STR("shop/&lt;huge&gt;")));
    check_true("nothing from elsewhere", !str_contains(page, STR("src=")) && !str_contains(page, STR("href=")) &&
                                             !str_contains(page, STR("url(")));
    check_true("no numbers that are none", !str_contains(page, STR("nan")) && !str_contains(page, STR("inf ")));
    check_true("dark", str_contains(page, STR("prefers-color-scheme:dark")));
    sb_fini(&out);
}

static const struct {
    const char *name;
    enum figure_unit unit;
    double from, to;
    const char *want;
} changes[] = {
    {"less", UNIT_USD, 100, 80, "-20.0%"},      {"more", UNIT_USD, 100, 250, "+150%"},
    {"a lot more", UNIT_COUNT, 10, 300, "×30"}, {"the same", UNIT_USD, 100, 100.01, ""},
    {"from none", UNIT_COUNT, 0, 12, "+12"},    {"points", UNIT_SHARE, 0.5, 0.625, "+12.5"},
    {"no points", UNIT_SHARE, 0.5, 0.5001, ""}, {"from free", UNIT_USD, 0, 5, ""},
};

static void differences(void **state UNUSED)
{
    AUTO(arena) struct arena *a = arena_new(0);

    for (size_t i = 0; i < ARRAY_LEN(changes); i++)
        check_str(changes[i].name, figure_change(a, changes[i].unit, changes[i].from, changes[i].to), changes[i].want);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(text),
        cmocka_unit_test(json),
        cmocka_unit_test(html),
        cmocka_unit_test(differences),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
