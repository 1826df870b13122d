/* What people do to a cluster and what breaks in it, by a table of deeds; and who takes care meanwhile. */
#include <stdio.h>
#include <string.h>

#include "base/map.h"
#include "data/edit.h"
#include "sim/chaos_int.h"
#include "support/check.h"

#define STARTUP_TAINT "example.com/starting"
#define HOLD "example.com/hold"
#define RESTART_S 31 /* the API server is away for less */

/* ---- things that are there ---- */

struct pick {
    struct chaos *c;
    uint32_t n;
    char name[128];
};

static bool is_ours(const struct object *o)
{
    return !str_is(o->kind->name, "Node") || object_label(o, STR("karpenter.sh/nodepool")).n;
}

static void pick_one(void *ctx, const struct object *o)
{
    struct pick *p = ctx;

    if (o->deleted_ms || !is_ours(o))
        return;
    if (one_in(p->c, ++p->n))
        (void)snprintf(p->name, sizeof(p->name), STR_FMT, STR_ARG(o->name));
}

static bool pick(struct chaos *c, const char *plural, struct pick *p)
{
    const struct kind *kind = server_kind(c->r->l->s, plural);

    *p = (struct pick){.c = c};
    kube_each(chaos_kube(c), kind, kind->namespaced ? STR("default") : (str){0}, pick_one, p);
    return p->n != 0;
}

static void delete_some(struct chaos *c, const char *plural)
{
    struct pick p;

    if (!pick(c, plural, &p))
        return;
    deed(c, "delete of", p.name);
    lab_delete(c->r->l, plural, p.name);
}

static void toggle_pool(struct chaos *c)
{
    bool there = exists(c, "nodepools", "b");

    deed(c, there ? "delete" : "create", "nodepools");
    if (there)
        lab_delete(c->r->l, "nodepools", "b");
    else
        pool_make(c, &c->pools[1]);
}

/* ---- finalizers of others ---- */

static void set_finalizer(struct chaos *c, const char *plural, const char *name, bool on)
{
    AUTO(arena) struct arena *a = arena_new(0);
    const struct kind *kind = server_kind(c->r->l->s, plural);
    const struct object *o = kube_get(chaos_kube(c), kind, kind->namespaced ? STR("default") : (str){0}, str_c(name));
    const struct tree *list = o ? tree_get(kube_part(a, o, "metadata"), "finalizers") : NULL;
    struct sb b = {0};

    if (!o || (on && o->deleted_ms))
        return;
    sb_printf(&b, "{metadata: {finalizers: [");
    for (uint32_t i = 0; list && i < list->n; i++)
        if (!str_is(tree_str(&list->items[i]), HOLD))
            sb_printf(&b, STR_FMT ",", STR_ARG(tree_str(&list->items[i])));
    sb_printf(&b, "%s]}}", on ? HOLD : "");
    deed(c, sb_cstr(&b), name);
    lab_patch(c->r->l, plural, name, sb_cstr(&b));
    sb_fini(&b);
}

static void hold_some(struct chaos *c)
{
    static const char *const plurals[] = {"pods", "nodes", "nodeclaims"};
    struct chaos_hold h = {.plural = plurals[below(c, 3)], .until_s = rig_now(c->r) + 30 + below(c, 3600)};
    struct pick p;

    if (!pick(c, h.plural, &p))
        return;
    memcpy(h.name, p.name, sizeof(h.name));
    set_finalizer(c, h.plural, h.name, /* on= */ true);
    vec_push(&c->holds, h);
}

static void let_go(struct chaos *c)
{
    uint32_t kept = 0;

    for (uint32_t i = 0; i < c->holds.n; i++) {
        struct chaos_hold h = c->holds.v[i];

        if (!c->calm && rig_now(c->r) < h.until_s)
            c->holds.v[kept++] = h;
        else
            set_finalizer(c, h.plural, h.name, /* on= */ false);
    }
    c->holds.n = kept;
}

/* ---- startup taints ---- */

struct starting {
    struct arena *a;
    VEC(str) names, taints; /* of Nodes; the others of their taints */
};

static void note_starting(void *ctx, const struct object *o)
{
    struct starting *s = ctx;
    const struct tree *taints;
    bool has = false;
    struct sb b = {0};

    if (!is_ours(o) || object_label(o, STR("karpenter.sh/registered")).n == 0)
        return;
    taints = tree_get(kube_part(s->a, o, "spec"), "taints");
    for (uint32_t i = 0; taints && i < taints->n; i++) {
        const struct tree *t = &taints->items[i];

        if (str_is(tree_str(tree_get(t, "key")), STARTUP_TAINT))
            has = true;
        else
            sb_printf(&b, "{key: " STR_FMT ", value: '" STR_FMT "', effect: " STR_FMT "},",
                      STR_ARG(tree_str(tree_get(t, "key"))), STR_ARG(tree_str(tree_get(t, "value"))),
                      STR_ARG(tree_str(tree_get(t, "effect"))));
    }
    if (has) {
        vec_push(&s->names, arena_printf(s->a, STR_FMT "%c", STR_ARG(o->name), 0));
        vec_push(&s->taints, sb_dup(&b, s->a));
    }
    sb_fini(&b);
}

