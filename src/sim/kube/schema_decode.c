/* What a decoder in Go says of JSON that does not fit a struct.
 *
 * The decoder goes through the document in order. A value of the wrong kind is noted, the first one only, and it goes on; a type that
 * reads itself (quantities, times) ends it at once, and what that says is said instead.
 */
#include <stdio.h>

#include "model/duration.h"
#include "sim/kube/schema_impl.h"
#include "sim/kube/status.h"

struct decoder {
    struct sb path;
    str in;             /* the struct that is being read: "PodSpec" */
    bool noted, failed; /* the sentence in e is of the one kind or the other */
    struct err *e;
};

static void decode(struct decoder *d, const struct schema *s, str go, const struct tree *t);

/* "io.k8s.api.core.v1.PodSpec": "PodSpec", or "v1.PodSpec". */
static str last_parts(str name, int parts)
{
    size_t at = name.n;

    while (at > 0 && (name.p[at - 1] != '.' || --parts > 0))
        at--;
    return str_sub(name, at, name.n);
}

/* ---- names of types ---- */

static void print_go(struct sb *b, const struct schema *s)
{
    if (s->type == SCHEMA_LIST) {
        sb_c(b, "[]");
        print_go(b, s->items);
    } else if (s->values) {
        sb_c(b, "map[string]");
        print_go(b, s->values);
    } else if (s->type == SCHEMA_INTEGER)
        sb_str(b, s->format.n ? s->format : STR("int64"));
    else if (s->type == SCHEMA_INT_OR_STRING)
        sb_c(b, "int32");
    else if (s->type == SCHEMA_BOOLEAN)
        sb_c(b, "bool");
    else if (s->type == SCHEMA_NUMBER)
        sb_c(b, "float64");
    else if (s->type != SCHEMA_STRING && s->name.n)
        sb_str(b, last_parts(s->name, 2));
    else
        sb_c(b, "string");
}

/* The type of what is in a list or a map: by its name if that says it. */
static str go_within(str go, const char *prefix)
{
    return str_starts(go, str_c(prefix)) ? str_sub(go, strlen(prefix), go.n) : (str){0};
}

/* ---- refusals ---- */

static void mismatch(struct decoder *d, const struct schema *s, str go, const struct tree *t, bool with_number)
{
    struct sb type = {0};

    if (d->noted || d->failed)
        return;
    if (go.n)
        sb_str(&type, go);
    else
        print_go(&type, s);
    d->noted = true;
    (void)err_set(d->e, ERR_INVALID,
                  "json: cannot unmarshal %s%s%.*s into Go struct field " STR_FMT "." STR_FMT " of type %s",
                  go_json_kind(t), with_number ? " " : "", with_number ? (int)MIN(t->text.n, (size_t)60) : 0, t->text.p,
                  STR_ARG(d->in), STR_ARG(sb_view(&d->path)), sb_cstr(&type));
    sb_fini(&type);
}

static void refuse(struct decoder *d, const char *why)
{
    if (!d->failed)
        (void)err_set(d->e, ERR_INVALID, "%s", why);
    d->failed = true;
}

/* ---- types that read themselves ---- */

static size_t skip_any(str s, size_t at, const char *set)
{
    while (at < s.n && s.p[at] && strchr(set, s.p[at]))
        at++;
    return at;
}

static bool known_suffix(str s)
{
    static const char *const suffixes[] = {"",  "n", "u",  "m",  "k",  "M",  "G",  "T",
                                           "P", "E", "Ki", "Mi", "Gi", "Ti", "Pi", "Ei"};
    int64_t exponent;

    for (size_t i = 0; i < ARRAY_LEN(suffixes); i++)
        if (str_is(s, suffixes[i]))
            return true;
    return (s.p[0] | 32) == 'e' && str_to_i64(str_sub(s, s.n > 1 && s.p[1] == '+' ? 2 : 1, s.n), &exponent);
}

