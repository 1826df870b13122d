/* User data of Bottlerocket: the class's settings with ours over them (aws 6.8).
 *
 * settings.kubernetes and settings.bootstrap-commands are read field by field: what is not known there is dropped, a value of a wrong type is an
 * error, and the order of the tables below is the order in which they are written. All other settings are passed on, sorted. */
#include "cloud/ec2/userdata_int.h"
#include "data/edit.h"
#include "data/toml.h"

enum type { TEXT, INT, BOOL, TEXTS, TEXT_LISTS, TEXT_MAP, TEXTS_MAP, TABLE, TABLES };

struct field {
    const char *name;
    enum type type;
    const struct field *fields; /* TABLE, TABLES: a map of tables; the last one has no name */
    bool always;                /* written even if it is not there */
};

static const struct field provider[] = {{"enabled", BOOL, NULL, false},
                                        {"cache-duration", TEXT, NULL, false},
                                        {"image-patterns", TEXTS, NULL, true},
                                        {"environment", TEXT_MAP, NULL, false},
                                        {0}};
static const struct field static_pod[] = {{"enabled", BOOL, NULL, false}, {"manifest", TEXT, NULL, false}, {0}};
static const struct field reserved_memory[] = {{"enabled", BOOL, NULL, false},
                                               {"memory", TEXT, NULL, false},
                                               {"hugepages-2Mi", TEXT, NULL, false},
                                               {"hugepages-1Gi", TEXT, NULL, false},
                                               {0}};
static const struct field topology_options[] = {
    {"prefer-closest-numa-nodes", BOOL, NULL, false}, {"max-allowable-numa-nodes", INT, NULL, false}, {0}};
static const struct field command[] = {
    {"commands", TEXT_LISTS, NULL, true}, {"mode", TEXT, NULL, true}, {"essential", BOOL, NULL, true}, {0}};

static const struct field kubernetes[] = {
    {"api-server", TEXT, NULL, false},
    {"cloud-provider", TEXT, NULL, false},
    {"cluster-certificate", TEXT, NULL, false},
    {"cluster-name", TEXT, NULL, false},
    {"cluster-dns-ip", TEXT, NULL, false},
    {"credential-providers", TABLES, provider, false},
    {"node-labels", TEXT_MAP, NULL, false},
    {"node-taints", TEXTS_MAP, NULL, false},
    {"max-pods", INT, NULL, false},
    {"static-pods", TABLES, static_pod, false},
    {"eviction-hard", TEXT_MAP, NULL, false},
    {"eviction-soft", TEXT_MAP, NULL, false},
    {"eviction-soft-grace-period", TEXT_MAP, NULL, false},
    {"eviction-max-pod-grace-period", INT, NULL, false},
    {"kube-reserved", TEXT_MAP, NULL, false},
    {"system-reserved", TEXT_MAP, NULL, false},
    {"allowed-unsafe-sysctls", TEXTS, NULL, false},
    {"server-tls-bootstrap", BOOL, NULL, false},
    {"registry-qps", INT, NULL, false},
    {"registry-burst", INT, NULL, false},
    {"event-qps", INT, NULL, false},
    {"event-burst", INT, NULL, false},
    {"kube-api-qps", INT, NULL, false},
    {"kube-api-burst", INT, NULL, false},
    {"container-log-max-size", TEXT, NULL, false},
    {"container-log-max-files", INT, NULL, false},
    {"cpu-manager-policy", TEXT, NULL, false},
    {"cpu-manager-policy-options", TEXTS, NULL, false},
    {"cpu-manager-reconcile-period", TEXT, NULL, false},
    {"memory-manager-policy", TEXT, NULL, false},
    {"memory-manager-reserved-memory", TABLES, reserved_memory, false},
    {"topology-manager-scope", TEXT, NULL, false},
    {"topology-manager-policy", TEXT, NULL, false},
    {"topology-manager-policy-options", TABLE, topology_options, false},
    {"image-gc-high-threshold-percent", TEXT, NULL, false},
    {"image-gc-low-threshold-percent", TEXT, NULL, false},
    {"ids-per-pod", INT, NULL, false},
    {"cpu-cfs-quota-enforced", BOOL, NULL, false},
    {"shutdown-grace-period", TEXT, NULL, false},
    {"shutdown-grace-period-for-critical-pods", TEXT, NULL, false},
    {"cluster-domain", TEXT, NULL, false},
    {"seccomp-default", BOOL, NULL, false},
    {"pod-pids-limit", INT, NULL, false},
    {"device-ownership-from-security-context", BOOL, NULL, false},
    {"single-process-oom-kill", BOOL, NULL, false},
    {"container-log-max-workers", INT, NULL, false},
    {"container-log-monitor-interval", TEXT, NULL, false},
    {"hostname-override-source", TEXT, NULL, false},
    {"log-level", INT, NULL, false},
    {0},
};

