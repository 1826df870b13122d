/* Initialization: the Node can be used (lifecycle 3.4).
 *
 * Pools of DRA devices are not looked at: pods that ask for some are not planned for either. */
#include "control/claim_int.h"

static str taint_text(struct arena *a, const struct syms *t, const struct taint *x)
{
    str key = sym_str(t, x->key), val = sym_str(t, x->value);

    return arena_printf(a, STR_FMT "%s" STR_FMT ":%s", STR_ARG(key), val.n ? "=" : "", STR_ARG(val),
                        taint_effect_name(x->effect));
}

static const struct taint *startup_taint_left(const struct nodeclaim *c, const struct node *n)
{
    for (uint32_t i = 0; i < c->startup_taints.n; i++)
        for (uint32_t k = 0; k < n->taints.n; k++)
            if (taint_matches(&c->startup_taints.v[i], &n->taints.v[k]))
                return &c->startup_taints.v[i];
    return NULL;
}

static const struct taint *ephemeral_taint_left(const struct syms *t, const struct node *n)
{
    for (uint32_t i = 0; i < n->taints.n; i++)
        if (taint_is_ephemeral(&n->taints.v[i], t))
            return &n->taints.v[i];
    return NULL;
}

/* The first by name, so that the message does not change from look to look. */
static str resource_missing(const struct syms *t, const struct nodeclaim *c, const struct node *n)
{
    str first = {0};

    for (uint32_t i = 0; i < c->requests.n; i++) {
        str name = sym_str(t, c->requests.q[i].name);

        if (c->requests.q[i].v != 0 && reslist_value(&n->allocatable, c->requests.q[i].name) == 0 &&
            (first.n == 0 || str_cmp(name, first) < 0))
            first = name;
    }
    return first;
}

struct obstacle initialize_obstacle(struct arena *a, const struct syms *t, const struct nodeclaim *c,
                                    const struct node *n)
{
    const struct taint *x;
    str missing;

    if (!n)
        return (struct obstacle){"NodeNotFound", STR("Node not registered with cluster")};
    if (!n->ready)
        return (struct obstacle){"NodeNotReady", STR("Node status is NotReady")};
    x = startup_taint_left(c, n);
    if (x)
        return (struct obstacle){"StartupTaintsExist", arena_printf(a, "StartupTaint \"" STR_FMT "\" still exists",
                                                                    STR_ARG(taint_text(a, t, x)))};
    x = ephemeral_taint_left(t, n);
    if (x)
        return (struct obstacle){
            "KnownEphemeralTaintsExist",
            arena_printf(a, "KnownEphemeralTaint \"" STR_FMT "\" still exists", STR_ARG(taint_text(a, t, x)))};
    missing = resource_missing(t, c, n);
    if (missing.n)
        return (struct obstacle){
            "ResourceNotRegistered",
            arena_printf(a, "Resource \"" STR_FMT "\" was requested but not registered", STR_ARG(missing))};
    return (struct obstacle){0};
}

void initialize_run(struct visit *p)
{
    struct cond_object conds = draft_conds(&p->d);
    struct control *c = p->c;
    struct draft node;
    struct err e;
    bool several;

    if (!cond_is_unknown(p->d.obj, "Initialized")) {
        conds_refresh(&conds, "Initialized");
        return;
    }
    if (!cond_is_true(p->d.obj, "Registered"))
        return;
    const struct nodeclaim *claim = store_claim(c->store, obj_name(p->d.obj));
    if (!claim)
        return;
    str name = claim_node_name(p->s, tree_str(tree_at(p->d.obj, "status", "providerID", NULL)), &several);
    struct obstacle o = initialize_obstacle(p->r->arena, c->syms, claim, name.n ? store_node(c->store, name) : NULL);
    if (o.reason) {
        conds_unknown(&conds, "Initialized", str_c(o.reason), o.message);
        return;
    }
    if (!draft_open(&node, c, p->r->arena, OBJ_NODE, name))
        return;
    struct sb b = {0};
    reslist_print_json(&b, c->syms, &store_node(c->store, name)->allocatable);
    str allocatable = sb_dup(&b, p->r->arena);
    sb_fini(&b);
    obj_set_label(p->r->arena, node.obj, STR(INITIALIZED_LABEL), STR("true"));
    if (!draft_patch(&node, DRAFT_PLAIN, &e)) {
        reconcile_fail(p->r, &e);
        return;
    }
    log_info(p->log, "initialized nodeclaim", LOG_JSON("allocatable", allocatable));
    conds = draft_conds(&p->d);
    conds_true(&conds, "Initialized");
}
