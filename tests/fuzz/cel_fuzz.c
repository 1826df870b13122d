/* An expression: whatever it is, compiling and evaluating it end, and twice the same. */
#include "model/cel.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static const char *const names[] = {"self", "oldSelf", "vcpus"};

/* {'name': 'web', 'tags': ['a', 'b']} */
static struct cel_value some_value(void)
{
    static struct cel_value keys[2], items[2], tags[2];

    tags[0] = (struct cel_value){.kind = CEL_STRING, .s = STR("a")};
    tags[1] = (struct cel_value){.kind = CEL_STRING, .s = STR("b")};
    keys[0] = (struct cel_value){.kind = CEL_STRING, .s = STR("name")};
    keys[1] = (struct cel_value){.kind = CEL_STRING, .s = STR("tags")};
    items[0] = (struct cel_value){.kind = CEL_STRING, .s = STR("web")};
    items[1] = (struct cel_value){.kind = CEL_LIST, .n = 2, .items = tags};
    return (struct cel_value){.kind = CEL_MAP, .n = 2, .keys = keys, .items = items};
}

static bool is_nan(const struct cel_value *v)
{
    return v->kind == CEL_DOUBLE && v->d != v->d;
}

/* NaN differs from itself, however deep. */
static bool holds_nan(const struct cel_value *v)
{
    bool any = is_nan(v);

    if (v->kind == CEL_LIST || v->kind == CEL_MAP || v->kind == CEL_OPTIONAL)
        for (uint32_t i = 0; i < v->n && !any; i++)
            any = holds_nan(&v->items[i]);
    return any;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    AUTO(arena) struct arena *a = arena_new(0);
    struct err e = {0}, again_e = {0};
    const struct cel_program *p = cel_compile(a, (str){(const char *)data, size}, names, ARRAY_LEN(names), &e);
    struct cel_value vars[] = {some_value(), some_value(), {.kind = CEL_INT, .i = 4}}, v, again;

    if (!p) {
        assert(e.kind == ERR_INVALID && e.msg[0]);
        return 0;
    }
    bool ok = cel_eval(p, a, vars, &v, &e);
    assert(ok == cel_eval(p, a, vars, &again, &again_e));
    if (ok)
        assert(holds_nan(&v) || cel_equal(&v, &again));
    else
        assert(e.msg[0] && str_is(str_c(e.msg), again_e.msg));
    return 0;
}
