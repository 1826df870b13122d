/* A fiber opens one call after the other and decides what comes next; what the calls bring is taken apart and handed over in their
 * callbacks, on the loop, so that whoever gets it is not bound to a fiber's small stack.
 *
 * `version` is where the copy stands: everything up to there has been handed over. Without it there is nothing to go on from and the
 * list is made again. It moves with every event and bookmark, but not while a list is coming in. */
#include "k8s/reflector.h"

#include <stdio.h>
#include <stdlib.h>

#include "data/edit.h"
#include "data/reader.h"
#include "k8s/api_int.h"
#include "k8s/watch_lines.h"
#include "net/fiber.h"

#define PAGE 500u
#define MAX_PAGE ((size_t)64 << 20)    /* bytes */
#define MAX_REFUSAL ((size_t)64 << 10) /* bytes of an answer that is not 200 */
#define WATCH_S 300u                   /* a watch is asked for so long, up to twice as long */
#define SLACK_S 30                     /* for the server to end it */
#define HEAD_US (30 * SECOND_US)       /* for an answer to begin */
#define IDLE_US (180 * SECOND_US)      /* without a byte; bookmarks come about every minute */
#define BRIEF_US SECOND_US             /* what ends sooner must not be repeated at once */
#define BACKOFF_US INT64_C(800000)
#define MAX_BACKOFF_US (30 * SECOND_US)

enum mode { MODE_PAGE, MODE_STREAMED_LIST, MODE_WATCH };

/* The call under way. */
struct reflector_call {
    struct http_call *call; /* NULL: it has ended */
    enum mode mode;
    struct http_response head; /* without headers */
    int64_t from_us;
    int64_t retry_after_us;
    struct sb body; /* of a page, or of a refusal */
    bool failed;
    struct err err;
    bool any; /* something was handed over */
};

struct reflector {
    struct api *api;
    const struct api_kind *kind;
    str version_of_kind, field_selector; /* in the arena */
    struct arena *arena;
    struct reflector_events ev;
    struct fiber *fiber; /* NULL: not begun, or returned */
    bool running;        /* it will free what is freed meanwhile */
    struct timer timer;
    bool due;   /* the timer has fired */
    bool freed; /* nobody wants to hear of it any more */
    struct reflector_call now;
    struct watch_lines lines;
    bool paged; /* the server has no streamed lists, or we do not want them */
    bool synced;
    bool stale_token;
    bool listing;     /* between on_list_begin and on_list_end */
    struct sb more;   /* the token of the next page */
    char version[64]; /* empty: list */
    unsigned failures;
};

/* ---- what came ---- */

/* The call is over, whatever else it has to say. */
static void end_call(struct reflector *r, const struct err *e)
{
    if (r->now.call)
        http_cancel(r->now.call);
    r->now.call = NULL;
    if (e && !r->now.failed) {
        r->now.failed = true;
        r->now.err = *e;
    }
    timer_stop(r->api->world, &r->timer);
    if (r->fiber)
        fiber_wake(r->fiber);
}

static void begin_list(struct reflector *r)
{
    if (r->listing)
        return;
    r->listing = true;
    r->ev.on_list_begin(r->ev.ctx);
}

static bool keep_version(struct reflector *r, const struct tree *obj, struct err *e)
{
    str v = tree_str(tree_at(obj, "metadata", "resourceVersion", NULL));

    if (v.n == 0 || v.n >= sizeof(r->version))
        return err_set(e, ERR_INVALID, "%s without a resourceVersion", r->kind->plural);
    memcpy(r->version, v.p, v.n);
    r->version[v.n] = '\0';
    return true;
}

static void list_is_complete(struct reflector *r)
{
    r->listing = false;
    r->synced = true;
    r->failures = 0;
    r->ev.on_list_end(r->ev.ctx);
}

static void on_bookmark(struct reflector *r, const struct tree *obj)
{
    str end = tree_str(tree_at(obj, "metadata", "annotations", "k8s.io/initial-events-end", NULL));
    bool list_ends = r->now.mode == MODE_STREAMED_LIST && str_is(end, "true");
    struct err e;

    if (r->now.mode == MODE_STREAMED_LIST && !list_ends)
        return;
    if (!keep_version(r, obj, &e)) {
        end_call(r, &e);
        return;
    }
    if (!list_ends)
        return;
    begin_list(r); /* there may have been nothing to list */
    if (r->freed)
        return;
    r->now.mode = MODE_WATCH;
    list_is_complete(r);
}

