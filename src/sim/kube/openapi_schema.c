/* Schemas as OpenAPI writes them. Version 3 knows more words than version 2; both are written by the same functions. */
#include <stdio.h>

#include "base/map.h"
#include "base/vec.h"
#include "sim/kube/openapi_impl.h"

#define META "io.k8s.apimachinery.pkg.apis.meta.v1."

static void write_schema(struct openapi *o, const struct schema *s);

/* ---- names ---- */

static void write_ref_word(struct openapi *o, str name)
{
    jw_key(&o->w, "$ref");
    jw_str(&o->w, arena_printf(o->a, "#/%s/" STR_FMT, o->v2 ? "definitions" : "components/schemas", STR_ARG(name)));
}

void openapi_ref(struct openapi *o, str name)
{
    jw_map(&o->w);
    write_ref_word(o, name);
    jw_end(&o->w);
}

/* The group backwards: karpenter.sh is sh.karpenter. */
static void print_backwards(struct sb *b, str group)
{
    str head, tail;

    if (str_cut(group, '.', &head, &tail)) {
        print_backwards(b, tail);
        sb_char(b, '.');
    }
    sb_str(b, head);
}

str openapi_type(struct openapi *o, const struct kind *k)
{
    struct sb b = {0};

    if (k->schema && k->schema->name.n)
        return k->schema->name;
    print_backwards(&b, k->group);
    sb_printf(&b, "." STR_FMT "." STR_FMT, STR_ARG(k->version), STR_ARG(k->name));
    str s = sb_dup(&b, o->a);
    sb_fini(&b);
    return s;
}

str openapi_list_type(struct openapi *o, const struct kind *k)
{
    return arena_printf(o->a, STR_FMT "List", STR_ARG(openapi_type(o, k)));
}

static const struct schema *builtin_list(struct openapi *o, const struct kind *k)
{
    return schema_builtin(k->group, k->version, arena_printf(o->a, STR_FMT "List", STR_ARG(k->name)));
}

bool openapi_has_list(const struct kind *k)
{
    char name[128];
    int n = snprintf(name, sizeof(name), STR_FMT "List", STR_ARG(k->name));

    return k->crd ||
           (n > 0 && (size_t)n < sizeof(name) && schema_builtin(k->group, k->version, (str){name, (size_t)n}));
}

static bool is_named(const struct schema *s)
{
    return s->name.n > 0;
}

/* ---- words ---- */

static void word(struct openapi *o, const char *key, str value)
{
    if (!value.n)
        return;
    jw_key(&o->w, key);
    jw_str(&o->w, value);
}

static void flag(struct openapi *o, const char *key, bool value)
{
    if (!value)
        return;
    jw_key(&o->w, key);
    jw_bool(&o->w, true);
}

static void count(struct openapi *o, const char *key, int64_t value)
{
    if (value < 0)
        return;
    jw_key(&o->w, key);
    jw_i64(&o->w, value);
}

static void number(struct openapi *o, const char *key, bool there, double value)
{
    if (!there)
        return;
    jw_key(&o->w, key);
    jw_double(&o->w, value);
}

static void write_list_words(struct openapi *o, const struct schema *s)
{
    static const char *const types[] = {[LIST_ATOMIC] = "atomic", [LIST_SET] = "set", [LIST_MAP] = "map"};

    if (s->n_list_keys) {
        jw_key(&o->w, "x-kubernetes-list-map-keys");
        jw_list(&o->w);
        for (uint32_t i = 0; i < s->n_list_keys; i++)
            jw_str(&o->w, s->list_keys[i]);
        jw_end(&o->w);
    }
    if (s->type == SCHEMA_LIST)
        word(o, "x-kubernetes-list-type", str_c(types[s->list]));
}

static void write_patch_words(struct openapi *o, const struct schema *s)
{
    const char *strategy = s->patch_merge && s->patch_retain_keys ? "merge,retainKeys"
                           : s->patch_merge                       ? "merge"
                           : s->patch_retain_keys                 ? "retainKeys"
                           : s->patch_replace                     ? "replace"
                                                                  : NULL;

    word(o, "x-kubernetes-patch-merge-key", s->merge_key);
    word(o, "x-kubernetes-patch-strategy", str_c(strategy));
    if (s->map_atomic)
        word(o, "x-kubernetes-map-type", STR("atomic"));
}

