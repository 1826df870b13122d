/* selectors - what a class' selector terms ask EC2 for (aws 2.3), and what becomes of the answers in its status (aws 2.6). Pure: who asks is elsewhere.
 *
 * A selector is a few queries; what any of them finds is meant. Answers of all of them go into one list, in any order and with repetitions.
 */
#pragma once

#include "cloud/ec2/class.h"

struct ec2_query {
    str id; /* reservations: this one; empty: by filters */
    const struct ec2_filter *filters;
    uint32_t n_filters; /* 0: all there are */
    const str *owners;  /* images */
    uint32_t n_owners;
};

uint32_t ec2_subnet_queries(struct arena *a, const struct ec2_class *k, struct ec2_query **ret);
uint32_t ec2_group_queries(struct arena *a, const struct ec2_class *k, struct ec2_query **ret);
uint32_t ec2_reservation_queries(struct arena *a, const struct ec2_class *k, struct ec2_query **ret);
/* ids: of the images that parameters of SSM named, those of an alias or of terms. */
uint32_t ec2_image_queries(struct arena *a, const struct ec2_class *k, const str *ids, uint32_t n_ids,
                           struct ec2_query **ret);

#define EC2_BLOCK_EXPIRES_MS                                                                                           \
    (40 * 60 * 1000) /* EC2 begins to stop a capacity block's machines so long before its end */

uint32_t ec2_subnets_found(struct arena *a, const struct ec2_subnet *v, uint32_t n, struct ec2_class_subnet **ret);
uint32_t ec2_groups_found(struct arena *a, const struct ec2_group *v, uint32_t n, struct ec2_group **ret);
/* Without those that are over, or of a kind that nobody knows. */
uint32_t ec2_reservations_found(struct arena *a, const struct ec2_reservation *v, uint32_t n, int64_t now_ms,
                                struct ec2_class_reservation **ret);
