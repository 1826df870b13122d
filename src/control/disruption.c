/* disruption: the loop (lifecycle 8.1). One method after the other looks at the cluster; the first that finds something to do is the last in its run.
 *
 * A run never waits for the second look at a decision: it comes back when it is time, so that a process can end at any moment. */
#include "control/disruption_int.h"

#include <stdlib.h>

#include "base/bits.h"
#include "control/claims.h"
#include "control/fan.h"
#include "model/duration.h"

#define POLL_MS 10000
#define UNSYNCED_MS 1000
#define UNSYNCED_QUIET_US (30 * 1000000ll)
#define UNSYNCED_EVERY_US (10 * 1000000ll)
#define UNSYNCED_WAITING_MS 100 /* a replacement is being launched, and the next removal is next in line */
#define SECOND_LOOK_MS 15000
#define OVERDUE_MS (15 * 60 * 1000ll)
#define START_WIDTH 10
/* While more than one in so many nodes goes or expects pods, what was decided is left to settle; for so long at most. */
#define UNSETTLED_PART 20
#define UNSETTLED_US (60 * 1000000ll)
#define UNSETTLED_POLL_MS 1000
/* How long the next removal waits after one that was undone; twice as long each time, up to an hour. */
#define UNDONE_US (60 * 1000000ll)
#define UNDONE_MOST_US (60 * 60 * 1000000ll)

/* A loop that looks every ten seconds does not stay away for longer when something failed. */
static const struct limiter_spec limit = {.base_us = 5000, .max_us = POLL_MS * 1000ll, .qps = 10, .burst = 100};

/* ---- when ---- */

static void say_overdue_one(struct reconcile *r, const char *what, int64_t late_ms)
{
    struct sb b = {0};

    sb_printf(&b, "abnormal time between runs of %s = ", what);
    duration_print(&b, late_ms * 1000000);
    log_write(r->log, LOG_DEBUG, sb_cstr(&b), NULL, NULL, 0);
    sb_fini(&b);
}

static void say_overdue(const struct disruptor *d, struct reconcile *r)
{
    int64_t now = world_now_ms(d->c->world);

    if (d->looped_ms && now - d->looped_ms > OVERDUE_MS)
        say_overdue_one(r, "disruption-loop", now - d->looped_ms);
    for (uint32_t m = 0; m < N_METHODS; m++)
        if (d->ran_ms[m] && now - d->ran_ms[m] > OVERDUE_MS)
            say_overdue_one(r, disrupt_method_name((enum disrupt_method)m), now - d->ran_ms[m]);
}

/* A claim that is not launched yet, or cannot be: empty when there is none. */
static str unlaunched(const struct disruptor *d)
{
    struct names n = store_names(d->c->store, OBJ_NODECLAIM);

    for (uint32_t i = 0; i < n.n; i++) {
        const struct nodeclaim *c = store_claim(d->c->store, n.v[i]);

        if (c && c->provider_id.n == 0 && store_meta(d->c->store, OBJ_NODECLAIM, n.v[i])->managed)
            return n.v[i];
    }
    return (str){0};
}

/* While a machine may be on its way that nobody knows, nothing is planned and nothing goes. Somebody should know when that lasts (lifecycle 2.5). */
static struct result await_sync(struct disruptor *d, struct reconcile *r)
{
    int64_t now_us = world_mono_us(d->c->world);
    struct sb b = {0};

    if (!d->c->unsynced_us) {
        d->c->unsynced_us = MAX(now_us, 1);
        d->complain_us = now_us + UNSYNCED_QUIET_US;
    }
    if (now_us >= d->complain_us) {
        duration_print(&b, (now_us - d->c->unsynced_us) / 1000000 * 1000000000);
        log_error(r->log, "nothing is planned or disrupted, the cluster is not known", NULL,
                  LOG_STR("unsynced-for", sb_view(&b)), LOG_OBJ("NodeClaim", STR(""), unlaunched(d)));
        sb_fini(&b);
        d->complain_us = now_us + UNSYNCED_EVERY_US;
    }
    return result_after_ms(d->waiting.n ? UNSYNCED_WAITING_MS : UNSYNCED_MS);
}

