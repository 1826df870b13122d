#include "k8s/kinds.h"

static bool has_taint(const struct taints *t, const struct taint *want)
{
    for (uint32_t i = 0; i < t->n; i++)
        if (taint_matches(&t->v[i], want))
            return true;
    return false;
}

/* A cordoned node carries the taint as well, but only once the node controller has seen it. */
static void add_cordon(struct decoder *d, struct taints *t)
{
    struct taint cordon = {.key = sym_of(d->o->syms, STR("node.kubernetes.io/unschedulable")),
                           .effect = EFFECT_NO_SCHEDULE};

    if (has_taint(t, &cordon))
        return;
    struct taint *v = arena_new_array(d->o->arena, struct taint, t->n + 1);
    if (t->n)
        memcpy(v, t->v, t->n * sizeof(*v));
    v[t->n++] = cordon;
    t->v = v;
}

bool dec_node(struct decoder *d, struct err *e)
{
    const struct tree *spec, *status;
    enum cond_status ready;
    struct node n = {0};
    str provider_id;
    bool cordoned;
    struct meta m;

    if (!dec_meta(d, /* namespaced= */ false, &m, e) || !dec_map(d, d->root, "spec", &spec, e) ||
        !dec_map(d, d->root, "status", &status, e) || !dec_labels(d, m.labels, /* node_keys= */ true, &n.labels, e) ||
        !dec_taints(d, spec, "taints", &n.taints, e) || !dec_bool(d, spec, "unschedulable", &cordoned, e) ||
        !dec_str(d, spec, "providerID", &provider_id, e) ||
        !dec_resources(d, d->o->arena, status, "capacity", &n.capacity, e) ||
        !dec_resources(d, d->o->arena, status, "allocatable", &n.allocatable, e) ||
        !dec_condition(d, status, "Ready", &ready, NULL, e) || !dec_take_id(d, OBJ_NODE, &m, e))
        return false;
    if (cordoned)
        add_cordon(d, &n.taints);
    n.name = dec_keep(d, m.name);
    n.name_sym = sym_of(d->o->syms, m.name);
    n.uid = dec_keep(d, m.uid);
    n.provider_id = dec_keep(d, provider_id);
    n.created_ms = m.created_ms;
    n.deleting = m.deleting;
    n.ready = ready == COND_TRUE;
    n.do_not_disrupt = str_is(dec_annotation(&m, "karpenter.sh/do-not-disrupt"), "true");
    vec_push(&d->o->nodes, n);
    return true;
}

bool dec_csinode(struct decoder *d, struct err *e)
{
    const struct tree *spec, *drivers;
    struct meta m;

    if (!dec_meta(d, /* namespaced= */ false, &m, e) || !dec_map(d, d->root, "spec", &spec, e) ||
        !dec_list(d, spec, "drivers", &drivers, e) || !dec_take_id(d, OBJ_CSINODE, &m, e))
        return false;
    str node = dec_keep(d, m.name);
    for (uint32_t i = 0; drivers && i < drivers->n; i++) {
        const struct tree *t = &drivers->items[i], *allocatable;
        struct csi_limit l = {.node = node, .count = -1};
        str driver;

        if (!dec_is_map(d, t, e) || !dec_need_str(d, t, "name", &driver, e) ||
            !dec_map(d, t, "allocatable", &allocatable, e) ||
            !dec_int(d, allocatable, "count", 0, INT32_MAX, &l.count, e))
            return false;
        if (l.count < 0)
            continue; /* not limited */
        l.driver = dec_keep_shared(d, driver);
        vec_push(&d->o->csi_limits, l);
    }
    return true;
}
