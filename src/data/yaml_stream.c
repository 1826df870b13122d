/* Events into trees. Values are pushed on a stack; the end of a list or map moves its part of the stack into one
 * array. An alias shares the nodes of its anchor, so a nest of aliases costs no memory, but it is counted as if it
 * were written out: whoever walks the tree walks every copy. What lies under an anchor lives as long as the
 * document, because a later member of a List may refer to it; all else as long as the object. */
#include "data/yaml_stream.h"

#include <stdlib.h>

#include "base/vec.h"
#include "data/lists.h"
#include "data/reader.h"
#include "data/yaml_events.h"
#include "data/yaml_scalar.h"

#define ANCHORED_MAX (4 * (size_t)READER_MAX_OBJECT) /* bytes of nodes under anchors in one document */

struct anchor {
    struct tree node;
    uint32_t size;   /* nodes in it, written out */
    unsigned height; /* levels of lists and maps in it */
    bool open;       /* its end has not been seen */
};

struct key {
    str text;
    uint32_t line, col;
    bool merge; /* << */
};

struct yaml_stream {
    struct yaml_events in;
    struct lists lists;
    struct arena *out, *doc;
    bool whole, done;
    uint32_t n_nodes;      /* of the object being built */
    size_t object_from;    /* its place in the input, in characters */
    unsigned under_anchor; /* how many anchored nodes are open */
    unsigned deepest;      /* level reached inside the innermost open container */
    struct strmap names;   /* of anchors */
    VEC(struct anchor) anchors;
    VEC(struct tree) values;
    VEC(struct key) keys;
    struct tree now;
};

struct yaml_stream *yaml_stream_new(struct source *src, uint64_t first_line, bool whole)
{
    struct yaml_stream *y = xcalloc(1, sizeof(*y));

    y->whole = whole;
    y->doc = arena_new(0);
    yaml_events_init(&y->in, src, first_line);
    lists_init(&y->lists, src);
    vec_reserve(&y->values, 64); /* never without an array: finish_map() points into them */
    vec_reserve(&y->keys, 64);
    return y;
}

void yaml_stream_free(struct yaml_stream *y)
{
    if (!y)
        return;
    yaml_events_fini(&y->in);
    lists_fini(&y->lists);
    arena_free(y->doc);
    strmap_fini(&y->names);
    vec_fini(&y->anchors);
    vec_fini(&y->values);
    vec_fini(&y->keys);
    free(y);
}

static struct arena *memory(const struct yaml_stream *y)
{
    return y->under_anchor && !y->whole ? y->doc : y->out;
}

static void set_place(const struct yaml_stream *y, struct tree *t)
{
    yaml_mark_t at = y->in.event.start_mark;

    t->line = (uint32_t)MIN(y->in.base_line + at.line + 1, (uint64_t)UINT32_MAX);
    t->col = (uint32_t)MIN(at.column + 1, (size_t)UINT32_MAX);
}

static bool count_nodes(struct yaml_stream *y, uint32_t more, struct err *e)
{
    if (more > READER_MAX_NODES - y->n_nodes)
        return yaml_events_error(&y->in, e, "too many values in one object, aliases written out");
    y->n_nodes += more;
    if (y->in.event.end_mark.index - y->object_from > READER_MAX_OBJECT)
        return yaml_events_error(&y->in, e, "object of more than %u MiB", READER_MAX_OBJECT >> 20);
    if (arena_bytes(y->doc) > ANCHORED_MAX)
        return yaml_events_error(&y->in, e, "too much data under anchors in one document");
    return true;
}

/* ---- anchors ---- */

/* The anchor of the node that the last event began; MAP_NONE without one. */
static uint32_t anchor_begin(struct yaml_stream *y, const yaml_char_t *name)
{
    if (!name)
        return MAP_NONE;

    uint32_t ix = y->anchors.n;
    vec_push(&y->anchors, (struct anchor){.open = true});
    strmap_put(&y->names, arena_strdup(y->doc, str_c((const char *)name)), ix);
    return ix;
}

static void anchor_end(struct yaml_stream *y, uint32_t ix, const struct anchor *a)
{
    if (ix != MAP_NONE)
        y->anchors.v[ix] = *a;
}

