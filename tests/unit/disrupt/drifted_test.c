/* What becomes of drifted nodes: lifecycle 14.7 and 14.8, line by line. */
#include "machines.h"
#include "support/scenario.h"

#define DRIFT "method drift\n" TYPES
#define OLD " drifted=09:00:00\n"
#define OLDER " drifted=08:00:00\n"

static const struct scenario choice[] = {
    {"CA-2: the fourth while three are on their way",
     DRIFT "pool default budget=3\n" SMALL("gone x3") " deleting\n" SMALL("n") OLD "pod p node=n",
     "commands=0 why.n=budget"},
    {"CA-2: the third while two are on their way",
     DRIFT "pool default budget=3\n" SMALL("gone x2") " deleting\n" SMALL("n") OLD "pod p node=n cpu=1",
     "replaces=n>small"},
    {"DF-1: one at a time, whatever the budget", DRIFT "pool default budget=30%\n" SMALL("n x10") OLD,
     "commands=1 removed=1"},
    {"DF-1: a pool without budget is passed over",
     DRIFT "pool default budget=0\npool other budget=100%\n" SMALL("a") OLDER SMALL("b") " pool=other" OLD,
     "deletes=b why.a=budget"},
    {"DF-2: the next when the first cannot move",
     DRIFT POOL SMALL("a") OLDER SMALL("b") OLD "pod p node=a cpu=1.5 sel=zone=nowhere\npod q node=b cpu=1",
     "replaces=b>small why.a=podsWithoutPlace"},
    {"DF-2: False is not drifted", DRIFT POOL SMALL("n") " drifted=False", "commands=0 why.n=notDrifted"},
    {"DF-2: nor is a missing condition", DRIFT POOL SMALL("n"), "commands=0 why.n=notDrifted"},
    {"DF-2: do-not-disrupt on the node", DRIFT POOL SMALL("n") " note=dnd=true" OLD, "commands=0 why.n=nodeAnnotation"},
    {"DF-2: do-not-disrupt: false", DRIFT POOL SMALL("n") " note=dnd=false" OLD, "deletes=n"},
    {"DF-5: oldest first", DRIFT POOL SMALL("a") OLD SMALL("b") OLDER "pod p x2 node=a cpu=1.5\npod q node=b cpu=1.5",
     "commands=1 replaces=b>small why.a=later"},
    {"DF-5: empty nodes before older ones with pods", DRIFT POOL SMALL("a") OLD SMALL("b") OLDER "pod q node=b cpu=1.5",
     "deletes=a why.b=later"},
    {"DF-5: an empty one though consolidation is off", DRIFT "pool default after=Never budget=100%\n" SMALL("a") OLD,
     "deletes=a by=drift"},
    {"DF-5: empty and Consolidatable: emptiness takes it", "method all\n" TYPES POOL SMALL("a") OLD, "by=emptiness"},
    {"DF-6: static pools", DRIFT "pool default replicas=2 budget=100%\n" SMALL("a") OLD,
     "commands=0 why.a=staticCapacity"},
    {"8.9: no pool to launch from ends the pass",
     "method drift\n" TYPES "pool default ready=False budget=100%\n" SMALL("a") OLD,
     "commands=0 why.a=noNodePoolReady"},
};

