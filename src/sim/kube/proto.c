/* Numbers of fields come from the text that tools/kube-proto writes (its grammar is described there), shapes from the schemas of
 * built-in kinds. The text is indexed once, at the first body; a type is parsed when it is met, and kept for good. */
#include "sim/kube/proto.h"

#include <stdio.h>

#include "base/b64.h"
#include "base/map.h"
#include "base/utf8.h"
#include "base/vec.h"
#include "data/edit.h"
#include "data/reader.h"
#include "model/duration.h"
#include "sim/kube/schema.h"

#define MAX_DEPTH 64u
#define MAX_VALUES (1u << 20)

static const char text[] =
#include "sim/kube/proto_data.inc"
    ;

/* ---- the table ---- */

struct field {
    uint32_t number;
    str name;    /* in JSON; of the struct when inline */
    bool pointer;
    bool in_line;
};

struct type {
    str body; /* its lines */
    const struct field *fields;
    uint32_t n;
    bool done;
};

static struct {
    struct arena *a; /* lives as long as the process */
    VEC(struct type) types;
    struct strmap by_name;
} table;

static void index_text(void)
{
    str rest = {text, sizeof(text) - 1}, line;

    table.a = arena_new(0);
    while (rest.n) {
        (void)str_cut(rest, '\n', &line, &rest);
        if (line.p[0] == ' ') {
            vec_last(&table.types).body.n = (size_t)(rest.p - vec_last(&table.types).body.p);
            continue;
        }
        strmap_put(&table.by_name, str_sub(line, strlen("type "), line.n), table.types.n);
        vec_push(&table.types, (struct type){.body = {rest.p, 0}});
    }
}

static struct field read_field(str line)
{
    struct field f = {0};
    str first, second;
    int64_t number = 0;

    line = str_sub(line, 1, line.n);
    f.in_line = str_starts(line, STR("+ "));
    if (f.in_line)
        line = str_sub(line, 2, line.n);
    (void)str_cut(line, ' ', &first, &second);
    f.name = f.in_line ? second : first;
    str digits = f.in_line ? first : second;
    f.pointer = str_ends(digits, STR("*"));
    bool ok = str_to_i64(f.pointer ? str_sub(digits, 0, digits.n - 1) : digits, &number);
    assert(ok);
    f.number = (uint32_t)number;
    return f;
}

static const struct type *type_of(str name)
{
    if (!table.a)
        index_text();
    uint32_t at = strmap_get(&table.by_name, name);

    if (at == MAP_NONE)
        return NULL;
    struct type *t = &table.types.v[at];
    if (!t->done) {
        VEC(struct field) fields = {0};
        str rest = t->body, line;

        while (rest.n) {
            (void)str_cut(rest, '\n', &line, &rest);
            vec_push(&fields, read_field(line));
        }
        t->fields = arena_dup_array(table.a, struct field, fields.v, fields.n);
        t->n = fields.n;
        t->done = true;
        vec_fini(&fields);
    }
    return t;
}

static const struct field *field_of(const struct type *t, uint64_t number)
{
    for (uint32_t i = 0; i < t->n; i++)
        if (t->fields[i].number == number)
            return &t->fields[i];
    return NULL;
}

/* ---- the wire ---- */

enum wire { WIRE_VARINT = 0, WIRE_64 = 1, WIRE_BYTES = 2, WIRE_32 = 5 };

struct value {
    uint64_t number;
    enum wire wire;
    uint64_t n;  /* of all but WIRE_BYTES */
    str bytes;
};

static bool read_varint(str *rest, uint64_t *ret)
{
    uint64_t v = 0;

    for (unsigned i = 0; i < 10 && i < rest->n; i++) {
        unsigned char c = (unsigned char)rest->p[i];

        v |= (uint64_t)(c & 0x7f) << (7 * i);
        if (c & 0x80)
            continue;
        *rest = str_sub(*rest, i + 1, rest->n);
        *ret = v;
        return true;
    }
    return false;
}

static bool read_fixed(str *rest, size_t n, uint64_t *ret)
{
    uint64_t v = 0;

    if (rest->n < n)
        return false;
    for (size_t i = 0; i < n; i++)
        v |= (uint64_t)(unsigned char)rest->p[i] << (8 * i);
    *rest = str_sub(*rest, n, rest->n);
    *ret = v;
    return true;
}

