/* Whether nodes are alive, and what follows: conditions turn Unknown, taints come and go, pods are evicted.
 *
 * A node lives while its lease is renewed or its heartbeat moves. What the conditions say becomes taints; what tolerations
 * say of NoExecute taints becomes deletions, at their time. */
#include "sim/kube/cluster/fields.h"
#include "sim/kube/cluster/parts.h"

#define MONITOR_US 5000000ll
#define PREFIX "node.kubernetes.io/"

struct node_life {
    str name; /* first: the key */
    int64_t alive_us, heartbeat_ms;
    bool tainted;        /* has NoExecute taints */
    bool registered;     /* the event about it is out */
    uint64_t settled_rv; /* nothing was to be done for this revision … */
    bool settled_dead;   /* … while it lived, or did not */
};

struct nodelife {
    struct cluster *c;
    struct table by_name;
    VEC(struct node_life *) list;
    struct work *nodes, *evictions; /* names of nodes; uids of pods */
    struct timer monitor;
};

/* ---- seeing ---- */

static void on_lease(void *ctx, struct seen *s)
{
    struct nodelife *p = ctx;

    if (!s->new || !str_is(s->new->ns, "kube-node-lease"))
        return;
    struct node_life *n = table_get(&p->by_name, s->new->name);
    if (n)
        n->alive_us = world_mono_us(p->c->w);
}

static bool has_no_execute(const struct tree *taints)
{
    for (uint32_t i = 0; taints && i < taints->n; i++)
        if (str_is(tree_str(tree_get(&taints->items[i], "effect")), "NoExecute"))
            return true;
    return false;
}

static void evict_all(struct nodelife *p, str node)
{
    const struct pod_group *g = pods_of_node(p->c->pods, node);

    for (const struct pod_entry *e = g ? g->first : NULL; e; e = e->by_node.next)
        work_add(p->evictions, e->uid);
}

static void forget(struct nodelife *p, str name)
{
    struct node_life *n = table_take(&p->by_name, name);

    for (uint32_t i = 0; n && i < p->list.n; i++)
        if (p->list.v[i] == n) {
            memmove(&p->list.v[i], &p->list.v[i + 1], (p->list.n - i - 1) * sizeof(n));
            p->list.n--;
            break;
        }
    free(n);
}

static void on_node(void *ctx, struct seen *s)
{
    struct nodelife *p = ctx;

    if (!s->new) {
        forget(p, s->old->name);
        return;
    }
    struct node_life *n = table_get(&p->by_name, s->new->name);
    if (!n) {
        n = xcalloc(1, sizeof(*n) + s->new->name.n);
        n->name = (str){memcpy(n + 1, s->new->name.p, s->new->name.n), s->new->name.n};
        n->alive_us = world_mono_us(p->c->w);
        table_put(&p->by_name, n);
        vec_push(&p->list, n);
    }
    const struct tree *taints = tree_get(seen_part(s, "spec"), "taints");
    const struct tree *ready = cond_find(tree_get(seen_part(s, "status"), "conditions"), STR("Ready"));
    int64_t heartbeat_ms = field_time(tree_get(ready, "lastHeartbeatTime"), 0);

    if (heartbeat_ms != n->heartbeat_ms) {
        n->heartbeat_ms = heartbeat_ms;
        n->alive_us = world_mono_us(p->c->w);
    }
    bool tainted = has_no_execute(taints);
    if (tainted || n->tainted)
        evict_all(p, n->name);
    n->tainted = tainted;
    work_add(p->nodes, n->name);
}

static void on_pod(void *ctx, struct seen *s)
{
    struct nodelife *p = ctx;

    if (!s->new)
        return;
    const struct pod_entry *e = pods_get(p->c->pods, s->new->uid);
    const struct node_life *n = table_get(&p->by_name, pod_node(e));
    if (n && n->tainted)
        work_add(p->evictions, e->uid);
}

/* ---- conditions ---- */

static bool is_dead(const struct nodelife *p, const struct node_life *n)
{
    return world_mono_us(p->c->w) - n->alive_us > p->c->o.node_grace_ms * 1000;
}

