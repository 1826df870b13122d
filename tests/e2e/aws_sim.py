#!/usr/bin/env python3
"""The simulated AWS account against AWS's own clients: boto3, its published models of every service, and the aws command line.

    tests/e2e/aws_sim.py AWS_SERVER [NAME...]     ends with 'N passed, N failed'

AWS_SERVER is build/…/tests/sim/aws_server. Every answer is held against the model: an element that the model does not know fails the check, as does a value that
the client cannot read. What is in the account's file comes back equal. Run with the python that has requirements.txt (tools/setup e2e).
"""
import base64
import datetime
import json
import os
import re
import subprocess
import sys
import tempfile
import time
import urllib.error
import urllib.request
import xml.etree.ElementTree as ET

import report

HERE = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.dirname(os.path.dirname(HERE))
WORLD = os.path.join(ROOT, "tests/vectors/aws/world.json")
KEY, SECRET = "AKIAIOSFODNN7EXAMPLE", "wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY"  # of AWS's own documentation


class Wrong(Exception):
    pass


def want(ok, what):
    if not ok:
        raise Wrong(what)


def contains(have, given, where=""):
    """Everything that the account's file says is in the answer."""
    if isinstance(given, dict):
        for k, v in given.items():
            want(k in have or v in ("", None, []), f"{where}.{k} is not in the answer")
            if k in have:
                contains(have[k], v, f"{where}.{k}")
    elif isinstance(given, list):
        want(len(have) == len(given), f"{where}: {len(have)} members, want {len(given)}")
        for i, v in enumerate(given):
            contains(have[i], v, f"{where}[{i}]")
    elif isinstance(have, datetime.datetime):
        want(have == datetime.datetime.fromisoformat(given.replace("Z", "+00:00")), f"{where}: {have}, want {given}")
    else:
        want(have == given, f"{where}: {have!r}, want {given!r}")


# ---- answers against the model ----

def wire_name(name, member):
    return member.serialization.get("name", name)


def tag(element):
    return element.tag.split("}")[-1]


def xml_known(element, shape, where):
    """Every element below is one that the model has."""
    if shape.type_name == "structure":
        names = {wire_name(n, m): m for n, m in shape.members.items()}
        for child in element:
            want(tag(child) in names, f"{where}/{tag(child)}: the model of {shape.name} has no such element")
            xml_known(child, names[tag(child)], f"{where}/{tag(child)}")
    elif shape.type_name == "list":
        item = shape.member.serialization.get("name", "item" if shape.member.type_name else "member")
        for child in element:
            want(tag(child) in (item, "item", "member"), f"{where}/{tag(child)}: want {item}")
            xml_known(child, shape.member, f"{where}/{tag(child)}")
    else:
        want(len(element) == 0, f"{where}: has children, but is a {shape.type_name}")


def json_known(value, shape, where):
    if shape.type_name == "structure":
        names = {wire_name(n, m): m for n, m in shape.members.items()}
        for k, v in value.items():
            want(k in names, f"{where}.{k}: the model of {shape.name} has no such member")
            json_known(v, names[k], f"{where}.{k}")
    elif shape.type_name == "list":
        for i, v in enumerate(value):
            json_known(v, shape.member, f"{where}[{i}]")
    elif shape.type_name == "map":
        for k, v in value.items():
            json_known(v, shape.value, f"{where}.{k}")
    else:
        kinds = {"string": str, "integer": int, "long": int, "boolean": bool, "double": (int, float), "float": (int, float),
                 "timestamp": (int, float)}
        want(isinstance(value, kinds.get(shape.type_name, object)), f"{where}: {value!r} is no {shape.type_name}")


SEEN = set()


def held_against_model(operation_model, response_dict, **_):
    """Runs before botocore reads an answer."""
    body, shape, name = response_dict["body"], operation_model.output_shape, operation_model.name
    protocol = operation_model.service_model.metadata["protocol"]
    if response_dict["status_code"] != 200:
        return
    SEEN.add(f"{operation_model.service_model.service_name}:{name}")
    if protocol in ("ec2", "query"):
        root = ET.fromstring(body)
        want(tag(root) == name + "Response", f"{name}: root element {tag(root)}")
        if protocol == "query" and shape is not None and shape.serialization.get("resultWrapper"):
            root = next((c for c in root if tag(c) == name + "Result"), None)
            want(root is not None, f"{name}: no {name}Result")
        for child in list(root):
            if tag(child) in ("requestId", "return", "ResponseMetadata") and (shape is None or tag(child) not in shape.members):
                root.remove(child)
        if shape is not None:
            xml_known(root, shape, name)
    elif shape is not None:
        json_known(json.loads(body or b"{}"), shape, name)


# ---- the server ----

