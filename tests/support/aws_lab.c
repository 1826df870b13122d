#include "support/aws_lab.h"

#include <stdlib.h>

#include "net/fiber.h"
#include "support/check.h"

#define START_MS INT64_C(1767225600000) /* 2026-01-01 */

static const char *const addresses[] = {"http://169.254.169.254",
                                        "http://169.254.170.2",
                                        "http://169.254.170.23",
                                        "http://localhost:7777",
                                        "https://aws.test",
                                        "https://sts.eu-west-3.amazonaws.com",
                                        "https://ssm.eu-west-3.amazonaws.com",
                                        "https://ec2.eu-west-3.amazonaws.com",
                                        "https://portal.sso.eu-west-1.amazonaws.com"};

static void serve(void *server, struct exchange *x)
{
    struct aws_lab *l = server;

    l->serve(l, x);
}

static bool read_file(void *ctx, struct arena *a, const char *path, str *ret, struct err *e)
{
    struct aws_lab *l = ctx;

    for (uint32_t i = l->files.n; i-- > 0;)
        if (strcmp(l->files.v[i].path, path) == 0 && l->files.v[i].text.p) {
            *ret = arena_strdup(a, l->files.v[i].text);
            return true;
        } else if (strcmp(l->files.v[i].path, path) == 0) {
            break;
        }
    return err_set(e, ERR_NOT_FOUND, "%s: No such file or directory", path);
}

void aws_lab_file(struct aws_lab *l, const char *path, const char *text)
{
    vec_push(&l->files, (struct lab_file){path, str_c(text)});
}

struct aws_environment aws_lab_environment(struct aws_lab *l, const char *const *vars)
{
    return (struct aws_environment){vars, read_file, l};
}

void aws_lab_init(struct aws_lab *l, uint64_t seed, const char *const *vars)
{
    struct aws_environment env = aws_lab_environment(l, vars);
    struct err e;

    l->sim = sim_new(seed, START_MS);
    l->near = sim_process(l->sim, "near");
    l->far = sim_process(l->sim, "far");
    for (size_t i = 0; i < ARRAY_LEN(addresses); i++)
        sim_mount(l->sim, addresses[i], l->far, serve, l);
    l->config = aws_config_load(&env, &e);
    check_ok("configuration", l->config != NULL, &e);
    l->aws = aws_new(&(struct aws_options){.world = l->near, .config = l->config, .agent = "karpenter.sh-1.14.1"});
}

void aws_lab_fini(struct aws_lab *l)
{
    sim_kill(l->near);
    sim_run_for(l->sim, 1000000);
    aws_free(l->aws);
    aws_config_free(l->config);
    sim_free(l->sim);
    vec_fini(&l->files);
}

struct start {
    struct aws_lab *l;
    void (*fn)(void *arg);
    void *arg;
};

static void begin(void *arg)
{
    struct start s = *(struct start *)arg;

    free(arg);
    s.fn(s.arg);
    s.l->n_running--;
}

void aws_lab_go(struct aws_lab *l, void (*fn)(void *arg), void *arg)
{
    struct start *s = xmalloc(sizeof(*s));

    *s = (struct start){l, fn, arg};
    l->n_running++;
    fiber_go(l->near, "lab", begin, s);
}

void aws_lab_run(struct aws_lab *l, int64_t ms)
{
    int64_t until_us = sim_now_us(l->sim) + ms * 1000;

    while (l->n_running && sim_now_us(l->sim) < until_us && sim_step(l->sim))
        ;
    check_u64("all is done", l->n_running, 0);
}

/* ---- for servers ---- */

bool lab_is(const struct exchange *x, const char *host)
{
    return str_starts(http_header_get(x->headers, x->n_headers, "Host"), str_c(host));
}

str lab_form(struct exchange *x, const char *name)
{
    str rest = x->body, key, value;
    bool bad;

    while (query_next(x->arena, &rest, &key, &value, &bad))
        if (str_is(key, name))
            return value;
    return (str){0};
}

void lab_reply(struct exchange *x, int status, const char *body)
{
    reply_all(x, status, body[0] == '<' ? "text/xml" : "application/json", str_c(body));
}
