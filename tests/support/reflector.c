#include "support/reflector.h"

#include "data/reader.h"
#include "net/fiber.h"
#include "net/http.h"

#define SECOND_US INT64_C(1000000)

/* ---- the copy ---- */

static uint32_t place(const struct reflector *r, str key, bool *ret_there)
{
    uint32_t lo = 0, hi = r->items.n;

    while (lo < hi) {
        uint32_t mid = (lo + hi) / 2;

        if (str_cmp(str_c(r->items.v[mid].key), key) < 0)
            lo = mid + 1;
        else
            hi = mid;
    }
    *ret_there = lo < r->items.n && str_is(key, r->items.v[lo].key);
    return lo;
}

static void put(struct reflector *r, str key, uint64_t rv)
{
    bool there;
    uint32_t at = place(r, key, &there);

    if (!there) {
        char *copy = xcalloc(1, key.n + 1);

        memcpy(copy, key.p, key.n);
        vec_push(&r->items, (struct reflected){0});
        memmove(r->items.v + at + 1, r->items.v + at, (r->items.n - 1 - at) * sizeof(r->items.v[0]));
        r->items.v[at].key = copy;
    }
    r->items.v[at].rv = rv;
}

static void drop(struct reflector *r, str key)
{
    bool there;
    uint32_t at = place(r, key, &there);

    if (!there)
        return;
    free(r->items.v[at].key);
    memmove(r->items.v + at, r->items.v + at + 1, (--r->items.n - at) * sizeof(r->items.v[0]));
}

static void clear(struct reflector *r)
{
    for (uint32_t i = 0; i < r->items.n; i++)
        free(r->items.v[i].key);
    r->items.n = 0;
}

void reflector_fini(struct reflector *r)
{
    clear(r);
    vec_fini(&r->items);
}

static uint64_t rv_of(const struct tree *obj)
{
    int64_t v = 0;

    (void)str_to_i64(tree_str(tree_at(obj, "metadata", "resourceVersion", NULL)), &v);
    return (uint64_t)v;
}

static str key_of(struct arena *a, const struct tree *obj)
{
    str ns = tree_str(tree_at(obj, "metadata", "namespace", NULL)),
        name = tree_str(tree_at(obj, "metadata", "name", NULL));

    return arena_printf(a, STR_FMT "/" STR_FMT, STR_ARG(ns), STR_ARG(name));
}

/* ---- list ---- */

/* One page; *token is that of the next, empty at the end. */
static bool list_page(struct reflector *r, struct arena *a, str *token)
{
    struct http_response answer;
    const struct tree *t;
    struct err e;
    str url = arena_printf(a, "%s?%s&limit=%u&continue=" STR_FMT, r->url, r->query, r->limit, STR_ARG(*token));
    struct http_request q = {.url = url, .timeout_us = 30 * SECOND_US};

    if (!http_fetch(r->world, &q, a, &answer, &e) || answer.status != 200 ||
        !tree_parse_json(a, "list", answer.body, &t, &e))
        return false;
    const struct tree *items = tree_get(t, "items");
    for (uint32_t i = 0; items && i < items->n; i++)
        put(r, key_of(a, &items->items[i]), rv_of(&items->items[i]));
    if (r->rv && rv_of(t) != r->rv)
        r->wrong = "pages of one list are of different moments";
    r->rv = rv_of(t);
    *token = tree_str(tree_at(t, "metadata", "continue", NULL));
    return true;
}

static bool list(struct reflector *r)
{
    AUTO(arena) struct arena *a = arena_new(0);
    str token = {0};

    clear(r);
    r->rv = 0;
    r->n_lists++;
    do {
        if (!list_page(r, a, &token))
            return false;
    } while (token.n);
    return true;
}

/* ---- watch ---- */

struct watching {
    struct reflector *r;
    bool initial; /* the copy is being filled by the watch */
    bool gone;    /* 410: list again */
};

static void on_event(struct watching *w, const struct tree *t, struct arena *a)
{
    struct reflector *r = w->r;
    const struct tree *obj = tree_get(t, "object");
    str type = tree_str(tree_get(t, "type")), key = key_of(a, obj);
    uint64_t rv = rv_of(obj);
    bool there;
    uint32_t at = place(r, key, &there);

    r->n_events++;
    if (str_is(type, "ERROR")) {
        w->gone = true;
        return;
    }
    if (!w->initial && rv < r->rv)
        r->wrong = "a watch goes back in time";
    if (str_is(type, "BOOKMARK")) {
        w->initial = w->initial && tree_at(obj, "metadata", "annotations", NULL) == NULL;
    } else if (str_is(type, "DELETED")) {
        drop(r, key);
    } else {
        if (there && r->items.v[at].rv > rv)
            r->wrong = "an object goes back in time";
        put(r, key, rv);
    }
    if (!w->initial)
        r->rv = rv;
}

static bool on_bytes(struct watching *w, struct sb *buf)
{
    str rest = sb_view(buf), line;

    while (str_cut(rest, '\n', &line, &rest)) {
        AUTO(arena) struct arena *a = arena_new(0);
        const struct tree *t;
        struct err e;

        if (!tree_parse_json(a, "event", line, &t, &e)) {
            w->r->wrong = "an event that cannot be read";
            return false;
        }
        on_event(w, t, a);
        if (w->gone)
            return false;
    }
    struct sb left = {0};
    sb_str(&left, rest);
    sb_fini(buf);
    *buf = left;
    return true;
}

/* true: go on from r->rv; false: list again. */
static bool watch(struct reflector *r)
{
    AUTO(arena) struct arena *a = arena_new(0);
    struct watching w = {.r = r, .initial = r->stream_list && r->rv == 0};
    struct http_response head;
    struct sb buf = {0};
    struct err e;
    str bytes;
    str from = arena_printf(a, "resourceVersion=%llu", (unsigned long long)r->rv);

    if (w.initial) {
        from = STR("sendInitialEvents=true&resourceVersionMatch=NotOlderThan");
        clear(r);
    }
    struct http_request q = {.url =
                                 arena_printf(a, "%s?%s&watch=1&allowWatchBookmarks=true&timeoutSeconds=300&" STR_FMT,
                                              r->url, r->query, STR_ARG(from)),
                             .idle_timeout_us = 150 * SECOND_US};
    struct http_stream *s = http_open(r->world, &q, a, &head, &e);
    r->n_watches++;
    if (!s)
        return !w.initial;
    bool ok = head.status == 200;
    while (ok && !r->stop && http_read(s, &bytes, &e) && bytes.n) {
        sb_str(&buf, bytes);
        ok = on_bytes(&w, &buf);
    }
    http_close(s);
    sb_fini(&buf);
    if (w.initial)
        r->rv = 0;
    return !w.initial && !w.gone && head.status != 410;
}

static void run(void *arg)
{
    struct reflector *r = arg;
    bool listed = false;

    while (!r->stop && !r->wrong && !world_dead(r->world)) {
        if (!listed && !r->stream_list)
            listed = list(r);
        else if (!listed)
            r->rv = 0;
        if (listed || r->stream_list)
            listed = watch(r);
        fiber_sleep_us(r->world, SECOND_US / 2); /* whatever it was: not at once */
    }
    r->stopped = true;
}

void reflector_go(struct reflector *r)
{
    fiber_go(r->world, "reflector", run, r);
}
