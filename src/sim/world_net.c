/* The network between processes. A call and the exchange that serves it are one struct sim_call with two halves: either side
 * may leave first, and the other learns of it when the news has travelled.
 *
 * `go` is the next event in the client's direction to the server (the request arrives, the client has left), `back` the next
 * one towards the client (head, pieces, end, reset). A request that has left its process arrives even if that process dies or
 * gives up meanwhile, as it would on a wire.
 */
#include <stdlib.h>

#include "base/arena.h"
#include "base/map.h"
#include "sim/world_int.h"

#define SLACK 16u
#define KEEP_PIECES 1024u

enum half {
    HALF_TRAVELS, /* the request is on its way */
    HALF_SERVED,  /* the server has the exchange */
    HALF_NONE,    /* refused, or over */
};

struct sim_call {
    struct served s;
    struct sim *sim;
    struct sim_call *prev, *next;
    struct http_call *client; /* NULL: it has left */
    struct sim_world *server;
    enum half half; /* the server's */
    struct arena *arena;
    str url;
    struct timer go, back;
    uint64_t born;   /* in which step … */
    int64_t born_us; /* … and when */
    int64_t there_us, back_us;
    int64_t head_us, last_us, end_us; /* when the head, the latest piece and the end arrive, once there is one */
    int64_t stall_us;
    int64_t cut_after_us, cut_us; /* -1: not */
    bool refused, lose_reply, reset;
    bool answered; /* the server has begun to */
    bool head_given, paused;
};

static struct sim_call *sim_call_of(struct served *s)
{
    return (struct sim_call *)((char *)s - offsetof(struct sim_call, s));
}

static void set(struct sim_call *k, struct timer *t, int64_t due_us)
{
    timers_set(&k->sim->core.timers, t, NULL, MAX(due_us, k->sim->now_us));
}

static void stop(struct sim_call *k, struct timer *t)
{
    timers_stop(&k->sim->core.timers, t);
}

/* ---- memory ---- */

static void call_destroy(struct sim_call *k)
{
    vec_fini(&k->s.out.list);
    arena_free(k->arena);
    free(k);
}

/* Once neither side needs it. */
static void call_settle(struct sim_call *k)
{
    struct sim *s = k->sim;

    if (k->client || k->half != HALF_NONE)
        return;
    stop(k, &k->go);
    stop(k, &k->back);
    *(k->prev ? &k->prev->next : &s->calls) = k->next;
    if (k->next)
        k->next->prev = k->prev;
    arena_reset(k->arena);
    if (k->s.out.list.cap > KEEP_PIECES)
        vec_fini(&k->s.out.list);
    k->next = s->idle_calls;
    s->idle_calls = k;
}

static void on_go(void *ctx);
static void on_back(void *ctx);
static const struct served_ops call_ops;

static struct sim_call *call_new(struct sim *s)
{
    struct sim_call *k = s->idle_calls;

    if (k) {
        s->idle_calls = k->next;
    } else {
        k = xcalloc(1, sizeof(*k));
        k->arena = arena_new(0);
    }
    struct pieces out = k->s.out; /* empty, with its memory */

    *k = (struct sim_call){
        .s = {.x.arena = k->arena, .ops = &call_ops, .out = out},
        .sim = s,
        .next = s->calls,
        .arena = k->arena,
        .go = {.fn = on_go, .ctx = k},
        .back = {.fn = on_back, .ctx = k},
        .born = s->step,
        .born_us = s->now_us,
        .cut_after_us = -1,
        .cut_us = -1,
    };
    if (k->next)
        k->next->prev = k;
    s->calls = k;
    return k;
}

/* ---- servers ---- */

static struct sim_mount *mount_of(struct sim *s, str url)
{
    for (uint32_t i = 0; i < s->mounts.n; i++) {
        struct sim_mount *m = &s->mounts.v[i];

        if (str_starts(url, (str){m->base, m->base_n}) &&
            (url.n == m->base_n || url.p[m->base_n] == '/' || url.p[m->base_n] == '?'))
            return m;
    }
    return NULL;
}

/* The entry for a base; longer ones come first, so that the first that fits is the one meant. */
static struct sim_mount *mount_at(struct sim *s, const char *base)
{
    size_t n = strlen(base);
    uint32_t at = 0;

