/* Lists: sorting and searching as Kubernetes' list library has it, sets, and smallest and largest of anything that has an order. */
#include "model/cel_impl.h"

static bool less(struct cel_run *r, const struct cel_value *a, const struct cel_value *b, bool *ret)
{
    int order;

    if (!cel_compare(a, b, &order))
        return cel_no_overload(r);
    *ret = order < 0;
    return true;
}

static bool fn_is_sorted(struct cel_run *r, const struct cel_value *args, uint32_t n UNUSED, struct cel_value *ret)
{
    bool falls = false;

    if (args[0].kind != CEL_LIST)
        return cel_no_overload(r);
    *ret = cel_bool(true);
    for (uint32_t i = 1; i < args[0].n && ret->b; i++) {
        if (!less(r, &args[0].items[i], &args[0].items[i - 1], &falls))
            return false;
        ret->b = !falls;
    }
    return cel_charge(r, args[0].n);
}

/* The largest of n values, or with `smallest` the other end. */
static bool extreme(struct cel_run *r, const struct cel_value *v, uint32_t n, bool smallest, struct cel_value *ret)
{
    const struct cel_value *best = v;
    bool better = false;

    for (uint32_t i = 1; i < n; i++) {
        if (!(smallest ? less(r, &v[i], best, &better) : less(r, best, &v[i], &better)))
            return false;
        best = better ? &v[i] : best;
    }
    *ret = *best;
    return cel_charge(r, n);
}

static bool extreme_of_list(struct cel_run *r, const struct cel_value *list, bool smallest, struct cel_value *ret)
{
    if (list->kind != CEL_LIST)
        return cel_no_overload(r);
    if (list->n == 0)
        return cel_fail(r, "%s called on empty list", smallest ? "min" : "max");
    return extreme(r, list->items, list->n, smallest, ret);
}

static bool fn_list_min(struct cel_run *r, const struct cel_value *args, uint32_t n UNUSED, struct cel_value *ret)
{
    return extreme_of_list(r, &args[0], /* smallest= */ true, ret);
}

static bool fn_list_max(struct cel_run *r, const struct cel_value *args, uint32_t n UNUSED, struct cel_value *ret)
{
    return extreme_of_list(r, &args[0], /* smallest= */ false, ret);
}

static bool all_numbers(const struct cel_value *v, uint32_t n, bool *ret_double)
{
    *ret_double = false;
    for (uint32_t i = 0; i < n; i++) {
        *ret_double |= v[i].kind == CEL_DOUBLE;
        if (v[i].kind != CEL_INT && v[i].kind != CEL_UINT && v[i].kind != CEL_DOUBLE)
            return false;
    }
    return true;
}

/* max(a, b) and min(a, b) of kubelet expressions: whole numbers give a whole number, any double makes it a double. */
static bool extreme_number(struct cel_run *r, const struct cel_value *args, uint32_t n, bool smallest,
                           struct cel_value *ret)
{
    bool any_double;

    if (!all_numbers(args, n, &any_double))
        return cel_no_overload(r);
    if (!extreme(r, args, n, smallest, ret))
        return false;
    if (any_double && ret->kind != CEL_DOUBLE)
        *ret = cel_double(ret->kind == CEL_INT ? (double)ret->i : (double)ret->u);
    return true;
}

static bool fn_min(struct cel_run *r, const struct cel_value *args, uint32_t n, struct cel_value *ret)
{
    return extreme_number(r, args, n, /* smallest= */ true, ret);
}

static bool fn_max(struct cel_run *r, const struct cel_value *args, uint32_t n, struct cel_value *ret)
{
    return extreme_number(r, args, n, /* smallest= */ false, ret);
}

/* math.least and math.greatest: of the arguments, or of one list. */
static bool extreme_of(struct cel_run *r, const struct cel_value *args, uint32_t n, bool smallest,
                       struct cel_value *ret)
{
    bool any_double;

    if (n == 1 && args[0].kind == CEL_LIST)
        return extreme_of_list(r, &args[0], smallest, ret);
    if (!all_numbers(args, n, &any_double))
        return cel_no_overload(r);
    return extreme(r, args, n, smallest, ret);
}

static bool fn_least(struct cel_run *r, const struct cel_value *args, uint32_t n, struct cel_value *ret)
{
    return extreme_of(r, args, n, /* smallest= */ true, ret);
}

static bool fn_greatest(struct cel_run *r, const struct cel_value *args, uint32_t n, struct cel_value *ret)
{
    return extreme_of(r, args, n, /* smallest= */ false, ret);
}

/* ---- sums and places ---- */

