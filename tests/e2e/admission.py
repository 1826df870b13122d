"""What the custom resource definitions accept and refuse, asked of the real API server and of the demo.

Every case is a valid object with some fields changed, sent as a dry run: either it is accepted, or the refusal contains the words
given. Both servers must give the same answer, word for word. The names are those of the checklists of the kinds' behaviour.
"""
import copy
import json

import client

GONE = object()  # the field is taken out


def put(obj, path, value):
    """Sets obj.a.b[0].c for the path "a/b/0/c"; GONE takes it out. A list grows by one at its end."""
    *way, last = path.split("/")
    for step in way:
        if isinstance(obj, list):
            obj = obj[int(step)]
        else:
            obj = obj.setdefault(step, {})
    if isinstance(obj, list):
        if int(last) == len(obj):
            obj.append(value)
        else:
            obj[int(last)] = value
    elif value is GONE:
        obj.pop(last, None)
    else:
        obj[last] = value


CLASS = {"group": "karpenter.kwok.sh", "kind": "KWOKNodeClass", "name": "default"}
NODEPOOL = {
    "apiVersion": "karpenter.sh/v1", "kind": "NodePool", "metadata": {"name": "case"},
    "spec": {"template": {"metadata": {}, "spec": {"nodeClassRef": CLASS, "requirements": [
        {"key": "karpenter.sh/capacity-type", "operator": "Exists"}]}}},
}
NODECLAIM = {
    "apiVersion": "karpenter.sh/v1", "kind": "NodeClaim", "metadata": {"name": "case"},
    "spec": {"nodeClassRef": CLASS, "requirements": [{"key": "karpenter.sh/capacity-type", "operator": "Exists"}]},
}
OVERLAY = {"apiVersion": "karpenter.sh/v1alpha1", "kind": "NodeOverlay", "metadata": {"name": "case"},
           "spec": {"requirements": [{"key": "karpenter.sh/capacity-type", "operator": "In", "values": ["spot"]}]}}
BUFFER = {"apiVersion": "autoscaling.x-k8s.io/v1beta1", "kind": "CapacityBuffer", "metadata": {"name": "case", "namespace": "default"},
          "spec": {"podTemplateRef": {"name": "t"}, "replicas": 1}}
EC2 = {"apiVersion": "karpenter.k8s.aws/v1", "kind": "EC2NodeClass", "metadata": {"name": "case"},
       "spec": {"role": "r", "amiSelectorTerms": [{"alias": "al2023@latest"}], "subnetSelectorTerms": [{"tags": {"a": "b"}}],
                "securityGroupSelectorTerms": [{"tags": {"a": "b"}}]}}
PATHS = {
    "NodePool": "/apis/karpenter.sh/v1/nodepools", "NodeClaim": "/apis/karpenter.sh/v1/nodeclaims",
    "NodeOverlay": "/apis/karpenter.sh/v1alpha1/nodeoverlays",
    "CapacityBuffer": "/apis/autoscaling.x-k8s.io/v1beta1/namespaces/default/capacitybuffers",
    "EC2NodeClass": "/apis/karpenter.k8s.aws/v1/ec2nodeclasses",
}

OK = None
CASES = []  # (id, base object, {path: value}, OK or words of the refusal)


def case(name, base, edits, want=OK):
    CASES.append((name, base, edits, want))


def each(name, base, path, accepted=(), refused=(), words=""):
    for v in accepted:
        case(f"{name} {json.dumps(v)[:60]} accepted", base, {path: v})
    for v in refused:
        case(f"{name} {json.dumps(v)[:60]} refused", base, {path: v}, words)


# ---- what NodePools and NodeClaims share ----

GOOD_KEYS = ["Test", "test.com/Test", "test.com.com/test", "key-only"]
BAD_KEYS = ["test.com.com}", "Test.com/test", "test/test/test", "test/", "/test"]


