"""The same commands against the real server and the demo: the same words, modulo what no two clusters share.

A case is a file tests/e2e/conformance/NAME.case:

    # comment
    $ COMMAND      a line for the shell; exit status and output must be equal
    ~ COMMAND      the same once both have come to rest: the real one's output is taken when it no longer changes, the demo's when
                   it is equal, for at most 30 s
    ! COMMAND      set-up or clean-up: run on both, compared only in that it succeeds

Every case has a namespace of its own, the default of its commands; files beside the cases are in the current directory. The
first, 00-nodes, makes the nodes that the others use; cases that are run without it find the same nodes.
"""
import difflib
import glob
import os
import re
import shutil
import time

HERE = os.path.dirname(os.path.abspath(__file__))
CASES = os.path.join(HERE, "conformance")
SETTLE_S, EVENTUALLY_S = 1.2, 30
NODES_READY = "kubectl wait node/conf-a node/conf-b --for condition=Ready --timeout 30s"

WORDS = [  # what differs from cluster to cluster, and what it becomes
    (r"\b[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}\b", "UID"),
    (r"\b\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?(Z|[+-]\d\d:\d\d)", "TIME"),
    (r"\b(Mon|Tue|Wed|Thu|Fri|Sat|Sun), \d\d \w{3} \d{4} \d\d:\d\d:\d\d [+-]\d{4}", "TIME"),
    (r"\b(Mon|Tue|Wed|Thu|Fri|Sat|Sun) \w{3} +\d+ \d\d:\d\d:\d\d \d{4}", "TIME"),
    (r'(resourceVersion\\*"?: ?\\*"?)\d+', r"\1RV"),
    (r"\b(https?://)?127\.0\.0\.1(:\d+)?", "SERVER"),
    (r"\b10\.\d+\.\d+\.\d+\b", "IP"),
    (r"(?<=-)[0-9a-f]{7,10}-[bcdfghjklmnpqrstvwxz2456789]{5}\b", "HASH-RANDOM"),
    (r"(?<=-)[bcdfghjklmnpqrstvwxz2456789]{8,10}-[bcdfghjklmnpqrstvwxz2456789]{5}\b", "HASH-RANDOM"),
    (r"((?:pod-template-hash|controller-revision-hash)\"?[=:] *\"?)[\w-]+", r"\1HASH"),
    (r"(?<=-)[bcdfghjklmnpqrstvwxz2456789]{5}\b", "RANDOM"),
    (r"(?<=-)[0-9a-f]{9,10}\b", "HASH"),
    (r"(?<=-)(?=[a-z]*\d)[bcdfghjklmnpqrstvwxz2456789]{8,10}\b", "HASH"),
    (r"\b(\d{1,3}(\.\d+)?(d|h|m|s|ms))+\b(?= ago|\)| *$|\s)", "AGE"),
    (r"<unknown>(?= *$)", "AGE"),
    # kubectl whose own --timeout has ended may begin one more watch, and says that it was too late for it
    (r"^E\d{4} .*reflector\.go.*Failed to watch.*context deadline exceeded.*\n", ""),
    # and one that has what it waited for may read its watch once more after it has hung up itself
    (r"^I\d{4} .*reflector\.go.*watch ended with error.*context canceled.*\n", ""),
]


def normal(text, namespace):
    text = text.replace(namespace, "NAMESPACE")
    for pattern, word in WORDS:
        text = re.sub(pattern, word, text, flags=re.MULTILINE)
    lines = [re.sub(r"[ \t]{2,}", "  ", line.rstrip()) for line in text.splitlines()]
    return "\n".join(re.sub(r"^-{3,}$", "---", line) for line in lines)


def steps(path):
    with open(path, encoding="utf-8") as f:
        for number, line in enumerate(f, 1):
            line = line.rstrip("\n")
            if not line.strip() or line.startswith("#"):
                continue
            if line[:2] not in ("$ ", "~ ", "! "):
                raise ValueError(f"{path}:{number}: a step begins with '$ ', '~ ' or '! '")
            yield number, line[0], line[2:]


