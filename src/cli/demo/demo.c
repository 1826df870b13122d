/* karpenter demo: a Kubernetes cluster with the autoscaler in it, and an AWS account for its machines, in this process, on loopback, for people with kubectl and aws.
 *
 * The servers are those of sim/, the controller is the real one, the world is the real one. What the command adds is the way in: a
 * certificate, a token and AWS credentials made for this run, files with all of them, what the cluster begins with, and a file to keep it in.
 */
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/b64.h"
#include "cli/cli.h"
#include "cli/demo/account.h"
#include "cli/demo/args.h"
#include "cli/demo/ask.h"
#include "cli/demo/aws.h"
#include "cli/demo/files.h"
#include "cli/demo/kept.h"
#include "cli/demo/pods.h"
#include "cli/demo/tour.h"
#include "data/edit.h"
#include "net/loop.h"
#include "sim/kube/cluster.h"
#include "sim/kube/crds.h"
#include "sim/kube/kube.h"

#define KUBE_VERSION "v1.36.3" /* whose behaviour the server has */
#define KUBE_MINOR "1.36"
#define TOKEN_BYTES 24
#define SAVE_EVERY_US (30 * 1000000ll)
#define READY_POLL_US 20000
#define READY_PATIENCE_US (20 * 1000000ll)
#define MAX_HEAD (16u << 10) /* room for any token and selector; all of it is cleared for every request */

static const char cluster_manifest[] =
#include "cli/demo/cluster_data.inc"
    ;
static const char aws_manifest[] =
#include "cli/demo/aws_data.inc"
    ;
static const char kwok_manifest[] =
#include "cli/demo/kwok_data.inc"
    ;
static const char monitoring_manifest[] =
#include "cli/demo/monitoring_data.inc"
    ;

struct demo {
    struct demo_args args;
    struct arena *arena;
    struct world *world;
    struct kube *kube;
    struct cluster *cluster;
    struct httpd *httpd;
    struct demo_aws *aws;   /* NULL: none */
    struct demo_pods *pods; /* replicas of the controller */
    str server;             /* its url */
    const struct cli_env *env;
    const char *kubeconfig, *env_file; /* where they were written */
    const char *cert;
    char token[2 * TOKEN_BYTES + 1];
    int64_t began_us;
    struct timer save, ready;
    int64_t patience_us; /* until then a NodePool is waited for */
    uint64_t saved_rv;
    int status;
};

static void make_token(struct demo *d)
{
    for (size_t i = 0; i < TOKEN_BYTES; i += sizeof(uint64_t))
        (void)snprintf(d->token + 2 * i, 2 * sizeof(uint64_t) + 1, "%016llx",
                       (unsigned long long)world_random(d->world));
}

/* ---- files ---- */

static bool write_kubeconfig(struct demo *d, struct err *e)
{
    struct sb b = {0}, ca = {0};

    d->kubeconfig = d->args.kubeconfig ? d->args.kubeconfig : demo_default_path(d->arena, "kubeconfig");
    b64_encode(&ca, str_c(d->cert));
    sb_printf(&b,
              "apiVersion: v1\n"
              "kind: Config\n"
              "current-context: demo\n"
              "clusters:\n"
              "- name: demo\n"
              "  cluster:\n"
              "    server: " STR_FMT "\n"
              "    certificate-authority-data: " STR_FMT "\n"
              "users:\n"
              "- name: demo\n"
              "  user:\n"
              "    token: %s\n"
              "contexts:\n"
              "- name: demo\n"
              "  context: {cluster: demo, user: demo}\n",
              STR_ARG(d->server), STR_ARG(sb_view(&ca)), d->token);
    bool ok = demo_write_file(d->kubeconfig, sb_view(&b), e);
    sb_fini(&b);
    sb_fini(&ca);
    if (!ok)
        d->kubeconfig = NULL; /* nothing to remove */
    return ok;
}

/* ---- AWS ---- */

/* What AWS programs want to know. */
struct setting {
    const char *name;
    str value;
};

#define N_AWS_SETTINGS 6

