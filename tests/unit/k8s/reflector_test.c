/* Whatever goes wrong between a server and its clients, the copies of those who watch become the server's state, and no object in
 * them ever goes back in time. Everything is drawn from a seed that is printed when a run fails. */
#include "k8s/reflector.h"

#include <stdio.h>

#include "data/edit.h"
#include "net/fiber.h"
#include "support/check.h"
#include "support/kube_bench.h"

#define SECOND_US INT64_C(1000000)
#define MINUTE_MS 60000
#define N_SEEDS 120
#define N_NAMES 12u

static const struct api_kind configmaps = {"", "v1", "configmaps", "ConfigMap", true};
static const struct kube_options options = {.version = "v1.36.3", .window = 300};

static const struct kube_faults bad_day = {
    .gone = 20000,
    .throttle = 6000,
    .error = 6000,
    .lose_reply = 4000,
    .delay = 8000,
    .delay_us = {1000, 3 * SECOND_US},
    .duplicate = 10000,
    .drop_watch = 60000,
    .drop_after_us = {1000, 10 * SECOND_US},
    .restart = 300,
    .restart_us = {SECOND_US, 20 * SECOND_US},
};

static const struct sim_faults bad_net = {
    .delay_us = {100, 50000},
    .refuse = 1000,
    .lose_reply = 1000,
    .cut_stream = 12000,
    .cut_after_us = {1000, 10 * SECOND_US},
    .stall_stream = 2000,
    .stall_us = {1000, 20 * SECOND_US},
    .slow = 1000,
};

/* ---- a copy ---- */

struct entry {
    char name[32];
    uint64_t rv; /* the newest that was seen */
    bool there;  /* now */
    bool mentioned;
};

struct copy {
    struct entry v[64]; /* in order of appearance */
    uint32_t n;
    uint32_t n_lists, n_events, n_errors;
    bool listing;
    const char *wrong;
    struct err last;
};

static struct entry *entry_of(struct copy *c, const struct tree *obj)
{
    str name = tree_str(tree_at(obj, "metadata", "name", NULL));

    for (uint32_t i = 0; i < c->n; i++)
        if (str_is(name, c->v[i].name))
            return &c->v[i];
    assert(c->n < ARRAY_LEN(c->v) && name.n < sizeof(c->v[0].name));
    memcpy(c->v[c->n].name, name.p, name.n);
    return &c->v[c->n++];
}

static uint64_t rv_of(const struct tree *obj)
{
    int64_t v = 0;

    (void)str_to_i64(tree_str(tree_at(obj, "metadata", "resourceVersion", NULL)), &v);
    return (uint64_t)v;
}

static void on_list_begin(void *ctx)
{
    struct copy *c = ctx;

    c->listing = true;
    for (uint32_t i = 0; i < c->n; i++)
        c->v[i].mentioned = false;
}

static void on_object(void *ctx, struct tree *obj)
{
    struct copy *c = ctx;
    struct entry *x = entry_of(c, obj);

    if (rv_of(obj) < x->rv)
        c->wrong = "an object goes back in time";
    if (!str_is(tree_str(tree_get(obj, "kind")), "ConfigMap") || !str_is(tree_str(tree_get(obj, "apiVersion")), "v1"))
        c->wrong = "an object does not say what it is";
    x->rv = rv_of(obj);
    x->there = x->mentioned = true;
    c->n_events++;
}

static void on_gone(void *ctx, const struct tree *obj)
{
    struct copy *c = ctx;
    struct entry *x = entry_of(c, obj);

    if (rv_of(obj) < x->rv)
        c->wrong = "an object goes before its time";
    x->rv = rv_of(obj);
    x->there = x->mentioned = false;
    c->n_events++;
}

static void on_list_end(void *ctx)
{
    struct copy *c = ctx;

    if (!c->listing)
        c->wrong = "a list ends that has not begun";
    c->listing = false;
    c->n_lists++;
    for (uint32_t i = 0; i < c->n; i++)
        c->v[i].there = c->v[i].mentioned;
}

static void on_error(void *ctx, const struct err *e)
{
    struct copy *c = ctx;

    c->n_errors++;
    c->last = *e;
}

static struct reflector_events events_of(struct copy *c)
{
    return (struct reflector_events){.ctx = c,
                                     .on_list_begin = on_list_begin,
                                     .on_object = on_object,
                                     .on_gone = on_gone,
                                     .on_list_end = on_list_end,
                                     .on_error = on_error};
}

