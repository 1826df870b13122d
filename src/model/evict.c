#include "model/evict.h"

#include <stdlib.h>

#include "base/map.h"
#include "base/vec.h"
#include "model/duration.h"

bool pod_is_finished(const struct pod *p)
{
    return p->phase == PHASE_SUCCEEDED || p->phase == PHASE_FAILED;
}

bool pod_is_active(const struct pod *p)
{
    return !pod_is_finished(p) && !p->terminating;
}

bool pod_is_provisionable(const struct pod *p)
{
    return p->unschedulable && !sym_some(p->node) && !p->nominated && p->owner != OWNER_DAEMONSET &&
           p->owner != OWNER_NODE && !pod_is_finished(p);
}

/* A duration in the annotation; 0 when it is something else, which protects nothing. */
static int64_t protection_ns(const struct pod *p)
{
    struct err ignored;
    int64_t ns;

    return duration_parse(p->do_not_disrupt, &ns, &ignored) && ns > 0 ? ns : 0;
}

bool pod_is_protected(const struct pod *p, int64_t now_ms)
{
    if (p->do_not_disrupt.n == 0)
        return false;
    if (str_is(p->do_not_disrupt, "true"))
        return true;
    return protection_ns(p) && (p->started_ms == INT64_MIN || now_ms < pod_protected_until(p));
}

int64_t pod_protected_until(const struct pod *p)
{
    if (str_is(p->do_not_disrupt, "true") || p->started_ms == INT64_MIN)
        return INT64_MAX;
    return sat_add(p->started_ms, (protection_ns(p) - 1) / 1000000 + 1); /* whole milliseconds, rounded up */
}

bool pod_is_undisruptable(const struct pod *p, int64_t now_ms)
{
    return pod_is_active(p) && pod_is_protected(p, now_ms);
}

static bool tolerates_disruption(const struct pod *p, const struct syms *syms)
{
    static const struct taint disrupted = {.key = SYM(DISRUPTED), .effect = EFFECT_NO_SCHEDULE};

    for (uint32_t i = 0; i < p->spec->tolerations.n; i++)
        if (toleration_tolerates(&p->spec->tolerations.v[i], &disrupted, syms))
            return true;
    return false;
}

bool pod_is_evictable(const struct pod *p, const struct syms *syms, int64_t now_ms)
{
    return pod_is_active(p) && p->owner != OWNER_NODE && !pod_is_protected(p, now_ms) && !tolerates_disruption(p, syms);
}

bool pod_is_drainable(const struct pod *p, const struct syms *syms, int64_t now_ms)
{
    bool stuck = p->terminating && p->deleted.v && now_ms - moment_ms(p->deleted) > 60 * 1000;

    return p->owner != OWNER_NODE && !stuck && !tolerates_disruption(p, syms);
}

bool pod_is_waiting_eviction(const struct pod *p, const struct syms *syms, int64_t now_ms)
{
    return !pod_is_finished(p) && pod_is_drainable(p, syms, now_ms);
}

bool pod_is_reschedulable(const struct pod *p)
{
    if (p->owner == OWNER_DAEMONSET || p->owner == OWNER_NODE || pod_is_finished(p))
        return false;
    return !p->terminating || p->owner == OWNER_STATEFULSET;
}

double pod_eviction_cost(const struct pod *p)
{
    double cost = 1 + p->deletion_cost / (1 << 27) + p->priority / (double)(1 << 25);

    return cost < -10 ? -10 : cost > 10 ? 10 : cost; /* NaN stays */
}

/* --- disruption budgets ---------------------------------------------------------------------------------------------- */

/* A budget is found by one label that it demands, its anchor. Those that demand none have their namespace for one. */
struct pdb_index {
    const struct snapshot *s;
    struct arena *lists;
    struct u64map by_anchor; /* hash of namespace and anchor -> the first such budget */
    uint32_t *next;          /* [n_pdbs]: the next budget with the same hash; MAP_NONE */
    struct u64map by_labels; /* namespace and label set -> covers */
    VEC(struct pdb_list) covers;
    struct pdb_counts *counts; /* [n_pdbs]; NULL: not asked for yet */
};

static struct label anchor_of(const struct pdb *b)
{
    if (b->selector.n_labels == 0)
        return (struct label){0};
    return (struct label){b->selector.exprs[0].key, b->selector.exprs[0].vals[0]};
}

static uint64_t anchor_hash(sym ns, struct label l)
{
    return hash_mix(hash_mix(ns.v, l.key.v), l.val.v);
}

struct pdb_index *pdb_index_new(const struct snapshot *s)
{
    struct pdb_index *x = xcalloc(1, sizeof(*x));

    x->s = s;
    x->lists = arena_new(4096);
    x->next = arena_new_array(x->lists, uint32_t, s->n_pdbs);
    for (uint32_t i = s->n_pdbs; i-- > 0;) {
        uint64_t at = anchor_hash(s->pdbs[i].ns, anchor_of(&s->pdbs[i]));

        x->next[i] = u64map_get(&x->by_anchor, at);
        u64map_put(&x->by_anchor, at, i);
    }
    return x;
}

void pdb_index_free(struct pdb_index *x)
{
    if (!x)
        return;
    u64map_fini(&x->by_anchor);
    u64map_fini(&x->by_labels);
    vec_fini(&x->covers);
    arena_free(x->lists);
    free(x);
}

typedef VEC(uint32_t) ix_list;

