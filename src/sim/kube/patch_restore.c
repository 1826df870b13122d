/* Whether an object still fits its kind after a strategic merge patch. A real server turns the merged maps into structs at this
 * point and tells what does not fit in words of its own, other than those of its JSON decoder. */
#include "model/quantity.h"
#include "sim/kube/patch.h"
#include "sim/kube/patch_impl.h"
#include "sim/kube/schema.h"
#include "sim/kube/status.h"

#define BAD_QUANTITY "quantities must match the regular expression '^([+-]?[0-9.]+)([eEinumkKMGTP]*[-+]?[0-9]*)$'"

/* What a field for whole numbers, text or truth says to another kind of value; empty when it is fine. */
static str misfit_scalar(struct arena *a, const struct tree *t, enum tree_kind fits, const char *type)
{
    int64_t v;

    if (t->kind == fits)
        return (str){0};
    if (t->kind == TREE_NUMBER && fits == TREE_STRING)
        return arena_printf(a, "cannot convert %s to %s", str_to_i64(t->text, &v) ? "int64" : "float64", type);
    return arena_printf(a, "unrecognized type: %s", type);
}

static str misfit_integer(struct arena *a, const struct schema *s, const struct tree *t)
{
    const char *type = str_is(s->format, "int32") ? "int32" : "int64";
    double d;

    if (t->kind == TREE_NUMBER && str_to_double(t->text, &d) && d != (double)(int64_t)d)
        return arena_printf(a, "cannot convert float64 to %s", type);
    return misfit_scalar(a, t, TREE_NUMBER, type);
}

/* Quantities, times, and numbers or names have decoders of their own. */
static str misfit_special(struct arena *a, const struct schema *s, const struct tree *t)
{
    struct err e;
    int64_t v;
    bool binary;

    if (s->type == SCHEMA_QUANTITY) {
        bool scalar = t->kind == TREE_STRING || t->kind == TREE_NUMBER;

        return scalar && quantity_parse(t->text, SYM(MEMORY), &v, &binary, &e) ? (str){0} : STR(BAD_QUANTITY);
    }
    if (t->kind == TREE_STRING)
        return (str){0};
    if (s->type == SCHEMA_STRING)
        return arena_printf(a, "json: cannot unmarshal %s into Go value of type string", go_json_kind(t));
    if (t->kind != TREE_NUMBER)
        return arena_printf(a, "json: cannot unmarshal %s into Go value of type int32", go_json_kind(t));
    if (!str_to_i64(t->text, &v))
        return arena_printf(a, "json: cannot unmarshal number " STR_FMT " into Go value of type int32",
                            STR_ARG(t->text));
    return (str){0};
}

static str misfit(struct arena *a, const struct schema *s, const struct tree *t);

static str misfit_members(struct arena *a, const struct schema *s, const struct tree *t)
{
    for (uint32_t i = 0; i < t->n; i++) {
        str why = misfit(a, t->kind == TREE_MAP ? schema_child(s, t->keys[i]) : s->items, &t->items[i]);

        if (why.n)
            return why;
    }
    return (str){0};
}

static str misfit(struct arena *a, const struct schema *s, const struct tree *t)
{
    if (!s || t->kind == TREE_NULL)
        return (str){0};
    switch (s->type) {
    case SCHEMA_ANY:
        return (str){0};
    case SCHEMA_OBJECT:
        if (t->kind == TREE_MAP)
            return misfit_members(a, s, t);
        return arena_printf(a, s->values ? "cannot restore map from %s" : "cannot restore struct from: %s", go_kind(t));
    case SCHEMA_LIST:
        return t->kind == TREE_LIST ? misfit_members(a, s, t)
                                    : arena_printf(a, "cannot restore slice from %s", go_kind(t));
    case SCHEMA_STRING:
        return str_is(s->format, "date-time") ? misfit_special(a, s, t) : misfit_scalar(a, t, TREE_STRING, "string");
    case SCHEMA_INTEGER:
        return misfit_integer(a, s, t);
    case SCHEMA_NUMBER:
        return misfit_scalar(a, t, TREE_NUMBER, "float64");
    case SCHEMA_BOOLEAN:
        return misfit_scalar(a, t, TREE_BOOL, "bool");
    case SCHEMA_INT_OR_STRING:
    case SCHEMA_QUANTITY:
        return misfit_special(a, s, t);
    }
    return (str){0};
}

/* As Go's %q. */
static void quote(struct sb *out, str s)
{
    sb_char(out, '"');
    for (size_t i = 0; i < s.n; i++) {
        if (s.p[i] == '"' || s.p[i] == '\\')
            sb_char(out, '\\');
        if (s.p[i] == '\n')
            sb_c(out, "\\n");
        else
            sb_char(out, s.p[i]);
    }
    sb_char(out, '"');
}

bool patch_misfits(struct arena *a, struct status *st, str value, str why)
{
    struct sb b = {0};

    sb_c(&b, "Invalid value: ");
    quote(&b, value);
    sb_printf(&b, ": " STR_FMT, STR_ARG(why));
    struct cause c = {STR("FieldValueInvalid"), sb_dup(&b, a), STR("patch")};
    sb_fini(&b);
    (void)refuse(a, st, 422, "Invalid", " \"\" is invalid: patch: " STR_FMT, STR_ARG(c.message));
    st->causes = arena_dup_array(a, struct cause, &c, 1);
    st->n_causes = 1;
    return false;
}

bool restores(struct arena *a, const struct schema *s, const struct tree *obj, const struct tree *patch,
              struct status *st)
{
    str why = misfit(a, s, obj);

    return !why.n || patch_misfits(a, st, go_text(a, patch), why);
}
