/* What there is of the user's, found by filters: subnets, security groups, images, reservations, placement groups. */
#include "aws/ec2_int.h"

static const struct wire_field subnet_fields[] = {
    WIRE(ec2_subnet, id, WIRE_TEXT, "subnetId"),
    WIRE(ec2_subnet, zone, WIRE_TEXT, "availabilityZone"),
    WIRE(ec2_subnet, zone_id, WIRE_TEXT, "availabilityZoneId"),
    WIRE(ec2_subnet, free_ips, WIRE_I64, "availableIpAddressCount"),
};
static const struct wire_shape subnet_shape = WIRE_SHAPE(ec2_subnet, subnet_fields);
const struct aws_listing ec2_subnets_listing = EC2_LISTING("DescribeSubnets", "subnetSet[]", &subnet_shape);

static const struct wire_field group_fields[] = {
    WIRE(ec2_group, id, WIRE_TEXT, "groupId"),
    WIRE(ec2_group, name, WIRE_TEXT, "groupName"),
};
static const struct wire_shape group_shape = WIRE_SHAPE(ec2_group, group_fields);
const struct aws_listing ec2_groups_listing =
    EC2_LISTING("DescribeSecurityGroups", "securityGroupInfo[]", &group_shape);

static const struct wire_field image_fields[] = {
    WIRE(ec2_image, id, WIRE_TEXT, "imageId"),
    WIRE(ec2_image, name, WIRE_TEXT, "name"),
    WIRE(ec2_image, arch, WIRE_TEXT, "architecture"),
    WIRE(ec2_image, state, WIRE_TEXT, "imageState"),
    WIRE(ec2_image, created_ms, WIRE_DATE, "creationDate"),
    WIRE(ec2_image, deprecated_ms, WIRE_DATE, "deprecationTime"),
};
static const struct wire_shape image_shape = WIRE_SHAPE(ec2_image, image_fields);
const struct aws_listing ec2_images_listing = EC2_LISTING("DescribeImages", "imagesSet[]", &image_shape);

static const struct wire_field reservation_fields[] = {
    WIRE(ec2_reservation, id, WIRE_TEXT, "capacityReservationId"),
    WIRE(ec2_reservation, owner, WIRE_TEXT, "ownerId"),
    WIRE(ec2_reservation, type, WIRE_TEXT, "instanceType"),
    WIRE(ec2_reservation, zone, WIRE_TEXT, "availabilityZone"),
    WIRE(ec2_reservation, match, WIRE_TEXT, "instanceMatchCriteria"),
    WIRE(ec2_reservation, kind, WIRE_TEXT, "reservationType"),
    WIRE(ec2_reservation, ends_ms, WIRE_TIME, "endDate"),
    WIRE(ec2_reservation, available, WIRE_I32, "availableInstanceCount"),
    WIRE(ec2_reservation, interruptible, WIRE_BOOL, "interruptible"),
};
static const struct wire_shape reservation_shape = WIRE_SHAPE(ec2_reservation, reservation_fields);
const struct aws_listing ec2_reservations_listing =
    EC2_LISTING("DescribeCapacityReservations", "capacityReservationSet[]", &reservation_shape);

static const struct wire_field placement_group_fields[] = {
    WIRE(ec2_placement_group, id, WIRE_TEXT, "groupId"),
    WIRE(ec2_placement_group, name, WIRE_TEXT, "groupName"),
    WIRE(ec2_placement_group, strategy, WIRE_TEXT, "strategy"),
    WIRE(ec2_placement_group, spread_level, WIRE_TEXT, "spreadLevel"),
    WIRE(ec2_placement_group, partitions, WIRE_I32, "partitionCount"),
};
static const struct wire_shape placement_group_shape = WIRE_SHAPE(ec2_placement_group, placement_group_fields);
const struct aws_listing ec2_placement_groups_listing =
    EC2_WHOLE("DescribePlacementGroups", "placementGroupSet[]", &placement_group_shape);

/* ---- requests ---- */

static void put_state(struct query *q, uint32_t nth, const char *state)
{
    str value = str_c(state);

    ec2_put_filters(q, nth, &(struct ec2_filter){"state", &value, 1}, 1);
}

