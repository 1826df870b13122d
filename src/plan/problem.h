/* problem - a snapshot compiled for planning. Internal to plan/.
 *
 * Everything is a number: label keys and values (reqspace), resources (dims), instance types (rows), pods (shapes).
 *
 *   row    an instance type with one allocatable; a type has a second row only when some of its offerings override
 *          capacity or overhead. A set of rows is a bit set of problem.row_words words.
 *   shape  pods that scheduling cannot tell apart.
 *   variant  a shape after some relaxation steps; shape.variant is the pod as written.
 *   class  (label class) pods that no label selector can tell apart: namespace and the labels selectors mention.
 *   bin    a place for pods: an existing node or a NodeClaim of this plan.
 */
#pragma once

#include "base/bits.h"
#include "base/sb.h"
#include "base/vec.h"
#include "model/req.h"
#include "plan/plan.h"

/* Sets of rows remembered by number; NULL: not computed yet. */
struct row_memo {
    uint64_t **v;
    uint32_t n, cap;
};

enum { DIM_CPU, DIM_MEMORY, DIM_PODS, DIM_FIXED };

#define NONE UINT32_MAX

struct row {
    uint32_t type;
    int64_t *alloc; /* [n_dims] */
    bool usable;    /* nothing negative */
};

/* An offering of a row. Offerings with equal requirements share `cls`. */
struct row_offering {
    uint32_t row, cls;
    double price;
    bool available;
    uint32_t reservation; /* NONE unless reserved */
};

struct offering_class {
    uint32_t rs;
    bool reserved;
    uint64_t *rows; /* with an available offering of this class */
};

struct reservation {
    sym id;
    int32_t left;
};

/* For one resource: `sorted` distinct values of rows, ascending, and for each the rows that have at least it. */
struct fit_table {
    int64_t *sorted;
    uint64_t *at_least; /* [n][row_words] */
    uint32_t n;
};

struct daemon_group {
    uint64_t *rows;
    int64_t *overhead;       /* [n_dims] */
    struct reslist requests; /* the same as a list, for printing; empty without daemons */
    const struct host_port *ports;
    uint32_t n_ports;
};

struct tmpl {
    uint32_t pool;
    uint32_t rs;    /* with HOST In [other] */
    uint64_t *rows; /* types that meet the pool's own requirements */
    bool usable;    /* some type is left */
    bool min_values_failed;
    uint32_t taint_set;
    struct daemon_group *groups;
    uint32_t n_groups;
    int64_t *remaining; /* [n_dims]: limits − capacity in use; only where limited */
    uint64_t *limited;  /* bit set over dims */
    bool has_limits, nodes_exhausted;
    uint32_t saved_in; /* the last question that changed `remaining` */
    uint64_t *within;  /* rows that `remaining` still allows; computed when asked for */
    bool within_valid;
    int64_t most[DIM_FIXED]; /* upper bound of what any type of it gives to pods */
    uint64_t *refused;       /* seek classes that never fit */
};

struct taint_set {
    struct taints taints;
};

/* A DaemonSet's representative pod. `first_required` only moves forward (quirk, scheduling 16.2). */
struct daemon {
    const struct podspec *spec;
    const struct req_term *required;
    uint32_t n_required, first_required;
    uint32_t base_rs; /* node selector */
    uint32_t tol_set, tol_set_prefer;
    int64_t *requests; /* with one pod */
};

struct bound_pod {
    uint32_t pod, node;
};

struct lclass {
    sym ns;
    lset_id labels;              /* of one member: all agree on what selectors mention */
    VEC(uint32_t) selected;      /* forward topology groups that select it */
    VEC(uint32_t) inverse;       /* inverse groups that select it */
    VEC(struct bound_pod) bound; /* for counting */
};

struct vol_alts { /* requirement sets of which one must hold */
    const uint32_t *rs;
    uint32_t n;
};

struct owned_group {
    uint32_t group;
    bool self; /* the group's selector selects the pod itself */
};

struct variant {
    uint32_t shape, next; /* next: one step more relaxed; NONE: not known yet or no more */
    bool last;            /* nothing left to relax */
    /* What is left of the pod's wishes. */
    uint32_t first_required;
    uint32_t *preferred, n_preferred;    /* indexes, heaviest first */
    uint32_t *aff, n_aff, *anti, n_anti; /* preferred pod (anti-)affinity, heaviest first */
    uint32_t *spreads, n_spreads;
    struct tolerations tolerations;
    /* Compiled. */
    uint32_t full, strict; /* requirement sets */
    bool topology_ready;
    uint32_t live_in; /* the round in which its groups were last told to count */
    uint32_t cls;     /* seek class; NONE: not known yet, or it has none */
    bool cls_known;
    bool has_host_rules;            /* some constraint is about hosts */
    bool bare;                      /* takes no part in topology: see shape.bare */
    VEC(struct owned_group) groups; /* forward topology groups it owns */
    uint32_t tol_set;               /* number of the toleration list */
};

