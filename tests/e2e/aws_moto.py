"""karpenter controller --provider aws on a real control plane and moto: launch, register, initialize, consolidate, interrupt, drift, terminate.

The account is in moto (emulator.py), made by aws_account.py. The controller asks it through moto_front.py, whose table says what is not moto's own work; instances
become Nodes by joiner.py, from their user data. Keys come from an agent as in EKS Pod Identity and run out while the scenarios play.
"""
import contextlib
import os

import yaml

import controller
import servers
from aws_account import CLUSTER, FOREIGN_PROFILE, NODE_ROLE, Account, tags_of
from cluster import free_ports, is_true, until, want
from disruption import disrupts, nodes_left, watch_going
from emulator import BOTTLEROCKET, KINDS, REGION, Emulator, ami, bottlerocket
from joiner import Joiner
from moto_front import AGENT_PATH, AGENT_TOKEN, Front
from stage import Place, clear, name_of, taint_keys

SEED = os.path.join(servers.ROOT, "examples/seeds/general-and-batch.yaml")
CLASS_LABEL, DNS = "karpenter.k8s.aws/ec2nodeclass", "10.96.0.10"
ALLOWED = {  # the actions of the controller's policies
    "CreateFleet", "RunInstances", "CreateLaunchTemplate", "DeleteLaunchTemplate", "CreateTags", "TerminateInstances", "DescribeCapacityReservations",
    "DescribeImages", "DescribeInstances", "DescribeInstanceStatus", "DescribeInstanceTypeOfferings", "DescribeInstanceTypes", "DescribeLaunchTemplates",
    "DescribePlacementGroups", "DescribeSecurityGroups", "DescribeSpotPriceHistory", "DescribeSubnets", "GetParameter", "GetProducts",
    "CreateInstanceProfile", "GetInstanceProfile", "DeleteInstanceProfile", "ListInstanceProfiles", "AddRoleToInstanceProfile",
    "RemoveRoleFromInstanceProfile", f"GET /clusters/{CLUSTER}", "GetQueueUrl", "ReceiveMessage", "DeleteMessage"}


@contextlib.contextmanager
def moto(cluster):
    """An account in moto, the way to it, and machines that join."""
    cluster.grant("aws")
    cluster.call("POST", "/api/v1/namespaces/kube-system/services", {
        "apiVersion": "v1", "kind": "Service", "metadata": {"name": "kube-dns"},
        "spec": {"clusterIP": DNS, "ports": [{"name": "dns", "port": 53, "protocol": "UDP"}]}})
    token = os.path.join(cluster.work, "pod-identity-token")
    with open(token, "w", encoding="utf-8") as f:
        f.write(AGENT_TOKEN)
    ports = free_ports(2)
    with Emulator(ports[0]) as emulator:
        account = Account(emulator)
        with Front(emulator, ports[1], account.controller_role) as front:
            joiner = Joiner(cluster, account)
            joiner.start()
            env = {"AWS_REGION": REGION, "AWS_ENDPOINT_URL": front.url, "AWS_CONTAINER_CREDENTIALS_FULL_URI": front.url + AGENT_PATH,
                   "AWS_CONTAINER_AUTHORIZATION_TOKEN_FILE": token, "AWS_CONFIG_FILE": "/dev/null", "AWS_SHARED_CREDENTIALS_FILE": "/dev/null"}
            server = cluster.api.host.geturl()
            try:
                yield Place("--provider", "aws", "--cluster-name", CLUSTER, "--cluster-endpoint", server, "--interruption-queue", CLUSTER, env=env,
                            account=account, front=front, joiner=joiner)
            finally:
                joiner.stop()


PLACE = moto


# ---- what scenarios are made of ----


def node_class(c, name, **spec):
    term = [{"tags": {"karpenter.sh/discovery": CLUSTER}}]
    c.create("EC2NodeClass", name, {"spec": {"role": NODE_ROLE, "amiSelectorTerms": [{"alias": "al2023@v20260101"}], "subnetSelectorTerms": term,
                                             "securityGroupSelectorTerms": term, "tags": {"team": "storefront"}, **spec}})


