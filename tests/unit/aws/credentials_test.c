/* Where credentials come from, how they are renewed, and what happens when that fails. */
#include "aws/credentials.h"

#include <stdio.h>

#include "aws/client_int.h"
#include "base/rng.h"
#include "model/duration.h"
#include "net/fiber.h"
#include "support/aws_lab.h"
#include "support/check.h"

#define SECOND_MS INT64_C(1000)
#define MINUTE_MS INT64_C(60000)
#define HOUR_MS INT64_C(3600000)
#define MAX_VARS 10

/* ---- a cloud: hands out keys, and takes only those that are good ---- */

struct cloud {
    struct aws_lab lab;
    struct arena *a;
    int64_t lease_ms;
    uint32_t n_sts, n_imds, n_container, n_calls; /* requests */
    bool sts_down, imds_down;
    const char *revoked;   /* what AWS says of them at the next call; NULL: nothing */
    const char *web_token; /* the only one that STS takes */
    str last_id;           /* of the last call */
    char roles[256];       /* asked of STS: "id>role " … */
    uint32_t n_fine, n_bad;
    struct err e;
    int64_t refreshed_ms[64]; /* when STS was asked */
};

static str key_of(struct exchange *x)
{
    str auth = http_header_get(x->headers, x->n_headers, "Authorization"), rest;

    (void)str_cut(auth, '=', &rest, &auth);
    (void)str_cut(auth, '/', &auth, &rest);
    return auth;
}

static str after(struct cloud *c, int64_t ms)
{
    struct sb b = {0};

    time_print_rfc3339(&b, world_now_ms(c->lab.far) + ms);
    str s = sb_dup(&b, c->a);
    sb_fini(&b);
    return s;
}

static void serve_sts(struct cloud *c, struct exchange *x)
{
    str action = lab_form(x, "Action"), role = lab_form(x, "RoleArn"), expires = after(c, c->lease_ms), key = key_of(x);
    bool web = str_is(action, "AssumeRoleWithWebIdentity");
    size_t n = strlen(c->roles);

    if (c->n_sts < ARRAY_LEN(c->refreshed_ms))
        c->refreshed_ms[c->n_sts] = world_now_ms(c->lab.far);
    c->n_sts++;
    if (c->sts_down) {
        lab_reply(
            x, 400,
            "<ErrorResponse><Error><Code>AccessDenied</Code><Message>not today</Message></Error></ErrorResponse>");
        return;
    }
    if (web && (key.n || !str_is(lab_form(x, "WebIdentityToken"), c->web_token))) {
        lab_reply(
            x, 400,
            "<ErrorResponse><Error><Code>ExpiredTokenException</Code><Message>old token</Message></Error></ErrorResponse>");
        return;
    }
    (void)snprintf(c->roles + n, sizeof(c->roles) - n, STR_FMT ">" STR_FMT "%s" STR_FMT " ", STR_ARG(key),
                   STR_ARG(role), lab_form(x, "ExternalId").n ? "+" : "", STR_ARG(lab_form(x, "ExternalId")));
    str body = arena_printf(
        c->a,
        "<R xmlns=\"https://sts.amazonaws.com/doc/2011-06-15/\"><" STR_FMT "Result><Credentials><AccessKeyId>K-" STR_FMT
        "</AccessKeyId><SecretAccessKey>hush</SecretAccessKey><SessionToken>t%u</SessionToken><Expiration>" STR_FMT
        "</Expiration></Credentials></" STR_FMT "Result></R>",
        STR_ARG(action), STR_ARG(role), c->n_sts, STR_ARG(expires), STR_ARG(action));
    lab_reply(x, 200, body.p);
}

static str lease_json(struct cloud *c, const char *id)
{
    return arena_printf(
        c->a,
        "{\"Code\":\"Success\",\"AccessKeyId\":\"%s\",\"SecretAccessKey\":\"hush\",\"Token\":\"t\",\"Expiration\":\"" STR_FMT
        "\"}",
        id, STR_ARG(after(c, c->lease_ms)));
}

