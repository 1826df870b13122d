/* Asking groups for domains and counting placements. How groups come to be is in topology_groups.c. */
#include "plan/topology.h"

int32_t topology_host_count(const struct topology *t, uint32_t group, uint32_t host)
{
    uint32_t n = u64map_get(&t->host_counts, u64_pair(group, host));

    return n == MAP_NONE ? 0 : (int32_t)n;
}

/* No domain that the pod accepts has a pod yet: somebody has to be the first. */
static bool nobody_there(const struct topology *t, const struct topo_group *g, uint32_t pod_req)
{
    const struct reqspace *s = &t->p->space;

    if (g->is_host) {
        for (uint32_t i = 0; i < g->busy_hosts.n; i++)
            if (req_has(s, pod_req, t->hosts.v[g->busy_hosts.v[i]].val))
                return false;
        return true;
    }
    for (BITS_EACH(v, g->known, s->keys.v[g->key].n_words))
        if (g->counts[v] > 0 && req_has(s, pod_req, v))
            return false;
    return true;
}

static bool host_allows(const struct topology *t, uint32_t group, bool self, uint32_t pod_req, uint32_t host)
{
    const struct topo_group *g = &t->groups.v[group];
    int32_t n = topology_host_count(t, group, host);

    switch (g->kind) {
    case TOPO_SPREAD: /* a new host may always be opened, so the global minimum is 0 */
        return n + self <= g->max_skew;
    case TOPO_ANTI:
        return n == 0;
    case TOPO_AFFINITY:
        return req_has(&t->p->space, pod_req, t->hosts.v[host].val) && (n > 0 || (self && nobody_there(t, g, pod_req)));
    }
    return false;
}

/* The fewest pods in any domain that the pod accepts. */
static int64_t spread_minimum(const struct topology *t, const struct topo_group *g, uint32_t pod_req)
{
    const struct reqspace *s = &t->p->space;
    int64_t min = INT32_MAX;
    int32_t domains = 0;

    for (BITS_EACH(v, g->known, s->keys.v[g->key].n_words))
        if (req_has(s, pod_req, v)) {
            domains++;
            min = MIN(min, (int64_t)g->counts[v]);
        }
    return g->min_domains && domains < g->min_domains ? 0 : min;
}

/* All domains where one more pod keeps the skew, wherever the node may be. */
static void spread_open(const struct topology *t, const struct topo_group *g, bool self, uint32_t pod_req,
                        uint64_t *out)
{
    int64_t min = spread_minimum(t, g, pod_req);

    for (BITS_EACH(v, g->known, t->p->space.keys.v[g->key].n_words))
        if (g->counts[v] + (int64_t)self - min <= g->max_skew)
            bit_set(out, v);
}

static bool spread_domains(const struct topology *t, const struct topo_group *g, bool self, uint32_t pod_req,
                           uint32_t node_req, uint64_t *out)
{
    const struct reqspace *s = &t->p->space;
    uint32_t words = s->keys.v[g->key].n_words, best = VAL_NONE;
    int64_t min = spread_minimum(t, g, pod_req);

    for (BITS_EACH(v, g->known, words))
        if (req_has(s, node_req, v) && g->counts[v] + (int64_t)self - min <= g->max_skew &&
            (best == VAL_NONE || g->counts[v] < g->counts[best]))
            best = v;
    if (best == VAL_NONE)
        return false;
    bit_set(out, best);
    return true;
}

static bool affinity_domains(const struct topology *t, const struct topo_group *g, bool self, uint32_t pod_req,
                             uint32_t node_req, uint64_t *out)
{
    const struct reqspace *s = &t->p->space;
    uint32_t words = s->keys.v[g->key].n_words, elsewhere = VAL_NONE;

    for (BITS_EACH(v, g->known, words))
        if (g->counts[v] > 0 && req_has(s, pod_req, v) && req_has(s, node_req, v))
            bit_set(out, v);
    if (bits_any(out, words))
        return true;
    if (!self || !nobody_there(t, g, pod_req))
        return false;
    for (BITS_EACH(v, g->known, words)) {
        if (!req_has(s, pod_req, v))
            continue;
        if (req_has(s, node_req, v)) {
            bit_set(out, v);
            return true;
        }
        if (elsewhere == VAL_NONE)
            elsewhere = v;
    }
    if (elsewhere == VAL_NONE)
        return false;
    bit_set(out, elsewhere); /* not on this node: the caller's compatibility check will say so */
    return true;
}

static bool anti_domains(const struct topology *t, const struct topo_group *g, uint32_t pod_req, uint32_t node_req,
                         uint64_t *out)
{
    const struct reqspace *s = &t->p->space;
    uint32_t words = s->keys.v[g->key].n_words;

    for (BITS_EACH(v, g->known, words))
        if (g->counts[v] == 0 && req_has(s, pod_req, v) && req_has(s, node_req, v))
            bit_set(out, v);
    return bits_any(out, words);
}