/* The number of the moment: the same as the last one when nothing has happened that consolidation would look at. */
static uint64_t news(struct disruptor *d)
{
    uint64_t epoch = store_consolidation_epoch(d->c->store);
    int64_t now_us = world_mono_us(d->c->world);

    if (d->news == 0 || epoch != d->epoch || now_us - d->news_us >= SETTLED_US) {
        d->news++;
        d->epoch = epoch;
        d->news_us = now_us;
    }
    return d->news;
}

static bool looks_twice(enum disrupt_method m)
{
    return m == METHOD_EMPTINESS || m == METHOD_MULTI || m == METHOD_SINGLE;
}

/* ---- one method ---- */

const struct snapshot *disruption_snapshot(struct disruptor *d)
{
    struct control *c = d->c;

    return store_snapshot(c->store, &c->options->settings, c->cloud->catalog(c->cloud->self), world_now_ms(c->world));
}

static uint64_t *taken_bits(struct disruptor *d, struct arena *a, const struct snapshot *s)
{
    uint64_t *v = arena_new_array(a, uint64_t, BITS_WORDS(s->n_nodes) + 1);

    for (uint32_t i = 0; i < s->n_nodes; i++)
        if (s->nodes[i].node && disruption_is_taken(d, s->nodes[i].node->provider_id))
            bit_set(v, i);
    return v;
}

/* A pool that has too many is made smaller first. One that is not ready has no room: what takes the place of a node could not be launched, and the node would be given up and taken back
 * for as long as that lasts. */
static int64_t *static_rooms(struct disruptor *d, struct arena *a, const struct snapshot *s)
{
    int64_t *room = arena_new_array(a, int64_t, s->n_pools);

    for (uint32_t i = 0; i < s->n_pools; i++) {
        const struct nodepool *p = &s->pools[i];
        struct pool_census v = store_pool_census(d->c->store, p->name);

        if (p->is_static && p->ready == COND_TRUE && (int64_t)v.active + v.pending <= p->replicas)
            room[i] = store_room(d->c->store, p->name, static_limit(p));
    }
    return room;
}

static struct pass_options options_of(struct disruptor *d, struct arena *a, const struct snapshot *s,
                                      enum disrupt_method m)
{
    return (struct pass_options){
        .method = m,
        .frame = d->c->frame,
        .compat = d->c->options->settings.consolidation == CONSOLIDATION_COMPAT,
        .busy = taken_bits(d, a, s),
        .static_room = m == METHOD_STATIC_DRIFT ? static_rooms(d, a, s) : NULL,
    };
}

/* What the methods of one run have in common: no fiber gives way between them. */
struct sight {
    const struct snapshot *s;
    struct candidates *known;
    uint64_t *told;          /* NULL: nobody has asked yet */
    const uint64_t *waiting; /* nodes that the run has decided about: bit set over snapshot.nodes; NULL: none */
    bool searched;           /* some method had candidates that it did not know about already */
};

static const uint64_t *with_waiting(struct arena *a, const struct sight *x, const uint64_t *busy)
{
    uint32_t words = BITS_WORDS(x->s->n_nodes);
    uint64_t *v = arena_new_array(a, uint64_t, words + 1);

    if (!x->waiting)
        return busy;
    bits_copy(v, busy, words);
    bits_or(v, x->waiting, words);
    return v;
}

static const struct pass *look(struct disruptor *d, struct reconcile *r, struct sight *x, enum disrupt_method m)
{
    const struct snapshot *s = x->s;
    struct pass_options o = options_of(d, r->arena, s, m);
    uint64_t now = news(d);

    o.unchanged = looks_twice(m) && d->settled[m] == now;
    o.known = x->known;
    o.busy = with_waiting(r->arena, x, o.busy);
    o.waiting = x->waiting;
    if (!x->told)
        x->told = pass_told(d, r->arena, s);
    o.told = x->told;
    int64_t began_us = world_mono_us(d->c->world);
    const struct pass *p = disrupt_pass(r->arena, s, &o);
    /* A node that has been left alone for long enough becomes a candidate, though nothing has happened to it. */
    if (o.unchanged && !o.compat && p->n_candidates != d->n_settled[m]) {
        o.unchanged = false;
        p = disrupt_pass(r->arena, s, &o);
    }
    if (p->n_candidates && !o.unchanged) {
        x->searched = true;
        pass_solved(d, r->arena, m, began_us);
    }
    pass_report(d, r, s, m, p);
    pass_told_more(d, s, p, x->told);
    d->ran_ms[m] = s->now_ms;
    if (looks_twice(m) && p->n_candidates && p->n_commands == 0 && !p->constrained && p->error.n == 0) {
        d->settled[m] = now;
        d->n_settled[m] = p->n_candidates;
    }
    return p;
}

