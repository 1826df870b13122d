/* What a pass of Karpenter's own search finds and says: events and moves beside commands (lifecycle 8.3, 8.4, 8.6, 8.10, 8.12), and
 * drift of static pools. What it finds is the subject of the other files here. */
#include "live.h"
#include "machines.h"

struct live_case {
    const char *name, *text;
    enum disrupt_method method;
    const char *want;
};

#define PODS(node) "\npod p node=" node " cpu=1"
#define BALANCED "pool default policy=Balanced budget=100% req='ct In on-demand'\n"

static const struct live_case blocked[] = {
    {"CA-12: already queued: nothing is said", TYPES POOL SMALL("busy"), METHOD_EMPTINESS, ""},
    {"CA-12: Node only: nothing is said", TYPES POOL SMALL("n") " unmanaged", METHOD_EMPTINESS, ""},
    {"CA-12: NodeClaim only", TYPES POOL "node n1 inflight", METHOD_EMPTINESS,
     "blocked n1: Nodeclaim does not have an associated node\n"},
    {"CA-12: uninitialized", TYPES POOL SMALL("n") " registered", METHOD_SINGLE, "blocked n: Node isn't initialized\n"},
    {"CA-12: deleting", TYPES POOL SMALL("n") " deleting", METHOD_MULTI,
     "blocked n: Node is deleting or marked for deletion\n"},
    {"CA-12: nominated", TYPES POOL SMALL("nominated"), METHOD_DRIFT,
     "blocked nominated: Node is nominated for a pending pod\n"},
    {"CA-11: do-not-disrupt on the node", TYPES POOL SMALL("n") " note=dnd=true", METHOD_EMPTINESS,
     "blocked n: Disruption is blocked through the \"karpenter.sh/do-not-disrupt\" annotation\n"},
    {"CA-12: no nodepool label", TYPES POOL SMALL("n") " nopool", METHOD_EMPTINESS,
     "blocked n: Node doesn't have required label (label=karpenter.sh/nodepool)\n"},
    {"CA-12: unknown NodePool", TYPES POOL SMALL("n") " pool=gone", METHOD_EMPTINESS,
     "blocked n: NodePool not found (NodePool=gone)\n"},
    {"CA-8: do-not-disrupt on a pod", TYPES POOL SMALL("n") PODS("n") " note=dnd=true", METHOD_SINGLE,
     "blocked n: Pod has \"karpenter.sh/do-not-disrupt\" annotation (Pod=default/p)\n"},
    {"CA-11: a PodDisruptionBudget",
     TYPES POOL SMALL("n") PODS("n") " label=app=web\npdb b sel=app=web max=0 allowed=0", METHOD_SINGLE,
     "blocked n: Pdb prevents pod evictions (PodDisruptionBudget=[default/b])\n"},
    {"CA-11: several of them",
     TYPES POOL SMALL("n")
         PODS("n") " label=app=web\npdb b sel=app=web max=1 allowed=1\npdb c sel=app=web max=1 allowed=1",
     METHOD_SINGLE,
     "blocked n: Eviction does not support multiple PDBs (PodDisruptionBudget(s)=[default/b default/c])\n"},
    {"CA-9: with a grace period drift says nothing of pods",
     TYPES POOL ROOM SMALL("n") " drifted grace=1h" PODS("n") " note=dnd=true", METHOD_DRIFT, "drift delete: [n]\n"},
    {"CA-9: consolidation does", TYPES POOL ROOM SMALL("n") " drifted grace=1h" PODS("n") " note=dnd=true",
     METHOD_MULTI, "blocked n: Pod has \"karpenter.sh/do-not-disrupt\" annotation (Pod=default/p)\n"},
    {"what blocks is said before filters speak",
     TYPES "pool default after=Never\n" SMALL("a") "\n" SMALL("b") " registered", METHOD_EMPTINESS,
     "blocked b: Node isn't initialized\nunconsolidatable a: NodePool \"default\" has consolidation disabled\n"},
};