static bool add_number(struct cel_run *r, struct cel_value *sum, const struct cel_value *v)
{
    if (v->kind != sum->kind)
        return cel_no_overload(r);
    if (v->kind == CEL_DOUBLE)
        sum->d += v->d;
    else if (v->kind == CEL_UINT)
        return !__builtin_add_overflow(sum->u, v->u, &sum->u) || cel_fail(r, "unsigned integer overflow");
    else if (v->kind == CEL_INT || v->kind == CEL_DURATION)
        return !__builtin_add_overflow(sum->i, v->i, &sum->i) || cel_fail(r, "integer overflow");
    else
        return cel_no_overload(r);
    return true;
}

static bool fn_sum(struct cel_run *r, const struct cel_value *args, uint32_t n UNUSED, struct cel_value *ret)
{
    if (args[0].kind != CEL_LIST)
        return cel_no_overload(r);
    struct cel_value sum = cel_int(0);
    if (args[0].n) {
        sum.kind = args[0].items[0].kind;
        if (sum.kind == CEL_DOUBLE)
            sum.d = 0;
    }
    for (uint32_t i = 0; i < args[0].n; i++)
        if (!add_number(r, &sum, &args[0].items[i]))
            return false;
    *ret = sum;
    return cel_charge(r, args[0].n);
}

static bool list_place(struct cel_run *r, const struct cel_value *args, uint32_t n, bool last, struct cel_value *ret)
{
    if (args[0].kind != CEL_LIST || n != 2)
        return cel_no_overload(r);
    *ret = cel_int(-1);
    for (uint32_t i = 0; i < args[0].n && (last || ret->i < 0); i++)
        if (cel_equal(&args[0].items[i], &args[1]))
            *ret = cel_int(i);
    return cel_charge(r, args[0].n);
}

static bool fn_index_of(struct cel_run *r, const struct cel_value *args, uint32_t n, struct cel_value *ret)
{
    return args[0].kind == CEL_STRING ? cel_text_index_of(r, args, n, ret) : list_place(r, args, n, false, ret);
}

static bool fn_last_index_of(struct cel_run *r, const struct cel_value *args, uint32_t n, struct cel_value *ret)
{
    return args[0].kind == CEL_STRING ? cel_text_last_index_of(r, args, n, ret) : list_place(r, args, n, true, ret);
}

/* ---- sets ---- */

static bool has_member(const struct cel_value *list, const struct cel_value *v)
{
    for (uint32_t i = 0; i < list->n; i++)
        if (cel_equal(&list->items[i], v))
            return true;
    return false;
}

/* How many members of b are in a; false when these are no lists. */
static bool common(struct cel_run *r, const struct cel_value *a, const struct cel_value *b, uint32_t *ret)
{
    if (a->kind != CEL_LIST || b->kind != CEL_LIST)
        return cel_no_overload(r);
    if (!cel_charge(r, (uint64_t)a->n * b->n))
        return false;
    *ret = 0;
    for (uint32_t i = 0; i < b->n; i++)
        *ret += has_member(a, &b->items[i]);
    return true;
}

static bool fn_sets_contains(struct cel_run *r, const struct cel_value *args, uint32_t n UNUSED, struct cel_value *ret)
{
    uint32_t both;

    if (!common(r, &args[0], &args[1], &both))
        return false;
    *ret = cel_bool(both == args[1].n);
    return true;
}

static bool fn_sets_intersects(struct cel_run *r, const struct cel_value *args, uint32_t n UNUSED,
                               struct cel_value *ret)
{
    uint32_t both;

    if (!common(r, &args[0], &args[1], &both))
        return false;
    *ret = cel_bool(both > 0);
    return true;
}

static bool fn_sets_equivalent(struct cel_run *r, const struct cel_value *args, uint32_t n UNUSED,
                               struct cel_value *ret)
{
    uint32_t one, other;

    if (!common(r, &args[0], &args[1], &one) || !common(r, &args[1], &args[0], &other))
        return false;
    *ret = cel_bool(one == args[1].n && other == args[0].n);
    return true;
}

const struct cel_fn cel_fns_lists[] = {
    {"isSorted", 1, 1, true, fn_is_sorted},
    {"min", 1, 1, true, fn_list_min},
    {"max", 1, 1, true, fn_list_max},
    {"min", 2, 2, false, fn_min},
    {"max", 2, 2, false, fn_max},
    {"math.least", 1, CEL_ANY_ARGS, false, fn_least},
    {"math.greatest", 1, CEL_ANY_ARGS, false, fn_greatest},
    {"sum", 1, 1, true, fn_sum},
    {"indexOf", 2, 3, true, fn_index_of},
    {"lastIndexOf", 2, 3, true, fn_last_index_of},
    {"sets.contains", 2, 2, false, fn_sets_contains},
    {"sets.intersects", 2, 2, false, fn_sets_intersects},
    {"sets.equivalent", 2, 2, false, fn_sets_equivalent},
    {0},
};
