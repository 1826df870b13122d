/* Other programs, with a shell for one that does what it is told. */
#include "net/process.h"

#include <signal.h>
#include <unistd.h>

#include "net/fiber.h"
#include "net/loop.h"
#include "sim/world.h"
#include "support/check.h"

struct run {
    struct world *w;
    struct arena *a;
    struct process_request r;
    struct process_result got;
    bool ok, done;
    struct err e;
};

static void go(void *arg)
{
    struct run *x = arg;

    x->ok = process_run(x->w, &x->r, x->a, &x->got, &x->e);
    x->done = true;
    world_quit(x->w);
}

static void shell(struct run *x, const char *script)
{
    const char *const argv[] = {"sh", "-c", script, NULL};

    x->r.argv = argv;
    x->done = false;
    fiber_go(x->w, "run", go, x);
    world_run(x->w);
}

static void results(void **state)
{
    AUTO(arena) struct arena *a = arena_new(0);
    struct run x = {.w = loop_new(), .a = a};

    (void)state;
    shell(&x, "echo out; echo err >&2; exit 7");
    check_ok("ran", x.ok, &x.e);
    check_i64("code", x.got.code, 7);
    check_str("out", x.got.out, "out\n");
    check_str("err", x.got.err, "err\n");
    shell(&x, "kill -TERM $$");
    check_i64("by a signal", x.got.code, 128 + SIGTERM);
    shell(&x, "cat; echo done");
    check_str("its input is empty", x.got.out, "done\n");
    shell(&x, "sleep 100 & echo left");
    check_str("what it leaves behind does not keep us", x.got.out, "left\n");
    shell(&x, "i=0; while [ $i -lt 20000 ]; do echo 0123456789 >&2; i=$((i+1)); done; echo ok");
    check_u64("complaints are cut", x.got.err.n, 4096);
    check_str("but read", x.got.out, "ok\n");
    x.r.max_out = 10;
    shell(&x, "echo 123456789012345; sleep 100");
    check_true("too much", !x.ok);
    check_str("too much", str_c(x.e.msg), "sh: it writes more than 10 bytes");
    x.r.max_out = 0;
    x.r.timeout_us = 50000;
    shell(&x, "sleep 100");
    check_true("too slow", !x.ok && x.e.kind == ERR_TIMEOUT);
    x.r.timeout_us = 0;
    const char *const none[] = {"/nonexistent/program", NULL};
    x.r.argv = none;
    fiber_go(x.w, "run", go, &x);
    world_run(x.w);
    check_i64("not there", x.e.kind, ERR_NOT_FOUND);
    const char *const env[] = {"A=b", NULL};
    x.r.env = env;
    shell(&x, "/bin/echo $A$HOME");
    check_str("environment", x.got.out, "b\n");
    loop_free(x.w);
}

static void quit(void *ctx)
{
    world_quit(ctx);
}

static void the_end(void **state)
{
    AUTO(arena) struct arena *a = arena_new(0);
    const char *const argv[] = {"sleep", "100", NULL};
    struct run x = {.w = loop_new(), .a = a, .r = {.argv = argv}};
    struct timer t = {.fn = quit, .ctx = x.w};

    (void)state;
    fiber_go(x.w, "run", go, &x);
    timer_set(x.w, &t, 20000);
    world_run(x.w);
    check_true("runs", !x.done);
    loop_free(x.w);
    check_true("it ends with its world", x.done && !x.ok);
}

static void no_programs(void **state)
{
    AUTO(arena) struct arena *a = arena_new(0);
    struct sim *s = sim_new(1, 0);
    const char *const argv[] = {"sh", NULL};
    struct run x = {.w = sim_process(s, "p"), .a = a, .r = {.argv = argv}};

    (void)state;
    fiber_go(x.w, "run", go, &x);
    sim_run_for(s, 1000);
    check_true("refused", x.done && !x.ok);
    check_str("refused", str_c(x.e.msg), "cannot run sh: there are no programs in a simulated world");
    sim_free(s);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(results),
        cmocka_unit_test(the_end),
        cmocka_unit_test(no_programs),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
