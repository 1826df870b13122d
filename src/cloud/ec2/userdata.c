/* User data by family; what the families share; AL2, whose machines run a script of EKS (aws 6.5 to 6.7). */
#include <arpa/inet.h>

#include "cloud/ec2/userdata_int.h"

/* ---- the kubelet's settings ---- */

static struct ec2_kvs static_ones(struct arena *a, const struct ec2_kvs *m)
{
    struct ec2_kvs out = {arena_new_array(a, struct ec2_kv, m->n), 0, m->present};

    for (uint32_t i = 0; i < m->n; i++)
        if (quantity_is(m->v[i].value))
            out.v[out.n++] = m->v[i];
    return out;
}

struct ec2_kvs boot_kube_reserved(struct arena *a, const struct ec2_class *k, const struct ec2_boot *b)
{
    return b->kube_reserved.n ? b->kube_reserved : static_ones(a, &k->kubelet.kube_reserved);
}

struct ec2_kvs boot_system_reserved(struct arena *a, const struct ec2_class *k, const struct ec2_boot *b)
{
    return b->system_reserved.n ? b->system_reserved : static_ones(a, &k->kubelet.system_reserved);
}

int64_t boot_max_pods(const struct ec2_class *k, const struct ec2_boot *b)
{
    return k->kubelet.max_pods >= 0 ? k->kubelet.max_pods : b->max_pods;
}

struct ec2_kvs boot_soft_grace(struct arena *a, const struct ec2_class *k)
{
    const struct ec2_kvs *m = &k->kubelet.eviction_soft_grace;
    struct ec2_kvs out = {arena_new_array(a, struct ec2_kv, m->n), m->n, m->present};

    for (uint32_t i = 0; i < m->n; i++) {
        struct sb text = {0};
        struct err e;
        int64_t ns;

        out.v[i] = m->v[i];
        if (duration_parse(m->v[i].value, &ns, &e)) {
            duration_print(&text, ns);
            out.v[i].value = sb_dup(&text, a);
        }
        sb_fini(&text);
    }
    return out;
}

/* ---- flags ---- */

void boot_labels(struct sb *out, const struct ec2_boot *b)
{
    sb_c(out, "--node-labels=\"");
    for (uint32_t i = 0; i < b->n_labels; i++)
        sb_printf(out, "%s" STR_FMT "=" STR_FMT, i ? "," : "", STR_ARG(b->labels[i].key), STR_ARG(b->labels[i].value));
    sb_char(out, '"');
}

static void put_taints(struct sb *out, const struct ec2_boot *b)
{
    sb_c(out, "--register-with-taints=\"");
    for (uint32_t i = 0; i < b->n_taints; i++) {
        const struct taint_text *t = &b->taints[i];

        sb_printf(out, "%s" STR_FMT "%s" STR_FMT ":" STR_FMT, i ? "," : "", STR_ARG(t->key), t->value.n ? "=" : "",
                  STR_ARG(t->value), STR_ARG(t->effect));
    }
    sb_char(out, '"');
}

static void put_map(struct sb *out, const char *flag, const struct ec2_kvs *m, char between)
{
    if (m->n == 0)
        return;
    sb_printf(out, " --%s=\"", flag);
    for (uint32_t i = 0; i < m->n; i++)
        sb_printf(out, "%s" STR_FMT "%c" STR_FMT, i ? "," : "", STR_ARG(m->v[i].key), between, STR_ARG(m->v[i].value));
    sb_char(out, '"');
}

static void put_number(struct sb *out, const char *flag, int64_t v)
{
    if (v >= 0)
        sb_printf(out, " --%s=%lld", flag, (long long)v);
}

void boot_flags(struct sb *out, struct arena *a, const struct ec2_class *k, const struct ec2_boot *b)
{
    const struct ec2_kubelet *q = &k->kubelet;
    struct ec2_kvs kube = boot_kube_reserved(a, k, b), system = boot_system_reserved(a, k, b);
    struct ec2_kvs grace = boot_soft_grace(a, k);

    if (b->n_labels) {
        boot_labels(out, b);
        sb_char(out, ' ');
    }
    put_taints(out, b);
    put_number(out, "max-pods", boot_max_pods(k, b));
    put_number(out, "pods-per-core", q->pods_per_core);
    put_map(out, "system-reserved", &system, '=');
    put_map(out, "kube-reserved", &kube, '=');
    put_map(out, "eviction-hard", &q->eviction_hard, '<');
    put_map(out, "eviction-soft", &q->eviction_soft, '<');
    put_map(out, "eviction-soft-grace-period", &grace, '=');
    put_number(out, "eviction-max-pod-grace-period", q->eviction_max_grace);
    put_number(out, "image-gc-high-threshold", q->image_gc_high);
    put_number(out, "image-gc-low-threshold", q->image_gc_low);
    if (q->cpu_cfs_quota >= 0)
        sb_printf(out, " --cpu-cfs-quota=%s", q->cpu_cfs_quota ? "true" : "false");
}

/* ---- AL2 ---- */

static bool is_ipv4(str s)
{
    char text[INET_ADDRSTRLEN];
    struct in_addr unused;

    if (s.n >= sizeof(text))
        return false;
    memcpy(text, s.p, s.n);
    text[s.n] = '\0';
    return inet_pton(AF_INET, text, &unused) == 1;
}

