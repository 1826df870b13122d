/* What a NodePool's template must be beyond its schema (scheduling 2.9). */
#include "model/nodepool.h"

struct check {
    const struct label_rules *rules;
    const struct syms *syms;
};

static bool labels_are_valid(const struct check *c, const struct claim_template *t, struct err *e)
{
    uint32_t n;
    const struct label *l = lset_get(c->syms, t->labels, &n);

    for (uint32_t i = 0; i < n; i++) {
        str key = sym_str(c->syms, l[i].key), val = sym_str(c->syms, l[i].val);

        if (!label_is_qualified_name(key))
            return err_set(e, ERR_INVALID, "label \"" STR_FMT "\" is not a qualified name", STR_ARG(key));
        if (!label_is_value(val))
            return err_set(e, ERR_INVALID, "label " STR_FMT " has the invalid value \"" STR_FMT "\"", STR_ARG(key),
                           STR_ARG(val));
        if (sym_eq(l[i].key, SYM(NP)) || label_is_restricted(c->rules, c->syms, l[i].key))
            return err_set(e, ERR_INVALID, "label " STR_FMT " is restricted", STR_ARG(key));
    }
    return true;
}

static const struct taint *taint_at(const struct claim_template *t, uint32_t i)
{
    return i < t->taints.n ? &t->taints.v[i] : &t->startup_taints.v[i - t->taints.n];
}

/* Taints and startup taints count together: no key and effect may occur twice. */
static bool taints_are_valid(const struct check *c, const struct claim_template *t, struct err *e)
{
    uint32_t n = t->taints.n + t->startup_taints.n;

    for (uint32_t i = 0; i < n; i++) {
        const struct taint *x = taint_at(t, i);
        str key = sym_str(c->syms, x->key), val = sym_str(c->syms, x->value);

        if (!label_is_qualified_name(key))
            return err_set(e, ERR_INVALID, "taint \"" STR_FMT "\" is not a qualified name", STR_ARG(key));
        if (val.n && !label_is_qualified_name(val))
            return err_set(e, ERR_INVALID, "taint " STR_FMT " has the invalid value \"" STR_FMT "\"", STR_ARG(key),
                           STR_ARG(val));
        for (uint32_t j = 0; j < i; j++)
            if (taint_matches(taint_at(t, j), x))
                return err_set(e, ERR_INVALID, "taint " STR_FMT ":%s occurs twice", STR_ARG(key),
                               taint_effect_name(x->effect));
    }
    return true;
}

static bool requirements_are_valid(const struct check *c, const struct claim_template *t, struct err *e)
{
    for (uint32_t i = 0; i < t->n_requirements; i++) {
        if (sym_eq(t->requirements[i].key, SYM(NP)))
            return err_set(e, ERR_INVALID, "a requirement on karpenter.sh/nodepool is not allowed");
        if (!req_expr_validate(c->rules, c->syms, &t->requirements[i], e))
            return false;
    }
    return true;
}

bool claim_template_validate(const struct claim_template *t, const struct label_rules *rules, const struct syms *syms,
                             struct err *e)
{
    const struct check c = {rules, syms};

    return labels_are_valid(&c, t, e) && taints_are_valid(&c, t, e) && requirements_are_valid(&c, t, e);
}
