/* Validation of custom kinds. The sentences, which of them carry a value, and which stop the CEL rules from being asked are those of
 * a kube-apiserver 1.36; tests/unit/sim/kube/schema_test.c has what one answered.
 */
#include <math.h>

#include "base/regex.h"
#include "base/utf8.h"
#include "data/edit.h"
#include "data/json.h"
#include "sim/kube/schema_impl.h"
#include "sim/kube/status.h"

#define NO_FIELD STR("<nil>") /* what a server prints where it has lost the field */

struct check {
    struct arena *a;
    struct sb path;
    struct causes *out;
};

/* old: what stood here and is known to be valid; NULL: nothing is known. */
static void check_value(struct check *c, const struct schema *s, const struct tree *t, const struct tree *old);

static str here(const struct check *c)
{
    return c->path.n ? sb_view(&c->path) : NO_FIELD;
}

static const struct tree *old_item(const struct tree *old, uint32_t i)
{
    return old && old->kind == TREE_LIST && i < old->n ? &old->items[i] : NULL;
}

static const struct tree *old_member(const struct tree *old, str key)
{
    return old ? tree_find((struct tree *)old, key) : NULL;
}

/* ---- types ---- */

static bool is_whole(const struct tree *t, int64_t *ret)
{
    double d;

    if (tree_to_i64(t, ret))
        return true;
    if (!str_to_double(t->text, &d) || d != floor(d) || fabs(d) >= 9223372036854775808.0)
        return false;
    *ret = (int64_t)d;
    return true;
}

static const char *type_of(const struct tree *t)
{
    int64_t v;

    switch (t->kind) {
    case TREE_NULL:
        return "null";
    case TREE_BOOL:
        return "boolean";
    case TREE_NUMBER:
        return is_whole(t, &v) ? "integer" : "number";
    case TREE_STRING:
        return "string";
    case TREE_LIST:
        return "array";
    case TREE_MAP:
        return "object";
    }
    return "";
}

static bool type_fits(enum schema_type want, const struct tree *t)
{
    int64_t v;

    switch (want) {
    case SCHEMA_OBJECT:
        return t->kind == TREE_MAP;
    case SCHEMA_LIST:
        return t->kind == TREE_LIST;
    case SCHEMA_STRING:
        return t->kind == TREE_STRING;
    case SCHEMA_INTEGER:
        return t->kind == TREE_NUMBER && is_whole(t, &v);
    case SCHEMA_NUMBER:
        return t->kind == TREE_NUMBER;
    case SCHEMA_BOOLEAN:
        return t->kind == TREE_BOOL;
    case SCHEMA_INT_OR_STRING:
        return t->kind == TREE_STRING || (t->kind == TREE_NUMBER && is_whole(t, &v));
    case SCHEMA_QUANTITY:
        return t->kind == TREE_STRING || t->kind == TREE_NUMBER;
    case SCHEMA_ANY:
        return true;
    }
    return true;
}

/* Integers have a format of their own complaint, which has lost its field. */
static void check_integer_format(struct check *c, const struct schema *s, const struct tree *t)
{
    int64_t v;
    bool whole = is_whole(t, &v);

    if (str_is(s->format, "int32") && (!whole || v < INT32_MIN || v > INT32_MAX))
        cause_invalid(c->out, NO_FIELD, STR("\"\""),
                      "Checked value must be of type integer with format int32 in " STR_FMT, STR_ARG(here(c)));
    else if (!whole && str_is(s->format, "int64"))
        cause_invalid(c->out, NO_FIELD, STR("\"\""),
                      "Checked value must be of type integer with format int64 in " STR_FMT, STR_ARG(here(c)));
    else if (!whole)
        cause_invalid(c->out, NO_FIELD, STR("\"\""),
                      "Checked value must be of type integer (default format) in " STR_FMT, STR_ARG(here(c)));
}

/* False when the rest makes no sense for this value. */
static bool check_type(struct check *c, const struct schema *s, const struct tree *t)
{
    const char *want = s->type == SCHEMA_INT_OR_STRING ? "integer,string" : schema_type_name(s->type);

    if (t->kind == TREE_NULL && s->nullable)
        return false;
    if (!type_fits(s->type, t)) {
        const char *got = type_of(t);
        double d;

        if (s->type == SCHEMA_INTEGER && str_is(s->format, "int64") && t->kind == TREE_NUMBER &&
            str_to_double(t->text, &d) && d == floor(d)) {
            got = "float64"; /* quirk: a whole number that is too large speaks Go */
            want = "int64";
        }

        cause_type_invalid(c->out, here(c), arena_printf(c->a, "\"%s\"", got),
                           STR_FMT " in body must be of type %s: \"%s\"", STR_ARG(here(c)), want, got);
        if (s->type != SCHEMA_INTEGER || t->kind != TREE_NUMBER)
            return false;
    }
    if (s->type == SCHEMA_INTEGER)
        check_integer_format(c, s, t);
    if (t->kind == TREE_STRING && s->type == SCHEMA_STRING && !schema_format_ok(s->format, t->text)) {
        str value = json_text(c->a, t);

        cause_type_invalid(c->out, here(c), value, STR_FMT " in body must be of type " STR_FMT ": " STR_FMT,
                           STR_ARG(here(c)), STR_ARG(s->format), STR_ARG(value));
    }
    return true;
}

