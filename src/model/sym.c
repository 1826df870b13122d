/* Two tables side by side: strings by number, and label sets by number. The bytes of both live in one arena and never
 * move, so that a `str` or a `struct label *` handed out stays good for as long as the table does.
 *
 * Label sets are found by a hash of their sorted pairs; sets with the same hash are chained through `next`.
 */
#include "model/sym.h"

#include <stdlib.h>

#include "base/map.h"
#include "base/vec.h"

#define SMALL_SET 24 /* longer sets are sorted and searched in less than linear time */

struct lset {
    const struct label *v;
    uint32_t n;
    uint32_t next; /* another set with the same hash, or MAP_NONE */
};

struct syms {
    struct arena *bytes;
    struct strmap by_text;
    VEC(str) text;
    struct u64map by_hash;
    VEC(struct lset) sets;
};

static const str fixed[] = {
#define X(name, text) STR_INIT(text),
    SYM_TABLE(X)
#undef X
};

struct syms *syms_new(void)
{
    struct syms *t = xcalloc(1, sizeof(*t));

    t->bytes = arena_new(1u << 16);
    for (uint32_t i = 0; i < ARRAY_LEN(fixed); i++) {
        vec_push(&t->text, fixed[i]);
        strmap_put(&t->by_text, fixed[i], i);
    }
    (void)lset_of(t, NULL, 0);
    return t;
}

void syms_free(struct syms *t)
{
    if (!t)
        return;
    strmap_fini(&t->by_text);
    u64map_fini(&t->by_hash);
    vec_fini(&t->text);
    vec_fini(&t->sets);
    arena_free(t->bytes);
    free(t);
}

sym sym_of(struct syms *t, str s)
{
    if (s.n == 0)
        return SYM(NONE);

    uint32_t ix = strmap_get(&t->by_text, s);
    if (ix != MAP_NONE)
        return (sym){ix};

    assert(s.n < UINT32_MAX && t->text.n < UINT32_MAX - 1);
    ix = t->text.n;
    s = arena_strdup(t->bytes, s);
    vec_push(&t->text, s);
    strmap_put(&t->by_text, s, ix);
    return (sym){ix};
}

sym sym_find(const struct syms *t, str s, bool *ret_known)
{
    uint32_t ix = s.n == 0 ? SYM_IX_NONE : strmap_get(&t->by_text, s);

    *ret_known = ix != MAP_NONE;
    return (sym){*ret_known ? ix : SYM_IX_NONE};
}

str sym_str(const struct syms *t, sym s)
{
    assert(s.v < t->text.n);
    return t->text.v[s.v];
}

uint32_t syms_count(const struct syms *t)
{
    return t->text.n;
}

static int label_cmp(const void *a, const void *b, void *ctx UNUSED)
{
    const struct label *x = a, *y = b;

    return x->key.v < y->key.v ? -1 : x->key.v > y->key.v;
}

/* Stable, so that of equal keys the one written last stays last. */
static void labels_sort(struct label *v, uint32_t n)
{
    if (n > SMALL_SET) {
        sort_stable(v, n, sizeof(*v), label_cmp, NULL);
        return;
    }
    for (uint32_t i = 1; i < n; i++) {
        struct label moving = v[i];
        uint32_t at = i;

        for (; at > 0 && v[at - 1].key.v > moving.key.v; at--)
            v[at] = v[at - 1];
        v[at] = moving;
    }
}

static uint32_t labels_unique(struct label *v, uint32_t n)
{
    uint32_t kept = 0;

    for (uint32_t i = 0; i < n; i++)
        if (i + 1 == n || !sym_eq(v[i].key, v[i + 1].key))
            v[kept++] = v[i];
    return kept;
}

static bool labels_equal(const struct lset *s, const struct label *v, uint32_t n)
{
    if (s->n != n)
        return false;
    for (uint32_t i = 0; i < n; i++)
        if (!sym_eq(s->v[i].key, v[i].key) || !sym_eq(s->v[i].val, v[i].val))
            return false;
    return true;
}

lset_id lset_of(struct syms *t, struct label *labels, uint32_t n)
{
    uint64_t hash = 0;

    labels_sort(labels, n);
    n = labels_unique(labels, n);
    for (uint32_t i = 0; i < n; i++)
        hash = hash_mix(hash, u64_pair(labels[i].key.v, labels[i].val.v));

    uint32_t first = u64map_get(&t->by_hash, hash);
    for (uint32_t ix = first; ix != MAP_NONE; ix = t->sets.v[ix].next)
        if (labels_equal(&t->sets.v[ix], labels, n))
            return (lset_id){ix};

    uint32_t ix = t->sets.n;
    const struct label *copy = arena_dup_array(t->bytes, struct label, labels, n);
    vec_push(&t->sets, (struct lset){copy, n, first});
    u64map_put(&t->by_hash, hash, ix);
    return (lset_id){ix};
}

const struct label *lset_get(const struct syms *t, lset_id id, uint32_t *ret_n)
{
    assert(id.v < t->sets.n);
    *ret_n = t->sets.v[id.v].n;
    return t->sets.v[id.v].v;
}

bool lset_value(const struct syms *t, lset_id id, sym key, sym *ret_val)
{
    uint32_t n;
    const struct label *v = lset_get(t, id, &n);

    while (n > SMALL_SET) { /* halve until the rest is short: the key, if there, stays inside */
        uint32_t half = n / 2;

        if (v[half].key.v <= key.v)
            v += half, n -= half;
        else
            n = half;
    }
    for (uint32_t i = 0; i < n; i++)
        if (sym_eq(v[i].key, key)) {
            *ret_val = v[i].val;
            return true;
        }
    return false;
}

uint32_t lsets_count(const struct syms *t)
{
    return t->sets.n;
}
