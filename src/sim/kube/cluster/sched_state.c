/* What the scheduler knows of the cluster, as it changes: nodes, pods, namespaces, budgets. */
#include "model/duration.h"
#include "sim/kube/cluster/sched_int.h"

struct sched *sched_new(void)
{
    struct sched *s = xcalloc(1, sizeof(*s));

    s->syms = syms_new();
    s->tmp = arena_new(0);
    return s;
}

/* ---- pods on nodes ---- */

static void amounts_add(struct snode *n, const struct amounts *from, int sign)
{
    struct amounts *to = &n->used;

    for (int i = 0; i < RES_N; i++)
        to->v[i] = sat_add(to->v[i], sign * from->v[i]);
    for (uint32_t i = 0; i < from->n_ext; i++) {
        uint32_t k = 0;

        while (k < to->n_ext && !sym_eq(to->ext[k].name, from->ext[i].name))
            k++;
        if (k == to->n_ext) {
            struct extended *more = arena_new_array(n->a, struct extended, k + 1);

            if (k)
                memcpy(more, to->ext, k * sizeof(*more));
            more[k] = (struct extended){.name = from->ext[i].name};
            to->ext = more;
            to->n_ext++;
        }
        to->ext[k].v = sat_add(to->ext[k].v, sign * from->ext[i].v);
    }
}

static void pods_remove(struct snode *n, const struct spod *p)
{
    for (uint32_t i = 0; i < n->pods.n; i++)
        if (n->pods.v[i] == p) {
            n->pods.v[i] = vec_last(&n->pods);
            n->pods.n--;
            return;
        }
}

void pod_place(struct sched *s, struct spod *p, uint32_t node)
{
    int sign = node == NONE ? -1 : 1;
    uint32_t at = node == NONE ? p->node : node;

    if (p->node == node)
        return;
    assert(p->node == NONE || node == NONE);
    struct snode *n = &s->nodes.v[at];
    amounts_add(n, &p->shape->asks, sign);
    for (int i = 0; i < 2; i++)
        n->scored[i] = sat_add(n->scored[i], sign * p->shape->scored[i]);
    counts_add(s, p, at, sign);
    if (sign > 0) {
        n->least = n->pods.n ? MIN(n->least, p->shape->priority) : p->shape->priority;
        vec_push(&n->pods, p);
    } else {
        pods_remove(n, p);
    }
    p->node = node;
}

static void pod_nominate(struct sched *s, struct spod *p, uint32_t node)
{
    if (p->nominated == node)
        return;
    if (p->nominated != NONE) {
        struct snode *n = &s->nodes.v[p->nominated];

        for (uint32_t i = 0; i < n->nominated.n; i++)
            if (n->nominated.v[i] == p) {
                memmove(&n->nominated.v[i], &n->nominated.v[i + 1], (n->nominated.n - i - 1) * sizeof(p));
                n->nominated.n--;
                break;
            }
    }
    p->nominated = node;
    if (node != NONE)
        vec_push(&s->nodes.v[node].nominated, p);
}

/* Where the pod counts: what is written wins over what was decided here and is on its way. */
static void pod_settle(struct sched *s, struct spod *p)
{
    uint32_t written = sym_some(p->fixed) ? u64map_get(&s->node_of, p->fixed.v) : NONE;
    uint32_t node = p->over ? NONE : sym_some(p->fixed) ? written : p->assumed;

    if (node != p->node) {
        pod_place(s, p, NONE);
        pod_place(s, p, node);
    }
    if (sym_some(p->fixed)) {
        p->assumed = NONE;
        pod_nominate(s, p, NONE);
    }
}

/* ---- nodes ---- */

uint32_t node_find(const struct sched *s, str name)
{
    bool known;
    sym key = sym_find(s->syms, name, &known);

    return known ? u64map_get(&s->node_of, key.v) : NONE;
}

static uint32_t node_slot(struct sched *s)
{
    if (s->free_nodes.n)
        return s->free_nodes.v[--s->free_nodes.n];
    if (s->nodes.n == s->node_cap)
        counts_grow(s, s->node_cap ? s->node_cap * 2 : 64);
    vec_add(&s->nodes);
    return s->nodes.n - 1;
}

