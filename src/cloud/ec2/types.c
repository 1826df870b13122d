/* types - from what EC2 says of a type to the labels that a node of it would have (aws 2.8.1), and the order in which a class is resolved.
 *
 * A region has about a thousand types with some thirty labels each, nearly all of them labels that other types have too. So that a class is resolved in a few
 * milliseconds, texts are interned once per class or once per distinct number, and what does not differ between types is built once.
 */
#include "cloud/ec2/types.h"

#include <math.h>

#include "base/sb.h"
#include "cloud/catalog.h"
#include "cloud/ec2/types_int.h"

static sym number(struct build *b, int64_t n)
{
    uint32_t known = u64map_get(&b->numbers, (uint64_t)n);
    struct sb text = {0};

    if (known != MAP_NONE)
        return (sym){known};
    sb_i64(&text, n);
    sym s = sym_of(b->t, sb_view(&text));
    sb_fini(&text);
    u64map_put(&b->numbers, (uint64_t)n, s.v);
    return s;
}

/* "RTX PRO 4500" as a label value: rtx-pro-4500. */
static sym kebab(struct build *b, str text)
{
    char small[64];
    char *out = text.n <= sizeof(small) ? small : arena_alloc(b->a, text.n, 1);

    for (size_t i = 0; i < text.n; i++) {
        char c = text.p[i];

        out[i] = c == ' ' ? '-' : c >= 'A' && c <= 'Z' ? (char)(c - 'A' + 'a') : c;
    }
    return sym_of(b->t, (str){out, text.n});
}

static void has(struct build *b, struct req_expr *reqs, enum ec2_label label, sym value)
{
    reqs[N_CORE + label] = catalog_req(b->a, b->keys[label], &value, 1);
}

static void has_number(struct build *b, struct req_expr *reqs, enum ec2_label label, int64_t n)
{
    has(b, reqs, label, number(b, n));
}

static size_t digits_at(str s, size_t from)
{
    size_t n = 0;

    while (from + n < s.n && s.p[from + n] >= '0' && s.p[from + n] <= '9')
        n++;
    return n;
}

/* Category and generation: leading letters, perhaps a size like "-6tb", then digits. */
static bool split_family(str family, str *ret_category, str *ret_generation)
{
    size_t letters = 0, at;

    while (letters < family.n && family.p[letters] >= 'a' && family.p[letters] <= 'z')
        letters++;
    at = letters;
    if (at < family.n && family.p[at] == '-') {
        size_t n = digits_at(family, at + 1);

        if (n == 0 || !str_starts(str_sub(family, at + 1 + n, family.n), STR("tb")))
            return false;
        at += 1 + n + 2;
    }
    size_t n = digits_at(family, at);
    if (letters == 0 || n == 0)
        return false;
    *ret_category = str_sub(family, 0, letters);
    *ret_generation = str_sub(family, at, at + n);
    return true;
}

static void name_labels(struct build *b, const struct ec2_type_info *info, struct req_expr *reqs)
{
    str family, size, category, generation;

    if (str_cut(info->name, '.', &family, &size)) {
        has(b, reqs, EC2_L_FAMILY, sym_of(b->t, family));
        has(b, reqs, EC2_L_SIZE, sym_of(b->t, size));
        if (split_family(family, &category, &generation)) {
            has(b, reqs, EC2_L_CATEGORY, sym_of(b->t, category));
            has(b, reqs, EC2_L_GENERATION, sym_of(b->t, generation));
        }
    }
    has(b, reqs, EC2_L_FLEX, str_contains(family, STR("-flex")) ? b->yes : b->no);
}

static void machine_labels(struct build *b, const struct ec2_type_info *info, struct req_expr *reqs)
{
    has_number(b, reqs, EC2_L_CPU, info->vcpus);
    if (info->has_processor) {
        has(b, reqs, EC2_L_CPU_MAKER, kebab(b, info->manufacturer));
        has_number(b, reqs, EC2_L_CLOCK, llround(info->clock_ghz * 1000)); /* "0" where EC2 does not tell */
    }
    has_number(b, reqs, EC2_L_MEMORY, info->memory_mib);
    if (str_is(info->ebs_optimized, "default") && info->ebs_mbps)
        has_number(b, reqs, EC2_L_EBS, info->ebs_mbps);
    if (b->fact && b->fact->network_mbps)
        has_number(b, reqs, EC2_L_NETWORK, b->fact->network_mbps);
    if (info->has_storage && !str_is(info->nvme, "unsupported"))
        has_number(b, reqs, EC2_L_NVME, info->storage_gb);
    has(b, reqs, EC2_L_HYPERVISOR, sym_of(b->t, info->hypervisor)); /* the empty value on bare metal */
    has(b, reqs, EC2_L_ENCRYPTION, info->encryption_in_transit ? b->yes : b->no);
    has(b, reqs, EC2_L_ENCLAVES, str_is(info->enclaves, "supported") ? b->yes : b->no);
}

