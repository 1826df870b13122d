/* store_int - the inside of the store. Inner header of state/.
 *
 * Objects other than pods stand in a table per kind: the number of an object is its place there for as long as it lives.
 * Pods are an array with gaps; a pod's number is its place. Machines (a Node, a NodeClaim, or both) are an array without
 * gaps, beside the array of state nodes that snapshots show; the last one moves where one goes.
 */
#pragma once

#include "base/ixset.h"
#include "base/sb.h"
#include "base/vec.h"
#include "state/build.h"
#include "state/groups.h"
#include "state/store.h"
#include "state/texts.h"

struct reference { /* a text that others are packed against */
    uint32_t users;
    size_t n;
    char text[];
};

struct object {
    /* Name and uid are in the box, or behind the struct, where the packed text is. text.p NULL: it is packed only. */
    struct kept kept;
    str ns;
    str packed;
    struct reference *like; /* NULL: it has no text */
    struct arena *box;
    const void *decoded; /* NULL: cannot be read */
    uint32_t number;     /* in its table */
    uint32_t host;       /* Node, NodeClaim: the machine; MAP_NONE */
    uint32_t dense;      /* in the array of the snapshot; MAP_NONE */
    uint32_t slot;       /* among the unpacked, while its text is there */
    bool seen;           /* since the last list began */
};

struct table {
    enum object_kind kind;
    VEC(struct object *) all; /* NULL where a number is free */
    VEC(uint32_t) spare;
    struct ixset by_name;
    bool listed_anew;       /* the names below are out of date */
    struct reference *like; /* of the texts that come next; NULL: there is none yet */
    struct places *places;  /* of what it says */
    VEC(str) names;         /* in order of number */
    bool changed;           /* so is the array of the snapshot */
    char *dense;            /* that array: what `decoded` points to, side by side */
    uint32_t n_dense;
};

struct host {
    sym id;        /* provider id; of Nodes that have none and are not ours, the name */
    sym node_name; /* SYM_NONE without a Node */
    struct object *node, *claim;
    void *block, *load; /* lists of the state node: what it is; what its pods ask for */
    int64_t nominated_until_ms;
    bool marked;
    bool pending; /* a replacement is being made */
    bool stale;   /* its pods have changed since `load` was made */
    bool counted;
    sym counted_in; /* the pool whose usage has its capacity */
};

struct amount {
    sym name;
    bool binary;
    uint32_t holders; /* machines that have it */
    __int128 v;       /* exact, whatever absurd sizes somebody writes: what was added can be taken away */
};

struct usage {
    sym pool;
    VEC(struct amount) v;
};

struct reservation { /* claims of a pool that somebody is about to make */
    str pool;        /* heap */
    int64_t n;
};

struct maker {       /* of a pool's claims */
    str pool;        /* heap */
    uint64_t plan;   /* that the latest is of */
    uint64_t latest; /* when that began, or was over */
    uint32_t n;      /* under way, all of that plan where the pool has limits */
    int64_t closed_until_us;
};

struct tomb { /* an object that has gone */
    uint64_t id;
    uint64_t version;
};

typedef VEC(str) name_list;

#define MAX_UNPACKED 256u

struct unpacked { /* objects whose text is there in full, a ring; a text lasts for MAX_UNPACKED - 1 further ones */
    struct object *v[MAX_UNPACKED];
    uint32_t next;
};

struct stand_ins { /* the pods of a buffer */
    str buffer;    /* "namespace/name" */
    VEC(uint32_t) pods;
};

struct subscriber {
    store_event_fn fn;
    void *ctx;
};

struct store {
    struct syms *syms;
    struct podspecs *specs;
    struct arena *own; /* lives as long as the store */
    struct nodeclass_ref *classes;
    uint32_t n_classes;
    int64_t nomination_ms;
    VEC(struct subscriber) subscribers;
    struct unpacked *unpacked;
    struct sb packing;
    uint64_t n_changes;
    bool telling; /* subscribers are being told: nobody changes anything */

