/* CapacityBuffers of autoscaling.x-k8s.io. */
#include "k8s/kinds.h"

static bool dec_ref(struct decoder *d, const struct tree *spec, struct buffer *b, struct err *e)
{
    const struct tree *template, *scalable;
    str name = {0}, group = {0}, kind = {0};

    if (!dec_map(d, spec, "podTemplateRef", &template, e) || !dec_map(d, spec, "scalableRef", &scalable, e))
        return false;
    if (template && scalable)
        return dec_fail(d, scalable, NULL, e, "podTemplateRef and scalableRef cannot both be set");
    if (template) {
        b->ref = BUFFER_REF_TEMPLATE;
        if (!dec_need_str(d, template, "name", &name, e))
            return false;
    } else if (scalable) {
        b->ref = BUFFER_REF_SCALABLE;
        if (!dec_need_str(d, scalable, "name", &name, e) || !dec_need_str(d, scalable, "kind", &kind, e) ||
            !dec_str(d, scalable, "apiGroup", &group, e))
            return false;
    }
    b->ref_name = dec_keep(d, name);
    b->ref_kind = dec_keep_shared(d, kind);
    b->ref_group = dec_keep_shared(d, group);
    return true;
}

bool dec_buffer(struct decoder *d, struct err *e)
{
    const struct tree *spec, *status;
    struct buffer b = {0};
    struct meta m;

    if (!dec_object(d, /* namespaced= */ true, &m, &spec, &status, e) || !dec_ref(d, spec, &b, e) ||
        !dec_int(d, spec, "replicas", 0, INT32_MAX, &b.replicas, e) ||
        !dec_int(d, spec, "percentage", 0, INT32_MAX, &b.percentage, e) ||
        !dec_resources(d, d->o->arena, spec, "limits", &b.limits, e) ||
        !dec_int(d, status, "replicas", INT32_MIN, INT32_MAX, &b.status_replicas, e) ||
        !dec_condition(d, status, "ReadyForProvisioning", &b.ready, NULL, e))
        return false;
    b.has_replicas = tree_get(spec, "replicas") != NULL;
    b.has_percentage = tree_get(spec, "percentage") != NULL;
    b.has_limits = tree_get(spec, "limits") != NULL;
    b.has_status_replicas = tree_get(status, "replicas") != NULL;
    if (b.ref == BUFFER_REF_TEMPLATE && !b.has_replicas && !b.has_limits)
        return dec_fail(d, spec, NULL, e, "podTemplateRef needs replicas or limits");
    if (!dec_take_id(d, OBJ_BUFFER, &m, e))
        return false;
    b.ns = m.ns;
    b.name = dec_keep(d, m.name);
    b.uid = dec_keep(d, m.uid);
    b.deleting = m.deleting;
    vec_push(&d->o->buffers, b);
    return true;
}
