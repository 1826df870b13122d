/* Which NodeClaims are no longer what their NodePool asks for.
 *
 * A pool's hash is computed and its annotation not looked at: in a cluster the hash controller keeps the two equal, and
 * in a file somebody may have edited the spec and left the annotation alone. Claims whose annotation has another
 * version are moved to the current one by that controller and do not drift by it (lifecycle 5.2). */
#include <stdlib.h>

#include "disrupt/candidate.h"
#include "model/req.h"

#define HASH_VERSION "v3"

struct drift {
    const struct snapshot *s;
    struct arena *arena;
    struct u64map pool_of_sym, type_of_sym;
    str *hash;          /* [n_pools]: as the annotation would have it */
    uint32_t *required; /* [n_pools]: the pool's requirements in `space` */
    struct reqspace space;
    struct u64map set_of_labels; /* label set -> requirement set */
};

/* --- start ------------------------------------------------------------------------------------------------------------- */

static void announce_labels(struct drift *d, lset_id labels)
{
    uint32_t n;
    const struct label *l = lset_get(d->s->syms, labels, &n);

    if (u64map_get(&d->set_of_labels, labels.v) != MAP_NONE)
        return;
    u64map_put(&d->set_of_labels, labels.v, 0);
    for (uint32_t i = 0; i < n; i++)
        reqspace_value(&d->space, l[i].key, l[i].val);
}

static void compile_requirements(struct drift *d)
{
    const struct snapshot *s = d->s;

    reqspace_init(&d->space, d->arena, s->syms, &s->catalog->rules);
    for (uint32_t i = 0; i < s->n_pools; i++)
        for (uint32_t k = 0; k < s->pools[i].tmpl.n_requirements; k++)
            reqspace_expr(&d->space, &s->pools[i].tmpl.requirements[k]);
    for (uint32_t i = 0; i < s->n_nodes; i++)
        if (s->nodes[i].claim)
            announce_labels(d, s->nodes[i].claim->labels);
    reqspace_freeze(&d->space);
    u64map_clear(&d->set_of_labels);
    d->required = arena_new_array(d->arena, uint32_t, s->n_pools);
    for (uint32_t i = 0; i < s->n_pools; i++)
        d->required[i] = rs_of_exprs(&d->space, s->pools[i].tmpl.requirements, s->pools[i].tmpl.n_requirements);
}

struct drift *drift_new(const struct snapshot *s)
{
    struct drift *d = xcalloc(1, sizeof(*d));

    d->s = s;
    d->arena = arena_new(4096);
    d->hash = arena_new_array(d->arena, str, s->n_pools);
    for (uint32_t i = 0; i < s->n_pools; i++) {
        u64map_put(&d->pool_of_sym, s->pools[i].name_sym.v, i);
        d->hash[i] = arena_printf(d->arena, "%llu", (unsigned long long)nodepool_hash(&s->pools[i].tmpl, s->syms));
    }
    for (uint32_t i = 0; i < s->catalog->n; i++)
        u64map_put(&d->type_of_sym, s->catalog->types[i].name.v, i);
    compile_requirements(d);
    return d;
}

void drift_free(struct drift *d)
{
    if (!d)
        return;
    u64map_fini(&d->pool_of_sym);
    u64map_fini(&d->type_of_sym);
    u64map_fini(&d->set_of_labels);
    reqspace_fini(&d->space);
    arena_free(d->arena);
    free(d);
}

/* --- the four checks --------------------------------------------------------------------------------------------------- */

static str note_of(const struct nodeclaim *c, const char *key)
{
    return annotation_value(c->annotations, c->n_annotations, key);
}

static bool hash_differs(const struct drift *d, const struct nodeclaim *c, uint32_t pool)
{
    str hash = note_of(c, "karpenter.sh/nodepool-hash");

    return hash.n && str_is(note_of(c, "karpenter.sh/nodepool-hash-version"), HASH_VERSION) &&
           !str_eq(hash, d->hash[pool]);
}

/* quirk: labels alone are compared, so that a required key without a label is drift, unless the requirement could do
 * without (lifecycle 4.1.1 b). */
static bool requirements_differ(struct drift *d, const struct nodeclaim *c, uint32_t pool)
{
    uint32_t set = u64map_get(&d->set_of_labels, c->labels.v);

    if (set == MAP_NONE) {
        uint32_t n;
        const struct label *l = lset_get(d->s->syms, c->labels, &n);

        set = rs_of_labels(&d->space, l, n);
        u64map_put(&d->set_of_labels, c->labels.v, set);
    }
    return !rs_compatible(&d->space, set, d->required[pool], COMPAT_STRICT);
}

