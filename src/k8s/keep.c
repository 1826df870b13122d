/* What is kept of an object's text. Karpenter's own kinds are kept almost whole: their controllers write conditions,
 * finalizers, labels, annotations. Of a Node, most of which is about images and addresses, only what somebody reads. */
#include "data/json.h"
#include "k8s/one.h"

#define LAST_APPLIED "kubectl.kubernetes.io/last-applied-configuration"

bool k8s_keeps_text(enum object_kind kind)
{
    return kind == OBJ_NODE || kind == OBJ_NODECLAIM || kind == OBJ_NODEPOOL || kind == OBJ_NODECLASS ||
           kind == OBJ_BUFFER || kind == OBJ_OVERLAY;
}

/* Members that controllers change. One of another kind than it should be is as good as absent: no server with our definitions sends it, and nobody has to ask. */
static const struct {
    const char *key;
    enum tree_kind kind;
} shapes[] = {
    {"metadata", TREE_MAP},       {"spec", TREE_MAP},        {"status", TREE_MAP},           {"labels", TREE_MAP},
    {"annotations", TREE_MAP},    {"finalizers", TREE_LIST}, {"ownerReferences", TREE_LIST}, {"taints", TREE_LIST},
    {"startupTaints", TREE_LIST}, {"conditions", TREE_LIST},
};

static bool fits(str key, const struct tree *t)
{
    for (size_t i = 0; i < ARRAY_LEN(shapes); i++)
        if (str_is(key, shapes[i].key))
            return t->kind == shapes[i].kind;
    return true;
}

static bool is_any(str s, const char *const *names)
{
    for (; *names; names++)
        if (str_is(s, *names))
            return true;
    return false;
}

static void as_it_is(struct jw *w, const struct tree *t, uint32_t i)
{
    jw_key_str(w, t->keys[i]);
    jw_tree(w, &t->items[i]);
}

static void conditions(struct jw *w, const struct tree *list)
{
    jw_list(w);
    for (uint32_t i = 0; i < list->n; i++)
        if (list->items[i].kind == TREE_MAP)
            jw_tree(w, &list->items[i]);
    jw_end(w);
}

static void member(struct jw *w, const struct tree *t, uint32_t i)
{
    if (!fits(t->keys[i], &t->items[i]))
        return;
    if (str_is(t->keys[i], "conditions")) {
        jw_key_str(w, t->keys[i]);
        conditions(w, &t->items[i]);
    } else {
        as_it_is(w, t, i);
    }
}

static void all_but(struct jw *w, const struct tree *t, const char *const *names)
{
    jw_map(w);
    for (uint32_t i = 0; i < t->n; i++)
        if (!is_any(t->keys[i], names))
            member(w, t, i);
    jw_end(w);
}

static void only(struct jw *w, const struct tree *t, const char *const *names)
{
    jw_map(w);
    for (uint32_t i = 0; i < t->n; i++)
        if (is_any(t->keys[i], names))
            member(w, t, i);
    jw_end(w);
}

/* A condition has a status, too, which is another one. */
static void only_of_condition(struct jw *w, const struct tree *t, const char *const *names)
{
    jw_map(w);
    for (uint32_t i = 0; i < t->n; i++)
        if (is_any(t->keys[i], names))
            as_it_is(w, t, i);
    jw_end(w);
}

/* Names are people's own here: one that is called status is a text like any other. */
static void annotations(struct jw *w, const struct tree *t)
{
    jw_map(w);
    for (uint32_t i = 0; i < t->n; i++)
        if (!str_is(t->keys[i], LAST_APPLIED))
            as_it_is(w, t, i);
    jw_end(w);
}

static void metadata(struct jw *w, const struct tree *t)
{
    static const char *const unread[] = {"managedFields", "selfLink", NULL};

    jw_map(w);
    for (uint32_t i = 0; i < t->n; i++) {
        if (is_any(t->keys[i], unread))
            continue;
        if (str_is(t->keys[i], "annotations") && t->items[i].kind == TREE_MAP) {
            jw_key_str(w, t->keys[i]);
            annotations(w, &t->items[i]);
        } else {
            member(w, t, i);
        }
    }
    jw_end(w);
}

static void node_conditions(struct jw *w, const struct tree *list)
{
    static const char *const read[] = {"type", "status", "lastTransitionTime", "reason", "message", NULL};

    jw_list(w);
    for (uint32_t i = 0; i < list->n; i++)
        if (list->items[i].kind == TREE_MAP)
            only_of_condition(w, &list->items[i], read);
    jw_end(w);
}

static void node_status(struct jw *w, const struct tree *t)
{
    static const char *const read[] = {"capacity", "allocatable", "phase", NULL};

    jw_map(w);
    for (uint32_t i = 0; i < t->n; i++) {
        if (str_is(t->keys[i], "conditions") && t->items[i].kind == TREE_LIST) {
            jw_key_str(w, t->keys[i]);
            node_conditions(w, &t->items[i]);
        } else if (is_any(t->keys[i], read)) {
            member(w, t, i);
        }
    }
    jw_end(w);
}

static bool is_launched(const struct tree *obj)
{
    const struct tree *list = tree_at(obj, "status", "conditions", NULL);

    for (uint32_t i = 0; list && i < list->n; i++)
        if (str_is(tree_str(tree_get(&list->items[i], "type")), "Launched"))
            return str_is(tree_str(tree_get(&list->items[i], "status")), "True");
    return false;
}

static void all(struct jw *w, const struct tree *t)
{
    all_but(w, t, (const char *const[]){NULL});
}

static void part(struct jw *w, enum object_kind kind, const struct tree *obj, uint32_t i)
{
    static const char *const node_spec[] = {"providerID", "taints", "unschedulable", NULL};
    static const char *const done[] = {"requirements", NULL}; /* nobody asks for them after the launch */
    const struct tree *t = &obj->items[i];
    str key = obj->keys[i];

    if (!fits(key, t))
        return;
    jw_key_str(w, key);
    if (str_is(key, "metadata"))
        metadata(w, t);
    else if (kind == OBJ_NODE && str_is(key, "spec"))
        only(w, t, node_spec);
    else if (kind == OBJ_NODE && str_is(key, "status"))
        node_status(w, t);
    else if (kind == OBJ_NODECLAIM && str_is(key, "spec") && is_launched(obj))
        all_but(w, t, done);
    else if (t->kind == TREE_MAP)
        all(w, t);
    else
        jw_tree(w, t);
}

void k8s_keep_text(struct sb *out, enum object_kind kind, const struct tree *obj)
{
    struct jw w = {.out = out};

    jw_map(&w);
    for (uint32_t i = 0; i < obj->n; i++)
        part(&w, kind, obj, i);
    jw_end(&w);
}
