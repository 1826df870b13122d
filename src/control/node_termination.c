/* node.termination: a Node that is being deleted is emptied, its machine is given back, and then it may go (lifecycle 6).
 *
 * The claim tells how far it is: conditions Drained, VolumesDetached and InstanceTerminating. A node without a claim, or with several, is emptied all the same. */
#include "control/node_drain.h"
#include "control/node_int.h"
#include "control/node_volumes.h"
#include "control/protection.h"
#include "data/edit.h"
#include "model/duration.h"

enum {
    DRAIN_POLL_MS = 1000,
    DRAIN_MIN_MS = 5000, /* so that endpoints and load balancers have heard of it */
    INSTANCE_POLL_MS = 5000,
    NAMES_IN_EVENT = 5,
    MAX_WAITING = 4096, /* nodes of which it is known what they wait for */
};

/* One pass over one Node. */
struct departure {
    struct nodes *s;
    struct control *c;
    struct reconcile *r;
    struct log *log;
    struct draft node, claim;
    bool has_claim;
    bool waits;          /* for pods to go */
    bool in_company;     /* other nodes have begun to be emptied just now */
    int64_t deadline_ms; /* NO_DEADLINE */
};

/* Steps say whether the next one may follow; if not, *ret is how the pass ends. */
typedef bool (*step_fn)(struct departure *p, struct result *ret);

static int64_t now_ms(const struct departure *p)
{
    return world_now_ms(p->c->world);
}

static bool stop(struct result *ret, struct result with)
{
    *ret = with;
    return false;
}

static bool fail(struct departure *p, struct result *ret, const struct err *e, const char *what)
{
    return stop(ret, node_error(p->r, e, what));
}

/* ---- the end ---- */

/* As a client with a strategic merge patch sends it: other finalizers stay, whoever adds one meanwhile. */
static struct tree *without_finalizer(struct arena *a, const struct tree *node)
{
    struct tree *patch = tree_new_map(a), *meta = tree_sub(a, patch, "metadata");
    const struct tree *all = tree_at(node, "metadata", "finalizers", NULL);

    if (all->n == 1) {
        tree_set(a, meta, "finalizers", tree_of_null());
        return patch;
    }
    struct tree *order = tree_sublist(a, meta, "$setElementOrder/finalizers");
    for (uint32_t i = 0; i < all->n; i++)
        if (!str_is(tree_str(&all->items[i]), TERMINATION_FINALIZER))
            tree_push(a, order, all->items[i]);
    tree_push(a, tree_sublist(a, meta, "$deleteFromPrimitiveList/finalizers"), tree_of_str(STR(TERMINATION_FINALIZER)));
    return patch;
}

static void count_end(struct departure *p)
{
    const struct tree *node = p->node.obj;
    struct control_metrics *m = p->c->metrics;
    str pool = obj_label(node, POOL_LABEL), zone = obj_label(node, ZONE_LABEL);
    int64_t now = now_ms(p);

    metric_inc(m->nodes_terminated_total, 1, METRIC_VALS(pool, zone));
    metric_observe(m->nodes_termination_duration, (double)(now - obj_time_ms(node, "deletionTimestamp")) / 1e3,
                   METRIC_VALS(pool), now);
    metric_observe(m->nodes_lifetime_duration, (double)(now - obj_time_ms(node, "creationTimestamp")) / 1e3,
                   METRIC_VALS(pool), now);
}

static struct result release(struct departure *p)
{
    struct arena *a = p->r->arena;
    struct api_ref ref = {.kind = &api_nodes, .name = p->r->name};
    struct err e;

    if (!api_patch(p->c->api, a, &ref, NULL, API_STRATEGIC, without_finalizer(a, p->node.obj), NULL, &e))
        return e.kind == ERR_NOT_FOUND ? RESULT_OK : node_error(p->r, &e, "removing finalizer");
    log_info(p->log, "deleted node");
    count_end(p);
    return RESULT_OK;
}

/* ---- the steps ---- */

