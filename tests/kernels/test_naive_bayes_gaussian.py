"""Kernels of GaussianNB and IncrementalGaussianNB against the loop."""

from dataclasses import replace
from typing import Any

import joblib
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.base import clone
from sklearn.exceptions import NotFittedError
from sklearn.naive_bayes import GaussianNB

from skstream import DynamicWeightedMajority, PrequentialEvaluator
from skstream.core.engine.block import Block
from skstream.kernels import Declined, Task, make_kernel
from skstream.kernels.naive_bayes import gaussian as states_module
from skstream.naive_bayes import IncrementalGaussianNB
from tests._examples import examples
from tests.kernels import _reference as ref

MODELS = [GaussianNB(), IncrementalGaussianNB(), IncrementalGaussianNB(var_smoothing=1e-3)]
# Kinds of features: ordinary; the same number again and again, of many digits and of few; one
# number, then another; on a grid; (very) far from zero; moving away; rarely not zero; after an
# outlier.
FEATURES = [
    *("normal", "tenths", "sevens", "step", "grid"),
    *("large", "far", "shift", "rare", "outlier"),
]


def features(rng: np.random.Generator, y: np.ndarray, kinds: list[str]) -> np.ndarray:
    n = len(y)
    X = rng.normal(size=(n, len(kinds))) + rng.normal(size=(y.max() + 1, len(kinds)))[y]
    for j, kind in enumerate(kinds):
        x = X[:, j]
        if kind in ("tenths", "sevens"):
            x[:] = {"tenths": 0.1, "sevens": 7.0}[kind]
        elif kind == "step":
            x[:] = np.where(np.arange(n) < n // 2, 0.1, 0.3)
        elif kind == "grid":
            x[:] = np.round(x) + 0.1
        elif kind == "large":
            x += 1e9
        elif kind == "far":
            x += 3e7
        elif kind == "shift":
            x[n // 2 :] += 1e6
        elif kind == "rare":
            x[:] = rng.random(n) < 0.05
        elif kind == "outlier":
            x[0] = 1e6
    return X


@examples(22)
@given(
    model=st.sampled_from(MODELS),
    n_classes=st.sampled_from([1, 2, 3, 7, 25]),
    timeline=st.sampled_from(ref.TIMELINES),
    method=st.sampled_from(["predict", "predict_proba"]),
    weight=st.sampled_from(["none", "whole", "any"]),
    kinds=st.lists(st.sampled_from(FEATURES), min_size=1, max_size=6),
    has_priors=st.booleans(),
    n=st.integers(2, 90),
    seed=st.integers(0, 2**32 - 1),
)
def test_equals_the_loop(model, n_classes, timeline, method, weight, kinds, has_priors, n, seed):
    rng = np.random.default_rng(seed)
    y = rng.integers(0, n_classes, n)
    X = features(rng, y, ["normal", *kinds])
    block = ref.make_block(X, y, timeline, rng, ref.random_weights(rng, n, weight))
    if has_priors:
        model = clone(model).set_params(priors=rng.dirichlet(np.ones(n_classes)))
    ref.assert_bayes_equals_loop(model, block, Task(np.arange(n_classes) * 2, method), rng)


@pytest.mark.parametrize("weight", [None, 3.0])
def test_constant_features_are_rounded_as_in_scikit_learn(weight: float | None) -> None:
    """The same 0.1 again and again has a mean beside it, and a variance of 1e-33 instead of 0."""
    X = np.tile([0.1, 1 / 3, 7.0, 0.0], (100, 1))
    y = np.zeros(100, dtype=np.int64)
    rng = np.random.default_rng(14)
    weights = None if weight is None else np.full(100, weight)
    block = ref.make_block(X, y, "prequential", rng, weights)
    kernel, literal = ref.assert_bayes_equals_loop(GaussianNB(), block, Task(np.arange(1)), rng)
    by_row = ref.running(GaussianNB(), kernel.kernel.task)
    ref.run_kernel(by_row, ref.cut(block, list(range(1, block.n_learns + block.n_asks))))
    by_row.export()
    for estimator in (kernel.estimator, by_row.estimator):
        ref.assert_same_state(estimator, literal)


def test_features_of_large_mean_need_the_recurrence() -> None:
    """Where the mean is 1e9 times the spread, other arithmetic is off by 1e-7."""
    rng = np.random.default_rng(2)
    y = rng.integers(0, 2, 300)
    X = features(rng, y, ["large", "tenths", "normal"])
    kernel, literal = ref.assert_bayes_equals_loop(
        GaussianNB(), ref.make_block(X, y, "prequential", rng), Task(np.arange(2)), rng
    )
    np.testing.assert_array_equal(kernel.estimator.theta_[:, :2], literal.theta_[:, :2])
    np.testing.assert_array_equal(kernel.estimator.var_[:, :2], literal.var_[:, :2])


@pytest.mark.parametrize("model", MODELS[:2], ids=repr)
def test_a_fitted_model_that_learns_nothing_keeps_its_attributes(model: Any) -> None:
    rng = np.random.default_rng(4)
    y = np.arange(20) % 2
    X = features(rng, y, ["normal", "rare"])
    fitted = clone(model).fit(X, y)
    kernel = ref.running(ref.twin(fitted), Task(np.arange(2)))
    nothing, rows = np.empty(0, dtype=np.int64), np.arange(20)
    answers = kernel.run(Block(X, nothing, nothing, None, X, rows, np.zeros(20, dtype=np.int64)))
    np.testing.assert_array_equal(answers, fitted.predict(X))
    kernel.export()
    ref.assert_same_state(kernel.estimator, fitted)


def test_goes_on_from_rows_of_weight_zero(rng: np.random.Generator) -> None:
    """They settle columns and classes, but nothing has been learnt, and there is no answer."""
    y = np.append(np.arange(3), rng.integers(0, 3, 60))
    X, task = features(rng, y, ["normal", "sevens"]), Task(np.arange(3))
    model = IncrementalGaussianNB().partial_fit(X[:2], y[:2], task.classes, np.zeros(2))
    assert make_kernel(model, Task(np.arange(2))) is None
    kernel, before = ref.running(ref.twin(model), task), joblib.hash(model)
    early = ref.make_block(X, y, "prequential", rng)
    early = replace(early, stamp=np.maximum(early.stamp - 1, 0))
    for block in (early, ref.cut(early, [1])[0]):
        with pytest.raises(NotFittedError):
            ref.run_literally(ref.twin(model), block, task)
        with pytest.raises(Declined):
            kernel.run(block)
    kernel.export()
    assert joblib.hash(kernel.estimator) == before
    block = ref.make_block(X, y, "prequential", rng)
    expected, scores = ref.run_literally(model, block, task, also="predict_joint_log_proba")
    ref.assert_same_labels(kernel.run(block), expected, scores)
    kernel.export()
    ref.assert_same_state(kernel.estimator, model, rtol=1e-9)


def test_constant_features_give_nan_as_in_scikit_learn() -> None:
    """scikit-learn issue 19837: the first class with NaN is the answer to everything."""
    rng = np.random.default_rng(9)
    y = rng.integers(0, 2, 100)
    X = np.column_stack([features(rng, y, ["normal"]), np.full(100, 7.0)])
    block = ref.make_block(X, y, "prequential", rng)
    for model, accuracy in ((GaussianNB(), (y[1:] == 0).mean()), (IncrementalGaussianNB(), None)):
        kernel, _ = ref.assert_bayes_equals_loop(model, block, Task(np.arange(2)), rng)
        answers = ref.running(clone(model), kernel.kernel.task).run(block)
        if accuracy is not None:
            assert (answers == 0).all()
        else:
            assert (answers == y[1:]).mean() > 0.6


@pytest.mark.parametrize("broken", ["learns the other class", "forgets the newest row"])
def test_a_broken_twin_is_caught(broken: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SKSTREAM_DISABLE_NUMBA", "1")
    rng = np.random.default_rng(10)
    y = rng.integers(0, 2, 400)
    block = ref.make_block(features(rng, y, ["normal"]), y, "prequential", rng)
    task = Task(np.arange(2), "predict_proba")
    ref.assert_bayes_equals_loop(GaussianNB(), block, task, rng)
    right = states_module._learn_row.plain

    def learn_other(x: Any, t: Any, w: Any, n: Any, means: Any, variances: Any, k: Any) -> None:
        right(x, t, w, n, means, variances, 1 - k)

    def learn_late(x: Any, t: Any, *others: Any) -> None:
        right(x, max(t - 1, 0), *others)

    wrong = learn_other if broken == "learns the other class" else learn_late
    monkeypatch.setattr(states_module, "_learn_row", wrong)
    monkeypatch.setattr(states_module, "_run_rows", states_module._run_rows.plain)
    with np.errstate(all="ignore"), pytest.raises(AssertionError):
        ref.assert_bayes_equals_loop(GaussianNB(), block, task, rng)


def test_compiled_and_uncompiled_agree(monkeypatch: pytest.MonkeyPatch, numba: Any) -> None:
    rng = np.random.default_rng(12)
    y = rng.integers(0, 3, 200)
    block = ref.make_block(features(rng, y, FEATURES), y, "polls", rng)
    for model in MODELS:
        found = []
        for disabled in ("0", "1"):
            monkeypatch.setenv("SKSTREAM_DISABLE_NUMBA", disabled)
            found.append(ref.running(clone(model), Task(np.arange(3))).run(block))
        np.testing.assert_array_equal(*found)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("weight", [None, 0.5])
@pytest.mark.parametrize("model", [GaussianNB(), IncrementalGaussianNB()])
def test_the_mean_of_negative_zeros_is_zero(model: Any, weight: float | None, dtype: type) -> None:
    X, y = np.array([[-0.0, -0.0], [1.0, -0.0], [-0.0, 2.0]], dtype=dtype), np.array([0, 1, 0])
    for n in (1, 3):
        of_rows = None if weight is None else np.full(n, weight)
        block = ref.make_block(X[:n], y[:n], "prequential", np.random.default_rng(0), of_rows)
        kernel, literal = ref.assert_bayes_equals_loop(
            model, block, Task(np.arange(2)), np.random.default_rng(0)
        )
        for name in ("theta_", *(["total_mean_"] if hasattr(literal, "total_mean_") else [])):
            signs = [np.signbit(getattr(one, name)) for one in (kernel.estimator, literal)]
            np.testing.assert_array_equal(*signs)


@pytest.mark.parametrize("seed", [0, 1, 11])
def test_ties_decide_on_members_as_in_the_loop(seed: int) -> None:
    rng = np.random.default_rng(seed)
    X, y = rng.integers(0, 2, (150, 2)), rng.integers(0, 3, 150)
    model = DynamicWeightedMajority(
        IncrementalGaussianNB(), period=5, threshold=0, max_estimators=6
    )
    fast, loop = ref.both_ways(PrequentialEvaluator("accuracy", random_state=0), model, X, y)
    assert fast.paths["m"] == "kernel"
    np.testing.assert_array_equal(
        fast.predictions("m", every_row=True), loop.predictions("m", every_row=True)
    )
