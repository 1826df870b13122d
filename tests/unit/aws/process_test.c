/* Keys from a program, and calls over sockets: what only the real world has. */
#include <stdio.h>
#include <stdlib.h>

#include "aws/client_int.h"
#include "base/file.h"
#include "net/fiber.h"
#include "net/loop.h"
#include "support/check.h"

struct bench {
    struct world *w;
    struct httpd *d;
    struct aws_config *config;
    struct aws *aws;
    char key[64], agent[64]; /* of the last request */
    struct err e;
    bool ok;
};

static void copy(char *to, size_t n, str s)
{
    (void)snprintf(to, n, STR_FMT, STR_ARG(s));
}

static void serve(void *server, struct exchange *x)
{
    struct bench *b = server;
    str auth = http_header_get(x->headers, x->n_headers, "Authorization"), rest;

    (void)str_cut(auth, '=', &rest, &auth);
    (void)str_cut(auth, '/', &auth, &rest);
    copy(b->key, sizeof(b->key), auth);
    copy(b->agent, sizeof(b->agent), http_header_get(x->headers, x->n_headers, "User-Agent"));
    reply_all(x, 200, "text/xml", STR("<R><a>1</a></R>"));
}

static void call(void *arg)
{
    AUTO(arena) struct arena *a = arena_new(0);
    struct bench *b = arg;
    struct aws_call k = {.service = AWS_EC2, .action = "DescribeSubnets"};
    struct aws_answer got;

    b->ok = aws_do(b->aws, &k, a, &got, &b->e) && str_is(tree_str(tree_get(got.tree, "a")), "1");
    world_quit(b->w);
}

static bool read_config(void *ctx, struct arena *a, const char *path, str *ret, struct err *e)
{
    if (strcmp(path, "/c") != 0)
        return err_set(e, ERR_NOT_FOUND, "%s: none", path);
    *ret = arena_printf(a, "[default]\nregion=eu-west-3\ncredential_process = %s\n", (const char *)ctx);
    return true;
}

static const struct {
    const char *name, *command, *want; /* "!…": the error */
} cases[] = {
    {"keys", "echo '{\"Version\":1,\"AccessKeyId\":\"PROG\",\"SecretAccessKey\":\"hush\"}'", "PROG"},
    {"a shell's words", "id=SH; printf '{\"Version\":1,\"AccessKeyId\":\"%s\",\"SecretAccessKey\":\"%s\"}' $id hush",
     "SH"},
    {"it fails", "echo cannot >&2; exit 3", "!it returned 3: cannot"},
    {"nonsense", "echo hush", "!what it writes is not JSON"},
    {"another version", "echo '{\"Version\":2}'", "!what it writes has not the Version 1"},
    {"expired",
     "echo '{\"Version\":1,\"AccessKeyId\":\"A\",\"SecretAccessKey\":\"hush\",\"Expiration\":\"2020-01-01T00:00:00Z\"}'",
     "!what it gave has expired already"},
};

static void programs(void **state)
{
    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        AUTO(arena) struct arena *a = arena_new(0);
        struct bench b = {.w = loop_new()};
        struct err e;

        b.d = httpd_listen(b.w, &(struct httpd_options){0}, serve, &b, &e);
        check_ok("listen", b.d != NULL, &e);
        const char *url = arena_printf(a, "AWS_ENDPOINT_URL=http://127.0.0.1:%u", httpd_port(b.d)).p,
                   *path = arena_printf(a, "PATH=%s", getenv("PATH")).p,
                   *vars[] = {url, path, "AWS_CONFIG_FILE=/c", NULL};
        struct aws_environment env = {vars, read_config, (void *)(uintptr_t)cases[i].command};
        b.config = aws_config_load(&env, &e);
        check_ok("load", b.config != NULL, &e);
        b.aws = aws_new(&(struct aws_options){.world = b.w, .config = b.config, .agent = "karpenter.sh-1.14.1"});
        fiber_go(b.w, "call", call, &b);
        world_run(b.w);
        if (cases[i].want[0] == '!') {
            check_str(cases[i].name, str_c(b.e.msg),
                      arena_printf(a, "EC2 DescribeSubnets: credentials from credential_process of profile default: %s",
                                   cases[i].want + 1)
                          .p);
            check_true("no secret is told", !strstr(b.e.msg, "hush"));
        } else {
            check_ok(cases[i].name, b.ok, &b.e);
            check_str(cases[i].name, str_c(b.key), cases[i].want);
            check_str("agent", str_c(b.agent), "karpenter/" KARPENTER_VERSION " karpenter.sh-1.14.1");
        }
        httpd_close(b.d);
        loop_free(b.w);
        aws_free(b.aws);
        aws_config_free(b.config);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(programs),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
