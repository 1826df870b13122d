/* ReplicaSets: as many pods as asked for, and which ones go first when there are too many. */
#include "sim/kube/cluster/workload.h"

#define COMPONENT "replicaset-controller"
#define BURST 500
#define RETRY_US 5000000ll

struct replica_sets {
    struct cluster *c;
    struct work *q;
};

/* ---- who goes first ---- */

struct ranked {
    struct pod_entry *e;
    uint32_t neighbours; /* pods of the same Deployment on its node */
};

/* Whether a is the better one to delete. */
static int compare_for_deletion(const void *x, const void *y, void *ctx)
{
    const struct ranked *p = x, *q = y;
    const struct pod_entry *a = p->e, *b = q->e;
    static const int phase_rank[] = {[POD_PENDING] = 0, [POD_UNKNOWN] = 1, [POD_RUNNING] = 2};

    (void)ctx;
    if (a->scheduled != b->scheduled)
        return a->scheduled ? 1 : -1;
    if (a->phase != b->phase)
        return phase_rank[a->phase] - phase_rank[b->phase];
    if (a->ready != b->ready)
        return a->ready ? 1 : -1;
    if (a->cost != b->cost)
        return a->cost < b->cost ? -1 : 1;
    if (p->neighbours != q->neighbours)
        return p->neighbours > q->neighbours ? -1 : 1;
    if (a->ready && a->ready_since_ms != b->ready_since_ms)
        return a->ready_since_ms > b->ready_since_ms ? -1 : 1;
    if (a->restarts != b->restarts)
        return a->restarts > b->restarts ? -1 : 1;
    if (a->o->created_ms != b->o->created_ms)
        return a->o->created_ms > b->o->created_ms ? -1 : 1;
    return str_cmp(a->uid, b->uid);
}

struct siblings {
    struct subject *s;
    str owner;
    struct table on_node; /* struct tally by node name */
};

struct tally {
    str node; /* first: the key */
    uint32_t n;
};

static void count_pods_of(struct siblings *x, str rs_uid)
{
    const struct pod_group *g = pods_of_owner(x->s->c->pods, rs_uid);

    for (const struct pod_entry *e = g ? g->first : NULL; e; e = e->by_owner.next) {
        if (!pod_is_active(e) || !e->scheduled)
            continue;
        struct tally *t = table_get(&x->on_node, pod_node(e));
        if (!t) {
            t = arena_new_one(x->s->a, struct tally);
            t->node = pod_node(e);
            table_put(&x->on_node, t);
        }
        t->n++;
    }
}

static void count_sibling(void *ctx, const struct object *o)
{
    struct siblings *x = ctx;
    const struct owner *owner = controller_of(o);

    if (str_eq(o->uid, x->s->o->uid) || (owner && str_eq(owner->uid, x->owner)))
        count_pods_of(x, o->uid);
}

static void delete_some(struct subject *s, struct ranked *pods, uint32_t n, uint32_t surplus)
{
    const struct owner *owner = controller_of(s->o);
    struct siblings x = {.s = s, .owner = owner ? owner->uid : (str){0}};

    kube_each(s->c->k, s->c->kinds.replica_set, s->o->ns, count_sibling, &x);
    for (uint32_t i = 0; i < n; i++) {
        const struct tally *t = table_get(&x.on_node, pod_node(pods[i].e));

        pods[i].neighbours = t ? t->n : 0;
    }
    table_fini(&x.on_node);
    sort_stable(pods, n, sizeof(*pods), compare_for_deletion, NULL);
    for (uint32_t i = 0; i < MIN(surplus, n); i++)
        delete_pod(s, COMPONENT, pods[i].e);
}

/* ---- status ---- */

struct counts {
    int64_t replicas, labelled, ready, available, terminating;
    int64_t next_ms; /* when a pod becomes available; 0: none */
};

/* Both are mostly in the same order. */
static bool has_labels(const struct object *o, const struct tree *labels)
{
    uint32_t at = 0;

    for (uint32_t i = 0; labels && i < labels->n; i++, at++) {
        if (at < o->n_labels && str_eq(o->labels[at].key, labels->keys[i]) &&
            str_eq(o->labels[at].value, tree_str(&labels->items[i])))
            continue;
        if (!str_eq(object_label(o, labels->keys[i]), tree_str(&labels->items[i])))
            return false;
    }
    return true;
}

/* Which pods have the labels of the template: looked at again when either may have changed. */
static void judge_labels(struct subject *s)
{
    struct pod_group *g = pods_of_owner(s->c->pods, s->o->uid);
    const struct tree *labels = tree_at(s->spec, "template", "metadata", "labels", NULL);
    bool all = g && g->template != s->generation;

    for (struct pod_entry *e = g ? g->last : NULL; e && (all || g->n_unjudged); e = e->by_owner.prev)
        if (all || e->unjudged) /* mostly the newest */
            pod_set_labelled(e, has_labels(e->o, labels));
    if (g)
        g->template = s->generation;
}

