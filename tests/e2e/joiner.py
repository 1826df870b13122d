"""Machines that join the cluster: for every instance that runs in moto a Node that kwok plays the kubelet of.

What a machine knows it has from its user data, as nodeadm of Amazon Linux 2023 or Bottlerocket would read it: which API server, whom to believe, its labels and taints,
the settings of its kubelet. The Node is made through just that address and trusting just that authority. Of a machine that is terminated the kubelet falls silent; its
Node is left to the controller. kwok goes on with the lease of a node that it has once known, so what kube-controller-manager says of nodes that are silent is said here.
"""
import base64
import collections
import email
import json
import os
import re
import threading
import time
import tomllib

import yaml

import client
from aws_account import CLUSTER
from emulator import REGION

MANAGED = "kwok.x-k8s.io/node"
GRACE_S = 5  # for which a silent kubelet is believed to be well
EVICTION_MIB = 100  # memory.available of evictionHard, where nothing is said
UNITS = {"Ki": 1 / 1024, "Mi": 1, "Gi": 1024}
Told = collections.namedtuple("Told", "cluster server authority cidr dns labels taints max_pods reserved")  # what user data says


# ---- user data ----


def nodeadm(text):
    """A MIME document with a NodeConfig in it."""
    parts = [p for p in email.message_from_string(text).walk() if p.get_content_type() == "application/node.eks.aws"]
    spec = yaml.safe_load(parts[-1].get_payload())["spec"]
    cluster, kubelet = spec["cluster"], spec["kubelet"]["config"]
    flags = re.fullmatch(r'--node-labels="(.*)"', spec["kubelet"]["flags"][0])
    return Told(cluster["name"], cluster["apiServerEndpoint"], cluster["certificateAuthority"], cluster["cidr"], kubelet["clusterDNS"],
                dict(pair.split("=", 1) for pair in flags[1].split(",")), kubelet["registerWithTaints"], kubelet["maxPods"],
                kubelet.get("kubeReserved", {}))


def bottlerocket(text):
    k = tomllib.loads(text)["settings"]["kubernetes"]
    taints = [dict(zip(("value", "effect"), v.split(":")), key=key) for key, values in k["node-taints"].items() for v in values]
    return Told(k["cluster-name"], k["api-server"], k["cluster-certificate"], None, [k["cluster-dns-ip"]], k["node-labels"], taints, k["max-pods"],
                k.get("kube-reserved", {}))


def read_user_data(text):
    return nodeadm(text) if text.startswith("MIME-Version:") else bottlerocket(text)


def mebibytes(text):
    return float(text[:-2]) * UNITS[text[-2:]]


def resources(kind, told):
    """(capacity, allocatable): the kernel keeps five percent of the memory, the kubelet what it is told to."""
    cpu_m, memory = kind["VCpuInfo"]["DefaultVCpus"] * 1000, kind["MemoryInfo"]["SizeInMiB"] * 0.95
    free_m = cpu_m - int(told.reserved.get("cpu", "0m").removesuffix("m"))
    free = memory - mebibytes(told.reserved.get("memory", "0Mi")) - EVICTION_MIB
    common = {"pods": str(told.max_pods), "ephemeral-storage": "20Gi"}
    return {"cpu": f"{cpu_m}m", "memory": f"{int(memory * 1024)}Ki", **common}, {"cpu": f"{free_m}m", "memory": f"{int(free * 1024)}Ki", **common}


# ---- machines ----


class Joiner(threading.Thread):
    """`problems`: what machines could make nothing of; `told`: what each was told, by instance id."""

    def __init__(self, cluster, account):
        super().__init__(daemon=True)
        self.work, self.real, self.account = cluster.work, cluster.real, account
        self.problems, self.told, self.way = [], {}, None
        self.names, self.off = {}, {}  # by instance id: Nodes; when to say that they are silent
        self.ended = threading.Event()

    def run(self):
        while not self.ended.wait(0.3):
            try:
                self.look()
            except Exception as e:  # a machine that does not come up says nothing, its test does
                self.problems.append(f"{type(e).__name__}: {e}")

    def look(self):
        for id, i in self.account.instances(states=("running", "terminated")).items():
            if i["State"]["Name"] == "running" and id not in self.told:
                self.boot(id, i)
            elif i["State"]["Name"] == "terminated" and id in self.names:
                self.power_off(id)

    def stop(self):
        self.ended.set()
        self.join()

    # ---- a machine ----

    def boot(self, id, instance):
        self.told[id] = None  # one try
        text = self.account.ec2.describe_instance_attribute(InstanceId=id, Attribute="userData")["UserData"]["Value"]
        told = self.told[id] = read_user_data(base64.b64decode(text).decode())
        if told.cluster != CLUSTER:
            raise ValueError(f"told to join {told.cluster}")
        kind = self.account.types[instance["InstanceType"]]
        capacity, allocatable = resources(kind, told)
        name, zone = instance["PrivateDnsName"], instance["Placement"]["AvailabilityZone"]
        arch = "amd64" if "x86_64" in kind["ProcessorInfo"]["SupportedArchitectures"] else "arm64"
        status, answer = self.api(told).call("POST", "/api/v1/nodes", {
            "apiVersion": "v1", "kind": "Node",
            "metadata": {"name": name, "annotations": {MANAGED: "fake"}, "labels": {
                **told.labels, "kubernetes.io/hostname": name, "kubernetes.io/os": "linux", "kubernetes.io/arch": arch,
                "node.kubernetes.io/instance-type": instance["InstanceType"], "topology.kubernetes.io/region": REGION,
                "topology.kubernetes.io/zone": zone}},
            "spec": {"providerID": f"aws:///{zone}/{id}", "taints": told.taints},
            "status": {"capacity": capacity, "allocatable": allocatable}})
        if status != 201:
            raise ValueError(f"POST nodes: {status} {answer}")
        self.names[id] = name

    def power_off(self, id):
        node = f"/api/v1/nodes/{self.names[id]}"
        if id not in self.off:
            self.off[id] = time.monotonic() + GRACE_S
            self.way.call("PATCH", node, {"metadata": {"annotations": {MANAGED: None}}}, "application/merge-patch+json")
        elif time.monotonic() > self.off[id]:
            del self.names[id]
            self.way.call("PATCH", node + "/status", {"status": {"conditions": [
                {"type": "Ready", "status": "Unknown", "reason": "NodeStatusUnknown", "message": "Kubelet stopped posting node status."}]}},
                "application/strategic-merge-patch+json")

    def api(self, told):
        """A way to the API server that a machine was told of. All are told the same."""
        if not self.way:
            shown = client.Client(self.real)  # an administrator's certificate stands for the role of nodes
            side = type("Side", (), {"kubeconfig": os.path.join(self.work, "joiner.kubeconfig")})
            with open(side.kubeconfig, "w", encoding="utf-8") as f:
                json.dump({"apiVersion": "v1", "kind": "Config", "current-context": "told", "users": [{"name": "node", "user": shown.user}],
                           "clusters": [{"name": "told", "cluster": {"server": told.server, "certificate-authority-data": told.authority}}],
                           "contexts": [{"name": "told", "context": {"cluster": "told", "user": "node"}}]}, f)
            self.way, self.server = client.Client(side), (told.server, told.authority)
        if (told.server, told.authority) != self.server:
            raise ValueError(f"told of {told.server}, others of {self.server[0]}, or of other authorities")
        return self.way
