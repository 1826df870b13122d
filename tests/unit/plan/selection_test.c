/* Which instance types a claim lists and launches: prices, minValues, reservations, overrides (scheduling 27.6, 27.7,
 * 27.9). */
#include "support/check.h"
#include "support/scenario.h"

#define POOL "pool default\n"
#define KWOK "catalog kwok\n"

static const struct scenario prices[] = {
    {"IS1: linux on arm", KWOK POOL "pod a cpu=1 sel=arch=arm64,os=linux", "types=c-2x-arm64-linux"},
    {"IS1: the pool says so", KWOK "pool default req='arch In arm64; os In linux'\npod a cpu=1",
     "types=c-2x-arm64-linux req.arch=In:arm64"},
    {"IS1: spot is cheaper", KWOK POOL "pod a cpu=1 sel=os=linux,arch=amd64", "at.ct=spot:1 cost=0.0380"},
    {"IS1: on-demand only", KWOK "pool default req='ct In on-demand'\npod a cpu=1 sel=os=linux,arch=amd64",
     "at.ct=on-demand:1 cost=0.0543"},
    {"IS1: zone and capacity type", KWOK "pool default req='ct In spot'\npod a cpu=1 sel=zone=zc",
     "at.zone=zc:1 at.ct=spot:1"},
    {"IS1: memory", KWOK POOL "pod a cpu=1 mem=7Gi sel=os=linux,arch=amd64", "types=s-2x-amd64-linux"},
    {"IS1: every type in order of price",
     "type a price=3\ntype b price=1\ntype c price=2\ntype d price=1.5\n" POOL "pod a", "offers=b,d,c,a"},
    {"IS1: equal prices in order of the catalogue", "type b price=1\ntype a price=1\ntype c price=1\n" POOL "pod a",
     "offers=b,a,c"},
    {"IS2: architecture", KWOK POOL "pod a sel=arch=nope", "unschedulable=1"},
    {"IS2: architecture and zone", KWOK POOL "pod a sel=arch=arm64,zone=nope", "unschedulable=1"},
    {"IS2: the pool's and the pod's", KWOK "pool default req='arch In arm64'\npod a sel=arch=amd64", "unschedulable=1"},
    {"IS4: only compatible offerings make a price",
     "type a offer='on-demand z1 1.0|spot z1 0.1'\ntype b offer='on-demand z1 0.5|spot z1 0.4'\n"
     "pool default req='ct In on-demand'\npod p",
     "offers=b,a"},
    {"IS4: ... and available ones",
     "type a offer='on-demand z1 1.0|spot z1 0.1 gone'\ntype b offer='on-demand z1 0.5|spot z1 0.4'\n" POOL "pod p",
     "offers=b,a"},
    {"IS4: a zone",
     "type a offer='spot z1 0.1|spot z2 0.9'\ntype b offer='spot z1 0.2|spot z2 0.3'\n" POOL "pod p sel=zone=z2",
     "offers=b,a cost=0.3000"},
    {"a type without offerings is no type", "type a offer='spot z1 0.1 gone'\n" POOL "pod p", "unschedulable=1"},
    {"zone and capacity type must be had together",
     "type a offer='spot z1 0.1|on-demand z2 0.2'\n" POOL "pod p sel=zone=z1,ct=on-demand", "unschedulable=1"},
    {"a zone only in some type's sold-out offering is known, not had",
     "type a offer='spot z1 0.1|spot z2 0.1 gone'\n" POOL "pod p sel=zone=z2", "unschedulable=1"},
};