static const struct live_case filters[] = {
    {"CL-1: nothing for WhenEmptyOrUnderutilized", TYPES POOL SMALL("n"), METHOD_SINGLE, ""},
    {"CL-1: policy WhenEmpty", TYPES "pool default policy=WhenEmpty\n" SMALL("n") PODS("n"), METHOD_MULTI,
     "unconsolidatable n: NodePool \"default\" has consolidation policy WhenEmpty, but node is not empty\n"},
    {"CL-1: Never", TYPES "pool default after=Never\n" SMALL("n") PODS("n"), METHOD_SINGLE,
     "unconsolidatable n: NodePool \"default\" has consolidation disabled\n"},
    {"CL-1: emptiness says so too, of nodes with pods", TYPES "pool default after=Never\n" SMALL("n") PODS("n"),
     METHOD_EMPTINESS, "unconsolidatable n: NodePool \"default\" has consolidation disabled\n"},
    {"CL-1: drift does not", TYPES "pool default after=Never\n" SMALL("n") PODS("n"), METHOD_DRIFT, ""},
    {"CL-1: unknown instance type", TYPES POOL "node n label=zone=z1,ct=spot,itype=old" PODS("n"), METHOD_SINGLE,
     "unconsolidatable n: Instance Type \"old\" not found\n"},
    {"CL-1: no capacity type", TYPES POOL "node n label=zone=z1,itype=small" PODS("n"), METHOD_SINGLE,
     "unconsolidatable n: Node does not have label \"karpenter.sh/capacity-type\"\n"},
    {"CL-1: no zone", TYPES POOL "node n label=ct=spot,itype=small" PODS("n"), METHOD_SINGLE,
     "unconsolidatable n: Node does not have label \"topology.kubernetes.io/zone\"\n"},
    {"CL-1: once is enough", TYPES "pool default after=Never\n" SMALL("told") PODS("told"), METHOD_SINGLE, ""},
    {"EM-3: inside the window nothing is said", TYPES POOL SMALL("n") " unsettled", METHOD_EMPTINESS, ""},
    {"EM-7: nor of static pools", TYPES "pool default replicas=1 after=Never\n" SMALL("n"), METHOD_EMPTINESS, ""},
    {"CL-22: nor of static pools", TYPES "pool default replicas=1 after=Never\n" SMALL("n") PODS("n"), METHOD_SINGLE,
     ""},
    {"EM-8: buffer pods protect their node, and no other", TYPES POOL SMALL("buffer") "\n" SMALL("n"), METHOD_EMPTINESS,
     "emptiness delete: [n]\nunconsolidatable buffer: Node \"buffer\" has buffer pods\n"},
    {"EM-8: real pods beside them: not empty", TYPES POOL SMALL("buffer") PODS("buffer"), METHOD_EMPTINESS,
     "unconsolidatable buffer: Node \"buffer\" has buffer pods\n"},
    {"CL-21: consolidation says nothing of them", TYPES POOL SMALL("buffer"), METHOD_SINGLE, ""},
    {"CL-21: real pods beside them may shrink", TYPES POOL BIG("buffer") PODS("buffer"), METHOD_SINGLE,
     "single replace: [buffer] -> [1 replacement]\n"
     "candidate buffer: replace: [buffer] -> [1 replacement] saves 0.30\nmove default approved\n"},
};

