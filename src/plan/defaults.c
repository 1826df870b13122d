/* Spread constraints that the cluster's scheduler gives to pods without any (scheduling 19).
 *
 * The selector of such a constraint is deduced: from the Services that select the pod, and from its controller. */
#include "plan/problem.h"

static void merge_label(struct label *l, uint32_t *n, struct label add)
{
    for (uint32_t i = 0; i < *n; i++)
        if (sym_eq(l[i].key, add.key)) {
            l[i].val = add.val; /* the last one wins */
            return;
        }
    l[(*n)++] = add;
}

static bool selects_all(const struct problem *p, lset_id want, lset_id have)
{
    uint32_t n;
    const struct label *l = lset_get(p->snap->syms, want, &n);
    sym val;

    for (uint32_t i = 0; i < n; i++)
        if (!lset_value(p->snap->syms, have, l[i].key, &val) || !sym_eq(val, l[i].val))
            return false;
    return true;
}

static const struct controller *controller_of(const struct problem *p, const struct pod *pod)
{
    const struct snapshot *s = p->snap;

    for (uint32_t i = 0; i < s->n_controllers; i++) {
        const struct controller *c = &s->controllers[i];

        if (c->kind == pod->owner && sym_eq(c->ns, pod->ns) && sym_eq(c->name, pod->owner_name))
            return c;
    }
    return NULL;
}

static struct req_expr equals(struct problem *p, struct label l)
{
    sym *val = arena_new_one(p->arena, sym);

    *val = l.val;
    return (struct req_expr){.key = l.key, .op = OP_IN, .vals = val, .n_vals = 1};
}

/* The selector that tells a pod's own kind; not present when there is nothing to go by. */
static struct selector deduce(struct problem *p, const struct pod *pod)
{
    const struct snapshot *s = p->snap;
    const struct controller *c = controller_of(p, pod);
    uint32_t n = 0, room = c ? c->selector.n_exprs : 0;
    struct selector out = {0};

    for (uint32_t i = 0; i < s->n_services; i++) {
        uint32_t count;

        (void)lset_get(s->syms, s->services[i].selector, &count);
        room += count;
    }
    struct label *labels = arena_new_array(p->arena, struct label, room);
    for (uint32_t i = 0; i < s->n_services; i++) {
        const struct service *v = &s->services[i];
        uint32_t count;
        const struct label *l = lset_get(s->syms, v->selector, &count);

        if (!sym_eq(v->ns, pod->ns) || !v->has_selector || !selects_all(p, v->selector, pod->labels))
            continue;
        for (uint32_t k = 0; k < count; k++)
            merge_label(labels, &n, l[k]);
    }
    bool overwrites = c && c->kind == OWNER_RC, narrows = c && c->kind != OWNER_RC;
    for (uint32_t i = 0; overwrites && i < c->selector.n_exprs; i++)
        merge_label(labels, &n, (struct label){c->selector.exprs[i].key, c->selector.exprs[i].vals[0]});
    out.exprs = arena_new_array(p->arena, struct req_expr, room);
    for (uint32_t i = 0; i < n; i++)
        out.exprs[out.n_exprs++] = equals(p, labels[i]);
    out.n_labels = out.n_exprs;
    for (uint32_t i = 0; narrows && i < c->selector.n_exprs; i++)
        out.exprs[out.n_exprs++] = c->selector.exprs[i];
    out.present = out.n_exprs > 0;
    return out;
}

const struct podspec *defaults_apply(struct problem *p, const struct pod *pod, const struct podspec *spec)
{
    const struct settings *st = &p->snap->settings;
    struct {
        const struct podspec *spec;
        uint32_t ns, labels, owner, owner_name;
    } key = {spec, pod->ns.v, pod->labels.v, (uint32_t)pod->owner, pod->owner_name.v};
    str bytes = {(const char *)&key, sizeof(key)};

    if (spec->n_spreads)
        return spec; /* a pod with constraints of its own keeps just those */
    uint32_t ix = strmap_get(&p->defaulted_ix, bytes);
    if (ix != MAP_NONE)
        return p->defaulted.v[ix];
    const struct podspec *out = spec;
    struct selector selector = deduce(p, pod);
    if (selector.present) {
        struct podspec *own = arena_dup_array(p->arena, struct podspec, spec, 1);

        own->n_spreads = st->n_default_spreads;
        own->spreads = arena_dup_array(p->arena, struct spread, st->default_spreads, st->n_default_spreads);
        for (uint32_t i = 0; i < own->n_spreads; i++)
            own->spreads[i].selector = selector;
        out = own;
    }
    strmap_put(&p->defaulted_ix, arena_strdup(p->arena, bytes), p->defaulted.n);
    vec_push(&p->defaulted, out);
    return out;
}
