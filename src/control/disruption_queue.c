/* disruption.queue: removals under way (lifecycle 8.13). Nodes are tainted first, then replacements are made, and only then do the nodes count as going; when every replacement
 * is ready the NodeClaims are deleted. What cannot be finished is put back.
 *
 * A removal is found by the NodeClaim of its first node, whether that is still there or not. */
#include "control/disruption_int.h"
#include "control/fan.h"

#define WIDTH 100
#define POLL_MS 1000
#define MINUTE_MS (60 * 1000ll)

/* ---- what is under way ---- */

bool disruption_is_taken(const struct disruptor *d, str provider_id)
{
    return d->taken.n && htab_get(&d->taken, provider_id);
}

static struct removal *removal_find(const struct disruptor *d, str first_claim)
{
    for (uint32_t i = 0; i < d->under_way.n; i++)
        if (str_eq(d->under_way.v[i]->leavers[0].claim, first_claim))
            return d->under_way.v[i];
    return NULL;
}

static void put_under_way(struct disruptor *d, struct removal *x)
{
    vec_push(&d->under_way, x);
    for (uint32_t i = 0; i < x->n_leavers; i++) {
        x->leavers[i].at.key = x->leavers[i].provider_id;
        htab_put(&d->taken, &x->leavers[i].at);
    }
}

static void complete(struct disruptor *d, struct removal *x, bool succeeded)
{
    uint32_t k = 0;

    for (uint32_t i = 0; i < x->n_leavers; i++) {
        htab_del(&d->taken, &x->leavers[i].at);
        if (!succeeded && !x->leavers[i].gone)
            store_mark(d->c->store, x->leavers[i].provider_id, false);
    }
    for (uint32_t i = 0; i < d->under_way.n; i++)
        if (d->under_way.v[i] != x)
            d->under_way.v[k++] = d->under_way.v[i];
    d->under_way.n = k;
    removal_free(x);
}

int64_t removal_limit_ms(uint32_t n_taken)
{
    return MIN(MAX(80 * (int64_t)n_taken, 10 * MINUTE_MS), 60 * MINUTE_MS);
}

/* ---- how it begins ---- */

struct start {
    struct disruptor *d;
    struct reconcile *r;
    struct removal *x;
    uint32_t n_failed;
    struct err err; /* the first */
};

static void note_error(struct start *s, const struct err *e)
{
    if (s->n_failed++ == 0)
        s->err = *e;
}

static void mark_one(void *ctx, uint32_t i)
{
    struct start *s = ctx;
    struct control *c = s->d->c;
    struct leaver *l = &s->x->leavers[i];
    struct err e;

    if (!mark_taint(c, s->x->arena, l->node, /* on= */ true, &e) ||
        !mark_reason(c, s->x->arena, l->claim, str_c(disrupt_reason_name(s->x->method)), &e)) {
        note_error(s, &e);
        return;
    }
    l->marked = true;
    if (l->is_static)
        store_set_pending(c->store, l->provider_id);
}

/* Those that could not be marked stay as they are, unless there is more to the removal than deleting. */
static bool mark_all(struct start *s)
{
    struct removal *x = s->x;
    uint32_t *marked = arena_new_array(x->arena, uint32_t, x->n_leavers), n = 0;

    fan_out(s->d->c->world, "mark", x->n_leavers, WIDTH, mark_one, s);
    for (uint32_t i = 0; i < x->n_leavers; i++)
        if (x->leavers[i].marked)
            marked[n++] = i;
    if (s->n_failed && (x->n_replacements || n == 0))
        return false;
    removal_keep(x, marked, n);
    return true;
}

static void make_one(void *ctx, uint32_t i)
{
    struct start *s = ctx;
    struct control *c = s->d->c;
    struct replacement *p = &s->x->replacements[i];
    struct err e;

    if (!round_create(c, s->x->arena, round_log(s->x->arena, s->r->log, &p->claim), &p->claim,
                      method_label(s->x->method), &p->name, &e))
        note_error(s, &e);
    if (s->x->reserved)
        store_release(c->store, p->claim.pool, 1);
    s->x->reserved = false;
}

/* What the replacements take the place of. */
static void tell_leaving(struct removal *x)
{
    str *ids = arena_new_array(x->arena, str, x->n_leavers);

    for (uint32_t i = 0; i < x->n_leavers; i++)
        ids[i] = x->leavers[i].provider_id;
    for (uint32_t i = 0; i < x->n_replacements; i++) {
        x->replacements[i].claim.leaving = ids;
        x->replacements[i].claim.n_leaving = x->n_leavers;
    }
}

static void count_begin(struct disruptor *d, const struct removal *x)
{
    struct control_metrics *m = d->c->metrics;
    str decision = str_c(removal_decision(x)), reason = str_c(method_label(x->method)),
        type = str_c(consolidation_type(x->method));

    metric_inc(m->voluntary_disruption_decisions_total, 1, METRIC_VALS(decision, reason, type));
    for (uint32_t i = 0; i < x->n_leavers; i++)
        if (removal_is_first_of_pool(x, i))
            metric_inc(m->voluntary_disruption_decisions_by_nodepool_total, 1,
                       METRIC_VALS(x->leavers[i].pool, decision, reason, type));
}

