#include "support/class_lab.h"

#include <stdlib.h>

#include "base/file.h"
#include "data/edit.h"
#include "data/json.h"
#include "data/reader.h"
#include "model/duration.h"
#include "net/fiber.h"
#include "support/check.h"

#define WORLD "tests/vectors/aws/world.json"
#define BASE_URL "https://aws.test"

static void each_class(void *ctx, void (*fn)(void *arg, str name), void *arg)
{
    struct class_lab *l = ctx;

    for (uint32_t i = 0; i < l->n_stored; i++)
        fn(arg, tree_str(tree_at(l->stored[i], "metadata", "name", NULL)));
}

static struct tree *class_object(void *ctx, struct arena *a, str name)
{
    struct class_lab *l = ctx;

    for (uint32_t i = 0; i < l->n_stored; i++)
        if (str_eq(tree_str(tree_at(l->stored[i], "metadata", "name", NULL)), name))
            return tree_copy(a, l->stored[i]);
    return NULL;
}

static const struct tree *parse(struct arena *a, str text)
{
    const struct tree *t = NULL;
    struct err e;

    check_ok("JSON", tree_parse_json(a, "test", text, &t, &e), &e);
    return t;
}

static const struct tree *account(struct class_lab *l, const char *members)
{
    struct err e;
    str text;

    check_ok("the account", file_read(l->a, WORLD, 64u << 20, &text, &e), &e);
    struct tree *doc = tree_copy(l->a, parse(l->a, text));
    if (members) {
        const struct tree *more = parse(l->a, str_c(members));

        for (uint32_t i = 0; i < more->n; i++)
            *tree_put(l->a, doc, more->keys[i]) = more->items[i];
    }
    return doc;
}

static void note_call(void *ctx, const struct sim_aws_call *c)
{
    struct class_lab *l = ctx;

    if (strcmp(c->action, "CreateLaunchTemplate") == 0)
        l->template = json_text(l->a, c->input);
    else if (strcmp(c->action, "RunInstances") == 0)
        l->run = json_text(l->a, c->input);
}

static void serve(struct class_lab *l, const struct tree *doc)
{
    static const char *const vars[] = {("AWS_ENDPOINT_URL=" BASE_URL), "AWS_ACCESS_KEY_ID=AKIDEXAMPLE",
                                       "AWS_SECRET_ACCESS_KEY=secret", "AWS_REGION=us-west-2", NULL};
    struct sim_aws_options o = {
        .account = doc, .on_call = note_call, .ctx = l, .any_signature = true, .unlimited = true, .loose = true};
    struct aws_environment env = {.vars = vars};
    int64_t now_ms;
    struct err e;

    check_ok("now", time_parse_rfc3339(tree_str(tree_get(doc, "now")), &now_ms, &e), &e);
    l->sim = sim_new(1, now_ms);
    l->near = sim_process(l->sim, "karpenter");
    l->far = o.world = sim_process(l->sim, "aws");
    l->server = sim_aws_new(&o, &e);
    check_ok("the account", l->server != NULL, &e);
    sim_mount(l->sim, BASE_URL, l->far, sim_aws_serve, l->server);
    l->config = aws_config_load(&env, &e);
    check_ok("the configuration", l->config != NULL, &e);
    l->aws = aws_new(&(struct aws_options){.world = l->near, .config = l->config, .agent = "karpenter.sh"});
}

void class_lab_open(struct class_lab *l, const char *members)
{
    *l = (struct class_lab){.a = arena_new(0)};
    serve(l, account(l, members));
    l->p = (struct ec2){
        .world = l->near,
        .aws = l->aws,
        .syms = syms_new(),
        .arena = arena_new(0),
        .settings = {.subnet_refresh_ms = 60000, .ami_refresh_ms = 60000, .reserved_capacity = true},
        .host = {.ctx = l, .each_class = each_class, .class_object = class_object},
        .cluster = {.name = STR("test-cluster"), .version = STR("1.32")},
        .profiles = ec2_profiles_new(),
    };
    l->p.found = ec2_found_new(&l->p);
}

void class_lab_stop(struct class_lab *l)
{
    if (world_dead(l->near))
        return;
    sim_kill(l->near);
    sim_run_for(l->sim, 1000000);
}

void class_lab_close(struct class_lab *l)
{
    class_lab_stop(l);
    ec2_found_free(l->p.found);
    ec2_profiles_free(l->p.profiles);
    aws_free(l->aws);
    aws_config_free(l->config);
    sim_aws_free(l->server);
    sim_free(l->sim);
    syms_free(l->p.syms);
    arena_free(l->p.arena);
    arena_free(l->a);
}

int class_lab_setup(void **state)
{
    struct class_lab *l = xcalloc(1, sizeof(*l));

    class_lab_open(l, NULL);
    *state = l;
    return 0;
}

int class_lab_teardown(void **state)
{
    class_lab_close(*state);
    free(*state);
    return 0;
}

void class_lab_run(struct class_lab *l, int64_t ms)
{
    sim_run_for(l->sim, ms * 1000);
}

uint64_t class_lab_calls(const struct class_lab *l, const char *action)
{
    return sim_aws_calls(l->server, action);
}

struct start {
    void (*fn)(void *arg);
    void *arg;
    bool done;
};

static void begin(void *arg)
{
    struct start *s = arg;

    s->fn(s->arg);
    s->done = true;
}

void class_lab_go(struct class_lab *l, void (*fn)(void *arg), void *arg)
{
    struct start s = {fn, arg, false};

    fiber_go(l->near, "test", begin, &s);
    while (!s.done && sim_step(l->sim))
        ;
    check_true("the fiber came to its end", s.done);
}

struct tree *class_lab_object(struct class_lab *l, const char *spec)
{
    return tree_copy(
        l->a,
        parse(l->a, arena_printf(l->a,
                                 "{\"apiVersion\":\"karpenter.k8s.aws/v1\",\"kind\":\"EC2NodeClass\",\"metadata\":{"
                                 "\"name\":\"default\",\"uid\":\"uid-1\",\"generation\":1},\"spec\":%s}",
                                 spec)));
}

struct ec2_class *class_lab_class(struct class_lab *l, const char *spec)
{
    struct err e;
    struct ec2_class *k = ec2_class_decode(l->a, l->p.syms, class_lab_object(l, spec), l->p.cluster.name, &e);

    check_ok(spec, k != NULL, &e);
    return k;
}
