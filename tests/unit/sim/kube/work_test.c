/* Queues of work, and the table that forgets. */
#include "sim/kube/work.h"

#include "base/map.h"
#include "base/rng.h"
#include "base/sb.h"
#include "sim/kube/lookup.h"
#include "sim/world.h"
#include "support/check.h"

struct fixture {
    struct work *q;
    struct sb done;
    bool again;
};

static void on_work(void *ctx, str key)
{
    struct fixture *f = ctx;

    sb_printf(&f->done, STR_FMT " ", STR_ARG(key));
    if (f->again) {
        f->again = false;
        work_add(f->q, key);
    }
}

static void keys_come_back_in_order(void **state)
{
    struct sim *sim = sim_new(1, 0);
    struct world *w = sim_process(sim, "w");
    struct fixture f = {.again = true};

    (void)state;
    f.q = work_new(w, "test", on_work, &f);
    work_add_after(f.q, STR("late"), 3000);
    work_add(f.q, STR("a"));
    work_add(f.q, STR("b"));
    work_add(f.q, STR("a"));
    work_add_after(f.q, STR("sooner"), 2000);
    work_add_after(f.q, STR("sooner"), 1000);
    work_add_after(f.q, STR("sooner"), 5000);
    work_add_after(f.q, STR("never"), 1000);
    work_remove(f.q, STR("never"));
    work_remove(f.q, STR("unknown"));
    check_u64("pending", work_pending(f.q), 4);
    check_str("nothing from inside", sb_view(&f.done), "");
    sim_run_for(sim, 1);
    check_str("now", sb_view(&f.done), "a b a ");
    sim_run_for(sim, 1000);
    check_str("sooner", sb_view(&f.done), "a b a sooner ");
    sim_run_for(sim, 10000);
    check_str("all", sb_view(&f.done), "a b a sooner late ");
    work_add(f.q, STR("left"));
    work_free(f.q);
    sim_free(sim);
    sb_fini(&f.done);
}

static bool is_key(const void *thing, const void *key)
{
    return *(const uint32_t *)thing == *(const uint32_t *)key;
}

/* Against a plain array, with hashes that collide a lot. */
static void the_table_forgets(void **state)
{
    enum { N = 200 };
    uint32_t things[N];
    bool there[N] = {0};
    struct lookup l = {.has = is_key};
    struct rng r;

    (void)state;
    rng_init(&r, 7);
    for (uint32_t i = 0; i < N; i++)
        things[i] = i;
    for (int step = 0; step < 20000; step++) {
        uint32_t i = rng_below(&r, N);

        if (there[i])
            lookup_remove(&l, i % 23, &things[i]);
        else
            lookup_add(&l, i % 23, &things[i]);
        there[i] = !there[i];
        uint32_t ask = rng_below(&r, N);
        check_true("there or not", (lookup_get(&l, ask % 23, &ask) == &things[ask]) == there[ask]);
    }
    lookup_fini(&l);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(keys_come_back_in_order),
        cmocka_unit_test(the_table_forgets),
    };

    return cmocka_run_group_tests_name("sim/kube/work", tests, NULL, NULL);
}
