/* aws with the controller around it: what the provider knows of the cluster is what the store knows. */
#include <stdlib.h>
#include <unistd.h>

#include "app/providers.h"
#include "base/b64.h"
#include "cloud/ec2/types.h"
#include "control/aws/classes.h"
#include "control/aws/machines.h"
#include "control/metrics.h"
#include "control/overlays.h"
#include "data/json_own.h"
#include "k8s/conditions.h"

#define CLASSES "karpenter.k8s.aws/EC2NodeClass/"

struct aws_app {
    struct control *c;
    struct aws_config *config;
    struct aws *aws;
    struct ec2 *ec2;
    struct arena *arena; /* of texts that the provider is given */
    uint64_t news;
    struct {
        struct arena *arena;
        struct overlay *v; /* those that count, as they are listed */
        uint32_t n;
        uint64_t news; /* when they were looked at */
    } overlays;
    struct aws_classes *classes; /* these two: from attach to detach */
    struct aws_machines *machines;
};

/* ---- what the provider asks of the cluster ---- */

static struct tree *class_object(void *ctx, struct arena *a, str name)
{
    const struct aws_app *x = ctx;
    const struct kept *k = store_kept(x->c->store, OBJ_NODECLASS, arena_printf(a, CLASSES STR_FMT, STR_ARG(name)));

    return k ? json_read_own(a, arena_strdup(a, k->text)) : NULL;
}

static void each_class(void *ctx, void (*fn)(void *arg, str name), void *arg)
{
    const struct aws_app *x = ctx;
    struct names n = store_names(x->c->store, OBJ_NODECLASS);

    for (uint32_t i = 0; i < n.n; i++)
        if (str_starts(n.v[i], STR(CLASSES)))
            fn(arg, str_sub(n.v[i], sizeof(CLASSES) - 1, n.v[i].n));
}

static void each_pool(void *ctx, void (*fn)(void *arg, const struct nodepool *p), void *arg)
{
    const struct aws_app *x = ctx;
    struct names n = store_names(x->c->store, OBJ_NODEPOOL);

    for (uint32_t i = 0; i < n.n; i++) {
        const struct nodepool *p = store_pool(x->c->store, n.v[i]);
        const struct kept *meta = store_meta(x->c->store, OBJ_NODEPOOL, n.v[i]);

        if (p && meta && meta->managed)
            fn(arg, p);
    }
}

static uint64_t news(void *ctx)
{
    return ((const struct aws_app *)ctx)->news;
}

/* Overlays whose condition says that they count; looked at anew when something has been heard of. */
static void look_at_overlays(struct aws_app *x)
{
    struct names n = store_names(x->c->store, OBJ_OVERLAY);
    AUTO(arena) struct arena *tmp = arena_new(0);

    if (x->overlays.arena && x->overlays.news == x->news)
        return;
    arena_free(x->overlays.arena);
    x->overlays.arena = arena_new(0);
    x->overlays.news = x->news;
    x->overlays.v = arena_new_array(x->overlays.arena, struct overlay, n.n);
    x->overlays.n = 0;
    for (uint32_t i = 0; i < n.n; i++) {
        const struct overlay *o = store_object(x->c->store, OBJ_OVERLAY, STR(""), n.v[i]);
        const struct kept *k = store_kept(x->c->store, OBJ_OVERLAY, n.v[i]);

        if (o && k && cond_is_true(json_read_own(tmp, arena_strdup(tmp, k->text)), "ValidationSucceeded"))
            x->overlays.v[x->overlays.n++] = *o;
    }
}

static double overlay_price(void *ctx, str type)
{
    struct aws_app *x = ctx;

    look_at_overlays(x);
    return ec2_overlay_price(x->c->syms, x->overlays.v, x->overlays.n, type);
}

static const struct catalog *overlaid(void *ctx, struct arena *a, str pool, const struct catalog *base)
{
    const struct aws_app *x = ctx;

    return x->c->overlays ? overlays_of_pool(x->c->overlays, a, pool, base) : base;
}

static bool kube_dns(void *ctx, struct arena *a, str *ret_ip, struct err *e)
{
    const struct aws_app *x = ctx;
    const struct api_ref r = {&api_services, STR("kube-system"), STR("kube-dns")};
    struct tree *t;

    if (!api_get(x->c->api, a, &r, &t, e))
        return false;
    *ret_ip = tree_str(tree_at(t, "spec", "clusterIP", NULL));
    return true;
}

