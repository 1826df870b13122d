/* x-kubernetes-validations: rules in CEL, asked of every value that has some.
 *
 * A rule sees the value through its schema: fields that the schema does not know are not there, texts of the formats date-time
 * and duration are times, names that CEL cannot spell are escaped. Of a whole object's metadata only the names are seen.
 */
#include <stdlib.h>

#include "base/vec.h"
#include "data/edit.h"
#include "data/json.h"
#include "model/cel.h"
#include "model/duration.h"
#include "sim/kube/schema_impl.h"
#include "sim/kube/status.h"

struct asker {
    struct arena *scratch; /* rewound after every rule */
    struct sb path;
    struct causes *out;
    bool old_is_valid;
};

/* ---- names ---- */

static bool is_keyword(str name)
{
    static const char *const words[] = {"true",     "false",   "null",      "in",       "as",  "break",  "const",
                                        "continue", "else",    "for",       "function", "if",  "import", "let",
                                        "loop",     "package", "namespace", "return",   "var", "void",   "while"};

    for (size_t i = 0; i < ARRAY_LEN(words); i++)
        if (str_is(name, words[i]))
            return true;
    return false;
}

/* The name as an expression writes it: a.b is a__dot__b, namespace is __namespace__. */
static str escape_name(struct arena *a, str name)
{
    static const struct {
        const char *from, *to;
    } parts[] = {{"__", "__underscores__"}, {".", "__dot__"}, {"-", "__dash__"}, {"/", "__slash__"}};
    struct sb b = {0};
    bool changed = false;

    if (is_keyword(name))
        return arena_printf(a, "__" STR_FMT "__", STR_ARG(name));
    for (size_t at = 0; at < name.n;) {
        size_t i = 0;

        while (i < ARRAY_LEN(parts) && !str_starts(str_sub(name, at, name.n), str_c(parts[i].from)))
            i++;
        if (i == ARRAY_LEN(parts))
            sb_char(&b, name.p[at++]);
        else {
            sb_c(&b, parts[i].to);
            at += strlen(parts[i].from);
            changed = true;
        }
    }
    str s = changed ? sb_dup(&b, a) : name;
    sb_fini(&b);
    return s;
}

/* ---- values ---- */

static bool value_of(struct arena *a, const struct schema *s, const struct tree *t, bool root, struct cel_value *ret);

static bool text_value(const struct schema *s, str text, struct cel_value *ret)
{
    struct err e;
    int64_t v;

    *ret = (struct cel_value){.kind = CEL_STRING, .s = text};
    if (str_is(s->format, "duration") && duration_parse(text, &v, &e))
        *ret = (struct cel_value){.kind = CEL_DURATION, .i = v};
    else if (str_is(s->format, "date-time") && time_parse_rfc3339(text, &v, &e)) {
        int64_t ms = (v % 1000 + 1000) % 1000;

        *ret = (struct cel_value){.kind = CEL_TIMESTAMP, .i = (v - ms) / 1000, .n = (uint32_t)ms * 1000000};
    }
    return true;
}

static bool number_value(const struct schema *s, const struct tree *t, struct cel_value *ret)
{
    int64_t i;
    double d;

    if (s->type != SCHEMA_NUMBER && tree_to_i64(t, &i))
        *ret = (struct cel_value){.kind = CEL_INT, .i = i};
    else if (!str_to_double(t->text, &d))
        return false;
    else if (s->type == SCHEMA_INTEGER && d > -9e18 && d < 9e18)
        *ret = (struct cel_value){.kind = CEL_INT, .i = (int64_t)d};
    else
        *ret = (struct cel_value){.kind = CEL_DOUBLE, .d = d};
    return true;
}

static const str *escape_names(struct arena *a, const str *names, uint32_t n)
{
    str *v = arena_new_array(a, str, n);

    for (uint32_t i = 0; i < n; i++)
        v[i] = escape_name(a, names[i]);
    return v;
}