    assert(n && base[n - 1] != '/');
    for (uint32_t i = 0; i < s->mounts.n; i++)
        if (strcmp(s->mounts.v[i].base, base) == 0)
            return &s->mounts.v[i];
    while (at < s->mounts.n && s->mounts.v[at].base_n >= n)
        at++;
    (void)vec_add(&s->mounts);
    memmove(&s->mounts.v[at + 1], &s->mounts.v[at], (s->mounts.n - 1 - at) * sizeof(s->mounts.v[0]));
    s->mounts.v[at] = (struct sim_mount){.base = memcpy(xmalloc(n + 1), base, n + 1), .base_n = n};
    return &s->mounts.v[at];
}

void sim_mount(struct sim *s, const char *base, struct world *server_world, http_serve_fn serve, void *server)
{
    struct sim_mount *m = mount_at(s, base);

    m->server = serve ? sim_world_of(server_world) : NULL;
    m->serve = serve;
    m->ctx = server;
}

uint64_t sim_fault_count(const struct sim *s)
{
    return s->n_faults;
}

void sim_set_faults(struct sim *s, const char *base, const struct sim_faults *f)
{
    mount_at(s, base)->faults = *f;
}

/* ---- towards the client ---- */

/* The next event in this direction, if one is certain. */
static void plan_back(struct sim_call *k)
{
    const struct pieces *p = &k->s.out;
    int64_t due = INT64_MAX;

    if (!k->client || k->reset) /* a reset has its time already */
        return;
    if (!k->head_given)
        due = k->s.begun || k->s.aborted ? k->head_us : INT64_MAX;
    else if (p->bytes)
        due = k->paused ? INT64_MAX : p->list.v[p->from].due_us;
    else if (k->s.ended || k->s.aborted)
        due = k->end_us;
    if (k->cut_us >= 0)
        due = MIN(due, k->cut_us);
    if (due == INT64_MAX)
        stop(k, &k->back);
    else if (!timer_is_set(&k->back) || k->back.due_us != due)
        set(k, &k->back, due);
}

/* The client hears no more of it. */
static void client_end(struct sim_call *k, const struct err *e)
{
    struct http_call *c = k->client;

    sim_mix(k->sim, e ? (uint64_t)e->kind : 0);
    k->client = NULL;
    c->wire = NULL;
    stop(k, &k->back);
    if (k->half == HALF_SERVED && !e)
        served_over(&k->s); /* the last byte is through */
    else if (k->half == HALF_SERVED)
        set(k, &k->go, k->sim->now_us + k->there_us);
    else
        call_settle(k);
    http_call_end(c, e);
}

static void client_reset(struct sim_call *k)
{
    struct err e = {0};

    (void)err_set(&e, ERR_IO, "%s", k->refused ? "connection refused" : "connection reset by peer");
    client_end(k, &e);
}

static str length_text(struct arena *a, size_t n)
{
    char digits[24];
    struct sb b = {.p = digits, .cap = sizeof(digits)};

    sb_u64(&b, n);
    return sb_dup(&b, a);
}

static void give_head(struct sim_call *k)
{
    struct served *s = &k->s;
    struct http_header *h = arena_new_array(k->arena, struct http_header, s->n_headers + 1);
    uint32_t n = s->n_headers;

    if (n)
        memcpy(h, s->headers, n * sizeof(*h));
    if (s->ended)
        h[n++] = (struct http_header){STR("Content-Length"), length_text(k->arena, s->out.bytes)};
    k->head_given = true;
    if (k->cut_after_us >= 0)
        k->cut_us = sat_add(k->sim->now_us, k->cut_after_us);
    sim_mix(k->sim, (uint64_t)s->status);
    http_call_head(k->client, s->status, h, n);
}

/* Whatever has arrived by now. */
static void give_pieces(struct sim_call *k)
{
    struct pieces *p = &k->s.out;

    while (k->client && !k->paused && p->bytes && p->list.v[p->from].due_us <= k->sim->now_us) {
        str bytes = p->list.v[p->from].bytes;

        sim_mix_bytes(k->sim, bytes);
        http_call_data(k->client, bytes);
        if (!k->s.gone)
            pieces_take(p, bytes.n);
    }
}