def shared(prefix, base, spec):
    at = spec + "/"
    each(prefix + " expireAfter", base, at + "expireAfter", ["Never", "30s", "1h30m5s"], ["-1s", "1hr", "FooNever", ""], "should match")
    each(prefix + " terminationGracePeriod", base, at + "terminationGracePeriod", ["30s", "1h30m5s"], ["-30s", "1hr", "Never", "30sx"], "should match")
    for field in ("taints", "startupTaints"):
        taint = at + field
        for key in GOOD_KEYS:
            case(f"{prefix} {field} key {key} accepted", base, {taint: [{"key": key, "value": "v", "effect": "NoSchedule"}]})
        for key in BAD_KEYS:
            case(f"{prefix} {field} key {key} refused", base, {taint: [{"key": key, "effect": "NoSchedule"}]}, "should match")
        case(f"{prefix} {field} without key", base, {taint: [{"effect": "NoSchedule"}]}, "Required value")
        case(f"{prefix} {field} empty key", base, {taint: [{"key": "", "effect": "NoSchedule"}]}, "at least 1 chars long")
        case(f"{prefix} {field} bad value", base, {taint: [{"key": "a", "value": "???", "effect": "NoSchedule"}]}, "should match")
        case(f"{prefix} {field} bad effect", base, {taint: [{"key": "a", "effect": "Now"}]}, "Unsupported value")
        case(f"{prefix} {field} without effect", base, {taint: [{"key": "a"}]}, "Required value")
        case(f"{prefix} {field} one key, two effects", base, {taint: [{"key": "a", "effect": "NoSchedule"}, {"key": "a", "effect": "NoExecute"}]})
        case(f"{prefix} {field} long key", base, {taint: [{"key": "a" * 64, "effect": "NoSchedule"}]})
    one = at + "requirements"
    for key in GOOD_KEYS:
        case(f"{prefix} requirement key {key} accepted", base, {one: [{"key": key, "operator": "Exists"}]})
    for key in BAD_KEYS:
        case(f"{prefix} requirement key {key} refused", base, {one: [{"key": key, "operator": "Exists"}]}, "should match")
    case(f"{prefix} requirement key too long", base, {one: [{"key": "a" * 317, "operator": "Exists"}]}, "Too long")
    for op in ("In", "NotIn", "Exists", "DoesNotExist", "Gt", "Lt", "Gte", "Lte"):
        values = [] if op in ("Exists", "DoesNotExist") else ["1"]
        case(f"{prefix} operator {op}", base, {one: [{"key": "a", "operator": op, "values": values}]})
    case(f"{prefix} operator unknown", base, {one: [{"key": "a", "operator": "unknown", "values": ["1"]}]}, "Unsupported value")
    case(f"{prefix} operator left out means In", base, {one: [{"key": "a", "values": ["1"]}]})
    for key in ("karpenter.sh/test", "sub.karpenter.sh/test", "karpenter.sh/initialized", "kubernetes.io/hostname",
                "karpenter.k8s.aws/unknown", "karpenter.kwok.sh/unknown"):
        case(f"{prefix} requirement on {key}", base, {one: [{"key": key, "operator": "In", "values": ["a"]}]}, "is restricted")
    for key in ("karpenter.sh/capacity-type", "kubernetes.io/arch", "topology.kubernetes.io/zone", "node.kubernetes.io/instance-type", "k8s.io/x",
                "sub.kubernetes.io/x", "kops.k8s.io/instancegroup", "karpenter.k8s.aws/instance-family", "karpenter.kwok.sh/instance-size"):
        case(f"{prefix} requirement on {key} accepted", base, {one: [{"key": key, "operator": "In", "values": ["a"]}]})
    case(f"{prefix} no requirements", base, {one: []})
    case(f"{prefix} requirements left out", base, {one: GONE}, "Required value")
    case(f"{prefix} overlapping requirements", base, {one: [{"key": "a", "operator": "In", "values": ["1", "2"]},
                                                            {"key": "a", "operator": "In", "values": ["2", "3"]}]})
    case(f"{prefix} In without values", base, {one: [{"key": "a", "operator": "In", "values": []}]}, "must have a value defined")
    for op in ("Gt", "Lt", "Gte", "Lte"):
        for values in ([], ["1", "2"], ["-1"]):
            case(f"{prefix} {op} {values}", base, {one: [{"key": "a", "operator": op, "values": values}]}, "single positive integer")
        case(f"{prefix} {op} of a word", base, {one: [{"key": "a", "operator": op, "values": ["a"]}]}, "requirements")
    many = [str(i) for i in range(60)]
    case(f"{prefix} many values", base, {one: [{"key": "a", "operator": "In", "values": many}]})
    for n, words in ((-1, "should be greater than or equal to 1"), (0, "should be greater than or equal to 1"), (51, "should be less than or equal to 50")):
        case(f"{prefix} minValues {n}", base, {one: [{"key": "a", "operator": "In", "values": many, "minValues": n}]}, words)
    case(f"{prefix} minValues 2 of 2", base, {one: [{"key": "a", "operator": "In", "values": ["1", "2"], "minValues": 2}]})
    case(f"{prefix} minValues 3 of 2", base, {one: [{"key": "a", "operator": "In", "values": ["1", "2"], "minValues": 3}]}, "minValues")
    case(f"{prefix} 101 requirements", base, {one: [{"key": f"k{i}", "operator": "Exists"} for i in range(101)]}, "Too many")
    ref = at + "nodeClassRef"
    case(f"{prefix} class by name alone", base, {ref: {"name": "default"}})
    case(f"{prefix} class without name", base, {ref: {"group": "a", "kind": "b"}}, "Required value")
    for field in ("group", "kind", "name"):
        case(f"{prefix} class with empty {field}", base, {f"{ref}/{field}": ""}, "may not be empty")
    case(f"{prefix} class group with a slash", base, {f"{ref}/group": "a/v1"}, "should match")
    case(f"{prefix} class left out", base, {ref: GONE}, "Required value")


