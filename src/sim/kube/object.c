/* Revisions: one block of memory with the text of the object, and what the server looks at beside it.
 *
 * A draft is written first: kind, apiVersion and metadata in the order in which a Go server writes them, then the body, then the
 * status. The body is written before metadata, because whether it changed decides metadata.generation. Strings of metadata are
 * found again in the text that was just written; those with escapes, which are rare, are kept behind it. */
#include <stdlib.h>

#include "data/edit.h"
#include "data/json.h"
#include "data/json_own.h"
#include "model/duration.h"
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
        free(mine);
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

/* ---- writing the text ---- */

static void put_value(struct jw *w, const struct tree *t);

static void put_members(struct jw *w, const struct tree *t)
{
    for (uint32_t i = 0; i < t->n; i++)
        if (t->items[i].kind != TREE_NULL) {
            if (t->kind == TREE_MAP)
                jw_key_str(w, t->keys[i]);
            put_value(w, &t->items[i]);
        }
}

/* Like jw_tree(), but nulls are left out. */
static void put_value(struct jw *w, const struct tree *t)
{
    if (t->kind == TREE_MAP) {
        jw_map(w);
        put_members(w, t);
        jw_end(w);
    } else if (t->kind == TREE_LIST) {
        jw_list(w);
        put_members(w, t);
        jw_end(w);
    } else {
        jw_tree(w, t);
    }
}

/* A string that was just written, as the last thing of the text. */
static void note(struct draft *d, str s)
{
    size_t at = d->text.n - s.n - 1;

    if (at <= d->text.n && (s.n == 0 || memcmp(d->text.p + at, s.p, s.n) == 0)) {
        vec_push(&d->spots, (struct spot){(uint32_t)at, (uint32_t)s.n, false});
        return;
    }
    vec_push(&d->spots, (struct spot){(uint32_t)d->more.n, (uint32_t)s.n, true});
    sb_str(&d->more, s);
}

static void note_more(struct draft *d, str s)
{
    vec_push(&d->spots, (struct spot){(uint32_t)d->more.n, (uint32_t)s.n, true});
    sb_str(&d->more, s);
}

struct pair {
    str key;
    const struct tree *value;
};

static int by_key(const void *a, const void *b, void *ctx)
{
    (void)ctx;
    return str_cmp(((const struct pair *)a)->key, ((const struct pair *)b)->key);
}

/* Labels and annotations: Go writes maps sorted by key. */
static void put_map(struct draft *d, struct arena *a, struct jw *w, const struct tree *t, bool labels)
{
    struct pair *pairs = arena_new_array(a, struct pair, t->n);
    uint32_t n = 0;

    for (uint32_t i = 0; i < t->n; i++)
        if (t->items[i].kind == TREE_STRING)
            pairs[n++] = (struct pair){t->keys[i], &t->items[i]};
    sort_stable(pairs, n, sizeof(*pairs), by_key, NULL);
    jw_map(w);
    for (uint32_t i = 0; i < n; i++) {
        jw_key_str(w, pairs[i].key);
        if (labels) {
            d->text.n--; /* the colon, for a moment: note() looks at what ends with a quote */
            note(d, pairs[i].key);
            d->text.n++;
        }
        jw_str(w, pairs[i].value->text);
        if (labels)
            note(d, pairs[i].value->text);
    }
    jw_end(w);
    if (labels)
        d->r.o.n_labels = n;
}

static void put_owner(struct draft *d, struct jw *w, const struct tree *t)
{
    static const char *const keys[] = {"apiVersion", "kind", "name", "uid", "controller", "blockOwnerDeletion"};
    struct owner o = {.controller = tree_is_true(tree_get(t, "controller")),
                      .blocks = tree_is_true(tree_get(t, "blockOwnerDeletion"))};

    jw_map(w);
    for (size_t i = 0; i < ARRAY_LEN(keys); i++) {
        const struct tree *v = tree_get(t, keys[i]);

        if (v) {
            jw_key(w, keys[i]);
            put_value(w, v);
        }
        if (i < 4 && v)
            note(d, tree_str(v));
        else if (i < 4)
            note_more(d, (str){"", 0});
    }
    jw_end(w);
    vec_push(&d->owners, o);
}

static void put_owners(struct draft *d, struct jw *w, const struct tree *t)
{
    jw_list(w);
    for (uint32_t i = 0; i < t->n; i++)
        if (t->items[i].kind == TREE_MAP)
            put_owner(d, w, &t->items[i]);
    jw_end(w);
    d->r.o.n_owners = d->owners.n;
}