struct shape {
    const struct podspec *spec;
    uint32_t lclass;
    uint32_t vols;          /* index into vol_alts; NONE without volume requirements */
    int64_t *requests;      /* [n_dims], with one pod */
    uint32_t *request_dims; /* [spec->requests.n]: which dimension each is */
    uint32_t variant;       /* the first */
    /* quirk: a pod whose volumes cannot be looked up is planned without them and, at the first try, without its
     * topology constraints too (scheduling 9.1). NONE: the usual case. */
    uint32_t bare;
    uint32_t *inverse_owned, n_inverse_owned; /* inverse groups that count where its pods are */
    uint32_t size_rank;                       /* place in the queue order by cpu and memory */
    uint64_t failed_at[2];                    /* epoch at which it last had no place; [1]: on nodes that are settled */
    bool deferred;                            /* the failure was for want of a reservation */
    uint32_t cursor;                          /* existing nodes before this one will never take it … */
    uint32_t cursor_at;                       /* … as of this count of changes to nodes */
    bool has_csi;                             /* its pods may have volumes that count against CSI limits */
    bool fickle;                              /* a node that refuses it may take it later */
    uint32_t room_from;                       /* settled nodes before this slot never take it: see find_room() */
};

/* Pods in a row that do not differ in anything but name and age. */
struct pod_run {
    uint32_t first, n; /* of problem.pods */
    uint32_t spec;     /* index into problem.specs */
};

struct lset_requirements { /* of a set of labels */
    uint32_t rs;
    bool known;
};

struct problem {
    struct arena *arena;   /* of the pass */
    struct arena *lasting; /* of what a frame keeps, down to rs_rows; the same where there is none */
    struct frame *frame;   /* that these tables belong to; NULL: none */
    struct arena *scratch; /* for lists that die with the function that made them */
    const struct snapshot *snap;
    const uint32_t *pods; /* that may have to be placed: indexes into snap->pods */
    uint32_t n_pods;
    struct reqspace space;
    uint32_t host_key, zone_key, ct_key;

    sym *dims; /* fixed ones, those of types, then all others by name */
    uint32_t n_dims;
    VEC(sym) dim_words; /* to be among them, whoever else mentions them */
    struct u64map dim_of_sym;

    VEC(struct row) rows;
    uint32_t row_words;
    uint32_t *type_rs;                  /* [catalog.n] */
    uint32_t *first_row;                /* [catalog.n + 1] */
    VEC(struct row_offering) offerings; /* by row */
    uint32_t *row_offering;             /* [rows.n + 1]: first offering of a row */
    VEC(struct offering_class) off_classes;
    VEC(struct reservation) reservations;
    struct fit_table *fits;   /* [n_dims], over alloc */
    int64_t *type_capacity;   /* [catalog.n][n_dims] */
    struct row_memo req_rows; /* by requirement: rows whose type does not rule it out */
    struct row_memo rs_rows;  /* by requirement set: the same and with an available offering */
    VEC(uint32_t) node_order; /* indexes into snap->nodes as bins had them last time; some may be others by now */
    VEC(struct lset_requirements) lset_rs; /* by number of the label set: see problem_lset_rs() */

    struct tmpl *tmpls; /* in order of preference */
    uint32_t n_tmpls;
    bool tolerate_prefer; /* some pool has a PreferNoSchedule taint */
    VEC(struct taint_set) taint_sets;
    VEC(struct tolerations) tol_sets;
    struct strmap taint_set_ix, tol_set_ix; /* by content */
    struct u64map tolerated;                /* (tol set, taint set) -> 0 or 1 */

    VEC(struct lclass) classes;
    VEC(struct shape) shapes;
    VEC(struct variant) variants;
    VEC(struct vol_alts) vols;
    uint32_t *shape_of;                /* [n_pods] */
    VEC(const struct podspec *) specs; /* different ones of these pods, volumes aside */
    struct u64map spec_ix;             /* podspec pointer -> its index */
    VEC(struct pod_run) runs;
    VEC(const struct podspec *) defaulted; /* with the scheduler's default constraints */
    struct strmap defaulted_ix;
    uint64_t *selector_keys; /* bit set over symbols: label keys that some selector mentions */
    uint32_t n_syms;         /* as many had a number when it was made */
    uint32_t *projected;     /* [lsets]: number of what is left of a label set when only those keys count */
    uint32_t n_projected_cap;
    struct strmap projections;
    struct u64map class_ix, shape_ix[2];
    struct u64map shape_quick; /* (spec, label set) -> the shape of the last such pod without volumes */
    struct strmap pvc_ix, pv_ix, sc_ix, vols_ix;