static void on_back(void *ctx)
{
    struct sim_call *k = ctx;
    int64_t now = k->sim->now_us;

    if (k->reset || (k->cut_us >= 0 && now >= k->cut_us)) {
        client_reset(k);
        return;
    }
    if (!k->head_given) {
        if (k->lose_reply || !k->s.begun) { /* or broken off before it began */
            client_reset(k);
            return;
        }
        give_head(k);
    }
    give_pieces(k);
    if (!k->client)
        return;
    bool through = k->s.out.bytes == 0 && now >= k->end_us;

    if (through && k->s.ended)
        client_end(k, NULL);
    else if (through && k->s.aborted)
        client_reset(k);
    else
        plan_back(k);
}

/* ---- from the server ---- */

/* Stamps what the server has just said with the time at which it arrives. Everything stays in order. */
static void on_changed(struct served *s)
{
    struct sim_call *k = sim_call_of(s);
    int64_t arrives = sat_add(k->sim->now_us, k->back_us);

    if (!k->answered) {
        k->answered = true;
        k->head_us = arrives;
        k->last_us = sat_add(arrives, k->stall_us);
    }
    arrives = MAX(arrives, k->last_us);
    for (uint32_t i = s->out.list.n; i > s->out.from && s->out.list.v[i - 1].due_us < 0; i--) {
        s->out.list.v[i - 1].due_us = arrives;
        k->last_us = arrives;
    }
    if (s->ended || s->aborted)
        k->end_us = arrives;
    plan_back(k);
}

static void on_release(struct served *s)
{
    struct sim_call *k = sim_call_of(s);

    k->half = HALF_NONE;
    k->server = NULL;
    stop(k, &k->go);
    call_settle(k);
}

static const struct served_ops call_ops = {.changed = on_changed, .release = on_release};

/* ---- towards the server ---- */

static void refuse(struct sim_call *k)
{
    k->half = HALF_NONE;
    k->refused = k->reset = true;
    if (k->client)
        set(k, &k->back, k->sim->now_us + k->back_us);
    else
        call_settle(k);
}

static void arrive(struct sim_call *k)
{
    struct exchange *x = &k->s.x;
    const struct sim_mount *m = mount_of(k->sim, k->url);

    if (k->refused || !m || !m->server || m->server->w.dead) {
        refuse(k);
        return;
    }
    sim_mix_bytes(k->sim, str_c(x->method));
    sim_mix_bytes(k->sim, k->url);
    sim_mix_bytes(k->sim, x->body);
    k->half = HALF_SERVED;
    k->server = m->server;
    k->s.w = &m->server->w;
    if (!k->client) /* it has left meanwhile */
        set(k, &k->go, k->sim->now_us);
    m->serve(m->ctx, x);
}

static void on_go(void *ctx)
{
    struct sim_call *k = ctx;

    if (k->half == HALF_TRAVELS)
        arrive(k);
    else if (!k->s.gone)
        served_over(&k->s);
}

/* ---- the world's operations ---- */

static int64_t draw(struct sim *s, const int64_t range[2])
{
    if (range[1] <= range[0])
        return MAX(range[0], 0);
    uint64_t width = (uint64_t)(range[1] - range[0]) + 1;
    return MAX(range[0] + (int64_t)(rng_next(&s->net_rng) % width), 0);
}

static bool chance(struct sim *s, uint32_t of_65536)
{
    bool yes = of_65536 && rng_below(&s->net_rng, 65536) < of_65536;

    s->n_faults += yes;
    return yes;
}

static void draw_faults(struct sim_call *k, const struct sim_faults *f)
{
    struct sim *s = k->sim;

    k->there_us = draw(s, f->delay_us);
    k->back_us = draw(s, f->delay_us);
    k->refused = chance(s, f->refuse);
    k->lose_reply = chance(s, f->lose_reply);
    if (chance(s, f->slow))
        k->back_us = sat_mul(k->back_us, 100);
    if (chance(s, f->cut_stream))
        k->cut_after_us = draw(s, f->cut_after_us);
    if (chance(s, f->stall_stream))
        k->stall_us = draw(s, f->stall_us);
}

/* "https://host/path?query": where the path begins. */
static size_t path_at(str url)
{
    size_t at = str_starts(url, STR("https://")) ? 8 : 7;

    while (at < url.n && url.p[at] != '/' && url.p[at] != '?')
        at++;
    return at;
}

