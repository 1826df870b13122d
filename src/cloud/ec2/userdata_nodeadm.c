/* User data of AL2023: a NodeConfig for nodeadm, behind whatever the class brings along; nodeadm merges them, and the last one wins (aws 6.7). */
#include "cloud/ec2/userdata_int.h"
#include "data/edit.h"
#include "data/reader.h"
#include "data/yaml_go.h"

/* ---- the generated part ---- */

static struct tree kvs_tree(struct arena *a, const struct ec2_kvs *m)
{
    struct tree *t = tree_new_map(a);

    for (uint32_t i = 0; i < m->n; i++)
        *tree_put(a, t, m->v[i].key) = tree_of_str(m->v[i].value);
    return *t;
}

static struct tree taints_tree(struct arena *a, const struct ec2_boot *b)
{
    struct tree *list = tree_new_list(a);

    for (uint32_t i = 0; i < b->n_taints; i++) {
        struct tree *t = tree_push(a, list, *tree_new_map(a));

        tree_set_str(a, t, "effect", b->taints[i].effect);
        tree_set_str(a, t, "key", b->taints[i].key);
        if (b->taints[i].value.n)
            tree_set_str(a, t, "value", b->taints[i].value);
    }
    return *list;
}

static struct tree *kubelet_tree(struct arena *a, const struct ec2_class *k, const struct ec2_boot *b)
{
    struct tree *t = k->kubelet.raw ? tree_copy(a, k->kubelet.raw) : tree_new_map(a);
    struct ec2_kvs kube = boot_kube_reserved(a, k, b), system = boot_system_reserved(a, k, b);

    if (k->kubelet.n_dns == 0 && b->n_dns) {
        struct tree *dns = tree_new_list(a);

        for (uint32_t i = 0; i < b->n_dns; i++)
            (void)tree_push(a, dns, tree_of_str(b->dns[i]));
        tree_set(a, t, "clusterDNS", *dns);
    }
    tree_set_i64(a, t, "maxPods", boot_max_pods(k, b));
    if (kube.n || kube.present)
        tree_set(a, t, "kubeReserved", kvs_tree(a, &kube));
    if (system.n || system.present)
        tree_set(a, t, "systemReserved", kvs_tree(a, &system));
    if (b->n_taints)
        tree_set(a, t, "registerWithTaints", taints_tree(a, b));
    return t;
}

static struct tree *node_config(struct arena *a, const struct ec2_class *k, const struct ec2_boot *b)
{
    struct tree *t = tree_new_map(a), *cluster, *kubelet;

    tree_set_str(a, t, "apiVersion", STR("node.eks.aws/v1alpha1"));
    tree_set_str(a, t, "kind", STR("NodeConfig"));
    (void)tree_path(a, t, "metadata", NULL);
    cluster = tree_path(a, t, "spec", "cluster", NULL);
    tree_set_str(a, cluster, "apiServerEndpoint", b->endpoint);
    if (b->ca_bundle.n)
        tree_set_str(a, cluster, "certificateAuthority", b->ca_bundle);
    tree_set_str(a, cluster, "cidr", b->cidr);
    tree_set_str(a, cluster, "name", b->cluster);
    (void)tree_path(a, t, "spec", "containerd", NULL);
    struct tree *storage = tree_path(a, t, "spec", "instance", "localStorage", NULL);
    if (k->store_policy.n)
        tree_set_str(a, storage, "strategy", k->store_policy);
    kubelet = tree_path(a, t, "spec", "kubelet", NULL);
    tree_set(a, kubelet, "config", *kubelet_tree(a, k, b));
    if (b->n_labels) {
        struct sb labels = {0};

        boot_labels(&labels, b);
        (void)tree_push(a, tree_sublist(a, kubelet, "flags"), tree_of_str(sb_dup(&labels, a)));
        sb_fini(&labels);
    }
    return t;
}

/* ---- the class's own ---- */

/* Up to the line that begins the second document; a first line "---" belongs to the first one. */
static str first_document(str text)
{
    bool content = false;

    for (size_t at = 0; at < text.n;) {
        const char *end = memchr(text.p + at, '\n', text.n - at);
        str line = str_trim(str_sub(text, at, end ? (size_t)(end - text.p) : text.n));
        bool mark = line.p == text.p + at && (str_is(line, "---") || str_starts(line, STR("--- ")));

        if (mark && content)
            return str_sub(text, 0, at);
        content |= mark || (line.n && line.p[0] != '#' && line.p[0] != '%');
        at = end ? (size_t)(end - text.p) + 1 : text.n;
    }
    return text;
}

/* What reads as a YAML map, or as nothing at all, is for nodeadm; all else is a script. */
static bool is_node_config(struct arena *a, str text)
{
    const struct tree *t;
    struct err e;

    return tree_parse_yaml(a, "userData", first_document(text), &t, &e) &&
           (t->kind == TREE_MAP || t->kind == TREE_NULL);
}

/* quirk: of the headers of a part only the type is kept, and an empty one if it has none. */
static bool own_parts(struct arena *a, const struct ec2_class *k, struct mime_parts *ret, struct err *e)
{
    if (!mime_is(k->user_data)) {
        if (k->user_data.n) {
            ret->v = arena_new_one(a, struct mime_part);
            ret->v[ret->n++] =
                mime_part(a, is_node_config(a, k->user_data) ? MIME_NODE_CONFIG : MIME_SHELL, k->user_data);
        }
        return true;
    }
    if (!mime_read(a, k->user_data, ret, e))
        return err_wrap(e, "spec.userData");
    for (uint32_t i = 0; i < ret->n; i++) {
        struct ec2_kv *type = arena_new_one(a, struct ec2_kv);

        *type = (struct ec2_kv){STR("Content-Type"), (str){0}};
        for (uint32_t h = 0; h < ret->v[i].n; h++)
            if (str_is(ret->v[i].headers[h].key, "Content-Type"))
                type->value = ret->v[i].headers[h].value;
        ret->v[i].headers = type;
        ret->v[i].n = 1;
    }
    return true;
}

bool userdata_nodeadm(struct sb *out, struct arena *a, const struct ec2_class *k, const struct ec2_boot *b,
                      struct err *e)
{
    struct mime_parts own = {0};
    struct sb config = {0};

    if (!own_parts(a, k, &own, e))
        return false;
    sb_c(&config, "# Karpenter Generated NodeConfig\n");
    yaml_go_write(&config, node_config(a, k, b));
    struct mime_part *all = arena_new_array(a, struct mime_part, own.n + 1);
    for (uint32_t i = 0; i < own.n; i++)
        all[i] = own.v[i];
    all[own.n] = mime_part(a, MIME_NODE_CONFIG, sb_dup(&config, a));
    sb_fini(&config);
    mime_write(out, all, own.n + 1);
    return true;
}
