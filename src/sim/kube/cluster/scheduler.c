/* The scheduler around sched.h: feeds it, keeps the queue of pods that want a node, and writes decisions down.
 *
 * A pod that wants a node is active (in a heap, by priority and time), parked (something has to happen first), backing off (it could not be bound), or
 * binding (decided, its volumes are not there yet). Waiting times of all kinds are one work queue by uid.
 *
 * A pod that is woken while its back-off runs is tried when no other is active, as kube-scheduler does since 1.33: in order of the seconds in which
 * back-offs end. */
#include "sim/kube/cluster/sched.h"

#include "base/map.h"
#include "sim/kube/cluster/fields.h"
#include "sim/kube/cluster/parts.h"

#define COMPONENT "default-scheduler"
#define BATCH 64 /* decisions per turn of the loop */
#define BACKOFF_US 1000000ll
#define MAX_BACKOFF_US 10000000ll
#define PATIENCE_US 300000000ll /* a parked pod is tried again after so long, whatever happens */
#define BIND_TIMEOUT_US 600000000ll

enum place { PLACE_ACTIVE, PLACE_PARKED, PLACE_BINDING };

struct wanting {
    str uid; /* first: the key */
    enum place place;
    int32_t priority;
    uint32_t attempts, at; /* at: in the heap or the list of its place */
    uint64_t seq;          /* order of arrival */
    int64_t early_s;       /* the second in which its back-off ends; 0: it is over */
    int64_t failed_us;
    unsigned wakes_on;
    int64_t refused_generation; /* of the pod, when its status said last that there is no place for it; 0: never */
    uint32_t shape;             /* when it was parked last, and nobody has been asked since; UINT32_MAX: none */
    str node;                   /* PLACE_BINDING; on the heap */
};

struct scheduler {
    struct cluster *c;
    struct sched *core;
    bool decides;
    struct table by_uid;
    VEC(struct wanting *) active; /* heap */
    VEC(struct wanting *) parked, binding;
    VEC(uint8_t)
    hopeless; /* by shape: what may help pods for which there is no place, until it happens; 0: not known */
    struct work *waits, *binds;
    struct timer run;
    uint64_t seq;
};

struct sched *scheduler_state(struct scheduler *p)
{
    return p->core;
}

/* ---- the heap of active pods ---- */

static bool goes_first(const struct wanting *a, const struct wanting *b)
{
    if (a->early_s != b->early_s)
        return a->early_s < b->early_s;
    return a->priority != b->priority ? a->priority > b->priority : a->seq < b->seq;
}

static void heap_put(struct scheduler *p, uint32_t at, struct wanting *w)
{
    p->active.v[at] = w;
    w->at = at;
}

static void heap_up(struct scheduler *p, uint32_t at)
{
    struct wanting *w = p->active.v[at];

    for (; at > 0 && goes_first(w, p->active.v[(at - 1) / 2]); at = (at - 1) / 2)
        heap_put(p, at, p->active.v[(at - 1) / 2]);
    heap_put(p, at, w);
}

static void heap_down(struct scheduler *p, uint32_t at)
{
    struct wanting *w = p->active.v[at];

    for (uint32_t child; (child = 2 * at + 1) < p->active.n; at = child) {
        if (child + 1 < p->active.n && goes_first(p->active.v[child + 1], p->active.v[child]))
            child++;
        if (!goes_first(p->active.v[child], w))
            break;
        heap_put(p, at, p->active.v[child]);
    }
    heap_put(p, at, w);
}

static void heap_remove(struct scheduler *p, struct wanting *w)
{
    uint32_t at = w->at;
    struct wanting *last = p->active.v[--p->active.n];

    if (last == w)
        return;
    heap_put(p, at, last);
    heap_up(p, at);
    heap_down(p, last->at);
}

/* ---- places ---- */

static void list_remove(struct wanting **list, uint32_t *n, const struct wanting *w)
{
    /* In order: who was parked first is woken first. */
    memmove(&list[w->at], &list[w->at + 1], (*n - w->at - 1) * sizeof(*list));
    --*n;
    for (uint32_t i = w->at; i < *n; i++)
        list[i]->at = i;
}

static void leave(struct scheduler *p, struct wanting *w)
{
    switch (w->place) {
    case PLACE_ACTIVE:
        heap_remove(p, w);
        break;
    case PLACE_PARKED:
        list_remove(p->parked.v, &p->parked.n, w);
        break;
    case PLACE_BINDING:
        list_remove(p->binding.v, &p->binding.n, w);
        break;
    }
    work_remove(p->waits, w->uid);
}

