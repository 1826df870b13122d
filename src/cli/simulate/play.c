#include "cli/simulate/play.h"

#include <stdlib.h>

#include "base/map.h"
#include "cli/simulate/manifests.h"
#include "data/edit.h"
#include "model/duration.h"

#define KEEP_FINISHED_S 60

struct cue { /* one event of the trace, waiting for its time */
    struct play *p;
    const struct trace_event *ev;
    struct timer timer;
    struct rng rng;          /* its own, so that events do not disturb each other's chance */
    const struct kind *kind; /* scale, curve, delete */
    str ns;
    struct manifests manifests; /* apply */
    int64_t at_us;
    int64_t replicas; /* curve: what was asked for last; -1: nothing yet */
    uint32_t n_runs;
};

struct play {
    struct sandbox *s;
    const struct trace *t;
    struct arena *a;
    struct cue *cues;
    uint32_t n_missed;
    struct err first_missed;
};

/* ---- what happens ---- */

static void put_requests(struct arena *a, struct tree *container, const struct trace_job *j)
{
    struct tree *requests = tree_path(a, container, "resources", "requests", NULL);

    if (j->cpu.n)
        tree_set_str(a, requests, "cpu", j->cpu);
    if (j->memory.n)
        tree_set_str(a, requests, "memory", j->memory);
}

static struct tree *job_template(struct arena *a, const struct trace_job *j, str run_for)
{
    struct tree *t = j->template ? tree_copy(a, j->template) : tree_new_map(a);
    struct tree *annotations = tree_path(a, t, "metadata", "annotations", NULL);

    if (annotations)
        tree_set_str(a, annotations, "sim.karpenter.sh/run-for", run_for);
    struct tree *spec = tree_sub(a, t, "spec");
    if (!spec)
        return t;
    if (!tree_find(spec, STR("restartPolicy")))
        tree_set_str(a, spec, "restartPolicy", STR("Never"));
    struct tree *containers = tree_sublist(a, spec, "containers");
    if (containers && containers->n == 0) {
        struct tree *c = tree_push(a, containers, *tree_new_map(a));

        tree_set_str(a, c, "name", STR("job"));
        tree_set_str(a, c, "image", STR("job"));
        put_requests(a, c, j);
    }
    return t;
}

static struct tree *job_of(struct arena *a, const struct trace_job *j, uint32_t serial, int64_t pods, int64_t run_us)
{
    struct tree *t = tree_new_map(a);
    struct sb run = {0};

    duration_print(&run, run_us * 1000);
    tree_set_str(a, t, "apiVersion", STR("batch/v1"));
    tree_set_str(a, t, "kind", STR("Job"));
    struct tree *meta = tree_sub(a, t, "metadata");
    tree_set_str(a, meta, "name", arena_printf(a, STR_FMT "-%u", STR_ARG(j->name), serial));
    tree_set_str(a, meta, "namespace", j->ns);
    tree_set_str(a, tree_sub(a, meta, "labels"), "sim.karpenter.sh/job", j->name);
    struct tree *spec = tree_sub(a, t, "spec");
    tree_set_i64(a, spec, "parallelism", pods);
    tree_set_i64(a, spec, "completions", pods);
    tree_set_i64(a, spec, "ttlSecondsAfterFinished", KEEP_FINISHED_S);
    tree_set(a, spec, "template", *job_template(a, j, sb_dup(&run, a)));
    sb_fini(&run);
    return t;
}

static bool follow_curve(struct cue *c, struct err *e)
{
    int64_t n = trace_curve_at(c->p->t, &c->ev->curve, c->at_us, &c->rng);

    if (n == c->replicas)
        return true;
    c->replicas = n;
    return sandbox_scale(c->p->s, c->kind, c->ns, c->ev->target.name, n, e);
}

static bool run_job(struct cue *c, bool only_try, struct err *e)
{
    AUTO(arena) struct arena *a = arena_new(0);
    int64_t pods = only_try ? 1 : trace_draw(&c->ev->job.pods, &c->rng);
    int64_t us = only_try ? 1000000 : trace_draw(&c->ev->job.run_us, &c->rng);
    str odd;

    return pods == 0 || sandbox_apply(c->p->s, job_of(a, &c->ev->job, ++c->n_runs, pods, us), only_try, &odd, e);
}

static bool apply_all(struct cue *c, bool only_try, struct err *e)
{
    str odd;

    for (uint32_t i = 0; i < c->manifests.v.n; i++)
        if (!sandbox_apply(c->p->s, c->manifests.v.v[i].obj, only_try, &odd, e))
            return false;
    return true;
}

static bool act(struct cue *c, struct err *e)
{
    switch (c->ev->what) {
    case TRACE_SCALE:
        return sandbox_scale(c->p->s, c->kind, c->ns, c->ev->target.name, trace_draw(&c->ev->replicas, &c->rng), e);
    case TRACE_CURVE:
        return follow_curve(c, e);
    case TRACE_RUN:
        return run_job(c, /* only_try= */ false, e);
    case TRACE_APPLY:
        return apply_all(c, /* only_try= */ false, e);
    case TRACE_DELETE:
        return sandbox_delete(c->p->s, c->kind, c->ns, c->ev->target.name, e);
    case TRACE_WHATS:
        break;
    }
    return true;
}

