/* Checks of the smaller parts of containers and pods: environment, probes, life cycle, volumes. */
#include "sim/kube/rules/podspec.h"

/* ---- environment ---- */

static bool is_subscript_of(str path, const char *map)
{
    str head = str_c(map);

    return str_starts(path, head) && path.n > head.n + 4 && path.p[head.n] == '[' && path.p[head.n + 1] == '\'' &&
           str_ends(path, STR("']"));
}

static void check_field_ref(struct flaws *f, const struct at *at, const struct tree *ref)
{
    static const char *const supported[] = {
        "metadata.name", "metadata.namespace", "metadata.uid", "spec.nodeName", "spec.serviceAccountName",
        "status.hostIP", "status.hostIPs",     "status.podIP", "status.podIPs", NULL,
    };
    static const char *const known[] = {
        "metadata.labels",  "metadata.annotations", "spec.restartPolicy",       "spec.schedulerName",
        "spec.hostNetwork", "status.phase",         "status.nominatedNodeName", NULL,
    };
    str path = tree_str(tree_get(ref, "fieldPath"));
    const struct at *here = AT(at, "fieldPath");

    if (path.n == 0) {
        flaw_required(f, here, "%s", "");
        return;
    }
    if (is_subscript_of(path, "metadata.labels") || is_subscript_of(path, "metadata.annotations"))
        return;
    for (uint32_t i = 0; supported[i]; i++)
        if (str_is(path, supported[i]))
            return;
    for (uint32_t i = 0; known[i]; i++)
        if (str_is(path, known[i])) {
            check_word(f, here, tree_get(ref, "fieldPath"), supported);
            return;
        }
    flaw_invalid(f, here, json_quoted(f->a, path), "error converting fieldPath: field label not supported: " STR_FMT,
                 STR_ARG(path));
}

static void check_key_ref(struct flaws *f, const struct at *at, const struct tree *ref)
{
    str key = tree_str(tree_get(ref, "key"));

    if (key.n == 0)
        flaw_required(f, AT(at, "key"), "%s", "");
    else
        check_config_key(f, AT(at, "key"), key);
}

static void check_value_from(struct flaws *f, const struct at *at, const struct tree *from, str value)
{
    uint32_t n = 0;
    const struct tree *x;

    if ((x = tree_get(from, "fieldRef")))
        n++, check_field_ref(f, AT(at, "fieldRef"), x);
    if ((x = tree_get(from, "resourceFieldRef"))) {
        n++;
        if (tree_str(tree_get(x, "resource")).n == 0)
            flaw_required(f, AT(AT(at, "resourceFieldRef"), "resource"), "%s", "");
    }
    if ((x = tree_get(from, "configMapKeyRef")))
        n++, check_key_ref(f, AT(at, "configMapKeyRef"), x);
    if ((x = tree_get(from, "secretKeyRef")))
        n++, check_key_ref(f, AT(at, "secretKeyRef"), x);
    n += has(from, "fileKeyRef");
    if (n == 0)
        flaw_invalid(f, at, STR("\"\""),
                     "must specify one of: `fieldRef`, `resourceFieldRef`, `configMapKeyRef`, `secretKeyRef` or "
                     "`fileKeyRef`");
    else if (value.n)
        flaw_invalid(f, at, STR("\"\""), "may not be specified when `value` is not empty");
    else if (n > 1)
        flaw_invalid(f, at, STR("\"\""), "may not have more than one field specified at a time");
}

static bool is_env_name(str s)
{
    for (size_t i = 0; i < s.n; i++)
        if (s.p[i] < ' ' || s.p[i] > '~' || s.p[i] == '=')
            return false;
    return true;
}

void env_check(struct flaws *f, const struct at *at, const struct tree *env)
{
    for (uint32_t i = 0; i < list_len(env); i++) {
        const struct at *here = AT_IX(at, i);
        const struct tree *x = &env->items[i], *from = tree_get(x, "valueFrom");
        str name = tree_str(tree_get(x, "name"));

        if (name.n == 0)
            flaw_required(f, AT(here, "name"), "%s", "");
        else if (!is_env_name(name))
            flaw_invalid(f, AT(here, "name"), json_quoted(f->a, name),
                         "a valid environment variable name must consist only of printable ASCII characters other "
                         "than '='");
        if (from)
            check_value_from(f, AT(here, "valueFrom"), from, tree_str(tree_get(x, "value")));
    }
}

/* ---- probes and life cycle ---- */

static void check_http(struct flaws *f, const struct at *at, const struct tree *x)
{
    static const char *const schemes[] = {"HTTP", "HTTPS", NULL};

    check_port_or_name(f, AT(at, "port"), tree_get(x, "port"));
    check_word(f, AT(at, "scheme"), tree_get(x, "scheme"), schemes);
}

