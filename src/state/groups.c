#include "state/groups.h"

#include <stdlib.h>

#include "base/arena.h"

static uint64_t hash(const void *owner, uint32_t ix)
{
    return hash_mix(0, ((const struct groups *)owner)->all.v[ix].key);
}

static bool has(const void *owner, uint32_t ix, const void *key)
{
    return ((const struct groups *)owner)->all.v[ix].key == *(const uint64_t *)key;
}

static const struct ixset_keys keys = {hash, has};

void groups_fini(struct groups *g)
{
    for (uint32_t i = 0; i < g->all.n; i++)
        free(g->all.v[i].v);
    vec_fini(&g->all);
    vec_fini(&g->spare);
    ixset_fini(&g->by_key);
}

static uint32_t find(const struct groups *g, uint64_t key)
{
    return ixset_get(&g->by_key, &keys, g, hash_mix(0, key), &key);
}

struct group *groups_get(const struct groups *g, uint64_t key)
{
    uint32_t ix = find(g, key);

    return ix == MAP_NONE ? NULL : &g->all.v[ix];
}

/* Where the member is, or belongs. */
static uint32_t place_of(const uint32_t *v, uint32_t n, uint32_t member)
{
    uint32_t lo = 0, hi = n;

    if (n && v[n - 1] < member)
        return n;
    while (lo < hi) {
        uint32_t mid = (lo + hi) / 2;

        if (v[mid] < member)
            lo = mid + 1;
        else
            hi = mid;
    }
    return lo;
}

void ascending_add(struct ascending *l, uint32_t member)
{
    uint32_t at = place_of(l->v, l->n, member);

    assert(at == l->n || l->v[at] != member);
    if (l->n == l->cap) {
        l->cap = l->cap ? l->cap + l->cap / 2 : 4;
        l->v = xrealloc(l->v, l->cap * sizeof(*l->v));
    }
    memmove(l->v + at + 1, l->v + at, (l->n - at) * sizeof(*l->v));
    l->v[at] = member;
    l->n++;
}

void ascending_remove(struct ascending *l, uint32_t member)
{
    uint32_t at = place_of(l->v, l->n, member);

    assert(at < l->n && l->v[at] == member);
    l->n--;
    memmove(l->v + at, l->v + at + 1, (l->n - at) * sizeof(*l->v));
    if (l->cap > 8 && l->n < l->cap / 4) {
        l->cap /= 2;
        l->v = xrealloc(l->v, l->cap * sizeof(*l->v));
    }
}

void groups_add(struct groups *g, uint64_t key, uint32_t member)
{
    uint32_t ix = find(g, key);

    if (ix == MAP_NONE) {
        if (g->spare.n) {
            ix = g->spare.v[--g->spare.n];
        } else {
            ix = g->all.n;
            (void)vec_add(&g->all);
        }
        g->all.v[ix] = (struct group){.key = key};
        ixset_add(&g->by_key, &keys, g, ix);
    }
    struct group *x = &g->all.v[ix];
    struct ascending l = {x->v, x->n, x->cap};
    ascending_add(&l, member);
    *x = (struct group){key, l.v, l.n, l.cap, MAP_NONE};
}

void groups_remove(struct groups *g, uint64_t key, uint32_t member)
{
    uint32_t ix = find(g, key);

    assert(ix != MAP_NONE);
    struct group *x = &g->all.v[ix];
    struct ascending l = {x->v, x->n, x->cap};
    ascending_remove(&l, member);
    *x = (struct group){key, l.v, l.n, l.cap, MAP_NONE};
    if (l.n)
        return;
    ixset_remove(&g->by_key, &keys, g, ix);
    free(l.v);
    *x = (struct group){0};
    vec_push(&g->spare, ix);
}

size_t groups_bytes(const struct groups *g)
{
    size_t n = g->all.cap * sizeof(*g->all.v) + g->spare.cap * sizeof(*g->spare.v) + ixset_bytes(&g->by_key);

    for (uint32_t i = 0; i < g->all.n; i++)
        n += g->all.v[i].cap * sizeof(uint32_t);
    return n;
}
