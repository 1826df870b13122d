/* What Kubernetes adds: quantities; and optional values. */
#include "model/cel_impl.h"
#include "model/quantity.h"

/* Thousandths, rounded up, as API servers keep quantities. */
static bool read_quantity(str text, struct cel_value *ret)
{
    struct err e;
    int64_t v;
    bool binary;

    if (!quantity_parse(text, SYM(MEMORY), &v, &binary, &e))
        return false;
    *ret = (struct cel_value){.kind = CEL_QUANTITY, .i = v, .s = text};
    return true;
}

static bool fn_is_quantity(struct cel_run *r, const struct cel_value *args, uint32_t n UNUSED, struct cel_value *ret)
{
    struct cel_value q;

    if (args[0].kind != CEL_STRING)
        return cel_no_overload(r);
    *ret = cel_bool(read_quantity(args[0].s, &q));
    return true;
}

static bool fn_quantity(struct cel_run *r, const struct cel_value *args, uint32_t n UNUSED, struct cel_value *ret)
{
    if (args[0].kind != CEL_STRING)
        return cel_no_overload(r);
    return read_quantity(args[0].s, ret) || cel_fail(r, "quantities must match the regular expression "
                                                        "'^([+-]?[0-9.]+)([eEinumkKMGTP]*[-+]?[0-9]*)$'");
}

static bool two_quantities(struct cel_run *r, const struct cel_value *args)
{
    return (args[0].kind == CEL_QUANTITY && args[1].kind == CEL_QUANTITY) || cel_no_overload(r);
}

static bool fn_compare_to(struct cel_run *r, const struct cel_value *args, uint32_t n UNUSED, struct cel_value *ret)
{
    if (!two_quantities(r, args))
        return false;
    *ret = cel_int((args[0].i > args[1].i) - (args[0].i < args[1].i));
    return true;
}

static bool fn_is_greater(struct cel_run *r, const struct cel_value *args, uint32_t n UNUSED, struct cel_value *ret)
{
    if (!two_quantities(r, args))
        return false;
    *ret = cel_bool(args[0].i > args[1].i);
    return true;
}

static bool fn_is_less(struct cel_run *r, const struct cel_value *args, uint32_t n UNUSED, struct cel_value *ret)
{
    if (!two_quantities(r, args))
        return false;
    *ret = cel_bool(args[0].i < args[1].i);
    return true;
}

static bool quantity_sum(struct cel_run *r, const struct cel_value *args, bool minus, struct cel_value *ret)
{
    struct cel_value b = args[1];
    struct sb text = {0};
    int64_t v;

    if (args[0].kind != CEL_QUANTITY || (b.kind != CEL_QUANTITY && b.kind != CEL_INT))
        return cel_no_overload(r);
    if (b.kind == CEL_INT && __builtin_mul_overflow(b.i, 1000, &b.i))
        return cel_fail(r, "integer overflow");
    if (minus ? __builtin_sub_overflow(args[0].i, b.i, &v) : __builtin_add_overflow(args[0].i, b.i, &v))
        return cel_fail(r, "integer overflow");
    quantity_print(&text, SYM(MEMORY), v, str_ends(args[0].s, STR("i")));
    *ret = (struct cel_value){.kind = CEL_QUANTITY, .i = v, .s = sb_dup(&text, r->a)};
    sb_fini(&text);
    return true;
}

static bool fn_quantity_add(struct cel_run *r, const struct cel_value *args, uint32_t n UNUSED, struct cel_value *ret)
{
    return quantity_sum(r, args, /* minus= */ false, ret);
}

static bool fn_quantity_sub(struct cel_run *r, const struct cel_value *args, uint32_t n UNUSED, struct cel_value *ret)
{
    return quantity_sum(r, args, /* minus= */ true, ret);
}

static bool fn_sign(struct cel_run *r, const struct cel_value *args, uint32_t n UNUSED, struct cel_value *ret)
{
    if (args[0].kind != CEL_QUANTITY)
        return cel_no_overload(r);
    *ret = cel_int((args[0].i > 0) - (args[0].i < 0));
    return true;
}

