/* What tests compare: everything that questions change, as text, and whole plans. */
#include "plan/whatif_int.h"

void whatif_search_all(struct whatif *w)
{
    w->k.seek.exhaustive = true;
}

struct plan *whatif_plan(struct whatif *w, struct arena *a)
{
    struct plan *out = arena_new_one(a, struct plan);

    assert(w->open);
    packer_finish(&w->k, out, a);
    explain_failures(&w->k, out, a);
    return out;
}

static void digest_bin(const struct whatif *w, const struct bin *b, struct sb *out)
{
    const struct seek_bin *s = &w->k.seek.v.v[b - w->k.bins.v];

    sb_printf(out, "bin %u: rs %u host %u taints %u pods %u ports %u csi %u hidden %d:", b->node, b->rs, b->host,
              b->taint_set, b->n, b->ports.n, b->csi ? b->csi->used.n : 0,
              b->node != NONE && w->k.nodes.slots.v[b->slot] == NONE);
    for (uint32_t d = 0; d < w->k.p.n_dims; d++)
        sb_printf(out, " %lld", (long long)b->vec[d]);
    sb_printf(out, " | %lld %lld %lld %llx %llx\n", (long long)s->room[0], (long long)s->room[1], (long long)s->room[2],
              (unsigned long long)s->zones, (unsigned long long)s->cts);
}

static void digest_group(const struct whatif *w, uint32_t group, struct sb *out)
{
    const struct topology *t = &w->k.topo;
    const struct topo_group *g = &t->groups.v[group];
    const struct label_key *key = &t->p->space.keys.v[g->key];

    sb_printf(out, "group %u:", group);
    for (uint32_t v = 0; !g->is_host && v < key->n_vals; v++)
        sb_printf(out, " %d/%d/%d", g->counts[v], g->support[v], bit_test(g->known, v));
    for (uint32_t h = 0; g->is_host && h < t->hosts.n; h++)
        if (topology_host_count(t, group, h))
            sb_printf(out, " %u=%d", h, topology_host_count(t, group, h));
    sb_printf(out, " busy %u\n", g->busy_hosts.n);
}

void whatif_digest(struct whatif *w, struct sb *out)
{
    const struct packer *k = &w->k;

    for (uint32_t i = 0; i < k->bins.n; i++)
        digest_bin(w, &k->bins.v[i], out);
    for (uint32_t i = 0; i < k->topo.groups.n; i++)
        digest_group(w, i, out);
    for (uint32_t i = 0; i < k->p.n_tmpls; i++) {
        const struct tmpl *t = &k->p.tmpls[i];

        sb_printf(out, "pool %u:", t->pool);
        for (uint32_t d = 0; t->has_limits && d < k->p.n_dims; d++)
            sb_printf(out, " %lld", (long long)t->remaining[d]);
        sb_printf(out, " %d\n", t->nodes_exhausted);
    }
    for (uint32_t i = 0; i < k->p.reservations.n; i++)
        sb_printf(out, "reservation %u: %d\n", i, k->p.reservations.v[i].left);
    sb_printf(out, "hosts %u spare %u live %u sizes %d\n", k->topo.hosts.n, k->spare_host, k->nodes.live,
              k->sizes.n && bits_any(k->sizes.v, k->sizes.n));
    for (uint32_t t = 0; t < k->p.n_pods; t++)
        if (k->topo.any && bit_test(k->topo.in_round, k->pod_of[t]))
            sb_printf(out, "in round %u\n", t);
}

/* --- census -------------------------------------------------------------------------------------------------------------- */

static int cmp_texts(const void *a, const void *b, void *ctx)
{
    (void)ctx;
    return str_cmp(*(const str *)a, *(const str *)b);
}

typedef VEC(str) text_list;

/* The texts in order, whatever order they came in. */
static void add_sorted(struct sb *out, text_list *v)
{
    sort_stable(v->v, v->n, sizeof(*v->v), cmp_texts, NULL);
    for (uint32_t i = 0; i < v->n; i++)
        sb_str(out, v->v[i]);
    v->n = 0;
}

