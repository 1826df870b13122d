#include "support/claim_lab.h"

#include <stdio.h>
#include <stdlib.h>

#include "cloud/catalog.h"
#include "data/edit.h"
#include "data/json.h"
#include "data/reader.h"
#include "support/check.h"
#include "support/trees.h"

static const struct kube_options server_options = {.version = "v1.36.3", .token = "secret"};

/* ---- what goes over the wire ---- */

static str short_path(str path)
{
    static const char *const heads[] = {"/apis/karpenter.sh/v1/", "/apis/karpenter.kwok.sh/v1alpha1/", "/api/v1/"};

    for (size_t i = 0; i < ARRAY_LEN(heads); i++)
        if (str_starts(path, str_c(heads[i])))
            return str_sub(path, strlen(heads[i]), path.n);
    return path;
}

static struct tree *parse(struct arena *a, str text)
{
    const struct tree *t;
    struct err e = {0};

    check_ok("JSON", tree_parse_yaml(a, "wire", arena_strdup(a, text), &t, &e), &e);
    return tree_copy(a, t);
}

static bool is_controller(const struct exchange *x)
{
    for (uint32_t i = 0; i < x->n_headers; i++)
        if (str_is(x->headers[i].name, "User-Agent") || str_is(x->headers[i].name, "user-agent"))
            return str_starts(x->headers[i].value, STR("karpenter/"));
    return false;
}

static void serve(void *ctx, struct exchange *x)
{
    struct claim_lab *l = ctx;

    if (strcmp(x->method, "GET") != 0 && is_controller(x) && !str_contains(x->path, STR("/events")))
        vec_push(&l->writes, ((struct lab_write){
                                 .method = arena_strdup(l->a, arena_printf(l->a, "%s%c", x->method, 0)).p,
                                 .path = arena_strdup(l->a, short_path(x->path)),
                                 .body = x->body.n ? parse(l->a, x->body) : NULL,
                             }));
    kube_serve(l->b.kube, x);
}

/* ---- what the controllers need ---- */

static void keep_line(void *ctx, str line)
{
    sb_str(&((struct claim_lab *)ctx)->log, line);
}

static int64_t now_ms(void *w)
{
    return world_now_ms(w);
}

static void report(void *ctx, enum object_kind kind, str ns, str name, const struct err *e)
{
    struct claim_lab *l = ctx;

    (void)ns;
    sb_printf(&l->log, "feed: %s " STR_FMT ": %s\n", object_kind_name(kind), STR_ARG(name), e->msg);
}

static void count_call(void *ctx, const struct api_call *call)
{
    struct claim_lab *l = ctx;

    control_metrics_call(l->c.metrics, call, world_now_ms(l->b.client));
}

static void make_client(struct claim_lab *l)
{
    l->config = kube_config_fixed(STR(BENCH_URL), STR("secret"), NULL);
    l->registry = metrics_new();
    l->c.metrics = control_metrics_new(l->registry, NULL);
    l->c.api = api_new(l->b.client, l->config,
                       &(struct api_options){.user_agent = "karpenter/test", .on_call = count_call, .ctx = l});
}

static void make_store(struct claim_lab *l)
{
    struct cloud *cloud = l->c.cloud;
    struct nodeclass_ref class = {.group = str_c(cloud->classes[0].group), .kind = str_c(cloud->classes[0].kind)};

    l->c.store = store_new(&(struct store_options){
        .syms = l->c.syms, .classes = &class, .n_classes = 1, .nomination_ms = 20000});
    l->c.feed = feed_new(&(struct feed_options){.store = l->c.store,
                                                .classes = cloud->classes,
                                                .n_classes = cloud->n_classes,
                                                .ctx = l,
                                                .on_error = report});
}

struct claim_lab *claim_lab_new(void)
{
    struct claim_lab *l = xcalloc(1, sizeof(*l));
    struct err e = {0};

    bench_init(&l->b, 1, &server_options, NULL);
    l->a = l->b.a;
    sim_mount(l->b.sim, BENCH_URL, l->b.server, serve, l);
    sim_set_faults(l->b.sim, BENCH_URL, &(struct sim_faults){.delay_us = {1000, 3000}});
    l->options.cpu_milli = 1000;
    l->c.world = l->b.client;
    l->c.options = &l->options;
    l->c.syms = syms_new();
    const struct catalog *catalog = catalog_builtin(l->a, l->c.syms, STR("kwok"), &e);
    check_true("a catalogue", catalog != NULL);
    l->cloud = fakecloud_new(l->b.client, l->c.syms, catalog);
    l->c.cloud = fakecloud_cloud(l->cloud);
    l->c.log = log_new(LOG_DEBUG, &(struct log_sink){l, keep_line}, now_ms, l->b.client);
    make_client(l);
    make_store(l);
    l->c.manager = manager_new(l->b.client, l->c.log, l->registry);
    l->c.recorder = recorder_new(l->c.api, STR("karpenter"), l->c.log);
    l->claims = claims_new(&l->c);
    return l;
}