/* ---- the server's state ---- */

struct comparing {
    struct copy *c;
    const char *only; /* the name; NULL: all */
    uint32_t n;
    bool equal;
};

static void compare_one(void *ctx, const struct object *o)
{
    struct comparing *c = ctx;

    if (c->only && !str_is(o->name, c->only))
        return;
    c->n++;
    for (uint32_t i = 0; i < c->c->n; i++)
        if (str_is(o->name, c->c->v[i].name) && c->c->v[i].there && c->c->v[i].rv == o->rv)
            return;
    c->equal = false;
}

static bool same_state(struct kube_bench *b, struct copy *copy, const char *only)
{
    struct comparing c = {.c = copy, .only = only, .equal = true};
    uint32_t n = 0;

    kube_each(b->kube, kube_kind(b->kube, STR(""), STR("ConfigMap")), (str){0}, compare_one, &c);
    for (uint32_t i = 0; i < copy->n; i++)
        n += copy->v[i].there;
    return c.equal && c.n == n;
}

/* ---- writing, from inside the server: what is tested is the other side ---- */

struct writer {
    struct kube_bench *b;
    struct rng rng;
    struct timer timer;
    bool stop;
    uint32_t n_done;
};

static void write_once(struct writer *w)
{
    AUTO(arena) struct arena *a = arena_new(0);
    const struct kind *kind = kube_kind(w->b->kube, STR(""), STR("ConfigMap"));
    str name = arena_printf(a, "n%u", rng_below(&w->rng, N_NAMES));
    const struct object *o = kube_get(w->b->kube, kind, STR("default"), name);
    struct status st;

    if (o && rng_below(&w->rng, 4) == 0) {
        w->n_done +=
            kube_delete(w->b->kube, a, kind, STR("default"), name, &(struct delete_options){.grace_s = -1}, &st);
        return;
    }
    struct tree *t = o ? kube_tree(a, o) : tree_new_map(a), *meta = tree_sub(a, t, "metadata");
    tree_set_str(a, meta, "name", name);
    tree_set_str(a, meta, "namespace", STR("default"));
    tree_set_str(a, tree_sub(a, t, "data"), "k", arena_printf(a, "%u", rng_below(&w->rng, 1000)));
    w->n_done +=
        o ? kube_update(w->b->kube, a, kind, NULL, t, NULL, &st) : kube_create(w->b->kube, a, kind, t, NULL, &st);
}

static void writer_fires(void *ctx)
{
    struct writer *w = ctx;

    if (w->stop)
        return;
    write_once(w);
    timer_set(w->b->server, &w->timer, rng_below(&w->rng, 8) == 0 ? 0 : (int64_t)rng_below(&w->rng, 700000));
}

static void writer_go(struct writer *w, struct kube_bench *b, uint64_t seed)
{
    *w = (struct writer){.b = b, .timer = {.fn = writer_fires, .ctx = w}};
    rng_init(&w->rng, seed + 1);
    timer_set(b->server, &w->timer, 0);
}

/* ---- runs ---- */

struct outcome {
    uint64_t trace, faults;
    uint32_t n_lists, n_events, n_errors, n_done;
};

