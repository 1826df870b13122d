/* Two pipes and a descriptor for the process itself, all watched by the loop. The process is over when that descriptor says so, not
 * when the pipes close: what it has started in the background may keep them open. */
#include "net/process.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <spawn.h>
#include <sys/epoll.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/sb.h"
#include "net/fiber.h"
#include "net/loop.h"

#define MAX_OUT ((size_t)1 << 20)
#define MAX_ERR ((size_t)4 << 10)
#define TIMEOUT_US INT64_C(60000000)

struct process {
    struct world *w;
    struct fiber *fiber;
    pid_t pid;
    int fd;       /* of the process; -1: it has ended and was waited for */
    int out, err; /* -1: closed */
    struct timer timer;
    struct sb text, complaint;
    size_t max_out;
    bool too_long, too_late;
    int code;
};

static void stop_watching(struct process *p, int *fd)
{
    if (*fd < 0)
        return;
    loop_fd(p->w, *fd, 0, NULL, NULL);
    (void)close(*fd);
    *fd = -1;
}

static void kill_all(struct process *p)
{
    if (p->fd >= 0)
        (void)kill(-p->pid, SIGKILL);
}

/* Everything that is there. */
static void read_out(struct process *p, int *fd)
{
    bool out = fd == &p->out;
    char buf[4096];
    ssize_t n;

    while (*fd >= 0 && (n = read(*fd, buf, sizeof(buf))) != -1) {
        if (n == 0) {
            stop_watching(p, fd);
        } else if (!out) {
            sb_bytes(&p->complaint, buf, MIN((size_t)n, MAX_ERR - p->complaint.n));
        } else if ((size_t)n > p->max_out - p->text.n) {
            p->too_long = true;
            kill_all(p);
            stop_watching(p, fd);
        } else {
            sb_bytes(&p->text, buf, (size_t)n);
        }
    }
    if (*fd >= 0 && errno != EAGAIN && errno != EINTR)
        stop_watching(p, fd);
}

static void on_pipe(void *ctx, int fd, uint32_t events)
{
    struct process *p = ctx;

    (void)events;
    read_out(p, fd == p->out ? &p->out : &p->err);
}

static void reap(struct process *p, int options)
{
    int status;
    pid_t pid;

    do {
        pid = waitpid(p->pid, &status, options);
    } while (pid == -1 && errno == EINTR);
    if (pid == 0)
        return;
    if (pid == p->pid)
        p->code = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
    stop_watching(p, &p->fd);
}

static void on_exit_of_it(void *ctx, int fd, uint32_t events)
{
    struct process *p = ctx;

    (void)fd;
    (void)events;
    reap(p, WNOHANG);
    if (p->fd < 0)
        fiber_wake(p->fiber);
}

static void on_timer(void *ctx)
{
    struct process *p = ctx;

    p->too_late = true;
    kill_all(p);
}

/* A pipe whose reading end is ours. */
static bool make_pipe(int ret[2], struct err *e)
{
    if (pipe2(ret, O_CLOEXEC) != 0) {
        ret[0] = ret[1] = -1;
        return err_set(e, ERR_IO, "cannot make a pipe: %m");
    }
    (void)fcntl(ret[0], F_SETFL, O_NONBLOCK);
    return true;
}

