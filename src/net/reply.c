/* Replies: what a server has said and the peer has not taken yet. The transports only take pieces from the front.
 *
 * A reply's first bytes are copied into the exchange's arena, which is used again for the next exchange; later ones get
 * memory of their own that goes when they have been sent, because a watch may last for days.
 */
#include <stdlib.h>

#include "base/arena.h"
#include "net/world_int.h"

#define COPY_IN_ARENA 16384u
#define KEEP_PIECES 1024u /* room for so many stays when the queue is empty */

static struct served *served_of(const struct exchange *x)
{
    return (struct served *)((char *)(uintptr_t)x - offsetof(struct served, x));
}

/* ---- pieces ---- */

static void piece_done(const struct piece *p)
{
    if (p->done)
        p->done(p->arg);
}

void pieces_take(struct pieces *p, size_t n)
{
    assert(n <= p->bytes);
    p->bytes -= n;
    while (p->from < p->list.n) {
        struct piece *first = &p->list.v[p->from];
        size_t part = MIN(n, first->bytes.n);

        first->bytes = (str){first->bytes.p + part, first->bytes.n - part};
        n -= part;
        if (first->bytes.n)
            return;
        struct piece done = *first;
        if (++p->from == p->list.n) {
            p->from = p->list.n = 0;
            if (p->list.cap > KEEP_PIECES)
                vec_fini(&p->list);
        }
        piece_done(&done); /* may add pieces */
    }
}

void pieces_clear(struct pieces *p)
{
    pieces_take(p, p->bytes);
}

static void pieces_add(struct pieces *p, const struct piece *q)
{
    if (p->from > 64 && p->from > p->list.n / 2) { /* a queue that is never empty must not grow for ever */
        memmove(p->list.v, p->list.v + p->from, (p->list.n - p->from) * sizeof(*q));
        p->list.n -= p->from;
        p->from = 0;
    }
    vec_push(&p->list, *q);
    p->bytes += q->bytes.n;
}

/* ---- the server's side ---- */

void reply_begin(struct exchange *x, int status, const struct http_header *headers, uint32_t n)
{
    struct served *s = served_of(x);

    assert(!s->begun && !s->ended && status >= 200 && status <= 999);
    s->begun = true;
    if (s->gone || s->w->dead)
        return;
    s->status = status;
    s->n_headers = n;
    s->headers = arena_new_array(x->arena, struct http_header, n);
    for (uint32_t i = 0; i < n; i++)
        s->headers[i] =
            (struct http_header){arena_strdup(x->arena, headers[i].name), arena_strdup(x->arena, headers[i].value)};
    s->ops->changed(s);
}

/* To a peer that has gone, or from a process that is dead, nothing is sent; HEAD has no body. */
static bool is_mute(const struct served *s)
{
    return s->gone || s->aborted || s->w->dead || strcmp(s->x.method, "HEAD") == 0;
}

void reply_piece(struct exchange *x, str bytes, void (*done)(void *arg), void *arg)
{
    struct served *s = served_of(x);
    struct piece p = {.bytes = bytes, .done = done, .arg = arg, .due_us = -1};

    assert(s->begun && !s->ended);
    if (bytes.n == 0 || is_mute(s)) {
        piece_done(&p);
        return;
    }
    pieces_add(&s->out, &p);
    s->ops->changed(s);
}

void reply_data(struct exchange *x, str bytes)
{
    struct served *s = served_of(x);

    if (bytes.n == 0 || is_mute(s))
        return;
    if (bytes.n <= COPY_IN_ARENA - s->in_arena) {
        s->in_arena += bytes.n;
        reply_piece(x, arena_strdup(x->arena, bytes), NULL, NULL);
        return;
    }
    char *copy = memcpy(xmalloc(bytes.n), bytes.p, bytes.n);
    reply_piece(x, (str){copy, bytes.n}, free, copy);
}

static void reply_finish(struct served *s, bool abort)
{
    assert(!s->ended && !s->aborted && (s->begun || abort));
    s->ended = !abort;
    s->aborted = abort;
    if (s->gone)
        s->ops->release(s);
    else if (!s->w->dead)
        s->ops->changed(s);
}

void reply_end(struct exchange *x)
{
    reply_finish(served_of(x), /* abort= */ false);
}

void reply_abort(struct exchange *x)
{
    reply_finish(served_of(x), /* abort= */ true);
}

int reply_code(const struct exchange *x)
{
    return served_of(x)->status;
}

size_t reply_queued(const struct exchange *x)
{
    return served_of(x)->out.bytes;
}

void reply_all(struct exchange *x, int status, const char *content_type, str body)
{
    struct http_header h = {STR("Content-Type"), str_c(content_type)};

    reply_begin(x, status, &h, content_type ? 1 : 0);
    reply_data(x, body);
    reply_end(x);
}

void served_over(struct served *s)
{
    s->gone = true;
    pieces_clear(&s->out);
    bool finished = s->ended || s->aborted;

    if (s->x.on_over)
        s->x.on_over(&s->x);
    else if (!finished)
        return;
    s->ops->release(s);
}
