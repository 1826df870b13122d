/* The roles that people and charts refer to by name, as a new API server of Kubernetes 1.36 makes them: those for users, what they
 * are put together from, and the small ones of the system. The roles of the control plane's own parts are not made: here these
 * parts have no names. */
#include "data/edit.h"
#include "sim/kube/kube_int.h"

#define GROUP "rbac.authorization.k8s.io"
#define CHANGE "create delete deletecollection patch update"
#define READ "get list watch"
#define ALL "create delete deletecollection get list patch update watch"

static const struct {
    const char *role;
    const char *aggregates_to; /* label; NULL: none */
    const char *gathers;       /* the label of the roles whose rules it has; NULL: it has its own */
} roles[] = {
    {"cluster-admin", NULL, NULL},
    {"admin", NULL, "admin"},
    {"edit", "admin", "edit"},
    {"view", "edit", "view"},
    {"system:aggregate-to-admin", "admin", NULL},
    {"system:aggregate-to-edit", "edit", NULL},
    {"system:aggregate-to-view", "view", NULL},
    {"system:auth-delegator", NULL, NULL},
    {"system:basic-user", NULL, NULL},
    {"system:discovery", NULL, NULL},
    {"system:monitoring", NULL, NULL},
    {"system:public-info-viewer", NULL, NULL},
};

/* Words are separated by spaces; "-" is the core group. Without groups the resources are paths. */
static const struct {
    const char *role, *groups, *resources, *verbs;
} rules[] = {
    {"cluster-admin", "*", "*", "*"},
    {"cluster-admin", NULL, "*", "*"},
    {"system:aggregate-to-admin", "authorization.k8s.io", "localsubjectaccessreviews", "create"},
    {"system:aggregate-to-admin", GROUP, "rolebindings roles", ALL},
    {"system:aggregate-to-edit", "-", "pods/attach pods/exec pods/portforward pods/proxy secrets services/proxy", READ},
    {"system:aggregate-to-edit", "-", "serviceaccounts", "impersonate"},
    {"system:aggregate-to-edit", "-", "pods pods/attach pods/exec pods/portforward pods/proxy", CHANGE},
    {"system:aggregate-to-edit", "-", "pods/eviction", "create"},
    {"system:aggregate-to-edit", "-",
     "configmaps persistentvolumeclaims replicationcontrollers replicationcontrollers/scale secrets serviceaccounts "
     "services services/proxy",
     CHANGE},
    {"system:aggregate-to-edit", "-", "serviceaccounts/token", "create"},
    {"system:aggregate-to-edit", "- events.k8s.io", "events", CHANGE},
    {"system:aggregate-to-edit", "apps",
     "daemonsets deployments deployments/rollback deployments/scale replicasets replicasets/scale statefulsets "
     "statefulsets/scale",
     CHANGE},
    {"system:aggregate-to-edit", "autoscaling", "horizontalpodautoscalers", CHANGE},
    {"system:aggregate-to-edit", "batch", "cronjobs jobs", CHANGE},
    {"system:aggregate-to-edit", "extensions",
     "daemonsets deployments deployments/rollback deployments/scale ingresses networkpolicies replicasets "
     "replicasets/scale replicationcontrollers/scale",
     CHANGE},
    {"system:aggregate-to-edit", "policy", "poddisruptionbudgets", CHANGE},
    {"system:aggregate-to-edit", "networking.k8s.io", "ingresses networkpolicies", CHANGE},
    {"system:aggregate-to-edit", "coordination.k8s.io", "leases", ALL},
    {"system:aggregate-to-edit", "resource.k8s.io", "resourceclaims resourceclaimtemplates", CHANGE},
    {"system:aggregate-to-view", "-",
     "configmaps endpoints persistentvolumeclaims persistentvolumeclaims/status pods replicationcontrollers "
     "replicationcontrollers/scale serviceaccounts services services/status",
     READ},
    {"system:aggregate-to-view", "-",
     "bindings limitranges namespaces/status pods/log pods/status replicationcontrollers/status resourcequotas "
     "resourcequotas/status",
     READ},
    {"system:aggregate-to-view", "-", "namespaces", READ},
    {"system:aggregate-to-view", "- events.k8s.io", "events", READ},
    {"system:aggregate-to-view", "discovery.k8s.io", "endpointslices", READ},
    {"system:aggregate-to-view", "apps",
     "controllerrevisions daemonsets daemonsets/status deployments deployments/scale deployments/status replicasets "
     "replicasets/scale replicasets/status statefulsets statefulsets/scale statefulsets/status",
     READ},
    {"system:aggregate-to-view", "autoscaling", "horizontalpodautoscalers horizontalpodautoscalers/status", READ},
    {"system:aggregate-to-view", "batch", "cronjobs cronjobs/status jobs jobs/status", READ},
    {"system:aggregate-to-view", "extensions",
     "daemonsets daemonsets/status deployments deployments/scale deployments/status ingresses ingresses/status "
     "networkpolicies replicasets replicasets/scale replicasets/status replicationcontrollers/scale",
     READ},
    {"system:aggregate-to-view", "policy", "poddisruptionbudgets poddisruptionbudgets/status", READ},
    {"system:aggregate-to-view", "networking.k8s.io", "ingresses ingresses/status networkpolicies", READ},
    {"system:aggregate-to-view", "resource.k8s.io", "resourceclaims resourceclaims/status resourceclaimtemplates",
     READ},
    {"system:auth-delegator", "authentication.k8s.io", "tokenreviews", "create"},
    {"system:auth-delegator", "authorization.k8s.io", "subjectaccessreviews", "create"},
    {"system:basic-user", "authorization.k8s.io", "selfsubjectaccessreviews selfsubjectrulesreviews", "create"},
    {"system:basic-user", "authentication.k8s.io", "selfsubjectreviews", "create"},
    {"system:discovery", NULL,
     "/api /api/* /apis /apis/* /healthz /livez /openapi /openapi/* /readyz /version /version/", "get"},
    {"system:monitoring", NULL,
     "/flagz /healthz /healthz/* /livez /livez/* /metrics /metrics/slis /readyz /readyz/* /statusz", "get"},
    {"system:monitoring", "-", "nodes/metrics", "get"},
    {"system:public-info-viewer", NULL, "/healthz /livez /readyz /version /version/", "get"},
};