/* ---- decided ---- */

struct starts {
    struct disruptor *d;
    struct reconcile *r;
    VEC(struct removal *) v;
    uint32_t n_begun;
    struct err err; /* the first, one that is not a conflict if there is one */
};

static void start_one(void *ctx, uint32_t i)
{
    struct starts *s = ctx;
    struct err e;

    if (removal_start(s->d, s->r, s->v.v[i], &e))
        s->n_begun++;
    else if (s->err.kind == ERR_NONE || (s->err.kind == ERR_CONFLICT && e.kind != ERR_CONFLICT))
        s->err = e;
}

/* A claim of a static pool that is to be made is spoken for from here on. */
static bool reserve(struct disruptor *d, struct removal *x)
{
    if (x->method != METHOD_STATIC_DRIFT)
        return true;
    const struct nodepool *p = store_pool(d->c->store, x->leavers[0].pool);
    x->reserved = p && store_reserve(d->c->store, x->leavers[0].pool, static_limit(p), 1) == 1;
    return x->reserved;
}

static struct result start_failed(struct reconcile *r, const struct err *e)
{
    if (e->kind == ERR_CONFLICT)
        return result_requeue();
    r->err = *e;
    (void)err_wrap(&r->err, "disrupting nodes");
    return result_error();
}

/* Drift: whatever was found begins at once. */
static struct result start_all(struct disruptor *d, struct reconcile *r, const struct snapshot *s, const struct pass *p)
{
    struct starts x = {.d = d, .r = r};
    uint64_t number = store_plan_number(d->c->store);

    for (uint32_t i = 0; i < p->n_commands; i++) {
        struct removal *one = removal_of(d->c, s, &p->commands[i]);

        removal_planned(one, number);
        if (reserve(d, one))
            vec_push(&x.v, one);
        else
            removal_free(one);
    }
    fan_out(d->c->world, "disrupt", x.v.n, START_WIDTH, start_one, &x);
    vec_fini(&x.v);
    return x.err.kind != ERR_NONE ? start_failed(r, &x.err) : result_after_ms(0);
}

static void wait_for_second_look(struct disruptor *d, const struct snapshot *s, enum disrupt_method m,
                                 const struct pass *p, int64_t began_us)
{
    if (d->waiting.n == 0) {
        d->waiting_for = 0;
        d->due_us = world_mono_us(d->c->world) + SECOND_LOOK_MS * 1000ll;
        d->decided_us = began_us;
        d->acted = false;
    }
    for (uint32_t i = 0; i < p->n_commands; i++)
        vec_push(&d->waiting, removal_of(d->c, s, &p->commands[i]));
    d->waiting_for |= 1u << m;
}

/* ---- looked at again ---- */

/* Its number in the snapshot, if it is the same machine. */
static uint32_t leaver_index(const struct disruptor *d, const struct snapshot *s, const struct leaver *l)
{
    const struct state_node *n = store_machine(d->c->store, l->provider_id);

    if (!n || !n->node || !n->claim || !str_eq(n->node->uid, l->node_uid) || !str_eq(n->claim->uid, l->claim_uid))
        return UINT32_MAX;
    return (uint32_t)(n - s->nodes);
}

static uint32_t *type_indexes(struct arena *a, const struct snapshot *s, const struct replacement *p)
{
    uint32_t *v = arena_new_array(a, uint32_t, p->n_types);
    struct u64map by_name = {0};

    bool known;
    sym pool = sym_find(s->syms, p->claim.pool, &known);

    for (uint32_t i = s->catalog->n; i-- > 0;) /* the first of a name stays */
        u64map_put(&by_name, s->catalog->types[i].name.v, i);
    for (uint32_t i = 0; i < p->n_types; i++) {
        sym name = sym_find(s->syms, p->type_names[i], &known);
        uint32_t ix = known ? u64map_get(&by_name, name.v) : MAP_NONE;

        v[i] = ix == MAP_NONE ? UINT32_MAX : catalog_for_pool(s->catalog, ix, pool);
    }
    u64map_fini(&by_name);
    return v;
}