static void write_bounds(struct openapi *o, const struct schema *s)
{
    number(o, "minimum", s->has_min, s->min);
    number(o, "maximum", s->has_max, s->max);
    number(o, "multipleOf", s->multiple_of > 0, s->multiple_of);
    flag(o, "exclusiveMinimum", s->exclusive_min);
    flag(o, "exclusiveMaximum", s->exclusive_max);
    count(o, "minLength", s->min_length);
    count(o, "maxLength", s->max_length);
    count(o, "minItems", s->min_items);
    count(o, "maxItems", s->max_items);
    count(o, "minProperties", s->min_props);
    count(o, "maxProperties", s->max_props);
    word(o, "pattern", s->pattern);
}

static void write_enum(struct openapi *o, const struct schema *s)
{
    if (s->n_values == 0)
        return;
    jw_key(&o->w, "enum");
    jw_list(&o->w);
    for (uint32_t i = 0; i < s->n_values; i++)
        jw_tree(&o->w, s->one_of_values[i]);
    jw_end(&o->w);
}

static void write_rules(struct openapi *o, const struct schema *s)
{
    if (s->n_rules == 0)
        return;
    jw_key(&o->w, "x-kubernetes-validations");
    jw_list(&o->w);
    for (uint32_t i = 0; i < s->n_rules; i++) {
        const struct schema_rule *r = &s->rules[i];

        jw_map(&o->w);
        word(o, "rule", r->rule);
        word(o, "message", r->message);
        word(o, "messageExpression", r->message_expr);
        word(o, "reason", r->reason);
        word(o, "fieldPath", r->field_path);
        flag(o, "optionalOldSelf", r->optional_old);
        jw_end(&o->w);
    }
    jw_end(&o->w);
}

/* ---- shapes ---- */

/* Quantities and numbers-or-names are one of two types, which version 2 can only call a text. */
static void write_either(struct openapi *o, const char *one, const char *other)
{
    if (o->v2) {
        word(o, "type", STR("string"));
        return;
    }
    jw_key(&o->w, "oneOf");
    jw_list(&o->w);
    jw_map(&o->w);
    word(o, "type", str_c(one));
    jw_end(&o->w);
    jw_map(&o->w);
    word(o, "type", str_c(other));
    jw_end(&o->w);
    jw_end(&o->w);
}

static void write_type(struct openapi *o, const struct schema *s)
{
    switch (s->type) {
    case SCHEMA_QUANTITY:
        write_either(o, "string", "number");
        break;
    case SCHEMA_INT_OR_STRING:
        if (!is_named(s))
            flag(o, "x-kubernetes-int-or-string", true);
        else {
            write_either(o, "integer", "string");
            word(o, "format", STR("int-or-string"));
        }
        break;
    case SCHEMA_ANY:
    case SCHEMA_OBJECT:
    case SCHEMA_LIST:
    case SCHEMA_STRING:
    case SCHEMA_INTEGER:
    case SCHEMA_NUMBER:
    case SCHEMA_BOOLEAN:
        word(o, "type", str_c(schema_type_name(s->type)));
        word(o, "format", s->format);
        break;
    }
}

static void write_mention(struct openapi *o, const struct schema *s);

static const char *const heads[] = {"apiVersion", "kind", NULL};

static void write_required(struct openapi *o, const struct schema *s)
{
    bool any = s->embedded;

    if (any) {
        jw_key(&o->w, "required");
        jw_list(&o->w);
        for (const char *const *head = heads; *head; head++)
            jw_c(&o->w, *head);
    }
    for (uint32_t i = 0; i < s->n_fields; i++)
        if (s->fields[i].required) {
            if (!any) {
                jw_key(&o->w, "required");
                jw_list(&o->w);
            }
            any = true;
            jw_str(&o->w, s->fields[i].name);
        }
    if (any)
        jw_end(&o->w);
}

/* Every object has these, whether its schema says so or not. */
static void write_heads(struct openapi *o)
{
    for (const char *const *head = heads; *head; head++) {
        jw_key(&o->w, *head);
        jw_map(&o->w);
        word(o, "type", STR("string"));
        jw_end(&o->w);
    }
}

