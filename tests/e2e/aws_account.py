"""An account in moto as an administrator of EKS leaves it: network, roles, a cluster, a queue with its rules. Made and looked at with boto3."""
import collections
import json

from emulator import ACCOUNT, REGION

CLUSTER = "eks-cluster-dev"  # as in examples/seeds
DISCOVERY = "karpenter.sh/discovery"
NODE_ROLE, CONTROLLER_ROLE = f"KarpenterNodeRole-{CLUSTER}", f"{CLUSTER}-karpenter"
FOREIGN_PROFILE = "somebody-elses"
EVENTS = {  # what is sent to the queue: the rules of the getting-started guide
    "SpotInterruptionRule": ("aws.ec2", "EC2 Spot Instance Interruption Warning"),
    "RebalanceRule": ("aws.ec2", "EC2 Instance Rebalance Recommendation"),
    "InstanceStateChangeRule": ("aws.ec2", "EC2 Instance State-change Notification"),
    "ScheduledChangeRule": ("aws.health", "AWS Health Event"),
}


def tags_of(thing):
    return {t["Key"]: t["Value"] for t in thing.get("Tags", [])}


class Account:
    def __init__(self, emulator):
        self.ec2, self.iam, self.sqs, self.eks, self.events = (emulator.client(s) for s in ("ec2", "iam", "sqs", "eks", "events"))
        self.network()
        self.roles()
        self.eks.create_cluster(name=CLUSTER, version="1.36", roleArn=self.node_role,
                                resourcesVpcConfig={"subnetIds": list(self.subnets), "securityGroupIds": self.groups[:1]})
        self.queue = self.sqs.create_queue(QueueName=CLUSTER, Attributes={"MessageRetentionPeriod": "300"})["QueueUrl"]
        for rule, (source, detail) in EVENTS.items():
            self.events.put_rule(Name=rule, EventPattern=json.dumps({"source": [source], "detail-type": [detail]}))
            self.events.put_targets(Rule=rule, Targets=[{"Id": "queue", "Arn": f"arn:aws:sqs:{REGION}:{ACCOUNT}:{CLUSTER}"}])
        types = self.ec2.describe_instance_types()["InstanceTypes"]
        self.types = {t["InstanceType"]: t for t in types}

    def network(self):
        """Three subnets and two groups that can be found by their tag, one of each that cannot."""
        def tags(kind, name, found):
            return [{"ResourceType": kind, "Tags": [{"Key": "Name", "Value": name}] + [{"Key": DISCOVERY, "Value": CLUSTER}] * found}]

        vpc = self.ec2.create_vpc(CidrBlock="10.0.0.0/16")["Vpc"]["VpcId"]
        zones = [z["ZoneName"] for z in self.ec2.describe_availability_zones()["AvailabilityZones"]][:3]
        subnet = lambda i, z, found: self.ec2.create_subnet(VpcId=vpc, CidrBlock=f"10.0.{32 * i}.0/19", AvailabilityZone=z,
                                                            TagSpecifications=tags("subnet", f"Private{i}", found))["Subnet"]
        made = [subnet(i, z, True) for i, z in enumerate(zones)]
        subnet(len(zones), zones[0], False)
        self.subnets = {s["SubnetId"]: s for s in made}
        group = lambda n, found: self.ec2.create_security_group(VpcId=vpc, GroupName=n, Description=n, TagSpecifications=tags("security-group", n, found))["GroupId"]
        self.groups = [group(n, True) for n in ("cluster", "node")]
        group("other", False)

    def roles(self):
        """The roles of nodes and of the controller, and a profile that is none of our business."""
        def role(name, service):
            return self.iam.create_role(RoleName=name, AssumeRolePolicyDocument=json.dumps({"Version": "2012-10-17", "Statement": [
                {"Effect": "Allow", "Principal": {"Service": service}, "Action": "sts:AssumeRole"}]}))["Role"]["Arn"]

        self.node_role = role(NODE_ROLE, "ec2.amazonaws.com")
        self.controller_role = role(CONTROLLER_ROLE, "pods.eks.amazonaws.com")
        self.iam.create_instance_profile(InstanceProfileName=FOREIGN_PROFILE, Path="/others/")
        self.iam.add_role_to_instance_profile(InstanceProfileName=FOREIGN_PROFILE, RoleName=NODE_ROLE)

    def happen(self, rule, detail):
        """AWS says that something happens; whoever listens hears it by the queue."""
        source, kind = EVENTS[rule]
        self.events.put_events(Entries=[{"Source": source, "DetailType": kind, "Detail": json.dumps(detail)}])

    # ---- what is there ----

    def instances(self, pool=None, states=("pending", "running")):
        """By id, of all NodePools or of one."""
        filters = [{"Name": "instance-state-name", "Values": list(states)}] + [{"Name": "tag:karpenter.sh/nodepool", "Values": [pool]}] * bool(pool)
        return {i["InstanceId"]: i for r in self.ec2.describe_instances(Filters=filters)["Reservations"] for i in r["Instances"]}

    def instance(self, claim):
        """The machine of a claim."""
        return self.instances(states=("pending", "running", "shutting-down", "terminated"))[claim["status"]["providerID"].split("/")[-1]]

    def volumes(self, instance):
        return self.ec2.describe_volumes(Filters=[{"Name": "attachment.instance-id", "Values": [instance["InstanceId"]]}])["Volumes"]

    def templates(self, class_name=None):
        """Launch templates, of all node classes or of one."""
        found = self.ec2.describe_launch_templates(MaxResults=200)["LaunchTemplates"]  # moto answers with fifteen otherwise, and has no pages
        return [t for t in found if class_name in (None, tags_of(t).get("karpenter.k8s.aws/ec2nodeclass"))]

    def profiles(self):
        return {p["InstanceProfileName"]: p for p in self.iam.list_instance_profiles()["InstanceProfiles"]}

    def messages(self):
        """How many the queue has, those that somebody works on included."""
        names = ["ApproximateNumberOfMessages", "ApproximateNumberOfMessagesNotVisible"]
        got = self.sqs.get_queue_attributes(QueueUrl=self.queue, AttributeNames=names)["Attributes"]
        return sum(int(got[n]) for n in names)

    def left(self):
        """What is there beyond what the account began with, by kind. Instant fleets and network interfaces go by themselves in AWS, and stay in moto."""
        left = collections.defaultdict(list)
        left["instances"] = list(self.instances(states=("pending", "running", "stopping", "stopped", "shutting-down")))
        left["launch templates"] = [t["LaunchTemplateName"] for t in self.templates()]
        left["instance profiles"] = [p for p in self.profiles() if p != FOREIGN_PROFILE]
        left["messages"] = [str(self.messages())] * bool(self.messages())
        left["volumes"] = [v["VolumeId"] for v in self.ec2.describe_volumes()["Volumes"]]
        return {k: v for k, v in left.items() if v}
