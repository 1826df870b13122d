/* Selectors: the grammar of label selectors, that of field selectors, and the form they have inside objects.
 *
 * label selectors   key, !key, key=v, key==v, key!=v, key in (a,b), key notin (a,b), key>1, key<1; separated by commas
 * field selectors   key=v, key==v, key!=v; separated by commas; \, \= and \\ are escapes in values */
#include "sim/kube/selector.h"

#include "base/vec.h"
#include "data/tree.h"
#include "sim/kube/kube_int.h"

enum op { OP_IN, OP_NOT_IN, OP_EXISTS, OP_ABSENT, OP_MORE, OP_LESS };

struct need {
    str key;
    enum op op;
    const str *values; /* OP_MORE, OP_LESS: one number */
    uint32_t n;
};

struct selector {
    const struct need *labels, *fields;
    uint32_t n_labels, n_fields;
    bool nothing; /* a selector that is absent in an object matches nothing */
};

typedef VEC(struct need) needs;
typedef VEC(str) strs;

/* ---- matching ---- */

static bool is_among(const struct need *r, str value)
{
    for (uint32_t i = 0; i < r->n; i++)
        if (str_eq(r->values[i], value))
            return true;
    return false;
}

static bool satisfied(const struct need *r, const struct label *l)
{
    int64_t have, want;

    switch (r->op) {
    case OP_IN:
        return l && is_among(r, l->value);
    case OP_NOT_IN:
        return !l || !is_among(r, l->value);
    case OP_EXISTS:
        return l != NULL;
    case OP_ABSENT:
        return !l;
    case OP_MORE:
    case OP_LESS:
        if (!l || !str_to_i64(l->value, &have) || !str_to_i64(r->values[0], &want))
            return false;
        return r->op == OP_MORE ? have > want : have < want;
    }
    return false;
}

static const struct label *find(const struct label *labels, uint32_t n, str key)
{
    for (uint32_t i = 0; i < n; i++)
        if (str_eq(labels[i].key, key))
            return &labels[i];
    return NULL;
}

bool selector_matches_labels(const struct selector *s, const struct label *labels, uint32_t n)
{
    for (uint32_t i = 0; i < s->n_labels; i++)
        if (!satisfied(&s->labels[i], find(labels, n, s->labels[i].key)))
            return false;
    return !s->nothing;
}

bool selector_matches_object(const struct selector *s, const struct object *o)
{
    if (s->n_labels && !selector_matches_labels(s, o->labels, o->n_labels))
        return false;
    for (uint32_t i = 0; i < s->n_fields; i++) {
        const struct need *r = &s->fields[i];
        const struct label *own = find(o->fields, o->n_fields, r->key);
        struct label l = {r->key, own ? own->value : (str){0}};

        if (str_is(r->key, "metadata.name"))
            l.value = o->name;
        else if (str_is(r->key, "metadata.namespace"))
            l.value = o->ns;
        if (!satisfied(r, &l))
            return false;
    }
    return !s->nothing;
}

bool selector_is_empty(const struct selector *s)
{
    return s->n_labels == 0 && s->n_fields == 0 && !s->nothing;
}

/* ---- tokens of label selectors ---- */

enum token { END, WORD, OPEN, CLOSE, COMMA, NOT, EQ, NE, MORE, LESS, BAD };

struct lexer {
    str rest;
    enum token ahead; /* the next token and its text */
    str text;
    struct arena *a;
    struct err *e;
};

static void next(struct lexer *l)
{
    static const struct {
        const char *text;
        enum token token;
    } symbols[] = {
        {"==", EQ},   {"!=", NE},   {"=", EQ},   {"!", NOT},  {"(", OPEN},
        {")", CLOSE}, {",", COMMA}, {">", MORE}, {"<", LESS},
    };
    size_t n = 0;

    l->rest = str_trim(l->rest);
    while (n < l->rest.n && !memchr("=!(),<> \t\r\n", l->rest.p[n], sizeof("=!(),<> \t\r\n") - 1))
        n++;
    l->ahead = l->rest.n ? WORD : END;
    for (size_t i = 0; n == 0 && l->rest.n && i < ARRAY_LEN(symbols); i++)
        if (str_starts(l->rest, str_c(symbols[i].text))) {
            l->ahead = symbols[i].token;
            n = strlen(symbols[i].text);
        }
    l->text = str_sub(l->rest, 0, n);
    l->rest = str_sub(l->rest, n, l->rest.n);
}