class Run:
    """One case on one side."""

    def __init__(self, side, work, case, namespace):
        self.side, self.namespace = side, namespace
        self.cwd = os.path.join(work, f"{side.name}-{case}")
        shutil.copytree(os.path.join(CASES, "files"), self.cwd)
        self.kubeconfig = os.path.join(self.cwd, ".kubeconfig")
        shutil.copy(side.kubeconfig, self.kubeconfig)
        self.one = type(side).__mro__[1](side.name, self.kubeconfig)  # a plain Side with a configuration of its own
        self.must(f"kubectl create namespace {namespace}")
        self.must(f"kubectl config set-context --current --namespace {namespace}")
        self.must("for i in $(seq 50); do kubectl get serviceaccount default && break; sleep 0.1; done")

    def must(self, command):
        status, out = self.one.run(command, self.cwd)
        if status != 0:
            raise RuntimeError(f"{self.side.name}: {command}\n{out}")

    def ask(self, command):
        status, out = self.one.run(command, self.cwd)
        return status, normal(out, self.namespace)

    def settled(self, command):
        end, last = time.monotonic() + EVENTUALLY_S, None
        while True:
            answer = self.ask(command)
            if answer == last or time.monotonic() > end:
                return answer
            last = answer
            time.sleep(SETTLE_S)

    def until(self, command, want):
        end = time.monotonic() + EVENTUALLY_S
        while True:
            answer = self.ask(command)
            if answer == want or time.monotonic() > end:
                return answer
            time.sleep(0.2)

    def clean_up(self):
        self.one.run(f"kubectl delete namespace {self.namespace} --wait=false", self.cwd)


def difference(path, number, command, want, got):
    head = f"  {os.path.basename(path)}:{number}: {command}"
    if want[0] != got[0]:
        head += f"\n  exit status: real {want[0]}, demo {got[0]}"
    diff = difflib.unified_diff(want[1].splitlines(), got[1].splitlines(), "real", "demo", lineterm="", n=2)
    return head + "\n" + "\n".join("    " + line for line in list(diff)[:60])


def run_case(path, real, demo, work):
    case = os.path.basename(path)[: -len(".case")]
    namespace = "conf-" + case
    problems = []
    sides = [Run(side, work, case, namespace) for side in (real, demo)]
    try:
        wants = []
        for number, how, command in steps(path):
            wants.append(sides[0].settled(command) if how == "~" else sides[0].ask(command))
            if how == "!" and wants[-1][0] != 0:
                return [f"  {os.path.basename(path)}:{number}: {command}: fails on the real server:\n{wants[-1][1]}"]
        for (number, how, command), want in zip(steps(path), wants):
            got = sides[1].until(command, want) if how == "~" else sides[1].ask(command)
            if how == "!" and got[0] == 0:
                continue
            if got != want:
                problems.append(difference(path, number, command, want, got))
    finally:
        for side in sides:
            side.clean_up()
    return problems


def name_of(path):
    return "conformance/" + os.path.basename(path)[: -len(".case")]


def make_nodes(sides):
    """What 00-nodes leaves behind, for cases that are run without it."""
    for side in sides:
        status, out = side.run(f"kubectl apply --server-side -f node.yaml && {NODES_READY}", os.path.join(CASES, "files"))
        if status != 0:
            raise RuntimeError(f"{side.name}: no nodes: {out}")


def run(real, demo, work, only):
    """Yields (name, problem or None) for every case."""
    chosen = [p for p in sorted(glob.glob(os.path.join(CASES, "*.case"))) if not only or any(word in name_of(p) for word in only)]
    if chosen and name_of(chosen[0]) != "conformance/00-nodes":
        make_nodes([real, demo])
    for path in chosen:
        name = name_of(path)
        try:
            problems = run_case(path, real, demo, work)
        except (RuntimeError, ValueError) as e:
            problems = ["  " + str(e)]
        yield name, "\n".join(problems) or None