static bool delete_claim(struct departure *p, struct result *ret)
{
    struct err e;

    if (!p->has_claim || obj_is_deleting(p->claim.obj))
        return true;
    if (!write_delete(p->c, p->r->arena, OBJ_NODECLAIM, obj_name(p->claim.obj), &e) && e.kind != ERR_NOT_FOUND)
        return fail(p, ret, &e, "deleting nodeclaim");
    return true;
}

/* Nobody answers on a machine that is gone: there is nothing to drain. */
static bool check_machine(struct departure *p, struct result *ret)
{
    struct machine m;
    struct err e;

    if (cond_is_true(p->node.obj, "Ready") ||
        p->c->cloud->get(p->c->cloud->self, p->r->arena, tree_str(tree_at(p->node.obj, "spec", "providerID", NULL)), &m,
                         &e))
        return true;
    if (e.kind != ERR_NOT_FOUND)
        return fail(p, ret, &e, "getting nodeclaim");
    return stop(ret, release(p));
}

static bool read_deadline(struct departure *p, struct result *ret)
{
    str text = p->has_claim ? obj_annotation(p->claim.obj, TERMINATION_TIME_ANNOTATION) : (str){0};
    struct err e;

    p->deadline_ms = NO_DEADLINE;
    if (!text.n)
        return true;
    if (!time_parse_rfc3339(text, &p->deadline_ms, &e))
        return fail(p, ret, &e, "parsing annotation " TERMINATION_TIME_ANNOTATION);
    recorder_publish(
        p->c->recorder,
        &(struct event){.object = node_event_object(p->node.obj),
                        .warning = true,
                        .reason = "TerminationGracePeriodExpiring",
                        .message = arena_printf(p->r->arena, "All pods will be deleted by " STR_FMT, STR_ARG(text)),
                        .dedupe = &p->r->name,
                        .n_dedupe = 1});
    return true;
}

static bool taint(struct departure *p, struct result *ret)
{
    struct err e;

    node_taint_disrupted(p->r->arena, p->node.obj);
    obj_set_label(p->r->arena, p->node.obj, STR(NODE_NO_BALANCER_LABEL), STR("karpenter"));
    if (!draft_changed(&p->node))
        return true;
    if (!draft_patch(&p->node, DRAFT_LOCKED, &e)) {
        if (e.kind == ERR_CONFLICT || e.kind == ERR_NOT_FOUND)
            return stop(ret, write_failed(p->r, &e));
        return fail(p, ret, &e, "tainting node with " NODE_DISRUPTED_TAINT ":NoSchedule");
    }
    log_info(p->log, "tainted node", LOG_STR("taint.Key", STR(NODE_DISRUPTED_TAINT)), LOG_STR("taint.Value", STR("")),
             LOG_STR("taint.Effect", STR("NoSchedule")));
    return true;
}

/* As Go prints a time: 2026-11-15 09:05:51 +0000 UTC */
static str go_time(struct arena *a, int64_t ms)
{
    struct sb b = {0};

    time_print_rfc3339(&b, ms);
    str day = str_sub(sb_view(&b), 0, 10), clock = str_sub(sb_view(&b), 11, 19);
    str text = arena_printf(a, STR_FMT " " STR_FMT " +0000 UTC", STR_ARG(day), STR_ARG(clock));
    sb_fini(&b);
    return text;
}

