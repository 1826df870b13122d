/* Events against the embedded API server. */
#include "control/recorder.h"

#include <stdio.h>
#include <stdlib.h>

#include "data/json.h"
#include "data/json_own.h"
#include "net/fiber.h"
#include "sim/kube/faults.h"
#include "support/check.h"
#include "support/kube_bench.h"

#define SECOND 1000ll /* in milliseconds */
#define MINUTE (60 * SECOND)

static const struct kube_options options = {.version = "v1.36.3", .token = "secret"};

struct desk {
    struct kube_bench b;
    struct kube_config *config;
    struct api *api;
    struct log *log;
    struct recorder *r;
    struct sb calls, lines;
    uint32_t n_calls;
};

static void note_call(void *ctx, const struct api_call *c)
{
    struct desk *d = ctx;

    sb_printf(&d->calls, "%s %d\n", c->method, c->code);
    d->n_calls++;
}

static void keep_line(void *ctx, str line)
{
    sb_str(&((struct desk *)ctx)->lines, line);
}

static uint32_t lines_saying(const struct desk *d, const char *what)
{
    str rest = sb_view(&d->lines), line;
    uint32_t n = 0;

    while (str_cut(rest, '\n', &line, &rest))
        n += str_contains(line, str_c(what));
    return n;
}

static int64_t clock_ms(void *clock)
{
    return world_now_ms(clock);
}

static void desk_init(struct desk *d, const struct kube_faults *f)
{
    *d = (struct desk){0};
    bench_init(&d->b, 1, &options, f);
    d->config = kube_config_fixed(STR(BENCH_URL), STR("secret"), NULL);
    d->api =
        api_new(d->b.client, d->config, &(struct api_options){.user_agent = "test", .on_call = note_call, .ctx = d});
    d->log = log_new(LOG_INFO, &(struct log_sink){d, keep_line}, clock_ms, d->b.client);
    d->r = recorder_new(d->api, STR("karpenter"), d->log);
}

static void desk_fini(struct desk *d)
{
    recorder_free(d->r);
    api_free(d->api);
    kube_config_free(d->config);
    log_free(d->log);
    sb_fini(&d->calls);
    sb_fini(&d->lines);
    bench_fini(&d->b);
}

/* What was called since the last look. */
static void expect_calls(const char *name, struct desk *d, const char *want)
{
    check_str(name, sb_view(&d->calls), want);
    sb_reset(&d->calls);
    d->n_calls = 0;
}

static struct event about_node(const char *name, const char *reason, const char *message)
{
    return (struct event){.object = {.kind = &api_nodes, .name = str_c(name), .uid = STR("u-1")},
                          .reason = reason,
                          .message = str_c(message)};
}

static void publish(struct desk *d, struct event ev)
{
    recorder_publish(d->r, &ev);
}

static const struct tree *events_in(struct desk *d, const char *ns)
{
    char path[128];

    (void)snprintf(path, sizeof(path), "/api/v1/namespaces/%s/events", ns);
    const struct stream *s = bench_call(&d->b, "GET", path, "Authorization: Bearer secret", NULL);
    check_i64(path, s->status, 200);
    return tree_get(json_read_own(d->b.a, arena_strdup(d->b.a, str_trim(sb_view(&s->body)))), "items");
}

/* The one whose message begins so. */
static const struct tree *event_saying(const struct tree *all, const char *message)
{
    for (uint32_t i = 0; i < all->n; i++)
        if (str_starts(tree_str(tree_get(&all->items[i], "message")), str_c(message)))
            return &all->items[i];
    return NULL;
}

/* ---- what is written ---- */

/* Kinds of node classes are found anew with every reconcile, which is over when the event is sent. */
static void a_kind_that_is_gone(UNUSED void **state)
{
    struct api_kind *kind = xmalloc(sizeof(*kind));
    struct desk d;

    *kind = (struct api_kind){.group = "karpenter.k8s.aws", .version = "v1", .kind = "EC2NodeClass"};
    desk_init(&d, NULL);
    publish(&d, (struct event){.object = {.kind = kind, .name = STR("default")},
                               .reason = "WaitingOnNodeClaimTermination",
                               .message = STR("Waiting")});
    free(kind);
    bench_run(&d.b, 1);
    const struct tree *all = events_in(&d, "default");
    check_u64("one event", all->n, 1);
    check_str("its kind", tree_str(tree_at(&all->items[0], "involvedObject", "kind", NULL)), "EC2NodeClass");
    desk_fini(&d);
}

