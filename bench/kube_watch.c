/* Watchers: each has a copy of every pod, node and lease by list and watch, in one of the ways in which clients do that.
 *
 * The first watcher of a kind is the judge: it reads every event, looks at its revision, and carries the change out on its
 * copy. The others only have to be sent the same bytes, so they keep a hash of each line. */
#include <stdlib.h>

#include "data/json.h"
#include "data/reader.h"
#include "kube.h"
#include "net/fiber.h"

#define PAGE 500
#define PATIENCE_US INT64_C(60000000)
#define STEP_US 20000
#define QUIET_US 500000 /* after the last event nothing may come any more */

struct item {
    str key;
    uint64_t rv, hash;
    bool there;
};

struct copy {
    struct arena *a; /* keys */
    struct strmap by_key;
    VEC(struct item) items;
    uint32_t n; /* of those that are there */
};

/* One watcher's look at one kind. */
struct watcher {
    struct bench *b;
    enum kind kind;
    enum beginning how;
    bool judge;
    struct copy copy;
    uint64_t began_rv, last_rv;
    VEC(uint64_t) rvs;   /* of additions and changes, as they came; the judge's */
    uint32_t deleted;    /* the judge's */
    VEC(uint64_t) lines; /* a hash of each event after the beginning */
    struct arena *tmp;
    struct sb part; /* of a line */
    uint64_t bytes;
    bool begun; /* has everything that was there */
    bool ended;
    const char *wrong; /* NULL: nothing */
};

struct watchers {
    struct bench *b;
    struct watcher *v;
    uint32_t n;
};

/* ---- copies ---- */

static uint64_t rv_of(const struct tree *t)
{
    int64_t rv = 0;

    (void)str_to_i64(tree_str(tree_at(t, "metadata", "resourceVersion", NULL)), &rv);
    return (uint64_t)rv;
}

/* Members of lists do not say their kind, those of events do; everything else has to be the same. */
static uint64_t hash_of(const struct tree *obj)
{
    struct sb b = {0};

    for (uint32_t i = 0; i < obj->n; i++) {
        struct jw w = {.out = &b};

        if (str_is(obj->keys[i], "kind") || str_is(obj->keys[i], "apiVersion"))
            continue;
        sb_str(&b, obj->keys[i]);
        jw_tree(&w, &obj->items[i]);
    }
    uint64_t h = hash_bytes(b.p, b.n, 1);
    sb_fini(&b);
    return h;
}

static struct item *item_of(struct copy *c, struct arena *tmp, const struct tree *obj)
{
    str ns = tree_str(tree_at(obj, "metadata", "namespace", NULL)),
        name = tree_str(tree_at(obj, "metadata", "name", NULL));
    str key = arena_printf(tmp, STR_FMT "/" STR_FMT, STR_ARG(ns), STR_ARG(name));
    uint32_t at = strmap_get(&c->by_key, key);

    if (at != MAP_NONE)
        return &c->items.v[at];
    key = arena_strdup(c->a, key);
    strmap_put(&c->by_key, key, c->items.n);
    vec_push(&c->items, (struct item){.key = key});
    return &vec_last(&c->items);
}

static void copy_put(struct copy *c, struct arena *tmp, const struct tree *obj)
{
    struct item *it = item_of(c, tmp, obj);

    c->n += !it->there;
    *it = (struct item){.key = it->key, .rv = rv_of(obj), .hash = hash_of(obj), .there = true};
}

static void copy_init(struct copy *c)
{
    *c = (struct copy){.a = arena_new(0)};
}

static void copy_fini(struct copy *c)
{
    strmap_fini(&c->by_key);
    vec_fini(&c->items);
    arena_free(c->a);
}

static bool copy_has(const struct copy *c, const struct item *it)
{
    uint32_t at = strmap_get(&c->by_key, it->key);

    return at != MAP_NONE && c->items.v[at].there && c->items.v[at].rv == it->rv && c->items.v[at].hash == it->hash;
}

static bool copy_equal(const struct copy *x, const struct copy *y)
{
    if (x->n != y->n)
        return false;
    for (uint32_t i = 0; i < x->items.n; i++)
        if (x->items.v[i].there && !copy_has(y, &x->items.v[i]))
            return false;
    return true;
}

/* ---- lists ---- */

/* One page, or all; what is left is in *token, which is empty at the end. */
static uint64_t list_page(struct bench *b, enum kind k, const char *query, struct copy *c, str *token, struct arena *a)
{
    AUTO(arena) struct arena *body = arena_new(0), *parsed = arena_new(0);
    str path = arena_printf(body, "%s?%s&continue=" STR_FMT, kind_path(k), query, STR_ARG(*token));
    struct http_response got;
    const struct tree *t;
    struct err e = {0};

    call_fetch(b, &(struct call){.path = path}, body, &got);
    if (!tree_parse_json(parsed, "list", got.body, &t, &e))
        die("list", e.msg);
    const struct tree *items = tree_get(t, "items");
    for (uint32_t i = 0; items && i < items->n; i++)
        copy_put(c, parsed, &items->items[i]);
    *token = arena_strdup(a, tree_str(tree_at(t, "metadata", "continue", NULL)));
    return rv_of(t);
}

