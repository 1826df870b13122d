/* ec2/catalog - the rows of catalog_data.inc as EC2's answers, resolved for a class with Karpenter's defaults. */
#include "cloud/ec2/catalog.h"

#include "base/sb.h"
#include "cloud/ec2/facts.h"
#include "cloud/ec2/types.h"

enum row_arch { X86, ARM };
enum row_accel { ACCEL_GPU, ACCEL_NEURON, ACCEL_INFERENCE };
enum { MAX_ZONES = 6 };

struct region_row {
    const char *name;
    uint32_t n_zones;
    struct {
        const char *name, *id;
    } zones[MAX_ZONES];
};

struct type_row {
    const char *name;
    enum row_arch arch;
    const char *cpu_maker;
    uint32_t clock_mhz;
    int32_t cpus;
    uint32_t memory_mib;
    uint32_t nvme_gb;
    uint32_t ebs_mbps;
    int32_t interfaces; /* of the default network card */
    int32_t ipv4_each;  /* addresses per interface */
    int32_t efa_interfaces;
    const char *flags; /* [hypervisor][spot][encryption in transit][enclaves], "-" where not */
    const char *zones; /* a character per region, see the data file */
};

struct accel_row {
    const char *type, *maker, *name;
    enum row_accel kind;
    int32_t count;
    uint32_t memory_mib; /* GPU: of one */
    int32_t cores;       /* Neuron: of one device */
};

#include "cloud/ec2/catalog_data.inc"

/* What spot capacity costs moves by the hour and is not in the figures; planning needs an order of magnitude. */
#define SPOT_FRACTION 0.4

#define VM_MEMORY_OVERHEAD 0.075 /* setting VM_MEMORY_OVERHEAD_PERCENT at its default */

static str x86_64[] = {STR_INIT("x86_64")}, arm64[] = {STR_INIT("arm64")};
static str usage_classes[] = {STR_INIT("on-demand"), STR_INIT("spot")};

static void add_accelerators(struct arena *a, const struct accel_row *row, struct ec2_type_info *info)
{
    struct ec2_accel *x = arena_new_one(a, struct ec2_accel);

    *x = (struct ec2_accel){
        .name = str_c(row->name),
        .manufacturer = str_c(row->maker),
        .count = row->count,
        .memory_mib = row->memory_mib,
        .cores = row->cores,
    };
    switch (row->kind) {
    case ACCEL_GPU:
        info->gpus = x;
        info->n_gpus = 1;
        break;
    case ACCEL_NEURON:
        info->neurons = x;
        info->n_neurons = 1;
        info->has_neuron = true;
        break;
    case ACCEL_INFERENCE:
        info->accelerators = x;
        info->n_accelerators = 1;
        break;
    }
}

static struct ec2_type_info info_of(struct arena *a, const struct type_row *row)
{
    char hypervisor = row->flags[0];
    struct ec2_card *card = arena_new_one(a, struct ec2_card);

    card->max_interfaces = row->interfaces;
    return (struct ec2_type_info){
        .name = str_c(row->name),
        .usage_classes = usage_classes,
        .n_usage_classes = row->flags[1] == 's' ? 2 : 1,
        .hypervisor = hypervisor == 'H'   ? STR("nitro")
                      : hypervisor == 'X' ? STR("xen")
                                          : STR(""),
        .bare_metal = hypervisor == '-',
        .archs = row->arch == ARM ? arm64 : x86_64,
        .n_archs = 1,
        .has_processor = true,
        .clock_ghz = row->clock_mhz / 1000.0,
        .manufacturer = str_c(row->cpu_maker),
        .vcpus = row->cpus,
        .memory_mib = row->memory_mib,
        .has_storage = row->nvme_gb > 0,
        .storage_gb = row->nvme_gb,
        .nvme = row->nvme_gb ? STR("supported") : STR(""),
        .ebs_optimized = row->ebs_mbps ? STR("default") : STR(""),
        .ebs_mbps = row->ebs_mbps,
        .cards = card,
        .n_cards = 1,
        .ipv4_per_interface = row->ipv4_each,
        .has_efa = row->efa_interfaces > 0,
        .max_efa = row->efa_interfaces,
        .encryption_in_transit = row->flags[2] == 'e',
        .enclaves = row->flags[3] == 'n' ? STR("supported") : STR("unsupported"),
    };
}

/* The zones of a row's character, bit i for zone i. */
static uint32_t zone_mask(char c)
{
    if (c >= '0' && c <= '9')
        return (uint32_t)(c - '0');
    if (c >= 'A' && c <= 'Z')
        return (uint32_t)(c - 'A') + 10;
    if (c >= 'a' && c <= 'z')
        return (uint32_t)(c - 'a') + 36;
    return c == '+' ? 62 : c == '-' ? 63 : 0;
}

static struct ec2_type_zones zones_of(struct arena *a, uint32_t mask)
{
    struct ec2_type_zones w = {.v = arena_new_array(a, uint16_t, MAX_ZONES)};

    for (uint32_t z = 0; z < MAX_ZONES; z++)
        if (mask >> z & 1)
            w.v[w.n++] = (uint16_t)z;
    return w;
}

/* Both tables are sorted by type, so one look forward finds the accelerators of the row at hand. */
static struct ec2_universe universe_of(struct arena *a, uint32_t region)
{
    const struct region_row *r = &region_rows[region];
    struct ec2_universe u = {
        .types = arena_new_array(a, struct ec2_type_info, ARRAY_LEN(type_rows)),
        .where = arena_new_array(a, struct ec2_type_zones, ARRAY_LEN(type_rows)),
        .zones = arena_new_array(a, str, r->n_zones),
        .n_zones = r->n_zones,
    };
    size_t accel = 0;

