/* One fiber at a time for each key, in order; and nobody waits for a world that has died. */
#include "cloud/ec2/turns.h"

#include "base/sb.h"
#include "sim/world.h"
#include "support/check.h"

struct lab {
    struct sim *sim;
    struct world *w;
    struct turns turns;
    struct sb told;
    uint32_t n_refused;
};

struct visit {
    struct lab *l;
    const char *name, *key;
    int64_t takes_us;
};

static void visit(void *arg)
{
    struct visit *v = arg;
    struct turn mine;

    if (!turns_take(&v->l->turns, v->l->w, str_c(v->key), &mine)) {
        v->l->n_refused++;
        return;
    }
    sb_printf(&v->l->told, "+%s", v->name);
    fiber_sleep_us(v->l->w, v->takes_us);
    sb_printf(&v->l->told, "-%s", v->name);
    turns_give(&v->l->turns, &mine);
}

static void lab_open(struct lab *l)
{
    *l = (struct lab){.sim = sim_new(1, 0)};
    l->w = sim_process(l->sim, "test");
}

static void lab_close(struct lab *l)
{
    sim_kill(l->w);
    sim_run_for(l->sim, 1000000);
    turns_fini(&l->turns);
    sb_fini(&l->told);
    sim_free(l->sim);
}

static void go(struct lab *l, struct visit *v, uint32_t n)
{
    for (uint32_t i = 0; i < n; i++) {
        v[i].l = l;
        fiber_go(l->w, v[i].name, visit, &v[i]);
    }
}

static void one_after_the_other(void **state UNUSED)
{
    struct visit v[] = {{.name = "a", .key = "x", .takes_us = 1000},
                        {.name = "b", .key = "x", .takes_us = 1000},
                        {.name = "c", .key = "y", .takes_us = 1500},
                        {.name = "d", .key = "x", .takes_us = 1000}};
    struct lab l;

    lab_open(&l);
    go(&l, v, ARRAY_LEN(v));
    sim_run_for(l.sim, 10000);
    check_str("in order; another key waits for nobody", sb_view(&l.told), "+a+c-a+b-c-b+d-d");
    sb_reset(&l.told);
    go(&l, v, 1);
    sim_run_for(l.sim, 10000);
    check_str("nothing is left behind", sb_view(&l.told), "+a-a");
    lab_close(&l);
}

static void a_world_that_dies(void **state UNUSED)
{
    struct visit v[] = {{.name = "a", .key = "x", .takes_us = 5000},
                        {.name = "b", .key = "x", .takes_us = 5000},
                        {.name = "c", .key = "x", .takes_us = 5000}};
    struct lab l;

    lab_open(&l);
    go(&l, v, ARRAY_LEN(v));
    sim_run_for(l.sim, 1000);
    sim_kill(l.w);
    sim_run_for(l.sim, 1000000);
    check_true("all have gone", l.turns.v.n == 0);
    check_true("those who waited were told, or came to their turn in vain", l.n_refused <= 2);
    lab_close(&l);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(one_after_the_other),
        cmocka_unit_test(a_world_that_dies),
    };

    return cmocka_run_group_tests_name("cloud/ec2_turns", tests, NULL, NULL);
}
