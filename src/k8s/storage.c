#include "k8s/kinds.h"

bool dec_pvc(struct decoder *d, struct err *e)
{
    const struct tree *spec, *status;
    str volume, class, phase;
    struct meta m;

    if (!dec_meta(d, /* namespaced= */ true, &m, e) || !dec_map(d, d->root, "spec", &spec, e) ||
        !dec_map(d, d->root, "status", &status, e) || !dec_str(d, spec, "volumeName", &volume, e) ||
        !dec_str(d, spec, "storageClassName", &class, e) || !dec_str(d, status, "phase", &phase, e) ||
        !dec_take_id(d, OBJ_PVC, &m, e))
        return false;
    vec_push(&d->o->pvcs, (struct pvc){
                              .ns = m.ns,
                              .name = dec_keep(d, m.name),
                              .volume_name = dec_keep(d, volume),
                              .storage_class = dec_keep_shared(d, class),
                              .no_class = tree_get(spec, "storageClassName") == NULL,
                              .deleting = m.deleting,
                              .lost = str_is(phase, "Lost"),
                              .bind_completed = tree_get(m.annotations, "pv.kubernetes.io/bind-completed") != NULL,
                          });
    return true;
}

bool dec_pv(struct decoder *d, struct err *e)
{
    const struct tree *spec, *affinity, *required, *csi;
    struct pv v = {0};
    struct meta m;
    str driver;

    if (!dec_meta(d, /* namespaced= */ false, &m, e) || !dec_map(d, d->root, "spec", &spec, e) ||
        !dec_map(d, spec, "nodeAffinity", &affinity, e) || !dec_map(d, affinity, "required", &required, e) ||
        !dec_terms(d, required, "nodeSelectorTerms", &v.terms, &v.n_terms, e) || !dec_map(d, spec, "csi", &csi, e) ||
        !dec_str(d, csi, "driver", &driver, e) || !dec_take_id(d, OBJ_PV, &m, e))
        return false;
    if (!csi && tree_get(spec, "awsElasticBlockStore"))
        driver = STR("ebs.csi.aws.com");
    v.name = dec_keep(d, m.name);
    v.driver = dec_keep_shared(d, driver);
    v.claimed = tree_get(spec, "claimRef") != NULL;
    v.local = tree_get(spec, "local") || tree_get(spec, "hostPath");
    v.deleting = m.deleting;
    vec_push(&d->o->pvs, v);
    return true;
}

/* A topology selector term says In without saying so. */
static bool dec_topology(struct decoder *d, const struct tree *t, struct req_term *ret, struct err *e)
{
    const struct tree *list, *values;

    if (!dec_is_map(d, t, e) || !dec_list(d, t, "matchLabelExpressions", &list, e))
        return false;
    ret->n = list ? list->n : 0;
    ret->exprs = arena_new_array(d->o->arena, struct req_expr, ret->n);
    for (uint32_t i = 0; i < ret->n; i++) {
        struct req_expr *x = &ret->exprs[i];
        str key;

        if (!dec_is_map(d, &list->items[i], e) || !dec_need_str(d, &list->items[i], "key", &key, e) ||
            !dec_list(d, &list->items[i], "values", &values, e))
            return false;
        x->key = sym_of(d->o->syms, label_key_normalise(key));
        x->op = OP_IN;
        x->n_vals = values ? values->n : 0;
        x->vals = arena_new_array(d->o->arena, sym, x->n_vals);
        for (uint32_t j = 0; j < x->n_vals; j++) {
            if (!dec_is_str(d, &values->items[j], e))
                return false;
            x->vals[j] = sym_of(d->o->syms, values->items[j].text);
        }
    }
    return true;
}

bool dec_storage_class(struct decoder *d, struct err *e)
{
    struct storage_class c = {0};
    const struct tree *list;
    str provisioner, mode;
    struct meta m;

    if (!dec_meta(d, /* namespaced= */ false, &m, e) || !dec_str(d, d->root, "provisioner", &provisioner, e) ||
        !dec_str(d, d->root, "volumeBindingMode", &mode, e) || !dec_list(d, d->root, "allowedTopologies", &list, e))
        return false;
    if (mode.n && !str_is(mode, "Immediate") && !str_is(mode, "WaitForFirstConsumer"))
        return dec_fail(d, tree_get(d->root, "volumeBindingMode"), NULL, e,
                        "must be Immediate or WaitForFirstConsumer");
    c.n_topologies = list ? list->n : 0;
    c.topologies = arena_new_array(d->o->arena, struct req_term, c.n_topologies);
    for (uint32_t i = 0; i < c.n_topologies; i++)
        if (!dec_topology(d, &list->items[i], &c.topologies[i], e))
            return false;
    if (!dec_take_id(d, OBJ_STORAGECLASS, &m, e))
        return false;
    c.name = dec_keep_shared(d, m.name);
    c.provisioner = dec_keep_shared(d, provisioner);
    c.immediate = !str_is(mode, "WaitForFirstConsumer");
    c.is_default = str_is(dec_annotation(&m, "storageclass.kubernetes.io/is-default-class"), "true");
    c.created_ms = m.created_ms;
    vec_push(&d->o->storage_classes, c);
    return true;
}

bool dec_attachment(struct decoder *d, struct err *e)
{
    const struct tree *spec, *source;
    struct meta m;
    str node, volume;

    if (!dec_meta(d, /* namespaced= */ false, &m, e) || !dec_map(d, d->root, "spec", &spec, e) ||
        !dec_str(d, spec, "nodeName", &node, e) || !dec_map(d, spec, "source", &source, e) ||
        !dec_str(d, source, "persistentVolumeName", &volume, e) || !dec_take_id(d, OBJ_ATTACHMENT, &m, e))
        return false;
    vec_push(&d->o->attachments, (struct attachment){dec_keep(d, m.name), dec_keep(d, node), dec_keep(d, volume)});
    return true;
}
