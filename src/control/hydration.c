/* nodeclaim.hydration, node.hydration: the label that names the node class, on claims and Nodes of before there was one (lifecycle 4.7). */
#include "control/claim_int.h"

static struct result label(struct reconcile *r, struct draft *d, const struct nodeclass_ref *class)
{
    struct err e;

    obj_set_label(r->arena, d->obj, nodeclass_label(r->arena, class), class->name);
    return draft_patch(d, DRAFT_PLAIN, &e) ? RESULT_OK : write_failed(r, &e);
}

/* Nearly all have it. */
static bool has_label(struct claims *s, struct arena *a, lset_id labels, const struct nodeclass_ref *class)
{
    const struct syms *t = s->c->syms;
    bool known;
    sym key = sym_find(t, nodeclass_label(a, class), &known), val;

    return known && lset_value(t, labels, key, &val) && str_eq(sym_str(t, val), class->name);
}

static struct result hydrate_claim(struct reconcile *r)
{
    struct claims *s = r->ctx;
    const struct nodeclaim *c = store_claim(s->c->store, r->name);
    struct draft d;

    if (!c || has_label(s, r->arena, c->labels, &c->class_ref) || !claim_open(&d, s, r))
        return RESULT_OK;
    return label(r, &d, &c->class_ref);
}

static struct result hydrate_node(struct reconcile *r)
{
    struct claims *s = r->ctx;
    struct store *store = s->c->store;
    const struct node *node = store_node(store, r->name);
    struct draft d;

    struct names n = node ? store_claims_by_id(store, node->provider_id) : (struct names){0};
    if (n.n != 1)
        return RESULT_OK;
    const struct nodeclaim *c = store_claim(store, n.v[0]);
    if (!claim_meta(s, n.v[0]) || !c || has_label(s, r->arena, node->labels, &c->class_ref) ||
        !draft_open(&d, s->c, r->arena, OBJ_NODE, r->name))
        return RESULT_OK;
    return label(r, &d, &c->class_ref);
}

static void hear(void *ctx, const struct store_event *ev)
{
    struct claims *s = ctx;
    const struct nodeclaim *c = ev->is;

    if (ev->kind == OBJ_NODE)
        queue_add(s->node_hydration, STR(""), ev->name);
    if (ev->kind != OBJ_NODECLAIM || !c)
        return;
    queue_add(s->hydration, STR(""), ev->name);
    struct names n = store_nodes_by_id(s->c->store, c->provider_id);
    for (uint32_t i = 0; i < n.n; i++)
        queue_add(s->node_hydration, STR(""), n.v[i]);
}

void hydration_register(struct claims *s)
{
    struct controller_spec spec = {
        .name = "nodeclaim.hydration",
        .group = GROUP,
        .kind = "NodeClaim",
        .workers = workers_linear(1000, 5000, s->c->options->cpu_milli),
        .limit = limiter_reasonable,
        .fn = hydrate_claim,
        .ctx = s,
    };

    s->hydration = manager_add(s->c->manager, &spec);
    spec.name = "node.hydration";
    spec.group = "";
    spec.kind = "Node";
    spec.fn = hydrate_node;
    s->node_hydration = manager_add(s->c->manager, &spec);
    store_subscribe(s->c->store, hear, s);
}