/* Budgets and do-not-disrupt notwithstanding: the pod has as much of its grace as there is left. */
static bool expire_pod(struct departure *p, const struct drain_pod *pod, struct err *e)
{
    struct arena *a = p->r->arena;
    struct api_ref ref = {.kind = &api_pods, .ns = pod->ns, .name = pod->name};
    struct api_delete_options o = {.has_grace = true, .grace_s = drain_grace_s(p->deadline_ms, now_ms(p))};
    struct sb when = {0};

    recorder_publish(
        p->c->recorder,
        &(struct event){
            .object = {.kind = &api_pods, .ns = pod->ns, .name = pod->name, .uid = pod->uid},
            .reason = "Disrupted",
            .message = arena_printf(a,
                                    "Deleting the pod to accommodate the terminationTime " STR_FMT
                                    " of the node. The pod was granted %lld seconds of grace-period of its %lld "
                                    "terminationGracePeriodSeconds. This bypasses the PDB of the pod and the "
                                    "do-not-disrupt annotation.",
                                    STR_ARG(go_time(a, p->deadline_ms)), (long long)o.grace_s, (long long)pod->grace_s),
            .dedupe = &pod->name,
            .n_dedupe = 1,
        });
    if (!api_delete(p->c->api, a, &ref, &o, e) && e->kind != ERR_NOT_FOUND)
        return false;
    time_print_rfc3339(&when, p->deadline_ms);
    log_debug(p->log, "deleting pod", LOG_STR("namespace", pod->ns), LOG_STR("name", pod->name),
              LOG_I64("pod.terminationGracePeriodSeconds", pod->grace_s),
              LOG_I64("delete.gracePeriodSeconds", o.grace_s), LOG_STR("nodeclaim.terminationTime", sb_view(&when)));
    sb_fini(&when);
    return true;
}

static bool drain(struct departure *p, struct result *ret)
{
    struct control *c = p->c;
    struct arena *a = p->r->arena;
    struct drain d =
        drain_decide(a, c->syms, store_pods(c->store), store_pods_on(c->store, p->r->name), p->deadline_ms, now_ms(p));
    const struct node *node = store_node(c->store, p->r->name);
    struct err e;

    if (p->in_company && node)
        drain_large_first(&d, store_pods(c->store), &node->allocatable);
    for (uint32_t i = 0; i < d.n_asked; i++) /* first, while the pods are those that were looked at */
        protection_say(c->recorder, a, c->syms, &store_pods(c->store)[d.asked[i]], now_ms(p));
    for (uint32_t i = 0; i < d.n_expiring; i++)
        if (!expire_pod(p, &d.expiring[i], &e))
            return fail(p, ret, &e, "deleting expiring pods, deleting pod");
    for (uint32_t i = 0; i < d.n_evict; i++)
        evictions_add(p->s->evictions, d.evict[i].ns, d.evict[i].name, d.evict[i].uid, d.evict[i].wait_ms);
    if (d.n_waiting == 0)
        return true;
    p->waits = true;
    (void)node_failed_draining(c, p->r->name, "%u pods are waiting to be evicted", d.n_waiting);
    return stop(ret, result_after_ms(DRAIN_POLL_MS));
}

/* Where many nodes are consolidated at once, kube-scheduler finds places for their pods in the order in which they are evicted. Karpenter's is any order. */
static void begin_drain(struct departure *p)
{
    struct cond reason = cond_get(p->claim.obj, "DisruptionReason");
    int64_t now = now_ms(p), before = p->s->drain_began_ms;

    p->s->drain_began_ms = now;
    p->in_company = p->c->options->settings.consolidation != CONSOLIDATION_COMPAT && now - before < DRAIN_MIN_MS &&
                    str_is(reason.reason, "Underutilized");
}

static bool await_drain(struct departure *p, struct result *ret)
{
    if (!p->has_claim)
        return drain(p, ret);
    struct cond_object conds = draft_conds(&p->claim);
    if (!cond_get(p->claim.obj, "Drained").present) {
        (void)conds_unknown(&conds, "Drained", STR("Draining"), STR("Draining"));
        begin_drain(p);
    }
    if (!drain(p, ret))
        return false;
    struct cond drained = cond_get(p->claim.obj, "Drained");
    int64_t age = now_ms(p) - drained.since_ms; /* far below 0: the clock was set back since */
    if (cond_is_unknown(p->claim.obj, "Drained") && age > -DRAIN_MIN_MS && age < DRAIN_MIN_MS)
        return stop(ret, result_after_ms(DRAIN_POLL_MS));
    conds = draft_conds(&p->claim); /* it is later now */
    (void)conds_true(&conds, "Drained");
    return true;
}

