"""Machines that join the cluster: for every instance that runs in moto a Node that kwok plays the kubelet of.

What a machine knows it has from its user data, as nodeadm of Amazon Linux 2023 would read it: which API server, whom to believe, its labels and taints, the settings of its
kubelet. The Node is made through just that address and trusting just that authority. Of a machine that is terminated the kubelet falls silent; its Node is left
to the controller. kwok goes on with the lease of a node that it has once known, so what kube-controller-manager says of nodes that are silent is said here.
"""
import base64
import email
import json
import os
import re
import threading
import time

import yaml

import client
from aws_account import CLUSTER
from emulator import REGION

MANAGED = "kwok.x-k8s.io/node"
GRACE_S = 5  # for which a silent kubelet is believed to be well
EVICTION_MIB = 100  # memory.available of evictionHard, where nothing is said
UNITS = {"Ki": 1 / 1024, "Mi": 1, "Gi": 1024}


def node_config(user_data):
    """The NodeConfig in a MIME document."""
    for part in email.message_from_string(user_data).walk():
        if part.get_content_type() == "application/node.eks.aws":
            return yaml.safe_load(part.get_payload())["spec"]
    raise ValueError("the user data has no NodeConfig")


def node_labels(flags):
    for flag in flags:
        found = re.fullmatch(r'--node-labels="(.*)"', flag)
        if found:
            return dict(pair.split("=", 1) for pair in found[1].split(","))
    return {}


def mebibytes(text):
    return float(text[:-2]) * UNITS[text[-2:]]


def resources(kind, kubelet):
    """(capacity, allocatable): the kernel keeps five percent of the memory, the kubelet what it is told to."""
    cpu_m, memory = kind["VCpuInfo"]["DefaultVCpus"] * 1000, kind["MemoryInfo"]["SizeInMiB"] * 0.95
    reserved = kubelet.get("kubeReserved", {})
    free_m = cpu_m - int(reserved.get("cpu", "0m").removesuffix("m"))
    free = memory - mebibytes(reserved.get("memory", "0Mi")) - EVICTION_MIB
    common = {"pods": str(kubelet["maxPods"]), "ephemeral-storage": "20Gi"}
    return {"cpu": f"{cpu_m}m", "memory": f"{int(memory * 1024)}Ki", **common}, {"cpu": f"{free_m}m", "memory": f"{int(free * 1024)}Ki", **common}


class Joiner(threading.Thread):
    """`problems`: what machines could make nothing of; `configs`: what each was told, by instance id."""

    def __init__(self, cluster, account):
        super().__init__(daemon=True)
        self.work, self.real, self.account = cluster.work, cluster.real, account
        self.problems, self.configs, self.way = [], {}, None
        self.names, self.off = {}, {}  # by instance id: Nodes; when to say that they are silent
        self.ended = threading.Event()

    def run(self):
        while not self.ended.wait(0.3):
            for id, i in self.account.instances(states=("running", "terminated")).items():
                try:
                    if i["State"]["Name"] == "running" and id not in self.configs:
                        self.boot(id, i)
                    elif i["State"]["Name"] == "terminated" and id in self.names:
                        self.power_off(id)
                except Exception as e:  # a machine that does not come up says nothing, its test does
                    self.problems.append(f"{id}: {type(e).__name__}: {e}")

    def stop(self):
        self.ended.set()
        self.join()

    # ---- a machine ----

    def boot(self, id, instance):
        self.configs[id] = {}
        text = self.account.ec2.describe_instance_attribute(InstanceId=id, Attribute="userData")["UserData"]["Value"]
        config = self.configs[id] = node_config(base64.b64decode(text).decode())
        if config["cluster"]["name"] != CLUSTER:
            raise ValueError(f"told to join {config['cluster']['name']}")
        kubelet, kind = config["kubelet"]["config"], self.account.types[instance["InstanceType"]]
        capacity, allocatable = resources(kind, kubelet)
        name, zone = instance["PrivateDnsName"], instance["Placement"]["AvailabilityZone"]
        arch = "amd64" if "x86_64" in kind["ProcessorInfo"]["SupportedArchitectures"] else "arm64"
        status, answer = self.api(config["cluster"]).call("POST", "/api/v1/nodes", {
            "apiVersion": "v1", "kind": "Node",
            "metadata": {"name": name, "annotations": {MANAGED: "fake"}, "labels": {
                **node_labels(config["kubelet"].get("flags", [])),
                "kubernetes.io/hostname": name, "kubernetes.io/os": "linux", "kubernetes.io/arch": arch,
                "node.kubernetes.io/instance-type": instance["InstanceType"], "topology.kubernetes.io/region": REGION,
                "topology.kubernetes.io/zone": zone}},
            "spec": {"providerID": f"aws:///{zone}/{id}", "taints": kubelet["registerWithTaints"]},
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
            side = type("Told", (), {"kubeconfig": os.path.join(self.work, "joiner.kubeconfig")})
            with open(side.kubeconfig, "w", encoding="utf-8") as f:
                json.dump({"apiVersion": "v1", "kind": "Config", "current-context": "told", "users": [{"name": "node", "user": shown.user}],
                           "clusters": [{"name": "told", "cluster": {"server": told["apiServerEndpoint"],
                                                                     "certificate-authority-data": told["certificateAuthority"]}}],
                           "contexts": [{"name": "told", "context": {"cluster": "told", "user": "node"}}]}, f)
            self.way = client.Client(side)
            self.told = told
        if told != self.told:
            raise ValueError(f"told of {told}, others of {self.told}")
        return self.way