    /* daemons.c */
    struct daemon *daemons;
    bool daemons_tolerate_prefer;
    struct u64map daemon_memo; /* (label set of a node, taint set) -> index of daemon_sums */
    VEC(int64_t *) daemon_sums;
};

/* A number as part of a key that is made of bytes. */
static inline void key_u32(struct sb *b, uint32_t v)
{
    sb_bytes(b, &v, sizeof(v));
}

/* compile.c */
/* `pods`: see struct problem. `f`: NULL, or where tables are that may do, and are left for the next one. */
void problem_init(struct problem *p, struct arena *a, const struct snapshot *s, struct frame *f, const uint32_t *pods,
                  uint32_t n);
void problem_fini(struct problem *p);
uint32_t problem_dim(const struct problem *p, sym name); /* NONE when no pod, type or limit has it */
void problem_mention_dim(struct problem *p, sym name);   /* before the tables are made */
int64_t *problem_vector(struct problem *p, const struct reslist *l);
int64_t *problem_vector_in(const struct problem *p, struct arena *a, const struct reslist *l);
uint32_t problem_lset_rs(struct problem *p, lset_id labels);            /* rs_of_labels() of a node's */
uint32_t problem_pool_rs(struct problem *p, const struct nodepool *np); /* requirements and labels of its template */
uint32_t problem_taint_set(struct problem *p, const struct taints *t);
uint32_t problem_tol_set(struct problem *p, const struct tolerations *t);
bool problem_tolerates(struct problem *p, uint32_t tol_set, uint32_t taint_set);

void limits_refresh(const struct problem *p, struct tmpl *t); /* after `remaining` has changed */

/* frame.c */
bool frame_lend(struct frame *f, struct problem *p);  /* p->snap is set; false: there is nothing that might do */
void frame_return(struct problem *p);                 /* p->frame is set */
void frame_begin(struct frame *f, struct problem *p); /* begins tables with a new space */
void frame_end(struct problem *p);                    /* they are made */
void tables_fini(struct problem *p);
/* Memory of a pass; `f` may be NULL. */
struct arena *frame_arena(struct frame *f);
void frame_return_arena(struct frame *f, struct arena *a);

/* shapes.c */
void shapes_announce(struct problem *p); /* labels and values that pods and volumes mention */
void shapes_build(struct problem *p);
uint32_t lclass_of_pod(struct problem *p, const struct pod *pod);
/* Of a pod that was not there when the snapshot was compiled; NONE: it is like none that was. */
uint32_t lclass_find(struct problem *p, const struct pod *pod);
uint32_t shape_find(struct problem *p, const struct pod *pod);

/* defaults.c: the spec with the scheduler's default spread constraints, or the spec itself */
const struct podspec *defaults_apply(struct problem *p, const struct pod *pod, const struct podspec *spec);

/* relax.c */
uint32_t variant_first(struct problem *p, uint32_t shape);
uint32_t variant_bare(struct problem *p, uint32_t shape);   /* the first without topology */
uint32_t variant_next(struct problem *p, uint32_t variant); /* NONE when there is nothing left to give up */
/* The list, and a toleration of every PreferNoSchedule taint. */
struct tolerations tolerations_with_prefer(struct problem *p, const struct tolerations *t);

/* rows.c: which instance types are left */
void rows_build(struct problem *p);
const uint64_t *rows_of_req(struct problem *p, uint32_t req); /* types whose requirements meet it */
const uint64_t *rows_of_rs(struct problem *p, uint32_t rs);   /* … all of them, with an available offering */
const uint64_t *rows_with_offering(struct problem *p, uint32_t rs, uint64_t *scratch);
void rows_fit(const struct problem *p, uint64_t *rows, const int64_t *need); /* keeps those with room */
/* minValues of `rs` on the types of `rows`: true when met; else the set with lowered minValues in *ret_relaxed. */
bool rows_min_values(struct problem *p, const uint64_t *rows, uint32_t rs, uint32_t *ret_relaxed);

/* daemons.c */
void daemons_build(struct problem *p); /* groups of every template */
int64_t *daemons_on_node(struct problem *p, uint32_t label_rs, uint32_t taint_set);

/* volumes.c */
void volumes_announce(struct problem *p, const struct pod *pod);
/* *ret: index into p->vols, NONE without requirements; false: some volume cannot be looked up. */
bool volumes_of_pod(struct problem *p, const struct pod *pod, uint32_t *ret);
const struct pvc *volume_claim(struct problem *p, const struct pod *pod,
                               const struct pod_volume *v); /* NULL: missing */
str volume_driver(struct problem *p, const struct pvc *c);  /* empty: does not count against CSI limits */
