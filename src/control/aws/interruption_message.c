/* A table of (source, detail-type), and a reader for the details of each. Types are checked as strictly as a decoder with fixed types would: a number where a text
 * belongs makes it no message. */
#include "control/aws/interruption_message.h"

#include <strings.h>

#include "base/vec.h"
#include "data/reader.h"
#include "model/duration.h"

static const char *const names[INTERRUPTION_KINDS] = {
    [INTERRUPTION_NONE] = "no_op",
    [INTERRUPTION_SPOT] = "spot_interrupted",
    [INTERRUPTION_REBALANCE] = "rebalance_recommendation",
    [INTERRUPTION_STOPPED] = "instance_stopped",
    [INTERRUPTION_TERMINATED] = "instance_terminated",
    [INTERRUPTION_SCHEDULED_CHANGE] = "scheduled_change",
    [INTERRUPTION_RESERVATION] = "capacity_reservation_interrupted",
    [INTERRUPTION_INSTANCE_STATUS] = "instance_status",
    [INTERRUPTION_SYSTEM_STATUS] = "system_status",
    [INTERRUPTION_EVENT_STATUS] = "event_status",
};

const char *interruption_kind_name(enum interruption_kind k)
{
    return names[k];
}

/* ---- members, by type; what is not there is empty ---- */

static bool get_text(const struct tree *map, const char *key, str *ret, struct err *e)
{
    const struct tree *t = tree_get(map, key);

    if (t && t->kind != TREE_STRING)
        return err_set(e, ERR_INVALID, "%s is %s, not a string", key, tree_kind_name(t->kind));
    *ret = tree_str(t);
    return true;
}

static bool get_list(const struct tree *map, const char *key, const struct tree **ret, struct err *e)
{
    const struct tree *t = tree_get(map, key);

    if (t && t->kind != TREE_LIST)
        return err_set(e, ERR_INVALID, "%s is %s, not a list", key, tree_kind_name(t->kind));
    *ret = t;
    return true;
}

static void set_one(struct arena *a, struct interruption *ret, enum interruption_kind kind, str id)
{
    str *one = arena_new_array(a, str, 1);

    *one = arena_strdup(a, id);
    ret->kind = kind;
    ret->instances = one;
    ret->n = 1;
}

/* ---- details ---- */

static bool read_machine(struct arena *a, const struct tree *detail, enum interruption_kind kind,
                         struct interruption *ret, struct err *e)
{
    str id, action;

    if (!get_text(detail, "instance-id", &id, e) || !get_text(detail, "instance-action", &action, e))
        return false;
    set_one(a, ret, kind, id);
    return true;
}

static bool is_one_of(str s, const char *a, const char *b, bool any_case)
{
    if (!any_case)
        return str_is(s, a) || str_is(s, b);
    return (s.n == strlen(a) && strncasecmp(s.p, a, s.n) == 0) || (s.n == strlen(b) && strncasecmp(s.p, b, s.n) == 0);
}

/* quirk: what matters is told in any case of letters, what of it is a stop only in lower case (aws 7.3.1). */
static bool read_state(struct arena *a, const struct tree *detail, enum interruption_kind kind UNUSED,
                       struct interruption *ret, struct err *e)
{
    str id, state;

    if (!get_text(detail, "instance-id", &id, e) || !get_text(detail, "state", &state, e))
        return false;
    if (is_one_of(state, "stopping", "stopped", true) || is_one_of(state, "shutting-down", "terminated", true))
        set_one(a, ret, is_one_of(state, "stopping", "stopped", false) ? INTERRUPTION_STOPPED : INTERRUPTION_TERMINATED,
                id);
    return true;
}

static bool read_health(struct arena *a, const struct tree *detail, enum interruption_kind kind,
                        struct interruption *ret, struct err *e)
{
    static const char *const unused[] = {"eventArn", "eventTypeCode", "startTime", "endTime"};
    const struct tree *entities, *description;
    str service, category, text;

