/* karpenter demo: a Kubernetes cluster with the autoscaler in it, in this process, on loopback, for people with kubectl.
 *
 * The servers are those of sim/, the controller is the real one, the world is the real one. What the command adds is the way in: a
 * certificate and a token made for this run, a kubeconfig with both, what the cluster begins with, and a file to keep it in.
 */
#include <errno.h>
#include <fcntl.h>
#include <getopt.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/b64.h"
#include "cli/cli.h"
#include "cli/demo_pods.h"
#include "cli/demo_tour.h"
#include "data/edit.h"
#include "data/source.h"
#include "net/loop.h"
#include "sim/kube/cluster.h"
#include "sim/kube/crds.h"
#include "sim/kube/kube.h"

#define KUBE_VERSION "v1.36.3" /* whose behaviour the server has */
#define TOKEN_BYTES 24
#define SAVE_EVERY_US (30 * 1000000ll)
#define MAX_NODES 10000
#define MAX_HEAD (16u << 10) /* room for any token and selector; all of it is cleared for every request */

struct demo_args {
    const char *kubeconfig, *data, *from;
    long port, nodes; /* nodes -1: not said */
    double speed;
    bool bare, tour, help;
};

static const char manifest[] =
#include "cli/demo_data.inc"
    ;

struct demo {
    struct demo_args args;
    struct arena *arena;
    struct world *world;
    struct kube *kube;
    struct cluster *cluster;
    struct httpd *httpd;
    struct demo_pods *pods; /* replicas of the controller */
    str server;             /* its url */
    const struct cli_env *env;
    const char *kubeconfig; /* where it was written */
    const char *cert;
    char token[2 * TOKEN_BYTES + 1];
    int64_t began_us;
    struct timer save;
    uint64_t saved_rv;
    int status;
};

static void print_help(void)
{
    (void)printf(
        "usage: karpenter demo [OPTIONS]\n"
        "\n"
        "Starts a Kubernetes cluster with Karpenter in it, in this process, and serves it on a loopback port: API server,\n"
        "scheduler, kubelets without machines, the usual controllers. Plain kubectl and helm work against it. Everything is\n"
        "in memory and gone after Ctrl-C, unless --data keeps it.\n"
        "\n"
        "      --tour              scale a deployment up, lose a node, scale down again, say what happens, and end; the exit\n"
        "                          status is 0 when every step really happened\n"
        "      --bare              the cluster alone: no controller, no NodePool, machines without taints\n"
        "      --kubeconfig FILE   where to write the way in; default: karpenter-demo.kubeconfig in the user's runtime\n"
        "                          directory, or in /tmp. Readable by you only; removed at the end\n"
        "      --port N            serve on this port; default: any free one\n"
        "      --nodes N           machines of the bootstrap group; default: 2, with --bare 3\n"
        "      --speed N           machines boot, pods start and stop N times as fast; default: 1\n"
        "      --data FILE         begin with the cluster in this file if it exists; keep it there, every 30 s and at the end\n"
        "      --from FILE         begin with the cluster in this file, and leave the file as it is\n"
        "  -h, --help              this text\n");
}

static bool parse_number(const char *text, long min, long max, long *ret)
{
    char *end;

    errno = 0;
    *ret = strtol(text, &end, 10);
    return end != text && *end == 0 && errno == 0 && *ret >= min && *ret <= max;
}

