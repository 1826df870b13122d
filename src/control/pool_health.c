/* nodepool.registrationhealth: whether nodes of a pool get registered, by the last four that tried (lifecycle 5.4). */
#include "control/claim_int.h"
#include "data/edit.h"

#define HEALTHY "NodeRegistrationHealthy"

/* ---- the last outcomes ---- */

enum pool_health pool_health_of(const struct pool_note *n)
{
    uint32_t failures = 0;

    if (n->n == 0)
        return HEALTH_UNKNOWN;
    for (uint32_t i = 0; i < n->n; i++)
        failures += n->failed[i];
    return failures * 2 >= HEALTH_SAMPLES ? HEALTH_BAD : HEALTH_GOOD; /* of four, also when there are fewer */
}

void pool_health_add(struct pool_note *n, bool failed)
{
    n->failed[n->at] = failed;
    n->at = (n->at + 1) % HEALTH_SAMPLES;
    n->n = MIN(n->n + 1, HEALTH_SAMPLES);
}

enum pool_health pool_health_with(const struct pool_note *n, bool failed)
{
    struct pool_note copy = *n;

    pool_health_add(&copy, failed);
    return pool_health_of(&copy);
}

static void forget(struct pool_note *n)
{
    n->n = n->at = 0;
}

/* ---- reports of claims ---- */

/* A pool that was made anew under the same name is another one. */
static bool owns(str pool_uid, const struct tree *claim)
{
    const struct tree *l = tree_at(claim, "metadata", "ownerReferences", NULL);

    for (uint32_t i = 0; l && l->kind == TREE_LIST && i < l->n; i++)
        if (str_is(tree_str(tree_get(&l->items[i], "kind")), "NodePool") &&
            str_eq(tree_str(tree_get(&l->items[i], "uid")), pool_uid))
            return true;
    return false;
}

/* What the outcome makes of the pool's condition; says whether it changed. */
static bool judge(const struct cond_object *pool, const struct pool_note *n, const struct tree *claim, bool failed)
{
    enum pool_health h = pool_health_with(n, failed);

    if (!failed)
        return h == HEALTH_GOOD && conds_true(pool, HEALTHY);
    if (h != HEALTH_BAD || cond_is_false(pool->obj, HEALTHY))
        return false;
    if (cond_is_true(claim, "Launched"))
        return conds_false(pool, HEALTHY, STR("RegistrationFailed"), STR("Failed to register node"));
    struct cond launched = cond_get(claim, "Launched");
    return conds_false(pool, HEALTHY, launched.reason, launched.message);
}

bool pool_health_report(struct claims *s, struct arena *a, const struct tree *claim, bool failed, struct err *e)
{
    str pool = obj_label(claim, POOL_LABEL);
    struct draft d;

    if (pool.n == 0 || !draft_open(&d, s->c, a, OBJ_NODEPOOL, pool) || !owns(obj_uid(d.obj), claim))
        return true;
    str uid = obj_uid(d.before);
    struct cond_object conds = draft_conds(&d);
    conds_init(&conds);
    if (judge(&conds, pool_note(s, uid), claim, failed) && !draft_patch(&d, DRAFT_LOCKED | DRAFT_STATUS, e))
        return false;
    if (store_kept(s->c->store, OBJ_NODEPOOL, pool))
        pool_health_add(pool_note(s, uid), failed);
    return true;
}

/* ---- the controller ---- */

/* Nothing is known yet of this pool as it is now: a new spec of it, or of its node class, begins anew. */
static void review(const struct cond_object *pool, struct pool_note *n, int64_t class_generation)
{
    struct cond c = cond_get(pool->obj, HEALTHY);
    const struct tree *seen = tree_at(pool->obj, "status", "nodeClassObservedGeneration", NULL);
    const struct tree *generation = tree_at(pool->obj, "metadata", "generation", NULL);
    int64_t seen_generation = 0, pool_generation = 0;

    if (seen)
        (void)tree_to_i64(seen, &seen_generation);
    if (generation)
        (void)tree_to_i64(generation, &pool_generation);
    if (n->n == 0 && str_is(c.status, "True"))
        pool_health_add(n, /* failed= */ false);
    if (n->n == 0 && str_is(c.status, "False"))
        for (uint32_t i = 0; i < 2; i++)
            pool_health_add(n, /* failed= */ true);
    if (!c.present || seen_generation != class_generation || c.observed != pool_generation) {
        conds_unknown(pool, HEALTHY, STR("AwaitingReconciliation"), STR("object is awaiting reconciliation"));
        forget(n);
    }
    tree_set_i64(pool->arena, tree_sub(pool->arena, pool->obj, "status"), "nodeClassObservedGeneration",
                 class_generation);
}

static struct result reconcile(struct reconcile *r)
{
    struct claims *s = r->ctx;
    struct draft d;
    struct err e;

    if (!pool_open(&d, s, r))
        return RESULT_OK;
    const struct nodepool *p = store_pool(s->c->store, r->name);
    const struct kept *k =
        p ? store_kept(s->c->store, OBJ_NODECLASS, class_name_of(r->arena, &p->tmpl.class_ref)) : NULL;
    if (!k)
        return RESULT_OK;
    struct cond_object conds = draft_conds(&d);
    conds_init(&conds);
    review(&conds, pool_note(s, obj_uid(d.obj)), k->generation);
    return draft_patch(&d, DRAFT_LOCKED | DRAFT_STATUS, &e) ? RESULT_OK : write_failed(r, &e);
}

static void hear(void *ctx, const struct store_event *ev)
{
    struct claims *s = ctx;

    pools_queue_by_class(s, s->health, ev);
}

void pool_health_register(struct claims *s)
{
    s->health = pools_controller(s, "nodepool.registrationhealth", reconcile);
    store_subscribe(s->c->store, hear, s);
}