static void mark_pods_not_ready(struct nodelife *p, str node, struct arena *a)
{
    struct cluster *c = p->c;
    const struct pod_group *g = pods_of_node(c->pods, node);
    VEC(str) uids = {0};

    for (const struct pod_entry *e = g ? g->first : NULL; e; e = e->by_node.next)
        if (e->ready)
            vec_push(&uids, e->uid);
    for (uint32_t i = 0; i < uids.n; i++) {
        const struct pod_entry *e = pods_get(c->pods, uids.v[i]);
        struct tree *status = pod_status(e, a);
        struct condition ready = {.type = STR("Ready"), .status = STR("False"), .flavour = CONDITION_POD};

        cond_set(a, tree_sublist(a, status, "conditions"), &ready, time_text(a, cluster_now_ms(c)));
        if (cluster_update_part(c, e->o, "status", status))
            cluster_event(c, e->o, "node-controller", "Warning", "NodeNotReady", "Node is not ready");
    }
    vec_fini(&uids);
}

static void mark_unknown(struct nodelife *p, const struct object *o, struct arena *a)
{
    static const char *const types[] = {"Ready", "MemoryPressure", "DiskPressure", "PIDPressure"};
    struct cluster *c = p->c;
    struct tree *t = kube_tree(a, o), *list = tree_sublist(a, tree_sub(a, t, "status"), "conditions");
    bool was_ready = cond_is(list, STR("Ready"), STR("True"));
    str now = time_text(a, cluster_now_ms(c)), name = arena_strdup(a, o->name);

    for (size_t i = 0; i < ARRAY_LEN(types); i++) {
        const struct tree *had = cond_find(list, str_c(types[i]));
        str heartbeat = tree_str(tree_get(had, "lastHeartbeatTime"));
        struct condition cond = {
            .type = str_c(types[i]),
            .status = STR("Unknown"),
            .reason = had ? STR("NodeStatusUnknown") : STR("NodeStatusNeverUpdated"),
            .message = had ? STR("Kubelet stopped posting node status.") : STR("Kubelet never posted node status."),
            .flavour = CONDITION_NODE,
        };

        if (cond_set(a, list, &cond, now) && heartbeat.n) /* the last one of the kubelet */
            tree_set_str(a, (struct tree *)cond_find(list, cond.type), "lastHeartbeatTime", heartbeat);
    }
    if (!cluster_update(c, c->kinds.node, "status", t))
        return;
    if (was_ready) {
        cluster_event(c, kube_get(c->k, c->kinds.node, (str){0}, name), "node-controller", "Normal", "NodeNotReady",
                      "Node " STR_FMT " status is now: NodeNotReady", STR_ARG(name));
        mark_pods_not_ready(p, name, a);
    }
}

/* ---- taints ---- */

struct wanted {
    const char *key, *effect;
    bool want;
};

/* What the conditions ask for; a node that has not said anything yet is not ready. */
static uint32_t wanted_taints(const struct tree *spec, const struct tree *status, struct wanted *out)
{
    const struct tree *list = tree_get(status, "conditions");
    str ready = tree_str(tree_get(cond_find(list, STR("Ready")), "status"));
    bool yes = str_is(ready, "True"), unknown = str_is(ready, "Unknown");
    static const struct {
        const char *key, *type;
    } others[] = {
        {PREFIX "memory-pressure", "MemoryPressure"},
        {PREFIX "disk-pressure", "DiskPressure"},
        {PREFIX "pid-pressure", "PIDPressure"},
        {PREFIX "network-unavailable", "NetworkUnavailable"},
    };
    uint32_t n = 0;

    out[n++] = (struct wanted){PREFIX "not-ready", "NoSchedule", !yes && !unknown};
    out[n++] = (struct wanted){PREFIX "unreachable", "NoSchedule", unknown};
    out[n++] = (struct wanted){PREFIX "not-ready", "NoExecute", ready.n && !yes && !unknown};
    out[n++] = (struct wanted){PREFIX "unreachable", "NoExecute", unknown};
    out[n++] = (struct wanted){PREFIX "unschedulable", "NoSchedule", tree_is_true(tree_get(spec, "unschedulable"))};
    for (size_t i = 0; i < ARRAY_LEN(others); i++)
        out[n++] = (struct wanted){others[i].key, "NoSchedule", cond_is(list, str_c(others[i].type), STR("True"))};
    return n;
}

