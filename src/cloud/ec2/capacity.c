/* capacity - what a machine has, and what of it pods cannot have (aws 5.2 – 5.5).
 *
 * Sizes are worked out in the order and with the rounding of Karpenter: they are compared with recorded ones to the byte.
 */
#include <math.h>

#include "cloud/catalog.h"
#include "cloud/ec2/kubelet_expr.h"
#include "cloud/ec2/types_int.h"

#define DEFAULT_PODS 110
#define DEFAULT_DISK_GIB 20

static void count_interfaces(struct build *b)
{
    const struct ec2_class *k = b->in->class;

    for (uint32_t i = 0; i < k->n_nics; i++)
        if (str_is(k->nics[i].type, "efa-only")) {
            b->n_efa_only++;
            b->n_efa_only_first += k->nics[i].card == 0;
        }
}

static void remember_memory(struct build *b)
{
    uint64_t amis = ec2_amis_hash(b->in->class);

    for (uint32_t i = 0; i < b->in->n_memory; i++)
        if (b->in->memory[i].amis == amis)
            strmap_put(&b->memory_of, b->in->memory[i].type, i);
}

/* The class may be gone before the types are. */
static struct ec2_kvs kvs_dup(struct arena *a, const struct ec2_kvs *m)
{
    struct ec2_kvs ret = {.v = arena_new_array(a, struct ec2_kv, m->n), .n = m->n, .present = m->present};

    for (uint32_t i = 0; i < m->n; i++)
        ret.v[i] = (struct ec2_kv){arena_strdup(a, m->v[i].key), arena_strdup(a, m->v[i].value)};
    return ret;
}

/* Reservations as amounts. Texts that are none were refused when the class was validated; they are passed over here. */
static struct reslist amounts(struct build *b, const struct ec2_kvs *m)
{
    struct reslist l = {0};

    for (uint32_t i = 0; i < m->n; i++) {
        sym name = sym_of(b->t, m->v[i].key);
        struct err e;
        int64_t v;
        bool binary;

        if (quantity_parse(m->v[i].value, name, &v, &binary, &e))
            reslist_set(b->a, &l, name, v, binary);
    }
    return l;
}

void capacity_init(struct build *b)
{
    const struct ec2_kubelet *k = &b->in->class->kubelet;

    b->gpu_nvidia = sym_of(b->t, STR("nvidia.com/gpu"));
    b->gpu_amd = sym_of(b->t, STR("amd.com/gpu"));
    b->gpu_gaudi = sym_of(b->t, STR("habana.ai/gaudi"));
    b->neuron = sym_of(b->t, STR("aws.amazon.com/neuron"));
    b->neuroncore = sym_of(b->t, STR("aws.amazon.com/neuroncore"));
    b->efa = sym_of(b->t, STR("vpc.amazonaws.com/efa"));
    b->pod_eni = sym_of(b->t, STR("vpc.amazonaws.com/pod-eni"));
    b->private_ipv4 = sym_of(b->t, STR("vpc.amazonaws.com/PrivateIPv4Address"));
    count_interfaces(b);
    remember_memory(b);
    b->expressions = ec2_kubelet_has_expressions(k);
    if (!b->expressions) {
        b->kube_kvs = kvs_dup(b->a, &k->kube_reserved);
        b->system_kvs = kvs_dup(b->a, &k->system_reserved);
        b->kube_reserved = amounts(b, &b->kube_kvs);
        b->system_reserved = amounts(b, &b->system_kvs);
    }
}

void capacity_fini(struct build *b)
{
    strmap_fini(&b->memory_of);
}

/* ---- pods ---- */

static int64_t default_card_interfaces(const struct ec2_type_info *info)
{
    for (uint32_t i = 0; i < info->n_cards; i++)
        if (info->cards[i].index == info->default_card)
            return info->cards[i].max_interfaces;
    return 0;
}

/* Pods by network addresses: each interface keeps one address to itself; two pods use the host's. */
static int64_t eni_pods(const struct build *b, const struct ec2_type_info *info, int64_t reserved)
{
    int64_t enis = default_card_interfaces(info) - reserved - b->n_efa_only_first;

    return enis <= 0 ? 0 : enis * (info->ipv4_per_interface - 1) + 2;
}

