/* aws-launch: what the provider asks of AWS for the EC2NodeClasses and NodeClaims of a file, and what comes of it, in the account of another file. */
#include <getopt.h>
#include <inttypes.h>
#include <stdio.h>

#include "app/aws_account.h"
#include "app/aws_settings.h"
#include "app/aws_vectors.h"
#include "base/vec.h"
#include "cloud/ec2/ec2_int.h"
#include "cloud/ec2/reconcile.h"
#include "data/edit.h"
#include "data/json.h"
#include "data/reader.h"
#include "k8s/decode.h"
#include "model/objects.h"

struct call { /* that AWS answered; what it was is copied */
    const char *service, *action;
    const struct tree *input;
    str error;
};

struct step { /* the reconciliation of a class, or a launch */
    VEC(struct call) calls;
};

struct class_step {
    struct tree *object;
    struct step step;
    struct ec2_reconciled is;
};

struct launch_step {
    const struct nodeclaim *claim;
    struct step step;
    bool ok;
    struct machine machine;
    struct err e;
};

struct job {
    struct aws_account account;
    struct arena *a;
    struct syms *t;
    struct objects *objects;
    struct ec2_settings settings;
    struct ec2 *p;
    VEC(struct class_step) classes;
    VEC(struct launch_step) launches;
    struct step *now; /* whose calls are being made; NULL: nobody's */
    bool ok;
    struct err e;
};

/* ---- the host of the provider ---- */

static struct tree *class_object(void *ctx, struct arena *a, str name)
{
    struct job *j = ctx;

    for (uint32_t i = 0; i < j->classes.n; i++)
        if (str_eq(tree_str(tree_at(j->classes.v[i].object, "metadata", "name", NULL)), name))
            return tree_copy(a, j->classes.v[i].object);
    return NULL;
}

static void each_class(void *ctx, void (*fn)(void *arg, str name), void *arg)
{
    struct job *j = ctx;

    for (uint32_t i = 0; i < j->classes.n; i++)
        fn(arg, tree_str(tree_at(j->classes.v[i].object, "metadata", "name", NULL)));
}

static void each_pool(void *ctx, void (*fn)(void *arg, const struct nodepool *p), void *arg)
{
    struct job *j = ctx;

    for (uint32_t i = 0; i < j->objects->pools.n; i++)
        fn(arg, &j->objects->pools.v[i]);
}

static bool kube_dns(void *ctx, struct arena *a, str *ret_ip, struct err *e)
{
    struct job *j = ctx;
    str ip = tree_str(tree_at(j->account.doc, "cluster", "kubeDNS", NULL));

    if (ip.n == 0)
        return err_set(e, ERR_NOT_FOUND, "there is no service kube-dns");
    *ret_ip = arena_strdup(a, ip);
    return true;
}

static void on_call(void *ctx, const struct sim_aws_call *c)
{
    struct job *j = ctx;

    if (j->now && c->mutating)
        vec_push(&j->now->calls,
                 (struct call){c->service, c->action, tree_copy(j->a, c->input), arena_strdup(j->a, c->error)});
}

/* ---- doing it ---- */

static void reconcile(struct job *j, struct class_step *s)
{
    const struct tree *meta = tree_get(s->object, "metadata");

    if (tree_at(s->object, "status", "conditions", NULL) || tree_get(meta, "deletionTimestamp"))
        return;
    j->now = &s->step;
    s->is = ec2_class_reconcile(j->p, j->a, s->object);
}

static void launch(struct job *j, struct launch_step *s)
{
    struct cloud *cloud = ec2_cloud(j->p);

    j->now = &s->step;
    s->ok = cloud->create(cloud->self, j->a, j->t, s->claim, NULL, &s->machine, &s->e);
}

static void work(void *arg)
{
    struct job *j = arg;

    j->ok = ec2_start(j->p, &j->e) && ec2_refresh_prices(j->p, &j->e);
    for (uint32_t i = 0; j->ok && i < j->classes.n; i++)
        reconcile(j, &j->classes.v[i]);
    for (uint32_t i = 0; j->ok && i < j->launches.n; i++)
        launch(j, &j->launches.v[i]);
}

/* ---- the answer ---- */

static void put_str(struct jw *w, const char *key, str value)
{
    jw_key(w, key);
    jw_str(w, value);
}

static void put_refused(struct jw *w, const struct call *c)
{
    if (c->error.n && !str_is(c->error, "DryRunOperation")) /* which is how a dry run goes well */
        put_str(w, "error", c->error);
}

static void put_input(struct jw *w, const struct call *c)
{
    jw_map(w);
    for (uint32_t i = 0; i < c->input->n; i++) {
        jw_key_str(w, c->input->keys[i]);
        jw_tree(w, &c->input->items[i]);
    }
    put_refused(w, c);
    jw_end(w);
}

static bool is_template(const struct call *c)
{
    return strcmp(c->action, "CreateLaunchTemplate") == 0;
}

static bool is_fleet(const struct call *c)
{
    return strcmp(c->action, "CreateFleet") == 0 && !tree_is_true(tree_get(c->input, "DryRun"));
}

