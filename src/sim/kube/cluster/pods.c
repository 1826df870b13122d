/* The pods by owner and by node. Subscribed before every other part, so that whoever is told of a change finds the pod here as
 * it is now. */
#include "sim/kube/cluster/pods.h"

#include "model/duration.h"
#include "sim/kube/cluster/fields.h"
#include "sim/kube/cluster/parts.h"

#define RUN_FOR "sim.karpenter.sh/run-for"     /* how long a pod's containers run before they exit; a Go duration */
#define EXIT_CODE "sim.karpenter.sh/exit-code" /* … and with what; 0 when absent */
#define JOB_RUN_MS 5000                        /* pods of Jobs without the annotation */

struct pods {
    struct table by_uid, owners, nodes;
    struct pod_entry *gone; /* by the last change */
    struct pod_entry *last; /* that changed: whoever is told of a change asks for it; NULL when it is gone */
};

const struct owner *controller_of(const struct object *o)
{
    for (uint32_t i = 0; i < o->n_owners; i++)
        if (o->owners[i].controller)
            return &o->owners[i];
    return NULL;
}

struct pod_entry *pods_get(const struct pods *p, str uid)
{
    if (p->last && (uid.p == p->last->o->uid.p || uid.p == p->last->uid.p))
        return p->last;
    return table_get(&p->by_uid, uid);
}

struct pod_group *pods_of_owner(const struct pods *p, str uid)
{
    return table_get(&p->owners, uid);
}

const struct pod_group *pods_of_node(const struct pods *p, str node)
{
    return table_get(&p->nodes, node);
}

/* Pods without a controller are in a group named after their namespace; no uid has a slash. */
static str orphans_key(char *buf, size_t size, str ns)
{
    size_t n = MIN(ns.n, size - 1);

    buf[0] = '/';
    memcpy(buf + 1, ns.p, n);
    return (str){buf, n + 1};
}

const struct pod_group *pods_without_owner(const struct pods *p, str ns)
{
    char buf[256];

    return table_get(&p->owners, orphans_key(buf, sizeof(buf), ns));
}

str pod_node(const struct pod_entry *e)
{
    if (e->by_node.group)
        return e->by_node.group->key;
    return object_field(e->o, "spec.nodeName"); /* gone, or without a node */
}

struct tree *pod_status(const struct pod_entry *e, struct arena *a)
{
    struct tree *status = kube_part(a, e->o, "status");

    return status ? status : tree_new_map(a);
}

const struct pod_entry *pods_seen(const struct pods *p, const struct seen *s)
{
    return s->new ? pods_get(p, s->new->uid) : p->gone;
}

/* ---- groups ---- */

/* Adds a pod as it is now to what its owner's group counts, or takes it away. */
static void tally(const struct pod_entry *e, uint32_t one)
{
    struct pod_group *g = e->by_owner.group;
    bool active = g && pod_is_active(e);

    if (!g)
        return;
    g->n_active += active ? one : 0;
    g->n_ready += active && e->ready ? one : 0;
    g->n_labelled += active && e->labelled ? one : 0;
    g->n_leaving += e->o->deleted_ms && !pod_is_over(e) ? one : 0;
    g->n_relabelled += e->relabelled ? one : 0;
    g->n_unjudged += e->unjudged ? one : 0;
}

#define TALLY_IN(e) tally(e, 1)
#define TALLY_OUT(e) tally(e, UINT32_MAX) /* less one */

void pod_labels_seen(struct pod_entry *e)
{
    TALLY_OUT(e);
    e->relabelled = false;
    TALLY_IN(e);
}

void pod_set_labelled(struct pod_entry *e, bool labelled)
{
    TALLY_OUT(e);
    e->labelled = labelled;
    e->unjudged = false;
    TALLY_IN(e);
}

static struct pod_link *link_in(struct pod_entry *e, bool owner)
{
    return owner ? &e->by_owner : &e->by_node;
}

static void leave(struct table *t, struct pod_entry *e, bool owner)
{
    struct pod_link *l = link_in(e, owner);
    struct pod_group *g = l->group;

    if (!g)
        return;
    if (l->prev)
        link_in(l->prev, owner)->next = l->next;
    else
        g->first = l->next;
    if (l->next)
        link_in(l->next, owner)->prev = l->prev;
    else
        g->last = l->prev;
    *l = (struct pod_link){0};
    if (--g->n == 0) {
        table_take(t, g->key);
        free(g);
    }
}

