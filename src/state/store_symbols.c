/* Which symbols are named by objects that are there. Clusters that run jobs name new ones all the time; those of objects
 * that have gone are swept now and then, so that what the store holds depends on what is there and not on what was. */
#include "state/store_int.h"

static void mark_exprs(struct syms *t, const struct req_expr *x, uint32_t n)
{
    for (uint32_t i = 0; i < n; i++) {
        sym_mark(t, x[i].key);
        for (uint32_t k = 0; k < x[i].n_vals; k++)
            sym_mark(t, x[i].vals[k]);
    }
}

static void mark_terms(struct syms *t, const struct req_term *v, uint32_t n)
{
    for (uint32_t i = 0; i < n; i++)
        mark_exprs(t, v[i].exprs, v[i].n);
}

static void mark_selector(struct syms *t, const struct selector *s)
{
    mark_exprs(t, s->exprs, s->n_exprs);
}

static void mark_resources(struct syms *t, const struct reslist *l)
{
    for (uint32_t i = 0; i < l->n; i++)
        sym_mark(t, l->q[i].name);
}

static void mark_taints(struct syms *t, const struct taints *l)
{
    for (uint32_t i = 0; i < l->n; i++) {
        sym_mark(t, l->v[i].key);
        sym_mark(t, l->v[i].value);
    }
}

static void mark_annotations(struct syms *t, const struct annotation *v, uint32_t n)
{
    for (uint32_t i = 0; i < n; i++)
        text_mark(t, v[i].key);
}

static void mark_class_ref(struct syms *t, const struct nodeclass_ref *r)
{
    text_mark(t, r->group);
    text_mark(t, r->kind);
    text_mark(t, r->name);
}

/* --- pods ------------------------------------------------------------------------------------------------------------ */

static void mark_affinities(struct syms *t, const struct pod_affinities *l)
{
    for (uint32_t i = 0; i < l->n; i++) {
        const struct pod_affinity *a = &l->v[i];

        sym_mark(t, a->key);
        mark_selector(t, &a->selector);
        mark_selector(t, &a->ns_selector);
        for (uint32_t k = 0; k < a->n_namespaces; k++)
            sym_mark(t, a->namespaces[k]);
    }
}

static void mark_spreads(struct syms *t, const struct spread *v, uint32_t n)
{
    for (uint32_t i = 0; i < n; i++) {
        sym_mark(t, v[i].key);
        mark_selector(t, &v[i].selector);
        for (uint32_t k = 0; k < v[i].n_match_label_keys; k++)
            sym_mark(t, v[i].match_label_keys[k]);
    }
}

static void mark_spec(struct syms *t, const struct podspec *s)
{
    mark_exprs(t, s->node_selector, s->n_node_selector);
    mark_terms(t, s->required, s->n_required);
    for (uint32_t i = 0; i < s->n_preferred; i++)
        mark_terms(t, &s->preferred[i].term, 1);
    for (uint32_t i = 0; i < s->tolerations.n; i++) {
        sym_mark(t, s->tolerations.v[i].key);
        sym_mark(t, s->tolerations.v[i].value);
    }
    mark_spreads(t, s->spreads, s->n_spreads);
    mark_affinities(t, &s->aff_required);
    mark_affinities(t, &s->aff_preferred);
    mark_affinities(t, &s->anti_required);
    mark_affinities(t, &s->anti_preferred);
    mark_resources(t, &s->requests);
    for (uint32_t i = 0; i < s->n_ports; i++) {
        sym_mark(t, s->ports[i].ip);
        sym_mark(t, s->ports[i].proto);
    }
    for (uint32_t i = 0; i < s->n_volumes; i++)
        sym_mark(t, s->volumes[i].name);
}

static void mark_pods(struct store *s)
{
    const struct podspec *spec;

    for (uint32_t i = 0; i < s->pods.n; i++) {
        const struct pod *p = &s->pods.v[i];

        sym_mark(s->syms, p->ns);
        sym_mark(s->syms, p->node);
        sym_mark(s->syms, p->owner_name);
        lset_mark(s->syms, p->labels);
        text_mark(s->syms, p->do_not_disrupt);
    }
    for (uint32_t at = 0; (spec = podspecs_next(s->specs, &at));)
        mark_spec(s->syms, spec);
}

/* --- the other kinds ------------------------------------------------------------------------------------------------- */

static void mark_node(struct syms *t, const struct node *n)
{
    sym_mark(t, n->name_sym);
    text_mark(t, n->provider_id); /* the indexes by id */
    lset_mark(t, n->labels);
    mark_taints(t, &n->taints);
    mark_resources(t, &n->capacity);
    mark_resources(t, &n->allocatable);
}

static void mark_claim(struct syms *t, const struct nodeclaim *c)
{
    text_mark(t, c->provider_id);
    lset_mark(t, c->labels);
    mark_annotations(t, c->annotations, c->n_annotations);
    mark_taints(t, &c->taints);
    mark_taints(t, &c->startup_taints);
    mark_exprs(t, c->requirements, c->n_requirements);
    mark_resources(t, &c->requests);
    mark_resources(t, &c->capacity);
    mark_resources(t, &c->allocatable);
    mark_class_ref(t, &c->class_ref);
}

static void mark_pool(struct syms *t, const struct nodepool *p)
{
    sym_mark(t, p->name_sym);
    lset_mark(t, p->tmpl.labels);
    mark_annotations(t, p->tmpl.annotations, p->tmpl.n_annotations);
    mark_annotations(t, p->annotations, p->n_annotations);
    mark_taints(t, &p->tmpl.taints);
    mark_taints(t, &p->tmpl.startup_taints);
    mark_exprs(t, p->tmpl.requirements, p->tmpl.n_requirements);
    mark_class_ref(t, &p->tmpl.class_ref);
    mark_resources(t, &p->limits);
    for (uint32_t i = 0; i < p->n_budgets; i++) {
        text_mark(t, p->budgets[i].nodes);
        text_mark(t, p->budgets[i].schedule);
    }
}

