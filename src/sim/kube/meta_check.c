/* Whether metadata is as it should be. Sentences are those of a Kubernetes API server, which people search for. */
#include <ctype.h>

#include "data/edit.h"
#include "data/json.h"
#include "model/duration.h"
#include "sim/kube/kube_int.h"

#define ANNOTATIONS_MAX (256u << 10)
#define LABEL_MAX 63u
#define SUBDOMAIN_MAX 253u

static bool is_lower_or_digit(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9');
}

static bool is_alnum(char c)
{
    return is_lower_or_digit(c) || (c >= 'A' && c <= 'Z');
}

/* [a-z0-9]([-a-z0-9]*[a-z0-9])? */
static bool is_label_text(str s)
{
    if (s.n == 0 || !is_lower_or_digit(s.p[0]) || !is_lower_or_digit(s.p[s.n - 1]))
        return false;
    for (size_t i = 0; i < s.n; i++)
        if (!is_lower_or_digit(s.p[i]) && s.p[i] != '-')
            return false;
    return true;
}

/* Labels with dots between them. */
static bool is_subdomain_text(str s)
{
    str label;

    for (bool more = true; more;) {
        more = str_cut(s, '.', &label, &s);
        if (!is_label_text(label))
            return false;
    }
    return true;
}

bool meta_is_subdomain(str s)
{
    return s.n <= SUBDOMAIN_MAX && is_subdomain_text(s);
}

/* ([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9] */
static bool is_name_text(str s)
{
    if (s.n == 0 || !is_alnum(s.p[0]) || !is_alnum(s.p[s.n - 1]))
        return false;
    for (size_t i = 0; i < s.n; i++)
        if (!is_alnum(s.p[i]) && !memchr("-_.", s.p[i], 3))
            return false;
    return true;
}

#define SUBDOMAIN_RULE                                                                                                 \
    "a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters, '-' or '.', and must start "   \
    "and end with an alphanumeric character (e.g. 'example.com', regex used for validation is "                        \
    "'[a-z0-9]([-a-z0-9]*[a-z0-9])?(\\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*')"
#define LABEL_RULE                                                                                                     \
    "a lowercase RFC 1123 label must consist of lower case alphanumeric characters or '-', and must start and end "    \
    "with an alphanumeric character (e.g. 'my-name',  or '123-abc', regex used for validation is "                     \
    "'[a-z0-9]([-a-z0-9]*[a-z0-9])?')"
#define NAME_RULE                                                                                                      \
    "must consist of alphanumeric characters, '-', '_' or '.', and must start and end with an alphanumeric character " \
    "(e.g. 'MyName',  or 'my.name',  or '123-abc', regex used for validation is "                                      \
    "'([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]')"
#define VALUE_RULE                                                                                                     \
    "a valid label must be an empty string or consist of alphanumeric characters, '-', '_' or '.', and must start "    \
    "and end with an alphanumeric character (e.g. 'MyValue',  or 'my_value',  or '12345', regex used for validation "  \
    "is '(([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9])?')"

static void refuse(struct causes *out, str field, str value, const char *why)
{
    if (out)
        cause_invalid(out, field, json_quoted(out->a, value), "%s", why);
}

/* ---- keys and values ---- */

static void check_prefix(struct causes *out, str field, str key, str prefix, bool *ok)
{
    if (prefix.n == 0) {
        refuse(out, field, key, "prefix part must be non-empty");
        *ok = false;
        return;
    }
    if (prefix.n > SUBDOMAIN_MAX) {
        refuse(out, field, key, "prefix part must be no more than 253 bytes");
        *ok = false;
    }
    if (!is_subdomain_text(prefix)) {
        refuse(out, field, key, "prefix part " SUBDOMAIN_RULE);
        *ok = false;
    }
}

