/* Which nodes are candidates, what keeps the others and what would clear it, and in which order they are looked at
 * (lifecycle 8.3 to 8.5; checklist 14.7). */
#include "disrupt/candidate.h"

#include <math.h>

#include "base/sb.h"
#include "support/check.h"
#include "support/scenario.h"

/* What is said of node n1: "candidate", or text and fix. */
static str said(const struct candidates *c, enum disrupt_method m, struct sb *out)
{
    struct blocker b = candidate_blocker(c, 0, m);

    sb_reset(out);
    check_true(disrupt_method_name(m), (b.kind == BLOCK_NONE) == (candidate_obstacle(c, 0, m) == BLOCK_NONE));
    if (b.kind == BLOCK_NONE) {
        sb_c(out, "candidate");
        return sb_view(out);
    }
    sb_str(out, b.text);
    if (b.object.n)
        sb_printf(out, " [" STR_FMT "]", STR_ARG(b.object));
    if (b.fix.n)
        sb_printf(out, " -> " STR_FMT, STR_ARG(b.fix));
    return sb_view(out);
}

struct verdict {
    const char *name, *text;
    enum disrupt_method method;
    const char *want;
};

static void check_verdicts(const struct verdict *v, size_t n)
{
    struct sb b = {0};

    for (size_t i = 0; i < n; i++) {
        struct candidates c;
        struct scene s;

        scene_open(&s, v[i].text);
        candidates_init(&c, s.a, s.snap);
        check_str(v[i].name, said(&c, v[i].method, &b), v[i].want);
        candidates_fini(&c);
        scene_close(&s);
    }
    sb_fini(&b);
}

#define POOL "pool default after=30s\n"
#define PLACE " label=zone=z1,ct=spot"
#define NODE "node n1 cpu=4 mem=4Gi" PLACE
#define POD "\npod p node=n1 label=app=web"
#define DRIFTED " drifted=11:00:00"
#define BUDGET "\npdb b sel=app=web max=0 allowed=0"

#define POD_KEEPS                                                                                                      \
    "Pod has \"karpenter.sh/do-not-disrupt\" annotation (Pod=default/p) [Pod default/p] -> "                           \
    "remove the annotation from Pod default/p"
#define PDB_KEEPS                                                                                                      \
    "Pdb prevents pod evictions (PodDisruptionBudget=[default/b]) [PodDisruptionBudget default/b] -> "                 \
    "let PodDisruptionBudget default/b allow a disruption (it wants 1 of 1 pods available)"

/* ---- construction -------------------------------------------------------------------------------------------------- */

