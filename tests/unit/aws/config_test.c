/* What the environment and the shared files say, and where calls go then. */
#include "aws/config.h"

#include "aws/config_int.h"
#include "aws/endpoint.h"
#include "base/file.h"
#include "support/aws_lab.h"
#include "support/check.h"

#define MAX_VARS 8

/* ---- one line about a configuration ---- */

static str print(struct arena *a, const struct aws_config *c)
{
    struct sb b = {0};

    sb_printf(&b, STR_FMT, STR_ARG(c->region));
    if (c->profile)
        sb_printf(&b, " profile=" STR_FMT, STR_ARG(c->profile->name));
    if (c->max_attempts != 3)
        sb_printf(&b, " attempts=%u", c->max_attempts);
    if (c->fips)
        sb_c(&b, " fips");
    if (c->dual_stack)
        sb_c(&b, " dual");
    if (c->imds_off)
        sb_c(&b, " noimds");
    if (!str_is(c->imds_url, "http://169.254.169.254"))
        sb_printf(&b, " imds=" STR_FMT, STR_ARG(c->imds_url));
    for (enum aws_service s = 0; s < AWS_N_SERVICES; s++)
        if (c->urls[s].n)
            sb_printf(&b, " %s=" STR_FMT, aws_service_id(s), STR_ARG(c->urls[s]));
    str s = sb_dup(&b, a);
    sb_fini(&b);
    return s;
}

#define FILES "AWS_CONFIG_FILE=/c", "AWS_SHARED_CREDENTIALS_FILE=/k"

