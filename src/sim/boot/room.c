/* Room: cpu, memory, disk and pods as a kubelet counts them, and devices as their plugins would report them.
 *
 * Of the memory that EC2 sells, the hypervisor and the kernel keep a part: 5 % here, and 64 MiB more on arm64. Real machines keep between 2 and 7 %. */
#include "sim/boot/room.h"

#include "data/edit.h"
#include "model/quantity.h"

#define MIB (INT64_C(1) << 20)
#define GIB (INT64_C(1) << 30)
#define KEPT_PERCENT 5
#define ARM_KEPT_MIB 64
#define DEFAULT_PODS 110
#define DEFAULT_DISK_GIB 20

enum amount { CPU, MEMORY, DISK, N_AMOUNTS };

static const struct {
    const char *name, *signal; /* of eviction */
    sym sym;
    int64_t unit; /* of quantity.h in one core or byte */
} amounts[] = {
    [CPU] = {"cpu", NULL, {SYM_IX_CPU}, 1000000000},
    [MEMORY] = {"memory", "memory.available", {SYM_IX_MEMORY}, 1000},
    [DISK] = {"ephemeral-storage", "nodefs.available", {SYM_IX_EPHEMERAL}, 1000},
};

static int64_t number_at(const struct tree *t, int64_t absent)
{
    int64_t v;

    return tree_to_i64(t, &v) && v >= 0 && v < INT32_MAX ? v : absent;
}

/* ---- pods ---- */

/* Every address of every interface of the default card but its own, and two pods that need none. */
static int64_t interface_pods(const struct tree *info)
{
    const struct tree *net = tree_get(info, "NetworkInfo"), *cards = tree_get(net, "NetworkCards");
    int64_t card = number_at(tree_get(net, "DefaultNetworkCardIndex"), 0);
    int64_t enis = number_at(tree_get(net, "MaximumNetworkInterfaces"), 0);
    int64_t ips = number_at(tree_get(net, "Ipv4AddressesPerInterface"), 0);

    for (uint32_t i = 0; cards && i < cards->n; i++)
        if (number_at(tree_get(&cards->items[i], "NetworkCardIndex"), -1) == card)
            enis = number_at(tree_get(&cards->items[i], "MaximumNetworkInterfaces"), enis);
    return enis > 0 && ips > 0 ? enis * (ips - 1) + 2 : 0;
}

static int64_t pods_of(const struct told *t, int64_t by_interfaces, int64_t cores)
{
    int64_t n = t->max_pods >= 0 ? t->max_pods : t->by_interfaces && by_interfaces > 0 ? by_interfaces : DEFAULT_PODS;

    return t->pods_per_core > 0 ? MIN(n, t->pods_per_core * cores) : n;
}

/* ---- what is there ---- */

static int64_t disk_bytes(const struct sim_machine *m, const struct told *t)
{
    int64_t local_gb = number_at(tree_at(m->info, "InstanceStorageInfo", "TotalSizeInGB", NULL), 0);
    int64_t gib = DEFAULT_DISK_GIB;

    if (t->local_disks && local_gb > 0)
        return local_gb * 1000000000;
    for (uint32_t i = 0; m->disks && i < m->disks->n; i++) {
        const struct tree *d = &m->disks->items[i];

        gib = number_at(tree_at(d, "Ebs", "VolumeSize", NULL), gib); /* of an image that nobody knows: the last one */
        if (str_eq(tree_str(tree_get(d, "DeviceName")), t->disk))
            break;
    }
    return gib * GIB;
}

static void measure(const struct sim_machine *m, const struct told *t, int64_t *ret)
{
    int64_t mib = number_at(tree_at(m->info, "MemoryInfo", "SizeInMiB", NULL), 0);

    mib -= str_is(m->arch, "arm64") ? MIN(mib, ARM_KEPT_MIB) : 0;
    ret[CPU] = number_at(tree_at(m->info, "VCpuInfo", "DefaultVCpus", NULL), 0);
    ret[MEMORY] = (mib * MIB / 100 * (100 - KEPT_PERCENT)) / 1024 * 1024;
    ret[DISK] = disk_bytes(m, t);
    for (int i = 0; i < N_AMOUNTS; i++)
        ret[i] = ret[i] > INT64_MAX / amounts[i].unit ? INT64_MAX : ret[i] * amounts[i].unit;
}

/* ---- what is kept back ---- */

/* 6 % of the first core, 1 % of the second, 0.5 % of the next two, 0.25 % of the others, in nano-cores cut to milli-cores. */
static int64_t reserved_cpu(int64_t nano)
{
    static const struct {
        int64_t cores, per_10000;
    } bands[] = {{1, 600}, {1, 100}, {2, 50}, {INT32_MAX, 25}};
    int64_t milli = nano / 1000000, sum = 0;

    for (size_t i = 0; i < ARRAY_LEN(bands) && milli > 0; i++) {
        int64_t part = MIN(milli, bands[i].cores * 1000);

        sum += part * bands[i].per_10000 / 10000;
        milli -= part;
    }
    return sum * 1000000;
}

