#include "app/aws_vectors.h"

const struct subcommand aws_vector_commands[] = {
    {"aws-hash", "drift hashes of EC2NodeClasses", aws_hash},
    {0},
};
