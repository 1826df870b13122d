/* Launch templates (aws 4.6.4). */
#include "aws/ec2_int.h"

static const struct wire_field template_fields[] = {
    WIRE(ec2_template, id, WIRE_TEXT, "launchTemplateId"),
    WIRE(ec2_template, name, WIRE_TEXT, "launchTemplateName"),
};
static const struct wire_shape template_shape = WIRE_SHAPE(ec2_template, template_fields);
const struct aws_listing ec2_templates_listing =
    EC2_LISTING("DescribeLaunchTemplates", "launchTemplates[]", &template_shape);

static const struct wire_field created_fields[] = {
    WIRE(ec2_template, id, WIRE_TEXT, "launchTemplate/launchTemplateId"),
    WIRE(ec2_template, name, WIRE_TEXT, "launchTemplate/launchTemplateName"),
};
const struct wire_shape ec2_created_template_shape = WIRE_SHAPE(ec2_template, created_fields);

/* ---- requests ---- */

static void put_positive(struct query *q, const char *name, int64_t v)
{
    if (v > 0)
        query_i64(q, name, v);
}

static void put_said(struct query *q, const char *name, int8_t v)
{
    if (v >= 0)
        query_bool(q, name, v);
}

static void put_volume(struct query *q, uint32_t nth, const struct ec2_volume *v)
{
    query_in(q, "BlockDeviceMapping", nth);
    query_some(q, "DeviceName", v->device);
    if (v->has_ebs) {
        query_in(q, "Ebs", 0);
        put_said(q, "DeleteOnTermination", v->delete_on_termination);
        put_said(q, "Encrypted", v->encrypted);
        put_positive(q, "Iops", v->iops);
        query_some(q, "KmsKeyId", v->kms_key);
        query_some(q, "SnapshotId", v->snapshot);
        put_positive(q, "Throughput", v->throughput);
        put_positive(q, "VolumeInitializationRate", v->rate);
        put_positive(q, "VolumeSize", v->size_gib);
        query_some(q, "VolumeType", v->type);
        query_out(q);
    }
    query_out(q);
}

static void put_metadata(struct query *q, const struct ec2_template_data *d)
{
    query_in(q, "MetadataOptions", 0);
    query_some(q, "HttpEndpoint", d->metadata_endpoint);
    query_some(q, "HttpProtocolIpv6", d->metadata_ipv6);
    put_positive(q, "HttpPutResponseHopLimit", d->metadata_hops);
    query_some(q, "HttpTokens", d->metadata_tokens);
    query_c(q, "InstanceMetadataTags", "disabled");
    query_out(q);
}

static void put_placement(struct query *q, const struct ec2_template_data *d)
{
    query_in(q, "Placement", 0);
    query_str(q, "Tenancy", d->tenancy);
    query_some(q, "GroupId", d->placement_group);
    put_positive(q, "PartitionNumber", d->partition);
    query_out(q);
}

static void put_reservation(struct query *q, const struct ec2_template_data *d)
{
    query_in(q, "CapacityReservationSpecification", 0);
    query_some(q, "CapacityReservationPreference", d->reservation_preference);
    query_in(q, "CapacityReservationTarget", 0);
    query_some(q, "CapacityReservationId", d->reservation_id);
    query_out(q);
    query_out(q);
}

static str yes_or_no(bool v)
{
    return v ? STR("true") : STR("false");
}

static void put_data(struct query *q, const struct ec2_template_data *d)
{
    for (uint32_t i = 0; i < d->n_volumes; i++)
        put_volume(q, i + 1, &d->volumes[i]);
    query_only(q, "CpuOptions", "NestedVirtualization", d->nested_virtualization);
    query_only(q, "IamInstanceProfile", "Name", d->profile);
    query_only(q, "Monitoring", "Enabled", yes_or_no(d->monitoring));
    query_only(q, "EnclaveOptions", "Enabled", yes_or_no(d->enclaves));
    query_only(q, "InstanceMarketOptions", "MarketType", d->market);
    if (d->user_data.n)
        query_b64(q, "UserData", d->user_data);
    query_str(q, "ImageId", d->image);
    put_metadata(q, d);
    ec2_put_interfaces(q, d->interfaces, d->n_interfaces);
    ec2_put_tags(q, d->tags, d->n_tags);
    put_placement(q, d);
    put_reservation(q, d);
}

void ec2_template_encode(struct sb *out, str token, str name, const struct ec2_template_data *d,
                         const struct ec2_tags *tags)
{
    struct query q = {.out = out};

    query_str(&q, "ClientToken", token);
    query_str(&q, "LaunchTemplateName", name);
    query_in(&q, "LaunchTemplateData", 0);
    put_data(&q, d);
    query_out(&q);
    if (tags)
        ec2_put_tags(&q, tags, 1);
}

void ec2_templates_encode(struct sb *out, str name, const struct ec2_filter *f, uint32_t n)
{
    struct query q = {.out = out};

    if (name.n) {
        query_strs(&q, "LaunchTemplateName", &name, 1);
        return;
    }
    ec2_put_filters(&q, 1, f, n);
    query_i64(&q, "MaxResults", 200);
}

/* ---- calls ---- */

bool ec2_create_template(struct aws *c, struct arena *a, str name, const struct ec2_template_data *d,
                         const struct ec2_tags *tags, struct ec2_template *ret, struct aws_answer *f, struct err *e)
{
    struct sb params = {0};

    ec2_template_encode(&params, ec2_token(a, aws_world(c)), name, d, tags);
    struct aws_call call = {.service = AWS_EC2, .action = "CreateLaunchTemplate", .body = sb_view(&params)};
    bool ok = aws_ask(c, a, &call, &ec2_created_template_shape, ret, f, e);
    sb_fini(&params);
    return ok;
}

bool ec2_describe_template(struct aws *c, struct arena *a, str name, struct ec2_template *ret, struct aws_answer *f,
                           struct err *e)
{
    struct sb params = {0};
    uint32_t n;

    ec2_templates_encode(&params, name, NULL, 0);
    struct ec2_template *v = aws_list(c, a, &ec2_templates_listing, &params, &n, f, e);
    if (!v)
        return false;
    if (n == 0)
        return err_set(e, ERR_NOT_FOUND, "there is no launch template " STR_FMT, STR_ARG(name));
    if (n > 1)
        return err_set(e, ERR_INVALID, "%u launch templates are called " STR_FMT, n, STR_ARG(name));
    *ret = v[0];
    return true;
}

bool ec2_describe_templates(struct aws *c, struct arena *a, const struct ec2_filter *f, uint32_t n_f,
                            struct ec2_template **ret, uint32_t *ret_n, struct err *e)
{
    struct sb params = {0};

    ec2_templates_encode(&params, (str){0}, f, n_f);
    struct ec2_template *v = aws_list(c, a, &ec2_templates_listing, &params, ret_n, NULL, e);
    if (v)
        *ret = v;
    return v != NULL;
}

bool ec2_delete_template(struct aws *c, struct arena *a, str id, str name, struct err *e)
{
    struct sb params = {0};
    struct query q = {.out = &params};

    query_str(&q, id.n ? "LaunchTemplateId" : "LaunchTemplateName", id.n ? id : name);
    struct aws_call call = {.service = AWS_EC2, .action = "DeleteLaunchTemplate", .body = sb_view(&params)};
    bool ok = aws_ask(c, a, &call, NULL, NULL, NULL, e);
    sb_fini(&params);
    return ok;
}
