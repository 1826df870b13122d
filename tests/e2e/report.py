"""What a part says when it is run alone, and what all of them say together: a line a case, and 'N passed, N failed'."""
import os
import sys
import tempfile


def main(doc, results):
    """The exit status. `results(program, work, only)` yields (name, problem or None); the program and the names come from the command line."""
    args = [a for a in sys.argv[1:] if not a.startswith("--")]
    if not args:
        sys.exit(doc.strip())
    passed = failed = 0
    with tempfile.TemporaryDirectory(prefix="karpenter-e2e-") as work:
        for name, problem in results(os.path.abspath(args[0]), work, args[1:]):
            passed, failed = passed + (not problem), failed + bool(problem)
            print(f"not ok {name}\n{problem}" if problem else f"ok {name}", flush=True)
    print(f"{passed} passed, {failed} failed")
    return 0 if failed == 0 and passed > 0 else 1
