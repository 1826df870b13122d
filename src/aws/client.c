/* One call: sign, send, look at the answer, and again if that is worth it.
 *
 * Three things make a call worth sending again: what is wrong may pass (a budget pays for that), our clock is wrong (the answer says what
 * time it is), the credentials have expired on the way (they are got anew). The last two are done once per call, at once, for free.
 */
#include "aws/aws.h"

#include <stdio.h>
#include <stdlib.h>

#include "aws/client_int.h"
#include "aws/endpoint.h"
#include "aws/error.h"
#include "aws/imds.h"
#include "aws/protocol.h"
#include "aws/sigv4.h"
#include "model/duration.h"
#include "net/fiber.h"

#define SECOND_US INT64_C(1000000)
#define TIMEOUT_US (240 * SECOND_US)
#define SKEW_MS INT64_C(240000) /* AWS takes five minutes */
#define NEAR_TIMEOUT_US (2 * SECOND_US)
#define NEAR_MAX_BODY ((size_t)1 << 20)

struct aws *aws_new(const struct aws_options *o)
{
    struct aws *c = xcalloc(1, sizeof(*c));

    c->world = o->world;
    c->config = o->config;
    c->arena = arena_new(0);
    c->agent =
        arena_printf(c->arena, "karpenter/" KARPENTER_VERSION "%s%s", o->agent ? " " : "", o->agent ? o->agent : "");
    c->observer = o->observer;
    c->region = o->config->region;
    c->credentials = credentials_new(c);
    return c;
}

void aws_free(struct aws *c)
{
    if (!c)
        return;
    credentials_free(c->credentials);
    explicit_bzero(c->imds_token.text, sizeof(c->imds_token.text));
    arena_free(c->arena);
    free(c);
}

struct world *aws_world(struct aws *c)
{
    return c->world;
}

str aws_region(const struct aws *c)
{
    return c->region;
}

bool aws_find_region(struct aws *c, struct err *e)
{
    return c->region.n || imds_region(c, c->arena, &c->region, e) || err_wrap(e, "unable to determine region");
}

int64_t client_now_ms(const struct aws *c)
{
    return world_now_ms(c->world) + c->skew_ms;
}

/* ---- clocks ---- */

/* "Sun, 06 Nov 1994 08:49:37 GMT" */
static bool read_date(str s, int64_t *ret_ms)
{
    static const char months[] = "JanFebMarAprMayJunJulAugSepOctNovDec";
    char text[32];
    struct err none;

    if (s.n != 29)
        return false;
    for (int m = 0; m < 12; m++)
        if (memcmp(months + 3 * m, s.p + 8, 3) == 0) {
            (void)snprintf(text, sizeof(text), "%.4s-%02d-%.2sT%.8sZ", s.p + 12, m + 1, s.p + 5, s.p + 17);
            return time_parse_rfc3339(str_c(text), ret_ms, &none);
        }
    return false;
}

/* Takes over AWS's clock if ours is off by more than AWS puts up with. */
static bool set_clock(struct aws *c, const struct http_response *r)
{
    int64_t theirs, off;

    if (!read_date(http_header_get(r->headers, r->n_headers, "Date"), &theirs))
        return false;
    off = theirs - client_now_ms(c);
    if (off > -SKEW_MS && off < SKEW_MS)
        return false;
    c->skew_ms += off;
    return true;
}

/* ---- one attempt ---- */

enum verdict {
    DONE,        /* well or badly */
    TRY_LATER,   /* may pass */
    TRY_AT_ONCE, /* what was wrong has been put right */
};

struct
try {
    struct aws *c;
    const struct aws_call *call;
    struct credentials *who;
    struct arena *a; /* the caller's */
    struct aws_answer *ret;
    bool fixed_clock, renewed;
};

static bool get_keys(struct try *t, struct arena *tmp, struct lease *ret, struct err *e)
{
    *ret = (struct lease){0};
    return !t->who || credentials_get(t->who, tmp, ret, e);
}

static bool fetch(struct try *t, struct arena *tmp, const struct lease *l, struct http_response *ret, struct err *e)
{
    struct http_header headers[PROTOCOL_MAX_HEADERS + 4];
    struct aws_endpoint at;
    struct protocol_request w;
    uint32_t n = 0;

    if (!endpoint_of(t->c->config, t->c->region, t->call->service, tmp, &at, e))
        return false;
    protocol_write(tmp, t->call, &w);
    struct sigv4_request s = {.method = w.method,
                              .host = at.host,
                              .path = arena_printf(tmp, STR_FMT STR_FMT, STR_ARG(at.path), STR_ARG(w.path)),
                              .headers = w.headers,
                              .n_headers = w.n_headers,
                              .body = w.body,
                              .service = at.service,
                              .region = at.region,
                              .now_ms = client_now_ms(t->c)};
    (void)str_cut(s.path, '?', &s.path, &s.query);
    if (t->who)
        n = sigv4_sign(tmp, &s, &l->keys, headers);
    for (uint32_t i = 0; i < w.n_headers; i++)
        headers[n++] = w.headers[i];
    headers[n++] = (struct http_header){STR("User-Agent"), t->c->agent};
    struct http_request r = {.method = w.method,
                             .url = arena_printf(tmp, STR_FMT STR_FMT, STR_ARG(at.url), STR_ARG(w.path)),
                             .headers = headers,
                             .n_headers = n,
                             .body = w.body,
                             .timeout_us = t->call->timeout_us ? t->call->timeout_us : TIMEOUT_US,
                             .trust = config_trust(t->c->config, at.url)};
    return http_fetch(t->c->world, &r, tmp, ret, e);
}

