/* Calls to an API server: the embedded one for what a real one would say, and one that says what a test wants. */
#include "k8s/api.h"

#include <stdio.h>

#include "data/edit.h"
#include "data/json.h"
#include "net/fiber.h"
#include "support/check.h"
#include "support/kube_bench.h"
#include "support/trees.h"

#define SECOND_US INT64_C(1000000)

static const struct kube_options options = {.version = "v1.36.3", .token = "secret"};
static const struct api_kind configmaps = {"", "v1", "configmaps", "ConfigMap", true};

/* ---- a client in a fiber ---- */

struct client {
    struct kube_bench b;
    struct kube_config *config;
    struct api *api;
    void (*fn)(struct client *c);
    bool done;
    char calls[4096]; /* "POST pods/eviction 429\n" … */
};

static void note_call(void *ctx, const struct api_call *x)
{
    struct client *c = ctx;
    size_t n = strlen(c->calls);

    (void)snprintf(c->calls + n, sizeof(c->calls) - n, "%s %s%s%s %d\n", x->method, x->kind->plural,
                   x->sub[0] ? "/" : "", x->sub, x->code);
}

static void client_run(void *arg)
{
    struct client *c = arg;

    c->fn(c);
    c->done = true;
}

static void client_init(struct client *c, const char *token, const struct api_options *o)
{
    struct api_options all = *o;

    memset(c, 0, sizeof(*c));
    bench_init(&c->b, 1, &options, NULL);
    c->config = kube_config_fixed(STR(BENCH_URL "/"), str_c(token), NULL);
    all.on_call = note_call;
    all.ctx = c;
    c->api = api_new(c->b.client, c->config, &all);
}

static void client_do(struct client *c, void (*fn)(struct client *c), int64_t ms)
{
    c->fn = fn;
    c->done = false;
    c->calls[0] = '\0';
    fiber_go(c->b.client, "client", client_run, c);
    bench_run(&c->b, ms);
    check_true("the client is done", c->done);
}

static void client_fini(struct client *c)
{
    api_free(c->api);
    kube_config_free(c->config);
    bench_fini(&c->b);
}

static struct tree *configmap(struct arena *a, str name, str value)
{
    struct tree *t = tree_new_map(a);

    tree_set_str(a, t, "apiVersion", STR("v1"));
    tree_set_str(a, t, "kind", STR("ConfigMap"));
    tree_set_str(a, tree_sub(a, t, "metadata"), "name", name);
    tree_set_str(a, tree_sub(a, t, "data"), "k", value);
    return t;
}

static str value_of(const struct tree *t)
{
    return tree_str(tree_at(t, "data", "k", NULL));
}

/* ---- against the embedded server ---- */

static void life_of_an_object(struct client *c)
{
    AUTO(arena) struct arena *a = arena_new(0);
    struct api_ref r = {&configmaps, STR("default"), STR("a")};
    struct tree *t, *patch, *old;
    struct err e;

    check_true("not there", !api_get(c->api, a, &r, &t, &e));
    check_i64("not there", e.kind, ERR_NOT_FOUND);
    check_str("reason", str_c(e.code), "NotFound");
    check_str("message", str_c(e.msg), "configmaps \"a\" not found");
    check_ok("create", api_create(c->api, a, &configmaps, STR("default"), configmap(a, STR("a"), STR("1")), &t, &e),
             &e);
    check_str("create", value_of(t), "1");
    old = t;
    check_true("again",
               !api_create(c->api, a, &configmaps, STR("default"), configmap(a, STR("a"), STR("1")), NULL, &e));
    check_i64("again", e.kind, ERR_CONFLICT);
    check_str("again", str_c(e.code), "AlreadyExists");

    patch = tree_new_map(a);
    tree_set_str(a, tree_sub(a, patch, "data"), "k", STR("2"));
    check_ok("patch", api_patch(c->api, a, &r, NULL, API_MERGE, patch, &t, &e), &e);
    check_str("patch", value_of(t), "2");
    check_ok("strategic", api_patch(c->api, a, &r, NULL, API_STRATEGIC, patch, NULL, &e), &e);
    check_true("an old version", !api_update(c->api, a, &r, old, NULL, &e));
    check_i64("an old version", e.kind, ERR_CONFLICT);
    check_str("an old version", str_c(e.code), "Conflict");
    tree_set_str(a, tree_sub(a, t, "data"), "k", STR("3"));
    check_ok("update", api_update(c->api, a, &r, t, &t, &e), &e);
    check_ok("get", api_get(c->api, a, &r, &t, &e), &e);
    check_str("get", value_of(t), "3");

    check_true("another uid", !api_delete(c->api, a, &r, &(struct api_delete_options){.uid = STR("x")}, &e));
    check_i64("another uid", e.kind, ERR_CONFLICT);
    check_ok("delete", api_delete(c->api, a, &r, NULL, &e), &e);
    check_true("gone", !api_delete(c->api, a, &r, NULL, &e));
    check_i64("gone", e.kind, ERR_NOT_FOUND);
}

