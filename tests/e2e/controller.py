"""karpenter controller on a real control plane, with the rights that the chart gives it and kwok as the kubelets.

What a scenario leaves behind goes while the next ones run; all_gone() looks that it did.
"""
import re
import time

from cluster import condition, is_true, until, want
from stage import clear, name_of, taint_keys

DO_NOT_DISRUPT = "karpenter.sh/do-not-disrupt"
DISRUPTED = "karpenter.sh/disrupted"
HOSTNAME, ZONE = "kubernetes.io/hostname", "topology.kubernetes.io/zone"


# ---- scenarios ----


def probes(s):
    """It comes up, leads, and says so: /healthz, /readyz, /metrics."""
    s.leader.await_lead()
    for path in ("/healthz", "/readyz"):
        want(s.leader.probe(path)[0] == 200, f"{path}: {s.leader.probe(path)}")
    want(s.leader.probe("/nothing")[0] == 404, "an unknown path is not 404")
    text = s.leader.metrics()
    for family in ("karpenter_build_info", "leader_election_master_status", "workqueue_depth", "controller_runtime_reconcile_total",
                   "process_resident_memory_bytes"):
        want(re.search(f"^{family}[ {{]", text, re.MULTILINE), f"/metrics has no {family}")


def inflate(s):
    """0, 5, 100 and 0 pods; a node with pods on it that is deleted by hand is drained and replaced."""
    c = s.cluster
    c.pool("inflate")
    c.deployment("inflate", 0)
    c.scale("inflate", 5)
    c.running("inflate", 5)
    claim = c.ready_claims("inflate", 1)[0]
    node = c.nodes("inflate")[0]
    want(node["spec"]["providerID"] == claim["status"]["providerID"], "node and claim differ in providerID")
    want("karpenter.sh/termination" in node["metadata"].get("finalizers", []), "the node has no finalizer")
    want(not [k for k in taint_keys(node) if k.startswith("karpenter.sh/")], f"the node has taints {taint_keys(node)}")
    want(node["metadata"]["labels"].get("karpenter.sh/initialized") == "true", "the node is not labelled as initialized")
    until(10, "the NodePool counts its node", lambda: c.get("NodePool", "inflate")["status"].get("nodes") == 1)

    c.scale("inflate", 100)
    c.running("inflate", 100, seconds=60)
    c.ready_claims("inflate")
    c.delete("Node", name_of(node))
    until(40, "the deleted node is gone", lambda: not c.get("Node", name_of(node)) and not c.get("NodeClaim", name_of(claim)))
    c.running("inflate", 100, seconds=60)

    c.scale("inflate", 0)
    c.running("inflate", 0)
    for node in c.nodes("inflate"):
        c.delete("Node", name_of(node))
    c.gone("inflate")
    clear(c, "inflate")


def zone_spread(s):
    """Pods that must spread over zones get nodes in each of them."""
    c = s.cluster
    zones = ["test-zone-a", "test-zone-b", "test-zone-c"]
    c.pool("spread", requirements=[{"key": ZONE, "operator": "In", "values": zones}])
    c.deployment("spread", 9, topologySpreadConstraints=[{
        "maxSkew": 1, "topologyKey": ZONE, "whenUnsatisfiable": "DoNotSchedule", "labelSelector": {"matchLabels": {"app": "spread"}}}])
    pods = c.running("spread", 9)
    zone = {name_of(n): n["metadata"]["labels"][ZONE] for n in c.nodes("spread")}
    count = [sum(zone[p["spec"]["nodeName"]] == z for p in pods) for z in zones]
    want(count == [3, 3, 3], f"pods by zone: {count}")
    clear(c, "spread")


