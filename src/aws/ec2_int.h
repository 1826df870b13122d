/* ec2_int - what the files of EC2's calls share, and their two halves: what a request says and what an answer means. Others see ec2.h. */
#pragma once

#include "aws/calls.h"
#include "aws/ec2.h"
#include "aws/query.h"

/* Listings of EC2's: in pages, with the same words for tokens everywhere; or whole. */
/* clang-format off */
#define EC2_LISTING(name, where, s) {.service = AWS_EC2, .action = (name), .path = (where), .token = "nextToken", .token_as = "NextToken", .shape = (s)}
#define EC2_WHOLE(name, where, s) {.service = AWS_EC2, .action = (name), .path = (where), .shape = (s)}
/* clang-format on */

#define EC2_DRY_RUN_OK "DryRunOperation" /* how EC2 says that it would have done it */

/* ---- parts of requests ---- */

void ec2_put_filters(struct query *q, uint32_t first, const struct ec2_filter *f, uint32_t n); /* Filter.first, … */
void ec2_put_tag_list(struct query *q, const struct ec2_tag *tags, uint32_t n);                /* Tag.N */
void ec2_put_tags(struct query *q, const struct ec2_tags *tags, uint32_t n);                   /* TagSpecification.N */
void ec2_put_interfaces(struct query *q, const struct ec2_interface *v, uint32_t n);
/* A UUID that makes a request which is sent again the same request. */
str ec2_token(struct arena *a, struct world *w);

/* ---- ec2_types.c ---- */

extern const struct aws_listing ec2_types_listing, ec2_type_zones_listing, ec2_spot_prices_listing;
void ec2_types_encode(struct sb *out);
void ec2_type_zones_encode(struct sb *out);
void ec2_spot_prices_encode(struct sb *out, int64_t now_ms);

/* ---- ec2_found.c ---- */

extern const struct aws_listing ec2_subnets_listing, ec2_groups_listing, ec2_images_listing;
extern const struct aws_listing ec2_reservations_listing, ec2_placement_groups_listing;
void ec2_subnets_encode(struct sb *out, const struct ec2_filter *f, uint32_t n); /* of security groups too */
void ec2_images_encode(struct sb *out, const struct ec2_filter *f, uint32_t n, const str *owners, uint32_t n_owners);
void ec2_reservations_encode(struct sb *out, str id, const struct ec2_filter *f, uint32_t n);
void ec2_placement_groups_encode(struct sb *out, str id, str name);

/* ---- ec2_template.c ---- */

extern const struct aws_listing ec2_templates_listing;
extern const struct wire_shape ec2_created_template_shape;
void ec2_templates_encode(struct sb *out, str name, const struct ec2_filter *f, uint32_t n); /* by name or by filters */

/* ---- ec2_fleet.c ---- */

extern const struct wire_shape ec2_fleet_shape;
void ec2_run_encode(struct sb *out, str token, const struct ec2_run *r);

/* ---- ec2_instances.c ---- */

extern const struct aws_listing ec2_instances_listing, ec2_status_listing, ec2_terminate_listing;
void ec2_instances_encode(struct sb *out, const str *ids, uint32_t n_ids, const struct ec2_filter *f, uint32_t n_f);