/* The domains a group leaves, as a requirement on its key; false: none. */
static bool group_domains(struct topology *t, const struct topo_group *g, bool self, uint32_t strict, uint32_t rs,
                          uint32_t *ret_req)
{
    struct reqspace *s = &t->p->space;
    uint32_t words = s->keys.v[g->key].n_words;
    uint32_t pod_req = rs_get(s, strict, g->key), node_req = rs_get(s, rs, g->key);
    uint64_t small[16], *out = words <= ARRAY_LEN(small) ? small : xcalloc(words, sizeof(*out));
    bool ok = false;

    bits_zero(out, words);
    switch (g->kind) {
    case TOPO_SPREAD:
        ok = spread_domains(t, g, self, pod_req, node_req, out);
        break;
    case TOPO_AFFINITY:
        ok = affinity_domains(t, g, self, pod_req, node_req, out);
        break;
    case TOPO_ANTI:
        ok = anti_domains(t, g, pod_req, node_req, out);
        break;
    }
    if (ok) {
        bool single = words == 1 && (out[0] & (out[0] - 1)) == 0;

        *ret_req = single ? req_one(s, g->key, bit_lowest(out[0])) : req_in(s, g->key, out);
    }
    if (out != small)
        free(out);
    return ok;
}

bool topology_host_allows(struct topology *t, uint32_t variant, uint32_t host, bool *ret_final)
{
    const struct variant *v = &t->p->variants.v[variant];
    const struct lclass *c = &t->p->classes.v[t->p->shapes.v[v->shape].lclass];

    *ret_final = true;
    for (uint32_t i = 0; i < c->inverse.n; i++)
        if (t->groups.v[c->inverse.v[i]].is_host && topology_host_count(t, c->inverse.v[i], host) > 0)
            return false;
    for (uint32_t i = 0; i < v->groups.n; i++) {
        uint32_t group = v->groups.v[i].group;
        const struct topo_group *g = &t->groups.v[group];

        if (!g->is_host)
            continue;
        uint32_t pod_req = rs_get(&t->p->space, v->strict, g->key);
        if (!host_allows(t, group, v->groups.v[i].self, pod_req, host)) {
            *ret_final = g->kind != TOPO_AFFINITY;
            return false;
        }
    }
    return true;
}

/* An inverse group is there from when a pod that has the term is known: pods that are tried without topology first are not (scheduling 9.1). */
static bool is_in_force(const struct topology *t, const struct topo_group *g)
{
    return !g->inverse || g->holders || g->live_in == t->round;
}

bool topology_narrow(struct topology *t, uint32_t variant, uint32_t rs, uint32_t host, uint32_t *ret_rs,
                     uint32_t *ret_group)
{
    const struct variant *v = &t->p->variants.v[variant];
    const struct lclass *c = &t->p->classes.v[t->p->shapes.v[v->shape].lclass];
    uint32_t out = rs, req;

    /* Every group sees the same requirements; their answers are intersected afterwards. */
    for (uint32_t i = 0; i < v->groups.n + c->inverse.n; i++) {
        bool own = i < v->groups.n;
        uint32_t group = own ? v->groups.v[i].group : c->inverse.v[i - v->groups.n];
        const struct topo_group *g = &t->groups.v[group];
        bool self = own && v->groups.v[i].self;

        if (!is_in_force(t, g))
            continue;
        *ret_group = group;
        if (g->is_host) {
            if (!host_allows(t, group, self, rs_get(&t->p->space, v->strict, g->key), host))
                return false;
            continue; /* the host is pinned already */
        }
        if (!group_domains(t, g, self, v->strict, rs, &req))
            return false;
        out = rs_add(&t->p->space, out, req);
    }
    *ret_rs = out;
    return true;
}

uint64_t topology_open_values(struct topology *t, uint32_t variant, uint32_t key)
{
    const struct variant *v = &t->p->variants.v[variant];
    const struct lclass *c = &t->p->classes.v[t->p->shapes.v[v->shape].lclass];
    const struct reqspace *s = &t->p->space;
    uint32_t pod_req = rs_get(s, v->strict, key);
    uint64_t open = ~0ull, out[1];

    for (uint32_t i = 0; i < v->groups.n + c->inverse.n; i++) {
        bool own = i < v->groups.n;
        const struct topo_group *g = &t->groups.v[own ? v->groups.v[i].group : c->inverse.v[i - v->groups.n]];

        if (g->key != key || g->is_host || s->keys.v[key].n_words > 1 || !is_in_force(t, g))
            continue;
        out[0] = 0;
        switch (g->kind) {
        case TOPO_SPREAD:
            spread_open(t, g, own && v->groups.v[i].self, pod_req, out);
            break;
        case TOPO_AFFINITY:
            (void)affinity_domains(t, g, own && v->groups.v[i].self, pod_req, REQ_NONE, out);
            if (nobody_there(t, g, pod_req)) /* any domain will do for the first */
                out[0] = out[0] ? g->known[0] : 0;
            break;
        case TOPO_ANTI:
            (void)anti_domains(t, g, pod_req, REQ_NONE, out);
            break;
        }
        open &= out[0];
    }
    return open;
}