static void run(uint64_t seed, const struct kube_faults *kf, const struct sim_faults *nf, struct outcome *ret)
{
    static const struct kube_faults none;
    static const struct sim_faults quiet;
    static const struct reflector_options how[3] = {
        {.no_streamed_lists = false}, {.no_streamed_lists = true}, {.field_selector = STR_INIT("metadata.name=n3")}};
    struct copy copies[3] = {0};
    struct reflector *r[3];
    struct kube_bench b;
    struct writer w;
    char name[64];

    (void)snprintf(name, sizeof(name), "seed %llu", (unsigned long long)seed);
    bench_init(&b, seed, &options, kf);
    sim_set_faults(b.sim, BENCH_URL, nf);
    AUTO(kube_config) struct kube_config *config = kube_config_fixed(STR(BENCH_URL), (str){0}, NULL);
    AUTO(api) struct api *api = api_new(b.client, config, &(struct api_options){0});
    for (uint32_t i = 0; i < ARRAY_LEN(r); i++) {
        struct reflector_events ev = events_of(&copies[i]);

        r[i] = reflector_new(api, &configmaps, &how[i], &ev);
    }
    writer_go(&w, &b, seed);
    bench_run(&b, 4 * MINUTE_MS);
    w.stop = true;
    faults_set(b.faults, &none);
    sim_set_faults(b.sim, BENCH_URL, &quiet);
    bench_run(&b, 4 * MINUTE_MS); /* stalled streams time out */

    *ret = (struct outcome){.trace = sim_trace(b.sim), .faults = faults_count(b.faults), .n_done = w.n_done};
    for (uint32_t i = 0; i < ARRAY_LEN(r); i++) {
        check_str(name, str_c(copies[i].wrong ? copies[i].wrong : ""), "");
        check_true(name, reflector_synced(r[i]));
        check_true(name, same_state(&b, &copies[i], i == 2 ? "n3" : NULL));
        ret->n_lists += copies[i].n_lists;
        ret->n_events += copies[i].n_events;
        ret->n_errors += copies[i].n_errors;
    }
    reflector_free(r[0]); /* before and after the end of its world */
    bench_run(&b, 1);
    sim_kill(b.client);
    bench_run(&b, 10);
    check_u64(name, fiber_count(b.client), 0);
    for (uint32_t i = 1; i < ARRAY_LEN(r); i++)
        reflector_free(r[i]);
    bench_fini(&b);
}

static void a_good_day(void **state)
{
    static const struct kube_faults none;
    static const struct sim_faults quiet;
    struct outcome o;

    (void)state;
    run(1, &none, &quiet, &o);
    check_u64("one list each", o.n_lists, 3);
    check_u64("no errors", o.n_errors, 0);
    check_true("much was written", o.n_done > 300);
}

static void bad_days(void **state)
{
    struct outcome sum = {0};

    (void)state;
    for (uint64_t seed = 1; seed <= N_SEEDS; seed++) {
        struct outcome o;

        run(seed, &bad_day, &bad_net, &o);
        sum.faults += o.faults;
        sum.n_lists += o.n_lists;
        sum.n_errors += o.n_errors;
    }
    check_true("much went wrong", sum.faults > 40 * N_SEEDS);
    check_true("lists were repeated", sum.n_lists > 6 * N_SEEDS);
    check_true("errors were reported", sum.n_errors > 10 * N_SEEDS);
}

static void same_seed_same_day(void **state)
{
    struct outcome a, b;

    (void)state;
    run(7, &bad_day, &bad_net, &a);
    run(7, &bad_day, &bad_net, &b);
    check_u64("the same", a.trace, b.trace);
}

/* ---- against a server that says what it is told to ---- */

struct site {
    struct kube_bench b;
    struct kube_config *config;
    struct api *api;
    struct copy copy;
    struct reflector *r;
    void (*answer)(struct site *s, struct exchange *x);
    uint32_t n_calls;
    char queries[4096];
    struct exchange *open; /* a watch */
    bool free_inside;
};

static void site_over(struct exchange *x)
{
    struct site *s = x->ctx;

    if (s->open == x)
        s->open = NULL;
}

static void site_serve(void *server, struct exchange *x)
{
    struct site *s = server;
    size_t n = strlen(s->queries);

    s->n_calls++;
    (void)snprintf(s->queries + n, sizeof(s->queries) - n, STR_FMT "\n", STR_ARG(x->query));
    s->answer(s, x);
}

static void site_object(void *ctx, struct tree *obj)
{
    struct site *s = ctx;

    on_object(&s->copy, obj);
    if (s->free_inside) {
        reflector_free(s->r);
        s->r = NULL;
    }
}

static void ignore(void *ctx)
{
    (void)ctx;
}

static void site_init(struct site *s, void (*answer)(struct site *s, struct exchange *x),
                      const struct reflector_options *o)
{
    memset(s, 0, sizeof(*s));
    bench_init(&s->b, 1, &options, NULL);
    s->answer = answer;
    s->config = kube_config_fixed(STR("https://site"), (str){0}, NULL);
    s->api = api_new(s->b.client, s->config, &(struct api_options){0});
    sim_mount(s->b.sim, "https://site", s->b.server, site_serve, s);
    struct reflector_events ev = events_of(&s->copy);
    s->r = reflector_new(s->api, &configmaps, o, &ev);
}

static void site_fini(struct site *s)
{
    reflector_free(s->r);
    sim_kill(s->b.client);
    bench_run(&s->b, 10);
    api_free(s->api);
    kube_config_free(s->config);
    bench_fini(&s->b);
}

