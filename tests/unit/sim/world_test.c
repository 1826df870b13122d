/* The simulated world: the same seed gives the same run, faults are what they say, a kill is survived between any two steps. */
#include "sim/world.h"

#include <stdio.h>
#include <stdlib.h>

#include "base/arena.h"
#include "base/map.h"
#include "base/vec.h"
#include "net/fiber.h"
#include "support/check.h"

#define MS 1000ll
#define SECOND (1000 * MS)
#define ALWAYS 65536u

/* ---- a small service: a counter that can be raised and watched ---- */

struct counter {
    struct world *w;
    uint32_t value, n_served, n_over;
    VEC(struct exchange *) watchers;
};

static void watcher_left(struct exchange *x)
{
    struct counter *c = x->ctx;
    uint32_t kept = 0;

    c->n_over++;
    for (uint32_t i = 0; i < c->watchers.n; i++)
        if (c->watchers.v[i] != x)
            c->watchers.v[kept++] = c->watchers.v[i];
    c->watchers.n = kept;
}

static void count_over(struct exchange *x)
{
    ((struct counter *)x->ctx)->n_over++;
}

static void counter_serve(void *server, struct exchange *x)
{
    struct counter *c = server;
    char text[16];

    c->n_served++;
    x->ctx = c;
    x->on_over = count_over;
    if (str_is(x->path, "/watch")) {
        x->on_over = watcher_left;
        vec_push(&c->watchers, x);
        reply_begin(x, 200, NULL, 0);
        return;
    }
    if (str_is(x->path, "/never")) {
        x->on_over = watcher_left;
        vec_push(&c->watchers, x);
        return;
    }
    if (str_is(x->path, "/raise")) {
        c->value++;
        for (uint32_t i = 0; i < c->watchers.n; i++)
            reply_data(c->watchers.v[i], STR("tick\n"));
    }
    (void)snprintf(text, sizeof(text), "%u", c->value);
    reply_all(x, 200, "text/plain", str_c(text));
}

struct town {
    struct sim *s;
    struct world *client, *server;
    struct counter c;
    struct arena *a;
};

static struct town *town_new(uint64_t seed)
{
    struct town *t = calloc(1, sizeof(*t));

    t->s = sim_new(seed, 1700000000000);
    t->client = sim_process(t->s, "client");
    t->server = sim_process(t->s, "server");
    t->c.w = t->server;
    t->a = arena_new(0);
    sim_mount(t->s, "https://counter", t->server, counter_serve, &t->c);
    return t;
}

static void town_free(struct town *t)
{
    sim_free(t->s);
    check_u64("no watcher is left", t->c.watchers.n, 0);
    check_u64("every exchange is over", t->c.n_over, t->c.n_served);
    vec_fini(&t->c.watchers);
    arena_free(t->a);
    free(t);
}

static void faults(struct town *t, struct sim_faults f)
{
    sim_set_faults(t->s, "https://counter", &f);
}

/* ---- one call, seen from outside ---- */

struct outcome {
    struct town *t;
    struct http_call *call;
    int status;
    struct sb body;
    bool ended;
    enum err_kind kind;
    int64_t head_us, data_us, end_us; /* when; data_us: the first */
};

static void on_head(void *ctx, int status, const struct http_header *h, uint32_t n)
{
    struct outcome *o = ctx;

    (void)h;
    (void)n;
    o->status = status;
    o->head_us = sim_now_us(o->t->s);
}

static void on_data(void *ctx, str bytes)
{
    struct outcome *o = ctx;

    if (o->body.n == 0)
        o->data_us = sim_now_us(o->t->s);
    sb_str(&o->body, bytes);
}

static void on_end(void *ctx, const struct err *e)
{
    struct outcome *o = ctx;

    o->ended = true;
    o->kind = e ? e->kind : ERR_NONE;
    o->end_us = sim_now_us(o->t->s);
}

static void call(struct town *t, struct outcome *o, str url)
{
    struct http_request r = {.url = url};
    struct http_events ev = {.ctx = o, .on_head = on_head, .on_data = on_data, .on_end = on_end};

    sb_fini(&o->body);
    *o = (struct outcome){.t = t};
    o->call = http_start(t->client, &r, &ev);
}

/* ---- faults ---- */

