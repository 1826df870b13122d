#include "sim/kube/cluster/fields.h"

#include "data/json.h"
#include "model/duration.h"

int64_t field_i64(const struct tree *t, int64_t absent)
{
    int64_t v;

    return t && tree_to_i64(t, &v) ? v : absent;
}

int64_t field_time(const struct tree *t, int64_t absent)
{
    struct err e;
    int64_t ms;
    str s = tree_str(t);

    return s.n && time_parse_rfc3339(s, &ms, &e) ? ms : absent;
}

str time_text(struct arena *a, int64_t ms)
{
    struct sb b = {0};

    time_print_rfc3339(&b, ms);
    str s = sb_dup(&b, a);
    sb_fini(&b);
    return s;
}

bool list_has(const struct tree *list, str text)
{
    for (uint32_t i = 0; list && i < list->n; i++)
        if (str_eq(tree_str(&list->items[i]), text))
            return true;
    return false;
}

int64_t field_scaled(const struct tree *t, int64_t total, bool round_up, int64_t absent)
{
    str s = tree_str(t);
    int64_t v;

    if (!t)
        return absent;
    if (t->kind == TREE_NUMBER)
        return field_i64(t, absent);
    if (!str_ends(s, STR("%")) || !str_to_i64(str_sub(s, 0, s.n - 1), &v) || v < 0)
        return absent;
    return (sat_mul(v, total) + (round_up ? 99 : 0)) / 100;
}

const struct tree *cond_find(const struct tree *list, str type)
{
    for (uint32_t i = 0; list && i < list->n; i++)
        if (str_eq(tree_str(tree_get(&list->items[i], "type")), type))
            return &list->items[i];
    return NULL;
}

bool cond_is(const struct tree *list, str type, str status)
{
    return str_eq(tree_str(tree_get(cond_find(list, type), "status")), status);
}

static void condition_times(struct arena *a, struct tree *t, const struct condition *c, str now)
{
    switch (c->flavour) {
    case CONDITION_PLAIN:
        break;
    case CONDITION_POD:
        tree_set(a, t, "lastProbeTime", tree_of_null());
        break;
    case CONDITION_JOB:
        tree_set_str(a, t, "lastProbeTime", now);
        break;
    case CONDITION_NODE:
        tree_set_str(a, t, "lastHeartbeatTime", now);
        break;
    case CONDITION_APPS:
        tree_set_str(a, t, "lastUpdateTime", now);
        break;
    }
}

bool cond_set(struct arena *a, struct tree *list, const struct condition *c, str now)
{
    struct tree *t = (struct tree *)cond_find(list, c->type);
    bool same_status = t && str_eq(tree_str(tree_get(t, "status")), c->status);

    if (same_status && str_eq(tree_str(tree_get(t, "reason")), c->reason) &&
        (c->flavour == CONDITION_APPS || str_eq(tree_str(tree_get(t, "message")), c->message)) &&
        field_i64(tree_get(t, "observedGeneration"), 0) == c->generation)
        return false;
    if (!t)
        t = tree_push(a, list, *tree_new_map(a));
    str since = same_status ? tree_str(tree_get(t, "lastTransitionTime")) : now;
    tree_set_str(a, t, "type", c->type);
    tree_set_str(a, t, "status", c->status);
    condition_times(a, t, c, now);
    tree_set_str(a, t, "lastTransitionTime", since);
    tree_drop(t, STR("reason"));
    tree_drop(t, STR("message"));
    if (c->reason.n)
        tree_set_str(a, t, "reason", c->reason);
    if (c->message.n || c->empty_message)
        tree_set_str(a, t, "message", c->message);
    if (c->generation)
        tree_set_i64(a, t, "observedGeneration", c->generation);
    return true;
}

bool cond_drop(struct tree *list, str type)
{
    for (uint32_t i = 0; list && i < list->n; i++)
        if (str_eq(tree_str(tree_get(&list->items[i], "type")), type)) {
            tree_remove(list, i);
            return true;
        }
    return false;
}

void set_controller(struct arena *a, struct tree *meta, const struct object *owner)
{
    struct tree *list = tree_sublist(a, meta, "ownerReferences");
    struct tree *ref = tree_push(a, list, *tree_new_map(a));

    tree_set_str(a, ref, "apiVersion", kind_api_version(a, owner->kind));
    tree_set_str(a, ref, "kind", owner->kind->name);
    tree_set_str(a, ref, "name", arena_strdup(a, owner->name));
    tree_set_str(a, ref, "uid", arena_strdup(a, owner->uid));
    tree_set_bool(a, ref, "controller", true);
    tree_set_bool(a, ref, "blockOwnerDeletion", true);
}

str template_hash(struct arena *a, const struct tree *t, int64_t salt)
{
    static const char alphabet[] = "bcdfghjklmnpqrstvwxz2456789";
    struct sb b = {0};
    struct jw w = {.out = &b};

    jw_tree(&w, t);
    if (salt)
        sb_i64(&b, salt);
    uint32_t h = 2166136261u;
    for (size_t i = 0; i < b.n; i++)
        h = (h ^ (uint8_t)b.p[i]) * 16777619u;
    sb_reset(&b);
    sb_u64(&b, h);
    for (size_t i = 0; i < b.n; i++)
        b.p[i] = alphabet[(uint8_t)b.p[i] % (sizeof(alphabet) - 1)];
    str s = sb_dup(&b, a);
    sb_fini(&b);
    return s;
}

struct tree *object_new(struct arena *a, const struct kind *kind, str ns, str name)
{
    struct tree *t = tree_new_map(a);

    tree_set_str(a, t, "apiVersion", kind_api_version(a, kind));
    tree_set_str(a, t, "kind", kind->name);
    struct tree *meta = tree_sub(a, t, "metadata");
    if (name.n)
        tree_set_str(a, meta, "name", arena_strdup(a, name));
    if (ns.n)
        tree_set_str(a, meta, "namespace", arena_strdup(a, ns));
    return t;
}

void strings_merge(struct arena *a, struct tree *into, const struct tree *from)
{
    for (uint32_t i = 0; from && from->kind == TREE_MAP && i < from->n; i++)
        *tree_put(a, into, arena_strdup(a, from->keys[i])) = tree_of_str(arena_strdup(a, tree_str(&from->items[i])));
}