static int64_t read_time(const struct tree *t)
{
    struct err e;
    int64_t ms;

    return t && time_parse_rfc3339(tree_str(t), &ms, &e) ? ms : 0;
}

static void put_identity(struct draft *d, struct jw *w, const struct tree *meta, uint64_t rv)
{
    static const char *const noted[] = {"name", "namespace", "uid"};
    const struct tree *generate = tree_get(meta, "generateName");

    for (size_t i = 0; i < ARRAY_LEN(noted); i++) {
        str s = tree_str(tree_get(meta, noted[i]));

        if (s.n) {
            jw_key(w, noted[i]);
            jw_str(w, s);
            note(d, s);
        } else {
            note_more(d, s);
        }
        if (i == 0 && tree_str(generate).n)
            jw_key(w, "generateName"), jw_str(w, tree_str(generate));
    }
    if (!rv)
        return;
    char digits[24];
    struct sb number = {.p = digits, .cap = sizeof(digits)}; /* 20 digits fit: it never grows */
    sb_u64(&number, rv);
    jw_key(w, "resourceVersion");
    jw_str(w, sb_view(&number));
    d->r.rv_n = (uint32_t)number.n;
    d->r.rv_at = (uint32_t)(d->text.n - 1 - number.n);
}

static void put_lists(struct draft *d, struct arena *a, struct jw *w, const struct tree *meta)
{
    const struct tree *labels = tree_get(meta, "labels"), *annotations = tree_get(meta, "annotations");
    const struct tree *owners = tree_get(meta, "ownerReferences"), *finalizers = tree_get(meta, "finalizers");
    const struct tree *managed = tree_get(meta, "managedFields");

    if (labels && labels->n)
        jw_key(w, "labels"), put_map(d, a, w, labels, true);
    if (annotations && annotations->n)
        jw_key(w, "annotations"), put_map(d, a, w, annotations, false);
    if (owners && owners->n)
        jw_key(w, "ownerReferences"), put_owners(d, w, owners);
    if (finalizers && finalizers->n) {
        jw_key(w, "finalizers"), put_value(w, finalizers);
        d->r.o.n_finalizers = finalizers->n;
    }
    d->r.managed_at = (uint32_t)d->text.n;
    if (managed && managed->n)
        jw_key(w, "managedFields"), put_value(w, managed);
    d->r.managed_end = (uint32_t)d->text.n;
}

static void put_metadata(struct draft *d, struct arena *a, struct jw *w, const struct tree *meta, uint64_t rv)
{
    static const char *const plain[] = {"generation", "creationTimestamp", "deletionTimestamp",
                                        "deletionGracePeriodSeconds"};

    jw_map(w);
    put_identity(d, w, meta, rv);
    for (size_t i = 0; i < ARRAY_LEN(plain); i++) {
        const struct tree *v = tree_get(meta, plain[i]);

        if (v && !(i == 0 && str_is(tree_scalar(v), "0")))
            jw_key(w, plain[i]), put_value(w, v);
    }
    put_lists(d, a, w, meta);
    jw_end(w);
    d->r.o.created_ms = read_time(tree_get(meta, "creationTimestamp"));
    d->r.o.deleted_ms = read_time(tree_get(meta, "deletionTimestamp"));
}

static bool apart(const struct kind *kind, str key)
{
    return str_is(key, "kind") || str_is(key, "apiVersion") || str_is(key, "metadata") ||
           (kind->has_status && str_is(key, "status"));
}

/* Everything that is neither metadata nor a status of its own. */
static void put_body(struct draft *d, const struct kind *kind, const struct tree *obj)
{
    struct jw w = {.out = &d->body};

    sb_reset(&d->body);
    jw_map(&w);
    for (uint32_t i = 0; i < obj->n; i++)
        if (obj->items[i].kind != TREE_NULL && !apart(kind, obj->keys[i])) {
            jw_key_str(&w, obj->keys[i]);
            if (kind->crd) /* nulls that its schema has left stand where anything may stand */
                jw_tree(&w, &obj->items[i]);
            else
                put_value(&w, &obj->items[i]);
        }
    d->body.p[0] = ',';
    if (d->body.n == 1)
        sb_reset(&d->body);
}

static bool body_is(const struct draft *d, const struct object *o)
{
    const struct revision *r = revision_of(o);
    uint32_t n = r->body_end - r->body_at;

    return d->body.n == n && (n == 0 || memcmp(d->body.p, o->json.p + r->body_at, n) == 0);
}

/* ---- fields that selectors may ask for ---- */

