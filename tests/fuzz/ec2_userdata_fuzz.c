/* A class's own user data, behind a byte that says the family: it is refused with a sentence or merged, twice the same. What was merged for Bottlerocket
 * is TOML that merges to itself; for the Amazon families it has no carriage return and ends as a message does. */
#include "cloud/ec2/userdata.h"
#include "data/toml.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static const struct ec2_kv labels[] = {{STR_INIT("karpenter.sh/nodepool"), STR_INIT("np")}};
static const struct taint_text taints[] = {{STR_INIT("foo"), STR_INIT("bar"), STR_INIT("NoExecute")}};

static bool render(struct arena *a, struct ec2_class *k, str own, str *ret, struct err *e)
{
    const struct ec2_boot b = {.cluster = STR("c"),
                               .endpoint = STR("https://e"),
                               .ca_bundle = STR("Y2E="),
                               .cidr = STR("10.0.0.0/16"),
                               .labels = labels,
                               .n_labels = 1,
                               .taints = taints,
                               .n_taints = 1,
                               .max_pods = 10};

    k->user_data = own;
    k->has_user_data = true;
    return ec2_user_data(a, k, &b, ret, e);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    AUTO(arena) struct arena *a = arena_new(0);
    struct ec2_class k = {.kubelet = {.max_pods = -1,
                                      .pods_per_core = -1,
                                      .eviction_max_grace = -1,
                                      .image_gc_high = -1,
                                      .image_gc_low = -1,
                                      .cpu_cfs_quota = -1}};
    struct err e = {0};
    str got = {0}, again = {0};

    if (size == 0)
        return 0;
    k.family = (enum ec2_family)(data[0] % (EC2_WINDOWS2025 + 1));
    str own = {(const char *)data + 1, size - 1};
    bool ok = render(a, &k, own, &got, &e);
    assert(ok == render(a, &k, own, &again, &e) && str_eq(got, again));
    if (!ok) {
        assert(e.kind == ERR_INVALID && e.msg[0]);
        return 0;
    }
    if (k.family == EC2_BOTTLEROCKET && got.n <= TOML_MAX_TEXT) {
        assert(render(a, &k, got, &again, &e) && str_eq(got, again));
    } else if (k.family == EC2_AL2 || k.family == EC2_AL2023) {
        assert(str_ends(got, STR("\n--//--\n")) && !memchr(got.p, '\r', got.n));
    }
    return 0;
}
