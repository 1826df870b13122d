/* What EC2 has to sell: instance types, where they are, what they cost on the spot market. */
#include "aws/ec2_int.h"
#include "net/world.h"

/* ---- instance types ---- */

static const struct wire_field card_fields[] = {
    WIRE(ec2_card, index, WIRE_I32, "networkCardIndex"),
    WIRE(ec2_card, max_interfaces, WIRE_I32, "maximumNetworkInterfaces"),
};
static const struct wire_shape card_shape = WIRE_SHAPE(ec2_card, card_fields);

static const struct wire_field gpu_fields[] = {
    WIRE(ec2_accel, name, WIRE_TEXT, "name"),
    WIRE(ec2_accel, manufacturer, WIRE_TEXT, "manufacturer"),
    WIRE(ec2_accel, count, WIRE_I32, "count"),
    WIRE(ec2_accel, memory_mib, WIRE_I64, "memoryInfo/sizeInMiB"),
};
static const struct wire_shape gpu_shape = WIRE_SHAPE(ec2_accel, gpu_fields);

static const struct wire_field inference_fields[] = {
    WIRE(ec2_accel, name, WIRE_TEXT, "name"),
    WIRE(ec2_accel, manufacturer, WIRE_TEXT, "manufacturer"),
    WIRE(ec2_accel, count, WIRE_I32, "count"),
};
static const struct wire_shape inference_shape = WIRE_SHAPE(ec2_accel, inference_fields);

static const struct wire_field neuron_fields[] = {
    WIRE(ec2_accel, name, WIRE_TEXT, "name"),
    WIRE(ec2_accel, count, WIRE_I32, "count"),
    WIRE(ec2_accel, cores, WIRE_I32, "coreInfo/count"),
};
static const struct wire_shape neuron_shape = WIRE_SHAPE(ec2_accel, neuron_fields);

static const struct wire_field type_fields[] = {
    WIRE(ec2_type_info, name, WIRE_TEXT, "instanceType"),
    WIRE_MANY(ec2_type_info, usage_classes, WIRE_TEXTS, "supportedUsageClasses[]"),
    WIRE(ec2_type_info, hypervisor, WIRE_TEXT, "hypervisor"),
    WIRE(ec2_type_info, bare_metal, WIRE_BOOL, "bareMetal"),
    WIRE_MANY(ec2_type_info, archs, WIRE_TEXTS, "processorInfo/supportedArchitectures[]"),
    WIRE(ec2_type_info, has_processor, WIRE_THERE, "processorInfo"),
    WIRE(ec2_type_info, clock_ghz, WIRE_DOUBLE, "processorInfo/sustainedClockSpeedInGhz"),
    WIRE(ec2_type_info, manufacturer, WIRE_TEXT, "processorInfo/manufacturer"),
    WIRE_MANY(ec2_type_info, features, WIRE_TEXTS, "processorInfo/supportedFeatures[]"),
    WIRE(ec2_type_info, vcpus, WIRE_I32, "vCpuInfo/defaultVCpus"),
    WIRE(ec2_type_info, memory_mib, WIRE_I64, "memoryInfo/sizeInMiB"),
    WIRE(ec2_type_info, has_storage, WIRE_THERE, "instanceStorageInfo"),
    WIRE(ec2_type_info, storage_gb, WIRE_I64, "instanceStorageInfo/totalSizeInGB"),
    WIRE(ec2_type_info, nvme, WIRE_TEXT, "instanceStorageInfo/nvmeSupport"),
    WIRE(ec2_type_info, ebs_optimized, WIRE_TEXT, "ebsInfo/ebsOptimizedSupport"),
    WIRE(ec2_type_info, ebs_mbps, WIRE_I64, "ebsInfo/ebsOptimizedInfo/maximumBandwidthInMbps"),
    WIRE(ec2_type_info, default_card, WIRE_I32, "networkInfo/defaultNetworkCardIndex"),
    WIRE_MANY(ec2_type_info, cards, WIRE_LIST, "networkInfo/networkCards[]", .shape = &card_shape),
    WIRE(ec2_type_info, ipv4_per_interface, WIRE_I32, "networkInfo/ipv4AddressesPerInterface"),
    WIRE(ec2_type_info, ena, WIRE_TEXT, "networkInfo/enaSupport"),
    WIRE(ec2_type_info, has_efa, WIRE_THERE, "networkInfo/efaInfo"),
    WIRE(ec2_type_info, max_efa, WIRE_I32, "networkInfo/efaInfo/maximumEfaInterfaces"),
    WIRE(ec2_type_info, encryption_in_transit, WIRE_BOOL, "networkInfo/encryptionInTransitSupported"),
    WIRE_MANY(ec2_type_info, gpus, WIRE_LIST, "gpuInfo/gpus[]", .shape = &gpu_shape),
    WIRE_MANY(ec2_type_info, accelerators, WIRE_LIST, "inferenceAcceleratorInfo/accelerators[]",
              .shape = &inference_shape),
    WIRE_MANY(ec2_type_info, neurons, WIRE_LIST, "neuronInfo/neuronDevices[]", .shape = &neuron_shape),
    WIRE(ec2_type_info, has_neuron, WIRE_THERE, "neuronInfo"),
    WIRE_MANY(ec2_type_info, placement_strategies, WIRE_TEXTS, "placementGroupInfo/supportedStrategies[]"),
    WIRE(ec2_type_info, enclaves, WIRE_TEXT, "nitroEnclavesSupport"),
};
static const struct wire_shape type_shape = WIRE_SHAPE(ec2_type_info, type_fields);
const struct aws_listing ec2_types_listing = EC2_LISTING("DescribeInstanceTypes", "instanceTypeSet[]", &type_shape);

