/* PodDisruptionBudgets: how many of the pods they cover are healthy, and how many may go. Both are counted as pods change: a budget of a thousand pods
 * costs no more to look at than one of ten. */
#include "sim/kube/cluster/workload.h"

#define COMPONENT "controllermanager"
#define DISRUPTED_US 120000000ll /* an eviction that did not delete its pod within so long never will */

/* A controller of pods that are covered. */
struct owning {
    str uid; /* on the heap */
    uint32_t n_pods;
};

struct member {
    str uid; /* first: the key; behind the struct */
    bool healthy;
    str owner; /* uid, of an entry of budget.owners; empty: none */
};

struct budget {
    str key; /* first: "ns/name" */
    str ns;
    int64_t generation;
    struct arena *a;
    const struct selector *pods; /* NULL: cannot be read */
    struct table members;        /* by uid */
    uint32_t n_healthy;
    VEC(struct owning) owners;
};

struct budgets {
    struct cluster *c;
    struct table by_key;
    VEC(struct budget *) list;
    struct work *q;
};

/* ---- who is covered ---- */

static bool covers(const struct budget *b, const struct object *pod)
{
    return b->pods && str_eq(b->ns, pod->ns) && !selector_is_empty(b->pods) &&
           selector_matches_labels(b->pods, pod->labels, pod->n_labels);
}

static struct owning *owning_of(struct budget *b, str uid)
{
    for (uint32_t i = 0; i < b->owners.n; i++)
        if (str_eq(b->owners.v[i].uid, uid))
            return &b->owners.v[i];
    char *copy = xmalloc(uid.n + 1);
    vec_push(&b->owners, (struct owning){.uid = {memcpy(copy, uid.p, uid.n), uid.n}});
    return &vec_last(&b->owners);
}

static void disown(struct budget *b, struct member *m)
{
    uint32_t i = 0;

    if (m->owner.n == 0)
        return;
    while (!str_eq(b->owners.v[i].uid, m->owner))
        i++;
    m->owner = (str){0};
    if (--b->owners.v[i].n_pods)
        return;
    free((char *)b->owners.v[i].uid.p);
    b->owners.v[i] = vec_last(&b->owners);
    b->owners.n--;
}

/* As the pod is now. */
static void look_at(struct cluster *c, struct budget *b, struct member *m)
{
    const struct pod_entry *e = pods_get(c->pods, m->uid);
    const struct owner *owner = e ? controller_of(e->o) : NULL;
    bool healthy = e && e->ready && !e->o->deleted_ms;

    b->n_healthy += (uint32_t)healthy - (uint32_t)m->healthy;
    m->healthy = healthy;
    if (str_eq(m->owner, owner ? owner->uid : (str){0}))
        return;
    disown(b, m);
    if (!owner)
        return;
    struct owning *o = owning_of(b, owner->uid);
    o->n_pods++;
    m->owner = o->uid;
}

static void join(struct cluster *c, struct budget *b, str uid)
{
    struct member *m = xcalloc(1, sizeof(*m) + uid.n);

    m->uid = (str){memcpy(m + 1, uid.p, uid.n), uid.n};
    table_put(&b->members, m);
    look_at(c, b, m);
}

static void leave(struct budget *b, str uid)
{
    struct member *m = table_take(&b->members, uid);

    if (!m)
        return;
    b->n_healthy -= m->healthy;
    disown(b, m);
    free(m);
}

static void release_member(void *ctx UNUSED, void *member)
{
    free(member);
}

static void budget_free(struct budget *b)
{
    table_drain(&b->members, release_member, NULL);
    for (uint32_t i = 0; i < b->owners.n; i++)
        free((char *)b->owners.v[i].uid.p);
    vec_fini(&b->owners);
    arena_free(b->a);
}

struct joining {
    struct cluster *c;
    struct budget *b;
};

static void join_if_covered(void *ctx, const struct object *pod)
{
    const struct joining *j = ctx;

    if (covers(j->b, pod))
        join(j->c, j->b, pod->uid);
}

