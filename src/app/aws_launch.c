/* aws-launch: what the provider asks of AWS for the EC2NodeClasses and NodeClaims of a file, and what comes of it, in the account of another file. */
#include <inttypes.h>

#include "app/aws_run.h"
#include "app/aws_vectors.h"
#include "data/json.h"

struct launch_step {
    const struct nodeclaim *claim;
    struct aws_step step;
    bool ok;
    struct machine machine;
    struct err e;
};

struct launches {
    VEC(struct launch_step) v;
};

/* Each to its end, in the order of the file. */
static bool launch_all(struct aws_run *r, struct err *e UNUSED)
{
    struct cloud *cloud = ec2_cloud(r->p);
    struct launches *l = r->ctx;

    for (uint32_t i = 0; i < r->objects->claims.n; i++) {
        struct launch_step s = {.claim = &r->objects->claims.v[i]};

        r->now = &s.step;
        s.ok = cloud->create(cloud->self, r->a, r->t, s.claim, NULL, &s.machine, &s.e);
        r->now = NULL;
        vec_push(&l->v, s);
    }
    return true;
}

/* ---- the answer ---- */

static void put_refused(struct jw *w, const struct aws_seen *c)
{
    if (c->error.n && !str_is(c->error, "DryRunOperation")) /* which is how a dry run goes well */
        aws_put_str(w, "error", c->error);
}

static void put_input(struct jw *w, const struct aws_seen *c)
{
    jw_map(w);
    for (uint32_t i = 0; i < c->input->n; i++) {
        jw_key_str(w, c->input->keys[i]);
        jw_tree(w, &c->input->items[i]);
    }
    put_refused(w, c);
    jw_end(w);
}

static bool is_template(const struct aws_seen *c)
{
    return strcmp(c->action, "CreateLaunchTemplate") == 0;
}

static bool is_fleet(const struct aws_seen *c)
{
    return strcmp(c->action, "CreateFleet") == 0 && !tree_is_true(tree_get(c->input, "DryRun"));
}

static void put_requests(struct jw *w, const char *key, const struct aws_step *s,
                         bool (*which)(const struct aws_seen *c))
{
    jw_key(w, key);
    jw_list(w);
    for (uint32_t i = 0; i < s->calls.n; i++)
        if (which(&s->calls.v[i]))
            put_input(w, &s->calls.v[i]);
    jw_end(w);
}

static void put_calls(struct jw *w, const struct aws_step *s)
{
    jw_key(w, "calls");
    jw_list(w);
    for (uint32_t i = 0; i < s->calls.n; i++) {
        const struct aws_seen *c = &s->calls.v[i];

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

static void put_class(struct jw *w, struct aws_run *r, const struct aws_class_step *s)
{
    struct err e;
    const struct ec2_class *k = ec2_class_decode(r->a, r->t, s->object, r->settings.cluster_name, &e);

    jw_map(w);
    aws_put_str(w, "name", tree_str(tree_at(s->object, "metadata", "name", NULL)));
    jw_key(w, "status");
    jw_tree(w, tree_get(s->object, "status"));
    put_requests(w, "launchTemplates", &s->step, is_template);
    put_calls(w, &s->step);
    if (k) {
        str ca = r->p->cluster.ca_bundle;

        jw_key(w, "hash");
        jw_map(w);
        aws_put_str(w, "v5", arena_printf(r->a, "%" PRIu64, ec2_class_hash_v5(k, ca)));
        aws_put_str(w, "v6", arena_printf(r->a, "%" PRIu64, ec2_class_hash(k, ca)));
        jw_end(w);
    }
    if (s->is.failed)
        aws_put_str(w, "reconcileError", str_c(s->is.err.msg));
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
    aws_put_str(w, "class", str_c(class));
    aws_put_str(w, "reason", told ? str_c(e->code) : STR(""));
    aws_put_str(w, "message", told ? str_c(e->msg) : STR(""));
    aws_put_str(w, "text", str_c(e->msg));
    jw_end(w);
}

static void put_machine(struct jw *w, const struct syms *t, const struct machine *m)
{
    jw_key(w, "result");
    jw_map(w);
    put_pairs(w, "labels", m->labels, m->n_labels);
    put_pairs(w, "annotations", m->annotations, m->n_annotations);
    aws_put_resources(w, t, "capacity", &m->capacity);
    aws_put_resources(w, t, "allocatable", &m->allocatable);
    aws_put_str(w, "providerID", m->provider_id);
    aws_put_str(w, "imageID", m->image_id);
    jw_end(w);
}

static void put_launch(struct jw *w, const struct syms *t, const struct launch_step *s)
{
    jw_map(w);
    aws_put_str(w, "nodeClaim", s->claim->name);
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

static void put_unavailable(struct jw *w, struct aws_run *r)
{
    str *offerings, *types, *subnets;
    uint32_t n_offerings, n_types, n_subnets;

    ec2_unavailable_list(r->p->unavailable, r->a, ec2_clock_ms(r->p), &offerings, &n_offerings, &types, &n_types,
                         &subnets, &n_subnets);
    jw_key(w, "unavailable");
    jw_map(w);
    put_list(w, "offerings", offerings, n_offerings);
    put_list(w, "capacityTypes", types, n_types);
    put_list(w, "subnets", subnets, n_subnets);
    jw_end(w);
}

static void print(struct aws_run *r, struct jw *w)
{
    const struct launches *l = r->ctx;

    jw_map(w);
    jw_key(w, "apiVersion");
    jw_c(w, "awslaunch.karpenter.sh/v1");
    jw_key(w, "nodeClasses");
    jw_list(w);
    for (uint32_t i = 0; i < r->classes.n; i++)
        put_class(w, r, &r->classes.v[i]);
    jw_end(w);
    jw_key(w, "launches");
    jw_list(w);
    for (uint32_t i = 0; i < l->v.n; i++)
        put_launch(w, r->t, &l->v.v[i]);
    jw_end(w);
    put_unavailable(w, r);
    jw_end(w);
}

int aws_launch(const struct cli_env *env UNUSED, int argc, char **argv)
{
    static const struct aws_command command = {"aws-launch", launch_all, print};
    struct launches l = {0};
    int status = aws_run_main(&command, &l, argc, argv);

    for (uint32_t i = 0; i < l.v.n; i++)
        vec_fini(&l.v.v[i].step.calls);
    vec_fini(&l.v);
    return status;
}
