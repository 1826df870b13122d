/* From words to nodes: recursive descent for what nests, precedence climbing for infixes. Names are resolved on the way:
 * variables to slots, functions to entries of the tables, macros to nodes of their own.
 */
#include "base/vec.h"
#include "model/cel_impl.h"

struct local {
    str name;
    uint32_t slot;
};

struct parser {
    struct arena *a;
    struct cel_lexer lex;
    struct cel_token t; /* the next one */
    struct cel_program *prog;
    VEC(struct local) locals; /* innermost last */
    uint32_t depth;
    struct err *e;
};

static struct cel_node *parse_expr(struct parser *p);

static struct cel_node *fail(struct parser *p, size_t at, const char *what, str name)
{
    (void)cel_fail_at(p->lex.s, at, p->e, what, name);
    return NULL;
}

static bool next(struct parser *p)
{
    return cel_lex(&p->lex, &p->t);
}

static bool is_punct(const struct parser *p, const char *text)
{
    return p->t.kind == TOKEN_PUNCT && str_is(p->t.text, text);
}

static struct cel_node *unexpected(struct parser *p)
{
    str what = p->t.kind == TOKEN_END ? STR("the end") : str_sub(p->lex.s, p->t.at, p->lex.at);

    return fail(p, p->t.at, "Syntax error: unexpected '", what);
}

/* Takes the punctuation if it is next. *ret_ok is false when it is and what follows cannot be read. */
static bool accept(struct parser *p, const char *text, bool *ret_ok)
{
    if (!is_punct(p, text))
        return false;
    *ret_ok = next(p);
    return true;
}

static bool expect(struct parser *p, const char *text)
{
    if (!is_punct(p, text))
        return unexpected(p) != NULL;
    return next(p);
}

/* ---- nodes ---- */

static struct cel_node *node_new(struct parser *p, enum cel_op op, struct cel_node *const *args, uint32_t n)
{
    struct cel_node *node = arena_new_one(p->a, struct cel_node);

    node->op = op;
    node->n_args = n;
    node->args = arena_new_array(p->a, struct cel_node *, n);
    for (uint32_t i = 0; i < n; i++) {
        node->args[i] = args[i];
        node->depth = MAX(node->depth, args[i] ? args[i]->depth + 1 : 0);
    }
    if (node->depth > CEL_MAX_DEPTH)
        return fail(p, p->t.at, "the expression nests too deeply", (str){0});
    return node;
}

static struct cel_node *constant(struct parser *p, struct cel_value v)
{
    struct cel_node *n = node_new(p, NODE_CONST, NULL, 0);

    n->value = arena_dup_array(p->a, struct cel_value, &v, 1);
    return n;
}

/* A list of constants is a constant: rules ask `x in ["a", "b"]` for every member of a list. */
static struct cel_node *list_node(struct parser *p, struct cel_node *const *args, bool *optional, uint32_t n)
{
    bool constants = true;

    for (uint32_t i = 0; i < n; i++)
        constants &= args[i]->op == NODE_CONST && !optional[i];
    if (!constants) {
        struct cel_node *list = node_new(p, NODE_LIST, args, n);

        if (list)
            list->optional_args = optional;
        return list;
    }
    struct cel_value *items = arena_new_array(p->a, struct cel_value, n);
    for (uint32_t i = 0; i < n; i++)
        items[i] = *args[i]->value;
    return constant(p, cel_list(items, n));
}

/* ---- names ---- */

static bool find_local(const struct parser *p, str name, uint32_t *ret_slot)
{
    for (uint32_t i = p->locals.n; i-- > 0;)
        if (str_eq(p->locals.v[i].name, name)) {
            *ret_slot = p->locals.v[i].slot;
            return true;
        }
    for (uint32_t i = 0; i < p->prog->n_names; i++)
        if (str_is(name, p->prog->names[i])) {
            p->prog->used[i] = true;
            *ret_slot = i;
            return true;
        }
    return false;
}

static uint32_t declare(struct parser *p, str name)
{
    uint32_t slot = p->prog->n_names + p->locals.n;

    vec_push(&p->locals, (struct local){name, slot});
    p->prog->n_slots = MAX(p->prog->n_slots, slot + 1);
    return slot;
}