shared("nodepool", NODEPOOL, "spec/template/spec")
shared("nodeclaim", NODECLAIM, "spec")

# ---- NodePool alone ----

each("consolidateAfter", NODEPOOL, "spec/disruption/consolidateAfter", ["Never", "30s", "1h30m5s"], ["-1s", "1hr", "FooNever"], "should match")
for policy in ("WhenEmpty", "WhenEmptyOrUnderutilized", "Balanced"):
    case(f"{policy} with Never", NODEPOOL, {"spec/disruption": {"consolidationPolicy": policy, "consolidateAfter": "Never"}})
    case(f"{policy} without consolidateAfter", NODEPOOL, {"spec/disruption": {"consolidationPolicy": policy}})
each("policy", NODEPOOL, "spec/disruption/consolidationPolicy", ["WhenUnderutilized"], ["whenempty", "1", "", "Always"], "Unsupported value")
case("old place of expireAfter", NODEPOOL, {"spec/disruption/expireAfter": "720h"})
BUDGETS = "spec/disruption/budgets"  # BU-4
for good in ({"nodes": "10", "schedule": "* * * * *", "duration": "20h"}, {"nodes": "10", "schedule": "* * * * *", "duration": "2h20m"}, {"nodes": "10"},
             {"nodes": "10", "schedule": "@annually", "duration": "2h"}, {}):
    case(f"budget {good}", NODEPOOL, {BUDGETS: [good]})
for bad, words in (({"nodes": "10", "schedule": "*", "duration": "20m"}, "should match"),
                   ({"nodes": "10", "schedule": "* * * *", "duration": "20m"}, "should match"),
                   ({"nodes": "10", "schedule": "* * * * *", "duration": "-20m"}, "should match"),
                   ({"nodes": "10", "schedule": "* * * * *", "duration": "30s"}, "should match"),
                   ({"nodes": "-10"}, "should match"), ({"nodes": "-10%"}, "should match"), ({"nodes": "1000%"}, "should match"),
                   ({"nodes": "10", "schedule": "* * * * *"}, "must be set with"), ({"nodes": "10", "duration": "20m"}, "must be set with")):
    case(f"budget {bad}", NODEPOOL, {BUDGETS: [bad]}, words)
    case(f"budget {bad} beside a good one", NODEPOOL, {BUDGETS: [{"nodes": "5"}, bad]}, words)
