#include "support/owners.h"

#include "base/sb.h"
#include "sim/kube/fields.h"

static void print_path(void *ctx, str path)
{
    sb_printf(ctx, " " STR_FMT, STR_ARG(path));
}

str owners_text(struct arena *a, const struct tree *obj)
{
    const struct tree *list = tree_at(obj, "metadata", "managedFields", NULL);
    struct sb b = {0};

    for (uint32_t i = 0; list && i < list->n; i++) {
        const struct tree *e = &list->items[i];
        str manager = tree_str(tree_get(e, "manager")), sub = tree_str(tree_get(e, "subresource"));
        bool update = str_is(tree_str(tree_get(e, "operation")), "Update");

        sb_printf(&b, "%s" STR_FMT "%s%s" STR_FMT ":", i ? "; " : "", STR_ARG(manager), update ? "*" : "",
                  sub.n ? "/" : "", STR_ARG(sub));
        fields_each(a, tree_get(e, "fieldsV1"), print_path, &b);
    }
    str s = sb_dup(&b, a);
    sb_fini(&b);
    return s;
}