/* An entry whose first member is the key, with the bytes of the key behind it. */
static void *new_keyed(size_t size, str key)
{
    struct keyed *e = xmalloc(size + key.n);

    memset(e, 0, size);
    memcpy((char *)e + size, key.p, key.n);
    e->key = (str){(char *)e + size, key.n};
    return e;
}

static void join(struct table *t, struct pod_entry *e, bool owner, str key)
{
    struct pod_link *l = link_in(e, owner);

    if (l->group && str_eq(l->group->key, key))
        return;
    leave(t, e, owner);
    if (key.n == 0)
        return;
    struct pod_group *g = table_get(t, key);
    if (!g) {
        g = new_keyed(sizeof(*g), key);
        table_put(t, g);
    }
    l->group = g;
    l->prev = g->last;
    if (g->last)
        link_in(g->last, owner)->next = e;
    else
        g->first = e;
    g->last = e;
    g->n++;
}

/* ---- decoding ---- */

static enum pod_phase phase_of(const struct tree *status)
{
    static const char *const names[] = {"Pending", "Running", "Succeeded", "Failed"};
    str phase = tree_str(tree_get(status, "phase"));

    for (size_t i = 0; i < ARRAY_LEN(names); i++)
        if (str_is(phase, names[i]))
            return (enum pod_phase)i;
    return phase.n == 0 ? POD_PENDING : POD_UNKNOWN;
}

static int32_t restarts_of(const struct tree *status)
{
    const struct tree *list = tree_get(status, "containerStatuses");
    int64_t most = 0;

    for (uint32_t i = 0; list && i < list->n; i++)
        most = MAX(most, field_i64(tree_get(&list->items[i], "restartCount"), 0));
    return (int32_t)MIN(most, INT32_MAX);
}

static bool same_labels(const struct object *a, const struct object *b)
{
    if (a->n_labels != b->n_labels)
        return false;
    for (uint32_t i = 0; i < a->n_labels; i++)
        if (!str_eq(a->labels[i].key, b->labels[i].key) || !str_eq(a->labels[i].value, b->labels[i].value))
            return false;
    return true;
}

static int64_t run_ms_of(const struct tree *annotations, const struct object *o)
{
    const struct owner *owner = controller_of(o);
    str text = tree_str(tree_get(annotations, RUN_FOR));
    struct err e;
    int64_t ns;

    if (text.n && duration_parse(text, &ns, &e) && ns >= 0)
        return ns / 1000000;
    return owner && str_is(owner->kind, "Job") ? JOB_RUN_MS : -1;
}

static bool has_claims(const struct tree *volumes)
{
    for (uint32_t i = 0; volumes && i < volumes->n; i++)
        if (tree_get(&volumes->items[i], "persistentVolumeClaim") || tree_get(&volumes->items[i], "ephemeral"))
            return true;
    return false;
}

static void decode_status(struct pod_entry *e, const struct tree *status)
{
    const struct tree *ready = cond_find(tree_get(status, "conditions"), STR("Ready"));

    e->phase = phase_of(status);
    e->ready = str_is(tree_str(tree_get(ready, "status")), "True");
    e->ready_since_ms = field_time(tree_get(ready, "lastTransitionTime"), 0);
    e->started_ms = field_time(tree_get(status, "startTime"), 0);
    e->restarts = restarts_of(status);
}

static void decode_spec(struct pod_entry *e, const struct tree *spec)
{
    e->host_network = tree_is_true(tree_get(spec, "hostNetwork"));
    e->has_claims = has_claims(tree_get(spec, "volumes"));
    e->has_gates = tree_get(spec, "readinessGates") != NULL;
    e->restarts_always = str_is(tree_str(tree_get(spec, "restartPolicy")), "Always");
}

static void decode_meta(struct pod_entry *e, const struct tree *meta)
{
    const struct tree *annotations = tree_get(meta, "annotations");

    e->generation = field_i64(tree_get(meta, "generation"), 0);
    e->grace_s = field_i64(tree_get(meta, "deletionGracePeriodSeconds"), 30);
    e->tracked = list_has(tree_get(meta, "finalizers"), STR("batch.kubernetes.io/job-tracking"));
    e->run_ms = e->restarts_always ? -1 : run_ms_of(annotations, e->o);
    if (!str_to_i64(tree_str(tree_get(annotations, EXIT_CODE)), &e->exit_code))
        e->exit_code = 0;
    if (!str_to_i64(tree_str(tree_get(annotations, "controller.kubernetes.io/pod-deletion-cost")), &e->cost))
        e->cost = 0;
}