static bool read_value(str *rest, struct value *ret, struct err *e)
{
    uint64_t tag, n;
    bool ok = read_varint(rest, &tag);

    *ret = (struct value){.number = tag >> 3, .wire = (enum wire)(tag & 7)};
    switch (ok ? ret->wire : WIRE_VARINT) {
    case WIRE_VARINT:
        ok = ok && read_varint(rest, &ret->n);
        break;
    case WIRE_64:
        ok = read_fixed(rest, 8, &ret->n);
        break;
    case WIRE_32:
        ok = read_fixed(rest, 4, &ret->n);
        break;
    case WIRE_BYTES:
        ok = read_varint(rest, &n) && n <= rest->n;
        if (ok) {
            ret->bytes = str_sub(*rest, 0, n);
            *rest = str_sub(*rest, n, rest->n);
        }
        break;
    default:
        ok = false;
    }
    return ok || err_set(e, ERR_INVALID, "proto: malformed message");
}

/* ---- values ---- */

struct decoder {
    struct arena *a;
    uint32_t depth, n_values;
    struct err *e;
};

static bool message(struct decoder *d, str bytes, const struct type *t, const struct schema *s, struct tree *out);
static bool one(struct decoder *d, const struct schema *s, const struct value *v, struct tree *ret);

static bool wrong_wire(struct decoder *d)
{
    return err_set(d->e, ERR_INVALID, "proto: wrong wireType");
}

static bool text_value(struct decoder *d, str bytes, struct tree *ret)
{
    if (!utf8_valid(bytes))
        return err_set(d->e, ERR_INVALID, "proto: string field contains invalid UTF-8");
    *ret = tree_of_str(arena_strdup(d->a, bytes));
    return true;
}

/* The members of a small message that JSON writes as a scalar: numbers 1 to 3. */
static bool parts(struct decoder *d, str bytes, struct value ret[4])
{
    struct value v;

    for (int i = 0; i < 4; i++)
        ret[i] = (struct value){0};
    while (bytes.n) {
        if (!read_value(&bytes, &v, d->e))
            return false;
        if (v.number >= 1 && v.number <= 3)
            ret[v.number] = v;
    }
    return true;
}

/* Seconds and nanoseconds; none of both is no time at all. */
static bool time_value(struct decoder *d, const struct schema *s, str bytes, struct tree *ret)
{
    struct value p[4];
    struct sb b = {0};

    if (!parts(d, bytes, p))
        return false;
    int64_t seconds = (int64_t)p[1].n, nanos = (int64_t)p[2].n;
    if (seconds == 0 && nanos == 0) {
        *ret = tree_of_null();
        return true;
    }
    if (seconds < -62135596800 || seconds > 253402300799 || nanos < 0 || nanos > 999999999)
        return err_set(d->e, ERR_INVALID, "proto: a time out of range");
    time_print_rfc3339(&b, seconds * 1000);
    if (str_ends(s->name, STR(".MicroTime"))) {
        b.n--; /* the Z */
        sb_printf(&b, ".%06dZ", (int)(nanos / 1000));
    }
    *ret = tree_of_str(sb_dup(&b, d->a));
    sb_fini(&b);
    return true;
}

static bool string_value(struct decoder *d, const struct schema *s, str bytes, struct tree *ret)
{
    if (str_is(s->format, "date-time"))
        return time_value(d, s, bytes, ret);
    if (!str_is(s->format, "byte"))
        return text_value(d, bytes, ret);
    struct sb b = {0};

    b64_encode(&b, bytes);
    *ret = tree_of_str(sb_dup(&b, d->a));
    sb_fini(&b);
    return true;
}

static bool int_or_string(struct decoder *d, str bytes, struct tree *ret)
{
    struct value p[4];

    if (!parts(d, bytes, p))
        return false;
    if (p[1].n == 1)
        return text_value(d, p[3].bytes, ret);
    *ret = tree_of_i64(d->a, (int64_t)p[2].n);
    return true;
}

static bool number_value(struct decoder *d, const struct value *v, struct tree *ret)
{
    struct sb b = {0};
    double x;

    memcpy(&x, &v->n, sizeof(x));
    if (v->wire != WIRE_64 || x != x || x > 1e300 || x < -1e300)
        return wrong_wire(d);
    sb_double(&b, x);
    *ret = (struct tree){.kind = TREE_NUMBER, .text = sb_dup(&b, d->a)};
    sb_fini(&b);
    return true;
}

