/* Puts the parts together, in the order in which they need each other. */
#include "control/autoscaler.h"

#include <stdio.h>
#include <stdlib.h>

#include "control/cloud_metrics.h"
#include "control/feed.h"
#include "control/metrics.h"
#include "control/overlays.h"
#include "control/probes.h"
#include "control/provision.h"
#include "control/register.h"
#include "control/scrape.h"
#include "k8s/election.h"
#include "net/fiber.h"
#include "plan/plan.h"

#define ELECTION_QPS 20
#define ELECTION_BURST 30
#define STOP_US (10 * 1000000ll)
#define STOP_POLL_US 20000

struct autoscaler {
    struct autoscaler_setup s;
    struct control c;
    struct metrics *metrics;
    struct scrapes *scrapes;
    struct api *election_api;
    struct election *election;
    struct recorder *election_recorder; /* its events carry the identity as component */
    struct controllers *controllers;
    void *provider_controllers;
    bool starting; /* the provider is */
    bool elected, started, stopping, ended;
    bool has_crds; /* seen once: probes do not ask again */
};

static int64_t nomination_ms(const struct options *o)
{
    return MAX(2 * o->batch_max_ms, 10000);
}

/* ---- election ---- */

/* How much the store has, whether that is all, and for how long it has not been. */
static void collect_state(void *ctx, const struct metric *f, struct sb *out)
{
    struct autoscaler *o = ctx;
    const struct control_metrics *m = o->c.metrics;
    bool synced = store_synced(o->c.store);
    int64_t waits_us = synced || !o->c.unsynced_us ? 0 : world_mono_us(o->s.world) - o->c.unsynced_us;

    if (f == m->cluster_state_node_count)
        metric_emit(out, f, store_machine_count(o->c.store), NULL);
    else if (f == m->cluster_state_synced)
        metric_emit(out, f, synced, NULL);
    else
        metric_emit(out, f, (double)waits_us / 1e6, NULL);
}

/* Nobody acts before every kind was listed: a claim whose Node is not known yet looks like one whose Node has gone. */
static void start(struct autoscaler *o)
{
    const struct control_metrics *m = o->c.metrics;
    struct metric *const state[] = {m->cluster_state_node_count, m->cluster_state_synced,
                                    m->cluster_state_unsynced_time};

    if (!o->elected || !feed_listed(o->c.feed) || o->started || o->stopping)
        return;
    o->started = true;
    recorder_mute(o->c.recorder, false);
    metrics_collector(state, ARRAY_LEN(state), collect_state, o);
    controllers_start(o->controllers);
}

static void end(struct autoscaler *o, int status)
{
    if (o->ended)
        return;
    o->ended = true;
    o->s.on_end(o->s.ctx, status);
}

static void show_leading(struct autoscaler *o, bool leads)
{
    metric_set(o->c.metrics->leader_election_master_status, leads,
               METRIC_VALS(str_c(o->s.options->leader_election_name)));
}

static void on_lead(void *ctx)
{
    struct autoscaler *o = ctx;

    show_leading(o, true);
    o->elected = true;
    start(o);
}

static void on_lost(void *ctx)
{
    struct autoscaler *o = ctx;

    show_leading(o, false);
    manager_stop(o->c.manager);
    if (!o->stopping) {
        log_error(o->s.log, "leader election lost", NULL);
        end(o, 1);
    }
}

static void on_election_event(void *ctx, str message, const struct tree *lease)
{
    struct autoscaler *o = ctx;

    recorder_publish(o->election_recorder,
                     &(struct event){
                         .object = {&api_leases, tree_str(tree_at(lease, "metadata", "namespace", NULL)),
                                    tree_str(tree_at(lease, "metadata", "name", NULL)),
                                    tree_str(tree_at(lease, "metadata", "uid", NULL)),
                                    tree_str(tree_at(lease, "metadata", "resourceVersion", NULL))},
                         .reason = "LeaderElection",
                         .message = message,
                     });
}

static str lease_namespace(const struct autoscaler *o)
{
    const char *given = o->s.options->leader_election_namespace;

    return given[0] ? str_c(given) : kube_config_namespace(o->s.config);
}

static void on_election_log(void *ctx, const char *message, const struct err *e)
{
    struct autoscaler *o = ctx;
    char lock[256];

    (void)snprintf(lock, sizeof(lock), STR_FMT "/%s", STR_ARG(lease_namespace(o)), o->s.options->leader_election_name);
    log_write(o->s.log, e ? LOG_ERROR : LOG_INFO, message, e, LOG_FIELDS(LOG_STR("lock", str_c(lock))));
}

/* Before anything is started: what has begun cannot be freed until its world has died. */
static bool can_elect(const struct autoscaler *o, struct err *e)
{
    return o->s.options->disable_leader_election || lease_namespace(o).n ||
           err_set(e, ERR_INVALID,
                   "leader election needs a namespace for its lease: not running in a pod, set "
                   "LEADER_ELECTION_NAMESPACE or --disable-leader-election");
}

