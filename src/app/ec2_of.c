/* EC2's types in the words of DescribeInstanceTypes. */
#include "app/ec2_of.h"

#include "base/map.h"
#include "base/sb.h"
#include "cloud/ec2/catalog.h"
#include "cloud/ec2/facts.h"
#include "cloud/ec2/universe.h"
#include "data/edit.h"

static struct tree of_double(struct arena *a, double v)
{
    struct sb b = {0};

    sb_double(&b, v);
    struct tree t = {.kind = TREE_NUMBER, .text = sb_dup(&b, a)};
    sb_fini(&b);
    return t;
}

static void set_texts(struct arena *a, struct tree *t, const char *key, const str *v, uint32_t n)
{
    struct tree *list = tree_sublist(a, t, key);

    for (uint32_t i = 0; i < n; i++)
        (void)tree_push(a, list, tree_of_str(v[i]));
}

static void put_network(struct arena *a, struct tree *t, const struct ec2_type_info *i)
{
    struct tree *net = tree_sub(a, t, "NetworkInfo"), *cards = tree_sublist(a, net, "NetworkCards");
    int64_t most = 0;

    for (uint32_t k = 0; k < i->n_cards; k++) {
        struct tree *card = tree_push(a, cards, *tree_new_map(a));

        tree_set_i64(a, card, "NetworkCardIndex", i->cards[k].index);
        tree_set_i64(a, card, "MaximumNetworkInterfaces", i->cards[k].max_interfaces);
        most += i->cards[k].max_interfaces;
    }
    tree_set_i64(a, net, "DefaultNetworkCardIndex", i->default_card);
    tree_set_i64(a, net, "MaximumNetworkInterfaces", most);
    tree_set_i64(a, net, "Ipv4AddressesPerInterface", i->ipv4_per_interface);
    tree_set_bool(a, net, "EncryptionInTransitSupported", i->encryption_in_transit);
    tree_set_bool(a, net, "EfaSupported", i->has_efa);
    if (i->has_efa)
        tree_set_i64(a, tree_sub(a, net, "EfaInfo"), "MaximumEfaInterfaces", i->max_efa);
}

static void put_devices(struct arena *a, struct tree *list, const struct ec2_accel *v, uint32_t n)
{
    for (uint32_t k = 0; k < n; k++) {
        struct tree *d = tree_push(a, list, *tree_new_map(a));

        tree_set_str(a, d, "Name", v[k].name);
        if (v[k].manufacturer.n)
            tree_set_str(a, d, "Manufacturer", v[k].manufacturer);
        tree_set_i64(a, d, "Count", v[k].count);
        if (v[k].memory_mib)
            tree_set_i64(a, tree_sub(a, d, "MemoryInfo"), "SizeInMiB", v[k].memory_mib);
        if (v[k].cores)
            tree_set_i64(a, tree_sub(a, d, "CoreInfo"), "Count", v[k].cores);
    }
}

static void put_accelerators(struct arena *a, struct tree *t, const struct ec2_type_info *i)
{
    if (i->n_gpus)
        put_devices(a, tree_sublist(a, tree_sub(a, t, "GpuInfo"), "Gpus"), i->gpus, i->n_gpus);
    if (i->n_accelerators)
        put_devices(a, tree_sublist(a, tree_sub(a, t, "InferenceAcceleratorInfo"), "Accelerators"), i->accelerators,
                    i->n_accelerators);
    if (i->n_neurons)
        put_devices(a, tree_sublist(a, tree_sub(a, t, "NeuronInfo"), "NeuronDevices"), i->neurons, i->n_neurons);
}

