#include "cli/pod_groups.h"

#define MAX_ITEMS 8 /* workloads on one line */

static bool is_number(str s)
{
    for (size_t i = 0; i < s.n; i++)
        if (s.p[i] < '0' || s.p[i] > '9')
            return false;
    return s.n > 0;
}

/* The alphabet of pod-template hashes and of the ends of generated names: no vowels, no 0, 1 and 3. */
static bool is_generated(str s)
{
    for (size_t i = 0; i < s.n; i++)
        if (!memchr("bcdfghjklmnpqrstvwxz2456789", s.p[i], 27))
            return false;
    return s.n > 0;
}

static str cut_last(str s, str *ret_end)
{
    size_t i = s.n;

    while (i > 0 && s.p[i - 1] != '-')
        i--;
    *ret_end = str_sub(s, i, s.n);
    return i > 1 ? str_sub(s, 0, i - 1) : (str){0};
}

/* web-7d4b9c6f5d-x2x4z, web-0 and web-1 are all of "web"; a name that says nothing of the kind stands for itself. */
static str workload_name(const struct pod_groups *g, const struct pod *p)
{
    str end, head = cut_last(p->name, &end), owner = sym_str(g->s->syms, p->owner_name);

    if (p->owner == OWNER_NODE) /* a mirror pod: it ends in the name of its node */
        return p->name;
    if (owner.n) {
        str below = cut_last(owner, &end);

        return p->owner == OWNER_REPLICASET && below.n && end.n >= 6 && is_generated(end) ? below : owner;
    }
    return head.n && is_number(end) ? head : p->name;
}

static str label_of(const struct pod_groups *g, sym ns, str name)
{
    if (sym_eq(ns, SYM(DEFAULT)))
        return name;
    return arena_printf(g->a, STR_FMT "/" STR_FMT, STR_ARG(sym_str(g->s->syms, ns)), STR_ARG(name));
}

static uint32_t workload_of(struct pod_groups *g, uint32_t pod)
{
    const struct pod *p = &g->s->pods[pod];
    str name = workload_name(g, p);
    uint32_t number = strmap_get(&g->names, name);

    if (number == MAP_NONE) {
        number = g->names.n;
        strmap_put(&g->names, name, number);
    }
    uint32_t ix = u64map_get(&g->workloads, u64_pair(p->ns.v, number));
    if (ix == MAP_NONE) {
        ix = g->labels.n;
        u64map_put(&g->workloads, u64_pair(p->ns.v, number), ix);
        vec_push(&g->labels, label_of(g, p->ns, name));
        vec_push(&g->slot, 0);
    }
    return ix;
}

/* Most pods first, then by name. */
static int cmp_shares(const void *a, const void *b, void *ctx)
{
    const struct pod_groups *g = ctx;
    const struct pod_share *x = a, *y = b;

    if (x->n != y->n)
        return x->n > y->n ? -1 : 1;
    return str_cmp(g->labels.v[x->workload], g->labels.v[y->workload]);
}

uint32_t pod_groups_count(struct pod_groups *g, const uint32_t *pods, uint32_t n)
{
    uint32_t first = g->shares.n;

    for (uint32_t i = 0; i < n; i++) {
        uint32_t ix = workload_of(g, pods[i]);

        if (!g->slot.v[ix]) {
            vec_push(&g->shares, (struct pod_share){ix, 0, pods[i]});
            g->slot.v[ix] = g->shares.n;
        }
        g->shares.v[g->slot.v[ix] - 1].n++;
    }
    for (uint32_t i = first; i < g->shares.n; i++)
        g->slot.v[g->shares.v[i].workload] = 0;
    if (n)
        sort_stable(g->shares.v + first, g->shares.n - first, sizeof(struct pod_share), cmp_shares, g);
    return first;
}

const str *pod_groups_items(struct pod_groups *g, uint32_t first, uint32_t n, bool one_node, uint32_t *ret_n)
{
    uint32_t shown = n > MAX_ITEMS ? MAX_ITEMS - 1 : n;
    str *items = arena_new_array(g->a, str, shown + 1);
    uint64_t left = 0;

    for (uint32_t i = 0; i < shown; i++) {
        const struct pod_share *s = &g->shares.v[first + i];
        const struct pod *p = &g->s->pods[s->pod];
        str label = g->labels.v[s->workload];

        if (s->n > 1)
            items[i] = arena_printf(g->a, STR_FMT " ×%u", STR_ARG(label), s->n);
        else
            items[i] = one_node ? label_of(g, p->ns, p->name) : label;
    }
    for (uint32_t i = shown; i < n; i++)
        left += g->shares.v[first + i].n;
    if (shown < n)
        items[shown] = arena_printf(g->a, "and %llu more pods of %u workloads", (unsigned long long)left, n - shown);
    *ret_n = shown + (shown < n);
    return items;
}

void pod_groups_fini(struct pod_groups *g)
{
    strmap_fini(&g->names);
    u64map_fini(&g->workloads);
    vec_fini(&g->labels);
    vec_fini(&g->slot);
    vec_fini(&g->shares);
}