static bool build_alias(struct yaml_stream *y, unsigned depth, struct tree *t, struct err *e)
{
    str name = str_c((const char *)y->in.event.data.alias.anchor);
    uint32_t ix = strmap_get(&y->names, name);

    if (ix == MAP_NONE)
        return yaml_events_error(&y->in, e, "unknown anchor \"" STR_FMT "\"", STR_ARG(str_sub(name, 0, 80)));
    const struct anchor *a = &y->anchors.v[ix];
    if (a->open)
        return yaml_events_error(&y->in, e, "anchor \"" STR_FMT "\" contains itself", STR_ARG(str_sub(name, 0, 80)));
    if (!count_nodes(y, a->size, e))
        return false;
    if (depth + a->height > READER_MAX_DEPTH)
        return yaml_events_error(&y->in, e, "more than %u levels deep", READER_MAX_DEPTH);
    y->deepest = MAX(y->deepest, depth + a->height);
    *t = a->node;
    set_place(y, t);
    return true;
}

/* ---- scalars ---- */

static bool tag_is(const yaml_char_t *tag, const char *name)
{
    str t = str_c((const char *)tag), prefix = STR("tag:yaml.org,2002:");

    return str_starts(t, prefix) && str_is(str_sub(t, prefix.n, t.n), name);
}

static bool unknown_tag(const struct yaml_stream *y, const yaml_char_t *tag, struct err *e)
{
    return yaml_events_error(&y->in, e, "unknown tag \"" STR_FMT "\"",
                             STR_ARG(str_sub(str_c((const char *)tag), 0, 80)));
}

/* What a scalar with a tag means. */
static bool tagged_meaning(const struct yaml_stream *y, str text, enum yaml_meaning *ret, struct err *e)
{
    const yaml_char_t *tag = y->in.event.data.scalar.tag;
    bool fits;

    *ret = YAML_STRING;
    if (strcmp((const char *)tag, "!") == 0 || tag_is(tag, "str") || tag_is(tag, "timestamp"))
        return true;
    *ret = yaml_resolve(text);
    if (tag_is(tag, "null"))
        fits = *ret == YAML_NULL;
    else if (tag_is(tag, "bool"))
        fits = *ret == YAML_TRUE || *ret == YAML_FALSE;
    else if (tag_is(tag, "int"))
        fits = *ret == YAML_NUMBER && !memchr(text.p, '.', text.n);
    else if (tag_is(tag, "float"))
        fits = *ret == YAML_NUMBER || *ret == YAML_NOT_FINITE;
    else
        return unknown_tag(y, tag, e);
    return fits ||
           yaml_events_error(&y->in, e, "\"" STR_FMT "\" is not what its tag says", STR_ARG(str_sub(text, 0, 80)));
}

static bool build_scalar(struct yaml_stream *y, struct tree *t, struct err *e)
{
    const yaml_event_t *ev = &y->in.event;
    const yaml_char_t *tag = ev->data.scalar.tag;
    str text = {(const char *)ev->data.scalar.value, ev->data.scalar.length};
    enum yaml_meaning means = YAML_STRING;

    set_place(y, t);
    if (text.n > READER_MAX_TEXT)
        return yaml_events_error(&y->in, e, "text of more than %u MiB", READER_MAX_TEXT >> 20);
    if (tag && tag[0]) {
        if (!tagged_meaning(y, text, &means, e))
            return false;
    } else if (ev->data.scalar.style == YAML_PLAIN_SCALAR_STYLE) {
        means = yaml_resolve(text);
    }
    switch (means) {
    case YAML_NULL:
        t->kind = TREE_NULL;
        return true;
    case YAML_TRUE:
    case YAML_FALSE:
        t->kind = TREE_BOOL;
        t->truth = means == YAML_TRUE;
        t->text = t->truth ? STR("true") : STR("false");
        return true;
    case YAML_NUMBER:
        t->kind = TREE_NUMBER;
        t->text = yaml_number_text(memory(y), arena_strdup(memory(y), text));
        return true;
    case YAML_NOT_FINITE:
        return yaml_events_error(&y->in, e, "\"" STR_FMT "\" is not a number that JSON can hold", STR_ARG(text));
    case YAML_STRING:
        break;
    }
    t->kind = TREE_STRING;
    t->text = arena_strdup(memory(y), text);
    return true;
}

/* ---- lists and maps ---- */

static bool build_node(struct yaml_stream *y, unsigned depth, struct tree *t, struct err *e);

