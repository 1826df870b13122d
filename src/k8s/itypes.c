/* itypes - reads a list of instance types and derives what the kwok provider derives (scheduling 28.2).
 *
 * The parsed tree lives in a scratch arena; only the catalogue goes to the caller's. Each type gets the labels that
 * kwok gives it: name, architecture, systems, the zones and capacity types of its offerings, and size, family, cpu
 * and memory. Further keys of an offering (a reservation id) stay on the offering: a type is silent about them.
 */
#include "k8s/itypes.h"

#include <errno.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <strings.h>

#include "base/map.h"
#include "base/sb.h"
#include "base/vec.h"
#include "data/reader.h"

static const str domains[] = {STR_INIT("karpenter.kwok.sh")};

/* The five labels every type has, in the order in which they stand in itype.requirements. */
enum { REQ_ITYPE, REQ_ARCH, REQ_OS, REQ_ZONE, REQ_CT, REQ_N_CORE };
/* … and kwok's four behind them. */
enum { REQ_SIZE = REQ_N_CORE, REQ_FAMILY, REQ_CPU, REQ_MEMORY, REQ_N_DERIVED };

struct load {
    struct arena *a; /* of the result */
    struct syms *t;
    const char *file;
    struct err *e;
    sym keys[REQ_N_DERIVED];
    VEC(sym) well_known;
    struct u64map names;
    struct reslist overhead; /* where a type does not say */
    str type;                /* the one being read, for messages */
};

PRINTF(3, 4) static bool bad(const struct load *l, const struct tree *at, const char *fmt, ...)
{
    char what[300];
    va_list ap;

    va_start(ap, fmt);
    (void)vsnprintf(what, sizeof(what), fmt, ap);
    va_end(ap);
    if (l->type.n)
        return err_set(l->e, ERR_INVALID, "%s:%u:%u: instance type \"" STR_FMT "\": %s", l->file, at->line, at->col,
                       STR_ARG(str_sub(l->type, 0, 63)), what);
    return err_set(l->e, ERR_INVALID, "%s:%u:%u: %s", l->file, at->line, at->col, what);
}

/* The member called `name`; when there is none, one that differs in case only. */
static const struct tree *field(const struct tree *map, const char *name)
{
    const struct tree *exact = tree_get(map, name);

    if (exact || map->kind != TREE_MAP)
        return exact;
    for (uint32_t i = 0; i < map->n; i++)
        if (map->keys[i].n == strlen(name) && strncasecmp(map->keys[i].p, name, map->keys[i].n) == 0)
            return map->items[i].kind == TREE_NULL ? NULL : &map->items[i];
    return NULL;
}

/* The member when it has the kind; absent is fine and gives NULL. */
static bool field_of(const struct load *l, const struct tree *map, const char *name, enum tree_kind kind,
                     const struct tree **ret)
{
    const struct tree *v = field(map, name);

    if (v && v->kind != kind)
        return bad(l, v, "%s must be %s, not %s", name, tree_kind_name(kind), tree_kind_name(v->kind));
    *ret = v;
    return true;
}

static bool read_resources(struct load *l, const struct tree *map, const char *field_name, struct reslist *ret)
{
    const struct tree *list = NULL;

    if (!field_of(l, map, field_name, TREE_MAP, &list))
        return false;
    for (uint32_t i = 0; list && i < list->n; i++) {
        const struct tree *v = &list->items[i];
        sym name = sym_of(l->t, list->keys[i]);
        struct err why;
        bool binary;
        int64_t n;

        if (v->kind == TREE_NULL)
            continue;
        if (v->kind != TREE_STRING && v->kind != TREE_NUMBER)
            return bad(l, v, "%s: " STR_FMT " must be a quantity, not %s", field_name, STR_ARG(list->keys[i]),
                       tree_kind_name(v->kind));
        if (!quantity_parse(tree_scalar(v), name, &n, &binary, &why))
            return bad(l, v, "%s: " STR_FMT ": %s", field_name, STR_ARG(list->keys[i]), why.msg);
        if (n < 0)
            return bad(l, v, "%s: " STR_FMT " is negative (" STR_FMT ")", field_name, STR_ARG(list->keys[i]),
                       STR_ARG(tree_scalar(v)));
        reslist_set(l->a, ret, name, n, binary);
    }
    return true;
}