static void discovery(struct client *c)
{
    static const struct api_kind odd = {"apps", "v1", "oddities", "Oddity", true},
                                 group = {"odd.example.com", "v1", "oddities", "Oddity", true};
    AUTO(arena) struct arena *a = arena_new(0);
    struct err e;
    bool known;

    check_ok("pods", api_knows(c->api, a, &api_pods, &known, &e), &e);
    check_true("pods", known);
    check_ok("deployments", api_knows(c->api, a, &api_deployments, &known, &e), &e);
    check_true("deployments", known);
    check_ok("no such kind", api_knows(c->api, a, &odd, &known, &e), &e);
    check_true("no such kind", !known);
    check_ok("no such group", api_knows(c->api, a, &group, &known, &e), &e);
    check_true("no such group", !known);
}

static void a_server(void **state)
{
    struct client c;

    (void)state;
    client_init(&c, "secret", &(struct api_options){.user_agent = "karpenter/1.2.3"});
    client_do(&c, life_of_an_object, 1000);
    check_str("calls are counted", str_sub(str_c(c.calls), 0, 39), "GET configmaps 404\nPOST configmaps 201\n");
    client_do(&c, discovery, 1000);
    client_fini(&c);
}

static void is_denied(struct client *c)
{
    AUTO(arena) struct arena *a = arena_new(0);
    struct api_ref r = {&configmaps, STR("default"), STR("a")};
    struct tree *t;
    struct err e;

    check_true("denied", !api_get(c->api, a, &r, &t, &e));
    check_i64("denied", e.kind, ERR_DENIED);
    check_str("denied", str_c(e.code), "Unauthorized");
}

static void a_wrong_token(void **state)
{
    struct client c;

    (void)state;
    client_init(&c, "wrong", &(struct api_options){0});
    client_do(&c, is_denied, 1000);
    check_str("asked for a new token once", str_c(c.calls), "GET configmaps 401\nGET configmaps 401\n");
    client_fini(&c);
}

static void ten_calls(struct client *c)
{
    AUTO(arena) struct arena *a = arena_new(0);
    struct api_ref r = {&api_namespaces, {0}, STR("default")};
    struct tree *t;
    struct err e;

    for (int i = 0; i < 10; i++)
        check_ok("get", api_get(c->api, a, &r, &t, &e), &e);
}

static void rate_limit(void **state)
{
    struct client c;

    (void)state;
    client_init(&c, "secret", &(struct api_options){.qps = 2, .burst = 4});
    int64_t from = sim_now_us(c.b.sim);
    c.fn = ten_calls;
    fiber_go(c.b.client, "client", client_run, &c);
    while (!c.done && sim_step(c.b.sim))
        ;
    int64_t took_ms = (sim_now_us(c.b.sim) - from) / 1000;
    check_true("four at once, six at two a second", took_ms >= 3000 && took_ms < 3100);
    client_fini(&c);
}

/* ---- against a server that says what it is told to ---- */

struct script {
    int status;
    const char *retry_after; /* NULL: none */
    uint32_t times;          /* then 200 */
    const char *body;
    uint32_t n_calls;
    char seen[1024];
};

