/* What pools use, and lists of names that belong together. */
#include <stdlib.h>

#include "state/store_int.h"

static struct usage *usage_of(struct store *s, sym pool)
{
    for (uint32_t i = 0; i < s->usages.n; i++)
        if (sym_eq(s->usages.v[i].pool, pool))
            return &s->usages.v[i];
    return NULL;
}

static struct amount *amount_of(struct usage *u, const struct resq *q)
{
    for (uint32_t i = 0; i < u->v.n; i++)
        if (sym_eq(u->v.v[i].name, q->name))
            return &u->v.v[i];
    vec_push(&u->v, (struct amount){.name = q->name, .binary = q->binary});
    return &vec_last(&u->v);
}

void usage_count(struct store *s, sym pool, const struct reslist *capacity, bool more)
{
    struct usage *u = usage_of(s, pool);

    if (!u) {
        u = vec_add(&s->usages);
        u->pool = pool;
    }
    for (uint32_t i = 0; i < capacity->n; i++) {
        struct amount *a = amount_of(u, &capacity->q[i]);

        a->v += more ? capacity->q[i].v : -(__int128)capacity->q[i].v;
        a->holders += more ? 1 : UINT32_MAX; /* one less */
        if (a->holders == 0)
            *a = u->v.v[--u->v.n];
    }
    if (u->v.n)
        return;
    vec_fini(&u->v);
    *u = s->usages.v[--s->usages.n];
}

static int by_symbol(const void *a, const void *b, void *ctx UNUSED)
{
    const struct resq *x = a, *y = b;

    return x->name.v < y->name.v ? -1 : x->name.v > y->name.v;
}

struct reslist store_pool_usage(struct store *s, str pool)
{
    sym name = find_sym(s, pool);
    const struct usage *u = sym_some(name) ? usage_of(s, name) : NULL;
    struct reslist *l = &s->found_usage;

    l->n = 0;
    if (!u)
        return *l;
    if (s->cap_usage < u->v.n) {
        s->cap_usage = u->v.n;
        l->q = xrealloc(l->q, u->v.n * sizeof(*l->q));
    }
    for (uint32_t i = 0; i < u->v.n; i++) {
        const struct amount *a = &u->v.v[i];
        int64_t v = a->v > INT64_MAX ? INT64_MAX : (int64_t)a->v;

        l->q[l->n++] = (struct resq){a->name, a->binary, v};
    }
    sort_stable(l->q, l->n, sizeof(*l->q), by_symbol, NULL);
    return *l;
}

/* --- names ----------------------------------------------------------------------------------------------------------- */

static struct names names_in(const struct store *s, const struct groups *g, enum object_kind kind, str key,
                             name_list *out)
{
    sym id = find_sym(s, key);
    const struct group *x = sym_some(id) ? groups_get(g, id.v) : NULL;

    out->n = 0;
    for (uint32_t i = 0; x && i < x->n; i++)
        vec_push(out, s->tables[kind].all.v[x->v[i]]->kept.name);
    return (struct names){out->v, out->n};
}

struct names store_nodes_by_id(struct store *s, str provider_id)
{
    return names_in(s, &s->nodes_by_id, OBJ_NODE, provider_id, &s->found_nodes);
}

struct names store_claims_by_id(struct store *s, str provider_id)
{
    return names_in(s, &s->claims_by_id, OBJ_NODECLAIM, provider_id, &s->found_claims);
}

struct names store_claims_of_pool(struct store *s, str pool)
{
    return names_in(s, &s->claims_of_pool, OBJ_NODECLAIM, pool, &s->found_of_pool);
}

struct attachments store_attachments(struct store *s, str node)
{
    sym id = find_sym(s, node);
    const struct group *x = sym_some(id) ? groups_get(&s->attachments, id.v) : NULL;

    s->found_attachments.n = 0;
    for (uint32_t i = 0; x && i < x->n; i++)
        vec_push(&s->found_attachments, s->tables[OBJ_ATTACHMENT].all.v[x->v[i]]->decoded);
    return (struct attachments){s->found_attachments.v, s->found_attachments.n};
}
