/* The queue of pods to place: largest first, then oldest, then by uid; those without a place go to the end again
 * (scheduling 9.4). */
#include "base/sort.h"
#include "plan/pack.h"

struct queued {
    uint64_t uid;
    int64_t created_ms;
    uint32_t pod, shape; /* pod: index into snapshot.pods */
};

static inline bool before(const struct queued *x, const struct queued *y, const void *ctx)
{
    const struct snapshot *s = ctx;

    if (x->created_ms != y->created_ms)
        return x->created_ms < y->created_ms;
    if (x->uid != y->uid)
        return x->uid < y->uid;
    return uid_cmp(s->pods[x->pod].uid, s->pods[y->pod].uid) < 0;
}

SORT_DEFINE(sort_by_all, struct queued, before)

bool late_turn_before(const struct packer *k, uint32_t a, uint32_t b)
{
    const struct snapshot *s = k->p.snap;
    uint32_t x = k->p.shapes.v[k->shape_of[a]].size_rank, y = k->p.shapes.v[k->shape_of[b]].size_rank;
    struct queued p = {uid_key(s->pods[k->pod_of[a]].uid), s->pods[k->pod_of[a]].created_ms, k->pod_of[a], 0},
                  q = {uid_key(s->pods[k->pod_of[b]].uid), s->pods[k->pod_of[b]].created_ms, k->pod_of[b], 0};
    return x != y ? x < y : before(&p, &q, s);
}

/* Eight hexadecimal digits in 32 bits, in the same order: all bytes of the number at once, without a branch that
 * random digits would mispredict. Whoever is not a lower-case digit does not read back as itself. */
static uint32_t hex_key(uint64_t uid, bool *all_hex)
{
    const uint64_t ones = 0x0101010101010101u;
    uint64_t digit = (uid & (ones * 0x0f)) + 9 * (uid >> 6 & ones), letter = (digit + ones * 6) >> 4 & ones;

    *all_hex &= digit + ones * '0' + letter * ('a' - '0' - 10) == uid;
    digit = (digit | digit >> 4) & 0x00ff00ff00ff00ffu;
    digit = (digit | digit >> 8) & 0x0000ffff0000ffffu;
    return (uint32_t)(digit | digit >> 16);
}

struct keyed {
    uint32_t key, at;
};

#define RADIX_MIN 256 /* below this merging is as quick */
#define RADIX_BITS 11

/* Stable, by the lowest `bits` bits of the key. */
static void radix_sort(struct keyed *k, struct keyed *spare, uint32_t n, unsigned bits)
{
    const uint32_t mask = (1u << RADIX_BITS) - 1;
    struct keyed *from = k, *to = spare;

    for (unsigned shift = 0; shift < bits; shift += RADIX_BITS) {
        uint32_t count[1u << RADIX_BITS] = {0}, at = 0;

        for (uint32_t i = 0; i < n; i++)
            count[from[i].key >> shift & mask]++;
        for (uint32_t v = 0; v < ARRAY_LEN(count); v++) {
            uint32_t c = count[v];

            count[v] = at;
            at += c;
        }
        for (uint32_t i = 0; i < n; i++)
            to[count[from[i].key >> shift & mask]++] = from[i];
        struct keyed *swap = from;
        from = to;
        to = swap;
    }
    if (from != k)
        memcpy(k, from, n * sizeof(*k));
}

/* Thousands of pods made within seconds, with random uids: counting beats comparing. False: the keys do not lend
 * themselves to it, and nothing has changed. */
static bool radix_queue(struct queued *q, uint32_t n)
{
    struct keyed *k = xmalloc(2 * (size_t)n * sizeof(*k));
    int64_t min = INT64_MAX, max = INT64_MIN;
    bool ok = true;

    for (uint32_t i = 0; i < n; i++) {
        k[i] = (struct keyed){hex_key(q[i].uid, &ok), i};
        min = MIN(min, q[i].created_ms);
        max = MAX(max, q[i].created_ms);
    }
    uint64_t range = (uint64_t)max - (uint64_t)min;
    ok &= range <= UINT32_MAX;
    if (ok) {
        struct queued *was = xmalloc(n * sizeof(*was));

        radix_sort(k, k + n, n, 32);
        for (uint32_t i = 0; i < n; i++)
            k[i].key = (uint32_t)((uint64_t)q[k[i].at].created_ms - (uint64_t)min);
        radix_sort(k, k + n, n, range ? 64u - (unsigned)__builtin_clzll(range) : 0);
        memcpy(was, q, n * sizeof(*was));
        for (uint32_t i = 0; i < n; i++)
            q[i] = was[k[i].at];
        free(was);
    }
    free(k);
    return ok;
}

