/* The kinds that the server is born with. Names, categories and traits are those of Kubernetes 1.36. */
#include <ctype.h>

#include "sim/kube/kube_int.h"
#include "sim/kube/schema.h"

enum {
    NSD = 1 << 0,     /* namespaced */
    STAT = 1 << 1,    /* subresource status */
    SCALE = 1 << 2,   /* subresource scale, with the paths that all built-in kinds share */
    GEN = 1 << 3,     /* metadata.generation */
    RV = 1 << 4,      /* updates must name a resource version */
    PUT = 1 << 5,     /* an update creates what is not there */
    LABEL = 1 << 6,   /* names are DNS labels */
    PATH = 1 << 7,    /* names are path segments */
    ALL = 1 << 8,     /* category all */
    API_EXT = 1 << 9, /* category api-extensions */
    ALONE = 1 << 10,  /* rules judge a status, or the spec where there is none, without the rest of the object */
    ITSELF = 1 << 11  /* … and without what it was before */
};

#define CORE ""
#define ADMISSION "admissionregistration.k8s.io"
#define RBAC "rbac.authorization.k8s.io"
#define STORAGE "storage.k8s.io"
#define NETWORKING "networking.k8s.io"

/* In the order of `kubectl api-resources` within a group, groups in the order in which a server announces them. */
static const struct {
    const char *group, *version, *name, *plural;
    const char *short_names; /* separated by commas */
    unsigned traits;
} builtin[] = {
    {CORE, "v1", "ConfigMap", "configmaps", "cm", NSD},
    {CORE, "v1", "Endpoints", "endpoints", "ep", NSD | PUT},
    {CORE, "v1", "Event", "events", "ev", NSD | PUT},
    {CORE, "v1", "LimitRange", "limitranges", "limits", NSD | PUT},
    {CORE, "v1", "Namespace", "namespaces", "ns", STAT | LABEL},
    {CORE, "v1", "Node", "nodes", "no", STAT | ITSELF},
    {CORE, "v1", "PersistentVolumeClaim", "persistentvolumeclaims", "pvc", NSD | STAT},
    {CORE, "v1", "PersistentVolume", "persistentvolumes", "pv", STAT},
    {CORE, "v1", "Pod", "pods", "po", NSD | STAT | GEN | ALL | ALONE},
    {CORE, "v1", "PodTemplate", "podtemplates", "", NSD | GEN},
    {CORE, "v1", "ReplicationController", "replicationcontrollers", "rc", NSD | STAT | SCALE | GEN | ALL},
    {CORE, "v1", "ResourceQuota", "resourcequotas", "quota", NSD | STAT},
    {CORE, "v1", "Secret", "secrets", "", NSD},
    {CORE, "v1", "ServiceAccount", "serviceaccounts", "sa", NSD},
    {CORE, "v1", "Service", "services", "svc", NSD | STAT | PUT | LABEL | ALL},
    {ADMISSION, "v1", "MutatingWebhookConfiguration", "mutatingwebhookconfigurations", "", GEN | RV | API_EXT},
    {ADMISSION, "v1", "ValidatingWebhookConfiguration", "validatingwebhookconfigurations", "", GEN | RV | API_EXT},
    {"apiextensions.k8s.io", "v1", "CustomResourceDefinition", "customresourcedefinitions", "crd,crds",
     STAT | GEN | RV | API_EXT},
    {"apps", "v1", "ControllerRevision", "controllerrevisions", "", NSD},
    {"apps", "v1", "DaemonSet", "daemonsets", "ds", NSD | STAT | GEN | ALL},
    {"apps", "v1", "Deployment", "deployments", "deploy", NSD | STAT | SCALE | GEN | ALL | ITSELF},
    {"apps", "v1", "ReplicaSet", "replicasets", "rs", NSD | STAT | SCALE | GEN | ALL | ITSELF},
    {"apps", "v1", "StatefulSet", "statefulsets", "sts", NSD | STAT | SCALE | GEN | ALL},
    {"autoscaling", "v2", "HorizontalPodAutoscaler", "horizontalpodautoscalers", "hpa", NSD | STAT | ALL},
    {"batch", "v1", "CronJob", "cronjobs", "cj", NSD | STAT | GEN | ALL},
    {"batch", "v1", "Job", "jobs", "", NSD | STAT | GEN | ALL},
    {"coordination.k8s.io", "v1", "Lease", "leases", "", NSD | RV | PUT | ITSELF},
    {"discovery.k8s.io", "v1", "EndpointSlice", "endpointslices", "", NSD | GEN},
    {"events.k8s.io", "v1", "Event", "events", "ev", NSD | PUT},
    {NETWORKING, "v1", "IngressClass", "ingressclasses", "", GEN},
    {NETWORKING, "v1", "Ingress", "ingresses", "ing", NSD | STAT | GEN},
    {NETWORKING, "v1", "NetworkPolicy", "networkpolicies", "netpol", NSD | GEN},
    {"policy", "v1", "PodDisruptionBudget", "poddisruptionbudgets", "pdb", NSD | STAT | GEN | RV},
    {RBAC, "v1", "ClusterRoleBinding", "clusterrolebindings", "", PUT | PATH},
    {RBAC, "v1", "ClusterRole", "clusterroles", "", PUT | PATH},
    {RBAC, "v1", "RoleBinding", "rolebindings", "", NSD | PUT | PATH},
    {RBAC, "v1", "Role", "roles", "", NSD | PUT | PATH},
    {"scheduling.k8s.io", "v1", "PriorityClass", "priorityclasses", "pc", GEN},
    {STORAGE, "v1", "CSIDriver", "csidrivers", "", RV},
    {STORAGE, "v1", "CSINode", "csinodes", "", RV},
    {STORAGE, "v1", "CSIStorageCapacity", "csistoragecapacities", "", NSD | RV},
    {STORAGE, "v1", "StorageClass", "storageclasses", "sc", 0},
    {STORAGE, "v1", "VolumeAttachment", "volumeattachments", "", STAT | RV},
};

