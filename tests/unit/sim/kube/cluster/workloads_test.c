/* Workloads in a whole cluster, in virtual time: what their controllers make of them, and what they say about it. */
#include <stdio.h>

#include "support/check.h"
#include "support/lab.h"

#define CONTAINERS "containers: [{name: c, image: nginx}]"
#define WEB(replicas)                                                                                                  \
    "apiVersion: apps/v1\nkind: Deployment\nmetadata: {name: web}\n"                                                   \
    "spec: {replicas: " replicas ", selector: {matchLabels: {app: web}}, "                                             \
    "template: {metadata: {labels: {app: web}}, spec: {" CONTAINERS "}}}"

static void a_deployment_rolls_out(void **state)
{
    struct lab *l = *state;

    lab_nodes(l, 3);
    lab_apply(l, WEB("3"));
    lab_run(l, 5);
    check_str("all", lab_get(l, "deployments", "web", "status.availableReplicas"), "3");
    printf("%.*s\n", STR_ARG(lab_pods(l, "")));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(a_deployment_rolls_out, lab_setup, lab_teardown),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
