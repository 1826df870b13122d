/* store - the cluster as the watches tell it, kept up to date object by object (lifecycle 2, scheduling 7).
 *
 * One writer: whoever feeds it from the watches, on the main thread. Everybody else reads, on the same thread, and keeps
 * names across a park, never pointers. An object is decoded once. Of pods only what scheduling and draining look at is
 * kept (some 200 bytes); of Nodes, NodeClaims, NodePools and node classes also the text of the fields that somebody may
 * read or change, so that a patch can be made from it. Objects never go back in time: an older resourceVersion than the
 * one that is there, or was there when the object went, is ignored, so that the answer to a write of our own may be put
 * in whether the watch has told of it or not. Versions that are no numbers are always taken.
 *
 * The snapshot that plans are made from is not built for a plan: it is the store. An event changes it in place and costs
 * what it touches.
 */
#pragma once

#include "model/objects.h"
#include "model/podspecs.h"
#include "model/snapshot.h"

struct store;

struct store_options {
    struct syms *syms; /* outlives the store */
    const struct nodeclass_ref
        *classes; /* group and kind of the node classes that our provider serves: what is managed; copied */
    uint32_t n_classes;
    int64_t nomination_ms; /* how long a nomination lasts */
};

struct store *store_new(const struct store_options *o);
void store_free(struct store *s);
AUTO_DEFINE(store)

/* For whoever decodes: what specs are shared in, and what makes an object managed. */
struct syms *store_syms(struct store *s);
struct podspecs *store_specs(struct store *s);
const struct nodeclass_ref *store_classes(const struct store *s, uint32_t *ret_n);

/* ---- what is there ---- */

/* An object that is kept with its text. Valid until the next change of the object. */
struct kept {
    str name, uid;
    /* Compact JSON for json_read_own(): metadata less managedFields, spec and status as far as we look at them. It is held
     * packed; this copy is good until the next change, or until a few hundred others have been asked for. */
    str text;
    uint64_t version; /* resourceVersion as a number; 0 when it is none */
    uint64_t digest;  /* of what it says; see struct store_object */
    int64_t generation, created_ms;
    int64_t deleted_ms; /* deletionTimestamp; INT64_MIN: not deleting */
    bool managed;       /* lifecycle 0.5 */
};

/* kind: OBJ_NODE, OBJ_NODECLAIM, OBJ_NODEPOOL, OBJ_NODECLASS (then name is "group/kind/name"), OBJ_BUFFER
 * ("namespace/name"). NULL: not there. */
const struct kept *store_kept(const struct store *s, enum object_kind kind, str name);
/* The same for those who do not look at its text, which may not be there: nothing is unpacked for them. */
const struct kept *store_meta(const struct store *s, enum object_kind kind, str name);
/* NULL: not there, or there as text only, because it cannot be read. */
const struct node *store_node(const struct store *s, str name);
const struct nodeclaim *store_claim(const struct store *s, str name);
const struct nodepool *store_pool(const struct store *s, str name);
const struct nodeclass *store_class(const struct store *s, const struct nodeclass_ref *r);
const struct pod *store_pod(const struct store *s, str ns, str name);
/* Any other kind that is watched: the struct of model/ (RS, SS, RC: struct controller; CSINode: struct csi_drivers). */
const void *store_object(const struct store *s, enum object_kind kind, str ns, str name);
/* The version that is there; 0: none, or not a number. */
uint64_t store_version(const struct store *s, enum object_kind kind, str ns, str name);

/* Names, in an order that is the same in every run. Valid until the next change, and until the same function is called
 * again. */
struct names {
    const str *v;
    uint32_t n;
};

struct names store_names(struct store *s, enum object_kind kind); /* cluster-scoped kinds, pods not */
/* The same one by one, by a number that an object has for as long as it lives: below store_numbers(), empty where nobody has it. */
uint32_t store_numbers(const struct store *s, enum object_kind kind);
str store_name_at(const struct store *s, enum object_kind kind, uint32_t number);
struct names store_nodes_by_id(struct store *s, str provider_id);  /* none for an empty id */
struct names store_claims_by_id(struct store *s, str provider_id); /* likewise */
struct names store_claims_of_pool(struct store *s, str pool);      /* by label */

struct pod_list { /* indexes into store_pods() */
    const uint32_t *v;
    uint32_t n;
};

/* Lists ascend, and are valid until the next change and the next call of the same function. */
const struct pod *store_pods(const struct store *s);      /* with gaps: only what lists name is valid */
struct pod_list store_pods_on(struct store *s, str node); /* bound there, finished ones too */
/* Provisionable (lifecycle 1.2): kube-scheduler has no place for them, and they wait for one. Not validated. */
struct pod_list store_pods_waiting(const struct store *s);
struct pod_list store_pods_apart(const struct store *s); /* with required anti-affinity */
uint32_t store_pod_count(const struct store *s);
uint32_t store_pods_room(const struct store *s); /* of the array: places without a spec are gaps */
/* The pod that stands for a DaemonSet: its newest; NULL: it has none. */
const struct pod *store_daemon_pod(const struct store *s, str ns, str daemonset);

struct attachments {
    const struct attachment *const *v;
    uint32_t n;
};

struct attachments store_attachments(struct store *s, str node);

/* ---- feeding it ---- */

/* One decoded object. What `decoded` points to lives in the box, which becomes the store's; pods have none: they are
 * copied, texts and all. decoded NULL: it cannot be read; of the kinds that are kept with their text at least that is
 * there for those who say so in a condition, and nothing of it counts in a plan. */
struct store_object {
    enum object_kind kind;
    struct arena *box;
    const struct object_meta *meta;
    const void *decoded; /* struct pod, struct node, … by kind */
    str text;            /* kept kinds only; copied */
    /* Of the text, but for what changes all the time and nobody decides by: equal for two versions that say the same. 0: nobody knows. */
    uint64_t digest;
};