static void without_faults_no_time_passes(void **state)
{
    struct town *t = town_new(1);
    struct outcome o = {0};

    (void)state;
    call(t, &o, STR("https://counter/raise"));
    check_true("not inside the call", !o.ended);
    world_run(t->client);
    check_true("complete", o.ended && o.kind == ERR_NONE && o.status == 200);
    check_str("body", sb_view(&o.body), "1");
    check_i64("at once", sim_now_us(t->s), 0);
    sb_fini(&o.body);
    town_free(t);
}

static void delays_go_both_ways(void **state)
{
    struct town *t = town_new(1);
    struct outcome o = {0};
    int64_t least = INT64_MAX, most = 0;

    (void)state;
    faults(t, (struct sim_faults){.delay_us = {1 * MS, 3 * MS}});
    for (int i = 0; i < 200; i++) {
        int64_t from = sim_now_us(t->s);

        call(t, &o, STR("https://counter/raise"));
        world_run(t->client);
        least = MIN(least, o.end_us - from);
        most = MAX(most, o.end_us - from);
        check_i64("all of it comes at once", o.head_us, o.end_us);
    }
    check_true("from", least >= 2 * MS && least < 3 * MS);
    check_true("to", most <= 6 * MS && most > 5 * MS);

    faults(t, (struct sim_faults){.delay_us = {MS, MS}, .slow = ALWAYS});
    int64_t from = sim_now_us(t->s);
    call(t, &o, STR("https://counter/raise"));
    world_run(t->client);
    check_i64("slow", o.end_us - from, 101 * MS);
    sb_fini(&o.body);
    town_free(t);
}

static void refused_calls_never_arrive(void **state)
{
    struct town *t = town_new(1);
    struct outcome o = {0};

    (void)state;
    faults(t, (struct sim_faults){.refuse = ALWAYS});
    call(t, &o, STR("https://counter/raise"));
    world_run(t->client);
    check_true("refused", o.ended && o.kind == ERR_IO && o.status == 0);
    check_u64("not served", t->c.n_served, 0);

    faults(t, (struct sim_faults){0});
    call(t, &o, STR("https://nobody/"));
    world_run(t->client);
    check_i64("no such host", o.kind, ERR_IO);
    call(t, &o, STR("https://counter.example/raise"));
    world_run(t->client);
    check_i64("a longer name is another host", o.kind, ERR_IO);
    call(t, &o, STR("https://counter?x"));
    world_run(t->client);
    check_i64("a query may follow", o.kind, ERR_NONE);
    call(t, &o, STR("https:///raise"));
    world_run(t->client);
    check_i64("no host at all", o.kind, ERR_INVALID);
    sim_mount(t->s, "https://counter", NULL, NULL, NULL);
    call(t, &o, STR("https://counter/raise"));
    world_run(t->client);
    check_i64("nobody listens any more", o.kind, ERR_IO);
    sim_mount(t->s, "https://counter", t->server, counter_serve, &t->c);
    sim_kill(t->server);
    call(t, &o, STR("https://counter/raise"));
    world_run(t->client);
    check_i64("the server is dead", o.kind, ERR_IO);
    sb_fini(&o.body);
    town_free(t);
}

static void lost_replies_have_been_done(void **state)
{
    struct town *t = town_new(1);
    struct outcome o = {0};

    (void)state;
    faults(t, (struct sim_faults){.delay_us = {MS, MS}, .lose_reply = ALWAYS});
    call(t, &o, STR("https://counter/raise"));
    world_run(t->client);
    check_true("reset", o.ended && o.kind == ERR_IO && o.status == 0);
    check_i64("when the answer would have come", o.end_us, 2 * MS);
    check_u64("but done", t->c.value, 1);
    sb_fini(&o.body);
    town_free(t);
}

static void streams_are_cut(void **state)
{
    struct town *t = town_new(1);
    struct outcome o = {0};

    (void)state;
    faults(t, (struct sim_faults){.delay_us = {MS, MS}, .cut_stream = ALWAYS, .cut_after_us = {5 * MS, 5 * MS}});
    call(t, &o, STR("https://counter/watch"));
    sim_run_for(t->s, 4 * MS);
    check_true("open", o.status == 200 && !o.ended);
    reply_data(t->c.watchers.v[0], STR("before"));
    sim_run_for(t->s, 2 * MS);
    reply_data(t->c.watchers.v[0], STR("too late"));
    sim_run_for(t->s, 10 * MS);
    check_true("cut", o.ended && o.kind == ERR_IO);
    check_i64("after its head", o.end_us - o.head_us, 5 * MS);
    check_str("what came before", sb_view(&o.body), "before");
    check_u64("the server knows", t->c.watchers.n, 0);

    call(t, &o, STR("https://counter/raise"));
    world_run(t->client);
    check_true("what is complete cannot be cut", o.ended && o.kind == ERR_NONE);
    sb_fini(&o.body);
    town_free(t);
}

