/* The life of machines in virtual time: states, events, interruptions, what they cost, and that they are forgotten. */
#include <math.h>
#include <stdio.h>

#include "base/rng.h"
#include "base/vec.h"
#include "data/edit.h"
#include "data/json.h"
#include "data/reader.h"
#include "support/aws_account.h"
#include "support/check.h"

#define HOUR_MS (3600 * 1000LL)
#define RUN(count)                                                                                                     \
    "Action=RunInstances&MinCount=" #count "&MaxCount=" #count                                                         \
    "&ImageId=ami-x86&InstanceType=m5.large&SubnetId=subnet-a&UserData=aGVsbG8=&IamInstanceProfile.Name=profile"
#define SPOT "&InstanceMarketOptions.MarketType=spot"
#define QUEUE "{\"QueueUrl\":\"https://sqs/123456789012/c1\",\"MaxNumberOfMessages\":10"

struct seen {
    uint32_t running, gone;
    char id[32], user_data[32], type[32], profile[32];
};

static void copy(char *to, size_t n, str s)
{
    (void)snprintf(to, n, STR_FMT, STR_ARG(s));
}

static void on_running(void *ctx, const struct sim_machine *m)
{
    struct seen *s = ctx;

    s->running++;
    copy(s->id, sizeof(s->id), m->id);
    copy(s->user_data, sizeof(s->user_data), m->user_data);
    copy(s->type, sizeof(s->type), m->capacity_type);
    copy(s->profile, sizeof(s->profile), m->profile);
    check_str("its architecture", m->arch, "x86_64");
    check_str("its memory", tree_scalar(tree_at(m->info, "MemoryInfo", "SizeInMiB", NULL)), "8192");
}

static void on_gone(void *ctx, const struct sim_machine *m)
{
    (void)m;
    ((struct seen *)ctx)->gone++;
}

static str first_id(const struct tree *reply)
{
    return tree_str(tree_get(&tree_get(reply, "instancesSet")->items[0], "instanceId"));
}

static str launch(struct aws_account *t, const char *request)
{
    return arena_strdup(t->a, first_id(account_do(t, "ec2", request)));
}

static str state_of(struct aws_account *t, str id)
{
    const struct tree *r =
        account_do(t, "ec2", account_line(t, "Action=DescribeInstances&InstanceId.1=" STR_FMT "", STR_ARG(id)));
    const struct tree *i = &tree_get(&tree_get(r, "reservationSet")->items[0], "instancesSet")->items[0];

    return tree_str(tree_at(i, "instanceState", "name", NULL));
}

static void terminate(struct aws_account *t, str id)
{
    (void)account_do(t, "ec2", account_line(t, "Action=TerminateInstances&InstanceId.1=" STR_FMT "", STR_ARG(id)));
}

/* What is in the queue, as "detail-type: state; …", and out of it. */
static str events(struct aws_account *t)
{
    struct sb b = {0};

    for (;;) {
        const struct tree *r = account_do(t, "AmazonSQS.ReceiveMessage", QUEUE "}"), *list = tree_get(r, "Messages");

        if (!list)
            break;
        for (uint32_t i = 0; i < list->n; i++) {
            str body = tree_str(tree_get(&list->items[i], "Body"));
            char *bytes = arena_alloc(t->a, body.n + 16, 16);
            struct tree *e;
            struct err err;

            memcpy(bytes, body.p, body.n);
            check_ok("an event", tree_read_json(t->a, "event", bytes, body.n, &e, &err), &err);
            sb_printf(&b, STR_FMT ": " STR_FMT "; ", STR_ARG(tree_str(tree_get(e, "detail-type"))),
                      STR_ARG(tree_str(tree_at(e, "detail", "state", NULL))));
            str receipt = json_quoted(t->a, tree_str(tree_get(&list->items[i], "ReceiptHandle")));
            (void)account_do(
                t, "AmazonSQS.DeleteMessage",
                account_line(t, "{\"QueueUrl\":\"https://sqs/1/c1\",\"ReceiptHandle\":" STR_FMT "}", STR_ARG(receipt)));
        }
    }
    str text = sb_dup(&b, t->a);
    sb_fini(&b);
    return text;
}

static void count(void *ctx, const struct sim_aws_resource *r)
{
    if (strcmp(r->kind, "instance") == 0)
        ++*(uint32_t *)ctx;
}

