/* pack - places pods into bins, one after the other, in Karpenter's order. Internal to plan/. */
#pragma once

#include "plan/seek.h"
#include "plan/topology.h"

#define MAX_TYPES 600 /* names in one NodeClaim (scheduling 12.4) */

/* CSI volumes on a node that has limits. */
struct csi_use {
    str driver;
    const struct pvc *claim;
};

struct csi_node {
    const struct csi_limit **limits;
    uint32_t n_limits;
    bool over; /* the pods that run there have more volumes than a limit allows */
    VEC(struct csi_use) used;
};

struct bin {
    uint32_t rs, host, taint_set;
    uint32_t node;           /* index into snapshot.nodes; NONE: a claim */
    uint32_t tmpl;           /* of a claim */
    int64_t *vec;            /* [n_dims]; node: room that is left, claim: what its pods ask for */
    const int64_t *daemons;  /* [n_dims]; node: what daemons ask for there, whether they run already or not */
    uint64_t *rows;          /* claim: instance types that are left */
    uint32_t first, last, n; /* pods placed here, linked by packer.next */
    VEC(struct host_port) ports;
    uint64_t *held;            /* claim: reservations; NULL without */
    struct csi_node *csi;      /* node: NULL without limits */
    bool relaxed;              /* claim: minValues were lowered */
    uint32_t slot;             /* in its index */
    int64_t no_cpu, no_memory; /* claim: a pod of this size found no type, so none larger will; INT64_MAX: unknown */
    bool settling;             /* node: inside the consolidateAfter window of its pool */
    uint32_t saved_in;         /* node: the last open question that changed it; 0: none, it is as compiled */
};

/* Memory of the n-th claim, used again by the next question's. */
struct claim_memory {
    int64_t *vec;
    uint64_t *rows, *held, *refused;
};

/* What a question has changed, to be undone (undo.c). */
struct saved_bin {
    uint32_t bin, first, last, n, rs, n_ports, n_csi, saved_in;
    struct seek_bin seek;
};

struct saved_tmpl {
    uint32_t tmpl, saved_in;
};

struct undo {
    uint32_t question; /* the open one; counts up. 0: nothing is asked, nothing is written down */
    VEC(struct saved_bin) bins;
    VEC(struct saved_tmpl) tmpls;
    VEC(int64_t) vecs;         /* [n_dims] for each of `bins` */
    VEC(int64_t) remaining;    /* [n_dims] for each of `tmpls` */
    VEC(int32_t) reservations; /* all of them, once a question */
};

/* Where the lists above were when a question began, and what else grows. */
struct undo_mark {
    uint32_t bins, tmpls, reservations, counts, claims, hosts, spare_host;
};

/* Why a bin turned a pod away decides for how long that is true. */
enum verdict {
    FITS,
    REFUSED,        /* at the moment: domains, reservations and the like may change */
    REFUSED_CLASS,  /* no pod of its class will ever fit while the bin's requirements stay as they are */
    REFUSED_SIZE,   /* no pod of this size or larger will ever fit */
    NO_RESERVATION, /* waits for a reservation */
};

/* What placing a pod would make of a bin; in the packer's scratch memory until the next question. */
struct fit {
    uint32_t rs;
    uint64_t *rows;
    uint64_t *held;
    bool relaxed;
};

/* What types cost when these offering classes may be used. Requirement sets that allow the same classes share it. */
struct price_book {
    const uint64_t *classes;
    uint32_t *order; /* types that can be had, cheapest first, ties in catalogue order */
    uint32_t n;
    double *price; /* [types]: of the cheapest offering; INFINITY: none is available */
    double *worst; /* [types]: what a launch might have to pay: the dearest of the capacity type that it prefers */
    uint64_t *cts; /* [types][words of the capacity type key] */
};

struct price_books {
    VEC(struct price_book) v;
    struct strmap of_classes;
    struct u64map of_rs;
};

