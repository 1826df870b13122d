"""karpenter termination-handler on a real control plane: with the variables and the rights that its chart gives it, and an instance metadata service that says what it is told to.

kwok plays the kubelets. Machines are Nodes that a scenario makes; its pods select them, so that those that were evicted have nowhere to go.
"""
import contextlib
import http.server
import json
import os
import re
import subprocess
import threading
import time

import yaml

import servers
from cluster import Controller, free_ports, until, want
from delivery import command

CHART = os.path.join(servers.ROOT, "deploy/charts/termination-handler")
NAMESPACE = "kube-system"
NAME = "termination-handler"
META = "/latest/meta-data/"
SPOT, SCHEDULED, REBALANCE = META + "spot/instance-action", META + "events/maintenance/scheduled", META + "events/recommendations/rebalance"


class Metadata(http.server.ThreadingHTTPServer):
    """IMDSv2 of one machine: nothing without a token."""

    def __init__(self, instance):
        self.says = {"/latest/dynamic/instance-identity/document": json.dumps({"instanceId": instance, "instanceType": "m5.large", "region": "us-west-2", "availabilityZone": "us-west-2a"})}
        super().__init__(("127.0.0.1", 0), Answer)
        threading.Thread(target=self.serve_forever, daemon=True).start()

    @property
    def url(self):
        return f"http://127.0.0.1:{self.server_port}"


class Answer(http.server.BaseHTTPRequestHandler):
    def reply(self, status, text=""):
        self.send_response(status)
        self.send_header("Content-Length", str(len(text)))
        self.end_headers()
        self.wfile.write(text.encode())

    def do_PUT(self):
        self.reply(200 if self.path == "/latest/api/token" and self.headers["X-aws-ec2-metadata-token-ttl-seconds"] else 400, "token")

    def do_GET(self):
        if self.headers["X-aws-ec2-metadata-token"] != "token":
            self.reply(401)
        else:
            self.reply(200 if self.path in self.server.says else 404, self.server.says.get(self.path, ""))

    def log_message(self, *_):
        pass


def template(*values):
    """The objects of the chart, as {kind: object}, and their text."""
    out = command("helm", "template", NAME, CHART, "-n", NAMESPACE, "-a", "monitoring.coreos.com/v1", *[a for v in values for a in ("--set", v)]).stdout
    return {o["kind"]: o for o in yaml.safe_load_all(out) if o}, out


def variables(objects):
    container = objects["DaemonSet"]["spec"]["template"]["spec"]["containers"][0]
    return {e["name"]: e["value"] for e in container["env"] if "value" in e}


def grant(stage, *values):
    """The handler's rights, as the chart has them with these values; returns its kubeconfig."""
    _, text = template(*values)
    rights = "\n---\n".join(p for p in text.split("\n---\n") if re.search(r"(?m)^kind: (ServiceAccount|ClusterRole|ClusterRoleBinding)$", p))
    return stage.cluster.login(NAMESPACE, NAME, rights)


class Handler(Controller):
    """One process, as a pod of the chart's DaemonSet would run it."""

    def __init__(self, stage, name, url, *values, kubeconfig=None):
        objects, _ = template("enablePrometheusServer=true", "jsonLogging=true", f"instanceMetadataURL={url}", *values)
        kubeconfig = kubeconfig or grant(stage, *values)
        self.metrics_port, = free_ports(1)
        self.log = os.path.join(stage.cluster.work, f"handler-{name}-{time.monotonic_ns()}.log")
        self.out = open(self.log, "w", encoding="utf-8")
        given = {**variables(objects), "PROMETHEUS_SERVER_PORT": str(self.metrics_port), "NODE_NAME": name}
        self.process = subprocess.Popen([stage.program, "termination-handler", "--kubeconfig", kubeconfig], stdin=subprocess.DEVNULL, stdout=self.out, stderr=subprocess.STDOUT,
                                        env={"PATH": os.environ["PATH"], **given})

    def says(self, what):
        return [l for l in self.text().splitlines() if what in l]


