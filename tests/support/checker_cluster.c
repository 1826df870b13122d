/* The cluster as a whole, once every object is known: state nodes (spec: scheduling 7), daemons (16), volumes (15),
 * and which pods each constraint selects. */
#include "checker_int.h"

static bool ephemeral(const struct ctaint *t)
{
    if (str_starts(t->key, STR("readiness.k8s.io/")))
        return true;
    if (str_is(t->key, "node.kubernetes.io/not-ready"))
        return str_is(t->effect, "NoSchedule") || str_is(t->effect, "NoExecute");
    if (str_is(t->key, "node.kubernetes.io/unreachable") ||
        str_is(t->key, "node.cloudprovider.kubernetes.io/uninitialized"))
        return str_is(t->effect, "NoSchedule");
    return str_is(t->key, "karpenter.sh/unregistered") && str_is(t->effect, "NoExecute");
}

static bool startup(const struct cnode *n, const struct ctaint *t)
{
    for (uint32_t i = 0; i < n->startup_taints.n; i++)
        if (str_eq(n->startup_taints.v[i].key, t->key) && str_eq(n->startup_taints.v[i].effect, t->effect))
            return true;
    return false;
}

static void node_taints(struct checker *c, struct cnode *n)
{
    const struct ctaints *from = n->has_claim && !n->registered ? &n->claim_taints : &n->node_taints;

    n->taints.v = arena_new_array(c->a, struct ctaint, from->n + 1);
    for (uint32_t i = 0; i < from->n; i++)
        if (!n->has_claim || n->initialized || !(ephemeral(&from->v[i]) || startup(n, &from->v[i])))
            n->taints.v[n->taints.n++] = from->v[i];
}

static void node_finish(struct checker *c, struct cnode *n)
{
    n->registered = !n->has_claim || (n->has_node && str_is(labels_get(&n->node_labels, STR(K_REGISTERED)), "true"));
    n->initialized = !n->has_claim || (n->has_node && str_is(labels_get(&n->node_labels, STR(K_INITIALIZED)), "true"));
    n->name = n->has_claim && !n->registered ? n->claim_name : n->node_name;
    n->labels = n->has_claim && !n->registered ? n->claim_labels : n->node_labels;
    n->deleting = n->has_claim ? n->deletion_mark_claim : n->deletion_mark_node;
    n->hostname = labels_get(&n->labels, STR(K_HOST));
    if (n->hostname.n == 0)
        n->hostname = n->name;
    n->reqs = creqs_of_labels(c, &n->labels);
    creqs_add(c, &n->reqs, creq_in(c, STR(K_HOST), n->hostname));
    node_taints(c, n);
    n->capacity = n->node_capacity;
    n->allocatable = n->node_allocatable;
    for (uint32_t i = 0; n->has_claim && !n->initialized && i < c->resources.n; i++) {
        if (n->capacity.v[i] == 0)
            n->capacity.v[i] = n->claim_capacity.v[i];
        if (n->allocatable.v[i] == 0)
            n->allocatable.v[i] = n->claim_allocatable.v[i];
    }
    n->pool = strmap_get(&c->pool_ix, labels_get(&n->labels, STR(K_NP)));
    if (n->pool != MAP_NONE && n->has_claim && n->initialized && !n->terminating) { /* what budgets count */
        c->pools.v[n->pool].counted++;
        c->pools.v[n->pool].disrupting += n->not_ready || n->deleting;
    }
    if (n->deleting || n->ignored || n->pool == MAP_NONE)
        return;
    rvec_add(c, &c->pools.v[n->pool].used, &n->capacity);
    c->pools.v[n->pool].nodes++;
}

static void pods_join(struct checker *c)
{
    for (uint32_t i = 0; i < c->pods.n; i++) {
        struct cpod *p = &c->pods.v[i];

        c->n_pending += p->role == POD_PENDING;
        if (p->role != POD_BOUND)
            continue;
        uint32_t ix = strmap_get(&c->node_by_name, c->pod_nodes.v[i]);
        if (ix == MAP_NONE) {
            p->role = POD_OTHER;
            continue;
        }
        struct cnode *n = &c->nodes.v[ix];
        p->host = ix;
        p->next = n->first_pod;
        n->first_pod = i;
        rvec_add(c, &n->bound, &c->shapes.v[p->shape].requests);
        if (p->daemon)
            rvec_add(c, &n->bound_daemons, &c->shapes.v[p->shape].requests);
        if (n->deleting)
            p->role = POD_MOVING;
    }
}

