#include "cloud/ec2/images.h"

#include <stdio.h>

#include "base/vec.h"
#include "cloud/catalog.h"
#include "cloud/ec2/family.h"
#include "cloud/ec2/labels.h"

/* ---- what an alias stands for ---- */

/* %K: the cluster's version. %X: the image of the alias' version, `newest` or `given`, in which %V is that version. */
struct source {
    enum ec2_family family;
    const char *path, *newest, *given;
    uint32_t variants;
};

#define EKS "/aws/service/eks/optimized-ami/%K/"
#define AL2(arch, given, variants)                                                                                     \
    {                                                                                                                  \
        EC2_AL2, EKS "amazon-linux-2" arch "/%X/image_id", "recommended", given "-%K-%V", (variants)                   \
    }
#define AL2023(arch, name, variant)                                                                                    \
    {                                                                                                                  \
        EC2_AL2023, EKS "amazon-linux-2023/" arch "/" name "/%X/image_id", "recommended",                              \
            "amazon-eks-node-al2023-" arch "-" name "-%K-%V", (variant)                                                \
    }
#define BOTTLEROCKET(kind, arch, variants)                                                                             \
    {                                                                                                                  \
        EC2_BOTTLEROCKET, "/aws/service/bottlerocket/aws-k8s-%K" kind "/" arch "/%X/image_id", "latest", "%V",         \
            (variants)                                                                                                 \
    }
#define WINDOWS(family, year)                                                                                          \
    {                                                                                                                  \
        (family), "/aws/service/ami-windows-latest/Windows_Server-" year "-English-Core-EKS_Optimized-%K/image_id",    \
            NULL, NULL, 0                                                                                              \
    }

static const struct source sources[] = {
    AL2("", "amazon-eks-node", EC2_VARIANT_STANDARD),
    AL2("-arm64", "amazon-eks-arm64-node", EC2_VARIANT_STANDARD),
    AL2("-gpu", "amazon-eks-gpu-node", EC2_VARIANT_NEURON | EC2_VARIANT_NVIDIA),
    AL2023("x86_64", "standard", EC2_VARIANT_STANDARD),
    AL2023("x86_64", "nvidia", EC2_VARIANT_NVIDIA),
    AL2023("x86_64", "neuron", EC2_VARIANT_NEURON),
    AL2023("arm64", "standard", EC2_VARIANT_STANDARD),
    AL2023("arm64", "nvidia", EC2_VARIANT_NVIDIA),
    BOTTLEROCKET("", "x86_64", EC2_VARIANT_STANDARD | EC2_VARIANT_NEURON),
    BOTTLEROCKET("", "arm64", EC2_VARIANT_STANDARD),
    BOTTLEROCKET("-nvidia", "x86_64", EC2_VARIANT_NVIDIA),
    BOTTLEROCKET("-nvidia", "arm64", EC2_VARIANT_NVIDIA),
    WINDOWS(EC2_WINDOWS2019, "2019"),
    WINDOWS(EC2_WINDOWS2022, "2022"),
    WINDOWS(EC2_WINDOWS2025, "2025"),
};

bool ec2_alias_parse(str alias, enum ec2_family *ret_family, str *ret_version)
{
    str family, version;

    if (!str_cut(alias, '@', &family, &version))
        version = STR("latest");
    if (version.n == 0 || !ec2_family_parse(family, ret_family) || *ret_family == EC2_CUSTOM)
        return false;
    *ret_version = version;
    return true;
}

static void fill_in(struct sb *b, const char *form, str kubernetes, str version, const char *image)
{
    for (const char *p = form; *p; p++) {
        if (*p != '%') {
            sb_char(b, *p);
            continue;
        }
        switch (*++p) {
        case 'K':
            sb_str(b, kubernetes);
            break;
        case 'V':
            sb_str(b, version);
            break;
        default:
            fill_in(b, image, kubernetes, version, NULL);
        }
    }
}

/* Amazon Linux 2 ends with 1.32, Windows 2025 begins with 1.35. A version that is no number is not judged. */
static bool supported(enum ec2_family f, str kubernetes, struct err *e)
{
    str major, minor;
    int64_t n;

    if (!str_cut(kubernetes, '.', &major, &minor) || !str_to_i64(minor, &n))
        return true;
    if (f == EC2_AL2 && n >= 33)
        err_set(e, ERR_INVALID, "there are no AL2 images for Kubernetes 1.33 and later");
    else if (f == EC2_WINDOWS2025 && n < 35)
        err_set(e, ERR_INVALID, "there are no Windows2025 images for Kubernetes before 1.35");
    else
        return true;
    (void)snprintf(e->code, sizeof(e->code), "%s", EC2_UNSUPPORTED_ALIAS);
    return false;
}

