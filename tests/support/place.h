/* place - somewhere to run a test of HTTP: a world with a client and a server, of any kind. The same test body runs in all of
 * them, which is the point of having one seam.
 */
#pragma once

#include "base/arena.h"
#include "net/fiber.h"
#include "net/http.h"
#include "net/loop.h"
#include "net/world.h"
#include "sim/world.h"
#include "support/h2_server.h"

enum place_kind {
    PLACE_SIM,  /* two simulated processes */
    PLACE_LOOP, /* client and server on one loop, over a socket of loopback */
    PLACE_TLS,  /* the same with TLS */
    PLACE_H2,   /* with TLS and HTTP/2: all calls on one connection */
};

#define PLACE_KINDS 4

struct place {
    const char *name; /* of the kind, for messages */
    enum place_kind kind;
    struct world *client, *server; /* the same one in a loop */
    struct sim *sim;               /* NULL in a loop */
    struct httpd *httpd;           /* NULL in a simulation, and with HTTP/2 */
    struct h2_server *h2;          /* NULL without HTTP/2 */
    struct arena *arena;
    struct http_trust trust;
    str base; /* "https://127.0.0.1:40123" */
};

/* o may be NULL; its certificate is set by place_new(). */
struct place *place_new(enum place_kind kind, const struct httpd_options *o, http_serve_fn serve, void *server);
void place_free(struct place *p);

/* Runs fn as a fiber of the client until it returns. */
void place_run(struct place *p, void (*fn)(void *arg), void *arg);

/* A request to this path with the place's trust. */
struct http_request place_request(struct place *p, const char *method, const char *path, const char *body);
