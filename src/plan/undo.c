/* What a question changes is written down the first time it is changed, and put back in the opposite order. Whatever was
 * only learnt (memos, the index's summaries) stays: it is true of the cluster as it was, or is made hopeful again. */
#include "plan/pack.h"

struct undo_mark undo_begin(struct packer *k)
{
    const struct undo *u = &k->undo;
    struct undo_mark m = {
        .bins = u->bins.n,
        .tmpls = u->tmpls.n,
        .reservations = u->reservations.n,
        .counts = k->topo.log.n,
        .claims = k->bins.n,
        .hosts = k->topo.hosts.n,
        .spare_host = k->spare_host,
    };

    k->undo.question++;
    k->node_changes++; /* what pods learnt about nodes before is void */
    k->epoch++;
    k->topo.round++;
    k->topo.logging = true;
    for (uint32_t i = 0; i < k->p.reservations.n; i++)
        vec_push(&k->undo.reservations, k->p.reservations.v[i].left);
    return m;
}

void undo_save_bin(struct packer *k, uint32_t bin)
{
    struct undo *u = &k->undo;
    struct bin *b = &k->bins.v[bin];

    if (!u->question || bin >= k->n_node_bins || b->saved_in == u->question)
        return;
    vec_push(&u->bins, (struct saved_bin){
                           .bin = bin,
                           .first = b->first,
                           .last = b->last,
                           .n = b->n,
                           .rs = b->rs,
                           .n_ports = b->ports.n,
                           .n_csi = b->csi ? b->csi->used.n : 0,
                           .saved_in = b->saved_in,
                           .seek = k->seek.v.v[bin],
                       });
    for (uint32_t d = 0; d < k->p.n_dims; d++)
        vec_push(&u->vecs, b->vec[d]);
    b->saved_in = u->question;
}

void undo_save_limits(struct packer *k, uint32_t tmpl)
{
    struct undo *u = &k->undo;
    struct tmpl *t = &k->p.tmpls[tmpl];

    if (!u->question || t->saved_in == u->question)
        return;
    vec_push(&u->tmpls, (struct saved_tmpl){tmpl, t->saved_in});
    for (uint32_t d = 0; d < k->p.n_dims; d++)
        vec_push(&u->remaining, t->remaining[d]);
    t->saved_in = u->question;
}

/* `kept`: the question was kept, and what was learnt of the node since is not true of it as it was. */
static void restore_bin(struct packer *k, const struct saved_bin *s, const int64_t *vec, bool kept)
{
    struct bin *b = &k->bins.v[s->bin];

    b->first = s->first;
    b->last = s->last;
    b->n = s->n;
    if (s->n)
        k->next[s->last] = NONE;
    b->rs = s->rs;
    b->ports.n = s->n_ports;
    if (b->csi)
        b->csi->used.n = s->n_csi;
    b->saved_in = s->saved_in;
    memcpy(b->vec, vec, k->p.n_dims * sizeof(*vec));
    k->seek.v.v[s->bin] = s->seek;
    if (kept && s->seek.refused)
        bits_zero(s->seek.refused, k->seek.class_words);
    if (k->nodes.slots.v[b->slot] != NONE)
        seek_touch(&k->nodes, &k->seek, b->slot);
}

void claims_forget(struct packer *k)
{
    for (BITS_EACH(n, k->sizes.v, k->sizes.n))
        seek_clear(&k->claims.v[n]);
    if (k->sizes.n)
        bits_zero(k->sizes.v, k->sizes.n);
}

void undo_end(struct packer *k, const struct undo_mark *m, bool kept)
{
    struct undo *u = &k->undo;
    uint32_t dims = k->p.n_dims;

    claims_forget(k);
    for (uint32_t i = m->claims; i < k->bins.n; i++)
        vec_fini(&k->bins.v[i].ports);
    k->bins.n = k->seek.v.n = m->claims;
    k->topo.hosts.n = m->hosts;
    k->spare_host = m->spare_host;
    while (u->bins.n > m->bins) {
        u->bins.n--;
        u->vecs.n -= dims;
        restore_bin(k, &u->bins.v[u->bins.n], u->vecs.v + u->vecs.n, kept);
    }
    while (u->tmpls.n > m->tmpls) {
        struct saved_tmpl s = u->tmpls.v[--u->tmpls.n];
        struct tmpl *t = &k->p.tmpls[s.tmpl];

        u->remaining.n -= dims;
        memcpy(t->remaining, u->remaining.v + u->remaining.n, dims * sizeof(*t->remaining));
        t->saved_in = s.saved_in;
        limits_refresh(&k->p, t);
    }
    for (uint32_t i = 0; i < k->p.reservations.n; i++)
        k->p.reservations.v[i].left = u->reservations.v[m->reservations + i];
    u->reservations.n = m->reservations;
    topology_undo(&k->topo, m->counts);
    k->node_changes++;
    k->epoch++;
}

/* Claims come and go with every question: the n-th has its memory for good. */
uint64_t *refused_memory(struct packer *k, uint32_t bin)
{
    struct problem *p = &k->p;

    if (bin < k->n_node_bins)
        return arena_new_array(p->arena, uint64_t, k->seek.class_words);
    struct claim_memory *m = &k->claim_memory.v[bin - k->n_node_bins];
    if (!m->refused)
        m->refused = arena_new_array(p->arena, uint64_t, k->seek.class_words);
    bits_zero(m->refused, k->seek.class_words);
    return m->refused;
}

void undo_fini(struct undo *u)
{
    vec_fini(&u->bins);
    vec_fini(&u->tmpls);
    vec_fini(&u->vecs);
    vec_fini(&u->remaining);
    vec_fini(&u->reservations);
}
