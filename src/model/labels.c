/* Names, well-known and restricted keys, requirement checks; and label selectors, matched and parsed. */
#include "model/labels.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/vec.h"

#define LONGEST_NAME 63    /* a label value, and a key without its prefix */
#define LONGEST_PREFIX 253 /* a DNS subdomain */
#define MOST_EXPRS 1000    /* in one selector text: far beyond what anybody types */

static const char *const op_names[] = {
    [OP_IN] = "In", [OP_NOT_IN] = "NotIn", [OP_EXISTS] = "Exists", [OP_DOES_NOT_EXIST] = "DoesNotExist",
    [OP_GT] = "Gt", [OP_LT] = "Lt",        [OP_GTE] = "Gte",       [OP_LTE] = "Lte",
};

const char *req_op_name(enum req_op op)
{
    return op_names[op];
}

bool req_op_parse(str s, enum req_op *ret)
{
    for (size_t i = 0; i < ARRAY_LEN(op_names); i++)
        if (str_is(s, op_names[i])) {
            *ret = (enum req_op)i;
            return true;
        }
    return false;
}

/* ---- names ---- */

str label_key_normalise(str key)
{
    static const struct {
        str alias, key;
    } aliases[] = {
        {STR_INIT("failure-domain.beta.kubernetes.io/zone"), STR_INIT("topology.kubernetes.io/zone")},
        {STR_INIT("failure-domain.beta.kubernetes.io/region"), STR_INIT("topology.kubernetes.io/region")},
        {STR_INIT("beta.kubernetes.io/arch"), STR_INIT("kubernetes.io/arch")},
        {STR_INIT("beta.kubernetes.io/os"), STR_INIT("kubernetes.io/os")},
        {STR_INIT("beta.kubernetes.io/instance-type"), STR_INIT("node.kubernetes.io/instance-type")},
    };

    for (size_t i = 0; i < ARRAY_LEN(aliases); i++)
        if (str_eq(key, aliases[i].alias))
            return aliases[i].key;
    return key;
}

static bool is_lower_alnum(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9');
}

static bool is_alnum(char c)
{
    return is_lower_alnum(c) || (c >= 'A' && c <= 'Z');
}

/* Letters and digits at both ends; `-`, `_` and `.` in between. */
static bool is_name(str s)
{
    if (s.n == 0 || s.n > LONGEST_NAME || !is_alnum(s.p[0]) || !is_alnum(s.p[s.n - 1]))
        return false;
    for (size_t i = 0; i < s.n; i++)
        if (!is_alnum(s.p[i]) && s.p[i] != '-' && s.p[i] != '_' && s.p[i] != '.')
            return false;
    return true;
}

/* Dot-separated parts of lower-case letters, digits and `-`, none of which starts or ends with `-`. */
static bool is_dns_subdomain(str s)
{
    if (s.n == 0 || s.n > LONGEST_PREFIX)
        return false;
    for (size_t i = 0; i < s.n; i++) {
        bool edge = i == 0 || i + 1 == s.n || s.p[i - 1] == '.' || s.p[i + 1] == '.';

        if (is_lower_alnum(s.p[i]))
            continue;
        if (edge || (s.p[i] != '-' && s.p[i] != '.'))
            return false;
    }
    return true;
}

bool label_is_qualified_name(str key)
{
    str prefix, name;

    if (!str_cut(key, '/', &prefix, &name))
        return is_name(key);
    return is_dns_subdomain(prefix) && is_name(name);
}

bool label_is_value(str value)
{
    return value.n == 0 || is_name(value);
}

/* ---- rules ---- */

static int by_sym(const void *a, const void *b)
{
    const sym *x = a, *y = b;

    return (x->v > y->v) - (x->v < y->v);
}

void label_rules_well_known(struct arena *a, struct label_rules *r, const sym *own, uint32_t n)
{
    static const sym core[] = {SYM(NP), SYM(ZONE), SYM(REGION), SYM(ITYPE), SYM(ARCH), SYM(OS), SYM(CT), SYM(WINBUILD)};
    sym *all = arena_new_array(a, sym, ARRAY_LEN(core) + n);
    uint32_t kept = 0;

    memcpy(all, core, sizeof(core));
    if (n)
        memcpy(all + ARRAY_LEN(core), own, n * sizeof(*own));
    qsort(all, ARRAY_LEN(core) + n, sizeof(*all), by_sym);
    for (uint32_t i = 0; i < ARRAY_LEN(core) + n; i++)
        if (kept == 0 || !sym_eq(all[kept - 1], all[i]))
            all[kept++] = all[i];
    r->well_known = all;
    r->n_well_known = kept;
}

