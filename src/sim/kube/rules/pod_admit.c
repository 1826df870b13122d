/* Admission of pods, as the plugins do it that every server has: ServiceAccount, Priority, DefaultTolerationSeconds. */
#include "base/map.h"
#include "sim/kube/rules/around.h"
#include "sim/kube/rules/pod.h"

#define TOKEN_PATH "/var/run/secrets/kubernetes.io/serviceaccount"

/* ---- the service account and its token ---- */

/* Invented, but the same for the same pod at the same time. */
static str token_volume(struct rule_context *c, const struct tree *pod)
{
    static const char alphabet[] = "bcdfghjklmnpqrstvwxz2456789";
    str name = object_name(pod), ns = object_namespace(pod);
    uint64_t h = hash_mix(hash_bytes(ns.p, ns.n, (uint64_t)c->now_ms), hash_bytes(name.p, name.n, 0));
    char suffix[5];

    for (size_t i = 0; i < sizeof(suffix); i++, h /= sizeof(alphabet) - 1)
        suffix[i] = alphabet[h % (sizeof(alphabet) - 1)];
    return arena_printf(c->a, "kube-api-access-%.5s", suffix);
}

static bool has_token_mount(const struct tree *container)
{
    const struct tree *mounts = tree_get(container, "volumeMounts");

    for (uint32_t i = 0; i < list_len(mounts); i++)
        if (str_is(tree_str(tree_get(&mounts->items[i], "mountPath")), TOKEN_PATH))
            return true;
    return false;
}

static bool mount_token(struct arena *a, struct tree *spec, const char *list_name, str volume)
{
    struct tree *list = edit_list(spec, list_name);
    bool any = false;

    for (uint32_t i = 0; i < list_len(list); i++) {
        struct tree *mounts;

        if (has_token_mount(&list->items[i]) || !(mounts = tree_sublist(a, &list->items[i], "volumeMounts")))
            continue;
        struct tree *m = tree_push(a, mounts, *tree_new_map(a));
        tree_set_str(a, m, "name", volume);
        tree_set_bool(a, m, "readOnly", true);
        tree_set_str(a, m, "mountPath", STR(TOKEN_PATH));
        any = true;
    }
    return any;
}

static void add_token_volume(struct arena *a, struct tree *spec, str name)
{
    struct tree *volumes = tree_sublist(a, spec, "volumes");
    if (!volumes)
        return;

    struct tree *v = tree_push(a, volumes, *tree_new_map(a));
    tree_set_str(a, v, "name", name);
    struct tree *projected = tree_sub(a, v, "projected");
    tree_set_i64(a, projected, "defaultMode", 0644);
    struct tree *sources = tree_sublist(a, projected, "sources");

    struct tree *token = tree_path(a, tree_push(a, sources, *tree_new_map(a)), "serviceAccountToken", NULL);
    tree_set_i64(a, token, "expirationSeconds", 3607); /* an odd number, by which the server knows its own */
    tree_set_str(a, token, "path", STR("token"));

    struct tree *root = tree_path(a, tree_push(a, sources, *tree_new_map(a)), "configMap", NULL);
    tree_set_str(a, root, "name", STR("kube-root-ca.crt"));
    struct tree *item = tree_push(a, tree_sublist(a, root, "items"), *tree_new_map(a));
    tree_set_str(a, item, "key", STR("ca.crt"));
    tree_set_str(a, item, "path", STR("ca.crt"));

    struct tree *down = tree_path(a, tree_push(a, sources, *tree_new_map(a)), "downwardAPI", NULL);
    item = tree_push(a, tree_sublist(a, down, "items"), *tree_new_map(a));
    struct tree *ref = tree_sub(a, item, "fieldRef");
    tree_set_str(a, ref, "apiVersion", STR("v1"));
    tree_set_str(a, ref, "fieldPath", STR("metadata.namespace"));
    tree_set_str(a, item, "path", STR("namespace"));
}

static void admit_account(struct rule_context *c, struct tree *pod, struct tree *spec, str *ret_denied)
{
    default_str(c->a, spec, "serviceAccountName", "default");
    str name = tree_str(tree_get(spec, "serviceAccountName")), ns = object_namespace(pod);
    tree_set_str(c->a, spec, "serviceAccount", name);

    const struct tree *account = around_get(c, "", "ServiceAccount", ns, name);
    if (c->kube && !account) {
        *ret_denied = arena_printf(
            c->a, "error looking up service account " STR_FMT "/" STR_FMT ": serviceaccount \"" STR_FMT "\" not found",
            STR_ARG(ns), STR_ARG(name), STR_ARG(name));
        return;
    }
    const struct tree *secrets = tree_get(account, "imagePullSecrets");
    if (list_len(secrets) && !has(spec, "imagePullSecrets"))
        tree_set(c->a, spec, "imagePullSecrets", *tree_copy(c->a, secrets));

    const struct tree *wanted = tree_get(spec, "automountServiceAccountToken");
    if (!wanted)
        wanted = tree_get(account, "automountServiceAccountToken");
    if (wanted && !tree_is_true(wanted))
        return;
    str volume = token_volume(c, pod);
    bool init = mount_token(c->a, spec, "initContainers", volume);
    if (mount_token(c->a, spec, "containers", volume) || init)
        add_token_volume(c->a, spec, volume);
}

