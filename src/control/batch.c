/* Windows of triggers: open, busy with a round, or neither. */
#include "control/batch.h"

static void close_window(void *ctx)
{
    struct batch *b = ctx;

    b->open = false;
    b->busy = true;
    u64map_clear(&b->seen);
    b->on_close(b->ctx);
}

void batch_init(struct batch *b, struct world *w, int64_t idle_ms, int64_t max_ms, void (*on_close)(void *ctx),
                void *ctx)
{
    *b = (struct batch){
        .world = w, .idle_us = idle_ms * 1000, .max_us = max_ms * 1000, .on_close = on_close, .ctx = ctx};
    b->timer = (struct timer){.fn = close_window, .ctx = b};
}

void batch_fini(struct batch *b)
{
    timer_stop(b->world, &b->timer);
    u64map_fini(&b->seen);
}

static void extend(struct batch *b)
{
    int64_t now = world_mono_us(b->world);

    if (!b->open) {
        b->open = true;
        b->opened_us = now;
    }
    timer_set(b->world, &b->timer, MAX(0, MIN(b->idle_us, b->opened_us + b->max_us - now)));
}

void batch_trigger(struct batch *b, str id)
{
    uint64_t key = hash_bytes(id.p, id.n, 0);

    if (u64map_get(&b->seen, key) != MAP_NONE)
        return;
    u64map_put(&b->seen, key, 0);
    if (b->busy)
        b->waiting = true;
    else
        extend(b);
}

void batch_done(struct batch *b)
{
    b->busy = false;
    if (b->waiting)
        extend(b);
    b->waiting = false;
}
