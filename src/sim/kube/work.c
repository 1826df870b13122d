/* A heap by due time, a table by key, and one timer for the earliest. One key is handed out per turn of the loop, so that
 * nobody starves. */
#include "sim/kube/work.h"

#include <stdlib.h>

#include "base/arena.h"
#include "base/map.h"
#include "base/vec.h"
#include "sim/kube/lookup.h"

struct item {
    int64_t due_us;
    uint64_t seq;
    uint32_t at; /* in the heap */
    str key;     /* behind the struct */
};

struct work {
    const char *name; /* for whoever looks at it in a debugger */
    struct world *world;
    work_fn fn;
    void *ctx;
    struct timer timer;
    VEC(struct item *) heap;
    struct lookup by_key;
    uint64_t seq;
};

static uint64_t hash_of(str key)
{
    return hash_bytes(key.p, key.n, 0);
}

static bool item_has(const void *item, const void *key)
{
    return str_eq(((const struct item *)item)->key, *(const str *)key);
}

static bool before(const struct item *a, const struct item *b)
{
    return a->due_us != b->due_us ? a->due_us < b->due_us : a->seq < b->seq;
}

static void put(struct work *q, uint32_t at, struct item *it)
{
    q->heap.v[at] = it;
    it->at = at;
}

static void rise(struct work *q, struct item *it)
{
    uint32_t at = it->at;

    for (; at > 0 && before(it, q->heap.v[(at - 1) / 2]); at = (at - 1) / 2)
        put(q, at, q->heap.v[(at - 1) / 2]);
    put(q, at, it);
}

static void sink(struct work *q, struct item *it)
{
    uint32_t at = it->at, n = q->heap.n;

    for (uint32_t child; (child = 2 * at + 1) < n; at = child) {
        if (child + 1 < n && before(q->heap.v[child + 1], q->heap.v[child]))
            child++;
        if (!before(q->heap.v[child], it))
            break;
        put(q, at, q->heap.v[child]);
    }
    put(q, at, it);
}

static void arm(struct work *q)
{
    if (q->heap.n == 0) {
        timer_stop(q->world, &q->timer);
        return;
    }
    int64_t wait_us = q->heap.v[0]->due_us - world_mono_us(q->world);
    if (timer_is_set(&q->timer) && q->timer.due_us <= q->heap.v[0]->due_us)
        return; /* it fires early enough, and finds the rest */
    timer_set(q->world, &q->timer, MAX(wait_us, INT64_C(0)));
}

static void take_out(struct work *q, struct item *it)
{
    struct item *last = q->heap.v[--q->heap.n];

    lookup_remove(&q->by_key, hash_of(it->key), it);
    if (last == it)
        return;
    put(q, it->at, last);
    rise(q, last);
    sink(q, last);
}

static void turn(void *ctx)
{
    struct work *q = ctx;

    if (q->heap.n && q->heap.v[0]->due_us <= world_mono_us(q->world)) {
        struct item *it = q->heap.v[0];

        take_out(q, it);
        arm(q); /* before the call: it may free what it likes, but not the queue */
        q->fn(q->ctx, it->key);
        free(it);
        return;
    }
    arm(q);
}

struct work *work_new(struct world *w, const char *name, work_fn fn, void *ctx)
{
    struct work *q = xcalloc(1, sizeof(*q));

    q->name = name;
    q->world = w;
    q->fn = fn;
    q->ctx = ctx;
    q->timer = (struct timer){.fn = turn, .ctx = q};
    q->by_key.has = item_has;
    return q;
}

void work_free(struct work *q)
{
    if (!q)
        return;
    timer_stop(q->world, &q->timer);
    for (uint32_t i = 0; i < q->heap.n; i++)
        free(q->heap.v[i]);
    vec_fini(&q->heap);
    lookup_fini(&q->by_key);
    free(q);
}

void work_add(struct work *q, str key)
{
    work_add_after(q, key, 0);
}

void work_add_after(struct work *q, str key, int64_t us)
{
    int64_t due_us = sat_add(world_mono_us(q->world), us);
    struct item *it = lookup_get(&q->by_key, hash_of(key), &key);

    if (it && it->due_us <= due_us)
        return;
    if (it) {
        it->due_us = due_us;
        it->seq = q->seq++;
        rise(q, it);
        arm(q);
        return;
    }
    it = xcalloc(1, sizeof(*it) + key.n);
    char *copy = (char *)(it + 1);
    if (key.n)
        memcpy(copy, key.p, key.n);
    *it = (struct item){.due_us = due_us, .seq = q->seq++, .at = q->heap.n, .key = {copy, key.n}};
    lookup_add(&q->by_key, hash_of(key), it);
    vec_push(&q->heap, it);
    rise(q, it);
    arm(q);
}

void work_remove(struct work *q, str key)
{
    struct item *it = lookup_get(&q->by_key, hash_of(key), &key);

    if (!it)
        return;
    take_out(q, it);
    free(it);
    arm(q);
}

uint32_t work_pending(const struct work *q)
{
    return q->heap.n;
}
