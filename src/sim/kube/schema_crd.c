/* From openAPIV3Schema of a CustomResourceDefinition to a schema. What the tree says is taken over by reference. */
#include "base/regex.h"
#include "base/vec.h"
#include "data/edit.h"
#include "data/json.h"
#include "model/cel.h"
#include "sim/kube/schema_impl.h"
#include "sim/kube/status.h"

struct parser {
    struct arena *a;
    struct causes *out;
    struct sb path;
};

static const char *const rule_names[] = {"self", "oldSelf"};

static struct schema *parse(struct parser *p, const struct tree *t);

/* ---- parts ---- */

static size_t enter(struct parser *p, const char *name)
{
    return path_field(&p->path, str_c(name));
}

static size_t enter_named(struct parser *p, const char *name, str key)
{
    size_t before = path_field(&p->path, str_c(name));

    sb_printf(&p->path, "[" STR_FMT "]", STR_ARG(key));
    return before;
}

static void leave(struct parser *p, size_t before)
{
    path_cut(&p->path, before);
}

/* The member if it is of this kind; a complaint if it is of another. */
static const struct tree *want(struct parser *p, const struct tree *t, const char *name, enum tree_kind kind)
{
    const struct tree *m = tree_get(t, name);

    if (!m || m->kind == kind)
        return m;
    size_t before = enter(p, name);
    cause_invalid(p->out, sb_view(&p->path), json_text(p->a, m), "must be %s", tree_kind_name(kind));
    leave(p, before);
    return NULL;
}

static str want_str(struct parser *p, const struct tree *t, const char *name)
{
    return tree_str(want(p, t, name, TREE_STRING));
}

static bool want_bool(struct parser *p, const struct tree *t, const char *name)
{
    return tree_is_true(want(p, t, name, TREE_BOOL));
}

static int64_t want_count(struct parser *p, const struct tree *t, const char *name)
{
    const struct tree *m = want(p, t, name, TREE_NUMBER);
    int64_t v;

    if (!m)
        return -1;
    if (tree_to_i64(m, &v) && v >= 0)
        return v;
    size_t before = enter(p, name);
    cause_invalid(p->out, sb_view(&p->path), m->text, "must be a whole number, not below zero");
    leave(p, before);
    return -1;
}

static bool want_number(struct parser *p, const struct tree *t, const char *name, double *ret)
{
    const struct tree *m = want(p, t, name, TREE_NUMBER);

    return m && str_to_double(m->text, ret);
}

static const str *want_texts(struct parser *p, const struct tree *t, const char *name, uint32_t *ret_n)
{
    const struct tree *m = want(p, t, name, TREE_LIST);
    str *v = arena_new_array(p->a, str, m ? m->n : 0);

    *ret_n = m ? m->n : 0;
    for (uint32_t i = 0; i < *ret_n; i++)
        v[i] = tree_str(&m->items[i]);
    return v;
}

/* ---- type ---- */

static enum schema_type parse_type(struct parser *p, const struct tree *t)
{
    static const enum schema_type types[] = {SCHEMA_OBJECT,  SCHEMA_LIST,   SCHEMA_STRING,
                                             SCHEMA_INTEGER, SCHEMA_NUMBER, SCHEMA_BOOLEAN};
    str name = want_str(p, t, "type");

    if (want_bool(p, t, "x-kubernetes-int-or-string"))
        return SCHEMA_INT_OR_STRING;
    for (size_t i = 0; i < ARRAY_LEN(types); i++)
        if (str_is(name, schema_type_name(types[i])))
            return types[i];
    if (name.n) {
        size_t before = enter(p, "type");

        cause_not_supported(
            p->out, sb_view(&p->path), json_text(p->a, tree_get(t, "type")),
            "supported values: \"array\", \"boolean\", \"integer\", \"number\", \"object\", \"string\"");
        leave(p, before);
    }
    return SCHEMA_ANY;
}

static void parse_list_type(struct parser *p, struct schema *s, const struct tree *t)
{
    str type = want_str(p, t, "x-kubernetes-list-type");

    s->list_keys = want_texts(p, t, "x-kubernetes-list-map-keys", &s->n_list_keys);
    s->list = str_is(type, "map") ? LIST_MAP : str_is(type, "set") ? LIST_SET : LIST_ATOMIC;
    size_t before = enter(p, "x-kubernetes-list-type");
    if (type.n && s->list == LIST_ATOMIC && !str_is(type, "atomic"))
        cause_not_supported(p->out, sb_view(&p->path), json_text(p->a, tree_get(t, "x-kubernetes-list-type")),
                            "supported values: \"atomic\", \"map\", \"set\"");
    leave(p, before);
    if (s->list == LIST_MAP && s->n_list_keys == 0) {
        before = enter(p, "x-kubernetes-list-map-keys");
        cause_required(p->out, sb_view(&p->path), "must not be empty if x-kubernetes-list-type is map");
        leave(p, before);
    }
}

