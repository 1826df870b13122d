/* What is kept of nodes and claims, and the sums. Pods: tally_pods.c. */
#include "cli/simulate/tally_int.h"

#include <stdlib.h>

#include "model/duration.h"

#define POOL_LABEL "karpenter.sh/nodepool"
#define PRICE_LABEL "eks-node-viewer/instance-price"
#define HOUR_S 3600.0
#define NANO 1e-9

/* ---- time ---- */

static void add_to(struct tally_slot *s, const struct watcher *w, double seconds)
{
    s->covered_s += seconds;
    s->usd += (double)w->rate * NANO / HOUR_S * seconds;
    s->node_s += w->n_nodes * seconds;
    s->running_s += w->n_running * seconds;
    s->waiting_s += w->n_waiting * seconds;
    s->cpu_used_s += (double)w->used.cpu / 1000 * seconds;
    s->cpu_s += (double)w->room.cpu / 1000 * seconds;
    s->memory_used_s += (double)w->used.memory * seconds;
    s->memory_s += (double)w->room.memory * seconds;
    s->nodes_max = MAX(s->nodes_max, w->n_nodes);
    s->waiting_max = MAX(s->waiting_max, w->n_waiting);
}

static uint32_t slot_at(const struct watcher *w, int64_t us)
{
    return (uint32_t)MIN((double)us / 1e6 / w->t->slot_s, TALLY_SLOTS - 1);
}

void watcher_settle(struct watcher *w)
{
    struct tally *t = w->t;

    if (!w->counts)
        return;
    int64_t now = world_mono_us(kube_world(w->kube)) - w->began_us;
    if (now == w->settled_us)
        return;
    double whole = (double)(now - w->settled_us) / 1e6;
    add_to(&t->total, w, whole);
    for (uint32_t i = 0; i < t->pools.n; i++) {
        struct tally_pool *p = &t->pools.v[i];

        p->usd += (double)p->rate * NANO / HOUR_S * whole;
        p->node_s += p->nodes * whole;
    }
    for (uint32_t i = 0; i < t->spends.n; i++) {
        struct tally_spend *p = &t->spends.v[i];

        p->usd += (double)p->rate * NANO / HOUR_S * whole;
        p->node_s += p->nodes * whole;
    }
    if (w->n_nodes || t->nodes_min)
        t->nodes_min = t->nodes_min ? MIN(t->nodes_min, w->n_nodes) : w->n_nodes;
    while (w->settled_us < now) {
        uint32_t i = slot_at(w, w->settled_us);
        int64_t end = i + 1 < TALLY_SLOTS ? (int64_t)((i + 1) * t->slot_s * 1e6) : now;

        end = MIN(MAX(end, w->settled_us + 1), now);
        add_to(&t->slots[i], w, (double)(end - w->settled_us) / 1e6);
        w->settled_us = end;
    }
}

struct tally_slot *watcher_slot(struct watcher *w)
{
    return &w->t->slots[slot_at(w, w->settled_us)];
}

/* ---- nodes ---- */

static struct seen_node *node_find(struct watcher *w, str name)
{
    return HTAB_THING(htab_get(&w->nodes, name), struct seen_node, by_name);
}

struct seen_node *watcher_node(struct watcher *w, str name)
{
    struct seen_node *n = node_find(w, name);

    if (n)
        return n;
    n = xcalloc(1, sizeof(*n));
    n->by_name.key = (str){memcpy(xmalloc(name.n + 1), name.p, name.n), name.n};
    htab_put(&w->nodes, &n->by_name);
    return n;
}

static void node_count(struct watcher *w, const struct seen_node *n, int sign)
{
    if (!n->there)
        return;
    if (!n->managed) {
        w->n_fixed += (uint32_t)sign;
        return;
    }
    w->n_nodes += (uint32_t)sign;
    w->room.cpu += sign * n->room.cpu;
    w->room.memory += sign * n->room.memory;
    w->used.cpu += sign * n->used.cpu;
    w->used.memory += sign * n->used.memory;
}

static void on_node(void *ctx, const struct change *c)
{
    struct watcher *w = ctx;

    if (!w->t)
        return;
    watcher_settle(w);
    if (!c->new) {
        struct seen_node *n = node_find(w, c->old->name);

        node_count(w, n, -1);
        n->there = false; /* kept: its pods may go later */
        return;
    }
    struct seen_node *n = watcher_node(w, c->new->name);
    bool managed = object_label(c->new, STR(POOL_LABEL)).n != 0;
    struct room room = room_of(tree_get(change_part(c, "status"), "allocatable"));
    if (n->there && n->managed == managed && n->room.cpu == room.cpu && n->room.memory == room.memory)
        return;
    node_count(w, n, -1);
    n->there = true;
    n->managed = managed;
    n->room = room;
    node_count(w, n, +1);
}

