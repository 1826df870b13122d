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

#define LARGE 512        /* bytes; what is longer has memory of its own */
#define MIN_FRESH 20000u /* symbols and sets: fewer are not worth a sweep */

/* What may become of a symbol or a set. */
enum life {
    LIFE_STAYS = 0,
    LIFE_PASSES = 1,
    LIFE_MARKED = 2,  /* since the last sweep */
    LIFE_DOUBTED = 4, /* the last sweep found no mark */
    LIFE_FREE = 8,
};

struct lset {
    const struct label *v;
    uint32_t n;
    uint32_t next; /* another set with the same hash, or MAP_NONE */
};

struct syms {
    struct arena *bytes;
    void *room[LARGE / 8 + 1]; /* places that are free again, by size in words: the first of a list */
    struct strmap by_text;
    VEC(str) text;
    VEC(uint8_t) life; /* beside text */
    VEC(uint32_t) spare;
    struct u64map by_hash;
    VEC(struct lset) sets;
    VEC(uint8_t) set_life; /* beside sets */
    VEC(uint32_t) spare_sets;
    bool passing, ever; /* ever: some symbol may pass */
    uint64_t n_sweeps;
    uint32_t fresh, left; /* made since the last sweep; left by it, less what it doubted */
};

/* --- memory ---------------------------------------------------------------------------------------------------------- */

static void *take(struct syms *t, size_t size)
{
    size_t words = (size + 7) / 8;

    if (size > LARGE)
        return xmalloc(size);
    void *p = t->room[words];
    if (!p || words == 0)
        return arena_alloc(t->bytes, words * 8, 8);
    memcpy(&t->room[words], p, sizeof(p));
    return p;
}

static void give_back(struct syms *t, void *p, size_t size)
{
    size_t words = (size + 7) / 8;

    if (size > LARGE) {
        free(p);
        return;
    }
    if (words == 0)
        return;
    memcpy(p, &t->room[words], sizeof(p));
    t->room[words] = p;
}

static const str fixed[] = {
#define X(name, text) STR_INIT(text),
    SYM_TABLE(X)
#undef X
};

struct syms *syms_new(void)
{
    struct syms *t = xcalloc(1, sizeof(*t));

    t->bytes = arena_new(1u << 16);
    arena_limit_blocks(t->bytes, 1u << 18);
    for (uint32_t i = 0; i < ARRAY_LEN(fixed); i++) {
        vec_push(&t->text, fixed[i]);
        vec_push(&t->life, LIFE_STAYS);
        strmap_put(&t->by_text, fixed[i], i);
    }
    (void)lset_of(t, NULL, 0);
    return t;
}

void syms_free(struct syms *t)
{
    if (!t)
        return;
    for (uint32_t i = SYM_N_FIXED; i < t->text.n; i++)
        if (t->text.v[i].n > LARGE)
            free((char *)(uintptr_t)t->text.v[i].p);
    for (uint32_t i = 0; i < t->sets.n; i++)
        if (t->sets.v[i].n * sizeof(struct label) > LARGE)
            free((struct label *)(uintptr_t)t->sets.v[i].v);
    strmap_fini(&t->by_text);
    u64map_fini(&t->by_hash);
    vec_fini(&t->text);
    vec_fini(&t->life);
    vec_fini(&t->spare);
    vec_fini(&t->sets);
    vec_fini(&t->set_life);
    vec_fini(&t->spare_sets);
    arena_free(t->bytes);
    free(t);
}

/* Somebody asks for it: it is not in doubt any more, and if it was not the watched cluster that asked, it stays. */
static void wanted(const struct syms *t, uint8_t *life)
{
    *life = t->passing ? (uint8_t)(*life & ~LIFE_DOUBTED) : LIFE_STAYS;
}

static sym add(struct syms *t, str s)
{
    uint32_t ix = t->spare.n ? t->spare.v[--t->spare.n] : t->text.n;

    assert(s.n < UINT32_MAX && t->text.n < UINT32_MAX - 1);
    if (ix == t->text.n) {
        vec_push(&t->text, (str){0});
        vec_push(&t->life, 0);
    }
    char *p = take(t, s.n);
    memcpy(p, s.p, s.n);
    t->text.v[ix] = (str){p, s.n};
    t->life.v[ix] = t->passing ? LIFE_PASSES : LIFE_STAYS;
    strmap_put(&t->by_text, t->text.v[ix], ix);
    t->fresh++;
    return (sym){ix};
}

