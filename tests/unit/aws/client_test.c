/* Calls: what they look like on the wire, what AWS's refusals become, and when a call is made again. */
#include "aws/aws.h"

#include <stdio.h>

#include "aws/client_int.h"
#include "aws/sigv4.h"
#include "model/duration.h"
#include "support/aws_lab.h"
#include "support/check.h"

#define SECOND_US INT64_C(1000000)
#define MINUTE_MS INT64_C(60000)

static const char *const env[] = {"AWS_REGION=eu-west-3", "AWS_ENDPOINT_URL=https://aws.test", "AWS_ACCESS_KEY_ID=AKID",
                                  "AWS_SECRET_ACCESS_KEY=hush", NULL};

/* ---- a server that does what it is told, and a fiber that calls it ---- */

struct answer {
    int status; /* 0: the connection breaks; -1: it says nothing, ever */
    const char *body, *header, *value;
};

struct bench {
    struct aws_lab lab;
    struct arena *a;
    const struct answer *answers; /* one after the other; the last one again and again */
    uint32_t n_answers, n_served;
    int64_t served_us[64]; /* when each request came */
    str seen;              /* the last request */
    bool good_signature;
    int64_t clock_ms; /* the server's less the world's */
    /* what comes of it */
    struct aws_call call;
    struct aws_answer got;
    struct err e;
    bool ok;
    uint32_t n_attempts, n_calls, n_retries;
    int last_status;
    int64_t took_us;
};

static bool is_signed_well(struct exchange *x)
{
    str auth = http_header_get(x->headers, x->n_headers, "Authorization"), part, names, signature, scope[5];
    struct sigv4_request r = {.method = x->method,
                              .host = http_header_get(x->headers, x->n_headers, "Host"),
                              .path = x->path,
                              .query = x->query,
                              .headers = x->headers,
                              .n_headers = x->n_headers,
                              .body = x->body};
    str date = http_header_get(x->headers, x->n_headers, "X-Amz-Date");

    if (!str_cut(auth, '=', &part, &auth) || !str_cut(auth, ',', &part, &auth) || !str_cut(auth, '=', &names, &auth) ||
        !str_cut(auth, ',', &names, &auth) || !str_cut(auth, '=', &signature, &signature))
        return false;
    for (size_t i = 0; i < ARRAY_LEN(scope); i++)
        (void)str_cut(part, '/', &scope[i], &part);
    r.region = scope[2];
    r.service = scope[3];
    str text = sigv4_string_to_sign(x->arena, &r, date, sigv4_canonical(x->arena, &r, names));
    return str_is(scope[0], "AKID") && str_eq(sigv4_signature(x->arena, &r, date, STR("hush"), text), signature);
}

static void put_header(struct sb *b, const struct exchange *x, const char *name)
{
    str v = http_header_get(x->headers, x->n_headers, name);

    if (v.n)
        sb_printf(b, "%s: " STR_FMT "\n", name, STR_ARG(v));
}

static void note(struct bench *b, struct exchange *x)
{
    struct sb s = {0};
    str auth = http_header_get(x->headers, x->n_headers, "Authorization"), scope, rest;

    sb_printf(&s, "%s " STR_FMT "\n", x->method, STR_ARG(x->path));
    put_header(&s, x, "Content-Type");
    put_header(&s, x, "X-Amz-Target");
    put_header(&s, x, "x-amzn-query-mode");
    (void)str_cut(auth, '/', &rest, &scope);
    (void)str_cut(scope, ',', &scope, &rest);
    sb_printf(&s, STR_FMT "\n" STR_FMT, STR_ARG(scope), STR_ARG(x->body));
    b->seen = sb_dup(&s, b->a);
    sb_fini(&s);
    b->good_signature = is_signed_well(x);
}

