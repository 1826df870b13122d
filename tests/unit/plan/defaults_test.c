/* Spread constraints that pods get from the scheduler's configuration: scheduling 19, TD and DI of 27.8 and 27.10. */
#include "support/scenario.h"

#define POOL "pool default limit=cpu=2000\n"
#define X "label=app=x owner=apps/v1/ReplicaSet/x "
#define RS "replicaset x sel=app=x\n"
#define CONSTRAINT(key, skew, when)                                                                                    \
    "{\"maxSkew\":" skew ",\"topologyKey\":\"" key "\",\"whenUnsatisfiable\":\"" when "\"}"
#define CONFIG(list) "set SCHEDULER_CONFIG={\"podTopologySpread\":{\"defaultConstraints\":[" list "]}}\n"
#define ZONE CONFIG(CONSTRAINT("topology.kubernetes.io/zone", "1", "DoNotSchedule"))
#define HOST CONFIG(CONSTRAINT("kubernetes.io/hostname", "1", "DoNotSchedule"))
#define SOFT CONFIG(CONSTRAINT("kubernetes.io/hostname", "1", "ScheduleAnyway"))
#define BOTH                                                                                                           \
    CONFIG(CONSTRAINT("topology.kubernetes.io/zone", "1", "DoNotSchedule") "," CONSTRAINT("kubernetes.io/hostname",    \
                                                                                          "1", "DoNotSchedule"))

static const struct scenario cases[] = {
    {"TD1: zones", ZONE POOL RS "pod a x6 " X, "zones=2,2,2"},
    {"TD1: hosts", HOST POOL RS "pod a x4 " X, "nodes=4"},
    {"TD1: all of them", BOTH POOL RS "pod a x6 " X, "zones=2,2,2 nodes=6"},
    {"TD1: without configuration", POOL RS "pod a x6 " X, "req.zone=-|-"},
    {"TD1: not with constraints of its own", ZONE POOL RS "pod a x4 " X "spread='host 2 app=x'",
     "nodes=2 req.zone=-|-"},
    {"TD1: not without owner or Service", ZONE POOL "pod a x4 label=app=x", "nodes=1 req.zone=-"},
    {"TD1: an owner nobody knows", ZONE POOL "pod a x4 " X, "nodes=1 req.zone=-"},
    {"TD1: minDomains come along",
     CONFIG("{\"maxSkew\":1,\"topologyKey\":\"topology.kubernetes.io/zone\",\"whenUnsatisfiable\":\"DoNotSchedule\","
            "\"minDomains\":5}") POOL RS "pod a x4 " X,
     "zones=1,1,1 unschedulable=1"},
    {"TD1: a hard one keeps pods away",
     ZONE "pool default req='zone In z1'\nnode n2 cpu=1 mem=1Gi pods=0 label=zone=z2\n" RS "pod a x3 " X,
     "unschedulable=2"},
    {"TD1: a soft one gives way",
     CONFIG(CONSTRAINT("topology.kubernetes.io/zone", "1",
                       "ScheduleAnyway")) "pool default req='zone In z1'\n"
                                          "node n2 cpu=1 mem=1Gi pods=0 label=zone=z2\n" RS "pod a x3 " X,
     "unschedulable=0"},
    {"TD1: a soft one holds while it can", SOFT POOL RS "pod a x3 " X, "nodes=3"},
    {"TD1: pods that run count",
     ZONE POOL RS "node n1 cpu=1 mem=1Gi pods=2 label=zone=z1\npod e x2 " X "node=n1\npod a x4 " X, "zones=2,2,2"},
    {"TD1: workloads apart",
     HOST POOL RS "replicaset y sel=app=y\npod a x2 " X "\npod b x2 label=app=y owner=apps/v1/ReplicaSet/y",
     "nodes=2 pods=2,2"},
    {"TD1: a Service's selector", HOST POOL "service s sel=app=x\npod a x3 label=app=x owner=batch/v1/Job/j",
     "nodes=3"},
    {"DI1: the owner's selector, not the pod's labels",
     HOST POOL RS "pod a x2 label=app=x,rev=1 owner=apps/v1/ReplicaSet/x\npod b x2 label=app=x,rev=2 "
                  "owner=apps/v1/ReplicaSet/x",
     "nodes=4"},
    {"DI1: expressions as they are",
     HOST POOL "replicaset x sel=?app:In:x,y label=app=x\npod a x2 " X "\npod b label=app=y", "nodes=2"},
    {"DI1: an owner that is not the controller", HOST POOL RS "pod a x3 " X "loose", "nodes=1"},
    {"DI1: an owner of another kind", HOST POOL RS "pod a x3 label=app=x owner=batch/v1/Job/x", "nodes=1"},
    {"DI1: an owner in another namespace", HOST POOL "ns other\nreplicaset x ns=other sel=app=x\npod a x3 " X,
     "nodes=1"},
    {"DI2: a Service that does not match", HOST POOL "service s sel=app=y\npod a x3 label=app=x", "nodes=1"},
    {"DI2: a Service without a selector", HOST POOL "service s\npod a x3 label=app=x", "nodes=1"},
    {"DI2: a Service in another namespace", HOST POOL "ns other\nservice s ns=other sel=app=x\npod a x3 label=app=x",
     "nodes=1"},
    {"DI2: two Services together: pods of only one of them do not count",
     HOST POOL "service s sel=app=x\nservice t sel=tier=1\npod b x2 cpu=0.5 label=app=x,tier=2 spread='zone 5 nil'\n"
               "pod a x2 label=app=x,tier=1",
     "nodes=2 pods=1,3"},
    {"DI2: ... and those of one alone keep away from both",
     HOST POOL "service s sel=app=x\nservice t sel=tier=1\npod a x2 cpu=0.5 label=app=x,tier=1\n"
               "pod b x2 label=app=x,tier=2",
     "nodes=4"},
    {"DI4: the same labels in two namespaces",
     HOST POOL "ns other\nservice s sel=app=x\npod a x2 label=app=x\npod b x2 ns=other label=app=x", "nodes=2"},
};

int main(void)
{
    static const struct scenarios tables[] = {
        SCENARIOS(cases),
    };

    return scenarios_main(tables, ARRAY_LEN(tables));
}
