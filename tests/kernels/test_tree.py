"""The kernels of the tree and the forest answer and remember what the loop does."""

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import sparse

from skstream import KFoldEvaluator, PrequentialEvaluator, RunOptions, TemporallyAugmented
from skstream.drift import DDM, PageHinkley, RandomAlarm
from skstream.kernels import Declined, Task
from skstream.tree import AdaptiveRandomForestClassifier, HoeffdingTreeClassifier
from skstream.tree import _arrays as arrays
from skstream.tree import _forest as forest
from skstream.tree._core import run
from skstream.utils import _numba
from skstream.utils._numba import numba_enabled
from tests._examples import examples
from tests.kernels import _reference as ref

LABELS = np.array(["a", "b", "c"])
DETECTORS = [
    None,
    RandomAlarm(0.1, warm_up=0, random_state=0),
    PageHinkley(1.0, delta=0.0),
    DDM(min_values=5),
]


def rows_of(kind: str, n: int, rng: np.random.Generator) -> Any:
    """Numbers, numbers with gaps, or numbers and categories with gaps that begin with one."""
    X = rng.integers(0, 8, (n, 3)) / rng.choice([1.0, 3.0])
    if kind == "numbers":
        return X
    X[rng.random(X.shape) < 0.2] = np.nan
    if kind == "gaps":
        return X
    mixed = X.astype(object)
    words = rng.choice(list("vwxyz")[: rng.integers(1, 6)], n)
    mixed[:, 1] = np.where(rng.random(n) < 0.2, None, words)
    mixed[: rng.integers(0, 3), 1] = None
    return mixed


def tree_with(rng: np.random.Generator, **parameters: Any) -> Any:
    return HoeffdingTreeClassifier(
        criterion=str(rng.choice(["entropy", "gini"])),
        zero_variance=str(rng.choice(["exclude", "ignore"])),
        pre_prune=bool(rng.random() < 0.5),
        max_categories=int(rng.choice([2, 3, 256])),
        **parameters,
    )


def forest_with(rng: np.random.Generator, **parameters: Any) -> Any:
    return AdaptiveRandomForestClassifier(
        int(rng.integers(1, 4)),
        max_features=[None, "sqrt+1", "sqrt", 2, 0.7][rng.integers(5)],
        mean_weight=float(rng.choice([0.5, 6.0])),
        warning_detector=DETECTORS[rng.integers(4)],
        drift_detector=DETECTORS[rng.integers(4)],
        random_state=int(rng.integers(9)),
        **parameters,
    )


@given(
    seed=st.integers(0, 2**32 - 1),
    make=st.sampled_from([tree_with, forest_with]),
    timeline=st.sampled_from(ref.TIMELINES),
    method=st.sampled_from(["predict", "predict_proba"]),
    kind=st.sampled_from(["numbers", "gaps", "categories"]),
    leaf=st.sampled_from(["mc", "nb", "nba"]),
    is_weighted=st.booleans(),
    has_learnt=st.booleans(),
    is_limited=st.booleans(),
    at_once=st.sampled_from([3, 17, 2048]),
)
@examples(120)
def test_kernel_is_the_loop_bit_for_bit(
    seed, make, timeline, method, kind, leaf, is_weighted, has_learnt, is_limited, at_once
):
    rng = np.random.default_rng(seed)
    n = int(rng.integers(2, 60))
    X = rows_of(kind, n, rng)
    first = np.array([len(str(value)) for value in X[:, 0]])
    y = (first + rng.integers(0, 2, n)) % 3
    block = ref.make_block(X, y, timeline, rng, rng.random(n) + 0.1 if is_weighted else None)
    model = make(
        rng,
        grace_period=float(rng.integers(2, 12)),
        delta=0.3,
        tau=0.5,
        leaf_prediction=leaf,
        max_depth=rng.choice([None, 1, 2]),
        nominal_features=[2] if rng.random() < 0.3 else None,
        max_bytes=20_000 if is_limited else None,
    )
    if has_learnt:
        model.partial_fit(rows_of(kind, 9, rng), list("abcabcabc"), classes=LABELS)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(forest, "_AT_ONCE", at_once)
        kernel, _ = ref.assert_equals_loop(
            model, block, Task(LABELS, method), ref.random_cuts(block, rng)
        )
    ref.assert_untouched(ref.running(kernel.estimator, Task(LABELS, method)), kernel.state)


def test_what_the_tree_refuses_is_left_to_the_loop(rng: np.random.Generator) -> None:
    X, y = rng.random((9, 2)), rng.integers(0, 3, 9)
    kernel = ref.running(HoeffdingTreeClassifier(), Task(LABELS))
    kernel.run(ref.make_block(X, y, "prequential", rng))
    before = kernel.state
    texts = np.array([["x", "y"]] * 9, dtype=object)
    for rows, reason in (
        (sparse.csr_array(X), "sparse rows have no kernel"),
        (np.where(X > 0.5, np.inf, X), "infinite numbers"),
        (texts, "values of two types"),
        (X.astype("datetime64[s]"), "dates"),
    ):
        with pytest.raises(Declined, match=reason):
            kernel.run(ref.make_block(rows, y, "prequential", rng))
        ref.assert_untouched(kernel, before)