    struct table tables[OBJ_OTHER];
    VEC(struct tomb) tombs; /* a ring */
    uint32_t next_tomb;

    VEC(struct pod) pods;
    VEC(uint64_t) stamps; /* beside pods: version * 2 + seen since the last list began */
    VEC(uint32_t) spare_pods;
    struct ixset pods_by_name;
    struct texts texts;
    struct groups running, ended; /* pods by node: those that count there; finished ones */
    struct groups daemon_pods;    /* by namespace and owner */
    struct ascending waiting, apart;
    VEC(struct stand_ins) stand_ins; /* in order of arrival */

    VEC(struct host) hosts;
    VEC(struct state_node) nodes; /* beside hosts */
    struct ixset hosts_by_id;
    VEC(sym) stale, nominated; /* ids, of machines that may be gone by now */
    VEC(struct usage) usages;
    VEC(struct reservation) reservations;
    VEC(struct maker) makers;
    uint64_t last_number; /* of plans, and of claims that somebody began to make */
    uint64_t forgotten;   /* the latest such claim of a pool that is gone */
    struct groups nodes_by_id, claims_by_id, claims_of_pool;
    struct groups attachments; /* by node */
    uint32_t n_untracked;      /* Nodes that are not looked at yet */
    uint32_t n_unlaunched;     /* managed claims without an id */
    bool listed, synced_once;
    uint64_t epoch;

    struct arena *pass, *scratch; /* of the last snapshot; of one call */
    struct snapshot snap;
    name_list found_nodes, found_claims, found_of_pool;
    VEC(uint32_t) found_pods, found_stand_ins;
    VEC(const struct attachment *) found_attachments;
    struct reslist found_usage;
    uint32_t cap_usage;
};

/* --- tables ---------------------------------------------------------------------------------------------------------- */

/* New objects, with their text packed, and what becomes of them. */
struct object *stored_new(struct store *s, const struct store_object *o);
void stored_free(struct store *s, struct object *x);
void stored_unpack(const struct store *s, struct object *x);
void reference_drop(struct reference *r);
struct object *table_find(const struct store *s, enum object_kind kind, str ns, str name); /* NULL */
bool kind_is_stored(enum object_kind kind);                                                /* in a table */
sym find_sym(const struct store *s, str text); /* SYM_NONE: nobody has named it */
void store_tell(struct store *s, const struct store_event *ev);

/* --- pods ------------------------------------------------------------------------------------------------------------ */

void pods_put(struct store *s, const struct store_object *o);
void pods_remove(struct store *s, str ns, str name, uint64_t version);
bool pods_touch(struct store *s, str ns, str name, uint64_t version);
void pods_list_begin(struct store *s);
void pods_list_end(struct store *s);
uint32_t pods_find(const struct store *s, str ns, str name); /* MAP_NONE */
/* A pod in no list. */
uint32_t pods_take(struct store *s, const struct pod *p);
void pods_release(struct store *s, uint32_t ix);
void stand_ins_list(struct store *s);                                        /* into found_stand_ins */
void stand_ins_fini(struct store *s);                                        /* before pods_fini() */
const struct pod *pods_daemon(const struct store *s, sym ns, sym daemonset); /* the one that stands for it; NULL */
void pods_fini(struct store *s);

/* --- machines -------------------------------------------------------------------------------------------------------- */

/* A Node or NodeClaim has come, changed or gone. The tables know already. */
void hosts_node(struct store *s, struct object *was, struct object *is);
void hosts_claim(struct store *s, struct object *was, struct object *is);
/* Pods on the node have changed. */
void hosts_touch(struct store *s, sym node);
/* The sums of all machines whose pods have changed. */
void hosts_catch_up(struct store *s, int64_t now_ms);
void hosts_fini(struct store *s);
/* Whatever the objects that are there name is marked, the rest is swept, when that is worth it. */
void symbols_sweep(struct store *s);
void reservations_fini(struct store *s);
void makers_fini(struct store *s);
void usage_count(struct store *s, sym pool, const struct reslist *capacity, bool more);
