/* The C library only looks up names by blocking, so a thread does it. The thread shares nothing with the loop but the job: the question,
 * the answer, and an event descriptor to say that it is there. Whoever lets go of the job last frees it; a lookup that is cancelled, or
 * whose loop ends, leaves the thread to finish alone. */
#include "net/lookup.h"

#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include "base/arena.h"
#include "net/loop.h"

struct job {
    atomic_uint holders;
    int event; /* readable: the answer is there */
    char *host, *port;
    struct addrinfo *list;
    int code;
};

struct lookup {
    struct world *w;
    struct job *job;
    void (*done)(void *ctx, struct addrinfo *list, int code);
    void *ctx;
};

static char *copy(const char *text)
{
    size_t n = strlen(text) + 1;

    return memcpy(xmalloc(n), text, n);
}

static void let_go(struct job *j)
{
    if (atomic_fetch_sub(&j->holders, 1) != 1)
        return;
    if (j->list)
        freeaddrinfo(j->list);
    (void)close(j->event);
    free(j->host);
    free(j->port);
    free(j);
}

static void *look_up(void *arg)
{
    const struct addrinfo hints = {.ai_socktype = SOCK_STREAM, .ai_flags = AI_ADDRCONFIG};
    struct job *j = arg;
    uint64_t one = 1;

    j->code = getaddrinfo(j->host, j->port, &hints, &j->list);
    if (j->code != 0)
        j->list = NULL;
    (void)!write(j->event, &one, sizeof(one));
    let_go(j);
    return NULL;
}

/* Signals are for the loop's thread. */
static bool start_thread(struct job *j)
{
    sigset_t all, before;
    pthread_attr_t attr;
    pthread_t thread;

    (void)sigfillset(&all);
    (void)pthread_sigmask(SIG_SETMASK, &all, &before);
    (void)pthread_attr_init(&attr);
    (void)pthread_attr_setdetachstate(&attr, PTHREAD_CREATE_DETACHED);
    bool ok = pthread_create(&thread, &attr, look_up, j) == 0;
    (void)pthread_attr_destroy(&attr);
    (void)pthread_sigmask(SIG_SETMASK, &before, NULL);
    return ok;
}

/* An address needs nobody to be asked. */
static bool is_address(struct job *j)
{
    const struct addrinfo hints = {.ai_socktype = SOCK_STREAM, .ai_flags = AI_NUMERICHOST | AI_NUMERICSERV};

    if (getaddrinfo(j->host, j->port, &hints, &j->list) == 0)
        return true;
    j->list = NULL;
    return false;
}

static void on_answer(void *ctx, int fd, uint32_t events)
{
    struct lookup l = *(struct lookup *)ctx;
    struct addrinfo *list = l.job->list;
    int code = l.job->code;

    (void)fd;
    (void)events;
    l.job->list = NULL;
    lookup_cancel(ctx);
    l.done(l.ctx, list, code);
}

struct lookup *lookup_start(struct world *w, const char *host, const char *port,
                            void (*done)(void *ctx, struct addrinfo *list, int code), void *ctx)
{
    struct lookup *l = xmalloc(sizeof(*l));
    struct job *j = xcalloc(1, sizeof(*j));
    uint64_t one = 1;

    *l = (struct lookup){w, j, done, ctx};
    *j = (struct job){.holders = 2, .event = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)};
    j->host = copy(host);
    j->port = copy(port);
    if (j->event < 0)
        abort(); /* no descriptor is left: nothing works any more */
    if (is_address(j) || !start_thread(j)) {
        j->code = j->list ? 0 : EAI_AGAIN;
        (void)!write(j->event, &one, sizeof(one));
        let_go(j);
    }
    loop_fd(w, j->event, EPOLLIN, on_answer, l);
    return l;
}

void lookup_cancel(struct lookup *l)
{
    if (!l)
        return;
    loop_fd(l->w, l->job->event, 0, NULL, NULL);
    let_go(l->job);
    free(l);
}