static const struct live_case budgets[] = {
    {"CL-4: a closed budget is told and remembered: emptiness", TYPES "pool default budget=0\n" SMALL("n"),
     METHOD_EMPTINESS,
     "blocked pool default: No allowed disruptions for disruption reason Empty due to blocking budget\nconstrained\n"},
    {"CL-4: multi", TYPES "pool default budget=0\n" ROOM SMALL("n x2") "\npod p x2 node=n-# cpu=1", METHOD_MULTI,
     "blocked pool default: No allowed disruptions for disruption reason Underutilized due to blocking budget\nconstrained\n"},
    {"CL-4: single", TYPES "pool default budget=0\n" ROOM SMALL("n") PODS("n"), METHOD_SINGLE,
     "blocked pool default: No allowed disruptions for disruption reason Underutilized due to blocking budget\nconstrained\n"},
    {"CL-4: of several pools",
     TYPES POOL "pool other budget=0\n" SMALL("a") PODS("a") "\n" SMALL("b") " pool=other\npod q node=b cpu=1.5",
     METHOD_SINGLE,
     "blocked pool other: No allowed disruptions for disruption reason Underutilized due to blocking budget\n"
     "unconsolidatable a: Can't replace with a cheaper node\nconstrained\n"},
    {"CL-4: part of it is used", TYPES "pool default budget=1\n" SMALL("n x2"), METHOD_EMPTINESS,
     "emptiness delete: [n-0]\nconstrained\n"},
    {"a budget that is used up is not told", TYPES "pool default budget=1\n" SMALL("n") "\n" SMALL("x") " deleting",
     METHOD_EMPTINESS, "blocked x: Node is deleting or marked for deletion\nconstrained\n"},
    {"without candidates nobody looks at budgets", TYPES "pool default budget=0\n" SMALL("n") PODS("n"),
     METHOD_EMPTINESS, ""},
    {"a pool without nodes is not told", TYPES POOL "pool other budget=0\n" SMALL("n"), METHOD_EMPTINESS,
     "emptiness delete: [n]\n"},
    {"drift has its own", TYPES "pool default budget='0 reasons=Drifted'\n" SMALL("n") " drifted", METHOD_DRIFT,
     "blocked pool default: No allowed disruptions for disruption reason Drifted due to blocking budget\nconstrained\n"},
};

