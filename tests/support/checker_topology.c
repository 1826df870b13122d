/* Spread, affinity and anti-affinity of the finished placement (spec: scheduling 13).
 *
 * The order in which pods were placed is not in the plan, so each rule is judged by what it implies for the end:
 *   spread         the pods that carry the constraint, with those that ran before, exceed the emptiest domain by
 *                  at most maxSkew. Pods that are merely selected may come later and do not count against it.
 *   anti-affinity  no domain holds an owner and another selected pod, in either direction.
 *   affinity       a domain with an owner holds a selected pod; owners that select themselves open one domain at most,
 *                  and none when selected pods ran somewhere before.
 * A claim whose domain is still open counts in every domain that it may become, on the lenient side of each rule. */
#include "checker_int.h"

/* Domains of a key: hosts are numbered by themselves, other values by their text. */
uint32_t domain_of(struct checker *c, str value)
{
    uint32_t ix = strmap_get(&c->domain_ix, value);

    if (ix != MAP_NONE)
        return ix;
    ix = c->domains.n;
    vec_push(&c->domains, value);
    strmap_put(&c->domain_ix, value, ix);
    return ix;
}

struct dcount *count_of(struct checker *c, uint32_t group, uint32_t domain)
{
    uint32_t ix = u64map_get(&c->count_ix, u64_pair(group, domain));

    if (ix == MAP_NONE) {
        ix = c->counts.n;
        struct dcount *d = vec_add(&c->counts);
        d->domain = domain;
        d->next = c->groups.v[group].first_count;
        c->groups.v[group].first_count = ix;
        u64map_put(&c->count_ix, u64_pair(group, domain), ix);
    }
    return &c->counts.v[ix];
}

bool group_selects(const struct shape *s, uint32_t group)
{
    for (uint32_t i = 0; i < s->n_matches; i++)
        if (s->matches[i] == group)
            return true;
    return false;
}

/* Does the group count pods on this node? As its first owner sees it. */
bool filter_accepts(struct checker *c, const struct group *g, const struct cnode *n)
{
    const struct shape *s = &c->shapes.v[g->first_owner];
    str key;

    if (g->honor_taints && n->node_taints.n)
        return false;
    return !g->honor_affinity || creqs_compatible(c, &n->reqs, &s->terms[0], /* lenient= */ false, &key);
}

static void count_old(struct checker *c, const struct cpod *p, uint32_t group, bool owner, bool selected)
{
    const struct group *g = &c->groups.v[group];
    const struct cnode *n = &c->nodes.v[p->host];
    str value = labels_get(&n->labels, g->key);

    if (!p->counted || (!g->host_key && !value.p) || !n->has_node)
        return;
    struct dcount *d = count_of(c, group, g->host_key ? p->host : domain_of(c, value));
    if (n->deleting || n->ignored) {
        d->match_elsewhere += selected;
        return;
    }
    d->match_old += selected;
    d->own_old += owner && value.p;
    if (g->kind == SPREAD && selected)
        d->old_filtered += filter_accepts(c, g, n);
}

static void count_new_in(struct checker *c, uint32_t group, uint32_t domain, bool owner, bool selected, bool certain)
{
    struct dcount *d = count_of(c, group, domain);

    if (selected && certain)
        d->match_new++;
    if (selected && !certain)
        d->match_maybe++;
    if (owner && selected && (certain || c->groups.v[group].kind == ANTI_AFFINITY))
        d->own_self++;
    if (owner && !selected)
        d->own_other++;
}

void count_new(struct checker *c, const struct cpod *p, uint32_t group, bool owner, bool selected)
{
    struct group *g = &c->groups.v[group];

    if (g->host_key) {
        count_new_in(c, group, p->host, owner, selected, true);
        return;
    }
    if (p->host < c->nodes.n) {
        str value = labels_get(&c->nodes.v[p->host].labels, g->key);

        if (value.p)
            count_new_in(c, group, domain_of(c, value), owner, selected, true);
        return;
    }
    const struct creq *r = creqs_get(&c->reqsets.v[c->hosts.v[p->host - c->nodes.n].reqset].r, g->key);
    if (!r || r->open) {
        g->anywhere += selected;
        return;
    }
    for (uint32_t i = 0; i < r->n_vals; i++)
        count_new_in(c, group, domain_of(c, r->vals[i]), owner, selected, r->n_vals == 1);
}