case("51 budgets", NODEPOOL, {BUDGETS: [{"nodes": "1"}] * 51}, "Too many")
for good in (["Drifted"], ["Underutilized"], ["Empty"], ["Drifted", "Empty", "Underutilized"]):
    case(f"reasons {good}", NODEPOOL, {BUDGETS: [{"nodes": "1", "reasons": good}]})
for bad in (["CloudProviderDisruption"], ["expired"], [""]):
    case(f"reasons {bad}", NODEPOOL, {BUDGETS: [{"nodes": "1", "reasons": bad}]}, "Unsupported value")
LABELS = "spec/template/metadata/labels"
for key in ("foo", "kops.k8s.io/instancegroup", "kubernetes.io/custom", "sub.kubernetes.io/custom", "example.com/x", "karpenter.sh/capacity-type",
            "karpenter.k8s.aws/instance-size"):
    case(f"label {key}", NODEPOOL, {LABELS: {key: "bar"}})
# V22
for key in ("instance-category", "instance-family", "instance-generation", "instance-size", "instance-cpu", "instance-cpu-manufacturer", "instance-memory",
            "instance-hypervisor", "instance-local-nvme", "instance-ebs-bandwidth", "instance-network-bandwidth", "instance-gpu-name", "instance-gpu-count",
            "instance-accelerator-name", "instance-accelerator-count", "instance-encryption-in-transit-supported", "instance-tenancy",
            "capacity-reservation-id", "capacity-reservation-type", "placement-group-id", "placement-group-partition"):
    case(f"label karpenter.k8s.aws/{key}", NODEPOOL, {LABELS: {f"karpenter.k8s.aws/{key}": "1"}})
    case(f"requirement on karpenter.k8s.aws/{key}", NODEPOOL,
         {"spec/template/spec/requirements": [{"key": f"karpenter.k8s.aws/{key}", "operator": "In", "values": ["1"]}]})
for key in ("karpenter.sh/nodepool", "kubernetes.io/hostname", "karpenter.sh/custom", "karpenter.k8s.aws/custom", "karpenter.kwok.sh/custom"):
    case(f"label {key} refused", NODEPOOL, {LABELS: {key: "bar"}}, "is restricted")
case("label with a bad value", NODEPOOL, {LABELS: {"a": "/ no /"}}, "should match")
case("label with a long value", NODEPOOL, {LABELS: {"a": "x" * 64}}, "Too long")
each("weight", NODEPOOL, "spec/weight", [1, 100], [0, 101], "should be")
each("limits", NODEPOOL, "spec/limits", [{"cpu": 100}, {"memory": "10Gi"}], [{"cpu": "many"}], "should match")
each("replicas", NODEPOOL, "spec/replicas", [0, 1, 1000000], [-1], "should be greater than or equal to 0")
case("replicas beyond measure", NODEPOOL, {"spec/replicas": 3000000000}, "should be less than or equal to 2147483647")
for key in ("cpu", "memory", "pods", "ephemeral-storage"):
    case(f"fixed replicas with a limit on {key}", NODEPOOL, {"spec/replicas": 1, "spec/limits": {key: "1"}}, "limits.nodes")
case("fixed replicas with a weight", NODEPOOL, {"spec/replicas": 1, "spec/weight": 5}, "weight")
case("fixed replicas with a limit on nodes", NODEPOOL, {"spec/replicas": 1, "spec/limits": {"nodes": "5"}, BUDGETS: [{"nodes": "1"}]})
case("template left out", NODEPOOL, {"spec/template": GONE}, "Required value")