static void forget(struct budgets *p, str key)
{
    struct budget *b = table_take(&p->by_key, key);

    for (uint32_t i = 0; b && i < p->list.n; i++)
        if (p->list.v[i] == b) {
            memmove(&p->list.v[i], &p->list.v[i + 1], (p->list.n - i - 1) * sizeof(b));
            p->list.n--;
            break;
        }
    if (b)
        budget_free(b);
}

static struct budget *budget_new(const struct object *o, const struct tree *t)
{
    struct arena *a = arena_new(512);
    struct budget *b = arena_new_one(a, struct budget);
    const struct tree *selector = tree_at(t, "spec", "selector", NULL);
    struct err err;

    b->a = a;
    b->key = key_of(a, o->ns, o->name);
    b->ns = arena_strdup(a, o->ns);
    b->generation = field_i64(tree_at(t, "metadata", "generation", NULL), 0);
    if (!selector || !selector_from_tree(a, tree_copy(a, selector), &b->pods, &err))
        b->pods = NULL;
    return b;
}

static void on_budget(void *ctx, struct seen *s)
{
    struct budgets *p = ctx;
    struct budget *b = budget_new(seen_object(s), seen_tree(s));
    const struct budget *had = table_get(&p->by_key, b->key);

    if (s->new &&had && had->generation == b->generation && s->old &&str_eq(s->old->uid, s->new->uid)) {
        if (!is_own_status(p->c, s)) /* evictions write there too */
            work_add(p->q, b->key);
        budget_free(b);
        return;
    }
    forget(p, b->key);
    if (!s->new) {
        budget_free(b);
        return;
    }
    table_put(&p->by_key, b);
    vec_push(&p->list, b);
    kube_each(p->c->k, p->c->kinds.pod, b->ns, join_if_covered, &(struct joining){p->c, b});
    work_add(p->q, b->key);
}

static void on_pod(void *ctx, struct seen *s)
{
    struct budgets *p = ctx;
    const struct object *o = seen_object(s);
    const struct pod_entry *e = pods_seen(p->c->pods, s);

    if (s->new && !(e->news & POD_COUNTS))
        return;
    for (uint32_t i = 0; i < p->list.n; i++) {
        struct budget *b = p->list.v[i];

        if (!str_eq(b->ns, o->ns))
            continue;
        struct member *m = table_get(&b->members, o->uid);
        bool was = m != NULL, is = s->new &&covers(b, s->new);
        if (was && !is)
            leave(b, o->uid);
        else if (is && !was)
            join(p->c, b, o->uid);
        else if (is)
            look_at(p->c, b, m);
        if (was || is)
            work_add(p->q, b->key);
    }
}

/* ---- counting ---- */

/* spec.replicas of the controllers of the pods, each once: what there would be if all went well. */
static int64_t expected_scale(struct subject *s, const struct budget *b)
{
    struct cluster *c = s->c;
    int64_t sum = 0;
    struct table seen = {0};

    for (uint32_t i = 0; i < b->owners.n; i++) {
        const struct object *o = kube_by_uid(c->k, b->owners.v[i].uid);
        const struct owner *above = o ? controller_of(o) : NULL;

        if (above && kube_by_uid(c->k, above->uid))
            o = kube_by_uid(c->k, above->uid); /* the Deployment of a ReplicaSet */
        if (!o || table_get(&seen, o->uid))
            continue;
        struct keyed *k = arena_new_one(s->a, struct keyed);
        k->key = arena_strdup(s->a, o->uid);
        table_put(&seen, k);
        sum += field_i64(tree_get(kube_part(s->a, o, "spec"), "replicas"), 1);
    }
    table_fini(&seen);
    return sum;
}

static void expect(struct subject *s, const struct budget *b, int64_t *ret_expected, int64_t *ret_desired)
{
    const struct tree *min = tree_get(s->spec, "minAvailable"), *max = tree_get(s->spec, "maxUnavailable");

    *ret_expected = table_count(&b->members);
    *ret_desired = 0;
    if (max) {
        *ret_expected = expected_scale(s, b);
        *ret_desired = MAX(*ret_expected - field_scaled(max, *ret_expected, true, 0), 0);
    } else if (min && min->kind == TREE_NUMBER) {
        *ret_desired = field_i64(min, 0);
    } else if (min) {
        *ret_expected = expected_scale(s, b);
        *ret_desired = field_scaled(min, *ret_expected, true, 0);
    }
}

