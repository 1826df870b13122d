/* Watches: what has happened since a revision, and everything after it, for as long as the client stays.
 *
 * A watcher lives from the head of its answer until the exchange is over. Events are written in the moment in which they happen,
 * so a bookmark of the current revision is always true. A reader that falls too far behind is cut off; it may come back.
 */
#include "sim/kube/front_int.h"

#include "data/edit.h"
#include "data/json.h"
#include "sim/kube/selector.h"

#define SECOND_US INT64_C(1000000)
#define BOOKMARK_US (60 * SECOND_US)
#define LAST_BOOKMARK_US (2 * SECOND_US) /* before the end, so that the client resumes from there */
#define MIN_TIMEOUT_S INT64_C(1800)      /* of watches that name none; at most twice as long */
#define MAX_QUEUED ((size_t)16 << 20)    /* bytes of live events that a reader may be behind */
#define FLUSH (64u << 10)

struct watcher {
    struct front *front;
    struct exchange *x;
    struct watcher *prev, *next;
    struct watch *watch; /* NULL: none any more */
    struct timer timer;
    int64_t deadline_us, bookmark_us, drop_us; /* the latter two 0: never */
    const struct kind *kind;
    const struct selector *sel; /* in the exchange's arena */
    enum form form;
    struct grid grid;
    uint64_t after;   /* the client knows everything up to here */
    size_t allowance; /* bytes that may be queued */
    struct front_fault fault;
    struct sb buf;
    bool columns_sent, cut, ended;
};

/* ---- the end ---- */

static void forget(struct watcher *w)
{
    *(w->prev ? &w->prev->next : &w->front->watchers) = w->next;
    if (w->next)
        w->next->prev = w->prev;
    timer_stop(kube_world(w->front->kube), &w->timer);
    if (w->watch)
        kube_unwatch(w->watch);
    sb_fini(&w->buf);
    free(w);
}

static void on_over(struct exchange *x)
{
    forget(x->ctx);
}

/* w lives on until the exchange is over. */
static void finish(struct watcher *w, bool abort)
{
    if (w->ended)
        return;
    w->ended = true;
    timer_stop(kube_world(w->front->kube), &w->timer);
    if (w->watch)
        kube_unwatch(w->watch);
    w->watch = NULL;
    abort ? reply_abort(w->x) : reply_end(w->x);
}

static void on_dropped(void *ctx)
{
    struct watcher *w = ctx;

    w->watch = NULL;
    finish(w, /* abort= */ true);
}

void watchers_fini(struct front *f)
{
    while (f->watchers) {
        struct watcher *w = f->watchers;

        w->x->on_over = NULL;
        finish(w, /* abort= */ true);
        forget(w);
    }
}

/* ---- writing ---- */

static void flush(struct watcher *w)
{
    if (w->buf.n && !w->ended)
        reply_data(w->x, sb_view(&w->buf));
    sb_reset(&w->buf);
}

/* {"kind":"Table",…} with one row. */
static void write_table(struct watcher *w, str name, const struct tree *obj, uint64_t rv)
{
    struct sb *b = &w->buf;

    w->grid.now_ms = world_now_ms(kube_world(w->front->kube));
    sb_printf(b, "{\"kind\":\"Table\",\"apiVersion\":\"meta.k8s.io/v1\",\"metadata\":{\"resourceVersion\":\"%llu\"}",
              (unsigned long long)rv);
    sb_c(b, ",\"columnDefinitions\":");
    if (w->columns_sent)
        sb_c(b, "null");
    else
        grid_columns(b, &w->grid);
    w->columns_sent = true;
    sb_c(b, ",\"rows\":[");
    grid_row(b, &w->grid, name, obj);
    sb_c(b, "]}");
}

static void write_tree(struct watcher *w, str name, const struct tree *obj, uint64_t rv)
{
    struct jw out = {.out = &w->buf};

    switch (w->form) {
    case FORM_OBJECT:
        jw_tree(&out, obj);
        break;
    case FORM_TABLE:
        write_table(w, name, obj, rv);
        break;
    case FORM_METADATA:
    case FORM_METADATA_LIST:
        metadata_json(&w->buf, obj);
        break;
    }
}