static struct cel_node *parse_name(struct parser *p, str name, size_t at)
{
    static const char *const types[] = {"bool", "bytes",     "double", "int",  "list",
                                        "map",  "null_type", "string", "type", "uint"};
    uint32_t slot;

    if (find_local(p, name, &slot)) {
        struct cel_node *n = node_new(p, NODE_VAR, NULL, 0);

        n->slot = slot;
        n->name = name;
        return n;
    }
    for (size_t i = 0; i < ARRAY_LEN(types); i++)
        if (str_is(name, types[i]))
            return constant(p, (struct cel_value){.kind = CEL_TYPE, .s = str_c(types[i])});
    return fail(p, at, cel_is_reserved(name) ? "reserved identifier: '" : "undeclared reference to '", name);
}

/* ---- calls ---- */

/* Up to the closing bracket, which is taken. A list may mark its members as optional. */
static bool parse_list_of(struct parser *p, const char *close, bool marks, struct cel_node ***ret, bool **ret_optional,
                          uint32_t *ret_n)
{
    VEC(struct cel_node *) args = {0};
    VEC(bool) optional = {0};
    bool ok = true;

    while (ok && !is_punct(p, close)) {
        bool mark = marks && accept(p, "?", &ok);
        struct cel_node *n = ok ? parse_expr(p) : NULL;

        vec_push(&args, n);
        vec_push(&optional, mark);
        ok = n && (is_punct(p, close) || expect(p, ","));
    }
    *ret = vec_to_arena(&args, p->a);
    if (ret_optional)
        *ret_optional = vec_to_arena(&optional, p->a);
    *ret_n = args.n;
    vec_fini(&args);
    vec_fini(&optional);
    return ok && expect(p, close);
}

static bool compile_pattern(struct parser *p, struct cel_node *call, size_t at)
{
    static const char *const names[] = {"matches", "find", "findAll"};
    bool takes_pattern = false;

    for (size_t i = 0; i < ARRAY_LEN(names); i++)
        takes_pattern |= str_is(str_c(call->fn->name), names[i]);
    if (!takes_pattern || call->n_args < 2 || call->args[1]->op != NODE_CONST ||
        call->args[1]->value->kind != CEL_STRING)
        return true;
    call->regex = regex_compile(p->a, call->args[1]->value->s, p->e);
    if (call->regex)
        return true;
    str why = arena_printf(p->a, "error parsing regexp: %s", p->e->msg);
    return fail(p, at, "", why) != NULL;
}

/* Behind the opening parenthesis. target is NULL for a function that is not a member. */
static struct cel_node *parse_call(struct parser *p, struct cel_node *target, str name, size_t at)
{
    struct cel_node **args, **all;
    uint32_t n;
    bool known;

    if (!parse_list_of(p, ")", false, &args, NULL, &n))
        return NULL;
    all = args;
    if (target) {
        all = arena_new_array(p->a, struct cel_node *, n + 1);
        all[0] = target;
        for (uint32_t i = 0; i < n; i++)
            all[i + 1] = args[i];
        n++;
    }
    const struct cel_fn *fn = cel_fn_find(name, target != NULL, n, &known);
    if (!fn)
        return fail(p, at, known ? "found no matching overload for '" : "undeclared reference to '", name);
    struct cel_node *call = node_new(p, NODE_CALL, all, n);
    if (!call)
        return NULL;
    call->fn = fn;
    return compile_pattern(p, call, at) ? call : NULL;
}

/* has(a.b), behind the parenthesis. */
static struct cel_node *parse_has(struct parser *p, size_t at)
{
    struct cel_node *n = parse_expr(p);

    if (!n || !expect(p, ")"))
        return NULL;
    if (n->op != NODE_SELECT || n->optional)
        return fail(p, at, "invalid argument to has() macro", (str){0});
    n->op = NODE_HAS;
    return n;
}

/* ---- macros ---- */

/* A variable of a macro and the comma behind it. */
static bool parse_var(struct parser *p, uint32_t *ret_slot)
{
    str name = p->t.text;

    if (p->t.kind != TOKEN_IDENT || cel_is_reserved(name))
        return unexpected(p) != NULL;
    if (!next(p) || !expect(p, ","))
        return false;
    *ret_slot = declare(p, name);
    return true;
}

