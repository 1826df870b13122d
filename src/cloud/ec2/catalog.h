/* ec2/catalog - EC2's instance types from built-in figures: planning for AWS without an AWS account.
 *
 * What a node class with Karpenter's defaults would see: AL2023, a 20 GiB root volume, subnets in every zone. The
 * figures are those of catalog_data.inc; docs/catalogues.md tells where they come from and what is estimated.
 */
#pragma once

#include "base/err.h"
#include "model/itype.h"

#define EC2_DEFAULT_REGION "us-east-1"

/* An empty region is the default one. Unknown regions: NULL, and an error that names those there are.
 * The result lives in `a`; offerings of one zone and capacity type share their requirements. */
struct catalog *ec2_catalog(struct arena *a, struct syms *t, str region, struct err *e);

/* The same figures as EC2 would tell them, in `a`; ret_zone_ids[i] is the id of zone i. */
struct ec2_universe;
bool ec2_catalog_universe(struct arena *a, str region, struct ec2_universe *ret, const str **ret_zone_ids,
                          struct err *e);

/* The regions there are figures for: how many, and the name of number i, in byte order. */
uint32_t ec2_regions(void);
str ec2_region_name(uint32_t i);