static const struct live_case decisions[] = {
    {"DF-2: the next one if the first cannot go",
     TYPES POOL SMALL("a") " drifted=11:00:00\n" SMALL(
         "b") " drifted=11:30:00\npod p node=a sel=foo=bar\npod q node=b cpu=1",
     METHOD_DRIFT,
     "drift delete: [b]\n"
     "blocked a: Not all pods would schedule, default/p => incompatible requirements, label \"foo\" does not have known values \n"},
    {"CL-6: spot for spot, the gate is off",
     "catalog fake:40\npool default budget=100% req='ct In spot'\nnode n cpu=30 mem=60Gi label=itype=fake-it-30,ct=spot,zone=z1\npod p node=n cpu=0.1",
     METHOD_SINGLE,
     "unconsolidatable n: SpotToSpotConsolidation is disabled, can't replace a spot node with a spot node\n"},
    {"CL-6: spot for spot, few types",
     "set FEATURE_GATES=SpotToSpotConsolidation=true\ncatalog fake:40\npool default budget=100% req='ct In spot'\nnode n cpu=30 mem=60Gi label=itype=fake-it-1,ct=spot,zone=z1\npod p node=n cpu=0.1",
     METHOD_SINGLE,
     "unconsolidatable n: SpotToSpotConsolidation requires 15 cheaper instance type options than the current candidate to consolidate, got 1\n"},
    {"CL-7: minValues", TYPES "pool default budget=100% req='itype Exists min 3'\n" BIG("n") PODS("n"), METHOD_SINGLE,
     "unconsolidatable n: Filtering by price: minValues requirement is not met for label(s) (label(s)=[node.kubernetes.io/instance-type])\n"},
    {"CL-9: nothing cheaper", TYPES POOL SMALL("n") PODS("n"), METHOD_SINGLE,
     "unconsolidatable n: Can't replace with a cheaper node\n"},
    {"CL-9: once is enough", TYPES POOL SMALL("told") PODS("told"), METHOD_SINGLE, ""},
    {"several new nodes", TYPES "pool default budget=100% req='itype In small'\n" BIG("n") "\npod p x3 node=n cpu=1.5",
     METHOD_SINGLE, "unconsolidatable n: Can't remove without creating 3 candidates\n"},
    {"CL-11: onto a node that is not initialized", TYPES POOL SMALL("n") "\n" SMALL("new") " registered" PODS("n"),
     METHOD_SINGLE,
     "blocked new: Node isn't initialized\n"
     "unconsolidatable n: Not all pods would schedule, default/p => would schedule against uninitialized nodeclaim/new-claim, node/new \n"},
    {"CL-5: a replacement is a candidate", TYPES POOL BIG("n") PODS("n"), METHOD_SINGLE,
     "single replace: [n] -> [1 replacement]\n"
     "candidate n: replace: [n] -> [1 replacement] saves 0.30\nmove default approved\n"},
    {"CL-10: a deletion is none", TYPES POOL ROOM SMALL("n") PODS("n"), METHOD_SINGLE,
     "single delete: [n]\nmove default approved\n"},
    {"multi says nothing of single nodes", TYPES POOL SMALL("n") PODS("n"), METHOD_MULTI, ""},
    {"CL-27: every node of several is a candidate", TYPES POOL MEDIUM("n x3") "\npod p x3 node=n-# cpu=0.5",
     METHOD_MULTI,
     "multi replace: [n-0, n-1, n-2] -> [1 replacement]\n"
     "candidate n-0: replace: [n-0] (part of 3-node consolidation) saves 0.50\n"
     "candidate n-1: replace: [n-1] (part of 3-node consolidation) saves 0.50\n"
     "candidate n-2: replace: [n-2] (part of 3-node consolidation) saves 0.50\n"
     "move default approved\n"},
    {"CL-15: also when it is then dropped for the same type", TYPES POOL SMALL("n x3") "\npod p x3 node=n-# cpu=0.5",
     METHOD_MULTI,
     "multi delete: [n-0, n-1]\n"
     "candidate n-0: replace: [n-0] (part of 3-node consolidation) saves 0.20\n"
     "candidate n-1: replace: [n-1] (part of 3-node consolidation) saves 0.20\n"
     "candidate n-2: replace: [n-2] (part of 3-node consolidation) saves 0.20\n"
     "move default approved\n"},
    {"no pool to launch from: drift ends the pass",
     TYPES "pool default ready=False budget=100%\n" ROOM SMALL("n") " drifted" PODS("n"), METHOD_DRIFT,
     "error: creating scheduler, no nodepools found\n"},
    {"no pool to launch from: multi ends the pass",
     TYPES "pool default ready=False budget=100%\n" ROOM SMALL("n x2") "\npod p x2 node=n-# cpu=1", METHOD_MULTI,
     "error: creating scheduler, no nodepools found\n"},
    {"no pool to launch from: with one node it does not get so far",
     TYPES "pool default ready=False budget=100%\n" ROOM SMALL("n") PODS("n"), METHOD_MULTI, ""},
    {"no pool to launch from: single passes over nodes",
     TYPES "pool default ready=False budget=100%\n" ROOM SMALL("n") PODS("n"), METHOD_SINGLE, ""},
    {"what is under way is no place for pods", TYPES POOL SMALL("n") "\n" BIG("busy") PODS("n"), METHOD_SINGLE,
     "unconsolidatable n: Can't replace with a cheaper node\n"},
    {"and its pods need one, whose node is kept",
     TYPES POOL SMALL("n") "\n" SMALL("busy") "\npod p node=n cpu=0.5\npod q node=busy cpu=1", METHOD_SINGLE, ""},
};

