/* Random clusters over simulated hours, with everything that goes wrong: calls that fail, are slow, are done and never answered, watches that break, a server that restarts, processes
 * that are killed, replicas that take over from each other, and people who scale, delete and change things meanwhile.
 *
 * At every write: only the holder of the lease writes; a pod is deleted only where a grace period says so, and evicted only when it may be; limits hold. At the
 * end, when the faults have stopped: every pod runs or an Event says why not, NodeClaims and Nodes fit together, nothing is still on its way, nobody writes any more, and memory
 * does not grow.
 *
 *     chaos_test [FIRST-SEED [HOW-MANY]]      CHAOS_LOGS=1 shows what the replicas say
 */
#include <malloc.h>
#include <stdio.h>
#include <stdlib.h>

#ifdef __SANITIZE_ADDRESS__
size_t __sanitizer_get_current_allocated_bytes(void); /* its header is not everywhere */
#endif

#include "data/edit.h"
#include "sim/kube/faults.h"
#include "support/check.h"
#include "support/fleet.h"

#define HOURS 5        /* of a cluster with two replicas, which renew and look at their lease every two seconds */
#define HOURS_ALONE 25 /* of one with a single replica and no lease */
#ifdef __SANITIZE_ADDRESS__
#define N_SEEDS 24 /* some 350 hours in 80 s */
#else
#define N_SEEDS 135 /* some 2,000 hours in 140 s */
#endif
#define N_APPS 4
#define MAX_PODS 6 /* of an app */
#define LIMIT_CPU 20
#define SETTLE_S (25 * 60) /* a claim that is given up, made again, drained */
#define QUIET_S (20 * 60)
#define GROWTH_MAX (64u << 10) /* bytes, while nothing happens */

static const char *const settings[] = {"LOG_LEVEL", "error", NULL};
static const char *const settings_alone[] = {"LOG_LEVEL", "error", "DISABLE_LEADER_ELECTION", "true", NULL};

struct chaos {
    struct rig *r;
    struct rng rng;
    struct faults *faults;
    uint64_t seed;
    bool alone;   /* one replica, which needs no lease */
    bool grace;   /* pools have a terminationGracePeriod, and some pods do not want to be moved */
    bool limited; /* pools have limits */
    uint32_t replicas[N_APPS];
    char holder[64];            /* of the lease */
    char led[RIG_REPLICAS][32]; /* who of those that had this place held it last */
    uint64_t n_writes;
    char last_write[256];
    struct sb bad; /* what was found */
    struct sb deeds;
};

static uint32_t below(struct chaos *c, uint32_t n)
{
    return rng_below(&c->rng, n);
}

static bool one_in(struct chaos *c, uint32_t n)
{
    return below(c, n) == 0;
}

PRINTF(2, 3) static void bad(struct chaos *c, const char *fmt, ...)
{
    char text[600];
    va_list ap;

    va_start(ap, fmt);
    (void)vsnprintf(text, sizeof(text), fmt, ap);
    va_end(ap);
    sb_printf(&c->bad, "%.0f s: %s\n", rig_now(c->r), text);
}

/* ---- at every write ---- */

static void on_lease(void *ctx, const struct change *c)
{
    struct chaos *k = ctx;

    if (c->new &&str_is(c->new->name, "karpenter-leader-election"))
        (void)snprintf(k->holder, sizeof(k->holder), STR_FMT,
                       STR_ARG(tree_str(tree_get(change_part(c, "spec"), "holderIdentity"))));
    for (uint32_t i = 0; i < RIG_REPLICAS; i++)
        if (strcmp(k->holder, k->r->names[i]) == 0)
            memcpy(k->led[i], k->r->names[i], sizeof(k->led[i]));
}

static bool wants_to_stay(struct chaos *c, str path)
{
    AUTO(arena) struct arena *a = arena_new(0);
    str name = str_sub(path, sizeof("/api/v1/namespaces/default/pods/") - 1, path.n - sizeof("/eviction") + 1);
    const struct object *o = kube_get(c->r->l->s->k, server_kind(c->r->l->s, "pods"), STR("default"), name);
    const struct tree *meta = o ? kube_part(a, o, "metadata") : NULL;

    return meta && tree_at(meta, "annotations", "karpenter.sh/do-not-disrupt", NULL);
}

