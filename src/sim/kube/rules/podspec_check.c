/* Checks of pods and templates: containers, and everything that has no file of its own. */
#include "sim/kube/rules/podspec.h"
#include "sim/kube/rules/view.h"

/* ---- resources ---- */

static bool is_hugepages(str name)
{
    return str_starts(name, STR("hugepages-"));
}

static bool is_container_resource(str name)
{
    return str_is(name, "cpu") || str_is(name, "memory") || str_is(name, "ephemeral-storage") || is_hugepages(name);
}

static bool is_standard_resource(str name)
{
    static const char *const names[] = {
        "storage",
        "requests.cpu",
        "requests.memory",
        "requests.ephemeral-storage",
        "requests.storage",
        "limits.cpu",
        "limits.memory",
        "limits.ephemeral-storage",
        "pods",
        "resourcequotas",
        "services",
        "replicationcontrollers",
        "secrets",
        "configmaps",
        "persistentvolumeclaims",
        "services.nodeports",
        "services.loadbalancers",
    };

    for (size_t i = 0; i < ARRAY_LEN(names); i++)
        if (str_is(name, names[i]))
            return true;
    return is_container_resource(name);
}

/* Whole devices: no fractions, and never more promised than there is. */
static bool is_whole(str name)
{
    str domain, rest;

    if (is_hugepages(name))
        return true;
    return str_cut(name, '/', &domain, &rest) && !str_ends(domain, STR("kubernetes.io"));
}

static void check_resource(struct flaws *f, const struct at *at, str name, const struct tree *v)
{
    const struct at *here = AT_IN(at, name);
    str value = json_quoted(f->a, amount_text(f->a, v));
    amount n;

    check_qualified(f, here, name);
    if (!str_contains(name, STR("/"))) {
        if (!is_standard_resource(name))
            flaw_invalid(f, here, json_quoted(f->a, name), "must be a standard resource type or fully qualified");
        if (!is_container_resource(name))
            flaw_invalid(f, here, json_quoted(f->a, name), "must be a standard resource for containers");
    }
    check_amount_not_negative(f, here, v);
    if (amount_of(v, &n) && n % 1000000000 != 0 && is_whole(name))
        flaw_invalid(f, here, value, "must be an integer");
}

static void check_request(struct flaws *f, const struct at *at, str name, const struct tree *v,
                          const struct tree *limits)
{
    const struct tree *limit = tree_find((struct tree *)limits, name);
    str value = json_quoted(f->a, amount_text(f->a, v));
    amount request, most;

    if (!limit) {
        if (is_whole(name))
            flaw_required(f, AT(at, "limits"), "Limit must be set for non overcommitable resources");
        return;
    }
    if (!amount_of(v, &request) || !amount_of(limit, &most) || request == most)
        return;
    str text = amount_text(f->a, limit);
    if (is_whole(name))
        flaw_invalid(f, AT(at, "requests"), value, "must be equal to " STR_FMT " limit of " STR_FMT, STR_ARG(name),
                     STR_ARG(text));
    else if (request > most)
        flaw_invalid(f, AT(at, "requests"), value, "must be less than or equal to " STR_FMT " limit of " STR_FMT,
                     STR_ARG(name), STR_ARG(text));
}

void resources_check(struct flaws *f, const struct at *at, const struct tree *resources)
{
    const struct tree *limits = tree_get(resources, "limits"), *requests = tree_get(resources, "requests");

    for (uint32_t i = 0; limits && limits->kind == TREE_MAP && i < limits->n; i++)
        check_resource(f, AT(at, "limits"), limits->keys[i], &limits->items[i]);
    for (uint32_t i = 0; requests && requests->kind == TREE_MAP && i < requests->n; i++) {
        check_resource(f, AT(at, "requests"), requests->keys[i], &requests->items[i]);
        check_request(f, at, requests->keys[i], &requests->items[i], limits);
    }
}

/* ---- ports, mounts, security ---- */

static const char *const protocols[] = {"SCTP", "TCP", "UDP", NULL};