/* An ERROR event: a Status instead of an object. */
static void on_status(struct reflector *r, const struct tree *status)
{
    str reason = tree_str(tree_get(status, "reason")), message = tree_str(tree_get(status, "message"));
    int64_t code = 0;
    struct err e;

    (void)tree_to_i64(tree_get(status, "code"), &code);
    bool gone = code == 410 || str_is(reason, "Expired") || str_is(reason, "Gone");
    (void)err_set(&e, gone ? ERR_GONE : ERR_IO, STR_FMT, STR_ARG(message));
    (void)snprintf(e.code, sizeof(e.code), STR_FMT, STR_ARG(str_sub(reason, 0, sizeof(e.code) - 1)));
    end_call(r, &e);
}

static bool on_event(void *ctx, str type, struct tree *obj)
{
    struct reflector *r = ctx;
    bool gone = str_is(type, "DELETED");
    struct err e;

    r->now.any = true;
    if (str_is(type, "ERROR")) {
        on_status(r, obj);
    } else if (!obj || obj->kind != TREE_MAP) {
        (void)err_set(&e, ERR_INVALID, "an event of a watch has no object");
        end_call(r, &e);
    } else if (str_is(type, "BOOKMARK")) {
        on_bookmark(r, obj);
    } else if (gone || str_is(type, "ADDED") || str_is(type, "MODIFIED")) {
        if (r->now.mode == MODE_STREAMED_LIST)
            begin_list(r);
        else if (!keep_version(r, obj, &e))
            end_call(r, &e);
        if (r->now.call)
            gone ? r->ev.on_gone(r->ev.ctx, obj) : r->ev.on_object(r->ev.ctx, obj);
    }
    return r->now.call != NULL; /* other types: those of a later server */
}

/* The members of a list do not say what they are. */
static void name_kind(struct reflector *r, struct arena *a, struct tree *obj)
{
    if (!tree_get(obj, "kind"))
        tree_set_str(a, obj, "kind", str_c(r->kind->kind));
    if (!tree_get(obj, "apiVersion"))
        tree_set_str(a, obj, "apiVersion", r->version_of_kind);
}

static bool hand_over_page(struct reflector *r, struct err *e)
{
    struct arena *a = r->lines.arena;
    struct sb *b = &r->now.body;
    struct tree *t;

    arena_reset(a);
    sb_fill(b, 0, READER_PAD);
    if (!tree_read_json(a, r->kind->plural, b->p, b->n - READER_PAD, &t, e))
        return false;
    struct tree *items = tree_find(t, STR("items"));
    str more = tree_str(tree_at(t, "metadata", "continue", NULL));
    if (items && items->kind != TREE_LIST && items->kind != TREE_NULL)
        return err_set(e, ERR_INVALID, "the answer is no list of %s", r->kind->plural);
    if (!more.n && !keep_version(r, t, e)) /* a list that breaks off gives nothing to go on from */
        return false;
    sb_reset(&r->more);
    sb_str(&r->more, more);
    begin_list(r);
    for (uint32_t i = 0; items && i < items->n && !r->freed; i++) {
        if (items->items[i].kind != TREE_MAP)
            continue;
        name_kind(r, a, &items->items[i]);
        r->ev.on_object(r->ev.ctx, &items->items[i]);
    }
    r->now.any = true;
    if (!r->freed && r->more.n == 0)
        list_is_complete(r);
    return true;
}

/* ---- the call under way ---- */

/* Calls count when they are answered: a watch takes minutes, its answer does not. */
static void report(struct reflector *r)
{
    api_report(r->api, &(struct api_call){.method = "GET",
                                          .kind = r->kind,
                                          .sub = "",
                                          .code = r->now.head.status,
                                          .took_us = world_mono_us(r->api->world) - r->now.from_us});
}

static void on_head(void *ctx, int status, const struct http_header *headers, uint32_t n)
{
    struct reflector *r = ctx;

    r->now.head = (struct http_response){.status = status, .headers = (struct http_header *)headers, .n_headers = n};
    r->now.retry_after_us = api_retry_after_us(&r->now.head);
    r->now.head.headers = NULL;
    r->now.head.n_headers = 0;
    timer_stop(r->api->world, &r->timer);
    report(r);
}