static bool check_key(struct causes *out, str field, str shown, str key)
{
    str prefix, name;
    bool ok = true;

    if (str_cut(key, '/', &prefix, &name)) {
        if (memchr(name.p, '/', name.n)) {
            refuse(out, field, shown,
                   "a valid label key " NAME_RULE
                   " with an optional DNS subdomain prefix and '/' (e.g. 'example.com/MyName')");
            return false;
        }
        check_prefix(out, field, shown, prefix, &ok);
    } else {
        name = key;
    }
    if (name.n == 0 || name.n > LABEL_MAX) {
        refuse(out, field, shown, name.n ? "name part must be no more than 63 bytes" : "name part must be non-empty");
        ok = false;
    }
    if (!is_name_text(name)) {
        refuse(out, field, shown, "name part " NAME_RULE);
        ok = false;
    }
    return ok;
}

bool meta_is_qualified(str s, struct causes *out, str field)
{
    return check_key(out, field, s, s);
}

const char *meta_label_value(str s)
{
    if (s.n > LABEL_MAX)
        return "must be no more than 63 bytes";
    return s.n && !is_name_text(s) ? VALUE_RULE : NULL;
}

static void check_labels(struct causes *out, const struct tree *labels)
{
    for (uint32_t i = 0; labels && i < labels->n; i++) {
        str value = tree_str(&labels->items[i]);
        const char *why = meta_label_value(value);

        (void)meta_is_qualified(labels->keys[i], out, STR("metadata.labels"));
        if (why)
            refuse(out, STR("metadata.labels"), value, why);
    }
}

static void check_annotations(struct causes *out, const struct tree *t)
{
    size_t total = 0;

    for (uint32_t i = 0; t && i < t->n; i++) {
        str key = t->keys[i];

        total += key.n + tree_str(&t->items[i]).n;
        if (check_key(NULL, key, key, key))
            continue;
        char *lower = arena_alloc(out->a, key.n, 1); /* quirk: here the prefix may have capitals */
        for (size_t c = 0; c < key.n; c++)
            lower[c] = (char)tolower((unsigned char)key.p[c]);
        (void)check_key(out, STR("metadata.annotations"), key, (str){lower, key.n});
    }
    if (total > ANNOTATIONS_MAX)
        cause_too_long(out, STR("metadata.annotations"), ANNOTATIONS_MAX);
}

/* ---- owners, finalizers ---- */

/* As Go prints them: what must be there is there, if only empty. */
static const struct tree *owner_shown(struct arena *a, const struct tree *o)
{
    static const char *const must[] = {"apiVersion", "kind", "name", "uid"}, *const may[] = {"controller",
                                                                                             "blockOwnerDeletion"};
    struct tree *t = tree_new_map(a);

    for (size_t i = 0; i < ARRAY_LEN(must); i++)
        tree_set_str(a, t, must[i], tree_str(tree_get(o, must[i])));
    for (size_t i = 0; i < ARRAY_LEN(may); i++)
        if (tree_get(o, may[i]))
            tree_set(a, t, may[i], *tree_get(o, may[i]));
    return t;
}

static str owners_shown(struct arena *a, const struct tree *owners)
{
    struct tree *list = tree_new_list(a);

    for (uint32_t i = 0; i < owners->n; i++)
        (void)tree_push(a, list, *owner_shown(a, &owners->items[i]));
    return json_text(a, list);
}

static void check_owner(struct causes *out, const struct tree *o)
{
    static const char *const must[] = {"kind", "name", "uid"};
    str api = tree_str(tree_get(o, "apiVersion")), group, version;

    if (!str_cut(api, '/', &group, &version))
        version = api;
    if (version.n == 0)
        refuse(out, STR("metadata.ownerReferences.apiVersion"), api, "version must not be empty");
    for (size_t i = 0; i < ARRAY_LEN(must); i++)
        if (tree_str(tree_get(o, must[i])).n == 0)
            refuse(out, arena_printf(out->a, "metadata.ownerReferences.%s", must[i]), STR(""), "must not be empty");
    if (str_is(api, "v1") && str_is(tree_str(tree_get(o, "kind")), "Event"))
        cause_invalid(out, STR("metadata.ownerReferences"), json_text(out->a, owner_shown(out->a, o)),
                      "/v1, Kind=Event is disallowed from being an owner");
}

