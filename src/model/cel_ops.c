/* Operators on two values: arithmetic that notices overflow, relations, membership. */
#include <math.h>

#include "model/cel_impl.h"

/* ---- arithmetic ---- */

static bool int_arithmetic(struct cel_run *r, enum cel_binary op, int64_t a, int64_t b, struct cel_value *ret)
{
    int64_t v = 0;
    bool over = false;

    if ((op == BIN_DIV || op == BIN_MOD) && b == 0)
        return cel_fail(r, op == BIN_DIV ? "division by zero" : "modulus by zero");
    if (op == BIN_ADD)
        over = __builtin_add_overflow(a, b, &v);
    else if (op == BIN_SUB)
        over = __builtin_sub_overflow(a, b, &v);
    else if (op == BIN_MUL)
        over = __builtin_mul_overflow(a, b, &v);
    else if (a == INT64_MIN && b == -1)
        over = true;
    else
        v = op == BIN_DIV ? a / b : a % b;
    if (over)
        return cel_fail(r, "integer overflow");
    *ret = cel_int(v);
    return true;
}

static bool uint_arithmetic(struct cel_run *r, enum cel_binary op, uint64_t a, uint64_t b, struct cel_value *ret)
{
    uint64_t v = 0;
    bool over = false;

    if ((op == BIN_DIV || op == BIN_MOD) && b == 0)
        return cel_fail(r, op == BIN_DIV ? "division by zero" : "modulus by zero");
    if (op == BIN_ADD)
        over = __builtin_add_overflow(a, b, &v);
    else if (op == BIN_SUB)
        over = __builtin_sub_overflow(a, b, &v);
    else if (op == BIN_MUL)
        over = __builtin_mul_overflow(a, b, &v);
    else
        v = op == BIN_DIV ? a / b : a % b;
    if (over)
        return cel_fail(r, "unsigned integer overflow");
    *ret = (struct cel_value){.kind = CEL_UINT, .u = v};
    return true;
}

static bool double_arithmetic(struct cel_run *r, enum cel_binary op, double a, double b, struct cel_value *ret)
{
    if (op == BIN_MOD)
        return cel_no_overload(r);
    *ret = cel_double(op == BIN_ADD ? a + b : op == BIN_SUB ? a - b : op == BIN_MUL ? a * b : a / b);
    return true;
}

static bool concat_texts(struct cel_run *r, const struct cel_value *a, const struct cel_value *b, struct cel_value *ret)
{
    size_t n = a->s.n + b->s.n;

    if (!cel_charge(r, n / 8))
        return false;
    char *p = arena_alloc(r->a, n, 1);
    if (a->s.n)
        memcpy(p, a->s.p, a->s.n);
    if (b->s.n)
        memcpy(p + a->s.n, b->s.p, b->s.n);
    *ret = *a;
    ret->s = (str){p, n};
    return true;
}

static bool concat_lists(struct cel_run *r, const struct cel_value *a, const struct cel_value *b, struct cel_value *ret)
{
    uint64_t n = (uint64_t)a->n + b->n;

    if (!cel_charge(r, n))
        return false;
    struct cel_value *items = arena_new_array(r->a, struct cel_value, n);
    if (a->n)
        memcpy(items, a->items, a->n * sizeof(*items));
    if (b->n)
        memcpy(items + a->n, b->items, b->n * sizeof(*items));
    *ret = cel_list(items, (uint32_t)n);
    return true;
}

/* A time and a length of time, in nanoseconds that may be negative. */
static bool shift_time(struct cel_run *r, const struct cel_value *t, int64_t ns, struct cel_value *ret)
{
    int64_t nanos = (int64_t)t->n + ns % 1000000000, s = t->i + ns / 1000000000;

    s += nanos >= 1000000000 ? 1 : nanos < 0 ? -1 : 0;
    nanos += nanos < 0 ? 1000000000 : nanos >= 1000000000 ? -1000000000 : 0;
    if (s < -62135596800 || s > 253402300799)
        return cel_fail(r, "timestamp overflow");
    *ret = (struct cel_value){.kind = CEL_TIMESTAMP, .i = s, .n = (uint32_t)nanos};
    return true;
}

static bool time_arithmetic(struct cel_run *r, enum cel_binary op, const struct cel_value *a, const struct cel_value *b,
                            struct cel_value *ret)
{
    bool add = op == BIN_ADD;
    int64_t v;

