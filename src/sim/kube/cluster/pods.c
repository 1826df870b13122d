/* The pods by owner and by node. Subscribed before every other part, so that whoever is told of a change finds the pod here as
 * it is now. */
#include "sim/kube/cluster/pods.h"

#include "sim/kube/cluster/fields.h"
#include "sim/kube/cluster/parts.h"

struct pods {
    struct table by_uid, owners, nodes;
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
    return table_get(&p->by_uid, uid);
}

const struct pod_group *pods_of_owner(const struct pods *p, str uid)
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
    return e->by_node.group ? e->by_node.group->key : (str){0};
}

/* ---- groups ---- */

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

static void decode(struct pod_entry *e, const struct tree *t)
{
    const struct tree *meta = tree_get(t, "metadata"), *status = tree_get(t, "status");
    const struct tree *ready = cond_find(tree_get(status, "conditions"), STR("Ready"));

    e->phase = phase_of(status);
    e->ready = str_is(tree_str(tree_get(ready, "status")), "True");
    e->ready_since_ms = field_time(tree_get(ready, "lastTransitionTime"), 0);
    e->started_ms = field_time(tree_get(status, "startTime"), 0);
    e->restarts = restarts_of(status);
    if (!str_to_i64(tree_str(tree_at(meta, "annotations", "controller.kubernetes.io/pod-deletion-cost", NULL)),
                    &e->cost))
        e->cost = 0;
    e->tracked = list_has(tree_get(meta, "finalizers"), STR("batch.kubernetes.io/job-tracking"));
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

static void forget(struct pods *p, str uid)
{
    struct pod_entry *e = table_take(&p->by_uid, uid);

    if (e)
        release_entry(p, e);
}

static void on_pod(void *ctx, struct seen *s)
{
    struct pods *p = ctx;

    if (s->old && (!s->new || !str_eq(s->old->uid, s->new->uid)))
        forget(p, s->old->uid);
    if (!s->new)
        return;
    struct pod_entry *e = table_get(&p->by_uid, s->new->uid);
    if (!e) {
        e = new_keyed(sizeof(*e), s->new->uid);
        table_put(&p->by_uid, e);
        e->relabelled = true;
    } else {
        e->relabelled |= !same_labels(e->o, s->new);
        object_unref(e->o);
    }
    e->o = s->new;
    object_ref(e->o);
    decode(e, seen_tree(s));

    char buf[256];
    const struct owner *owner = controller_of(e->o);
    str node = tree_str(tree_at(seen_tree(s), "spec", "nodeName", NULL));
    join(&p->owners, e, true, owner ? owner->uid : orphans_key(buf, sizeof(buf), e->o->ns));
    join(&p->nodes, e, false, node);
    e->scheduled = node.n > 0;
}

struct pods *pods_new(struct cluster *c)
{
    struct pods *p = xcalloc(1, sizeof(*p));

    see(c, c->kinds.pod, on_pod, p);
    return p;
}

void pods_free(struct pods *p)
{
    if (!p)
        return;
    table_drain(&p->by_uid, release_entry, p);
    table_fini(&p->owners);
    table_fini(&p->nodes);
    free(p);
}
