/* Spread, affinity and anti-affinity of pods that change places (spec: scheduling 13), command by command: pods that
 * leave are taken out of the counts of their domains, those that arrive are judged by what holds when all of a command
 * have arrived, as in checker_topology.c, and then belong to what was there before. */
#include "checker_int.h"

/* The domain of a key that a host is in for certain. */
static bool host_domain(struct checker *c, const struct group *g, uint32_t host, uint32_t *ret)
{
    if (g->host_key) {
        *ret = host;
        return true;
    }
    if (host < c->nodes.n) {
        str value = labels_get(&c->nodes.v[host].labels, g->key);

        if (value.p)
            *ret = domain_of(c, value);
        return value.p != NULL;
    }
    const struct creq *r = creqs_get(&c->reqsets.v[c->hosts.v[host - c->nodes.n].reqset].r, g->key);
    if (!r || r->open || r->n_vals != 1)
        return false;
    *ret = domain_of(c, r->vals[0]);
    return true;
}

static bool owns(const struct shape *s, uint32_t group)
{
    for (uint32_t i = 0; i < s->n_owns && !s->unresolved; i++)
        if (s->owns[i] == group)
            return true;
    return false;
}

/* The groups that a shape has to do with, one by one: those it owns, then those that only select it. */
static bool next_group(const struct shape *s, uint32_t *at, uint32_t *ret)
{
    uint32_t n_owns = s->unresolved ? 0 : s->n_owns;

    for (; *at < n_owns + s->n_matches; ++*at) {
        uint32_t group = *at < n_owns ? s->owns[*at] : s->matches[*at - n_owns];

        if (*at >= n_owns && owns(s, group))
            continue;
        ++*at;
        *ret = group;
        return true;
    }
    return false;
}

/* Pods that wait for a place may turn up anywhere. */
void shift_begin(struct checker *c)
{
    count_pods(c);
    for (uint32_t i = 0; i < c->pods.n; i++) {
        const struct shape *s = &c->shapes.v[c->pods.v[i].shape];

        if (c->pods.v[i].role != POD_PENDING && c->pods.v[i].role != POD_MOVING)
            continue;
        for (uint32_t k = 0; k < s->n_matches; k++)
            c->groups.v[s->matches[k]].anywhere++;
    }
}

void shift_leave(struct checker *c, uint32_t pod, uint32_t node, bool comes_back)
{
    const struct shape *s = &c->shapes.v[c->pods.v[pod].shape];
    const struct cnode *n = &c->nodes.v[node];
    uint32_t group, domain;

    for (uint32_t at = 0; c->pods.v[pod].counted && next_group(s, &at, &group);) {
        const struct group *g = &c->groups.v[group];

        if (!host_domain(c, g, node, &domain))
            continue;
        struct dcount *d = count_of(c, group, domain);
        bool selected = group_selects(s, group);

        d->match_old -= selected;
        d->own_old -= owns(s, group) && labels_get(&n->labels, g->key).p;
        if (g->kind == SPREAD && selected)
            d->old_filtered -= filter_accepts(c, g, n);
        d->match_elsewhere += selected && !comes_back;
    }
}

void shift_arrive(struct checker *c, uint32_t pod)
{
    const struct shape *s = &c->shapes.v[c->pods.v[pod].shape];
    uint32_t group;

    for (uint32_t at = 0; next_group(s, &at, &group);)
        count_new(c, &c->pods.v[pod], group, owns(s, group), group_selects(s, group));
}

static uint64_t present(const struct dcount *d)
{
    return (uint64_t)d->match_new + d->match_maybe + d->match_old + d->match_elsewhere;
}

static uint64_t present_anywhere(const struct checker *c, const struct group *g)
{
    uint64_t all = g->anywhere;

    for (uint32_t i = g->first_count; i != NONE; i = c->counts.v[i].next)
        all += present(&c->counts.v[i]);
    return all;
}

static uint32_t least_of(struct checker *c, uint32_t group)
{
    return c->groups.v[group].host_key ? 0 : emptiest(c, group);
}

