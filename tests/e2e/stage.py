"""What scenarios of a controller are played on: a cluster, and the replicas that were ever started.

A scenario is a function; what it is called is its name in the output, its first line of comment says what it shows. Every scenario has a
NodePool of its own, and its pods select that, so that scenarios do not see each other.
"""
import time

from cluster import Cluster, Controller, Wrong


class Stage:
    """`args` are for every replica."""

    def __init__(self, cluster, program, args=()):
        self.cluster, self.program, self.args, self.all, self.statuses = cluster, program, args, [], []
        self.leader = self.start()

    def start(self):
        c = Controller(self.cluster, self.program, str(len(self.all)), *self.args)
        self.all.append(c)
        return c

    def stop(self):
        for c in self.all:
            if c.process.poll() is None:
                self.statuses.append(c.stop())


def name_of(obj):
    return obj["metadata"]["name"]


def taint_keys(node):
    return [t["key"] for t in node["spec"].get("taints", [])]


def clear(c, name):
    """A scenario's pods and NodePool; its claims and nodes follow without anybody waiting for them."""
    c.delete("Deployment", name)
    c.delete("NodePool", name)


def last_words(stage):
    lines = [l for c in stage.all for l in c.text().splitlines() if '"level":"ERROR"' in l or not l.startswith("{")]
    return "\n".join("    " + l[:400] for l in lines[-3:])


def run(part, scenarios, real, program, work, only, args=()):
    """Yields (name, problem or None) for every scenario of a part. The first one is always played: it waits until a replica leads."""
    cluster = Cluster(real, work)
    cluster.grant()
    cluster.create("KWOKNodeClass", "default", {})
    stage = Stage(cluster, program, args)
    try:
        for scenario in scenarios:
            name = f"{part}/" + scenario.__name__.replace("_", "-")
            if only and not any(word in name for word in only) and scenario is not scenarios[0]:
                continue
            began = time.monotonic()
            try:
                scenario(stage)
                problem = None
            except Wrong as e:
                problem = f"  {e}\n{last_words(stage)}"
            yield f"{name} ({time.monotonic() - began:.0f} s)", problem
    finally:
        stage.stop()
    yield f"{part}/exit-status", None if set(stage.statuses) == {0} else f"  {stage.statuses}"
