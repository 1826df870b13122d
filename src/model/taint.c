#include "model/taint.h"

static const char *const effect_names[] = {
    [EFFECT_NONE] = "",
    [EFFECT_NO_SCHEDULE] = "NoSchedule",
    [EFFECT_PREFER_NO_SCHEDULE] = "PreferNoSchedule",
    [EFFECT_NO_EXECUTE] = "NoExecute",
};

const char *taint_effect_name(enum taint_effect e)
{
    return effect_names[e];
}

bool taint_effect_parse(str s, enum taint_effect *ret)
{
    for (size_t i = 0; i < ARRAY_LEN(effect_names); i++)
        if (str_is(s, effect_names[i])) {
            *ret = (enum taint_effect)i;
            return true;
        }
    return false;
}

/* Canonical form only, as the API server demands it of Lt and Gt: no plus sign, no leading zero, no "-0". */
static bool strict_i64(str s, int64_t *ret)
{
    size_t first = s.n && s.p[0] == '-';

    if (s.n == first || s.p[0] == '+' || (s.p[first] == '0' && s.n > 1))
        return false;
    return str_to_i64(s, ret);
}

bool toleration_tolerates(const struct toleration *o, const struct taint *t, const struct syms *syms)
{
    int64_t limit, value;

    if (o->effect != EFFECT_NONE && o->effect != t->effect)
        return false;
    if (sym_some(o->key) && !sym_eq(o->key, t->key))
        return false;
    switch (o->op) {
    case TOL_EQUAL:
        return sym_eq(o->value, t->value);
    case TOL_EXISTS:
        return true;
    case TOL_LT:
    case TOL_GT:
        if (!strict_i64(sym_str(syms, o->value), &limit) || !strict_i64(sym_str(syms, t->value), &value))
            return false;
        return o->op == TOL_LT ? value < limit : value > limit;
    case TOL_UNKNOWN:
        return false;
    }
    return false;
}

static bool tolerated(const struct taint *t, const struct tolerations *o, const struct syms *syms)
{
    for (uint32_t i = 0; i < o->n; i++)
        if (toleration_tolerates(&o->v[i], t, syms))
            return true;
    return false;
}

const struct taint *taints_untolerated(const struct taints *t, const struct tolerations *o, const struct syms *syms)
{
    for (uint32_t i = 0; i < t->n; i++)
        if (!tolerated(&t->v[i], o, syms))
            return &t->v[i];
    return NULL;
}

bool taint_matches(const struct taint *a, const struct taint *b)
{
    return sym_eq(a->key, b->key) && a->effect == b->effect;
}

bool taint_is_ephemeral(const struct taint *t, const struct syms *syms)
{
    static const struct {
        const char *key;
        enum taint_effect effect;
    } known[] = {
        {"node.kubernetes.io/not-ready", EFFECT_NO_SCHEDULE},
        {"node.kubernetes.io/not-ready", EFFECT_NO_EXECUTE},
        {"node.kubernetes.io/unreachable", EFFECT_NO_SCHEDULE},
        {"node.cloudprovider.kubernetes.io/uninitialized", EFFECT_NO_SCHEDULE},
        {"karpenter.sh/unregistered", EFFECT_NO_EXECUTE},
    };
    str key = sym_str(syms, t->key);

    for (size_t i = 0; i < ARRAY_LEN(known); i++)
        if (t->effect == known[i].effect && str_is(key, known[i].key))
            return true;
    return str_starts(key, STR("readiness.k8s.io/"));
}
