/* Timers, in both worlds where the clock may be looked at, in the simulated one where it must be exact. */
#include "net/world.h"

#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/rng.h"
#include "base/vec.h"
#include "net/fiber.h"
#include "net/loop.h"
#include "sim/world.h"
#include "support/check.h"

#define MS 1000ll

struct note {
    struct log *log;
    struct timer t;
    int id;
    void (*then)(struct note *n); /* what it does when it fires */
};

struct log {
    struct world *w;
    struct note notes[8];
    char text[64];
    size_t n;
};

static void fire(void *ctx)
{
    struct note *n = ctx;

    n->log->text[n->log->n++] = (char)('a' + n->id);
    if (n->then)
        n->then(n);
}

static void log_init(struct log *l, struct world *w)
{
    *l = (struct log){.w = w};
    for (int i = 0; i < 8; i++)
        l->notes[i] = (struct note){.log = l, .t = {.fn = fire, .ctx = &l->notes[i]}, .id = i};
}

static void set(struct log *l, int id, int64_t us)
{
    timer_set(l->w, &l->notes[id].t, us);
}

static void quit(struct note *n)
{
    world_quit(n->log->w);
}

/* Runs a body in a fresh world of each kind. */
static void both(void (*body)(struct world *w, struct sim *s))
{
    struct sim *s = sim_new(7, 0);
    struct world *w = loop_new();

    body(sim_process(s, "p"), s);
    sim_free(s);
    body(w, NULL);
    loop_free(w);
}

static void order_body(struct world *w, struct sim *s)
{
    struct log l;

    (void)s;
    log_init(&l, w);
    set(&l, 0, 3 * MS);
    set(&l, 1, 1 * MS);
    set(&l, 2, 0);
    set(&l, 3, 0);
    set(&l, 4, -5);
    set(&l, 5, 2 * MS);
    set(&l, 1, 6 * MS); /* anew */
    set(&l, 6, 9 * MS);
    l.notes[6].then = quit;
    set(&l, 7, 1 * MS);
    timer_stop(w, &l.notes[7].t);
    timer_stop(w, &l.notes[7].t);
    check_true("set", timer_is_set(&l.notes[0].t));
    check_true("stopped", !timer_is_set(&l.notes[7].t));
    world_run(w);
    check_str("order", (str){l.text, l.n}, "cdefabg");
    check_true("fired", !timer_is_set(&l.notes[0].t));
}

static void timers_fire_in_order(void **state)
{
    (void)state;
    both(order_body);
}

static void stop_others(struct note *n)
{
    timer_stop(n->log->w, &n->log->notes[1].t);
    timer_stop(n->log->w, &n->log->notes[3].t);
    set(n->log, 4, 0); /* from the past into the future */
    set(n->log, 0, 2 * MS);
    n->then = NULL;
}

static void inside_body(struct world *w, struct sim *s)
{
    struct log l;

    (void)s;
    log_init(&l, w);
    for (int i = 0; i < 5; i++)
        set(&l, i, 0);
    set(&l, 5, 5 * MS);
    l.notes[0].then = stop_others;
    l.notes[5].then = quit;
    world_run(w);
    check_str("order", (str){l.text, l.n}, "aceaf");
}

static void timers_are_changed_inside_callbacks(void **state)
{
    (void)state;
    both(inside_body);
}

static void again(struct note *n)
{
    if (n->log->n < 50)
        set(n->log, n->id, 0);
    else
        world_quit(n->log->w);
}

static void starve_body(struct world *w, struct sim *s)
{
    struct log l;

    (void)s;
    log_init(&l, w);
    l.notes[0].then = l.notes[1].then = again;
    set(&l, 0, 0);
    set(&l, 1, 0);
    world_run(w);
    check_str("they take turns", (str){l.text, 6}, "ababab");
    timer_stop(w, &l.notes[0].t);
    timer_stop(w, &l.notes[1].t);
}

static void nobody_starves(void **state)
{
    (void)state;
    both(starve_body);
}

static void early_body(struct world *w, struct sim *s)
{
    struct log l;

    (void)s;
    log_init(&l, w);
    l.notes[0].then = quit;
    set(&l, 0, 0);
    world_quit(w);
    world_run(w);
    check_u64("nothing ran", l.n, 0);
    world_run(w);
    check_u64("the next time it does", l.n, 1);
}

