/* One decision: filter, score, choose; or say why not and whom to remove. */
#include "sim/kube/cluster/sched.h"

#include "base/sb.h"
#include "sim/kube/cluster/sched_int.h"

/* In a large cluster it is enough to find some nodes, not all: half of them, less the more there are. */
static uint32_t enough(uint32_t n)
{
    uint32_t percent = 50 - MIN(n / 125, 45);

    if (n < 100)
        return n;
    return MAX(n * percent / 100, 100);
}

static void look_at(struct attempt *t, uint32_t node)
{
    bool resolvable = false;

    if (filter(t, node, /* note= */ true, &resolvable)) {
        t->verdicts[node] = 1;
        t->feasible[t->n_feasible++] = node;
    } else {
        t->verdicts[node] = resolvable ? 2 : 3;
    }
}

/* A pod of a daemon names its one node: nobody else needs to be asked. */
static bool names_nodes(const struct shape *p)
{
    if (p->n_required == 0)
        return false;
    for (uint32_t i = 0; i < p->n_required; i++)
        if (!p->required[i].names)
            return false;
    return true;
}

static void look_at_named(struct attempt *t)
{
    struct sched *s = t->s;
    uint32_t n = 0;

    for (uint32_t i = 0; i < t->p->n_required; i++)
        for (uint32_t k = 0; k < t->p->required[i].n_names; k++) {
            uint32_t node = u64map_get(&s->node_of, t->p->required[i].names[k].v);

            if (node == NONE || t->verdicts[node])
                continue;
            look_at(t, node);
            n++;
        }
    for (; n < s->order.n; n++)
        reason_add(&t->why, WHY_PREFILTERED, SYM(NONE));
}

static void look_around(struct attempt *t)
{
    struct sched *s = t->s;
    uint32_t want = enough(s->order.n), seen = 0;

    if (names_nodes(t->p)) {
        look_at_named(t);
        return;
    }
    /* A promised node is taken if it still fits, without looking further. */
    if (t->pod->nominated != NONE) {
        look_at(t, t->pod->nominated);
        if (t->n_feasible)
            return;
        t->verdicts[t->pod->nominated] = 0;
        t->why.v.n = 0;
    }
    for (; seen < s->order.n && t->n_feasible < want; seen++)
        look_at(t, s->order.v[(s->next_start + seen) % s->order.n]);
    s->next_start = (s->next_start + seen) % s->order.n;
}

/* The best score; chance decides between equals. */
static uint32_t choose(struct attempt *t, chance_fn chance, void *ctx)
{
    uint32_t best = 0, equals = 1;

    if (t->n_feasible == 1)
        return t->feasible[0];
    score_all(t);
    for (uint32_t k = 1; k < t->n_feasible; k++) {
        if (t->scores[k] > t->scores[best]) {
            best = k;
            equals = 1;
        } else if (t->scores[k] == t->scores[best]) {
            equals++;
        }
    }
    uint32_t skip = equals > 1 ? (uint32_t)(chance(ctx) % equals) : 0;
    for (uint32_t k = best; skip > 0; skip--) {
        do
            k++;
        while (t->scores[k] != t->scores[best]);
        if (skip == 1)
            return t->feasible[k];
    }
    return t->feasible[best];
}

/* What may happen so that the pod fits after all. */
static unsigned wakes_on(const struct attempt *t)
{
    unsigned news = NEWS_NODE;

    for (uint32_t i = 0; i < t->why.v.n; i++)
        switch (t->why.v.v[i].why) {
        case WHY_PORTS:
        case WHY_PODS:
        case WHY_RESOURCE:
            news |= NEWS_ROOM;
            break;
        case WHY_ONCE_POD:
        case WHY_VOLUME_LIMIT:
        case WHY_VOLUME_NODE:
        case WHY_VOLUME_BIND:
        case WHY_VOLUME_ZONE:
            news |= NEWS_VOLUME | NEWS_ROOM;
            break;
        case WHY_SPREAD_LABEL:
        case WHY_SPREAD:
        case WHY_AFFINITY:
        case WHY_ANTI:
        case WHY_EXISTING_ANTI:
            news |= NEWS_ROOM | NEWS_PLACED;
            break;
        case WHY_FITS:
        case WHY_UNSCHEDULABLE:
        case WHY_NODE_NAME:
        case WHY_TAINT:
        case WHY_NODE_AFFINITY:
        case WHY_PREFILTERED:
        case WHY_NO_VICTIMS:
        case WHY_NOT_HELPFUL:
            break;
        }
    return news;
}

static void decide(struct attempt *t, chance_fn chance, void *ctx, struct verdict *ret, struct sb *message)
{
    struct sched *s = t->s;

    if (s->order.n == 0) {
        sb_c(message, "no nodes available to schedule pods");
        ret->wakes_on = NEWS_NODE;
        return;
    }
    if (t->pod->n_claims) {
        struct sb why = {0};
        bool ok = volumes_prefilter(t, &why);

        if (!ok) { /* quirk: the last two words are what kube-scheduler's preemption has to say of that */
            sb_printf(message, "0/%u nodes are available: " STR_FMT ". not found", s->order.n, STR_ARG(sb_view(&why)));
            ret->wakes_on = NEWS_VOLUME;
        }
        sb_fini(&why);
        if (!ok)
            return;
    }
    look_around(t);
    if (t->n_feasible) {
        ret->node = sym_str(s->syms, s->nodes.v[choose(t, chance, ctx)].name);
        volumes_to_bind(t, &ret->provision, &ret->n_provision);
        return;
    }
    reasons_print(s, message, &t->why, s->order.n);
    ret->wakes_on = wakes_on(t);
    if (preempt(t, ret, message))
        ret->wakes_on |= NEWS_ROOM;
}

void sched_decide(struct sched *s, str uid, chance_fn chance, void *ctx, struct verdict *ret)
{
    struct spod *pod = table_get(&s->pods, uid);
    struct attempt t;
    struct sb message = {0};

    arena_reset(s->tmp);
    *ret = (struct verdict){0};
    attempt_begin(&t, s, pod);
    decide(&t, chance, ctx, ret, &message);
    ret->message = sb_dup(&message, s->tmp);
    sb_fini(&message);
    vec_fini(&t.why.v);
    if (ret->node.n)
        sched_assume(s, uid, ret->node);
}