def pool(c, name, types, capacity="on-demand", class_name="main", **spec):
    expr = lambda key, *values: {"key": key, "operator": "In", "values": list(values)}
    c.create("NodePool", name, {"spec": {
        "disruption": {"consolidationPolicy": "WhenEmpty", "consolidateAfter": "Never"},
        "template": {"spec": {
            "nodeClassRef": {"group": "karpenter.k8s.aws", "kind": "EC2NodeClass", "name": class_name}, "expireAfter": "Never",
            "requirements": [expr("node.kubernetes.io/instance-type", *types), expr("karpenter.sh/capacity-type", capacity)], **spec}}}})


def ready_class(c, name):
    """Waits until a node class is ready, and returns it."""
    def ready():
        k = c.get("EC2NodeClass", name)
        want(is_true(k, "Ready"), str([(x["type"], x["status"], x.get("message")) for x in k.get("status", {}).get("conditions", []) if x["status"] != "True"]))
        return k

    return until(30, f"EC2NodeClass {name} is ready", ready)


def instance_id(claim):
    return claim["status"]["providerID"].split("/")[-1]


def runs_alone(s, name, n):
    """A NodePool has as many machines in moto as it has claims, and no other."""
    claims = s.cluster.ready_claims(name, n)
    want(set(s.place.account.instances(name)) == {instance_id(x) for x in claims}, f"{sorted(s.place.account.instances(name))} run in moto")
    return claims


def machines(s, name, n=1, types=("m5.large",), **pool_spec):
    """A NodePool and n pods, so large that each has a machine to itself. Returns the claims."""
    pool(s.cluster, name, types, **pool_spec)
    s.cluster.deployment(name, n, cpu="1500m")
    s.cluster.running(name, n)
    return runs_alone(s, name, n)


def has_tags(thing, what, **more):
    """The tags of everything that the controller makes."""
    given = tags_of(thing)
    expected = {f"kubernetes.io/cluster/{CLUSTER}": "owned", "eks:eks-cluster-name": CLUSTER, CLASS_LABEL: "main", "team": "storefront", **more}
    want(given == expected, f"tags of the {what}: {given}, want {expected}")


# ---- scenarios ----


def starts(s):
    """It finds region, keys, types, images and its cluster by itself, and leads."""
    s.leader.await_lead(60)
    asked = {call.action for call in s.place.front.calls}
    want({"DescribeInstanceTypes", "DescribeInstanceTypeOfferings"} <= asked, f"it asked for {sorted(asked)}")


def class_is_ready(s):
    """A node class says what it found: images by alias, subnets and groups by tag, and a profile of its own. Dry runs were made."""
    c, account = s.cluster, s.place.account
    node_class(c, "main")
    status = ready_class(c, "main")["status"]
    want({x["id"] for x in status["subnets"]} == set(account.subnets), f"subnets: {status['subnets']}")
    want(all(x["zoneID"] == account.subnets[x["id"]]["AvailabilityZoneId"] for x in status["subnets"]), "zone ids of subnets")
    want({x["id"] for x in status["securityGroups"]} == set(account.groups), f"groups: {status['securityGroups']}")
    want({x["id"] for x in status["amis"]} == {ami("v20260101", *kind) for kind in KINDS}, f"images: {status['amis']}")
    profile = account.profiles()[status["instanceProfile"]]
    want(profile["Path"].startswith(f"/karpenter/{REGION}/{CLUSTER}/"), f"path of the profile: {profile['Path']}")
    want([r["RoleName"] for r in profile["Roles"]] == [NODE_ROLE], f"roles of the profile: {profile['Roles']}")
    has_tags(account.iam.get_instance_profile(InstanceProfileName=status["instanceProfile"])["InstanceProfile"], "profile",
             **{"topology.kubernetes.io/region": REGION})
    want({"CreateFleet", "RunInstances", "CreateLaunchTemplate"} <= {x.action for x in s.place.front.calls}, "no dry runs were made")