static void from_birth_to_oblivion(void **state)
{
    struct aws_account t;
    struct seen seen = {0};
    uint32_t n = 0;

    (void)state;
    account_open(&t, 1, NULL,
                 &(struct sim_aws_options){.any_signature = true,
                                           .boot_ms = 30000,
                                           .stop_ms = 20000,
                                           .on_running = on_running,
                                           .on_gone = on_gone,
                                           .ctx = &seen});
    str id = launch(&t, RUN(1));

    check_str("at first", state_of(&t, id), "pending");
    account_run(&t, 29000);
    check_u64("not yet", seen.running, 0);
    account_run(&t, 2000);
    check_str("after boot_ms", state_of(&t, id), "running");
    check_u64("told once", seen.running, 1);
    check_str("who", str_c(seen.id), account_line(&t, STR_FMT "", STR_ARG(id)));
    check_str("user data is decoded", str_c(seen.user_data), "hello");
    check_str("its profile", str_c(seen.profile), "profile");
    account_run(&t, HOUR_MS);
    terminate(&t, id);
    check_str("on its way", state_of(&t, id), "shutting-down");
    check_u64("still there", seen.gone, 0);
    account_run(&t, 21000);
    check_str("no more", state_of(&t, id), "terminated");
    check_u64("told", seen.gone, 1);
    check_str(
        "events", events(&t),
        "EC2 Instance State-change Notification: shutting-down; EC2 Instance State-change Notification: terminated; ");
    account_run(&t, HOUR_MS);
    check_str(
        "forgotten",
        account_ask(&t, "ec2", account_line(&t, "Action=DescribeInstances&InstanceId.1=" STR_FMT "", STR_ARG(id))).code,
        "InvalidInstanceID.NotFound");
    sim_aws_each(t.aws, count, &n);
    check_u64("nothing is left", n, 0);
    struct sim_aws_bill b = sim_aws_bill(t.aws);

    check_true("an hour at 0.1, by the second", fabs(b.hours - 1) < 0.001 && fabs(b.usd - 0.1) < 0.0001);
    check_u64("ended", b.ended, 1);
    account_close(&t);
}

static void old_messages_are_dropped(void **state)
{
    struct aws_account t;

    (void)state;
    account_open(&t, 1, NULL, NULL);
    (void)launch(&t, RUN(1));
    account_run(&t, 1000);
    check_str("two events", events(&t),
              "EC2 Instance State-change Notification: pending; EC2 Instance State-change Notification: running; ");
    terminate(&t, launch(&t, RUN(1)));
    account_run(&t, 301 * 1000);
    check_str("after five minutes", events(&t), "");
    account_close(&t);
}

static void spot_is_taken_back(void **state)
{
    struct aws_account t;
    struct seen seen = {0};

    (void)state;
    account_open(
        &t, 1, "{\"capacity\":{\"m5.large\":{\"za\":{\"spot\":1}}}}",
        &(struct sim_aws_options){.any_signature = true, .on_running = on_running, .on_gone = on_gone, .ctx = &seen});
    str spot = launch(&t, RUN(1) SPOT), other = launch(&t, RUN(1));

    account_run(&t, 1000);
    check_str("what it is", str_c(seen.type), "on-demand");
    (void)events(&t);
    check_true("on demand nobody takes back", !sim_aws_interrupt(t.aws, other));
    check_true("who is not there", !sim_aws_interrupt(t.aws, STR("i-nobody")));
    check_true("a warning", sim_aws_interrupt(t.aws, spot));
    check_true("advice", sim_aws_notify(t.aws, other, SIM_AWS_REBALANCE));
    check_true("maintenance", sim_aws_notify(t.aws, other, SIM_AWS_SCHEDULED_CHANGE));
    check_str(
        "events", events(&t),
        "EC2 Spot Instance Interruption Warning: ; EC2 Instance Rebalance Recommendation: ; AWS Health Event: ; ");
    account_run(&t, 118 * 1000);
    check_str("two minutes", state_of(&t, spot), "running");
    account_run(&t, 3000);
    check_str("are over", state_of(&t, spot), "terminated");
    check_str("the other one runs", state_of(&t, other), "running");
    check_str("what was taken back is not there", account_ask(&t, "ec2", RUN(1) SPOT).code,
              "InsufficientInstanceCapacity");
    (void)sim_aws_set_pool(t.aws, STR("m5.large"), STR(""), STR("spot"), -1);
    (void)launch(&t, RUN(1) SPOT);
    account_close(&t);
}

/* A warned machine that its owner ends in time is not ended twice. */
static void ended_before_it_is_taken(void **state)
{
    struct aws_account t;
    struct seen seen = {0};

    (void)state;
    account_open(&t, 1, NULL, &(struct sim_aws_options){.any_signature = true, .on_gone = on_gone, .ctx = &seen});
    str id = launch(&t, RUN(1) SPOT);

    account_run(&t, 1000);
    check_true("warned", sim_aws_interrupt(t.aws, id));
    terminate(&t, id);
    account_run(&t, 10 * 60 * 1000);
    check_u64("gone once", seen.gone, 1);
    check_true("no longer there", sim_aws_machine(t.aws, id) == NULL);
    account_close(&t);
}

