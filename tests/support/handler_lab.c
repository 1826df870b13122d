#include "support/handler_lab.h"

#include <stdio.h>
#include <stdlib.h>

#include "support/check.h"

/* ---- the other side ---- */

static void serve_imds(void *server, struct exchange *x)
{
    struct handler_lab *s = server;

    s->n_asked++;
    s->n_tokens += strcmp(x->method, "PUT") == 0;
    if (s->stale && strcmp(x->method, "GET") == 0) {
        s->stale--;
        reply_all(x, 401, "text/plain", STR("Unauthorized"));
    } else if (s->deaf)
        reply_all(x, 500, "text/plain", STR("no"));
    else if (s->nonsense && str_ends(x->path, str_c(s->nonsense_at)))
        reply_all(x, 200, "text/plain", str_c(s->nonsense));
    else
        sim_aws_serve_machine(&s->local, x);
}

static void serve_hook(void *server, struct exchange *x)
{
    struct handler_lab *s = server;

    sb_printf(&s->posted, "%s [" STR_FMT "] " STR_FMT "\n", x->method,
              STR_ARG(http_header_get(x->headers, x->n_headers, "X-Secret")), STR_ARG(x->body));
    reply_all(x, 200, "text/plain", STR("ok"));
}

static void keep_line(void *ctx, str line)
{
    sb_str(&((struct handler_lab *)ctx)->lines, line);
}

static int64_t clock_ms(void *clock)
{
    return world_now_ms(clock);
}

static void on_end(void *ctx, int status)
{
    ((struct handler_lab *)ctx)->status = status;
}

#define NODE                                                                                                           \
    "apiVersion: v1\nkind: Node\nmetadata: {name: n0, annotations: {kwok.x-k8s.io/node: fake}}\n"                      \
    "spec: {providerID: 'aws:///us-west-2a/%s'}\n"                                                                     \
    "status: {capacity: {cpu: '4', memory: 16Gi, pods: '110'}, allocatable: {cpu: '4', memory: 16Gi, pods: '110'}}\n"

struct handler_lab *handler_lab_new(uint64_t seed)
{
    struct handler_lab *s = xcalloc(1, sizeof(*s));
    struct sim_aws_options o = {.any_signature = true, .unlimited = true};
    struct err e = {0};
    char node[1000];

    s->f = far_new(seed);
    s->t = (struct aws_account){.sim = s->f->sim, .far = sim_process(s->f->sim, "aws"), .a = s->f->a};
    s->t.near = s->t.far;
    o.world = s->t.far;
    o.account = account_tree(s->f->a, NULL);
    s->t.aws = sim_aws_new(&o, &e);
    check_ok("the account", s->t.aws != NULL, &e);
    sim_mount(s->f->sim, ACCOUNT_URL, s->t.far, sim_aws_serve, s->t.aws);
    sim_mount(s->f->sim, IMDS, s->t.far, serve_imds, s);
    sim_mount(s->f->sim, HOOK, s->t.far, serve_hook, s);
    const struct tree *r =
        account_do(&s->t, "ec2",
                   "Action=RunInstances&MinCount=1&MaxCount=1&ImageId=ami-x86&InstanceType=m5.large&SubnetId=subnet-a"
                   "&InstanceMarketOptions.MarketType=spot");
    str id = tree_str(tree_get(&tree_get(r, "instancesSet")->items[0], "instanceId"));
    s->local = (struct sim_aws_local){s->t.aws, arena_strdup(s->f->a, id)};
    s->config = kube_config_fixed(STR("https://kube"), (str){0}, NULL);
    (void)snprintf(node, sizeof(node), NODE, arena_printf(s->f->a, STR_FMT "%c", STR_ARG(id), 0).p);
    far_apply(s->f, node);
    far_run(s->f, 2);
    s->status = -1;
    return s;
}

static void stop(struct handler_lab *s)
{
    far_kill(s->f);
    handler_free(s->h);
    log_free(s->log);
    s->h = NULL;
    s->log = NULL;
}

/* env: name, value, …, NULL. */
void handler_lab_start(struct handler_lab *s, const char *const *env)
{
    static char command[] = "termination-handler", name[] = "--node-name=n0"; /* settings refer to them */
    char *argv[] = {command, name, NULL};
    struct err e;

    if (s->h) {
        stop(s);
        far_start(s->f);
    }
    check_ok("settings", handler_settings_parse(&s->settings, 2, argv, env, &e), &e);
    s->log = log_new(LOG_DEBUG, &(struct log_sink){s, keep_line}, clock_ms, s->f->world);
    s->h = handler_new(&(struct handler_setup){.world = s->f->world,
                                               .config = s->config,
                                               .settings = &s->settings,
                                               .log = s->log,
                                               .on_end = on_end,
                                               .ctx = s},
                       &e);
    check_ok("handler", s->h != NULL, &e);
    far_run(s->f, 5);
    (void)far_writes(s->f);
}

void handler_lab_free(struct handler_lab *s)
{
    if (s->h)
        stop(s);
    kube_config_free(s->config);
    sim_aws_free(s->t.aws);
    sb_fini(&s->lines);
    sb_fini(&s->posted);
    far_free(s->f);
    free(s);
}

int handler_lab_setup(void **state)
{
    *state = handler_lab_new(7);
    return 0;
}

int handler_lab_teardown(void **state)
{
    handler_lab_free(*state);
    return 0;
}

/* ---- looking ---- */

uint32_t handler_lab_told(const struct handler_lab *s, const char *what)
{
    str rest = sb_view(&s->lines), line;
    uint32_t n = 0;

    while (str_cut(rest, '\n', &line, &rest))
        n += str_contains(line, str_c(what));
    return n;
}

#define POD(name, label, meta, spec)                                                                                   \
    "apiVersion: v1\nkind: Pod\nmetadata: {name: " name ", labels: {app: " label "}" meta "}\n"                        \
    "spec: {nodeName: n0, terminationGracePeriodSeconds: 5, containers: [{name: c, image: i}]" spec "}\n---\n"
#define DAEMON                                                                                                         \
    "apiVersion: apps/v1\nkind: DaemonSet\nmetadata: {name: agent}\nspec:\n  selector: {matchLabels: {app: agent}}\n"  \
    "  template: {metadata: {labels: {app: agent}}, spec: {containers: [{name: c, image: i}]}}\n"

void handler_lab_pods(struct handler_lab *s)
{
    far_apply(s->f, POD("web", "web", "", "") POD("cache", "cache", "", ", volumes: [{name: v, emptyDir: {}}]")
                        POD("kept", "kept", "", "") DAEMON);
    far_run(s->f, 3);
}

void handler_lab_budget(struct handler_lab *s)
{
    far_apply(s->f, "apiVersion: policy/v1\nkind: PodDisruptionBudget\nmetadata: {name: kept}\n"
                    "spec: {minAvailable: 1, selector: {matchLabels: {app: kept}}}\n");
    far_run(s->f, 1);
}

bool handler_lab_has(struct handler_lab *s, const char *name)
{
    return far_count(s->f, "pods", name) == 1;
}

void handler_lab_cordoned(struct handler_lab *s, const char *name, bool want)
{
    check_str(name, far_get(s->f, "nodes", "n0", "spec.unschedulable"), want ? "true" : "");
}
