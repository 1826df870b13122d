#include "model/podspecs.h"

#include <stdlib.h>

#include "base/ixset.h"
#include "base/vec.h"

struct entry {
    str key;
    struct podspec *spec;
    struct arena *own; /* holds spec and key; NULL: the number is free, or nobody counts */
    uint32_t users;
};

struct podspecs {
    struct arena *all;
    VEC(struct entry) v;
    VEC(uint32_t) spare;  /* free numbers */
    VEC(uint32_t) unused; /* without a user when they were added */
    struct ixset by_key;
};

static uint64_t hash_key(str key)
{
    return hash_bytes(key.p, key.n, 0);
}

static uint64_t entry_hash(const void *owner, uint32_t ix)
{
    return hash_key(((const struct podspecs *)owner)->v.v[ix].key);
}

static bool entry_has(const void *owner, uint32_t ix, const void *key)
{
    return str_eq(((const struct podspecs *)owner)->v.v[ix].key, *(const str *)key);
}

static const struct ixset_keys keys = {entry_hash, entry_has};

struct podspecs *podspecs_new(struct arena *all)
{
    struct podspecs *t = xcalloc(1, sizeof(*t));

    t->all = all;
    return t;
}

void podspecs_free(struct podspecs *t)
{
    if (!t)
        return;
    for (uint32_t i = 0; i < t->v.n; i++)
        arena_free(t->v.v[i].own);
    vec_fini(&t->v);
    vec_fini(&t->spare);
    vec_fini(&t->unused);
    ixset_fini(&t->by_key);
    free(t);
}

struct podspec *podspecs_find(const struct podspecs *t, str key)
{
    uint32_t ix = ixset_get(&t->by_key, &keys, t, hash_key(key), &key);

    return ix == MAP_NONE ? NULL : t->v.v[ix].spec;
}

struct podspec *podspecs_at(const struct podspecs *t, uint32_t number)
{
    return t->v.v[number].spec;
}

struct arena *podspecs_arena(struct podspecs *t, size_t size)
{
    return t->all ? t->all : arena_new(size);
}

void podspecs_add(struct podspecs *t, str key, struct arena *own, struct podspec *s)
{
    uint32_t ix;

    if (t->spare.n) {
        ix = t->spare.v[--t->spare.n];
    } else {
        ix = t->v.n;
        (void)vec_add(&t->v);
    }
    t->v.v[ix] = (struct entry){arena_strdup(own, key), s, t->all ? NULL : own, 0};
    s->number = ix;
    ixset_add(&t->by_key, &keys, t, ix);
    if (!t->all)
        vec_push(&t->unused, ix);
}

void podspecs_give_back(struct podspecs *t, struct arena *own)
{
    if (!t->all)
        arena_free(own);
}

static void drop(struct podspecs *t, uint32_t ix)
{
    const struct podspec *base = t->v.v[ix].spec->base;

    ixset_remove(&t->by_key, &keys, t, ix);
    arena_free(t->v.v[ix].own);
    t->v.v[ix] = (struct entry){0};
    vec_push(&t->spare, ix);
    if (base)
        podspecs_unref(t, base);
}

void podspecs_ref(struct podspecs *t, const struct podspec *s)
{
    if (t->all)
        return;
    t->v.v[s->number].users++;
}

void podspecs_unref(struct podspecs *t, const struct podspec *s)
{
    if (t->all)
        return;
    assert(t->v.v[s->number].users);
    if (--t->v.v[s->number].users == 0)
        drop(t, s->number);
}

void podspecs_drop_unused(struct podspecs *t)
{
    /* Backwards: a spec with volumes was added after its base, and is a user of it. */
    while (t->unused.n) {
        uint32_t ix = t->unused.v[--t->unused.n];

        if (t->v.v[ix].own && t->v.v[ix].users == 0)
            drop(t, ix);
    }
}

const struct podspec *podspecs_next(const struct podspecs *t, uint32_t *at)
{
    while (*at < t->v.n) {
        const struct podspec *s = t->v.v[(*at)++].spec;

        if (s)
            return s;
    }
    return NULL;
}

uint32_t podspecs_count(const struct podspecs *t)
{
    return t->by_key.n;
}

size_t podspecs_bytes(const struct podspecs *t)
{
    size_t n = sizeof(*t) + t->v.cap * sizeof(*t->v.v) + ixset_bytes(&t->by_key);

    for (uint32_t i = 0; i < t->v.n; i++)
        n += t->v.v[i].own ? arena_bytes(t->v.v[i].own) : 0;
    return n;
}
