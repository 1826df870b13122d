/* The cluster and the controller in the simulated world, and who of them takes the CPU. */
#include "scale_in.h"

#include <stdio.h>
#include <stdlib.h>

#include "cli/simulate/sandbox.h"
#include "cli/simulate/tally_int.h"

#define SECOND_US INT64_C(1000000)
#define START_MS INT64_C(1767254400000)
/* Commands of one second look begin together; the next look is at least fifteen seconds later. */
#define SAME_WINDOW_S 10.0
#define SECOND_LOOK_S 15.0

struct scene {
    struct sandbox *g;
    struct watcher *watcher;
    struct commands commands;
    double forgot_s; /* decisions from before do not count */
    bool log;
    struct arena *a;
    VEC(str) pods; /* in `a` */
    /* CPU. A step belongs to the server when the timer is its own or a request reaches it; whatever else happens is the controller's, network and fibers included. */
    const struct world *owner; /* of the step at work */
    double since_s;            /* when it began, less what is charged already */
    double controller_cpu_s;
};

/* ---- who takes the CPU ---- */

static void charge(struct scene *s, bool to_controller)
{
    double now = cpu_seconds();

    if (to_controller)
        s->controller_cpu_s += now - s->since_s;
    s->since_s = now;
}

static void on_step(void *ctx, uint64_t step UNUSED)
{
    struct scene *s = ctx;

    charge(s, s->owner != s->g->servers);
    s->owner = sim_next_owner(s->g->sim);
}

static void serve(void *ctx, struct exchange *x)
{
    struct scene *s = ctx;

    charge(s, /* to_controller= */ true);
    kube_serve(s->g->kube, x);
    charge(s, /* to_controller= */ false);
}

/* ---- what the controller says ---- */

static uint32_t number_after(str line, const char *key)
{
    const char *at = memmem(line.p, line.n, key, strlen(key));

    return at ? (uint32_t)strtoul(at + strlen(key), NULL, 10) : 0; /* a brace or a comma follows */
}

static double dollars_after(str line, const char *key)
{
    const char *at = memmem(line.p, line.n, key, strlen(key));

    return at ? strtod(at + strlen(key), NULL) : 0; /* a bracket follows */
}

static void on_line(void *ctx, str line)
{
    struct scene *s = ctx;
    struct commands *c = &s->commands;
    double now_s = (double)sim_now_us(s->g->sim) / 1e6;

    if (s->log)
        (void)fprintf(stderr, "%.3f " STR_FMT "\n", now_s, STR_ARG(line));
    if (!str_contains(line, STR("\"disrupting node(s)\"")) || now_s - s->forgot_s < SECOND_LOOK_S)
        return;
    uint32_t nodes = number_after(line, "\"disrupted-node-count\":"),
             replacements = number_after(line, "\"replacement-node-count\":");

    if (c->windows.n == 0 || now_s - c->last_s > SAME_WINDOW_S)
        vec_push(&c->windows, (struct window){.at_s = now_s});
    struct window *w = &c->windows.v[c->windows.n - 1];
    w->commands++;
    w->nodes += nodes;
    w->replacements += replacements;
    w->savings += dollars_after(line, "(savings: $");
    c->last_s = now_s;
    c->nodes += nodes;
    c->replacements += replacements;
    c->replaced += replacements > 0;
    if (str_contains(line, STR("\"command\":\"Empty/")))
        c->empty++;
    else if (nodes > 1)
        c->multi++;
    else
        c->single++;
}

/* ---- life ---- */

static struct sandbox_setup setup_of(const struct trial *o, struct scene *s)
{
    return (struct sandbox_setup){.seed = (uint64_t)o->seed,
                                  .start_ms = START_MS,
                                  .node_ready = {16000, 24000},
                                  .pod_start = {800, 1200},
                                  .env = kwok_env(),
                                  .settings = o->settings.v,
                                  .n_settings = o->settings.n,
                                  .on_line = on_line,
                                  .ctx = s};
}

struct scene *scene_new(const struct trial *o)
{
    struct scene *s = xcalloc(1, sizeof(*s));
    struct sandbox_setup setup = setup_of(o, s);
    struct sb text = {0};
    struct err e;