/* "a, b, c and 2 other(s)" */
static str some_names(struct arena *a, const str *v, uint32_t n)
{
    struct sb b = {0};

    for (uint32_t i = 0; i < MIN(n, (uint32_t)NAMES_IN_EVENT); i++)
        sb_printf(&b, "%s" STR_FMT, i ? ", " : "", STR_ARG(v[i]));
    if (n > NAMES_IN_EVENT)
        sb_printf(&b, " and %u other(s)", n - NAMES_IN_EVENT);
    str text = sb_dup(&b, a);
    sb_fini(&b);
    return text;
}

static void note_volumes(struct departure *p, uint32_t n_left, bool late)
{
    struct cond_object conds = draft_conds(&p->claim);
    str elapsed = STR("TerminationGracePeriodElapsed"), waiting = STR("AwaitingVolumeDetachment");

    if (n_left == 0)
        (void)conds_true(&conds, "VolumesDetached");
    else if (late)
        (void)conds_false(&conds, "VolumesDetached", elapsed, elapsed);
    else
        (void)conds_unknown(&conds, "VolumesDetached", waiting, waiting);
}

static bool await_volumes(struct departure *p, struct result *ret)
{
    struct arena *a = p->r->arena;
    struct volumes_left left = volumes_left(a, p->c->syms, p->c->store, p->r->name, now_ms(p));
    bool late = now_ms(p) > p->deadline_ms;

    if (p->has_claim)
        note_volumes(p, left.n, late);
    if (left.n == 0 || late)
        return true;
    recorder_publish(
        p->c->recorder,
        &(struct event){.object = node_event_object(p->node.obj),
                        .reason = "AwaitingVolumeDetachment",
                        .message = arena_printf(a, "Awaiting deletion of bound volumeattachments (" STR_FMT ")",
                                                STR_ARG(some_names(a, left.v, left.n))),
                        .dedupe = &p->r->name,
                        .n_dedupe = 1});
    return stop(ret, result_after_ms(DRAIN_POLL_MS));
}

static bool await_machine(struct departure *p, struct result *ret)
{
    struct nodeclaim known = {.provider_id = tree_str(tree_at(p->node.obj, "spec", "providerID", NULL))};
    struct err e;

    if (!p->has_claim)
        return true;
    known.name = obj_name(p->claim.obj);
    const struct nodeclaim *stored = store_claim(p->c->store, known.name);
    /* A claim that cannot be read, or has just gone, may have a machine all the same. */
    const struct nodeclaim *claim = stored ? nodeclaim_dup(p->r->arena, stored) : &known;
    bool going = p->c->cloud->destroy(p->c->cloud->self, p->r->arena, claim, &e);
    if (!going && e.kind != ERR_NOT_FOUND)
        return fail(p, ret, &e, "ensuring instance termination");
    struct cond_object conds = draft_conds(&p->claim);
    (void)conds_true(&conds, "InstanceTerminating");
    return going ? stop(ret, result_after_ms(INSTANCE_POLL_MS)) : true;
}

/* What the steps have found out becomes part of the claim, however they ended. False: *ret is how the pass ends. */
static bool note_on_claim(struct departure *p, struct result *ret)
{
    struct err e;

    if (!p->has_claim || !draft_changed(&p->claim))
        return true;
    bool drained = !cond_is_true(p->claim.before, "Drained") && cond_is_true(p->claim.obj, "Drained");
    if (!draft_patch(&p->claim, DRAFT_LOCKED | DRAFT_STATUS, &e)) {
        if (e.kind == ERR_NOT_FOUND)
            return true;
        return stop(ret, write_failed(p->r, &e));
    }
    if (drained)
        metric_inc(p->c->metrics->nodes_drained_total, 1, METRIC_VALS(obj_label(p->node.obj, POOL_LABEL)));
    return true;
}

/* ---- waiting ---- */

/* What a pass has seen that ended because pods are waited for. The next one would come to the same end as long as Node and claim are what they were, so that only the pods have
 * to be looked at. A node with a deadline, or one that nobody answers on, is looked at as a whole. */
