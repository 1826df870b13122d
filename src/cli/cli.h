/* cli - the subcommands. Each gets its own arguments (argv[0] is its name) and returns the exit status. */
#pragma once

#include "base/err.h"
#include "base/str.h"

struct arena;
struct catalog_source;
struct provider_source;
struct subcommand;
struct tree;

/* What the program was built with. */
struct cli_env {
    const struct catalog_source *catalogs; /* of cloud providers; the first is the default */
    uint32_t n_catalogs;
    const struct provider_source *providers; /* of machines */
    uint32_t n_providers;
    /* Zones, types and prices of EC2 in a region, put into an account of sim/aws. */
    bool (*ec2_of)(struct arena *a, str region, struct tree *account, struct err *e);
    const struct subcommand *hidden; /* commands for tests, in no help; the last one has no name; may be NULL */
};

struct subcommand {
    const char *name, *summary;
    int (*run)(const struct cli_env *env, int argc, char **argv);
};

const struct subcommand *cli_commands(uint32_t *ret_n);
int cli_main(const struct cli_env *env, int argc, char **argv);

int cli_controller(const struct cli_env *env, int argc, char **argv);
int cli_convert(const struct cli_env *env, int argc, char **argv);
int cli_demo(const struct cli_env *env, int argc, char **argv);
int cli_plan(const struct cli_env *env, int argc, char **argv);
int cli_simulate(const struct cli_env *env, int argc, char **argv);
int cli_termination_handler(const struct cli_env *env, int argc, char **argv);

/* NULL: there is none of this name; the error lists those there are. */
const struct provider_source *cli_provider(const struct cli_env *env, const char *name, struct err *e);

/* Prints "karpenter: …" on standard error; returns 1, the status for bad calls and bad input. */
PRINTF(1, 2) int cli_fail(const char *fmt, ...);
/* What getopt_long() has refused, in words: `answer` is '?' or ':'. Its option string begins with a colon. */
bool cli_bad_option(const char *command, int answer, char **argv, struct err *e);
