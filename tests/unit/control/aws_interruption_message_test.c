/* What messages of the interruption queue say (aws 7.3.1, 11.6 T1). */
#include "control/aws/interruption_message.h"

#include "base/sb.h"
#include "support/check.h"

#define EVENT(source, type, detail)                                                                                    \
    "{\"version\":\"0\",\"id\":\"7\",\"detail-type\":\"" type "\",\"source\":\"" source                                \
    "\",\"account\":\"123456789012\",\"time\":\"2026-01-02T03:04:05Z\",\"region\":\"us-west-2\","                      \
    "\"resources\":[\"arn:aws:ec2:us-west-2b:instance/i-1\"],\"detail\":" detail "}"
#define STATE(state)                                                                                                   \
    EVENT("aws.ec2", "EC2 Instance State-change Notification", "{\"instance-id\":\"i-1\",\"state\":\"" state "\"}")
#define HEALTH(detail) EVENT("aws.health", "AWS Health Event", detail)
#define ENTITIES "\"affectedEntities\":[{\"entityValue\":\"i-1\"},{\"entityValue\":\"i-2\"}]"

/* "kind id,id @ms" */
static str print(struct arena *a, const struct interruption *m)
{
    struct sb b = {0};

    sb_c(&b, interruption_kind_name(m->kind));
    for (uint32_t i = 0; i < m->n; i++)
        sb_printf(&b, "%c" STR_FMT, i ? ',' : ' ', STR_ARG(m->instances[i]));
    if (m->at_ms != INT64_MIN)
        sb_printf(&b, " @%lld", (long long)m->at_ms);
    str s = sb_dup(&b, a);
    sb_fini(&b);
    return s;
}

static void kinds(void **state UNUSED)
{
    static const struct {
        const char *name, *body, *want;
    } cases[] = {
        {"spot",
         EVENT("aws.ec2", "EC2 Spot Instance Interruption Warning",
               "{\"instance-id\":\"i-1\",\"instance-action\":\"terminate\"}"),
         "spot_interrupted i-1 @1767323045000"},
        {"rebalance", EVENT("aws.ec2", "EC2 Instance Rebalance Recommendation", "{\"instance-id\":\"i-1\"}"),
         "rebalance_recommendation i-1 @1767323045000"},
        {"reservation",
         EVENT("aws.ec2", "EC2 Capacity Reservation Instance Interruption Warning", "{\"instance-id\":\"i-1\"}"),
         "capacity_reservation_interrupted i-1 @1767323045000"},
        {"stopping", STATE("stopping"), "instance_stopped i-1 @1767323045000"},
        {"stopped", STATE("stopped"), "instance_stopped i-1 @1767323045000"},
        {"shutting down", STATE("shutting-down"), "instance_terminated i-1 @1767323045000"},
        {"terminated", STATE("terminated"), "instance_terminated i-1 @1767323045000"},
        {"letters matter to stops alone", STATE("STOPPED"), "instance_terminated i-1 @1767323045000"},
        {"running", STATE("running"), "no_op @1767323045000"},
        {"no state", EVENT("aws.ec2", "EC2 Instance State-change Notification", "{}"), "no_op @1767323045000"},
        {"scheduled change", HEALTH("{\"service\":\"EC2\",\"eventTypeCategory\":\"scheduledChange\"," ENTITIES "}"),
         "scheduled_change i-1,i-2 @1767323045000"},
        {"another service", HEALTH("{\"service\":\"RDS\",\"eventTypeCategory\":\"scheduledChange\"," ENTITIES "}"),
         "no_op @1767323045000"},
        {"another category", HEALTH("{\"service\":\"EC2\",\"eventTypeCategory\":\"issue\"," ENTITIES "}"),
         "no_op @1767323045000"},
        {"no entities", HEALTH("{\"service\":\"EC2\",\"eventTypeCategory\":\"scheduledChange\"}"),
         "scheduled_change @1767323045000"},
        {"another source", EVENT("aws.s3", "EC2 Instance Rebalance Recommendation", "[1]"), "no_op @1767323045000"},
        {"another type", EVENT("aws.ec2", "EC2 Something", "3"), "no_op @1767323045000"},
        {"another version",
         "{\"version\":\"1\",\"source\":\"aws.ec2\",\"detail-type\":\"EC2 Instance Rebalance Recommendation\"}",
         "no_op"},
        {"nothing", "", "no_op"},
        {"an empty map", "{}", "no_op"},
        {"white space", " {} \n", "no_op"},
        {"null is as good as nothing", "null", "no_op"},
        {"null members", "{\"version\":null,\"time\":null,\"resources\":[null],\"detail\":null}", "no_op"},
        {"a null among entities",
         HEALTH("{\"service\":\"EC2\",\"eventTypeCategory\":\"scheduledChange\",\"affectedEntities\":[null,"
                "{\"entityValue\":\"i-2\"}]}"),
         "scheduled_change ,i-2 @1767323045000"},
    };
    AUTO(arena) struct arena *a = arena_new(0);

    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        struct interruption m;
        struct err e = {0};

        check_ok(cases[i].name, interruption_parse(a, str_c(cases[i].body), &m, &e), &e);
        check_str(cases[i].name, print(a, &m), cases[i].want);
    }
}