static void on_call(void *ctx, const struct api_call *c)
{
    struct autoscaler *o = ctx;

    control_metrics_call(o->c.metrics, c, world_now_ms(o->s.world));
}

static void elect(struct autoscaler *o)
{
    str ns = lease_namespace(o);

    if (o->s.options->disable_leader_election) {
        o->elected = true;
        start(o);
        return;
    }
    show_leading(o, false);
    o->election_api = api_new(o->s.world, o->s.config,
                              &(struct api_options){.user_agent = "karpenter/" KARPENTER_VERSION "/leader-election",
                                                    .qps = ELECTION_QPS,
                                                    .burst = ELECTION_BURST,
                                                    .timeout_us = 5 * 1000000ll,
                                                    .on_call = on_call,
                                                    .ctx = o});
    o->election_recorder = recorder_new(o->election_api, o->s.identity, o->s.log);
    o->election = election_new(o->election_api, &(struct election_options){
                                                    .ns = ns,
                                                    .name = str_c(o->s.options->leader_election_name),
                                                    .identity = o->s.identity,
                                                    .ctx = o,
                                                    .on_lead = on_lead,
                                                    .on_lost = on_lost,
                                                    .on_event = on_election_event,
                                                    .on_log = on_election_log,
                                                });
}

/* Nobody stands for election who could do nothing if he won. */
static void start_provider(void *arg)
{
    struct autoscaler *o = arg;
    struct err e;
    bool ok = o->c.cloud->start(o->c.cloud->self, &e);

    o->starting = false;
    if (o->stopping || world_dead(o->s.world))
        return;
    if (ok) {
        elect(o);
    } else {
        log_error(o->s.log, "the provider cannot start", &e, LOG_STR("provider", str_c(o->c.cloud->name)));
        end(o, 1);
    }
}

/* ---- life ---- */

static void on_feed_error(void *ctx, enum object_kind kind, str ns, str name, const struct err *e)
{
    struct autoscaler *o = ctx;

    if (name.n)
        log_error(o->s.log, "object left out, it cannot be read", e, LOG_OBJ(object_kind_name(kind), ns, name));
    else
        log_error(o->s.log, "watch interrupted", e, LOG_STR("kind", str_c(object_kind_name(kind))));
}

static void on_listed(void *ctx)
{
    start(ctx);
}

static const struct nodeclass_ref *class_refs(struct arena *a, const struct cloud *cloud)
{
    struct nodeclass_ref *refs = arena_new_array(a, struct nodeclass_ref, cloud->n_classes);

    for (uint32_t i = 0; i < cloud->n_classes; i++)
        refs[i] = (struct nodeclass_ref){str_c(cloud->classes[i].group), str_c(cloud->classes[i].kind), {0}};
    return refs;
}

static bool set_up(struct autoscaler *o, struct err *e)
{
    const struct options *opt = o->s.options;
    AUTO(arena) struct arena *a = arena_new(0);

    log_debug(o->s.log, "discovered karpenter version", LOG_STR("version", STR(KARPENTER_VERSION)));
    o->metrics = metrics_new();
    o->scrapes = scrapes_new(o->s.world, o->metrics);
    o->c.api = api_new(o->s.world, o->s.config,
                       &(struct api_options){.user_agent = "karpenter/" KARPENTER_VERSION,
                                             .qps = (double)opt->kube_client_qps,
                                             .burst = (uint32_t)opt->kube_client_burst,
                                             .on_call = on_call,
                                             .ctx = o});
    o->c.cloud = o->s.provider->make(&o->c, e);
    if (!o->c.cloud || !can_elect(o, e))
        return false;
    if (opt->settings.node_overlays)
        o->c.overlays = overlays_new(&o->c);
    o->c.metrics =
        control_metrics_new(o->metrics, &(struct control_metrics_options){o->c.cloud->node_labels, o->c.cloud->classes,
                                                                          o->c.cloud->n_classes});
    cloud_metrics_wrap(&o->c);
    o->c.store = store_new(
        &(struct store_options){o->s.syms, class_refs(a, o->c.cloud), o->c.cloud->n_classes, nomination_ms(opt)});
    o->c.recorder = recorder_new(o->c.api, STR("karpenter"), o->s.log);
    recorder_mute(o->c.recorder, true); /* until we lead */
    o->c.manager = manager_new(o->s.world, o->s.log, o->metrics);
    o->c.frame = frame_new();
    o->controllers = controllers_register(&o->c);
    if (o->s.provider->attach)
        o->provider_controllers = o->s.provider->attach(&o->c);
    o->c.feed = feed_new(&(struct feed_options){.store = o->c.store,
                                                .classes = o->c.cloud->classes,
                                                .n_classes = o->c.cloud->n_classes,
                                                .owners = opt->settings.n_default_spreads != 0,
                                                .buffers = opt->settings.capacity_buffers,
                                                .overlays = opt->settings.node_overlays,
                                                .ctx = o,
                                                .on_error = on_feed_error,
                                                .on_listed = on_listed});
    feed_watch(o->c.feed, o->c.api);
    if (o->c.cloud->start) {
        o->starting = true;
        fiber_go(o->s.world, "provider", start_provider, o);
    } else {
        elect(o);
    }
    return true;
}