static bool parse_args(int argc, char **argv, struct demo_args *ret)
{
    enum { KUBECONFIG = 1000, PORT, NODES, SPEED, DATA, FROM, BARE, TOUR };
    static const struct option options[] = {
        {"kubeconfig", required_argument, NULL, KUBECONFIG},
        {"port", required_argument, NULL, PORT},
        {"nodes", required_argument, NULL, NODES},
        {"speed", required_argument, NULL, SPEED},
        {"data", required_argument, NULL, DATA},
        {"from", required_argument, NULL, FROM},
        {"bare", no_argument, NULL, BARE},
        {"tour", no_argument, NULL, TOUR},
        {"help", no_argument, NULL, 'h'},
        {0},
    };
    struct err e;
    int c;

    *ret = (struct demo_args){.nodes = -1, .speed = 1};
    optind = 0; /* start afresh: another command may have parsed before */
    opterr = 0;
    while ((c = getopt_long(argc, argv, ":h", options, NULL)) != -1) {
        switch (c) {
        case KUBECONFIG:
            ret->kubeconfig = optarg;
            break;
        case DATA:
            ret->data = optarg;
            break;
        case FROM:
            ret->from = optarg;
            break;
        case PORT:
            if (!parse_number(optarg, 1, 65535, &ret->port))
                return cli_fail("--port %s: a port is a number from 1 to 65535", optarg), false;
            break;
        case NODES:
            if (!parse_number(optarg, 0, MAX_NODES, &ret->nodes))
                return cli_fail("--nodes %s: a number from 0 to %d is needed", optarg, MAX_NODES), false;
            break;
        case SPEED:
            if (!str_to_double(str_c(optarg), &ret->speed) || !(ret->speed >= 0.01 && ret->speed <= 1000))
                return cli_fail("--speed %s: a number from 0.01 to 1000 is needed", optarg), false;
            break;
        case BARE:
            ret->bare = true;
            break;
        case TOUR:
            ret->tour = true;
            break;
        case 'h':
            ret->help = true;
            break;
        default:
            (void)cli_bad_option("demo", c, argv, &e);
            return cli_fail("%s", e.msg), false;
        }
    }
    if (optind < argc)
        return cli_fail("%s: demo takes options only; try: karpenter demo --help", argv[optind]), false;
    if (ret->data && ret->from)
        return cli_fail("--data and --from: the cluster begins with one file"), false;
    if (ret->bare && ret->tour)
        return cli_fail("--tour needs the controller: it does not go with --bare"), false;
    if (ret->nodes < 0)
        ret->nodes = ret->bare ? 3 : 2;
    return true;
}

static void make_token(struct demo *d)
{
    for (size_t i = 0; i < TOKEN_BYTES; i += sizeof(uint64_t))
        (void)snprintf(d->token + 2 * i, 2 * sizeof(uint64_t) + 1, "%016llx",
                       (unsigned long long)world_random(d->world));
}

/* ---- files ---- */