static bool on_arrival(void *ctx, uint32_t replica, const struct exchange *x)
{
    struct chaos *c = ctx;

    if (strcmp(x->method, "GET") == 0 || str_contains(x->path, STR("/leases")))
        return true;
    if (str_contains(x->path, STR("/events"))) { /* the last ones of a leader may come after its term */
        if (!c->alone && strcmp(c->led[replica], c->r->names[replica]) != 0)
            bad(c, "%s, who never led, has an event: " STR_FMT, c->r->names[replica], STR_ARG(x->body));
        return true;
    }
    c->n_writes++;
    (void)snprintf(c->last_write, sizeof(c->last_write), "%s " STR_FMT " " STR_FMT, x->method, STR_ARG(x->path),
                   STR_ARG(x->body));
    if (!c->alone && strcmp(c->holder, c->r->names[replica]) != 0)
        bad(c, "%s writes (%s), while %s holds the lease", c->r->names[replica], c->last_write, c->holder);
    if (strcmp(x->method, "DELETE") == 0 && str_contains(x->path, STR("/pods/")) && !c->grace)
        bad(c, "a pod is deleted: %s", c->last_write);
    if (str_ends(x->path, STR("/eviction")) && wants_to_stay(c, x->path))
        bad(c, "a pod is evicted that is not to be disrupted: %s", c->last_write);
    return true;
}

/* Millicores. */
static int64_t cpu_of(const struct tree *claim)
{
    str s = tree_str(tree_at(claim, "spec", "resources", "requests", "cpu", NULL));
    bool milli = str_ends(s, STR("m"));
    int64_t n = 0;

    if (!str_to_i64(str_sub(s, 0, s.n - milli), &n))
        return 0;
    return milli ? n : n * 1000;
}

struct usage {
    struct chaos *c;
    struct arena *a;
    str pool;
    int64_t milli;
};

/* Machines on their way out do not count, or nothing could be replaced at the limit. */
static void add_claim(void *ctx, const struct object *o)
{
    struct usage *u = ctx;

    if (o->deleted_ms || !str_eq(object_label(o, STR("karpenter.sh/nodepool")), u->pool))
        return;
    const struct tree *t = kube_tree(u->a, o);
    const struct object *node = kube_get(u->c->r->l->s->k, server_kind(u->c->r->l->s, "nodes"), (str){0},
                                         tree_str(tree_at(t, "status", "nodeName", NULL)));
    if (!node || !node->deleted_ms)
        u->milli += cpu_of(t);
}

static void on_claim(void *ctx, const struct change *ch)
{
    struct chaos *c = ctx;
    AUTO(arena) struct arena *a = arena_new(0);

    if (ch->old || !c->limited)
        return;
    struct usage u = {.c = c, .a = a, .pool = object_label(ch->new, STR("karpenter.sh/nodepool"))};
    kube_each(c->r->l->s->k, ch->new->kind, (str){0}, add_claim, &u);
    if (u.milli > LIMIT_CPU * 1000)
        bad(c, "NodePool " STR_FMT " has %lld millicores, and a limit of %d cores", STR_ARG(u.pool), (long long)u.milli,
            LIMIT_CPU);
}

/* ---- what people do ---- */

static void deed(struct chaos *c, const char *what, const char *name)
{
    sb_printf(&c->deeds, "%.0f s: %s %s\n", rig_now(c->r), what, name);
}

static void make_pool(struct chaos *c, const char *name)
{
    fleet_pool(c->r, name, c->limited ? "limits: {cpu: 20}" : "", c->grace ? "terminationGracePeriod: 10m," : "");
}

static void make_app(struct chaos *c, uint32_t i)
{
    AUTO(arena) struct arena *a = arena_new(0);
    const char *note = c->grace && i == 0 ? "annotations: {karpenter.sh/do-not-disrupt: 'true'}, " : "";
    str spread = arena_printf(a,
                              "topologySpreadConstraints: [{maxSkew: 1, topologyKey: topology.kubernetes.io/zone, "
                              "whenUnsatisfiable: DoNotSchedule, labelSelector: {matchLabels: {app: app%u}}}], ",
                              i);
    bool spreads = one_in(c, 2);
    str text = arena_printf(
        a,
        "apiVersion: apps/v1\nkind: Deployment\nmetadata: {name: app%u}\nspec:\n"
        "  replicas: 0\n  selector: {matchLabels: {app: app%u}}\n"
        "  template: {metadata: {%slabels: {app: app%u}}, spec: {terminationGracePeriodSeconds: 2, " STR_FMT "\n"
        "    containers: [{name: app, image: app, resources: {requests: {cpu: %um, memory: 512Mi}}}]}}\n"
        "---\napiVersion: policy/v1\nkind: PodDisruptionBudget\nmetadata: {name: app%u}\n"
        "spec: {maxUnavailable: 1, selector: {matchLabels: {app: app%u}}}\n%c",
        i, i, note, i, STR_ARG(spreads ? spread : STR("")), 300 + below(c, 3000), i, i, 0);

    lab_apply(c->r->l, text.p);
}

