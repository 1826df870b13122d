#include "support/ec2_lab.h"

#include "support/check.h"

static str x86[] = {STR_INIT("x86_64")}, arm[] = {STR_INIT("arm64")};
static str both_ways[] = {STR_INIT("on-demand"), STR_INIT("spot")};
static str strategies[] = {STR_INIT("partition"), STR_INIT("spread"), STR_INIT("cluster")};

static const struct {
    const char *name;
    int32_t cpus;
    int64_t mib;
    int32_t interfaces, ips, cards, efa;
    const char *maker;
    double ghz;
    int64_t store_gb, ebs_mbps;
} rows[] = {
    {"a1.large", 2, 4096, 3, 10, 1, 0, "AWS", 2.3, 0, 4750},
    {"g4dn.8xlarge", 32, 131072, 4, 15, 1, 1, "Intel", 2.5, 900, 9500},
    {"inf1.2xlarge", 8, 16384, 4, 10, 1, 0, "Intel", 2.5, 0, 4750},
    {"m5.large", 2, 8192, 3, 10, 1, 0, "Intel", 3.1, 0, 4750},
    {"m5.xlarge", 4, 16384, 4, 15, 1, 0, "Intel", 3.1, 0, 4750},
    {"m6g.large", 2, 8192, 3, 10, 1, 0, "AWS", 2.5, 0, 4750},
    {"m6idn.32xlarge", 128, 524288, 8, 50, 2, 2, "Intel", 3.5, 7600, 100000},
    {"p4d.24xlarge", 96, 1179648, 15, 50, 4, 4, "Intel", 3, 7968, 14250},
    {"t3.large", 2, 8192, 3, 12, 1, 0, "Intel", 2.5, 0, 2780},
    {"t4g.medium", 2, 4096, 3, 6, 1, 0, "AWS", 2.5, 0, 2085},
    {"t4g.small", 2, 2048, 3, 4, 1, 0, "AWS", 2.5, 0, 2085},
    {"t4g.xlarge", 4, 16384, 4, 15, 1, 0, "AWS", 2.5, 0, 2780},
    {"trn1.32xlarge", 128, 524288, 5, 50, 8, 8, "Intel", 3.5, 0, 19000},
    {"u-6tb1.metal", 448, 6291456, 5, 30, 1, 0, "Intel", 2.1, 0, 38000},
    {"x9z.large", 2, 8192, 4, 15, 1, 0, "Example Corp", 4.1, 0, 4750},
};

static void add_devices(struct ec2_lab *l)
{
    struct ec2_type_info *t4 = ec2_lab_type(l, "g4dn.8xlarge"), *a100 = ec2_lab_type(l, "p4d.24xlarge");
    struct ec2_type_info *inf = ec2_lab_type(l, "inf1.2xlarge"), *trn = ec2_lab_type(l, "trn1.32xlarge");
    struct ec2_accel *x = arena_new_array(l->a, struct ec2_accel, 4);

    x[0] = (struct ec2_accel){.name = STR("T4"), .manufacturer = STR("NVIDIA"), .count = 1, .memory_mib = 16384};
    x[1] = (struct ec2_accel){.name = STR("A100"), .manufacturer = STR("NVIDIA"), .count = 8, .memory_mib = 40960};
    x[2] = (struct ec2_accel){.name = STR("Inferentia"), .manufacturer = STR("AWS"), .count = 1};
    x[3] = (struct ec2_accel){.name = STR("Trainium"), .count = 16, .cores = 2};
    t4->gpus = &x[0];
    a100->gpus = &x[1];
    inf->accelerators = &x[2];
    trn->neurons = &x[3];
    t4->n_gpus = a100->n_gpus = inf->n_accelerators = trn->n_neurons = 1;
    trn->has_neuron = true;
}

static void add_type(struct ec2_lab *l, size_t row)
{
    bool is_arm = str_is(str_c(rows[row].maker), "AWS"), metal = str_ends(str_c(rows[row].name), STR(".metal"));
    struct ec2_card *cards = arena_new_array(l->a, struct ec2_card, rows[row].cards);

    for (int32_t i = 0; i < rows[row].cards; i++)
        cards[i] = (struct ec2_card){.index = i, .max_interfaces = rows[row].interfaces};
    l->infos[l->n_infos++] = (struct ec2_type_info){
        .name = str_c(rows[row].name),
        .usage_classes = both_ways,
        .n_usage_classes = metal ? 1 : 2,
        .hypervisor = metal ? STR("") : STR("nitro"),
        .bare_metal = metal,
        .archs = is_arm ? arm : x86,
        .n_archs = 1,
        .has_processor = true,
        .clock_ghz = rows[row].ghz,
        .manufacturer = str_c(rows[row].maker),
        .vcpus = rows[row].cpus,
        .memory_mib = rows[row].mib,
        .has_storage = rows[row].store_gb > 0,
        .storage_gb = rows[row].store_gb,
        .nvme = rows[row].store_gb ? STR("required") : STR(""),
        .ebs_optimized = STR("default"),
        .ebs_mbps = rows[row].ebs_mbps,
        .cards = cards,
        .n_cards = (uint32_t)rows[row].cards,
        .ipv4_per_interface = rows[row].ips,
        .ena = STR("required"),
        .has_efa = rows[row].efa > 0,
        .max_efa = rows[row].efa,
        .placement_strategies = strategies,
        .n_placement_strategies = rows[row].name[0] == 't' ? 2 : 3,
        .enclaves = STR("unsupported"),
    };
}