static bool list_value(struct arena *a, const struct schema *s, const struct tree *t, struct cel_value *ret)
{
    *ret = (struct cel_value){.kind = CEL_LIST, .items = arena_new_array(a, struct cel_value, t->n)};
    for (uint32_t i = 0; i < t->n; i++)
        if (s->items && value_of(a, s->items, &t->items[i], false, &ret->items[ret->n]))
            ret->n++;
    if (s->list == LIST_SET)
        ret->list = CEL_SET_LIST;
    if (s->list == LIST_MAP) {
        ret->list = CEL_MAP_LIST;
        ret->list_keys = escape_names(a, s->list_keys, s->n_list_keys);
        ret->n_list_keys = s->n_list_keys;
    }
    return true;
}

/* name and generateName of the whole object, and of objects within it. */
static bool head_value(struct arena *a, str name, const struct tree *t, struct cel_value *ret)
{
    static const char *const visible[] = {"name", "generateName"};

    if (!str_is(name, "metadata")) {
        *ret = (struct cel_value){.kind = CEL_STRING, .s = tree_str(t)};
        return t->kind == TREE_STRING;
    }
    *ret = (struct cel_value){.kind = CEL_MAP};
    ret->items = arena_new_array(a, struct cel_value, ARRAY_LEN(visible));
    ret->keys = arena_new_array(a, struct cel_value, ARRAY_LEN(visible));
    for (size_t i = 0; i < ARRAY_LEN(visible); i++) {
        const struct tree *m = tree_get(t, visible[i]);

        if (!m || m->kind != TREE_STRING)
            continue;
        ret->keys[ret->n] = (struct cel_value){.kind = CEL_STRING, .s = str_c(visible[i])};
        ret->items[ret->n++] = (struct cel_value){.kind = CEL_STRING, .s = m->text};
    }
    return true;
}

static bool map_value(struct arena *a, const struct schema *s, const struct tree *t, bool root, struct cel_value *ret)
{
    *ret = (struct cel_value){.kind = CEL_MAP};
    ret->items = arena_new_array(a, struct cel_value, t->n);
    ret->keys = arena_new_array(a, struct cel_value, t->n);
    for (uint32_t i = 0; i < t->n; i++) {
        const struct schema_field *f = schema_field(s, t->keys[i]);
        bool head = (root || s->embedded) &&
                    (str_is(t->keys[i], "apiVersion") || str_is(t->keys[i], "kind") || str_is(t->keys[i], "metadata"));
        const struct schema *child = f ? f->schema : s->values;
        struct cel_value *to = &ret->items[ret->n];

        if (!(head ? head_value(a, t->keys[i], &t->items[i], to)
                   : child && value_of(a, child, &t->items[i], false, to)))
            continue;
        ret->keys[ret->n++] =
            (struct cel_value){.kind = CEL_STRING, .s = f || head ? escape_name(a, t->keys[i]) : t->keys[i]};
    }
    return true;
}

/* False for what a rule does not see. */
static bool value_of(struct arena *a, const struct schema *s, const struct tree *t, bool root, struct cel_value *ret)
{
    switch (t->kind) {
    case TREE_NULL:
        *ret = (struct cel_value){.kind = CEL_NULL};
        return s->nullable;
    case TREE_BOOL:
        *ret = (struct cel_value){.kind = CEL_BOOL, .b = t->truth};
        return true;
    case TREE_NUMBER:
        return number_value(s, t, ret);
    case TREE_STRING:
        return text_value(s, t->text, ret);
    case TREE_LIST:
        return list_value(a, s, t, ret);
    case TREE_MAP:
        return map_value(a, s, t, root, ret);
    }
    return false;
}

/* ---- complaints ---- */

static bool is_scalar(const struct tree *t)
{
    return t->kind != TREE_LIST && t->kind != TREE_MAP;
}

static str sentence(struct asker *k, const struct schema_rule *r, const struct cel_value *vars)
{
    struct cel_value v;
    struct err e;

    if (r->message_program && cel_eval(r->message_program, k->scratch, vars, &v, &e) && v.kind == CEL_STRING &&
        str_trim(v.s).n && !str_contains(v.s, STR("\n")))
        return str_trim(v.s);
    if (r->message.n)
        return r->message;
    return arena_printf(k->scratch, "failed rule: " STR_FMT, STR_ARG(str_trim(r->rule)));
}