/* JSON within protobuf: managed fields, revisions of controllers. */
static bool raw_value(struct decoder *d, str bytes, struct tree *ret)
{
    struct value p[4];
    const struct tree *t;

    if (!parts(d, bytes, p))
        return false;
    *ret = *tree_new_map(d->a);
    if (p[1].bytes.n == 0)
        return true;
    if (!tree_parse_json(d->a, "raw", arena_strdup(d->a, p[1].bytes), &t, d->e))
        return false;
    *ret = *t;
    return true;
}

static bool is_raw(const struct schema *s)
{
    return str_ends(s->name, STR(".FieldsV1")) || str_ends(s->name, STR(".RawExtension"));
}

static bool object_value(struct decoder *d, const struct schema *s, str bytes, struct tree *ret)
{
    const struct type *t = type_of(s->name);

    *ret = *tree_new_map(d->a);
    if (is_raw(s))
        return raw_value(d, bytes, ret);
    return !t || message(d, bytes, t, s, ret);
}

/* A list where protobuf can have none, as the value of a map: a message with the list as its first field. */
static bool list_value(struct decoder *d, const struct schema *s, str bytes, struct tree *ret)
{
    *ret = *tree_new_list(d->a);
    while (bytes.n) {
        struct value v;
        struct tree item;

        if (!read_value(&bytes, &v, d->e))
            return false;
        if (v.number != 1)
            continue;
        if (!one(d, s->items, &v, &item))
            return false;
        (void)tree_push(d->a, ret, item);
    }
    return true;
}

static bool one(struct decoder *d, const struct schema *s, const struct value *v, struct tree *ret)
{
    bool bytes = v->wire == WIRE_BYTES;

    if (++d->n_values > MAX_VALUES)
        return err_set(d->e, ERR_INVALID, "proto: more than %u values", MAX_VALUES);
    switch (s->type) {
    case SCHEMA_BOOLEAN:
        *ret = tree_of_bool(v->n != 0);
        return v->wire == WIRE_VARINT || wrong_wire(d);
    case SCHEMA_INTEGER:
        *ret = tree_of_i64(d->a, (int64_t)v->n);
        return v->wire == WIRE_VARINT || wrong_wire(d);
    case SCHEMA_NUMBER:
        return number_value(d, v, ret);
    case SCHEMA_STRING:
        return bytes ? string_value(d, s, v->bytes, ret) : wrong_wire(d);
    case SCHEMA_QUANTITY: {
        struct value p[4];

        return bytes ? parts(d, v->bytes, p) && text_value(d, p[1].bytes, ret) : wrong_wire(d);
    }
    case SCHEMA_INT_OR_STRING:
        return bytes ? int_or_string(d, v->bytes, ret) : wrong_wire(d);
    case SCHEMA_OBJECT:
    case SCHEMA_ANY:
        return bytes ? object_value(d, s, v->bytes, ret) : wrong_wire(d);
    case SCHEMA_LIST:
        return bytes ? list_value(d, s, v->bytes, ret) : wrong_wire(d);
    }
    return false;
}

/* ---- fields ---- */

static bool is_zero(const struct tree *t)
{
    switch (t->kind) {
    case TREE_NULL:
        return true;
    case TREE_BOOL:
        return !t->truth;
    case TREE_NUMBER:
        return str_is(t->text, "0");
    case TREE_STRING:
        return t->text.n == 0;
    case TREE_LIST:
    case TREE_MAP:
        return t->n == 0;
    }
    return false;
}

static bool list_field(struct decoder *d, const struct schema *s, const struct value *v, struct tree *list)
{
    bool packed = v->wire == WIRE_BYTES && s->items->type == SCHEMA_INTEGER;
    struct tree item;
    str rest = v->bytes;

    if (!packed) {
        if (!one(d, s->items, v, &item))
            return false;
        (void)tree_push(d->a, list, item);
        return true;
    }
    while (rest.n) {
        struct value each = {.wire = WIRE_VARINT};

        if (!read_varint(&rest, &each.n))
            return err_set(d->e, ERR_INVALID, "proto: malformed message");
        if (!one(d, s->items, &each, &item))
            return false;
        (void)tree_push(d->a, list, item);
    }
    return true;
}