static const struct {
    const char *name, *vars[MAX_VARS], *config, *want; /* "!…": the error */
} cases[] = {
    {"nothing", {NULL}, NULL, ""},
    {"a region", {"AWS_REGION=eu-west-3", "AWS_DEFAULT_REGION=x"}, NULL, "eu-west-3"},
    {"the other variable", {"AWS_DEFAULT_REGION=eu-west-3"}, NULL, "eu-west-3"},
    {"an empty variable is none", {"AWS_REGION=", "AWS_DEFAULT_REGION=eu-west-3"}, NULL, "eu-west-3"},
    {"of a file", {FILES}, "[default]\nregion=eu-west-1", "eu-west-1 profile=default"},
    {"the environment goes first", {FILES, "AWS_REGION=b"}, "[default]\nregion=a", "b profile=default"},
    {"home", {"HOME=/home/u"}, NULL, "of-home profile=default"},
    {"a profile", {FILES, "AWS_PROFILE=dev"}, "[profile dev]\nregion=eu-west-1", "eu-west-1 profile=dev"},
    {"no such profile", {FILES, "AWS_PROFILE=dev"}, "[profile x]", "!AWS_PROFILE: there is no profile \"dev\""},
    {"a malformed file", {FILES}, "[default]\nregion\n", "!/c:2: a line without \"=\""},
    {"no region", {"AWS_REGION=x.evil.org/"}, NULL, "!AWS_REGION: is no region"},
    {"no region in a file", {FILES}, "[default]\n\nregion = A B", "!/c:3: region: is no region"},
    {"attempts",
     {FILES, "AWS_MAX_ATTEMPTS=7", "AWS_RETRY_MODE=standard"},
     "[default]\nmax_attempts=2",
     " profile=default attempts=7"},
    {"attempts of a file", {FILES}, "[default]\nmax_attempts=2\nretry_mode=adaptive", " profile=default attempts=2"},
    {"no attempts means the usual", {"AWS_MAX_ATTEMPTS=0"}, NULL, ""},
    {"bad attempts", {"AWS_MAX_ATTEMPTS=many"}, NULL, "!AWS_MAX_ATTEMPTS: must be a number from 0 to 100"},
    {"a bad mode", {FILES}, "[default]\nretry_mode=legacy", "!/c:2: retry_mode: must be standard or adaptive"},
    {"fips and dual stack", {"AWS_USE_FIPS_ENDPOINT=TRUE", "AWS_USE_DUALSTACK_ENDPOINT=true"}, NULL, " fips dual"},
    {"not", {FILES, "AWS_USE_FIPS_ENDPOINT=false"}, "[default]\nuse_fips_endpoint=true", " profile=default"},
    {"neither", {"AWS_USE_FIPS_ENDPOINT=1"}, NULL, "!AWS_USE_FIPS_ENDPOINT: must be true or false"},
    {"no IMDS", {"AWS_EC2_METADATA_DISABLED=true"}, NULL, " noimds"},
    {"another IMDS", {"AWS_EC2_METADATA_SERVICE_ENDPOINT=http://localhost:1338/"}, NULL, " imds=http://localhost:1338"},
    {"IMDS of six", {"AWS_EC2_METADATA_SERVICE_ENDPOINT_MODE=IPv6"}, NULL, " imds=http://[fd00:ec2::254]"},
    {"a bad mode of IMDS",
     {"AWS_EC2_METADATA_SERVICE_ENDPOINT_MODE=7"},
     NULL,
     "!AWS_EC2_METADATA_SERVICE_ENDPOINT_MODE: must be IPv4 or IPv6"},
    {"one endpoint", {"AWS_ENDPOINT_URL_EC2=http://h:1/"}, NULL, " EC2=http://h:1"},
    {"a name of two words", {"AWS_ENDPOINT_URL_ARC_ZONAL_SHIFT=http://h"}, NULL, " ARC Zonal Shift=http://h"},
    {"all endpoints",
     {"AWS_ENDPOINT_URL=http://a", "AWS_ENDPOINT_URL_SQS=http://q"},
     NULL,
     " EC2=http://a IAM=http://a STS=http://a SSM=http://a SQS=http://q EKS=http://a Pricing=http://a ARC Zonal Shift=http://a"},
    {"endpoints of a file",
     {FILES},
     "[default]\nservices=s\n[services s]\nec2=\n endpoint_url=http://e\narc_zonal_shift =\n  endpoint_url = http://z\n",
     " profile=default EC2=http://e ARC Zonal Shift=http://z"},
    {"a file's for all, but one",
     {FILES, "AWS_ENDPOINT_URL_IAM=http://i"},
     "[default]\nendpoint_url=http://f\nservices=s\n[services s]\nec2=\n endpoint_url=http://e\n",
     " profile=default EC2=http://e IAM=http://i STS=http://f SSM=http://f SQS=http://f EKS=http://f Pricing=http://f ARC Zonal Shift=http://f"},
    {"none of them", {"AWS_ENDPOINT_URL=http://a", "AWS_IGNORE_CONFIGURED_ENDPOINT_URLS=true"}, NULL, ""},
    {"no such services", {FILES}, "[default]\nservices=s", "!/c:2: there is no section [services s]"},
    {"no url", {"AWS_ENDPOINT_URL_EC2=h:1"}, NULL, "!AWS_ENDPOINT_URL_EC2: must be an absolute http or https url"},
    {"no url in a file",
     {FILES},
     "[default]\nservices=s\n[services s]\nec2=\n endpoint_url=e\n",
     "!/c:5: endpoint_url: must be an absolute http or https url"},
    {"no authorities", {"AWS_CA_BUNDLE=/nope"}, NULL, "!AWS_CA_BUNDLE: /nope: No such file or directory"},
    {"authorities that are none", {"AWS_CA_BUNDLE=/pem"}, NULL, "!AWS_CA_BUNDLE: is no file of certificates"},
};

static void what_it_says(void **state)
{
    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        AUTO(arena) struct arena *a = arena_new(0);
        struct aws_lab l = {0};
        struct aws_environment env = aws_lab_environment(&l, cases[i].vars);
        struct err e = {0};

        aws_lab_file(&l, "/c", cases[i].config);
        aws_lab_file(&l, "/pem", "nothing");
        aws_lab_file(&l, "/home/u/.aws/config", "[default]\nregion=of-home\n");
        AUTO(aws_config) struct aws_config *c = aws_config_load(&env, &e);
        check_str(cases[i].name, c ? print(a, c) : arena_printf(a, "!%s", e.msg), cases[i].want);
        vec_fini(&l.files);
    }
}

