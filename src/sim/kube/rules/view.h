/* view - how a server's own types look in its sentences.
 *
 * Some sentences quote a whole value or show how it changed. The server prints its internal types there: all fields, in their
 * order, with the names they have in Go. A view says what these are.
 */
#pragma once

#include "base/sb.h"
#include "data/tree.h"

enum view_type {
    VIEW_STR,    /* "" when absent */
    VIEW_INT,    /* 0 */
    VIEW_BOOL,   /* false */
    VIEW_ANY,    /* null when absent, else as it is */
    VIEW_STRUCT, /* always written */
    VIEW_PTR,    /* a struct or null */
    VIEW_LIST,   /* of structs, or null */
    VIEW_TAGGED, /* nothing when absent, else as it is */
};

struct view {
    const char *name; /* in the server's type; NULL ends the list */
    const char *json; /* in the API; a.b: b of a; ^name: not in the struct itself, but beside it */
    enum view_type type;
    const struct view *sub; /* of a struct */
};

void view_write(struct sb *out, const struct view *v, const struct tree *t, unsigned indent);
str view_text(struct arena *a, const struct view *v, const struct tree *t); /* compact */
/* The difference as `diff -u` shows it, without the two lines of the file names; empty when there is none. */
str view_diff(struct arena *a, const struct view *v, const struct tree *old, const struct tree *new);

extern const struct view view_label_selector[];
extern const struct view view_security_context[];
extern const struct view view_pod_spec[];
extern const struct view view_pod_template[];
extern const struct view view_claim_spec[];
extern const struct view view_volume_source[]; /* of PersistentVolumes */
/* Parts of these. */
extern const struct view view_local_object_reference[];
extern const struct view view_object_field_selector[];
extern const struct view view_resource_field_selector[];
extern const struct view view_volume[];
