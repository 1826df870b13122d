#include "cloud/ec2/labels.h"

static const str names[EC2_N_LABELS] = {
#define X(name, text) STR_INIT(text),
    EC2_LABELS(X)
#undef X
};

static const str domains[] = {STR_INIT("karpenter.k8s.aws")};

str ec2_label_name(enum ec2_label l)
{
    return names[l];
}

sym ec2_label_key(struct syms *t, enum ec2_label l)
{
    return sym_of(t, names[l]);
}

struct label_rules ec2_label_rules(struct arena *a, struct syms *t)
{
    struct label_rules r = {
        .restricted_domains = domains,
        .n_restricted_domains = ARRAY_LEN(domains),
        .reservation_id = SYM(AWS_RESERVATION_ID),
    };
    struct label_values *tenancy = arena_new_one(a, struct label_values);
    sym own[EC2_N_LABELS], *tenancies = arena_new_array(a, sym, 2);

    tenancies[0] = SYM(DEFAULT);
    tenancies[1] = sym_of(t, STR("dedicated"));
    *tenancy = (struct label_values){ec2_label_key(t, EC2_L_TENANCY), tenancies, 2, "default, dedicated"};
    r.values = tenancy;
    r.n_values = 1;
    for (uint32_t i = 0; i < EC2_N_LABELS; i++)
        own[i] = ec2_label_key(t, i);
    label_rules_well_known(a, &r, own, EC2_N_LABELS);
    return r;
}