static enum recheck look_again(struct disruptor *d, struct removal *x, uint32_t *ret_failed)
{
    AUTO(arena) struct arena *a = arena_new(0);
    const struct snapshot *s = disruption_snapshot(d);
    struct pass_options o = options_of(d, a, s, x->method);
    const uint32_t **types = arena_new_array(a, const uint32_t *, x->n_replacements);
    uint32_t *n_types = arena_new_array(a, uint32_t, x->n_replacements);
    struct earlier c = {.nodes = arena_new_array(a, uint32_t, x->n_leavers),
                        .n_nodes = x->n_leavers,
                        .n_claims = x->n_replacements,
                        .types = types,
                        .n_types = n_types};

    for (uint32_t i = 0; i < x->n_leavers; i++)
        c.nodes[i] = leaver_index(d, s, &x->leavers[i]);
    for (uint32_t i = 0; i < x->n_replacements; i++) {
        types[i] = type_indexes(a, s, &x->replacements[i]);
        n_types[i] = x->replacements[i].n_types;
    }
    int64_t began_us = world_mono_us(d->c->world);
    enum recheck ret = disrupt_recheck(a, s, &o, &c, ret_failed);
    pass_solved(d, a, x->method, began_us);
    removal_planned(x, store_plan_number(d->c->store));
    if (ret == RECHECK_GOOD && c.n_nodes < x->n_leavers) {
        uint32_t *keep = arena_new_array(a, uint32_t, c.n_nodes), n = 0;

        for (uint32_t i = 0; i < x->n_leavers && n < c.n_nodes; i++)
            if (leaver_index(d, s, &x->leavers[i]) == c.nodes[n])
                keep[n++] = i;
        assert(n == c.n_nodes);
        removal_keep(x, keep, n);
    }
    return ret;
}

static struct removal *next_waiting(struct disruptor *d)
{
    struct removal *x = d->waiting.v[0];

    d->waiting.n--;
    memmove(d->waiting.v, d->waiting.v + 1, d->waiting.n * sizeof(*d->waiting.v));
    return x;
}

/* kube-scheduler knows nothing of the room that capacity buffers ask for, and puts pods that had to go just there, as it likes nodes with much room. Then the room is bought again, and a
 * node is too many again: the same could go on for as long as pods and buffers stay as they are. */
static bool is_undone(const struct disruptor *d)
{
    return d->c->n_for_buffers != d->bought;
}

static bool is_put_off(const struct disruptor *d, const struct snapshot *s)
{
    int64_t wait_us = MIN(UNDONE_US << MIN(d->n_undone, 10u), UNDONE_MOST_US);

    return s->settings.consolidation != CONSOLIDATION_COMPAT && is_undone(d) &&
           world_mono_us(d->c->world) - d->began_us < wait_us;
}

/* One after the other, each on a cluster in which those before it have begun. false: *ret is how the run ends. */
static bool second_looks(struct disruptor *d, struct reconcile *r, struct result *ret)
{
    while (d->waiting.n) {
        uint32_t n_failed = 0;
        struct err e;

        if (!store_synced(d->c->store)) {
            *ret = result_after_ms(UNSYNCED_WAITING_MS);
            return false;
        }
        struct removal *x = next_waiting(d);
        enum recheck why = look_again(d, x, &n_failed);
        if (why != RECHECK_GOOD) {
            removal_rejected(d, r->arena, x, why, n_failed);
            removal_free(x);
            continue;
        }
        if (n_failed)
            metric_inc(d->c->metrics->voluntary_disruption_failed_validations_total, n_failed,
                       METRIC_VALS(str_c(consolidation_type(x->method))));
        if (!removal_start(d, r, x, &e)) {
            *ret = start_failed(r, &e);
            return false;
        }
        if (!d->acted) {
            d->n_undone = is_undone(d) ? d->n_undone + 1 : 0;
            d->bought = d->c->n_for_buffers;
        }
        d->acted = true;
        d->began_us = world_mono_us(d->c->world);
    }
    for (uint32_t m = 0; m < N_METHODS; m++)
        if (d->waiting_for & 1u << m)
            pass_took(d, (enum disrupt_method)m, d->decided_us);
    return true;
}