static void enter(struct scheduler *p, struct wanting *w, enum place place, int64_t wait_us)
{
    w->place = place;
    switch (place) {
    case PLACE_ACTIVE:
        vec_push(&p->active, w);
        heap_up(p, p->active.n - 1);
        if (!timer_is_set(&p->run))
            timer_set(p->c->w, &p->run, 0);
        return;
    case PLACE_PARKED:
        w->at = p->parked.n;
        vec_push(&p->parked, w);
        break;
    case PLACE_BINDING:
        w->at = p->binding.n;
        vec_push(&p->binding, w);
        break;
    }
    work_add_after(p->waits, w->uid, wait_us);
}

/* There may be a place for pods like this one again, or none like it are left. */
static void hope(struct scheduler *p, struct wanting *w)
{
    if (w->shape < p->hopeless.n)
        p->hopeless.v[w->shape] = 0;
    w->shape = UINT32_MAX;
}

static void forget(struct scheduler *p, str uid)
{
    struct wanting *w = table_take(&p->by_uid, uid);

    if (!w)
        return;
    hope(p, w);
    leave(p, w);
    free((char *)w->node.p);
    free(w);
}

static int64_t backoff_end_us(const struct wanting *w)
{
    int64_t us = BACKOFF_US;

    for (uint32_t i = 1; i < w->attempts && us < MAX_BACKOFF_US; i++)
        us *= 2;
    return w->failed_us + MIN(us, MAX_BACKOFF_US);
}

/* Something happened that may help a parked pod: it is tried again, after those that have no back-off to wait for. */
static void wake(struct scheduler *p, struct wanting *w)
{
    int64_t end_us = backoff_end_us(w);

    hope(p, w);
    leave(p, w);
    w->early_s = end_us > world_mono_us(p->c->w) ? end_us / 1000000 + 1 : 0;
    enter(p, w, PLACE_ACTIVE, 0);
}

/* It could not be bound: that is not tried again before the back-off is over. */
static void back_off(struct scheduler *p, struct wanting *w)
{
    work_add_after(p->waits, w->uid, MAX(backoff_end_us(w) - world_mono_us(p->c->w), 0));
}

/* Wakes those whom the news may help. Of pods with the same wishes one is asked for all. */
static void tell(struct scheduler *p, unsigned news, str node)
{
    struct u64map known = {0};
    VEC(struct wanting *) woken = {0};

    if (!news || !p->decides)
        return;
    for (uint32_t i = 0; i < p->parked.n; i++) {
        struct wanting *w = p->parked.v[i];

        if (!(w->wakes_on & news))
            continue;
        if (node.n && !(w->wakes_on & (NEWS_PLACED | NEWS_VOLUME)) && (news & (NEWS_NODE | NEWS_ROOM))) {
            uint32_t shape = sched_shape(p->core, w->uid), fits = u64map_get(&known, shape);

            if (fits == MAP_NONE) {
                fits = sched_might_fit(p->core, w->uid, node);
                u64map_put(&known, shape, fits);
            }
            if (!fits)
                continue;
        }
        vec_push(&woken, w);
    }
    for (uint32_t i = 0; i < woken.n; i++)
        wake(p, woken.v[i]);
    vec_fini(&woken);
    u64map_fini(&known);
}

/* ---- writing decisions down ---- */

static void park(struct scheduler *p, struct wanting *w, unsigned wakes_on)
{
    w->failed_us = world_mono_us(p->c->w);
    w->wakes_on = wakes_on;
    enter(p, w, PLACE_PARKED, PATIENCE_US);
}

/* In long simulations nobody reads in how many words a pod is refused the tenth time. */
static bool was_told(const struct scheduler *p, const struct wanting *w, const struct pod_entry *e)
{
    return p->c->o.told_once && w->refused_generation && w->refused_generation == e->generation;
}

static void write_failure(struct scheduler *p, struct wanting *w, struct pod_entry *e, const struct verdict *v,
                          struct arena *a)
{
    struct cluster *c = p->c;

    if (was_told(p, w, e) && v->nominated.n == 0)
        return;
    w->refused_generation = e->generation;
    struct tree *status = pod_status(e, a);
    struct condition cond = {
        .type = STR("PodScheduled"),
        .status = STR("False"),
        .reason = STR("Unschedulable"),
        .message = v->message,
        .flavour = CONDITION_POD,
        .generation = e->generation,
    };
    bool changed = cond_set(a, tree_sublist(a, status, "conditions"), &cond, time_text(a, cluster_now_ms(c)));

