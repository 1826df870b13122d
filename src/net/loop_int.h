/* loop_int - the real world, for its parts: loop.c, client.c, httpd.c. */
#pragma once

#include "net/loop.h"
#include "net/world_int.h"

struct client;
struct h2;

/* Who wants to know of a file descriptor. Events of epoll carry the generation, because one that was fetched together with
 * others may have been closed, and its number given to somebody else, by the time its turn comes. */
struct loop_watch {
    void (*fn)(void *ctx, int fd, uint32_t events);
    void *ctx;
    uint32_t generation;
    bool in_epoll;
};

struct loop_signal {
    int signo;
    void (*fn)(void *ctx, int signo);
    void *ctx;
};

struct loop_letter;

/* The loop's own world, and those of its processes. */
struct loop_world {
    struct world w;
    struct loop *loop;
};

struct loop {
    union {
        struct loop_world own;
        struct world w;
    };
    struct world_core core;
    int epoll, event; /* event: written by loop_post() */
    int signal;       /* signalfd; -1: none yet */
    bool running;
    uint64_t random[32]; /* fetched from the kernel and not used yet: the first n_random */
    uint32_t n_random;
    VEC(struct loop_watch) watches; /* by file descriptor */
    VEC(struct loop_signal) signals;
    struct loop_letter *_Atomic mail; /* newest first */
    struct client *client;
    struct h2 *h2;
    VEC(struct loop_world *) processes;
    VEC(struct httpd *) servers; /* that listen, or whose exchanges somebody still has */
};

static inline struct loop *loop_of(struct world *w)
{
    return ((struct loop_world *)w)->loop;
}

/* A wire of either transport begins with a pointer to this. */
struct wire_ops {
    void (*cut)(struct http_call *c);
    void (*pause)(struct http_call *c, bool on);
};

/* Calls over libcurl on this loop. */
struct client *client_new(struct loop *l);
void client_free(struct client *cl); /* no call is left */
bool client_start(struct http_call *c, const struct http_request *r, struct err *e);

/* Calls that share connections: HTTP/2. What cannot be sent that way goes to client_start(). */
struct h2 *h2_new(struct loop *l);
void h2_free(struct h2 *h2); /* no call is left */
bool h2_start(struct http_call *c, const struct http_request *r, struct err *e);

/* Forgets the exchanges that nobody has ended. */
void httpd_destroy(struct httpd *d);
