"""A cluster to try the controller on: short calls to its API server, objects that scenarios are made of, and the controller's process.

Everything waits by asking again until an answer is right or the time is up; a scenario that fails raises Wrong with what it last saw.
"""
import http.client
import json
import os
import re
import socket
import subprocess
import time

import client
import servers

CHART = os.path.join(servers.ROOT, "deploy/charts/karpenter")
NAMESPACE = ACCOUNT = "karpenter"
LEASE = "karpenter-leader-election"
PATHS = {  # by kind
    "Deployment": "/apis/apps/v1/namespaces/default/deployments",
    "DaemonSet": "/apis/apps/v1/namespaces/default/daemonsets",
    "PodDisruptionBudget": "/apis/policy/v1/namespaces/default/poddisruptionbudgets",
    "Pod": "/api/v1/namespaces/default/pods",
    "Event": "/api/v1/namespaces/default/events",
    "Node": "/api/v1/nodes",
    "NodePool": "/apis/karpenter.sh/v1/nodepools",
    "NodeClaim": "/apis/karpenter.sh/v1/nodeclaims",
    "EC2NodeClass": "/apis/karpenter.k8s.aws/v1/ec2nodeclasses",
    "KWOKNodeClass": "/apis/karpenter.kwok.sh/v1alpha1/kwoknodeclasses",
    "NodeOverlay": "/apis/karpenter.sh/v1alpha1/nodeoverlays",
    "CapacityBuffer": "/apis/autoscaling.x-k8s.io/v1beta1/namespaces/default/capacitybuffers",
    "PodTemplate": "/api/v1/namespaces/default/podtemplates",
    "Lease": f"/apis/coordination.k8s.io/v1/namespaces/{NAMESPACE}/leases",
}
MERGE = "application/merge-patch+json"


class Wrong(Exception):
    """What a scenario saw instead of what it wanted."""


def want(truth, what):
    if not truth:
        raise Wrong(what)


def until(seconds, what, fn):
    """Asks fn until its answer counts as true, and returns it. Wrong counts as not yet."""
    end, last = time.monotonic() + seconds, ""
    while True:
        try:
            answer = fn()
            if answer:
                return answer
        except Wrong as e:
            last = f": {e}"
        want(time.monotonic() < end, f"{what}: not after {seconds} s{last}")
        time.sleep(0.1)


def condition(obj, kind):
    """(status, reason) of a condition; ('', '') without it."""
    for c in obj.get("status", {}).get("conditions", []):
        if c["type"] == kind:
            return c["status"], c["reason"]
    return "", ""


def is_true(obj, kind):
    return condition(obj, kind)[0] == "True"


def free_ports(n):
    held = [socket.socket() for _ in range(n)]
    for s in held:
        s.bind(("127.0.0.1", 0))
    ports = [s.getsockname()[1] for s in held]
    for s in held:
        s.close()
    return ports