    if (v->nominated.n && !str_eq(tree_str(tree_get(status, "nominatedNodeName")), v->nominated)) {
        tree_set_str(a, status, "nominatedNodeName", v->nominated);
        changed = true;
    }
    cluster_event(c, e->o, COMPONENT, "Warning", "FailedScheduling", STR_FMT, STR_ARG(v->message));
    if (changed)
        cluster_update_part(c, e->o, "status", status);
}

static void evict_victim(struct scheduler *p, str uid, str by, str node, struct arena *a)
{
    struct cluster *c = p->c;
    struct pod_entry *e = pods_get(c->pods, uid);

    if (!e || e->o->deleted_ms)
        return;
    struct tree *status = pod_status(e, a);
    struct condition target = {
        .type = STR("DisruptionTarget"),
        .status = STR("True"),
        .reason = STR("PreemptionByScheduler"),
        .message = STR("default-scheduler: preempting to accommodate a higher priority pod"),
        .flavour = CONDITION_POD,
        .generation = e->generation,
    };
    cond_set(a, tree_sublist(a, status, "conditions"), &target, time_text(a, cluster_now_ms(c)));
    cluster_update_part(c, e->o, "status", status);
    e = pods_get(c->pods, uid);
    cluster_event(c, e->o, COMPONENT, "Normal", "Preempted", "Preempted by pod " STR_FMT " on node " STR_FMT,
                  STR_ARG(by), STR_ARG(node));
    cluster_delete(c, e->o, -1);
}

static bool bind(struct scheduler *p, struct pod_entry *e, str node, struct arena *a)
{
    struct cluster *c = p->c;
    struct status st;

    if (!kube_bind(c->k, a, e->o->ns, e->o->name, node, &st))
        return false;
    cluster_event(c, e->o, COMPONENT, "Normal", "Scheduled",
                  "Successfully assigned " STR_FMT "/" STR_FMT " to " STR_FMT, STR_ARG(e->o->ns), STR_ARG(e->o->name),
                  STR_ARG(node));
    return true;
}

/* Claims that wait for their first consumer learn where it will be. */
static void select_node(struct scheduler *p, str ns, str claim, str node, struct arena *a)
{
    struct cluster *c = p->c;
    const struct object *o = kube_get(c->k, c->kinds.claim, ns, claim);

    if (!o)
        return;
    struct tree *t = kube_tree(a, o);
    tree_set_str(a, tree_path(a, t, "metadata", "annotations", NULL), "volume.kubernetes.io/selected-node", node);
    cluster_update(c, c->kinds.claim, NULL, t);
}

static str heap_copy(str s)
{
    char *to = xmalloc(s.n + 1);

    return (str){memcpy(to, s.p, s.n), s.n};
}

static void carry_out(struct scheduler *p, struct wanting *w, struct pod_entry *e, const struct verdict *v,
                      struct arena *a)
{
    str uid = arena_strdup(a, w->uid), node = arena_strdup(a, v->node), ns = arena_strdup(a, e->o->ns);

    if (v->n_provision) {
        str *claims = arena_new_array(a, str, v->n_provision);
        uint32_t n = v->n_provision;

        for (uint32_t i = 0; i < n; i++)
            claims[i] = arena_strdup(a, v->provision[i]);
        free((char *)w->node.p);
        w->node = heap_copy(node);
        enter(p, w, PLACE_BINDING, BIND_TIMEOUT_US);
        for (uint32_t i = 0; i < n; i++)
            select_node(p, ns, claims[i], node, a);
        return;
    }
    park(p, w, 0); /* the change brings it out of the queue */
    if (!bind(p, e, node, a)) {
        sched_assume(p->core, uid, (str){0});
        w = table_get(&p->by_uid, uid);
        if (w)
            back_off(p, w);
    }
}

static uint64_t chance(void *ctx)
{
    return world_random(ctx);
}

/* For a pod of the same shape no place was found, and nothing has happened since that would help one: it would be told the same, which it was told before. Pods with
 * claims are asked each for itself: their volumes are not part of the shape. */
static unsigned known_to_fail(const struct scheduler *p, const struct wanting *w, const struct pod_entry *e)
{
    uint32_t shape = sched_shape(p->core, w->uid);

    return was_told(p, w, e) && !e->has_claims && shape < p->hopeless.n ? p->hopeless.v[shape] : 0;
}

static void give_up(struct scheduler *p, struct wanting *w, unsigned wakes_on)
{
    w->shape = sched_shape(p->core, w->uid);
    while (p->hopeless.n <= w->shape)
        vec_push(&p->hopeless, 0);
    p->hopeless.v[w->shape] = (uint8_t)wakes_on;
    park(p, w, wakes_on);
}

