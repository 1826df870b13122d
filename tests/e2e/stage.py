"""What scenarios of a controller are played on: a cluster, whoever makes machines, and the replicas that were ever started.

A scenario is a function; what it is called is its name in the output, its first line of comment says what it shows. Every scenario has a
NodePool of its own, and its pods select that, so that scenarios do not see each other.
"""
import contextlib
import time
import traceback

from cluster import Cluster, Controller, Wrong


class Place:
    """Where machines come from: what every replica is told about it, and whatever else scenarios look at."""

    def __init__(self, *args, env=None, **rest):
        self.args, self.env = args, env
        self.__dict__.update(rest)


@contextlib.contextmanager
def kwok(cluster):
    """Machines that are Node objects and nothing else, made by the controller itself."""
    cluster.grant("kwok")
    cluster.create("KWOKNodeClass", "default", {})
    yield Place("--provider", "kwok")


class Stage:
    """`args` are for every replica."""

    def __init__(self, cluster, program, place, args=()):
        self.cluster, self.program, self.place, self.args, self.all, self.statuses = cluster, program, place, args, [], []
        self.leader = self.start()

    def start(self):
        c = Controller(self.cluster, self.program, str(len(self.all)), *self.place.args, *self.args, env=self.place.env)
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


def run(part, module, real, program, work, only):
    """Yields (name, problem or None) for every scenario of a part. Those in its list ALWAYS, or else the first one, are played in any case.

    A part may have ARGS for its controllers, and a PLACE where machines come from: a context manager that is given the cluster, and grants the controller its rights there.
    """
    cluster = Cluster(real, work)
    scenarios, always = module.SCENARIOS, getattr(module, "ALWAYS", module.SCENARIOS[:1])
    with getattr(module, "PLACE", kwok)(cluster) as place:
        stage = Stage(cluster, program, place, getattr(module, "ARGS", ()))
        try:
            for scenario in scenarios:
                name = f"{part}/" + scenario.__name__.replace("_", "-")
                if only and not any(word in name for word in only) and scenario not in always:
                    continue
                began = time.monotonic()
                try:
                    scenario(stage)
                    problem = None
                except Exception as e:  # an answer that nobody was prepared for is a failure too
                    what = str(e) if isinstance(e, Wrong) else traceback.format_exc(limit=-2)
                    problem = f"  {what}\n{last_words(stage)}"
                yield f"{name} ({time.monotonic() - began:.0f} s)", problem
        finally:
            stage.stop()
    yield f"{part}/exit-status", None if set(stage.statuses) == {0} else f"  {stage.statuses}"