static void accelerator_labels(struct build *b, const struct ec2_type_info *info, struct req_expr *reqs)
{
    const struct ec2_accel *x = NULL;

    if (info->n_gpus == 1) {
        const struct ec2_accel *g = info->gpus;

        has(b, reqs, EC2_L_GPU_NAME, kebab(b, g->name));
        has(b, reqs, EC2_L_GPU_MAKER, kebab(b, g->manufacturer));
        has_number(b, reqs, EC2_L_GPU_COUNT, g->count); /* 0 for a slice of a GPU */
        has_number(b, reqs, EC2_L_GPU_MEMORY, g->memory_mib);
    }
    if (info->n_accelerators == 1 && !info->has_neuron)
        x = info->accelerators;
    if (info->n_neurons == 1)
        x = info->neurons;
    if (!x)
        return;
    has(b, reqs, EC2_L_ACCEL_NAME, kebab(b, x->name));
    has(b, reqs, EC2_L_ACCEL_MAKER, x == info->neurons ? sym_of(b->t, STR("aws")) : kebab(b, x->manufacturer));
    has_number(b, reqs, EC2_L_ACCEL_COUNT, x->count);
}

/* The first one that Kubernetes knows. Without any, the list as it is, for whoever looks why nothing fits. */
static sym arch_of(struct build *b, const struct ec2_type_info *info)
{
    struct sb all = {0};

    for (uint32_t i = 0; i < info->n_archs; i++) {
        if (str_is(info->archs[i], "x86_64"))
            return b->amd64;
        if (str_is(info->archs[i], "arm64"))
            return b->arm64;
    }
    sb_char(&all, '[');
    for (uint32_t i = 0; i < info->n_archs; i++)
        sb_printf(&all, "%s" STR_FMT, i ? " " : "", STR_ARG(info->archs[i]));
    sb_char(&all, ']');
    sym ret = sym_of(b->t, sb_view(&all));
    sb_fini(&all);
    return ret;
}

uint32_t ec2_ways_to_buy(const struct ec2_type_info *info)
{
    uint32_t ways = 0;

    for (uint32_t i = 0; i < info->n_usage_classes; i++)
        ways |= str_is(info->usage_classes[i], "on-demand") ? BUY_ON_DEMAND
                : str_is(info->usage_classes[i], "spot")    ? BUY_SPOT
                                                            : 0u;
    return ways;
}

static void zone_labels(struct build *b, const struct ec2_type_zones *where, struct req_expr *reqs)
{
    sym *names = arena_new_array(b->a, sym, where->n), *ids = arena_new_array(b->a, sym, where->n);
    uint32_t n = 0, n_ids = 0;

    for (uint32_t i = 0; i < where->n; i++) {
        const struct zone_view *z = &b->zones[where->v[i]];

        if (z->n_subnets == 0)
            continue;
        names[n++] = z->name;
        if (sym_some(z->id))
            ids[n_ids++] = z->id;
    }
    reqs[R_ZONE] = (struct req_expr){.key = SYM(ZONE), .op = n ? OP_IN : OP_DOES_NOT_EXIST, .n_vals = n, .vals = names};
    reqs[N_CORE + EC2_L_ZONE_ID] =
        (struct req_expr){.key = b->keys[EC2_L_ZONE_ID], .op = OP_IN, .n_vals = n_ids, .vals = ids};
}

static void add_once(sym *v, uint32_t *n, sym s)
{
    for (uint32_t i = 0; i < *n; i++)
        if (sym_eq(v[i], s))
            return;
    v[(*n)++] = s;
}

static void reservation_labels(struct build *b, struct req_expr *reqs)
{
    static const enum ec2_label labels[] = {EC2_L_RESERVATION_ID, EC2_L_RESERVATION_TYPE,
                                            EC2_L_RESERVATION_INTERRUPTIBLE};
    uint32_t most = b->n_reserved_of, n[ARRAY_LEN(labels)] = {0};
    sym *vals = arena_new_array(b->a, sym, most * ARRAY_LEN(labels));

    for (uint32_t i = 0; i < most; i++) {
        const struct ec2_class_reservation *r = b->reserved_of[i];

        add_once(vals, &n[0], sym_of(b->t, r->id));
        add_once(vals + most, &n[1], sym_of(b->t, r->kind));
        add_once(vals + 2 * (size_t)most, &n[2], r->interruptible ? b->yes : b->no);
    }
    for (size_t i = 0; i < ARRAY_LEN(labels); i++)
        reqs[N_CORE + labels[i]] =
            (struct req_expr){.key = b->keys[labels[i]], .op = OP_IN, .n_vals = n[i], .vals = vals + i * most};
}