void count_pods(struct checker *c)
{
    for (uint32_t i = 0; i < c->pods.n; i++) {
        const struct cpod *p = &c->pods.v[i];
        const struct shape *s = &c->shapes.v[p->shape];
        bool placed = p->seen && p->host != NONE;

        if (p->host == NONE || p->role == POD_OTHER || (p->seen && !placed))
            continue;
        for (uint32_t k = 0; k < s->n_owns && !s->unresolved; k++) {
            bool selected = group_selects(s, s->owns[k]);

            if (placed)
                count_new(c, p, s->owns[k], true, selected);
            else
                count_old(c, p, s->owns[k], true, selected);
        }
        for (uint32_t k = 0; k < s->n_matches; k++) {
            bool owner = false;

            for (uint32_t o = 0; o < s->n_owns && !s->unresolved; o++)
                owner |= s->owns[o] == s->matches[k];
            if (owner)
                continue;
            if (placed)
                count_new(c, p, s->matches[k], false, true);
            else
                count_old(c, p, s->matches[k], false, true);
        }
    }
}

str domain_name(const struct checker *c, const struct group *g, uint32_t domain)
{
    if (!g->host_key)
        return c->domains.v[domain];
    if (domain < c->nodes.n)
        return c->nodes.v[domain].name;
    return c->pods.v[c->hosts.v[domain - c->nodes.n].first_pod].id;
}

str owner_name(struct checker *c, const struct group *g)
{
    static char text[160];
    const struct shape *s = &c->shapes.v[g->first_owner];
    int n = snprintf(text, sizeof(text), STR_FMT, STR_ARG(s->ns));

    for (uint32_t i = 0; i < s->labels.n && n > 0 && (size_t)n < sizeof(text); i++)
        n += snprintf(text + n, sizeof(text) - (size_t)n, " " STR_FMT "=" STR_FMT, STR_ARG(s->labels.v[i].key),
                      STR_ARG(s->labels.v[i].value));
    return str_c(text);
}

static void anti_affinity_check(struct checker *c, const struct group *g)
{
    for (uint32_t i = g->first_count; i != NONE; i = c->counts.v[i].next) {
        const struct dcount *d = &c->counts.v[i];
        uint32_t all = d->match_new + d->match_maybe + d->match_old;

        if ((d->own_self && all >= 2) || (d->own_other && all >= 1) ||
            (d->own_old && d->match_new + d->match_maybe >= 1))
            checker_fail(c, "anti-affinity over " STR_FMT " of pods like " STR_FMT " is broken in " STR_FMT,
                         STR_ARG(g->key), STR_ARG(owner_name(c, g)), STR_ARG(domain_name(c, g, d->domain)));
    }
}

static void affinity_check(struct checker *c, const struct group *g)
{
    uint32_t opened = 0, old = 0;

    for (uint32_t i = g->first_count; i != NONE; i = c->counts.v[i].next) {
        const struct dcount *d = &c->counts.v[i];

        if (d->own_other && d->match_new + d->match_maybe + d->match_old + d->match_elsewhere == 0 && g->host_key)
            checker_fail(c, "affinity over " STR_FMT " of pods like " STR_FMT " has nobody to join in " STR_FMT,
                         STR_ARG(g->key), STR_ARG(owner_name(c, g)), STR_ARG(domain_name(c, g, d->domain)));
        old += d->match_old;
        opened +=
            d->own_self > 0 && d->match_new == d->own_self && d->match_old + d->match_maybe + d->match_elsewhere == 0;
    }
    if (g->pod_domains_set || g->unclear)
        return;
    if (opened > 1 || (opened == 1 && old > 0))
        checker_fail(c,
                     "affinity over " STR_FMT " of pods like " STR_FMT
                     ": %u domains of their own, %u pods ran elsewhere before",
                     STR_ARG(g->key), STR_ARG(owner_name(c, g)), opened, old);
}

/* Owners that do not select themselves, over keys other than the host: a domain of theirs must hold a selected pod. */
static void affinity_hosts_check(struct checker *c)
{
    for (uint32_t i = 0; i < c->pods.n; i++) {
        const struct cpod *p = &c->pods.v[i];
        const struct shape *s = &c->shapes.v[p->shape];

        for (uint32_t k = 0; k < s->n_owns && p->seen && p->host != NONE && !s->unresolved; k++) {
            const struct group *g = &c->groups.v[s->owns[k]];
            bool met = g->anywhere > 0;

            if (g->kind != AFFINITY || g->host_key || group_selects(s, s->owns[k]))
                continue;
            str value = p->host < c->nodes.n ? labels_get(&c->nodes.v[p->host].labels, g->key) : (str){0};
            struct creq one = {.vals = &value, .n_vals = value.p != NULL};
            const struct creq *r = p->host < c->nodes.n
                                       ? &one
                                       : creqs_get(&c->reqsets.v[c->hosts.v[p->host - c->nodes.n].reqset].r, g->key);
            for (uint32_t v = 0; r && v < r->n_vals && !met; v++) {
                const struct dcount *d = count_of(c, s->owns[k], domain_of(c, r->vals[v]));

                met = d->match_new + d->match_maybe + d->match_old + d->match_elsewhere > 0;
            }
            if (!met)
                checker_fail(c, "affinity over " STR_FMT " of pod " STR_FMT " has nobody to join", STR_ARG(g->key),
                             STR_ARG(p->id));
        }
    }
}

