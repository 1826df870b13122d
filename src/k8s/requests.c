/* The sums follow the kubelet: ordinary init containers run one after the other, sidecars (restartPolicy: Always) keep
 * running from their turn on, so the pod needs the larger of what runs at the end and what runs at any step before.
 * The API server fills in a missing request beside a limit when it creates a pod; so do we for pods it has not seen. */
#include "k8s/requests.h"

static bool is_hugepages(const struct decoder *d, sym name)
{
    return str_starts(sym_str(d->o->syms, name), STR("hugepages-"));
}

static bool is_pod_level(const struct decoder *d, sym name)
{
    return sym_eq(name, SYM(CPU)) || sym_eq(name, SYM(MEMORY)) || is_hugepages(d, name);
}

static bool dec_own_requests(struct decoder *d, const struct tree *c, bool fill_in, struct reslist *ret, struct err *e)
{
    const struct tree *res;
    struct reslist limits;

    if (!dec_is_map(d, c, e) || !dec_map(d, c, "resources", &res, e) ||
        !dec_resources(d, d->tmp, res, "requests", ret, e) || !dec_resources(d, d->tmp, res, "limits", &limits, e))
        return false;
    for (uint32_t i = 0; fill_in && i < limits.n; i++) {
        const struct resq *own = reslist_get(ret, limits.q[i].name);
        str name = sym_str(d->o->syms, limits.q[i].name);

        if (own && own->v > limits.q[i].v)
            return dec_fail(d, tree_get(res, "requests"), NULL, e, STR_FMT " is more than the limit of the container",
                            STR_ARG(name));
        if (!own)
            reslist_set(d->tmp, ret, limits.q[i].name, limits.q[i].v, limits.q[i].binary);
    }
    return true;
}

static const struct tree *container_status(const struct tree *statuses, str name)
{
    for (uint32_t i = 0; statuses && i < statuses->n; i++)
        if (str_eq(tree_str(tree_get(&statuses->items[i], "name")), name))
            return &statuses->items[i];
    return NULL;
}

static bool resize_is_infeasible(const struct tree *status)
{
    const struct tree *list = tree_get(status, "conditions");

    for (uint32_t i = 0; list && i < list->n; i++)
        if (str_is(tree_str(tree_get(&list->items[i], "type")), "PodResizePending"))
            return str_is(tree_str(tree_get(&list->items[i], "reason")), "Infeasible");
    return false;
}

/* A container may be running with more than its spec says (in-place resize). */
static bool dec_effective(struct decoder *d, const struct pod_source *p, const struct tree *c, const char *statuses_key,
                          struct reslist *ret, struct err *e)
{
    const struct tree *statuses, *res;
    struct reslist actuated, allocated;

    if (!dec_own_requests(d, c, p->fill_in, ret, e) || !dec_list(d, p->status, statuses_key, &statuses, e))
        return false;
    const struct tree *cs = container_status(statuses, tree_str(tree_get(c, "name")));
    if (!dec_map(d, cs, "resources", &res, e))
        return false;
    if (!res)
        return true;
    if (!dec_resources(d, d->tmp, res, "requests", &actuated, e) ||
        !dec_resources(d, d->tmp, cs, "allocatedResources", &allocated, e))
        return false;
    if (resize_is_infeasible(p->status))
        *ret = (struct reslist){0};
    reslist_max(d->tmp, ret, &actuated);
    reslist_max(d->tmp, ret, &allocated);
    return true;
}

static bool add_init_containers(struct decoder *d, const struct pod_source *p, struct reslist *total, struct err *e)
{
    struct reslist sidecars = {0}, peak = {0};
    const struct tree *list;

    if (!dec_list(d, p->spec, "initContainers", &list, e))
        return false;
    for (uint32_t i = 0; list && i < list->n; i++) {
        const struct tree *c = &list->items[i];
        bool sidecar = str_is(tree_str(tree_get(c, "restartPolicy")), "Always");
        struct reslist step;

        if (!sidecar) {
            if (!dec_own_requests(d, c, p->fill_in, &step, e))
                return false;
            reslist_add(d->tmp, &step, &sidecars);
        } else {
            if (!dec_effective(d, p, c, "initContainerStatuses", &step, e))
                return false;
            reslist_add(d->tmp, total, &step);
            reslist_add(d->tmp, &sidecars, &step);
            step = reslist_dup(d->tmp, &sidecars);
        }
        reslist_max(d->tmp, &peak, &step);
    }
    reslist_max(d->tmp, total, &peak);
    return true;
}

