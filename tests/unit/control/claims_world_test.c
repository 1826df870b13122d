/* The controllers of NodeClaims and NodePools on an embedded API server, with a fake cloud (lifecycle 3 to 5, checklists 14.3 to 14.5, golden trace 16.1). */
#include <stdio.h>

#include "support/check.h"
#include "support/claim_lab.h"
#include "support/trees.h"

int main(void)
{
    const struct CMUnitTest tests[] = {{0}};
    (void)tests;
    struct claim_lab *l = claim_lab_new();
    claim_lab_start(l);
    printf("%d\n", claim_lab_do(l, "POST", "kwoknodeclasses", "{apiVersion: karpenter.kwok.sh/v1alpha1, kind: KWOKNodeClass, metadata: {name: default}}"));
    printf("%d\n", claim_lab_do(l, "POST", "nodepools", "{apiVersion: karpenter.sh/v1, kind: NodePool, metadata: {name: default}, spec: {disruption: {consolidationPolicy: WhenEmpty, consolidateAfter: Never}, template: {spec: {expireAfter: Never, nodeClassRef: {group: karpenter.kwok.sh, kind: KWOKNodeClass, name: default}, requirements: []}}}}"));
    claim_lab_run(l, 3);
    for (uint32_t i = 0; i < l->writes.n; i++)
        printf("%s %.*s %.*s\n", l->writes.v[i].method, STR_ARG(l->writes.v[i].path), STR_ARG(tree_text(l->a, l->writes.v[i].body)));
    printf("%.*s\n", STR_ARG(sb_view(&l->log)));
    claim_lab_free(l);
}
