"""LabelNoise: as much noise as promised, drawn by place, as an estimator and as a kernel."""

import joblib
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import sparse
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.linear_model import SGDClassifier
from sklearn.naive_bayes import MultinomialNB
from sklearn.preprocessing import StandardScaler

from skstream import PrequentialEvaluator, make_stream_pipeline
from skstream.baselines import MajorityClass
from skstream.kernels import Task
from skstream.naive_bayes import IncrementalGaussianNB
from skstream.noise import LabelNoise, with_noise
from skstream.streams import make_demo_stream
from skstream.utils._seeds import row_hashes
from tests._examples import examples
from tests.kernels import _reference as ref
from tests.kernels._reference import both_ways

SGD = SGDClassifier(random_state=0)


@pytest.mark.parametrize("n_classes", [2, 3, 7])
@pytest.mark.parametrize("q", [0.05, 0.5, 1.0])
def test_accuracy_left_is_that_of_the_formula(n_classes, q):
    rng = np.random.default_rng(n_classes)
    n = 60_000
    y = rng.integers(0, n_classes, n)
    codes = np.where(rng.random(n) < 0.7, y, (y + 1) % n_classes)
    hashes = row_hashes(rng.normal(size=(n, 2)))
    noisy = with_noise(codes, hashes, np.arange(1.0, n + 1), n_classes, q, seed=4)
    p = np.mean(codes == y)
    expected = p * (1 - q) + (1 - p) * q / (n_classes - 1)
    assert np.mean(noisy == y) == pytest.approx(expected, abs=4 * np.sqrt(0.25 / n))
    assert np.mean(noisy != codes) == pytest.approx(q, abs=4 * np.sqrt(0.25 / n))
    steps = np.bincount((noisy - codes) % n_classes, minlength=n_classes)[1:] / n
    np.testing.assert_allclose(steps, q / (n_classes - 1), atol=4 * np.sqrt(0.25 / n))


def test_the_draws_are_those_of_the_first_release():
    rows = np.arange(40.0).reshape(20, 2)
    noisy = with_noise(np.zeros(20, np.int64), row_hashes(rows), np.array([7.0]), 4, 0.5, seed=3)
    assert noisy.tolist() == [3, 3, 2, 0, 3, 0, 0, 1, 1, 0, 0, 2, 2, 3, 0, 0, 2, 0, 1, 0]


def test_equal_rows_have_equal_hashes_in_every_container(pd, rng):
    X = rng.poisson(0.7, size=(30, 4)).astype(np.float64)
    expected = row_hashes(X)
    assert len(set(expected.tolist())) == len(np.unique(X, axis=0))
    twice = sparse.coo_array(
        (np.repeat(X.ravel() / 2, 2), np.repeat(np.indices(X.shape).reshape(2, -1), 2, axis=1))
    )
    for same in (
        *(X.astype(np.int32), X.astype(np.float32), X.astype(object), np.where(X == 0, -0.0, X)),
        *(sparse.csr_array(X), sparse.csc_matrix(X), twice),
        pd.DataFrame(X).astype({0: int, 1: object}),
    ):
        np.testing.assert_array_equal(row_hashes(same), expected)
    for row in range(30):
        assert row_hashes(X[[row]]) == expected[row]


def test_hashes_tell_columns_signs_missing_values_and_texts_apart():
    rows = [[1, 0], [0, 1], [-1, 0], [np.nan, 0], ["x", 0], ["y", 0], [0, "x"], [None, 0], [0, 0]]
    hashes = row_hashes(np.array(rows, dtype=object))
    assert len(set(hashes.tolist())) == len(rows)


def test_weights_count_like_repetition():
    X, y = np.arange(6.0).reshape(-1, 1), np.array([0, 1, 0, 1, 0, 1])
    weight = np.array([2, 0, 1, 3, 1, 1])
    again = np.repeat(np.arange(6), weight)
    weighted = LabelNoise(MultinomialNB(), noise=0.5, random_state=0).fit(
        X, y, sample_weight=weight
    )
    repeated = LabelNoise(MultinomialNB(), noise=0.5, random_state=0).fit(X[again], y[again])
    assert weighted.weight_learnt_ == repeated.weight_learnt_ == 8.0
    asked = np.arange(200.0).reshape(-1, 1)
    np.testing.assert_array_equal(weighted.predict(asked), repeated.predict(asked))


