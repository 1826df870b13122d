/* The main loop: a queue of pods, largest first, each tried on existing nodes, then on claims of this plan, then on
 * a new claim; one preference is given up at a time (scheduling 9.4, 9.5). */
#include "plan/pack.h"

/* --- placing ----------------------------------------------------------------------------------------------------------- */

static bool place_relaxing(struct packer *k, uint32_t pod)
{
    struct problem *p = &k->p;
    uint32_t shape = k->shape_of[pod], v = p->shapes.v[shape].variant;

    if (p->shapes.v[shape].bare != NONE && k->last_len[pod] == NONE) /* its first try */
        v = p->shapes.v[shape].bare;

    p->shapes.v[shape].deferred = false;
    if (p->shapes.v[shape].spec->uses_dra && p->snap->settings.ignore_dra)
        return false;
    for (; v != NONE; v = variant_next(p, v)) {
        if (k->topo.any)
            topology_prepare(&k->topo, v);
        uint32_t bin;
        enum verdict verdict = place(k, v, pod, &bin);
        if (verdict == FITS) {
            if (k->queue_len && k->shape_of[k->queue[k->queue_head]] == shape)
                place_more(k, bin, v);
            return true;
        }
        if (verdict == NO_RESERVATION) {
            p->shapes.v[shape].deferred = true;
            return false; /* a pod that could have a reservation waits for it as it is */
        }
    }
    return false;
}

/* Nothing changed since an equal pod had no place: this one has none either. */
static bool failed_just_now(const struct packer *k, uint32_t pod)
{
    const struct shape *sh = &k->p.shapes.v[k->shape_of[pod]];

    return sh->failed_at[false] == k->epoch || (needs_settled(k, pod) && sh->failed_at[true] == k->epoch);
}

/* Nobody of the shape is tried again before something changes, unless volumes differ. */
static void remember_failure(struct packer *k, uint32_t pod)
{
    struct shape *sh = &k->p.shapes.v[k->shape_of[pod]];

    sh->failed_at[needs_settled(k, pod)] = sh->has_csi || sh->bare != NONE ? UINT64_MAX : k->epoch;
    if (sh->bare != NONE && k->topo.any)
        topology_prepare(&k->topo, sh->variant); /* from now on it takes part */
}

void packer_run(struct packer *k)
{
    uint32_t pod;

    while (k->bins.n < k->stop_at && queue_pop(k, &pod)) {
        if (!failed_just_now(k, pod) && place_relaxing(k, pod))
            continue;
        remember_failure(k, pod);
        queue_push(k, pod);
    }
}

/* --- start and end ------------------------------------------------------------------------------------------------- */

void packer_init(struct packer *k, struct arena *a, const struct snapshot *s, struct frame *f, const uint32_t *pods,
                 uint32_t n)
{
    *k = (struct packer){.stop_at = NONE};
    problem_init(&k->p, a, s, f, pods, n);
    for (uint32_t i = 0; i < k->p.shapes.n; i++)
        k->any_ports |= k->p.shapes.v[i].spec->n_ports > 0;
    topology_init(&k->topo, &k->p);
    bins_build(k);
    k->spare_host = topology_new_host(&k->topo);
    k->need = arena_new_array(a, int64_t, k->p.n_dims * 2);
    k->scratch = arena_new_array(a, uint64_t, k->p.row_words);
    k->fit.rows = arena_new_array(a, uint64_t, k->p.row_words);
    k->fit.held = arena_new_array(a, uint64_t, BITS_WORDS(k->p.reservations.n) + 1);
    turns_build(k);
    queue_start(k, NULL, n);
    place_init(k);
}

void packer_fini(struct packer *k)
{
    for (uint32_t i = 0; i < k->bins.n; i++) {
        vec_fini(&k->bins.v[i].ports);
        if (k->bins.v[i].csi)
            vec_fini(&k->bins.v[i].csi->used);
    }
    vec_fini(&k->claim_memory);
    vec_fini(&k->exclusions);
    undo_fini(&k->undo);
    vec_fini(&k->bins);
    vec_fini(&k->seek.v);
    seek_fini(&k->nodes);
    for (uint32_t i = 0; i < k->claims.n; i++)
        seek_fini(&k->claims.v[i]);
    vec_fini(&k->claims);
    vec_fini(&k->sizes);
    strmap_fini(&k->classes);
    price_books_fini(&k->books);
    topology_fini(&k->topo);
    problem_fini(&k->p);
}
