/* What a decision found, in words: Karpenter's own sentence where it has one, and with figures what would have to be
 * different. The counterpart of blockers.c, for nodes that are candidates and stay all the same. */
#include "base/sb.h"
#include "disrupt/methods.h"

struct verdict {
    struct run *r;
    const struct candidate *c;
    const struct decision *d;
    struct blocker b;
};

#define SAY(v, ...) arena_printf((v)->r->a, __VA_ARGS__)

static str pool_of(const struct verdict *v)
{
    return v->r->s->pools[v->c->pool].name;
}

static void blame_pool(struct verdict *v)
{
    v->b.object = SAY(v, "NodePool " STR_FMT, STR_ARG(pool_of(v)));
}

static const char *plural(uint32_t n)
{
    return n == 1 ? "" : "s";
}

/* --- pods without a place ------------------------------------------------------------------------------------------------ */

static str sentence(struct arena *a, str s)
{
    char *p = arena_memdup(a, s.p, s.n, 1);

    if (s.n && p[0] >= 'a' && p[0] <= 'z')
        p[0] = (char)(p[0] - 32);
    return (str){p, s.n};
}

static void put_amount(struct sb *b, const struct reslist *l, sym name, const char *label)
{
    const struct resq *q = reslist_get(l, name);

    if (!q)
        return;
    sb_printf(b, "%s%s ", b->n ? ", " : "", label);
    quantity_print(b, name, q->v, q->binary);
}

/* "cpu 500m, memory 1Gi"; empty when it asks for neither. */
static str amounts_of(const struct verdict *v, const struct pod *p)
{
    struct sb b = {0};

    put_amount(&b, &p->spec->requests, SYM(CPU), "cpu");
    put_amount(&b, &p->spec->requests, SYM(MEMORY), "memory");
    str text = sb_dup(&b, v->r->a);
    sb_fini(&b);
    return text;
}

static str pod_title(const struct verdict *v, uint32_t pod)
{
    const struct pod *p = &v->r->s->pods[pod];

    return SAY(v, "Pod " STR_FMT "/" STR_FMT, STR_ARG(sym_str(v->r->s->syms, p->ns)), STR_ARG(p->name));
}

static void say_pods(struct verdict *v)
{
    uint32_t node, pod = whatif_first_failure(v->r->w, &node);
    const struct snapshot *s = v->r->s;

    if (pod == UINT32_MAX) { /* a new node could take them, but an empty node is not replaced */
        v->b.text = STR("Its pods cost nothing to evict, but have no place on the other nodes");
        v->b.fix = SAY(v, "make room for its %u pod%s on other nodes", v->d->n_pods, plural(v->d->n_pods));
        return;
    }
    v->b.text = sentence(v->r->a, whatif_failures(v->r->w, v->r->a));
    v->b.object = pod_title(v, pod);
    str amounts = amounts_of(v, &s->pods[pod]);
    if (node != UINT32_MAX)
        v->b.fix = SAY(v, "wait until Node " STR_FMT " is initialized", STR_ARG(s->nodes[node].name));
    else
        v->b.fix = SAY(v, "make room for " STR_FMT "%s" STR_FMT "%s: on another node, or with a NodePool that suits it",
                       STR_ARG(v->b.object), amounts.n ? " (" : "", STR_ARG(amounts), amounts.n ? ")" : "");
}

/* --- replacements -------------------------------------------------------------------------------------------------------- */

static void say_several(struct verdict *v)
{
    v->b.text = SAY(v, "Can't remove without creating %u candidates", v->d->n_claims);
    v->b.fix = SAY(v, "let NodePool " STR_FMT " use types that hold its %u pods together, or make room on other nodes",
                   STR_ARG(pool_of(v)), v->d->n_pods);
    blame_pool(v);
}

static void say_min_values(struct verdict *v)
{
    v->b.text = SAY(v, "Filtering by price: " STR_FMT, STR_ARG(whatif_missed_values(v->r->w, v->r->a)));
    v->b.fix =
        SAY(v, "lower minValues of NodePool " STR_FMT ": %u instance type%s cost%s less than its $%.4f an hour",
            STR_ARG(pool_of(v)), v->d->n_types, plural(v->d->n_types), v->d->n_types == 1 ? "s" : "", v->d->price);
    blame_pool(v);
}

static void say_not_cheaper(struct verdict *v)
{
    double price = v->d->price, least = v->d->least;

    v->b.text = STR("Can't replace with a cheaper node");
    v->b.object = SAY(v, "Node " STR_FMT, STR_ARG(v->r->s->nodes[v->c->node].name));
    if (price <= 0)
        v->b.fix = STR("use a catalogue with a price for its type, zone and capacity type");
    else if (least < price)
        v->b.fix = SAY(v,
                       "keep to zones and capacity types below its $%.4f an hour: replacements start at $%.4f, but may "
                       "cost more",
                       price, least);
    else
        v->b.fix = SAY(v,
                       "ask for less, or allow types below its $%.4f an hour: the cheapest that holds its %u pod%s "
                       "costs $%.4f",
                       price, v->d->n_pods, plural(v->d->n_pods), least);
}

