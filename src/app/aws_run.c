#include "app/aws_run.h"

#include <getopt.h>
#include <stdio.h>

#include "app/aws_settings.h"
#include "cli/cli.h"
#include "data/edit.h"
#include "data/json.h"
#include "data/reader.h"
#include "k8s/decode.h"

/* ---- the host of the provider ---- */

static struct tree *class_object(void *ctx, struct arena *a, str name)
{
    struct aws_run *r = ctx;

    for (uint32_t i = 0; i < r->classes.n; i++)
        if (str_eq(tree_str(tree_at(r->classes.v[i].object, "metadata", "name", NULL)), name))
            return tree_copy(a, r->classes.v[i].object);
    return NULL;
}

static void each_class(void *ctx, void (*fn)(void *arg, str name), void *arg)
{
    struct aws_run *r = ctx;

    for (uint32_t i = 0; i < r->classes.n; i++)
        fn(arg, tree_str(tree_at(r->classes.v[i].object, "metadata", "name", NULL)));
}

static void each_pool(void *ctx, void (*fn)(void *arg, const struct nodepool *p), void *arg)
{
    struct aws_run *r = ctx;

    for (uint32_t i = 0; i < r->objects->pools.n; i++)
        fn(arg, &r->objects->pools.v[i]);
}

static bool kube_dns(void *ctx, struct arena *a, str *ret_ip, struct err *e)
{
    struct aws_run *r = ctx;
    str ip = tree_str(tree_at(r->account.doc, "cluster", "kubeDNS", NULL));

    if (ip.n == 0)
        return err_set(e, ERR_NOT_FOUND, "there is no service kube-dns");
    *ret_ip = arena_strdup(a, ip);
    return true;
}

static void on_call(void *ctx, const struct sim_aws_call *c)
{
    struct aws_run *r = ctx;

    if (r->now && c->mutating)
        vec_push(&r->now->calls,
                 (struct aws_seen){c->service, c->action, tree_copy(r->a, c->input), arena_strdup(r->a, c->error)});
}

/* ---- doing it ---- */

static void reconcile(struct aws_run *r, struct aws_class_step *s)
{
    const struct tree *meta = tree_get(s->object, "metadata");

    if (tree_at(s->object, "status", "conditions", NULL) || tree_get(meta, "deletionTimestamp"))
        return;
    r->now = &s->step;
    s->is = ec2_class_reconcile(r->p, r->a, s->object);
}

static void work(void *arg)
{
    struct aws_run *r = arg;

    r->ok = ec2_start(r->p, &r->e) && ec2_refresh_prices(r->p, &r->e);
    for (uint32_t i = 0; r->ok && i < r->classes.n; i++)
        reconcile(r, &r->classes.v[i]);
    r->ok = r->ok && r->command->work(r, &r->e);
}

/* ---- the answer ---- */

void aws_put_str(struct jw *w, const char *key, str value)
{
    jw_key(w, key);
    jw_str(w, value);
}

void aws_put_resources(struct jw *w, const struct syms *t, const char *key, const struct reslist *l)
{
    struct sb b = {0};

    jw_key(w, key);
    reslist_print_json(&b, t, l);
    jw_raw(w, sb_view(&b));
    sb_fini(&b);
}

static void print_answer(struct aws_run *r)
{
    struct sb b = {0};
    struct jw w = {.out = &b};

    r->command->print(r, &w);
    (void)puts(sb_cstr(&b));
    sb_fini(&b);
}

/* ---- the command ---- */

static void add_class(struct aws_run *r, const struct tree *object)
{
    struct aws_class_step *s = vec_add(&r->classes);
    struct tree *meta;

    s->object = tree_copy(r->a, object);
    meta = tree_sub(r->a, s->object, "metadata");
    if (!tree_get(meta, "generation"))
        tree_set_i64(r->a, meta, "generation", 1);
}

