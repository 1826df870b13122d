#include "state/evict.h"

#include "model/duration.h"

bool pod_is_finished(const struct pod *p)
{
    return p->phase == PHASE_SUCCEEDED || p->phase == PHASE_FAILED;
}

bool pod_is_active(const struct pod *p)
{
    return !pod_is_finished(p) && !p->terminating;
}

bool pod_is_protected(const struct pod *p, int64_t now_ms)
{
    struct err ignored;
    int64_t ns;

    if (p->do_not_disrupt.n == 0)
        return false;
    if (str_is(p->do_not_disrupt, "true"))
        return true;
    if (!duration_parse(p->do_not_disrupt, &ns, &ignored) || ns <= 0)
        return false;
    return p->started_ms == INT64_MIN || sat_sub(now_ms, p->started_ms) < ns / 1000000 ||
           (sat_sub(now_ms, p->started_ms) == ns / 1000000 && ns % 1000000 != 0);
}

static bool tolerates_disruption(const struct pod *p, struct syms *syms)
{
    struct taint t = {.key = sym_of(syms, STR("karpenter.sh/disrupted")), .effect = EFFECT_NO_SCHEDULE};
    struct taints one = {&t, 1};

    return taints_untolerated(&one, &p->spec->tolerations, syms) == NULL;
}

bool pod_is_evictable(const struct pod *p, struct syms *syms, int64_t now_ms)
{
    return pod_is_active(p) && p->owner != OWNER_NODE && !pod_is_protected(p, now_ms) && !tolerates_disruption(p, syms);
}

bool pod_is_reschedulable(const struct pod *p)
{
    if (p->owner == OWNER_DAEMONSET || p->owner == OWNER_NODE || pod_is_finished(p))
        return false;
    return !p->terminating || p->owner == OWNER_STATEFULSET;
}

static bool never_allows(const struct pdb *b)
{
    return str_is(b->max_unavailable, "0") || str_is(b->max_unavailable, "0%") || str_is(b->min_available, "100%");
}

static bool budgets_block(const struct snapshot *s, const struct pod *p)
{
    const struct pdb *found = NULL;

    for (uint32_t i = 0; i < s->n_pdbs; i++) {
        const struct pdb *b = &s->pdbs[i];

        if (!sym_eq(b->ns, p->ns) || !selector_matches(&b->selector, s->syms, p->labels))
            continue;
        if (found)
            return true; /* the eviction API refuses pods with several budgets */
        found = b;
    }
    if (!found || (found->always_allow && p->not_ready))
        return false;
    return never_allows(found);
}

bool pod_is_movable(const struct snapshot *s, const struct pod *p)
{
    if (!pod_is_reschedulable(p) || (pod_is_active(p) && pod_is_protected(p, s->now_ms)))
        return false;
    return !pod_is_evictable(p, s->syms, s->now_ms) || !budgets_block(s, p);
}