static void check_ports(struct flaws *f, const struct at *at, const struct tree *ports)
{
    for (uint32_t i = 0; i < list_len(ports); i++) {
        const struct at *here = AT_IX(at, i);
        const struct tree *p = &ports->items[i], *port = tree_get(p, "containerPort");
        str name = tree_str(tree_get(p, "name"));
        int64_t n = 0;
        uint32_t flaws = f->out->list.n;

        if (name.n)
            check_port_name(f, AT(here, "name"), name);
        for (uint32_t j = 0; name.n && f->out->list.n == flaws && j < i; j++)
            if (str_eq(tree_str(tree_get(&ports->items[j], "name")), name)) {
                flaw_duplicate(f, AT(here, "name"), json_quoted(f->a, name));
                break;
            }
        if (!tree_to_i64(port, &n) || n == 0)
            flaw_required(f, AT(here, "containerPort"), "%s", "");
        else
            check_port(f, AT(here, "containerPort"), port);
        check_port(f, AT(here, "hostPort"), tree_get(p, "hostPort"));
        check_word(f, AT(here, "protocol"), tree_get(p, "protocol"), protocols);
    }
}

static bool volume_named(const struct tree *volumes, str name)
{
    for (uint32_t i = 0; i < list_len(volumes); i++)
        if (str_eq(tree_str(tree_get(&volumes->items[i], "name")), name))
            return name.n > 0;
    return false;
}

static void check_sub_path(struct flaws *f, const struct at *at, str path)
{
    str part, rest = path;

    if (path.n && path.p[0] == '/')
        flaw_invalid(f, at, json_quoted(f->a, path), "must be a relative path");
    for (bool more = path.n > 0; more;) {
        more = str_cut(rest, '/', &part, &rest);
        if (str_is(part, "..")) {
            flaw_invalid(f, at, json_quoted(f->a, path), "must not contain '..'");
            return;
        }
    }
}

static void check_mounts(struct flaws *f, const struct at *at, const struct tree *mounts, const struct tree *volumes)
{
    for (uint32_t i = 0; i < list_len(mounts); i++) {
        const struct at *here = AT_IX(at, i);
        const struct tree *m = &mounts->items[i];
        str name = tree_str(tree_get(m, "name")), path = tree_str(tree_get(m, "mountPath"));

        if (name.n == 0)
            flaw_required(f, AT(here, "name"), "%s", "");
        if (path.n == 0)
            flaw_required(f, AT(here, "mountPath"), "%s", "");
        if (!volume_named(volumes, name))
            flaw_not_found(f, AT(here, "name"), json_quoted(f->a, name));
        for (uint32_t j = 0; path.n && j < i; j++)
            if (str_eq(tree_str(tree_get(&mounts->items[j], "mountPath")), path)) {
                flaw_invalid(f, AT(here, "mountPath"), json_quoted(f->a, path), "must be unique");
                break;
            }
        check_sub_path(f, AT(at, "subPath"), tree_str(tree_get(m, "subPath")));
    }
}

static void check_security(struct flaws *f, const struct at *at, const struct tree *x)
{
    const struct tree *escalation = tree_get(x, "allowPrivilegeEscalation");

    check_range(f, AT(at, "runAsUser"), tree_get(x, "runAsUser"), 0, INT32_MAX);
    check_range(f, AT(at, "runAsGroup"), tree_get(x, "runAsGroup"), 0, INT32_MAX);
    if (escalation && !tree_is_true(escalation) && tree_is_true(tree_get(x, "privileged")))
        flaw_invalid(f, at, view_text(f->a, view_security_context, x),
                     "cannot set `allowPrivilegeEscalation` to false and `privileged` to true");
}

/* ---- containers ---- */

/* All names of containers, in the order in which they are looked at. */
struct names {
    VEC(str) v;
};

static bool name_is_new(struct names *names, str name)
{
    for (uint32_t i = 0; i < names->v.n; i++)
        if (str_eq(names->v.v[i], name))
            return false;
    vec_push(&names->v, name);
    return true;
}