def anti_affinity(s):
    """Pods that avoid each other get a node each."""
    c = s.cluster
    c.pool("apart")
    c.deployment("apart", 5, affinity={"podAntiAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": [
        {"topologyKey": HOSTNAME, "labelSelector": {"matchLabels": {"app": "apart"}}}]}})
    pods = c.running("apart", 5)
    want(len({p["spec"]["nodeName"] for p in pods}) == 5 and len(c.claims("apart")) == 5, f"{len(c.claims('apart'))} claims for 5 pods")
    clear(c, "apart")


def daemonset_overhead(s):
    """Room for daemons is left: two pods instead of three fit beside one of a CPU on a machine of four."""
    c = s.cluster
    c.create("DaemonSet", "daemon", {"spec": {"selector": {"matchLabels": {"app": "daemon"}}, "template": {
        "metadata": {"labels": {"app": "daemon"}}, "spec": {
            "nodeSelector": {"karpenter.sh/nodepool": "daemons"}, "terminationGracePeriodSeconds": 0,
            "priorityClassName": "system-node-critical",  # other pods may be on the node before it
            "containers": [{"name": "pause", "image": "pause", "resources": {"requests": {"cpu": "1"}}}]}}}})
    until(10, "the DaemonSet is observed", lambda: c.get("DaemonSet", "daemon")["status"].get("observedGeneration"))
    c.pool("daemons", cpus=["4"])
    c.deployment("daemons", 6)
    until(20, "three claims", lambda: len(c.claims("daemons")) == 3)
    requests = sorted(x["spec"]["resources"]["requests"]["cpu"] for x in c.claims("daemons"))
    want(requests == ["3", "3", "3"], f"the claims ask for {requests} CPUs")
    c.running("daemons", 6)
    c.running("daemon", len(c.ready_claims("daemons")))
    clear(c, "daemons")
    c.delete("DaemonSet", "daemon")


def taints(s):
    """Only pods that tolerate a NodePool's taints get nodes of it; startup taints are waited for until somebody removes them."""
    c = s.cluster
    taint = {"key": "team", "value": "a", "effect": "NoSchedule"}
    c.pool("tainted", taints=[taint], startupTaints=[{"key": "example.com/boot", "effect": "NoSchedule"}])
    c.deployment("strangers", 1, pool="tainted")
    c.deployment("tainted", 2, tolerations=[{"key": "team", "operator": "Equal", "value": "a", "effect": "NoSchedule"}])
    claim = until(20, "the claim is registered", lambda: [x for x in c.claims("tainted") if is_true(x, "Registered")])[0]
    until(20, "the claim waits for its startup taint", lambda: condition(c.get("NodeClaim", name_of(claim)), "Initialized")
          == ("Unknown", "StartupTaintsExist"))
    c.event(name_of(c.pods("strangers")[0]), "FailedScheduling")
    node = c.nodes("tainted")[0]
    want({"team", "example.com/boot"} <= set(taint_keys(node)), f"taints of the node: {taint_keys(node)}")
    want(all(p["status"]["phase"] == "Pending" for p in c.pods("tainted")), "pods run in spite of the startup taint")
    c.patch("Node", name_of(node), {"spec": {"taints": [taint]}})
    c.running("tainted", 2)
    c.ready_claims("tainted", 1)
    want(c.pods("strangers")[0]["status"]["phase"] == "Pending", "a pod that does not tolerate the taint runs")
    c.delete("Deployment", "strangers")
    clear(c, "tainted")