@contextlib.contextmanager
def machine(stage, name):
    """A Node with three pods: one that may go, one whose budget keeps it, one of a DaemonSet."""
    c = stage.cluster
    c.create("Node", name, {
        "metadata": {"annotations": {"kwok.x-k8s.io/node": "fake"}, "labels": {"kubernetes.io/os": "linux", "kubernetes.io/hostname": name, "machine": name}},
        "spec": {"providerID": f"aws:///us-west-2a/i-{name}"},
        "status": {"capacity": {"cpu": "4", "memory": "8Gi", "pods": "20"}, "allocatable": {"cpu": "4", "memory": "8Gi", "pods": "20"}}})
    pod = lambda app: {"selector": {"matchLabels": {"app": app}}, "template": {"metadata": {"labels": {"app": app}}, "spec": {
        "nodeSelector": {"machine": name}, "terminationGracePeriodSeconds": 1, "containers": [{"name": "c", "image": "pause"}]}}}
    for app in (f"{name}-free", f"{name}-kept"):
        c.create("Deployment", app, {"spec": {"replicas": 1, **pod(app)}})
    c.create("DaemonSet", f"{name}-daemon", {"spec": pod(f"{name}-daemon")})
    c.create("PodDisruptionBudget", f"{name}-kept", {"spec": {"minAvailable": 1, "selector": {"matchLabels": {"app": f"{name}-kept"}}}})
    metadata = Metadata(f"i-{name}")
    try:
        until(40, "three pods run", lambda: len(on(c, name, ready=True)) == 3)
        until(20, "the budget has been looked at", lambda: c.get("PodDisruptionBudget", f"{name}-kept").get("status", {}).get("currentHealthy") == 1)
        yield metadata
    finally:
        metadata.shutdown()
        c.delete("PodDisruptionBudget", f"{name}-kept")
        for app in (f"{name}-free", f"{name}-kept"):
            c.delete("Deployment", app)
        c.delete("DaemonSet", f"{name}-daemon")
        c.delete("Node", name)


def on(c, node, ready=False):
    """Names of what runs on a node, without the part that is made up."""
    pods = [p for p in c.list("Pod") if p["spec"].get("nodeName") == node and not p["metadata"].get("deletionTimestamp")]
    return sorted(p["metadata"]["labels"]["app"] for p in pods if not ready or p["status"].get("phase") == "Running")


def node(c, name):
    return c.get("Node", name)


def soon():
    return time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime(time.time() + 110))


def the_chart(_):
    """helm lint is content, values reach the program, and what makes no sense is refused with the reason."""
    command("helm", "lint", "--strict", CHART)
    objects, _ = template("nodeSelector.lifecycle=spot", "taintNode=true", "enableScheduledEventDraining=false", "webhookURLSecretName=hook", "podMonitor.create=true", "enablePrometheusServer=true")
    spec = objects["DaemonSet"]["spec"]["template"]["spec"]
    container, env = spec["containers"][0], variables(objects)
    want(env["TAINT_NODE"] == "true" and env["ENABLE_SCHEDULED_EVENT_DRAINING"] == "false" and env["ENABLE_SPOT_INTERRUPTION_DRAINING"] == "true" and "WEBHOOK_URL" not in env, env)
    want(spec["hostNetwork"] and spec["dnsPolicy"] == "ClusterFirstWithHostNet" and spec["nodeSelector"] == {"kubernetes.io/os": "linux", "lifecycle": "spot"}, spec)
    context = container["securityContext"]
    want(context["runAsNonRoot"] and context["readOnlyRootFilesystem"] and not context["allowPrivilegeEscalation"] and context["capabilities"] == {"drop": ["ALL"]}, context)
    want(container["args"] == ["termination-handler"] and "PodMonitor" in objects, container["args"])
    for wrong, why in (("nodeTerminationGracePeriod=soon", "/nodeTerminationGracePeriod"), ("taintEffect=Never", "/taintEffect"), ("enableSqsTerminationDraining=true", "settings.interruptionQueue"),
                       ("enableSpotInterruptionDraining=false,enableScheduledEventDraining=false", "nothing to listen for"), ("podMonitor.create=true", "needs enablePrometheusServer")):
        p = command("helm", "template", NAME, CHART, "--set", wrong, ok=False)
        want(p.returncode != 0 and why in p.stderr, f"{wrong}: {p.returncode} {p.stderr}")


def a_spot_interruption(stage):
    """Cordoned, tainted and drained; the DaemonSet's pod stays, and so does the pod that its budget keeps, until the budget is gone."""
    c = stage.cluster
    with machine(stage, "spot") as metadata:
        handler = Handler(stage, "spot", metadata.url, "taintNode=true", "emitKubernetesEvents=true")
        until(20, "it listens", lambda: handler.says("listening for events"))
        time.sleep(5)
        want(len(on(c, "spot")) == 3 and not node(c, "spot")["spec"].get("unschedulable"), "something was done without a notice")
        metadata.says[SPOT] = json.dumps({"action": "terminate", "time": soon()})
        until(20, "the one that may go has gone", lambda: on(c, "spot") == ["spot-daemon", "spot-kept"])
        spec = node(c, "spot")["spec"]
        want(spec["unschedulable"] and "aws-node-termination-handler/spot-itn" in [t["key"] for t in spec["taints"]], spec)
        time.sleep(8)
        want(on(c, "spot") == ["spot-daemon", "spot-kept"], on(c, "spot"))
        c.delete("PodDisruptionBudget", "spot-kept")
        until(20, "then the other goes", lambda: on(c, "spot") == ["spot-daemon"])
        until(20, "it is done", lambda: handler.metric('actions_total{node_action="cordon-and-drain",node_status="success"}') == 1)
        event = c.event("spot", "CordonAndDrain")
        want(event["source"] == {"component": "aws-node-termination-handler", "host": "spot"} and event["metadata"]["annotations"]["instance-id"] == "i-spot", event)
        want(not handler.says("forbidden") and not handler.says('"level":"ERROR"'), handler.text()[-2000:])
        peak = int(re.search(r"VmHWM:\s+(\d+) kB", open(f"/proc/{handler.process.pid}/status", encoding="utf-8").read()).group(1))
        want(peak < 48 << 10, f"{peak} kB of memory")
        stage.statuses.append(handler.stop())


