#include "support/fleet.h"

#include <string.h>

#include "data/edit.h"

void fleet_class(struct rig *r)
{
    lab_apply(r->l, "apiVersion: karpenter.kwok.sh/v1alpha1\nkind: KWOKNodeClass\nmetadata: {name: default}\n");
}

void fleet_pool(struct rig *r, const char *name, const char *more, const char *more_template)
{
    AUTO(arena) struct arena *a = arena_new(0);
    str text = arena_printf(
        a,
        "apiVersion: karpenter.sh/v1\nkind: NodePool\nmetadata: {name: %s}\nspec:\n"
        "%s  %s\n"
        "  template: {spec: {expireAfter: Never, %s\n"
        "    nodeClassRef: {group: karpenter.kwok.sh, kind: KWOKNodeClass, name: default}, requirements: [\n"
        "    {key: kubernetes.io/os, operator: In, values: [linux]},\n"
        "    {key: karpenter.sh/capacity-type, operator: In, values: [on-demand]},\n"
        "    {key: karpenter.kwok.sh/instance-size, operator: Lt, values: ['32']}]}}\n%c",
        name,
        strstr(more, "disruption:") ? "" : "  disruption: {consolidationPolicy: WhenEmpty, consolidateAfter: Never}\n",
        more, more_template, 0);

    lab_apply(r->l, text.p);
}

/* ---- one look at everything ---- */

struct view {
    struct rig *r;
    struct arena *a;
    struct fleet *f;
    struct sb *out; /* NULL: nobody wants sentences */
    VEC(str) ids;   /* of claims, then of Nodes */
    uint32_t n_claims;
};

static bool is_true(const struct tree *obj, const char *type)
{
    const struct tree *list = tree_at(obj, "status", "conditions", NULL);

    for (uint32_t i = 0; list && i < list->n; i++)
        if (str_is(tree_str(tree_get(&list->items[i], "type")), type))
            return str_is(tree_str(tree_get(&list->items[i], "status")), "True");
    return false;
}

static void complain(struct view *v, const struct object *o, const char *what)
{
    if (v->out)
        sb_printf(v->out, STR_FMT " " STR_FMT " %s\n", STR_ARG(o->kind->name), STR_ARG(o->name), what);
}

static void see_pod(void *ctx, const struct object *o)
{
    struct view *v = ctx;

    if (o->deleted_ms) {
        v->f->n_leaving++;
        complain(v, o, "is still being deleted");
        return;
    }
    v->f->n_pods++;
    v->f->n_running += str_is(object_field(o, "status.phase"), "Running");
}

static void see_claim(void *ctx, const struct object *o)
{
    struct view *v = ctx;
    const struct tree *t = kube_tree(v->a, o);
    bool ready = is_true(t, "Ready");

    v->f->n_claims++;
    v->f->n_ready += ready;
    v->f->n_leaving += o->deleted_ms != 0;
    if (o->deleted_ms)
        complain(v, o, "is still being deleted");
    else if (!ready)
        complain(v, o, "is not ready");
    else if (o->n_finalizers != 1)
        complain(v, o, "has not its one finalizer");
    vec_push(&v->ids, tree_str(tree_at(t, "status", "providerID", NULL)));
}

static bool is_own_taint(str key)
{
    return str_starts(key, STR("karpenter.sh/"));
}

static void see_node(void *ctx, const struct object *o)
{
    struct view *v = ctx;
    const struct tree *t = kube_tree(v->a, o), *taints = tree_at(t, "spec", "taints", NULL);

    if (object_label(o, STR("karpenter.sh/nodepool")).n == 0)
        return;
    v->f->n_nodes++;
    v->f->n_leaving += o->deleted_ms != 0;
    if (o->deleted_ms)
        complain(v, o, "is still being deleted");
    else if (object_label(o, STR("karpenter.sh/initialized")).n == 0)
        complain(v, o, "is not initialized");
    else if (o->n_finalizers != 1)
        complain(v, o, "has not its one finalizer");
    for (uint32_t i = 0; taints && i < taints->n; i++)
        if (is_own_taint(tree_str(tree_get(&taints->items[i], "key"))))
            complain(v, o, "has a taint that should have gone");
    vec_push(&v->ids, tree_str(tree_at(t, "spec", "providerID", NULL)));
}

static void look(struct view *v)
{
    struct kube *k = v->r->l->s->k;

    *v->f = (struct fleet){0};
    kube_each(k, server_kind(v->r->l->s, "pods"), STR("default"), see_pod, v);
    kube_each(k, server_kind(v->r->l->s, "nodeclaims"), (str){0}, see_claim, v);
    v->n_claims = v->ids.n;
    kube_each(k, server_kind(v->r->l->s, "nodes"), (str){0}, see_node, v);
}

static uint32_t count_id(const struct view *v, uint32_t from, uint32_t to, str id)
{
    uint32_t n = 0;

    for (uint32_t i = from; i < to; i++)
        n += str_eq(v->ids.v[i], id);
    return n;
}

static void compare(struct view *v)
{
    for (uint32_t i = 0; i < v->ids.n; i++) {
        bool claim = i < v->n_claims;
        uint32_t n = claim ? count_id(v, v->n_claims, v->ids.n, v->ids.v[i]) : count_id(v, 0, v->n_claims, v->ids.v[i]);

        if (n != 1)
            sb_printf(v->out, "%s \"" STR_FMT "\" has %u of the other\n", claim ? "NodeClaim" : "Node",
                      STR_ARG(v->ids.v[i]), n);
    }
}

static void check_lease(struct view *v)
{
    str holder = lab_get(v->r->l, "leases", "karpenter-leader-election", "spec.holderIdentity");

    for (uint32_t i = 0; i < RIG_REPLICAS; i++)
        if (v->r->replicas[i] && holder.n == strlen(v->r->names[i]) + 2 && str_contains(holder, str_c(v->r->names[i])))
            return;
    if (holder.n == 0) /* nobody wanted one */
        return;
    sb_printf(v->out, "the lease is held by " STR_FMT ", who does not live\n", STR_ARG(holder));
}

void fleet_look(struct rig *r, struct fleet *ret)
{
    AUTO(arena) struct arena *a = arena_new(0);
    struct view v = {.r = r, .a = a, .f = ret};

    look(&v);
    vec_fini(&v.ids);
}

void fleet_faults(struct rig *r, struct sb *out)
{
    AUTO(arena) struct arena *a = arena_new(0);
    struct fleet f;
    struct view v = {.r = r, .a = a, .f = &f, .out = out};

    look(&v);
    compare(&v);
    check_lease(&v);
    vec_fini(&v.ids);
}