@given(
    seed=st.integers(0, 2**32 - 1),
    timeline=st.sampled_from(ref.TIMELINES),
    n_classes=st.integers(1, 4),
    weighted=st.booleans(),
    has_learnt=st.booleans(),
)
@examples(40)
def test_kernel_is_the_loop(seed, timeline, n_classes, weighted, has_learnt):
    rng = np.random.default_rng(seed)
    n = int(rng.integers(2, 40))
    model = LabelNoise(MajorityClass(), noise=0.5, random_state=int(rng.integers(100)))
    task = Task(np.array(["a", "b", "c", "d"])[:n_classes])
    weight = rng.integers(1, 4, n) * 0.7 if weighted else None
    X = rng.integers(0, 2, size=(n, 2))
    block = ref.make_block(X, rng.integers(0, n_classes, n), timeline, rng, weight)
    if has_learnt:
        model.partial_fit(np.ones((2, 2)), task.classes[[0, 0]], classes=task.classes)
    literal = ref.twin(model)
    expected = ref.run_literally(literal, block, task)
    kernel = ref.running(model, task)
    answers = ref.run_kernel(kernel, ref.cut(block, ref.random_cuts(block, rng)))
    np.testing.assert_array_equal(answers, expected)
    kernel.export()
    assert joblib.hash(model) == joblib.hash(literal)


def test_noise_of_a_pipeline_under_batches():
    stream = make_demo_stream(300)
    model = LabelNoise(make_stream_pipeline(SGDClassifier()), noise=1.0)
    evaluator = PrequentialEvaluator(["accuracy", "error"], batch_size=10, random_state=0)
    scores = evaluator.evaluate({"wrong": model, "right": model.estimator}, stream).scores
    assert scores["wrong"]["accuracy"] < scores["right"]["accuracy"]


@pytest.mark.parametrize("n_classes", [1, 2, 3])
def test_probabilities_are_as_wrong_as_the_labels(n_classes, rng):
    """They are the inner model's, but that those of the old and the new answer are exchanged."""
    X, y = rng.normal(size=(200, 2)), np.array(["a", "b", "c"])[np.arange(200) % n_classes]
    model = LabelNoise(IncrementalGaussianNB(), noise=0.4, random_state=0).fit(X, y)
    inner, shares = model.estimator_.predict_proba(X), model.predict_proba(X)
    assert model.classes_[shares.argmax(axis=1)].tolist() == model.predict(X).tolist()
    replaced = model.predict(X) != model.estimator_.predict(X)
    assert replaced.mean() == pytest.approx(0.4 if n_classes > 1 else 0.0, abs=0.1)
    np.testing.assert_array_equal(shares[~replaced], inner[~replaced])
    np.testing.assert_array_equal(np.sort(shares, axis=1), np.sort(inner, axis=1))
    assert (shares != inner)[replaced].sum(axis=1).tolist() == [2] * replaced.sum()
    assert not hasattr(LabelNoise(SGD), "predict_proba")


@pytest.mark.parametrize("n_classes", [2, 3])
def test_the_kernel_gives_the_probabilities_of_the_loop(n_classes):
    rng = np.random.default_rng(1)
    X, y = rng.normal(size=(90, 2)), rng.integers(0, n_classes, 90)
    models = {
        "bayes": LabelNoise(IncrementalGaussianNB(), noise=0.4, random_state=0),
        "looped inside": LabelNoise(
            make_stream_pipeline(StandardScaler(), Rising()), noise=0.4, random_state=0
        ),
    }
    results = both_ways(PrequentialEvaluator("log_loss", random_state=0), models, X, y)
    assert results[0].paths["bayes"] == "kernel" and "loop" in results[0].paths["looped inside"]
    for name in models:
        np.testing.assert_array_equal(*(result.tape.answers[name] for result in results))
        scores = [result.tape.scores[name] for result in results]
        np.testing.assert_allclose(*scores, rtol=1e-9, atol=1e-12)


class Rising(ClassifierMixin, BaseEstimator):
    """A model without a kernel: its probabilities rise with the first column."""

    def partial_fit(self, X, y, classes=None):
        if classes is not None:
            self.classes_ = np.asarray(classes)
        return self

    def predict_proba(self, X):
        shares = np.exp(np.outer(X[:, 0], np.arange(len(self.classes_))))
        return shares / shares.sum(axis=1, keepdims=True)

    def predict(self, X):
        return self.classes_[self.predict_proba(X).argmax(axis=1)]
