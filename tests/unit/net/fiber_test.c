#include "net/fiber.h"

#include <stdlib.h>

#include "net/loop.h"
#include "sim/world.h"
#include "support/check.h"

#define MS 1000ll

static void both(void (*body)(struct world *w))
{
    struct sim *s = sim_new(3, 0);
    struct world *w = loop_new();

    body(sim_process(s, "p"));
    sim_free(s);
    body(w);
    loop_free(w);
}

/* ---- the simple things ---- */

struct talk {
    struct world *w;
    struct fiber *a, *b;
    char text[64];
    size_t n;
};

static void say(struct talk *t, char c)
{
    t->text[t->n++] = c;
}

static void ping(void *arg)
{
    struct talk *t = arg;

    t->a = fiber_self();
    for (int i = 0; i < 3; i++) {
        fiber_park();
        say(t, 'a');
        fiber_wake(t->b);
    }
}

static void pong(void *arg)
{
    struct talk *t = arg;

    t->b = fiber_self();
    for (int i = 0; i < 3; i++) {
        fiber_wake(t->a);
        fiber_park();
        say(t, 'b');
    }
    world_quit(t->w);
}

static void talk_body(struct world *w)
{
    struct talk t = {.w = w};

    check_true("outside", fiber_self() == NULL);
    fiber_go(w, "ping", ping, &t);
    fiber_go(w, "pong", pong, &t);
    check_u64("not before control returns", t.n, 0);
    check_u64("two", fiber_count(w), 2);
    world_run(w);
    check_str("turns", (str){t.text, t.n}, "ababab");
    check_u64("none", fiber_count(w), 0);
    check_true("outside", fiber_self() == NULL);
}

static void fibers_take_turns(void **state)
{
    (void)state;
    both(talk_body);
}

static void wake_first(void *arg)
{
    struct talk *t = arg;

    fiber_wake(fiber_self());
    fiber_wake(fiber_self()); /* two are one */
    fiber_park();
    say(t, '1');
    fiber_sleep_us(t->w, 2 * MS); /* while it sleeps somebody wakes it: that is for the next park */
    say(t, '2');
    fiber_park();
    say(t, '3');
    world_quit(t->w);
}

static void wake_sleeper(void *arg)
{
    struct talk *t = arg;

    t->b = fiber_self();
    fiber_sleep_us(t->w, 1 * MS);
    say(t, 'w');
    fiber_wake(t->a);
}

static void note_self(void *arg)
{
    struct talk *t = arg;

    t->a = fiber_self();
    wake_first(arg);
}

static void early_body(struct world *w)
{
    struct talk t = {.w = w};

    fiber_go(w, "sleeper", note_self, &t);
    fiber_go(w, "waker", wake_sleeper, &t);
    world_run(w);
    check_str("order", (str){t.text, t.n}, "1w23");
}

static void early_wakes_are_remembered(void **state)
{
    (void)state;
    both(early_body);
}

/* ---- many, and deep ---- */

#define MANY 5000u

struct crowd {
    struct world *w;
    uint32_t left;
    uint64_t sum;
};

static uint64_t dig(struct crowd *c, uint32_t depth)
{
    volatile char frame[64]; /* must be ours again after every park */

    memset((void *)frame, (int)depth, sizeof(frame));
    fiber_sleep_us(c->w, depth % 3);
    uint64_t below = depth ? dig(c, depth - 1) : 0;
    for (size_t i = 0; i < sizeof(frame); i++)
        if (frame[i] != (char)depth)
            return 1u << 30;
    return below + depth;
}

static void digger(void *arg)
{
    struct crowd *c = arg;

    c->sum += dig(c, 9);
    if (--c->left == 0)
        world_quit(c->w);
}

static void crowd_body(struct world *w)
{
    struct crowd c = {.w = w};

    for (int round = 0; round < 2; round++) { /* the second one gets used stacks */
        c.left = MANY;
        c.sum = 0;
        for (uint32_t i = 0; i < MANY; i++)
            fiber_go(w, "digger", digger, &c);
        world_run(w);
        check_u64("each has dug", c.sum, 45u * MANY);
        check_u64("none is left", fiber_count(w), 0);
    }
}

static void thousands_of_fibers(void **state)
{
    (void)state;
    both(crowd_body);
}

static void child(void *arg)
{
    struct crowd *c = arg;

    fiber_sleep_us(c->w, 1);
    if (c->left > 0) {
        c->left--;
        fiber_go(c->w, "child", child, c);
        fiber_sleep_us(c->w, 1);
        c->sum++;
    } else {
        c->sum++;
        world_quit(c->w);
    }
}

static void nested_body(struct world *w)
{
    struct crowd c = {.w = w, .left = 100};

    fiber_go(w, "child", child, &c);
    world_run(w);
    check_true("the last one came", c.left == 0 && c.sum >= 100);
}