static const struct verdict constructions[] = {
    {"CA-12 Node only", POOL "node n1 unmanaged" POD, METHOD_SINGLE, "Node isn't managed by karpenter"},
    {"CA-12 NodeClaim only", POOL "node n1 inflight", METHOD_SINGLE,
     "Nodeclaim does not have an associated node -> wait until the node has joined the cluster"},
    {"CA-12 uninitialized", POOL NODE " registered" POD, METHOD_SINGLE,
     "Node isn't initialized -> wait until the node is initialized"},
    {"CA-12 deleting", POOL NODE " deleting" POD, METHOD_SINGLE, "Node is deleting or marked for deletion"},
    {"CA-12 its instance is going", POOL NODE " terminating" POD, METHOD_SINGLE,
     "Node is deleting or marked for deletion"},
    {"CA-11 do-not-disrupt on the node", POOL NODE " note=dnd=true" POD, METHOD_SINGLE,
     "Disruption is blocked through the \"karpenter.sh/do-not-disrupt\" annotation [Node n1] -> "
     "remove the annotation from Node n1"},
    {"EM-3 another value does not keep it", POOL NODE " note=dnd=false" POD, METHOD_SINGLE, "candidate"},
    {"a duration is not looked at on nodes", POOL NODE " note=dnd=5h" POD, METHOD_SINGLE, "candidate"},
    {"CA-12 no nodepool label", POOL NODE " nopool" POD, METHOD_SINGLE,
     "Node doesn't have required label (label=karpenter.sh/nodepool) [Node n1] -> "
     "add the label karpenter.sh/nodepool to Node n1"},
    {"CA-12 unknown NodePool", POOL NODE " pool=gone" POD, METHOD_SINGLE,
     "NodePool not found (NodePool=gone) [NodePool gone] -> create NodePool gone, or delete the node"},
    {"a NodePool without instance types", "catalog none\n" POOL NODE POD, METHOD_SINGLE,
     "NodePool not found (NodePool=default) [NodePool default] -> give the NodePool instance types"},
    {"the node's annotation before the pool", POOL NODE " pool=gone note=dnd=true", METHOD_SINGLE,
     "Disruption is blocked through the \"karpenter.sh/do-not-disrupt\" annotation [Node n1] -> "
     "remove the annotation from Node n1"},

    {"CA-8 do-not-disrupt on a pod", POOL NODE POD " note=dnd=true", METHOD_SINGLE, POD_KEEPS},
    {"CA-8 on a mirror pod", POOL NODE POD " note=dnd=true owner=v1/Node/n1", METHOD_EMPTINESS, POD_KEEPS},
    {"CA-8 on a daemon's pod", POOL NODE POD " note=dnd=true owner=apps/v1/DaemonSet/d", METHOD_EMPTINESS, POD_KEEPS},
    {"CA-10 on a terminating pod", POOL NODE POD " note=dnd=true deleting", METHOD_EMPTINESS, "candidate"},
    {"CA-10 on a finished pod", POOL NODE POD " note=dnd=true phase=Failed", METHOD_EMPTINESS, "candidate"},
    {"DF-4 for a while", POOL NODE POD " note=dnd=15m start=11:57:30", METHOD_SINGLE,
     "Pod has \"karpenter.sh/do-not-disrupt\" annotation (Pod=default/p) [Pod default/p] -> "
     "wait 12m30s: the do-not-disrupt of Pod default/p ends then"},
    {"DF-4 for hours", POOL NODE POD " note=dnd=3h start=11:00:00", METHOD_SINGLE,
     "Pod has \"karpenter.sh/do-not-disrupt\" annotation (Pod=default/p) [Pod default/p] -> "
     "wait 2h: the do-not-disrupt of Pod default/p ends then"},
    {"CL-10 no longer", POOL NODE POD " note=dnd=2m start=11:57:30", METHOD_SINGLE, "candidate"},
    {"CL-10 not a duration", POOL NODE POD " note=dnd=soon start=11:57:30", METHOD_SINGLE, "candidate"},

    {"CA-11 a budget that is used up", POOL NODE POD BUDGET, METHOD_SINGLE, PDB_KEEPS},
    {"CA-11 a daemon's pod counts", POOL NODE POD " owner=apps/v1/DaemonSet/d" BUDGET, METHOD_EMPTINESS, PDB_KEEPS},
    {"CA-11 a mirror pod does not", POOL NODE POD " owner=v1/Node/n1" BUDGET, METHOD_EMPTINESS, "candidate"},
    {"CA-11 a finished one does not", POOL NODE POD " phase=Succeeded" BUDGET, METHOD_EMPTINESS, "candidate"},
    {"CA-11 a terminating one does not", POOL NODE POD " deleting" BUDGET, METHOD_EMPTINESS, "candidate"},
    {"CA-11 several budgets on a pod", POOL NODE POD "\npdb z sel=app=web allowed=1\npdb b sel=app=web allowed=1",
     METHOD_SINGLE,
     "Eviction does not support multiple PDBs (PodDisruptionBudget(s)=[default/b default/z]) [Pod default/p] -> "
     "leave Pod default/p to one PodDisruptionBudget"},
    {"CL-8 a budget of another namespace", POOL NODE POD "\npdb b ns=x sel=app=web max=0 allowed=0", METHOD_SINGLE,
     "candidate"},
    {"CL-8 an unhealthy pod that may go", POOL NODE POD " notready" BUDGET " policy=AlwaysAllow", METHOD_SINGLE,
     "candidate"},
    {"a budget that waits for a pod", POOL NODE POD "\npod q x2 label=app=web\npdb b sel=app=web min=2 allowed=0",
     METHOD_SINGLE,
     "Pdb prevents pod evictions (PodDisruptionBudget=[default/b]) [PodDisruptionBudget default/b] -> "
     "wait for pods of PodDisruptionBudget default/b to become ready (1 of 3 are, it wants 2)"},
    {"a budget whose status lags", POOL NODE POD "\npdb b sel=app=web max=1 allowed=0", METHOD_SINGLE,
     "Pdb prevents pod evictions (PodDisruptionBudget=[default/b]) [PodDisruptionBudget default/b] -> "
     "wait until PodDisruptionBudget default/b allows a disruption"},
    {"a budget without status", POOL NODE POD "\npdb b sel=app=web min=1", METHOD_SINGLE, PDB_KEEPS},
    {"annotations before budgets", POOL NODE "\npod a node=n1 label=app=web" POD " note=dnd=true" BUDGET, METHOD_SINGLE,
     POD_KEEPS},

    {"CA-9 drift with a grace period: do-not-disrupt", POOL NODE DRIFTED " grace=1h" POD " note=dnd=true", METHOD_DRIFT,
     "candidate"},
    {"CA-9 drift with a grace period: a budget", POOL NODE DRIFTED " grace=1h" POD BUDGET, METHOD_DRIFT, "candidate"},
    {"CA-9 consolidation with one: do-not-disrupt", POOL NODE " grace=1h" POD " note=dnd=true", METHOD_SINGLE,
     POD_KEEPS},
    {"CA-9 consolidation with one: a budget", POOL NODE " grace=1h" POD BUDGET, METHOD_MULTI, PDB_KEEPS},
    {"CA-9 drift without one: do-not-disrupt", POOL NODE DRIFTED POD " note=dnd=true", METHOD_DRIFT, POD_KEEPS},
    {"CA-9 drift without one: a budget", POOL NODE DRIFTED POD BUDGET, METHOD_DRIFT, PDB_KEEPS},

    {"CA-13 no capacity type", POOL "node n1 label=zone=z1" DRIFTED POD, METHOD_DRIFT, "candidate"},
    {"CA-13 no zone", POOL "node n1 label=ct=spot" DRIFTED POD, METHOD_DRIFT, "candidate"},
    {"CA-13 no instance type", POOL "node n1 notype" PLACE DRIFTED POD, METHOD_DRIFT, "candidate"},
    {"CA-13 an unknown instance type", POOL "node n1 label=zone=z1,ct=spot,itype=old" DRIFTED POD, METHOD_DRIFT,
     "candidate"},
};

