/* store - the cluster as the watches tell it, kept up to date object by object (lifecycle 2, scheduling 7).
 *
 * One writer: whoever feeds it from the watches, on the main thread. Everybody else reads, on the same thread, and keeps names across a park, never pointers.
 * An object is decoded once. Of pods only what scheduling looks at is kept (some 200 bytes); of Nodes, NodeClaims, NodePools and node classes also the text of the
 * fields that somebody may change, so that a patch can be made from it. Objects never go back in time: an older resourceVersion than the one that is there is ignored, so that
 * the answer to a write of our own may be put in before the watch has told of it.
 *
 * The snapshot that plans are made from is not built for a plan: it is the store. An event changes it in place and costs what it touches.
 */
#pragma once

#include "model/objects.h"
#include "model/snapshot.h"

struct store;

struct store_options {
    struct syms *syms;
    const struct nodeclass_ref
        *classes; /* group and kind of the node classes that our provider serves: what is managed */
    uint32_t n_classes;
    int64_t nomination_ms; /* how long a nomination lasts */
};

struct store *store_new(const struct store_options *o);
void store_free(struct store *s);
AUTO_DEFINE(store)

/* ---- what is there ---- */

/* An object that is kept with its text. Valid until the next change of the object. */
struct kept {
    str name, uid;
    str text; /* compact JSON for json_read_own(): metadata less managedFields, spec and status as far as we look at them */
    uint64_t version; /* resourceVersion as a number; 0 when it is none */
    int64_t generation, created_ms;
    int64_t deleted_ms; /* deletionTimestamp; INT64_MIN: not deleting */
    bool managed;       /* lifecycle 0.5 */
};

/* kind: OBJ_NODE, OBJ_NODECLAIM, OBJ_NODEPOOL, or OBJ_NODECLASS (then name is "group/kind/name"). NULL: not there. */
const struct kept *store_kept(const struct store *s, enum object_kind kind, str name);
const struct node *store_node(const struct store *s, str name);
const struct nodeclaim *store_claim(const struct store *s, str name);
const struct nodepool *store_pool(const struct store *s, str name);
const struct nodeclass *store_class(const struct store *s, const struct nodeclass_ref *r);
const struct pod *store_pod(const struct store *s, str ns, str name);

/* Names, in an order that is the same in every run; valid until the next change. */
struct names {
    const str *v;
    uint32_t n;
};

struct names store_names(const struct store *s, enum object_kind kind);  /* of the kinds above */
struct names store_nodes_by_id(const struct store *s, str provider_id);  /* none for an empty id */
struct names store_claims_by_id(const struct store *s, str provider_id); /* likewise */
struct names store_claims_of_pool(const struct store *s, str pool);      /* by label */

struct pod_list { /* indexes into store_pods() */
    const uint32_t *v;
    uint32_t n;
};

const struct pod *store_pods(const struct store *s);            /* with gaps: only what lists name is valid */
struct pod_list store_pods_on(const struct store *s, str node); /* bound there, finished ones too */

struct attachment {         /* a VolumeAttachment */
    str name, node, volume; /* volume: spec.source.persistentVolumeName; may be empty */
};

struct attachments {
    const struct attachment *v;
    uint32_t n;
};

struct attachments store_attachments(const struct store *s, str node);

/* ---- feeding it ---- */

/* One decoded object and the arena that holds it, which becomes the store's. text: kept kinds only; copied. */
struct store_object {
    enum object_kind kind;
    struct arena *box;
    const struct object_meta *meta;
    const void *decoded; /* struct pod, struct node, … by kind, in the box */
    str text;
};

struct object_meta {
    str ns, name, uid;
    uint64_t version;
    int64_t generation, created_ms, deleted_ms;
};

void store_put(struct store *s, const struct store_object *o);
void store_remove(struct store *s, enum object_kind kind, str ns, str name,
                  uint64_t version); /* version 0: whatever is there */
/* Around a list of everything: what was not put in between is gone at its end. */
void store_list_begin(struct store *s, enum object_kind kind);
void store_list_end(struct store *s, enum object_kind kind);

enum store_change { STORE_ADDED, STORE_CHANGED, STORE_GONE };

/* After every change, in the order of subscription. Pods: `was` is the pod before (NULL when added), `is` after (NULL when gone). */
struct store_event {
    enum object_kind kind;
    enum store_change change;
    str ns, name;
    const void *was, *is; /* decoded, by kind */
};

typedef void (*store_event_fn)(void *ctx, const struct store_event *ev);
void store_subscribe(struct store *s, store_event_fn fn, void *ctx);

/* ---- what only we know ---- */

/* A pending pod is on its way to the machine: for nomination_ms from now. */
void store_nominate(struct store *s, str provider_id, int64_t now_ms);
bool store_is_nominated(const struct store *s, str provider_id, int64_t now_ms);
/* Disruption has decided that the machine goes; undone when it failed. */
void store_mark(struct store *s, str provider_id, bool deleting);
bool store_is_marked(const struct store *s, str provider_id); /* or is being deleted */

/* Every claim has its machine's id, and, before the first time, all kinds that decisions rest on have been listed (lifecycle 2.5). */
bool store_synced(struct store *s);
void store_set_listed(struct store *s); /* all watches have been listed once */

/* Rises with whatever may make consolidation worth another look (lifecycle 2.7). */
uint64_t store_consolidation_epoch(const struct store *s);

/* Capacity of the pool's machines that are not going away, with `nodes`. Valid until the next change. */
struct reslist store_pool_usage(const struct store *s, str pool);

/* ---- planning ---- */

/* The moment as plans see it: pending pods sorted out, refused and moving ones found. Valid until the next change or call. */
struct snapshot *store_snapshot(struct store *s, const struct settings *st, const struct catalog *c, int64_t now_ms);

size_t store_bytes(const struct store *s); /* roughly what it holds, for measurements */