/* The revision of the list; 0 when its pages were of different ones. */
static uint64_t list(struct bench *b, enum kind k, enum beginning how, struct copy *c)
{
    AUTO(arena) struct arena *a = arena_new(0);
    const char *query = how == BEGIN_CACHED ? "resourceVersion=0" : "";
    str token = {0};
    uint64_t rv = 0, first = 0;

    if (how == BEGIN_PAGES)
        query = arena_printf(a, "limit=%d%c", PAGE, 0).p;
    do {
        rv = list_page(b, k, query, c, &token, a);
        first = first ? first : rv;
    } while (token.n && rv == first);
    return rv == first ? rv : 0;
}

/* ---- events ---- */

/* Of the stream that begins with everything that is there. */
static void initial_event(struct watcher *w, const struct tree *t)
{
    const struct tree *obj = tree_get(t, "object");

    if (str_is(tree_str(tree_get(t, "type")), "ADDED")) {
        copy_put(&w->copy, w->tmp, obj);
    } else {
        w->began_rv = rv_of(obj);
        w->begun = true;
    }
}

static void judge_event(struct watcher *w, const struct tree *t)
{
    const struct tree *obj = tree_get(t, "object");
    str type = tree_str(tree_get(t, "type"));
    uint64_t rv = rv_of(obj);

    if (rv <= w->last_rv)
        w->wrong = "a revision comes twice, or after a later one";
    w->last_rv = rv;
    struct item *it = item_of(&w->copy, w->tmp, obj);
    if (it->there == str_is(type, "ADDED"))
        w->wrong = it->there ? "ADDED comes for what is there already" : "a change comes of what is not there";
    if (str_is(type, "DELETED")) {
        w->deleted++;
        w->copy.n -= it->there;
        it->there = false;
    } else if (str_is(type, "ADDED") || str_is(type, "MODIFIED")) {
        vec_push(&w->rvs, rv);
        copy_put(&w->copy, w->tmp, obj);
    } else {
        w->wrong = "the watch says ERROR";
    }
}

static void take_line(struct watcher *w, str line)
{
    const struct tree *t;
    struct err e = {0};

    if (w->begun) {
        if (str_starts(line, STR("{\"type\":\"BOOKMARK\"")))
            return;
        vec_push(&w->lines, hash_bytes(line.p, line.n, 1));
        if (!w->judge)
            return;
    }
    arena_reset(w->tmp);
    if (!tree_parse_json(w->tmp, "event", line, &t, &e))
        die("event", e.msg);
    w->begun ? judge_event(w, t) : initial_event(w, t);
}

static void take_bytes(struct watcher *w, str bytes)
{
    const char *end;

    while ((end = memchr(bytes.p, '\n', bytes.n))) {
        size_t n = (size_t)(end - bytes.p);

        if (w->part.n) {
            sb_bytes(&w->part, bytes.p, n);
            take_line(w, sb_view(&w->part));
            sb_reset(&w->part);
        } else {
            take_line(w, (str){bytes.p, n});
        }
        bytes = str_sub(bytes, n + 1, bytes.n);
    }
    sb_str(&w->part, bytes);
}

static void watch(void *arg)
{
    struct watcher *w = arg;
    AUTO(arena) struct arena *a = arena_new(0);
    str query = STR("sendInitialEvents=true&resourceVersionMatch=NotOlderThan&allowWatchBookmarks=true"), bytes;
    struct err e = {0};

    if (w->how != BEGIN_STREAM) {
        w->began_rv = list(w->b, w->kind, w->how, &w->copy);
        if (w->began_rv == 0)
            w->wrong = "the pages of a list are of different moments";
        query = arena_printf(a, "resourceVersion=%llu", (unsigned long long)w->began_rv);
    }
    struct http_stream *s = call_open(
        w->b, arena_printf(a, "%s?watch=1&timeoutSeconds=3600&" STR_FMT, kind_path(w->kind), STR_ARG(query)), a);

    w->begun = w->begun || w->how != BEGIN_STREAM;
    while (http_read(s, &bytes, &e) && bytes.n) {
        w->bytes += w->begun ? bytes.n : 0;
        take_bytes(w, bytes);
    }
    w->wrong = "the watch has ended";
    http_close(s);
    w->ended = true;
}

/* ---- all of them ---- */

