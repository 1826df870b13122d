/* Nodes and pods that are there already: which domains nodes give to a group, who of the running pods counts in it, and what follows
 * when they come and go (scheduling 13.1-13.3). */
#include "plan/topology.h"

static bool node_matches(struct topology *t, const struct topo_group *g, uint32_t node)
{
    return topology_filter_matches(t, g, t->node_rs[node], t->node_taints[node]);
}

/* The value of the group's key that the node gives it; VAL_NONE when it does not. */
static uint32_t node_domain(struct topology *t, const struct topo_group *g, uint32_t node)
{
    const struct snapshot *s = t->p->snap;
    sym label;

    if (!s->nodes[node].node || s->nodes[node].deleting || !node_matches(t, g, node) ||
        !lset_value(s->syms, s->nodes[node].labels, t->p->space.keys.v[g->key].name, &label))
        return VAL_NONE;
    return space_val(&t->p->space, g->key, label);
}

/* Everything that decides which nodes a group counts, as bytes. */
static str filter_key(struct topology *t, const struct topo_group *g)
{
    struct sb b = {0};

    key_u32(&b, g->key);
    key_u32(&b, (uint32_t)g->filtered << 2 | (uint32_t)g->honor_affinity << 1 | g->honor_taints);
    key_u32(&b, g->filtered && g->honor_taints ? g->tol_set : NONE);
    for (uint32_t i = 0; g->filtered && g->honor_affinity && i < g->n_alts; i++)
        key_u32(&b, g->alts[i]);
    str key = sb_dup(&b, t->p->arena);
    sb_fini(&b);
    return key;
}

/* Thousands of deployments spread over zones, each a group of its own: the nodes are gone through once for all. */
static const int32_t *node_support(struct topology *t, const struct topo_group *g)
{
    str key = filter_key(t, g);
    uint32_t ix = strmap_get(&t->filters, key);

    if (ix != MAP_NONE)
        return t->node_domains.v[ix].support;
    int32_t *support = arena_new_array(t->p->arena, int32_t, t->p->space.keys.v[g->key].n_vals);
    for (uint32_t i = 0; i < t->p->snap->n_nodes; i++) {
        uint32_t val = node_domain(t, g, i);

        if (val != VAL_NONE)
            support[val]++;
    }
    strmap_put(&t->filters, key, t->node_domains.n);
    vec_push(&t->node_domains, (struct node_domains){support});
    return support;
}

void topology_add_nodes(struct topology *t, struct topo_group *g)
{
    uint32_t n = t->p->space.keys.v[g->key].n_vals;
    const int32_t *support = node_support(t, g);

    for (uint32_t val = 0; val < n; val++) {
        g->support[val] = support[val];
        g->leans |= support[val] > 0 && !bit_test(g->seeded, val);
        topology_refresh(g, val);
    }
}

void topology_take_node(struct topology *t, uint32_t node, bool away)
{
    if (!t->any)
        return;
    for (uint32_t i = 0; i < t->leaning.n; i++) {
        struct topo_group *g = &t->groups.v[t->leaning.v[i]];
        uint32_t val = node_domain(t, g, node);

        if (val == VAL_NONE)
            continue;
        g->support[val] += away ? -1 : 1;
        topology_refresh(g, val);
    }
    if (away)
        bit_set(t->node_gone, node);
    else
        bit_clear(t->node_gone, node);
}

static void count_at(struct topology *t, uint32_t group, uint32_t node, bool host_fallback, int change)
{
    const struct snapshot *s = t->p->snap;
    const struct topo_group *g = &t->groups.v[group];
    sym label;
    bool labelled = lset_value(s->syms, s->nodes[node].node->labels, t->p->space.keys.v[g->key].name, &label);

    if (g->is_host) {
        if (labelled || host_fallback)
            topology_count_host(t, group, t->node_host[node], change);
        return;
    }
    uint32_t val = labelled ? space_val(&t->p->space, g->key, label) : VAL_NONE;
    if (val != VAL_NONE)
        topology_count_value(t, group, val, change);
}

void topology_count_node(struct topology *t, uint32_t group, uint32_t node, bool host_fallback, int change)
{
    count_at(t, group, node, host_fallback, change);
}

/* Groups that count the pod because they select it. */
static inline void count_selecting(struct topology *t, uint32_t pod, const struct lclass *c, uint32_t node, int change)
{
    if (t->p->snap->pods[pod].terminating)
        return;
    for (uint32_t i = 0; i < c->selected.n; i++)
        if (node_matches(t, &t->groups.v[c->selected.v[i]], node))
            count_at(t, c->selected.v[i], node, /* host_fallback= */ true, change);
    for (uint32_t i = 0; i < t->unselective.n; i++) {
        const struct topo_group *g = &t->groups.v[t->unselective.v[i]];

        if (topology_has_namespace(g, c->ns) && node_matches(t, g, node))
            count_at(t, t->unselective.v[i], node, /* host_fallback= */ true, change);
    }
}

void topology_move(struct topology *t, uint32_t pod, uint32_t shape, uint32_t node, int change)
{
    const struct snapshot *s = t->p->snap;
    const struct shape *sh = &t->p->shapes.v[shape];

    if (!t->any || !s->nodes[node].node)
        return;
    if (change < 0)
        bit_set(t->in_round, pod);
    else
        bit_clear(t->in_round, pod);
    count_selecting(t, pod, &t->p->classes.v[sh->lclass], node, change);
    for (uint32_t i = 0; i < sh->n_inverse_owned; i++)
        count_at(t, sh->inverse_owned[i], node, /* host_fallback= */ false, change);
}