static void check_handler(struct flaws *f, const struct at *at, const struct tree *x)
{
    static const char *const types[] = {"exec", "httpGet", "tcpSocket", "grpc", "sleep"};
    bool any = false;

    for (size_t i = 0; i < ARRAY_LEN(types); i++) {
        const struct tree *handler = tree_get(x, types[i]);
        const struct at *here = AT_STR(at, str_c(types[i]));

        if (!handler)
            continue;
        if (any) {
            flaw_forbidden(f, here, "may not specify more than 1 handler type");
            continue;
        }
        any = true;
        if (i == 0 && list_len(tree_get(handler, "command")) == 0)
            flaw_required(f, AT(here, "command"), "%s", "");
        else if (i == 1)
            check_http(f, here, handler);
        else if (i == 2)
            check_port_or_name(f, AT(here, "port"), tree_get(handler, "port"));
        else if (i == 3)
            check_port(f, AT(here, "port"), tree_get(handler, "port"));
    }
    if (!any)
        flaw_required(f, at, "must specify a handler type");
}

static void check_probe(struct flaws *f, const struct at *at, const struct tree *probe, bool once)
{
    static const char *const counts[] = {"initialDelaySeconds", "timeoutSeconds", "periodSeconds", "successThreshold",
                                         "failureThreshold"};
    const struct tree *success = tree_get(probe, "successThreshold");
    int64_t n = 1;

    if (!probe)
        return;
    check_handler(f, at, probe);
    for (size_t i = 0; i < ARRAY_LEN(counts); i++)
        check_not_negative(f, AT_STR(at, str_c(counts[i])), tree_get(probe, counts[i]));
    if (once && tree_to_i64(success, &n) && n != 1)
        flaw_invalid(f, AT(at, "successThreshold"), json_sorted_text(f->a, success), "must be 1");
}

void probes_check(struct flaws *f, const struct at *at, const struct tree *container, bool init)
{
    static const char *const probes[] = {"livenessProbe", "readinessProbe", "startupProbe"};
    const struct tree *life = tree_get(container, "lifecycle");
    static const char *const hooks[] = {"postStart", "preStop"};

    if (init && life)
        flaw_forbidden(f, AT(at, "lifecycle"), "may not be set for init containers without restartPolicy=Always");
    for (size_t i = 0; !init && i < ARRAY_LEN(hooks); i++)
        if (has(life, hooks[i]))
            check_handler(f, AT_STR(AT(at, "lifecycle"), str_c(hooks[i])), tree_get(life, hooks[i]));
    for (size_t i = 0; i < ARRAY_LEN(probes); i++) {
        const struct tree *probe = tree_get(container, probes[i]);
        const struct at *here = AT_STR(at, str_c(probes[i]));

        if (init && probe)
            flaw_forbidden(f, here, "may not be set for init containers without restartPolicy=Always");
        else
            check_probe(f, here, probe, /* once= */ i != 1);
    }
}

/* ---- volumes ---- */

static void check_mode(struct flaws *f, const struct at *at, const struct tree *mode)
{
    int64_t n;

    if (tree_to_i64(mode, &n) && (n < 0 || n > 0777))
        flaw_invalid(f, at, json_sorted_text(f->a, mode),
                     "must be a number between 0 and 0777 (octal), both inclusive");
}

static bool has_up(str path)
{
    str part;

    for (bool more = true; more;) {
        more = str_cut(path, '/', &part, &path);
        if (str_is(part, ".."))
            return true;
    }
    return false;
}

static void check_relative(struct flaws *f, const struct at *at, str path)
{
    if (path.n && path.p[0] == '/')
        flaw_invalid(f, at, json_quoted(f->a, path), "must be a relative path");
    else if (has_up(path))
        flaw_invalid(f, at, json_quoted(f->a, path), "must not contain '..'");
}

static void check_items(struct flaws *f, const struct at *at, const struct tree *items)
{
    for (uint32_t i = 0; i < list_len(items); i++) {
        const struct at *here = AT_IX(at, i);
        const struct tree *x = &items->items[i];
        str path = tree_str(tree_get(x, "path"));

        if (tree_str(tree_get(x, "key")).n == 0)
            flaw_required(f, AT(here, "key"), "%s", "");
        if (path.n == 0)
            flaw_required(f, AT(here, "path"), "%s", "");
        check_relative(f, AT(here, "path"), path);
        check_mode(f, AT(here, "mode"), tree_get(x, "mode"));
    }
}

static void check_needed(struct flaws *f, const struct at *at, const struct tree *x, const char *key)
{
    if (tree_str(tree_get(x, key)).n == 0)
        flaw_required(f, AT_STR(at, str_c(key)), "%s", "");
}

static void check_host_path(struct flaws *f, const struct at *at, const struct tree *x)
{
    static const char *const types[] = {"",     "BlockDevice",  "CharDevice", "Directory", "DirectoryOrCreate",
                                        "File", "FileOrCreate", "Socket",     NULL};
    str path = tree_str(tree_get(x, "path"));

    check_needed(f, at, x, "path");
    if (has_up(path))
        flaw_invalid(f, AT(at, "path"), json_quoted(f->a, path), "must not contain '..'");
    check_word(f, AT(at, "type"), tree_get(x, "type"), types);
}

