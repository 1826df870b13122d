/* groups - lists of numbers by a key: the pods on a node, the claims of a pool. Inner header of state/.
 *
 * Each list ascends, so that it does not matter in which order its members came. A list that runs empty is gone.
 */
#pragma once

#include "base/ixset.h"
#include "base/vec.h"

struct group {
    uint64_t key;
    uint32_t *v;
    uint32_t n, cap;
    uint32_t head; /* the owner's: MAP_NONE after every change that may concern it, that is after one of members */
};

struct groups {
    VEC(struct group) all;
    VEC(uint32_t) spare;
    struct ixset by_key;
};

void groups_fini(struct groups *g);
/* NULL when nobody is there; good until the next change. Only `head` may be written. */
struct group *groups_get(const struct groups *g, uint64_t key);
void groups_add(struct groups *g, uint64_t key, uint32_t member);    /* it is not there yet */
void groups_remove(struct groups *g, uint64_t key, uint32_t member); /* it is there */
size_t groups_bytes(const struct groups *g);

/* The same on one list that ascends. */
struct ascending {
    uint32_t *v;
    uint32_t n, cap;
};

void ascending_add(struct ascending *l, uint32_t member);
void ascending_remove(struct ascending *l, uint32_t member);
