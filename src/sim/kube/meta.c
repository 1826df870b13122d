/* What the server itself writes into metadata. */
#include "data/edit.h"
#include "model/duration.h"
#include "net/uuid.h"
#include "sim/kube/kube_int.h"

str meta_time(struct arena *a, int64_t ms)
{
    char text[40];
    struct sb b = {.p = text, .cap = sizeof(text)};

    time_print_rfc3339(&b, ms);
    return sb_dup(&b, a);
}

/* Long prefixes are cut, so that the name stays a label. */
static str generate_name(struct world *w, struct arena *a, str prefix)
{
    static const char letters[] = "bcdfghjklmnpqrstvwxz2456789";
    enum { RANDOM = 5, LONGEST = 63 };
    size_t n = MIN(prefix.n, (size_t)(LONGEST - RANDOM));
    char *p = arena_alloc(a, n + RANDOM, 1);
    uint64_t r = world_random(w);

    memcpy(p, prefix.p, n);
    for (size_t i = 0; i < RANDOM; i++, r /= sizeof(letters) - 1)
        p[n + i] = letters[r % (sizeof(letters) - 1)];
    return (str){p, n + RANDOM};
}

void meta_create(struct kube *k, struct arena *a, const struct kind *kind, struct tree *meta)
{
    static const char *const none[] = {"deletionTimestamp", "deletionGracePeriodSeconds", "selfLink",
                                       "resourceVersion"};
    str prefix = tree_str(tree_get(meta, "generateName"));

    for (size_t i = 0; i < ARRAY_LEN(none); i++)
        (void)tree_drop(meta, str_c(none[i]));
    if (tree_str(tree_get(meta, "name")).n == 0 && prefix.n)
        tree_set_str(a, meta, "name", generate_name(k->world, a, prefix));
    if (!kind->namespaced)
        (void)tree_drop(meta, STR("namespace"));
    tree_set_str(a, meta, "uid", uuid_new(a, k->world));
    tree_set_str(a, meta, "creationTimestamp", meta_time(a, world_now_ms(k->world)));
    if (kind->has_generation)
        tree_set_i64(a, meta, "generation", 1);
}

void meta_update(struct arena *a, struct tree *meta, const struct tree *old)
{
    /* What a client leaves out stays; what it may not change is compared by meta_validate_update(). */
    static const char *const when_absent[] = {
        "name", "namespace", "uid", "deletionTimestamp", "deletionGracePeriodSeconds", "generateName"};
    static const char *const always[] = {"creationTimestamp", "generation"};

    for (size_t i = 0; i < ARRAY_LEN(when_absent); i++) {
        const struct tree *was = tree_get(old, when_absent[i]);

        if (was && !tree_get(meta, when_absent[i]))
            tree_set(a, meta, when_absent[i], *was);
    }
    for (size_t i = 0; i < ARRAY_LEN(always); i++) {
        const struct tree *was = tree_get(old, always[i]);

        (void)tree_drop(meta, str_c(always[i]));
        if (was)
            tree_set(a, meta, always[i], *was);
    }
}

/* ---- conditions ---- */

const struct tree *condition_get(const struct tree *obj, const char *type)
{
    const struct tree *list = tree_at(obj, "status", "conditions", NULL);

    for (uint32_t i = 0; list && list->kind == TREE_LIST && i < list->n; i++)
        if (str_is(tree_str(tree_get(&list->items[i], "type")), type))
            return &list->items[i];
    return NULL;
}

void condition_set(struct arena *a, struct tree *obj, const char *type, const char *status, const char *reason,
                   const char *message, int64_t now_ms)
{
    struct tree *list = tree_sublist(a, tree_sub(a, obj, "status"), "conditions");
    struct tree *c = (struct tree *)condition_get(obj, type);

    if (!list)
        return;
    if (!c)
        c = tree_push(a, list, *tree_new_map(a));
    bool same = str_is(tree_str(tree_get(c, "status")), status);
    tree_set_str(a, c, "type", str_c(type));
    tree_set_str(a, c, "status", str_c(status));
    if (!same || !tree_get(c, "lastTransitionTime"))
        tree_set_str(a, c, "lastTransitionTime", meta_time(a, now_ms));
    (void)tree_drop(c, STR("reason"));
    (void)tree_drop(c, STR("message"));
    if (reason[0])
        tree_set_str(a, c, "reason", arena_strdup(a, str_c(reason)));
    if (message[0])
        tree_set_str(a, c, "message", arena_strdup(a, str_c(message)));
}

/* ---- finalizers ---- */

static struct tree *finalizers(const struct tree *obj)
{
    struct tree *list = tree_find((struct tree *)tree_get(obj, "metadata"), STR("finalizers"));

    return list && list->kind == TREE_LIST ? list : NULL;
}

static uint32_t find(const struct tree *list, str name)
{
    uint32_t i = 0;

    while (list && i < list->n && !str_eq(tree_str(&list->items[i]), name))
        i++;
    return i;
}

bool finalizers_have(const struct tree *obj, const char *name)
{
    const struct tree *list = finalizers(obj);

    return list && find(list, str_c(name)) < list->n;
}

bool finalizers_drop(struct tree *obj, const char *name)
{
    struct tree *list = finalizers(obj);
    uint32_t i = find(list, str_c(name));

    if (!list || i == list->n)
        return false;
    tree_remove(list, i);
    return true;
}

void finalizers_add(struct arena *a, struct tree *obj, str name)
{
    struct tree *list = tree_sublist(a, tree_sub(a, obj, "metadata"), "finalizers");

    if (list && find(list, name) == list->n)
        (void)tree_push(a, list, tree_of_str(name));
}
