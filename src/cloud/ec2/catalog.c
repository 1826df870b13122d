/* ec2/catalog - turns the rows of catalog_data.inc into instance types by the provider's rules (aws 2.8.1, 5.2 – 5.6).
 *
 * A region has about a thousand types with some thirty labels each, nearly all of them labels that other types have
 * too. So that loading stays in the low milliseconds, texts are interned once per region or once per distinct number,
 * and what does not differ between types (requirements of an offering, the `DoesNotExist` labels) is built once.
 */
#include "cloud/ec2/catalog.h"

#include <math.h>

#include "base/map.h"
#include "base/sb.h"
#include "cloud/catalog.h"

enum ec2_arch { X86, ARM };
enum ec2_accel_kind { ACCEL_GPU, ACCEL_NEURON, ACCEL_INFERENCE };
enum { MAX_ZONES = 6 };

struct ec2_region {
    const char *name;
    uint32_t n_zones;
    struct {
        const char *name, *id;
    } zones[MAX_ZONES];
};

struct ec2_type {
    const char *name;
    enum ec2_arch arch;
    const char *cpu_maker;
    uint32_t clock_mhz;
    uint32_t cpus;
    uint32_t memory_mib;
    uint32_t nvme_gb;
    uint32_t ebs_mbps;
    uint32_t network_mbps;
    uint32_t interfaces;        /* of the default network card */
    uint32_t ipv4_each;         /* addresses per interface */
    uint32_t branch_interfaces; /* 0: no trunking */
    uint32_t efa_interfaces;
    const char *flags; /* [hypervisor][spot][encryption in transit][enclaves], "-" where not */
    double price;      /* 0: unknown */
    const char *zones; /* a character per region, see the data file */
};

struct ec2_accel {
    const char *type, *maker, *name;
    enum ec2_accel_kind kind;
    uint32_t count;
    uint32_t memory_mib; /* GPU: of one */
    uint32_t cores;      /* Neuron: of one device */
};

#include "cloud/ec2/catalog_data.inc"

/* What spot capacity costs moves by the hour and is not in the figures; planning needs an order of magnitude. */
#define SPOT_FRACTION 0.4

#define VM_MEMORY_OVERHEAD 0.075 /* setting VM_MEMORY_OVERHEAD_PERCENT at its default */
#define ROOT_VOLUME_GIB 20

/* The labels that the provider adds to core's, in the order of itype.requirements. */
#define AWS_LABELS(X)                                                                                                  \
    X(ZONE_ID, "topology.k8s.aws/zone-id")                                                                             \
    X(CPU, "karpenter.k8s.aws/instance-cpu")                                                                           \
    X(CPU_MAKER, "karpenter.k8s.aws/instance-cpu-manufacturer")                                                        \
    X(CLOCK, "karpenter.k8s.aws/instance-cpu-sustained-clock-speed-mhz")                                               \
    X(MEMORY, "karpenter.k8s.aws/instance-memory")                                                                     \
    X(EBS, "karpenter.k8s.aws/instance-ebs-bandwidth")                                                                 \
    X(NETWORK, "karpenter.k8s.aws/instance-network-bandwidth")                                                         \
    X(CATEGORY, "karpenter.k8s.aws/instance-category")                                                                 \
    X(GENERATION, "karpenter.k8s.aws/instance-generation")                                                             \
    X(FAMILY, "karpenter.k8s.aws/instance-family")                                                                     \
    X(SIZE, "karpenter.k8s.aws/instance-size")                                                                         \
    X(FLEX, "karpenter.k8s.aws/instance-capability-flex")                                                              \
    X(NVME, "karpenter.k8s.aws/instance-local-nvme")                                                                   \
    X(GPU_NAME, "karpenter.k8s.aws/instance-gpu-name")                                                                 \
    X(GPU_MAKER, "karpenter.k8s.aws/instance-gpu-manufacturer")                                                        \
    X(GPU_COUNT, "karpenter.k8s.aws/instance-gpu-count")                                                               \
    X(GPU_MEMORY, "karpenter.k8s.aws/instance-gpu-memory")                                                             \
    X(ACCEL_NAME, "karpenter.k8s.aws/instance-accelerator-name")                                                       \
    X(ACCEL_MAKER, "karpenter.k8s.aws/instance-accelerator-manufacturer")                                              \
    X(ACCEL_COUNT, "karpenter.k8s.aws/instance-accelerator-count")                                                     \
    X(HYPERVISOR, "karpenter.k8s.aws/instance-hypervisor")                                                             \
    X(ENCRYPTION, "karpenter.k8s.aws/instance-encryption-in-transit-supported")                                        \
    X(ENCLAVES, "karpenter.k8s.aws/nitro-sandbox")                                                                     \
    X(TENANCY, "karpenter.k8s.aws/instance-tenancy")                                                                   \
    X(RESERVATION_ID, "karpenter.k8s.aws/capacity-reservation-id")                                                     \
    X(RESERVATION_TYPE, "karpenter.k8s.aws/capacity-reservation-type")                                                 \
    X(RESERVATION_INTERRUPTIBLE, "karpenter.k8s.aws/capacity-reservation-interruptible")                               \
    X(PLACEMENT_GROUP, "karpenter.k8s.aws/placement-group-id")                                                         \
    X(PLACEMENT_PARTITION, "karpenter.k8s.aws/placement-group-partition")

