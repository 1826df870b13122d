#include "handler/handler_int.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#include "aws/aws.h"
#include "control/probes.h"
#include "control/write.h"
#include "data/edit.h"
#include "net/fiber.h"
#include "obs/process.h"

#define QPS 20
#define BURST 50
#define MAX_TRIES 4u
#define FIRST_WAIT_US (2 * SECOND_US)
#define ALIVE_US (60 * SECOND_US)
#define MAX_ANNOTATIONS 64u
#define COMPONENT "aws-node-termination-handler" /* whom dashboards and scripts look for */

/* ---- what others see ---- */

static const char *const action_labels[] = {"node_action", "node_status", NULL};
static const char *const action_node_labels[] = {"node_action", "node_event_id", "node_name", "node_status", NULL};
static const char *const error_labels[] = {"event_error_where", NULL};

static void add_metrics(struct handler *h)
{
    static const struct metric_spec actions = {
        .name = "actions_total", .help = "Number of actions", .kind = METRIC_COUNTER, .labels = action_labels};
    static const struct metric_spec actions_node = {.name = "actions_node_total",
                                                    .help = "Number of actions per node",
                                                    .kind = METRIC_COUNTER,
                                                    .labels = action_node_labels};
    static const struct metric_spec errors = {.name = "events_error_total",
                                              .help = "Number of errors in events processing",
                                              .kind = METRIC_COUNTER,
                                              .labels = error_labels};

    h->registry = metrics_new();
    h->actions = metrics_add(h->registry, &actions);
    h->actions_node = metrics_add(h->registry, &actions_node);
    h->errors = metrics_add(h->registry, &errors);
    process_metrics(h->registry);
    h->scrapes = scrapes_new(h->world, h->registry);
}

void handler_count(struct handler *h, const char *action, str event, bool ok)
{
    str status = ok ? STR("success") : STR("error");

    metric_inc(h->actions, 1, METRIC_VALS(str_c(action), status));
    metric_inc(h->actions_node, 1, METRIC_VALS(str_c(action), event, h->node, status));
}

void handler_event(struct handler *h, bool warning, const char *reason, const char *fmt, ...)
{
    char message[1024];
    va_list ap;

    if (!h->recorder)
        return;
    va_start(ap, fmt);
    (void)vsnprintf(message, sizeof(message), fmt, ap);
    va_end(ap);
    recorder_publish(h->recorder, &(struct event){.object = {.kind = &api_nodes, .name = h->node, .uid = h->node_uid},
                                                  .warning = warning,
                                                  .reason = reason,
                                                  .message = str_c(message)});
}

void handler_serve_metrics(void *server, struct exchange *x)
{
    struct handler *h = server;

    if (str_is(x->path, "/metrics"))
        scrapes_reply(h->scrapes, x);
    else
        reply_all(x, 404, "text/plain", STR("404 page not found\n"));
}

void handler_serve_probes(void *server, struct exchange *x)
{
    const struct handler *h = server;
    int64_t now_us = world_mono_us(h->world), drain_us = h->s->node_grace_s * SECOND_US;
    /* A drain takes its time. */
    const struct probe_check checks[] = {{"act", now_us - h->acted_us < ALIVE_US + drain_us || drain_us == 0},
                                         {"listen", now_us - h->listened_us < ALIVE_US}};
    str endpoint = str_c(h->s->probes_endpoint);

    if (str_eq(x->path, endpoint))
        probes_reply(x, endpoint, checks, ARRAY_LEN(checks));
    else
        reply_all(x, 404, "text/plain", STR("404 page not found\n"));
}

/* ---- Events ---- */

static bool put_extra(struct arena *a, struct tree *map, str list, struct err *e)
{
    str one, key, value;

    while (list.n) {
        (void)str_cut(list, ',', &one, &list);
        if (!str_cut(str_trim(one), '=', &key, &value) || key.n == 0 || map->n == MAX_ANNOTATIONS)
            return err_set(e, ERR_INVALID,
                           "kubernetes-events-extra-annotations must be key=value, comma separated, %u at most",
                           MAX_ANNOTATIONS);
        *tree_put(a, map, key) = tree_of_str(value);
    }
    return true;
}

static void sign_events(struct handler *h)
{
    static const struct {
        const char *key;
        enum webhook_field field;
    } own[] = {
        {"account-id", FIELD_ACCOUNT_ID},
        {"availability-zone", FIELD_AVAILABILITY_ZONE},
        {"instance-id", FIELD_INSTANCE_ID},
        {"instance-type", FIELD_INSTANCE_TYPE},
        {"local-hostname", FIELD_LOCAL_HOSTNAME},
        {"local-ipv4", FIELD_LOCAL_IP},
        {"public-hostname", FIELD_PUBLIC_HOSTNAME},
        {"public-ipv4", FIELD_PUBLIC_IP},
        {"region", FIELD_REGION},
    };
    AUTO(arena) struct arena *a = arena_new(0);
    struct tree *map = tree_new_map(a);
    struct err none;

    if (!h->recorder)
        return;
    for (size_t i = 0; i < ARRAY_LEN(own); i++)
        tree_set_str(a, map, own[i].key, h->facts[own[i].field]);
    (void)put_extra(a, map, str_c(h->s->event_annotations), &none); /* checked at start */
    recorder_sign(h->recorder, h->node, map);
}

/* ---- beginning ---- */

void handler_end(struct handler *h, int status)
{
    if (h->ended)
        return;
    h->ended = true;
    h->on_end(h->ctx, status);
}

