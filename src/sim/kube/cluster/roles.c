/* ClusterRoles with an aggregationRule: their rules are those of the roles that its selectors choose. Charts add to admin, edit and
 * view that way. */
#include "sim/kube/cluster/fields.h"
#include "sim/kube/cluster/parts.h"
#include "sim/kube/selector.h"

struct roles {
    struct cluster *c;
    struct work *q; /* one key: all of them */
};

#define ALL STR("all")

struct gathering {
    struct arena *a;
    const struct object *into;
    const struct selector *sel;
    struct tree *rules;
};

static void add_rules(void *ctx, const struct object *o)
{
    struct gathering *g = ctx;

    if (o == g->into || !selector_matches_labels(g->sel, o->labels, o->n_labels))
        return;
    const struct tree *list = tree_get(kube_tree(g->a, o), "rules");
    for (uint32_t i = 0; list && i < list->n; i++) {
        bool known = false;

        for (uint32_t j = 0; j < g->rules->n && !known; j++)
            known = tree_equal(&g->rules->items[j], &list->items[i]);
        if (!known)
            (void)tree_push(g->a, g->rules, list->items[i]);
    }
}

/* A role that is gathered may itself be gathered: its change comes back as another one. */
static void gather(struct roles *p, const struct object *o)
{
    struct cluster *c = p->c;
    struct arena *a = cluster_begin(c);
    struct tree *t = kube_tree(a, o);
    const struct tree *selectors = tree_at(t, "aggregationRule", "clusterRoleSelectors", NULL);
    struct gathering g = {.a = a, .into = o, .rules = tree_new_list(a)};
    struct err e;

    if (!selectors)
        return;
    for (uint32_t i = 0; i < selectors->n; i++)
        if (selector_from_tree(a, &selectors->items[i], &g.sel, &e))
            kube_each(c->k, c->kinds.cluster_role, (str){0}, add_rules, &g);
    tree_set(a, t, "rules", *g.rules);
    cluster_update(c, c->kinds.cluster_role, NULL, t); /* no revision when nothing is new */
}

struct names {
    struct arena *a;
    VEC(str) list;
};

static void note_aggregated(void *ctx, const struct object *o)
{
    struct names *n = ctx;

    if (str_contains(o->json, STR("\"aggregationRule\":{"))) /* gather() looks closer */
        vec_push(&n->list, arena_strdup(n->a, o->name));
}

static void on_work(void *ctx, str key)
{
    struct roles *p = ctx;
    AUTO(arena) struct arena *a = arena_new(0);
    struct names names = {.a = a};

    (void)key;
    kube_each(p->c->k, p->c->kinds.cluster_role, (str){0}, note_aggregated, &names);
    for (uint32_t i = 0; i < names.list.n; i++) {
        const struct object *o = kube_get(p->c->k, p->c->kinds.cluster_role, (str){0}, names.list.v[i]);

        if (o && !o->deleted_ms)
            gather(p, o);
    }
    vec_fini(&names.list);
}

static void on_role(void *ctx, struct seen *s)
{
    (void)s;
    work_add(((struct roles *)ctx)->q, ALL);
}

struct roles *roles_new(struct cluster *c)
{
    struct roles *p = xcalloc(1, sizeof(*p));

    p->c = c;
    p->q = work_new(c->w, "cluster-roles", on_work, p);
    see(c, c->kinds.cluster_role, on_role, p);
    return p;
}

void roles_free(struct roles *p)
{
    if (!p)
        return;
    work_free(p->q);
    free(p);
}
