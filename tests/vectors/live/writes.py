"""Writes to the API server: what was recorded, what was done, as streams that can be held against each other.

A stream is what one writer sends about one object, in order. Different writers of one object race, so that the order between streams says nothing: who writes is told by the shape of
the body. Where a patch carries the whole list of conditions it stands for what it changes in the list, because the rest of it is whatever others have written before.
"""
import json
import re

# States that upstream shows or not, depending on what its cache has seen.
PASSING = {"AwaitingReconciliation", "KnownEphemeralTaintsExist", "NodeNotReady", "ReconcilingDependents"}
PATCH_TYPES = {"application/merge-patch+json": "merge", "application/strategic-merge-patch+json": "strategic"}
VERBS = {"POST": "create", "PATCH": "patch", "DELETE": "delete", "PUT": "update"}
# Who writes a condition: nodeclaim.lifecycle the others.
WRITERS = {
    "ConsistentStateFound": "consistency", "Consolidatable": "disruption", "Drifted": "disruption", "DisruptionReason": "queue", "Drained": "termination",
    "VolumesDetached": "termination", "InstanceTerminating": "termination", "NodeClassReady": "readiness", "ValidationSucceeded": "validation",
    "NodeRegistrationHealthy": "health",
}
NOT_READY = "node.kubernetes.io/not-ready"
# Left to chance among equals.
RANDOM_LABELS = {"topology.kubernetes.io/zone", "kwok-partition"}


def is_race(resource, code):
    """Somebody else was quicker: another writer, or the pod that is to be evicted has just gone."""
    return code == 409 or (resource == "pods/eviction" and code == 404)


def recorded(lines, plain):
    for w in lines:
        if "verb" in w and not is_race(w["resource"], w["code"]) and not w["resource"].startswith("leases"):
            yield {"verb": w["verb"], "resource": w["resource"], "name": plain(w["name"]), "type": w["type"], "body": plain(w["body"]), "code": w["code"]}


def done(lines, names):
    claims = iter(names.claims)
    for w in lines:
        if w["what"] != "write" or w["status"] == 0:
            continue
        parts = re.sub(r"^/api/v1/|^/apis/[^/]+/[^/]+/", "", w["path"]).split("/")
        if parts[0] == "namespaces":
            parts = parts[2:]
        body = json.loads(w["body"]) if w["body"] else {}
        verb = VERBS[w["method"]]
        name = parts[1] if len(parts) > 1 else body["metadata"].get("name") or next(claims)
        resource = "/".join([parts[0]] + parts[2:])
        if is_race(resource, w["status"]):
            continue
        yield {"verb": verb, "resource": resource, "name": names.plain(name), "type": PATCH_TYPES.get(w["type"], "json"),
               "body": names.plain_json(body), "code": w["status"]}


def without_chance(value, key=""):
    """Lists whose order is open are sorted; what is random among equals is left out; and what an encoding adds to a Node."""
    if isinstance(value, dict):
        out = {k: without_chance(v, k) for k, v in value.items() if k not in ("daemonEndpoints", "nodeInfo")}
        for k in RANDOM_LABELS & set(out):
            out[k] = "<any>"
        if "resourceVersion" in out:
            out["resourceVersion"] = "<rv>"
        return out
    if key == "taints" and value:  # whether the Node is Ready when it is registered depends on who is quicker
        return [without_chance(t) for t in value if t["key"] != NOT_READY] or None
    if isinstance(value, list):
        out = [without_chance(v) for v in value]
        return sorted(out, key=lambda r: r["key"]) if key == "requirements" else out
    return value


class Conditions:
    """The list of an object, as its writers have left it."""

    def __init__(self):
        self.now = {}

    def change(self, conditions):
        """What a list changes: {type: state}, None for one that goes; states that pass are left out, Ready follows from the rest."""
        new = {c["type"]: (c["status"], c["reason"], c["message"]) for c in conditions}
        out = {t: s for t, s in new.items() if self.now.get(t) != s and t != "Ready" and not (s[0] == "Unknown" and s[1] in PASSING)}
        out.update({t: None for t in self.now if t not in new})
        self.now = new
        return out


def is_in_order(conditions):
    """By time of transition, Ready last; by name after one was removed (lifecycle 1.1)."""
    times = [c["lastTransitionTime"] for c in conditions if c["type"] != "Ready"]
    types = [c["type"] for c in conditions]
    return (times == sorted(times) and types[-1] == "Ready") or types == sorted(types)


def in_disorder(lines):
    """Lists of conditions of a run that are not in the order in which Karpenter has them. Those of a buffer are in order of first sight."""
    for w in lines:
        listed = json.loads(w["body"]).get("status", {}).get("conditions") if w["what"] == "write" and w["method"] == "PATCH" else None
        if listed and "/capacitybuffers/" not in w["path"] and not is_in_order(listed):
            yield f"conditions in disorder: {w['path']} {[(c['type'], c['lastTransitionTime']) for c in listed]}"


def writer(w):
    """Who sends this, as far as its shape tells; None: somebody who only says that nothing is known yet, which depends on who comes first."""
    body = w["body"]
    status = body.get("status", {})
    if w["resource"] in ("nodes", "pods", "pods/eviction"):
        return "all"
    if "resources" in status:
        return "counter"
    if "lastPodEventTime" in status:
        return "podevents"
    if list(body) == ["metadata"] and list(body["metadata"]) == ["labels"]:
        return "hydration"
    if "change" in w and "resourceVersion" in body.get("metadata", {}):
        return next((WRITERS[t] for t in sorted(w["change"]) if t in WRITERS), None)
    return "lifecycle"


def settled(stream):
    """Registered and initialized in one pass or in two: where the second pass only adds Initialized, the two are one."""
    out = []
    for w in stream:
        last = out[-1] if out else None
        if last and "change" in w and "change" in last and set(w["change"]) == {"Initialized"} and last["change"].get("Registered", "?")[0] == "True":
            last["change"].update(w["change"])
            last["body"].get("status", {}).update(w["body"].get("status", {}))
            continue
        out.append(w)
    return out


def folded(stream):
    """A write that is repeated is one."""
    return [w for i, w in enumerate(stream) if i == 0 or w != stream[i - 1]]


def text(w):
    return json.dumps(w, sort_keys=True, ensure_ascii=False)


def streams(writes):
    """(kind, name, writer, endpoint) -> [text]"""
    conditions, out = {}, {}
    for w in writes:
        kind = w["resource"].split("/")[0]
        body = w["body"] = without_chance(w["body"])
        if w["verb"] == "delete":
            body.pop("kind", None)
            body.pop("apiVersion", None)
        if w["verb"] != "patch":
            w["type"] = ""
        elif "conditions" in body.get("status", {}):
            w["change"] = conditions.setdefault((w["resource"], w["name"]), Conditions()).change(body["status"].pop("conditions"))
            of_lifecycle = "resourceVersion" not in body.get("metadata", {})
            w["change"] = {t: s for t, s in w["change"].items() if (t not in WRITERS) == of_lifecycle}
        who = writer(w)
        if who:
            out.setdefault((kind, w["name"], who, w["resource"] if "change" in w else ""), []).append({k: v for k, v in w.items() if k != "name"})
    result = {}
    for key, stream in out.items():
        lines = [text(w) for w in folded(settled(stream))]
        result[key] = sorted(set(lines)) if key[0] == "pods" else lines
    return result