/* ---- scalars ---- */

static void check_enum(struct check *c, const struct schema *s, const struct tree *t)
{
    struct sb list = {0};

    if (s->n_values == 0)
        return;
    for (uint32_t i = 0; i < s->n_values; i++)
        if (tree_equal(s->one_of_values[i], t))
            return;
    for (uint32_t i = 0; i < s->n_values; i++) {
        str text = tree_scalar(s->one_of_values[i]);

        sb_printf(&list, "%s\"" STR_FMT "\"", i ? ", " : "", STR_ARG(text));
    }
    cause_not_supported(c->out, here(c), json_text(c->a, t), "supported values: %s", sb_cstr(&list));
    sb_fini(&list);
}

/* The first complaint only. */
static void check_string(struct check *c, const struct schema *s, const struct tree *t)
{
    int64_t length = s->min_length >= 0 || s->max_length >= 0 ? (int64_t)utf8_count(t->text) : 0;

    /* quirk: of length and pattern a server names the first that is wrong */
    if (s->max_length >= 0 && length > s->max_length)
        cause_too_long(c->out, here(c), (uint32_t)MIN(s->max_length, UINT32_MAX));
    else if (s->min_length >= 0 && length < s->min_length)
        cause_invalid(c->out, here(c), json_text(c->a, t), STR_FMT " in body should be at least %lld chars long",
                      STR_ARG(here(c)), (long long)s->min_length);
    else if (s->regex && !regex_matches(s->regex, t->text))
        cause_invalid(c->out, here(c), json_text(c->a, t), STR_FMT " in body should match '" STR_FMT "'",
                      STR_ARG(here(c)), STR_ARG(s->pattern));
}

static str number_text(struct arena *a, double v)
{
    struct sb b = {0};

    sb_double(&b, v);
    str s = sb_dup(&b, a);
    sb_fini(&b);
    return s;
}

static void check_number(struct check *c, const struct schema *s, const struct tree *t)
{
    double v;

    if (!str_to_double(t->text, &v))
        return;
    if (s->multiple_of > 0) {
        double times = v / s->multiple_of;

        if (fabs(times - round(times)) > 1e-9)
            cause_invalid(c->out, here(c), t->text, STR_FMT " in body should be a multiple of " STR_FMT,
                          STR_ARG(here(c)), STR_ARG(number_text(c->a, s->multiple_of)));
    }
    if (s->has_max && (s->exclusive_max ? v >= s->max : v > s->max))
        cause_invalid(c->out, here(c), t->text, STR_FMT " in body should be less than %s" STR_FMT, STR_ARG(here(c)),
                      s->exclusive_max ? "" : "or equal to ", STR_ARG(number_text(c->a, s->max)));
    if (s->has_min && (s->exclusive_min ? v <= s->min : v < s->min))
        cause_invalid(c->out, here(c), t->text, STR_FMT " in body should be greater than %s" STR_FMT, STR_ARG(here(c)),
                      s->exclusive_min ? "" : "or equal to ", STR_ARG(number_text(c->a, s->min)));
}

/* ---- lists and maps ---- */

static void check_list(struct check *c, const struct schema *s, const struct tree *t, const struct tree *old)
{
    if (s->max_items >= 0 && t->n > s->max_items)
        cause_too_many(c->out, here(c), t->n, (uint32_t)MIN(s->max_items, UINT32_MAX));
    if (s->min_items >= 0 && t->n < s->min_items)
        cause_invalid(c->out, here(c), arena_printf(c->a, "%u", t->n),
                      STR_FMT " in body should have at least %lld items", STR_ARG(here(c)), (long long)s->min_items);
    for (uint32_t i = 0; s->items && i < t->n; i++) {
        size_t before = path_index(&c->path, i);

        check_value(c, s->items, &t->items[i], old_item(old, i));
        path_cut(&c->path, before);
    }
}