static void how_calls_travel(void **state)
{
    static const char *const vars[] = {"AWS_CA_BUNDLE=/pem", "HTTPS_PROXY=http://p:1", "http_proxy=http://q:2",
                                       "NO_PROXY=.internal,10.0.0.0/8", NULL};
    struct aws_lab l = {0};
    struct aws_environment env = aws_lab_environment(&l, vars);
    struct err e;

    (void)state;
    aws_lab_file(&l, "/pem", "-----BEGIN CERTIFICATE-----\n");
    AUTO(aws_config) struct aws_config *c = aws_config_load(&env, &e);
    check_ok("load", c != NULL, &e);
    const struct http_trust *t = config_trust(c, STR("https://ec2.eu-west-3.amazonaws.com"));
    check_str("proxy", str_c(t->proxy), "http://p:1");
    check_str("authorities", str_c(t->ca_pem), "-----BEGIN CERTIFICATE-----\n");
    check_str("plain", str_c(config_trust(c, STR("http://a"))->proxy), "http://q:2");
    check_true("not this one", !config_trust(c, STR("https://a.internal/x"))->proxy);
    check_true("nor this one", !config_trust(c, STR("http://10.1.2.3:4566"))->proxy);
    check_true("nor loopback", !config_trust(c, STR("http://localhost:4566"))->proxy);
    vec_fini(&l.files);
}

/* ---- endpoints ---- */

static enum aws_service service_of(str id)
{
    for (enum aws_service s = 0; s < AWS_N_SERVICES; s++) {
        str name = str_c(aws_service_id(s));
        bool same = name.n == id.n;

        for (size_t i = 0; same && i < id.n; i++)
            same = id.p[i] == (name.p[i] == ' ' ? '_' : name.p[i]);
        if (same)
            return s;
    }
    check_true("a service", false);
    return 0;
}

static void where_services_are(void **state)
{
    AUTO(arena) struct arena *a = arena_new(0);
    static const char *const none[] = {NULL};
    struct aws_environment env = {.vars = none};
    struct err e;
    AUTO(aws_config) struct aws_config *c = aws_config_load(&env, &e);
    str text, line, f[6], rest;
    uint32_t n = 0;

    (void)state;
    check_ok("file", file_read(a, "tests/unit/aws/endpoints.txt", 1 << 20, &text, &e), &e);
    while (text.n) {
        struct aws_endpoint got;

        (void)str_cut(text, '\n', &line, &text);
        if (line.p[0] == '#')
            continue;
        rest = line;
        for (size_t i = 0; i < ARRAY_LEN(f); i++)
            (void)str_cut(rest, ' ', &f[i], &rest);
        c->fips = str_is(f[1], "1");
        c->dual_stack = str_is(f[2], "1");
        check_ok("endpoint", endpoint_of(c, f[3], service_of(f[0]), a, &got, &e), &e);
        str ours = arena_printf(a, STR_FMT " " STR_FMT " " STR_FMT " " STR_FMT " " STR_FMT " " STR_FMT, STR_ARG(f[0]),
                                STR_ARG(f[1]), STR_ARG(f[2]), STR_ARG(f[3]), STR_ARG(got.url), STR_ARG(got.region));
        check_str("endpoint", ours, arena_printf(a, STR_FMT, STR_ARG(line)).p);
        n++;
    }
    check_u64("lines", n, 480);
}

static void endpoints_of_ones_own(void **state)
{
    AUTO(arena) struct arena *a = arena_new(0);
    static const char *const vars[] = {"AWS_ENDPOINT_URL=http://localhost:4566/base/", NULL};
    struct aws_environment env = {.vars = vars};
    struct aws_endpoint got;
    struct err e;
    AUTO(aws_config) struct aws_config *c = aws_config_load(&env, &e);

    (void)state;
    check_ok("IAM", endpoint_of(c, STR("eu-west-3"), AWS_IAM, a, &got, &e), &e);
    check_str("url", got.url, "http://localhost:4566/base");
    check_str("host", got.host, "localhost:4566");
    check_str("path", got.path, "/base");
    check_str("region", got.region, "eu-west-3");
    check_ok("pricing", endpoint_of(c, STR("eu-west-3"), AWS_PRICING, a, &got, &e), &e);
    check_str("region", got.region, "eu-central-1");
    check_str("service", got.service, "pricing");
    check_true("no region", !endpoint_of(c, (str){0}, AWS_EC2, a, &got, &e));
    check_str("no region", str_c(e.msg), "no region is known: set AWS_REGION");
    c->fips = true;
    check_true("both", !endpoint_of(c, STR("eu-west-3"), AWS_EC2, a, &got, &e));
    check_i64("both", e.kind, ERR_INVALID);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_it_says),
        cmocka_unit_test(how_calls_travel),
        cmocka_unit_test(where_services_are),
        cmocka_unit_test(endpoints_of_ones_own),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
