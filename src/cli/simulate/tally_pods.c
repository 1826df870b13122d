/* What is kept of pods: how long they wait, what they ask for, who moved them, why they never ran. */
#include <stdlib.h>

#include "base/map.h"
#include "cli/simulate/tally_int.h"

#define USUAL_US (5 * 60 * INT64_C(1000000)) /* within which most pods run */

struct wordbook { /* each kept once */
    struct strmap ix;
    VEC(str) v;
};

/* ---- what a pod is ---- */

static struct room larger(struct room a, struct room b)
{
    return (struct room){MAX(a.cpu, b.cpu), MAX(a.memory, b.memory)};
}

static void add(struct room *to, struct room more)
{
    to->cpu = sat_add(to->cpu, more.cpu);
    to->memory = sat_add(to->memory, more.memory);
}

/* As the scheduler counts: containers together with those that run beside them, or the largest that runs before. */
static struct room asks_of(const struct tree *spec)
{
    const struct tree *list = tree_get(spec, "containers"), *first = tree_get(spec, "initContainers");
    struct room sum = {0}, peak = {0};

    for (uint32_t i = 0; first && i < first->n; i++) {
        struct room one = room_of(tree_at(&first->items[i], "resources", "requests", NULL));

        if (str_is(tree_str(tree_get(&first->items[i], "restartPolicy")), "Always"))
            add(&sum, one);
        else
            add(&one, sum);
        peak = larger(peak, one);
    }
    for (uint32_t i = 0; list && i < list->n; i++)
        add(&sum, room_of(tree_at(&list->items[i], "resources", "requests", NULL)));
    sum = larger(sum, peak);
    add(&sum, room_of(tree_get(spec, "overhead")));
    return sum;
}

static const struct owner *controller_of(const struct object *o)
{
    for (uint32_t i = 0; i < o->n_owners; i++)
        if (o->owners[i].controller)
            return &o->owners[i];
    return NULL;
}

/* "shop/web" for a pod of a ReplicaSet of Deployment web, "shop/nightly" for one of Job nightly-17. */
static str workload_of(struct arena *a, const struct object *o)
{
    const struct owner *owner = controller_of(o);
    str name = owner ? owner->name : o->name, hash = object_label(o, STR("pod-template-hash"));

    if (owner && str_is(owner->kind, "ReplicaSet") && hash.n && str_ends(name, hash) && name.n > hash.n + 1)
        name.n -= hash.n + 1;
    if (owner && str_is(owner->kind, "Job")) {
        size_t n = name.n;

        while (n > 0 && name.p[n - 1] >= '0' && name.p[n - 1] <= '9')
            n--;
        if (n > 1 && n < name.n && name.p[n - 1] == '-')
            name.n = n - 1;
    }
    return arena_printf(a, STR_FMT "/" STR_FMT, STR_ARG(o->ns), STR_ARG(name));
}

static uint32_t intern(struct arena *a, struct wordbook *w, str s)
{
    uint32_t ix = strmap_get(&w->ix, s);

    if (ix != MAP_NONE)
        return ix;
    str kept = arena_strdup(a, s);
    vec_push(&w->v, kept);
    strmap_put(&w->ix, kept, w->v.n - 1);
    return w->v.n - 1;
}

static void pod_new(struct watcher *w, const struct change *c)
{
    const struct object *o = c->new;
    const struct owner *owner = controller_of(o);
    struct seen_pod *p = xcalloc(1, sizeof(*p));
    AUTO(arena) struct arena *tmp = arena_new(1024);

    p->by_uid.key = (str){memcpy(xmalloc(o->uid.n + 1), o->uid.p, o->uid.n), o->uid.n};
    p->created_us = world_mono_us(kube_world(w->kube));
    p->daemon = owner && (str_is(owner->kind, "DaemonSet") || str_is(owner->kind, "Node"));
    p->asks = asks_of(change_part(c, "spec"));
    p->workload = intern(w->t->arena, w->workloads, workload_of(tmp, o));
    htab_put(&w->pods, &p->by_uid);
    if (!p->daemon) {
        w->t->n_pods++;
        w->n_waiting++;
    }
}

/* ---- its course ---- */

static void leave_node(struct watcher *w, struct seen_pod *p)
{
    if (p->node)
        watcher_use(w, p->node, &p->asks, -1);
    p->node = NULL;
}

static void set_state(struct watcher *w, struct seen_pod *p, int state)
{
    if (!p->daemon) {
        w->n_waiting -= p->state == POD_WAITS;
        w->n_running -= p->state == POD_RUNS;
        w->n_waiting += state == POD_WAITS;
        w->n_running += state == POD_RUNS;
    }
    p->state = (unsigned)state;
}

static void note_run(struct watcher *w, struct seen_pod *p)
{
    int64_t ms = (world_mono_us(kube_world(w->kube)) - p->created_us) / 1000;

    if (p->daemon)
        return;
    w->t->n_ran++;
    vec_push(&w->t->waits_ms, (uint32_t)MIN(ms, UINT32_MAX));
}

