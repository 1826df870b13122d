/* filters - which docs a describe call wants, and a page of them at a time.
 *
 * A filter's name is a path into the doc: instance-status.status is InstanceStatus.Status, processor-info.supported-architecture is
 * ProcessorInfo.SupportedArchitectures; lists are looked through. Names that do not follow are in the table. Which names an action takes is said by its
 * handler: others are refused, as EC2 does.
 */
#include <ctype.h>

#include "base/b64.h"
#include "sim/aws/call.h"

#define MAX_FILTERS 200u
#define MAX_VALUES 200u

static const struct {
    const char *name, *path;
} filter_paths[] = {
    {"dns-name", "public-dns-name"},
    {"event.code", "events.code"},
    {"instance-state-code", "state.code"},
    {"instance-state-name", "state.name"},
    {"instance.group-id", "security-groups.group-id"},
    {"instance.group-name", "security-groups.group-name"},
    {"network-interface.network-interface-id", "network-interfaces.network-interface-id"},
    {"network-interface.private-dns-name", "network-interfaces.private-dns-name"},
    {"network-interface.subnet-id", "network-interfaces.subnet-id"},
    {"placement-group-name", "placement.group-name"},
    {"tenancy", "placement.tenancy"},
    {"owner-alias", "image-owner-alias"},
    {"is-public", "public"},
};

bool wild_match(str pattern, str text)
{
    size_t p = 0, t = 0, star = SIZE_MAX, from = 0;

    while (t < text.n) {
        bool escaped = p + 1 < pattern.n && pattern.p[p] == '\\';

        if (p < pattern.n && !escaped && pattern.p[p] == '*') {
            star = p++;
            from = t;
        } else if (p < pattern.n && ((!escaped && (pattern.p[p] == '?' || pattern.p[p] == text.p[t])) ||
                                     (escaped && pattern.p[p + 1] == text.p[t]))) {
            p += escaped ? 2 : 1;
            t++;
        } else if (star != SIZE_MAX) {
            p = star + 1;
            t = ++from;
        } else {
            return false;
        }
    }
    while (p < pattern.n && pattern.p[p] == '*')
        p++;
    return p == pattern.n;
}

/* "size-in-mib" is SizeInMiB; a plural member stands for the singular. */
static bool member_is(str member, str kebab)
{
    size_t m = 0;

    for (size_t k = 0; k < kebab.n; k++) {
        if (kebab.p[k] == '-')
            continue;
        if (m == member.n || tolower((unsigned char)member.p[m]) != tolower((unsigned char)kebab.p[k]))
            return false;
        m++;
    }
    str rest = str_sub(member, m, member.n);
    return rest.n == 0 || str_is(rest, "s") || str_is(rest, "es");
}

static bool value_matches(const struct tree *t, const struct tree *values)
{
    str text = t->kind == TREE_BOOL ? (t->truth ? STR("true") : STR("false")) : tree_scalar(t);

    for (uint32_t i = 0; i < values->n; i++)
        if (wild_match(tree_str(&values->items[i]), text))
            return true;
    return false;
}

static bool path_matches(const struct tree *t, str path, const struct tree *values)
{
    str head, tail;

    if (t->kind == TREE_LIST) {
        for (uint32_t i = 0; i < t->n; i++)
            if (path_matches(&t->items[i], path, values))
                return true;
        return false;
    }
    if (path.n == 0)
        return t->kind != TREE_NULL && t->kind != TREE_MAP && value_matches(t, values);
    if (t->kind != TREE_MAP)
        return false;
    (void)str_cut(path, '.', &head, &tail);
    for (uint32_t i = 0; i < t->n; i++)
        if (member_is(t->keys[i], head) && path_matches(&t->items[i], tail, values))
            return true;
    return false;
}

static bool tags_match(const struct tree *doc, str key, const struct tree *values)
{
    const struct tree *tags = tree_get(doc, "Tags");

    for (uint32_t i = 0; tags && i < tags->n; i++) {
        const struct tree *k = tree_get(&tags->items[i], "Key");
        struct tree value = tree_of_str(tree_str(tree_get(&tags->items[i], "Value")));

        if (key.n == 0 ? value_matches(k, values) : str_eq(tree_str(k), key) && value_matches(&value, values))
            return true;
    }
    return false;
}

