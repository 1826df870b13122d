/* managed - the entries of metadata.managedFields: who owns which fields. */
#pragma once

#include "base/vec.h"
#include "sim/kube/fields.h"

struct apply_options;

struct owner_entry {
    str manager, version, subresource, time; /* time may be empty */
    bool applies;                            /* by apply, not by update */
    const struct tree *fields;
    const struct tree *source; /* the entry as it was read, as long as it is unchanged; NULL: to be written anew */
};

struct managed {
    struct arena *a;
    VEC(struct owner_entry) list; /* on the heap: managed_fini() */
};

void managed_fini(struct managed *m);

/* Entries of an object; false when they are not in order. None is in order. */
bool managed_read(struct managed *m, const struct tree *obj);
/* Sets the object's entries: those that own nothing left out, the oldest updates thrown together, in order. */
void managed_write(struct managed *m, struct tree *obj);

/* The entry of a manager, by operation and subresource, and by version for updates; NULL when there is none. */
struct owner_entry *managed_find(struct managed *m, const struct apply_options *o, bool applies);
struct owner_entry *managed_add(struct managed *m, const struct apply_options *o, bool applies);
/* Everybody but `but` (NULL: everybody) gives these fields up. */
void managed_take(struct managed *m, const struct tree *fields, const struct owner_entry *but);
void managed_touch(struct owner_entry *e, const struct tree *fields);
str managed_time(struct arena *a, int64_t now_ms);
