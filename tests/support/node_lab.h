/* node_lab - the controllers of Nodes beside those of claims (claim_lab.h): nodes that come up, have pods, and go away.
 *
 * For cmocka_unit_test_setup_teardown(test, node_lab_setup, node_lab_teardown); *state is the lab.
 */
#pragma once

#include "control/metrics_objects.h"
#include "control/nodes.h"
#include "control/status_metrics.h"
#include "support/claim_lab.h"

struct node_lab {
    struct claim_lab *l;
    struct far *f;
    struct nodes *nodes;
    struct status_watch *status;
    struct object_metrics *objects;
    struct podbook *book; /* of a provisioner that is not there: tests write it */
};

int node_lab_setup(void **state); /* with the gate NodeRepair, and kwok's policies */
int node_lab_teardown(void **state);

/* A claim and its Node of the same name, ready and registered, in NodePool `default`. spec: more of the claim's, as YAML; may be empty. */
void node_lab_up(struct node_lab *x, const char *name, const char *spec);
/* meta, spec: more of each, as YAML; may be empty. */
void node_lab_pod(struct node_lab *x, const char *name, const char *node, const char *meta, const char *spec);

/* What was written since the last time, one line each: "PATCH nodeclaims/c/status locked Launched=True/Launched …", or the body with <rv> and <uid> for what
 * differs from run to run. */
str node_lab_writes(struct node_lab *x);
/* What the lines of the log with this message say besides, one line each. */
str node_lab_told(struct node_lab *x, const char *message);
