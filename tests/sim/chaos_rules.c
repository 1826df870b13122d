/* What may never happen, looked at with every write.
 *
 * Only the holder of the lease writes. A pod is deleted only when its node's time is up, and never evicted when it is not to be disrupted. NodePools stay within their limits. Nodes
 * that are given up by choice: within the budget of their pool, without pods that must stay, and not on and on while nothing else happens. What a replica cannot have heard of yet
 * does not count against it: the more generous of two values is taken for CHAOS_NEWS_S after a change. */
#include <stdio.h>
#include <string.h>

#include "base/map.h"
#include "data/edit.h"
#include "model/duration.h"
#include "sim/chaos_int.h"

#define POOL_LABEL STR("karpenter.sh/nodepool")
#define TERMINATION_TIME "karpenter.sh/nodeclaim-termination-timestamp"
#define DISRUPTED_TAINT "karpenter.sh/disrupted"
#define SLACK_MS 1500      /* times are written in whole seconds */
#define CHOICES_PER_NODE 4 /* nodes that are given up by choice while nothing else happens, for each that there was */
#define CHOICES_MIN 12

static int64_t wall_ms(const struct chaos *c)
{
    return world_now_ms(c->r->l->s->world);
}

/* ---- pods ---- */

static str pod_of_path(str path)
{
    str prefix = STR("/api/v1/namespaces/default/pods/");
    str name = str_starts(path, prefix) ? str_sub(path, prefix.n, path.n) : (str){0}, head, tail;

    return str_cut(name, '/', &head, &tail) ? head : name;
}

static bool wants_to_stay(const struct chaos *c, struct arena *a, str name)
{
    const struct object *o = kube_get(chaos_kube(c), server_kind(c->r->l->s, "pods"), STR("default"), name);
    const struct tree *meta = o ? kube_part(a, o, "metadata") : NULL;

    return meta && tree_at(meta, "annotations", "karpenter.sh/do-not-disrupt", NULL);
}

struct deadline {
    struct arena *a;
    str node;
    int64_t ms; /* INT64_MAX: there is none */
};

static void note_deadline(void *ctx, const struct object *o)
{
    struct deadline *d = ctx;
    const struct tree *t = kube_tree(d->a, o);
    str text = tree_str(tree_at(t, "metadata", "annotations", TERMINATION_TIME, NULL));
    struct err e;

    if (str_eq(tree_str(tree_at(t, "status", "nodeName", NULL)), d->node) && text.n)
        (void)time_parse_rfc3339(text, &d->ms, &e);
}

/* Past budgets and do-not-disrupt, so that it has the whole of its own grace before the node's time is up. */
static bool may_delete_pod(const struct chaos *c, struct arena *a, str name)
{
    const struct object *o = kube_get(chaos_kube(c), server_kind(c->r->l->s, "pods"), STR("default"), name);
    struct deadline d = {.a = a, .ms = INT64_MAX};
    int64_t grace_s = 0;

    if (!o || o->deleted_ms || rig_now(c->r) < c->jumped_s + CHAOS_NEWS_S)
        return true;
    const struct tree *spec = kube_part(a, o, "spec");
    d.node = tree_str(tree_get(spec, "nodeName"));
    (void)tree_to_i64(tree_get(spec, "terminationGracePeriodSeconds"), &grace_s);
    kube_each(chaos_kube(c), server_kind(c->r->l->s, "nodeclaims"), (str){0}, note_deadline, &d);
    /* Pods of a machine whose status checks fail have no time left (aws). */
    return (has_part(c, CHAOS_GRACE) || c->aws) && d.ms != INT64_MAX && wall_ms(c) + SLACK_MS >= d.ms - grace_s * 1000;
}

static void check_pod_call(struct chaos *c, const struct exchange *x)
{
    AUTO(arena) struct arena *a = arena_new(0);
    str name = pod_of_path(x->path);

    if (strcmp(x->method, "DELETE") == 0 && !may_delete_pod(c, a, name))
        bad(c, "a pod is deleted before its time: %s", c->last_write);
    if (!str_ends(x->path, STR("/eviction")))
        return;
    if (wants_to_stay(c, a, name))
        bad(c, "a pod is evicted that is not to be disrupted: %s", c->last_write);
    (void)snprintf(c->evicting, sizeof(c->evicting), STR_FMT, STR_ARG(name));
}