/* ---- reading ---- */

static bool all_are(const struct tree *t, enum tree_kind container, enum tree_kind member)
{
    if (t->kind != container)
        return false;
    for (uint32_t i = 0; i < t->n; i++)
        if (t->items[i].kind != member)
            return false;
    return true;
}

static bool all_lists_of_text(const struct tree *t, enum tree_kind container)
{
    if (t->kind != container)
        return false;
    for (uint32_t i = 0; i < t->n; i++)
        if (!all_are(&t->items[i], TREE_LIST, TREE_STRING))
            return false;
    return true;
}

static bool fits(const struct tree *t, enum type type)
{
    switch (type) {
    case TEXT:
        return t->kind == TREE_STRING;
    case INT:
        return toml_is_int(t);
    case BOOL:
        return t->kind == TREE_BOOL;
    case TEXTS:
        return all_are(t, TREE_LIST, TREE_STRING);
    case TEXT_LISTS:
        return all_lists_of_text(t, TREE_LIST);
    case TEXT_MAP:
        return all_are(t, TREE_MAP, TREE_STRING);
    case TEXTS_MAP:
        return all_lists_of_text(t, TREE_MAP);
    case TABLE:
        return t->kind == TREE_MAP;
    case TABLES:
        return all_are(t, TREE_MAP, TREE_MAP);
    }
    return false;
}

static struct tree zero_of(enum type type)
{
    switch (type) {
    case TEXT:
        return tree_of_str((str){0});
    case BOOL:
        return tree_of_bool(false);
    case TEXTS:
    case TEXT_LISTS:
        return (struct tree){.kind = TREE_LIST};
    case INT:
    case TEXT_MAP:
    case TEXTS_MAP:
    case TABLE:
    case TABLES:
        break;
    }
    return tree_of_null();
}

static bool read_table(struct arena *a, const char *path, const struct tree *t, const struct field *fields,
                       struct tree *ret, struct err *e);

static bool read_tables(struct arena *a, const char *path, const struct tree *t, const struct field *fields,
                        struct tree *ret, struct err *e)
{
    *ret = *tree_new_map(a);
    for (uint32_t i = 0; i < t->n; i++)
        if (!read_table(a, path, &t->items[i], fields, tree_put(a, ret, t->keys[i]), e))
            return false;
    return true;
}

/* The fields that are known, in their order; lists and maps that are empty are left out. */
static bool read_table(struct arena *a, const char *path, const struct tree *t, const struct field *fields,
                       struct tree *ret, struct err *e)
{
    struct tree *out = tree_new_map(a);

    for (const struct field *f = fields; f->name; f++) {
        const struct tree *v = tree_get(t, f->name);
        struct tree value = v ? *v : zero_of(f->type);

        if (v && !fits(v, f->type))
            return err_set(e, ERR_INVALID, "%s.%s has a value of a wrong type", path, f->name);
        if (v && f->type == TABLE && !read_table(a, f->name, v, f->fields, &value, e))
            return err_wrap(e, "%s", path);
        if (v && f->type == TABLES && !read_tables(a, f->name, v, f->fields, &value, e))
            return err_wrap(e, "%s", path);
        bool empty = (value.kind == TREE_LIST || value.kind == TREE_MAP) && value.n == 0;
        if (f->always || (v && !empty))
            tree_set(a, out, f->name, value);
    }
    *ret = *out;
    return true;
}

