/* The wire format of Kubernetes' protobuf: four magic bytes, then a message Unknown with apiVersion, kind and the bytes of the
 * object. How those read is in proto_data.inc, written by tools/kube-proto, which also says what its lines mean; it is parsed once, when
 * the first such body arrives. Fields that the table does not know are passed over, as protobuf wants it. */
#include "sim/kube/protobuf.h"

#include "base/b64.h"
#include "base/map.h"
#include "base/vec.h"
#include "data/edit.h"
#include "data/reader.h"
#include "model/duration.h"

static const char table[] =
#include "sim/kube/proto_data.inc"
    ;

struct proto_field {
    uint32_t number;
    str name, shape; /* name "-": its members stand among those of the type */
    bool drop_zero;
};

struct proto_type {
    str name;
    uint32_t first, n; /* in fields */
};

static struct {
    VEC(struct proto_type) types;
    VEC(struct proto_field) fields;
    struct strmap by_name, by_kind; /* by_kind: "GROUP VERSION KIND" as the table writes it */
    VEC(str) kind_types;
} known;

static str word(str *line)
{
    str head, tail;

    (void)str_cut(*line, ' ', &head, &tail);
    *line = tail;
    return head;
}

static void read_field(str line)
{
    int64_t number;
    str digits = word(&line);
    bool ok = str_to_i64(digits, &number);

    assert(ok && known.types.n);
    struct proto_field *f = vec_add(&known.fields);
    f->number = (uint32_t)number;
    f->name = word(&line);
    f->shape = word(&line);
    f->drop_zero = str_is(line, "zero");
    vec_last(&known.types).n++;
}

static void read_table(void)
{
    str rest = {table, sizeof(table) - 1}, line;

    while (rest.n) {
        (void)str_cut(rest, '\n', &line, &rest);
        if (str_starts(line, STR(" "))) {
            read_field(str_sub(line, 1, line.n));
        } else if (str_starts(line, STR("type "))) {
            str name = str_sub(line, 5, line.n);

            strmap_put(&known.by_name, name, known.types.n);
            vec_push(&known.types, (struct proto_type){.name = name, .first = known.fields.n});
        } else if (str_starts(line, STR("kind "))) {
            size_t at = line.n;

            while (line.p[at - 1] != ' ')
                at--;
            strmap_put(&known.by_kind, str_sub(line, 5, at - 1), known.kind_types.n);
            vec_push(&known.kind_types, str_sub(line, at, line.n));
        }
    }
}

static const struct proto_type *type_named(str name)
{
    uint32_t ix = strmap_get(&known.by_name, name);

    return ix == MAP_NONE ? NULL : &known.types.v[ix];
}

static const struct proto_type *type_of_kind(struct arena *a, str api_version, str kind)
{
    str group, version;

    if (str_is(kind, "DeleteOptions"))
        return type_named(STR("k8s.io.apimachinery.pkg.apis.meta.v1.DeleteOptions"));
    if (!str_cut(api_version, '/', &group, &version)) {
        version = api_version;
        group = STR("-");
    }
    str key = arena_printf(a, STR_FMT " " STR_FMT " " STR_FMT, STR_ARG(group), STR_ARG(version), STR_ARG(kind));
    uint32_t ix = strmap_get(&known.by_kind, key);
    return ix == MAP_NONE ? NULL : type_named(known.kind_types.v[ix]);
}

/* ---- the wire ---- */

struct piece { /* one field as it stands in the bytes */
    uint32_t number;
    uint64_t value; /* varint or fixed */
    str bytes;
    bool has_bytes;
};

static bool varint(str *in, uint64_t *ret)
{
    *ret = 0;
    for (unsigned shift = 0; shift < 64 && in->n; shift += 7) {
        unsigned char c = (unsigned char)in->p[0];

        *in = str_sub(*in, 1, in->n);
        *ret |= (uint64_t)(c & 127) << shift;
        if (c < 128)
            return true;
    }
    return false;
}

static bool fixed(str *in, size_t n, uint64_t *ret)
{
    *ret = 0;
    if (in->n < n)
        return false;
    memcpy(ret, in->p, n); /* little endian, like every machine we run on */
    *in = str_sub(*in, n, in->n);
    return true;
}