static void serve_imds(struct cloud *c, struct exchange *x)
{
    bool has_token = str_is(http_header_get(x->headers, x->n_headers, "X-aws-ec2-metadata-token"), "v2");

    c->n_imds++;
    if (c->imds_down)
        lab_reply(x, 500, "");
    else if (strcmp(x->method, "PUT") == 0 && str_is(x->path, "/latest/api/token"))
        lab_reply(x, 200, "v2");
    else if (!has_token)
        lab_reply(x, 401, "");
    else if (str_is(x->path, "/latest/meta-data/iam/security-credentials/"))
        lab_reply(x, 200, "node-role\n");
    else if (str_is(x->path, "/latest/meta-data/iam/security-credentials/node-role"))
        lab_reply(x, 200, lease_json(c, "IMDS").p);
    else if (str_is(x->path, "/latest/dynamic/instance-identity/document"))
        lab_reply(x, 200, "{\"region\":\"eu-west-3\",\"instanceType\":\"m5.large\"}");
    else
        lab_reply(x, 404, "");
}

static void serve_container(struct cloud *c, struct exchange *x)
{
    str token = http_header_get(x->headers, x->n_headers, "Authorization");

    c->n_container++;
    lab_reply(
        x, 200,
        lease_json(
            c, arena_printf(c->a, "C-" STR_FMT "-" STR_FMT, STR_ARG(str_sub(x->path, 1, x->path.n)), STR_ARG(token)).p)
            .p);
}

static void serve(struct aws_lab *l, struct exchange *x)
{
    struct cloud *c = l->ctx;

    if (lab_is(x, "169.254.169.254")) {
        serve_imds(c, x);
    } else if (lab_is(x, "169.254.170.") || lab_is(x, "localhost")) {
        serve_container(c, x);
    } else if (lab_is(x, "sts.")) {
        serve_sts(c, x);
    } else if (lab_is(x, "portal.sso")) {
        bool good = str_is(http_header_get(x->headers, x->n_headers, "x-amz-sso_bearer_token"), "sso-token") &&
                    str_is(x->query, "account_id=12&role_name=dev");

        lab_reply(
            x, good ? 200 : 401,
            "{\"roleCredentials\":{\"accessKeyId\":\"SSO\",\"secretAccessKey\":\"hush\",\"sessionToken\":\"t\",\"expiration\":1893456000000}}");
    } else {
        c->n_calls++;
        c->last_id = arena_strdup(c->a, key_of(x));
        lab_reply(x, c->revoked ? 403 : 200,
                  c->revoked ? arena_printf(x->arena, "{\"__type\":\"%s\"}%c", c->revoked, 0).p : "{}");
        c->revoked = NULL;
    }
}

static void cloud_init(struct cloud *c, uint64_t seed, const char *const *vars)
{
    c->a = arena_new(0);
    c->lease_ms = HOUR_MS;
    if (!c->web_token)
        c->web_token = "web-token-1";
    aws_lab_init(&c->lab, seed, vars);
    c->lab.serve = serve;
    c->lab.ctx = c;
}

static void cloud_fini(struct cloud *c)
{
    aws_lab_fini(&c->lab);
    arena_free(c->a);
}

static bool call(struct cloud *c)
{
    struct aws_call k = {.service = AWS_SSM, .action = "GetParameter"};
    struct aws_answer got;
    AUTO(arena) struct arena *a = arena_new(0);
    bool ok = aws_do(c->lab.aws, &k, a, &got, &c->e);

    c->n_fine += ok;
    c->n_bad += !ok;
    return ok;
}

static void call_fiber(void *arg)
{
    (void)call(arg);
}

static void one_call(struct cloud *c)
{
    aws_lab_go(&c->lab, call_fiber, c);
    aws_lab_run(&c->lab, 10 * MINUTE_MS);
}

/* ---- which source it is ---- */

