/* Existing nodes and claims as bins, and whether one more pod fits (scheduling 10 and 11). */
#include "plan/pack.h"

static bool ip_is_any(const struct packer *k, sym ip)
{
    str s = sym_str(k->p.snap->syms, ip);

    return str_is(s, "0.0.0.0") || str_is(s, "::");
}

bool ports_clash(const struct packer *k, const struct host_port *a, uint32_t n_a, const struct host_port *b,
                 uint32_t n_b)
{
    for (uint32_t i = 0; i < n_a; i++)
        for (uint32_t j = 0; j < n_b; j++)
            if (a[i].port == b[j].port && sym_eq(a[i].proto, b[j].proto) &&
                (sym_eq(a[i].ip, b[j].ip) || ip_is_any(k, a[i].ip) || ip_is_any(k, b[j].ip)))
                return true;
    return false;
}

/* --- CSI volume limits ------------------------------------------------------------------------------------------- */

static bool csi_has(const struct csi_node *c, const struct pvc *claim)
{
    for (uint32_t i = 0; i < c->used.n; i++)
        if (c->used.v[i].claim == claim)
            return true;
    return false;
}

static uint32_t csi_count(const struct csi_node *c, str driver)
{
    uint32_t n = 0;

    for (uint32_t i = 0; i < c->used.n; i++)
        n += str_eq(c->used.v[i].driver, driver);
    return n;
}

void csi_use(struct packer *k, struct csi_node *c, const struct pod *pod)
{
    for (uint32_t i = 0; i < pod->spec->n_volumes; i++) {
        const struct pvc *claim = volume_claim(&k->p, pod, &pod->spec->volumes[i]);
        str driver = claim ? volume_driver(&k->p, claim) : (str){0};

        if (driver.n && !csi_has(c, claim))
            vec_push(&c->used, (struct csi_use){driver, claim});
    }
}

static bool csi_fits(struct packer *k, const struct csi_node *c, const struct pod *pod)
{
    for (uint32_t l = 0; l < c->n_limits; l++) {
        uint32_t n = csi_count(c, c->limits[l]->driver);
        const struct pvc *seen[64];
        uint32_t n_seen = 0;

        for (uint32_t i = 0; i < pod->spec->n_volumes && n_seen < ARRAY_LEN(seen); i++) {
            const struct pvc *claim = volume_claim(&k->p, pod, &pod->spec->volumes[i]);
            bool again = !claim || csi_has(c, claim);

            for (uint32_t j = 0; j < n_seen; j++)
                again |= seen[j] == claim;
            if (again || !str_eq(volume_driver(&k->p, claim), c->limits[l]->driver))
                continue;
            seen[n_seen++] = claim;
            n++;
        }
        if ((int64_t)n > c->limits[l]->count)
            return false;
    }
    return true;
}

static bool csi_over(const struct csi_node *c)
{
    for (uint32_t l = 0; l < c->n_limits; l++)
        if ((int64_t)csi_count(c, c->limits[l]->driver) > c->limits[l]->count)
            return true;
    return false;
}

/* A pod with a volume that is bound to nothing known cannot go to an existing node. */
static bool csi_known(struct packer *k, const struct pod *pod)
{
    for (uint32_t i = 0; i < pod->spec->n_volumes; i++) {
        const struct pvc *claim = volume_claim(&k->p, pod, &pod->spec->volumes[i]);

        if (claim && claim->volume_name.n && strmap_get(&k->p.pv_ix, claim->volume_name) == MAP_NONE)
            return false;
    }
    return true;
}

/* The limits of every node, found by its name. */
struct csi_limits {
    struct strmap first; /* node -> index of a limit */
    uint32_t *next;      /* [n_csi_limits]: another of the same node; NONE */
};

static void csi_index(struct packer *k, struct csi_limits *x)
{
    const struct snapshot *s = k->p.snap;

    x->next = arena_new_array(k->p.arena, uint32_t, s->n_csi_limits);
    for (uint32_t i = s->n_csi_limits; i-- > 0;) {
        x->next[i] = strmap_get(&x->first, s->csi_limits[i].node);
        strmap_put(&x->first, s->csi_limits[i].node, i);
    }
}

