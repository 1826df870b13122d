/* one - objects of a running cluster, one at a time: what is known of them, what they mean, what is kept of their text.
 *
 * decode.h is for files, whose objects are put together and stay. Here each object replaces an older one of its own name
 * some day, so it comes in a box of its own, as small as it can be.
 */
#pragma once

#include "base/sb.h"
#include "k8s/decode.h"
#include "model/objects.h"
#include "model/podspecs.h"

/* Symbols and specs outlive the decoder; the specs are counted by whoever keeps objects. */
struct decoder *decoder_new_single(struct syms *t, struct podspecs *specs);
void decoder_fini_single(struct decoder *d); /* for decoder_free() */

/* Of any object that has a name. Texts are those of the tree, but the names of a node class and a buffer, which live in the arena.
 * Of `classes` group and kind count: nodes, claims and pools that belong to one of them are managed. */
bool k8s_meta(struct arena *a, const struct tree *obj, enum object_kind kind, const struct nodeclass_ref *classes,
              uint32_t n_classes, struct object_meta *ret, struct err *e);

/* struct pod for OBJ_POD, whose texts are those of the tree and whose answer is good until the next call; for all other
 * kinds the struct of model/ in a box that is the caller's (RS, SS, RC: struct controller; CSINode: struct csi_drivers). */
struct decoded {
    const void *what;
    struct arena *box; /* NULL for pods */
};

bool k8s_decode_one(struct decoder *d, const struct tree *obj, enum object_kind kind, struct decoded *ret,
                    struct err *e);

/* Whether the text of objects of the kind is kept: those that we change. */
bool k8s_keeps_text(enum object_kind kind);
/* Appends the object less what nobody here looks at, as compact JSON for json_read_own(). A merge patch made from it is
 * right: what was left out on both sides makes no difference. */
void k8s_keep_text(struct sb *out, enum object_kind kind, const struct tree *obj);
