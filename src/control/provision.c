/* The provisioner. Triggers come from the store: a pod that waits for a place, a Node that is tainted because it goes away. A window that
 * closes asks for a round; a round that left pods waiting is repeated ten seconds after its window was opened, for as long as there are any. */
#include "control/provision.h"

#include <stdlib.h>

#include "control/batch.h"
#include "control/buffers.h"
#include "control/fan.h"
#include "control/metrics.h"
#include "data/json.h"
#include "model/duration.h"
#include "model/evict.h"
#include "net/uuid.h"

#define RETRY_US (10 * 1000000ll)
#define UNSYNCED_MS 100
#define LAUNCH_WIDTH 1000 /* NodeClaims that are created side by side */
#define NAMES_SHOWN 5

struct provisioner {
    struct control *c;
    struct queue *queue;
    struct batch batch;
    struct podbook *book;
    struct buffers *buffers; /* NULL: their gate is closed */
    /* The latest round and the moment it was planned at: where nothing has changed and nothing was made, it is still the answer. */
    struct arena *arena;
    struct round *round;
    uint64_t planned_at; /* of store_changes() */
    uint64_t catalog_version;
    /* When rounds are to be repeated, in order; one for each window that has closed. */
    VEC(int64_t) retries;
    struct timer retry;
};

/* ---- triggers ---- */

static bool is_disrupted(const struct node *n)
{
    for (uint32_t i = 0; i < n->taints.n; i++)
        if (sym_eq(n->taints.v[i].key, SYM(DISRUPTED)) && n->taints.v[i].effect == EFFECT_NO_SCHEDULE)
            return true;
    return false;
}

static void on_pod(struct provisioner *p, const struct store_event *ev)
{
    const struct pod *pod = ev->is;

    if (ev->change == STORE_GONE) {
        podbook_forget(p->book, UID_STR(((const struct pod *)ev->was)->uid));
        return;
    }
    if (!pod_is_provisionable(pod))
        return;
    podbook_ack(p->book, UID_STR(pod->uid), world_now_ms(p->c->world));
    batch_trigger(&p->batch, UID_STR(pod->uid));
}

static void on_event(void *ctx, const struct store_event *ev)
{
    struct provisioner *p = ctx;

    if (ev->kind == OBJ_POD)
        on_pod(p, ev);
    else if (ev->kind == OBJ_NODE && ev->is && is_disrupted(ev->is))
        batch_trigger(&p->batch, ((const struct node *)ev->is)->uid);
}

void provisioner_trigger(struct provisioner *p, str id)
{
    batch_trigger(&p->batch, id);
}

static void arm_retry(struct provisioner *p)
{
    if (p->retries.n)
        timer_set(p->c->world, &p->retry, MAX(0, p->retries.v[0] - world_mono_us(p->c->world)));
}

static void on_window(void *ctx)
{
    struct provisioner *p = ctx;

    vec_push(&p->retries, p->batch.opened_us + RETRY_US);
    arm_retry(p);
    queue_add(p->queue, STR(""), STR(""));
}

/* The uid of any pod that waits, or Node that goes away; empty: none. */
static str still_there(const struct provisioner *p, char room[UID_TEXT])
{
    struct pod_list waiting = store_pods_waiting(p->c->store);

    if (waiting.n)
        return uid_text(store_pods(p->c->store)[waiting.v[0]].uid, room);
    struct names nodes = store_names(p->c->store, OBJ_NODE);
    for (uint32_t i = 0; i < nodes.n; i++) {
        const struct node *n = store_node(p->c->store, nodes.v[i]);

        if (n && is_disrupted(n))
            return n->uid;
    }
    return (str){0};
}

/* Whoever still waits triggers again. The round that comes of it is for all of them, whichever window they came in: it stands for the other repetitions too, or every window of the past
 * would go on for as long as one pod waits. */
static void on_retry(void *ctx)
{
    struct provisioner *p = ctx;
    char room[UID_TEXT];
    str id = still_there(p, room);

    p->retries.n--;
    memmove(p->retries.v, p->retries.v + 1, p->retries.n * sizeof(*p->retries.v));
    if (id.n) {
        p->retries.n = 0;
        batch_trigger(&p->batch, id);
    }
    arm_retry(p);
}

/* ---- what a round says ---- */

/* What the text of an error says in brackets, " (NodePool=default)", is said again as a field; what it says several times, of several pools or taints, as a list. */
static const struct detail {
    const char *before, *after; /* in the text */
    const char *one, *several;  /* in the log */
    bool is_object;
} details[] = {
    {" (NodePool=", ")", "NodePool", "NodePools", true},
    {" (taint=", ")", "taint", "taints", false},
};