/* Whether the next words are a name and a comma: then it is a second variable. */
static bool var_ahead(const struct parser *p)
{
    struct cel_lexer lex = p->lex;
    struct cel_token t;
    struct err e;

    lex.e = &e;
    return p->t.kind == TOKEN_IDENT && cel_lex(&lex, &t) && t.kind == TOKEN_PUNCT && str_is(t.text, ",");
}

static struct cel_node *parse_macro_body(struct parser *p, const struct cel_macro_word *m, struct cel_node *target)
{
    struct cel_node *args[3] = {target};
    uint32_t slot, second, n_vars = 1;

    if (!parse_var(p, &slot))
        return NULL;
    if (m->vars == 2 || (m->vars == 3 && var_ahead(p))) {
        if (!parse_var(p, &second))
            return NULL;
        n_vars = 2;
    }
    if (!(args[1] = parse_expr(p)))
        return NULL;
    if (m->bodies == 2 && is_punct(p, ",")) { /* the condition comes first */
        args[2] = args[1];
        if (!next(p) || !(args[1] = parse_expr(p)))
            return NULL;
    }
    if (!expect(p, ")"))
        return NULL;
    struct cel_node *n = node_new(p, NODE_MACRO, args, 3);
    if (n) {
        n->macro = m->macro;
        n->slot = slot;
        n->n_vars = n_vars;
    }
    return n;
}

static struct cel_node *parse_macro(struct parser *p, const struct cel_macro_word *m, struct cel_node *target)
{
    uint32_t before = p->locals.n;
    struct cel_node *n = parse_macro_body(p, m, target);

    p->locals.n = before;
    return n;
}

/* cel.bind(name, value, body), behind the parenthesis. */
static struct cel_node *parse_bind(struct parser *p)
{
    struct cel_node *args[2];
    str name = p->t.text;

    if (p->t.kind != TOKEN_IDENT || cel_is_reserved(name))
        return unexpected(p);
    if (!next(p) || !expect(p, ",") || !(args[0] = parse_expr(p)) || !expect(p, ","))
        return NULL;
    uint32_t slot = declare(p, name);
    args[1] = parse_expr(p);
    p->locals.n--;
    if (!args[1] || !expect(p, ")"))
        return NULL;
    struct cel_node *n = node_new(p, NODE_BIND, args, 2);
    if (n)
        n->slot = slot;
    return n;
}

/* ---- primaries ---- */

/* optional.of(…): the namespace has been read. */
static struct cel_node *parse_namespaced(struct parser *p, str space, size_t at)
{
    if (!expect(p, "."))
        return NULL;
    str name = p->t.text;
    if (p->t.kind != TOKEN_IDENT)
        return unexpected(p);
    if (!next(p) || !expect(p, "("))
        return NULL;
    if (str_is(space, "cel") && str_is(name, "bind"))
        return parse_bind(p);
    return parse_call(p, NULL, arena_printf(p->a, STR_FMT "." STR_FMT, STR_ARG(space), STR_ARG(name)), at);
}

static struct cel_node *parse_ident(struct parser *p)
{
    str name = p->t.text;
    size_t at = p->t.at;
    uint32_t slot;
    bool ok;

    if (!next(p))
        return NULL;
    if (str_is(name, "true") || str_is(name, "false"))
        return constant(p, cel_bool(str_is(name, "true")));
    if (str_is(name, "null"))
        return constant(p, (struct cel_value){.kind = CEL_NULL});
    if (accept(p, "(", &ok)) {
        if (!ok)
            return NULL;
        return str_is(name, "has") ? parse_has(p, at) : parse_call(p, NULL, name, at);
    }
    if (is_punct(p, ".") && cel_is_namespace(name) && !find_local(p, name, &slot))
        return parse_namespaced(p, name, at);
    return parse_name(p, name, at);
}

static struct cel_node *parse_literal(struct parser *p, bool negative)
{
    struct cel_token t = p->t;
    struct cel_value v = {0};

    if (t.kind == TOKEN_INT) {
        if (t.u > (uint64_t)INT64_MAX + negative)
            return fail(p, t.at, "invalid int literal", (str){0});
        v = cel_int(negative ? (int64_t)(0 - t.u) : (int64_t)t.u);
    } else if (t.kind == TOKEN_UINT)
        v = (struct cel_value){.kind = CEL_UINT, .u = t.u};
    else if (t.kind == TOKEN_DOUBLE)
        v = cel_double(negative ? -t.d : t.d);
    else if (t.kind == TOKEN_STRING)
        v = cel_str(t.text);
    else
        v = (struct cel_value){.kind = CEL_BYTES, .s = t.text};
    return next(p) ? constant(p, v) : NULL;
}