static bool fn_is_integer(struct cel_run *r, const struct cel_value *args, uint32_t n UNUSED, struct cel_value *ret)
{
    if (args[0].kind != CEL_QUANTITY)
        return cel_no_overload(r);
    *ret = cel_bool(args[0].i % 1000 == 0);
    return true;
}

static bool fn_as_integer(struct cel_run *r, const struct cel_value *args, uint32_t n UNUSED, struct cel_value *ret)
{
    if (args[0].kind != CEL_QUANTITY)
        return cel_no_overload(r);
    if (args[0].i % 1000 != 0)
        return cel_fail(r, "cannot convert value to integer");
    *ret = cel_int(args[0].i / 1000);
    return true;
}

static bool fn_as_float(struct cel_run *r, const struct cel_value *args, uint32_t n UNUSED, struct cel_value *ret)
{
    if (args[0].kind != CEL_QUANTITY)
        return cel_no_overload(r);
    *ret = cel_double((double)args[0].i / 1000);
    return true;
}

/* ---- optional values ---- */

static bool fn_optional_of(struct cel_run *r, const struct cel_value *args, uint32_t n UNUSED, struct cel_value *ret)
{
    *ret = cel_some(r->a, args[0]);
    return true;
}

static bool fn_optional_of_non_zero(struct cel_run *r, const struct cel_value *args, uint32_t n UNUSED,
                                    struct cel_value *ret)
{
    *ret = cel_is_zero(&args[0]) ? cel_none() : cel_some(r->a, args[0]);
    return true;
}

static bool fn_optional_none(struct cel_run *r UNUSED, const struct cel_value *args UNUSED, uint32_t n UNUSED,
                             struct cel_value *ret)
{
    *ret = cel_none();
    return true;
}

static bool fn_has_value(struct cel_run *r, const struct cel_value *args, uint32_t n UNUSED, struct cel_value *ret)
{
    if (args[0].kind != CEL_OPTIONAL)
        return cel_no_overload(r);
    *ret = cel_bool(args[0].n == 1);
    return true;
}

static bool fn_value(struct cel_run *r, const struct cel_value *args, uint32_t n UNUSED, struct cel_value *ret)
{
    if (args[0].kind != CEL_OPTIONAL)
        return cel_no_overload(r);
    if (args[0].n == 0)
        return cel_fail(r, "optional.none() dereference");
    *ret = args[0].items[0];
    return true;
}

static bool fn_or(struct cel_run *r, const struct cel_value *args, uint32_t n UNUSED, struct cel_value *ret)
{
    if (args[0].kind != CEL_OPTIONAL || args[1].kind != CEL_OPTIONAL)
        return cel_no_overload(r);
    *ret = args[0].n ? args[0] : args[1];
    return true;
}

static bool fn_or_value(struct cel_run *r, const struct cel_value *args, uint32_t n UNUSED, struct cel_value *ret)
{
    if (args[0].kind != CEL_OPTIONAL)
        return cel_no_overload(r);
    *ret = args[0].n ? args[0].items[0] : args[1];
    return true;
}

const struct cel_fn cel_fns_more[] = {
    {"isQuantity", 1, 1, false, fn_is_quantity},
    {"quantity", 1, 1, false, fn_quantity},
    {"compareTo", 2, 2, true, fn_compare_to},
    {"isGreaterThan", 2, 2, true, fn_is_greater},
    {"isLessThan", 2, 2, true, fn_is_less},
    {"add", 2, 2, true, fn_quantity_add},
    {"sub", 2, 2, true, fn_quantity_sub},
    {"sign", 1, 1, true, fn_sign},
    {"isInteger", 1, 1, true, fn_is_integer},
    {"asInteger", 1, 1, true, fn_as_integer},
    {"asApproximateFloat", 1, 1, true, fn_as_float},
    {"optional.of", 1, 1, false, fn_optional_of},
    {"optional.ofNonZeroValue", 1, 1, false, fn_optional_of_non_zero},
    {"optional.none", 0, 0, false, fn_optional_none},
    {"hasValue", 1, 1, true, fn_has_value},
    {"value", 1, 1, true, fn_value},
    {"or", 2, 2, true, fn_or},
    {"orValue", 2, 2, true, fn_or_value},
    {0},
};