#define BASE "AWS_REGION=eu-west-3", "HOME=/h"
#define WEB "AWS_WEB_IDENTITY_TOKEN_FILE=/token", "AWS_ROLE_ARN=irsa"
#define KEYS(id) "aws_access_key_id = " id "\naws_secret_access_key = hush\n"

static const struct {
    const char *name, *vars[MAX_VARS], *config,
        *want;         /* the key that the call was signed with; "!…": the error's beginning */
    const char *roles; /* asked of STS */
} sources[] = {
    {"keys of the environment",
     {BASE, "AWS_ACCESS_KEY_ID=ENV", "AWS_SECRET_ACCESS_KEY=hush", WEB},
     "[default]\n" KEYS("FILE"),
     "ENV",
     ""},
    {"half a pair is none", {BASE, "AWS_ACCESS_KEY_ID=ENV", WEB}, NULL, "K-irsa", ">irsa "},
    {"web identity", {BASE, WEB}, "[default]\n" KEYS("FILE"), "K-irsa", ">irsa "},
    {"a chosen profile goes before it", {BASE, WEB, "AWS_PROFILE=dev"}, "[profile dev]\n" KEYS("FILE"), "FILE", ""},
    {"but not before keys",
     {BASE, "AWS_ACCESS_KEY_ID=ENV", "AWS_SECRET_ACCESS_KEY=hush", "AWS_PROFILE=dev"},
     "[profile dev]\n" KEYS("FILE"),
     "ENV",
     ""},
    {"the default profile",
     {BASE, "AWS_CONTAINER_CREDENTIALS_RELATIVE_URI=/x"},
     "[default]\n" KEYS("FILE"),
     "FILE",
     ""},
    {"a role of another profile",
     {BASE},
     "[default]\nrole_arn=r1\nsource_profile=b\nexternal_id=e\n[profile b]\n" KEYS("FILE"),
     "K-r1",
     "FILE>r1+e "},
    {"roles in a row",
     {BASE},
     "[default]\nrole_arn=r1\nsource_profile=b\n[profile b]\nrole_arn=r2\nsource_profile=c\n[profile c]\n" KEYS("FILE"),
     "K-r1",
     "FILE>r2 K-r2>r1 "},
    {"a role with its own keys",
     {BASE},
     "[default]\nrole_arn=r1\nsource_profile=default\n" KEYS("FILE"),
     "K-r1",
     "FILE>r1 "},
    {"a role of the instance",
     {BASE},
     "[default]\nrole_arn=r1\ncredential_source=Ec2InstanceMetadata\n",
     "K-r1",
     "IMDS>r1 "},
    {"a role of the container",
     {BASE, "AWS_CONTAINER_CREDENTIALS_RELATIVE_URI=/x"},
     "[default]\nrole_arn=r1\ncredential_source=EcsContainer\n",
     "K-r1",
     "C-x->r1 "},
    {"a web identity of a profile", {BASE}, "[default]\nrole_arn=r1\nweb_identity_token_file=/token\n", "K-r1", ">r1 "},
    {"a role of a profile with a web identity",
     {BASE},
     "[default]\nrole_arn=r1\nsource_profile=w\n[profile w]\nrole_arn=r2\nweb_identity_token_file=/token\n",
     "K-r1",
     ">r2 K-r2>r1 "},
    {"a container by a path", {BASE, "AWS_CONTAINER_CREDENTIALS_RELATIVE_URI=/v2/a"}, NULL, "C-v2", ""},
    {"EKS Pod Identity",
     {BASE, "AWS_CONTAINER_CREDENTIALS_FULL_URI=http://169.254.170.23/v1",
      "AWS_CONTAINER_AUTHORIZATION_TOKEN_FILE=/pod-token"},
     NULL,
     "C-v1-pod",
     ""},
    {"a token of the environment",
     {BASE, "AWS_CONTAINER_CREDENTIALS_FULL_URI=http://localhost:7777/y", "AWS_CONTAINER_AUTHORIZATION_TOKEN=tok"},
     NULL,
     "C-y-tok",
     ""},
    {"somebody else's host",
     {BASE, "AWS_CONTAINER_CREDENTIALS_FULL_URI=http://example.org/x"},
     NULL,
     "!SSM GetParameter: credentials from the container's endpoint (example.org): AWS_CONTAINER_CREDENTIALS_FULL_URI: neither https",
     ""},
    {"IMDS", {BASE}, NULL, "IMDS", ""},
    {"IMDS with a profile that has only a region", {BASE}, "[default]\nregion=x\n", "IMDS", ""},
    {"no IMDS",
     {BASE, "AWS_EC2_METADATA_DISABLED=true"},
     NULL,
     "!SSM GetParameter: credentials from the instance's role (nothing else is configured): AWS_EC2_METADATA_DISABLED is true",
     ""},
    {"single sign-on",
     {BASE, "AWS_PROFILE=s"},
     "[profile s]\nsso_session=corp\nsso_account_id=12\nsso_role_name=dev\n[sso-session corp]\nsso_region=eu-west-1\nsso_start_url=https://x\n",
     "SSO",
     ""},
    {"single sign-on without a login",
     {BASE},
     "[default]\nsso_start_url=https://other\nsso_region=eu-west-1\nsso_account_id=12\nsso_role_name=dev\n",
     "!SSM GetParameter: credentials from single sign-on (profile default): log in with `aws sso login`: ",
     ""},
    {"no role",
     {BASE, "AWS_WEB_IDENTITY_TOKEN_FILE=/token"},
     NULL,
     "!SSM GetParameter: credentials from web identity: AWS_WEB_IDENTITY_TOKEN_FILE needs AWS_ROLE_ARN",
     ""},
    {"no token",
     {BASE, "AWS_WEB_IDENTITY_TOKEN_FILE=/nope", "AWS_ROLE_ARN=irsa"},
     NULL,
     "!SSM GetParameter: credentials from web identity (irsa): /nope: No such file or directory",
     ""},
    {"half a pair in a file",
     {BASE},
     "[default]\naws_secret_access_key=hush\n",
     "!SSM GetParameter: credentials from the shared files: /h/.aws/config:2: aws_secret_access_key: without aws_access_key_id",
     ""},
    {"no such profile",
     {BASE},
     "[default]\nrole_arn=r\nsource_profile=x\n",
     "!SSM GetParameter: credentials from the shared files: /h/.aws/config:3: source_profile: there is no such profile",
     ""},
    {"round in circles",
     {BASE},
     "[default]\nrole_arn=r\nsource_profile=x\n[profile x]\nrole_arn=r\nsource_profile=default\n",
     "!SSM GetParameter: credentials from the shared files: /h/.aws/config:3: source_profile: leads back to itself",
     ""},
    {"a role in nobody's name",
     {BASE},
     "[default]\nrole_arn=r\n",
     "!SSM GetParameter: credentials from the shared files: /h/.aws/config:2: role_arn: needs source_profile, credential_source or ",
     ""},
    {"a code",
     {BASE},
     "[default]\nrole_arn=r\nsource_profile=default\nmfa_serial=m\n" KEYS("FILE"),
     "!SSM GetParameter: credentials from the shared files: /h/.aws/config:4: mfa_serial: there is nobody to ask for a code",
     ""},
    {"a program, where there are none",
     {BASE},
     "[default]\ncredential_process=/bin/keys\n",
     "!SSM GetParameter: credentials from credential_process of profile default: there are no programs in a simulated world",
     ""},
};