class Cluster:
    """A real control plane with our definitions, and the controller's rights in it."""

    def __init__(self, real, work):
        self.real, self.work, self.api = real, work, client.Client(real)

    # ---- calls ----

    def call(self, method, path, body=None, content_type="application/json", ok=(200, 201, 202)):
        status, answer = self.api.call(method, path, body, content_type)
        if status not in ok:
            raise Wrong(f"{method} {path}: {status} {answer if isinstance(answer, str) else answer.get('message')}")
        return answer if status < 400 else None

    def create(self, kind, name, body):
        path, group = PATHS[kind], re.match(r"/apis/([^/]+/[^/]+)|/api/(v1)", PATHS[kind])
        self.call("POST", path, {"apiVersion": group.group(1) or group.group(2), "kind": kind, **body,
                                 "metadata": {"name": name, **body.get("metadata", {})}})

    def get(self, kind, name):
        """None: there is no such thing."""
        return self.call("GET", f"{PATHS[kind]}/{name}", ok=(200, 404))

    def list(self, kind, selector=""):
        return self.call("GET", PATHS[kind] + (f"?labelSelector={selector}" if selector else ""))["items"]

    def patch(self, kind, name, body, content_type=MERGE):
        return self.call("PATCH", f"{PATHS[kind]}/{name}", body, content_type)

    def delete(self, kind, name, **options):
        self.call("DELETE", f"{PATHS[kind]}/{name}", options or None, ok=(200, 202, 404))

    # ---- what scenarios are made of ----

    def pool(self, name, class_name="default", cpus=("2", "4", "8", "16"), requirements=(), **spec):
        """A NodePool of on-demand types with so many CPUs. What is in spec goes to its template."""
        expr = lambda key, values: {"key": key, "operator": "In", "values": list(values)}
        self.create("NodePool", name, {"spec": {
            "disruption": {"consolidationPolicy": "WhenEmpty", "consolidateAfter": "Never"},
            "template": {"spec": {
                "nodeClassRef": {"group": "karpenter.kwok.sh", "kind": "KWOKNodeClass", "name": class_name},
                "expireAfter": "Never",
                "requirements": [expr("karpenter.kwok.sh/instance-cpu", cpus), expr("karpenter.sh/capacity-type", ["on-demand"]),
                                 expr("kubernetes.io/arch", ["amd64"]), expr("kubernetes.io/os", ["linux"]), *requirements],
                **spec}}}})

    def deployment(self, name, replicas, pool=None, cpu="1", annotations=None, **spec):
        """Pods of one container for a pool (of the deployment's name, unless another is named). What is in spec goes to the pods."""
        labels = {"app": name}
        self.create("Deployment", name, {"spec": {
            "replicas": replicas, "selector": {"matchLabels": labels},
            "template": {"metadata": {"labels": labels, "annotations": annotations or {}}, "spec": {
                "nodeSelector": {"karpenter.sh/nodepool": pool or name}, "terminationGracePeriodSeconds": 0,
                "containers": [{"name": "pause", "image": "pause", "resources": {"requests": {"cpu": cpu, "memory": "256Mi"}}}],
                **spec}}}})

    def scale(self, name, replicas):
        self.patch("Deployment", name, {"spec": {"replicas": replicas}})

    def pods(self, app):
        return self.list("Pod", f"app={app}")

    def running(self, app, n, seconds=30):
        """Waits until exactly n pods of an app run, and returns them."""
        def all_run():
            pods = self.pods(app)
            phases = [p["status"].get("phase") for p in pods if "deletionTimestamp" not in p["metadata"]]
            want(len(pods) == n and phases.count("Running") == n, f"{phases.count('Running')} of {len(pods)} run")
            return pods or True

        return until(seconds, f"{n} pods of {app} run", all_run)

    def nodes(self, pool):
        return self.list("Node", f"karpenter.sh/nodepool={pool}")

    def claims(self, pool):
        return self.list("NodeClaim", f"karpenter.sh/nodepool={pool}")

    def ready_claims(self, pool, n=None, seconds=30):
        """Waits until a pool's claims are all ready (n: so many) and each has a node of its own."""
        def all_ready():
            claims, nodes = self.claims(pool), self.nodes(pool)
            want(claims and n in (None, len(claims)), f"{len(claims)} claims")
            waiting = [c for c in claims if not is_true(c, "Ready")]
            want(not waiting, f"{len(waiting)} are not, among them " + json.dumps([[c["metadata"]["name"], c.get("status")] for c in waiting[:1]]))
            want({c["status"]["nodeName"] for c in claims} == {x["metadata"]["name"] for x in nodes}, "nodes are not the claims' nodes")
            return claims

        return until(seconds, f"claims of {pool} are ready", all_ready)

    def gone(self, pool, seconds=40):
        def nothing():
            claims, nodes = self.claims(pool), self.nodes(pool)
            want(not claims and not nodes, f"{len(claims)} claims, {len(nodes)} nodes")
            return True

        return until(seconds, f"claims and nodes of {pool} are gone", nothing)

    def event(self, name, reason, seconds=15):
        """Waits for an Event about an object."""
        return until(seconds, f"event {reason} of {name}", lambda: [
            e for e in self.list("Event") if e["involvedObject"].get("name") == name and e.get("reason") == reason])[0]

    def holder(self):
        lease = self.get("Lease", LEASE)
        return (lease or {}).get("spec", {}).get("holderIdentity") or ""

    # ---- the controller ----

    def kubectl(self, *args, **more):
        return subprocess.run([os.path.join(servers.BIN, "kubectl"), "--kubeconfig", self.real.kubeconfig, *args], check=True, stdout=subprocess.PIPE, text=True, **more).stdout

    def login(self, namespace, account, rights):
        """Applies the objects of a service account and what it may do; returns a kubeconfig with a token of it and nothing else."""
        self.kubectl("apply", "-f", "-", input=rights)
        token = self.kubectl("-n", namespace, "create", "token", account, "--duration", "2h").strip()
        config = json.loads(self.kubectl("config", "view", "--raw", "--minify", "-o", "json"))
        config["users"] = [{"name": account, "user": {"token": token}}]
        config["contexts"][0]["context"] = {"cluster": config["clusters"][0]["name"], "user": account, "namespace": namespace}
        path = os.path.join(self.work, f"{account}.kubeconfig")
        with open(path, "w", encoding="utf-8") as f:
            json.dump(config, f)
        return path

    def grant(self, provider):
        """The controller's rights (those that the chart gives it), and a kubeconfig with a token of its service account and nothing else."""
        rights = subprocess.run([os.path.join(servers.BIN, "helm"), "template", "karpenter", CHART, "-n", NAMESPACE, "--set", f"settings.provider={provider},settings.clusterName=e2e",
                                 "-s", "templates/serviceaccount.yaml", "-s", "templates/clusterrole.yaml", "-s", "templates/role.yaml"],
                                check=True, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True).stdout
        self.kubectl("create", "namespace", NAMESPACE)
        self.kubeconfig = self.login(NAMESPACE, ACCOUNT, rights)