static void wait_for(struct cue *c)
{
    if (trace_next(c->p->t, c->ev, c->at_us, &c->at_us))
        timer_set(c->p->s->servers, &c->timer, c->at_us - sandbox_now_us(c->p->s));
}

static void on_time(void *ctx)
{
    struct cue *c = ctx;
    struct err e = {0};

    if (!act(c, &e)) {
        if (c->p->n_missed++ == 0) {
            c->p->first_missed = e;
            (void)err_wrap(&c->p->first_missed, "%s:%u", c->p->t->file, c->ev->line);
        }
    }
    wait_for(c);
}

/* ---- whether it can ---- */

static bool is_applied_later(const struct play *p, const struct kind *kind, str ns, str name)
{
    for (uint32_t i = 0; i < p->t->n; i++)
        for (uint32_t k = 0; k < p->t->events[i].n_manifests; k++) {
            const struct tree *obj = p->t->events[i].manifests[k], *meta = tree_get(obj, "metadata");
            str there = tree_str(tree_get(meta, "namespace"));

            if (str_eq(tree_str(tree_get(obj, "kind")), kind->name) && str_eq(tree_str(tree_get(meta, "name")), name) &&
                (!kind->namespaced || str_eq(there.n ? there : STR("default"), ns)))
                return true;
        }
    return false;
}

static bool find_target(struct cue *c, struct err *e)
{
    const struct trace_ref *r = &c->ev->target;
    bool scales = c->ev->what != TRACE_DELETE;

    c->kind = sandbox_kind(c->p->s, r->kind);
    if (!c->kind)
        return err_set(e, ERR_INVALID, "there is no kind " STR_FMT, STR_ARG(r->kind));
    if (scales && !c->kind->has_scale)
        return err_set(e, ERR_INVALID, "a " STR_FMT " has no replicas", STR_ARG(c->kind->name));
    c->ns = !c->kind->namespaced ? (str){0} : r->ns.n ? r->ns : STR("default");
    if (kube_get(c->p->s->kube, c->kind, c->ns, r->name) || is_applied_later(c->p, c->kind, c->ns, r->name))
        return true;
    return err_set(e, ERR_INVALID, "there is no " STR_FMT " " STR_FMT "%s" STR_FMT ": name its manifest with -f",
                   STR_ARG(c->kind->name), STR_ARG(c->ns), c->ns.n ? "/" : "", STR_ARG(r->name));
}

static bool prepare(struct cue *c, struct err *e)
{
    switch (c->ev->what) {
    case TRACE_SCALE:
    case TRACE_CURVE:
    case TRACE_DELETE:
        return find_target(c, e);
    case TRACE_RUN: {
        bool ok = run_job(c, /* only_try= */ true, e);

        c->n_runs = 0;
        return ok;
    }
    case TRACE_APPLY:
        for (uint32_t i = 0; i < c->ev->n_manifests; i++)
            if (!manifests_add(&c->manifests, c->p->t->file, c->ev->manifests[i], e))
                return false;
        manifests_finish(&c->manifests);
        if (c->manifests.ignored.n && !c->manifests.v.n)
            return err_set(e, ERR_INVALID, "apply: the simulated cluster has no use for " STR_FMT,
                           STR_ARG(c->manifests.ignored.v[0].kind));
        return apply_all(c, /* only_try= */ true, e);
    case TRACE_WHATS:
        break;
    }
    return true;
}

struct play *play_new(struct sandbox *s, const struct trace *t, uint64_t seed, struct err *e)
{
    struct play *p = xcalloc(1, sizeof(*p));

    *p = (struct play){.s = s, .t = t, .a = arena_new(0)};
    p->cues = arena_new_array(p->a, struct cue, t->n);
    for (uint32_t i = 0; i < t->n; i++) {
        struct cue *c = &p->cues[i];

        *c = (struct cue){.p = p, .ev = &t->events[i], .timer = {.fn = on_time, .ctx = c}, .at_us = -1, .replicas = -1};
        manifests_init(&c->manifests, p->a);
        rng_init(&c->rng, hash_mix(seed, i + 1));
        if (!prepare(c, e)) {
            (void)err_wrap(e, "%s:%u", t->file, c->ev->line);
            play_free(p);
            return NULL;
        }
    }
    for (uint32_t i = 0; i < t->n; i++)
        wait_for(&p->cues[i]);
    return p;
}

void play_free(struct play *p)
{
    if (!p)
        return;
    for (uint32_t i = 0; i < p->t->n; i++) {
        if (p->cues[i].p)
            timer_stop(p->s->servers, &p->cues[i].timer);
        manifests_fini(&p->cues[i].manifests);
    }
    arena_free(p->a);
    free(p);
}

uint32_t play_n_missed(const struct play *p)
{
    return p->n_missed;
}

const char *play_first_missed(const struct play *p)
{
    return p->first_missed.msg;
}
