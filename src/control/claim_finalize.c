/* Finalization: the Node goes, then the machine, then the claim (lifecycle 3.6). */
#include "control/claim_int.h"
#include "data/edit.h"
#include "model/duration.h"

#define INSTANCE_POLL_MS 5000

static double seconds_since(const struct visit *p, int64_t from_ms)
{
    return from_ms == INT64_MIN ? 0 : (double)(world_now_ms(p->c->world) - from_ms) / 1000;
}

/* When every pod has to be gone by. What is there is never changed: node repair sets it to now. */
static bool annotate_deadline(struct visit *p, struct result *ret)
{
    struct arena *a = p->r->arena;
    str grace = tree_str(tree_at(p->d.obj, "spec", "terminationGracePeriod", NULL)), name = obj_name(p->d.obj);
    struct sb b = {0};
    int64_t ns;
    struct err e;

    if (grace.n == 0 || obj_annotation(p->d.obj, TERMINATION_TIME_ANNOTATION).n || !duration_parse(grace, &ns, &e))
        return true;
    time_print_rfc3339(&b, sat_add(obj_time_ms(p->d.obj, "deletionTimestamp"), ns / 1000000));
    str at = sb_dup(&b, a);
    sb_fini(&b);
    obj_set_annotation(a, p->d.obj, STR(TERMINATION_TIME_ANNOTATION), at);
    if (!draft_patch(&p->d, DRAFT_LOCKED, &e)) {
        *ret = write_failed(p->r, &e);
        return e.kind == ERR_NOT_FOUND;
    }
    recorder_publish(p->c->recorder,
                     &(struct event){
                         .object = claim_event_object(p->d.obj),
                         .warning = true,
                         .reason = "TerminationGracePeriodExpiring",
                         .message = arena_printf(a, "All pods will be deleted by " STR_FMT, STR_ARG(at)),
                         .dedupe = &name,
                         .n_dedupe = 1,
                     });
    log_info(p->log, "annotated nodeclaim", LOG_STR(TERMINATION_TIME_ANNOTATION, at));
    return true;
}

/* A machine that was bought in a pass whose patch then failed: the claim must know of it to get rid of it. */
static bool recall_launch(struct visit *p, struct result *ret)
{
    const struct launch *l = claim_note(p->s, obj_uid(p->d.obj))->launch;
    struct err e;

    if (!l || tree_at(p->d.obj, "status", "providerID", NULL))
        return true;
    claim_populate(p->r->arena, p->c->syms, p->d.obj, &l->machine);
    if (draft_patch(&p->d, DRAFT_BOTH, &e))
        return true;
    *ret = write_failed(p->r, &e);
    return false;
}

/* false: there are Nodes still, or they could not be deleted. */
static bool nodes_are_gone(struct visit *p, str id, struct result *ret)
{
    struct names n = store_nodes_by_id(p->c->store, id);
    str *names = arena_new_array(p->r->arena, str, n.n);
    uint32_t n_names = 0;
    struct err e;

    for (uint32_t i = 0; i < n.n; i++) {
        const struct kept *k = store_kept(p->c->store, OBJ_NODE, n.v[i]);

        if (k && k->deleted_ms == INT64_MIN)
            names[n_names++] = arena_strdup(p->r->arena, n.v[i]);
    }
    bool any = n.n != 0;
    for (uint32_t i = 0; i < n_names; i++)
        if (!write_delete(p->c, p->r->arena, OBJ_NODE, names[i], &e) && e.kind != ERR_NOT_FOUND) {
            reconcile_fail(p->r, &e);
            *ret = result_error();
        }
    return !any;
}

static struct nodeclaim as_claim(const struct visit *p)
{
    const struct nodeclaim *claim = store_claim(p->c->store, obj_name(p->d.obj));

    if (claim)
        return *nodeclaim_dup(p->r->arena, claim);
    /* One that cannot be read: it must be possible to get rid of its machine all the same. */
    return (struct nodeclaim){.name = obj_name(p->d.before),
                              .uid = obj_uid(p->d.before),
                              .provider_id = tree_str(tree_at(p->d.before, "status", "providerID", NULL))};
}

/* A machine that was bought by a process that died before the claim knew of it. */
static bool abandon(struct visit *p, struct result *ret)
{
    struct cloud *cloud = p->c->cloud;
    struct nodeclaim copy = as_claim(p);
    struct err e = {0};

    if (!cloud->abandon || cloud->abandon(cloud->self, p->r->arena, &copy, &e))
        return true;
    reconcile_fail(p->r, &e);
    *ret = result_error();
    return false;
}

/* false: it is still there, or nobody knows. */
static bool machine_is_gone(struct visit *p, struct result *ret)
{
    struct control *c = p->c;
    struct nodeclaim copy = as_claim(p);
    struct err e = {0}, write;
    bool under_way = c->cloud->destroy(c->cloud->self, p->r->arena, &copy, &e);
    if (!under_way && e.kind != ERR_NOT_FOUND) {
        reconcile_fail(p->r, &e);
        *ret = result_error();
        return false;
    }
    struct cond_object conds = draft_conds(&p->d);
    conds_init(&conds);
    conds_true(&conds, "InstanceTerminating");
    if (!draft_patch(&p->d, DRAFT_LOCKED | DRAFT_STATUS, &write)) {
        *ret = write_failed(p->r, &write);
        return false;
    }
    if (under_way) {
        *ret = result_after_ms(INSTANCE_POLL_MS);
        return false;
    }
    metric_observe(c->metrics->nodeclaims_instance_termination_duration,
                   seconds_since(p, cond_get(p->d.obj, "InstanceTerminating").since_ms),
                   METRIC_VALS(obj_label(p->d.obj, POOL_LABEL)), world_now_ms(c->world));
    return true;
}

static struct result let_go(struct visit *p)
{
    str pool = obj_label(p->d.obj, POOL_LABEL);
    struct err e;

    obj_drop_finalizer(p->d.obj, TERMINATION_FINALIZER);
    if (!draft_patch(&p->d, DRAFT_LOCKED, &e))
        return write_failed(p->r, &e);
    log_info(p->log, "deleted nodeclaim");
    metric_observe(p->c->metrics->nodeclaims_termination_duration,
                   seconds_since(p, obj_time_ms(p->d.before, "deletionTimestamp")), METRIC_VALS(pool),
                   world_now_ms(p->c->world));
    metric_inc(p->c->metrics->nodeclaims_terminated_total, 1,
               METRIC_VALS(pool, obj_label(p->d.obj, CAPACITY_LABEL), obj_label(p->d.obj, ZONE_LABEL)));
    return RESULT_OK;
}

struct result finalize_run(struct visit *p)
{
    struct result ret = RESULT_OK;

    if (!obj_has_finalizer(p->d.obj, TERMINATION_FINALIZER))
        return RESULT_OK;
    if (!annotate_deadline(p, &ret) || !recall_launch(p, &ret))
        return ret;
    str id = tree_str(tree_at(p->d.obj, "status", "providerID", NULL));
    if (cond_is_true(p->d.obj, "Registered") && !nodes_are_gone(p, id, &ret))
        return ret;
    if (id.n ? !machine_is_gone(p, &ret) : !abandon(p, &ret))
        return ret;
    return let_go(p);
}
