/* Walks the nodes. An evaluation that fails leaves its sentence in r->e; && and || go on when the other side decides.
 *
 * Frames are kept small, for expressions are evaluated on the small stacks of fibers too.
 */
#include <math.h>
#include <stdarg.h>
#include <stdio.h>

#include "base/vec.h"
#include "model/cel_impl.h"

static bool eval(struct cel_run *r, const struct cel_node *n, struct cel_value *ret);

bool cel_fail(struct cel_run *r, const char *fmt, ...)
{
    va_list ap;

    *r->e = (struct err){.kind = ERR_INVALID};
    va_start(ap, fmt);
    (void)vsnprintf(r->e->msg, sizeof(r->e->msg), fmt, ap);
    va_end(ap);
    return false;
}

bool cel_no_overload(struct cel_run *r)
{
    *r->e = (struct err){.kind = ERR_INVALID, .code = CEL_NO_OVERLOAD, .msg = "no such overload"};
    return false;
}

bool cel_charge(struct cel_run *r, uint64_t steps)
{
    r->steps += MIN(steps, (uint64_t)CEL_MAX_STEPS + 1);
    return r->steps <= CEL_MAX_STEPS || cel_fail(r, "operation cancelled: actual cost limit exceeded");
}

static bool out_of_steps(const struct cel_run *r)
{
    return r->steps > CEL_MAX_STEPS;
}

static bool eval_binary(struct cel_run *r, const struct cel_node *n, struct cel_value *ret)
{
    struct cel_value a, b;

    return eval(r, n->args[0], &a) && eval(r, n->args[1], &b) && cel_operate(r, n->binary, &a, &b, ret);
}

/* ---- logic ---- */

/* An error is forgotten when another side decides: false && error is false, whichever comes first. */
static bool eval_logic(struct cel_run *r, const struct cel_node *n, struct cel_value *ret)
{
    bool decides = n->op == NODE_OR, failed = false;
    struct cel_value v;

    for (uint32_t i = 0; i < n->n_args; i++) {
        bool ok = eval(r, n->args[i], &v);

        if (out_of_steps(r))
            return false;
        if (ok && v.kind == CEL_BOOL && v.b == decides) {
            *ret = v;
            return true;
        }
        if (ok && v.kind != CEL_BOOL)
            ok = cel_no_overload(r);
        failed |= !ok;
    }
    *ret = cel_bool(!decides);
    return !failed;
}

static bool eval_choice(struct cel_run *r, const struct cel_node *n, struct cel_value *ret)
{
    if (!eval(r, n->args[0], ret))
        return false;
    if (ret->kind != CEL_BOOL)
        return cel_no_overload(r);
    return eval(r, n->args[ret->b ? 1 : 2], ret);
}

static bool eval_not(struct cel_run *r, const struct cel_node *n, struct cel_value *ret)
{
    if (!eval(r, n->args[0], ret))
        return false;
    if (ret->kind != CEL_BOOL)
        return cel_no_overload(r);
    ret->b = !ret->b;
    return true;
}

static bool eval_negate(struct cel_run *r, const struct cel_node *n, struct cel_value *ret)
{
    if (!eval(r, n->args[0], ret))
        return false;
    if (ret->kind == CEL_DOUBLE)
        ret->d = -ret->d;
    else if ((ret->kind == CEL_INT || ret->kind == CEL_DURATION) && ret->i != INT64_MIN)
        ret->i = -ret->i;
    else
        return ret->kind == CEL_INT ? cel_fail(r, "integer overflow") : cel_no_overload(r);
    return true;
}

/* ---- members ---- */

/* What an optional holds; false with none in *ret when it holds nothing. Anything else is itself. */
static bool unwrap(struct cel_value *v)
{
    if (v->kind != CEL_OPTIONAL)
        return true;
    if (v->n == 0)
        return false;
    *v = v->items[0];
    return true;
}

