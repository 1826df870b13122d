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
        (n->type_found_ms != INT64_MIN && now_ms - n->type_found_ms < TYPE_FOUND_MS))
        return false;
    if (drift_by_type(s->c->syms, s->c->cloud->catalog(s->c->cloud->self), c))
        return true;
    n->type_found_ms = now_ms;
    return false;
}

/* false: the cloud could not say. The claim is a copy. */
static bool drift_of(struct claims *s, struct arena *a, const struct nodepool *p, const struct nodeclaim *c, str *ret,
                     struct err *e)
{
    const struct cloud *cloud = s->c->cloud;

    *ret = (str){0};
    if (drift_by_hash(p, c))
        *ret = STR("NodePoolDrifted");
    else if (drift_by_requirements(s->c->syms, &cloud->catalog(cloud->self)->rules, &p->tmpl, c->labels))
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

struct result consolidatable_decide(const struct cond_object *conds, const struct nodepool *p,
                                    const struct nodeclaim *c, bool *ret_marked)
{
    int64_t settled_ms = nodeclaim_settled_ms(p, c);

    *ret_marked = false;
    if (p->consolidate_after_ns == DURATION_NEVER || c->initialized != COND_TRUE) {
        conds_clear(conds, "Consolidatable");
        return RESULT_OK;
    }
    if (settled_ms > conds->now_ms) {
        conds_clear(conds, "Consolidatable");
        return result_after_ms(settled_ms - conds->now_ms);
    }
    *ret_marked = conds_true(conds, "Consolidatable");
    return RESULT_OK;
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

static struct result reconcile(struct reconcile *r)
{
    struct claims *s = r->ctx;
    struct store *store = s->c->store;
    struct result res = RESULT_OK;
    str reason = {0};
    struct draft d;
    struct err e;

    if (!claim_open(&d, s, r) || obj_is_deleting(d.obj))
        return RESULT_OK;
    str pool_name = obj_label(d.obj, POOL_LABEL);
    const struct nodepool *p = pool_name.n ? store_pool(store, pool_name) : NULL;
    const struct nodeclaim *c = store_claim(store, r->name);
    if (!p || !c)
        return RESULT_OK;
    c = nodeclaim_dup(r->arena, c);
    bool launched = c->launched == COND_TRUE;
    if (launched && !drift_of(s, r->arena, p, c, &reason, &e))
        reconcile_fail(r, &e);
    p = store_pool(store, pool_name); /* the cloud may have taken its time */
    if (!p)
        return RESULT_OK;

    struct log *log = claim_log(r->arena, r->log, d.obj);
    struct cond_object conds = draft_conds(&d);
    conds_init(&conds);
    if (!launched)
        conds_clear(&conds, "Drifted");
    else if (r->err.kind == ERR_NONE)
        res = mark_drifted(&conds, log, reason);
    res = result_min(res, consolidate(&conds, log, p, c));
    if (!draft_patch(&d, DRAFT_LOCKED | DRAFT_STATUS, &e)) {
        if (e.kind == ERR_CONFLICT || e.kind == ERR_NOT_FOUND)
            return write_failed(r, &e);
        reconcile_fail(r, &e);
    }
    return r->err.kind != ERR_NONE ? result_error() : res;
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
