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
    VEC(struct csi_use) used;
};

struct bin {
    uint32_t rs, host, taint_set;
    uint32_t node;           /* index into snapshot.nodes; NONE: a claim */
    uint32_t tmpl;           /* of a claim */
    int64_t *vec;            /* [n_dims]; node: room that is left, claim: what its pods ask for */
    uint64_t *rows;          /* claim: instance types that are left */
    uint32_t first, last, n; /* pods placed here, linked by packer.next */
    VEC(struct host_port) ports;
    uint64_t *held;            /* claim: reservations; NULL without */
    struct csi_node *csi;      /* node: NULL without limits */
    bool relaxed;              /* claim: minValues were lowered */
    uint32_t slot;             /* in its index */
    int64_t no_cpu, no_memory; /* claim: a pod of this size found no type, so none larger will; INT64_MAX: unknown */
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
    uint32_t *pod_of;   /* [n_pending]: turn -> index into snapshot.pods */
    uint32_t *shape_of; /* [n_pending] */
    uint32_t *next;     /* [n_pending]: the turn after this one in its bin */
    uint32_t *queue;    /* ring of pending pods */
    uint32_t queue_head, queue_len, queue_cap;
    uint32_t *last_len; /* [n_pending] */
    bool *placed;       /* [n_pending] */
    uint64_t epoch;     /* grows with every placement */
    struct fit fit;
    int64_t *need;     /* scratch [2 * n_dims]: what is asked of a type, and the same with daemons */
    uint64_t *scratch; /* [row_words] */
    bool any_ports;
};

void packer_init(struct packer *k, struct arena *a, const struct snapshot *s);
void packer_fini(struct packer *k);
void packer_run(struct packer *k);

/* queue.c */
void queue_build(struct packer *k);
bool queue_pop(struct packer *k, uint32_t *ret_pod);
void queue_push(struct packer *k, uint32_t pod);
/* Takes the next pod off the queue if it is of the shape and has not been tried before. */
bool queue_next_of_shape(struct packer *k, uint32_t shape, uint32_t *ret_pod);

static inline const struct pod *packer_pod(const struct packer *k, uint32_t turn)
{
    return &k->p.snap->pods[k->pod_of[turn]];
}

/* place.c */
enum verdict place(struct packer *k, uint32_t variant, uint32_t pod, uint32_t *ret_bin);
/* Puts equal pods that follow in the queue into the bin that has just taken one, as far as they would go there one by
 * one. */
void place_more(struct packer *k, uint32_t bin, uint32_t variant);
void place_init(struct packer *k);

/* seek_class.c */
void classes_init(struct packer *k);
void variant_classify(struct packer *k, uint32_t variant); /* its class, once its topology groups are known */
/* What to ask the index for: values of a key, and templates (see struct seek). */
uint64_t wanted_mask(struct packer *k, uint32_t variant, uint32_t key);
uint64_t wanted_tmpls(struct packer *k, uint32_t variant);
/* What the index is told of a bin: all, for a new one; its room; what its requirements allow, when they have changed;
 * that it turns a class away for good; that no type left to the claim has room for a pod of the shape. */
void bin_describe(struct packer *k, uint32_t bin);
void bin_room(struct packer *k, uint32_t bin);
void bin_masks(struct packer *k, uint32_t bin);
void bin_refuses(struct packer *k, uint32_t bin, uint32_t cls);
void claim_too_small(struct packer *k, uint32_t bin, const struct shape *sh);

/* bins.c */
void bins_build(struct packer *k);
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
const uint64_t *limits_rows(struct packer *k, struct tmpl *t); /* types that the pool's limits still allow */
void limits_charge(struct packer *k, struct tmpl *t, const uint64_t *rows); /* a claim with these types is opened */

/* finish.c */
void packer_finish(struct packer *k, struct plan *out, struct arena *a);

/* explain.c */
void explain_failures(struct packer *k, struct plan *out, struct arena *a);