static bool eval_select(struct cel_run *r, const struct cel_node *n, struct cel_value *ret)
{
    struct cel_value key = cel_str(n->name);

    if (!eval(r, n->args[0], ret))
        return false;
    bool optional = n->optional || ret->kind == CEL_OPTIONAL;
    const struct cel_value *found = NULL;
    if (unwrap(ret)) {
        if (ret->kind != CEL_MAP)
            return cel_no_overload(r);
        found = cel_map_get(ret, &key);
    }
    if (n->op == NODE_HAS)
        *ret = cel_bool(found != NULL);
    else if (optional)
        *ret = found ? cel_some(r->a, *found) : cel_none();
    else if (found)
        *ret = *found;
    else
        return cel_fail(r, "no such key: " STR_FMT, STR_ARG(n->name));
    return true;
}

static bool whole_index(const struct cel_value *v, int64_t *ret)
{
    if (v->kind == CEL_INT)
        *ret = v->i;
    else if (v->kind == CEL_UINT && v->u <= INT64_MAX)
        *ret = (int64_t)v->u;
    else if (v->kind == CEL_DOUBLE && v->d == floor(v->d) && fabs(v->d) < 9e15)
        *ret = (int64_t)v->d;
    else
        return false;
    return true;
}

static bool missing_key(struct cel_run *r, const struct cel_value *key)
{
    struct cel_value text;

    if (!cel_to_string(r, key, &text))
        return cel_no_overload(r);
    return cel_fail(r, "no such key: %.*s", (int)MIN(text.s.n, (size_t)200), text.s.p);
}

static bool eval_index(struct cel_run *r, const struct cel_node *n, struct cel_value *ret)
{
    struct cel_value key;
    const struct cel_value *found = NULL;
    int64_t at = -1;

    if (!eval(r, n->args[0], ret) || !eval(r, n->args[1], &key))
        return false;
    bool optional = n->optional || ret->kind == CEL_OPTIONAL, there = unwrap(ret), list = ret->kind == CEL_LIST;
    if (there && list) {
        if (!whole_index(&key, &at))
            return cel_no_overload(r);
        found = at >= 0 && at < ret->n ? &ret->items[at] : NULL;
    } else if (there && ret->kind == CEL_MAP)
        found = cel_map_get(ret, &key);
    else if (there)
        return cel_no_overload(r);
    if (!optional && !found)
        return list ? cel_fail(r, "index out of bounds: %lld", (long long)at) : missing_key(r, &key);
    if (optional)
        *ret = found ? cel_some(r->a, *found) : cel_none();
    else
        *ret = *found;
    return true;
}

/* ---- literals ---- */

/* *ret_skip: the member was marked as optional and is none. */
static bool eval_member(struct cel_run *r, const struct cel_node *n, bool optional, struct cel_value *ret,
                        bool *ret_skip)
{
    *ret_skip = false;
    if (!eval(r, n, ret))
        return false;
    if (!optional)
        return true;
    if (ret->kind != CEL_OPTIONAL)
        return cel_no_overload(r);
    *ret_skip = !unwrap(ret);
    return true;
}

static bool eval_list(struct cel_run *r, const struct cel_node *n, struct cel_value *ret)
{
    struct cel_value *items = arena_new_array(r->a, struct cel_value, n->n_args);
    uint32_t count = 0;
    bool skip;

    for (uint32_t i = 0; i < n->n_args; i++) {
        if (!eval_member(r, n->args[i], n->optional_args[i], &items[count], &skip))
            return false;
        count += !skip;
    }
    *ret = cel_list(items, count);
    return true;
}

static bool valid_key(const struct cel_value *k)
{
    return k->kind == CEL_STRING || k->kind == CEL_INT || k->kind == CEL_UINT || k->kind == CEL_BOOL;
}

