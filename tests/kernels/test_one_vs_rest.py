"""Kernel of OneVsRestClassifier: answers and attributes of the loop, also where scores tie."""

import copy
import warnings
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.linear_model import Perceptron, SGDClassifier, SGDRegressor
from sklearn.multiclass import OneVsRestClassifier
from sklearn.naive_bayes import GaussianNB, MultinomialNB
from sklearn.neural_network import MLPClassifier
from sklearn.preprocessing import StandardScaler

from skstream import PrequentialEvaluator, make_stream_pipeline
from skstream.core.engine.block import part_of
from skstream.kernels import Declined, Task, find_kernel, make_kernel, one_vs_rest
from skstream.temporal import TemporalCorrection
from tests._examples import examples
from tests.kernels import _reference as ref

N_ROWS = 18
LOG = SGDClassifier(loss="log_loss", random_state=0)
BITWISE: list[Any] = [
    SGDClassifier(random_state=0),
    LOG,
    Perceptron(class_weight={0: 0.5, 1: 3.0}, random_state=0),
    SGDClassifier(penalty=None, learning_rate="constant", eta0=0.1, random_state=0),
    MLPClassifier(4, random_state=0),
    make_stream_pipeline(StandardScaler(), SGDClassifier(random_state=0)),
    TemporalCorrection(LOG),
]
LABELS = np.array(["a", "b", "c", "d", "e"])


