/* Finds the bin for one pod and puts the pod there: existing nodes in order, claims with the fewest pods first, then
 * a new claim of the first template that will have it (scheduling 9.5).
 *
 * Among claims with equally many pods the order is that of a stable sort: one that has just grown comes before the
 * others of its new size, a new one after those with one pod. So claims with one pod are a queue, all others stacks. */
#include "plan/pack.h"

/* --- taking ------------------------------------------------------------------------------------------------------------ */

static void bin_take(struct packer *k, uint32_t bin, uint32_t variant, uint32_t pod)
{
    struct problem *p = &k->p;
    struct bin *b = &k->bins.v[bin];
    const struct shape *sh = &p->shapes.v[p->variants.v[variant].shape];

    undo_save_bin(k, bin);
    k->next[pod] = NONE;
    if (b->n++)
        k->next[b->last] = pod;
    else
        b->first = pod;
    b->last = pod;
    for (uint32_t d = 0; d < p->n_dims; d++)
        b->vec[d] = b->node == NONE ? sat_add(b->vec[d], sh->requests[d]) : sat_sub(b->vec[d], sh->requests[d]);
    for (uint32_t i = 0; i < sh->spec->n_ports; i++)
        vec_push(&b->ports, sh->spec->ports[i]);
    if (b->rs != k->fit.rs) {
        b->rs = k->fit.rs;
        bin_masks(k, bin);
    }
    bin_room(k, bin);
    if (k->topo.any)
        topology_record(&k->topo, variant, b->rs, b->host, b->taint_set);
    k->placed[pod] = true;
    k->epoch++;
}

static void node_take(struct packer *k, uint32_t bin, uint32_t variant, uint32_t pod)
{
    struct bin *b = &k->bins.v[bin];
    uint32_t rs = b->rs;

    bin_take(k, bin, variant, pod);
    if (b->csi)
        csi_use(k, b->csi, packer_pod(k, pod));
    if (b->rs != rs) {
        seek_touch(&k->nodes, &k->seek, b->slot);
        k->node_changes++;
    }
}

static void claim_reserve(struct packer *k, struct bin *b)
{
    struct problem *p = &k->p;
    uint32_t words = BITS_WORDS(p->reservations.n);

    if (words == 0)
        return;
    if (!b->held) {
        b->held = k->claim_memory.v[b - k->bins.v - k->n_node_bins].held;
        bits_zero(b->held, words);
    }
    for (uint32_t i = 0; i < p->reservations.n; i++)
        p->reservations.v[i].left += (int32_t)bit_test(b->held, i) - (int32_t)bit_test(k->fit.held, i);
    bits_copy(b->held, k->fit.held, words);
}

static void slot_moved(void *ctx, uint32_t bin, uint32_t slot)
{
    struct packer *k = ctx;

    k->bins.v[bin].slot = slot;
}

static void index_claim(struct packer *k, uint32_t bin)
{
    struct bin *b = &k->bins.v[bin];

    while (k->claims.n <= b->n)
        *vec_add(&k->claims) = (struct seek_index){.backwards = k->claims.n > 2}; /* [0], [1]: queues */
    while (k->sizes.n <= b->n / 64)
        vec_push(&k->sizes, 0);
    bit_set(k->sizes.v, b->n);
    b->slot = seek_add(&k->claims.v[b->n], &k->seek, bin);
}

static void unindex_claim(struct packer *k, uint32_t bin)
{
    struct bin *b = &k->bins.v[bin];
    struct seek_index *x = &k->claims.v[b->n];

    seek_remove(x, b->slot);
    if (x->live == 0)
        bit_clear(k->sizes.v, b->n);
    else
        seek_compact(x, &k->seek, slot_moved, k);
}

static void claim_take(struct packer *k, uint32_t bin, uint32_t variant, uint32_t pod)
{
    struct bin *b = &k->bins.v[bin];

    if (b->n)
        unindex_claim(k, bin);
    bits_copy(b->rows, k->fit.rows, k->p.row_words);
    b->relaxed = k->fit.relaxed;
    claim_reserve(k, b);
    bin_take(k, bin, variant, pod);
    index_claim(k, bin);
}

static const struct claim_memory *claim_memory_of(struct packer *k, uint32_t claim)
{
    struct problem *p = &k->p;

    if (claim == k->claim_memory.n)
        vec_push(&k->claim_memory, (struct claim_memory){
                                       .vec = arena_new_array(p->arena, int64_t, p->n_dims),
                                       .rows = arena_new_array(p->arena, uint64_t, p->row_words),
                                       .held = arena_new_array(p->arena, uint64_t, BITS_WORDS(p->reservations.n)),
                                   });
    return &k->claim_memory.v[claim];
}

