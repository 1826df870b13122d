/* workq - the names that a controller still has to look at: each once, some of them later.
 *
 * A name is in one place at a time: ready, or due later, or neither; and it may be worked on at the same time. A name that is asked for now is not asked for later any
 * more; of two times the earlier counts. What is asked for while it is worked on waits until that is done. A queue belongs to its manager.
 */
#pragma once

#include "base/bucket.h"
#include "base/htab.h"
#include "base/sb.h"
#include "base/vec.h"
#include "control/manager.h"

struct workq_item {
    struct htab_node node;          /* key: "namespace/name" */
    struct workq_item *prev, *next; /* among the ready ones, or among those worked on */
    int64_t due_us;                 /* when it is due, while it is in the heap */
    uint64_t seq;                   /* breaks ties between equal times */
    int64_t since_us;               /* ready since, or worked on since */
    uint32_t heap_at;               /* place in the heap + 1; 0: not in it */
    uint32_t n_failed;              /* times in a row: the exponent of the back-off */
    uint32_t n_ns;                  /* length of the namespace in the key */
    bool ready, busy;
    bool again; /* asked for while busy: ready when done */
};

struct workq_list {
    struct workq_item *first, *last;
    uint32_t n;
};

struct workq {
    struct world *w;
    struct limiter_spec limit;
    struct bucket bucket;
    struct htab items;
    struct workq_list ready, busy;
    struct sb key;                  /* scratch */
    VEC(struct workq_item *) later; /* a heap by time */
    uint64_t seq;
    uint64_t n_added, n_retried;
    struct timer alarm; /* for the first of them */
    void (*on_ready)(void *ctx);
    void *ctx;
};

void workq_init(struct workq *q, struct world *w, const struct limiter_spec *limit, void (*on_ready)(void *ctx),
                void *ctx);
void workq_fini(struct workq *q); /* nothing may be busy */

void workq_add(struct workq *q, str ns, str name);
void workq_add_after(struct workq *q, str ns, str name, int64_t us);

/* The next ready name, which is busy from now on; NULL when there is none. */
struct workq_item *workq_take(struct workq *q);
/* For busy ones, before they are done. */
void workq_again_after(struct workq *q, struct workq_item *it, int64_t us); /* and the back-off starts anew */
void workq_again_limited(struct workq *q, struct workq_item *it);
void workq_forget(struct workq *q, struct workq_item *it); /* the back-off starts anew */
void workq_done(struct workq *q, struct workq_item *it);

static inline str workq_ns(const struct workq_item *it)
{
    return str_sub(it->node.key, 0, it->n_ns);
}

static inline str workq_name(const struct workq_item *it)
{
    return str_sub(it->node.key, it->n_ns + 1, it->node.key.n);
}