static void sort_equal_sizes(struct queued *q, uint32_t n, const struct snapshot *s)
{
    if (n < RADIX_MIN || !radix_queue(q, n)) {
        sort_by_all(q, n, s);
        return;
    }
    for (uint32_t i = 0, end; i < n; i = end) { /* equal so far, which is rare: the rest of the uid decides */
        for (end = i + 1; end < n && q[end].uid == q[i].uid && q[end].created_ms == q[i].created_ms; end++)
            continue;
        if (end - i > 1)
            sort_by_all(q + i, end - i, s);
    }
}

void turns_build(struct packer *k)
{
    const struct problem *p = &k->p;
    const struct snapshot *s = p->snap;
    struct queued *q = xmalloc(p->n_pods * sizeof(*q));
    uint32_t *start = xcalloc(p->shapes.n + 2, sizeof(*start)), at = 0;

    for (uint32_t i = 0; i < p->n_pods; i++)
        start[p->shapes.v[p->shape_of[i]].size_rank + 1]++;
    for (uint32_t r = 1; r <= p->shapes.n; r++)
        start[r] += start[r - 1];
    for (uint32_t i = 0; i < p->n_pods; i++) {
        const struct pod *pod = &s->pods[p->pods[i]];
        uint32_t shape = p->shape_of[i];

        q[start[p->shapes.v[shape].size_rank]++] =
            (struct queued){uid_key(pod->uid), pod->created_ms, p->pods[i], shape};
    }
    for (uint32_t r = 0; r < p->shapes.n; r++) { /* start[r] is now where rank r ends */
        sort_equal_sizes(q + at, start[r] - at, s);
        at = start[r];
    }
    k->pod_of = arena_new_array(p->arena, uint32_t, p->n_pods);
    k->shape_of = arena_new_array(p->arena, uint32_t, p->n_pods);
    for (uint32_t i = 0; i < p->n_pods; i++) {
        k->pod_of[i] = q[i].pod;
        k->shape_of[i] = q[i].shape;
    }
    k->queue = arena_new_array(p->arena, uint32_t, MAX(p->n_pods, 1u));
    k->last_len = arena_new_array(p->arena, uint32_t, p->n_pods);
    k->next = arena_new_array(p->arena, uint32_t, p->n_pods);
    k->placed = arena_new_array(p->arena, bool, p->n_pods);
    free(start);
    free(q);
}

void queue_start(struct packer *k, const uint32_t *turns, uint32_t n)
{
    for (uint32_t i = 0; i < n; i++) {
        uint32_t turn = turns ? turns[i] : i;

        k->queue[i] = turn;
        k->last_len[turn] = NONE;
        k->placed[turn] = false;
    }
    k->round = turns;
    k->n_round = k->queue_len = k->queue_cap = n;
    k->queue_head = 0;
}

/* The loop ends when a full turn of the queue placed nobody. */
bool queue_pop(struct packer *k, uint32_t *ret_pod)
{
    if (k->queue_len == 0)
        return false;
    uint32_t pod = k->queue[k->queue_head];
    if (k->last_len[pod] == k->queue_len)
        return false;
    k->queue_head = k->queue_head + 1 == k->queue_cap ? 0 : k->queue_head + 1;
    k->queue_len--;
    *ret_pod = pod;
    return true;
}

bool queue_next_like(struct packer *k, uint32_t turn, uint32_t *ret_pod)
{
    uint32_t pod = k->queue[k->queue_head];

    return k->queue_len && k->shape_of[pod] == k->shape_of[turn] && k->last_len[pod] == NONE &&
           needs_settled(k, pod) == needs_settled(k, turn) && queue_pop(k, ret_pod);
}

void queue_push(struct packer *k, uint32_t pod)
{
    k->queue[(k->queue_head + k->queue_len) % k->queue_cap] = pod;
    k->last_len[pod] = ++k->queue_len;
}