void store_put(struct store *s, const struct store_object *o);
void store_remove(struct store *s, enum object_kind kind, str ns, str name,
                  uint64_t version); /* version 0: whatever is there */
/* Around a list of everything: what was not put in between is gone at its end. Of node classes only names that start
 * with `scope` are meant: there is a list for each kind of them. */
void store_list_begin(struct store *s, enum object_kind kind, str scope);
void store_list_end(struct store *s, enum object_kind kind, str scope);
/* Within a list: the object is there as it was; false: it is not known in this version. */
bool store_touch(struct store *s, enum object_kind kind, str ns, str name, uint64_t version);

enum store_change { STORE_ADDED, STORE_CHANGED, STORE_GONE };

/* After every change, in the order of subscription. was: before (NULL when added), is: after (NULL when gone); also NULL
 * when it cannot be read. An object that was replaced by another of its name is gone first and added then. Subscribers
 * do not change the store. */
struct store_event {
    enum object_kind kind;
    enum store_change change;
    str ns, name;
    const void *was, *is;                  /* decoded, by kind */
    const struct kept *kept_was, *kept_is; /* kinds with text */
};

typedef void (*store_event_fn)(void *ctx, const struct store_event *ev);
void store_subscribe(struct store *s, store_event_fn fn, void *ctx);

/* ---- what only we know ---- */

/* A pending pod is on its way to the machine: for nomination_ms from now. Unknown machines are left alone. */
void store_nominate(struct store *s, str provider_id, int64_t now_ms);
bool store_has_nominations(const struct store *s); /* there may be one: they end when a snapshot is made */
bool store_is_nominated(const struct store *s, str provider_id, int64_t now_ms);
/* How many pods of capacity buffers a round has put on machines that there are: in place of all that was said before.
 * The snapshot tells (state_node.n_buffer_pods). */
struct buffer_count {
    str provider_id;
    uint32_t n;
};

void store_count_buffers(struct store *s, const struct buffer_count *v, uint32_t n);
/* The pods that a buffer ("namespace/name") wants room for, in place of those it had: what they look like, and how many (more
 * than BUFFER_MAX_PODS are not made). They are in the snapshot, among `pending`, and in no other list; nobody is told of them. */
void store_set_buffer(struct store *s, str buffer, const struct buffer *b, const struct workload *w, int64_t wanted);
void store_drop_buffer(struct store *s, str buffer);
bool store_has_buffer(const struct store *s, str buffer); /* set and not dropped */
/* Disruption has decided that the machine goes; undone when it failed. */
void store_mark(struct store *s, str provider_id, bool deleting);
bool store_is_marked(const struct store *s, str provider_id); /* or is being deleted */
/* Disruption has chosen the machine and is about to make another in its place. store_mark() ends it either way. */
void store_set_pending(struct store *s, str provider_id);
bool store_is_pending(const struct store *s, str provider_id);
/* The machine as plans see it, without its pods; NULL: unknown. */
const struct state_node *store_machine(const struct store *s, str provider_id);
uint32_t store_machine_count(const struct store *s);

/* Every managed claim has its machine's id, and, before the first time, all kinds that decisions rest on have been listed
 * and every Node is looked at (lifecycle 2.5). */
bool store_synced(struct store *s);
void store_set_listed(struct store *s); /* all watches have been listed once */

/* Rises with whatever may make consolidation worth another look (lifecycle 2.7). */
uint64_t store_consolidation_epoch(const struct store *s);

/* Rises with whatever may make a snapshot another one, but for the passing of time and nominations. */
uint64_t store_changes(const struct store *s);

/* Capacity of the pool's machines that are not going away, with `nodes`. Valid until the next call. */
struct reslist store_pool_usage(struct store *s, str pool);

/* ---- pools with replicas (lifecycle 2.8) ---- */

struct pool_census { /* its claims */
    uint32_t active;
    uint32_t pending;  /* still there, and somebody is making another in its place */
    uint32_t deleting; /* or marked */
};

struct pool_census store_pool_census(const struct store *s, str pool);
int64_t store_room(const struct store *s, str pool, int64_t limit); /* for more claims, beside those reserved */
/* Of `wanted` claims as many as the limit leaves room for; nobody else makes them until they are released, one by one, once they are made or have failed. */
int64_t store_reserve(struct store *s, str pool, int64_t limit, int64_t wanted);
void store_release(struct store *s, str pool, int64_t n);

/* ---- who makes claims ---- */

/* A plan goes by the claims that there are, and one that is being made is not there yet. So claims of a pool with limits are made by one plan at a time, and by none that is older than the
 * latest of them: whoever is not allowed to plans again. Nobody waits for anybody. */
uint64_t store_plan_number(struct store *s); /* of a plan of this moment; they rise */
bool store_may_make(const struct store *s, str pool, uint64_t plan, int64_t now_us);
void store_make_begin(struct store *s, str pool, uint64_t plan);
/* It is there, or was refused. When nobody knows, other plans stay away from the pool until then; else INT64_MIN. */
void store_make_end(struct store *s, str pool, int64_t closed_until_us);

/* ---- planning ---- */

/* The moment as plans see it: pending pods sorted out, refused and moving ones found. Its pods and nodes are the store's
 * own, so nobody may change it (nor hand it to those who would). Valid until the next change or call. Costs what changed
 * since the last call, and what waits or moves; not what is there. */
struct snapshot *store_snapshot(struct store *s, const struct settings *st, const struct catalog *c, int64_t now_ms);

size_t store_bytes(const struct store *s); /* roughly what it holds, for measurements; symbols are not its own */