static void prices_move(void **state)
{
    struct aws_account t;
    uint32_t different = 0;

    (void)state;
    account_open(&t, 1, NULL, &(struct sim_aws_options){.any_signature = true, .walk_ms = HOUR_MS});
    (void)launch(&t, RUN(1) SPOT);
    account_run(&t, 48 * HOUR_MS + 1000);
    const struct tree *r = account_do(&t, "ec2", "Action=DescribeSpotPriceHistory&MaxResults=1000"),
                      *list = tree_get(r, "spotPriceHistorySet");

    check_u64("what is remembered of two pools", list->n, 48);
    for (uint32_t i = 0; i < list->n; i++) {
        double usd;
        str zone = tree_str(tree_get(&list->items[i], "availabilityZone"));
        double given = str_is(zone, "za") ? 0.03 : 0.02;

        check_true("a price", str_to_double(tree_str(tree_get(&list->items[i], "spotPrice")), &usd));
        check_true("not far off", usd >= given * 0.59 && usd <= given * 1.41);
        different += fabs(usd - given) > 1e-6;
    }
    check_true("they move", different > 40);
    struct sim_aws_bill b = sim_aws_bill(t.aws);

    check_true("what it cost is between the lowest and the highest", b.usd > 48 * 0.018 && b.usd < 48 * 0.042);
    sim_aws_set_spot_price(t.aws, STR("m5.large"), STR("za"), 1);
    account_run(&t, HOUR_MS - 2000); /* before the next step */
    check_true("an hour at one dollar", sim_aws_bill(t.aws).usd > b.usd + 0.99);
    account_close(&t);
}

static void addresses_are_reused(void **state)
{
    struct aws_account t;

    (void)state;
    account_open(&t, 1, "{\"securityGroups\":[]}", &(struct sim_aws_options){.any_signature = true, .unlimited = true});
    for (int i = 0; i < 40; i++) { /* a /28 has eleven */
        str id = launch(
            &t, "Action=RunInstances&MinCount=1&MaxCount=1&ImageId=ami-x86&InstanceType=m5.large&SubnetId=subnet-c");

        account_run(&t, 1000);
        terminate(&t, id);
        account_run(&t, 1000);
    }
    const struct tree *r = account_do(&t, "ec2", "Action=DescribeSubnets&SubnetId.1=subnet-c");
    check_str("all are free", tree_str(tree_get(&tree_get(r, "subnetSet")->items[0], "availableIpAddressCount")), "11");
    check_str("one too many",
              account_ask(
                  &t, "ec2",
                  "Action=RunInstances&MinCount=12&MaxCount=12&ImageId=ami-x86&InstanceType=m5.large&SubnetId=subnet-c")
                  .code,
              "InsufficientInstanceCapacity");
    check_u64("none of them was made", sim_aws_bill(t.aws).launched, 40);
    const struct tree *many = account_do(
        &t, "ec2",
        "Action=RunInstances&MinCount=11&MaxCount=11&ImageId=ami-x86&InstanceType=m5.large&SubnetId=subnet-c");
    const struct tree *list = tree_get(many, "instancesSet");

    for (uint32_t i = 0; i < list->n; i++)
        for (uint32_t j = 0; j < i; j++)
            check_true("nobody shares one", !str_eq(tree_str(tree_get(&list->items[i], "privateIpAddress")),
                                                    tree_str(tree_get(&list->items[j], "privateIpAddress"))));
    check_str(
        "it is full",
        account_ask(&t, "ec2",
                    "Action=RunInstances&MinCount=1&MaxCount=1&ImageId=ami-x86&InstanceType=m5.large&SubnetId=subnet-c")
            .code,
        "InsufficientFreeAddressesInSubnet");
    account_close(&t);
}

/* The same seed, the same account: ids, prices, events. */
static void twice_the_same(void **state)
{
    str text[2];
    struct aws_account t[2];

    (void)state;
    for (int i = 0; i < 2; i++) {
        account_open(&t[i], 7, NULL, &(struct sim_aws_options){.any_signature = true, .walk_ms = HOUR_MS});
        sim_aws_set_faults(t[i].aws,
                           &(struct sim_aws_faults){.consistency_ms = 2000, .duplicate = 9000, .reorder = 9000});
        (void)account_do(&t[i], "ec2", RUN(3) SPOT);
        account_run(&t[i], 5 * HOUR_MS);
        text[i] = json_text(t[i].a, account_do(&t[i], "ec2", "Action=DescribeInstances"));
    }
    check_true("byte for byte", str_eq(text[0], text[1]));
    account_close(&t[0]);
    account_close(&t[1]);
}

/* ---- whatever happens, the books are right in the end ---- */