static str rv_text(struct arena *a, uint64_t rv)
{
    return arena_printf(a, "%llu", (unsigned long long)rv);
}

/* rv is that of the event: an object that no longer matches carries it in place of its own. */
static void write_object(struct watcher *w, const struct object *o, uint64_t rv)
{
    AUTO(arena) struct arena *tmp = arena_new(0);
    struct tree *obj = kube_tree(tmp, o);

    if (o->rv != rv)
        tree_set_str(tmp, tree_sub(tmp, obj, "metadata"), "resourceVersion", rv_text(tmp, rv));
    write_tree(w, o->name, obj, rv);
}

/* However many watch: the text of the object is the one that the store has. */
static void send_event(struct watcher *w, enum watch_event type, const struct object *o)
{
    static const char *const heads[] = {
        [WATCH_ADDED] = "{\"type\":\"ADDED\",\"object\":",
        [WATCH_MODIFIED] = "{\"type\":\"MODIFIED\",\"object\":",
        [WATCH_DELETED] = "{\"type\":\"DELETED\",\"object\":",
    };

    flush(w);
    reply_constant(w->x, heads[type]);
    reply_part(w->x, o, o->json);
    reply_constant(w->x, "}\n");
}

static void write_event_once(struct watcher *w, enum watch_event type, const struct object *o, uint64_t rv)
{
    static const char *const names[] = {
        [WATCH_ADDED] = "ADDED", [WATCH_MODIFIED] = "MODIFIED", [WATCH_DELETED] = "DELETED"};

    if (w->form == FORM_OBJECT && o->rv == rv) {
        send_event(w, type, o);
        return;
    }
    sb_printf(&w->buf, "{\"type\":\"%s\",\"object\":", names[type]);
    write_object(w, o, rv);
    sb_c(&w->buf, "}\n");
}

static void write_event(struct watcher *w, enum watch_event type, const struct object *o, uint64_t rv)
{
    write_event_once(w, type, o, rv);
    if (w->fault.duplicate && rng_below(w->fault.rng, 65536) < w->fault.duplicate)
        write_event_once(w, type, o, rv);
}

/* An object with nothing but a resource version. */
static void write_marker(struct watcher *w, uint64_t rv, bool initial_end)
{
    AUTO(arena) struct arena *tmp = arena_new(0);
    struct tree *obj = tree_new_map(tmp), *meta;

    tree_set_str(tmp, obj, "kind", w->kind->name);
    tree_set_str(tmp, obj, "apiVersion", kind_api_version(tmp, w->kind));
    meta = tree_sub(tmp, obj, "metadata");
    tree_set_str(tmp, meta, "resourceVersion", rv_text(tmp, rv));
    if (initial_end)
        tree_set_str(tmp, tree_sub(tmp, meta, "annotations"), "k8s.io/initial-events-end", STR("true"));
    write_tree(w, (str){0}, obj, rv);
}

/* The same as text. In a quiet cluster bookmarks are most of what watches say. */
static void write_plain_marker(struct watcher *w, uint64_t rv, bool initial_end)
{
    const struct kind *k = w->kind;
    struct sb *b = &w->buf;

    sb_c(b, "{\"kind\":\"");
    sb_str(b, k->name);
    sb_c(b, "\",\"apiVersion\":\"");
    sb_str(b, k->group);
    sb_c(b, k->group.n ? "/" : "");
    sb_str(b, k->version);
    sb_c(b, "\",\"metadata\":{\"resourceVersion\":\"");
    sb_u64(b, rv);
    sb_c(b, initial_end ? "\",\"annotations\":{\"k8s.io/initial-events-end\":\"true\"}}}" : "\"}}");
}