static bool is_head(str name)
{
    return str_is(name, heads[0]) || str_is(name, heads[1]) || str_is(name, "metadata");
}

/* `object`: it is a whole object, custom or embedded in another. */
static void write_fields(struct openapi *o, const struct schema *s, bool object)
{
    if (s->n_fields == 0 && !object)
        return;
    jw_key(&o->w, "properties");
    jw_map(&o->w);
    if (object) {
        write_heads(o);
        jw_key(&o->w, "metadata");
        openapi_ref(o, schema_object_meta()->name);
    }
    for (uint32_t i = 0; i < s->n_fields; i++) {
        const struct schema_field *f = &s->fields[i];

        if (!f->schema || (object && is_head(f->name)))
            continue;
        jw_key_str(&o->w, f->name);
        write_mention(o, f->schema);
    }
    jw_end(&o->w);
}

static void write_alternatives(struct openapi *o, const char *key, const struct schema *const *of, uint32_t n)
{
    if (n == 0)
        return;
    jw_key(&o->w, key);
    jw_list(&o->w);
    for (uint32_t i = 0; i < n; i++)
        write_schema(o, of[i]);
    jw_end(&o->w);
}

/* What version 2 has no words for. */
static void write_v3_words(struct openapi *o, const struct schema *s)
{
    if (s->def) {
        jw_key(&o->w, "default");
        jw_tree(&o->w, s->def);
    }
    flag(o, "nullable", s->nullable);
    write_alternatives(o, "allOf", s->all_of, s->n_all_of);
    write_alternatives(o, "anyOf", s->any_of, s->n_any_of);
    write_alternatives(o, "oneOf", s->one_of, s->n_one_of);
    if (s->not_) {
        jw_key(&o->w, "not");
        write_schema(o, s->not_);
    }
}

/* Without the braces. */
static void write_body(struct openapi *o, const struct schema *s)
{
    word(o, "description", s->description);
    write_type(o, s);
    if (s->items) {
        jw_key(&o->w, "items");
        write_mention(o, s->items);
    }
    if (s->values) {
        jw_key(&o->w, "additionalProperties");
        write_mention(o, s->values);
    }
    write_required(o, s);
    write_enum(o, s);
    write_bounds(o, s);
    if (!o->v2)
        write_v3_words(o, s);
    if (s->type == SCHEMA_LIST && (s->list != LIST_ATOMIC || s->name.n == 0))
        write_list_words(o, s);
    write_patch_words(o, s);
    if (!is_named(s))
        flag(o, "x-kubernetes-preserve-unknown-fields", s->preserve_unknown);
    flag(o, "x-kubernetes-embedded-resource", s->embedded);
    write_rules(o, s);
}

static void write_schema(struct openapi *o, const struct schema *s)
{
    jw_map(&o->w);
    write_body(o, s);
    write_fields(o, s, s->embedded);
    jw_end(&o->w);
}

/* A type by name, with what is said of it in this place only. */
static void write_mention(struct openapi *o, const struct schema *s)
{
    if (!is_named(s)) {
        write_schema(o, s);
        return;
    }
    if (schema_type(s->name) == s) {
        openapi_ref(o, s->name);
        return;
    }
    jw_map(&o->w);
    if (o->v2)
        write_ref_word(o, s->name);
    else {
        jw_key(&o->w, "allOf");
        jw_list(&o->w);
        openapi_ref(o, s->name);
        jw_end(&o->w);
    }
    if (s->def && !o->v2) {
        jw_key(&o->w, "default");
        jw_tree(&o->w, s->def);
    }
    write_patch_words(o, s);
    jw_end(&o->w);
}

/* ---- kinds ---- */

static void write_gvk(struct openapi *o, const struct kind *k, const char *suffix)
{
    jw_key(&o->w, "x-kubernetes-group-version-kind");
    jw_list(&o->w);
    jw_map(&o->w);
    jw_key(&o->w, "group");
    jw_str(&o->w, k->group);
    jw_key(&o->w, "kind");
    jw_str(&o->w, arena_printf(o->a, STR_FMT "%s", STR_ARG(k->name), suffix));
    jw_key(&o->w, "version");
    jw_str(&o->w, k->version);
    jw_end(&o->w);
    jw_end(&o->w);
}