static void put_requests(struct jw *w, const char *key, const struct step *s, bool (*which)(const struct call *c))
{
    jw_key(w, key);
    jw_list(w);
    for (uint32_t i = 0; i < s->calls.n; i++)
        if (which(&s->calls.v[i]))
            put_input(w, &s->calls.v[i]);
    jw_end(w);
}

static void put_calls(struct jw *w, const struct step *s)
{
    jw_key(w, "calls");
    jw_list(w);
    for (uint32_t i = 0; i < s->calls.n; i++) {
        const struct call *c = &s->calls.v[i];

        if (is_template(c) || is_fleet(c))
            continue;
        jw_map(w);
        jw_key(w, "api");
        struct sb api = {0};
        sb_printf(&api, "%s:%s", c->service, c->action);
        jw_str(w, sb_view(&api));
        sb_fini(&api);
        jw_key(w, "input");
        jw_tree(w, c->input);
        put_refused(w, c);
        jw_end(w);
    }
    jw_end(w);
}

static void put_class(struct jw *w, struct job *j, const struct class_step *s)
{
    struct err e;
    const struct ec2_class *k = ec2_class_decode(j->a, j->t, s->object, j->settings.cluster_name, &e);

    jw_map(w);
    put_str(w, "name", tree_str(tree_at(s->object, "metadata", "name", NULL)));
    jw_key(w, "status");
    jw_tree(w, tree_get(s->object, "status"));
    put_requests(w, "launchTemplates", &s->step, is_template);
    put_calls(w, &s->step);
    if (k) {
        str ca = j->p->cluster.ca_bundle;

        jw_key(w, "hash");
        jw_map(w);
        put_str(w, "v5", arena_printf(j->a, "%" PRIu64, ec2_class_hash_v5(k, ca)));
        put_str(w, "v6", arena_printf(j->a, "%" PRIu64, ec2_class_hash(k, ca)));
        jw_end(w);
    }
    if (s->is.failed)
        put_str(w, "reconcileError", str_c(s->is.err.msg));
    jw_end(w);
}

static void put_pairs(struct jw *w, const char *key, const struct annotation *v, uint32_t n)
{
    jw_key(w, key);
    jw_map(w);
    for (uint32_t i = 0; i < n; i++) {
        jw_key_str(w, v[i].key);
        jw_str(w, v[i].val);
    }
    jw_end(w);
}

static void put_resources(struct jw *w, const struct syms *t, const char *key, const struct reslist *l)
{
    struct sb b = {0};

    jw_key(w, key);
    reslist_print_json(&b, t, l);
    jw_raw(w, sb_view(&b));
    sb_fini(&b);
}

static const char *class_of_error(const struct err *e)
{
    if (e->kind == ERR_CAPACITY)
        return "InsufficientCapacity";
    if (strcmp(e->code, CLOUD_NOT_READY) == 0)
        return "NodeClassNotReady";
    if (e->kind == ERR_NOT_FOUND)
        return "NodeClaimNotFound";
    return e->code[0] ? "CreateError" : "Error";
}

static void put_error(struct jw *w, const struct err *e)
{
    const char *class = class_of_error(e);
    bool told = strcmp(class, "CreateError") == 0;

    jw_key(w, "error");
    jw_map(w);
    put_str(w, "class", str_c(class));
    put_str(w, "reason", told ? str_c(e->code) : STR(""));
    put_str(w, "message", told ? str_c(e->msg) : STR(""));
    put_str(w, "text", str_c(e->msg));
    jw_end(w);
}

static void put_machine(struct jw *w, const struct syms *t, const struct machine *m)
{
    jw_key(w, "result");
    jw_map(w);
    put_pairs(w, "labels", m->labels, m->n_labels);
    put_pairs(w, "annotations", m->annotations, m->n_annotations);
    put_resources(w, t, "capacity", &m->capacity);
    put_resources(w, t, "allocatable", &m->allocatable);
    put_str(w, "providerID", m->provider_id);
    put_str(w, "imageID", m->image_id);
    jw_end(w);
}

static void put_launch(struct jw *w, const struct syms *t, const struct launch_step *s)
{
    jw_map(w);
    put_str(w, "nodeClaim", s->claim->name);
    put_requests(w, "launchTemplates", &s->step, is_template);
    put_requests(w, "createFleet", &s->step, is_fleet);
    put_calls(w, &s->step);
    if (s->ok)
        put_machine(w, t, &s->machine);
    else
        put_error(w, &s->e);
    jw_end(w);
}

static void put_list(struct jw *w, const char *key, const str *v, uint32_t n)
{
    jw_key(w, key);
    jw_list(w);
    for (uint32_t i = 0; i < n; i++)
        jw_str(w, v[i]);
    jw_end(w);
}