static bool in_namespaces(const struct group *g, str ns)
{
    for (uint32_t i = 0; i < g->n_namespaces; i++)
        if (str_eq(g->namespaces[i], ns))
            return true;
    return false;
}

/* quirk: tolerations are part of what tells spread groups apart, so a pod that is relaxed to tolerate PreferNoSchedule
 * counts from zero in a group of its own (scheduling 13.2, 14). The plan does not say which pods were. */
static bool tolerations_may_change(const struct checker *c)
{
    for (uint32_t i = 0; i < c->pools.n; i++)
        for (uint32_t k = 0; k < c->pools.v[i].taints.n; k++)
            if (str_is(c->pools.v[i].taints.v[k].effect, "PreferNoSchedule"))
                return true;
    return false;
}

/* See any_term(): such a pod may land where its own spread does not count it. */
static bool contradicts_itself(const struct shape *s)
{
    str key;

    for (uint32_t t = 0; t < s->n_terms; t++) {
        for (uint32_t i = 0; i < s->terms[t].n; i++)
            if (!s->terms[t].v[i].open && s->terms[t].v[i].n_vals == 0)
                return true;
        for (uint32_t p = 0; p < s->n_preferred; p++)
            if (!creqs_meet(&s->terms[t], &s->preferred[p], &key))
                return true;
    }
    return false;
}

static void groups_finish(struct checker *c)
{
    for (uint32_t i = 0; i < c->groups.n && tolerations_may_change(c); i++)
        c->groups.v[i].unclear |= c->groups.v[i].kind == SPREAD;
    for (uint32_t i = 0; i < c->groups.n; i++) {
        struct group *g = &c->groups.v[i];

        if (g->kind == SPREAD || g->ns_selector.nil)
            continue;
        str *all = arena_new_array(c->a, str, g->n_namespaces + c->namespaces.n + 1);
        memcpy(all, g->namespaces, g->n_namespaces * sizeof(str));
        g->namespaces = all;
        for (uint32_t k = 0; k < c->namespaces.n; k++)
            if (selector_matches_object(&g->ns_selector, &c->namespaces.v[k].labels))
                all[g->n_namespaces++] = c->namespaces.v[k].name;
        /* The empty selector means every Namespace object; pods of a namespace without one are unclear. */
        g->unclear |= g->ns_selector.n == 0;
    }
    uint32_t *found = arena_new_array(c->a, uint32_t, c->groups.n + 1);
    for (uint32_t s = 0; s < c->shapes.n; s++) {
        struct shape *sh = &c->shapes.v[s];
        uint32_t n = 0;

        for (uint32_t i = 0; i < c->groups.n; i++)
            if (in_namespaces(&c->groups.v[i], sh->ns) &&
                selector_matches_object(&c->groups.v[i].selector, &sh->labels))
                found[n++] = i;
        sh->matches = arena_dup_array(c->a, uint32_t, found, n);
        sh->n_matches = n;
        for (uint32_t i = 0; i < sh->n_owns; i++)
            c->groups.v[sh->owns[i]].unclear |= contradicts_itself(sh);
        for (uint32_t i = 0; i < sh->n_owns; i++)
            for (uint32_t t = 0; t < sh->n_terms; t++)
                c->groups.v[sh->owns[i]].pod_domains_set |=
                    creqs_get(&sh->terms[t], c->groups.v[sh->owns[i]].key) != NULL;
    }
}

/* A DaemonSet whose running pods ask for something else than its template stands for we do not know which. */
static void daemons_finish(struct checker *c)
{
    for (uint32_t i = 0; i < c->daemons.n; i++) {
        struct cdaemon *d = &c->daemons.v[i];

        for (uint32_t k = 0; k < c->daemon_pods.n; k++)
            if (str_eq(c->daemon_pods.v[k].owner, d->name) &&
                memcmp(&c->shapes.v[c->daemon_pods.v[k].shape].requests, &c->shapes.v[d->shape].requests,
                       sizeof(struct rvec)))
                d->unclear = true;
    }
}

static void reservations_finish(struct checker *c)
{
    for (uint32_t t = 0; t < c->types.n; t++)
        for (uint32_t i = 0; i < c->types.v[t].n_offerings; i++) {
            const struct coffering *o = &c->types.v[t].offerings[i];
            const struct creq *id = creqs_get(&o->reqs, STR(K_RESERVATION));

            if (!id || id->n_vals != 1)
                continue;
            uint32_t ix = strmap_get(&c->reservations, id->vals[0]);
            if (ix == MAP_NONE) {
                strmap_put(&c->reservations, id->vals[0], c->reservations_left.n);
                vec_push(&c->reservations_left, o->reservation_capacity);
            } else {
                c->reservations_left.v[ix] = MIN(c->reservations_left.v[ix], o->reservation_capacity);
            }
        }
}