static void check_container(struct flaws *f, const struct at *at, const struct tree *c, const struct tree *volumes,
                            struct names *names)
{
    static const char *const message[] = {"File", "FallbackToLogsOnError", NULL};
    static const char *const pull[] = {"Always", "IfNotPresent", "Never", NULL};
    str name = tree_str(tree_get(c, "name"));

    if (name.n == 0)
        flaw_required(f, AT(at, "name"), "%s", "");
    else
        check_label_name(f, AT(at, "name"), name);
    if (name.n && !name_is_new(names, name))
        flaw_duplicate(f, AT(at, "name"), json_quoted(f->a, name));
    if (tree_str(tree_get(c, "image")).n == 0)
        flaw_required(f, AT(at, "image"), "%s", "");
    check_word(f, AT(at, "terminationMessagePolicy"), tree_get(c, "terminationMessagePolicy"), message);
    check_ports(f, AT(at, "ports"), tree_get(c, "ports"));
    env_check(f, AT(at, "env"), tree_get(c, "env"));
    check_mounts(f, AT(at, "volumeMounts"), tree_get(c, "volumeMounts"), volumes);
    check_word(f, AT(at, "imagePullPolicy"), tree_get(c, "imagePullPolicy"), pull);
    resources_check(f, AT(at, "resources"), tree_get(c, "resources"));
    check_security(f, AT(at, "securityContext"), tree_get(c, "securityContext"));
}

static void check_host_port_conflicts(struct flaws *f, const struct at *at, const struct tree *containers)
{
    struct names taken = {0};

    for (uint32_t i = 0; i < list_len(containers); i++) {
        const struct tree *ports = tree_get(&containers->items[i], "ports");

        for (uint32_t j = 0; j < list_len(ports); j++) {
            const struct tree *p = &ports->items[j];
            str protocol = tree_str(tree_get(p, "protocol")), ip = tree_str(tree_get(p, "hostIP"));
            int64_t port = 0;

            if (!tree_to_i64(tree_get(p, "hostPort"), &port) || port == 0)
                continue;
            str key =
                arena_printf(f->a, "\"" STR_FMT "/" STR_FMT "/%lld\"", STR_ARG(protocol), STR_ARG(ip), (long long)port);
            if (!name_is_new(&taken, key))
                flaw_duplicate(f, AT(AT_IX(AT(AT_IX(at, i), "ports"), j), "hostPort"), key);
        }
    }
    vec_fini(&taken.v);
}

static void check_init_container(struct flaws *f, const struct at *at, const struct tree *c)
{
    static const char *const restart[] = {"Always", "Never", "OnFailure", NULL};

    check_word(f, AT(at, "restartPolicy"), tree_get(c, "restartPolicy"), restart);
    probes_check(f, at, c, /* init= */ !str_is(tree_str(tree_get(c, "restartPolicy")), "Always"));
}

static void check_containers(struct flaws *f, const struct at *at, const struct tree *spec)
{
    const struct tree *volumes = tree_get(spec, "volumes"), *list = tree_get(spec, "containers");
    struct names names = {0};

    if (list_len(list) == 0)
        flaw_required(f, AT(at, "containers"), "%s", "");
    for (uint32_t i = 0; i < list_len(list); i++) {
        const struct at *here = AT_IX(AT(at, "containers"), i);

        check_container(f, here, &list->items[i], volumes, &names);
        probes_check(f, here, &list->items[i], /* init= */ false);
    }
    check_host_port_conflicts(f, AT(at, "containers"), list);
    list = tree_get(spec, "initContainers");
    for (uint32_t i = 0; i < list_len(list); i++) {
        const struct at *here = AT_IX(AT(at, "initContainers"), i);

        check_container(f, here, &list->items[i], volumes, &names);
        check_init_container(f, here, &list->items[i]);
    }
    vec_fini(&names.v);
}

