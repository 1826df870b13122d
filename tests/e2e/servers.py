"""The two sides: a real control plane (tools/e2e) and the demo's embedded one."""
import os
import re
import subprocess
import time

HERE = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.dirname(os.path.dirname(HERE))
CACHE = os.environ.get("E2E_HOME") or os.path.join(
    os.environ.get("XDG_CACHE_HOME") or os.path.expanduser("~/.cache"), "karpenter-e2e")
BIN = os.path.join(CACHE, "bin")
PYTHON = os.path.join(CACHE, "python")  # has what requirements.txt names
CRDS = os.path.join(ROOT, "deploy/crds")


class Side:
    """A server that commands can be run against."""

    def __init__(self, name, kubeconfig):
        self.name, self.kubeconfig = name, kubeconfig

    def run(self, command, cwd, timeout=120):
        """A line for the shell, with kubectl and helm in the path. Returns (exit status, what it printed)."""
        env = dict(os.environ, KUBECONFIG=self.kubeconfig, PATH=BIN + ":" + os.environ["PATH"], KUBE_EDITOR="true",
                   HELM_CACHE_HOME=cwd, HELM_CONFIG_HOME=cwd, HELM_DATA_HOME=cwd)
        try:
            p = subprocess.run(["bash", "-c", command], cwd=cwd, env=env, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                               stderr=subprocess.STDOUT, timeout=timeout, text=True, errors="replace")
            return p.returncode, p.stdout
        except subprocess.TimeoutExpired as e:
            out = e.stdout.decode(errors="replace") if isinstance(e.stdout, bytes) else e.stdout or ""
            return 124, out + f"\n(no end after {timeout} s)\n"


class Real(Side):
    def __init__(self, work):
        self.run_dir = os.path.join(work, "real")
        super().__init__("real", os.path.join(self.run_dir, "admin.kubeconfig"))

    def _tool(self, *args):
        subprocess.run([os.path.join(ROOT, "tools/e2e", args[0]), *args[1:]], check=True,
                       env=dict(os.environ, E2E_RUN=self.run_dir))

    def __enter__(self):
        self._tool("up", "--crds", CRDS)
        return self

    def __exit__(self, *_):
        self._tool("down")


class Demo(Side):
    patience_s = 30  # until it is ready

    def __init__(self, program, work, *args):
        self.program, self.args = program, args
        self.log = os.path.join(work, "demo.log")
        super().__init__("demo", os.path.join(work, "demo.kubeconfig"))

    def __enter__(self):
        self.out = open(self.log, "w", encoding="utf-8")
        begun = time.monotonic()
        self.process = subprocess.Popen([self.program, "demo", "--bare", "--kubeconfig", self.kubeconfig, *self.args],
                                        stdin=subprocess.DEVNULL, stdout=self.out, stderr=subprocess.STDOUT)
        while not self.is_ready():
            if self.process.poll() is not None or time.monotonic() > begun + self.patience_s:
                raise RuntimeError("the demo did not come up:\n" + self.text())
            time.sleep(0.02)
        self.ready_s = time.monotonic() - begun
        return self

    def text(self):
        with open(self.log, encoding="utf-8") as f:
            return f.read()

    def is_ready(self):
        return re.search(r"^ready\b", self.text(), re.MULTILINE | re.IGNORECASE) and os.path.exists(self.kubeconfig)

    def __exit__(self, *_):
        self.process.terminate()
        try:
            self.status = self.process.wait(10)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.status = self.process.wait()
        self.out.close()
