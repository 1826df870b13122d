/* The window of revisions, and those who watch.
 *
 * The window is a ring of changes in order of their revision, bounded in number, age and bytes. A watch first gets what the
 * window has after its revision, then every change as it happens. A watch that ends while watches are being told is only marked, and
 * freed afterwards. */
#include <stdio.h>
#include <stdlib.h>

#include "sim/kube/kube_int.h"

#define WINDOW_REVISIONS 20000u
#define WINDOW_US (300 * INT64_C(1000000))
#define WINDOW_BYTES ((size_t)32 << 20)

struct watch {
    struct kube *k;
    const struct kind *kind;
    str ns; /* behind the struct; empty: all */
    watch_fn fn;
    void (*on_dropped)(void *ctx);
    void *ctx;
    bool ended;
    struct watch *next, *prev;
};

/* ---- the window ---- */

static struct logged *at(const struct watchlog *l, uint32_t i)
{
    return &l->ring[(l->first + i) & (l->cap - 1)];
}

/* Both sides: what was before is held for this change alone, more often than not. */
static size_t weight(const struct logged *e)
{
    return revision_of(e->obj)->bytes + (e->old ? revision_of(e->old)->bytes : 0);
}

static void forget_first(struct watchlog *l)
{
    struct logged *e = at(l, 0);

    l->forgotten = e->obj->rv;
    l->bytes -= weight(e);
    object_unref(e->old);
    object_unref(e->obj);
    l->first = (l->first + 1) & (l->cap - 1);
    l->n--;
}

static void grow(struct watchlog *l)
{
    uint32_t cap = l->cap ? l->cap * 2 : 256;
    struct logged *ring = xmalloc(cap * sizeof(*ring));

    for (uint32_t i = 0; i < l->n; i++)
        ring[i] = *at(l, i);
    free(l->ring);
    l->ring = ring;
    l->cap = cap;
    l->first = 0;
}

static void trim(struct kube *k, int64_t now_us)
{
    struct watchlog *l = &k->log;
    uint32_t most = k->options.window ? k->options.window : WINDOW_REVISIONS;
    int64_t age_us = k->options.window_us ? k->options.window_us : WINDOW_US;

    while (l->n > most || (l->n && (l->bytes > WINDOW_BYTES || at(l, 0)->at_us < now_us - age_us)))
        forget_first(l);
}

void watchlog_forget(struct kube *k)
{
    while (k->log.n)
        forget_first(&k->log);
    k->log.forgotten = k->rv;
}

/* ---- those who watch ---- */

static bool concerns(const struct watch *w, const struct object *o)
{
    return w->kind == o->kind && (w->ns.n == 0 || str_eq(w->ns, o->ns));
}

static void unlink_watch(struct watch *w)
{
    struct watchlog *l = &w->k->log;

    *(w->prev ? &w->prev->next : &l->watches) = w->next;
    *(w->next ? &w->next->prev : &l->last_watch) = w->prev;
    free(w);
}

static void sweep(struct watchlog *l)
{
    struct watch *next;

    for (struct watch *w = l->watches; w; w = next) {
        next = w->next;
        if (w->ended)
            unlink_watch(w);
    }
}

static void tell(struct kube *k, const struct logged *e)
{
    struct watchlog *l = &k->log;
    bool ended = false;

    l->telling++;
    for (struct watch *w = l->watches; w; w = w->next) {
        if (!w->ended && concerns(w, e->obj))
            w->fn(w->ctx, e->type, e->old, e->obj);
        ended = ended || w->ended;
    }
    if (--l->telling == 0 && ended)
        sweep(l);
}

void watchlog_add(struct kube *k, enum watch_event type, const struct object *old, const struct object *obj)
{
    struct watchlog *l = &k->log;
    struct logged e = {type, old, obj, world_mono_us(k->world)};

    if (l->n == l->cap)
        grow(l);
    if (old)
        object_ref(old);
    object_ref(obj);
    *at(l, l->n++) = e;
    l->bytes += weight(&e);
    tell(k, &e);
    trim(k, e.at_us);
}

/* The first change after `since`. */
static uint32_t first_after(const struct watchlog *l, uint64_t since)
{
    uint32_t lo = 0, hi = l->n;

    while (lo < hi) {
        uint32_t mid = (lo + hi) / 2;

        if (at(l, mid)->obj->rv <= since)
            lo = mid + 1;
        else
            hi = mid;
    }
    return lo;
}

bool kube_watch(struct kube *k, struct arena *a, const struct kind *kind, str ns, uint64_t since, watch_fn fn,
                void *ctx, void (*on_dropped)(void *ctx), struct watch **ret, struct status *st)
{
    struct watchlog *l = &k->log;

    if (since > k->rv)
        return status_too_large_rv(a, st, since, k->rv);
    if (since < l->forgotten) {
        char why[96];

        (void)snprintf(why, sizeof(why), "too old resource version: %llu (%llu)", (unsigned long long)since,
                       (unsigned long long)l->forgotten);
        return status_gone(a, st, why);
    }
    struct watch *w = xcalloc(1, sizeof(*w) + ns.n);
    char *name = (char *)(w + 1);
    if (ns.n)
        memcpy(name, ns.p, ns.n);
    *w = (struct watch){
        .k = k, .kind = kind_stored(kind), .ns = {name, ns.n}, .fn = fn, .ctx = ctx, .on_dropped = on_dropped};
    w->prev = l->last_watch;
    *(w->prev ? &w->prev->next : &l->watches) = w;
    l->last_watch = w;
    *ret = w;

    l->telling++;
    for (uint32_t i = first_after(l, since); i < l->n && !w->ended; i++) {
        const struct logged *e = at(l, i);

        if (concerns(w, e->obj))
            fn(ctx, e->type, e->old, e->obj);
    }
    if (--l->telling == 0 && w->ended)
        unlink_watch(w);
    return true;
}

void kube_unwatch(struct watch *w)
{
    w->ended = true;
    if (w->k->log.telling == 0)
        unlink_watch(w);
}

void watchlog_drop(struct kube *k, const struct kind *kind)
{
    struct watchlog *l = &k->log;

    l->telling++;
    for (struct watch *w = l->watches; w; w = w->next)
        if (!w->ended && (!kind || w->kind == kind)) {
            w->ended = true;
            if (w->on_dropped)
                w->on_dropped(w->ctx);
        }
    if (--l->telling == 0)
        sweep(l);
}

void kube_drop_watches(struct kube *k)
{
    watchlog_drop(k, NULL);
}

void kube_compact(struct kube *k)
{
    watchlog_forget(k);
}

void watchlog_fini(struct kube *k)
{
    struct watchlog *l = &k->log;

    kube_drop_watches(k);
    watchlog_forget(k);
    free(l->ring);
}