    s->a = arena_new(0);
    s->log = o->log;
    s->g = sandbox_new(&setup, &e);
    if (!s->g)
        die("the cluster", e.msg);
    s->watcher = watcher_new(s->g->kube, 3600);
    sim_mount(s->g->sim, SANDBOX_SERVER, s->g->servers, serve, s);
    sim_on_step(s->g->sim, on_step, s);
    write_pool(&text, o);
    scene_load(s, sb_view(&text));
    sb_fini(&text);
    s->since_s = cpu_seconds();
    if (!sandbox_open(s->g, &setup, &e))
        die("the controller", e.msg);
    watcher_begin(s->watcher);
    return s;
}

void scene_free(struct scene *s)
{
    sim_on_step(s->g->sim, NULL, NULL);
    sandbox_free(s->g);
    watcher_free(s->watcher);
    vec_fini(&s->pods);
    vec_fini(&s->commands.windows);
    arena_free(s->a);
    free(s);
}

/* ---- what happens to it ---- */

void scene_load(struct scene *s, str objects)
{
    struct err e;

    if (!kube_load(s->g->kube, "bench", objects, &e))
        die("the cluster refuses", e.msg);
}

void scene_scale(struct scene *s, uint32_t app, int64_t replicas)
{
    const struct kind *kind = kube_kind(s->g->kube, STR("apps"), STR("Deployment"));
    char name[16];
    struct err e;

    (void)snprintf(name, sizeof(name), "app%u", app);
    if (!sandbox_scale(s->g, kind, STR("default"), str_c(name), replicas, &e))
        die("a Deployment", e.msg);
}

static void note_pod(void *ctx, const struct object *o)
{
    struct scene *s = ctx;

    if (!o->deleted_ms)
        vec_push(&s->pods, arena_strdup(s->a, o->name));
}

void scene_delete_pods(struct scene *s, uint32_t n)
{
    const struct kind *kind = kube_kind(s->g->kube, STR(""), STR("Pod"));
    struct err e;

    arena_reset(s->a);
    s->pods.n = 0;
    kube_each(s->g->kube, kind, STR("default"), note_pod, s);
    for (uint32_t i = 0; i < n && s->pods.n; i++) {
        uint32_t at = rng_below(sim_rng(s->g->sim), s->pods.n);

        if (!sandbox_delete(s->g, kind, STR("default"), s->pods.v[at], &e))
            die("a pod", e.msg);
        s->pods.v[at] = s->pods.v[--s->pods.n];
    }
}

void scene_run(struct scene *s, double seconds)
{
    s->since_s = cpu_seconds(); /* what happened outside is nobody's */
    sim_run_for(s->g->sim, (int64_t)(seconds * (double)SECOND_US));
    charge(s, s->owner != s->g->servers);
    if (s->commands.windows.n) {
        struct window *w = &s->commands.windows.v[s->commands.windows.n - 1];

        w->cost = (double)s->watcher->rate / 1e9;
        w->evicted = s->watcher->t->total.evicted;
        w->launched = s->watcher->t->total.launched;
    }
}

struct figures scene_now(struct scene *s)
{
    const struct watcher *w = s->watcher;

    return (struct figures){.at_s = (double)sim_now_us(s->g->sim) / 1e6,
                            .cost = (double)w->rate / 1e9,
                            .nodes = w->n_nodes,
                            .running = w->n_running,
                            .waiting = w->n_waiting,
                            .evicted = w->t->total.evicted,
                            .launched = w->t->total.launched,
                            .removed = w->t->total.removed,
                            .controller_cpu_s = s->controller_cpu_s,
                            .commands = &s->commands};
}

void scene_forget(struct scene *s)
{
    vec_fini(&s->commands.windows);
    s->commands = (struct commands){0};
    s->forgot_s = (double)sim_now_us(s->g->sim) / 1e6;
}

/* ---- for other programs ---- */

static void dump_one(void *ctx, const struct object *o)
{
    FILE *f = ctx;

    (void)fprintf(f, STR_FMT "\n", STR_ARG(o->json));
}

void scene_dump(struct scene *s, const char *path)
{
    static const char *const kinds[] = {"nodepools", "kwoknodeclasses", "nodeclaims", "nodes", "pods"};
    FILE *f = fopen(path, "w");

    if (!f)
        die("cannot write", path);
    for (size_t i = 0; i < ARRAY_LEN(kinds); i++)
        kube_each(s->g->kube, sandbox_kind(s->g, str_c(kinds[i])), STR(""), dump_one, f);
    if (fclose(f))
        die("cannot write", path);
}