static bool apply_pod_level(struct decoder *d, const struct pod_source *p, struct reslist *total, struct err *e)
{
    struct reslist requests, limits;
    const struct tree *res;

    if (!dec_map(d, p->spec, "resources", &res, e) || !dec_resources(d, d->tmp, res, "requests", &requests, e) ||
        !dec_resources(d, d->tmp, res, "limits", &limits, e))
        return false;
    /* A limit stands in for a request that neither the pod nor any container makes. */
    for (uint32_t i = 0; p->fill_in && i < limits.n; i++) {
        const struct resq *q = &limits.q[i];

        if (!reslist_get(&requests, q->name) && (is_hugepages(d, q->name) || !reslist_get(total, q->name)))
            reslist_set(d->tmp, &requests, q->name, q->v, q->binary);
    }
    for (uint32_t i = 0; i < requests.n; i++)
        if (is_pod_level(d, requests.q[i].name))
            reslist_set(d->tmp, total, requests.q[i].name, requests.q[i].v, requests.q[i].binary);
    return true;
}

bool dec_requests(struct decoder *d, const struct pod_source *p, struct reslist *ret, struct err *e)
{
    struct reslist total = {0}, one;
    const struct tree *list;

    if (!dec_list(d, p->spec, "containers", &list, e))
        return false;
    for (uint32_t i = 0; list && i < list->n; i++) {
        if (!dec_effective(d, p, &list->items[i], "containerStatuses", &one, e))
            return false;
        reslist_add(d->tmp, &total, &one);
    }
    if (!add_init_containers(d, p, &total, e) || !apply_pod_level(d, p, &total, e) ||
        !dec_resources(d, d->tmp, p->spec, "overhead", &one, e))
        return false;
    reslist_add(d->tmp, &total, &one);
    *ret = reslist_dup(d->o->arena, &total);
    return true;
}

/* ---- limits ---- */

static bool dec_own_limits(struct decoder *d, const struct tree *c, struct reslist *ret, struct err *e)
{
    const struct tree *res;

    return dec_map(d, c, "resources", &res, e) && dec_resources(d, d->tmp, res, "limits", ret, e);
}

static bool add_init_limits(struct decoder *d, const struct tree *spec, struct reslist *total, struct err *e)
{
    struct reslist sidecars = {0}, peak = {0}, step;
    const struct tree *list;

    if (!dec_list(d, spec, "initContainers", &list, e))
        return false;
    for (uint32_t i = 0; list && i < list->n; i++) {
        if (!dec_own_limits(d, &list->items[i], &step, e))
            return false;
        if (str_is(tree_str(tree_get(&list->items[i], "restartPolicy")), "Always")) {
            reslist_add(d->tmp, total, &step);
            reslist_add(d->tmp, &sidecars, &step);
            step = reslist_dup(d->tmp, &sidecars);
        } else {
            reslist_add(d->tmp, &step, &sidecars);
        }
        reslist_max(d->tmp, &peak, &step);
    }
    reslist_max(d->tmp, total, &peak);
    return true;
}

bool dec_limits(struct decoder *d, const struct tree *spec, struct reslist *ret, struct err *e)
{
    struct reslist total = {0}, one;
    const struct tree *list;

    if (!dec_list(d, spec, "containers", &list, e))
        return false;
    for (uint32_t i = 0; list && i < list->n; i++) {
        if (!dec_own_limits(d, &list->items[i], &one, e))
            return false;
        reslist_add(d->tmp, &total, &one);
    }
    if (!add_init_limits(d, spec, &total, e) || !dec_own_limits(d, spec, &one, e))
        return false;
    for (uint32_t i = 0; i < one.n; i++)
        if (is_pod_level(d, one.q[i].name))
            reslist_set(d->tmp, &total, one.q[i].name, one.q[i].v, one.q[i].binary);
    if (!dec_resources(d, d->tmp, spec, "overhead", &one, e))
        return false;
    for (uint32_t i = 0; i < one.n; i++) { /* overhead raises a limit and makes none */
        const struct resq *q = reslist_get(&total, one.q[i].name);

        if (q)
            reslist_set(d->tmp, &total, q->name, sat_add(q->v, one.q[i].v), q->binary);
    }
    *ret = reslist_dup(d->o->arena, &total);
    return true;
}