static void fibers_start_fibers(void **state)
{
    (void)state;
    both(nested_body);
}

/* Floating point and many live values survive a switch. */
static void juggle(void *arg)
{
    struct crowd *c = arg;
    double x = 1, y = 2, z = 3;
    uint64_t v[8];

    for (uint64_t i = 0; i < 8; i++)
        v[i] = i * i;
    for (int i = 0; i < 10; i++) {
        x *= 1.5;
        fiber_sleep_us(c->w, 1);
        y += x;
        z -= y / 2;
        for (int k = 0; k < 8; k++)
            v[k] += v[(k + 1) % 8];
    }
    check_double("x", x, 57.6650390625);
    for (int k = 0; k < 8; k++)
        c->sum ^= v[k];
    c->sum += (uint64_t)(y * 1000) + (uint64_t)(-z * 1000);
    if (--c->left == 0)
        world_quit(c->w);
}

static void registers_body(struct world *w)
{
    struct crowd one = {.w = w, .left = 1}, two = {.w = w, .left = 2};

    fiber_go(w, "alone", juggle, &one);
    world_run(w);
    fiber_go(w, "together", juggle, &two);
    fiber_go(w, "together", juggle, &two);
    world_run(w);
    check_true("not nothing", one.sum != 0);
}

static void registers_survive(void **state)
{
    (void)state;
    both(registers_body);
}

/* ---- death ---- */

struct mortal {
    struct world *w;
    int how; /* 0: parked, 1: asleep, 2: about to start, 3: parks for ever again, 4: starts another on its way out */
    uint32_t *n_gone;
};

static void last_words(void *arg)
{
    ++*(uint32_t *)arg;
}

static void live(void *arg)
{
    struct mortal *m = arg;

    while (!world_dead(m->w))
        if (m->how % 2)
            fiber_sleep_us(m->w, 1000000 * MS);
        else
            fiber_park();
    if (m->how >= 3)
        for (int i = 0; i < 3; i++) {
            fiber_park();
            fiber_sleep_us(m->w, 1000000 * MS);
        }
    if (m->how == 4)
        fiber_go(m->w, "last words", last_words, m->n_gone);
    ++*m->n_gone;
}

static void quit(void *ctx)
{
    world_quit(ctx);
}

static void fibers_die_with_their_world(void **state)
{
    (void)state;
    for (int real = 0; real < 2; real++) {
        struct sim *s = real ? NULL : sim_new(1, 0);
        struct world *w = real ? loop_new() : sim_process(s, "p");
        uint32_t n_gone = 0;
        struct mortal m[5];

        for (int i = 0; i < 5; i++) {
            m[i] = (struct mortal){w, i, &n_gone};
            if (i != 2)
                fiber_go(w, "mortal", live, &m[i]);
        }
        if (real) {
            struct timer t = {.fn = quit, .ctx = w};
            timer_set(w, &t, MS);
            world_run(w);
        } else {
            sim_run_for(s, MS);
        }
        check_u64("they wait", n_gone, 0);
        fiber_go(w, "mortal", live, &m[2]);
        check_u64("they are there", fiber_count(w), 5);
        if (real) {
            loop_free(w);
        } else {
            check_true("alive: not to be reaped", !sim_reap(w));
            sim_kill(w);
            check_true("they have to unwind first", !sim_reap(w));
            check_u64("nothing happens inside the kill", n_gone, 0);
            sim_run_for(s, 0);
            check_u64("no time passes", (uint64_t)sim_now_us(s), MS);
            check_true("nothing is left", sim_reap(w));
            sim_free(s);
        }
        check_u64("all have returned", n_gone, 6);
    }
}

/* A fiber that kills its own world goes on until it parks. */
static void suicide(void *arg)
{
    struct talk *t = arg;

    sim_kill(t->w);
    say(t, 'x');
    fiber_sleep_us(t->w, 1000 * MS);
    say(t, 'y');
    fiber_park();
    say(t, 'z');
}

static void a_fiber_kills_its_world(void **state)
{
    struct sim *s = sim_new(1, 0);
    struct talk t = {.w = sim_process(s, "p")};

    (void)state;
    fiber_go(t.w, "suicide", suicide, &t);
    sim_run_for(s, 1);
    check_str("it went on", (str){t.text, t.n}, "xyz");
    check_true("reaped", sim_reap(t.w));
    sim_free(s);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(fibers_take_turns),       cmocka_unit_test(early_wakes_are_remembered),
        cmocka_unit_test(thousands_of_fibers),     cmocka_unit_test(fibers_start_fibers),
        cmocka_unit_test(registers_survive),       cmocka_unit_test(fibers_die_with_their_world),
        cmocka_unit_test(a_fiber_kills_its_world),
    };

    return cmocka_run_group_tests_name("net/fiber", tests, NULL, NULL);
}