bool label_is_well_known(const struct label_rules *r, sym key)
{
    uint32_t from = 0, to = r->n_well_known;

    while (from < to) {
        uint32_t half = from + (to - from) / 2;

        if (r->well_known[half].v == key.v)
            return true;
        if (r->well_known[half].v < key.v)
            from = half + 1;
        else
            to = half;
    }
    return false;
}

static bool is_in_domain(str domain, str parent)
{
    if (!str_ends(domain, parent))
        return false;
    return domain.n == parent.n || domain.p[domain.n - parent.n - 1] == '.';
}

bool label_is_restricted(const struct label_rules *r, const struct syms *t, sym key)
{
    str domain, name;

    if (label_is_well_known(r, key))
        return false;
    if (sym_eq(key, SYM(HOST)))
        return true;
    if (!str_cut(sym_str(t, key), '/', &domain, &name))
        return false;
    if (is_in_domain(domain, STR("karpenter.sh")))
        return true;
    for (uint32_t i = 0; i < r->n_restricted_domains; i++)
        if (is_in_domain(domain, r->restricted_domains[i]))
            return true;
    return false;
}

PRINTF(4, 5)
static bool refuse(const struct syms *t, const struct req_expr *x, struct err *e, const char *fmt, ...)
{
    char why[300];
    va_list ap;

    va_start(ap, fmt);
    (void)vsnprintf(why, sizeof(why), fmt, ap);
    va_end(ap);
    str key = str_sub(sym_str(t, x->key), 0, 80);
    return err_set(e, ERR_INVALID, "requirement on \"" STR_FMT "\": %s", STR_ARG(key), why);
}

/* One known value is enough: the others are taken for typos. */
static bool known_values_validate(const struct label_values *v, const struct syms *t, const struct req_expr *x,
                                  struct err *e)
{
    int32_t known = 0;

    if (!sym_eq(x->key, v->key))
        return true;
    for (uint32_t i = 0; i < x->n_vals; i++)
        for (uint32_t k = 0; k < v->n; k++)
            known += sym_eq(x->vals[i], v->vals[k]);
    if (known == 0)
        return refuse(t, x, e, "no value is one of %s", v->in_words);
    if (known < x->min_values)
        return refuse(t, x, e, "minValues is %d, but only %d of the values are known", x->min_values, known);
    return true;
}

static bool closed_lists_validate(const struct label_rules *r, const struct syms *t, const struct req_expr *x,
                                  struct err *e)
{
    const sym types[] = {SYM(ON_DEMAND), SYM(SPOT), SYM(RESERVED)};
    const struct label_values core = {SYM(CT), types, ARRAY_LEN(types), "on-demand, spot, reserved"};

    if (x->op != OP_IN || !label_is_well_known(r, x->key))
        return true;
    bool ok = known_values_validate(&core, t, x, e);
    for (uint32_t i = 0; ok && i < r->n_values; i++)
        ok = known_values_validate(&r->values[i], t, x, e);
    return ok;
}

static bool values_validate(const struct syms *t, const struct req_expr *x, struct err *e)
{
    int64_t bound;

    for (uint32_t i = 0; i < x->n_vals; i++) {
        str val = sym_str(t, x->vals[i]);

        if (!label_is_value(val))
            return refuse(t, x, e, "\"%.*s\" is not a label value", (int)MIN(val.n, (size_t)80), val.p);
    }
    switch (x->op) {
    case OP_IN:
        if (x->n_vals == 0)
            return refuse(t, x, e, "In needs at least one value");
        if (x->min_values > 0 && x->n_vals < (uint32_t)x->min_values)
            return refuse(t, x, e, "minValues is %d, but there are only %u values", x->min_values, x->n_vals);
        return true;
    case OP_GT:
    case OP_LT:
    case OP_GTE:
    case OP_LTE:
        if (x->n_vals != 1 || !str_to_i64(sym_str(t, x->vals[0]), &bound) || bound < 0)
            return refuse(t, x, e, "%s needs exactly one value, an integer not below zero", req_op_name(x->op));
        return true;
    case OP_NOT_IN:
    case OP_EXISTS:
    case OP_DOES_NOT_EXIST:
        return true;
    }
    return true;
}

