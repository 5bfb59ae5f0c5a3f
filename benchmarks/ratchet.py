"""Figures of the size that may only fall: CI fails where one is larger than agreed.

    python -m benchmarks.ratchet            # compare with benchmarks/ratchet.json
    python -m benchmarks.ratchet --write    # after a change that made figures smaller

A change that must make one larger raises the number in the file in the same commit, and says why in
its changelog fragment. How things are counted is said in `benchmarks/_size.py`. Imports from the
core into wings count inside functions, too; `skstream.utils._optional` alone, through which results
reach their pictures and reports, imports by name.
"""

import json
import sys
from pathlib import Path

from benchmarks._size import ROOT, code_lines, imports, modules, n_parameters, public_names, walks
from skstream import DelayedEvaluator, HoldoutEvaluator, KFoldEvaluator, PrequentialEvaluator

AGREED = Path(__file__).with_suffix(".json")
#: What evaluates any model under any protocol and measure; all else hangs on it.
CORE = ("skstream.core.", "skstream.utils.", "skstream.base.")


def in_core(name: str) -> bool:
    """Whether a module belongs to the core."""
    return f"{name}.".startswith(CORE)


def figures() -> dict[str, int]:
    """All figures by name."""
    known = modules()
    arrows = imports(known)
    core = [name for name in known if in_core(name)]
    walked = dict(walks())
    evaluators = PrequentialEvaluator, KFoldEvaluator, HoldoutEvaluator, DelayedEvaluator
    return {
        "code lines of the core": sum(code_lines(known[name]) for name in core),
        "code lines of skstream": sum(map(code_lines, known.values())),
        "code lines of tests": sum(map(code_lines, (ROOT / "tests").rglob("*.py"))),
        "files of skstream": len(known),
        "imports from the core into wings": sum(not in_core(m) for n in core for m in arrows[n]),
        **{f"walk, {name}: functions": counts[0] for name, counts in walked.items()},
        **{f"walk, {name}: files": counts[1] for name, counts in walked.items()},
        **{f"parameters of {kind.__name__}": n_parameters(kind) for kind in evaluators},
        "distinct public names": len(public_names()),
    }


def main() -> int:
    """Compare, or write."""
    found = figures()
    if "--write" in sys.argv:
        AGREED.write_text(json.dumps(found, indent=2) + "\n", "utf-8")
    agreed = json.loads(AGREED.read_text("utf-8"))
    for name, n in found.items():
        print(f"{name}: {n:,} (at most {agreed.get(name, 0):,})")
    larger = [name for name, n in found.items() if n > agreed.get(name, 0)]
    if larger:
        print(f"Larger than agreed: {', '.join(larger)}. Make it smaller, or say in a changelog")
        print(f"fragment why it has to be, and raise the figure in {AGREED.name}.")
    return int(bool(larger))


if __name__ == "__main__":
    sys.exit(main())
