"""The core runs without its wings: each is blocked in turn, and all together."""

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

import skstream
from tests._examples import newest_alone
from tests._programs import PROJECT

PACKAGE = Path(skstream.__file__).parent
CORE = {"core", "utils", "base"}
WINGS = sorted(
    {path.stem for path in PACKAGE.iterdir() if path.suffix == ".py" or path.is_dir()}
    - {"__init__", "__main__", "__pycache__"}
    - CORE
)
# What the four protocols find by the loop.
EVALUATION = """
import numpy as np
from sklearn.linear_model import SGDClassifier
from skstream.core.evaluators.delayed import DelayedEvaluator
from skstream.core.evaluators.holdout import HoldoutEvaluator
from skstream.core.evaluators.settings import Polling, RunOptions
from skstream.core.evaluators.prequential import KFoldEvaluator
from skstream.core.evaluators.prequential import PrequentialEvaluator

rng = np.random.default_rng(0)
X = rng.normal(size=(150, 3))
y = np.where(X[:, 0] > 0, "a", "b")
common = {"run": RunOptions(kernels=False), "random_state": 0}
every = ["cumulative", "window:50", "fading:0.9", "adwin"]
found = {}
for evaluator in (
    PrequentialEvaluator(["accuracy", "kappa_m", "kappa_temporal"], forgetting=every, **common),
    KFoldEvaluator(["accuracy", "kappa"], n_folds=3, **common),
    HoldoutEvaluator("accuracy", holdout=(X[:50].copy(), y[:50].copy()), every=50, **common),
    DelayedEvaluator(["accuracy", "kappa_plus"], delay=10, polling=Polling(n_bins=3), **common),
):
    models = {"sgd": SGDClassifier(), "other": SGDClassifier(alpha=0.1)}
    result = evaluator.evaluate(models, X, y)
    again = result.rescore(metrics="error") if result.bins is None else result
    rows = result.select(models="sgd").checkpoints.tolist()
    found[type(evaluator).__name__] = result.scores, again.scores, rows
"""
# A bare package takes the place of skstream, whose `__init__` imports wings. What is named cannot
# be imported, and is noted if it is asked for.
PROGRAM = f"""
import importlib.abc, json, sys, types
package, *blocked = sys.argv[1:]
asked = []

class Blocked(importlib.abc.MetaPathFinder):
    def find_spec(self, name, path, target=None):
        if name.startswith("skstream.") and name.split(".")[1] in blocked:
            asked.append(name)
            raise ImportError(name + " is blocked")

sys.meta_path.insert(0, Blocked())
sys.modules["skstream"] = bare = types.ModuleType("skstream")
bare.__path__ = [package]
{EVALUATION}
print(json.dumps([found, asked]))
"""


def answers_without(*blocked: str) -> list[Any]:
    """Scores of the four protocols, and the blocked modules that were asked for."""
    finished = subprocess.run(
        [sys.executable, "-c", PROGRAM, str(PACKAGE), *blocked],
        cwd=PROJECT,
        capture_output=True,
        text=True,
        check=False,
    )
    assert finished.returncode == 0, finished.stderr
    answers: list[Any] = json.loads(finished.stdout)
    return answers


@newest_alone
def test_the_core_imports_no_wing_and_gives_the_same_answers_without_them() -> None:
    assert len(WINGS) > 20
    with_all: dict[str, Any] = {}
    exec(EVALUATION, with_all)
    assert answers_without(*WINGS) == json.loads(json.dumps([with_all["found"], []]))


@newest_alone
def test_the_block_holds() -> None:
    with pytest.raises(AssertionError, match=r"skstream\.core.* is blocked"):
        answers_without("core")
