/* A list of instance types that was read is one that a plan can be made with: names are unique, every offering says
 * where it is, prices are numbers, nothing is negative. */
#include <math.h>

#include "base/map.h"
#include "k8s/itypes.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static bool says(const struct req_expr *x, uint32_t n, sym key)
{
    for (uint32_t i = 0; i < n; i++)
        if (sym_eq(x[i].key, key) && x[i].op == OP_IN && x[i].n_vals > 0)
            return true;
    return false;
}

static void check_resources(const struct reslist *l)
{
    for (uint32_t i = 0; i < l->n; i++) {
        assert(l->q[i].v >= 0);
        assert(i == 0 || l->q[i - 1].name.v < l->q[i].name.v);
    }
}

static void check_type(const struct itype *it, const struct label_rules *rules)
{
    assert(sym_some(it->name));
    assert(says(it->requirements, it->n_requirements, SYM(ITYPE)));
    assert(says(it->requirements, it->n_requirements, SYM(ARCH)));
    assert(says(it->requirements, it->n_requirements, SYM(OS)));
    for (uint32_t i = 0; i < it->n_requirements; i++) {
        assert(label_is_well_known(rules, it->requirements[i].key));
        for (uint32_t k = 0; k < i; k++)
            assert(!sym_eq(it->requirements[i].key, it->requirements[k].key));
    }
    check_resources(&it->capacity);
    check_resources(&it->overhead);
    for (uint32_t i = 0; i < it->n_offerings; i++) {
        const struct offering *o = &it->offerings[i];

        assert(isfinite(o->price_usd_per_h) && o->price_usd_per_h >= 0 && o->reservation_capacity >= 0);
        assert(says(o->requirements, o->n_requirements, SYM(ZONE)));
        assert(says(o->requirements, o->n_requirements, SYM(CT)));
        check_resources(&o->capacity_override);
        check_resources(&o->overhead_override);
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    AUTO(arena) struct arena *a = arena_new(0);
    AUTO(syms) struct syms *t = syms_new();
    struct err e = {0};
    struct u64map names = {0};
    struct catalog *c = itypes_parse(a, t, "fuzz", (str){(const char *)data, size}, &e);

    if (!c) {
        assert(e.kind != ERR_NONE && e.msg[0]);
        return 0;
    }
    assert(c->n <= ITYPES_MAX);
    for (uint32_t i = 0; i < c->n; i++) {
        assert(u64map_get(&names, c->types[i].name.v) == MAP_NONE);
        u64map_put(&names, c->types[i].name.v, i);
        check_type(&c->types[i], &c->rules);
    }
    u64map_fini(&names);
    return 0;
}
