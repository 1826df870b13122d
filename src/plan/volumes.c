/* Where a pod's volumes let it run: alternatives, each a requirement set on the node (scheduling 15.1).
 *
 * They never become part of the pod's own requirements, so spread counting does not see them. */
#include "plan/problem.h"

/* Namespace and name of a claim as one key; `suffix` follows a dash when it is there. */
static str pvc_key(struct arena *a, sym ns, str name, str suffix)
{
    size_t n = sizeof(ns.v) + name.n + (suffix.n ? 1 + suffix.n : 0);
    char *p = arena_alloc(a, n, 1);

    memcpy(p, &ns.v, sizeof(ns.v));
    if (name.n)
        memcpy(p + sizeof(ns.v), name.p, name.n);
    if (suffix.n) {
        p[sizeof(ns.v) + name.n] = '-';
        memcpy(p + sizeof(ns.v) + name.n + 1, suffix.p, suffix.n);
    }
    return (str){p, n};
}

static void index_storage(struct problem *p)
{
    const struct snapshot *s = p->snap;

    if (p->pvc_ix.n || s->n_pvcs == 0)
        return;
    for (uint32_t i = 0; i < s->n_pvcs; i++)
        strmap_put(&p->pvc_ix, pvc_key(p->arena, s->pvcs[i].ns, s->pvcs[i].name, (str){0}), i);
    for (uint32_t i = 0; i < s->n_pvs; i++)
        strmap_put(&p->pv_ix, s->pvs[i].name, i);
    for (uint32_t i = 0; i < s->n_classes; i++)
        strmap_put(&p->sc_ix, s->classes[i].name, i);
}

const struct pvc *volume_claim(struct problem *p, const struct pod *pod, const struct pod_volume *v)
{
    index_storage(p);
    struct arena_mark m = arena_mark(p->scratch);
    str name = sym_str(p->snap->syms, v->name);
    str key =
        v->ephemeral ? pvc_key(p->scratch, pod->ns, pod->name, name) : pvc_key(p->scratch, pod->ns, name, (str){0});
    uint32_t ix = strmap_get(&p->pvc_ix, key);
    arena_rewind(p->scratch, m);
    return ix == MAP_NONE ? NULL : &p->snap->pvcs[ix];
}

/* A claim that is bound to a volume nobody has, or to one that does not know of any claim, or whose class is gone while it is unbound, tells nothing. */
static bool volume_is_known(const struct problem *p, const struct pvc *c)
{
    uint32_t pv;

    if (c->volume_name.n == 0)
        return c->storage_class.n == 0 || strmap_get(&p->sc_ix, c->storage_class) != MAP_NONE;
    pv = strmap_get(&p->pv_ix, c->volume_name);
    return pv != MAP_NONE && p->snap->pvs[pv].claimed;
}

str volume_driver(struct problem *p, const struct pvc *c)
{
    const struct snapshot *s = p->snap;

    if (c->volume_name.n) {
        uint32_t pv = strmap_get(&p->pv_ix, c->volume_name);

        return pv == MAP_NONE ? (str){0} : s->pvs[pv].driver;
    }
    uint32_t sc = c->storage_class.n ? strmap_get(&p->sc_ix, c->storage_class) : MAP_NONE;
    return sc == MAP_NONE ? (str){0} : csi_driver_of_provisioner(s->classes[sc].provisioner);
}

struct terms {
    const struct req_term *v;
    uint32_t n;
    bool local;
};

static struct terms claim_terms(struct problem *p, const struct pvc *c)
{
    const struct snapshot *s = p->snap;

    if (c->volume_name.n) {
        uint32_t pv = strmap_get(&p->pv_ix, c->volume_name);

        return pv == MAP_NONE ? (struct terms){0}
                              : (struct terms){s->pvs[pv].terms, s->pvs[pv].n_terms, s->pvs[pv].local};
    }
    uint32_t sc = c->storage_class.n ? strmap_get(&p->sc_ix, c->storage_class) : MAP_NONE;
    return sc == MAP_NONE ? (struct terms){0}
                          : (struct terms){s->classes[sc].topologies, s->classes[sc].n_topologies, false};
}

