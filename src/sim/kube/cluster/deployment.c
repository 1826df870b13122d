/* Deployments: roll from the old ReplicaSets to the one of the current template, within maxSurge and maxUnavailable.
 *
 * One look does at most one kind of thing (make the set, scale it up, scale others down) and reports; the ReplicaSets' answers bring the next
 * look. */
#include "sim/kube/cluster/deployment.h"

struct deployments {
    struct cluster *c;
    struct work *q;
    uint32_t n_orphans; /* ReplicaSets that nobody controls: mostly none, and nobody has to look for them */
};

/* ---- scaling without rolling ---- */

/* The one set that takes the whole size: the only one with replicas, or the newest when none has any. */
static struct replica_set *lone_set(const struct rollout *r)
{
    struct replica_set *lone = NULL;
    uint32_t n = 0;

    for (uint32_t i = 0; i < r->n; i++)
        if (r->sets[i].replicas > 0) {
            lone = &r->sets[i];
            n++;
        }
    if (n == 1)
        return lone;
    if (n > 1)
        return NULL;
    return r->fresh ? r->fresh : r->n ? &r->sets[r->n - 1] : NULL;
}

static bool saturated(const struct rollout *r)
{
    const struct replica_set *f = r->fresh;

    return f && f->replicas == r->replicas && f->desired == r->replicas && f->available == r->replicas;
}

static int compare_size(const void *x, const void *y, void *ctx)
{
    const struct replica_set *a = *(struct replica_set *const *)x, *b = *(struct replica_set *const *)y;
    bool newer_first = *(const bool *)ctx;

    if (a->replicas != b->replicas)
        return a->replicas > b->replicas ? -1 : 1;
    if (a->o->created_ms != b->o->created_ms)
        return (a->o->created_ms > b->o->created_ms) == newer_first ? -1 : 1;
    return 0;
}

/* In the middle of a rollout every set gets its share of the change. */
static bool scale_in_proportion(struct rollout *r)
{
    int64_t total = rollout_total(r, false), allowed = r->replicas > 0 ? r->replicas + r->max_surge : 0;
    int64_t change = allowed - total, left = change;
    bool newer_first = change > 0, wrote = false;
    struct replica_set **sets = arena_new_array(r->s.a, struct replica_set *, r->n);
    int64_t *sizes = arena_new_array(r->s.a, int64_t, r->n);
    uint32_t n = 0;

    for (uint32_t i = 0; i < r->n; i++)
        if (r->sets[i].replicas > 0)
            sets[n++] = &r->sets[i];
    sort_stable(sets, n, sizeof(*sets), compare_size, &newer_first);
    for (uint32_t i = 0; i < n; i++) {
        int64_t had = sets[i]->replicas, base = sets[i]->max ? sets[i]->max : r->replicas + r->max_surge;
        int64_t share = base ? (2 * had * (r->replicas + r->max_surge) + base) / (2 * base) - had : 0;

        if (r->replicas == 0)
            share = -had;
        share = change > 0 ? MIN(MAX(share, 0), left) : MAX(MIN(share, 0), left);
        sizes[i] = had + share;
        left -= share;
    }
    if (n && left)
        sizes[0] = MAX(sizes[0] + left, 0);
    for (uint32_t i = 0; i < n; i++)
        wrote |= rollout_scale(r, sets[i], sizes[i]);
    return wrote;
}

static bool scale(struct rollout *r)
{
    struct replica_set *lone = lone_set(r);
    bool wrote = false;

    if (lone)
        return rollout_scale(r, lone, r->replicas);
    if (!saturated(r))
        return !r->recreate && scale_in_proportion(r);
    for (uint32_t i = 0; i < r->n; i++)
        if (&r->sets[i] != r->fresh && r->sets[i].replicas > 0)
            wrote |= rollout_scale(r, &r->sets[i], 0);
    return wrote;
}

/* Whether somebody changed spec.replicas since the sets were last sized. */
static bool resized(const struct rollout *r)
{
    for (uint32_t i = 0; i < r->n; i++)
        if (r->sets[i].replicas > 0 && r->sets[i].desired && r->sets[i].desired != r->replicas)
            return true;
    return false;
}

/* ---- rolling ---- */

static bool grow_fresh(struct rollout *r)
{
    int64_t have = r->fresh->replicas, room = r->replicas + r->max_surge - rollout_total(r, false);

    if (have == r->replicas)
        return false;
    if (have > r->replicas || r->recreate)
        return rollout_scale(r, r->fresh, r->replicas);
    return room > 0 && rollout_scale(r, r->fresh, have + MIN(room, r->replicas - have));
}

