/* Strategic merge patch: a merge patch that knows which lists are sets and which are maps in disguise.
 *
 * Two passes over each map of the patch, as in the original: first the lists whose order is given ($setElementOrder/…), which
 * are merged and sorted, then everything else. Of a list the items that the patch mentions keep the order of the patch, the
 * others that of the object; where both are known to the object its order decides which comes first.
 *
 * The patch is a copy and is used up: directives and what has been dealt with are taken out of it.
 */
#include "base/vec.h"
#include "data/edit.h"
#include "sim/kube/patch.h"
#include "sim/kube/patch_impl.h"
#include "sim/kube/schema.h"
#include "sim/kube/status.h"

#define DIRECTIVE STR("$patch")
#define RETAIN STR("$retainKeys")
#define DELETE_FROM STR("$deleteFromPrimitiveList")
#define SET_ORDER STR("$setElementOrder")

struct smp {
    struct arena *a;
    struct status *st;
};

static bool merge_map(struct smp *m, const struct schema *s, struct tree *target, struct tree *patch);

static bool is_order(str key)
{
    return str_starts(key, SET_ORDER);
}

static bool is_delete(str key)
{
    return str_starts(key, DELETE_FROM);
}

/* "$setElementOrder/X": what comes after the slash. */
static bool directive_field(str key, str *ret)
{
    str head;

    return str_cut(key, '/', &head, ret) && (str_eq(head, SET_ORDER) || str_eq(head, DELETE_FROM));
}

/* A reason is given for a bad form only; what makes no sense is an error inside the server, to a real one. */
static bool bad_format(struct smp *m, const char *what)
{
    return refuse(m->a, m->st, 400, "BadRequest", "invalid patch format of %s", what);
}

static bool no_merge_key(struct smp *m, const struct tree *map, str key)
{
    str text = go_text(m->a, map);

    return refuse(m->a, m->st, 500, "", "map: " STR_FMT " does not contain declared merge key: " STR_FMT, STR_ARG(text),
                  STR_ARG(key));
}

static bool unknown_patch_type(struct smp *m, const struct tree *type, const struct tree *map)
{
    str text = go_text(m->a, map), name = go_text(m->a, type);

    if (type->kind != TREE_STRING)
        name = arena_printf(m->a, "%%!s(%s=" STR_FMT ")", go_kind(type), STR_ARG(name));
    return refuse(m->a, m->st, 500, "", "unknown patch type: " STR_FMT " in map: " STR_FMT, STR_ARG(name),
                  STR_ARG(text));
}

/* ---- what is left of a patch where the object has nothing ---- */

static bool is_mark(str key)
{
    return str_eq(key, DIRECTIVE) || str_eq(key, RETAIN) || is_order(key) || is_delete(key);
}

static void keep_member(struct tree *t, uint32_t from, uint32_t to)
{
    t->items[to] = t->items[from];
    if (t->kind == TREE_MAP)
        t->keys[to] = t->keys[from];
}

/* Directives that nobody followed: a decoder would drop them as unknown fields. */
static void drop_marks(struct tree *t)
{
    uint32_t kept = 0;

    for (uint32_t i = 0; i < t->n; i++) {
        if (t->kind == TREE_MAP && is_mark(t->keys[i]))
            continue;
        drop_marks(&t->items[i]);
        keep_member(t, i, kept++);
    }
    t->n = kept;
}

/* There is nothing that a map with $patch could delete from or replace: it goes as a whole, and so do items of lists. */
static void drop_directed(struct tree *t)
{
    uint32_t kept = 0;

    for (uint32_t i = 0; i < t->n; i++) {
        if (tree_find(&t->items[i], DIRECTIVE))
            continue;
        drop_directed(&t->items[i]);
        keep_member(t, i, kept++);
    }
    t->n = kept;
}

static void take_new(struct smp *m, struct tree *target, str key, struct tree *value)
{
    if (tree_find(value, DIRECTIVE))
        return;
    drop_nulls(value);
    drop_directed(value);
    drop_marks(value);
    *tree_put(m->a, target, key) = *value;
}

