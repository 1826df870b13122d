/* Expressions of a kubelet's settings. Types are not known before an expression is evaluated, so checking one means trying it on machines
 * that differ as far as machines do: whatever it does there, its operations must fit the kinds of their values, and a result must be a number. */
#include "cloud/ec2/kubelet_expr.h"

#include <math.h>

#include "model/cel.h"

static const char *const names[] = {"vcpus", "memory_mib", "default_enis", "ips_per_eni", "max_pods", "instance_type"};

static const struct ec2_expr_vars samples[] = {
    {1, 512, 2, 2, 4, STR_INIT("t2.nano")},
    {2, 8192, 3, 10, 29, STR_INIT("m5.large")},
    {8, 16384, 4, 15, 58, STR_INIT("c7g.2xlarge")},
    {96, 1179648, 15, 50, 737, STR_INIT("p4d.24xlarge")},
    {448, 25165824, 15, 50, 737, STR_INIT("u-24tb1.metal")},
};

static const struct cel_program *compile(struct arena *a, str source, struct err *e)
{
    if (str_trim(source).n == 0) {
        (void)err_set(e, ERR_INVALID, "the expression is empty");
        return NULL;
    }
    return cel_compile(a, source, names, ARRAY_LEN(names), e);
}

static bool run(const struct cel_program *p, struct arena *a, const struct ec2_expr_vars *v, struct cel_value *ret,
                struct err *e)
{
    const struct cel_value vars[] = {
        {.kind = CEL_INT, .i = v->vcpus},        {.kind = CEL_INT, .i = v->memory_mib},
        {.kind = CEL_INT, .i = v->default_enis}, {.kind = CEL_INT, .i = v->ips_per_eni},
        {.kind = CEL_INT, .i = v->max_pods},     {.kind = CEL_STRING, .s = v->instance_type},
    };
    _Static_assert(ARRAY_LEN(vars) == ARRAY_LEN(names), "a value for each name");

    return cel_eval(p, a, vars, ret, e);
}

static bool is_number(const struct cel_value *v, struct err *e)
{
    return v->kind == CEL_INT || v->kind == CEL_DOUBLE ||
           err_set(e, ERR_INVALID, "the expression must give an int or a double");
}

/* What fails for one machine only, a division by zero say, is no fault of the expression. */
static bool try_samples(const struct cel_program *p, struct arena *a, struct err *e)
{
    for (size_t i = 0; i < ARRAY_LEN(samples); i++) {
        struct arena_mark m = arena_mark(a);
        struct cel_value v;
        struct err why;
        bool ran = run(p, a, &samples[i], &v, &why);
        bool ok = ran ? is_number(&v, e) : !str_is(str_c(why.code), CEL_NO_OVERLOAD);

        arena_rewind(a, m);
        if (!ok && !ran)
            *e = why;
        if (!ok)
            return false;
    }
    return true;
}

bool ec2_expr_check(struct arena *a, str source, struct err *e)
{
    struct arena_mark m = arena_mark(a);
    const struct cel_program *p = compile(a, source, e);
    bool ok = p && try_samples(p, a, e);

    arena_rewind(a, m);
    return ok;
}

/* Towards zero. */
static bool to_integer(const struct cel_value *v, int64_t *ret, struct err *e)
{
    if (!is_number(v, e))
        return false;
    if (v->kind == CEL_INT) {
        *ret = v->i;
        return true;
    }
    if (!isfinite(v->d))
        return err_set(e, ERR_INVALID, "the result is not a finite number");
    if (v->d >= 0x1p63 || v->d < -0x1p63)
        return err_set(e, ERR_INVALID, "the result is out of range");
    *ret = (int64_t)v->d;
    return true;
}

bool ec2_expr_eval(struct arena *a, str source, const struct ec2_expr_vars *v, int64_t *ret, struct err *e)
{
    struct arena_mark m = arena_mark(a);
    const struct cel_program *p = compile(a, source, e);
    struct cel_value value;
    bool ok = p && run(p, a, v, &value, e) && to_integer(&value, ret, e);

    arena_rewind(a, m);
    return ok;
}

/* Up to a multiple, unless there is none that fits. */
static int64_t round_up(int64_t v, int64_t step)
{
    if (v <= 0 || v % step == 0 || v > INT64_MAX - step)
        return v;
    return v + step - v % step;
}

static str format(struct arena *a, str key, int64_t v)
{
    if (str_is(key, "cpu"))
        return arena_printf(a, "%lldm", (long long)round_up(v, 10));
    if (str_is(key, "memory"))
        return arena_printf(a, "%lldMi", (long long)round_up(v, 16));
    return arena_printf(a, str_is(key, "ephemeral-storage") ? "%lldGi" : "%lld", (long long)v);
}

/* False: it is left out, and `e` says why. */
static bool resolve(struct arena *a, const struct ec2_kv *in, const struct ec2_expr_vars *v, bool gate,
                    struct ec2_kv *ret, struct err *e)
{
    int64_t result;

    *ret = *in;
    if (quantity_is(in->value))
        return true;
    if (!gate)
        return err_set(e, ERR_INVALID, "expressions are not enabled");
    if (!ec2_expr_eval(a, in->value, v, &result, e))
        return false;
    if (result < 0)
        return err_set(e, ERR_INVALID, "the result is negative: %lld", (long long)result);
    ret->value = format(a, in->key, result);
    return true;
}

struct ec2_kvs ec2_kvs_resolve(struct arena *a, const struct ec2_kvs *m, const struct ec2_expr_vars *v, bool gate,
                               str *ret_dropped)
{
    struct ec2_kvs out = {arena_new_array(a, struct ec2_kv, m->n), 0, m->present};
    struct sb dropped = {0};
    struct err e;

    for (uint32_t i = 0; i < m->n; i++) {
        if (resolve(a, &m->v[i], v, gate, &out.v[out.n], &e))
            out.n++;
        else
            sb_printf(&dropped, "%s" STR_FMT ": %s", dropped.n ? "; " : "", STR_ARG(m->v[i].key), e.msg);
    }
    if (ret_dropped)
        *ret_dropped = sb_dup(&dropped, a);
    sb_fini(&dropped);
    return out;
}
