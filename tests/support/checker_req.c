/* Requirements as sets of strings (spec: scheduling 3), taints, selectors and ports (6), written for clarity: callers
 * remember verdicts per kind of pod, so nothing here needs to be fast. */
#include "checker_int.h"

str key_normal(str key)
{
    static const struct {
        str from, to;
    } alias[] = {
        {STR_INIT("failure-domain.beta.kubernetes.io/zone"), STR_INIT(K_ZONE)},
        {STR_INIT("failure-domain.beta.kubernetes.io/region"), STR_INIT("topology.kubernetes.io/region")},
        {STR_INIT("beta.kubernetes.io/arch"), STR_INIT(K_ARCH)},
        {STR_INIT("beta.kubernetes.io/os"), STR_INIT(K_OS)},
        {STR_INIT("beta.kubernetes.io/instance-type"), STR_INIT(K_ITYPE)},
    };

    for (size_t i = 0; i < ARRAY_LEN(alias); i++)
        if (str_eq(key, alias[i].from))
            return alias[i].to;
    return key;
}

void well_known_add(struct checker *c, str key)
{
    if (!well_known(c, key))
        vec_push(&c->well_known, keep(c, key));
}

bool well_known(const struct checker *c, str key)
{
    for (uint32_t i = 0; i < c->well_known.n; i++)
        if (str_eq(c->well_known.v[i], key))
            return true;
    return false;
}

static bool listed(const str *vals, uint32_t n, str v)
{
    for (uint32_t i = 0; i < n; i++)
        if (str_eq(vals[i], v))
            return true;
    return false;
}

static bool inside(str v, int64_t gte, int64_t lte)
{
    int64_t i;

    if (gte == INT64_MIN && lte == INT64_MAX)
        return true;
    return str_to_i64(v, &i) && i >= gte && i <= lte;
}

struct creq creq_make(struct checker *c, str key, str op, const struct tree *values)
{
    struct creq r = {.key = keep(c, key_normal(key)), .gte = INT64_MIN, .lte = INT64_MAX};
    int64_t bound = 0;

    if (values && values->kind == TREE_LIST && values->n > 0)
        (void)str_to_i64(tree_scalar(&values->items[0]), &bound);
    if (str_is(op, "Gt") || str_is(op, "Gte")) {
        r.open = true;
        r.gte = str_is(op, "Gt") ? sat_add(bound, 1) : bound;
    } else if (str_is(op, "Lt") || str_is(op, "Lte")) {
        r.open = true;
        r.lte = str_is(op, "Lt") ? sat_sub(bound, 1) : bound;
    } else {
        r.open = str_is(op, "NotIn") || str_is(op, "Exists");
        if ((str_is(op, "In") || str_is(op, "NotIn") || op.n == 0) && values && values->kind == TREE_LIST) {
            r.vals = arena_new_array(c->a, str, values->n + 1);
            for (uint32_t i = 0; i < values->n; i++)
                if (values->n > 64 || !listed(r.vals, r.n_vals, tree_scalar(&values->items[i])))
                    r.vals[r.n_vals++] = keep(c, tree_scalar(&values->items[i]));
        }
    }
    return r;
}

struct creq creq_in(struct checker *c, str key, str value)
{
    struct creq r = {.key = keep(c, key_normal(key)), .gte = INT64_MIN, .lte = INT64_MAX, .n_vals = 1};

    r.vals = arena_new_one(c->a, str);
    r.vals[0] = keep(c, value);
    return r;
}

bool creq_has(const struct creq *r, str v)
{
    return listed(r->vals, r->n_vals, v) != r->open && inside(v, r->gte, r->lte);
}

static struct creq intersect(struct checker *c, const struct creq *a, const struct creq *b)
{
    struct creq r = {.key = a->key,
                     .open = a->open && b->open,
                     .gte = MAX(a->gte, b->gte),
                     .lte = MIN(a->lte, b->lte),
                     .min_values = MAX(a->min_values, b->min_values)};