static str http_date(struct arena *a, int64_t ms)
{
    static const char months[] = "JanFebMarAprMayJunJulAugSepOctNovDec";
    struct sb b = {0};
    int m;

    time_print_rfc3339(&b, ms);
    m = (b.p[5] - '0') * 10 + b.p[6] - '0';
    str s = arena_printf(a, "Thu, %.2s %.3s %.4s %.8s GMT", b.p + 8, months + 3 * (m - 1), b.p, b.p + 11);
    sb_fini(&b);
    return s;
}

static void serve(struct aws_lab *l, struct exchange *x)
{
    struct bench *b = l->ctx;
    const struct answer *r = &b->answers[MIN(b->n_served, b->n_answers - 1)];
    struct http_header h[2] = {{STR("Date"), http_date(x->arena, world_now_ms(l->far) + b->clock_ms)},
                               {str_c(r->header), str_c(r->value)}};

    note(b, x);
    if (b->n_served < ARRAY_LEN(b->served_us))
        b->served_us[b->n_served] = sim_now_us(l->sim);
    b->n_served++;
    if (r->status == 0)
        reply_abort(x);
    if (r->status <= 0)
        return;
    reply_begin(x, r->status, h, r->header ? 2 : 1);
    reply_data(x, str_c(r->body));
    reply_end(x);
}

static void on_attempt(void *ctx, enum aws_service s UNUSED, const char *action UNUSED, int status,
                       int64_t took_us UNUSED)
{
    struct bench *b = ctx;

    b->n_attempts++;
    b->last_status = status;
}

static void on_call(void *ctx, enum aws_service s UNUSED, const char *action UNUSED, int status, int64_t took_us,
                    uint32_t retries)
{
    struct bench *b = ctx;

    b->n_calls++;
    b->last_status = status;
    b->took_us = took_us;
    b->n_retries = retries;
}

static void bench_init(struct bench *b, uint64_t seed)
{
    memset(b, 0, sizeof(*b));
    b->a = arena_new(0);
    aws_lab_init(&b->lab, seed, env);
    b->lab.serve = serve;
    b->lab.ctx = b;
    b->lab.aws->observer = (struct aws_observer){b, on_attempt, on_call};
}

static void bench_fini(struct bench *b)
{
    aws_lab_fini(&b->lab);
    arena_free(b->a);
}

static void call_fiber(void *arg)
{
    struct bench *b = arg;

    b->ok = aws_do(b->lab.aws, &b->call, b->a, &b->got, &b->e);
}

/* answers: the server's, from now on. */
static void bench_call(struct bench *b, const struct aws_call *call, const struct answer *answers, uint32_t n)
{
    b->call = *call;
    b->answers = answers;
    b->n_answers = n;
    b->n_served = b->n_attempts = b->n_calls = b->n_retries = 0;
    aws_lab_go(&b->lab, call_fiber, b);
    aws_lab_run(&b->lab, 60 * MINUTE_MS);
}

static const struct aws_call get_parameter = {
    .service = AWS_SSM, .action = "GetParameter", .body = STR_INIT("{\"Name\":\"x\"}")};
static const struct answer fine = {200, "{}", NULL, NULL};

/* ---- what a call looks like ---- */