    if (op != BIN_ADD && op != BIN_SUB)
        return cel_no_overload(r);
    if (a->kind == CEL_DURATION && b->kind == CEL_DURATION) {
        if (add ? __builtin_add_overflow(a->i, b->i, &v) : __builtin_sub_overflow(a->i, b->i, &v))
            return cel_fail(r, "duration overflow");
        *ret = (struct cel_value){.kind = CEL_DURATION, .i = v};
        return true;
    }
    if (a->kind == CEL_TIMESTAMP && b->kind == CEL_DURATION && (add || b->i != INT64_MIN))
        return shift_time(r, a, add ? b->i : -b->i, ret);
    if (add && a->kind == CEL_DURATION && b->kind == CEL_TIMESTAMP)
        return shift_time(r, b, a->i, ret);
    if (add || a->kind != CEL_TIMESTAMP || b->kind != CEL_TIMESTAMP)
        return cel_no_overload(r);
    if (__builtin_mul_overflow(a->i - b->i, 1000000000, &v) ||
        __builtin_add_overflow(v, (int64_t)a->n - (int64_t)b->n, &v))
        return cel_fail(r, "duration overflow");
    *ret = (struct cel_value){.kind = CEL_DURATION, .i = v};
    return true;
}

static bool arithmetic(struct cel_run *r, enum cel_binary op, const struct cel_value *a, const struct cel_value *b,
                       struct cel_value *ret)
{
    if (a->kind == CEL_DURATION || a->kind == CEL_TIMESTAMP)
        return time_arithmetic(r, op, a, b, ret);
    if (a->kind != b->kind)
        return cel_no_overload(r);
    if (a->kind == CEL_INT)
        return int_arithmetic(r, op, a->i, b->i, ret);
    if (a->kind == CEL_UINT)
        return uint_arithmetic(r, op, a->u, b->u, ret);
    if (a->kind == CEL_DOUBLE)
        return double_arithmetic(r, op, a->d, b->d, ret);
    if (op == BIN_ADD && (a->kind == CEL_STRING || a->kind == CEL_BYTES))
        return concat_texts(r, a, b, ret);
    if (op == BIN_ADD && a->kind == CEL_LIST)
        return concat_lists(r, a, b, ret);
    return cel_no_overload(r);
}

/* ---- relations ---- */

static bool contains(struct cel_run *r, const struct cel_value *what, const struct cel_value *in, struct cel_value *ret)
{
    bool found = false;

    if (in->kind == CEL_MAP)
        found = cel_map_get(in, what) != NULL;
    else if (in->kind == CEL_LIST)
        for (uint32_t i = 0; i < in->n && !found; i++)
            found = cel_equal(&in->items[i], what);
    else
        return cel_no_overload(r);
    *ret = cel_bool(found);
    return cel_charge(r, in->n / 4);
}

static bool is_nan(const struct cel_value *v)
{
    return v->kind == CEL_DOUBLE && isnan(v->d);
}

static bool ordered(struct cel_run *r, enum cel_binary op, const struct cel_value *a, const struct cel_value *b,
                    struct cel_value *ret)
{
    int order;

    if (!cel_compare(a, b, &order)) {
        if (!is_nan(a) && !is_nan(b))
            return cel_no_overload(r);
        *ret = cel_bool(false);
        return true;
    }
    *ret = cel_bool(op == BIN_LT ? order < 0 : op == BIN_LE ? order <= 0 : op == BIN_GT ? order > 0 : order >= 0);
    return true;
}

/* Comparing takes as long as what is compared is large. */
static uint64_t weight(const struct cel_value *v)
{
    uint64_t sum = 1;

    if (v->kind == CEL_STRING || v->kind == CEL_BYTES)
        return 1 + v->s.n / 16;
    if (v->kind == CEL_LIST || v->kind == CEL_MAP)
        for (uint32_t i = 0; i < v->n; i++)
            sum += weight(&v->items[i]);
    return sum;
}

bool cel_operate(struct cel_run *r, enum cel_binary op, const struct cel_value *a, const struct cel_value *b,
                 struct cel_value *ret)
{
    switch (op) {
    case BIN_ADD:
    case BIN_SUB:
    case BIN_MUL:
    case BIN_DIV:
    case BIN_MOD:
        return arithmetic(r, op, a, b, ret);
    case BIN_EQ:
    case BIN_NE:
        if (!cel_charge(r, weight(a)))
            return false;
        *ret = cel_bool(cel_equal(a, b) == (op == BIN_EQ));
        return true;
    case BIN_LT:
    case BIN_LE:
    case BIN_GT:
    case BIN_GE:
        return ordered(r, op, a, b, ret);
    case BIN_IN:
        return contains(r, a, b, ret);
    }
    return false;
}
