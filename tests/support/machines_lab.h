/* machines_lab - the controllers of machines (control/aws) in a simulated cluster, with an account and its queue, and a provider that only notes what it is told.
 *
 * For cmocka_unit_test_setup_teardown(test, machines_lab_setup, machines_lab_teardown). The cluster is called c1, so is the queue.
 */
#pragma once

#include "base/sb.h"
#include "control/aws/machines_int.h"
#include "sim/aws/aws.h"
#include "support/far.h"

#define MACHINES_LAB_MAX 4

/* What stands in for the provider. */
struct ec2 {
    struct sb told; /* a line for each thing that it heard */
    struct ec2_instance v[MACHINES_LAB_MAX];
    uint32_t n;
    struct world *world;
    bool shifted;
    const struct catalog *catalog;
};

struct machines_lab {
    struct far *far;
    struct sim_aws *account;
    struct aws_config *config;
    struct aws *aws;
    struct ec2 p;
    struct cloud cloud;
    struct options options;
    struct control c;
    struct metrics *registry;
    struct aws_machines *s;
    struct sb log;
};

int machines_lab_setup(void **state);
int machines_lab_teardown(void **state);
/* queue: its name, "": none. members: of the account (support/aws_account.h). */
struct machines_lab *machines_lab_new(const char *queue, const char *members);
void machines_lab_free(struct machines_lab *l);

/* A claim and its Node, on a machine. more_labels: ", key: value". */
void machines_lab_claim(struct machines_lab *l, const char *name, const char *id, const char *more_labels);
bool machines_lab_deleting(struct machines_lab *l, const char *claim);
/* Into the queue. */
void machines_lab_send(struct machines_lab *l, const char *body);
void machines_lab_tell(struct machines_lab *l, const char *source, const char *type, const char *detail);
double machines_lab_deleted_messages(const struct machines_lab *l);
str machines_lab_launch(struct machines_lab *l); /* a machine in the account: its id */