static bool eval_map(struct cel_run *r, const struct cel_node *n, struct cel_value *ret)
{
    uint32_t pairs = n->n_args / 2;
    struct cel_value map = {.kind = CEL_MAP};
    bool skip;

    map.keys = arena_new_array(r->a, struct cel_value, pairs);
    map.items = arena_new_array(r->a, struct cel_value, pairs);
    for (uint32_t i = 0; i < pairs; i++) {
        struct cel_value *key = &map.keys[map.n];

        if (!eval(r, n->args[2 * i], key) ||
            !eval_member(r, n->args[2 * i + 1], n->optional_args[i], &map.items[map.n], &skip))
            return false;
        if (!valid_key(key))
            return cel_fail(r, "unsupported key type");
        if (cel_map_get(&map, key))
            return cel_fail(r, "Failed with repeated key");
        map.n += !skip;
    }
    *ret = map;
    return true;
}

/* ---- macros ---- */

/* What a macro has gathered. */
struct gathered {
    struct cel_value *items, *keys;
    uint32_t n, matches;
    bool failed;
};

/* One round's body; false on an error that nothing can make good. */
static bool eval_predicate(struct cel_run *r, const struct cel_node *n, bool *ret)
{
    struct cel_value v;

    if (!eval(r, n, &v))
        return false;
    if (v.kind != CEL_BOOL)
        return cel_no_overload(r);
    *ret = v.b;
    return true;
}

static bool gather(struct cel_run *r, const struct cel_node *n, const struct cel_value *member,
                   const struct cel_value *key, struct gathered *g)
{
    bool take = true;

    if (n->macro == MACRO_FILTER) {
        if (!eval_predicate(r, n->args[1], &take))
            return false;
        if (take)
            g->items[g->n++] = *member;
        return true;
    }
    if (n->args[2] && !eval_predicate(r, n->args[2], &take))
        return false;
    if (!take)
        return true;
    if (g->keys)
        g->keys[g->n] = *key;
    return eval(r, n->args[1], &g->items[g->n++]);
}

/* One member. *ret_stop: the rest does not matter. */
static bool macro_round(struct cel_run *r, const struct cel_node *n, const struct cel_value *member,
                        const struct cel_value *key, struct gathered *g, bool *ret_stop)
{
    bool yes = false;

    switch (n->macro) {
    case MACRO_ALL:
    case MACRO_EXISTS:
        if (!eval_predicate(r, n->args[1], &yes))
            g->failed = true;
        else if (yes == (n->macro == MACRO_EXISTS)) {
            g->matches = 1;
            *ret_stop = true;
        }
        return !out_of_steps(r);
    case MACRO_EXISTS_ONE:
        if (!eval_predicate(r, n->args[1], &yes))
            return false;
        g->matches += yes;
        return true;
    case MACRO_FILTER:
    case MACRO_MAP:
    case MACRO_TRANSFORM_MAP:
        return gather(r, n, member, key, g);
    case MACRO_OPT_MAP:
    case MACRO_OPT_FLAT_MAP:
        break;
    }
    return false;
}

static bool macro_result(const struct cel_node *n, const struct gathered *g, struct cel_value *ret)
{
    switch (n->macro) {
    case MACRO_ALL:
        *ret = cel_bool(g->matches == 0);
        return g->matches || !g->failed;
    case MACRO_EXISTS:
        *ret = cel_bool(g->matches == 1);
        return g->matches || !g->failed;
    case MACRO_EXISTS_ONE:
        *ret = cel_bool(g->matches == 1);
        return true;
    case MACRO_FILTER:
    case MACRO_MAP:
        *ret = cel_list(g->items, g->n);
        return true;
    case MACRO_TRANSFORM_MAP:
        *ret = (struct cel_value){.kind = CEL_MAP, .n = g->n, .items = g->items, .keys = g->keys};
        return true;
    case MACRO_OPT_MAP:
    case MACRO_OPT_FLAT_MAP:
        break;
    }
    return false;
}

