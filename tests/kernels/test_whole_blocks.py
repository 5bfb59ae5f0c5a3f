"""Kernels execute whole blocks: no function is called for each row."""

import numpy as np
import pytest

from skstream.baselines import MajorityClass, MajorityWindow, Persistent, RandomClass
from skstream.kernels import Task
from skstream.neighbors import WindowedKNeighborsClassifier
from skstream.tree import AdaptiveRandomForestClassifier, HoeffdingTreeClassifier
from tests._calls import n_calls
from tests.kernels._reference import make_block, running

NO_DETECTORS = {"warning_detector": None, "drift_detector": None}
#: Models, rows of a block, and the largest number of calls per row.
MODELS = [
    (Persistent(), 20_000, 0.1),
    (MajorityClass(), 20_000, 0.1),
    (MajorityWindow(), 20_000, 0.1),
    (RandomClass(random_state=3), 20_000, 0.1),
    (WindowedKNeighborsClassifier(3, 20), 4_000, 0.1),
    (HoeffdingTreeClassifier(), 4_000, 0.33),
    (AdaptiveRandomForestClassifier(3, random_state=0, **NO_DETECTORS), 40_000, 1.0),
]


@pytest.mark.parametrize(("model", "n", "most"), MODELS, ids=repr)
def test_no_function_is_called_for_each_row(model, n, most, rng):
    if "Tree" in repr(model) or "Forest" in repr(model):
        pytest.importorskip("numba")
    block = make_block(rng.random((n, 2)), rng.integers(0, 3, n), "prequential", rng)
    first, second = (running(model, Task(np.arange(3))) for _ in range(2))
    first.run(block)  # compiles it
    assert n_calls(lambda: second.run(block)) < n * most