/* max_pods: as the class says, -1 when it does not. */
static int64_t pods_with(const struct build *b, const struct ec2_type_info *info, int64_t max_pods)
{
    int64_t per_core = b->in->class->kubelet.pods_per_core, pods = max_pods;

    if (pods < 0)
        pods = b->family->eni_pods ? eni_pods(b, info, b->in->reserved_enis) : DEFAULT_PODS;
    if (per_core > 0 && b->family->pods_per_core)
        pods = MIN(pods, sat_mul(per_core, info->vcpus));
    return pods;
}

static struct ec2_expr_vars variables(const struct ec2_type_info *info, int64_t max_pods)
{
    return (struct ec2_expr_vars){
        .vcpus = info->vcpus,
        .memory_mib = info->memory_mib,
        .default_enis = default_card_interfaces(info),
        .ips_per_eni = info->ipv4_per_interface,
        .max_pods = max_pods,
        .instance_type = info->name,
    };
}

static bool pods_of(const struct build *b, const struct ec2_type_info *info, int64_t *ret, struct err *e)
{
    const struct ec2_kubelet *k = &b->in->class->kubelet;
    int64_t max_pods = k->max_pods;

    if (k->max_pods_is_expr && b->in->expressions) {
        struct ec2_expr_vars v = variables(info, pods_with(b, info, -1));

        if (!ec2_expr_eval(b->a, k->max_pods_expr, &v, &max_pods, e))
            return err_wrap(e, "maxPods");
        if (max_pods < 0 || max_pods > INT32_MAX)
            return err_set(e, ERR_INVALID, "maxPods: %lld is not between 0 and %d", (long long)max_pods, INT32_MAX);
    }
    *ret = pods_with(b, info, max_pods);
    return true;
}

/* ---- capacity ---- */

/* What the hypervisor and the kernel take is not known beforehand: a share of the memory is written off. */
static int64_t memory_mib(const struct build *b, const struct ec2_type_info *info)
{
    bool arm = info->n_archs && str_is(info->archs[0], "arm64");
    int64_t mib = info->memory_mib - (arm ? 64 : 0);
    double lost = ceil((double)mib * 1048576.0 * b->in->memory_overhead / 1024 / 1024);

    return mib - (int64_t)lost;
}

static bool size_of(const struct ec2_device *d, struct resq *ret)
{
    struct err e;

    return d->size.n && quantity_parse(d->size, SYM(EPHEMERAL), &ret->v, &ret->binary, &e);
}

/* The disk that the class gives to pods; false: it does not say. */
static bool class_disk(const struct build *b, struct resq *ret)
{
    const struct ec2_class *k = b->in->class;

    for (uint32_t i = 0; i < k->n_devices; i++)
        if (k->devices[i].root && size_of(&k->devices[i], ret))
            return true;
    if (k->n_devices && k->family == EC2_CUSTOM)
        return size_of(&k->devices[k->n_devices - 1], ret);
    for (uint32_t i = 0; i < k->n_devices && b->family->ephemeral_device; i++)
        if (str_is(k->devices[i].name, b->family->ephemeral_device))
            return size_of(&k->devices[i], ret);
    return false;
}

static struct resq disk_of(const struct build *b, const struct ec2_type_info *info)
{
    struct resq q = {.name = SYM(EPHEMERAL), .v = DEFAULT_DISK_GIB * GIBI_MILLI, .binary = true};

    if (str_is(b->in->class->store_policy, "RAID0") && info->has_storage && info->storage_gb) {
        q.v = sat_mul(info->storage_gb, 1000000000000);
        q.binary = false;
        return q;
    }
    if (class_disk(b, &q))
        return q;
    for (size_t i = 0; i < ARRAY_LEN(b->family->volumes) && b->family->volumes[i].device; i++)
        if (strcmp(b->family->volumes[i].device, b->family->ephemeral_device) == 0)
            q.v = b->family->volumes[i].gib * GIBI_MILLI;
    return q;
}

static int64_t gpus_of(const struct ec2_type_info *info, const char *maker)
{
    int64_t n = 0;

    for (uint32_t i = 0; i < info->n_gpus; i++)
        if (str_is(info->gpus[i].manufacturer, maker))
            n += info->gpus[i].count;
    return n;
}