void watcher_use(struct watcher *w, struct seen_node *n, const struct room *r, int sign)
{
    n->used.cpu += sign * r->cpu;
    n->used.memory += sign * r->memory;
    if (n->there && n->managed) {
        w->used.cpu += sign * r->cpu;
        w->used.memory += sign * r->memory;
    }
}

/* ---- claims ---- */

static uint32_t pool_named(struct tally *t, str name)
{
    for (uint32_t i = 0; i < t->pools.n; i++)
        if (str_eq(t->pools.v[i].name, name))
            return i;
    vec_push(&t->pools, (struct tally_pool){.name = arena_strdup(t->arena, name)});
    return t->pools.n - 1;
}

static uint32_t spend_on(struct tally *t, str type, str capacity)
{
    for (uint32_t i = 0; i < t->spends.n; i++)
        if (str_eq(t->spends.v[i].type, type) && str_eq(t->spends.v[i].capacity, capacity))
            return i;
    vec_push(&t->spends,
             (struct tally_spend){.type = arena_strdup(t->arena, type), .capacity = arena_strdup(t->arena, capacity)});
    return t->spends.n - 1;
}

static void count_reason(struct tally *t, str name)
{
    for (uint32_t i = 0; i < t->reasons.n; i++)
        if (str_eq(t->reasons.v[i].name, name)) {
            t->reasons.v[i].n++;
            return;
        }
    vec_push(&t->reasons, (struct tally_reason){arena_strdup(t->arena, name), 1});
}

static const struct tree *condition(const struct tree *status, const char *type)
{
    const struct tree *list = tree_get(status, "conditions");

    for (uint32_t i = 0; list && i < list->n; i++)
        if (str_is(tree_str(tree_get(&list->items[i], "type")), type) &&
            str_is(tree_str(tree_get(&list->items[i], "status")), "True"))
            return &list->items[i];
    return NULL;
}

/* Disruption leaves its reason in a condition; an expiry can be told from the age. */
static str why_it_goes(const struct change *c)
{
    const struct tree *obj = change_new(c), *disrupted = condition(tree_get(obj, "status"), "DisruptionReason");
    int64_t expire_ns;
    struct err e;

    if (disrupted)
        return tree_str(tree_get(disrupted, "reason"));
    if (duration_parse_nillable(tree_str(tree_at(obj, "spec", "expireAfter", NULL)), &expire_ns, &e) &&
        expire_ns != DURATION_NEVER && c->new->deleted_ms - c->new->created_ms + 1000 >= expire_ns / 1000000)
        return STR("Expired");
    return condition(tree_get(obj, "status"), "Launched") ? STR("Deleted") : STR("NotLaunched");
}

static void launch(struct watcher *w, struct seen_claim *s, const struct object *o)
{
    str price = object_label(o, STR(PRICE_LABEL));
    double usd;

    s->launched = true;
    s->pool = pool_named(w->t, object_label(o, STR(POOL_LABEL)));
    s->spend = spend_on(w->t, object_label(o, STR("node.kubernetes.io/instance-type")),
                        object_label(o, STR("karpenter.sh/capacity-type")));
    if (price.n && str_to_double(price, &usd) && usd >= 0 && usd < 1e6)
        s->rate = (int64_t)(usd * 1e9 + 0.5);
    else
        w->t->n_unpriced++;
    struct tally_pool *p = &w->t->pools.v[s->pool];
    struct tally_spend *x = &w->t->spends.v[s->spend];
    w->rate += s->rate;
    p->rate += s->rate;
    x->rate += s->rate;
    p->launched++;
    x->launched++;
    x->nodes++;
    p->nodes++;
    p->nodes_max = MAX(p->nodes_max, p->nodes);
    w->t->total.launched++;
    watcher_slot(w)->launched++;
}

static void forget_claim(struct watcher *w, struct seen_claim *s)
{
    if (s->launched) {
        w->rate -= s->rate;
        w->t->pools.v[s->pool].rate -= s->rate;
        w->t->spends.v[s->spend].rate -= s->rate;
        w->t->pools.v[s->pool].removed++;
        w->t->pools.v[s->pool].nodes--;
        w->t->spends.v[s->spend].nodes--;
        w->t->total.removed++;
        watcher_slot(w)->removed++;
    }
    htab_del(&w->claims, &s->by_uid);
    free((char *)(uintptr_t)s->by_uid.key.p);
    free(s);
}

static void on_claim(void *ctx, const struct change *c)
{
    struct watcher *w = ctx;

    if (!w->t)
        return;
    str uid = (c->new ? c->new : c->old)->uid;
    struct seen_claim *s = HTAB_THING(htab_get(&w->claims, uid), struct seen_claim, by_uid);

    watcher_settle(w);
    if (!s) {
        s = xcalloc(1, sizeof(*s));
        s->by_uid.key = (str){memcpy(xmalloc(uid.n + 1), uid.p, uid.n), uid.n};
        htab_put(&w->claims, &s->by_uid);
    }
    if (!c->new) {
        forget_claim(w, s);
        return;
    }
    if (!s->launched && object_label(c->new, STR("node.kubernetes.io/instance-type")).n)
        launch(w, s, c->new);
    if (c->new->deleted_ms && !s->going) {
        s->going = true;
        count_reason(w->t, why_it_goes(c));
    }
}