static void bodies(UNUSED void **state)
{
    struct desk d;
    struct event ev = {.object = {.kind = &api_nodeclaims,
                                  .name = STR("default-abc"),
                                  .uid = STR("6b0e9f06-0000-4000-8000-000000000001"),
                                  .resource_version = STR("17")},
                       .reason = "Launched",
                       .message = STR("Status condition transitioned, Type: Launched")};
    struct sb b = {0};
    struct jw w = {.out = &b};

    desk_init(&d, NULL);
    publish(&d, ev);
    check_u64("one waits", recorder_waiting(d.r), 1);
    bench_run(&d.b, 1);
    check_u64("none waits", recorder_waiting(d.r), 0);
    check_u64("no fiber is kept", fiber_count(d.b.client), 0);
    expect_calls("created", &d, "POST 201\n");
    const struct tree *all = events_in(&d, "default");
    check_u64("one event", all->n, 1);
    const struct tree *got = &all->items[0];
    str name = tree_str(tree_at(got, "metadata", "name", NULL));
    check_true("named after the object and the time", str_starts(name, STR("default-abc.1")) && name.n == 28);
    static const char *const parts[] = {
        "involvedObject",     "reason",           "message", "source", "count", "type", "eventTime",
        "reportingComponent", "reportingInstance"};
    for (size_t i = 0; i < ARRAY_LEN(parts); i++) {
        sb_printf(&b, "%s=", parts[i]);
        w = (struct jw){.out = &b};
        jw_tree(&w, tree_get(got, parts[i]));
        sb_char(&b, '\n');
    }
    check_str(
        "fields", sb_view(&b),
        "involvedObject={\"kind\":\"NodeClaim\",\"name\":\"default-abc\",\"uid\":\"6b0e9f06-0000-4000-8000-000000000001\","
        "\"apiVersion\":\"karpenter.sh/v1\",\"resourceVersion\":\"17\"}\n"
        "reason=\"Launched\"\nmessage=\"Status condition transitioned, Type: Launched\"\nsource={\"component\":\"karpenter\"}\n"
        "count=1\ntype=\"Normal\"\neventTime=null\nreportingComponent=\"karpenter\"\nreportingInstance=\"\"\n");
    check_str("first is last", tree_str(tree_get(got, "firstTimestamp")),
              arena_printf(d.b.a, STR_FMT, STR_ARG(tree_str(tree_get(got, "lastTimestamp")))).p);
    sb_fini(&b);
    desk_fini(&d);
}

static void an_object_without_a_name(UNUSED void **state)
{
    struct desk d;

    desk_init(&d, NULL);
    publish(&d,
            (struct event){.object = {.kind = &api_nodeclaims}, .reason = "Finalized", .message = STR("Finalized x")});
    publish(&d,
            (struct event){.object = {.kind = &api_nodeclaims}, .reason = "Finalized", .message = STR("Finalized x")});
    publish(&d, (struct event){.object = {.kind = &api_pods, .ns = STR("kube-system"), .name = STR("Not_A_Name")},
                               .reason = "Odd",
                               .warning = true,
                               .message = STR("x")});
    bench_run(&d.b, 1);
    expect_calls("created, counted, created", &d, "POST 201\nPATCH 200\nPOST 201\n");
    const struct tree *got = &events_in(&d, "default")->items[0];
    check_u64("a uuid", tree_str(tree_at(got, "metadata", "name", NULL)).n, 36);
    check_u64("only apiVersion and kind", tree_get(got, "involvedObject")->n, 2);
    check_str("count", tree_scalar(tree_get(got, "count")), "2");
    got = &events_in(&d, "kube-system")->items[0];
    check_u64("a uuid", tree_str(tree_at(got, "metadata", "name", NULL)).n, 36);
    check_str("in the object's namespace, and a warning", tree_str(tree_get(got, "type")), "Warning");
    desk_fini(&d);
}