static void aws_settings(const struct demo *d, struct setting ret[N_AWS_SETTINGS])
{
    const struct setting all[N_AWS_SETTINGS] = {
        {"AWS_ENDPOINT_URL", d->aws->url},         {"AWS_ACCESS_KEY_ID", d->aws->key_id},
        {"AWS_SECRET_ACCESS_KEY", d->aws->secret}, {"AWS_REGION", STR(DEMO_REGION)},
        {"AWS_DEFAULT_REGION", STR(DEMO_REGION)},  {"AWS_EC2_METADATA_DISABLED", STR("true")},
    };

    memcpy(ret, all, sizeof(all));
}

/* A path as a word of the shell, good in any directory. */
static void put_path(struct sb *b, const char *path)
{
    char *whole = realpath(path, NULL);

    sb_char(b, '\'');
    for (const char *p = whole ? whole : path; *p; p++)
        if (*p == '\'')
            sb_c(b, "'\\''");
        else
            sb_char(b, *p);
    sb_char(b, '\'');
    free(whole);
}

/* For the user's shell. */
static bool write_env_file(struct demo *d, struct err *e)
{
    struct setting aws[N_AWS_SETTINGS];
    struct sb b = {0};

    d->env_file = d->args.kubeconfig ? arena_printf(d->arena, "%s.env%c", d->args.kubeconfig, 0).p
                                     : demo_default_path(d->arena, "env");
    sb_c(&b, "export KUBECONFIG=");
    put_path(&b, d->kubeconfig);
    sb_char(&b, '\n');
    aws_settings(d, aws);
    for (size_t i = 0; i < ARRAY_LEN(aws); i++)
        sb_printf(&b, "export %s=" STR_FMT "\n", aws[i].name, STR_ARG(aws[i].value));
    /* Version 1 of aws listens to AWS_ENDPOINT_URL for all services but SQS. */
    sb_c(&b, "export AWS_PAGER=\naws() { command aws --endpoint-url \"$AWS_ENDPOINT_URL\" \"$@\"; }\n");
    bool ok = demo_write_file(d->env_file, sb_view(&b), e);
    sb_fini(&b);
    if (!ok)
        d->env_file = NULL; /* nothing to remove */
    return ok;
}

static bool start_aws(struct demo *d, struct err *e)
{
    if (d->args.bare || strcmp(d->args.provider, "aws") != 0)
        return true;
    d->aws = demo_aws_new(&(struct demo_aws_setup){.world = d->world,
                                                   .cluster = d->cluster,
                                                   .env = d->env,
                                                   .endpoint = d->server,
                                                   .ca_pem = d->cert,
                                                   .version = STR(KUBE_MINOR),
                                                   .speed = d->args.speed},
                          e);
    return d->aws && write_env_file(d, e);
}

/* Secret karpenter-provider: who makes machines in this run, whatever it was when the cluster was kept. */
static bool put_settings(struct demo *d, struct err *e)
{
    const struct kind *namespaces = kube_kind(d->kube, STR(""), STR("Namespace"));
    struct setting aws[N_AWS_SETTINGS];
    struct sb b = {0};

    if (!kube_get(d->kube, namespaces, (str){0}, STR("karpenter")))
        return true; /* the cluster that was kept has no controller */
    sb_c(&b, "apiVersion: v1\nkind: Secret\nmetadata: {name: karpenter-provider, namespace: karpenter}\nstringData:\n");
    sb_printf(&b, "  KARPENTER_PROVIDER: %s\n", d->args.provider);
    if (d->aws) {
        aws_settings(d, aws);
        for (size_t i = 0; i < ARRAY_LEN(aws); i++)
            sb_printf(&b, "  %s: \"" STR_FMT "\"\n", aws[i].name, STR_ARG(aws[i].value));
        sb_printf(&b,
                  "  CLUSTER_NAME: " DEMO_CLUSTER "\n  INTERRUPTION_QUEUE: " DEMO_QUEUE "\n  CLUSTER_ENDPOINT: " STR_FMT
                  "\n",
                  STR_ARG(d->server));
    }
    bool ok = kube_load(d->kube, "karpenter-provider", sb_view(&b), e);
    sb_fini(&b);
    return ok;
}

/* ---- the cluster ---- */

