#include "cli/simulate/run.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "cli/simulate/floor.h"
#include "cli/simulate/play.h"

#define PIECE_US (10 * 60 * INT64_C(1000000)) /* between two looks at whether to go on */

/* About so long: a fifth more or less. */
static struct span about(int64_t ms)
{
    return (struct span){MAX(ms * 4 / 5, 1), MAX(ms * 6 / 5, 1)};
}

static bool apply(struct sandbox *g, const struct manifest *m, struct arena *a, struct run_notes *notes, struct err *e)
{
    str odd;

    if (!sandbox_apply(g, m->obj, /* only_try= */ false, &odd, e))
        return err_wrap(e, "%s:%u", m->file, m->obj->line);
    if (odd.n)
        vec_push(&notes->odd, arena_printf(a, "%s:%u: " STR_FMT, m->file, m->obj->line, STR_ARG(odd)));
    return true;
}

static bool apply_ranks(struct sandbox *g, const struct manifests *m, uint32_t from, uint32_t to, struct arena *a,
                        struct run_notes *notes, struct err *e)
{
    for (uint32_t i = 0; i < m->v.n; i++)
        if (m->v.v[i].rank >= from && m->v.v[i].rank < to && !apply(g, &m->v.v[i], a, notes, e))
            return false;
    return true;
}

static struct sandbox_setup setup_of(const struct run_setup *s)
{
    return (struct sandbox_setup){.seed = s->seed,
                                  .start_ms = s->trace ? s->trace->start_ms : TRACE_START_MS,
                                  .node_ready = about(s->boot_ms),
                                  .pod_start = about(s->start_ms),
                                  .env = s->env,
                                  .settings = s->settings,
                                  .n_settings = s->n_settings,
                                  .on_line = s->on_line,
                                  .ctx = s->line_ctx};
}

bool run_check(const struct run_setup *s, struct arena *a, struct run_notes *notes, struct err *e)
{
    struct sandbox_setup setup = setup_of(s);
    AUTO(sandbox) struct sandbox *g = sandbox_new(&setup, e);

    if (!g || !apply_ranks(g, s->manifests, 0, UINT32_MAX, a, notes, e))
        return false;
    AUTO(play) struct play *p = s->trace ? play_new(g, s->trace, s->seed, e) : NULL;
    return !s->trace || p;
}

/* From the beginning to the end. */
static bool live(struct sandbox *g, const struct run_setup *s, struct floor *f, struct arena *a,
                 struct run_notes *notes, struct err *e)
{
    struct play *p = NULL;
    bool ok = apply_ranks(g, s->manifests, RANK_WORKLOADS, UINT32_MAX, a, notes, e);

    if (ok && s->trace)
        ok = (p = play_new(g, s->trace, s->seed, e)) != NULL;
    while (ok && sandbox_now_us(g) < s->for_us) {
        sim_run_for(g->sim, MIN(PIECE_US, s->for_us - sandbox_now_us(g)));
        ok = floor_piece(f, e);
        if (s->on_progress && !s->on_progress(s->progress_ctx, sandbox_now_us(g)))
            break;
    }
    if (p) {
        notes->n_missed = play_n_missed(p);
        (void)snprintf(notes->first_missed, sizeof(notes->first_missed), "%s", play_first_missed(p));
    }
    play_free(p);
    return ok;
}

static struct floor *floor_of(const struct run_setup *s, struct kube *k, struct err *e)
{
    struct floor_plan *p = floor_plan_new(s->manifests, s->types, s->settings, s->n_settings, e);

    return p ? floor_new(k, p) : NULL;
}

static void note_floor(struct tally *t, const struct floor *f)
{
    double usd = floor_usd(f);

    t->has_least = !isnan(usd);
    t->least_usd = t->has_least ? usd : 0;
}

struct tally *run_simulation(const struct run_setup *s, struct arena *a, struct run_notes *notes, struct err *e)
{
    struct sandbox_setup setup = setup_of(s);
    struct sandbox *g = sandbox_new(&setup, e);
    struct watcher *w = g ? watcher_new(g->kube, (double)s->for_us / 1e6) : NULL;
    struct floor *f = g ? floor_of(s, g->kube, e) : NULL;
    struct tally *t = NULL;

    if (f && apply_ranks(g, s->manifests, 0, RANK_WORKLOADS, a, notes, e) && sandbox_open(g, &setup, e)) {
        watcher_begin(w);
        floor_begin(f);
        if (live(g, s, f, a, notes, e)) {
            t = watcher_close(w);
            note_floor(t, f);
        }
    }
    sandbox_free(g);
    watcher_free(w);
    floor_free(f);
    return t;
}
