/* A request becomes a text (the canonical request), its hash becomes part of another (the string to sign), and that is signed with a
 * key derived from the secret, the day, the region and the service. AWS does the same with what arrives, so every byte of the first
 * text counts.
 */
#include "aws/sigv4.h"

#include <openssl/evp.h>
#include <openssl/hmac.h>

#include "base/vec.h"
#include "model/duration.h"

#define ALGORITHM "AWS4-HMAC-SHA256"
#define SHA256_BYTES 32
#define DAY_CHARS 8 /* at the beginning of an X-Amz-Date */

/* ---- hashes ---- */

static str hex_of(struct arena *a, const unsigned char *bytes, size_t n)
{
    static const char digits[] = "0123456789abcdef";
    char *s = arena_new_array(a, char, 2 * n);

    for (size_t i = 0; i < n; i++) {
        s[2 * i] = digits[bytes[i] >> 4];
        s[2 * i + 1] = digits[bytes[i] & 15];
    }
    return (str){s, 2 * n};
}

str sigv4_sha256(struct arena *a, str bytes)
{
    unsigned char sum[SHA256_BYTES];
    bool ok = EVP_Digest(bytes.p ? bytes.p : "", bytes.n, sum, NULL, EVP_sha256(), NULL) == 1;

    assert(ok);
    return hex_of(a, sum, sizeof(sum));
}

static void hmac(const void *key, size_t key_n, str text, unsigned char ret[SHA256_BYTES])
{
    bool ok = HMAC(EVP_sha256(), key, (int)key_n, (const unsigned char *)text.p, text.n, ret, NULL) != NULL;

    assert(ok);
}

/* ---- the canonical request ---- */

/* Without empty segments and ".", with ".." resolved; a slash at the end stays. */
static void tidy_path(struct sb *out, str path)
{
    VEC(str) kept = {0};
    str rest = path, part;

    while (rest.n) {
        (void)str_cut(rest, '/', &part, &rest);
        bool up = str_is(part, "..");

        if (up && kept.n)
            kept.n--;
        else if (!up && part.n && !str_is(part, "."))
            vec_push(&kept, part);
    }
    for (uint32_t i = 0; i < kept.n; i++) {
        sb_char(out, '/');
        sb_str(out, kept.v[i]);
    }
    if (!kept.n || str_ends(path, STR("/")))
        sb_char(out, '/');
    vec_fini(&kept);
}

static void put_path(struct sb *out, const struct sigv4_request *r)
{
    struct sb tidy = {0};
    str rest, part;

    if (r->plain_path) {
        sb_str(out, r->path.n ? r->path : STR("/"));
        return;
    }
    tidy_path(&tidy, r->path);
    for (rest = str_sub(sb_view(&tidy), 1, tidy.n); rest.n;) {
        sb_char(out, '/');
        bool more = str_cut(rest, '/', &part, &rest);
        url_encode(out, part);
        if (more && !rest.n)
            sb_char(out, '/');
    }
    if (tidy.n == 1)
        sb_char(out, '/');
    sb_fini(&tidy);
}

struct pair {
    str name, value;
};

static int by_pair(const void *x, const void *y, void *ctx UNUSED)
{
    const struct pair *a = x, *b = y;
    int c = str_cmp(a->name, b->name);

    return c ? c : str_cmp(a->value, b->value);
}

static str escaped(struct arena *a, str s)
{
    struct sb b = {0};
    str plain;

    url_encode(&b, url_decode(a, s, /* query= */ true, &plain) ? plain : s);
    str ret = sb_dup(&b, a);
    sb_fini(&b);
    return ret;
}

static void put_query(struct arena *a, struct sb *out, str query)
{
    VEC(struct pair) pairs = {0};
    str part, name, value;

    while (query.n) {
        (void)str_cut(query, '&', &part, &query);
        (void)str_cut(part, '=', &name, &value);
        if (part.n)
            vec_push(&pairs, (struct pair){escaped(a, name), escaped(a, value)});
    }
    sort_stable(pairs.v, pairs.n, sizeof(*pairs.v), by_pair, NULL);
    for (uint32_t i = 0; i < pairs.n; i++) {
        if (i)
            sb_char(out, '&');
        sb_str(out, pairs.v[i].name);
        sb_char(out, '=');
        sb_str(out, pairs.v[i].value);
    }
    vec_fini(&pairs);
}

static char lower(char c)
{
    return c >= 'A' && c <= 'Z' ? (char)(c - 'A' + 'a') : c;
}

static bool is_header(str name, str small)
{
    if (name.n != small.n)
        return false;
    for (size_t i = 0; i < name.n; i++)
        if (lower(name.p[i]) != small.p[i])
            return false;
    return true;
}

/* Blanks at the ends go, those in between become one. */
static void put_value(struct sb *out, str value)
{
    bool blank = false;

    value = str_trim(value);
    for (size_t i = 0; i < value.n; i++) {
        bool is_blank = value.p[i] == ' ' || value.p[i] == '\t' || value.p[i] == '\n' || value.p[i] == '\r';

        if (!is_blank)
            sb_char(out, value.p[i]);
        else if (!blank)
            sb_char(out, ' ');
        blank = is_blank;
    }
}

static void put_header(struct sb *out, const struct sigv4_request *r, str name)
{
    bool any = false;

    sb_str(out, name);
    sb_char(out, ':');
    if (str_is(name, "host"))
        put_value(out, r->host);
    for (uint32_t i = 0; i < r->n_headers && !str_is(name, "host"); i++)
        if (is_header(r->headers[i].name, name)) {
            if (any)
                sb_char(out, ',');
            put_value(out, r->headers[i].value);
            any = true;
        }
    sb_char(out, '\n');
}

