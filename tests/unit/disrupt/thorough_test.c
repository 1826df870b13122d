/* Our own search: everything that can go at once, each scenario beside what Karpenter's pass would make of it. */
#include "machines.h"
#include "support/scenario.h"

#define THOROUGH "method thorough\n" TYPES
#define COMPAT "method all\n" TYPES
#define TEAM(name) "pool " name " budget=100% req='ct In on-demand' label=team=" name "\n"

static const struct scenario commands[] = {
    {"all methods in one pass",
     THOROUGH POOL ROOM SMALL("empty") "\n" SMALL("old") " drifted\n" SMALL(
         "n") "\npod p node=old cpu=1.5 sel=itype=small\npod q node=n cpu=1.5",
     "commands=3 by=emptiness|drift|single deletes=empty|n replaces=old>small"},
    {"compat: the first method that finds something",
     COMPAT POOL ROOM SMALL("empty") "\n" SMALL("old") " drifted\n" SMALL(
         "n") "\npod p node=old cpu=1.5 sel=itype=small\npod q node=n cpu=1.5",
     "commands=1 by=emptiness why.old=later why.n=later"},
    {"only the methods that were asked for",
     "method thorough drift\n" TYPES POOL SMALL("empty") "\n" SMALL("old") " drifted",
     "commands=1 by=drift why.empty=notDrifted"},
    {"every drifted node, each by itself", THOROUGH POOL SMALL("n x3") " drifted\npod p x3 node=n-# cpu=1.5",
     "commands=3 by=drift|drift|drift replaces=n-0>small|n-1>small|n-2>small"},
    {"a pool that was edited: what the controller will call drifted",
     THOROUGH POOL SMALL("n") " claimnote=hash=1,hashversion=v3\npod p node=n cpu=1.5", "by=drift replaces=n>small"},
    {"compat: only what it has called so",
     COMPAT POOL SMALL("n") " claimnote=hash=1,hashversion=v3\npod p node=n cpu=1.5", "commands=0"},
    {"several nodes are replaced one by one",
     THOROUGH POOL BIG("n x2") "\npod p x2 node=n-# cpu=3 label=app=web anti='host app=web'",
     "commands=2 replaces=n-0>medium|n-1>medium by=single|single"},
    {"compat: one of them", COMPAT POOL BIG("n x2") "\npod p x2 node=n-# cpu=3 label=app=web anti='host app=web'",
     "commands=1 replaces=n-0>medium why.n-1=later"},
    {"sets of nodes that have nothing to do with each other",
     THOROUGH TEAM("a") TEAM("b") BIG("a x2") ",team=a pool=a\n" MEDIUM(
         "b x2") ",team=b pool=b\npod p x2 node=a-# cpu=1.5 sel=team=a\npod x node=a-0 cpu=6 sel=team=a\n"
                 "pod q x2 node=b-# cpu=0.5 sel=team=b",
     "commands=2 deletes=b-0 replaces=a-1>small why.b-1=takesPods why.a-0=notCheaper"},
    {"more than a hundred nodes at once",
     THOROUGH POOL
     "node room x2 unmanaged cpu=100 mem=400Gi pods=110\n" SMALL("n x150") "\npod p x150 node=n-# cpu=1.2",
     "commands=1 removed=150"},
    {"compat: never more than 101",
     COMPAT POOL "node room x2 unmanaged cpu=100 mem=400Gi pods=110\n" SMALL("n x150") "\npod p x150 node=n-# cpu=1.2",
     "commands=1 removed=101"},
};

