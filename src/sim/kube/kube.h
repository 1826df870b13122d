/* kube - a small Kubernetes API server: objects in memory, resource versions, watches, everything kubectl asks for.
 *
 * Objects are kept as text, the way they go over the wire: a get, a list or a watch event is a copy of bytes. What the server
 * itself has to look at (names, labels, owners, deletion) is noted beside the text. Every write makes a new revision; old
 * revisions live as long as somebody holds them or the watch window covers them.
 *
 * kube_serve() is the way in over HTTP. The parts of the simulated cluster that run inside the server's process (scheduler,
 * kubelets, workload controllers) use the functions below instead: the same admission, defaulting, validation and conflict
 * detection, without the bytes. Everything happens on the thread of the world.
 */
#pragma once

#include "data/tree.h"
#include "net/http.h"
#include "sim/kube/kind.h"
#include "sim/kube/status.h"

struct kube;
struct podlog;

struct label {
    str key, value;
};

struct owner {
    str uid, kind, name, api_version;
    bool controller, blocks;
};

/* One revision of an object. Immutable; its strings live as long as it does. */
struct object {
    const struct kind *kind;
    str ns, name, uid;
    uint64_t rv;
    int64_t created_ms;
    int64_t deleted_ms; /* metadata.deletionTimestamp; 0: not being deleted */
    const struct label *labels;
    uint32_t n_labels;
    const struct owner *owners;
    uint32_t n_owners;
    uint32_t n_finalizers;
    const struct label *fields; /* what field selectors may ask, by the names in kind_rules.selectable */
    uint32_t n_fields;
    str json;
    uint32_t refs; /* private */
};

void object_ref(const struct object *o);
void object_unref(const struct object *o);
str object_label(const struct object *o, str key);          /* empty when absent */
str object_field(const struct object *o, const char *name); /* one of kind_rules.selectable */

struct kube_options {
    const char *token;   /* bearer token that may do everything; NULL: everybody may */
    const char *version; /* "v1.36.3" */
    uint32_t window;     /* revisions that a watch can go back; 0: 20,000 */
    int64_t window_us;   /* … and for how long; 0: 5 minutes */
    /* The name of whoever comes with a token that this server did not give out; empty: nobody. Such a user may do everything. May be NULL. */
    str (*who)(void *ctx, struct arena *a, str token);
    void *who_ctx;
};

struct kube *kube_new(struct world *w, const struct kube_options *o);
void kube_free(struct kube *k);
void kube_serve(void *kube, struct exchange *x); /* an http_serve_fn */

struct world *kube_world(const struct kube *k);

/* Built-in: kube_kind(k, STR(""), STR("Pod")). NULL when there is none. */
const struct kind *kube_kind(const struct kube *k, str group, str name);

/* ---- for the parts of the cluster inside this process ---- */

/* The current revision, or NULL. Borrowed: good until the next write, unless referenced. */
const struct object *kube_get(struct kube *k, const struct kind *kind, str ns, str name);
const struct object *kube_by_uid(struct kube *k, str uid);
/* In order of namespace and name; ns empty: all. fn must not write. */
void kube_each(struct kube *k, const struct kind *kind, str ns, void (*fn)(void *ctx, const struct object *o),
               void *ctx);
/* Of all kinds, whatever names this uid as an owner, in the order in which it came. */
void kube_each_owned(struct kube *k, str uid, void (*fn)(void *ctx, const struct object *o), void *ctx);
uint32_t kube_count(const struct kube *k, const struct kind *kind);

/* The object as a tree in the arena, to be edited at will. */
struct tree *kube_tree(struct arena *a, const struct object *o);

/* Whether two revisions of an object differ in their status alone, if at all. */
bool object_same_but_status(const struct object *x, const struct object *y);
/* A member of the object alone ("metadata", "spec", "status"), likewise; NULL when absent. */
struct tree *kube_part(struct arena *a, const struct object *o, const char *name);

/* Of a member those members that are named (NULL-terminated), likewise; keys without escapes. */
struct tree *kube_members(struct arena *a, const struct object *o, const char *part, const char *const *names);