/* The map under this key; an error if something else is there. */
static bool sub_table(const struct tree *t, const char *key, const struct tree **ret, struct err *e)
{
    *ret = tree_get(t, key);
    return !*ret || (*ret)->kind == TREE_MAP || err_set(e, ERR_INVALID, "%s is not a table", key);
}

/* ---- ours ---- */

static struct tree kvs_table(struct arena *a, const struct ec2_kvs *m)
{
    struct tree *t = tree_new_map(a);

    for (uint32_t i = 0; i < m->n; i++)
        *tree_put(a, t, m->v[i].key) = tree_of_str(m->v[i].value);
    return *t;
}

static void set_kvs(struct arena *a, struct tree *t, const char *key, struct ec2_kvs m)
{
    if (m.n)
        tree_set(a, t, key, kvs_table(a, &m));
    else if (m.present)
        (void)tree_drop(t, str_c(key));
}

static void set_number(struct arena *a, struct tree *t, const char *key, int64_t v, bool as_text)
{
    if (v < 0)
        return;
    struct tree number = tree_of_i64(a, v);
    tree_set(a, t, key, as_text ? tree_of_str(number.text) : number);
}

static void set_labels(struct arena *a, struct tree *t, const struct ec2_boot *b)
{
    if (!b->n_labels)
        return;
    struct tree *labels = tree_sub(a, t, "node-labels");
    for (uint32_t i = 0; i < b->n_labels; i++)
        *tree_put(a, labels, b->labels[i].key) = tree_of_str(b->labels[i].value);
    toml_sort(labels, /* deep= */ false);
}

static void set_taints(struct arena *a, struct tree *t, const struct ec2_boot *b)
{
    (void)tree_drop(t, STR("node-taints"));
    if (!b->n_taints)
        return;
    struct tree *taints = tree_sub(a, t, "node-taints");
    for (uint32_t i = 0; i < b->n_taints; i++) {
        struct tree *list = tree_put(a, taints, b->taints[i].key);
        str text = arena_printf(a, STR_FMT ":" STR_FMT, STR_ARG(b->taints[i].value), STR_ARG(b->taints[i].effect));

        list->kind = TREE_LIST;
        (void)tree_push(a, list, tree_of_str(text));
    }
    toml_sort(taints, /* deep= */ false);
}

static void overwrite(struct arena *a, struct tree *t, const struct ec2_class *k, const struct ec2_boot *b)
{
    const struct ec2_kubelet *q = &k->kubelet;

    tree_set_str(a, t, "api-server", b->endpoint);
    tree_set_str(a, t, "cluster-name", b->cluster);
    (void)tree_drop(t, STR("cluster-certificate"));
    if (b->ca_bundle.n)
        tree_set_str(a, t, "cluster-certificate", b->ca_bundle);
    if (b->n_dns)
        tree_set_str(a, t, "cluster-dns-ip", b->dns[0]);
    set_labels(a, t, b);
    set_taints(a, t, b);
    set_number(a, t, "max-pods", boot_max_pods(k, b), /* as_text= */ false);
    set_kvs(a, t, "system-reserved", boot_system_reserved(a, k, b));
    set_kvs(a, t, "kube-reserved", boot_kube_reserved(a, k, b));
    set_kvs(a, t, "eviction-hard", q->eviction_hard);
    set_kvs(a, t, "eviction-soft", q->eviction_soft);
    set_kvs(a, t, "eviction-soft-grace-period", boot_soft_grace(a, k));
    set_number(a, t, "eviction-max-pod-grace-period", q->eviction_max_grace, /* as_text= */ false);
    set_number(a, t, "image-gc-high-threshold-percent", q->image_gc_high, /* as_text= */ true);
    set_number(a, t, "image-gc-low-threshold-percent", q->image_gc_low, /* as_text= */ true);
    if (q->cpu_cfs_quota >= 0)
        tree_set_bool(a, t, "cpu-cfs-quota-enforced", q->cpu_cfs_quota);
}

