/* bench-disrupt - times the parts of a disruption pass on one cluster, without reading and printing.
 *
 *     bench-disrupt [--catalog NAME] [--now TIME] [--runs N] [--settings KEY=VALUE] [--events N [--away N]]
 *                   [--live thorough|compat [--told 1]] FILE
 *
 * One JSON object on standard output. Times are in microseconds, the median of the runs:
 *   candidateMicros  which nodes may go at all, for every method
 *   compileMicros    whatif_new(): the snapshot made ready for questions
 *   scanMicros       every candidate of the single-node method taken away, judged, and put back
 *   multiMicros      one multi-node pass as Karpenter makes it, with all that it needs
 *   searchMicros     of this the search alone: without candidates and compiling
 *   passMicros       one thorough pass of all methods
 * With --events instead: a standing scan that follows so many random events, pods that leave and come back to their node.
 * At most --away of them are away at a time; 1 unless told.
 *   standingMicros   making it, with the first answer
 *   eventMicros      one event and the answer after it: median; with P99 and Max in their names
 * With --live instead: a live pass of each method, in microseconds, and how many commands and remarks it has. --told 1: no
 * node wants to hear why it stays.
 */
#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <time.h>

#include "base/rng.h"
#include "base/vec.h"
#include "cli/input.h"
#include "cloud/catalog.h"
#include "disrupt/candidate.h"
#include "disrupt/pass.h"
#include "disrupt/standing.h"
#include "k8s/decode.h"
#include "k8s/settings.h"
#include "plan/whatif.h"
#include "state/state.h"

#define MAX_RUNS 99
#define MAX_EVENTS 1000000
#define AWAY_MAX 64

struct options {
    const char *file, *catalog, *now, *live;
    int64_t runs, events, away, told;
    VEC(const char *) settings;
};

/* What every measurement starts from. */
struct bench {
    struct arena *arena;
    struct syms *syms;
    struct objects *objects;
    struct snapshot *s;
    struct arena *pass; /* reset between runs */
};

/* What a scan found, so that a change that makes it faster and wrong is seen. */
struct verdicts {
    uint32_t candidates, deletes, replaces;
};

static _Noreturn void die(const char *what, const char *detail)
{
    (void)fprintf(stderr, "bench-disrupt: %s%s%s\n", what, detail ? ": " : "", detail ? detail : "");
    exit(1);
}

static void parse(struct options *o, int argc, char **argv)
{
    for (int i = 1; i < argc; i++) {
        const char *v = i + 1 < argc ? argv[i + 1] : NULL;

        if (argv[i][0] != '-') {
            o->file = argv[i];
            continue;
        }
        if (!v)
            die("nothing follows", argv[i]);
        if (strcmp(argv[i], "--catalog") == 0)
            o->catalog = v;
        else if (strcmp(argv[i], "--now") == 0)
            o->now = v;
        else if (strcmp(argv[i], "--live") == 0)
            o->live = v;
        else if (strcmp(argv[i], "--settings") == 0)
            vec_push(&o->settings, v);
        else if (!(strcmp(argv[i], "--runs") == 0 && str_to_i64(str_c(v), &o->runs)) &&
                 !(strcmp(argv[i], "--events") == 0 && str_to_i64(str_c(v), &o->events)) &&
                 !(strcmp(argv[i], "--away") == 0 && str_to_i64(str_c(v), &o->away)) &&
                 !(strcmp(argv[i], "--told") == 0 && str_to_i64(str_c(v), &o->told)))
            die("unknown option", argv[i]);
        i++;
    }
    if (!o->file || o->runs < 1 || o->runs > MAX_RUNS || o->events < 0 || o->events > MAX_EVENTS || o->away < 1 ||
        o->away > AWAY_MAX)
        die("usage: bench-disrupt [--catalog NAME] [--now TIME] [--runs 1..99] [--settings KEY=VALUE] "
            "[--events 1..1000000 [--away 1..64]] [--live thorough|compat [--told 1]] FILE",
            NULL);
}

static bool load(struct bench *b, const struct options *o, struct err *e)
{
    struct settings settings;
    struct input_watch watch = {0};
    int64_t now_ms;

    settings_defaults(&settings);
    for (uint32_t i = 0; i < o->settings.n; i++) {
        str key, value;

        (void)str_cut(str_c(o->settings.v[i]), '=', &key, &value);
        if (!settings_set(&settings, b->arena, b->syms, key, value, e))
            return false;
    }
    if (!time_parse_rfc3339(str_c(o->now), &now_ms, e))
        return false;
    const struct catalog *catalog = catalog_builtin(b->arena, b->syms, str_c(o->catalog), e);
    if (!catalog)
        return false;
    AUTO(decoder) struct decoder *d = decoder_new(b->objects);
    if (!input_read(d, o->file, &watch, e))
        return false;
    b->s = state_build(b->arena, b->objects, catalog, &settings, now_ms, e);
    return b->s != NULL;
}

static double micros_now(void)
{
    struct timespec t;

    (void)clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec * 1e6 + (double)t.tv_nsec / 1e3;
}