/* ---- priority ---- */

struct priority {
    int64_t value;
    str class_name, preemption;
};

struct default_class {
    str name;
    int64_t value;
    const struct rule_context *c;
    struct tree *found;
};

static void look_for_default(void *ctx, const struct object *o)
{
    struct default_class *best = ctx;
    struct tree *t = kube_tree(best->c->a, o);
    int64_t value = 0;

    if (!tree_is_true(tree_get(t, "globalDefault")) || !tree_to_i64(tree_get(t, "value"), &value))
        return;
    if (!best->found || value < best->value) {
        best->found = t;
        best->value = value;
    }
}

/* The two classes that every cluster has. */
static bool system_priority(str name, int64_t *ret)
{
    if (str_is(name, "system-cluster-critical"))
        *ret = 2000000000;
    else if (str_is(name, "system-node-critical"))
        *ret = 2000001000;
    else
        return false;
    return true;
}

static bool find_priority(struct rule_context *c, const struct tree *spec, struct priority *ret, str *ret_denied)
{
    struct default_class d = {.c = c};
    const struct tree *class;

    *ret = (struct priority){.class_name = tree_str(tree_get(spec, "priorityClassName")),
                             .preemption = STR("PreemptLowerPriority")};
    if (ret->class_name.n == 0) {
        around_each(c, "scheduling.k8s.io", "PriorityClass", look_for_default, &d);
        class = d.found;
        if (class)
            ret->class_name = object_name(class);
    } else {
        class = around_get(c, "scheduling.k8s.io", "PriorityClass", (str){0}, ret->class_name);
        if (!class && !system_priority(ret->class_name, &ret->value)) {
            *ret_denied =
                arena_printf(c->a, "no PriorityClass with name " STR_FMT " was found", STR_ARG(ret->class_name));
            return false;
        }
    }
    if (class) {
        (void)tree_to_i64(tree_get(class, "value"), &ret->value);
        if (has(class, "preemptionPolicy"))
            ret->preemption = tree_str(tree_get(class, "preemptionPolicy"));
    }
    return true;
}

static void admit_priority(struct rule_context *c, struct tree *spec, str *ret_denied)
{
    struct priority p;
    int64_t given;
    str policy = tree_str(tree_get(spec, "preemptionPolicy"));

    if (!find_priority(c, spec, &p, ret_denied))
        return;
    if (tree_to_i64(tree_get(spec, "priority"), &given) && given != p.value) {
        *ret_denied = arena_printf(c->a,
                                   "the integer value of priority (%lld) must not be provided in pod spec; priority "
                                   "admission controller computed %lld from the given PriorityClass name",
                                   (long long)given, (long long)p.value);
        return;
    }
    if (policy.n && !str_eq(policy, p.preemption)) {
        *ret_denied = arena_printf(c->a,
                                   "the string value of PreemptionPolicy (" STR_FMT
                                   ") must not be provided in pod spec; priority admission controller computed " STR_FMT
                                   " from the given PriorityClass name",
                                   STR_ARG(policy), STR_ARG(p.preemption));
        return;
    }
    if (p.class_name.n)
        tree_set_str(c->a, spec, "priorityClassName", arena_strdup(c->a, p.class_name));
    tree_set_i64(c->a, spec, "priority", p.value);
    tree_set_str(c->a, spec, "preemptionPolicy", arena_strdup(c->a, p.preemption));
}

/* ---- tolerations ---- */

static bool tolerates(const struct tree *tolerations, const char *key)
{
    for (uint32_t i = 0; i < list_len(tolerations); i++) {
        str k = tree_str(tree_get(&tolerations->items[i], "key"));
        str effect = tree_str(tree_get(&tolerations->items[i], "effect"));

        if ((k.n == 0 || str_is(k, key)) && (effect.n == 0 || str_is(effect, "NoExecute")))
            return true;
    }
    return false;
}

static void admit_tolerations(struct arena *a, struct tree *spec)
{
    static const char *const keys[] = {"node.kubernetes.io/not-ready", "node.kubernetes.io/unreachable"};

    for (size_t i = 0; i < ARRAY_LEN(keys); i++) {
        struct tree *list;

        if (tolerates(tree_get(spec, "tolerations"), keys[i]) || !(list = tree_sublist(a, spec, "tolerations")))
            continue;
        struct tree *t = tree_push(a, list, *tree_new_map(a));
        tree_set_str(a, t, "key", str_c(keys[i]));
        tree_set_str(a, t, "operator", STR("Exists"));
        tree_set_str(a, t, "effect", STR("NoExecute"));
        tree_set_i64(a, t, "tolerationSeconds", 300);
    }
}

void pod_admit(struct rule_context *c, struct tree *pod, str *ret_denied)
{
    struct tree *spec = tree_sub(c->a, pod, "spec");

    if (!spec)
        return;
    admit_account(c, pod, spec, ret_denied);
    if (ret_denied->n == 0)
        admit_priority(c, spec, ret_denied);
    admit_tolerations(c->a, spec);
}
