/* patch - the four ways to change an object by a document: pure functions from trees to trees.
 *
 * The target is edited in place; what is added is copied into the arena. On failure the target may be left half changed:
 * callers patch a copy. Refusals fill *st with the code, the reason and the sentence of a real API server.
 */
#pragma once

#include "base/arena.h"
#include "data/tree.h"

struct schema;
struct status;

/* RFC 6902. 400 for what is no list of operations, 413 for too many of them, 422 for an operation that cannot be done. Like a
 * real server's it takes negative indexes from the end of a list, replaces what is not there, and tests and copies an absent
 * member as null. */
bool patch_json(struct arena *a, struct tree *target, const struct tree *patch, struct status *st);

/* RFC 7386. 400 for what is no map. */
bool patch_merge(struct arena *a, struct tree *target, const struct tree *patch, struct status *st);

/* Kubernetes' strategic merge patch: $patch (replace, delete), $retainKeys, $deleteFromPrimitiveList/…,
 * $setElementOrder/…, lists by merge key. 400 for directives of the wrong form, 500 for directives that make no sense (so a
 * real server, without a reason), 422 where a value of the result does not fit its field. */
bool patch_strategic(struct arena *a, const struct schema *s, struct tree *target, const struct tree *patch,
                     struct status *st);

/* What the caller says when the outcome of one of the above is no object of its kind: 422 with a cause for the field "patch".
 * value is the outcome as JSON, why the sentence of the decoder. Returns false. */
bool patch_misfits(struct arena *a, struct status *st, str value, str why);

/* ---- server-side apply ---- */

struct apply_options {
    str manager;
    str subresource; /* "", "status", "scale" */
    str api_version; /* of the object: "apps/v1" */
    str kind;        /* for messages */
    bool has_status; /* the kind has a status subresource: a write to the one leaves the other alone */
    bool force;
    int64_t now_ms;
};

/* *live becomes the result of applying `config`; NULL is a creation, and the answer is a new object. The caller has seen to
 * it that config is a map of the right kind and name. Nothing changes, not even times, when there was nothing to apply.
 * Conflicts are 409 with causes FieldManagerConflict, a config that does not fit the schema is 500 (so a real server). */
bool apply_patch(struct arena *a, const struct schema *s, struct tree **live, const struct tree *config,
                 const struct apply_options *o, struct status *st);

/* After any other write: the fields that differ between old (NULL: created) and obj now belong to the manager, and no longer
 * to others. Sets obj's metadata.managedFields: those that obj brings along count, or else those of old. [{}] forgets them all,
 * and an object that has none is left without. At most ten Update entries are kept apart by version.
 *
 * Call it with obj as the client meant it, defaults included, before the server adds what nobody owns (a status, a cluster IP);
 * it is far from free for large objects, and no write needs it that changes nothing. */
void managed_after_update(struct arena *a, const struct schema *s, const struct tree *old, struct tree *obj,
                          const struct apply_options *o);