static void census_domains(const struct whatif *w, uint32_t group, struct arena *a, struct sb *out)
{
    const struct topology *t = &w->k.topo;
    const struct topo_group *g = &t->groups.v[group];
    const struct label_key *key = &t->p->space.keys.v[g->key];
    text_list v = {0};

    for (uint32_t i = 0; !g->is_host && i < key->n_vals; i++)
        if (bit_test(g->known, i))
            vec_push(
                &v, arena_printf(a, " " STR_FMT "=%d", STR_ARG(sym_str(t->p->snap->syms, key->vals[i])), g->counts[i]));
    for (uint32_t i = 0; g->is_host && i < w->k.n_node_bins; i++) {
        int32_t n = topology_host_count(t, group, w->k.bins.v[i].host);

        if (n > 0)
            vec_push(&v, arena_printf(a, " %u=%d", w->k.bins.v[i].node, n));
    }
    add_sorted(out, &v);
    vec_fini(&v);
}

static str census_group(const struct whatif *w, uint32_t group, struct arena *a)
{
    const struct topology *t = &w->k.topo;
    const struct topo_group *g = &t->groups.v[group];
    struct sb b = {0};

    sb_printf(&b, "    %d " STR_FMT " skew %d:", (int)g->kind,
              STR_ARG(sym_str(t->p->snap->syms, t->p->space.keys.v[g->key].name)), g->max_skew);
    census_domains(w, group, a, &b);
    sb_char(&b, '\n');
    str ret = sb_dup(&b, a);
    sb_fini(&b);
    return ret;
}

static void census_pod(struct whatif *w, uint32_t turn, struct arena *a, struct sb *out)
{
    struct problem *p = &w->k.p;
    const struct shape *sh = &p->shapes.v[w->k.shape_of[turn]];
    const struct lclass *c = &p->classes.v[sh->lclass];
    text_list inverse = {0};

    sb_printf(out, "  pod %u\n", w->k.pod_of[turn]);
    for (uint32_t v = sh->variant; v != NONE && w->k.topo.any; v = variant_next(p, v))
        for (uint32_t i = 0; i < p->variants.v[v].groups.n; i++)
            sb_str(out, census_group(w, p->variants.v[v].groups.v[i].group, a));
    for (uint32_t i = 0; i < c->inverse.n; i++)
        vec_push(&inverse, census_group(w, c->inverse.v[i], a));
    add_sorted(out, &inverse);
    vec_fini(&inverse);
}

void whatif_census(struct whatif *w, struct sb *out)
{
    AUTO(arena) struct arena *a = arena_new(1u << 16);
    const struct snapshot *s = w->k.p.snap;

    for (uint32_t i = 0; i < w->k.n_node_bins; i++) {
        const struct bin *b = &w->k.bins.v[i];
        const struct reslist *l = &s->nodes[b->node].allocatable;

        sb_printf(out, "node %u slot %u csi %u:", b->node, b->slot, b->csi ? b->csi->used.n : 0);
        for (uint32_t k = 0; k < l->n; k++)
            sb_printf(out, " " STR_FMT "=%lld", STR_ARG(sym_str(s->syms, l->q[k].name)),
                      (long long)b->vec[problem_dim(&w->k.p, l->q[k].name)]);
        for (uint32_t d = 0; d < SEEK_DIMS; d++)
            sb_printf(out, " %lld", (long long)w->k.seek.v.v[i].room[d]);
        sb_char(out, '\n');
        for (uint32_t k = 0; k < w->on_node[b->node].n; k++)
            census_pod(w, w->on_node[b->node].v[k], a, out);
    }
    sb_c(out, "waiting:\n");
    for (uint32_t i = 0; i < w->waiting.n; i++)
        census_pod(w, w->waiting.v[i], a, out);
}
