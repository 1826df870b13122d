/* One attempt at a time: connect to an address, shake hands. An address that does not answer gets a share of the time only, if there
 * are others. */
#include "net/dial.h"

#include <arpa/inet.h>
#include <errno.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <openssl/err.h>
#include <openssl/pem.h>
#include <openssl/x509v3.h>
#include <stdlib.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/arena.h"
#include "net/lookup.h"
#include "net/loop_int.h"

#define ADDRESS_US (5 * 1000000ll) /* for one that is not the last */

struct dial {
    struct world *w;
    struct dial_options o;
    struct arena *arena;
    struct lookup *lookup;
    struct addrinfo *list, *next;
    struct timer all, one; /* time is up: for the dial, for this address */
    int fd;                /* -1: none */
    SSL *ssl;              /* NULL: not connected yet */
    struct err why;        /* of the last address */
};

/* ---- trust ---- */

/* OpenSSL's own word for what went wrong; its queue is empty afterwards. */
static bool tls_failed(struct err *e, enum err_kind kind, const char *what)
{
    unsigned long code = ERR_peek_last_error();
    const char *why = code ? ERR_reason_error_string(code) : NULL;

    ERR_clear_error();
    return err_set(e, kind, "%s%s%s", what, why ? ": " : "", why ? why : "");
}

static bool trust_authorities(SSL_CTX *tls, const char *pem, struct err *e)
{
    X509_STORE *store = SSL_CTX_get_cert_store(tls);
    BIO *bio = BIO_new_mem_buf(pem, -1);
    uint32_t n = 0;

    for (X509 *x; (x = PEM_read_bio_X509(bio, NULL, NULL, NULL)); n++) {
        (void)X509_STORE_add_cert(store, x);
        X509_free(x);
    }
    BIO_free(bio);
    if (n == 0)
        return tls_failed(e, ERR_INVALID, "cannot read the authorities' certificates");
    ERR_clear_error(); /* the end of the text */
    return true;
}

static bool show_certificate(SSL_CTX *tls, const struct http_trust *t, struct err *e)
{
    BIO *cert = BIO_new_mem_buf(t->cert_pem, -1), *key = BIO_new_mem_buf(t->key_pem ? t->key_pem : t->cert_pem, -1);
    X509 *x = PEM_read_bio_X509(cert, NULL, NULL, NULL);
    EVP_PKEY *k = PEM_read_bio_PrivateKey(key, NULL, NULL, NULL);
    bool ok = x && k && SSL_CTX_use_certificate(tls, x) == 1 && SSL_CTX_use_PrivateKey(tls, k) == 1;

    X509_free(x);
    while (ok && (x = PEM_read_bio_X509(cert, NULL, NULL, NULL))) /* its chain */
        if (SSL_CTX_add0_chain_cert(tls, x) != 1)
            X509_free(x);
    EVP_PKEY_free(k);
    BIO_free(cert);
    BIO_free(key);
    if (!ok)
        return tls_failed(e, ERR_INVALID, "cannot use the client certificate");
    ERR_clear_error();
    return true;
}

SSL_CTX *dial_tls(const struct http_trust *t, str alpn, struct err *e)
{
    SSL_CTX *tls = SSL_CTX_new(TLS_client_method());

    assert(tls);
    (void)SSL_CTX_set_min_proto_version(tls, TLS1_2_VERSION);
    (void)SSL_CTX_set_alpn_protos(tls, (const unsigned char *)alpn.p, (unsigned)alpn.n);
    (void)SSL_CTX_set_mode(tls, SSL_MODE_ENABLE_PARTIAL_WRITE | SSL_MODE_ACCEPT_MOVING_WRITE_BUFFER);
    SSL_CTX_set_read_ahead(tls, 1); /* one system call for a record, or for many */
    SSL_CTX_set_verify(tls, t && t->insecure ? SSL_VERIFY_NONE : SSL_VERIFY_PEER, NULL);
    /* Whoever is named an authority is one, even if somebody else vouches for it. */
    (void)X509_VERIFY_PARAM_set_flags(SSL_CTX_get0_param(tls), X509_V_FLAG_PARTIAL_CHAIN);
    bool ok = t && t->ca_pem ? trust_authorities(tls, t->ca_pem, e) : SSL_CTX_set_default_verify_paths(tls) == 1;

    if (ok && t && t->cert_pem)
        ok = show_certificate(tls, t, e);
    if (ok)
        return tls;
    SSL_CTX_free(tls);
    return NULL;
}

/* ---- its end ---- */

static void drop_socket(struct dial *d)
{
    timer_stop(d->w, &d->one);
    SSL_free(d->ssl);
    d->ssl = NULL;
    if (d->fd < 0)
        return;
    loop_fd(d->w, d->fd, 0, NULL, NULL);
    (void)close(d->fd);
    d->fd = -1;
}

void dial_cancel(struct dial *d)
{
    if (!d)
        return;
    drop_socket(d);
    timer_stop(d->w, &d->all);
    lookup_cancel(d->lookup);
    if (d->list)
        freeaddrinfo(d->list);
    arena_free(d->arena);
    free(d);
}

static void fail(struct dial *d, const struct err *e)
{
    struct dial_options o = d->o;
    struct err why = *e;

    dial_cancel(d);
    o.done(o.ctx, NULL, -1, &why);
}

