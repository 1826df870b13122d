/* Values: making, comparing, looking into them. */
#include <math.h>

#include "model/cel_impl.h"

struct cel_value cel_int(int64_t v)
{
    return (struct cel_value){.kind = CEL_INT, .i = v};
}

struct cel_value cel_bool(bool v)
{
    return (struct cel_value){.kind = CEL_BOOL, .b = v};
}

struct cel_value cel_double(double v)
{
    return (struct cel_value){.kind = CEL_DOUBLE, .d = v};
}

struct cel_value cel_str(str s)
{
    return (struct cel_value){.kind = CEL_STRING, .s = s};
}

struct cel_value cel_list(struct cel_value *items, uint32_t n)
{
    return (struct cel_value){.kind = CEL_LIST, .items = items, .n = n};
}

struct cel_value cel_none(void)
{
    return (struct cel_value){.kind = CEL_OPTIONAL};
}

struct cel_value cel_some(struct arena *a, struct cel_value v)
{
    return (struct cel_value){.kind = CEL_OPTIONAL, .n = 1, .items = arena_dup_array(a, struct cel_value, &v, 1)};
}

const char *cel_kind_name(enum cel_kind k)
{
    switch (k) {
    case CEL_NULL:
        return "null_type";
    case CEL_BOOL:
        return "bool";
    case CEL_INT:
        return "int";
    case CEL_UINT:
        return "uint";
    case CEL_DOUBLE:
        return "double";
    case CEL_STRING:
        return "string";
    case CEL_BYTES:
        return "bytes";
    case CEL_LIST:
        return "list";
    case CEL_MAP:
        return "map";
    case CEL_DURATION:
        return "google.protobuf.Duration";
    case CEL_TIMESTAMP:
        return "google.protobuf.Timestamp";
    case CEL_QUANTITY:
        return "kubernetes.Quantity";
    case CEL_OPTIONAL:
        return "optional_type";
    case CEL_TYPE:
        return "type";
    }
    return "";
}

bool cel_is_zero(const struct cel_value *v)
{
    switch (v->kind) {
    case CEL_NULL:
        return true;
    case CEL_BOOL:
        return !v->b;
    case CEL_INT:
    case CEL_UINT:
    case CEL_DURATION:
    case CEL_QUANTITY:
        return v->i == 0;
    case CEL_DOUBLE:
        return v->d == 0;
    case CEL_STRING:
    case CEL_BYTES:
        return v->s.n == 0;
    case CEL_LIST:
    case CEL_MAP:
    case CEL_OPTIONAL:
        return v->n == 0;
    case CEL_TIMESTAMP:
    case CEL_TYPE:
        return false;
    }
    return false;
}

/* ---- numbers ---- */

static bool is_number(const struct cel_value *v)
{
    return v->kind == CEL_INT || v->kind == CEL_UINT || v->kind == CEL_DOUBLE;
}

static int order_i64(int64_t a, int64_t b)
{
    return (a > b) - (a < b);
}

/* An integer, signed or not, as a sign and 64 bits of magnitude above it; `over` when it is past INT64_MAX. */
static int order_whole(const struct cel_value *a, const struct cel_value *b)
{
    bool a_over = a->kind == CEL_UINT && a->u > INT64_MAX, b_over = b->kind == CEL_UINT && b->u > INT64_MAX;

    if (a_over && b_over)
        return (a->u > b->u) - (a->u < b->u);
    if (a_over != b_over)
        return a_over ? 1 : -1;
    return order_i64(a->i, b->i);
}

/* -1, 0, 1; false for what is not a number. Whole numbers beyond 2^53 are compared without rounding them to doubles. */
static bool order_double(double d, const struct cel_value *whole, int *ret)
{
    if (isnan(d))
        return false;
    if (d >= 18446744073709551616.0 || d < -9223372036854775808.0) {
        *ret = d > 0 ? 1 : -1;
        return true;
    }
    double floor_d = floor(d);
    struct cel_value f = {.kind = CEL_UINT};
    if (floor_d < 9223372036854775808.0)
        f = cel_int((int64_t)floor_d);
    else
        f.u = (uint64_t)floor_d;
    *ret = order_whole(&f, whole);
    if (*ret == 0 && d > floor_d)
        *ret = 1;
    return true;
}

