/* Revisions: one block of memory with the text of the object, and what the server looks at beside it. Drafts (draft.c) become
 * revisions here; parts of a revision are found in its text without reading the rest. */
#include "data/edit.h"
#include "data/json_own.h"
#include "sim/kube/kube_int.h"

/* ---- reading ---- */

void object_ref(const struct object *o)
{
    ((struct object *)o)->refs++;
}

void object_unref(const struct object *o)
{
    struct object *mine = (struct object *)o;

    if (mine && --mine->refs == 0)
        blocks_give(revision_of(o)->blocks, mine, revision_of(o)->bytes);
}

str object_label(const struct object *o, str key)
{
    for (uint32_t i = 0; i < o->n_labels; i++)
        if (str_eq(o->labels[i].key, key))
            return o->labels[i].value;
    return (str){"", 0};
}

struct tree *object_tree(struct arena *a, const struct object *o)
{
    return json_read_own(a, o->json);
}

struct tree *kube_tree(struct arena *a, const struct object *o)
{
    return json_read_own(a, arena_strdup(a, o->json));
}

/* ---- parts ---- */

static void move_to(str *rest, const char *p)
{
    *rest = (str){p, (size_t)(rest->p + rest->n - p)};
}

/* From the brace or comma before a key to the value behind it. */
static bool key_next(str *rest, str *ret_key)
{
    if (rest->n < 2 || rest->p[1] != '"') /* the closing brace */
        return false;
    const char *key = rest->p + 1;
    size_t n = json_own_length(str_sub(*rest, 1, rest->n)); /* with its quotes */

    *ret_key = (str){key + 1, n - 2};
    move_to(rest, key + n + 1);
    return true;
}

static void skip_value(str *rest, str *ret_value)
{
    *ret_value = (str){rest->p, json_own_length(*rest)};
    move_to(rest, rest->p + ret_value->n);
}

bool member_next(str *rest, str *ret_key, str *ret_value)
{
    if (!key_next(rest, ret_key))
        return false;
    skip_value(rest, ret_value);
    return true;
}

/* The member of a map and all that follows it; empty when absent. Needs no more of the text than that. */
static str member_from(str map, str name)
{
    str key, value;

    while (key_next(&map, &key)) {
        if (str_eq(key, name))
            return map;
        skip_value(&map, &value);
    }
    return (str){"", 0};
}

static str one_value(str from)
{
    str value = {"", 0};

    if (from.n)
        skip_value(&from, &value);
    return value;
}

/* Likewise of an object. */
static str part_from(const struct object *o, str name)
{
    const struct revision *r = revision_of(o);
    size_t status = r->body_end + sizeof(STATUS_KEY) - 1;

    if (str_is(name, "metadata"))
        return str_sub(o->json, r->meta_at, r->body_at);
    if (!o->kind->has_status || !str_is(name, "status"))
        return member_from(str_sub(o->json, r->body_at, o->json.n), name);
    return status < o->json.n ? str_sub(o->json, status, o->json.n - 1) : (str){"", 0};
}

str object_part(const struct object *o, str name)
{
    return one_value(part_from(o, name));
}

str object_member(const struct object *o, str part, str name)
{
    return one_value(member_from(part_from(o, part), name));
}

struct tree *object_part_tree(struct arena *a, const struct object *o, str name)
{
    str text = part_from(o, name);

    return text.n ? json_read_own_first(a, text) : NULL;
}

struct tree *kube_part(struct arena *a, const struct object *o, const char *name)
{
    str text = part_from(o, str_c(name));

    return text.n ? json_read_own_first(a, arena_strdup(a, text)) : NULL;
}

/* Names are few: they are compared one by one. */
static bool is_one_of(str key, const char *const *names)
{
    while (*names && !str_is(key, *names))
        names++;
    return *names != NULL;
}

struct tree *kube_members(struct arena *a, const struct object *o, const char *part, const char *const *names)
{
    str rest = part_from(o, str_c(part)), key, value;
    struct tree *t = tree_new_map(a);

    while (key_next(&rest, &key)) {
        skip_value(&rest, &value);
        if (is_one_of(key, names))
            *tree_put(a, t, arena_strdup(a, key)) = *json_read_own(a, arena_strdup(a, value));
    }
    return t;
}

str object_field(const struct object *o, const char *name)
{
    for (uint32_t i = 0; i < o->n_fields; i++)
        if (str_is(o->fields[i].key, name))
            return o->fields[i].value;
    return (str){"", 0};
}

/* ---- from drafts to revisions ---- */

static bool same(str a, size_t a_from, size_t a_to, str b, size_t b_from, size_t b_to)
{
    return str_eq(str_sub(a, a_from, a_to), str_sub(b, b_from, b_to));
}

bool object_same_but_status(const struct object *x, const struct object *y)
{
    const struct revision *r = revision_of(x), *q = revision_of(y);

    return same(x->json, r->body_at, r->body_end, y->json, q->body_at, q->body_end) &&
           same(x->json, r->meta_at, r->rv_at, y->json, q->meta_at, q->rv_at) &&
           same(x->json, r->rv_at + r->rv_n, r->body_at, y->json, q->rv_at + q->rv_n, q->body_at);
}