static bool kube_version(void *ctx, struct arena *a, str *ret_minor, struct err *e)
{
    const struct aws_app *x = ctx;

    return api_server_version(x->c->api, a, ret_minor, e);
}

/* ---- what it tells ---- */

static void warn(void *ctx, enum ec2_subject s, str name, const char *message)
{
    const struct aws_app *x = ctx;
    const struct kept *k = store_meta(x->c->store, s == EC2_ON_POOL ? OBJ_NODEPOOL : OBJ_NODECLAIM, name);
    str uid = k ? k->uid : (str){0};

    recorder_publish(
        x->c->recorder,
        &(struct event){
            .object = {.kind = s == EC2_ON_POOL ? &api_nodepools : &api_nodeclaims, .name = name, .uid = uid},
            .warning = true,
            .reason = "",
            .message = str_c(message),
            .dedupe = &uid,
            .n_dedupe = 1});
}

static void launch_failed(void *ctx, str zone, str zone_id, str capacity_type, str reason)
{
    metric_inc(((const struct aws_app *)ctx)->c->metrics->cloudprovider_instance_launch_failures_total, 1,
               METRIC_VALS(zone, zone_id, capacity_type, reason));
}

static void termination_failed(void *ctx, str zone, str zone_id)
{
    metric_inc(((const struct aws_app *)ctx)->c->metrics->cloudprovider_instance_termination_failures_total, 1,
               METRIC_VALS(zone, zone_id));
}

static void batched(void *ctx, const char *batcher, uint32_t n, int64_t window_us)
{
    const struct control *c = ((const struct aws_app *)ctx)->c;
    int64_t now_ms = world_now_ms(c->world);

    metric_observe(c->metrics->cloudprovider_batcher_batch_size, n, METRIC_VALS(str_c(batcher)), now_ms);
    metric_observe(c->metrics->cloudprovider_batcher_batch_time, (double)window_us / 1e6, METRIC_VALS(str_c(batcher)),
                   now_ms);
}

static void user_data_bytes(void *ctx, str class, size_t n)
{
    metric_set(((const struct aws_app *)ctx)->c->metrics->ec2nodeclasses_userdata_bytes, (double)n, METRIC_VALS(class));
}

static void class_gone(void *ctx, str class)
{
    metric_drop(((const struct aws_app *)ctx)->c->metrics->ec2nodeclasses_userdata_bytes, METRIC_VALS(class));
}

static void say(void *ctx, bool error, const char *message, const struct err *e)
{
    const struct aws_app *x = ctx;

    if (error)
        log_error(x->c->log, message, e);
    else
        log_write(x->c->log, LOG_INFO, message, e, NULL, 0);
}

/* ---- life ---- */

static void app_free(void *ctx)
{
    struct aws_app *x = ctx;

    aws_free(x->aws);
    aws_config_free(x->config);
    arena_free(x->overlays.arena);
    arena_free(x->arena);
    free(x);
}

static struct ec2_settings settings_of(const struct options *o)
{
    const struct options_aws *w = &o->aws;

    return (struct ec2_settings){
        .cluster_name = str_c(w->cluster_name),
        .cluster_endpoint = str_c(w->cluster_endpoint),
        .ca_bundle = str_c(w->cluster_ca_bundle),
        .interruption_queue = str_c(w->interruption_queue),
        .isolated_vpc = w->isolated_vpc,
        .eks_control_plane = w->eks_control_plane,
        .disable_dry_run = w->disable_dry_run,
        .zonal_shift = w->enable_zonal_shift,
        .expressions = w->gate_nodeclass_cel,
        .reserved_capacity = o->settings.reserved_capacity,
        .node_overlays = o->settings.node_overlays,
        .memory_overhead = w->memory_overhead,
        .reserved_enis = (int32_t)w->reserved_enis,
        .ami_refresh_ms = w->ami_refresh_ms,
        .subnet_refresh_ms = w->subnet_refresh_ms,
        .min_values = o->settings.min_values,
    };
}

/* Whom we believe ourselves, as new nodes want to hear it. */
static str authorities(const struct aws_app *x)
{
    const struct http_trust *t = kube_config_trust(api_config(x->c->api));
    struct sb b = {0};

    if (!t || !t->ca_pem)
        return (str){0};
    b64_encode(&b, str_c(t->ca_pem));
    str text = sb_dup(&b, x->arena);
    sb_fini(&b);
    return text;
}

