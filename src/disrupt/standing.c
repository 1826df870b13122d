/* Answers that are remembered, and what has to change before one is asked for again.
 *
 * A node is held by a proof (plan/whatif.h: one number that must not rise), or it was asked about, and that answer is
 * good until an event touches something that the question may have looked at. Held nodes hang in lists, by gauge and by
 * the number of slots at which the proof ends: an event looks at the lists that it has reached and at no other node.
 * Nodes whose answer is gone are due, and are judged when somebody wants to know, best candidates first, and only until
 * the command is known. */
#include "disrupt/standing.h"

#include "base/sort.h"
#include "disrupt/methods.h"
#include "model/change.h"

enum state { NOT_ELIGIBLE, HELD, ASKED, DUE };

struct answer {
    enum state state;
    uint32_t at;               /* ASKED, DUE: place in the list of these */
    struct decision d;         /* ASKED */
    struct whatif_parts reads; /* ASKED: what the question was about */
    struct whatif_hold hold;   /* HELD */
    uint32_t prev, next;       /* HELD: in the list of its gauge and limit */
};

typedef VEC(uint32_t) node_list;

struct standing {
    struct arena *arena;
    struct snapshot *s;
    struct arena *growth; /* of the snapshot */
    struct disrupt_options options;
    struct run run;
    struct answer *of;       /* [snapshot.n_nodes] */
    node_list asked, due;    /* nodes in these states */
    candidate_list order;    /* scratch */
    struct u64map held;      /* (gauge, limit) -> first node of the list */
    int64_t *lowest;         /* [gauges]: no list with a lower limit has a node */
    VEC(uint32_t) free_pods; /* numbers */
    uint64_t *stale_totals;  /* bit set over pools with policy Balanced: sums of the pool have changed */
    bool any_stale;
    uint32_t *best; /* scratch [snapshot.n_pools] */
    struct standing_work work;
};

/* --- lists of held nodes ------------------------------------------------------------------------------------------------ */

static uint64_t list_key(const struct whatif_hold *h)
{
    return u64_pair(h->gauge, (uint32_t)MIN(h->limit, (int64_t)UINT32_MAX - 1));
}

static void hold_begin(struct standing *t, uint32_t node)
{
    struct answer *x = &t->of[node];
    uint64_t key = list_key(&x->hold);

    x->prev = NO_INDEX;
    x->next = u64map_get(&t->held, key);
    if (x->next != NO_INDEX)
        t->of[x->next].prev = node;
    u64map_put(&t->held, key, node);
    t->lowest[x->hold.gauge] = MIN(t->lowest[x->hold.gauge], x->hold.limit);
    t->work.held++;
}

static void hold_end(struct standing *t, uint32_t node)
{
    const struct answer *x = &t->of[node];

    if (x->next != NO_INDEX)
        t->of[x->next].prev = x->prev;
    if (x->prev != NO_INDEX)
        t->of[x->prev].next = x->next;
    else
        u64map_put(&t->held, list_key(&x->hold), x->next);
    t->work.held--;
}

/* --- states ------------------------------------------------------------------------------------------------------------- */

static void list_add(struct standing *t, node_list *l, uint32_t node)
{
    t->of[node].at = l->n;
    vec_push(l, node);
}

static void list_remove(struct standing *t, node_list *l, uint32_t node)
{
    uint32_t last = vec_last(l), at = t->of[node].at;

    l->v[at] = last;
    t->of[last].at = at;
    l->n--;
}

static void forget(struct standing *t, uint32_t node)
{
    struct answer *x = &t->of[node];

    switch (x->state) {
    case NOT_ELIGIBLE:
        break;
    case HELD:
        hold_end(t, node);
        break;
    case ASKED:
        list_remove(t, &t->asked, node);
        break;
    case DUE:
        list_remove(t, &t->due, node);
        break;
    }
    x->state = NOT_ELIGIBLE;
}

static void make_due(struct standing *t, uint32_t node)
{
    if (t->of[node].state == DUE)
        return;
    forget(t, node);
    t->of[node].state = DUE;
    list_add(t, &t->due, node);
}