def seed_manifests(s):
    """NodePools and a node class as people write them: spot machines with the latest image come, pods run."""
    c = s.cluster
    for doc in yaml.safe_load_all(open(SEED, encoding="utf-8")):
        c.create(doc["kind"], doc["metadata"]["name"], doc)
    status = ready_class(c, "default")["status"]
    want(ami("v20260520", "x86_64", "standard") in {x["id"] for x in status["amis"]}, f"images: {status['amis']}")
    c.deployment("inflate", 5, pool="general")
    c.deployment("crunch", 1, pool="batch", cpu="3", tolerations=[{"key": "workload", "value": "batch", "effect": "NoSchedule"}])
    c.running("inflate", 5)
    c.running("crunch", 1)
    for name in ("general", "batch"):
        for claim in runs_alone(s, name, None):
            want(s.place.account.instance(claim)["InstanceLifecycle"] == "spot", "a machine is not a spot machine")
            want(claim["metadata"]["labels"]["karpenter.sh/capacity-type"] == "spot", "a claim is not labelled as spot")
    for name in ("inflate", "crunch"):
        c.delete("Deployment", name)
    for name in ("general", "batch"):
        c.delete("NodePool", name)
    c.delete("EC2NodeClass", "default")


def scale_up(s):
    """Pods get a machine that is what template, class and pool say, tagged with whose it is; its Node has what the user data told it."""
    c, account = s.cluster, s.place.account
    pool(c, "up", ["m5.large", "m5.xlarge", "m5.2xlarge"], taints=[{"key": "team", "value": "a", "effect": "NoSchedule"}])
    c.deployment("up", 3, tolerations=[{"key": "team", "operator": "Exists"}])
    c.running("up", 3)
    claim = runs_alone(s, "up", 1)[0]
    node, instance = c.nodes("up")[0], account.instance(claim)
    want(instance["InstanceType"] == claim["metadata"]["labels"]["node.kubernetes.io/instance-type"] == "m5.xlarge", f"a {instance['InstanceType']} for three CPUs")
    want(instance["ImageId"] == claim["status"]["imageID"] == ami("v20260101", "x86_64", "standard"), f"image {instance['ImageId']}")
    want(instance["SubnetId"] in account.subnets, f"subnet {instance['SubnetId']}")
    want({g["GroupId"] for g in instance["SecurityGroups"]} == set(account.groups), "groups of the machine")
    want(instance["IamInstanceProfile"]["Arn"].endswith("/" + c.get("EC2NodeClass", "main")["status"]["instanceProfile"]), "profile of the machine")
    until(10, "the machine has the names of its node and its claim", lambda: "karpenter.sh/nodeclaim" in tags_of(account.instance(claim)))
    mine = {"karpenter.sh/nodepool": "up"}
    has_tags(account.instance(claim), "machine", **mine, **{"Name": name_of(node), "karpenter.sh/nodeclaim": name_of(claim)})
    for volume in account.volumes(instance):
        has_tags(volume, "volume", **mine)
    for template in account.templates("main"):
        has_tags(template, "launch template", **{"karpenter.sh/nodepool": tags_of(template)["karpenter.sh/nodepool"]})
    told = s.place.joiner.told[instance["InstanceId"]]
    want(told.dns == [DNS] and told.cidr == "172.20.0.0/16", f"user data: {told}")
    want(taint_keys(node) == ["team"], f"taints of the node: {taint_keys(node)}")
    want(node["metadata"]["labels"].get("karpenter.sh/initialized") == "true", "the node is not labelled as initialized")
    want(node["metadata"]["labels"].get("karpenter.k8s.aws/instance-memory") == "16384", "the node lacks labels of its type")
    clear(c, "up")


