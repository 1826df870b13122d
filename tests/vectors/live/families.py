"""Families of /metrics: which had series in any of the scenarios, and the names of their labels, against ../metrics.txt."""
import os
import re

HERE = os.path.dirname(os.path.abspath(__file__))
SERIES = re.compile(r"(\w+)(?:\{(.*)\})? ")
LABEL = re.compile(r'(\w+)="')


def seen(text):
    """{family: {names of labels}} of a page."""
    out, family, kind = {}, "", ""
    for line in text.split("\n"):
        if line.startswith("# TYPE "):
            _, _, family, kind = line.split(" ")
        m = SERIES.match(line)
        if m and not line.startswith("#"):
            labels = set(LABEL.findall(re.sub(r'\\\\.', "", m.group(2) or "")))
            out.setdefault(family, set()).add(",".join(sorted(labels - {"le", "quantile"})) or "-")
    return out


def recorded():
    with open(os.path.join(os.path.dirname(HERE), "metrics.txt"), encoding="utf-8") as f:
        for line in f:
            if not line.startswith("#"):
                yield line.split()[0], line.split()[2]


def complaints(pages, unseen):
    """`unseen`: families that are meant to have none."""
    union = {}
    for page in pages:
        for family, labels in seen(page).items():
            union.setdefault(family, set()).update(labels)
    for family, labels in recorded():
        if family not in union and family not in unseen:
            yield f"no series of {family}"
        elif family in union and union[family] != {labels}:
            yield f"labels of {family}: {sorted(union[family])}, not {labels}"
        elif family in union and family in unseen:
            yield f"there are series of {family}"