/* What a daemon that prepares nodes would do. */
static void start_nodes(struct chaos *c)
{
    AUTO(arena) struct arena *a = arena_new(0);
    struct starting s = {.a = a};

    if (!has_part(c, CHAOS_STARTUP) || (!c->calm && rig_now(c->r) < c->no_start_until_s))
        return;
    kube_each(chaos_kube(c), server_kind(c->r->l->s, "nodes"), (str){0}, note_starting, &s);
    for (uint32_t i = 0; i < s.names.n; i++)
        lab_patch(c->r->l, "nodes", s.names.v[i].p,
                  arena_printf(a, "{spec: {taints: [" STR_FMT "]}}%c", STR_ARG(s.taints.v[i]), 0).p);
    vec_fini(&s.names);
    vec_fini(&s.taints);
}

/* A process that has ended is started again by whoever runs it. */
void tend(struct chaos *c)
{
    for (uint32_t i = 0; i < 2; i++) {
        if (c->r->replicas[i] && replica_ended(c->r->replicas[i])) {
            deed(c, "ended", c->r->names[i]);
            rig_kill(c->r, i);
            rig_start(c->r, i);
        }
        if (!c->what->verbose)
            sb_fini(&c->r->logs[i]);
    }
    let_go(c);
    start_nodes(c);
    aws_tend(c);
}

/* ---- what breaks ---- */

static void misbehave(struct chaos *c)
{
    struct kube_faults f = {.drop_after_us = {100000, 60000000}, .restart_us = {1000000, 20000000}};
    struct sim_faults n = {.delay_us = {200, 5000}, .cut_after_us = {1000, 60000000}, .stall_us = {10000, 4000000}};
    const struct {
        uint32_t *rate;
        enum chaos_part part;
    } rates[] = {{&f.conflict, CHAOS_CONFLICT},
                 {&f.gone, CHAOS_GONE},
                 {&f.throttle, CHAOS_THROTTLE},
                 {&f.error, CHAOS_ERROR},
                 {&f.lose_reply, CHAOS_LOSE_REPLY},
                 {&f.duplicate, CHAOS_DUPLICATE},
                 {&f.drop_watch, CHAOS_DROP_WATCH},
                 {&f.restart, CHAOS_SERVER_DIES},
                 {&n.refuse, CHAOS_REFUSE},
                 {&n.lose_reply, CHAOS_LOSE_ANSWER},
                 {&n.cut_stream, CHAOS_CUT},
                 {&n.stall_stream, CHAOS_STALL},
                 {&n.slow, CHAOS_SLOW}};

    c->worst_rate = 0;
    for (size_t i = 0; i < ARRAY_LEN(rates); i++) {
        uint32_t rate = one_in(c, 2) ? below(c, one_in(c, 4) ? 12000 : 2000) : 0;

        if (has_part(c, rates[i].part))
            *rates[i].rate = rate;
        c->worst_rate = MAX(c->worst_rate, *rates[i].rate);
    }
    f.restart /= 40; /* it hits everybody */
    deed(c, "faults", "change");
    faults_set(c->faults, &f);
    rig_net_faults(c->r, &n);
}

void faults_stop(struct chaos *c)
{
    c->worst_rate = 0;
    c->disturbed_s = MAX(c->disturbed_s, rig_now(c->r));
    deed(c, "faults", "end");
    faults_set(c->faults, &(struct kube_faults){0});
    rig_net_faults(c->r, &(struct sim_faults){0});
}

static void replace_process(struct chaos *c)
{
    uint32_t i = has_part(c, CHAOS_PAIR) ? below(c, 2) : 0;

    if (!c->r->replicas[i]) {
        deed(c, "start", "");
        rig_start(c->r, i);
    } else if (one_in(c, 3)) {
        deed(c, "stop", c->r->names[i]);
        rig_stop(c->r, i);
    } else {
        deed(c, "kill", c->r->names[i]);
        rig_kill(c->r, i);
    }
}

