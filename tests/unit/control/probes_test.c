/* Probes as Go services answer them, over HTTP inside a simulated world. */
#include "control/probes.h"

#include "net/fiber.h"
#include "sim/world.h"
#include "support/check.h"

static bool synced;

static void serve(void *server UNUSED, struct exchange *x)
{
    const struct probe_check checks[] = {{"crd", true}, {"manager", synced}, {"readyz", true}};

    probes_reply(x, STR("/readyz"), checks, ARRAY_LEN(checks));
}

static const struct {
    const char *name, *path;
    bool synced;
    int status;
    const char *want;
} cases[] = {
    {"all is well", "/readyz", true, 200, "ok"},
    {"all of it", "/readyz?verbose", true, 200, "[+]crd ok\n[+]manager ok\n[+]readyz ok\nhealthz check passed\n"},
    {"not yet", "/readyz", false, 500,
     "[+]crd ok\n[-]manager failed: reason withheld\n[+]readyz ok\nhealthz check failed\n"},
    {"left out", "/readyz?exclude=manager", false, 200, "ok"},
    {"one", "/readyz/crd", false, 200, "ok"},
    {"one that fails", "/readyz/manager", false, 500, "internal server error: reason withheld\n"},
    {"one that is not there", "/readyz/other", true, 404, "404 page not found\n"},
};

static void ask_all(void *arg)
{
    struct world *w = arg;
    AUTO(arena) struct arena *a = arena_new(0);

    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        struct http_response r;
        struct err e = {0};

        synced = cases[i].synced;
        check_ok(
            cases[i].name,
            http_fetch(w, &(struct http_request){.url = arena_printf(a, "http://probes%s", cases[i].path)}, a, &r, &e),
            &e);
        check_i64(cases[i].name, r.status, cases[i].status);
        check_str(cases[i].name, r.body, cases[i].want);
    }
    world_quit(w);
}

static void answers(void **state UNUSED)
{
    struct sim *s = sim_new(1, 0);
    struct world *w = sim_process(s, "test");

    sim_mount(s, "http://probes", w, serve, NULL);
    fiber_go(w, "ask", ask_all, w);
    world_run(w);
    sim_free(s);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(answers)};

    return cmocka_run_group_tests_name("control/probes", tests, NULL, NULL);
}