/* ---- the loop ---- */

/* Nodes that are out of date go before those that are not worth their price, and at once. */
static bool any_drifted(struct disruptor *d, struct reconcile *r, const struct sight *x)
{
    static const enum disrupt_method methods[] = {METHOD_STATIC_DRIFT, METHOD_DRIFT};

    for (uint32_t i = 0; i < ARRAY_LEN(methods); i++) {
        struct pass_options o = options_of(d, r->arena, x->s, methods[i]);

        o.known = x->known;
        o.unchanged = true; /* who is a candidate is all that is asked */
        if (disrupt_pass(r->arena, x->s, &o)->n_candidates)
            return true;
    }
    return false;
}

/* Nodes that expect pods may not go, nor may those that are to take the place of others and are not there yet. After a decision that moved many, few nodes could be decided about, each as
 * if the others were to stay as they are: it takes a second decision to undo what such a decision does. A little later all of them can be weighed up together, and fewer pods move. The
 * same goes for what budgets leave while nodes are going: two parts of a budget, one decided about while the other is drained, take longer than all of it at once. */
bool disruption_is_unsettled(const struct disruptor *d, const struct snapshot *s, int64_t now_us)
{
    uint32_t n = 0;

    if (s->settings.consolidation == CONSOLIDATION_COMPAT || now_us - d->began_us >= UNSETTLED_US)
        return false;
    for (uint32_t i = 0; i < s->n_nodes; i++)
        n += s->nodes[i].nominated || s->nodes[i].deleting;
    return d->under_way.n || n * UNSETTLED_PART > s->n_nodes;
}

/* Whether it has settled is asked more often than there is anything to find. Of all methods only those of drift are not kept waiting. */
bool disruption_is_between_looks(const struct disruptor *d, const struct snapshot *s, int64_t now_us)
{
    if (now_us - d->looked_us >= POLL_MS * 1000ll || !disruption_is_unsettled(d, s, now_us))
        return false;
    for (uint32_t i = 0; i < s->n_nodes; i++)
        if (s->nodes[i].claim && s->nodes[i].claim->drifted == COND_TRUE)
            return false;
    return true;
}

/* Outside of compat empty nodes do not have the fifteen seconds to themselves: what else is not worth keeping waits along with them. */
static void look_along(struct disruptor *d, struct reconcile *r, struct sight *x, const struct pass *empty)
{
    uint64_t *gone = arena_new_array(r->arena, uint64_t, BITS_WORDS(x->s->n_nodes) + 1);
    int64_t began_us = world_mono_us(d->c->world);

    if (d->c->options->settings.consolidation == CONSOLIDATION_COMPAT || is_put_off(d, x->s) || any_drifted(d, r, x))
        return;
    for (uint32_t i = 0; i < empty->n_commands; i++)
        for (uint32_t k = 0; k < empty->commands[i].n_nodes; k++)
            bit_set(gone, empty->commands[i].nodes[k]);
    x->waiting = gone;
    const struct pass *p = look(d, r, x, METHOD_MULTI);
    if (p->n_commands)
        wait_for_second_look(d, x->s, METHOD_MULTI, p, began_us);
}

static struct result look_with_all(struct disruptor *d, struct reconcile *r, struct sight *x, uint32_t from)
{
    const struct snapshot *s = x->s;
    bool unsettled = disruption_is_unsettled(d, s, world_mono_us(d->c->world));

