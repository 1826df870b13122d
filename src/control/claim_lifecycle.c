/* nodeclaim.lifecycle: from creation to a Node that can be used, or to the end (lifecycle 3.1).
 *
 * The steps work on one copy of the claim, each leaving its condition behind, none waiting for another: a claim whose Node is there already is launched,
 * registered and initialized in one pass. What they changed is sent at the end. */
#include "control/claim_int.h"

void visit_add(struct visit *p, struct result res)
{
    p->result = result_min(p->result, res);
}

bool visit_delete(struct visit *p, const char *reason, struct err *e)
{
    if (!write_delete(p->c, p->r->arena, OBJ_NODECLAIM, obj_name(p->d.before), e))
        return false;
    claims_count_disrupted(p->s, p->d.obj, reason);
    return true;
}

static struct result advance(struct visit *p)
{
    struct err e;

    obj_add_finalizer(p->r->arena, p->d.obj, TERMINATION_FINALIZER);
    if (!draft_patch(&p->d, DRAFT_LOCKED, &e))
        return write_failed(p->r, &e);

    struct cond_object conds = draft_conds(&p->d);
    conds_init(&conds);
    launch_run(p);
    register_run(p);
    initialize_run(p);
    liveness_run(p);
    if (!draft_patch(&p->d, DRAFT_BOTH, &e) && e.kind != ERR_NOT_FOUND)
        reconcile_fail(p->r, &e);
    return p->r->err.kind != ERR_NONE ? result_error() : p->result;
}

/* Every step is behind it, and the claim says so: until it says something else there is nothing to do. */
static bool has_arrived(const struct visit *p)
{
    const struct tree *obj = p->d.obj;

    return p->r->err.kind == ERR_NONE && p->result.kind == RESULT_DONE && cond_is_true(obj, "Launched") &&
           cond_is_true(obj, "Registered") && cond_is_true(obj, "Initialized");
}

static struct result reconcile(struct reconcile *r)
{
    struct claims *s = r->ctx;
    struct visit p = {.s = s, .c = s->c, .r = r, .result = RESULT_OK};
    const struct kept *k = claim_meta(s, r->name);

    if (!k)
        return RESULT_OK;
    uint64_t digest = k->digest, version = k->version;
    struct claim_note *n = claim_note(s, k->uid);
    if (digest && n->lived == digest)
        return RESULT_OK;
    if (!claim_open(&p.d, s, r))
        return RESULT_OK;
    p.log = machine_log(r->arena, r->log, p.d.obj);
    if (obj_is_deleting(p.d.obj))
        return finalize_run(&p);
    struct result res = advance(&p);
    k = claim_meta(s, r->name);
    if (k && k->digest == digest && k->version == version && has_arrived(&p))
        claim_note(s, k->uid)->lived = digest;
    return res;
}

static void hear(void *ctx, const struct store_event *ev)
{
    struct claims *s = ctx;

    claims_queue_by_node(s, s->lifecycle, ev);
}

void claim_lifecycle_register(struct claims *s)
{
    uint32_t workers = workers_linear(1000, 5000, s->c->options->cpu_milli);

    s->lifecycle = manager_add(s->c->manager, &(struct controller_spec){
                                                  .name = "nodeclaim.lifecycle",
                                                  .group = GROUP,
                                                  .kind = "NodeClaim",
                                                  .workers = workers,
                                                  .limit = limiter_scaled(1000000, 60 * 1000000ll, 10, 1000, workers),
                                                  .fn = reconcile,
                                                  .ctx = s,
                                              });
    store_subscribe(s->c->store, hear, s);
}
