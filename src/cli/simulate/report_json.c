/* The report for programs; docs/simulate.md is the contract. */
#include "cli/simulate/report.h"

#include <math.h>

#include "data/json.h"
#include "model/duration.h"

static void put_figures(struct jw *w, const struct tally *t, const struct tally *than)
{
    uint32_t n;
    const struct figure *f = figures(&n);

    for (uint32_t i = 0; i < n; i++) {
        bool first = i == 0 || strcmp(f[i].group, f[i - 1].group) != 0;
        bool last = i + 1 == n || strcmp(f[i].group, f[i + 1].group) != 0;

        if (first) {
            jw_key(w, f[i].group);
            jw_map(w);
        }
        double v = f[i].of(t) - (than ? f[i].of(than) : 0);
        if (!isnan(v)) {
            jw_key(w, f[i].key);
            jw_double(w, v);
        }
        if (last)
            jw_end(w);
    }
}

static void put_pools(struct jw *w, const struct tally *t)
{
    jw_key(w, "nodePools");
    jw_list(w);
    for (uint32_t i = 0; i < t->pools.n; i++) {
        const struct tally_pool *p = &t->pools.v[i];

        jw_map(w);
        jw_key(w, "name");
        jw_str(w, p->name);
        jw_key(w, "cost");
        jw_double(w, p->usd);
        jw_key(w, "meanNodes");
        jw_double(w, t->seconds > 0 ? p->node_s / t->seconds : 0);
        jw_key(w, "maxNodes");
        jw_i64(w, p->nodes_max);
        jw_key(w, "launched");
        jw_i64(w, p->launched);
        jw_key(w, "removed");
        jw_i64(w, p->removed);
        jw_end(w);
    }
    jw_end(w);
}

static void put_machines(struct jw *w, const struct tally *t)
{
    jw_key(w, "machines");
    jw_list(w);
    for (uint32_t i = 0; i < t->spends.n; i++) {
        const struct tally_spend *s = &t->spends.v[i];

        jw_map(w);
        jw_key(w, "instanceType");
        jw_str(w, s->type);
        jw_key(w, "capacityType");
        jw_str(w, s->capacity);
        jw_key(w, "launched");
        jw_i64(w, s->launched);
        jw_key(w, "mean");
        jw_double(w, t->seconds > 0 ? s->node_s / t->seconds : 0);
        jw_key(w, "cost");
        jw_double(w, s->usd);
        jw_end(w);
    }
    jw_end(w);
}

static void put_disruptions(struct jw *w, const struct tally *t)
{
    jw_key(w, "disruptions");
    jw_list(w);
    for (uint32_t i = 0; i < t->reasons.n; i++) {
        jw_map(w);
        jw_key(w, "reason");
        jw_str(w, t->reasons.v[i].name);
        jw_key(w, "nodes");
        jw_i64(w, t->reasons.v[i].n);
        jw_end(w);
    }
    jw_end(w);
}

static void put_stuck(struct jw *w, const struct tally *t)
{
    jw_key(w, "neverRan");
    jw_list(w);
    for (uint32_t i = 0; i < t->stuck.n; i++) {
        const struct tally_stuck *s = &t->stuck.v[i];

        jw_map(w);
        jw_key(w, "workload");
        jw_str(w, s->workload);
        jw_key(w, "pods");
        jw_i64(w, s->n);
        jw_key(w, "deleted");
        jw_bool(w, s->gone);
        jw_key(w, "reason");
        jw_str(w, s->why);
        jw_end(w);
    }
    jw_end(w);
}

static void put_series(struct jw *w, const struct tally *t)
{
    jw_key(w, "series");
    jw_list(w);
    for (uint32_t i = 0; i < TALLY_SLOTS && t->slots[i].covered_s > 0; i++) {
        const struct tally_slot *s = &t->slots[i];

        jw_map(w);
        jw_key(w, "seconds");
        jw_double(w, i * t->slot_s);
        jw_key(w, "costPerHour");
        jw_double(w, slot_mean(s->usd, s) * 3600);
        jw_key(w, "nodes");
        jw_double(w, slot_mean(s->node_s, s));
        jw_key(w, "podsRunning");
        jw_double(w, slot_mean(s->running_s, s));
        jw_key(w, "podsWaiting");
        jw_double(w, slot_mean(s->waiting_s, s));
        jw_key(w, "cpu");
        jw_double(w, s->cpu_s > 0 ? s->cpu_used_s / s->cpu_s : 0);
        jw_key(w, "memory");
        jw_double(w, s->memory_s > 0 ? s->memory_used_s / s->memory_s : 0);
        jw_key(w, "launched");
        jw_i64(w, s->launched);
        jw_key(w, "removed");
        jw_i64(w, s->removed);
        jw_key(w, "evicted");
        jw_i64(w, s->evicted);
        jw_end(w);
    }
    jw_end(w);
}

static void put_outcome(struct jw *w, const struct report *r, uint32_t i)
{
    const struct tally *t = r->v[i].t;

    jw_map(w);
    jw_key(w, "name");
    jw_c(w, r->v[i].name);
    jw_key(w, "seconds");
    jw_double(w, t->seconds);
    put_figures(w, t, NULL);
    put_pools(w, t);
    put_machines(w, t);
    put_disruptions(w, t);
    put_stuck(w, t);
    if (i > 0) {
        jw_key(w, "difference");
        jw_map(w);
        put_figures(w, t, r->v[0].t);
        jw_end(w);
    }
    put_series(w, t);
    jw_end(w);
}

void report_json(struct sb *out, const struct report *r)
{
    struct jw w = {.out = out, .indent = 2};
    struct sb start = {0};

    time_print_rfc3339(&start, r->start_ms);
    jw_map(&w);
    jw_key(&w, "apiVersion");
    jw_c(&w, "simulate.karpenter.sh/v1");
    jw_key(&w, "start");
    jw_str(&w, sb_view(&start));
    jw_key(&w, "seconds");
    jw_double(&w, r->wanted_s);
    jw_key(&w, "complete");
    jw_bool(&w, r->v[r->n - 1].t->seconds + 1 >= r->wanted_s);
    jw_key(&w, "seed");
    jw_i64(&w, (int64_t)r->seed);
    jw_key(&w, "prices");
    jw_c(&w, r->origin);
    jw_key(&w, "configurations");
    jw_list(&w);
    for (uint32_t i = 0; i < r->n; i++)
        put_outcome(&w, r, i);
    jw_end(&w);
    jw_end(&w);
    sb_char(out, '\n');
    sb_fini(&start);
}
