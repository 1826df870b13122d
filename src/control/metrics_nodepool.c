/* Series for every NodePool: what it may have, what it has, what that costs. */
#include "control/metrics_objects_int.h"

static void emit_list(struct object_metrics *m, const struct metric *f, str pool, const struct reslist *l,
                      struct sb *out)
{
    for (uint32_t i = 0; i < l->n; i++)
        metric_emit(out, f, metric_amount(l->q[i].name, l->q[i].v),
                    METRIC_VALS(metric_resource(m, l->q[i].name), pool));
}

/* As status.resources has it: what a pool has nothing of is there as 0. */
static struct reslist usage_of(struct object_metrics *m, str pool)
{
    static const uint32_t always[] = {SYM_IX_CPU, SYM_IX_MEMORY, SYM_IX_EPHEMERAL, SYM_IX_PODS, SYM_IX_NODES};
    struct reslist have = store_pool_usage(m->c->store, pool), all = {0};

    for (size_t i = 0; i < ARRAY_LEN(always); i++)
        reslist_set(m->tmp, &all, (sym){always[i]}, 0, /* binary= */ false);
    for (uint32_t i = 0; i < have.n; i++)
        reslist_set(m->tmp, &all, have.q[i].name, have.q[i].v, have.q[i].binary);
    return all;
}

static bool is_single(const struct offering *o, sym key, sym val)
{
    for (uint32_t i = 0; i < o->n_requirements; i++)
        if (sym_eq(o->requirements[i].key, key))
            return o->requirements[i].n_vals == 1 && sym_eq(o->requirements[i].vals[0], val);
    return false;
}

/* The price of the first offering with the claim's zone and capacity type; 0 when there is none. */
static double price_of(const struct catalog *cat, const struct syms *t, const struct nodeclaim *c)
{
    sym type, zone, capacity, pool;

    if (!lset_value(t, c->labels, SYM(NP), &pool) || !lset_value(t, c->labels, SYM(ITYPE), &type) ||
        !lset_value(t, c->labels, SYM(ZONE), &zone) || !lset_value(t, c->labels, SYM(CT), &capacity))
        return 0;
    for (uint32_t i = 0; i < cat->n; i++) {
        if (!sym_eq(cat->types[i].name, type) || !itype_is_for(&cat->types[i], pool))
            continue;
        for (uint32_t j = 0; j < cat->types[i].n_offerings; j++) {
            const struct offering *o = &cat->types[i].offerings[j];

            if (is_single(o, SYM(ZONE), zone) && is_single(o, SYM(CT), capacity))
                return o->price_usd_per_h;
        }
    }
    return 0;
}

static double cost_of(struct object_metrics *m, str pool)
{
    struct control *c = m->c;
    const struct catalog *cat = c->cloud->catalog(c->cloud->self);
    struct names claims = store_claims_of_pool(c->store, pool);
    double sum = 0;

    for (uint32_t i = 0; i < claims.n; i++) {
        const struct nodeclaim *n = store_claim(c->store, claims.v[i]);

        if (n)
            sum += price_of(cat, c->syms, n);
    }
    return sum;
}

static void collect(void *ctx, const struct metric *f, struct sb *out)
{
    struct object_metrics *m = ctx;
    struct control_metrics *x = m->c->metrics;
    struct names names = store_names(m->c->store, OBJ_NODEPOOL);

    for (uint32_t i = 0; i < names.n; i++) {
        const struct nodepool *p = store_pool(m->c->store, names.v[i]);
        struct reslist l = {0};

        if (!p)
            continue;
        if (f == x->nodepools_cost_total) {
            metric_emit(out, f, cost_of(m, p->name), METRIC_VALS(p->name));
            continue;
        }
        l = f == x->nodepools_limit ? p->limits : usage_of(m, p->name);
        emit_list(m, f, p->name, &l, out);
        arena_reset(m->tmp);
    }
}

/* A machine that could be priced, of a pool that is not there. */
static void hear(void *ctx, const struct store_event *ev)
{
    struct object_metrics *m = ctx;
    const struct syms *t = m->c->syms;
    const struct nodeclaim *c = ev->is;
    sym pool, ignored;

    if (ev->kind != OBJ_NODECLAIM || !c || !store_synced(m->c->store) || !lset_value(t, c->labels, SYM(NP), &pool) ||
        !lset_value(t, c->labels, SYM(ITYPE), &ignored) || !lset_value(t, c->labels, SYM(ZONE), &ignored) ||
        !lset_value(t, c->labels, SYM(CT), &ignored))
        return;
    if (!store_pool(m->c->store, sym_str(t, pool)))
        metric_inc(m->c->metrics->nodepools_cost_tracker_errors_total, 1, METRIC_VALS(sym_str(t, pool)));
}

void nodepool_metrics_register(struct object_metrics *m)
{
    struct control_metrics *x = m->c->metrics;

    metrics_collector((struct metric *const[]){x->nodepools_limit, x->nodepools_usage, x->nodepools_cost_total}, 3,
                      collect, m);
    store_subscribe(m->c->store, hear, m);
}