/* With the host's network a container's ports are the host's. */
static void check_host_network(struct flaws *f, const struct at *at, const struct tree *spec)
{
    const struct tree *list = tree_get(spec, "containers");

    for (uint32_t i = 0; tree_is_true(tree_get(spec, "hostNetwork")) && i < list_len(list); i++) {
        const struct tree *ports = tree_get(&list->items[i], "ports");

        for (uint32_t j = 0; j < list_len(ports); j++) {
            const struct tree *host = tree_get(&ports->items[j], "hostPort");

            if (!same(host, tree_get(&ports->items[j], "containerPort")))
                flaw_invalid(f, AT(AT_IX(AT(AT_IX(AT(at, "containers"), i), "ports"), j), "hostPort"),
                             json_sorted_text(f->a, host), "must match `containerPort` when `hostNetwork` is true");
        }
    }
}

static void check_host_names(struct flaws *f, const struct at *at, const struct tree *spec)
{
    str hostname = tree_str(tree_get(spec, "hostname")), subdomain = tree_str(tree_get(spec, "subdomain"));

    if (str_contains(hostname, STR(".")))
        flaw_invalid(f, AT(at, "hostname"), json_quoted(f->a, hostname), "must not contain dots");
    else if (hostname.n)
        check_label_name(f, AT(at, "hostname"), hostname);
    if (subdomain.n)
        check_label_name(f, AT(at, "subdomain"), subdomain);
}

static void check_gates(struct flaws *f, const struct at *at, const struct tree *spec)
{
    const struct tree *gates = tree_get(spec, "schedulingGates");

    if (list_len(gates) && tree_str(tree_get(spec, "nodeName")).n)
        flaw_forbidden(f, AT(at, "nodeName"), "cannot be set until all schedulingGates have been cleared");
    for (uint32_t i = 0; i < list_len(gates); i++) {
        const struct at *here = AT_IX(AT(at, "schedulingGates"), i);
        str name = tree_str(tree_get(&gates->items[i], "name"));

        check_qualified(f, here, name);
        for (uint32_t j = 0; j < i; j++)
            if (str_eq(tree_str(tree_get(&gates->items[j], "name")), name)) {
                flaw_duplicate(f, here, json_quoted(f->a, name));
                break;
            }
    }
}

void podspec_check(struct flaws *f, const struct at *at, const struct tree *spec)
{
    static const char *const restart[] = {"Always", "OnFailure", "Never", NULL};
    static const char *const dns[] = {"ClusterFirstWithHostNet", "ClusterFirst", "Default", "None", NULL};
    str account = tree_str(tree_get(spec, "serviceAccountName")), node = tree_str(tree_get(spec, "nodeName"));
    str priority = tree_str(tree_get(spec, "priorityClassName"));
    str runtime = tree_str(tree_get(spec, "runtimeClassName"));

    podspec_check_volumes(f, AT(at, "volumes"), tree_get(spec, "volumes"));
    check_containers(f, at, spec);
    check_word(f, AT(at, "restartPolicy"), tree_get(spec, "restartPolicy"), restart);
    check_word(f, AT(at, "dnsPolicy"), tree_get(spec, "dnsPolicy"), dns);
    check_labels(f, AT(at, "nodeSelector"), tree_get(spec, "nodeSelector"));
    check_host_network(f, at, spec);
    podspec_check_placing(f, at, spec);
    check_gates(f, at, spec);
    if (account.n)
        check_subdomain(f, AT(at, "serviceAccountName"), account);
    if (node.n)
        check_subdomain(f, AT(at, "nodeName"), node);
    check_range(f, AT(at, "activeDeadlineSeconds"), tree_get(spec, "activeDeadlineSeconds"), 1, INT32_MAX);
    check_host_names(f, at, spec);
    if (priority.n)
        check_subdomain(f, AT(at, "priorityClassName"), priority);
    if (has(spec, "runtimeClassName"))
        check_subdomain(f, AT(at, "runtimeClassName"), runtime);
}

void template_check(struct flaws *f, const struct at *at, const struct tree *tmpl)
{
    check_labels(f, AT(at, "labels"), tree_at(tmpl, "metadata", "labels", NULL));
    podspec_check(f, AT(at, "spec"), tree_get(tmpl, "spec"));
}