static void which_source_it_is(void **state)
{
    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(sources); i++) {
        struct cloud c = {0};

        aws_lab_file(&c.lab, "/h/.aws/config", sources[i].config);
        aws_lab_file(&c.lab, "/token", "web-token-1\n");
        aws_lab_file(&c.lab, "/pod-token", "pod\n");
        aws_lab_file(&c.lab, "/h/.aws/sso/cache/ee0bfd2552fbd840c02cc48b6e823320543c450f.json",
                     "{\"accessToken\":\"sso-token\",\"expiresAt\":\"2027-01-01T00:00:00Z\"}");
        cloud_init(&c, 1, sources[i].vars);
        one_call(&c);
        bool bad = sources[i].want[0] == '!';
        if (!bad)
            check_ok(sources[i].name, c.n_fine == 1, &c.e);
        check_str(sources[i].name,
                  bad ? str_sub(str_c(c.e.msg), 0, strlen(sources[i].want) - 1)
                      : str_sub(c.last_id, 0, strlen(sources[i].want)),
                  sources[i].want + bad);
        check_str(sources[i].name, str_c(c.roles), sources[i].roles);
        check_true("no secret is told", !strstr(c.e.msg, "hush"));
        check_true("nobody takes it for an answer", !bad || c.e.kind == ERR_DENIED || c.e.kind == ERR_IO);
        cloud_fini(&c);
    }
}