static void succeed(struct dial *d)
{
    struct dial_options o = d->o;
    SSL *ssl = d->ssl;
    int fd = d->fd;

    loop_fd(d->w, fd, 0, NULL, NULL);
    d->ssl = NULL;
    d->fd = -1;
    dial_cancel(d);
    o.done(o.ctx, ssl, fd, NULL);
}

/* ---- one address after the other ---- */

static void try_next(struct dial *d);

static void address_failed(struct dial *d)
{
    drop_socket(d);
    try_next(d);
}

static void describe(struct dial *d, enum err_kind kind, const char *why)
{
    (void)err_set(&d->why, kind, "cannot connect to %s port %s: %s", d->o.host, d->o.port, why);
}

static void handshake_failed(struct dial *d)
{
    long verdict = SSL_get_verify_result(d->ssl);
    unsigned long code = ERR_peek_last_error();
    const char *why = code ? ERR_reason_error_string(code) : NULL;

    if (verdict != X509_V_OK)
        why = X509_verify_cert_error_string(verdict);
    (void)err_set(&d->why, ERR_IO, "no TLS connection to %s port %s: %s", d->o.host, d->o.port,
                  why ? why : "the server closed the connection");
    ERR_clear_error();
}

static void on_ready(void *ctx, int fd, uint32_t events)
{
    struct dial *d = ctx;
    int wrong = 0;
    socklen_t n = sizeof(wrong);

    (void)events;
    if (getsockopt(fd, SOL_SOCKET, SO_ERROR, &wrong, &n) == 0 && wrong != 0) {
        describe(d, ERR_IO, strerror(wrong));
        address_failed(d);
        return;
    }
    ERR_clear_error();
    int r = SSL_connect(d->ssl), why = SSL_get_error(d->ssl, r);
    if (r == 1) {
        succeed(d);
    } else if (why == SSL_ERROR_WANT_READ || why == SSL_ERROR_WANT_WRITE) {
        loop_fd(d->w, fd, why == SSL_ERROR_WANT_READ ? EPOLLIN : EPOLLOUT, on_ready, d);
    } else {
        handshake_failed(d);
        fail(d, &d->why); /* another address would be the same server */
    }
}

/* The name that the certificate has to be for. */
static bool set_name(struct dial *d)
{
    const char *name = d->o.server_name ? d->o.server_name : d->o.host;
    X509_VERIFY_PARAM *p = SSL_get0_param(d->ssl);

    if (X509_VERIFY_PARAM_set1_ip_asc(p, name) == 1)
        return true;
    ERR_clear_error();
    X509_VERIFY_PARAM_set_hostflags(p, X509_CHECK_FLAG_NO_PARTIAL_WILDCARDS);
    return X509_VERIFY_PARAM_set1_host(p, name, 0) == 1 && SSL_set_tlsext_host_name(d->ssl, name) == 1;
}

static bool open_socket(struct dial *d, const struct addrinfo *a)
{
    static const int on = 1;

    d->fd = socket(a->ai_family, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
    if (d->fd < 0)
        return false;
    (void)setsockopt(d->fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof(on));
    (void)setsockopt(d->fd, SOL_SOCKET, SO_KEEPALIVE, &on, sizeof(on));
    return connect(d->fd, a->ai_addr, a->ai_addrlen) == 0 || errno == EINPROGRESS;
}

static void try_next(struct dial *d)
{
    const struct addrinfo *a = d->next;

    if (!a) {
        fail(d, &d->why);
        return;
    }
    d->next = a->ai_next;
    if (!open_socket(d, a)) {
        describe(d, ERR_IO, strerror(errno));
        address_failed(d);
        return;
    }
    d->ssl = SSL_new(d->o.tls);
    if (!d->ssl || SSL_set_fd(d->ssl, d->fd) != 1 || !set_name(d)) {
        describe(d, ERR_INVALID, "the server's name cannot be used");
        address_failed(d);
        return;
    }
    if (d->next)
        world_inner_timer(d->w, &d->one, ADDRESS_US);
    loop_fd(d->w, d->fd, EPOLLOUT, on_ready, d);
}

static void on_addresses(void *ctx, struct addrinfo *list, int code)
{
    struct dial *d = ctx;
    struct err e = {0};

    d->lookup = NULL;
    d->list = d->next = list;
    if (list) {
        try_next(d);
        return;
    }
    (void)err_set(&e, ERR_IO, "cannot resolve the host %s: %s", d->o.host, gai_strerror(code));
    fail(d, &e);
}

static void on_address_timeout(void *ctx)
{
    struct dial *d = ctx;

    describe(d, ERR_TIMEOUT, "no answer");
    address_failed(d);
}

static void on_timeout(void *ctx)
{
    struct dial *d = ctx;

    describe(d, ERR_TIMEOUT, "no answer in time");
    fail(d, &d->why);
}

struct dial *dial_start(struct world *w, const struct dial_options *o)
{
    struct dial *d = xcalloc(1, sizeof(*d));

    *d = (struct dial){.w = w, .o = *o, .arena = arena_new(0), .fd = -1};
    d->o.host = arena_printf(d->arena, "%s", o->host).p;
    d->o.port = arena_printf(d->arena, "%s", o->port).p;
    if (o->server_name)
        d->o.server_name = arena_printf(d->arena, "%s", o->server_name).p;
    d->all = (struct timer){.fn = on_timeout, .ctx = d};
    d->one = (struct timer){.fn = on_address_timeout, .ctx = d};
    world_inner_timer(w, &d->all, o->timeout_us);
    d->lookup = lookup_start(w, d->o.host, d->o.port, on_addresses, d);
    return d;
}
