#include "support/far.h"

#include <stdlib.h>

#include "net/fiber.h"
#include "sim/kube/crds.h"
#include "support/check.h"
#include "support/lab.h"

#define URL "https://kube"

struct refusal {
    const char *method, *path_end, *message;
    int code;
    uint32_t times;
};

struct far_impl {
    struct far far; /* first */
    struct lab *lab;
    struct kube_config *config;
    struct sb writes;
    VEC(struct refusal) refusals;
};

static struct far_impl *impl(struct far *f)
{
    return (struct far_impl *)f;
}

static void note(struct far_impl *x, const struct exchange *e)
{
    static const char *const methods[] = {"POST", "PUT", "PATCH", "DELETE"};
    str path = e->path;

    for (size_t i = 0; i < ARRAY_LEN(methods); i++) {
        if (strcmp(e->method, methods[i]) != 0 || str_contains(path, STR("/events")))
            continue;
        for (const char *p = "/api/v1/\0/apis/karpenter.sh/v1/\0"; *p; p += strlen(p) + 1)
            if (str_starts(path, str_c(p)))
                path = str_sub(path, strlen(p), path.n);
        sb_printf(&x->writes, "%s " STR_FMT "%s" STR_FMT "\n", e->method, STR_ARG(path), e->body.n ? " " : "",
                  STR_ARG(e->body));
    }
}

static bool refuse(struct far_impl *x, struct exchange *e)
{
    for (uint32_t i = 0; i < x->refusals.n; i++) {
        struct refusal *r = &x->refusals.v[i];

        if (!r->times || strcmp(r->method, e->method) != 0 || !str_ends(e->path, str_c(r->path_end)))
            continue;
        r->times--;
        reply_all(e, r->code, "application/json",
                  arena_printf(e->arena,
                               "{\"kind\":\"Status\",\"apiVersion\":\"v1\",\"status\":\"Failure\",\"code\":%d,"
                               "\"message\":\"%s\",\"reason\":\"%s\"}",
                               r->code, r->message,
                               r->code == 409   ? "Conflict"
                               : r->code == 404 ? "NotFound"
                               : r->code == 429 ? "TooManyRequests"
                                                : "InternalError"));
        return true;
    }
    return false;
}

static void serve(void *ctx, struct exchange *e)
{
    struct far_impl *x = ctx;

    note(x, e);
    if (!refuse(x, e))
        kube_serve(x->lab->s->k, e);
}

void far_kill(struct far *f)
{
    if (!world_dead(f->world))
        sim_kill(f->world);
    sim_run_for(f->sim, 1000);
}

static void end(struct far *f)
{
    struct far_impl *x = impl(f);

    far_kill(f);
    api_free(f->api);
    kube_config_free(x->config);
    sim_run_for(f->sim, 1000);
    check_true("nothing is left of the program", sim_reap(f->world));
    f->world = NULL;
}

void far_start(struct far *f)
{
    struct far_impl *x = impl(f);

    if (f->world)
        end(f);
    f->world = sim_process(f->sim, "karpenter");
    x->config = kube_config_fixed(STR(URL), (str){0}, NULL);
    f->api = api_new(f->world, x->config, &(struct api_options){.user_agent = "test"});
}

struct far *far_new(uint64_t seed)
{
    struct far_impl *x = xcalloc(1, sizeof(*x));
    struct err e = {0};

    x->lab = lab_new(seed, &(struct cluster_options){0});
    x->far.sim = x->lab->s->sim;
    x->far.a = x->lab->a;
    check_ok("definitions", kube_load_crds(x->lab->s->k, &e), &e);
    sim_mount(x->far.sim, URL, x->lab->s->world, serve, x);
    far_start(&x->far);
    far_run(&x->far, 0.5);
    return &x->far;
}

void far_free(struct far *f)
{
    struct far_impl *x = impl(f);

    if (f->world)
        end(f);
    lab_free(x->lab);
    sb_fini(&x->writes);
    vec_fini(&x->refusals);
    free(x);
}

void far_run(struct far *f, double seconds)
{
    lab_run(impl(f)->lab, seconds);
}

struct job {
    void (*fn)(void *arg);
    void *arg;
    bool done;
};

static void job_run(void *arg)
{
    struct job *j = arg;

    j->fn(j->arg);
    j->done = true;
}

void far_do(struct far *f, void (*fn)(void *arg), void *arg)
{
    struct job *j = xcalloc(1, sizeof(*j));

    *j = (struct job){.fn = fn, .arg = arg};
    fiber_go(f->world, "test", job_run, j);
    for (int i = 0; i < 6000 && !j->done; i++)
        far_run(f, 0.01);
    check_true("done within a minute", j->done);
    free(j);
}

void far_apply(struct far *f, const char *yaml)
{
    lab_apply(impl(f)->lab, yaml);
}

str far_get(struct far *f, const char *plural, const char *name, const char *path)
{
    return lab_get(impl(f)->lab, plural, name, path);
}

void far_patch(struct far *f, const char *plural, const char *name, const char *patch)
{
    lab_patch(impl(f)->lab, plural, name, patch);
}

void far_patch_status(struct far *f, const char *plural, const char *name, const char *patch)
{
    lab_patch_status(impl(f)->lab, plural, name, patch);
}

void far_delete(struct far *f, const char *plural, const char *name)
{
    lab_delete(impl(f)->lab, plural, name);
}

uint32_t far_count(struct far *f, const char *plural, const char *prefix)
{
    return lab_count(impl(f)->lab, plural, prefix);
}

str far_condition(struct far *f, const char *plural, const char *name, const char *type)
{
    return lab_condition(impl(f)->lab, plural, name, type);
}

str far_events(struct far *f, const char *reason, const char *prefix)
{
    return lab_events(impl(f)->lab, reason, prefix);
}

static void first_name(void *ctx, const struct object *o)
{
    str *name = ctx;

    if (!name->n)
        *name = o->name;
}

str far_first(struct far *f, const char *plural)
{
    struct lab *l = impl(f)->lab;
    str name = {0};

    kube_each(l->s->k, server_kind(l->s, plural), (str){0}, first_name, &name);
    return arena_strdup(f->a, name);
}

void far_node_condition(struct far *f, const char *node, const char *type, const char *status)
{
    cluster_set_condition(impl(f)->lab->c, str_c(node), type, status, "Test", "set by a test");
}

str far_writes(struct far *f)
{
    struct far_impl *x = impl(f);
    str s = sb_dup(&x->writes, f->a);

    sb_reset(&x->writes);
    return s;
}

void far_refuse(struct far *f, const char *method, const char *path_end, int code, const char *message, uint32_t times)
{
    vec_push(&impl(f)->refusals, (struct refusal){method, path_end, message, code, times});
}
