/* Rules and columns of events. */
#include "base/sb.h"
#include "sim/kube/rules/cells.h"
#include "sim/kube/rules/rule.h"
#include "sim/kube/rules/rules.h"

static void event_defaults(struct arena *a, struct tree *obj)
{
    compact(a, obj);
    default_null(a, obj, "eventTime");
    default_null(a, obj, "firstTimestamp");
    default_null(a, obj, "lastTimestamp");
    default_str(a, obj, "reportingComponent", "");
    default_str(a, obj, "reportingInstance", "");
    tree_sub(a, obj, "source");
    tree_sub(a, obj, "involvedObject");
}

/* ---- what is wrong with one ---- */

#define MAX_WORD 128u
#define MAX_NOTE 1024u

static void check_length(struct flaws *f, const struct at *at, str s, uint32_t max)
{
    if (s.n > max)
        flaw_invalid(f, at, STR("\"\""), "can have at most %u characters", max); /* quirk: it does not say of what */
}

/* An event with a time of its own must be complete, in whichever shape it comes. */
static void check_timed(struct flaws *f, const struct tree *obj, bool is_new)
{
    static const char *const words[] = {"reportingInstance", "action", "reason"};
    str component = tree_str(tree_get(obj, "reportingComponent"));
    const struct at *at = AT_STR(NULL, is_new ? STR("reportingController") : STR("reportingComponent"));

    if (component.n == 0)
        flaw_required(f, at, "%s", "");
    check_qualified(f, at, component);
    for (size_t i = 0; i < ARRAY_LEN(words); i++) {
        str word = tree_str(tree_get(obj, words[i]));

        if (word.n == 0)
            flaw_required(f, AT_STR(NULL, str_c(words[i])), "%s", "");
        check_length(f, AT_STR(NULL, str_c(words[i])), word, MAX_WORD);
    }
    check_length(f, AT(NULL, "message"), tree_str(tree_get(obj, "message")), MAX_NOTE);
}

static void check_namespace(struct flaws *f, const struct tree *obj, bool timed)
{
    str about = tree_str(tree_at(obj, "involvedObject", "namespace", NULL)), ns = object_namespace(obj);
    bool ok;

    if (about.n == 0)
        ok = ns.n == 0 || str_is(ns, "default") || (timed && str_is(ns, "kube-system"));
    else
        ok = timed || str_eq(about, ns);
    if (!ok)
        flaw_invalid(f, AT(AT(NULL, "involvedObject"), "namespace"), json_quoted(f->a, about),
                     "does not match event.namespace");
}

static bool check_common(struct flaws *f, const struct tree *obj, bool is_new)
{
    bool timed = has(obj, "eventTime");

    check_namespace(f, obj, timed);
    if (timed)
        check_timed(f, obj, is_new);
    return timed;
}

static void event_validate(struct rule_context *c, const struct tree *obj, const struct tree *old, struct causes *out)
{
    (void)old;
    (void)check_common(FLAWS(c, out), obj, /* is_new= */ false);
}

static void check_series(struct flaws *f, const struct tree *series)
{
    int64_t n = 0;

    (void)tree_to_i64(tree_get(series, "count"), &n);
    if (n < 2)
        flaw_invalid(f, AT(AT(NULL, "series"), "count"), STR("\"\""), "should be at least 2");
    if (!has(series, "lastObservedTime"))
        flaw_required(f, AT(AT(NULL, "series"), "lastObservedTime"), "%s", "");
}

/* What only the older shape may have. */
static void check_unset(struct flaws *f, const struct tree *obj)
{
    static const char *const unset[] = {"firstTimestamp", "lastTimestamp", "count", "source"};

    for (size_t i = 0; i < ARRAY_LEN(unset); i++) {
        const struct tree *v = tree_get(obj, unset[i]);

        if (v && (v->kind != TREE_MAP || v->n))
            flaw_invalid(f, AT_STR(NULL, str_c(unset[i])), STR("\"\""), "needs to be unset");
    }
}

static void new_event_validate(struct rule_context *c, const struct tree *obj, const struct tree *old,
                               struct causes *out)
{
    static const struct {
        const char *member, *name; /* quirk: as the server's own shape has them, which is neither of the two */
    } fixed[] = {
        {"involvedObject", "involvedObject"},
        {"reason", "reason"},
        {"message", "message"},
        {"source", "source"},
        {"firstTimestamp", "firstTimestamp"},
        {"lastTimestamp", "lastTimestamp"},
        {"count", "count"},
        {"reason", "reason"}, /* quirk: said twice */
        {"type", "type"},
        {"eventTime", "eventTime"},
        {"action", "action"},
        {"related", "related"},
        {"reportingComponent", "reportingController"},
        {"reportingInstance", "reportingInstance"},
    };
    struct flaws *f = FLAWS(c, out);
    const struct tree *series = tree_get(obj, "series"), *was = tree_get(old, "series");
    str type = tree_str(tree_get(obj, "type"));
    bool timed = check_common(f, obj, /* is_new= */ true);

    if (series && (!was || !tree_equal(series, was)))
        check_series(f, series);
    for (size_t i = 0; old && i < ARRAY_LEN(fixed); i++)
        check_immutable(f, AT_STR(NULL, str_c(fixed[i].name)), tree_get(obj, fixed[i].member),
                        tree_get(old, fixed[i].member));
    if (old)
        return;
    if (!timed)
        flaw_required(f, AT(NULL, "eventTime"), "%s", "");
    if (!str_is(type, "Normal") && !str_is(type, "Warning"))
        flaw_invalid(f, AT(NULL, "type"), STR("\"\""), "has invalid value: " STR_FMT, STR_ARG(type));
    check_unset(f, obj);
}

