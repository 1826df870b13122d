"""What is behind feature gates, on a real control plane: static capacity, buffers, overlays, repair, expiration.

Manifests are those of docs/feature-gates.md, for a NodePool of the scenario's own.
"""
import datetime
import re
import time

from cluster import condition, is_true, until, want
from stage import clear, name_of

ARGS = ("--feature-gates", "StaticCapacity=true,CapacityBuffer=true,NodeOverlay=true,NodeRepair=true")
READY, PROVISIONING = "ReadyForProvisioning", "Provisioning"


def template(pool, cpu="1"):
    return {"metadata": {"labels": {"app": "spare"}}, "spec": {
        "nodeSelector": {"karpenter.sh/nodepool": pool}, "terminationGracePeriodSeconds": 0,
        "containers": [{"name": "pause", "image": "pause", "resources": {"requests": {"cpu": cpu, "memory": "256Mi"}}}]}}


def says(c, buffer, kind, *want_condition, seconds=45):
    """Waits until a buffer has this condition: status, reason."""
    until(seconds, f"{buffer}: {kind} is {' '.join(want_condition)}", lambda: condition(c.get("CapacityBuffer", buffer) or {}, kind) == want_condition)


# ---- scenarios ----


def leads(s):
    """A replica leads, with all gates open, and watches what is behind them."""
    s.leader.await_lead()
    until(20, "the controllers are there", lambda: all(
        re.search(f'^workqueue_depth{{.*name="{name}"', s.leader.metrics(), re.MULTILINE)
        for name in ("static.provisioning", "static.deprovisioning", "capacitybuffer", "nodeoverlay.controller", "node.health")))


def static_up_and_down(s):
    """A NodePool with replicas has as many nodes, within its limit; those that cost least go first."""
    c = s.cluster
    c.create("NodePool", "static", {"spec": {"replicas": 2, "limits": {"nodes": "4"}, "template": {"spec": {
        "nodeClassRef": {"group": "karpenter.kwok.sh", "kind": "KWOKNodeClass", "name": "default"}, "expireAfter": "Never",
        "requirements": [{"key": "node.kubernetes.io/instance-type", "operator": "In", "values": ["c-2x-amd64-linux"]}]}}}})
    c.ready_claims("static", 2)
    c.patch("NodePool", "static", {"spec": {"replicas": 9}})
    c.ready_claims("static", 4)
    c.deployment("static", 1)
    c.running("static", 1)
    busy = c.pods("static")[0]["spec"]["nodeName"]
    c.patch("NodePool", "static", {"spec": {"replicas": 1}})
    until(40, "one node is left", lambda: len(c.nodes("static")) == 1 and len(c.claims("static")) == 1)
    want(name_of(c.nodes("static")[0]) == busy, "the node with the pod went, others were empty")
    c.patch("NodePool", "static", {"spec": {"replicas": 0}})
    c.gone("static")
    want(c.get("NodePool", "static")["status"].get("nodes", 0) == 0, "the NodePool counts nodes that are gone")
    clear(c, "static")


def buffer_of_a_template(s):
    """A buffer without its template says so; with it room appears, pods take it at once, and it is made again."""
    c = s.cluster
    c.pool("spare", cpus=["4"])
    c.create("CapacityBuffer", "spare", {"spec": {"podTemplateRef": {"name": "spare"}, "replicas": 3}})
    says(c, "spare", READY, "False", "PodTemplateNotFound")
    c.create("PodTemplate", "spare", {"template": template("spare")})
    says(c, "spare", READY, "True", "Resolved")
    says(c, "spare", PROVISIONING, "True", "FitsExistingCapacity")
    want(c.get("CapacityBuffer", "spare")["status"]["replicas"] == 3, "status.replicas is not 3")
    c.ready_claims("spare", 1)
    want(not c.pods("spare"), "there are pods of the buffer")
    c.event("spare", PROVISIONING)
    began = time.monotonic()
    c.deployment("spare", 3)
    c.running("spare", 3, seconds=5)
    want(time.monotonic() - began < 5, "pods waited for room that was there")
    until(60, "there is room again", lambda: len(c.ready_claims("spare", 2)) == 2)
    says(c, "spare", PROVISIONING, "True", "FitsExistingCapacity")
    c.delete("CapacityBuffer", "spare")
    c.delete("PodTemplate", "spare")
    clear(c, "spare")


def buffer_of_a_deployment(s):
    """A buffer follows the replicas of a Deployment, and keeps its node from being removed as empty."""
    c = s.cluster
    c.pool("share", cpus=["4"])
    c.deployment("share", 2)
    c.running("share", 2)
    c.create("CapacityBuffer", "share", {"spec": {"scalableRef": {"apiGroup": "apps", "kind": "Deployment", "name": "share"}, "percentage": 50}})
    says(c, "share", PROVISIONING, "True", "FitsExistingCapacity")
    want(c.get("CapacityBuffer", "share")["status"]["replicas"] == 1, "half of two is not one")
    c.scale("share", 6)
    until(60, "the buffer follows", lambda: c.get("CapacityBuffer", "share")["status"]["replicas"] == 3)
    c.patch("CapacityBuffer", "share", {"spec": {"percentage": None, "replicas": 3}})
    c.scale("share", 0)
    c.patch("NodePool", "share", {"spec": {"disruption": {"consolidationPolicy": "WhenEmpty", "consolidateAfter": "0s", "budgets": [{"nodes": "100%"}]}}})
    until(60, "one node is left, for the buffer", lambda: len(c.nodes("share")) == 1)
    until(30, "its node is said to hold room", lambda: [e for e in c.list("Event") if e["reason"] == "Unconsolidatable" and "has buffer pods" in e["message"]])
    time.sleep(30)
    want(len(c.nodes("share")) == 1, "the node went although the buffer needs it")
    c.delete("CapacityBuffer", "share")
    clear(c, "share")