static void on_data(void *ctx, str bytes)
{
    struct reflector *r = ctx;
    bool refused = r->now.head.status != 200;
    struct err e;

    if (refused) {
        sb_str(&r->now.body, str_sub(bytes, 0, MAX_REFUSAL - r->now.body.n));
    } else if (r->now.mode != MODE_PAGE) {
        if (!watch_lines_feed(&r->lines, bytes, on_event, r, &e))
            end_call(r, &e);
    } else if (bytes.n > MAX_PAGE - r->now.body.n) {
        (void)err_set(&e, ERR_INVALID, "a page of %s has more than %zu MiB", r->kind->plural, MAX_PAGE >> 20);
        end_call(r, &e);
    } else {
        sb_str(&r->now.body, bytes);
    }
}

static void on_end(void *ctx, const struct err *e)
{
    struct reflector *r = ctx;
    struct err bad;

    r->now.call = NULL;
    if (!e && r->now.mode == MODE_PAGE && r->now.head.status == 200 && !hand_over_page(r, &bad))
        e = &bad;
    end_call(r, e);
}

static void on_timer(void *ctx)
{
    struct reflector *r = ctx;
    struct err e;

    r->due = true;
    (void)err_set(&e, ERR_TIMEOUT, "no answer after %d s", (int)(HEAD_US / SECOND_US));
    end_call(r, r->now.call ? &e : NULL);
}

static str query(struct reflector *r, struct arena *a, enum mode mode, unsigned watch_s)
{
    struct sb b = {0};

    sb_c(&b, mode == MODE_PAGE ? "?" : "?allowWatchBookmarks=true&");
    if (mode == MODE_PAGE && r->more.n) {
        sb_c(&b, "continue=");
        url_encode(&b, sb_view(&r->more));
        sb_char(&b, '&');
    }
    if (r->field_selector.n) {
        sb_c(&b, "fieldSelector=");
        url_encode(&b, r->field_selector);
        sb_char(&b, '&');
    }
    switch (mode) {
    case MODE_PAGE:
        sb_printf(&b, "limit=%u", PAGE);
        break;
    case MODE_STREAMED_LIST:
        sb_printf(&b, "resourceVersionMatch=NotOlderThan&sendInitialEvents=true&timeoutSeconds=%u&watch=true", watch_s);
        break;
    case MODE_WATCH:
        sb_c(&b, "resourceVersion=");
        url_encode(&b, str_c(r->version));
        sb_printf(&b, "&timeoutSeconds=%u&watch=true", watch_s);
        break;
    }
    str s = sb_dup(&b, a);
    sb_fini(&b);
    return s;
}

/* Starts it and parks until it has ended. */
static void make_call(struct reflector *r, enum mode mode)
{
    AUTO(arena) struct arena *a = arena_new(0);
    struct world *w = r->api->world;
    struct http_events ev = {.ctx = r, .on_head = on_head, .on_data = on_data, .on_end = on_end};
    unsigned watch_s = WATCH_S + (unsigned)(world_random(w) % (WATCH_S + 1));
    struct api_ref all = {.kind = r->kind};
    str url = api_url(r->api, a, &all, NULL), q = query(r, a, mode, watch_s);
    struct http_request req = {.url = arena_printf(a, STR_FMT STR_FMT, STR_ARG(url), STR_ARG(q)),
                               .timeout_us = (watch_s + SLACK_S) * SECOND_US,
                               .idle_timeout_us = mode == MODE_PAGE ? HEAD_US : IDLE_US};
    struct err e;

    r->now = (struct reflector_call){.mode = mode};
    watch_lines_reset(&r->lines);
    if (!api_headers(r->api, a, (str){0}, r->stale_token, &req, &e)) {
        end_call(r, &e);
        return;
    }
    if (!r->freed) {
        r->now.from_us = world_mono_us(w);
        r->now.call = http_start(w, &req, &ev);
        timer_set(w, &r->timer, HEAD_US);
    }
    api_forget_headers(&req);
    while (r->now.call && !r->freed)
        fiber_park();
    if (r->now.head.status == 0 && !r->freed)
        report(r);
}

/* ---- one call after the other ---- */

static void start_over(struct reflector *r)
{
    r->version[0] = '\0';
    r->listing = false;
    sb_reset(&r->more);
}

/* The next call at once, or after a while: 0.8 to 1.6 s, and up to 15 to 30 s. */
static int64_t back_off_us(struct reflector *r)
{
    int64_t base = BACKOFF_US << MIN(r->failures, 6u);

    r->failures++;
    base = MIN(base, MAX_BACKOFF_US / 2);
    return MAX(base + (int64_t)(world_random(r->api->world) % (uint64_t)base), r->now.retry_after_us);
}

