/* Exchanges on connections of libmicrohttpd: requests come in by parts, replies go out as the server makes them.
 *
 * A connection whose exchange waits for the server is suspended: libmicrohttpd does not look at it. The server's reply
 * resumes it in an event of its own, so that a reply that is begun and ended in one go is sent with its length. Otherwise
 * it is sent in chunks, and the connection is suspended whenever the queue of pieces is empty. While it is suspended we watch
 * the socket ourselves for a peer that leaves, which libmicrohttpd would only notice by writing.
 */
#include <stdlib.h>
#include <strings.h>
#include <sys/epoll.h>

#include "base/arena.h"
#include "net/httpd_int.h"

#define CHUNK 32768u
#define LARGE_REPLY 65536u /* may take longer than it takes to hand it to the kernel */
#define IDLE_EXCHANGES 64u
#define SLACK 16u

static struct hx *hx_of(struct served *s)
{
    return (struct hx *)((char *)s - offsetof(struct hx, s));
}

/* ---- exchanges ---- */

void exchange_destroy(struct hx *h)
{
    sb_fini(&h->body);
    vec_fini(&h->s.out.list);
    arena_free(h->arena);
    free(h);
}

static void hx_release(struct served *s)
{
    struct hx *h = hx_of(s);
    struct httpd *d = h->d;

    *(h->prev ? &h->prev->next : &d->open) = h->next;
    if (h->next)
        h->next->prev = h->prev;
    timer_stop(&d->l->w, &h->kick);
    if (d->n_idle >= IDLE_EXCHANGES || d->closed) {
        exchange_destroy(h);
    } else {
        sb_fini(&h->body);
        arena_reset(h->arena);
        h->next = d->idle;
        d->idle = h;
        d->n_idle++;
    }
    if (d->closed && !d->open)
        httpd_destroy(d);
}

static bool has_news(const struct hx *h)
{
    const struct served *s = &h->s;

    return s->aborted || s->ended || (s->begun && (!h->answered || s->out.bytes));
}

static bool is_broken(const struct hx *h)
{
    return h->s.aborted || h->left || h->s.w->dead;
}

void exchange_resume(struct hx *h)
{
    h->suspended = false;
    h->d->api->resume_connection(h->conn);
    h->d->again = true; /* it does not wake up by itself in a loop that is not its own */
    if (!h->d->inside)
        world_soon(&h->d->l->w, &h->d->timer);
}

static void on_kick(void *ctx)
{
    struct hx *h = ctx;

    if (h->suspended && has_news(h))
        exchange_resume(h);
}

static void hx_changed(struct served *s)
{
    struct hx *h = hx_of(s);

    if (h->suspended && !timer_is_set(&h->kick))
        world_soon(s->w, &h->kick);
}

static void on_peer(void *ctx, int fd, uint32_t events)
{
    struct hx *h = ctx;

    (void)events;
    loop_fd(&h->d->l->w, fd, 0, NULL, NULL);
    h->watched = false;
    h->left = true;
    if (h->suspended)
        exchange_resume(h);
}

static void suspend(struct hx *h)
{
    h->d->api->suspend_connection(h->conn);
    h->suspended = true;
    if (h->watched)
        return;
    h->watched = true;
    loop_fd(&h->d->l->w, h->fd, EPOLLRDHUP, on_peer, h);
}

static const struct served_ops hx_ops = {.changed = hx_changed, .release = hx_release};

static struct hx *hx_new(struct httpd *d)
{
    struct hx *h = d->idle;

    if (h) {
        d->idle = h->next;
        d->n_idle--;
    } else {
        h = xcalloc(1, sizeof(*h));
        h->arena = arena_new(0);
    }
    struct pieces out = h->s.out; /* empty, with its memory */

    *h = (struct hx){.d = d, .arena = h->arena, .next = d->open, .kick = {.fn = on_kick, .ctx = h}};
    h->s = (struct served){.x.arena = h->arena, .w = &d->l->w, .ops = &hx_ops, .out = out};
    if (h->next)
        h->next->prev = h;
    d->open = h;
    return h;
}

/* ---- requests ---- */