static bool unexpected(struct lexer *l, const char *expected)
{
    return err_set(l->e, ERR_INVALID, "found '" STR_FMT "'%s", STR_ARG(l->text), expected);
}

/* ---- checking what was read ---- */

static bool check_key(struct lexer *l, str key)
{
    struct causes c = {.a = l->a};

    (void)meta_is_qualified(key, &c, STR("<nil>"));
    bool ok = c.list.n == 0;
    if (!ok)
        (void)err_set(l->e, ERR_INVALID, "<nil>: " STR_FMT, STR_ARG(c.list.v[0].message));
    causes_fini(&c);
    return ok;
}

static bool check_values(struct lexer *l, const struct need *r)
{
    int64_t number;

    if ((r->op == OP_MORE || r->op == OP_LESS) && !str_to_i64(r->values[0], &number))
        return err_set(l->e, ERR_INVALID,
                       "values[0]: Invalid value: \"" STR_FMT
                       "\": for 'Gt', 'Lt' operators, the value must be an integer",
                       STR_ARG(r->values[0]));
    for (uint32_t i = 0; i < r->n; i++) {
        const char *why = meta_label_value(r->values[i]);

        if (why)
            return err_set(l->e, ERR_INVALID, "values[%u][" STR_FMT "]: Invalid value: \"" STR_FMT "\": %s", i,
                           STR_ARG(r->key), STR_ARG(r->values[i]), why);
    }
    return true;
}

/* ---- the grammar ---- */

static void insert_sorted(strs *set, str s)
{
    uint32_t at = 0;

    while (at < set->n && str_cmp(set->v[at], s) < 0)
        at++;
    if (at < set->n && str_eq(set->v[at], s))
        return;
    vec_push(set, s);
    memmove(&set->v[at + 1], &set->v[at], (set->n - 1 - at) * sizeof(*set->v));
    set->v[at] = s;
}

/* (a,b): an empty place between commas is the empty value. */
static bool parse_set(struct lexer *l, strs *ret)
{
    if (l->ahead != OPEN)
        return unexpected(l, " expected: '('");
    next(l);
    if (l->ahead != WORD && l->ahead != COMMA && l->ahead != CLOSE)
        return unexpected(l, ", expected: ',', ')' or identifier");
    for (;;) {
        str value = {0};

        if (l->ahead == WORD) {
            value = l->text;
            next(l);
        } else if (l->ahead != COMMA && l->ahead != CLOSE) {
            return unexpected(l, ", expected: ',', or identifier");
        }
        insert_sorted(ret, value);
        if (l->ahead == CLOSE)
            break;
        if (l->ahead != COMMA)
            return unexpected(l, ", expected: ',' or ')'");
        next(l);
    }
    next(l);
    return true;
}

static bool parse_value(struct lexer *l, strs *ret)
{
    str value = {0};

    if (l->ahead != END && l->ahead != COMMA) {
        if (l->ahead != WORD)
            return unexpected(l, ", expected: identifier");
        value = l->text;
        next(l);
    }
    insert_sorted(ret, value);
    return true;
}

static bool parse_operator(struct lexer *l, struct need *r, bool *ret_set)
{
    *ret_set = l->ahead == WORD;
    if (l->ahead == EQ || (l->ahead == WORD && str_is(l->text, "in")))
        r->op = OP_IN;
    else if (l->ahead == NE || (l->ahead == WORD && str_is(l->text, "notin")))
        r->op = OP_NOT_IN;
    else if (l->ahead == MORE || l->ahead == LESS)
        r->op = l->ahead == MORE ? OP_MORE : OP_LESS;
    else
        return unexpected(l, ", expected: in, notin, =, ==, !=, gt, lt");
    next(l);
    return true;
}

