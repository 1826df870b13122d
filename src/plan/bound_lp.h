/* bound_lp - the fluid relaxation as a linear program, solved by a revised simplex. Internal to bound.c.
 *
 * One row per (class, resource) with a need. A column is what one dollar buys; columns are made when needed.
 */
#pragma once

#include "plan/bound.h"

#define DIMS_MAX BOUND_DIMS_MAX
#define LEVELS_MAX 128u /* prices per type that are told apart; more are rounded down, which only relaxes */
#define NONE UINT32_MAX
#define NO_LEVEL UINT8_MAX

/* The problem in small numbers. */
struct prob {
    uint32_t n_dims, n_types, n_classes;
    const double *room;   /* [n_types][n_dims], 1 for the largest type in that dimension */
    const double **price; /* [n_classes][n_types], as given */
    double *need;         /* [n_classes][n_dims], same unit as room; 0 where nothing can be earned */
    double *solo;         /* [n_classes][n_dims]: the least a unit costs when only that resource counts */
    uint32_t *solo_type;
    uint16_t *order;     /* [n_types][n_classes]: classes that can use the type, by price */
    uint8_t *level;      /* [n_types][n_classes]: position of the class's price among the type's, or NO_LEVEL */
    uint32_t *level_at;  /* [n_types + 1]: first level of a type in the arrays below */
    double *level_price; /* ascending within a type */
    uint32_t *level_end; /* where the classes of that level end in order[t] */
};

struct col;

struct lp {
    const struct prob *p;
    uint32_t m;        /* rows */
    uint32_t *row_of;  /* [n_classes][n_dims] or NONE */
    double *need;      /* of a row */
    uint32_t ld;       /* m rounded up to whole vectors */
    double *inv;       /* inverse of the basis, by columns of ld */
    double *x;         /* dollars spent on the basic columns */
    double *y;         /* multipliers: what meeting the row's need is worth */
    double *w;         /* scratch: the entering column in terms of the basis */
    uint32_t *touched; /* scratch: where w is not 0 */
    uint32_t stride;   /* n_dims rounded up to whole vectors */
    double *worth;     /* [n_classes][stride]: y per unit of room */
    double *scale;     /* [n_classes] */
    struct col *pool;
    uint32_t n_pool;
    double *best; /* [n_classes][stride]: the best feasible worth so far */
    double best_value;
    uint64_t work, budget;
};

void lp_init(struct arena *a, struct lp *s, const struct prob *p);
/* Work up to s->budget. True when s->best is the optimum of the relaxation, up to a hair; else it is feasible. */
bool lp_solve(struct lp *s);
