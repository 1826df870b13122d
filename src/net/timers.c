#include "net/timers.h"

#define ARITY 4u

static bool before(const struct timer_slot *a, const struct timer_slot *b)
{
    return a->due_us != b->due_us ? a->due_us < b->due_us : a->seq < b->seq;
}

static void put(struct timers *ts, uint32_t at, struct timer_slot s)
{
    ts->heap.v[at] = s;
    s.t->at = at + 1;
}

static void sift_up(struct timers *ts, uint32_t at, struct timer_slot s)
{
    while (at > 0) {
        uint32_t parent = (at - 1) / ARITY;

        if (!before(&s, &ts->heap.v[parent]))
            break;
        put(ts, at, ts->heap.v[parent]);
        at = parent;
    }
    put(ts, at, s);
}

static void sift_down(struct timers *ts, uint32_t at, struct timer_slot s)
{
    for (;;) {
        uint32_t first = at * ARITY + 1, best = first;

        if (first >= ts->heap.n)
            break;
        for (uint32_t i = first + 1; i < MIN(first + ARITY, ts->heap.n); i++)
            if (before(&ts->heap.v[i], &ts->heap.v[best]))
                best = i;
        if (!before(&ts->heap.v[best], &s))
            break;
        put(ts, at, ts->heap.v[best]);
        at = best;
    }
    put(ts, at, s);
}

/* The slot at `at` is free: the last one takes its place. */
static void fill_hole(struct timers *ts, uint32_t at)
{
    struct timer_slot last = vec_last(&ts->heap);

    ts->heap.n--;
    if (at == ts->heap.n)
        return;
    if (at > 0 && before(&last, &ts->heap.v[(at - 1) / ARITY]))
        sift_up(ts, at, last);
    else
        sift_down(ts, at, last);
}

void timers_set(struct timers *ts, struct timer *t, struct world *owner, int64_t due_us)
{
    assert(t->fn);
    timers_stop(ts, t);
    t->due_us = due_us;
    (void)vec_add(&ts->heap);
    sift_up(ts, ts->heap.n - 1, (struct timer_slot){due_us, ts->seq++, t, owner});
}

void timers_stop(struct timers *ts, struct timer *t)
{
    if (t->at == 0)
        return;
    uint32_t at = t->at - 1;
    assert(at < ts->heap.n && ts->heap.v[at].t == t);
    t->at = 0;
    fill_hole(ts, at);
}

void timers_drop(struct timers *ts, const struct world *owner)
{
    uint32_t kept = 0;

    for (uint32_t i = 0; i < ts->heap.n; i++)
        if (ts->heap.v[i].owner == owner)
            ts->heap.v[i].t->at = 0;
        else
            ts->heap.v[kept++] = ts->heap.v[i];
    ts->heap.n = kept;
    for (uint32_t i = kept; i-- > 0;)
        sift_down(ts, i, ts->heap.v[i]);
}

void timers_fini(struct timers *ts)
{
    for (uint32_t i = 0; i < ts->heap.n; i++)
        ts->heap.v[i].t->at = 0;
    vec_fini(&ts->heap);
}

struct timer *timers_pop(struct timers *ts)
{
    struct timer *t = ts->heap.v[0].t;

    timers_stop(ts, t);
    return t;
}