/* The gauge has risen: proofs that did not allow for it are gone. */
static void break_holds(struct standing *t, uint32_t gauge)
{
    int64_t slots = whatif_slots(t->run.w, gauge);

    for (int64_t limit = t->lowest[gauge]; limit < slots; limit++) {
        uint32_t node = u64map_get(&t->held, list_key(&(struct whatif_hold){gauge, limit}));

        while (node != NO_INDEX) {
            uint32_t next = t->of[node].next;

            make_due(t, node);
            node = next;
        }
    }
    t->lowest[gauge] = MAX(t->lowest[gauge], slots);
}

/* --- judging ------------------------------------------------------------------------------------------------------------ */

static bool is_balanced(const struct standing *t, const struct candidate *c)
{
    return c->pool != NO_INDEX && t->s->pools[c->pool].policy == CONSOLIDATE_BALANCED;
}

/* Sums over all nodes of pools with policy Balanced: the one thing here that takes a look at every node. */
static void count_totals(struct standing *t)
{
    if (!t->any_stale || t->asked.n + t->due.n == 0)
        return; /* nobody wants to know */
    t->any_stale = false;
    bits_zero(t->stale_totals, BITS_WORDS(t->s->n_pools));
    balance_count(&t->run.balance, &t->run.c);
}

static void ask(struct standing *t, uint32_t node)
{
    struct answer *x = &t->of[node];
    struct candidate *c = &t->run.c.all[node];

    x->d = consolidate(&t->run, &c, 1, 1, /* tell= */ false);
    whatif_undo(t->run.w);
    whatif_reads(t->run.w, node, &x->reads);
    x->state = ASKED;
    list_add(t, &t->asked, node);
    t->work.asked++;
}

static void judge(struct standing *t, uint32_t node)
{
    struct answer *x = &t->of[node];
    const struct candidate *c = &t->run.c.all[node];
    const struct whatif_price price = {c->price, c->spot, 1};

    forget(t, node);
    t->work.judged++;
    if (candidate_obstacle(&t->run.c, node, METHOD_SINGLE) != BLOCK_NONE)
        return;
    if (!whatif_hold(t->run.w, node, &price, &x->hold)) {
        ask(t, node);
        return;
    }
    x->state = HELD;
    hold_begin(t, node);
}

/* The totals of its pool are others than when it was judged. */
static bool totals_changed(const struct standing *t, uint32_t node)
{
    const struct candidate *c = &t->run.c.all[node];

    return t->any_stale && is_balanced(t, c) && bit_test(t->stale_totals, c->pool);
}

/* What events have changed is due. */
static void catch_up(struct standing *t)
{
    const struct whatif_news *news = whatif_news(t->run.w);

    for (uint32_t i = 0; i < news->risen.n; i++)
        break_holds(t, news->risen.v[i]);
    for (uint32_t i = t->asked.n; i-- > 0;)
        if (whatif_is_news(t->run.w, &t->of[t->asked.v[i]].reads) || totals_changed(t, t->asked.v[i]))
            make_due(t, t->asked.v[i]);
    whatif_news_clear(t->run.w);
    count_totals(t);
}

/* --- events ------------------------------------------------------------------------------------------------------------- */

/* What DaemonSets ask for is compiled from one of their pods: the newest. */
static bool is_model_of_daemon(const struct snapshot *s, const struct pod *p)
{
    for (uint32_t i = 0; i < s->n_daemons; i++)
        if (s->daemon_pods[i] == p)
            return true;
    return false;
}

static bool is_like_its_daemon(const struct snapshot *s, const struct pod *p)
{
    for (uint32_t i = 0; i < s->n_daemons; i++)
        if (s->daemon_pods[i] && s->daemon_pods[i]->spec == p->spec)
            return true;
    return p->owner != OWNER_DAEMONSET;
}

/* The node and what is summed up over its pool are others than before. */
static void node_changed(struct standing *t, uint32_t node)
{
    const struct candidate *c = &t->run.c.all[node];

    candidate_refresh(&t->run.c, node);
    make_due(t, node);
    if (!is_balanced(t, c))
        return;
    bit_set(t->stale_totals, c->pool);
    t->any_stale = true;
}