/* ---- renewal ---- */

static const char *const irsa[] = {BASE, WEB, NULL};

struct day {
    struct cloud *c;
    int64_t ms, step_ms;
};

static void calls_all_day(void *arg)
{
    struct day *d = arg;
    int64_t until_ms = world_now_ms(d->c->lab.near) + d->ms;

    while (world_now_ms(d->c->lab.near) < until_ms) {
        (void)call(d->c);
        fiber_sleep_us(d->c->lab.near, d->step_ms * 1000);
    }
}

/* The kubelet writes a new token every 50 minutes; STS takes no other from then on. */
static void tokens_all_day(void *arg)
{
    static const char *const tokens[] = {"web-token-1", "web-token-2", "web-token-3"};
    struct day *d = arg;

    for (int64_t i = 0; i < d->ms / d->step_ms; i++) {
        d->c->web_token = tokens[i % 3];
        aws_lab_file(&d->c->lab, "/token", tokens[i % 3]);
        fiber_sleep_us(d->c->lab.near, d->step_ms * 1000);
    }
}

static void a_day(void **state)
{
    struct cloud c = {0};
    struct day calls = {&c, 24 * HOUR_MS, 30 * SECOND_MS}, tokens = {&c, 24 * HOUR_MS, 50 * MINUTE_MS};

    (void)state;
    cloud_init(&c, 7, irsa);
    aws_lab_go(&c.lab, tokens_all_day, &tokens);
    aws_lab_go(&c.lab, calls_all_day, &calls);
    aws_lab_run(&c.lab, 25 * HOUR_MS);
    check_ok("every call went well", c.n_bad == 0, &c.e);
    check_u64("calls", c.n_fine, 2880);
    check_true("renewed about every 54 to 55 minutes", c.n_sts >= 26 && c.n_sts <= 27);
    for (uint32_t i = 1; i < c.n_sts; i++) {
        int64_t gap_ms = c.refreshed_ms[i] - c.refreshed_ms[i - 1];

        check_true("before the last five minutes, not long before",
                   gap_ms >= 54 * MINUTE_MS && gap_ms <= 55 * MINUTE_MS + 31 * SECOND_MS);
    }
    cloud_fini(&c);
}

static void replicas_do_not_come_at_once(void **state)
{
    int64_t least = INT64_MAX, most = 0;

    (void)state;
    for (uint64_t seed = 1; seed <= 40; seed++) {
        struct cloud c = {0};
        struct day calls = {&c, 3 * MINUTE_MS, SECOND_MS};

        aws_lab_file(&c.lab, "/token", "web-token-1");
        cloud_init(&c, seed, irsa);
        one_call(&c);
        sim_run_for(c.lab.sim, (53 * MINUTE_MS + 30 * SECOND_MS) * 1000);
        aws_lab_go(&c.lab, calls_all_day, &calls);
        aws_lab_run(&c.lab, HOUR_MS);
        check_u64("twice", c.n_sts, 2);
        least = MIN(least, c.refreshed_ms[1] - c.refreshed_ms[0]);
        most = MAX(most, c.refreshed_ms[1] - c.refreshed_ms[0]);
        cloud_fini(&c);
    }
    check_true("spread over most of a minute", most - least > 45 * SECOND_MS && most - least <= 62 * SECOND_MS);
}

