/* catalog - the built-in lists, computed from their formulas (scheduling 28.1, 28.2).
 *
 * Prices are part of the contract: recorded decisions compare types by price down to the last bit, so the double
 * arithmetic keeps the order in which Karpenter's generators do it.
 */
#include "cloud/catalog.h"

#include "base/sb.h"

struct req_expr catalog_req(struct arena *a, sym key, const sym *vals, uint32_t n)
{
    if (n == 0)
        return (struct req_expr){.key = key, .op = OP_DOES_NOT_EXIST};
    return (struct req_expr){.key = key, .op = OP_IN, .n_vals = n, .vals = arena_dup_array(a, sym, vals, n)};
}

struct reslist catalog_resources(struct arena *a, const struct resq *q, uint32_t n)
{
    struct reslist l = {.q = arena_dup_array(a, struct resq, q, n), .n = n};

    for (uint32_t i = 1; i < n; i++) { /* a handful: a call of qsort() takes longer */
        struct resq moving = l.q[i];
        uint32_t at = i;

        for (; at > 0 && l.q[at - 1].name.v > moving.name.v; at--)
            l.q[at] = l.q[at - 1];
        l.q[at] = moving;
    }
    return l;
}

/* 100m cpu and 10Mi memory: both generators reserve the same on every type. */
static struct reslist small_overhead(struct arena *a)
{
    return catalog_resources(a,
                             (struct resq[]){
                                 {.name = SYM(CPU), .v = CPU_NANO / 10},
                                 {.name = SYM(MEMORY), .v = 10 * MEBI_MILLI, .binary = true},
                             },
                             2);
}

static struct offering simple_offering(struct arena *a, sym capacity_type, sym zone, double price)
{
    struct offering o = {.price_usd_per_h = price, .available = true, .n_requirements = 2};

    o.requirements = arena_new_array(a, struct req_expr, 2);
    o.requirements[0] = catalog_req(a, SYM(CT), &capacity_type, 1);
    o.requirements[1] = catalog_req(a, SYM(ZONE), &zone, 1);
    return o;
}

static double price_of(int64_t cpus, int64_t gib, double per_cpu, double per_gb)
{
    double cpu_part = per_cpu * (double)cpus;
    double memory_part = per_gb * ((double)gib * 1073741824.0) / 1e9;

    return cpu_part + memory_part;
}

/* ---- kwok ---- */

static const str kwok_domains[] = {STR_INIT("karpenter.kwok.sh")};

enum { KWOK_ZONES = 4 };

struct kwok {
    struct arena *a;
    struct syms *t;
    sym size, family, cpu, memory; /* label keys */
    sym zones[KWOK_ZONES];
    struct reslist overhead;
};

/* A resource as its label value has it: 2048Gi reads 2Ti. */
static sym amount(struct kwok *k, sym resource, int64_t v, bool binary)
{
    struct sb text = {0};

    quantity_print(&text, resource, v, binary);
    sym ret = sym_of(k->t, sb_view(&text));
    sb_fini(&text);
    return ret;
}

static struct itype kwok_type(struct kwok *k, char family, int64_t cpus, int64_t gib, const char *arch, const char *os)
{
    struct arena *a = k->a;
    sym name = sym_of(k->t, arena_printf(a, "%c-%lldx-%s-%s", family, (long long)cpus, arch, os));
    sym arch_sym = sym_of(k->t, str_c(arch)), os_sym = sym_of(k->t, str_c(os));
    sym family_sym = sym_of(k->t, (str){&family, 1});
    sym cpu_text = amount(k, SYM(CPU), cpus * CPU_NANO, /* binary= */ false);
    sym memory_text = amount(k, SYM(MEMORY), gib * GIBI_MILLI, /* binary= */ true);
    struct req_expr reqs[] = {
        catalog_req(a, SYM(ITYPE), &name, 1),
        catalog_req(a, SYM(ARCH), &arch_sym, 1),
        catalog_req(a, SYM(OS), &os_sym, 1),
        catalog_req(a, SYM(ZONE), k->zones, KWOK_ZONES),
        catalog_req(a, SYM(CT), (sym[]){SYM(SPOT), SYM(ON_DEMAND)}, 2),
        catalog_req(a, k->size, &cpu_text, 1),
        catalog_req(a, k->family, &family_sym, 1),
        catalog_req(a, k->cpu, &cpu_text, 1),
        catalog_req(a, k->memory, &memory_text, 1),
    };
    struct resq capacity[] = {
        {.name = SYM(CPU), .v = cpus * CPU_NANO},
        {.name = SYM(MEMORY), .v = gib * GIBI_MILLI, .binary = true},
        {.name = SYM(EPHEMERAL), .v = 20 * GIBI_MILLI, .binary = true},
        {.name = SYM(PODS), .v = MIN(16 * cpus, 1024) * 1000},
    };
    struct itype it = {
        .name = name,
        .requirements = arena_dup_array(a, struct req_expr, reqs, ARRAY_LEN(reqs)),
        .n_requirements = ARRAY_LEN(reqs),
        .offerings = arena_new_array(a, struct offering, 2 * KWOK_ZONES),
        .capacity = catalog_resources(a, capacity, ARRAY_LEN(capacity)),
        .overhead = k->overhead,
    };
    double price = price_of(cpus, gib, 0.025, 0.001);