/* ---- lists ---- */

static bool same_item(const struct tree *a, const struct tree *b, str merge_key)
{
    if (!merge_key.n)
        return tree_equal(a, b);
    const struct tree *x = tree_find((struct tree *)a, merge_key), *y = tree_find((struct tree *)b, merge_key);
    return x && y && tree_equal(x, y);
}

static uint32_t index_in(const struct tree *list, const struct tree *item, str merge_key)
{
    for (uint32_t i = 0; i < list->n; i++)
        if (same_item(&list->items[i], item, merge_key))
            return i;
    return UINT32_MAX;
}

struct order {
    const struct tree *list;
    str merge_key;
};

static int by_order(const void *a, const void *b, void *ctx)
{
    const struct order *o = ctx;
    uint32_t x = index_in(o->list, a, o->merge_key), y = index_in(o->list, b, o->merge_key);

    return x < y ? -1 : x > y;
}

/* Sorts what a patch speaks of (`wanted`) as it says, the rest as the object has it (`had`), and zips the two together. */
static void arrange(struct smp *m, struct tree *list, const struct tree *wanted, const struct tree *had, str merge_key)
{
    struct tree *told = tree_new_list(m->a), *rest = tree_new_list(m->a);
    uint32_t i = 0, j = 0;

    for (uint32_t k = 0; k < list->n; k++)
        tree_push(m->a, index_in(wanted, &list->items[k], merge_key) != UINT32_MAX ? told : rest, list->items[k]);
    sort_stable(told->items, told->n, sizeof(*told->items), by_order, &(struct order){wanted, merge_key});
    sort_stable(rest->items, rest->n, sizeof(*rest->items), by_order, &(struct order){had, merge_key});
    for (uint32_t k = 0; k < list->n; k++) {
        bool from_rest = j == told->n;

        if (i < rest->n && j < told->n) {
            uint32_t x = index_in(had, &rest->items[i], merge_key), y = index_in(had, &told->items[j], merge_key);

            from_rest = x != UINT32_MAX && y != UINT32_MAX && x < y;
        }
        list->items[k] = from_rest ? rest->items[i++] : told->items[j++];
    }
}

/* All items of both lists are maps, or none is; other mixtures and lists in lists cannot be merged. */
static bool items_are_alike(struct smp *m, const struct tree *had, const struct tree *patch, bool *ret_maps)
{
    const struct tree *lists[] = {had, patch}, *first = had->n ? had->items : patch->items;

    for (size_t i = 0; i < ARRAY_LEN(lists); i++)
        for (uint32_t j = 0; j < lists[i]->n; j++) {
            const struct tree *item = &lists[i]->items[j];

            if (item->kind != first->kind || item->kind == TREE_NULL) {
                str x = go_text(m->a, had), y = go_text(m->a, patch);

                return refuse(m->a, m->st, 500, "", "list element types are not identical: [" STR_FMT " " STR_FMT "]",
                              STR_ARG(x), STR_ARG(y));
            }
            if (item->kind == TREE_LIST)
                return status_blank(m->a, m->st, 422, "the server rejected our request due to an error in our request");
        }
    *ret_maps = first->kind == TREE_MAP;
    return true;
}

static void delete_items(struct tree *list, const struct tree *like, str merge_key)
{
    for (uint32_t i = list->n; i-- > 0;)
        if (same_item(&list->items[i], like, merge_key))
            tree_remove(list, i);
}

/* Items with $patch: deletions are done, a replacement is reported; what remains in the patch are plain items. */
static bool follow_directives(struct smp *m, struct tree *list, struct tree *patch, str merge_key, bool *ret_replace)
{
    uint32_t kept = 0;

    *ret_replace = false;
    for (uint32_t i = 0; i < patch->n; i++) {
        struct tree *item = &patch->items[i];
        const struct tree *type = tree_find(item, DIRECTIVE);

        if (!type) {
            keep_member(patch, i, kept++);
        } else if (str_is(tree_str(type), "delete")) {
            if (!tree_find(item, merge_key))
                return no_merge_key(m, item, merge_key);
            delete_items(list, item, merge_key);
        } else if (str_is(tree_str(type), "replace")) {
            *ret_replace = true;
        } else if (str_is(tree_str(type), "merge")) {
            return refuse(m->a, m->st, 500, "", "merging lists cannot yet be specified in the patch");
        } else {
            return unknown_patch_type(m, type, item);
        }
    }
    patch->n = kept;
    return true;
}