static void streams_stall(void **state)
{
    struct town *t = town_new(1);
    struct outcome o = {0};

    (void)state;
    faults(t, (struct sim_faults){.stall_stream = ALWAYS, .stall_us = {9 * MS, 9 * MS}});
    call(t, &o, STR("https://counter/watch"));
    sim_run_for(t->s, MS);
    check_i64("the head comes in time", o.status, 200);
    reply_data(t->c.watchers.v[0], STR("a"));
    sim_run_for(t->s, MS);
    reply_data(t->c.watchers.v[0], STR("b"));
    check_u64("both are on their way", reply_queued(t->c.watchers.v[0]), 2);
    sim_run_for(t->s, 5 * MS);
    check_u64("held back", o.body.n, 0);
    sim_run_for(t->s, 5 * MS);
    check_str("then all of it, in order", sb_view(&o.body), "ab");
    check_i64("after the stall", o.data_us, 9 * MS);
    check_u64("taken", reply_queued(t->c.watchers.v[0]), 0);
    reply_data(t->c.watchers.v[0], STR("c"));
    sim_run_for(t->s, 0);
    check_str("once", sb_view(&o.body), "abc");
    http_cancel(o.call);
    sb_fini(&o.body);
    town_free(t);
}

static void chances_are_what_they_say(void **state)
{
    struct town *t = town_new(11);
    struct outcome o = {0};
    uint32_t n_failed = 0;

    (void)state;
    faults(t, (struct sim_faults){.refuse = ALWAYS / 4});
    for (int i = 0; i < 4000; i++) {
        call(t, &o, STR("https://counter/raise"));
        world_run(t->client);
        n_failed += o.kind != ERR_NONE;
    }
    check_true("a quarter", n_failed > 880 && n_failed < 1120);
    check_u64("the others were served", t->c.n_served, 4000 - n_failed);
    sb_fini(&o.body);
    town_free(t);
}

/* ---- time ---- */

static void clocks(void **state)
{
    struct sim *s = sim_new(1, 1700000000000);
    struct world *w = sim_process(s, "p");
    int64_t mono = world_mono_us(w);

    (void)state;
    check_i64("start", world_now_ms(w), 1700000000000);
    sim_run_for(s, 90 * SECOND);
    check_i64("steady", world_mono_us(w) - mono, 90 * SECOND);
    check_i64("wall", world_now_ms(w), 1700000090000);
    sim_jump(s, -3600000);
    check_i64("the wall clock jumps", world_now_ms(w), 1699996490000);
    check_i64("alone", world_mono_us(w) - mono, 90 * SECOND);
    check_true("nothing to do", !sim_step(s));
    sim_free(s);
}

static void the_longest_base_wins(void **state)
{
    struct town *t = town_new(1);
    struct counter other = {.value = 41};
    struct outcome o = {0};

    (void)state;
    sim_mount(t->s, "https://counter/deep", t->server, counter_serve, &other);
    call(t, &o, STR("https://counter/deep"));
    world_run(t->client);
    check_str("deep", sb_view(&o.body), "41");
    call(t, &o, STR("https://counter/deeper"));
    world_run(t->client);
    check_str("not deep", sb_view(&o.body), "0");
    sb_fini(&o.body);
    town_free(t);
}

/* ---- a run with everything in it ---- */

struct worker {
    struct town *t;
    struct world *w;
    uint32_t n_ok, n_failed;
};

static void raise_often(void *arg)
{
    struct worker *k = arg;
    AUTO(arena) struct arena *a = arena_new(0);

    while (!world_dead(k->w)) {
        struct http_request r = {
            .method = "POST", .url = STR("https://counter/raise"), .body = STR("please"), .timeout_us = 50 * MS};
        struct http_response got;
        struct err e = {0};

        if (http_fetch(k->w, &r, a, &got, &e))
            k->n_ok++;
        else
            k->n_failed++;
        arena_reset(a);
        fiber_sleep_us(k->w, (int64_t)(world_random(k->w) % 20000));
    }
}