static void script_serve(void *server, struct exchange *x)
{
    struct script *s = server;
    struct http_header h[2] = {{STR("Content-Type"), STR("application/json")},
                               {STR("Retry-After"), str_c(s->retry_after)}};
    bool ok = s->n_calls++ >= s->times;
    str agent = http_header_get(x->headers, x->n_headers, "user-agent"),
        accept = http_header_get(x->headers, x->n_headers, "accept"),
        type = http_header_get(x->headers, x->n_headers, "content-type");

    (void)snprintf(s->seen, sizeof(s->seen),
                   "%s " STR_FMT "?" STR_FMT " [" STR_FMT "] [" STR_FMT "] [" STR_FMT "] " STR_FMT, x->method,
                   STR_ARG(x->path), STR_ARG(x->query), STR_ARG(agent), STR_ARG(accept), STR_ARG(type),
                   STR_ARG(x->body));
    reply_begin(x, ok ? 200 : s->status, h, s->retry_after && !ok ? 2 : 1);
    reply_data(x, str_c(ok ? "{}" : s->body));
    reply_end(x);
}

static int last_code;
static struct err last_err;
static bool last_ok;
static int64_t last_us; /* how long it took */

static void evict_once(struct client *c)
{
    AUTO(arena) struct arena *a = arena_new(0);

    last_ok = api_evict(c->api, a, STR("ns"), STR("pod 1"), &(struct api_delete_options){.uid = STR("u-1")}, &last_code,
                        &last_err);
}

static void delete_once(struct client *c)
{
    AUTO(arena) struct arena *a = arena_new(0);
    struct api_ref r = {&api_nodeclaims, {0}, STR("c-1")};
    struct api_delete_options o = {.has_grace = true, .grace_s = 0, .uid = STR("u-1")};

    int64_t from = sim_now_us(c->b.sim);

    last_ok = api_delete(c->api, a, &r, &o, &last_err);
    last_us = sim_now_us(c->b.sim) - from;
}

static void scripted(struct client *c, struct script *s, void (*fn)(struct client *c), int64_t ms)
{
    sim_mount(c->b.sim, BENCH_URL, c->b.server, script_serve, s);
    last_err = (struct err){0};
    client_do(c, fn, ms);
}

#define BUSY "{\"kind\":\"Status\",\"message\":\"too many\",\"reason\":\"TooManyRequests\",\"code\":429}"

static void retries(void **state)
{
    struct client c;

    (void)state;
    client_init(&c, "", &(struct api_options){.user_agent = "karpenter/1.2.3"});

    struct script busy = {429, "2", 3, BUSY, 0, ""};
    scripted(&c, &busy, delete_once, 6010);
    check_true("it was patient", last_ok);
    check_true("three waits of two seconds", last_us >= 6 * SECOND_US);

    struct script ever = {503, "1", 99, "no", 0, ""};
    scripted(&c, &ever, delete_once, 20000);
    check_u64("ten retries", ever.n_calls, 11);
    check_i64("then it is an error", last_err.kind, ERR_IO);
    check_str("in its words", str_c(last_err.msg), "the server answered with status 503: no");

    struct script silent = {429, NULL, 99, BUSY, 0, ""};
    scripted(&c, &silent, delete_once, 1000);
    check_u64("it did not say when", silent.n_calls, 1);
    check_i64("throttled", last_err.kind, ERR_THROTTLED);

    struct script hours = {429, "3600", 99, BUSY, 0, ""};
    scripted(&c, &hours, delete_once, 1000);
    check_u64("too long to wait for", hours.n_calls, 1);

    struct script budget = {429, "10", 99, BUSY, 0, ""};
    scripted(&c, &budget, evict_once, 1000);
    check_u64("an eviction is not repeated", budget.n_calls, 1);
    check_i64("its code", last_code, 429);
    check_i64("its kind", last_err.kind, ERR_THROTTLED);
    client_fini(&c);
}

