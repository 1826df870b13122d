#include "cloud/ec2/universe.h"

#include "base/map.h"
#include "base/vec.h"

static int by_name(const void *a, const void *b, void *ctx UNUSED)
{
    const struct ec2_type_info *x = a, *y = b;

    return str_cmp(x->name, y->name);
}

static int by_text(const void *a, const void *b, void *ctx UNUSED)
{
    const str *x = a, *y = b;

    return str_cmp(*x, *y);
}

static int by_pair(const void *a, const void *b, void *ctx UNUSED)
{
    const struct ec2_type_zone *x = a, *y = b;
    int c = str_cmp(x->type, y->type);

    return c ? c : str_cmp(x->zone, y->zone);
}

static uint64_t mix_str(uint64_t h, str s)
{
    return hash_bytes(s.p, s.n, hash_mix(h, s.n));
}

static uint64_t mix_strs(uint64_t h, const str *v, uint32_t n)
{
    h = hash_mix(h, n);
    for (uint32_t i = 0; i < n; i++)
        h = mix_str(h, v[i]);
    return h;
}

static uint64_t mix_accels(uint64_t h, const struct ec2_accel *v, uint32_t n)
{
    h = hash_mix(h, n);
    for (uint32_t i = 0; i < n; i++) {
        h = mix_str(mix_str(h, v[i].name), v[i].manufacturer);
        h = hash_mix(hash_mix(h, (uint64_t)v[i].count), (uint64_t)v[i].memory_mib);
        h = hash_mix(h, (uint64_t)v[i].cores);
    }
    return h;
}

/* Every member: whatever EC2 says differently makes another universe. */
static uint64_t mix_info(uint64_t h, const struct ec2_type_info *x)
{
    const uint64_t numbers[] = {
        x->bare_metal,
        x->has_processor,
        (uint64_t)(x->clock_ghz * 1000 + 0.5),
        (uint64_t)x->vcpus,
        (uint64_t)x->memory_mib,
        x->has_storage,
        (uint64_t)x->storage_gb,
        (uint64_t)x->ebs_mbps,
        (uint64_t)x->default_card,
        (uint64_t)x->ipv4_per_interface,
        x->has_efa,
        (uint64_t)x->max_efa,
        x->encryption_in_transit,
        x->has_neuron,
        x->n_cards,
    };
    const str texts[] = {x->name, x->hypervisor, x->manufacturer, x->nvme, x->ebs_optimized, x->ena, x->enclaves};

    h = hash_bytes(numbers, sizeof(numbers), h);
    h = mix_strs(h, texts, ARRAY_LEN(texts));
    h = mix_strs(h, x->usage_classes, x->n_usage_classes);
    h = mix_strs(h, x->archs, x->n_archs);
    h = mix_strs(h, x->features, x->n_features);
    h = mix_strs(h, x->placement_strategies, x->n_placement_strategies);
    for (uint32_t i = 0; i < x->n_cards; i++)
        h = hash_mix(h, u64_pair((uint32_t)x->cards[i].index, (uint32_t)x->cards[i].max_interfaces));
    h = mix_accels(h, x->gpus, x->n_gpus);
    h = mix_accels(h, x->accelerators, x->n_accelerators);
    return mix_accels(h, x->neurons, x->n_neurons);
}

/* Sorted, each name once: the first that was listed. */
static void sort_types(struct arena *a, const struct ec2_type_infos *infos, struct ec2_universe *u)
{
    u->types = arena_dup_array(a, struct ec2_type_info, infos->v, infos->n);
    sort_stable(u->types, infos->n, sizeof(*u->types), by_name, NULL);
    for (uint32_t i = 0; i < infos->n; i++)
        if (u->types[i].name.n && (u->n == 0 || !str_eq(u->types[u->n - 1].name, u->types[i].name)))
            u->types[u->n++] = u->types[i];
}

static bool sort_zones(struct arena *a, const struct ec2_type_zone *v, uint32_t n, struct ec2_universe *u)
{
    struct strmap seen = {0};
    VEC(str) zones = {0};

    for (uint32_t i = 0; i < n && zones.n <= EC2_MAX_ZONES; i++)
        if (v[i].zone.n && strmap_get(&seen, v[i].zone) == MAP_NONE) {
            strmap_put(&seen, v[i].zone, zones.n);
            vec_push(&zones, v[i].zone);
        }
    u->n_zones = zones.n;
    u->zones = vec_to_arena(&zones, a);
    sort_stable(u->zones, u->n_zones, sizeof(*u->zones), by_text, NULL);
    vec_fini(&zones);
    strmap_fini(&seen);
    return u->n_zones > 0 && u->n_zones <= EC2_MAX_ZONES;
}

static uint16_t zone_ix(const struct ec2_universe *u, str zone)
{
    uint32_t i = 0;

    while (!str_eq(u->zones[i], zone)) /* it is there: the zones are those of the offerings */
        i++;
    return (uint16_t)i;
}

static void place_types(struct arena *a, const struct ec2_type_zone *offered, uint32_t n, struct ec2_universe *u)
{
    struct ec2_type_zone *v = arena_dup_array(a, struct ec2_type_zone, offered, n);
    uint32_t at = 0;

    sort_stable(v, n, sizeof(*v), by_pair, NULL);
    u->where = arena_new_array(a, struct ec2_type_zones, u->n);
    for (uint32_t i = 0; i < u->n; i++) {
        struct ec2_type_zones *w = &u->where[i];
        uint32_t end;

        while (at < n && str_cmp(v[at].type, u->types[i].name) < 0)
            at++;
        for (end = at; end < n && str_eq(v[end].type, u->types[i].name); end++)
            ;
        w->v = arena_new_array(a, uint16_t, end - at);
        for (; at < end; at++) {
            if (!v[at].zone.n)
                continue;
            uint16_t z = zone_ix(u, v[at].zone);

            if (w->n == 0 || w->v[w->n - 1] != z)
                w->v[w->n++] = z;
        }
    }
}

bool ec2_universe_build(struct arena *a, const struct ec2_type_infos *infos, const struct ec2_type_zone *offered,
                        uint32_t n_offered, struct ec2_universe *ret, struct err *e)
{
    struct ec2_universe u = {0};

    if (infos->n > EC2_MAX_TYPES || n_offered > EC2_MAX_TYPES * EC2_MAX_ZONES)
        return err_set(e, ERR_INVALID, "%u instance types in %u places are more than there can be", infos->n,
                       n_offered);
    sort_types(a, infos, &u);
    if (u.n == 0)
        return err_set(e, ERR_INVALID, "no instance types found");
    if (!sort_zones(a, offered, n_offered, &u))
        return err_set(e, ERR_INVALID, "%s", u.n_zones ? "too many zones" : "no instance type offerings found");
    place_types(a, offered, n_offered, &u);
    for (uint32_t i = 0; i < u.n; i++) {
        u.hash = mix_info(u.hash, &u.types[i]);
        u.hash = hash_bytes(u.where[i].v, u.where[i].n * sizeof(*u.where[i].v), u.hash);
    }
    u.hash = mix_strs(u.hash, u.zones, u.n_zones);
    *ret = u;
    return true;
}

const struct ec2_type_info *ec2_universe_find(const struct ec2_universe *u, str type)
{
    uint32_t lo = 0, hi = u->n;

    while (lo < hi) {
        uint32_t mid = lo + (hi - lo) / 2;
        int c = str_cmp(type, u->types[mid].name);

        if (c == 0)
            return &u->types[mid];
        if (c < 0)
            hi = mid;
        else
            lo = mid + 1;
    }
    return NULL;
}
