/* field - takes fields out of a tree, checks their type, and says where something is wrong.
 *
 * For k8s/ and for whoever decodes objects of a provider. Every getter accepts an absent parent (NULL) and an absent field; both give the zero value.
 * Errors read "line:column: path: what"; the path is found afterwards by looking for the node in the object, so that
 * good input pays nothing for it.
 */
#pragma once

#include "base/map.h"
#include "base/sb.h"
#include "base/vec.h"
#include "data/tree.h"
#include "k8s/decode.h"
#include "model/objects.h"
#include "model/podspecs.h"

struct decoder {
    struct objects *o;
    const struct tree *root; /* the object at hand */
    struct arena *tmp;       /* empty again before each object */

    struct podspecs *specs;
    struct sb key;          /* of the spec at hand */
    bool single;            /* objects come one at a time and replace one another: one.h */
    struct arena *measured; /* single: where an object is decoded to see how much it takes … */
    size_t room[OBJ_OTHER]; /* … and what the last one of each kind took; 0: nobody knows */
};

/* What every object carries. */
struct meta {
    sym ns; /* SYM_NONE for cluster-scoped kinds */
    str name, uid;
    int64_t created_ms; /* INT64_MAX when absent */
    bool deleting;
    int64_t deleted_ms; /* INT64_MIN when it is not deleting, or does not say since when */
    const struct tree *labels, *annotations, *owners;
};

/* `key` names a field of `at` that is missing; NULL when `at` itself is wrong. Always false. */
PRINTF(5, 6)
bool dec_fail(const struct decoder *d, const struct tree *at, const char *key, struct err *e, const char *fmt, ...);

bool dec_map(const struct decoder *d, const struct tree *t, const char *key, const struct tree **ret, struct err *e);
bool dec_list(const struct decoder *d, const struct tree *t, const char *key, const struct tree **ret, struct err *e);
/* The text is only valid as long as the tree. */
bool dec_str(const struct decoder *d, const struct tree *t, const char *key, str *ret, struct err *e);
bool dec_need_str(const struct decoder *d, const struct tree *t, const char *key, str *ret,
                  struct err *e); /* not empty */
bool dec_sym(const struct decoder *d, const struct tree *t, const char *key, sym *ret, struct err *e);
bool dec_bool(const struct decoder *d, const struct tree *t, const char *key, bool *ret, struct err *e);
/* *ret keeps its value when the field is absent. */
bool dec_int(const struct decoder *d, const struct tree *t, const char *key, int64_t min, int64_t max, int64_t *ret,
             struct err *e);
bool dec_time(const struct decoder *d, const struct tree *t, const char *key, int64_t *ret_ms, struct err *e);
bool dec_meta(const struct decoder *d, bool namespaced, struct meta *ret, struct err *e);
/* Of an object that must have a spec: metadata, spec, and status, which may be absent. */
bool dec_object(const struct decoder *d, bool namespaced, struct meta *ret, const struct tree **ret_spec,
                const struct tree **ret_status, struct err *e);

bool dec_is_map(const struct decoder *d, const struct tree *t, struct err *e);
/* A null among strings is the empty one, as the API server reads it. */
bool dec_is_str(const struct decoder *d, const struct tree *t, struct err *e);

str dec_keep(const struct decoder *d, str s);        /* a copy that lives with the objects */
str dec_keep_shared(const struct decoder *d, str s); /* the same for texts that occur again and again */
bool dec_take_id(const struct decoder *d, enum object_kind kind, const struct meta *m, struct err *e);
