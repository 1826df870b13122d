/* report - what came of a simulation, for people, programs and managers. The same simulations give the same bytes: no clock, no speed. */
#pragma once

#include "base/sb.h"
#include "cli/simulate/tally.h"

struct text_style;

struct outcome { /* of one configuration */
    const char *name;
    const struct tally *t;
};

struct report {
    const struct outcome *v; /* the first is what the others are compared with */
    uint32_t n;
    const char *title;
    const char *origin; /* of the prices */
    uint64_t seed;
    int64_t start_ms;
    double wanted_s; /* less was simulated when somebody stopped it */
    struct arena *arena;
};

void report_text(struct sb *out, const struct text_style *st, const struct report *r);
void report_json(struct sb *out, const struct report *r);
void report_html(struct sb *out, const struct report *r);

/* ---- shared: the figures, in order ---- */

enum figure_unit { UNIT_USD, UNIT_SECONDS, UNIT_COUNT, UNIT_MEAN, UNIT_SHARE };

struct figure {
    const char *key;   /* in JSON */
    const char *title; /* for people */
    const char *group;
    enum figure_unit unit;
    int better;                          /* -1: less is better, +1: more, 0: neither */
    double (*of)(const struct tally *t); /* NAN: nobody knows */
};

const struct figure *figures(uint32_t *ret_n);
bool figure_is_known(const struct figure *f, const struct report *r); /* of any configuration */
str figure_print(struct arena *a, enum figure_unit unit, double v);
/* "-12.3%", "+4"; empty when there is nothing to say. */
str figure_change(struct arena *a, enum figure_unit unit, double from, double to);
str span_text(struct arena *a, double seconds); /* "30 days", "2 h 30 min", "45 s" */
double slot_mean(double integral, const struct tally_slot *s);