static void watch_for_ever(void *arg)
{
    struct worker *k = arg;
    AUTO(arena) struct arena *a = arena_new(0);

    while (!world_dead(k->w)) {
        struct http_request r = {.url = STR("https://counter/watch"), .idle_timeout_us = 200 * MS};
        struct http_response head;
        struct err e = {0};
        struct http_stream *s = http_open(k->w, &r, a, &head, &e);
        str piece;

        while (s && http_read(s, &piece, &e) && piece.n)
            k->n_ok++;
        http_close(s);
        k->n_failed++;
        arena_reset(a);
        fiber_sleep_us(k->w, 10 * MS);
    }
}

#define WORKERS 4

static const struct sim_faults rough = {
    .delay_us = {100, 5 * MS},
    .refuse = ALWAYS / 20,
    .lose_reply = ALWAYS / 20,
    .cut_stream = ALWAYS / 4 * 3,
    .cut_after_us = {1 * MS, 300 * MS},
    .stall_stream = ALWAYS / 10,
    .stall_us = {1 * MS, 400 * MS},
    .slow = ALWAYS / 50,
};

/* kill_at: the step before which the process dies; 0: never. server: which of the two. */
struct plan {
    uint64_t kill_at;
    bool kill_server;
    struct town *t;
};

static void maybe_kill(void *ctx, uint64_t step)
{
    struct plan *p = ctx;

    if (step == p->kill_at)
        sim_kill(p->kill_server ? p->t->server : p->t->client);
}

static uint64_t rough_run(uint64_t seed, int64_t us, struct plan *p, uint64_t *ret_value)
{
    struct town *t = town_new(seed);
    struct worker k[WORKERS];

    p->t = t;
    sim_on_step(t->s, maybe_kill, p);
    faults(t, rough);
    for (int i = 0; i < WORKERS; i++) {
        k[i] = (struct worker){.t = t, .w = t->client};
        fiber_go(t->client, "worker", i % 2 ? watch_for_ever : raise_often, &k[i]);
    }
    sim_run_for(t->s, us);
    struct world *victim = p->kill_server ? t->server : t->client;
    if (world_dead(victim)) {
        sim_run_for(t->s, SECOND); /* news of it travels */
        if (p->kill_server) {
            check_true("the server has unwound", sim_reap(victim));
            check_u64("it serves nobody", t->c.watchers.n, 0);
        } else {
            check_true("the client has unwound", sim_reap(victim));
            check_u64("its watches are over", t->c.watchers.n, 0);
            check_u64("all of its calls are", t->c.n_over, t->c.n_served);
        }
    } else if (p->kill_at == 0) {
        check_true("work was done", k[0].n_ok > 0 && k[1].n_ok > 0);
        check_true("and hindered", k[0].n_failed > 0 && k[1].n_failed > 0);
    }
    uint64_t trace = sim_trace(t->s);
    *ret_value = t->c.value;
    town_free(t);
    return trace;
}

static void the_seed_decides(void **state)
{
    uint64_t value[3];
    struct plan p = {0};
    uint64_t a = rough_run(1, 20 * SECOND, &p, &value[0]);
    uint64_t b = rough_run(1, 20 * SECOND, &p, &value[1]);
    uint64_t c = rough_run(2, 20 * SECOND, &p, &value[2]);

    (void)state;
    check_u64("the same again", a, b);
    check_u64("with the same result", value[0], value[1]);
    check_true("another seed, another run", a != c);
}

static void notes_are_part_of_the_trace(void **state)
{
    struct sim *a = sim_new(1, 0), *b = sim_new(1, 0);

    (void)state;
    check_u64("the same", sim_trace(a), sim_trace(b));
    sim_note(a, STR("x"));
    sim_note(b, STR("y"));
    check_true("not any more", sim_trace(a) != sim_trace(b));
    check_u64("the same numbers", rng_next(sim_rng(a)), rng_next(sim_rng(b)));
    sim_free(a);
    sim_free(b);
}

static void killed_between_any_two_steps(void **state)
{
    (void)state;
    for (uint64_t step = 1; step <= 300; step++)
        for (int server = 0; server < 2; server++) {
            struct plan p = {.kill_at = step, .kill_server = server};
            uint64_t value;

            (void)rough_run(5, 200 * MS, &p, &value);
        }
}