static const struct scenario outcome[] = {
    {"DF-5: replaced", DRIFT POOL SMALL("n") OLD "pod p node=n cpu=1", "replaces=n>small where=p moves=1 saves=0.0000"},
    {"DF-5: by something dearer when that is what it takes",
     DRIFT "pool default budget=100% req='itype In big'\n" SMALL("n") OLD "pod p node=n cpu=1",
     "replaces=n>big saves=-0.3000"},
    {"DF-5: deleted when pods fit elsewhere", DRIFT POOL ROOM SMALL("n") OLD "pod p node=n cpu=1", "deletes=n moves=1"},
    {"DF-5: one node, several replacements",
     DRIFT "pool default budget=100% req='itype In small'\n" BIG("n") OLD "pod p x3 node=n cpu=1.5",
     "replaces=n>small+small+small nodes=3 saves=0.1000"},
    {"DF-5: some pods elsewhere, some on a new node", DRIFT POOL BIG("n") OLD MEDIUM("other") "\npod p x2 node=n cpu=3",
     "replaces=n>medium nodes=1 pods=1"},
    {"DF-3: do-not-disrupt on a pod keeps the node", DRIFT POOL SMALL("n") OLD "pod p node=n note=dnd=true",
     "commands=0 why.n=podAnnotation"},
    {"DF-3: with a grace period it goes, and nothing comes for the pod",
     DRIFT POOL SMALL("n") " grace=1h" OLD "pod p node=n cpu=1 note=dnd=true", "deletes=n nodes=0"},
    {"DF-3: nor for one whose budget never lets it go",
     DRIFT POOL SMALL("n") " grace=1h" OLD "pod p node=n cpu=1 label=app=web\npdb b sel=app=web max=0 allowed=0",
     "deletes=n nodes=0"},
    {"DF-3: but for the others",
     DRIFT POOL SMALL("n") " grace=1h" OLD "pod p node=n cpu=1 note=dnd=true\npod q node=n cpu=1",
     "replaces=n>small where=q"},
    {"CA-9: a budget without a grace period",
     DRIFT POOL SMALL("n") OLD "pod p node=n cpu=1 label=app=web\npdb b sel=app=web max=0 allowed=0",
     "commands=0 why.n=pdb"},
    {"CA-9: a budget that lets go later: the pod is moved",
     DRIFT POOL SMALL("n") " grace=1h" OLD "pod p node=n cpu=1 label=app=web\npdb b sel=app=web max=1 allowed=0",
     "replaces=n>small where=p"},
    {"DF-4: for a while", DRIFT POOL SMALL("n") OLD "pod p node=n cpu=1 note=dnd=5m start=11:58:00",
     "commands=0 why.n=podAnnotation"},
    {"DF-4: no longer", DRIFT POOL SMALL("n") OLD "pod p node=n cpu=1 note=dnd=2m start=11:57:00", "replaces=n>small"},
    {"DF-4: not a duration", DRIFT POOL SMALL("n") OLD "pod p node=n cpu=1 note=dnd=soon start=11:57:00",
     "replaces=n>small"},
    {"DF-4: the longest decides",
     DRIFT POOL SMALL("n") OLD
     "pod p node=n cpu=1 note=dnd=2m start=11:57:00\npod q node=n note=dnd=20m start=11:57:00",
     "commands=0 why.n=podAnnotation object.n=Pod_default/q"},
    {"CA-1: pods of a node that is going may wait for one that is not initialized",
     DRIFT POOL ROOM SMALL("n") OLD SMALL("gone") " deleting\nnode new cpu=2 mem=8Gi label=team=a registered\n"
                                                  "pod p node=n cpu=1\npod q node=gone cpu=1 sel=team=a",
     "deletes=n"},
    {"CA-3: a volume that is bound to the node's own name",
     DRIFT POOL SMALL("n") OLD "pod p node=n cpu=1 owner=apps/v1/StatefulSet/s pvc=data\npvc data pv=vol\n"
                               "pv vol local need='host In n'",
     "replaces=n>small"},
    {"CA-12: a node that is going already", DRIFT POOL SMALL("n") " deleting" OLD, "commands=0 why.n=deleting"},
    {"CA-13: labels may be missing", DRIFT POOL "node n notype cpu=2 mem=8Gi" OLD "pod p node=n cpu=1",
     "replaces=n>small saves=-0.1000"},
    {"drift may use nodes inside their consolidateAfter window",
     DRIFT "pool default after=1h budget=100%\n" SMALL("n")
         OLD SMALL("fresh") " unsettled lastpod=11:59:00\npod p node=n cpu=1",
     "deletes=n"},
    {"not an uninitialized node", DRIFT POOL SMALL("n") OLD SMALL("new") " registered\npod p node=n cpu=1",
     "commands=0 why.n=podsWithoutPlace"},
};

int main(void)
{
    static const struct scenarios tables[] = {SCENARIOS(choice), SCENARIOS(outcome)};

    return scenarios_main(tables, ARRAY_LEN(tables));
}