static void on_pod(void *ctx, const struct change *ch)
{
    struct chaos *c = ctx;

    if (!ch->new)
        return;
    if (object_field(ch->new, "spec.nodeName").n && (!ch->old || object_field(ch->old, "spec.nodeName").n == 0))
        c->tally.n_placed++;
    if (ch->old && !ch->old->deleted_ms && ch->new->deleted_ms &&str_is(ch->new->name, c->evicting))
        c->tally.n_evicted++;
}

/* ---- who writes ---- */

static void on_lease(void *ctx, const struct change *ch)
{
    struct chaos *c = ctx;

    if (!ch->new || !str_is(ch->new->name, "karpenter-leader-election"))
        return;
    (void)snprintf(c->holder, sizeof(c->holder), STR_FMT,
                   STR_ARG(tree_str(tree_get(change_part(ch, "spec"), "holderIdentity"))));
    for (uint32_t i = 0; i < RIG_REPLICAS; i++)
        if (strcmp(c->holder, c->r->names[i]) == 0)
            memcpy(c->led[i], c->r->names[i], sizeof(c->led[i]));
}

/* Some machines never become Nodes, however often it is tried. */
static bool never_joins(const struct chaos *c, const struct exchange *x)
{
    if (strcmp(x->method, "POST") != 0 || !str_is(x->path, "/api/v1/nodes") || c->calm ||
        rig_now(c->r) >= c->no_join_until_s)
        return false;
    str head, tail;
    bool named = str_cut(x->body, '{', &head, &tail);
    return named && hash_bytes(x->body.p, x->body.n, 0) % 3 == 0;
}

static bool on_arrival(void *ctx, uint32_t replica, const struct exchange *x)
{
    struct chaos *c = ctx;
    bool alone = !has_part(c, CHAOS_PAIR);

    c->tally.n_requests++;
    c->evicting[0] = '\0';
    if (strcmp(x->method, "GET") == 0 || str_contains(x->path, STR("/leases")))
        return true;
    if (str_contains(x->path, STR("/events"))) { /* the last ones of a leader may come after its term */
        if (!alone && strcmp(c->led[replica], c->r->names[replica]) != 0)
            bad(c, "%s, who never led, has an event: " STR_FMT, c->r->names[replica], STR_ARG(x->body));
        return true;
    }
    c->n_writes++;
    (void)snprintf(c->last_write, sizeof(c->last_write), "%s " STR_FMT " " STR_FMT, x->method, STR_ARG(x->path),
                   STR_ARG(x->body));
    if (!alone && strcmp(c->holder, c->r->names[replica]) != 0)
        bad(c, "%s writes (%s), while %s holds the lease", c->r->names[replica], c->last_write, c->holder);
    if (str_contains(x->path, STR("/pods/")))
        check_pod_call(c, x);
    return !never_joins(c, x);
}

static bool is_disrupted(const struct tree *spec)
{
    const struct tree *taints = spec ? tree_get(spec, "taints") : NULL;

    for (uint32_t i = 0; taints && i < taints->n; i++)
        if (str_is(tree_str(tree_get(&taints->items[i], "key")), DISRUPTED_TAINT))
            return true;
    return false;
}

/* ---- limits ---- */

struct usage {
    struct chaos *c;
    struct arena *a;
    str pool;
    int64_t milli;
};

/* Machines on their way out, or about to be replaced, do not count, or nothing could be replaced at the limit. */
static void add_claim(void *ctx, const struct object *o)
{
    struct usage *u = ctx;

    if (o->deleted_ms || !str_eq(object_label(o, POOL_LABEL), u->pool))
        return;
    const struct tree *t = kube_tree(u->a, o);
    const struct object *node = kube_get(chaos_kube(u->c), server_kind(u->c->r->l->s, "nodes"), (str){0},
                                         tree_str(tree_at(t, "status", "nodeName", NULL)));
    if (!node || (!node->deleted_ms && !is_disrupted(kube_part(u->a, node, "spec"))))
        u->milli += millicores(tree_at(t, "spec", "resources", "requests", "cpu", NULL));
}

static void on_claim(void *ctx, const struct change *ch)
{
    struct chaos *c = ctx;

    if (ch->old || !ch->new)
        return;
    c->tally.n_claims++;
    const struct chaos_pool *p = pool_named(c, object_label(ch->new, POOL_LABEL));
    int64_t limit = p ? setting_most(c, &p->limit_milli) : INT64_MAX;
    if (limit == INT64_MAX)
        return;
    AUTO(arena) struct arena *a = arena_new(0);
    struct usage u = {.c = c, .a = a, .pool = str_c(p->name)};
    kube_each(chaos_kube(c), ch->new->kind, (str){0}, add_claim, &u);
    if (u.milli > limit)
        bad(c, "NodePool %s has %lld millicores, and a limit of %lld", p->name, (long long)u.milli, (long long)limit);
}