    for (int z = 0; z < KWOK_ZONES; z++) {
        it.offerings[it.n_offerings++] = simple_offering(a, SYM(SPOT), k->zones[z], price * 0.7);
        it.offerings[it.n_offerings++] = simple_offering(a, SYM(ON_DEMAND), k->zones[z], price);
    }
    return it;
}

static struct catalog *kwok_catalog(struct arena *a, struct syms *t)
{
    static const int64_t cpus[] = {1, 2, 4, 8, 16, 32, 48, 64, 96, 128, 192, 256};
    static const struct {
        char name;
        int64_t gib_per_cpu;
    } families[] = {{'c', 2}, {'s', 4}, {'m', 8}};
    static const char *const os[] = {"linux", "windows"}, *const arch[] = {"amd64", "arm64"};
    struct kwok k = {
        .a = a,
        .t = t,
        .size = sym_of(t, STR("karpenter.kwok.sh/instance-size")),
        .family = sym_of(t, STR("karpenter.kwok.sh/instance-family")),
        .cpu = sym_of(t, STR("karpenter.kwok.sh/instance-cpu")),
        .memory = sym_of(t, STR("karpenter.kwok.sh/instance-memory")),
        .zones = {sym_of(t, STR("test-zone-a")), sym_of(t, STR("test-zone-b")), sym_of(t, STR("test-zone-c")),
                  sym_of(t, STR("test-zone-d"))},
        .overhead = small_overhead(a),
    };
    struct catalog *c = arena_new_one(a, struct catalog);

    c->types = arena_new_array(a, struct itype, ARRAY_LEN(cpus) * ARRAY_LEN(families) * 4);
    for (size_t i = 0; i < ARRAY_LEN(cpus); i++)
        for (size_t f = 0; f < ARRAY_LEN(families); f++)
            for (size_t j = 0; j < 4; j++)
                c->types[c->n++] =
                    kwok_type(&k, families[f].name, cpus[i], cpus[i] * families[f].gib_per_cpu, arch[j % 2], os[j / 2]);
    label_rules_well_known(a, &c->rules, (sym[]){k.size, k.family, k.cpu, k.memory}, 4);
    c->rules.restricted_domains = kwok_domains;
    c->rules.n_restricted_domains = ARRAY_LEN(kwok_domains);
    c->rules.reservation_id = SYM(KWOK_RESERVATION_ID);
    c->origin = STR("kwok");
    return c;
}

/* ---- fake:N ---- */

struct fake {
    struct arena *a;
    struct syms *t;
    sym size, special, integer; /* label keys */
    sym zones[3];
    sym os[3];
    struct reslist overhead;
};

static void fake_offerings(const struct fake *k, struct itype *it, double price)
{
    it->offerings = arena_new_array(k->a, struct offering, 5);
    for (int z = 0; z < 2; z++)
        it->offerings[it->n_offerings++] = simple_offering(k->a, SYM(SPOT), k->zones[z], price);
    for (int z = 0; z < 3; z++)
        it->offerings[it->n_offerings++] = simple_offering(k->a, SYM(ON_DEMAND), k->zones[z], price);
}