static bool merge_items(struct smp *m, const struct schema *items, struct tree *list, struct tree *patch, str merge_key)
{
    for (uint32_t i = 0; i < patch->n; i++) {
        struct tree *item = &patch->items[i];

        if (!tree_find(item, merge_key))
            return no_merge_key(m, item, merge_key);
        uint32_t at = index_in(list, item, merge_key);
        if (at != UINT32_MAX) {
            if (!merge_map(m, items, &list->items[at], tree_copy(m->a, item)))
                return false;
            continue;
        }
        struct tree *copy = tree_copy(m->a, item);
        drop_nulls(copy);
        drop_marks(copy);
        (void)tree_put(m->a, copy, merge_key); /* null, if that is what it was: an item has to have it */
        tree_push(m->a, list, *copy);
    }
    return true;
}

static void merge_scalars(struct smp *m, struct tree *list, const struct tree *patch)
{
    uint32_t kept = 0;

    for (uint32_t i = 0; i < patch->n; i++)
        tree_push(m->a, list, patch->items[i]);
    for (uint32_t i = 0; i < list->n; i++) {
        struct tree so_far = {.kind = TREE_LIST, .n = kept, .items = list->items};

        if (index_in(&so_far, &list->items[i], (str){0}) == UINT32_MAX)
            list->items[kept++] = list->items[i];
    }
    list->n = kept;
}

static bool merge_list(struct smp *m, const struct schema *s, struct tree *list, struct tree *patch)
{
    bool maps, replace;
    str key = s->merge_key;

    if (!s->patch_merge) {
        drop_marks(patch);
        *list = *patch;
        return true;
    }
    if (list->n == 0 && patch->n == 0)
        return true;
    if (!items_are_alike(m, list, patch, &maps))
        return false;
    struct tree *had = tree_copy(m->a, list);
    if (!maps) {
        merge_scalars(m, list, patch);
        arrange(m, list, patch, had, (str){0});
        return true;
    }
    if (!key.n)
        return refuse(m->a, m->st, 500, "", "cannot merge lists without merge key for " STR_FMT, STR_ARG(s->name));
    if (!follow_directives(m, list, patch, key, &replace))
        return false;
    if (replace) {
        drop_marks(patch);
        *list = *patch;
        return true;
    }
    if (!merge_items(m, s->items, list, patch, key))
        return false;
    arrange(m, list, patch, had, key);
    return true;
}

/* ---- $deleteFromPrimitiveList/… ---- */

static bool delete_from_list(struct smp *m, struct tree *target, str directive, const struct tree *gone)
{
    bool maps;
    str key;

    if (!directive_field(directive, &key))
        return bad_format(m, "primitive list");
    struct tree *list = tree_find(target, key);
    if (!list || list->kind != TREE_LIST || gone->kind != TREE_LIST || list->n + gone->n == 0)
        return true;
    if (!items_are_alike(m, list, gone, &maps))
        return false;
    for (uint32_t i = 0; i < gone->n; i++)
        delete_items(list, &gone->items[i], (str){0});
    return true;
}

/* ---- $setElementOrder/… ---- */

/* "PodSpec" of "io.k8s.api.core.v1.PodSpec". */
static str type_name(const struct schema *s)
{
    size_t at = s->name.n;

    while (at > 0 && s->name.p[at - 1] != '.')
        at--;
    return str_sub(s->name, at, s->name.n);
}

static bool not_a_list(struct smp *m, const struct tree *t)
{
    return refuse(m->a, m->st, 500, "", "expected a []interface {}, but received a %s",
                  t->kind == TREE_NULL  ? "%!s(<nil>)"
                  : t->kind == TREE_MAP ? "map[string]interface {}"
                                        : go_kind(t));
}

