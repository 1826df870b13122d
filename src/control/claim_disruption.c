/* nodeclaim.disruption: the conditions Drifted and Consolidatable, from which disruption starts (lifecycle 4.1).
 *
 * Pods are not watched: what they mean for a claim is its status.lastPodEventTime, and a change of that is heard of. */
#include "control/claim_int.h"
#include "disrupt/drift.h"

#define LOOK_AGAIN_MS (5 * MINUTE_MS)
#define TYPE_FOUND_MS (30 * MINUTE_MS)

/* ---- drift ---- */

/* Both must say their hash, and in the same version. */
bool drift_by_hash(const struct nodepool *p, const struct nodeclaim *c)
{
    str ours = annotation_value(c->annotations, c->n_annotations, HASH_ANNOTATION);
    str version = annotation_value(c->annotations, c->n_annotations, HASH_VERSION_ANNOTATION);
    str theirs = annotation_value(p->annotations, p->n_annotations, HASH_ANNOTATION);

    return ours.n && theirs.n && version.n &&
           str_eq(version, annotation_value(p->annotations, p->n_annotations, HASH_VERSION_ANNOTATION)) &&
           !str_eq(ours, theirs);
}

static bool type_is_gone(struct claims *s, const struct nodeclaim *c, int64_t now_ms)
{
    struct claim_note *n = claim_note(s, c->uid);

    if (sat_sub(now_ms, c->created_ms) <= DRIFT_TYPE_AFTER_MS ||
        (n->type_found_ms <= now_ms && sat_sub(now_ms, n->type_found_ms) < TYPE_FOUND_MS))
        return false;
    if (drift_by_type(s->c->syms, s->c->cloud->catalog(s->c->cloud->self), c))
        return true;
    n->type_found_ms = now_ms;
    return false;
}

/* What a claim that meets its pool's requirements was compared with. 0: nobody can tell whether it was the same. */
static uint64_t compared(const struct claims *s, const struct kept *claim, const struct kept *pool)
{
    uint64_t h = hash_bytes(pool->uid.p, pool->uid.n, claim->digest);

    if (!claim->digest || !pool->generation)
        return 0;
    return hash_mix(hash_mix(h, (uint64_t)pool->generation), s->c->cloud->catalog(s->c->cloud->self)->version);
}

static bool misses_requirements(struct claims *s, const struct nodepool *p, const struct nodeclaim *c)
{
    const struct cloud *cloud = s->c->cloud;
    const struct kept *claim = store_meta(s->c->store, OBJ_NODECLAIM, c->name),
                      *pool = store_meta(s->c->store, OBJ_NODEPOOL, p->name);
    uint64_t these = claim && pool ? compared(s, claim, pool) : 0;
    struct claim_note *n = claim_note(s, c->uid);

    if (these && n->met == these)
        return false;
    bool misses = drift_by_requirements(s->c->syms, &cloud->catalog(cloud->self)->rules, &p->tmpl, c->labels);
    n->met = misses ? 0 : these;
    return misses;
}

/* false: the cloud could not say. The claim is a copy. */
static bool drift_of(struct claims *s, struct arena *a, const struct nodepool *p, const struct nodeclaim *c, str *ret,
                     struct err *e)
{
    const struct cloud *cloud = s->c->cloud;

    *ret = (str){0};
    if (drift_by_hash(p, c))
        *ret = STR("NodePoolDrifted");
    else if (misses_requirements(s, p, c))
        *ret = STR("RequirementsDrifted");
    else if (type_is_gone(s, c, world_now_ms(s->c->world)))
        *ret = STR("InstanceTypeNotFound");
    else if (cloud->drifted && !cloud->drifted(cloud->self, a, c, ret, e))
        return e->kind == ERR_NOT_FOUND;
    return true;
}

static struct result mark_drifted(const struct cond_object *conds, struct log *log, str reason)
{
    if (reason.n == 0)
        conds_clear(conds, "Drifted");
    else if (conds_true_because(conds, "Drifted", reason, reason))
        log_debug(log, "marking drifted", LOG_STR("reason", reason));
    return result_after_ms(LOOK_AGAIN_MS);
}

/* ---- consolidation ---- */

/* Whether the claim has been left alone for long enough. */
static struct result is_ripe(const struct nodepool *p, const struct nodeclaim *c, int64_t now_ms, bool *ret)
{
    int64_t settled_ms = nodeclaim_settled_ms(p, c);

    *ret = false;
    if (p->consolidate_after_ns == DURATION_NEVER || c->initialized != COND_TRUE)
        return RESULT_OK;
    if (settled_ms > now_ms)
        return result_after_ms(settled_ms - now_ms);
    *ret = true;
    return RESULT_OK;
}

struct result consolidatable_decide(const struct cond_object *conds, const struct nodepool *p,
                                    const struct nodeclaim *c, bool *ret_marked)
{
    bool ripe;
    struct result res = is_ripe(p, c, conds->now_ms, &ripe);

    *ret_marked = ripe && conds_true(conds, "Consolidatable");
    if (!ripe)
        conds_clear(conds, "Consolidatable");
    return res;
}

/* ---- the controller ---- */

