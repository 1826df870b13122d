/* Topology spread: scheduling 27.8, TP. */
#include "support/check.h"
#include "support/scenario.h"

#define POOL "pool default limit=cpu=2000\n"
#define X "label=app=x "

static const struct scenario zones[] = {
    {"TP1: an unknown key", POOL "pod a " X "spread='unknown 1 app=x'\npod b", "nodes=1 lost=a"},
    {"TP2: no selector", POOL "pod a x2 " X "spread='zone 1 nil'", "nodes=1 zones=2"},
    {"TP3: labels", POOL "pod a x4 " X "spread='zone 1 app=x'", "zones=1,1,2 unschedulable=0"},
    {"TP3: expressions", POOL "pod a x4 " X "spread='zone 1 ?app:In:x,y;nope:DoesNotExist'", "zones=1,1,2"},
    {"TP3: everybody", POOL "pod a x3 spread='zone 1 all'", "zones=1,1,1"},
    {"TP4: zones the pool requires", "pool default req='zone In z1,z2'\npod a x4 " X "spread='zone 1 app=x'",
     "zones=2,2"},
    {"TP4: a zone as a label", "pool default label=zone=z1\npod a x4 " X "spread='zone 1 app=x'", "zones=4"},
    {"TP4: both", "pool default req='zone In z1,z2' label=zone=z1\npod a x4 " X "spread='zone 1 app=x'",
     "at.zone=z1:4"},
    {"TP4: two pools", "pool a req='zone In z1'\npool b req='zone In z2'\npod a x4 " X "spread='zone 1 app=x'",
     "zones=2,2"},
    {"TP5: a pod in a zone that the pool does not have",
     "pool default req='zone In z1,z2'\nnode n3 cpu=1 mem=1Gi pods=1 label=zone=z3\npod e " X "node=n3\n"
     "pod a x6 " X "spread='zone 1 app=x'",
     "zones=1,2,2 unschedulable=2"},
    {"TP6: a skew of five",
     "pool default req='zone In z3'\nnode n1 cpu=1 mem=1Gi pods=1 label=zone=z1\npod e " X "node=n1\n"
     "node n2 cpu=1 mem=1Gi pods=1 label=zone=z2\npod f " X "node=n2\npod a x10 " X "spread='zone 5 app=x'",
     "at.zone=z1:1,z2:1,z3:6 unschedulable=4"},
    {"TP7: the skew is broken already",
     POOL "node n1 cpu=1 mem=1Gi pods=3 label=zone=z1\npod e x3 " X "node=n1\npod a x3 " X "spread='zone 1 app=x'",
     "zones=1,2,3"},
    {"TP8: it is never broken further",
     "pool default req='zone In z2,z3'\nnode n1 cpu=1 mem=1Gi pods=1 label=zone=z1\npod e " X "node=n1\n"
     "pod a x10 " X "spread='zone 1 app=x'",
     "zones=1,2,2 unschedulable=6"},
    {"TP10: a selector that is not about the pod", POOL "pod a x5 " X "spread='zone 1 app=other'", "nodes=1"},
    {"TP11: too few domains", "pool default req='zone In z1,z2'\npod a x3 " X "spread='zone 1 app=x min=3'",
     "zones=1,1 unschedulable=1"},
    {"TP11: as many as needed", POOL "pod a x11 " X "spread='zone 1 app=x min=3'", "zones=3,4,4 unschedulable=0"},
    {"TP11: more", POOL "pod a x11 " X "spread='zone 1 app=x min=2'", "zones=3,4,4 unschedulable=0"},
    {"TP17: a zone whose pool is at its limit",
     "pool a req='zone In z1,z2'\npool b req='zone In z3' limit=cpu=0\npod a x5 " X
     "spread='zone 1 app=x | host 1 app=x'",
     "zones=1,1 pods=1,1 unschedulable=3"},
    {"TP22: by selector",
     POOL "pod a x5 " X "sel=zone=z1 spread='zone 1 app=x'\npod b x10 " X "sel=zone=z2 spread='zone 1 app=x'",
     "at.zone=z1:5,z2:10 unschedulable=0"},
    {"TP22: by requirement", POOL "pod a x10 " X "need='zone In z1,z2' spread='zone 1 app=x'", "zones=5,5"},
    {"TP22: widened later",
     POOL "pod a x6 " X "need='zone In z1,z2' spread='zone 1 app=x'\nnext\n"
          "pod b " X "need='zone In z2,z3' spread='zone 1 app=x'",
     "at.zone=z1:3,z2:3 / at.zone=z1:3,z2:3,z3:1"},
    {"TP22: not by preference", POOL "pod a x6 " X "want='1 zone In z1,z2' spread='zone 1 app=x'", "zones=2,2,2"},
    {"a huge skew", POOL "pod a x5 " X "spread='zone 2147483647 app=x'", "nodes=1 unschedulable=0"},
    {"a soft one is broken when it must",
     "pool default req='zone In z1'\nnode n2 cpu=1 mem=1Gi pods=0 label=zone=z2\n"
     "pod a x5 " X "spread='zone 1 app=x any'",
     "zones=5"},
    {"a soft one is kept when it can be", POOL "pod a x3 " X "spread='zone 1 app=x any'", "zones=1,1,1"},
};

