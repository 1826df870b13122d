/* instance.garbagecollection: machines that no claim knows of (aws 7.5). */
#include "control/aws/machines_int.h"
#include "control/fan.h"

enum {
    YOUNG_MS = 30 * 1000, /* its claim may not have been told yet */
    EAGER_MS = 10 * 1000,
    EAGER_RUNS = 20,
    WORKERS = 100,
};

struct sweep {
    struct aws_machines *s;
    struct reconcile *r;
    str *ids; /* provider ids of orphans */
    uint32_t n;
};

static bool has_claim(struct aws_machines *s, str provider_id)
{
    struct names n = store_claims_by_id(s->c->store, provider_id);

    for (uint32_t i = 0; i < n.n; i++) {
        const struct kept *k = store_meta(s->c->store, OBJ_NODECLAIM, n.v[i]);

        if (k && k->managed)
            return true;
    }
    return false;
}

/* Since when no claim has known of the machine. */
static int64_t stranger_since_us(const struct aws_machines *s, str id, int64_t now_us)
{
    for (uint32_t i = 0; i < s->strangers.n; i++)
        if (str_eq(s->strangers.v[i].id, id))
            return s->strangers.v[i].since_us;
    return now_us;
}

/* Nothing is ended in a zone that is shifted away from (aws 4.10): to try it all the same would be a failure for as long as the shift lasts, and orphans of other zones would wait
 * for its back-off. */
static bool is_candidate(const struct sweep *w, const struct ec2_instance *m, str provider_id)
{
    const struct aws_provider *p = &w->s->o.provider;

    return !str_is(m->state, "shutting-down") && !str_is(m->state, "terminated") && !has_claim(w->s, provider_id) &&
           !p->zone_is_shifted(p->p, m->zone_id);
}

/* A launch is a time of AWS's clock. When ours was set back since, or is slow, it is in the future, and the machine would stay young for hours: so one that has been a stranger for long enough by the steady
 * clock is old, too. */
static void find_orphans(struct sweep *w, const struct ec2_instances *there)
{
    struct aws_machines *s = w->s;
    int64_t now_ms = world_now_ms(s->c->world), now_us = world_mono_us(s->c->world);
    struct arena *keep = arena_new(0);
    VEC(struct stranger) next = {0};

    w->ids = arena_new_array(w->r->arena, str, there->n);
    for (uint32_t i = 0; i < there->n; i++) {
        const struct ec2_instance *m = &there->v[i];
        str id = arena_printf(w->r->arena, "aws:///" STR_FMT "/" STR_FMT, STR_ARG(m->zone), STR_ARG(m->id));

        if (!is_candidate(w, m, id))
            continue;
        struct stranger x = {arena_strdup(keep, m->id), stranger_since_us(s, m->id, now_us)};
        vec_push(&next, x);
        if (sat_sub(now_ms, m->launched_ms) > YOUNG_MS || now_us - x.since_us > YOUNG_MS * 1000ll)
            w->ids[w->n++] = id;
    }
    arena_free(s->strangers_in);
    s->strangers_in = keep;
    s->strangers.n = 0;
    for (uint32_t i = 0; i < next.n; i++)
        vec_push(&s->strangers, next.v[i]);
    vec_fini(&next);
}

static void collect(void *ctx, uint32_t i)
{
    struct sweep *w = ctx;
    struct control *c = w->s->c;
    const struct nodeclaim claim = {.provider_id = w->ids[i]};
    struct names nodes;
    struct err e;

    if (!c->cloud->destroy(c->cloud->self, w->r->arena, &claim, &e) && e.kind != ERR_NOT_FOUND) {
        reconcile_fail(w->r, &e);
        return;
    }
    log_debug(w->r->log, "garbage collected cloudprovider instance", LOG_STR("provider-id", w->ids[i]));
    nodes = machine_nodes(w->s, w->r->arena, w->ids[i]);
    if (nodes.n == 0)
        return;
    if (!write_delete(c, w->r->arena, OBJ_NODE, nodes.v[0], &e)) {
        if (e.kind != ERR_NOT_FOUND)
            reconcile_fail(w->r, &e);
        return;
    }
    log_debug(w->r->log, "garbage collected node", LOG_STR("provider-id", w->ids[i]),
              LOG_OBJ("Node", STR(""), nodes.v[0]));
}

/* Machines are listed before claims are looked at: one that is made meanwhile is in neither list. */
static struct result reconcile(struct reconcile *r)
{
    struct aws_machines *s = r->ctx;
    struct sweep w = {.s = s, .r = r};
    struct ec2_instances there;

    if (!s->o.provider.instance_list(s->o.provider.p, r->arena, &there, &r->err))
        return result_error();
    find_orphans(&w, &there);
    fan_out(s->c->world, "instance.garbagecollection", w.n, WORKERS, collect, &w);
    if (r->err.kind != ERR_NONE)
        return result_error();
    s->n_collections += s->n_collections <= EAGER_RUNS;
    return result_after_ms(s->n_collections <= EAGER_RUNS ? EAGER_MS : 2 * MINUTE_MS);
}

void instance_gc_register(struct aws_machines *s)
{
    (void)machines_singleton(s, "instance.garbagecollection", reconcile);
}