/* The values from `from` on leave the stack for an array of their own. */
static void pop_values(struct yaml_stream *y, uint32_t from, struct tree *t)
{
    t->n = y->values.n - from;
    t->items = arena_dup_array(memory(y), struct tree, y->values.v + from, t->n);
    y->values.n = from;
}

static bool build_list(struct yaml_stream *y, unsigned depth, struct tree *t, struct err *e)
{
    uint32_t from = y->values.n;

    t->kind = TREE_LIST;
    for (;;) {
        struct tree item = {0};

        if (!yaml_events_next(&y->in, e))
            return false;
        if (y->in.event.type == YAML_SEQUENCE_END_EVENT)
            break;
        if (!build_node(y, depth, &item, e))
            return false;
        vec_push(&y->values, item);
    }
    pop_values(y, from, t);
    return true;
}

/* The last event begins a key. */
static bool build_key(struct yaml_stream *y, struct key *ret, struct err *e)
{
    const yaml_event_t *ev = &y->in.event;
    bool plain = ev->type == YAML_SCALAR_EVENT && ev->data.scalar.style == YAML_PLAIN_SCALAR_STYLE;
    struct tree t = {0};

    if (ev->type != YAML_SCALAR_EVENT && ev->type != YAML_ALIAS_EVENT)
        return yaml_events_error(&y->in, e, "a list or map cannot be a key");
    if (!build_node(y, 0, &t, e))
        return false;
    if (t.kind == TREE_NULL || t.kind == TREE_LIST || t.kind == TREE_MAP)
        return yaml_events_error(&y->in, e, "%s cannot be a key", tree_kind_name(t.kind));
    *ret = (struct key){t.text, t.line, t.col, plain && str_is(t.text, "<<")};
    return true;
}

/* The members of `from` that t does not have yet; `seen` knows the keys of t. */
static bool merge_one(struct yaml_stream *y, struct tree *t, struct strmap *seen, const struct key *at,
                      const struct tree *from, struct err *e)
{
    if (from->kind != TREE_MAP)
        return source_error(y->in.src, at->line, at->col, e, "<< takes a map or a list of maps, not %s",
                            tree_kind_name(from->kind));
    for (uint32_t i = 0; i < from->n; i++) {
        if (strmap_get(seen, from->keys[i]) != MAP_NONE)
            continue;
        strmap_put(seen, from->keys[i], 0);
        t->keys[t->n] = from->keys[i];
        t->items[t->n++] = from->items[i];
    }
    return true;
}

static uint64_t merge_room(const struct tree *values, const struct key *keys, uint32_t n)
{
    uint64_t room = n;

    for (uint32_t i = 0; i < n; i++) {
        if (!keys[i].merge)
            continue;
        room += values[i].n;
        for (uint32_t k = 0; values[i].kind == TREE_LIST && k < values[i].n; k++)
            room += values[i].items[k].n;
    }
    return room;
}

/* A map with merge keys: its own keys win, then earlier maps over later ones. */
static bool merge_members(struct yaml_stream *y, struct tree *t, const struct key *keys, struct err *e)
{
    const struct tree *values = t->items;
    uint32_t n = t->n;
    uint64_t room = merge_room(values, keys, n); /* an alias was counted, so this is below READER_MAX_NODES */
    struct strmap seen = {0};
    bool ok = true;

    t->n = 0;
    t->keys = arena_new_array(memory(y), str, room);
    t->items = arena_new_array(memory(y), struct tree, room);
    for (uint32_t i = 0; i < n; i++)
        if (!keys[i].merge) {
            strmap_put(&seen, keys[i].text, 0);
            t->keys[t->n] = keys[i].text;
            t->items[t->n++] = values[i];
        }
    for (uint32_t i = 0; i < n && ok; i++) {
        if (!keys[i].merge)
            continue;
        bool list = values[i].kind == TREE_LIST;
        for (uint32_t k = 0; k < (list ? values[i].n : 1) && ok; k++)
            ok = merge_one(y, t, &seen, &keys[i], list ? &values[i].items[k] : &values[i], e);
    }
    strmap_fini(&seen);
    return ok;
}