bool req_expr_validate(const struct label_rules *r, const struct syms *t, const struct req_expr *x, struct err *e)
{
    if (label_is_restricted(r, t, x->key))
        return refuse(t, x, e, "the key is restricted; use a well-known key, or one of your own domain");
    if (!closed_lists_validate(r, t, x, e))
        return false;
    if (!label_is_qualified_name(sym_str(t, x->key)))
        return refuse(t, x, e, "the key is not a qualified name (prefix/name, name of at most 63 characters)");
    return values_validate(t, x, e);
}

/* ---- selectors: matching ---- */

static bool vals_have(const struct req_expr *x, sym val)
{
    for (uint32_t i = 0; i < x->n_vals; i++)
        if (sym_eq(x->vals[i], val))
            return true;
    return false;
}

static bool expr_matches_number(const struct req_expr *x, const struct syms *t, sym val)
{
    int64_t have, bound;

    if (x->n_vals != 1 || !str_to_i64(sym_str(t, val), &have) || !str_to_i64(sym_str(t, x->vals[0]), &bound))
        return false;
    switch (x->op) {
    case OP_GT:
        return have > bound;
    case OP_LT:
        return have < bound;
    case OP_GTE:
        return have >= bound;
    case OP_LTE:
        return have <= bound;
    case OP_IN:
    case OP_NOT_IN:
    case OP_EXISTS:
    case OP_DOES_NOT_EXIST:
        break;
    }
    return false;
}

static bool expr_matches(const struct req_expr *x, const struct syms *t, lset_id labels)
{
    sym val = SYM(NONE);
    bool present = lset_value(t, labels, x->key, &val);

    switch (x->op) {
    case OP_IN:
        return present && vals_have(x, val);
    case OP_NOT_IN:
        return !present || !vals_have(x, val);
    case OP_EXISTS:
        return present;
    case OP_DOES_NOT_EXIST:
        return !present;
    case OP_GT:
    case OP_LT:
    case OP_GTE:
    case OP_LTE:
        return present && expr_matches_number(x, t, val);
    }
    return false;
}

bool selector_matches(const struct selector *s, const struct syms *t, lset_id labels)
{
    if (!s->present)
        return false;
    for (uint32_t i = 0; i < s->n_exprs; i++)
        if (!expr_matches(&s->exprs[i], t, labels))
            return false;
    return true;
}

/* ---- selectors: the text form ---- */

enum tok { TOK_END, TOK_WORD, TOK_NOT, TOK_EQ, TOK_NE, TOK_GT, TOK_LT, TOK_OPEN, TOK_CLOSE, TOK_COMMA };

struct lexer {
    str left;     /* not read yet */
    enum tok tok; /* the current token */
    str word;     /* its text */
    struct arena *a;
    struct syms *t;
};

static bool is_word_byte(char c)
{
    return c == '\0' || !strchr(" \t\r\n=!<>(),", c);
}

static void lex(struct lexer *l)
{
    static const struct {
        str text;
        enum tok tok;
    } marks[] = {
        {STR_INIT("!="), TOK_NE},  {STR_INIT("!"), TOK_NOT},   {STR_INIT("=="), TOK_EQ},
        {STR_INIT("="), TOK_EQ},   {STR_INIT(">"), TOK_GT},    {STR_INIT("<"), TOK_LT},
        {STR_INIT("("), TOK_OPEN}, {STR_INIT(")"), TOK_CLOSE}, {STR_INIT(","), TOK_COMMA},
    };
    size_t n = 0;

    l->left = str_trim(l->left);
    l->tok = l->left.n ? TOK_WORD : TOK_END;
    while (n < l->left.n && is_word_byte(l->left.p[n]))
        n++;
    for (size_t i = 0; n == 0 && i < ARRAY_LEN(marks); i++)
        if (str_starts(l->left, marks[i].text)) {
            n = marks[i].text.n;
            l->tok = marks[i].tok;
        }
    l->word = str_sub(l->left, 0, n);
    l->left = str_sub(l->left, n, l->left.n);
}

static bool unexpected(const struct lexer *l, const char *want, struct err *e)
{
    if (l->tok == TOK_END)
        return err_set(e, ERR_INVALID, "selector ends where %s should follow", want);
    str word = str_sub(l->word, 0, 80);
    return err_set(e, ERR_INVALID, "selector has \"" STR_FMT "\" where %s should be", STR_ARG(word), want);
}

static bool take_value(struct lexer *l, str word, sym *ret, struct err *e)
{
    if (!label_is_value(word))
        return err_set(e, ERR_INVALID, "\"%.*s\" is not a label value", (int)MIN(word.n, (size_t)80), word.p);
    *ret = sym_of(l->t, word);
    return true;
}