enum {
#define X(name, text) L_##name,
    AWS_LABELS(X)
#undef X
        L_N,
    L_N_ON_TYPES = L_PLACEMENT_GROUP, /* the last two are for node classes with a placement group */
};

/* Core's labels come before them. */
enum { R_ITYPE, R_ARCH, R_OS, R_ZONE, R_REGION, R_WINBUILD, R_CT, N_CORE };

static const str domains[] = {STR_INIT("karpenter.k8s.aws")};

struct build {
    struct arena *a;
    struct syms *t;
    const struct ec2_region *region;
    uint32_t region_ix;
    sym keys[L_N];
    sym zone_names[MAX_ZONES], zone_ids[MAX_ZONES];
    sym arch[2], yes, no, nitro, xen;                                     /* label values */
    sym gpu_nvidia, gpu_amd, gpu_gaudi, neuron, neuroncore, efa, pod_eni; /* resources */
    struct req_expr any_type[N_CORE + L_N_ON_TYPES];                      /* what a type starts from */
    struct req_expr *spot[MAX_ZONES], *on_demand[MAX_ZONES];              /* of an offering, N_OFFERING each */
    struct u64map numbers;                                                /* number → symbol of its text */
    uint32_t accel;                                                       /* next row of ec2_accels */
};

enum { N_OFFERING = 6 };

static sym number(struct build *b, uint32_t n)
{
    uint32_t known = u64map_get(&b->numbers, n);
    struct sb text = {0};

    if (known != MAP_NONE)
        return (sym){known};
    sb_u64(&text, n);
    sym s = sym_of(b->t, sb_view(&text));
    sb_fini(&text);
    u64map_put(&b->numbers, n, s.v);
    return s;
}

/* "RTX PRO 4500" as a label value: rtx-pro-4500. */
static sym kebab(struct build *b, const char *text)
{
    char out[64];
    size_t n = 0;

    for (; text[n] && n < sizeof(out); n++) {
        char c = text[n];

        out[n] = c == ' ' ? '-' : c >= 'A' && c <= 'Z' ? (char)(c - 'A' + 'a') : c;
    }
    return sym_of(b->t, (str){out, n});
}

static void has(struct build *b, struct req_expr *reqs, int label, sym value)
{
    reqs[N_CORE + label] = catalog_req(b->a, b->keys[label], &value, 1);
}

static void has_number(struct build *b, struct req_expr *reqs, int label, uint32_t n)
{
    if (n)
        has(b, reqs, label, number(b, n));
}

static bool is_digit(char c)
{
    return c >= '0' && c <= '9';
}

static size_t digits_at(str s, size_t from)
{
    size_t n = 0;

    while (from + n < s.n && is_digit(s.p[from + n]))
        n++;
    return n;
}