static void csi_build(struct packer *k, struct bin *b, const struct state_node *n, const struct csi_limits *x)
{
    const struct snapshot *s = k->p.snap;
    uint32_t first = n->node ? strmap_get(&x->first, n->node->name) : MAP_NONE, count = 0;

    if (first == MAP_NONE)
        return;
    for (uint32_t i = first; i != NONE; i = x->next[i])
        count++;
    b->csi = arena_new_one(k->p.arena, struct csi_node);
    b->csi->limits = arena_new_array(k->p.arena, const struct csi_limit *, count);
    for (uint32_t i = first; i != NONE; i = x->next[i])
        b->csi->limits[b->csi->n_limits++] = &s->csi_limits[i];
}

/* --- existing nodes ------------------------------------------------------------------------------------------------- */

void node_measure(struct packer *k, struct bin *b)
{
    struct problem *p = &k->p;
    const struct state_node *n = &p->snap->nodes[b->node];

    for (uint32_t i = 0; i < n->allocatable.n; i++) { /* only what the node has at all */
        const struct resq *q = &n->allocatable.q[i];
        uint32_t d = problem_dim(p, q->name);
        int64_t still = sat_sub(b->daemons[d], reslist_value(&n->daemon_requests, q->name));

        b->vec[d] = sat_sub(sat_sub(q->v, reslist_value(&n->requests, q->name)), MAX(still, (int64_t)0));
    }
    b->ports.n = 0;
    for (uint32_t i = 0; k->any_ports && i < n->n_pods; i++) {
        const struct podspec *spec = p->snap->pods[n->pods[i]].spec;

        for (uint32_t j = 0; j < spec->n_ports; j++)
            vec_push(&b->ports, spec->ports[j]);
    }
    if (!b->csi)
        return;
    b->csi->used.n = 0;
    for (uint32_t i = 0; i < n->n_pods; i++)
        csi_use(k, b->csi, &p->snap->pods[n->pods[i]]);
    b->csi->over = csi_over(b->csi);
}

static void add_node_bin(struct packer *k, uint32_t node, const struct csi_limits *limits)
{
    struct problem *p = &k->p;
    const struct state_node *n = &p->snap->nodes[node];
    uint32_t label_rs = problem_lset_rs(p, n->labels);
    struct bin *b = vec_add(&k->bins);

    b->node = node;
    b->tmpl = NONE;
    b->first = b->last = NONE;
    b->taint_set = problem_taint_set(p, &n->taints);
    b->host = topology_host(&k->topo, n->hostname);
    b->rs = rs_add(&p->space, label_rs, req_one(&p->space, p->host_key, k->topo.hosts.v[b->host].val));
    b->vec = arena_new_array(p->arena, int64_t, p->n_dims);
    b->daemons = daemons_on_node(p, label_rs, b->taint_set);
    csi_build(k, b, n, limits);
    node_measure(k, b);
}

static int cmp_nodes(const void *a, const void *b, void *ctx)
{
    const struct snapshot *s = ctx;
    const struct state_node *x = &s->nodes[*(const uint32_t *)a], *y = &s->nodes[*(const uint32_t *)b];

    if (x->initialized != y->initialized)
        return x->initialized ? -1 : 1;
    int c = str_cmp(x->name, y->name);
    return c ? c : x < y ? -1 : x > y; /* of equal names the first in the snapshot */
}