static void check_required(struct check *c, const struct schema *s, const struct tree *t)
{
    for (uint32_t i = 0; i < s->n_fields; i++) {
        const struct schema_field *f = &s->fields[i];

        if (!f->required || tree_find((struct tree *)t, f->name))
            continue;
        size_t before = path_field(&c->path, f->name);
        cause_required(c->out, here(c), "%s", "");
        path_cut(&c->path, before);
    }
}

static void check_map(struct check *c, const struct schema *s, const struct tree *t, const struct tree *old)
{
    if (s->max_props >= 0 && t->n > s->max_props)
        cause_too_many(c->out, here(c), t->n, (uint32_t)MIN(s->max_props, UINT32_MAX));
    if (s->min_props >= 0 && t->n < s->min_props)
        cause_invalid(c->out, here(c), arena_printf(c->a, "%u", t->n),
                      STR_FMT " in body should have at least %lld properties", STR_ARG(here(c)),
                      (long long)s->min_props);
    check_required(c, s, t);
    for (uint32_t i = 0; i < t->n; i++) {
        const struct schema_field *f = schema_field(s, t->keys[i]);
        const struct schema *child = f ? f->schema : s->values;

        if (!child)
            continue;
        size_t before = path_field(&c->path, t->keys[i]);
        check_value(c, child, &t->items[i], old_member(old, t->keys[i]));
        path_cut(&c->path, before);
    }
}

/* ---- alternatives ---- */

/* What is wrong with a value in one of several schemas: kept apart until it is known which of them counts. */
static uint32_t try_schema(struct check *c, const struct schema *s, const struct tree *t, struct causes *trial)
{
    struct causes *out = c->out;

    c->out = trial;
    check_value(c, s, t, NULL);
    c->out = out;
    return trial->list.n;
}

/* The number of alternatives that hold; *best gets the complaints of the one with the fewest. */
static uint32_t count_valid(struct check *c, const struct schema *const *of, uint32_t n, const struct tree *t,
                            struct causes *best)
{
    uint32_t valid = 0;

    for (uint32_t i = 0; i < n; i++) {
        struct causes trial = {.a = c->out->a};

        valid += try_schema(c, of[i], t, &trial) == 0;
        if (i == 0 || trial.list.n < best->list.n) {
            struct causes spare = *best;

            *best = trial;
            trial = spare;
        }
        causes_fini(&trial);
    }
    return valid;
}

static void take_over(struct check *c, const struct causes *from)
{
    for (uint32_t i = 0; i < from->list.n; i++)
        vec_push(&c->out->list, from->list.v[i]);
}

static void check_alternatives(struct check *c, const struct schema *s, const struct tree *t)
{
    struct causes any = {.a = c->out->a}, one = {.a = c->out->a}, no = {.a = c->out->a};

    if (s->n_any_of && count_valid(c, s->any_of, s->n_any_of, t, &any) == 0) {
        cause_invalid(c->out, NO_FIELD, STR("\"\""), "\"" STR_FMT "\" must validate at least one schema (anyOf)",
                      STR_ARG(here(c)));
        take_over(c, &any);
    }
    uint32_t valid = s->n_one_of ? count_valid(c, s->one_of, s->n_one_of, t, &one) : 1;
    if (valid == 0) {
        cause_invalid(c->out, NO_FIELD, STR("\"\""),
                      "\"" STR_FMT "\" must validate one and only one schema (oneOf). Found none valid",
                      STR_ARG(here(c)));
        take_over(c, &one);
    } else if (valid > 1)
        cause_invalid(c->out, NO_FIELD, STR("\"\""),
                      "\"" STR_FMT "\" must validate one and only one schema (oneOf). Found %u valid alternatives",
                      STR_ARG(here(c)), valid);
    for (uint32_t i = 0; i < s->n_all_of; i++)
        check_value(c, s->all_of[i], t, NULL);
    if (s->not_ && try_schema(c, s->not_, t, &no) == 0)
        cause_invalid(c->out, NO_FIELD, STR("\"\""), "\"" STR_FMT "\" must not validate the schema (not)",
                      STR_ARG(here(c)));
    causes_fini(&any);
    causes_fini(&one);
    causes_fini(&no);
}

static void check_value(struct check *c, const struct schema *s, const struct tree *t, const struct tree *old)
{
    if (old && tree_same(t, old))
        return;
    bool fits = check_type(c, s, t);

    if (t->kind == TREE_NULL && s->nullable)
        return;
    check_enum(c, s, t);
    if (!fits)
        return;
    check_alternatives(c, s, t);
    if (t->kind == TREE_STRING)
        check_string(c, s, t);
    if (t->kind == TREE_NUMBER)
        check_number(c, s, t);
    if (t->kind == TREE_LIST)
        check_list(c, s, t, old);
    if (t->kind == TREE_MAP)
        check_map(c, s, t, old);
}

/* ---- lists without repetition, objects within objects ---- */

