"""IncrementalGaussianNB: rows one by one, in batches, or at once give the same model."""

import re
import warnings
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.naive_bayes import GaussianNB

from skstream import DelayedEvaluator, Polling, PrequentialEvaluator, RunOptions
from skstream.naive_bayes import IncrementalGaussianNB
from tests._data import load_stream
from tests._examples import examples
from tests.kernels._reference import both_ways

ATTRIBUTES = ("theta_", "var_", "raw_var_", "class_count_", "class_prior_", "epsilon_")
TOTALS = ("total_count_", "total_mean_", "total_var_")


def stream(seed: int, n: int = 60, n_classes: int = 3) -> tuple[np.ndarray, np.ndarray]:
    """Ordinary features beside one that is constant and one that is constant within a class."""
    rng = np.random.default_rng(seed)
    y = rng.integers(0, n_classes, n)
    X = rng.normal(size=(n, 4)) * [1.0, 100.0, 0.01, 1.0] + y[:, None]
    X[:, 2] = 0.1
    X[y == 0, 3] = 7.0
    return X, y


def learn_in_batches(
    model: Any, X: np.ndarray, y: np.ndarray, size: int, weight: np.ndarray | None = None
) -> Any:
    for begin in range(0, len(y), size):
        rows = slice(begin, begin + size)
        known = {} if weight is None else {"sample_weight": weight[rows]}
        model.partial_fit(X[rows], y[rows], classes=np.unique(y), **known)
    return model


def assert_same_model(one: Any, other: Any) -> None:
    for name in ATTRIBUTES + TOTALS:
        a, b = getattr(one, name), getattr(other, name)
        np.testing.assert_allclose(a, b, rtol=1e-9, atol=1e-12, err_msg=name)


@examples(40)
@given(
    seed=st.integers(0, 2**32 - 1),
    n=st.integers(2, 80),
    size=st.sampled_from([1, 2, 7, 50]),
    weighted=st.booleans(),
    smoothing=st.sampled_from([1e-9, 1e-3, 0.5]),
)
def test_row_by_row_is_one_fit(seed, n, size, weighted, smoothing):
    X, y = stream(seed, n)
    weight = np.random.default_rng(seed).random(n) + 0.01 if weighted else None
    model = IncrementalGaussianNB(var_smoothing=smoothing)
    fitted = IncrementalGaussianNB(var_smoothing=smoothing).fit(X, y, sample_weight=weight)
    assert_same_model(learn_in_batches(model, X, y, size, weight), fitted)


def test_constant_features_do_no_harm() -> None:
    """scikit-learn issue 19837."""
    X, y = stream(2, 300)
    plain, ours = GaussianNB(), IncrementalGaussianNB()
    hits = [0, 0]
    for i in range(len(y)):
        rows = slice(i, i + 1)
        for k, model in enumerate((plain, ours)):
            if i:
                with warnings.catch_warnings():
                    if model is plain:
                        warnings.simplefilter("ignore", RuntimeWarning)
                    hits[k] += int(model.predict(X[rows])[0] == y[i])
            model.partial_fit(X[rows], y[rows], classes=[0, 1, 2])
    with np.errstate(divide="ignore", invalid="ignore"):
        assert np.isnan(plain.predict_proba(X)).all()
    assert np.isfinite(ours.predict_proba(X)).all()
    assert hits[0] < 0.5 * len(y) < 0.7 * len(y) < hits[1]


def test_integer_weights_are_repetitions() -> None:
    X, y = stream(3)
    weight = np.random.default_rng(3).integers(0, 4, len(y))
    weighted = IncrementalGaussianNB().fit(X, y, sample_weight=weight)
    repeated = IncrementalGaussianNB().fit(np.repeat(X, weight, axis=0), np.repeat(y, weight))
    assert_same_model(weighted, repeated)


def test_a_class_not_yet_seen_is_never_the_answer() -> None:
    X, y = stream(5)
    for priors in (None, [0.1, 0.1, 0.8]):
        model = IncrementalGaussianNB(priors=priors)
        model.partial_fit(X[y < 2], y[y < 2], classes=[0, 1, 2])
        near_zero = np.zeros((1, 4))
        assert set(model.predict(np.vstack([X, near_zero]))) == {0, 1}
        assert (model.predict_proba(X)[:, 2] == 0).all()