bool standing_pod_left(struct standing *t, uint32_t pod, uint32_t node)
{
    struct pod *p = &t->s->pods[pod];
    bool ok = !is_model_of_daemon(t->s, p) && pdb_recount(t->run.c.pdbs, p, -1);

    snapshot_pod_left(t->s, t->growth, pod, node);
    ok = whatif_pod_left(t->run.w, pod, node) && ok;
    bit_clear(t->run.c.movable, pod);
    if (node != NO_INDEX)
        node_changed(t, node);
    vec_push(&t->free_pods, pod);
    return ok;
}

bool standing_pod_came(struct standing *t, const struct pod *pod, uint32_t node, uint32_t *ret_pod)
{
    if (t->free_pods.n == 0 || !is_like_its_daemon(t->s, pod))
        return false;
    uint32_t ix = t->free_pods.v[--t->free_pods.n];
    t->s->pods[ix] = *pod;
    snapshot_pod_came(t->s, t->growth, ix, node);
    bool ok = pdb_recount(t->run.c.pdbs, pod, 1);
    if (node != NO_INDEX)
        node_changed(t, node);
    *ret_pod = ix;
    return whatif_pod_came(t->run.w, ix, node) && ok;
}

/* --- answers ------------------------------------------------------------------------------------------------------------ */

enum standing_verdict standing_verdict(struct standing *t, uint32_t node, double *ret_savings)
{
    const struct answer *x = &t->of[node];

    catch_up(t);
    if (x->state == DUE)
        judge(t, node);
    *ret_savings = 0;
    if (x->state == NOT_ELIGIBLE)
        return STANDING_INELIGIBLE;
    if (x->state == HELD || x->d.why != BLOCK_NONE)
        return STANDING_STAYS;
    *ret_savings = x->d.savings;
    return STANDING_GOES;
}

static bool is_eligible(const struct standing *t, uint32_t node)
{
    if (t->of[node].state == DUE)
        return candidate_obstacle(&t->run.c, node, METHOD_SINGLE) == BLOCK_NONE;
    return t->of[node].state != NOT_ELIGIBLE;
}

/* How many candidates of its pool come before it. */
static uint32_t rank_in_pool(const struct standing *t, const struct candidate *c)
{
    uint32_t n = 0;

    for (uint32_t i = 0; i < t->s->n_nodes; i++) {
        const struct candidate *x = &t->run.c.all[i];

        n += x->pool == c->pool && is_eligible(t, i) && candidate_before(x, c, t->s);
    }
    return n;
}

static bool may_go(const struct standing *t, const struct candidate *c)
{
    return budget_allows(&t->run, c) && balance_may_approve(&t->run.balance, &t->run.c, c);
}

/* The node goes, and comes before the best of its pool so far. */
static void consider(struct standing *t, const struct candidate *c)
{
    const struct answer *x = &t->of[c->node];
    uint32_t *best = &t->best[c->pool];

    if (x->state != ASKED || x->d.why != BLOCK_NONE || !may_go(t, c))
        return;
    if (*best == NO_INDEX || candidate_before(c, &t->run.c.all[*best], t->s))
        *best = c->node;
}

typedef struct candidate *candidate_ref;

static inline bool comes_before(const candidate_ref *a, const candidate_ref *b, const void *ctx)
{
    return candidate_before(*a, *b, ctx);
}

SORT_DEFINE(sort_candidates, candidate_ref, comes_before)

/* Judges nodes that are due and would come before the best of their pool. */
static void judge_due(struct standing *t)
{
    candidate_list *v = &t->order;

    v->n = 0;
    for (uint32_t i = t->due.n; i-- > 0;) {
        struct candidate *c = &t->run.c.all[t->due.v[i]];

        if (!is_eligible(t, c->node))
            forget(t, c->node);
        else if (may_go(t, c))
            vec_push(v, c);
    }
    sort_candidates(v->v, v->n, t->s);
    for (uint32_t i = 0; i < v->n; i++) {
        uint32_t best = t->best[v->v[i]->pool];

        if (best != NO_INDEX && candidate_before(&t->run.c.all[best], v->v[i], t->s))
            continue;
        judge(t, v->v[i]->node);
        consider(t, v->v[i]);
    }
}