static uint32_t taint_at(const struct tree *taints, const struct wanted *w)
{
    for (uint32_t i = 0; taints && i < taints->n; i++)
        if (str_is(tree_str(tree_get(&taints->items[i], "key")), w->key) &&
            str_is(tree_str(tree_get(&taints->items[i], "effect")), w->effect))
            return i;
    return UINT32_MAX;
}

static void sync_taints(struct nodelife *p, const struct object *o, struct arena *a)
{
    struct tree *spec = kube_part(a, o, "spec");
    spec = spec ? spec : tree_new_map(a);
    struct tree *taints = tree_sublist(a, spec, "taints");
    struct wanted w[16];
    uint32_t n = wanted_taints(spec, kube_part(a, o, "status"), w);
    bool changed = false;

    for (uint32_t i = 0; taints && i < n; i++) {
        uint32_t at = taint_at(taints, &w[i]);

        if (w[i].want == (at != UINT32_MAX))
            continue;
        changed = true;
        if (!w[i].want) {
            tree_remove(taints, at);
            continue;
        }
        struct tree *taint = tree_push(a, taints, *tree_new_map(a));
        tree_set_str(a, taint, "effect", str_c(w[i].effect));
        tree_set_str(a, taint, "key", str_c(w[i].key));
        tree_set_str(a, taint, "timeAdded", time_text(a, cluster_now_ms(p->c)));
    }
    if (changed) {
        if (taints->n == 0)
            tree_drop(spec, STR("taints"));
        cluster_update_part(p->c, o, "spec", spec);
    }
}

/* The labels of old for architecture and system follow those of today. */
static void sync_labels(struct nodelife *p, const struct object *o, struct arena *a)
{
    static const char *const keys[][2] = {{"kubernetes.io/arch", "beta.kubernetes.io/arch"},
                                          {"kubernetes.io/os", "beta.kubernetes.io/os"}};
    struct tree *t = NULL;

    for (size_t i = 0; i < ARRAY_LEN(keys); i++) {
        str value = object_label(o, str_c(keys[i][0]));

        if (value.n == 0 || str_eq(value, object_label(o, str_c(keys[i][1]))))
            continue;
        t = t ? t : kube_tree(a, o);
        tree_set_str(a, tree_path(a, t, "metadata", "labels", NULL), keys[i][1], arena_strdup(a, value));
    }
    if (t)
        cluster_update(p->c, p->c->kinds.node, NULL, t);
}

static void on_node_work(void *ctx, str name)
{
    struct nodelife *p = ctx;
    struct cluster *c = p->c;
    struct arena *a = cluster_begin(c);
    const struct object *o = kube_get(c->k, c->kinds.node, (str){0}, name);
    struct node_life *n = table_get(&p->by_name, name);

    if (!o || !n)
        return;
    if (!n->registered)
        cluster_event(c, o, "node-controller", "Normal", "RegisteredNode",
                      "Node " STR_FMT " event: Registered Node " STR_FMT " in Controller", STR_ARG(name),
                      STR_ARG(name));
    n->registered = true;
    uint64_t rv = o->rv;
    bool dead = is_dead(p, n);
    if (rv == n->settled_rv && dead == n->settled_dead)
        return;
    if (dead)
        mark_unknown(p, o, a);
    o = kube_get(c->k, c->kinds.node, (str){0}, name);
    if (o)
        sync_labels(p, o, a);
    o = kube_get(c->k, c->kinds.node, (str){0}, name);
    if (o)
        sync_taints(p, o, a);
    o = kube_get(c->k, c->kinds.node, (str){0}, name);
    if (o && o->rv == rv) {
        n->settled_rv = rv;
        n->settled_dead = dead;
    }
}

static void on_monitor(void *ctx)
{
    struct nodelife *p = ctx;

    timer_set(p->c->w, &p->monitor, MONITOR_US);
    for (uint32_t i = 0; i < p->list.n; i++)
        if (is_dead(p, p->list.v[i]))
            work_add(p->nodes, p->list.v[i]->name);
}

/* ---- evictions ---- */

