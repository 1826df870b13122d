/* DaemonSets: one pod on every node that wants it. */
#include "sim/kube/cluster/revisions.h"
#include "sim/kube/cluster/sched.h"

#define COMPONENT "daemonset-controller"
#define HASH_LABEL "controller-revision-hash"
#define RETRY_US 5000000ll

struct daemon_sets {
    struct cluster *c;
    struct work *q;
};

/* ---- pods ---- */

static void add_tolerations(struct arena *a, struct tree *spec)
{
    static const struct {
        const char *key, *effect;
    } own[] = {
        {"node.kubernetes.io/not-ready", "NoExecute"},
        {"node.kubernetes.io/unreachable", "NoExecute"},
        {"node.kubernetes.io/disk-pressure", "NoSchedule"},
        {"node.kubernetes.io/memory-pressure", "NoSchedule"},
        {"node.kubernetes.io/pid-pressure", "NoSchedule"},
        {"node.kubernetes.io/unschedulable", "NoSchedule"},
        {"node.kubernetes.io/network-unavailable", "NoSchedule"},
    };
    bool host = tree_is_true(tree_get(spec, "hostNetwork"));
    struct tree *list = tree_sublist(a, spec, "tolerations");

    for (size_t i = 0; list && i < ARRAY_LEN(own) - !host; i++) {
        struct tree *t = tree_push(a, list, *tree_new_map(a));

        tree_set_str(a, t, "key", str_c(own[i].key));
        tree_set_str(a, t, "operator", STR("Exists"));
        tree_set_str(a, t, "effect", str_c(own[i].effect));
    }
}

static struct tree *daemon_pod(struct subject *s, const struct revision *rev)
{
    struct tree *t = pod_of_template(s, tree_get(s->spec, "template"), (str){0});
    struct tree *labels = tree_path(s->a, t, "metadata", "labels", NULL);

    tree_set_str(s->a, labels, HASH_LABEL, rev->hash);
    tree_set_str(s->a, labels, "pod-template-generation", arena_printf(s->a, "%lld", (long long)s->generation));
    add_tolerations(s->a, tree_sub(s->a, t, "spec"));
    return t;
}

/* The scheduler is told the one node that the pod is for. */
static void pin(struct arena *a, struct tree *pod, str node)
{
    struct tree *in = tree_path(a, pod, "spec", "affinity", "nodeAffinity", NULL), *list = tree_new_list(a);
    struct tree *term = tree_push(a, list, *tree_new_map(a));
    struct tree *field = tree_push(a, tree_sublist(a, term, "matchFields"), *tree_new_map(a));
    struct tree *required = tree_new_map(a);

    tree_set_str(a, field, "key", STR("metadata.name"));
    tree_set_str(a, field, "operator", STR("In"));
    tree_push(a, tree_sublist(a, field, "values"), tree_of_str(node));
    tree_set(a, required, "nodeSelectorTerms", *list);
    tree_set(a, in, "requiredDuringSchedulingIgnoredDuringExecution", *required);
}

/* Where a pod is, or will be: it says so itself before it is bound. */
static str target_of(struct arena *a, const struct pod_entry *e)
{
    if (e->scheduled)
        return pod_node(e);
    const struct tree *terms = tree_at(kube_tree(a, e->o), "spec", "affinity", "nodeAffinity",
                                       "requiredDuringSchedulingIgnoredDuringExecution", "nodeSelectorTerms", NULL);
    const struct tree *fields = terms && terms->n ? tree_get(&terms->items[0], "matchFields") : NULL;
    const struct tree *values = fields && fields->n ? tree_get(&fields->items[0], "values") : NULL;

    return values && values->n ? tree_str(&values->items[0]) : (str){0};
}

/* ---- nodes ---- */

struct node_state {
    str name; /* first: the key */
    struct daemon_fit fit;
    struct pod_entry *pods[8]; /* more than that is nobody's daemon */
    uint32_t n;
};

struct view {
    struct subject *s;
    uint64_t rv; /* of the server when it was taken */
    struct table by_name;
    VEC(struct node_state *) nodes;
    VEC(struct pod_entry *) lost; /* for nodes that are gone */
};

static void add_node(void *ctx, str node, struct daemon_fit fit)
{
    struct view *v = ctx;
    struct node_state *n = arena_new_one(v->s->a, struct node_state);

    n->name = arena_strdup(v->s->a, node);
    n->fit = fit;
    table_put(&v->by_name, n);
    vec_push(&v->nodes, n);
}

static void view_begin(struct view *v, struct subject *s, const struct tree *pod)
{
    const struct pod_group *g = pods_of_owner(s->c->pods, s->o->uid);

    *v = (struct view){.s = s, .rv = kube_rv(s->c->k)};
    sched_daemon(scheduler_state(s->c->scheduler), pod, add_node, v);
    for (struct pod_entry *e = g ? g->first : NULL; e; e = e->by_owner.next) {
        struct node_state *n = table_get(&v->by_name, target_of(s->a, e));

        if (!n)
            vec_push(&v->lost, e);
        else if (n->n < ARRAY_LEN(n->pods))
            n->pods[n->n++] = e;
    }
}

