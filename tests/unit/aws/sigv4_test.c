/* AWS's own test suite, byte for byte, and a few things that it does not ask. */
#include "aws/sigv4.h"

#include <dirent.h>

#include "base/file.h"
#include "base/vec.h"
#include "data/reader.h"
#include "model/duration.h"
#include "support/check.h"

#define SUITE "tests/vectors/aws/sigv4/"

static str slurp(struct arena *a, str dir, const char *name)
{
    str text = {0};
    struct err e;
    const char *path = arena_printf(a, SUITE STR_FMT "/%s", STR_ARG(dir), name).p;

    check_ok(path, file_read(a, path, 1 << 20, &text, &e), &e);
    return text;
}

/* What is signed has been escaped for the wire before; of the suite's paths only blanks need that. */
static str with_escapes(struct arena *a, str path)
{
    struct sb b = {0};

    for (size_t i = 0; i < path.n; i++)
        if (path.p[i] == ' ')
            sb_c(&b, "%20");
        else
            sb_char(&b, path.p[i]);
    str s = sb_dup(&b, a);
    sb_fini(&b);
    return s;
}

/* "POST /path?query HTTP/1.1", headers, a blank line, the body. Host is taken out. */
static void read_request(struct arena *a, str text, struct sigv4_request *r)
{
    VEC(struct http_header) headers = {0};
    str line, method, target, name, value;

    (void)str_cut(text, '\n', &line, &text);
    (void)str_cut(line, ' ', &method, &target);
    r->method = arena_printf(a, STR_FMT, STR_ARG(method)).p;
    target.n -= strlen(" HTTP/1.1");
    (void)str_cut(target, '?', &r->path, &r->query);
    while (str_cut(text, '\n', &line, &r->body) || line.n) {
        text = r->body;
        if (!line.n)
            break;
        if (line.p[0] == ' ') {
            vec_last(&headers).value =
                arena_printf(a, STR_FMT "\n" STR_FMT, STR_ARG(vec_last(&headers).value), STR_ARG(line));
            continue;
        }
        (void)str_cut(line, ':', &name, &value);
        if (str_is(name, "Host"))
            r->host = value;
        else
            vec_push(&headers, (struct http_header){name, value});
    }
    r->headers = vec_to_arena(&headers, a);
    r->n_headers = headers.n;
    vec_fini(&headers);
}

static void add_header(struct arena *a, struct sigv4_request *r, str name, str value)
{
    struct http_header *h = arena_new_array(a, struct http_header, r->n_headers + 1);

    if (r->n_headers)
        memcpy(h, r->headers, sizeof(*h) * r->n_headers);
    h[r->n_headers++] = (struct http_header){name, value};
    r->headers = h;
}

