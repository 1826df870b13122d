/* Calls to a provider are timed, and what they fail with is counted. */
#include "control/cloud_metrics.h"

#include <stdio.h>

#include "control/metrics.h"
#include "net/fiber.h"
#include "sim/world.h"
#include "support/check.h"

struct fake {
    struct world *w;
    struct err fails; /* kind ERR_NONE: nothing does */
    bool freed;
};

struct caller {
    struct control c;
    struct fake f;
};

static bool answer(struct fake *f, struct err *e)
{
    fiber_sleep_us(f->w, 2000000);
    *e = f->fails;
    return f->fails.kind == ERR_NONE;
}

static bool fake_create(void *self, UNUSED struct arena *a, UNUSED struct syms *t, UNUSED const struct nodeclaim *c,
                        UNUSED const struct nodeclass *k, UNUSED struct machine *ret, struct err *e)
{
    return answer(self, e);
}

static bool fake_destroy(void *self, UNUSED struct arena *a, UNUSED const struct nodeclaim *c, struct err *e)
{
    return answer(self, e);
}

static const struct catalog *fake_catalog(UNUSED void *self)
{
    static const struct catalog empty;

    return &empty;
}

static void fake_free(void *self)
{
    ((struct fake *)self)->freed = true;
}

static void calls(void *arg)
{
    static const struct {
        enum err_kind kind;
        const char *code;
    } fates[] = {{ERR_NONE, ""}, {ERR_CAPACITY, ""}, {ERR_INVALID, CLOUD_NOT_READY}, {ERR_IO, "Timeout"}};
    struct caller *x = arg;
    struct control *c = &x->c;
    struct fake *f = &x->f;
    struct err e;

    for (size_t i = 0; i < ARRAY_LEN(fates); i++) {
        f->fails = (struct err){.kind = fates[i].kind};
        (void)snprintf(f->fails.code, sizeof(f->fails.code), "%s", fates[i].code);
        check_true("what it says is handed on",
                   c->cloud->create(c->cloud->self, NULL, NULL, NULL, NULL, NULL, &e) == (fates[i].kind == ERR_NONE));
    }
    f->fails = (struct err){.kind = ERR_NOT_FOUND};
    check_true("gone", !c->cloud->destroy(c->cloud->self, NULL, NULL, &e) && e.kind == ERR_NOT_FOUND);
}

static double errors(const struct control *c, const char *method, const char *error)
{
    return metric_value(c->metrics->cloudprovider_errors_total,
                        METRIC_VALS(STR("nodeclaim.lifecycle"), str_c(method), STR("fake"), str_c(error)));
}

static void counted(UNUSED void **state)
{
    struct sim *sim = sim_new(1, 0);
    struct metrics *m = metrics_new();
    struct caller x = {.f.w = sim_process(sim, "p")};
    struct control *c = &x.c;
    struct cloud cloud = {.name = "fake",
                          .self = &x.f,
                          .create = fake_create,
                          .destroy = fake_destroy,
                          .catalog = fake_catalog,
                          .free = fake_free};

    *c = (struct control){.world = x.f.w, .cloud = &cloud};
    c->metrics = control_metrics_new(m, &(struct control_metrics_options){0});
    cloud_metrics_wrap(c);
    check_true("what is not there is not there", !c->cloud->drifted && !c->cloud->resume);
    check_u64("the catalogue", c->cloud->catalog(c->cloud->self)->n, 0);
    fiber_go(x.f.w, "nodeclaim.lifecycle", calls, &x);
    sim_run_for(sim, 60 * 1000000ll);
    check_double("timed",
                 metric_value(c->metrics->cloudprovider_duration,
                              METRIC_VALS(STR("nodeclaim.lifecycle"), STR("Create"), STR("fake"))),
                 4);
    check_double("no capacity", errors(c, "Create", "InsufficientCapacityError"), 1);
    check_double("not ready", errors(c, "Create", "NodeClassNotReadyError"), 1);
    check_double("anything else", errors(c, "Create", ""), 1);
    check_double("not there", errors(c, "Delete", "NodeClaimNotFoundError"), 1);
    c->cloud->free(c->cloud->self);
    check_true("freed with what is in it", x.f.freed);
    metrics_free(m);
    control_metrics_free(c->metrics);
    sim_free(sim);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(counted)};

    return cmocka_run_group_tests_name("control/cloud_metrics", tests, NULL, NULL);
}
