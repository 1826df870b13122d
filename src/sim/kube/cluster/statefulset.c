/* StatefulSets: pods with numbers, started in order, with volumes that stay. */
#include "sim/kube/cluster/revisions.h"

#define COMPONENT "statefulset-controller"
#define REVISION_LABEL "controller-revision-hash"
#define RETRY_US 5000000ll
#define MAX_ORDINALS 100000

struct stateful_sets {
    struct cluster *c;
    struct work *q;
};

struct ordinals { /* one set that is being looked at */
    struct subject *s;
    struct stateful_sets *p;
    struct revisions r;
    const struct revision *current, *update;
    int64_t start, replicas, partition, min_ready_s;
    bool ordered, rolling;
    struct pod_entry **pods;   /* [replicas] by ordinal - start; NULL: missing */
    struct pod_entry **excess; /* highest ordinal first */
    uint32_t n_excess;
};

/* ---- which pod is which ---- */

static int64_t ordinal_of(const struct subject *s, const struct object *o)
{
    int64_t n;

    if (!str_starts(o->name, s->o->name) || o->name.n <= s->o->name.n + 1 || o->name.p[s->o->name.n] != '-' ||
        !str_to_i64(str_sub(o->name, s->o->name.n + 1, o->name.n), &n))
        return -1;
    return n;
}

static int compare_ordinals(const void *x, const void *y, void *ctx)
{
    int64_t a = ordinal_of(ctx, (*(struct pod_entry *const *)x)->o),
            b = ordinal_of(ctx, (*(struct pod_entry *const *)y)->o);

    return a > b ? -1 : a < b;
}

static void sort_pods(struct ordinals *x)
{
    struct subject *s = x->s;
    const struct pod_group *g = pods_of_owner(s->c->pods, s->o->uid);

    x->pods = arena_new_array(s->a, struct pod_entry *, x->replicas);
    x->excess = arena_new_array(s->a, struct pod_entry *, g ? g->n : 0);
    x->n_excess = 0;
    for (struct pod_entry *e = g ? g->first : NULL; e; e = e->by_owner.next) {
        int64_t i = ordinal_of(s, e->o) - x->start;

        if (i >= 0 && i < x->replicas)
            x->pods[i] = e;
        else
            x->excess[x->n_excess++] = e;
    }
    sort_stable(x->excess, x->n_excess, sizeof(*x->excess), compare_ordinals, s);
}

static bool is_of(const struct pod_entry *e, const struct revision *rev)
{
    return str_eq(object_label(e->o, STR(REVISION_LABEL)), rev->name);
}

static bool available(const struct ordinals *x, const struct pod_entry *e)
{
    return e->phase == POD_RUNNING && pod_is_available(e, x->min_ready_s, x->s->now_ms);
}

/* ---- making pods ---- */

static str claim_name(struct arena *a, const struct tree *template, str pod)
{
    return arena_printf(a, STR_FMT "-" STR_FMT, STR_ARG(tree_str(tree_at(template, "metadata", "name", NULL))),
                        STR_ARG(pod));
}

static bool create_claims(struct ordinals *x, str pod)
{
    struct subject *s = x->s;
    struct cluster *c = s->c;
    const struct tree *list = tree_get(s->spec, "volumeClaimTemplates");

    for (uint32_t i = 0; list && i < list->n; i++) {
        str name = claim_name(s->a, &list->items[i], pod);
        const struct tree *from = tree_get(&list->items[i], "metadata");
        struct tree *t = object_new(s->a, c->kinds.claim, s->o->ns, name), *meta = tree_sub(s->a, t, "metadata");
        struct status st;

        if (kube_get(c->k, c->kinds.claim, s->o->ns, name))
            continue;
        strings_merge(s->a, tree_sub(s->a, meta, "labels"), tree_get(from, "labels"));
        strings_merge(s->a, tree_sub(s->a, meta, "labels"), tree_at(s->spec, "selector", "matchLabels", NULL));
        if (tree_get(from, "annotations"))
            strings_merge(s->a, tree_sub(s->a, meta, "annotations"), tree_get(from, "annotations"));
        tree_set(s->a, t, "spec", *tree_copy(s->a, tree_get(&list->items[i], "spec")));
        if (!kube_create(c->k, s->a, c->kinds.claim, t, NULL, &st)) {
            cluster_event(c, s->o, COMPONENT, "Warning", "FailedCreate",
                          "Create Claim " STR_FMT " for Pod " STR_FMT " in StatefulSet " STR_FMT
                          " failed error: " STR_FMT,
                          STR_ARG(name), STR_ARG(pod), STR_ARG(s->o->name), STR_ARG(st.message));
            return false;
        }
        cluster_event(c, s->o, COMPONENT, "Normal", "SuccessfulCreate",
                      "Create Claim " STR_FMT " Pod " STR_FMT " in StatefulSet " STR_FMT " success", STR_ARG(name),
                      STR_ARG(pod), STR_ARG(s->o->name));
    }
    return true;
}

