/* Kinds that are another shape of a stored one: events.k8s.io/v1 beside v1. The objects are kept once, in the stored shape; what
 * a client sends is turned round before it is looked at further, what it is shown after everything else. */
#include "data/edit.h"
#include "sim/kube/kube_int.h"

const struct object *kube_object_as(struct kube *k, const struct object *o, const struct kind *as)
{
    if (o->kind == as || as->shape_of != o->kind) {
        object_ref(o);
        return o;
    }
    AUTO(arena) struct arena *a = arena_new(8 << 10);
    struct tree *t = object_tree(a, o);

    as->shape->from_stored(a, t);
    draft_write(&k->draft, a, as, t, o->rv, NULL);
    return draft_keep(&k->draft);
}

const struct kind *shape_to_stored(struct arena *a, const struct kind *kind, struct tree *obj)
{
    if (kind->shape_of)
        kind->shape->to_stored(a, obj);
    return kind_stored(kind);
}

struct tree *shape_tree(struct arena *a, const struct kind *as, const struct tree *stored)
{
    struct tree *t = tree_copy(a, stored);

    if (as->shape_of)
        as->shape->from_stored(a, t);
    return t;
}
