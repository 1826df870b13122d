/* Quantities of any resource: exact down to nano, up to where the planner's own would overflow. */
#include "base/sb.h"
#include "model/quantity.h"
#include "sim/kube/rules/rule.h"

/* Small ones are counted in nano, as the planner counts cpu, large ones in milli. */
static bool read_amount(str text, int64_t *ret, sym *ret_unit, bool *ret_binary)
{
    struct err e;

    *ret_unit = SYM(CPU);
    if (quantity_parse(text, *ret_unit, ret, ret_binary, &e))
        return true;
    *ret_unit = SYM(MEMORY);
    return quantity_parse(text, *ret_unit, ret, ret_binary, &e);
}

bool amount_of(const struct tree *t, amount *ret)
{
    int64_t v;
    sym unit;
    bool binary;

    if (!t || (t->kind != TREE_STRING && t->kind != TREE_NUMBER) || !read_amount(t->text, &v, &unit, &binary))
        return false;
    *ret = sym_eq(unit, SYM(CPU)) ? v : (amount)v * 1000000;
    return true;
}

/* An exponent is kept as it was written: 1e3 stays 1e3. */
static bool has_exponent(str s)
{
    return s.n > 1 && s.p[s.n - 1] >= '0' && s.p[s.n - 1] <= '9' &&
           (str_contains(s, STR("e")) || str_contains(s, STR("E")));
}

str amount_text(struct arena *a, const struct tree *t)
{
    int64_t v;
    sym unit;
    bool binary;
    str text = tree_scalar(t);

    if (has_exponent(text) || !read_amount(text, &v, &unit, &binary))
        return text;
    struct sb b = {0};
    quantity_print(&b, unit, v, binary);
    str s = sb_dup(&b, a);
    sb_fini(&b);
    return s;
}

void amounts_canonical(struct arena *a, struct tree *map)
{
    for (uint32_t i = 0; map && map->kind == TREE_MAP && i < map->n; i++) {
        struct tree *t = &map->items[i];

        if (t->kind == TREE_STRING || t->kind == TREE_NUMBER)
            *t = tree_of_str(amount_text(a, t));
    }
}

void check_amount_not_negative(struct flaws *f, const struct at *at, const struct tree *v)
{
    amount n;

    if (amount_of(v, &n) && n < 0)
        flaw_invalid(f, at, json_quoted(f->a, amount_text(f->a, v)), "must be greater than or equal to 0");
}