static int by_value(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;

    return (x > y) - (x < y);
}

static double median(double *v, int64_t n)
{
    qsort(v, (size_t)n, sizeof(*v), by_value);
    return n % 2 ? v[n / 2] : (v[n / 2 - 1] + v[n / 2]) / 2;
}

static void scan(struct bench *b, const struct candidates *c, struct whatif *w, struct verdicts *ret)
{
    struct candidate **v = candidates_of(c, b->pass, METHOD_SINGLE, &ret->candidates);

    for (uint32_t i = 0; i < ret->candidates; i++) {
        struct whatif_outcome out;
        uint32_t n_types;

        whatif_remove(w, &v[i]->node, 1, /* settled_only= */ true, 1, &out);
        if (out.n_failed == 0 && out.n_claims == 0)
            ret->deletes++;
        else if (out.n_failed == 0 && out.n_claims == 1)
            ret->replaces += whatif_cheaper(w, v[i]->price, v[i]->spot, /* alone= */ true, &n_types) == CHEAPER_YES;
        whatif_undo(w);
    }
}

struct times {
    double candidates[MAX_RUNS], compile[MAX_RUNS], scan[MAX_RUNS], multi[MAX_RUNS], pass[MAX_RUNS];
};

static void measure_parts(struct bench *b, struct times *t, int64_t run, struct verdicts *ret)
{
    struct candidates c;
    double start = micros_now();

    candidates_init(&c, b->pass, b->s);
    double found = micros_now();
    struct whatif *w = whatif_new(b->s, c.movable);
    double compiled = micros_now();
    *ret = (struct verdicts){0};
    scan(b, &c, w, ret);
    t->candidates[run] = found - start;
    t->compile[run] = compiled - found;
    t->scan[run] = micros_now() - compiled;
    whatif_free(w);
    candidates_fini(&c);
    arena_reset(b->pass);
}

static double measure_plan(struct bench *b, const struct disrupt_options *o, struct disruption *ret)
{
    double start = micros_now();

    *ret = *disrupt_plan(b->pass, b->s, o);
    double took = micros_now() - start;
    arena_reset(b->pass); /* of the result only the plain numbers are read from here on */
    return took;
}

static void print(const struct bench *b, struct times *t, int64_t runs, const struct verdicts *v,
                  const struct disruption *multi, const struct disruption *pass)
{
    double candidates = median(t->candidates, runs), compile = median(t->compile, runs);
    double search = median(t->multi, runs);
    struct rusage usage;

    (void)getrusage(RUSAGE_SELF, &usage);
    (void)printf("{\"nodes\":%u,\"pods\":%u,\"candidates\":%u,\"deletes\":%u,\"replaces\":%u,\"multiCommands\":%u,"
                 "\"commands\":%u,\"costBefore\":%.6f,\"costAfter\":%.6f,",
                 b->s->n_nodes, b->s->n_pods, v->candidates, v->deletes, v->replaces, multi->n_commands,
                 pass->n_commands, pass->cost_before, pass->cost_after);
    (void)printf("\"candidateMicros\":%.0f,\"compileMicros\":%.0f,\"scanMicros\":%.0f,\"multiMicros\":%.0f,"
                 "\"searchMicros\":%.0f,\"passMicros\":%.0f,\"rssMB\":%.1f}\n",
                 candidates, compile, median(t->scan, runs), search, MAX(0, search - candidates - compile),
                 median(t->pass, runs), (double)usage.ru_maxrss / 1024);
}

/* --- events ----------------------------------------------------------------------------------------------------------- */

struct away {
    struct pod pod;
    uint32_t node;
};

struct watching {
    struct bench *b;
    struct standing *t;
    struct rng rng;
    struct away away[AWAY_MAX];
    uint32_t n_away, most_away;
    uint64_t commands, refused; /* answers with a command; events that took a new object */
};

/* The unit that is measured. Not inlined, so that its instructions can be counted by its name. */
static __attribute__((noinline)) bool one_event(struct watching *w, const struct pod *came, uint32_t pod, uint32_t node)
{
    bool ok = came ? standing_pod_came(w->t, came, node, &pod) : standing_pod_left(w->t, pod, node);

    w->commands += ok && standing_next(w->t, w->b->pass) != NULL;
    return ok;
}

/* Some pod that a workload would make again. */
static uint32_t some_pod(struct watching *w, uint32_t *ret_node)
{
    const struct snapshot *s = w->b->s;

    for (;;) {
        const struct state_node *n = &s->nodes[ *ret_node = rng_below(&w->rng, s->n_nodes)];
        uint32_t pod = n->n_pods ? n->pods[rng_below(&w->rng, n->n_pods)] : UINT32_MAX;

        if (pod != UINT32_MAX && !n->deleting && s->pods[pod].owner != OWNER_DAEMONSET)
            return pod;
    }
}