static void mark_class(struct syms *t, const struct nodeclass *c)
{
    text_mark(t, c->group);
    text_mark(t, c->kind);
    mark_annotations(t, c->annotations, c->n_annotations);
}

static void mark_daemonset(struct syms *t, const struct daemonset *d)
{
    sym_mark(t, d->ns);
    sym_mark(t, d->name);
    lset_mark(t, d->labels);
}

static void mark_template(struct syms *t, const struct workload *w)
{
    sym_mark(t, w->ns);
    lset_mark(t, w->labels);
    text_mark(t, w->do_not_disrupt);
}

static void mark_buffer(struct syms *t, const struct buffer *b)
{
    sym_mark(t, b->ns);
    text_mark(t, b->ref_group);
    text_mark(t, b->ref_kind);
    mark_resources(t, &b->limits);
}

static void mark_overlay(struct syms *t, const struct overlay *v)
{
    mark_exprs(t, v->requirements, v->n_requirements);
    mark_resources(t, &v->capacity);
}

static void mark_controller(struct syms *t, const struct controller *c)
{
    sym_mark(t, c->ns);
    sym_mark(t, c->name);
    mark_selector(t, &c->selector);
}

static void mark_storage_class(struct syms *t, const struct storage_class *c)
{
    text_mark(t, c->name);
    text_mark(t, c->provisioner);
    mark_terms(t, c->topologies, c->n_topologies);
}

static void mark_pdb(struct syms *t, const struct pdb *b)
{
    sym_mark(t, b->ns);
    text_mark(t, b->min_available);
    text_mark(t, b->max_unavailable);
    mark_selector(t, &b->selector);
}

static void mark_pvc(struct syms *t, const struct pvc *c)
{
    sym_mark(t, c->ns);
    text_mark(t, c->storage_class);
}

static void mark_pv(struct syms *t, const struct pv *v)
{
    text_mark(t, v->driver);
    mark_terms(t, v->terms, v->n_terms);
}

static void mark_drivers(struct syms *t, const struct csi_drivers *d)
{
    for (uint32_t i = 0; i < d->n; i++)
        text_mark(t, d->limits[i].driver);
}

static void mark_object(struct syms *t, enum object_kind kind, const void *x)
{
    switch (kind) {
    case OBJ_NODEPOOL:
        mark_pool(t, x);
        return;
    case OBJ_NODECLAIM:
        mark_claim(t, x);
        return;
    case OBJ_NODECLASS:
        mark_class(t, x);
        return;
    case OBJ_NODE:
        mark_node(t, x);
        return;
    case OBJ_DAEMONSET:
        mark_daemonset(t, x);
        return;
    case OBJ_REPLICASET:
    case OBJ_STATEFULSET:
    case OBJ_RC:
        mark_controller(t, x);
        return;
    case OBJ_PVC:
        mark_pvc(t, x);
        return;
    case OBJ_PV:
        mark_pv(t, x);
        return;
    case OBJ_STORAGECLASS:
        mark_storage_class(t, x);
        return;
    case OBJ_CSINODE:
        mark_drivers(t, x);
        return;
    case OBJ_PDB:
        mark_pdb(t, x);
        return;
    case OBJ_NAMESPACE:
        sym_mark(t, ((const struct ns_labels *)x)->name);
        lset_mark(t, ((const struct ns_labels *)x)->labels);
        return;
    case OBJ_SERVICE:
        sym_mark(t, ((const struct service *)x)->ns);
        lset_mark(t, ((const struct service *)x)->selector);
        return;
    case OBJ_ATTACHMENT:
        text_mark(t, ((const struct attachment *)x)->node); /* the index by node */
        return;
    case OBJ_PODTEMPLATE:
        mark_template(t, x);
        return;
    case OBJ_BUFFER:
        mark_buffer(t, x);
        return;
    case OBJ_OVERLAY:
        mark_overlay(t, x);
        return;
    case OBJ_POD:
    case OBJ_DEPLOYMENT:
    case OBJ_JOB:
    case OBJ_OTHER:
        return; /* not in tables */
    }
}

static void mark_hosts(struct store *s)
{
    for (uint32_t i = 0; i < s->hosts.n; i++) {
        sym_mark(s->syms, s->hosts.v[i].id);
        sym_mark(s->syms, s->hosts.v[i].node_name);
        sym_mark(s->syms, s->hosts.v[i].counted_in);
        sym_mark(s->syms, s->nodes.v[i].hostname);
        sym_mark(s->syms, s->nodes.v[i].pool);
        lset_mark(s->syms, s->nodes.v[i].labels);
    }
    for (uint32_t i = 0; i < s->stale.n; i++)
        sym_mark(s->syms, s->stale.v[i]);
    for (uint32_t i = 0; i < s->nominated.n; i++)
        sym_mark(s->syms, s->nominated.v[i]);
}

void symbols_sweep(struct store *s)
{
    if (!syms_want_sweep(s->syms))
        return;
    mark_pods(s);
    mark_hosts(s);
    for (uint32_t k = 0; k < OBJ_OTHER; k++)
        for (uint32_t i = 0; i < s->tables[k].all.n; i++)
            if (s->tables[k].all.v[i] && s->tables[k].all.v[i]->decoded)
                mark_object(s->syms, s->tables[k].kind, s->tables[k].all.v[i]->decoded);
    (void)syms_sweep(s->syms);
}