static bool parse_need(struct lexer *l, struct need *r)
{
    bool absent = l->ahead == NOT, set;
    strs values = {0};

    if (absent)
        next(l);
    if (l->ahead != WORD)
        return unexpected(l, ", expected: identifier");
    r->key = l->text;
    next(l);
    if (!check_key(l, r->key))
        return false;
    r->op = absent ? OP_ABSENT : OP_EXISTS;
    if (absent || l->ahead == END || l->ahead == COMMA)
        return true;
    bool ok = parse_operator(l, r, &set) && (set ? parse_set(l, &values) : parse_value(l, &values));
    r->values = vec_to_arena(&values, l->a);
    r->n = values.n;
    vec_fini(&values);
    return ok && check_values(l, r);
}

static bool parse_labels(struct arena *a, str text, needs *ret, struct err *e)
{
    struct lexer l = {.rest = text, .a = a, .e = e};

    next(&l);
    while (l.ahead != END) {
        struct need r = {0};

        if (l.ahead != WORD && l.ahead != NOT)
            return unexpected(&l, ", expected: !, identifier, or 'end of string'");
        if (!parse_need(&l, &r))
            return err_wrap(e, "unable to parse requirement");
        vec_push(ret, r);
        if (l.ahead == END)
            return true;
        if (l.ahead != COMMA)
            return unexpected(&l, ", expected: ',' or 'end of string'");
        next(&l);
        if (l.ahead != WORD && l.ahead != NOT)
            return unexpected(&l, ", expected: identifier after ','");
    }
    return true;
}

/* ---- field selectors ---- */

/* Up to the next comma that is not escaped. */
static str cut_term(str *rest)
{
    size_t n = 0;

    while (n < rest->n && rest->p[n] != ',')
        n += rest->p[n] == '\\' && n + 1 < rest->n ? 2 : 1;
    str term = str_sub(*rest, 0, n);
    *rest = str_sub(*rest, n + 1, rest->n);
    return term;
}

static bool unescape(struct arena *a, str s, str *ret, struct err *e)
{
    char *p = arena_alloc(a, s.n, 1);
    size_t n = 0;

    for (size_t i = 0; i < s.n; i++) {
        if (s.p[i] == '=' || s.p[i] == ',')
            return err_set(e, ERR_INVALID, "invalid field selector: unescaped character in value: %d", s.p[i]);
        if (s.p[i] == '\\') {
            if (i + 1 == s.n || !memchr("\\,=", s.p[i + 1], 3))
                return err_set(e, ERR_INVALID, "invalid field selector: invalid escape sequence: " STR_FMT,
                               STR_ARG(str_sub(s, i, i + 2)));
            i++;
        }
        p[n++] = s.p[i];
    }
    *ret = (str){p, n};
    return true;
}

static bool parse_term(struct arena *a, str text, str term, struct need *r, struct err *e)
{
    size_t at = 0;

    while (at < term.n && term.p[at] != '=' && !(term.p[at] == '!' && at + 1 < term.n && term.p[at + 1] == '='))
        at++;
    if (at == term.n)
        return err_set(e, ERR_INVALID, "invalid selector: '" STR_FMT "'; can't understand '" STR_FMT "'", STR_ARG(text),
                       STR_ARG(term));
    bool negative = term.p[at] == '!';
    size_t after = at + (negative || str_starts(str_sub(term, at, term.n), STR("==")) ? 2 : 1);
    str *value = arena_new_one(a, str);
    r->key = arena_strdup(a, str_sub(term, 0, at));
    r->op = negative ? OP_NOT_IN : OP_IN;
    r->values = value;
    r->n = 1;
    return unescape(a, str_sub(term, after, term.n), value, e);
}

static bool is_selectable(str key, const char *const *selectable, struct err *e)
{
    if (str_is(key, "metadata.name") || str_is(key, "metadata.namespace"))
        return true;
    if (!selectable)
        return err_set(e, ERR_INVALID,
                       "\"" STR_FMT "\" is not a known field selector: only \"metadata.name\", \"metadata.namespace\"",
                       STR_ARG(key));
    for (size_t i = 0; selectable[i]; i++)
        if (str_is(key, selectable[i]))
            return true;
    return err_set(e, ERR_INVALID, "field label not supported: " STR_FMT, STR_ARG(key));
}