static void decode_taints(struct sched *s, struct snode *n, const struct tree *list)
{
    n->taints.v = arena_new_array(n->a, struct taint, list ? list->n : 0);
    for (uint32_t i = 0; list && i < list->n; i++) {
        const struct tree *t = &list->items[i];
        struct taint taint = {.key = decode_sym(s, tree_get(t, "key")), .value = decode_sym(s, tree_get(t, "value"))};

        if (taint_effect_parse(tree_str(tree_get(t, "effect")), &taint.effect))
            n->taints.v[n->taints.n++] = taint;
    }
}

static bool same_taints(const struct taints *a, const struct taints *b)
{
    if (a->n != b->n)
        return false;
    for (uint32_t i = 0; i < a->n; i++)
        if (!taint_matches(&a->v[i], &b->v[i]) || !sym_eq(a->v[i].value, b->v[i].value))
            return false;
    return true;
}

static bool same_amounts(const struct amounts *a, const struct amounts *b)
{
    if (memcmp(a->v, b->v, sizeof(a->v)) != 0 || a->n_ext != b->n_ext)
        return false;
    for (uint32_t i = 0; i < a->n_ext; i++)
        if (!sym_eq(a->ext[i].name, b->ext[i].name) || a->ext[i].v != b->ext[i].v)
            return false;
    return true;
}

/* The node's own facts, from its tree; what pods use there stays. */
static void node_decode(struct sched *s, struct snode *n, const struct tree *t)
{
    const struct tree *alloc = tree_at(t, "status", "allocatable", NULL);

    n->a = arena_new(512);
    n->labels = decode_labels(s, tree_at(t, "metadata", "labels", NULL));
    n->unschedulable = tree_is_true(tree_at(t, "spec", "unschedulable", NULL));
    decode_taints(s, n, tree_at(t, "spec", "taints", NULL));
    n->alloc = amounts_of(s, n->a, alloc);
    if (!str_to_i64(tree_scalar(tree_get(alloc, "pods")), &n->pods_alloc))
        n->pods_alloc = alloc && tree_get(alloc, "pods") ? INT32_MAX : 0; /* "1M": as many as one likes */
}

static bool node_refresh(struct sched *s, uint32_t at, const struct tree *t)
{
    struct snode *n = &s->nodes.v[at], new = {.name = n->name, .live = true};

    node_decode(s, &new, t);
    bool same_labels = new.labels.v == n->labels.v;
    bool changed = !same_labels || new.unschedulable != n->unschedulable || !same_taints(&new.taints, &n->taints) ||
                   !same_amounts(&new.alloc, &n->alloc) || new.pods_alloc != n->pods_alloc;
    if (!changed) {
        arena_free(new.a);
        return false;
    }
    struct extended *ext = arena_dup_array(new.a, struct extended, n->used.ext, n->used.n_ext);
    arena_free(n->a);
    n->a = new.a;
    n->labels = new.labels;
    n->unschedulable = new.unschedulable;
    n->taints = new.taints;
    n->alloc = new.alloc;
    n->pods_alloc = new.pods_alloc;
    n->used.ext = ext;
    if (!same_labels)
        topologies_node(s, at);
    return true;
}

static void node_remove(struct sched *s, uint32_t at)
{
    struct snode *n = &s->nodes.v[at];

    while (n->pods.n) {
        struct spod *p = vec_last(&n->pods);

        p->assumed = NONE;
        pod_place(s, p, NONE);
        if (sym_some(p->fixed))
            vec_push(&s->strays, p); /* the node may come back */
    }
    while (n->nominated.n)
        pod_nominate(s, n->nominated.v[0], NONE);
    n->live = false;
    topologies_node(s, at);
    u64map_put(&s->node_of, n->name.v, NONE);
    for (uint32_t i = 0; i < s->order.n; i++)
        if (s->order.v[i] == at) {
            memmove(&s->order.v[i], &s->order.v[i + 1], (s->order.n - i - 1) * sizeof(at));
            s->order.n--;
            break;
        }
    vec_fini(&n->pods);
    vec_fini(&n->nominated);
    arena_free(n->a);
    *n = (struct snode){0};
    vec_push(&s->free_nodes, at);
}

