/* Which nodes are not worth their price, as Karpenter decides it: lifecycle 14.9, line by line. */
#include "machines.h"
#include "support/scenario.h"

#define SINGLE "method single\n" TYPES
#define MULTI "method multi\n" TYPES
#define ALL "method all\n" TYPES

#define ANY_POOL "pool default budget=100%\n"

/* Ten nodes that could all go: there is room for their pods elsewhere. */
#define TEN SMALL("n x10") "\npod p x10 node=n-# cpu=1\n"

static const struct scenario budgets[] = {
    {"CL-3: three of ten", MULTI "pool default budget=30%\n" ROOM TEN, "commands=1 by=multi removed=3"},
    {"CL-3: all", MULTI POOL ROOM TEN, "commands=1 removed=10 moves=10 saves=1.0000"},
    {"CL-3: none", MULTI "pool default budget=0\n" ROOM TEN, "commands=0 why.n-0=budget why.n-9=budget"},
    {"CL-3: two of each pool",
     MULTI "pool default budget=2\npool other budget=2\n" ROOM SMALL("a x3") "\n" SMALL(
         "b x3") " pool=other\npod p x3 node=a-# cpu=1\npod q x3 node=b-# cpu=1",
     "commands=1 deletes=a-0,a-1,b-0,b-1"},
    {"CL-3: one of them is not multi-node consolidation", MULTI "pool default budget=1\n" ROOM TEN, "commands=0"},
    {"CL-3: ... but single-node consolidation", ALL "pool default budget=1\n" ROOM TEN,
     "commands=1 by=single removed=1"},
    {"CL-3: single: none", SINGLE "pool default budget=0\n" ROOM TEN, "commands=0 why.n-0=budget"},
    {"CL-3: single: one at a time, whatever the budget", SINGLE "pool default budget=3\n" ROOM TEN,
     "commands=1 deletes=n-0 why.n-1=later"},
    {"CL-3: single: a pool without budget is passed over",
     SINGLE "pool default budget=0\npool other budget=1\n" ROOM SMALL("a") "\n" SMALL(
         "b") " pool=other\npod p node=a cpu=1\npod q node=b cpu=1",
     "deletes=b why.a=budget"},
    {"CL-3: budgets for other reasons do not count", MULTI "pool default budget='0 reasons=Empty,Drifted'\n" ROOM TEN,
     "removed=10"},
};

