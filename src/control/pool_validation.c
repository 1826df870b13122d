/* nodepool.validation: what the schema cannot refuse (lifecycle 5.5, scheduling 2.9), and a word to those who still write as one did in older versions. */
#include "control/claim_int.h"
#include "k8s/decode.h"

/* An old spelling is read in the modern sense; once for each change of the pool somebody is told how that is written today. */
static void tell_old_spellings(struct claims *s, const struct tree *pool, const struct objects *o)
{
    struct event_object object = {.kind = &api_nodepools, .name = obj_name(pool), .uid = obj_uid(pool)};

    for (uint32_t i = 0; i < o->notes.n; i++) {
        str key[] = {object.uid, o->notes.v[i]};

        recorder_publish(s->c->recorder, &(struct event){
                                             .object = object,
                                             .reason = "DeprecatedField",
                                             .message = o->notes.v[i],
                                             .dedupe = key,
                                             .n_dedupe = ARRAY_LEN(key),
                                         });
    }
}

static bool is_readable(struct claims *s, const struct tree *pool, struct err *e)
{
    AUTO(objects) struct objects *o = objects_new(s->c->syms);
    AUTO(decoder) struct decoder *d = decoder_new(o);

    if (!k8s_decode(d, pool, e))
        return false;
    tell_old_spellings(s, pool, o);
    return true;
}

static bool is_valid(struct claims *s, str name, const struct tree *pool, struct err *e)
{
    const struct catalog *catalog = s->c->cloud->catalog(s->c->cloud->self);
    struct pool_note *n = pool_note(s, obj_uid(pool));
    int64_t generation = store_kept(s->c->store, OBJ_NODEPOOL, name)->generation;
    const struct nodepool *p = store_pool(s->c->store, name);

    if (!p || n->noted_generation != generation) {
        if (!is_readable(s, pool, e))
            return false;
        n->noted_generation = generation;
    }
    return !p || claim_template_validate(&p->tmpl, &catalog->rules, s->c->syms, e);
}

static struct result reconcile(struct reconcile *r)
{
    struct claims *s = r->ctx;
    struct draft d;
    struct err e;

    if (!pool_open(&d, s, r))
        return RESULT_OK;
    struct cond_object conds = draft_conds(&d);
    conds_init(&conds);
    if (is_valid(s, r->name, d.obj, &e))
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
