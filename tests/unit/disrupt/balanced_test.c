/* Decisions under consolidationPolicy Balanced: lifecycle 14.10, the lines that take a simulation. */
#include "machines.h"
#include "support/scenario.h"

#define BALANCED "pool default policy=Balanced budget=100% req='ct In on-demand'\n"
#define SINGLE "method single\n" TYPES
#define MULTI "method multi\n" TYPES
#define ALL "method all\n" TYPES

static const struct scenario scenarios[] = {
    {"BA-14: an oversized node", SINGLE BALANCED BIG("n") "\npod p node=n cpu=1", "replaces=n>small saves=0.3000"},
    {"BA-14: a well-packed one stays, though it could go",
     SINGLE BALANCED ROOM BIG("a") " note=dnd=true\n" SMALL("b") "\npod p node=a cpu=1\npod q x15 node=b cpu=0.1",
     "commands=0 why.b=balance"},
    {"BA-14: others would let it go",
     SINGLE POOL ROOM BIG("a") " note=dnd=true\n" SMALL("b") "\npod p node=a cpu=1\npod q x15 node=b cpu=0.1",
     "deletes=b"},
    {"BA-14: several that are hardly used", MULTI BALANCED BIG("n x3") "\npod p x3 node=n-# cpu=1",
     "replaces=n-0,n-1,n-2>medium saves=1.0000"},
    {"BA-14: 0% blocks", ALL "pool default policy=Balanced budget=0%\n" BIG("n") "\npod p node=n cpu=1",
     "commands=0 why.n=budget"},
    {"BA-14: deleted when its pods fit elsewhere", SINGLE BALANCED ROOM BIG("n") "\npod p node=n cpu=1", "deletes=n"},
    {"BA-14: of a mixed lot, those with the best ratio",
     MULTI "pool default policy=Balanced budget=2\n" ROOM SMALL("a") "\n" BIG("b") "\n" MEDIUM(
         "c") "\npod p x4 node=a cpu=0.1\npod q node=b cpu=0.1\npod r node=c cpu=0.1",
     "deletes=b,c why.a=budget"},
    {"BA-14: a replacement that saves too little for what it disrupts",
     SINGLE "type a cpu=8 mem=32Gi offer='on-demand z1 0.4'\ntype b cpu=6 mem=24Gi offer='on-demand z1 0.39'\n" BALANCED
            "node n cpu=8 mem=32Gi label=itype=a,ct=on-demand,zone=z1\npod p node=n cpu=5",
     "commands=0 why.n=balance"},
    {"BA-11: what spot would save does not count where it is not allowed",
     SINGLE "type a cpu=8 mem=32Gi offer='on-demand z1 0.4'\n"
            "type b cpu=6 mem=24Gi offer='on-demand z1 0.39|spot z1 0.05'\n" BALANCED
            "node n cpu=8 mem=32Gi label=itype=a,ct=on-demand,zone=z1\npod p node=n cpu=5",
     "commands=0 why.n=balance"},
    {"BA-11: where it is, it does",
     SINGLE "type a cpu=8 mem=32Gi offer='on-demand z1 0.4'\n"
            "type b cpu=6 mem=24Gi offer='on-demand z1 0.39|spot z1 0.05'\n"
            "pool default policy=Balanced budget=100%\n"
            "node n cpu=8 mem=32Gi label=itype=a,ct=on-demand,zone=z1\npod p node=n cpu=5",
     "replaces=n>b"},
    {"BA-14: pools with other policies do not ask",
     MULTI BALANCED "pool other budget=100%\n" ROOM BIG("a") "\n" SMALL(
         "b") " pool=other\npod p node=a cpu=1\npod q x15 node=b cpu=0.1",
     "deletes=a,b"},
    {"BA-14: one pool that does not approve stops the set",
     MULTI BALANCED "pool other budget=100%\n" ROOM BIG("a") " note=dnd=true\n" SMALL("b") "\n" BIG(
         "c") " pool=other\npod p node=a cpu=1\npod q x15 node=b cpu=0.1\npod r node=c cpu=0.1",
     "commands=0"},
    {"BA-14: ... and single takes the other",
     ALL BALANCED "pool other budget=100%\n" ROOM BIG("a") " note=dnd=true\n" SMALL("b") "\n" BIG(
         "c") " pool=other\npod p node=a cpu=1\npod q x15 node=b cpu=0.1\npod r node=c cpu=0.1",
     "deletes=c by=single why.b=balance"},
    {"BA-14: empty nodes are not scored",
     ALL BALANCED BIG("n") " note=dnd=true\n" SMALL("empty") "\npod p node=n cpu=1", "deletes=empty by=emptiness"},
    {"thorough search asks as well",
     "method thorough\n" TYPES BALANCED ROOM BIG("a") "\n" SMALL("b") "\npod p node=a cpu=1\npod q x15 node=b cpu=0.1",
     "deletes=a why.b=balance"},
};

int main(void)
{
    static const struct scenarios tables[] = {SCENARIOS(scenarios)};

    return scenarios_main(tables, ARRAY_LEN(tables));
}
