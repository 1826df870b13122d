/* JSON merge patch (RFC 7386). */
#include "data/edit.h"
#include "sim/kube/patch.h"
#include "sim/kube/patch_impl.h"
#include "sim/kube/status.h"

static void merge(struct arena *a, struct tree *target, const struct tree *patch)
{
    for (uint32_t i = 0; i < patch->n; i++) {
        const struct tree *p = &patch->items[i];
        struct tree *t = tree_find(target, patch->keys[i]);

        if (p->kind == TREE_NULL) {
            (void)tree_drop(target, patch->keys[i]);
        } else if (p->kind == TREE_MAP && t && t->kind == TREE_MAP) {
            merge(a, t, p);
        } else {
            struct tree *copy = tree_copy(a, p);

            /* quirk: nulls inside a list stay where the list takes the place of something. */
            if (!t || p->kind == TREE_MAP)
                drop_nulls(copy);
            *tree_put(a, target, t ? patch->keys[i] : arena_strdup(a, patch->keys[i])) = *copy;
        }
    }
}

bool patch_merge(struct arena *a, struct tree *target, const struct tree *patch, struct status *st)
{
    if (patch->kind == TREE_NULL)
        return refuse(a, st, 400, "BadRequest", "Invalid JSON Patch");
    if (patch->kind != TREE_MAP)
        return refuse(a, st, 400, "BadRequest",
                      "error decoding patch: json: cannot unmarshal %s into Go value of type map[string]interface {}",
                      go_json_kind(patch));
    merge(a, target, patch);
    return true;
}
