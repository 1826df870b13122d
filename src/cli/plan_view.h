/* plan_view - a plan as text: JSON and YAML for programs (the format is a contract), a table for people; and the
 * catalogue behind it. */
#pragma once

#include "base/sb.h"
#include "disrupt/disrupt.h"
#include "plan/plan.h"

struct jw;

struct plan_view {
    const struct snapshot *snap;
    const struct plan *plan;             /* where pods go; or */
    const struct disruption *disruption; /* which nodes go */
    int64_t micros;                      /* that it took */
    bool colour;
    unsigned width;              /* of the terminal; 0: no limit */
    bool (*flush)(struct sb *b); /* called now and then so that large plans are not held whole; false: stop */
};

/* Prints what removals are planned from. */
#define DISRUPT_DUMP "kubectl get nodepools,nodeclaims,nodes,pods,pdb,ds,pvc,pv,sc -A -o yaml"

void plan_print_json(struct sb *b, const struct plan_view *v, bool yaml);
void plan_print_table(struct sb *b, const struct plan_view *v);
void disrupt_print_json(struct sb *b, const struct plan_view *v, bool yaml);
void disrupt_print_table(struct sb *b, const struct plan_view *v);

/* An instance types file with the catalogue's types (docs/catalogues.md). */
void catalog_print_json(struct sb *b, const struct catalog *c, const struct syms *t);

/* --- json_parts.c: what these documents share ----------------------------------------------------------------------- */

void print_pod(struct jw *w, const struct snapshot *s, uint32_t pod);
/* For sort_stable() with the snapshot as context: things that begin with the index of a pod. */
int pods_by_name(const void *a, const void *b, void *ctx);
/* A key "pods" with a sorted list. */
void print_pods(struct jw *w, const struct snapshot *s, const uint32_t *pods, uint32_t n);
/* A map of quantities by name, as they stand in Kubernetes objects. */
void print_resources(struct jw *w, const struct syms *t, const struct reslist *l);
/* A new NodeClaim: what it asks for, and what a launch would pick. */
void print_claim(struct jw *w, const struct snapshot *s, const struct plan_claim *c);
void view_flush(struct jw *w, const struct plan_view *v);