static const struct {
    const char *name;
    struct aws_call call;
    const char *want;
} shapes[] = {
    {"EC2",
     {.service = AWS_EC2, .action = "DescribeSubnets", .body = STR_INIT("MaxResults=5")},
     "POST /\nContent-Type: application/x-www-form-urlencoded; charset=utf-8\n20260101/eu-west-3/ec2/aws4_request\n"
     "Action=DescribeSubnets&Version=2016-11-15&MaxResults=5"},
    {"IAM",
     {.service = AWS_IAM, .action = "ListInstanceProfiles"},
     "POST /\nContent-Type: application/x-www-form-urlencoded; charset=utf-8\n20260101/eu-west-3/iam/aws4_request\n"
     "Action=ListInstanceProfiles&Version=2010-05-08"},
    {"SSM",
     {.service = AWS_SSM, .action = "GetParameter", .body = STR_INIT("{\"Name\":\"x\"}")},
     "POST /\nContent-Type: application/x-amz-json-1.1\nX-Amz-Target: AmazonSSM.GetParameter\n20260101/eu-west-3/ssm/aws4_request\n"
     "{\"Name\":\"x\"}"},
    {"SQS",
     {.service = AWS_SQS, .action = "ReceiveMessage", .body = STR_INIT("{\"QueueUrl\":\"u\"}")},
     "POST /\nContent-Type: application/x-amz-json-1.0\nX-Amz-Target: AmazonSQS.ReceiveMessage\nx-amzn-query-mode: true\n"
     "20260101/eu-west-3/sqs/aws4_request\n{\"QueueUrl\":\"u\"}"},
    {"Pricing",
     {.service = AWS_PRICING, .action = "GetProducts"},
     "POST /\nContent-Type: application/x-amz-json-1.1\nX-Amz-Target: AWSPriceListService.GetProducts\n20260101/eu-central-1/pricing/aws4_request\n{}"},
    {"EKS",
     {.service = AWS_EKS, .action = "DescribeCluster", .method = "GET", .path = STR_INIT("/clusters/demo")},
     "GET /clusters/demo\n20260101/eu-west-3/eks/aws4_request\n"},
    {"zonal shift",
     {.service = AWS_ZONAL_SHIFT,
      .action = "GetManagedResource",
      .method = "GET",
      .path = STR_INIT("/managedresources/arn%3Aaws%3Aeks%2Fx?a=b")},
     "GET /managedresources/arn%3Aaws%3Aeks%2Fx\n20260101/eu-west-3/arc-zonal-shift/aws4_request\n"},
};

static void what_calls_look_like(void **state)
{
    struct bench b;

    (void)state;
    bench_init(&b, 1);
    for (size_t i = 0; i < ARRAY_LEN(shapes); i++) {
        bool xml = shapes[i].call.service == AWS_EC2 || shapes[i].call.service == AWS_IAM;
        struct answer r = {200, xml ? "<R><a><item>1</item><item>2</item></a></R>" : "{\"a\":[1,2]}", NULL, NULL};

        bench_call(&b, &shapes[i].call, &r, 1);
        check_ok(shapes[i].name, b.ok, &b.e);
        check_str(shapes[i].name, b.seen, shapes[i].want);
        check_true(shapes[i].name, b.good_signature);
        check_i64(shapes[i].name, b.got.status, 200);
        check_u64(shapes[i].name, tree_get(b.got.tree, "a")->n, 2);
        check_u64(shapes[i].name, b.n_calls, 1);
    }
    bench_call(&b, &get_parameter, &(struct answer){200, "", NULL, NULL}, 1);
    check_ok("nothing", b.ok, &b.e);
    check_i64("nothing is an empty map", b.got.tree->kind, TREE_MAP);
    bench_call(&b, &shapes[0].call, &(struct answer){200, "<R/>", NULL, NULL}, 1);
    check_ok("an empty root", b.ok, &b.e);
    check_i64("likewise", b.got.tree->kind, TREE_MAP);
    bench_call(&b, &get_parameter, &(struct answer){200, "<html>", NULL, NULL}, 1);
    check_true("not JSON", !b.ok);
    check_i64("not JSON", b.e.kind, ERR_IO);
    check_u64("not JSON", b.n_attempts, 1);
    bench_call(&b, &get_parameter, &(struct answer){200, "[1]", NULL, NULL}, 1);
    check_str("not a map", str_c(b.e.msg), "SSM GetParameter: an answer that is a list");
    bench_fini(&b);
}

/* ---- refusals ---- */

