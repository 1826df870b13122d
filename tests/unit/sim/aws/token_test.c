/* Bearer tokens of EKS: a call to STS, signed in its query. */
#include "aws/sigv4.h"
#include "base/b64.h"
#include "support/aws_account.h"
#include "support/check.h"

#define HOST "sts.us-west-2.amazonaws.com"

/* What is signed, and what is sent of it. */
struct made {
    const char *name, *action, *key, *secret, *scope, *headers, *cluster, *head;
    int64_t age_ms;
};

static const struct made good = {
    .action = "GetCallerIdentity",
    .key = "AKIDEXAMPLE",
    .secret = "secret",
    .scope = "us-west-2%2Fsts%2Faws4_request",
    .headers = "host%3Bx-k8s-aws-id",
    .cluster = "c1",
    .head = "k8s-aws-v1.",
};

static str make(struct arena *a, const struct made *m, str region)
{
    const struct http_header header = {.name = STR("x-k8s-aws-id"), .value = str_c(m->cluster)};
    str date = sigv4_date(a, ACCOUNT_START_MS - m->age_ms), names;
    struct sb b = {0};

    check_true("escaped well", url_decode(a, str_c(m->headers), true, &names));
    str query = arena_printf(a,
                             "Action=%s&Version=2011-06-15&X-Amz-Algorithm=AWS4-HMAC-SHA256&X-Amz-Credential=%s%%2F"
                             "%.8s%%2F%s&X-Amz-Date=" STR_FMT "&X-Amz-Expires=60&X-Amz-SignedHeaders=%s",
                             m->action, m->key, date.p, m->scope, STR_ARG(date), m->headers);
    struct sigv4_request r = {.method = "GET",
                              .host = STR(HOST),
                              .path = STR("/"),
                              .query = query,
                              .headers = &header,
                              .n_headers = 1,
                              .service = STR("sts"),
                              .region = region};
    str text = sigv4_string_to_sign(a, &r, date, sigv4_canonical(a, &r, names));
    str url = arena_printf(a, "https://" HOST "/?" STR_FMT "&X-Amz-Signature=" STR_FMT, STR_ARG(query),
                           STR_ARG(sigv4_signature(a, &r, date, str_c(m->secret), text)));

    sb_c(&b, m->head);
    b64url_encode(&b, url);
    str ret = sb_dup(&b, a);
    sb_fini(&b);
    return ret;
}

static void whose_tokens(void **state UNUSED)
{
    struct aws_account t;

    account_open(&t, 1, "{\"keys\":{\"AKIDEXAMPLE\":\"secret\"}}", NULL);
    str token = make(t.a, &good, STR("us-west-2"));
    str arn = sim_aws_token_user(t.aws, t.a, token, STR("c1"));
    check_true("it is the user's", str_starts(arn, STR("arn:aws:iam::")));
    check_str("for another cluster", sim_aws_token_user(t.aws, t.a, token, STR("c2")), "");
    check_str("cut off", sim_aws_token_user(t.aws, t.a, str_sub(token, 0, token.n - 8), STR("c1")), "");
    check_str("no text", sim_aws_token_user(t.aws, t.a, STR(""), STR("c1")), "");
    check_str("no base64", sim_aws_token_user(t.aws, t.a, STR("k8s-aws-v1.%%%"), STR("c1")), "");
    check_str("no address", sim_aws_token_user(t.aws, t.a, STR("k8s-aws-v1.aGVsbG8"), STR("c1")), "");
    account_run(&t, 14 * 60 * 1000);
    check_str("for 15 minutes", sim_aws_token_user(t.aws, t.a, token, STR("c1")), arn.p);
    account_run(&t, 2 * 60 * 1000);
    check_str("and no longer", sim_aws_token_user(t.aws, t.a, token, STR("c1")), "");
    account_close(&t);
}

static void nobodys_tokens(void **state UNUSED)
{
    static const struct made cases[] = {
        {.name = "another call", .action = "AssumeRole"},
        {.name = "a key of nobody", .key = "AKIDNOBODY"},
        {.name = "another secret", .secret = "guess"},
        {.name = "another service", .scope = "us-west-2%2Fec2%2Faws4_request"},
        {.name = "a header more", .headers = "host%3Bx-k8s-aws-id%3Bx-more"},
        {.name = "the cluster is not signed", .headers = "host"},
        {.name = "another kind of token", .head = "k8s-aws-v2."},
        {.name = "too old", .age_ms = 16 * 60 * 1000},
        {.name = "of tomorrow", .age_ms = -24 * 60 * 60 * 1000},
    };
    struct aws_account t;

    account_open(&t, 1, "{\"keys\":{\"AKIDEXAMPLE\":\"secret\"}}", NULL);
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        const struct made *c = &cases[i];
        struct made m = {
            .action = c->action ? c->action : good.action,
            .key = c->key ? c->key : good.key,
            .secret = c->secret ? c->secret : good.secret,
            .scope = c->scope ? c->scope : good.scope,
            .headers = c->headers ? c->headers : good.headers,
            .cluster = good.cluster,
            .head = c->head ? c->head : good.head,
            .age_ms = c->age_ms,
        };

        check_str(c->name, sim_aws_token_user(t.aws, t.a, make(t.a, &m, STR("us-west-2")), STR("c1")), "");
    }
    account_close(&t);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(whose_tokens), cmocka_unit_test(nobodys_tokens)};

    return cmocka_run_group_tests_name("sim/aws/token", tests, NULL, NULL);
}