static void view_end(struct view *v)
{
    table_fini(&v->by_name);
    vec_fini(&v->nodes);
    vec_fini(&v->lost);
}

/* After what may have been written since. */
static void view_renew(struct view *v, const struct tree *pod)
{
    struct subject *s = v->s;

    if (v->rv == kube_rv(s->c->k))
        return;
    view_end(v);
    view_begin(v, s, pod);
}

static bool should_run(const struct node_state *n)
{
    return n->fit.affinity && n->fit.schedule && n->fit.execute;
}

static bool may_stay(const struct node_state *n)
{
    return n->fit.affinity && n->fit.execute;
}

/* ---- managing ---- */

/* Pods that have ended are replaced. */
static bool replace_ended(struct subject *s, struct node_state *n)
{
    bool any = false;

    for (uint32_t i = 0; i < n->n; i++) {
        struct pod_entry *e = n->pods[i];

        if (!pod_is_over(e) || e->o->deleted_ms)
            continue;
        bool failed = e->phase == POD_FAILED;
        cluster_event(s->c, s->o, COMPONENT, failed ? "Warning" : "Normal",
                      failed ? "FailedDaemonPod" : "SucceededDaemonPod",
                      "Found %s daemon pod " STR_FMT "/" STR_FMT " on node " STR_FMT ", will try to %s it",
                      failed ? "failed" : "succeeded", STR_ARG(e->o->ns), STR_ARG(e->o->name), STR_ARG(n->name),
                      failed ? "kill" : "delete");
        delete_pod(s, COMPONENT, e);
        any = true;
    }
    return any;
}

static bool is_older(const struct pod_entry *a, const struct pod_entry *b)
{
    return a->o->created_ms != b->o->created_ms ? a->o->created_ms < b->o->created_ms
                                                : str_cmp(a->o->name, b->o->name) < 0;
}

static struct pod_entry *oldest_active(const struct node_state *n)
{
    struct pod_entry *oldest = NULL;

    for (uint32_t i = 0; i < n->n; i++)
        if (!n->pods[i]->o->deleted_ms && (!oldest || is_older(n->pods[i], oldest)))
            oldest = n->pods[i];
    return oldest;
}

static bool manage_node(struct subject *s, struct node_state *n, const struct tree *pod)
{
    struct pod_entry *keep = oldest_active(n);
    struct status st;

    if (may_stay(n) && replace_ended(s, n))
        return true;
    if (should_run(n) && n->n == 0) {
        struct tree *t = tree_copy(s->a, pod);

        pin(s->a, t, n->name);
        return create_pod(s, COMPONENT, t, NULL, &st);
    }
    for (uint32_t i = 0; i < n->n; i++)
        if (!n->pods[i]->o->deleted_ms && (!may_stay(n) || n->pods[i] != keep))
            delete_pod(s, COMPONENT, n->pods[i]);
    return true;
}

static void manage(struct daemon_sets *p, struct view *v, const struct tree *pod)
{
    bool ok = true;

    for (uint32_t i = 0; i < v->lost.n; i++)
        if (!v->lost.v[i]->scheduled && !v->lost.v[i]->o->deleted_ms)
            delete_pod(v->s, COMPONENT, v->lost.v[i]);
    for (uint32_t i = 0; i < v->nodes.n; i++)
        ok &= manage_node(v->s, v->nodes.v[i], pod);
    if (!ok)
        key_add_name_after(p->q, v->s->o->ns, v->s->o->name, RETRY_US);
}

/* ---- rolling updates ---- */

static bool is_current(const struct pod_entry *e, const struct revision *rev)
{
    return str_eq(object_label(e->o, STR(HASH_LABEL)), rev->hash);
}

static void roll(struct subject *s, struct view *v, const struct revision *rev)
{
    const struct tree *strategy = tree_get(s->spec, "updateStrategy");
    int64_t min_ready_s = field_i64(tree_get(s->spec, "minReadySeconds"), 0), desired = 0, down = 0;

    if (str_is(tree_str(tree_get(strategy, "type")), "OnDelete"))
        return;
    for (uint32_t i = 0; i < v->nodes.n; i++) {
        const struct pod_entry *e = oldest_active(v->nodes.v[i]);

        if (!should_run(v->nodes.v[i]))
            continue;
        desired++;
        down += !e || !pod_is_available(e, min_ready_s, s->now_ms);
    }
    int64_t may = field_scaled(tree_at(strategy, "rollingUpdate", "maxUnavailable", NULL), desired, true, 1) - down;
    for (int pass = 0; pass < 2; pass++)
        for (uint32_t i = 0; i < v->nodes.n; i++) {
            struct pod_entry *e = oldest_active(v->nodes.v[i]);

            if (!e || !should_run(v->nodes.v[i]) || is_current(e, rev))
                continue;
            bool up = pod_is_available(e, min_ready_s, s->now_ms);
            if (up != (pass == 1) || (up && may <= 0))
                continue; /* what is down already costs nothing and goes first */
            delete_pod(s, COMPONENT, e);
            may -= up;
        }
}