/* A request that has left arrives, whatever becomes of its sender; one that has not, does not. */
static void requests_outlive_their_senders(void **state)
{
    struct town *t = town_new(1);
    struct outcome o = {0};

    (void)state;
    faults(t, (struct sim_faults){.delay_us = {MS, MS}});
    call(t, &o, STR("https://counter/raise"));
    http_cancel(o.call);
    sim_run_for(t->s, 10 * MS);
    check_u64("not sent yet", t->c.n_served, 0);
    call(t, &o, STR("https://counter/raise"));
    sim_run_for(t->s, MS / 2);
    struct outcome other = {0};
    call(t, &other, STR("https://counter/raise"));
    sim_run_for(t->s, 100);
    sim_kill(t->client);
    sim_run_for(t->s, 10 * MS);
    check_true("the sender learns nothing", o.ended && o.kind == ERR_IO && o.status == 0);
    check_true("it is reaped", sim_reap(t->client));
    check_u64("they were on their way", t->c.value, t->c.n_served);
    check_true("at least the first", t->c.value >= 1);
    sb_fini(&o.body);
    sb_fini(&other.body);
    town_free(t);
}

/* ---- a server that dies and comes back ---- */

static void restarts(void **state)
{
    struct town *t = town_new(3);
    struct outcome w = {0}, o = {0};

    (void)state;
    faults(t, (struct sim_faults){.delay_us = {MS, MS}});
    call(t, &w, STR("https://counter/watch"));
    sim_run_for(t->s, 10 * MS);
    sim_kill(t->server);
    check_true("not yet", !sim_reap(t->server));
    sim_run_for(t->s, MS / 2);
    check_true("the client does not know yet", !w.ended);
    sim_run_for(t->s, MS);
    check_true("now it does", w.ended && w.kind == ERR_IO);
    check_true("reaped", sim_reap(t->server));
    call(t, &o, STR("https://counter/raise"));
    sim_run_for(t->s, 10 * MS);
    check_i64("refused", o.kind, ERR_IO);
    t->server = sim_process(t->s, "server");
    sim_mount(t->s, "https://counter", t->server, counter_serve, &t->c);
    call(t, &o, STR("https://counter/raise"));
    sim_run_for(t->s, 10 * MS);
    check_i64("served again", o.kind, ERR_NONE);
    sb_fini(&o.body);
    sb_fini(&w.body);
    town_free(t);
}

/* A server that does not want to know when an exchange is over, and never ends it. */
static void serve_nothing(void *server, struct exchange *x)
{
    *(struct exchange **)server = x;
}

static void exchanges_wait_for_their_reply(void **state)
{
    struct town *t = town_new(3);
    struct outcome o = {0};
    struct exchange *x = NULL;

    (void)state;
    sim_mount(t->s, "https://silent", t->server, serve_nothing, &x);
    call(t, &o, STR("https://silent/a"));
    sim_run_for(t->s, MS);
    http_cancel(o.call);
    sim_run_for(t->s, MS);
    check_str("it is still there", x->path, "/a");
    reply_all(x, 200, NULL, STR("too late")); /* and gone */
    call(t, &o, STR("https://silent/b"));
    sim_run_for(t->s, MS);
    sim_kill(t->server);
    sim_run_for(t->s, MS);
    check_true("reset", o.ended && o.kind == ERR_IO);
    check_true("the process can be reaped all the same", sim_reap(t->server));
    sb_fini(&o.body);
    town_free(t);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(without_faults_no_time_passes),
        cmocka_unit_test(delays_go_both_ways),
        cmocka_unit_test(refused_calls_never_arrive),
        cmocka_unit_test(lost_replies_have_been_done),
        cmocka_unit_test(streams_are_cut),
        cmocka_unit_test(streams_stall),
        cmocka_unit_test(chances_are_what_they_say),
        cmocka_unit_test(clocks),
        cmocka_unit_test(the_longest_base_wins),
        cmocka_unit_test(the_seed_decides),
        cmocka_unit_test(notes_are_part_of_the_trace),
        cmocka_unit_test(killed_between_any_two_steps),
        cmocka_unit_test(requests_outlive_their_senders),
        cmocka_unit_test(restarts),
        cmocka_unit_test(exchanges_wait_for_their_reply),
    };

    return cmocka_run_group_tests_name("sim/world", tests, NULL, NULL);
}