struct waiting {
    uint64_t node, claim; /* resource versions */
};

static uint64_t version_of(const struct tree *obj)
{
    int64_t n = 0;

    return str_to_i64(tree_str(tree_at(obj, "metadata", "resourceVersion", NULL)), &n) ? (uint64_t)n : 0;
}

static void note_wait(const struct departure *p)
{
    struct waiting *w = lru_get(&p->s->waiting, p->r->name);

    if (!p->waits || p->deadline_ms != NO_DEADLINE || !p->has_claim || !obj_is_deleting(p->claim.before) ||
        !cond_is_true(p->node.obj, "Ready"))
        return;
    if (!w)
        w = lru_put(&p->s->waiting, p->r->name);
    *w = (struct waiting){version_of(p->node.before), version_of(p->claim.before)};
}

static bool still_waits(struct departure *p, struct result *ret)
{
    struct store *s = p->c->store;
    const struct waiting *w = lru_get(&p->s->waiting, p->r->name);
    const struct node *n = w ? store_node(s, p->r->name) : NULL;
    struct names claims = n ? store_claims_by_id(s, n->provider_id) : (struct names){0};

    if (claims.n != 1 || w->node == 0 || w->node != store_version(s, OBJ_NODE, (str){0}, p->r->name) ||
        w->claim != store_version(s, OBJ_NODECLAIM, (str){0}, claims.v[0]))
        return false;
    p->deadline_ms = NO_DEADLINE;
    return !drain(p, ret);
}

static struct result finalize(struct departure *p)
{
    static const step_fn before[] = {delete_claim, check_machine, read_deadline, taint};
    static const step_fn steps[] = {await_drain, await_volumes, await_machine};
    struct result ret = RESULT_OK, conflict;
    bool done = true;

    for (size_t i = 0; i < ARRAY_LEN(before); i++)
        if (!before[i](p, &ret))
            return ret;
    if (p->has_claim) {
        struct cond_object conds = draft_conds(&p->claim);

        conds_init(&conds);
    }
    for (size_t i = 0; i < ARRAY_LEN(steps) && done; i++)
        done = steps[i](p, &ret);
    if (!note_on_claim(p, &conflict))
        return conflict;
    note_wait(p);
    return done ? release(p) : ret;
}

static struct result terminate(struct reconcile *r)
{
    struct nodes *s = r->ctx;
    const struct kept *k = store_kept(s->c->store, OBJ_NODE, r->name);
    struct departure p = {.s = s, .c = s->c, .r = r, .log = r->log};
    struct result ret;

    if (!k || !k->managed || k->deleted_ms == INT64_MIN)
        return RESULT_OK;
    if (still_waits(&p, &ret))
        return ret;
    if (!draft_open(&p.node, s->c, r->arena, OBJ_NODE, r->name) ||
        !obj_has_finalizer(p.node.obj, TERMINATION_FINALIZER))
        return RESULT_OK;
    p.has_claim = node_claim_open(s->c, r->arena, p.node.obj, &p.claim);
    if (p.has_claim)
        p.log = log_with(r->arena, r->log, LOG_FIELDS(LOG_OBJ("NodeClaim", STR(""), obj_name(p.claim.obj))));
    return finalize(&p);
}

void termination_register(struct nodes *s)
{
    uint32_t n = workers_linear(100, 5000, s->c->options->cpu_milli);

    s->waiting = (struct lru){.cap = MAX_WAITING, .size = sizeof(struct waiting)};
    s->drain_began_ms = -DRAIN_MIN_MS;
    s->termination =
        manager_add(s->c->manager,
                    &(struct controller_spec){.name = "node.termination",
                                              .group = "",
                                              .kind = "Node",
                                              .workers = n,
                                              .limit = limiter_scaled(NODE_BACKOFF_US, NODE_BACKOFF_MAX_US, 10, 100, n),
                                              .fn = terminate,
                                              .ctx = s});
}