static const struct scenario replacing[] = {
    {"9.1 quirk: a pod whose volume cannot be looked up goes where its anti-affinity would not let it",
     SINGLE POOL SMALL("m") "\n" BIG("n") "\npv v csi=d unclaimed\npvc c pv=v\npod p node=m cpu=0.1 label=app=x\n"
                                          "pod q node=n cpu=0.1 label=app=x pvc=c anti='host app=x'",
     "deletes=n moves=1"},
    {"CL-5: on-demand", SINGLE POOL BIG("n") "\npod p node=n cpu=1",
     "replaces=n>small saves=0.3000 moves=1 offers=small,medium req.ct=In:on-demand"},
    {"CL-5: the smallest that holds its pods", SINGLE POOL BIG("n") "\npod p x3 node=n cpu=1",
     "replaces=n>medium offers=medium saves=0.2000"},
    {"CL-5: nothing is cheaper", SINGLE POOL SMALL("n") "\npod p node=n cpu=1",
     "commands=0 why.n=notCheaper text.n=Can't_replace_with_a_cheaper_node"},
    {"CL-5: an unknown price is not beaten",
     SINGLE POOL "node n cpu=8 mem=32Gi label=itype=big,ct=on-demand,zone=z3\npod p node=n cpu=1",
     "commands=0 why.n=notCheaper"},
    {"CL-5: but such a node can be deleted",
     SINGLE POOL ROOM "node n cpu=8 mem=32Gi label=itype=big,ct=spot,zone=z1\npod p node=n cpu=1",
     "deletes=n saves=0.0000"},
    {"CL-8: a pool without types beside it",
     SINGLE POOL "pool other req='itype In nope'\n" BIG("n") "\npod p node=n cpu=1", "replaces=n>small pools=default"},
    {"CL-8: a disruption budget of the pods",
     SINGLE POOL BIG("n") "\npod p node=n cpu=1 label=app=web\npdb b sel=app=web max=0 allowed=0",
     "commands=0 why.n=pdb"},
    {"CL-8: the next node then",
     SINGLE POOL BIG("a") "\n" BIG(
         "b") "\npod p node=a cpu=7 label=app=web\npod q node=b cpu=1.5\npdb b sel=app=web max=0 allowed=0",
     "replaces=b>small why.a=pdb"},
    {"CL-8: of another namespace",
     SINGLE POOL BIG("n") "\npod p node=n cpu=1 label=app=web\npdb b ns=x sel=app=web max=0 allowed=0",
     "replaces=n>small"},
    {"CL-8: an unhealthy pod that may always go",
     SINGLE POOL BIG(
         "n") "\npod p node=n cpu=1 label=app=web notready\npdb b sel=app=web max=0 allowed=0 policy=AlwaysAllow",
     "replaces=n>small"},
    {"CL-8: do-not-disrupt on the node", SINGLE POOL BIG("n") " note=dnd=true\npod p node=n cpu=1",
     "commands=0 why.n=nodeAnnotation"},
    {"CL-8: do-not-disrupt on a pod", SINGLE POOL BIG("n") "\npod p node=n cpu=1 note=dnd=true",
     "commands=0 why.n=podAnnotation"},
    {"CL-9: an on-demand replacement that is dearer",
     "type a cpu=8 mem=32Gi offer='on-demand z1 0.4'\ntype b cpu=4 mem=16Gi offer='on-demand z1 0.5'\nmethod single\n" POOL
     "node n cpu=8 mem=32Gi label=itype=a,ct=on-demand,zone=z1\npod p node=n cpu=1",
     "commands=0 why.n=notCheaper"},
    {"CL-9: some zone's spot price is above the node's",
     "type a cpu=8 mem=32Gi offer='on-demand z1 0.4'\ntype b cpu=4 mem=16Gi offer='spot z1 0.1|spot z2 0.41'\n"
     "method single\n" ANY_POOL "node n cpu=8 mem=32Gi label=itype=a,ct=on-demand,zone=z1\npod p node=n cpu=1",
     "commands=0 why.n=notCheaper"},
    {"CL-9: every zone's is below",
     "type a cpu=8 mem=32Gi offer='on-demand z1 0.4'\n"
     "type b cpu=4 mem=16Gi offer='spot z1 0.1|spot z2 0.39|on-demand z1 0.3'\nmethod single\n" ANY_POOL
     "node n cpu=8 mem=32Gi label=itype=a,ct=on-demand,zone=z1\npod p node=n cpu=1",
     "replaces=n>b req.ct=In:spot saves=0.3000"},
    {"quirk: spot is asked for where both are allowed, though nobody offers it",
     SINGLE ANY_POOL BIG("n") "\npod p node=n cpu=3", "replaces=n>medium req.ct=In:spot saves=0.4000"},
    {"CL-9: a zone that is sold out does not count",
     "type a cpu=8 mem=32Gi offer='on-demand z1 0.4'\ntype b cpu=4 mem=16Gi offer='spot z1 0.1|spot z2 0.41 gone'\n"
     "method single\n" ANY_POOL "node n cpu=8 mem=32Gi label=itype=a,ct=on-demand,zone=z1\npod p node=n cpu=1",
     "replaces=n>b"},
    {"8.10: two new nodes are one too many",
     SINGLE "pool default budget=100% req='itype In small'\n" BIG("n") "\npod p x2 node=n cpu=1.5",
     "commands=0 why.n=severalReplacements text.n=Can't_remove_without_creating_2_candidates"},
    {"CL-22: static pools", SINGLE "pool default replicas=1 budget=100%\npool other\n" BIG("n") "\npod p node=n cpu=1",
     "commands=0 why.n=staticCapacity"},
};