static void write_bookmark(struct watcher *w, bool initial_end)
{
    uint64_t rv = MAX(w->after, kube_rv(w->front->kube));

    sb_c(&w->buf, "{\"type\":\"BOOKMARK\",\"object\":");
    if (w->form == FORM_OBJECT)
        write_plain_marker(w, rv, initial_end);
    else
        write_marker(w, rv, initial_end);
    sb_c(&w->buf, "}\n");
}

/* ---- events ---- */

/* With a selector, what begins to match appears and what no longer does is gone, whatever really happened. */
static void show_event(struct watcher *w, enum watch_event type, const struct object *old, const struct object *obj)
{
    bool was = old && selector_matches_object(w->sel, old);
    bool is = type != WATCH_DELETED && selector_matches_object(w->sel, obj);

    if (is)
        write_event(w, was ? WATCH_MODIFIED : WATCH_ADDED, obj, obj->rv);
    else if (was)
        write_event(w, WATCH_DELETED, type == WATCH_DELETED ? obj : old, obj->rv);
    flush(w);
}

static void on_event(void *ctx, enum watch_event type, const struct object *old, const struct object *obj)
{
    struct watcher *w = ctx;
    struct kube *k = w->front->kube;

    if (w->cut || w->ended || obj->rv <= w->after)
        return;
    old = old ? kube_object_as(k, old, w->kind) : NULL;
    obj = kube_object_as(k, obj, w->kind);
    show_event(w, type, old, obj);
    object_unref(old);
    object_unref(obj);
    if (reply_queued(w->x) > w->allowance) {
        w->cut = true; /* not from in here: the store is telling its watches */
        timer_set(kube_world(w->front->kube), &w->timer, 0);
    }
}

static void set_timer(struct watcher *w)
{
    struct world *world = kube_world(w->front->kube);
    int64_t due = w->deadline_us;

    if (w->bookmark_us)
        due = MIN(due, w->bookmark_us);
    if (w->drop_us)
        due = MIN(due, w->drop_us);
    timer_set(world, &w->timer, MAX(due - world_mono_us(world), 0));
}

static void plan_bookmark(struct watcher *w, int64_t now_us)
{
    int64_t last = w->deadline_us - LAST_BOOKMARK_US, next = now_us + BOOKMARK_US;

    w->bookmark_us = last > now_us ? MIN(next, last) : w->deadline_us + 1;
}

static void on_timer(void *ctx)
{
    struct watcher *w = ctx;
    int64_t now = world_mono_us(kube_world(w->front->kube));

    if (w->cut || (w->drop_us && now >= w->drop_us)) {
        finish(w, /* abort= */ true);
    } else if (now >= w->deadline_us) {
        finish(w, /* abort= */ false);
    } else {
        if (w->bookmark_us && now >= w->bookmark_us) {
            write_bookmark(w, /* initial_end= */ false);
            flush(w);
            plan_bookmark(w, now);
        }
        set_timer(w);
    }
}

/* ---- the beginning ---- */

struct watch_options {
    int64_t timeout_s;
    bool bookmarks;
    bool initial;     /* what is there now, as ADDED */
    bool initial_end; /* … and a bookmark after it */
    uint64_t since;
};

static bool check_match(struct request *r, struct status *st)
{
    struct causes c = {.a = r->a};
    str match = query_get(r, "resourceVersionMatch"), field = STR("resourceVersionMatch");
    bool send = query_has(r, "sendInitialEvents");

    if (match.n && !send)
        cause_forbidden(&c, field, "resourceVersionMatch is forbidden for watch unless sendInitialEvents is provided");
    if (send && !str_is(match, "NotOlderThan"))
        cause_forbidden(&c, field, "sendInitialEvents requires setting resourceVersionMatch to NotOlderThan");
    if (send && match.n && !str_is(match, "NotOlderThan"))
        cause_not_supported(&c, field, json_quoted(r->a, match), "supported values: \"NotOlderThan\"");
    return query_invalid(r, "ListOptions", &c, st);
}

