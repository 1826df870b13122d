"""Log lines: what was recorded, what was written, as streams that can be held against each other.

A stream is what one controller says about one object, each line once, in the order in which they came first. How often something is said again depends on how often it is looked at.
"""
import json
import re

# Of every line, or measured.
RANDOM = {"t", "time", "reconcileID", "commit", "caller", "duration", "replica", "version"}
# Of the library and of Go, when a process starts.
OF_STARTUP = {"Unable to read vcs.revision from binary", "Starting EventSource", "Starting Controller", "Starting workers", "Serving metrics server", "Starting metrics server", "starting server"}
UUID = re.compile(r"[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}")
# Any of several equals.
CHOSEN = {"zone"}


def settled(value, key=""):
    if key in CHOSEN:
        return "<any>"
    if isinstance(value, str) and key in ("Pods", "disrupted-nodes", "replacement-nodes"):
        return ", ".join(sorted(value.split(", ")))
    if isinstance(value, str) and key == "command":
        return UUID.sub("<uuid>", value)
    if isinstance(value, dict):
        return {k: settled(v, k) for k, v in value.items()}
    return value


def about(line):
    """What is done to several at once has no order."""
    for kind in ("NodeClaim", "Pod"):
        if kind in line:
            return line[kind]["name"]
    return line.get("name", "")


def streams(lines):
    """(controller, object) -> [text]"""
    out = {}
    for line in lines:
        if "level" not in line or line["message"] in OF_STARTUP:
            continue
        if line["message"] == "initialized nodeclaim":  # its Node is named when it was registered in a pass before
            line = {k: v for k, v in line.items() if k != "Node"}
        kept = {k: settled(v, k) for k, v in line.items() if k not in RANDOM}
        key = (line.get("controller", ""), about(line))
        text = json.dumps(kept, sort_keys=True, ensure_ascii=False)
        stream = out.setdefault(key, [])
        if text not in stream:
            stream.append(text)
    return out


def recorded(lines, plain):
    return streams(plain(line) for line in lines)


def written(lines, names):
    return streams(names.plain_json(line["line"]) for line in lines if line["what"] == "log")