class Server:
    def __init__(self, program, work, *args):
        self.world = json.load(open(WORLD, encoding="utf-8"))
        self.world["keys"] = {KEY: SECRET}
        self.world["containerToken"] = "pod-token"
        path = os.path.join(work, "account.json")
        with open(path, "w", encoding="utf-8") as f:
            json.dump(self.world, f)
        self.process = subprocess.Popen([program, path, *args], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        self.url = self.process.stdout.readline().split()[1]
        self.local = self.process.stdout.readline().split()[1]
        self.region = self.world["region"]

    def order(self, line):
        self.process.stdin.write(line + "\n")
        self.process.stdin.flush()
        out = []
        while (answer := self.process.stdout.readline().rstrip("\n")) != "done":
            want(answer or self.process.poll() is None, "the server is gone")
            out.append(answer)
        return out

    def client(self, service, **kwargs):
        import boto3
        import botocore.config
        config = botocore.config.Config(retries={"mode": "standard", "max_attempts": kwargs.pop("attempts", 1)},
                                        parameter_validation=True)
        session = boto3.session.Session()
        given = {"aws_access_key_id": KEY, "aws_secret_access_key": SECRET, "region_name": self.region, **kwargs}
        c = session.client(service, endpoint_url=self.url, config=config, **given)
        c.meta.events.register("before-parse", held_against_model)
        return c

    def aws(self, *args, env=None):
        """A line of the aws command line. Returns what it printed, read if it is JSON."""
        e = dict(os.environ, AWS_ENDPOINT_URL=self.url, AWS_DEFAULT_REGION=self.region, AWS_ACCESS_KEY_ID=KEY,
                 AWS_SECRET_ACCESS_KEY=SECRET, AWS_PAGER="", AWS_CONFIG_FILE="/dev/null", AWS_SHARED_CREDENTIALS_FILE="/dev/null",
                 **(env or {}))
        at = ["--endpoint-url", self.url] if args[0] == "sqs" else []  # version 1 has an endpoint of its own for SQS, whatever the environment says
        p = subprocess.run([sys.executable, "-m", "awscli", *at, *args], env=e, capture_output=True, text=True, timeout=120)
        want(p.returncode == 0, f"aws {' '.join(args)}: {p.stderr.strip()}")
        try:
            return json.loads(p.stdout)
        except ValueError:
            return p.stdout.strip()

    def close(self):
        self.process.stdin.close()
        return self.process.wait(timeout=20)


def refused(code, call, **kwargs):
    import botocore.exceptions
    try:
        call(**kwargs)
    except botocore.exceptions.ClientError as e:
        want(e.response["Error"]["Code"] == code, f"refused with {e.response['Error']['Code']}, want {code}")
        return e.response
    raise Wrong(f"was not refused; want {code}")


def pages(client, operation, member, **kwargs):
    return [x for page in client.get_paginator(operation).paginate(**kwargs) for x in page.get(member, [])]


def wait_for(what, test):
    for _ in range(300):
        if (v := test()):
            return v
        time.sleep(0.1)
    raise Wrong(f"never: {what}")


# ---- EC2: what was given ----

def describes_come_back_equal(s):
    ec2 = s.client("ec2")
    for operation, member, given, key in [
            ("describe_subnets", "Subnets", "subnets", "SubnetId"),
            ("describe_security_groups", "SecurityGroups", "securityGroups", "GroupId"),
            ("describe_images", "Images", "images", "ImageId"),
            ("describe_instance_types", "InstanceTypes", "instanceTypes", "InstanceType"),
            ("describe_capacity_reservations", "CapacityReservations", "capacityReservations", "CapacityReservationId"),
            ("describe_placement_groups", "PlacementGroups", "placementGroups", "GroupId"),
            ("describe_availability_zones", "AvailabilityZones", "zones", "ZoneName")]:
        extra = {"IncludeDeprecated": True} if member == "Images" else {}
        listed = pages(ec2, operation, member, **extra) if ec2.can_paginate(operation) else getattr(ec2, operation)(**extra)[member]
        have = {x[key]: x for x in listed}
        want(list(have) == [x[key] for x in s.world[given]], f"{operation}: other members, or another order")
        for x in s.world[given]:
            clean = json.loads(json.dumps(x))
            for t in clean.get("Tags", []):
                t.setdefault("Value", "")
            for t in have[x[key]].get("Tags", []):
                t.setdefault("Value", "")
            contains(have[x[key]], clean, f"{operation} {x[key]}")


def offerings_and_prices(s):
    ec2 = s.client("ec2")
    have = {}
    for o in pages(ec2, "describe_instance_type_offerings", "InstanceTypeOfferings", LocationType="availability-zone",
                   PaginationConfig={"PageSize": 100}):
        have.setdefault(o["InstanceType"], []).append(o["Location"])
    want(have == s.world["instanceTypeOfferings"], "offerings by zone")
    regional = pages(ec2, "describe_instance_type_offerings", "InstanceTypeOfferings", LocationType="region")
    want(sorted(o["InstanceType"] for o in regional) == sorted(s.world["instanceTypeOfferings"]), "offerings by region")
    spot = {}
    for p in pages(ec2, "describe_spot_price_history", "SpotPriceHistory", StartTime=datetime.datetime.now(datetime.timezone.utc),
                   ProductDescriptions=["Linux/UNIX", "Linux/UNIX (Amazon VPC)"], PaginationConfig={"PageSize": 200}):
        spot.setdefault(p["InstanceType"], {})[p["AvailabilityZone"]] = float(p["SpotPrice"])
    for t, zones in s.world["instanceTypeOfferings"].items():
        for z in zones:
            given = s.world["spotPrices"].get(t, {}).get(z)
            want((spot.get(t, {}).get(z) is None) == (given is None), f"spot price of {t} in {z}")
            want(given is None or abs(spot[t][z] - given) < 1e-6, f"spot price of {t} in {z}")


def filters_and_pages(s):
    ec2 = s.client("ec2")
    f = lambda n, *v: {"Name": n, "Values": list(v)}
    ids = lambda r: [x["SubnetId"] for x in r["Subnets"]]
    tagged = [x["SubnetId"] for x in s.world["subnets"] if any(t["Key"] == "foo" for t in x["Tags"])]
    want(ids(ec2.describe_subnets(Filters=[f("tag-key", "foo")])) == tagged, "tag-key")
    want(ids(ec2.describe_subnets(Filters=[f("tag:foo", "b*")])) == tagged, "a wildcard in a tag's value")
    want(ids(ec2.describe_subnets(Filters=[f("tag:Name", "test-subnet-?"), f("availability-zone", "test-zone-1b")])), "two filters")
    want(ids(ec2.describe_subnets(Filters=[f("subnet-id", "subnet-nowhere")])) == [], "a filter that matches nothing")
    refused("InvalidSubnetID.NotFound", ec2.describe_subnets, SubnetIds=["subnet-nowhere"])
    refused("InvalidParameterValue", ec2.describe_subnets, Filters=[f("colour", "red")])
    types = pages(ec2, "describe_instance_types", "InstanceTypes", Filters=[
        f("supported-virtualization-type", "hvm"), f("processor-info.supported-architecture", "arm64")], PaginationConfig={"PageSize": 7})
    arm = [t["InstanceType"] for t in s.world["instanceTypes"] if "arm64" in t["ProcessorInfo"]["SupportedArchitectures"]]
    want([t["InstanceType"] for t in types] == arm, "types by architecture, seven a page")
    refused("InvalidParameterValue", ec2.describe_instance_types, NextToken="nonsense")
    mine = ec2.describe_images(Owners=["self"])["Images"]
    want(all(i["OwnerId"] == s.world["account"] for i in mine), "images of self")
    theirs = ec2.describe_images(Owners=["amazon"])["Images"]
    want(theirs and all(i["ImageOwnerAlias"] == "amazon" for i in theirs), "images of amazon")
    refused("DryRunOperation", ec2.describe_instance_types, DryRun=True)
    want(ec2.describe_regions()["Regions"][0]["RegionName"] == s.region, "regions")
    want(ec2.describe_vpcs()["Vpcs"], "vpcs")


# ---- EC2: what is made ----

def template_data(s, **more):
    image = next(i for i in s.world["images"] if i["Architecture"] == "x86_64" and i["State"] == "available")
    return {"ImageId": image["ImageId"], "UserData": base64.b64encode(b"#!/bin/sh\n").decode(),
            "IamInstanceProfile": {"Name": "own-profile"}, "Monitoring": {"Enabled": False},
            "BlockDeviceMappings": [{"DeviceName": "/dev/xvda", "Ebs": {"VolumeSize": 20, "VolumeType": "gp3", "Encrypted": True,
                                                                       "DeleteOnTermination": True}}],
            "MetadataOptions": {"HttpEndpoint": "enabled", "HttpPutResponseHopLimit": 1, "HttpTokens": "required"},
            "NetworkInterfaces": [{"DeviceIndex": 0, "Groups": ["sg-test1", "sg-test2"]}],
            "Placement": {"Tenancy": "default"}, "EnclaveOptions": {"Enabled": False},
            "TagSpecifications": [{"ResourceType": "network-interface", "Tags": [{"Key": "a", "Value": "b"}]}], **more}


def launch_templates(s):
    ec2 = s.client("ec2")
    refused("InvalidLaunchTemplateName.NotFoundException", ec2.describe_launch_templates, LaunchTemplateNames=["nothing"])
    data = template_data(s)
    t = ec2.create_launch_template(LaunchTemplateName="one", LaunchTemplateData=data, TagSpecifications=[
        {"ResourceType": "launch-template", "Tags": [{"Key": "eks:eks-cluster-name", "Value": "test-cluster"}]}])["LaunchTemplate"]
    refused("InvalidLaunchTemplateName.AlreadyExistsException", ec2.create_launch_template, LaunchTemplateName="one", LaunchTemplateData=data)
    found = pages(ec2, "describe_launch_templates", "LaunchTemplates",
                  Filters=[{"Name": "tag:eks:eks-cluster-name", "Values": ["test-cluster"]}])
    want([x["LaunchTemplateId"] for x in found] == [t["LaunchTemplateId"]], "by tag")
    v = ec2.describe_launch_template_versions(LaunchTemplateId=t["LaunchTemplateId"])["LaunchTemplateVersions"][0]
    contains(v["LaunchTemplateData"], data, "LaunchTemplateData")
    ec2.create_launch_template_version(LaunchTemplateName="one", SourceVersion="1", LaunchTemplateData={"InstanceType": "m5.large"})
    latest = ec2.describe_launch_template_versions(LaunchTemplateName="one", Versions=["$Latest"])["LaunchTemplateVersions"]
    want(latest[0]["VersionNumber"] == 2 and latest[0]["LaunchTemplateData"]["ImageId"] == data["ImageId"], "a second version")
    big = base64.b64encode(b"x" * 16385).decode()
    refused("InvalidUserData.Malformed", ec2.create_launch_template, LaunchTemplateName="big", LaunchTemplateData={"UserData": big})
    ec2.delete_launch_template(LaunchTemplateName="one")
    refused("InvalidLaunchTemplateId.NotFound", ec2.delete_launch_template, LaunchTemplateId=t["LaunchTemplateId"])


def fleet_request(s, name, count=1, kind="on-demand", types=("m5.large",), **more):
    price = lambda t, z: s.world["spotPrices"][t][z] if kind == "spot" else s.world["onDemandPrices"][t]
    nets = [("subnet-test1", "test-zone-1a"), ("subnet-test2", "test-zone-1b"), ("subnet-test3", "test-zone-1c")]
    tags = [{"Key": "karpenter.sh/nodepool", "Value": "pool"}, {"Key": "karpenter.k8s.aws/ec2nodeclass", "Value": "default"},
            {"Key": "eks:eks-cluster-name", "Value": "test-cluster"}]
    options = {"SpotOptions": {"AllocationStrategy": "price-capacity-optimized"}} if kind == "spot" else {
        "OnDemandOptions": {"AllocationStrategy": "lowest-price"}}
    return {"Type": "instant", **options,
            "LaunchTemplateConfigs": [{"LaunchTemplateSpecification": {"LaunchTemplateName": name, "Version": "$Latest"},
                                       "Overrides": [{"InstanceType": t, "SubnetId": n, "AvailabilityZone": z, "Priority": price(t, z)}
                                                     for t in types for n, z in nets if z in s.world["spotPrices"][t]]}],
            "TargetCapacitySpecification": {"TotalTargetCapacity": count, "DefaultTargetCapacityType": kind},
            "TagSpecifications": [{"ResourceType": r, "Tags": tags} for r in ("instance", "volume", "fleet")], **more}


def with_template(s, ec2, name, **more):
    ec2.create_launch_template(LaunchTemplateName=name, LaunchTemplateData=template_data(s, **more))
    return name


def instances(ec2, **kwargs):
    return [i for r in pages(ec2, "describe_instances", "Reservations", **kwargs) for i in r["Instances"]]


def fleets_and_the_life_of_machines(s):
    ec2 = s.client("ec2")
    name = with_template(s, ec2, "life")
    refused("DryRunOperation", ec2.create_fleet, **fleet_request(s, name, DryRun=True))
    free = lambda: {x["SubnetId"]: x["AvailableIpAddressCount"] for x in ec2.describe_subnets()["Subnets"]}
    before = free()
    r = ec2.create_fleet(**fleet_request(s, name, count=3))
    want(r["Errors"] == [] and len(r["Instances"]) == 1, f"one group, no errors: {r}")
    group = r["Instances"][0]
    want(len(group["InstanceIds"]) == 3 and group["InstanceType"] == "m5.large" and group["Lifecycle"] == "on-demand", "the group")
    over = group["LaunchTemplateAndOverrides"]["Overrides"]
    want(over["SubnetId"] == "subnet-test1" and over["AvailabilityZone"] == "test-zone-1a", "the first of equal price")
    want(free()["subnet-test1"] == before["subnet-test1"] - 3, "addresses are taken")
    listed = instances(ec2, Filters=[{"Name": "tag-key", "Values": ["karpenter.sh/nodepool"]},
                                     {"Name": "tag:eks:eks-cluster-name", "Values": ["test-cluster"]},
                                     {"Name": "instance-state-name", "Values": ["pending", "running"]}], PaginationConfig={"PageSize": 2})
    want(sorted(i["InstanceId"] for i in listed) == sorted(group["InstanceIds"]), "listed by tags, two a page")
    i = listed[0]
    contains(i, {"InstanceType": "m5.large", "SubnetId": "subnet-test1", "VpcId": "vpc-test1", "Architecture": "x86_64",
                 "Placement": {"AvailabilityZone": "test-zone-1a", "AvailabilityZoneId": "tstz1-1a", "Tenancy": "default"}}, "instance")
    want([g["GroupId"] for g in i["SecurityGroups"]] == ["sg-test1", "sg-test2"], "its security groups")
    want(i["NetworkInterfaces"][0]["InterfaceType"] == "interface" and i["NetworkInterfaces"][0]["Groups"], "its interface")
    want(i["IamInstanceProfile"]["Arn"].endswith("/own-profile") and i["PrivateDnsName"].startswith("ip-10-"), "profile and name")
    want("SpotInstanceRequestId" not in i and i["CapacityReservationSpecification"]["CapacityReservationPreference"] == "open", "market")
    state = lambda *n: lambda: all(x["State"]["Name"] in n for x in instances(ec2, InstanceIds=group["InstanceIds"]))
    wait_for("running", state("running"))
    fleet = ec2.describe_fleets(FleetIds=[r["FleetId"]])["Fleets"][0]
    want(fleet["FleetState"] == "active", "the fleet")
    t = ec2.terminate_instances(InstanceIds=group["InstanceIds"])["TerminatingInstances"]
    want(all(x["CurrentState"]["Name"] == "shutting-down" and x["PreviousState"]["Name"] == "running" for x in t), "terminating")
    wait_for("terminated", state("terminated"))
    want(free() == before, "addresses are free again")
    refused("InvalidInstanceID.NotFound", ec2.describe_instances, InstanceIds=["i-0123456789abcdef0"])
    refused("InvalidInstanceID.Malformed", ec2.terminate_instances, InstanceIds=["x"])


def spot_and_shortage(s):
    ec2 = s.client("ec2")
    name = with_template(s, ec2, "spot")
    cheapest = min(s.world["spotPrices"]["m5.large"].items(), key=lambda x: x[1])[0]
    s.order(f"drain m5.large {cheapest} spot")
    r = ec2.create_fleet(**fleet_request(s, name, kind="spot"))
    want([e["ErrorCode"] for e in r["Errors"]] == ["InsufficientInstanceCapacity"], f"one refusal: {r['Errors']}")
    want(r["Errors"][0]["LaunchTemplateAndOverrides"]["Overrides"]["AvailabilityZone"] == cheapest, "of the cheapest zone")
    want(r["Instances"][0]["Lifecycle"] == "spot", "another zone has some")
    i = instances(ec2, InstanceIds=r["Instances"][0]["InstanceIds"])[0]
    want(i["InstanceLifecycle"] == "spot" and i["SpotInstanceRequestId"].startswith("sir-"), "a spot machine")
    bad = fleet_request(s, name)
    bad["LaunchTemplateConfigs"][0]["Overrides"][0]["SubnetId"] = "subnet-nowhere"
    r = ec2.create_fleet(**bad)
    want([e["ErrorCode"] for e in r["Errors"]] == ["InvalidSubnetID.NotFound"] and r["Instances"], "an override with a bad subnet")
    ids = [i["InstanceId"] for i in instances(ec2, Filters=[{"Name": "instance-state-name", "Values": ["pending", "running"]}])]
    ec2.terminate_instances(InstanceIds=ids)


def reservations(s):
    ec2 = s.client("ec2")
    left = lambda: ec2.describe_capacity_reservations(CapacityReservationIds=["cr-m5large1a"])["CapacityReservations"][0]["AvailableInstanceCount"]
    before = left()
    name = with_template(s, ec2, "reserved", CapacityReservationSpecification={
        "CapacityReservationPreference": "capacity-reservations-only",
        "CapacityReservationTarget": {"CapacityReservationId": "cr-m5large1a"}})
    r = ec2.create_fleet(**fleet_request(s, name))
    i = instances(ec2, InstanceIds=r["Instances"][0]["InstanceIds"])[0]
    want(i["CapacityReservationId"] == "cr-m5large1a" and left() == before - 1, "in its reservation")
    want(i["CapacityReservationSpecification"]["CapacityReservationPreference"] == "capacity-reservations-only", "and only there")
    ec2.terminate_instances(InstanceIds=[i["InstanceId"]])
    wait_for("the reservation is free again", lambda: left() == before)
    refused("InvalidCapacityReservationId.NotFound", ec2.describe_capacity_reservations, CapacityReservationIds=["cr-nothing"])


def run_instances_and_tags(s):
    ec2 = s.client("ec2")
    name = with_template(s, ec2, "run")
    refused("DryRunOperation", ec2.run_instances, LaunchTemplate={"LaunchTemplateName": name}, InstanceType="m5.large", MinCount=1,
            MaxCount=1, DryRun=True)
    refused("InvalidParameterValue", ec2.run_instances, LaunchTemplate={"LaunchTemplateName": name}, InstanceType="m5.large", MinCount=1,
            MaxCount=1, IamInstanceProfile={"Name": "nothing"})
    r = ec2.run_instances(LaunchTemplate={"LaunchTemplateName": name}, InstanceType="m5.large", SubnetId="subnet-test2", MinCount=2,
                          MaxCount=2, TagSpecifications=[{"ResourceType": "instance", "Tags": [{"Key": "k", "Value": "v"}]}])
    ids = [i["InstanceId"] for i in r["Instances"]]
    want(len(ids) == 2 and r["Instances"][0]["State"]["Name"] == "pending", "two machines, pending")
    ec2.create_tags(Resources=[ids[0]], Tags=[{"Key": "Name", "Value": "a node"}, {"Key": "k", "Value": "w"}])
    tags = {t["Key"]: t["Value"] for t in ec2.describe_tags(Filters=[{"Name": "resource-id", "Values": [ids[0]]}])["Tags"]}
    want(tags["Name"] == "a node" and tags["k"] == "w" and tags["aws:ec2launchtemplate:version"] == "1", f"tags: {tags}")
    ec2.delete_tags(Resources=[ids[0]], Tags=[{"Key": "Name"}])
    want(not any(t["Key"] == "Name" for t in instances(ec2, InstanceIds=[ids[0]])[0]["Tags"]), "a tag is gone")
    refused("InvalidInstanceID.NotFound", ec2.create_tags, Resources=["i-0123456789abcdef0"], Tags=[{"Key": "a", "Value": "b"}])
    wait_for("healthy", lambda: len(ec2.describe_instance_status(InstanceIds=ids)["InstanceStatuses"]) == 2)
    s.order(f"impair system {ids[0]}")
    bad = ec2.describe_instance_status(Filters=[{"Name": "system-status.status", "Values": ["impaired"]}])["InstanceStatuses"]
    want([x["InstanceId"] for x in bad] == [ids[0]] and bad[0]["SystemStatus"]["Details"][0]["ImpairedSince"], "an impaired machine")
    s.order(f"notify change {ids[1]}")
    due = ec2.describe_instance_status(Filters=[{"Name": "event.code", "Values": ["instance-retirement"]}])["InstanceStatuses"]
    want([x["InstanceId"] for x in due] == [ids[1]], "a machine to be retired")
    ec2.terminate_instances(InstanceIds=ids)


def same_token_same_fleet(s):
    ec2 = s.client("ec2")
    name = with_template(s, ec2, "token")
    request = fleet_request(s, name, ClientToken="a-token-of-mine")
    one, two = ec2.create_fleet(**request), ec2.create_fleet(**request)
    want(one["Instances"][0]["InstanceIds"] == two["Instances"][0]["InstanceIds"], "the same machine")
    refused("IdempotentParameterMismatch", ec2.create_fleet, **fleet_request(s, name, count=2, ClientToken="a-token-of-mine"))
    ec2.terminate_instances(InstanceIds=one["Instances"][0]["InstanceIds"])
    want(sum(1 for l in s.order("leaks") if l.startswith("instance ") and one["Instances"][0]["InstanceIds"][0] in l) == 1, "listed")


def too_many_calls(s):
    """RunInstances is the scarcest of all: five at once, two a second."""
    import botocore.exceptions
    ec2, seen = s.client("ec2"), []
    for _ in range(60):
        try:
            ec2.run_instances(MinCount=1, MaxCount=1, DryRun=True, ImageId=s.world["images"][0]["ImageId"], InstanceType="m5.large",
                              SubnetId="subnet-test1")
        except botocore.exceptions.ClientError as e:
            seen.append((e.response["Error"]["Code"], e.response["ResponseMetadata"]["HTTPStatusCode"]))
        if seen[-1] != ("DryRunOperation", 412):
            break
    want(seen[0] == ("DryRunOperation", 412) and seen[-1] == ("RequestLimitExceeded", 503), f"{seen[-1]} after {len(seen)} calls")


# ---- the other services ----

def instance_profiles(s):
    iam = s.client("iam")
    tags = [{"Key": "kubernetes.io/cluster/test-cluster", "Value": "owned"}]
    p = iam.create_instance_profile(InstanceProfileName="mine", Path="/karpenter/us-west-2/test-cluster/uid/", Tags=tags)["InstanceProfile"]
    want(p["Arn"].endswith(":instance-profile/karpenter/us-west-2/test-cluster/uid/mine") and p["Tags"] == tags, "made")
    refused("EntityAlreadyExists", iam.create_instance_profile, InstanceProfileName="mine")
    r = refused("NoSuchEntity", iam.add_role_to_instance_profile, InstanceProfileName="mine", RoleName="nobody")
    want("role" in r["Error"]["Message"] and r["ResponseMetadata"]["HTTPStatusCode"] == 404, "a role that is not there")
    iam.add_role_to_instance_profile(InstanceProfileName="mine", RoleName="test-role")
    refused("LimitExceeded", iam.add_role_to_instance_profile, InstanceProfileName="mine", RoleName="other-role")
    want(iam.get_instance_profile(InstanceProfileName="mine")["InstanceProfile"]["Roles"][0]["RoleName"] == "test-role", "its role")
    want(iam.get_role(RoleName="test-role")["Role"]["Arn"].endswith(":role/test-role"), "a role")
    iam.tag_instance_profile(InstanceProfileName="mine", Tags=[{"Key": "x", "Value": "y"}])
    mine = pages(iam, "list_instance_profiles", "InstanceProfiles", PathPrefix="/karpenter/us-west-2/test-cluster/")
    want([x["InstanceProfileName"] for x in mine] == ["mine"], "by path")
    want(len(pages(iam, "list_instance_profiles", "InstanceProfiles", PaginationConfig={"PageSize": 1})) >= 3, "one a page")
    refused("DeleteConflict", iam.delete_instance_profile, InstanceProfileName="mine")
    iam.remove_role_from_instance_profile(InstanceProfileName="mine", RoleName="test-role")
    iam.delete_instance_profile(InstanceProfileName="mine")
    refused("NoSuchEntity", iam.get_instance_profile, InstanceProfileName="mine")


def parameters(s):
    ssm = s.client("ssm")
    name, value = next(iter(s.world["ssmParameters"].items()))
    want(ssm.get_parameter(Name=name)["Parameter"]["Value"] == value, "a parameter")
    refused("ParameterNotFound", ssm.get_parameter, Name="/nothing")
    r = ssm.get_parameters(Names=[name, "/nothing"])
    want(len(r["Parameters"]) == 1 and r["InvalidParameters"] == ["/nothing"], "several")
    found = pages(ssm, "get_parameters_by_path", "Parameters", Path="/aws/service", Recursive=True)
    want(len(found) == sum(1 for k in s.world["ssmParameters"] if k.startswith("/aws/service/")), "by path")
    ssm.put_parameter(Name="/my/image", Value="ami-1", Type="String")
    want(ssm.get_parameter(Name="/my/image")["Parameter"]["Version"] == 1, "a new one")


def queue(s):
    sqs = s.client("sqs")
    url = sqs.get_queue_url(QueueName="test-cluster")["QueueUrl"]
    refused("AWS.SimpleQueueService.NonExistentQueue", sqs.get_queue_url, QueueName="nothing")
    sqs.purge_queue(QueueUrl=url)
    want(url in sqs.list_queues()["QueueUrls"], "listed")
    sent = sqs.send_message(QueueUrl=url, MessageBody="hällo <&>")
    m = sqs.receive_message(QueueUrl=url, MaxNumberOfMessages=10, VisibilityTimeout=4, WaitTimeSeconds=1,
                            AttributeNames=["SentTimestamp"])["Messages"][0]
    import hashlib
    want(m["Body"] == "hällo <&>" and m["MessageId"] == sent["MessageId"], "the message")
    want(m["MD5OfBody"] == sent["MD5OfMessageBody"] == hashlib.md5("hällo <&>".encode()).hexdigest(), "its digest")
    want(int(m["Attributes"]["SentTimestamp"]) > 1.6e12, "when it was sent")
    began = time.monotonic()
    again = sqs.receive_message(QueueUrl=url, WaitTimeSeconds=10)["Messages"][0]
    want(time.monotonic() - began < 9, "a long poll sees it as soon as it is visible again")
    counts = sqs.get_queue_attributes(QueueUrl=url, AttributeNames=["All"])["Attributes"]
    want(counts["ApproximateNumberOfMessagesNotVisible"] == "1" and counts["MessageRetentionPeriod"] == "300", f"{counts}")
    sqs.change_message_visibility(QueueUrl=url, ReceiptHandle=again["ReceiptHandle"], VisibilityTimeout=0)
    last = sqs.receive_message(QueueUrl=url)["Messages"][0]
    sqs.delete_message_batch(QueueUrl=url, Entries=[{"Id": "1", "ReceiptHandle": last["ReceiptHandle"]}])
    want(not sqs.receive_message(QueueUrl=url, WaitTimeSeconds=1).get("Messages"), "deleted")


def interruptions_reach_the_queue(s):
    ec2, sqs, events = s.client("ec2"), s.client("sqs"), s.client("events")
    rules = events.list_rules(NamePrefix="Karpenter")["Rules"]
    want(len(rules) == 5, "five rules")
    want(events.describe_rule(Name=rules[0]["Name"])["Arn"] == rules[0]["Arn"], "a rule")
    want(events.list_targets_by_rule(Rule=rules[0]["Name"])["Targets"][0]["Arn"].endswith(":test-cluster"), "its target")
    url = sqs.get_queue_url(QueueName="test-cluster")["QueueUrl"]
    sqs.purge_queue(QueueUrl=url)
    name = with_template(s, ec2, "interrupted")
    i = ec2.create_fleet(**fleet_request(s, name, kind="spot"))["Instances"][0]["InstanceIds"][0]
    wait_for("running", lambda: instances(ec2, InstanceIds=[i])[0]["State"]["Name"] == "running")
    want(s.order(f"notify rebalance {i}") == ["ok"] and s.order(f"notify spot {i}") == ["ok"], "noticed")
    want(s.order(f"notify change {i}") == ["ok"] and s.order(f"notify reservation {i}") == ["ok"], "noticed")
    ec2.terminate_instances(InstanceIds=[i])
    events.put_events(Entries=[{"Source": "mine", "DetailType": "anything", "Detail": "{}"}])
    seen = []

    def enough():
        for m in sqs.receive_message(QueueUrl=url, MaxNumberOfMessages=10, WaitTimeSeconds=1).get("Messages", []):
            body = json.loads(m["Body"])
            want(body["version"] == "0" and body["account"] == s.world["account"] and body["region"] == s.region, "the envelope")
            seen.append((body["source"], body["detail-type"], body["detail"].get("state") or body["detail"].get("eventTypeCategory")))
            sqs.delete_message(QueueUrl=url, ReceiptHandle=m["ReceiptHandle"])
        return len(seen) >= 8
    wait_for("eight events", enough)
    want(sorted(seen, key=str) == sorted([
        ("aws.ec2", "EC2 Instance State-change Notification", "pending"), ("aws.ec2", "EC2 Instance State-change Notification", "running"),
        ("aws.ec2", "EC2 Instance Rebalance Recommendation", None), ("aws.ec2", "EC2 Spot Instance Interruption Warning", None),
        ("aws.health", "AWS Health Event", "scheduledChange"),
        ("aws.ec2", "EC2 Capacity Reservation Instance Interruption Warning", None),
        ("aws.ec2", "EC2 Instance State-change Notification", "shutting-down"),
        ("aws.ec2", "EC2 Instance State-change Notification", "terminated")], key=str), f"{seen}")


def cluster_prices_and_shifts(s):
    eks = s.client("eks")
    c = eks.describe_cluster(name="test-cluster")["cluster"]
    want(c["endpoint"] == "https://test-cluster" and c["version"] == s.world["cluster"]["version"], "the cluster")
    want(c["certificateAuthority"]["data"] == s.world["cluster"]["caBundle"], "its authority")
    want(c["kubernetesNetworkConfig"]["serviceIpv4Cidr"] == "10.100.0.0/16", "its network")
    want(eks.list_clusters()["clusters"] == ["test-cluster"], "clusters")
    refused("ResourceNotFoundException", eks.describe_cluster, name="nothing")
    pricing = s.client("pricing")
    prices = {}
    for tenancy, family in (("Shared", "Compute Instance"), ("Dedicated", "Compute Instance (bare metal)")):
        fields = [("regionCode", s.region), ("serviceCode", "AmazonEC2"), ("preInstalledSw", "NA"), ("operatingSystem", "Linux"),
                  ("capacitystatus", "Used"), ("marketoption", "OnDemand"), ("tenancy", tenancy), ("productFamily", family)]
        for text in pages(pricing, "get_products", "PriceList", ServiceCode="AmazonEC2",
                          Filters=[{"Type": "TERM_MATCH", "Field": f, "Value": v} for f, v in fields]):
            p = json.loads(text)
            (term,), = [p["terms"]["OnDemand"].values()]
            (d,), = [term["priceDimensions"].values()]
            prices[p["product"]["attributes"]["instanceType"]] = float(d["pricePerUnit"]["USD"])
    offered = {t: p for t, p in s.world["onDemandPrices"].items() if t in s.world["instanceTypeOfferings"]}
    want(prices == offered, "on-demand prices")
    arc = s.client("arc-zonal-shift")
    want(arc.get_managed_resource(resourceIdentifier=c["arn"])["zonalShifts"] == [], "no shift")
    s.order("shift tstz1-1a 600")
    shift = arc.get_managed_resource(resourceIdentifier=c["arn"])["zonalShifts"][0]
    want(shift["awayFrom"] == "tstz1-1a" and shift["appliedStatus"] == "APPLIED", "a shift")
    s.order("shift tstz1-1a 0")


# ---- who asks ----

def signatures(s):
    good = s.client("sts").get_caller_identity()
    want(good["Account"] == s.world["account"], "who I am")
    refused("SignatureDoesNotMatch", s.client("ec2", aws_secret_access_key="wrong").describe_subnets)
    refused("AuthFailure", s.client("ec2", aws_access_key_id="AKIANOBODY").describe_subnets)
    refused("InvalidClientTokenId", s.client("iam", aws_access_key_id="AKIANOBODY").get_role, RoleName="x")
    refused("UnrecognizedClientException", s.client("ssm", aws_access_key_id="AKIANOBODY").get_parameter, Name="x")
    refused("InvalidSignatureException", s.client("sqs", aws_secret_access_key="wrong").get_queue_url, QueueName="x")
    late = s.client("ec2")
    import botocore.auth
    keep = botocore.auth.get_current_datetime if hasattr(botocore.auth, "get_current_datetime") else None
    if keep:
        botocore.auth.get_current_datetime = lambda *a, **k: keep(*a, **k) - datetime.timedelta(minutes=10)
        try:
            refused("RequestExpired", late.describe_subnets)
        finally:
            botocore.auth.get_current_datetime = keep


def roles(s):
    sts = s.client("sts")
    role = f"arn:aws:iam::{s.world['account']}:role/test-role"
    keys = sts.assume_role(RoleArn=role, RoleSessionName="me")["Credentials"]
    as_role = {"aws_access_key_id": keys["AccessKeyId"], "aws_secret_access_key": keys["SecretAccessKey"],
               "aws_session_token": keys["SessionToken"]}
    want(s.client("sts", **as_role).get_caller_identity()["Arn"].endswith(":assumed-role/test-role/me"), "as a role")
    refused("AuthFailure", s.client("ec2", **{**as_role, "aws_session_token": "wrong"}).describe_subnets)
    refused("AccessDenied", sts.assume_role, RoleArn=role + "x", RoleSessionName="me")
    part = lambda d: base64.urlsafe_b64encode(json.dumps(d).encode()).decode().rstrip("=")
    token = lambda exp: ".".join([part({"alg": "RS256"}), part({"sub": "system:serviceaccount:karpenter:karpenter", "exp": exp}), "c2ln"])
    web = dict(RoleArn=role, RoleSessionName="pod")
    r = sts.assume_role_with_web_identity(WebIdentityToken=token(int(time.time()) + 600), **web)
    want(r["SubjectFromWebIdentityToken"] == "system:serviceaccount:karpenter:karpenter" and r["Credentials"]["SessionToken"], "as a pod")
    refused("ExpiredTokenException", sts.assume_role_with_web_identity, WebIdentityToken=token(1), **web)
    refused("InvalidIdentityToken", sts.assume_role_with_web_identity, WebIdentityToken="not-a-token", **web)


def fetch(url, method="GET", **headers):
    try:
        with urllib.request.urlopen(urllib.request.Request(url, method=method, headers=headers), timeout=10) as r:
            return r.status, r.read().decode()
    except urllib.error.HTTPError as e:
        return e.code, e.read().decode()


def metadata(s):
    ec2 = s.client("ec2")
    want(fetch(s.local + "/latest/meta-data/instance-id")[0] == 401, "no token, no answer")
    _, token = fetch(s.local + "/latest/api/token", "PUT", **{"X-aws-ec2-metadata-token-ttl-seconds": "60"})
    ask = lambda path: fetch(s.local + "/latest/" + path, **{"X-aws-ec2-metadata-token": token})
    want(ask("meta-data/placement/region") == (200, s.region), "the region")
    i = ec2.create_fleet(**fleet_request(s, with_template(s, ec2, "metadata"), kind="spot"))["Instances"][0]["InstanceIds"][0]
    s.order(f"machine {i}")
    want(ask("meta-data/instance-id") == (200, i) and ask("user-data") == (200, "#!/bin/sh\n"), "a machine's own")
    want(ask("meta-data/spot/instance-action")[0] == 404, "nobody has warned it")
    s.order(f"notify spot {i}")
    want(json.loads(ask("meta-data/spot/instance-action")[1])["action"] == "terminate", "warned")
    role = ask("meta-data/iam/security-credentials/")[1]
    keys = json.loads(ask("meta-data/iam/security-credentials/" + role)[1])
    me = s.client("sts", aws_access_key_id=keys["AccessKeyId"], aws_secret_access_key=keys["SecretAccessKey"],
                  aws_session_token=keys["Token"]).get_caller_identity()
    want(me["Arn"].endswith(f"/own-role/{i}"), "keys of its profile's role")
    want(fetch(s.local + "/v1/credentials", Authorization="wrong")[0] == 401, "a pod with a wrong token")
    s.order("machine")
    want(json.loads(fetch(s.local + "/v1/credentials", Authorization="pod-token")[1])["AccessKeyId"].startswith("ASIA"), "keys of a pod")
    ec2.terminate_instances(InstanceIds=[i])


def sdk_finds_credentials(s):
    """botocore's own providers, pointed at the local services."""
    env = {"AWS_CONTAINER_CREDENTIALS_FULL_URI": s.local + "/v1/credentials", "AWS_CONTAINER_AUTHORIZATION_TOKEN": "pod-token"}
    code = ("import boto3,sys;print(boto3.client('sts',endpoint_url=sys.argv[1],region_name=sys.argv[2]).get_caller_identity()['Arn'])")
    clean = {k: v for k, v in os.environ.items() if not k.startswith("AWS_")}
    clean.update(AWS_CONFIG_FILE="/dev/null", AWS_SHARED_CREDENTIALS_FILE="/dev/null")
    for more in (env, {"AWS_EC2_METADATA_SERVICE_ENDPOINT": s.local}):
        p = subprocess.run([sys.executable, "-c", code, s.url, s.region], env={**clean, **more}, capture_output=True, text=True, timeout=60)
        want(p.returncode == 0 and ":assumed-role/" in p.stdout, p.stderr[-300:] or p.stdout)


# ---- the aws command line, as people type it ----

def command_line(s):
    url = s.aws("sqs", "get-queue-url", "--queue-name", "test-cluster", "--query", "QueueUrl", "--output", "text")
    a = s.aws("sqs", "get-queue-attributes", "--queue-url", url, "--attribute-names", "ApproximateNumberOfMessages")
    want("ApproximateNumberOfMessages" in a["Attributes"], "aws sqs get-queue-attributes")
    want(len(s.aws("events", "list-rules", "--name-prefix", "Karpenter")["Rules"]) == 5, "aws events list-rules")
    want(len(s.aws("ec2", "describe-instance-types", "--page-size", "50")["InstanceTypes"]) == len(s.world["instanceTypes"]), "aws ec2")
    want(s.aws("iam", "get-instance-profile", "--instance-profile-name", "own-profile")["InstanceProfile"]["Roles"], "aws iam")
    want(s.aws("sts", "get-caller-identity")["Account"] == s.world["account"], "aws sts")
    want(s.aws("ssm", "get-parameters-by-path", "--path", "/aws/service", "--recursive")["Parameters"], "aws ssm")
    want(s.aws("eks", "describe-cluster", "--name", "test-cluster")["cluster"]["status"] == "ACTIVE", "aws eks")
    want(s.aws("pricing", "get-products", "--service-code", "AmazonEC2", "--max-items", "1", "--region", s.region)["PriceList"], "aws pricing")
    with tempfile.TemporaryDirectory() as d:
        s.aws("eks", "update-kubeconfig", "--name", "test-cluster", "--kubeconfig", os.path.join(d, "config"))
        want("https://test-cluster" in open(os.path.join(d, "config"), encoding="utf-8").read(), "aws eks update-kubeconfig")


def nothing_is_left(s):
    """Machines that the checks above have made are terminated or about to be; the account knows of every template."""
    ec2 = s.client("ec2", attempts=5)
    wait_for("no machine runs", lambda: not instances(ec2, Filters=[{"Name": "instance-state-name", "Values": ["pending", "running"]}]))
    named = {t["LaunchTemplateId"] for t in pages(ec2, "describe_launch_templates", "LaunchTemplates")}
    listed = {l.split()[1] for l in s.order("leaks") if l.startswith("launch-template ")}
    want(named == listed, "the list of what there is")
    launched, ended, hours, usd = s.order("bill")[0].split()
    want(int(launched) >= 10 and float(hours) > 0 and float(usd) > 0, "the bill")


def every_action_was_asked(s):
    source = open(os.path.join(ROOT, "src/sim/aws/actions.c"), encoding="utf-8").read()
    names = {"ZONAL_SHIFT": "arc-zonal-shift"}
    have = {f"{names.get(v, v.lower())}:{n}" for v, n in re.findall(r'\{(\w+), "(\w+)"', source)}
    want(have <= SEEN, f"not asked, or never answered: {sorted(have - SEEN)}")


CHECKS = [describes_come_back_equal, offerings_and_prices, filters_and_pages, launch_templates, fleets_and_the_life_of_machines,
          spot_and_shortage, reservations, run_instances_and_tags, same_token_same_fleet, instance_profiles, parameters, queue,
          interruptions_reach_the_queue, cluster_prices_and_shifts, signatures, roles, metadata, sdk_finds_credentials, command_line,
          nothing_is_left, too_many_calls, every_action_was_asked]


def run(program, work, only=()):
    """(name, problem or None) of every check."""
    s = Server(program, work)
    try:
        for check in CHECKS:
            name = "aws-sim/" + check.__name__.replace("_", "-")
            if only and not any(word in name for word in only):
                continue
            try:
                check(s)
                yield name, None
            except Exception as e:  # a client's own complaint is a finding too
                yield name, f"    {type(e).__name__}: {e}"
        status = s.close()
        yield "aws-sim/server", None if status == 0 else f"    the server ended with {status}"
    finally:
        s.process.kill()


if __name__ == "__main__":
    sys.exit(report.main(__doc__, run))