static void malformed(void **state UNUSED)
{
    static const char *const cases[] = {
        "x",
        "[]",
        "\"text\"",
        "{\"version\":\"0\"",
        "{\"version\":0}",
        "{\"source\":[]}",
        "{\"detail-type\":{}}",
        "{\"time\":\"yesterday\"}",
        "{\"time\":5}",
        "{\"resources\":\"one\"}",
        "{\"resources\":[1]}",
        "{\"account\":123456789012}",
        EVENT("aws.ec2", "EC2 Spot Instance Interruption Warning", "[]"),
        EVENT("aws.ec2", "EC2 Spot Instance Interruption Warning", "{\"instance-id\":7}"),
        EVENT("aws.ec2", "EC2 Instance State-change Notification", "{\"instance-id\":\"i-1\",\"state\":true}"),
        HEALTH("{\"service\":\"EC2\",\"eventTypeCategory\":\"scheduledChange\",\"affectedEntities\":{}}"),
        HEALTH("{\"service\":\"EC2\",\"eventTypeCategory\":\"scheduledChange\",\"affectedEntities\":[\"i-1\"]}"),
        HEALTH(
            "{\"service\":\"EC2\",\"eventTypeCategory\":\"scheduledChange\",\"affectedEntities\":[{\"entityValue\":1}]}"),
    };
    AUTO(arena) struct arena *a = arena_new(0);

    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        struct interruption m = {.n = 77};
        struct err e = {0};

        check_true(cases[i], !interruption_parse(a, str_c(cases[i]), &m, &e));
        check_true(cases[i], e.kind == ERR_INVALID && e.msg[0] && m.n == 77);
    }
}

static void large(void **state UNUSED)
{
    AUTO(arena) struct arena *a = arena_new(0);
    struct interruption m;
    struct err e = {0};
    struct sb b = {0};

    sb_c(
        &b,
        "{\"version\":\"0\",\"source\":\"aws.health\",\"detail-type\":\"AWS Health Event\",\"detail\":{\"service\":\"EC2\","
        "\"eventTypeCategory\":\"scheduledChange\",\"affectedEntities\":[");
    for (int i = 0; i < 20000; i++)
        sb_printf(&b, "%s{\"entityValue\":\"i-%d\"}", i ? "," : "", i);
    sb_c(&b, "]}}");
    check_ok("many machines", interruption_parse(a, sb_view(&b), &m, &e), &e);
    check_u64("all of them", m.n, 20000);
    check_str("the last", m.instances[19999], "i-19999");
    while (b.n <= INTERRUPTION_MAX_BYTES)
        sb_char(&b, ' ');
    check_true("too large", !interruption_parse(a, sb_view(&b), &m, &e));
    check_true("says so", str_contains(str_c(e.msg), STR("bytes are too many")));
    sb_fini(&b);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(kinds),
        cmocka_unit_test(malformed),
        cmocka_unit_test(large),
    };

    return cmocka_run_group_tests_name("control/aws_interruption_message", tests, NULL, NULL);
}