static bool read_values(struct load *l, const struct tree *list, struct req_expr *x)
{
    x->vals = arena_new_array(l->a, sym, list->n);
    for (uint32_t i = 0; i < list->n; i++) {
        if (list->items[i].kind != TREE_STRING)
            return bad(l, &list->items[i], "a value of a requirement must be a string, not %s",
                       tree_kind_name(list->items[i].kind));
        x->vals[x->n_vals++] = sym_of(l->t, list->items[i].text);
    }
    return true;
}

/* The value lists that an operator can work with, brought to one form: `In` nothing is DoesNotExist. */
static bool settle_operator(struct load *l, const struct tree *at, struct req_expr *x)
{
    int64_t bound;

    switch (x->op) {
    case OP_IN:
    case OP_NOT_IN:
        if (x->n_vals == 0)
            x->op = x->op == OP_IN ? OP_DOES_NOT_EXIST : OP_EXISTS;
        return true;
    case OP_EXISTS:
    case OP_DOES_NOT_EXIST:
        x->n_vals = 0;
        return true;
    case OP_GT:
    case OP_LT:
    case OP_GTE:
    case OP_LTE:
        if (x->n_vals != 1 || !str_to_i64(sym_str(l->t, x->vals[0]), &bound))
            return bad(l, at, "operator %s needs exactly one value, an integer", req_op_name(x->op));
        return true;
    }
    return true;
}

static bool read_requirement(struct load *l, const struct tree *t, struct req_expr *ret)
{
    const struct tree *key = NULL, *op = NULL, *values = NULL;

    if (t->kind != TREE_MAP)
        return bad(l, t, "a requirement must be a map with key, operator and values, not %s", tree_kind_name(t->kind));
    if (!field_of(l, t, "key", TREE_STRING, &key) || !field_of(l, t, "operator", TREE_STRING, &op) ||
        !field_of(l, t, "values", TREE_LIST, &values))
        return false;
    if (!key || key->text.n == 0)
        return bad(l, t, "a requirement has no key");
    if (!op)
        return bad(l, t, "the requirement on " STR_FMT " has no operator", STR_ARG(key->text));
    *ret = (struct req_expr){.key = sym_of(l->t, label_key_normalise(key->text))};
    if (!req_op_parse(op->text, &ret->op))
        return bad(l, op, "unknown operator \"" STR_FMT "\"", STR_ARG(op->text));
    if (values && !read_values(l, values, ret))
        return false;
    if (!settle_operator(l, t, ret))
        return false;
    vec_push(&l->well_known, ret->key);
    return true;
}

/* `ret` is grown in the arena by those of member `name`; no key may come twice. */
static bool read_requirements(struct load *l, const struct tree *map, const char *name, struct req_expr **ret,
                              uint32_t *ret_n)
{
    const struct tree *list = NULL;
    struct req_expr *x;
    uint32_t n = 0;

    if (!field_of(l, map, name, TREE_LIST, &list))
        return false;
    x = arena_new_array(l->a, struct req_expr, list ? list->n : 0);
    for (uint32_t i = 0; list && i < list->n; i++, n++) {
        if (!read_requirement(l, &list->items[i], &x[n]))
            return false;
        for (uint32_t j = 0; j < n; j++)
            if (sym_eq(x[j].key, x[n].key))
                return bad(l, &list->items[i], "two requirements on " STR_FMT, STR_ARG(sym_str(l->t, x[n].key)));
    }
    *ret = x;
    *ret_n = n;
    return true;
}

static const struct req_expr *find_req(const struct req_expr *x, uint32_t n, sym key)
{
    for (uint32_t i = 0; i < n; i++)
        if (sym_eq(x[i].key, key))
            return &x[i];
    return NULL;
}

static bool read_price(struct load *l, const struct tree *t, const struct tree *price, double *ret)
{
    char text[400]; /* a double never needs more digits than this to be read exactly */

    if (!price)
        return bad(l, t, "an offering has no Price");
    if (price->kind != TREE_NUMBER)
        return bad(l, price, "Price must be a number, not %s", tree_kind_name(price->kind));
    if (price->text.n >= sizeof(text))
        return bad(l, price, "Price has too many digits");
    memcpy(text, price->text.p, price->text.n);
    text[price->text.n] = '\0';
    *ret = strtod(text, NULL);
    if (!isfinite(*ret) || *ret < 0)
        return bad(l, price, "Price must be zero or more, and finite, not %s", text);
    return true;
}

