/* The tables that answers are read with, compared with shapes.txt; tests/e2e/aws_wire.py looks every element up in AWS's own models: a name that AWS does not
 * know would be missing from every answer, and nobody would see it. */
#include <stdio.h>

#include "aws/ec2_int.h"
#include "aws/services_int.h"
#include "support/check.h"
#include "support/golden.h"

static const char *const kinds[] = {
    [WIRE_TEXT] = "text",  [WIRE_I32] = "whole", [WIRE_I64] = "whole", [WIRE_DOUBLE] = "number", [WIRE_PRICE] = "text",
    [WIRE_BOOL] = "bool",  [WIRE_THERE] = "map", [WIRE_TIME] = "time", [WIRE_DATE] = "text",     [WIRE_EPOCH] = "time",
    [WIRE_TEXTS] = "text", [WIRE_LIST] = "map",  [WIRE_PART] = "map",
};

static void put_shape(struct sb *out, const char *where, const struct wire_shape *s)
{
    for (uint32_t i = 0; i < s->n_fields; i++) {
        const struct wire_field *f = &s->fields[i];
        char path[256];

        int n = snprintf(path, sizeof(path), "%s%s%s", where, *where ? "/" : "", f->path);
        check_true(f->path, n > 0 && (size_t)n < sizeof(path));
        sb_printf(out, "%s %s\n", path, kinds[f->kind]);
        if (f->shape)
            put_shape(out, path, f->shape);
    }
}

static const char *const services[AWS_N_SERVICES] = {
    [AWS_EC2] = "ec2", [AWS_IAM] = "iam", [AWS_EKS] = "eks",         [AWS_SQS] = "sqs",
    [AWS_SSM] = "ssm", [AWS_STS] = "sts", [AWS_PRICING] = "pricing", [AWS_ZONAL_SHIFT] = "arc-zonal-shift",
};

static void put_listing(struct sb *out, const struct aws_listing *l)
{
    sb_printf(out, "== %s %s\n%s any\n", services[l->service], l->action, l->path);
    if (l->token)
        sb_printf(out, "%s text\n", l->token);
    if (l->more)
        sb_printf(out, "%s bool\n", l->more);
    put_shape(out, l->path, l->shape);
}

static void put_answer(struct sb *out, enum aws_service s, const char *action, const struct wire_shape *shape)
{
    sb_printf(out, "== %s %s\n", services[s], action);
    put_shape(out, "", shape);
}

static void put_all(struct sb *out)
{
    static const struct aws_listing *const listings[] = {
        &ec2_types_listing,     &ec2_type_zones_listing,   &ec2_spot_prices_listing,      &ec2_subnets_listing,
        &ec2_groups_listing,    &ec2_images_listing,       &ec2_placement_groups_listing, &ec2_templates_listing,
        &ec2_instances_listing, &ec2_reservations_listing, &ec2_status_listing,           &ec2_terminate_listing,
        &iam_profiles_listing,  &pricing_listing,
    };

    for (size_t i = 0; i < ARRAY_LEN(listings); i++)
        put_listing(out, listings[i]);
    put_answer(out, AWS_EC2, "CreateFleet", &ec2_fleet_shape);
    put_answer(out, AWS_EC2, "CreateLaunchTemplate", &ec2_created_template_shape);
    put_answer(out, AWS_EKS, "DescribeCluster", &eks_cluster_shape);
    put_answer(out, AWS_SQS, "ReceiveMessage", &sqs_messages_shape);
    put_answer(out, AWS_ZONAL_SHIFT, "GetManagedResource", &zonal_shifts_shape);
}

static void tables_are_as_written(void **state)
{
    struct sb got = {0};

    (void)state;
    put_all(&got);
    golden_check("tests/unit/aws/shapes.txt", sb_view(&got));
    sb_fini(&got);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(tables_are_as_written)};

    return cmocka_run_group_tests_name("aws/shapes", tests, NULL, NULL);
}
