/* nodepool.hash: what drift compares claims with (lifecycle 5.2). */
#include "control/claim_int.h"

/* A claim of an older way to hash cannot be compared: it gets the pool's hash as it is now, unless it has been found to have drifted. Says whether
 * anything changed. */
bool hash_adopt_claim(struct arena *a, struct tree *claim, str hash)
{
    if (str_is(obj_annotation(claim, HASH_VERSION_ANNOTATION), HASH_VERSION))
        return false;
    obj_set_annotation(a, claim, STR(HASH_VERSION_ANNOTATION), STR(HASH_VERSION));
    if (!cond_get(claim, "Drifted").present)
        obj_set_annotation(a, claim, STR(HASH_ANNOTATION), hash);
    return true;
}

static bool adopt_claims(struct claims *s, struct reconcile *r, str hash)
{
    struct names n = store_claims_of_pool(s->c->store, r->name);
    str *names = arena_new_array(r->arena, str, n.n);
    uint32_t n_names = n.n;
    struct err e;

    for (uint32_t i = 0; i < n.n; i++)
        names[i] = arena_strdup(r->arena, n.v[i]);
    for (uint32_t i = 0; i < n_names; i++) {
        const struct kept *k = store_kept(s->c->store, OBJ_NODECLAIM, names[i]);
        struct draft d;

        if (!k || !k->managed || !draft_open(&d, s->c, r->arena, OBJ_NODECLAIM, names[i]) ||
            !hash_adopt_claim(r->arena, d.obj, hash))
            continue;
        if (!draft_patch(&d, DRAFT_PLAIN, &e) && e.kind != ERR_NOT_FOUND)
            reconcile_fail(r, &e);
    }
    return r->err.kind == ERR_NONE;
}

static struct result reconcile(struct reconcile *r)
{
    struct claims *s = r->ctx;
    struct draft d;
    struct err e;

    if (!pool_open(&d, s, r))
        return RESULT_OK;
    const struct nodepool *p = store_pool(s->c->store, r->name);
    if (!p)
        return RESULT_OK;
    str hash = arena_printf(r->arena, "%llu", (unsigned long long)nodepool_hash(&p->tmpl, s->c->syms));
    if (!str_is(obj_annotation(d.obj, HASH_VERSION_ANNOTATION), HASH_VERSION) && !adopt_claims(s, r, hash))
        return result_error();
    obj_set_annotation(r->arena, d.obj, STR(HASH_ANNOTATION), hash);
    obj_set_annotation(r->arena, d.obj, STR(HASH_VERSION_ANNOTATION), STR(HASH_VERSION));
    return draft_patch(&d, DRAFT_PLAIN, &e) ? RESULT_OK : write_failed(r, &e);
}

static void hear(void *ctx, const struct store_event *ev)
{
    struct claims *s = ctx;

    if (ev->kind == OBJ_NODEPOOL)
        queue_add(s->hash, STR(""), ev->name);
}

void pool_hash_register(struct claims *s)
{
    s->hash = pools_controller(s, "nodepool.hash", reconcile);
    store_subscribe(s->c->store, hear, s);
}
