/* Calls of the real world: libcurl's multi interface on our loop.
 *
 * libcurl must not be called from its own callbacks, but from ours people start and cancel calls. So client_start() and
 * client_cut() only make notes; an event of the loop carries them out. It also keeps TLS off the stacks of fibers.
 *
 * Nothing is retried, with one exception that HTTP allows: when a connection that was kept turns out to be closed before the
 * first byte of the answer, libcurl sends a request without a body again on a new one. Bodies are handed out once (the read
 * callback cannot go back), so a request that has one fails instead: its sender knows whether it may be sent twice.
 */
#include <curl/curl.h>
#include <stdlib.h>
#include <strings.h>
#include <sys/epoll.h>

#include "base/arena.h"
#include "net/answer.h"
#include "net/loop_int.h"

#define CONNECT_TIMEOUT_MS 30000L
#define RECEIVE_BUFFER 65536L
#define KEPT_CONNECTIONS 256L

struct wire {
    const struct wire_ops *ops;
    struct client *cl;
    struct http_call *call; /* NULL: nobody waits for it any more */
    CURL *easy;
    struct curl_slist *headers, *connect_to;
    char *body; /* the request's */
    size_t body_n, body_sent;
    struct answer head;
    bool too_long, paused;
    bool added; /* libcurl has it */
    bool dying; /* in the list of the same name */
    char why[CURL_ERROR_SIZE];
};

struct client {
    struct loop *l;
    CURLM *multi;
    struct timer timer; /* of libcurl */
    struct timer work;  /* what the lists hold is to be done */
    VEC(struct wire *) starting, dying, waking;
};

/* ---- what libcurl calls ---- */

/* "Name: value" of the answer; false: too much of it. */
static bool head_line(struct wire *w, str line)
{
    str name, value;

    if (!str_cut(str_trim(line), ':', &name, &value))
        value = (str){0};
    return answer_add(&w->head, name, str_trim(value));
}

/* NOLINTBEGIN(readability-non-const-parameter): the types of these two are libcurl's */

static size_t on_header(char *p, size_t size, size_t n, void *ctx)
{
    struct wire *w = ctx;
    str line = {p, size * n};

    if (!w->call)
        return 0;
    if (w->head.done) /* trailers */
        return line.n;
    if (str_starts(line, STR("HTTP/"))) { /* an interim answer may have come before */
        long status = 0;

        (void)curl_easy_getinfo(w->easy, CURLINFO_RESPONSE_CODE, &status);
        answer_begin(&w->head, (int)status);
        return line.n;
    }
    if (str_trim(line).n) {
        w->too_long = !head_line(w, line);
        return w->too_long ? 0 : line.n;
    }
    if (w->head.status >= 200)
        answer_complete(&w->head, w->call);
    return w->call ? line.n : 0;
}

static size_t on_write(char *p, size_t size, size_t n, void *ctx)
{
    struct wire *w = ctx;

    if (!w->call)
        return 0;
    if (w->paused)
        return CURL_WRITEFUNC_PAUSE;
    http_call_data(w->call, (str){p, size * n});
    return w->call ? size * n : 0;
}

/* NOLINTEND(readability-non-const-parameter) */

static size_t on_read(char *p, size_t size, size_t n, void *ctx)
{
    struct wire *w = ctx;
    size_t part = MIN(size * n, w->body_n - w->body_sent);

    if (part)
        memcpy(p, w->body + w->body_sent, part);
    w->body_sent += part;
    return part;
}

static void client_turn(struct client *cl);

static void on_socket_event(void *ctx, int fd, uint32_t events)
{
    struct client *cl = ctx;
    int flags = 0, running;

    if (events & (EPOLLIN | EPOLLHUP))
        flags |= CURL_CSELECT_IN;
    if (events & EPOLLOUT)
        flags |= CURL_CSELECT_OUT;
    if (events & EPOLLERR)
        flags |= CURL_CSELECT_ERR;
    (void)curl_multi_socket_action(cl->multi, fd, flags, &running);
    client_turn(cl);
}