def drain_waits(s):
    """A node that is deleted waits for pods that must not be disrupted and for PodDisruptionBudgets, and goes when they let it."""
    c = s.cluster
    c.pool("careful")
    c.create("PodDisruptionBudget", "budget", {"spec": {"maxUnavailable": 0, "selector": {"matchLabels": {"app": "budget"}}}})
    c.deployment("careful", 1, annotations={DO_NOT_DISRUPT: "true"})
    c.deployment("budget", 1, pool="careful")
    c.running("careful", 1)
    c.running("budget", 1)
    node = name_of(c.nodes("careful")[0])
    kept, held = name_of(c.pods("careful")[0]), name_of(c.pods("budget")[0])
    c.delete("Node", node)
    until(10, "the node is tainted", lambda: DISRUPTED in taint_keys(c.get("Node", node)))
    c.event(node, "FailedDraining")
    time.sleep(6)  # longer than a drain takes that nothing holds up
    for name in (kept, held):
        want("deletionTimestamp" not in (c.get("Pod", name) or {"metadata": {"deletionTimestamp": ""}})["metadata"], f"pod {name} was evicted")
    c.delete("PodDisruptionBudget", "budget")
    until(20, "the pod without its budget is evicted", lambda: not c.get("Pod", held))
    want(c.get("Pod", kept) and c.get("Node", node), "the node did not wait for the pod that must not be disrupted")
    c.patch("Pod", kept, {"metadata": {"annotations": {DO_NOT_DISRUPT: None}}})
    until(30, "the node is gone", lambda: not c.get("Pod", kept) and not c.get("Node", node))
    c.delete("Deployment", "budget")
    clear(c, "careful")


def termination_grace_period(s):
    """After terminationGracePeriod nothing holds a node any more."""
    c = s.cluster
    c.pool("hasty", terminationGracePeriod="8s")
    c.deployment("hasty", 1, annotations={DO_NOT_DISRUPT: "true"})
    c.running("hasty", 1)
    claim, pod = c.ready_claims("hasty", 1)[0], name_of(c.pods("hasty")[0])
    began = time.monotonic()
    c.delete("NodeClaim", name_of(claim))
    until(10, "the claim says until when", lambda: "karpenter.sh/nodeclaim-termination-timestamp" in
          (c.get("NodeClaim", name_of(claim))["metadata"].get("annotations") or {}))
    until(30, "claim and node are gone", lambda: not c.get("NodeClaim", name_of(claim)) and not c.get("Node", claim["status"]["nodeName"]))
    took = time.monotonic() - began
    want(took > 7, f"the node was gone after {took:.1f} s, before its grace period was over")
    want(not c.get("Pod", pod), "its pod is still there")
    clear(c, "hasty")


def registration_failure(s):
    """A machine that never joins: its claim says so, and can be deleted."""
    c = s.cluster
    c.create("KWOKNodeClass", "slow", {"spec": {"nodeRegistrationDelay": "1h"}})
    c.pool("lost", class_name="slow")
    c.deployment("lost", 1)
    claim = until(20, "the claim is launched", lambda: [x for x in c.claims("lost") if is_true(x, "Launched")])[0]
    until(10, "the claim waits for its node", lambda: condition(c.get("NodeClaim", name_of(claim)), "Registered")
          == ("Unknown", "NodeNotFound"))
    want(condition(c.get("NodeClaim", name_of(claim)), "Ready")[0] != "True", "the claim is ready without a node")
    c.delete("Deployment", "lost")
    until(10, "its pod is gone", lambda: not c.pods("lost"))
    c.delete("NodeClaim", name_of(claim))
    until(20, "the claim is gone", lambda: not c.claims("lost"))
    want(not c.nodes("lost"), "a deleted claim got its node")
    clear(c, "lost")


def not_ready_pools(s):
    """NodePools that cannot be used say why, and are used when that is mended."""
    c = s.cluster
    c.pool("classless", class_name="absent")
    c.pool("twice", taints=[{"key": "a", "effect": "NoSchedule"}], startupTaints=[{"key": "a", "effect": "NoSchedule"}])
    conditions = lambda name, kind: condition(c.get("NodePool", name), kind)
    until(10, "the missing class is told", lambda: conditions("classless", "NodeClassReady") == ("False", "NodeClassNotFound"))
    until(10, "the double taint is told", lambda: conditions("twice", "ValidationSucceeded") == ("False", "NodePoolValidationFailed"))
    for name in ("classless", "twice"):
        want(conditions(name, "Ready")[0] == "False", f"{name} is ready")
    c.deployment("classless", 1)
    time.sleep(3)
    want(not c.claims("classless"), "a NodePool without a class made a claim")
    c.create("KWOKNodeClass", "absent", {})
    c.running("classless", 1)
    want(conditions("classless", "Ready")[0] == "True", "the NodePool is not ready with its class")
    c.patch("NodePool", "twice", {"spec": {"template": {"spec": {"startupTaints": None}}}})
    until(10, "the mended NodePool is ready", lambda: conditions("twice", "Ready")[0] == "True")
    c.delete("NodePool", "twice")
    clear(c, "classless")