/* Category and generation: leading letters, perhaps a size like "-6tb", then digits (aws 2.8.1). */
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

static void name_labels(struct build *b, const struct ec2_type *row, struct req_expr *reqs)
{
    str family, size, category, generation;

    if (str_cut(str_c(row->name), '.', &family, &size)) {
        has(b, reqs, L_FAMILY, sym_of(b->t, family));
        has(b, reqs, L_SIZE, sym_of(b->t, size));
        if (split_family(family, &category, &generation)) {
            has(b, reqs, L_CATEGORY, sym_of(b->t, category));
            has(b, reqs, L_GENERATION, sym_of(b->t, generation));
        }
    }
    has(b, reqs, L_FLEX, str_contains(family, STR("-flex")) ? b->yes : b->no);
}

static void accel_labels(struct build *b, const struct ec2_accel *x, struct req_expr *reqs)
{
    bool gpu = x->kind == ACCEL_GPU;

    has(b, reqs, gpu ? L_GPU_NAME : L_ACCEL_NAME, kebab(b, x->name));
    has(b, reqs, gpu ? L_GPU_MAKER : L_ACCEL_MAKER, kebab(b, x->maker));
    has(b, reqs, gpu ? L_GPU_COUNT : L_ACCEL_COUNT, number(b, x->count)); /* 0 for a slice of a GPU */
    if (gpu)
        has(b, reqs, L_GPU_MEMORY, number(b, x->memory_mib));
}

static sym hypervisor(const struct build *b, char flag)
{
    return flag == 'H' ? b->nitro : flag == 'X' ? b->xen : SYM(NONE);
}

static void type_requirements(struct build *b, const struct ec2_type *row, const struct ec2_accel *accel,
                              uint32_t zone_mask, struct itype *it)
{
    struct req_expr *reqs = arena_dup_array(b->a, struct req_expr, b->any_type, ARRAY_LEN(b->any_type));
    sym zones[MAX_ZONES], ids[MAX_ZONES];
    uint32_t n = 0;

    for (uint32_t z = 0; z < b->region->n_zones; z++)
        if (zone_mask >> z & 1) {
            zones[n] = b->zone_names[z];
            ids[n++] = b->zone_ids[z];
        }
    reqs[R_ITYPE] = catalog_req(b->a, SYM(ITYPE), &it->name, 1);
    reqs[R_ARCH] = catalog_req(b->a, SYM(ARCH), &b->arch[row->arch], 1);
    reqs[R_ZONE] = catalog_req(b->a, SYM(ZONE), zones, n);
    if (row->flags[1] != 's')
        reqs[R_CT].n_vals = 1;
    reqs[N_CORE + L_ZONE_ID] = catalog_req(b->a, b->keys[L_ZONE_ID], ids, n);
    has_number(b, reqs, L_CPU, row->cpus);
    has(b, reqs, L_CPU_MAKER, kebab(b, row->cpu_maker));
    has(b, reqs, L_CLOCK, number(b, row->clock_mhz)); /* "0" where EC2 does not tell */
    has_number(b, reqs, L_MEMORY, row->memory_mib);
    has_number(b, reqs, L_EBS, row->ebs_mbps);
    has_number(b, reqs, L_NETWORK, row->network_mbps);
    has_number(b, reqs, L_NVME, row->nvme_gb);
    name_labels(b, row, reqs);
    if (accel)
        accel_labels(b, accel, reqs);
    has(b, reqs, L_HYPERVISOR, hypervisor(b, row->flags[0])); /* the empty value on bare metal */
    has(b, reqs, L_ENCRYPTION, row->flags[2] == 'e' ? b->yes : b->no);
    has(b, reqs, L_ENCLAVES, row->flags[3] == 'n' ? b->yes : b->no);
    it->requirements = reqs;
    it->n_requirements = ARRAY_LEN(b->any_type);
}

/* Pods by network addresses: each interface keeps one address to itself; two pods use the host's (aws 5.3). */
static int64_t pods_of(const struct ec2_type *row)
{
    return row->interfaces ? (int64_t)row->interfaces * (row->ipv4_each - 1) + 2 : 0;
}

