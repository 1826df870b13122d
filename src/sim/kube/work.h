/* work - what a component of the cluster has still to look at: keys, each at most once, each due at some time.
 *
 * A component subscribes to changes, adds keys, and gets them back one by one from the loop, when it may write. Keys that are
 * due at the same time come in the order in which they were added.
 */
#pragma once

#include "base/str.h"
#include "net/world.h"

struct work;

typedef void (*work_fn)(void *ctx, str key); /* the key is valid during the call */

struct work *work_new(struct world *w, const char *name, work_fn fn, void *ctx);
void work_free(struct work *q);
void work_add(struct work *q, str key);                   /* as soon as possible */
void work_add_after(struct work *q, str key, int64_t us); /* an earlier time wins over the one there is */
void work_remove(struct work *q, str key);
uint32_t work_pending(const struct work *q);
