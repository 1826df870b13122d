/* Sets of field paths. Both sides of an operation are sorted: they are walked side by side, like sorted lists that are merged. */
#include "sim/kube/fields.h"

#include "base/vec.h"
#include "data/edit.h"
#include "data/json.h"
#include "data/reader.h"
#include "sim/kube/patch_impl.h"

#define MEMBER STR(".")

const struct tree fields_none = {.kind = TREE_MAP};

/* ---- order ---- */

static bool in_number(char c)
{
    return (c >= '0' && c <= '9') || c == '-' || c == '+' || c == '.' || c == 'e' || c == 'E';
}

/* The number that s[at] is part of; empty when it is in a string. */
static str number_at(str s, size_t at)
{
    bool quoted = false;
    size_t start = at, end = at;

    for (size_t i = 0; i < at; i++) {
        if (quoted && s.p[i] == '\\')
            i++;
        else if (s.p[i] == '"')
            quoted = !quoted;
    }
    if (quoted)
        return (str){0};
    while (start > 0 && in_number(s.p[start - 1]))
        start--;
    while (end < s.n && in_number(s.p[end]))
        end++;
    return str_sub(s, start, end);
}

/* Two JSON texts, token by token: numbers by value, the rest by its bytes. */
static int json_cmp(str a, str b)
{
    size_t at = 0;
    double x, y;

    while (at < a.n && at < b.n && a.p[at] == b.p[at])
        at++;
    if (at < a.n && at < b.n && str_to_double(number_at(a, at), &x) && str_to_double(number_at(b, at), &y) && x != y)
        return x < y ? -1 : 1;
    return str_cmp(a, b);
}

static int rank(str step)
{
    const char *all = ".fkvi", *at = step.n ? strchr(all, step.p[0]) : NULL;

    return at ? (int)(at - all) : 5;
}

static int step_cmp(str a, str b)
{
    int x = rank(a), y = rank(b);

    if (x != y)
        return x < y ? -1 : 1;
    return a.n && a.p[0] != 'f' ? json_cmp(a, b) : str_cmp(a, b);
}

struct member {
    str key;
    struct tree value;
};

static int by_step(const void *a, const void *b, void *ctx)
{
    (void)ctx;
    return step_cmp(((const struct member *)a)->key, ((const struct member *)b)->key);
}

static void sort_steps(struct tree *t)
{
    bool sorted = true;

    for (uint32_t i = 1; i < t->n && sorted; i++)
        sorted = step_cmp(t->keys[i - 1], t->keys[i]) < 0;
    if (sorted)
        return;
    struct member *all = xmalloc(sizeof(*all) * t->n);
    for (uint32_t i = 0; i < t->n; i++)
        all[i] = (struct member){t->keys[i], t->items[i]};
    sort_stable(all, t->n, sizeof(*all), by_step, NULL);
    for (uint32_t i = 0; i < t->n; i++) {
        t->keys[i] = all[i].key;
        t->items[i] = all[i].value;
    }
    free(all);
}

/* ---- reading ---- */

static bool well_formed(const struct tree *t, bool *sorted)
{
    if (t->kind != TREE_MAP)
        return false;
    for (uint32_t i = 0; i < t->n; i++) {
        str step = t->keys[i];
        bool known = str_eq(step, MEMBER) || (step.n > 1 && step.p[1] == ':' && strchr("fkvi", step.p[0]));

        if (!known || !well_formed(&t->items[i], sorted))
            return false;
        if (i && step_cmp(t->keys[i - 1], step) >= 0)
            *sorted = false;
    }
    return true;
}

static void sort_all(struct tree *t)
{
    for (uint32_t i = 0; i < t->n; i++)
        sort_all(&t->items[i]);
    sort_steps(t);
}

const struct tree *fields_read(struct arena *a, const struct tree *t)
{
    bool sorted = true;

    if (!t || !well_formed(t, &sorted))
        return NULL;
    if (sorted)
        return t;
    struct tree *copy = tree_copy(a, t);
    sort_all(copy);
    return copy;
}

/* ---- algebra ---- */

enum op { UNION, MINUS, COMMON };

bool fields_is_member(const struct tree *t)
{
    return t->n == 0 || str_eq(t->keys[0], MEMBER);
}