static bool list_schema(struct smp *m, const struct schema *s, str key, const struct schema **ret)
{
    const struct schema *f = schema_child(s, key);
    str name = type_name(s);

    if (!f)
        return refuse(m->a, m->st, 500, "",
                      "unable to find api field in struct " STR_FMT " for the json field \"" STR_FMT "\"",
                      STR_ARG(name), STR_ARG(key));
    if (f->type != SCHEMA_LIST)
        return refuse(m->a, m->st, 500, "", "expected slice or array type, but got: struct");
    *ret = f;
    return true;
}

/* The items of a patch that are not deletions must appear in the order that the patch demands. */
static bool order_holds(struct smp *m, const struct tree *patch, const struct tree *order, str merge_key)
{
    uint32_t at = 0;

    for (uint32_t i = 0; i < order->n; i++)
        if (merge_key.n && !tree_find(&order->items[i], merge_key))
            return no_merge_key(m, &order->items[i], merge_key);
    for (uint32_t i = 0; patch && i < patch->n; i++) {
        const struct tree *type = tree_find(&patch->items[i], DIRECTIVE);

        if (str_is(tree_str(type), "delete"))
            continue;
        if (merge_key.n && !type && !tree_find(&patch->items[i], merge_key))
            return no_merge_key(m, &patch->items[i], merge_key);
        while (at < order->n && !same_item(&patch->items[i], &order->items[at], merge_key))
            at++;
        if (at++ >= order->n) {
            str x = go_text(m->a, patch), y = go_text(m->a, order);

            return refuse(m->a, m->st, 500, "",
                          "The order in patch list:\n" STR_FMT "\n doesn't match $setElementOrder list:\n" STR_FMT "\n",
                          STR_ARG(x), STR_ARG(y));
        }
    }
    return true;
}

/* The order that decides between items of the object and new ones.
 *
 * quirk: a real server works in the memory of the object's own list, where new items fill the places that deleted ones have
 * left at the end. Those then count as if the object had had them. */
static struct tree *order_after(struct smp *m, const struct tree *old, const struct tree *now, const struct tree *patch,
                                str merge_key)
{
    struct tree *order = tree_new_list(m->a);

    for (uint32_t i = 0; i < old->n; i++)
        if (!merge_key.n || index_in(now, &old->items[i], merge_key) != UINT32_MAX)
            tree_push(m->a, order, old->items[i]);
    for (uint32_t i = 0; i < patch->n && order->n < old->n; i++)
        if (index_in(order, &patch->items[i], merge_key) == UINT32_MAX)
            tree_push(m->a, order, patch->items[i]);
    return order;
}

static bool merge_ordered(struct smp *m, const struct schema *s, struct tree *target, struct tree *patch, str directive,
                          const struct tree *order)
{
    struct tree *had, *more, none = {.kind = TREE_LIST};
    const struct schema *f = NULL;
    str key;

    if (!directive_field(directive, &key))
        return bad_format(m, "setElementOrder list");
    if (order->kind != TREE_LIST)
        return not_a_list(m, order);
    had = tree_find(target, key);
    more = tree_find(patch, key);
    if (had && had->kind != TREE_LIST && had->kind != TREE_NULL)
        return not_a_list(m, had);
    if (more && more->kind != TREE_LIST)
        return not_a_list(m, more);
    if (!list_schema(m, s, key, &f) || !order_holds(m, more, order, f->merge_key))
        return false;
    if (!had && !more)
        return true;

    struct tree *old = tree_copy(m->a, had ? had : &none);
    if (had && more) {
        if (!merge_list(m, f, had, more))
            return false;
        old = order_after(m, old, had, more, f->merge_key);
    } else if (more) {
        take_new(m, target, key, more);
        had = tree_find(target, key);
    }
    if (had)
        arrange(m, had, order, old, f->merge_key);
    (void)tree_drop(patch, key);
    return true;
}

/* ---- maps ---- */

