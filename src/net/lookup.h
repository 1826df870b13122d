/* lookup - the addresses of a host, without blocking the loop. */
#pragma once

#include <netdb.h>

#include "net/world.h"

struct lookup;

/* `done` comes from the loop, never from inside lookup_start(); list is the receiver's (freeaddrinfo()) and NULL with a `code` of
 * getaddrinfo(). The lookup is no more then. */
struct lookup *lookup_start(struct world *w, const char *host, const char *port,
                            void (*done)(void *ctx, struct addrinfo *list, int code), void *ctx);
void lookup_cancel(struct lookup *l); /* before `done`; fine with NULL */
