/* A session and an account, each written from AWS's description alone: the one signs, the other checks. */
#include "aws/aws.h"
#include "base/b64.h"
#include "net/fiber.h"
#include "support/aws_account.h"
#include "support/check.h"

#define MINUTE_US INT64_C(60000000)
#define HOUR_MS INT64_C(3600000)
#define MAX_VARS 8

struct bench {
    struct aws_account t;
    struct aws_config *config;
    struct aws *aws;
    uint32_t n_fine, n_bad, n_attempts;
    struct err e; /* the last one */
    bool done;
};

/* A token as the kubelet writes it, good for ten minutes. */
static str web_token(struct arena *a, int64_t now_ms)
{
    struct sb b = {0};
    str claims = arena_printf(a, "{\"sub\":\"system:serviceaccount:kube-system:karpenter\",\"exp\":%lld}",
                              (long long)(now_ms / 1000 + 600));

    b64url_encode(&b, STR("{\"alg\":\"RS256\"}"));
    sb_char(&b, '.');
    b64url_encode(&b, claims);
    sb_c(&b, ".c2ln\n");
    str s = sb_dup(&b, a);
    sb_fini(&b);
    return s;
}

static bool read_file(void *ctx, struct arena *a, const char *path, str *ret, struct err *e)
{
    struct bench *b = ctx;

    if (strcmp(path, "/web-token") == 0)
        *ret = web_token(a, world_now_ms(b->t.near));
    else if (strcmp(path, "/pod-token") == 0)
        *ret = STR("pod-token");
    else
        return err_set(e, ERR_NOT_FOUND, "%s: there is no such file", path);
    return true;
}

static void count(void *ctx, enum aws_service s UNUSED, const char *action UNUSED, int status UNUSED, int64_t us UNUSED)
{
    ((struct bench *)ctx)->n_attempts++;
}

static void bench_init(struct bench *b, const char *const *vars)
{
    static const char *const near[] = {"http://169.254.169.254", "http://169.254.170.2", "http://169.254.170.23"};
    struct aws_environment env = {vars, read_file, b};
    struct err e;

    *b = (struct bench){0};
    account_open(&b->t, 1, NULL, &(struct sim_aws_options){0}); /* signatures are checked */
    for (size_t i = 0; i < ARRAY_LEN(near); i++)
        sim_mount(b->t.sim, near[i], b->t.far, sim_aws_serve_local, b->t.aws);
    b->config = aws_config_load(&env, &e);
    check_ok("configuration", b->config != NULL, &e);
    b->aws = aws_new(
        &(struct aws_options){.world = b->t.near, .config = b->config, .observer = {.ctx = b, .attempt = count}});
}

static void bench_fini(struct bench *b)
{
    aws_free(b->aws);
    aws_config_free(b->config);
    account_close(&b->t);
}

static const struct aws_call calls[] = {
    {.service = AWS_EC2, .action = "DescribeSubnets"},
    {.service = AWS_EC2, .action = "DescribeInstanceTypes", .body = STR_INIT("MaxResults=100")},
    {.service = AWS_IAM, .action = "ListInstanceProfiles"},
    {.service = AWS_STS, .action = "GetCallerIdentity"},
    {.service = AWS_SSM, .action = "GetParameter", .body = STR_INIT("{\"Name\":\"/aws/service/x\"}")},
    {.service = AWS_EKS, .action = "DescribeCluster", .method = "GET", .path = STR_INIT("/clusters/c1")},
    {.service = AWS_PRICING,
     .action = "GetProducts",
     .body = STR_INIT("{\"ServiceCode\":\"AmazonEC2\",\"Filters\":[]}")},
};

static void call(struct bench *b, const struct aws_call *c)
{
    AUTO(arena) struct arena *a = arena_new(0);
    struct aws_answer got;
    struct err e;
    bool ok = aws_do(b->aws, c, a, &got, &e);

    b->n_fine += ok;
    b->n_bad += !ok;
    if (!ok)
        b->e = e;
}

/* All services, every ten minutes of a day: four times as long as the keys last that it gives. */
static void a_day(void *arg)
{
    struct bench *b = arg;
    struct err e;

    check_ok("region", aws_find_region(b->aws, &e), &e);
    check_str("region", aws_region(b->aws), "us-west-2");
    for (int i = 0; i < 144; i++) {
        for (size_t k = 0; k < ARRAY_LEN(calls); k++)
            call(b, &calls[k]);
        fiber_sleep_us(b->t.near, 10 * MINUTE_US);
    }
    b->done = true;
}