/* Nodes that stay, in the order that they had last time, then those that were not there. */
static uint32_t *nodes_as_before(struct packer *k, uint32_t *ret_n)
{
    struct problem *p = &k->p;
    const struct snapshot *s = p->snap;
    uint32_t *order = arena_new_array(p->arena, uint32_t, s->n_nodes), n = 0;
    uint64_t *seen = arena_new_array(p->arena, uint64_t, BITS_WORDS(s->n_nodes) + 1);

    for (uint32_t i = 0; i < p->node_order.n; i++) {
        uint32_t node = p->node_order.v[i];

        if (node >= s->n_nodes || s->nodes[node].deleting)
            continue;
        bit_set(seen, node);
        order[n++] = node;
    }
    for (uint32_t i = 0; i < s->n_nodes; i++)
        if (!s->nodes[i].deleting && !bit_test(seen, i))
            order[n++] = i;
    *ret_n = n;
    return order;
}

/* Sorting a thousand names costs more than compiling their nodes, and from one time to the next few of them change: whoever is in order stays, the others are sorted and merged. */
static uint32_t *order_nodes(struct packer *k, uint32_t *ret_n)
{
    struct problem *p = &k->p;
    void *s = (void *)(uintptr_t)p->snap;
    uint32_t n, *order = nodes_as_before(k, &n), kept = 0, n_rest = 0, at = n;
    uint32_t *rest = arena_new_array(p->arena, uint32_t, n);

    for (uint32_t i = 0; i < n; i++)
        if (kept == 0 || cmp_nodes(&order[kept - 1], &order[i], s) < 0)
            order[kept++] = order[i];
        else
            rest[n_rest++] = order[i];
    sort_stable(rest, n_rest, sizeof(*rest), cmp_nodes, s);
    while (n_rest > 0) /* from the end */
        if (kept > 0 && cmp_nodes(&order[kept - 1], &rest[n_rest - 1], s) > 0)
            order[--at] = order[--kept];
        else
            order[--at] = rest[--n_rest];
    p->node_order.n = 0;
    for (uint32_t i = 0; i < n; i++)
        vec_push(&p->node_order, order[i]);
    *ret_n = n;
    return order;
}

void bins_build(struct packer *k)
{
    uint32_t n, *order = order_nodes(k, &n);
    struct csi_limits limits = {0};

    csi_index(k, &limits);
    for (uint32_t i = 0; i < n; i++)
        add_node_bin(k, order[i], &limits);
    strmap_fini(&limits.first);
    k->n_node_bins = n;
}

bool room_fits(const struct packer *k, const int64_t *room, const int64_t *want)
{
    for (uint32_t d = 0; d < k->p.n_dims; d++)
        if (room[d] < 0 || want[d] > room[d])
            return false;
    return true;
}

/* Pod requirements, then one volume alternative, then topology; the result in *ret_rs. */
static bool narrow(struct packer *k, uint32_t rs, uint32_t vol, uint32_t variant, uint32_t host, enum compat mode,
                   uint32_t *ret_rs)
{
    struct reqspace *s = &k->p.space;
    uint32_t group, out;

    if (vol != RS_EMPTY) {
        if (!rs_compatible(s, rs, vol, mode))
            return false;
        rs = rs_union(s, rs, vol);
    }
    out = rs;
    if (k->topo.any && !topology_narrow(&k->topo, variant, rs, host, &out, &group))
        return false;
    if (out != rs && !rs_compatible(s, rs, out, mode))
        return false;
    *ret_rs = out;
    return true;
}

/* Constraints about the host itself; what they refuse, other than for affinity, they refuse for good. */
static enum verdict host_fits(struct packer *k, uint32_t variant, uint32_t host)
{
    bool final;

    if (!k->topo.any || !k->p.variants.v[variant].has_host_rules ||
        topology_host_allows(&k->topo, variant, host, &final))
        return FITS;
    return final ? REFUSED_CLASS : REFUSED;
}

/* Ports, host rules and the first look at requirements are alike for nodes and claims. */
enum verdict bin_fits(struct packer *k, const struct bin *b, uint32_t variant, enum compat mode)
{
    struct problem *p = &k->p;
    const struct variant *v = &p->variants.v[variant];
    const struct podspec *spec = p->shapes.v[v->shape].spec;

