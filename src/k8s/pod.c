#include "k8s/kinds.h"
#include "k8s/podspec.h"

#define DEFAULT_GRACE_S 30

static const struct {
    const char *api_version, *kind;
    enum owner_kind owner;
} owner_kinds[] = {
    {"apps/v1", "DaemonSet", OWNER_DAEMONSET},     {"v1", "Node", OWNER_NODE},
    {"apps/v1", "StatefulSet", OWNER_STATEFULSET}, {"apps/v1", "ReplicaSet", OWNER_REPLICASET},
    {"v1", "ReplicationController", OWNER_RC},     {"batch/v1", "Job", OWNER_JOB},
};

static enum owner_kind owner_kind_of(str api_version, str kind)
{
    for (size_t i = 0; i < ARRAY_LEN(owner_kinds); i++)
        if (str_is(api_version, owner_kinds[i].api_version) && str_is(kind, owner_kinds[i].kind))
            return owner_kinds[i].owner;
    return OWNER_OTHER;
}

/* A DaemonSet or a Node among the owners decides, whether it is the controller or not: such a pod never waits for
 * capacity. Next come the controller and a StatefulSet. */
static int owner_rank(enum owner_kind kind, bool controller)
{
    if (kind == OWNER_DAEMONSET || kind == OWNER_NODE)
        return 3;
    if (controller)
        return 2;
    return kind == OWNER_STATEFULSET ? 1 : 0;
}

static bool dec_owner(struct decoder *d, const struct tree *owners, struct pod *p, sym *ret_kind, struct err *e)
{
    int best = 0;

    *ret_kind = SYM(NONE);
    for (uint32_t i = 0; owners && i < owners->n; i++) {
        const struct tree *t = &owners->items[i];
        str api_version, kind, name;
        bool controller;

        if (!dec_is_map(d, t, e) || !dec_str(d, t, "apiVersion", &api_version, e) || !dec_str(d, t, "kind", &kind, e) ||
            !dec_str(d, t, "name", &name, e) || !dec_bool(d, t, "controller", &controller, e))
            return false;
        enum owner_kind ok = owner_kind_of(api_version, kind);
        int rank = owner_rank(ok, controller);
        if (rank <= best)
            continue;
        best = rank;
        p->owner = ok;
        p->owner_name = sym_of(d->o->syms, name);
        *ret_kind = sym_of(d->o->syms, kind);
    }
    return true;
}

static bool dec_phase(struct decoder *d, const struct tree *status, enum pod_phase *ret, struct err *e)
{
    static const char *const names[] = {
        [PHASE_PENDING] = "Pending", [PHASE_RUNNING] = "Running", [PHASE_SUCCEEDED] = "Succeeded",
        [PHASE_FAILED] = "Failed",   [PHASE_UNKNOWN] = "Unknown",
    };
    str s;

    if (!dec_str(d, status, "phase", &s, e))
        return false;
    *ret = PHASE_PENDING;
    for (size_t i = 0; i < ARRAY_LEN(names); i++)
        if (str_is(s, names[i])) {
            *ret = (enum pod_phase)i;
            return true;
        }
    if (s.n)
        return dec_fail(d, tree_get(status, "phase"), NULL, e,
                        "must be Pending, Running, Succeeded, Failed or Unknown");
    return true;
}

/* Condition PodScheduled. Its status does not matter (scheduling 8.2). */
static bool dec_scheduled(struct decoder *d, const struct tree *status, struct pod *p, struct err *e)
{
    const struct tree *list;
    int64_t since_ms = INT64_MIN;

    if (!dec_list(d, status, "conditions", &list, e))
        return false;
    for (uint32_t i = 0; list && i < list->n; i++) {
        const struct tree *c = &list->items[i];

        if (!str_is(tree_str(tree_get(c, "type")), "PodScheduled"))
            continue;
        p->unschedulable = str_is(tree_str(tree_get(c, "reason")), "Unschedulable");
        if (!dec_time(d, c, "lastTransitionTime", &since_ms, e))
            return false;
        break;
    }
    p->scheduled = moment_of_ms(since_ms);
    return true;
}

/* How it fares in a cluster that is watched; a plan for a file asks for none of it. How late its turn to go comes:
 * lifecycle 6.4. */
static bool dec_life(struct decoder *d, const struct tree *spec, const struct tree *status, struct pod *p,
                     struct err *e)
{
    int64_t grace = DEFAULT_GRACE_S, readied_ms;
    enum cond_status ready;
    str class;

    if (!d->single)
        return true;
    if (!dec_int(d, spec, "terminationGracePeriodSeconds", INT64_MIN, INT64_MAX, &grace, e) ||
        !dec_str(d, spec, "priorityClassName", &class, e) || !dec_scheduled(d, status, p, e) ||
        !dec_condition(d, status, "Ready", &ready, &readied_ms, e))
        return false;
    p->grace_s = (int32_t)MIN(MAX(grace, INT32_MIN), INT32_MAX); /* the server takes more */
    p->critical = str_is(class, "system-cluster-critical") || str_is(class, "system-node-critical");
    p->ready = ready == COND_TRUE;
    p->readied = moment_of_ms(readied_ms);
    return true;
}

bool dec_pod(struct decoder *d, struct err *e)
{
    struct pod p = {.started_ms = INT64_MIN};
    const struct tree *spec, *status;
    enum cond_status ready;
    struct podspec *shared;
    enum pod_phase phase;
    struct meta m;
    str nominated;
    sym owner_kind;
    bool foreign;

    if (!dec_object(d, /* namespaced= */ true, &m, &spec, &status, e))
        return false;
    /* A pod with a uid came out of an API server, which has filled in what it wanted to. */
    struct pod_source source = {spec, status, .fill_in = m.uid.n == 0};
    if (!dec_labels(d, m.labels, /* node_keys= */ false, &p.labels, e) || !dec_owner(d, m.owners, &p, &owner_kind, e) ||
        !dec_phase(d, status, &phase, e) || !dec_sym(d, spec, "nodeName", &p.node, e) ||
        !dec_scheduler(d, spec, &foreign, e) || !dec_str(d, status, "nominatedNodeName", &nominated, e) ||
        !dec_time(d, status, "startTime", &p.started_ms, e) || !dec_condition(d, status, "Ready", &ready, NULL, e) ||
        !dec_priority(d, spec, &p.priority, e) || !dec_life(d, spec, status, &p, e) ||
        !dec_podspec(d, &source, p.labels, &shared, e) || !dec_take_id(d, OBJ_POD, &m, e))
        return false;
    p.ns = m.ns;
    p.name = d->single ? m.name : dec_keep(d, m.name); /* whoever takes it makes his own copy */
    p.uid = uid_of(m.uid);
    if (!d->single && !uid_is_number(p.uid))
        p.uid = uid_of(dec_keep(d, m.uid));
    p.created_ms = m.created_ms;
    p.spec = shared;
    p.do_not_disrupt = dec_keep_shared(d, dec_annotation(&m, "karpenter.sh/do-not-disrupt"));
    p.deletion_cost = dec_deletion_cost(d, m.annotations, "Pod", &m);
    p.phase = phase;
    p.terminating = m.deleting;
    p.deleted = moment_of_ms(m.deleted_ms);
    p.not_ready = ready == COND_FALSE;
    p.foreign_scheduler = foreign;
    p.nominated = nominated.n != 0;
    vec_push(&d->o->pods, p);
    vec_push(&d->o->pod_owner_kinds, owner_kind);
    return true;
}