static bool retain_keys(struct smp *m, struct tree *target, struct tree *patch)
{
    struct tree *found = tree_find(patch, RETAIN), keep;

    if (!found)
        return true;
    keep = *found;
    if (keep.kind != TREE_LIST)
        return bad_format(m, "retainKeys");
    (void)tree_drop(patch, RETAIN);
    for (uint32_t i = 0; i < patch->n; i++) {
        struct tree key = tree_of_str(patch->keys[i]);

        if (patch->items[i].kind == TREE_NULL || is_order(key.text) || is_delete(key.text))
            continue;
        if (index_in(&keep, &key, (str){0}) == UINT32_MAX)
            return bad_format(m, "retainKeys");
    }
    for (uint32_t i = target->n; i-- > 0;) {
        struct tree key = tree_of_str(target->keys[i]);

        if (index_in(&keep, &key, (str){0}) == UINT32_MAX)
            (void)tree_drop(target, key.text);
    }
    return true;
}

/* $patch in a map: all of it goes, or makes way for the patch. */
static bool follow_directive(struct smp *m, struct tree *target, struct tree *patch, const struct tree *type)
{
    if (str_is(tree_str(type), "delete")) {
        *target = (struct tree){.kind = TREE_MAP};
        return true;
    }
    if (!str_is(tree_str(type), "replace"))
        return unknown_patch_type(m, type, patch);
    drop_marks(patch);
    *target = *patch;
    return true;
}

static bool merge_member(struct smp *m, const struct schema *s, struct tree *target, str key, struct tree *patch)
{
    static const struct schema unknown = {.type = SCHEMA_ANY};
    struct tree *t = tree_find(target, key);

    if (patch->kind == TREE_NULL) {
        (void)tree_drop(target, key);
        return true;
    }
    if (!t || t->kind == TREE_NULL) {
        take_new(m, target, key, patch);
        return true;
    }
    const struct schema *f = schema_child(s, key);
    if (!f)
        f = &unknown;
    if (t->kind != patch->kind || (t->kind != TREE_MAP && t->kind != TREE_LIST) ||
        (t->kind == TREE_MAP && f->patch_replace)) {
        drop_nulls(patch);
        *t = *patch;
        return true;
    }
    return t->kind == TREE_MAP ? merge_map(m, f, t, patch) : merge_list(m, f, t, patch);
}

static bool merge_map(struct smp *m, const struct schema *s, struct tree *target, struct tree *patch)
{
    const struct tree *type = tree_find(patch, DIRECTIVE);

    if (type)
        return follow_directive(m, target, patch, type);
    if (!retain_keys(m, target, patch))
        return false;
    for (uint32_t i = 0; i < patch->n;) {
        str key = patch->keys[i];

        if (!is_order(key)) {
            i++;
            continue;
        }
        struct tree order = patch->items[i];
        (void)tree_drop(patch, key);
        if (!merge_ordered(m, s, target, patch, key, &order))
            return false;
        i = 0; /* the list that was merged may have stood before */
    }
    for (uint32_t i = 0; i < patch->n; i++) {
        bool ok = is_delete(patch->keys[i]) ? delete_from_list(m, target, patch->keys[i], &patch->items[i])
                                            : merge_member(m, s, target, patch->keys[i], &patch->items[i]);

        if (!ok)
            return false;
    }
    return true;
}

bool patch_strategic(struct arena *a, const struct schema *s, struct tree *target, const struct tree *patch,
                     struct status *st)
{
    struct smp m = {.a = a, .st = st};

    if (patch->kind == TREE_NULL)
        return true;
    if (patch->kind != TREE_MAP)
        return refuse(a, st, 400, "BadRequest",
                      "json: cannot unmarshal %s into Go value of type map[string]interface {}", go_json_kind(patch));
    struct tree *used_up = tree_copy(a, patch);
    (void)tree_drop(used_up, STR("apiVersion")); /* an object does not change its kind */
    (void)tree_drop(used_up, STR("kind"));
    return merge_map(&m, s, target, used_up) && restores(a, s, target, used_up, st);
}