/* One value, which may be left out: `key=` asks for the empty value. */
static bool parse_one_value(struct lexer *l, struct req_expr *x, struct err *e)
{
    str word = {"", 0};
    int64_t number;

    if (l->tok == TOK_WORD) {
        word = l->word;
        lex(l);
    } else if (l->tok != TOK_END && l->tok != TOK_COMMA) {
        return unexpected(l, "a value", e);
    }
    if ((x->op == OP_GT || x->op == OP_LT) && !str_to_i64(word, &number))
        return err_set(e, ERR_INVALID, "selector compares with \"%.*s\", which is not an integer",
                       (int)MIN(word.n, (size_t)80), word.p);
    x->n_vals = 1;
    x->vals = arena_new_one(l->a, sym);
    return take_value(l, word, x->vals, e);
}

/* "(a, b)"; an empty place between commas is the empty value, an empty list is an error. */
static bool parse_value_list(struct lexer *l, struct req_expr *x, struct err *e)
{
    VEC(sym) vals = {0};
    bool ok = false;

    if (l->tok != TOK_OPEN)
        return unexpected(l, "(", e);
    lex(l);
    if (l->tok == TOK_CLOSE)
        return unexpected(l, "a value", e);
    for (;;) {
        str word = l->tok == TOK_WORD ? l->word : STR("");
        sym val;

        if (l->tok == TOK_WORD)
            lex(l);
        if (!take_value(l, word, &val, e))
            break;
        vec_push(&vals, val);
        if (l->tok == TOK_COMMA) {
            lex(l);
            continue;
        }
        ok = l->tok == TOK_CLOSE || unexpected(l, ", or )", e);
        break;
    }
    if (ok) {
        lex(l);
        x->n_vals = vals.n;
        x->vals = vec_to_arena(&vals, l->a);
    }
    vec_fini(&vals);
    return ok;
}

static bool parse_operator(struct lexer *l, struct req_expr *x, struct err *e)
{
    bool list = false;

    if (l->tok == TOK_EQ) {
        x->op = OP_IN;
    } else if (l->tok == TOK_NE) {
        x->op = OP_NOT_IN;
    } else if (l->tok == TOK_GT) {
        x->op = OP_GT;
    } else if (l->tok == TOK_LT) {
        x->op = OP_LT;
    } else if (l->tok == TOK_WORD && (str_is(l->word, "in") || str_is(l->word, "notin"))) {
        x->op = str_is(l->word, "in") ? OP_IN : OP_NOT_IN;
        list = true;
    } else {
        return unexpected(l, "one of = != in notin > < or a comma", e);
    }
    lex(l);
    return list ? parse_value_list(l, x, e) : parse_one_value(l, x, e);
}

static bool parse_expr(struct lexer *l, struct req_expr *x, struct err *e)
{
    bool absent = l->tok == TOK_NOT;

    if (absent)
        lex(l);
    if (l->tok != TOK_WORD)
        return unexpected(l, "a label key", e);
    if (!label_is_qualified_name(l->word))
        return err_set(e, ERR_INVALID, "\"%.*s\" is not a label key", (int)MIN(l->word.n, (size_t)80), l->word.p);
    *x = (struct req_expr){.key = sym_of(l->t, l->word), .op = absent ? OP_DOES_NOT_EXIST : OP_EXISTS};
    lex(l);
    if (absent || l->tok == TOK_END || l->tok == TOK_COMMA)
        return true;
    return parse_operator(l, x, e);
}

bool selector_parse(struct arena *a, struct syms *t, str text, struct selector *ret, struct err *e)
{
    struct lexer l = {.left = text, .a = a, .t = t};
    VEC(struct req_expr) exprs = {0};
    bool ok = true;

    lex(&l);
    while (ok && l.tok != TOK_END) {
        struct req_expr x;

        ok = parse_expr(&l, &x, e);
        if (!ok)
            break;
        if (exprs.n == MOST_EXPRS) {
            ok = err_set(e, ERR_INVALID, "selector has more than %d expressions", MOST_EXPRS);
            break;
        }
        vec_push(&exprs, x);
        if (l.tok == TOK_COMMA) {
            lex(&l);
            ok = l.tok == TOK_WORD || l.tok == TOK_NOT || unexpected(&l, "a label key", e);
        } else {
            ok = l.tok == TOK_END || unexpected(&l, "a comma", e);
        }
    }
    if (ok)
        *ret = (struct selector){.present = true, .n_exprs = exprs.n, .exprs = vec_to_arena(&exprs, a)};
    vec_fini(&exprs);
    return ok;
}