static void begin_watch(struct site *s, struct exchange *x)
{
    x->ctx = s;
    x->on_over = site_over;
    s->open = x;
    reply_begin(x, 200, NULL, 0);
}

static void say(struct site *s, const char *text)
{
    reply_data(s->open, str_c(text));
}

#define CM(type, name, rv)                                                                                             \
    "{\"type\":\"" type "\",\"object\":{\"kind\":\"ConfigMap\",\"apiVersion\":\"v1\",\"metadata\":{\"name\":\"" name   \
    "\",\"resourceVersion\":\"" rv "\"}}}\n"
#define END(rv)                                                                                                        \
    "{\"type\":\"BOOKMARK\",\"object\":{\"metadata\":{\"resourceVersion\":\"" rv                                       \
    "\",\"annotations\":{\"k8s.io/initial-events-end\":\"true\"}}}}\n"
#define MARK(rv) "{\"type\":\"BOOKMARK\",\"object\":{\"metadata\":{\"resourceVersion\":\"" rv "\"}}}\n"

static bool has_query(const struct site *s, const char *text)
{
    return strstr(s->queries, text) != NULL;
}

static void forget_queries(struct site *s)
{
    s->queries[0] = '\0';
}

static void streams(struct site *s, struct exchange *x)
{
    begin_watch(s, x);
}

static void a_streamed_list(void **state)
{
    struct site s;

    (void)state;
    site_init(&s, streams, NULL);
    bench_run(&s.b, 10);
    check_true("as other clients ask", has_query(&s, "allowWatchBookmarks=true&resourceVersionMatch=NotOlderThan&"
                                                     "sendInitialEvents=true&timeoutSeconds="));
    check_true("for a watch", has_query(&s, "&watch=true"));
    say(&s, CM("ADDED", "a", "5") CM("ADDED", "b", "3"));
    bench_run(&s.b, 10);
    check_true("in the middle", s.copy.listing && !reflector_synced(s.r));
    say(&s, CM("DELETED", "b", "6") MARK("4") END("7") CM("MODIFIED", "a", "9") MARK("12"));
    bench_run(&s.b, 10);
    check_true("complete", reflector_synced(s.r) && s.copy.n_lists == 1);
    check_true("what was deleted meanwhile is gone", s.copy.v[0].there && !s.copy.v[1].there);
    forget_queries(&s);
    bench_run(&s.b, 2000);
    reply_end(s.open);
    bench_run(&s.b, 10);
    check_true("goes on from the bookmark at once",
               has_query(&s, "allowWatchBookmarks=true&resourceVersion=12&timeoutSeconds=") && s.open);
    forget_queries(&s);
    say(&s, CM("ADDED", "c", "13"));
    bench_run(&s.b, 2000);
    reply_abort(s.open);
    bench_run(&s.b, 10);
    check_true("goes on from the last event", has_query(&s, "resourceVersion=13&") && s.open);
    forget_queries(&s);
    say(&s, "{\"type\":\"ERROR\",\"object\":{\"kind\":\"Status\",\"code\":410,\"message\":\"too old\"}}\n");
    bench_run(&s.b, 4000);
    check_i64("410", s.copy.last.kind, ERR_GONE);
    check_str("410", str_c(s.copy.last.msg), "watch configmaps: too old");
    check_true("lists again", has_query(&s, "sendInitialEvents=true"));
    site_fini(&s);
}

static void silence(void **state)
{
    struct site s;

    (void)state;
    site_init(&s, streams, NULL);
    bench_run(&s.b, 10);
    say(&s, END("7"));
    forget_queries(&s);
    bench_run(&s.b, 170000);
    say(&s, MARK("8"));
    bench_run(&s.b, 170000);
    check_u64("a word in three minutes will do", s.n_calls, 1);
    bench_run(&s.b, 12000);
    check_u64("nothing will not", s.n_calls, 2);
    check_true("goes on", has_query(&s, "resourceVersion=8&"));
    site_fini(&s);
}

static void goes_on_for_ever(struct site *s, struct exchange *x)
{
    struct sb b = {0};

    begin_watch(s, x);
    sb_c(&b, "{\"type\":\"ADDED\",\"object\":{\"k\":\"");
    sb_fill(&b, 'a', 9u << 20);
    reply_data(x, sb_view(&b));
    sb_fini(&b);
}

