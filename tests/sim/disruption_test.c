/* Nodes that are not worth keeping, in a whole cluster: what is decided is carried out, what cannot be is put back. */
#include <stdio.h>

#include "support/check.h"
#include "support/fleet.h"

#define NOBODY "" /* of pools: whatever their default is */

static const char *const compat[] = {"LOG_LEVEL", "debug", "CONSOLIDATION", "compat", "DISABLE_LEADER_ELECTION", "true",
                                     "FEATURE_GATES", "StaticCapacity=true", NULL};
static const char *const thorough[] = {"LOG_LEVEL", "debug", "DISABLE_LEADER_ELECTION", "true", NULL};

static void pool(struct rig *r, const char *disruption, const char *more)
{
    AUTO(arena) struct arena *a = arena_new(0);

    fleet_class(r);
    lab_apply(r->l, arena_printf(a,
                                 "apiVersion: karpenter.sh/v1\nkind: NodePool\nmetadata: {name: default}\nspec:\n"
                                 "  disruption: {%s}\n"
                                 "  %s\n"
                                 "  template: {spec: {expireAfter: Never,\n"
                                 "    nodeClassRef: {group: karpenter.kwok.sh, kind: KWOKNodeClass, name: default}, requirements: [\n"
                                 "    {key: kubernetes.io/os, operator: In, values: [linux]},\n"
                                 "    {key: kubernetes.io/arch, operator: In, values: [amd64]},\n"
                                 "    {key: karpenter.sh/capacity-type, operator: In, values: [on-demand]},\n"
                                 "    {key: karpenter.kwok.sh/instance-size, operator: Lt, values: ['32']}]}}\n%c",
                                 disruption, more, 0)
                        .p);
}

static void deploy(struct rig *r, const char *name, uint32_t replicas, const char *cpu)
{
    AUTO(arena) struct arena *a = arena_new(0);

    lab_apply(r->l, arena_printf(a,
                                 "apiVersion: apps/v1\nkind: Deployment\nmetadata: {name: %s}\nspec:\n"
                                 "  replicas: %u\n  selector: {matchLabels: {app: %s}}\n"
                                 "  template:\n    metadata: {labels: {app: %s}}\n    spec:\n      terminationGracePeriodSeconds: 0\n"
                                 "      containers: [{name: app, image: app, resources: {requests: {cpu: '%s', memory: 256Mi}}}]\n%c",
                                 name, replicas, name, name, cpu, 0)
                        .p);
}

struct wish {
    uint32_t pods, nodes;
};

static bool has_come(struct rig *r, const void *arg)
{
    const struct wish *w = arg;
    struct fleet f;

    fleet_look(r, &f);
    return f.n_running == w->pods && f.n_pods == w->pods && f.n_nodes == w->nodes && f.n_claims == w->nodes &&
           f.n_ready == w->nodes && f.n_leaving == 0;
}

static void wait_for(struct rig *r, double seconds, uint32_t pods, uint32_t nodes)
{
    struct wish w = {pods, nodes};

    if (!rig_until(r, seconds, has_come, &w))
        fail_msg("%u pods on %u nodes are not there at %.1f s:\n" STR_FMT "\n" STR_FMT, pods, nodes, rig_now(r),
                 STR_ARG(lab_pods(r->l, "")), STR_ARG(sb_view(&r->logs[0])));
}

static void empty_node(void **state UNUSED)
{
    struct rig *r = rig_new(1, thorough, NULL);

    pool(r, "consolidationPolicy: WhenEmpty, consolidateAfter: 5s", "");
    rig_start(r, 0);
    deploy(r, "empties", 1, "1");
    wait_for(r, 30, 1, 1);
    lab_run(r->l, 12);
    lab_patch(r->l, "deployments", "empties", "{spec: {replicas: 0}}");
    wait_for(r, 60, 0, 0);
    fprintf(stderr, "%.1f\n" STR_FMT, rig_now(r), STR_ARG(sb_view(&r->logs[0])));
    rig_free(r);
}

static void replaced_node(void **state UNUSED)
{
    struct rig *r = rig_new(1, compat, NULL);

    pool(r, "consolidationPolicy: WhenEmptyOrUnderutilized, consolidateAfter: 0s", "");
    rig_start(r, 0);
    deploy(r, "large", 1, "6");
    deploy(r, "stays", 1, "500m");
    wait_for(r, 30, 2, 1);
    lab_delete(r->l, "deployments", "large");
    lab_run(r->l, 20);
    wait_for(r, 60, 1, 1);
    fprintf(stderr, "%.1f\n" STR_FMT, rig_now(r), STR_ARG(sb_view(&r->logs[0])));
    rig_free(r);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(empty_node),
        cmocka_unit_test(replaced_node),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
