#!/usr/bin/env python3
"""What the documentation tells people to type, typed: the blocks of README.md and of every page in docs/, on the demo, in order.

    tests/e2e/docs.py KARPENTER [NAME...]     ends with 'N passed, N failed'; `docs/FILE:LINE` is the name of a block
    tests/e2e/docs.py KARPENTER --update      writes outputs anew that are not as they should be; read the diff

Each page gets a demo of its own, `karpenter demo` with the arguments of its line `<!-- demo ARGUMENTS -->`, if there is one. How a block is treated is said by the line that opens it:

    ```sh                  run; every command has to succeed
    ```console             run; what follows a line `$ COMMAND` has to be printed (see same())
    ```yaml                kubectl apply --dry-run=server
    ```yaml in=NodePool    a part of such an object: the same, within an object that has the rest
    ```yaml values         values of the chart: helm template
    ```hcl                 terraform fmt
    ... not-run            not run: needs an account, a container engine or time. Counted

Blocks after a line `<!-- run -->` are run by tests/cli/run; blocks in other languages are nobody's.
Run with the python that has requirements.txt (tools/setup e2e).
"""
import concurrent.futures
import copy
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
import time

import yaml

import report
import servers

ROOT = servers.ROOT
PATIENCE_S = 90  # until what a command prints is what the page says
TIMEOUT_S = 180  # of one block
PAGES_AT_A_TIME = 3
UPDATE = "--update" in sys.argv


class Block:
    """`line` is that of the first line of `text` in the page."""

    def __init__(self, page, line, info, text, elsewhere):
        self.page, self.line, self.text, self.elsewhere = page, line, text, elsewhere
        self.lang, *self.marks = info.split() or [""]
        self.within = next((m[3:] for m in self.marks if m.startswith("in=")), None)

    def is_run(self):
        return self.lang in ("sh", "console", "yaml", "hcl") and not self.elsewhere and "not-run" not in self.marks


def pages():
    """Paths of all pages from the root of the repository."""
    yield "README.md"
    for at, _, files in sorted(os.walk(os.path.join(ROOT, "docs"))):
        for name in sorted(files):
            if name.endswith(".md"):
                yield os.path.relpath(os.path.join(at, name), ROOT)


def page_text(page):
    with open(os.path.join(ROOT, page), encoding="utf-8") as f:
        return f.read()


def blocks(page):
    lines = page_text(page).split("\n")
    at = 0
    while at < len(lines):
        fence = re.match(r"( *)```(.*)$", lines[at])
        at += 1
        if not fence:
            continue
        first, indent = at, len(fence.group(1))
        while lines[at].strip() != "```":
            at += 1
        text = "\n".join(line[indent:] for line in lines[first:at]) + "\n"
        yield Block(page, first + 1, fence.group(2), text, first > 1 and lines[first - 2].strip() == "<!-- run -->")
        at += 1


# --- what is printed -----------------------------------------------------------------------------------------------

BY_CHANCE = [  # what is different every time, and what stands for it
    (r"\b[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9:.]+Z", "TIME"),
    (r"\bip-10-[0-9-]+\.us-west-2\.compute\.internal", "NODE"),
    (r"\b(i|ami|subnet|sg|lt|vpc)-[0-9a-f]{8,}", r"\1-ID"),
    (r"\b(default|arm64|amd64|[a-z]+)-[a-z0-9]{5}\b(?![.-])", r"\1-NAME"),
    (r"-[a-z0-9]{6,10}-[a-z0-9]{5}\b", "-POD"),
    (r"\b[a-z][a-z0-9-]*\.[0-9]*(nano|micro|small|medium|large|xlarge|metal(-[0-9a-z]+)?)\b", "TYPE"),
    (r"\bus-west-2[a-d]\b", "ZONE"),
    (r"\b10\.[0-9]+\.[0-9]+\.[0-9]+\b", "ADDRESS"),
    (r"\b([0-9]+d)?([0-9]+h)?([0-9]+m)?[0-9]+s\b|\b[0-9]+[mhd]\b", "AGE"),
    (r"[ \t]+", " "),
]


def plain(text):
    for pattern, stands in BY_CHANCE:
        text = re.sub(pattern, stands, text)
    return [line.strip() for line in text.strip().split("\n")]


def same(want, got):
    """Equal but for what is BY_CHANCE. A line `…` stands for any lines, `…` in a line for anything in it."""
    expr = ""
    for line in plain(want):
        expr += r"(?:.*\n)*?" if line in ("…", "...") else re.escape(line).replace("…", ".*") + r"\n"
    return re.fullmatch(expr, "\n".join(plain(got)) + "\n") is not None


# --- the demo of a page --------------------------------------------------------------------------------------------