/* One zone to be had, another that is empty: whoever is counted in the first leaves no room there. */
#define COUNTED                                                                                                        \
    "pool default req='zone In z1'\nnode n1 cpu=1 mem=1Gi pods=0 label=zone=z1\nnode n2 cpu=1 mem=1Gi pods=0 "         \
    "label=zone=z2\nnode n0 cpu=1 mem=1Gi pods=0\npod a " X "spread='zone 1 app=x'\n"

static const struct scenario counting[] = {
    {"TP9: a running pod", COUNTED "pod e " X "node=n1", "lost=a"},
    {"TP9: no labels", COUNTED "pod e node=n1", "nodes=1"},
    {"TP9: other labels", COUNTED "pod e label=app=y node=n1", "nodes=1"},
    {"TP9: no domain", COUNTED "pod e " X "node=n0", "nodes=1"},
    {"TP9: no such node", COUNTED "pod e " X "node=nope", "nodes=1"},
    {"TP9: another namespace", COUNTED "ns other\npod e " X "ns=other node=n1", "nodes=1"},
    {"TP9: terminating", COUNTED "pod e " X "node=n1 deleting", "nodes=1"},
    {"TP9: failed", COUNTED "pod e " X "node=n1 phase=Failed", "nodes=1"},
    {"TP9: succeeded", COUNTED "pod e " X "node=n1 phase=Succeeded", "nodes=1"},
    {"TP9: a pod that is pending is not counted before it has a place", COUNTED "pod e " X "sel=zone=nope", "lost=e"},
};