/* Nothing changes at this time, so all have begun with the same. */
static void compare_beginnings(struct watchers *ws)
{
    for (uint32_t i = N_KINDS; i < ws->n; i++) {
        struct watcher *w = &ws->v[i], *judge = &ws->v[i % N_KINDS];

        if (w->began_rv != judge->began_rv || !copy_equal(&w->copy, &judge->copy))
            w->wrong = "begins with something else than the first watcher";
    }
}

struct watchers *watchers_new(struct bench *b)
{
    struct watchers *ws = xcalloc(1, sizeof(*ws));
    bool all = false;

    ws->b = b;
    ws->n = (uint32_t)b->o.watchers * N_KINDS;
    ws->v = xcalloc(ws->n, sizeof(*ws->v));
    for (uint32_t i = 0; i < ws->n; i++) {
        struct watcher *w = &ws->v[i];

        w->b = b;
        w->kind = (enum kind)(i % N_KINDS);
        w->how = (enum beginning)(i / N_KINDS % N_BEGINNINGS);
        w->judge = i < N_KINDS;
        w->tmp = arena_new(0);
        copy_init(&w->copy);
        fiber_go(b->w, "watcher", watch, w);
    }
    while (!all) {
        fiber_sleep_us(b->w, STEP_US);
        all = true;
        for (uint32_t i = 0; i < ws->n; i++)
            all = all && ws->v[i].begun;
    }
    compare_beginnings(ws);
    return ws;
}

static bool has_seen(const struct watcher *w, const struct written *written)
{
    return w->lines.n >= written->rvs[w->kind].n + written->deleted[w->kind];
}

void watchers_wait(struct watchers *ws, const struct written *w)
{
    int64_t waited_us = 0;
    bool all;

    do {
        all = true;
        for (uint32_t i = 0; i < ws->n; i++)
            all = all && has_seen(&ws->v[i], w);
        fiber_sleep_us(ws->b->w, STEP_US);
        waited_us += STEP_US;
    } while (!all && waited_us < PATIENCE_US);
}

static const char *wrong_of_judge(const struct watcher *w, const struct written *written)
{
    struct copy now;
    const char *wrong = NULL;

    if (w->deleted != written->deleted[w->kind])
        return "another number of deletions than there were";
    if (w->rvs.n != written->rvs[w->kind].n)
        return "another number of changes than there were";
    if (memcmp(w->rvs.v, written->rvs[w->kind].v, w->rvs.n * sizeof(w->rvs.v[0])) != 0)
        return "other revisions than the writers were told";
    copy_init(&now);
    (void)list(w->b, w->kind, BEGIN_WHOLE, &now);
    if (!copy_equal(&w->copy, &now))
        wrong = "list and watch do not add up to what a list says now";
    copy_fini(&now);
    return wrong;
}

static const char *wrong_of_other(const struct watcher *w, const struct watcher *judge)
{
    if (w->lines.n != judge->lines.n || memcmp(w->lines.v, judge->lines.v, w->lines.n * sizeof(w->lines.v[0])) != 0)
        return "was sent other events than the first watcher";
    return NULL;
}

void watchers_check(struct watchers *ws, const struct written *written, struct sb *ret)
{
    struct watcher *v = ws->v;

    fiber_sleep_us(ws->b->w, QUIET_US);
    for (uint32_t i = 0; i < ws->n; i++) {
        const char *wrong = v[i].wrong;

        if (!wrong)
            wrong = v[i].judge ? wrong_of_judge(&v[i], written) : wrong_of_other(&v[i], &v[i % N_KINDS]);
        if (wrong)
            sb_printf(ret, "watcher %u of %s (%u events, %u + %u writes): %s\n", i / N_KINDS + 1, kind_path(v[i].kind),
                      v[i].lines.n, written->rvs[v[i].kind].n, written->deleted[v[i].kind], wrong);
    }
}

uint64_t watchers_events(const struct watchers *ws)
{
    uint64_t n = 0;

    for (uint32_t i = 0; i < ws->n; i++)
        n += ws->v[i].lines.n;
    return n;
}

uint64_t watchers_bytes(const struct watchers *ws)
{
    uint64_t n = 0;

    for (uint32_t i = 0; i < ws->n; i++)
        n += ws->v[i].bytes;
    return n;
}

void watchers_free(struct watchers *ws)
{
    for (uint32_t i = 0; i < ws->n; i++) {
        struct watcher *w = &ws->v[i];

        while (!w->ended)
            fiber_sleep_us(ws->b->w, STEP_US);
        copy_fini(&w->copy);
        vec_fini(&w->rvs);
        vec_fini(&w->lines);
        sb_fini(&w->part);
        arena_free(w->tmp);
    }
    free(ws->v);
    free(ws);
}
