/* The loop at rest. A cluster in which nothing happens is looked at every ten seconds all the same, and each time the same is found: nothing to do, and the same things to say, which the
 * recorder drops because they were said a while ago. So when two runs have seen the same store and the second had nothing to search for, the runs after it do nothing, until the first of what
 * it said would be heard again or anything at all is different.
 *
 * What may be different is: the store; nominations, which it does not count; types and prices; removals that wait or are under way; and what the passing of time changes. Of the last, only the
 * five minutes after which consolidation is looked at anew are waited for. Where there is more that has a time (a budget with a schedule, a pod that is protected for a while, a machine that is
 * nominated), there is no rest. */
#include "control/disruption_int.h"
#include "disrupt/candidate.h"
#include "model/evict.h"
#include "plan/plan.h"

static uint64_t catalog_version(const struct control *c)
{
    return c->cloud->catalog(c->cloud->self)->version;
}

static bool is_idle(const struct disruptor *d)
{
    return d->waiting.n == 0 && d->under_way.n == 0 && d->taken.n == 0 && !store_has_nominations(d->c->store) &&
           store_synced(d->c->store);
}

/* ---- what has a time of its own ---- */

static bool any_schedule(const struct nodepool *p)
{
    for (uint32_t i = 0; i < p->n_budgets; i++)
        if (p->budgets[i].schedule.n)
            return true;
    return false;
}

static bool is_timeless(struct arena *a, const struct snapshot *s)
{
    const struct pool_budget *v = budgets_of(a, s, BUDGET_UNDERUTILIZED);

    for (uint32_t i = 0; i < s->n_pools; i++)
        if (v[i].error.n || any_schedule(&s->pools[i])) /* a budget that cannot be read is told of in every run */
            return false;
    for (uint32_t i = 0; i < s->n_pods; i++)
        if (s->pods[i].spec && s->pods[i].do_not_disrupt.n && !str_is(s->pods[i].do_not_disrupt, "true"))
            return false;
    return !s->settings.capacity_buffers;
}

/* ---- what is said ---- */

/* When the first of a method's remarks would be heard again. */
static int64_t silent_until(struct disruptor *d, struct arena *a, const struct snapshot *s, enum disrupt_method m,
                            const struct pass *p)
{
    int64_t until = INT64_MAX;

    for (uint32_t i = 0; i < p->n_remarks; i++) {
        struct saying v[2];
        uint32_t n = remark_sayings(a, s, m, &p->remarks[i], v);

        for (uint32_t k = 0; k < n; k++)
            until = MIN(until, disruption_said_until(d->c, &v[k]));
    }
    return until;
}

/* Most rests end before their first run: what this costs is put off until there is one. */
static void listen(struct disruptor *d, struct arena *a)
{
    const struct snapshot *s = disruption_snapshot(d);
    struct candidates *known = pass_candidates_new(a, s);

    frame_reset(d->c->frame); /* nobody plans for a while */
    d->rest.listened = true;
    for (uint32_t m = 0; m < N_METHODS; m++) {
        struct pass_options o = {.method = (enum disrupt_method)m,
                                 .compat = d->c->options->settings.consolidation == CONSOLIDATION_COMPAT,
                                 .known = known,
                                 .unchanged = true};
        const struct pass *p = disrupt_pass(a, s, &o);

        d->rest.until_us = MIN(d->rest.until_us, silent_until(d, a, s, (enum disrupt_method)m, p));
    }
    pass_candidates_free(known);
}

/* ---- to rest, and from it ---- */

bool rest_holds(struct disruptor *d, struct arena *a)
{
    struct rest *x = &d->rest;

    if (!x->begun || x->changes != store_changes(d->c->store) || x->catalog_version != catalog_version(d->c) ||
        world_mono_us(d->c->world) >= x->until_us || !is_idle(d))
        return false;
    if (!x->listened)
        listen(d, a);
    return world_mono_us(d->c->world) < x->until_us;
}

void rest_begin(struct disruptor *d, struct arena *a, const struct snapshot *s)
{
    uint64_t changes = store_changes(d->c->store);
    bool again = d->rest.changes == changes;

    d->rest = (struct rest){.changes = changes};
    if (!again || !is_idle(d) || !is_timeless(a, s))
        return;
    d->rest.begun = true;
    d->rest.catalog_version = catalog_version(d->c);
    d->rest.until_us = d->news_us + SETTLED_US;
}

void rest_run(struct disruptor *d)
{
    int64_t now_us = world_mono_us(d->c->world), now_ms = world_now_ms(d->c->world);

    for (uint32_t m = 0; m < N_METHODS; m++) {
        d->ran_ms[m] = now_ms;
        pass_took(d, (enum disrupt_method)m, now_us);
    }
}