static str keys_text(struct check *c, const struct schema *list, const struct tree *item)
{
    struct tree *keys = tree_new_map(c->a);

    for (uint32_t i = 0; i < list->n_list_keys; i++) {
        struct tree *v = item->kind == TREE_MAP ? tree_find((struct tree *)item, list->list_keys[i]) : NULL;

        if (v)
            *tree_put(c->a, keys, list->list_keys[i]) = *v;
    }
    return json_text(c->a, keys);
}

/* A member by the text that must not come twice. */
struct member {
    str text;
    uint32_t ix;
    bool again;
};

static int by_text(const void *a, const void *b, void *ctx UNUSED)
{
    return str_cmp(((const struct member *)a)->text, ((const struct member *)b)->text);
}

static int by_place(const void *a, const void *b, void *ctx UNUSED)
{
    const struct member *x = a, *y = b;

    return (x->ix > y->ix) - (x->ix < y->ix);
}

static void check_repetition(struct check *c, const struct schema *s, const struct tree *t)
{
    if (s->list == LIST_ATOMIC || t->n < 2)
        return;
    struct member *v = arena_new_array(c->a, struct member, t->n);
    for (uint32_t i = 0; i < t->n; i++) {
        v[i].text = s->list == LIST_SET ? json_text(c->a, &t->items[i]) : keys_text(c, s, &t->items[i]);
        v[i].ix = i;
    }
    sort_stable(v, t->n, sizeof(*v), by_text, NULL);
    for (uint32_t i = 1; i < t->n; i++)
        v[i].again = str_eq(v[i].text, v[i - 1].text);
    sort_stable(v, t->n, sizeof(*v), by_place, NULL);
    for (uint32_t i = 0; i < t->n; i++) {
        if (!v[i].again)
            continue;
        size_t before = path_index(&c->path, i);
        cause_duplicate(c->out, here(c), v[i].text);
        path_cut(&c->path, before);
    }
}

static void check_embedded(struct check *c, const struct tree *t)
{
    static const char *const heads[] = {"apiVersion", "kind"};

    for (size_t i = 0; i < ARRAY_LEN(heads); i++)
        if (tree_str(tree_get(t, heads[i])).n == 0) {
            size_t before = path_field(&c->path, str_c(heads[i]));

            cause_required(c->out, here(c), "%s", "");
            path_cut(&c->path, before);
        }
}

static void check_structure(struct check *c, const struct schema *s, const struct tree *t, const struct tree *old)
{
    if (old && tree_same(t, old))
        return;
    if (t->kind == TREE_LIST && s->type == SCHEMA_LIST) {
        check_repetition(c, s, t);
        for (uint32_t i = 0; s->items && i < t->n; i++) {
            size_t before = path_index(&c->path, i);

            check_structure(c, s->items, &t->items[i], old_item(old, i));
            path_cut(&c->path, before);
        }
    }
    if (t->kind != TREE_MAP)
        return;
    if (s->embedded)
        check_embedded(c, t);
    for (uint32_t i = 0; i < t->n; i++) {
        const struct schema *child = schema_child(s, t->keys[i]);

        if (!child)
            continue;
        size_t before = path_field(&c->path, t->keys[i]);
        check_structure(c, child, &t->items[i], old_member(old, t->keys[i]));
        path_cut(&c->path, before);
    }
}

/* ---- all of it ---- */

/* Rules are written for objects whose types and sizes are in order: they are not asked otherwise. */
static bool stops_rules(const struct causes *out, uint32_t from)
{
    static const char *const reasons[] = {"FieldValueRequired", "FieldValueTooLong", "FieldValueTooMany",
                                          "FieldValueTypeInvalid", "FieldValueNotSupported"};

    for (uint32_t i = from; i < out->list.n; i++)
        for (size_t r = 0; r < ARRAY_LEN(reasons); r++)
            if (str_is(out->list.v[i].reason, reasons[r]))
                return true;
    return false;
}

void schema_validate(struct arena *a, const struct schema *s, const struct tree *obj, const struct tree *old,
                     bool old_is_valid, struct causes *out)
{
    struct check c = {.a = a, .out = out};
    const struct tree *valid = old_is_valid ? old : NULL;
    uint32_t before = out->list.n;

    if (s->name.n) /* built-in */
        return;
    check_value(&c, s, obj, valid);
    check_structure(&c, s, obj, valid);
    sb_fini(&c.path);
    if (stops_rules(out, before))
        cause_invalid(
            out, NO_FIELD, STR("null"),
            "some validation rules were not checked because the object was invalid; correct the existing errors "
            "to complete validation");
    else if (s->rules_within)
        schema_check_rules(s, obj, old, old_is_valid, out);
}