static const struct live_case balanced[] = {
    {"BA-14: approved", TYPES BALANCED BIG("n") PODS("n"), METHOD_SINGLE,
     "single replace: [n] -> [1 replacement]\n"
     "candidate n: replace: [n] -> [1 replacement] saves 0.30\n"
     "approved n: score 0.75 >= threshold 0.50 (k: 2, savings 75.0%, disruption 100.0%)\nmove default approved 0.75\n"},
    {"BA-14: rejected: counted, and nothing said but that it was worked out",
     TYPES BALANCED BIG("n") "\n" BIG("full") "\npod p x15 node=n cpu=0.25\npod q node=full cpu=7.8", METHOD_SINGLE,
     "unconsolidatable full: Can't replace with a cheaper node\n"
     "candidate n: replace: [n] -> [1 replacement] saves 0.20\nmove default rejected 0.28\n"},
    {"BA-13: multi: an event of the pool", TYPES BALANCED ROOM SMALL("n x2") "\npod p x2 node=n-# cpu=1", METHOD_MULTI,
     "multi delete: [n-0, n-1]\n"
     "approved pool default: score 1.00 >= threshold 0.50 (k: 2, savings 100.0%, disruption 100.0%)\n"
     "move default approved 1.00\n"},
    {"BA-13: multi: of each pool that approves, scored or not",
     TYPES BALANCED "pool other budget=100% req='ct In on-demand'\n" ROOM SMALL("a") "\n" SMALL(
         "b") " pool=other\npod p node=a cpu=1\npod q node=b cpu=1",
     METHOD_MULTI,
     "multi delete: [a, b]\n"
     "approved pool default: score 1.00 >= threshold 0.50 (k: 2, savings 100.0%, disruption 100.0%)\n"
     "move default approved 1.00\nmove other approved\n"},
    {"BA-13: multi: the last window that was rejected",
     TYPES BALANCED MEDIUM("n x2") "\n" BIG(
         "full") " note=dnd=true\npod p x9 node=n-0 cpu=0.1\npod q x9 node=n-1 cpu=0.1\npod r node=full cpu=8",
     METHOD_MULTI,
     "blocked full: Disruption is blocked through the \"karpenter.sh/do-not-disrupt\" annotation\n"
     "candidate n-0: replace: [n-0] (part of 2-node consolidation) saves 0.30\n"
     "candidate n-1: replace: [n-1] (part of 2-node consolidation) saves 0.30\n"
     "move default rejected 0.41\n"},
    {"BA-8: a node that could never be approved is not looked at",
     TYPES "pool default policy=Balanced budget=100%\n" ROOM BIG("a") " note=dnd=true\n" SMALL(
         "b") "\npod p node=a cpu=1\npod q x15 node=b cpu=0.1",
     METHOD_SINGLE, "blocked a: Disruption is blocked through the \"karpenter.sh/do-not-disrupt\" annotation\n"},
};

#define CHEAP " note=cost=-134217728"
#define APART " label=app=web anti='host app=web'"