# ---- NodeOverlay, CapacityBuffer ----

REQ = "spec/requirements"
for op in ("In", "NotIn"):
    case(f"overlay {op} without values", OVERLAY, {REQ: [{"key": "a", "operator": op}]}, "must have a value defined")
case("overlay on a NodePool", OVERLAY, {REQ: [{"key": "karpenter.sh/nodepool", "operator": "In", "values": ["a"]}]})
case("overlay for everything", OVERLAY, {REQ: []})
for key in ("karpenter.sh/custom", "kubernetes.io/hostname", "karpenter.k8s.aws/instance-tenancy"):
    case(f"overlay on {key}", OVERLAY, {REQ: [{"key": key, "operator": "Exists"}]}, "is restricted")
each("overlay priceAdjustment", OVERLAY, "spec/priceAdjustment", ["+5", "-2.5", "+.5", "+150%", "-99.9%", "-100%", "+0.5"],
     ["5", "5%", ".5", "+42.", "+1,5", "+1e3", "+0x1", "ten", "+ 5", "+1.2.3", "+", "+.", "-100.0%", "-101.1%"], "should match")
each("overlay price", OVERLAY, "spec/price", ["1", "0.25"], ["+1", "-1", ".5", "42.", "5%", "1,5", "1e3", "0x1", "ten", "1 ", "1.2.3"], "should match")
case("overlay with two prices", OVERLAY, {"spec/price": "1", "spec/priceAdjustment": "+1"}, "cannot set both")
each("overlay capacity", OVERLAY, "spec/capacity", [{"example.com/gpu": "1"}], [{"cpu": "1"}, {"memory": "1Gi"}, {"pods": "1"}], "restricted")
each("overlay weight", OVERLAY, "spec/weight", [1, 10000], [0, 10001], "should be")

for edits in ({}, {"spec/replicas": GONE, "spec/limits": {"cpu": "1"}}, {"spec/replicas": 0}, {"spec/percentage": 0},
              {"spec/podTemplateRef": GONE, "spec/replicas": GONE, "spec/scalableRef": {"kind": "Deployment", "name": "a"}},
              {"spec/podTemplateRef": GONE, "spec/scalableRef": {"apiGroup": "", "kind": "Deployment", "name": "a"}}):
    case(f"buffer {list(edits)}", BUFFER, edits)
case("buffer with two references", BUFFER, {"spec/scalableRef": {"kind": "Deployment", "name": "a"}}, "exactly one of")
case("buffer without a size", BUFFER, {"spec/replicas": GONE}, "at least one of replicas or limits")
case("buffer of less than nothing", BUFFER, {"spec/replicas": -1}, "should be greater")
case("buffer with a negative percentage", BUFFER, {"spec/percentage": -1}, "should be greater")
case("buffer with an empty template name", BUFFER, {"spec/podTemplateRef/name": ""}, "at least 1 chars long")
case("buffer with an empty kind", BUFFER, {"spec/podTemplateRef": GONE, "spec/scalableRef": {"kind": "", "name": "a"}}, "at least 1 chars long")

# ---- EC2NodeClass ----

S = "spec/"
# V1
case("role alone", EC2, {})
case("instance profile alone", EC2, {S + "role": GONE, S + "instanceProfile": "p"})
case("role and instance profile", EC2, {S + "instanceProfile": "p"}, "exactly one of")
case("neither role nor instance profile", EC2, {S + "role": GONE}, "exactly one of")
# V2
case("empty user data", EC2, {S + "userData": ""})
# V3, V4
ALIASES = {"al2": "AL2", "al2023": "AL2023", "bottlerocket": "Bottlerocket", "windows2019": "Windows2019", "windows2022": "Windows2022",
           "windows2025": "Windows2025"}