/* What the hypervisor and the kernel take is not known beforehand: a share of the memory is written off (aws 5.2). */
static int64_t memory_mib(const struct ec2_type *row)
{
    int64_t mib = (int64_t)row->memory_mib - (row->arch == ARM ? 64 : 0);
    double lost = ceil((double)mib * 1048576.0 * VM_MEMORY_OVERHEAD / 1024 / 1024);

    return mib - (int64_t)lost;
}

static void add(struct resq *q, uint32_t *n, sym name, int64_t count)
{
    if (count)
        q[(*n)++] = (struct resq){.name = name, .v = count * 1000};
}

static struct reslist capacity_of(struct build *b, const struct ec2_type *row, const struct ec2_accel *x)
{
    struct resq q[10];
    uint32_t n = 0;

    q[n++] = (struct resq){.name = SYM(CPU), .v = row->cpus * CPU_NANO};
    q[n++] = (struct resq){.name = SYM(MEMORY), .v = memory_mib(row) * MEBI_MILLI, .binary = true};
    q[n++] = (struct resq){.name = SYM(EPHEMERAL), .v = ROOT_VOLUME_GIB * GIBI_MILLI, .binary = true};
    q[n++] = (struct resq){.name = SYM(PODS), .v = pods_of(row) * 1000};
    add(q, &n, b->pod_eni, row->branch_interfaces);
    add(q, &n, b->efa, row->efa_interfaces);
    if (x && x->kind == ACCEL_GPU) {
        str maker = str_c(x->maker);

        if (str_is(maker, "NVIDIA"))
            add(q, &n, b->gpu_nvidia, x->count);
        else if (str_is(maker, "AMD"))
            add(q, &n, b->gpu_amd, x->count);
        else if (str_is(maker, "Habana"))
            add(q, &n, b->gpu_gaudi, x->count);
    }
    if (x && x->kind == ACCEL_NEURON) {
        add(q, &n, b->neuron, x->count);
        add(q, &n, b->neuroncore, (int64_t)x->count * x->cores);
    }
    return catalog_resources(b->a, q, n);
}

/* 6 % of the first core, 1 % of the second, 0.5 % of the next two, 0.25 % of the others (aws 5.5). */
static int64_t reserved_cpu_milli(int64_t cpus)
{
    static const struct {
        int64_t upto, per_100k; /* cores; share in thousandths of a percent */
    } bands[] = {{1, 6000}, {2, 1000}, {4, 500}, {INT64_MAX, 250}};
    int64_t from = 0, milli = 0;

    for (size_t i = 0; i < ARRAY_LEN(bands) && from < cpus; i++) {
        int64_t to = MIN(cpus, bands[i].upto);

        milli += (to - from) * 1000 * bands[i].per_100k / 100000;
        from = to;
    }
    return milli;
}

/* Kube-reserved plus the eviction threshold (100Mi of memory, a tenth of the disk); nothing is system-reserved. */
static struct reslist overhead_of(struct build *b, const struct ec2_type *row)
{
    struct resq q[] = {
        {.name = SYM(CPU), .v = reserved_cpu_milli(row->cpus) * (CPU_NANO / 1000)},
        {.name = SYM(MEMORY), .v = (11 * pods_of(row) + 255 + 100) * MEBI_MILLI, .binary = true},
        {.name = SYM(EPHEMERAL), .v = (1 + ROOT_VOLUME_GIB / 10) * GIBI_MILLI, .binary = true},
    };

    return catalog_resources(b->a, q, ARRAY_LEN(q));
}