/* Sizes whose cheapest type follows from kwok's price list: 0.025 a cpu and 0.001 a GB. */
static const struct scenario sizes[] = {
    {"IS3: 0.1, 1Gi", KWOK POOL "pod a cpu=0.1 mem=1Gi sel=os=linux,arch=amd64", "types=c-1x-amd64-linux"},
    {"IS3: 0.9, 1Gi", KWOK POOL "pod a cpu=0.9 mem=1Gi sel=os=linux,arch=amd64", "types=c-1x-amd64-linux"},
    {"IS3: 0.901, 1Gi", KWOK POOL "pod a cpu=0.901 mem=1Gi sel=os=linux,arch=amd64", "types=c-2x-amd64-linux"},
    {"IS3: 0.5, 2Gi", KWOK POOL "pod a cpu=0.5 mem=2Gi sel=os=linux,arch=amd64", "types=s-1x-amd64-linux"},
    {"IS3: 0.5, 7Gi", KWOK POOL "pod a cpu=0.5 mem=7Gi sel=os=linux,arch=amd64", "types=m-1x-amd64-linux"},
    {"IS3: 7.9, 15Gi", KWOK POOL "pod a cpu=7.9 mem=15Gi sel=os=linux,arch=amd64", "types=c-8x-amd64-linux"},
    {"IS3: 7.9, 17Gi", KWOK POOL "pod a cpu=7.9 mem=17Gi sel=os=linux,arch=amd64", "types=s-8x-amd64-linux"},
    {"IS3: 255.9, 1Gi", KWOK POOL "pod a cpu=255.9 mem=1Gi sel=os=linux,arch=amd64", "types=c-256x-amd64-linux"},
    {"IS3: 256, 1Gi", KWOK POOL "pod a cpu=256 mem=1Gi sel=os=linux,arch=amd64", "unschedulable=1"},
};

#define TWO "type a cpu=4 mem=4Gi offer='spot z1|spot z2'\ntype b cpu=2 mem=2Gi offer='spot z1|spot z2'\n"
#define BEST "set MIN_VALUES_POLICY=BestEffort\n"

static const struct scenario min_values[] = {
    {"MV1: types", TWO "pool default req='itype Exists min 3'\npod a", "unschedulable=1"},
    {"MV1: zones", TWO "pool default req='zone Exists min 3'\npod a", "unschedulable=1"},
    {"MV1: enough", TWO "pool default req='itype Exists min 2; zone Exists min 2'\npod a",
     "nodes=1 req.itype=In:a,b~2 req.zone=Exists~2 relaxed=0"},
    {"MV2: types, best effort", BEST TWO "pool default req='itype Exists min 3'\npod a",
     "nodes=1 req.itype=In:a,b~2 relaxed=1"},
    {"MV2: zones, best effort", BEST TWO "pool default req='zone Exists min 3'\npod a",
     "nodes=1 req.zone=Exists~2 relaxed=1"},
    {"MV2: enough, best effort", BEST TWO "pool default req='itype Exists min 2'\npod a",
     "nodes=1 req.itype=In:a,b~2 relaxed=0"},
    {"MV3: the heavier pool is relaxed first", BEST TWO "pool hi weight=50 req='itype Exists min 3'\npool lo\npod a",
     "pools=hi relaxed=1"},
    {"MV3: strict: it is passed over", TWO "pool hi weight=50 req='itype Exists min 3'\npool lo\npod a", "pools=lo"},
    {"MV3: both need it",
     BEST TWO "pool hi weight=50 req='itype Exists min 3'\npool lo weight=1 req='itype Exists min 4'\npod a",
     "pools=hi"},
    {"MV4: types and zones", BEST TWO "pool default req='itype Exists min 3; zone Exists min 4'\npod a",
     "req.itype=In:a,b~2 req.zone=Exists~2 relaxed=1"},
    {"MV: a claim under way is strict about what was lowered",
     BEST "type a cpu=1 mem=1Gi\ntype b cpu=4 mem=4Gi\npool default req='itype Exists min 3'\npod p x2 cpu=0.8",
     "nodes=2 relaxed=2"},
    {"IS5: two types are kept by two nodes",
     "type a cpu=1 mem=1Gi\ntype b cpu=4 mem=4Gi\npool default req='itype Exists min 2'\npod p x2 cpu=0.8",
     "nodes=2 offers=a,b|a,b"},
    {"IS6: Gt", "pool default req='integer Gt 2 min 2'\npod a", "nodes=1 req.integer=Gte:3~2"},
    {"IS6: Gt, too few", "pool default req='integer Gt 4 min 2'\npod a", "unschedulable=1"},
    {"IS6: Lt", "pool default req='integer Lt 16 min 2'\npod a", "nodes=1 req.integer=Lte:15~2"},
    {"IS6: Lt, too few", "pool default req='integer Lt 4 min 2'\npod a", "unschedulable=1"},
    {"IS7: In and NotIn: the larger", TWO "pool default req='itype In a,b,c min 1; itype NotIn c min 2'\npod p",
     "req.itype=In:a,b~2"},
    {"IS7: Gt and Lt: the larger", "pool default req='integer Gt 1 min 1; integer Lt 16 min 2'\npod p",
     "req.integer=Gte:2~2&Lte:15~2"},
    {"IS7: several", TWO "pool default req='itype Exists min 1; itype In a,b min 2; itype NotIn z min 1'\npod p",
     "req.itype=In:a,b~2"},
    {"IS8: too few", TWO "pool default req='itype In a,b,c,d min 4'\npod p", "unschedulable=1"},
    {"IS9: several keys", TWO "pool default req='itype Exists min 2; integer Exists min 2; arch Exists min 1'\npod p",
     "nodes=1 req.integer=Exists~2 req.arch=Exists~1"},
    {"IS9: one of them fails", TWO "pool default req='itype Exists min 2; integer Exists min 3'\npod p",
     "unschedulable=1"},
    {"IS9: a pod that narrows too far", TWO "pool default req='itype Exists min 2'\npod p cpu=3", "unschedulable=1"},
};