/* ---- what is not written ---- */

static void the_same_key_is_dropped_for_a_while(UNUSED void **state)
{
    struct desk d;
    struct event ev = about_node("n", "FailedDraining", "first");

    desk_init(&d, NULL);
    ev.dedupe = (const str[]){STR("n"), STR("x")};
    ev.n_dedupe = 2;
    publish(&d, ev);
    ev.message = STR("second");
    publish(&d, ev);
    bench_run(&d.b, 2 * MINUTE - 1);
    publish(&d, ev);
    expect_calls("once in two minutes", &d, "POST 201\n");
    bench_run(&d.b, 1);
    publish(&d, ev);
    ev.dedupe = (const str[]){STR("n"), STR("y")};
    ev.dedupe_ms = 15 * MINUTE;
    publish(&d, ev);
    bench_run(&d.b, 1);
    expect_calls("then again; and another key", &d, "POST 201\nPATCH 200\n");
    bench_run(&d.b, 14 * MINUTE);
    publish(&d, ev);
    bench_run(&d.b, 1);
    expect_calls("15 min", &d, "");
    desk_fini(&d);
}

static void nominations_share_a_limit(UNUSED void **state)
{
    struct desk d;

    desk_init(&d, NULL);
    for (int round = 0; round < 2; round++) {
        for (int i = 0; i < 30; i++) {
            char name[16];
            struct event ev;

            (void)snprintf(name, sizeof(name), "n%d", i);
            ev = about_node(name, "Nominated", "x");
            ev.limited = true;
            publish(&d, ev);
        }
        publish(&d, about_node(round ? "b" : "a", "Other", "not limited"));
        bench_run(&d.b, 1 * SECOND);
        check_u64("ten at once, then five a second; and one that is not limited", d.n_calls, round ? 6 : 11);
        d.n_calls = 0;
    }
    desk_fini(&d);
}

static void floods_about_an_object_are_cut(UNUSED void **state)
{
    struct desk d;

    desk_init(&d, NULL);
    for (int i = 0; i < 100; i++)
        publish(&d, about_node("n", "Same", "same"));
    publish(&d, about_node("other", "Same", "same"));
    bench_run(&d.b, 1 * SECOND);
    check_u64("25 of one, and the other one's", d.n_calls, 26);
    struct event warning = about_node("n", "Other", "a warning has room all the same");
    warning.warning = true;
    publish(&d, warning);
    bench_run(&d.b, 1 * SECOND);
    check_u64("a warning", d.n_calls, 27);
    d.n_calls--;
    bench_run(&d.b, 5 * MINUTE);
    publish(&d, about_node("n", "Same", "same"));
    publish(&d, about_node("n", "Same", "same"));
    bench_run(&d.b, 1 * SECOND);
    check_u64("one more after five minutes", d.n_calls, 27);
    const struct tree *all = events_in(&d, "default");
    check_str("what was not sent counts", tree_scalar(tree_get(&all->items[0], "count")), "101");
    desk_fini(&d);
}

static void similar_ones_are_put_together(UNUSED void **state)
{
    struct desk d;

    desk_init(&d, NULL);
    for (int i = 0; i < 12; i++) {
        char message[32];

        (void)snprintf(message, sizeof(message), "message %d", i);
        publish(&d, about_node("n", "Similar", message));
    }
    bench_run(&d.b, 1 * SECOND);
    expect_calls("nine, then one with a count", &d,
                 "POST 201\nPOST 201\nPOST 201\nPOST 201\nPOST 201\nPOST 201\nPOST 201\nPOST 201\nPOST 201\nPOST 201\n"
                 "PATCH 200\nPATCH 200\n");
    const struct tree *last = event_saying(events_in(&d, "default"), "(combined");
    check_str("text", tree_str(tree_get(last, "message")), "(combined from similar events): message 11");
    check_str("count", tree_scalar(tree_get(last, "count")), "3");
    bench_run(&d.b, 10 * MINUTE + 1);
    publish(&d, about_node("n", "Similar", "message 99"));
    bench_run(&d.b, 1 * SECOND);
    expect_calls("forgotten after ten minutes", &d, "POST 201\n");
    desk_fini(&d);
}