static uint32_t claim_open(struct packer *k, uint32_t tmpl)
{
    struct problem *p = &k->p;
    struct bin *b = vec_add(&k->bins);

    b->node = NONE;
    b->tmpl = tmpl;
    b->rs = p->tmpls[tmpl].rs;
    b->first = b->last = NONE;
    b->no_cpu = b->no_memory = INT64_MAX;
    b->taint_set = p->tmpls[tmpl].taint_set;
    b->host = k->spare_host;
    k->spare_host = topology_new_host(&k->topo);
    const struct claim_memory *m = claim_memory_of(k, k->bins.n - 1 - k->n_node_bins);
    b->vec = m->vec;
    memset(b->vec, 0, p->n_dims * sizeof(*b->vec));
    b->rows = m->rows;
    bin_describe(k, k->bins.n - 1);
    limits_charge(k, tmpl, k->fit.rows);
    return k->bins.n - 1;
}

/* --- finding ------------------------------------------------------------------------------------------------------------ */

uint32_t next_room(struct packer *k, uint32_t shape, uint32_t from)
{
    const struct shape *sh = &k->p.shapes.v[shape];
    uint32_t variant = sh->variant;

    if (!k->p.variants.v[variant].cls_known)
        variant_classify(k, variant);
    struct seek what = {
        .need = sh->requests,
        .cls = k->p.variants.v[variant].cls,
        .zones = ~0ull,
        .cts = ~0ull,
        .tmpls = ~0ull,
    };

    for (uint32_t slot = from - 1; (slot = seek_first(&k->nodes, &k->seek, &what, slot)) != NONE;) { /* 0: NONE */
        uint32_t bin = k->nodes.slots.v[slot];
        const struct bin *b = &k->bins.v[bin];

        if (b->settling || !room_fits(k, b->vec, sh->requests))
            continue;
        if (bin_fits(k, b, variant, COMPAT_STRICT) != REFUSED_CLASS)
            return slot;
        bin_refuses(k, bin, what.cls);
    }
    return k->nodes.slots.n;
}

uint32_t find_room(struct packer *k, uint32_t shape)
{
    uint32_t slot = next_room(k, shape, k->p.shapes.v[shape].room_from);

    k->p.shapes.v[shape].room_from = k->p.shapes.v[shape].fickle ? 0 : slot;
    return slot;
}

/* Where to begin: before that slot nobody takes the pod. */
static uint32_t first_slot(const struct packer *k, const struct shape *sh, uint32_t variant, uint32_t pod)
{
    if (!k->settled_only || sh->variant != variant || k->seek.exhaustive || !bit_test(k->running, pod))
        return NONE;
    return sh->room_from - 1; /* 0: NONE, the start */
}

/* The first existing node that will have the pod, with the pod on it; NONE. */
static uint32_t place_on_node(struct packer *k, const struct seek *what, uint32_t variant, uint32_t pod)
{
    struct shape *sh = &k->p.shapes.v[k->p.variants.v[variant].shape];
    /* Without constraints on domains a refusal is for good: the next pod of the shape starts where this one ended. Nodes
     * that are settling refuse only those that run now. */
    bool lasting = what->cls != NONE && what->zones == ~0ull && what->cts == ~0ull && sh->variant == variant &&
                   !k->seek.exhaustive && (!k->settled_only || bit_test(k->running, pod));
    uint32_t slot = lasting && sh->cursor_at == k->node_changes ? sh->cursor : first_slot(k, sh, variant, pod);

    if (k->nodes.live == 0)
        return NONE;
    while ((slot = seek_first(&k->nodes, &k->seek, what, slot)) != NONE) {
        uint32_t bin = k->nodes.slots.v[slot];
        enum verdict verdict = node_fits(k, &k->bins.v[bin], variant, pod);

        if (verdict == REFUSED_CLASS)
            bin_refuses(k, bin, what->cls);
        lasting = lasting && (verdict == REFUSED_CLASS || verdict == REFUSED_SIZE || verdict == FITS);
        if (lasting) {
            sh->cursor = verdict == FITS ? slot - 1 : slot; /* slot 0: NONE, the start */
            sh->cursor_at = k->node_changes;
        }
        if (verdict == FITS) {
            node_take(k, bin, variant, pod);
            return bin;
        }
    }
    if (lasting) {
        sh->cursor = k->nodes.slots.n - 1;
        sh->cursor_at = k->node_changes;
    }
    return NONE;
}

static bool known_too_small(const struct bin *b, const struct shape *sh)
{
    return sh->requests[DIM_CPU] >= b->no_cpu && sh->requests[DIM_MEMORY] >= b->no_memory;
}

