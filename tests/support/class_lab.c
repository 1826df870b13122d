#include "support/class_lab.h"

#include <stdlib.h>

#include "data/edit.h"
#include "data/json.h"
#include "data/reader.h"
#include "support/check.h"

#define WORLD "tests/vectors/aws/world.json"

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

static void note_call(void *ctx, const struct sim_aws_call *c)
{
    struct class_lab *l = ctx;

    if (strcmp(c->action, "CreateLaunchTemplate") == 0)
        l->template = json_text(l->a, c->input);
    else if (strcmp(c->action, "RunInstances") == 0)
        l->run = json_text(l->a, c->input);
    else if (strcmp(c->action, "CreateFleet") == 0)
        l->fleet = json_text(l->a, c->input);
}

static void open_account(struct class_lab *l, const char *members, bool exact)
{
    const struct aws_account_options o = {
        .path = WORLD, .members = members, .exact = exact, .on_call = note_call, .ctx = l};
    struct err e;

    *l = (struct class_lab){0};
    check_ok("the account", aws_account_open(&l->account, &o, &e), &e);
    l->sim = l->account.sim;
    l->near = l->account.near;
    l->server = l->account.server;
    l->aws = l->account.aws;
    l->a = l->account.a;
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

void class_lab_open(struct class_lab *l, const char *members)
{
    open_account(l, members, /* exact= */ false);
}

void class_lab_open_exact(struct class_lab *l, const char *members)
{
    open_account(l, members, /* exact= */ true);
}

void class_lab_stop(struct class_lab *l)
{
    aws_account_stop(&l->account);
}

void class_lab_close(struct class_lab *l)
{
    class_lab_stop(l);
    ec2_found_free(l->p.found);
    ec2_profiles_free(l->p.profiles);
    syms_free(l->p.syms);
    arena_free(l->p.arena);
    aws_account_fini(&l->account);
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

void class_lab_go(struct class_lab *l, void (*fn)(void *arg), void *arg)
{
    check_true("the fiber came to its end", aws_account_run(&l->account, fn, arg));
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
