#include "k8s/diff.h"

#include "data/edit.h"

/* What is only in `from`, as null. */
static void note_gone(struct arena *a, struct tree *patch, const struct tree *from, const struct tree *to)
{
    for (uint32_t i = 0; i < from->n; i++)
        if (!tree_find((struct tree *)to, from->keys[i]))
            *tree_put(a, patch, from->keys[i]) = tree_of_null();
}

struct tree *merge_diff(struct arena *a, const struct tree *from, const struct tree *to)
{
    struct tree *patch = tree_new_map(a);

    assert(from->kind == TREE_MAP && to->kind == TREE_MAP);
    for (uint32_t i = 0; i < to->n; i++) {
        const struct tree *new = &to->items[i], *old = tree_find((struct tree *)from, to->keys[i]);

        if (old && old->kind == TREE_MAP && new->kind == TREE_MAP) {
            struct tree *inner = merge_diff(a, old, new);

            if (inner)
                *tree_put(a, patch, to->keys[i]) = *inner;
        } else if (!old || !tree_equal(old, new)) {
            *tree_put(a, patch, to->keys[i]) = *new;
        }
    }
    note_gone(a, patch, from, to);
    return patch->n ? patch : NULL;
}

struct tree *merge_diff_locked(struct arena *a, const struct tree *from, const struct tree *to)
{
    struct tree *patch = merge_diff(a, from, to);
    str version = tree_str(tree_at(from, "metadata", "resourceVersion", NULL));
    struct tree *meta = patch ? tree_sub(a, patch, "metadata") : NULL;

    if (meta && version.n)
        tree_set_str(a, meta, "resourceVersion", version);
    return patch;
}
