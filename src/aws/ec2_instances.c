/* Machines that exist: what they are, how they are, and their end. */
#include "aws/ec2_int.h"

/* ---- answers ---- */

static const struct wire_field tag_fields[] = {
    WIRE(ec2_tag, key, WIRE_TEXT, "key"),
    WIRE(ec2_tag, value, WIRE_TEXT, "value"),
};
static const struct wire_shape tag_shape = WIRE_SHAPE(ec2_tag, tag_fields);

static bool is_efa(str type)
{
    return str_is(type, "efa") || str_is(type, "efa-only");
}

struct interface_type {
    str type;
};

static const struct wire_field interface_fields[] = {WIRE(interface_type, type, WIRE_TEXT, "interfaceType")};
static const struct wire_shape interface_shape = WIRE_SHAPE(interface_type, interface_fields);

static bool count_efa(struct wire *w, const struct tree *t, void *ret)
{
    struct ec2_instance *i = ret;
    struct wire_items items = {0};
    bool ok = wire_gather(w, &interface_shape, "networkInterfaceSet[]", t, &items);
    const struct interface_type *v = items.v;

    for (uint32_t k = 0; k < items.n; k++)
        i->n_efa += is_efa(v[k].type);
    wire_drop(&items);
    return ok;
}

static const struct wire_field instance_fields[] = {
    WIRE(ec2_instance, id, WIRE_TEXT, "instanceId"),
    WIRE(ec2_instance, image, WIRE_TEXT, "imageId"),
    WIRE(ec2_instance, type, WIRE_TEXT, "instanceType"),
    WIRE(ec2_instance, launched_ms, WIRE_TIME, "launchTime"),
    WIRE(ec2_instance, state, WIRE_TEXT, "instanceState/name"),
    WIRE(ec2_instance, zone, WIRE_TEXT, "placement/availabilityZone"),
    WIRE(ec2_instance, zone_id, WIRE_TEXT, "placement/availabilityZoneId"),
    WIRE(ec2_instance, tenancy, WIRE_TEXT, "placement/tenancy"),
    WIRE(ec2_instance, partition, WIRE_I32, "placement/partitionNumber"),
    WIRE(ec2_instance, subnet, WIRE_TEXT, "subnetId"),
    WIRE(ec2_instance, spot_request, WIRE_TEXT, "spotInstanceRequestId"),
    WIRE(ec2_instance, lifecycle, WIRE_TEXT, "instanceLifecycle"),
    WIRE(ec2_instance, reservation, WIRE_TEXT, "capacityReservationId"),
    WIRE(ec2_instance, reservation_preference, WIRE_TEXT,
         "capacityReservationSpecification/capacityReservationPreference"),
    WIRE_MANY(ec2_instance, groups, WIRE_TEXTS, "groupSet[]/groupId"),
    WIRE_MANY(ec2_instance, tags, WIRE_LIST, "tagSet[]", .shape = &tag_shape),
};
static const struct wire_shape instance_shape = WIRE_SHAPE(ec2_instance, instance_fields, .more = count_efa);
const struct aws_listing ec2_instances_listing =
    EC2_LISTING("DescribeInstances", "reservationSet[]/instancesSet[]", &instance_shape);

static const struct wire_field change_fields[] = {
    WIRE(ec2_state_change, id, WIRE_TEXT, "instanceId"),
    WIRE(ec2_state_change, is, WIRE_TEXT, "currentState/name"),
    WIRE(ec2_state_change, was, WIRE_TEXT, "previousState/name"),
};
static const struct wire_shape change_shape = WIRE_SHAPE(ec2_state_change, change_fields);
const struct aws_listing ec2_terminate_listing = EC2_WHOLE("TerminateInstances", "instancesSet[]", &change_shape);

