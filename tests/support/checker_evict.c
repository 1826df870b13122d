/* What keeps a pod on its node and a node in the cluster (spec: lifecycle 1.2, 1.3, 8.3, 8.4), what budgets allow (8.6)
 * and what a node costs. */
#include "checker_int.h"

bool pod_reschedulable(const struct cpod *p)
{
    return (p->counted || p->stateful) && !p->daemon && !p->mirror;
}

static bool pod_evictable(struct checker *c, const struct cpod *p)
{
    struct ctaint disrupted = {STR(K_DISRUPTED), STR(""), STR("NoSchedule")};
    str key;

    return p->counted && !p->mirror && !p->guarded &&
           !tolerates(&c->shapes.v[p->shape], &(struct ctaints){&disrupted, 1}, /* hard_only= */ true, &key);
}

/* The only budget of the pod that counts, or how many there are. */
static const struct cpdb *pod_budget(struct checker *c, const struct cpod *p, uint32_t *ret_n)
{
    const struct shape *s = &c->shapes.v[p->shape];
    const struct cpdb *found = NULL;

    *ret_n = 0;
    for (uint32_t i = 0; i < c->pdbs.n; i++)
        if (str_eq(c->pdbs.v[i].ns, s->ns) && selector_matches_object(&c->pdbs.v[i].selector, &s->labels)) {
            found = &c->pdbs.v[i];
            ++*ret_n;
        }
    return found;
}

static bool pod_blocked(struct checker *c, const struct cpod *p, bool for_ever)
{
    uint32_t n;
    const struct cpdb *b = pod_budget(c, p, &n);

    if (n == 0 || !pod_evictable(c, p))
        return false;
    if (n > 1)
        return true;
    if (b->always_unhealthy && p->unready)
        return false;
    return for_ever ? b->never : b->counted && b->allowed == 0;
}

bool pod_leaves(struct checker *c, const struct cpod *p)
{
    return pod_reschedulable(p) && !(p->counted && p->guarded) && !pod_blocked(c, p, /* for_ever= */ true);
}

static const char *pods_obstacle(struct checker *c, const struct cnode *n)
{
    for (uint32_t i = n->first_pod; i != NONE; i = c->pods.v[i].next)
        if (c->pods.v[i].counted && c->pods.v[i].guarded)
            return "a pod on it has do-not-disrupt";
    for (uint32_t i = n->first_pod; i != NONE; i = c->pods.v[i].next)
        if (pod_blocked(c, &c->pods.v[i], /* for_ever= */ false))
            return "a PodDisruptionBudget keeps a pod on it";
    return NULL;
}

static bool node_empty(struct checker *c, const struct cnode *n)
{
    for (uint32_t i = n->first_pod; i != NONE; i = c->pods.v[i].next)
        if (pod_reschedulable(&c->pods.v[i]) && !c->pods.v[i].weightless)
            return false;
    return true;
}

static bool type_offered(struct checker *c, const struct cnode *n)
{
    return strmap_get(&c->type_ix, labels_get(&n->labels, STR(K_ITYPE))) != MAP_NONE;
}

/* By its condition, or by what the controller would find when it looks (spec: lifecycle 4.1.1). */
static bool node_drifted(struct checker *c, const struct cnode *n, const struct cpool *p)
{
    struct creqs labels = creqs_of_labels(c, &n->claim_labels);
    str key;

    if (n->drifted || !type_offered(c, n))
        return true;
    if (n->hash.n && p->hash.n && str_eq(n->hash_version, p->hash_version) && !str_eq(n->hash, p->hash))
        return true;
    return !creqs_compatible(c, &labels, &p->written, /* lenient= */ false, &key);
}

static const char *consolidation_obstacle(struct checker *c, const struct cnode *n, const struct cpool *p, bool empty)
{
    if (p->never)
        return "its NodePool never consolidates";
    if (!n->consolidatable)
        return "its NodeClaim is not Consolidatable";
    if (empty != node_empty(c, n))
        return empty ? "it is not empty" : "it is empty";
    if (empty)
        return NULL;
    if (str_is(p->policy, "WhenEmpty"))
        return "its NodePool lets only empty nodes go";
    if (!type_offered(c, n))
        return "its instance type is unknown";
    if (!labels_get(&n->labels, STR(K_CT)).p || !labels_get(&n->labels, STR(K_ZONE)).p)
        return "it has no capacity type or no zone";
    return NULL;
}

const char *node_obstacle(struct checker *c, const struct cnode *n, str method)
{
    bool drift = str_is(method, "Drifted");

    if (!n->has_claim || n->ignored)
        return "it is not managed";
    if (!n->has_node)
        return "it has no Node";
    if (!n->initialized)
        return "it is not initialized";
    if (n->deleting)
        return "it is going away already";
    if (n->guarded)
        return "it has do-not-disrupt";
    if (n->pool == NONE)
        return "its NodePool does not exist";
    const struct cpool *p = &c->pools.v[n->pool];
    if (p->is_static)
        return "its NodePool is static";
    const char *why = drift && n->has_grace ? NULL : pods_obstacle(c, n);
    if (why)
        return why;
    if (drift)
        return node_drifted(c, n, p) ? NULL : "it has not drifted";
    return consolidation_obstacle(c, n, p, str_is(method, "Empty"));
}

/* How many nodes of `n` a budget leaves; -1: it says nothing now. An unreadable one leaves none. */
static int64_t budget_value(const struct checker *c, const struct cbudget *b, int64_t n)
{
    int64_t v;
    bool open = true;

    if ((b->schedule.n || b->has_duration) && !window_read(b->schedule, b->duration_ms, c->now_ms, &open))
        return 0;
    if (!open)
        return -1;
    if (str_to_i64(b->nodes, &v))
        return v;
    if (!str_ends(b->nodes, STR("%")) || !str_to_i64(str_sub(b->nodes, 0, b->nodes.n - 1), &v))
        return 0;
    return (v * n + 99) / 100;
}

static bool budget_about(const struct cbudget *b, str reason)
{
    for (uint32_t i = 0; i < b->n_reasons; i++)
        if (str_eq(b->reasons[i], reason))
            return true;
    return b->any_reason;
}

bool budget_allows(struct checker *c, const struct cpool *p, str reason, int64_t taken, int64_t *ret_allowed)
{
    *ret_allowed = INT32_MAX;
    for (uint32_t i = 0; i < p->n_budgets; i++) {
        int64_t v = budget_value(c, &p->budgets[i], p->counted);

        if (v >= 0 && budget_about(&p->budgets[i], reason))
            *ret_allowed = MIN(*ret_allowed, v);
    }
    return p->disrupting + taken <= *ret_allowed;
}

/* The first offering of its type in its zone and capacity type, on offer now or not; 0 when unknown. */
double node_price(struct checker *c, const struct cnode *n)
{
    uint32_t t = strmap_get(&c->type_ix, labels_get(&n->labels, STR(K_ITYPE)));
    str zone = labels_get(&n->labels, STR(K_ZONE)), ct = labels_get(&n->labels, STR(K_CT));

    for (uint32_t i = 0; t != MAP_NONE && i < c->types.v[t].n_offerings; i++) {
        const struct coffering *o = &c->types.v[t].offerings[i];
        const struct creq *z = creqs_get(&o->reqs, STR(K_ZONE)), *k = creqs_get(&o->reqs, STR(K_CT));

        if (z && k && creq_has(z, zone) && creq_has(k, ct))
            return o->price;
    }
    return 0;
}
