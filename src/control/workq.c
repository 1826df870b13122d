/* An item lives while it is ready, busy or due later; its back-off goes with it. That loses nothing: whoever fails is due later, and whoever succeeds has no back-off. */
#include "control/workq.h"

#include <stdlib.h>

#include "base/arena.h"

/* ---- the heap of times ---- */

static bool earlier(const struct workq_item *a, const struct workq_item *b)
{
    return a->due_us != b->due_us ? a->due_us < b->due_us : a->seq < b->seq;
}

static void heap_put(struct workq *q, uint32_t at, struct workq_item *it)
{
    q->later.v[at] = it;
    it->heap_at = at + 1;
}

static void heap_up(struct workq *q, uint32_t at, struct workq_item *it)
{
    for (; at > 0 && earlier(it, q->later.v[(at - 1) / 2]); at = (at - 1) / 2)
        heap_put(q, at, q->later.v[(at - 1) / 2]);
    heap_put(q, at, it);
}

static void heap_down(struct workq *q, uint32_t at, struct workq_item *it)
{
    for (uint32_t kid; (kid = 2 * at + 1) < q->later.n; at = kid) {
        if (kid + 1 < q->later.n && earlier(q->later.v[kid + 1], q->later.v[kid]))
            kid++;
        if (!earlier(q->later.v[kid], it))
            break;
        heap_put(q, at, q->later.v[kid]);
    }
    heap_put(q, at, it);
}

static void heap_remove(struct workq *q, struct workq_item *it)
{
    uint32_t at = it->heap_at - 1;
    struct workq_item *last = vec_last(&q->later);

    q->later.n--;
    it->heap_at = 0;
    if (last == it)
        return;
    if (at > 0 && earlier(last, q->later.v[(at - 1) / 2]))
        heap_up(q, at, last);
    else
        heap_down(q, at, last);
}

/* ---- lists ---- */

static void list_push(struct workq_list *l, struct workq_item *it)
{
    it->prev = l->last;
    it->next = NULL;
    *(l->last ? &l->last->next : &l->first) = it;
    l->last = it;
    l->n++;
}

static void list_remove(struct workq_list *l, struct workq_item *it)
{
    *(it->prev ? &it->prev->next : &l->first) = it->next;
    *(it->next ? &it->next->prev : &l->last) = it->prev;
    it->prev = it->next = NULL;
    l->n--;
}

/* ---- the queue ---- */

static void set_alarm(struct workq *q)
{
    if (q->later.n == 0)
        timer_stop(q->w, &q->alarm);
    else if (!timer_is_set(&q->alarm) || q->alarm.due_us != q->later.v[0]->due_us)
        timer_set(q->w, &q->alarm, MAX(0, q->later.v[0]->due_us - world_mono_us(q->w)));
}

/* It is wanted as soon as can be. */
static void make_ready(struct workq *q, struct workq_item *it)
{
    if (it->heap_at)
        heap_remove(q, it);
    if (it->busy) {
        q->n_added += !it->again;
        it->again = true;
        return;
    }
    if (it->ready)
        return;
    it->ready = true;
    it->since_us = world_mono_us(q->w);
    q->n_added++;
    list_push(&q->ready, it);
    q->on_ready(q->ctx);
}

static void rings(void *ctx)
{
    struct workq *q = ctx;
    int64_t now_us = world_mono_us(q->w);

    while (q->later.n > 0 && q->later.v[0]->due_us <= now_us)
        make_ready(q, q->later.v[0]);
    set_alarm(q);
}

void workq_init(struct workq *q, struct world *w, const struct limiter_spec *limit, void (*on_ready)(void *ctx),
                void *ctx)
{
    *q = (struct workq){.w = w, .limit = *limit, .on_ready = on_ready, .ctx = ctx};
    q->bucket = (struct bucket){.qps = limit->qps, .burst = limit->burst, .at_us = world_mono_us(w)};
    q->alarm = (struct timer){.fn = rings, .ctx = q};
}

void workq_fini(struct workq *q)
{
    struct htab_walk walk = {0};

    assert(q->busy.n == 0);
    timer_stop(q->w, &q->alarm);
    for (struct htab_node *n; (n = htab_next(&q->items, &walk));)
        free(HTAB_THING(n, struct workq_item, node));
    htab_fini(&q->items);
    vec_fini(&q->later);
    sb_fini(&q->key);
}

static struct workq_item *item(struct workq *q, str ns, str name)
{
    struct workq_item *it;
    str key;

    sb_reset(&q->key);
    sb_str(&q->key, ns);
    sb_char(&q->key, '/');
    sb_str(&q->key, name);
    key = sb_view(&q->key);
    it = HTAB_THING(htab_get(&q->items, key), struct workq_item, node);
    if (it)
        return it;
    it = xcalloc(1, sizeof(*it) + key.n);
    memcpy(it + 1, key.p, key.n);
    it->node.key = (str){(char *)(it + 1), key.n};
    it->n_ns = (uint32_t)ns.n;
    htab_put(&q->items, &it->node);
    return it;
}

static void add_later(struct workq *q, struct workq_item *it, int64_t us)
{
    int64_t due_us = sat_add(world_mono_us(q->w), us);

    if (us <= 0) {
        make_ready(q, it);
        set_alarm(q);
        return;
    }
    if (it->ready || it->again || (it->heap_at && it->due_us <= due_us))
        return;
    if (it->heap_at)
        heap_remove(q, it);
    it->due_us = due_us;
    it->seq = q->seq++;
    (void)vec_add(&q->later);
    heap_up(q, q->later.n - 1, it);
    set_alarm(q);
}

void workq_add(struct workq *q, str ns, str name)
{
    add_later(q, item(q, ns, name), 0);
}

void workq_add_after(struct workq *q, str ns, str name, int64_t us)
{
    add_later(q, item(q, ns, name), us);
}

struct workq_item *workq_take(struct workq *q)
{
    struct workq_item *it = q->ready.first;

    if (!it)
        return NULL;
    list_remove(&q->ready, it);
    it->ready = false;
    it->busy = true;
    list_push(&q->busy, it);
    return it;
}

void workq_forget(UNUSED struct workq *q, struct workq_item *it)
{
    it->n_failed = 0;
}

void workq_again_after(struct workq *q, struct workq_item *it, int64_t us)
{
    workq_forget(q, it);
    add_later(q, it, us);
}

/* base * 2^n, at most max. */
static int64_t backoff_us(const struct limiter_spec *l, uint32_t n)
{
    int64_t us = l->base_us;

    while (n-- > 0 && us < l->max_us)
        us = sat_mul(us, 2);
    return MIN(us, l->max_us);
}

void workq_again_limited(struct workq *q, struct workq_item *it)
{
    int64_t own_us = backoff_us(&q->limit, it->n_failed++);
    int64_t shared_us = bucket_reserve_us(&q->bucket, world_mono_us(q->w));

    q->n_retried++;
    add_later(q, it, MAX(own_us, shared_us));
}

void workq_done(struct workq *q, struct workq_item *it)
{
    list_remove(&q->busy, it);
    it->busy = false;
    if (it->again) {
        it->again = false;
        q->n_added--; /* counted when it was asked for */
        make_ready(q, it);
    } else if (!it->heap_at) {
        htab_del(&q->items, &it->node);
        free(it);
    }
}