static bool tolerates(const struct tree *o, const struct tree *taint)
{
    str key = tree_str(tree_get(o, "key")), effect = tree_str(tree_get(o, "effect"));
    bool exists = str_is(tree_str(tree_get(o, "operator")), "Exists");

    if (effect.n && !str_is(effect, "NoExecute"))
        return false;
    if (key.n ? !str_eq(key, tree_str(tree_get(taint, "key"))) : !exists)
        return false;
    return exists || str_eq(tree_str(tree_get(o, "value")), tree_str(tree_get(taint, "value")));
}

/* How long the pod may stay, from now on: negative when for ever. */
static int64_t stay_ms(const struct tree *taints, const struct tree *tolerations, int64_t now_ms)
{
    int64_t until_ms = INT64_MAX;

    for (uint32_t i = 0; taints && i < taints->n; i++) {
        const struct tree *taint = &taints->items[i];
        int64_t since_ms = field_time(tree_get(taint, "timeAdded"), now_ms), best_s = -1;
        bool tolerated = false, forever = false;

        if (!str_is(tree_str(tree_get(taint, "effect")), "NoExecute"))
            continue;
        for (uint32_t k = 0; tolerations && k < tolerations->n; k++) {
            const struct tree *seconds = tree_get(&tolerations->items[k], "tolerationSeconds");

            if (!tolerates(&tolerations->items[k], taint))
                continue;
            tolerated = true;
            if (!seconds)
                forever = true;
            else if (best_s < 0 || field_i64(seconds, 0) < best_s)
                best_s = MAX(field_i64(seconds, 0), 0);
        }
        if (!tolerated)
            return 0;
        if (best_s >= 0 || !forever)
            until_ms = MIN(until_ms, since_ms + best_s * 1000);
    }
    return until_ms == INT64_MAX ? -1 : MAX(until_ms - now_ms, 0);
}

static void on_eviction(void *ctx, str uid)
{
    struct nodelife *p = ctx;
    struct cluster *c = p->c;
    const struct pod_entry *e = pods_get(c->pods, uid);

    if (!e || e->o->deleted_ms || pod_is_over(e))
        return;
    struct arena *a = cluster_begin(c);
    const struct object *node = kube_get(c->k, c->kinds.node, (str){0}, pod_node(e));
    if (!node)
        return;
    struct tree *t = kube_tree(a, e->o);
    int64_t ms = stay_ms(tree_at(kube_tree(a, node), "spec", "taints", NULL), tree_at(t, "spec", "tolerations", NULL),
                         cluster_now_ms(c));
    if (ms < 0)
        return;
    if (ms > 0) {
        work_add_after(p->evictions, uid, ms * 1000);
        return;
    }
    cluster_event(c, e->o, "taint-eviction-controller", "Normal", "TaintManagerEviction",
                  "Marking for deletion Pod " STR_FMT "/" STR_FMT, STR_ARG(e->o->ns), STR_ARG(e->o->name));
    cond_set(a, tree_sublist(a, tree_sub(a, t, "status"), "conditions"),
             &(struct condition){.type = STR("DisruptionTarget"),
                                 .status = STR("True"),
                                 .reason = STR("DeletionByTaintManager"),
                                 .message = STR("Taint manager: deleting due to NoExecute taint"),
                                 .flavour = CONDITION_POD},
             time_text(a, cluster_now_ms(c)));
    cluster_update(c, c->kinds.pod, "status", t);
    e = pods_get(c->pods, uid);
    if (e)
        cluster_delete(c, e->o, -1);
}

struct nodelife *nodelife_new(struct cluster *c)
{
    struct nodelife *p = xcalloc(1, sizeof(*p));

    p->c = c;
    p->nodes = work_new(c->w, "node-lifecycle", on_node_work, p);
    p->evictions = work_new(c->w, "taint-eviction", on_eviction, p);
    p->monitor = (struct timer){.fn = on_monitor, .ctx = p};
    timer_set(c->w, &p->monitor, MONITOR_US);
    see(c, c->kinds.node, on_node, p);
    see(c, c->kinds.lease, on_lease, p);
    see(c, c->kinds.pod, on_pod, p);
    return p;
}

void nodelife_free(struct nodelife *p)
{
    if (!p)
        return;
    timer_stop(p->c->w, &p->monitor);
    work_free(p->nodes);
    work_free(p->evictions);
    for (uint32_t i = 0; i < p->list.n; i++)
        free(p->list.v[i]);
    vec_fini(&p->list);
    table_fini(&p->by_name);
    free(p);
}
