/* A run from beginning to end: what takes part is drawn, people and faults have their hours, then all of it stops and the cluster must come to rest. */
#include "sim/chaos.h"

#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "base/map.h"
#include "sim/chaos_int.h"
#include "support/check.h"
#include "support/sky.h"

#define HOURS 5 /* of a cluster with two replicas, which renew and look at their lease every two seconds */
#define LOOK_S 20.0
#define BUFFERS_SEED 78
#define BUFFERS_ONE_IN 3
#define HOURS_ALONE 25 /* of one with a single replica and no lease */

void bad(struct chaos *c, const char *fmt, ...)
{
    char text[600];
    va_list ap;

    va_start(ap, fmt);
    (void)vsnprintf(text, sizeof(text), fmt, ap);
    va_end(ap);
    sb_printf(&c->bad, "%.0f s: %s\n", rig_now(c->r), text);
}

void deed(struct chaos *c, const char *what, const char *name)
{
    if (c->what->verbose)
        sb_printf(&c->deeds, "%.1f s: %s %s\n", rig_now(c->r), what, name);
}

bool exists(struct chaos *c, const char *plural, const char *name)
{
    const struct kind *kind = server_kind(c->r->l->s, plural);

    return kube_get(chaos_kube(c), kind, kind->namespaced ? STR("default") : (str){0}, str_c(name)) != NULL;
}

void setting_set(struct chaos *c, struct chaos_setting *s, int64_t v)
{
    double now = rig_now(c->r);

    if (v == s->now)
        return;
    s->before = now < s->changed_s + CHAOS_NEWS_S ? MAX(s->before, s->now) : s->now;
    s->now = v;
    s->changed_s = now;
}

int64_t setting_most(const struct chaos *c, const struct chaos_setting *s)
{
    return rig_now(c->r) < s->changed_s + CHAOS_NEWS_S ? MAX(s->before, s->now) : s->now;
}

int64_t millicores(const struct tree *t)
{
    str s = tree_scalar(t);
    bool milli = str_ends(s, STR("m"));
    int64_t n = 0;

    if (!str_to_i64(str_sub(s, 0, s.n - milli), &n))
        return 0;
    return milli ? n : n * 1000;
}

struct chaos_pool *pool_named(struct chaos *c, str name)
{
    for (uint32_t i = 0; i < CHAOS_POOLS; i++)
        if (c->pools[i].name && str_is(name, c->pools[i].name))
            return &c->pools[i];
    return NULL;
}

/* ---- the hours ---- */

static bool is_skipped(const struct chaos_case *w, uint32_t n)
{
    for (uint32_t i = 0; i < w->n_skip; i++)
        if (n >= w->skip[i].from && n <= w->skip[i].to)
            return true;
    return false;
}

/* Busy for a while, then not. */
static double pause_s(struct chaos *c)
{
    uint32_t long_s = has_part(c, CHAOS_PAIR) ? 1800 : 9000;

    return one_in(c, 5) ? 120 + below(c, long_s) : 0.1 + below(c, 60);
}

/* A long pause is taken in pieces: whoever takes care looks in now and then. */
static void wait(struct chaos *c, double s)
{
    for (; s > 0 && c->bad.n == 0; s -= LOOK_S) {
        lab_run(c->r->l, MIN(s, LOOK_S));
        tend(c);
    }
}

static void live(struct chaos *c, struct chaos_result *ret)
{
    double usual = has_part(c, CHAOS_PAIR) ? HOURS : HOURS_ALONE;
    double end = rig_now(c->r) + (c->what->hours > 0 ? c->what->hours : usual) * 3600;

    while (c->bad.n == 0) {
        rng_init(&c->rng, hash_mix(hash_mix(c->what->seed, 77), ++ret->n_deeds));
        double pause = pause_s(c);

        if (rig_now(c->r) + pause > end)
            break;
        wait(c, pause);
        if (is_skipped(c->what, ret->n_deeds))
            continue;
        act(c);
        buffers_act(c, ret->n_deeds);
        aws_act(c, ret->n_deeds);
        c->n_since_change = 0;
        c->tally.n_deeds++;
        ret->deeds_s = rig_now(c->r);
    }
}

/* ---- the beginning ---- */

static void draw_parts(struct chaos *c)
{
    static const struct {
        enum chaos_part part;
        uint32_t one_in;
    } traits[] = {{CHAOS_PAIR, 3},   {CHAOS_GRACE, 3},   {CHAOS_KEEP, 3},  {CHAOS_LIMITS, 2},
                  {CHAOS_STATIC, 4}, {CHAOS_STARTUP, 3}, {CHAOS_REPAIR, 3}};

    rng_init(&c->rng, c->what->seed);
    for (uint32_t i = 0; i < CHAOS_N_PARTS; i++)
        if (!parts_has(&c->what->without, i))
            parts_put(&c->parts, i);
    for (size_t i = 0; i < ARRAY_LEN(traits); i++)
        if (!one_in(c, traits[i].one_in))
            parts_drop(&c->parts, traits[i].part);
    c->n_apps = 2 + below(c, CHAOS_APPS - 1);
    if (c->what->n_apps)
        c->n_apps = MIN(c->what->n_apps, (uint32_t)CHAOS_APPS);
    if (hash_mix(c->what->seed, BUFFERS_SEED) % BUFFERS_ONE_IN) /* drawn apart: other cases stay what they were */
        parts_drop(&c->parts, CHAOS_BUFFERS);
}