static const struct scenario others[] = {
    {"TP12: hosts, skew one", POOL "pod a x4 " X "spread='host 1 app=x'", "nodes=4"},
    {"TP12: hosts, skew four", POOL "pod a x4 " X "spread='host 4 app=x'", "nodes=1"},
    {"TP12: two apps share nodes",
     POOL "pod a x2 " X "spread='host 1 app=x'\npod b x2 label=app=y spread='host 1 app=y'", "nodes=2 pods=2,2"},
    {"TP12: ... unless they cannot",
     POOL "pod a x2 " X
          "sel=arch=amd64 spread='host 1 app=x'\npod b x2 label=app=y sel=arch=arm64 spread='host 1 app=y'",
     "nodes=4"},
    {"TP13: capacity types", POOL "pod a x4 " X "spread='ct 1 app=x'", "cts=2,2"},
    {"TP13: one of them", "pool default req='ct In spot'\npod a x4 " X "spread='ct 1 app=x'", "at.ct=spot:4"},
    {"TP13: not broken",
     "pool default req='ct In on-demand'\nnode n1 cpu=1 mem=1Gi pods=1 label=ct=spot\npod e " X "node=n1\n"
     "pod a x5 " X "spread='ct 1 app=x'",
     "at.ct=on-demand:2,spot:1 unschedulable=3"},
    {"TP13: soft, broken",
     "pool default req='ct In on-demand'\nnode n1 cpu=1 mem=1Gi pods=1 label=ct=spot\npod e " X "node=n1\n"
     "pod a x5 " X "spread='ct 1 app=x any'",
     "at.ct=on-demand:5,spot:1 unschedulable=0"},
    {"TP14: affinity leaves pods out of the count",
     POOL "node n1 cpu=1 mem=1Gi pods=1 label=ct=spot\npod e " X "node=n1\n"
          "pod a x5 " X "need='ct In on-demand' spread='ct 1 app=x'",
     "at.ct=on-demand:5,spot:1 unschedulable=0"},
    {"TP14: by architecture",
     POOL "node n1 cpu=1 mem=1Gi pods=1 label=arch=amd64\npod e " X "node=n1\n"
          "pod a x5 " X "need='arch In arm64' spread='arch 1 app=x'",
     "at.arch=amd64:1,arm64:5 unschedulable=0"},
    {"TP14: architecture of the pool",
     "pool default req='arch In arm64'\nnode n1 cpu=1 mem=1Gi pods=1 label=arch=amd64\npod e " X "node=n1\n"
     "pod a x5 " X "spread='arch 1 app=x'",
     "at.arch=amd64:1,arm64:2 unschedulable=3"},
    {"TP15: zones and hosts",
     POOL "pod a x2 " X "spread='zone 1 app=x | host 3 app=x'\nnext\npod b x3 " X
          "spread='zone 1 app=x | host 3 app=x'\n"
          "next\npod c x5 " X "spread='zone 1 app=x | host 3 app=x'\nnext\n"
          "pod d x11 " X "spread='zone 1 app=x | host 3 app=x'",
     "zones=1,1 / zones=1,2,2 / zones=3,3,4 / zones=7,7,7 unschedulable=0"},
    {"TP15: capacity types and hosts",
     POOL "pod a x2 " X "spread='ct 1 app=x | host 3 app=x'\nnext\npod b x3 " X "spread='ct 1 app=x | host 3 app=x'\n"
          "next\npod c x5 " X "spread='ct 1 app=x | host 3 app=x'\nnext\n"
          "pod d x11 " X "spread='ct 1 app=x | host 3 app=x'",
     "cts=1,1 / cts=2,3 / cts=5,5 / cts=10,11 unschedulable=0"},
    {"TP16: a ratio by a label of one's own",
     "pool spot req='ct In spot; ratio In 2,3,4,5'\npool dear req='ct In on-demand; ratio In 1'\n"
     "pod a x20 " X "spread='ratio 1 app=x'",
     "at.ct=on-demand:4,spot:16 unschedulable=0"},
    {"TP21: zones and capacity types", POOL "pod a x5 " X "spread='zone 1 app=x | ct 1 app=x'",
     "zones=1,2,2 cts=2,3 unschedulable=0"},
    {"TP21: hosts, zones and capacity types", POOL "pod a x5 " X "spread='zone 1 app=x | ct 1 app=x | host 3 app=x'",
     "zones=1,2,2 cts=2,3 unschedulable=0"},
    /* z3 would be next and spot too, but z3 has no spot: each constraint answers for itself, and no skew is broken */
    {"TP21: constraints that disagree", POOL "pod a x14 " X "spread='zone 1 app=x | ct 1 app=x'",
     "zones=1,2,2 cts=2,3 unschedulable=9"},
    {"TP18: revisions apart",
     POOL "pod a x2 label=app=x,rev=1 spread='host 1 app=x keys=rev'\n"
          "pod b x2 label=app=x,rev=2 spread='host 1 app=x keys=rev'",
     "nodes=2 pods=2,2"},
    {"TP18: an unknown key",
     POOL "pod a x2 label=app=x,rev=1 spread='host 1 app=x keys=nope'\n"
          "pod b x2 label=app=x,rev=2 spread='host 1 app=x keys=nope'",
     "nodes=4"},
    {"TP18: keys without a selector select nobody", POOL "pod a x3 label=app=x,rev=1 spread='host 1 nil keys=rev'",
     "nodes=1 unschedulable=0"},
    {"TP19: a tainted node counts",
     "pool default label=k=foo\nnode n1 cpu=1 mem=1Gi pods=0 label=k=baz taint=t:NoSchedule\n"
     "pod a x5 " X "spread='k 1 app=x taints=Ignore'",
     "nodes=1 unschedulable=4"},
    {"TP19: ... by default",
     "pool default label=k=foo\nnode n1 cpu=1 mem=1Gi pods=0 label=k=baz taint=t:NoSchedule\n"
     "pod a x5 " X "spread='k 1 app=x'",
     "unschedulable=4"},
    {"TP19: ... unless taints are honoured",
     "pool default label=k=foo\nnode n1 cpu=1 mem=1Gi pods=0 label=k=baz taint=t:NoSchedule\n"
     "pod a x5 " X "spread='k 1 app=x taints=Honor'",
     "nodes=1 unschedulable=0"},
    {"TP19: a tainted pool counts",
     "pool a label=k=foo\npool b label=k=baz taint=t:NoSchedule\npod a x5 " X "spread='k 1 app=x taints=Ignore'",
     "unschedulable=4"},
    {"TP19: ... unless taints are honoured",
     "pool a label=k=foo\npool b label=k=baz taint=t:NoSchedule\npod a x5 " X "spread='k 1 app=x taints=Honor'",
     "unschedulable=0"},
    {"TP19: ... and not tolerated",
     "pool a label=k=foo\npool b label=k=baz taint=t:NoSchedule\npod a x4 " X "tol=t spread='k 1 app=x taints=Honor'",
     "by.k=2,2 unschedulable=0"},
    {"TP20: a node that does not suit counts",
     "pool default label=k=foo,s=yes\nnode n1 cpu=1 mem=1Gi pods=0 label=k=baz,s=no\n"
     "pod a x5 " X "sel=s=yes spread='k 1 app=x affinity=Ignore'",
     "unschedulable=4"},
    {"TP20: ... unless affinity is honoured",
     "pool default label=k=foo,s=yes\nnode n1 cpu=1 mem=1Gi pods=0 label=k=baz,s=no\n"
     "pod a x5 " X "sel=s=yes spread='k 1 app=x affinity=Honor'",
     "unschedulable=0"},
    {"TP20: ... which is the default",
     "pool default label=k=foo,s=yes\nnode n1 cpu=1 mem=1Gi pods=0 label=k=baz,s=no\n"
     "pod a x5 " X "sel=s=yes spread='k 1 app=x'",
     "unschedulable=0"},
    {"13.1 quirk: an excluded value is a domain",
     "pool default label=app=x req='foo NotIn x'\npod a x2 " X "spread='foo 1 app=x'", "unschedulable=2"},
    {"13.2 quirk: minDomains of whoever comes first",
     "pool default req='zone In z1,z2'\npod a cpu=1 " X "spread='zone 1 app=x min=5'\n"
     "pod b x3 " X "spread='zone 1 app=x'",
     "unschedulable=2"},
    {"14: the heaviest goes first, then the rest is kept",
     POOL "pod a x2 " X "spread='unknown 1 app=x any | host 1 app=x any'", "nodes=2 unschedulable=0"},
};