static const struct scenario deleting[] = {
    {"CL-10: its pods fit elsewhere", SINGLE POOL ROOM SMALL("n") "\npod p node=n cpu=1",
     "deletes=n saves=0.1000 moves=1"},
    {"CL-10: on another of our nodes",
     SINGLE POOL SMALL("a") "\n" SMALL("b") "\npod p x2 node=a cpu=0.5\npod q node=b cpu=0.5", "deletes=b"},
    {"CL-10: on a node of a pool that makes none",
     SINGLE POOL
     "pool other ready=False\n" SMALL("a") " pool=other\n" SMALL("b") "\npod p node=a cpu=0.5\npod q node=b cpu=0.5",
     "candidates=a,b commands=1 deletes=b"},
    {"CL-10: a disruption budget of the pods",
     SINGLE POOL ROOM SMALL("n") "\npod p node=n cpu=1 label=app=web\npdb b sel=app=web max=0 allowed=0",
     "commands=0 why.n=pdb"},
    {"CL-10: a grace period does not help: do-not-disrupt",
     SINGLE POOL ROOM SMALL("n") " grace=1h\npod p node=n cpu=1 note=dnd=true", "commands=0 why.n=podAnnotation"},
    {"CL-10: a grace period does not help: a budget",
     SINGLE POOL ROOM SMALL("n") " grace=1h\npod p node=n cpu=1 label=app=web\npdb b sel=app=web max=0 allowed=0",
     "commands=0 why.n=pdb"},
    {"CL-10: do-not-disrupt on the node", SINGLE POOL ROOM SMALL("n") " note=dnd=true\npod p node=n cpu=1",
     "commands=0 why.n=nodeAnnotation"},
    {"CL-10: for a while", SINGLE POOL ROOM SMALL("n") "\npod p node=n cpu=1 note=dnd=5m start=11:58:00",
     "commands=0 why.n=podAnnotation"},
    {"CL-10: no longer", SINGLE POOL ROOM SMALL("n") "\npod p node=n cpu=1 note=dnd=1m start=11:58:00", "deletes=n"},
    {"CL-10: not a duration", SINGLE POOL ROOM SMALL("n") "\npod p node=n cpu=1 note=dnd=soon start=11:58:00",
     "deletes=n"},
    {"CL-10: pods that nobody owns", SINGLE POOL ROOM SMALL("n") "\npod p node=n cpu=1", "deletes=n"},
    {"CL-11: not onto a node that is not initialized",
     SINGLE POOL SMALL("n") "\n" SMALL("new") " registered\npod p node=n cpu=1",
     "commands=0 why.n=podsWithoutPlace text.n=Not_all_pods_would_schedule,_default/p_=>_would_schedule_against_"
     "uninitialized_nodeclaim/new-claim,_node/new_"},
    {"CL-12: not onto a node inside its window",
     SINGLE "pool default after=1h budget=100%\n" SMALL("n") "\n" SMALL(
         "new") " unsettled lastpod=11:59:00\npod p node=n cpu=1",
     "commands=0 why.n=notCheaper"},
    {"CL-12: after it",
     SINGLE "pool default after=1h budget=100%\n" SMALL("n") "\n" SMALL(
         "new") " unsettled lastpod=10:59:00\npod p node=n cpu=1",
     "deletes=n"},
    {"CL-12: onto one whose pool never consolidates",
     SINGLE POOL "pool other after=Never\n" SMALL("n") "\n" SMALL(
         "new") " pool=other unsettled lastpod=11:59:00\npod p node=n cpu=1",
     "deletes=n"},
    {"CL-12: a replacement does not need one",
     SINGLE
     "pool default after=1h budget=100%\n" BIG("n") "\n" SMALL("new") " unsettled lastpod=11:59:00\npod p node=n cpu=1",
     "replaces=n>small"},
    {"CL-13: initialized nodes are preferred",
     SINGLE POOL SMALL("n") "\n" SMALL("aaa") " registered\n" SMALL(
         "old") "\npod p node=n cpu=1\npod q node=old cpu=0.5 note=dnd=true",
     "deletes=n"},
    {"CL-13: a pod that waits for ever does not matter",
     SINGLE POOL ROOM SMALL("n") "\npod p node=n cpu=1\npod q sel=foo=bar", "deletes=n"},
    {"CL-13: a pod that would have to wait does", SINGLE POOL SMALL("n") "\npod p node=n cpu=1 sel=foo=bar",
     "commands=0 why.n=podsWithoutPlace"},
    {"CL-13: a pool that is not ready beside it",
     SINGLE POOL "pool other ready=False\n" ROOM SMALL("n") "\npod p node=n cpu=1", "deletes=n"},
    {"CL-17: anti-affinity",
     SINGLE POOL SMALL("a") "\n" SMALL("b") "\npod p node=a cpu=0.1 label=app=web anti='host app=web'\n"
                                            "pod q node=b cpu=0.1 label=app=web anti='host app=web'",
     "commands=0 why.a=notCheaper why.b=notCheaper"},
    {"CL-20: preferences are respected",
     SINGLE POOL SMALL("n") "\n" SMALL(
         "other") "\npod p node=n cpu=0.1 want='1 zone In z2'\npod q node=other cpu=1 note=dnd=true",
     "commands=0 why.n=notCheaper"},
    {"CL-20: or ignored",
     SINGLE "set PREFERENCE_POLICY=Ignore\n" POOL SMALL("n") "\n" SMALL(
         "other") "\npod p node=n cpu=0.1 want='1 zone In z2'\npod q node=other cpu=1 note=dnd=true",
     "deletes=n"},
    {"CL-20: ignored in a replacement",
     SINGLE "set PREFERENCE_POLICY=Ignore\n" POOL BIG("n") "\npod p node=n cpu=0.1 want='1 itype In big'",
     "replaces=n>small"},
    {"CL-20: respected in a replacement", SINGLE POOL BIG("n") "\npod p node=n cpu=0.1 want='1 itype In big'",
     "commands=0 why.n=notCheaper"},
};

