/* h2_server - a server of HTTP/2 over TLS on the loop, for tests of the client: ours speaks HTTP/1.1 only.
 *
 * Many exchanges share a connection, as with a real API server: their frames travel mixed, several of them in one record of TLS.
 * The exchanges are the same as everybody else's (net/http.h).
 */
#pragma once

#include "net/loop.h"

struct h2_server;

struct h2_server_options {
    const char *cert_pem, *key_pem;
};

struct h2_server *h2_server_listen(struct world *w, const struct h2_server_options *o, http_serve_fn serve,
                                   void *server, struct err *e);
void h2_server_limit(struct h2_server *s, uint32_t max_streams); /* of later connections; 100 unless said */
uint16_t h2_server_port(const struct h2_server *s);
uint32_t h2_server_connections(const struct h2_server *s); /* that were ever opened */
void h2_server_drop(struct h2_server *s);                  /* breaks all connections, without a word */
void h2_server_retire(struct h2_server *s); /* GOAWAY: what is under way goes on, new streams need a new connection */
void h2_server_close(struct h2_server *s);  /* before loop_free() */
void h2_server_free(struct h2_server *s);   /* after it: the exchanges that nobody has ended are forgotten */