static const struct live_case thorough[] = {
    {"everything that is empty, in one command", TYPES POOL SMALL("n x2"), METHOD_EMPTINESS,
     "emptiness delete: [n-0, n-1]\n"},
    {"EM-4: not a node that a pod waits for", TYPES POOL SMALL("n") "\npod wait cpu=1", METHOD_EMPTINESS, ""},
    {"pods that cost nothing to evict need a place too", TYPES POOL SMALL("n") PODS("n") CHEAP, METHOD_EMPTINESS,
     "unconsolidatable n: Its pods cost nothing to evict, but have no place on the other nodes\n"},
    {"as many drifted nodes as budgets allow, each on the cluster that the others leave",
     TYPES "pool default budget=2 req='ct In on-demand'\n" MEDIUM("free") "\n" SMALL(
         "n x3") " drifted\npod p x3 node=n-# cpu=1.5",
     METHOD_DRIFT, "drift delete: [n-0]\ndrift delete: [n-1]\n"},
    {"DF-2: and those that cannot go say so",
     TYPES POOL SMALL("a") " drifted\n" SMALL("b") " drifted\npod p node=a sel=foo=bar\npod q node=b cpu=1",
     METHOD_DRIFT,
     "drift delete: [b]\n"
     "blocked a: Not all pods would schedule, default/p => incompatible requirements, label \"foo\" does not have known values \n"},
    {"multi: every node that is replaced is a candidate", TYPES POOL MEDIUM("n x3") "\npod p x3 node=n-# cpu=0.5",
     METHOD_MULTI,
     "multi replace: [n-0, n-1, n-2] -> [1 replacement]\n"
     "candidate n-0: replace: [n-0] (part of 3-node consolidation) saves 0.50\n"
     "candidate n-1: replace: [n-1] (part of 3-node consolidation) saves 0.50\n"
     "candidate n-2: replace: [n-2] (part of 3-node consolidation) saves 0.50\n"
     "move default approved\n"},
    {"multi: what was tried and dropped is not said", TYPES POOL SMALL("n x3") "\npod p x3 node=n-# cpu=0.5",
     METHOD_MULTI, "single delete: [n-0]\nsingle delete: [n-2]\nmove default approved\nmove default approved\n"},
    {"multi: single nodes too, under their own name", TYPES POOL BIG("n") PODS("n"), METHOD_MULTI,
     "single replace: [n] -> [1 replacement]\n"
     "candidate n: replace: [n] -> [1 replacement] saves 0.30\nmove default approved\n"},
    {"single: each node for itself, several commands",
     TYPES POOL BIG("a") "\n" BIG("b") "\n" SMALL("c") "\npod p node=a cpu=1" APART "\npod q node=b cpu=1" APART
                                                       "\npod r node=c cpu=1" APART,
     METHOD_SINGLE,
     "single replace: [a] -> [1 replacement]\nsingle replace: [b] -> [1 replacement]\n"
     "candidate a: replace: [a] -> [1 replacement] saves 0.30\n"
     "candidate b: replace: [b] -> [1 replacement] saves 0.30\n"
     "unconsolidatable c: Can't replace with a cheaper node\n"
     "move default approved\nmove default approved\n"},
    {"single: what stays says why", TYPES POOL SMALL("n") PODS("n"), METHOD_SINGLE,
     "unconsolidatable n: Can't replace with a cheaper node\n"},
    {"single: once is enough, and what can be done multi has found", TYPES POOL BIG("told") PODS("told"), METHOD_SINGLE,
     ""},
    {"single: pods that no type holds together",
     TYPES "pool default budget=100% req='itype In small'\n" BIG("n") "\npod p x3 node=n cpu=1.5", METHOD_SINGLE,
     "unconsolidatable n: Can't remove without creating 3 candidates\n"},
    {"CL-21: a node whose room a buffer has may shrink to what both need",
     TYPES POOL BIG("n") PODS("n") "\npod spare cpu=1.5", METHOD_SINGLE,
     "single replace: [n] -> [1 replacement]\n"
     "candidate n: replace: [n] -> [1 replacement] saves 0.20\nmove default approved\n"},
    {"CL-21: or go, where there is room elsewhere", TYPES POOL ROOM SMALL("n") PODS("n") "\npod spare cpu=1",
     METHOD_MULTI, "single delete: [n]\nmove default approved\n"},
    {"CL-21: room for a buffer is not given up", TYPES POOL SMALL("n") "\npod spare cpu=1", METHOD_EMPTINESS, ""},
    {"CL-4: a budget that is closed for some",
     TYPES POOL "pool other budget=0\n" SMALL("a") PODS("a") "\n" SMALL("b") " pool=other\npod q node=b cpu=1.5",
     METHOD_SINGLE,
     "blocked pool other: No allowed disruptions for disruption reason Underutilized due to blocking budget\n"
     "unconsolidatable a: Can't replace with a cheaper node\nconstrained\n"},
    {"CL-4: a budget with room for one has all looked at",
     TYPES "pool default budget=1 req='ct In on-demand'\n" SMALL("n x3") "\npod p x3 node=n-# cpu=1.5", METHOD_MULTI,
     ""},
    {"BA-14: a move that is not worth it is counted",
     TYPES BALANCED BIG("n") "\n" BIG("full") "\npod p x15 node=n cpu=0.25\npod q node=full cpu=7.8", METHOD_SINGLE,
     "unconsolidatable full: Can't replace with a cheaper node\n"
     "candidate n: replace: [n] -> [1 replacement] saves 0.20\nmove default rejected 0.28\n"},
    {"no pool to launch from: nodes that are not needed go",
     TYPES "pool default ready=False budget=100%\n" ROOM SMALL("n") PODS("n"), METHOD_MULTI,
     "single delete: [n]\nmove default approved\n"},
};