/* Would it break a rule of its own or of a pod that is there? For a pod that has not arrived yet. */
bool shift_admits(struct checker *c, uint32_t pod, uint32_t node)
{
    const struct shape *s = &c->shapes.v[c->pods.v[pod].shape];
    uint32_t group, domain;

    for (uint32_t at = 0; next_group(s, &at, &group);) {
        struct group *g = &c->groups.v[group];
        bool owner = owns(s, group), selected = group_selects(s, group);

        if (!host_domain(c, g, node, &domain)) {
            if (owner)
                return false;
            continue;
        }
        uint32_t least = g->kind == SPREAD && owner && selected && !g->unclear ? least_of(c, group) : UINT32_MAX;
        const struct dcount *d = count_of(c, group, domain);
        uint32_t owners = d->own_old + d->own_self + d->own_other;
        if (g->kind == ANTI_AFFINITY && ((owner && present(d)) || (selected && owners)))
            return false;
        if (g->kind == AFFINITY && owner && !present(d) && !(selected && present_anywhere(c, g) == 0))
            return false;
        if (least != UINT32_MAX && (int64_t)d->old_filtered + d->own_self + 1 - least > g->max_skew)
            return false;
    }
    return true;
}

static void judge(struct checker *c, const struct cpod *p, uint32_t group, const struct dcount *d, bool owner,
                  bool selected)
{
    struct group *g = &c->groups.v[group];
    str where = domain_name(c, g, d->domain);
    uint32_t all = d->match_new + d->match_maybe + d->match_old, domain = d->domain, least;

    switch (g->kind) {
    case ANTI_AFFINITY:
        if ((owner && all >= (selected ? 2u : 1u)) || (selected && d->own_old))
            checker_fail(c, "pod " STR_FMT " breaks anti-affinity over " STR_FMT " in " STR_FMT, STR_ARG(p->id),
                         STR_ARG(g->key), STR_ARG(where));
        return;
    case AFFINITY:
        if (!owner || g->unclear || g->pod_domains_set || present(d) + g->anywhere > selected)
            return;
        if (!selected || present_anywhere(c, g) > 1)
            checker_fail(c, "pod " STR_FMT " has nobody to join over " STR_FMT " in " STR_FMT, STR_ARG(p->id),
                         STR_ARG(g->key), STR_ARG(where));
        return;
    case SPREAD:
        least = owner && selected && !g->unclear ? least_of(c, group) : UINT32_MAX;
        d = count_of(c, group, domain); /* least_of() may have moved it */
        if (least != UINT32_MAX && (int64_t)d->own_self + d->old_filtered - least > g->max_skew)
            checker_fail(c,
                         "pod " STR_FMT " breaks spread over " STR_FMT ": " STR_FMT
                         " has %u, the emptiest domain %u, maxSkew is %lld",
                         STR_ARG(p->id), STR_ARG(g->key), STR_ARG(where), d->own_self + d->old_filtered, least,
                         (long long)g->max_skew);
        return;
    }
}

void shift_check(struct checker *c, uint32_t pod)
{
    const struct cpod *p = &c->pods.v[pod];
    const struct shape *s = &c->shapes.v[p->shape];
    uint32_t group, domain;

    for (uint32_t at = 0; next_group(s, &at, &group);)
        if (host_domain(c, &c->groups.v[group], p->host, &domain))
            judge(c, p, group, count_of(c, group, domain), owns(s, group), group_selects(s, group));
}

/* Counts by what is certain; a pod in one of several domains stays where count_new() put it, on the lenient side. */
void shift_settle(struct checker *c, uint32_t pod)
{
    const struct cpod *p = &c->pods.v[pod];
    const struct shape *s = &c->shapes.v[p->shape];
    uint32_t group, domain;

    for (uint32_t at = 0; next_group(s, &at, &group);) {
        if (!host_domain(c, &c->groups.v[group], p->host, &domain))
            continue;
        struct dcount *d = count_of(c, group, domain);
        bool owner = owns(s, group), selected = group_selects(s, group);

        d->match_new -= selected;
        d->match_old += selected;
        d->own_self -= owner && selected;
        d->own_other -= owner && !selected;
        d->own_old += owner;
        d->old_filtered += owner && selected;
    }
}