/* libmicrohttpd shows the target before it takes it apart. What we return is the *hx of the others. */
void *exchange_begins(void *httpd, const char *uri, struct MHD_Connection *conn)
{
    struct hx *h = hx_new(httpd);
    str target = arena_strdup(h->arena, str_c(uri));

    h->conn = conn;
    if (str_starts(target, STR("http://")) || str_starts(target, STR("https://"))) { /* what a proxy is sent */
        const char *slash = memchr(target.p + 8, '/', target.n - MIN(target.n, 8));

        target = slash ? str_sub(target, (size_t)(slash - target.p), target.n) : STR("/");
    }
    (void)str_cut(target, '?', &h->s.x.path, &h->s.x.query);
    return h;
}

struct head_copy {
    struct http_header *list;
    uint32_t n;
    size_t bytes;
};

static enum MHD_Result copy_header(void *cls, enum MHD_ValueKind kind, const char *name, size_t name_n,
                                   const char *value, size_t value_n)
{
    struct head_copy *c = cls;

    (void)kind;
    if (c->list)
        c->list[c->n] = (struct http_header){{name, name_n}, {value, value_n}};
    c->n++;
    c->bytes += name_n + value_n + 4;
    return MHD_YES;
}

static enum MHD_Result answer_plainly(struct hx *h, unsigned status, const char *text)
{
    struct MHD_Response *r =
        h->d->api->create_response_from_buffer(strlen(text), (void *)(uintptr_t)text, MHD_RESPMEM_PERSISTENT);

    if (!r)
        return MHD_NO;
    (void)h->d->api->add_response_header(r, "Content-Type", "text/plain");
    enum MHD_Result ok = h->d->api->queue_response(h->conn, status, r);
    h->d->api->destroy_response(r);
    h->s.ended = h->answered = true;
    return ok;
}

static enum MHD_Result too_large(struct hx *h)
{
    return answer_plainly(h, MHD_HTTP_CONTENT_TOO_LARGE, "the body is too large\n");
}

/* A body that is not much too long is read to its end, because many clients look at the answer only then. */
static bool is_hopeless(const struct hx *h, uint64_t length)
{
    return length / 4 > h->d->max_body;
}

static enum MHD_Result take_head(struct hx *h, const char *method)
{
    struct exchange *x = &h->s.x;
    struct head_copy c = {.bytes = x->path.n + x->query.n};
    const union MHD_ConnectionInfo *info = h->d->api->get_connection_info(h->conn, MHD_CONNECTION_INFO_CONNECTION_FD);

    h->has_head = true;
    h->fd = info->connect_fd;
    x->method = method;
    (void)h->d->api->get_connection_values_n(h->conn, MHD_HEADER_KIND, copy_header, &c);
    if (c.bytes > h->d->max_head)
        return answer_plainly(h, MHD_HTTP_REQUEST_HEADER_FIELDS_TOO_LARGE, "the head is too large\n");
    c.list = arena_new_array(h->arena, struct http_header, c.n);
    c.n = 0;
    (void)h->d->api->get_connection_values_n(h->conn, MHD_HEADER_KIND, copy_header, &c);
    x->headers = c.list;
    x->n_headers = c.n;

    int64_t length;
    if (str_to_i64(http_header_get(x->headers, x->n_headers, "Content-Length"), &length) && length > 0 &&
        is_hopeless(h, (uint64_t)length))
        return too_large(h);
    return MHD_YES;
}

static enum MHD_Result take_body(struct hx *h, str part)
{
    if (h->skipped || part.n > h->d->max_body - h->body.n) {
        h->skipped += part.n;
        return is_hopeless(h, h->body.n + h->skipped) ? MHD_NO : MHD_YES;
    }
    sb_str(&h->body, part);
    return MHD_YES;
}

static void hand_over(struct hx *h)
{
    h->handed_over = true;
    sb_fill(&h->body, '\0', SLACK);
    h->s.x.body = (str){h->body.p, h->body.n - SLACK};
    h->d->serve(h->d->server, &h->s.x);
}

/* ---- replies ---- */