void ec2_types_encode(struct sb *out)
{
    static const str virtualization[] = {STR_INIT("hvm")};
    static const str archs[] = {STR_INIT("x86_64"), STR_INIT("arm64")};
    static const struct ec2_filter filters[] = {
        {"supported-virtualization-type", virtualization, ARRAY_LEN(virtualization)},
        {"processor-info.supported-architecture", archs, ARRAY_LEN(archs)},
    };
    struct query q = {.out = out};

    ec2_put_filters(&q, 1, filters, ARRAY_LEN(filters));
    query_i64(&q, "MaxResults", 100);
}

bool ec2_probe(struct aws *c, struct arena *a, struct err *e)
{
    struct aws_call call = {.service = AWS_EC2, .action = "DescribeInstanceTypes", .body = STR("DryRun=true")};
    struct aws_answer f;

    if (aws_ask(c, a, &call, NULL, NULL, &f, e)) /* emulators may answer instead of saying that they would have */
        return true;
    if (!str_is(f.code, EC2_DRY_RUN_OK))
        return false;
    *e = (struct err){0};
    return true;
}

bool ec2_describe_types(struct aws *c, struct arena *a, struct ec2_type_infos *ret, struct err *e)
{
    struct sb params = {0};

    ec2_types_encode(&params);
    struct ec2_type_info *v = aws_list(c, a, &ec2_types_listing, &params, &ret->n, NULL, e);
    if (v)
        ret->v = v;
    return v != NULL;
}

/* ---- where they are ---- */

static const struct wire_field type_zone_fields[] = {
    WIRE(ec2_type_zone, type, WIRE_TEXT, "instanceType"),
    WIRE(ec2_type_zone, zone, WIRE_TEXT, "location"),
};
static const struct wire_shape type_zone_shape = WIRE_SHAPE(ec2_type_zone, type_zone_fields);
const struct aws_listing ec2_type_zones_listing =
    EC2_LISTING("DescribeInstanceTypeOfferings", "instanceTypeOfferingSet[]", &type_zone_shape);

void ec2_type_zones_encode(struct sb *out)
{
    struct query q = {.out = out};

    query_c(&q, "LocationType", "availability-zone");
    query_i64(&q, "MaxResults", 1000);
}

bool ec2_describe_type_zones(struct aws *c, struct arena *a, struct ec2_type_zone **ret, uint32_t *ret_n, struct err *e)
{
    struct sb params = {0};

    ec2_type_zones_encode(&params);
    struct ec2_type_zone *v = aws_list(c, a, &ec2_type_zones_listing, &params, ret_n, NULL, e);
    if (v)
        *ret = v;
    return v != NULL;
}

/* ---- spot prices ---- */

static const struct wire_field spot_price_fields[] = {
    WIRE(ec2_spot_price, type, WIRE_TEXT, "instanceType"),
    WIRE(ec2_spot_price, zone, WIRE_TEXT, "availabilityZone"),
    WIRE(ec2_spot_price, usd, WIRE_PRICE, "spotPrice"),
    WIRE(ec2_spot_price, at_ms, WIRE_TIME, "timestamp"),
};
static const struct wire_shape spot_price_shape = WIRE_SHAPE(ec2_spot_price, spot_price_fields);
const struct aws_listing ec2_spot_prices_listing =
    EC2_LISTING("DescribeSpotPriceHistory", "spotPriceHistorySet[]", &spot_price_shape);

void ec2_spot_prices_encode(struct sb *out, int64_t now_ms)
{
    static const str products[] = {STR_INIT("Linux/UNIX"), STR_INIT("Linux/UNIX (Amazon VPC)")};
    struct query q = {.out = out};

    query_strs(&q, "ProductDescription", products, ARRAY_LEN(products));
    query_time(&q, "StartTime", now_ms);
    query_i64(&q, "MaxResults", 2000);
}

bool ec2_describe_spot_prices(struct aws *c, struct arena *a, struct ec2_spot_price **ret, uint32_t *ret_n,
                              struct err *e)
{
    struct sb params = {0};

    ec2_spot_prices_encode(&params, world_now_ms(aws_world(c)));
    struct ec2_spot_price *v = aws_list(c, a, &ec2_spot_prices_listing, &params, ret_n, NULL, e);
    if (v)
        *ret = v;
    return v != NULL;
}
