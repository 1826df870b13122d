#include "control/cloud_metrics.h"

#include <stdlib.h>

#include "control/metrics.h"
#include "net/fiber.h"

struct metered {
    struct cloud outer, *inner;
    struct control *c;
};

static str error_name(const struct err *e)
{
    if (e->kind == ERR_CAPACITY)
        return STR("InsufficientCapacityError");
    if (e->kind == ERR_NOT_FOUND)
        return STR("NodeClaimNotFoundError");
    return str_is(str_c(e->code), CLOUD_NOT_READY) ? STR("NodeClassNotReadyError") : STR("");
}

static int64_t begin(const struct metered *m)
{
    return world_mono_us(m->c->world);
}

static bool end(const struct metered *m, str method, int64_t began_us, bool ok, const struct err *e)
{
    const struct control_metrics *x = m->c->metrics;
    str controller = str_c(fiber_name()), provider = str_c(m->inner->name);

    metric_observe(x->cloudprovider_duration, (double)(world_mono_us(m->c->world) - began_us) / 1e6,
                   METRIC_VALS(controller, method, provider), world_now_ms(m->c->world));
    if (!ok)
        metric_inc(x->cloudprovider_errors_total, 1, METRIC_VALS(controller, method, provider, error_name(e)));
    return ok;
}

static bool create(void *self, struct arena *a, struct syms *t, const struct nodeclaim *c, const struct nodeclass *k,
                   struct machine *ret, struct err *e)
{
    struct metered *m = self;
    int64_t began = begin(m);

    return end(m, STR("Create"), began, m->inner->create(m->inner->self, a, t, c, k, ret, e), e);
}

static void resume(void *self, struct syms *t, const struct nodeclaim *c, const struct nodeclass *k)
{
    struct metered *m = self;

    m->inner->resume(m->inner->self, t, c, k);
}

static bool destroy(void *self, struct arena *a, const struct nodeclaim *c, struct err *e)
{
    struct metered *m = self;
    int64_t began = begin(m);

    return end(m, STR("Delete"), began, m->inner->destroy(m->inner->self, a, c, e), e);
}

static bool abandon(void *self, struct arena *a, const struct nodeclaim *c, struct err *e)
{
    struct metered *m = self;

    return m->inner->abandon(m->inner->self, a, c, e);
}

static bool stop(void *self)
{
    struct cloud *in = ((struct metered *)self)->inner;

    return in->stop(in->self);
}

static bool get(void *self, struct arena *a, str provider_id, struct machine *ret, struct err *e)
{
    struct metered *m = self;
    int64_t began = begin(m);

    return end(m, STR("Get"), began, m->inner->get(m->inner->self, a, provider_id, ret, e), e);
}

static bool list(void *self, struct arena *a, struct machines *ret, struct err *e)
{
    struct metered *m = self;
    int64_t began = begin(m);

    return end(m, STR("List"), began, m->inner->list(m->inner->self, a, ret, e), e);
}

/* Answered from memory: nothing to time. */
static const struct catalog *catalog(void *self)
{
    struct metered *m = self;

    return m->inner->catalog(m->inner->self);
}

static bool drifted(void *self, struct arena *a, const struct nodeclaim *c, str *ret_reason, struct err *e)
{
    struct metered *m = self;
    int64_t began = begin(m);

    return end(m, STR("IsDrifted"), began, m->inner->drifted(m->inner->self, a, c, ret_reason, e), e);
}

static bool start(void *self, struct err *e)
{
    struct cloud *in = ((struct metered *)self)->inner;

    return in->start(in->self, e);
}

static bool hook(void *self, struct arena *a, const struct nodeclaim *c, struct cloud_hook *ret, struct err *e)
{
    struct cloud *in = ((struct metered *)self)->inner;

    return in->hook(in->self, a, c, ret, e);
}

static void free_both(void *self)
{
    struct metered *m = self;

    if (m->inner->free)
        m->inner->free(m->inner->self);
    free(m);
}

void cloud_metrics_wrap(struct control *c)
{
    struct metered *m = xcalloc(1, sizeof(*m));

    m->c = c;
    m->inner = c->cloud;
    m->outer = *c->cloud;
    m->outer.self = m;
    m->outer.create = create;
    m->outer.resume = c->cloud->resume ? resume : NULL;
    m->outer.destroy = destroy;
    m->outer.stop = c->cloud->stop ? stop : NULL;
    m->outer.abandon = c->cloud->abandon ? abandon : NULL;
    m->outer.get = get;
    m->outer.list = list;
    m->outer.catalog = catalog;
    m->outer.drifted = c->cloud->drifted ? drifted : NULL;
    m->outer.start = c->cloud->start ? start : NULL;
    m->outer.hook = c->cloud->hook ? hook : NULL;
    m->outer.free = free_both;
    c->cloud = &m->outer;
}
