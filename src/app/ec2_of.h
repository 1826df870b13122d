/* ec2_of - the built-in figures of EC2 (cloud/ec2/catalog.h) as an account of sim/aws has them. */
#pragma once

#include "base/err.h"
#include "base/str.h"

struct arena;
struct tree;

/* Adds zones, instanceTypes, instanceTypeOfferings, onDemandPrices and spotPrices of a region to the map. Spot prices are estimated: between a quarter and a half of the others,
 * another one in every zone. */
bool ec2_of(struct arena *a, str region, struct tree *account, struct err *e);
