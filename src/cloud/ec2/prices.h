/* prices - what machines cost by the hour: on demand by type, spot by type and zone (aws 5.9).
 *
 * Begins with the prices that are compiled in (facts.h); spot is then what on-demand costs, in every zone. Once spot prices were set, a type has one only where
 * there is a record of it.
 */
#pragma once

#include "aws/services.h"

struct ec2_prices;

struct ec2_prices *ec2_prices_new(str region); /* with the built-in prices */
void ec2_prices_free(struct ec2_prices *p);
AUTO_DEFINE(ec2_prices)

/* NAN: there is none. */
double ec2_price_on_demand(const struct ec2_prices *p, str type);
double ec2_price_spot(const struct ec2_prices *p, str type, str zone);

/* Merged over what is there; of several records for the same, the last one counts. Records without a price above zero are left out, and spot prices without a
 * time. false: that was all of them, and nothing has changed. */
bool ec2_prices_set_on_demand(struct ec2_prices *p, const struct aws_price *v, uint32_t n);
bool ec2_prices_set_spot(struct ec2_prices *p, const struct ec2_spot_price *v, uint32_t n);
uint64_t ec2_prices_version(const struct ec2_prices *p); /* rises when a price has changed */

/* For those who ask about many zones of a type: its number, for the two below. UINT32_MAX: it has no price at all. */
uint32_t ec2_prices_type(const struct ec2_prices *p, str type);
uint32_t ec2_prices_zone(const struct ec2_prices *p, str zone); /* UINT32_MAX: no spot price is for this zone alone */
double ec2_price_on_demand_at(const struct ec2_prices *p, uint32_t type);
double ec2_price_spot_at(const struct ec2_prices *p, uint32_t type, uint32_t zone);