/* The members from the given heights of the stacks on become the map t. */
static bool finish_map(struct yaml_stream *y, uint32_t from_value, uint32_t from_key, struct tree *t, struct err *e)
{
    const struct key *keys = y->keys.v + from_key;
    bool merges = false;
    uint32_t n_own = 0;

    t->kind = TREE_MAP;
    pop_values(y, from_value, t);
    y->keys.n = from_key; /* still readable: nothing is pushed below */
    t->keys = arena_new_array(memory(y), str, t->n);
    for (uint32_t i = 0; i < t->n; i++) {
        merges |= keys[i].merge;
        if (!keys[i].merge)
            t->keys[n_own++] = keys[i].text;
    }
    uint32_t twice = tree_repeated_key(t->keys, n_own);
    if (twice < n_own) {
        str text = t->keys[twice];
        const struct key *k = keys;

        for (uint32_t seen = 0; k->merge || !str_eq(k->text, text) || seen++ == 0;)
            k++;
        return source_error(y->in.src, k->line, k->col, e, "key \"" STR_FMT "\" appears twice",
                            STR_ARG(str_sub(text, 0, 80)));
    }
    return !merges || merge_members(y, t, keys, e);
}

/* Whether the members read so far let `items` be handed out one by one: no kind, or the kind of a List. */
static bool may_be_list(const struct yaml_stream *y, uint32_t from_value, uint32_t from_key)
{
    for (uint32_t i = from_key; i < y->keys.n; i++)
        if (str_is(y->keys.v[i].text, "kind"))
            return lists_kind_is_list(tree_str(&y->values.v[from_value + i - from_key]));
    return true;
}

/* The members of a map up to its end; or, with ret_items, up to the start of a list `items` that can be handed out
 * one by one. */
static bool build_map(struct yaml_stream *y, unsigned depth, struct tree *t, bool *ret_items, struct err *e)
{
    uint32_t from_value = y->values.n, from_key = y->keys.n;

    for (;;) {
        struct tree value = {0};
        struct key key;

        if (!yaml_events_next(&y->in, e))
            return false;
        if (y->in.event.type == YAML_MAPPING_END_EVENT)
            break;
        if (!build_key(y, &key, e) || !yaml_events_next(&y->in, e))
            return false;
        if (ret_items && y->in.event.type == YAML_SEQUENCE_START_EVENT && str_is(key.text, "items") &&
            !y->in.event.data.sequence_start.anchor && may_be_list(y, from_value, from_key)) {
            *ret_items = true;
            break;
        }
        if (!build_node(y, depth, &value, e))
            return false;
        vec_push(&y->values, value);
        vec_push(&y->keys, key);
    }
    return finish_map(y, from_value, from_key, t, e);
}

static bool build_container(struct yaml_stream *y, unsigned depth, struct tree *t, struct err *e)
{
    const yaml_event_t *ev = &y->in.event;
    bool map = ev->type == YAML_MAPPING_START_EVENT;
    const yaml_char_t *tag = map ? ev->data.mapping_start.tag : ev->data.sequence_start.tag;
    const yaml_char_t *name = map ? ev->data.mapping_start.anchor : ev->data.sequence_start.anchor;
    uint32_t before = y->n_nodes - 1;

    set_place(y, t);
    if (tag && tag[0] && strcmp((const char *)tag, "!") != 0 && !tag_is(tag, map ? "map" : "seq"))
        return unknown_tag(y, tag, e);
    if (depth >= READER_MAX_DEPTH)
        return yaml_events_error(&y->in, e, "more than %u levels deep", READER_MAX_DEPTH);

    uint32_t anchor = anchor_begin(y, name);
    unsigned outside = y->deepest;
    y->under_anchor += anchor != MAP_NONE;
    y->deepest = depth + 1;
    if (!(map ? build_map(y, depth + 1, t, NULL, e) : build_list(y, depth + 1, t, e)))
        return false;
    y->under_anchor -= anchor != MAP_NONE;
    anchor_end(y, anchor, &(struct anchor){*t, y->n_nodes - before, y->deepest - depth, false});
    y->deepest = MAX(y->deepest, outside);
    return true;
}

/* The value that the last event begins. */
static bool build_node(struct yaml_stream *y, unsigned depth, struct tree *t, struct err *e)
{
    if (y->in.event.type == YAML_ALIAS_EVENT)
        return build_alias(y, depth, t, e);
    if (!count_nodes(y, 1, e))
        return false;
    if (y->in.event.type != YAML_SCALAR_EVENT)
        return build_container(y, depth, t, e);

    uint32_t anchor = anchor_begin(y, y->in.event.data.scalar.anchor);
    y->under_anchor += anchor != MAP_NONE;
    bool ok = build_scalar(y, t, e);
    y->under_anchor -= anchor != MAP_NONE;
    anchor_end(y, anchor, &(struct anchor){*t, 1, 0, false});
    return ok;
}