static void leases_that_are_short(void **state)
{
    struct cloud c = {0};
    struct day calls = {&c, 10 * MINUTE_MS, SECOND_MS};

    (void)state;
    aws_lab_file(&c.lab, "/token", "web-token-1");
    cloud_init(&c, 1, irsa);
    c.lease_ms = MINUTE_MS;
    aws_lab_go(&c.lab, calls_all_day, &calls);
    aws_lab_run(&c.lab, HOUR_MS);
    check_u64("every call went well", c.n_bad, 0);
    check_true("renewed at half their time", c.n_sts >= 19 && c.n_sts <= 21);
    cloud_fini(&c);
}

/* Old ones are used to their end while new ones cannot be had. */
static void renewal_fails(void **state)
{
    struct cloud c = {0};
    struct day calls = {&c, 59 * MINUTE_MS, 5 * SECOND_MS};

    (void)state;
    aws_lab_file(&c.lab, "/token", "web-token-1");
    cloud_init(&c, 3, irsa);
    one_call(&c);
    c.sts_down = true;
    aws_lab_go(&c.lab, calls_all_day, &calls);
    aws_lab_run(&c.lab, HOUR_MS);
    check_ok("the old ones are good", c.n_bad == 0, &c.e);
    check_true("tried now and then", c.n_sts >= 6 && c.n_sts <= 20);
    calls.ms = 2 * MINUTE_MS;
    aws_lab_go(&c.lab, calls_all_day, &calls);
    aws_lab_run(&c.lab, HOUR_MS);
    check_true("not any more", c.n_bad > 0);
    check_str(
        "who and why", str_c(c.e.msg),
        "SSM GetParameter: credentials from web identity (irsa): STS AssumeRoleWithWebIdentity: AccessDenied: not today");
    check_i64("kind", c.e.kind, ERR_DENIED);
    check_str("it is not the call's own", str_c(c.e.code), "");
    c.sts_down = false;
    sim_run_for(c.lab.sim, 2000000);
    one_call(&c);
    check_str("soon after it is well again", c.last_id, "K-irsa");
    check_true("the token is not told", !strstr(c.e.msg, "web-token"));
    cloud_fini(&c);
}

static void one_asks_for_all(void **state)
{
    struct sim_faults slow = {.delay_us = {200000, 300000}};
    struct cloud c = {0};

    (void)state;
    aws_lab_file(&c.lab, "/token", "web-token-1");
    cloud_init(&c, 1, irsa);
    sim_set_faults(c.lab.sim, "https://sts.eu-west-3.amazonaws.com", &slow);
    for (int i = 0; i < 50; i++)
        aws_lab_go(&c.lab, call_fiber, &c);
    aws_lab_run(&c.lab, HOUR_MS);
    check_u64("all went well", c.n_fine, 50);
    check_u64("asked once", c.n_sts, 1);

    /* New ones are due: one fiber asks, the others do not even wait. */
    sim_run_for(c.lab.sim, 56 * MINUTE_MS * 1000);
    for (int i = 0; i < 50; i++)
        aws_lab_go(&c.lab, call_fiber, &c);
    sim_run_for(c.lab.sim, 100000);
    check_u64("those are through", c.n_fine, 99);
    aws_lab_run(&c.lab, HOUR_MS);
    check_u64("all went well", c.n_fine, 100);
    check_u64("asked once more", c.n_sts, 2);

    /* Nothing is good and nothing can be had: one is told no, and so are all. */
    c.sts_down = true;
    sim_run_for(c.lab.sim, 70 * MINUTE_MS * 1000);
    for (int i = 0; i < 50; i++)
        aws_lab_go(&c.lab, call_fiber, &c);
    aws_lab_run(&c.lab, HOUR_MS);
    check_u64("all failed", c.n_bad, 50);
    check_u64("asked once", c.n_sts, 3);
    cloud_fini(&c);
}

