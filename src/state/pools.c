/* Which NodePools may be used: what the validation and readiness controllers would have said (scheduling 2.9, 2.10). */
#include "state/build.h"

static bool labels_are_valid(const struct build *b, const struct claim_template *t, struct err *e)
{
    const struct label_rules *rules = &b->s->catalog->rules;
    uint32_t n;
    const struct label *l = lset_get(b->syms, t->labels, &n);

    for (uint32_t i = 0; i < n; i++) {
        str key = sym_str(b->syms, l[i].key), val = sym_str(b->syms, l[i].val);

        if (!label_is_qualified_name(key))
            return err_set(e, ERR_INVALID, "label \"" STR_FMT "\" is not a qualified name", STR_ARG(key));
        if (!label_is_value(val))
            return err_set(e, ERR_INVALID, "label " STR_FMT " has the invalid value \"" STR_FMT "\"", STR_ARG(key),
                           STR_ARG(val));
        if (sym_eq(l[i].key, SYM(NP)) || label_is_restricted(rules, b->syms, l[i].key))
            return err_set(e, ERR_INVALID, "label " STR_FMT " is restricted", STR_ARG(key));
    }
    return true;
}

static const struct taint *taint_at(const struct claim_template *t, uint32_t i)
{
    return i < t->taints.n ? &t->taints.v[i] : &t->startup_taints.v[i - t->taints.n];
}

/* Taints and startup taints count together: no key and effect may occur twice. */
static bool taints_are_valid(const struct build *b, const struct claim_template *t, struct err *e)
{
    uint32_t n = t->taints.n + t->startup_taints.n;

    for (uint32_t i = 0; i < n; i++) {
        const struct taint *x = taint_at(t, i);
        str key = sym_str(b->syms, x->key), val = sym_str(b->syms, x->value);

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

static bool requirements_are_valid(const struct build *b, const struct claim_template *t, struct err *e)
{
    for (uint32_t i = 0; i < t->n_requirements; i++) {
        if (sym_eq(t->requirements[i].key, SYM(NP)))
            return err_set(e, ERR_INVALID, "a requirement on karpenter.sh/nodepool is not allowed");
        if (!req_expr_validate(&b->s->catalog->rules, b->syms, &t->requirements[i], e))
            return false;
    }
    return true;
}

/* A class that is not in the input, or says nothing about itself, is taken for ready. */
static const char *class_obstacle(const struct nodeclass *c)
{
    if (!c)
        return NULL;
    if (c->deleting)
        return "is being deleted";
    return c->ready == COND_FALSE || c->ready == COND_UNKNOWN ? "is not ready" : NULL;
}

void build_pools(struct build *b)
{
    for (uint32_t i = 0; i < b->s->n_pools; i++) {
        struct nodepool *p = &b->s->pools[i];
        struct err e = {0};

        if (!labels_are_valid(b, &p->tmpl, &e) || !taints_are_valid(b, &p->tmpl, &e) ||
            !requirements_are_valid(b, &p->tmpl, &e)) {
            p->ready = COND_FALSE;
            if (b->o)
                objects_note(b->o, "NodePool " STR_FMT ": not used: %s", STR_ARG(p->name), e.msg);
            continue;
        }
        const char *why = class_obstacle(nodeclass_find(b->s->node_classes, b->s->n_node_classes, &p->tmpl.class_ref));
        if (!why)
            continue;
        p->ready = COND_FALSE;
        if (b->o)
            objects_note(b->o, "NodePool " STR_FMT ": not used: " STR_FMT " " STR_FMT " %s", STR_ARG(p->name),
                         STR_ARG(p->tmpl.class_ref.kind), STR_ARG(p->tmpl.class_ref.name), why);
    }
}