static void check_owners(struct causes *out, const struct tree *owners)
{
    const struct tree *first = NULL;

    for (uint32_t i = 0; owners && i < owners->n; i++) {
        const struct tree *o = &owners->items[i];

        check_owner(out, o);
        if (!tree_is_true(tree_get(o, "controller")))
            continue;
        if (first)
            cause_invalid(
                out, STR("metadata.ownerReferences"), owners_shown(out->a, owners),
                "Only one reference can have Controller set to true. Found \"true\" in references for " STR_FMT
                "/" STR_FMT " and " STR_FMT "/" STR_FMT,
                STR_ARG(tree_str(tree_get(first, "kind"))), STR_ARG(tree_str(tree_get(first, "name"))),
                STR_ARG(tree_str(tree_get(o, "kind"))), STR_ARG(tree_str(tree_get(o, "name"))));
        else
            first = o;
    }
}

static bool is_standard_finalizer(str s)
{
    return str_is(s, "kubernetes") || str_is(s, "orphan") || str_is(s, "foregroundDeletion");
}

static void check_finalizers(struct causes *out, const struct kind *kind, const struct tree *list)
{
    const str field = STR("metadata.finalizers");
    bool orphan = false, foreground = false;

    for (uint32_t i = 0; list && i < list->n; i++) {
        str name = tree_str(&list->items[i]);

        (void)meta_is_qualified(name, out, field);
        orphan = orphan || str_is(name, "orphan");
        foreground = foreground || str_is(name, "foregroundDeletion");
    }
    if (orphan && foreground)
        cause_invalid(out, field, json_text(out->a, list),
                      "finalizer orphan and foregroundDeletion cannot be both set");
    for (uint32_t i = 0; list && !kind->crd && i < list->n; i++) {
        str name = tree_str(&list->items[i]);

        if (!memchr(name.p, '/', name.n) && !is_standard_finalizer(name))
            refuse(out, arena_printf(out->a, "metadata.finalizers[%u]", i), name,
                   "name is neither a standard finalizer name nor is it fully qualified");
    }
}

/* ---- names ---- */

static void check_name(struct causes *out, const struct kind *kind, str field, str name, bool prefix)
{
    if (kind->naming == NAMES_PATH) {
        if (!prefix && (str_is(name, ".") || str_is(name, "..")))
            refuse(out, field, name, name.n == 1 ? "may not be '.'" : "may not be '..'");
        if (memchr(name.p, '/', name.n))
            refuse(out, field, name, "may not contain '/'");
        if (memchr(name.p, '%', name.n))
            refuse(out, field, name, "may not contain '%'");
        return;
    }
    str text = name;
    char *masked = NULL;
    if (prefix && name.n > 1 && name.p[name.n - 1] == '-') { /* the dash that generateName ends with */
        masked = arena_alloc(out->a, name.n, 1);
        memcpy(masked, name.p, name.n);
        masked[name.n - 1] = 'a';
        text.p = masked;
    }
    bool label = kind->naming == NAMES_LABEL;
    const char *label_rule = is_subdomain_text(text) ? "must not contain dots" : LABEL_RULE;
    if (name.n > (label ? LABEL_MAX : SUBDOMAIN_MAX))
        refuse(out, field, name, label ? "must be no more than 63 characters" : "must be no more than 253 characters");
    if (label ? !is_label_text(text) : !is_subdomain_text(text))
        refuse(out, field, name, label ? label_rule : SUBDOMAIN_RULE);
}

void meta_validate(struct causes *out, const struct kind *kind, const struct tree *meta)
{
    str name = tree_str(tree_get(meta, "name")), prefix = tree_str(tree_get(meta, "generateName"));
    int64_t generation = 0;

    if (prefix.n)
        check_name(out, kind, STR("metadata.generateName"), prefix, true);
    if (name.n == 0)
        cause_required(out, STR("metadata.name"), "name or generateName is required");
    else
        check_name(out, kind, STR("metadata.name"), name, false);
    if (kind->namespaced && tree_str(tree_get(meta, "namespace")).n == 0)
        cause_required(out, STR("metadata.namespace"), "%s", "");
    if (tree_to_i64(tree_get(meta, "generation"), &generation) && generation < 0)
        cause_invalid(out, STR("metadata.generation"), tree_scalar(tree_get(meta, "generation")),
                      "must be greater than or equal to 0");
    check_labels(out, tree_get(meta, "labels"));
    check_annotations(out, tree_get(meta, "annotations"));
    check_owners(out, tree_get(meta, "ownerReferences"));
    check_finalizers(out, kind, tree_get(meta, "finalizers"));
}