static bool order_numbers(const struct cel_value *a, const struct cel_value *b, int *ret)
{
    if (a->kind == CEL_DOUBLE && b->kind == CEL_DOUBLE) {
        *ret = (a->d > b->d) - (a->d < b->d);
        return !isnan(a->d) && !isnan(b->d);
    }
    if (a->kind == CEL_DOUBLE)
        return order_double(a->d, b, ret);
    if (b->kind == CEL_DOUBLE) {
        bool ok = order_double(b->d, a, ret);

        *ret = ok ? -*ret : 0;
        return ok;
    }
    *ret = order_whole(a, b);
    return true;
}

bool cel_compare(const struct cel_value *a, const struct cel_value *b, int *ret)
{
    if (is_number(a) && is_number(b))
        return order_numbers(a, b, ret);
    if (a->kind != b->kind)
        return false;
    switch (a->kind) {
    case CEL_BOOL:
        *ret = a->b - b->b;
        return true;
    case CEL_STRING:
    case CEL_BYTES:
        *ret = str_cmp(a->s, b->s);
        return true;
    case CEL_DURATION:
    case CEL_QUANTITY:
        *ret = order_i64(a->i, b->i);
        return true;
    case CEL_TIMESTAMP:
        *ret = a->i != b->i ? order_i64(a->i, b->i) : order_i64(a->n, b->n);
        return true;
    case CEL_NULL:
    case CEL_INT:
    case CEL_UINT:
    case CEL_DOUBLE:
    case CEL_LIST:
    case CEL_MAP:
    case CEL_OPTIONAL:
    case CEL_TYPE:
        break;
    }
    return false;
}

/* ---- equality ---- */

const struct cel_value *cel_map_get(const struct cel_value *map, const struct cel_value *key)
{
    for (uint32_t i = 0; i < map->n; i++) {
        const struct cel_value *k = &map->keys[i];

        if (key->kind == CEL_STRING && k->kind == CEL_STRING ? str_eq(k->s, key->s) : cel_equal(k, key))
            return &map->items[i];
    }
    return NULL;
}

static const struct cel_value *member(const struct cel_value *map, str name)
{
    struct cel_value key = cel_str(name);

    return map->kind == CEL_MAP ? cel_map_get(map, &key) : NULL;
}

/* Whether two members of a list that is a map stand for the same entry. */
static bool same_entry(const struct cel_value *list, const struct cel_value *a, const struct cel_value *b)
{
    for (uint32_t i = 0; i < list->n_list_keys; i++) {
        const struct cel_value *x = member(a, list->list_keys[i]), *y = member(b, list->list_keys[i]);

        if ((x || y) && (!x || !y || !cel_equal(x, y)))
            return false;
    }
    return true;
}

static const struct cel_value *counterpart(const struct cel_value *in, const struct cel_value *of)
{
    for (uint32_t i = 0; i < in->n; i++)
        if (in->list == CEL_MAP_LIST ? same_entry(in, &in->items[i], of) : cel_equal(&in->items[i], of))
            return &in->items[i];
    return NULL;
}

static bool lists_equal(const struct cel_value *a, const struct cel_value *b)
{
    const struct cel_value *by = a->list != CEL_PLAIN_LIST ? a : b;

    if (a->n != b->n)
        return false;
    for (uint32_t i = 0; i < a->n; i++) {
        const struct cel_value *x = &(by == a ? b : a)->items[i];
        const struct cel_value *y = by->list == CEL_PLAIN_LIST ? &by->items[i] : counterpart(by, x);

        if (!y || !cel_equal(x, y))
            return false;
    }
    return true;
}

static bool maps_equal(const struct cel_value *a, const struct cel_value *b)
{
    if (a->n != b->n)
        return false;
    for (uint32_t i = 0; i < a->n; i++) {
        const struct cel_value *other = cel_map_get(b, &a->keys[i]);

        if (!other || !cel_equal(&a->items[i], other))
            return false;
    }
    return true;
}

bool cel_equal(const struct cel_value *a, const struct cel_value *b)
{
    int order;

    if (a->kind == CEL_LIST && b->kind == CEL_LIST)
        return lists_equal(a, b);
    if (a->kind == CEL_MAP && b->kind == CEL_MAP)
        return maps_equal(a, b);
    if (a->kind == CEL_OPTIONAL && b->kind == CEL_OPTIONAL)
        return a->n == b->n && (a->n == 0 || cel_equal(a->items, b->items));
    if (a->kind == CEL_TYPE && b->kind == CEL_TYPE)
        return str_eq(a->s, b->s);
    if (a->kind == CEL_NULL || b->kind == CEL_NULL)
        return a->kind == b->kind;
    return cel_compare(a, b, &order) && order == 0;
}
