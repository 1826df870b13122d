/* Why pods of the open question have no place, in Karpenter's words. */
#include "plan/whatif_int.h"

static str early_text(struct whatif *w, struct arena *a, uint32_t node)
{
    const struct state_node *n = &w->k.p.snap->nodes[node];
    struct sb b = {0};

    sb_c(&b, "would schedule against uninitialized ");
    if (n->claim)
        sb_printf(&b, "nodeclaim/" STR_FMT, STR_ARG(n->claim->name));
    if (n->node)
        sb_printf(&b, "%snode/" STR_FMT, n->claim ? ", " : "", STR_ARG(n->node->name));
    str s = sb_dup(&b, a);
    sb_fini(&b);
    return s;
}

struct failure {
    uint32_t turn, node; /* node: not initialized; NONE: no place at all */
};

static int cmp_failures(const void *a, const void *b, void *ctx)
{
    const struct packer *k = ctx;
    const struct pod *x = packer_pod(k, ((const struct failure *)a)->turn),
                     *y = packer_pod(k, ((const struct failure *)b)->turn);
    int c = str_cmp(sym_str(k->p.snap->syms, x->ns), sym_str(k->p.snap->syms, y->ns));

    return c ? c : str_cmp(x->name, y->name);
}

#define FAILURES_SHOWN 5

typedef VEC(struct failure) failure_list;

/* Of the open question, by name of the pod. */
static failure_list failures_of(struct whatif *w)
{
    struct packer *k = &w->k;
    const struct undo_mark *m = &vec_last(&w->marks).mark;
    failure_list v = {0};

    for (uint32_t i = 0; i < w->round.n; i++)
        if (!k->placed[w->round.v[i]] && !bit_test(w->pending, w->round.v[i]))
            vec_push(&v, (struct failure){w->round.v[i], NONE});
    for (uint32_t i = m->bins; i < k->undo.bins.n; i++) {
        const struct saved_bin *s = &k->undo.bins.v[i];
        const struct bin *bin = &k->bins.v[s->bin];

        for (uint32_t t = first_new(k, s); t != NONE; t = k->next[t])
            if (lands_early(w, bin, t))
                vec_push(&v, (struct failure){t, bin->node});
    }
    sort_stable(v.v, v.n, sizeof(*v.v), cmp_failures, k);
    return v;
}

uint32_t whatif_first_failure(struct whatif *w, uint32_t *ret_node)
{
    failure_list v = failures_of(w);
    uint32_t pod = v.n ? w->k.pod_of[v.v[0].turn] : UINT32_MAX;

    *ret_node = v.n ? v.v[0].node : UINT32_MAX;
    vec_fini(&v);
    return pod;
}

str whatif_failures(struct whatif *w, struct arena *a)
{
    struct packer *k = &w->k;
    AUTO(arena) struct arena *tmp = arena_new(0);
    failure_list v = failures_of(w);
    struct sb b = {0};

    sb_c(&b, "not all pods would schedule, ");
    for (uint32_t i = 0; i < MIN(v.n, (uint32_t)FAILURES_SHOWN); i++) {
        const struct pod *pod = packer_pod(k, v.v[i].turn);
        str why = v.v[i].node == NONE ? explain_turn(k, v.v[i].turn, tmp) : early_text(w, tmp, v.v[i].node);

        sb_printf(&b, STR_FMT "/" STR_FMT " => " STR_FMT " ", STR_ARG(sym_str(k->p.snap->syms, pod->ns)),
                  STR_ARG(pod->name), STR_ARG(why));
    }
    if (v.n >= FAILURES_SHOWN)
        sb_printf(&b, " and %u other(s)", v.n - FAILURES_SHOWN);
    str ret = sb_dup(&b, a);
    sb_fini(&b);
    vec_fini(&v);
    return ret;
}
