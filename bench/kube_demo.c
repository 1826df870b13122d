/* The server as a process of its own, and calls to it. */
#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "base/b64.h"
#include "data/reader.h"
#include "kube.h"
#include "net/fiber.h"

#define PATIENCE_US INT64_C(30000000)
#define STEP_US 10000
#define MAX_LIST ((size_t)1 << 30)

/* ---- the process ---- */

/* The server gets a core to itself, and this program the others, if there are two. */
static void pin(pid_t pid, bool first)
{
    cpu_set_t all, some;
    int seen = 0;

    if (sched_getaffinity(0, sizeof(all), &all) != 0 || CPU_COUNT(&all) < 2)
        return;
    CPU_ZERO(&some);
    for (size_t i = 0; i < CPU_SETSIZE; i++)
        if (CPU_ISSET(i, &all) && (seen++ == 0) == first)
            CPU_SET(i, &some);
    (void)sched_setaffinity(pid, sizeof(some), &some);
}

static void run_demo(const struct bench *b)
{
    int null = open("/dev/null", O_RDWR | O_CLOEXEC);

    (void)prctl(PR_SET_PDEATHSIG, SIGTERM); /* and its kubeconfig with it */
    pin(0, /* first= */ true);
    (void)dup2(null, STDOUT_FILENO);
    (void)execl(b->o.karpenter, b->o.karpenter, "demo", "--bare", "--nodes", "0", "--kubeconfig", b->kubeconfig,
                (char *)NULL);
    _exit(127);
}

static bool has_ended(const struct bench *b)
{
    return waitpid(b->pid, NULL, WNOHANG) != 0;
}

static const struct tree *first_of(const struct tree *config, const char *list, const char *what)
{
    const struct tree *l = tree_get(config, list);

    return l && l->n ? tree_get(&l->items[0], what) : NULL;
}

static void read_kubeconfig(struct bench *b)
{
    struct err e = {0};
    const struct tree *t = NULL;
    AUTO(reader) struct reader *r = reader_open(b->kubeconfig, &e);

    if (!r || !reader_next(r, &t, &e) || !t)
        die("kubeconfig", e.msg);
    const struct tree *cluster = first_of(t, "clusters", "cluster"), *user = first_of(t, "users", "user");
    struct sb ca = {0};

    if (!b64url_decode(&ca, tree_str(tree_get(cluster, "certificate-authority-data"))))
        die("kubeconfig", "no certificate");
    sb_char(&ca, 0);
    b->trust.ca_pem = sb_dup(&ca, b->a).p;
    sb_fini(&ca);
    b->url = arena_strdup(b->a, tree_str(tree_get(cluster, "server")));
    b->authorization = arena_printf(b->a, "Bearer " STR_FMT, STR_ARG(tree_str(tree_get(user, "token"))));
}

void demo_start(struct bench *b)
{
    b->kubeconfig = arena_printf(b->a, "/tmp/bench-kube-%ld.kubeconfig%c", (long)getpid(), 0).p;
    b->pid = fork();
    if (b->pid < 0)
        die("fork", strerror(errno));
    if (b->pid == 0)
        run_demo(b);
    pin(0, /* first= */ false);
    for (int64_t waited = 0; access(b->kubeconfig, R_OK) != 0; waited += STEP_US) {
        if (waited > PATIENCE_US || has_ended(b))
            die(b->o.karpenter, "the demo does not start");
        fiber_sleep_us(b->w, STEP_US);
    }
    read_kubeconfig(b);
}

void demo_stop(struct bench *b)
{
    if (b->pid <= 0)
        return;
    (void)kill(b->pid, SIGTERM);
    (void)waitpid(b->pid, NULL, 0);
    b->pid = 0;
}

/* ---- what it takes ---- */

double demo_cpu_s(const struct bench *b)
{
    struct timespec ts;
    clockid_t clock;

    if (clock_getcpuclockid(b->pid, &clock) != 0 || clock_gettime(clock, &ts) != 0)
        die("the server's clock", "cannot be read");
    return (double)ts.tv_sec + (double)ts.tv_nsec / 1e9;
}

double demo_peak_mb(const struct bench *b)
{
    char path[64], line[256];
    double kb = 0;

    (void)snprintf(path, sizeof(path), "/proc/%ld/status", (long)b->pid);
    FILE *f = fopen(path, "re");
    if (!f)
        die(path, strerror(errno));
    while (fgets(line, sizeof(line), f))
        if (str_starts(str_c(line), STR("VmHWM:")))
            kb = strtod(line + 6, NULL);
    (void)fclose(f);
    return kb / 1024;
}

/* ---- calls ---- */

static struct http_request request_of(struct bench *b, const struct call *c, struct arena *a)
{
    struct http_header *h = arena_new_array(a, struct http_header, 4);
    uint32_t n = 0;

    h[n++] = (struct http_header){STR("Authorization"), b->authorization};
    h[n++] = (struct http_header){STR("Accept"), STR("application/json")};
    h[n++] = (struct http_header){STR("User-Agent"), STR("kubelet/v1.36.3 (linux/amd64)")};
    if (c->content_type)
        h[n++] = (struct http_header){STR("Content-Type"), str_c(c->content_type)};
    return (struct http_request){
        .method = c->method,
        .url = arena_printf(a, STR_FMT STR_FMT, STR_ARG(b->url), STR_ARG(c->path)),
        .headers = h,
        .n_headers = n,
        .body = c->body,
        .max_body = MAX_LIST,
        .trust = &b->trust,
    };
}

void call_fetch(struct bench *b, const struct call *c, struct arena *a, struct http_response *ret)
{
    struct http_request q = request_of(b, c, a);
    struct err e = {0};

    q.timeout_us = PATIENCE_US;
    if (!http_fetch(b->w, &q, a, ret, &e))
        die(arena_printf(a, STR_FMT "%c", STR_ARG(c->path), 0).p, e.msg);
    if (ret->status / 100 != 2)
        die(arena_printf(a, "%s " STR_FMT "%c", c->method ? c->method : "GET", STR_ARG(c->path), 0).p,
            arena_printf(a, "%d " STR_FMT "%c", ret->status, STR_ARG(ret->body), 0).p);
}

struct http_stream *call_open(struct bench *b, str path, struct arena *a)
{
    struct call c = {.path = path};
    struct http_request q = request_of(b, &c, a);
    struct http_response head;
    struct err e = {0};
    struct http_stream *s = http_open(b->w, &q, a, &head, &e);

    if (!s || head.status != 200)
        die(arena_printf(a, STR_FMT "%c", STR_ARG(path), 0).p, s ? "not 200" : e.msg);
    return s;
}