def bottlerocket_on_arm(s):
    """Another family of images and another kind of CPU; the user's own settings and the class's for the kubelet reach the Node."""
    c, account = s.cluster, s.place.account
    node_class(c, "rocket", amiSelectorTerms=[{"alias": f"bottlerocket@{BOTTLEROCKET}"}], kubelet={"maxPods": 42},
               userData="[settings.kubernetes.node-labels]\n'example.com/shelf' = 'b'\n")
    ready_class(c, "rocket")
    claim = machines(s, "rocket", types=["m6g.large"], class_name="rocket")[0]
    node = c.nodes("rocket")[0]
    want(account.instance(claim)["ImageId"] == bottlerocket("arm64"), f"image {account.instance(claim)['ImageId']}")
    want(node["metadata"]["labels"]["kubernetes.io/arch"] == "arm64" and node["metadata"]["labels"].get("example.com/shelf") == "b", "labels of the node")
    want(node["status"]["capacity"]["pods"] == claim["status"]["capacity"]["pods"] == "42", f"{claim['status']['capacity']['pods']} pods")
    template = account.ec2.describe_launch_template_versions(LaunchTemplateName=account.templates("rocket")[0]["LaunchTemplateName"])["LaunchTemplateVersions"][0]
    devices = {d["DeviceName"]: d["Ebs"]["VolumeSize"] for d in template["LaunchTemplateData"]["BlockDeviceMappings"]}
    want(devices == {"/dev/xvda": 4, "/dev/xvdb": 20}, f"disks: {devices}")
    clear(c, "rocket")
    c.delete("EC2NodeClass", "rocket")


def lost_machine(s):
    """Somebody ends a machine behind the controller's back, and no message tells of it. What becomes of it takes minutes: lost_machine_is_collected."""
    claim = machines(s, "lost")[0]
    s.place.account.ec2.terminate_instances(InstanceIds=[instance_id(claim)])
    s.lost = name_of(claim), claim["status"]["nodeName"]


def termination(s):
    """A NodePool that goes takes its machines along: drained, ended in EC2, and only then forgotten."""
    c, account = s.cluster, s.place.account
    claim = machines(s, "ending")[0]
    clear(c, "ending")
    c.gone("ending")
    want(account.instance(claim)["State"]["Name"] in ("shutting-down", "terminated"), "claim and node went before the machine")
    want("TerminateInstances" in {x.action for x in s.place.front.calls}, "nobody ended the machine")


def consolidation_delete(s):
    """A node whose pods fit on another goes, and its machine with it."""
    c, account = s.cluster, s.place.account
    pool(c, "fold", ["m5.2xlarge"])
    c.deployment("fold", 6, cpu="2")  # three on each
    c.running("fold", 6)
    runs_alone(s, "fold", 2)
    c.scale("fold", 3)
    c.running("fold", 3)
    disrupts(c, "fold")
    nodes_left(c, "fold", 1)
    until(20, "one machine is left in moto", lambda: len(account.instances("fold")) == 1)
    runs_alone(s, "fold", 1)
    clear(c, "fold")


def consolidation_replace(s):
    """A machine that is too large is replaced by a cheaper one."""
    c, account = s.cluster, s.place.account
    pool(c, "shrink", ["m5.large", "m5.xlarge", "m5.2xlarge"])
    c.deployment("large", 1, pool="shrink", cpu="5")
    c.deployment("shrink", 1)
    c.running("large", 1)
    c.running("shrink", 1)
    old = runs_alone(s, "shrink", 1)[0]
    want(account.instance(old)["InstanceType"] == "m5.2xlarge", "the first machine")
    c.delete("Deployment", "large")
    c.running("large", 0)
    disrupts(c, "shrink")
    until(60, "the old machine is ended", lambda: account.instance(old)["State"]["Name"] == "terminated")
    nodes_left(c, "shrink", 1)
    new = runs_alone(s, "shrink", 1)[0]
    want(account.instance(new)["InstanceType"] == "m5.large", f"replaced by a {account.instance(new)['InstanceType']}")
    c.running("shrink", 1)
    clear(c, "shrink")


