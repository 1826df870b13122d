/* signature - whether a request comes from whom it says: AWS Signature Version 4, from the side that checks. */
#include "aws/sigv4.h"

#include "model/duration.h"
#include "sim/aws/call.h"

#define MAX_SKEW_MS (5 * 60 * 1000LL)

/* The Authorization header, taken apart. */
struct claim {
    str key, date, region, service, signed_headers, signature;
};

static bool claim_read(const struct exchange *x, struct claim *ret)
{
    str h = http_header_get(x->headers, x->n_headers, "authorization"), part, name, value, scope = STR(""), end;

    *ret = (struct claim){0};
    if (!str_starts(h, STR("AWS4-HMAC-SHA256 ")))
        return false;
    for (h = str_sub(h, strlen("AWS4-HMAC-SHA256 "), h.n); h.n;) {
        (void)str_cut(h, ',', &part, &h);
        (void)str_cut(str_trim(part), '=', &name, &value);
        if (str_is(name, "Credential"))
            scope = value;
        else if (str_is(name, "SignedHeaders"))
            ret->signed_headers = value;
        else if (str_is(name, "Signature"))
            ret->signature = value;
    }
    return str_cut(scope, '/', &ret->key, &scope) && str_cut(scope, '/', &ret->date, &scope) &&
           str_cut(scope, '/', &ret->region, &scope) && str_cut(scope, '/', &ret->service, &end) &&
           str_is(end, "aws4_request") && ret->signed_headers.n && ret->signature.n;
}

str signature_service(const struct exchange *x)
{
    struct claim c;

    return claim_read(x, &c) ? c.service : STR("");
}

/* ---- how each protocol says no ---- */

enum no { NO_TOKEN, NO_KEY, NO_MATCH, NO_TIME, NO_LONGER };

static bool refuse(struct call *c, enum no why)
{
    static const struct {
        const char *code[3], *message; /* by protocol */
    } words[] = {
        [NO_TOKEN] = {{"MissingAuthenticationToken", "MissingAuthenticationToken",
                       "MissingAuthenticationTokenException"},
                      "Request is missing Authentication Token"},
        [NO_KEY] = {{"AuthFailure", "InvalidClientTokenId", "UnrecognizedClientException"},
                    "AWS was not able to validate the provided access credentials"},
        [NO_MATCH] = {{"SignatureDoesNotMatch", "SignatureDoesNotMatch", "InvalidSignatureException"},
                      "The request signature we calculated does not match the signature you provided."},
        [NO_TIME] = {{"RequestExpired", "SignatureDoesNotMatch", "InvalidSignatureException"},
                     "Signature expired or not yet current: the request's time is too far from now"},
        [NO_LONGER] = {{"RequestExpired", "ExpiredToken", "ExpiredTokenException"},
                       "The security token included in the request is expired"},
    };

    return call_fail(c, words[why].code[service_protocol(c->action->service)], "%s", words[why].message);
}

bool signature_date(str text, int64_t *ret_ms)
{
    char iso[24];
    struct err e;

    if (text.n != 16 || text.p[8] != 'T' || text.p[15] != 'Z')
        return false;
    (void)__builtin_snprintf(iso, sizeof(iso), "%.4s-%.2s-%.2sT%.2s:%.2s:%.2sZ", text.p, text.p + 4, text.p + 6,
                             text.p + 9, text.p + 11, text.p + 13);
    return time_parse_rfc3339(str_c(iso), ret_ms, &e);
}

static bool is_signed(str names, str header)
{
    str one;

    while (names.n) {
        (void)str_cut(names, ';', &one, &names);
        if (one.n == header.n) {
            size_t i = 0;

            while (i < one.n && (one.p[i] | 32) == (header.p[i] | 32))
                i++;
            if (i == one.n)
                return true;
        }
    }
    return false;
}

/* IAM and the price list are in few places, for all regions. */
static bool region_fits(const struct call *c, str region)
{
    enum service v = c->action->service;

    return v == IAM || v == PRICING || str_eq(region, c->s->region);
}

/* A hash of the body that was sent beside it is signed in its stead: then it must be the body's. */
static bool body_is_signed(const struct call *c)
{
    str said = http_header_get(c->x->headers, c->x->n_headers, "x-amz-content-sha256");

    return said.n == 0 || str_eq(said, sigv4_sha256(c->a, c->x->body));
}

static str expected(struct call *c, const struct claim *claim, str amz_date, const struct access_key *k)
{
    const struct exchange *x = c->x;
    struct http_header *h = arena_new_array(c->a, struct http_header, x->n_headers + 1);
    uint32_t n = 0;

    for (uint32_t i = 0; i < x->n_headers; i++)
        if (is_signed(claim->signed_headers, x->headers[i].name) && !is_signed(STR("host"), x->headers[i].name))
            h[n++] = x->headers[i];
    struct sigv4_request r = {
        .method = x->method,
        .host = http_header_get(x->headers, x->n_headers, "host"),
        .path = x->path,
        .query = x->query,
        .headers = h,
        .n_headers = n,
        .body = x->body,
        .service = claim->service,
        .region = claim->region,
    };
    str canonical = sigv4_canonical(c->a, &r, claim->signed_headers);
    str text = sigv4_string_to_sign(c->a, &r, amz_date, canonical);

    return sigv4_signature(c->a, &r, amz_date, str_c(k->secret), text);
}

bool signature_check(struct call *c)
{
    const struct exchange *x = c->x;
    str date = http_header_get(x->headers, x->n_headers, "x-amz-date");
    str token = http_header_get(x->headers, x->n_headers, "x-amz-security-token");
    int64_t at, now = account_now_ms(c->s);
    struct claim claim;

    if (!claim_read(x, &claim))
        return refuse(c, NO_TOKEN);
    const struct access_key *k = keys_find(c->s, claim.key);

    if (!k)
        return refuse(c, NO_KEY);
    if (!region_fits(c, claim.region))
        return refuse(c, NO_MATCH);
    if (!signature_date(date, &at) || !str_starts(date, claim.date))
        return refuse(c, NO_MATCH);
    if (at < now - MAX_SKEW_MS || at > now + MAX_SKEW_MS)
        return refuse(c, NO_TIME);
    if (!body_is_signed(c) || !is_signed(claim.signed_headers, STR("host")) ||
        !is_signed(claim.signed_headers, STR("x-amz-date")) || !str_eq(expected(c, &claim, date, k), claim.signature))
        return refuse(c, NO_MATCH);
    if (!str_is(token, k->token))
        return refuse(c, NO_KEY);
    if (k->expires_ms < now)
        return refuse(c, NO_LONGER);
    c->who = k;
    return true;
}