static const struct scenario pending[] = {
    {"EM-4: a pod that waits for the node keeps it", ALL POOL BIG("n") "\npod p node=n cpu=0.1\npod huge cpu=7.5",
     "commands=0 why.n=notCheaper"},
    {"CL-18: a pod that waits goes to the replacement", SINGLE POOL BIG("n") "\npod p node=n cpu=1\npod q cpu=0.5",
     "replaces=n>small where=p,q"},
    {"8.9: pods of nodes that are going are counted in",
     SINGLE POOL BIG("n") "\n" BIG("gone") " deleting\npod p node=n cpu=1\npod q node=gone cpu=2",
     "replaces=n>medium where=p,q"},
    {"8.9: at the limit of the pool there is room for a replacement",
     SINGLE "pool default budget=100% limit=cpu=8\n" BIG("n") "\npod p node=n cpu=1", "replaces=n>small"},
    {"8.9: no pool is ready", SINGLE "pool default ready=False budget=100%\n" ROOM SMALL("n") "\npod p node=n cpu=1",
     "commands=0 why.n=noNodePoolReady"},
};

/* ---- spot ---------------------------------------------------------------------------------------------------------- */

#define GATE "set FEATURE_GATES=SpotToSpotConsolidation=true\n"
#define SPOT "method single\ncatalog fake:40\npool default budget=100% req='ct In spot"
#define FAKE(name, type) "node " name " cpu=30 mem=60Gi label=itype=fake-it-" type ",ct=spot,zone=z1\n"

static const struct scenario spot[] = {
    {"CL-6: the gate is off", SPOT "'\n" FAKE("n", "30") "pod p node=n cpu=0.1",
     "commands=0 why.n=spotToSpotDisabled text.n=SpotToSpotConsolidation_is_disabled,_can't_replace_a_spot_node_with_a_"
     "spot_node"},
    {"CL-6: one cheaper option", GATE SPOT "'\n" FAKE("n", "1") "pod p node=n cpu=0.1",
     "commands=0 why.n=spotToSpotFewTypes text.n=SpotToSpotConsolidation_requires_15_cheaper_instance_type_options_than_"
     "the_current_candidate_to_consolidate,_got_1"},
    {"CL-6: among the 15 cheapest", GATE SPOT "'\n" FAKE("n", "14") "pod p node=n cpu=0.1",
     "commands=0 why.n=spotToSpotFewTypes"},
    {"CL-6: the sixteenth", GATE SPOT "'\n" FAKE("n", "15") "pod p node=n cpu=0.1", "commands=1 n.offers=15"},
    {"CL-5: 15 of those that are cheaper, cheapest first", GATE SPOT "'\n" FAKE("n", "30") "pod p node=n cpu=0.1",
     "replaces=n>fake-it-0 req.ct=In:spot n.offers=15 offers=fake-it-0,fake-it-1,fake-it-2,fake-it-3,fake-it-4,fake-it-5,"
     "fake-it-6,fake-it-7,fake-it-8,fake-it-9,fake-it-10,fake-it-11,fake-it-12,fake-it-13,fake-it-14"},
    {"CL-6: minValues above 15", GATE SPOT "; itype Exists min 18'\n" FAKE("n", "30") "pod p node=n cpu=0.1",
     "n.offers=18"},
    {"CL-6: minValues below 15", GATE SPOT "; itype Exists min 3'\n" FAKE("n", "30") "pod p node=n cpu=0.1",
     "n.offers=15"},
    {"CL-7: minValues that the cheaper ones do not meet",
     GATE SPOT "; itype Exists min 20'\n" FAKE("n", "16") "pod p node=n cpu=0.1", "commands=0 why.n=minValues"},
    {"CL-15: several spot nodes need no 15 options",
     GATE "method multi\ncatalog fake:40\npool default budget=100% req='ct In spot'\n" FAKE("a", "5")
         FAKE("b", "5") "pod p node=a cpu=0.1\npod q node=b cpu=0.1",
     "replaces=a,b>fake-it-0 n.offers=5"},
    {"CL-15: nor the gate when one of them is on-demand",
     "method multi\ncatalog fake:40\npool default budget=100%\n" FAKE(
         "a",
         "5") "node b cpu=6 mem=12Gi label=itype=fake-it-5,ct=on-demand,zone=z1\npod p node=a cpu=0.1\npod q node=b cpu=0.1",
     "replaces=a,b>fake-it-0 req.ct=In:spot"},
};