static void construction(void **state)
{
    (void)state;
    check_verdicts(constructions, ARRAY_LEN(constructions));
}

/* Nothing in the input says so. */
static void nominated(void **state)
{
    struct candidates c;
    struct sb b = {0};
    struct scene s;

    (void)state;
    scene_open(&s, POOL NODE POD);
    s.snap->nodes[0].nominated = true;
    candidates_init(&c, s.a, s.snap);
    check_str("CA-12 nominated", said(&c, METHOD_SINGLE, &b),
              "Node is nominated for a pending pod -> wait until the pod runs");
    candidates_fini(&c);
    scene_close(&s);
    sb_fini(&b);
}

/* ---- filters ------------------------------------------------------------------------------------------------------- */

static const struct verdict filtered[] = {
    {"EM-3 empty", POOL NODE, METHOD_EMPTINESS, "candidate"},
    {"EM-3 with a pod", POOL NODE POD, METHOD_EMPTINESS, "Node is not empty"},
    {"EM-3 not Consolidatable", POOL NODE " consolidatable=False", METHOD_EMPTINESS,
     "Node is not consolidatable [NodeClaim n1-claim] -> wait until the condition Consolidatable is True"},
    {"EM-3 inside the window", POOL NODE " unsettled lastpod=11:59:40", METHOD_EMPTINESS,
     "Node is not consolidatable [NodeClaim n1-claim] -> wait 10s: the consolidateAfter of NodePool default has passed "
     "then"},
    {"inside the window since it was initialized", "pool default after=20h\n" NODE " unsettled initialized=10:00:00",
     METHOD_EMPTINESS,
     "Node is not consolidatable [NodeClaim n1-claim] -> wait 18h: the consolidateAfter of NodePool default has passed "
     "then"},
    {"EM-5 only daemons", POOL NODE POD " owner=apps/v1/DaemonSet/d", METHOD_EMPTINESS, "candidate"},
    {"EM-5 a terminating pod", POOL NODE POD " deleting owner=apps/v1/ReplicaSet/r", METHOD_EMPTINESS, "candidate"},
    {"EM-5 a terminating pod of a StatefulSet", POOL NODE POD " deleting owner=apps/v1/StatefulSet/r", METHOD_EMPTINESS,
     "Node is not empty"},
    {"EM-7 static", "pool default replicas=1\n" NODE, METHOD_EMPTINESS,
     "NodePool \"default\" has replicas [NodePool default]"},
    {"Never", "pool default after=Never\n" NODE, METHOD_EMPTINESS,
     "NodePool \"default\" has consolidation disabled [NodePool default] -> "
     "set consolidateAfter of NodePool default to a duration"},
    {"policy WhenEmpty", "pool default policy=WhenEmpty\n" NODE, METHOD_EMPTINESS, "candidate"},
    {"quirk: pods that cost nothing are no pods", POOL NODE POD " note=cost=-134217728", METHOD_EMPTINESS, "candidate"},
    {"hazard: a cost that is no number is a pod", POOL NODE POD " note=cost=NaN", METHOD_EMPTINESS,
     "Node is not empty"},

    {"CL-1 nothing to say", POOL NODE POD, METHOD_MULTI, "candidate"},
    {"CL-1 empty: emptiness has it", POOL NODE, METHOD_SINGLE, "Node is empty"},
    {"CL-1 policy WhenEmpty", "pool default policy=WhenEmpty\n" NODE POD, METHOD_SINGLE,
     "NodePool \"default\" has consolidation policy WhenEmpty, but node is not empty [NodePool default] -> "
     "set consolidationPolicy of NodePool default to WhenEmptyOrUnderutilized"},
    {"CL-1 Never", "pool default after=Never\n" NODE POD, METHOD_MULTI,
     "NodePool \"default\" has consolidation disabled [NodePool default] -> "
     "set consolidateAfter of NodePool default to a duration"},
    {"CL-1 unknown instance type", POOL "node n1 label=zone=z1,ct=spot,itype=old" POD, METHOD_SINGLE,
     "Instance Type \"old\" not found [Node n1] -> delete the node: its instance type is no longer known"},
    {"CL-1 no instance type", POOL "node n1 notype" PLACE POD, METHOD_SINGLE,
     "Instance Type \"\" not found [Node n1] -> delete the node: its instance type is no longer known"},
    {"CL-1 no capacity type", POOL "node n1 label=zone=z1" POD, METHOD_SINGLE,
     "Node does not have label \"karpenter.sh/capacity-type\" [Node n1] -> "
     "add the label karpenter.sh/capacity-type to Node n1"},
    {"CL-1 no zone", POOL "node n1 label=ct=spot" POD, METHOD_MULTI,
     "Node does not have label \"topology.kubernetes.io/zone\" [Node n1] -> "
     "add the label topology.kubernetes.io/zone to Node n1"},
    {"CL-22 static", "pool default replicas=1\n" NODE POD, METHOD_MULTI,
     "NodePool \"default\" has replicas [NodePool default]"},
    {"the type before the capacity type", POOL "node n1 label=itype=old" POD, METHOD_SINGLE,
     "Instance Type \"old\" not found [Node n1] -> delete the node: its instance type is no longer known"},
    {"not Consolidatable", POOL NODE " unsettled" POD, METHOD_SINGLE,
     "Node is not consolidatable [NodeClaim n1-claim] -> wait until the condition Consolidatable is True"},
    {"BA-12 Balanced", "pool default policy=Balanced\n" NODE POD, METHOD_SINGLE, "candidate"},
    {"BA-12 WhenEmptyOrUnderutilized", "pool default policy=WhenEmptyOrUnderutilized\n" NODE POD, METHOD_SINGLE,
     "candidate"},

    {"DF-2 drifted", POOL NODE DRIFTED POD, METHOD_DRIFT, "candidate"},
    {"DF-2 no condition", POOL NODE POD, METHOD_DRIFT, "Node is not drifted"},
    {"DF-2 the condition is False", POOL NODE " drifted=False" POD, METHOD_DRIFT, "Node is not drifted"},
    {"DF-5 drift asks for no consolidation", "pool default after=Never policy=WhenEmpty\n" NODE " unsettled" DRIFTED,
     METHOD_DRIFT, "candidate"},
    {"DF-6 static", "pool default replicas=1\n" NODE DRIFTED, METHOD_DRIFT,
     "NodePool \"default\" has replicas [NodePool default]"},
};

