"""aws_sim.py with the python that has AWS's clients (tools/setup e2e); its results are handed on."""
import os
import subprocess

import servers

SERVER = os.environ.get("E2E_AWS_SERVER") or os.path.join(servers.ROOT, "build/san/tests/sim/aws_server")
PYTHON = os.path.join(servers.CACHE, "python/bin/python")


def run(only):
    """(name, problem or None) of every check."""
    words = [word for word in only if "aws-sim/" in word]
    p = subprocess.run([PYTHON, os.path.join(servers.HERE, "aws_sim.py"), SERVER, *words], stdout=subprocess.PIPE, text=True)
    lines = p.stdout.splitlines()
    for i, line in enumerate(lines):
        if line.startswith("ok "):
            yield line[3:], None
        elif line.startswith("not ok "):
            yield line[7:], lines[i + 1] if i + 1 < len(lines) else "    no word why"
    if not lines or not lines[-1].endswith(" failed"):
        yield "aws-sim/end", "    it did not come to its end"