static const struct {
    const char *name;
    enum aws_service service;
    struct answer answer;
    const char *code, *message;
    enum err_kind kind;
} refusals[] = {
    {"EC2",
     AWS_EC2,
     {400,
      "<?xml version=\"1.0\"?><Response><Errors><Error><Code>InvalidInstanceID.NotFound</Code><Message>no &lt;i-1&gt;</Message></Error></Errors>"
      "<RequestID>r</RequestID></Response>",
      NULL, NULL},
     "InvalidInstanceID.NotFound",
     "no <i-1>",
     ERR_NOT_FOUND},
    {"two errors",
     AWS_EC2,
     {400, "<Response><Errors><Error><Code>A</Code></Error><Error><Code>B</Code></Error></Errors></Response>", NULL,
      NULL},
     "A",
     "HTTP status 400",
     ERR_INVALID},
    {"a dry run",
     AWS_EC2,
     {412, "<Response><Errors><Error><Code>DryRunOperation</Code><Message>m</Message></Error></Errors></Response>",
      NULL, NULL},
     "DryRunOperation",
     "m",
     ERR_INVALID},
    {"IAM",
     AWS_IAM,
     {404,
      "<ErrorResponse xmlns=\"x\"><Error><Type>Sender</Type><Code>NoSuchEntity</Code><Message>m</Message></Error></ErrorResponse>",
      NULL, NULL},
     "NoSuchEntity",
     "m",
     ERR_NOT_FOUND},
    {"exists",
     AWS_IAM,
     {409, "<ErrorResponse><Error><Code>EntityAlreadyExists</Code><Message>m</Message></Error></ErrorResponse>", NULL,
      NULL},
     "EntityAlreadyExists",
     "m",
     ERR_CONFLICT},
    {"denied",
     AWS_EC2,
     {403,
      "<Response><Errors><Error><Code>UnauthorizedOperation</Code><Message>m</Message></Error></Errors></Response>",
      NULL, NULL},
     "UnauthorizedOperation",
     "m",
     ERR_DENIED},
    {"capacity",
     AWS_EC2,
     {400, "<Response><Errors><Error><Code>InsufficientInstanceCapacity</Code></Error></Errors></Response>", NULL,
      NULL},
     "InsufficientInstanceCapacity",
     "HTTP status 400",
     ERR_CAPACITY},
    {"JSON",
     AWS_SSM,
     {400, "{\"__type\":\"com.amazonaws.ssm#ParameterNotFound\",\"message\":\"m\"}", NULL, NULL},
     "ParameterNotFound",
     "m",
     ERR_NOT_FOUND},
    {"a large letter",
     AWS_SSM,
     {400, "{\"__type\":\"AccessDeniedException\",\"Message\":\"m\"}", NULL, NULL},
     "AccessDeniedException",
     "m",
     ERR_DENIED},
    {"a header",
     AWS_EKS,
     {404, "{\"message\":\"no cluster\"}", "x-amzn-ErrorType", "ResourceNotFoundException:http://internal.amazon.com/"},
     "ResourceNotFoundException",
     "no cluster",
     ERR_NOT_FOUND},
    {"SQS's old word",
     AWS_SQS,
     {400, "{\"__type\":\"com.amazonaws.sqs#QueueDoesNotExist\",\"message\":\"m\"}", "x-amzn-query-error",
      "AWS.SimpleQueueService.NonExistentQueue;Sender"},
     "AWS.SimpleQueueService.NonExistentQueue",
     "m",
     ERR_NOT_FOUND},
    {"a page instead of XML",
     AWS_EC2,
     {404, "<!doctype html>\n<title>404</title><p>Not &nbsp; Found", NULL, NULL},
     "UnknownError",
     "HTTP status 404",
     ERR_INVALID},
    {"a page instead of JSON",
     AWS_SSM,
     {403, "<html>no</html>", NULL, NULL},
     "UnknownError",
     "HTTP status 403",
     ERR_DENIED},
    {"nothing at all", AWS_EC2, {400, "", NULL, NULL}, "UnknownError", "HTTP status 400", ERR_INVALID},
    {"JSON of another shape", AWS_SSM, {400, "[1,\"x\"]", NULL, NULL}, "UnknownError", "HTTP status 400", ERR_INVALID},
    {"elsewhere", AWS_SSM, {302, "", "Location", "https://evil.test"}, "UnknownError", "HTTP status 302", ERR_IO},
};