static bool expr_counts(const struct terms *t, const struct req_expr *x)
{
    return !(t->local && sym_eq(x->key, SYM(HOST))); /* a local volume's own node does not bind a new node */
}

void volumes_announce(struct problem *p, const struct pod *pod)
{
    for (uint32_t i = 0; i < pod->spec->n_volumes; i++) {
        const struct pvc *c = volume_claim(p, pod, &pod->spec->volumes[i]);
        struct terms t = c ? claim_terms(p, c) : (struct terms){0};

        for (uint32_t k = 0; k < t.n; k++)
            for (uint32_t x = 0; x < t.v[k].n; x++)
                if (expr_counts(&t, &t.v[k].exprs[x]))
                    reqspace_expr(&p->space, &t.v[k].exprs[x]);
    }
}

/* The alternatives of one volume as requirement sets; 0: it does not mind. */
static uint32_t term_sets(struct problem *p, const struct terms *t, uint32_t **ret)
{
    uint32_t n = 0;

    *ret = arena_new_array(p->scratch, uint32_t, t->n);
    for (uint32_t k = 0; k < t->n; k++) {
        uint32_t rs = RS_EMPTY;

        if (t->v[k].n == 0)
            continue;
        for (uint32_t x = 0; x < t->v[k].n; x++)
            if (expr_counts(t, &t->v[k].exprs[x]))
                rs = rs_add(&p->space, rs, req_of(&p->space, &t->v[k].exprs[x]));
        (*ret)[n++] = rs;
    }
    return n;
}

static uint32_t intern_alts(struct problem *p, const uint32_t *rs, uint32_t n)
{
    uint32_t ix = strmap_get(&p->vols_ix, (str){(const char *)rs, n * sizeof(*rs)});

    if (ix != MAP_NONE)
        return ix;
    const uint32_t *copy = arena_dup_array(p->arena, uint32_t, rs, n);
    strmap_put(&p->vols_ix, (str){(const char *)copy, n * sizeof(*copy)}, p->vols.n);
    vec_push(&p->vols, (struct vol_alts){copy, n});
    return p->vols.n - 1;
}

#define ALTS_MAX 4096 /* of the cross product; beyond that the first ones have to do */

bool volumes_of_pod(struct problem *p, const struct pod *pod, uint32_t *ret)
{
    uint32_t *alts = arena_new_array(p->scratch, uint32_t, 1), n = 1; /* one empty alternative */
    bool any = false;

    for (uint32_t i = 0; i < pod->spec->n_volumes; i++) {
        const struct pvc *c = volume_claim(p, pod, &pod->spec->volumes[i]);

        if (!c || !volume_is_known(p, c))
            return false;
        struct terms t = claim_terms(p, c);
        uint32_t *own, n_own = term_sets(p, &t, &own), kept = 0;

        if (n_own == 0)
            continue;
        any = true;
        uint32_t room = MIN(n * n_own, (uint32_t)ALTS_MAX);
        uint32_t *next = arena_new_array(p->scratch, uint32_t, room);
        for (int pass = 0; pass < 2 && kept == 0; pass++) /* all contradict: keep the contradictions, placing fails */
            for (uint32_t a = 0; a < n; a++)
                for (uint32_t b = 0; b < n_own && kept < room; b++)
                    if (pass == 1 || rs_compatible(&p->space, alts[a], own[b], COMPAT_INTERSECTS))
                        next[kept++] = rs_union(&p->space, alts[a], own[b]);
        alts = next;
        n = kept;
    }
    *ret = any ? intern_alts(p, alts, n) : NONE;
    arena_reset(p->scratch);
    return true;
}