/* ---- when the server does not want, or is away ---- */

static void a_repeat_of_what_is_gone(UNUSED void **state)
{
    struct desk d;
    char path[256];

    desk_init(&d, NULL);
    publish(&d, about_node("n", "Same", "same"));
    bench_run(&d.b, 1 * SECOND);
    str name = tree_str(tree_at(&events_in(&d, "default")->items[0], "metadata", "name", NULL));
    (void)snprintf(path, sizeof(path), "/api/v1/namespaces/default/events/" STR_FMT, STR_ARG(name));
    check_i64("deleted", bench_call(&d.b, "DELETE", path, "Authorization: Bearer secret", NULL)->status, 200);
    publish(&d, about_node("n", "Same", "same"));
    bench_run(&d.b, 1 * SECOND);
    expect_calls("created anew", &d, "POST 201\nPATCH 404\nPOST 201\n");
    check_str("with its count", tree_scalar(tree_get(&events_in(&d, "default")->items[0], "count")), "2");
    desk_fini(&d);
}

static void what_is_refused_is_not_tried_again(UNUSED void **state)
{
    struct desk d;

    desk_init(&d, NULL);
    publish(&d, (struct event){.object = {.kind = &api_pods, .ns = STR("no-such-namespace"), .name = STR("p")},
                               .reason = "Lost",
                               .message = STR("x")});
    publish(&d, about_node("n", "Kept", "x"));
    bench_run(&d.b, 5 * MINUTE);
    expect_calls("the next one is sent", &d, "POST 404\nPOST 201\n");
    check_true("and a line says so",
               strstr(sb_cstr(&d.lines), "\"message\":\"event was not written\",\"reason\":\"Lost\","
                                         "\"Pod\":{\"name\":\"p\",\"namespace\":\"no-such-namespace\"},\"error\":"));
    desk_fini(&d);
}

static void the_server_comes_back(UNUSED void **state)
{
    struct desk d;
    struct sim_faults away = {.refuse = 65536}, well = {0};

    desk_init(&d, NULL);
    sim_set_faults(d.b.sim, BENCH_URL, &away);
    publish(&d, about_node("n", "Patient", "x"));
    bench_run(&d.b, 60 * SECOND);
    check_true("it is tried again every ten seconds", d.n_calls >= 6 && d.n_calls <= 7);
    sim_set_faults(d.b.sim, BENCH_URL, &well);
    sb_reset(&d.calls);
    bench_run(&d.b, 10 * SECOND);
    expect_calls("and comes through", &d, "POST 201\n");
    sim_set_faults(d.b.sim, BENCH_URL, &away);
    publish(&d, about_node("m", "Patient", "x"));
    bench_run(&d.b, 10 * MINUTE);
    check_u64("twelve times, then never", d.n_calls, 12);
    check_u64("none waits", recorder_waiting(d.r), 0);
    check_u64("lines", d.lines.n > 0, 1);
    desk_fini(&d);
}

static void the_oldest_are_lost(UNUSED void **state)
{
    struct desk d;
    struct sim_faults away = {.refuse = 65536}, well = {0};

    desk_init(&d, NULL);
    sim_set_faults(d.b.sim, BENCH_URL, &away);
    for (int i = 0; i < 1100; i++) {
        char name[16], message[24];

        (void)snprintf(name, sizeof(name), "n%d", i);
        (void)snprintf(message, sizeof(message), "of n%d.", i);
        publish(&d, about_node(name, "Many", message));
        if (i == 0)
            bench_run(&d.b, 1); /* this one is in hand */
    }
    check_u64("a thousand, and the one in hand", recorder_waiting(d.r), 1001);
    sim_set_faults(d.b.sim, BENCH_URL, &well);
    bench_run(&d.b, 20 * SECOND);
    const struct tree *all = events_in(&d, "default");
    check_u64("as many were written", all->n, 1001);
    check_true("the one in hand", event_saying(all, "of n0.") != NULL);
    check_true("those after it were lost", !event_saying(all, "of n1.") && !event_saying(all, "of n99."));
    check_true("the others were not", event_saying(all, "of n100.") && event_saying(all, "of n1099."));
    check_u64("a line for the first, and one for the rest when all is over", lines_saying(&d, "are lost"), 2);
    check_true("with counts", str_contains(sb_view(&d.lines), STR("\"lost\":1}")) &&
                                  str_contains(sb_view(&d.lines), STR("\"lost\":98}")));
    desk_fini(&d);
}

