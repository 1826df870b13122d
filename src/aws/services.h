/* services - the calls that are made of services other than EC2: few and small each (aws 3.2).
 *
 * Results live in the arena. ERR_NOT_FOUND wherever AWS says that the thing is not there.
 */
#pragma once

#include "aws/ec2.h"

/* ---- IAM ---- */

struct iam_profile {
    str name, path;
    str role; /* name; empty: none is attached */
};

bool iam_get_profile(struct aws *c, struct arena *a, str name, struct iam_profile *ret, struct err *e);
/* ERR_CONFLICT: there is one. */
bool iam_create_profile(struct aws *c, struct arena *a, str name, str path, const struct ec2_tag *tags, uint32_t n,
                        struct err *e);
bool iam_add_role(struct aws *c, struct arena *a, str profile, str role, struct aws_answer *f, struct err *e);
bool iam_remove_role(struct aws *c, struct arena *a, str profile, str role, struct err *e);
bool iam_delete_profile(struct aws *c, struct arena *a, str name, struct err *e);
/* All below the path: what AWS returns besides is left out. */
bool iam_list_profiles(struct aws *c, struct arena *a, str path_prefix, struct iam_profile **ret, uint32_t *ret_n,
                       struct err *e);

/* ---- SSM ---- */

bool ssm_get_parameter(struct aws *c, struct arena *a, str name, str *ret, struct err *e);

/* ---- EKS ---- */

struct eks_cluster {
    str name, arn, endpoint, version, ca_data, service_ipv4, service_ipv6;
};

bool eks_describe_cluster(struct aws *c, struct arena *a, str name, struct eks_cluster *ret, struct aws_answer *f,
                          struct err *e);

/* ---- SQS ---- */

struct sqs_message {
    str body, receipt;
    int64_t sent_ms; /* INT64_MIN: not said */
};

bool sqs_queue_url(struct aws *c, struct arena *a, str name, str *ret, struct err *e);
/* Up to ten; waits up to 20 s for the first. */
bool sqs_receive(struct aws *c, struct arena *a, str url, struct sqs_message **ret, uint32_t *ret_n, struct err *e);
bool sqs_delete(struct aws *c, struct arena *a, str url, str receipt, struct err *e);

/* ---- Pricing ---- */

struct aws_price {
    str type;
    double per_hour; /* in the currency of the partition */
};

/* On demand, Linux; metal: those of bare metal, which AWS lists as dedicated. */
bool pricing_on_demand(struct aws *c, struct arena *a, bool metal, struct aws_price **ret, uint32_t *ret_n,
                       struct err *e);

/* ---- ARC zonal shift ---- */

struct zonal_shift {
    str zone_id; /* awayFrom */
    int64_t expires_ms;
    bool applied;
};

bool zonal_shifts(struct aws *c, struct arena *a, str resource_arn, struct zonal_shift **ret, uint32_t *ret_n,
                  struct err *e);