static void what_refusals_become(void **state)
{
    struct bench b;

    (void)state;
    bench_init(&b, 1);
    for (size_t i = 0; i < ARRAY_LEN(refusals); i++) {
        struct aws_call call = {.service = refusals[i].service, .action = "Something", .path = STR("/x")};

        bench_call(&b, &call, &refusals[i].answer, 1);
        check_true(refusals[i].name, !b.ok);
        check_str(refusals[i].name, b.got.code, refusals[i].code);
        check_str(refusals[i].name, b.got.message, refusals[i].message);
        check_str(refusals[i].name, str_c(b.e.code), refusals[i].code);
        check_i64(refusals[i].name, b.e.kind, refusals[i].kind);
        check_true(refusals[i].name, !b.got.tree && b.got.status == refusals[i].answer.status);
        check_u64(refusals[i].name, b.n_attempts, 1);
    }
    check_str("all of it", str_c(b.e.msg), "SSM Something: UnknownError: HTTP status 302");
    bench_fini(&b);
}

/* ---- once more ---- */

#define EC2_ERROR(code) "<Response><Errors><Error><Code>" code "</Code><Message>m</Message></Error></Errors></Response>"

static const struct {
    const char *name;
    enum aws_service service;
    struct answer answer;
    uint32_t attempts;
    enum err_kind kind;
} failures[] = {
    {"throttled", AWS_EC2, {503, EC2_ERROR("RequestLimitExceeded"), NULL, NULL}, 3, ERR_THROTTLED},
    {"throttled with another status",
     AWS_SSM,
     {400, "{\"__type\":\"ThrottlingException\"}", NULL, NULL},
     3,
     ERR_THROTTLED},
    {"too many", AWS_SSM, {429, "", NULL, NULL}, 3, ERR_THROTTLED},
    {"a fault", AWS_EC2, {500, EC2_ERROR("InternalError"), NULL, NULL}, 3, ERR_IO},
    {"a page of a fault", AWS_EC2, {500, "<!doctype html><title>Internal Server Error</title>", NULL, NULL}, 3, ERR_IO},
    {"a gateway", AWS_SSM, {502, "", NULL, NULL}, 3, ERR_IO},
    {"a gateway that waited", AWS_SSM, {504, "", NULL, NULL}, 3, ERR_TIMEOUT},
    {"not implemented", AWS_SSM, {501, "", NULL, NULL}, 1, ERR_IO},
    {"the connection breaks", AWS_SSM, {0, NULL, NULL, NULL}, 3, ERR_IO},
    {"silence", AWS_SSM, {-1, NULL, NULL, NULL}, 3, ERR_TIMEOUT},
    {"invalid", AWS_EC2, {400, EC2_ERROR("InvalidParameterValue"), NULL, NULL}, 1, ERR_INVALID},
};

static void what_is_tried_again(void **state)
{
    struct bench b;

    (void)state;
    bench_init(&b, 1);
    for (size_t i = 0; i < ARRAY_LEN(failures); i++) {
        struct aws_call call = {.service = failures[i].service, .action = "Something"};

        bench_call(&b, &call, &failures[i].answer, 1);
        check_true(failures[i].name, !b.ok);
        check_i64(failures[i].name, b.e.kind, failures[i].kind);
        check_u64(failures[i].name, b.n_attempts, failures[i].attempts);
        check_u64(failures[i].name, b.n_served, failures[i].attempts);
        check_u64(failures[i].name, b.n_retries, failures[i].attempts - 1);
        check_u64(failures[i].name, b.n_calls, 1);
        check_i64(failures[i].name, b.got.status, MAX(failures[i].answer.status, 0));
        call.once = true;
        bench_call(&b, &call, &failures[i].answer, 1);
        check_u64("once is once", b.n_attempts, 1);
    }
    const struct answer then_fine[] = {{503, "", NULL, NULL}, {0, NULL, NULL, NULL}, fine};
    bench_call(&b, &get_parameter, then_fine, 3);
    check_ok("the third time", b.ok, &b.e);
    check_u64("the third time", b.n_attempts, 3);
    check_i64("the third time", b.last_status, 200);
    bench_fini(&b);
}