struct cloud *provider_aws_in(struct control *c, const struct aws_environment *env, struct err *e)
{
    struct aws_app *x;
    struct aws_config *config = aws_config_load(env, e);

    if (!config)
        return NULL;
    x = xcalloc(1, sizeof(*x));
    *x = (struct aws_app){.c = c, .config = config, .arena = arena_new(0)};
    x->aws = aws_new(&(struct aws_options){.world = c->world,
                                           .config = config,
                                           .agent = "karpenter.sh-" KARPENTER_VERSION,
                                           .observer = {c, aws_count_attempt, aws_count_call}});
    x->ec2 = ec2_new(&(struct ec2_options){.world = c->world,
                                           .aws = x->aws,
                                           .syms = c->syms,
                                           .settings = settings_of(c->options),
                                           .host = {.ctx = x,
                                                    .class_object = class_object,
                                                    .each_class = each_class,
                                                    .each_pool = each_pool,
                                                    .news = news,
                                                    .overlay_price = overlay_price,
                                                    .overlaid = overlaid,
                                                    .kube_dns = kube_dns,
                                                    .kube_version = kube_version,
                                                    .kube_ca = authorities(x),
                                                    .warn = warn,
                                                    .launch_failed = launch_failed,
                                                    .termination_failed = termination_failed,
                                                    .batched = batched,
                                                    .user_data_bytes = user_data_bytes,
                                                    .class_gone = class_gone,
                                                    .say = say,
                                                    .gone = app_free}});
    c->provider = x;
    return ec2_cloud(x->ec2);
}

/* A controller that was given settings has them in the place of the process' environment: what AWS programs look at as well. */
struct cloud *provider_aws(struct control *c, struct err *e)
{
    const char *const *pairs = c->options->environment;
    AUTO(arena) struct arena *a = arena_new(0);
    uint32_t n = 0;

    if (!pairs)
        return provider_aws_in(c, &(struct aws_environment){.vars = (const char *const *)environ}, e);
    while (pairs[n])
        n += 2;
    const char **vars = arena_new_array(a, const char *, n / 2 + 1);
    for (uint32_t i = 0; i < n; i += 2)
        vars[i / 2] = arena_printf(a, "%s=%s%c", pairs[i], pairs[i + 1], 0).p;
    return provider_aws_in(c, &(struct aws_environment){.vars = vars}, e);
}

/* ---- its controllers ---- */

static void hear(void *ctx, const struct store_event *ev)
{
    struct aws_app *x = ctx;

    if (ev->kind != OBJ_NODEPOOL && ev->kind != OBJ_NODECLASS && ev->kind != OBJ_OVERLAY)
        return;
    if (ev->kept_was && ev->kept_is && ev->kept_is->digest && ev->kept_was->digest == ev->kept_is->digest)
        return; /* says what it said before */
    x->news++;
}

void *provider_aws_attach(struct control *c)
{
    struct aws_app *x = c->provider;
    const struct aws_provider p = {
        .p = x->ec2,
        .instance_id = ec2_instance_id,
        .mark_unavailable = ec2_mark_unavailable,
        .mark_reservation = ec2_mark_reservation,
        .instance_get = ec2_instance_get,
        .instance_list = ec2_instance_list,
        .instance_tag = ec2_instance_tag,
        .refresh_types = ec2_refresh_types,
        .refresh_prices = ec2_refresh_prices,
        .refresh_version = ec2_refresh_version,
        .refresh_parameters = ec2_refresh_parameters,
        .refresh_shifts = ec2_refresh_shifts,
        .zone_is_shifted = ec2_zone_is_shifted,
        .learn_memory = ec2_learn_memory,
        .adopt_templates = ec2_adopt_templates,
    };

    store_subscribe(c->store, hear, x);
    x->classes = aws_classes_new(c, x->ec2, c->options->aws.isolated_vpc);
    x->machines = aws_machines_new(
        c, &(struct aws_machines_options){.aws = x->aws,
                                          .provider = p,
                                          .cluster_name = str_c(c->options->aws.cluster_name),
                                          .interruption_queue = str_c(c->options->aws.interruption_queue)});
    return x;
}

void provider_aws_detach(void *controllers)
{
    struct aws_app *x = controllers;

    aws_machines_free(x->machines);
    aws_classes_free(x->classes);
}