static void filters(void **state)
{
    (void)state;
    check_verdicts(filtered, ARRAY_LEN(filtered));
}

/* ---- costs --------------------------------------------------------------------------------------------------------- */

#define TYPES "type big offer='spot z1 4.84 gone|spot z2 9|on-demand z1 11'\n"
#define BIG " label=zone=z1,ct=spot,itype=big"

static const struct {
    const char *name, *text;
    double price, reschedule, disruption;
    uint32_t n_pods;
    bool spot, empty;
} costs[] = {
    {"BA-9 no pods; price whether on offer or not", TYPES POOL "node n1" BIG, 4.84, 1, 0, 0, true, true},
    {"BA-9 three pods", TYPES POOL "node n1" BIG "\npod p x3 node=n1", 4.84, 4, 3, 3, true, false},
    {"another zone", TYPES POOL "node n1 label=zone=z2,ct=spot,itype=big", 9, 1, 0, 0, true, true},
    {"on-demand", TYPES POOL "node n1 label=zone=z1,ct=on-demand,itype=big", 11, 1, 0, 0, false, true},
    {"no such offering", TYPES POOL "node n1 label=zone=z3,ct=spot,itype=big", 0, 1, 0, 0, true, true},
    {"BA-9 no such type", TYPES POOL "node n1 label=zone=z1,ct=spot,itype=old", 0, 1, 0, 0, true, true},
    {"daemons are not moved, but evicted", TYPES POOL "node n1" BIG "\npod p x2 node=n1 owner=apps/v1/DaemonSet/d",
     4.84, 1, 2, 0, true, true},
    {"negative costs are no gain", TYPES POOL "node n1" BIG "\npod p node=n1 note=cost=-268435456\npod q node=n1", 4.84,
     2, 0, 2, true, false},
    {"priority", TYPES POOL "node n1" BIG "\npod p node=n1 prio=33554432", 4.84, 3, 2, 1, true, false},
    {"half of its life is over", TYPES POOL "node n1 created=00:00:00 expire=24h" BIG "\npod p x4 node=n1", 4.84, 5, 2,
     4, true, false},
    {"all of its life is over", TYPES POOL "node n1 created=00:00:00 expire=1h" BIG "\npod p x4 node=n1", 4.84, 5, 0, 4,
     true, false},
    {"it lives for ever", TYPES POOL "node n1 created=00:00:00 expire=Never" BIG "\npod p x4 node=n1", 4.84, 5, 4, 4,
     true, false},
};

