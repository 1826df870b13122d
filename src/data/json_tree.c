/* yyjson parses in place; its values lie in source order, so that one walk copies them into arrays of tree nodes.
 * yyjson knows where strings and numbers came from; for containers, booleans and null the scanner noted the places,
 * and the walk meets them in the same order. */
#include "data/json_tree.h"

#include <yyjson.h>

#include "base/utf8.h"
#include "data/reader.h"

struct walk {
    const struct json_slice *slice;
    struct arena *a;
    uint32_t mark, newline; /* the next of each */
    unsigned depth;
    struct err *e;
};

/* Places are asked for in ascending order. */
static void walk_place(struct walk *w, size_t offset, struct tree *t)
{
    const struct json_slice *s = w->slice;

    while (w->newline < s->n_newlines && s->newlines[w->newline] < offset)
        w->newline++;
    uint64_t line = s->line + w->newline;
    uint64_t col = w->newline ? offset - s->newlines[w->newline - 1] : s->col + offset;
    t->line = (uint32_t)MIN(line, (uint64_t)UINT32_MAX);
    t->col = (uint32_t)MIN(col, (uint64_t)UINT32_MAX);
}

static void walk_place_text(struct walk *w, const char *p, struct tree *t)
{
    if (!w->slice->no_places)
        walk_place(w, (size_t)(p - w->slice->p), t);
}

static size_t walk_mark(struct walk *w)
{
    assert(w->mark < w->slice->n_marks);
    return w->slice->marks[w->mark++];
}

/* A node that has nothing but its place, for messages. */
static struct tree place_of(const struct json_slice *s, size_t offset)
{
    struct walk w = {.slice = s};
    struct tree t = {0};

    walk_place(&w, offset, &t);
    return t;
}

static bool walk_value(struct walk *w, yyjson_val *v, struct tree *t);

static bool walk_list(struct walk *w, yyjson_val *v, struct tree *t)
{
    yyjson_arr_iter it = yyjson_arr_iter_with(v);
    uint32_t n = (uint32_t)yyjson_arr_size(v);

    t->kind = TREE_LIST;
    t->n = n;
    t->items = arena_new_array(w->a, struct tree, n);
    for (uint32_t i = 0; i < n; i++)
        if (!walk_value(w, yyjson_arr_iter_next(&it), &t->items[i]))
            return false;
    return true;
}

static bool walk_map(struct walk *w, yyjson_val *v, struct tree *t)
{
    yyjson_obj_iter it = yyjson_obj_iter_with(v);
    uint32_t n = (uint32_t)yyjson_obj_size(v);

    t->kind = TREE_MAP;
    t->n = n;
    t->items = arena_new_array(w->a, struct tree, n);
    t->keys = arena_new_array(w->a, str, n);
    for (uint32_t i = 0; i < n; i++) {
        yyjson_val *key = yyjson_obj_iter_next(&it);

        t->keys[i] = (str){yyjson_get_str(key), yyjson_get_len(key)};
        if (!walk_value(w, yyjson_obj_iter_get_val(key), &t->items[i]))
            return false;
    }
    uint32_t twice = tree_repeated_key(t->keys, n);
    if (twice == n)
        return true;
    struct tree at = place_of(w->slice, (size_t)(t->keys[twice].p - w->slice->p - 1));
    return source_error(w->slice->src, at.line, at.col, w->e, "key \"" STR_FMT "\" appears twice",
                        STR_ARG(str_sub(t->keys[twice], 0, 80)));
}

static bool walk_container(struct walk *w, yyjson_val *v, struct tree *t)
{
    if (w->depth == READER_MAX_DEPTH)
        return source_error(w->slice->src, MAX(t->line, 1), MAX(t->col, 1), w->e, "more than %u levels deep",
                            READER_MAX_DEPTH);
    w->depth++;
    bool ok = yyjson_is_arr(v) ? walk_list(w, v, t) : walk_map(w, v, t);
    w->depth--;
    return ok;
}

/* yyjson's types are variables, not constants: no switch. */
static bool walk_value(struct walk *w, yyjson_val *v, struct tree *t)
{
    if (yyjson_is_str(v)) {
        t->kind = TREE_STRING;
        t->text = (str){yyjson_get_str(v), yyjson_get_len(v)};
        walk_place_text(w, t->text.p - 1, t);
        return true;
    }
    if (yyjson_is_raw(v)) {
        t->kind = TREE_NUMBER;
        t->text = (str){yyjson_get_raw(v), yyjson_get_len(v)};
        walk_place_text(w, t->text.p, t);
        return true;
    }
    if (!w->slice->no_places)
        walk_place(w, walk_mark(w), t);
    if (yyjson_is_ctn(v))
        return walk_container(w, v, t);
    t->kind = TREE_NULL;
    if (yyjson_is_bool(v)) {
        t->kind = TREE_BOOL;
        t->truth = yyjson_get_bool(v);
        t->text = t->truth ? STR("true") : STR("false");
    }
    return true;
}

/* Our own words, because yyjson's change between its versions. */
static const char *what_is_wrong(const struct json_slice *s, const yyjson_read_err *err)
{
    unsigned char c = err->pos < s->n ? (unsigned char)s->p[err->pos] : 0;
    uint32_t code;

    if (err->code == YYJSON_READ_ERROR_UNEXPECTED_END || err->code == YYJSON_READ_ERROR_EMPTY_CONTENT)
        return "the input ends in the middle of a value";
    if (err->code == YYJSON_READ_ERROR_INVALID_NUMBER)
        return "not a number as JSON writes them";
    if (err->code == YYJSON_READ_ERROR_INVALID_STRING) /* the scanner has seen to control characters */
        return c >= 0x80 && utf8_char((const unsigned char *)s->p + err->pos, s->n - err->pos, &code) <= 0
                   ? "not UTF-8"
                   : "unknown escape in a string";
    if (err->code == YYJSON_READ_ERROR_LITERAL)
        return "unknown word: only true, false and null go without quotes";
    if (err->code == YYJSON_READ_ERROR_JSON_STRUCTURE)
        return "a comma without a value after it";
    return c >= 0x80 ? "character that is not allowed outside a string" : "character that is not allowed here";
}

bool json_tree(const struct json_slice *s, struct arena *a, struct tree *ret, struct err *e)
{
    struct walk w = {.slice = s, .a = a, .e = e};
    char after[JSON_PAD];
    yyjson_read_err err = {0};

    memcpy(after, s->p + s->n, JSON_PAD);
    memset(s->p + s->n, 0, JSON_PAD);
    yyjson_doc *doc = yyjson_read_opts(s->p, s->n, YYJSON_READ_INSITU | YYJSON_READ_NUMBER_AS_RAW, NULL, &err);
    memcpy(s->p + s->n, after, JSON_PAD);
    if (!doc && err.code == YYJSON_READ_ERROR_MEMORY_ALLOCATION)
        return err_set(e, ERR_IO, "%s: out of memory", s->src->name);
    if (!doc) {
        struct tree at = place_of(s, err.pos);

        return source_error(s->src, at.line, at.col, e, "%s", what_is_wrong(s, &err));
    }

    if (yyjson_doc_get_val_count(doc) > READER_MAX_NODES) {
        yyjson_doc_free(doc);
        return source_error(s->src, s->line, s->col, e, "too many values in one object");
    }
    *ret = (struct tree){0};
    bool ok = walk_value(&w, yyjson_doc_get_root(doc), ret);
    yyjson_doc_free(doc);
    return ok;
}
