/* Drafts: the text of a revision to be, and where in it the strings are that the server looks at.
 *
 * A draft has kind, apiVersion and metadata in the order in which a Go server writes them, then the body, then the status. The
 * body is written before metadata, because whether it changed decides metadata.generation. Strings of metadata are found again in
 * the text that was just written; those with escapes, which are rare, are kept behind it.
 *
 * Most writes change one part of an object: its status, or its metadata. draft_splice() writes that part and takes the text of the
 * others from the revision before, with the same result as if all had been read and written. */
#include "data/edit.h"
#include "data/json.h"
#include "model/duration.h"
#include "sim/kube/kube_int.h"

/* ---- writing the text ---- */

/* Like jw_tree(), but nulls are left out. */
static void put_value(struct draft *d, const struct tree *t)
{
    json_compact(&d->text, t, /* nulls= */ false);
}

static void put_str(struct draft *d, str s)
{
    put_value(d, &(struct tree){.kind = TREE_STRING, .text = s});
}

static void put_comma(struct draft *d)
{
    char last = d->text.p[d->text.n - 1];

    if (last != '{' && last != '[')
        sb_char(&d->text, ',');
}

/* A key of our own, which needs no escapes. */
static void put_key(struct draft *d, str key)
{
    put_comma(d);
    sb_char(&d->text, '"');
    sb_str(&d->text, key);
    sb_str(&d->text, STR("\":"));
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
static void put_map(struct draft *d, struct arena *a, const struct tree *t, bool labels)
{
    struct pair *pairs = arena_new_array(a, struct pair, t->n);
    uint32_t n = 0;

    for (uint32_t i = 0; i < t->n; i++)
        if (t->items[i].kind == TREE_STRING)
            pairs[n++] = (struct pair){t->keys[i], &t->items[i]};
    sort_stable(pairs, n, sizeof(*pairs), by_key, NULL);
    sb_char(&d->text, '{');
    for (uint32_t i = 0; i < n; i++) {
        put_comma(d);
        put_str(d, pairs[i].key);
        if (labels)
            note(d, pairs[i].key);
        sb_char(&d->text, ':');
        put_str(d, pairs[i].value->text);
        if (labels)
            note(d, pairs[i].value->text);
    }
    sb_char(&d->text, '}');
    if (labels)
        d->r.o.n_labels = n;
}

static void put_owner(struct draft *d, const struct tree *t)
{
    static const str keys[] = {STR_INIT("apiVersion"), STR_INIT("kind"),       STR_INIT("name"),
                               STR_INIT("uid"),        STR_INIT("controller"), STR_INIT("blockOwnerDeletion")};
    struct owner o = {.controller = tree_is_true(tree_get(t, "controller")),
                      .blocks = tree_is_true(tree_get(t, "blockOwnerDeletion"))};

    put_comma(d);
    sb_char(&d->text, '{');
    for (size_t i = 0; i < ARRAY_LEN(keys); i++) {
        const struct tree *v = tree_get_str(t, keys[i]);

        if (v) {
            put_key(d, keys[i]);
            put_value(d, v);
        }
        if (i < 4 && v)
            note(d, tree_str(v));
        else if (i < 4)
            note_more(d, (str){"", 0});
    }
    sb_char(&d->text, '}');
    vec_push(&d->owners, o);
}

static void put_owners(struct draft *d, const struct tree *t)
{
    sb_char(&d->text, '[');
    for (uint32_t i = 0; i < t->n; i++)
        if (t->items[i].kind == TREE_MAP)
            put_owner(d, &t->items[i]);
    sb_char(&d->text, ']');
    d->r.o.n_owners = d->owners.n;
}

static int64_t read_time(const struct tree *t)
{
    struct err e;
    int64_t ms;

    return t && time_parse_rfc3339(tree_str(t), &ms, &e) ? ms : 0;
}

static void put_identity(struct draft *d, const struct tree *meta, uint64_t rv)
{
    static const str noted[] = {STR_INIT("name"), STR_INIT("namespace"), STR_INIT("uid")};
    str generate = tree_str(tree_get(meta, "generateName"));

    for (size_t i = 0; i < ARRAY_LEN(noted); i++) {
        str s = tree_str(tree_get_str(meta, noted[i]));

        if (s.n) {
            put_key(d, noted[i]);
            put_str(d, s);
            note(d, s);
        } else {
            note_more(d, s);
        }
        if (i == 0 && generate.n)
            put_key(d, STR("generateName")), put_str(d, generate);
    }
    if (!rv)
        return;
    put_key(d, STR("resourceVersion"));
    sb_char(&d->text, '"');
    d->r.rv_at = (uint32_t)d->text.n;
    sb_u64(&d->text, rv);
    d->r.rv_n = (uint32_t)d->text.n - d->r.rv_at;
    sb_char(&d->text, '"');
}

static void put_lists(struct draft *d, struct arena *a, const struct tree *meta)
{
    const struct tree *labels = tree_get(meta, "labels"), *annotations = tree_get(meta, "annotations");
    const struct tree *owners = tree_get(meta, "ownerReferences"), *finalizers = tree_get(meta, "finalizers");
    const struct tree *managed = tree_get(meta, "managedFields");

    if (labels && labels->n)
        put_key(d, STR("labels")), put_map(d, a, labels, true);
    if (annotations && annotations->n)
        put_key(d, STR("annotations")), put_map(d, a, annotations, false);
    if (owners && owners->n)
        put_key(d, STR("ownerReferences")), put_owners(d, owners);
    if (finalizers && finalizers->n) {
        put_key(d, STR("finalizers")), put_value(d, finalizers);
        d->r.o.n_finalizers = finalizers->n;
    }
    d->r.managed_at = (uint32_t)d->text.n;
    if (managed && managed->n)
        put_key(d, STR("managedFields")), put_value(d, managed);
    d->r.managed_end = (uint32_t)d->text.n;
}

static void put_metadata(struct draft *d, struct arena *a, const struct tree *meta, uint64_t rv)
{
    static const str plain[] = {STR_INIT("generation"), STR_INIT("creationTimestamp"), STR_INIT("deletionTimestamp"),
                                STR_INIT("deletionGracePeriodSeconds")};

    sb_char(&d->text, '{');
    put_identity(d, meta, rv);
    for (size_t i = 0; i < ARRAY_LEN(plain); i++) {
        const struct tree *v = tree_get_str(meta, plain[i]);

        if (v && !(i == 0 && str_is(tree_scalar(v), "0")))
            put_key(d, plain[i]), put_value(d, v);
    }
    put_lists(d, a, meta);
    sb_char(&d->text, '}');
    d->r.o.created_ms = read_time(tree_get(meta, "creationTimestamp"));
    d->r.o.deleted_ms = read_time(tree_get(meta, "deletionTimestamp"));
}

static bool apart(const struct kind *kind, str key)
{
    return str_is(key, "kind") || str_is(key, "apiVersion") || str_is(key, "metadata") ||
           (kind->has_status && str_is(key, "status"));
}

static void put_member(struct draft *d, const struct kind *kind, str key, const struct tree *t)
{
    if (t->kind == TREE_NULL || apart(kind, key))
        return;
    sb_char(&d->body, ',');
    json_compact(&d->body, &(struct tree){.kind = TREE_STRING, .text = key}, /* nulls= */ false);
    sb_char(&d->body, ':');
    /* Nulls that the schema of a custom kind has left stand where anything may stand. */
    json_compact(&d->body, t, /* nulls= */ kind->crd != NULL);
}

/* Everything that is neither metadata nor a status of its own. */
static void put_body(struct draft *d, const struct kind *kind, const struct tree *obj)
{
    sb_reset(&d->body);
    for (uint32_t i = 0; i < obj->n; i++)
        put_member(d, kind, obj->keys[i], &obj->items[i]);
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

/* Where in the object a field is: its path, and what it is when there is nothing. */
static str field_path(const char *name, const char **ret_absent)
{
    *ret_absent = "";
    for (size_t i = 0; i < ARRAY_LEN(odd_fields); i++)
        if (odd_fields[i].name[0] == name[0] && strcmp(odd_fields[i].name, name) == 0) {
            *ret_absent = odd_fields[i].absent;
            return str_c(odd_fields[i].path);
        }
    return str_c(name);
}

static str field_value(const struct tree *obj, const char *name)
{
    const char *absent;
    str path = field_path(name, &absent), key;

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

static void begin(struct draft *d, const struct kind *kind, uint64_t rv)
{
    d->r = (struct revision){.o = {.kind = kind, .rv = rv}, .blocks = d->blocks};
    d->spots.n = d->owners.n = 0;
    sb_reset(&d->text);
    sb_reset(&d->more);
}

static void count_generation(struct arena *a, struct tree *meta)
{
    int64_t generation = 0;

    (void)tree_to_i64(tree_get(meta, "generation"), &generation);
    tree_set_i64(a, meta, "generation", generation + 1);
}

static void put_head(struct draft *d, struct arena *a, const struct kind *kind)
{
    sb_c(&d->text, "{\"kind\":\"");
    sb_str(&d->text, kind->name);
    sb_c(&d->text, "\",\"apiVersion\":\"");
    sb_str(&d->text, kind_api_version(a, kind));
    sb_c(&d->text, "\",\"metadata\":");
    d->r.meta_at = (uint32_t)d->text.n;
}

static void put_status(struct sb *out, const struct tree *status)
{
    if (!status)
        return;
    sb_c(out, STATUS_KEY);
    json_compact(out, status, /* nulls= */ false);
}

/* Metadata between what is written already. */
static void put_together(struct draft *d, struct arena *a, const struct tree *obj)
{
    const struct kind *kind = d->r.o.kind;

    put_head(d, a, kind);
    put_metadata(d, a, tree_get(obj, "metadata"), d->r.o.rv);
    d->r.body_at = (uint32_t)d->text.n;
    sb_str(&d->text, sb_view(&d->body));
    d->r.body_end = (uint32_t)d->text.n;
    sb_str(&d->text, sb_view(&d->status));
    sb_char(&d->text, '}');
    note_fields(d, kind, obj);
    assert(d->text.n + d->more.n < UINT32_MAX / 2);
}

void draft_write(struct draft *d, struct arena *a, const struct kind *kind, struct tree *obj, uint64_t rv,
                 const struct object *counts_from)
{
    struct tree *meta = tree_sub(a, obj, "metadata");

    begin(d, kind, rv);
    put_body(d, kind, obj);
    if (counts_from && kind->has_generation && !body_is(d, counts_from))
        count_generation(a, meta);
    sb_reset(&d->status);
    if (kind->has_status)
        put_status(&d->status, tree_get(obj, "status"));
    put_together(d, a, obj);
}

void draft_write_metadata(struct draft *d, struct arena *a, struct tree *obj)
{
    begin(d, d->r.o.kind, d->r.o.rv);
    put_together(d, a, obj);
}

/* ---- splices ---- */

/* The same string in the new text: what stands behind the resource version has moved. */
static void note_kept(struct draft *d, const struct object *old, str s, int64_t shift)
{
    int64_t at = s.p - old->json.p;

    if (at < 0 || at >= (int64_t)old->json.n) {
        note_more(d, s);
        return;
    }
    at += at > revision_of(old)->rv_at ? shift : 0;
    vec_push(&d->spots, (struct spot){(uint32_t)at, (uint32_t)s.n, false});
}

static void keep_metadata(struct draft *d, const struct object *old, const struct tree *managed, uint64_t rv)
{
    const struct revision *r = revision_of(old);

    sb_str(&d->text, str_sub(old->json, r->meta_at, r->rv_at));
    sb_u64(&d->text, rv);
    int64_t shift = (int64_t)d->text.n - r->rv_at - r->rv_n;
    sb_str(&d->text, str_sub(old->json, r->rv_at + r->rv_n, r->managed_at));
    d->r.rv_at = r->rv_at;
    d->r.rv_n = (uint32_t)(r->rv_n + shift);
    d->r.managed_at = (uint32_t)d->text.n;
    if (managed)
        put_key(d, STR("managedFields")), put_value(d, managed);
    else
        sb_str(&d->text, str_sub(old->json, r->managed_at, r->managed_end));
    d->r.managed_end = (uint32_t)d->text.n;
    sb_str(&d->text, str_sub(old->json, r->managed_end, r->body_at)); /* no string that is noted stands there */
    d->r.o.created_ms = old->created_ms;
    d->r.o.deleted_ms = old->deleted_ms;
    d->r.o.n_labels = old->n_labels;
    d->r.o.n_owners = old->n_owners;
    d->r.o.n_finalizers = old->n_finalizers;
    note_kept(d, old, old->name, shift);
    note_kept(d, old, old->ns, shift);
    note_kept(d, old, old->uid, shift);
    for (uint32_t i = 0; i < old->n_labels; i++) {
        note_kept(d, old, old->labels[i].key, shift);
        note_kept(d, old, old->labels[i].value, shift);
    }
    for (uint32_t i = 0; i < old->n_owners; i++) {
        vec_push(&d->owners, old->owners[i]);
        note_kept(d, old, old->owners[i].api_version, shift);
        note_kept(d, old, old->owners[i].kind, shift);
        note_kept(d, old, old->owners[i].name, shift);
        note_kept(d, old, old->owners[i].uid, shift);
    }
}

/* The members that are there in their order, then those that are new. */
static void splice_body(struct draft *d, const struct object *old, struct tree *parts)
{
    const struct revision *r = revision_of(old);
    str rest = str_sub(old->json, r->body_at, old->json.n), key, value;
    const char *end = old->json.p + r->body_end;

    uint64_t done = 0;

    assert(parts->n <= 64);
    sb_reset(&d->body);
    while (rest.p < end && member_next(&rest, &key, &value)) {
        const struct tree *t = tree_find(parts, key);

        if (t) {
            put_member(d, old->kind, key, t);
            done |= UINT64_C(1) << (t - parts->items);
        } else {
            sb_bytes(&d->body, key.p - 2, (size_t)(value.p + value.n - key.p) + 2);
        }
    }
    for (uint32_t i = 0; i < parts->n; i++)
        if (!(done >> i & 1))
            put_member(d, old->kind, parts->keys[i], &parts->items[i]);
}

static bool touches_body(const struct kind *kind, const struct tree *parts)
{
    for (uint32_t i = 0; i < parts->n; i++)
        if (!apart(kind, parts->keys[i]))
            return true;
    return false;
}

static void splice_fields(struct draft *d, const struct object *old, struct tree *parts)
{
    const char *const *names = old->kind->rules ? old->kind->rules->selectable : NULL;

    for (; names && names[d->r.o.n_fields]; d->r.o.n_fields++) {
        const char *name = names[d->r.o.n_fields];
        const char *absent;
        str head, tail;

        (void)str_cut(field_path(name, &absent), '.', &head, &tail);
        note_more(d, tree_find(parts, head) ? field_value(parts, name) : old->fields[d->r.o.n_fields].value);
    }
}

void draft_splice(struct draft *d, struct arena *a, const struct object *old, struct tree *parts,
                  const struct tree *managed, uint64_t rv)
{
    const struct revision *r = revision_of(old);
    const struct kind *kind = old->kind;
    const struct tree *meta = tree_find(parts, STR("metadata"));
    bool body = touches_body(kind, parts);

    assert(r->rv_n > 0);
    begin(d, kind, rv);
    d->r.valid_by = r->valid_by;
    d->r.known_by = r->known_by;
    if (body)
        splice_body(d, old, parts);
    sb_str(&d->text, str_sub(old->json, 0, r->meta_at));
    d->r.meta_at = r->meta_at;
    if (meta)
        put_metadata(d, a, meta, rv);
    else
        keep_metadata(d, old, managed, rv);
    d->r.body_at = (uint32_t)d->text.n;
    sb_str(&d->text, body ? sb_view(&d->body) : str_sub(old->json, r->body_at, r->body_end));
    d->r.body_end = (uint32_t)d->text.n;
    if (kind->has_status && tree_find(parts, STR("status")))
        put_status(&d->text, tree_get(parts, "status"));
    else
        sb_str(&d->text, str_sub(old->json, r->body_end, old->json.n - 1));
    sb_char(&d->text, '}');
    splice_fields(d, old, parts);
    assert(d->text.n + d->more.n < UINT32_MAX / 2);
}

void draft_fini(struct draft *d)
{
    sb_fini(&d->text);
    sb_fini(&d->body);
    sb_fini(&d->status);
    sb_fini(&d->more);
    vec_fini(&d->spots);
    vec_fini(&d->owners);
    blocks_leave(d->blocks);
}