struct autoscaler *autoscaler_new(const struct autoscaler_setup *s, struct err *e)
{
    struct autoscaler *o = xcalloc(1, sizeof(*o));

    o->s = *s;
    o->c = (struct control){.world = s->world, .syms = s->syms, .log = s->log, .options = s->options};
    if (set_up(o, e))
        return o;
    autoscaler_free(o);
    return NULL;
}

/* Nobody writes any more, but for Events. */
static bool is_at_rest(struct autoscaler *o)
{
    bool stopped = !o->c.cloud->stop || o->c.cloud->stop(o->c.cloud->self); /* the first time it is told */

    return stopped && !o->starting && manager_idle(o->c.manager);
}

static void wind_down(void *arg)
{
    struct autoscaler *o = arg;
    int64_t deadline = world_mono_us(o->s.world) + STOP_US;

    while (!is_at_rest(o) && world_mono_us(o->s.world) < deadline && !world_dead(o->s.world))
        fiber_sleep_us(o->s.world, STOP_POLL_US);
    if (o->election && is_at_rest(o)) /* else a write of ours may still come: the lease runs out by itself */
        election_resign(o->election);
    while (recorder_waiting(o->c.recorder) && world_mono_us(o->s.world) < deadline && !world_dead(o->s.world))
        fiber_sleep_us(o->s.world, STOP_POLL_US);
    end(o, 0);
}

void autoscaler_stop(struct autoscaler *o)
{
    if (o->stopping)
        return;
    o->stopping = true;
    log_info(o->s.log, "stopping");
    manager_stop(o->c.manager);
    fiber_go(o->s.world, "stop", wind_down, o);
}

void autoscaler_free(struct autoscaler *o)
{
    if (!o)
        return;
    scrapes_free(o->scrapes);
    election_free(o->election);
    recorder_free(o->election_recorder);
    api_free(o->election_api);
    feed_free(o->c.feed);
    manager_free(o->c.manager);
    if (o->provider_controllers)
        o->s.provider->detach(o->provider_controllers);
    controllers_free(o->controllers);
    frame_free(o->c.frame);
    recorder_free(o->c.recorder);
    store_free(o->c.store);
    if (o->c.cloud && o->c.cloud->free)
        o->c.cloud->free(o->c.cloud->self);
    api_free(o->c.api);
    metrics_free(o->metrics);
    control_metrics_free(o->c.metrics);
    free(o);
}

bool autoscaler_leads(const struct autoscaler *o)
{
    return o->started && (!o->election || election_leads(o->election));
}

bool autoscaler_synced(const struct autoscaler *o)
{
    return feed_listed(o->c.feed);
}

struct control *autoscaler_control(struct autoscaler *o)
{
    return &o->c;
}

/* ---- servers ---- */

void autoscaler_metrics(struct autoscaler *o, struct sb *out)
{
    metrics_text(o->metrics, world_now_ms(o->s.world), out);
}

struct metrics *autoscaler_registry(struct autoscaler *o)
{
    return o->metrics;
}

void autoscaler_serve_metrics(void *self, struct exchange *x)
{
    struct autoscaler *o = self;

    if (str_is(x->path, "/metrics"))
        scrapes_reply(o->scrapes, x);
    else
        reply_all(x, 404, "text/plain; charset=utf-8", STR("404 page not found\n"));
}

struct probe_call {
    struct autoscaler *o;
    struct exchange *x;
};

/* Whether the server knows our kinds is asked until it does. Everything else is at hand. */
static void answer_ready(void *arg)
{
    struct probe_call *call = arg;
    struct autoscaler *o = call->o;
    struct arena *a = call->x->arena;
    bool pools = false, claims = false;
    struct err e;

    if (!o->has_crds && api_knows(o->c.api, a, &api_nodepools, &pools, &e) &&
        api_knows(o->c.api, a, &api_nodeclaims, &claims, &e))
        o->has_crds = pools && claims;
    const struct probe_check checks[] = {{"crd", o->has_crds}, {"manager", autoscaler_synced(o)}, {"readyz", true}};
    probes_reply(call->x, STR("/readyz"), checks, ARRAY_LEN(checks));
}

void autoscaler_serve_probes(void *self, struct exchange *x)
{
    static const struct probe_check alive[] = {{"healthz", true}};
    struct autoscaler *o = self;

    if (str_is(x->path, "/healthz") || str_starts(x->path, STR("/healthz/"))) {
        probes_reply(x, STR("/healthz"), alive, ARRAY_LEN(alive));
    } else if (str_is(x->path, "/readyz") || str_starts(x->path, STR("/readyz/"))) {
        struct probe_call *call = arena_new_one(x->arena, struct probe_call);

        *call = (struct probe_call){o, x};
        fiber_go(o->s.world, "readyz", answer_ready, call);
    } else {
        reply_all(x, 404, "text/plain; charset=utf-8", STR("404 page not found\n"));
    }
}