static void begin(struct chaos *c, const char **env)
{
    uint32_t n = aws_settings(c, env);

    env[n++] = "LOG_LEVEL";
    env[n++] = c->what->verbose ? "info" : "error";
    if (!has_part(c, CHAOS_PAIR)) {
        env[n++] = "DISABLE_LEADER_ELECTION";
        env[n++] = "true";
    }
    env[n++] = "FEATURE_GATES";
    (void)snprintf(c->gates, sizeof(c->gates), "StaticCapacity=true,NodeRepair=%s,CapacityBuffer=%s",
                   has_part(c, CHAOS_REPAIR) ? "true" : "false", has_part(c, CHAOS_BUFFERS) ? "true" : "false");
    env[n++] = c->gates;
    env[n] = NULL;
    c->r = rig_new(c->what->seed, env,
                   &(struct cluster_options){.lean = true,
                                             .lease_renew_ms = 60000,
                                             .node_grace_ms = 240000,
                                             .node_ready = {100, 20000},
                                             .pod_start = {100, 5000}});
    c->faults = faults_new(chaos_kube(c), &(struct kube_faults){0}, c->what->seed + 1);
    c->r->forgetful = true;
    c->r->server = faults_serve;
    c->r->server_ctx = c->faults;
    rules_watch(c);
    aws_open(c);
    class_make(c);
    pools_make(c);
    for (uint32_t i = 0; i < c->n_apps; i++)
        app_make(c, i);
    rig_start(c->r, 0);
    if (has_part(c, CHAOS_PAIR))
        rig_start(c->r, 1);
}

static void tell(struct chaos *c, struct sb *out)
{
    struct sb b = {0};

    sb_printf(&b, "soak");
    chaos_print(c->what, &b);
    sb_printf(&b, "\n" STR_FMT, STR_ARG(sb_view(&c->bad)));
    if (c->what->verbose) {
        sb_str(&b, sb_view(&c->deeds));
        for (uint32_t i = 0; i < RIG_REPLICAS; i++)
            sb_str(&b, sb_view(&c->r->logs[i]));
    }
    if (out)
        sb_str(out, sb_view(&b));
    else
        (void)fprintf(stderr, STR_FMT, STR_ARG(sb_view(&b)));
    sb_fini(&b);
}

static double cpu_s(void)
{
    struct timespec t;

    (void)clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
    return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

void chaos_run(const struct chaos_case *what, struct sb *out, struct chaos_result *ret)
{
    struct chaos *c = xcalloc(1, sizeof(*c));
    const char *env[SKY_ENV + 8];

    double began_s = cpu_s();

    *ret = (struct chaos_result){0};
    c->what = what;
    c->jumped_s = -1e9;
    draw_parts(c);
    begin(c, env);
    live(c, ret);
    if (c->bad.n == 0)
        conclude(c);
    c->tally.hours = rig_now(c->r) / 3600;
    c->tally.n_faults += faults_count(c->faults) + sim_fault_count(c->r->l->s->sim);
    c->tally.cpu_s = cpu_s() - began_s;
    c->tally.trace = sim_trace(c->r->l->s->sim);
    ret->ok = c->bad.n == 0;
    ret->tally = c->tally;
    str first, rest;
    (void)str_cut(sb_view(&c->bad), '\n', &first, &rest);
    (void)snprintf(ret->what, sizeof(ret->what), STR_FMT, STR_ARG(first));
    if (!ret->ok || what->verbose)
        tell(c, out);
    sb_fini(&c->bad);
    sb_fini(&c->deeds);
    vec_fini(&c->holds);
    aws_close(c);
    rig_free(c->r);
    faults_free(c->faults);
    free(c);
}

void chaos_add(struct chaos_tally *sum, const struct chaos_tally *t)
{
    sum->hours += t->hours;
    sum->cpu_s += t->cpu_s;
    sum->n_deeds += t->n_deeds;
    sum->n_faults += t->n_faults;
    sum->n_requests += t->n_requests;
    sum->n_placed += t->n_placed;
    sum->n_claims += t->n_claims;
    sum->n_nodes += t->n_nodes;
    sum->n_nodes_gone += t->n_nodes_gone;
    sum->n_evicted += t->n_evicted;
    sum->n_disrupted += t->n_disrupted;
    sum->n_machines += t->n_machines;
    sum->n_warned += t->n_warned;
    sum->n_orphans += t->n_orphans;
    sum->n_aws_calls += t->n_aws_calls;
    sum->orphan_s += t->orphan_s;
    sum->n_hung += t->n_hung;
    sum->trace += t->trace;
}
