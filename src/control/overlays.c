#include "control/overlays.h"

#include <stdlib.h>

#include "base/map.h"
#include "control/write.h"

#define VALIDATED "ValidationSucceeded"
#define POLL_MS (6 * 60 * 60 * 1000ll)

struct overlays {
    struct control *c;
    struct cloud outer, *inner;
    struct queue *queue; /* NULL: not registered yet */
    struct arena *arena; /* of what was worked out last */
    bool stale;          /* something has changed since */
    const struct catalog *base, *catalog;
    uint64_t version; /* of `base` then: the provider may change what it points to */
    uint32_t n_worked_out;
    str *names; /* [n] of the overlays that it was worked out from, and what became of each */
    struct overlay_verdict *verdicts;
    uint32_t n;
};

/* ---- the catalogue ---- */

static struct nodepool *all_pools(struct overlays *s, struct arena *a, uint32_t *ret_n)
{
    struct names n = store_names(s->c->store, OBJ_NODEPOOL);
    struct nodepool *v = arena_new_array(a, struct nodepool, n.n);

    *ret_n = 0;
    for (uint32_t i = 0; i < n.n; i++) {
        const struct nodepool *p = store_pool(s->c->store, n.v[i]);

        if (p && store_kept(s->c->store, OBJ_NODEPOOL, n.v[i])->managed)
            v[(*ret_n)++] = *p;
    }
    return v;
}

static struct overlay *all_overlays(struct overlays *s, struct arena *a)
{
    struct names n = store_names(s->c->store, OBJ_OVERLAY);
    struct overlay *v = arena_new_array(a, struct overlay, n.n);

    s->names = arena_new_array(a, str, n.n);
    s->n = 0;
    for (uint32_t i = 0; i < n.n; i++) {
        const struct overlay *x = store_object(s->c->store, OBJ_OVERLAY, STR(""), n.v[i]);

        if (!x)
            continue; /* it cannot be read */
        s->names[s->n] = arena_strdup(a, n.v[i]);
        v[s->n++] = *x;
    }
    return v;
}

static void work_out(struct overlays *s, const struct catalog *base)
{
    uint32_t n_pools;

    arena_reset(s->arena);
    struct nodepool *pools = all_pools(s, s->arena, &n_pools);
    struct overlay *v = all_overlays(s, s->arena);
    s->verdicts = arena_new_array(s->arena, struct overlay_verdict, s->n);
    s->catalog = overlays_apply(s->arena, s->c->syms, base, pools, n_pools, v, s->n, s->verdicts);
    if (s->catalog != base) {
        struct catalog *own = arena_dup_array(s->arena, struct catalog, s->catalog, 1);

        own->version = u64_pair(++s->n_worked_out, (uint32_t)base->version);
        s->catalog = own;
    }
    s->base = base;
    s->version = base->version;
    s->stale = false;
}

static const struct catalog *catalog(void *self)
{
    struct overlays *s = self;
    const struct catalog *base = s->inner->catalog(s->inner->self);

    if (!s->queue)
        return base;
    if (s->stale || base != s->base || base->version != s->version)
        work_out(s, base);
    return s->catalog;
}

/* Whether one of them is in the way of another was settled for all pools together, so here nobody asks again. */
const struct catalog *overlays_of_pool(struct overlays *s, struct arena *a, str pool, const struct catalog *base)
{
    (void)catalog(s); /* what became of each is up to date */
    const struct nodepool *np = s->queue ? store_pool(s->c->store, pool) : NULL;
    struct overlay *v = arena_new_array(a, struct overlay, s->n);
    struct overlay_verdict *verdicts = arena_new_array(a, struct overlay_verdict, s->n);
    uint32_t n = 0;

    for (uint32_t i = 0; np && i < s->n; i++) {
        const struct overlay *x = store_object(s->c->store, OBJ_OVERLAY, STR(""), s->names[i]);

        if (x && s->verdicts[i].fate == OVERLAY_APPLIES)
            v[n++] = *x;
    }
    return np ? overlays_apply(a, s->c->syms, base, np, 1, v, n, verdicts) : base;
}

/* ---- what the controller says ---- */

static bool report(struct overlays *s, struct reconcile *r, str name, const struct overlay_verdict *v)
{
    struct draft d;
    struct err e;

    if (!draft_open(&d, s->c, r->arena, OBJ_OVERLAY, name))
        return true;
    struct cond_object conds = draft_conds(&d);
    conds_init(&conds);
    if (v->fate == OVERLAY_APPLIES)
        conds_true(&conds, VALIDATED);
    else
        conds_false(&conds, VALIDATED, v->fate == OVERLAY_INVALID ? STR("RuntimeValidation") : STR("Conflict"),
                    v->message);
    if (draft_patch(&d, DRAFT_STATUS | DRAFT_LOCKED, &e))
        return true;
    if (e.kind != ERR_CONFLICT && e.kind != ERR_NOT_FOUND)
        r->err = e;
    return false;
}

/* All of them at once: each may be in the way of any other. */
static struct result reconcile(struct reconcile *r)
{
    struct overlays *s = r->ctx;
    bool all = true;