static void node_add(struct sched *s, str name, const struct tree *t)
{
    uint32_t at = node_slot(s);
    struct snode *n = &s->nodes.v[at];

    *n = (struct snode){.name = sym_of(s->syms, name), .live = true};
    node_decode(s, n, t);
    u64map_put(&s->node_of, n->name.v, at);
    vec_push(&s->order, at);
    topologies_node(s, at);
    for (uint32_t i = 0; i < s->strays.n;) { /* pods may name a node before it is there */
        struct spod *p = s->strays.v[i];

        pod_settle(s, p);
        if (p->node == NONE)
            i++;
        else
            s->strays.v[i] = s->strays.v[--s->strays.n];
    }
}

unsigned sched_node(struct sched *s, str name, const struct tree *t)
{
    uint32_t at = node_find(s, name);

    arena_reset(s->tmp);
    if (!t) {
        if (at != NONE)
            node_remove(s, at);
        return 0;
    }
    if (at != NONE)
        return node_refresh(s, at, t) ? NEWS_NODE : 0;
    node_add(s, name, t);
    return NEWS_NODE;
}

/* ---- pods ---- */

static bool phase_is_over(const struct tree *t)
{
    str phase = tree_str(tree_at(t, "status", "phase", NULL));

    return str_is(phase, "Succeeded") || str_is(phase, "Failed");
}

static void decode_claims(struct sched *s, struct spod *p, const struct tree *pod)
{
    const struct tree *volumes = tree_at(pod, "spec", "volumes", NULL);
    str name = tree_str(tree_at(pod, "metadata", "name", NULL));
    VEC(sym) claims = {0};

    for (uint32_t i = 0; volumes && i < volumes->n; i++) {
        const struct tree *v = &volumes->items[i];
        str claim = tree_str(tree_at(v, "persistentVolumeClaim", "claimName", NULL));

        if (tree_get(v, "ephemeral"))
            claim = arena_printf(s->tmp, STR_FMT "-" STR_FMT, STR_ARG(name), STR_ARG(tree_str(tree_get(v, "name"))));
        if (claim.n)
            vec_push(&claims, sym_of(s->syms, claim));
    }
    p->claims = claims.v;
    p->n_claims = claims.n;
}

/* Pods of ReplicaSets and StatefulSets are spread a little even if they do not ask for it. */
static struct tally *decode_owner(struct sched *s, const struct tree *pod)
{
    const struct tree *refs = tree_at(pod, "metadata", "ownerReferences", NULL);

    for (uint32_t i = 0; refs && i < refs->n; i++) {
        str kind = tree_str(tree_get(&refs->items[i], "kind"));

        if (tree_is_true(tree_get(&refs->items[i], "controller")) &&
            (str_is(kind, "ReplicaSet") || str_is(kind, "StatefulSet") || str_is(kind, "ReplicationController")))
            return tally_of_owner(s, tree_str(tree_get(&refs->items[i], "uid")));
    }
    return NULL;
}

static int64_t time_of(const struct tree *t)
{
    struct err e;
    int64_t ms;

    return time_parse_rfc3339(tree_str(t), &ms, &e) ? ms : 0;
}

static void strays_update(struct sched *s, struct spod *p, bool stray)
{
    for (uint32_t i = 0; i < s->strays.n; i++)
        if (s->strays.v[i] == p) {
            if (!stray) {
                s->strays.v[i] = vec_last(&s->strays);
                s->strays.n--;
            }
            return;
        }
    if (stray)
        vec_push(&s->strays, p);
}

static unsigned pod_remove(struct sched *s, struct spod *p)
{
    unsigned news = p->node != NONE ? NEWS_ROOM : 0;

    pod_place(s, p, NONE);
    pod_nominate(s, p, NONE);
    if (sym_some(p->fixed))
        strays_update(s, p, false);
    table_take(&s->pods, p->uid);
    shape_unref(s, p->shape);
    if (p->owner)
        tally_unref(s, p->owner);
    free(p->claims);
    free(p);
    return news;
}

