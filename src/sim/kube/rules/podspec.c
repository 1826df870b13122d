/* Defaults of pods and of the templates of workloads. */
#include "sim/kube/rules/podspec.h"

static void default_port(struct arena *a, struct tree *port, bool host_network)
{
    int64_t container;

    default_str(a, port, "protocol", "TCP");
    if (host_network && !has(port, "hostPort") && tree_to_i64(tree_get(port, "containerPort"), &container))
        tree_set_i64(a, port, "hostPort", container);
}

static void default_http_get(struct arena *a, struct tree *handler)
{
    struct tree *get = edit_map(handler, "httpGet");

    if (!get)
        return;
    default_str(a, get, "path", "/");
    default_str(a, get, "scheme", "HTTP");
}

static void default_probe(struct arena *a, struct tree *probe)
{
    if (!probe)
        return;
    default_count(a, probe, "timeoutSeconds", 1);
    default_count(a, probe, "periodSeconds", 10);
    default_count(a, probe, "successThreshold", 1);
    default_count(a, probe, "failureThreshold", 3);
    default_http_get(a, probe);
    struct tree *grpc = edit_map(probe, "grpc");
    if (grpc)
        default_str(a, grpc, "service", "");
}

static void default_field_ref(struct arena *a, struct tree *holder)
{
    struct tree *field = edit_map(holder, "fieldRef"), *resource = edit_map(holder, "resourceFieldRef");

    if (field)
        default_str(a, field, "apiVersion", "v1");
    if (resource)
        default_str(a, resource, "divisor", "0");
}

/* The tag after the last colon, if that is not part of the registry's address: no tag and no digest mean "latest". */
static bool is_latest(str image)
{
    size_t colon = image.n;

    if (image.n == 0 || str_contains(image, STR("@")))
        return false;
    while (colon > 0 && image.p[colon - 1] != ':' && image.p[colon - 1] != '/')
        colon--;
    if (colon == 0 || image.p[colon - 1] == '/')
        return true;
    return str_is(str_sub(image, colon, image.n), "latest");
}

static void default_container(struct arena *a, struct tree *c, bool host_network)
{
    struct tree *list;

    if (c->kind != TREE_MAP)
        return;
    default_str(a, c, "imagePullPolicy", is_latest(tree_str(tree_get(c, "image"))) ? "Always" : "IfNotPresent");
    default_str(a, c, "terminationMessagePath", "/dev/termination-log");
    default_str(a, c, "terminationMessagePolicy", "File");
    tree_sub(a, c, "resources");
    if ((list = edit_list(c, "ports")))
        for (uint32_t i = 0; i < list->n; i++)
            default_port(a, &list->items[i], host_network);
    if ((list = edit_list(c, "env")))
        for (uint32_t i = 0; i < list->n; i++)
            default_field_ref(a, edit_map(&list->items[i], "valueFrom"));
    default_probe(a, edit_map(c, "livenessProbe"));
    default_probe(a, edit_map(c, "readinessProbe"));
    default_probe(a, edit_map(c, "startupProbe"));
    struct tree *life = edit_map(c, "lifecycle");
    default_http_get(a, edit_map(life, "preStop"));
    default_http_get(a, edit_map(life, "postStart"));
}

void claim_spec_defaults(struct arena *a, struct tree *spec)
{
    if (!spec)
        return;
    default_str(a, spec, "volumeMode", "Filesystem");
    tree_sub(a, spec, "resources");
}

static void default_items(struct arena *a, struct tree *source)
{
    struct tree *items = edit_list(source, "items");

    for (uint32_t i = 0; items && i < items->n; i++)
        default_field_ref(a, &items->items[i]);
}

