/* store - what the HTTP front of the API server needs of the objects beyond kube.h: lists, watches, patches.
 *
 * The cluster's own parts use kube.h only.
 */
#pragma once

#include "sim/kube/kube.h"

/* ---- lists ---- */

/* A consistent list: references to the revisions of one moment, in order of namespace and name. */
struct listing {
    const struct object **objects;
    uint32_t n;
    uint64_t rv; /* of the moment */
};

struct listing *listing_new(struct kube *k, const struct kind *kind, str ns);
void listing_free(struct listing *l);

/* ---- watches ---- */

enum watch_event { WATCH_ADDED, WATCH_MODIFIED, WATCH_DELETED };

/* old is NULL for ADDED; for DELETED, obj is the last state with the resource version of the removal. */
typedef void (*watch_fn)(void *ctx, enum watch_event type, const struct object *old, const struct object *obj);

struct watch;

/* Everything after `since`, from the window first (before kube_watch() returns) and then as it happens. ns empty: all.
 * false with 410 when the window does not reach back that far, or `since` has not happened yet (504 after a wait is the front's). */
bool kube_watch(struct kube *k, struct arena *a, const struct kind *kind, str ns, uint64_t since, watch_fn fn,
                void *ctx, void (*on_dropped)(void *ctx), struct watch **ret, struct status *st);
void kube_unwatch(struct watch *w); /* not after on_dropped */

/* ---- other shapes ---- */

/* The object as this kind shows it, referenced: itself, or, for a kind that is another shape of its kind, a revision of its own. */
const struct object *kube_object_as(struct kube *k, const struct object *o, const struct kind *as);

/* ---- writes with everything that HTTP adds ---- */

/* Sentences for the client that go with an answer. */
struct warnings {
    VEC(str) list; /* on the heap: vec_fini() */
};

struct write_options {
    str manager; /* field manager; empty: managedFields are left alone */
    str user;
    bool dry_run;
    enum { FIELDS_IGNORE, FIELDS_WARN, FIELDS_STRICT } fields; /* unknown and repeated fields */
    struct warnings *warnings; /* FIELDS_WARN: one sentence each; in the arena; may be NULL */
};

bool kube_create_as(struct kube *k, struct arena *a, const struct kind *kind, struct tree *obj,
                    const struct write_options *o, const struct object **ret, struct status *st);
bool kube_update_as(struct kube *k, struct arena *a, const struct kind *kind, const char *sub, struct tree *obj,
                    const struct write_options *o, const struct object **ret, struct status *st);

/* An update by its text: true when it was one of those that can be told to be in order without reading all of it, and has been made. false: nothing has
 * been done, and kube_update_as() says what there is to say. */
bool kube_put_text(struct kube *k, struct arena *a, const struct kind *kind, str ns, str name, str body,
                   const struct write_options *o, const struct object **ret);

enum patch_kind { PATCH_JSON, PATCH_MERGE, PATCH_STRATEGIC, PATCH_APPLY };

/* Reads, patches, writes; again when somebody else was faster, unless the patch names a resource version. PATCH_APPLY creates what does not
 * exist: *ret_created. `force` is for PATCH_APPLY. */
bool kube_patch(struct kube *k, struct arena *a, const struct kind *kind, str ns, str name, const char *sub,
                enum patch_kind how, const struct tree *patch, bool force, const struct write_options *o,
                const struct object **ret, bool *ret_created, struct status *st);
bool kube_delete_as(struct kube *k, struct arena *a, const struct kind *kind, str ns, str name,
                    const struct delete_options *d, const struct write_options *o, const struct object **ret,
                    struct status *st); /* ret: what is left, or was there */

bool kube_evict_as(struct kube *k, struct arena *a, str ns, str name, const struct delete_options *d,
                   const struct write_options *o, struct status *st);

/* The scale subresource: an autoscaling/v1 Scale of the object, and back. */
struct tree *kube_scale_get(struct kube *k, struct arena *a, const struct object *o);
bool kube_scale_put(struct kube *k, struct arena *a, const struct kind *kind, str ns, str name,
                    const struct tree *scale, const struct write_options *o, const struct object **ret,
                    struct status *st);

/* ---- kinds ---- */

uint32_t kube_n_kinds(const struct kube *k);
const struct kind *kube_kind_at(const struct kube *k, uint32_t ix); /* NULL: a custom kind that is gone */
const struct kind *kube_kind_by_plural(const struct kube *k, str group, str version, str plural);
uint64_t kube_kinds_version(
    const struct kube *k); /* changes when a custom kind comes, changes or goes: for cached documents */

/* ---- the rest of what the front serves ---- */

const struct kube_options *kube_settings(const struct kube *k);
struct front;
struct front *kube_front(const struct kube *k); /* made with the server, freed with it */

/* ---- logs ---- */

/* A container of a pod, of whichever sort, and what the pod's status says of it; NULL: nothing. */
const struct tree *pod_container(const struct tree *pod, str container);
const struct tree *pod_container_status(const struct tree *pod, str container);
bool kube_pod_runs(const struct kube *k, const struct object *pod); /* a kubelet answers for it */
/* The log of a container for a reader, with a reference; `follow`: more may come. */
struct podlog *kube_read_log(struct kube *k, const struct object *pod, const struct tree *t, str container,
                             bool follow);
