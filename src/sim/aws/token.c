/* token - who comes into a cluster by a key of the account. A bearer token of EKS (`aws eks get-token`) is the address of a call to STS,
 * GetCallerIdentity, with its signature in the query. A header with the cluster's name is signed and not sent: the cluster knows it. */
#include "aws/sigv4.h"
#include "base/b64.h"
#include "sim/aws/call.h"

#define PREFIX "k8s-aws-v1."
#define MAX_TOKEN 4096u
#define CLUSTER_HEADER "x-k8s-aws-id"
#define GOOD_FOR_MS (15 * 60 * 1000LL) /* whatever the address itself says */

struct presigned {
    str host, path, query; /* query: without the signature */
    str action, algorithm, credential, date, names, signature, token;
};

static void keep(struct presigned *p, str name, str value)
{
    const struct {
        const char *name;
        str *at;
    } known[] = {
        {"Action", &p->action},
        {"X-Amz-Algorithm", &p->algorithm},
        {"X-Amz-Credential", &p->credential},
        {"X-Amz-Date", &p->date},
        {"X-Amz-SignedHeaders", &p->names},
        {"X-Amz-Signature", &p->signature},
        {"X-Amz-Security-Token", &p->token},
    };

    for (size_t i = 0; i < ARRAY_LEN(known); i++)
        if (str_is(name, known[i].name))
            *known[i].at = value;
}

static str without_signature(struct arena *a, str query)
{
    struct sb b = {0};
    str part;

    while (query.n) {
        (void)str_cut(query, '&', &part, &query);
        if (str_starts(part, STR("X-Amz-Signature=")))
            continue;
        sb_c(&b, b.n ? "&" : "");
        sb_str(&b, part);
    }
    str ret = sb_dup(&b, a);
    sb_fini(&b);
    return ret;
}

/* "https://sts.us-west-2.amazonaws.com/?Action=GetCallerIdentity&…" */
static bool presigned_read(struct arena *a, str url, struct presigned *ret)
{
    str scheme, rest, name, value, query;
    bool bad = false;

    *ret = (struct presigned){.path = STR("/")};
    if (!str_cut(url, ':', &scheme, &rest) || !str_starts(rest, STR("//")) ||
        !str_cut(str_sub(rest, 2, rest.n), '/', &ret->host, &rest) || !str_starts(rest, STR("?")))
        return false;
    query = str_sub(rest, 1, rest.n);
    ret->query = without_signature(a, query);
    while (query_next(a, &query, &name, &value, &bad))
        keep(ret, name, value);
    return !bad && str_is(ret->action, "GetCallerIdentity") && str_is(ret->algorithm, "AWS4-HMAC-SHA256");
}

static bool is_signed_by(struct arena *a, const struct presigned *p, const struct access_key *k, str region,
                         str cluster)
{
    const struct http_header header = {.name = STR(CLUSTER_HEADER), .value = cluster};
    struct sigv4_request r = {
        .method = "GET",
        .host = p->host,
        .path = p->path,
        .query = p->query,
        .headers = &header,
        .n_headers = 1,
        .service = STR("sts"),
        .region = region,
    };
    str text = sigv4_string_to_sign(a, &r, p->date, sigv4_canonical(a, &r, p->names));

    return str_eq(sigv4_signature(a, &r, p->date, str_c(k->secret), text), p->signature);
}

str sim_aws_token_user(const struct sim_aws *s, struct arena *a, str token, str cluster)
{
    struct sb url = {0};
    struct presigned p;
    str key, day, region, rest;
    int64_t at, now = account_now_ms(s);

    if (!str_starts(token, STR(PREFIX)) || token.n > MAX_TOKEN ||
        !b64url_decode(&url, str_sub(token, strlen(PREFIX), token.n))) {
        sb_fini(&url);
        return STR("");
    }
    bool ok = presigned_read(a, sb_dup(&url, a), &p) && str_cut(p.credential, '/', &key, &rest) &&
              str_cut(rest, '/', &day, &rest) && str_cut(rest, '/', &region, &rest) && str_is(rest, "sts/aws4_request");
    sb_fini(&url);
    const struct access_key *k = ok ? keys_find(s, key) : NULL;

    if (!k || !str_is(p.names, "host;" CLUSTER_HEADER) || !signature_date(p.date, &at) || !str_starts(p.date, day) ||
        at > now + GOOD_FOR_MS || at + GOOD_FOR_MS < now || k->expires_ms < now || !str_is(p.token, k->token) ||
        !is_signed_by(a, &p, k, region, cluster))
        return STR("");
    return str_c(k->arn);
}
