#include <stdio.h>

#include "support/check.h"
#include "support/claim_lab.h"
#include "support/trees.h"

static void x(void **state)
{
    struct claim_lab *l = *state;
    far_apply(l->far, "{apiVersion: karpenter.sh/v1, kind: NodePool, metadata: {name: default}, spec: {disruption: {consolidationPolicy: WhenEmpty, consolidateAfter: Never}, template: {spec: {expireAfter: Never, nodeClassRef: {group: karpenter.kwok.sh, kind: KWOKNodeClass, name: default}, requirements: []}}}}");
    far_run(l->far, 3);
    printf("%.*s\n", STR_ARG(far_writes(l->far)));
    printf("%.*s\n", STR_ARG(sb_view(&l->log)));
}
int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test_setup_teardown(x, claim_lab_setup, claim_lab_teardown)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