static bool next_piece(str *in, struct piece *ret)
{
    uint64_t tag, length;

    *ret = (struct piece){0};
    if (!varint(in, &tag) || tag >> 3 == 0 || tag >> 3 > UINT32_MAX)
        return false;
    ret->number = (uint32_t)(tag >> 3);
    switch (tag & 7) {
    case 0:
        return varint(in, &ret->value);
    case 1:
        return fixed(in, 8, &ret->value);
    case 5:
        return fixed(in, 4, &ret->value);
    case 2:
        if (!varint(in, &length) || length > in->n)
            return false;
        ret->bytes = str_sub(*in, 0, length);
        ret->has_bytes = true;
        *in = str_sub(*in, length, in->n);
        return true;
    default:
        return false;
    }
}

/* The bytes or the number of one field of a small message; the last one counts. */
static bool small(str in, uint32_t number, struct piece *ret)
{
    struct piece p;

    *ret = (struct piece){0};
    while (in.n) {
        if (!next_piece(&in, &p))
            return false;
        if (p.number == number)
            *ret = p;
    }
    return true;
}

/* ---- values ---- */

struct decode {
    struct arena *a;
    unsigned depth;
};

static bool message(struct decode *d, const struct proto_type *t, str in, struct tree *map);

static bool time_value(struct decode *d, str in, bool micro, struct tree *ret)
{
    struct piece s, n;
    struct sb b = {0};

    if (!small(in, 1, &s) || !small(in, 2, &n))
        return false;
    int64_t seconds = (int64_t)s.value, nanos = (int64_t)n.value;
    if (in.n == 0 || seconds < -62135596800 || seconds > 253402300799 || nanos < 0 || nanos > 999999999) {
        *ret = tree_of_null();
        return in.n == 0;
    }
    time_print_rfc3339(&b, seconds * 1000);
    if (micro) {
        b.n--; /* the Z */
        sb_printf(&b, ".%06lldZ", (long long)(nanos / 1000));
    }
    *ret = tree_of_str(sb_dup(&b, d->a));
    sb_fini(&b);
    return true;
}

static bool int_or_string(struct decode *d, str in, struct tree *ret)
{
    struct piece type, number, text;

    if (!small(in, 1, &type) || !small(in, 2, &number) || !small(in, 3, &text))
        return false;
    *ret = type.value ? tree_of_str(text.bytes) : tree_of_i64(d->a, (int64_t)number.value);
    return true;
}

static bool json_value(struct decode *d, str in, struct tree *ret)
{
    struct piece raw;
    const struct tree *t;
    struct err e;

    if (!small(in, 1, &raw))
        return false;
    *ret = tree_of_null();
    if (raw.bytes.n == 0)
        return true;
    if (!tree_parse_json(d->a, "raw", raw.bytes, &t, &e))
        return false;
    *ret = *t;
    return true;
}

static str double_text(struct decode *d, uint64_t bits)
{
    struct sb b = {0};
    double v;

    memcpy(&v, &bits, sizeof(v));
    if (v != v || v - v != 0)
        v = 0;
    sb_double(&b, v);
    str s = sb_dup(&b, d->a);
    sb_fini(&b);
    return s;
}

static str base64_text(struct decode *d, str bytes)
{
    struct sb b = {0};

    b64_encode(&b, bytes);
    str s = sb_dup(&b, d->a);
    sb_fini(&b);
    return s;
}

/* One value of a shape that is neither list nor map. */
static bool value(struct decode *d, str shape, const struct piece *p, struct tree *ret)
{
    struct piece inner;

    if (str_is(shape, "int"))
        return *ret = tree_of_i64(d->a, (int64_t)p->value), !p->has_bytes;
    if (str_is(shape, "bool"))
        return *ret = tree_of_bool(p->value != 0), !p->has_bytes;
    if (str_is(shape, "double"))
        return *ret = (struct tree){.kind = TREE_NUMBER, .text = double_text(d, p->value)}, !p->has_bytes;
    if (!p->has_bytes)
        return false;
    if (str_is(shape, "string"))
        return *ret = tree_of_str(p->bytes), true;
    if (str_is(shape, "bytes"))
        return *ret = tree_of_str(base64_text(d, p->bytes)), true;
    if (str_is(shape, "time") || str_is(shape, "microtime"))
        return time_value(d, p->bytes, str_is(shape, "microtime"), ret);
    if (str_is(shape, "quantity"))
        return small(p->bytes, 1, &inner) && (*ret = tree_of_str(inner.bytes), true);
    if (str_is(shape, "int-or-string"))
        return int_or_string(d, p->bytes, ret);
    if (str_is(shape, "json"))
        return json_value(d, p->bytes, ret);
    const struct proto_type *t = type_named(str_sub(shape, 1, shape.n));
    assert(t);
    *ret = (struct tree){.kind = TREE_MAP};
    return message(d, t, p->bytes, ret);
}