static void type_offerings(struct build *b, const struct ec2_type *row, uint32_t zone_mask, struct itype *it)
{
    bool spot = row->flags[1] == 's';
    /* AL2023 does not run on the first Graviton (aws 5.7); without a price nothing can be chosen (5.6). */
    bool available = row->price > 0 && !str_starts(str_c(row->name), STR("a1."));

    it->offerings = arena_new_array(b->a, struct offering, (uint32_t)__builtin_popcount(zone_mask) * (spot ? 2 : 1));
    for (uint32_t z = 0; z < b->region->n_zones; z++) {
        if (!(zone_mask >> z & 1))
            continue;
        it->offerings[it->n_offerings++] = (struct offering){
            .requirements = b->on_demand[z],
            .n_requirements = N_OFFERING,
            .price_usd_per_h = row->price,
            .available = available,
        };
        if (spot)
            it->offerings[it->n_offerings++] = (struct offering){
                .requirements = b->spot[z],
                .n_requirements = N_OFFERING,
                .price_usd_per_h = row->price * SPOT_FRACTION,
                .available = available,
            };
    }
}

static struct req_expr *offering_requirements(struct build *b, sym capacity_type, uint32_t zone)
{
    struct req_expr reqs[N_OFFERING] = {
        catalog_req(b->a, SYM(CT), &capacity_type, 1),
        catalog_req(b->a, SYM(ZONE), &b->zone_names[zone], 1),
        catalog_req(b->a, b->keys[L_ZONE_ID], &b->zone_ids[zone], 1),
        catalog_req(b->a, b->keys[L_RESERVATION_ID], NULL, 0),
        catalog_req(b->a, b->keys[L_RESERVATION_TYPE], NULL, 0),
        catalog_req(b->a, b->keys[L_RESERVATION_INTERRUPTIBLE], NULL, 0),
    };

    return arena_dup_array(b->a, struct req_expr, reqs, N_OFFERING);
}

/* Labels that all types share; of the others, that a type does not have them. */
static void any_type_init(struct build *b)
{
    sym tenancy[] = {SYM(DEFAULT), sym_of(b->t, STR("dedicated"))};
    sym os = sym_of(b->t, STR("linux")), region = sym_of(b->t, str_c(b->region->name));

    b->any_type[R_OS] = catalog_req(b->a, SYM(OS), &os, 1);
    b->any_type[R_REGION] = catalog_req(b->a, SYM(REGION), &region, 1);
    b->any_type[R_WINBUILD] = catalog_req(b->a, SYM(WINBUILD), NULL, 0);
    b->any_type[R_CT] = catalog_req(b->a, SYM(CT), (sym[]){SYM(ON_DEMAND), SYM(SPOT)}, 2);
    for (int i = 0; i < L_N_ON_TYPES; i++)
        b->any_type[N_CORE + i] = catalog_req(b->a, b->keys[i], NULL, 0);
    b->any_type[N_CORE + L_TENANCY] = catalog_req(b->a, b->keys[L_TENANCY], tenancy, ARRAY_LEN(tenancy));
}

static void build_init(struct build *b)
{
    static const str labels[L_N] = {
#define X(name, text) STR_INIT(text),
        AWS_LABELS(X)
#undef X
    };

    for (int i = 0; i < L_N; i++)
        b->keys[i] = sym_of(b->t, labels[i]);
    b->arch[X86] = sym_of(b->t, STR("amd64"));
    b->arch[ARM] = sym_of(b->t, STR("arm64"));
    b->yes = SYM(TRUE);
    b->no = sym_of(b->t, STR("false"));
    b->nitro = sym_of(b->t, STR("nitro"));
    b->xen = sym_of(b->t, STR("xen"));
    b->gpu_nvidia = sym_of(b->t, STR("nvidia.com/gpu"));
    b->gpu_amd = sym_of(b->t, STR("amd.com/gpu"));
    b->gpu_gaudi = sym_of(b->t, STR("habana.ai/gaudi"));
    b->neuron = sym_of(b->t, STR("aws.amazon.com/neuron"));
    b->neuroncore = sym_of(b->t, STR("aws.amazon.com/neuroncore"));
    b->efa = sym_of(b->t, STR("vpc.amazonaws.com/efa"));
    b->pod_eni = sym_of(b->t, STR("vpc.amazonaws.com/pod-eni"));
    any_type_init(b);
    for (uint32_t z = 0; z < b->region->n_zones; z++) {
        b->zone_names[z] = sym_of(b->t, str_c(b->region->zones[z].name));
        b->zone_ids[z] = sym_of(b->t, str_c(b->region->zones[z].id));
        b->on_demand[z] = offering_requirements(b, SYM(ON_DEMAND), z);
        b->spot[z] = offering_requirements(b, SYM(SPOT), z);
    }
}

