/* spec.kubelet: the keys that are understood here, and what may be said of all others (aws 2.5). */
#include "cloud/ec2/kubelet_fields.h"

#include <stdarg.h>
#include <stdio.h>

#include "base/sort.h"
#include "cloud/ec2/class_int.h"

#define MAX_ENTRIES 1000  /* of one map or list of the kubelet's */
#define MAX_PROBLEMS 8192 /* bytes: they must fit a condition */

static const char *const managed[] = {
    "clusterDNS",
    "cpuCFSQuota",
    "evictionHard",
    "evictionMaxPodGracePeriod",
    "evictionSoft",
    "evictionSoftGracePeriod",
    "imageGCHighThresholdPercent",
    "imageGCLowThresholdPercent",
    "kubeReserved",
    "maxPods",
    "podsPerCore",
    "systemReserved",
};

static bool kv_before(const struct ec2_kv *x, const struct ec2_kv *y, const void *ctx UNUSED)
{
    return str_cmp(x->key, y->key) < 0;
}

SORT_DEFINE(sort_kvs, struct ec2_kv, kv_before)

static bool text_before(const str *x, const str *y, const void *ctx UNUSED)
{
    return str_cmp(*x, *y) < 0;
}

SORT_DEFINE(sort_texts, str, text_before)

/* ---- reading ---- */

static bool all_strings(const struct tree *t)
{
    for (uint32_t i = 0; i < t->n; i++)
        if (t->items[i].kind != TREE_STRING)
            return false;
    return true;
}

static struct ec2_kvs read_kvs(struct arena *a, const struct tree *t)
{
    struct ec2_kvs m = {0};

    if (!t || t->kind != TREE_MAP || !all_strings(t))
        return m;
    m = (struct ec2_kvs){arena_new_array(a, struct ec2_kv, t->n), t->n, true};
    for (uint32_t i = 0; i < t->n; i++)
        m.v[i] = (struct ec2_kv){t->keys[i], t->items[i].text};
    sort_kvs(m.v, m.n, NULL);
    return m;
}

static int64_t read_i32(const struct tree *t)
{
    int64_t v;

    return t && t->kind == TREE_NUMBER && str_to_i64(t->text, &v) && v >= INT32_MIN && v <= INT32_MAX ? v : -1;
}

static void read_dns(struct arena *a, const struct tree *t, struct ec2_kubelet *ret)
{
    if (!t || t->kind != TREE_LIST || !all_strings(t))
        return;
    ret->has_dns = true;
    ret->n_dns = t->n;
    ret->dns = arena_new_array(a, str, t->n);
    for (uint32_t i = 0; i < t->n; i++)
        ret->dns[i] = t->items[i].text;
}

bool ec2_kubelet_decode(const struct decoder *d, struct arena *a, const struct tree *spec, struct ec2_kubelet *ret,
                        struct err *e)
{
    const struct tree *t;

    if (!dec_map(d, spec, "kubelet", &t, e))
        return false;
    for (uint32_t i = 0; t && i < t->n; i++)
        if (t->items[i].n > MAX_ENTRIES)
            return dec_fail(d, &t->items[i], NULL, e, "has more than %d entries", MAX_ENTRIES);
    const struct tree *quota = tree_get(t, "cpuCFSQuota"), *pods = tree_get(t, "maxPods");
    *ret = (struct ec2_kubelet){
        .raw = t,
        .max_pods = read_i32(pods),
        .max_pods_is_expr = pods && pods->kind == TREE_STRING,
        .max_pods_expr = tree_str(pods),
        .pods_per_core = read_i32(tree_get(t, "podsPerCore")),
        .eviction_max_grace = read_i32(tree_get(t, "evictionMaxPodGracePeriod")),
        .image_gc_high = read_i32(tree_get(t, "imageGCHighThresholdPercent")),
        .image_gc_low = read_i32(tree_get(t, "imageGCLowThresholdPercent")),
        .system_reserved = read_kvs(a, tree_get(t, "systemReserved")),
        .kube_reserved = read_kvs(a, tree_get(t, "kubeReserved")),
        .eviction_hard = read_kvs(a, tree_get(t, "evictionHard")),
        .eviction_soft = read_kvs(a, tree_get(t, "evictionSoft")),
        .eviction_soft_grace = read_kvs(a, tree_get(t, "evictionSoftGracePeriod")),
        .cpu_cfs_quota = quota && quota->kind == TREE_BOOL ? (int8_t)quota->truth : -1,
    };
    read_dns(a, tree_get(t, "clusterDNS"), ret);
    return true;
}

static bool has_expression(const struct ec2_kvs *m)
{
    for (uint32_t i = 0; i < m->n; i++)
        if (!quantity_is(m->v[i].value))
            return true;
    return false;
}