/* Every argument behind the first line has the backslash before it, so that the last one needs none. */
static str al2_script(struct arena *a, const struct ec2_class *k, const struct ec2_boot *b)
{
    struct sb s = {0};

    sb_c(&s, "#!/bin/bash -xe\n"
             "exec > >(tee /var/log/user-data.log|logger -t user-data -s 2>/dev/console) 2>&1\n");
    sb_printf(&s, "/etc/eks/bootstrap.sh '" STR_FMT "' --apiserver-endpoint '" STR_FMT "' ", STR_ARG(b->cluster),
              STR_ARG(b->endpoint));
    if (b->ca_bundle.n)
        sb_printf(&s, "--b64-cluster-ca '" STR_FMT "'", STR_ARG(b->ca_bundle));
    if (b->n_dns && !is_ipv4(b->dns[0]))
        sb_c(&s, " \\\n--ip-family ipv6");
    if (b->n_dns)
        sb_printf(&s, " \\\n--dns-cluster-ip '" STR_FMT "'", STR_ARG(b->dns[0]));
    sb_c(&s, " \\\n--use-max-pods false \\\n--kubelet-extra-args '");
    boot_flags(&s, a, k, b);
    sb_char(&s, '\'');
    if (k->store_policy.n)
        sb_c(&s, " \\\n--local-disks raid0");
    str text = sb_dup(&s, a);
    sb_fini(&s);
    return text;
}

static bool userdata_al2(struct sb *out, struct arena *a, const struct ec2_class *k, const struct ec2_boot *b,
                         struct err *e)
{
    struct mime_parts own = {0};

    if (mime_is(k->user_data)) {
        if (!mime_read(a, k->user_data, &own, e))
            return err_wrap(e, "spec.userData");
    } else if (k->user_data.n) {
        own.v = arena_new_one(a, struct mime_part);
        own.v[own.n++] = mime_part(a, MIME_SHELL, k->user_data);
    }
    struct mime_part *all = arena_new_array(a, struct mime_part, own.n + 1);
    for (uint32_t i = 0; i < own.n; i++)
        all[i] = own.v[i];
    all[own.n] = mime_part(a, MIME_SHELL, al2_script(a, k, b));
    mime_write(out, all, own.n + 1);
    return true;
}

/* ---- all of them ---- */

static bool render(struct sb *out, struct arena *a, const struct ec2_class *k, const struct ec2_boot *b, struct err *e)
{
    switch (k->family) {
    case EC2_CUSTOM:
        sb_str(out, k->user_data);
        return true;
    case EC2_AL2:
        return userdata_al2(out, a, k, b, e);
    case EC2_AL2023:
        return userdata_nodeadm(out, a, k, b, e);
    case EC2_BOTTLEROCKET:
        return userdata_toml(out, a, k, b, e);
    case EC2_WINDOWS2019:
    case EC2_WINDOWS2022:
    case EC2_WINDOWS2025:
        userdata_windows(out, a, k, b);
        return true;
    }
    return false;
}

bool ec2_user_data(struct arena *a, const struct ec2_class *k, const struct ec2_boot *b, str *ret, struct err *e)
{
    struct sb out = {0};
    bool ok = render(&out, a, k, b, e);

    if (ok)
        *ret = sb_dup(&out, a);
    sb_fini(&out);
    return ok;
}

bool ec2_label_is_for_user_data(str key)
{
    static const char *const domains[] = {"kubernetes.io", "k8s.io"};
    str domain, name;

    if (!str_cut(key, '/', &domain, &name))
        return true;
    for (size_t i = 0; i < ARRAY_LEN(domains); i++) {
        str d = str_c(domains[i]);

        if (str_eq(domain, d) || (domain.n > d.n && str_ends(domain, d) && domain.p[domain.n - d.n - 1] == '.'))
            return false;
    }
    return true;
}

/* ---- versions of Bottlerocket ---- */

/* "1.46.0" out of "bottlerocket-aws-k8s-1.31-x86_64-v1.46.0-cacc4ce9". */
static str version_in(str name)
{
    str piece;

    while (name.n) {
        (void)str_cut(name, '-', &piece, &name);
        if (str_starts(piece, STR("v")) && str_contains(piece, STR(".")))
            return str_sub(piece, 1, piece.n);
    }
    return (str){0};
}

static str strip_v(str s)
{
    while (str_starts(s, STR("v")))
        s = str_sub(s, 1, s.n);
    return s;
}

/* Of the image that a term names by id, or, without an id, of any. */
static str version_of_image(const struct ec2_class *k, str id)
{
    for (uint32_t i = 0; i < k->status.n_amis; i++) {
        const struct ec2_class_ami *m = &k->status.amis[i];
        str v = str_contains(m->name, STR("bottlerocket")) ? version_in(m->name) : (str){0};

        if (v.n && (id.n == 0 || str_eq(m->id, id)))
            return v;
    }
    return (str){0};
}

str ec2_bottlerocket_version(const struct ec2_class *k)
{
    str v = {0}, family, version;

    for (uint32_t i = 0; i < k->images.n; i++)
        if (str_cut(k->images.v[i].alias, '@', &family, &version))
            return strip_v(version);
    for (uint32_t i = 0; i < k->images.n && !v.n; i++)
        v = version_in(k->images.v[i].name);
    for (uint32_t i = 0; i < k->images.n && !v.n; i++)
        if (k->images.v[i].id.n)
            v = version_of_image(k, k->images.v[i].id);
    return strip_v(v.n ? v : version_of_image(k, (str){0}));
}