for alias, family in ALIASES.items():
    for other in [*ALIASES.values(), "Custom"]:
        case(f"alias {alias} with family {other}", EC2, {S + "amiSelectorTerms": [{"alias": f"{alias}@latest"}], S + "amiFamily": other},
             OK if other in (family, "Custom") else "amiFamily must be")
case("unknown family", EC2, {S + "amiFamily": "Ubuntu"}, "Unsupported value")
# V5
case("neither family nor alias", EC2, {S + "amiSelectorTerms": [{"id": "ami-1"}]}, "must specify amiFamily")
case("family without terms", EC2, {S + "amiSelectorTerms": GONE, S + "amiFamily": "AL2023"})
case("no security groups named", EC2, {S + "securityGroupSelectorTerms": GONE})
case("alias without version", EC2, {S + "amiSelectorTerms": [{"alias": "al2023"}]})
# V6
each("tags", EC2, S + "tags", [{}, {"team": "blue"}],
     [{"": "x"}, {"karpenter.sh/nodepool": "x"}, {"karpenter.sh/nodeclaim": "x"}, {"kubernetes.io/cluster/c": "x"}, {"eks:eks-cluster-name": "x"},
      {"karpenter.k8s.aws/ec2nodeclass": "x"}], "tag")
# V7, V8
for field, ids, kind in (("subnetSelectorTerms", "subnet-1", "subnet"), ("securityGroupSelectorTerms", "sg-1", "security group")):
    each(field, EC2, S + field, [[{"tags": {"a": "b"}}], [{"id": ids}], [{"id": ids}, {"tags": {"a": "*"}}]],
         [[], [{}], [{"tags": {"": "b"}}], [{"tags": {"a": ""}}], [{"tags": {"a": "b"}}, {}], [{"id": ids, "tags": {"a": "b"}}]])
    case(f"{field} bad id", EC2, {S + field: [{"id": "x-1"}]}, "should match")
case("subnets left out", EC2, {S + "subnetSelectorTerms": GONE}, "Required value")
each("security group names", EC2, S + "securityGroupSelectorTerms", [[{"name": "x"}]], [[{"name": "x", "tags": {"a": "b"}}], [{"name": "x", "id": "sg-1"}]],
     "mutually exclusive")
# V9, V10
CR = S + "capacityReservationSelectorTerms"
each("capacity reservations", EC2, CR,
     [[{"tags": {"a": "b"}}], [{"id": "cr-1"}], [{"ownerID": "012345678901", "tags": {"a": "b"}}], [{"instanceMatchCriteria": "open"}],
      [{"instanceMatchCriteria": "targeted", "tags": {"a": "b"}}], [{"instanceMatchCriteria": "open", "ownerID": "012345678901", "tags": {"a": "b"}}]],
     [[], [{}], [{"id": "r-1"}], [{"tags": {"": "b"}}], [{"tags": {"a": ""}}], [{"id": "cr-1", "tags": {"a": "b"}}],
      [{"id": "cr-1", "ownerID": "012345678901"}], [{"ownerID": "12"}], [{"ownerID": "012345678901"}], [{"instanceMatchCriteria": "closed"}],
      [{"id": "cr-1", "instanceMatchCriteria": "open"}]])
# V11, V12
AMI = S + "amiSelectorTerms"
for term in ({"tags": {"a": "b"}}, {"id": "ami-1"}, {"name": "n"}, {"name": "n", "owner": "self"}, {"tags": {"a": "b"}, "owner": "self"},
             {"ssmParameter": "/p"}):
    case(f"image by {list(term)}", EC2, {AMI: [term], S + "amiFamily": "AL2023"})
for term in ({}, {"tags": {"": "b"}}, {"tags": {"a": ""}}, {"id": "ami-1", "alias": "al2023@latest"}, {"id": "ami-1", "tags": {"a": "b"}},
             {"id": "ami-1", "name": "n"}, {"id": "ami-1", "owner": "self"}, {"alias": "al2023@latest", "tags": {"a": "b"}},
             {"alias": "al2023@latest", "name": "n"}, {"alias": "al2023@latest", "owner": "self"}, {"owner": "self"}):
    case(f"image by {term} refused", EC2, {AMI: [term], S + "amiFamily": "AL2023"}, "")