static void too_large(void **state)
{
    struct site s;

    (void)state;
    site_init(&s, goes_on_for_ever, NULL);
    bench_run(&s.b, 60000);
    check_str("reported", str_c(s.copy.last.msg), "list configmaps: an event of a watch has more than 8 MiB");
    check_true("tried again, less and less often", s.n_calls > 3 && s.n_calls < 9);
    site_fini(&s);
}

static void pages(struct site *s, struct exchange *x)
{
    if (str_contains(x->query, STR("sendInitialEvents"))) {
        reply_all(x, 422, "application/json",
                  STR("{\"message\":\"sendInitialEvents: Forbidden\",\"reason\":\"Invalid\"}"));
    } else if (str_contains(x->query, STR("watch=true"))) {
        begin_watch(s, x);
    } else if (str_contains(x->query, STR("continue=t%2F1")) && s->n_calls < 5) {
        reply_all(x, 410, "application/json", STR("{\"message\":\"too old\",\"reason\":\"Expired\"}"));
    } else if (str_contains(x->query, STR("continue=t%2F1"))) {
        reply_all(x, 200, "application/json",
                  STR("{\"metadata\":{\"resourceVersion\":\"9\"},\"items\":[{\"metadata\":{\"name\":\"b\","
                      "\"resourceVersion\":\"4\"}}]}"));
    } else {
        reply_all(x, 200, "application/json",
                  STR("{\"metadata\":{\"resourceVersion\":\"9\",\"continue\":\"t/1\"},\"items\":[{\"metadata\":{"
                      "\"name\":\"a\",\"resourceVersion\":\"3\"}}]}"));
    }
}

static void a_server_without(void **state)
{
    struct site s;

    (void)state;
    site_init(&s, pages, &(struct reflector_options){.field_selector = STR_INIT("metadata.name!=x")});
    bench_run(&s.b, 10);
    check_true("a page", has_query(&s, "fieldSelector=metadata.name%21%3Dx&limit=500\n"));
    check_true("the next", has_query(&s, "continue=t%2F1&fieldSelector=metadata.name%21%3Dx&limit=500\n"));
    check_true("not complete", !reflector_synced(s.r));
    bench_run(&s.b, 5000);
    check_true("from the beginning", reflector_synced(s.r) && s.copy.n_lists == 1);
    check_true("both", s.copy.v[0].there && s.copy.v[1].there);
    check_true("watched from there", has_query(&s, "resourceVersion=9&") && s.open);
    check_u64("only the 410 was an error", s.copy.n_errors, 1);
    site_fini(&s);
}

static void denied(struct site *s, struct exchange *x)
{
    (void)s;
    reply_all(x, 403, "application/json", STR("{\"message\":\"configmaps is forbidden\",\"reason\":\"Forbidden\"}"));
}

static void backing_off(void **state)
{
    struct site s;

    (void)state;
    site_init(&s, denied, NULL);
    bench_run(&s.b, 10 * MINUTE_MS);
    check_true("every 15 to 30 s in the end", s.n_calls > 20 && s.n_calls < 45);
    check_str("said so", str_c(s.copy.last.msg), "list configmaps: configmaps is forbidden");
    check_i64("said so", s.copy.last.kind, ERR_DENIED);
    site_fini(&s);
}

/* Freed by the one it hands objects to, while another line waits in the same piece. */
static void freed_inside(void **state)
{
    struct site s;

    (void)state;
    site_init(&s, streams, NULL);
    reflector_free(s.r); /* before its first turn */
    struct reflector_events ev = events_of(&s.copy);
    ev.ctx = &s;
    ev.on_object = site_object;
    ev.on_list_begin = ev.on_list_end = ignore;
    s.free_inside = true;
    s.r = reflector_new(s.api, &configmaps, NULL, &ev);
    bench_run(&s.b, 10);
    say(&s, CM("ADDED", "a", "5") CM("ADDED", "b", "6"));
    bench_run(&s.b, 10);
    check_u64("no more after the end", s.copy.n_events, 1);
    check_true("the call is gone too", !s.open);
    site_fini(&s);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_streamed_list),  cmocka_unit_test(silence),     cmocka_unit_test(too_large),
        cmocka_unit_test(a_server_without), cmocka_unit_test(backing_off), cmocka_unit_test(freed_inside),
        cmocka_unit_test(a_good_day),       cmocka_unit_test(bad_days),    cmocka_unit_test(same_seed_same_day),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