    if (!problem_tolerates(p, v->tol_set, b->taint_set) || !rs_compatible(&p->space, b->rs, v->full, mode))
        return REFUSED_CLASS;
    if (spec->n_ports && ports_clash(k, spec->ports, spec->n_ports, b->ports.v, b->ports.n))
        return REFUSED_CLASS;
    return host_fits(k, variant, b->host);
}

enum verdict node_fits(struct packer *k, const struct bin *b, uint32_t variant, uint32_t pod)
{
    struct problem *p = &k->p;
    const struct variant *v = &p->variants.v[variant];
    const struct shape *sh = &p->shapes.v[v->shape];
    const struct pod *real = packer_pod(k, pod);
    enum verdict verdict = bin_fits(k, b, variant, COMPAT_STRICT);

    if (verdict != FITS)
        return verdict;
    if (b->settling && needs_settled(k, pod))
        return REFUSED;
    /* quirk: the limits are asked about every pod, so a node beyond one takes no pod at all (scheduling 6.3) */
    if (b->csi && b->csi->over)
        return REFUSED;
    if (real->spec->n_volumes && (!csi_known(k, real) || (b->csi && !csi_fits(k, b->csi, real))))
        return REFUSED;
    if (!room_fits(k, b->vec, sh->requests))
        return REFUSED_SIZE;
    uint32_t rs = rs_union(&p->space, b->rs, v->full), none = RS_EMPTY;
    struct vol_alts alts = sh->vols == NONE ? (struct vol_alts){&none, 1} : p->vols.v[sh->vols];
    for (uint32_t i = 0; i < alts.n; i++)
        if (narrow(k, rs, alts.rs[i], variant, b->host, COMPAT_STRICT, &k->fit.rs))
            return FITS;
    return REFUSED;
}

/* --- claims ----------------------------------------------------------------------------------------------------------- */

static uint32_t count_types(const struct problem *p, const uint64_t *rows)
{
    uint32_t n = 0, last = NONE;

    for (BITS_EACH(r, rows, p->row_words)) { /* rows of a type are neighbours */
        n += p->rows.v[r].type != last;
        last = p->rows.v[r].type;
    }
    return n;
}

static void note_exclusion(struct packer *k, const struct tmpl *t)
{
    uint32_t n = count_types(&k->p, t->rows), left = count_types(&k->p, t->within);

    if (left && left != n)
        vec_push(&k->exclusions, ((struct plan_exclusion){t->pool, n - left, n}));
}

const uint64_t *limits_rows(struct packer *k, struct tmpl *t)
{
    const struct problem *p = &k->p;
    uint32_t words = BITS_WORDS(p->n_dims);

    if (!t->has_limits)
        return t->rows;
    if (t->within_valid)
        return t->within;
    if (!t->within)
        t->within = arena_new_array(p->arena, uint64_t, p->row_words);
    t->within_valid = true;
    bits_zero(t->within, p->row_words);
    if (t->nodes_exhausted)
        return t->within;
    for (BITS_EACH(r, t->rows, p->row_words)) {
        const int64_t *cap = p->type_capacity + (size_t)p->rows.v[r].type * p->n_dims;
        bool ok = true;

        for (BITS_EACH(d, t->limited, words))
            ok &= cap[d] <= t->remaining[d];
        if (ok)
            bit_set(t->within, r);
    }
    if (k->notes_exclusions)
        note_exclusion(k, t);
    return t->within;
}

/* Pessimistic: the largest type that is left might be launched (scheduling 17.2). */
void limits_charge(struct packer *k, uint32_t tmpl, const uint64_t *rows)
{
    const struct problem *p = &k->p;
    struct tmpl *t = &p->tmpls[tmpl];
    uint32_t nodes_dim = problem_dim(p, SYM(NODES)); /* quirk: no type has it, so a round does not count nodes */

    if (!t->has_limits)
        return;
    undo_save_limits(k, tmpl);
    for (BITS_EACH(d, t->limited, BITS_WORDS(p->n_dims))) {
        int64_t most = 0;

        if (d == nodes_dim)
            continue;
        for (BITS_EACH(r, rows, p->row_words))
            most = MAX(most, p->type_capacity[(size_t)p->rows.v[r].type * p->n_dims + d]);
        t->remaining[d] = sat_sub(t->remaining[d], most);
    }
    t->within_valid = false;
}