static void jump(struct chaos *c)
{
    static const uint32_t most_s[] = {5, 120, 1800, 7200};
    int64_t ms = 1000 * (int64_t)(1 + below(c, most_s[below(c, ARRAY_LEN(most_s))]));
    char text[32];

    if (one_in(c, 2))
        ms = -ms;
    (void)snprintf(text, sizeof(text), "%lld ms", (long long)ms);
    deed(c, "the clock jumps", text);
    c->jumped_s = rig_now(c->r);
    c->latest_ms = MAX(c->latest_ms, world_now_ms(c->r->l->s->world));
    sim_jump(c->r->l->s->sim, ms);
}

static void power_off(struct chaos *c)
{
    struct pick p;

    if (!pick(c, "nodes", &p))
        return;
    deed(c, "power off", p.name);
    cluster_power_off(c->r->l->c, str_c(p.name));
}

/* ---- the table ---- */

static const struct {
    enum chaos_part part;
    uint32_t weight;
} deeds[] = {
    {CHAOS_SCALE, 24},      {CHAOS_ROLL, 4},
    {CHAOS_JOB, 4},         {CHAOS_DAEMON, 2},
    {CHAOS_BUDGET, 2},      {CHAOS_DELETE_CLAIM, 5},
    {CHAOS_DELETE_NODE, 5}, {CHAOS_DELETE_POD, 5},
    {CHAOS_CLASS, 4},       {CHAOS_POOL, 4},
    {CHAOS_POOL_LIMITS, 3}, {CHAOS_POOL_LABELS, 2},
    {CHAOS_POOL_TAINTS, 2}, {CHAOS_POOL_DISRUPTION, 4},
    {CHAOS_POOL_EXPIRY, 2}, {CHAOS_POOL_REPLICAS, 2},
    {CHAOS_HOLD, 3},        {CHAOS_PROCESS, 10},
    {CHAOS_RESTART, 5},     {CHAOS_CLOCK, 2},
    {CHAOS_POWER, 2},       {CHAOS_NO_JOIN, 2},
    {CHAOS_NO_START, 2},    {CHAOS_CONFLICT, 10}, /* all calls that go wrong */
    {CHAOS_N_PARTS, 5},                           /* none of them */
};

static enum chaos_part draw_deed(struct chaos *c)
{
    uint32_t all = 0, n;

    for (size_t i = 0; i < ARRAY_LEN(deeds); i++)
        all += deeds[i].weight;
    n = below(c, all);
    for (size_t i = 0;; i++) {
        if (n < deeds[i].weight)
            return deeds[i].part;
        n -= deeds[i].weight;
    }
}

static void act_on_pools(struct chaos *c, enum chaos_part what)
{
    if (what == CHAOS_POOL_REPLICAS && !has_part(c, CHAOS_STATIC))
        return;
    pool_change(c, what);
}

static void act_of_people(struct chaos *c, enum chaos_part what)
{
    if (what == CHAOS_SCALE)
        app_scale(c);
    else if (what == CHAOS_ROLL)
        app_roll(c);
    else if (what == CHAOS_JOB)
        job_make(c);
    else if (what == CHAOS_DAEMON)
        daemon_change(c);
    else if (what == CHAOS_BUDGET)
        app_budget(c);
    else if (what == CHAOS_DELETE_CLAIM)
        delete_some(c, "nodeclaims");
    else if (what == CHAOS_DELETE_NODE)
        delete_some(c, "nodes");
    else if (what == CHAOS_DELETE_POD)
        delete_some(c, "pods");
    else if (what == CHAOS_CLASS)
        class_toggle(c);
    else if (what == CHAOS_POOL)
        toggle_pool(c);
    else
        hold_some(c);
}

static void act_of_nature(struct chaos *c, enum chaos_part what)
{
    c->disturbed_s = MAX(c->disturbed_s, rig_now(c->r) + RESTART_S);
    if (what == CHAOS_PROCESS)
        replace_process(c);
    else if (what == CHAOS_RESTART)
        faults_restart(c->faults, 1000000 + (int64_t)below(c, (RESTART_S - 1) * 1000000));
    else if (what == CHAOS_CLOCK)
        jump(c);
    else if (what == CHAOS_POWER)
        power_off(c);
    else if (what == CHAOS_NO_JOIN)
        c->no_join_until_s = rig_now(c->r) + 60 + below(c, 3600);
    else if (what == CHAOS_NO_START)
        c->no_start_until_s = rig_now(c->r) + 60 + below(c, 3600);
    else
        misbehave(c);
}

void act(struct chaos *c)
{
    enum chaos_part what = draw_deed(c);

    if (what == CHAOS_N_PARTS)
        faults_stop(c);
    else if (what < CHAOS_CONFLICT && !has_part(c, what))
        return;
    else if (what >= CHAOS_POOL_LIMITS && what <= CHAOS_POOL_REPLICAS)
        act_on_pools(c, what);
    else if (what < CHAOS_PROCESS)
        act_of_people(c, what);
    else
        act_of_nature(c, what);
}
