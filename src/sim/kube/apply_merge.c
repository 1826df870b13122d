/* Merging a configuration into an object by its schema, and taking out what is no longer configured. */
#include "data/edit.h"
#include "sim/kube/apply_impl.h"
#include "sim/kube/typed.h"

static void push_member(struct tree *map, str key, struct tree value)
{
    assert(map->n < map->cap);
    map->keys[map->n] = key;
    map->items[map->n++] = value;
}

static struct tree map_with_room(struct arena *a, uint32_t cap)
{
    return (struct tree){
        .kind = TREE_MAP,
        .cap = cap,
        .items = arena_new_array(a, struct tree, cap),
        .keys = arena_new_array(a, str, cap),
    };
}

static struct tree merge_maps(struct arena *a, const struct schema *s, const struct tree *x, const struct tree *y)
{
    struct tree out = map_with_room(a, x->n + y->n);
    uint32_t hint = 0;

    for (uint32_t i = 0; i < x->n; i++) {
        const struct tree *more = typed_find(y, x->keys[i], &hint);
        struct tree t = more ? typed_merge(a, typed_member(s, x->keys[i]), &x->items[i], more) : x->items[i];

        push_member(&out, x->keys[i], t);
    }
    hint = 0;
    for (uint32_t i = 0; i < y->n; i++)
        if (!typed_find(x, y->keys[i], &hint))
            push_member(&out, y->keys[i], y->items[i]);
    return out;
}

/* Two orders become one. Items of the configuration come in its order, the others keep theirs; an item that both have pulls those
 * before it along, as long as the two orders agree. */
struct zip {
    struct arena *a;
    const struct schema *s;
    const struct tree *x, *y;
    uint32_t *x_in_y, *y_in_x; /* where an item is in the other list; its length when it is not */
    bool *merged;              /* items of y that are out already */
    uint32_t shared;           /* the next item of y that x has too; y->n when there is none */
    struct tree out;
};

static void next_shared(struct zip *z, uint32_t from)
{
    z->shared = from;
    while (z->shared < z->y->n && z->y_in_x[z->shared] == z->x->n)
        z->shared++;
}

static void take_config_item(struct zip *z, uint32_t j)
{
    uint32_t i = z->y_in_x[j];
    const struct tree *y = &z->y->items[j];

    tree_push(z->a, &z->out, i < z->x->n ? typed_merge(z->a, z->s->items, &z->x->items[i], y) : *y);
    z->merged[j] = true;
    if (z->shared == j)
        next_shared(z, j + 1);
}

static void zip_lists(struct zip *z)
{
    uint32_t i = 0, j = 0;

    while (i < z->x->n || j < z->y->n) {
        uint32_t in_y = i < z->x->n ? z->x_in_y[i] : z->y->n;

        if (i < z->x->n && j < z->y->n) {
            if (in_y == j) {
                take_config_item(z, j++);
                i++;
                continue;
            }
            if (in_y < z->y->n && z->shared < z->y->n && in_y != z->shared) {
                i++; /* has its turn later, or had it */
                continue;
            }
        }
        if (i < z->x->n && in_y == z->y->n) {
            tree_push(z->a, &z->out, z->x->items[i++]);
            continue;
        }
        if (i < z->x->n && z->merged[in_y])
            i++;
        if (j < z->y->n)
            take_config_item(z, j++);
    }
}

static struct tree merge_lists(struct arena *a, const struct schema *s, const struct tree *x, const struct tree *y)
{
    struct zip z = {
        .a = a,
        .s = s,
        .x = x,
        .y = y,
        .x_in_y = arena_new_array(a, uint32_t, x->n),
        .y_in_x = arena_new_array(a, uint32_t, y->n),
        .merged = arena_new_array(a, bool, y->n),
        .out = {.kind = TREE_LIST},
    };
    uint32_t hint = 0;

    for (uint32_t i = 0; i < x->n; i++)
        z.x_in_y[i] = item_find(s, y, &x->items[i], &hint);
    hint = 0;
    for (uint32_t j = 0; j < y->n; j++)
        z.y_in_x[j] = item_find(s, x, &y->items[j], &hint);
    next_shared(&z, 0);
    zip_lists(&z);
    return z.out;
}

struct tree typed_merge(struct arena *a, const struct schema *s, const struct tree *live, const struct tree *config)
{
    enum shape shape = shape_of(s, config);

    if (config->kind == TREE_NULL && shape_of(s, live) != SHAPE_LEAF)
        shape = shape_of(s, live);
    if (shape == SHAPE_LEAF || shape_of(s, live) != shape || (typed_hollow(live) && typed_hollow(config)))
        return *config;
    return shape == SHAPE_MAP ? merge_maps(a, s, live, config) : merge_lists(a, s, live, config);
}

/* ---- taking out ---- */

struct tree typed_without(struct arena *a, const struct schema *s, const struct tree *t, const struct tree *set)
{
    enum shape shape = shape_of(s, t);
    struct tree out = shape == SHAPE_MAP ? map_with_room(a, t->n) : (struct tree){.kind = TREE_LIST};

    if (shape == SHAPE_LEAF || t->n == 0)
        return *t;
    for (uint32_t i = 0; i < t->n; i++) {
        const struct tree *item = &t->items[i];
        const struct schema *f = shape == SHAPE_MAP ? typed_member(s, t->keys[i]) : s->items;
        str step = shape == SHAPE_MAP ? member_step(a, t->keys[i]) : item_step(a, s, item);
        const struct tree *below = fields_below(set, step);

        if (below && fields_is_member(below))
            continue;
        struct tree left = below ? typed_without(a, f, item, below) : *item;
        if (shape == SHAPE_MAP)
            push_member(&out, t->keys[i], left);
        else
            tree_push(a, &out, left);
    }
    return out.n ? out : tree_of_null();
}

static struct tree with_structs(struct arena *a, const struct schema *s, const struct tree *set)
{
    struct field_node node = {0};

    for (uint32_t i = 0; i < set->n; i++) {
        str step = set->keys[i];
        const struct schema *below = NULL;
        struct field_node kid = {0};

        if (str_is(step, "."))
            continue;
        str name = str_sub(step, 2, step.n);
        if (step.p[0] == 'f')
            below = typed_member(s, name);
        else if (s && s->type == SCHEMA_LIST)
            below = s->items;
        kid.member = fields_is_member(&set->items[i]) || (step.p[0] == 'f' && schema_field(s, name));
        kid.kids = with_structs(a, below, &set->items[i]);
        fields_put(a, &node, step, &kid);
    }
    return fields_done(a, &node);
}

const struct tree *typed_with_structs(struct arena *a, const struct schema *s, const struct tree *set)
{
    struct tree t = with_structs(a, s, set);

    return arena_dup_array(a, struct tree, &t, 1);
}