static int on_socket(CURL *easy, curl_socket_t fd, int what, void *ctx, void *socket_ctx)
{
    static const uint32_t events[] = {
        [CURL_POLL_NONE] = 0,       [CURL_POLL_IN] = EPOLLIN,
        [CURL_POLL_OUT] = EPOLLOUT, [CURL_POLL_INOUT] = EPOLLIN | EPOLLOUT,
        [CURL_POLL_REMOVE] = 0,
    };
    struct client *cl = ctx;

    (void)easy;
    (void)socket_ctx;
    loop_fd(&cl->l->w, fd, events[what], on_socket_event, cl);
    return 0;
}

static void on_timeout(void *ctx)
{
    struct client *cl = ctx;
    int running;

    (void)curl_multi_socket_action(cl->multi, CURL_SOCKET_TIMEOUT, 0, &running);
    client_turn(cl);
}

static int on_timer(CURLM *multi, long ms, void *ctx)
{
    struct client *cl = ctx;

    (void)multi;
    if (ms < 0)
        timer_stop(&cl->l->w, &cl->timer);
    else
        world_inner_timer(&cl->l->w, &cl->timer, (int64_t)ms * 1000);
    return 0;
}

/* ---- what we do to libcurl, never from inside it ---- */

static void wire_free(struct wire *w)
{
    for (uint32_t i = 0; i < w->cl->waking.n; i++)
        if (w->cl->waking.v[i] == w)
            w->cl->waking.v[i] = NULL;
    if (w->added)
        (void)curl_multi_remove_handle(w->cl->multi, w->easy);
    curl_easy_cleanup(w->easy);
    curl_slist_free_all(w->headers);
    curl_slist_free_all(w->connect_to);
    free(w->body);
    answer_fini(&w->head);
    free(w);
}

static enum err_kind kind_of(CURLcode code)
{
    switch ((int)code) {
    case CURLE_OPERATION_TIMEDOUT:
        return ERR_TIMEOUT;
    case CURLE_URL_MALFORMAT:
    case CURLE_UNSUPPORTED_PROTOCOL:
    case CURLE_SSL_CERTPROBLEM:
    case CURLE_SSL_CACERT_BADFILE:
        return ERR_INVALID;
    default: /* libcurl's list is open */
        return ERR_IO;
    }
}

static void wire_done(struct wire *w, CURLcode code)
{
    struct http_call *c = w->call;
    struct err e = {0};

    if (w->dying)
        return; /* its turn comes */
    if (w->too_long)
        (void)answer_too_long(&e);
    else if (code != CURLE_OK)
        (void)err_set(&e, kind_of(code), "%s", w->why[0] ? w->why : curl_easy_strerror(code));
    else if (!w->head.done)
        (void)err_set(&e, ERR_IO, "the server closed the connection without an answer");
    wire_free(w);
    c->wire = NULL;
    http_call_end(c, e.kind ? &e : NULL);
}

/* After each time that libcurl ran: who is done? */
static void client_turn(struct client *cl)
{
    CURLMsg *msg;
    int left;

    while ((msg = curl_multi_info_read(cl->multi, &left))) {
        struct wire *w = NULL;
        CURLcode code = msg->data.result;

        if (msg->msg != CURLMSG_DONE)
            continue;
        (void)curl_easy_getinfo(msg->easy_handle, CURLINFO_PRIVATE, (char **)&w);
        wire_done(w, code);
    }
}

static void wire_add(struct wire *w)
{
    CURLMcode code = w->call ? curl_multi_add_handle(w->cl->multi, w->easy) : CURLM_OK;
    struct http_call *c = w->call;
    struct err e = {0};

    w->added = c && code == CURLM_OK;
    if (w->added)
        return;
    wire_free(w);
    if (!c)
        return;
    c->wire = NULL;
    (void)err_set(&e, ERR_IO, "%s", curl_multi_strerror(code));
    http_call_end(c, &e);
}