/* A field that a rule names takes the complaint; its value is not shown then. */
static void complain(struct asker *k, const struct schema_rule *r, const struct tree *t, str message)
{
    size_t before = k->path.n;
    str value = r->field_path.n || !is_scalar(t) ? (str){0} : json_text(k->scratch, t);

    if (r->field_path.n)
        sb_str(&k->path, k->path.n ? r->field_path : str_sub(r->field_path, 1, r->field_path.n));
    str field = k->path.n ? sb_view(&k->path) : STR("<nil>");
    if (str_is(r->reason, "FieldValueRequired"))
        cause_required(k->out, field, STR_FMT, STR_ARG(message));
    else if (str_is(r->reason, "FieldValueForbidden"))
        cause_forbidden(k->out, field, STR_FMT, STR_ARG(message));
    else if (str_is(r->reason, "FieldValueDuplicate"))
        cause_duplicate(k->out, field, value);
    else
        cause_invalid(k->out, field, value, STR_FMT, STR_ARG(message));
    path_cut(&k->path, before);
}

static void complain_of_error(struct asker *k, const struct schema *s, const struct schema_rule *r, const char *why)
{
    str rule = r->message.n ? r->message : str_trim(r->rule);

    cause_invalid(k->out, k->path.n ? sb_view(&k->path) : STR("<nil>"),
                  arena_printf(k->scratch, "\"%s\"", schema_type_name(s->type)), "%s evaluating rule: " STR_FMT, why,
                  STR_ARG(rule));
}

/* ---- asking ---- */

static void ask(struct asker *k, const struct schema *s, const struct schema_rule *r, const struct tree *t,
                struct cel_value *vars)
{
    struct cel_value v;
    struct err e;

    if (!cel_eval(r->program, k->scratch, vars, &v, &e))
        complain_of_error(k, s, r, e.msg);
    else if (v.kind != CEL_BOOL)
        complain_of_error(k, s, r, "the rule is not true or false,");
    else if (!v.b)
        complain(k, r, t, sentence(k, r, vars));
}

/* A rule about the old value is asked when there is one, or when it says that it can do without. */
static void ask_rules(struct asker *k, const struct schema *s, const struct tree *t, const struct tree *old, bool root,
                      bool same)
{
    struct cel_value vars[2] = {0}, was;
    bool has_old = old && old->kind == t->kind && value_of(k->scratch, s, old, root, &was);

    if (!value_of(k->scratch, s, t, root, &vars[0]))
        return;
    for (uint32_t i = 0; i < s->n_rules; i++) {
        const struct schema_rule *r = &s->rules[i];

        if (r->uses_old && !has_old && !r->optional_old)
            continue;
        if (same && (r->keeps || (!r->uses_old && !r->optional_old)))
            continue; /* it holds, as it did */
        if (has_old)
            vars[1] = was;
        if (r->optional_old)
            vars[1] = (struct cel_value){.kind = CEL_OPTIONAL, .n = has_old, .items = &was};
        ask(k, s, r, t, vars);
    }
}

static void walk(struct asker *k, const struct schema *s, const struct tree *t, const struct tree *old, bool root)
{
    struct arena_mark mark = arena_mark(k->scratch);

    if (!s->rules_within)
        return;
    bool same = k->old_is_valid && old && tree_same(t, old);
    if (same && !s->transitions_within)
        return;
    if (s->n_rules)
        ask_rules(k, s, t, old, root, same);
    arena_rewind(k->scratch, mark);
    for (uint32_t i = 0; t->kind == TREE_LIST && s->items && i < t->n; i++) {
        size_t before = path_index(&k->path, i);

        walk(k, s->items, &t->items[i], schema_counterpart(s, old, &t->items[i]), false);
        path_cut(&k->path, before);
    }
    for (uint32_t i = 0; t->kind == TREE_MAP && i < t->n; i++) {
        const struct schema *child = schema_child(s, t->keys[i]);
        size_t before = path_field(&k->path, t->keys[i]);

        if (child)
            walk(k, child, &t->items[i],
                 old && old->kind == TREE_MAP ? tree_find((struct tree *)old, t->keys[i]) : NULL, false);
        path_cut(&k->path, before);
    }
}

void schema_check_rules(const struct schema *s, const struct tree *obj, const struct tree *old, bool old_is_valid,
                        struct causes *out)
{
    struct asker k = {.scratch = arena_new(0), .out = out, .old_is_valid = old_is_valid};

    walk(&k, s, obj, old, /* root= */ true);
    sb_fini(&k.path);
    arena_free(k.scratch);
}