void ec2_subnets_encode(struct sb *out, const struct ec2_filter *f, uint32_t n)
{
    struct query q = {.out = out};

    ec2_put_filters(&q, 1, f, n);
    query_i64(&q, "MaxResults", 500);
}

void ec2_images_encode(struct sb *out, const struct ec2_filter *f, uint32_t n, const str *owners, uint32_t n_owners)
{
    struct query q = {.out = out};

    ec2_put_filters(&q, 1, f, n);
    put_state(&q, n + 1, "available");
    query_strs(&q, "Owner", owners, n_owners);
    query_bool(&q, "IncludeDeprecated", true);
    query_i64(&q, "MaxResults", 1000);
}

void ec2_reservations_encode(struct sb *out, str id, const struct ec2_filter *f, uint32_t n)
{
    struct query q = {.out = out};

    if (id.n)
        query_strs(&q, "CapacityReservationId", &id, 1);
    put_state(&q, 1, "active");
    ec2_put_filters(&q, 2, f, n);
    if (!id.n) /* not allowed beside ids */
        query_i64(&q, "MaxResults", 1000);
}

void ec2_placement_groups_encode(struct sb *out, str id, str name)
{
    struct query q = {.out = out};

    query_strs(&q, id.n ? "GroupId" : "GroupName", id.n ? &id : &name, 1);
    put_state(&q, 1, "available");
}

/* ---- calls ---- */

bool ec2_describe_subnets(struct aws *c, struct arena *a, const struct ec2_filter *f, uint32_t n_f,
                          struct ec2_subnet **ret, uint32_t *ret_n, struct err *e)
{
    struct sb params = {0};

    ec2_subnets_encode(&params, f, n_f);
    struct ec2_subnet *v = aws_list(c, a, &ec2_subnets_listing, &params, ret_n, NULL, e);
    if (v)
        *ret = v;
    return v != NULL;
}

bool ec2_describe_groups(struct aws *c, struct arena *a, const struct ec2_filter *f, uint32_t n_f,
                         struct ec2_group **ret, uint32_t *ret_n, struct err *e)
{
    struct sb params = {0};

    ec2_subnets_encode(&params, f, n_f); /* the same parameters */
    struct ec2_group *v = aws_list(c, a, &ec2_groups_listing, &params, ret_n, NULL, e);
    if (v)
        *ret = v;
    return v != NULL;
}

bool ec2_describe_images(struct aws *c, struct arena *a, const struct ec2_filter *f, uint32_t n_f, const str *owners,
                         uint32_t n_owners, struct ec2_image **ret, uint32_t *ret_n, struct err *e)
{
    struct sb params = {0};

    ec2_images_encode(&params, f, n_f, owners, n_owners);
    struct ec2_image *v = aws_list(c, a, &ec2_images_listing, &params, ret_n, NULL, e);
    if (v)
        *ret = v;
    return v != NULL;
}

bool ec2_describe_reservations(struct aws *c, struct arena *a, str id, const struct ec2_filter *f, uint32_t n_f,
                               struct ec2_reservation **ret, uint32_t *ret_n, struct err *e)
{
    struct sb params = {0};

    ec2_reservations_encode(&params, id, f, n_f);
    struct ec2_reservation *v = aws_list(c, a, &ec2_reservations_listing, &params, ret_n, NULL, e);
    if (!v && !(id.n && e->kind == ERR_NOT_FOUND))
        return false;
    if (!v) {
        *ret_n = 0;
        *e = (struct err){0};
    }
    *ret = v;
    return true;
}

bool ec2_describe_placement_group(struct aws *c, struct arena *a, str id, str name, struct ec2_placement_group *ret,
                                  struct err *e)
{
    struct aws_answer f;
    struct sb params = {0};
    uint32_t n;

    ec2_placement_groups_encode(&params, id, name);
    struct ec2_placement_group *v = aws_list(c, a, &ec2_placement_groups_listing, &params, &n, &f, e);
    if (v ? n == 0 : str_is(f.code, "InvalidPlacementGroup.Unknown"))
        return err_set(e, ERR_NOT_FOUND, "there is no placement group " STR_FMT, STR_ARG(id.n ? id : name));
    if (v)
        *ret = *v;
    return v != NULL;
}