static void check_case(const struct live_case *c, bool compat, struct sb *failed)
{
    struct live l;

    live_open(&l, c->text, c->method, compat);
    str got = live_text(&l, disrupt_pass(l.s.a, l.s.snap, &l.o), l.s.a);
    if (!str_is(got, c->want))
        sb_printf(failed, "%s:\n got\n" STR_FMT " want\n%s", c->name, STR_ARG(got), c->want);
    scene_close(&l.s);
}

static void check_cases(const struct live_case *v, size_t n, bool compat)
{
    struct sb failed = {0};

    for (size_t i = 0; i < n; i++)
        check_case(&v[i], compat, &failed);
    bool ok = failed.n == 0;
    if (!ok)
        print_error(STR_FMT, STR_ARG(sb_view(&failed)));
    sb_fini(&failed);
    assert_true(ok);
}

static void what_blocks(void **state UNUSED)
{
    check_cases(blocked, ARRAY_LEN(blocked), /* compat= */ true);
}

static void what_filters_say(void **state UNUSED)
{
    check_cases(filters, ARRAY_LEN(filters), /* compat= */ true);
}

static void what_budgets_say(void **state UNUSED)
{
    check_cases(budgets, ARRAY_LEN(budgets), /* compat= */ true);
}

static void what_decisions_say(void **state UNUSED)
{
    check_cases(decisions, ARRAY_LEN(decisions), /* compat= */ true);
}

static void what_policies_say(void **state UNUSED)
{
    check_cases(balanced, ARRAY_LEN(balanced), /* compat= */ true);
}

static void what_our_own_search_says(void **state UNUSED)
{
    check_cases(thorough, ARRAY_LEN(thorough), /* compat= */ false);
}

/* --- static pools ------------------------------------------------------------------------------------------------------ */

#define STATIC "pool default replicas=5 budget="

static const struct {
    const char *name, *text;
    int64_t room; /* of every pool */
    const char *want;
} statics[] = {
    {"SF-1: by count", TYPES STATIC "3\n" SMALL("n x5") " drifted", 9,
     "static-drift replace: [n-0] -> [1 replacement]\nstatic-drift replace: [n-1] -> [1 replacement]\n"
     "static-drift replace: [n-2] -> [1 replacement]\nconstrained\n"},
    {"SF-1: by percent", TYPES STATIC "40%\n" SMALL("n x5") " drifted", 9,
     "static-drift replace: [n-0] -> [1 replacement]\nstatic-drift replace: [n-1] -> [1 replacement]\nconstrained\n"},
    {"SF-1, SF-3: several pools on their own",
     TYPES STATIC "1\npool other replicas=2 budget=1\n" SMALL("a x2") " drifted\n" SMALL("b x2") " drifted pool=other",
     9,
     "static-drift replace: [a-0] -> [1 replacement]\nstatic-drift replace: [b-0] -> [1 replacement]\nconstrained\n"},
    {"SF-2: none where there is no room", TYPES STATIC "5\n" SMALL("n x5") " drifted", 0, ""},
    {"SF-2: two where there is room for two", TYPES STATIC "5\n" SMALL("n x5") " drifted", 2,
     "static-drift replace: [n-0] -> [1 replacement]\nstatic-drift replace: [n-1] -> [1 replacement]\n"},
    {"SF-3: zero replicas", TYPES "pool default replicas=0 budget=1\n" SMALL("n") " drifted", 1,
     "static-drift replace: [n] -> [1 replacement]\n"},
    {"SF-3: not drifted", TYPES STATIC "5\n" SMALL("n"), 9, ""},
    {"SF-3: Drifted is False", TYPES STATIC "5\n" SMALL("n") " drifted=False", 9, ""},
    {"SF-3: do-not-disrupt on the node", TYPES STATIC "5\n" SMALL("n") " drifted note=dnd=true", 9,
     "blocked n: Disruption is blocked through the \"karpenter.sh/do-not-disrupt\" annotation\n"},
    {"SF-3: pods are not asked for a place", TYPES STATIC "5\n" SMALL("n") " drifted" PODS("n") " sel=foo=bar", 9,
     "static-drift replace: [n] -> [1 replacement]\n"},
    {"DF-6: other pools are another method's", TYPES POOL SMALL("n") " drifted", 9, ""},
};