/* The first claim, fewest pods first, that will have the pod; NONE. */
static uint32_t find_claim(struct packer *k, const struct seek *what, uint32_t variant)
{
    const struct shape *sh = &k->p.shapes.v[k->p.variants.v[variant].shape];

    for (BITS_EACH(n, k->sizes.v, k->sizes.n))
        for (uint32_t slot = NONE; (slot = seek_first(&k->claims.v[n], &k->seek, what, slot)) != NONE;) {
            uint32_t bin = k->claims.v[n].slots.v[slot];

            if (known_too_small(&k->bins.v[bin], sh))
                continue;
            switch (claim_fits(k, &k->bins.v[bin], k->bins.v[bin].tmpl, variant)) {
            case FITS:
                return bin;
            case REFUSED_CLASS:
                bin_refuses(k, bin, what->cls);
                break;
            case REFUSED_SIZE:
                claim_too_small(k, bin, sh);
                break;
            case REFUSED:
            case NO_RESERVATION:
                break;
            }
        }
    return NONE;
}

static enum verdict place_on_new_claim(struct packer *k, uint32_t variant, uint32_t pod)
{
    struct problem *p = &k->p;
    uint32_t cls = p->variants.v[variant].cls;

    for (uint32_t i = 0; i < p->n_tmpls; i++) {
        struct tmpl *t = &p->tmpls[i];

        if (!t->usable || (cls != NONE && bit_test(t->refused, cls)))
            continue;
        enum verdict verdict = claim_fits(k, NULL, i, variant);
        if (verdict == FITS) {
            claim_take(k, claim_open(k, i), variant, pod);
            return FITS;
        }
        if (verdict == NO_RESERVATION)
            return verdict; /* lighter pools are not tried */
        if (verdict == REFUSED_CLASS && cls != NONE) {
            bit_set(t->refused, cls);
            k->class_hopeless[cls]++;
        }
    }
    return REFUSED;
}

/* No template will ever take the class: asks the bins that were never asked, so that the next pod need not try. */
static bool class_is_hopeless(struct packer *k, uint32_t variant, uint32_t cls)
{
    if (cls == NONE || k->class_hopeless[cls] < k->n_usable || k->seek.exhaustive || k->undo.question)
        return false;
    for (uint32_t i = 0; k->class_refused[cls] < k->bins.n && i < k->bins.n; i++) {
        const struct seek_bin *s = &k->seek.v.v[i];

        if (s->refused && bit_test(s->refused, cls))
            continue;
        if (bin_fits(k, &k->bins.v[i], variant, i < k->n_node_bins ? COMPAT_STRICT : COMPAT_LENIENT) != REFUSED_CLASS)
            return false;
        bin_refuses(k, i, cls);
    }
    return true;
}

enum verdict place(struct packer *k, uint32_t variant, uint32_t pod, uint32_t *ret_bin)
{
    if (!k->p.variants.v[variant].cls_known)
        variant_classify(k, variant);
    const struct variant *v = &k->p.variants.v[variant];
    struct seek what = {
        .need = k->p.shapes.v[v->shape].requests,
        .cls = v->cls,
        .zones = wanted_mask(k, variant, k->p.zone_key),
        .cts = wanted_mask(k, variant, k->p.ct_key),
        .tmpls = wanted_tmpls(k, variant),
    };

    if (what.zones == 0 || what.cts == 0)
        return REFUSED; /* the constraints leave no domain, wherever the pod would go */
    if (class_is_hopeless(k, variant, what.cls))
        return REFUSED;
    *ret_bin = place_on_node(k, &what, variant, pod);
    if (*ret_bin != NONE)
        return FITS;
    *ret_bin = find_claim(k, &what, variant);
    if (*ret_bin != NONE) {
        claim_take(k, *ret_bin, variant, pod);
        return FITS;
    }
    enum verdict verdict = place_on_new_claim(k, variant, pod);
    *ret_bin = k->bins.n - 1;
    return verdict;
}

/* --- many at once ------------------------------------------------------------------------------------------------------ */

/* Placing such a pod changes nothing but the room in its bin. */
static bool only_takes_room(const struct packer *k, uint32_t variant)
{
    const struct problem *p = &k->p;
    const struct variant *v = &p->variants.v[variant];
    const struct shape *sh = &p->shapes.v[v->shape];
    const struct lclass *c = &p->classes.v[sh->lclass];

    return sh->variant == variant && sh->bare == NONE && sh->vols == NONE && !sh->has_csi && !sh->spec->n_ports &&
           !v->groups.n && !c->inverse.n && !c->selected.n && !sh->n_inverse_owned && !p->reservations.n;
}

static int64_t times_in(const struct problem *p, const int64_t *room, const int64_t *taken, const int64_t *each)
{
    int64_t n = INT64_MAX;

    for (uint32_t d = 0; d < p->n_dims; d++)
        if (each[d] > 0)
            n = MIN(n, sat_sub(room[d], taken ? taken[d] : 0) / each[d]);
    return n;
}