static void collect(const struct pdb_index *x, const struct pod *p, struct label anchor, ix_list *out)
{
    const struct snapshot *s = x->s;

    for (uint32_t i = u64map_get(&x->by_anchor, anchor_hash(p->ns, anchor)); i != MAP_NONE; i = x->next[i]) {
        const struct pdb *b = &s->pdbs[i];
        struct label own = anchor_of(b);

        if (sym_eq(b->ns, p->ns) && sym_eq(own.key, anchor.key) && sym_eq(own.val, anchor.val) &&
            selector_matches(&b->selector, s->syms, p->labels))
            vec_push(out, i);
    }
}

static int by_name(const void *a, const void *b, void *ctx)
{
    const struct snapshot *s = ctx;

    return str_cmp(s->pdbs[*(const uint32_t *)a].name, s->pdbs[*(const uint32_t *)b].name);
}

static struct pdb_list find_covering(struct pdb_index *x, const struct pod *p)
{
    ix_list found = {0};
    uint32_t n;
    const struct label *labels = lset_get(x->s->syms, p->labels, &n);

    collect(x, p, (struct label){0}, &found);
    for (uint32_t i = 0; i < n; i++)
        collect(x, p, labels[i], &found);
    sort_stable(found.v, found.n, sizeof(*found.v), by_name, (void *)(uintptr_t)x->s);
    struct pdb_list l = {arena_dup_array(x->lists, uint32_t, found.v, found.n), found.n};
    vec_fini(&found);
    return l;
}

static struct pdb_list covering(struct pdb_index *x, const struct pod *p)
{
    if (x->s->n_pdbs == 0)
        return (struct pdb_list){0};
    uint64_t key = u64_pair(p->ns.v, p->labels.v);
    uint32_t ix = u64map_get(&x->by_labels, key);
    if (ix == MAP_NONE) {
        ix = x->covers.n;
        vec_push(&x->covers, find_covering(x, p));
        u64map_put(&x->by_labels, key, ix);
    }
    return x->covers.v[ix];
}

static bool never_allows(const struct pdb *b)
{
    return str_is(b->max_unavailable, "0") || str_is(b->max_unavailable, "0%") || str_is(b->min_available, "100%");
}

struct pdb_list pdb_refusing(struct pdb_index *x, const struct pod *p, enum pdb_mode mode)
{
    const struct pdb_list none = {0};

    if (x->s->n_pdbs == 0 || !pod_is_evictable(p, x->s->syms, x->s->now_ms))
        return none;
    struct pdb_list l = covering(x, p);
    if (l.n != 1)
        return l;
    const struct pdb *b = &x->s->pdbs[l.v[0]];
    if (b->always_allow && p->not_ready)
        return none;
    bool refuses = mode == PDB_EVER ? never_allows(b) : pdb_allowed(x, l.v[0]) == 0;
    return refuses ? l : none;
}

/* "3" or "30%" of the pods, rounded up. */
static int64_t scaled(str text, int64_t of)
{
    bool percent = str_ends(text, STR("%"));
    int64_t v = 0;

    (void)str_to_i64(percent ? str_sub(text, 0, text.n - 1) : text, &v); /* checked when it was decoded */
    return percent ? sat_add(sat_mul(v, of), 99) / 100 : v;
}

static int64_t desired(const struct pdb *b, int64_t expected)
{
    if (b->max_unavailable.n)
        return MAX(expected - scaled(b->max_unavailable, expected), 0);
    return b->min_available.n ? scaled(b->min_available, expected) : expected;
}

struct pdb_counts pdb_count(struct pdb_index *x, uint32_t pdb)
{
    if (x->counts)
        return x->counts[pdb];
    x->counts = arena_new_array(x->lists, struct pdb_counts, x->s->n_pdbs);
    for (uint32_t i = 0; i < x->s->n_pods; i++) {
        const struct pod *p = &x->s->pods[i];
        struct pdb_list l = pod_is_finished(p) || p->of_buffer ? (struct pdb_list){0} : covering(x, p);

        for (uint32_t k = 0; k < l.n; k++) {
            x->counts[l.v[k]].expected++;
            x->counts[l.v[k]].healthy += p->phase == PHASE_RUNNING && !p->not_ready;
        }
    }
    for (uint32_t i = 0; i < x->s->n_pdbs; i++)
        x->counts[i].desired = desired(&x->s->pdbs[i], x->counts[i].expected);
    return x->counts[pdb];
}

int64_t pdb_allowed(struct pdb_index *x, uint32_t pdb)
{
    const struct pdb *b = &x->s->pdbs[pdb];

    if (b->has_disruptions_allowed)
        return b->disruptions_allowed;
    struct pdb_counts c = pdb_count(x, pdb);
    return MAX(c.healthy - c.desired, 0);
}

bool pdb_recount(struct pdb_index *x, const struct pod *p, int change)
{
    struct pdb_list l =
        x->counts ? covering(x, p) : (struct pdb_list){0}; /* not counted yet: they will be as they are */
    bool same = true;

    for (uint32_t i = 0; i < l.n; i++) {
        struct pdb_counts *c = &x->counts[l.v[i]];
        bool refused = pdb_allowed(x, l.v[i]) == 0;

        c->expected += change;
        c->healthy += p->phase == PHASE_RUNNING && !p->not_ready ? change : 0;
        c->desired = desired(&x->s->pdbs[l.v[i]], c->expected);
        same = same && refused == (pdb_allowed(x, l.v[i]) == 0);
    }
    return same;
}

bool pod_is_movable(struct pdb_index *x, const struct pod *p)
{
    return pod_is_reschedulable(p) && !pod_is_undisruptable(p, x->s->now_ms) && pdb_refusing(x, p, PDB_EVER).n == 0;
}