/* ---- status ---- */

static void write_status(struct daemon_sets *p, struct subject *s, const struct view *v, const struct revision *rev)
{
    int64_t min_ready_s = field_i64(tree_get(s->spec, "minReadySeconds"), 0), next_ms = 0;
    int64_t desired = 0, current = 0, misplaced = 0, ready = 0, available = 0, updated = 0;
    const struct tree *was = tree_copy(s->a, s->status);

    for (uint32_t i = 0; i < v->nodes.n; i++) {
        const struct node_state *n = v->nodes.v[i];
        const struct pod_entry *e = oldest_active(n);

        if (!should_run(n)) {
            misplaced += n->n > 0;
            continue;
        }
        desired++;
        if (!e)
            continue;
        current++;
        updated += is_current(e, rev);
        ready += e->ready;
        if (pod_is_available(e, min_ready_s, s->now_ms))
            available++;
        else if (e->ready)
            next_ms = MAX(next_ms, e->ready_since_ms + min_ready_s * 1000);
    }
    if (next_ms)
        key_add_name_after(p->q, s->o->ns, s->o->name, MAX(next_ms - s->now_ms, 1) * 1000);
    tree_set_i64(s->a, s->status, "currentNumberScheduled", current);
    tree_set_i64(s->a, s->status, "desiredNumberScheduled", desired);
    tree_set_i64(s->a, s->status, "numberMisscheduled", misplaced);
    tree_set_i64(s->a, s->status, "numberReady", ready);
    status_count(s, "numberAvailable", available);
    status_count(s, "numberUnavailable", desired - available);
    status_count(s, "updatedNumberScheduled", updated);
    status_count(s, "observedGeneration", s->generation);
    if (!tree_equal(was, s->status))
        subject_write_status(s);
}

/* ---- the controller ---- */

struct use {
    struct subject *s;
};

static bool in_use(void *ctx, const struct revision *rev)
{
    const struct subject *s = ((struct use *)ctx)->s;
    const struct pod_group *g = pods_of_owner(s->c->pods, s->o->uid);

    for (const struct pod_entry *e = g ? g->first : NULL; e; e = e->by_owner.next)
        if (is_current(e, rev))
            return true;
    return false;
}

static void sync(struct daemon_sets *p, struct subject *s)
{
    struct revisions r = {0};
    struct view v;

    if (s->o->deleted_ms)
        return;
    claim_pods(s);
    if (!revisions_begin(&r, s, HASH_LABEL)) {
        revisions_end(&r);
        return;
    }
    struct tree *pod = daemon_pod(s, revision_last(&r));
    view_begin(&v, s, pod);
    manage(p, &v, pod);
    view_renew(&v, pod);
    roll(s, &v, revision_last(&r));
    view_renew(&v, pod);
    write_status(p, s, &v, revision_last(&r));
    view_end(&v);
    revisions_trim(&r, s, in_use, &(struct use){s});
    revisions_end(&r);
}

static void on_work(void *ctx, str key)
{
    struct daemon_sets *p = ctx;
    struct subject s;

    if (!subject_begin(&s, p->c, p->c->kinds.daemon_set, key))
        return;
    sync(p, &s);
    subject_end(&s);
}

static void on_set(void *ctx, struct seen *s)
{
    struct daemon_sets *p = ctx;

    if (s->new && !is_own_status(p->c, s))
        key_add(p->q, s->new);
}

static void on_pod(void *ctx, struct seen *s)
{
    struct daemon_sets *p = ctx;

    wake_owners(p->c, p->q, p->c->kinds.daemon_set, s);
}

static void wake_set(void *ctx, const struct object *o)
{
    key_add(ctx, o);
}

/* Heartbeats are not news. */
static bool matters(struct seen *s)
{
    if (!s->old || !s->new || !s->change)
        return true;
    if (seen_only(s, "status"))
        return false;
    const struct tree *a = change_old(s->change), *b = change_new(s->change);
    const struct tree *la = tree_at(a, "metadata", "labels", NULL), *lb = tree_at(b, "metadata", "labels", NULL);
    const struct tree *sa = tree_get(a, "spec"), *sb = tree_get(b, "spec");

    return !la != !lb || !sa != !sb || (la && !tree_equal(la, lb)) || (sa && !tree_equal(sa, sb));
}

static void on_node(void *ctx, struct seen *s)
{
    struct daemon_sets *p = ctx;

    if (matters(s))
        kube_each(p->c->k, p->c->kinds.daemon_set, (str){0}, wake_set, p->q);
}

struct daemon_sets *daemon_sets_new(struct cluster *c)
{
    struct daemon_sets *p = xcalloc(1, sizeof(*p));

    p->c = c;
    p->q = work_new(c->w, "daemonset", on_work, p);
    see(c, c->kinds.daemon_set, on_set, p);
    see(c, c->kinds.pod, on_pod, p);
    see(c, c->kinds.node, on_node, p);
    return p;
}

void daemon_sets_free(struct daemon_sets *p)
{
    if (!p)
        return;
    work_free(p->q);
    free(p);
}