static bool next_detail(const struct detail *d, str *rest, str *ret)
{
    const char *at = memmem(rest->p, rest->n, d->before, strlen(d->before)), *end;

    if (!at)
        return false;
    *rest = str_sub(*rest, (size_t)(at - rest->p) + strlen(d->before), rest->n);
    end = memmem(rest->p, rest->n, d->after, strlen(d->after));
    *ret = end ? str_sub(*rest, 0, (size_t)(end - rest->p)) : *rest;
    return true;
}

static str details_json(struct arena *a, const struct detail *d, str reason)
{
    struct sb b = {0};
    struct jw w = {.out = &b};
    str val;

    jw_list(&w);
    while (next_detail(d, &reason, &val)) {
        if (d->is_object) {
            jw_map(&w);
            jw_key(&w, "name");
        }
        jw_str(&w, val);
        if (d->is_object)
            jw_end(&w);
    }
    jw_end(&w);
    str text = sb_dup(&b, a);
    sb_fini(&b);
    return text;
}

static uint32_t error_fields(struct arena *a, str reason, struct log_field *f)
{
    uint32_t n = 0;

    for (size_t i = 0; i < ARRAY_LEN(details); i++) {
        const struct detail *d = &details[i];
        str rest = reason, first, val;

        if (!next_detail(d, &rest, &first))
            continue;
        if (next_detail(d, &rest, &val))
            f[n++] = LOG_JSON(d->several, details_json(a, d, reason));
        else
            f[n++] = d->is_object ? LOG_OBJ(d->one, STR(""), first) : LOG_STR(d->one, first);
    }
    return n;
}

static void say_refusals(struct provisioner *p, struct reconcile *r, const struct round *d)
{
    int64_t now = world_now_ms(p->c->world);
    uint32_t n_deferred = 0, n_unreal = 0;

    for (uint32_t i = 0; i < d->n_refusals; i++) {
        const struct round_refusal *x = &d->refusals[i];
        struct log_field f[2 + ARRAY_LEN(details)] = {LOG_OBJ("Pod", x->pod.ns, x->pod.name)};
        uint32_t n = 1;

        if (x->pod.buffer.n) {
            n_unreal++;
            continue;
        }
        n_deferred += x->deferred;
        if (podbook_refused(p->book, x->pod.uid, now))
            metric_observe(p->c->metrics->pods_scheduling_decision_duration,
                           (double)(now - podbook_get(p->book, x->pod.uid).acked_ms) / 1000, NULL, now);
        if (x->deferred || x->silent)
            continue;
        n += error_fields(r->arena, x->reason, &f[n]);
        f[n++] = LOG_STR("error", x->reason);
        log_write(r->log, LOG_ERROR, "could not schedule pod", NULL, f, n);
        round_say_refused(p->c, r->arena, x);
    }
    metric_set(p->c->metrics->scheduler_ignored_pods_count, d->n_ignored, NULL);
    metric_set(p->c->metrics->scheduler_unschedulable_pods_count, d->n_refusals - d->n_ignored - n_deferred - n_unreal,
               METRIC_VALS(STR("provisioner")));
}

static void note_placed(struct provisioner *p, const struct round_pod *pods, uint32_t n, bool healthy)
{
    int64_t now = world_now_ms(p->c->world);

    for (uint32_t i = 0; i < n; i++)
        if (!pods[i].bound && !pods[i].buffer.n && podbook_placed(p->book, pods[i].uid, healthy, now))
            metric_observe(p->c->metrics->pods_scheduling_decision_duration,
                           (double)(now - podbook_get(p->book, pods[i].uid).acked_ms) / 1000, NULL, now);
}

static void nominate(struct provisioner *p, struct reconcile *r, const struct round *d)
{
    for (uint32_t i = 0; i < d->n_nodes; i++) {
        const struct round_node *n = &d->nodes[i];

        note_placed(p, n->pods, n->n_pods, n->healthy_pool);
        round_nominate(p->c, r->arena, n);
    }
}

static void say_dropped(struct provisioner *p, struct reconcile *r, const struct round *d)
{
    for (uint32_t i = 0; i < d->n_dropped; i++) {
        round_say_dropped(p->c, &d->dropped[i]);
        log_info(r->log, "skipping, nodepool requirements filtered out all instance types",
                 LOG_OBJ("NodePool", STR(""), d->dropped[i].pool));
    }
}

static void say_excluded(struct reconcile *r, const struct round *d)
{
    for (uint32_t i = 0; i < d->n_exclusions; i++)
        log_debug(r->log, "instance types were excluded because they would breach limits",
                  LOG_OBJ("NodePool", STR(""), d->exclusions[i].pool), LOG_I64("excluded", d->exclusions[i].n_excluded),
                  LOG_I64("total", d->exclusions[i].n_types));
}

