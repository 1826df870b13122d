#include "app/aws_vectors.h"

const struct subcommand aws_vector_commands[] = {
    {"aws-hash", "drift hashes of EC2NodeClasses", aws_hash},
    {"aws-instance-types", "the instance types that an EC2NodeClass sees", aws_instance_types},
    {"aws-launch", "what EC2NodeClasses and NodeClaims make the provider ask of AWS", aws_launch},
    {0},
};