static bool read_offering(struct load *l, const struct tree *t, struct offering *o)
{
    const struct tree *available = NULL, *reserved = NULL;
    int64_t n = 0;

    if (t->kind != TREE_MAP)
        return bad(l, t, "an offering must be a map, not %s", tree_kind_name(t->kind));
    if (!read_price(l, t, field(t, "Price"), &o->price_usd_per_h))
        return false;
    if (!field_of(l, t, "Available", TREE_BOOL, &available) ||
        !field_of(l, t, "ReservationCapacity", TREE_NUMBER, &reserved))
        return false;
    o->available = !available || available->truth;
    if (reserved && (!str_to_i64(reserved->text, &n) || n < 0 || n > INT32_MAX))
        return bad(l, reserved, "ReservationCapacity must be a count, not " STR_FMT, STR_ARG(reserved->text));
    o->reservation_capacity = (int32_t)n;
    if (!read_resources(l, t, "CapacityOverride", &o->capacity_override) ||
        !read_resources(l, t, "OverheadOverride", &o->overhead_override) ||
        !read_requirements(l, t, "Requirements", &o->requirements, &o->n_requirements))
        return false;
    for (uint32_t i = 0; i < o->n_requirements; i++)
        if (o->requirements[i].op != OP_IN && o->requirements[i].op != OP_DOES_NOT_EXIST)
            return bad(l, t, "an offering can say In or DoesNotExist, not %s (" STR_FMT ")",
                       req_op_name(o->requirements[i].op), STR_ARG(sym_str(l->t, o->requirements[i].key)));
    for (int i = REQ_ZONE; i <= REQ_CT; i++) {
        const struct req_expr *x = find_req(o->requirements, o->n_requirements, l->keys[i]);

        if (!x || x->op != OP_IN)
            return bad(l, t, "an offering does not say its " STR_FMT, STR_ARG(sym_str(l->t, l->keys[i])));
    }
    return true;
}

static bool read_offerings(struct load *l, const struct tree *t, struct itype *it)
{
    const struct tree *list = NULL;

    if (!field_of(l, t, "offerings", TREE_LIST, &list))
        return false;
    it->offerings = arena_new_array(l->a, struct offering, list ? list->n : 0);
    for (uint32_t i = 0; list && i < list->n; i++)
        if (!read_offering(l, &list->items[i], &it->offerings[it->n_offerings++]))
            return false;
    return true;
}

static struct req_expr expr_of(struct arena *a, sym key, const sym *vals, uint32_t n)
{
    if (n == 0)
        return (struct req_expr){.key = key, .op = OP_DOES_NOT_EXIST};
    return (struct req_expr){.key = key, .op = OP_IN, .n_vals = n, .vals = arena_dup_array(a, sym, vals, n)};
}

/* The values of `key` over all offerings, each once, in the order of the file. */
static struct req_expr offered(struct load *l, const struct itype *it, sym key)
{
    VEC(sym) seen = {0};

    for (uint32_t i = 0; i < it->n_offerings; i++) {
        const struct req_expr *x = find_req(it->offerings[i].requirements, it->offerings[i].n_requirements, key);

        for (uint32_t j = 0; j < x->n_vals; j++) {
            uint32_t k = 0;

            while (k < seen.n && !sym_eq(seen.v[k], x->vals[j]))
                k++;
            if (k == seen.n)
                vec_push(&seen, x->vals[j]);
        }
    }
    struct req_expr ret = expr_of(l->a, key, seen.v, seen.n);
    vec_fini(&seen);
    return ret;
}

static bool is_word(str s)
{
    for (size_t i = 0; i < s.n; i++)
        if (!((s.p[i] >= 'a' && s.p[i] <= 'z') || (s.p[i] >= 'A' && s.p[i] <= 'Z') ||
              (s.p[i] >= '0' && s.p[i] <= '9') || s.p[i] == '_'))
            return false;
    return s.n > 0;
}

/* "large" of "c5.large": names of EC2's form carry their size. Empty when the name has another form. */
static str size_of_name(str name)
{
    static const char *const sizes[] = {"nano", "micro", "small", "medium", "large", "xlarge", "metal"};
    str family, size;

    if (!str_cut(name, '.', &family, &size) || !is_word(family))
        return STR("");
    for (size_t i = 0; i < ARRAY_LEN(sizes); i++)
        if (str_is(size, sizes[i]))
            return size;
    size_t digits = 0;
    while (digits < size.n && size.p[digits] >= '0' && size.p[digits] <= '9')
        digits++;
    return str_is(str_sub(size, digits, size.n), "xlarge") ? size : STR("");
}