/* AWS says in the middle of a call that they have expired. */
static void expired_on_the_way(void **state)
{
    static const char *const words[] = {"ExpiredToken", "ExpiredTokenException", "RequestExpired"};
    struct cloud c;

    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(words); i++) {
        c = (struct cloud){0};
        aws_lab_file(&c.lab, "/token", "web-token-1");
        cloud_init(&c, 1, irsa);
        one_call(&c);
        c.revoked = words[i];
        one_call(&c);
        check_ok(words[i], c.n_fine == 2, &c.e);
        check_u64("two of them", c.n_sts, 2);
        check_u64("calls", c.n_calls, 3);
        cloud_fini(&c);
    }

    static const char *const fixed[] = {BASE, "AWS_ACCESS_KEY_ID=ENV", "AWS_SECRET_ACCESS_KEY=hush", NULL};
    c = (struct cloud){0};
    cloud_init(&c, 1, fixed);
    c.revoked = "ExpiredToken";
    one_call(&c);
    check_u64("keys that do not change are not tried again", c.n_calls, 1);
    cloud_fini(&c);
}

static void later_fiber(void *arg)
{
    struct cloud *c = arg;

    fiber_sleep_us(aws_world(c->lab.aws), 6 * MINUTE_MS * 1000);
    (void)call(c);
}

static void later_call(struct cloud *c)
{
    aws_lab_go(&c->lab, later_fiber, c);
    aws_lab_run(&c->lab, 10 * MINUTE_MS);
}

/* Whoever rotates the keys of a profile writes others into its file. */
static void keys_of_a_file_are_rotated(void **state)
{
    static const char *const vars[] = {BASE, NULL};
    static const char *const words[] = {"ExpiredToken", "AuthFailure", "UnrecognizedClientException"};
    struct cloud c = {0};

    (void)state;
    aws_lab_file(&c.lab, "/h/.aws/credentials", "[default]\n" KEYS("ONE"));
    cloud_init(&c, 1, vars);
    one_call(&c);
    check_str("at first", c.last_id, "ONE");
    aws_lab_file(&c.lab, "/h/.aws/credentials", "[default]\n" KEYS("TWO"));
    later_call(&c);
    check_str("a while later", c.last_id, "TWO");
    aws_lab_file(&c.lab, "/h/.aws/credentials", "[default]\n"); /* between two writes */
    later_call(&c);
    check_str("what it said last", c.last_id, "TWO");
    aws_lab_file(&c.lab, "/h/.aws/credentials", NULL);
    later_call(&c);
    check_str("what it said last", c.last_id, "TWO");
    check_u64("nobody was kept waiting", c.n_bad, 0);
    for (size_t i = 0; i < ARRAY_LEN(words); i++) {
        aws_lab_file(&c.lab, "/h/.aws/credentials", i % 2 ? "[default]\n" KEYS("ODD") : "[default]\n" KEYS("EVEN"));
        c.revoked = words[i];
        aws_lab_go(&c.lab, call_fiber, &c); /* at once: nobody has looked into the file yet */
        aws_lab_run(&c.lab, SECOND_MS);
        check_ok(words[i], c.n_bad == 0, &c.e);
        check_str(words[i], c.last_id, i % 2 ? "ODD" : "EVEN");
    }
    uint32_t before = c.n_calls;
    c.revoked = "AuthFailure";
    aws_lab_file(&c.lab, "/h/.aws/credentials", NULL);
    aws_lab_go(&c.lab, call_fiber, &c);
    aws_lab_run(&c.lab, SECOND_MS);
    check_u64("once more, with those that there are", c.n_calls - before, 2);
    cloud_fini(&c);
}