/* Volumes of the claim templates stand in the pod under the templates' names. */
static void set_volumes(struct subject *s, struct tree *spec, str pod)
{
    const struct tree *list = tree_get(s->spec, "volumeClaimTemplates");

    for (uint32_t i = 0; list && i < list->n; i++) {
        str name = tree_str(tree_at(&list->items[i], "metadata", "name", NULL));
        struct tree *volumes = tree_sublist(s->a, spec, "volumes");

        for (uint32_t k = volumes->n; k-- > 0;)
            if (str_eq(tree_str(tree_get(&volumes->items[k], "name")), name))
                tree_remove(volumes, k);
        struct tree *v = tree_push(s->a, volumes, *tree_new_map(s->a));
        tree_set_str(s->a, v, "name", name);
        tree_set_str(s->a, tree_sub(s->a, v, "persistentVolumeClaim"), "claimName",
                     claim_name(s->a, &list->items[i], pod));
    }
}

static bool create(struct ordinals *x, int64_t i)
{
    struct subject *s = x->s;
    bool old = x->rolling && i < x->partition;
    const struct revision *rev = old ? x->current : x->update;
    str name = arena_printf(s->a, STR_FMT "-%lld", STR_ARG(s->o->name), (long long)(x->start + i));
    struct tree *t = pod_of_template(s, rev->template, name);
    struct tree *labels = tree_path(s->a, t, "metadata", "labels", NULL), *spec = tree_sub(s->a, t, "spec");
    struct status st;

    if (!create_claims(x, name))
        return false;
    tree_set_str(s->a, labels, REVISION_LABEL, rev->name);
    tree_set_str(s->a, labels, "statefulset.kubernetes.io/pod-name", name);
    tree_set_str(s->a, labels, "apps.kubernetes.io/pod-index", arena_printf(s->a, "%lld", (long long)(x->start + i)));
    tree_set_str(s->a, spec, "hostname", name);
    if (tree_str(tree_get(s->spec, "serviceName")).n)
        tree_set_str(s->a, spec, "subdomain", tree_str(tree_get(s->spec, "serviceName")));
    set_volumes(s, spec, name);
    bool ok = kube_create(s->c->k, s->a, s->c->kinds.pod, t, NULL, &st);
    if (ok)
        cluster_event(s->c, s->o, COMPONENT, "Normal", "SuccessfulCreate",
                      "Create Pod " STR_FMT " in StatefulSet " STR_FMT " successful", STR_ARG(name),
                      STR_ARG(s->o->name));
    else
        cluster_event(s->c, s->o, COMPONENT, "Warning", "FailedCreate",
                      "Create Pod " STR_FMT " in StatefulSet " STR_FMT " failed error: " STR_FMT, STR_ARG(name),
                      STR_ARG(s->o->name), STR_ARG(st.message));
    return ok;
}

static void delete_one(struct ordinals *x, const struct pod_entry *e)
{
    struct subject *s = x->s;
    str name = arena_strdup(s->a, e->o->name);

    if (cluster_delete(s->c, e->o, -1))
        cluster_event(s->c, s->o, COMPONENT, "Normal", "SuccessfulDelete",
                      "Delete Pod " STR_FMT " in StatefulSet " STR_FMT " successful", STR_ARG(name),
                      STR_ARG(s->o->name));
}

/* ---- the three steps; each answers whether the next may be looked at ---- */

static bool fill(struct ordinals *x)
{
    for (int64_t i = 0; i < x->replicas; i++) {
        struct pod_entry *e = x->pods[i];

        if (e && pod_is_over(e) && !e->o->deleted_ms) {
            cluster_event(x->s->c, x->s->o, COMPONENT, "Warning", "RecreatingFailedPod",
                          "StatefulSet " STR_FMT "/" STR_FMT " is recreating failed Pod " STR_FMT, STR_ARG(x->s->o->ns),
                          STR_ARG(x->s->o->name), STR_ARG(e->o->name));
            delete_one(x, e);
            return false;
        }
        if (!e) {
            if (!create(x, i)) {
                key_add_name_after(x->p->q, x->s->o->ns, x->s->o->name, RETRY_US);
                return false;
            }
            if (x->ordered)
                return false;
        } else if (x->ordered && (e->o->deleted_ms || !available(x, e))) {
            return false;
        }
    }
    return true;
}

static bool shrink(struct ordinals *x)
{
    for (uint32_t i = 0; i < x->n_excess; i++) {
        if (x->excess[i]->o->deleted_ms) {
            if (x->ordered)
                return false;
            continue;
        }
        delete_one(x, x->excess[i]);
        if (x->ordered)
            return false;
    }
    return true;
}

static void roll(struct ordinals *x)
{
    for (int64_t i = x->replicas; x->rolling && i-- > x->partition;) {
        struct pod_entry *e = x->pods[i];

        if (!e)
            return;
        if (!is_of(e, x->update) && !e->o->deleted_ms) {
            delete_one(x, e);
            return;
        }
        if (e->o->deleted_ms || !available(x, e))
            return; /* one at a time */
    }
}

