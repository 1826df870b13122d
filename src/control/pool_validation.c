/* nodepool.validation: what the schema cannot refuse (lifecycle 5.5, scheduling 2.9). */
#include "control/claim_int.h"

static struct result reconcile(struct reconcile *r)
{
    struct claims *s = r->ctx;
    const struct catalog *catalog = s->c->cloud->catalog(s->c->cloud->self);
    struct draft d;
    struct err e;

    if (!pool_open(&d, s, r))
        return RESULT_OK;
    const struct nodepool *p = store_pool(s->c->store, r->name);
    if (!p)
        return RESULT_OK;
    struct cond_object conds = draft_conds(&d);
    conds_init(&conds);
    if (claim_template_validate(&p->tmpl, &catalog->rules, s->c->syms, &e))
        conds_true(&conds, "ValidationSucceeded");
    else
        conds_false(&conds, "ValidationSucceeded", STR("NodePoolValidationFailed"), str_c(e.msg));
    return draft_patch(&d, DRAFT_LOCKED | DRAFT_STATUS, &e) ? RESULT_OK : write_failed(r, &e);
}

static void hear(void *ctx, const struct store_event *ev)
{
    struct claims *s = ctx;

    if (ev->kind == OBJ_NODEPOOL)
        queue_add(s->validation, STR(""), ev->name);
}

void pool_validation_register(struct claims *s)
{
    s->validation = manager_add(s->c->manager, &(struct controller_spec){
                                                   .name = "nodepool.validation",
                                                   .group = GROUP,
                                                   .kind = "NodePool",
                                                   .workers = 10,
                                                   .limit = limiter_default,
                                                   .fn = reconcile,
                                                   .ctx = s,
                                               });
    store_subscribe(s->c->store, hear, s);
}