static bool keeps(enum op op, bool x, bool y)
{
    return op == UNION ? x || y : op == MINUS ? x && !y : x && y;
}

/* Without looking whether the key is there: sets can be large. */
static void push(struct arena *a, struct tree *out, uint32_t room, str key, struct tree value)
{
    if (out->n == out->cap) {
        struct tree *items = arena_new_array(a, struct tree, room);
        str *keys = arena_new_array(a, str, room);

        if (out->n) {
            memcpy(items, out->items, out->n * sizeof(*items));
            memcpy(keys, out->keys, out->n * sizeof(*keys));
        }
        out->items = items;
        out->keys = keys;
        out->cap = room;
    }
    out->keys[out->n] = key;
    out->items[out->n++] = value;
}

/* The steps below x and y, "." left out. *changed: the outcome is not x. */
static struct tree combine_kids(struct arena *a, enum op op, const struct tree *x, const struct tree *y, bool *changed);

/* One step that both know. False: nothing is left. */
static bool combine_node(struct arena *a, enum op op, const struct tree *x, const struct tree *y, struct tree *ret,
                         bool *changed)
{
    bool was = fields_is_member(x), member = keeps(op, was, fields_is_member(y)), kids_changed = false;
    struct tree kids = combine_kids(a, op, x, y, &kids_changed);

    if (member == was && !kids_changed) {
        *ret = *x;
        return true;
    }
    *changed = true;
    if (member && kids.n) {
        struct tree all = {.kind = TREE_MAP};

        for (uint32_t i = 0; i < kids.n + 1; i++)
            push(a, &all, kids.n + 1, i ? kids.keys[i - 1] : MEMBER, i ? kids.items[i - 1] : fields_none);
        kids = all;
    }
    *ret = kids;
    return member || kids.n;
}

static struct tree combine_kids(struct arena *a, enum op op, const struct tree *x, const struct tree *y, bool *changed)
{
    struct tree out = {.kind = TREE_MAP}, node;
    uint32_t i = x->n && str_eq(x->keys[0], MEMBER), j = y->n && str_eq(y->keys[0], MEMBER), cap = x->n + y->n;

    while (i < x->n || j < y->n) {
        int c = i == x->n ? 1 : j == y->n ? -1 : step_cmp(x->keys[i], y->keys[j]);

        if (c < 0) {
            if (op == COMMON)
                *changed = true;
            else
                push(a, &out, cap, x->keys[i], x->items[i]);
            i++;
        } else if (c > 0) {
            if (op == UNION) {
                push(a, &out, cap, y->keys[j], y->items[j]);
                *changed = true;
            }
            j++;
        } else {
            if (combine_node(a, op, &x->items[i], &y->items[j], &node, changed))
                push(a, &out, cap, x->keys[i], node);
            i++;
            j++;
        }
    }
    return out;
}

static const struct tree *combine(struct arena *a, enum op op, const struct tree *x, const struct tree *y)
{
    bool changed = false;
    struct tree t = combine_kids(a, op, x, y, &changed);

    return changed ? arena_dup_array(a, struct tree, &t, 1) : x;
}

const struct tree *fields_union(struct arena *a, const struct tree *x, const struct tree *y)
{
    return combine(a, UNION, x, y);
}

static bool meet(const struct tree *x, const struct tree *y)
{
    uint32_t i = 0, j = 0;

    while (i < x->n && j < y->n) {
        int c = step_cmp(x->keys[i], y->keys[j]);

        if (c == 0 &&
            ((fields_is_member(&x->items[i]) && fields_is_member(&y->items[j])) || meet(&x->items[i], &y->items[j])))
            return true;
        i += c <= 0;
        j += c >= 0;
    }
    return false;
}

/* Most managers have nothing to do with most writes: that is found out without making anything. */
const struct tree *fields_minus(struct arena *a, const struct tree *x, const struct tree *y)
{
    return meet(x, y) ? combine(a, MINUS, x, y) : x;
}

const struct tree *fields_common(struct arena *a, const struct tree *x, const struct tree *y)
{
    return combine(a, COMMON, x, y);
}

/* ---- building ---- */

