"""Drift hashes of EC2NodeClasses: ours against the recorded ones. Part of `run`.

aws/hash/ has nodeclasses*.yaml, and for each of them want*.jsonl with a line for every object and CA bundle: v5 is the hash of
Karpenter v1.14.1, v6 that of its successor, which alone knows the settings in nodeclasses-next.yaml.
"""
import json
import subprocess

TIMEOUT_S = 120


def hashes_of(program, path, bundle):
    done = subprocess.run([program, "aws-hash", "-f", str(path), "--ca-bundle", bundle], stdin=subprocess.DEVNULL,
                          capture_output=True, timeout=TIMEOUT_S, text=True)
    if done.returncode:
        raise ValueError(f"exit status {done.returncode}: {done.stderr.strip()[-500:]}")
    return {answer["name"]: answer for answer in map(json.loads, done.stdout.splitlines())}


def rows(program, directory):
    """(name, what is wrong or None) for every record."""
    for path in sorted(directory.glob("nodeclasses*.yaml")):
        records = directory / path.name.replace("nodeclasses", "want").replace(".yaml", ".jsonl")
        got = {}
        for want in map(json.loads, records.read_text().splitlines()):
            bundle = want["caBundle"]
            if bundle not in got:
                got[bundle] = hashes_of(program, path, bundle)
            mine = got[bundle].get(want["name"], {})
            wrong = [f"{version}: {mine.get(version)} instead of {want[version]}"
                     for version in ("v5", "v6") if version in want and mine.get(version) != want[version]]
            yield f"hash-{want['name']}", "; ".join(wrong) or None