static const struct {
    const char *role, *groups; /* of users */
} bindings[] = {
    {"cluster-admin", "system:masters"},
    {"system:basic-user", "system:authenticated"},
    {"system:discovery", "system:authenticated"},
    {"system:monitoring", "system:monitoring"},
    {"system:public-info-viewer", "system:authenticated system:unauthenticated"},
};

static void put_words(struct arena *a, struct tree *map, const char *key, const char *words)
{
    struct tree *list = tree_sublist(a, map, key);
    str rest = str_c(words), one;

    while (rest.n) {
        (void)str_cut(rest, ' ', &one, &rest);
        (void)tree_push(a, list, tree_of_str(str_is(one, "-") ? STR("") : one));
    }
}

static struct tree *new_object(struct arena *a, const char *name)
{
    struct tree *t = tree_new_map(a), *meta = tree_sub(a, t, "metadata");

    tree_set_str(a, meta, "name", str_c(name));
    tree_set_str(a, tree_sub(a, meta, "labels"), "kubernetes.io/bootstrapping", STR("rbac-defaults"));
    tree_set_str(a, tree_sub(a, meta, "annotations"), "rbac.authorization.kubernetes.io/autoupdate", STR("true"));
    return t;
}

static void create(struct kube *k, struct arena *a, const char *kind, struct tree *obj)
{
    struct status st;
    bool ok = kube_create(k, a, kube_kind(k, STR(GROUP), str_c(kind)), obj, NULL, &st);

    (void)ok;
    assert(ok); /* the tables above are our own */
}

static str aggregation_label(struct arena *a, const char *to)
{
    return arena_printf(a, GROUP "/aggregate-to-%s", to);
}

static void add_role(struct kube *k, struct arena *a, size_t ix)
{
    struct tree *t = new_object(a, roles[ix].role), *list = NULL;

    if (roles[ix].aggregates_to)
        tree_set_str(a, tree_path(a, t, "metadata", "labels", NULL), aggregation_label(a, roles[ix].aggregates_to).p,
                     STR("true"));
    if (roles[ix].gathers) {
        list = tree_sublist(a, tree_sub(a, t, "aggregationRule"), "clusterRoleSelectors");
        struct tree *selector = tree_push(a, list, *tree_new_map(a));
        tree_set_str(a, tree_sub(a, selector, "matchLabels"), aggregation_label(a, roles[ix].gathers).p, STR("true"));
    }
    list = tree_sublist(a, t, "rules");
    for (size_t i = 0; i < ARRAY_LEN(rules); i++) {
        if (strcmp(rules[i].role, roles[ix].role) != 0)
            continue;
        struct tree *rule = tree_push(a, list, *tree_new_map(a));
        put_words(a, rule, "verbs", rules[i].verbs);
        if (rules[i].groups)
            put_words(a, rule, "apiGroups", rules[i].groups);
        put_words(a, rule, rules[i].groups ? "resources" : "nonResourceURLs", rules[i].resources);
    }
    create(k, a, "ClusterRole", t);
}

static void add_binding(struct kube *k, struct arena *a, size_t ix)
{
    struct tree *t = new_object(a, bindings[ix].role), *ref = tree_sub(a, t, "roleRef");
    str rest = str_c(bindings[ix].groups), one;

    tree_set_str(a, ref, "apiGroup", STR(GROUP));
    tree_set_str(a, ref, "kind", STR("ClusterRole"));
    tree_set_str(a, ref, "name", str_c(bindings[ix].role));
    while (rest.n) {
        (void)str_cut(rest, ' ', &one, &rest);
        struct tree *subject = tree_push(a, tree_sublist(a, t, "subjects"), *tree_new_map(a));
        tree_set_str(a, subject, "kind", STR("Group"));
        tree_set_str(a, subject, "apiGroup", STR(GROUP));
        tree_set_str(a, subject, "name", one);
    }
    create(k, a, "ClusterRoleBinding", t);
}

void bootstrap_roles(struct kube *k)
{
    AUTO(arena) struct arena *a = arena_new(0);

    for (size_t i = 0; i < ARRAY_LEN(roles); i++)
        add_role(k, a, i);
    for (size_t i = 0; i < ARRAY_LEN(bindings); i++)
        add_binding(k, a, i);
}