static void a_quit_can_come_first(void **state)
{
    (void)state;
    both(early_body);
}

/* ---- many ---- */

#define MANY 20000u

struct crowd {
    struct sim *s;
    struct world *w;
    struct timer t[MANY];
    int64_t last_us;
    uint32_t n_fired, last_ix;
};

static struct crowd *crowd; /* a timer knows its place in it */

static void fire_one(void *ctx)
{
    struct timer *t = ctx;
    uint32_t ix = (uint32_t)(t - crowd->t);

    check_true("in time", sim_now_us(crowd->s) == t->due_us && t->due_us >= crowd->last_us);
    check_true("in the order of setting", t->due_us > crowd->last_us || crowd->n_fired == 0 || ix > crowd->last_ix);
    crowd->last_us = t->due_us;
    crowd->last_ix = ix;
    crowd->n_fired++;
}

static void many_timers(void **state)
{
    struct rng r;
    uint32_t n_stopped = 0;

    (void)state;
    rng_init(&r, 42);
    crowd = calloc(1, sizeof(*crowd));
    crowd->s = sim_new(1, 0);
    crowd->w = sim_process(crowd->s, "p");
    for (uint32_t i = 0; i < MANY; i++) {
        crowd->t[i] = (struct timer){.fn = fire_one, .ctx = &crowd->t[i]};
        timer_set(crowd->w, &crowd->t[i], rng_below(&r, 500)); /* many at the same time */
    }
    for (uint32_t i = 0; i < MANY; i += 1 + rng_below(&r, 4), n_stopped++)
        timer_stop(crowd->w, &crowd->t[i]);
    world_run(crowd->w);
    check_u64("all that were left", crowd->n_fired, MANY - n_stopped);
    sim_free(crowd->s);
    free(crowd);
}

/* ---- a dead world ---- */

static void dead_worlds_have_no_timers(void **state)
{
    struct sim *s = sim_new(1, 0);
    struct world *w = sim_process(s, "p"), *other = sim_process(s, "q");
    struct log l, m;

    (void)state;
    log_init(&l, w);
    log_init(&m, other);
    set(&l, 0, 5);
    set(&m, 0, 5);
    sim_kill(w);
    check_true("dead", world_dead(w) && !world_dead(other));
    check_true("not set any more", !timer_is_set(&l.notes[0].t));
    set(&l, 1, 1);
    check_true("cannot be set", !timer_is_set(&l.notes[1].t));
    timer_stop(w, &l.notes[1].t);
    world_run(other);
    check_u64("nothing fires", l.n, 0);
    check_u64("but elsewhere", m.n, 1);
    sim_free(s);
}

/* ---- the real loop ---- */

static void clocks(void **state)
{
    struct world *w = loop_new();
    struct log l;

    (void)state;
    log_init(&l, w);
    int64_t before = world_mono_us(w);
    l.notes[0].then = quit;
    set(&l, 0, 5 * MS);
    world_run(w);
    check_true("never early", world_mono_us(w) - before >= 5 * MS);
    check_true("the wall clock is after 2020", world_now_ms(w) > 1577836800000);
    check_true("random", world_random(w) != world_random(w));
    loop_free(w);
}

static void signal_came(void *ctx, int signo)
{
    struct log *l = ctx;

    check_i64("which", signo, SIGUSR1);
    l->text[l->n++] = 's';
    world_quit(l->w);
}

static void signals_arrive(void **state)
{
    struct world *w = loop_new();
    struct log l = {.w = w};

    (void)state;
    loop_on_signal(w, SIGTERM, signal_came, &l);
    loop_on_signal(w, SIGUSR1, signal_came, &l);
    check_i64("raise", kill(getpid(), SIGUSR1), 0);
    world_run(w);
    check_u64("one", l.n, 1);
    loop_free(w);
}

#define LETTERS 1000

struct post {
    struct world *w;
    struct letter {
        struct post *p;
        int id;
    } letters[LETTERS];
    int n;
};

static void deliver(void *ctx)
{
    struct letter *l = ctx;

    check_i64("in order", l->id, l->p->n);
    if (++l->p->n == LETTERS)
        world_quit(l->p->w);
}

