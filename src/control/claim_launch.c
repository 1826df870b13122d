/* Launch: a machine is bought for the claim, once (lifecycle 3.2).
 *
 * What the cloud answered is remembered until the claim itself says so, because a second answer would be a second machine. */
#include <stdlib.h>

#include "control/claim_int.h"
#include "data/edit.h"

void launch_free(struct launch *l)
{
    if (!l)
        return;
    arena_free(l->arena);
    free(l);
}

static void overlay(struct arena *a, struct tree *claim, const char *map, const struct annotation *v, uint32_t n,
                    bool replace)
{
    for (uint32_t i = 0; i < n; i++) {
        struct tree *to = tree_path(a, claim, "metadata", map, NULL);

        if (replace || !tree_find(to, v[i].key))
            *tree_put(a, to, arena_strdup(a, v[i].key)) = tree_of_str(arena_strdup(a, v[i].val));
    }
}

void claim_populate(struct arena *a, const struct syms *t, struct tree *claim, const struct machine *m)
{
    overlay(a, claim, "labels", m->labels, m->n_labels, /* replace= */ false);
    overlay(a, claim, "annotations", m->annotations, m->n_annotations, /* replace= */ true);

    struct tree *status = tree_sub(a, claim, "status");
    tree_set_str(a, status, "providerID", arena_strdup(a, m->provider_id));
    if (m->image_id.n)
        tree_set_str(a, status, "imageID", arena_strdup(a, m->image_id));
    if (m->allocatable.n)
        tree_set(a, status, "allocatable", tree_of_resources(a, t, &m->allocatable));
    if (m->capacity.n)
        tree_set(a, status, "capacity", tree_of_resources(a, t, &m->capacity));
}

/* The claim is given up: whoever wanted it makes another one. */
static void give_up(struct visit *p, const char *reason, const struct err *why)
{
    struct err e;

    log_error(p->log, "failed launching nodeclaim", why);
    if (!visit_delete(p, reason, &e) && e.kind != ERR_NOT_FOUND)
        reconcile_fail(p->r, &e);
}

static void no_capacity(struct visit *p, struct err *e)
{
    struct arena *a = p->r->arena;
    str uid = obj_uid(p->d.obj);

    err_lead(e, "insufficient capacity");
    recorder_publish(p->c->recorder,
                     &(struct event){
                         .object = claim_event_object(p->d.obj),
                         .warning = true,
                         .reason = "InsufficientCapacityError",
                         .message = arena_printf(a, "NodeClaim " STR_FMT " event: " STR_FMT,
                                                 STR_ARG(obj_name(p->d.obj)), STR_ARG(error_text(a, e->msg))),
                         .dedupe = &uid,
                         .n_dedupe = 1,
                     });
    give_up(p, "insufficient_capacity", e);
}

static void failed(struct visit *p, struct err *e)
{
    struct cond_object conds = draft_conds(&p->d);
    str text = error_text(p->r->arena, e->msg);

    if (e->kind == ERR_CAPACITY) {
        no_capacity(p, e);
        return;
    }
    if (strcmp(e->code, CLOUD_NOT_READY) == 0) {
        err_lead(e, "NodeClassRef not ready");
        give_up(p, "nodeclass_not_ready", e);
        return;
    }
    conds_unknown(&conds, "Launched", e->code[0] ? str_c(e->code) : STR("LaunchFailed"), text);
    if (e->code[0])
        err_lead(e, "creating nodeclaim");
    err_lead(e, "launching nodeclaim");
    reconcile_fail(p->r, e);
}

static struct launch *buy(struct visit *p, struct err *e)
{
    struct control *c = p->c;
    const struct nodeclaim *claim = store_claim(c->store, obj_name(p->d.obj));
    struct launch l = {0};

    if (!claim) {
        (void)err_set(e, ERR_INVALID, "the NodeClaim cannot be read");
        return NULL;
    }
    claim = nodeclaim_dup(p->r->arena, claim);
    const struct nodeclass *k = store_class(c->store, &claim->class_ref);
    if (k)
        k = nodeclass_dup(p->r->arena, k);
    l.arena = arena_new(4096);
    if (!c->cloud->create(c->cloud->self, l.arena, c->syms, claim, k, &l.machine, e)) {
        arena_free(l.arena);
        return NULL;
    }
    struct launch *ret = xmalloc(sizeof(*ret));
    *ret = l;
    return ret;
}

/* aws:///us-west-2a/i-0123 is the machine i-0123. */
static str machine_of(str provider_id)
{
    size_t from = provider_id.n;

    while (from > 0 && provider_id.p[from - 1] != '/')
        from--;
    return str_sub(provider_id, from, provider_id.n);
}

/* Karpenter's own line, and the shorter one that people's searches for launches know from before. */
static void tell(struct visit *p, const struct machine *m)
{
    str type = obj_label(p->d.obj, ITYPE_LABEL), capacity = obj_label(p->d.obj, CAPACITY_LABEL);
    struct sb b = {0};

    reslist_print_json(&b, p->c->syms, &m->allocatable);
    log_info(p->log, "launched nodeclaim", LOG_STR("provider-id", m->provider_id), LOG_STR("instance-type", type),
             LOG_STR("zone", obj_label(p->d.obj, ZONE_LABEL)), LOG_STR("capacity-type", capacity),
             LOG_JSON("allocatable", sb_view(&b)));
    log_info(p->log, "launched node", LOG_STR("node", machine_of(m->provider_id)), LOG_STR("instance-type", type),
             LOG_STR("capacity-type", capacity));
    sb_fini(&b);
}

static bool is_there(const struct visit *p)
{
    const struct kept *k = store_kept(p->c->store, OBJ_NODECLAIM, obj_name(p->d.obj));

    return k && str_eq(k->uid, obj_uid(p->d.obj));
}

void launch_run(struct visit *p)
{
    struct cond_object conds = draft_conds(&p->d);
    str uid = obj_uid(p->d.obj);
    struct err e;

    if (!cond_is_unknown(p->d.obj, "Launched")) {
        conds_refresh(&conds, "Launched");
        struct claim_note *n = claim_note(p->s, uid);
        if (cond_is_true(p->d.obj, "Launched")) {
            launch_free(n->launch);
            n->launch = NULL;
        }
        return;
    }
    if (!is_there(p))
        return;
    struct launch *l = claim_note(p->s, uid)->launch;
    bool known = l != NULL; /* bought by a run whose patch failed */
    if (!l) {
        l = buy(p, &e);
        if (!l) {
            failed(p, &e);
            return;
        }
        if (!is_there(p)) { /* its finalizer was taken off meanwhile; the provider collects machines without a claim */
            launch_free(l);
            return;
        }
        claim_note(p->s, uid)->launch = l;
    }
    claim_populate(p->r->arena, p->c->syms, p->d.obj, &l->machine);
    if (!known)
        tell(p, &l->machine);
    p->log = machine_log(p->r->arena, p->r->log, p->d.obj);
    conds = draft_conds(&p->d);
    conds_true(&conds, "Launched");
}