    (void)catalog(s);
    uint32_t n = s->n;
    str *names = arena_new_array(r->arena, str, n);
    struct overlay_verdict *verdicts = arena_new_array(r->arena, struct overlay_verdict, n);
    for (uint32_t i = 0; i < n; i++) { /* what was worked out may be worked out anew while a call is under way */
        names[i] = arena_strdup(r->arena, s->names[i]);
        verdicts[i] = (struct overlay_verdict){s->verdicts[i].fate, arena_strdup(r->arena, s->verdicts[i].message)};
    }
    for (uint32_t i = 0; i < n; i++)
        all &= report(s, r, names[i], &verdicts[i]);
    if (r->err.kind != ERR_NONE)
        return result_error();
    return all ? result_after_ms(POLL_MS) : result_requeue();
}

static bool is_news(const struct store_event *ev)
{
    if (ev->kind != OBJ_OVERLAY && ev->kind != OBJ_NODEPOOL && ev->kind != OBJ_NODECLASS)
        return false;
    return !ev->kept_was || !ev->kept_is || ev->kept_was->generation != ev->kept_is->generation;
}

static void on_event(void *ctx, const struct store_event *ev)
{
    struct overlays *s = ctx;

    if (!is_news(ev))
        return;
    s->stale = true;
    queue_add(s->queue, STR(""), STR(""));
}

void overlays_register(struct overlays *s)
{
    s->stale = true;
    s->queue = manager_add(s->c->manager, &(struct controller_spec){.name = "nodeoverlay.controller",
                                                                    .group = "karpenter.sh",
                                                                    .kind = "NodeOverlay",
                                                                    .workers = 1,
                                                                    .limit = limiter_reasonable,
                                                                    .fn = reconcile,
                                                                    .ctx = s});
    store_subscribe(s->c->store, on_event, s);
}

/* ---- the provider behind it ---- */

static bool create(void *self, struct arena *a, struct syms *t, const struct nodeclaim *c, const struct nodeclass *k,
                   struct machine *ret, struct err *e)
{
    struct cloud *in = ((struct overlays *)self)->inner;

    return in->create(in->self, a, t, c, k, ret, e);
}

static void resume(void *self, struct syms *t, const struct nodeclaim *c, const struct nodeclass *k)
{
    struct cloud *in = ((struct overlays *)self)->inner;

    in->resume(in->self, t, c, k);
}

static bool destroy(void *self, struct arena *a, const struct nodeclaim *c, struct err *e)
{
    struct cloud *in = ((struct overlays *)self)->inner;

    return in->destroy(in->self, a, c, e);
}

static bool abandon(void *self, struct arena *a, const struct nodeclaim *c, struct err *e)
{
    struct cloud *in = ((struct overlays *)self)->inner;

    return in->abandon(in->self, a, c, e);
}

static bool stop(void *self)
{
    struct cloud *in = ((struct overlays *)self)->inner;

    return in->stop(in->self);
}

static bool get(void *self, struct arena *a, str provider_id, struct machine *ret, struct err *e)
{
    struct cloud *in = ((struct overlays *)self)->inner;

    return in->get(in->self, a, provider_id, ret, e);
}

static bool list(void *self, struct arena *a, struct machines *ret, struct err *e)
{
    struct cloud *in = ((struct overlays *)self)->inner;

    return in->list(in->self, a, ret, e);
}

static bool drifted(void *self, struct arena *a, const struct nodeclaim *c, str *ret_reason, struct err *e)
{
    struct cloud *in = ((struct overlays *)self)->inner;

    return in->drifted(in->self, a, c, ret_reason, e);
}

static bool start(void *self, struct err *e)
{
    struct cloud *in = ((struct overlays *)self)->inner;

    return in->start(in->self, e);
}

static bool hook(void *self, struct arena *a, const struct nodeclaim *c, struct cloud_hook *ret, struct err *e)
{
    struct cloud *in = ((struct overlays *)self)->inner;

    return in->hook(in->self, a, c, ret, e);
}

static void free_both(void *self)
{
    struct overlays *s = self;

    if (s->inner->free)
        s->inner->free(s->inner->self);
    arena_free(s->arena);
    free(s);
}

struct overlays *overlays_new(struct control *c)
{
    struct overlays *s = xcalloc(1, sizeof(*s));

    s->c = c;
    s->inner = c->cloud;
    s->arena = arena_new(0);
    s->outer = *c->cloud;
    s->outer.self = s;
    s->outer.create = create;
    s->outer.resume = c->cloud->resume ? resume : NULL;
    s->outer.destroy = destroy;
    s->outer.stop = c->cloud->stop ? stop : NULL;
    s->outer.abandon = c->cloud->abandon ? abandon : NULL;
    s->outer.get = get;
    s->outer.list = list;
    s->outer.catalog = catalog;
    s->outer.drifted = c->cloud->drifted ? drifted : NULL;
    s->outer.start = c->cloud->start ? start : NULL;
    s->outer.hook = c->cloud->hook ? hook : NULL;
    s->outer.free = free_both;
    c->cloud = &s->outer;
    return s;
}
