/* Answers into structs. The values that a path leads to are visited one by one, lists on the way opened up; what is done with a value says the kind of the
 * field. */
#include "aws/wire.h"

#include <math.h>

#include "model/duration.h"

#define EPOCH_MAX_S 253402300800.0 /* the year 10000 */

typedef bool (*visit_fn)(struct wire *w, const struct tree *t, void *ctx);

void wire_fini(struct wire *w)
{
    strmap_fini(&w->text_ix);
    vec_fini(&w->texts);
}

str wire_text(struct wire *w, str s)
{
    uint32_t ix = strmap_get(&w->text_ix, s);

    if (ix == MAP_NONE) {
        s = arena_strdup(w->a, s);
        ix = w->texts.n;
        vec_push(&w->texts, s);
        strmap_put(&w->text_ix, s, ix);
    }
    return w->texts.v[ix];
}

/* ---- paths ---- */

static bool wrong(struct wire *w, const struct tree *t, const char *want)
{
    str text = str_sub(tree_scalar(t), 0, 60);

    if (text.n)
        return err_set(w->e, ERR_INVALID, "%s: %s in the answer (%u:%u) is \"" STR_FMT "\", want %s", w->action,
                       w->path, t->line, t->col, STR_ARG(text), want);
    return err_set(w->e, ERR_INVALID, "%s: %s in the answer (%u:%u) is %s, want %s", w->action, w->path, t->line,
                   t->col, tree_kind_name(t->kind), want);
}

static bool is_nothing(const struct tree *t)
{
    return !t || t->kind == TREE_NULL || (t->kind == TREE_STRING && str_trim(t->text).n == 0);
}

static bool visit(struct wire *w, const struct tree *t, const char *path, visit_fn fn, void *ctx);

static bool visit_rest(struct wire *w, const struct tree *t, const char *rest, visit_fn fn, void *ctx)
{
    return *rest ? visit(w, t, rest + 1, fn, ctx) : fn(w, t, ctx);
}

/* Every value below t that the path leads to, in order. */
static bool visit(struct wire *w, const struct tree *t, const char *path, visit_fn fn, void *ctx)
{
    str step = {path, strcspn(path, "[/")};
    bool every = path[step.n] == '[';
    const char *rest = path + step.n + (every ? 2 : 0);

    if (is_nothing(t))
        return true;
    if (t->kind != TREE_MAP)
        return wrong(w, t, "a map");
    const struct tree *v = tree_get_str(t, step);
    if (!v || (every && is_nothing(v)))
        return true;
    if (!every)
        return visit_rest(w, v, rest, fn, ctx);
    if (v->kind != TREE_LIST)
        return wrong(w, v, "a list");
    for (uint32_t i = 0; i < v->n; i++)
        if (!visit_rest(w, &v->items[i], rest, fn, ctx))
            return false;
    return true;
}

/* ---- single values ---- */

static bool is_scalar(const struct tree *t)
{
    return t->kind == TREE_STRING || t->kind == TREE_NUMBER || t->kind == TREE_BOOL;
}

static bool read_text(struct wire *w, const struct tree *t, str *ret)
{
    if (!is_scalar(t))
        return wrong(w, t, "a text");
    *ret = wire_text(w, t->text);
    return true;
}

static bool read_whole(struct wire *w, const struct tree *t, int64_t most, int64_t *ret)
{
    if (!is_scalar(t) || !str_to_i64(str_trim(t->text), ret) || *ret < 0 || *ret > most)
        return wrong(w, t, most == INT32_MAX ? "a whole number from 0 to 2147483647" : "a whole number from 0");
    return true;
}

static bool read_double(struct wire *w, const struct tree *t, double *ret)
{
    double v;

    if (!is_scalar(t) || !str_to_double(str_trim(t->text), &v) || !isfinite(v) || v < 0)
        return wrong(w, t, "a number from 0");
    *ret = v;
    return true;
}

static bool read_bool(struct wire *w, const struct tree *t, bool *ret)
{
    str text = str_trim(tree_scalar(t));

    if (!str_is(text, "true") && !str_is(text, "false"))
        return wrong(w, t, "true or false");
    *ret = text.n == 4;
    return true;
}

static bool read_time(struct wire *w, const struct tree *t, bool lenient, int64_t *ret)
{
    struct err e;

    if (is_scalar(t) && time_parse_rfc3339(str_trim(t->text), ret, &e))
        return true;
    *ret = INT64_MIN;
    return lenient ? true : wrong(w, t, "a time like 2026-01-15T12:00:00Z");
}

static bool read_epoch(struct wire *w, const struct tree *t, int64_t *ret)
{
    double s;

    if (!read_double(w, t, &s))
        return false;
    if (s >= EPOCH_MAX_S)
        return wrong(w, t, "a time in seconds");
    *ret = llround(s * 1000);
    return true;
}

/* ---- fields ---- */

struct target {
    const struct wire_field *field;
    char *to; /* where the field is */
};