static void put_unavailable(struct jw *w, struct job *j)
{
    str *offerings, *types, *subnets;
    uint32_t n_offerings, n_types, n_subnets;

    ec2_unavailable_list(j->p->unavailable, j->a, world_now_ms(j->account.near), &offerings, &n_offerings, &types,
                         &n_types, &subnets, &n_subnets);
    jw_key(w, "unavailable");
    jw_map(w);
    put_list(w, "offerings", offerings, n_offerings);
    put_list(w, "capacityTypes", types, n_types);
    put_list(w, "subnets", subnets, n_subnets);
    jw_end(w);
}

static void print_answer(struct job *j)
{
    struct sb b = {0};
    struct jw w = {.out = &b};

    jw_map(&w);
    jw_key(&w, "apiVersion");
    jw_c(&w, "awslaunch.karpenter.sh/v1");
    jw_key(&w, "nodeClasses");
    jw_list(&w);
    for (uint32_t i = 0; i < j->classes.n; i++)
        put_class(&w, j, &j->classes.v[i]);
    jw_end(&w);
    jw_key(&w, "launches");
    jw_list(&w);
    for (uint32_t i = 0; i < j->launches.n; i++)
        put_launch(&w, j->t, &j->launches.v[i]);
    jw_end(&w);
    put_unavailable(&w, j);
    jw_end(&w);
    (void)puts(sb_cstr(&b));
    sb_fini(&b);
}

/* ---- the command ---- */

static void add_class(struct job *j, const struct tree *object)
{
    struct class_step *s = vec_add(&j->classes);
    struct tree *meta;

    s->object = tree_copy(j->a, object);
    meta = tree_sub(j->a, s->object, "metadata");
    if (!tree_get(meta, "generation"))
        tree_set_i64(j->a, meta, "generation", 1);
}

static bool read_objects(struct job *j, const char *path, struct err *e)
{
    AUTO(reader) struct reader *r = reader_open(path, e);
    AUTO(decoder) struct decoder *d = decoder_new(j->objects);
    const struct tree *object;

    if (!r)
        return false;
    for (;;) {
        if (!reader_next(r, &object, e))
            return false;
        if (!object)
            break;
        if (str_is(tree_str(tree_get(object, "kind")), "EC2NodeClass"))
            add_class(j, object);
        else if (!k8s_decode(d, object, e))
            return err_wrap(e, "%s", path);
    }
    for (uint32_t i = 0; i < j->objects->claims.n; i++)
        ((struct launch_step *)vec_add(&j->launches))->claim = &j->objects->claims.v[i];
    return true;
}

/* The cluster of the account is ours, whatever we call it. */
static bool open_account(struct job *j, const char *world, const char *const *settings, uint32_t n, struct err *e)
{
    j->settings = aws_settings_default();
    for (uint32_t i = 0; i < n; i++)
        if (!aws_settings_put(&j->settings, j->a, settings[i], e))
            return false;
    struct aws_account_options o = {world, j->settings.cluster_name, on_call, j};
    if (!aws_account_open(&j->account, &o, e))
        return false;
    j->settings.cluster_name = tree_str(tree_at(j->account.doc, "cluster", "name", NULL));
    return true;
}

static bool run(struct job *j, const char *world, const char *objects, const char *const *settings, uint32_t n,
                struct err *e)
{
    if (!open_account(j, world, settings, n, e) || !read_objects(j, objects, e))
        return false;
    j->p = ec2_new(&(struct ec2_options){
        .world = j->account.near,
        .aws = j->account.aws,
        .syms = j->t,
        .settings = j->settings,
        .host = {.ctx = j,
                 .class_object = class_object,
                 .each_class = each_class,
                 .each_pool = each_pool,
                 .kube_dns = kube_dns,
                 .kube_ca = tree_str(tree_at(j->account.doc, "cluster", "caBundle", NULL))},
    });
    if (!aws_account_run(&j->account, work, j))
        return err_set(e, ERR_TIMEOUT, "the account does not answer");
    if (!j->ok) {
        *e = j->e;
        return false;
    }
    print_answer(j);
    return true;
}

static void job_fini(struct job *j)
{
    j->now = NULL;
    aws_account_stop(&j->account);
    if (j->p)
        ec2_cloud(j->p)->free(j->p);
    aws_account_fini(&j->account);
    for (uint32_t i = 0; i < j->classes.n; i++)
        vec_fini(&j->classes.v[i].step.calls);
    for (uint32_t i = 0; i < j->launches.n; i++)
        vec_fini(&j->launches.v[i].step.calls);
    vec_fini(&j->classes);
    vec_fini(&j->launches);
    objects_free(j->objects);
    syms_free(j->t);
    arena_free(j->a);
}

int aws_launch(const struct cli_env *env UNUSED, int argc, char **argv)
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
            ok = cli_bad_option("aws-launch", c, argv, &e);
    if (ok && (!world || !objects))
        ok = err_set(&e, ERR_INVALID, "aws-launch needs --world FILE and -f FILE");
    if (ok) {
        struct job j = {.a = arena_new(0), .t = syms_new()};

        j.objects = objects_new(j.t);
        ok = run(&j, world, objects, settings.v, settings.n, &e);
        job_fini(&j);
    }
    vec_fini(&settings);
    return ok ? 0 : cli_fail("%s", e.msg);
}
