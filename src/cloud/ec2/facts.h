/* facts - what EC2 does not tell of its instance types, or only to those who may ask: compiled in (aws A.4).
 *
 * Addresses and branch interfaces are those of the VPC resource controller, bandwidths those of EC2's documentation, prices those of a day. A type that came
 * later is in none of them: it schedules all the same, without what only these tables know (aws 12, 25).
 */
#pragma once

#include "base/str.h"

#define EC2_FACT_REGIONS 4 /* with prices of their own; the others start from those of the first */

struct ec2_fact {
    const char *type;
    uint16_t ipv4;                  /* addresses per interface; 0: unknown */
    uint16_t branches;              /* branch interfaces: pods with a security group of their own; 0: none */
    uint32_t network_mbps;          /* 0: unknown */
    double price[EC2_FACT_REGIONS]; /* on demand by the hour, in the currency of the partition; 0: unknown */
};

uint32_t ec2_facts(const struct ec2_fact **ret); /* all of them, by name */
const struct ec2_fact *ec2_fact_of(str type);    /* NULL: nothing is known */
uint32_t ec2_fact_region(str region);            /* which of the prices are the region's */
const char *ec2_fact_region_name(uint32_t i);
const char *ec2_fact_prices_of(void); /* the day of the first region's prices: "2026-07-06" */