/* A pod that is still on its usual way is not stuck. */
static void note_stuck(struct watcher *w, const struct seen_pod *p, bool gone)
{
    if (p->daemon || p->state != POD_WAITS ||
        (p->why.n == 0 && world_mono_us(kube_world(w->kube)) - p->created_us < USUAL_US))
        return;
    str workload = w->workloads->v.v[p->workload], why = p->why.n ? p->why : STR("nobody said why");
    struct tally *t = w->t;

    t->n_stuck++;
    for (uint32_t i = 0; i < t->stuck.n; i++)
        if (str_eq(t->stuck.v[i].workload, workload) && str_eq(t->stuck.v[i].why, why) && t->stuck.v[i].gone == gone) {
            t->stuck.v[i].n++;
            return;
        }
    vec_push(&t->stuck, (struct tally_stuck){.workload = workload, .why = why, .n = 1, .gone = gone});
}

static void note_going(struct watcher *w, struct seen_pod *p, const struct change *c)
{
    const struct tree *list = tree_get(change_part(c, "status"), "conditions");

    p->going = true;
    for (uint32_t i = 0; !p->daemon && list && i < list->n; i++)
        if (str_is(tree_str(tree_get(&list->items[i], "type")), "DisruptionTarget") &&
            str_is(tree_str(tree_get(&list->items[i], "reason")), "EvictionByEvictionAPI")) {
            w->t->total.evicted++;
            watcher_slot(w)->evicted++;
        }
}

static void pod_gone(struct watcher *w, struct seen_pod *p)
{
    note_stuck(w, p, /* gone= */ true);
    leave_node(w, p);
    set_state(w, p, POD_ENDED);
    htab_del(&w->pods, &p->by_uid);
    free((char *)(uintptr_t)p->by_uid.key.p);
    free(p);
}

static void on_pod(void *ctx, const struct change *c)
{
    struct watcher *w = ctx;

    if (!w->t)
        return;
    str uid = (c->new ? c->new : c->old)->uid;
    struct seen_pod *p = HTAB_THING(htab_get(&w->pods, uid), struct seen_pod, by_uid);

    watcher_settle(w);
    if (!c->new) {
        if (p)
            pod_gone(w, p);
        return;
    }
    if (!p) {
        pod_new(w, c);
        p = HTAB_THING(htab_get(&w->pods, uid), struct seen_pod, by_uid);
    }
    str phase = object_field(c->new, "status.phase"), node = object_field(c->new, "spec.nodeName");
    bool ended = str_is(phase, "Succeeded") || str_is(phase, "Failed");
    if (p->state == POD_WAITS && (str_is(phase, "Running") || ended)) {
        note_run(w, p);
        set_state(w, p, POD_RUNS);
    }
    if (node.n && !p->node && !ended) {
        p->node = watcher_node(w, node);
        watcher_use(w, p->node, &p->asks, +1);
    }
    if (ended && p->state != POD_ENDED) {
        leave_node(w, p);
        set_state(w, p, POD_ENDED);
    }
    if (c->new->deleted_ms && !p->going)
        note_going(w, p, c);
}

/* ---- why it waits ---- */

/* Karpenter says it in an event. Others say it too, but know less: which types there could be. */
static void on_event(void *ctx, const struct change *c)
{
    struct watcher *w = ctx;

    if (!w->t || !c->new || !str_contains(c->new->json, STR("\"FailedScheduling\"")))
        return;
    const struct tree *t = change_new(c);
    struct seen_pod *p =
        HTAB_THING(htab_get(&w->pods, tree_str(tree_at(t, "involvedObject", "uid", NULL))), struct seen_pod, by_uid);
    if (!p || p->state != POD_WAITS)
        return;
    uint32_t ix = intern(w->t->arena, w->whys, tree_str(tree_get(t, "message")));
    p->why = w->whys->v.v[ix];
}

void watcher_pods_init(struct watcher *w)
{
    w->workloads = xcalloc(1, sizeof(*w->workloads));
    w->whys = xcalloc(1, sizeof(*w->whys));
    kube_subscribe(w->kube, kube_kind(w->kube, STR(""), STR("Pod")), on_pod, w);
    kube_subscribe(w->kube, kube_kind(w->kube, STR(""), STR("Event")), on_event, w);
}

static void wordbook_free(struct wordbook *w)
{
    strmap_fini(&w->ix);
    vec_fini(&w->v);
    free(w);
}

void watcher_pods_close(struct watcher *w)
{
    struct htab_walk walk = {0};
    struct htab_node *n;

    while ((n = htab_next(&w->pods, &walk)))
        note_stuck(w, HTAB_THING(n, struct seen_pod, by_uid), /* gone= */ false); /* sorted afterwards */
}

void watcher_pods_fini(struct watcher *w)
{
    struct htab_walk walk = {0};
    struct htab_node *n;

    while ((n = htab_next(&w->pods, &walk))) {
        struct seen_pod *p = HTAB_THING(n, struct seen_pod, by_uid);

        free((char *)(uintptr_t)p->by_uid.key.p);
        free(p);
    }
    htab_fini(&w->pods);
    wordbook_free(w->workloads);
    wordbook_free(w->whys);
}
