#include "control/eviction.h"

#include <stdlib.h>

#include "base/htab.h"
#include "base/sb.h"
#include "control/node_int.h"

#define SEVERAL_BUDGETS                                                                                                \
    "This pod has more than one PodDisruptionBudget, which the eviction subresource does not support."

struct entry {
    struct htab_node node; /* by "namespace/name" */
    str uid;
    char text[]; /* key and uid */
};

struct evictions {
    struct control *c;
    struct queue *queue;
    struct htab set;
    struct sb key; /* scratch */
};

/* ---- the set ---- */

static struct entry *entry_find(struct evictions *q, str ns, str name)
{
    sb_reset(&q->key);
    sb_str(&q->key, ns);
    sb_char(&q->key, '/');
    sb_str(&q->key, name);
    return HTAB_THING(htab_get(&q->set, sb_view(&q->key)), struct entry, node);
}

static struct entry *entry_new(str ns, str name, str uid)
{
    size_t n = ns.n + 1 + name.n;
    struct entry *e = xcalloc(1, sizeof(*e) + n + uid.n);

    memcpy(e->text, ns.p, ns.n);
    e->text[ns.n] = '/';
    memcpy(e->text + ns.n + 1, name.p, name.n);
    memcpy(e->text + n, uid.p, uid.n);
    e->node.key = (str){e->text, n};
    e->uid = (str){e->text + n, uid.n};
    return e;
}

static void drop(struct evictions *q, struct entry *e)
{
    if (!e)
        return;
    htab_del(&q->set, &e->node);
    free(e);
}

bool evictions_has(struct evictions *q, str ns, str name, str uid)
{
    const struct entry *e = entry_find(q, ns, name);

    return e && str_eq(e->uid, uid);
}

uint32_t evictions_count(const struct evictions *q)
{
    return q->set.n;
}

void evictions_add(struct evictions *q, str ns, str name, str uid, int64_t wait_ms)
{
    if (evictions_has(q, ns, name, uid))
        return;
    drop(q, entry_find(q, ns, name)); /* an older pod of the same name */
    htab_put(&q->set, &entry_new(ns, name, uid)->node);
    if (wait_ms)
        queue_add_after(q->queue, ns, name, wait_ms * 1000);
    else
        queue_add(q->queue, ns, name);
}

/* What became of a pod while we were asking is not known: the set may hold another one of its name by now. */
static void drop_pod(struct evictions *q, str ns, str name, str uid)
{
    if (evictions_has(q, ns, name, uid))
        drop(q, entry_find(q, ns, name));
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
    drop_pod(q, r->ns, r->name, uid);
}

/* Its budgets do not let it go now: said on the node, and tried again. */
static struct result refused(struct evictions *q, struct reconcile *r, str node, const char *why)
{
    if (!node_failed_draining(q->c, node, "%s (Pod=" STR_FMT "/" STR_FMT ")", why, STR_ARG(r->ns), STR_ARG(r->name))) {
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
        drop(q, entry_find(q, r->ns, r->name));
        return RESULT_OK;
    }
    if (!evictions_has(q, r->ns, r->name, UID_STR(p->uid)))
        return RESULT_OK; /* a new pod of the same name */
    str uid = arena_strdup(r->arena, UID_STR(p->uid)), node = sym_str(q->c->syms, p->node);
    bool ok = api_evict(q->c->api, r->arena, r->ns, r->name, &(struct api_delete_options){.uid = uid}, &code, &e);
    if (code)
        metric_inc(q->c->metrics->pods_eviction_requests_total, 1,
                   METRIC_VALS(ok ? STR("200") : arena_printf(r->arena, "%d", code)));
    if (ok) {
        evicted(q, r, uid, node);
        return RESULT_OK;
    }
    if (code == 404 || code == 409) { /* it is gone, or another one has its name */
        drop_pod(q, r->ns, r->name, uid);
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
    struct htab_walk w = {0};
    struct htab_node *n;

    if (!q)
        return;
    while ((n = htab_next(&q->set, &w)))
        free(HTAB_THING(n, struct entry, node));
    htab_fini(&q->set);
    sb_fini(&q->key);
    free(q);
}
