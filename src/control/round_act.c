/* What a round has written down is done and said. */
#include "control/feed.h"
#include "control/metrics.h"
#include "control/round.h"

#define FAILED_SCHEDULING_MS (5 * 60 * 1000)
#define NO_TYPES_MS (60 * 1000)
#define LOST_US 1000000 /* after which a watch has told of a claim whose answer was lost */

/* ---- said ---- */

static void publish_pod(struct control *c, const struct round_pod *pod, bool warning, const char *reason, str message,
                        int64_t dedupe_ms, bool limited)
{
    recorder_publish(c->recorder, &(struct event){
                                      .object = {&api_pods, pod->ns, pod->name, pod->uid, {0}},
                                      .warning = warning,
                                      .reason = reason,
                                      .message = message,
                                      .dedupe = &pod->uid,
                                      .n_dedupe = 1,
                                      .dedupe_ms = dedupe_ms,
                                      .limited = limited,
                                  });
}

void round_say_nominated(struct control *c, struct arena *a, const struct round_pod *pod, str claim, str node)
{
    str message = arena_printf(a, "Pod should schedule on: %s" STR_FMT "%s%s" STR_FMT, claim.n ? "nodeclaim/" : "",
                               STR_ARG(claim), claim.n && node.n ? ", " : "", node.n ? "node/" : "", STR_ARG(node));

    publish_pod(c, pod, /* warning= */ false, "Nominated", message, /* dedupe_ms= */ 0, /* limited= */ true);
}

void round_say_refused(struct control *c, struct arena *a, const struct round_refusal *x)
{
    publish_pod(c, &x->pod, /* warning= */ true, "FailedScheduling",
                arena_printf(a, "Failed to schedule pod, " STR_FMT, STR_ARG(x->reason)), FAILED_SCHEDULING_MS,
                /* limited= */ false);
}

void round_say_dropped(struct control *c, const struct round_dropped *x)
{
    recorder_publish(
        c->recorder,
        &(struct event){
            .object = {.kind = &api_nodepools, .name = x->pool, .uid = x->uid},
            .warning = true,
            .reason = "NoCompatibleInstanceTypes",
            .message = x->by_min_values
                           ? STR("NodePool requirements filtered out all compatible available instance types due to "
                                 "minValues incompatibility")
                           : STR("NodePool requirements filtered out all compatible available instance types"),
            .dedupe = &x->uid,
            .n_dedupe = 1,
            .dedupe_ms = NO_TYPES_MS,
        });
}

/* ---- done ---- */

struct log *round_log(struct arena *a, const struct log *l, const struct round_claim *x)
{
    return log_with(a, l, LOG_FIELDS(LOG_OBJ("NodePool", STR(""), x->pool)));
}

/* How much of the pool's usage goes with the machines in whose place the claim comes. */
static int64_t leaving(const struct control *c, const struct round_claim *x, sym resource)
{
    int64_t sum = 0;

    for (uint32_t i = 0; i < x->n_leaving; i++) {
        const struct state_node *n = store_machine(c->store, x->leaving[i]);

        if (n && !n->deleting && str_eq(sym_str(c->syms, n->pool), x->pool))
            sum = sat_add(sum, reslist_value(&n->capacity, resource));
    }
    return sum;
}

/* The pool as it is now: a round may have been planned before others took what its limits allow. What is replaced does not count, as it did not when that was planned: a pool that is beyond its
 * limits because of it would keep it for ever. */
static bool within_limits(struct control *c, const struct round_claim *x, struct err *e)
{
    const struct nodepool *np = store_pool(c->store, x->pool);
    struct reslist used = store_pool_usage(c->store, x->pool);
    struct sb have = {0}, may = {0};
    bool ok = true;

    if (!np)
        return err_set(e, ERR_NOT_FOUND, "nodepool \"" STR_FMT "\" not found", STR_ARG(x->pool));
    for (uint32_t i = 0; ok && np->has_limits && i < np->limits.n; i++) {
        const struct resq *q = &np->limits.q[i];
        int64_t v = sat_sub(reslist_value(&used, q->name), leaving(c, x, q->name));

        if (v <= q->v)
            continue;
        quantity_print(&have, q->name, v, q->binary);
        quantity_print(&may, q->name, q->v, q->binary);
        ok = err_set(e, ERR_CAPACITY, STR_FMT " resource usage of " STR_FMT " exceeds limit of " STR_FMT,
                     STR_ARG(sym_str(c->syms, q->name)), STR_ARG(sb_view(&have)), STR_ARG(sb_view(&may)));
    }
    sb_fini(&have);
    sb_fini(&may);
    return ok;
}

/* What is left by limits was planned with; nobody may have taken of it since. */
static bool is_up_to_date(struct control *c, const struct round_claim *x, struct err *e)
{
    const struct nodepool *np = store_pool(c->store, x->pool);

    if (!np->has_limits || store_may_make(c->store, x->pool, x->plan, world_mono_us(c->world)))
        return true;
    return err_set(e, ERR_CONFLICT, "nodepool \"" STR_FMT "\" has limits, and others make nodeclaims of it",
                   STR_ARG(x->pool));
}

/* Whether a call that failed may have done what was asked all the same. */
static bool may_be_done(const struct err *e)
{
    switch (e->kind) {
    case ERR_TIMEOUT:
    case ERR_IO:
        return true;
    case ERR_NONE:
    case ERR_INVALID:
    case ERR_NOT_FOUND:
    case ERR_CONFLICT:
    case ERR_GONE:
    case ERR_THROTTLED:
    case ERR_CAPACITY:
    case ERR_DENIED:
        break;
    }
    return false;
}

static bool create(struct control *c, struct arena *a, const struct round_claim *x, struct tree **ret, struct err *e)
{
    assert(x->plan);
    store_make_begin(c->store, x->pool, x->plan);
    bool ok = api_create(c->api, a, &api_nodeclaims, STR(""), x->body, ret, e);
    if (ok)
        feed_answer(c->feed, OBJ_NODECLAIM, *ret);
    store_make_end(c->store, x->pool, !ok && may_be_done(e) ? world_mono_us(c->world) + LOST_US : INT64_MIN);
    return ok;
}

bool round_may_create(struct control *c, const struct round_claim *x, struct err *e)
{
    return within_limits(c, x, e) && is_up_to_date(c, x, e);
}

bool round_create(struct control *c, struct arena *a, struct log *l, const struct round_claim *x, const char *reason,
                  str *ret_name, struct err *e)
{
    struct tree *made;

    if (!round_may_create(c, x, e) || !create(c, a, x, &made, e))
        return false;
    *ret_name = tree_str(tree_at(made, "metadata", "name", NULL));
    metric_inc(c->metrics->nodeclaims_created_total, 1,
               METRIC_VALS(str_c(reason), x->pool, x->min_values_relaxed ? STR("true") : STR("false")));
    log_info(l, "created nodeclaim", LOG_OBJ("NodeClaim", STR(""), *ret_name), LOG_JSON("requests", x->requests),
             LOG_STR("instance-types", x->types));
    return true;
}

void round_nominate(struct control *c, struct arena *a, const struct round_node *n)
{
    for (uint32_t i = 0; i < n->n_pods; i++) {
        if (n->pods[i].buffer.n)
            continue; /* nobody is on the way */
        store_nominate(c->store, n->provider_id, world_now_ms(c->world));
        round_say_nominated(c, a, &n->pods[i], n->claim, n->node);
    }
}