struct packer {
    struct problem p;
    struct topology topo;
    VEC(struct bin) bins; /* existing nodes first, in order; then claims in order of creation */
    uint32_t n_node_bins;
    uint32_t spare_host; /* of the claim that is opened next */
    struct seek_bins seek;
    struct seek_index nodes;       /* existing nodes in order */
    VEC(struct seek_index) claims; /* claims[n]: those with n pods */
    VEC(uint64_t) sizes;           /* bit n: claims[n] is not empty */
    struct strmap classes;         /* seek classes by content */
    uint32_t *class_refused;       /* [classes]: how many bins turn the class away for good */
    uint32_t *class_hopeless;      /* [classes]: how many templates do */
    uint64_t *class_tmpls;         /* [classes]: templates whose claims might take it, as in seek.tmpls; 0: not known */
    uint32_t n_usable;             /* templates */
    uint32_t node_changes;         /* how often an existing node got new requirements */
    /* From here on a pod is known by its turn: its place in the queue at the start. What is kept by turn is walked through
     * in order, and a million pods stay cheap. */
    uint32_t *pod_of;      /* [p.n_pods]: turn -> index into snapshot.pods */
    uint32_t *shape_of;    /* [p.n_pods] */
    uint32_t *next;        /* [p.n_pods]: the turn after this one in its bin */
    uint64_t *late;        /* bit set over turns: given to a pod that came later, which has another place in the queue
                            * than the number says; NULL: none */
    const uint32_t *round; /* turns that take part, in order; NULL: the first n_round */
    uint32_t n_round;
    uint32_t *queue; /* ring of turns without a place */
    uint32_t queue_head, queue_len, queue_cap;
    uint32_t *last_len; /* [p.n_pods] */
    bool *placed;       /* [p.n_pods] */
    uint64_t epoch;     /* grows with every placement */
    struct price_books books;
    struct fit fit;
    int64_t *need;     /* scratch [2 * n_dims]: what is asked of a type, and the same with daemons */
    uint64_t *scratch; /* [row_words] */
    bool any_ports;
    uint32_t stop_at;        /* as many bins end the run: whoever asks has seen enough; NONE: never */
    bool settled_only;       /* nodes that are settling take no pods that run now */
    const uint64_t *running; /* bit set over turns: pods that run now, on nodes that stay unless asked about */
    struct undo undo;
    VEC(struct claim_memory) claim_memory;
    bool notes_exclusions; /* what limits left out is written down */
    VEC(struct plan_exclusion) exclusions;
    bool fallback; /* without a reservation a claim does without: simulations of disruption (scheduling 18) */
};

/* As problem_init(). */
void packer_init(struct packer *k, struct arena *a, const struct snapshot *s, struct frame *f, const uint32_t *pods,
                 uint32_t n);
void packer_fini(struct packer *k);
void packer_run(struct packer *k);

/* queue.c */
void turns_build(struct packer *k);                                    /* every pod of the problem gets its turn */
void queue_start(struct packer *k, const uint32_t *turns, uint32_t n); /* see packer.round */
bool queue_pop(struct packer *k, uint32_t *ret_pod);
void queue_push(struct packer *k, uint32_t pod);
/* Takes the next pod off the queue if it would go where `turn` went, and has not been tried before. */
bool queue_next_like(struct packer *k, uint32_t turn, uint32_t *ret_pod);

bool late_turn_before(const struct packer *k, uint32_t a, uint32_t b);

/* In the queue. */
static inline bool turn_before(const struct packer *k, uint32_t a, uint32_t b)
{
    if (!k->late || (!bit_test(k->late, a) && !bit_test(k->late, b)))
        return a < b;
    return late_turn_before(k, a, b);
}

/* The i-th turn of the round. */
static inline uint32_t round_turn(const struct packer *k, uint32_t i)
{
    return k->round ? k->round[i] : i;
}

static inline const struct pod *packer_pod(const struct packer *k, uint32_t turn)
{
    return &k->p.snap->pods[k->pod_of[turn]];
}

/* The pod is one that nodes which are settling do not take. */
static inline bool needs_settled(const struct packer *k, uint32_t turn)
{
    return k->settled_only && bit_test(k->running, turn);
}

/* place.c */
enum verdict place(struct packer *k, uint32_t variant, uint32_t pod, uint32_t *ret_bin);
/* Puts equal pods that follow in the queue into the bin that has just taken one, as far as they would go there one by
 * one. */
void place_more(struct packer *k, uint32_t bin, uint32_t variant);
void place_init(struct packer *k);
/* The first slot of a settled node that may have room for pods of the shape, whatever domains are open; slots.n: there
 * is none. Asked between questions: a node that is too full or wrong stays so while questions are kept, so the search
 * goes on where it last ended, and every question's searches begin there. next_room(): not before `from`. */
uint32_t find_room(struct packer *k, uint32_t shape);
uint32_t next_room(struct packer *k, uint32_t shape, uint32_t from);