/* ---- documents and Lists ---- */

static void begin_object(struct yaml_stream *y)
{
    y->n_nodes = 0;
    y->object_from = y->in.event.start_mark.index;
    y->values.n = y->keys.n = 0;
    y->now = (struct tree){0};
}

/* The last event begins a map that may be a List. *ret_skip: it is one and was entered. */
static bool enter_map(struct yaml_stream *y, bool *ret_skip, struct err *e)
{
    set_place(y, &y->now);
    if (!count_nodes(y, 1, e) || !build_map(y, 1, &y->now, ret_skip, e))
        return false;
    if (!*ret_skip)
        return true;
    return lists_push(&y->lists, true, y->now.line, y->now.col, e) && lists_note(&y->lists, &y->now, e);
}

/* After the end of `items`: the rest of the map. */
static bool leave_list(struct yaml_stream *y, struct err *e)
{
    if (!y->lists.v[y->lists.n - 1].envelope) {
        lists_pop(&y->lists);
        return true;
    }
    begin_object(y);
    set_place(y, &y->now);
    if (!build_map(y, 1, &y->now, NULL, e) || !lists_note(&y->lists, &y->now, e))
        return false;
    lists_pop(&y->lists);
    return true;
}

/* A List that could not be taken apart: its items came by an alias or a merge key, or carry an anchor. */
static bool refuse_whole_list(const struct yaml_stream *y, struct err *e)
{
    const struct tree *items = tree_get(&y->now, "items"), *kind = tree_get(&y->now, "kind");

    if (!items || items->kind != TREE_LIST || !lists_kind_is_list(tree_str(kind)))
        return true;
    return source_error(y->in.src, items->line, items->col, e,
                        "items of a List must be written out: no anchor, alias or merge key");
}

/* The object that the last event begins. *ret_skip: nothing to hand out. */
static bool next_object(struct yaml_stream *y, bool *ret_skip, struct err *e)
{
    const yaml_event_t *ev = &y->in.event;

    *ret_skip = false;
    begin_object(y);
    if (y->whole)
        return build_node(y, 0, &y->now, e);
    if (ev->type == YAML_MAPPING_START_EVENT && !ev->data.mapping_start.anchor && !ev->data.mapping_start.tag) {
        if (!enter_map(y, ret_skip, e))
            return false;
        if (*ret_skip)
            return true;
    } else if (ev->type == YAML_SEQUENCE_START_EVENT && y->lists.n == 0) {
        yaml_mark_t at = ev->start_mark;

        *ret_skip = true;
        return lists_push(&y->lists, false, y->in.base_line + at.line + 1, at.column + 1, e);
    } else if (!build_node(y, 0, &y->now, e)) {
        return false;
    }
    return refuse_whole_list(y, e) && lists_accept(&y->lists, y->out, &y->now, ret_skip, e);
}

static void begin_document(struct yaml_stream *y)
{
    arena_reset(y->doc);
    strmap_fini(&y->names);
    y->anchors.n = 0;
    y->under_anchor = 0;
}

bool yaml_stream_next(struct yaml_stream *y, struct arena *a, const struct tree **ret, struct err *e)
{
    bool skip = true;

    *ret = NULL;
    y->out = a;
    while (skip) {
        if (y->in.has_event && y->in.event.type == YAML_STREAM_END_EVENT)
            return true;
        if (!yaml_events_next(&y->in, e))
            return false;
        switch (y->in.event.type) {
        case YAML_DOCUMENT_START_EVENT:
            if (y->done)
                return yaml_events_error(&y->in, e, "expected nothing after the first document");
            begin_document(y);
            break;
        case YAML_SEQUENCE_END_EVENT:
            if (!leave_list(y, e))
                return false;
            break;
        case YAML_ALIAS_EVENT:
        case YAML_SCALAR_EVENT:
        case YAML_SEQUENCE_START_EVENT:
        case YAML_MAPPING_START_EVENT:
            if (!next_object(y, &skip, e))
                return false;
            break;
        case YAML_NO_EVENT:
        case YAML_STREAM_START_EVENT:
        case YAML_STREAM_END_EVENT:
        case YAML_DOCUMENT_END_EVENT:
        case YAML_MAPPING_END_EVENT:
            break;
        }
    }
    y->done = y->whole;
    *ret = &y->now;
    return true;
}