    for (size_t i = 0; i < ARRAY_LEN(unused); i++)
        if (!get_text(detail, unused[i], &text, e))
            return false;
    if (!get_text(detail, "service", &service, e) || !get_text(detail, "eventTypeCategory", &category, e) ||
        !get_list(detail, "eventDescription", &description, e) || !get_list(detail, "affectedEntities", &entities, e))
        return false;
    uint32_t n = entities ? entities->n : 0;
    str *ids = arena_new_array(a, str, n);
    for (uint32_t i = 0; i < n; i++) {
        const struct tree *one = &entities->items[i];

        if (one->kind != TREE_MAP && one->kind != TREE_NULL)
            return err_set(e, ERR_INVALID, "affectedEntities[%u] is %s, not a map", i, tree_kind_name(one->kind));
        if (!get_text(one, "entityValue", &text, e))
            return false;
        ids[i] = arena_strdup(a, text);
    }
    if (str_is(service, "EC2") && str_is(category, "scheduledChange")) {
        ret->kind = kind;
        ret->instances = ids;
        ret->n = n;
    }
    return true;
}

static const struct {
    const char *source, *detail_type;
    enum interruption_kind kind;
    bool (*read)(struct arena *a, const struct tree *detail, enum interruption_kind kind, struct interruption *ret,
                 struct err *e);
} table[] = {
    {"aws.ec2", "EC2 Spot Instance Interruption Warning", INTERRUPTION_SPOT, read_machine},
    {"aws.ec2", "EC2 Instance Rebalance Recommendation", INTERRUPTION_REBALANCE, read_machine},
    {"aws.ec2", "EC2 Instance State-change Notification", INTERRUPTION_TERMINATED, read_state},
    {"aws.ec2", "EC2 Capacity Reservation Instance Interruption Warning", INTERRUPTION_RESERVATION, read_machine},
    {"aws.health", "AWS Health Event", INTERRUPTION_SCHEDULED_CHANGE, read_health},
};

/* ---- the envelope ---- */

struct envelope {
    str version, source, detail_type;
    const struct tree *detail;
};

static bool read_envelope(const struct tree *t, struct envelope *ret, int64_t *ret_at_ms, struct err *e)
{
    static const char *const unused[] = {"id", "account", "region"};
    const struct tree *resources, *detail = tree_get(t, "detail");
    str text;

    if (t->kind != TREE_MAP && t->kind != TREE_NULL) /* null: all of it is empty */
        return err_set(e, ERR_INVALID, "it is %s, not a map", tree_kind_name(t->kind));
    for (size_t i = 0; i < ARRAY_LEN(unused); i++)
        if (!get_text(t, unused[i], &text, e))
            return false;
    if (!get_text(t, "version", &ret->version, e) || !get_text(t, "source", &ret->source, e) ||
        !get_text(t, "detail-type", &ret->detail_type, e) || !get_list(t, "resources", &resources, e) ||
        !get_text(t, "time", &text, e))
        return false;
    for (uint32_t i = 0; resources && i < resources->n; i++)
        if (resources->items[i].kind != TREE_STRING && resources->items[i].kind != TREE_NULL)
            return err_set(e, ERR_INVALID, "resources[%u] is not a string", i);
    if (tree_get(t, "time") && !time_parse_rfc3339(text, ret_at_ms, e))
        return err_wrap(e, "time");
    ret->detail = detail;
    return true;
}

static bool read_message(struct arena *a, const struct tree *t, struct interruption *ret, struct err *e)
{
    struct envelope v;

    if (!read_envelope(t, &v, &ret->at_ms, e))
        return false;
    for (size_t i = 0; i < ARRAY_LEN(table); i++) {
        if (!str_is(v.version, "0") || !str_is(v.source, table[i].source) ||
            !str_is(v.detail_type, table[i].detail_type))
            continue;
        if (v.detail && v.detail->kind != TREE_MAP)
            return err_set(e, ERR_INVALID, "detail is %s, not a map", tree_kind_name(v.detail->kind));
        return table[i].read(a, v.detail, table[i].kind, ret, e);
    }
    return true;
}

bool interruption_parse(struct arena *a, str body, struct interruption *ret, struct err *e)
{
    AUTO(arena) struct arena *tmp = arena_new(0);
    struct interruption got = {.kind = INTERRUPTION_NONE, .at_ms = INT64_MIN};
    const struct tree *t;

    if (body.n > INTERRUPTION_MAX_BYTES)
        return err_set(e, ERR_INVALID, "interruption message: %zu bytes are too many", body.n);
    if (body.n && (!tree_parse_json(tmp, "interruption message", body, &t, e)))
        return false;
    if (body.n && !read_message(a, t, &got, e))
        return err_wrap(e, "interruption message");
    *ret = got;
    return true;
}