static bool parse_fields(struct arena *a, str text, const char *const *selectable, needs *ret, struct err *e)
{
    str rest = text;

    while (rest.n) {
        str term = cut_term(&rest);
        struct need r = {0};

        if (term.n == 0)
            continue;
        if (!parse_term(a, text, term, &r, e) || !is_selectable(r.key, selectable, e))
            return false;
        vec_push(ret, r);
    }
    return true;
}

bool selector_parse_query(struct arena *a, str labels, str fields, const char *const *selectable,
                          const struct selector **ret, struct err *e)
{
    needs by_label = {0}, by_field = {0};
    struct selector *s = arena_new_one(a, struct selector);

    bool ok =
        parse_labels(a, arena_strdup(a, labels), &by_label, e) && parse_fields(a, fields, selectable, &by_field, e);
    *s = (struct selector){vec_to_arena(&by_label, a), vec_to_arena(&by_field, a), by_label.n, by_field.n, false};
    vec_fini(&by_label);
    vec_fini(&by_field);
    *ret = s;
    return ok;
}

/* ---- selectors inside objects ---- */

static void need_equal(struct arena *a, needs *ret, const struct tree *map)
{
    for (uint32_t i = 0; map && map->kind == TREE_MAP && i < map->n; i++) {
        str *value = arena_new_one(a, str);

        *value = arena_strdup(a, tree_str(&map->items[i]));
        vec_push(ret, (struct need){arena_strdup(a, map->keys[i]), OP_IN, value, 1});
    }
}

static bool need_expression(struct arena *a, const struct tree *x, struct need *r, struct err *e)
{
    static const struct {
        const char *name;
        enum op op;
    } ops[] = {{"In", OP_IN}, {"NotIn", OP_NOT_IN}, {"Exists", OP_EXISTS}, {"DoesNotExist", OP_ABSENT}};
    str op = tree_str(tree_get(x, "operator"));
    const struct tree *list = tree_get(x, "values");
    size_t i = 0;

    while (i < ARRAY_LEN(ops) && !str_is(op, ops[i].name))
        i++;
    if (i == ARRAY_LEN(ops))
        return err_set(e, ERR_INVALID, "\"" STR_FMT "\" is not a valid label selector operator", STR_ARG(op));
    r->op = ops[i].op;
    r->key = arena_strdup(a, tree_str(tree_get(x, "key")));
    r->n = list && list->kind == TREE_LIST ? list->n : 0;
    if (r->n == 0 && (r->op == OP_IN || r->op == OP_NOT_IN))
        return err_set(e, ERR_INVALID, "for 'in', 'notin' operators, values set can't be empty");
    str *values = arena_new_array(a, str, r->n);
    for (uint32_t v = 0; v < r->n; v++)
        values[v] = arena_strdup(a, tree_str(&list->items[v]));
    r->values = values;
    return true;
}

bool selector_from_tree(struct arena *a, const struct tree *t, const struct selector **ret, struct err *e)
{
    struct selector *s = arena_new_one(a, struct selector);
    const struct tree *labels = tree_get(t, "matchLabels"), *list = tree_get(t, "matchExpressions");
    needs all = {0};
    bool ok = true;

    s->nothing = !t || t->kind != TREE_MAP;
    if ((!labels || labels->kind != TREE_MAP) && (!list || list->kind != TREE_LIST))
        need_equal(a, &all, t); /* a plain map */
    else
        need_equal(a, &all, labels);
    for (uint32_t i = 0; ok && list && list->kind == TREE_LIST && i < list->n; i++) {
        struct need r = {0};

        ok = need_expression(a, &list->items[i], &r, e);
        vec_push(&all, r);
    }
    s->labels = vec_to_arena(&all, a);
    s->n_labels = all.n;
    vec_fini(&all);
    *ret = s;
    return ok;
}