static void attempts_as_the_user_wants(void **state)
{
    struct bench b;

    (void)state;
    bench_init(&b, 1);
    b.lab.config->max_attempts = 6;
    bench_call(&b, &get_parameter, &(struct answer){500, "", NULL, NULL}, 1);
    check_u64("six", b.n_attempts, 6);
    b.lab.config->max_attempts = 1;
    bench_call(&b, &get_parameter, &(struct answer){500, "", NULL, NULL}, 1);
    check_u64("one", b.n_attempts, 1);
    bench_fini(&b);
}

/* Each wait is less than two, four, eight … seconds and never more than twenty; they differ. */
static void waits_have_bounds(void **state)
{
    int64_t least[7], most[7];

    (void)state;
    for (int i = 0; i < 7; i++) {
        least[i] = INT64_MAX;
        most[i] = 0;
    }
    for (uint64_t seed = 1; seed <= 200; seed++) {
        struct bench b;

        bench_init(&b, seed);
        b.lab.config->max_attempts = 8;
        bench_call(&b, &get_parameter, &(struct answer){500, "", NULL, NULL}, 1);
        check_u64("attempts", b.n_served, 8);
        for (int i = 0; i < 7; i++) {
            least[i] = MIN(least[i], b.served_us[i + 1] - b.served_us[i]);
            most[i] = MAX(most[i], b.served_us[i + 1] - b.served_us[i]);
        }
        bench_fini(&b);
    }
    for (int i = 0; i < 7; i++) {
        int64_t cap = MIN((2 * SECOND_US) << i, 20 * SECOND_US);

        check_true("not longer", most[i] <= cap);
        check_true("nearly as long", most[i] > cap / 10 * 9);
        check_true("and nearly nothing", least[i] < cap / 10);
    }
}

static void the_budget_runs_out(void **state)
{
    const struct answer broken = {500, "", NULL, NULL};
    struct aws_call sqs = {.service = AWS_SQS, .action = "ReceiveMessage"};
    struct bench b;

    (void)state;
    bench_init(&b, 1);
    for (int i = 0; i < 50; i++) { /* two retries of five each */
        bench_call(&b, &get_parameter, &broken, 1);
        check_u64("three", b.n_attempts, 3);
    }
    bench_call(&b, &get_parameter, &broken, 1);
    check_u64("nothing is left", b.n_attempts, 1);
    bench_call(&b, &sqs, &broken, 1);
    check_u64("another service has its own", b.n_attempts, 3);
    for (int i = 0; i < 5; i++)
        bench_call(&b, &get_parameter, &fine, 1);
    const struct answer then_fine[] = {broken, fine};
    bench_call(&b, &get_parameter, then_fine, 2);
    check_ok("five good ones pay for a retry", b.ok, &b.e);
    bench_call(&b, &get_parameter, then_fine, 2);
    check_ok("which is paid back", b.ok, &b.e);
    bench_call(&b, &get_parameter, &broken, 1);
    check_u64("one more", b.n_attempts, 2);
    bench_call(&b, &get_parameter, &broken, 1);
    check_u64("no more", b.n_attempts, 1);
    bench_fini(&b);
}