static void count_bound(struct topology *t, uint32_t group, const struct lclass *c)
{
    for (uint32_t i = 0; i < c->bound.n; i++) {
        uint32_t node = c->bound.v[i].node;

        if (t->p->snap->nodes[node].node && !bit_test(t->in_round, c->bound.v[i].pod) &&
            node_matches(t, &t->groups.v[group], node))
            count_at(t, group, node, /* host_fallback= */ true, 1);
    }
}

/* Visits the label classes that might be selected: by label where the selector names one, else all. */
static void attach_class(struct topology *t, uint32_t group, uint32_t cls)
{
    struct lclass *c = &t->p->classes.v[cls];
    struct topo_group *g = &t->groups.v[group];

    if (!topology_has_namespace(g, c->ns))
        return;
    /* quirk: without a selector all pods count at the start, though none is selected later (scheduling 13.2). */
    bool selects = selector_matches(&g->selector, t->p->snap->syms, c->labels);
    if (!g->inverse && (selects || !g->selector.present))
        count_bound(t, group, c);
    if (!selects)
        return;
    if (g->inverse)
        vec_push(&c->inverse, group);
    else
        vec_push(&c->selected, group);
}

void topology_attach(struct topology *t, uint32_t group)
{
    const struct selector *s = &t->groups.v[group].selector;

    for (uint32_t i = 0; s->present && i < s->n_exprs; i++) {
        if (s->exprs[i].op != OP_IN || s->exprs[i].n_vals != 1)
            continue;
        uint32_t at = u64map_get(&t->classes_with, u64_pair(s->exprs[i].key.v, s->exprs[i].vals[0].v));

        for (; at != MAP_NONE; at = t->links.v[at].next)
            attach_class(t, group, t->links.v[at].cls);
        return;
    }
    for (uint32_t i = 0; i < t->p->classes.n; i++)
        attach_class(t, group, i);
}

/* --- events -------------------------------------------------------------------------------------------------------- */

/* A group that no pod has the term of would not be there: it is taken off the classes it selects, until one has it. */
static void hold(struct topology *t, const uint32_t *groups, uint32_t n, int change)
{
    for (uint32_t i = 0; i < n; i++) {
        struct topo_group *g = &t->groups.v[groups[i]];
        bool was = g->holders > 0;

        g->holders += (uint32_t)change;
        if (!was)
            topology_attach(t, groups[i]);
        for (uint32_t k = 0; k < t->p->classes.n && g->holders == 0; k++) {
            struct lclass *c = &t->p->classes.v[k];
            uint32_t kept = 0;

            for (uint32_t j = 0; j < c->inverse.n; j++)
                if (c->inverse.v[j] != groups[i])
                    c->inverse.v[kept++] = c->inverse.v[j];
            c->inverse.n = kept;
        }
    }
}

/* Which domains an inverse group knows depends on what the first pod that has the term tolerates. Where all tolerate the same, nobody can tell who was first. */
static bool tolerate_alike(const struct topology *t, const uint32_t *groups, uint32_t n, uint32_t tol_set)
{
    for (uint32_t i = 0; i < n; i++)
        if (t->groups.v[groups[i]].mixed || t->groups.v[groups[i]].tol_set != tol_set)
            return false;
    return true;
}

bool topology_wait(struct topology *t, uint32_t pod, uint32_t shape, int change)
{
    const struct shape *sh = &t->p->shapes.v[shape];

    if (!t->any)
        return true;
    if (!tolerate_alike(t, sh->inverse_owned, sh->n_inverse_owned, t->p->variants.v[sh->variant].tol_set))
        return false;
    if (change > 0)
        bit_set(t->in_round, pod);
    else
        bit_clear(t->in_round, pod);
    if (sh->bare == NONE)
        hold(t, sh->inverse_owned, sh->n_inverse_owned, change);
    return true;
}

bool topology_count_pod(struct topology *t, uint32_t pod, uint32_t shape, uint32_t node, int change)
{
    const struct pod *p = &t->p->snap->pods[pod];
    uint32_t n = p->spec->anti_required.n, cls;
    const uint32_t *anti = NULL;

    t->touched.n = 0;
    if (!t->any)
        return shape != NONE || n == 0;
    if (!t->p->snap->nodes[node].node)
        return false;
    cls = shape == NONE ? lclass_find(t->p, p) : t->p->shapes.v[shape].lclass;
    if (n)
        anti = shape == NONE ? topology_anti_groups(t, p) : t->p->shapes.v[shape].inverse_owned;
    if (cls == NONE || (n && (!anti || !tolerate_alike(t, anti, n, problem_tol_set(t->p, &p->spec->tolerations)))))
        return false;
    t->logging = false; /* for good */
    count_selecting(t, pod, &t->p->classes.v[cls], node, change);
    for (uint32_t i = 0; i < n; i++)
        count_at(t, anti[i], node, /* host_fallback= */ false, change);
    hold(t, anti, n, change);
    for (uint32_t i = 0; i < n; i++)
        vec_push(&t->touched, anti[i]);
    for (uint32_t i = 0; i < t->p->classes.v[cls].selected.n; i++)
        vec_push(&t->touched, t->p->classes.v[cls].selected.v[i]);
    for (uint32_t i = 0; i < t->unselective.n; i++)
        vec_push(&t->touched, t->unselective.v[i]);
    return true;
}