static bool watch_options(struct request *r, struct watch_options *ret, struct status *st)
{
    bool send = query_has(r, "sendInitialEvents");
    uint64_t half = (uint64_t)MIN_TIMEOUT_S * 1000;

    *ret = (struct watch_options){.bookmarks = query_flag(r, "allowWatchBookmarks")};
    if (!query_number(r, "timeoutSeconds", &ret->timeout_s, st) || !check_match(r, st) || !query_rv(r, &ret->since, st))
        return false;
    if (ret->timeout_s == 0)
        ret->timeout_s = MIN_TIMEOUT_S + (int64_t)(world_random(kube_world(r->kube)) % half) / 1000;
    ret->timeout_s = MAX(MIN(ret->timeout_s, INT64_C(365) * 86400), 0);
    ret->initial = send ? query_flag(r, "sendInitialEvents") : ret->since == 0;
    ret->initial_end = send && ret->initial && ret->bookmarks;
    if (send && ret->initial && ret->since > kube_rv(r->kube))
        return status_too_large_rv(r->a, st, ret->since, kube_rv(r->kube));
    return true;
}

static struct watcher *watcher_new(struct request *r, const struct watch_options *o, const struct selector *sel,
                                   const struct grid *g)
{
    struct watcher *w = xcalloc(1, sizeof(*w));
    int64_t now = world_mono_us(kube_world(r->kube));

    *w = (struct watcher){
        .front = r->front,
        .x = r->x,
        .next = r->front->watchers,
        .timer = {.fn = on_timer, .ctx = w},
        .deadline_us = now + o->timeout_s * SECOND_US,
        .drop_us = r->fault.drop_after_us ? now + r->fault.drop_after_us : 0,
        .kind = r->route.kind,
        .sel = sel,
        .form = r->accept.form,
        .grid = *g,
        .allowance = SIZE_MAX,
        .fault = r->fault,
    };
    if (o->bookmarks)
        plan_bookmark(w, now);
    if (w->next)
        w->next->prev = w;
    r->front->watchers = w;
    r->x->ctx = w;
    r->x->on_over = on_over;
    return w;
}

static uint64_t send_initial(struct watcher *w, str ns)
{
    struct listing *l = listing_new(w->front->kube, w->kind, ns);
    uint64_t rv = l->rv;

    for (uint32_t i = 0; i < l->n; i++) {
        const struct object *o = kube_object_as(w->front->kube, l->objects[i], w->kind);

        if (selector_matches_object(w->sel, o))
            write_event(w, WATCH_ADDED, o, o->rv);
        object_unref(o);
        if (w->buf.n >= FLUSH)
            flush(w);
    }
    listing_free(l);
    return rv;
}

bool serve_watch(struct request *r, struct status *st)
{
    struct watch_options o;
    const struct selector *sel;
    struct grid g = {0};
    struct status gone;

    if (!watch_options(r, &o, st) || !list_selector(r, &sel, st))
        return false;
    if (r->accept.form == FORM_TABLE && !grid_init(r, r->route.kind, &g, st))
        return false;
    reply_head(r, 200, "application/json", NULL, 0);

    struct watcher *w = watcher_new(r, &o, sel, &g);
    uint64_t since = MIN(o.since, kube_rv(r->kube));
    if (o.initial)
        since = send_initial(w, r->route.ns);
    else if (o.since == 0)
        since = kube_rv(r->kube);
    w->after = MAX(since, o.since);
    if (o.initial_end)
        write_bookmark(w, /* initial_end= */ true);
    flush(w);
    w->allowance = reply_queued(w->x) + MAX_QUEUED;
    set_timer(w);
    bool ok = r->fault.gone
                  ? status_gone(r->a, &gone, "too old resource version")
                  : kube_watch(r->kube, r->a, w->kind, r->route.ns, since, on_event, w, on_dropped, &w->watch, &gone);
    if (!ok) {
        sb_c(&w->buf, "{\"type\":\"ERROR\",\"object\":");
        status_json(&w->buf, &gone);
        sb_c(&w->buf, "}\n");
        flush(w);
        finish(w, /* abort= */ false);
    }
    return true;
}