static void silence_costs_more(void **state)
{
    const struct answer silence = {-1, NULL, NULL, NULL};
    struct aws_call call = get_parameter;
    struct bench b;

    (void)state;
    bench_init(&b, 1);
    bench_call(&b, &call, &silence, 1);
    check_true("four minutes each", b.took_us >= 3 * 240 * SECOND_US && b.took_us < (3 * 240 + 6) * SECOND_US);
    call.timeout_us = SECOND_US;
    for (int i = 1; i < 25; i++)
        bench_call(&b, &call, &silence, 1);
    check_u64("three", b.n_attempts, 3);
    bench_call(&b, &call, &silence, 1);
    check_u64("after half as many", b.n_attempts, 1);
    bench_fini(&b);
}

/* ---- clocks ---- */

static void our_clock_is_wrong(void **state)
{
    static const struct {
        const char *name, *code;
        int64_t off_ms;
        uint32_t attempts;
    } cases[] = {
        {"an hour late", "RequestTimeTooSkewed", 60 * MINUTE_MS, 2},
        {"a day early", "RequestExpired", -24 * 60 * MINUTE_MS, 2},
        {"EC2's word for it", "AuthFailure", 10 * MINUTE_MS, 2},
        {"the clock is right, the secret is wrong", "SignatureDoesNotMatch", 5000, 1},
    };

    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        struct bench b;

        bench_init(&b, 1);
        const struct answer answers[] = {{403, arena_printf(b.a, "{\"__type\":\"%s\"}", cases[i].code).p, NULL, NULL},
                                         fine};
        b.clock_ms = cases[i].off_ms;
        bench_call(&b, &get_parameter, answers, 2);
        check_true(cases[i].name, b.ok == (cases[i].attempts == 2));
        check_u64(cases[i].name, b.n_attempts, cases[i].attempts);
        if (b.ok) {
            int64_t off = client_now_ms(b.lab.aws) - world_now_ms(b.lab.near);

            check_true(cases[i].name, off > cases[i].off_ms - 2000 && off < cases[i].off_ms + 2000);
            check_true("at once", b.served_us[1] - b.served_us[0] < SECOND_US / 10);
            bench_call(&b, &get_parameter, &fine, 1);
            check_u64("and from then on", b.n_attempts, 1);
        }
        bench_fini(&b);
    }
}

/* A server that never believes the time is not asked for ever. */
static void a_clock_is_set_once(void **state)
{
    struct bench b;

    (void)state;
    bench_init(&b, 1);
    b.clock_ms = 60 * MINUTE_MS;
    bench_call(&b, &get_parameter, &(struct answer){403, "{\"__type\":\"RequestTimeTooSkewed\"}", NULL, NULL}, 1);
    check_true("refused", !b.ok);
    check_i64("refused", b.e.kind, ERR_DENIED);
    check_u64("twice", b.n_attempts, 2);
    bench_fini(&b);
}

/* ---- the end of the world ---- */

static void shutting_down(void **state)
{
    struct bench b;

    (void)state;
    bench_init(&b, 1);
    b.call = get_parameter;
    b.answers = &(struct answer){500, "", NULL, NULL};
    b.n_answers = 1;
    aws_lab_go(&b.lab, call_fiber, &b);
    while (b.n_served == 0)
        (void)sim_step(b.lab.sim);
    sim_kill(b.lab.near);
    sim_run_for(b.lab.sim, SECOND_US);
    check_u64("it has returned", b.lab.n_running, 0);
    check_true("badly", !b.ok);
    check_u64("without another try", b.n_served, 1);
    bench_fini(&b);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_calls_look_like), cmocka_unit_test(what_refusals_become),
        cmocka_unit_test(what_is_tried_again),  cmocka_unit_test(attempts_as_the_user_wants),
        cmocka_unit_test(waits_have_bounds),    cmocka_unit_test(the_budget_runs_out),
        cmocka_unit_test(silence_costs_more),   cmocka_unit_test(our_clock_is_wrong),
        cmocka_unit_test(a_clock_is_set_once),  cmocka_unit_test(shutting_down),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