/* ---- status ---- */

static void write_status(struct ordinals *x)
{
    struct subject *s = x->s;
    const struct pod_group *g = pods_of_owner(s->c->pods, s->o->uid);
    int64_t n = 0, ready = 0, up = 0, current = 0, updated = 0, next_ms = 0;
    const struct tree *was = tree_copy(s->a, s->status);

    for (const struct pod_entry *e = g ? g->first : NULL; e; e = e->by_owner.next) {
        bool running = e->phase == POD_RUNNING && e->ready, leaving = e->o->deleted_ms != 0;

        n++;
        ready += running;
        up += running && available(x, e);
        if (running && !available(x, e))
            next_ms = MAX(next_ms, e->ready_since_ms + x->min_ready_s * 1000);
        current += !leaving && is_of(e, x->current);
        updated += !leaving && is_of(e, x->update);
    }
    if (next_ms)
        key_add_name_after(x->p->q, s->o->ns, s->o->name, MAX(next_ms - s->now_ms, 1) * 1000);
    if (x->rolling && updated == x->replicas && ready == x->replicas && n == x->replicas) {
        x->current = x->update; /* the rollout is over */
        current = updated;
    }
    tree_set_i64(s->a, s->status, "observedGeneration", s->generation);
    tree_set_i64(s->a, s->status, "replicas", n);
    status_count(s, "readyReplicas", ready);
    status_count(s, "currentReplicas", current);
    status_count(s, "updatedReplicas", updated);
    tree_set_i64(s->a, s->status, "availableReplicas", up);
    tree_set_str(s->a, s->status, "currentRevision", x->current->name);
    tree_set_str(s->a, s->status, "updateRevision", x->update->name);
    if (!tree_get(s->status, "collisionCount"))
        tree_set_i64(s->a, s->status, "collisionCount", 0);
    if (!tree_equal(was, s->status))
        subject_write_status(s);
}

/* ---- the controller ---- */

static bool in_use(void *ctx, const struct revision *rev)
{
    const struct ordinals *x = ctx;
    const struct pod_group *g = pods_of_owner(x->s->c->pods, x->s->o->uid);

    if (rev == x->current || rev == x->update)
        return true;
    for (const struct pod_entry *e = g ? g->first : NULL; e; e = e->by_owner.next)
        if (is_of(e, rev))
            return true;
    return false;
}

static void sync(struct stateful_sets *p, struct subject *s)
{
    const struct tree *strategy = tree_get(s->spec, "updateStrategy");
    struct ordinals x = {.s = s, .p = p};

    claim_pods(s);
    if (!revisions_begin(&x.r, s, "controller.kubernetes.io/hash")) {
        revisions_end(&x.r);
        return;
    }
    x.update = revision_last(&x.r);
    x.current = revision_named(&x.r, tree_str(tree_get(s->status, "currentRevision")));
    if (!x.current)
        x.current = x.update;
    x.start = field_i64(tree_at(s->spec, "ordinals", "start", NULL), 0);
    x.replicas = MIN(MAX(field_i64(tree_get(s->spec, "replicas"), 1), 0), MAX_ORDINALS);
    x.min_ready_s = field_i64(tree_get(s->spec, "minReadySeconds"), 0);
    x.ordered = !str_is(tree_str(tree_get(s->spec, "podManagementPolicy")), "Parallel");
    x.rolling = !str_is(tree_str(tree_get(strategy, "type")), "OnDelete");
    x.partition = MIN(field_i64(tree_at(strategy, "rollingUpdate", "partition", NULL), 0), x.replicas);
    sort_pods(&x);
    if (!s->o->deleted_ms && fill(&x) && shrink(&x))
        roll(&x);
    write_status(&x);
    revisions_trim(&x.r, s, in_use, &x);
    revisions_end(&x.r);
}

static void on_work(void *ctx, str key)
{
    struct stateful_sets *p = ctx;
    struct subject s;

    if (!subject_begin(&s, p->c, p->c->kinds.stateful_set, key))
        return;
    sync(p, &s);
    subject_end(&s);
}

static void on_set(void *ctx, struct seen *s)
{
    struct stateful_sets *p = ctx;

    if (s->new && !is_own_status(p->c, s))
        key_add(p->q, s->new);
}

static void on_pod(void *ctx, struct seen *s)
{
    struct stateful_sets *p = ctx;

    wake_owners(p->c, p->q, p->c->kinds.stateful_set, s);
}

struct stateful_sets *stateful_sets_new(struct cluster *c)
{
    struct stateful_sets *p = xcalloc(1, sizeof(*p));

    p->c = c;
    p->q = work_new(c->w, "statefulset", on_work, p);
    see(c, c->kinds.stateful_set, on_set, p);
    see(c, c->kinds.pod, on_pod, p);
    return p;
}

void stateful_sets_free(struct stateful_sets *p)
{
    if (!p)
        return;
    work_free(p->q);
    free(p);
}