/* ---- nodes that are given up by choice ---- */

struct census {
    struct arena *a;
    str pool;
    uint32_t n_nodes, n_chosen;
};

static void count_node(void *ctx, const struct object *o)
{
    struct census *s = ctx;

    if (!str_eq(object_label(o, POOL_LABEL), s->pool) || object_label(o, STR("karpenter.sh/initialized")).n == 0)
        return;
    s->n_nodes++;
    s->n_chosen += !o->deleted_ms && is_disrupted(kube_part(s->a, o, "spec"));
}

static int64_t allowed(int64_t budget, int64_t n_nodes)
{
    if (budget == INT64_MIN)
        return 0;
    return budget < 0 ? -budget : (n_nodes * budget + 99) / 100;
}

struct staying {
    struct chaos *c;
    struct arena *a;
    str node;
    str pod; /* that must stay; empty: none */
};

static void note_staying(void *ctx, const struct object *o)
{
    struct staying *s = ctx;

    if (o->deleted_ms || !str_eq(object_field(o, "spec.nodeName"), s->node) ||
        o->created_ms > wall_ms(s->c) - (int64_t)(CHAOS_NEWS_S * 1000) || !wants_to_stay(s->c, s->a, o->name))
        return;
    s->pod = o->name;
}

static void check_choice(struct chaos *c, struct chaos_pool *p, const struct object *node)
{
    AUTO(arena) struct arena *a = arena_new(0);
    struct census s = {.a = a, .pool = str_c(p->name)};
    struct staying stay = {.c = c, .a = a, .node = node->name};

    kube_each(chaos_kube(c), node->kind, (str){0}, count_node, &s);
    setting_set(c, &p->n_nodes, s.n_nodes);
    int64_t n = setting_most(c, &p->n_nodes);
    bool news = rig_now(c->r) < p->budget.changed_s + CHAOS_NEWS_S;
    int64_t most = MAX(allowed(p->budget.now, n), news ? allowed(p->budget.before, n) : 0);
    if (s.n_chosen > most)
        bad(c, "NodePool %s gives up %u of %lld nodes at a time, and its budget allows %lld", p->name, s.n_chosen,
            (long long)n, (long long)most);
    kube_each(chaos_kube(c), server_kind(c->r->l->s, "pods"), STR("default"), note_staying, &stay);
    if (stay.pod.n && !has_part(c, CHAOS_GRACE) && rig_now(c->r) > c->jumped_s + CHAOS_NEWS_S)
        bad(c, "Node " STR_FMT " is given up, and has pod " STR_FMT ", which is not to be disrupted",
            STR_ARG(node->name), STR_ARG(stay.pod));
    if (++c->n_since_change > CHOICES_MIN + CHOICES_PER_NODE * (uint64_t)n)
        bad(c, "%llu nodes were given up by choice since anything else happened, the last is " STR_FMT,
            (unsigned long long)c->n_since_change, STR_ARG(node->name));
}

static void on_node(void *ctx, const struct change *ch)
{
    struct chaos *c = ctx;
    const struct object *o = ch->new ? ch->new : ch->old;
    struct chaos_pool *p = pool_named(c, object_label(o, POOL_LABEL));

    if (!p)
        return;
    c->tally.n_nodes += !ch->old;
    c->tally.n_nodes_gone += !ch->new;
    if (!ch->old || !ch->new || ch->new->deleted_ms || str_is(ch->only, "status"))
        return;
    if (is_disrupted(tree_get(change_old(ch), "spec")) || !is_disrupted(change_part(ch, "spec")))
        return;
    c->tally.n_disrupted++;
    check_choice(c, p, ch->new);
}

void rules_watch(struct chaos *c)
{
    struct server *s = c->r->l->s;

    c->r->watch_ctx = c;
    c->r->before = on_arrival;
    kube_subscribe(s->k, server_kind(s, "leases"), on_lease, c);
    kube_subscribe(s->k, server_kind(s, "nodeclaims"), on_claim, c);
    kube_subscribe(s->k, server_kind(s, "nodes"), on_node, c);
    kube_subscribe(s->k, server_kind(s, "pods"), on_pod, c);
}