def spot_interruption(s):
    """AWS warns by EventBridge and SQS: the node is drained, its pods get another machine somewhere else, and the message is deleted."""
    c, account = s.cluster, s.place.account
    claim = machines(s, "spot", types=["m5.large", "m5a.large"], capacity="spot")[0]
    at = lambda i: (i["InstanceType"], i["Placement"]["AvailabilityZone"])
    where = at(account.instance(claim))
    account.happen("RebalanceRule", {"instance-id": instance_id(claim)})
    account.happen("SpotInterruptionRule", {"instance-id": instance_id(claim), "instance-action": "terminate"})
    until(30, "the claim goes", lambda: not c.get("NodeClaim", name_of(claim)))
    c.running("spot", 1)
    new = runs_alone(s, "spot", 1)[0]
    want(at(account.instance(new)) != where, f"again a {where[0]} in {where[1]}, which AWS has just taken back")
    until(25, "the messages are deleted", lambda: account.messages() == 0)
    want(s.leader.metric('karpenter_interruption_received_messages_total{message_type="spot_interrupted"') == 1, "the message is not counted")
    clear(c, "spot")


def other_messages(s):
    """A machine that stops and one that AWS wants to retire are replaced; what is none of our machines, or no message at all, is thrown away."""
    c, account = s.cluster, s.place.account
    claims = machines(s, "warned", 2)
    ids = [instance_id(x) for x in claims]
    account.happen("InstanceStateChangeRule", {"instance-id": ids[0], "state": "stopping"})
    account.happen("ScheduledChangeRule", {"service": "EC2", "eventTypeCategory": "scheduledChange", "affectedEntities": [{"entityValue": ids[1]}]})
    account.happen("SpotInterruptionRule", {"instance-id": "i-0123456789abcdef0", "instance-action": "terminate"})
    account.sqs.send_message(QueueUrl=account.queue, MessageBody="no message at all")
    until(30, "both claims go", lambda: not [x for x in claims if c.get("NodeClaim", name_of(x))])
    c.running("warned", 2)
    want(not set(ids) & {instance_id(x) for x in runs_alone(s, "warned", 2)}, "a machine was kept")
    until(25, "the messages are deleted", lambda: account.messages() == 0)
    clear(c, "warned")


def ami_drift(s):
    """A new image for the class: every machine is replaced, one at a time as the budget wants."""
    c, account = s.cluster, s.place.account
    node_class(c, "rolling")
    ready_class(c, "rolling")
    before = {x["status"]["nodeName"] for x in machines(s, "rolling", 2, class_name="rolling")}
    disrupts(c, "rolling", after="Never", budgets=[{"nodes": "1"}])
    c.patch("EC2NodeClass", "rolling", {"spec": {"amiSelectorTerms": [{"alias": "al2023@v20260520"}]}})

    def of_budgets(nodes):
        """One that is empty and whose machine is being ended, which takes EC2 a while, counts no more."""
        held = {x.get("status", {}).get("nodeName") for x in c.claims("rolling") if not is_true(x, "InstanceTerminating")}
        return [x for x in nodes if name_of(x) in held]

    most = watch_going(c, "rolling", 150, lambda nodes: len(nodes) == 2 and not before & {name_of(x) for x in nodes}, of_budgets)
    want(most == 1, f"{most} nodes went at once")
    c.running("rolling", 2)
    for claim in runs_alone(s, "rolling", 2):
        want(account.instance(claim)["ImageId"] == ami("v20260520", "x86_64", "standard"), "a new machine has the old image")
    clear(c, "rolling")


def killed_in_launch(s):
    """kill -9 after EC2 made the machine and before the controller heard of it: the claim gets its machine, and the first one is found and ended."""
    c, account, front = s.cluster, s.place.account, s.place.front
    front.lose_next_fleet()
    pool(c, "killed", ["m5.large"])
    c.deployment("killed", 1)
    want(front.fleet_lost.wait(30), "nothing was launched")
    s.leader.kill()
    first = set(account.instances("killed"))
    want(len(first) == 1, f"{len(first)} machines")
    claims = {name_of(x) for x in c.claims("killed")}
    s.leader = s.start()
    s.leader.await_lead(60)
    c.running("killed", 1, seconds=60)
    until(60, "one machine is left", lambda: len(account.instances("killed")) == 1)
    want({name_of(x) for x in runs_alone(s, "killed", 1)} == claims, "there are other claims than before")
    want(not first & set(account.instances("killed")), "the machine that nobody heard of is in use")
    clear(c, "killed")