void limits_return(struct packer *k, uint32_t node)
{
    const struct problem *p = &k->p;
    const struct state_node *n = &p->snap->nodes[node];
    uint32_t nodes_dim = problem_dim(p, SYM(NODES));

    for (uint32_t i = 0; i < p->n_tmpls; i++) {
        struct tmpl *t = &p->tmpls[i];

        if (!t->has_limits || !sym_eq(n->pool, p->snap->pools[t->pool].name_sym))
            continue;
        undo_save_limits(k, i);
        for (uint32_t q = 0; q < n->capacity.n; q++) {
            uint32_t d = problem_dim(p, n->capacity.q[q].name);

            if (d != NONE && d != nodes_dim)
                t->remaining[d] = sat_add(t->remaining[d], n->capacity.q[q].v);
        }
        if (nodes_dim != NONE)
            t->remaining[nodes_dim] = sat_add(t->remaining[nodes_dim], 1000);
        limits_refresh(p, t);
    }
}

/* Which reservations the claim would hold (scheduling 18). */
static enum verdict reserve(struct packer *k, const struct bin *b)
{
    struct problem *p = &k->p;
    bool offered = false, can = false, had = false;
    uint32_t words = BITS_WORDS(p->reservations.n);

    bits_zero(k->fit.held, words);
    for (BITS_EACH(r, k->fit.rows, p->row_words))
        for (uint32_t i = p->row_offering[r]; i < p->row_offering[r + 1]; i++) {
            const struct row_offering *o = &p->offerings.v[i];

            if (o->reservation == NONE || !o->available ||
                !rs_compatible(&p->space, k->fit.rs, p->off_classes.v[o->cls].rs, COMPAT_LENIENT))
                continue;
            offered = true;
            if ((b && b->held && bit_test(b->held, o->reservation)) || p->reservations.v[o->reservation].left > 0) {
                bit_set(k->fit.held, o->reservation);
                can = true;
            }
        }
    had = b && b->held && bits_any(b->held, words);
    return !k->fallback && ((offered && !can) || (had && !can)) ? NO_RESERVATION : FITS;
}

/* Keeps in fit.rows the types that meet fit.rs and have room for `need` next to their daemons (scheduling 12.1). */
bool filter_rows(struct packer *k, const struct tmpl *t, const uint64_t *from, const struct shape *sh)
{
    struct problem *p = &k->p;
    const uint64_t *ok = rows_of_rs(p, k->fit.rs);
    uint32_t words = p->row_words;

    bits_zero(k->fit.rows, words);
    for (uint32_t i = 0; i < t->n_groups; i++) {
        const struct daemon_group *g = &t->groups[i];

        if (sh->spec->n_ports && g->n_ports && ports_clash(k, sh->spec->ports, sh->spec->n_ports, g->ports, g->n_ports))
            continue;
        bits_copy(k->scratch, from, words);
        bits_and(k->scratch, ok, words);
        bits_and(k->scratch, g->rows, words);
        if (!bits_any(k->scratch, words))
            continue;
        for (uint32_t d = 0; d < p->n_dims; d++)
            k->need[p->n_dims + d] = sat_add(k->need[d], g->overhead[d]);
        rows_fit(p, k->scratch, k->need + p->n_dims);
        bits_or(k->fit.rows, k->scratch, words);
    }
    return bits_any(k->fit.rows, words);
}

static enum verdict alternative_fits(struct packer *k, const struct bin *b, const struct tmpl *t, const uint64_t *from,
                                     const struct shape *sh)
{
    struct problem *p = &k->p;

    k->fit.relaxed = b && b->relaxed;
    if (!filter_rows(k, t, from, sh))
        return REFUSED;
    if (rs_has_min_values(&p->space, k->fit.rs)) {
        uint32_t lowered;

        if (!rows_min_values(p, k->fit.rows, k->fit.rs, &lowered)) {
            if (b || p->snap->settings.min_values == MINVALUES_STRICT)
                return REFUSED;
            k->fit.rs = lowered;
            k->fit.relaxed = true;
        }
    }
    return p->reservations.n ? reserve(k, b) : FITS;
}

