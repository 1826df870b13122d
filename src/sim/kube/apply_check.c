/* Whether a configuration fits its schema, in the words of a real server. */
#include "base/vec.h"
#include "data/edit.h"
#include "sim/kube/apply_impl.h"
#include "sim/kube/patch.h"
#include "sim/kube/patch_impl.h"
#include "sim/kube/typed.h"

#define MAX_ERRORS 100u

struct check {
    struct arena *a;
    struct sb path; /* .spec.items[name="a"] */
    VEC(str) errors;
};

static void wrong(struct check *c, str what)
{
    str path = sb_view(&c->path);

    if (c->errors.n < MAX_ERRORS)
        vec_push(&c->errors, arena_printf(c->a, STR_FMT ": " STR_FMT, STR_ARG(path), STR_ARG(what)));
}

/* A value as Go's %#v prints it. */
static void go_syntax(struct sb *out, const struct tree *t)
{
    if (t->kind != TREE_MAP && t->kind != TREE_LIST) {
        fields_json(out, t);
        return;
    }
    sb_c(out, t->kind == TREE_MAP ? "map[string]interface {}{" : "[]interface {}{");
    for (uint32_t i = 0; i < t->n; i++) {
        sb_c(out, i ? ", " : "");
        if (t->kind == TREE_MAP) {
            struct tree key = tree_of_str(t->keys[i]);

            fields_json(out, &key);
            sb_char(out, ':');
        }
        go_syntax(out, &t->items[i]);
    }
    sb_char(out, '}');
}

static void wrong_text(struct check *c, const struct tree *t)
{
    struct sb b = {0};

    sb_c(&b, "expected string, got &value.valueUnstructured{Value:");
    go_syntax(&b, t);
    sb_char(&b, '}');
    wrong(c, sb_view(&b));
    sb_fini(&b);
}

static void wrong_value(struct check *c, const struct tree *t, const char *due)
{
    str text = go_text(c->a, t);

    wrong(c, arena_printf(c->a, "expected %s, got &{" STR_FMT "}", due, STR_ARG(text)));
}

static void wrong_number(struct check *c, const struct tree *t)
{
    wrong(c, arena_printf(c->a, "expected numeric (int or float), got %s",
                          t->kind == TREE_MAP    ? "map[string]interface {}"
                          : t->kind == TREE_LIST ? "[]interface {}"
                                                 : go_kind(t)));
}

static void check(struct check *c, const struct schema *s, const struct tree *t, unsigned depth);

static void check_map(struct check *c, const struct schema *s, const struct tree *t, unsigned depth)
{
    size_t n = c->path.n;

    for (uint32_t i = 0; i < t->n; i++) {
        const struct schema *f = typed_member(s, t->keys[i]);

        sb_char(&c->path, '.');
        sb_str(&c->path, t->keys[i]);
        if (f)
            check(c, f, &t->items[i], depth + 1);
        else if (!s->preserve_unknown)
            wrong(c, STR("field not declared in schema"));
        c->path.n = n;
    }
}

/* Why an item cannot be told from others; NULL when it can. */
static const char *nameless(struct check *c, const struct schema *s, const struct tree *item)
{
    if (s->list == LIST_SET) {
        if (item->kind == TREE_NULL)
            return "associative list without keys has an element that's an explicit null";
        return item->kind == TREE_MAP ? "associative list without keys has an element that's a map type" : NULL;
    }
    if (item->kind == TREE_NULL)
        return "associative list with keys may not have a null element";
    if (item->kind != TREE_MAP)
        return "associative list with keys may not have non-map elements";
    for (uint32_t i = 0; i < s->n_list_keys; i++)
        if (item_key(s, item, s->list_keys[i]))
            return NULL;
    struct sb b = {0};
    sb_c(&b, "associative list with keys has an element that omits all key fields [");
    for (uint32_t i = 0; i < s->n_list_keys; i++)
        sb_printf(&b, "%s\"" STR_FMT "\"", i ? " " : "", STR_ARG(s->list_keys[i]));
    sb_c(&b, "] (and doesn't have default values for any key fields)");
    sb_char(&b, '\0');
    const char *text = sb_dup(&b, c->a).p;
    sb_fini(&b);
    return text;
}