static const struct scenario passed_over[] = {
    {"a node that cannot move is passed over",
     THOROUGH POOL BIG("a") "\n" MEDIUM("b") "\n" MEDIUM(
         "c") "\npod p node=a cpu=7.5 sel=foo=bar\npod q node=b cpu=2.5\npod r node=c cpu=0.5",
     "commands=1 deletes=b why.a=podsWithoutPlace why.c=takesPods"},
    {"compat: it stops the search for several",
     "method multi\n" TYPES POOL BIG("a") "\n" BIG("b") "\n" BIG(
         "c") "\npod p node=a cpu=0.1 sel=foo=bar\npod q node=b cpu=1 sel=zone=z1\npod r node=c cpu=1 sel=zone=z1\n"
              "pod x node=a cpu=7.5 note=cost=-134217728",
     "commands=0"},
    {"thorough: the others go",
     "method thorough multi\n" TYPES POOL BIG("a") "\n" BIG("b") "\n" BIG(
         "c") "\npod p node=a cpu=0.1 sel=foo=bar\npod q node=b cpu=1 sel=zone=z1\npod r node=c cpu=1 sel=zone=z1\n"
              "pod x node=a cpu=7.5 note=cost=-134217728",
     "commands=1 removed=2 why.a=podsWithoutPlace"},
    {"a node that takes pods stays",
     THOROUGH POOL SMALL("a") "\n" SMALL("b") "\npod p node=a cpu=0.5\npod q node=b cpu=0.5",
     "commands=1 deletes=a why.b=takesPods"},
    {"a pod that finds no place anywhere does not hold nodes",
     THOROUGH POOL SMALL("a") "\n" SMALL("b") "\npod p node=a cpu=0.5\npod q node=b cpu=0.5\npod stuck sel=foo=bar",
     "commands=1 deletes=a why.b=takesPods"},
    {"nodes do not count on the same room",
     THOROUGH POOL "node room unmanaged cpu=1 mem=8Gi\n" SMALL("n x3") "\npod p x3 node=n-# cpu=1 anti='host app=x'",
     "commands=2 removed=1|1"},
};

static const struct scenario budgets[] = {
    {"one budget for all commands of a pass",
     THOROUGH "pool default budget=3 req='ct In on-demand'\n" ROOM SMALL("empty x2") "\n" SMALL(
         "old x2") " drifted\n" SMALL("n x2") "\npod p x2 node=old-# cpu=1.5\npod q x2 node=n-# cpu=1.5",
     "removed=2|1 by=emptiness|drift why.old-1=budget why.n-0=budget"},
    {"each reason has its own, and they count together",
     THOROUGH "pool default budget='1 reasons=Empty | 2 reasons=Drifted | 4' req='ct In on-demand'\n" ROOM
         SMALL("empty x2") "\n" SMALL("old x2") " drifted\n" SMALL(
             "n x4") "\npod p x2 node=old-# cpu=1\npod q x4 node=n-# cpu=1",
     "removed=1|1|2 by=emptiness|drift|multi why.empty-1=budget why.old-1=budget why.n-3=budget"},
    {"nodes on their way count",
     THOROUGH "pool default budget=2 req='ct In on-demand'\n" ROOM SMALL("gone") " deleting\n" SMALL(
         "n x3") "\npod q x3 node=n-# cpu=1",
     "removed=1"},
    {"each pool has its own",
     THOROUGH "pool default budget=1\npool other budget=2\n" ROOM SMALL("a x3") "\n" SMALL(
         "b x3") " pool=other\npod p x3 node=a-# cpu=1\npod q x3 node=b-# cpu=1",
     "commands=1 removed=3 deletes=a-0,b-0,b-1"},
    {"a budget is to blame only for what would go without it",
     THOROUGH "pool default budget=0 req='ct In on-demand'\n" SMALL("full") "\n" BIG(
         "idle") "\npod p node=full cpu=1.9 sel=itype=small\npod q node=idle cpu=1",
     "commands=0 why.full=notCheaper why.idle=budget"},
    {"compat: Karpenter does not look any further",
     COMPAT "pool default budget=0 req='ct In on-demand'\n" SMALL("full") "\n" BIG(
         "idle") "\npod p node=full cpu=1.9 sel=itype=small\npod q node=idle cpu=1",
     "commands=0 why.full=budget why.idle=budget"},
    {"a pool that is closed", THOROUGH "pool default budget=0\n" ROOM SMALL("a x3") "\npod p x3 node=a-# cpu=1",
     "commands=0 why.a-2=budget"},
    {"a schedule that cannot be read closes the pool",
     THOROUGH "pool default budget='5 for=1h at=0 0 * * tue-mon'\n" ROOM SMALL("a") "\npod p node=a cpu=1",
     "commands=0 why.a=budget"},
};