/* seek_class.c */
void classes_init(struct packer *k);
void variant_classify(struct packer *k, uint32_t variant); /* its class, once its topology groups are known */
/* What to ask the index for: values of a key, and templates (see struct seek). */
uint64_t wanted_mask(struct packer *k, uint32_t variant, uint32_t key);
uint64_t wanted_tmpls(struct packer *k, uint32_t variant);
bool claims_may_take(struct packer *k, const struct tmpl *t, const struct variant *v); /* claims of the template */
/* What the index is told of a bin: all, for a new one; its room; what its requirements allow, when they have changed;
 * that it turns a class away for good; that no type left to the claim has room for a pod of the shape. */
void bin_describe(struct packer *k, uint32_t bin);
void bin_room(struct packer *k, uint32_t bin);
void node_room(struct packer *k, uint32_t bin); /* of an existing node as it is before any question */
void bin_masks(struct packer *k, uint32_t bin);
void bin_refuses(struct packer *k, uint32_t bin, uint32_t cls);
void claim_too_small(struct packer *k, uint32_t bin, const struct shape *sh);

/* bins.c */
void bins_build(struct packer *k);
void node_measure(struct packer *k, struct bin *b); /* room, ports and volumes of a node, from the pods on it */
bool room_fits(const struct packer *k, const int64_t *room, const int64_t *want);
bool ports_clash(const struct packer *k, const struct host_port *a, uint32_t n_a, const struct host_port *b,
                 uint32_t n_b);
/* Each asks about one more pod of the variant; on FITS packer.fit says what would become of the bin. */
enum verdict node_fits(struct packer *k, const struct bin *b, uint32_t variant, uint32_t pod);
enum verdict bin_fits(struct packer *k, const struct bin *b, uint32_t variant,
                      enum compat mode); /* the part for good */
/* Keeps in fit.rows the types of `from` that meet fit.rs and have room for packer.need next to their daemons. */
bool filter_rows(struct packer *k, const struct tmpl *t, const uint64_t *from, const struct shape *sh);
/* `b` NULL: a new claim of the template. */
enum verdict claim_fits(struct packer *k, const struct bin *b, uint32_t tmpl, uint32_t variant);
void csi_use(struct packer *k, struct csi_node *c, const struct pod *pod);
void limits_return(struct packer *k, uint32_t node);           /* a node is taken away: its pool may have another */
const uint64_t *limits_rows(struct packer *k, struct tmpl *t); /* types that the pool's limits still allow */
void limits_charge(struct packer *k, uint32_t tmpl, const uint64_t *rows); /* a claim with these types is opened */

/* undo.c */
struct undo_mark undo_begin(struct packer *k);
void undo_end(struct packer *k, const struct undo_mark *m, bool kept); /* as it was; kept: others were asked since */
void undo_save_bin(struct packer *k, uint32_t bin);                    /* before an existing node is changed */
void undo_save_limits(struct packer *k, uint32_t tmpl);                /* before what is left of them is changed */
void undo_fini(struct undo *u);
void claims_forget(struct packer *k); /* no claim takes any more pods */
uint64_t *refused_memory(struct packer *k, uint32_t bin);

/* price.c */
const struct price_book *price_book_of(struct packer *k, uint32_t rs);    /* until the next is made */
void price_sort(const struct price_book *k, uint32_t *types, uint32_t n); /* cheapest first */
void price_books_fini(struct price_books *b);

/* finish.c */
void packer_finish(struct packer *k, struct plan *out, struct arena *a);
uint32_t claim_rs(struct packer *k, const struct bin *b); /* its requirements in the end */
bool claim_types(struct packer *k, uint32_t rs, const uint64_t *rows, struct arena *a, uint32_t **ret, uint32_t *ret_n);
bool types_meet_min_values(struct problem *p, uint32_t rs, const uint32_t *types, uint32_t n, uint32_t *ret_lowered);
/* The claim as it would be written if these requirements and types were left to it. */
void packer_claim(struct packer *k, const struct bin *b, uint32_t rs, const uint32_t *types, uint32_t n,
                  struct plan_claim *ret, struct arena *a);

/* explain.c */
void explain_failures(struct packer *k, struct plan *out, struct arena *a);

/* zones.c: before packer_run() */
void zones_count(struct packer *k, struct plan *out, struct arena *a);
str explain_turn(struct packer *k, uint32_t turn, struct arena *a); /* of one pod of the round, in Karpenter's words */
/* Of requirements whose minValues could be met only as far as `lowered` says. */
str explain_missed_values(struct packer *k, uint32_t rs, uint32_t lowered, struct arena *a);
