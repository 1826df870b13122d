/* static.provisioning, static.deprovisioning: pools with spec.replicas have that many claims, whatever pods there are (lifecycle 5.6). Behind the feature gate
 * StaticCapacity.
 *
 * A claim that was made is in the store when the next one is counted. What is about to be made is reserved, because disruption makes claims of such pools as well. */
#include "control/claim_int.h"
#include "control/fan.h"
#include "control/round.h"
#include "model/evict.h"

#define POLL_MS MINUTE_MS
#define LIMITED_POLL_MS 30000
#define UNSYNCED_POLL_MS 1000
#define MAKE_WIDTH 1000 /* NodeClaims that are created side by side */

/* ---- how many ---- */

/* Or is about to be replaced. */
static bool is_going(struct claims *s, str name)
{
    const struct kept *k = store_kept(s->c->store, OBJ_NODECLAIM, name);
    const struct nodeclaim *c = store_claim(s->c->store, name);

    return !k || k->deleted_ms != INT64_MIN ||
           (c && c->provider_id.n &&
            (store_is_marked(s->c->store, c->provider_id) || store_is_pending(s->c->store, c->provider_id)));
}

int64_t static_limit(const struct nodepool *p)
{
    const struct resq *limit = p->has_limits ? reslist_get(&p->limits, SYM(NODES)) : NULL;

    return limit ? limit->v / 1000 : INT64_MAX;
}

int64_t static_decide(const struct nodepool *p, struct pool_census v, bool *ret_limited)
{
    int64_t wanted = sat_sub(p->replicas, v.active);

    *ret_limited = false;
    if (wanted <= 0 || (int64_t)v.active + v.pending >= p->replicas)
        return MIN(wanted, 0);
    int64_t room = sat_sub(static_limit(p), (int64_t)v.active + v.pending + v.deleting);
    *ret_limited = room <= 0;
    return MAX(MIN(wanted, room), 0);
}

/* ---- more ---- */

struct making {
    struct claims *s;
    struct reconcile *r;
    struct round_claim claim;
    uint32_t n_failed;
    struct err err; /* the first */
};

static void make_one(void *ctx, uint32_t i UNUSED)
{
    struct making *m = ctx;
    struct err e;
    str name;

    if (!round_create(m->s->c, m->r->arena, m->r->log, &m->claim, "provisioned", &name, &e) && m->n_failed++ == 0)
        m->err = e;
    store_release(m->s->c->store, m->claim.pool, 1);
}

static struct result provision(struct reconcile *r)
{
    struct claims *s = r->ctx;
    struct draft d;
    bool limited;

    if (!pool_open(&d, s, r) || obj_is_deleting(d.obj))
        return RESULT_OK;
    const struct nodepool *p = store_pool(s->c->store, r->name);
    if (!p || !p->is_static || p->ready != COND_TRUE)
        return RESULT_OK;
    if (!store_synced(s->c->store) && !s->static_synced)
        return result_after_ms(UNSYNCED_POLL_MS);
    s->static_synced = true;
    struct pool_census v = store_pool_census(s->c->store, r->name);
    int64_t n = static_decide(p, v, &limited);
    if (n > 0)
        limited = (n = store_reserve(s->c->store, r->name, static_limit(p), n)) == 0;
    if (limited) {
        log_info(r->log, "nodepool node limit reached");
        return result_after_ms(LIMITED_POLL_MS);
    }
    if (n <= 0)
        return result_after_ms(POLL_MS);
    log_info(r->log, "provisioning nodeclaims to satisfy replica count", LOG_I64("current", v.active),
             LOG_I64("desired", p->replicas), LOG_I64("provision-count", n));
    struct making m = {.s = s, .r = r, .claim = round_claim_static(r->arena, s->c->store, s->c->syms, p)};
    m.claim.plan = store_plan_number(s->c->store);
    fan_out(s->c->world, "create nodeclaim", (uint32_t)n, MAKE_WIDTH, make_one, &m);
    if (m.n_failed == 0)
        return result_after_ms(POLL_MS);
    if (m.err.kind == ERR_CONFLICT)
        return result_requeue();
    r->err = m.err;
    err_lead(&r->err, "creating nodeclaims");
    return result_error();
}

/* ---- fewer ---- */

struct victim {
    str name;
    uint32_t rank; /* 0: without a machine, 1: empty, 2: with pods that may be moved, 3: with others */
    double cost;
};

static int by_cost(const void *a, const void *b, void *ctx)
{
    const struct victim *x = a, *y = b;

    (void)ctx;
    if (x->rank != y->rank)
        return x->rank < y->rank ? -1 : 1;
    return (x->cost > y->cost) - (x->cost < y->cost);
}

static struct victim judge(struct claims *s, str name)
{
    const struct nodeclaim *c = store_claim(s->c->store, name);
    struct victim v = {.name = name};
    int64_t now_ms = world_now_ms(s->c->world);
    bool several;