/* ---- fields ---- */

static bool is_required(const struct tree *required, str name)
{
    for (uint32_t i = 0; required && i < required->n; i++)
        if (str_eq(tree_str(&required->items[i]), name))
            return true;
    return false;
}

/* Names that are required and not described stay fields of any type: alternatives (oneOf) often say no more than that. */
static void parse_fields(struct parser *p, struct schema *s, const struct tree *t)
{
    const struct tree *props = want(p, t, "properties", TREE_MAP), *required = want(p, t, "required", TREE_LIST);
    VEC(struct schema_field) fields = {0};

    for (uint32_t i = 0; props && i < props->n; i++) {
        size_t before = enter_named(p, "properties", props->keys[i]);

        vec_push(&fields, (struct schema_field){.name = props->keys[i],
                                                .schema = parse(p, &props->items[i]),
                                                .required = is_required(required, props->keys[i])});
        leave(p, before);
    }
    for (uint32_t i = 0; required && i < required->n; i++) {
        str name = tree_str(&required->items[i]);

        if (!props || !tree_find((struct tree *)props, name))
            vec_push(&fields, (struct schema_field){.name = name, .required = true});
    }
    s->fields = vec_to_arena(&fields, p->a);
    s->n_fields = fields.n;
    vec_fini(&fields);
}

static void parse_values(struct parser *p, struct schema *s, const struct tree *t)
{
    const struct tree *m = tree_get(t, "additionalProperties");

    if (!m)
        return;
    if (m->kind == TREE_BOOL) {
        s->preserve_unknown |= m->truth;
        return;
    }
    size_t before = enter(p, "additionalProperties");
    s->values = parse(p, m);
    leave(p, before);
}

static void parse_items(struct parser *p, struct schema *s, const struct tree *t)
{
    const struct tree *m = want(p, t, "items", TREE_MAP);
    size_t before = enter(p, "items");

    if (m)
        s->items = parse(p, m);
    else if (s->type == SCHEMA_LIST)
        cause_required(p->out, sb_view(&p->path), "must be specified");
    leave(p, before);
}

/* ---- bounds ---- */

static void parse_pattern(struct parser *p, struct schema *s, const struct tree *t)
{
    struct err e;

    s->pattern = want_str(p, t, "pattern");
    if (!s->pattern.n)
        return;
    s->regex = regex_compile(p->a, s->pattern, &e);
    if (s->regex)
        return;
    size_t before = enter(p, "pattern");
    cause_invalid(p->out, sb_view(&p->path), json_text(p->a, tree_get(t, "pattern")),
                  "must be a valid regular expression, but isn't: error parsing regexp: %s", e.msg);
    leave(p, before);
}

static void parse_bounds(struct parser *p, struct schema *s, const struct tree *t)
{
    const struct tree *values = want(p, t, "enum", TREE_LIST);

    s->has_min = want_number(p, t, "minimum", &s->min);
    s->has_max = want_number(p, t, "maximum", &s->max);
    s->exclusive_min = want_bool(p, t, "exclusiveMinimum");
    s->exclusive_max = want_bool(p, t, "exclusiveMaximum");
    if (!want_number(p, t, "multipleOf", &s->multiple_of))
        s->multiple_of = 0;
    s->min_length = want_count(p, t, "minLength");
    s->max_length = want_count(p, t, "maxLength");
    s->min_items = want_count(p, t, "minItems");
    s->max_items = want_count(p, t, "maxItems");
    s->min_props = want_count(p, t, "minProperties");
    s->max_props = want_count(p, t, "maxProperties");
    parse_pattern(p, s, t);
    if (values) {
        const struct tree **v = arena_new_array(p->a, const struct tree *, values->n);

        for (uint32_t i = 0; i < values->n; i++)
            v[i] = &values->items[i];
        s->one_of_values = v;
        s->n_values = values->n;
    }
}

static const struct schema *const *parse_alternatives(struct parser *p, const struct tree *t, const char *name,
                                                      uint32_t *ret_n)
{
    const struct tree *m = want(p, t, name, TREE_LIST);
    const struct schema **v = arena_new_array(p->a, const struct schema *, m ? m->n : 0);

    *ret_n = m ? m->n : 0;
    for (uint32_t i = 0; i < *ret_n; i++) {
        size_t before = enter(p, name);

        path_index(&p->path, i);
        v[i] = parse(p, &m->items[i]);
        leave(p, before);
    }
    return v;
}

/* ---- rules ---- */