/* {a: b, ?c: d}, behind the brace. */
static struct cel_node *parse_map(struct parser *p)
{
    VEC(struct cel_node *) args = {0};
    VEC(bool) optional = {0};
    struct cel_node *map = NULL;
    bool ok = true;

    while (ok && !is_punct(p, "}")) {
        bool mark = accept(p, "?", &ok);
        struct cel_node *key = ok ? parse_expr(p) : NULL;
        struct cel_node *value = key && expect(p, ":") ? parse_expr(p) : NULL;

        vec_push(&args, key);
        vec_push(&args, value);
        vec_push(&optional, mark);
        ok = value && (is_punct(p, "}") || expect(p, ","));
    }
    if (ok && expect(p, "}")) {
        map = node_new(p, NODE_MAP, args.v, args.n);
        if (map)
            map->optional_args = vec_to_arena(&optional, p->a);
    }
    vec_fini(&args);
    vec_fini(&optional);
    return map;
}

static struct cel_node *parse_list(struct parser *p)
{
    struct cel_node **args;
    bool *optional;
    uint32_t n;

    return parse_list_of(p, "]", true, &args, &optional, &n) ? list_node(p, args, optional, n) : NULL;
}

static struct cel_node *parse_primary(struct parser *p)
{
    bool ok;

    switch (p->t.kind) {
    case TOKEN_INT:
    case TOKEN_UINT:
    case TOKEN_DOUBLE:
    case TOKEN_STRING:
    case TOKEN_BYTES:
        return parse_literal(p, /* negative= */ false);
    case TOKEN_IDENT:
        return parse_ident(p);
    case TOKEN_PUNCT:
        break;
    case TOKEN_QUOTED:
    case TOKEN_END:
        return unexpected(p);
    }
    if (accept(p, "(", &ok)) {
        struct cel_node *n = ok ? parse_expr(p) : NULL;

        return n && expect(p, ")") ? n : NULL;
    }
    if (accept(p, "[", &ok))
        return ok ? parse_list(p) : NULL;
    if (accept(p, "{", &ok))
        return ok ? parse_map(p) : NULL;
    if (accept(p, ".", &ok)) /* an absolute name */
        return ok && p->t.kind == TOKEN_IDENT ? parse_ident(p) : unexpected(p);
    return unexpected(p);
}

/* ---- members ---- */

/* Behind the point. */
static struct cel_node *parse_select(struct parser *p, struct cel_node *on)
{
    bool ok = true, optional = accept(p, "?", &ok);
    str name = p->t.text;
    size_t at = p->t.at;

    if (!ok)
        return NULL;
    if (p->t.kind != TOKEN_IDENT && p->t.kind != TOKEN_QUOTED)
        return unexpected(p);
    bool may_call = p->t.kind == TOKEN_IDENT && !optional;
    if (!next(p))
        return NULL;
    if (may_call && accept(p, "(", &ok)) {
        const struct cel_macro_word *m = cel_find_macro(name);

        if (!ok)
            return NULL;
        return m ? parse_macro(p, m, on) : parse_call(p, on, name, at);
    }
    struct cel_node *n = node_new(p, NODE_SELECT, &on, 1);
    if (n) {
        n->name = name;
        n->optional = optional;
    }
    return n;
}

/* Behind the bracket. */
static struct cel_node *parse_index(struct parser *p, struct cel_node *on)
{
    bool ok = true, optional = accept(p, "?", &ok);
    struct cel_node *args[2] = {on, ok ? parse_expr(p) : NULL};

    if (!args[1] || !expect(p, "]"))
        return NULL;
    struct cel_node *n = node_new(p, NODE_INDEX, args, 2);
    if (n)
        n->optional = optional;
    return n;
}

static struct cel_node *parse_members(struct parser *p, struct cel_node *n)
{
    bool ok;