static void *post_all(void *arg)
{
    struct post *p = arg;

    for (int i = 0; i < LETTERS; i++) {
        p->letters[i] = (struct letter){p, i};
        loop_post(p->w, deliver, &p->letters[i]);
    }
    return NULL;
}

static void other_threads_post(void **state)
{
    struct post *p = calloc(1, sizeof(*p));
    pthread_t thread;

    (void)state;
    p->w = loop_new();
    check_i64("thread", pthread_create(&thread, NULL, post_all, p), 0);
    world_run(p->w);
    (void)pthread_join(thread, NULL);
    check_i64("all of it", p->n, LETTERS);
    loop_post(p->w, deliver, NULL); /* nobody will run it */
    loop_free(p->w);
    free(p);
}

struct pipes {
    struct world *w;
    int fd[2][2];
    char text[8];
    size_t n;
};

/* Whoever comes first closes the other one, whose event has been fetched already, and gives its number away. */
static void on_pipe(void *ctx, int fd, uint32_t events)
{
    struct pipes *p = ctx;
    int mine = fd == p->fd[0][0] ? 0 : 1, other = p->fd[!mine][0];

    (void)events;
    check_i64("read", read(fd, &p->text[p->n++], 1), 1);
    loop_fd(p->w, fd, 0, NULL, NULL);
    loop_fd(p->w, other, 0, NULL, NULL);
    (void)close(other);
    p->fd[!mine][0] = dup(p->fd[mine][0]);
    loop_fd(p->w, p->fd[!mine][0], 1 /* EPOLLIN */, on_pipe, p);
    world_quit(p->w);
}

static void file_descriptors(void **state)
{
    struct pipes p = {.w = loop_new()};

    (void)state;
    for (int i = 0; i < 2; i++) {
        check_i64("pipe", pipe(p.fd[i]), 0);
        check_i64("write", write(p.fd[i][1], "x", 1), 1);
        loop_fd(p.w, p.fd[i][0], 1 /* EPOLLIN */, on_pipe, &p);
    }
    world_run(p.w);
    check_u64("one of them", p.n, 1);
    loop_free(p.w);
    for (int i = 0; i < 2; i++) {
        (void)close(p.fd[i][0]);
        (void)close(p.fd[i][1]);
    }
}

/* ---- processes of the real world ---- */

struct sleeper {
    struct world *w;
    bool woken;
};

static void sleep_long(void *arg)
{
    struct sleeper *s = arg;

    fiber_sleep_us(s->w, 3600 * 1000 * MS);
    s->woken = true;
}

static void a_process_dies_alone(void **state)
{
    struct world *loop = loop_new(), *one = loop_process(loop), *other = loop_process(loop);
    struct sleeper a = {.w = one}, b = {.w = other};
    struct log l;

    (void)state;
    fiber_go(one, "sleeper", sleep_long, &a);
    fiber_go(other, "sleeper", sleep_long, &b);
    log_init(&l, loop);
    l.notes[0].then = quit;
    set(&l, 0, 5 * MS);
    world_run(loop);
    loop_kill(one);
    check_true("what it was doing is still there", !loop_unwound(one));
    loop_unwind(one);
    check_true("it has unwound", a.woken && fiber_count(one) == 0);
    loop_reap(one);
    check_true("the other lives", !b.woken && !world_dead(other) && fiber_count(other) == 1);
    set(&l, 0, 5 * MS);
    world_run(loop);
    loop_free(loop);
    check_true("and ends with the loop", b.woken);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(timers_fire_in_order),
        cmocka_unit_test(timers_are_changed_inside_callbacks),
        cmocka_unit_test(nobody_starves),
        cmocka_unit_test(a_quit_can_come_first),
        cmocka_unit_test(many_timers),
        cmocka_unit_test(dead_worlds_have_no_timers),
        cmocka_unit_test(clocks),
        cmocka_unit_test(signals_arrive),
        cmocka_unit_test(other_threads_post),
        cmocka_unit_test(file_descriptors),
        cmocka_unit_test(a_process_dies_alone),
    };

    return cmocka_run_group_tests_name("net/world", tests, NULL, NULL);
}