static void add_headers(const struct hx *h, struct MHD_Response *r)
{
    struct sb name = {0}, value = {0};

    for (uint32_t i = 0; i < h->s.n_headers; i++) {
        sb_reset(&name);
        sb_reset(&value);
        sb_str(&name, h->s.headers[i].name);
        sb_str(&value, h->s.headers[i].value);
        if (strcasecmp(sb_cstr(&name), "Content-Length") == 0 || strcasecmp(sb_cstr(&name), "Transfer-Encoding") == 0)
            continue; /* ours to say */
        (void)h->d->api->add_response_header(r, sb_cstr(&name), sb_cstr(&value));
    }
    sb_fini(&name);
    sb_fini(&value);
}

static ssize_t read_pieces(void *cls, uint64_t pos, char *buf, size_t max)
{
    struct hx *h = cls;
    struct pieces *p = &h->s.out;
    size_t n = 0;

    (void)pos;
    if (is_broken(h))
        return MHD_CONTENT_READER_END_WITH_ERROR;
    while (n < max && p->bytes) {
        str first = p->list.v[p->from].bytes;
        size_t part = MIN(first.n, max - n);

        memcpy(buf + n, first.p, part);
        n += part;
        pieces_take(p, part);
    }
    if (n)
        return (ssize_t)n;
    if (h->s.ended)
        return MHD_CONTENT_READER_END_OF_STREAM;
    suspend(h);
    return 0;
}

/* All of it is there, so its length is known. Many pieces are gathered into blocks: over TLS each would be a record of its own. */
static struct MHD_Response *whole_response(struct hx *h)
{
    const struct pieces *p = &h->s.out;
    uint32_t n = p->list.n - p->from;
    str all = n ? p->list.v[p->from].bytes : STR("");

    if (n > 1)
        return h->d->api->create_response_from_callback(p->bytes, CHUNK, read_pieces, h, NULL);
    return h->d->api->create_response_from_buffer(all.n, (void *)(uintptr_t)all.p, MHD_RESPMEM_PERSISTENT);
}

static enum MHD_Result answer(struct hx *h)
{
    if (is_broken(h))
        return MHD_NO;
    if (!h->s.begun) {
        suspend(h);
        return MHD_YES;
    }
    struct MHD_Response *r =
        h->s.ended ? whole_response(h)
                   : h->d->api->create_response_from_callback(MHD_SIZE_UNKNOWN, CHUNK, read_pieces, h, NULL);

    if (!r)
        return MHD_NO;
    add_headers(h, r);
    h->untimed = !h->s.ended || h->s.out.bytes > LARGE_REPLY;
    if (h->untimed)
        (void)h->d->api->set_connection_option(h->conn, MHD_CONNECTION_OPTION_TIMEOUT, 0u);
    enum MHD_Result ok = h->d->api->queue_response(h->conn, (unsigned)h->s.status, r);
    h->d->api->destroy_response(r);
    h->answered = true;
    return ok;
}

/* Called with the head, with each part of the body, at its end, and again after each time it was suspended there. */
enum MHD_Result exchange_goes_on(void *httpd, struct MHD_Connection *conn, const char *url, const char *method,
                                 const char *version, const char *upload, size_t *upload_n, void **hx)
{
    struct hx *h = *hx;

    (void)httpd;
    (void)conn;
    (void)url;
    (void)version;
    if (!h->has_head)
        return take_head(h, method);
    if (*upload_n) {
        str part = {upload, *upload_n};

        *upload_n = 0;
        return take_body(h, part);
    }
    if (h->skipped)
        return too_large(h);
    if (!h->handed_over)
        hand_over(h);
    return answer(h);
}

void exchange_is_over(void *httpd, struct MHD_Connection *conn, void **hx, enum MHD_RequestTerminationCode why)
{
    struct hx *h = *hx;

    (void)why;
    if (!h)
        return;
    *hx = NULL;
    if (h->watched)
        loop_fd(&h->d->l->w, h->fd, 0, NULL, NULL);
    if (h->untimed)
        (void)h->d->api->set_connection_option(conn, MHD_CONNECTION_OPTION_TIMEOUT, ((struct httpd *)httpd)->idle_s);
    h->conn = NULL;
    h->suspended = h->watched = false;
    if (!h->handed_over) /* the server never heard of it */
        h->s.aborted = true;
    served_over(&h->s);
}
