/* One turn of the loop: wait for file descriptors until the next timer is due, tell those who watch them, fire the timers
 * that were due when the turn began. A timer that sets itself anew waits for the next turn, so nothing starves.
 */
#include "net/loop.h"

#include <errno.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/random.h>
#include <sys/resource.h>
#include <sys/signalfd.h>
#include <time.h>
#include <unistd.h>

#include "base/arena.h"
#include "net/loop_int.h"

#define MAX_EVENTS 256

struct loop_letter {
    struct loop_letter *next;
    void (*fn)(void *ctx);
    void *ctx;
};

static int64_t clock_us(clockid_t id)
{
    struct timespec ts;

    (void)clock_gettime(id, &ts);
    return (int64_t)ts.tv_sec * 1000000 + ts.tv_nsec / 1000;
}

static int64_t loop_now_ms(const struct world *w)
{
    (void)w;
    return clock_us(CLOCK_REALTIME) / 1000;
}

static int64_t loop_mono_us(const struct world *w)
{
    (void)w;
    return clock_us(CLOCK_MONOTONIC);
}

/* A system call for every number would be felt by servers that number their answers. */
static uint64_t loop_random(struct world *w)
{
    struct loop *l = loop_of(w);

    if (l->n_random == 0) {
        if (getrandom(l->random, sizeof(l->random), 0) != (ssize_t)sizeof(l->random)) {
            perror("karpenter: getrandom");
            abort();
        }
        l->n_random = ARRAY_LEN(l->random);
    }
    uint64_t v = l->random[--l->n_random];
    l->random[l->n_random] = 0; /* tokens are made of these */
    return v;
}

/* ---- file descriptors ---- */

static void add_to_epoll(struct loop *l, int fd, struct epoll_event *ev)
{
    if (epoll_ctl(l->epoll, EPOLL_CTL_ADD, fd, ev) != 0) {
        perror("karpenter: epoll_ctl");
        abort();
    }
}

void loop_fd(struct world *w, int fd, uint32_t events, void (*fn)(void *ctx, int fd, uint32_t events), void *ctx)
{
    struct loop *l = loop_of(w);

    assert(fd >= 0);
    while (l->watches.n <= (uint32_t)fd)
        (void)vec_add(&l->watches);
    struct loop_watch *watch = &l->watches.v[fd];

    if (events == 0) {
        if (watch->in_epoll)
            (void)epoll_ctl(l->epoll, EPOLL_CTL_DEL, fd, NULL);
        watch->in_epoll = false;
        watch->fn = NULL;
        watch->generation++;
        return;
    }
    struct epoll_event ev = {.events = events, .data.u64 = (uint64_t)watch->generation << 32 | (uint32_t)fd};

    watch->fn = fn;
    watch->ctx = ctx;
    if (!watch->in_epoll || epoll_ctl(l->epoll, EPOLL_CTL_MOD, fd, &ev) != 0)
        add_to_epoll(l, fd, &ev); /* one that was closed and opened again has left epoll by itself */
    watch->in_epoll = true;
}

static void dispatch(struct loop *l, const struct epoll_event *ev)
{
    uint32_t fd = (uint32_t)ev->data.u64;
    struct loop_watch watch = l->watches.v[fd];

    if (watch.fn && watch.generation == (uint32_t)(ev->data.u64 >> 32))
        watch.fn(watch.ctx, (int)fd, ev->events);
}

/* ---- turns ---- */

/* Fires what is due now; what is set meanwhile waits. */
static void run_timers(struct loop *l)
{
    int64_t now = loop_mono_us(&l->w);
    uint64_t seq = l->core.timers.seq;

    for (;;) {
        const struct timer_slot *next = timers_next(&l->core.timers);

        if (!next || next->due_us > now || next->seq >= seq)
            return;
        struct timer *t = timers_pop(&l->core.timers);
        t->fn(t->ctx);
    }
}

/* Rounded up: a timer may be up to a millisecond late, never early. */
static int wait_ms(const struct loop *l)
{
    const struct timer_slot *next = timers_next(&l->core.timers);

    if (!next)
        return -1;
    int64_t us = next->due_us - loop_mono_us(&l->w);
    return us <= 0 ? 0 : (int)MIN(us / 1000 + 1, 60000);
}