static void say_begin(struct start *s)
{
    struct log_field f[REMOVAL_FIELDS + 1];

    f[0] = LOG_STR("command", removal_title(s->x, s->x->arena));
    removal_fields(s->x, s->x->arena, f + 1);
    log_write(s->r->log, LOG_INFO, "disrupting node(s)", NULL, f, ARRAY_LEN(f));
}

/* Everything up to the point where nobody else may touch the nodes. */
static bool begin(struct start *s)
{
    struct disruptor *d = s->d;
    struct removal *x = s->x;

    for (uint32_t i = 0; i < x->n_leavers; i++)
        if (disruption_is_taken(d, x->leavers[i].provider_id))
            return err_set(&s->err, ERR_CONFLICT, "candidate is being disrupted");
    /* What cannot be replaced is not marked: a pool that is beyond its limits (a process died between a replacement and the end of what it replaces) would have its nodes
     * tainted and untainted for as long as that lasts, as upstream does it. */
    for (uint32_t i = 0; i < x->n_replacements; i++)
        if (!round_may_create(d->c, &x->replacements[i].claim, &s->err))
            return err_wrap(&s->err, "launching replacement nodeclaim");
    say_begin(s);
    if (!mark_all(s))
        return err_wrap(&s->err, "marking disrupted");
    tell_leaving(x);
    fan_out(d->c->world, "replace", x->n_replacements, WIDTH, make_one, s);
    if (x->n_replacements && s->n_failed)
        return err_wrap(&s->err, "launching replacement nodeclaim");
    return true;
}

bool removal_start(struct disruptor *d, struct reconcile *r, struct removal *x, struct err *e)
{
    struct start s = {.d = d, .r = r, .x = x};
    struct control *c = d->c;

    if (!begin(&s)) {
        *e = s.err;
        for (uint32_t i = 0; i < x->n_leavers; i++)
            if (x->leavers[i].marked && x->leavers[i].is_static)
                store_mark(c->store, x->leavers[i].provider_id, false);
        if (x->reserved)
            store_release(c->store, x->leavers[0].pool, 1);
        removal_free(x);
        return false;
    }
    /* Not before the replacements are known, or a round would plan for their pods once more. */
    for (uint32_t i = 0; i < x->n_leavers; i++)
        store_mark(c->store, x->leavers[i].provider_id, true);
    for (uint32_t i = 0; i < x->n_targets; i++)
        round_nominate(c, x->arena, &x->targets[i]);
    x->began_us = world_mono_us(c->world);
    put_under_way(d, x);
    count_begin(d, x);
    queue_add(d->queue, STR(""), x->leavers[0].claim);
    return true;
}

/* ---- how it ends ---- */

enum progress { WAITS, FAILED, DONE };

/* What the replacement is like now. */
static enum progress look_at(struct disruptor *d, struct arena *a, struct removal *x, struct replacement *p,
                             struct err *e)
{
    const struct kept *k = store_kept(d->c->store, OBJ_NODECLAIM, p->name);
    const struct nodeclaim *claim = store_claim(d->c->store, p->name);

    if (!k) {
        (void)err_set(e, ERR_NOT_FOUND, "replacement was deleted, NodeClaim.karpenter.sh \"" STR_FMT "\" not found",
                      STR_ARG(p->name));
        return FAILED;
    }
    str reason = str_c(disrupt_reason_name(x->method)), uid = arena_strdup(a, k->uid);
    disruption_say(d->c, &(struct saying){.kind = &api_nodeclaims,
                                          .name = p->name,
                                          .uid = uid,
                                          .reason = "DisruptionLaunching",
                                          .message = arena_printf(a, "Launching NodeClaim: " STR_FMT, STR_ARG(reason)),
                                          .more_key = reason});
    if (claim && claim->initialized == COND_TRUE) {
        p->initialized = true;
        return DONE;
    }
    disruption_say(d->c, &(struct saying){.kind = &api_nodeclaims,
                                          .name = p->name,
                                          .uid = uid,
                                          .reason = "DisruptionWaitingReadiness",
                                          .message = STR("Waiting on readiness to continue disruption")});
    return WAITS;
}

static enum progress await_replacements(struct disruptor *d, struct arena *a, struct removal *x, struct err *e)
{
    enum progress all = DONE;

    for (uint32_t i = 0; i < x->n_replacements; i++) {
        struct replacement *p = &x->replacements[i];
        enum progress one = p->initialized ? DONE : look_at(d, a, x, p, e);

        if (one == FAILED)
            return FAILED;
        if (one == WAITS)
            all = WAITS;
    }
    return all;
}

struct deletion {
    struct disruptor *d;
    struct reconcile *r;
    struct removal *x;
    struct leaver *l;
};

static bool try_delete(void *ctx, struct err *e)
{
    struct deletion *t = ctx;

    return write_delete(t->d->c, t->r->arena, OBJ_NODECLAIM, t->l->claim, e);
}

