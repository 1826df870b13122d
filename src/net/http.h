/* http - calls and their other end, through a world.
 *
 * The client side starts a call and is told of head, data and end by callbacks; fibers use http_fetch() and http_open() /
 * http_read(), which park. Nothing is retried here: that is the caller's policy. (One exception that HTTP allows: when a kept
 * connection turns out to be closed before the first byte of an answer, a request without a body is sent again on a new one.)
 * Redirects are not followed.
 *
 * The server side is a function from an exchange to a reply. The same function serves sockets (httpd_listen(), real world)
 * and calls inside a simulated world. A reply is sent in pieces that may be handed over without a copy; it may stay open for
 * as long as the server likes (a watch).
 */
#pragma once

#include "base/arena.h"
#include "base/err.h"
#include "base/sb.h"
#include "net/world.h"

#define HTTP_MAX_HEAD (64u << 10) /* bytes of a request's or an answer's head */
#define HTTP_MAX_BODY (64u << 20) /* default bound of a body that is collected whole */

struct http_header {
    str name, value;
};

/* ---- client ---- */

/* How to know the server, and how it knows us. Lives longer than the calls that use it. */
struct http_trust {
    const char *ca_pem;             /* NULL: the system's authorities */
    const char *cert_pem, *key_pem; /* client certificate; NULL: none */
    const char *server_name;        /* NULL: the host of the url */
    const char *proxy;              /* NULL: none; environment variables are not looked at */
    bool insecure;                  /* kubeconfig's insecure-skip-tls-verify */
};

struct http_request {
    const char *method; /* NULL: GET */
    str url;            /* absolute, escaped, without a fragment */
    const struct http_header *headers;
    uint32_t n_headers;
    str body;                       /* copied before http_start() returns; sent only with methods that have one */
    int64_t timeout_us;             /* for all of it; 0: none */
    int64_t idle_timeout_us;        /* without a byte from the server; 0: none */
    size_t max_body;                /* http_fetch(): a longer answer is an error; 0: HTTP_MAX_BODY */
    const struct http_trust *trust; /* NULL: the system's authorities */
    bool shared;                    /* many calls go there: if the server speaks HTTP/2, on one connection */
};

/* on_head once, on_data any number of times, on_end once and last; each may be NULL. e is NULL when the answer is complete.
 * ERR_TIMEOUT; ERR_IO; ERR_INVALID for a request that cannot be sent, trust that cannot be used, an answer that is too long. A
 * status code is no error here. Strings are valid during the callback, in which any call may be started or cancelled. */
struct http_events {
    void *ctx;
    void (*on_head)(void *ctx, int status, const struct http_header *headers, uint32_t n);
    void (*on_data)(void *ctx, str bytes);
    void (*on_end)(void *ctx, const struct err *e);
};

struct http_call;

struct http_call *http_start(struct world *w, const struct http_request *r, const struct http_events *ev);
void http_cancel(struct http_call *c); /* before its end; no callback comes any more */

/* For fibers. */
struct http_response {
    int status;
    struct http_header *headers; /* names as sent by the server; compare with http_header_get() */
    uint32_t n_headers;
    str body; /* with JSON_PAD-like slack: 16 writable bytes follow */
};

str http_header_get(const struct http_header *h, uint32_t n, const char *name); /* any case; empty when absent */

/* false: no complete answer. The answer lives in the arena. */
bool http_fetch(struct world *w, const struct http_request *r, struct arena *a, struct http_response *ret,
                struct err *e);

struct http_stream;

/* Parks until the head is there. The body is read piece by piece and not bounded. */
struct http_stream *http_open(struct world *w, const struct http_request *r, struct arena *a,
                              struct http_response *ret_head, struct err *e);
/* true with bytes; true with none at the end; false when it broke. A piece is valid until the next call. */
bool http_read(struct http_stream *s, str *ret_bytes, struct err *e);
void http_close(struct http_stream *s);

/* ---- server ---- */

/* One request and the reply to it. Fields are read only and live until the exchange is over. When the peer leaves or the
 * server's world dies, what the server still says goes nowhere, but the exchange stays valid: until on_over() has returned, or,
 * for a server that has not set it, until the server ends or aborts its reply. */
struct exchange {
    const char *method;
    str path;  /* as sent, still escaped, without the query */
    str query; /* after the '?', still escaped */
    const struct http_header *headers;
    uint32_t n_headers;
    str body;            /* whole; 16 writable bytes follow */
    struct arena *arena; /* of this exchange: for whatever the server needs until it is over */

    /* Set by the server when it wants to know that the exchange is over: the reply was sent to its end, or the peer has gone.
     * After it x is no more. */
    void (*on_over)(struct exchange *x);
    void *ctx;
};

typedef void (*http_serve_fn)(void *server, struct exchange *x);

/* The server answers from inside its http_serve_fn or later, from any callback of the same world. A reply that has ended by
 * the time its head is sent carries its length. HEAD is answered like GET; the data is left out. After reply_end() or
 * reply_abort() the exchange may be over at any time. */
void reply_begin(struct exchange *x, int status, const struct http_header *headers, uint32_t n);
void reply_data(struct exchange *x, str bytes); /* copied */
/* Handed over without a copy: done(arg) is called when the bytes are no longer needed, which may be at once. */
void reply_piece(struct exchange *x, str bytes, void (*done)(void *arg), void *arg);
void reply_end(struct exchange *x);
void reply_abort(struct exchange *x);     /* breaks the connection: the peer sees an error, not an end */
int reply_code(const struct exchange *x); /* 0: not begun */
size_t reply_queued(
    const struct exchange *x); /* bytes that the peer has not taken yet: for servers that bound slow readers */
/* All of it at once; copies. */
void reply_all(struct exchange *x, int status, const char *content_type, str body);

/* ---- paths and queries ---- */

/* Percent-decoding into the arena; '+' is a space in queries only. false: bad escape or a NUL byte. */
bool url_decode(struct arena *a, str s, bool query, str *ret);
void url_encode(struct sb *out, str s); /* everything but letters, digits, - . _ ~ */
/* The next name=value of a query; false at the end. Values are decoded. A pair that cannot be decoded ends it with *ret_bad. */
bool query_next(struct arena *a, str *rest, str *ret_name, str *ret_value, bool *ret_bad);