/* ---- IMDS ---- */

static void region_by_imds(void *arg)
{
    struct cloud *c = arg;

    c->n_fine = aws_find_region(c->lab.aws, &c->e);
}

static void regions(void **state)
{
    static const char *const none[] = {"HOME=/h", NULL}, *const off[] = {"AWS_EC2_METADATA_DISABLED=true", NULL};
    struct cloud c = {0};

    (void)state;
    cloud_init(&c, 1, none);
    aws_lab_go(&c.lab, region_by_imds, &c);
    aws_lab_run(&c.lab, MINUTE_MS);
    check_ok("found", c.n_fine, &c.e);
    check_str("found", aws_region(c.lab.aws), "eu-west-3");
    one_call(&c);
    check_str("used", c.last_id, "IMDS");
    cloud_fini(&c);

    c = (struct cloud){.imds_down = true};
    cloud_init(&c, 1, none);
    aws_lab_go(&c.lab, region_by_imds, &c);
    aws_lab_run(&c.lab, MINUTE_MS);
    check_str("not found", str_c(c.e.msg), "unable to determine region: IMDS: HTTP status 500 for latest/api/token");
    check_u64("three tries", c.n_imds, 3);
    cloud_fini(&c);

    c = (struct cloud){0};
    cloud_init(&c, 1, off);
    aws_lab_go(&c.lab, region_by_imds, &c);
    aws_lab_run(&c.lab, MINUTE_MS);
    check_str("turned off", str_c(c.e.msg), "unable to determine region: AWS_EC2_METADATA_DISABLED is true");
    cloud_fini(&c);
}

/* ---- what sources say ---- */

static void what_sources_say(void **state)
{
    static const struct lease_names names = {"AccessKeyId", "SecretAccessKey", "Token", "Expiration"};
    static const struct {
        const char *name, *text, *want;
    } cases[] = {
        {"all of it",
         "{\"AccessKeyId\":\"A\",\"SecretAccessKey\":\"s\",\"Token\":\"t\",\"Expiration\":\"2026-01-01T00:00:00Z\"}",
         ""},
        {"no time", "{\"AccessKeyId\":\"A\",\"SecretAccessKey\":\"s\"}", ""},
        {"not JSON", "secret", "an answer that is not JSON"},
        {"no key", "{\"SecretAccessKey\":\"s\"}", "an answer without AccessKeyId"},
        {"no secret", "{\"AccessKeyId\":\"A\"}", "an answer without SecretAccessKey"},
        {"a header of its own", "{\"AccessKeyId\":\"A\",\"SecretAccessKey\":\"s\",\"Token\":\"t\\r\\nX: y\"}",
         "an answer with characters that no key has"},
        {"a bad time", "{\"AccessKeyId\":\"A\",\"SecretAccessKey\":\"s\",\"Expiration\":\"soon\"}",
         "an answer whose Expiration is no time"},
        {"a bad number", "{\"AccessKeyId\":\"A\",\"SecretAccessKey\":\"s\",\"Expiration\":1.5}",
         "an answer whose Expiration is no time"},
    };

    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        AUTO(arena) struct arena *a = arena_new(0);
        struct lease l;
        struct err e = {0};

        check_true(cases[i].name, lease_read(a, str_c(cases[i].text), &names, &l, &e) == !cases[i].want[0]);
        check_str(cases[i].name, str_c(e.msg), cases[i].want);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(which_source_it_is),
        cmocka_unit_test(a_day),
        cmocka_unit_test(replicas_do_not_come_at_once),
        cmocka_unit_test(leases_that_are_short),
        cmocka_unit_test(renewal_fails),
        cmocka_unit_test(one_asks_for_all),
        cmocka_unit_test(expired_on_the_way),
        cmocka_unit_test(keys_of_a_file_are_rotated),
        cmocka_unit_test(regions),
        cmocka_unit_test(what_sources_say),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