/* What stands before the first dot or dash; without one, the first letter. */
static str family_of_name(str name)
{
    for (size_t i = 0; i < name.n; i++)
        if (name.p[i] == '.' || name.p[i] == '-')
            return str_sub(name, 0, i);
    return str_sub(name, 0, 1);
}

static sym quantity_sym(struct load *l, const struct reslist *r, sym name)
{
    const struct resq *q = reslist_get(r, name);
    struct sb b = {0};

    if (!q)
        return SYM(NONE);
    quantity_print(&b, name, q->v, q->binary);
    sym ret = sym_of(l->t, sb_view(&b));
    sb_fini(&b);
    return ret;
}

static bool read_systems(struct load *l, const struct tree *t, struct req_expr *ret)
{
    const struct tree *list = NULL;

    if (!field_of(l, t, "operatingSystems", TREE_LIST, &list))
        return false;
    if (!list || list->n == 0)
        return bad(l, list ? list : t, "operatingSystems is missing or empty");
    *ret = (struct req_expr){.key = SYM(OS), .op = OP_IN};
    return read_values(l, list, ret);
}

/* The nine labels of every type, then the type's own requirements; one on a derived label replaces that. */
static bool read_type_requirements(struct load *l, const struct tree *t, struct itype *it)
{
    const struct tree *arch = NULL;
    struct req_expr *own, *all;
    uint32_t n_own, n = REQ_N_DERIVED;

    if (!field_of(l, t, "architecture", TREE_STRING, &arch))
        return false;
    if (!arch || arch->text.n == 0)
        return bad(l, t, "architecture is missing");
    if (!read_requirements(l, t, "requirements", &own, &n_own))
        return false;
    all = arena_new_array(l->a, struct req_expr, n + n_own);

    sym cpu = quantity_sym(l, &it->capacity, SYM(CPU)), memory = quantity_sym(l, &it->capacity, SYM(MEMORY));
    str size = size_of_name(l->type);
    sym size_sym = size.n ? sym_of(l->t, size) : cpu, family = sym_of(l->t, family_of_name(l->type));
    sym arch_sym = sym_of(l->t, arch->text);

    all[REQ_ITYPE] = expr_of(l->a, SYM(ITYPE), &it->name, 1);
    all[REQ_ARCH] = expr_of(l->a, SYM(ARCH), &arch_sym, 1);
    if (!read_systems(l, t, &all[REQ_OS]))
        return false;
    all[REQ_ZONE] = offered(l, it, SYM(ZONE));
    all[REQ_CT] = offered(l, it, SYM(CT));
    all[REQ_SIZE] = expr_of(l->a, l->keys[REQ_SIZE], &size_sym, 1);
    all[REQ_FAMILY] = expr_of(l->a, l->keys[REQ_FAMILY], &family, 1);
    all[REQ_CPU] = expr_of(l->a, l->keys[REQ_CPU], &cpu, 1);
    all[REQ_MEMORY] = expr_of(l->a, l->keys[REQ_MEMORY], &memory, 1);
    for (uint32_t i = 0; i < n_own; i++) {
        uint32_t at = 0;

        while (at < REQ_N_DERIVED && !sym_eq(all[at].key, own[i].key))
            at++;
        if (at < REQ_N_CORE)
            return bad(l, t, "requirements may not say " STR_FMT ": it follows from the other fields",
                       STR_ARG(sym_str(l->t, own[i].key)));
        all[at < REQ_N_DERIVED ? at : n++] = own[i];
    }
    it->requirements = all;
    it->n_requirements = n;
    return true;
}

static bool read_name(struct load *l, const struct tree *t, uint32_t ix, struct itype *it)
{
    const struct tree *name = NULL;

    l->type = STR("");
    if (t->kind != TREE_MAP)
        return bad(l, t, "an instance type must be a map, not %s", tree_kind_name(t->kind));
    if (!field_of(l, t, "name", TREE_STRING, &name))
        return false;
    if (!name || name->text.n == 0)
        return bad(l, t, "instance type %u has no name", ix + 1);
    if (!label_is_value(name->text))
        return bad(l, name, "the name \"" STR_FMT "\" cannot be a label value", STR_ARG(str_sub(name->text, 0, 63)));
    it->name = sym_of(l->t, name->text);
    l->type = name->text;
    if (u64map_get(&l->names, it->name.v) != MAP_NONE)
        return bad(l, name, "a second type of that name");
    u64map_put(&l->names, it->name.v, ix);
    return true;
}

