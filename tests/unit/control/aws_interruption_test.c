/* The queue and statuses of machines, with a simulated cluster, a simulated account, and a provider that only notes what it is told (aws 7.3, 7.4; 11.6 T1 to T4, 11.10 S5). */
#include "support/check.h"
#include "support/machines_lab.h"

/* ---- the queue ---- */

/* T1, T2 */
static void warnings_delete_claims(void **state)
{
    static const struct {
        const char *name, *source, *type, *detail, *kind, *told, *event;
        bool deleted;
    } cases[] = {
        {"spot", "aws.ec2", "EC2 Spot Instance Interruption Warning", "{\"instance-id\":\"i-spot\"}",
         "spot_interrupted", "unavailable spot m5.large za\n", "SpotInterrupted", true},
        {"reservation", "aws.ec2", "EC2 Capacity Reservation Instance Interruption Warning",
         "{\"instance-id\":\"i-reservation\"}", "capacity_reservation_interrupted", "no more of cr-1\n",
         "CapacityReservationInstanceInterrupted", true},
        {"change", "aws.health", "AWS Health Event",
         "{\"service\":\"EC2\",\"eventTypeCategory\":\"scheduledChange\",\"affectedEntities\":[{\"entityValue\":\"i-change\"}]}",
         "scheduled_change", "", "InstanceUnhealthy", true},
        {"stopping", "aws.ec2", "EC2 Instance State-change Notification",
         "{\"instance-id\":\"i-stopping\",\"state\":\"stopping\"}", "instance_stopped", "", "InstanceStopping", true},
        {"terminated", "aws.ec2", "EC2 Instance State-change Notification",
         "{\"instance-id\":\"i-terminated\",\"state\":\"terminated\"}", "instance_terminated", "",
         "InstanceTerminating", true},
        {"rebalance", "aws.ec2", "EC2 Instance Rebalance Recommendation", "{\"instance-id\":\"i-rebalance\"}",
         "rebalance_recommendation", "", "SpotRebalanceRecommendation", false},
    };
    struct machines_lab *l = *state;

    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        const char *name = cases[i].name;

        machines_lab_claim(l, name, arena_printf(l->far->a, "i-%s%c", name, 0).p,
                           ", karpenter.sh/capacity-type: reserved, karpenter.k8s.aws/capacity-reservation-id: cr-1");
        sb_reset(&l->p.told);
        machines_lab_tell(l, cases[i].source, cases[i].type, cases[i].detail);
        check_true(name, machines_lab_deleting(l, name) == cases[i].deleted);
        check_str(name, sb_view(&l->p.told), cases[i].told);
        check_true("on claim and Node",
                   far_events(l->far, cases[i].event, name).n && far_events(l->far, cases[i].event, "node-").n);
        check_u64(name,
                  (uint64_t)metric_value(l->c.metrics->interruption_received_messages_total,
                                         METRIC_VALS(str_c(cases[i].kind))),
                  1);
        check_u64(name,
                  (uint64_t)metric_value(l->c.metrics->nodeclaims_disrupted_total,
                                         METRIC_VALS(str_c(cases[i].kind), STR("pool"), STR("reserved"))),
                  cases[i].deleted);
        check_u64("the message is gone", (uint64_t)machines_lab_deleted_messages(l), i + 1);
    }
    check_true("the log has a line",
               str_contains(sb_view(&l->log), STR("\"level\":\"WARN\"")) &&
                   str_contains(sb_view(&l->log), STR("\"interruption received\"")) &&
                   str_contains(sb_view(&l->log), STR("\"node\":\"i-spot\",\"action\":\"terminate\"")));
}