def test_a_broken_tree_is_caught(monkeypatch, rng: np.random.Generator) -> None:
    """Votes that are kept although a row was learnt in between are other votes."""
    X, y = rng.random((60, 2)), rng.integers(0, 3, 60)
    block = ref.make_block(X, y, "polls", rng)
    model = HoeffdingTreeClassifier(grace_period=10)
    ref.assert_equals_loop(model, block, Task(LABELS, "predict_proba"), [])
    right = arrays.run

    def run(*args: Any) -> Any:
        kept = np.ones_like(args[10])
        return right(*args[:10], kept, *args[11:])

    run.announce = right.announce
    monkeypatch.setattr(arrays, "run", run)
    with pytest.raises(AssertionError):
        ref.assert_equals_loop(model, block, Task(LABELS, "predict_proba"), [])


def test_a_broken_forest_is_caught(monkeypatch, rng: np.random.Generator) -> None:
    """Detectors that read a row too late replace a tree by another one."""
    X, y = rng.random((90, 2)), rng.integers(0, 3, 90)
    block = ref.make_block(X, y, "prequential", rng)
    model = AdaptiveRandomForestClassifier(
        2, grace_period=5, drift_detector=PageHinkley(1.0, delta=0.0), random_state=0
    )
    task = Task(LABELS, "predict_proba")
    ref.assert_equals_loop(model, block, task, [])
    right = forest._first_alarm

    def late(detector: Any, wrong: Any) -> Any:
        at, ahead = right(detector, wrong)
        return (at if at is None else min(at + 1, len(wrong) - 1)), ahead

    monkeypatch.setattr(forest, "_first_alarm", late)
    with pytest.raises(AssertionError):
        ref.assert_equals_loop(model, block, task, [])


# -- compile or not: with no machine code at hand, a few rows run as plain Python


NOT_COMPILED = "kernel: not compiled: for so few rows plain Python is faster"


@pytest.fixture
def nothing_at_hand(monkeypatch: pytest.MonkeyPatch) -> None:
    if not numba_enabled():
        pytest.skip("nothing is compiled without numba")
    monkeypatch.delenv(_numba.ALWAYS_COMPILE)
    monkeypatch.setattr(_numba.Jitted, "_is_at_hand", False)
    for name in ("_announced", "_expected"):
        monkeypatch.setattr(run, name, 0.0)


MODELS = [
    HoeffdingTreeClassifier(grace_period=20),
    AdaptiveRandomForestClassifier(3, random_state=0),
    TemporallyAugmented(HoeffdingTreeClassifier(grace_period=20)),
]


@pytest.mark.parametrize("model", MODELS, ids=lambda one: type(one).__name__)
@pytest.mark.parametrize("kind", [PrequentialEvaluator, KFoldEvaluator])
def test_short_streams_are_not_compiled_and_give_the_same(
    kind, model, nothing_at_hand, monkeypatch
):
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(200, 2)), rng.integers(0, 2, 200)
    evaluator = kind("accuracy", random_state=0, run=RunOptions(keep_tape=True))
    spared = evaluator.evaluate({"m": model}, X, y)
    assert spared.paths == {"m": NOT_COMPILED}
    monkeypatch.setenv(_numba.ALWAYS_COMPILE, "1")
    compiled = evaluator.evaluate({"m": model}, X, y)
    assert compiled.paths == {"m": "kernel"}
    np.testing.assert_array_equal(spared.tape.answers["m"], compiled.tape.answers["m"])


@pytest.mark.parametrize(
    ("n_rows", "pays"), [(0, True), (1000, False), (31_999, False), (32_000, True)]
)
def test_expected_rows_decide(n_rows: int, pays: bool, nothing_at_hand: None) -> None:
    kernel = ref.running(HoeffdingTreeClassifier(), Task(LABELS, expected_rows=n_rows))
    assert kernel is not None and run.pays is pays


def test_calls_of_an_estimator_are_compiled_once_there_are_many(nothing_at_hand: None) -> None:
    model, X = HoeffdingTreeClassifier(), np.zeros((20_000, 1))
    for n, pays in ((1, False), (200, False), (20_000, False)):
        model.partial_fit(X[:n], np.repeat(["a"], n), classes=["a", "b"])
        assert run.pays is pays
    run.announce(16.0 - 20_201 * arrays.SECONDS_OF_A_ROW / 5)
    assert run.pays


def test_a_live_run_is_compiled_from_its_first_row(nothing_at_hand: None) -> None:
    live = PrequentialEvaluator("accuracy").start(HoeffdingTreeClassifier(), classes=["a", "b"])
    live.update([[0.0], [1.0]], ["a", "b"])
    assert run.pays and live.result().paths == {"HoeffdingTreeClassifier": "kernel"}
