/* Publishing puts a copy into a queue; one fiber, which is there while the queue is not empty, sends them one after the other. Rules about repeats are applied when an Event's turn
 * comes, so that whoever was lost on the way is not counted.
 */
#include "control/recorder.h"

#include <stdlib.h>

#include "base/sb.h"
#include "base/vec.h"
#include "control/correlate.h"
#include "data/edit.h"
#include "model/duration.h"
#include "net/fiber.h"

#define QUEUE_MAX 1000u
#define MAX_TRIES 12
#define RETRY_US (10ll * 1000000)
#define DEDUPE_MS (2ll * 60 * 1000)
#define DEDUPE_MAX 131072u             /* some for each Node and NodeClaim of a large cluster */
#define LOST_EVERY_US (60ll * 1000000) /* a flood is a line a minute, with a count */
#define SHARED_QPS 5
#define SHARED_BURST 10

/* One block, with its texts behind it. */
struct queued {
    struct queued *next;
    struct event ev;
    struct api_kind kind; /* of the object: those of node classes live no longer than a reconcile */
    int64_t made_ms;
};

/* A key that was published. */
struct published {
    int64_t until_us;
};

struct recorder {
    struct api *api;
    struct world *w;
    struct log *log;
    struct bucket shared;
    struct lru published;
    struct sb key; /* scratch */
    struct correlator correlator;
    struct queued *first, *last;
    uint32_t n;
    uint32_t n_lost; /* that nobody was told of */
    int64_t lost_us; /* when it is time to tell again */
    bool running;    /* the fiber is there */
    bool sending;    /* it has one in hand */
    bool muted;
    bool freed;
    struct arena *signature; /* of the next two; NULL: none */
    str host;
    const struct tree *annotations;
    char component[];
};

struct recorder *recorder_new(struct api *c, str component, struct log *l)
{
    struct recorder *r = xcalloc(1, sizeof(*r) + component.n);

    memcpy(r->component, component.p, component.n);
    r->api = c;
    r->w = api_world(c);
    r->log = l;
    r->shared = (struct bucket){.qps = SHARED_QPS, .burst = SHARED_BURST, .at_us = world_mono_us(r->w)};
    r->published = (struct lru){.cap = DEDUPE_MAX, .size = sizeof(struct published)};
    correlator_init(&r->correlator, (str){r->component, component.n});
    return r;
}

static struct queued *queue_pop(struct recorder *r)
{
    struct queued *q = r->first;

    if (!q)
        return NULL;
    r->first = q->next;
    if (!r->first)
        r->last = NULL;
    r->n--;
    return q;
}

static void recorder_release(struct recorder *r)
{
    for (struct queued *q; (q = queue_pop(r));)
        free(q);
    lru_fini(&r->published);
    sb_fini(&r->key);
    correlator_fini(&r->correlator);
    arena_free(r->signature);
    free(r);
}

void recorder_free(struct recorder *r)
{
    if (!r)
        return;
    r->freed = true;
    if (!r->running)
        recorder_release(r);
}

void recorder_sign(struct recorder *r, str host, const struct tree *annotations)
{
    struct arena *a = arena_new(0), *old = r->signature;

    r->signature = a;
    r->host = arena_strdup(a, host);
    r->annotations = annotations && annotations->n ? tree_copy(a, annotations) : NULL;
    arena_free(old);
}

uint32_t recorder_waiting(const struct recorder *r)
{
    return r->n + r->sending;
}

/* ---- bodies ---- */

static void set_time(struct arena *a, struct tree *t, const char *key, int64_t ms)
{
    struct sb b = {0};

    time_print_rfc3339(&b, ms);
    tree_set_str(a, t, key, sb_dup(&b, a));
    sb_fini(&b);
}

static void set_known(struct arena *a, struct tree *t, const char *key, str value)
{
    if (value.n)
        tree_set_str(a, t, key, value);
}

static str message_of(struct arena *a, const struct event *ev, const struct sighting *s)
{
    if (!s->combined)
        return ev->message;
    return arena_printf(a, "(combined from similar events): " STR_FMT, STR_ARG(ev->message));
}

static str namespace_of(const struct event *ev)
{
    return ev->object.ns.n ? ev->object.ns : STR("default");
}