    for (uint32_t m = from; m < N_METHODS; m++) {
        int64_t began_us = world_mono_us(d->c->world);

        if (unsettled && m >= METHOD_MULTI)
            return result_after_ms(UNSETTLED_POLL_MS);
        if (unsettled && m == METHOD_EMPTINESS)
            continue; /* a second look of its own would hold up the others */
        if (m >= METHOD_MULTI && is_put_off(d, s))
            return result_after_ms(POLL_MS);
        const struct pass *p = look(d, r, x, (enum disrupt_method)m);
        if (p->error.n) {
            (void)err_set(&r->err, ERR_INVALID, "disrupting nodes, " STR_FMT, STR_ARG(p->error));
            return result_error();
        }
        if (p->n_commands == 0) {
            pass_took(d, (enum disrupt_method)m, began_us);
            continue;
        }
        if (looks_twice((enum disrupt_method)m)) {
            wait_for_second_look(d, s, (enum disrupt_method)m, p, began_us);
            if (m == METHOD_EMPTINESS)
                look_along(d, r, x, p);
            return result_after_ms(SECOND_LOOK_MS);
        }
        struct result res = start_all(d, r, s, p);
        pass_took(d, (enum disrupt_method)m, began_us);
        return res;
    }
    if (from == 0 && !x->searched)
        rest_begin(d, r->arena, s);
    return result_after_ms(POLL_MS);
}

/* From this method on. */
static struct result look_around(struct disruptor *d, struct reconcile *r, uint32_t from)
{
    struct sight x = {.s = disruption_snapshot(d)};

    d->looked_us = world_mono_us(d->c->world);
    protections_report(d, r->arena, x.s);
    x.known = pass_candidates_new(r->arena, x.s);
    struct result res = look_with_all(d, r, &x, from);
    pass_candidates_free(x.known);
    return res;
}

static struct result run(struct reconcile *r)
{
    struct disruptor *d = r->ctx;
    struct result res;
    struct err e;
    uint32_t from = 0;

    say_overdue(d, r);
    d->looped_ms = world_now_ms(d->c->world);
    if (!store_synced(d->c->store))
        return await_sync(d, r);
    d->c->unsynced_us = 0;
    if (rest_holds(d, r->arena)) {
        rest_run(d);
        return result_after_ms(POLL_MS);
    }
    const struct snapshot *s = disruption_snapshot(d);
    budgets_report(r, s);
    if (!marks_clean_up(d, r->arena, s, &e))
        return start_failed(r, &e);
    if (!store_synced(d->c->store)) /* claims were made meanwhile */
        return await_sync(d, r);
    if (d->waiting.n) {
        int64_t left_us = d->due_us - world_mono_us(d->c->world);

        if (left_us > 0)
            return result_after_ms((left_us + 999) / 1000);
        if (!second_looks(d, r, &res))
            return res;
        if (d->acted)
            return result_after_ms(0);
        /* What is after all of these. Outside of compat what was decided fell to news, and is decided anew with them:
         * METHOD_SINGLE would look at single nodes alone. */
        while (d->c->options->settings.consolidation == CONSOLIDATION_COMPAT && d->waiting_for >> from)
            from++;
    }
    if (disruption_is_between_looks(d, disruption_snapshot(d), world_mono_us(d->c->world)))
        return result_after_ms(UNSETTLED_POLL_MS);
    return look_around(d, r, from);
}

static void on_event(void *ctx, const struct store_event *ev)
{
    if (ev->kind == OBJ_NODEPOOL && ev->change == STORE_GONE)
        pass_forget_pool(ctx, ev->name);
}

struct disruptor *disruptor_new(struct control *c)
{
    struct disruptor *d = xcalloc(1, sizeof(*d));

    d->c = c;
    d->began_us = -UNSETTLED_US;
    d->looked_us = -POLL_MS * 1000ll;
    d->loop = manager_add(
        c->manager, &(struct controller_spec){.name = "disruption", .workers = 1, .limit = limit, .fn = run, .ctx = d});
    disruption_queue_register(d);
    metric_inc(c->metrics->voluntary_disruption_consolidation_timeouts_total, 0, METRIC_VALS(STR("multi")));
    metric_inc(c->metrics->voluntary_disruption_consolidation_timeouts_total, 0, METRIC_VALS(STR("single")));
    store_subscribe(c->store, on_event, d);
    return d;
}

void disruptor_free(struct disruptor *d)
{
    if (!d)
        return;
    for (uint32_t i = 0; i < d->under_way.n; i++)
        removal_free(d->under_way.v[i]);
    for (uint32_t i = 0; i < d->waiting.n; i++)
        removal_free(d->waiting.v[i]);
    vec_fini(&d->under_way);
    vec_fini(&d->waiting);
    vec_fini(&d->told);
    htab_fini(&d->taken);
    free(d);
}