bool ec2_kubelet_has_expressions(const struct ec2_kubelet *k)
{
    return k->max_pods_is_expr || has_expression(&k->kube_reserved) || has_expression(&k->system_reserved);
}

/* ---- what the family cannot deliver ---- */

static bool is_managed(str key)
{
    for (size_t i = 0; i < ARRAY_LEN(managed); i++)
        if (str_is(key, managed[i]))
            return true;
    return false;
}

bool ec2_kubelet_is_open(const struct ec2_kubelet *k)
{
    for (uint32_t i = 0; k->raw && i < k->raw->n; i++)
        if (k->raw->items[i].kind != TREE_NULL && !is_managed(k->raw->keys[i]))
            return true;
    return ec2_kubelet_has_expressions(k);
}

str ec2_kubelet_unsupported(struct arena *a, const struct ec2_class *k)
{
    const struct tree *raw = k->kubelet.raw;
    struct sb b = {0};

    if (!raw || k->family == EC2_AL2023 || k->family == EC2_CUSTOM)
        return (str){0};
    str *lost = arena_new_array(a, str, raw->n);
    uint32_t n = 0;
    for (uint32_t i = 0; i < raw->n; i++) {
        bool per_core = k->family == EC2_BOTTLEROCKET && str_is(raw->keys[i], "podsPerCore");

        if (raw->items[i].kind == TREE_NULL)
            continue;
        if (!is_managed(raw->keys[i]) || per_core)
            lost[n++] = raw->keys[i];
        else if (str_is(raw->keys[i], "clusterDNS") && k->kubelet.n_dns > 1)
            lost[n++] = STR("clusterDNS beyond its first entry");
    }
    sort_texts(lost, n, NULL);
    for (uint32_t i = 0; i < n; i++) {
        sb_c(&b, i ? ", " : "");
        sb_str(&b, lost[i]);
    }
    str text = n ? arena_printf(a,
                                "spec.kubelet has fields not applied by the %s AMI family that would be silently "
                                "dropped: " STR_FMT,
                                ec2_family_name(k->family), STR_ARG(sb_view(&b)))
                 : (str){0};
    sb_fini(&b);
    return text;
}

/* ---- what is wrong ---- */

struct member {
    str key;
    const struct tree *value;
};

/* By key; of what is not a map, none. */
static struct member *members_of(struct arena *a, const struct tree *t, uint32_t *ret_n)
{
    *ret_n = t && t->kind == TREE_MAP ? t->n : 0;
    struct member *v = arena_new_array(a, struct member, *ret_n);
    uint32_t *order = *ret_n ? tree_key_order(a, t) : NULL;

    for (uint32_t i = 0; i < *ret_n; i++)
        v[i] = (struct member){t->keys[order[i]], &t->items[order[i]]};
    return v;
}

PRINTF(2, 3) static void problem(struct sb *b, const char *fmt, ...)
{
    char text[400];
    va_list ap;

    va_start(ap, fmt);
    (void)vsnprintf(text, sizeof(text), fmt, ap);
    va_end(ap);
    if (b->n)
        sb_c(b, "; ");
    sb_c(b, text);
}

static bool one_of(str s, const char *const *words, size_t n)
{
    for (size_t i = 0; i < n; i++)
        if (str_is(s, words[i]))
            return true;
    return false;
}

/* "10%" or a quantity, neither negative. */
static bool is_threshold(str s)
{
    struct err e;
    double percent;
    int64_t v;
    bool binary;

    if (str_ends(s, STR("%")))
        return str_to_double(str_sub(s, 0, s.n - 1), &percent) && percent >= 0 && percent <= 100;
    return quantity_parse(s, SYM(MEMORY), &v, &binary, &e) && v >= 0;
}

static void check_eviction(struct sb *b, struct arena *a, const struct tree *raw, const char *field, bool grace)
{
    static const char *const signals[] = {"memory.available",  "nodefs.available",   "nodefs.inodesFree",
                                          "imagefs.available", "imagefs.inodesFree", "pid.available"};
    struct err e;
    int64_t ns;
    uint32_t n;
    struct member *v = members_of(a, tree_get(raw, field), &n);

    for (uint32_t i = 0; i < n; i++) {
        str key = v[i].key, text = tree_str(v[i].value);

        if (!one_of(key, signals, ARRAY_LEN(signals)))
            problem(b, "spec.kubelet.%s[" STR_FMT "]: is not a signal of eviction", field, STR_ARG(key));
        if (v[i].value->kind != TREE_STRING)
            continue;
        if (grace && !(duration_parse(text, &ns, &e) && ns >= 0))
            problem(b, "spec.kubelet.%s[" STR_FMT "]: \"" STR_FMT "\" is not a duration such as 1m30s", field,
                    STR_ARG(key), STR_ARG(text));
        if (!grace && !is_threshold(text))
            problem(b, "spec.kubelet.%s[" STR_FMT "]: \"" STR_FMT "\" is neither 0%% to 100%% nor a quantity", field,
                    STR_ARG(key), STR_ARG(text));
    }
}