static void add_domain(struct checker *c, uint8_t **known, uint32_t *cap, str value)
{
    uint32_t d = domain_of(c, value);

    if (d >= *cap) {
        uint32_t grown = 2 * d + 64;
        uint8_t *v = arena_new_array(c->a, uint8_t, grown);

        if (*cap)
            memcpy(v, *known, *cap);
        *known = v;
        *cap = grown;
    }
    (*known)[d] = 1;
}

/* Values of the key that a pool can certainly provide. Fewer than upstream knows make the check weaker, never wrong. */
static void pool_domains(struct checker *c, const struct cpool *p, str key, uint8_t **known, uint32_t *cap)
{
    const struct creq *allowed = creqs_get(&p->reqs, key);
    str k;

    for (uint32_t t = 0; t < c->types.n; t++) {
        const struct ctype *y = &c->types.v[t];
        const struct creq *r = creqs_get(&y->reqs, key);

        if (!creqs_meet(&y->reqs, &p->reqs, &k))
            continue;
        for (uint32_t i = 0; i < y->n_offerings; i++) {
            const struct creq *o = creqs_get(&y->offerings[i].reqs, key);

            if (o && y->offerings[i].available && o->n_vals == 1 && (!allowed || creq_has(allowed, o->vals[0])))
                add_domain(c, known, cap, o->vals[0]);
        }
        bool offered = str_is(key, K_ZONE) || str_is(key, K_CT);
        for (uint32_t i = 0; r && !r->open && !offered && i < r->n_vals; i++)
            if (!allowed || creq_has(allowed, r->vals[i]))
                add_domain(c, known, cap, r->vals[i]);
    }
    for (uint32_t i = 0; allowed && !allowed->open && !creqs_get(&c->types.v[0].reqs, key) && i < allowed->n_vals; i++)
        add_domain(c, known, cap, allowed->vals[i]);
}

static void known_domains(struct checker *c, struct group *g)
{
    const struct shape *s = &c->shapes.v[g->first_owner];
    str key;

    for (uint32_t i = 0; i < c->pools.n; i++)
        if (c->pools.v[i].usable && c->types.n &&
            (!g->honor_taints || tolerates(s, &c->pools.v[i].taints, /* hard_only= */ false, &key)))
            pool_domains(c, &c->pools.v[i], g->key, &g->known, &g->n_known);
}

/* The count of the emptiest domain that the owners may use; UINT32_MAX when no domain is certain. */
uint32_t emptiest(struct checker *c, uint32_t group)
{
    struct group *g = &c->groups.v[group];
    const struct creq *allowed = creqs_get(&c->shapes.v[g->first_owner].terms[0], g->key);
    uint32_t least = UINT32_MAX;

    if (!g->known)
        known_domains(c, g);
    for (uint32_t d = 0; d < g->n_known && d < c->domains.n; d++) {
        if (!g->known[d] || (allowed && !creq_has(allowed, c->domains.v[d])))
            continue;
        const struct dcount *n = count_of(c, group, d);
        uint64_t all = (uint64_t)n->match_new + n->match_maybe + n->match_old + n->match_elsewhere + g->anywhere;
        least = (uint32_t)MIN(least, all);
    }
    return least;
}

static void spread_check(struct checker *c, uint32_t group)
{
    const struct group *g = &c->groups.v[group];
    uint32_t least = 0;

    if (g->unclear || g->first_count == NONE)
        return;
    if (!g->host_key)
        least = emptiest(c, group);
    if (least == UINT32_MAX)
        return;
    for (uint32_t i = g->first_count; i != NONE; i = c->counts.v[i].next) {
        const struct dcount *d = &c->counts.v[i];

        if (d->own_self && (int64_t)d->own_self + d->old_filtered - least > g->max_skew)
            checker_fail(c,
                         "spread over " STR_FMT " of pods like " STR_FMT ": " STR_FMT
                         " has %u, the emptiest domain %u, maxSkew is %lld",
                         STR_ARG(g->key), STR_ARG(owner_name(c, g)), STR_ARG(domain_name(c, g, d->domain)),
                         d->own_self + d->old_filtered, least, (long long)g->max_skew);
    }
}

void topology_check(struct checker *c)
{
    if (c->groups.n == 0)
        return;
    count_pods(c);
    affinity_hosts_check(c);
    for (uint32_t i = 0; i < c->groups.n; i++) {
        switch (c->groups.v[i].kind) {
        case SPREAD:
            spread_check(c, i);
            break;
        case AFFINITY:
            affinity_check(c, &c->groups.v[i]);
            break;
        case ANTI_AFFINITY:
            anti_affinity_check(c, &c->groups.v[i]);
            break;
        }
    }
}
