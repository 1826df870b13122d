/* Bytes as a trace of a simulation: refused with a sentence that names the place, or every event has a time that moves on. */
#include "cli/simulate/trace.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void check_event(const struct trace *t, const struct trace_event *v)
{
    int64_t us = -1, next;
    struct rng rng;

    rng_init(&rng, 1);
    for (int i = 0; i < 8 && trace_next(t, v, us, &next); i++) {
        assert(next > us && next <= v->until_us);
        us = next;
        if (v->what == TRACE_CURVE) {
            int64_t n = trace_curve_at(t, &v->curve, us, &rng);

            assert(n >= 0 && n <= TRACE_REPLICAS_MAX);
        }
        if (v->what == TRACE_SCALE) {
            int64_t n = trace_draw(&v->replicas, &rng);

            assert(n >= v->replicas.from && n <= v->replicas.to);
        }
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    AUTO(arena) struct arena *a = arena_new(0);
    struct trace t;
    struct err e = {0};

    if (!trace_read(&t, a, "trace", (str){(const char *)data, size}, /* dir= */ NULL, &e)) {
        assert(e.kind != ERR_NONE && str_starts(str_c(e.msg), STR("trace:")));
        return 0;
    }
    for (uint32_t i = 0; i < t.n; i++)
        check_event(&t, &t.events[i]);
    return 0;
}
