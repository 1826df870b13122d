/* What searching for a bin goes by: the seek class of a pod, and what the index is told of a bin (see seek.h). */
#include "plan/pack.h"

#define MAX_CLASSES 4096u

/* --- seek classes ------------------------------------------------------------------------------------------------- */

static void class_key(struct packer *k, const struct variant *v, struct sb *b)
{
    struct problem *p = &k->p;
    const struct shape *sh = &p->shapes.v[v->shape];
    const struct lclass *c = &p->classes.v[sh->lclass];

    key_u32(b, v->full);
    key_u32(b, v->strict);
    key_u32(b, v->tol_set);
    key_u32(b, sh->vols);
    for (uint32_t d = DIM_FIXED; d < p->n_dims; d++)
        sb_bytes(b, &sh->requests[d], sizeof(sh->requests[d]));
    key_u32(b, sh->spec->n_ports);
    for (uint32_t i = 0; i < sh->spec->n_ports; i++) {
        key_u32(b, sh->spec->ports[i].ip.v);
        key_u32(b, sh->spec->ports[i].proto.v);
        key_u32(b, sh->spec->ports[i].port);
    }
    key_u32(b, v->groups.n);
    for (uint32_t i = 0; i < v->groups.n; i++)
        key_u32(b, v->groups.v[i].group << 1 | v->groups.v[i].self);
    for (uint32_t i = 0; i < c->inverse.n; i++)
        key_u32(b, c->inverse.v[i]);
}

void variant_classify(struct packer *k, uint32_t variant)
{
    struct variant *v = &k->p.variants.v[variant];
    const struct shape *sh = &k->p.shapes.v[v->shape];
    const struct lclass *c = &k->p.classes.v[sh->lclass];
    struct sb b = {0};

    v->cls_known = true;
    for (uint32_t i = 0; i < v->groups.n; i++)
        v->has_host_rules |= k->topo.groups.v[v->groups.v[i].group].is_host;
    for (uint32_t i = 0; i < c->inverse.n; i++)
        v->has_host_rules |= k->topo.groups.v[c->inverse.v[i]].is_host;
    v->cls = NONE;
    if (sh->has_csi)
        return; /* pods of this shape differ in their volumes */
    if (sh->bare != NONE && !v->topology_ready)
        return; /* its groups are not known yet: what they refuse for good is not refused to those without them */
    class_key(k, v, &b);
    uint32_t cls = strmap_get(&k->classes, sb_view(&b));
    if (cls == MAP_NONE && k->classes.n < k->seek.class_words * 64) {
        cls = k->classes.n;
        strmap_put(&k->classes, sb_dup(&b, k->p.arena), cls);
    }
    v->cls = cls;
    sb_fini(&b);
}

/* How many classes relaxing might add: pods that share one relax alike, so shapes are counted once a class. */
static uint32_t relaxed_classes(const struct packer *k)
{
    uint64_t *seen = xcalloc(BITS_WORDS(k->classes.n) + 1, sizeof(*seen)), n = 0;

    for (uint32_t i = 0; i < k->p.shapes.n; i++) {
        const struct podspec *spec = k->p.shapes.v[i].spec;
        uint32_t cls = k->p.variants.v[k->p.shapes.v[i].variant].cls;

        if (cls == NONE || bit_test(seen, cls))
            continue;
        bit_set(seen, cls);
        n +=
            spec->n_preferred + spec->aff_preferred.n + spec->anti_preferred.n + spec->n_spreads + k->p.tolerate_prefer;
        n += spec->n_required > 1 ? spec->n_required - 1 : 0;
    }
    free(seen);
    return (uint32_t)MIN(n, MAX_CLASSES);
}

void classes_init(struct packer *k)
{
    k->seek.class_words = BITS_WORDS(MAX_CLASSES); /* for the time of counting */
    for (uint32_t i = 0; i < k->p.shapes.n; i++)
        variant_classify(k, k->p.shapes.v[i].variant);
    /* Relaxing makes more classes. Those that find no number any more are searched for without what was learnt. */
    k->seek.class_words = MAX(BITS_WORDS(MIN(k->classes.n + relaxed_classes(k), MAX_CLASSES)), 1u);
    k->class_refused = arena_new_array(k->p.arena, uint32_t, k->seek.class_words * 64);
    k->class_hopeless = arena_new_array(k->p.arena, uint32_t, k->seek.class_words * 64);
    k->class_tmpls = arena_new_array(k->p.arena, uint64_t, k->seek.class_words * 64);
}

/* --- what the index knows of a bin -------------------------------------------------------------------------------- */

#define UNSTATED (1ull << 63) /* set in a bin's mask, asked for by pods that do not care */

static uint64_t value_mask(const struct problem *p, uint32_t rs, uint32_t key)
{
    uint32_t req = rs_get(&p->space, rs, key);

    if (req == REQ_NONE || p->space.keys.v[key].n_vals > 63)
        return ~0ull;
    return p->space.reqs.v[req].allow[0] | UNSTATED;
}

