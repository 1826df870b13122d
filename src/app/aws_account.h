/* aws_account - an AWS account out of a file, served inside the program, and a session that calls it: what the commands of aws_vectors.h work on, and tests.
 *
 * The form of the file is that of tests/vectors/aws/world.json. Calls go through everything that calls to AWS go through, but for the network.
 */
#pragma once

#include "aws/aws.h"
#include "sim/aws/aws.h"
#include "sim/world.h"

struct aws_account {
    struct arena *a;
    struct tree *doc; /* the file */
    struct sim *sim;
    struct world *near, *far;
    struct sim_aws *server;
    struct aws_config *config;
    struct aws *aws;
    str region;
    int64_t now_ms; /* when it was opened, by its own clock */
};

struct aws_account_options {
    const char *path;
    const char *members; /* JSON: members that take the place of those of the file; NULL: none */
    str cluster;         /* what its cluster is called; empty: as the file says */
    bool exact;          /* what a launch names has to be there, and is counted (struct sim_aws_options) */
    bool once;           /* no call is repeated: an error that the file orders for it is its answer */
    /* Told of every call that was answered; may be NULL. */
    void (*on_call)(void *ctx, const struct sim_aws_call *c);
    void *ctx;
};

bool aws_account_open(struct aws_account *x, const struct aws_account_options *o, struct err *e);
/* Whatever is under way in the account's world unwinds, and nothing begins any more. */
void aws_account_stop(struct aws_account *x);
void aws_account_fini(struct aws_account *x); /* also of one that could not be opened */
/* Runs a fiber in the account's world to its end. false: it waits for something that never comes. */
bool aws_account_run(struct aws_account *x, void (*fn)(void *arg), void *arg);