static void copy_headers(struct sim_call *k, const struct http_request *r, str host)
{
    struct http_header *h = arena_new_array(k->arena, struct http_header, r->n_headers + 1);
    uint32_t n = 0;

    if (http_header_get(r->headers, r->n_headers, "Host").n == 0)
        h[n++] = (struct http_header){STR("Host"), host};
    for (uint32_t i = 0; i < r->n_headers; i++)
        h[n++] = (struct http_header){arena_strdup(k->arena, r->headers[i].name),
                                      arena_strdup(k->arena, r->headers[i].value)};
    k->s.x.headers = h;
    k->s.x.n_headers = n;
}

bool sim_call_start(struct http_call *c, const struct http_request *r, struct err *e)
{
    static const struct sim_faults none;
    struct sim *s = sim_world_of(c->w)->s;
    size_t path = path_at(r->url), host = str_starts(r->url, STR("https://")) ? 8 : 7;
    struct sim_call *k;

    if (path == host)
        return err_set(e, ERR_INVALID, "no host in the url \"" STR_FMT "\"", STR_ARG(str_sub(r->url, 0, 200)));
    k = call_new(s);
    const struct sim_mount *m = mount_of(s, r->url);
    struct exchange *x = &k->s.x;
    const char *method = r->method ? r->method : "GET";
    str body = http_method_has_body(method) ? r->body : STR("");

    k->client = c;
    c->wire = k;
    k->url = arena_strdup(k->arena, r->url);
    x->method = arena_memdup(k->arena, method, strlen(method) + 1, 1);
    (void)str_cut(str_sub(k->url, path, k->url.n), '?', &x->path, &x->query);
    if (x->path.n == 0)
        x->path = STR("/");
    copy_headers(k, r, str_sub(k->url, host, path));
    char *copy = arena_alloc(k->arena, body.n + SLACK, 1);
    if (body.n)
        memcpy(copy, body.p, body.n);
    x->body = (str){copy, body.n};
    draw_faults(k, m ? &m->faults : &none);
    set(k, &k->go, s->now_us + k->there_us);
    return true;
}

void sim_call_cut(struct http_call *c)
{
    struct sim_call *k = c->wire;

    k->client = NULL;
    stop(k, &k->back);
    if (k->half == HALF_TRAVELS && k->born == k->sim->step && k->born_us == k->sim->now_us) { /* has not left yet */
        k->half = HALF_NONE;
        call_settle(k);
    } else if (k->half == HALF_SERVED && !timer_is_set(&k->go)) {
        set(k, &k->go, k->sim->now_us + k->there_us);
    } else {
        call_settle(k);
    }
}

void sim_call_pause(struct http_call *c, bool on)
{
    struct sim_call *k = c->wire;

    k->paused = on;
    if (!on && !timer_is_set(&k->back))
        plan_back(k);
}

void sim_net_kill(struct sim_world *w)
{
    struct sim_call *k = w->s->calls;

    while (k && k->next) /* oldest first */
        k = k->next;
    for (; k; k = k->prev) {
        if (k->half != HALF_SERVED || k->server != w)
            continue;
        k->reset = true;
        if (k->client)
            set(k, &k->back, k->sim->now_us + k->back_us);
        set(k, &k->go, k->sim->now_us);
    }
}

bool sim_net_forget(struct sim_world *w)
{
    struct sim *s = w->s;

    for (struct sim_call *k = s->calls; k; k = k->next)
        if (k->server == w && !k->s.gone)
            return false;
    for (struct sim_call *k = s->calls, *next; k; k = next) { /* nobody is left who could end its reply */
        next = k->next;
        if (k->server == w)
            on_release(&k->s);
    }
    for (uint32_t i = 0; i < s->mounts.n; i++)
        if (s->mounts.v[i].server == w)
            s->mounts.v[i].server = NULL;
    return true;
}

void sim_net_fini(struct sim *s)
{
    while (s->calls)
        on_release(&s->calls->s);
    while (s->idle_calls) {
        struct sim_call *k = s->idle_calls;

        s->idle_calls = k->next;
        call_destroy(k);
    }
    for (uint32_t i = 0; i < s->mounts.n; i++)
        free(s->mounts.v[i].base);
    vec_fini(&s->mounts);
}
