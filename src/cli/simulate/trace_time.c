/* When things of a trace happen. */
#include <math.h>

#include "cli/simulate/trace.h"
#include "model/duration.h"

#define HOUR_US (3600 * INT64_C(1000000))
#define DAY_US (24 * HOUR_US)
#define MAX_DAYS 36500

bool trace_duration(str s, int64_t *ret_us)
{
    static const struct {
        char unit;
        int64_t days;
    } units[] = {{'w', 7}, {'d', 1}};
    int64_t days = 0, ns = 0, n;
    bool any = false;
    str head, tail;
    struct err e;

    for (size_t i = 0; i < ARRAY_LEN(units); i++) {
        if (!str_cut(s, units[i].unit, &head, &tail))
            continue;
        if (head.n == 0 || head.p[0] == '+' || head.p[0] == '-' || !str_to_i64(head, &n) || n > MAX_DAYS)
            return false;
        days += n * units[i].days;
        s = tail;
        any = true;
    }
    if ((s.n || !any) && (!duration_parse(s, &ns, &e) || ns < 0))
        return false;
    *ret_us = sat_add(days * DAY_US, ns / 1000);
    return days <= MAX_DAYS && *ret_us <= MAX_DAYS * DAY_US;
}

static int64_t since_midnight_us(const struct trace *t, int64_t us)
{
    int64_t day_ms = DAY_US / 1000, of_day = t->start_ms % day_ms;

    return ((of_day < 0 ? of_day + day_ms : of_day) * 1000 + us) % DAY_US;
}

bool trace_next(const struct trace *t, const struct trace_event *v, int64_t after_us, int64_t *ret_us)
{
    int64_t at = INT64_MAX, ms;

    switch (v->when.how) {
    case TRACE_ONCE:
        if (v->what == TRACE_CURVE) /* from then on, again and again */
            at = after_us < v->when.us
                     ? v->when.us
                     : v->when.us + ((after_us - v->when.us) / v->curve.every_us + 1) * v->curve.every_us;
        else if (after_us < v->when.us)
            at = v->when.us;
        break;
    case TRACE_DAILY:
        at = after_us + 1;
        at += (v->when.us - since_midnight_us(t, at) + DAY_US) % DAY_US;
        break;
    case TRACE_CRON: /* whole minutes; a moment before the beginning counts as before it */
        if (cron_next(&v->when.cron, t->start_ms + (after_us < 0 ? -1 : after_us / 1000), &ms))
            at = (ms - t->start_ms) * 1000;
        break;
    }
    if (at == INT64_MAX || at > v->until_us)
        return false;
    *ret_us = at;
    return true;
}

static bool is_weekend(const struct trace *t, int64_t us)
{
    int64_t days = (t->start_ms + us / 1000) / (DAY_US / 1000); /* since Thursday, 1 January 1970 */

    return (days + 4) % 7 == 6 || (days + 4) % 7 == 0;
}

int64_t trace_curve_at(const struct trace *t, const struct trace_curve *c, int64_t us, struct rng *rng)
{
    double from_peak = (double)(since_midnight_us(t, us) - c->peak_us) / (double)DAY_US;
    double v = (double)c->min + (double)(c->max - c->min) * (1 + cos(2 * M_PI * from_peak)) / 2;

    if (is_weekend(t, us))
        v *= c->weekend;
    if (c->jitter > 0)
        v *= 1 + c->jitter * (2 * rng_unit(rng) - 1);
    return (int64_t)MIN(MAX(v + 0.5, 0), TRACE_REPLICAS_MAX);
}

int64_t trace_draw(const struct trace_range *r, struct rng *rng)
{
    return r->from + (r->to > r->from ? (int64_t)(rng_unit(rng) * (double)(r->to - r->from + 1)) : 0);
}