static void say_found(struct reconcile *r, const struct round *d, int64_t took_us)
{
    uint32_t n_new = 0, n_waiting = 0, shown = 0;
    struct sb names = {0}, took = {0};

    for (uint32_t i = 0; i < d->n_claims; i++)
        for (uint32_t k = 0; k < d->claims[i].n_pods; k++, n_new++)
            if (shown < NAMES_SHOWN)
                sb_printf(&names, "%s" STR_FMT "/" STR_FMT, shown++ ? ", " : "", STR_ARG(d->claims[i].pods[k].ns),
                          STR_ARG(d->claims[i].pods[k].name));
    if (n_new > shown)
        sb_printf(&names, " and %u other(s)", n_new - shown);
    duration_print(&took, took_us * 1000);
    if (n_new) {
        log_info(r->log, "found provisionable pod(s)", LOG_STR("Pods", sb_view(&names)),
                 LOG_STR("duration", sb_view(&took)));
        log_info(r->log, "computed new nodeclaim(s) to fit pod(s)", LOG_I64("nodeclaims", d->n_claims),
                 LOG_I64("pods", n_new));
        for (uint32_t i = 0; i < d->n_nodes; i++) /* quirk: ready or not, all that exist and take pods count */
            n_waiting += d->nodes[i].n_pods;
        if (n_waiting)
            log_info(r->log, "computed unready node(s) will fit pod(s)", LOG_I64("nodes", d->n_nodes),
                     LOG_I64("pods", n_waiting));
    }
    sb_fini(&names);
    sb_fini(&took);
}

/* ---- what a round does ---- */

struct launch {
    struct provisioner *p;
    struct reconcile *r;
    const struct round *round;
    uint32_t n_failed, n_late; /* late: others make claims of the pool, or have since this was planned */
};

static bool is_for_buffers(const struct round_claim *x)
{
    for (uint32_t i = 0; i < x->n_pods; i++)
        if (x->pods[i].buffer.n == 0)
            return false;
    return true;
}

static void create_one(void *ctx, uint32_t i)
{
    struct launch *l = ctx;
    const struct round_claim *x = &l->round->claims[i];
    struct err e;
    str name;

    if (!round_create(l->p->c, l->r->arena, round_log(l->r->arena, l->r->log, x), x, "provisioned", &name, &e)) {
        if (e.kind == ERR_CONFLICT)
            l->n_late++;
        else if (l->n_failed++ == 0)
            l->r->err = e;
        return;
    }
    l->p->c->n_for_buffers += is_for_buffers(x);
    for (uint32_t k = 0; k < x->n_pods; k++)
        round_say_nominated(l->p->c, l->r->arena, &x->pods[k], name, STR(""));
}

/* Whether any NodePool can be planned with; those that cannot yet are named. */
static bool have_pools(struct provisioner *p, struct log *log)
{
    struct names pools = store_names(p->c->store, OBJ_NODEPOOL);
    uint32_t n = 0;

    for (uint32_t i = 0; i < pools.n; i++) {
        const struct kept *kept = store_kept(p->c->store, OBJ_NODEPOOL, pools.v[i]);
        const struct nodepool *np = store_pool(p->c->store, pools.v[i]);

        if (!kept->managed || (np && (np->is_static || np->deleting)))
            continue;
        if (np && np->ready == COND_TRUE)
            n++;
        else
            log_error(log, "ignoring nodepool, not ready", NULL, LOG_OBJ("NodePool", STR(""), pools.v[i]));
    }
    if (n == 0)
        log_info(log, "no dynamic nodepools found");
    return n != 0;
}

/* Planning is over before anybody can look: what is left of the queue are the pods without a place, under the number of the round, until the next one. */
static void count_round(struct control *c, struct arena *a, const struct round *d, int64_t took_us)
{
    const struct control_metrics *m = c->metrics;
    str by = STR("provisioner");

    metric_observe(m->scheduler_scheduling_duration, (double)took_us / 1e6, METRIC_VALS(by), world_now_ms(c->world));
    metric_drop_where(m->scheduler_queue_depth, /* at= */ 0, by);
    metric_set(m->scheduler_queue_depth, d->n_refusals - d->n_ignored, METRIC_VALS(by, uuid_new(a, c->world)));
    metric_drop_where(m->scheduler_pending_pods_by_effective_zone_count, /* at= */ 0, by);
    for (uint32_t i = 0; i < d->n_zones; i++)
        metric_set(m->scheduler_pending_pods_by_effective_zone_count, d->zones[i].n_pods,
                   METRIC_VALS(by, d->zones[i].name));
}

/* Whether planning again would give the same: most rounds are those of pods that wait for room, over and over. Time alone changes nothing but which pods
 * of a node on its way out may move. */
static bool is_known(const struct provisioner *p)
{
    const struct cloud *cloud = p->c->cloud;

    return p->round && p->round->n_claims == 0 && p->round->n_moving == 0 &&
           p->planned_at == store_changes(p->c->store) && p->catalog_version == cloud->catalog(cloud->self)->version;
}

