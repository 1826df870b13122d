#!/usr/bin/env python3
"""The demo's AWS account, as a person with kubectl and aws meets it: the aws command line, classes of every family whose machines join, the door, and back to nothing.

    tests/e2e/demo_aws.py KARPENTER [NAME...]     ends with 'N passed, N failed'

Run with the python that has requirements.txt (tools/setup e2e), kubectl on the PATH or in the cache of the end-to-end tests.
"""
import contextlib
import json
import os
import re
import subprocess
import sys
import time

import report
import servers

PATIENCE_S = 60


class Wrong(Exception):
    pass


def want(ok, what):
    if not ok:
        raise Wrong(what)


class Shell:
    """A shell that has read the file which the demo wrote."""

    def __init__(self, program, kubeconfig):
        self.program, self.file = program, kubeconfig + ".env"
        self.path = os.pathsep.join([servers.BIN, os.path.join(servers.PYTHON, "bin"), os.environ["PATH"]])

    def run(self, command, refused=False):
        clean = {k: v for k, v in os.environ.items() if not k.startswith("AWS_")}
        p = subprocess.run(["sh", "-c", f". {self.file}; {command}"], capture_output=True, text=True, timeout=120, env={**clean, "PATH": self.path, "KARPENTER": self.program})
        want((p.returncode != 0) == refused, f"$ {command}\nstatus {p.returncode}\n{p.stdout}{p.stderr}")
        return p.stdout

    def json(self, command):
        return json.loads(self.run(command))

    def wait(self, what, fn, settling_s=0):
        """The first answer of fn that is true. settling_s: how long the NodePool itself lets its nodes wait."""
        patience_s = PATIENCE_S + settling_s
        end = time.monotonic() + patience_s
        while time.monotonic() < end:
            answer = fn()
            if answer:
                return answer
            time.sleep(0.3)
        raise Wrong(f"waited {patience_s} s for: {what}\n" + self.run("kubectl get nodeclaims,nodes,pods -o wide; kubectl get nodepools,ec2nodeclasses"))

    def items(self, what):
        return self.json(f"kubectl get {what} -o json")["items"]

    def apply(self, text):
        self.run(f"kubectl apply -f - <<'EOF'\n{text}\nEOF")

    def instances(self):
        found = self.json("aws ec2 describe-instances --filters Name=instance-state-name,Values=pending,running,shutting-down --output json")
        return [i for r in found["Reservations"] for i in r["Instances"]]


def ready(o):
    return any(c["type"] == "Ready" and c["status"] == "True" for c in o.get("status", {}).get("conditions", []))


def command_line(s):
    """What a troubleshooting guide asks for, word for word."""
    attributes = s.json("aws sqs get-queue-attributes \\\n  --queue-url $(aws sqs get-queue-url --queue-name karpenter-eks-cluster-dev --query 'QueueUrl' --output text) \\\n  --attribute-names All")
    want("QueueArn" in attributes["Attributes"], attributes)
    want(len(s.json("aws events list-rules --name-prefix Karpenter")["Rules"]) == 5, "rules")
    want(s.json("aws eks describe-cluster --name eks-cluster-dev")["cluster"]["status"] == "ACTIVE", "cluster")
    want(s.run("aws sts get-caller-identity --query Account --output text").strip() == "123456789012", "identity")
    found = s.run("aws ec2 describe-subnets --filters Name=tag:karpenter.sh/discovery,Values=eks-cluster-dev --query 'length(Subnets)' --output text")
    want(found.strip() == "3", found)
    s.run("AWS_SECRET_ACCESS_KEY=wrong aws ec2 describe-instances", refused=True)


CLASS = """apiVersion: karpenter.k8s.aws/v1
kind: EC2NodeClass
metadata: {name: %(name)s}
spec:
  amiFamily: %(family)s
  role: KarpenterNodeRole
  amiSelectorTerms: [%(term)s]
  subnetSelectorTerms: [{tags: {karpenter.sh/discovery: my-cluster}}]
  securityGroupSelectorTerms: [{tags: {karpenter.sh/discovery: my-cluster}}]
---
apiVersion: karpenter.sh/v1
kind: NodePool
metadata: {name: %(name)s}
spec:
  template:
    metadata: {labels: {family: %(name)s}}
    spec:
      nodeClassRef: {group: karpenter.k8s.aws, kind: EC2NodeClass, name: %(name)s}
      requirements:
      - {key: karpenter.k8s.aws/instance-category, operator: In, values: [c, m]}
      - {key: karpenter.sh/capacity-type, operator: In, values: [on-demand]}
      taints: [{key: family, value: %(name)s, effect: NoSchedule}]
---
apiVersion: v1
kind: Pod
metadata: {name: %(name)s}
spec:
  nodeSelector: {family: %(name)s}
  tolerations: [{key: family, operator: Exists}]
  containers: [{name: a, image: b, resources: {requests: {cpu: "1"}}}]
"""
FAMILIES = {
    "al2": ("AL2", "{name: amazon-eks-node-1.32-*, owner: amazon}"),
    "al2023": ("AL2023", "{alias: al2023@v20260605}"),
    "bottlerocket": ("Bottlerocket", "{alias: bottlerocket@latest}"),
    "windows": ("Windows2022", "{alias: windows2022@latest}"),
}