struct lives {
    VEC(str) ids;
    struct arena *a;
};

static void note(void *ctx, const struct sim_aws_resource *r)
{
    struct lives *l = ctx;

    if (strcmp(r->kind, "instance") == 0 && strcmp(r->state, "terminated") != 0)
        vec_push(&l->ids, arena_strdup(l->a, r->id));
}

static void do_something(struct aws_account *t, struct rng *r, const struct lives *l)
{
    str one = l->ids.n ? l->ids.v[rng_below(r, l->ids.n)] : STR("i-none");

    switch (rng_below(r, 6)) {
    case 0:
    case 1:
        (void)account_ask(
            t, "ec2",
            account_line(t,
                         "Action=RunInstances&MinCount=1&MaxCount=%u&ImageId=ami-x86&InstanceType=m5.large"
                         "&SubnetId=subnet-%c%s&ClientToken=%u",
                         1 + rng_below(r, 4), 'a' + (int)rng_below(r, 2), rng_below(r, 2) ? SPOT : "",
                         rng_below(r, 40)));
        break;
    case 2:
        (void)account_ask(t, "ec2", account_line(t, "Action=TerminateInstances&InstanceId.1=" STR_FMT, STR_ARG(one)));
        break;
    case 3:
        (void)sim_aws_interrupt(t->aws, one);
        break;
    case 4:
        (void)sim_aws_crash(t->aws, one);
        break;
    case 5:
        account_run(t, 1 + rng_below(r, 300000));
        break;
    }
}

static str addresses(struct aws_account *t)
{
    const struct tree *list = tree_get(account_do(t, "ec2", "Action=DescribeSubnets"), "subnetSet");
    struct sb b = {0};

    for (uint32_t i = 0; i < list->n; i++)
        sb_printf(&b, STR_FMT " ", STR_ARG(tree_str(tree_get(&list->items[i], "availableIpAddressCount"))));
    str text = sb_dup(&b, t->a);
    sb_fini(&b);
    return text;
}

static void random_lives(void **state)
{
    (void)state;
    for (uint64_t seed = 1; seed <= 10; seed++) {
        struct aws_account t;
        struct rng r;
        uint32_t left = 0;
        struct seen seen = {0};
        const struct sim_aws_options o = {.any_signature = true,
                                          .boot_ms = 20000,
                                          .stop_ms = 10000,
                                          .on_running = on_running,
                                          .on_gone = on_gone,
                                          .ctx = &seen,
                                          .unlimited = true};

        account_open(&t, seed, "{\"capacity\":{\"m5.large\":{\"za\":{\"on-demand\":9,\"spot\":50}}}}", &o);
        sim_aws_set_faults(t.aws, &(struct sim_aws_faults){.throttle = 3000,
                                                           .server_error = 3000,
                                                           .lose_reply = 6000,
                                                           .no_capacity = 6000,
                                                           .consistency_ms = 5000});
        rng_init(&r, seed);
        for (int i = 0; i < 200; i++) {
            struct lives l = {.a = t.a};

            sim_aws_each(t.aws, note, &l);
            do_something(&t, &r, &l);
            vec_fini(&l.ids);
        }
        struct lives l = {.a = t.a};

        sim_aws_set_faults(t.aws, &(struct sim_aws_faults){0});
        sim_aws_each(t.aws, note, &l);
        for (uint32_t i = 0; i < l.ids.n; i++)
            (void)sim_aws_crash(t.aws, l.ids.v[i]);
        vec_fini(&l.ids);
        account_run(&t, 2 * HOUR_MS);
        sim_aws_each(t.aws, count, &left);
        check_u64("all are forgotten", left, 0);
        check_str("all addresses are free", addresses(&t), "100 2 11 ");
        check_u64("who ran is gone", seen.gone, seen.running);
        struct sim_aws_bill b = sim_aws_bill(t.aws);

        check_true("there was something to forget", b.launched > 20 && b.hours > 0 && b.usd > 0);
        check_u64("all have ended", b.ended, b.launched);
        check_i64(
            "as many as there ever were",
            account_ask(
                &t, "ec2",
                "Action=RunInstances&MinCount=9&MaxCount=9&ImageId=ami-x86&InstanceType=m5.large&SubnetId=subnet-a")
                .status,
            200);
        account_close(&t);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(from_birth_to_oblivion),
        cmocka_unit_test(old_messages_are_dropped),
        cmocka_unit_test(spot_is_taken_back),
        cmocka_unit_test(ended_before_it_is_taken),
        cmocka_unit_test(prices_move),
        cmocka_unit_test(addresses_are_reused),
        cmocka_unit_test(twice_the_same),
        cmocka_unit_test(random_lives),
    };

    return cmocka_run_group_tests_name("sim/aws/life", tests, NULL, NULL);
}