/* With one variable it goes over the members of a list or the keys of a map; with two, over index and member, or key and value. */
static bool eval_loop(struct cel_run *r, const struct cel_node *n, const struct cel_value *range, struct cel_value *ret)
{
    struct gathered g = {0};
    bool stop = false, gathers = n->macro >= MACRO_FILTER;

    if (range->kind != CEL_LIST && range->kind != CEL_MAP)
        return cel_no_overload(r);
    if (gathers)
        g.items = arena_new_array(r->a, struct cel_value, range->n);
    if (n->macro == MACRO_TRANSFORM_MAP)
        g.keys = arena_new_array(r->a, struct cel_value, range->n);
    for (uint32_t i = 0; i < range->n && !stop; i++) {
        struct cel_value key = range->kind == CEL_MAP ? range->keys[i] : cel_int(i);

        if (!cel_charge(r, 1))
            return false;
        r->vars[n->slot] = n->n_vars == 2 || range->kind == CEL_MAP ? key : range->items[i];
        if (n->n_vars == 2)
            r->vars[n->slot + 1] = range->items[i];
        struct cel_value member = r->vars[n->slot];
        if (!macro_round(r, n, &member, &key, &g, &stop))
            return false;
    }
    return macro_result(n, &g, ret);
}

static bool eval_macro(struct cel_run *r, const struct cel_node *n, struct cel_value *ret)
{
    struct cel_value range;

    if (!eval(r, n->args[0], &range))
        return false;
    if (n->macro != MACRO_OPT_MAP && n->macro != MACRO_OPT_FLAT_MAP)
        return eval_loop(r, n, &range, ret);
    if (range.kind != CEL_OPTIONAL)
        return cel_no_overload(r);
    if (range.n == 0) {
        *ret = range;
        return true;
    }
    r->vars[n->slot] = range.items[0];
    if (!eval(r, n->args[1], ret))
        return false;
    if (n->macro == MACRO_OPT_MAP)
        *ret = cel_some(r->a, *ret);
    return ret->kind == CEL_OPTIONAL || cel_no_overload(r);
}

static bool eval_bind(struct cel_run *r, const struct cel_node *n, struct cel_value *ret)
{
    struct cel_value v;

    if (!eval(r, n->args[0], &v))
        return false;
    r->vars[n->slot] = v;
    return eval(r, n->args[1], ret);
}

/* ---- calls ---- */

static bool eval_call(struct cel_run *r, const struct cel_node *n, struct cel_value *ret)
{
    struct cel_value few[4], *args = few;

    if (n->n_args > ARRAY_LEN(few))
        args = arena_new_array(r->a, struct cel_value, n->n_args);
    for (uint32_t i = 0; i < n->n_args; i++)
        if (!eval(r, n->args[i], &args[i]))
            return false;
    r->regex = n->regex;
    return n->fn->call(r, args, n->n_args, ret);
}

static bool eval(struct cel_run *r, const struct cel_node *n, struct cel_value *ret)
{
    if (!cel_charge(r, 1))
        return false;
    switch (n->op) {
    case NODE_CONST:
        *ret = *n->value;
        return true;
    case NODE_VAR:
        *ret = r->vars[n->slot];
        return true;
    case NODE_SELECT:
    case NODE_HAS:
        return eval_select(r, n, ret);
    case NODE_INDEX:
        return eval_index(r, n, ret);
    case NODE_CALL:
        return eval_call(r, n, ret);
    case NODE_NOT:
        return eval_not(r, n, ret);
    case NODE_NEGATE:
        return eval_negate(r, n, ret);
    case NODE_AND:
    case NODE_OR:
        return eval_logic(r, n, ret);
    case NODE_CHOICE:
        return eval_choice(r, n, ret);
    case NODE_BINARY:
        return eval_binary(r, n, ret);
    case NODE_LIST:
        return eval_list(r, n, ret);
    case NODE_MAP:
        return eval_map(r, n, ret);
    case NODE_MACRO:
        return eval_macro(r, n, ret);
    case NODE_BIND:
        return eval_bind(r, n, ret);
    }
    return false;
}

bool cel_eval(const struct cel_program *p, struct arena *a, const struct cel_value *vars, struct cel_value *ret,
              struct err *e)
{
    struct cel_run r = {.a = a, .e = e, .vars = arena_new_array(a, struct cel_value, p->n_slots)};
    struct cel_value v;

    for (uint32_t i = 0; i < p->n_names; i++)
        r.vars[i] = vars[i];
    if (!eval(&r, p->root, &v))
        return false;
    *ret = v;
    return true;
}