static void write_custom(struct openapi *o, const struct kind *k)
{
    jw_map(&o->w);
    write_body(o, k->schema);
    write_fields(o, k->schema, /* object= */ true);
    write_gvk(o, k, "");
    jw_end(&o->w);
}

static void write_custom_list(struct openapi *o, const struct kind *k)
{
    jw_map(&o->w);
    word(o, "type", STR("object"));
    jw_key(&o->w, "required");
    jw_list(&o->w);
    jw_str(&o->w, STR("items"));
    jw_end(&o->w);
    jw_key(&o->w, "properties");
    jw_map(&o->w);
    write_heads(o);
    jw_key(&o->w, "items");
    jw_map(&o->w);
    word(o, "type", STR("array"));
    jw_key(&o->w, "items");
    openapi_ref(o, openapi_type(o, k));
    jw_end(&o->w);
    jw_key(&o->w, "metadata");
    openapi_ref(o, STR(META "ListMeta"));
    jw_end(&o->w);
    write_gvk(o, k, "List");
    jw_end(&o->w);
}

/* ---- all that is needed ---- */

/* An entry of the document: a type by name, or one that a custom kind makes. */
struct entry {
    str name;
    const struct schema *schema;
    const struct kind *kind; /* with schema NULL: custom; otherwise the kind that the type stands for */
    bool list;
};

struct entries {
    VEC(struct entry) v;
    struct strmap seen;
};

static void add(struct entries *e, struct entry entry)
{
    strmap_put(&e->seen, entry.name, e->v.n);
    vec_push(&e->v, entry);
}

static void need(struct entries *e, const struct schema *s, const struct kind *k, bool list)
{
    if (!s || (is_named(s) && strmap_get(&e->seen, s->name) != MAP_NONE))
        return;
    if (is_named(s))
        add(e, (struct entry){.name = s->name, .schema = schema_type(s->name), .kind = k, .list = list});
    need(e, s->items, NULL, false);
    need(e, s->values, NULL, false);
    for (uint32_t i = 0; i < s->n_fields; i++)
        need(e, s->fields[i].schema, NULL, false);
}

static int by_name(const void *a, const void *b, void *ctx UNUSED)
{
    return str_cmp(((const struct entry *)a)->name, ((const struct entry *)b)->name);
}

static void need_kind(struct openapi *o, struct entries *e, const struct kind *k)
{
    if (k->crd) {
        add(e, (struct entry){.name = openapi_type(o, k), .kind = k});
        add(e, (struct entry){.name = openapi_list_type(o, k), .kind = k, .list = true});
        return;
    }
    need(e, k->schema, k, false);
    need(e, builtin_list(o, k), k, true);
}

static void write_entry(struct openapi *o, const struct entry *e)
{
    jw_key_str(&o->w, e->name);
    if (!e->schema && e->list)
        write_custom_list(o, e->kind);
    else if (!e->schema)
        write_custom(o, e->kind);
    else {
        jw_map(&o->w);
        write_body(o, e->schema);
        write_fields(o, e->schema, false);
        if (e->kind)
            write_gvk(o, e->kind, e->list ? "List" : "");
        jw_end(&o->w);
    }
}

void openapi_schemas(struct openapi *o, const struct kind *const *kinds, uint32_t n)
{
    static const char *const common[] = {"Status", "DeleteOptions", "Patch"};
    struct entries e = {0};

    for (uint32_t i = 0; i < n; i++)
        need_kind(o, &e, kinds[i]);
    for (size_t i = 0; i < ARRAY_LEN(common); i++)
        need(&e, schema_builtin(STR(""), STR("v1"), str_c(common[i])), NULL, false);
    need(&e, schema_object_meta(), NULL, false);
    need(&e, schema_type(STR(META "ListMeta")), NULL, false);
    sort_stable(e.v.v, e.v.n, sizeof(struct entry), by_name, NULL);
    jw_map(&o->w);
    for (uint32_t i = 0; i < e.v.n; i++)
        write_entry(o, &e.v.v[i]);
    jw_end(&o->w);
    vec_fini(&e.v);
    strmap_fini(&e.seen);
}