/* Before anything is placed. The fake provider has three zones. */
static const struct scenario needs[] = {
    {"MT2: flexible", POOL "pod a x2", "needs=flexible:2"},
    {"MT2: by selector", POOL "pod a sel=zone=z1\npod b sel=zone=z2\npod c sel=zone=z2", "needs=z1:1,z2:2"},
    {"MT2: several", POOL "pod a need='zone In z1,z2'\npod b need='zone NotIn z1'", "needs=flexible:2"},
    {"MT2: a preference", POOL "pod a want='1 zone In z1'", "needs=flexible:1"},
    {"MT2: with other pods",
     POOL "node n1 cpu=1 mem=1Gi pods=1 label=zone=z1\npod e " X "node=n1\npod a aff='zone app=x'", "needs=z1:1"},
    {"MT2: away from others",
     POOL "node n1 cpu=1 mem=1Gi pods=1 label=zone=z1\npod e " X "node=n1\n"
          "node n2 cpu=1 mem=1Gi pods=1 label=zone=z2\npod f " X "node=n2\npod a anti='zone app=x'",
     "needs=z3:1"},
    {"MT2: spread",
     POOL "node n1 cpu=1 mem=1Gi pods=1 label=zone=z1\npod e " X "node=n1\n"
          "node n2 cpu=1 mem=1Gi pods=1 label=zone=z2\npod f " X "node=n2\npod a " X "spread='zone 1 app=x'",
     "needs=z3:1"},
    {"MT2: spread, all alike", POOL "pod a x2 " X "spread='zone 1 app=x'", "needs=flexible:2"},
    {"MT2: nowhere to spread",
     POOL "node n1 cpu=1 mem=1Gi pods=1 label=zone=z1\npod e " X "node=n1\npod a " X
          "sel=zone=z1 spread='zone 1 app=x min=3'",
     "needs=none:1"},
    {"MT2: nobody to be with", POOL "pod a aff='zone app=x'", "needs=none:1"},
    {"MT2: others everywhere",
     POOL "node n1 cpu=1 mem=1Gi pods=1 label=zone=z1\npod e " X "node=n1\n"
          "node n2 cpu=1 mem=1Gi pods=1 label=zone=z2\npod f " X "node=n2\n"
          "node n3 cpu=1 mem=1Gi pods=1 label=zone=z3\npod g " X "node=n3\npod a anti='zone app=x'",
     "needs=none:1"},
    {"MT2: a volume", POOL "class c zones=z3\npvc p class=c\npod a pvc=p", "needs=z3:1"},
    {"MT2: a volume of several", POOL "class c zones=z1,z2\npvc p class=c\npod a pvc=p", "needs=flexible:1"},
    {"MT2: a volume of no zone", POOL "class c\npvc p class=c\npod a pvc=p", "needs=flexible:1"},
    {"MT2: a volume and a selector", POOL "class c zones=z1,z2\npvc p class=c\npod a pvc=p sel=zone=z3",
     "needs=none:1"},
    {"pods that run are not counted", "pool default\nnode n1 cpu=4 mem=4Gi pods=9 deleting\npod e node=n1\npod a",
     "needs=flexible:1"},
};

int main(void)
{
    static const struct scenarios tables[] = {
        SCENARIOS(zones),
        SCENARIOS(counting),
        SCENARIOS(others),
        SCENARIOS(needs),
    };

    return scenarios_main(tables, ARRAY_LEN(tables));
}