/* The Node whose providerID, "aws:///eu-west-3a/i-0123", ends with the machine's id. */
static bool find_node(struct handler *h, struct err *e)
{
    AUTO(arena) struct arena *a = arena_new(0);
    const struct api_ref all = {.kind = &api_nodes};
    str end = arena_printf(a, "/" STR_FMT, STR_ARG(h->facts[FIELD_INSTANCE_ID]));
    struct tree *list;

    if (!api_get(h->api, a, &all, &list, e))
        return err_wrap(e, "nodes");
    const struct tree *items = tree_get(list, "items");
    for (uint32_t i = 0; items && i < items->n; i++)
        if (str_ends(tree_str(tree_at(&items->items[i], "spec", "providerID", NULL)), end)) {
            h->node = arena_strdup(h->arena, obj_name(&items->items[i]));
            return true;
        }
    return err_set(e, ERR_NOT_FOUND, "no node has a spec.providerID that ends with " STR_FMT, STR_ARG(end));
}

static bool greet_node(struct handler *h, struct err *e)
{
    AUTO(arena) struct arena *a = arena_new(0);
    struct api_ref r = {&api_nodes, (str){0}, {0}};
    struct tree *node;

    if (h->s->use_provider_id && !find_node(h, e))
        return false;
    r.name = h->node;
    if (!api_get(h->api, a, &r, &node, e))
        return err_wrap(e, "node " STR_FMT, STR_ARG(h->node));
    h->node_uid = arena_strdup(h->arena, obj_uid(node));
    sign_events(h);
    return true;
}

static bool begin_once(struct handler *h, struct err *e)
{
    return listen_facts(h, e) && greet_node(h, e) && (!h->s->scheduled || act_after_boot(h, e));
}

/* Tries a few times, ever more slowly; whoever has started us does it again after that. */
static bool begin(struct handler *h)
{
    struct err e = {0};

    for (uint32_t n = 1;; n++) {
        if (begin_once(h, &e))
            return true;
        if (world_dead(h->world))
            return false;
        if (n == MAX_TRIES)
            break;
        log_write(h->log, LOG_WARN, "cannot begin yet", &e, NULL, 0);
        fiber_sleep_us(h->world, FIRST_WAIT_US << (n - 1));
    }
    log_error(h->log, "cannot begin; giving up", &e, LOG_I64("tries", MAX_TRIES));
    handler_end(h, 1);
    return false;
}

static void run(void *arg)
{
    struct handler *h = arg;

    if (!begin(h) || world_dead(h->world))
        return;
    log_info(h->log, "listening for events", LOG_STR("node", h->node), LOG_BOOL("spot", h->s->spot),
             LOG_BOOL("scheduled", h->s->scheduled), LOG_BOOL("rebalance", h->s->rebalance), LOG_BOOL("asg", h->s->asg),
             LOG_BOOL("dry-run", h->s->dry_run));
    h->listened_us = h->acted_us = world_mono_us(h->world);
    fiber_go(h->world, "act", act_run, h);
    listen_run(h);
}

static bool no_file(void *ctx UNUSED, struct arena *a UNUSED, const char *path, str *ret UNUSED, struct err *e)
{
    return err_set(e, ERR_NOT_FOUND, "%s is not looked at", path);
}

/* Of all that AWS programs can be told, only the metadata service matters here. */
static bool open_imds(struct handler *h, struct err *e)
{
    str url = str_c(h->s->metadata_url);

    while (str_ends(url, STR("/")))
        url.n--;
    const char *vars[] = {
        arena_printf(h->arena, "AWS_EC2_METADATA_SERVICE_ENDPOINT=" STR_FMT "%c", STR_ARG(url), 0).p,
        arena_printf(h->arena, "AWS_METADATA_SERVICE_NUM_ATTEMPTS=%lld%c", (long long)h->s->metadata_tries, 0).p, NULL};

    h->aws_config = aws_config_load(&(struct aws_environment){.vars = vars, .read = no_file}, e);
    if (!h->aws_config)
        return err_wrap(e, "metadata-url");
    h->aws = aws_new(&(struct aws_options){.world = h->world, .config = h->aws_config, .agent = "termination-handler"});
    return true;
}

struct handler *handler_new(const struct handler_setup *o, struct err *e)
{
    struct handler *h = xcalloc(1, sizeof(*h));
    AUTO(arena) struct arena *tmp = arena_new(0);

    *h = (struct handler){.s = o->settings,
                          .world = o->world,
                          .log = o->log,
                          .on_end = o->on_end,
                          .ctx = o->ctx,
                          .arena = arena_new(0),
                          .node = str_c(o->settings->node_name)};
    h->listened_us = h->acted_us = world_mono_us(o->world);
    book_init(&h->book);
    add_metrics(h);
    h->api = api_new(o->world, o->config,
                     &(struct api_options){
                         .user_agent = "karpenter-termination-handler/" KARPENTER_VERSION, .qps = QPS, .burst = BURST});
    if (!put_extra(tmp, tree_new_map(tmp), str_c(h->s->event_annotations), e) ||
        !webhook_init(&h->webhook, h->arena, h->s, e) || !open_imds(h, e)) {
        handler_free(h);
        return NULL;
    }
    if (h->s->emit_events && !h->s->dry_run)
        h->recorder = recorder_new(h->api, STR(COMPONENT), o->log);
    fiber_go(o->world, "handler", run, h);
    return h;
}

void handler_free(struct handler *h)
{
    if (!h)
        return;
    recorder_free(h->recorder);
    scrapes_free(h->scrapes);
    metrics_free(h->registry);
    aws_free(h->aws);
    aws_config_free(h->aws_config);
    api_free(h->api);
    book_fini(&h->book);
    arena_free(h->arena);
    free(h);
}