static void cost_of_nodes(void **state)
{
    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(costs); i++) {
        const char *name = costs[i].name;
        struct candidates c;
        struct scene s;

        scene_open(&s, costs[i].text);
        candidates_init(&c, s.a, s.snap);
        check_double(name, c.all[0].price, costs[i].price);
        check_double(name, c.all[0].reschedule_cost, costs[i].reschedule);
        check_double(name, c.all[0].savings_ratio, costs[i].price / costs[i].reschedule);
        check_double(name, c.all[0].disruption_cost, costs[i].disruption);
        check_u64(name, c.all[0].n_pods, costs[i].n_pods);
        check_true(name, c.all[0].spot == costs[i].spot && c.all[0].empty == costs[i].empty);
        candidates_fini(&c);
        scene_close(&s);
    }
}

static void movable_pods(void **state)
{
    struct candidates c;
    struct sb b = {0};
    struct scene s;

    (void)state;
    scene_open(&s, POOL NODE
               "\npod plain node=n1\npod daemon node=n1 owner=apps/v1/DaemonSet/d\npod kept node=n1 note=dnd=true\n"
               "pod never node=n1 label=app=web\npdb web sel=app=web max=0 allowed=0\n"
               "pod later node=n1 label=app=db\npdb db sel=app=db max=1 allowed=0\npod waits");
    candidates_init(&c, s.a, s.snap);
    for (uint32_t i = 0; i < s.snap->n_pods; i++)
        if (bit_test(c.movable, i))
            sb_printf(&b, STR_FMT " ", STR_ARG(s.snap->pods[i].name));
    check_str("DF-3 those that would get a new place", sb_view(&b), "plain later ");
    candidates_fini(&c);
    scene_close(&s);
    sb_fini(&b);
}

