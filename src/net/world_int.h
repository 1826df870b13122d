/* world_int - what a world is made of, for those who make one: net/loop.c and sim/world.c. Nobody else includes this.
 *
 * A world is a table of operations, a heap of timers that several worlds may share, and lists of what is under way: fibers
 * and HTTP calls. Everything that does not depend on how bytes travel (fibers, deadlines, death, replies) is done once, in
 * net/; the two implementations only move time and bytes.
 */
#pragma once

#include "base/err.h"
#include "base/vec.h"
#include "net/fiber.h"
#include "net/http.h"
#include "net/timers.h"
#include "net/world.h"

struct http_call;

struct world_ops {
    int64_t (*now_ms)(const struct world *w);
    int64_t (*mono_us)(const struct world *w);
    uint64_t (*random)(struct world *w);
    void (*run)(struct world *w);

    /* Sends the request and sets c->wire, or fails at once. Reports by http_call_head() … http_call_end(), later. */
    bool (*call_start)(struct http_call *c, const struct http_request *r, struct err *e);
    /* The call has ended for its caller: the wire must not touch it again. */
    void (*call_cut)(struct http_call *c);
    /* Back-pressure: as long as it is on, data stays where it is. */
    void (*call_pause)(struct http_call *c, bool on);
};

/* What the processes of one simulation share; the real world has one to itself. */
struct world_core {
    struct timers timers;
    struct fiber *idle_fibers; /* that wait with their stacks for something to do */
    uint32_t n_idle_fibers;
    struct http_call *idle_calls;
};

struct world {
    const struct world_ops *ops;
    struct world_core *core;
    bool dead, quit;
    struct fiber *fibers; /* that have not returned, newest first */
    uint32_t n_fibers;
    struct http_call *calls; /* that have not ended, newest first */
};

void world_core_fini(struct world_core *core);
void world_die(struct world *w); /* what was under way starts to unwind */

/* t->fn runs as soon as control is back in the loop, even if the world is dead by then. */
void world_soon(struct world *w, struct timer *t);
void world_inner_timer(struct world *w, struct timer *t, int64_t after_us);

/* ---- fibers ---- */

/* Stops the program if those of a dead world have not returned after so many events. */
void fibers_unwinding(const struct world *w, uint32_t n_events);
void fibers_die(struct world *w);              /* part of world_die() */
void fiber_pool_fini(struct world_core *core); /* part of world_core_fini() */

/* Waiting for something of our own, which must not eat a fiber_wake() of somebody else's. The other side calls
 * fiber_unblock() exactly once. */
void fiber_block(void);
void fiber_unblock(struct fiber *f);

/* ---- calls ---- */

struct http_call {
    struct world *w;
    struct http_events ev;
    struct http_call *prev, *next;
    void *wire;          /* of the world's transport; NULL once it has been cut */
    struct timer clock;  /* next deadline, or the end that is already certain */
    int64_t deadline_us; /* 0: none */
    int64_t idle_us;     /* 0: none */
    int64_t last_us;     /* when the server was last heard of */
    bool paused;
    struct err *fate; /* how it ends; NULL: not known yet */
};

/* From the wire. Each may lead to http_cancel(), so look at what call_cut() did before going on. */
void http_call_head(struct http_call *c, int status, const struct http_header *headers, uint32_t n);
void http_call_data(struct http_call *c, str bytes);
void http_call_end(struct http_call *c, const struct err *e); /* after this c is no more; e NULL: complete */

void http_call_pause(struct http_call *c, bool on);
bool http_method_has_body(const char *method);
void http_calls_die(struct world *w);              /* part of world_die() */
void http_call_pool_fini(struct world_core *core); /* part of world_core_fini() */

/* ---- replies ---- */

/* A part of a reply on its way. */
struct piece {
    str bytes;
    void (*done)(void *arg);
    void *arg;
    int64_t due_us; /* simulated: when it reaches the client; -1: new */
};

/* Pieces in order, [from, n). */
struct pieces {
    VEC(struct piece) list;
    uint32_t from;
    size_t bytes; /* of those in [from, n) */
};

void pieces_take(struct pieces *p, size_t n); /* the first n bytes are no longer needed */
void pieces_clear(struct pieces *p);

/* An exchange as the transports see it. */
struct served {
    struct exchange x;
    struct world *w; /* the server's */
    const struct served_ops *ops;
    int status;
    struct http_header *headers; /* of the reply, in x.arena */
    uint32_t n_headers;
    struct pieces out;
    size_t in_arena; /* bytes of the reply that were copied into x.arena */
    bool begun, ended, aborted;
    bool gone; /* nobody is at the other end any more */
};

struct served_ops {
    /* There is something new to send: called from the reply_*() functions, so it must only make a note. */
    void (*changed)(struct served *s);
    void (*release)(struct served *s); /* nobody needs it any more */
};

/* The reply is through or the peer has gone: tells the server. s may be no more afterwards. Without an on_over() it lives on
 * until the server ends its reply. */
void served_over(struct served *s);