static double random_event(struct watching *w)
{
    struct snapshot *s = w->b->s;
    bool leaves = w->n_away == 0 || (w->n_away < w->most_away && rng_below(&w->rng, 2));
    struct away x;
    uint32_t pod = UINT32_MAX;

    if (leaves) {
        pod = some_pod(w, &x.node);
        x.pod = s->pods[pod];
        w->away[w->n_away++] = x;
    } else {
        uint32_t i = rng_below(&w->rng, w->n_away);

        x = w->away[i];
        w->away[i] = w->away[--w->n_away];
    }
    double start = micros_now();
    bool ok = one_event(w, leaves ? NULL : &x.pod, pod, x.node);
    double took = micros_now() - start;
    arena_reset(w->b->pass);
    if (!ok) {
        w->refused++;
        standing_free(w->t);
        w->t = standing_new(s, w->b->arena, /* compat= */ true);
    }
    return took;
}

static void measure_events(struct bench *b, int64_t n, int64_t away)
{
    double *took = xmalloc((size_t)n * sizeof(*took)), start = micros_now();
    struct watching w = {.b = b, .t = standing_new(b->s, b->arena, /* compat= */ true), .most_away = (uint32_t)away};

    rng_init(&w.rng, 42);
    (void)standing_next(w.t, b->pass);
    double made = micros_now() - start;
    struct standing_work before = standing_work(w.t);
    for (int64_t i = 0; i < n; i++)
        took[i] = random_event(&w);
    struct standing_work after = standing_work(w.t);
    double mid = median(took, n); /* sorted from here on */
    (void)printf("{\"nodes\":%u,\"pods\":%u,\"events\":%lld,\"commands\":%llu,\"refused\":%llu,\"held\":%u,\"open\":%u,"
                 "\"judged\":%llu,\"asked\":%llu,",
                 b->s->n_nodes, b->s->n_pods, (long long)n, (unsigned long long)w.commands,
                 (unsigned long long)w.refused, before.held, before.open,
                 (unsigned long long)(after.judged - before.judged), (unsigned long long)(after.asked - before.asked));
    (void)printf("\"standingMicros\":%.0f,\"eventMicros\":%.2f,\"eventP99Micros\":%.2f,\"eventMaxMicros\":%.2f}\n",
                 made, mid, took[n * 99 / 100], took[n - 1]);
    standing_free(w.t);
    free(took);
}

static void measure_passes(struct bench *b, int64_t runs)
{
    static const struct disrupt_options multi_pass = {.methods = 1u << METHOD_MULTI, .compat = true}, all = {0};
    static struct times t;
    struct verdicts v = {0};
    struct disruption multi = {0}, pass = {0};

    for (int64_t i = 0; i < runs; i++) {
        measure_parts(b, &t, i, &v);
        t.multi[i] = measure_plan(b, &multi_pass, &multi);
        t.pass[i] = measure_plan(b, &all, &pass);
    }
    print(b, &t, runs, &v, &multi, &pass);
}

/* --- live passes ------------------------------------------------------------------------------------------------------ */

static void measure_method(struct bench *b, const struct pass_options *o, int64_t runs)
{
    double took[MAX_RUNS];
    struct pass p = {0};

    for (int64_t i = 0; i < runs; i++) {
        double start = micros_now();

        p = *disrupt_pass(b->pass, b->s, o);
        took[i] = micros_now() - start;
        arena_reset(b->pass);
    }
    (void)printf("%s\"%s\":{\"micros\":%.0f,\"candidates\":%u,\"commands\":%u,\"remarks\":%u}", o->method ? "," : "",
                 disrupt_method_name(o->method), median(took, runs), p.n_candidates, p.n_commands, p.n_remarks);
}

static void measure_live(struct bench *b, const struct options *o)
{
    uint64_t *told = arena_new_array(b->arena, uint64_t, BITS_WORDS(b->s->n_nodes));
    int64_t *room = arena_new_array(b->arena, int64_t, b->s->n_pools);

    memset(told, o->told ? 0xff : 0, BITS_WORDS(b->s->n_nodes) * sizeof(*told));
    (void)printf("{\"nodes\":%u,\"pods\":%u,", b->s->n_nodes, b->s->n_pods);
    for (unsigned m = 0; m < N_METHODS; m++)
        measure_method(b,
                       &(struct pass_options){
                           .method = (enum disrupt_method)m,
                           .compat = strcmp(o->live, "compat") == 0,
                           .told = told,
                           .static_room = room,
                       },
                       o->runs);
    (void)printf("}\n");
}

int main(int argc, char **argv)
{
    struct options o = {.catalog = "kwok", .now = "2026-01-15T12:00:00Z", .runs = 5, .away = 1};
    struct bench b = {.arena = arena_new(1 << 20), .syms = syms_new(), .pass = arena_new(1 << 20)};
    struct err e = {0};

    parse(&o, argc, argv);
    b.objects = objects_new(b.syms);
    if (!load(&b, &o, &e))
        die(o.file, e.msg);
    if (o.live)
        measure_live(&b, &o);
    else if (o.events)
        measure_events(&b, o.events, o.away);
    else
        measure_passes(&b, o.runs);
    vec_fini(&o.settings);
    objects_free(b.objects);
    syms_free(b.syms);
    arena_free(b.pass);
    arena_free(b.arena);
    return 0;
}