static void scale(struct chaos *c)
{
    uint32_t i = below(c, N_APPS);
    char name[16], patch[64];

    c->replicas[i] = below(c, MAX_PODS + 1);
    (void)snprintf(name, sizeof(name), "app%u", i);
    (void)snprintf(patch, sizeof(patch), "{spec: {replicas: %u}}", c->replicas[i]);
    deed(c, patch, name);
    lab_patch(c->r->l, "deployments", name, patch);
}

struct pick {
    struct chaos *c;
    uint32_t n;
    char name[256];
};

static void pick_one(void *ctx, const struct object *o)
{
    struct pick *p = ctx;

    if (o->deleted_ms || (str_is(o->kind->name, "Node") && object_label(o, STR("karpenter.sh/nodepool")).n == 0))
        return;
    if (one_in(p->c, ++p->n))
        (void)snprintf(p->name, sizeof(p->name), STR_FMT, STR_ARG(o->name));
}

static void delete_some(struct chaos *c, const char *plural)
{
    struct pick p = {.c = c};

    kube_each(c->r->l->s->k, server_kind(c->r->l->s, plural), (str){0}, pick_one, &p);
    if (!p.n)
        return;
    deed(c, "delete of", p.name);
    lab_delete(c->r->l, plural, p.name);
}

static bool exists(struct chaos *c, const char *plural, const char *name)
{
    return kube_get(c->r->l->s->k, server_kind(c->r->l->s, plural), (str){0}, str_c(name)) != NULL;
}

static void toggle(struct chaos *c, bool pool)
{
    const char *plural = pool ? "nodepools" : "kwoknodeclasses", *name = pool ? "b" : "default";

    deed(c, exists(c, plural, name) ? "delete" : "create", plural);
    if (exists(c, plural, name))
        lab_delete(c->r->l, plural, name);
    else if (pool)
        make_pool(c, "b");
    else
        fleet_class(c->r);
}

/* ---- what goes wrong ---- */

static void misbehave(struct chaos *c, bool stop)
{
    struct kube_faults f = {.drop_after_us = {100000, 60000000}, .restart_us = {1000000, 20000000}};
    struct sim_faults n = {.delay_us = {200, 5000}, .cut_after_us = {1000, 60000000}, .stall_us = {10000, 4000000}};
    uint32_t *const rates[] = {&f.conflict,   &f.gone,         &f.throttle, &f.error,  &f.lose_reply,
                               &f.duplicate,  &f.drop_watch,   &f.restart,  &n.refuse, &n.lose_reply,
                               &n.cut_stream, &n.stall_stream, &n.slow};

    for (size_t i = 0; i < ARRAY_LEN(rates) && !stop; i++)
        if (one_in(c, 2))
            *rates[i] = below(c, one_in(c, 4) ? 12000 : 2000);
    f.restart /= 40; /* it hits everybody */
    deed(c, "faults", stop ? "end" : "change");
    faults_set(c->faults, &f);
    rig_net_faults(c->r, stop ? &(struct sim_faults){0} : &n);
}

