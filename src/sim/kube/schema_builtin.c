/* Built-in kinds, out of the text that tools/kube-schema writes (its grammar is described there).
 *
 * The text is indexed by type once, at the first question; a type is parsed when something that was asked for mentions it, and
 * kept for good. Types may mention themselves: a type is entered before its fields are read.
 */
#include "base/map.h"
#include "base/vec.h"
#include "data/reader.h"
#include "sim/kube/schema_impl.h"

static const char text[] =
#include "sim/kube/builtin_data.inc"
    ;

struct builtin_type {
    str name, words, body; /* of the line that names it; the lines of its fields */
    struct schema *schema; /* NULL: not asked for yet */
    bool done;
};

struct builtin_kind {
    str group, version, kind, type;
};

static struct {
    struct arena *a; /* lives as long as the process */
    VEC(struct builtin_type) types;
    VEC(struct builtin_kind) kinds;
    struct strmap by_name; /* index in types */
} builtin;

static const struct schema *resolve(str name);

static str next_word(str *line)
{
    str word, rest;

    str_cut(*line, ' ', &word, &rest);
    *line = rest;
    return word;
}

static void index_kind(str line)
{
    str group = next_word(&line), version = next_word(&line), kind = next_word(&line);

    if (str_is(group, "-"))
        group = (str){0};
    vec_push(&builtin.kinds, (struct builtin_kind){group, version, kind, line});
}

static void index_text(void)
{
    str rest = {text, sizeof(text) - 1}, line;

    builtin.a = arena_new(0);
    while (rest.n) {
        const char *start = rest.p;

        str_cut(rest, '\n', &line, &rest);
        if (line.p[0] == ' ') {
            vec_last(&builtin.types).body.n = (size_t)(line.p + line.n + 1 - vec_last(&builtin.types).body.p);
            continue;
        }
        str what = next_word(&line);
        if (str_is(what, "kind"))
            index_kind(line);
        else if (str_is(what, "type")) {
            str name = next_word(&line);

            strmap_put(&builtin.by_name, name, builtin.types.n);
            vec_push(&builtin.types, (struct builtin_type){.name = name, .words = line, .body = {rest.p, 0}});
        } else
            assert(str_is(what, "version") && start == text);
    }
}

/* ---- shapes ---- */

static struct schema *parse_scalar(str shape)
{
    static const struct {
        const char *name;
        enum schema_type type;
    } shapes[] = {
        {"any", SCHEMA_ANY},      {"object", SCHEMA_OBJECT},     {"string", SCHEMA_STRING},
        {"int", SCHEMA_INTEGER},  {"number", SCHEMA_NUMBER},     {"int-or-string", SCHEMA_INT_OR_STRING},
        {"bool", SCHEMA_BOOLEAN}, {"quantity", SCHEMA_QUANTITY},
    };
    str name, format;

    str_cut(shape, ':', &name, &format);
    for (size_t i = 0; i < ARRAY_LEN(shapes); i++)
        if (str_is(name, shapes[i].name)) {
            struct schema *s = schema_new(builtin.a, shapes[i].type);

            s->format = format;
            s->preserve_unknown = s->type == SCHEMA_OBJECT; /* an object that says nothing of its fields */
            return s;
        }
    assert(false); /* tools/kube-schema writes no other */
    return NULL;
}

/* A type by name is shared by all who mention it, unless there is more to say of it in this place. */
static struct schema *parse_reference(str name, bool plain)
{
    const struct schema *s = resolve(name);
    uint32_t ix = strmap_get(&builtin.by_name, name);

    if (plain)
        return builtin.types.v[ix].schema;
    assert(builtin.types.v[ix].done);
    return arena_dup_array(builtin.a, struct schema, s, 1);
}

static struct schema *parse_shape(str shape, bool plain)
{
    if (shape.p[0] == '@')
        return parse_reference(str_sub(shape, 1, shape.n), plain);
    if (str_starts(shape, STR("[]"))) {
        struct schema *s = schema_new(builtin.a, SCHEMA_LIST);

        s->items = parse_shape(str_sub(shape, 2, shape.n), true);
        return s;
    }
    if (str_starts(shape, STR("{}"))) {
        struct schema *s = schema_new(builtin.a, SCHEMA_OBJECT);

        s->values = parse_shape(str_sub(shape, 2, shape.n), true);
        return s;
    }
    return parse_scalar(shape);
}

/* ---- words ---- */

