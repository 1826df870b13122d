/* nodepool.readiness: whether the pool's node class can be used (lifecycle 5.3). */
#include "control/claim_int.h"

#define CLASS_READY "NodeClassReady"

bool readiness_decide(const struct cond_object *pool, const struct tree *class)
{
    struct cond c = cond_get(class, "Ready");

    if (!class)
        return conds_false(pool, CLASS_READY, STR("NodeClassNotFound"), STR("NodeClass not found on cluster"));
    if (obj_is_deleting(class))
        return conds_false(pool, CLASS_READY, STR("NodeClassTerminating"), STR("NodeClass is Terminating"));
    if (!c.present || str_is(c.status, "Unknown"))
        return conds_false(pool, CLASS_READY, STR("NodeClassReadinessUnknown"), STR("Node Class Readiness Unknown"));
    if (str_is(c.status, "False"))
        return conds_false(pool, CLASS_READY, c.reason, c.message);
    return conds_true(pool, CLASS_READY);
}

static struct result reconcile(struct reconcile *r)
{
    struct claims *s = r->ctx;
    struct draft d, class;
    struct err e;

    if (!pool_open(&d, s, r))
        return RESULT_OK;
    const struct nodepool *p = store_pool(s->c->store, r->name);
    if (!p)
        return RESULT_OK;
    bool there = draft_open(&class, s->c, r->arena, OBJ_NODECLASS, class_name_of(r->arena, &p->tmpl.class_ref));
    struct cond_object conds = draft_conds(&d);
    conds_init(&conds);
    readiness_decide(&conds, there ? class.obj : NULL);
    return draft_patch(&d, DRAFT_LOCKED | DRAFT_STATUS, &e) ? RESULT_OK : write_failed(r, &e);
}

static void hear(void *ctx, const struct store_event *ev)
{
    struct claims *s = ctx;

    pools_queue_by_class(s, s->readiness, ev);
}

void pool_readiness_register(struct claims *s)
{
    s->readiness = pools_controller(s, "nodepool.readiness", reconcile);
    store_subscribe(s->c->store, hear, s);
}
