/* What must be so when nothing goes wrong any more: every pod runs or an Event says why not, buffers have their room and say so, NodeClaims and Nodes fit together, nothing is still on its way, nobody writes,
 * and memory does not grow. */
#include <malloc.h>
#include <stdio.h>
#include <string.h>

#include "data/edit.h"
#include "sim/chaos_int.h"

#ifdef __SANITIZE_ADDRESS__
size_t __sanitizer_get_current_allocated_bytes(void); /* its header is not everywhere */
#endif

#define SETTLE_S (25 * 60) /* a claim that is given up, made again, drained */
#define QUIET_S (20 * 60)
#define REST_S (6 * 3600)
#define GROWTH_MAX (64u << 10) /* bytes, while nothing happens */

/* ---- pods ---- */

struct excuse {
    struct chaos *c;
    struct arena *a;
    uint32_t n_of[CHAOS_APPS]; /* pods of every app */
    VEC(str) told;             /* names of pods */
    VEC(str) waiting;
};

static void note_event(void *ctx, const struct object *o)
{
    struct excuse *e = ctx;
    const struct tree *t = kube_tree(e->a, o);

    if (str_is(tree_str(tree_get(t, "reason")), "FailedScheduling") &&
        str_is(tree_str(tree_at(t, "source", "component", NULL)), "karpenter"))
        vec_push(&e->told, tree_str(tree_at(t, "involvedObject", "name", NULL)));
}

static void note_pod(void *ctx, const struct object *o)
{
    struct excuse *e = ctx;
    str app = object_label(o, STR("app")), phase = object_field(o, "status.phase");

    if (o->deleted_ms)
        return;
    if (app.n == 4 && (uint32_t)(app.p[3] - '0') < CHAOS_APPS)
        e->n_of[app.p[3] - '0']++;
    /* A DaemonSet that comes later may find a node full, and nobody makes room for it. */
    if (!str_is(phase, "Running") && !str_is(phase, "Succeeded") && object_label(o, STR("daemon")).n == 0)
        vec_push(&e->waiting, o->name);
}

static bool is_told(const struct excuse *e, str pod)
{
    for (uint32_t k = 0; k < e->told.n; k++)
        if (str_eq(e->told.v[k], pod))
            return true;
    return false;
}

/* Pods that are not there, and pods that wait although nobody has said why. */
static uint32_t missing(struct chaos *c, struct sb *out)
{
    AUTO(arena) struct arena *a = arena_new(0);
    struct excuse e = {.c = c, .a = a};
    uint32_t n = 0;

    kube_each(chaos_kube(c), server_kind(c->r->l->s, "pods"), STR("default"), note_pod, &e);
    if (e.waiting.n)
        kube_each(chaos_kube(c), kube_kind(chaos_kube(c), STR(""), STR("Event")), STR("default"), note_event, &e);
    for (uint32_t i = 0; i < c->n_apps; i++) {
        /* A new version that finds no room waits beside the old one. */
        bool rolling = has_part(c, CHAOS_LIMITS) && e.waiting.n && e.n_of[i] * 4 >= c->replicas[i] * 3 - 3;

        if (e.n_of[i] == c->replicas[i] || rolling)
            continue;
        n++;
        if (out)
            sb_printf(out, "app%u has %u pods instead of %u\n", i, e.n_of[i], c->replicas[i]);
    }
    for (uint32_t i = 0; i < e.waiting.n; i++) {
        bool told = is_told(&e, e.waiting.v[i]);

        if (told && has_part(c, CHAOS_LIMITS))
            continue;
        n++;
        if (out)
            sb_printf(out, "pod " STR_FMT " waits%s\n", STR_ARG(e.waiting.v[i]),
                      told ? " without need" : ", nobody said why");
    }
    vec_fini(&e.told);
    vec_fini(&e.waiting);
    return n;
}

/* ---- rest ---- */

static bool is_settled(struct chaos *c)
{
    struct sb odd = {0};

    fleet_faults(c->r, &odd);
    bool ok = odd.n == 0 && missing(c, NULL) == 0 && buffers_odd(c, NULL) == 0;
    sb_fini(&odd);
    return ok;
}

static bool settle(struct chaos *c, double seconds)
{
    double end = rig_now(c->r) + seconds;

    while (!is_settled(c)) {
        if (rig_now(c->r) > end || c->bad.n)
            return false;
        lab_run(c->r->l, 20);
        tend(c);
    }
    return true;
}

struct names_of {
    struct arena *a;
    bool (*which)(struct arena *a, const struct object *o);
    VEC(str) v;
};

static void note_name(void *ctx, const struct object *o)
{
    struct names_of *n = ctx;

    if (n->which(n->a, o))
        vec_push(&n->v, arena_printf(n->a, STR_FMT "%c", STR_ARG(o->name), 0));
}

/* Deletes whatever is meant. */
void delete_all(struct chaos *c, const char *plural, bool (*which)(struct arena *a, const struct object *o))
{
    AUTO(arena) struct arena *a = arena_new(0);
    const struct kind *kind = server_kind(c->r->l->s, plural);
    struct names_of n = {.a = a, .which = which};

    kube_each(chaos_kube(c), kind, kind->namespaced ? STR("default") : (str){0}, note_name, &n);
    for (uint32_t i = 0; i < n.v.n; i++) {
        deed(c, "delete", n.v.v[i].p);
        lab_delete(c->r->l, plural, n.v.v[i].p);
    }
    vec_fini(&n.v);
}

static bool will_expire(struct arena *a, const struct object *o)
{
    str after = tree_str(tree_get(kube_part(a, o, "spec"), "expireAfter"));

    return !o->deleted_ms && after.n && !str_is(after, "Never");
}