static struct itype fake_type(const struct fake *k, uint32_t i)
{
    struct arena *a = k->a;
    int64_t cpus = (int64_t)i + 1, gib = 2 * cpus;
    bool large = cpus > 4 && gib > 8;
    sym name = sym_of(k->t, arena_printf(a, "fake-it-%u", i));
    sym arch = sym_of(k->t, STR("amd64"));
    sym size = sym_of(k->t, large ? STR("large") : STR("small")), special = sym_of(k->t, STR("optional"));
    sym integer = sym_of(k->t, arena_printf(a, "%lld", (long long)cpus));
    struct req_expr reqs[] = {
        catalog_req(a, SYM(ITYPE), &name, 1),
        catalog_req(a, SYM(ARCH), &arch, 1),
        catalog_req(a, SYM(OS), k->os, ARRAY_LEN(k->os)),
        catalog_req(a, SYM(ZONE), k->zones, ARRAY_LEN(k->zones)),
        catalog_req(a, SYM(CT), (sym[]){SYM(SPOT), SYM(ON_DEMAND)}, 2),
        catalog_req(a, k->size, &size, 1),
        catalog_req(a, k->special, &special, large ? 1 : 0),
        catalog_req(a, k->integer, &integer, 1),
    };
    struct resq capacity[] = {
        {.name = SYM(CPU), .v = cpus * CPU_NANO},
        {.name = SYM(MEMORY), .v = gib * GIBI_MILLI, .binary = true},
        {.name = SYM(PODS), .v = 10 * cpus * 1000},
    };
    struct itype it = {
        .name = name,
        .requirements = arena_dup_array(a, struct req_expr, reqs, ARRAY_LEN(reqs)),
        .n_requirements = ARRAY_LEN(reqs),
        .capacity = catalog_resources(a, capacity, ARRAY_LEN(capacity)),
        .overhead = k->overhead,
    };

    fake_offerings(k, &it, price_of(cpus, gib, 0.1, 0.1));
    return it;
}

static struct catalog *fake_catalog(struct arena *a, struct syms *t, uint32_t n)
{
    struct fake k = {
        .a = a,
        .t = t,
        .size = sym_of(t, STR("size")),
        .special = sym_of(t, STR("special")),
        .integer = sym_of(t, STR("integer")),
        .zones = {sym_of(t, STR("test-zone-1")), sym_of(t, STR("test-zone-2")), sym_of(t, STR("test-zone-3"))},
        .os = {sym_of(t, STR("darwin")), sym_of(t, STR("linux")), sym_of(t, STR("windows"))},
        .overhead = small_overhead(a),
    };
    sym reservation = sym_of(t, STR("karpenter.test.sh/reservation-id"));
    struct catalog *c = arena_new_one(a, struct catalog);

    c->types = arena_new_array(a, struct itype, n);
    for (uint32_t i = 0; i < n; i++)
        c->types[c->n++] = fake_type(&k, i);
    label_rules_well_known(a, &c->rules, (sym[]){k.size, k.special, k.integer, reservation}, 4);
    c->rules.reservation_id = reservation;
    c->origin = arena_printf(a, "fake:%u", n);
    return c;
}

struct catalog *catalog_builtin(struct arena *a, struct syms *t, str name, struct err *e)
{
    str head, count;
    int64_t n;

    struct catalog *c;

    if (str_is(name, "kwok")) {
        c = kwok_catalog(a, t);
        catalog_share_requirements(c, a);
        return c;
    }
    if (!str_cut(name, ':', &head, &count) || !str_is(head, "fake")) {
        err_set(e, ERR_INVALID,
                "unknown catalogue \"" STR_FMT "\": choose kwok, fake:N (1 to %d types) or aws[:REGION]", STR_ARG(name),
                CATALOG_MAX_TYPES);
        return NULL;
    }
    if (!str_to_i64(count, &n) || n < 1 || n > CATALOG_MAX_TYPES) {
        err_set(e, ERR_INVALID, "catalogue \"" STR_FMT "\": the number of types must be 1 to %d", STR_ARG(name),
                CATALOG_MAX_TYPES);
        return NULL;
    }
    c = fake_catalog(a, t, (uint32_t)n);
    catalog_share_requirements(c, a);
    return c;
}
