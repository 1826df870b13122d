/* An EC2NodeClass as JSON: refused with a sentence, or good for all that is asked of one, twice the same. */
#include "cloud/ec2/class.h"
#include "cloud/ec2/kubelet_expr.h"
#include "cloud/ec2/userdata.h"
#include "data/reader.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void check_expressions(struct arena *a, const struct ec2_kubelet *q)
{
    const struct ec2_expr_vars v = {2, 8192, 3, 10, 29, STR("m5.large")};
    struct err e = {0};
    str dropped;
    int64_t pods;

    struct ec2_kvs m = ec2_kvs_resolve(a, &q->kube_reserved, &v, /* gate= */ true, &dropped);
    assert(m.n <= q->kube_reserved.n && (dropped.n != 0) == (m.n < q->kube_reserved.n));
    if (q->max_pods_is_expr && ec2_expr_eval(a, q->max_pods_expr, &v, &pods, &e))
        assert(e.kind == ERR_NONE);
}

static void check_class(struct arena *a, const struct ec2_class *k, const struct ec2_class *again)
{
    struct ec2_boot b = {.cluster = STR("c"), .endpoint = STR("https://e"), .cidr = STR("10.0.0.0/16"), .max_pods = 10};
    struct err e = {0};
    str x = {0}, y = {0};

    assert(ec2_class_hash(k, STR("ca")) == ec2_class_hash(again, STR("ca")));
    assert(ec2_class_hash_v5(k, STR("ca")) == ec2_class_hash_v5(again, STR("ca")));
    assert(str_eq(ec2_kubelet_problems(a, k), ec2_kubelet_problems(a, again)));
    assert(str_eq(ec2_kubelet_unsupported(a, k), ec2_kubelet_unsupported(a, again)));
    assert(str_eq(ec2_tags_problem(a, k, STR("c")), ec2_tags_problem(a, again, STR("c"))));
    assert(ec2_bottlerocket_version(k).n == ec2_bottlerocket_version(again).n);
    check_expressions(a, &k->kubelet);
    bool ok = ec2_user_data(a, k, &b, &x, &e);
    assert(ok == ec2_user_data(a, again, &b, &y, &e) && str_eq(x, y));
    assert(ok || (e.kind == ERR_INVALID && e.msg[0]));
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    AUTO(arena) struct arena *a = arena_new(0);
    AUTO(syms) struct syms *t = syms_new();
    const struct tree *object;
    struct err e = {0};

    if (!tree_parse_json(a, "fuzz", (str){(const char *)data, size}, &object, &e))
        return 0;
    const struct ec2_class *k = ec2_class_decode(a, t, object, STR("c"), &e);
    if (!k) {
        assert(e.kind == ERR_INVALID && e.msg[0]);
        return 0;
    }
    check_class(a, k, ec2_class_decode(a, t, object, STR("c"), &e));
    return 0;
}