static const struct scenario min_values[] = {
    {"CL-7: the price filter breaks minValues",
     SINGLE "pool default budget=100% req='itype Exists min 3'\n" BIG("n") "\npod p node=n cpu=1",
     "commands=0 why.n=minValues"},
    {"CL-7: it does not", SINGLE "pool default budget=100% req='itype Exists min 2'\n" BIG("n") "\npod p node=n cpu=1",
     "replaces=n>small offers=small,medium req.itype=In:medium,small~2"},
    {"CL-7: the filter for equal types breaks minValues",
     MULTI "pool default budget=100% req='itype Exists min 3'\n" BIG("a") "\n" BIG(
         "b") "\npod p node=a cpu=1\npod q node=b cpu=1",
     "commands=0"},
    {"CL-20: BestEffort does not help",
     SINGLE "set MIN_VALUES_POLICY=BestEffort\n"
            "pool default budget=100% req='itype Exists min 3'\n" BIG("n") "\npod p node=n cpu=1",
     "commands=0 why.n=minValues"},
};

/* ---- several nodes ------------------------------------------------------------------------------------------------- */

static const struct scenario several[] = {
    {"CL-15: three for one", MULTI POOL BIG("n x3") "\npod p x3 node=n-# cpu=1",
     "commands=1 replaces=n-0,n-1,n-2>medium saves=1.0000 moves=3"},
    {"CL-15: not two for one of the same type",
     MULTI POOL MEDIUM("n x2") "\npod p x2 node=n-# cpu=1.9 anti='host app=web'", "commands=0"},
    {"CL-15: A, A and B are not replaced by one B",
     MULTI "pool default budget=100% req='itype In medium'\n" SMALL("a x2") "\n" MEDIUM(
         "b") "\npod p x2 node=a-# cpu=0.5 label=app=web\npod q node=b cpu=2 label=app=web\npod r node=b cpu=0.5",
     "commands=0"},
    {"CL-15: empty nodes are left out", MULTI POOL BIG("n x2") "\n" BIG("empty") "\npod p x2 node=n-# cpu=1",
     "deletes=n-0,n-1 why.empty=empty"},
    {"8.10: a node that cannot move stops the search",
     MULTI POOL BIG("a") "\n" MEDIUM("b") "\n" MEDIUM(
         "c") "\npod p node=a cpu=1 sel=foo=bar\npod q node=b cpu=1\npod r node=c cpu=1",
     "commands=0 why.a=podsWithoutPlace"},
    {"8.10: nodes after it are not reached",
     MULTI POOL BIG("a") "\n" BIG("b") "\n" MEDIUM(
         "c") "\npod p node=a cpu=1\npod q node=b cpu=0.5\npod r node=c cpu=3.5 sel=foo=bar",
     "replaces=a,b>small why.c=podsWithoutPlace"},
    {"CL-16: the fewest pods at equal price first",
     MULTI "pool default budget=2\n" ROOM SMALL("a") "\n" SMALL("b") "\n" SMALL(
         "c") "\npod p x3 node=a cpu=0.1\npod q node=b cpu=0.1\npod r x2 node=c cpu=0.1",
     "deletes=b,c"},
    {"CL-23: single: the best ratio first",
     SINGLE POOL ROOM SMALL("a") "\n" BIG("b") "\n" MEDIUM(
         "c") "\n"
              "pod q node=a cpu=0.1\npod r x9 node=b cpu=0.1\npod s node=c cpu=0.1",
     "deletes=c"},
    {"CL-23: single: pools take turns",
     SINGLE "pool default budget=0\npool other budget=100%\n" ROOM SMALL("a x2") "\n" SMALL(
         "b") " pool=other\npod p x2 node=a-# cpu=0.1\npod q x5 node=b cpu=0.1",
     "deletes=b"},
    {"8.6: the order of methods: multi before single", ALL POOL ROOM SMALL("n x2") "\npod p x2 node=n-# cpu=1",
     "commands=1 by=multi"},
    {"8.6: drift before consolidation",
     ALL POOL ROOM SMALL("n x2") "\n" SMALL("old") " drifted\npod p x2 node=n-# cpu=1\npod q node=old cpu=1",
     "commands=1 by=drift deletes=old"},
};