/* Lists may grow while they are worked off; that work is a new event. */
static void on_work(void *ctx)
{
    struct client *cl = ctx;

    for (uint32_t i = 0; i < cl->waking.n; i++)
        if (cl->waking.v[i])
            (void)curl_easy_pause(cl->waking.v[i]->easy, CURLPAUSE_CONT);
    cl->waking.n = 0;
    while (cl->dying.n)
        wire_free(cl->dying.v[--cl->dying.n]);
    for (uint32_t i = 0; i < cl->starting.n; i++)
        wire_add(cl->starting.v[i]);
    cl->starting.n = 0;
    client_turn(cl);
}

/* ---- a request in libcurl's words ---- */

static bool has_header(const struct http_request *r, const char *name)
{
    for (uint32_t i = 0; i < r->n_headers; i++)
        if (r->headers[i].name.n == strlen(name) && strncasecmp(r->headers[i].name.p, name, strlen(name)) == 0)
            return true;
    return false;
}

static void add_header(struct wire *w, const char *line)
{
    struct curl_slist *more = curl_slist_append(w->headers, line);

    assert(more);
    w->headers = more;
}

static void set_headers(struct wire *w, const struct http_request *r)
{
    static const char *const unwanted[] = {"Accept", "Content-Type", "Expect"}; /* libcurl's own, unless given */
    struct sb line = {0};

    for (uint32_t i = 0; i < r->n_headers; i++) {
        const struct http_header *h = &r->headers[i];

        sb_reset(&line);
        sb_str(&line, h->name);
        if (h->value.n)
            sb_c(&line, ": ");
        else
            sb_char(&line, ';'); /* libcurl's way to say: present and empty */
        sb_str(&line, h->value);
        add_header(w, sb_cstr(&line));
    }
    for (size_t i = 0; i < ARRAY_LEN(unwanted); i++)
        if (!has_header(r, unwanted[i])) {
            sb_reset(&line);
            sb_printf(&line, "%s:", unwanted[i]);
            add_header(w, sb_cstr(&line));
        }
    sb_fini(&line);
}

static void set_method(struct wire *w, const struct http_request *r)
{
    const char *method = r->method ? r->method : "GET";

    if (strcmp(method, "HEAD") == 0)
        (void)curl_easy_setopt(w->easy, CURLOPT_NOBODY, 1L);
    if (http_method_has_body(method) && (r->body.n || strcmp(method, "DELETE") != 0)) {
        w->body_n = r->body.n;
        w->body = memcpy(xmalloc(r->body.n), r->body.n ? r->body.p : "", r->body.n);
        (void)curl_easy_setopt(w->easy, CURLOPT_POST, 1L);
        (void)curl_easy_setopt(w->easy, CURLOPT_POSTFIELDSIZE_LARGE, (curl_off_t)w->body_n);
        (void)curl_easy_setopt(w->easy, CURLOPT_READFUNCTION, on_read);
        (void)curl_easy_setopt(w->easy, CURLOPT_READDATA, w);
    }
    (void)curl_easy_setopt(w->easy, CURLOPT_CUSTOMREQUEST, method);
}

static struct curl_blob blob_of(const char *pem)
{
    return (struct curl_blob){(void *)(uintptr_t)pem, strlen(pem), CURL_BLOB_COPY};
}

static void set_pem(CURL *easy, CURLoption option, const char *pem)
{
    if (pem) {
        struct curl_blob b = blob_of(pem);

        (void)curl_easy_setopt(easy, option, &b);
    }
}

/* The certificate is checked against another name than the one we connect to: the url gets that name, the connection goes
 * where the url pointed, and the Host header stays. */
