/* Domains that pools could provide: the values of a key that instance types and pools name (scheduling 13.1). */
#include "plan/topology.h"

static void insert_domains(struct topology *t, struct key_domains *d, uint32_t req, uint32_t taint_set)
{
    struct reqspace *s = &t->p->space;
    uint32_t words = s->keys.v[s->reqs.v[req].key].n_words;
    uint64_t *raw = xcalloc(words, sizeof(*raw));

    req_raw(s, req, raw); /* quirk: of an open set these are the values it excludes */
    for (BITS_EACH(v, raw, words)) {
        if (t->p->taint_sets.v[taint_set].taints.n == 0) {
            bit_set(d->always, v);
            continue;
        }
        bool there = false;
        for (uint32_t i = 0; i < d->tainted.n && !there; i++)
            there = d->tainted.v[i].val == v && d->tainted.v[i].taint_set == taint_set;
        if (!there)
            vec_push(&d->tainted, (struct domain_taints){v, taint_set});
    }
    free(raw);
}

static void insert_pool_domains(struct topology *t, struct key_domains *d, uint32_t key, const struct tmpl *m)
{
    struct problem *p = t->p;
    const struct nodepool *np = &p->snap->pools[m->pool];
    uint32_t pool = rs_get(&p->space, problem_pool_rs(p, np), key), last = REQ_NONE - 1;

    for (uint32_t i = 0; i < p->snap->catalog->n; i++) {
        uint32_t type = rs_get(&p->space, p->type_rs[i], key);

        if (type == last)
            continue;
        last = type;
        if (type != REQ_NONE && pool != REQ_NONE)
            insert_domains(t, d, req_intersect(&p->space, type, pool), m->taint_set);
        else if (type != REQ_NONE || pool != REQ_NONE)
            insert_domains(t, d, type != REQ_NONE ? type : pool, m->taint_set);
    }
    if (pool != REQ_NONE && req_op(&p->space, pool) == OP_IN)
        insert_domains(t, d, pool, m->taint_set);
}

static const struct key_domains *domains_of(struct topology *t, uint32_t key)
{
    struct key_domains *d = &t->domains[key];

    if (d->built)
        return d;
    d->built = true;
    d->always = arena_new_array(t->p->arena, uint64_t, t->p->space.keys.v[key].n_words);
    for (uint32_t i = 0; i < t->p->n_tmpls && t->p->snap->catalog->n; i++)
        insert_pool_domains(t, d, key, &t->p->tmpls[i]);
    return d;
}

void topology_seed_domains(struct topology *t, struct topo_group *g)
{
    const struct key_domains *d = domains_of(t, g->key);
    bool all = g->filtered && !g->honor_taints;

    bits_or(g->seeded, d->always, t->p->space.keys.v[g->key].n_words);
    for (uint32_t i = 0; i < d->tainted.n; i++)
        if (all || problem_tolerates(t->p, g->tol_set, d->tainted.v[i].taint_set))
            bit_set(g->seeded, d->tainted.v[i].val);
}