static void capacity_type_label(struct build *b, const struct ec2_type_info *info, struct req_expr *reqs)
{
    uint32_t ways = ec2_ways_to_buy(info), n = 0;
    sym v[3];

    if (b->n_reserved_of == 0 && ways == (BUY_ON_DEMAND | BUY_SPOT))
        return; /* what any type starts from */
    if (ways & BUY_ON_DEMAND)
        v[n++] = SYM(ON_DEMAND);
    if (ways & BUY_SPOT)
        v[n++] = SYM(SPOT);
    if (b->n_reserved_of)
        v[n++] = SYM(RESERVED);
    reqs[R_CT] = catalog_req(b->a, SYM(CT), v, n);
}

/* The reservations of the class that are for this type. */
static void find_reservations(struct build *b, uint32_t type_ix)
{
    const struct ec2_class *k = b->in->class;

    b->n_reserved_of = 0;
    for (uint32_t i = 0; i < k->status.n_reservations; i++)
        if (b->reservation_type[i] == type_ix)
            b->reserved_of[b->n_reserved_of++] = &k->status.reservations[i];
}

static bool type_requirements(struct build *b, uint32_t ix, struct itype *it)
{
    const struct ec2_type_info *info = &b->in->universe->types[ix];
    struct req_expr *reqs = arena_dup_array(b->a, struct req_expr, b->any_type, b->n_any_type);
    sym arch = arch_of(b, info);
    bool windows = b->family->windows_build && sym_eq(arch, b->amd64);

    reqs[R_ITYPE] = catalog_req(b->a, SYM(ITYPE), &it->name, 1);
    reqs[R_ARCH] = catalog_req(b->a, SYM(ARCH), &arch, 1);
    if (b->family->windows_build)
        reqs[R_OS] = catalog_req(b->a, SYM(OS), &b->os_windows, windows ? 1 : 0);
    capacity_type_label(b, info, reqs);
    zone_labels(b, &b->in->universe->where[ix], reqs);
    name_labels(b, info, reqs);
    machine_labels(b, info, reqs);
    accelerator_labels(b, info, reqs);
    if (b->n_reserved_of)
        reservation_labels(b, reqs);
    it->requirements = reqs;
    it->n_requirements = b->n_any_type;
    if (reqs[N_CORE + EC2_L_ZONE_ID].n_vals == 0) { /* nothing is said, rather than that there is none */
        uint32_t at = N_CORE + EC2_L_ZONE_ID;

        memmove(&reqs[at], &reqs[at + 1], (--it->n_requirements - at) * sizeof(*reqs));
    }
    return windows;
}

uint32_t ec2_partitions(const struct ec2_placement_group *g)
{
    if (!g || !str_is(g->strategy, "partition") || g->partitions <= 0)
        return 0;
    return (uint32_t)MIN(g->partitions, EC2_MAX_PARTITIONS);
}

static void placement_labels(struct build *b)
{
    const struct ec2_placement_group *g = b->in->placement;
    sym id = sym_of(b->t, g->id);

    b->any_type[b->n_any_type++] = catalog_req(b->a, b->keys[EC2_L_PLACEMENT_GROUP], &id, 1);
    uint32_t n = ec2_partitions(g);
    sym v[EC2_MAX_PARTITIONS];

    if (n == 0)
        return;
    for (uint32_t i = 0; i < n; i++)
        v[i] = number(b, i + 1);
    b->any_type[b->n_any_type++] = catalog_req(b->a, b->keys[EC2_L_PLACEMENT_PARTITION], v, n);
}

/* Labels that all types share; of the others, that a type does not have them. */
static void any_type_init(struct build *b)
{
    sym tenancy[] = {SYM(DEFAULT), sym_of(b->t, STR("dedicated"))};
    sym region = sym_of(b->t, b->in->region), build = sym_of(b->t, str_c(b->family->windows_build));

    b->any_type[R_OS] = catalog_req(b->a, SYM(OS), &b->os_linux, 1);
    b->any_type[R_REGION] = catalog_req(b->a, SYM(REGION), &region, 1);
    b->any_type[R_WINBUILD] = catalog_req(b->a, SYM(WINBUILD), &build, sym_some(build) ? 1 : 0);
    b->any_type[R_CT] = catalog_req(b->a, SYM(CT), (sym[]){SYM(ON_DEMAND), SYM(SPOT)}, 2);
    for (uint32_t i = 0; i < EC2_N_LABELS_ON_TYPES; i++)
        b->any_type[N_CORE + i] = catalog_req(b->a, b->keys[i], NULL, 0);
    b->any_type[N_CORE + EC2_L_TENANCY] = catalog_req(b->a, b->keys[EC2_L_TENANCY], tenancy, ARRAY_LEN(tenancy));
    b->n_any_type = N_CORE + EC2_N_LABELS_ON_TYPES;
    if (b->in->placement)
        placement_labels(b);
}