static struct spod *pod_new(struct sched *s, str uid)
{
    struct spod *p = xcalloc(1, sizeof(*p) + uid.n);

    p->uid = (str){memcpy(p + 1, uid.p, uid.n), uid.n};
    p->node = p->assumed = p->nominated = NONE;
    table_put(&s->pods, p);
    return p;
}

static struct pod_course course_of(const struct tree *t)
{
    return (struct pod_course){
        .leaving = tree_get(tree_get(t, "metadata"), "deletionTimestamp") != NULL,
        .over = phase_is_over(t),
        .node = tree_str(tree_at(t, "spec", "nodeName", NULL)),
        .nominated = tree_str(tree_at(t, "status", "nominatedNodeName", NULL)),
        .started_ms = time_of(tree_at(t, "status", "startTime", NULL)),
    };
}

/* shape: what it asks for now, with a reference of its own, or p->shape. */
static unsigned pod_follow(struct sched *s, struct spod *p, struct shape *shape, bool reshaped,
                           const struct pod_course *c)
{
    uint32_t was_on = p->node;
    unsigned news = 0;

    if (!p->shape || shape != p->shape || c->leaving != p->leaving || c->over != p->over) {
        bool relabelled = p->shape && shape->labels.v != p->shape->labels.v;

        pod_place(s, p, NONE);
        if (p->shape && reshaped)
            shape_unref(s, p->shape);
        p->shape = shape;
        p->leaving = c->leaving;
        p->over = c->over;
        if (was_on != NONE)
            news |= NEWS_ROOM | (relabelled ? NEWS_PLACED : 0);
    } else if (reshaped) {
        shape_unref(s, shape);
    }
    p->started_ms = c->started_ms;
    p->fixed = sym_of(s->syms, c->node);
    pod_settle(s, p);
    if (sym_some(p->fixed))
        strays_update(s, p, p->node == NONE && !p->over);
    else
        pod_nominate(s, p, node_find(s, c->nominated));
    if (p->node != NONE && was_on == NONE)
        news |= NEWS_PLACED;
    return news;
}

unsigned sched_pod(struct sched *s, str uid, const struct tree *t, bool reshaped)
{
    struct spod *p = table_get(&s->pods, uid);

    arena_reset(s->tmp);
    if (!t)
        return p ? pod_remove(s, p) : 0;
    bool is_new = !p;
    if (is_new)
        p = pod_new(s, uid);
    struct shape *shape = is_new || reshaped ? pod_shape(s, t) : p->shape;
    struct pod_course course = course_of(t);

    if (is_new) {
        p->owner = decode_owner(s, t);
        decode_claims(s, p, t);
    }
    return pod_follow(s, p, shape, is_new || reshaped, &course);
}

unsigned sched_pod_goes_on(struct sched *s, str uid, const struct pod_course *c)
{
    struct spod *p = table_get(&s->pods, uid);

    return p ? pod_follow(s, p, p->shape, /* reshaped= */ false, c) : 0;
}

str sched_where(const struct sched *s, str uid)
{
    const struct spod *p = table_get(&s->pods, uid);

    if (!p)
        return (str){0};
    return sym_str(s->syms, p->node != NONE ? s->nodes.v[p->node].name : p->fixed);
}

bool sched_queueing(const struct sched *s, str uid, struct pod_queueing *ret)
{
    const struct spod *p = table_get(&s->pods, uid);

    if (!p)
        return false;
    bool free_to_go = p->shape->ours && !sym_some(p->fixed) && p->assumed == NONE && !p->over && !p->leaving;
    *ret = (struct pod_queueing){
        .wants = !free_to_go       ? POD_WANTS_NOTHING
                 : p->shape->gated ? POD_IS_GATED
                                   : POD_WANTS_NODE,
        .priority = p->shape->priority,
    };
    if (p->nominated != NONE)
        ret->nominated = sym_str(s->syms, s->nodes.v[p->nominated].name);
    return true;
}

uint32_t sched_shape(const struct sched *s, str uid)
{
    const struct spod *p = table_get(&s->pods, uid);

    return p ? p->shape->id : NONE;
}

