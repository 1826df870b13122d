#include "cloud/ec2/memo.h"

#include <stdlib.h>

#include "base/sort.h"
#include "base/vec.h"

#define SWEEP_MS (60 * 1000)

struct answer {
    struct htab_node node;
    struct arena *arena; /* holds the key, too */
    const void *value;
    int64_t until_ms;
};

static void answer_free(struct answer *x)
{
    arena_free(x->arena);
    free(x);
}

static struct answer *find(const struct memo *m, str key)
{
    return m->table.n ? HTAB_THING(htab_get(&m->table, key), struct answer, node) : NULL;
}

void memo_fini(struct memo *m)
{
    struct htab_walk w = {0};

    for (struct htab_node *n; m->table.n && (n = htab_next(&m->table, &w));)
        answer_free(HTAB_THING(n, struct answer, node));
    htab_fini(&m->table);
    turns_fini(&m->asking);
    *m = (struct memo){0};
}

const void *memo_get(const struct memo *m, str key, int64_t now_ms)
{
    const struct answer *x = find(m, key);

    return x && now_ms < x->until_ms ? x->value : NULL;
}

/* Those that pass are dropped: `prefix` when it has a pointer, else what has run out. */
static void drop_all(struct memo *m, const str *prefix, int64_t now_ms)
{
    VEC(struct answer *) gone = {0};
    struct htab_walk w = {0};

    for (struct htab_node *n; m->table.n && (n = htab_next(&m->table, &w));) {
        struct answer *x = HTAB_THING(n, struct answer, node);

        if (prefix ? str_starts(n->key, *prefix) : x->until_ms <= now_ms)
            vec_push(&gone, x);
    }
    for (uint32_t i = 0; i < gone.n; i++) {
        htab_del(&m->table, &gone.v[i]->node);
        answer_free(gone.v[i]);
    }
    vec_fini(&gone);
}

struct arena *memo_put(struct memo *m, str key, int64_t now_ms, int64_t for_ms)
{
    if (now_ms >= sat_add(m->swept_ms, SWEEP_MS)) {
        drop_all(m, NULL, now_ms);
        m->swept_ms = now_ms;
    }
    struct answer *x = xcalloc(1, sizeof(*x));

    x->arena = arena_new(256);
    x->node.key = arena_strdup(x->arena, key); /* before the old one goes: the key may be its own */
    memo_drop(m, key);
    x->until_ms = sat_add(now_ms, for_ms);
    htab_put(&m->table, &x->node);
    return x->arena;
}

void memo_set(struct memo *m, str key, const void *value)
{
    find(m, key)->value = value;
}

void memo_put_text(struct memo *m, str key, str value, int64_t now_ms, int64_t for_ms)
{
    struct arena *a = memo_put(m, key, now_ms, for_ms);
    str *text = arena_new_one(a, str);

    *text = arena_strdup(a, value);
    memo_set(m, key, text);
}

str memo_text(const struct memo *m, str key, int64_t now_ms)
{
    const str *text = memo_get(m, key, now_ms);

    return text ? *text : (str){0};
}

void memo_drop(struct memo *m, str key)
{
    struct answer *x = find(m, key);

    if (!x)
        return;
    htab_del(&m->table, &x->node);
    answer_free(x);
}

void memo_drop_prefix(struct memo *m, str prefix)
{
    drop_all(m, &prefix, 0);
}

static bool text_before(const str *x, const str *y, const void *ctx UNUSED)
{
    return str_cmp(*x, *y) < 0;
}

SORT_DEFINE(sort_texts, str, text_before)

uint32_t memo_keys(const struct memo *m, struct arena *a, int64_t now_ms, str **ret)
{
    struct htab_walk w = {0};
    uint32_t n_out = 0;

    *ret = arena_new_array(a, str, m->table.n);
    for (struct htab_node *n; m->table.n && (n = htab_next(&m->table, &w));)
        if (now_ms < ((const struct answer *)HTAB_THING(n, struct answer, node))->until_ms)
            (*ret)[n_out++] = arena_strdup(a, n->key);
    sort_texts(*ret, n_out, NULL);
    return n_out;
}