/* ---- updates ---- */

static bool list_has(const struct tree *list, str s)
{
    for (uint32_t i = 0; list && i < list->n; i++)
        if (str_eq(tree_str(&list->items[i]), s))
            return true;
    return false;
}

/* []string{"a", "b"}: how Go prints them, sorted. */
static void check_new_finalizers(struct causes *out, const struct tree *now, const struct tree *was)
{
    VEC(str) fresh = {0};
    struct sb b = {0};

    for (uint32_t i = 0; now && i < now->n; i++) {
        str name = tree_str(&now->items[i]);
        uint32_t at = 0;

        if (list_has(was, name))
            continue;
        while (at < fresh.n && str_cmp(fresh.v[at], name) < 0)
            at++;
        vec_push(&fresh, name);
        memmove(&fresh.v[at + 1], &fresh.v[at], (fresh.n - 1 - at) * sizeof(str));
        fresh.v[at] = name;
    }
    for (uint32_t i = 0; i < fresh.n; i++)
        sb_printf(&b, "%s\"" STR_FMT "\"", i ? ", " : "", STR_ARG(fresh.v[i]));
    if (fresh.n)
        cause_forbidden(out, STR("metadata.finalizers"),
                        "no new finalizers can be added if the object is being deleted, found new finalizers "
                        "[]string{" STR_FMT "}",
                        STR_ARG(sb_view(&b)));
    vec_fini(&fresh);
    sb_fini(&b);
}

/* Times are compared as times: they may be written in more than one way. */
static bool same_value(const struct tree *a, const struct tree *b)
{
    struct err e;
    int64_t x, y;

    if (!a || !b)
        return a == b;
    if (tree_equal(a, b))
        return true;
    if (a->kind == TREE_STRING && b->kind == TREE_STRING && time_parse_rfc3339(a->text, &x, &e) &&
        time_parse_rfc3339(b->text, &y, &e))
        return x == y;
    return false;
}

static void check_update(struct causes *out, const struct tree *meta, const struct tree *old)
{
    static const char *const fixed[] = {"name", "namespace", "uid", "deletionTimestamp", "deletionGracePeriodSeconds"};

    if (tree_get(old, "deletionTimestamp"))
        check_new_finalizers(out, tree_get(meta, "finalizers"), tree_get(old, "finalizers"));
    for (size_t i = 0; i < ARRAY_LEN(fixed); i++) {
        const struct tree *now = tree_get(meta, fixed[i]);

        if (!same_value(now, tree_get(old, fixed[i])))
            cause_invalid(out, arena_printf(out->a, "metadata.%s", fixed[i]),
                          now ? json_text(out->a, now) : STR("null"), "field is immutable");
    }
    check_labels(out, tree_get(meta, "labels"));
    check_annotations(out, tree_get(meta, "annotations"));
    check_owners(out, tree_get(meta, "ownerReferences"));
}

/* quirk: a real server looks at everything twice, as at a new object and as at a change, and says so each time. */
void meta_validate_update(struct causes *out, const struct kind *kind, const struct tree *meta, const struct tree *old)
{
    uint32_t before = out->list.n;

    check_update(out, meta, old);
    check_finalizers(out, kind, tree_get(meta, "finalizers"));
    if (out->list.n == before)
        return;
    out->list.n = before;
    for (int i = 0; i < 2; i++)
        check_update(out, meta, old);
    for (int i = 0; i < 2; i++)
        meta_validate(out, kind, meta);
}

/* ---- types ---- */

enum shape { TEXT, WHOLE, TIME, TEXTS, TEXT_MAP, MAPS };