bool drift_by_requirements(const struct syms *t, const struct label_rules *rules, const struct claim_template *tmpl,
                           lset_id labels)
{
    AUTO(arena) struct arena *a = arena_new(4096);
    struct reqspace space;
    uint32_t n;
    const struct label *l = lset_get(t, labels, &n);

    reqspace_init(&space, a, t, rules);
    for (uint32_t i = 0; i < tmpl->n_requirements; i++)
        reqspace_expr(&space, &tmpl->requirements[i]);
    for (uint32_t i = 0; i < n; i++)
        reqspace_value(&space, l[i].key, l[i].val);
    reqspace_freeze(&space);
    bool drifted = !rs_compatible(&space, rs_of_labels(&space, l, n),
                                  rs_of_exprs(&space, tmpl->requirements, tmpl->n_requirements), COMPAT_STRICT);
    reqspace_fini(&space);
    return drifted;
}

static bool is_reservation_key(const struct syms *t, const struct label_rules *rules, sym key)
{
    return (sym_some(rules->reservation_id) && sym_eq(key, rules->reservation_id)) ||
           str_starts(sym_str(t, key), STR("karpenter.k8s.aws/capacity-reservation-"));
}

static bool lists(const struct req_expr *x, sym val)
{
    for (uint32_t i = 0; i < x->n_vals; i++)
        if (sym_eq(x->vals[i], val))
            return true;
    return false;
}

/* A reserved node may have outlived its reservation: then it goes on as an on-demand one. */
static bool offering_fits(const struct syms *t, const struct label_rules *rules, const struct offering *o,
                          lset_id labels, bool reserved)
{
    for (uint32_t i = 0; i < o->n_requirements; i++) {
        const struct req_expr *x = &o->requirements[i];
        sym val;

        if (reserved && is_reservation_key(t, rules, x->key))
            continue;
        if (!lset_value(t, labels, x->key, &val)) {
            if (x->op == OP_IN && !label_is_well_known(rules, x->key))
                return false;
            continue;
        }
        bool ok = x->op == OP_IN && lists(x, val);
        if (!ok && reserved && sym_eq(x->key, SYM(CT)))
            ok = lists(x, SYM(ON_DEMAND));
        if (!ok)
            return false;
    }
    return true;
}

static bool is_sold(const struct syms *t, const struct label_rules *rules, const struct itype *type, lset_id labels)
{
    sym ct;
    bool reserved = lset_value(t, labels, SYM(CT), &ct) && sym_eq(ct, SYM(RESERVED));

    for (uint32_t i = 0; i < type->n_offerings; i++)
        if (offering_fits(t, rules, &type->offerings[i], labels, reserved))
            return true;
    return false;
}

bool drift_by_type(const struct syms *t, const struct catalog *catalog, const struct nodeclaim *c)
{
    sym type;

    if (!lset_value(t, c->labels, SYM(ITYPE), &type))
        return true;
    for (uint32_t i = 0; i < catalog->n; i++)
        if (sym_eq(catalog->types[i].name, type))
            return !is_sold(t, &catalog->rules, &catalog->types[i], c->labels);
    return true;
}

static bool type_is_gone(const struct drift *d, const struct nodeclaim *c)
{
    const struct snapshot *s = d->s;
    sym type;

    if (sat_sub(s->now_ms, c->created_ms) <= DRIFT_TYPE_AFTER_MS)
        return false;
    if (!lset_value(s->syms, c->labels, SYM(ITYPE), &type))
        return true;
    uint32_t ix = u64map_get(&d->type_of_sym, type.v);
    return ix == MAP_NONE || !is_sold(s->syms, &s->catalog->rules, &s->catalog->types[ix], c->labels);
}

/* Both sides must say their hash, and in the same version. */
static bool class_differs(const struct drift *d, const struct nodeclaim *c, uint32_t pool)
{
    static const char hash[] = "karpenter.k8s.aws/ec2nodeclass-hash";
    static const char version[] = "karpenter.k8s.aws/ec2nodeclass-hash-version";
    const struct snapshot *s = d->s;
    const struct nodeclass *k = nodeclass_find(s->node_classes, s->n_node_classes, &s->pools[pool].tmpl.class_ref);

    if (!k || k->deleting)
        return false;
    str theirs = annotation_value(k->annotations, k->n_annotations, hash), ours = note_of(c, hash);
    str as = annotation_value(k->annotations, k->n_annotations, version);
    return theirs.n && ours.n && as.n && str_eq(as, note_of(c, version)) && !str_eq(theirs, ours);
}

str drift_reason(struct drift *d, uint32_t node)
{
    const struct nodeclaim *c = d->s->nodes[node].claim;
    sym name;

    if (!c || c->deleting || c->launched != COND_TRUE || !lset_value(d->s->syms, c->labels, SYM(NP), &name))
        return (str){0};
    uint32_t pool = u64map_get(&d->pool_of_sym, name.v);
    if (pool == MAP_NONE)
        return (str){0};
    if (hash_differs(d, c, pool))
        return STR("NodePoolDrifted");
    if (requirements_differ(d, c, pool))
        return STR("RequirementsDrifted");
    if (type_is_gone(d, c))
        return STR("InstanceTypeNotFound");
    return class_differs(d, c, pool) ? STR("NodeClassDrift") : (str){0};
}