/* The zones of a row's character, bit i for zone i. */
static uint32_t zone_mask(char c)
{
    if (is_digit(c))
        return (uint32_t)(c - '0');
    if (c >= 'A' && c <= 'Z')
        return (uint32_t)(c - 'A') + 10;
    if (c >= 'a' && c <= 'z')
        return (uint32_t)(c - 'a') + 36;
    return c == '+' ? 62 : c == '-' ? 63 : 0;
}

/* Both tables are sorted by type, so one look forward finds the accelerators of the row at hand. */
static const struct ec2_accel *accel_of(struct build *b, const struct ec2_type *row)
{
    if (b->accel < ARRAY_LEN(ec2_accels) && strcmp(ec2_accels[b->accel].type, row->name) == 0)
        return &ec2_accels[b->accel++];
    return NULL;
}

static void build_types(struct build *b, struct catalog *c)
{
    c->types = arena_new_array(b->a, struct itype, ARRAY_LEN(ec2_types));
    for (uint32_t i = 0; i < ARRAY_LEN(ec2_types); i++) {
        const struct ec2_type *row = &ec2_types[i];
        const struct ec2_accel *accel = accel_of(b, row);
        uint32_t zones = zone_mask(row->zones[b->region_ix]);

        if (zones == 0)
            continue;
        struct itype *it = &c->types[c->n++];
        it->name = sym_of(b->t, str_c(row->name));
        type_requirements(b, row, accel, zones, it);
        type_offerings(b, row, zones, it);
        it->capacity = capacity_of(b, row, accel);
        it->overhead = overhead_of(b, row);
    }
}

uint32_t ec2_regions(void)
{
    return EC2_DATA_N_REGIONS;
}

str ec2_region_name(uint32_t i)
{
    assert(i < EC2_DATA_N_REGIONS);
    return str_c(ec2_region_rows[i].name);
}

static bool find_region(str name, uint32_t *ret, struct err *e)
{
    struct sb b = {0};

    for (uint32_t i = 0; i < EC2_DATA_N_REGIONS; i++)
        if (str_is(name, ec2_region_rows[i].name)) {
            *ret = i;
            return true;
        }
    for (uint32_t i = 0; i < EC2_DATA_N_REGIONS; i++)
        sb_printf(&b, " %s", ec2_region_rows[i].name);
    err_set(e, ERR_INVALID, "unknown region \"" STR_FMT "\":" STR_FMT, STR_ARG(str_sub(name, 0, 20)),
            STR_ARG(sb_view(&b)));
    sb_fini(&b);
    return false;
}

struct catalog *ec2_catalog(struct arena *a, struct syms *t, str region, struct err *e)
{
    struct build b = {.a = a, .t = t};
    struct catalog *c;

    if (!find_region(region.n ? region : STR(EC2_DEFAULT_REGION), &b.region_ix, e))
        return NULL;
    b.region = &ec2_region_rows[b.region_ix];
    build_init(&b);
    c = arena_new_one(a, struct catalog);
    build_types(&b, c);
    label_rules_well_known(a, &c->rules, b.keys, L_N);
    c->rules.restricted_domains = domains;
    c->rules.n_restricted_domains = ARRAY_LEN(domains);
    c->rules.reservation_id = SYM(AWS_RESERVATION_ID);
    c->origin = arena_printf(a, "aws %s: on-demand prices of %s%s, spot estimated at %d %% of them, types from %s",
                             b.region->name, EC2_DATA_PRICES_OF,
                             strcmp(b.region->name, EC2_DATA_PRICE_REGION) == 0 ? "" : " in " EC2_DATA_PRICE_REGION,
                             (int)(SPOT_FRACTION * 100 + 0.5), EC2_DATA_TYPES_FROM);
    u64map_fini(&b.numbers);
    return c;
}
