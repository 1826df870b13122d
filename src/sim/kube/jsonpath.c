/* JSONPath as printer columns use it: names, indexes, [*], and filters that compare one field with a constant. */
#include "sim/kube/jsonpath.h"

#include "base/sb.h"

#define MAX_PATH 1024u
#define MAX_STEPS 64u

enum step_kind { STEP_NAME, STEP_INDEX, STEP_ALL, STEP_FILTER };

struct step {
    enum step_kind kind;
    str name;      /* STEP_NAME; STEP_FILTER: the path after '@' */
    int64_t index; /* STEP_INDEX; from the end when negative */
    enum { CMP_EXISTS, CMP_EQ, CMP_NE } cmp;
    str value; /* STEP_FILTER: the constant, unquoted */
};

struct path {
    struct step steps[MAX_STEPS];
    uint32_t n;
};

/* ---- reading ---- */

static bool read_name(struct arena *a, str *rest, struct step *ret)
{
    struct sb b = {0};
    size_t i = 0;

    for (; i < rest->n && rest->p[i] != '.' && rest->p[i] != '['; i++) {
        if (rest->p[i] == '\\' && i + 1 < rest->n)
            i++;
        sb_char(&b, rest->p[i]);
    }
    *rest = str_sub(*rest, i, rest->n);
    *ret = (struct step){.kind = STEP_NAME, .name = sb_dup(&b, a)};
    if (str_is(ret->name, "*"))
        ret->kind = STEP_ALL;
    sb_fini(&b);
    return ret->name.n > 0;
}

static str unquote(str s)
{
    if (s.n >= 2 && (s.p[0] == '"' || s.p[0] == '\'') && s.p[s.n - 1] == s.p[0])
        return str_sub(s, 1, s.n - 1);
    return s;
}

/* ?(@.type=="Ready") */
static bool read_filter(str in, struct step *ret)
{
    if (!str_starts(in, STR("?(")) || !str_ends(in, STR(")")))
        return false;
    in = str_trim(str_sub(in, 2, in.n - 1));
    if (in.n == 0 || in.p[0] != '@')
        return false;
    *ret = (struct step){.kind = STEP_FILTER, .name = str_trim(str_sub(in, 1, in.n))};
    for (size_t i = 1; i + 1 < in.n; i++) {
        if (in.p[i + 1] != '=' || (in.p[i] != '=' && in.p[i] != '!'))
            continue;
        ret->cmp = in.p[i] == '=' ? CMP_EQ : CMP_NE;
        ret->name = str_trim(str_sub(in, 1, i));
        ret->value = unquote(str_trim(str_sub(in, i + 2, in.n)));
        break;
    }
    return true;
}

/* Where a bracket closes: quotes may hold brackets, and filters may hold parentheses. */
static size_t closing(str s)
{
    char quote = 0;

    for (size_t i = 0; i < s.n; i++) {
        if (quote)
            quote = s.p[i] == quote ? 0 : quote;
        else if (s.p[i] == '"' || s.p[i] == '\'')
            quote = s.p[i];
        else if (s.p[i] == ']')
            return i;
    }
    return s.n;
}

static bool read_bracket(str *rest, struct step *ret)
{
    size_t end = closing(*rest);

    if (end == rest->n)
        return false;
    str in = str_trim(str_sub(*rest, 1, end));
    *rest = str_sub(*rest, end + 1, rest->n);
    if (str_is(in, "*")) {
        *ret = (struct step){.kind = STEP_ALL};
        return true;
    }
    if (in.n >= 2 && (in.p[0] == '\'' || in.p[0] == '"')) {
        *ret = (struct step){.kind = STEP_NAME, .name = unquote(in)};
        return true;
    }
    *ret = (struct step){.kind = STEP_INDEX};
    return str_to_i64(in, &ret->index) || read_filter(in, ret);
}

static bool read_path(struct arena *a, str text, struct path *ret)
{
    *ret = (struct path){0};
    if (text.n > MAX_PATH)
        return false;
    if (str_starts(text, STR("{")) && str_ends(text, STR("}")))
        text = str_sub(text, 1, text.n - 1);
    if (str_starts(text, STR("$")))
        text = str_sub(text, 1, text.n);
    while (text.n) {
        if (ret->n == MAX_STEPS)
            return false;
        struct step *s = &ret->steps[ret->n];
        bool dot = text.p[0] == '.', bracket = text.p[0] == '[';

        if (dot)
            text = str_sub(text, 1, text.n);
        if (text.n == 0)
            return ret->n == 0; /* "." alone is everything */
        if (bracket || text.p[0] == '[' ? !read_bracket(&text, s) : !read_name(a, &text, s))
            return false;
        ret->n++;
    }
    return true;
}

/* ---- walking ---- */

static const struct tree *walk(struct arena *a, const struct tree *t, const struct step *s, uint32_t n);

static bool passes(struct arena *a, const struct tree *item, const struct step *s)
{
    const struct tree *found = jsonpath_first(a, item, s->name);

    switch (s->cmp) {
    case CMP_EXISTS:
        return found != NULL;
    case CMP_EQ:
        return found && str_eq(tree_scalar(found), s->value);
    case CMP_NE:
        return found && !str_eq(tree_scalar(found), s->value);
    }
    return false;
}

static const struct tree *walk_each(struct arena *a, const struct tree *t, const struct step *s, uint32_t n)
{
    if (t->kind != TREE_LIST && t->kind != TREE_MAP)
        return NULL;
    for (uint32_t i = 0; i < t->n; i++) {
        if (s->kind == STEP_FILTER && !passes(a, &t->items[i], s))
            continue;
        const struct tree *found = walk(a, &t->items[i], s + 1, n - 1);
        if (found)
            return found;
    }
    return NULL;
}

static const struct tree *member(const struct tree *t, str name)
{
    for (uint32_t i = 0; t->kind == TREE_MAP && i < t->n; i++)
        if (str_eq(t->keys[i], name))
            return &t->items[i];
    return NULL;
}

static const struct tree *walk(struct arena *a, const struct tree *t, const struct step *s, uint32_t n)
{
    if (!t || t->kind == TREE_NULL)
        return NULL;
    if (n == 0)
        return t;
    switch (s->kind) {
    case STEP_NAME:
        return walk(a, member(t, s->name), s + 1, n - 1);
    case STEP_INDEX: {
        int64_t i = s->index < 0 ? s->index + (int64_t)t->n : s->index;

        return t->kind == TREE_LIST && i >= 0 && i < (int64_t)t->n ? walk(a, &t->items[i], s + 1, n - 1) : NULL;
    }
    case STEP_ALL:
    case STEP_FILTER:
        return walk_each(a, t, s, n);
    }
    return NULL;
}

const struct tree *jsonpath_first(struct arena *a, const struct tree *t, str path)
{
    struct path *p = arena_new_one(a, struct path);

    return read_path(a, path, p) ? walk(a, t, p->steps, p->n) : NULL;
}