static struct tree *labels_of(const struct demo *d, str name, long i)
{
    struct arena *a = d->arena;
    struct tree *t = tree_new_map(a);
    char zone = (char)('a' + i % 3);

    tree_set_str(a, t, "kubernetes.io/hostname", name);
    tree_set_str(a, t, "kubernetes.io/os", STR("linux"));
    tree_set_str(a, t, "kubernetes.io/arch", STR("amd64"));
    tree_set_str(a, t, "node.kubernetes.io/instance-type", d->aws ? STR("r6i.2xlarge") : STR("m-8x-amd64-linux"));
    tree_set_str(a, t, "topology.kubernetes.io/zone",
                 arena_printf(a, "%s%c", d->aws ? DEMO_REGION : "test-zone-", zone));
    if (d->aws) {
        tree_set_str(a, t, "topology.kubernetes.io/region", STR(DEMO_REGION));
        tree_set_str(a, t, "eks.amazonaws.com/nodegroup", STR("bootstrap"));
    }
    return t;
}

static struct tree *bootstrap_taints(struct arena *a)
{
    struct tree *list = tree_new_list(a), *taint = tree_push(a, list, *tree_new_map(a));

    tree_set_str(a, taint, "key", STR("CriticalAddonsOnly"));
    tree_set_str(a, taint, "value", STR("true"));
    tree_set_str(a, taint, "effect", STR("NoSchedule"));
    return list;
}

static void boot_nodes(struct demo *d)
{
    struct tree *capacity = tree_new_map(d->arena), *taints = d->args.bare ? NULL : bootstrap_taints(d->arena);

    tree_set_str(d->arena, capacity, "cpu", STR("8"));
    tree_set_str(d->arena, capacity, "memory", STR("64Gi"));
    tree_set_str(d->arena, capacity, "ephemeral-storage", STR("20Gi"));
    tree_set_str(d->arena, capacity, "pods", STR("110"));
    for (long i = 0; i < d->args.nodes; i++) {
        str name = arena_printf(d->arena, d->args.bare ? "node-%ld" : "bootstrap-%ld", i + 1);
        struct tree *labels = labels_of(d, name, i);

        if (!d->args.bare)
            tree_set_str(d->arena, labels, "role", STR("bootstrap"));

        cluster_boot(d->cluster, &(struct machine){
                                     .name = name,
                                     .provider_id = arena_printf(d->arena, "demo://" STR_FMT, STR_ARG(name)),
                                     .labels = labels,
                                     .taints = taints,
                                     .capacity = capacity,
                                     .allocatable = capacity,
                                 });
    }
}

/* The product's kinds, and those of the Prometheus operator that charts and manifests bring objects of. */
static bool define_kinds(struct demo *d, struct err *e)
{
    return kube_load_crds(d->kube, e) && kube_load(d->kube, "deploy/demo/monitoring.yaml", STR(monitoring_manifest), e);
}

/* What the file holds, or definitions and fresh machines. */
static bool fill(struct demo *d, struct err *e)
{
    const char *from = d->args.data && access(d->args.data, F_OK) == 0 ? d->args.data : d->args.from;

    if (from)
        return kept_restore(d->kube, d->cluster, from, e) && define_kinds(d, e) && (d->args.bare || put_settings(d, e));
    if (!define_kinds(d, e))
        return false;
    boot_nodes(d);
    if (d->args.bare)
        return true;
    return kube_load(d->kube, "deploy/demo/cluster.yaml", STR(cluster_manifest), e) && put_settings(d, e) &&
           (d->aws ? kube_load(d->kube, "deploy/demo/aws.yaml", STR(aws_manifest), e)
                   : kube_load(d->kube, "deploy/demo/kwok.yaml", STR(kwok_manifest), e));
}

static bool save(struct demo *d)
{
    struct sb b = {0};
    struct err e = {0};

    if (!d->args.data || d->saved_rv == kube_rv(d->kube))
        return true;
    kube_save(d->kube, &b);
    bool ok = demo_write_file(d->args.data, sb_view(&b), &e);
    if (ok)
        d->saved_rv = kube_rv(d->kube);
    else
        (void)cli_fail("cannot keep the cluster: %s", e.msg);
    sb_fini(&b);
    return ok;
}

