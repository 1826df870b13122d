/* batch - calls that wait for company: equal requests of many fibers become one (aws 3.3).
 *
 * The first request opens a window; each further one keeps it open for a while, up to a limit of time and of number. When it closes, the requests with one key are
 * carried out together, on a fiber of their own; at most EC2_BATCH_WORKERS of those run at a time. A request belongs to the fiber that waits for it.
 */
#pragma once

#include "base/str.h"
#include "net/fiber.h"

#define EC2_BATCH_WORKERS 100

struct ec2_batch;

struct ec2_batch_rules {
    const char *name; /* "create_fleet"; for metrics */
    int64_t idle_us, max_us;
    uint32_t max_items;
    /* Carries out all of them, which have one key; parks. Each request says itself what came of it. */
    void (*run)(void *ctx, void **requests, uint32_t n);
    void *ctx;
    /* Told of every run: how many requests, how long the window was open. May be NULL. */
    void (*observed)(void *ctx, const char *name, uint32_t n, int64_t window_us);
    void *observed_ctx;
};

struct ec2_batch *ec2_batch_new(struct world *w, const struct ec2_batch_rules *r); /* copied */
void ec2_batch_free(struct ec2_batch *b);                                          /* nobody waits any more */

/* From a fiber: parks until the request was carried out. false: the world has died before that. */
bool ec2_batch_ask(struct ec2_batch *b, str key, void *request);