static bool rename_server(struct wire *w, CURLU *u, const char *name, bool given_host)
{
    char *host = NULL, *port = NULL;
    struct sb b = {0};
    bool ok = curl_url_get(u, CURLUPART_HOST, &host, 0) == CURLUE_OK &&
              curl_url_get(u, CURLUPART_PORT, &port, CURLU_DEFAULT_PORT) == CURLUE_OK &&
              curl_url_set(u, CURLUPART_HOST, name, 0) == CURLUE_OK;

    if (ok) {
        sb_printf(&b, "%s:%s:%s:%s", name, port, host, port);
        w->connect_to = curl_slist_append(NULL, sb_cstr(&b));
        (void)curl_easy_setopt(w->easy, CURLOPT_CONNECT_TO, w->connect_to);
        sb_reset(&b);
        sb_printf(&b, "Host: %s:%s", host, port);
        if (!given_host)
            add_header(w, sb_cstr(&b));
    }
    curl_free(host);
    curl_free(port);
    sb_fini(&b);
    return ok;
}

static bool set_url(struct wire *w, const struct http_request *r, struct err *e)
{
    const char *name = r->trust ? r->trust->server_name : NULL;
    CURLU *u = curl_url();
    char *url = NULL;
    struct sb b = {0};

    assert(u);
    sb_str(&b, r->url);
    bool ok = curl_url_set(u, CURLUPART_URL, sb_cstr(&b), CURLU_PATH_AS_IS) == CURLUE_OK &&
              (!name || rename_server(w, u, name, has_header(r, "Host"))) &&
              curl_url_get(u, CURLUPART_URL, &url, 0) == CURLUE_OK &&
              curl_easy_setopt(w->easy, CURLOPT_URL, url) == CURLE_OK;
    curl_free(url);
    curl_url_cleanup(u);
    sb_fini(&b);
    return ok || err_set(e, ERR_INVALID, "cannot use the url \"" STR_FMT "\"%s%.100s", STR_ARG(str_sub(r->url, 0, 200)),
                         name ? " with the server name " : "", name ? name : "");
}

static void set_trust(struct wire *w, const struct http_trust *t)
{
    set_pem(w->easy, CURLOPT_CAINFO_BLOB, t->ca_pem);
    if (t->ca_pem) /* the system's directory would be trusted as well */
        (void)curl_easy_setopt(w->easy, CURLOPT_CAPATH, NULL);
    set_pem(w->easy, CURLOPT_SSLCERT_BLOB, t->cert_pem);
    set_pem(w->easy, CURLOPT_SSLKEY_BLOB, t->key_pem);
    if (t->insecure) {
        (void)curl_easy_setopt(w->easy, CURLOPT_SSL_VERIFYPEER, 0L);
        (void)curl_easy_setopt(w->easy, CURLOPT_SSL_VERIFYHOST, 0L);
    }
    if (t->proxy)
        (void)curl_easy_setopt(w->easy, CURLOPT_PROXY, t->proxy);
}

static void set_basics(struct wire *w)
{
    CURL *easy = w->easy;

    (void)curl_easy_setopt(easy, CURLOPT_PRIVATE, w);
    (void)curl_easy_setopt(easy, CURLOPT_ERRORBUFFER, w->why);
    (void)curl_easy_setopt(easy, CURLOPT_NOSIGNAL, 1L);
    (void)curl_easy_setopt(easy, CURLOPT_PROTOCOLS_STR, "http,https");
    (void)curl_easy_setopt(easy, CURLOPT_HTTP_VERSION, (long)CURL_HTTP_VERSION_1_1);
    (void)curl_easy_setopt(easy, CURLOPT_PATH_AS_IS, 1L);
    (void)curl_easy_setopt(easy, CURLOPT_PROXY, ""); /* neither it nor NO_PROXY from the environment */
    (void)curl_easy_setopt(easy, CURLOPT_NOPROXY, "");
    (void)curl_easy_setopt(easy, CURLOPT_SUPPRESS_CONNECT_HEADERS, 1L);
    (void)curl_easy_setopt(easy, CURLOPT_CONNECTTIMEOUT_MS, CONNECT_TIMEOUT_MS);
    (void)curl_easy_setopt(easy, CURLOPT_TCP_KEEPALIVE, 1L);
    (void)curl_easy_setopt(easy, CURLOPT_BUFFERSIZE, RECEIVE_BUFFER);
    (void)curl_easy_setopt(easy, CURLOPT_HEADERFUNCTION, on_header);
    (void)curl_easy_setopt(easy, CURLOPT_HEADERDATA, w);
    (void)curl_easy_setopt(easy, CURLOPT_WRITEFUNCTION, on_write);
    (void)curl_easy_setopt(easy, CURLOPT_WRITEDATA, w);
}