/* Which subnets the class has in each zone, and the zone's id, which only they tell. */
static void zones_init(struct build *b)
{
    const struct ec2_universe *u = b->in->universe;
    const struct ec2_class *k = b->in->class;

    b->zones = arena_new_array(b->a, struct zone_view, u->n_zones);
    for (uint32_t z = 0; z < u->n_zones; z++) {
        struct zone_view *v = &b->zones[z];
        str *subnets = arena_new_array(b->a, str, k->status.n_subnets);

        v->text = arena_strdup(b->a, u->zones[z]);
        v->name = sym_of(b->t, v->text);
        v->subnets = subnets;
        for (uint32_t i = 0; i < k->status.n_subnets; i++) {
            const struct ec2_class_subnet *s = &k->status.subnets[i];

            if (!str_eq(s->zone, v->text))
                continue;
            subnets[v->n_subnets++] = arena_strdup(b->a, s->id);
            if (!v->id_text.n)
                v->id_text = arena_strdup(b->a, s->zone_id);
        }
        v->id = sym_of(b->t, v->id_text);
    }
}

static void reservations_init(struct build *b)
{
    const struct ec2_class *k = b->in->class;

    b->reserved_of = arena_new_array(b->a, const struct ec2_class_reservation *, k->status.n_reservations);
    b->reservation_type = arena_new_array(b->a, uint32_t, k->status.n_reservations);
    for (uint32_t i = 0; i < k->status.n_reservations; i++) {
        const struct ec2_type_info *info = ec2_universe_find(b->in->universe, k->status.reservations[i].type);

        b->reservation_type[i] = info ? (uint32_t)(info - b->in->universe->types) : UINT32_MAX;
    }
}

static void build_init(struct build *b)
{
    b->family = ec2_family_traits(b->in->class->family);
    for (uint32_t i = 0; i < EC2_N_LABELS; i++)
        b->keys[i] = ec2_label_key(b->t, i);
    b->amd64 = sym_of(b->t, STR("amd64"));
    b->arm64 = sym_of(b->t, STR("arm64"));
    b->os_linux = sym_of(b->t, STR("linux"));
    b->os_windows = sym_of(b->t, STR("windows"));
    b->yes = SYM(TRUE);
    b->no = sym_of(b->t, STR("false"));
    zones_init(b);
    any_type_init(b);
    reservations_init(b);
    capacity_init(b);
}

static bool build_types(struct build *b, struct ec2_types *ret, struct err *e)
{
    const struct ec2_universe *u = b->in->universe;

    ret->v = arena_new_array(b->a, struct itype, u->n);
    ret->detail = arena_new_array(b->a, struct ec2_type_detail, u->n);
    ret->n = u->n;
    for (uint32_t i = 0; i < u->n; i++) {
        struct itype *it = &ret->v[i];
        struct ec2_type_detail *d = &ret->detail[i];

        d->info = &u->types[i];
        d->compatible = ec2_type_compatible(d->info, b->in->class, b->in->placement);
        it->name = sym_of(b->t, d->info->name);
        b->fact = ec2_fact_of(d->info->name);
        find_reservations(b, i);
        bool windows = type_requirements(b, i, it);
        if (!type_capacity(b, d->info, windows, it, d, e))
            return err_wrap(e, "resolving instance type " STR_FMT, STR_ARG(d->info->name));
    }
    return true;
}

bool ec2_types_resolve(struct arena *a, struct syms *t, const struct ec2_types_input *in, struct ec2_types *ret,
                       struct err *e)
{
    struct build b = {.a = a, .t = t, .in = in};
    struct ec2_types types = {0};

    if (in->universe->n == 0)
        return err_set(e, ERR_INVALID, "no instance types found");
    if (in->class->status.n_subnets == 0)
        return err_set(e, ERR_INVALID, "no subnets found");
    build_init(&b);
    bool ok = build_types(&b, &types, e);
    if (ok) {
        offers_init(&b, &types);
        (void)ec2_types_offerings(a, in, &types);
        *ret = types;
    }
    capacity_fini(&b);
    u64map_fini(&b.numbers);
    return ok;
}

uint64_t ec2_amis_hash(const struct ec2_class *k)
{
    uint64_t h = k->status.n_amis;

    for (uint32_t i = 0; i < k->status.n_amis; i++)
        h = hash_bytes(k->status.amis[i].id.p, k->status.amis[i].id.n, hash_mix(h, i));
    return h;
}
