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

/* Events of the newer API have a time of their own, and then must be complete. */
static void check_new_event(struct flaws *f, const struct tree *obj)
{
    str component = tree_str(tree_get(obj, "reportingComponent"));
    static const char *const needed[] = {"reportingInstance", "action", "reason"};

    if (component.n == 0)
        flaw_required(f, AT(NULL, "reportingComponent"), "%s", "");
    check_qualified(f, AT(NULL, "reportingComponent"), component);
    for (size_t i = 0; i < ARRAY_LEN(needed); i++)
        if (tree_str(tree_get(obj, needed[i])).n == 0)
            flaw_required(f, AT_STR(NULL, str_c(needed[i])), "%s", "");
}

static void event_validate(struct rule_context *c, const struct tree *obj, const struct tree *old, struct causes *out)
{
    struct flaws *f = FLAWS(c, out);
    str about = tree_str(tree_at(obj, "involvedObject", "namespace", NULL)), ns = object_namespace(obj);
    const struct at *at = AT(AT(NULL, "involvedObject"), "namespace");

    (void)old;
    if (about.n == 0 ? ns.n && !str_is(ns, "default") : !str_eq(about, ns))
        flaw_invalid(f, at, json_quoted(c->a, about), "does not match event.namespace");
    if (has(obj, "eventTime"))
        check_new_event(f, obj);
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
