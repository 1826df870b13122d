"""Names that are made up, and instants: what differs from one run to the next is written the same way."""
import json
import re

INSTANT = re.compile(r"\d{4}-\d\d-\d\d[T ]\d\d:\d\d:\d\d(\.\d+)?(Z| \+0000 UTC)|<t[+-]\d+>|<time>")
# Which dependents are named while Ready waits for them depends on who comes first.
WAITING = re.compile(r"(Reason: (?:ReconcilingDependents|UnhealthyDependents)), Message: .*")
# Pods of one workload are equals: which is first is left to chance.
# The Node of the kwok provider that never came has no number.
NEVER_CAME = re.compile(r"kwok-<nodeclaim-\d+>-[a-z]+-[a-z]+-\d+")
# Of commands, in log lines.
UUID = re.compile(r"(?<=/)[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}(?=: )")
OF_WORKLOAD = re.compile(r"<(uid )?pod (.+?)-\d+>")


def same_for_all(text):
    return WAITING.sub(r"\1", INSTANT.sub("<t>", OF_WORKLOAD.sub(r"<\1pod \2-*>", text)))


class Names:
    """Of a run: names and uids, numbered in order of appearance as the recordings have them."""

    def __init__(self, made):
        self.map = {}
        self.claims = [m["name"] for m in made if m["kind"] == "NodeClaim" and m["owner"]]
        workloads = {}
        for i, name in enumerate(self.claims, 1):
            self.map[name] = f"<nodeclaim-{i}>"
        for m in made:
            name, owner = m["name"], m["owner"]
            if m["kind"] == "Pod" and owner:
                base = re.sub(r"-[0-9a-z]{8,10}$", "", owner)
                workloads[base] = workloads.get(base, 0) + 1
                self.map[name] = f"<pod {base}-{workloads[base]}>"
            elif m["kind"] == "Node":
                for claim in self.claims:
                    if claim in name:
                        self.map[name] = self.map[claim].replace("nodeclaim", "node")
        for m in made:
            name = self.map.get(m["name"], m["kind"].lower() + " " + m["name"])
            self.map[m["uid"]] = "<uid " + name.strip("<>") + ">"
        self.order = sorted(self.map, key=len, reverse=True)

    def plain(self, text):
        for name in self.order:
            if name in text:
                text = text.replace(name, self.map[name])
        return same_for_all(UUID.sub("<uuid>", NEVER_CAME.sub("<node>", text)))

    def plain_json(self, value):
        return json.loads(self.plain(json.dumps(value, ensure_ascii=False)))


def plain_json(value):
    """Of a recording, whose names are numbered already."""
    return json.loads(same_for_all(json.dumps(value, ensure_ascii=False)))


# Claims that are equals: which of them a pod is bound to is left to kube-scheduler, and which of them goes to an order among equal candidates that Karpenter leaves open.
OF_CLAIM = re.compile(r"<(uid )?(nodeclaim|node)-\d+>")
# Workloads small-0, small-1, small-2: one pod on each of them.
ON_EQUALS = re.compile(r"<(uid )?pod small-\d-\*>")


def anonymous(x):
    if isinstance(x, tuple):
        return tuple(anonymous(y) for y in x)
    return ON_EQUALS.sub(r"<\1pod small-*>", OF_CLAIM.sub(r"<\1\2-*>", x)) if isinstance(x, str) else x


def of_any(streams):
    """{key: [item]} of objects with numbers: what any of them went through, in no order."""
    out = {}
    for key, items in streams.items():
        out.setdefault(anonymous(key), set()).update(anonymous(x) for x in items)
    return {key: sorted(items, key=repr) for key, items in out.items()}