static bool read_objects(struct aws_run *r, const char *path, struct err *e)
{
    AUTO(reader) struct reader *in = reader_open(path, e);
    AUTO(decoder) struct decoder *d = decoder_new(r->objects);
    const struct tree *object;

    if (!in)
        return false;
    for (;;) {
        if (!reader_next(in, &object, e))
            return false;
        if (!object)
            break;
        if (str_is(tree_str(tree_get(object, "kind")), "EC2NodeClass"))
            add_class(r, object);
        else if (!k8s_decode(d, object, e))
            return err_wrap(e, "%s", path);
    }
    return true;
}

/* The cluster of the account is ours, whatever we call it. */
static bool open_account(struct aws_run *r, const char *world, const char *const *settings, uint32_t n, struct err *e)
{
    r->settings = aws_settings_default();
    for (uint32_t i = 0; i < n; i++)
        if (!aws_settings_put(&r->settings, r->a, settings[i], e))
            return false;
    struct aws_account_options o = {
        .path = world, .cluster = r->settings.cluster_name, .once = true, .on_call = on_call, .ctx = r};
    if (!aws_account_open(&r->account, &o, e))
        return false;
    r->settings.cluster_name = tree_str(tree_at(r->account.doc, "cluster", "name", NULL));
    return true;
}

static bool run(struct aws_run *r, const char *world, const char *objects, const char *const *settings, uint32_t n,
                struct err *e)
{
    if (!open_account(r, world, settings, n, e) || !read_objects(r, objects, e))
        return false;
    r->p = ec2_new(&(struct ec2_options){
        .world = r->account.near,
        .aws = r->account.aws,
        .syms = r->t,
        .settings = r->settings,
        .host = {.ctx = r,
                 .class_object = class_object,
                 .each_class = each_class,
                 .each_pool = each_pool,
                 .kube_dns = kube_dns,
                 .kube_ca = tree_str(tree_at(r->account.doc, "cluster", "caBundle", NULL))},
    });
    if (!aws_account_run(&r->account, work, r))
        return err_set(e, ERR_TIMEOUT, "the account does not answer");
    if (!r->ok) {
        *e = r->e;
        return false;
    }
    print_answer(r);
    return true;
}

static void run_fini(struct aws_run *r)
{
    r->now = NULL;
    aws_account_stop(&r->account);
    if (r->p)
        ec2_cloud(r->p)->free(r->p);
    aws_account_fini(&r->account);
    for (uint32_t i = 0; i < r->classes.n; i++)
        vec_fini(&r->classes.v[i].step.calls);
    vec_fini(&r->classes);
    objects_free(r->objects);
    syms_free(r->t);
    arena_free(r->a);
}

int aws_run_main(const struct aws_command *command, void *ctx, int argc, char **argv)
{
    static const struct option options[] = {{"filename", required_argument, NULL, 'f'},
                                            {"world", required_argument, NULL, 'w'},
                                            {"settings", required_argument, NULL, 's'},
                                            {"output", required_argument, NULL, 'o'},
                                            {0}};
    VEC(const char *) settings = {0};
    const char *world = NULL, *objects = NULL;
    bool ok = true;
    struct err e;
    int c;

    while (ok && (c = getopt_long(argc, argv, ":f:o:", options, NULL)) != -1)
        if (c == 'f')
            objects = optarg;
        else if (c == 'w')
            world = optarg;
        else if (c == 's')
            vec_push(&settings, optarg);
        else if (c != 'o')
            ok = cli_bad_option(command->name, c, argv, &e);
    if (ok && (!world || !objects))
        ok = err_set(&e, ERR_INVALID, "%s needs --world FILE and -f FILE", command->name);
    if (ok) {
        struct aws_run r = {.command = command, .ctx = ctx, .a = arena_new(0), .t = syms_new()};

        r.objects = objects_new(r.t);
        ok = run(&r, world, objects, settings.v, settings.n, &e);
        run_fini(&r);
    }
    vec_fini(&settings);
    return ok ? 0 : cli_fail("%s", e.msg);
}
