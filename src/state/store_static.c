/* How many claims a pool with replicas has, and how many more somebody is about to make. */
#include <stdlib.h>

#include "state/store_int.h"

/* A managed claim that is not launched, or is another's double, has no machine. */
static const struct host *host_of(const struct store *s, const struct object *x)
{
    return x->host == MAP_NONE ? NULL : &s->hosts.v[x->host];
}

struct pool_census store_pool_census(const struct store *s, str pool)
{
    const struct group *g = groups_get(&s->claims_of_pool, find_sym(s, pool).v);
    struct pool_census v = {0};

    for (uint32_t i = 0; g && i < g->n; i++) {
        const struct object *x = s->tables[OBJ_NODECLAIM].all.v[g->v[i]];
        const struct host *h = host_of(s, x);

        if (x->kept.deleted_ms != INT64_MIN || (h && s->nodes.v[x->host].deleting))
            v.deleting++;
        else if (h && h->pending)
            v.pending++;
        else
            v.active++;
    }
    return v;
}

static uint32_t reservation_of(const struct store *s, str pool)
{
    for (uint32_t i = 0; i < s->reservations.n; i++)
        if (str_eq(s->reservations.v[i].pool, pool))
            return i;
    return MAP_NONE;
}

int64_t store_room(const struct store *s, str pool, int64_t limit)
{
    uint32_t ix = reservation_of(s, pool);
    struct pool_census v = store_pool_census(s, pool);
    int64_t reserved = ix == MAP_NONE ? 0 : s->reservations.v[ix].n;

    return MAX(0, sat_sub(sat_sub(limit, reserved), (int64_t)v.active + v.pending + v.deleting));
}

int64_t store_reserve(struct store *s, str pool, int64_t limit, int64_t wanted)
{
    uint32_t ix = reservation_of(s, pool);
    int64_t n = MIN(wanted, store_room(s, pool, limit));

    if (n <= 0)
        return 0;
    if (ix == MAP_NONE) {
        char *name = xmalloc(pool.n);

        memcpy(name, pool.p, pool.n);
        ix = s->reservations.n;
        vec_push(&s->reservations, (struct reservation){.pool = {name, pool.n}});
    }
    s->reservations.v[ix].n += n;
    return n;
}

void store_release(struct store *s, str pool, int64_t n)
{
    uint32_t ix = reservation_of(s, pool);

    if (ix == MAP_NONE)
        return;
    s->reservations.v[ix].n -= n;
    if (s->reservations.v[ix].n > 0)
        return;
    free((char *)s->reservations.v[ix].pool.p);
    s->reservations.v[ix] = s->reservations.v[--s->reservations.n];
}

void reservations_fini(struct store *s)
{
    for (uint32_t i = 0; i < s->reservations.n; i++)
        free((char *)s->reservations.v[i].pool.p);
    vec_fini(&s->reservations);
}
