/* claim_lab - the controllers of NodeClaims and NodePools with a fake cloud, and a simulated cluster at the far end (far.h).
 *
 * For cmocka_unit_test_setup_teardown(test, claim_lab_setup, claim_lab_teardown); *state is the lab. The manager runs, and the node class `default` is there.
 */
#pragma once

#include "control/claims.h"
#include "control/metrics.h"
#include "support/fakecloud.h"
#include "support/far.h"

struct claim_lab {
    struct far *far;
    struct arena *a;         /* of the test */
    struct fakecloud *cloud; /* of kwok's types */
    struct metrics *registry;
    struct arena *catalog;
    struct options options;
    struct control c;
    struct claims *claims;
    struct sb log;
};

int claim_lab_setup(void **state);
int claim_lab_teardown(void **state);
/* The process dies and another one takes over, which knows what the API server and the cloud know. */
void claim_lab_restart(struct claim_lab *l);

/* The Node of the claim's machine joins, under the claim's name; its kubelet says that it is ready a second later. */
void claim_lab_join(struct claim_lab *l, const char *claim);
str claim_lab_cond(struct claim_lab *l, const char *claim, const char *type); /* of a NodeClaim: "True Launched" */
/* Log lines with this message, each as its fields less those that every line has, with the level first. */
str claim_lab_log(struct claim_lab *l, const char *message);
