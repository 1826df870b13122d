/* Which zone pods need, before anything is placed (scheduling 24.5): what they ask for, where their volumes are, what topology leaves them. */
#include "plan/pack.h"

enum { ZONE_FLEXIBLE, ZONE_NONE, ZONE_FIRST };

struct zones {
    uint64_t *v; /* bit set over the values of the zone key */
    uint32_t n_words;
    bool open; /* and others */
};

static void keep(struct zones *z, const uint64_t *allow, bool open)
{
    for (uint32_t i = 0; i < z->n_words; i++)
        z->v[i] &= allow[i];
    z->open = z->open && open;
}

/* Where any of the volume alternatives can be; false: one of them says nothing, or not in so many words. */
static bool volume_zones(const struct problem *p, const struct vol_alts *alts, uint64_t *out, uint32_t n_words)
{
    for (uint32_t i = 0; i < alts->n; i++) {
        uint32_t req = rs_get(&p->space, alts->rs[i], p->zone_key);

        if (req == REQ_NONE || p->space.reqs.v[req].open)
            return false;
        for (uint32_t w = 0; w < n_words; w++)
            out[w] |= p->space.reqs.v[req].allow[w];
    }
    return alts->n > 0;
}

/* ZONE_FIRST and the number of the value, if there is one. */
static uint32_t zone_of(struct packer *k, const struct shape *sh, uint64_t *memory)
{
    const struct problem *p = &k->p;
    const struct label_key *key = &p->space.keys.v[p->zone_key];
    const struct variant *v = &p->variants.v[sh->variant];
    uint32_t req = rs_get(&p->space, v->strict, p->zone_key), n = 0, last = 0;
    struct zones z = {memory, key->n_words, true};
    uint64_t *volumes = memory + z.n_words;

    memset(z.v, 0xff, z.n_words * sizeof(*z.v));
    memset(volumes, 0, z.n_words * sizeof(*volumes));
    if (req != REQ_NONE)
        keep(&z, p->space.reqs.v[req].allow, p->space.reqs.v[req].open);
    if (sh->vols != NONE && volume_zones(p, &p->vols.v[sh->vols], volumes, z.n_words))
        keep(&z, volumes, false);
    if (k->topo.any && sh->bare == NONE && z.n_words == 1) {
        uint64_t left = topology_open_values(&k->topo, sh->variant, p->zone_key);

        if (left != ~0ull)
            keep(&z, &left, false);
    }
    if (z.open)
        return ZONE_FLEXIBLE;
    for (uint32_t i = 0; i < key->n_vals; i++)
        if (bit_test(z.v, i)) {
            n++;
            last = i;
        }
    return n == 0 ? ZONE_NONE : n > 1 ? ZONE_FLEXIBLE : ZONE_FIRST + last;
}

static void add_zone(struct plan *out, str name, uint32_t n_pods)
{
    if (n_pods)
        out->zones[out->n_zones++] = (struct plan_zone){name, n_pods};
}

void zones_count(struct packer *k, struct plan *out, struct arena *a)
{
    const struct problem *p = &k->p;
    const struct label_key *key = &p->space.keys.v[p->zone_key];
    uint32_t *pods = arena_new_array(p->arena, uint32_t, p->shapes.n);
    uint32_t *by_zone = arena_new_array(p->arena, uint32_t, ZONE_FIRST + key->n_vals);
    uint64_t *memory = arena_new_array(p->arena, uint64_t, 2 * key->n_words);

    for (uint32_t i = 0; i < p->n_pods; i++)
        pods[p->shape_of[i]] += p->snap->pods[p->pods[i]].phase == PHASE_PENDING;
    for (uint32_t i = 0; i < p->shapes.n; i++)
        if (pods[i])
            by_zone[zone_of(k, &p->shapes.v[i], memory)] += pods[i];
    out->zones = arena_new_array(a, struct plan_zone, ZONE_FIRST + key->n_vals);
    for (uint32_t i = 0; i < key->n_vals; i++)
        add_zone(out, sym_str(p->snap->syms, key->vals[i]), by_zone[ZONE_FIRST + i]);
    add_zone(out, STR("flexible"), by_zone[ZONE_FLEXIBLE]);
    add_zone(out, STR("none"), by_zone[ZONE_NONE]);
}