    if (r.gte > r.lte) {
        r.open = false;
        r.gte = INT64_MIN;
        r.lte = INT64_MAX;
        return r;
    }
    r.vals = arena_new_array(c->a, str, a->n_vals + b->n_vals + 1);
    for (uint32_t i = 0; i < a->n_vals; i++)
        if ((r.open || (a->open ? false : creq_has(b, a->vals[i]))) && inside(a->vals[i], r.gte, r.lte))
            r.vals[r.n_vals++] = a->vals[i];
    for (uint32_t i = 0; i < b->n_vals; i++)
        if ((r.open || (!b->open && creq_has(a, b->vals[i]))) && inside(b->vals[i], r.gte, r.lte) &&
            !listed(r.vals, r.n_vals, b->vals[i]))
            r.vals[r.n_vals++] = b->vals[i];
    if (!r.open) {
        r.gte = INT64_MIN;
        r.lte = INT64_MAX;
    }
    return r;
}

static bool req_meet(const struct creq *a, const struct creq *b)
{
    int64_t gte = MAX(a->gte, b->gte), lte = MIN(a->lte, b->lte);

    if (gte > lte)
        return false;
    if (a->open && b->open)
        return true;
    const struct creq *closed = a->open ? b : a, *other = a->open ? a : b;
    for (uint32_t i = 0; i < closed->n_vals; i++)
        if (creq_has(other, closed->vals[i]) && inside(closed->vals[i], gte, lte))
            return true;
    return false;
}

/* NotIn or DoesNotExist: content with a node that lacks the label. */
static bool accepts_absence(const struct creq *r)
{
    return r->open ? r->n_vals > 0 : r->n_vals == 0;
}

const struct creq *creqs_get(const struct creqs *s, str key)
{
    for (uint32_t i = 0; i < s->n; i++)
        if (str_eq(s->v[i].key, key))
            return &s->v[i];
    return NULL;
}

void creqs_add(struct checker *c, struct creqs *s, struct creq r)
{
    for (uint32_t i = 0; i < s->n; i++)
        if (str_eq(s->v[i].key, r.key)) {
            s->v[i] = intersect(c, &s->v[i], &r);
            return;
        }
    if ((s->n & (s->n - 1)) == 0) { /* full at every power of two */
        struct creq *v = arena_new_array(c->a, struct creq, s->n ? 2 * s->n : 1);

        if (s->n)
            memcpy(v, s->v, s->n * sizeof(*v));
        s->v = v;
    }
    s->v[s->n++] = r;
}

struct creqs creqs_copy(struct checker *c, const struct creqs *s)
{
    struct creqs out = {0};

    for (uint32_t i = 0; i < s->n; i++)
        creqs_add(c, &out, s->v[i]);
    return out;
}

struct creqs creqs_of_labels(struct checker *c, const struct clabels *l)
{
    struct creqs out = {0};

    for (uint32_t i = 0; i < l->n; i++)
        creqs_add(c, &out, creq_in(c, l->v[i].key, l->v[i].value));
    return out;
}

struct creqs creqs_of_list(struct checker *c, const struct tree *exprs)
{
    struct creqs out = {0};

    for (uint32_t i = 0; exprs && exprs->kind == TREE_LIST && i < exprs->n; i++) {
        const struct tree *x = &exprs->items[i];
        struct creq r =
            creq_make(c, tree_str(tree_get(x, "key")), tree_str(tree_get(x, "operator")), tree_get(x, "values"));

        (void)str_to_i64(tree_scalar(tree_get(x, "minValues")), &r.min_values);
        creqs_add(c, &out, r);
    }
    return out;
}

bool creqs_meet(const struct creqs *have, const struct creqs *want, str *ret_key)
{
    for (uint32_t i = 0; i < want->n; i++) {
        const struct creq *w = &want->v[i], *h = creqs_get(have, w->key);

        if (!h || req_meet(h, w) || (accepts_absence(w) && accepts_absence(h)))
            continue;
        *ret_key = w->key;
        return false;
    }
    return true;
}