#define SPOT "spot z1 0.5|on-demand z1 1"
#define APART "label=app=x anti='host app=x'"

static const struct scenario reservations[] = {
    {"RV1: one after the other",
     "type s cpu=2 mem=2Gi offer='reserved z1 0.001 id=rs left=1|" SPOT "'\n"
     "type m cpu=4 mem=4Gi offer='reserved z1 0.002 id=rm left=1|" SPOT "'\n" POOL "pod p x3 cpu=1 " APART "\n"
     "next\nclear types\n"
     "type s cpu=2 mem=2Gi offer='reserved z1 0.001 id=rs left=0 gone|" SPOT "'\n"
     "type m cpu=4 mem=4Gi offer='reserved z1 0.002 id=rm left=1|" SPOT "'\n"
     "next\nclear types\n"
     "type s cpu=2 mem=2Gi offer='reserved z1 0.001 id=rs left=0 gone|" SPOT "'\n"
     "type m cpu=4 mem=4Gi offer='reserved z1 0.002 id=rm left=0 gone|" SPOT "'\n",
     "nodes=1 deferred=2 types=s req.ct=In:reserved req.karpenter.kwok.sh/reservation-id=In:rm,rs / "
     "nodes=1 deferred=1 types=m req.karpenter.kwok.sh/reservation-id=In:rm / "
     "nodes=1 unschedulable=0 req.ct=In:on-demand,spot req.karpenter.kwok.sh/reservation-id=-"},
    {"RV2: two pools share one",
     "type s offer='reserved z1 0.001 id=r left=1|" SPOT "'\npool a\npool b\npod p sel=np=a\npod q sel=np=b",
     "nodes=1 deferred=1 lost=q"},
    {"RV3: one for each pool",
     "type s offer='reserved z1 0.001 id=r1 left=1|reserved z2 0.001 id=r2 left=1|" SPOT "|on-demand z2 1'\n"
     "pool a req='zone In z1'\npool b req='zone In z2'\npod p sel=np=a\npod q sel=np=b",
     "nodes=2 unschedulable=0 req.karpenter.kwok.sh/reservation-id=In:r1|In:r2"},
    {"RV4: several for one type",
     "type s offer='reserved z1 0.001 id=r1 left=1|reserved z1 0.001 id=r2 left=2|" SPOT "'\n" POOL "pod p x4 " APART,
     "nodes=2 deferred=2 req.karpenter.kwok.sh/reservation-id=In:r1,r2|In:r2"},
    {"RV5: no other pool meanwhile",
     "type s offer='reserved z1 0.001 id=r left=1|" SPOT
     "'\npool hi weight=9\npool lo req='ct In spot'\npod p x2 " APART,
     "nodes=1 pools=hi deferred=1"},
    {"RV5: nothing reserved is left",
     "type s offer='reserved z1 0.001 id=r left=0 gone|" SPOT "'\npool hi weight=9\npool lo\npod p x2 " APART,
     "nodes=2 pools=hi,hi deferred=0"},
    {"RV6: preferences are not given up for it",
     "type s offer='reserved z1 0.001 id=r left=1|" SPOT "'\npool hi\npool lo req='ct In spot'\n"
     "pod p x2 want='1 np In hi' " APART,
     "nodes=1 pools=hi deferred=1"},
    {"RV7: pods that want reserved capacity share it",
     "type s offer='reserved z1 0.001 id=r left=1|" SPOT "'\n" POOL "pod p x2 sel=ct=reserved",
     "nodes=1 unschedulable=0"},
    {"RV: a pod that rules it out is not deferred",
     "type s offer='reserved z1 0.001 id=r left=1|" SPOT "'\n" POOL "pod p x3 sel=ct=spot " APART,
     "nodes=3 deferred=0 req.ct=In:spot|In:spot|In:spot"},
    {"RV: a claim does not lose what it holds",
     "type s cpu=2 mem=2Gi offer='reserved z1 0.001 id=r left=1|" SPOT "'\ntype m cpu=4 mem=4Gi offer='" SPOT "'\n" POOL
     "pod p cpu=1.5\npod q cpu=1.2",
     "nodes=1 deferred=1"},
    {"RM1: the least number counts",
     "type s offer='reserved z1 0.001 id=r left=3|" SPOT "'\ntype m offer='reserved z1 0.002 id=r left=1|" SPOT
     "'\n" POOL "pod p x3 " APART,
     "nodes=1 deferred=2"},
    {"RM2: a claim reserves once however many pods it has",
     "type s offer='reserved z1 0.001 id=r left=2|" SPOT "'\n" POOL "pod p x5 cpu=0.1\npod q x5 cpu=0.1",
     "nodes=2 unschedulable=0 req.ct=In:reserved|In:reserved"},
    {"RM3: what a claim rules out is given back",
     "type s offer='reserved z1 0.001 id=r1 left=1|reserved z2 0.001 id=r2 left=1|" SPOT "|on-demand z2 1'\n" POOL
     "pod p cpu=1 label=app=x\npod r cpu=0.9 sel=zone=z1\npod q cpu=0.8 label=app=x anti='host app=x'",
     "nodes=2 unschedulable=0 req.karpenter.kwok.sh/reservation-id=In:r1|In:r2"},
    {"RV: the gate is off",
     "set FEATURE_GATES=ReservedCapacity=false\ntype s offer='reserved z1 0.001 id=r left=1|" SPOT "'\n" POOL
     "pod p x3 " APART,
     "nodes=3 deferred=0 req.ct=In:on-demand,reserved,spot|In:on-demand,reserved,spot|In:on-demand,reserved,spot"},
    {"RV: all types stay listed",
     "type s price=1 offer='reserved z1 0.001 id=r left=1|" SPOT "'\ntype m price=2\n" POOL "pod p", "n.offers=2"},
};

