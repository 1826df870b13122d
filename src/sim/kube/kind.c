/* How kinds are written in messages and versions. The table of built-in kinds is in kinds.c. */
#include "sim/kube/kind.h"

str kind_api_version(struct arena *a, const struct kind *k)
{
    if (k->group.n == 0)
        return k->version;
    if (k->api_version.n)
        return k->api_version;
    return arena_printf(a, STR_FMT "/" STR_FMT, STR_ARG(k->group), STR_ARG(k->version));
}

str kind_resource(struct arena *a, const struct kind *k)
{
    if (k->group.n == 0)
        return k->plural;
    return arena_printf(a, STR_FMT "." STR_FMT, STR_ARG(k->plural), STR_ARG(k->group));
}