/* Only the parts that may have changed are looked at. */
static void decode(struct pod_entry *e, struct seen *s, bool is_new)
{
    bool status_only = !is_new && seen_only(s, "status"), meta_only = !is_new && seen_only(s, "metadata");

    if (!meta_only)
        decode_status(e, seen_part(s, "status"));
    if (!status_only && !meta_only)
        decode_spec(e, seen_part(s, "spec"));
    if (!status_only)
        decode_meta(e, seen_part(s, "metadata"));
}

static unsigned news_of(const struct pod_entry *was, const struct pod_entry *is, bool new_spec, bool new_owner,
                        bool new_node)
{
    return (was->phase != is->phase ? POD_PHASE : 0u) | (was->ready != is->ready ? POD_READINESS : 0u) |
           (was->o->deleted_ms != is->o->deleted_ms ? POD_LEAVES : 0u) |
           (!same_labels(was->o, is->o) ? POD_LABELS : 0u) | (new_spec ? POD_SPEC : 0u) |
           (was->tracked != is->tracked ? POD_TRACKING : 0u) |
           (!str_eq(pod_nomination(was->o), pod_nomination(is->o)) ? POD_NOMINATION : 0u) |
           (new_owner ? POD_OWNER : 0u) | (new_node ? POD_NODE : 0u);
}

static void take_out(struct pods *p, str uid)
{
    struct pod_entry *e = table_take(&p->by_uid, uid);

    if (!e)
        return;
    p->last = NULL;
    TALLY_OUT(e);
    leave(&p->owners, e, true);
    leave(&p->nodes, e, false);
    p->gone = e;
}

static void on_pod(void *ctx, struct seen *s)
{
    struct pods *p = ctx;

    if (p->gone) {
        object_unref(p->gone->o);
        free(p->gone);
        p->gone = NULL;
    }
    if (s->old && (!s->new || !str_eq(s->old->uid, s->new->uid)))
        take_out(p, s->old->uid);
    if (!s->new)
        return;
    struct pod_entry *e = table_get(&p->by_uid, s->new->uid);
    bool is_new = !e;
    if (is_new) {
        e = new_keyed(sizeof(*e), s->new->uid);
        table_put(&p->by_uid, e);
    }
    struct pod_entry was = *e;
    p->last = e;
    TALLY_OUT(e);
    e->o = s->new;
    object_ref(e->o);
    decode(e, s, is_new);

    char buf[256];
    const struct owner *owner = controller_of(e->o);
    str node = object_field(e->o, "spec.nodeName");
    join(&p->owners, e, true, owner ? owner->uid : orphans_key(buf, sizeof(buf), e->o->ns));
    join(&p->nodes, e, false, node);
    e->scheduled = node.n > 0;
    bool new_spec = was.generation != e->generation && !seen_only(s, "metadata"); /* a deletion counts up as well */
    e->news = is_new
                  ? POD_IS_NEW
                  : news_of(&was, e, new_spec, was.by_owner.group != e->by_owner.group, was.scheduled != e->scheduled);
    if (e->news & (POD_IS_NEW | POD_LABELS))
        e->relabelled = e->unjudged = true;
    TALLY_IN(e);
    if (was.o)
        object_unref(was.o);
}

struct pods *pods_new(struct cluster *c)
{
    struct pods *p = xcalloc(1, sizeof(*p));

    see(c, c->kinds.pod, on_pod, p);
    return p;
}

static void release_entry(void *ctx, void *entry)
{
    struct pod_entry *e = entry;
    struct pods *p = ctx;

    leave(&p->owners, e, true);
    leave(&p->nodes, e, false);
    object_unref(e->o);
    free(e);
}

void pods_free(struct pods *p)
{
    if (!p)
        return;
    p->last = NULL;
    if (p->gone)
        release_entry(p, p->gone);
    table_drain(&p->by_uid, release_entry, p);
    table_fini(&p->owners);
    table_fini(&p->nodes);
    free(p);
}
