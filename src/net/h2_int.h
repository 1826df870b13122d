/* h2_int - what the two halves of HTTP/2 share: h2.c has servers and calls, h2_conn.c a connection and its frames. */
#pragma once

#include <openssl/ssl.h>

#include "net/answer.h"
#include "net/dial.h"
#include "net/loop_int.h"

/* A server, as one who trusts it in one way sees it. */
struct h2_origin {
    struct h2 *h2;
    struct arena *arena; /* of the texts below */
    const char *host, *port;
    struct http_trust trust;
    SSL_CTX *tls;
    bool http1; /* it does not speak HTTP/2 */
    struct dial *dial;
    uint32_t users;                  /* calls, connections, a dial */
    VEC(struct h2_stream *) waiting; /* for a connection */
};

/* A call: the wire that http_call has. */
struct h2_stream {
    const struct wire_ops *ops;
    struct http_call *call; /* NULL: nobody waits for it any more */
    struct h2_origin *origin;
    struct arena *arena; /* of the request */
    struct http_request request;
    str authority, path;
    struct h2_conn *conn;          /* NULL: not sent, or over */
    struct h2_stream *prev, *next; /* of the connection */
    int32_t id;
    size_t body_sent;
    struct answer head;
    struct sb held; /* came while it was paused */
    unsigned tries;
    bool too_long, paused;
    bool complete;   /* the answer is */
    bool over;       /* but for what is held */
    struct err fate; /* how it is over; kind 0: well */
};

struct h2 {
    struct loop *l;
    struct timer work; /* what the lists hold is to be done */
    VEC(struct h2_stream *) starting, dying, waking;
    VEC(struct h2_origin *) origins;
    struct h2_conn *conns;
};

/* ---- h2.c, for connections ---- */

void h2_stream_head(struct h2_stream *s);
void h2_stream_data(struct h2_stream *s, str bytes);
/* It has left its connection. e->kind 0: the answer is complete, or broke off without a reason. */
void h2_stream_over(struct h2_stream *s, const struct err *e);
void h2_stream_again(struct h2_stream *s); /* the server has not looked at it: it may be sent again */
bool h2_stream_may_repeat(const struct h2_stream *s);
void h2_stream_use_http1(struct h2_stream *s);
void h2_origin_release(struct h2_origin *o); /* by a user; the last one lets it go */

/* ---- h2_conn.c ---- */

struct h2_conn *h2_conn_new(struct h2_origin *o, SSL *ssl, int fd);
void h2_conn_free(struct h2_conn *c); /* no stream is left */
bool h2_conn_submit(struct h2_conn *c, struct h2_stream *s, struct err *e);
void h2_conn_cancel(struct h2_stream *s);
void h2_conn_taken(struct h2_stream *s, size_t n); /* bytes that were held */
void h2_conn_flush_all(struct h2 *h2);
struct h2_conn *h2_conn_with_room(const struct h2_origin *o); /* NULL: there is none for another call */