static void check_pairs(struct sb *b, struct arena *a, const struct tree *raw, const char *field, const char *other)
{
    uint32_t n;
    struct member *v = members_of(a, tree_get(raw, field), &n);
    const struct tree *there = tree_get(raw, other);

    if (there && there->kind != TREE_MAP)
        return;
    for (uint32_t i = 0; i < n; i++)
        if (!tree_get_str(there, v[i].key))
            problem(b, "spec.kubelet.%s[" STR_FMT "]: has no matching %s", field, STR_ARG(v[i].key), other);
}

static void check_reserved(struct sb *b, struct arena *a, const struct tree *raw, const char *field)
{
    static const char *const resources[] = {"cpu", "memory", "ephemeral-storage", "pid"};
    uint32_t n;
    struct member *v = members_of(a, tree_get(raw, field), &n);

    for (uint32_t i = 0; i < n; i++) {
        if (!one_of(v[i].key, resources, ARRAY_LEN(resources)))
            problem(b, "spec.kubelet.%s[" STR_FMT "]: only cpu, memory, ephemeral-storage and pid can be reserved",
                    field, STR_ARG(v[i].key));
        if (str_starts(tree_str(v[i].value), STR("-")))
            problem(b, "spec.kubelet.%s[" STR_FMT "]: must not be negative, is \"" STR_FMT "\"", field,
                    STR_ARG(v[i].key), STR_ARG(tree_str(v[i].value)));
    }
}

/* False: it is not there, or of another type. */
static bool whole_number(const struct tree *raw, const char *field, int64_t *ret)
{
    const struct tree *t = tree_get(raw, field);

    return t && t->kind == TREE_NUMBER && str_to_i64(t->text, ret) && *ret >= INT32_MIN && *ret <= INT32_MAX;
}

static void check_range(struct sb *b, const struct tree *raw, const char *field, int64_t max)
{
    int64_t v;

    if (!whole_number(raw, field, &v))
        return;
    if (v < 0)
        problem(b, "spec.kubelet.%s: must not be negative, is %lld", field, (long long)v);
    else if (v > max)
        problem(b, "spec.kubelet.%s: must not be more than %lld, is %lld", field, (long long)max, (long long)v);
}

static void check_meaning(struct sb *b, struct arena *a, const struct tree *raw)
{
    int64_t high, low;

    if (tree_get(raw, "registerWithTaints"))
        problem(b, "spec.kubelet.registerWithTaints: is set by Karpenter; use the taints of the NodePool");
    check_eviction(b, a, raw, "evictionHard", /* grace= */ false);
    check_eviction(b, a, raw, "evictionMinimumReclaim", /* grace= */ false);
    check_eviction(b, a, raw, "evictionSoft", /* grace= */ false);
    check_eviction(b, a, raw, "evictionSoftGracePeriod", /* grace= */ true);
    check_pairs(b, a, raw, "evictionSoft", "evictionSoftGracePeriod");
    check_pairs(b, a, raw, "evictionSoftGracePeriod", "evictionSoft");
    check_reserved(b, a, raw, "kubeReserved");
    check_reserved(b, a, raw, "systemReserved");
    check_range(b, raw, "imageGCHighThresholdPercent", 100);
    check_range(b, raw, "imageGCLowThresholdPercent", 100);
    if (whole_number(raw, "imageGCHighThresholdPercent", &high) &&
        whole_number(raw, "imageGCLowThresholdPercent", &low) && high <= low)
        problem(b, "spec.kubelet.imageGCHighThresholdPercent: must be more than imageGCLowThresholdPercent");
    check_range(b, raw, "evictionMaxPodGracePeriod", INT64_MAX);
    check_range(b, raw, "maxPods", INT64_MAX);
    check_range(b, raw, "podsPerCore", INT64_MAX);
}

str ec2_kubelet_problems(struct arena *a, const struct ec2_class *k)
{
    const struct tree *raw = k->kubelet.raw;
    struct sb b = {0};

    if (!raw || raw->n == 0)
        return (str){0};
    ec2_kubelet_check_fields(&b, a, raw);
    check_meaning(&b, a, raw);
    if (b.n > MAX_PROBLEMS) {
        b.n = MAX_PROBLEMS;
        while (b.n && ((unsigned char)b.p[b.n] & 0xc0) == 0x80) /* a character is not cut in two */
            b.n--;
        sb_c(&b, " and more");
    }
    str text = sb_dup(&b, a);
    sb_fini(&b);
    return text;
}