bool ec2_alias_parameters(struct arena *a, str alias, str kubernetes, struct ec2_parameter **ret, uint32_t *ret_n,
                          struct err *e)
{
    VEC(struct ec2_parameter) out = {0};
    enum ec2_family family;
    struct sb name = {0};
    str version;

    if (!ec2_alias_parse(alias, &family, &version))
        return err_set(e, ERR_INVALID, "unknown alias \"" STR_FMT "\"", STR_ARG(str_sub(alias, 0, 100)));
    if (!supported(family, kubernetes, e))
        return false;
    bool newest = str_is(version, "latest");
    while (family == EC2_BOTTLEROCKET && version.n && version.p[0] == 'v')
        version = str_sub(version, 1, version.n);
    for (size_t i = 0; i < ARRAY_LEN(sources); i++) {
        const struct source *s = &sources[i];

        if (s->family != family)
            continue;
        sb_reset(&name);
        fill_in(&name, s->path, kubernetes, version, newest ? s->newest : s->given);
        vec_push(&out, (struct ec2_parameter){
                           .name = sb_dup(&name, a), .variants = s->variants, .changes = newest || !s->newest});
    }
    *ret = vec_to_arena(&out, a);
    *ret_n = out.n;
    vec_fini(&out);
    sb_fini(&name);
    return true;
}

/* ---- choosing ---- */

struct choice {
    struct ec2_class_ami ami;
    int64_t created_s;
};

typedef VEC(struct choice) choices;

/* Keys by length, then by text: the order in which the status has them. */
static void sort_requirements(const struct syms *t, struct req_expr *x, uint32_t n)
{
    for (uint32_t i = 1; i < n; i++) {
        struct req_expr moving = x[i];
        str key = sym_str(t, moving.key);
        uint32_t at = i;

        for (; at > 0; at--) {
            str before = sym_str(t, x[at - 1].key);

            if (before.n < key.n || (before.n == key.n && str_cmp(before, key) <= 0))
                break;
            x[at] = x[at - 1];
        }
        x[at] = moving;
    }
}

/* variant 0: of any kind. */
static void requirements_of(struct arena *a, struct syms *t, const struct ec2_candidate *c, uint32_t variant,
                            const char *arch, struct ec2_class_ami *ami)
{
    sym gpus = ec2_label_key(t, EC2_L_GPU_COUNT), accelerators = ec2_label_key(t, EC2_L_ACCEL_COUNT);
    sym arch_sym = sym_of(t, str_c(arch));
    struct req_expr x[3];
    uint32_t n = 0;

    x[n++] = catalog_req(a, SYM(ARCH), &arch_sym, 1);
    if (c->windows_build) {
        sym os = sym_of(t, STR("windows")), build = sym_of(t, str_c(c->windows_build));

        x[n++] = catalog_req(a, SYM(OS), &os, 1);
        x[n++] = catalog_req(a, SYM(WINBUILD), &build, 1);
    } else if (variant == EC2_VARIANT_STANDARD) {
        x[n++] = catalog_req(a, accelerators, NULL, 0);
        x[n++] = catalog_req(a, gpus, NULL, 0);
    } else if (variant == EC2_VARIANT_NVIDIA) {
        x[n++] = (struct req_expr){.key = gpus, .op = OP_EXISTS};
    } else if (variant == EC2_VARIANT_NEURON) {
        x[n++] = (struct req_expr){.key = accelerators, .op = OP_EXISTS};
    }
    sort_requirements(t, x, n);
    ami->requirements = arena_dup_array(a, struct req_expr, x, n);
    ami->n_requirements = n;
}

/* Each requirement that images have holds at most one value. */
static bool same_machines(const struct ec2_class_ami *x, const struct ec2_class_ami *y)
{
    if (x->n_requirements != y->n_requirements)
        return false;
    for (uint32_t i = 0; i < x->n_requirements; i++) {
        const struct req_expr *p = &x->requirements[i], *q = &y->requirements[i];

        if (!sym_eq(p->key, q->key) || p->op != q->op || p->n_vals != q->n_vals ||
            (p->n_vals && !sym_eq(p->vals[0], q->vals[0])))
            return false;
    }
    return true;
}

