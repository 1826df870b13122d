"""What a process takes, from the kernel's own account."""
import os
import re


def cpu_s(pid):
    """User and system time of its threads, from the scheduler's own account: clock ticks are too coarse for a process at rest."""
    spent = 0
    for task in os.listdir(f"/proc/{pid}/task"):
        with open(f"/proc/{pid}/task/{task}/schedstat", encoding="ascii") as f:
            spent += int(f.read().split()[0])
    return spent / 1e9


def memory_mb(pid, field):
    """VmRSS, VmHWM, RssAnon, RssFile"""
    with open(f"/proc/{pid}/status", encoding="ascii") as f:
        return int(re.search(rf"^{field}:\s+(\d+) kB", f.read(), re.MULTILINE).group(1)) / 1024


def forget_peak(pid):
    """From now on VmHWM is the largest since now."""
    with open(f"/proc/{pid}/clear_refs", "w", encoding="ascii") as f:
        f.write("5")


def mappings_mb(pid):
    """Resident memory by mapping, largest first: files by name, the heap, everything else that has no file as "anonymous"."""
    found, name = {}, ""
    with open(f"/proc/{pid}/smaps", encoding="utf-8", errors="replace") as f:
        for line in f:
            head = re.match(r"[0-9a-f]+-[0-9a-f]+ \S+ \S+ \S+ \S+\s*(.*)", line)
            if head:
                name = os.path.basename(head.group(1)) or "anonymous"
            elif line.startswith("Rss:"):
                found[name] = found.get(name, 0) + int(line.split()[1]) / 1024
    return dict(sorted(found.items(), key=lambda item: -item[1]))