/* Room alone: some type that is left could hold the pod if nothing else mattered. */
static bool size_fits(struct packer *k, const struct bin *b, const struct tmpl *t)
{
    struct problem *p = &k->p;

    for (uint32_t i = 0; i < t->n_groups; i++) {
        const struct daemon_group *g = &t->groups[i];

        bits_copy(k->scratch, b->rows, p->row_words);
        bits_and(k->scratch, g->rows, p->row_words);
        for (uint32_t d = 0; d < p->n_dims; d++)
            k->need[p->n_dims + d] = sat_add(k->need[d], g->overhead[d]);
        rows_fit(p, k->scratch, k->need + p->n_dims);
        if (bits_any(k->scratch, p->row_words))
            return true;
    }
    return false;
}

static bool asks_for_extras(const struct problem *p, const int64_t *requests)
{
    for (uint32_t d = DIM_FIXED; d < p->n_dims; d++)
        if (requests[d] > 0)
            return true;
    return false;
}

/* What the claim would have to hold with the pod's part of these resources. */
static void claim_need(struct packer *k, const struct bin *b, const int64_t *requests, uint32_t from, uint32_t to)
{
    for (uint32_t d = 0; d < k->p.n_dims; d++)
        k->need[d] = sat_add(b ? b->vec[d] : 0, d >= from && d < to ? requests[d] : 0);
}

/* Why a pod was refused: for want of what the index knows of, of what pods of its class want alike, or of neither. */
static enum verdict why_refused(struct packer *k, const struct bin *b, const struct tmpl *t, const struct shape *sh)
{
    if (size_fits(k, b, t))
        return REFUSED;
    if (!asks_for_extras(&k->p, sh->requests))
        return REFUSED_SIZE;
    claim_need(k, b, sh->requests, 0, DIM_FIXED);
    if (!size_fits(k, b, t))
        return REFUSED_SIZE;
    claim_need(k, b, sh->requests, DIM_FIXED, k->p.n_dims);
    return size_fits(k, b, t) ? REFUSED : REFUSED_CLASS;
}

enum verdict claim_fits(struct packer *k, const struct bin *b, uint32_t tmpl, uint32_t variant)
{
    struct problem *p = &k->p;
    struct tmpl *t = &p->tmpls[tmpl];
    const struct variant *v = &p->variants.v[variant];
    const struct shape *sh = &p->shapes.v[v->shape];
    uint32_t host = b ? b->host : k->spare_host;
    const struct bin fresh = {.rs = t->rs, .taint_set = t->taint_set, .host = host};
    uint32_t none = RS_EMPTY;
    enum verdict verdict = bin_fits(k, b ? b : &fresh, variant, COMPAT_LENIENT);

    if (verdict != FITS)
        return verdict;
    uint32_t rs = rs_union(&p->space, b ? b->rs : t->rs, v->full);
    if (!bits_meet(b ? b->rows : t->rows, rows_of_rs(p, rs), p->row_words))
        return REFUSED_CLASS; /* no type, however small the pod */
    const uint64_t *from = b ? b->rows : limits_rows(k, t);
    claim_need(k, b, sh->requests, 0, p->n_dims);
    struct vol_alts alts = sh->vols == NONE ? (struct vol_alts){&none, 1} : p->vols.v[sh->vols];
    for (uint32_t i = 0; i < alts.n; i++) {
        verdict = REFUSED;
        if (narrow(k, rs, alts.rs[i], variant, host, COMPAT_LENIENT, &k->fit.rs))
            verdict = alternative_fits(k, b, t, from, sh);
        if (verdict == FITS)
            return FITS;
    }
    return b && verdict == REFUSED ? why_refused(k, b, t, sh) : verdict;
}
