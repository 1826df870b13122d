/* aws_vectors - the commands that answer the records of the AWS provider under tests/vectors/aws.
 *
 * They run parts of the provider on files and print JSON. No help lists them. A command has a file of its own beside this one.
 */
#pragma once

#include "cli/cli.h"

extern const struct subcommand aws_vector_commands[]; /* the last one has no name */

int aws_hash(const struct cli_env *env, int argc, char **argv);           /* -f FILE … --ca-bundle TEXT */
int aws_launch(const struct cli_env *env, int argc, char **argv);         /* --world FILE -f FILE --settings K=V … */
int aws_instance_types(const struct cli_env *env, int argc, char **argv); /* --world FILE -f FILE --settings K=V … */