case("alias beside another term", EC2, {AMI: [{"alias": "al2023@latest"}, {"id": "ami-1"}]}, "mutually exclusive")
# V13
for alias in ("al2@latest", "al2@v20240625", "al2023@latest", "al2023@v20240625", "bottlerocket@latest", "bottlerocket@1.10.0", "windows2019@latest",
              "windows2022@latest", "windows2025@latest"):
    case(f"alias {alias}", EC2, {AMI: [{"alias": alias}]})
for alias in ("@latest", "al2023@", "al2023:latest", "ubuntu@latest", "windows2019@v1", "windows2022@v1", "windows2025@v1"):
    case(f"alias {alias} refused", EC2, {AMI: [{"alias": alias}]}, "")
# V14
for kubelet in ({"maxPods": 10}, {"unknown": True}, {"maxPods": "no number"}, {"deep": {"a": [1, {"b": None}]}}):
    case(f"kubelet {kubelet}", EC2, {S + "kubelet": kubelet})
# V15
META = S + "metadataOptions/"
for field, good, bad in (("httpEndpoint", "enabled", "maybe"), ("httpProtocolIPv6", "disabled", "maybe"), ("httpPutResponseHopLimit", 64, 65),
                         ("httpTokens", "optional", "maybe")):
    each(f"metadata {field}", EC2, META + field, [good], [bad])
case("hop limit 0", EC2, {META + "httpPutResponseHopLimit": 0}, "should be greater")
# V16, V17
DEV = S + "blockDeviceMappings"


def ebs(root=None, **fields):
    return {"deviceName": "/dev/xvda", "ebs": fields, **({} if root is None else {"rootVolume": root})}


case("one root volume", EC2, {DEV: [ebs(True, volumeSize="20Gi"), ebs(False, volumeSize="1Ti")]})
case("two root volumes", EC2, {DEV: [ebs(True, volumeSize="20Gi"), ebs(True, volumeSize="1Ti")]}, "only one")
for size in ("1Gi", "59000Gi", "1G", "64000G", "1T", "64T", "58Ti"):
    case(f"volume of {size}", EC2, {DEV: [ebs(volumeSize=size)]})
for size in ("0.5Gi", "500Mi", "0Gi", "65T", "99999Gi", "vast"):
    case(f"volume of {size} refused", EC2, {DEV: [ebs(volumeSize=size)]}, "should match")
case("volume without size or snapshot", EC2, {DEV: [ebs(volumeType="gp3")]}, "must be defined")
case("rate without snapshot", EC2, {DEV: [ebs(volumeSize="20Gi", volumeInitializationRate=100)]}, "snapshotID must be set")
for rate, want in ((99, "should be"), (100, OK), (300, OK), (301, "should be")):
    case(f"rate {rate}", EC2, {DEV: [ebs(snapshotID="snap-1", volumeInitializationRate=rate)]}, want)
# V18
NIC = S + "networkInterfaces"


def nic(card, device, kind="interface"):
    return {"networkCardIndex": card, "deviceIndex": device, "interfaceType": kind}


each("network interfaces", EC2, NIC, [[], [nic(0, 0)], [nic(0, 0), nic(0, 1), nic(1, 1, "efa-only")]],
     [[nic(0, 0, "efa")], [nic(-1, 0)], [nic(0, -1)], [nic(0, 0), nic(0, 0)], [nic(0, 1)], [nic(0, 0, "efa-only")],
      [nic(0, 0), nic(1, 0, "efa-only"), nic(1, 1, "efa-only")]])
