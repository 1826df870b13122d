/* quantity - Kubernetes quantities and resource lists.
 *
 * A quantity is an int64_t in a unit fixed by the resource: cpu in nano, all else in milli; finer fractions are
 * rounded up (away from zero), sums saturate. A resource list is sparse and sorted by symbol; a resource that is
 * present with zero differs from one that is absent.
 */
#pragma once

#include "base/err.h"
#include "base/sb.h"
#include "model/sym.h"

struct resq {
    sym name;
    bool binary; /* was written with a binary suffix: printed that way too */
    int64_t v;
};

struct reslist {
    struct resq *q;
    uint32_t n;
};

/* Text of a quantity ("1.5", "100m", "2Gi", "1e3") to units of `name`. Out of range or malformed: ERR_INVALID. */
bool quantity_parse(str text, sym name, int64_t *ret, bool *ret_binary, struct err *e);
bool quantity_is(str text); /* well-formed, however large */
/* The canonical text: largest suffix that leaves an integer, as Kubernetes prints it. */
void quantity_print(struct sb *b, sym name, int64_t v, bool binary);

const struct resq *reslist_get(const struct reslist *l, sym name); /* NULL when absent */
int64_t reslist_value(const struct reslist *l, sym name);          /* 0 when absent */
/* In place: the list is in arena `a` and may be moved there. Adds or replaces. */
void reslist_set(struct arena *a, struct reslist *l, sym name, int64_t v, bool binary);
void reslist_add(struct arena *a, struct reslist *l, const struct reslist *more);  /* key-wise sum */
void reslist_max(struct arena *a, struct reslist *l, const struct reslist *other); /* key-wise maximum, union of keys */
void reslist_sub(struct reslist *l, const struct reslist *less);                   /* keys of l only */
struct reslist reslist_dup(struct arena *a, const struct reslist *l);
/* {"cpu":"1","memory":"1Gi"}: compact JSON, keys in byte order. */
void reslist_print_json(struct sb *b, const struct syms *t, const struct reslist *l);
