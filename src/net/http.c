/* The part of a call that is the same in both worlds: is the request well-formed, how long may it take, how does it end.
 *
 * A call has two halves: struct http_call here, and the wire of the world's transport, which reports to it. Either may go
 * first: cutting the wire leaves a call whose end is certain, http_call_end() leaves a wire without a call.
 */
#include "net/http.h"

#include <stdlib.h>
#include <strings.h>

#include "net/world_int.h"

str http_header_get(const struct http_header *h, uint32_t n, const char *name)
{
    size_t len = strlen(name);

    for (uint32_t i = 0; i < n; i++)
        if (h[i].name.n == len && strncasecmp(h[i].name.p, name, len) == 0)
            return h[i].value;
    return (str){0};
}

/* ---- requests ---- */

bool http_method_has_body(const char *method)
{
    static const char *const without[] = {"GET", "HEAD", "OPTIONS", "TRACE", "CONNECT"};

    for (size_t i = 0; i < ARRAY_LEN(without); i++)
        if (strcmp(method, without[i]) == 0)
            return false;
    return true;
}

static bool is_token(str s) /* RFC 9110, 5.6.2 */
{
    for (size_t i = 0; i < s.n; i++) {
        char c = s.p[i];
        bool alnum = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9');

        if (!alnum && (c == '\0' || !strchr("!#$%&'*+-.^_`|~", c)))
            return false;
    }
    return s.n > 0;
}

static bool is_header_value(str s)
{
    for (size_t i = 0; i < s.n; i++)
        if (((unsigned char)s.p[i] < ' ' && s.p[i] != '\t') || s.p[i] == 0x7f)
            return false;
    return true;
}

static bool is_url(str s)
{
    if (!str_starts(s, STR("http://")) && !str_starts(s, STR("https://")))
        return false;
    for (size_t i = 0; i < s.n; i++)
        if (s.p[i] <= ' ' || s.p[i] > '~' || s.p[i] == '#')
            return false;
    return true;
}

static bool check_request(const struct http_request *r, struct err *e)
{
    size_t head = r->url.n;

    if (r->method && !is_token(str_c(r->method)))
        return err_set(e, ERR_INVALID, "not a method: \"%s\"", r->method);
    if (!is_url(r->url))
        return err_set(e, ERR_INVALID, "not an absolute http or https url: \"" STR_FMT "\"",
                       STR_ARG(str_sub(r->url, 0, 200)));
    for (uint32_t i = 0; i < r->n_headers; i++) {
        head += r->headers[i].name.n + r->headers[i].value.n + 4;
        if (!is_token(r->headers[i].name) || !is_header_value(r->headers[i].value))
            return err_set(e, ERR_INVALID, "header \"" STR_FMT "\" has characters that cannot be sent",
                           STR_ARG(str_sub(r->headers[i].name, 0, 100)));
    }
    if (head > HTTP_MAX_HEAD)
        return err_set(e, ERR_INVALID, "the request's head has %zu bytes, more than %u", head, HTTP_MAX_HEAD);
    return true;
}

/* ---- one call ---- */

static void call_free(struct http_call *c)
{
    struct world *w = c->w;

    timer_stop(w, &c->clock);
    *(c->prev ? &c->prev->next : &w->calls) = c->next;
    if (c->next)
        c->next->prev = c->prev;
    free(c->fate);
    c->next = w->core->idle_calls;
    w->core->idle_calls = c;
}

static void call_cut(struct http_call *c)
{
    if (c->wire)
        c->w->ops->call_cut(c);
    c->wire = NULL;
}

void http_call_end(struct http_call *c, const struct err *e)
{
    struct http_events ev = c->ev;
    bool complete = !e;
    struct err copy;

    if (e) /* it may belong to the call */
        copy = *e;
    call_free(c);
    if (ev.on_end)
        ev.on_end(ev.ctx, complete ? NULL : &copy);
}