static const struct scenario topology[] = {
    {"CL-17: a replacement keeps the spread",
     SINGLE POOL SMALL(
         "a") "\nnode b cpu=8 mem=32Gi label=itype=big,ct=on-demand,zone=z2\n"
              "pod p node=a cpu=1 label=app=web spread='zone 1 app=web'\npod q node=b cpu=1 label=app=web spread='zone 1 app=web'",
     "replaces=b>small req.zone=In:z2"},
    {"CL-17: a volume keeps its zone",
     SINGLE POOL BIG(
         "n") "\npod p node=n cpu=1 pvc=data\npvc data pv=vol\npv vol csi=ebs.csi.aws.com need='zone In z1'",
     "replaces=n>small req.zone=In:z1"},
};

/* ---- reservations and savings ---------------------------------------------------------------------------------------- */

#define RESERVED                                                                                                       \
    "type a cpu=4 mem=16Gi offer='on-demand z1 0.4|spot z1 0.3|reserved z1 0.0001 id=r1 left=2'\n"                     \
    "type b cpu=2 mem=8Gi offer='on-demand z1 0.2|reserved z1 0.00005 id=r2 left=1'\nmethod single\n" ANY_POOL

static const struct scenario money[] = {
    {"CL-19: reserved for on-demand of the same type",
     RESERVED "node n cpu=4 mem=16Gi label=itype=a,ct=on-demand,zone=z1\npod p node=n cpu=3",
     "replaces=n>a req.ct=In:reserved"},
    {"CL-19: reserved for spot of the same type",
     RESERVED "node n cpu=4 mem=16Gi label=itype=a,ct=spot,zone=z1\npod p node=n cpu=3",
     "replaces=n>a req.ct=In:reserved"},
    {"CL-19: a cheaper reservation",
     RESERVED
     "node n cpu=4 mem=16Gi label=itype=a,ct=reserved,zone=z1,karpenter.kwok.sh/reservation-id=r1\npod p node=n cpu=1",
     "replaces=n>b req.ct=In:reserved"},
    {"CL-25: what the replacements cost is taken off", SINGLE POOL BIG("n") "\npod p node=n cpu=3", "saves=0.2000"},
    {"CL-25: spot offerings do not count where spot is not allowed",
     "type a cpu=8 mem=32Gi offer='on-demand z1 0.4'\ntype b cpu=4 mem=16Gi offer='spot z1 0.01|on-demand z1 0.3'\n"
     "method single\npool default budget=100% req='ct In on-demand'\n"
     "node n cpu=8 mem=32Gi label=itype=a,ct=on-demand,zone=z1\npod p node=n cpu=1",
     "replaces=n>b saves=0.1000"},
    {"CL-25: nor zones that are not",
     "type a cpu=8 mem=32Gi offer='on-demand z1 0.4'\ntype b cpu=4 mem=16Gi offer='on-demand z2 0.1|on-demand z1 0.3'\n"
     "method single\n" POOL "node n cpu=8 mem=32Gi label=itype=a,ct=on-demand,zone=z1\npod p node=n cpu=1 sel=zone=z1",
     "replaces=n>b saves=0.1000"},
    {"CL-25: without limits the cheapest counts",
     "type a cpu=8 mem=32Gi offer='on-demand z1 0.4'\ntype b cpu=4 mem=16Gi offer='on-demand z2 0.1|on-demand z1 0.3'\n"
     "method single\n" POOL "node n cpu=8 mem=32Gi label=itype=a,ct=on-demand,zone=z1\npod p node=n cpu=1",
     "replaces=n>b saves=0.3000"},
};

int main(void)
{
    static const struct scenarios tables[] = {
        SCENARIOS(budgets),    SCENARIOS(replacing), SCENARIOS(deleting), SCENARIOS(pending), SCENARIOS(spot),
        SCENARIOS(min_values), SCENARIOS(several),   SCENARIOS(topology), SCENARIOS(money),
    };

    return scenarios_main(tables, ARRAY_LEN(tables));
}