static void static_drift(void **state UNUSED)
{
    for (size_t i = 0; i < ARRAY_LEN(statics); i++) {
        struct live l;

        live_open(&l, statics[i].text, METHOD_STATIC_DRIFT, /* compat= */ i % 2);
        int64_t room[] = {statics[i].room, statics[i].room};
        l.o.static_room = room;
        const struct pass *p = disrupt_pass(l.s.a, l.s.snap, &l.o);
        check_str(statics[i].name, live_text(&l, p, l.s.a), statics[i].want);
        for (uint32_t k = 0; k < p->n_commands; k++) {
            const struct disrupt_command *c = &p->commands[k];

            check_true(statics[i].name, c->claims[0].pool < l.s.snap->n_pools && c->claims[0].n_types == 0);
            check_true(statics[i].name, c->savings > 0.09 && c->savings < 0.11); /* nothing is known of the other */
        }
        scene_close(&l.s);
    }
}

/* --- what is not searched -------------------------------------------------------------------------------------------------- */

static void unchanged_is_not_searched(void **state UNUSED)
{
    struct live l;

    live_open(&l, TYPES "pool default budget=0\n" ROOM SMALL("n") PODS("n") "\n" SMALL("new") " registered",
              METHOD_SINGLE, /* compat= */ true);
    l.o.unchanged = true;
    const struct pass *p = disrupt_pass(l.s.a, l.s.snap, &l.o);
    check_str(
        "CL-4: unchanged", live_text(&l, p, l.s.a),
        "blocked new: Node isn't initialized\n"
        "blocked pool default: No allowed disruptions for disruption reason Underutilized due to blocking budget\n");
    assert_int_equal(p->n_candidates, 1);
    assert_non_null(p->budgets);
    scene_close(&l.s);
}

static void candidates_are_counted(void **state UNUSED)
{
    struct live l;

    live_open(&l, TYPES "pool default budget=1\n" SMALL("n x3") "\npod p node=n-0 cpu=1", METHOD_EMPTINESS, true);
    const struct pass *p = disrupt_pass(l.s.a, l.s.snap, &l.o);
    assert_int_equal(p->n_candidates, 2); /* EM-1: before budgets */
    assert_int_equal(p->n_commands, 1);
    l.o.method = METHOD_DRIFT;
    p = disrupt_pass(l.s.a, l.s.snap, &l.o);
    assert_int_equal(p->n_candidates, 0);
    assert_null(p->budgets);
    scene_close(&l.s);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_blocks),
        cmocka_unit_test(what_filters_say),
        cmocka_unit_test(what_budgets_say),
        cmocka_unit_test(what_decisions_say),
        cmocka_unit_test(what_policies_say),
        cmocka_unit_test(what_our_own_search_says),
        cmocka_unit_test(static_drift),
        cmocka_unit_test(unchanged_is_not_searched),
        cmocka_unit_test(candidates_are_counted),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
