/* What a reflector says on the wire, and what it makes of each answer: against a server that says what it is told to. */
#include "k8s/reflector.h"

#include <stdio.h>

#include "support/check.h"
#include "support/copy.h"
#include "support/kube_bench.h"

#define MINUTE_MS 60000

static const struct kube_options options = {.version = "v1.36.3"};

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
    uint32_t n_objects;
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

static void free_it(void *ctx, struct tree *obj)
{
    struct site *s = ctx;

    (void)obj;
    s->n_objects++;
    reflector_free(s->r);
    s->r = NULL;
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
    struct reflector_events ev = copy_events(&s->copy);
    s->r = reflector_new(s->api, &copied_kind, o, &ev);
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

/* It takes a streamed list for an ordinary watch. */
static void takes_it_for_a_watch(struct site *s, struct exchange *x)
{
    if (!str_contains(x->query, STR("watch=true")))
        reply_all(x, 200, "application/json", STR("{\"metadata\":{\"resourceVersion\":\"9\"},\"items\":null}"));
    else
        begin_watch(s, x);
}

static void a_list_without_an_end(void **state)
{
    struct site s;

    (void)state;
    site_init(&s, takes_it_for_a_watch, NULL);
    bench_run(&s.b, 10);
    say(&s, CM("ADDED", "a", "5"));
    bench_run(&s.b, 100000);
    check_true("no end yet", s.copy.listing && s.n_calls == 1);
    reply_end(s.open);
    bench_run(&s.b, 2000);
    check_true("listed in pages", reflector_synced(s.r) && has_query(&s, "limit=500"));
    check_true("it was gone by then", !s.copy.v[0].there);
    check_true("and watched", has_query(&s, "resourceVersion=9&") && s.open);
    site_fini(&s);
}

static void wants_a_new_token(struct site *s, struct exchange *x)
{
    if (s->n_calls % 2)
        reply_all(x, 401, "application/json", STR("{\"reason\":\"Unauthorized\"}"));
    else
        begin_watch(s, x);
}

static void a_token_that_ran_out(void **state)
{
    struct site s;

    (void)state;
    site_init(&s, wants_a_new_token, NULL);
    bench_run(&s.b, 10);
    check_true("asked again at once", s.n_calls == 2 && s.open);
    check_u64("without a word", s.copy.n_errors, 0);
    say(&s, END("7"));
    bench_run(&s.b, 2000);
    reply_end(s.open);
    bench_run(&s.b, 10);
    check_true("and the next time, too", s.n_calls == 4 && s.open);
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
    struct reflector_events ev = copy_events(&s.copy);
    ev.ctx = &s;
    ev.on_object = free_it;
    ev.on_list_begin = ev.on_list_end = ignore;
    s.r = reflector_new(s.api, &copied_kind, NULL, &ev);
    bench_run(&s.b, 10);
    say(&s, CM("ADDED", "a", "5") CM("ADDED", "b", "6"));
    bench_run(&s.b, 10);
    check_u64("no more after the end", s.n_objects, 1);
    check_true("the call is gone too", !s.open);
    site_fini(&s);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_streamed_list),
        cmocka_unit_test(silence),
        cmocka_unit_test(too_large),
        cmocka_unit_test(a_server_without),
        cmocka_unit_test(a_list_without_an_end),
        cmocka_unit_test(a_token_that_ran_out),
        cmocka_unit_test(backing_off),
        cmocka_unit_test(freed_inside),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