static void say_spot_off(struct verdict *v)
{
    v->b.text = STR("SpotToSpotConsolidation is disabled, can't replace a spot node with a spot node");
    if (v->d->least < v->d->price)
        v->b.fix = SAY(v,
                       "set FEATURE_GATES=SpotToSpotConsolidation=true: its pods fit on a node for $%.4f an hour, it "
                       "costs $%.4f",
                       v->d->least, v->d->price);
}

static void say_spot_few(struct verdict *v)
{
    v->b.text = SAY(v,
                    "SpotToSpotConsolidation requires 15 cheaper instance type options than the current candidate to "
                    "consolidate, got %u",
                    v->d->n_types);
    v->b.fix = SAY(v, "let NodePool " STR_FMT " use more instance types below its $%.4f an hour: %u of 15 are there",
                   STR_ARG(pool_of(v)), v->d->price, v->d->n_types);
    blame_pool(v);
}

/* --- not worth it -------------------------------------------------------------------------------------------------------- */

static void say_balance(struct verdict *v)
{
    struct candidate *one = &v->r->c.all[v->c->node];
    struct weight w = balance_weigh(&v->r->balance, v->c->pool, &one, 1, v->d->savings);

    v->b.text = SAY(v, "Balanced: " STR_FMT, STR_ARG(balance_text(v->r->a, &w)));
    v->b.fix = SAY(v, "set consolidationPolicy of NodePool " STR_FMT " to WhenEmptyOrUnderutilized: any saving counts",
                   STR_ARG(pool_of(v)));
    blame_pool(v);
}

static void say_savings(struct verdict *v)
{
    double share = v->d->price > 0 ? 100 * v->d->savings / v->d->price : 0;

    v->b.text =
        SAY(v, "Would save $%.4f an hour (%.1f%%), less than CONSOLIDATION_MIN_SAVINGS asks for", v->d->savings, share);
    v->b.fix = SAY(v, "set CONSOLIDATION_MIN_SAVINGS to %.4f or less", v->d->savings);
}

/* --- the rest ------------------------------------------------------------------------------------------------------------ */

struct blocker decision_blocker(struct run *r, const struct candidate *c, const struct decision *d)
{
    static void (*const say[])(struct verdict * v) = {
        [BLOCK_PODS] = say_pods,
        [BLOCK_SEVERAL] = say_several,
        [BLOCK_MIN_VALUES] = say_min_values,
        [BLOCK_NOT_CHEAPER] = say_not_cheaper,
        [BLOCK_SPOT_OFF] = say_spot_off,
        [BLOCK_SPOT_FEW] = say_spot_few,
        [BLOCK_BALANCE] = say_balance,
        [BLOCK_SAVINGS] = say_savings,
    };
    struct verdict v = {.r = r, .c = c, .d = d, .b = {.kind = d->why}};

    assert(d->why < ARRAY_LEN(say) && say[d->why]);
    say[d->why](&v);
    return v.b;
}

str closed_text(struct arena *a, enum disrupt_method m)
{
    return arena_printf(a, "No allowed disruptions for disruption reason %s due to blocking budget",
                        disrupt_reason_name(m));
}

struct blocker budget_blocker(struct run *r, const struct candidate *c, enum disrupt_method m)
{
    struct verdict v = {.r = r, .c = c, .b = {.kind = BLOCK_BUDGET}};

    if (!r->told[m])
        r->told[m] = budgets_of(r->a, r->s, method_budget(m));
    const struct pool_budget *p = &r->told[m][c->pool];
    v.b.text = closed_text(r->a, m);
    blame_pool(&v);
    if (p->error.n)
        v.b.fix = SAY(&v, "correct NodePool " STR_FMT ": " STR_FMT, STR_ARG(pool_of(&v)), STR_ARG(p->error));
    else if (p->allowed == 0)
        v.b.fix = SAY(&v, "let a budget of NodePool " STR_FMT " allow a disruption: it allows 0 of %u nodes now",
                      STR_ARG(pool_of(&v)), p->nodes);
    else
        v.b.fix =
            SAY(&v,
                "wait, or let NodePool " STR_FMT " give up more than %lld of its %u nodes at once: %u on the way "
                "already, %lld in this plan",
                STR_ARG(pool_of(&v)), (long long)p->allowed, p->nodes, p->disrupting, (long long)r->taken[c->pool]);
    return v.b;
}

struct blocker later_blocker(const struct run *r)
{
    struct blocker b = {.kind = BLOCK_LATER};

    if (r->o->compat) {
        b.text = STR("Another command comes first: there is one a pass");
        b.fix = STR("wait for the next pass");
    } else {
        b.text = STR("Could go, but not together with the rest of this plan");
        b.fix = STR("plan again when this is done");
    }
    return b;
}

struct blocker taker_blocker(void)
{
    return (struct blocker){
        .kind = BLOCK_TAKES_PODS,
        .text = STR("Takes pods in this plan: those of nodes that go, or pods that wait for a place"),
        .fix = STR("plan again when they run there"),
    };
}

struct blocker no_pool_blocker(void)
{
    return (struct blocker){
        .kind = BLOCK_NO_POOL_READY,
        .text = STR("No nodepools found"),
        .fix = STR("make a NodePool ready that is not static"),
    };
}
