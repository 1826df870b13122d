/* Pods by the hash of their uid. Entries that were forgotten stay in the table until they are the larger part of it. */
#include "control/podbook.h"

#include <stdlib.h>

#include "base/arena.h"
#include "base/map.h"
#include "base/vec.h"

struct entry {
    uint64_t key;
    bool gone;
    struct pod_times t;
};

struct podbook {
    struct u64map by_uid;
    VEC(struct entry) entries;
    uint32_t n_gone;
};

struct podbook *podbook_new(void)
{
    return xcalloc(1, sizeof(struct podbook));
}

void podbook_free(struct podbook *b)
{
    if (!b)
        return;
    u64map_fini(&b->by_uid);
    vec_fini(&b->entries);
    free(b);
}

static uint64_t key_of(str uid)
{
    return hash_bytes(uid.p, uid.n, 0);
}

static struct entry *find(const struct podbook *b, str uid)
{
    uint32_t ix = u64map_get(&b->by_uid, key_of(uid));

    return ix == MAP_NONE || b->entries.v[ix].gone ? NULL : &b->entries.v[ix];
}

static void sweep(struct podbook *b)
{
    uint32_t n = 0;

    u64map_fini(&b->by_uid);
    for (uint32_t i = 0; i < b->entries.n; i++)
        if (!b->entries.v[i].gone) {
            u64map_put(&b->by_uid, b->entries.v[i].key, n);
            b->entries.v[n++] = b->entries.v[i];
        }
    b->entries.n = n;
    b->n_gone = 0;
}

static struct entry *obtain(struct podbook *b, str uid)
{
    struct entry *e = find(b, uid);
    uint32_t ix;

    if (e)
        return e;
    if (b->n_gone > 64 && b->n_gone > b->entries.n / 2)
        sweep(b);
    ix = u64map_get(&b->by_uid, key_of(uid));
    if (ix != MAP_NONE) {
        b->entries.v[ix] = (struct entry){.key = key_of(uid)};
        b->n_gone--;
        return &b->entries.v[ix];
    }
    u64map_put(&b->by_uid, key_of(uid), b->entries.n);
    vec_push(&b->entries, (struct entry){.key = key_of(uid)});
    return &vec_last(&b->entries);
}

struct pod_times podbook_get(const struct podbook *b, str uid)
{
    const struct entry *e = find(b, uid);

    return e ? e->t : (struct pod_times){0};
}

static void once(int64_t *at, int64_t now_ms)
{
    if (*at == 0)
        *at = now_ms;
}

void podbook_ack(struct podbook *b, str uid, int64_t now_ms)
{
    once(&obtain(b, uid)->t.acked_ms, now_ms);
}

static bool decide(struct pod_times *t, int64_t now_ms)
{
    bool first = t->decided_ms == 0;

    once(&t->decided_ms, now_ms);
    return first && t->acked_ms != 0;
}

bool podbook_refused(struct podbook *b, str uid, int64_t now_ms)
{
    struct pod_times *t = &obtain(b, uid)->t;

    t->schedulable_ms = t->healthy_pool_ms = 0;
    return decide(t, now_ms);
}

bool podbook_placed(struct podbook *b, str uid, bool healthy_pool, int64_t now_ms)
{
    struct pod_times *t = &obtain(b, uid)->t;

    once(&t->schedulable_ms, now_ms);
    if (healthy_pool)
        once(&t->healthy_pool_ms, now_ms);
    else
        t->healthy_pool_ms = 0;
    return decide(t, now_ms);
}

void podbook_forget(struct podbook *b, str uid)
{
    struct entry *e = find(b, uid);

    if (!e)
        return;
    e->gone = true;
    b->n_gone++;
}