static const struct scenario careful[] = {
    {"pods that cost nothing to evict must have a place",
     THOROUGH POOL SMALL("n") "\npod p node=n cpu=1 note=cost=-134217728", "commands=0 why.n=podsWithoutPlace"},
    {"compat: nobody looks", COMPAT POOL SMALL("n") "\npod p node=n cpu=1 note=cost=-134217728", "deletes=n"},
    {"with a place they move", THOROUGH POOL ROOM SMALL("n") "\npod p node=n cpu=1 note=cost=-134217728",
     "deletes=n moves=1"},
    {"a node that a pending pod is going to stays", THOROUGH POOL SMALL("n") "\npod wait cpu=1",
     "commands=0 why.n=takesPods"},
    {"compat: it is empty", COMPAT POOL SMALL("n") "\npod wait cpu=1", "deletes=n"},
    {"another may go", THOROUGH POOL SMALL("a") "\n" SMALL("b") "\npod wait cpu=1", "deletes=b why.a=takesPods"},
};

#define SHRINK TYPES POOL BIG("n") "\npod p node=n cpu=3" /* saves 0.2 of 0.4 */

static const struct scenario savings[] = {
    {"0.19 is not too much", "method thorough\nset CONSOLIDATION_MIN_SAVINGS=0.19\n" SHRINK,
     "replaces=n>medium saves=0.2000"},
    {"0.21 is", "method thorough\nset CONSOLIDATION_MIN_SAVINGS=0.21\n" SHRINK, "commands=0 why.n=minSavings"},
    {"49% is not", "method thorough\nset CONSOLIDATION_MIN_SAVINGS=49%\n" SHRINK, "replaces=n>medium"},
    {"51% is", "method thorough\nset CONSOLIDATION_MIN_SAVINGS=51%\n" SHRINK, "commands=0 why.n=minSavings"},
    {"single-node consolidation too", "method single\nset CONSOLIDATION_MIN_SAVINGS=51%\n" SHRINK,
     "commands=0 why.n=minSavings"},
    {"not drift",
     "method thorough\nset CONSOLIDATION_MIN_SAVINGS=100\n" TYPES POOL BIG("n") " drifted\npod p node=n cpu=3",
     "replaces=n>medium by=drift"},
    {"not emptiness", "method thorough\nset CONSOLIDATION_MIN_SAVINGS=100\n" TYPES POOL BIG("n"), "deletes=n"},
};

/* Three nodes whose memory is used up and whose cpu is not: 14.4 cpu, which fit into two nodes with more memory, but those of two not into one. */
#define LEAN(price)                                                                                                    \
    "type lean cpu=8 mem=16Gi pods=20 offer='on-demand z1 " price "'\n"                                                \
    "type rich cpu=8 mem=64Gi pods=20 offer='on-demand z1 0.5'\n" POOL                                                 \
    "node n x3 cpu=8 mem=16Gi pods=20 label=itype=lean,ct=on-demand,zone=z1\n"                                         \
    "pod p x3 node=n-# cpu=2.9 mem=8.5Gi\npod q x3 node=n-# cpu=1.9 mem=6.5Gi"

static const struct scenario several[] = {
    {"three become two", "method thorough\n" LEAN("0.4"), "commands=1 removed=3 by=multi saves=0.2000"},
    {"not where a command may have one new node only",
     "method thorough\nset CONSOLIDATION_MAX_REPLACEMENTS=1\n" LEAN("0.4"), "commands=0"},
    {"compat: Karpenter never makes two", "method all\n" LEAN("0.4"), "commands=0"},
    {"not for a saving that is smaller than one in twenty", "method thorough\n" LEAN("0.34"), "commands=0"},
    {"a single node never becomes two",
     "method thorough\n" TYPES
     "pool default budget=100% req='itype In small'\n" BIG("n") "\npod p x2 node=n cpu=1.5",
     "commands=0"},
    {"a node that is not initialized is no place for the pods, and does not hold the others up",
     "method thorough\n" TYPES POOL BIG("n") "\n" SMALL("new") " registered\npod p node=n cpu=1", "replaces=n>small"},
    {"compat: it does", COMPAT POOL BIG("n") "\n" SMALL("new") " registered\npod p node=n cpu=1",
     "commands=0 why.n=podsWithoutPlace"},
};

int main(void)
{
    static const struct scenarios tables[] = {
        SCENARIOS(commands), SCENARIOS(passed_over), SCENARIOS(budgets),
        SCENARIOS(careful),  SCENARIOS(savings),     SCENARIOS(several),
    };

    return scenarios_main(tables, ARRAY_LEN(tables));
}