static struct result consolidate(const struct cond_object *conds, struct log *log, const struct nodepool *p,
                                 const struct nodeclaim *c)
{
    bool marked;

    if (p->is_static)
        return RESULT_OK;
    struct result res = consolidatable_decide(conds, p, c, &marked);
    if (marked)
        log_debug(log, "marking consolidatable");
    return res;
}

/* What is to be written. */
struct verdict {
    bool launched;
    str drifted;     /* why; empty: it is not */
    uint64_t digest; /* of the claim */
    uint64_t judged; /* what the last one came to */
};

/* All that the conditions will be made of, as a number, and when to look again. 0: nobody can tell. */
static uint64_t sum_up(const struct verdict *v, const struct nodepool *p, const struct nodeclaim *c, int64_t now_ms,
                       struct result *ret)
{
    bool ripe = false;

    *ret = v->launched ? result_after_ms(LOOK_AGAIN_MS) : RESULT_OK;
    if (!p->is_static)
        *ret = result_min(*ret, is_ripe(p, c, now_ms, &ripe));
    if (!v->digest)
        return 0;
    uint64_t h = hash_mix(hash_bytes(v->drifted.p, v->drifted.n, v->digest),
                          (uint64_t)v->launched | (uint64_t)ripe << 1 | (uint64_t)p->is_static << 2);
    return h ? h : 1;
}

/* Says whether there is anything to send. */
static bool mark(struct draft *d, struct reconcile *r, const struct verdict *v, const struct nodepool *p,
                 const struct nodeclaim *c, struct result *ret)
{
    struct result res = RESULT_OK;

    draft_read(d);
    struct log *log = claim_log(r->arena, r->log, d->obj);
    struct cond_object conds = draft_conds(d);
    conds_init(&conds);
    if (!v->launched)
        conds_clear(&conds, "Drifted");
    else if (r->err.kind == ERR_NONE)
        res = mark_drifted(&conds, log, v->drifted);
    *ret = result_min(res, consolidate(&conds, log, p, c));
    return draft_changed(d);
}

/* The cloud may have taken its time: nothing is noted of a claim that is gone. */
static void note_sum(struct claims *s, str name, str uid, uint64_t sum)
{
    const struct kept *k = claim_meta(s, name);

    if (k && str_eq(k->uid, uid))
        claim_note(s, uid)->judged = sum;
}

static struct result write_verdict(struct draft *d, struct reconcile *r, struct result res)
{
    struct err e;

    if (!draft_patch(d, DRAFT_LOCKED | DRAFT_STATUS, &e)) {
        if (e.kind == ERR_CONFLICT || e.kind == ERR_NOT_FOUND)
            return write_failed(r, &e);
        reconcile_fail(r, &e);
    }
    return r->err.kind != ERR_NONE ? result_error() : res;
}

static struct result reconcile(struct reconcile *r)
{
    struct claims *s = r->ctx;
    struct store *store = s->c->store;
    const struct kept *k = claim_meta(s, r->name);
    const struct nodeclaim *c = store_claim(store, r->name);
    struct result res;
    struct draft d;
    struct err e;
    sym pool;

    if (!k || k->deleted_ms != INT64_MIN || !c || !lset_value(s->c->syms, c->labels, SYM(NP), &pool))
        return RESULT_OK;
    str pool_name = arena_strdup(r->arena, sym_str(s->c->syms, pool));
    const struct nodepool *p = store_pool(store, pool_name);
    if (!p || !draft_hold(&d, s->c, r->arena, OBJ_NODECLAIM, r->name))
        return RESULT_OK;
    struct verdict v = {
        .launched = c->launched == COND_TRUE, .digest = k->digest, .judged = claim_note(s, k->uid)->judged};
    c = nodeclaim_dup(r->arena, c);
    if (v.launched && !drift_of(s, r->arena, p, c, &v.drifted, &e))
        reconcile_fail(r, &e);
    p = store_pool(store, pool_name); /* the cloud may have taken its time */
    if (!p)
        return RESULT_OK;

    uint64_t sum = r->err.kind == ERR_NONE ? sum_up(&v, p, c, world_now_ms(s->c->world), &res) : 0;
    if (sum && v.judged == sum)
        return res;
    bool changed = mark(&d, r, &v, p, c, &res);
    note_sum(s, r->name, c->uid, changed ? 0 : sum);
    return write_verdict(&d, r, res);
}

static void hear(void *ctx, const struct store_event *ev)
{
    struct claims *s = ctx;
    struct names n = {0};

    if (ev->kind == OBJ_NODECLAIM)
        queue_add(s->disruption, STR(""), ev->name);
    if (ev->kind == OBJ_NODEPOOL)
        n = store_claims_of_pool(s->c->store, ev->name);
    if (ev->kind == OBJ_NODECLASS)
        n = store_names(s->c->store, OBJ_NODECLAIM);
    for (uint32_t i = 0; i < n.n; i++)
        if (ev->kind == OBJ_NODEPOOL || claim_names_class(s, n.v[i], ev->name))
            queue_add(s->disruption, STR(""), n.v[i]);
}

void claim_disruption_register(struct claims *s)
{
    s->disruption = claims_controller(s, "nodeclaim.disruption", reconcile);
    store_subscribe(s->c->store, hear, s);
}
