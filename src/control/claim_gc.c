/* nodeclaim.garbagecollection: claims whose machine the cloud does not know any more (lifecycle 4.5). The other way round, machines without a claim, is
 * their provider's business. */
#include "control/claim_int.h"

#define POLL_MS (2 * MINUTE_MS)

/* A claim that is missed is one that was registered before the cloud was asked. */
struct suspects {
    str *names, *ids;
    uint32_t n;
};

static struct suspects registered_claims(struct claims *s, struct arena *a)
{
    struct names all = store_names(s->c->store, OBJ_NODECLAIM);
    struct suspects v = {arena_new_array(a, str, all.n), arena_new_array(a, str, all.n), 0};

    for (uint32_t i = 0; i < all.n; i++) {
        const struct nodeclaim *c = store_claim(s->c->store, all.v[i]);

        if (!claim_meta(s, all.v[i]) || !c || c->deleting || c->registered != COND_TRUE)
            continue;
        v.names[v.n] = arena_strdup(a, all.v[i]);
        v.ids[v.n++] = arena_strdup(a, c->provider_id);
    }
    return v;
}

static int cmp_ids(const void *a, const void *b, void *ctx)
{
    (void)ctx;
    return str_cmp(*(const str *)a, *(const str *)b);
}

static bool has_id(const str *ids, uint32_t n, str id)
{
    uint32_t lo = 0, hi = n;

    while (lo < hi) {
        uint32_t mid = lo + (hi - lo) / 2;
        int c = str_cmp(ids[mid], id);

        if (c == 0)
            return true;
        if (c < 0)
            lo = mid + 1;
        else
            hi = mid;
    }
    return false;
}

/* The cloud may be wrong, or late: a Node that says it is well has a machine. */
static bool node_is_well(struct claims *s, str id)
{
    bool several;
    str name = claim_node_name(s, id, &several);
    const struct node *n = name.n ? store_node(s->c->store, name) : NULL;

    return n && n->ready;
}

static void collect(struct claims *s, struct reconcile *r, str name)
{
    struct draft d;
    struct err e;

    if (!draft_open(&d, s->c, r->arena, OBJ_NODECLAIM, name) || obj_is_deleting(d.obj))
        return;
    if (!write_delete(s->c, r->arena, OBJ_NODECLAIM, name, &e)) {
        if (e.kind != ERR_NOT_FOUND)
            reconcile_fail(r, &e);
        return;
    }
    log_debug(machine_log(r->arena, r->log, d.obj), "garbage collecting nodeclaim with no cloudprovider representation",
              LOG_OBJ("NodeClaim", STR(""), name));
    claims_count_disrupted(s, d.obj, "garbage_collected");
}

static struct result reconcile(struct reconcile *r)
{
    struct claims *s = r->ctx;
    struct suspects v = registered_claims(s, r->arena);
    struct machines there;
    struct err e;

    if (!s->c->cloud->list(s->c->cloud->self, r->arena, &there, &e)) {
        reconcile_fail(r, &e);
        return result_error();
    }
    str *ids = arena_new_array(r->arena, str, there.n);
    uint32_t n = 0;
    for (uint32_t i = 0; i < there.n; i++)
        if (!there.v[i].deleting)
            ids[n++] = there.v[i].provider_id;
    sort_stable(ids, n, sizeof(*ids), cmp_ids, NULL);
    for (uint32_t i = 0; i < v.n; i++)
        if (!has_id(ids, n, v.ids[i]) && !node_is_well(s, v.ids[i]))
            collect(s, r, v.names[i]);
    return r->err.kind != ERR_NONE ? result_error() : result_after_ms(POLL_MS);
}

void claim_gc_register(struct claims *s)
{
    (void)manager_add(s->c->manager, &(struct controller_spec){
                                         .name = "nodeclaim.garbagecollection",
                                         .workers = 1,
                                         .limit = limiter_singleton,
                                         .fn = reconcile,
                                         .ctx = s,
                                     });
}