static str lower(struct arena *a, str s)
{
    char *p = arena_alloc(a, s.n, 1);

    for (size_t i = 0; i < s.n; i++)
        p[i] = (char)tolower((unsigned char)s.p[i]);
    return (str){p, s.n};
}

static void split(struct arena *a, const char *list, const str **ret, uint32_t *ret_n)
{
    str rest = str_c(list), one;
    VEC(str) names = {0};

    while (rest.n) {
        (void)str_cut(rest, ',', &one, &rest);
        vec_push(&names, one);
    }
    *ret = vec_to_arena(&names, a);
    *ret_n = names.n;
    vec_fini(&names);
}

static void add_builtin(struct kube *k, size_t i)
{
    struct arena *a = k->forever;
    unsigned t = builtin[i].traits;
    struct kind *kind = arena_new_one(a, struct kind);

    kind->group = str_c(builtin[i].group);
    kind->version = str_c(builtin[i].version);
    kind->name = str_c(builtin[i].name);
    kind->plural = str_c(builtin[i].plural);
    kind->singular = lower(a, kind->name);
    split(a, builtin[i].short_names, &kind->short_names, &kind->n_short_names);
    split(a, t & ALL ? "all" : t & API_EXT ? "api-extensions" : "", &kind->categories, &kind->n_categories);
    kind->namespaced = t & NSD;
    kind->has_status = t & STAT;
    kind->has_scale = t & SCALE;
    kind->has_generation = t & GEN;
    kind->needs_rv = t & RV;
    kind->made_by_put = t & PUT;
    kind->judged_alone = t & (ALONE | ITSELF);
    kind->judged_by_itself = t & ITSELF;
    kind->api_version = kind_api_version(a, kind);
    kind->naming = t & LABEL ? NAMES_LABEL : t & PATH ? NAMES_PATH : NAMES_SUBDOMAIN;
    if (kind->has_scale) {
        kind->scale_spec = STR(".spec.replicas");
        kind->scale_status = STR(".status.replicas");
        kind->scale_selector = STR(".spec.selector");
    }
    kind->schema = schema_builtin(kind->group, kind->version, kind->name);
    kind->rules = kind_rules_of(kind->group, kind->name);
    kind->columns = kind_columns_of(kind->group, kind->name);
    kinds_add(k, kind);
}

void kinds_init(struct kube *k)
{
    for (size_t i = 0; i < ARRAY_LEN(builtin); i++)
        add_builtin(k, i);
    k->namespaces = kube_kind(k, STR(""), STR("Namespace"));
    k->pods = kube_kind(k, STR(""), STR("Pod"));
    k->events = kube_kind(k, STR(""), STR("Event"));
    struct kind *new_events = k->kinds.v[kube_kind(k, STR("events.k8s.io"), STR("Event"))->ix];
    new_events->shape_of = k->events;
    new_events->shape = &shape_new_event;
    k->budgets = kube_kind(k, STR("policy"), STR("PodDisruptionBudget"));
    k->crds = kube_kind(k, STR("apiextensions.k8s.io"), STR("CustomResourceDefinition"));
}

void kinds_add(struct kube *k, struct kind *kind)
{
    kind->ix = k->kinds.n;
    vec_push(&k->kinds, kind);
    (void)vec_add(&k->tables);
    k->kinds_version++;
}

/* ---- looking them up ---- */

const struct kind *kube_kind(const struct kube *k, str group, str name)
{
    for (uint32_t i = 0; i < k->kinds.n; i++) {
        const struct kind *kind = k->kinds.v[i];

        if (kind && str_eq(kind->name, name) && str_eq(kind->group, group))
            return kind;
    }
    return NULL;
}

const struct kind *kind_of_object(const struct kube *k, const struct tree *obj)
{
    str api = tree_str(tree_get(obj, "apiVersion")), group, version;

    if (!str_cut(api, '/', &group, &version)) {
        version = api;
        group = (str){0};
    }
    const struct kind *kind = kube_kind(k, group, tree_str(tree_get(obj, "kind")));
    return kind && str_eq(kind->version, version) ? kind : NULL;
}

uint32_t kube_n_kinds(const struct kube *k)
{
    return k->kinds.n;
}

const struct kind *kube_kind_at(const struct kube *k, uint32_t ix)
{
    return ix < k->kinds.n ? k->kinds.v[ix] : NULL;
}

const struct kind *kube_kind_by_plural(const struct kube *k, str group, str version, str plural)
{
    for (uint32_t i = 0; i < k->kinds.n; i++) {
        const struct kind *kind = k->kinds.v[i];

        if (kind && str_eq(kind->plural, plural) && str_eq(kind->group, group) && str_eq(kind->version, version))
            return kind;
    }
    return NULL;
}

uint64_t kube_kinds_version(const struct kube *k)
{
    return k->kinds_version;
}