/* ---- the world's operations ---- */

static const struct wire_ops client_wire;

bool client_start(struct http_call *c, const struct http_request *r, struct err *e)
{
    struct client *cl = loop_of(c->w)->client;
    struct wire *w = xcalloc(1, sizeof(*w));

    w->ops = &client_wire;
    w->cl = cl;
    w->call = c;
    w->easy = curl_easy_init();
    assert(w->easy);
    set_basics(w);
    set_method(w, r);
    set_headers(w, r);
    if (!set_url(w, r, e)) {
        wire_free(w);
        return false;
    }
    (void)curl_easy_setopt(w->easy, CURLOPT_HTTPHEADER, w->headers);
    if (r->trust)
        set_trust(w, r->trust);
    c->wire = w;
    vec_push(&cl->starting, w);
    world_soon(c->w, &cl->work);
    return true;
}

static void client_cut(struct http_call *c)
{
    struct wire *w = c->wire;

    w->call = NULL;
    if (!w->added) /* on_work() sees it */
        return;
    w->dying = true;
    vec_push(&w->cl->dying, w);
    world_soon(c->w, &w->cl->work);
}

static void client_pause(struct http_call *c, bool on)
{
    struct wire *w = c->wire;

    w->paused = on;
    if (on)
        return;
    vec_push(&w->cl->waking, w);
    world_soon(c->w, &w->cl->work);
}

static const struct wire_ops client_wire = {.cut = client_cut, .pause = client_pause};

struct client *client_new(struct loop *l)
{
    struct client *cl = xcalloc(1, sizeof(*cl));

    if (curl_global_init(CURL_GLOBAL_DEFAULT) != CURLE_OK || !(cl->multi = curl_multi_init()))
        abort();
    cl->l = l;
    cl->timer = (struct timer){.fn = on_timeout, .ctx = cl};
    cl->work = (struct timer){.fn = on_work, .ctx = cl};
    (void)curl_multi_setopt(cl->multi, CURLMOPT_PIPELINING, (long)CURLPIPE_NOTHING);
    (void)curl_multi_setopt(cl->multi, CURLMOPT_MAXCONNECTS, KEPT_CONNECTIONS);
    (void)curl_multi_setopt(cl->multi, CURLMOPT_SOCKETFUNCTION, on_socket);
    (void)curl_multi_setopt(cl->multi, CURLMOPT_SOCKETDATA, cl);
    (void)curl_multi_setopt(cl->multi, CURLMOPT_TIMERFUNCTION, on_timer);
    (void)curl_multi_setopt(cl->multi, CURLMOPT_TIMERDATA, cl);
    return cl;
}

void client_free(struct client *cl)
{
    on_work(cl); /* what is dying */
    timer_stop(&cl->l->w, &cl->work);
    (void)curl_multi_cleanup(cl->multi);
    timer_stop(&cl->l->w, &cl->timer);
    curl_global_cleanup();
    vec_fini(&cl->starting);
    vec_fini(&cl->dying);
    vec_fini(&cl->waking);
    free(cl);
}