int ec2_lab_setup(void **state)
{
    static const char *const zones[] = {"z-a", "z-b", "z-c"};
    struct ec2_lab *l = xcalloc(1, sizeof(*l));

    l->a = arena_new(0);
    l->t = syms_new();
    l->prices = ec2_prices_new(STR("us-east-1"));
    l->unavailable = ec2_unavailable_new();
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        add_type(l, i);
        for (size_t z = 0; z < ARRAY_LEN(zones); z++)
            l->offered[l->n_offered++] = (struct ec2_type_zone){str_c(rows[i].name), str_c(zones[z])};
    }
    add_devices(l);
    l->k = (struct ec2_class){.name = STR("default"), .family = EC2_AL2023};
    l->k.kubelet.max_pods = l->k.kubelet.pods_per_core = -1;
    l->k.status.subnets = arena_new_array(l->a, struct ec2_class_subnet, 3);
    for (uint32_t i = 0; i < 2; i++)
        l->k.status.subnets[l->k.status.n_subnets++] = (struct ec2_class_subnet){
            arena_printf(l->a, "subnet-%u", i + 1), str_c(zones[i]), arena_printf(l->a, "id-%c", "ab"[i])};
    l->in = (struct ec2_types_input){
        .universe = &l->universe,
        .class = &l->k,
        .prices = l->prices,
        .unavailable = l->unavailable,
        .region = STR("us-east-1"),
        .memory_overhead = 0.075,
        .reserved_capacity = true,
        .expressions = true,
    };
    *state = l;
    return 0;
}

int ec2_lab_teardown(void **state)
{
    struct ec2_lab *l = *state;

    ec2_prices_free(l->prices);
    ec2_unavailable_free(l->unavailable);
    syms_free(l->t);
    arena_free(l->a);
    free(l);
    return 0;
}

struct ec2_type_info *ec2_lab_type(struct ec2_lab *l, const char *name)
{
    for (uint32_t i = 0; i < l->n_infos; i++)
        if (str_is(l->infos[i].name, name))
            return &l->infos[i];
    fail_msg("no type %s in the lab", name);
    return NULL;
}

void ec2_lab_resolve(struct ec2_lab *l)
{
    struct ec2_type_infos infos = {l->infos, l->n_infos};
    struct err e;

    check_ok("universe", ec2_universe_build(l->a, &infos, l->offered, l->n_offered, &l->universe, &e), &e);
    check_ok("resolve", ec2_types_resolve(l->a, l->t, &l->in, &l->types, &e), &e);
}

struct ec2_kvs ec2_lab_kvs(struct ec2_lab *l, const char *text)
{
    struct ec2_kvs m = {.v = arena_new_array(l->a, struct ec2_kv, 8), .present = true};
    str left = str_c(text), pair;

    while (left.n) {
        (void)str_cut(left, ' ', &pair, &left);
        (void)str_cut(pair, '=', &m.v[m.n].key, &m.v[m.n].value);
        m.n++;
    }
    return m;
}

uint32_t ec2_lab_ix(struct ec2_lab *l, const char *name)
{
    for (uint32_t i = 0; i < l->types.n; i++)
        if (str_is(sym_str(l->t, l->types.v[i].name), name))
            return i;
    fail_msg("no type %s was resolved", name);
    return 0;
}

static str taken(struct ec2_lab *l, struct sb *b)
{
    str ret = arena_strdup(l->a, (str){sb_cstr(b), b->n + 1});

    sb_fini(b);
    return str_sub(ret, 0, ret.n - 1);
}

str ec2_lab_label(struct ec2_lab *l, const char *type, const char *key)
{
    const struct itype *it = &l->types.v[ec2_lab_ix(l, type)];
    struct sb b = {0};

    for (uint32_t i = 0; i < it->n_requirements; i++) {
        const struct req_expr *x = &it->requirements[i];

        if (!str_is(sym_str(l->t, x->key), key))
            continue;
        if (x->op == OP_DOES_NOT_EXIST)
            return STR("!");
        for (uint32_t j = 0; j < x->n_vals; j++)
            sb_printf(&b, "%s" STR_FMT, j ? "," : "", STR_ARG(sym_str(l->t, x->vals[j])));
        return taken(l, &b);
    }
    return STR("?");
}

static str amount(struct ec2_lab *l, const struct reslist *r, const char *resource)
{
    const struct resq *q = reslist_get(r, sym_of(l->t, str_c(resource)));
    struct sb b = {0};

    if (q)
        quantity_print(&b, q->name, q->v, q->binary);
    return taken(l, &b);
}

str ec2_lab_capacity(struct ec2_lab *l, const char *type, const char *resource)
{
    return amount(l, &l->types.v[ec2_lab_ix(l, type)].capacity, resource);
}

str ec2_lab_overhead(struct ec2_lab *l, const char *type, const char *resource)
{
    return amount(l, &l->types.v[ec2_lab_ix(l, type)].overhead, resource);
}

str ec2_lab_resources(struct ec2_lab *l, const struct reslist *r)
{
    struct sb b = {0};

    reslist_print_json(&b, l->t, r);
    return taken(l, &b);
}

str ec2_lab_offerings(struct ec2_lab *l, const char *type)
{
    const struct itype *it = &l->types.v[ec2_lab_ix(l, type)];
    struct sb b = {0};

    for (uint32_t i = 0; i < it->n_offerings; i++) {
        const struct offering *o = &it->offerings[i];

        for (uint32_t j = 0; j < o->n_requirements; j++)
            if (o->requirements[j].op == OP_IN)
                sb_printf(&b, "%s" STR_FMT, j ? " " : "", STR_ARG(sym_str(l->t, o->requirements[j].vals[0])));
        sb_printf(&b, " %.9g %s", o->price_usd_per_h, o->available ? "yes" : "no");
        if (o->reservation_capacity)
            sb_printf(&b, " %d", o->reservation_capacity);
        sb_char(&b, '\n');
    }
    return taken(l, &b);
}