def lost_machine_is_collected(s):
    """The claim of the machine that is no more goes, its node too, and its pod runs on another one."""
    if not hasattr(s, "lost"):
        lost_machine(s)
    c, (claim, node) = s.cluster, s.lost
    until(200, "claim and node of the lost machine are gone", lambda: not c.get("NodeClaim", claim) and not c.get("Node", node))
    until(90, "its pod runs elsewhere", lambda: [p for p in c.pods("lost") if p["status"]["phase"] == "Running" and p["spec"]["nodeName"] != node])
    runs_alone(s, "lost", 1)
    clear(c, "lost")


def keys_revoked(s):
    """AWS does not take the keys any more, long before their time: others are got, and calls are made again with them."""
    s.place.front.revoke()
    machines(s, "revoked")
    want(s.place.front.late, "nothing was signed with revoked keys")
    clear(s.cluster, "revoked")


def class_deletion(s):
    """A node class that is deleted waits for its claims; then profile and launch templates go with it. Somebody else's profile stays."""
    c, account = s.cluster, s.place.account
    node_class(c, "brief")
    ready_class(c, "brief")
    machines(s, "brief", class_name="brief")
    profile = c.get("EC2NodeClass", "brief")["status"]["instanceProfile"]
    want(account.templates("brief"), "the class has no launch templates")
    c.delete("EC2NodeClass", "brief")
    c.event("brief", "WaitingOnNodeClaimTermination")
    want(c.get("EC2NodeClass", "brief") and profile in account.profiles() and account.instances("brief"), "it did not wait for its claim")
    clear(c, "brief")
    until(40, "the class is gone", lambda: not c.get("EC2NodeClass", "brief"))
    want(not account.instances("brief"), "its machine still runs")
    want(profile not in account.profiles() and not account.templates("brief"), "profile or templates are left")
    want(FOREIGN_PROFILE in account.profiles(), "somebody else's profile is gone")


def nothing_is_left(s):
    """With its node classes gone the account is as it was: no machine, volume, launch template, profile or message."""
    c, account = s.cluster, s.place.account
    for name in ("main", "rolling"):
        c.delete("EC2NodeClass", name)
    controller.all_gone(s)
    until(40, "no node class is left", lambda: not c.list("EC2NodeClass"))

    def clean():
        want(not account.left(), str(account.left()))
        return True

    until(30, "nothing is left in moto", clean)
    want(FOREIGN_PROFILE in account.profiles(), "somebody else's profile is gone")
    want(not s.place.joiner.problems, "\n".join(s.place.joiner.problems))


def keys(s):
    """Keys run out after a minute and were got anew in time, though the agent fails now and then; every signature is the one that botocore makes; and
    nothing was asked that the policies do not allow."""
    front = s.place.front
    want(not front.refused, "\n".join(front.refused[:5]))
    used = list(dict.fromkeys(call.key for call in front.calls))
    want(len(used) >= 2 and front.n_asked > len(front.keys), f"{len(used)} keys of {front.n_asked} questions signed {len(front.calls)} calls")
    more = {call.action for call in front.calls} - ALLOWED
    want(not more, f"no policy allows {', '.join(sorted(more))}")


SCENARIOS = [starts, class_is_ready, seed_manifests, scale_up, bottlerocket_on_arm, lost_machine, termination, consolidation_delete, consolidation_replace, spot_interruption,
             other_messages, ami_drift, killed_in_launch, lost_machine_is_collected, keys_revoked, class_deletion, nothing_is_left, keys, controller.rights]
ALWAYS = [starts, class_is_ready, nothing_is_left]  # the others need them