def launch_begun(s, name):
    """Claims whose machines take seconds to come. Returns the claims' names once all are launched and none has a node."""
    c = s.cluster
    if not c.get("KWOKNodeClass", "soon"):
        c.create("KWOKNodeClass", "soon", {"spec": {"nodeRegistrationDelay": "4s"}})
    c.pool(name, class_name="soon", cpus=["4"])
    c.deployment(name, 12)
    until(20, "the claims are launched", lambda: len([x for x in c.claims(name) if is_true(x, "Launched")]) == 4)
    want(not c.nodes(name), "nodes came before their time")
    return {name_of(x) for x in c.claims(name)}


def finished(s, name, claims):
    c = s.cluster
    c.running(name, 12, seconds=40)
    want({name_of(x) for x in c.ready_claims(name)} == claims, "there are other claims than before")
    clear(c, name)


def restart_mid_launch(s):
    """kill -9 between launch and registration: whoever is started next finishes it, with the same claims and one node each."""
    claims = launch_begun(s, "restart")
    s.leader.kill()
    s.leader = s.start()
    finished(s, "restart", claims)


def hand_over(s):
    """SIGTERM gives the lease back: the other replica leads at once, and carries on."""
    s.leader.await_lead()
    other = s.start()
    other.await_ready()
    want(not other.leads(), "both lead")
    claims = launch_begun(s, "handover")
    began = time.monotonic()
    status = s.leader.stop()
    want(status == 0, f"exit status {status}")
    until(10, "the other leads", other.leads)
    want(time.monotonic() - began < 8, f"hand-over took {time.monotonic() - began:.1f} s")
    s.leader = other
    finished(s, "handover", claims)


def take_over(s):
    """kill -9 of the leader: the other replica waits until the lease has run out, and leads."""
    other = s.start()
    other.await_ready()
    before = s.cluster.holder()
    s.leader.kill()
    began = time.monotonic()
    until(25, "the other leads", other.leads)
    took = time.monotonic() - began
    want(took > 10, f"it led after {took:.1f} s: the lease was still good")
    want(s.cluster.holder() not in ("", before), "the lease did not change hands")
    s.leader = other


def rights(s):
    """Nothing was ever forbidden, and nothing else went wrong on the server's side."""
    for c in s.all:
        text = c.text()
        want("forbidden" not in text.lower() and not re.search(r"\b403\b", text),
             "\n".join(l for l in text.splitlines() if "orbidden" in l or "403" in l)[:2000])
    refused = re.findall(r'^client_go_request_total\{code="(?:401|403|5\d\d)".*', s.leader.metrics(), re.MULTILINE)
    want(not refused, "\n".join(refused))
    want(s.leader.metric('client_go_request_total{code="200"'), "calls are not counted")


def all_gone(s):
    """NodePools that were deleted took their claims and nodes along."""
    def left():
        names = [name_of(x) for kind in ("NodeClaim", "Node") for x in s.cluster.list(kind)]
        want(not names, ", ".join(names[:10]))
        return True

    until(40, "no claim and no node is left", left)


SCENARIOS = [probes, inflate, zone_spread, anti_affinity, daemonset_overhead, taints, drain_waits, termination_grace_period,
             registration_failure, not_ready_pools, restart_mid_launch, hand_over, take_over, all_gone, rights]
