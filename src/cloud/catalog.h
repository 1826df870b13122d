/* catalog - lists of instance types that need no cloud: kwok's, and the fake provider's.
 *
 * A catalogue is built once, in the caller's arena and symbol table, and is read-only afterwards. Where the types
 * come from a file see k8s/itypes.h, where they are EC2's see cloud/ec2/catalog.h.
 */
#pragma once

#include "base/err.h"
#include "model/itype.h"

#define CATALOG_MAX_TYPES 4096

/* "kwok": the 144 types of Karpenter's kwok provider. "fake:N": N types of growing size, 1 ≤ N ≤ CATALOG_MAX_TYPES.
 * Any other name: NULL, and an error that lists the choices. */
struct catalog *catalog_builtin(struct arena *a, struct syms *t, str name, struct err *e);

/* A provider's own list by name, `name` or `name:argument`; who starts the program knows which there are. */
struct catalog_source {
    const char *name;
    struct catalog *(*load)(struct arena *a, struct syms *t, str argument, struct err *e);
};

/* Builders that every provider's catalogue needs. The arrays given are copied. */

/* `key In vals`, or `key DoesNotExist` without values. */
struct req_expr catalog_req(struct arena *a, sym key, const sym *vals, uint32_t n);
/* A resource list from entries in any order; each resource at most once. */
struct reslist catalog_resources(struct arena *a, const struct resq *q, uint32_t n);

#define CPU_NANO 1000000000LL     /* one cpu in units of model/quantity.h */
#define MEBI_MILLI (1000LL << 20) /* one Mi */
#define GIBI_MILLI (1000LL << 30) /* one Gi */
