/* bench-scale-in - how a live cluster comes down after many of its pods have gone.
 *
 *     bench-scale-in [--nodes N] [--removed PERCENT] [--budget NODES] [--after DURATION] [--steady MINUTES] [--seed N]
 *                    [--minutes N] [--settings KEY=VALUE] [--dump FILE] [--dump-at SECOND] [--log]
 *
 * The simulated cluster and the controller as it runs in a pod. Deployments of sixty sizes grow until the controller has made N nodes (1,000).
 * Then so many of the pods (30 %) are no longer wanted, and the controller consolidates until it has found nothing for five minutes, at most for half an hour (--minutes). One JSON
 * object on standard output:
 *   windows           second looks after which nodes went, each with its second, its commands and what they promised, and cost, evictions and launches before the next one; those of decisions from before the removal do not count
 *   goalWindows       of them, until the nodes cost at most 1.05 times the lower bound for the pods that are left; null: never
 *   goalSeconds, goalEvicted, goalCpuSeconds   until then: virtual time, pods that were evicted, CPU of the controller
 *   costAfter, lowerBound, evicted, …          at the end; freshCost: of nodes that a plan for all pods at once buys
 * --dump: the cluster as the first decision finds it, or some seconds after the removal, for `karpenter plan --disrupt` and bench-disrupt.
 * With --steady instead of the removal: 1 % of the pods are replaced every minute, and
 *   cpuPercent        is what the controller takes of a core meanwhile, network and fibers of the simulation included
 */
#include "scale_in.h"

#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "data/json.h"

#define WAVES 5 /* in which the pods come, about */
#define WAVES_MAX 50
#define WAVE_S 10.0 /* between looks at whether every pod runs */
#define WAVE_LOOKS 60
#define SETTLE_S 120.0 /* between growing and what is measured */
#define QUIET_S 300.0
#define WITHIN 1.05
#define STEADY_SHARE 0.01

void die(const char *what, const char *detail)
{
    (void)fprintf(stderr, "bench-scale-in: %s%s%s\n", what, detail ? ": " : "", detail ? detail : "");
    exit(1);
}

double cpu_seconds(void)
{
    struct timespec ts;

    (void)clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &ts);
    return (double)ts.tv_sec + (double)ts.tv_nsec / 1e9;
}

/* ---- the cluster grows ---- */

static void create_apps(struct scene *s, const struct app apps[APPS])
{
    struct sb text = {0};

    for (uint32_t i = 0; i < APPS; i++)
        write_app(&text, &apps[i], i);
    scene_load(s, sb_view(&text));
    sb_fini(&text);
}

static int64_t pods_of(const struct app apps[APPS])
{
    int64_t n = 0;

    for (uint32_t i = 0; i < APPS; i++)
        n += apps[i].replicas;
    return n;
}

/* Every pod runs, and no more than are wanted. */
static void await_pods(struct scene *s, const struct app apps[APPS])
{
    for (int i = 0; i < WAVE_LOOKS; i++) {
        scene_run(s, WAVE_S);
        if (scene_now(s).running == pods_of(apps) && scene_now(s).waiting == 0)
            return;
    }
    die("the pods do not start", NULL);
}

/* Until nothing was removed for a while, or it has been long enough; `each` looks at every second. */
static void await_quiet(struct scene *s, double most_s,
                        void (*each)(void *ctx, struct scene *s, const struct figures *f), void *ctx)
{
    double began_s = scene_now(s).at_s;

    for (;;) {
        scene_run(s, 1);
        struct figures f = scene_now(s);

        each(ctx, s, &f);
        if (f.at_s - MAX(began_s, f.commands->last_s) >= QUIET_S || f.at_s - began_s >= most_s)
            return;
    }
}

/* A wave is about a fifth of what is wanted: nodes have 16 cpu at most, and pods one on average. */
static void grow(struct scene *s, const struct trial *o, struct app apps[APPS])
{
    int64_t shares = 0;

    for (uint32_t i = 0; i < APPS; i++)
        shares += apps[i].share;
    int64_t wave = MAX(o->nodes * 12 / WAVES / shares, 1);
    create_apps(s, apps);
    for (int w = 0; scene_now(s).nodes < o->nodes; w++) {
        if (w == WAVES_MAX)
            die("the cluster does not grow", NULL);
        for (uint32_t i = 0; i < APPS; i++) {
            apps[i].replicas += apps[i].share * wave;
            scene_scale(s, i, apps[i].replicas);
        }
        await_pods(s, apps);
        if (scene_now(s).nodes >= o->nodes)
            scene_run(s, SETTLE_S); /* some may turn out not to be needed */
    }
}