class Controller:
    """One replica. `env` is added to its environment."""

    def __init__(self, cluster, program, name, *args, env=None):
        self.log = os.path.join(cluster.work, f"controller-{name}.log")
        self.metrics_port, self.probe_port = free_ports(2)
        self.out = open(self.log, "w", encoding="utf-8")
        self.process = subprocess.Popen(
            [program, "controller", "--kubeconfig", cluster.kubeconfig, "--metrics-port", str(self.metrics_port),
             "--health-probe-port", str(self.probe_port), *args],
            stdin=subprocess.DEVNULL, stdout=self.out, stderr=subprocess.STDOUT, env={**os.environ, **(env or {})})

    def text(self):
        with open(self.log, encoding="utf-8", errors="replace") as f:
            return f.read()

    def ask(self, port, path):
        """(status code, text); (0, why) when nobody answers."""
        try:
            c = http.client.HTTPConnection("127.0.0.1", port, timeout=5)
            c.request("GET", path)
            answer = c.getresponse()
            return answer.status, answer.read().decode()
        except OSError as e:
            return 0, str(e)

    def probe(self, path):
        return self.ask(self.probe_port, path)

    def metrics(self):
        status, text = self.ask(self.metrics_port, "/metrics")
        want(status == 200, f"/metrics: {status} {text}")
        return text

    def metric(self, line):
        """The value of the first series whose line begins so; None without one."""
        found = re.search("^" + re.escape(line) + r".* (\S+)$", self.metrics(), re.MULTILINE)
        return float(found.group(1)) if found else None

    def leads(self):
        return self.metric("leader_election_master_status") == 1

    def await_ready(self, seconds=20):
        until(seconds, "/readyz says ok", lambda: want(self.process.poll() is None, self.text()[-2000:]) or self.probe("/readyz")[0] == 200)

    def await_lead(self, seconds=30):
        self.await_ready()
        until(seconds, "it leads", self.leads)

    def kill(self):
        self.process.kill()
        self.process.wait()

    def stop(self):
        """Its exit status after SIGTERM."""
        self.process.terminate()
        try:
            return self.process.wait(15)
        except subprocess.TimeoutExpired:
            self.kill()
            return "no end after 15 s"
        finally:
            self.out.close()
