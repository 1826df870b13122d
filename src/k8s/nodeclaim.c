/* NodeClaims and node classes. */
#include "k8s/admission.h"
#include "k8s/kinds.h"

/* They say what may be launched; once something has been, nobody in a running cluster asks for them again. */
static bool dec_claim_reqs(struct decoder *d, const struct tree *spec, struct nodeclaim *c, struct err *e)
{
    if (d->single && c->launched == COND_TRUE)
        return true;
    return dec_reqs(d, spec, "requirements", REQ_CLAIM, &c->requirements, &c->n_requirements, e) &&
           admit_reqs(d, tree_get(spec, "requirements"), c->requirements, ADMIT_NODECLAIM, e);
}

static bool dec_claim_spec(struct decoder *d, const struct tree *spec, struct nodeclaim *c, struct err *e)
{
    const struct tree *resources;

    c->expire_after_ns = DEFAULT_EXPIRY_NS;
    c->has_termination_grace = tree_get(spec, "terminationGracePeriod") != NULL;
    return dec_taints(d, spec, "taints", &c->taints, e) && admit_taints(d, tree_get(spec, "taints"), e) &&
           dec_taints(d, spec, "startupTaints", &c->startup_taints, e) &&
           admit_taints(d, tree_get(spec, "startupTaints"), e) && dec_claim_reqs(d, spec, c, e) &&
           dec_map(d, spec, "resources", &resources, e) &&
           dec_resources(d, d->o->arena, resources, "requests", &c->requests, e) &&
           dec_class_ref(d, spec, "NodeClaim", c->name, &c->class_ref, e) &&
           dec_duration(d, spec, "terminationGracePeriod", /* never= */ false, &c->termination_grace_ns, e) &&
           dec_duration(d, spec, "expireAfter", /* never= */ true, &c->expire_after_ns, e);
}

static bool dec_claim_status(struct decoder *d, const struct tree *status, struct nodeclaim *c, struct err *e)
{
    str provider_id, node_name, image_id;

    c->last_pod_event_ms = INT64_MIN;
    if (!dec_str(d, status, "providerID", &provider_id, e) || !dec_str(d, status, "nodeName", &node_name, e) ||
        !dec_str(d, status, "imageID", &image_id, e) ||
        !dec_resources(d, d->o->arena, status, "capacity", &c->capacity, e) ||
        !dec_resources(d, d->o->arena, status, "allocatable", &c->allocatable, e) ||
        !dec_time(d, status, "lastPodEventTime", &c->last_pod_event_ms, e) ||
        !dec_condition(d, status, "Launched", &c->launched, NULL, e) ||
        !dec_condition(d, status, "Registered", &c->registered, NULL, e) ||
        !dec_condition(d, status, "Initialized", &c->initialized, &c->initialized_ms, e) ||
        !dec_condition(d, status, "Consolidatable", &c->consolidatable, NULL, e) ||
        !dec_condition(d, status, "Drifted", &c->drifted, &c->drifted_ms, e) ||
        !dec_condition(d, status, "InstanceTerminating", &c->instance_terminating, NULL, e) ||
        !dec_condition(d, status, "DisruptionReason", &c->disruption_reason, NULL, e))
        return false;
    c->provider_id = dec_keep(d, provider_id);
    c->node_name = dec_keep(d, node_name);
    c->image_id = dec_keep_shared(d, image_id);
    return true;
}

bool dec_nodeclaim(struct decoder *d, struct err *e)
{
    const struct tree *spec, *status;
    struct nodeclaim c = {0};
    struct meta m;

    if (!dec_object(d, /* namespaced= */ false, &m, &spec, &status, e))
        return false;
    c.name = dec_keep(d, m.name);
    c.uid = dec_keep(d, m.uid);
    c.created_ms = m.created_ms;
    c.deleting = m.deleting;
    if (!dec_labels(d, m.labels, /* node_keys= */ true, &c.labels, e) ||
        !dec_annotations(d, m.annotations, &c.annotations, &c.n_annotations, e) ||
        !dec_claim_status(d, status, &c, e) || !dec_claim_spec(d, spec, &c, e) || !dec_take_id(d, OBJ_NODECLAIM, &m, e))
        return false;
    vec_push(&d->o->claims, c);
    return true;
}

/* The message of condition Ready; empty when there is none. */
static str ready_message(const struct tree *status)
{
    const struct tree *list = tree_get(status, "conditions");

    for (uint32_t i = 0; list && i < list->n; i++)
        if (str_is(tree_str(tree_get(&list->items[i], "type")), "Ready"))
            return tree_str(tree_get(&list->items[i], "message"));
    return (str){0};
}

/* A duration as Go reads it: 500ms and 1.5s are fine here. */
static bool dec_registration_delay(struct decoder *d, const struct tree *spec, int64_t *ret_ns, struct err *e)
{
    struct err why;
    str s;

    if (!dec_str(d, spec, "nodeRegistrationDelay", &s, e))
        return false;
    if (s.n && !duration_parse(s, ret_ns, &why))
        return dec_fail(d, tree_get(spec, "nodeRegistrationDelay"), NULL, e, "%s", why.msg);
    return true;
}

bool dec_nodeclass(struct decoder *d, struct err *e)
{
    const struct tree *spec, *status;
    struct nodeclass c = {0};
    str group, version;
    struct meta m;

    if (!dec_meta(d, /* namespaced= */ false, &m, e) || !dec_map(d, d->root, "spec", &spec, e) ||
        !dec_map(d, d->root, "status", &status, e) || !dec_condition(d, status, "Ready", &c.ready, NULL, e) ||
        !dec_registration_delay(d, spec, &c.registration_delay_ns, e) ||
        !dec_annotations(d, m.annotations, &c.annotations, &c.n_annotations, e))
        return false;
    (void)str_cut(tree_str(tree_get(d->root, "apiVersion")), '/', &group, &version);
    c.group = dec_keep_shared(d, group);
    c.kind = dec_keep_shared(d, tree_str(tree_get(d->root, "kind")));
    c.name = dec_keep(d, m.name);
    c.ready_message = dec_keep(d, ready_message(status));
    c.deleting = m.deleting;
    m.ns = sym_of(d->o->syms, c.kind); /* classes of different kinds may share a name */
    if (!dec_take_id(d, OBJ_NODECLASS, &m, e))
        return false;
    vec_push(&d->o->classes, c);
    return true;
}
