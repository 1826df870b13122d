/* Asking for machines (aws 4.7), and asking whether we might (aws 7.2.7). */
#include "aws/ec2_int.h"

/* ---- answers ---- */

static const struct wire_field override_fields[] = {
    WIRE(ec2_override, type, WIRE_TEXT, "instanceType"),
    WIRE(ec2_override, subnet, WIRE_TEXT, "subnetId"),
    WIRE(ec2_override, image, WIRE_TEXT, "imageId"),
    WIRE(ec2_override, zone, WIRE_TEXT, "availabilityZone"),
};
static const struct wire_shape override_shape = WIRE_SHAPE(ec2_override, override_fields);

static const struct wire_field group_fields[] = {
    WIRE_COUNTED(ec2_fleet_group, ids, n, WIRE_TEXTS, "instanceIds[]"),
    WIRE(ec2_fleet_group, type, WIRE_TEXT, "instanceType"),
    WIRE(ec2_fleet_group, lifecycle, WIRE_TEXT, "lifecycle"),
    WIRE_PART_OF(ec2_fleet_group, override, "launchTemplateAndOverrides/overrides", &override_shape),
};
static const struct wire_shape group_shape = WIRE_SHAPE(ec2_fleet_group, group_fields);

static const struct wire_field error_fields[] = {
    WIRE(ec2_fleet_error, code, WIRE_TEXT, "errorCode"),
    WIRE(ec2_fleet_error, message, WIRE_TEXT, "errorMessage"),
    WIRE_PART_OF(ec2_fleet_error, override, "launchTemplateAndOverrides/overrides", &override_shape),
};
static const struct wire_shape error_shape = WIRE_SHAPE(ec2_fleet_error, error_fields);

static const struct wire_field answer_fields[] = {
    WIRE(ec2_fleet_answer, id, WIRE_TEXT, "fleetId"),
    WIRE_MANY(ec2_fleet_answer, groups, WIRE_LIST, "fleetInstanceSet[]", .shape = &group_shape),
    WIRE_MANY(ec2_fleet_answer, errors, WIRE_LIST, "errorSet[]", .shape = &error_shape),
};
const struct wire_shape ec2_fleet_shape = WIRE_SHAPE(ec2_fleet_answer, answer_fields);

/* ---- requests ---- */

static void put_template(struct query *q, const char *block, str name)
{
    query_in(q, block, 0);
    query_str(q, "LaunchTemplateName", name);
    query_c(q, "Version", "$Latest");
    query_out(q);
}

static void put_override(struct query *q, uint32_t nth, const struct ec2_override *o)
{
    query_in(q, "Overrides", nth);
    query_some(q, "InstanceType", o->type);
    query_some(q, "SubnetId", o->subnet);
    query_some(q, "ImageId", o->image);
    query_some(q, "AvailabilityZone", o->zone);
    if (o->has_priority)
        query_double(q, "Priority", o->priority);
    query_out(q);
}

static void put_config(struct query *q, uint32_t nth, const struct ec2_fleet_config *c)
{
    query_in(q, "LaunchTemplateConfigs", nth);
    put_template(q, "LaunchTemplateSpecification", c->template_name);
    for (uint32_t i = 0; i < c->n; i++)
        put_override(q, i + 1, &c->overrides[i]);
    query_out(q);
}

void ec2_fleet_encode(struct sb *out, str token, const struct ec2_fleet *r)
{
    struct query q = {.out = out};

    query_str(&q, "ClientToken", token);
    if (r->dry_run)
        query_bool(&q, "DryRun", true);
    query_c(&q, "Type", "instant");
    query_some(&q, "Context", r->context);
    for (uint32_t i = 0; i < r->n_configs; i++)
        put_config(&q, i + 1, &r->configs[i]);
    query_in(&q, "TargetCapacitySpecification", 0);
    query_i64(&q, "TotalTargetCapacity", r->count);
    query_c(&q, "DefaultTargetCapacityType", r->capacity_type);
    query_out(&q);
    query_only(&q, "SpotOptions", "AllocationStrategy", str_c(r->spot_strategy));
    query_only(&q, "OnDemandOptions", "AllocationStrategy", str_c(r->demand_strategy));
    query_only(&q, "ReservedCapacityOptions", "ReservationType.1", str_c(r->reservation_type));
    ec2_put_tags(&q, r->tags, r->n_tags);
}

void ec2_run_encode(struct sb *out, str token, const struct ec2_run *r)
{
    struct query q = {.out = out};

    query_str(&q, "ClientToken", token);
    query_bool(&q, "DryRun", true);
    query_i64(&q, "MinCount", 1);
    query_i64(&q, "MaxCount", 1);
    put_template(&q, "LaunchTemplate", r->template_name);
    query_some(&q, "InstanceType", r->type);
    ec2_put_interfaces(&q, r->interfaces, r->n_interfaces);
    ec2_put_tags(&q, r->tags, r->n_tags);
}

/* ---- calls ---- */

/* Sent once: what AWS says to a dry run is the point, whatever it is. It never says that it did it. */
static bool ask_dry(struct aws *c, struct arena *a, const char *action, str body, struct aws_answer *f, struct err *e)
{
    struct aws_call call = {.service = AWS_EC2, .action = action, .body = body, .once = true};
    struct aws_answer words;

    if (!f)
        f = &words;
    if (aws_ask(c, a, &call, NULL, NULL, f, e))
        return err_set(e, ERR_INVALID, "%s was carried out though it was a dry run", action);
    if (!str_is(f->code, EC2_DRY_RUN_OK))
        return false;
    *e = (struct err){0};
    return true;
}

bool ec2_create_fleet(struct aws *c, struct arena *a, const struct ec2_fleet *r, struct ec2_fleet_answer *ret,
                      struct aws_answer *f, struct err *e)
{
    struct sb params = {0};
    bool ok;

    ec2_fleet_encode(&params, ec2_token(a, aws_world(c)), r);
    struct aws_call call = {.service = AWS_EC2, .action = "CreateFleet", .body = sb_view(&params)};
    if (r->dry_run)
        ok = ask_dry(c, a, call.action, call.body, f, e);
    else
        ok = aws_ask(c, a, &call, &ec2_fleet_shape, ret, f, e);
    sb_fini(&params);
    return ok;
}

bool ec2_run_dry(struct aws *c, struct arena *a, const struct ec2_run *r, struct aws_answer *f, struct err *e)
{
    struct sb params = {0};

    ec2_run_encode(&params, ec2_token(a, aws_world(c)), r);
    bool ok = ask_dry(c, a, "RunInstances", sb_view(&params), f, e);
    sb_fini(&params);
    return ok;
}