bool creqs_compatible(const struct checker *c, const struct creqs *have, const struct creqs *want, bool lenient,
                      str *ret_key)
{
    for (uint32_t i = 0; i < want->n; i++) {
        const struct creq *w = &want->v[i];

        if ((lenient && well_known(c, w->key)) || creqs_get(have, w->key) || accepts_absence(w))
            continue;
        *ret_key = w->key;
        return false;
    }
    return creqs_meet(have, want, ret_key);
}

/* Printed requirements lose the exclusions of bounded sets, so of an open set only the bounds can be compared. */
bool creq_within(const struct creq *have, const struct creq *want)
{
    if (have->open)
        return want->open && have->gte >= want->gte && have->lte <= want->lte;
    if (have->n_vals == 0)
        return accepts_absence(want);
    for (uint32_t i = 0; i < have->n_vals; i++)
        if (!creq_has(want, have->vals[i]))
            return false;
    return true;
}

/* quirk: a preference that contradicts a requirement turns the key into DoesNotExist instead of losing, so a node
 * without the label is accepted (scheduling 3.3); the pairs are tried for that. */
bool any_term(struct checker *c, const struct shape *s, const struct creqs *have,
              bool (*meets)(struct checker *c, const struct creqs *have, const struct creqs *term, str *ret_key),
              str *ret_key)
{
    str ignored;

    for (uint32_t t = 0; t < s->n_terms; t++)
        if (meets(c, have, &s->terms[t], ret_key))
            return true;
    for (uint32_t t = 0; t < s->n_terms; t++)
        for (uint32_t p = 0; p < s->n_preferred; p++) {
            struct creqs both = creqs_copy(c, &s->terms[t]);

            for (uint32_t i = 0; i < s->preferred[p].n; i++)
                creqs_add(c, &both, s->preferred[p].v[i]);
            if (meets(c, have, &both, &ignored))
                return true;
        }
    return false;
}

static bool tolerates_one(const struct ctoleration *t, const struct ctaint *taint)
{
    int64_t a, b;

    if ((t->effect.n && !str_eq(t->effect, taint->effect)) || (t->key.n && !str_eq(t->key, taint->key)))
        return false;
    if (str_is(t->op, "Exists"))
        return true;
    if (t->op.n == 0 || str_is(t->op, "Equal"))
        return str_eq(t->value, taint->value);
    if (!str_to_i64(t->value, &a) || !str_to_i64(taint->value, &b))
        return false;
    return str_is(t->op, "Lt") ? b < a : str_is(t->op, "Gt") ? b > a : false;
}

bool tolerates(const struct shape *s, const struct ctaints *t, bool hard_only, str *ret_key)
{
    for (uint32_t i = 0; i < t->n; i++) {
        bool ok = hard_only && str_is(t->v[i].effect, "PreferNoSchedule");

        for (uint32_t j = 0; j < s->n_tolerations && !ok; j++)
            ok = tolerates_one(&s->tolerations[j], &t->v[i]);
        if (!ok) {
            *ret_key = t->v[i].key;
            return false;
        }
    }
    return true;
}

bool selector_matches_object(const struct cselector *s, const struct clabels *l)
{
    if (s->nil)
        return false;
    for (uint32_t i = 0; i < s->n; i++) {
        str v = labels_get(l, s->v[i].key);

        if (v.p ? !creq_has(&s->v[i], v) : !accepts_absence(&s->v[i]))
            return false;
    }
    return true;
}

static bool any_address(str ip)
{
    return ip.n == 0 || str_is(ip, "0.0.0.0") || str_is(ip, "::");
}

bool ports_collide(const struct cport *a, const struct cport *b)
{
    return a->port == b->port && str_eq(a->proto, b->proto) &&
           (any_address(a->ip) || any_address(b->ip) || str_eq(a->ip, b->ip));
}