void claim_lab_free(struct claim_lab *l)
{
    manager_stop(l->c.manager);
    feed_free(l->c.feed);
    sim_kill(l->b.client);
    bench_run(&l->b, 10);
    manager_free(l->c.manager);
    claims_free(l->claims);
    recorder_free(l->c.recorder);
    store_free(l->c.store);
    api_free(l->c.api);
    fakecloud_free(l->cloud);
    log_free(l->c.log);
    metrics_free(l->registry);
    control_metrics_free(l->c.metrics);
    kube_config_free(l->config);
    vec_fini(&l->writes);
    sb_fini(&l->log);
    bench_fini(&l->b);
    syms_free(l->c.syms);
    free(l);
}

void claim_lab_start(struct claim_lab *l)
{
    feed_watch(l->c.feed, l->c.api);
    for (int i = 0; i < 100 && !feed_listed(l->c.feed); i++)
        bench_run(&l->b, 20);
    check_true("all is listed", feed_listed(l->c.feed));
    manager_start(l->c.manager);
}

void claim_lab_run(struct claim_lab *l, double seconds)
{
    bench_run(&l->b, (int64_t)(seconds * 1000));
}

/* ---- the test's own calls ---- */

static const char *long_path(struct claim_lab *l, const char *path)
{
    bool ours = str_starts(str_c(path), STR("nodeclaims")) || str_starts(str_c(path), STR("nodepools"));
    bool class = str_starts(str_c(path), STR("kwoknodeclasses"));

    return arena_printf(l->a, "%s%s%c",
                        ours    ? "/apis/karpenter.sh/v1/"
                        : class ? "/apis/karpenter.kwok.sh/v1alpha1/"
                                : "/api/v1/",
                        path, 0)
        .p;
}

int claim_lab_send(struct claim_lab *l, const char *method, const char *path, const struct tree *body)
{
    str text = body ? tree_text(l->a, body) : STR("");
    const char *type = strcmp(method, "PATCH") == 0 ? "application/merge-patch+json" : "application/json";
    const char *headers =
        arena_printf(l->a, "Authorization: Bearer secret\nContent-Type: %s%c", type, 0).p;

    return bench_call(&l->b, method, long_path(l, path), headers, arena_printf(l->a, STR_FMT "%c", STR_ARG(text), 0).p)
        ->status;
}

int claim_lab_do(struct claim_lab *l, const char *method, const char *path, const char *yaml)
{
    return claim_lab_send(l, method, path, yaml ? tree_yaml(l->a, yaml) : NULL);
}

struct tree *claim_lab_get(struct claim_lab *l, const char *path)
{
    const struct stream *s = bench_call(&l->b, "GET", long_path(l, path), "Authorization: Bearer secret", "");

    return s->status == 200 ? parse(l->a, sb_view(&s->body)) : NULL;
}

str claim_lab_condition(struct claim_lab *l, const char *path, const char *type)
{
    const struct tree *list = tree_at(claim_lab_get(l, path), "status", "conditions", NULL);

    for (uint32_t i = 0; list && i < list->n; i++) {
        const struct tree *c = &list->items[i];

        if (str_is(tree_str(tree_get(c, "type")), type))
            return arena_printf(l->a, STR_FMT " " STR_FMT ": " STR_FMT, STR_ARG(tree_str(tree_get(c, "status"))),
                                STR_ARG(tree_str(tree_get(c, "reason"))), STR_ARG(tree_str(tree_get(c, "message"))));
    }
    return STR("");
}

void claim_lab_join(struct claim_lab *l, const char *claim, bool ready)
{
    str id = tree_str(tree_at(claim_lab_get(l, arena_printf(l->a, "nodeclaims/%s%c", claim, 0).p), "status", "providerID", NULL));
    struct tree *node = fakecloud_node(l->cloud, l->a, id);

    check_true("a machine", node != NULL);
    check_i64("created", claim_lab_send(l, "POST", "nodes", node), 201);
    check_i64("its size", claim_lab_send(l, "PATCH", arena_printf(l->a, "nodes/%s/status%c", claim, 0).p, node), 200);
    claim_lab_set_ready(l, claim, ready);
}

void claim_lab_set_ready(struct claim_lab *l, const char *node, bool ready)
{
    const char *status = arena_printf(l->a, "{status: {conditions: [{type: Ready, status: '%s', reason: Kubelet, message: x, lastHeartbeatTime: '2026-01-01T00:00:00Z', lastTransitionTime: '2026-01-01T00:00:00Z'}]}}%c",
                                      ready ? "True" : "False", 0)
                             .p;

    check_i64("its condition", claim_lab_do(l, "PATCH", arena_printf(l->a, "nodes/%s/status%c", node, 0).p, status), 200);
}

str claim_lab_events(struct claim_lab *l, const char *reason)
{
    const struct tree *items = tree_get(claim_lab_get(l, "events"), "items");
    struct sb b = {0};

    for (uint32_t i = 0; items && i < items->n; i++)
        if (str_is(tree_str(tree_get(&items->items[i], "reason")), reason))
            sb_printf(&b, "%s" STR_FMT, b.n ? "\n" : "", STR_ARG(tree_str(tree_get(&items->items[i], "message"))));
    str s = sb_dup(&b, l->a);
    sb_fini(&b);
    return s;
}