/* ---- order --------------------------------------------------------------------------------------------------------- */

#define AT(name, price_ct) "\nnode " name " label=zone=z1,ct=" price_ct ",itype=big"

static const struct {
    const char *name, *text;
    enum disrupt_method method;
    const char *want;
} orders[] = {
    {"CL-16 fewest pods at equal price",
     TYPES POOL AT("n1", "spot") AT("n2", "spot")
         AT("n3", "spot") "\npod a x3 node=n1\npod b node=n2\npod c x2 node=n3",
     METHOD_SINGLE, "n2 n3 n1"},
    {"CL-23 the best ratio of price and pods first",
     TYPES POOL AT("n1", "spot") AT("n2", "on-demand") AT("n3", "on-demand") "\npod a node=n1\npod b x9 node=n2\n"
                                                                             "pod c node=n3",
     METHOD_SINGLE, "n3 n1 n2"},
    {"BA-12 whatever the policy",
     TYPES "pool default policy=Balanced\npool other" AT("n1", "spot")
         AT("n2", "on-demand") " pool=other" AT("n3", "on-demand") "\npod a node=n1\npod b node=n2\npod c x9 node=n3",
     METHOD_MULTI, "n2 n1 n3"},
    {"empty nodes by price", TYPES POOL AT("n1", "spot") AT("n2", "on-demand"), METHOD_EMPTINESS, "n2 n1"},
    {"ties: the lower disruption cost",
     TYPES POOL AT("n1", "spot") AT("n2", "spot") "\npod d node=n1 owner=apps/v1/DaemonSet/d", METHOD_EMPTINESS,
     "n2 n1"},
    {"ties: the younger", TYPES POOL AT("n1", "spot") " created=08:00:00" AT("n2", "spot") " created=09:00:00",
     METHOD_EMPTINESS, "n2 n1"},
    {"ties: the name", TYPES POOL AT("n2", "spot") AT("n1", "spot") AT("n3", "spot"), METHOD_EMPTINESS, "n1 n2 n3"},
    {"hazard: a cost that is no number comes last",
     TYPES POOL AT("n1", "on-demand") AT("n2", "spot") "\npod a node=n1 note=cost=NaN\npod b x9 node=n2", METHOD_SINGLE,
     "n2 n1"},
    {"DF-5 oldest drift first",
     TYPES POOL AT("n1", "spot") " drifted=11:00:00" AT("n2", "spot") " drifted=09:00:00" AT(
         "n3", "spot") " drifted=10:00:00\npod a node=n1\npod b node=n2\npod c node=n3",
     METHOD_DRIFT, "n2 n3 n1"},
    {"DF-5 empty before non-empty",
     TYPES POOL AT("n1", "spot") " drifted=11:00:00" AT("n2", "spot") " drifted=09:00:00" AT(
         "n3", "spot") " drifted=10:00:00\npod b node=n2",
     METHOD_DRIFT, "n3 n1 n2"},
    {"a pod that costs nothing is still a pod to drift",
     TYPES POOL AT("n1", "spot") " drifted=09:00:00" AT("n2", "spot") " drifted=10:00:00\npod b node=n1 "
                                                                      "note=cost=-134217728",
     METHOD_DRIFT, "n2 n1"},
    {"only candidates", TYPES POOL AT("n1", "spot") " note=dnd=true" AT("n2", "spot"), METHOD_EMPTINESS, "n2"},
};

static void order(void **state)
{
    struct sb b = {0};

    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(orders); i++) {
        struct candidates c;
        struct scene s;
        uint32_t n;

        scene_open(&s, orders[i].text);
        candidates_init(&c, s.a, s.snap);
        struct candidate **v = candidates_of(&c, s.a, orders[i].method, &n);
        sb_reset(&b);
        for (uint32_t k = 0; k < n; k++)
            sb_printf(&b, "%s" STR_FMT, k ? " " : "", STR_ARG(s.snap->nodes[v[k]->node].name));
        check_str(orders[i].name, sb_view(&b), orders[i].want);
        candidates_fini(&c);
        scene_close(&s);
    }
    sb_fini(&b);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(construction),  cmocka_unit_test(nominated),    cmocka_unit_test(filters),
        cmocka_unit_test(cost_of_nodes), cmocka_unit_test(movable_pods), cmocka_unit_test(order),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