static bool read_type(struct load *l, const struct tree *t, uint32_t ix, struct itype *it)
{
    if (!read_name(l, t, ix, it))
        return false;
    if (!field(t, "resources"))
        return bad(l, t, "resources is missing");
    if (!read_resources(l, t, "resources", &it->capacity))
        return false;
    if (field(t, "overhead")) {
        if (!read_resources(l, t, "overhead", &it->overhead))
            return false;
    } else {
        it->overhead = l->overhead;
    }
    if (!read_offerings(l, t, it) || !read_type_requirements(l, t, it))
        return false;
    if (!reslist_get(&it->capacity, SYM(PODS)))
        reslist_set(l->a, &it->capacity, SYM(PODS), 110 * 1000, /* binary= */ false);
    return true;
}

static void finish_rules(struct load *l, struct label_rules *r)
{
    for (int i = REQ_SIZE; i <= REQ_MEMORY; i++)
        vec_push(&l->well_known, l->keys[i]);
    label_rules_well_known(l->a, r, l->well_known.v, l->well_known.n);
    r->restricted_domains = domains;
    r->n_restricted_domains = ARRAY_LEN(domains);
    r->reservation_id = SYM(KWOK_RESERVATION_ID);
}

static bool read_list(struct load *l, const struct tree *list, struct catalog *c)
{
    if (!list)
        return err_set(l->e, ERR_INVALID, "%s: empty, where a list of instance types should be", l->file);
    if (list->kind != TREE_LIST)
        return bad(l, list, "a list of instance types is wanted, this is %s", tree_kind_name(list->kind));
    if (list->n > ITYPES_MAX)
        return bad(l, list, "%u instance types are too many, the limit is %d", list->n, ITYPES_MAX);
    c->types = arena_new_array(l->a, struct itype, list->n);
    for (uint32_t i = 0; i < list->n; i++)
        if (!read_type(l, &list->items[i], i, &c->types[c->n++]))
            return false;
    finish_rules(l, &c->rules);
    catalog_share_requirements(c, l->a);
    return true;
}

struct catalog *itypes_parse(struct arena *a, struct syms *t, const char *name, str bytes, struct err *e)
{
    AUTO(arena) struct arena *scratch = arena_new(0);
    struct catalog *c = arena_new_one(a, struct catalog);
    const struct tree *list = NULL;
    struct load l = {
        .a = a,
        .t = t,
        .file = name,
        .e = e,
        .keys = {SYM(ITYPE), SYM(ARCH), SYM(OS), SYM(ZONE), SYM(CT), sym_of(t, STR("karpenter.kwok.sh/instance-size")),
                 sym_of(t, STR("karpenter.kwok.sh/instance-family")), sym_of(t, STR("karpenter.kwok.sh/instance-cpu")),
                 sym_of(t, STR("karpenter.kwok.sh/instance-memory"))},
    };

    reslist_set(a, &l.overhead, SYM(CPU), 100000000, /* binary= */ false);             /* 100m */
    reslist_set(a, &l.overhead, SYM(MEMORY), 10 * (1000LL << 20), /* binary= */ true); /* 10Mi */
    c->origin = arena_strdup(a, str_c(name));
    bool ok = tree_parse_json(scratch, name, bytes, &list, e) && read_list(&l, list, c);
    vec_fini(&l.well_known);
    u64map_fini(&l.names);
    return ok ? c : NULL;
}

static bool read_file(const char *path, struct sb *b, struct err *e)
{
    char chunk[16384];
    FILE *f = fopen(path, "rb");
    size_t n;

    if (!f)
        return err_set(e, errno == ENOENT ? ERR_NOT_FOUND : ERR_IO, "%s: %s", path, strerror(errno));
    while ((n = fread(chunk, 1, sizeof(chunk), f)) > 0 && b->n <= ITYPES_MAX_BYTES)
        sb_bytes(b, chunk, n);
    bool failed = ferror(f);
    int why = errno;
    (void)fclose(f);
    if (failed)
        return err_set(e, ERR_IO, "%s: %s", path, strerror(why));
    if (b->n > ITYPES_MAX_BYTES)
        return err_set(e, ERR_INVALID, "%s: larger than %u MiB", path, ITYPES_MAX_BYTES >> 20);
    return true;
}

struct catalog *itypes_load(struct arena *a, struct syms *t, const char *path, struct err *e)
{
    struct sb b = {0};
    struct catalog *c = NULL;

    if (read_file(path, &b, e))
        c = itypes_parse(a, t, path, sb_view(&b), e);
    sb_fini(&b);
    return c;
}
