/* nodeclaim.expiration: claims that have outlived their expireAfter (lifecycle 4.4). */
#include "control/claim_int.h"

/* How long it has to live; INT64_MAX: for ever. */
int64_t expiration_left_ms(const struct nodeclaim *c, int64_t now_ms)
{
    if (c->deleting || c->expire_after_ns == DURATION_NEVER)
        return INT64_MAX;
    return sat_sub(sat_add(c->created_ms, c->expire_after_ns / 1000000), now_ms);
}

static struct result reconcile(struct reconcile *r)
{
    struct claims *s = r->ctx;
    const struct nodeclaim *c = store_claim(s->c->store, r->name);
    struct draft d;
    struct err e;

    if (!c || !claim_meta(s, r->name) || claim_note(s, c->uid)->expired)
        return RESULT_OK;
    int64_t left_ms = expiration_left_ms(c, world_now_ms(s->c->world));
    if (left_ms == INT64_MAX)
        return RESULT_OK;
    if (left_ms > 0)
        return result_after_ms(left_ms);
    if (!claim_open(&d, s, r))
        return RESULT_OK;
    if (!write_delete(s->c, r->arena, OBJ_NODECLAIM, r->name, &e))
        return write_failed(r, &e);
    if (store_kept(s->c->store, OBJ_NODECLAIM, r->name))
        claim_note(s, obj_uid(d.obj))->expired = true; /* the watch has not told yet: it counts once */
    log_debug(claim_log(r->arena, r->log, d.obj), "deleting expired nodeclaim");
    claims_count_disrupted(s, d.obj, "expired");
    return RESULT_OK;
}

static void hear(void *ctx, const struct store_event *ev)
{
    struct claims *s = ctx;

    if (ev->kind == OBJ_NODECLAIM)
        queue_add(s->expiration, STR(""), ev->name);
}

void claim_expiration_register(struct claims *s)
{
    s->expiration = manager_add(s->c->manager, &(struct controller_spec){
                                                   .name = "nodeclaim.expiration",
                                                   .group = GROUP,
                                                   .kind = "NodeClaim",
                                                   .workers = 1,
                                                   .limit = limiter_default,
                                                   .fn = reconcile,
                                                   .ctx = s,
                                               });
    store_subscribe(s->c->store, hear, s);
}