static void default_projected(struct arena *a, struct tree *projected)
{
    struct tree *sources = edit_list(projected, "sources");

    default_i64(a, projected, "defaultMode", 0644);
    for (uint32_t i = 0; sources && i < sources->n; i++) {
        struct tree *token = edit_map(&sources->items[i], "serviceAccountToken");

        if (token)
            default_i64(a, token, "expirationSeconds", 3600);
        default_items(a, edit_map(&sources->items[i], "downwardAPI"));
    }
}

void volume_source_defaults(struct arena *a, struct tree *source)
{
    static const char *const with_mode[] = {"configMap", "secret", "downwardAPI"};
    struct tree *x;

    for (size_t i = 0; i < ARRAY_LEN(with_mode); i++)
        if ((x = edit_map(source, with_mode[i]))) {
            default_i64(a, x, "defaultMode", 0644);
            default_items(a, x);
        }
    if ((x = edit_map(source, "hostPath")))
        default_str(a, x, "type", "");
    if ((x = edit_map(source, "projected")))
        default_projected(a, x);
    if ((x = edit_map(edit_map(source, "ephemeral"), "volumeClaimTemplate"))) {
        tree_sub(a, x, "metadata");
        claim_spec_defaults(a, tree_sub(a, x, "spec"));
    }
    if ((x = edit_map(source, "iscsi")))
        default_str(a, x, "iscsiInterface", "default");
}

static void default_volumes(struct arena *a, struct tree *volumes)
{
    for (uint32_t i = 0; volumes && i < volumes->n; i++) {
        struct tree *v = &volumes->items[i];

        if (v->kind != TREE_MAP)
            continue;
        if (v->n == (has(v, "name") ? 1u : 0u))
            tree_sub(a, v, "emptyDir");
        volume_source_defaults(a, v);
    }
}

static const char *const container_lists[] = {"initContainers", "containers", "ephemeralContainers"};

void podspec_defaults(struct arena *a, struct tree *spec)
{
    default_str(a, spec, "restartPolicy", "Always");
    default_str(a, spec, "dnsPolicy", "ClusterFirst");
    default_str(a, spec, "schedulerName", "default-scheduler");
    default_i64(a, spec, "terminationGracePeriodSeconds", 30);
    tree_sub(a, spec, "securityContext");

    /* The older spelling of the name; the server writes both. */
    str account = tree_str(tree_get(spec, "serviceAccountName"));
    if (account.n == 0)
        account = tree_str(tree_get(spec, "serviceAccount"));
    if (account.n) {
        tree_set_str(a, spec, "serviceAccountName", account);
        tree_set_str(a, spec, "serviceAccount", account);
    }
    bool host_network = tree_is_true(tree_get(spec, "hostNetwork"));
    for (size_t l = 0; l < ARRAY_LEN(container_lists); l++) {
        struct tree *list = edit_list(spec, container_lists[l]);

        for (uint32_t i = 0; list && i < list->n; i++)
            default_container(a, &list->items[i], host_network);
    }
    default_volumes(a, edit_list(spec, "volumes"));
}

void podspec_requests(struct arena *a, struct tree *spec)
{
    for (size_t l = 0; l < ARRAY_LEN(container_lists); l++) {
        struct tree *list = edit_list(spec, container_lists[l]);

        for (uint32_t i = 0; list && i < list->n; i++) {
            struct tree *resources = edit_map(&list->items[i], "resources");
            const struct tree *limits = tree_get(resources, "limits");

            for (uint32_t j = 0; limits && limits->kind == TREE_MAP && j < limits->n; j++) {
                struct tree *requests = tree_sub(a, resources, "requests");
                struct tree *request = requests ? tree_put(a, requests, limits->keys[j]) : NULL;

                if (request && request->kind == TREE_NULL)
                    *request = limits->items[j];
            }
        }
    }
}

void template_defaults(struct arena *a, struct tree *tmpl)
{
    if (!tmpl)
        return;
    tree_sub(a, tmpl, "metadata");
    struct tree *spec = tree_sub(a, tmpl, "spec");
    if (spec)
        podspec_defaults(a, spec);
}