static void save_now_and_then(void *ctx)
{
    struct demo *d = ctx;

    (void)save(d);
    timer_set(d->world, &d->save, SAVE_EVERY_US);
}

/* A key of the account opens the cluster, as it does for those who have made a cluster of EKS. */
static str account_user(void *ctx, struct arena *a, str token)
{
    const struct demo *d = ctx;

    return d->aws ? sim_aws_token_user(d->aws->account, a, token, STR(DEMO_CLUSTER)) : STR("");
}

static bool start(struct demo *d, struct err *e)
{
    static const char *const names[] = {"127.0.0.1", "localhost"};
    const char *key;

    d->world = loop_new();
    d->began_us = world_mono_us(d->world);
    make_token(d);
    d->kube =
        kube_new(d->world,
                 &(struct kube_options){.token = d->token, .version = KUBE_VERSION, .who = account_user, .who_ctx = d});
    d->cluster = cluster_new(
        d->kube, &(struct cluster_options){.speed = d->args.speed, .node_ready = {200, 400}, .pod_start = {300, 800}});
    if (!tls_self_signed(d->arena, names, ARRAY_LEN(names), world_now_ms(d->world), &d->cert, &key, e))
        return false;
    struct httpd_options o = {
        .port = (uint16_t)d->args.port, .cert_pem = d->cert, .key_pem = key, .max_head = MAX_HEAD};
    d->httpd = httpd_listen(d->world, &o, kube_serve, d->kube, e);
    if (!d->httpd)
        return false;
    d->server = arena_printf(d->arena, "https://127.0.0.1:%u", httpd_port(d->httpd));
    if (!write_kubeconfig(d, e) || !start_aws(d, e) || !fill(d, e))
        return false;
    if (d->args.data) {
        d->save = (struct timer){.fn = save_now_and_then, .ctx = d};
        timer_set(d->world, &d->save, SAVE_EVERY_US);
    }
    return true;
}

static void print_hints(const struct demo *d)
{
    if (d->args.bare) {
        (void)printf("  kubectl get nodes -o wide\n"
                     "  kubectl create deployment web --image nginx --replicas 5\n"
                     "  kubectl get pods -o wide -w\n"
                     "  kubectl scale deployment web --replicas 50\n"
                     "  kubectl drain node-1\n"
                     "  kubectl explain nodepool.spec\n");
        return;
    }
    (void)printf("  kubectl get nodepools,nodes\n"
                 "  kubectl scale deployment inflate --replicas 5   # a node is made for them\n"
                 "  kubectl get nodeclaims,nodes,pods -o wide\n"
                 "  kubectl logs -n karpenter -l app.kubernetes.io/name=karpenter -f\n"
                 "  kubectl describe nodeclaims\n"
                 "  kubectl delete nodeclaims --all                 # drained, replaced while pods need them, gone\n"
                 "  kubectl scale deployment inflate --replicas 0\n");
    if (d->aws)
        (void)printf(
            "\n"
            "  aws ec2 describe-instances                      # what the nodes are in the AWS account\n"
            "  aws events list-rules --name-prefix Karpenter\n"
            "  aws sqs get-queue-attributes --attribute-names All --queue-url $(aws sqs get-queue-url \\\n"
            "      --queue-name " DEMO_QUEUE " --query QueueUrl --output text)\n"
            "  karpenter demo interrupt NODE                   # AWS takes a spot machine back in two minutes\n"
            "  karpenter demo capacity spot 0                  # and has no spot capacity any more\n"
            "  karpenter demo publish-ami                      # a new image of Amazon Linux 2023\n");
}

static void print_welcome(const struct demo *d)
{
    (void)printf("A Kubernetes cluster%s on this machine, at " STR_FMT "%s" STR_FMT ". In another terminal:\n"
                 "\n"
                 "  %s%s\n",
                 d->args.bare ? "" : " with Karpenter", STR_ARG(d->server), d->aws ? ", and an AWS account at " : "",
                 STR_ARG(d->aws ? d->aws->url : STR("")),
                 d->aws ? ". " : "export KUBECONFIG=", d->aws ? d->env_file : d->kubeconfig);
    print_hints(d);
    (void)printf("\nReady after %.2f s. Ctrl-C ends it%s.\n", (double)(world_mono_us(d->world) - d->began_us) / 1e6,
                 d->args.data ? "; the cluster is kept" : " and forgets everything");
    (void)fflush(stdout);
}

