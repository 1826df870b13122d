/* What differs between two versions of an object, field by field; and the fields of a configuration.
 *
 * Writes are frequent and mostly change little, so nothing is made for what is equal: the text of a step is written only when
 * something below it differs. */
#include "data/edit.h"
#include "sim/kube/patch.h"
#include "sim/kube/typed.h"

/* What an empty struct of a built-in kind is: its address tells it from an empty map. */
static const struct tree zero = {.kind = TREE_MAP};
static const struct tree null = {.kind = TREE_NULL};

struct sides {
    struct field_node taken, removed;
};

struct compare {
    struct arena *a;
    const struct apply_options *o;
};

/* What is compared; NULL: absent. */
struct pair {
    const struct tree *x, *y;
};

struct spot {
    enum realm realm;
    unsigned depth;
};

static void compare(struct compare *c, const struct schema *s, struct pair p, struct spot at, struct sides *out);

static void compare_leaf(const struct tree *x, const struct tree *y, struct sides *out)
{
    if (!y)
        out->removed.member = true;
    else if (!x || !tree_equal(x, y))
        out->taken.member = true;
}

static void put(struct compare *c, struct sides *above, str step, struct sides *below)
{
    fields_put(c->a, &above->taken, step, &below->taken);
    fields_put(c->a, &above->removed, step, &below->removed);
}

static bool is_any(const struct sides *s)
{
    return s->taken.member || s->taken.kids.n || s->removed.member || s->removed.kids.n;
}

/* A member that is not in the text: what has no way of being absent is there all the same, and so is, in an empty struct, whatever
 * has to be written. */
static const struct tree *implied(const struct schema_field *f, const struct tree *in)
{
    if (!f || !(f->always || (f->required && in == &zero)))
        return NULL;
    return f->always && f->schema->type == SCHEMA_OBJECT ? &zero : &null;
}

/* What an implied scalar is equal to. */
static bool is_zero(const struct tree *t)
{
    double d;

    if (t->kind == TREE_NUMBER)
        return str_to_double(t->text, &d) && d == 0;
    return (t->kind == TREE_STRING && t->text.n == 0) || (t->kind == TREE_BOOL && !t->truth);
}

static void compare_member(struct compare *c, const struct schema *s, str key, struct pair p, struct spot at,
                           struct sides *out)
{
    struct spot below = {realm_below(at.realm, key), at.depth + 1};
    struct sides found = {0};

    compare(c, typed_member(s, key), p, below, &found);
    if (below.realm == REALM_META)
        found.taken.member = found.removed.member = false; /* nobody's */
    if (is_any(&found))
        put(c, out, member_step(c->a, key), &found);
}

/* With what is implied, or both NULL when there is nothing to compare. */
static struct pair complete(const struct schema *s, str key, struct pair in, struct pair p)
{
    const struct schema_field *f = s && s->type == SCHEMA_OBJECT ? schema_field(s, key) : NULL;

    if (!p.x && in.x)
        p.x = implied(f, in.x);
    if (!p.y && in.y)
        p.y = implied(f, in.y);
    bool same = (p.x == &null && p.y && is_zero(p.y)) || (p.y == &null && p.x && is_zero(p.x));
    return same ? (struct pair){0} : p;
}

static void compare_maps(struct compare *c, const struct schema *s, struct pair in, struct spot at, struct sides *out)
{
    uint32_t hint = 0, n_x = in.x ? in.x->n : 0, n_y = in.y ? in.y->n : 0;

    for (uint32_t i = 0; i < n_x + n_y; i++) {
        const struct tree *from = i < n_x ? in.x : in.y, *other = i < n_x ? in.y : in.x;
        uint32_t ix = i < n_x ? i : i - n_x;
        str key = from->keys[ix];

        if (i == n_x)
            hint = 0;
        const struct tree *there = typed_find(other, key, &hint);
        if ((i >= n_x && there) || (at.realm != REALM_BELOW && !ownable(c->o, s, at.realm, key)))
            continue;
        struct pair p = i < n_x ? (struct pair){&from->items[ix], there} : (struct pair){NULL, &from->items[ix]};
        if (!p.x || !p.y)
            p = complete(s, key, in, p);
        if (p.x || p.y)
            compare_member(c, s, key, p, at, out);
    }
}

static void compare_item(struct compare *c, const struct schema *s, struct pair p, struct spot at, struct sides *out)
{
    struct sides found = {0};

    compare(c, s->items, p, (struct spot){REALM_BELOW, at.depth + 1}, &found);
    if (is_any(&found))
        put(c, out, item_step(c->a, s, p.x ? p.x : p.y), &found);
}

/* An item that one list has more often than the other: the item as a whole has changed. */
static void take_item(struct compare *c, const struct schema *s, const struct tree *item, struct sides *out)
{
    struct sides found = {.taken = {.member = true}};

    put(c, out, item_step(c->a, s, item), &found);
}

