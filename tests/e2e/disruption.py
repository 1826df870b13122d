"""Voluntary disruption on a real control plane: what goes, what takes its place, what holds it back.

A look at the cluster comes every ten seconds and a decision is looked at again fifteen seconds later, so most scenarios take half a minute.
"""
import re
import time

from cluster import Wrong, condition, is_true, until, want
from stage import clear, name_of, taint_keys

DO_NOT_DISRUPT = "karpenter.sh/do-not-disrupt"
DISRUPTED = "karpenter.sh/disrupted"
ROUND = 60  # seconds in which a decision is taken, looked at again and carried out


def disrupts(c, name, policy="WhenEmptyOrUnderutilized", after="0s", budgets=({"nodes": "100%"},)):
    """Lets nodes of a NodePool go from now on."""
    c.patch("NodePool", name, {"spec": {"disruption": {"consolidationPolicy": policy, "consolidateAfter": after, "budgets": list(budgets)}}})


def on_nodes(c, name, n, **pod):
    """A NodePool of machines of four CPUs, and one pod of a deployment on each of n of them."""
    c.pool(name, cpus=["4"], **pod.pop("template", {}))
    c.deployment(name, n, cpu="3", **pod)
    c.running(name, n)
    c.ready_claims(name, n)


def nodes_left(c, name, n, seconds=ROUND):
    """Waits until so many nodes are left, each ready and without the taint."""
    def left():
        nodes = c.nodes(name)
        want(len(nodes) == n, f"{len(nodes)} nodes")
        want(not any(DISRUPTED in taint_keys(x) for x in nodes), "some are tainted")
        return c.ready_claims(name, n, seconds=1) if n else not c.claims(name)

    until(seconds, f"{n} nodes of {name} are left", left)
    return {name_of(x) for x in c.nodes(name)}


def watch_going(c, name, seconds, done, counts=lambda nodes: nodes):
    """The most nodes of a NodePool, of those that count, that were on their way out at once, until done() or the time is up."""
    most, end = 0, time.monotonic() + seconds
    while time.monotonic() < end:
        nodes = c.nodes(name)
        most = max(most, sum(DISRUPTED in taint_keys(x) or "deletionTimestamp" in x["metadata"] for x in counts(nodes)))
        if done(nodes):
            return most
        time.sleep(0.2)
    raise Wrong(f"{name}: not after {seconds} s; {len(c.nodes(name))} nodes, at most {most} went at once")


# ---- scenarios ----


def leads(s):
    """A replica leads, and the families of disruption are there."""
    s.leader.await_lead()
    for family in ("karpenter_voluntary_disruption_consolidation_timeouts_total", "karpenter_voluntary_disruption_eligible_nodes"):
        until(20, f"/metrics has {family}", lambda f=family: re.search(f"^{f}[ {{]", s.leader.metrics(), re.MULTILINE))


def empty_nodes(s):
    """Nodes without pods go all at once; a NodePool with consolidateAfter Never keeps its own."""
    c = s.cluster
    on_nodes(c, "empty", 3)
    on_nodes(c, "kept", 1)
    disrupts(c, "empty", policy="WhenEmpty")
    c.scale("empty", 0)
    c.scale("kept", 0)
    nodes_left(c, "empty", 0)
    want(len(c.nodes("kept")) == 1, "a node went that was to stay")
    want(s.leader.metric('karpenter_nodeclaims_disrupted_total{') is not None, "disrupted claims are not counted")
    clear(c, "empty")
    clear(c, "kept")


def consolidation_delete(s):
    """A node whose pods fit on others goes, and its pods move."""
    c = s.cluster
    c.pool("fold", cpus=["8"])
    c.deployment("fold", 6, cpu="2")  # three on each
    c.running("fold", 6)
    c.ready_claims("fold", 2)
    c.scale("fold", 3)
    c.running("fold", 3)
    disrupts(c, "fold")
    nodes_left(c, "fold", 1)
    c.running("fold", 3)
    clear(c, "fold")