/* ---- life ---- */

struct watcher *watcher_new(struct kube *k, double seconds)
{
    struct watcher *w = xcalloc(1, sizeof(*w));
    struct tally *t = xcalloc(1, sizeof(*t));

    t->arena = arena_new(0);
    t->slot_s = MAX(seconds, 1) / TALLY_SLOTS;
    *w = (struct watcher){.kube = k, .t = t};
    kube_subscribe(k, kube_kind(k, STR(""), STR("Node")), on_node, w);
    kube_subscribe(k, kube_kind(k, STR("karpenter.sh"), STR("NodeClaim")), on_claim, w);
    watcher_pods_init(w);
    return w;
}

void watcher_begin(struct watcher *w)
{
    w->counts = true;
    w->began_us = world_mono_us(kube_world(w->kube));
}

static int by_pool(const void *a, const void *b, void *ctx UNUSED)
{
    return str_cmp(((const struct tally_pool *)a)->name, ((const struct tally_pool *)b)->name);
}

static int by_reason(const void *a, const void *b, void *ctx UNUSED)
{
    const struct tally_reason *x = a, *y = b;

    return x->n != y->n ? (x->n < y->n) - (x->n > y->n) : str_cmp(x->name, y->name);
}

static int by_spend(const void *a, const void *b, void *ctx UNUSED)
{
    const struct tally_spend *x = a, *y = b;

    if (x->usd < y->usd || x->usd > y->usd)
        return x->usd < y->usd ? 1 : -1;
    return str_cmp(x->type, y->type) ? str_cmp(x->type, y->type) : str_cmp(x->capacity, y->capacity);
}

static int by_stuck(const void *a, const void *b, void *ctx UNUSED)
{
    const struct tally_stuck *x = a, *y = b;

    if (x->n != y->n)
        return (x->n < y->n) - (x->n > y->n);
    return str_cmp(x->workload, y->workload) ? str_cmp(x->workload, y->workload) : str_cmp(x->why, y->why);
}

static int by_number(const void *a, const void *b)
{
    uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;

    return (x > y) - (x < y);
}

struct tally *watcher_close(struct watcher *w)
{
    struct tally *t = w->t;

    watcher_settle(w);
    watcher_pods_close(w);
    t->seconds = (double)w->settled_us / 1e6;
    t->usd = t->total.usd;
    t->n_nodes = w->n_nodes;
    t->n_fixed = w->n_fixed;
    sort_stable(t->pools.v, t->pools.n, sizeof(*t->pools.v), by_pool, NULL);
    sort_stable(t->reasons.v, t->reasons.n, sizeof(*t->reasons.v), by_reason, NULL);
    sort_stable(t->spends.v, t->spends.n, sizeof(*t->spends.v), by_spend, NULL);
    sort_stable(t->stuck.v, t->stuck.n, sizeof(*t->stuck.v), by_stuck, NULL);
    if (t->waits_ms.n)
        qsort(t->waits_ms.v, t->waits_ms.n, sizeof(uint32_t), by_number);
    w->counts = false;
    w->t = NULL;
    return t;
}

void watcher_free(struct watcher *w)
{
    struct htab_walk walk = {0};
    struct htab_node *n;

    if (!w)
        return;
    while ((n = htab_next(&w->nodes, &walk))) {
        struct seen_node *node = HTAB_THING(n, struct seen_node, by_name);

        free((char *)(uintptr_t)node->by_name.key.p);
        free(node);
    }
    walk = (struct htab_walk){0};
    while ((n = htab_next(&w->claims, &walk))) {
        struct seen_claim *s = HTAB_THING(n, struct seen_claim, by_uid);

        free((char *)(uintptr_t)s->by_uid.key.p);
        free(s);
    }
    watcher_pods_fini(w);
    htab_fini(&w->nodes);
    htab_fini(&w->claims);
    tally_free(w->t); /* nobody closed it */
    free(w);
}

void tally_free(struct tally *t)
{
    if (!t)
        return;
    vec_fini(&t->pools);
    vec_fini(&t->reasons);
    vec_fini(&t->stuck);
    vec_fini(&t->spends);
    vec_fini(&t->waits_ms);
    arena_free(t->arena);
    free(t);
}

/* The least time within which so large a share of the pods ran. */
double tally_wait_s(const struct tally *t, double quantile)
{
    if (t->waits_ms.n == 0)
        return 0;
    uint32_t rank = (uint32_t)(quantile * t->waits_ms.n + 0.999999);

    return (double)t->waits_ms.v[MIN(MAX(rank, 1), t->waits_ms.n) - 1] / 1000;
}