/* All of it or nothing: beside the file first, then in its place. */
static bool write_file(const char *path, str bytes, struct err *e)
{
    struct sb tmp = {0};
    bool ok = false;

    sb_printf(&tmp, "%s.%ld.tmp", path, (long)getpid());
    const char *name = sb_cstr(&tmp);
    int fd = open(name, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
    if (fd < 0) {
        (void)err_set(e, ERR_IO, "%s: %s", path, strerror(errno));
        goto out;
    }
    for (size_t at = 0; at < bytes.n;) {
        ssize_t n = write(fd, bytes.p + at, bytes.n - at);

        if (n < 0 && errno != EINTR)
            break;
        at += n > 0 ? (size_t)n : 0;
        if (at == bytes.n)
            ok = true;
    }
    ok = fsync(fd) == 0 && ok;
    ok = close(fd) == 0 && ok && rename(name, path) == 0;
    if (!ok) {
        (void)err_set(e, ERR_IO, "%s: %s", path, strerror(errno));
        (void)unlink(name);
    }
out:
    sb_fini(&tmp);
    return ok;
}

static bool read_file(const char *path, struct sb *out, struct err *e)
{
    struct source s;

    if (!source_open(&s, path, e))
        return false;
    bool ok = true;
    while (ok && !s.ended) {
        ok = source_more(&s, e);
        sb_bytes(out, s.buf + s.lo, source_held(&s));
        s.lo = s.hi;
    }
    source_fini(&s);
    return ok;
}

static const char *default_kubeconfig(struct arena *a)
{
    const char *dir = getenv("XDG_RUNTIME_DIR");

    if (dir && dir[0] == '/' && access(dir, W_OK) == 0)
        return arena_printf(a, "%s/karpenter-demo.kubeconfig%c", dir, 0).p;
    return arena_printf(a, "/tmp/karpenter-demo-%ld.kubeconfig%c", (long)getuid(), 0).p;
}

static bool write_kubeconfig(struct demo *d, struct err *e)
{
    struct sb b = {0}, ca = {0};

    d->kubeconfig = d->args.kubeconfig ? d->args.kubeconfig : default_kubeconfig(d->arena);
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
    bool ok = write_file(d->kubeconfig, sb_view(&b), e);
    sb_fini(&b);
    sb_fini(&ca);
    if (!ok)
        d->kubeconfig = NULL; /* nothing to remove */
    return ok;
}

/* ---- the cluster ---- */

static struct tree *labels_of(struct arena *a, str name, long i)
{
    struct tree *t = tree_new_map(a);

    tree_set_str(a, t, "kubernetes.io/hostname", name);
    tree_set_str(a, t, "kubernetes.io/os", STR("linux"));
    tree_set_str(a, t, "kubernetes.io/arch", STR("amd64"));
    tree_set_str(a, t, "node.kubernetes.io/instance-type", STR("m-8x-amd64-linux"));
    tree_set_str(a, t, "topology.kubernetes.io/zone", arena_printf(a, "test-zone-%c", (char)('a' + i % 3)));
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
        struct tree *labels = labels_of(d->arena, name, i);

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

/* What the file holds, or the product's definitions and fresh machines. */
static bool fill(struct demo *d, struct err *e)
{
    const char *from = d->args.data && access(d->args.data, F_OK) == 0 ? d->args.data : d->args.from;
    struct sb b = {0};
    bool ok;

    if (from) {
        ok = read_file(from, &b, e) && kube_restore(d->kube, from, sb_view(&b), e);
        sb_fini(&b);
        d->saved_rv = kube_rv(d->kube);
        return ok && kube_load_crds(d->kube, e);
    }
    if (!kube_load_crds(d->kube, e))
        return false;
    boot_nodes(d);
    return d->args.bare || kube_load(d->kube, "deploy/demo/cluster.yaml", (str){manifest, sizeof(manifest) - 1}, e);
}

static bool save(struct demo *d)
{
    struct sb b = {0};
    struct err e = {0};

    if (!d->args.data || d->saved_rv == kube_rv(d->kube))
        return true;
    kube_save(d->kube, &b);
    bool ok = write_file(d->args.data, sb_view(&b), &e);
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

static bool start(struct demo *d, struct err *e)
{
    static const char *const names[] = {"127.0.0.1", "localhost"};
    const char *key;

    d->world = loop_new();
    d->began_us = world_mono_us(d->world);
    make_token(d);
    d->kube = kube_new(d->world, &(struct kube_options){.token = d->token, .version = KUBE_VERSION});
    d->cluster = cluster_new(
        d->kube, &(struct cluster_options){.speed = d->args.speed, .node_ready = {200, 400}, .pod_start = {300, 800}});
    if (!fill(d, e))
        return false;
    if (!tls_self_signed(d->arena, names, ARRAY_LEN(names), world_now_ms(d->world), &d->cert, &key, e))
        return false;
    struct httpd_options o = {
        .port = (uint16_t)d->args.port, .cert_pem = d->cert, .key_pem = key, .max_head = MAX_HEAD};
    d->httpd = httpd_listen(d->world, &o, kube_serve, d->kube, e);
    if (!d->httpd)
        return false;
    d->server = arena_printf(d->arena, "https://127.0.0.1:%u", httpd_port(d->httpd));
    if (!write_kubeconfig(d, e))
        return false;
    if (d->args.data) {
        d->save = (struct timer){.fn = save_now_and_then, .ctx = d};
        timer_set(d->world, &d->save, SAVE_EVERY_US);
    }
    return true;
}

static void print_hints(const struct demo *d)
{
    if (d->args.bare)
        (void)printf("  kubectl get nodes -o wide\n"
                     "  kubectl create deployment web --image nginx --replicas 5\n"
                     "  kubectl get pods -o wide -w\n"
                     "  kubectl scale deployment web --replicas 50\n"
                     "  kubectl drain node-1\n"
                     "  kubectl explain nodepool.spec\n");
    else
        (void)printf(
            "  kubectl get nodepools,nodes\n"
            "  kubectl scale deployment inflate --replicas 5   # a node is made for them\n"
            "  kubectl get nodeclaims,nodes,pods -o wide\n"
            "  kubectl logs -n karpenter -l app.kubernetes.io/name=karpenter -f\n"
            "  kubectl describe nodeclaims\n"
            "  kubectl delete nodeclaims --all                 # drained, replaced while pods need them, gone\n"
            "  kubectl scale deployment inflate --replicas 0\n");
}

static void print_welcome(const struct demo *d)
{
    (void)printf("A Kubernetes cluster%s on this machine, at " STR_FMT ". In another terminal:\n"
                 "\n"
                 "  export KUBECONFIG=%s\n",
                 d->args.bare ? "" : " with Karpenter", STR_ARG(d->server), d->kubeconfig);
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

/* The controller is there: from now on things happen. */
static void on_lead(void *ctx)
{
    struct demo *d = ctx;

    print_welcome(d);
    if (d->args.tour)
        tour_go(&(struct tour_setup){d->world, d->server, str_c(d->token), d->cert, on_tour_end, d});
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
    demo_pods_free(d->pods);
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

    if (!parse_args(argc, argv, &d.args))
        return 1;
    if (d.args.help) {
        print_help();
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