static int64_t default_reserved(enum amount i, int64_t capacity, int64_t pods)
{
    switch (i) {
    case CPU:
        return reserved_cpu(capacity);
    case MEMORY:
        return (11 * pods + 255) * MIB * 1000;
    case DISK:
        return GIB * 1000;
    case N_AMOUNTS:
        break;
    }
    return 0;
}

/* A quantity, or N% of the capacity. What is neither keeps nothing back, and neither do 0 % and 100 %. */
static int64_t amount_of(enum amount i, str text, int64_t capacity)
{
    struct err e;
    bool binary;
    double percent;
    int64_t v;

    if (str_ends(text, STR("%"))) {
        if (!str_to_double(str_sub(text, 0, text.n - 1), &percent) || !(percent > 0 && percent < 100))
            return 0;
        return (int64_t)((double)capacity / 100 * percent);
    }
    return quantity_parse(text, amounts[i].sym, &v, &binary, &e) && v > 0 ? v : 0;
}

static int64_t told_amount(enum amount i, const struct told_amounts *t, const char *name, int64_t capacity,
                           int64_t by_default)
{
    const struct tree *v = tree_get(t->of, name);

    return v ? amount_of(i, tree_scalar(v), capacity) : t->whole ? 0 : by_default;
}

static int64_t kept_back(enum amount i, const struct told *t, int64_t capacity, int64_t pods)
{
    const char *name = amounts[i].name, *signal = amounts[i].signal;
    int64_t by_default = i == MEMORY ? 100 * MIB * 1000 : capacity / 10;
    int64_t parts[] = {
        told_amount(i, &t->kube, name, capacity, default_reserved(i, capacity, pods)),
        told_amount(i, &t->system, name, capacity, 0),
        signal ? told_amount(i, &t->hard, signal, capacity, by_default) : 0,
    };
    int64_t left = capacity;

    for (size_t k = 0; k < ARRAY_LEN(parts); k++)
        left -= MIN(left, parts[k]);
    return capacity - left;
}

/* ---- devices ---- */

static void put_count(struct arena *a, struct tree *t, const char *name, int64_t n)
{
    if (n > 0)
        tree_set_str(a, t, name, arena_printf(a, "%lld", (long long)n));
}

static void put_devices(struct arena *a, struct tree *t, const struct tree *info)
{
    static const struct {
        const char *maker, *name;
    } gpus[] = {{"NVIDIA", "nvidia.com/gpu"}, {"AMD", "amd.com/gpu"}, {"Habana", "habana.ai/gaudi"}};
    const struct tree *list = tree_at(info, "GpuInfo", "Gpus", NULL);
    const struct tree *neurons = tree_at(info, "NeuronInfo", "NeuronDevices", NULL);
    int64_t devices = 0, cores = 0;

    for (size_t g = 0; g < ARRAY_LEN(gpus); g++) {
        int64_t n = 0;

        for (uint32_t i = 0; list && i < list->n; i++)
            if (str_is(tree_str(tree_get(&list->items[i], "Manufacturer")), gpus[g].maker))
                n += number_at(tree_get(&list->items[i], "Count"), 0);
        put_count(a, t, gpus[g].name, n);
    }
    for (uint32_t i = 0; neurons && i < neurons->n; i++) {
        int64_t n = number_at(tree_get(&neurons->items[i], "Count"), 0);

        devices += n;
        cores += n * number_at(tree_at(&neurons->items[i], "CoreInfo", "Count", NULL), 0);
    }
    put_count(a, t, "aws.amazon.com/neuron", devices);
    put_count(a, t, "aws.amazon.com/neuroncore", cores);
    put_count(a, t, "vpc.amazonaws.com/efa",
              number_at(tree_at(info, "NetworkInfo", "EfaInfo", "MaximumEfaInterfaces", NULL), 0));
}

static void put_amount(struct arena *a, struct tree *t, enum amount i, int64_t v)
{
    struct sb b = {0};

    quantity_print(&b, amounts[i].sym, v, /* binary= */ i != CPU);
    tree_set_str(a, t, amounts[i].name, sb_dup(&b, a));
    sb_fini(&b);
}

struct boot_room boot_room_of(struct arena *a, const struct sim_machine *m, const struct told *t)
{
    int64_t have[N_AMOUNTS], by_interfaces = interface_pods(m->info), pods;
    struct boot_room r = {0};

    if (!m->info)
        return r;
    measure(m, t, have);
    pods = pods_of(t, by_interfaces, have[CPU] / amounts[CPU].unit);
    r = (struct boot_room){tree_new_map(a), tree_new_map(a)};
    for (enum amount i = CPU; i < N_AMOUNTS; i++) {
        put_amount(a, r.capacity, i, have[i]);
        put_amount(a, r.allocatable, i, have[i] - kept_back(i, t, have[i], t->reserve_by_pods ? pods : by_interfaces));
    }
    struct tree *const both[] = {r.capacity, r.allocatable};
    for (size_t i = 0; i < ARRAY_LEN(both); i++) {
        tree_set_str(a, both[i], "pods", arena_printf(a, "%lld", (long long)pods));
        put_devices(a, both[i], m->info);
    }
    return r;
}