static void decode_quantity(struct decoder *d, const struct tree *t)
{
    str s = tree_scalar(t);
    size_t at = s.n && (s.p[0] == '+' || s.p[0] == '-'), start = at;

    at = skip_any(s, at, "0123456789");
    size_t digits = at - start;
    if (at < s.n && s.p[at] == '.') {
        size_t point = at;

        at = skip_any(s, at + 1, "0123456789");
        digits += at - point - 1;
    }
    size_t suffix = at;
    at = skip_any(s, at, "eEinumkKMGTP");
    if (at < s.n && at > suffix && (s.p[at] == '+' || s.p[at] == '-'))
        at++;
    at = skip_any(s, at, "0123456789");
    if ((t->kind != TREE_STRING && t->kind != TREE_NUMBER) || digits == 0 || at < s.n)
        refuse(d, "quantities must match the regular expression '^([+-]?[0-9.]+)([eEinumkKMGTP]*[-+]?[0-9]*)$'");
    else if (!known_suffix(str_sub(s, suffix, s.n)))
        refuse(d, "unable to parse quantity's suffix");
}

#define SHOWN 60 /* of a text that is wrong */

static void refuse_time(struct decoder *d, str text, const char *layout, str rest, const char *part)
{
    char why[300];

    (void)snprintf(why, sizeof(why), "parsing time \"%.*s\" as \"%s\": cannot parse \"%.*s\" as \"%s\"",
                   (int)MIN(text.n, (size_t)SHOWN), text.p, layout, (int)MIN(rest.n, (size_t)SHOWN), rest.p, part);
    refuse(d, why);
}

/* Where a time stops being one: the first part of the layout that is not there. */
static void decode_time(struct decoder *d, const struct schema *s, str text)
{
    static const struct {
        const char *part;
        uint32_t digits;
    } parts[] = {{"2006", 4}, {"-", 0}, {"01", 2}, {"-", 0}, {"02", 2}, {"T", 0},
                 {"15", 2},   {":", 0}, {"04", 2}, {":", 0}, {"05", 2}};
    bool micro = str_ends(s->name, STR(".MicroTime"));
    const char *layout = micro ? "2006-01-02T15:04:05.000000Z07:00" : "2006-01-02T15:04:05Z07:00";
    struct err e;
    int64_t ms;
    size_t at = 0;

    if (time_parse_rfc3339(text, &ms, &e))
        return;
    for (size_t i = 0; i < ARRAY_LEN(parts); i++) {
        size_t n = parts[i].digits ? parts[i].digits : 1;
        str piece = str_sub(text, at, at + n);
        bool ok = parts[i].digits ? skip_any(piece, 0, "0123456789") == n : str_is(piece, parts[i].part);

        if (!ok) {
            refuse_time(d, text, layout, str_sub(text, at, text.n), parts[i].part);
            return;
        }
        at += n;
    }
    refuse_time(d, text, layout, str_sub(text, at, text.n), "Z07:00");
}

/* Go's decoder names the first byte that cannot be; padding that is missing is noticed where it should be. */
static void decode_bytes(struct decoder *d, str text)
{
    char why[80];
    size_t n = skip_any(text, 0, "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/"), at = n;

    if (n == text.n && n % 4 == 0)
        return;
    if (n < text.n && text.p[n] == '=' && n % 4 >= 2) {
        size_t end = skip_any(text, n, "=");

        if (end == text.n && end % 4 == 0)
            return;
        at = MIN(end, (n / 4 + 1) * 4);
    }
    (void)snprintf(why, sizeof(why), "illegal base64 data at input byte %zu", at);
    refuse(d, why);
}

/* ---- scalars ---- */