def families(s):
    """A machine of every family is told by its user data what it is: the pod that waits for it runs."""
    for name, (family, term) in FAMILIES.items():
        s.apply(CLASS % {"name": name, "family": family, "term": term})
    pods = " ".join(FAMILIES)
    s.wait("a pod on a node of each family", lambda: all(p["status"].get("phase") == "Running" for p in s.items(f"pods {pods}")))
    for node in s.items("nodes -l family"):
        name = node["metadata"]["labels"]["family"]
        want(node["metadata"]["labels"]["kubernetes.io/os"] == ("windows" if name == "windows" else "linux"), node["metadata"]["labels"])
        want({"key": "family", "value": name, "effect": "NoSchedule"} in node["spec"]["taints"], node["spec"])
        want(any(i["PrivateDnsName"] == node["metadata"]["name"] for i in s.instances()), f"no instance {node['metadata']['name']}")
    s.run(f"kubectl delete pods {pods} --wait=false; kubectl delete nodepools {pods}; kubectl delete ec2nodeclasses {pods}")
    s.wait("all of them gone", lambda: not s.items("nodeclaims") and not s.instances())


def interruption(s):
    """A notice leads to another machine before the first is gone; a pool that is used up to another type."""
    s.run("kubectl scale deployment inflate --replicas 5")
    s.wait("five pods", lambda: [ready(c) for c in s.items("nodeclaims")] == [True] and all(p["status"].get("phase") == "Running" for p in s.items("pods -l app=inflate")))
    first = s.items("nodeclaims")[0]
    kind = first["metadata"]["labels"]["node.kubernetes.io/instance-type"]
    want("0 more machines" in s.run(f"$KARPENTER demo capacity spot 0 {kind}"), "capacity")
    want("two minutes" in s.run(f"$KARPENTER demo interrupt {first['status']['nodeName']}"), "interrupt")
    s.wait("another NodeClaim", lambda: any(c["metadata"]["name"] != first["metadata"]["name"] and ready(c) for c in s.items("nodeclaims")))
    s.wait("the first one gone", lambda: len(s.items("nodeclaims")) == 1 and len(s.instances()) == 1)
    second = s.items("nodeclaims")[0]
    want(second["metadata"]["labels"]["node.kubernetes.io/instance-type"] != kind, "it was bought where there is none")
    s.run("$KARPENTER demo interrupt nobody", refused=True)
    s.run("curl -sf -X POST \"$AWS_ENDPOINT_URL/demo/capacity?capacityType=spot&more=0\"", refused=True)
    s.run("curl -sf -X POST -H \"Authorization: Bearer $AWS_SECRET_ACCESS_KEY\" \"$AWS_ENDPOINT_URL/demo/capacity?capacityType=spot&more=-1\"")


def image(s):
    """A new image, and a class that pins it: the node is replaced by one that has it."""
    alias, first, *_ = s.run("$KARPENTER demo publish-ami").split()
    want(s.json(f"aws ec2 describe-images --image-ids {first}")["Images"][0]["Name"].endswith(alias.split("@")[1]), alias)
    s.run("""kubectl patch nodepool default --type merge -p '{"spec":{"disruption":{"consolidateAfter":"0s"}}}'""")
    s.run(f"""kubectl patch ec2nodeclass default --type merge -p '{{"spec":{{"amiSelectorTerms":[{{"alias":"{alias}"}}]}}}}'""")
    s.wait("its machines", lambda: (lambda v: v and all(i["ImageId"] == first for i in v))(s.instances()))


def nothing(s):
    """Nobody needs anything: empty nodes go by themselves, and with the classes what they had in the account."""
    s.run("kubectl scale deployment inflate --replicas 0")
    s.wait("no machines", lambda: not s.items("nodeclaims") and not s.instances())
    s.run("kubectl delete nodepools --all; kubectl delete ec2nodeclasses --all")
    left = s.json("aws ec2 describe-launch-templates")["LaunchTemplates"]
    want(not left, f"launch templates are left: {left}")


CASES = [command_line, families, interruption, image, nothing]


@contextlib.contextmanager
def started(program, work, name):
    """A demo, as a Shell; at the end `status` of it is the demo's exit status."""
    kubeconfig, log = os.path.join(work, f"{name}.kubeconfig"), os.path.join(work, f"{name}.log")
    with open(log, "w", encoding="utf-8") as out:
        p = subprocess.Popen([program, "demo", "--kubeconfig", kubeconfig], stdin=subprocess.DEVNULL, stdout=out, stderr=subprocess.STDOUT)
    s = Shell(program, kubeconfig)
    try:
        end = time.monotonic() + PATIENCE_S
        while time.monotonic() < end and p.poll() is None and not re.search(r"^Ready after", open(log, encoding="utf-8").read(), re.MULTILINE):
            time.sleep(0.1)
        yield s
    finally:
        p.terminate()
        s.status = p.wait(30)


def play(program, work, part, cases, only):
    """Yields (name, problem or None) of every case, on one demo, and at last how that has ended."""
    with started(program, work, part) as s:
        for case in cases:
            name = f"{part}/{case.__name__}"
            if only and not any(word in name for word in only):
                continue
            try:
                case(s)
                yield name, None
            except (Wrong, subprocess.SubprocessError, ValueError, KeyError, IndexError) as e:
                yield name, f"{type(e).__name__}: {e}"
    yield f"{part}/end", None if s.status == 0 and not os.path.exists(s.file) else f"status {s.status}"


def run(program, work, only):
    yield from play(program, work, "demo-aws", CASES, only)


if __name__ == "__main__":
    sys.exit(report.main(__doc__, run))