/* For an hour, with nobody there to take them. */
static void a_flood_is_a_line_a_minute(UNUSED void **state)
{
    struct desk d;
    struct sim_faults away = {.refuse = 65536};
    int i = 0;

    desk_init(&d, NULL);
    sim_set_faults(d.b.sim, BENCH_URL, &away);
    for (int s = 0; s < 3600; s += 10) {
        for (int k = 0; k < 100; k++) {
            char name[16];

            (void)snprintf(name, sizeof(name), "n%d", i++);
            publish(&d, about_node(name, "Many", "one of many"));
        }
        bench_run(&d.b, 10 * SECOND);
    }
    check_true("not thousands", lines_saying(&d, "are lost") > 50 && lines_saying(&d, "are lost") <= 60);
    check_true("with their count", str_contains(sb_view(&d.lines), STR("\"lost\":600}")));
    desk_fini(&d);
}

static void the_world_dies(UNUSED void **state)
{
    struct desk d;
    struct sim_faults away = {.refuse = 65536};

    for (int freed_first = 0; freed_first < 2; freed_first++) {
        desk_init(&d, NULL);
        sim_set_faults(d.b.sim, BENCH_URL, &away);
        for (int i = 0; i < 10; i++)
            publish(&d, about_node("n", "Never", "x"));
        bench_run(&d.b, 15 * SECOND); /* it sleeps between two tries */
        if (freed_first) {
            recorder_free(d.r);
            d.r = NULL;
        }
        sim_kill(d.b.client);
        bench_run(&d.b, 1 * SECOND);
        check_u64("no fiber is left", fiber_count(d.b.client), 0);
        if (d.r)
            publish(&d, about_node("n", "Late", "x"));
        check_u64("nobody is woken", fiber_count(d.b.client), 0);
        desk_fini(&d);
    }
}

struct killer {
    struct desk *d;
    uint64_t at;
};

static void maybe_kill(void *ctx, uint64_t step)
{
    struct killer *k = ctx;

    if (step == k->at)
        sim_kill(k->d->b.client);
}

static void killed_between_any_two_steps(UNUSED void **state)
{
    bool survived = false;

    for (uint64_t at = 1; !survived; at++) {
        struct desk d;
        struct killer k = {&d, at};

        desk_init(&d, NULL);
        sim_on_step(d.b.sim, maybe_kill, &k);
        sim_set_faults(d.b.sim, BENCH_URL, &(struct sim_faults){.refuse = 20000, .delay_us = {1000, 5000}});
        for (int i = 0; i < 4; i++)
            publish(&d, about_node(i % 2 ? "a" : "b", "Reason", "message"));
        bench_run(&d.b, 2 * MINUTE);
        survived = !world_dead(d.b.client);
        check_u64("no fiber is left", fiber_count(d.b.client), 0);
        desk_fini(&d);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_kind_that_is_gone),
        cmocka_unit_test(bodies),
        cmocka_unit_test(an_object_without_a_name),
        cmocka_unit_test(the_same_key_is_dropped_for_a_while),
        cmocka_unit_test(nominations_share_a_limit),
        cmocka_unit_test(floods_about_an_object_are_cut),
        cmocka_unit_test(similar_ones_are_put_together),
        cmocka_unit_test(a_repeat_of_what_is_gone),
        cmocka_unit_test(what_is_refused_is_not_tried_again),
        cmocka_unit_test(the_server_comes_back),
        cmocka_unit_test(the_oldest_are_lost),
        cmocka_unit_test(a_flood_is_a_line_a_minute),
        cmocka_unit_test(the_world_dies),
        cmocka_unit_test(killed_between_any_two_steps),
    };

    return cmocka_run_group_tests_name("control/recorder", tests, NULL, NULL);
}