/* T1: unparseable and irrelevant messages are deleted; a claim that is deleted already is no error. */
static void other_messages_are_deleted(void **state)
{
    struct machines_lab *l = *state;

    machines_lab_claim(l, "one", "i-1", "");
    machines_lab_send(l, "not json");
    machines_lab_send(l, "{\"version\":\"0\",\"source\":\"aws.s3\"}");
    machines_lab_tell(l, "aws.ec2", "EC2 Spot Instance Interruption Warning", "{\"instance-id\":\"i-nobody\"}");
    check_u64("all three", (uint64_t)machines_lab_deleted_messages(l), 3);
    check_true("nothing happened", !machines_lab_deleting(l, "one"));
    for (int i = 0; i < 2; i++)
        machines_lab_tell(l, "aws.ec2", "EC2 Spot Instance Interruption Warning", "{\"instance-id\":\"i-1\"}");
    check_u64("twice the same", (uint64_t)machines_lab_deleted_messages(l), 5);
    check_u64("counts once", (uint64_t)metric_value(l->c.metrics->interruption_actions_performed, NULL), 1);
}

/* What could not be done is tried again when the message comes again. */
static void failures_keep_the_message(void **state)
{
    struct machines_lab *l = *state;

    machines_lab_claim(l, "one", "i-1", "");
    far_refuse(l->far, "DELETE", "/nodeclaims/one", 500, "no", 1);
    machines_lab_tell(l, "aws.ec2", "EC2 Spot Instance Interruption Warning", "{\"instance-id\":\"i-1\"}");
    check_true("not yet", !machines_lab_deleting(l, "one") && machines_lab_deleted_messages(l) == 0);
    far_run(l->far, 45);
    check_true("then it is", machines_lab_deleting(l, "one"));
    check_u64("and the message gone", (uint64_t)machines_lab_deleted_messages(l), 1);
}

/* T1: many at once. */
static void many_messages(void **state)
{
    struct machines_lab *l = *state;

    for (int i = 0; i < 25; i++)
        machines_lab_claim(l, arena_printf(l->far->a, "c%d%c", i, 0).p, arena_printf(l->far->a, "i-%d%c", i, 0).p, "");
    for (int i = 0; i < 25; i++) {
        str body = arena_printf(l->far->a,
                                "{\"version\":\"0\",\"detail-type\":\"EC2 Spot Instance Interruption Warning\","
                                "\"source\":\"aws.ec2\",\"detail\":{\"instance-id\":\"i-%d\"}}%c",
                                i, 0);

        machines_lab_send(l, body.p);
    }
    far_run(l->far, 5);
    check_u64("every message", (uint64_t)machines_lab_deleted_messages(l), 25);
    check_u64("every claim", (uint64_t)metric_value(l->c.metrics->interruption_actions_performed, NULL), 25);
}

/* Messages that come twice and calls that fail change nothing but the time it takes. */
static void bad_days(void **state)
{
    struct machines_lab *l = *state;

    for (int i = 0; i < 12; i++)
        machines_lab_claim(l, arena_printf(l->far->a, "c%d%c", i, 0).p, arena_printf(l->far->a, "i-%d%c", i, 0).p, "");
    for (int i = 0; i < 12; i++) {
        str body =
            arena_printf(l->far->a,
                         "{\"version\":\"0\",\"detail-type\":\"EC2 Instance State-change Notification\","
                         "\"source\":\"aws.ec2\",\"detail\":{\"instance-id\":\"i-%d\",\"state\":\"stopping\"}}%c",
                         i, 0);

        machines_lab_send(l, body.p);
        if (i == 0)
            sim_aws_set_faults(l->account, &(struct sim_aws_faults){.duplicate = 20000, .reorder = 20000});
    }
    sim_aws_set_faults(l->account, &(struct sim_aws_faults){
                                       .throttle = 8000, .server_error = 8000, .lose_reply = 8000, .duplicate = 20000});
    far_run(l->far, 600);
    check_u64("every claim, once", (uint64_t)metric_value(l->c.metrics->interruption_actions_performed, NULL), 12);
    sim_aws_set_faults(l->account, &(struct sim_aws_faults){0});
    far_run(l->far, 60);
    uint64_t received = sim_aws_calls(l->account, "DeleteMessage");
    far_run(l->far, 60);
    check_u64("the queue is empty", sim_aws_calls(l->account, "DeleteMessage"), received);
}