bool draft_equals(const struct draft *d, const struct object *o)
{
    const struct revision *r = revision_of(o), *mine = &d->r;
    str a = sb_view(&d->text), b = o->json;

    return same(a, 0, mine->rv_at, b, 0, r->rv_at) &&
           same(a, mine->rv_at + mine->rv_n, a.n, b, r->rv_at + r->rv_n, b.n);
}

/* Where the parts of a revision lie in its block: the text is last, behind it what is not in the text. */
static struct revision *block_new(const struct revision *like, size_t n_text, size_t n_more)
{
    const struct object *o = &like->o;
    size_t n_pairs = (size_t)o->n_labels + o->n_fields;
    size_t before = sizeof(*like) + n_pairs * sizeof(struct label) + o->n_owners * sizeof(struct owner);
    struct revision *r = blocks_take(like->blocks, before + n_text + n_more);
    struct label *pairs = (struct label *)(r + 1);

    *r = *like;
    r->entry = NULL;
    r->bytes = (uint32_t)(before + n_text + n_more);
    r->o.refs = 1;
    r->o.labels = pairs;
    r->o.fields = pairs + o->n_labels;
    r->o.owners = (const struct owner *)(pairs + n_pairs);
    r->o.json = (str){(char *)r + before, n_text};
    return r;
}

static str take(const struct spot **s, const char *text, const char *more)
{
    const struct spot *spot = (*s)++;

    return (str){(spot->more ? more : text) + spot->at, spot->n};
}

const struct object *draft_keep(const struct draft *d)
{
    struct revision *r = block_new(&d->r, d->text.n, d->more.n);
    struct object *o = &r->o;
    char *text = (char *)o->json.p, *more = text + d->text.n;
    const struct spot *s = d->spots.v;
    struct label *labels = (struct label *)o->labels, *fields = (struct label *)o->fields;
    struct owner *owners = (struct owner *)o->owners;

    memcpy(text, d->text.p, d->text.n);
    if (d->more.n)
        memcpy(more, d->more.p, d->more.n);
    o->name = take(&s, text, more);
    o->ns = take(&s, text, more);
    o->uid = take(&s, text, more);
    for (uint32_t i = 0; i < o->n_labels; i++) {
        labels[i].key = take(&s, text, more);
        labels[i].value = take(&s, text, more);
    }
    for (uint32_t i = 0; i < o->n_owners; i++) {
        owners[i] = d->owners.v[i];
        owners[i].api_version = take(&s, text, more);
        owners[i].kind = take(&s, text, more);
        owners[i].name = take(&s, text, more);
        owners[i].uid = take(&s, text, more);
    }
    for (uint32_t i = 0; i < o->n_fields; i++) {
        fields[i].key = str_c(o->kind->rules->selectable[i]);
        fields[i].value = take(&s, text, more);
    }
    return o;
}

/* ---- the same under another resource version ---- */

struct move {
    const struct revision *from;
    char *text; /* of the copy */
    int64_t shift;
};

/* The same string in the copy: what stands behind the resource version has moved. */
static str moved(const struct move *m, str s)
{
    int64_t at = s.p - m->from->o.json.p;

    return (str){m->text + at + (at > m->from->rv_at ? m->shift : 0), s.n};
}

static void move_strings(const struct move *m, struct object *to)
{
    const struct object *from = &m->from->o;
    struct label *labels = (struct label *)to->labels, *fields = (struct label *)to->fields;
    struct owner *owners = (struct owner *)to->owners;

    to->name = moved(m, from->name);
    to->ns = moved(m, from->ns);
    to->uid = moved(m, from->uid);
    for (uint32_t i = 0; i < from->n_labels; i++)
        labels[i] = (struct label){moved(m, from->labels[i].key), moved(m, from->labels[i].value)};
    for (uint32_t i = 0; i < from->n_fields; i++)
        fields[i] = (struct label){from->fields[i].key, moved(m, from->fields[i].value)};
    for (uint32_t i = 0; i < from->n_owners; i++) {
        const struct owner *o = &from->owners[i];

        owners[i] = *o;
        owners[i].uid = moved(m, o->uid);
        owners[i].kind = moved(m, o->kind);
        owners[i].name = moved(m, o->name);
        owners[i].api_version = moved(m, o->api_version);
    }
}

const struct object *object_at_rv(const struct object *o, uint64_t rv)
{
    const struct revision *from = revision_of(o);
    char digits[24];
    struct sb number = {.p = digits, .cap = sizeof(digits)};

    sb_u64(&number, rv);
    int64_t shift = (int64_t)number.n - from->rv_n;
    size_t n_text = (size_t)((int64_t)o->json.n + shift);
    const char *end = (const char *)from + from->bytes, *tail = o->json.p + from->rv_at + from->rv_n;
    struct revision *to = block_new(from, n_text, (size_t)(end - (o->json.p + o->json.n)));
    char *text = (char *)to->o.json.p;

    memcpy(text, o->json.p, from->rv_at);
    memcpy(text + from->rv_at, digits, number.n);
    memcpy(text + from->rv_at + number.n, tail, (size_t)(end - tail));
    to->o.rv = rv;
    to->rv_n = (uint32_t)number.n;
    to->body_at = (uint32_t)(from->body_at + shift);
    to->body_end = (uint32_t)(from->body_end + shift);
    to->managed_at = (uint32_t)(from->managed_at + shift);
    to->managed_end = (uint32_t)(from->managed_end + shift);
    move_strings(&(struct move){from, text, shift}, &to->o);
    return &to->o;
}