static bool is_dead_node(struct arena *a, const struct object *o)
{
    const struct tree *conds = tree_get(kube_part(a, o, "status"), "conditions");

    if (o->deleted_ms || object_label(o, STR("karpenter.sh/nodepool")).n == 0)
        return false;
    for (uint32_t i = 0; conds && i < conds->n; i++)
        if (str_is(tree_str(tree_get(&conds->items[i], "type")), "Ready"))
            return str_is(tree_str(tree_get(&conds->items[i], "status")), "Unknown");
    return false;
}

bool is_any(struct arena *a UNUSED, const struct object *o)
{
    return !o->deleted_ms;
}

static bool must_stay(struct arena *a, const struct object *o)
{
    return !o->deleted_ms && tree_at(kube_part(a, o, "metadata"), "annotations", "karpenter.sh/do-not-disrupt", NULL);
}

/* ---- drains that hang ---- */

struct hanging {
    struct chaos *c;
    struct arena *a;
    VEC(str) told; /* names of Nodes of which an Event says why */
    uint32_t n;
};

static void note_drain_event(void *ctx, const struct object *o)
{
    struct hanging *h = ctx;
    const struct tree *t = kube_tree(h->a, o);

    if (str_is(tree_str(tree_get(t, "reason")), "FailedDraining"))
        vec_push(&h->told, tree_str(tree_at(t, "involvedObject", "name", NULL)));
}

static void check_hanging(void *ctx, const struct object *o)
{
    struct hanging *h = ctx;

    if (!o->deleted_ms || object_label(o, STR("karpenter.sh/nodepool")).n == 0)
        return;
    h->n++;
    for (uint32_t i = 0; i < h->told.n; i++)
        if (str_eq(h->told.v[i], o->name))
            return;
    bad(h->c, "Node " STR_FMT " does not get empty, and no Event says why", STR_ARG(o->name));
}

/* A budget that lets nobody go keeps a node for ever, and so does a pod that is not to be disrupted: it has to be said, and then somebody has to give in. */
void give_in(struct chaos *c)
{
    AUTO(arena) struct arena *a = arena_new(0);
    struct hanging h = {.c = c, .a = a};

    kube_each(chaos_kube(c), kube_kind(chaos_kube(c), STR(""), STR("Event")), STR("default"), note_drain_event, &h);
    kube_each(chaos_kube(c), server_kind(c->r->l->s, "nodes"), (str){0}, check_hanging, &h);
    vec_fini(&h.told);
    c->tally.n_hung += h.n != 0;
    delete_all(c, "poddisruptionbudgets", is_any);
    delete_all(c, "pods", must_stay);
}

/* ---- quiet ---- */

static size_t allocated(void)
{
#ifdef __SANITIZE_ADDRESS__
    return __sanitizer_get_current_allocated_bytes();
#else
    return mallinfo2().uordblks;
#endif
}

/* A clock that was set back: until it shows again what it has shown, what was written down then is in the future, and its time is yet to come. */
static void catch_up(struct chaos *c)
{
    while (world_now_ms(c->r->l->s->world) < c->latest_ms && c->bad.n == 0) {
        lab_run(c->r->l, 20);
        tend(c);
    }
}

/* Nodes that are not worth their price, or out of date, are still replaced one after the other; that has to come to an end. */
static bool come_to_rest(struct chaos *c)
{
    for (double end = rig_now(c->r) + REST_S; rig_now(c->r) < end && c->bad.n == 0;) {
        uint64_t writes = c->n_writes;

        for (double s = 0; s < QUIET_S; s += 20) {
            lab_run(c->r->l, 20);
            tend(c);
        }
        if (c->n_writes == writes)
            return true;
    }
    return false;
}

static void check_quiet(struct chaos *c)
{
    size_t at[3];
    uint64_t writes;

    catch_up(c);
    if (!come_to_rest(c)) {
        bad(c, "no rest after %d hours, the last write: %s", REST_S / 3600, c->last_write);
        return;
    }
    writes = c->n_writes;
    for (size_t i = 0; i < ARRAY_LEN(at); i++) {
        tend(c);
        at[i] = allocated();
        lab_run(c->r->l, QUIET_S / 2.0);
    }
    tend(c);
    if (c->n_writes != writes)
        bad(c, "%llu writes although nothing happens, the last: %s", (unsigned long long)(c->n_writes - writes),
            c->last_write);
    if (!is_settled(c))
        bad(c, "what was settled is no more");
    if (at[1] > at[0] + GROWTH_MAX && at[2] > at[1] + GROWTH_MAX) /* caches fill once */
        bad(c, "%zu, %zu, %zu bytes although nothing happens", at[0], at[1], at[2]);
}

static void finish(struct chaos *c)
{
    if (c->bad.n == 0)
        check_quiet(c);
    if (c->bad.n == 0)
        aws_check_end(c);
}

void conclude(struct chaos *c)
{
    c->calm = true;
    faults_stop(c);
    tend(c);
    aws_calm(c);
    class_restore(c);
    pools_calm(c);
    if (!c->r->replicas[0] && !c->r->replicas[1])
        rig_start(c->r, 0);
    delete_all(c, "nodeclaims", will_expire);
    lab_run(c->r->l, 300); /* until the last machine that died is known to be dead */
    tend(c);
    delete_all(c, "nodes", is_dead_node);
    if (settle(c, SETTLE_S) || c->bad.n) {
        finish(c);
        return;
    }
    give_in(c);
    if (c->bad.n == 0 && settle(c, SETTLE_S)) {
        finish(c);
        return;
    }
    bad(c, "not settled");
    fleet_faults(c->r, &c->bad);
    (void)missing(c, &c->bad);
    (void)buffers_odd(c, &c->bad);
}