void sched_assume(struct sched *s, str uid, str node)
{
    struct spod *p = table_get(&s->pods, uid);

    if (!p)
        return;
    p->assumed = node.n ? node_find(s, node) : NONE;
    pod_settle(s, p);
}

/* ---- namespaces and budgets ---- */

unsigned sched_namespace(struct sched *s, str name, const struct tree *t)
{
    sym key = sym_of(s->syms, name);
    uint32_t was = u64map_get(&s->ns_labels, key.v), now = 0;

    arena_reset(s->tmp);
    if (t)
        now = decode_labels(s, tree_at(t, "metadata", "labels", NULL)).v + 1;
    if (was == now)
        return 0;
    u64map_put(&s->ns_labels, key.v, now);
    counts_recount(s);
    return NEWS_PLACED | NEWS_ROOM;
}

void sched_budget(struct sched *s, str ns, str name, const struct tree *t)
{
    str key = arena_printf(s->tmp, STR_FMT "/" STR_FMT, STR_ARG(ns), STR_ARG(name));
    uint32_t at = 0;

    while (at < s->budgets.n && str_cmp(s->budgets.v[at]->key, key) < 0)
        at++;
    if (at < s->budgets.n && str_eq(s->budgets.v[at]->key, key)) {
        arena_free(s->budgets.v[at]->a);
        memmove(&s->budgets.v[at], &s->budgets.v[at + 1], (s->budgets.n - at - 1) * sizeof(*s->budgets.v));
        s->budgets.n--;
    }
    if (t) {
        struct arena *a = arena_new(512);
        struct sbudget *b = arena_new_one(a, struct sbudget);

        b->a = a;
        b->key = arena_strdup(a, key);
        b->ns = sym_of(s->syms, ns);
        decode_selector(s, a, tree_at(t, "spec", "selector", NULL), &b->pods);
        if (!str_to_i64(tree_scalar(tree_at(t, "status", "disruptionsAllowed", NULL)), &b->allowed))
            b->allowed = 0;
        vec_push(&s->budgets, b);
        memmove(&s->budgets.v[at + 1], &s->budgets.v[at], (s->budgets.n - at - 1) * sizeof(*s->budgets.v));
        s->budgets.v[at] = b;
    }
    arena_reset(s->tmp);
}

/* ---- the end ---- */

static void release_pod(void *ctx, void *entry)
{
    struct sched *s = ctx;
    struct spod *p = entry;

    shape_unref(s, p->shape);
    if (p->owner)
        tally_unref(s, p->owner);
    free(p->claims);
    free(p);
}

void sched_free(struct sched *s)
{
    if (!s)
        return;
    for (uint32_t i = 0; i < s->order.n; i++) {
        struct snode *n = &s->nodes.v[s->order.v[i]];

        vec_fini(&n->pods);
        vec_fini(&n->nominated);
        arena_free(n->a);
    }
    table_drain(&s->pods, release_pod, s);
    assert(table_count(&s->shapes) == 0 && s->tallies.n == 0 && s->owners.n == 0 && s->holders.n == 0);
    for (uint32_t i = 0; i < s->topologies.n; i++) {
        free(s->topologies.v[i].domain);
        u64map_fini(&s->topologies.v[i].number);
    }
    for (uint32_t i = 0; i < s->budgets.n; i++)
        arena_free(s->budgets.v[i]->a);
    volumes_fini(s);
    vec_fini(&s->nodes);
    vec_fini(&s->order);
    vec_fini(&s->free_nodes);
    vec_fini(&s->tallies);
    vec_fini(&s->owners);
    vec_fini(&s->holders);
    vec_fini(&s->topologies);
    vec_fini(&s->free_shapes);
    vec_fini(&s->budgets);
    vec_fini(&s->strays);
    u64map_fini(&s->node_of);
    u64map_fini(&s->ns_labels);
    table_fini(&s->shapes);
    table_fini(&s->tallies_by_key);
    table_fini(&s->holders_by_key);
    syms_free(s->syms);
    arena_free(s->tmp);
    free(s);
}