/* From 1.46.0 on the directories need not be named. */
static bool binds_by_itself(str version)
{
    str major, rest, minor, patch;
    int64_t x, y;

    while (str_starts(version, STR("v")))
        version = str_sub(version, 1, version.n);
    if (str_is(version, "latest"))
        return true;
    if (!str_cut(version, '.', &major, &rest) || !str_cut(rest, '.', &minor, &patch) || !str_to_i64(major, &x) ||
        !str_to_i64(minor, &y))
        return false;
    return x > 1 || (x == 1 && y >= 46);
}

static void add_words(struct arena *a, struct tree *list, const char *const *words, size_t n)
{
    struct tree *line = tree_push(a, list, *tree_new_list(a));

    for (size_t i = 0; i < n; i++)
        (void)tree_push(a, line, tree_of_str(str_c(words[i])));
}

static void add_mount_command(struct arena *a, struct tree *commands, const struct ec2_boot *b)
{
    static const char *const init[] = {"apiclient", "ephemeral-storage", "init"};
    static const char *const bind[] = {"apiclient",           "ephemeral-storage", "bind",         "--dirs",
                                       "/var/lib/containerd", "/var/lib/kubelet",  "/var/log/pods"};
    struct tree *t = tree_put(a, commands, STR("000-mount-instance-storage"));

    *t = *tree_new_map(a);
    struct tree *lines = tree_sublist(a, t, "commands");
    add_words(a, lines, init, ARRAY_LEN(init));
    add_words(a, lines, bind, binds_by_itself(b->ami_version) ? 3 : ARRAY_LEN(bind));
    tree_set_str(a, t, "mode", STR("always"));
    tree_set_bool(a, t, "essential", true);
}

/* ret: of the settings. */
static bool merge(struct arena *a, const struct tree *user, const struct ec2_class *k, const struct ec2_boot *b,
                  struct tree **ret, struct err *e)
{
    const struct tree *own, *cluster, *commands;
    struct tree read, *settings, *kube, *boot;

    if (!sub_table(user, "settings", &own, e) || !sub_table(own, "kubernetes", &cluster, e) ||
        !sub_table(own, "bootstrap-commands", &commands, e))
        return false;
    settings = *ret = own ? tree_copy(a, own) : tree_new_map(a);
    if (!read_table(a, "settings.kubernetes", cluster, kubernetes, &read, e))
        return false;
    overwrite(a, &read, k, b);
    kube = tree_put(a, settings, STR("kubernetes"));
    if (!read_table(a, "settings.kubernetes", &read, kubernetes, kube, e)) /* again, for the order */
        return false;
    if (!commands && !k->store_policy.n)
        return true;
    boot = tree_put(a, settings, STR("bootstrap-commands"));
    *boot = *tree_new_map(a);
    if (commands && !fits(commands, TABLES))
        return err_set(e, ERR_INVALID, "settings.bootstrap-commands has a value of a wrong type");
    if (commands && !read_tables(a, "settings.bootstrap-commands", commands, command, boot, e))
        return false;
    if (k->store_policy.n)
        add_mount_command(a, boot, b);
    toml_sort(boot, /* deep= */ false);
    return true;
}

bool userdata_toml(struct sb *out, struct arena *a, const struct ec2_class *k, const struct ec2_boot *b, struct err *e)
{
    struct tree *user = toml_read(a, k->user_data, e), *all = tree_new_map(a), *settings;

    if (!user)
        return err_wrap(e, "spec.userData is not TOML");
    toml_sort(user, /* deep= */ true);
    if (!merge(a, user, k, b, &settings, e))
        return err_wrap(e, "spec.userData");
    toml_sort(settings, /* deep= */ false);
    tree_set(a, all, "settings", *settings);
    toml_write(out, all);
    return true;
}
