/* Logs of a pod's container, and what else only a kubelet could do. Whoever plays the kubelets may be asked for logs
 * (kube_set_logs()); without one the answer is that of a server whose kubelets cannot be reached. */
#include "sim/kube/front_int.h"

#include "data/edit.h"

#define KUBELET_PORT 10250

/* ---- which container ---- */

static bool list_has(const struct tree *list, str name)
{
    for (uint32_t i = 0; list && list->kind == TREE_LIST && i < list->n; i++)
        if (str_eq(tree_str(tree_get(&list->items[i], "name")), name))
            return true;
    return false;
}

static void add_names(struct sb *b, const struct tree *list)
{
    for (uint32_t i = 0; list && list->kind == TREE_LIST && i < list->n; i++) {
        sb_c(b, b->n ? " " : "");
        sb_str(b, tree_str(tree_get(&list->items[i], "name")));
    }
}

static bool pick_container(struct request *r, const struct tree *pod, str *ret, struct status *st)
{
    const struct tree *spec = tree_get(pod, "spec"), *all = tree_get(spec, "containers"),
                      *init = tree_get(spec, "initContainers"), *debug = tree_get(spec, "ephemeralContainers");
    str asked = query_get(r, "container");
    uint32_t n = (all ? all->n : 0) + (init ? init->n : 0) + (debug ? debug->n : 0);

    if (asked.n == 0 && n == 1 && all) {
        *ret = tree_str(tree_get(&all->items[0], "name"));
        return true;
    }
    if (asked.n == 0) {
        struct sb names = {0};

        add_names(&names, init);
        add_names(&names, all);
        add_names(&names, debug);
        (void)status_bad_request(r->a, st, 400,
                                 "a container name must be specified for pod " STR_FMT ", choose one of: [" STR_FMT "]",
                                 STR_ARG(r->route.name), STR_ARG(names));
        sb_fini(&names);
        return false;
    }
    if (!list_has(all, asked) && !list_has(init, asked) && !list_has(debug, asked))
        return status_bad_request(r->a, st, 400, "container " STR_FMT " is not valid for pod " STR_FMT, STR_ARG(asked),
                                  STR_ARG(r->route.name));
    *ret = asked;
    return true;
}

/* ---- options ---- */

struct log_options {
    int64_t tail, since_s, limit_bytes; /* -1: not given */
};

static void check_number(struct causes *c, const char *name, int64_t v, int64_t min, bool given)
{
    if (given && v < min)
        cause_invalid(c, str_c(name), arena_printf(c->a, "%lld", (long long)v), "must be greater than %s",
                      min == 0 ? "or equal to 0" : "0");
}

static bool log_options(struct request *r, struct log_options *ret, struct status *st)
{
    static const struct kind options = {.name = STR_INIT("PodLogOptions")};
    struct causes c = {.a = r->a};

    *ret = (struct log_options){-1, -1, -1};
    if (!query_i64(r, "tailLines", &ret->tail, st) || !query_i64(r, "sinceSeconds", &ret->since_s, st) ||
        !query_i64(r, "limitBytes", &ret->limit_bytes, st))
        return false;
    check_number(&c, "tailLines", ret->tail, 0, query_has(r, "tailLines"));
    check_number(&c, "limitBytes", ret->limit_bytes, 1, query_has(r, "limitBytes"));
    if (query_has(r, "sinceSeconds") && query_has(r, "sinceTime"))
        cause_forbidden(&c, STR("[]"), "at most one of `sinceTime` or `sinceSeconds` may be specified");
    else
        check_number(&c, "sinceSeconds", ret->since_s, 1, query_has(r, "sinceSeconds"));
    bool ok = c.list.n == 0;
    if (!ok)
        (void)status_invalid(r->a, st, &options, r->route.name, &c);
    causes_fini(&c);
    return ok;
}

/* ---- kubelets ---- */

/* How a server fails that asks the node's kubelet and finds nobody there. */
static bool no_kubelet(struct request *r, str node_name, str path, struct status *st)
{
    const struct kind *nodes = kube_kind(r->kube, STR(""), STR("Node"));
    const struct object *node = kube_get(r->kube, nodes, STR(""), node_name);
    str ip = {0};

    if (!node)
        return status_not_found(r->a, st, nodes, node_name);
    const struct tree *list = tree_at(kube_tree(r->a, node), "status", "addresses", NULL);
    for (uint32_t i = 0; list && list->kind == TREE_LIST && i < list->n && !ip.n; i++)
        if (str_is(tree_str(tree_get(&list->items[i], "type")), "InternalIP"))
            ip = tree_str(tree_get(&list->items[i], "address"));
    if (ip.n)
        (void)status_bad_request(r->a, st, 500,
                                 "Get \"https://" STR_FMT ":%d" STR_FMT "\": dial tcp " STR_FMT
                                 ":%d: connect: connection refused",
                                 STR_ARG(ip), KUBELET_PORT, STR_ARG(path), STR_ARG(ip), KUBELET_PORT);
    else
        (void)status_bad_request(r->a, st, 500, "no preferred addresses found; known addresses: []");
    st->reason = "";
    return false;
}

static const struct object *pod_of(struct request *r, struct status *st)
{
    const struct object *pod = kube_get(r->kube, r->route.kind, r->route.ns, r->route.name);

    if (!pod)
        (void)status_not_found(r->a, st, r->route.kind, r->route.name);
    return pod;
}

bool serve_kubelet(struct request *r, struct status *st)
{
    const struct object *pod = pod_of(r, st);
    str container = {0};

    if (!pod)
        return false;
    const struct tree *t = kube_tree(r->a, pod);
    str node = tree_str(tree_at(t, "spec", "nodeName", NULL));
    if (!str_is(r->route.sub, "portforward") && !pick_container(r, t, &container, st))
        return false;
    if (node.n == 0)
        return status_bad_request(r->a, st, 400, "pod " STR_FMT " does not have a host assigned", STR_ARG(pod->name));
    return no_kubelet(r, node,
                      arena_printf(r->a, "/" STR_FMT "/" STR_FMT "/" STR_FMT "/" STR_FMT, STR_ARG(r->route.sub),
                                   STR_ARG(pod->ns), STR_ARG(pod->name), STR_ARG(container)),
                      st);
}

bool serve_logs(struct request *r, struct status *st)
{
    struct log_options o;
    const struct object *pod;
    str container;

    if (!log_options(r, &o, st) || !(pod = pod_of(r, st)))
        return false;
    const struct tree *t = kube_tree(r->a, pod);
    str node = tree_str(tree_at(t, "spec", "nodeName", NULL));
    if (!pick_container(r, t, &container, st))
        return false;
    if (node.n == 0) { /* nothing runs yet, so nothing was said */
        reply_body(r, 204, NULL, (str){0});
        return true;
    }
    if (kube_logs(r->kube, pod, container, query_flag(r, "follow"), o.tail, r->x))
        return true;
    return no_kubelet(r, node,
                      arena_printf(r->a, "/containerLogs/" STR_FMT "/" STR_FMT "/" STR_FMT, STR_ARG(pod->ns),
                                   STR_ARG(pod->name), STR_ARG(container)),
                      st);
}