str sigv4_canonical(struct arena *a, const struct sigv4_request *r, str signed_headers)
{
    struct sb b = {0};
    str rest = signed_headers, name, sum = http_header_get(r->headers, r->n_headers, "X-Amz-Content-Sha256");

    sb_c(&b, r->method);
    sb_char(&b, '\n');
    put_path(&b, r);
    sb_char(&b, '\n');
    put_query(a, &b, r->query);
    sb_char(&b, '\n');
    while (rest.n) {
        (void)str_cut(rest, ';', &name, &rest);
        put_header(&b, r, name);
    }
    sb_char(&b, '\n');
    sb_str(&b, signed_headers);
    sb_char(&b, '\n');
    sb_str(&b, sum.n ? sum : sigv4_sha256(a, r->body));
    str ret = sb_dup(&b, a);
    if (b.p)
        explicit_bzero(b.p, b.cap); /* a session token is in it */
    sb_fini(&b);
    return ret;
}

/* ---- the signature ---- */

static str scope_of(struct arena *a, const struct sigv4_request *r, str amz_date)
{
    return arena_printf(a, STR_FMT "/" STR_FMT "/" STR_FMT "/aws4_request", STR_ARG(str_sub(amz_date, 0, DAY_CHARS)),
                        STR_ARG(r->region), STR_ARG(r->service));
}

str sigv4_string_to_sign(struct arena *a, const struct sigv4_request *r, str amz_date, str canonical)
{
    str scope = scope_of(a, r, amz_date), sum = sigv4_sha256(a, canonical);

    return arena_printf(a, ALGORITHM "\n" STR_FMT "\n" STR_FMT "\n" STR_FMT, STR_ARG(amz_date), STR_ARG(scope),
                        STR_ARG(sum));
}

str sigv4_signature(struct arena *a, const struct sigv4_request *r, str amz_date, str secret, str string_to_sign)
{
    unsigned char key[SHA256_BYTES], next[SHA256_BYTES];
    const str steps[] = {r->region, r->service, STR("aws4_request"), string_to_sign};
    struct sb first = {0};

    sb_c(&first, "AWS4");
    sb_str(&first, secret);
    hmac(first.p, first.n, str_sub(amz_date, 0, DAY_CHARS), key);
    for (size_t i = 0; i < ARRAY_LEN(steps); i++) {
        hmac(key, sizeof(key), steps[i], next);
        memcpy(key, next, sizeof(key));
    }
    str ret = hex_of(a, key, sizeof(key));
    explicit_bzero(next, sizeof(next));
    explicit_bzero(first.p, first.cap);
    sb_fini(&first);
    return ret;
}

str sigv4_date(struct arena *a, int64_t ms)
{
    struct sb b = {0};
    char *p = arena_new_array(a, char, 32);
    size_t n = 0;

    time_print_rfc3339(&b, ms);
    for (size_t i = 0; i < b.n && n < 32; i++)
        if (b.p[i] != '-' && b.p[i] != ':')
            p[n++] = b.p[i];
    sb_fini(&b);
    return (str){p, n};
}

static int by_str(const void *x, const void *y, void *ctx UNUSED)
{
    return str_cmp(*(const str *)x, *(const str *)y);
}

/* "host;x-amz-date": each name once. */
static str names_of(struct arena *a, const struct http_header *h, uint32_t n)
{
    VEC(str) names = {0};
    struct sb b = {0};

    vec_push(&names, STR("host"));
    for (uint32_t i = 0; i < n; i++) {
        char *p = arena_new_array(a, char, h[i].name.n + 1);

        for (size_t k = 0; k < h[i].name.n; k++)
            p[k] = lower(h[i].name.p[k]);
        vec_push(&names, (str){p, h[i].name.n});
    }
    sort_stable(names.v, names.n, sizeof(*names.v), by_str, NULL);
    for (uint32_t i = 0; i < names.n; i++) {
        if (i && str_eq(names.v[i], names.v[i - 1]))
            continue;
        if (i)
            sb_char(&b, ';');
        sb_str(&b, names.v[i]);
    }
    str ret = sb_dup(&b, a);
    sb_fini(&b);
    vec_fini(&names);
    return ret;
}

uint32_t sigv4_sign(struct arena *a, const struct sigv4_request *r, const struct aws_keys *k, struct http_header ret[3])
{
    struct http_header *all = arena_new_array(a, struct http_header, r->n_headers + 2);
    struct sigv4_request whole = *r;
    str date = sigv4_date(a, r->now_ms);
    uint32_t n = 0;

    ret[n++] = (struct http_header){STR("X-Amz-Date"), date};
    if (k->token.n)
        ret[n++] = (struct http_header){STR("X-Amz-Security-Token"), k->token};
    if (r->n_headers)
        memcpy(all, r->headers, sizeof(*all) * r->n_headers);
    memcpy(all + r->n_headers, ret, sizeof(*all) * n);
    whole.headers = all;
    whole.n_headers = r->n_headers + n;
    str names = names_of(a, all, whole.n_headers), scope = scope_of(a, r, date);
    str text = sigv4_string_to_sign(a, r, date, sigv4_canonical(a, &whole, names));
    str signature = sigv4_signature(a, r, date, k->secret, text);
    str value =
        arena_printf(a, ALGORITHM " Credential=" STR_FMT "/" STR_FMT ", SignedHeaders=" STR_FMT ", Signature=" STR_FMT,
                     STR_ARG(k->id), STR_ARG(scope), STR_ARG(names), STR_ARG(signature));
    ret[n++] = (struct http_header){STR("Authorization"), value};
    return n;
}