bool topology_filter_matches(struct topology *t, const struct topo_group *g, uint32_t rs, uint32_t taint_set)
{
    if (!g->filtered)
        return true;
    if (g->honor_taints && !problem_tolerates(t->p, g->tol_set, taint_set))
        return false;
    if (!g->honor_affinity)
        return true;
    for (uint32_t i = 0; i < g->n_alts; i++)
        if (rs_compatible(&t->p->space, rs, g->alts[i], COMPAT_STRICT))
            return true;
    return false;
}

static void set_host_count(struct topology *t, uint32_t group, uint32_t host, int32_t was, int32_t n)
{
    struct topo_group *g = &t->groups.v[group];

    u64map_put(&t->host_counts, u64_pair(group, host), (uint32_t)n);
    if (g->kind != TOPO_AFFINITY)
        return;
    if (was == 0 && n > 0)
        vec_push(&g->busy_hosts, host);
    for (uint32_t i = 0; was > 0 && n == 0 && i < g->busy_hosts.n; i++)
        if (g->busy_hosts.v[i] == host) {
            g->busy_hosts.v[i] = vec_last(&g->busy_hosts);
            g->busy_hosts.n--;
            return;
        }
}

void topology_count_host(struct topology *t, uint32_t group, uint32_t host, int change)
{
    int32_t was = topology_host_count(t, group, host);

    if (t->logging)
        vec_push(&t->log, (struct count_change){group, host, was});
    set_host_count(t, group, host, was, was + change);
}

void topology_refresh(struct topo_group *g, uint32_t val)
{
    if (g->counts[val] > 0 || g->support[val] > 0 || bit_test(g->seeded, val))
        bit_set(g->known, val);
    else
        bit_clear(g->known, val);
}

void topology_count_value(struct topology *t, uint32_t group, uint32_t val, int change)
{
    struct topo_group *g = &t->groups.v[group];

    if (t->logging)
        vec_push(&t->log, (struct count_change){group, val, g->counts[val]});
    g->counts[val] += change;
    topology_refresh(g, val);
}

void topology_undo(struct topology *t, uint32_t mark)
{
    while (t->log.n > mark) {
        struct count_change c = t->log.v[--t->log.n];
        struct topo_group *g = &t->groups.v[c.group];

        if (g->is_host) {
            set_host_count(t, c.group, c.at, topology_host_count(t, c.group, c.at), c.was);
            continue;
        }
        g->counts[c.at] = c.was;
        topology_refresh(g, c.at);
    }
}

static void count_domains(struct topology *t, uint32_t group, uint32_t rs, uint32_t host)
{
    const struct topo_group *g = &t->groups.v[group];
    const struct reqspace *s = &t->p->space;

    if (g->is_host) {
        topology_count_host(t, group, host, 1);
        return;
    }
    uint32_t req = rs_get(s, rs, g->key), one, words = s->keys.v[g->key].n_words;
    if (req == REQ_NONE)
        return;
    if (req_is_single(s, req, &one)) {
        topology_count_value(t, group, one, 1);
        return;
    }
    if (g->kind != TOPO_ANTI)
        return; /* not decided yet: counts nowhere */
    uint64_t *raw = xcalloc(words, sizeof(*raw));
    req_raw(s, req, raw);
    for (BITS_EACH(v, raw, words))
        topology_count_value(t, group, v, 1); /* could be anywhere: counts everywhere */
    free(raw);
}

/* Groups that select the pod: those that somebody of this round has asked for, or the others. */
static void count_selected(struct topology *t, uint32_t variant, uint32_t rs, uint32_t host, uint32_t taint_set,
                           bool live)
{
    const struct lclass *c = &t->p->classes.v[t->p->shapes.v[t->p->variants.v[variant].shape].lclass];

    for (uint32_t i = 0; i < c->selected.n; i++) {
        const struct topo_group *g = &t->groups.v[c->selected.v[i]];

        if ((g->live_in == t->round) == live && topology_filter_matches(t, g, rs, taint_set))
            count_domains(t, c->selected.v[i], rs, host);
    }
}

void topology_settle(struct topology *t, uint32_t variant, uint32_t rs, uint32_t host, uint32_t taint_set)
{
    count_selected(t, variant, rs, host, taint_set, /* live= */ false);
}

void topology_record(struct topology *t, uint32_t variant, uint32_t rs, uint32_t host, uint32_t taint_set)
{
    const struct variant *v = &t->p->variants.v[variant];
    const struct shape *sh = &t->p->shapes.v[v->shape];

    count_selected(t, variant, rs, host, taint_set, /* live= */ true);
    for (uint32_t i = 0; i < sh->n_inverse_owned && !v->bare; i++)
        count_domains(t, sh->inverse_owned[i], rs, host);
}
