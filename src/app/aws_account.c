#include "app/aws_account.h"

#include "base/file.h"
#include "data/edit.h"
#include "data/reader.h"
#include "model/duration.h"
#include "net/fiber.h"

#define BASE_URL "https://aws.test"
#define MAX_ACCOUNT (64u << 20)
#define SEED 1

static bool start_session(struct aws_account *x, bool once, struct err *e)
{
    const char *region = arena_printf(x->a, "AWS_REGION=" STR_FMT, STR_ARG(x->region)).p;
    const char *vars[] = {("AWS_ENDPOINT_URL=" BASE_URL),     "AWS_ACCESS_KEY_ID=AKIDEXAMPLE",
                          "AWS_SECRET_ACCESS_KEY=secret",     region,
                          once ? "AWS_MAX_ATTEMPTS=1" : NULL, NULL};
    struct aws_environment env = {.vars = vars};

    x->config = aws_config_load(&env, e);
    if (!x->config)
        return false;
    x->aws = aws_new(&(struct aws_options){.world = x->near, .config = x->config, .agent = "karpenter.sh"});
    return true;
}

static bool put_members(struct aws_account *x, const char *members, struct err *e)
{
    const struct tree *more;

    if (!tree_parse_json(x->a, "members", str_c(members), &more, e))
        return false;
    for (uint32_t i = 0; x->doc->kind == TREE_MAP && i < more->n; i++)
        *tree_put(x->a, x->doc, more->keys[i]) = more->items[i];
    return true;
}

static bool read_account(struct aws_account *x, const struct aws_account_options *o, struct err *e)
{
    const struct tree *doc;
    str text;

    if (!file_read(x->a, o->path, MAX_ACCOUNT, &text, e) || !tree_parse_json(x->a, o->path, text, &doc, e))
        return false;
    x->doc = tree_copy(x->a, doc);
    if (o->members && !put_members(x, o->members, e))
        return false;
    struct tree *cluster = x->doc->kind == TREE_MAP ? tree_sub(x->a, x->doc, "cluster") : NULL;
    if (!cluster)
        return err_set(e, ERR_INVALID, "%s: it has no cluster", o->path);
    if (o->cluster.n)
        tree_set_str(x->a, cluster, "name", arena_strdup(x->a, o->cluster));
    return true;
}

bool aws_account_open(struct aws_account *x, const struct aws_account_options *o, struct err *e)
{
    *x = (struct aws_account){.a = arena_new(0)};
    if (!read_account(x, o, e))
        return false;
    x->region = tree_str(tree_get(x->doc, "region"));
    if (!time_parse_rfc3339(tree_str(tree_get(x->doc, "now")), &x->now_ms, e))
        return err_wrap(e, "%s: now", o->path);
    x->sim = sim_new(SEED, x->now_ms);
    x->near = sim_process(x->sim, "karpenter");
    x->far = sim_process(x->sim, "aws");
    x->server = sim_aws_new(&(struct sim_aws_options){.world = x->far,
                                                      .account = x->doc,
                                                      .on_call = o->on_call,
                                                      .ctx = o->ctx,
                                                      .any_signature = true,
                                                      .unlimited = true,
                                                      .loose = !o->exact},
                            e);
    if (!x->server)
        return err_wrap(e, "%s", o->path);
    sim_mount(x->sim, BASE_URL, x->far, sim_aws_serve, x->server);
    return start_session(x, o->once, e);
}

void aws_account_stop(struct aws_account *x)
{
    if (!x->sim || world_dead(x->near))
        return;
    sim_kill(x->near);
    sim_run_for(x->sim, 1000000); /* what was under way unwinds */
}

void aws_account_fini(struct aws_account *x)
{
    aws_account_stop(x);
    aws_free(x->aws);
    aws_config_free(x->config);
    sim_aws_free(x->server);
    if (x->sim)
        sim_free(x->sim);
    arena_free(x->a);
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

bool aws_account_run(struct aws_account *x, void (*fn)(void *arg), void *arg)
{
    struct start s = {fn, arg, false};

    fiber_go(x->near, "command", begin, &s);
    while (!s.done && sim_step(x->sim))
        ;
    return s.done;
}
