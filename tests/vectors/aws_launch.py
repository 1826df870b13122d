"""What the provider asks of AWS for EC2NodeClasses and NodeClaims, and what comes of it: ours against the records. Part of `run`.

A case is aws/launch/NNN-title/ or aws/launch-next/NNN-title/: case.json (settings, and what is different in the account of
aws/world.json), objects.yaml and want.json. A launch template counts by its content, whatever it is called, and so do instance
profiles that were made; the overrides of a fleet count as a bag for each template. Absent, null and empty are the same.
Not looked at: messages of conditions, times, the text of an error, labels that came after the recorded version.
"""
import collections
import json
import re

import aws_types

MAPS = re.compile(r'(--(?:system-reserved|kube-reserved|eviction-hard|eviction-soft|eviction-soft-grace-period)=")([^"]*)"')
HASH = "karpenter.k8s.aws/ec2nodeclass-hash"
VERSION = HASH + "-version"


def plain(value, key=None):
    """Without what is empty; tags as they are, security groups in order, numbers to nine digits."""
    if isinstance(value, dict):
        if key in ("Tags", "TagSpecifications"):
            return value
        members = {k: plain(v, k) for k, v in value.items() if k != "ClientToken"}
        return {k: v for k, v in members.items() if v not in (None, "", [], {})}
    if isinstance(value, list):
        return sorted(value) if key == "Groups" else [plain(v) for v in value]
    if key == "UserData":
        return MAPS.sub(lambda m: m[1] + ",".join(sorted(m[2].split(","))) + '"', value or "")
    if isinstance(value, (int, float)) and not isinstance(value, bool):
        return float(f"{value:.9g}")
    return value


def text_of(value):
    return json.dumps(value, sort_keys=True)


class Facts:
    """An answer, or a record, as named parts that can be compared."""

    def __init__(self, answer, amount):
        self.amount, self.parts, self.templates, self.hashes = amount, {}, {}, {}
        made = [c["input"]["InstanceProfileName"] for k in answer.get("nodeClasses") or () for c in k.get("calls") or ()
                if c["api"] == "iam:CreateInstanceProfile"]
        for name in made:
            answer = json.loads(json.dumps(answer).replace(json.dumps(name), '"PROFILE"'))
        for entry in answer.get("nodeClasses") or ():
            self.node_class(f'class {entry["name"]}', entry)
        for number, entry in enumerate(answer.get("launches") or (), 1):
            self.launch(f"launch {number}", entry)
        for kind in ("offerings", "capacityTypes", "subnets"):
            self.parts["unavailable", kind] = sorted((answer.get("unavailable") or {}).get(kind) or ())

    def template(self, request):
        content = text_of({"data": plain(request["LaunchTemplateData"]), "tags": request.get("TagSpecifications")})
        self.templates[request["LaunchTemplateName"]] = content
        return content

    def fleet(self, request):
        request = plain(request)
        configs = collections.defaultdict(list)
        for config in request.pop("LaunchTemplateConfigs", ()):
            spec = config["LaunchTemplateSpecification"]
            content = self.templates.get(spec["LaunchTemplateName"], "unknown")
            configs[content, spec["Version"]] += map(text_of, config.get("Overrides", ()))
        return {"refused": request.pop("error", None) is not None, "request": request,
                "configs": sorted((*k, sorted(v)) for k, v in configs.items())}

    def call(self, entry):
        given = plain(entry.get("input") or {})
        if entry["api"] == "ec2:CreateFleet":
            given = self.fleet(entry["input"])
        elif entry["api"] == "ec2:RunInstances":
            name = given["LaunchTemplate"]["LaunchTemplateName"]
            given["LaunchTemplate"]["LaunchTemplateName"] = self.templates.get(name, "unknown")
        return {"api": entry["api"], "input": given, "refused": bool(entry.get("error"))}

    def node_class(self, title, entry):
        self.parts[title, "templates"] = sorted(self.template(t) for t in entry.get("launchTemplates") or ())
        self.parts[title, "calls"] = [self.call(c) for c in entry.get("calls") or ()]
        status = plain(entry.get("status") or {})
        self.parts[title, "conditions"] = {c["type"]: (c["status"], c.get("reason")) for c in status.get("conditions", ())}
        amis = [(a["id"], a.get("name"), a.get("deprecated", False),
                 sorted(text_of(r) for r in a.get("requirements", ()))) for a in status.get("amis", ())]
        order = {a[0]: i for i, a in reversed(list(enumerate(amis)))}
        self.parts[title, "amis"] = sorted(amis, key=lambda a: (order[a[0]], a))
        for member in ("subnets", "securityGroups", "capacityReservations", "instanceProfile"):
            self.parts[title, member] = status.get(member)
        self.hashes.update(entry.get("hash") or {})

    def launch(self, title, entry):
        self.parts[title, "templates"] = sorted(self.template(t) for t in entry.get("launchTemplates") or ())
        self.parts[title, "fleets"] = [self.fleet(f) for f in entry.get("createFleet") or ()]
        self.parts[title, "calls"] = [self.call(c) for c in entry.get("calls") or ()]
        error = entry.get("error")
        self.parts[title, "error"] = error and [error.get(k) or "" for k in ("class", "reason", "message")]
        result = entry.get("result") or {}
        notes = dict(result.get("annotations") or {})
        self.parts[title, "hash"] = notes.pop(VERSION, None), notes.pop(HASH, None)
        self.parts[title, "annotations"] = notes
        self.parts[title, "labels"] = dict(result.get("labels") or {})
        for part in ("capacity", "allocatable"):
            self.parts[title, part] = aws_types.resources(result.get(part), self.amount)
        self.parts[title, "machine"] = (result.get("providerID") or "").rpartition("/")[0], result.get("imageID")


def parting(got, want, path=""):
    """Where two values part."""
    if isinstance(got, dict) and isinstance(want, dict):
        for key in sorted(got.keys() | want.keys()):
            if got.get(key) != want.get(key):
                return parting(got.get(key), want.get(key), f"{path}.{key}")
    if isinstance(got, list) and isinstance(want, list) and len(got) == len(want):
        for i, (ours, theirs) in enumerate(zip(got, want)):
            if ours != theirs:
                return parting(ours, theirs, f"{path}[{i}]")
    if isinstance(got, str) and isinstance(want, str) and got[:1] == want[:1] == "{":
        return parting(json.loads(got), json.loads(want), path)
    return f"{path}: {str(got)[:200]} instead of {str(want)[:200]}"


def differences(got, want, amount):
    ours, theirs = Facts(got, amount), Facts(want, amount)
    for key in ours.parts.keys() ^ theirs.parts.keys():
        yield f"{' '.join(key)} is on one side only"
    for key in ours.parts.keys() & theirs.parts.keys():
        have, due = ours.parts[key], theirs.parts[key]
        if key[1] == "labels":
            for later in aws_types.LATER - due.keys():
                have.pop(later, None)
        if key[1] == "hash" and due[0]:
            due = have[0], theirs.hashes.get(have[0])  # of whichever version the answer has
        if have != due:
            yield parting(have, due, " ".join(key))
