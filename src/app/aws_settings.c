#include "app/aws_settings.h"

#define MINUTE_MS (60 * 1000)

struct ec2_settings aws_settings_default(void)
{
    return (struct ec2_settings){
        .memory_overhead = 0.075,
        .reserved_capacity = true,
        .eks_control_plane = true,
        .disable_dry_run = true,
        .ami_refresh_ms = MINUTE_MS,
        .subnet_refresh_ms = MINUTE_MS,
    };
}

static bool gate(str list, const char *name, bool fallback)
{
    str one, key, value;

    while (list.n) {
        (void)str_cut(list, ',', &one, &list);
        if (str_cut(str_trim(one), '=', &key, &value) && str_is(key, name))
            fallback = str_is(value, "true");
    }
    return fallback;
}

static bool put_number(struct ec2_settings *s, str key, str value, struct err *e)
{
    int64_t n;

    if (str_is(key, "VM_MEMORY_OVERHEAD_PERCENT") && str_to_double(value, &s->memory_overhead))
        return true;
    if (str_is(key, "RESERVED_ENIS") && str_to_i64(value, &n) && n >= 0 && n <= INT32_MAX) {
        s->reserved_enis = (int32_t)n;
        return true;
    }
    return err_set(e, ERR_INVALID, STR_FMT ": \"" STR_FMT "\" is not such a number", STR_ARG(key), STR_ARG(value));
}

bool aws_settings_put(struct ec2_settings *s, struct arena *a, const char *key_value, struct err *e)
{
    str key, value;

    if (!str_cut(str_c(key_value), '=', &key, &value))
        return err_set(e, ERR_INVALID, "--settings %s: write KEY=VALUE", key_value);
    if (str_is(key, "VM_MEMORY_OVERHEAD_PERCENT") || str_is(key, "RESERVED_ENIS"))
        return put_number(s, key, value, e);
    if (str_is(key, "CLUSTER_NAME"))
        s->cluster_name = arena_strdup(a, value);
    else if (str_is(key, "CLUSTER_ENDPOINT"))
        s->cluster_endpoint = arena_strdup(a, value);
    else if (str_is(key, "CLUSTER_CA_BUNDLE"))
        s->ca_bundle = arena_strdup(a, value);
    else if (str_is(key, "ISOLATED_VPC"))
        s->isolated_vpc = str_is(value, "true");
    else if (str_is(key, "DISABLE_DRY_RUN"))
        s->disable_dry_run = str_is(value, "true");
    else if (str_is(key, "MIN_VALUES_POLICY"))
        s->min_values = str_is(value, "BestEffort") ? MINVALUES_BEST_EFFORT : MINVALUES_STRICT;
    else if (str_is(key, "FEATURE_GATES"))
        s->reserved_capacity = gate(value, "ReservedCapacity", s->reserved_capacity);
    else if (str_is(key, "AWS_FEATURE_GATES"))
        s->expressions = gate(value, "NodeClassCEL", s->expressions);
    return true;
}
