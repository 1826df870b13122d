/* write - changes to objects, as a controller makes them: read from the store, change a copy, send the difference (lifecycle 0.3).
 *
 *     struct draft d;
 *     if (!draft_open(&d, c, r->arena, OBJ_NODECLAIM, name))
 *         return RESULT_OK;                          it is gone
 *     … edit d.obj …
 *     if (!draft_patch(&d, DRAFT_LOCKED, &e)) …
 *
 * An answer goes into the store at once, so that the next look sees what was written.
 */
#pragma once

#include "control/control.h"
#include "data/tree.h"
#include "k8s/conditions.h"

struct draft {
    struct control *c;
    struct arena *arena;
    const struct api_kind *kind;
    enum object_kind object_kind;
    str text;            /* what it is read from */
    struct tree *before; /* as read */
    struct tree *obj;    /* to be changed */
};

enum draft_flags {
    DRAFT_PLAIN = 0,
    DRAFT_LOCKED = 1, /* 409 when somebody else wrote in between */
    DRAFT_STATUS = 2, /* to the status subresource */
    DRAFT_BOTH = 4,   /* the same difference to the object and to its status, as nodeclaim.lifecycle does */
};

/* false: it is not in the store. Of a node class the name is "group/kind/name", of a buffer "namespace/name". */
bool draft_open(struct draft *d, struct control *c, struct arena *a, enum object_kind kind, str name);
/* The same in two steps: the object as it is now, which is read only when it turns out that something is to be changed. */
bool draft_hold(struct draft *d, struct control *c, struct arena *a, enum object_kind kind, str name);
void draft_read(struct draft *d);
bool draft_changed(const struct draft *d);
/* Nothing is sent when nothing changed. Afterwards `before` and `obj` are what the server has now: take no pointers into them across a patch. */
bool draft_patch(struct draft *d, unsigned flags, struct err *e);
/* Its conditions, under change, now. */
struct cond_object draft_conds(const struct draft *d);

/* The same again after 10, 50 and 250 ms, unless it is not there (lifecycle 0.3). Parks. */
bool write_retry(struct world *w, bool (*fn)(void *ctx, struct err *e), void *ctx, struct err *e);

/* DELETE without options. What is on its way out afterwards is so in the store, too. */
bool write_delete(struct control *c, struct arena *a, enum object_kind kind, str name, struct err *e);

/* The usual outcome of a failed write: 409 requeue, 404 done, else an error with r->err set. */
struct result write_failed(struct reconcile *r, const struct err *e);

/* Of trees of objects: what controllers ask all the time. */
str obj_name(const struct tree *obj);
str obj_namespace(const struct tree *obj); /* empty for cluster-scoped kinds */
str obj_uid(const struct tree *obj);
str obj_label(const struct tree *obj, const char *key);
str obj_annotation(const struct tree *obj, const char *key);
void obj_set_label(struct arena *a, struct tree *obj, str key, str value);
void obj_set_annotation(struct arena *a, struct tree *obj, str key, str value);
bool obj_is_deleting(const struct tree *obj);
int64_t obj_time_ms(const struct tree *obj, const char *field); /* of metadata; INT64_MIN when absent */
bool obj_has_finalizer(const struct tree *obj, const char *name);
void obj_add_finalizer(struct arena *a, struct tree *obj, const char *name);
bool obj_drop_finalizer(struct tree *obj, const char *name);
