#include "control/eviction.h"

#include <stdlib.h>

#include "base/vec.h"
#include "control/node_int.h"

#define SEVERAL_BUDGETS                                                                                                \
    "This pod has more than one PodDisruptionBudget, which the eviction subresource does not support."

struct entry {
    char *text; /* namespace, name and uid, one after the other */
    str ns, name, uid;
};

struct evictions {
    struct control *c;
    struct queue *queue;
    VEC(struct entry) set; /* by namespace and name */
};

/* ---- the set ---- */

static int entry_cmp(const struct entry *e, str ns, str name)
{
    int c = str_cmp(e->ns, ns);

    return c ? c : str_cmp(e->name, name);
}

/* Where it is, or would be. */
static uint32_t place_of(const struct evictions *q, str ns, str name, bool *ret_there)
{
    uint32_t lo = 0, hi = q->set.n;

    while (lo < hi) {
        uint32_t mid = lo + (hi - lo) / 2;

        if (entry_cmp(&q->set.v[mid], ns, name) < 0)
            lo = mid + 1;
        else
            hi = mid;
    }
    *ret_there = lo < q->set.n && entry_cmp(&q->set.v[lo], ns, name) == 0;
    return lo;
}

static struct entry entry_of(str ns, str name, str uid)
{
    char *p = xmalloc(ns.n + name.n + uid.n + 1);

    if (ns.n)
        memcpy(p, ns.p, ns.n);
    memcpy(p + ns.n, name.p, name.n);
    memcpy(p + ns.n + name.n, uid.p, uid.n);
    return (struct entry){p, {p, ns.n}, {p + ns.n, name.n}, {p + ns.n + name.n, uid.n}};
}

bool evictions_has(const struct evictions *q, str ns, str name, str uid)
{
    bool there;
    uint32_t at = place_of(q, ns, name, &there);

    return there && str_eq(q->set.v[at].uid, uid);
}

uint32_t evictions_count(const struct evictions *q)
{
    return q->set.n;
}

void evictions_add(struct evictions *q, str ns, str name, str uid)
{
    bool there;
    uint32_t at = place_of(q, ns, name, &there);

    if (there && str_eq(q->set.v[at].uid, uid))
        return;
    if (there) {
        free(q->set.v[at].text);
    } else {
        (void)vec_add(&q->set);
        memmove(q->set.v + at + 1, q->set.v + at, (q->set.n - 1 - at) * sizeof(*q->set.v));
    }
    q->set.v[at] = entry_of(ns, name, uid);
    queue_add(q->queue, ns, name);
}

/* uid empty: whichever pod of the name is in. */
static void drop(struct evictions *q, str ns, str name, str uid)
{
    bool there;
    uint32_t at = place_of(q, ns, name, &there);

    if (!there || (uid.n && !str_eq(q->set.v[at].uid, uid)))
        return;
    free(q->set.v[at].text);
    memmove(q->set.v + at, q->set.v + at + 1, (q->set.n - at - 1) * sizeof(*q->set.v));
    q->set.n--;
}

/* ---- one pod ---- */

/* Why its node goes, as far as anybody knows. */
static str reason_of(const struct evictions *q, struct arena *a, str node_name)
{
    struct store *s = q->c->store;
    const struct node *n = store_node(s, node_name);
    struct names claims = n ? store_claims_by_id(s, n->provider_id) : (struct names){0};
    struct draft d;

    if (claims.n != 1 || !draft_open(&d, q->c, a, OBJ_NODECLAIM, claims.v[0]))
        return STR("");
    if (cond_is_true(d.obj, "DisruptionReason"))
        return cond_get(d.obj, "DisruptionReason").reason;
    return STR("Forceful Termination");
}

static void evicted(struct evictions *q, struct reconcile *r, str uid, str node)
{
    str reason = reason_of(q, r->arena, node);

    metric_inc(q->c->metrics->pods_drained_total, 1, METRIC_VALS(reason));
    recorder_publish(q->c->recorder,
                     &(struct event){.object = {.kind = &api_pods, .ns = r->ns, .name = r->name, .uid = uid},
                                     .reason = "Evicted",
                                     .message = arena_printf(r->arena, "Evicted pod: " STR_FMT, STR_ARG(reason)),
                                     .dedupe = &r->name,
                                     .n_dedupe = 1});
    drop(q, r->ns, r->name, uid);
}

/* Its budgets do not let it go now: said on the node, and tried again. */
static struct result refused(struct evictions *q, struct reconcile *r, str node, const char *why)
{
    if (!node_failed_draining(
            q->c, node,
            arena_printf(r->arena, "%s (Pod=" STR_FMT "/" STR_FMT ")", why, STR_ARG(r->ns), STR_ARG(r->name)))) {
        err_set(&r->err, ERR_NOT_FOUND, "getting node, nodes \"" STR_FMT "\" not found", STR_ARG(node));
        return result_error();
    }
    return result_requeue();
}

static struct result evict(struct reconcile *r)
{
    struct evictions *q = r->ctx;
    const struct pod *p = store_pod(q->c->store, r->ns, r->name);
    struct err e;
    int code;

    if (!p) {
        drop(q, r->ns, r->name, (str){0});
        return RESULT_OK;
    }
    if (!evictions_has(q, r->ns, r->name, p->uid))
        return RESULT_OK; /* a new pod of the same name */
    str uid = arena_strdup(r->arena, p->uid), node = sym_str(q->c->syms, p->node);
    bool ok = api_evict(q->c->api, r->arena, r->ns, r->name, uid, &code, &e);
    if (code)
        metric_inc(q->c->metrics->pods_eviction_requests_total, 1,
                   METRIC_VALS(ok ? STR("200") : arena_printf(r->arena, "%d", code)));
    if (ok) {
        evicted(q, r, uid, node);
        return RESULT_OK;
    }
    if (code == 404 || code == 409) { /* it is gone, or another one has its name */
        drop(q, r->ns, r->name, uid);
        return RESULT_OK;
    }
    if (code == 429)
        return refused(q, r, node, "evicting pod violates a PDB");
    if (str_contains(str_c(e.msg), STR(SEVERAL_BUDGETS)))
        return refused(q, r, node, "eviction does not support multiple PDBs");
    r->err = e;
    return result_error();
}

struct evictions *evictions_new(struct control *c)
{
    struct evictions *q = xcalloc(1, sizeof(*q));
    uint32_t n = workers_linear(100, 5000, c->options->cpu_milli);

    q->c = c;
    q->queue = manager_add(c->manager, &(struct controller_spec){
                                           .name = "eviction-queue",
                                           .group = "",
                                           .kind = "Pod",
                                           .workers = n,
                                           .limit = limiter_scaled(NODE_BACKOFF_US, NODE_BACKOFF_MAX_US, 100, 100, n),
                                           .fn = evict,
                                           .ctx = q});
    return q;
}

void evictions_free(struct evictions *q)
{
    if (!q)
        return;
    for (uint32_t i = 0; i < q->set.n; i++)
        free(q->set.v[i].text);
    vec_fini(&q->set);
    free(q);
}