# V19
TRACK = S + "connectionTracking"
each("connection tracking", EC2, TRACK,
     [{"tcpEstablishedTimeout": 60}, {"udpStreamTimeout": 180}, {"udpTimeout": 30},
      {"tcpEstablishedTimeout": 432000, "udpStreamTimeout": 60, "udpTimeout": 60}],
     [{}, {"tcpEstablishedTimeout": 59}, {"tcpEstablishedTimeout": 432001}, {"udpStreamTimeout": 59}, {"udpStreamTimeout": 181}, {"udpTimeout": 29},
      {"udpTimeout": 61}])
# V21
each("cpu options", EC2, S + "cpuOptions", [{"nestedVirtualization": "enabled"}, {"nestedVirtualization": "disabled"}, {}],
     [{"nestedVirtualization": "maybe"}], "Unsupported value")
PG = S + "placementGroupSelector"
each("placement group", EC2, PG, [{"name": "a"}, {"id": "pg-1"}], [{}, {"name": ""}, {"id": "x"}, {"name": "a", "id": "pg-1"}])

# ---- changes of what exists ----

CHANGES = [  # (id, first, edits of the second, OK or words)
    ("class group is fixed", NODEPOOL, {"spec/template/spec/nodeClassRef/group": "x"}, "immutable"),
    ("class kind is fixed", NODEPOOL, {"spec/template/spec/nodeClassRef/kind": "x"}, "immutable"),
    ("class name may change", NODEPOOL, {"spec/template/spec/nodeClassRef/name": "x"}, OK),
    ("replicas cannot appear", NODEPOOL, {"spec/replicas": 1}, "Cannot transition"),
    ("a claim cannot change", NODECLAIM, {"spec/expireAfter": "1h"}, "spec is immutable"),
    ("a claim's labels may", NODECLAIM, {"metadata/labels": {"a": "b"}}, OK),
    # V20
    ("a role may change", EC2, {"spec/role": "other"}, OK),
    ("a role may become a profile", EC2, {"spec/role": GONE, "spec/instanceProfile": "p"}, OK),
]


def changed(base, edits):
    obj = copy.deepcopy(base)
    for path, value in edits.items():
        put(obj, path, copy.deepcopy(value) if value is not GONE else GONE)
    return obj


def verdict(answer, want):
    """What is wrong with an answer, or None."""
    code, body = answer
    said = body.get("message", "") if isinstance(body, dict) else str(body)
    if want is OK:
        return None if code in (200, 201) else f"refused: {said}"
    if code != 422:
        return f"answer {code}, not a refusal: {said[:300]}"
    return None if want in said else f"refused in other words: {said}"


def outcome(answer):
    code, body = answer
    if code in (200, 201):
        return code, {k: v for k, v in body.items() if k != "metadata"}
    return code, body


def ask(c, base, edits):
    return c.call("POST", PATHS[base["kind"]] + "?dryRun=All", changed(base, edits))


def change(c, first, edits):
    path = PATHS[first["kind"]]
    code, made = c.call("POST", path, first)
    if code != 201:
        return code, made
    second = changed(first, edits)
    second["metadata"] = {**second["metadata"], "resourceVersion": made["metadata"]["resourceVersion"]}
    answer = c.call("PUT", f"{path}/{first['metadata']['name']}?dryRun=All", second)
    c.call("DELETE", f"{path}/{first['metadata']['name']}")
    return answer


def run(sides, only):
    """Yields (name, problem or None). `sides` has the real server first."""
    clients = [client.Client(side) for side in sides]
    for how, cases in ((ask, CASES), (change, CHANGES)):
        for name, base, edits, want in cases:
            name = f"admission/{base['kind']}: {name}"
            if only and not any(word in name for word in only):
                continue
            answers = [how(c, base, edits) for c in clients]
            problems = [f"  {s.name}: {p}" for s, a in zip(sides, answers) if (p := verdict(a, want))]
            if not problems and any(outcome(a) != outcome(answers[0]) for a in answers):
                problems = [f"  {s.name}: {json.dumps(outcome(a))}" for s, a in zip(sides, answers)]
            yield name, "\n".join(problems) or None