class Demo:
    """A demo, and a shell beside it whose variables and directory last from block to block."""

    def __init__(self, program, work, args):
        self.dir = tempfile.mkdtemp(dir=work)
        self.bin = os.path.join(self.dir, "bin")
        self.log = os.path.join(self.dir, "demo.log")
        self.saved = os.path.join(self.dir, "saved.sh")
        self.program, self.args = program, args
        os.mkdir(self.bin)
        os.symlink(program, os.path.join(self.bin, "karpenter"))
        os.symlink("karpenter", os.path.join(self.bin, "kubectl-karpenter"))

    def env(self):
        clean = {k: v for k, v in os.environ.items() if not k.startswith(("AWS_", "KUBE", "HELM"))}
        home = {f"HELM_{x}_HOME": self.dir for x in ("CACHE", "CONFIG", "DATA")}
        return {**clean, **home, "HOME": self.dir, "XDG_RUNTIME_DIR": self.dir,
                "PATH": os.pathsep.join([self.bin, servers.BIN, os.path.join(servers.PYTHON, "bin"), os.environ["PATH"]])}

    def __enter__(self):
        # What a page shows may refer to examples/ and deploy/, and may write files.
        self.cwd = os.path.join(self.dir, "karpenter")
        os.mkdir(self.cwd)
        for name in ("examples", "deploy", "tests"):
            os.symlink(os.path.join(ROOT, name), os.path.join(self.cwd, name))
        out = open(self.log, "w", encoding="utf-8")
        self.process = subprocess.Popen([self.program, "demo", *self.args], cwd=self.cwd, env=self.env(), stdin=subprocess.DEVNULL, stdout=out, stderr=subprocess.STDOUT)
        out.close()
        end = time.monotonic() + 60
        while not re.search(r"(?m)^Ready after", open(self.log, encoding="utf-8").read()):
            if self.process.poll() is not None or time.monotonic() > end:
                raise RuntimeError("the demo did not come up:\n" + open(self.log, encoding="utf-8").read())
            time.sleep(0.05)
        kubeconfig = os.path.join(self.dir, "karpenter-demo.kubeconfig")
        env = os.path.join(self.dir, "karpenter-demo.env")
        with open(self.saved, "w", encoding="utf-8") as f:
            f.write(f". {env}\n" if os.path.exists(env) else f"export KUBECONFIG={kubeconfig}\n")
        return self

    def __exit__(self, *_):
        self.process.terminate()
        try:
            self.process.wait(30)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()
        shutil.rmtree(self.dir, ignore_errors=True)

    def run(self, script, stdin=None):
        """(status, output, line of the command that failed). Exported variables and the directory are those that the last script left."""
        path = os.path.join(self.dir, "block.sh")
        with open(path, "w", encoding="utf-8") as f:
            f.write(script)
        failed = os.path.join(self.dir, "failed")
        around = (f"trap 'echo $LINENO >{failed}' ERR; set -aeE; . {self.saved}; [ ! -e {self.saved}.dir ] || cd \"$(cat {self.saved}.dir)\"; . {path}\n"
                  f"export -p >{self.saved}.new; declare -f >>{self.saved}.new; mv {self.saved}.new {self.saved}; pwd >{self.saved}.dir")
        try:
            p = subprocess.run(["bash", "-c", around], cwd=self.cwd, env=self.env(), input=stdin or "", stdout=subprocess.PIPE, stderr=subprocess.STDOUT, timeout=TIMEOUT_S, text=True, check=False)
            code, out = p.returncode, p.stdout
        except subprocess.TimeoutExpired as e:
            code, out = 124, (e.stdout or b"").decode(errors="replace") + f"\n(no end after {TIMEOUT_S} s)"
        at = int(open(failed, encoding="utf-8").read()) if code and os.path.exists(failed) else 1
        if os.path.exists(failed):
            os.remove(failed)
        return code, out, at


# --- blocks --------------------------------------------------------------------------------------------------------

REST = {  # of objects that a page shows a part of
    "NodePool": """
apiVersion: karpenter.sh/v1
kind: NodePool
metadata: {name: part}
spec:
  template:
    spec:
      nodeClassRef: {group: karpenter.k8s.aws, kind: EC2NodeClass, name: default}
      requirements: []
""",
    "EC2NodeClass": """
apiVersion: karpenter.k8s.aws/v1
kind: EC2NodeClass
metadata: {name: part}
spec:
  role: KarpenterNodeRole-eks-cluster-dev
  amiSelectorTerms: [{alias: al2023@latest}]
  subnetSelectorTerms: [{tags: {karpenter.sh/discovery: eks-cluster-dev}}]
  securityGroupSelectorTerms: [{tags: {karpenter.sh/discovery: eks-cluster-dev}}]
""",
    "Pod": """
apiVersion: v1
kind: Pod
metadata: {name: part}
spec:
  containers: [{name: a, image: b, resources: {requests: {cpu: "1"}}}]
""",
}