/* Of the nodes that go, the one that comes first when pools take turns; NULL: there is none. */
static struct candidate *first_to_go(struct standing *t)
{
    struct candidate *first = NULL;
    uint32_t first_rank = NO_INDEX, n_pools = 0;

    memset(t->best, 0xff, t->s->n_pools * sizeof(*t->best));
    for (uint32_t i = 0; i < t->asked.n; i++)
        consider(t, &t->run.c.all[t->asked.v[i]]);
    judge_due(t);
    for (uint32_t i = 0; i < t->s->n_pools; i++)
        n_pools += t->best[i] != NO_INDEX;
    for (uint32_t i = 0; i < t->s->n_pools && n_pools; i++) {
        struct candidate *c = t->best[i] == NO_INDEX ? NULL : &t->run.c.all[t->best[i]];
        uint32_t rank = c && n_pools > 1 ? rank_in_pool(t, c) : 0;

        if (c && (!first || rank < first_rank)) {
            first = c;
            first_rank = rank;
        }
    }
    return first;
}

const struct disrupt_command *standing_next(struct standing *t, struct arena *a)
{
    struct run *r = &t->run;

    catch_up(t);
    struct candidate *c = t->options.compat && !whatif_has_pools(r->w) ? NULL : first_to_go(t);
    if (!c)
        return NULL;
    r->a = a;
    r->commands.n = 0;
    struct decision d = consolidate(r, &c, 1, 1, /* tell= */ false);
    add_command(r, METHOD_SINGLE, &c, 1, &d);
    whatif_undo(r->w);
    r->command_of[c->node] = NO_INDEX;
    r->a = t->arena;
    return vec_to_arena(&r->commands, a);
}

void standing_census(struct standing *t, struct sb *out)
{
    whatif_census(t->run.w, out);
}

struct standing_work standing_work(const struct standing *t)
{
    struct standing_work w = t->work;

    w.open = t->asked.n;
    w.due = t->due.n;
    return w;
}

/* --- start and end ------------------------------------------------------------------------------------------------------ */

static void begin(struct standing *t)
{
    struct run *r = &t->run;

    *r = (struct run){.a = t->arena, .s = t->s, .o = &t->options};
    run_begin(r);
    run_compile(r);
    whatif_gauge(r->w);
    method_begin(r, METHOD_SINGLE);
}

struct standing *standing_new(struct snapshot *s, struct arena *a, bool compat)
{
    struct standing *t = xcalloc(1, sizeof(*t));

    t->arena = arena_new(1u << 16);
    t->s = s;
    t->growth = a;
    t->options = (struct disrupt_options){.methods = 1u << METHOD_SINGLE, .compat = compat};
    begin(t);
    t->of = arena_new_array(t->arena, struct answer, s->n_nodes);
    t->stale_totals = arena_new_array(t->arena, uint64_t, BITS_WORDS(s->n_pools));
    t->best = arena_new_array(t->arena, uint32_t, s->n_pools);
    t->lowest = arena_new_array(t->arena, int64_t, whatif_gauges(t->run.w));
    for (uint32_t i = 0; i < whatif_gauges(t->run.w); i++)
        t->lowest[i] = INT64_MAX;
    for (uint32_t i = s->n_pods; i > 0 && !s->pods[i - 1].spec; i--)
        vec_push(&t->free_pods, i - 1);
    for (uint32_t i = 0; i < s->n_nodes; i++)
        make_due(t, i);
    return t;
}

void standing_free(struct standing *t)
{
    if (!t)
        return;
    run_end(&t->run);
    vec_fini(&t->asked);
    vec_fini(&t->due);
    vec_fini(&t->order);
    vec_fini(&t->free_pods);
    u64map_fini(&t->held);
    arena_free(t->arena);
    free(t);
}