/* ---- and comes down ---- */

struct descent {
    double bound, fresh;
    struct figures before, at_goal, after;
    uint32_t goal_windows;
    bool reached;
    const char *dump; /* NULL: nowhere, or done */
    double dump_s;
};

static void watch_cost(void *ctx, struct scene *s, const struct figures *f)
{
    struct descent *d = ctx;

    if (d->dump && f->at_s >= d->dump_s) {
        scene_dump(s, d->dump);
        d->dump = NULL;
    }
    if (d->reached || f->cost > WITHIN * d->bound || f->waiting)
        return;
    d->reached = true;
    d->at_goal = *f;
    d->goal_windows = f->commands->windows.n;
}

static void shrink(struct scene *s, const struct trial *o, struct app apps[APPS], struct descent *d)
{
    scene_forget(s);
    d->before = scene_now(s);
    for (uint32_t i = 0; i < APPS; i++) {
        apps[i].replicas -= apps[i].replicas * o->removed / 100;
        scene_scale(s, i, apps[i].replicas);
    }
    d->bound = bound_of(o, apps, &d->fresh);
    d->dump = o->dump;
    d->dump_s = d->before.at_s + (double)o->dump_s;
    await_quiet(s, (double)o->minutes * 60, watch_cost, d);
    d->after = scene_now(s);
    if (d->after.running + d->after.waiting < pods_of(apps))
        die("pods are missing in the end", NULL);
}

/* ---- or lives on ---- */

struct steady {
    struct figures before, after;
    uint32_t pods;
};

static void live_on(struct scene *s, const struct trial *o, const struct app apps[APPS], struct steady *t)
{
    int64_t pods = pods_of(apps);
    int64_t a_minute = MAX((int64_t)((double)pods * STEADY_SHARE), 1);

    scene_forget(s);
    t->before = scene_now(s);
    for (int64_t m = 0; m < o->steady_min; m++)
        for (int64_t done = 0, second = 1; second <= 60; second++) {
            int64_t due = a_minute * second / 60;

            scene_delete_pods(s, (uint32_t)(due - done));
            t->pods += (uint32_t)(due - done);
            done = due;
            scene_run(s, 1);
        }
    t->after = scene_now(s);
}

/* ---- the program ---- */

static void put_number(struct jw *w, const char *key, double v)
{
    jw_key(w, key);
    jw_double(w, v);
}

static void put_count(struct jw *w, const char *key, int64_t v)
{
    jw_key(w, key);
    jw_i64(w, v);
}

static void put_commands(struct jw *w, const struct commands *c)
{
    put_count(w, "emptyCommands", c->empty);
    put_count(w, "multiCommands", c->multi);
    put_count(w, "singleCommands", c->single);
    put_count(w, "replacing", c->replaced);
    put_count(w, "nodesDisrupted", c->nodes);
    put_count(w, "replacements", c->replacements);
}

static void put_windows(struct jw *w, const struct descent *d)
{
    const struct commands *c = d->after.commands;

    jw_key(w, "windows");
    jw_list(w);
    for (uint32_t i = 0; i < c->windows.n; i++) {
        const struct window *x = &c->windows.v[i];

        jw_map(w);
        put_number(w, "second", x->at_s - d->before.at_s);
        put_count(w, "commands", x->commands);
        put_count(w, "nodes", x->nodes);
        put_count(w, "replacements", x->replacements);
        put_number(w, "savingsByBound", x->savings / d->bound);
        put_number(w, "costByBound", x->cost / d->bound);
        put_count(w, "evicted", x->evicted - d->before.evicted);
        put_count(w, "launched", x->launched - d->before.launched);
        jw_end(w);
    }
    jw_end(w);
}