/* AWS has refused. */
static enum verdict look_at(struct try *t, const struct lease *l, const struct http_response *r, struct err *e)
{
    struct aws_answer *ret = t->ret;
    str request;

    protocol_read_error(t->a, t->call->service, r, &ret->code, &ret->message, &request);
    (void)err_set(e, error_kind(ret->code, r->status), STR_FMT ": " STR_FMT, STR_ARG(ret->code), STR_ARG(ret->message));
    (void)snprintf(e->code, sizeof(e->code), STR_FMT, STR_ARG(ret->code));
    (void)snprintf(e->call.request, sizeof(e->call.request), STR_FMT, STR_ARG(request));
    if (error_is_skew(ret->code) && !t->fixed_clock && set_clock(t->c, r)) {
        t->fixed_clock = true;
        return TRY_AT_ONCE;
    }
    bool stale = error_is_expired(ret->code) || (l->again_ms && error_is_unknown_key(ret->code));
    if (t->who && stale && !t->renewed && credentials_refused(t->who, l)) {
        t->renewed = true;
        return TRY_AT_ONCE;
    }
    return error_is_transient(ret->code, r->status) ? TRY_LATER : DONE;
}

static enum verdict try_once(struct try *t, struct err *e)
{
    struct arena *tmp = arena_new(0);
    struct http_response r = {0};
    struct lease l;
    enum verdict v = DONE;

    *t->ret = (struct aws_answer){0};
    *e = (struct err){0};
    if (get_keys(t, tmp, &l, e)) {
        int64_t from_us = world_mono_us(t->c->world);
        bool ok = fetch(t, tmp, &l, &r, e);

        t->ret->status = r.status;
        if (t->c->observer.attempt)
            t->c->observer.attempt(t->c->observer.ctx, t->call->service, t->call->action, r.status,
                                   world_mono_us(t->c->world) - from_us);
        if (!ok)
            v = e->kind == ERR_INVALID ? DONE : TRY_LATER;
        else if (r.status < 200 || r.status > 299)
            v = look_at(t, &l, &r, e);
        else
            (void)protocol_read(t->a, t->call->service, &r, &t->ret->tree, e);
    }
    arena_free_wiped(tmp);
    return v;
}

/* ---- a call ---- */

/* false: it stays as it is. */
static bool wait_for_retry(struct aws *c, struct retry_budget *b, uint32_t n, const struct err *e, uint32_t *ret_paid)
{
    uint32_t cost = e->kind == ERR_TIMEOUT ? RETRY_TIMEOUT_COST : RETRY_COST;

    if (world_dead(c->world) || !retry_pay(b, cost))
        return false;
    *ret_paid = cost;
    fiber_sleep_us(c->world, retry_delay_us(n, world_random(c->world)));
    return !world_dead(c->world);
}

bool client_send(struct aws *c, const struct aws_call *call, struct credentials *who, struct arena *a,
                 struct aws_answer *ret, struct err *e)
{
    struct try t = {.c = c, .call = call, .who = who, .a = a, .ret = ret};
    struct retry_budget *b = &c->budgets[call->service];
    int64_t from_us = world_mono_us(c->world);
    uint32_t n = 1, paid = 0, retries = 0;

    for (;; retries++) {
        enum verdict v = try_once(&t, e);

        if (v == DONE || call->once)
            break;
        if (v == TRY_LATER && (n >= c->config->max_attempts || !wait_for_retry(c, b, n++, e, &paid)))
            break;
    }
    bool ok = e->kind == ERR_NONE;
    if (ok)
        retry_earn(b, paid);
    if (c->observer.call)
        c->observer.call(c->observer.ctx, call->service, call->action, ret->status, world_mono_us(c->world) - from_us,
                         retries);
    if (ok)
        return true;
    e->call.peer = "aws";
    e->call.service = aws_service_id(call->service);
    e->call.operation = call->action;
    e->call.status = ret->status;
    return err_wrap(e, "%s %s", aws_service_id(call->service), call->action);
}

bool aws_do(struct aws *c, const struct aws_call *call, struct arena *a, struct aws_answer *ret, struct err *e)
{
    return client_send(c, call, c->credentials, a, ret, e);
}

/* ---- helpers near by ---- */

bool client_ask_near(struct aws *c, const struct http_request *r, uint32_t tries, struct arena *a,
                     struct http_response *ret, struct err *e)
{
    static const struct http_trust direct = {0};
    struct http_request one = *r;

    one.trust = &direct;
    one.timeout_us = r->timeout_us ? r->timeout_us : NEAR_TIMEOUT_US;
    one.max_body = NEAR_MAX_BODY;
    for (uint32_t n = 1;; n++) {
        bool ok = http_fetch(c->world, &one, a, ret, e), again = !ok || ret->status >= 500 || ret->status == 429;

        if (!again || n >= tries || world_dead(c->world) || (!ok && e->kind == ERR_INVALID))
            return ok;
        fiber_sleep_us(c->world, retry_delay_us(n, world_random(c->world)) / 8);
    }
}
