/* Series for every Node: what it has, what its pods ask for, how old it is. */
#include "control/metrics_objects_int.h"
#include "model/evict.h"

#define MAX_VALS METRIC_LABELS

/* One Node while it is written. */
struct row {
    struct object_metrics *m;
    const struct metric *f;
    struct sb *out;
    str vals[MAX_VALS];
    uint32_t n;
};

/* status.phase; empty where nobody writes it, which is what kubelets do. */
static str phase_of(str text)
{
    static const char status[] = "\"status\":{", phase[] = "\"phase\":\"";
    const char *end = text.p + text.n, *p = memmem(text.p, text.n, status, sizeof(status) - 1);
    const char *at = p ? memmem(p, (size_t)(end - p), phase, sizeof(phase) - 1) : NULL;

    if (!at)
        return (str){0};
    at += sizeof(phase) - 1;
    const char *quote = memchr(at, '"', (size_t)(end - at));
    return quote ? (str){at, (size_t)(quote - at)} : (str){0};
}

static void row_begin(struct row *r, const struct node *n)
{
    struct object_metrics *m = r->m;
    const struct kept *k = store_kept(m->c->store, OBJ_NODE, n->name);

    r->n = 0;
    for (uint32_t i = 0; i < m->c->metrics->n_node_keys; i++)
        r->vals[r->n++] = metric_label(m, n->labels, m->node_keys[i]);
    r->vals[r->n++] = n->name;
    r->vals[r->n++] = phase_of(k->text);
    r->vals[r->n++] = store_claims_by_id(m->c->store, n->provider_id).n ? STR("true") : STR("false");
}

static void row_list(struct row *r, const struct reslist *l)
{
    for (uint32_t i = 0; i < l->n; i++) {
        r->vals[r->n] = metric_resource(r->m, l->q[i].name);
        metric_emit(r->out, r->f, metric_amount(l->q[i].name, l->q[i].v), r->vals);
    }
}

/* What pods of the Node ask for, or are held to: all of them, or those of DaemonSets. */
static struct reslist pods_total(struct object_metrics *m, str node, bool limits, bool daemons)
{
    struct pod_list on = store_pods_on(m->c->store, node);
    const struct pod *pods = store_pods(m->c->store);
    struct reslist sum = {0};
    int64_t n = 0;

    for (uint32_t i = 0; i < on.n; i++) {
        const struct pod *p = &pods[on.v[i]];

        if (pod_is_finished(p) || (daemons && p->owner != OWNER_DAEMONSET))
            continue;
        reslist_add(m->tmp, &sum, limits ? &p->spec->limits : &p->spec->requests);
        n++;
    }
    if (n)
        reslist_set(m->tmp, &sum, SYM(PODS), n * 1000, /* binary= */ false);
    return sum;
}

static void node_row(struct row *r, const struct node *n)
{
    const struct control_metrics *x = r->m->c->metrics;
    struct object_metrics *m = r->m;
    struct reslist l = {0};

    row_begin(r, n);
    if (r->f == x->nodes_current_lifetime) {
        metric_emit(r->out, r->f, (double)(world_now_ms(m->c->world) - n->created_ms) / 1e3, r->vals);
        return;
    }
    if (r->f == x->nodes_allocatable) {
        l = n->allocatable;
    } else if (r->f == x->nodes_system_overhead) {
        l = reslist_dup(m->tmp, &n->capacity);
        reslist_sub(&l, &n->allocatable);
    } else {
        bool limits = r->f == x->nodes_total_pod_limits || r->f == x->nodes_total_daemon_limits;
        bool daemons = r->f == x->nodes_total_daemon_requests || r->f == x->nodes_total_daemon_limits;

        l = pods_total(m, n->name, limits, daemons);
    }
    row_list(r, &l);
}

static bool collect_node(void *ctx, const struct metric *f, uint32_t i, struct sb *out)
{
    struct object_metrics *m = ctx;
    struct store *s = m->c->store;
    struct row r = {.m = m, .f = f, .out = out};

    if (i >= store_numbers(s, OBJ_NODE))
        return false;
    const struct node *n = store_node(s, store_name_at(s, OBJ_NODE, i));
    if (n)
        node_row(&r, n);
    arena_reset(m->tmp);
    return true;
}

/* Of all Nodes together. */
static void collect_cluster(void *ctx, const struct metric *f, struct sb *out)
{
    struct object_metrics *m = ctx;
    struct store *s = m->c->store;
    struct names names = store_names(s, OBJ_NODE);
    AUTO(arena) struct arena *sums = arena_new(0);
    struct reslist have = {0}, asked = {0};

    for (uint32_t i = 0; i < names.n; i++) {
        const struct node *n = store_node(s, names.v[i]);

        if (!n)
            continue;
        struct reslist l = pods_total(m, n->name, /* limits= */ false, /* daemons= */ false);
        reslist_add(sums, &have, &n->allocatable);
        reslist_add(sums, &asked, &l);
        arena_reset(m->tmp);
    }
    for (uint32_t i = 0; i < have.n; i++) {
        const struct resq *q = &have.q[i];

        if (q->v > 0)
            metric_emit(out, f, 100.0 * (double)reslist_value(&asked, q->name) / (double)q->v,
                        METRIC_VALS(metric_resource(m, q->name)));
    }
    arena_reset(m->tmp);
}

void node_metrics_register(struct object_metrics *m)
{
    struct control_metrics *x = m->c->metrics;
    struct metric *const nodes[] = {x->nodes_allocatable,         x->nodes_total_pod_requests,
                                    x->nodes_total_pod_limits,    x->nodes_total_daemon_requests,
                                    x->nodes_total_daemon_limits, x->nodes_system_overhead,
                                    x->nodes_current_lifetime};

    assert(x->n_node_keys + 4 <= MAX_VALS);
    metrics_collector_by_one(nodes, ARRAY_LEN(nodes), collect_node, m);
    metrics_collector(&x->cluster_utilization_percent, 1, collect_cluster, m);
}