/* Fields in the order in which the client library writes them. */
static struct tree *event_body(struct arena *a, const struct recorder *r, const struct queued *q,
                               const struct sighting *s)
{
    const struct event_object *o = &q->ev.object;
    struct tree *t = tree_new_map(a), *x;

    tree_set_str(a, t, "kind", STR("Event"));
    tree_set_str(a, t, "apiVersion", STR("v1"));
    x = tree_sub(a, t, "metadata");
    tree_set_str(a, x, "name", s->name);
    tree_set_str(a, x, "namespace", namespace_of(&q->ev));
    if (r->annotations)
        tree_set(a, x, "annotations", *tree_copy(a, r->annotations));
    x = tree_sub(a, t, "involvedObject");
    tree_set_str(a, x, "kind", str_c(o->kind->kind));
    set_known(a, x, "namespace", o->ns);
    set_known(a, x, "name", o->name);
    set_known(a, x, "uid", o->uid);
    tree_set_str(a, x, "apiVersion", api_kind_version(a, o->kind));
    set_known(a, x, "resourceVersion", o->resource_version);
    tree_set_str(a, t, "reason", str_c(q->ev.reason));
    tree_set_str(a, t, "message", message_of(a, &q->ev, s));
    x = tree_sub(a, t, "source");
    tree_set_str(a, x, "component", r->correlator.component);
    set_known(a, x, "host", r->host);
    set_time(a, t, "firstTimestamp", s->first_ms);
    set_time(a, t, "lastTimestamp", q->made_ms);
    tree_set_i64(a, t, "count", s->count);
    tree_set_str(a, t, "type", q->ev.warning ? STR("Warning") : STR("Normal"));
    tree_set(a, t, "eventTime", tree_of_null());
    tree_set_str(a, t, "reportingComponent", s->combined ? STR("") : r->correlator.component);
    tree_set_str(a, t, "reportingInstance", STR(""));
    return t;
}

static struct tree *repeat_body(struct arena *a, const struct queued *q, const struct sighting *s)
{
    struct tree *t = tree_new_map(a);

    tree_set_i64(a, t, "count", s->count);
    set_time(a, t, "lastTimestamp", q->made_ms);
    tree_set_str(a, t, "message", message_of(a, &q->ev, s));
    return t;
}

/* ---- sending ---- */

/* One try. A repeat of an Event that is gone by now is created anew. */
static bool send(struct recorder *r, struct arena *a, const struct queued *q, const struct sighting *s, struct err *e)
{
    str ns = namespace_of(&q->ev);

    if (s->count > 1) {
        struct api_ref ref = {&api_events, ns, s->name};

        if (api_patch(r->api, a, &ref, NULL, API_STRATEGIC, repeat_body(a, q, s), NULL, e))
            return true;
        if (e->kind != ERR_NOT_FOUND)
            return false;
    }
    return api_create(r->api, a, &api_events, ns, event_body(a, r, q, s), NULL, e);
}

static bool is_passing(const struct err *e)
{
    return e->kind == ERR_IO || e->kind == ERR_TIMEOUT || e->kind == ERR_THROTTLED;
}

static void deliver(struct recorder *r, struct arena *a, const struct queued *q)
{
    struct sighting s = correlator_see(&r->correlator, a, r->w, &q->ev, q->made_ms);
    struct err e = {0};

    for (int tries = 1; !s.skip; tries++) {
        if (send(r, a, q, &s, &e) || world_dead(r->w) || r->freed)
            return;
        if (!is_passing(&e) || tries == MAX_TRIES) {
            log_error(r->log, "event was not written", &e, LOG_STR("reason", str_c(q->ev.reason)),
                      LOG_OBJ(q->ev.object.kind->kind, q->ev.object.ns, q->ev.object.name));
            return;
        }
        /* The first wait is random, so that not everybody comes back at once when the server does. */
        fiber_sleep_us(r->w, tries == 1 ? (int64_t)(world_random(r->w) % (uint64_t)RETRY_US) : RETRY_US);
        if (world_dead(r->w) || r->freed)
            return;
    }
}

static void tell_lost(struct recorder *r)
{
    if (r->n_lost == 0)
        return;
    log_error(r->log, "too many events are waiting: the oldest are lost", NULL, LOG_I64("lost", r->n_lost));
    r->n_lost = 0;
    r->lost_us = world_mono_us(r->w) + LOST_EVERY_US;
}