static struct schema_rule parse_rule(struct parser *p, const struct tree *t)
{
    struct err e;
    struct schema_rule r = {
        .rule = want_str(p, t, "rule"),
        .message = want_str(p, t, "message"),
        .message_expr = want_str(p, t, "messageExpression"),
        .reason = want_str(p, t, "reason"),
        .field_path = want_str(p, t, "fieldPath"),
        .optional_old = want_bool(p, t, "optionalOldSelf"),
    };

    r.program = cel_compile(p->a, r.rule, rule_names, ARRAY_LEN(rule_names), &e);
    if (!r.program) {
        size_t before = enter(p, "rule");

        cause_invalid(p->out, sb_view(&p->path), json_text(p->a, tree_get(t, "rule")),
                      "compilation failed: ERROR: <input>:%s", e.msg);
        leave(p, before);
        return r;
    }
    r.uses_old = cel_uses(r.program, "oldSelf");
    r.keeps = !r.optional_old && str_is(str_trim(r.rule), "self == oldSelf");
    if (!r.message_expr.n)
        return r;
    r.message_program = cel_compile(p->a, r.message_expr, rule_names, ARRAY_LEN(rule_names), &e);
    if (!r.message_program) {
        size_t before = enter(p, "messageExpression");

        cause_invalid(p->out, sb_view(&p->path), json_text(p->a, tree_get(t, "messageExpression")),
                      "messageExpression compilation failed: ERROR: <input>:%s", e.msg);
        leave(p, before);
    }
    return r;
}

static void parse_rules(struct parser *p, struct schema *s, const struct tree *t)
{
    const struct tree *m = want(p, t, "x-kubernetes-validations", TREE_LIST);
    struct schema_rule *rules = arena_new_array(p->a, struct schema_rule, m ? m->n : 0);

    for (uint32_t i = 0; m && i < m->n; i++) {
        size_t before = enter(p, "x-kubernetes-validations");

        path_index(&p->path, i);
        rules[i] = parse_rule(p, &m->items[i]);
        leave(p, before);
    }
    s->rules = rules;
    s->n_rules = m ? m->n : 0;
}

static void add_rules_of(struct schema *s, const struct schema *child)
{
    s->rules_within |= child && child->rules_within;
    s->transitions_within |= child && child->transitions_within;
}

static void note_rules(struct schema *s)
{
    s->rules_within = s->n_rules > 0;
    for (uint32_t i = 0; i < s->n_rules; i++)
        s->transitions_within |= (s->rules[i].uses_old && !s->rules[i].keeps) || s->rules[i].optional_old;
    add_rules_of(s, s->values);
    add_rules_of(s, s->items);
    for (uint32_t i = 0; i < s->n_fields; i++)
        add_rules_of(s, s->fields[i].schema);
}

/* ---- all of it ---- */

static struct schema *parse(struct parser *p, const struct tree *t)
{
    struct schema *s = schema_new(p->a, SCHEMA_ANY);

    if (t->kind != TREE_MAP) {
        cause_invalid(p->out, sb_view(&p->path), json_text(p->a, t), "must be a map");
        return s;
    }
    s->type = parse_type(p, t);
    s->format = want_str(p, t, "format");
    s->description = want_str(p, t, "description");
    s->nullable = want_bool(p, t, "nullable");
    s->preserve_unknown = want_bool(p, t, "x-kubernetes-preserve-unknown-fields");
    s->embedded = want_bool(p, t, "x-kubernetes-embedded-resource");
    s->map_atomic = str_is(want_str(p, t, "x-kubernetes-map-type"), "atomic");
    s->def = tree_get(t, "default");
    parse_fields(p, s, t);
    parse_values(p, s, t);
    parse_items(p, s, t);
    parse_list_type(p, s, t);
    parse_bounds(p, s, t);
    s->all_of = parse_alternatives(p, t, "allOf", &s->n_all_of);
    s->any_of = parse_alternatives(p, t, "anyOf", &s->n_any_of);
    s->one_of = parse_alternatives(p, t, "oneOf", &s->n_one_of);
    const struct tree *not_ = want(p, t, "not", TREE_MAP);
    if (not_) {
        size_t before = enter(p, "not");

        s->not_ = parse(p, not_);
        leave(p, before);
    }
    parse_rules(p, s, t);
    note_rules(s);
    return s;
}

const struct schema *schema_from_openapi(struct arena *a, const struct tree *t, str path, struct causes *out)
{
    struct parser p = {.a = a, .out = out};
    uint32_t before = out->list.n;

    sb_str(&p.path, path);
    const struct schema *s = parse(&p, t);
    if (s->type != SCHEMA_OBJECT) {
        size_t cut = path_field(&p.path, STR("type"));

        cause_invalid(out, sb_view(&p.path), json_text(a, tree_get(t, "type")), "must be object at the root");
        path_cut(&p.path, cut);
    }
    sb_fini(&p.path);
    return out->list.n == before ? s : NULL;
}