static void replace_process(struct chaos *c)
{
    uint32_t i = c->alone ? 0 : below(c, 2);

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

/* A process that has ended is started again by whoever runs it. */
static void reap(struct chaos *c)
{
    for (uint32_t i = 0; i < 2; i++) {
        if (c->r->replicas[i] && replica_ended(c->r->replicas[i])) {
            deed(c, "ended", c->r->names[i]);
            rig_kill(c->r, i);
            rig_start(c->r, i);
        }
        if (!getenv("CHAOS_LOGS"))
            sb_fini(&c->r->logs[i]);
    }
}

static void act(struct chaos *c)
{
    switch (below(c, 16)) {
    case 0:
        delete_some(c, "nodeclaims");
        break;
    case 1:
        delete_some(c, "nodes");
        break;
    case 2:
        delete_some(c, "pods");
        break;
    case 3:
    case 4:
        replace_process(c);
        break;
    case 5:
    case 6:
        misbehave(c, /* stop= */ false);
        break;
    case 7:
        misbehave(c, /* stop= */ true);
        break;
    case 8:
        faults_restart(c->faults, 1000000 + (int64_t)below(c, 30000000));
        break;
    case 9:
        toggle(c, /* pool= */ false);
        break;
    case 10:
        toggle(c, /* pool= */ true);
        break;
    default:
        scale(c);
    }
}

/* ---- the end ---- */

struct excuse {
    struct chaos *c;
    struct arena *a;
    VEC(str) told; /* names of pods */
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

static void note_waiting(void *ctx, const struct object *o)
{
    struct excuse *e = ctx;

    if (!o->deleted_ms && !str_is(object_field(o, "status.phase"), "Running"))
        vec_push(&e->waiting, o->name);
}

/* Pods that wait, although nobody has said why. */
static uint32_t unexplained(struct chaos *c, struct sb *out)
{
    AUTO(arena) struct arena *a = arena_new(0);
    struct excuse e = {.c = c, .a = a};
    uint32_t n = 0;

    kube_each(c->r->l->s->k, server_kind(c->r->l->s, "pods"), STR("default"), note_waiting, &e);
    if (e.waiting.n)
        kube_each(c->r->l->s->k, kube_kind(c->r->l->s->k, STR(""), STR("Event")), STR("default"), note_event, &e);
    for (uint32_t i = 0; i < e.waiting.n; i++) {
        bool told = false;

        for (uint32_t k = 0; k < e.told.n && !told; k++)
            told = str_eq(e.told.v[k], e.waiting.v[i]);
        if (told && c->limited)
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

static bool is_settled(struct rig *r UNUSED, const void *arg)
{
    struct chaos *c = (struct chaos *)(uintptr_t)arg;
    struct fleet f;
    struct sb odd = {0};
    uint32_t want = 0;

    for (uint32_t i = 0; i < N_APPS; i++)
        want += c->replicas[i];
    fleet_look(c->r, &f);
    fleet_faults(c->r, &odd);
    bool ok = odd.n == 0 && f.n_pods == want && unexplained(c, NULL) == 0;
    sb_fini(&odd);
    return ok;
}

static bool settle(struct chaos *c, double seconds)
{
    double end = rig_now(c->r) + seconds;

    while (!is_settled(c->r, c)) {
        if (rig_now(c->r) > end)
            return false;
        lab_run(c->r->l, 20);
        reap(c);
    }
    return true;
}

static size_t allocated(void)
{
#ifdef __SANITIZE_ADDRESS__
    return __sanitizer_get_current_allocated_bytes();
#else
    return mallinfo2().uordblks;
#endif
}

static void check_quiet(struct chaos *c)
{
    size_t at[3];
    uint64_t writes;

    lab_run(c->r->l, 11 * 60); /* the last conditions are brought up to date */
    writes = c->n_writes;
    for (size_t i = 0; i < ARRAY_LEN(at); i++) {
        reap(c);
        at[i] = allocated();
        lab_run(c->r->l, QUIET_S / 2.0);
    }
    reap(c);
    if (c->n_writes != writes)
        bad(c, "%llu writes although nothing happens, the last: %s", (unsigned long long)(c->n_writes - writes),
            c->last_write);
    if (at[1] > at[0] + GROWTH_MAX && at[2] > at[1] + GROWTH_MAX) /* caches fill once */
        bad(c, "%zu, %zu, %zu bytes although nothing happens", at[0], at[1], at[2]);
}

static void conclude(struct chaos *c)
{
    misbehave(c, /* stop= */ true);
    if (!exists(c, "kwoknodeclasses", "default"))
        toggle(c, /* pool= */ false);
    if (!exists(c, "nodepools", "b"))
        toggle(c, /* pool= */ true);
    if (!c->r->replicas[0] && !c->r->replicas[1])
        rig_start(c->r, 0);
    if (!settle(c, SETTLE_S)) {
        for (uint32_t i = 0; i < N_APPS;
             i++) { /* a budget of pods that cannot run keeps their node: somebody has to give in */
            char name[16];

            (void)snprintf(name, sizeof(name), "app%u", i);
            lab_delete(c->r->l, "poddisruptionbudgets", name);
        }
        if (!settle(c, SETTLE_S)) {
            bad(c, "not settled");
            fleet_faults(c->r, &c->bad);
            (void)unexplained(c, &c->bad);
            return;
        }
    }
    check_quiet(c);
}

static void live(struct chaos *c)
{
    double hours = c->alone ? HOURS_ALONE : HOURS;
    double end = rig_now(c->r) + hours * 3600 - SETTLE_S - QUIET_S;

    while (rig_now(c->r) < end && c->bad.n == 0) {
        /* busy for a while, then not */
        lab_run(c->r->l, one_in(c, 5) ? 120 + below(c, c->alone ? 9000 : 1800) : 0.1 + below(c, 60));
        reap(c);
        act(c);
    }
}

/* Longer than what cmocka prints at once. */
static void tell(struct chaos *c)
{
    (void)fprintf(stderr, "seed %llu:\n" STR_FMT, (unsigned long long)c->seed, STR_ARG(sb_view(&c->bad)));
    if (!getenv("CHAOS_LOGS"))
        return;
    (void)fprintf(stderr, STR_FMT, STR_ARG(sb_view(&c->deeds)));
    for (uint32_t i = 0; i < RIG_REPLICAS; i++)
        (void)fprintf(stderr, STR_FMT, STR_ARG(sb_view(&c->r->logs[i])));
}

static bool run(uint64_t seed, double *hours)
{
    struct chaos c = {.seed = seed};
    bool ok;

    rng_init(&c.rng, seed);
    c.alone = one_in(&c, 2);
    c.grace = one_in(&c, 3);
    c.limited = one_in(&c, 2);
    c.r = rig_new(seed, c.alone ? settings_alone : settings,
                  &(struct cluster_options){.lean = true,
                                            .lease_renew_ms = 60000,
                                            .node_grace_ms = 240000,
                                            .node_ready = {100, 20000},
                                            .pod_start = {100, 5000}});
    c.faults = faults_new(c.r->l->s->k, &(struct kube_faults){0}, seed + 1);
    c.r->forgetful = true;
    c.r->server = faults_serve;
    c.r->server_ctx = c.faults;
    c.r->watch_ctx = &c;
    c.r->before = on_arrival;
    kube_subscribe(c.r->l->s->k, server_kind(c.r->l->s, "leases"), on_lease, &c);
    kube_subscribe(c.r->l->s->k, server_kind(c.r->l->s, "nodeclaims"), on_claim, &c);
    fleet_class(c.r);
    make_pool(&c, "a");
    make_pool(&c, "b");
    for (uint32_t i = 0; i < N_APPS; i++)
        make_app(&c, i);
    rig_start(c.r, 0);
    if (!c.alone)
        rig_start(c.r, 1);
    live(&c);
    if (c.bad.n == 0)
        conclude(&c);
    ok = c.bad.n == 0;
    *hours += rig_now(c.r) / 3600;
    if (!ok)
        tell(&c);
    sb_fini(&c.bad);
    sb_fini(&c.deeds);
    rig_free(c.r);
    faults_free(c.faults);
    return ok;
}

static uint64_t first_seed = 1, n_seeds = N_SEEDS;

/* Each of them has found something once. */
static void old_acquaintances(void **state UNUSED)
{
    static const uint64_t seeds[] = {134, 216};
    double hours = 0;

    for (size_t i = 0; i < ARRAY_LEN(seeds); i++)
        check_true("an old seed", run(seeds[i], &hours));
}

static void random_clusters(void **state UNUSED)
{
    uint64_t n_bad = 0;
    double hours = 0;

    for (uint64_t s = first_seed; s < first_seed + n_seeds; s++)
        n_bad += !run(s, &hours);
    print_message("# %llu clusters, %.0f hours\n", (unsigned long long)n_seeds, hours);
    check_u64("clusters that went wrong", n_bad, 0);
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(random_clusters), cmocka_unit_test(old_acquaintances)};

    if (argc > 1) {
        first_seed = strtoull(argv[1], NULL, 10);
        n_seeds = argc > 2 ? strtoull(argv[2], NULL, 10) : 1;
    }
    return cmocka_run_group_tests(tests, NULL, NULL);
}
