/* The figures that all reports show. */
#include "cli/simulate/report.h"

#include <math.h>

#include "cli/text.h"

static double usd(const struct tally *t)
{
    return t->usd;
}

static double usd_per_hour(const struct tally *t)
{
    return t->seconds > 0 ? t->usd / t->seconds * 3600 : 0;
}

static double usd_per_month(const struct tally *t)
{
    return usd_per_hour(t) * 730;
}

static double least_usd(const struct tally *t)
{
    return t->has_least ? t->least_usd : NAN;
}

static double above_least(const struct tally *t)
{
    return t->has_least && t->least_usd > 0 ? t->usd / t->least_usd - 1 : NAN;
}

static double wait_50(const struct tally *t)
{
    return tally_wait_s(t, 0.5);
}

static double wait_90(const struct tally *t)
{
    return tally_wait_s(t, 0.9);
}

static double wait_99(const struct tally *t)
{
    return tally_wait_s(t, 0.99);
}

static double wait_max(const struct tally *t)
{
    return tally_wait_s(t, 1);
}

double slot_mean(double integral, const struct tally_slot *s)
{
    return s->covered_s > 0 ? integral / s->covered_s : 0;
}

static double pods(const struct tally *t)
{
    return t->n_pods;
}

static double stuck(const struct tally *t)
{
    return t->n_stuck;
}

static double nodes_min(const struct tally *t)
{
    return t->nodes_min;
}

static double nodes_mean(const struct tally *t)
{
    return slot_mean(t->total.node_s, &t->total);
}

static double nodes_max(const struct tally *t)
{
    return t->total.nodes_max;
}

static double launched(const struct tally *t)
{
    return t->total.launched;
}

static double removed(const struct tally *t)
{
    return t->total.removed;
}

static double evicted(const struct tally *t)
{
    return t->total.evicted;
}

static double cpu(const struct tally *t)
{
    return t->total.cpu_s > 0 ? t->total.cpu_used_s / t->total.cpu_s : 0;
}

static double memory(const struct tally *t)
{
    return t->total.memory_s > 0 ? t->total.memory_used_s / t->total.memory_s : 0;
}

static const struct figure table[] = {
    {"total", "cost", "cost", UNIT_USD, -1, usd},
    {"perHour", "an hour", "cost", UNIT_USD, -1, usd_per_hour},
    {"perMonth", "a month of 730 h", "cost", UNIT_USD, -1, usd_per_month},
    {"lowerBound", "nodes for these pods cost at least", "cost", UNIT_USD, 0, least_usd},
    {"aboveLowerBound", "above that", "cost", UNIT_SHARE, -1, above_least},
    {"p50", "half of the pods ran within", "pending", UNIT_SECONDS, -1, wait_50},
    {"p90", "90% within", "pending", UNIT_SECONDS, -1, wait_90},
    {"p99", "99% within", "pending", UNIT_SECONDS, -1, wait_99},
    {"max", "all within", "pending", UNIT_SECONDS, -1, wait_max},
    {"created", "pods created", "pods", UNIT_COUNT, 0, pods},
    {"neverRan", "pods that never ran", "pods", UNIT_COUNT, -1, stuck},
    {"evicted", "pods evicted", "pods", UNIT_COUNT, -1, evicted},
    {"min", "nodes at least", "nodes", UNIT_COUNT, 0, nodes_min},
    {"mean", "on average", "nodes", UNIT_MEAN, 0, nodes_mean},
    {"max", "at most", "nodes", UNIT_COUNT, 0, nodes_max},
    {"launched", "launched", "nodes", UNIT_COUNT, 0, launched},
    {"removed", "removed", "nodes", UNIT_COUNT, 0, removed},
    {"cpu", "CPU requested of what nodes have", "utilization", UNIT_SHARE, 1, cpu},
    {"memory", "memory", "utilization", UNIT_SHARE, 1, memory},
};

const struct figure *figures(uint32_t *ret_n)
{
    *ret_n = ARRAY_LEN(table);
    return table;
}

bool figure_is_known(const struct figure *f, const struct report *r)
{
    for (uint32_t i = 0; i < r->n; i++)
        if (!isnan(f->of(r->v[i].t)))
            return true;
    return false;
}

str span_text(struct arena *a, double seconds)
{
    int64_t s = (int64_t)(seconds + 0.5), d = s / 86400, h = s / 3600 % 24, m = s / 60 % 60;

    if (d && h == 0)
        return arena_printf(a, "%lld %s", (long long)d, d == 1 ? "day" : "days");
    if (d)
        return arena_printf(a, "%lld %s %lld h", (long long)d, d == 1 ? "day" : "days", (long long)h);
    if (h && m == 0)
        return arena_printf(a, "%lld h", (long long)h);
    if (h)
        return arena_printf(a, "%lld h %lld min", (long long)h, (long long)m);
    if (m)
        return arena_printf(a, "%lld min %lld s", (long long)m, (long long)(s % 60));
    return arena_printf(a, "%lld s", (long long)s);
}

static str wait_text(struct arena *a, double s)
{
    if (s < 100)
        return arena_printf(a, "%.1f s", s);
    return span_text(a, s);
}

str figure_print(struct arena *a, enum figure_unit unit, double v)
{
    if (isnan(v))
        return STR("—");
    switch (unit) {
    case UNIT_USD:
        return text_money(a, v, v < 1 ? 4 : 2);
    case UNIT_SECONDS:
        return wait_text(a, v);
    case UNIT_COUNT:
        return text_count(a, (uint64_t)(v + 0.5));
    case UNIT_MEAN:
        return arena_printf(a, "%.1f", v);
    case UNIT_SHARE:
        return arena_printf(a, "%.1f%%", v * 100);
    }
    return (str){0};
}

str figure_change(struct arena *a, enum figure_unit unit, double from, double to)
{
    if (isnan(from) || isnan(to))
        return (str){0};
    if (unit == UNIT_SHARE) {
        double points = (to - from) * 100;

        return fabs(points) < 0.05 ? (str){0} : arena_printf(a, "%+.1f", points);
    }
    if (unit == UNIT_COUNT && fabs(from) < 0.5)
        return fabs(to - from) < 0.5 ? (str){0} : arena_printf(a, "%+.0f", to - from);
    if (fabs(from) < 1e-12)
        return (str){0};
    double share = (to - from) / from * 100;
    if (share >= 900)
        return arena_printf(a, "×%.0f", to / from);
    return fabs(share) < 0.05 ? (str){0} : arena_printf(a, fabs(share) < 100 ? "%+.1f%%" : "%+.0f%%", share);
}