static const str *split_commas(str list, uint32_t *ret_n)
{
    VEC(str) parts = {0};
    str part;
    bool more = true;

    while (more) {
        more = str_cut(list, ',', &part, &list);
        vec_push(&parts, part);
    }
    const str *v = vec_to_arena(&parts, builtin.a);
    *ret_n = parts.n;
    vec_fini(&parts);
    return v;
}

static void set_enum(struct schema *s, str list)
{
    const str *values = split_commas(list, &s->n_values);
    const struct tree **trees = arena_new_array(builtin.a, const struct tree *, s->n_values);

    for (uint32_t i = 0; i < s->n_values; i++) {
        struct tree t = {.kind = TREE_STRING, .text = values[i]};

        trees[i] = arena_dup_array(builtin.a, struct tree, &t, 1);
    }
    s->one_of_values = trees;
}

static void set_default(struct schema *s, str json)
{
    struct err e;
    bool ok = tree_parse_json(builtin.a, "default", json, &s->def, &e);

    assert(ok);
    (void)ok;
}

static void apply_words(struct schema *s, str words, struct schema_field *f)
{
    while (words.n) {
        str value, name;

        str_cut(next_word(&words), '=', &name, &value);
        if (str_is(name, "set"))
            s->list = LIST_SET;
        else if (str_is(name, "map")) {
            s->list = LIST_MAP;
            s->list_keys = split_commas(value, &s->n_list_keys);
        } else if (str_is(name, "merge")) {
            s->patch_merge = true;
            s->merge_key = value;
        } else if (str_is(name, "retain"))
            s->patch_retain_keys = true;
        else if (str_is(name, "replace"))
            s->patch_replace = true;
        else if (str_is(name, "atomic"))
            s->map_atomic = true;
        else if (str_is(name, "default"))
            set_default(s, value);
        else if (str_is(name, "enum"))
            set_enum(s, value);
        else if (str_is(name, "go") && f)
            f->go = value;
        else if (str_is(name, "in") && f)
            f->embedded = value;
        else if (str_is(name, "always") && f)
            f->always = true;
        else
            assert(false); /* tools/kube-schema writes no other */
    }
}

/* Words that are kept with the field leave the type as it is. */
static bool says_nothing_of_type(str words)
{
    while (words.n) {
        str word = next_word(&words);

        if (!str_starts(word, STR("go=")) && !str_starts(word, STR("in=")) && !str_is(word, "always"))
            return false;
    }
    return true;
}

static struct schema_field parse_field(str line)
{
    str name = next_word(&line), shape = next_word(&line);
    bool required = name.p[name.n - 1] == '!';
    struct schema_field f = {.name = str_sub(name, 0, name.n - required), .required = required};
    struct schema *s = parse_shape(shape, says_nothing_of_type(line));

    apply_words(s, line, &f);
    f.schema = s;
    return f;
}

/* ---- types ---- */

static struct schema *parse_alias(str words)
{
    str shape = next_word(&words);
    struct schema *s = parse_shape(shape, false);

    apply_words(s, words, NULL);
    return s;
}

static void parse_struct(struct schema *s, str words, str body)
{
    VEC(struct schema_field) fields = {0};
    str line;

    apply_words(s, words, NULL);
    while (body.n) {
        str_cut(body, '\n', &line, &body);
        vec_push(&fields, parse_field(str_sub(line, 1, line.n)));
    }
    s->fields = vec_to_arena(&fields, builtin.a);
    s->n_fields = fields.n;
    vec_fini(&fields);
}

static const struct schema *resolve(str name)
{
    uint32_t ix = strmap_get(&builtin.by_name, name);

    assert(ix != MAP_NONE);
    struct builtin_type *t = &builtin.types.v[ix]; /* types do not move any more: all are indexed */
    if (t->schema)
        return t->schema;
    if (str_starts(t->words, STR("= "))) {
        t->schema = parse_alias(str_sub(t->words, 2, t->words.n));
        t->schema->name = name;
    } else {
        t->schema = schema_new(builtin.a, SCHEMA_OBJECT);
        t->schema->name = name;
        parse_struct(t->schema, t->words, t->body);
    }
    t->done = true;
    return t->schema;
}

const struct schema *schema_type(str name)
{
    if (!builtin.a)
        index_text();
    return strmap_get(&builtin.by_name, name) == MAP_NONE ? NULL : resolve(name);
}

const struct schema *schema_builtin(str group, str version, str kind)
{
    if (!builtin.a)
        index_text();
    for (uint32_t i = 0; i < builtin.kinds.n; i++) {
        const struct builtin_kind *k = &builtin.kinds.v[i];

        if (str_eq(k->kind, kind) && str_eq(k->group, group) && str_eq(k->version, version))
            return resolve(k->type);
    }
    return NULL;
}