def rows_and_codes(seed: int, n_classes: int) -> tuple[Any, Any]:
    rng = np.random.default_rng(seed)
    X = rng.integers(0, 3, size=(N_ROWS, 3)).astype(float)
    y = rng.integers(0, n_classes, N_ROWS)
    y[: N_ROWS // 3] %= 2  # the others come late
    return X, y


@pytest.mark.parametrize("place", range(len(BITWISE)))
@pytest.mark.parametrize("n_classes", [2, 4])
def test_equals_the_loop(place: int, n_classes: int) -> None:
    X, y = rows_and_codes(place, n_classes)
    rng = np.random.default_rng(place)
    model = OneVsRestClassifier(BITWISE[place])
    for timeline, method in (
        ("prequential" if n_classes == 2 else "polls", "predict"),
        ("delayed", "decision_function"),
        *([("holdout", "predict_proba")] if n_classes == 4 else []),
    ):
        if hasattr(model, method):
            block = ref.make_block(X, y, timeline, rng)
            task = Task(LABELS[:n_classes], method)
            ref.assert_equals_loop(model, block, task, rtol=1e-9, atol=1e-12)


@examples(4)
@given(
    seed=st.integers(0, 1000),
    place=st.integers(0, len(BITWISE) - 1),
    n_classes=st.integers(2, 5),
    timeline=st.sampled_from(ref.TIMELINES),
)
def test_cuts_change_nothing(seed: int, place: int, n_classes: int, timeline: str) -> None:
    X, y = rows_and_codes(seed, n_classes)
    rng = np.random.default_rng(seed)
    block = ref.make_block(X, y, timeline, rng)
    model = OneVsRestClassifier(copy.deepcopy(BITWISE[place]), n_jobs=1)
    ref.assert_equals_loop(model, block, Task(LABELS[:n_classes]), ref.random_cuts(block, rng))


def test_an_empty_part_forgets_nothing() -> None:
    X, y = rows_and_codes(0, 3)
    block = ref.make_block(X, y, "prequential", np.random.default_rng(0))
    model, task = OneVsRestClassifier(LOG), Task(LABELS[:3])
    literal = copy.deepcopy(model)
    kernel = ref.running(model, task)
    kernel.run(block)
    before = kernel.state
    kernel.run(part_of(block, slice(N_ROWS, N_ROWS), slice(0, 0)))
    assert kernel.state.seen == before.seen
    kernel.export()
    ref.run_literally(literal, block, task)
    ref.assert_same_state(model, literal)


def test_scores_that_nearly_tie_are_those_of_scikit_learn(monkeypatch: Any) -> None:
    """Weights of tenths and rows of ones: sums in another order decide otherwise."""
    rng = np.random.default_rng(4)
    X = rng.integers(0, 2, size=(120, 16)).astype(float)
    y = rng.integers(0, 3, 120)
    block = ref.make_block(X, y, "prequential", rng)
    model = OneVsRestClassifier(Perceptron(eta0=0.1, random_state=0))
    task = Task(np.arange(3))
    expected = ref.run_literally(copy.deepcopy(model), block, task)
    np.testing.assert_array_equal(ref.run_kernel(ref.running(model, task), [block]), expected)
    both = ref.run_kernel(ref.running(model, replace(task, scores="decision_function")), [block])
    values = ref.run_kernel(ref.running(model, task.asking("decision_function")), [block])
    np.testing.assert_array_equal(both, np.column_stack([expected, values]))
    monkeypatch.setattr(one_vs_rest, "_NEAR", -1.0)
    assert (ref.run_kernel(ref.running(model, task), [block]) != expected).any()


def test_classes_not_learnt_yet_are_not_asked_one_by_one(monkeypatch: Any) -> None:
    """Their models are the same, and so are their scores: nothing has to be decided."""
    X, y = np.random.default_rng(0).normal(size=(60, 3)), np.arange(60) % 2
    model = OneVsRestClassifier(SGDClassifier(random_state=0))
    monkeypatch.setattr(one_vs_rest, "deepcopy", lambda _: pytest.fail("asked one by one"))
    block = ref.make_block(X, y, "prequential", np.random.default_rng(0))
    ref.assert_equals_loop(model, block, Task(LABELS), [30])


@pytest.mark.parametrize("inner", [GaussianNB(), MultinomialNB()])
def test_models_of_sufficient_statistics(inner: Any) -> None:
    X, y = rows_and_codes(0, 3)
    y[:3] = [0, 1, 2]
    X += np.random.default_rng(0).random(X.shape)
    block = ref.make_block(X, y, "prequential", np.random.default_rng(0))
    block = replace(block, ask_index=block.ask_index[12:], stamp=block.stamp[12:])
    model, task = OneVsRestClassifier(inner), Task(LABELS[:3])
    kernel, _ = ref.assert_equals_loop(model, block, task, scores="predict_proba", state_rtol=1e-9)
    assert not kernel.bitwise


def test_frames_and_batches_and_weights(pd: Any) -> None:
    X, y = rows_and_codes(0, 3)
    X = pd.DataFrame(X, columns=["x", "y", "z"])
    weight = np.arange(N_ROWS) % 2 + 1.0
    counts = OneVsRestClassifier(MultinomialNB())
    for model, batch_size, sample_weight, path in (
        (OneVsRestClassifier(BITWISE[0]), 1, None, "kernel"),
        (counts, 4, None, "kernel"),
        (OneVsRestClassifier(BITWISE[0]), 4, None, "loop"),
        (counts, 1, weight, "loop"),
    ):
        evaluator = PrequentialEvaluator(
            "accuracy", batch_size=batch_size, n_warmup=4, random_state=0
        )
        kernel, loop = ref.both_ways(evaluator, model, X, LABELS[y], sample_weight=sample_weight)
        assert kernel.paths["m"].partition(":")[0] == path
        np.testing.assert_array_equal(
            kernel.predictions("m", every_row=True), loop.predictions("m", every_row=True)
        )
        ref.assert_same_state(kernel.models["m"], loop.models["m"], rtol=1e-12)


def test_what_has_no_kernel() -> None:
    task = Task(np.arange(3))
    for model, classes, reason in (
        (OneVsRestClassifier(SGDRegressor()), np.arange(3), "with a regressor"),
        (OneVsRestClassifier(SGDClassifier(average=True)), np.arange(3), "average=True"),
        (OneVsRestClassifier(SGDClassifier()), np.arange(1), "a single class"),
        (OneVsRestClassifier(SGDClassifier()), np.array([0.5, 1.0, 1.5]), "labels that it refuses"),
        (OneVsRestClassifier(SGDClassifier(), n_jobs="two"), np.arange(3), "parameters"),
    ):
        with pytest.raises(Declined, match=reason):
            find_kernel(model, replace(task, classes=classes))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)  # a class is in every row
        several = OneVsRestClassifier(SGDClassifier()).fit(np.eye(3), np.eye(3, dtype=int))
    assert make_kernel(several, task) is None


def test_parts_of_inner_models_are_not_looped_alone() -> None:
    from sklearn.preprocessing import FunctionTransformer

    steps = FunctionTransformer(lambda rows: rows + 1), SGDClassifier(random_state=0)
    model = OneVsRestClassifier(make_stream_pipeline(*steps))
    X, y = rows_and_codes(0, 3)
    result = PrequentialEvaluator("accuracy", random_state=0).evaluate({"m": model}, X, y)
    assert result.paths["m"].startswith("loop")