/* What an answer other than 200 means. true: the next call, made in another way, need not wait. */
static bool refused(struct reflector *r, enum mode mode, struct err *e)
{
    AUTO(arena) struct arena *a = arena_new(0);
    int status = r->now.head.status;
    bool stale = status == 401 && !r->stale_token;

    r->stale_token = stale;
    sb_fill(&r->now.body, 0, READER_PAD);
    r->now.head.body = str_sub(sb_view(&r->now.body), 0, r->now.body.n - READER_PAD);
    (void)api_refused(a, &r->now.head, e);
    if (mode == MODE_STREAMED_LIST && (status == 400 || status == 422))
        return r->paged = true;
    /* 504: our version is one that the server has not seen yet. If it never will, the list says what there is. */
    if (status == 410 || status == 504 || status == 400 || status == 404 || status == 422)
        start_over(r);
    return stale;
}

/* What became of the call, and how long to wait before the next. */
static int64_t judge(struct reflector *r, enum mode mode, int64_t lasted_us)
{
    struct reflector_call *c = &r->now;
    bool at_once = c->mode == MODE_WATCH && c->any && lasted_us >= BRIEF_US;
    struct err e = c->err;

    if (c->head.status == 200)
        r->stale_token = false;
    if (c->head.status != 200 && c->head.status != 0) {
        if (refused(r, mode, &e))
            return 0;
    } else if (c->failed) {
        if (e.kind == ERR_GONE || e.kind == ERR_INVALID)
            start_over(r);
        r->paged = r->paged || (c->mode == MODE_STREAMED_LIST && e.kind == ERR_TIMEOUT);
    } else if (c->mode == MODE_PAGE) {
        return 0;
    } else if (c->mode == MODE_STREAMED_LIST) {
        (void)err_set(&e, ERR_IO, "the watch ended before the list was complete");
        r->paged = true; /* some servers take the question for an ordinary watch, and never say where the list ends */
    } else if (at_once) {
        return 0;
    } else {
        (void)err_set(&e, ERR_IO, "the watch ended as soon as it had begun");
    }
    (void)err_wrap(&e, "%s %s", c->mode == MODE_WATCH ? "watch" : "list", r->kind->plural);
    if (r->ev.on_error)
        r->ev.on_error(r->ev.ctx, &e);
    return at_once ? 0 : back_off_us(r);
}

static void pause_for(struct reflector *r, int64_t us)
{
    struct world *w = r->api->world;

    r->due = false;
    timer_set(w, &r->timer, us);
    while (!r->due && !r->freed && !world_dead(w))
        fiber_park();
}

static void turn(struct reflector *r)
{
    struct world *w = r->api->world;
    int64_t from = world_mono_us(w), wait_us = 0;
    enum mode mode = r->version[0] ? MODE_WATCH : r->paged ? MODE_PAGE : MODE_STREAMED_LIST;

    if (mode != MODE_PAGE || r->more.n == 0)
        r->listing = false;
    make_call(r, mode);
    if (!r->freed && !world_dead(w))
        wait_us = judge(r, mode, world_mono_us(w) - from);
    sb_fini(&r->now.body);
    if (wait_us && !r->freed)
        pause_for(r, wait_us);
}

static void destroy(struct reflector *r)
{
    watch_lines_fini(&r->lines);
    sb_fini(&r->more);
    arena_free(r->arena);
    free(r);
}

static void run(void *arg)
{
    struct reflector *r = arg;

    r->fiber = fiber_self();
    while (!r->freed && !world_dead(r->api->world))
        turn(r);
    timer_stop(r->api->world, &r->timer);
    r->fiber = NULL;
    r->running = false;
    if (r->freed)
        destroy(r);
}

struct reflector *reflector_new(struct api *c, const struct api_kind *k, const struct reflector_options *o,
                                const struct reflector_events *ev)
{
    struct reflector *r = xcalloc(1, sizeof(*r));

    r->api = c;
    r->kind = k;
    r->ev = *ev;
    r->arena = arena_new(0);
    r->version_of_kind = api_kind_version(r->arena, k);
    if (o) {
        r->field_selector = arena_strdup(r->arena, o->field_selector);
        r->paged = o->no_streamed_lists;
    }
    r->timer = (struct timer){.fn = on_timer, .ctx = r};
    watch_lines_init(&r->lines);
    r->running = true;
    fiber_go(c->world, "reflector", run, r);
    return r;
}

void reflector_free(struct reflector *r)
{
    if (!r)
        return;
    r->freed = true;
    if (!r->running) {
        destroy(r);
        return;
    }
    end_call(r, NULL);
}

bool reflector_synced(const struct reflector *r)
{
    return r->synced;
}
