/* What emptiness removes: lifecycle 14.8, line by line. */
#include "machines.h"
#include "support/scenario.h"

#define EMPTINESS "method emptiness\n" TYPES

static const struct scenario budgets[] = {
    {"EM-2: 100%", EMPTINESS POOL SMALL("n x10"), "commands=1 removed=10 by=emptiness"},
    {"EM-2: 0%", EMPTINESS "pool default budget=0%\n" SMALL("n x10"), "commands=0 why.n-0=budget why.n-9=budget"},
    {"EM-2: 30%", EMPTINESS "pool default budget=30%\n" SMALL("n x10"), "commands=1 removed=3"},
    {"EM-2: two of each pool in one command",
     EMPTINESS "pool default budget=2\npool other budget=2\n" SMALL("a x3") "\n" SMALL("b x3") " pool=other",
     "commands=1 deletes=a-0,a-1,b-0,b-1 why.a-2=budget why.b-2=budget"},
    {"EM-2: all of each pool", EMPTINESS POOL "pool other budget=100%\n" SMALL("a x3") "\n" SMALL("b x3") " pool=other",
     "commands=1 removed=6"},
    {"EM-2: another reason's budget does not count", EMPTINESS "pool default budget='0 reasons=Drifted'\n" SMALL("n"),
     "deletes=n"},
    {"EM-2: nodes on their way count", EMPTINESS "pool default budget=2\n" SMALL("n x3") "\n" SMALL("gone") " deleting",
     "commands=1 removed=1"},
    {"BA-14: empty nodes before others within a small budget",
     EMPTINESS
     "method all\npool default budget=1 policy=Balanced\n" ROOM BIG("full") "\n" SMALL("empty") "\npod p node=full",
     "commands=1 by=emptiness deletes=empty"},
};

static const struct scenario nodes[] = {
    {"EM-3: an empty node", EMPTINESS POOL SMALL("n"), "deletes=n saves=0.1000 moves=0"},
    {"EM-3: empty and drifted: emptiness comes first", TYPES "method all\n" POOL SMALL("n") " drifted",
     "deletes=n by=emptiness"},
    {"EM-3: Consolidatable is absent", EMPTINESS POOL SMALL("n") " unsettled", "commands=0 why.n=notConsolidatable"},
    {"EM-3: Consolidatable is False", EMPTINESS POOL SMALL("n") " consolidatable=False",
     "commands=0 why.n=notConsolidatable"},
    {"EM-3: do-not-disrupt", EMPTINESS POOL SMALL("n") " note=dnd=true", "commands=0 why.n=nodeAnnotation"},
    {"EM-3: do-not-disrupt: false", EMPTINESS POOL SMALL("n") " note=dnd=false", "deletes=n"},
    {"EM-3: nodes with pods stay", EMPTINESS POOL SMALL("a") "\n" SMALL("b") "\npod p node=b",
     "deletes=a why.b=notEmpty"},
    {"EM-3: several at once, the dearest first", EMPTINESS POOL SMALL("a") "\n" BIG("b") "\n" MEDIUM("c"),
     "commands=1 deletes=a,b,c saves=0.7000"},
    {"EM-3: a node of an unknown type", EMPTINESS POOL "node n label=itype=old,ct=on-demand,zone=z1",
     "deletes=n saves=0.0000"},
    {"EM-4: emptiness does not look at pods that wait", EMPTINESS POOL SMALL("n") "\npod wait cpu=1", "deletes=n"},
    {"EM-5: only daemons", EMPTINESS POOL SMALL("n") "\npod d node=n owner=apps/v1/DaemonSet/d", "deletes=n"},
    {"EM-5: terminating pods of a Deployment",
     EMPTINESS POOL SMALL("n") "\npod p node=n deleting owner=apps/v1/ReplicaSet/r", "deletes=n"},
    {"EM-5: terminating pods of a StatefulSet",
     EMPTINESS POOL SMALL("n") "\npod p node=n deleting owner=apps/v1/StatefulSet/r", "commands=0 why.n=notEmpty"},
    {"EM-7: static pools", EMPTINESS "pool default replicas=2 budget=100%\n" SMALL("n"),
     "commands=0 why.n=staticCapacity"},
    {"CL-15: empty nodes are not left to consolidation", "method multi single\n" TYPES POOL SMALL("a") "\n" SMALL("b"),
     "commands=0 why.a=empty why.b=empty"},
    {"quirk: pods that cost nothing to evict do not count, and nobody looks for a place",
     EMPTINESS POOL SMALL("n") "\npod p node=n cpu=1 note=cost=-134217728", "deletes=n moves=1"},
};

int main(void)
{
    static const struct scenarios tables[] = {SCENARIOS(budgets), SCENARIOS(nodes)};

    return scenarios_main(tables, ARRAY_LEN(tables));
}