/* A list as the value of a map is a message of its own, with the members in field 1. */
static bool wrapped_list(struct decode *d, str shape, str in, struct tree *ret)
{
    struct piece p;
    struct tree item;

    *ret = (struct tree){.kind = TREE_LIST};
    while (in.n) {
        if (!next_piece(&in, &p) || (p.number == 1 && !value(d, shape, &p, &item)))
            return false;
        if (p.number == 1)
            (void)tree_push(d->a, ret, item);
    }
    return true;
}

static bool map_entry(struct decode *d, str shape, str in, struct tree *map)
{
    struct piece key, p;
    struct tree item = tree_of_str(STR(""));

    if (!small(in, 1, &key) || !small(in, 2, &p))
        return false;
    bool list = str_starts(shape, STR("[]"));
    if (list ? !wrapped_list(d, str_sub(shape, 2, shape.n), p.bytes, &item) : p.number && !value(d, shape, &p, &item))
        return false;
    *tree_put(d->a, map, key.bytes) = item;
    return true;
}

static bool is_zero(const struct tree *t)
{
    return (t->kind == TREE_STRING && t->text.n == 0) || (t->kind == TREE_NUMBER && str_is(t->text, "0")) ||
           (t->kind == TREE_BOOL && !t->truth);
}

/* The list or map under this name, made if need be. */
static struct tree *container(struct decode *d, struct tree *map, str name, enum tree_kind kind)
{
    struct tree *t = tree_put(d->a, map, name);

    if (t->kind == TREE_NULL)
        *t = (struct tree){.kind = kind};
    return t;
}

static bool field(struct decode *d, const struct proto_field *f, const struct piece *p, struct tree *map)
{
    str inner = str_sub(f->shape, 2, f->shape.n);
    struct tree v;

    if (str_starts(f->shape, STR("{}")))
        return p->has_bytes && map_entry(d, inner, p->bytes, container(d, map, f->name, TREE_MAP));
    if (str_starts(f->shape, STR("[]"))) {
        if (!value(d, inner, p, &v))
            return false;
        (void)tree_push(d->a, container(d, map, f->name, TREE_LIST), v);
        return true;
    }
    if (str_is(f->name, "-"))
        return p->has_bytes && message(d, type_named(str_sub(f->shape, 1, f->shape.n)), p->bytes, map);
    if (!value(d, f->shape, p, &v))
        return false;
    if (v.kind != TREE_NULL && !(f->drop_zero && is_zero(&v)))
        *tree_put(d->a, map, f->name) = v;
    return true;
}

static bool message(struct decode *d, const struct proto_type *t, str in, struct tree *map)
{
    struct piece p;
    bool ok = ++d->depth <= PROTOBUF_MAX_DEPTH;

    while (ok && in.n) {
        ok = next_piece(&in, &p);
        for (uint32_t i = 0; ok && i < t->n; i++)
            if (known.fields.v[t->first + i].number == p.number)
                ok = field(d, &known.fields.v[t->first + i], &p, map);
    }
    d->depth--;
    return ok;
}

bool protobuf_decode(struct arena *a, str bytes, struct tree **ret, struct err *e)
{
    struct piece meta, raw, api_version, kind;
    struct decode d = {.a = a};

    if (known.types.n == 0)
        read_table();
    if (!str_starts(bytes, STR("k8s\0")))
        return err_set(e, ERR_INVALID, "the body does not begin as protobuf of Kubernetes does");
    bytes = str_sub(bytes, 4, bytes.n);
    if (!small(bytes, 1, &meta) || !small(bytes, 2, &raw) || !small(meta.bytes, 1, &api_version) ||
        !small(meta.bytes, 2, &kind))
        return err_set(e, ERR_INVALID, "the envelope of the body is broken");
    const struct proto_type *t = type_of_kind(a, api_version.bytes, kind.bytes);
    if (!t)
        return err_set(e, ERR_INVALID, "no kind \"" STR_FMT "\" is registered for version \"" STR_FMT "\"",
                       STR_ARG(kind.bytes), STR_ARG(api_version.bytes));
    struct tree *obj = tree_new_map(a);
    tree_set_str(a, obj, "kind", kind.bytes);
    tree_set_str(a, obj, "apiVersion", api_version.bytes);
    if (!message(&d, t, raw.bytes, obj))
        return err_set(e, ERR_INVALID, "the body is no protobuf message of kind \"" STR_FMT "\"", STR_ARG(kind.bytes));
    *ret = obj;
    return true;
}