/* quirk: what a selector sees where the object says nothing, or where the name of the field is not its path. */
static const struct {
    const char *name, *path, *absent;
} odd_fields[] = {
    {"source", "source.component", ""},
    {"spec.unschedulable", "spec.unschedulable", "false"},
    {"spec.hostNetwork", "spec.hostNetwork", "false"},
    {"status.successful", "status.succeeded", "0"},
    {"status.replicas", "status.replicas", "0"},
    {"involvedObject.resourceVersion", "involvedObject.resourceVersion", ""},
};

static str field_value(const struct tree *obj, const char *name)
{
    const char *absent = "";
    str path = str_c(name), key;

    for (size_t i = 0; i < ARRAY_LEN(odd_fields); i++)
        if (strcmp(odd_fields[i].name, name) == 0) {
            path = str_c(odd_fields[i].path);
            absent = odd_fields[i].absent;
        }
    while (obj && path.n) {
        (void)str_cut(path, '.', &key, &path);
        obj = tree_find((struct tree *)obj, key);
    }
    str value = tree_scalar(obj);
    return value.n ? value : str_c(absent);
}

static void note_fields(struct draft *d, const struct kind *kind, const struct tree *obj)
{
    const char *const *names = kind->rules ? kind->rules->selectable : NULL;

    for (; names && names[d->r.o.n_fields]; d->r.o.n_fields++)
        note_more(d, field_value(obj, names[d->r.o.n_fields]));
}

/* ---- drafts ---- */

void draft_write(struct draft *d, struct arena *a, const struct kind *kind, struct tree *obj, uint64_t rv,
                 const struct object *counts_from)
{
    struct tree *meta = tree_sub(a, obj, "metadata");
    const struct tree *status = tree_get(obj, "status");
    struct jw w = {.out = &d->text};
    int64_t generation = 0;

    d->r = (struct revision){.o = {.kind = kind, .rv = rv}};
    d->spots.n = d->owners.n = 0;
    sb_reset(&d->text);
    sb_reset(&d->more);
    put_body(d, kind, obj);
    if (counts_from && kind->has_generation && !body_is(d, counts_from)) {
        (void)tree_to_i64(tree_get(meta, "generation"), &generation);
        tree_set_i64(a, meta, "generation", generation + 1);
    }

    jw_map(&w);
    jw_key(&w, "kind"), jw_str(&w, kind->name);
    jw_key(&w, "apiVersion"), jw_str(&w, kind_api_version(a, kind));
    jw_key(&w, "metadata"), put_metadata(d, a, &w, meta, rv);
    d->r.body_at = (uint32_t)d->text.n;
    sb_str(&d->text, sb_view(&d->body));
    d->r.body_end = (uint32_t)d->text.n;
    if (kind->has_status && status)
        jw_key(&w, "status"), put_value(&w, status);
    jw_end(&w);
    note_fields(d, kind, obj);
    assert(d->text.n + d->more.n < UINT32_MAX / 2);
}

static bool same(str a, size_t a_from, size_t a_to, str b, size_t b_from, size_t b_to)
{
    return str_eq(str_sub(a, a_from, a_to), str_sub(b, b_from, b_to));
}

bool draft_equals(const struct draft *d, const struct object *o)
{
    const struct revision *r = revision_of(o), *mine = &d->r;
    str a = sb_view(&d->text), b = o->json;

    return same(a, 0, mine->rv_at, b, 0, r->rv_at) &&
           same(a, mine->rv_at + mine->rv_n, a.n, b, r->rv_at + r->rv_n, b.n);
}

/* Sizes of blocks come in steps, so that the next revision of an object, which is mostly a little longer, fits where another
 * one was: without it a third of the heap of 10,000 pods was gaps. */
static size_t block_size(size_t n)
{
    size_t step = n > 2048 ? 512 : 64;

    return (n + step - 1) & ~(step - 1);
}

/* Where the parts of a revision lie in its block: the text is last, behind it what is not in the text. */
static struct revision *block_new(const struct revision *like, size_t n_text, size_t n_more)
{
    const struct object *o = &like->o;
    size_t n_pairs = (size_t)o->n_labels + o->n_fields;
    size_t before = sizeof(*like) + n_pairs * sizeof(struct label) + o->n_owners * sizeof(struct owner);
    struct revision *r = xmalloc(block_size(before + n_text + n_more));
    struct label *pairs = (struct label *)(r + 1);

    *r = *like;
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

void draft_fini(struct draft *d)
{
    sb_fini(&d->text);
    sb_fini(&d->body);
    sb_fini(&d->more);
    vec_fini(&d->spots);
    vec_fini(&d->owners);
}