static const struct wire_field check_fields[] = {
    WIRE(ec2_check, name, WIRE_TEXT, "name"),
    WIRE(ec2_check, status, WIRE_TEXT, "status"),
    WIRE(ec2_check, since_ms, WIRE_TIME, "impairedSince"),
};
static const struct wire_shape check_shape = WIRE_SHAPE(ec2_check, check_fields);

static const struct wire_field status_fields[] = {
    WIRE(ec2_status, id, WIRE_TEXT, "instanceId"),
    WIRE_MANY(ec2_status, instance, WIRE_LIST, "instanceStatus/details[]", .shape = &check_shape),
    WIRE_MANY(ec2_status, system, WIRE_LIST, "systemStatus/details[]", .shape = &check_shape),
    WIRE_MANY(ec2_status, ebs, WIRE_LIST, "attachedEbsStatus/details[]", .shape = &check_shape),
    WIRE_MANY(ec2_status, events, WIRE_TEXTS, "eventsSet[]/code"),
};
static const struct wire_shape status_shape = WIRE_SHAPE(ec2_status, status_fields);
const struct aws_listing ec2_status_listing =
    EC2_LISTING("DescribeInstanceStatus", "instanceStatusSet[]", &status_shape);

/* ---- requests ---- */

void ec2_instances_encode(struct sb *out, const str *ids, uint32_t n_ids, const struct ec2_filter *f, uint32_t n_f)
{
    static const str states[] = {STR_INIT("pending"), STR_INIT("running"), STR_INIT("stopping"), STR_INIT("stopped"),
                                 STR_INIT("shutting-down")};
    static const struct ec2_filter alive = {"instance-state-name", states, ARRAY_LEN(states)};
    struct query q = {.out = out};

    query_strs(&q, "InstanceId", ids, n_ids);
    ec2_put_filters(&q, 1, f, n_f);
    ec2_put_filters(&q, n_f + 1, &alive, 1);
    if (n_ids == 0) /* not allowed beside ids */
        query_i64(&q, "MaxResults", 1000);
}

/* ---- calls ---- */

bool ec2_describe_instances(struct aws *c, struct arena *a, const str *ids, uint32_t n_ids, const struct ec2_filter *f,
                            uint32_t n_f, struct ec2_instances *ret, struct err *e)
{
    struct sb params = {0};

    ec2_instances_encode(&params, ids, n_ids, f, n_f);
    struct ec2_instance *v = aws_list(c, a, &ec2_instances_listing, &params, &ret->n, NULL, e);
    if (v)
        ret->v = v;
    return v != NULL;
}

bool ec2_terminate(struct aws *c, struct arena *a, const str *ids, uint32_t n, struct ec2_state_change **ret,
                   uint32_t *ret_n, struct err *e)
{
    struct sb params = {0};
    struct query q = {.out = &params};

    query_strs(&q, "InstanceId", ids, n);
    struct ec2_state_change *v = aws_list(c, a, &ec2_terminate_listing, &params, ret_n, NULL, e);
    if (v)
        *ret = v;
    return v != NULL;
}

bool ec2_create_tags(struct aws *c, struct arena *a, str resource, const struct ec2_tag *tags, uint32_t n,
                     struct err *e)
{
    struct sb params = {0};
    struct query q = {.out = &params};

    query_strs(&q, "ResourceId", &resource, 1);
    ec2_put_tag_list(&q, tags, n);
    struct aws_call call = {.service = AWS_EC2, .action = "CreateTags", .body = sb_view(&params)};
    bool ok = aws_ask(c, a, &call, NULL, NULL, NULL, e);
    sb_fini(&params);
    return ok;
}

bool ec2_describe_status(struct aws *c, struct arena *a, const struct ec2_filter *f, struct ec2_status **ret,
                         uint32_t *ret_n, struct err *e)
{
    struct sb params = {0};
    struct query q = {.out = &params};

    ec2_put_filters(&q, 1, f, 1);
    struct ec2_status *v = aws_list(c, a, &ec2_status_listing, &params, ret_n, NULL, e);
    if (v)
        *ret = v;
    return v != NULL;
}