/* How many more the claim's types can hold: as many as the roomiest. */
static int64_t claim_holds(struct packer *k, const struct bin *b, const int64_t *each)
{
    struct problem *p = &k->p;
    const struct tmpl *t = &p->tmpls[b->tmpl];
    int64_t most = 0;

    for (uint32_t g = 0; g < t->n_groups; g++) {
        for (uint32_t d = 0; d < p->n_dims; d++)
            k->need[d] = sat_add(b->vec[d], t->groups[g].overhead[d]);
        for (uint32_t w = 0; w < p->row_words; w++)
            for (uint64_t left = b->rows[w] & t->groups[g].rows[w]; left; left &= left - 1)
                most = MAX(most, times_in(p, p->rows.v[w * 64 + bit_lowest(left)].alloc, k->need, each));
    }
    return most;
}

/* Up to `most` pods that are next in the queue and like the one that was placed last move into the bin. */
static uint32_t bin_drain(struct packer *k, struct bin *b, int64_t most)
{
    uint32_t n = 0, pod;

    while (n < most && queue_next_like(k, b->last, &pod)) {
        k->next[b->last] = pod;
        b->last = pod;
        k->placed[pod] = true;
        n++;
    }
    k->next[b->last] = NONE;
    b->n += n;
    k->epoch += n;
    return n;
}

static void node_more(struct packer *k, uint32_t bin, uint32_t shape)
{
    struct bin *b = &k->bins.v[bin];
    const int64_t *each = k->p.shapes.v[shape].requests;

    undo_save_bin(k, bin);
    uint32_t n = bin_drain(k, b, times_in(&k->p, b->vec, NULL, each));

    for (uint32_t d = 0; d < k->p.n_dims; d++)
        b->vec[d] = sat_sub(b->vec[d], sat_mul(each[d], n));
    bin_room(k, bin);
}

/* A claim that has grown is the first of its new size, so it goes on taking pods until it has one more than the next
 * claim that would take them. */
static void claim_more(struct packer *k, uint32_t bin, uint32_t variant, uint32_t shape)
{
    struct problem *p = &k->p;
    const struct shape *sh = &p->shapes.v[shape];
    struct bin *b = &k->bins.v[bin];
    struct seek what = {
        .need = sh->requests,
        .cls = p->variants.v[variant].cls,
        .zones = ~0ull,
        .cts = ~0ull,
        .tmpls = wanted_tmpls(k, variant),
    };
    int64_t holds = claim_holds(k, b, sh->requests);

    if (holds <= 0 || rs_has_min_values(&p->space, b->rs))
        return;
    unindex_claim(k, bin);
    uint32_t rival = find_claim(k, &what, variant);
    int64_t turns = rival == NONE ? INT64_MAX : (int64_t)k->bins.v[rival].n - b->n + 1;
    uint32_t n = bin_drain(k, b, MIN(holds, turns));

    if (n) {
        for (uint32_t d = 0; d < p->n_dims; d++)
            k->need[d] = b->vec[d] = sat_add(b->vec[d], sat_mul(sh->requests[d], n));
        k->fit.rs = b->rs;
        (void)filter_rows(k, &p->tmpls[b->tmpl], b->rows, sh);
        bits_copy(b->rows, k->fit.rows, p->row_words);
        bin_room(k, bin);
    }
    index_claim(k, bin);
}

void place_more(struct packer *k, uint32_t bin, uint32_t variant)
{
    uint32_t shape = k->p.variants.v[variant].shape;

    if (k->seek.exhaustive || !only_takes_room(k, variant))
        return;
    if (k->bins.v[bin].node != NONE)
        node_more(k, bin, shape);
    else
        claim_more(k, bin, variant, shape);
}

/* --- start -------------------------------------------------------------------------------------------------------------- */

/* The most that any type of the template could give to pods, resource by resource. */
static void template_room(struct packer *k, struct tmpl *t)
{
    struct problem *p = &k->p;

    t->refused = arena_new_array(p->arena, uint64_t, k->seek.class_words);
    for (uint32_t d = 0; d < SEEK_DIMS; d++) {
        t->most[d] = INT64_MIN;
        for (uint32_t g = 0; g < t->n_groups; g++)
            for (BITS_EACH(r, t->groups[g].rows, p->row_words))
                t->most[d] = MAX(t->most[d], sat_sub(p->rows.v[r].alloc[d], t->groups[g].overhead[d]));
    }
}

void place_init(struct packer *k)
{
    classes_init(k);
    for (uint32_t i = 0; i < k->p.n_tmpls; i++) {
        template_room(k, &k->p.tmpls[i]);
        k->n_usable += k->p.tmpls[i].usable;
    }
    for (uint32_t i = 0; i < k->bins.n; i++) {
        bin_describe(k, i);
        node_room(k, i);
        k->bins.v[i].slot = seek_add(&k->nodes, &k->seek, i);
    }
}