def test_while_all_rows_are_alike_the_prior_decides() -> None:
    model = IncrementalGaussianNB()
    for label in ("b", "a", "b"):
        model.partial_fit([[7.0, 0.0]], [label], classes=["a", "b", "c"])
    assert model.epsilon_ == 0
    assert model.predict([[7.0, 0.0], [-1.0, 5.0]]).tolist() == ["b", "b"]
    np.testing.assert_allclose(model.predict_proba([[1.0, 1.0]]), [[1 / 3, 2 / 3, 0]])


def test_computes_in_double_precision() -> None:
    X, y = stream(8)
    model = IncrementalGaussianNB().fit(X.astype(np.float32), y)
    assert model.theta_.dtype == model.var_.dtype == np.float64


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"priors": [0.5, 0.5]}, "Got priors of shape (2,) and 3 classes"),
        ({"priors": [0.5, 0.5, 0.5]}, "The sum of the priors should be 1. Got 1.5"),
        ({"priors": [1.5, -0.5, 0.0]}, "Priors must be non-negative. Got -0.5"),
        ({"var_smoothing": -1.0}, "The 'var_smoothing' parameter of IncrementalGaussianNB"),
    ],
)
def test_says_what_is_wrong_with_parameters(parameters: dict[str, Any], message: str) -> None:
    X, y = stream(9)
    with pytest.raises(ValueError, match=re.escape(message)):
        IncrementalGaussianNB(**parameters).fit(X, y)


def test_says_what_is_wrong_with_labels() -> None:
    X, y = stream(10)
    with pytest.raises(ValueError, match="classes must be passed on the first call"):
        IncrementalGaussianNB().partial_fit(X, y)
    model = IncrementalGaussianNB().partial_fit(X, y, classes=[0, 1, 2])
    with pytest.raises(ValueError, match="9"):
        model.partial_fit(X[:1], [9])
    with pytest.raises(ValueError, match="is not the same as on last call"):
        model.partial_fit(X, y, classes=[0, 1])


@pytest.mark.parametrize("engine", ["auto", "loop"])
def test_probabilities_sum_to_one_where_likelihoods_are_tiny(engine, rng):
    """A column that is constant for long, beside one of small numbers, gives scores of -1e10."""
    X = np.column_stack([1e-3 * rng.normal(size=400), np.zeros(400)])
    X[300:, 1] = 1.0 + rng.normal(size=100)
    y = rng.integers(0, 2, 400)
    model = IncrementalGaussianNB().fit(X[:300], y[:300])
    assert model.predict_joint_log_proba(X[300:]).min() < -1e10
    shares = model.predict_proba(X[300:])
    np.testing.assert_allclose(shares.sum(axis=1), 1.0, rtol=1e-12)
    np.testing.assert_allclose(np.exp(model.predict_log_proba(X[300:])), shares, rtol=1e-9)
    evaluator = PrequentialEvaluator("log_loss", run=RunOptions(kernels=engine == "auto"))
    assert np.isfinite(evaluator.evaluate({"m": model}, X, y).scores["m"]["log_loss"])


def test_electricity_with_late_labels_is_scored_to_its_end() -> None:
    X, y = load_stream("electricity", 6000)
    evaluator = DelayedEvaluator("log_loss", delay=48, polling=Polling(n_bins=1, poll_every=None))
    scores = evaluator.evaluate({"m": IncrementalGaussianNB()}, X, y).scores["m"]
    assert np.isfinite(scores["log_loss"])


@pytest.mark.filterwarnings("ignore::RuntimeWarning")  # as an error, it would send rows to the loop
@pytest.mark.parametrize("scale", [1e-90, 1e-45, 1e-30, 1e30, 1e55, 1e90])
def test_very_large_and_small_numbers_are_answered_as_in_the_loop(scale, rng):
    """Products of variances, of which the kernel takes one logarithm, stay within range."""
    y = rng.integers(0, 3, 100)
    X = scale * (rng.normal(size=(100, 2)) + y[:, None])
    evaluator = PrequentialEvaluator("log_loss", n_warmup=20, random_state=0)
    kernel, loop = both_ways(evaluator, IncrementalGaussianNB(), X, y)
    assert kernel.scores["m"]["log_loss"] == pytest.approx(loop.scores["m"]["log_loss"], rel=1e-9)


def test_fit_is_that_of_scikit_learn() -> None:
    X, y = stream(1, 200)
    ours, theirs = IncrementalGaussianNB().fit(X, y), GaussianNB().fit(X, y)
    for name in set(ATTRIBUTES) - {"raw_var_"}:
        np.testing.assert_array_equal(getattr(ours, name), getattr(theirs, name))
    np.testing.assert_allclose(
        ours.predict_joint_log_proba(X), theirs.predict_joint_log_proba(X), rtol=1e-12
    )