static const struct {
    const char *name;
    enum shape shape;
} members[] = {
    {"name", TEXT},
    {"generateName", TEXT},
    {"namespace", TEXT},
    {"selfLink", TEXT},
    {"uid", TEXT},
    {"resourceVersion", TEXT},
    {"generation", WHOLE},
    {"creationTimestamp", TIME},
    {"deletionTimestamp", TIME},
    {"deletionGracePeriodSeconds", WHOLE},
    {"labels", TEXT_MAP},
    {"annotations", TEXT_MAP},
    {"ownerReferences", MAPS},
    {"finalizers", TEXTS},
    {"managedFields", MAPS},
};

static bool mismatch(struct arena *a, const struct kind *kind, const struct tree *t, const char *field,
                     const char *type, struct status *st)
{
    return status_bad_request(a, st, 400,
                              STR_FMT " in version \"" STR_FMT "\" cannot be handled as a " STR_FMT
                                      ": json: cannot unmarshal %s into Go struct field ObjectMeta.%s%s%s of type %s",
                              STR_ARG(kind->name), STR_ARG(kind->version), STR_ARG(kind->name), go_json_kind(t),
                              kind->crd ? "" : "metadata", field[0] && !kind->crd ? "." : "", field, type);
}

static bool bad_time(struct arena *a, const struct kind *kind, str text, struct status *st)
{
    return status_bad_request(
        a, st, 400,
        STR_FMT " in version \"" STR_FMT "\" cannot be handled as a " STR_FMT ": parsing time \"" STR_FMT
                "\" as \"2006-01-02T15:04:05Z07:00\": cannot parse \"" STR_FMT "\" as \"2006\"",
        STR_ARG(kind->name), STR_ARG(kind->version), STR_ARG(kind->name), STR_ARG(text), STR_ARG(text));
}

static bool each_is(const struct tree *t, enum tree_kind kind, const struct tree **ret_bad)
{
    for (uint32_t i = 0; i < t->n; i++)
        if (t->items[i].kind != kind && t->items[i].kind != TREE_NULL) {
            *ret_bad = &t->items[i];
            return false;
        }
    return true;
}

static bool member_decodes(struct arena *a, const struct kind *kind, const struct tree *t, const char *name,
                           enum shape shape, struct status *st)
{
    const struct tree *bad = t;
    struct err e;
    int64_t v;

    switch (shape) {
    case TEXT:
        return t->kind == TREE_STRING || mismatch(a, kind, t, name, "string", st);
    case WHOLE:
        return tree_to_i64(t, &v) || mismatch(a, kind, t, name, "int64", st);
    case TIME:
        if (t->kind != TREE_STRING)
            return mismatch(a, kind, t, name, "v1.Time", st);
        return time_parse_rfc3339(t->text, &v, &e) || bad_time(a, kind, t->text, st);
    case TEXT_MAP:
        return (t->kind == TREE_MAP && each_is(t, TREE_STRING, &bad)) ||
               mismatch(a, kind, bad, name, bad == t ? "map[string]string" : "string", st);
    case TEXTS:
        return (t->kind == TREE_LIST && each_is(t, TREE_STRING, &bad)) ||
               mismatch(a, kind, bad, name, bad == t ? "[]string" : "string", st);
    case MAPS:
        return (t->kind == TREE_LIST && each_is(t, TREE_MAP, &bad)) ||
               mismatch(a, kind, bad, name, bad == t ? "[]v1.OwnerReference" : "v1.OwnerReference", st);
    }
    return false;
}

/* Members that nobody knows are dropped; the field validation of the request has spoken of them already. */
bool meta_decodes(struct arena *a, const struct kind *kind, struct tree *obj, struct status *st)
{
    struct tree *meta = tree_sub(a, obj, "metadata");

    if (!meta)
        return mismatch(a, kind, tree_get(obj, "metadata"), "", "v1.ObjectMeta", st);
    for (size_t i = 0; i < ARRAY_LEN(members); i++) {
        const struct tree *t = tree_get(meta, members[i].name);

        if (t && !member_decodes(a, kind, t, members[i].name, members[i].shape, st))
            return false;
    }
    return true;
}