static const char *const event_selectable[] = {
    "involvedObject.kind",
    "involvedObject.namespace",
    "involvedObject.name",
    "involvedObject.uid",
    "involvedObject.apiVersion",
    "involvedObject.resourceVersion",
    "involvedObject.fieldPath",
    "reason",
    "reportingComponent",
    "source",
    "type",
    NULL,
};

const struct kind_rules rules_event = {event_defaults, NULL, NULL, event_validate, event_selectable};

/* ---- the shape of events.k8s.io ---- */

static const struct {
    const char *stored, *shown;
} renamed[] = {
    {"involvedObject", "regarding"},
    {"message", "note"},
    {"reportingComponent", "reportingController"},
    {"source", "deprecatedSource"},
    {"firstTimestamp", "deprecatedFirstTimestamp"},
    {"lastTimestamp", "deprecatedLastTimestamp"},
    {"count", "deprecatedCount"},
};

static void rename_members(struct tree *obj, bool to_stored)
{
    for (uint32_t i = 0; i < obj->n; i++)
        for (size_t j = 0; j < ARRAY_LEN(renamed); j++) {
            if (!str_is(obj->keys[i], to_stored ? renamed[j].shown : renamed[j].stored))
                continue;
            obj->keys[i] = str_c(to_stored ? renamed[j].stored : renamed[j].shown);
            break;
        }
}

static void event_to_stored(struct arena *a, struct tree *obj)
{
    rename_members(obj, /* to_stored= */ true);
    tree_set_str(a, obj, "apiVersion", STR("v1"));
}

static void event_from_stored(struct arena *a, struct tree *obj)
{
    static const char *const words[] = {"reportingController", "reportingInstance"};

    rename_members(obj, /* to_stored= */ false);
    for (size_t i = 0; i < ARRAY_LEN(words); i++) /* this shape leaves them out when they are empty */
        if (tree_str(tree_get(obj, words[i])).n == 0)
            (void)tree_drop(obj, str_c(words[i]));
    for (uint32_t i = obj->n; i-- > 0;) /* times that are not there */
        if (obj->items[i].kind == TREE_NULL)
            (void)tree_drop(obj, obj->keys[i]);
    tree_set_str(a, obj, "apiVersion", STR("events.k8s.io/v1"));
}

static const char *const new_event_selectable[] = {
    "reason",
    "regarding.kind",
    "regarding.namespace",
    "regarding.name",
    "regarding.uid",
    "regarding.apiVersion",
    "regarding.resourceVersion",
    "regarding.fieldPath",
    "reportingController",
    "type",
    NULL,
};

const struct kind_rules rules_new_event = {
    .validate = new_event_validate,
    .selectable = new_event_selectable,
};

const struct kind_shape shape_new_event = {event_to_stored, event_from_stored};

/* ---- columns ---- */

static const struct column event_columns[] = {
    {"Last Seen", "string", "", "Time since it happened last", 0},
    {"Type", "string", "", "Normal or Warning", 0},
    {"Reason", "string", "", "Why, in one word", 0},
    {"Object", "string", "", "What it is about", 0},
    {"Subobject", "string", "", "Which part of that", 1},
    {"Source", "string", "", "Who says so", 1},
    {"Message", "string", "", "What happened", 0},
    {"First Seen", "string", "", "Time since it happened first", 1},
    {"Count", "string", "", "How often it happened", 1},
    {"Name", "string", "name", "Name of the event", 1},
};

/* Since `time`, or since the event's own time where that is absent. */
static void cell_seen(struct cells *c, const struct tree *obj, const struct tree *time)
{
    cell_since(c, time ? time : tree_get(obj, "eventTime"));
}

static void event_cells(struct arena *a, const struct tree *obj, int64_t now_ms, struct tree *ret_cells)
{
    CELLS;
    const struct tree *about = tree_get(obj, "involvedObject"), *source = tree_get(obj, "source");
    const struct tree *series = tree_get(obj, "series"), *last = tree_get(obj, "lastTimestamp");
    str kind = lower_case(a, tree_str(tree_get(about, "kind"))), name = tree_str(tree_get(about, "name"));
    str component = tree_str(tree_get(source, "component")), host = tree_str(tree_get(source, "host"));
    int64_t count = 0;

    if (component.n == 0)
        component = tree_str(tree_get(obj, "reportingComponent"));
    if (host.n == 0)
        host = tree_str(tree_get(obj, "reportingInstance"));
    cell_seen(c, obj, series ? tree_get(series, "lastObservedTime") : last);
    cell_str(c, tree_str(tree_get(obj, "type")));
    cell_str(c, tree_str(tree_get(obj, "reason")));
    cell_str(c, name.n ? arena_printf(a, STR_FMT "/" STR_FMT, STR_ARG(kind), STR_ARG(name)) : kind);
    cell_str(c, tree_str(tree_get(about, "fieldPath")));
    cell_str(c, host.n ? arena_printf(a, STR_FMT ", " STR_FMT, STR_ARG(component), STR_ARG(host)) : component);
    cell_str(c, str_trim(tree_str(tree_get(obj, "message"))));
    cell_seen(c, obj, tree_get(obj, "firstTimestamp"));
    (void)tree_to_i64(series ? tree_get(series, "count") : tree_get(obj, "count"), &count);
    cell_i64(c, count ? count : 1);
    cell_name(c, obj);
}

KIND_COLUMNS(event);

#define new_event_columns event_columns

static void new_event_cells(struct arena *a, const struct tree *obj, int64_t now_ms, struct tree *ret_cells)
{
    struct tree *stored = tree_copy(a, obj);

    event_to_stored(a, stored);
    event_cells(a, stored, now_ms, ret_cells);
}

KIND_COLUMNS(new_event);