    for (uint32_t z = 0; z < r->n_zones; z++)
        u.zones[z] = str_c(r->zones[z].name);
    for (size_t i = 0; i < ARRAY_LEN(type_rows); i++) {
        const struct type_row *row = &type_rows[i];
        bool accelerated = accel < ARRAY_LEN(accel_rows) && strcmp(accel_rows[accel].type, row->name) == 0;
        uint32_t mask = zone_mask(row->zones[region]);

        if (mask) {
            u.types[u.n] = info_of(a, row);
            if (accelerated)
                add_accelerators(a, &accel_rows[accel], &u.types[u.n]);
            u.where[u.n++] = zones_of(a, mask);
        }
        accel += accelerated;
    }
    return u;
}

/* AL2023, the default root volume, a subnet in every zone. */
static struct ec2_class default_class(struct arena *a, const struct region_row *r)
{
    struct ec2_class k = {
        .family = EC2_AL2023,
        .kubelet = {.max_pods = -1, .pods_per_core = -1},
        .status = {.subnets = arena_new_array(a, struct ec2_class_subnet, r->n_zones), .n_subnets = r->n_zones},
    };

    for (uint32_t z = 0; z < r->n_zones; z++)
        k.status.subnets[z] =
            (struct ec2_class_subnet){.zone = str_c(r->zones[z].name), .zone_id = str_c(r->zones[z].id)};
    return k;
}

static bool is_in(const struct ec2_type_zones *where, uint32_t zone)
{
    for (uint32_t i = 0; i < where->n; i++)
        if (where->v[i] == zone)
            return true;
    return false;
}

/* Zones that do not have the type are left out: nobody waits for them to get it. Spot has a price of its own. */
static void settle_offerings(const struct ec2_universe *u, struct ec2_types *types)
{
    for (uint32_t i = 0; i < types->n; i++) {
        struct itype *it = &types->v[i];
        uint32_t each = it->n_offerings / u->n_zones, n = 0; /* one zone after the other */

        for (uint32_t j = 0; j < it->n_offerings; j++) {
            struct offering o = it->offerings[j];

            if (!is_in(&u->where[i], j / each))
                continue;
            if (sym_eq(o.requirements[0].vals[0], SYM(SPOT)))
                o.price_usd_per_h *= SPOT_FRACTION;
            it->offerings[n++] = o;
        }
        it->n_offerings = n;
    }
}

uint32_t ec2_regions(void)
{
    return CATALOG_REGIONS;
}

str ec2_region_name(uint32_t i)
{
    assert(i < CATALOG_REGIONS);
    return str_c(region_rows[i].name);
}

static bool find_region(str name, uint32_t *ret, struct err *e)
{
    struct sb b = {0};

    for (uint32_t i = 0; i < CATALOG_REGIONS; i++)
        if (str_is(name, region_rows[i].name)) {
            *ret = i;
            return true;
        }
    for (uint32_t i = 0; i < CATALOG_REGIONS; i++)
        sb_printf(&b, " %s", region_rows[i].name);
    err_set(e, ERR_INVALID, "unknown region \"" STR_FMT "\":" STR_FMT, STR_ARG(str_sub(name, 0, 20)),
            STR_ARG(sb_view(&b)));
    sb_fini(&b);
    return false;
}

bool ec2_catalog_universe(struct arena *a, str region, struct ec2_universe *ret, const str **ret_zone_ids,
                          struct err *e)
{
    uint32_t ix;

    if (!find_region(region, &ix, e))
        return false;
    const struct region_row *r = &region_rows[ix];
    str *ids = arena_new_array(a, str, r->n_zones);

    for (uint32_t z = 0; z < r->n_zones; z++)
        ids[z] = str_c(r->zones[z].id);
    *ret_zone_ids = ids;
    *ret = universe_of(a, ix);
    return true;
}

struct catalog *ec2_catalog(struct arena *a, struct syms *t, str region, struct err *e)
{
    const char *priced = ec2_fact_region_name(0); /* for all regions: what is compiled in compares with itself */
    struct ec2_types types;
    uint32_t ix;

    if (!find_region(region.n ? region : STR(EC2_DEFAULT_REGION), &ix, e))
        return NULL;
    const char *name = region_rows[ix].name;
    AUTO(ec2_prices) struct ec2_prices *prices = ec2_prices_new(str_c(priced));
    AUTO(arena) struct arena *scratch = arena_new(1u << 19);
    struct ec2_universe u = universe_of(scratch, ix);
    struct ec2_class k = default_class(scratch, &region_rows[ix]);
    struct ec2_types_input in = {
        .universe = &u,
        .class = &k,
        .prices = prices,
        .region = str_c(name),
        .memory_overhead = VM_MEMORY_OVERHEAD,
    };

    if (!ec2_types_resolve(a, t, &in, &types, e))
        return NULL;
    settle_offerings(&u, &types);
    struct catalog *c = arena_new_one(a, struct catalog);
    *c = (struct catalog){.types = types.v, .n = types.n, .rules = ec2_label_rules(a, t)};
    c->origin =
        arena_printf(a, "aws %s: on-demand prices of %s%s%s, spot estimated at %d %% of them, types from %s", name,
                     ec2_fact_prices_of(), strcmp(name, priced) == 0 ? "" : " in ",
                     strcmp(name, priced) == 0 ? "" : priced, (int)(SPOT_FRACTION * 100 + 0.5), CATALOG_TYPES_FROM);
    return c;
}