static bool set_value(struct wire *w, const struct tree *t, void *ctx)
{
    const struct target *g = ctx;
    void *to = g->to;
    int64_t whole;

    if (g->field->kind == WIRE_TEXT)
        return read_text(w, t, to);
    if (is_nothing(t))
        return true;
    switch (g->field->kind) {
    case WIRE_I32:
        if (!read_whole(w, t, INT32_MAX, &whole))
            return false;
        *(int32_t *)to = (int32_t)whole;
        return true;
    case WIRE_I64:
        return read_whole(w, t, INT64_MAX, to);
    case WIRE_DOUBLE:
        return read_double(w, t, to);
    case WIRE_PRICE:
        if (!is_scalar(t) || !str_to_double(str_trim(t->text), to) || !isfinite(*(double *)to) || *(double *)to < 0)
            *(double *)to = NAN;
        return true;
    case WIRE_BOOL:
        return read_bool(w, t, to);
    case WIRE_THERE:
        *(bool *)to = true;
        return true;
    case WIRE_TIME:
    case WIRE_DATE:
        return read_time(w, t, g->field->kind == WIRE_DATE, to);
    case WIRE_EPOCH:
        return read_epoch(w, t, to);
    case WIRE_PART:
        return wire_read(w, g->field->shape, t, to);
    case WIRE_TEXT:
    case WIRE_TEXTS:
    case WIRE_LIST:
        break;
    }
    return true;
}

static void set_missing(const struct wire_field *f, char *to)
{
    if (f->kind == WIRE_PRICE)
        *(double *)(void *)to = NAN;
    else if (f->kind == WIRE_TIME || f->kind == WIRE_DATE || f->kind == WIRE_EPOCH)
        *(int64_t *)(void *)to = INT64_MIN;
    else if (f->kind == WIRE_PART) /* times in it are missing too */
        for (uint32_t i = 0; i < f->shape->n_fields; i++)
            set_missing(&f->shape->fields[i], to + f->shape->fields[i].at);
}

static const struct wire_shape text_shape = {.size = sizeof(str)};

/* A list of texts has no table of fields: its members are values themselves. */
static bool add_item(struct wire *w, const struct tree *t, const struct wire_shape *s, struct wire_items *into)
{
    const char *outer = w->path;

    if (into->n == WIRE_MAX_ITEMS)
        return wrong(w, t, "fewer members in all");
    if (into->n == into->cap)
        into->v = vec_grow(into->v, &into->cap, into->n + 1, s->size);
    void *item = (char *)into->v + (size_t)into->n * s->size;
    memset(item, 0, s->size);
    bool ok = s == &text_shape ? read_text(w, t, item) : wire_read(w, s, t, item);
    w->path = outer;
    into->n += ok;
    return ok;
}

struct gathering {
    const struct wire_shape *shape;
    struct wire_items *into;
};

static bool gather_one(struct wire *w, const struct tree *t, void *ctx)
{
    const struct gathering *g = ctx;

    return add_item(w, t, g->shape, g->into);
}

bool wire_gather(struct wire *w, const struct wire_shape *s, const char *path, const struct tree *t,
                 struct wire_items *into)
{
    struct gathering g = {s, into};

    w->path = path;
    return visit(w, t, path, gather_one, &g);
}

void *wire_keep(struct wire *w, const struct wire_shape *s, struct wire_items *items, uint32_t *ret_n)
{
    void *v = arena_memdup(w->a, items->v, (size_t)items->n * s->size, 8);

    *ret_n = items->n;
    wire_drop(items);
    return v;
}

void wire_drop(struct wire_items *items)
{
    free(items->v);
    *items = (struct wire_items){0};
}

static bool read_many(struct wire *w, const struct wire_field *f, const struct tree *t, char *ret)
{
    const struct wire_shape *s = f->kind == WIRE_TEXTS ? &text_shape : f->shape;
    struct wire_items items = {0};

    if (!wire_gather(w, s, f->path, t, &items)) {
        wire_drop(&items);
        return false;
    }
    *(void **)(void *)(ret + f->at) = wire_keep(w, s, &items, (uint32_t *)(void *)(ret + f->n_at));
    return true;
}

bool wire_read(struct wire *w, const struct wire_shape *s, const struct tree *t, void *ret)
{
    for (uint32_t i = 0; i < s->n_fields; i++) {
        const struct wire_field *f = &s->fields[i];
        struct target g = {f, (char *)ret + f->at};

        if (f->kind == WIRE_TEXTS || f->kind == WIRE_LIST) {
            if (!read_many(w, f, t, ret))
                return false;
            continue;
        }
        set_missing(f, g.to);
        w->path = f->path;
        if (!visit(w, t, f->path, set_value, &g))
            return false;
    }
    return !s->more || s->more(w, t, ret);
}

static bool set_text(struct wire *w, const struct tree *t, void *ctx)
{
    return read_text(w, t, ctx);
}

bool wire_find(struct wire *w, const struct tree *t, const char *path, str *ret)
{
    w->path = path;
    *ret = (str){0};
    return visit(w, t, path, set_text, ret);
}

/* ---- pages ---- */

bool wire_turn(struct wire *w, struct wire_pages *p, str token)
{
    p->token = token;
    if (token.n == 0)
        return true;
    if (++p->n == WIRE_MAX_PAGES)
        return err_set(w->e, ERR_INVALID, "%s: an answer of more than %u pages", w->action, WIRE_MAX_PAGES);
    if (strmap_get(&p->seen, token) != MAP_NONE)
        return err_set(w->e, ERR_INVALID, "%s: page %u of the answer leads back to one before it", w->action, p->n);
    p->token = arena_strdup(w->a, token);
    strmap_put(&p->seen, p->token, p->n);
    return true;
}

void wire_pages_fini(struct wire_pages *p)
{
    strmap_fini(&p->seen);
}