/* What the family and size labels of a type are is known for names of the usual form only (see kwok_labels). */
static bool type_unsure(const struct checker *c, const struct ctype *t, const struct creqs *term)
{
    for (uint32_t i = 0; i < term->n; i++)
        if (well_known(c, term->v[i].key) && str_starts(term->v[i].key, STR("karpenter.kwok.sh/")) &&
            !creqs_get(&t->reqs, term->v[i].key))
            return true;
    return false;
}

/* The daemons certain to run on each type of the pool, and what they need (spec: scheduling 16.2). */
void pool_daemons(struct checker *c, struct cpool *p)
{
    struct creqs have = creqs_copy(c, &p->reqs);
    str key;

    if (p->overhead)
        return;
    creqs_add(c, &have, creq_in(c, STR(K_REGISTERED), STR("true")));
    creqs_add(c, &have, creq_in(c, STR(K_INITIALIZED), STR("true")));
    p->overhead = arena_new_array(c->a, struct rvec, c->types.n + 1);
    p->daemon_sets = arena_new_array(c->a, uint64_t, c->types.n + 1);
    for (uint32_t d = 0; d < c->daemons.n && d < 64; d++) {
        const struct shape *s = &c->shapes.v[c->daemons.v[d].shape];

        for (uint32_t t = 0; t < c->types.n; t++)
            c->daemons.v[d].unclear |= type_unsure(c, &c->types.v[t], &s->terms[0]);
        if (c->daemons.v[d].unclear || !tolerates(s, &p->taints, /* hard_only= */ true, &key) ||
            !creqs_compatible(c, &have, &s->terms[0], /* lenient= */ true, &key))
            continue;
        for (uint32_t t = 0; t < c->types.n; t++)
            if (creqs_meet(&c->types.v[t].reqs, &s->terms[0], &key)) {
                rvec_add(c, &p->overhead[t], &s->requests);
                p->daemon_sets[t] |= 1ull << d;
            }
    }
}

static const struct cvolume *volume_of(struct checker *c, str claim)
{
    uint32_t ix = strmap_get(&c->claim_ix, claim);

    if (ix == MAP_NONE)
        return NULL;
    const struct cvolume_claim *p = &c->claims.v[ix];
    uint32_t v = strmap_get(p->volume.n ? &c->volume_ix : &c->class_ix, p->volume.n ? p->volume : p->storage_class);
    if (v == MAP_NONE)
        return NULL;
    return p->volume.n ? &c->volumes.v[v] : &c->classes.v[v];
}

str volume_driver(struct checker *c, str claim)
{
    const struct cvolume *v = volume_of(c, claim);

    return v ? v->driver : (str){0};
}

/* Recorded decisions treat a bound claim whose volume does not name a claim as one that cannot be looked up; such a pod
 * is planned without volumes and its constraints are not registered (scheduling 9.1). */
static void shapes_finish(struct checker *c)
{
    for (uint32_t i = 0; i < c->shapes.n; i++)
        for (uint32_t k = 0; k < c->shapes.v[i].n_claims; k++) {
            const struct cvolume *v = volume_of(c, c->shapes.v[i].claims[k]);

            c->shapes.v[i].unresolved |= v && v->unclaimed;
        }
}

bool volumes_allow(struct checker *c, const struct shape *s, const struct creqs *have, bool strict,
                   const char **ret_why)
{
    for (uint32_t i = 0; i < s->n_claims && !s->unresolved; i++) {
        uint32_t ix = strmap_get(&c->claim_ix, s->claims[i]);
        const struct cvolume *v = volume_of(c, s->claims[i]);
        bool ok = v && v->n_alternatives == 0;

        *ret_why = "whose volume claim cannot be used";
        if (ix == MAP_NONE || c->claims.v[ix].lost || (!v && c->claims.v[ix].volume.n))
            return false;
        if (!v)
            continue;
        *ret_why = "whose volume is not reachable there";
        for (uint32_t k = 0; k < v->n_alternatives && !ok; k++) {
            str key;

            ok = creqs_compatible(c, have, &v->alternatives[k], !strict, &key);
            for (uint32_t r = 0; ok && !strict && r < v->alternatives[k].n; r++) {
                const struct creq *h = creqs_get(have, v->alternatives[k].v[r].key);

                ok = h && creq_within(h, &v->alternatives[k].v[r]);
            }
        }
        if (!ok)
            return false;
    }
    return true;
}