static void add(struct resq *q, uint32_t *n, sym name, int64_t count)
{
    if (count > 0)
        q[(*n)++] = (struct resq){.name = name, .v = count * 1000};
}

static void add_devices(const struct build *b, const struct ec2_type_info *info, struct resq *q, uint32_t *n)
{
    int64_t neurons = 0;

    if (info->n_gpus) {
        add(q, n, b->gpu_nvidia, gpus_of(info, "NVIDIA"));
        add(q, n, b->gpu_amd, gpus_of(info, "AMD"));
        add(q, n, b->gpu_gaudi, gpus_of(info, "Habana"));
    }
    for (uint32_t i = 0; i < info->n_neurons; i++)
        neurons += info->neurons[i].count;
    add(q, n, b->neuron, neurons);
    if (info->n_neurons)
        add(q, n, b->neuroncore, (int64_t)info->neurons[0].count * info->neurons[0].cores);
}

/* What a type does not have is left out. */
static struct reslist capacity_of(struct build *b, const struct ec2_type_info *info, bool windows,
                                  const struct ec2_type_detail *d, struct resq memory, struct resq disk)
{
    const struct ec2_fact *fact = b->fact;
    struct resq q[12];
    uint32_t n = 0;

    q[n++] = (struct resq){.name = SYM(CPU), .v = info->vcpus * CPU_NANO};
    q[n++] = memory;
    q[n++] = disk;
    q[n++] = (struct resq){.name = SYM(PODS), .v = sat_mul(d->pods, 1000)};
    add(q, &n, b->pod_eni, fact ? fact->branches : 0);
    add(q, &n, b->efa, d->n_efa);
    add_devices(b, info, q, &n);
    if (windows && fact)
        add(q, &n, b->private_ipv4, fact->ipv4 - 1);
    return catalog_resources(b->a, q, n);
}

/* ---- overhead ---- */

/* 6 % of the first core, 1 % of the second, 0.5 % of the next two, 0.25 % of the others. */
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

static struct reslist kube_reserved_of(struct build *b, const struct ec2_type_info *info, int64_t pods,
                                       const struct reslist *said)
{
    int64_t n = b->family->eni_memory ? eni_pods(b, info, 0) : pods;
    struct resq q[] = {
        {.name = SYM(CPU), .v = reserved_cpu_milli(info->vcpus) * (CPU_NANO / 1000)},
        {.name = SYM(MEMORY), .v = sat_mul(sat_add(sat_mul(11, n), 255), MEBI_MILLI), .binary = true},
        {.name = SYM(EPHEMERAL), .v = GIBI_MILLI, .binary = true},
    };
    struct reslist l = catalog_resources(b->a, q, ARRAY_LEN(q));

    for (uint32_t i = 0; i < said->n; i++)
        reslist_set(b->a, &l, said->q[i].name, said->q[i].v, said->q[i].binary);
    return l;
}

/* Whole bytes, rounded up. All of it means that there is no threshold. */
static void share(struct resq *q, int64_t capacity, double percent)
{
    int64_t bytes = capacity / 1000;

    q->v = (int64_t)ceil((double)bytes / 100 * (percent == 100 ? 0 : percent)) * 1000;
    q->binary = false;
}

/* "10%" of the capacity, or a quantity. */
static void threshold(str said, struct resq *q, int64_t capacity)
{
    struct err e;
    double percent;

    if (!str_ends(said, STR("%")))
        (void)quantity_parse(said, q->name, &q->v, &q->binary, &e);
    else if (str_to_double(str_sub(said, 0, said.n - 1), &percent) && percent >= 0 && percent <= 100)
        share(q, capacity, percent);
}

static struct reslist eviction_of(struct build *b, int64_t memory, int64_t disk)
{
    const struct ec2_kvs *hard = &b->in->class->kubelet.eviction_hard;
    struct resq q[] = {
        {.name = SYM(MEMORY), .v = 100 * MEBI_MILLI, .binary = true},
        {.name = SYM(EPHEMERAL)},
    };

