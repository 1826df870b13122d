/* batch - waits for pods to stop coming before a round of provisioning begins (scheduling 8.4).
 *
 * The first trigger opens a window. It closes when nothing new has come for the idle time, at the latest after the maximum. While the round that
 * follows is under way triggers are remembered; the next window opens when it has ended. What triggered before in the same window counts once.
 */
#pragma once

#include "base/map.h"
#include "net/world.h"

struct batch {
    struct world *world;
    int64_t idle_us, max_us;
    void (*on_close)(void *ctx); /* a round is due; it ends with batch_done() */
    void *ctx;

    /* private */
    struct timer timer;
    struct u64map seen; /* hashes of what triggered in this window */
    int64_t opened_us;
    bool open, busy, waiting;
};

void batch_init(struct batch *b, struct world *w, int64_t idle_ms, int64_t max_ms, void (*on_close)(void *ctx),
                void *ctx);
void batch_fini(struct batch *b);
void batch_trigger(struct batch *b, str id);
void batch_done(struct batch *b);
