/* events - EventBridge: what happens in the account, through rules, into queues. */
#include "data/json.h"
#include "data/reader.h"
#include "model/duration.h"
#include "sim/aws/call.h"

/* A pattern is a map of what may be: lists of plain values, and maps of the same for what lies deeper. */
static bool pattern_matches(const struct tree *pattern, const struct tree *event)
{
    for (uint32_t i = 0; i < pattern->n; i++) {
        const struct tree *want = &pattern->items[i], *have = tree_get_str(event, pattern->keys[i]);
        bool ok = false;

        if (want->kind == TREE_MAP) {
            if (!have || !pattern_matches(want, have))
                return false;
            continue;
        }
        for (uint32_t j = 0; have && want->kind == TREE_LIST && j < want->n; j++)
            ok = ok || tree_equal(&want->items[j], have);
        if (!ok)
            return false;
    }
    return true;
}

static void event_route(struct sim_aws *s, const struct tree *event)
{
    struct sb text = {0};
    char id[40];

    json_compact(&text, event, false);
    for (uint32_t i = 0; i < s->rules.n; i++) {
        const struct rule *r = &s->rules.v[i];

        if (!pattern_matches(r->pattern, event))
            continue;
        for (uint32_t j = 0; j < r->targets->n; j++)
            for (uint32_t k = 0; k < s->queues.n; k++)
                if (str_eq(s->queues.v[k]->arn, tree_str(tree_get(&r->targets->items[j], "Arn"))))
                    queue_send(s, s->queues.v[k], sb_view(&text), id);
    }
    sb_fini(&text);
}

static str event_time(struct arena *a, int64_t ms)
{
    struct sb b = {0};

    time_print_rfc3339(&b, ms);
    str text = sb_dup(&b, a);
    sb_fini(&b);
    return text;
}

static struct tree *envelope(struct sim_aws *s, struct arena *a, str source, str type)
{
    struct tree *e = tree_new_map(a);

    tree_set_str(a, e, "version", STR("0"));
    tree_set_str(a, e, "id", account_uuid(s, a));
    tree_set_str(a, e, "detail-type", type);
    tree_set_str(a, e, "source", source);
    tree_set_str(a, e, "account", s->account_id);
    tree_set_str(a, e, "time", event_time(a, account_now_ms(s)));
    tree_set_str(a, e, "region", s->region);
    return e;
}

void event_emit(struct sim_aws *s, const char *source, const char *detail_type, str resource_arn,
                const struct tree *detail)
{
    AUTO(arena) struct arena *a = arena_new(0);
    struct tree *e = envelope(s, a, str_c(source), str_c(detail_type));

    (void)tree_push(a, tree_sublist(a, e, "resources"), tree_of_str(resource_arn));
    tree_set(a, e, "detail", *detail);
    event_route(s, e);
}

/* ---- what can be asked ---- */

void serve_list_rules(struct call *c)
{
    str prefix = in_str(c, "NamePrefix");
    struct tree *list = tree_sublist(c->a, c->out, "Rules");
    int64_t most = in_i64(c, "Limit", 100);
    uint64_t after;

    if (!page_start(c, "NextToken", &after))
        return;
    for (uint32_t i = (uint32_t)MIN(after, c->s->rules.n); i < c->s->rules.n; i++) {
        if (!str_starts(c->s->rules.v[i].name, prefix))
            continue;
        if ((int64_t)list->n >= MAX(most, 1)) {
            tree_set_str(c->a, c->out, "NextToken", page_token(c, i));
            return;
        }
        (void)tree_push(c->a, list, *c->s->rules.v[i].doc);
    }
}

static const struct rule *rule_of(struct call *c, const char *key)
{
    str name;

    if (!in_required(c, key, &name))
        return NULL;
    for (uint32_t i = 0; i < c->s->rules.n; i++)
        if (str_eq(c->s->rules.v[i].name, name))
            return &c->s->rules.v[i];
    (void)call_fail(c, "ResourceNotFoundException", "Rule " STR_FMT " does not exist on EventBus default.",
                    STR_ARG(name));
    return NULL;
}

void serve_describe_rule(struct call *c)
{
    const struct rule *r = rule_of(c, "Name");

    if (r)
        *c->out = *tree_copy(c->a, r->doc);
}

void serve_list_targets(struct call *c)
{
    const struct rule *r = rule_of(c, "Rule");

    if (r)
        tree_set(c->a, c->out, "Targets", *r->targets);
}

/* An event of the user's own. */
static bool put_one(struct call *c, const struct tree *entry)
{
    str detail = tree_str(tree_get(entry, "Detail"));
    struct tree *e = envelope(c->s, c->a, tree_str(tree_get(entry, "Source")), tree_str(tree_get(entry, "DetailType")));
    const struct tree *resources = tree_get(entry, "Resources");
    const struct tree *t;
    struct err err;

    if (!tree_parse_json(c->a, "Detail", detail, &t, &err) || t->kind != TREE_MAP)
        return false;
    tree_set(c->a, e, "resources", resources ? *resources : *tree_new_list(c->a));
    tree_set(c->a, e, "detail", *t);
    event_route(c->s, e);
    return true;
}

void serve_put_events(struct call *c)
{
    const struct tree *entries = in_list(c, "Entries");
    struct tree *list = tree_new_list(c->a);
    int64_t failed = 0;

    for (uint32_t i = 0; entries && i < entries->n; i++) {
        struct tree *t = tree_push(c->a, list, *tree_new_map(c->a));

        if (put_one(c, &entries->items[i])) {
            tree_set_str(c->a, t, "EventId", account_uuid(c->s, c->a));
        } else {
            tree_set_str(c->a, t, "ErrorCode", STR("MalformedDetail"));
            tree_set_str(c->a, t, "ErrorMessage", STR("Detail is malformed."));
            failed++;
        }
    }
    tree_set_i64(c->a, c->out, "FailedEntryCount", failed);
    tree_set(c->a, c->out, "Entries", *list);
}
