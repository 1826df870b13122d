/* services_int - what answers of services other than EC2 mean, for tests. Others see services.h. */
#pragma once

#include "aws/calls.h"
#include "aws/services.h"

extern const struct aws_listing iam_profiles_listing, pricing_listing;
extern const struct wire_shape eks_cluster_shape, sqs_messages_shape, zonal_shifts_shape;
