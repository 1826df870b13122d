#include "k8s/encode.h"

#include "data/edit.h"

struct tree tree_of_resources(struct arena *a, const struct syms *t, const struct reslist *l)
{
    struct tree *map = tree_new_map(a);
    struct sb b = {0};

    for (uint32_t i = 0; i < l->n; i++) {
        sb_reset(&b);
        quantity_print(&b, l->q[i].name, l->q[i].v, l->q[i].binary);
        *tree_put(a, map, arena_strdup(a, sym_str(t, l->q[i].name))) = tree_of_str(sb_dup(&b, a));
    }
    sb_fini(&b);
    return *map;
}