    if (!c || c->provider_id.n == 0)
        return v;
    str node = claim_node_name(s, c->provider_id, &several);
    struct pod_list pods = node.n ? store_pods_on(s->c->store, node) : (struct pod_list){0};
    v.rank = 1;
    for (uint32_t i = 0; i < pods.n; i++) {
        const struct pod *p = &store_pods(s->c->store)[pods.v[i]];

        if (pod_is_finished(p))
            continue;
        v.cost += pod_eviction_cost(p);
        if (p->owner != OWNER_DAEMONSET || pod_is_undisruptable(p, now_ms))
            v.rank = MAX(v.rank, 2u);
        if (pod_is_undisruptable(p, now_ms))
            v.rank = 3;
    }
    v.cost *= nodeclaim_lifetime_left(c, now_ms);
    return v;
}

/* The cheapest to lose first; of equals the first by name. */
static struct victim *victims(struct claims *s, struct reconcile *r, uint32_t *ret_n)
{
    struct names n = store_claims_of_pool(s->c->store, r->name);
    struct victim *v = arena_new_array(r->arena, struct victim, n.n);
    str *names = arena_dup_array(r->arena, str, n.v, n.n);

    *ret_n = 0;
    for (uint32_t i = 0; i < n.n; i++)
        if (!is_going(s, names[i]))
            v[(*ret_n)++] = judge(s, arena_strdup(r->arena, names[i]));
    sort_stable(v, *ret_n, sizeof(*v), by_cost, NULL);
    return v;
}

static struct result deprovision(struct reconcile *r)
{
    struct claims *s = r->ctx;
    struct draft d;
    uint32_t n_victims;
    bool limited;

    if (!pool_open(&d, s, r) || obj_is_deleting(d.obj))
        return RESULT_OK;
    const struct nodepool *p = store_pool(s->c->store, r->name);
    if (!p || !p->is_static)
        return RESULT_OK;
    struct pool_census v = store_pool_census(s->c->store, r->name);
    int64_t too_many = -static_decide(p, v, &limited);
    if (too_many <= 0)
        return result_after_ms(POLL_MS);
    log_info(r->log, "deprovisioning nodeclaims to satisfy replica count", LOG_I64("current", v.active),
             LOG_I64("desired", p->replicas), LOG_I64("deprovision-count", too_many));
    struct victim *x = victims(s, r, &n_victims);
    for (uint32_t i = 0; i < n_victims && i < too_many; i++) {
        struct err e;

        if (!write_delete(s->c, r->arena, OBJ_NODECLAIM, x[i].name, &e) && e.kind != ERR_NOT_FOUND) {
            err_lead(&e, "failed to deprovision nodeclaims");
            reconcile_fail(r, &e);
            continue;
        }
        log_debug(r->log, "deleting nodeclaim", LOG_OBJ("NodeClaim", STR(""), x[i].name));
    }
    return r->err.kind != ERR_NONE ? result_error() : result_after_ms(POLL_MS);
}

/* ---- when ---- */

bool static_is_news(const struct store_event *ev)
{
    const struct nodepool *was = ev->was, *is = ev->is;

    if (!is || !ev->kept_was || ev->kept_was->generation != ev->kept_is->generation)
        return is != NULL;
    return is->ready == COND_TRUE && (!was || was->ready != COND_TRUE);
}

static void hear(void *ctx, const struct store_event *ev)
{
    struct claims *s = ctx;
    const struct nodeclaim *was = ev->was, *is = ev->is, *c = is ? is : was;
    bool fewer = ev->kind == OBJ_NODECLAIM && (!is || (is->deleting && (!was || !was->deleting)));
    bool more = ev->kind == OBJ_NODECLAIM && !was;
    str pool = ev->name;
    sym name;

    if (ev->kind == OBJ_NODEPOOL ? !static_is_news(ev) : !fewer && !more)
        return;
    if (ev->kind == OBJ_NODECLAIM)
        pool = c && lset_value(s->c->syms, c->labels, SYM(NP), &name) ? sym_str(s->c->syms, name) : STR("");
    const struct nodepool *p = store_pool(s->c->store, pool);
    if (!p || !p->is_static)
        return;
    if (!more)
        queue_add(s->static_up, STR(""), pool);
    if (!fewer)
        queue_add(s->static_down, STR(""), pool);
}

void claim_static_register(struct claims *s)
{
    struct controller_spec spec = {
        .name = "static.provisioning",
        .group = GROUP,
        .kind = "NodePool",
        .workers = 10,
        .limit = limiter_default,
        .fn = provision,
        .ctx = s,
    };

    if (!s->c->options->gate_static_capacity)
        return;
    s->static_up = manager_add(s->c->manager, &spec);
    spec.name = "static.deprovisioning";
    spec.fn = deprovision;
    s->static_down = manager_add(s->c->manager, &spec);
    store_subscribe(s->c->store, hear, s);
}