static void decode_whole(struct decoder *d, const struct schema *s, str go, const struct tree *t)
{
    bool small = s->type == SCHEMA_INT_OR_STRING || str_is(s->format, "int32");
    int64_t v;

    if (t->kind != TREE_NUMBER)
        mismatch(d, s, go, t, false);
    else if (!str_to_i64(t->text, &v) || (small && (v < INT32_MIN || v > INT32_MAX)))
        mismatch(d, s, go, t, true);
}

static void decode_text(struct decoder *d, const struct schema *s, str go, const struct tree *t)
{
    if (t->kind != TREE_STRING)
        mismatch(d, s, go.n == 0 && str_is(s->format, "byte") ? STR("[]uint8") : go, t, false);
    else if (str_is(s->format, "date-time"))
        decode_time(d, s, t->text);
    else if (str_is(s->format, "byte"))
        decode_bytes(d, t->text);
}

static void expect_kind(struct decoder *d, const struct schema *s, str go, const struct tree *t, enum tree_kind kind)
{
    if (t->kind != kind)
        mismatch(d, s, go, t, false);
}

/* ---- structs ---- */

static void decode_struct(struct decoder *d, const struct schema *s, const struct tree *t)
{
    str outer = d->in;

    for (uint32_t i = 0; i < t->n && !d->failed; i++) {
        const struct schema_field *f = schema_field(s, t->keys[i]);
        size_t before = d->path.n;

        if (!f)
            continue;
        if (f->embedded.n)
            path_field(&d->path, f->embedded);
        path_field(&d->path, f->name);
        d->in = last_parts(s->name, 1);
        decode(d, f->schema, f->go, &t->items[i]);
        path_cut(&d->path, before);
    }
    d->in = outer;
}

static void decode_object(struct decoder *d, const struct schema *s, str go, const struct tree *t)
{
    if (s->preserve_unknown && s->n_fields == 0 && !s->values)
        return; /* anything goes */
    if (t->kind != TREE_MAP)
        mismatch(d, s, go, t, false);
    else if (s->values)
        for (uint32_t i = 0; i < t->n && !d->failed; i++)
            decode(d, s->values, go_within(go, "map[string]"), &t->items[i]);
    else
        decode_struct(d, s, t);
}

static void decode_list(struct decoder *d, const struct schema *s, str go, const struct tree *t)
{
    if (t->kind != TREE_LIST) {
        mismatch(d, s, go, t, false);
        return;
    }
    for (uint32_t i = 0; i < t->n && !d->failed; i++)
        decode(d, s->items, go_within(go, "[]"), &t->items[i]);
}

static void decode(struct decoder *d, const struct schema *s, str go, const struct tree *t)
{
    if (t->kind == TREE_NULL)
        return;
    switch (s->type) {
    case SCHEMA_ANY:
        return;
    case SCHEMA_OBJECT:
        decode_object(d, s, go, t);
        return;
    case SCHEMA_LIST:
        decode_list(d, s, go, t);
        return;
    case SCHEMA_STRING:
        decode_text(d, s, go, t);
        return;
    case SCHEMA_INTEGER:
        decode_whole(d, s, go, t);
        return;
    case SCHEMA_NUMBER:
        expect_kind(d, s, go, t, TREE_NUMBER);
        return;
    case SCHEMA_BOOLEAN:
        expect_kind(d, s, go, t, TREE_BOOL);
        return;
    case SCHEMA_INT_OR_STRING:
        if (t->kind != TREE_STRING)
            decode_whole(d, s, go, t);
        return;
    case SCHEMA_QUANTITY:
        decode_quantity(d, t);
        return;
    }
}

bool schema_decodes(const struct schema *s, const struct tree *obj, struct err *e)
{
    struct decoder d = {.e = e, .in = last_parts(s->name, 1)};

    if (s->name.n)
        decode(&d, s, (str){0}, obj);
    else if (tree_get(obj, "metadata"))
        decode(&d, schema_object_meta(), (str){0}, tree_get(obj, "metadata"));
    sb_fini(&d.path);
    return !d.noted && !d.failed;
}