static void say_computing(struct log *log, uint32_t n_pending, uint32_t n_moving)
{
    log_debug(log, "computing scheduling decision for provisionable pod(s)", LOG_I64("pending-pods", n_pending),
              LOG_I64("deleting-pods", n_moving));
}

/* NULL: there is nobody to plan for. */
static struct round *plan_anew(struct provisioner *p, struct log *log)
{
    struct control *c = p->c;
    AUTO(arena) struct arena *pass = arena_new(0);
    struct snapshot *s =
        store_snapshot(c->store, &c->options->settings, c->cloud->catalog(c->cloud->self), world_now_ms(c->world));

    p->round = NULL;
    p->planned_at = store_changes(c->store);
    p->catalog_version = s->catalog->version;
    if (s->n_pending + s->n_refused == 0)
        return NULL;
    arena_reset(p->arena);
    say_computing(log, s->n_pending - s->n_moving, s->n_moving);
    if (!have_pools(p, log))
        return NULL;
    struct round *d = round_of(p->arena, c->store, s, plan_make_in(c->frame, pass, s), world_random(c->world));
    uint64_t number = store_plan_number(c->store);
    for (uint32_t i = 0; i < d->n_claims; i++)
        d->claims[i].plan = number;
    return d;
}

static struct round *plan_round(struct provisioner *p, struct reconcile *r)
{
    struct control *c = p->c;
    int64_t began = world_mono_us(c->world), took;

    if (is_known(p)) {
        say_computing(r->log, p->round->n_pending, p->round->n_moving);
        if (!have_pools(p, r->log))
            return NULL;
    } else {
        p->round = plan_anew(p, r->log);
    }
    if (!p->round)
        return NULL;
    took = world_mono_us(c->world) - began;
    count_round(c, r->arena, p->round, took);
    say_dropped(p, r, p->round);
    say_excluded(r, p->round);
    say_refusals(p, r, p->round);
    nominate(p, r, p->round);
    say_found(r, p->round, took);
    return p->round;
}

static struct result provision(struct reconcile *r)
{
    struct provisioner *p = r->ctx;
    struct launch l = {.p = p, .r = r};

    if (!store_synced(p->c->store))
        return result_after_ms(UNSYNCED_MS);
    if (p->buffers) {
        buffers_prepare(p->buffers, r);
        if (!store_synced(p->c->store)) /* claims were made meanwhile */
            return result_after_ms(UNSYNCED_MS);
    }
    l.round = plan_round(p, r);
    if (l.round) {
        if (p->buffers)
            buffers_report(p->buffers, r, l.round);
        for (uint32_t i = 0; i < l.round->n_claims; i++)
            note_placed(p, l.round->claims[i].pods, l.round->claims[i].n_pods, l.round->claims[i].healthy_pool);
        fan_out(p->c->world, "create nodeclaim", l.round->n_claims, LAUNCH_WIDTH, create_one, &l);
    }
    batch_done(&p->batch);
    if (l.n_failed == 0)
        return l.n_late ? result_requeue() : RESULT_OK;
    (void)err_wrap(&r->err, "creating nodeclaims, %u of %u failed", l.n_failed, l.round->n_claims);
    return result_error();
}

static void on_buffer(void *ctx, str id)
{
    provisioner_trigger(ctx, id);
}

/* A claim whose creation failed may be there all the same, when only the answer was lost. Its watch gets as long to say so as pods get to come: whoever plans at once buys it twice, and goes
 * beyond limits. */
static const struct limiter_spec after_failure = {.base_us = 1000000, .max_us = RETRY_US};

struct provisioner *provision_register(struct control *c)
{
    struct provisioner *p = xcalloc(1, sizeof(*p));

    p->c = c;
    p->book = podbook_new();
    p->arena = arena_new(0);
    p->retry = (struct timer){.fn = on_retry, .ctx = p};
    batch_init(&p->batch, c->world, c->options->batch_idle_ms, c->options->batch_max_ms, on_window, p);
    p->queue = manager_add(c->manager,
                           &(struct controller_spec){
                               .name = "provisioner", .workers = 1, .limit = after_failure, .fn = provision, .ctx = p});
    store_subscribe(c->store, on_event, p);
    if (c->options->settings.capacity_buffers)
        p->buffers = buffers_new(c, on_buffer, p);
    return p;
}

void provisioner_free(struct provisioner *p)
{
    if (!p)
        return;
    buffers_free(p->buffers);
    timer_stop(p->c->world, &p->retry);
    batch_fini(&p->batch);
    podbook_free(p->book);
    arena_free(p->arena);
    vec_fini(&p->retries);
    free(p);
}

const struct podbook *provisioner_book(const struct provisioner *p)
{
    return p->book;
}