static bool shrink_old(struct rollout *r)
{
    int64_t keep = r->replicas - r->max_unavailable;
    int64_t may = rollout_total(r, false) - keep - (r->fresh->replicas - r->fresh->available), unhealthy = may;
    bool wrote = false;

    if (rollout_total(r, true) == 0 || may <= 0)
        return false;
    /* Pods that do not serve go first: they cost nothing. */
    for (uint32_t i = 0; i < r->n && unhealthy > 0; i++) {
        struct replica_set *rs = &r->sets[i];
        int64_t n = MIN(unhealthy, rs->replicas - rs->available);

        if (rs == r->fresh || rs->replicas == 0 || n <= 0)
            continue;
        wrote |= rollout_scale(r, rs, rs->replicas - n);
        unhealthy -= n;
    }
    int64_t spare = rollout_available(r, false) - keep;
    for (uint32_t i = 0; i < r->n && spare > 0; i++) {
        struct replica_set *rs = &r->sets[i];
        int64_t n = MIN(spare, rs->replicas);

        if (rs == r->fresh || n <= 0)
            continue;
        wrote |= rollout_scale(r, rs, rs->replicas - n);
        spare -= n;
    }
    return wrote;
}

static void roll(struct rollout *r)
{
    if (!rollout_fresh(r, true))
        return;
    if (!grow_fresh(r) && !shrink_old(r) && rollout_complete(r))
        rollout_cleanup(r);
    rollout_status(r);
}

static bool old_pods_run(const struct rollout *r)
{
    for (uint32_t i = 0; i < r->n; i++) {
        const struct pod_group *g = &r->sets[i] == r->fresh ? NULL : pods_of_owner(r->s.c->pods, r->sets[i].o->uid);

        for (const struct pod_entry *e = g ? g->first : NULL; e; e = e->by_owner.next)
            if (!pod_is_over(e))
                return true;
    }
    return false;
}

static void recreate(struct rollout *r)
{
    bool wrote = false;

    if (!rollout_fresh(r, false))
        return;
    for (uint32_t i = 0; i < r->n; i++)
        if (&r->sets[i] != r->fresh && r->sets[i].replicas > 0)
            wrote |= rollout_scale(r, &r->sets[i], 0);
    if (!wrote && !old_pods_run(r)) {
        if (!r->fresh) {
            rollout_fresh(r, true);
            return;
        }
        if (!grow_fresh(r) && rollout_complete(r))
            rollout_cleanup(r);
    }
    rollout_status(r);
}

/* ---- the controller ---- */

static void sync(struct rollout *r)
{
    if (r->s.o->deleted_ms) {
        rollout_fresh(r, false);
        rollout_status(r);
        return;
    }
    if (rollout_paused_condition(r)) {
        key_add(r->q, r->s.o);
        return;
    }
    if (r->paused || resized(r)) {
        if (!rollout_fresh(r, false))
            return;
        scale(r);
        if (r->paused)
            rollout_cleanup(r);
        rollout_status(r);
        return;
    }
    if (r->recreate)
        recreate(r);
    else
        roll(r);
}

static void on_work(void *ctx, str key)
{
    struct deployments *p = ctx;
    struct rollout r;

    if (!rollout_begin(&r, p->c, key, p->n_orphans > 0))
        return;
    r.q = p->q;
    sync(&r);
    rollout_end(&r);
}

static void on_deployment(void *ctx, struct seen *s)
{
    struct deployments *p = ctx;

    if (s->new && !is_own_status(p->c, s))
        key_add(p->q, s->new);
}

static void on_set(void *ctx, struct seen *s)
{
    struct deployments *p = ctx;

    p->n_orphans -= s->old && is_orphan(s->old);
    p->n_orphans += s->new &&is_orphan(s->new);
    wake_owner(p->q, p->c->kinds.deployment, seen_object(s));
}

struct deployments *deployments_new(struct cluster *c)
{
    struct deployments *p = xcalloc(1, sizeof(*p));

    p->c = c;
    p->q = work_new(c->w, "deployment", on_work, p);
    see(c, c->kinds.deployment, on_deployment, p);
    see(c, c->kinds.replica_set, on_set, p);
    return p;
}

void deployments_free(struct deployments *p)
{
    if (!p)
        return;
    work_free(p->q);
    free(p);
}
