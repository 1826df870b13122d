/* What every namespace has: the service account "default" and the ConfigMap kube-root-ca.crt. */
#include "sim/kube/cluster/fields.h"
#include "sim/kube/cluster/parts.h"

#define CA_MAP "kube-root-ca.crt"

struct accounts {
    struct cluster *c;
    struct work *q; /* names of namespaces */
};

static void on_work(void *ctx, str ns)
{
    struct accounts *p = ctx;
    struct cluster *c = p->c;
    const struct object *o = kube_get(c->k, c->kinds.namespace_, (str){0}, ns);
    struct arena *a = cluster_begin(c);
    struct status st;

    if (!o || o->deleted_ms)
        return;
    if (!kube_get(c->k, c->kinds.service_account, ns, STR("default")))
        kube_create(c->k, a, c->kinds.service_account, object_new(a, c->kinds.service_account, ns, STR("default")),
                    NULL, &st);
    if (kube_get(c->k, c->kinds.config_map, ns, STR(CA_MAP)))
        return;
    struct tree *t = object_new(a, c->kinds.config_map, ns, STR(CA_MAP));
    struct tree *annotations = tree_path(a, t, "metadata", "annotations", NULL);
    tree_set_str(a, annotations, "kubernetes.io/description",
                 STR("Contains a CA bundle that can be used to verify the kube-apiserver when using internal endpoints "
                     "such as the internal service IP or kubernetes.default.svc. No other usage is guaranteed across "
                     "distributions of Kubernetes clusters."));
    tree_set_str(a, tree_sub(a, t, "data"), "ca.crt", str_c(c->o.root_ca ? c->o.root_ca : ""));
    kube_create(c->k, a, c->kinds.config_map, t, NULL, &st);
}

static void on_namespace(void *ctx, struct seen *s)
{
    struct accounts *p = ctx;

    if (s->new && !s->old)
        work_add(p->q, s->new->name);
}

/* Somebody removed what must be there. */
static void on_removal(void *ctx, struct seen *s)
{
    struct accounts *p = ctx;

    if (!s->new && (str_is(s->old->name, "default") || str_is(s->old->name, CA_MAP)))
        work_add(p->q, s->old->ns);
}

struct accounts *accounts_new(struct cluster *c)
{
    struct accounts *p = xcalloc(1, sizeof(*p));

    p->c = c;
    p->q = work_new(c->w, "service-accounts", on_work, p);
    see(c, c->kinds.namespace_, on_namespace, p);
    see(c, c->kinds.service_account, on_removal, p);
    see(c, c->kinds.config_map, on_removal, p);
    return p;
}

void accounts_free(struct accounts *p)
{
    if (!p)
        return;
    work_free(p->q);
    free(p);
}
