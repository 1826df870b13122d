/* patch - the four ways to change an object by a document: pure functions from trees to trees.
 *
 * The target is edited in place; what is added lives in the arena. On failure the target is left half changed: callers patch a copy.
 */
#pragma once

#include "base/err.h"
#include "data/tree.h"

struct schema;
struct status;

/* RFC 6902. Errors read as a real server's: 422 for a failing test or a missing path, 400 for a bad document (ERR_CONFLICT for
 * the former, ERR_INVALID for the latter). */
bool patch_json(struct arena *a, struct tree *target, const struct tree *patch, struct err *e);

/* RFC 7386. */
bool patch_merge(struct arena *a, struct tree *target, const struct tree *patch, struct err *e);

/* Kubernetes' strategic merge patch: $patch (replace, delete, merge), $retainKeys, $deleteFromPrimitiveList/…,
 * $setElementOrder/…, lists by merge key. */
bool patch_strategic(struct arena *a, const struct schema *s, struct tree *target, const struct tree *patch,
                     struct err *e);

/* ---- server-side apply ---- */

/* One entry of metadata.managedFields is computed from sets of field paths (fieldsV1). */
struct apply_options {
    str manager;
    str subresource; /* "" or "status" */
    str api_version; /* of the object */
    bool force;
    int64_t now_ms;
};

/* live is edited into the result of applying `config`: NULL metadata.managedFields are treated as none. live NULL is a
 * creation: the answer is the new object. Conflicts fill *st (409, reason Conflict, causes FieldManagerConflict with the messages of a
 * real server). */
bool apply_patch(struct arena *a, const struct schema *s, struct tree **live, const struct tree *config,
                 const struct apply_options *o, struct status *st);

/* After any other write: the fields that differ between old (NULL: created) and obj now belong to the manager, and no longer to
 * others. Edits obj's metadata.managedFields; entries of old are taken over. At most ten Update entries are kept apart by version. */
void managed_after_update(struct arena *a, const struct schema *s, const struct tree *old, struct tree *obj,
                          const struct apply_options *o);