static bool filter_matches(const struct tree *f, const struct tree *doc)
{
    str name = tree_str(tree_get(f, "Name"));
    const struct tree *values = tree_get(f, "Values");

    if (str_is(name, "tag-key"))
        return tags_match(doc, STR(""), values);
    if (str_starts(name, STR("tag:")))
        return tags_match(doc, str_sub(name, 4, name.n), values);
    for (size_t i = 0; i < ARRAY_LEN(filter_paths); i++)
        if (str_is(name, filter_paths[i].name))
            return path_matches(doc, str_c(filter_paths[i].path), values);
    return path_matches(doc, name, values);
}

bool filters_match(const struct call *c, const struct tree *doc)
{
    const struct tree *filters = in_list(c, "Filters");

    for (uint32_t i = 0; filters && i < filters->n; i++)
        if (!filter_matches(&filters->items[i], doc))
            return false;
    return true;
}

bool filters_check(struct call *c, const char *const *allowed)
{
    const struct tree *filters = in_list(c, "Filters");

    if (filters && filters->n > MAX_FILTERS)
        return call_fail(c, "FilterLimitExceeded", "The maximum number of filters is %u", MAX_FILTERS);
    for (uint32_t i = 0; filters && i < filters->n; i++) {
        str name = tree_str(tree_get(&filters->items[i], "Name"));
        const struct tree *values = tree_get(&filters->items[i], "Values");
        bool known = str_is(name, "tag-key") || (str_starts(name, STR("tag:")) && name.n > 4);

        for (uint32_t j = 0; !known && allowed[j]; j++)
            known = str_is(name, allowed[j]);
        if (!known)
            return call_fail(c, "InvalidParameterValue", "The filter '" STR_FMT "' is invalid", STR_ARG(name));
        if (!values || values->kind != TREE_LIST)
            return call_fail(c, "InvalidParameterValue", "The filter '" STR_FMT "' has no value", STR_ARG(name));
        if (values->n > MAX_VALUES)
            return call_fail(c, "FilterLimitExceeded", "The maximum number of filter values is %u", MAX_VALUES);
    }
    return true;
}

/* ---- pages ---- */

void listing_add(struct listing *l, uint64_t serial, struct tree *doc)
{
    vec_push(&l->docs, doc);
    vec_push(&l->serials, serial);
}

void listing_fini(struct listing *l)
{
    vec_fini(&l->docs);
    vec_fini(&l->serials);
}

str page_token(struct call *c, uint64_t serial)
{
    struct sb b = {0};

    b64url_encode(&b, arena_printf(c->a, "%s:%llu", c->action->name, (unsigned long long)serial));
    str token = sb_dup(&b, c->a);
    sb_fini(&b);
    return token;
}

bool page_start(struct call *c, const char *token_key, uint64_t *ret_after)
{
    str token = in_str(c, token_key), action, serial;
    struct sb b = {0};
    int64_t after = 0;

    *ret_after = 0;
    if (token.n == 0)
        return true;
    bool ok = token.n < 256 && b64url_decode(&b, token) && str_cut(sb_view(&b), ':', &action, &serial) &&
              str_is(action, c->action->name) && str_to_i64(serial, &after) && after > 0;
    sb_fini(&b);
    if (!ok)
        return call_fail(
            c, service_protocol(c->action->service) == PROTOCOL_EC2 ? "InvalidParameterValue" : "InvalidNextToken",
            "Unable to parse pagination token");
    *ret_after = (uint64_t)after;
    return true;
}

void page_reply(struct call *c, struct listing *l, const char *member, uint32_t most)
{
    int64_t max = in_i64(c, "MaxResults", 0);
    struct tree *list = tree_sublist(c->a, c->out, member);
    uint64_t after;

    if (!page_start(c, "NextToken", &after))
        return;
    if (max < 0 || (max == 0 && tree_get(c->in, "MaxResults"))) {
        (void)call_fail(c, "InvalidParameterValue", "Value ( %lld ) for parameter maxResults is invalid",
                        (long long)max);
        return;
    }
    if (max == 0 || max > (int64_t)most)
        max = most;
    for (uint32_t i = 0; i < l->docs.n; i++) {
        if (l->serials.v[i] <= after)
            continue;
        if ((int64_t)list->n == max) {
            tree_set_str(c->a, c->out, "NextToken", page_token(c, l->serials.v[i - 1]));
            return;
        }
        (void)tree_push(c->a, list, *l->docs.v[i]);
    }
}