static void send_all(void *arg)
{
    struct recorder *r = arg;
    struct arena *a = arena_new(0);
    struct queued *q;

    while (!r->freed && !world_dead(r->w) && (q = queue_pop(r))) {
        r->sending = true;
        deliver(r, a, q);
        r->sending = false;
        free(q);
        arena_reset(a);
    }
    arena_free(a);
    if (!r->freed && !world_dead(r->w))
        tell_lost(r);
    r->running = false;
    if (r->freed)
        recorder_release(r);
}

/* ---- publishing ---- */

/* Until the next one. */
static str make_key(struct recorder *r, const char *reason, const str *dedupe, uint32_t n)
{
    struct sb *key = &r->key;

    sb_reset(key);
    for (const char *c = reason; *c; c++)
        sb_char(key, *c >= 'A' && *c <= 'Z' ? (char)(*c + 32) : *c);
    for (uint32_t i = 0; i < n; i++) {
        sb_char(key, '-');
        sb_str(key, dedupe[i]);
    }
    return sb_view(key);
}

int64_t recorder_knows_until(struct recorder *r, const char *reason, const str *dedupe, uint32_t n_dedupe)
{
    const struct published *p = lru_get(&r->published, make_key(r, reason, dedupe, n_dedupe));

    return p ? p->until_us : INT64_MIN;
}

bool recorder_knows(struct recorder *r, const char *reason, const str *dedupe, uint32_t n_dedupe)
{
    return recorder_knows_until(r, reason, dedupe, n_dedupe) > world_mono_us(r->w);
}

/* Whether this is the first in a while with its key. */
static bool is_news(struct recorder *r, const struct event *ev)
{
    int64_t now_us = world_mono_us(r->w), until_us = now_us + (ev->dedupe_ms ? ev->dedupe_ms : DEDUPE_MS) * 1000;
    struct published *p, *old;
    bool news;

    if (ev->n_dedupe == 0)
        return true;
    str key = make_key(r, ev->reason, ev->dedupe, ev->n_dedupe);
    while ((old = lru_oldest(&r->published)) && old->until_us <= now_us)
        lru_drop(&r->published, old);
    p = lru_get(&r->published, key);
    news = !p || p->until_us <= now_us;
    if (!p)
        p = lru_put(&r->published, key);
    if (news)
        p->until_us = until_us;
    return news;
}

static void copy_text(char **at, str *s)
{
    memcpy(*at, s->n ? s->p : "", s->n);
    s->p = *at;
    *at += s->n;
}

static struct queued *queued_new(const struct event *ev, int64_t made_ms)
{
    const struct event_object *o = &ev->object;
    size_t texts = o->ns.n + o->name.n + o->uid.n + o->resource_version.n + ev->message.n,
           n_reason = strlen(ev->reason);
    struct queued *q = xcalloc(1, sizeof(*q) + texts + n_reason + 1);
    char *at = (char *)(q + 1);

    q->ev = *ev;
    q->kind = *o->kind;
    q->ev.object.kind = &q->kind;
    q->ev.dedupe = NULL;
    q->ev.n_dedupe = 0;
    q->made_ms = made_ms;
    q->ev.reason = memcpy(at, ev->reason, n_reason + 1);
    at += n_reason + 1;
    copy_text(&at, &q->ev.object.ns);
    copy_text(&at, &q->ev.object.name);
    copy_text(&at, &q->ev.object.uid);
    copy_text(&at, &q->ev.object.resource_version);
    copy_text(&at, &q->ev.message);
    return q;
}

void recorder_mute(struct recorder *r, bool muted)
{
    r->muted = muted;
}

void recorder_publish(struct recorder *r, const struct event *ev)
{
    struct queued *q;

    if (world_dead(r->w) || r->freed || r->muted || !is_news(r, ev))
        return;
    if (ev->limited && !bucket_take(&r->shared, world_mono_us(r->w)))
        return;
    if (r->n >= QUEUE_MAX) {
        free(queue_pop(r));
        r->n_lost++;
        if (world_mono_us(r->w) >= r->lost_us)
            tell_lost(r);
    }
    q = queued_new(ev, world_now_ms(r->w));
    *(r->last ? &r->last->next : &r->first) = q;
    r->last = q;
    r->n++;
    if (!r->running) {
        r->running = true;
        fiber_go(r->w, "events", send_all, r);
    }
}