/* Ready pods are available at once unless they have to stay so for a while. */
static void count_available(const struct pod_group *g, int64_t min_ready_s, int64_t now_ms, struct counts *k)
{
    k->available = min_ready_s ? 0 : g->n_ready;
    for (const struct pod_entry *e = min_ready_s ? g->first : NULL; e; e = e->by_owner.next) {
        if (!pod_is_active(e))
            continue;
        if (pod_is_available(e, min_ready_s, now_ms)) {
            k->available++;
        } else if (e->ready) {
            int64_t at_ms = e->ready_since_ms + min_ready_s * 1000;

            k->next_ms = k->next_ms ? MIN(k->next_ms, at_ms) : at_ms;
        }
    }
}

static struct counts count_all(struct subject *s)
{
    const struct pod_group *g = pods_of_owner(s->c->pods, s->o->uid);
    struct counts k = {0};

    if (!g)
        return k;
    k.replicas = g->n_active;
    k.labelled = g->n_labelled;
    k.ready = g->n_ready;
    k.terminating = g->n_leaving;
    count_available(g, field_i64(tree_get(s->spec, "minReadySeconds"), 0), s->now_ms, &k);
    return k;
}

static bool is_count(const struct subject *s, const char *key, int64_t n)
{
    return field_i64(tree_get(s->status, key), 0) == n;
}

static void write_status(struct replica_sets *p, struct subject *s, const struct status *failed)
{
    judge_labels(s);
    struct counts k = count_all(s);
    struct tree *conditions = tree_sublist(s->a, s->status, "conditions");
    struct condition failure = {.type = STR("ReplicaFailure"), .status = STR("True"), .reason = STR("FailedCreate")};
    bool changed = failed ? (failure.message = failed->message, cond_set(s->a, conditions, &failure, s->now))
                          : cond_drop(conditions, STR("ReplicaFailure"));

    if (k.next_ms)
        key_add_name_after(p->q, s->o->ns, s->o->name, MAX(k.next_ms - s->now_ms, 1) * 1000);
    if (conditions->n == 0)
        tree_drop(s->status, STR("conditions"));
    if (!changed && is_count(s, "replicas", k.replicas) && is_count(s, "fullyLabeledReplicas", k.labelled) &&
        is_count(s, "readyReplicas", k.ready) && is_count(s, "availableReplicas", k.available) &&
        is_count(s, "terminatingReplicas", k.terminating) && tree_get(s->status, "terminatingReplicas") &&
        is_count(s, "observedGeneration", s->generation))
        return;
    tree_set_i64(s->a, s->status, "replicas", k.replicas);
    status_count(s, "fullyLabeledReplicas", k.labelled);
    status_count(s, "readyReplicas", k.ready);
    status_count(s, "availableReplicas", k.available);
    tree_set_i64(s->a, s->status, "terminatingReplicas", k.terminating);
    status_count(s, "observedGeneration", s->generation);
    subject_write_status(s);
}

/* ---- the controller ---- */

static void remove_surplus(struct subject *s, const struct pod_group *g, int64_t want)
{
    struct ranked *pods = arena_new_array(s->a, struct ranked, g->n);
    uint32_t n = 0;

    for (struct pod_entry *e = g->first; e; e = e->by_owner.next)
        if (pod_is_active(e))
            pods[n++].e = e;
    delete_some(s, pods, n, (uint32_t)(n - want));
}

static void sync(struct replica_sets *p, struct subject *s)
{
    int64_t want = field_i64(tree_get(s->spec, "replicas"), 1);
    struct status st;
    bool failed = false;

    claim_pods(s);
    const struct pod_group *g = pods_of_owner(s->c->pods, s->o->uid);
    int64_t n = g ? g->n_active : 0;

    if (!s->o->deleted_ms && n < want) {
        const struct tree *template = tree_get(s->spec, "template");
        int64_t more = MIN(want - n, BURST);

        for (int64_t i = 0; i < more && !failed; i++)
            failed = !create_pod(s, COMPONENT, pod_of_template(s, template, (str){0}), NULL, &st);
        if (failed)
            key_add_name_after(p->q, s->o->ns, s->o->name, RETRY_US);
        else if (more < want - n)
            key_add(p->q, s->o);
    } else if (!s->o->deleted_ms && n > want) {
        remove_surplus(s, g, want);
    }
    write_status(p, s, failed ? &st : NULL);
}

static void on_work(void *ctx, str key)
{
    struct replica_sets *p = ctx;
    struct subject s;

    if (!subject_look(&s, p->c, p->c->kinds.replica_set, key))
        return;
    sync(p, &s);
    subject_end(&s);
}

static void on_set(void *ctx, struct seen *s)
{
    struct replica_sets *p = ctx;

    if (s->new && !is_own_status(p->c, s))
        key_add(p->q, s->new);
}

static void on_pod(void *ctx, struct seen *s)
{
    struct replica_sets *p = ctx;

    wake_owners(p->c, p->q, p->c->kinds.replica_set, s);
}

struct replica_sets *replica_sets_new(struct cluster *c)
{
    struct replica_sets *p = xcalloc(1, sizeof(*p));

    p->c = c;
    p->q = work_new(c->w, "replicaset", on_work, p);
    see(c, c->kinds.replica_set, on_set, p);
    see(c, c->kinds.pod, on_pod, p);
    return p;
}

void replica_sets_free(struct replica_sets *p)
{
    if (!p)
        return;
    work_free(p->q);
    free(p);
}