/* Writes. `obj` is given up: it is edited on the way. metadata.resourceVersion, where there is one, must be current. ret may be
 * NULL; what it gets is borrowed. A write that changes nothing makes no revision. */
bool kube_create(struct kube *k, struct arena *a, const struct kind *kind, struct tree *obj, const struct object **ret,
                 struct status *st);
bool kube_update(struct kube *k, struct arena *a, const struct kind *kind, const char *sub, struct tree *obj,
                 const struct object **ret, struct status *st);

/* kube_update() of an object that is `o`, which must be current, but for one member. "status" of a kind that has a subresource for
 * it goes there. What a write of one part costs, where the rules of the kind need no more than this part to judge it, does
 * not depend on the rest of the object. */
bool kube_update_part(struct kube *k, struct arena *a, const struct object *o, const char *name, struct tree *part,
                      const struct object **ret, struct status *st);

struct delete_options {
    int64_t grace_s;         /* -1: the kind's own (a pod's terminationGracePeriodSeconds) */
    str uid;                 /* precondition; empty: none */
    uint64_t rv;             /* precondition; 0: none */
    const char *propagation; /* NULL: the kind's default; "Foreground", "Background", "Orphan" */
};

bool kube_delete(struct kube *k, struct arena *a, const struct kind *kind, str ns, str name,
                 const struct delete_options *o, struct status *st);
/* Evicts like POST …/pods/NAME/eviction: 429 while a budget forbids it. */
bool kube_evict(struct kube *k, struct arena *a, str ns, str name, const struct delete_options *o, struct status *st);
bool kube_bind(struct kube *k, struct arena *a, str ns, str name, str node, struct status *st);

/* Every change, in order, right after it happened. Either side is NULL on creation and removal. A subscriber may only note
 * what to do later (work.h): it must not write from inside. */
struct change {
    struct kube *kube;
    const struct object *old, *new;
    str only;                   /* the one member that was written, "status" or so; empty: any may be another */
    struct change_trees *trees; /* private */
};

typedef void (*change_fn)(void *ctx, const struct change *c);

void kube_subscribe(struct kube *k, const struct kind *kind, change_fn fn, void *ctx); /* kind NULL: all */
/* Parsed once per change, whoever asks; read only, good until the subscriber returns. */
const struct tree *change_old(const struct change *c);
const struct tree *change_new(const struct change *c);
const struct tree *change_part(const struct change *c, const char *name); /* a member of the new side alone */

/* Events as components record them: v1 Event about an object, counted up when it repeats. */
void kube_event(struct kube *k, const struct object *about, const char *component, const char *type, const char *reason,
                str message);

/* The log of a container, to be written to (podlog.h); container empty: the pod's first. NULL when there is no such pod or
 * container. It ends with the container and goes with the pod: ask again for every piece of news. kube_each() and object_label()
 * find pods by their labels. */
struct podlog *kube_pod_log(struct kube *k, str ns, str name, str container);

/* Whoever plays the kubelets. Without one no kubelet can be reached. */
struct kube_kubelets {
    void *ctx;
    bool (*runs)(void *ctx, const struct object *pod); /* whether one answers for this pod */
    /* What a kubelet has to say of a container into whose log nobody writes; status is an item of containerStatuses. More of the
     * same when it is asked again later. */
    void (*words)(void *ctx, const struct tree *container, const struct tree *status, struct podlog *out);
};
void kube_set_kubelets(struct kube *k, const struct kube_kubelets *p);

/* Manifests (our CRD files, --data): every object of a YAML or JSON text, created or, when it exists, replaced. */
bool kube_load(struct kube *k, const char *name, str text, struct err *e);
/* All objects but events and leases, as a JSON List that kube_restore() takes, with uids and resource versions kept. */
void kube_save(struct kube *k, struct sb *out);
bool kube_restore(struct kube *k, const char *name, str text, struct err *e);

uint64_t kube_rv(const struct kube *k);
void kube_compact(struct kube *k);      /* forgets the watch window: the next resume gets 410 */
void kube_drop_watches(struct kube *k); /* as a restart of the server does to its clients */
