/* nodepool.counter: what the pool's machines add up to (lifecycle 5.1). */
#include "control/claim_int.h"
#include "data/edit.h"

#define POLL_MS 5000
#define UNSYNCED_POLL_MS 1000

/* The five that are always there, zero or not, and whatever else the machines have. */
void counter_decide(struct arena *a, const struct syms *t, struct tree *pool, const struct reslist *usage)
{
    static const sym always[] = {SYM(CPU), SYM(MEMORY), SYM(PODS), SYM(EPHEMERAL), SYM(NODES)};
    struct reslist all = reslist_dup(a, usage);
    struct tree *status = tree_sub(a, pool, "status");

    for (size_t i = 0; i < ARRAY_LEN(always); i++)
        if (!reslist_get(&all, always[i]))
            reslist_set(a, &all, always[i], 0, /* binary= */ false);
    tree_set(a, status, "resources", tree_of_resources(a, t, &all));
    tree_set_i64(a, status, "nodes", reslist_value(usage, SYM(NODES)) / 1000);
}

/* It is asked every five seconds, and mostly nothing at all has happened. */
static bool is_counted(struct claims *s, str name)
{
    const struct kept *k = store_kept(s->c->store, OBJ_NODEPOOL, name);

    return k && pool_note(s, k->uid)->counted_at == store_changes(s->c->store);
}

static struct result reconcile(struct reconcile *r)
{
    struct claims *s = r->ctx;
    struct draft d;
    struct err e;

    if (is_counted(s, r->name))
        return result_after_ms(POLL_MS);
    if (!pool_open(&d, s, r))
        return RESULT_OK;
    if (!store_synced(s->c->store))
        return result_after_ms(UNSYNCED_POLL_MS);
    struct reslist usage = store_pool_usage(s->c->store, r->name);
    counter_decide(r->arena, s->c->syms, d.obj, &usage);
    if (!draft_changed(&d))
        pool_note(s, obj_uid(d.obj))->counted_at = store_changes(s->c->store);
    if (!draft_patch(&d, DRAFT_STATUS, &e))
        return write_failed(r, &e);
    return result_after_ms(POLL_MS);
}

static void hear(void *ctx, const struct store_event *ev)
{
    struct claims *s = ctx;

    if (ev->kind == OBJ_NODEPOOL && ev->change == STORE_ADDED)
        queue_add(s->counter, STR(""), ev->name);
}

void pool_counter_register(struct claims *s)
{
    s->counter = pools_controller(s, "nodepool.counter", reconcile);
    store_subscribe(s->c->store, hear, s);
}