static void on_tour_end(void *ctx, bool ok)
{
    struct demo *d = ctx;

    d->status = ok ? 0 : 1;
    world_quit(d->world);
}

static bool pool_is_ready(const struct object *pool)
{
    AUTO(arena) struct arena *a = arena_new(0);
    const struct tree *list = tree_at(kube_tree(a, pool), "status", "conditions", NULL);

    for (uint32_t i = 0; list && i < list->n; i++)
        if (str_is(tree_str(tree_get(&list->items[i], "type")), "Ready"))
            return str_is(tree_str(tree_get(&list->items[i], "status")), "True");
    return false;
}

static void count_ready(void *ctx, const struct object *pool)
{
    *(uint32_t *)ctx += pool_is_ready(pool);
}

/* The controller leads, and a NodePool can be used: from now on things happen. A cluster that was kept may have none that ever can. */
static void on_ready(void *ctx)
{
    struct demo *d = ctx;
    const struct kind *pools = kube_kind(d->kube, STR("karpenter.sh"), STR("NodePool"));
    uint32_t n = 0;

    kube_each(d->kube, pools, (str){0}, count_ready, &n);
    if (n == 0 && world_mono_us(d->world) < d->patience_us) {
        timer_set(d->world, &d->ready, READY_POLL_US);
        return;
    }
    print_welcome(d);
    if (d->args.tour)
        tour_go(&(struct tour_setup){.world = d->world,
                                     .server = d->server,
                                     .token = str_c(d->token),
                                     .ca_pem = d->cert,
                                     .aws = d->aws,
                                     .on_end = on_tour_end,
                                     .ctx = d});
}

static void on_lead(void *ctx)
{
    struct demo *d = ctx;

    d->patience_us = world_mono_us(d->world) + READY_PATIENCE_US;
    d->ready = (struct timer){.fn = on_ready, .ctx = d};
    timer_set(d->world, &d->ready, 0);
}

static void begin(struct demo *d)
{
    if (d->args.bare)
        print_welcome(d);
    else
        d->pods = demo_pods_new(&(struct demo_pods_setup){.kube = d->kube,
                                                          .env = d->env,
                                                          .server = d->server,
                                                          .token = str_c(d->token),
                                                          .ca_pem = d->cert,
                                                          .on_lead = on_lead,
                                                          .ctx = d});
}

static void stop(void *ctx, int signo)
{
    struct demo *d = ctx;

    (void)signo;
    world_quit(d->world);
}

static void finish(struct demo *d)
{
    if (d->kubeconfig)
        (void)unlink(d->kubeconfig);
    if (d->env_file)
        (void)unlink(d->env_file);
    demo_pods_free(d->pods);
    demo_aws_free(d->aws);
    if (d->httpd)
        httpd_close(d->httpd);
    if (d->cluster)
        cluster_free(d->cluster);
    if (d->kube)
        kube_free(d->kube);
    if (d->world)
        loop_free(d->world);
    arena_free(d->arena);
}

int cli_demo(const struct cli_env *env, int argc, char **argv)
{
    struct demo d = {0};
    struct err e = {0};

    if (argc > 1 && ask_is_verb(argv[1]))
        return ask_run(argc - 1, argv + 1);
    if (!demo_args_parse(argc, argv, &d.args))
        return 1;
    if (d.args.help) {
        demo_print_help();
        return 0;
    }
    d.arena = arena_new(0);
    d.env = env;
    if (start(&d, &e)) {
        loop_on_signal(d.world, SIGINT, stop, &d);
        loop_on_signal(d.world, SIGTERM, stop, &d);
        begin(&d);
        world_run(d.world);
        d.status |= save(&d) ? 0 : 1;
    } else {
        d.status = cli_fail("demo: %s", e.msg);
    }
    finish(&d);
    return d.status;
}