def consolidation_replace(s):
    """A node that is too large is replaced by a cheaper one, which is ready before the old one goes."""
    c = s.cluster
    c.pool("shrink")
    c.deployment("large", 1, pool="shrink", cpu="7")
    c.deployment("shrink", 1)
    c.running("large", 1)
    c.running("shrink", 1)
    old = c.ready_claims("shrink", 1)[0]
    c.delete("Deployment", "large")
    c.running("large", 0)
    disrupts(c, "shrink")
    new = until(ROUND, "a replacement", lambda: [x for x in c.claims("shrink") if name_of(x) != name_of(old)])[0]
    c.event(name_of(new), "DisruptionLaunching")

    def replaced():
        ready = is_true(c.get("NodeClaim", name_of(new)), "Initialized")  # asked before, so that it cannot be late
        gone = "deletionTimestamp" in (c.get("NodeClaim", name_of(old)) or {"metadata": {"deletionTimestamp": ""}})["metadata"]
        if gone and not ready:
            raise RuntimeError("the old node went before the new one was ready")
        return gone

    until(30, "the old node goes", replaced)
    left = nodes_left(c, "shrink", 1)
    want(left == {c.get("NodeClaim", name_of(new))["status"]["nodeName"]}, "another node was left than the replacement")
    cpus = lambda claim: int(claim["metadata"]["labels"]["karpenter.kwok.sh/instance-cpu"])
    new = c.get("NodeClaim", name_of(new))
    want(cpus(new) < cpus(old), f"{cpus(old)} CPUs were replaced by {cpus(new)}")
    c.running("shrink", 1)
    clear(c, "shrink")


def consolidation_many(s):
    """Several nodes with little on them become one."""
    c = s.cluster
    on_nodes(c, "many", 3)
    c.deployment("many-light", 3, pool="many", cpu="500m")  # room for one on each node
    c.running("many-light", 3)
    c.delete("Deployment", "many")
    c.running("many", 0)
    disrupts(c, "many")
    nodes_left(c, "many", 1, seconds=2 * ROUND)
    c.running("many-light", 3)
    c.delete("Deployment", "many-light")
    clear(c, "many")


def budget_count(s):
    """A budget of one node: four empty nodes go one after the other."""
    c = s.cluster
    on_nodes(c, "single", 4)
    disrupts(c, "single", policy="WhenEmpty", budgets=[{"nodes": "1"}])
    c.scale("single", 0)
    most = watch_going(c, "single", 4 * ROUND, lambda nodes: len(nodes) <= 1)
    want(most == 1, f"{most} nodes went at once")
    clear(c, "single")


def budget_percent(s):
    """A budget of half of the nodes."""
    c = s.cluster
    on_nodes(c, "half", 4)
    disrupts(c, "half", policy="WhenEmpty", budgets=[{"nodes": "50%"}])
    c.scale("half", 0)
    most = watch_going(c, "half", 2 * ROUND, lambda nodes: len(nodes) <= 2)
    want(most == 2, f"{most} nodes went at once")
    clear(c, "half")


def budget_schedule(s):
    """A budget of no node while its schedule lasts: the NodePool says why nothing goes; for another reason it does not count."""
    c = s.cluster
    on_nodes(c, "night", 1)
    disrupts(c, "night", policy="WhenEmpty", budgets=[{"nodes": "0", "schedule": "* * * * *", "duration": "1h"}])
    c.scale("night", 0)
    c.event("night", "DisruptionBlocked", seconds=30)
    time.sleep(20)
    want(len(c.nodes("night")) == 1, "a node went in spite of the schedule")
    disrupts(c, "night", policy="WhenEmpty", budgets=[{"nodes": "0", "reasons": ["Drifted"], "schedule": "* * * * *", "duration": "1h"}])
    nodes_left(c, "night", 0)
    clear(c, "night")


def drift(s):
    """After a change of the template every node is replaced, one at a time as the budget wants, and pods always have a place."""
    c = s.cluster
    on_nodes(c, "drift", 3)
    before = {name_of(x) for x in c.nodes("drift")}
    disrupts(c, "drift", after="Never", budgets=[{"nodes": "1"}])
    c.patch("NodePool", "drift", {"spec": {"template": {"metadata": {"labels": {"generation": "two"}}}}})
    done = lambda nodes: len(nodes) == 3 and not before & {name_of(x) for x in nodes}
    most = watch_going(c, "drift", 5 * ROUND, done)
    want(most == 1, f"{most} nodes went at once")
    want(all(x["metadata"]["labels"].get("generation") == "two" for x in c.nodes("drift")), "new nodes have an old label")
    c.running("drift", 3)
    clear(c, "drift")