/* Its end is certain; the caller learns of it when control is back in the loop. */
static void call_doom(struct http_call *c, const struct err *e)
{
    call_cut(c);
    if (!c->fate)
        c->fate = xmalloc(sizeof(*c->fate));
    *c->fate = *e;
    world_soon(c->w, &c->clock);
}

static int64_t call_due(const struct http_call *c)
{
    int64_t idle = c->idle_us ? sat_add(c->last_us, c->idle_us) : INT64_MAX;

    return MIN(c->deadline_us ? c->deadline_us : INT64_MAX, idle);
}

/* The idle timeout is looked at when it would have run out, rather than set anew with every byte. */
static void call_clock(void *ctx)
{
    struct http_call *c = ctx;
    int64_t now = world_mono_us(c->w);
    struct err e = {0};

    if (c->fate) {
        http_call_end(c, c->fate);
        return;
    }
    if (c->paused) /* it is we who do not want to hear anything */
        c->last_us = now;
    int64_t due = call_due(c);
    if (now < due) {
        world_inner_timer(c->w, &c->clock, due - now);
        return;
    }
    if (c->deadline_us && now >= c->deadline_us)
        (void)err_set(&e, ERR_TIMEOUT, "no complete answer in time");
    else
        (void)err_set(&e, ERR_TIMEOUT, "nothing from the server for %lld ms", (long long)(c->idle_us / 1000));
    call_cut(c);
    http_call_end(c, &e);
}

static struct http_call *call_new(struct world *w, const struct http_events *ev)
{
    struct http_call *c = w->core->idle_calls;

    if (c)
        w->core->idle_calls = c->next;
    else
        c = xmalloc(sizeof(*c));
    *c = (struct http_call){.w = w, .ev = *ev, .next = w->calls, .clock = {.fn = call_clock, .ctx = c}};
    if (c->next)
        c->next->prev = c;
    w->calls = c;
    return c;
}

struct http_call *http_start(struct world *w, const struct http_request *r, const struct http_events *ev)
{
    struct http_call *c = call_new(w, ev);
    struct err e = {0};

    if (w->dead)
        (void)err_set(&e, ERR_IO, "shutting down");
    if (w->dead || !check_request(r, &e) || !w->ops->call_start(c, r, &e)) {
        call_doom(c, &e);
        return c;
    }
    c->last_us = world_mono_us(w);
    c->deadline_us = r->timeout_us > 0 ? sat_add(c->last_us, r->timeout_us) : 0;
    c->idle_us = MAX(r->idle_timeout_us, 0);
    if (c->deadline_us || c->idle_us)
        world_inner_timer(w, &c->clock, call_due(c) - c->last_us);
    return c;
}

void http_cancel(struct http_call *c)
{
    call_cut(c);
    call_free(c);
}

void http_call_head(struct http_call *c, int status, const struct http_header *headers, uint32_t n)
{
    c->last_us = world_mono_us(c->w);
    if (c->ev.on_head)
        c->ev.on_head(c->ev.ctx, status, headers, n);
}

void http_call_data(struct http_call *c, str bytes)
{
    c->last_us = world_mono_us(c->w);
    if (c->ev.on_data)
        c->ev.on_data(c->ev.ctx, bytes);
}

void http_call_pause(struct http_call *c, bool on)
{
    if (c->paused == on)
        return;
    c->paused = on;
    c->last_us = world_mono_us(c->w);
    if (c->wire)
        c->w->ops->call_pause(c, on);
}

void http_calls_die(struct world *w)
{
    struct http_call *c = w->calls;
    struct err e = {0};

    (void)err_set(&e, ERR_IO, "shutting down");
    while (c && c->next) /* oldest first */
        c = c->next;
    for (; c; c = c->prev)
        call_doom(c, &e);
}

void http_call_pool_fini(struct world_core *core)
{
    while (core->idle_calls) {
        struct http_call *c = core->idle_calls;

        core->idle_calls = c->next;
        free(c);
    }
}