static void check_case(str name)
{
    AUTO(arena) struct arena *a = arena_new(0);
    const char *c = arena_printf(a, STR_FMT, STR_ARG(name)).p;
    struct sigv4_request r = {0};
    struct http_header added[3];
    const struct tree *context, *k;
    struct err e;

    check_ok(c, tree_parse_json(a, c, slurp(a, name, "context.json"), &context, &e), &e);
    k = tree_get(context, "credentials");
    struct aws_keys keys = {tree_str(tree_get(k, "access_key_id")), tree_str(tree_get(k, "secret_access_key")),
                            tree_str(tree_get(k, "token"))};
    if (tree_is_true(tree_get(context, "omit_session_token")))
        keys.token = (str){0};
    read_request(a, slurp(a, name, "request.txt"), &r);
    r.service = tree_str(tree_get(context, "service"));
    r.region = tree_str(tree_get(context, "region"));
    r.plain_path = !tree_is_true(tree_get(context, "normalize"));
    if (r.plain_path)
        r.path = with_escapes(a, r.path);
    check_ok(c, time_parse_rfc3339(tree_str(tree_get(context, "timestamp")), &r.now_ms, &e), &e);
    if (tree_is_true(tree_get(context, "sign_body")))
        add_header(a, &r, STR("x-amz-content-sha256"), sigv4_sha256(a, r.body));

    uint32_t n = sigv4_sign(a, &r, &keys, added);
    str want = slurp(a, name, "header-signature.txt"), head, names, signature;
    check_u64(c, n, keys.token.n ? 3 : 2);
    check_true(c, str_cut(added[n - 1].value, '=', &head, &names)); /* Credential= … */
    (void)str_cut(names, '=', &head, &names);
    (void)str_cut(names, '=', &names, &signature);
    names.n -= strlen(", Signature");
    for (uint32_t i = 0; i + 1 < n; i++)
        add_header(a, &r, added[i].name, added[i].value);
    str canonical = sigv4_canonical(a, &r, names), date = sigv4_date(a, r.now_ms),
        text = sigv4_string_to_sign(a, &r, date, canonical);
    check_str(c, canonical, arena_printf(a, STR_FMT, STR_ARG(slurp(a, name, "header-canonical-request.txt"))).p);
    check_str(c, text, arena_printf(a, STR_FMT, STR_ARG(slurp(a, name, "header-string-to-sign.txt"))).p);
    check_str(c, signature, arena_printf(a, STR_FMT, STR_ARG(want)).p);
    check_true(c, str_eq(sigv4_signature(a, &r, date, keys.secret, text), signature));
}

static void test_suite(void **state)
{
    DIR *d = opendir(SUITE);
    uint32_t n = 0;

    (void)state;
    check_true(SUITE, d != NULL);
    for (struct dirent *f; (f = readdir(d));)
        if (f->d_name[0] != '.' && strcmp(f->d_name, "README.md") != 0) {
            check_case(str_c(f->d_name));
            n++;
        }
    (void)closedir(d);
    check_u64("cases", n, 38);
}

static void escaped_paths_are_escaped_again(void **state)
{
    AUTO(arena) struct arena *a = arena_new(0);
    struct sigv4_request r = {.method = "GET", .host = STR("h"), .path = STR("/managedresources/arn%3Aaws%3Aeks")};

    (void)state;
    check_true("twice",
               str_contains(sigv4_canonical(a, &r, STR("host")), STR("\n/managedresources/arn%253Aaws%253Aeks\n")));
    r.plain_path = true;
    check_true("S3's way",
               str_contains(sigv4_canonical(a, &r, STR("host")), STR("\n/managedresources/arn%3Aaws%3Aeks\n")));
    r.path = (str){0};
    check_true("no path is the root", str_contains(sigv4_canonical(a, &r, STR("host")), STR("GET\n/\n")));
}

static void queries(void **state)
{
    static const struct {
        const char *name, *query, *want;
    } cases[] = {
        {"sorted by name, then by value", "b=2&a=2&a=1", "a=1&a=2&b=2"},
        {"a name alone", "foo", "foo="},
        {"escapes in capital letters", "a=%2f%3d", "a=%2F%3D"},
        {"a plus is a blank", "a=b+c", "a=b%20c"},
        {"a bad escape is taken as it is", "a=%zz", "a=%25zz"},
        {"nothing between two ampersands", "a=1&&b=2&", "a=1&b=2"},
    };

    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        AUTO(arena) struct arena *a = arena_new(0);
        struct sigv4_request r = {.method = "GET", .host = STR("h"), .path = STR("/"), .query = str_c(cases[i].query)};
        str line, rest;

        (void)str_cut(sigv4_canonical(a, &r, STR("host")), '\n', &line, &rest);
        (void)str_cut(rest, '\n', &line, &rest);
        (void)str_cut(rest, '\n', &line, &rest);
        check_str(cases[i].name, line, cases[i].want);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_suite),
        cmocka_unit_test(escaped_paths_are_escaped_again),
        cmocka_unit_test(queries),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