    while (n) {
        if (accept(p, ".", &ok))
            n = ok ? parse_select(p, n) : NULL;
        else if (accept(p, "[", &ok))
            n = ok ? parse_index(p, n) : NULL;
        else
            break;
    }
    return n;
}

/* ---- infixes ---- */

/* Signs are counted, not nested: "!!!!x". */
static struct cel_node *parse_unary(struct parser *p)
{
    const char *sign = is_punct(p, "!") ? "!" : "-";
    uint32_t n_signs = 0;
    bool ok = true;

    while (ok && accept(p, sign, &ok))
        n_signs++;
    if (!ok)
        return NULL;
    bool literal = sign[0] == '-' && n_signs && (p->t.kind == TOKEN_INT || p->t.kind == TOKEN_DOUBLE);
    struct cel_node *n = parse_members(p, literal ? parse_literal(p, /* negative= */ true) : parse_primary(p));
    n_signs -= literal;
    if (!n || n_signs == 0)
        return n;
    n_signs = sign[0] == '!' && n_signs % 2 == 0 ? 2 : (n_signs - 1) % 2 + 1;
    for (; n && n_signs > 0; n_signs--)
        n = node_new(p, sign[0] == '!' ? NODE_NOT : NODE_NEGATE, &n, 1);
    return n;
}

/* a && b && c is one node: long chains of conditions do not nest. */
static struct cel_node *join(struct parser *p, const struct cel_infix *o, struct cel_node *left, struct cel_node *right)
{
    struct cel_node *pair[2] = {left, right};

    if (o->op != NODE_BINARY && left->op == o->op) {
        struct cel_node **args = arena_new_array(p->a, struct cel_node *, left->n_args + 1);

        memcpy(args, left->args, left->n_args * sizeof(struct cel_node *));
        args[left->n_args] = right;
        return node_new(p, o->op, args, left->n_args + 1);
    }
    struct cel_node *n = node_new(p, o->op, pair, 2);
    if (n)
        n->binary = o->binary;
    return n;
}

static struct cel_node *parse_binary(struct parser *p, int precedence)
{
    struct cel_node *left = parse_unary(p);
    const struct cel_infix *o;

    while (left && (o = cel_find_infix(&p->t)) && o->precedence >= precedence) {
        struct cel_node *right = next(p) ? parse_binary(p, o->precedence + 1) : NULL;

        left = right ? join(p, o, left, right) : NULL;
    }
    return left;
}

static struct cel_node *parse_choice(struct parser *p)
{
    struct cel_node *args[3] = {parse_binary(p, 1)};
    bool ok;

    if (!args[0] || !accept(p, "?", &ok))
        return args[0];
    if (!ok || !(args[1] = parse_binary(p, 1)) || !expect(p, ":") || !(args[2] = parse_expr(p)))
        return NULL;
    return node_new(p, NODE_CHOICE, args, 3);
}

static struct cel_node *parse_expr(struct parser *p)
{
    if (++p->depth > CEL_MAX_DEPTH)
        return fail(p, p->t.at, "the expression nests too deeply", (str){0});
    struct cel_node *n = parse_choice(p);
    p->depth--;
    return n;
}

const struct cel_program *cel_compile(struct arena *a, str source, const char *const *names, uint32_t n_names,
                                      struct err *e)
{
    struct cel_program *prog = arena_new_one(a, struct cel_program);
    struct parser p = {.a = a, .lex = {.a = a, .s = source, .e = e}, .prog = prog, .e = e};

    if (source.n > CEL_MAX_SOURCE) {
        (void)err_set(e, ERR_INVALID, "the expression is longer than %u bytes", CEL_MAX_SOURCE);
        return NULL;
    }
    *prog = (struct cel_program){.n_names = n_names, .n_slots = n_names, .used = arena_new_array(a, bool, n_names)};
    prog->names = arena_dup_array(a, const char *, names, n_names);
    struct cel_node *root = next(&p) ? parse_expr(&p) : NULL;
    if (root && p.t.kind != TOKEN_END)
        root = unexpected(&p);
    vec_fini(&p.locals);
    prog->root = root;
    return root ? prog : NULL;
}

bool cel_uses(const struct cel_program *p, const char *name)
{
    for (uint32_t i = 0; i < p->n_names; i++)
        if (str_is(str_c(p->names[i]), name))
            return p->used[i];
    return false;
}
