#include "cloud/ec2/batch.h"

#include <stdlib.h>

#include "base/arena.h"
#include "base/vec.h"

enum stage { WAITS, RUNS, DONE };

struct waiter { /* on the stack of its fiber */
    struct fiber *fiber;
    str key;
    void *request;
    enum stage stage;
};

struct bucket { /* requests with one key, on their way */
    struct ec2_batch *b;
    VEC(struct waiter *) waiters;
    int64_t window_us;
};

struct ec2_batch {
    struct world *world;
    struct ec2_batch_rules rules;
    struct timer idle, max;
    int64_t opened_us;
    VEC(struct waiter *) waiting; /* in the window that is open */
    VEC(struct bucket *) queue;   /* no worker is free for them */
    uint32_t n_running;
};

static void close_window(void *ctx);

struct ec2_batch *ec2_batch_new(struct world *w, const struct ec2_batch_rules *r)
{
    struct ec2_batch *b = xcalloc(1, sizeof(*b));

    b->world = w;
    b->rules = *r;
    b->idle = b->max = (struct timer){.fn = close_window, .ctx = b};
    return b;
}

void ec2_batch_free(struct ec2_batch *b)
{
    if (!b)
        return;
    assert(b->waiting.n == 0 && b->queue.n == 0 && b->n_running == 0);
    timer_stop(b->world, &b->idle);
    timer_stop(b->world, &b->max);
    vec_fini(&b->waiting);
    vec_fini(&b->queue);
    free(b);
}

/* ---- carrying out ---- */

static void bucket_free(struct bucket *k)
{
    vec_fini(&k->waiters);
    free(k);
}

static void carry_out(struct bucket *k)
{
    struct ec2_batch *b = k->b;
    VEC(void *) requests = {0};

    for (uint32_t i = 0; i < k->waiters.n; i++)
        vec_push(&requests, k->waiters.v[i]->request);
    if (b->rules.observed)
        b->rules.observed(b->rules.observed_ctx, b->rules.name, requests.n, k->window_us);
    b->rules.run(b->rules.ctx, requests.v, requests.n);
    vec_fini(&requests);
    for (uint32_t i = 0; i < k->waiters.n; i++) {
        k->waiters.v[i]->stage = DONE;
        fiber_wake(k->waiters.v[i]->fiber);
    }
}

static void work(void *arg)
{
    struct bucket *k = arg;
    struct ec2_batch *b = k->b;

    for (;;) {
        carry_out(k);
        bucket_free(k);
        if (b->queue.n == 0)
            break;
        k = b->queue.v[0];
        memmove(b->queue.v, b->queue.v + 1, --b->queue.n * sizeof(struct bucket *));
    }
    b->n_running--;
}

static void hand_out(struct ec2_batch *b, struct bucket *k)
{
    if (b->n_running >= EC2_BATCH_WORKERS) {
        vec_push(&b->queue, k);
        return;
    }
    b->n_running++;
    fiber_go(b->world, b->rules.name, work, k);
}

/* ---- the window ---- */

static struct bucket *take_bucket(struct ec2_batch *b)
{
    struct bucket *k = xcalloc(1, sizeof(*k));
    str key = b->waiting.v[0]->key;
    uint32_t kept = 0;

    k->b = b;
    for (uint32_t i = 0; i < b->waiting.n; i++) {
        struct waiter *w = b->waiting.v[i];

        if (str_eq(w->key, key)) {
            w->stage = RUNS;
            vec_push(&k->waiters, w);
        } else {
            b->waiting.v[kept++] = w;
        }
    }
    b->waiting.n = kept;
    return k;
}

static void close_window(void *ctx)
{
    struct ec2_batch *b = ctx;
    int64_t window_us = world_mono_us(b->world) - b->opened_us;

    timer_stop(b->world, &b->idle);
    timer_stop(b->world, &b->max);
    while (b->waiting.n) {
        struct bucket *k = take_bucket(b);

        k->window_us = window_us;
        hand_out(b, k);
    }
}

static void leave(struct ec2_batch *b, const struct waiter *w)
{
    for (uint32_t i = 0; i < b->waiting.n; i++)
        if (b->waiting.v[i] == w) {
            memmove(&b->waiting.v[i], &b->waiting.v[i + 1], (--b->waiting.n - i) * sizeof(struct waiter *));
            return;
        }
}

bool ec2_batch_ask(struct ec2_batch *b, str key, void *request)
{
    struct waiter w = {.fiber = fiber_self(), .key = key, .request = request};

    if (world_dead(b->world))
        return false;
    if (b->waiting.n == 0) {
        b->opened_us = world_mono_us(b->world);
        timer_set(b->world, &b->max, b->rules.max_us);
    }
    vec_push(&b->waiting, &w);
    if (b->waiting.n >= b->rules.max_items)
        close_window(b);
    else
        timer_set(b->world, &b->idle, b->rules.idle_us);
    while (w.stage != DONE) {
        fiber_park();
        if (w.stage == WAITS && world_dead(b->world)) { /* its window will never close */
            leave(b, &w);
            return false;
        }
    }
    return true;
}