/* T3 */
static void queue_that_is_not_there(void **state UNUSED)
{
    struct machines_lab *l = machines_lab_new("nobody", NULL);

    far_run(l->far, 5);
    check_true("an error, again and again", str_contains(sb_view(&l->log), STR("getting queue url")));
    machines_lab_free(l);
}

/* T3: access denied. */
static void queue_that_is_not_ours(void **state UNUSED)
{
    struct machines_lab *l = machines_lab_new(
        "c1", "{\"faults\":{\"calls\":{\"ReceiveMessage\":[{\"code\":\"AccessDenied\",\"message\":\"no\"}]}}}");

    far_run(l->far, 1);
    check_true("an error", str_contains(sb_view(&l->log), STR("getting messages from queue")));
    check_true(
        "with what AWS said of the call",
        str_contains(sb_view(&l->log), STR("\"aws-service-name\":\"SQS\",\"aws-operation-name\":\"ReceiveMessage\","
                                           "\"aws-error-code\":\"AccessDenied\"")));
    machines_lab_claim(l, "one", "i-1", "");
    machines_lab_tell(l, "aws.ec2", "EC2 Spot Instance Interruption Warning", "{\"instance-id\":\"i-1\"}");
    far_run(l->far, 30);
    check_true("tried again", machines_lab_deleting(l, "one"));
    machines_lab_free(l);
}

/* ---- statuses ---- */

/* T4, S5 */
static void statuses_by_kind(void **state UNUSED)
{
    const int64_t now = 1000000;
    struct ec2_check fresh = {STR("reachability"), STR("failed"), now - 119999},
                     old = {STR("reachability"), STR("failed"), now - 120000},
                     well = {STR("reachability"), STR("passed"), INT64_MIN},
                     unsaid = {STR("reachability"), STR("failed"), INT64_MIN};
    str event = STR("instance-stop");
    const struct {
        const char *name;
        struct ec2_status s;
        unsigned want;
    } cases[] = {
        {"well", {.instance = &well, .n_instance = 1, .system = &well, .n_system = 1}, 0},
        {"for too short", {.instance = &fresh, .n_instance = 1}, 0},
        {"instance", {.instance = &old, .n_instance = 1}, 1u << INTERRUPTION_INSTANCE_STATUS},
        {"nobody knows since when", {.instance = &unsaid, .n_instance = 1}, 1u << INTERRUPTION_INSTANCE_STATUS},
        {"system", {.system = &old, .n_system = 1}, 1u << INTERRUPTION_SYSTEM_STATUS},
        {"volumes", {.ebs = &old, .n_ebs = 1}, 0},
        {"events count when checks are well",
         {.system = &well, .n_system = 1, .events = &event, .n_events = 1},
         1u << INTERRUPTION_EVENT_STATUS},
        {"all",
         {.system = &old, .n_system = 1, .instance = &old, .n_instance = 1, .events = &event, .n_events = 1},
         1u << INTERRUPTION_INSTANCE_STATUS | 1u << INTERRUPTION_SYSTEM_STATUS | 1u << INTERRUPTION_EVENT_STATUS},
    };

    for (size_t i = 0; i < ARRAY_LEN(cases); i++)
        check_u64(cases[i].name, status_kinds(&cases[i].s, now), cases[i].want);
}