static void compare_lists(struct compare *c, const struct schema *s, struct pair in, struct spot at, struct sides *out)
{
    static const struct tree nothing = {.kind = TREE_LIST};
    const struct tree *x = in.x ? in.x : &nothing, *y = in.y ? in.y : &nothing;
    uint32_t hint = 0;
    bool *met = arena_new_array(c->a, bool, x->n);

    for (uint32_t j = 0; j < y->n; j++) {
        uint32_t i = item_find(s, x, &y->items[j], &hint);

        if (i < x->n && met[i]) {
            take_item(c, s, &y->items[j], out);
            continue;
        }
        compare_item(c, s, (struct pair){i < x->n ? &x->items[i] : NULL, &y->items[j]}, at, out);
        if (i < x->n)
            met[i] = true;
    }
    hint = 0;
    for (uint32_t i = 0; i < x->n; i++) {
        if (met[i])
            continue;
        if (item_find(s, y, &x->items[i], &hint) < y->n)
            take_item(c, s, &x->items[i], out);
        else
            compare_item(c, s, (struct pair){&x->items[i], NULL}, at, out);
    }
}

static void compare(struct compare *c, const struct schema *s, struct pair p, struct spot at, struct sides *out)
{
    if (p.x && p.y && tree_same(p.x, p.y))
        return;
    enum shape shape = shape_of(s, p.y ? p.y : p.x);

    if (p.x && p.y && shape_of(s, p.x) != shape) {
        compare(c, s, (struct pair){p.x, NULL}, at, out);
        out->removed.member = false;
        compare(c, s, (struct pair){NULL, p.y}, at, out);
        return;
    }
    if (shape == SHAPE_LEAF || (typed_hollow(p.x) && typed_hollow(p.y)) || at.depth > TYPED_DEPTH) {
        compare_leaf(p.x, p.y, out);
        return;
    }
    if (shape == SHAPE_MAP)
        compare_maps(c, s, p, at, out);
    else
        compare_lists(c, s, p, at, out);
    out->taken.member |= !p.x;
    out->removed.member |= !p.y;
}

static const struct tree *set_of(struct arena *a, struct field_node *root)
{
    struct tree t = fields_done(a, root);

    return t.n ? arena_dup_array(a, struct tree, &t, 1) : &fields_none;
}

struct difference typed_compare(struct arena *a, const struct schema *s, const struct tree *old, const struct tree *obj,
                                const struct apply_options *o)
{
    static const struct tree blank = {.kind = TREE_MAP};
    struct compare c = {.a = a, .o = o};
    struct sides all = {0};

    if (!old)
        old = s->name.n ? &zero : &blank;
    compare(&c, s, (struct pair){old, obj}, (struct spot){REALM_TOP, 0}, &all);
    all.taken.member = all.removed.member = false;
    return (struct difference){.taken = set_of(a, &all.taken), .removed = set_of(a, &all.removed)};
}

/* ---- the fields of a configuration ---- */

/* A map's keys and a list's items are fields of their own; a struct that has members is not. */
static bool is_own_field(const struct schema *s, str key, const struct tree *t, enum realm r)
{
    if (r == REALM_META)
        return false;
    return t->kind == TREE_NULL || (t->kind == TREE_MAP && t->n == 0) || !schema_field(s, key);
}

static void collect(struct compare *c, const struct schema *s, const struct tree *t, struct spot at,
                    struct field_node *out)
{
    enum shape shape = shape_of(s, t);

    if (shape == SHAPE_LEAF || at.depth > TYPED_DEPTH) {
        out->member = true;
        return;
    }
    for (uint32_t i = 0; i < t->n; i++) {
        const struct tree *item = &t->items[i];
        struct field_node below = {0};

        if (shape != SHAPE_MAP) {
            collect(c, s->items, item, (struct spot){REALM_BELOW, at.depth + 1}, &below);
            below.member = true;
            fields_put(c->a, out, item_step(c->a, s, item), &below);
            continue;
        }
        str key = t->keys[i];
        enum realm r = realm_below(at.realm, key);
        if (c->o && at.realm != REALM_BELOW && !ownable(c->o, s, at.realm, key))
            continue;
        collect(c, typed_member(s, key), item, (struct spot){r, at.depth + 1}, &below);
        below.member |= is_own_field(s, key, item, r);
        fields_put(c->a, out, member_step(c->a, key), &below);
    }
}

const struct tree *typed_fields(struct arena *a, const struct schema *s, const struct tree *config,
                                const struct apply_options *o)
{
    struct compare c = {.a = a, .o = o};
    struct field_node root = {0};

    collect(&c, s, config, (struct spot){REALM_TOP, 0}, &root);
    root.member = false;
    return set_of(a, &root);
}