static void say_terminating(struct control *c, struct arena *a, const struct api_kind *kind, str name, str uid,
                            str reason)
{
    disruption_say(c,
                   &(struct saying){.kind = kind,
                                    .name = name,
                                    .uid = uid,
                                    .reason = "DisruptionTerminating",
                                    .message = arena_printf(a, "Disrupting %s: " STR_FMT, kind->kind, STR_ARG(reason)),
                                    .more_key = reason});
}

static void delete_one(void *ctx, uint32_t i)
{
    struct deletion t = *(const struct deletion *)ctx;
    str reason = str_c(disrupt_reason_name(t.x->method));
    struct control *c = t.d->c;
    struct err e;

    t.l = &t.x->leavers[i];
    if (t.l->gone)
        return;
    bool ok = write_retry(c->world, try_delete, &t, &e);
    t.l->gone = ok || e.kind == ERR_NOT_FOUND;
    if (!ok)
        return;
    if (*consolidation_type(t.x->method))
        log_info(t.r->log, "consolidation delete", LOG_STR("node", t.l->node),
                 LOG_STR("reason", str_c(method_label(t.x->method))));
    say_terminating(c, t.r->arena, &api_nodes, t.l->node, t.l->node_uid, reason);
    say_terminating(c, t.r->arena, &api_nodeclaims, t.l->claim, t.l->claim_uid, reason);
    metric_inc(c->metrics->nodeclaims_disrupted_total, 1,
               METRIC_VALS(str_c(method_label(t.x->method)), t.l->pool, t.l->capacity_type));
}

static enum progress advance(struct disruptor *d, struct reconcile *r, struct removal *x, struct err *e)
{
    int64_t limit_ms = removal_limit_ms(d->taken.n);
    enum progress now = await_replacements(d, r->arena, x, e);

    if (now == DONE) {
        struct deletion t = {.d = d, .r = r, .x = x};

        fan_out(d->c->world, "delete", x->n_leavers, WIDTH, delete_one, &t);
        for (uint32_t i = 0; i < x->n_leavers; i++)
            if (!x->leavers[i].gone)
                now = WAITS;
    }
    /* quirk: what was finished too late has failed all the same (lifecycle 8.13) */
    if (now != FAILED && world_mono_us(d->c->world) - x->began_us > limit_ms * 1000) {
        (void)err_set(e, ERR_TIMEOUT, "command reached timeout, %s",
                      now == DONE ? "its nodeclaims were deleted" : "its replacements are not initialized");
        return FAILED;
    }
    return now;
}

static void restore_one(void *ctx, uint32_t i)
{
    struct start *s = ctx;
    const struct leaver *l = &s->x->leavers[i];
    struct err e;

    if (l->gone)
        return;
    if (!mark_taint(s->d->c, s->r->arena, l->node, /* on= */ false, &e) ||
        !mark_reason(s->d->c, s->r->arena, l->claim, STR(""), &e))
        note_error(s, &e);
}

/* What is left of the marks if this fails as well is taken off by the loop. */
static void give_up(struct disruptor *d, struct reconcile *r, struct removal *x, const struct err *why)
{
    struct start s = {.d = d, .r = r, .x = x};
    struct log_field f[REMOVAL_FIELDS];
    str decision = str_c(removal_decision(x));
    uint32_t n = 0;

    for (uint32_t i = 0; i < x->n_replacements; i++)
        n += !x->replacements[i].initialized;
    /* quirk: the last label says the decision again (lifecycle 10.1) */
    metric_inc(d->c->metrics->voluntary_disruption_queue_failures_total, n,
               METRIC_VALS(decision, str_c(method_label(x->method)), decision));
    fan_out(d->c->world, "restore", x->n_leavers, WIDTH, restore_one, &s);
    removal_fields(x, r->arena, f);
    log_write(r->log, LOG_ERROR, "failed terminating nodes while executing a disruption command", why, f, ARRAY_LEN(f));
    complete(d, x, /* succeeded= */ false);
}

static struct result process(struct reconcile *r)
{
    struct disruptor *d = r->ctx;
    struct removal *x = removal_find(d, r->name);
    struct log_field f[REMOVAL_FIELDS];
    struct err e;

    if (!x)
        return RESULT_OK;
    switch (advance(d, r, x, &e)) {
    case WAITS:
        return result_after_ms(POLL_MS);
    case FAILED:
        give_up(d, r, x, &e);
        return RESULT_OK;
    case DONE:
        break;
    }
    removal_fields(x, r->arena, f);
    log_write(r->log, LOG_DEBUG, "command succeeded", NULL, f, ARRAY_LEN(f));
    complete(d, x, /* succeeded= */ true);
    return RESULT_OK;
}

void disruption_queue_register(struct disruptor *d)
{
    d->queue =
        manager_add(d->c->manager, &(struct controller_spec){
                                       .name = "disruption.queue",
                                       .in_memory = true,
                                       .workers = workers_linear(100, 1000, d->c->options->cpu_milli),
                                       .limit = {.base_us = 1000000, .max_us = 10 * 1000000, .qps = 100, .burst = 1000},
                                       .fn = process,
                                       .ctx = d,
                                   });
}