static void check_nfs(struct flaws *f, const struct at *at, const struct tree *x)
{
    str path = tree_str(tree_get(x, "path"));

    check_needed(f, at, x, "server");
    check_needed(f, at, x, "path");
    if (path.n == 0 || path.p[0] != '/')
        flaw_invalid(f, AT(at, "path"), json_quoted(f->a, path), "must be an absolute path");
}

static void check_files(struct flaws *f, const struct at *at, const struct tree *x, const char *name)
{
    check_needed(f, at, x, name);
    check_mode(f, AT(at, "defaultMode"), tree_get(x, "defaultMode"));
    check_items(f, AT(at, "items"), tree_get(x, "items"));
}

static void check_empty_dir(struct flaws *f, const struct at *at, const struct tree *x)
{
    amount n;

    if (amount_of(tree_get(x, "sizeLimit"), &n) && n < 0)
        flaw_forbidden(f, AT(at, "sizeLimit"), "SizeLimit field must be a valid resource quantity");
}

static void check_source(struct flaws *f, const struct at *at, const char *type, const struct tree *x, bool pv)
{
    if (strcmp(type, "emptyDir") == 0)
        check_empty_dir(f, at, x);
    else if (strcmp(type, "hostPath") == 0)
        check_host_path(f, at, x);
    else if (strcmp(type, "secret") == 0)
        check_files(f, at, x, "secretName");
    else if (strcmp(type, "configMap") == 0)
        check_files(f, at, x, "name");
    else if (strcmp(type, "nfs") == 0)
        check_nfs(f, at, x);
    else if (strcmp(type, "persistentVolumeClaim") == 0)
        check_needed(f, at, x, "claimName");
    else if (strcmp(type, "local") == 0)
        check_needed(f, at, x, "path");
    else if (strcmp(type, "projected") == 0)
        check_mode(f, AT(at, "defaultMode"), tree_get(x, "defaultMode"));
    else if (strcmp(type, "csi") == 0) {
        check_needed(f, at, x, "driver");
        if (pv)
            check_needed(f, at, x, "volumeHandle");
    }
}

void volume_source_check(struct flaws *f, const struct at *at, const struct tree *source, bool pv)
{
    static const char *const types[] = {
        "emptyDir",
        "hostPath",
        "gitRepo",
        "gcePersistentDisk",
        "awsElasticBlockStore",
        "secret",
        "nfs",
        "iscsi",
        "glusterfs",
        "flocker",
        "persistentVolumeClaim",
        "rbd",
        "cinder",
        "cephfs",
        "downwardAPI",
        "fc",
        "flexVolume",
        "configMap",
        "azureFile",
        "vsphereVolume",
        "quobyte",
        "azureDisk",
        "storageos",
        "projected",
        "scaleIO",
        "photonPersistentDisk",
        "portworxVolume",
        "local",
        "csi",
        "ephemeral",
        "image",
    };
    bool any = false;

    for (size_t i = 0; i < ARRAY_LEN(types); i++) {
        const struct tree *x = tree_get(source, types[i]);
        const struct at *here = AT_STR(at, str_c(types[i]));

        if (!x)
            continue;
        if (any)
            flaw_forbidden(f, here, "may not specify more than 1 volume type");
        else
            check_source(f, here, types[i], x, pv);
        any = true;
    }
    if (!any)
        flaw_required(f, at, "must specify a volume type");
}

void podspec_check_volumes(struct flaws *f, const struct at *at, const struct tree *volumes)
{
    for (uint32_t i = 0; i < list_len(volumes); i++) {
        const struct at *here = AT_IX(at, i);
        const struct tree *v = &volumes->items[i];
        str name = tree_str(tree_get(v, "name"));
        uint32_t flaws = f->out->list.n;

        volume_source_check(f, here, v, /* pv= */ false);
        if (name.n == 0) {
            flaw_required(f, AT(here, "name"), "%s", "");
            continue;
        }
        check_label_name(f, AT(here, "name"), name);
        for (uint32_t j = 0; f->out->list.n == flaws && j < i; j++)
            if (str_eq(tree_str(tree_get(&volumes->items[j], "name")), name)) {
                flaw_duplicate(f, AT(here, "name"), json_quoted(f->a, name));
                break;
            }
    }
}

void access_modes_check(struct flaws *f, const struct at *at, const struct tree *modes)
{
    static const char *const known[] = {"ReadOnlyMany", "ReadWriteMany", "ReadWriteOnce", "ReadWriteOncePod", NULL};
    bool once_pod = false;

    for (uint32_t i = 0; i < list_len(modes); i++) {
        check_word(f, at, &modes->items[i], known);
        once_pod |= str_is(tree_str(&modes->items[i]), "ReadWriteOncePod");
    }
    if (once_pod && modes->n > 1)
        flaw_forbidden(f, at, "may not use ReadWriteOncePod with other access modes");
}