static void decide(struct scheduler *p, struct wanting *w)
{
    struct cluster *c = p->c;
    struct arena *a = cluster_begin(c);
    struct pod_entry *e = pods_get(c->pods, w->uid);
    struct verdict v;

    leave(p, w);
    w->attempts++;
    unsigned wakes_on = known_to_fail(p, w, e);
    if (wakes_on) {
        give_up(p, w, wakes_on);
        return;
    }
    sched_decide(p->core, w->uid, chance, c->w, &v);
    if (v.node.n) {
        carry_out(p, w, e, &v, a);
        return;
    }
    if (v.nominated.n || e->has_claims)
        park(p, w, v.wakes_on);
    else
        give_up(p, w, v.wakes_on);
    /* Writing changes the state that the verdict's strings live in. */
    struct verdict kept = v;
    str uid = arena_strdup(a, w->uid), *victims = arena_new_array(a, str, v.n_victims);
    kept.message = arena_strdup(a, v.message);
    kept.nominated = arena_strdup(a, v.nominated);
    for (uint32_t i = 0; i < v.n_victims; i++)
        victims[i] = arena_strdup(a, v.victims[i]);
    write_failure(p, w, e, &kept, a);
    for (uint32_t i = 0; i < kept.n_victims; i++)
        evict_victim(p, victims[i], uid, kept.nominated, a);
}

static void on_run(void *ctx)
{
    struct scheduler *p = ctx;

    for (int i = 0; i < BATCH && p->active.n; i++)
        decide(p, p->active.v[0]);
    if (p->active.n)
        timer_set(p->c->w, &p->run, 0);
}

/* A waiting time is over: of a back-off, of patience, or of volumes that never came. */
static void on_wait(void *ctx, str uid)
{
    struct scheduler *p = ctx;
    struct wanting *w = table_get(&p->by_uid, uid);

    if (!w || w->place == PLACE_ACTIVE)
        return;
    if (w->place == PLACE_BINDING)
        sched_assume(p->core, uid, (str){0});
    hope(p, w);
    leave(p, w);
    w->early_s = 0;
    enter(p, w, PLACE_ACTIVE, 0);
}

/* ---- seeing ---- */

static void enqueue(struct scheduler *p, str uid, int32_t priority)
{
    struct wanting *w = xcalloc(1, sizeof(*w) + uid.n);

    w->uid = (str){memcpy(w + 1, uid.p, uid.n), uid.n};
    w->shape = UINT32_MAX;
    w->priority = priority;
    w->seq = p->seq++;
    table_put(&p->by_uid, w);
    enter(p, w, PLACE_ACTIVE, 0);
}

/* Decided, but not written: whoever waits for its volumes stays in the queue. */
static bool still_binding(const struct scheduler *p, const struct wanting *w, const struct object *o)
{
    return w->place == PLACE_BINDING && !o->deleted_ms && !pods_get(p->c->pods, o->uid)->scheduled;
}

static unsigned follow(struct scheduler *p, const struct pod_entry *e)
{
    struct pod_course c = {.leaving = e->o->deleted_ms != 0,
                           .over = pod_is_over(e),
                           .node = pod_node(e),
                           .nominated = pod_nomination(e->o),
                           .started_ms = e->started_ms};

    return sched_pod_goes_on(p->core, e->uid, &c);
}

static void on_pod(void *ctx, struct seen *s)
{
    struct scheduler *p = ctx;
    struct pod_queueing q;

    if (s->old && (!s->new || !str_eq(s->new->uid, s->old->uid))) {
        str node = sched_where(p->core, s->old->uid);

        forget(p, s->old->uid);
        tell(p, sched_pod(p->core, s->old->uid, NULL, true), node);
    }
    const struct pod_entry *e = pods_seen(p->c->pods, s);
    unsigned reshaped = POD_IS_NEW | POD_LABELS | POD_SPEC;
    if (!s->new || !(e->news & (reshaped | POD_PHASE | POD_LEAVES | POD_NODE | POD_NOMINATION)))
        return; /* gone, or a report of its kubelet: nothing that the scheduler asks about */
    uint32_t shape = sched_shape(p->core, e->uid);
    tell(p, e->news & reshaped ? sched_pod(p->core, e->uid, seen_tree(s), true) : follow(p, e),
         sched_where(p->core, e->uid));
    if (!p->decides || !sched_queueing(p->core, e->uid, &q))
        return;
    struct wanting *w = table_get(&p->by_uid, e->uid);
    if (q.wants == POD_WANTS_NODE && !w)
        enqueue(p, e->uid, q.priority);
    else if (q.wants == POD_WANTS_NODE && w->place == PLACE_PARKED && shape != sched_shape(p->core, e->uid))
        wake(p, w);
    else if (q.wants != POD_WANTS_NODE && w && !still_binding(p, w, s->new))
        forget(p, w->uid);
}

