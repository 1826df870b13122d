/* Tables for kubectl get: columns and rows. Built-in kinds bring their own columns (kind.h); those of custom kinds are paths in
 * the object. */
#include "sim/kube/front_int.h"

#include "data/edit.h"
#include "data/json.h"
#include "model/duration.h"
#include "sim/kube/age.h"
#include "sim/kube/jsonpath.h"

static const char about_name[] =
    "Name of the object: unique within its namespace, or in the cluster for kinds that have none. It cannot be changed.";
static const char about_age[] = "When the server made the object, in UTC.";

bool grid_init(struct request *r, const struct kind *k, struct grid *ret, struct status *st)
{
    str v = query_get(r, "includeObject");

    *ret = (struct grid){.kind = k, .now_ms = world_now_ms(kube_world(r->kube))};
    if (v.n == 0 || str_is(v, "Metadata"))
        ret->include = INCLUDE_METADATA;
    else if (str_is(v, "None"))
        ret->include = INCLUDE_NONE;
    else if (str_is(v, "Object"))
        ret->include = INCLUDE_OBJECT;
    else
        return status_bad_request(r->a, st, 400,
                                  "Unable to convert to Table as requested: includeObject: Invalid value: \"" STR_FMT
                                  "\": must be 'Metadata', 'Object', 'None', or empty",
                                  STR_ARG(v));
    return true;
}

/* ---- columns ---- */

static void column(struct jw *w, str name, str type, str format, str description, int64_t priority)
{
    jw_map(w);
    jw_key(w, "name"), jw_str(w, name);
    jw_key(w, "type"), jw_str(w, type);
    jw_key(w, "format"), jw_str(w, format);
    jw_key(w, "description"), jw_str(w, description);
    jw_key(w, "priority"), jw_i64(w, priority);
    jw_end(w);
}

static void custom_columns(struct jw *w, const struct tree *columns)
{
    for (uint32_t i = 0; i < columns->n; i++) {
        const struct tree *c = &columns->items[i];
        str description = tree_str(tree_get(c, "description"));
        struct sb b = {0};
        int64_t priority = 0;

        if (description.n == 0) {
            sb_c(&b, "Custom resource definition column (in JSONPath format): ");
            sb_str(&b, tree_str(tree_get(c, "jsonPath")));
            description = sb_view(&b);
        }
        (void)tree_to_i64(tree_get(c, "priority"), &priority);
        column(w, tree_str(tree_get(c, "name")), tree_str(tree_get(c, "type")), tree_str(tree_get(c, "format")),
               description, priority);
        sb_fini(&b);
    }
}

static bool has_custom_columns(const struct kind *k)
{
    return k->crd_columns && k->crd_columns->kind == TREE_LIST && k->crd_columns->n > 0;
}

void grid_columns(struct sb *out, const struct grid *g)
{
    struct jw w = {.out = out};
    const struct kind_columns *built_in = g->kind->columns;

    jw_list(&w);
    for (uint32_t i = 0; built_in && i < built_in->n; i++) {
        const struct column *c = &built_in->columns[i];

        column(&w, str_c(c->name), str_c(c->type), str_c(c->format), str_c(c->description), c->priority);
    }
    if (!built_in) {
        column(&w, STR("Name"), STR("string"), STR("name"), str_c(about_name), 0);
        if (has_custom_columns(g->kind))
            custom_columns(&w, g->kind->crd_columns);
        else
            column(&w, g->kind->crd ? STR("Age") : STR("Created At"), STR("date"), STR(""), str_c(about_age), 0);
    }
    jw_end(&w);
}

/* ---- cells ---- */

static void age_cell(struct jw *w, str time, int64_t now_ms)
{
    struct sb b = {0};
    struct err e;
    int64_t ms;

    if (time.n == 0)
        sb_c(&b, "<unknown>");
    else if (!time_parse_rfc3339(time, &ms, &e))
        sb_c(&b, "<invalid>");
    else
        age_print(&b, ms, now_ms);
    jw_str(w, sb_view(&b));
    sb_fini(&b);
}

/* A value in a column of this type; null where it does not fit. */
static void custom_cell(struct jw *w, str type, const struct tree *v, int64_t now_ms)
{
    int64_t n;
    double d;

    if (!v) {
        jw_null(w);
    } else if (str_is(type, "string")) {
        struct sb b = {0};
        struct jw text = {.out = &b};

        if (v->kind == TREE_LIST || v->kind == TREE_MAP)
            jw_tree(&text, v);
        else
            sb_str(&b, tree_scalar(v));
        jw_str(w, sb_view(&b));
        sb_fini(&b);
    } else if (str_is(type, "integer") && v->kind == TREE_NUMBER && tree_to_i64(v, &n)) {
        jw_i64(w, n);
    } else if (str_is(type, "integer") && v->kind == TREE_NUMBER && str_to_double(v->text, &d) && d > -9e15 &&
               d < 9e15) {
        jw_i64(w, (int64_t)d);
    } else if ((str_is(type, "number") && v->kind == TREE_NUMBER) ||
               (str_is(type, "boolean") && v->kind == TREE_BOOL)) {
        jw_tree(w, v);
    } else if (str_is(type, "date") && v->kind == TREE_STRING) {
        age_cell(w, v->text, now_ms);
    } else {
        jw_null(w);
    }
}

static void cells(struct jw *w, struct arena *tmp, const struct grid *g, str name, const struct tree *obj)
{
    const struct kind *k = g->kind;

    if (k->columns) {
        struct tree *list = tree_new_list(tmp);

        k->columns->cells(tmp, obj, g->now_ms, list);
        jw_tree(w, list);
        return;
    }
    jw_list(w);
    jw_str(w, name);
    for (uint32_t i = 0; has_custom_columns(k) && i < k->crd_columns->n; i++) {
        const struct tree *c = &k->crd_columns->items[i];
        const struct tree *v = jsonpath_first(tmp, obj, tree_str(tree_get(c, "jsonPath")));

        custom_cell(w, tree_str(tree_get(c, "type")), v, g->now_ms);
    }
    if (!has_custom_columns(k)) {
        str created = tree_str(tree_at(obj, "metadata", "creationTimestamp", NULL));

        k->crd ? age_cell(w, created, g->now_ms) : jw_str(w, created);
    }
    jw_end(w);
}

void grid_row(struct sb *out, const struct grid *g, str name, const struct tree *obj)
{
    AUTO(arena) struct arena *tmp = arena_new(0);
    struct jw w = {.out = out}, whole = w;

    sb_c(out, "{\"cells\":");
    cells(&w, tmp, g, name, obj);
    sb_c(out, ",\"object\":");
    switch (g->include) {
    case INCLUDE_METADATA:
        metadata_json(out, obj);
        break;
    case INCLUDE_NONE:
        sb_c(out, "null");
        break;
    case INCLUDE_OBJECT:
        jw_tree(&whole, obj);
        break;
    }
    sb_char(out, '}');
}