def failed_replacement(s):
    """When the replacement is deleted the node stays, without its taint; the next look tries again."""
    c = s.cluster
    c.create("KWOKNodeClass", "late", {"spec": {"nodeRegistrationDelay": "12s"}})
    on_nodes(c, "failing", 1)
    node = name_of(c.nodes("failing")[0])
    old = name_of(c.claims("failing")[0])
    disrupts(c, "failing", after="Never")
    c.patch("NodePool", "failing", {"spec": {"template": {"spec": {"nodeClassRef": {"name": "late"}}}}})
    new = until(ROUND, "a replacement", lambda: [name_of(x) for x in c.claims("failing") if name_of(x) != old])[0]
    until(10, "the node is tainted", lambda: DISRUPTED in taint_keys(c.get("Node", node)))
    want(condition(c.get("NodeClaim", old), "DisruptionReason") == ("True", "Drifted"), "the claim does not say why it goes")
    c.delete("NodeClaim", new)
    until(20, "the node is released", lambda: DISRUPTED not in taint_keys(c.get("Node", node))
          and condition(c.get("NodeClaim", old), "DisruptionReason") == ("", ""))
    until(2 * ROUND, "the node is replaced in the end", lambda: not c.get("Node", node))
    nodes_left(c, "failing", 1)
    c.running("failing", 1)
    clear(c, "failing")


def do_not_disrupt_for_a_while(s):
    """A pod that must not be disrupted for some seconds keeps its node so long, and no longer."""
    c = s.cluster
    c.pool("while", cpus=["4", "16"])
    c.deployment("while-large", 1, pool="while", cpu="7")
    c.deployment("while", 1, annotations={DO_NOT_DISRUPT: "75s"})
    c.running("while", 1)
    c.running("while-large", 1)
    c.ready_claims("while", 1)
    node, began = name_of(c.nodes("while")[0]), time.monotonic()
    c.delete("Deployment", "while-large")
    disrupts(c, "while")
    c.event(node, "DisruptionBlocked", seconds=30)
    until(3 * ROUND, "the node is replaced", lambda: not c.get("Node", node))
    want(time.monotonic() - began > 60, "it went before its time")
    nodes_left(c, "while", 1)
    clear(c, "while")


def unhealthy_budget(s):
    """A PodDisruptionBudget that allows nothing keeps a node; not so if its pods are not ready and it says that this does not matter."""
    c = s.cluster
    c.pool("ill", cpus=["4", "16"])
    c.create("PodDisruptionBudget", "ill", {"spec": {"minAvailable": 1, "unhealthyPodEvictionPolicy": "AlwaysAllow",
                                                     "selector": {"matchLabels": {"app": "ill"}}}})
    c.deployment("ill-large", 1, pool="ill", cpu="7")
    c.deployment("ill", 1)
    c.running("ill", 1)
    c.running("ill-large", 1)
    c.ready_claims("ill", 1)
    node = name_of(c.nodes("ill")[0])
    c.delete("Deployment", "ill-large")
    disrupts(c, "ill")
    until(30, "the budget is named", lambda: "ill" in c.event(node, "DisruptionBlocked", seconds=30)["message"])
    time.sleep(15)
    want(c.get("Node", node), "the node went in spite of the budget")
    pod = c.pods("ill")[0]
    others = [x for x in pod["status"]["conditions"] if x["type"] not in ("Ready", "ContainersReady")]
    c.call("PATCH", f"/api/v1/namespaces/default/pods/{name_of(pod)}/status", {"status": {"conditions": others + [
        {"type": t, "status": "False", "reason": "Ill"} for t in ("Ready", "ContainersReady")]}}, "application/merge-patch+json")
    until(2 * ROUND, "the node is replaced", lambda: not c.get("Node", node))
    nodes_left(c, "ill", 1)
    c.delete("PodDisruptionBudget", "ill")
    clear(c, "ill")


def leader_killed(s):
    """kill -9 of the leader in the middle of a command: the other replica releases the node or finishes the job, and pods keep their place."""
    c = s.cluster
    other = s.start()
    other.await_ready()
    if not c.get("KWOKNodeClass", "late"):
        c.create("KWOKNodeClass", "late", {"spec": {"nodeRegistrationDelay": "12s"}})
    on_nodes(c, "halfway", 2)
    before = {name_of(x) for x in c.nodes("halfway")}
    disrupts(c, "halfway", after="Never", budgets=[{"nodes": "1"}])
    c.patch("NodePool", "halfway", {"spec": {"template": {"spec": {"nodeClassRef": {"name": "late"}}}}})
    until(ROUND, "a replacement", lambda: len(c.claims("halfway")) == 3)
    s.leader.kill()
    until(25, "the other leads", other.leads)
    s.leader = other
    most = watch_going(c, "halfway", 4 * ROUND, lambda nodes: not before & {name_of(x) for x in nodes})
    want(most == 1, f"{most} nodes went at once")
    c.running("halfway", 2)
    nodes_left(c, "halfway", 2, seconds=2 * ROUND)
    clear(c, "halfway")


SCENARIOS = [leads, empty_nodes, consolidation_delete, consolidation_replace, consolidation_many, budget_count, budget_percent, budget_schedule,
             drift, failed_replacement, do_not_disrupt_for_a_while, unhealthy_budget, leader_killed]