def overlays(s):
    """An overlay gives types a resource that the provider does not know of; a second one of its weight is in conflict."""
    c = s.cluster
    c.pool("fuse", cpus=["2"])
    only = [{"key": "karpenter.sh/nodepool", "operator": "In", "values": ["fuse"]}]
    c.deployment("fuse", 1, containers=[{"name": "pause", "image": "pause", "resources": {"limits": {"example.com/fuse": "1"}, "requests": {"cpu": "1"}}}])
    c.event(name_of(until(10, "the pod is there", lambda: c.pods("fuse"))[0]), "FailedScheduling")
    c.create("NodeOverlay", "fuse", {"spec": {"requirements": only, "capacity": {"example.com/fuse": "2"}}})
    until(10, "the overlay counts", lambda: is_true(c.get("NodeOverlay", "fuse"), "Ready"))
    claim = until(30, "there is a claim", lambda: c.claims("fuse"))[0]
    want(claim["metadata"]["annotations"].get("karpenter.sh/capacity-overlay-applied") == "true", "the claim does not say that an overlay was applied")
    c.create("NodeOverlay", "another", {"spec": {"requirements": only, "capacity": {"example.com/fuse": "3"}}})
    until(10, "the conflict is told", lambda: condition(c.get("NodeOverlay", "another"), "ValidationSucceeded") == ("False", "Conflict"))
    want(is_true(c.get("NodeOverlay", "fuse"), "Ready"), "the overlay later in the alphabet lost")
    c.delete("NodeOverlay", "another")
    c.delete("NodeOverlay", "fuse")
    clear(c, "fuse")


def repair(s):
    """A node that has been broken for ten minutes is replaced, whatever its pods say; of two out of four none is."""
    c = s.cluster
    c.pool("sick", cpus=["2"])
    c.deployment("sick", 4, annotations={"karpenter.sh/do-not-disrupt": "true"})
    c.running("sick", 4)
    c.ready_claims("sick", 4)

    def fall_ill(node, seconds_ago):
        ago = (datetime.datetime.now(datetime.timezone.utc) - datetime.timedelta(seconds=seconds_ago)).strftime("%Y-%m-%dT%H:%M:%SZ")
        c.patch("Node", node, {"metadata": {"annotations": {"kwok.x-k8s.io/node": None}}})
        until(5, "nobody plays its kubelet", lambda: "kwok.x-k8s.io/node" not in c.get("Node", node)["metadata"].get("annotations", {}))
        conditions = [dict(x, status="False", reason="KubeletNotReady", message="stopped", lastTransitionTime=ago) if x["type"] == "Ready" else x
                      for x in c.get("Node", node)["status"]["conditions"]]
        c.call("PATCH", f"/api/v1/nodes/{node}/status", {"status": {"conditions": conditions}}, "application/merge-patch+json")

    first = name_of(c.nodes("sick")[0])
    fall_ill(first, 660)
    until(20, "the broken node is gone", lambda: not c.get("Node", first))
    c.ready_claims("sick", 4, seconds=120)  # pods of a node that is gone are found by the garbage collector
    c.running("sick", 4)
    want(re.search(r'^karpenter_nodeclaims_unhealthy_disrupted_total{.*condition="ready".*nodepool="sick".*} 1', s.leader.metrics(), re.MULTILINE),
         "the metric does not count it")
    both = [name_of(n) for n in c.nodes("sick")][:2]
    for node in both:
        fall_ill(node, 590)
    for node in both:
        c.event(node, "NodeRepairBlocked", seconds=30)
        want(c.get("Node", node), "a node was repaired while too many were broken")
    clear(c, "sick")


def expiration(s):
    """Claims that are older than expireAfter go, and their pods get new ones."""
    c = s.cluster
    c.pool("old", cpus=["2"], expireAfter="20s")
    c.deployment("old", 2)
    c.running("old", 2)
    first = {name_of(x) for x in c.claims("old")}
    until(60, "the first claims are gone", lambda: not first & {name_of(x) for x in c.claims("old")})
    until(60, "their pods run elsewhere", lambda: c.running("old", 2, seconds=1))
    want(re.search(r'^karpenter_nodeclaims_disrupted_total{.*nodepool="old",reason="expired"} [1-9]', s.leader.metrics(), re.MULTILINE),
         "the metric does not count them")
    clear(c, "old")


SCENARIOS = [leads, static_up_and_down, buffer_of_a_template, buffer_of_a_deployment, overlays, repair, expiration]