static void on_node(void *ctx, struct seen *s)
{
    struct scheduler *p = ctx;
    const struct object *o = seen_object(s);

    tell(p, sched_node(p->core, o->name, s->new ? seen_tree(s) : NULL), o->name);
}

static void on_namespace(void *ctx, struct seen *s)
{
    struct scheduler *p = ctx;

    tell(p, sched_namespace(p->core, seen_object(s)->name, s->new ? seen_tree(s) : NULL), (str){0});
}

static void on_volume(void *ctx, struct seen *s)
{
    struct scheduler *p = ctx;

    tell(p, sched_volume(p->core, seen_object(s)->name, s->new ? seen_tree(s) : NULL), (str){0});
}

static void on_class(void *ctx, struct seen *s)
{
    struct scheduler *p = ctx;

    tell(p, sched_class(p->core, seen_object(s)->name, s->new ? seen_tree(s) : NULL), (str){0});
}

static void on_csi_node(void *ctx, struct seen *s)
{
    struct scheduler *p = ctx;

    tell(p, sched_csi_node(p->core, seen_object(s)->name, s->new ? seen_tree(s) : NULL), (str){0});
}

static void on_budget(void *ctx, struct seen *s)
{
    struct scheduler *p = ctx;
    const struct object *o = seen_object(s);

    sched_budget(p->core, o->ns, o->name, s->new ? seen_tree(s) : NULL);
}

static void on_bind_ready(void *ctx, str uid)
{
    struct scheduler *p = ctx;
    struct wanting *w = table_get(&p->by_uid, uid);
    struct pod_entry *e = pods_get(p->c->pods, uid);
    struct arena *a = cluster_begin(p->c);

    if (!w || !e || w->place != PLACE_BINDING || !sched_claims_bound(p->core, uid))
        return;
    str node = arena_strdup(a, w->node), key = arena_strdup(a, uid);
    leave(p, w);
    park(p, w, 0);
    if (!bind(p, e, node, a)) {
        sched_assume(p->core, key, (str){0});
        w = table_get(&p->by_uid, key);
        if (w)
            back_off(p, w);
    }
}

static void on_claim(void *ctx, struct seen *s)
{
    struct scheduler *p = ctx;
    const struct object *o = seen_object(s);

    tell(p, sched_claim(p->core, o->ns, o->name, s->new ? seen_tree(s) : NULL), (str){0});
    for (uint32_t i = 0; i < p->binding.n; i++)
        if (sched_claims_bound(p->core, p->binding.v[i]->uid))
            work_add(p->binds, p->binding.v[i]->uid);
}

struct scheduler *scheduler_new(struct cluster *c)
{
    struct scheduler *p = xcalloc(1, sizeof(*p));

    p->c = c;
    p->core = sched_new();
    p->decides = !c->o.no_scheduler;
    p->waits = work_new(c->w, "scheduler-waits", on_wait, p);
    p->binds = work_new(c->w, "scheduler-binds", on_bind_ready, p);
    p->run = (struct timer){.fn = on_run, .ctx = p};
    see(c, c->kinds.namespace_, on_namespace, p);
    see(c, c->kinds.storage_class, on_class, p);
    see(c, c->kinds.volume, on_volume, p);
    see(c, c->kinds.claim, on_claim, p);
    see(c, c->kinds.csi_node, on_csi_node, p);
    see(c, c->kinds.node, on_node, p);
    see(c, c->kinds.budget, on_budget, p);
    see(c, c->kinds.pod, on_pod, p);
    return p;
}

static void release(void *ctx, void *entry)
{
    struct wanting *w = entry;

    (void)ctx;
    free((char *)w->node.p);
    free(w);
}

void scheduler_free(struct scheduler *p)
{
    if (!p)
        return;
    timer_stop(p->c->w, &p->run);
    work_free(p->waits);
    work_free(p->binds);
    table_drain(&p->by_uid, release, NULL);
    vec_fini(&p->active);
    vec_fini(&p->parked);
    vec_fini(&p->binding);
    vec_fini(&p->hopeless);
    sched_free(p->core);
    free(p);
}