    share(&q[1], disk, 10);
    for (uint32_t i = 0; i < hard->n; i++) {
        if (str_is(hard->v[i].key, "memory.available"))
            threshold(hard->v[i].value, &q[0], memory);
        else if (str_is(hard->v[i].key, "nodefs.available"))
            threshold(hard->v[i].value, &q[1], disk);
    }
    return catalog_resources(b->a, q, ARRAY_LEN(q));
}

static void overhead_of(struct build *b, const struct ec2_type_info *info, int64_t memory, int64_t disk,
                        struct itype *it, struct ec2_type_detail *d)
{
    struct reslist kube = b->kube_reserved, system = b->system_reserved;

    d->kube_reserved = b->kube_kvs;
    d->system_reserved = b->system_kvs;
    if (b->expressions) {
        const struct ec2_kubelet *k = &b->in->class->kubelet;
        struct ec2_expr_vars v = variables(info, d->pods);

        struct ec2_kvs kube_kvs = ec2_kvs_resolve(b->a, &k->kube_reserved, &v, b->in->expressions, NULL);
        struct ec2_kvs system_kvs = ec2_kvs_resolve(b->a, &k->system_reserved, &v, b->in->expressions, NULL);

        d->kube_reserved = kvs_dup(b->a, &kube_kvs);
        d->system_reserved = kvs_dup(b->a, &system_kvs);
        kube = amounts(b, &d->kube_reserved);
        system = amounts(b, &d->system_reserved);
    }
    d->kube_reserved_list = kube_reserved_of(b, info, d->pods, &kube);
    d->system_reserved_list = system;
    d->eviction_list = eviction_of(b, memory, disk);
    it->overhead = reslist_dup(b->a, &d->kube_reserved_list);
    reslist_add(b->a, &it->overhead, &d->system_reserved_list);
    reslist_add(b->a, &it->overhead, &d->eviction_list);
}

bool type_capacity(struct build *b, const struct ec2_type_info *info, bool windows, struct itype *it,
                   struct ec2_type_detail *d, struct err *e)
{
    struct resq disk = disk_of(b, info);
    struct resq memory = {.name = SYM(MEMORY), .v = sat_mul(memory_mib(b, info), MEBI_MILLI), .binary = true};
    int64_t computed = memory.v;
    uint32_t seen = strmap_get(&b->memory_of, info->name);

    if (!pods_of(b, info, &d->pods, e))
        return false;
    d->n_efa = b->in->class->n_nics ? b->n_efa_only : (uint32_t)MAX(info->max_efa, 0);
    if (seen != MAP_NONE)
        memory.v = sat_mul(b->in->memory[seen].bytes, 1000);
    it->capacity = capacity_of(b, info, windows, d, memory, disk);
    overhead_of(b, info, computed, disk.v, it, d);
    return true;
}

/* ---- expressions, all of them ---- */

static bool reservations_work(struct arena *a, const struct ec2_kvs *m, const struct ec2_expr_vars *v,
                              const char *field, struct err *e)
{
    str dropped;

    (void)ec2_kvs_resolve(a, m, v, /* gate= */ true, &dropped);
    return dropped.n == 0 || err_set(e, ERR_INVALID, "%s." STR_FMT, field, STR_ARG(dropped));
}

bool ec2_expressions_work(struct arena *a, const struct ec2_types_input *in, struct err *e)
{
    struct ec2_types_input input = *in;
    struct build b = {.a = a, .in = &input, .family = ec2_family_traits(in->class->family)};
    const struct ec2_kubelet *k = &in->class->kubelet;

    input.expressions = true;
    count_interfaces(&b);
    for (uint32_t i = 0; i < in->universe->n; i++) {
        const struct ec2_type_info *info = &in->universe->types[i];
        struct arena_mark m = arena_mark(a);
        struct ec2_expr_vars v;
        int64_t pods;
        bool ok = pods_of(&b, info, &pods, e);

        if (ok) {
            v = variables(info, pods);
            ok = reservations_work(a, &k->kube_reserved, &v, "kubeReserved", e) &&
                 reservations_work(a, &k->system_reserved, &v, "systemReserved", e);
        }
        arena_rewind(a, m);
        if (!ok)
            return err_wrap(e, "spec.kubelet on " STR_FMT, STR_ARG(info->name));
    }
    return true;
}