static void what_is_sent(void **state)
{
    struct script s = {0, NULL, 0, "", 0, ""};
    struct client c;

    (void)state;
    client_init(&c, "", &(struct api_options){.user_agent = "karpenter/1.2.3"});
    scripted(&c, &s, evict_once, 1000);
    check_str(
        "eviction", str_c(s.seen),
        "POST /api/v1/namespaces/ns/pods/pod%201/eviction? [karpenter/1.2.3] [application/json] "
        "[application/json] {\"apiVersion\":\"policy/v1\",\"kind\":\"Eviction\",\"metadata\":{\"name\":\"pod 1\"},"
        "\"deleteOptions\":{\"preconditions\":{\"uid\":\"u-1\"}}}");
    check_i64("its code", last_code, 200);
    client_fini(&c);

    client_init(&c, "", &(struct api_options){.timeout_us = 5 * SECOND_US});
    scripted(&c, &s, delete_once, 1000);
    check_str(
        "delete", str_c(s.seen),
        "DELETE /apis/karpenter.sh/v1/nodeclaims/c-1?timeout=5s [karpenter] [application/json] [application/json] "
        "{\"apiVersion\":\"v1\",\"kind\":\"DeleteOptions\",\"gracePeriodSeconds\":0,\"preconditions\":{\"uid\":"
        "\"u-1\"}}");
    client_fini(&c);
}

static void codes(void **state)
{
    static const struct {
        const char *name, *body;
        int status;
        enum err_kind kind;
        const char *code, *msg;
    } cases[] = {
        {"bad request", "{\"message\":\"m\",\"reason\":\"BadRequest\"}", 400, ERR_INVALID, "BadRequest", "m"},
        {"denied", "{\"message\":\"m\",\"reason\":\"Forbidden\"}", 403, ERR_DENIED, "Forbidden", "m"},
        {"method", "", 405, ERR_INVALID, "", "the server answered with status 405"},
        {"gone", "{\"message\":\"old\",\"reason\":\"Expired\"}", 410, ERR_GONE, "Expired", "old"},
        {"media type", "", 415, ERR_INVALID, "", "the server answered with status 415"},
        {"invalid", "{\"message\":\"m\",\"reason\":\"Invalid\"}", 422, ERR_INVALID, "Invalid", "m"},
        {"a proxy's page", "<html>oh</html>", 502, ERR_IO, "", "the server answered with status 502"},
        {"a proxy's line", "no backend\nfor you", 502, ERR_IO, "", "the server answered with status 502: no backend"},
        {"a redirect", "", 302, ERR_IO, "", "the server answered with status 302"},
        {"half a status", "{\"message\":", 500, ERR_IO, "", "the server answered with status 500: {\"message\":"},
    };
    struct client c;

    (void)state;
    client_init(&c, "", &(struct api_options){0});
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        struct script s = {cases[i].status, NULL, 99, cases[i].body, 0, ""};

        scripted(&c, &s, evict_once, 1000);
        check_true(cases[i].name, !last_ok);
        check_i64(cases[i].name, last_code, cases[i].status);
        check_i64(cases[i].name, last_err.kind, cases[i].kind);
        check_str(cases[i].name, str_c(last_err.code), cases[i].code);
        check_str(cases[i].name, str_c(last_err.msg), cases[i].msg);
    }
    client_fini(&c);
}

static void no_answer(void **state)
{
    struct sim_faults f = {.refuse = 65536};
    struct script s = {0};
    struct client c;

    (void)state;
    client_init(&c, "", &(struct api_options){0});
    sim_set_faults(c.b.sim, BENCH_URL, &f);
    scripted(&c, &s, evict_once, 1000);
    check_true("refused", !last_ok && last_err.kind == ERR_IO);
    check_i64("refused", last_code, 0);
    check_str("counted", str_c(c.calls), "POST pods/eviction 0\n");
    f = (struct sim_faults){.stall_stream = 65536, .stall_us = {100 * SECOND_US, 100 * SECOND_US}};
    sim_set_faults(c.b.sim, BENCH_URL, &f);
    scripted(&c, &s, evict_once, 31000);
    check_true("stalled", !last_ok && last_err.kind == ERR_TIMEOUT);
    client_fini(&c);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_server),  cmocka_unit_test(a_wrong_token), cmocka_unit_test(rate_limit),
        cmocka_unit_test(retries),   cmocka_unit_test(what_is_sent),  cmocka_unit_test(codes),
        cmocka_unit_test(no_answer),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
