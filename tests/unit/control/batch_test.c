/* Windows: idle, maximum, what triggers twice, what comes while a round is under way. */
#include "control/batch.h"

#include <stdio.h>

#include "sim/world.h"
#include "support/check.h"

#define MS 1000ll

struct lab {
    struct sim *sim;
    struct world *w;
    struct batch b;
    uint32_t closed;
    int64_t closed_us;
};

static void on_close(void *ctx)
{
    struct lab *l = ctx;

    l->closed++;
    l->closed_us = world_mono_us(l->w);
}

static int64_t closed_ms(const struct lab *l, int64_t from_us)
{
    return (l->closed_us - from_us) / MS;
}

static void lab_init(struct lab *l)
{
    *l = (struct lab){.sim = sim_new(1, 0)};
    l->w = sim_process(l->sim, "test");
    batch_init(&l->b, l->w, 1000, 10000, on_close, l);
}

static void lab_fini(struct lab *l)
{
    batch_fini(&l->b);
    sim_free(l->sim);
}

static void idle_ends_it(void **state UNUSED)
{
    struct lab l;
    int64_t t0;

    lab_init(&l);
    t0 = world_mono_us(l.w);
    batch_trigger(&l.b, STR("a"));
    sim_run_for(l.sim, 700 * MS);
    batch_trigger(&l.b, STR("b"));
    sim_run_for(l.sim, 900 * MS);
    check_u64("the second pod extends it", l.closed, 0);
    sim_run_for(l.sim, 200 * MS);
    check_u64("closed", l.closed, 1);
    check_i64("one second after the last", closed_ms(&l, t0), 1700);
    lab_fini(&l);
}

static void the_same_does_not_extend(void **state UNUSED)
{
    struct lab l;
    int64_t t0;

    lab_init(&l);
    t0 = world_mono_us(l.w);
    batch_trigger(&l.b, STR("a"));
    sim_run_for(l.sim, 700 * MS);
    batch_trigger(&l.b, STR("a"));
    sim_run_for(l.sim, 2000 * MS);
    check_u64("closed", l.closed, 1);
    check_i64("after its own second", closed_ms(&l, t0), 1000);
    lab_fini(&l);
}

static void the_maximum_ends_it(void **state UNUSED)
{
    struct lab l;
    int64_t t0;
    char id[16];

    lab_init(&l);
    t0 = world_mono_us(l.w);
    for (int i = 0; i < 40; i++) {
        (void)snprintf(id, sizeof(id), "p%d", i);
        batch_trigger(&l.b, str_c(id));
        sim_run_for(l.sim, 300 * MS);
        if (l.closed)
            break;
    }
    check_u64("closed", l.closed, 1);
    check_i64("after ten seconds", closed_ms(&l, t0), 10000);
    lab_fini(&l);
}

static void a_round_holds_the_next(void **state UNUSED)
{
    struct lab l;
    int64_t done;

    lab_init(&l);
    batch_trigger(&l.b, STR("a"));
    sim_run_for(l.sim, 1000 * MS);
    check_u64("a round is due", l.closed, 1);
    batch_trigger(&l.b, STR("a"));
    sim_run_for(l.sim, 30000 * MS);
    check_u64("none while it is under way", l.closed, 1);
    done = world_mono_us(l.w);
    batch_done(&l.b);
    sim_run_for(l.sim, 5000 * MS);
    check_u64("what came meanwhile is not forgotten", l.closed, 2);
    check_i64("its window begins with the end of the round", closed_ms(&l, done), 1000);
    batch_done(&l.b);
    sim_run_for(l.sim, 60000 * MS);
    check_u64("nothing came, nothing is due", l.closed, 2);
    lab_fini(&l);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(idle_ends_it),
        cmocka_unit_test(the_same_does_not_extend),
        cmocka_unit_test(the_maximum_ends_it),
        cmocka_unit_test(a_round_holds_the_next),
    };

    return cmocka_run_group_tests_name("control/batch", tests, NULL, NULL);
}