static bool better(const struct choice *x, const struct choice *y)
{
    if (x->ami.deprecated != y->ami.deprecated)
        return y->ami.deprecated;
    if (x->created_s != y->created_s)
        return x->created_s > y->created_s;
    return str_cmp(x->ami.name, y->ami.name) > 0;
}

static void consider(choices *out, const struct choice *x)
{
    for (uint32_t i = 0; i < out->n; i++)
        if (same_machines(&out->v[i].ami, &x->ami)) {
            if (better(x, &out->v[i]))
                out->v[i] = *x;
            return;
        }
    vec_push(out, *x);
}

static int newest_first(const void *a, const void *b, void *ctx UNUSED)
{
    const struct choice *x = a, *y = b;

    if (x->created_s != y->created_s)
        return x->created_s > y->created_s ? -1 : 1;
    return str_cmp(x->ami.id, y->ami.id);
}

static const char *kubernetes_arch(str arch)
{
    return str_is(arch, "x86_64") ? "amd64" : str_is(arch, "arm64") ? "arm64" : NULL;
}

static int64_t seconds(int64_t ms)
{
    return ms == INT64_MIN ? INT64_MIN : ms / 1000; /* unknown stays the oldest of all */
}

uint32_t ec2_choose_amis(struct arena *a, struct syms *t, const struct ec2_candidate *v, uint32_t n, int64_t now_ms,
                         struct ec2_class_ami **ret)
{
    choices out = {0};

    for (uint32_t i = 0; i < n; i++) {
        const struct ec2_image *image = &v[i].image;
        const char *arch = kubernetes_arch(image->arch);
        struct choice x = {
            .ami = {.id = image->id, .name = image->name},
            .created_s = seconds(image->created_ms),
        };

        if (!arch)
            continue;
        x.ami.deprecated = image->deprecated_ms != INT64_MIN && seconds(image->deprecated_ms) <= seconds(now_ms);
        if (v[i].variants == 0) {
            requirements_of(a, t, &v[i], 0, arch, &x.ami);
            consider(&out, &x);
        }
        for (uint32_t left = v[i].variants; left; left &= left - 1) {
            requirements_of(a, t, &v[i], left & -left, arch, &x.ami);
            consider(&out, &x);
        }
    }
    sort_stable(out.v, out.n, sizeof(*out.v), newest_first, NULL);
    *ret = arena_new_array(a, struct ec2_class_ami, out.n);
    for (uint32_t i = 0; i < out.n; i++)
        (*ret)[i] = out.v[i].ami;
    n = out.n;
    vec_fini(&out);
    return n;
}

/* ---- for a type ---- */

static bool has_value(const struct req_expr *x, sym v)
{
    for (uint32_t i = 0; i < x->n_vals; i++)
        if (sym_eq(x->vals[i], v))
            return true;
    return false;
}

/* What a type says of itself is `In` or `DoesNotExist`. */
static bool meets(const struct req_expr *has, const struct req_expr *want)
{
    bool exists = has->op != OP_DOES_NOT_EXIST;

    switch (want->op) {
    case OP_IN:
        for (uint32_t i = 0; exists && i < has->n_vals; i++)
            if (has_value(want, has->vals[i]))
                return true;
        return false;
    case OP_NOT_IN:
        for (uint32_t i = 0; exists && i < has->n_vals; i++)
            if (!has_value(want, has->vals[i]))
                return true;
        return !exists;
    case OP_EXISTS:
        return exists;
    case OP_DOES_NOT_EXIST:
        return !exists;
    case OP_GT:
    case OP_LT:
    case OP_GTE:
    case OP_LTE:
        break; /* images have no such requirement */
    }
    return false;
}

/* A key of which the type says nothing is no obstacle: all that images use are well-known. */
static bool fits(const struct itype *type, const struct ec2_class_ami *ami)
{
    for (uint32_t i = 0; i < ami->n_requirements; i++)
        for (uint32_t j = 0; j < type->n_requirements; j++)
            if (sym_eq(type->requirements[j].key, ami->requirements[i].key) &&
                !meets(&type->requirements[j], &ami->requirements[i]))
                return false;
    return true;
}

const struct ec2_class_ami *ec2_ami_for(const struct ec2_class *k, const struct itype *type)
{
    for (uint32_t i = 0; i < k->status.n_amis; i++)
        if (fits(type, &k->status.amis[i]))
            return &k->status.amis[i];
    return NULL;
}
