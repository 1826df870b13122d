/* Who makes claims of which pool. Numbers rise with every plan and with every claim, when somebody begins to make it and when that is over, so that it can be told which was first: a plan that is
 * made in between does not know of the claim either. */
#include <stdlib.h>

#include "state/store_int.h"

static struct maker *maker_of(const struct store *s, str pool)
{
    for (uint32_t i = 0; i < s->makers.n; i++)
        if (str_eq(s->makers.v[i].pool, pool))
            return &s->makers.v[i];
    return NULL;
}

uint64_t store_plan_number(struct store *s)
{
    return ++s->last_number;
}

bool store_may_make(const struct store *s, str pool, uint64_t plan, int64_t now_us)
{
    const struct maker *m = maker_of(s, pool);

    if (!m)
        return plan > s->forgotten;
    return m->plan == plan || (m->n == 0 && plan > m->latest && now_us >= m->closed_until_us);
}

/* Pools come and go. What is forgotten of one that went counts for all that are not known. */
static void forget_gone(struct store *s)
{
    uint32_t n = 0;

    for (uint32_t i = 0; i < s->makers.n; i++) {
        struct maker m = s->makers.v[i];

        if (m.n || store_pool(s, m.pool)) {
            s->makers.v[n++] = m;
            continue;
        }
        s->forgotten = MAX(s->forgotten, m.latest);
        free((char *)m.pool.p);
    }
    s->makers.n = n;
}

void store_make_begin(struct store *s, str pool, uint64_t plan)
{
    struct maker *m = maker_of(s, pool);

    if (!m) {
        char *name = xmalloc(pool.n);

        forget_gone(s);
        memcpy(name, pool.p, pool.n);
        m = vec_add(&s->makers);
        *m = (struct maker){.pool = {name, pool.n}, .closed_until_us = INT64_MIN};
    }
    m->plan = plan;
    m->latest = ++s->last_number;
    m->n++;
}

void store_make_end(struct store *s, str pool, int64_t closed_until_us)
{
    struct maker *m = maker_of(s, pool);

    assert(m && m->n);
    m->n--;
    m->latest = ++s->last_number;
    m->closed_until_us = MAX(m->closed_until_us, closed_until_us);
}

void makers_fini(struct store *s)
{
    for (uint32_t i = 0; i < s->makers.n; i++)
        free((char *)s->makers.v[i].pool.p);
    vec_fini(&s->makers);
}