def a_dry_run_and_nonsense(stage):
    """Neither changes anything."""
    c = stage.cluster
    with machine(stage, "dry") as metadata:
        handler = Handler(stage, "dry", metadata.url, "dryRun=true", "enableRebalanceDraining=true")
        metadata.says[SPOT] = "<html>busy</html>"
        until(20, "the nonsense is told of", lambda: handler.says("an answer that makes no sense"))
        metadata.says[REBALANCE] = json.dumps({"noticeTime": soon()})
        until(20, "it says what it would do", lambda: len(handler.says("dry run: would evict pod")) == 2)
        time.sleep(3)
        want(len(on(c, "dry")) == 3 and not node(c, "dry")["spec"].get("unschedulable"), "something was done")
        want(len(handler.says("an answer that makes no sense")) == 1, "it is told of more than once")
        stage.statuses.append(handler.stop())


def a_reboot(stage):
    """Maintenance drains the node; after the reboot it is uncordoned, and nothing of it is left."""
    c = stage.cluster
    uptime = os.path.join(c.work, "uptime")
    with machine(stage, "reboot") as metadata:
        c.delete("PodDisruptionBudget", "reboot-kept")
        metadata.says[SCHEDULED] = json.dumps([{"NotBefore": "21 Jan 2030 09:00:43 GMT", "NotAfter": "", "Code": "system-reboot", "State": "active", "EventId": "instance-event-1", "Description": "reboot"}])
        open(uptime, "w", encoding="utf-8").write("1000000.00 1.00\n")
        handler = Handler(stage, "reboot", metadata.url, f"procUptimeFile={uptime}", "taintNode=true")
        until(30, "drained", lambda: on(c, "reboot") == ["reboot-daemon"] and handler.says("the node was cordoned and drained"))
        want(node(c, "reboot")["metadata"]["labels"]["aws-node-termination-handler/action"] == "UncordonAfterReboot", node(c, "reboot")["metadata"]["labels"])
        stage.statuses.append(handler.stop())
        open(uptime, "w", encoding="utf-8").write("0.50 1.00\n")
        handler = Handler(stage, "reboot", metadata.url, f"procUptimeFile={uptime}", "taintNode=true")
        until(30, "uncordoned", lambda: not node(c, "reboot")["spec"].get("unschedulable"))
        until(30, "the pods are back", lambda: len(on(c, "reboot")) == 3)
        time.sleep(5)
        want("aws-node-termination-handler" not in json.dumps({k: v for k, v in node(c, "reboot")["metadata"].items() if k != "managedFields"}) and len(on(c, "reboot")) == 3, node(c, "reboot")["metadata"])
        stage.statuses.append(handler.stop())


def nobody_answers(stage):
    """Without a metadata service it ends with status 1 and a sentence."""
    port, = free_ports(1)
    handler = Handler(stage, "nowhere", f"http://127.0.0.1:{port}", "metadataTries=1")
    until(40, "it gives up", lambda: handler.process.poll() is not None)
    want(handler.process.returncode == 1 and handler.says("cannot begin; giving up"), f"{handler.process.returncode} {handler.text()[-800:]}")


def rights_are_needed(stage):
    """Each rule of its role is taken away once, and something is refused."""
    c = stage.cluster
    values = ("emitKubernetesEvents=true", "useProviderId=true")
    rules = template(*values)[0]["ClusterRole"]["rules"]
    path, kubeconfig = f"/apis/rbac.authorization.k8s.io/v1/clusterroles/{NAME}", grant(stage, *values)
    with machine(stage, "rights") as metadata:
        metadata.says[SPOT] = json.dumps({"action": "terminate", "time": soon()})
        for i, rule in enumerate(rules):
            c.call("PATCH", path, {"rules": rules[:i] + rules[i + 1:]}, "application/merge-patch+json")
            handler = Handler(stage, "rights", metadata.url, *values, kubeconfig=kubeconfig)
            try:
                until(40, f"without {json.dumps(rule)}: something is refused", lambda h=handler: h.says("forbidden"))
            finally:
                handler.kill()


SCENARIOS = [the_chart, a_spot_interruption, a_dry_run_and_nonsense, a_reboot, nobody_answers, rights_are_needed]