sym sym_of(struct syms *t, str s)
{
    if (s.n == 0)
        return SYM(NONE);

    uint32_t ix = strmap_get(&t->by_text, s);
    if (ix == MAP_NONE)
        return add(t, s);
    if (t->life.v[ix])
        wanted(t, &t->life.v[ix]);
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

static uint64_t labels_hash(const struct label *v, uint32_t n)
{
    uint64_t hash = 0;

    for (uint32_t i = 0; i < n; i++)
        hash = hash_mix(hash, u64_pair(v[i].key.v, v[i].val.v));
    return hash;
}

static void index_set(struct syms *t, uint32_t ix)
{
    struct lset *s = &t->sets.v[ix];
    uint64_t hash = labels_hash(s->v, s->n);

    s->next = u64map_get(&t->by_hash, hash);
    u64map_put(&t->by_hash, hash, ix);
}

static lset_id add_set(struct syms *t, const struct label *labels, uint32_t n)
{
    uint32_t ix = t->spare_sets.n ? t->spare_sets.v[--t->spare_sets.n] : t->sets.n;

    if (ix == t->sets.n) {
        (void)vec_add(&t->sets);
        vec_push(&t->set_life, 0);
    }
    struct label *copy = take(t, n * sizeof(*copy));
    if (n)
        memcpy(copy, labels, n * sizeof(*copy));
    t->sets.v[ix] = (struct lset){copy, n, MAP_NONE};
    t->set_life.v[ix] = t->passing ? LIFE_PASSES : LIFE_STAYS;
    index_set(t, ix);
    t->fresh++;
    return (lset_id){ix};
}

/* A set that stays needs its labels. */
static void want_labels(struct syms *t, const struct lset *s)
{
    for (uint32_t i = 0; i < s->n; i++) {
        wanted(t, &t->life.v[s->v[i].key.v]);
        wanted(t, &t->life.v[s->v[i].val.v]);
    }
}

lset_id lset_of(struct syms *t, struct label *labels, uint32_t n)
{
    labels_sort(labels, n);
    n = labels_unique(labels, n);

    uint32_t ix = u64map_get(&t->by_hash, labels_hash(labels, n));
    while (ix != MAP_NONE && !labels_equal(&t->sets.v[ix], labels, n))
        ix = t->sets.v[ix].next;
    if (ix == MAP_NONE)
        ix = add_set(t, labels, n).v;
    else if (t->set_life.v[ix])
        wanted(t, &t->set_life.v[ix]);
    else
        return (lset_id){ix};
    if (t->ever && !t->passing)
        want_labels(t, &t->sets.v[ix]);
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

/* --- symbols that pass ----------------------------------------------------------------------------------------------- */

bool syms_set_passing(struct syms *t, bool on)
{
    bool was = t->passing;

    t->passing = on;
    t->ever = t->ever || on;
    return was;
}

bool syms_want_sweep(const struct syms *t)
{
    return t->fresh > MIN_FRESH && t->fresh > t->left;
}

void sym_mark(struct syms *t, sym s)
{
    t->life.v[s.v] |= LIFE_MARKED;
}

void text_mark(struct syms *t, str text)
{
    uint32_t ix = text.n ? strmap_get(&t->by_text, text) : MAP_NONE;

    if (ix != MAP_NONE)
        t->life.v[ix] |= LIFE_MARKED;
}

void lset_mark(struct syms *t, lset_id id)
{
    const struct lset *s = &t->sets.v[id.v];

    if (t->set_life.v[id.v] & LIFE_MARKED)
        return;
    t->set_life.v[id.v] |= LIFE_MARKED;
    for (uint32_t i = 0; i < s->n; i++) {
        sym_mark(t, s->v[i].key);
        sym_mark(t, s->v[i].val);
    }
}

/* The next life of a symbol or set; LIFE_FREE: this one is over. */
static uint8_t judge(uint8_t life)
{
    if (!(life & LIFE_PASSES) || life == LIFE_FREE)
        return life & (uint8_t)~LIFE_MARKED;
    if (life & LIFE_MARKED)
        return LIFE_PASSES;
    return life & LIFE_DOUBTED ? LIFE_FREE : LIFE_PASSES | LIFE_DOUBTED;
}

static uint32_t sweep_sets(struct syms *t)
{
    uint32_t gone = 0;

    u64map_clear(&t->by_hash);
    for (uint32_t i = 0; i < t->sets.n; i++) {
        struct lset *s = &t->sets.v[i];
        bool was_free = t->set_life.v[i] == LIFE_FREE;

        t->set_life.v[i] = judge(t->set_life.v[i]);
        if (t->set_life.v[i] != LIFE_FREE) {
            index_set(t, i);
        } else if (!was_free) {
            give_back(t, (struct label *)(uintptr_t)s->v, s->n * sizeof(*s->v));
            *s = (struct lset){NULL, 0, MAP_NONE};
            vec_push(&t->spare_sets, i);
            gone++;
        }
    }
    return gone;
}

static uint32_t sweep_texts(struct syms *t)
{
    uint32_t gone = 0;

    strmap_fini(&t->by_text);
    for (uint32_t i = 0; i < t->text.n; i++) {
        bool was_free = t->life.v[i] == LIFE_FREE;

        t->life.v[i] = judge(t->life.v[i]);
        if (t->life.v[i] != LIFE_FREE) {
            strmap_put(&t->by_text, t->text.v[i], i);
        } else if (!was_free) {
            give_back(t, (char *)(uintptr_t)t->text.v[i].p, t->text.v[i].n);
            t->text.v[i] = (str){0};
            vec_push(&t->spare, i);
            gone++;
        }
    }
    return gone;
}

static uint32_t count_sure(const uint8_t *life, uint32_t n)
{
    uint32_t sure = 0;

    for (uint32_t i = 0; i < n; i++)
        sure += life[i] == LIFE_STAYS || life[i] == LIFE_PASSES;
    return sure;
}

/* A set goes with its labels or after them. In between it is found by numbers that may stand for other texts by now, and
 * then it is the set of those: a set is its numbers. */
uint32_t syms_sweep(struct syms *t)
{
    uint32_t gone = sweep_sets(t) + sweep_texts(t);

    t->n_sweeps++;
    t->fresh = 0;
    t->left = count_sure(t->life.v, t->life.n) + count_sure(t->set_life.v, t->set_life.n);
    return gone;
}

uint64_t syms_sweeps(const struct syms *t)
{
    return t->n_sweeps;
}

size_t syms_bytes(const struct syms *t)
{
    return arena_bytes(t->bytes) + t->text.cap * (sizeof(*t->text.v) + 1) + t->sets.cap * (sizeof(*t->sets.v) + 1) +
           t->by_text.cap * sizeof(*t->by_text.slots) + t->by_hash.cap * sizeof(*t->by_hash.slots) +
           (t->spare.cap + t->spare_sets.cap) * sizeof(uint32_t);
}