static void turn(struct loop *l, int timeout_ms)
{
    struct epoll_event events[MAX_EVENTS];
    int n = epoll_wait(l->epoll, events, MAX_EVENTS, timeout_ms);

    if (n < 0 && errno != EINTR) {
        perror("karpenter: epoll_wait");
        abort();
    }
    for (int i = 0; i < n; i++)
        dispatch(l, &events[i]);
    run_timers(l);
}

static void loop_run(struct world *w)
{
    struct loop *l = loop_of(w);

    assert(w == &l->w && !l->running);
    l->running = true;
    while (!w->quit)
        turn(l, wait_ms(l));
    w->quit = false;
    l->running = false;
}

/* ---- signals and other threads ---- */

static void on_signals(void *ctx, int fd, uint32_t events)
{
    struct loop *l = ctx;
    struct signalfd_siginfo info;

    (void)events;
    while (read(fd, &info, sizeof(info)) == (ssize_t)sizeof(info))
        for (uint32_t i = 0; i < l->signals.n; i++)
            if (l->signals.v[i].signo == (int)info.ssi_signo)
                l->signals.v[i].fn(l->signals.v[i].ctx, (int)info.ssi_signo);
}

static void signal_set(const struct loop *l, sigset_t *ret)
{
    (void)sigemptyset(ret);
    for (uint32_t i = 0; i < l->signals.n; i++)
        (void)sigaddset(ret, l->signals.v[i].signo);
}

void loop_on_signal(struct world *w, int signo, void (*fn)(void *ctx, int signo), void *ctx)
{
    struct loop *l = loop_of(w);
    bool first = l->signal < 0;
    sigset_t set;

    vec_push(&l->signals, (struct loop_signal){signo, fn, ctx});
    signal_set(l, &set);
    (void)pthread_sigmask(SIG_BLOCK, &set, NULL);
    l->signal = signalfd(l->signal, &set, SFD_NONBLOCK | SFD_CLOEXEC);
    if (l->signal < 0) {
        perror("karpenter: signalfd");
        abort();
    }
    if (first)
        loop_fd(w, l->signal, EPOLLIN, on_signals, l);
}

void loop_post(struct world *w, void (*fn)(void *ctx), void *ctx)
{
    struct loop *l = loop_of(w);
    struct loop_letter *letter = xmalloc(sizeof(*letter));
    uint64_t one = 1;

    *letter = (struct loop_letter){atomic_load(&l->mail), fn, ctx};
    while (!atomic_compare_exchange_weak(&l->mail, &letter->next, letter))
        ;
    (void)!write(l->event, &one, sizeof(one)); /* fails only when it is readable anyway */
}

static struct loop_letter *take_mail(struct loop *l)
{
    struct loop_letter *newest = atomic_exchange(&l->mail, NULL), *oldest = NULL;

    while (newest) {
        struct loop_letter *next = newest->next;

        newest->next = oldest;
        oldest = newest;
        newest = next;
    }
    return oldest;
}

static void on_mail(void *ctx, int fd, uint32_t events)
{
    uint64_t count;

    (void)events;
    (void)!read(fd, &count, sizeof(count));
    for (struct loop_letter *m = take_mail(ctx); m;) {
        struct loop_letter letter = *m;

        free(m);
        letter.fn(letter.ctx);
        m = letter.next;
    }
}

/* ---- calls ---- */

static bool call_start(struct http_call *c, const struct http_request *r, struct err *e)
{
    return r->shared ? h2_start(c, r, e) : client_start(c, r, e);
}

static const struct wire_ops *wire_ops(const struct http_call *c)
{
    return *(const struct wire_ops **)c->wire;
}

static void call_cut(struct http_call *c)
{
    wire_ops(c)->cut(c);
}

static void call_pause(struct http_call *c, bool on)
{
    wire_ops(c)->pause(c, on);
}

/* ---- life ---- */

