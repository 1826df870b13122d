"""Instance types as an EC2NodeClass sees them: ours against the recorded ones. Part of `run`.

A case is aws/instance-types/NNN-title/: case.json (settings, and what is different in the account of aws/world.json), nodeclass.yaml
and want.json. Types count as a set, or only some of them where the record says that it lists a subset; requirements and offerings
count as sets, resources by value, of which none is the same as zero; the price where an offering is available. Labels that came
after the recorded version are not looked at.
"""
import json
import subprocess
import tempfile

LATER = {"karpenter.k8s.aws/nitro-sandbox"}
TIMEOUT_S = 120


def merged(target, patch):
    """RFC 7386."""
    if not isinstance(patch, dict):
        return patch
    result = dict(target) if isinstance(target, dict) else {}
    for key, value in patch.items():
        if value is None:
            result.pop(key, None)
        else:
            result[key] = merged(result.get(key), value)
    return result


def resources(amounts, amount):
    worth = {name: amount(text) for name, text in (amounts or {}).items()}
    return {name: value for name, value in worth.items() if value}


def offering_facts(offering):
    place = frozenset((k, v) for k, v in offering.items() if k not in ("price", "available") and v not in (None, ""))
    price = f'{offering["price"]:.9g}' if offering["available"] else None
    return place, (offering["available"], price)


def type_facts(entry, amount):
    overhead = entry.get("overhead") or {}
    return {
        "requirements": {r["key"]: (r["operator"], frozenset(r.get("values") or ())) for r in entry["requirements"]},
        "offerings": dict(offering_facts(o) for o in entry["offerings"]),
        **{part: resources(entry[part], amount) for part in ("capacity", "allocatable")},
        **{part: resources(overhead.get(part), amount) for part in ("kubeReserved", "systemReserved", "evictionThreshold")},
    }


def type_differences(name, got, want):
    for later in LATER - want["requirements"].keys():
        got["requirements"].pop(later, None)
    for part, due in want.items():
        for key in got[part].keys() | due.keys():
            if got[part].get(key) != due.get(key):
                yield f"{name}, {part}, {key}: {got[part].get(key)} instead of {due.get(key)}"


def answer_of(program, command, path, case, world):
    with tempfile.NamedTemporaryFile("w", suffix=".json") as account:
        json.dump(merged(json.loads(world.read_text()), case.get("world") or {}), account)
        account.flush()
        command = [program, command, "--world", account.name, "-f", str(path), "-o", "json"]
        for key, value in case.get("settings", {}).items():
            command += ["--settings", f"{key}={value}"]
        done = subprocess.run(command, stdin=subprocess.DEVNULL, capture_output=True, timeout=TIMEOUT_S, text=True)
    if done.returncode != 0:
        raise ValueError(f"exit status {done.returncode}: {done.stderr.strip()[-500:]}")
    return json.loads(done.stdout)


def differences(got, want, amount):
    ours = {t["name"]: type_facts(t, amount) for t in got["instanceTypes"]}
    theirs = {t["name"]: type_facts(t, amount) for t in want["instanceTypes"]}
    for name in theirs.keys() - ours.keys():
        yield f"{name} is missing"
    for name in ours.keys() - theirs.keys() if not want.get("subset") else ():
        yield f"{name} is too much"
    for name in ours.keys() & theirs.keys():
        yield from type_differences(name, ours[name], theirs[name])
