/* Calls that wait for company (aws 3.3; 11.4 B1, B4). */
#include "cloud/ec2/batch.h"

#include <stdio.h>

#include "base/sb.h"
#include "base/vec.h"
#include "sim/world.h"
#include "support/check.h"

struct lab {
    struct sim *sim;
    struct world *w;
    struct ec2_batch *b;
    struct sb told; /* "size@window-ms " for each run */
    uint32_t n_now, n_most, n_done, n_lost;
    int64_t takes_us;
};

struct ask {
    struct lab *l;
    const char *key;
    int64_t after_us;
    uint32_t company; /* with how many it was carried out */
};

static void run(void *ctx, void **requests, uint32_t n)
{
    struct lab *l = ctx;

    l->n_now++;
    l->n_most = MAX(l->n_most, l->n_now);
    if (l->takes_us)
        fiber_sleep_us(l->w, l->takes_us);
    for (uint32_t i = 0; i < n; i++)
        ((struct ask *)requests[i])->company = n;
    l->n_now--;
}

static void observed(void *ctx, const char *name, uint32_t n, int64_t window_us)
{
    struct lab *l = ctx;

    assert_string_equal(name, "test");
    sb_printf(&l->told, "%u@%lld ", n, (long long)(window_us / 1000));
}

static void ask(void *arg)
{
    struct ask *q = arg;

    fiber_sleep_us(q->l->w, q->after_us);
    if (ec2_batch_ask(q->l->b, str_c(q->key), q))
        q->l->n_done++;
    else
        q->l->n_lost++;
}

static void lab_open(struct lab *l, uint32_t max_items)
{
    *l = (struct lab){.sim = sim_new(1, 0)};
    l->w = sim_process(l->sim, "test");
    l->b = ec2_batch_new(l->w, &(struct ec2_batch_rules){.name = "test",
                                                         .idle_us = 35000,
                                                         .max_us = 100000,
                                                         .max_items = max_items,
                                                         .run = run,
                                                         .ctx = l,
                                                         .observed = observed,
                                                         .observed_ctx = l});
}

static void lab_close(struct lab *l)
{
    sim_kill(l->w);
    sim_run_for(l->sim, 1000000);
    ec2_batch_free(l->b);
    sb_fini(&l->told);
    sim_free(l->sim);
}

static void go(struct lab *l, struct ask *v, uint32_t n)
{
    for (uint32_t i = 0; i < n; i++) {
        v[i].l = l;
        fiber_go(l->w, "ask", ask, &v[i]);
    }
    sim_run_for(l->sim, 5000000);
}

static void equal_keys_go_together(void **state UNUSED)
{
    struct ask v[] = {{.key = "a"}, {.key = "b"}, {.key = "a", .after_us = 30000}};
    struct lab l;

    lab_open(&l, 10);
    go(&l, v, 3);
    check_u64("with the other", v[0].company, 2);
    check_u64("with the other", v[2].company, 2);
    check_u64("alone", v[1].company, 1);
    check_str("one window, kept open by the last request", sb_view(&l.told), "2@65 1@65 ");
    lab_close(&l);
}

static void a_window_closes(void **state UNUSED)
{
    struct ask steady[8], quick[5] = {{.key = "a"}, {.key = "a"}, {.key = "a"}, {.key = "a"}, {.key = "a"}};
    struct lab l;

    for (uint32_t i = 0; i < ARRAY_LEN(steady); i++)
        steady[i] = (struct ask){.key = "a", .after_us = i * 30000};
    lab_open(&l, 10);
    go(&l, steady, ARRAY_LEN(steady));
    check_str("after its longest time", sb_view(&l.told), "4@100 4@100 ");
    lab_close(&l);
    lab_open(&l, 3);
    go(&l, quick, ARRAY_LEN(quick));
    check_str("when it is full", sb_view(&l.told), "3@0 2@35 ");
    lab_close(&l);
}

static void workers_are_counted(void **state UNUSED)
{
    enum { N = 300 };
    static struct ask v[N];
    static char keys[N][8];
    struct lab l;

    for (uint32_t i = 0; i < N; i++) {
        (void)snprintf(keys[i], sizeof(keys[i]), "%u", i);
        v[i] = (struct ask){.key = keys[i]};
    }
    lab_open(&l, 1000);
    l.takes_us = 1000;
    go(&l, v, N);
    check_u64("all were carried out", l.n_done, N);
    check_u64("as many at a time as there are workers", l.n_most, EC2_BATCH_WORKERS);
    lab_close(&l);
}

static void a_world_that_dies(void **state UNUSED)
{
    struct ask v[] = {{.key = "a"}, {.key = "a", .after_us = 60000}};
    struct lab l;

    lab_open(&l, 10);
    l.takes_us = 1000000;
    for (uint32_t i = 0; i < 2; i++) {
        v[i].l = &l;
        fiber_go(l.w, "ask", ask, &v[i]);
    }
    sim_run_for(l.sim, 70000); /* the first is being carried out, the second waits */
    lab_close(&l);
    check_u64("unwound by its worker", l.n_done, 1);
    check_u64("its window never closed", l.n_lost, 1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(equal_keys_go_together),
        cmocka_unit_test(a_window_closes),
        cmocka_unit_test(workers_are_counted),
        cmocka_unit_test(a_world_that_dies),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