static bool map_field(struct decoder *d, const struct schema *s, const struct value *v, struct tree *map)
{
    struct value p[4];
    struct tree key, item;

    if (v->wire != WIRE_BYTES)
        return wrong_wire(d);
    if (!parts(d, v->bytes, p) || !text_value(d, p[1].bytes, &key))
        return false;
    p[2].wire = p[2].number ? p[2].wire : WIRE_BYTES; /* an empty value may be left out */
    if (!one(d, s->values, &p[2], &item))
        return false;
    *tree_put(d->a, map, key.text) = item;
    return true;
}

static bool put_field(struct decoder *d, const struct field *f, const struct schema *s, const struct value *v,
                      struct tree *out)
{
    struct tree *slot = tree_find(out, f->name), item;

    if (s->type == SCHEMA_LIST) {
        if (!slot)
            *(slot = tree_put(d->a, out, f->name)) = *tree_new_list(d->a);
        return list_field(d, s, v, slot);
    }
    if (s->type == SCHEMA_OBJECT && s->values && s->n_fields == 0 && !is_raw(s)) {
        if (!slot)
            *(slot = tree_put(d->a, out, f->name)) = *tree_new_map(d->a);
        return map_field(d, s, v, slot);
    }
    if (!one(d, s, v, &item))
        return false;
    if ((f->pointer && item.kind != TREE_NULL) || !is_zero(&item))
        *tree_put(d->a, out, f->name) = item;
    return true;
}

static bool message(struct decoder *d, str bytes, const struct type *t, const struct schema *s, struct tree *out)
{
    if (++d->depth > MAX_DEPTH)
        return err_set(d->e, ERR_INVALID, "proto: more than %u levels deep", MAX_DEPTH);
    while (bytes.n) {
        struct value v;

        if (!read_value(&bytes, &v, d->e))
            return false;
        const struct field *f = field_of(t, v.number);
        const struct type *inner = f && f->in_line ? type_of(f->name) : NULL;
        const struct schema *child = f && !f->in_line ? schema_child(s, f->name) : NULL;

        if (inner && v.wire != WIRE_BYTES)
            return wrong_wire(d);
        if (inner ? !message(d, v.bytes, inner, s, out) : child && !put_field(d, f, child, &v, out))
            return false;
    }
    d->depth--;
    return true;
}

/* ---- the envelope ---- */

static const struct schema *schema_named(str api_version, str kind)
{
    str group, version;

    if (str_is(kind, "DeleteOptions")) /* every group has it, and they are all the same */
        return schema_builtin(STR(""), STR("v1"), kind);
    if (!str_cut(api_version, '/', &group, &version)) {
        version = api_version;
        group = (str){0};
    }
    return schema_builtin(group, version, kind);
}

bool proto_parse(struct arena *a, str bytes, struct tree **ret, struct err *e)
{
    static const char prefix[] = {'k', '8', 's', 0};
    struct decoder d = {.a = a, .e = e};
    struct value envelope[4], meta[4];

    if (bytes.n < sizeof(prefix) || memcmp(bytes.p, prefix, sizeof(prefix)) != 0)
        return err_set(e, ERR_INVALID,
                       "provided data does not appear to be a protobuf message, expected prefix [107 56 115 0]");
    if (!parts(&d, str_sub(bytes, sizeof(prefix), bytes.n), envelope) || !parts(&d, envelope[1].bytes, meta))
        return false;
    str api_version = meta[1].bytes, kind = meta[2].bytes;
    const struct schema *s = schema_named(api_version, kind);
    const struct type *t = s ? type_of(s->name) : NULL;
    if (!t || envelope[3].bytes.n)
        return err_set(e, ERR_INVALID,
                       "no kind \"" STR_FMT "\" is registered for version \"" STR_FMT
                       "\" in scheme \"pkg/runtime/scheme.go:111\"",
                       STR_ARG(str_sub(kind, 0, 64)), STR_ARG(str_sub(api_version, 0, 64)));
    *ret = tree_new_map(a);
    tree_set_str(a, *ret, "kind", arena_strdup(a, kind));
    tree_set_str(a, *ret, "apiVersion", arena_strdup(a, api_version));
    return message(&d, envelope[2].bytes, t, s, *ret);
}
