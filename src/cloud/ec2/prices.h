/* prices - what machines cost by the hour: on demand by type, spot by type and zone (aws 5.9). */
#pragma once

#include "aws/services.h"

struct ec2_prices;

struct ec2_prices *ec2_prices_new(str region); /* with the built-in prices */
void ec2_prices_free(struct ec2_prices *p);
AUTO_DEFINE(ec2_prices)

/* NAN: there is none. */
double ec2_price_on_demand(const struct ec2_prices *p, str type);
double ec2_price_spot(const struct ec2_prices *p, str type, str zone);

/* Merged over what is there. */
void ec2_prices_set_on_demand(struct ec2_prices *p, const struct aws_price *v, uint32_t n);
void ec2_prices_set_spot(struct ec2_prices *p, const struct ec2_spot_price *v, uint32_t n);
uint64_t ec2_prices_version(const struct ec2_prices *p); /* rises when a price has changed */