static void put_type(struct arena *a, struct tree *t, const struct ec2_type_info *i)
{
    struct tree *cpu, *ebs;

    tree_set_str(a, t, "InstanceType", i->name);
    tree_set_bool(a, t, "CurrentGeneration", true);
    tree_set_bool(a, t, "BareMetal", i->bare_metal);
    if (i->hypervisor.n)
        tree_set_str(a, t, "Hypervisor", i->hypervisor);
    set_texts(a, t, "SupportedUsageClasses", i->usage_classes, i->n_usage_classes);
    set_texts(a, t, "SupportedVirtualizationTypes", (str[]){STR("hvm")}, 1);
    cpu = tree_sub(a, t, "ProcessorInfo");
    set_texts(a, cpu, "SupportedArchitectures", i->archs, i->n_archs);
    tree_set_str(a, cpu, "Manufacturer", i->manufacturer);
    if (i->clock_ghz > 0)
        tree_set(a, cpu, "SustainedClockSpeedInGhz", of_double(a, i->clock_ghz));
    tree_set_i64(a, tree_sub(a, t, "VCpuInfo"), "DefaultVCpus", i->vcpus);
    tree_set_i64(a, tree_sub(a, t, "MemoryInfo"), "SizeInMiB", i->memory_mib);
    tree_set_bool(a, t, "InstanceStorageSupported", i->has_storage);
    if (i->has_storage) {
        struct tree *store = tree_sub(a, t, "InstanceStorageInfo");

        tree_set_i64(a, store, "TotalSizeInGB", i->storage_gb);
        tree_set_str(a, store, "NvmeSupport", i->nvme);
    }
    ebs = tree_sub(a, t, "EbsInfo");
    if (i->ebs_optimized.n)
        tree_set_str(a, ebs, "EbsOptimizedSupport", i->ebs_optimized);
    if (i->ebs_mbps)
        tree_set_i64(a, tree_sub(a, ebs, "EbsOptimizedInfo"), "MaximumBandwidthInMbps", i->ebs_mbps);
    tree_set_str(a, t, "NitroEnclavesSupport", i->enclaves);
    set_texts(a, tree_sub(a, t, "PlacementGroupInfo"), "SupportedStrategies",
              (str[]){STR("cluster"), STR("partition"), STR("spread")}, 3);
    put_network(a, t, i);
    put_accelerators(a, t, i);
}

/* Where it can be had, and for how much. */
static void put_market(struct arena *a, struct tree *account, const struct ec2_universe *u, uint32_t ix)
{
    const struct ec2_type_info *i = &u->types[ix];
    const struct ec2_fact *fact = ec2_fact_of(i->name);
    double price = fact ? fact->price[0] : 0;
    struct tree *zones = tree_put(a, tree_sub(a, account, "instanceTypeOfferings"), i->name), *spot = NULL;

    *zones = *tree_new_list(a);
    if (price > 0)
        *tree_put(a, tree_sub(a, account, "onDemandPrices"), i->name) = of_double(a, price);
    if (price > 0 && i->n_usage_classes > 1) {
        spot = tree_put(a, tree_sub(a, account, "spotPrices"), i->name);
        *spot = *tree_new_map(a);
    }
    for (uint32_t z = 0; z < u->where[ix].n; z++) {
        str zone = u->zones[u->where[ix].v[z]];
        uint64_t chance = hash_bytes(zone.p, zone.n, hash_bytes(i->name.p, i->name.n, 1)) % 2500;
        double usd = price * (0.25 + (double)chance / 10000);

        (void)tree_push(a, zones, tree_of_str(zone));
        if (spot)
            *tree_put(a, spot, zone) = of_double(a, (double)(int64_t)(usd * 1e4 + 1) / 1e4);
    }
}

bool ec2_of(struct arena *a, str region, struct tree *account, struct err *e)
{
    struct ec2_universe u;
    const str *ids;

    if (!ec2_catalog_universe(a, region, &u, &ids, e))
        return false;
    struct tree *zones = tree_sublist(a, account, "zones"), *types;

    for (uint32_t i = 0; i < u.n_zones; i++) {
        struct tree *z = tree_push(a, zones, *tree_new_map(a));

        tree_set_str(a, z, "ZoneName", u.zones[i]);
        tree_set_str(a, z, "ZoneId", ids[i]);
        tree_set_str(a, z, "ZoneType", STR("availability-zone"));
    }
    types = tree_sublist(a, account, "instanceTypes");
    for (uint32_t i = 0; i < u.n; i++)
        put_type(a, tree_push(a, types, *tree_new_map(a)), &u.types[i]);
    for (uint32_t i = 0; i < u.n; i++)
        put_market(a, account, &u, i);
    return true;
}