static const struct {
    const char *name, *vars[MAX_VARS];
} ways[] = {
    {"the instance's role", {NULL}},
    {"EKS Pod Identity",
     {"AWS_CONTAINER_CREDENTIALS_FULL_URI=http://169.254.170.23/v1/credentials",
      "AWS_CONTAINER_AUTHORIZATION_TOKEN_FILE=/pod-token"}},
    {"ECS", {"AWS_CONTAINER_CREDENTIALS_RELATIVE_URI=/v2/credentials/x"}},
    {"IRSA", {"AWS_ROLE_ARN=arn:aws:iam::123456789012:role/controller", "AWS_WEB_IDENTITY_TOKEN_FILE=/web-token"}},
};

static void run(struct bench *b)
{
    fiber_go(b->t.near, "day", a_day, b);
    account_run(&b->t, 48 * HOUR_MS);
    check_true("done", b->done);
}

static void each_way_in(void **state)
{
    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(ways); i++) {
        const char *vars[MAX_VARS + 1] = {"AWS_ENDPOINT_URL=" ACCOUNT_URL};
        struct bench b;

        memcpy(vars + 1, ways[i].vars, sizeof(ways[i].vars));
        bench_init(&b, vars);
        run(&b);
        check_ok(ways[i].name, b.n_bad == 0, &b.e);
        check_u64(ways[i].name, b.n_fine, 144 * ARRAY_LEN(calls));
        bench_fini(&b);
    }
}

/* One call in ten is refused or breaks. */
static void a_bad_day(void **state)
{
    const char *vars[] = {("AWS_ENDPOINT_URL=" ACCOUNT_URL), "AWS_ROLE_ARN=arn:aws:iam::123456789012:role/controller",
                          "AWS_WEB_IDENTITY_TOKEN_FILE=/web-token", NULL};
    struct bench b;

    (void)state;
    bench_init(&b, vars);
    sim_aws_set_faults(b.t.aws, &(struct sim_aws_faults){.throttle = 2200, .server_error = 2200, .lose_reply = 2200});
    run(&b);
    check_true("two retries help nearly always", b.n_bad <= 8);
    check_true("there were some", b.n_attempts > 144 * ARRAY_LEN(calls) + 50);
    bench_fini(&b);
}

static void not_with_other_keys(void **state)
{
    static const char *const vars[] = {("AWS_ENDPOINT_URL=" ACCOUNT_URL), "AWS_REGION=us-west-2",
                                       "AWS_ACCESS_KEY_ID=AKIAINVENTED", "AWS_SECRET_ACCESS_KEY=hush", NULL};
    struct bench b;

    (void)state;
    bench_init(&b, vars);
    run(&b);
    check_u64("none", b.n_fine, 0);
    check_i64("denied", b.e.kind, ERR_DENIED);
    bench_fini(&b);
}

/* ---- the end ---- */

struct end {
    struct bench *b;
    uint64_t steps, at; /* so many events; the one before which the process dies */
    uint32_t n_running;
};

static void kill_at(void *ctx, uint64_t step UNUSED)
{
    struct end *d = ctx;

    if (++d->steps == d->at)
        sim_kill(d->b->t.near);
}

static void calls_until_the_end(void *arg)
{
    struct end *d = arg;

    for (size_t k = 0; k < ARRAY_LEN(calls) && !world_dead(d->b->t.near); k++)
        call(d->b, &calls[k]);
    d->n_running--;
}

/* Whenever it is killed, while one fiber asks for keys and others wait for them too, all that was under way unwinds. */
static void killed_at_any_moment(void **state)
{
    const char *vars[] = {("AWS_ENDPOINT_URL=" ACCOUNT_URL), "AWS_REGION=us-west-2",
                          "AWS_ROLE_ARN=arn:aws:iam::123456789012:role/controller",
                          "AWS_WEB_IDENTITY_TOKEN_FILE=/web-token", NULL};
    uint64_t all = 1;

    (void)state;
    for (uint64_t at = 1; at <= all + 1; at++) {
        struct bench b;
        struct end d = {.b = &b, .at = at};

        bench_init(&b, vars);
        sim_set_faults(b.t.sim, ACCOUNT_URL, &(struct sim_faults){.delay_us = {1000, 30000}});
        for (; d.n_running < 5; d.n_running++)
            fiber_go(b.t.near, "call", calls_until_the_end, &d);
        sim_on_step(b.t.sim, kill_at, &d);
        while (d.n_running && sim_step(b.t.sim))
            ;
        check_u64("all have returned", d.n_running, 0);
        all = MAX(all, d.steps);
        bench_fini(&b);
    }
    check_true("there were many", all > 100);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(each_way_in),
        cmocka_unit_test(a_bad_day),
        cmocka_unit_test(not_with_other_keys),
        cmocka_unit_test(killed_at_any_moment),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