static void put_descent(struct jw *w, const struct descent *d, const struct app apps[APPS])
{
    const struct figures *b = &d->before, *g = &d->at_goal, *a = &d->after;

    put_count(w, "nodesBefore", b->nodes);
    put_count(w, "podsBefore", b->running);
    put_count(w, "podsAfter", pods_of(apps));
    put_count(w, "nodesAfter", a->nodes);
    put_number(w, "costBefore", b->cost);
    put_number(w, "costAfter", a->cost);
    put_number(w, "lowerBound", d->bound);
    put_number(w, "freshCost", d->fresh);
    jw_key(w, "goalWindows");
    if (d->reached)
        jw_i64(w, d->goal_windows);
    else
        jw_null(w);
    if (d->reached) {
        put_number(w, "goalSeconds", g->at_s - b->at_s);
        put_count(w, "goalEvicted", g->evicted - b->evicted);
        put_number(w, "goalCpuSeconds", g->controller_cpu_s - b->controller_cpu_s);
    }
    put_count(w, "evicted", a->evicted - b->evicted);
    put_count(w, "launched", a->launched - b->launched);
    put_count(w, "removed", a->removed - b->removed);
    put_number(w, "seconds", a->commands->last_s - b->at_s);
    put_number(w, "cpuSeconds", a->controller_cpu_s - b->controller_cpu_s);
    put_commands(w, a->commands);
    put_windows(w, d);
}

static void put_steady(struct jw *w, const struct steady *t)
{
    double seconds = t->after.at_s - t->before.at_s, cpu_s = t->after.controller_cpu_s - t->before.controller_cpu_s;

    put_count(w, "nodesBefore", t->before.nodes);
    put_count(w, "nodesAfter", t->after.nodes);
    put_count(w, "pods", t->before.running);
    put_count(w, "podsReplaced", t->pods);
    put_number(w, "seconds", seconds);
    put_number(w, "cpuSeconds", cpu_s);
    put_number(w, "cpuPercent", 100 * cpu_s / seconds);
    put_count(w, "evicted", t->after.evicted - t->before.evicted);
    put_commands(w, t->after.commands);
}

static bool read_number(const char *name, const char *value, struct trial *o)
{
    const struct {
        const char *name;
        int64_t *to, least, most;
    } numbers[] = {{"--nodes", &o->nodes, 1, 10000},       {"--removed", &o->removed, 1, 99},
                   {"--seed", &o->seed, 0, INT64_MAX},     {"--dump-at", &o->dump_s, 0, 24 * 3600},
                   {"--minutes", &o->minutes, 1, 24 * 60}, {"--steady", &o->steady_min, 1, 24 * 60}};

    for (size_t i = 0; i < ARRAY_LEN(numbers); i++)
        if (strcmp(name, numbers[i].name) == 0)
            return str_to_i64(str_c(value), numbers[i].to) && *numbers[i].to >= numbers[i].least &&
                   *numbers[i].to <= numbers[i].most;
    return false;
}

static void read_options(struct trial *o, int argc, char **argv)
{
    for (int i = 1; i < argc; i++) {
        const char *v = i + 1 < argc ? argv[i + 1] : NULL;

        if (strcmp(argv[i], "--log") == 0) {
            o->log = true;
            continue;
        }
        if (!v)
            die("unknown argument, or nothing follows", argv[i]);
        if (strcmp(argv[i], "--budget") == 0)
            o->budget = v;
        else if (strcmp(argv[i], "--after") == 0)
            o->after = v;
        else if (strcmp(argv[i], "--dump") == 0)
            o->dump = v;
        else if (strcmp(argv[i], "--settings") == 0)
            vec_push(&o->settings, v);
        else if (!read_number(argv[i], v, o))
            die("unknown argument, or not a number that it takes", argv[i]);
        i++;
    }
}

int main(int argc, char **argv)
{
    struct trial o = {
        .nodes = 1000, .removed = 30, .seed = 1, .minutes = 30, .dump_s = 9, .budget = "100%", .after = "0s"};
    struct app apps[APPS];
    struct sb out = {0};
    struct jw w = {.out = &out};

    read_options(&o, argc, argv);
    apps_init(apps);
    struct scene *s = scene_new(&o);
    grow(s, &o, apps);
    jw_map(&w);
    if (o.steady_min) {
        struct steady t = {0};

        live_on(s, &o, apps, &t);
        put_steady(&w, &t);
    } else {
        struct descent d = {0};

        shrink(s, &o, apps, &d);
        put_descent(&w, &d, apps);
    }
    put_number(&w, "processCpuSeconds", cpu_seconds());
    jw_end(&w);
    (void)printf("%s\n", sb_cstr(&out));
    sb_fini(&out);
    scene_free(s);
    vec_fini(&o.settings);
    return 0;
}