/* Keys that the provisioner refuses in pods, or that say "not on Karpenter's nodes". */
static bool refused_key(const struct checker *c, str key)
{
    str domain, name;

    if (str_is(key, K_NP) || str_is(key, K_HOST))
        return true;
    if (well_known(c, key) || !str_cut(key, '/', &domain, &name))
        return false;
    return str_ends(domain, STR("karpenter.sh")) || str_ends(domain, STR("karpenter.kwok.sh")) ||
           str_ends(domain, STR("karpenter.k8s.aws"));
}

static bool fits_fresh_node(struct checker *c, struct cpool *p, const struct shape *s, const struct creqs *term)
{
    str key;
    uint32_t r;

    if (!creqs_compatible(c, &p->reqs, term, /* lenient= */ true, &key))
        return false;
    struct creqs all = creqs_copy(c, &p->reqs);
    for (uint32_t i = 0; i < term->n; i++)
        creqs_add(c, &all, term->v[i]);
    pool_daemons(c, p);
    for (uint32_t t = 0; t < c->types.n; t++) {
        const struct ctype *y = &c->types.v[t];
        struct rvec need = s->requests;

        rvec_add(c, &need, &p->overhead[t]);
        if (!creqs_meet(&y->reqs, &all, &key) || !rvec_fits(c, &need, &y->allocatable, &r))
            continue;
        for (uint32_t i = 0; i < y->n_offerings; i++)
            if (y->offerings[i].available &&
                creqs_compatible(c, &all, &y->offerings[i].reqs, /* lenient= */ true, &key))
                return true;
    }
    return false;
}

static bool simple(struct checker *c, const struct shape *s)
{
    if (s->n_owns || s->n_claims || s->n_ports || s->match_fields || c->partial || c->reservations_left.n)
        return false;
    for (uint32_t i = 0; i < s->n_matches; i++)
        if (c->groups.v[s->matches[i]].kind == ANTI_AFFINITY && !c->groups.v[s->matches[i]].host_key)
            return false;
    for (uint32_t t = 0; t < s->n_terms; t++)
        for (uint32_t i = 0; i < s->terms[t].n; i++)
            if (refused_key(c, s->terms[t].v[i].key))
                return false;
    for (uint32_t d = 0; d < c->daemons.n; d++)
        if (c->daemons.v[d].unclear)
            return false;
    return true;
}

/* A pod without topology, volumes or ports that a fresh node of an unlimited pool would hold has no reason to wait. */
bool must_have_place(struct checker *c, uint32_t shape)
{
    const struct shape *s = &c->shapes.v[shape];

    if (c->missing_ok[shape])
        return c->missing_ok[shape] == 2;
    c->missing_ok[shape] = 1;
    if (!simple(c, s))
        return false;
    for (uint32_t i = 0; i < c->pools.n; i++) {
        struct cpool *p = &c->pools.v[i];
        str key;

        if (!p->usable || p->limited || p->node_limit != INT64_MAX || p->has_min_values ||
            !tolerates(s, &p->taints, /* hard_only= */ true, &key))
            continue;
        /* Relaxing drops alternatives from the front before any preference: the last one is sure to be tried alone. */
        if (fits_fresh_node(c, p, s, &s->terms[s->n_terms - 1])) {
            c->missing_ok[shape] = 2;
            return true;
        }
    }
    return false;
}

void cluster_complete(struct checker *c)
{
    for (uint32_t i = 0; i < c->pools.n; i++)
        for (uint32_t k = 0; k < c->bad_classes.n; k++)
            c->pools.v[i].usable &= !str_eq(c->bad_classes.v[k], c->pools.v[i].class_id);
    for (uint32_t i = 0; i < c->nodes.n; i++) {
        node_finish(c, &c->nodes.v[i]);
        strmap_put(&c->node_by_plan_name, c->nodes.v[i].name, i);
    }
    pods_join(c);
    shapes_finish(c);
    groups_finish(c);
    daemons_finish(c);
    reservations_finish(c);
    c->remaining = arena_new_array(c->a, struct rvec, c->pools.n + 1);
    for (uint32_t i = 0; i < c->pools.n; i++)
        for (uint32_t r = 0; r < c->resources.n; r++)
            c->remaining[i].v[r] = c->pools.v[i].limits.v[r] - c->pools.v[i].used.v[r];
    c->missing_ok = arena_new_array(c->a, uint32_t, c->shapes.n + 1);
}