uint64_t wanted_mask(struct packer *k, uint32_t variant, uint32_t key)
{
    if (!k->topo.any || k->p.space.keys.v[key].n_vals > 63)
        return ~0ull;
    uint64_t open = topology_open_values(&k->topo, variant, key);
    return open == ~0ull ? open : open & ~UNSTATED;
}

/* A claim only gets pickier than the template it came from, but for labels that nobody had defined (quirk,
 * scheduling 10): what the template refuses for another reason its claims refuse too. */
bool claims_may_take(struct packer *k, const struct tmpl *t, const struct variant *v)
{
    struct problem *p = &k->p;
    bool undefined;

    if (!t->usable || !problem_tolerates(p, v->tol_set, t->taint_set))
        return false;
    if (!rs_compatible(&p->space, t->rs, v->full, COMPAT_LENIENT))
        return rs_incompatible_key(&p->space, t->rs, v->full, COMPAT_LENIENT, &undefined) != KEY_NONE && undefined;
    return bits_meet(t->rows, rows_of_rs(p, rs_union(&p->space, t->rs, v->full)), p->row_words);
}

static uint64_t tmpl_bit(uint32_t tmpl)
{
    return 1ull << (tmpl % 64);
}

uint64_t wanted_tmpls(struct packer *k, uint32_t variant)
{
    const struct variant *v = &k->p.variants.v[variant];

    if (v->cls == NONE)
        return ~0ull;
    if (!k->class_tmpls[v->cls]) {
        uint64_t mask = 0;

        for (uint32_t i = 0; i < k->p.n_tmpls; i++)
            if (claims_may_take(k, &k->p.tmpls[i], v))
                mask |= tmpl_bit(i);
        k->class_tmpls[v->cls] = mask ? mask : UNSTATED;
    }
    return k->class_tmpls[v->cls];
}

void bin_room(struct packer *k, uint32_t bin)
{
    const struct bin *b = &k->bins.v[bin];
    struct seek_bin *s = &k->seek.v.v[bin];

    for (uint32_t d = 0; d < SEEK_DIMS; d++)
        s->room[d] = b->node == NONE ? sat_sub(k->p.tmpls[b->tmpl].most[d], b->vec[d]) : b->vec[d];
}

void node_room(struct packer *k, uint32_t bin)
{
    bin_room(k, bin);
    for (uint32_t d = 0; d < k->p.n_dims; d++)
        if (k->bins.v[bin].vec[d] < 0) /* overcommitted: takes nothing at all */
            k->seek.v.v[bin].room[0] = INT64_MIN;
}

void bin_masks(struct packer *k, uint32_t bin)
{
    struct seek_bin *s = &k->seek.v.v[bin];

    s->zones = value_mask(&k->p, k->bins.v[bin].rs, k->p.zone_key);
    s->cts = value_mask(&k->p, k->bins.v[bin].rs, k->p.ct_key);
    if (!s->refused)
        return;
    if (k->undo.question && bin < k->n_node_bins) {
        s->refused = NULL; /* they count again when the question is undone */
        return;
    }
    for (BITS_EACH(cls, s->refused, k->seek.class_words))
        k->class_refused[cls]--;
    bits_zero(s->refused, k->seek.class_words); /* new requirements: old refusals are void */
}

void bin_refuses(struct packer *k, uint32_t bin, uint32_t cls)
{
    struct seek_bin *s = &k->seek.v.v[bin];

    if (cls == NONE || (k->undo.question && k->bins.v[bin].saved_in == k->undo.question))
        return; /* what a changed node refuses is not true of the node as it was */
    if (!s->refused)
        s->refused = refused_memory(k, bin);
    k->class_refused[cls] += !bit_test(s->refused, cls);
    bit_set(s->refused, cls);
}

void bin_describe(struct packer *k, uint32_t bin)
{
    const struct bin *b = &k->bins.v[bin];

    assert(k->seek.v.n == bin);
    *vec_add(&k->seek.v) = (struct seek_bin){.tmpls = b->node == NONE ? tmpl_bit(b->tmpl) : ~0ull};
    bin_masks(k, bin);
    bin_room(k, bin);
}

/* No type has room for the pod: the index gets the room that types left to the claim really have. */
void claim_too_small(struct packer *k, uint32_t bin, const struct shape *sh)
{
    struct problem *p = &k->p;
    struct bin *b = &k->bins.v[bin];
    struct seek_bin *s = &k->seek.v.v[bin];

    for (uint32_t d = 0; d < SEEK_DIMS; d++) {
        int64_t most = INT64_MIN;

        for (BITS_EACH(r, b->rows, p->row_words))
            most = MAX(most, p->rows.v[r].alloc[d]);
        s->room[d] = MIN(s->room[d], sat_sub(most, b->vec[d]));
    }
    if (sh->requests[DIM_CPU] <= b->no_cpu && sh->requests[DIM_MEMORY] <= b->no_memory) {
        b->no_cpu = sh->requests[DIM_CPU];
        b->no_memory = sh->requests[DIM_MEMORY];
    }
}
