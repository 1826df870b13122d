/* dial - a TLS connection to a server: its name looked up, its addresses tried one after the other, its certificate checked.
 *
 * Nothing blocks: names are looked up by a thread of their own, because the C library has no other way, and all else is done by the
 * loop. A dial ends with one call of `done`, or with dial_cancel().
 */
#pragma once

#include <openssl/ssl.h>

#include "base/err.h"
#include "net/http.h"
#include "net/world.h"

/* A context for clients that trust and are trusted as said; NULL with ERR_INVALID when the certificates cannot be read. `alpn` is the
 * protocols to offer, each with its length before it; t may be NULL. */
SSL_CTX *dial_tls(const struct http_trust *t, str alpn, struct err *e);

struct dial;

struct dial_options {
    SSL_CTX *tls;
    const char *host, *port;
    const char *server_name; /* that the certificate has to be for; NULL: the host */
    int64_t timeout_us;
    /* The connection is the receiver's: ssl, which has the file descriptor, is NULL with an error. The dial is no more. */
    void (*done)(void *ctx, SSL *ssl, int fd, const struct err *e);
    void *ctx;
};

struct dial *dial_start(struct world *w, const struct dial_options *o); /* strings are copied */
void dial_cancel(struct dial *d);                                       /* before `done`; fine with NULL */
