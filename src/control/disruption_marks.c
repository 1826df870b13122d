/* The disrupted taint of Nodes and the condition DisruptionReason of NodeClaims. */
#include "control/disruption_int.h"
#include "control/fan.h"
#include "control/nodes.h"

#define WIDTH 100

struct mark {
    struct control *c;
    struct arena *a;
    str name, reason;
    bool on;
};

static bool try_taint(void *ctx, struct err *e)
{
    struct mark *m = ctx;
    struct draft d;

    if (!draft_open(&d, m->c, m->a, OBJ_NODE, m->name))
        return true;
    bool has = node_is_tainted_disrupted(d.obj);
    if (has == m->on || (has && obj_is_deleting(d.obj)))
        return true;
    if (m->on)
        node_taint_disrupted(m->a, d.obj);
    else
        node_untaint_disrupted(d.obj);
    return draft_patch(&d, DRAFT_LOCKED, e) || e->kind == ERR_NOT_FOUND;
}

bool mark_taint(struct control *c, struct arena *a, str node, bool on, struct err *e)
{
    struct mark m = {.c = c, .a = a, .name = node, .on = on};

    return write_retry(c->world, try_taint, &m, e);
}

/* Put on without a lock, as others write conditions of the claim as well; taken off with one, so that nobody else's are lost. */
static bool try_reason(void *ctx, struct err *e)
{
    struct mark *m = ctx;
    struct draft d;

    if (!draft_open(&d, m->c, m->a, OBJ_NODECLAIM, m->name))
        return m->reason.n == 0 ||
               err_set(e, ERR_NOT_FOUND, "nodeclaims.karpenter.sh \"" STR_FMT "\" not found", STR_ARG(m->name));
    struct cond_object conds = draft_conds(&d);
    if (m->reason.n) {
        (void)conds_true_because(&conds, "DisruptionReason", m->reason, m->reason);
        return draft_patch(&d, DRAFT_STATUS, e);
    }
    if (!cond_get(d.obj, "DisruptionReason").present)
        return true;
    (void)conds_clear(&conds, "DisruptionReason");
    return draft_patch(&d, DRAFT_STATUS | DRAFT_LOCKED, e) || e->kind == ERR_NOT_FOUND;
}

bool mark_reason(struct control *c, struct arena *a, str claim, str reason, struct err *e)
{
    struct mark m = {.c = c, .a = a, .name = claim, .reason = reason};

    return write_retry(c->world, try_reason, &m, e);
}

/* ---- left over ---- */

struct stale {
    str node, claim; /* empty: that one has none */
};

struct clean_up {
    struct disruptor *d;
    struct arena *a;
    VEC(struct stale) v;
    struct err err; /* the first */
};

static bool is_tainted(const struct node *n)
{
    for (uint32_t i = 0; i < n->taints.n; i++)
        if (sym_eq(n->taints.v[i].key, SYM(DISRUPTED)) && n->taints.v[i].effect == EFFECT_NO_SCHEDULE)
            return true;
    return false;
}

static void clean_one(void *ctx, uint32_t i)
{
    struct clean_up *x = ctx;
    const struct stale *s = &x->v.v[i];
    struct err e;

    if ((s->node.n && !mark_taint(x->d->c, x->a, s->node, /* on= */ false, &e)) ||
        (s->claim.n && !mark_reason(x->d->c, x->a, s->claim, STR(""), &e)))
        x->err = x->err.kind == ERR_NONE || e.kind != ERR_CONFLICT ? e : x->err;
}

bool marks_clean_up(struct disruptor *d, struct arena *a, const struct snapshot *s, struct err *e)
{
    struct clean_up x = {.d = d, .a = a};

    for (uint32_t i = 0; i < s->n_nodes; i++) {
        const struct state_node *n = &s->nodes[i];
        struct stale old = {0};

        if (!n->node || !n->claim || n->deleting || disruption_is_taken(d, n->node->provider_id))
            continue;
        if (is_tainted(n->node) && !n->node->deleting)
            old.node = arena_strdup(a, n->node->name);
        if (n->initialized && n->claim->disruption_reason != COND_ABSENT)
            old.claim = arena_strdup(a, n->claim->name);
        if (old.node.n || old.claim.n)
            vec_push(&x.v, old);
    }
    fan_out(d->c->world, "clean up", x.v.n, WIDTH, clean_one, &x);
    vec_fini(&x.v);
    *e = x.err;
    return e->kind == ERR_NONE;
}