static void check_items(struct check *c, const struct schema *s, const struct tree *t, unsigned depth)
{
    size_t n = c->path.n;

    for (uint32_t i = 0; i < t->n; i++) {
        const struct tree *item = &t->items[i], before = {.kind = TREE_LIST, .n = i, .items = t->items};
        const char *why = s->list == LIST_ATOMIC ? NULL : nameless(c, s, item);
        uint32_t hint = 0;

        if (why) {
            wrong(c, arena_printf(c->a, "element %u: %s", i, why));
            continue;
        }
        if (s->list == LIST_ATOMIC) {
            sb_printf(&c->path, "[%u]", i);
        } else {
            str step = fields_step_text(c->a, item_step(c->a, s, item));

            if (item_find(s, &before, item, &hint) < i)
                wrong(c, arena_printf(c->a, "duplicate entries for key " STR_FMT, STR_ARG(step)));
            sb_str(&c->path, step);
        }
        check(c, s->items, item, depth + 1);
        c->path.n = n;
    }
}

static void check(struct check *c, const struct schema *s, const struct tree *t, unsigned depth)
{
    if (!s || t->kind == TREE_NULL || depth > TYPED_DEPTH)
        return;
    switch (s->type) {
    case SCHEMA_OBJECT:
        if (t->kind == TREE_MAP)
            check_map(c, s, t, depth);
        else
            wrong_value(c, t, "map");
        return;
    case SCHEMA_LIST:
        if (t->kind == TREE_LIST)
            check_items(c, s, t, depth);
        else
            wrong_value(c, t, "list");
        return;
    case SCHEMA_STRING:
        if (t->kind != TREE_STRING)
            wrong_text(c, t);
        return;
    case SCHEMA_INTEGER:
    case SCHEMA_NUMBER:
        if (t->kind != TREE_NUMBER)
            wrong_number(c, t);
        return;
    case SCHEMA_BOOLEAN:
        if (t->kind != TREE_BOOL)
            wrong_value(c, t, "boolean");
        return;
    case SCHEMA_ANY:
    case SCHEMA_INT_OR_STRING:
    case SCHEMA_QUANTITY:
        return;
    }
}

/* "apps/v1, Kind=Deployment"; the core group is empty before its slash. */
static bool refuse_config(struct check *c, const struct tree *config, const struct apply_options *o, struct status *st)
{
    const struct tree *meta = tree_get(config, "metadata");
    str ns = tree_str(tree_get(meta, "namespace")), name = tree_str(tree_get(meta, "name"));
    bool core = !o->api_version.n || !memchr(o->api_version.p, '/', o->api_version.n);
    struct sb b = {0};

    if (c->errors.n > 1)
        sb_c(&b, "errors:");
    for (uint32_t i = 0; i < c->errors.n; i++) {
        sb_c(&b, c->errors.n > 1 ? "\n  " : "");
        sb_str(&b, c->errors.v[i]);
    }
    str list = sb_view(&b);
    (void)refuse(c->a, st, 500, "",
                 "failed to create typed patch object (" STR_FMT "/" STR_FMT "; %s" STR_FMT ", Kind=" STR_FMT
                 "): " STR_FMT,
                 STR_ARG(ns), STR_ARG(name), core ? "/" : "", STR_ARG(o->api_version), STR_ARG(o->kind), STR_ARG(list));
    sb_fini(&b);
    return false;
}

bool config_fits(struct arena *a, const struct schema *s, const struct tree *config, const struct apply_options *o,
                 struct status *st)
{
    struct check c = {.a = a};

    check(&c, s, config, 0);
    bool ok = c.errors.n == 0 || refuse_config(&c, config, o, st);
    vec_fini(&c.errors);
    sb_fini(&c.path);
    return ok;
}