def merged(rest, part):
    """Maps are merged; whatever else the part says holds. `null` takes a field out."""
    out = copy.deepcopy(rest)
    for key, value in part.items():
        if value is None:
            out.pop(key, None)
        else:
            out[key] = merged(out[key], value) if isinstance(value, dict) and isinstance(out.get(key), dict) else value
    return out


def yaml_problem(demo, block):
    if "values" in block.marks:
        code, out, _ = demo.run("helm template karpenter deploy/charts/karpenter --set settings.clusterName=x -f -", block.text)
        return None if code == 0 else f"{block.page}:{block.line}: the chart refuses it\n{out}"
    text = block.text
    if block.within:
        text = "---\n".join(json.dumps(merged(yaml.safe_load(REST[block.within]), part)) + "\n" for part in yaml.safe_load_all(block.text))
    code, out, _ = demo.run("kubectl apply --dry-run=server -f -", text)
    return None if code == 0 else f"{block.page}:{block.line}: the server refuses it\n{out}"


def console_commands(block):
    """(line, command, what it prints)"""
    command, start, out = None, 0, []
    lines = block.text.split("\n")[:-1]
    at = 0
    while at < len(lines):
        if lines[at].startswith("$ "):
            if command:
                yield start, command, "\n".join(out)
            start, command, out = block.line + at, lines[at][2:], []
            while command.endswith("\\"):
                at += 1
                command = command[:-1] + lines[at].lstrip("> ")
        else:
            out.append(lines[at])
        at += 1
    yield start, command, "\n".join(out)


def rewrite(page, line, want, got):
    """What a command prints, in the place of what the page says. Of a page that shows the first lines and `…`, the first lines."""
    old, new = want.split("\n"), got.rstrip("\n").split("\n")
    if old[-1] == "…":
        new = new[:len(old) - 1] + ["…"]
    text = page_text(page)
    at = text.index("\n".join(old), sum(map(len, text.splitlines(keepends=True)[:line])))
    with open(os.path.join(ROOT, page), "w", encoding="utf-8") as f:
        f.write(text[:at] + "\n".join(new) + text[at + len("\n".join(old)):])
    print(f"written: {page}:{line}")


def console_problem(demo, block):
    """Commands that only look are typed again until they show what the page says, as a person would."""
    for line, command, want in console_commands(block):
        looks = re.match(r"(kubectl (-n \S+ )?(get|describe|logs|events) |aws \S+ (describe|get|list)-|curl -s)", command)
        end = time.monotonic() + (PATIENCE_S if looks else 0)
        while True:
            code, out, _ = demo.run(command)
            if same(want, out):
                break
            if time.monotonic() > end:
                if UPDATE and code == 0:
                    rewrite(block.page, line, want, out)
                    break
                return f"{block.page}:{line}: $ {command}\nwant:\n{want}\ngot, with status {code}:\n{out}"
            time.sleep(0.5)
    return None


def problem(demo, block):
    if block.lang == "yaml":
        return yaml_problem(demo, block)
    if block.lang == "console":
        return console_problem(demo, block)
    if block.lang == "hcl":
        code, out, _ = demo.run("terraform fmt -check -diff -", block.text)
        return None if code == 0 else f"{block.page}:{block.line}: terraform fmt would change it\n{out}"
    code, out, at = demo.run(block.text)
    return None if code == 0 else f"{block.page}:{block.line + at - 1}: status {code}\n{out}"


def page_results(program, work, page, only):
    """(name, problem or None) of a page's blocks; those that come before the ones that were asked for are run as well."""
    everything = [b for b in blocks(page) if b.is_run()]
    named = [i for i, b in enumerate(everything) if not only or any(word in f"docs/{b.page}:{b.line}" for word in only)]
    if not named:
        return []
    args, results = re.search(r"(?m)^<!-- demo (.*) -->$", page_text(page)), []
    with Demo(program, work, args.group(1).split() if args else []) as demo:
        for block in everything[:named[-1] + 1]:
            try:
                wrong = problem(demo, block)
            except (yaml.YAMLError, KeyError) as e:
                wrong = f"{block.page}:{block.line}: {type(e).__name__}: {e}"
            results.append((f"docs/{block.page}:{block.line}", wrong))
    return results


def run(program, work, only=()):
    """(name, problem or None) of every block. Pages mostly wait, so that several are read at a time."""
    with concurrent.futures.ThreadPoolExecutor(PAGES_AT_A_TIME) as pool:
        for found in pool.map(lambda page: page_results(program, work, page, only), list(pages())):
            yield from found
    not_run = sum("not-run" in b.marks for page in pages() for b in blocks(page))
    yield f"docs/not-run: {not_run} blocks are marked not-run", None


if __name__ == "__main__":
    sys.exit(report.main(__doc__, run))