/* The same step twice: an item that a list has twice. */
static void join_repeated(struct arena *a, struct tree *t)
{
    uint32_t kept = 0;
    bool changed;

    for (uint32_t i = 1; i < t->n; i++) {
        if (str_eq(t->keys[kept], t->keys[i])) {
            (void)combine_node(a, UNION, &t->items[kept], &t->items[i], &t->items[kept], &changed);
        } else {
            kept++;
            t->keys[kept] = t->keys[i];
            t->items[kept] = t->items[i];
        }
    }
    t->n = t->n ? kept + 1 : 0;
}

struct tree fields_done(struct arena *a, struct field_node *node)
{
    node->kids.kind = TREE_MAP;
    if (node->member && node->kids.n)
        push(a, &node->kids, node->kids.n + 1, MEMBER, fields_none);
    sort_steps(&node->kids);
    join_repeated(a, &node->kids);
    return node->kids;
}

void fields_put(struct arena *a, struct field_node *above, str step, struct field_node *node)
{
    if (node->member || node->kids.n)
        push(a, &above->kids, MAX(4u, 2 * above->kids.n), step, fields_done(a, node));
}

const struct tree *fields_below(const struct tree *set, str step)
{
    return tree_find((struct tree *)set, step);
}

/* ---- text ---- */

static void json_value(struct jw *w, const struct tree *t)
{
    if (t->kind != TREE_MAP && t->kind != TREE_LIST) {
        jw_tree(w, t);
        return;
    }
    if (t->kind == TREE_LIST) {
        jw_list(w);
        for (uint32_t i = 0; i < t->n; i++)
            json_value(w, &t->items[i]);
    } else {
        uint32_t *order = keys_in_order(t);

        jw_map(w);
        for (uint32_t i = 0; i < t->n; i++) {
            jw_key_str(w, t->keys[order[i]]);
            json_value(w, &t->items[order[i]]);
        }
        free(order);
    }
    jw_end(w);
}

void fields_json(struct sb *out, const struct tree *t)
{
    struct jw w = {.out = out};

    json_value(&w, t);
}

/* "k:{…}" as [name="a",port=80]. */
static void print_keys(struct arena *a, struct sb *out, str json)
{
    const struct tree *keys;
    struct err e;

    if (!tree_parse_json(a, "k", json, &keys, &e) || keys->kind != TREE_MAP) {
        sb_str(out, json);
        return;
    }
    for (uint32_t i = 0; i < keys->n; i++) {
        sb_c(out, i ? "," : "");
        sb_str(out, keys->keys[i]);
        sb_char(out, '=');
        fields_json(out, &keys->items[i]);
    }
}

static void print_step(struct arena *a, struct sb *out, str step)
{
    str rest = str_sub(step, 2, step.n);

    if (step.p[0] == 'f') {
        sb_char(out, '.');
        sb_str(out, rest);
        return;
    }
    sb_char(out, '[');
    if (step.p[0] == 'k') {
        print_keys(a, out, rest);
    } else {
        sb_c(out, step.p[0] == 'v' ? "=" : "");
        sb_str(out, rest);
    }
    sb_char(out, ']');
}

str fields_step_text(struct arena *a, str step)
{
    struct sb b = {0};

    print_step(a, &b, step);
    str s = sb_dup(&b, a);
    sb_fini(&b);
    return s;
}

struct walk {
    struct arena *a;
    struct sb path;
    void (*fn)(void *ctx, str path);
    void *ctx;
};

static void walk(struct walk *w, const struct tree *t)
{
    size_t n = w->path.n;

    for (int deeper = 0; deeper < 2; deeper++)
        for (uint32_t i = 0; i < t->n; i++) {
            const struct tree *below = &t->items[i];

            if (str_eq(t->keys[i], MEMBER))
                continue;
            print_step(w->a, &w->path, t->keys[i]);
            if (deeper)
                walk(w, below);
            else if (fields_is_member(below))
                w->fn(w->ctx, sb_dup(&w->path, w->a));
            w->path.n = n;
        }
}

void fields_each(struct arena *a, const struct tree *set, void (*fn)(void *ctx, str path), void *ctx)
{
    struct walk w = {.a = a, .fn = fn, .ctx = ctx};

    walk(&w, set);
    sb_fini(&w.path);
}
