/* Who has to go so that a pod of higher priority can come: as few as possible, as unimportant as possible, budgets respected where
 * they can be. */
#include "base/sb.h"
#include "sim/kube/cluster/sched_int.h"

#define MIN_CANDIDATES 100

struct candidate {
    uint32_t node;
    struct spod **victims; /* most important first */
    uint32_t n, violations;
    int32_t highest;
    int64_t sum, earliest_ms; /* of priorities; start of the earliest among the highest */
};

/* More important pods stay: higher priority, then longer running. */
static int compare_importance(const void *x, const void *y, void *ctx)
{
    const struct spod *a = *(struct spod *const *)x, *b = *(struct spod *const *)y;

    (void)ctx;
    if (a->shape->priority != b->shape->priority)
        return a->shape->priority > b->shape->priority ? -1 : 1;
    if (a->started_ms != b->started_ms)
        return a->started_ms < b->started_ms ? -1 : 1;
    return str_cmp(a->uid, b->uid);
}

/* Takes one disruption from every budget that covers the pod; true when one of them has none left. */
static bool violates(const struct sched *s, const struct spod *p, int64_t *left)
{
    bool over = false;

    for (uint32_t i = 0; i < s->budgets.n; i++) {
        const struct sbudget *b = s->budgets.v[i];

        if (!sym_eq(b->ns, p->shape->ns) || !b->pods.n_exprs || !selector_matches(&b->pods, s->syms, p->shape->labels))
            continue;
        over |= --left[i] < 0;
    }
    return over;
}

static bool fits_now(struct attempt *t, uint32_t node)
{
    bool resolvable;

    if (t->asks_others)
        attempt_count_others(t);
    return filter(t, node, false, &resolvable);
}

/* Puts pods back one by one, those that budgets protect first, as long as the incoming one still fits. */
static void reprieve(struct attempt *t, struct candidate *c, struct spod **pods, uint32_t n)
{
    struct sched *s = t->s;
    int64_t *left = arena_new_array(s->tmp, int64_t, s->budgets.n);
    bool *guarded = arena_new_array(s->tmp, bool, n);

    for (uint32_t i = 0; i < s->budgets.n; i++)
        left[i] = s->budgets.v[i]->allowed;
    for (uint32_t i = 0; i < n; i++)
        guarded[i] = violates(s, pods[i], left);
    c->victims = arena_new_array(s->tmp, struct spod *, n);
    for (int pass = 1; pass >= 0; pass--)
        for (uint32_t i = 0; i < n; i++) {
            if (guarded[i] != (pass == 1))
                continue;
            pod_place(s, pods[i], c->node);
            if (fits_now(t, c->node))
                continue;
            pod_place(s, pods[i], NONE);
            c->victims[c->n++] = pods[i];
            c->violations += guarded[i];
        }
}

static void rate(struct candidate *c)
{
    sort_stable(c->victims, c->n, sizeof(*c->victims), compare_importance, NULL);
    c->highest = c->victims[0]->shape->priority;
    c->earliest_ms = INT64_MAX;
    for (uint32_t i = 0; i < c->n; i++) {
        int32_t priority = c->victims[i]->shape->priority;

        c->sum += (int64_t)priority + INT32_MAX + 1; /* so that fewer is less, even below zero */
        if (priority == c->highest)
            c->earliest_ms = MIN(c->earliest_ms, c->victims[i]->started_ms);
    }
}

/* Tries a node without its less important pods, and leaves everything as it was. */
static bool try_node(struct attempt *t, uint32_t node, struct candidate *ret)
{
    struct sched *s = t->s;
    const struct snode *n = &s->nodes.v[node];
    uint32_t count = 0;
    bool found;

    if (n->pods.n == 0 || n->least >= t->p->priority)
        return false;
    struct spod **pods = arena_new_array(s->tmp, struct spod *, n->pods.n);
    *ret = (struct candidate){.node = node};
    for (uint32_t i = 0; i < n->pods.n; i++)
        if (n->pods.v[i]->shape->priority < t->p->priority)
            pods[count++] = n->pods.v[i];
    if (count == 0)
        return false;
    sort_stable(pods, count, sizeof(*pods), compare_importance, NULL);
    for (uint32_t i = 0; i < count; i++)
        pod_place(s, pods[i], NONE);
    found = fits_now(t, node);
    if (found)
        reprieve(t, ret, pods, count);
    for (uint32_t i = 0; i < count; i++)
        pod_place(s, pods[i], node); /* those that were put back are there already */
    if (found && ret->n)
        rate(ret);
    return found && ret->n;
}

/* Whether a is the better place. */
static bool better(const struct candidate *a, const struct candidate *b)
{
    if (a->violations != b->violations)
        return a->violations < b->violations;
    if (a->highest != b->highest)
        return a->highest < b->highest;
    if (a->sum != b->sum)
        return a->sum < b->sum;
    if (a->n != b->n)
        return a->n < b->n;
    return a->earliest_ms > b->earliest_ms;
}

/* A pod that was promised a node waits there for those that leave it already. */
static bool must_wait(const struct attempt *t)
{
    const struct snode *n = t->pod->nominated == NONE ? NULL : &t->s->nodes.v[t->pod->nominated];

    if (!n || t->verdicts[t->pod->nominated] == 3)
        return false;
    for (uint32_t i = 0; i < n->pods.n; i++)
        if (n->pods.v[i]->leaving && n->pods.v[i]->shape->priority < t->p->priority)
            return true;
    return false;
}

static bool search(struct attempt *t, struct candidate *best, struct reasons *why)
{
    struct sched *s = t->s;
    uint32_t limit = MAX(s->order.n / 10, MIN_CANDIDATES), found = 0;

    for (uint32_t i = 0; i < s->order.n && found < limit; i++) {
        uint32_t node = s->order.v[(s->next_start + i) % s->order.n];
        struct candidate c;

        if (t->verdicts[node] != 2) {
            reason_add(why, WHY_NOT_HELPFUL, SYM(NONE));
            continue;
        }
        if (!try_node(t, node, &c)) {
            reason_add(why, WHY_NO_VICTIMS, SYM(NONE));
            continue;
        }
        if (found++ == 0 || better(&c, best))
            *best = c;
    }
    return found > 0;
}

bool preempt(struct attempt *t, struct verdict *ret, struct sb *message)
{
    struct sched *s = t->s;
    struct reasons why = {0};
    struct candidate best = {0};

    if (t->p->never_preempts) {
        sb_c(message, " no new claims to deallocate, preemption: not eligible due to preemptionPolicy=Never.");
        return false;
    }
    if (must_wait(t)) {
        sb_c(message,
             " no new claims to deallocate, preemption: not eligible due to a terminating pod on the nominated "
             "node.");
        return false;
    }
    bool found = search(t, &best, &why);
    if (found) {
        str *uids = arena_new_array(s->tmp, str, best.n);

        for (uint32_t i = 0; i < best.n; i++)
            uids[i] = best.victims[i]->uid;
        ret->victims = uids;
        ret->n_victims = best.n;
        ret->nominated = sym_str(s->syms, s->nodes.v[best.node].name);
    } else {
        sb_c(message, " no new claims to deallocate, preemption: ");
        reasons_print(s, message, &why, s->order.n);
    }
    vec_fini(&why.v);
    return found;
}