static const struct world_ops loop_ops = {
    .now_ms = loop_now_ms,
    .mono_us = loop_mono_us,
    .random = loop_random,
    .run = loop_run,
    .call_start = call_start,
    .call_cut = call_cut,
    .call_pause = call_pause,
};

bool loop_is(const struct world *w)
{
    return w->ops == &loop_ops;
}

/* A connection is a file descriptor, and the usual limit of 1,024 is for programs that use select(). */
static void raise_file_limit(void)
{
    struct rlimit lim;

    if (getrlimit(RLIMIT_NOFILE, &lim) == 0 && lim.rlim_cur < lim.rlim_max) {
        lim.rlim_cur = lim.rlim_max;
        (void)setrlimit(RLIMIT_NOFILE, &lim);
    }
}

struct world *loop_new(void)
{
    struct loop *l = xcalloc(1, sizeof(*l));

    (void)signal(SIGPIPE, SIG_IGN);
    raise_file_limit();
    l->own = (struct loop_world){.w = {.ops = &loop_ops, .core = &l->core}, .loop = l};
    l->signal = -1;
    l->epoll = epoll_create1(EPOLL_CLOEXEC);
    l->event = eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC);
    if (l->epoll < 0 || l->event < 0) {
        perror("karpenter: epoll_create1 or eventfd");
        abort();
    }
    loop_fd(&l->w, l->event, EPOLLIN, on_mail, l);
    l->client = client_new(l);
    l->h2 = h2_new(l);
    return &l->w;
}

/* ---- processes ---- */

struct world *loop_process(struct world *loop)
{
    struct loop *l = loop_of(loop);
    struct loop_world *p = xcalloc(1, sizeof(*p));

    *p = (struct loop_world){.w = {.ops = &loop_ops, .core = &l->core}, .loop = l};
    vec_push(&l->processes, p);
    return &p->w;
}

void loop_kill(struct world *process)
{
    assert(process != &loop_of(process)->w);
    world_die(process);
}

bool loop_unwound(const struct world *process)
{
    return process->dead && process->n_fibers == 0 && !process->calls;
}

void loop_unwind(struct world *process)
{
    struct loop *l = loop_of(process);

    assert(process->dead && !l->running);
    for (uint32_t n = 0; !loop_unwound(process); n++) {
        fibers_unwinding(process, n);
        turn(l, 0);
    }
}

void loop_reap(struct world *process)
{
    struct loop *l = loop_of(process);
    uint32_t kept = 0;

    assert(loop_unwound(process));
    for (uint32_t i = 0; i < l->processes.n; i++)
        if (&l->processes.v[i]->w != process)
            l->processes.v[kept++] = l->processes.v[i];
    l->processes.n = kept;
    free(process);
}

/* ---- the end ---- */

static void unwind(struct loop *l)
{
    while (l->processes.n) {
        struct world *p = &vec_last(&l->processes)->w;

        loop_kill(p);
        loop_unwind(p);
        loop_reap(p);
    }
    world_die(&l->w);
    for (uint32_t i = l->servers.n; i-- > 0;)
        httpd_close(l->servers.v[i]);
    for (uint32_t n = 0; l->w.n_fibers || l->w.calls; n++) {
        fibers_unwinding(&l->w, n);
        turn(l, 0);
    }
    while (l->servers.n)
        httpd_destroy(vec_last(&l->servers));
}

static void unblock_signals(struct loop *l)
{
    sigset_t set;

    if (l->signal < 0)
        return;
    signal_set(l, &set);
    (void)close(l->signal);
    (void)pthread_sigmask(SIG_UNBLOCK, &set, NULL);
}

void loop_free(struct world *w)
{
    if (!w)
        return;
    struct loop *l = loop_of(w);

    assert(!l->running);
    unwind(l);
    h2_free(l->h2);
    client_free(l->client);
    world_core_fini(&l->core);
    unblock_signals(l);
    (void)close(l->epoll);
    (void)close(l->event);
    for (struct loop_letter *m = take_mail(l); m;) {
        struct loop_letter *next = m->next;

        free(m);
        m = next;
    }
    vec_fini(&l->watches);
    vec_fini(&l->signals);
    vec_fini(&l->servers);
    vec_fini(&l->processes);
    free(l);
}