static const struct scenario overrides[] = {
    {"OO1: only that offering has it",
     "type a offer='on-demand z1 1 over=fake.com/x=1|spot z2 0.1'\ntype b\n" POOL "pod p res=fake.com/x=1", "offers=a"},
    {"OO1: ... and it is gone",
     "type a offer='on-demand z1 1 over=fake.com/x=1 gone|spot z2 0.1'\ntype b\n" POOL "pod p res=fake.com/x=1",
     "unschedulable=1"},
    {"OO1: ... or in another zone",
     "type a offer='on-demand z1 1 over=fake.com/x=1|spot z2 0.1'\n" POOL "pod p res=fake.com/x=1 sel=zone=z2",
     "unschedulable=1"},
    {"OO1: it is added to what the type has",
     "type a cpu=4 offer='on-demand z1 1 over=cpu=2|spot z2 0.1'\n" POOL "pod p cpu=5.9", "nodes=1"},
    {"P1: huge pages are taken from memory", "type a mem=4Gi res=hugepages-2Mi=3Gi\n" POOL "pod p mem=1Gi",
     "unschedulable=1"},
    {"P1: ... what is left is memory", "type a mem=4Gi res=hugepages-2Mi=3Gi\n" POOL "pod p mem=1000Mi", "nodes=1"},
    {"P1: ... and they can be asked for", "type a mem=4Gi res=hugepages-2Mi=3Gi\n" POOL "pod p res=hugepages-2Mi=3Gi",
     "nodes=1"},
    {"P1: never below nothing", "type a mem=4Gi res=hugepages-2Mi=5Gi\n" POOL "pod p mem=0\npod q mem=1",
     "nodes=1 lost=q"},
    {"OO1: other pods use the type as before",
     "type a offer='on-demand z1 1 over=fake.com/x=1|spot z2 0.1'\n" POOL "pod p", "offers=a cost=0.1000"},
};

int main(void)
{
    static const struct scenarios tables[] = {
        SCENARIOS(prices), SCENARIOS(sizes), SCENARIOS(min_values), SCENARIOS(reservations), SCENARIOS(overrides),
    };

    return scenarios_main(tables, ARRAY_LEN(tables));
}
