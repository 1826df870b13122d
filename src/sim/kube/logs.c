/* The logs of all containers: found by pod, ended with their containers, forgotten with their pods.
 *
 * A pod has an entry here once somebody writes into one of its logs or follows one; all others have nothing to remember. What a
 * kubelet would say is made up from the pod's status when it is asked for; as soon as somebody writes, that alone is the log. */
#include "sim/kube/podlog.h"

#include <stdlib.h>

#include "base/map.h"
#include "sim/kube/kube_int.h"

struct container_log {
    char *name; /* on the heap */
    struct podlog *log;
    bool words; /* nobody but the kubelet has said anything */
};

struct pod_logs {
    char *uid; /* on the heap */
    VEC(struct container_log) list;
};

static bool logs_has(const void *logs, const void *uid)
{
    return str_is(*(const str *)uid, ((const struct pod_logs *)logs)->uid);
}

static uint64_t hash_uid(str uid)
{
    return hash_bytes(uid.p, uid.n, 0);
}

/* ---- containers ---- */

static const struct tree *by_name(const struct tree *list, str name)
{
    for (uint32_t i = 0; list && list->kind == TREE_LIST && i < list->n; i++)
        if (str_eq(tree_str(tree_get(&list->items[i], "name")), name))
            return &list->items[i];
    return NULL;
}

/* The three sorts of containers: where they are described, and where their states are. */
static const char *const sorts[][2] = {
    {"containers", "containerStatuses"},
    {"initContainers", "initContainerStatuses"},
    {"ephemeralContainers", "ephemeralContainerStatuses"},
};

static const struct tree *find_in(const struct tree *pod, const char *part, int which, str name)
{
    const struct tree *found = NULL;

    for (size_t i = 0; i < ARRAY_LEN(sorts) && !found; i++)
        found = by_name(tree_at(pod, part, sorts[i][which], NULL), name);
    return found;
}

const struct tree *pod_container(const struct tree *pod, str name)
{
    return find_in(pod, "spec", 0, name);
}

const struct tree *pod_container_status(const struct tree *pod, str name)
{
    return find_in(pod, "status", 1, name);
}

/* ---- entries ---- */

static char *copy(str s)
{
    char *p = xmalloc(s.n + 1);

    memcpy(p, s.p, s.n);
    p[s.n] = 0;
    return p;
}

static struct pod_logs *logs_of(struct kube *k, str uid)
{
    struct pod_logs *p = lookup_get(&k->logs, hash_uid(uid), &uid);

    if (p)
        return p;
    p = xcalloc(1, sizeof(*p));
    p->uid = copy(uid);
    lookup_add(&k->logs, hash_uid(uid), p);
    return p;
}

static void forget(struct pod_logs *p)
{
    for (uint32_t i = 0; i < p->list.n; i++) {
        podlog_end(p->list.v[i].log);
        podlog_unref(p->list.v[i].log);
        free(p->list.v[i].name);
    }
    vec_fini(&p->list);
    free(p->uid);
    free(p);
}

static struct container_log *find_log(const struct pod_logs *p, str container)
{
    for (uint32_t i = 0; p && i < p->list.n; i++)
        if (str_is(container, p->list.v[i].name))
            return &p->list.v[i];
    return NULL;
}

static struct container_log *add_log(struct pod_logs *p, str container)
{
    vec_push(&p->list, (struct container_log){.name = copy(container), .log = podlog_new()});
    return &vec_last(&p->list);
}

/* ---- what the kubelet says ---- */

static bool has_ended(const struct tree *pod, str container)
{
    return tree_at(pod_container_status(pod, container), "state", "terminated", NULL) != NULL;
}

/* Adds what is new since the last time. */
static void add_words(struct kube *k, const struct tree *pod, str container, struct podlog *l)
{
    const struct tree *spec = pod_container(pod, container), *status = pod_container_status(pod, container);
    struct podlog *all;
    int64_t at_ms;

    if (!k->kubelets.words || !spec || !status)
        return;
    all = podlog_new();
    k->kubelets.words(k->kubelets.ctx, spec, status, all);
    for (uint64_t i = podlog_next(l); i < podlog_next(all); i++) {
        str line = podlog_line(all, i, &at_ms);

        podlog_add(l, at_ms, line);
    }
    podlog_unref(all);
}

/* ---- changes ---- */

static void review(struct kube *k, const struct pod_logs *p, const struct tree *pod)
{
    for (uint32_t i = 0; i < p->list.n; i++) {
        const struct container_log *c = &p->list.v[i];

        if (c->words)
            add_words(k, pod, str_c(c->name), c->log);
        if (has_ended(pod, str_c(c->name)))
            podlog_end(c->log);
    }
}

static void on_pod(void *ctx, const struct change *c)
{
    struct kube *k = ctx;
    bool gone = c->old && (!c->new || !str_eq(c->new->uid, c->old->uid));
    const struct object *o = gone ? c->old : c->new;
    struct pod_logs *p = k->logs.n ? lookup_get(&k->logs, hash_uid(o->uid), &o->uid) : NULL;

    if (p && gone) {
        lookup_remove(&k->logs, hash_uid(o->uid), p);
        forget(p);
    } else if (p) {
        review(k, p, change_new(c));
    }
}

void logs_init(struct kube *k)
{
    k->logs.has = logs_has;
    kube_subscribe(k, k->pods, on_pod, k);
}

void logs_fini(struct kube *k)
{
    for (uint32_t i = 0; i < k->logs.cap; i++)
        if (k->logs.slots[i].thing)
            forget(k->logs.slots[i].thing);
    lookup_fini(&k->logs);
}

/* ---- who writes, who reads ---- */

void kube_set_kubelets(struct kube *k, const struct kube_kubelets *p)
{
    k->kubelets = *p;
}

bool kube_pod_runs(const struct kube *k, const struct object *pod)
{
    return k->kubelets.runs && k->kubelets.runs(k->kubelets.ctx, pod);
}

struct podlog *kube_pod_log(struct kube *k, str ns, str name, str container)
{
    const struct object *pod = kube_get(k, k->pods, ns, name);

    if (!pod)
        return NULL;
    struct pod_logs *known = k->logs.n ? lookup_get(&k->logs, hash_uid(pod->uid), &pod->uid) : NULL;
    struct container_log *c = container.n ? find_log(known, container) : NULL;
    if (c && !c->words)
        return c->log;

    AUTO(arena) struct arena *a = arena_new(0);
    const struct tree *t = kube_tree(a, pod), *list = tree_at(t, "spec", "containers", NULL);
    if (container.n == 0 && list && list->n)
        container = tree_str(tree_get(&list->items[0], "name"));
    if (!pod_container(t, container))
        return NULL;
    struct pod_logs *p = logs_of(k, pod->uid);
    c = find_log(p, container);
    if (!c)
        c = add_log(p, container);
    if (c->words)
        podlog_reset(c->log);
    c->words = false;
    return c->log;
}

struct podlog *kube_read_log(struct kube *k, const struct object *pod, const struct tree *t, str container, bool follow)
{
    struct pod_logs *p = lookup_get(&k->logs, hash_uid(pod->uid), &pod->uid);
    struct container_log *c = find_log(p, container);

    if (c)
        return podlog_ref(c->log);
    if (!follow || has_ended(t, container)) {
        struct podlog *l = podlog_new();

        add_words(k, t, container, l);
        podlog_end(l);
        return l;
    }
    c = add_log(logs_of(k, pod->uid), container);
    c->words = true;
    add_words(k, t, container, c->log);
    return podlog_ref(c->log);
}