/* Pods that evictions have marked and that are still there; those that should have gone long ago are forgotten. */
static void review_disrupted(struct budgets *p, struct subject *s, const struct budget *b)
{
    struct tree *map = tree_find(s->status, STR("disruptedPods"));

    for (uint32_t i = map && map->kind == TREE_MAP ? map->n : 0; i-- > 0;) {
        const struct object *o = kube_get(s->c->k, s->c->kinds.pod, s->o->ns, map->keys[i]);
        int64_t left_us = field_time(&map->items[i], 0) * 1000 + DISRUPTED_US - s->now_ms * 1000;

        if (!o || o->deleted_ms || left_us <= 0)
            tree_drop(map, map->keys[i]);
        else
            work_add_after(p->q, b->key, left_us);
    }
    if (map && map->n == 0)
        tree_drop(s->status, STR("disruptedPods"));
}

/* Healthy ones less those that evictions have marked. */
static int64_t count_healthy(struct subject *s, const struct budget *b)
{
    const struct tree *map = tree_find(s->status, STR("disruptedPods"));
    int64_t n = b->n_healthy;

    for (uint32_t i = 0; map && map->kind == TREE_MAP && i < map->n; i++) {
        const struct object *o = kube_get(s->c->k, s->c->kinds.pod, s->o->ns, map->keys[i]);
        const struct member *m = o ? table_get(&b->members, o->uid) : NULL;

        n -= m && m->healthy;
    }
    return n;
}

static void sync(struct budgets *p, struct subject *s, const struct budget *b)
{
    const struct tree *was = tree_copy(s->a, s->status);
    int64_t expected, desired;

    if (table_count(&b->members) == 0)
        cluster_event(s->c, s->o, COMPONENT, "Normal", "NoPods", "No matching pods found");
    review_disrupted(p, s, b);
    expect(s, b, &expected, &desired);
    int64_t healthy = count_healthy(s, b), allowed = expected > 0 ? MAX(healthy - desired, 0) : 0;
    struct condition cond = {.type = STR("DisruptionAllowed"),
                             .status = allowed ? STR("True") : STR("False"),
                             .reason = allowed ? STR("SufficientPods") : STR("InsufficientPods"),
                             .generation = s->generation,
                             .empty_message = true};
    cond_set(s->a, tree_sublist(s->a, s->status, "conditions"), &cond, s->now);
    tree_set_i64(s->a, s->status, "currentHealthy", healthy);
    tree_set_i64(s->a, s->status, "desiredHealthy", desired);
    tree_set_i64(s->a, s->status, "disruptionsAllowed", allowed);
    tree_set_i64(s->a, s->status, "expectedPods", expected);
    tree_set_i64(s->a, s->status, "observedGeneration", s->generation);
    if (!tree_equal(was, s->status))
        subject_write_status(s);
}

static void on_work(void *ctx, str key)
{
    struct budgets *p = ctx;
    const struct budget *b = table_get(&p->by_key, key);
    struct subject s;

    if (!b || !subject_begin(&s, p->c, p->c->kinds.budget, key))
        return;
    sync(p, &s, b);
    subject_end(&s);
}

struct budgets *budgets_new(struct cluster *c)
{
    struct budgets *p = xcalloc(1, sizeof(*p));

    p->c = c;
    p->q = work_new(c->w, "disruption", on_work, p);
    see(c, c->kinds.budget, on_budget, p);
    see(c, c->kinds.pod, on_pod, p);
    return p;
}

void budgets_free(struct budgets *p)
{
    if (!p)
        return;
    work_free(p->q);
    for (uint32_t i = 0; i < p->list.n; i++)
        budget_free(p->list.v[i]);
    vec_fini(&p->list);
    table_fini(&p->by_key);
    free(p);
}