/* T4: forceful, and counted once while it lasts. */
static void unwell_machines_are_replaced(void **state)
{
    struct machines_lab *l = *state;
    str id = machines_lab_launch(l);

    far_run(l->far, 60);
    machines_lab_claim(l, "ill", arena_printf(l->far->a, STR_FMT "%c", STR_ARG(id), 0).p, "");
    check_true("impaired", sim_aws_impair(l->account, id, SIM_AWS_CHECK_SYSTEM, true));
    far_run(l->far, 100);
    check_true("not at once", !machines_lab_deleting(l, "ill"));
    far_run(l->far, 100);
    check_true("then it goes", machines_lab_deleting(l, "ill"));
    check_true("with a deadline", far_get(l->far, "nodeclaims", "ill", "metadata.annotations").n &&
                                      str_contains(far_get(l->far, "nodeclaims", "ill", "metadata.annotations"),
                                                   STR(TERMINATION_TIME_ANNOTATION)));
    far_run(l->far, 300);
    check_u64("counted once",
              (uint64_t)metric_value(l->c.metrics->interruption_instance_status_unhealthy_total,
                                     METRIC_VALS(STR("SystemStatus"))),
              1);
    check_true("well again", sim_aws_impair(l->account, id, SIM_AWS_CHECK_SYSTEM, false));
    far_run(l->far, 120);
    check_true("and ill once more", sim_aws_impair(l->account, id, SIM_AWS_CHECK_SYSTEM, true));
    far_run(l->far, 300);
    check_u64("counted again",
              (uint64_t)metric_value(l->c.metrics->interruption_instance_status_unhealthy_total,
                                     METRIC_VALS(STR("SystemStatus"))),
              2);
}

static str deadline(struct machines_lab *l, const char *claim)
{
    str notes = far_get(l->far, "nodeclaims", claim, "metadata.annotations");

    return str_contains(notes, STR(TERMINATION_TIME_ANNOTATION)) ? notes : STR("");
}

/* T4: plans that AWS has with a machine leave its pods their time. */
static void scheduled_events(void **state UNUSED)
{
    struct machines_lab *l = machines_lab_new("", NULL);
    str id = machines_lab_launch(l);

    far_run(l->far, 60);
    machines_lab_claim(l, "planned", arena_printf(l->far->a, STR_FMT "%c", STR_ARG(id), 0).p, "");
    check_true("to be retired", sim_aws_notify(l->account, id, SIM_AWS_SCHEDULED_CHANGE));
    far_run(l->far, 70);
    check_true("it goes", machines_lab_deleting(l, "planned"));
    check_true("in its own time", deadline(l, "planned").n == 0);
    check_u64("counted",
              (uint64_t)metric_value(l->c.metrics->interruption_instance_status_unhealthy_total,
                                     METRIC_VALS(STR("EventStatus"))),
              1);
    check_true("and ill as well", sim_aws_impair(l->account, id, SIM_AWS_CHECK_INSTANCE, true));
    far_run(l->far, 240);
    check_true("both together: at once", deadline(l, "planned").n > 0);
    machines_lab_free(l);
}

/* T4: whoever said before how long its pods have is right. */
static void deadlines_stay(void **state)
{
    struct machines_lab *l = *state;
    str id = machines_lab_launch(l);

    far_run(l->far, 60);
    machines_lab_claim(l, "ill", arena_printf(l->far->a, STR_FMT "%c", STR_ARG(id), 0).p, "");
    far_patch(l->far, "nodeclaims", "ill",
              "{\"metadata\":{\"annotations\":{\"" TERMINATION_TIME_ANNOTATION "\":\"2030-01-01T00:00:00Z\"}}}");
    check_true("impaired", sim_aws_impair(l->account, id, SIM_AWS_CHECK_INSTANCE, true));
    far_run(l->far, 240);
    check_true("it goes", machines_lab_deleting(l, "ill"));
    check_true("when it was said to", str_contains(deadline(l, "ill"), STR("2030-01-01T00:00:00Z")));
}

int main(void)
{
#define LAB(fn) cmocka_unit_test_setup_teardown(fn, machines_lab_setup, machines_lab_teardown)
    const struct CMUnitTest tests[] = {
        LAB(warnings_delete_claims),
        LAB(other_messages_are_deleted),
        LAB(failures_keep_the_message),
        LAB(many_messages),
        LAB(bad_days),
        cmocka_unit_test(queue_that_is_not_there),
        cmocka_unit_test(queue_that_is_not_ours),
        cmocka_unit_test(statuses_by_kind),
        LAB(unwell_machines_are_replaced),
        cmocka_unit_test(scheduled_events),
        LAB(deadlines_stay),
    };

    return cmocka_run_group_tests_name("control/aws_interruption", tests, NULL, NULL);
}
