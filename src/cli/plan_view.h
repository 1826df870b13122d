/* plan_view - a plan as text: JSON and YAML for programs (the format is a contract), a table for people; and the
 * catalogue behind it. */
#pragma once

#include "base/sb.h"
#include "plan/plan.h"

struct jw;

struct plan_view {
    const struct snapshot *snap;
    const struct plan *plan;
    int64_t solve_micros;
    bool colour;
    unsigned width;              /* of the terminal; 0: no limit */
    bool (*flush)(struct sb *b); /* called now and then so that large plans are not held whole; false: stop */
};

void plan_print_json(struct sb *b, const struct plan_view *v, bool yaml);
void plan_print_table(struct sb *b, const struct plan_view *v);

/* An instance types file with the catalogue's types (docs/catalogues.md). */
void catalog_print_json(struct sb *b, const struct catalog *c, const struct syms *t);

/* A map of quantities by name, as they stand in Kubernetes objects. */
void print_resources(struct jw *w, const struct syms *t, const struct reslist *l);