/* With the signals that the loop has taken for itself given back, and in a group of its own so that all of it can be killed. */
static int spawn(const struct process_request *r, int out, int err, pid_t *ret)
{
    posix_spawn_file_actions_t files;
    posix_spawnattr_t attr;
    sigset_t none, pipes;

    (void)sigemptyset(&none);
    (void)sigemptyset(&pipes);
    (void)sigaddset(&pipes, SIGPIPE);
    (void)posix_spawn_file_actions_init(&files);
    (void)posix_spawn_file_actions_addopen(&files, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
    (void)posix_spawn_file_actions_adddup2(&files, out, STDOUT_FILENO);
    (void)posix_spawn_file_actions_adddup2(&files, err, STDERR_FILENO);
    (void)posix_spawnattr_init(&attr);
    (void)posix_spawnattr_setsigmask(&attr, &none);
    (void)posix_spawnattr_setsigdefault(&attr, &pipes);
    (void)posix_spawnattr_setpgroup(&attr, 0);
    (void)posix_spawnattr_setflags(&attr, POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF | POSIX_SPAWN_SETPGROUP);
    int failed = posix_spawnp(ret, r->argv[0], &files, &attr, (char *const *)(uintptr_t)r->argv,
                              r->env ? (char *const *)(uintptr_t)r->env : environ);
    (void)posix_spawnattr_destroy(&attr);
    (void)posix_spawn_file_actions_destroy(&files);
    return failed;
}

static bool start(struct process *p, const struct process_request *r, struct err *e)
{
    int out[2], err[2], failed = 0;

    if (!make_pipe(out, e))
        return false;
    if (make_pipe(err, e)) {
        failed = spawn(r, out[1], err[1], &p->pid);
        (void)close(err[1]);
    }
    (void)close(out[1]);
    p->out = out[0];
    p->err = err[0];
    if (p->err < 0)
        return false;
    if (failed) {
        errno = failed;
        return err_set(e, failed == ENOENT ? ERR_NOT_FOUND : ERR_IO, "cannot run %s: %m", r->argv[0]);
    }
    p->fd = (int)syscall(SYS_pidfd_open, p->pid, 0);
    if (p->fd < 0) {
        (void)err_set(e, ERR_IO, "cannot watch %s: %m", r->argv[0]);
        (void)kill(-p->pid, SIGKILL);
        reap(p, 0);
        return false;
    }
    (void)fcntl(p->fd, F_SETFD, FD_CLOEXEC);
    loop_fd(p->w, p->out, EPOLLIN, on_pipe, p);
    loop_fd(p->w, p->err, EPOLLIN, on_pipe, p);
    loop_fd(p->w, p->fd, EPOLLIN, on_exit_of_it, p);
    timer_set(p->w, &p->timer, r->timeout_us ? r->timeout_us : TIMEOUT_US);
    return true;
}

static bool judge(const struct process *p, const char *name, struct err *e)
{
    if (world_dead(p->w))
        return err_set(e, ERR_IO, "%s: the program ends", name);
    if (p->too_long)
        return err_set(e, ERR_INVALID, "%s: it writes more than %zu bytes", name, p->max_out);
    if (p->too_late)
        return err_set(e, ERR_TIMEOUT, "%s: it took too long", name);
    return true;
}

bool process_run(struct world *w, const struct process_request *r, struct arena *a, struct process_result *ret,
                 struct err *e)
{
    struct process p = {.w = w, .fiber = fiber_self(), .fd = -1, .out = -1, .err = -1, .code = -1};

    assert(p.fiber);
    if (!loop_is(w))
        return err_set(e, ERR_INVALID, "cannot run %s: there are no programs in a simulated world", r->argv[0]);
    p.timer = (struct timer){.fn = on_timer, .ctx = &p};
    p.max_out = r->max_out ? r->max_out : MAX_OUT;
    bool ok = start(&p, r, e);
    while (ok && p.fd >= 0 && !world_dead(w))
        fiber_park();
    if (ok && p.fd >= 0) {
        kill_all(&p);
        reap(&p, 0);
    }
    timer_stop(w, &p.timer);
    read_out(&p, &p.out); /* what it said last */
    read_out(&p, &p.err);
    stop_watching(&p, &p.out);
    stop_watching(&p, &p.err);
    ok = ok && judge(&p, r->argv[0], e);
    if (ok)
        *ret = (struct process_result){p.code, sb_dup(&p.text, a), sb_dup(&p.complaint, a)};
    if (p.text.p)
        explicit_bzero(p.text.p, p.text.cap); /* credentials, more often than not */
    sb_fini(&p.text);
    sb_fini(&p.complaint);
    fiber_wake(
        p.fiber); /* a wake of somebody else's may have come meanwhile: whoever parks looks at what it waits for */
    return ok;
}
