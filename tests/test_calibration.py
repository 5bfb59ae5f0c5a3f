"""PrequentialCalibrator against its definition, scikit-learn's fits and what it is for."""

import pickle
from typing import Any

import joblib
import numpy as np
import pytest
from scipy.optimize import minimize
from scipy.special import expit, log_expit, softmax
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.calibration import CalibratedClassifierCV
from sklearn.frozen import FrozenEstimator
from sklearn.isotonic import IsotonicRegression
from sklearn.linear_model import SGDClassifier

import skstream as sk
from skstream.calibration import METHODS, fit_calibration
from skstream.naive_bayes import IncrementalGaussianNB
from tests.kernels._reference import both_ways

CLASSES = np.array(["a", "b", "c"])


class Scores(ClassifierMixin, BaseEstimator):
    """Its probabilities are the row, sharpened by the number of rows learnt."""

    def partial_fit(self, X, y, classes=None, sample_weight=None):
        if classes is not None:
            self.classes_, self.learnt_ = np.asarray(classes), 0
        self.learnt_ += len(y)
        X[:] = np.nan  # what it is given is its own
        return self

    def predict(self, X):
        return self.classes_[self.predict_proba(X).argmax(axis=1)]

    def predict_proba(self, X):
        return proba(X, self.learnt_)


def proba(X: Any, n_learnt: int) -> Any:
    return softmax(np.asarray(X) * (1.0 + 1.0 / n_learnt), axis=1)


def rows(n: int, n_classes: int = 2, seed: int = 0) -> tuple[Any, Any, Any]:
    """Logits three times too large, labels drawn from the true ones, weights with zeros."""
    rng = np.random.default_rng(seed)
    logits = rng.normal(size=(n, n_classes))
    cumulated = softmax(logits, axis=1).cumsum(axis=1)
    y = CLASSES[(rng.random((n, 1)) > cumulated[:, :-1]).sum(axis=1)]
    weight = rng.choice([0.0, 0.5, 1.0, 2.0], n)
    weight[0] = 1.0
    return 3.0 * logits, y, weight


def log_odds(p: Any) -> Any:
    return np.log(p) - np.log(1.0 - p)


@pytest.mark.parametrize("n_classes", [2, 3])
@pytest.mark.parametrize("forgetting", ["window:20", "fading:0.8", "cumulative"])
def test_it_is_the_definition(n_classes: int, forgetting: str) -> None:
    """The map at row t is fitted to the answers right before each row was learnt."""
    X, y, weight = rows(90, n_classes)
    model = sk.PrequentialCalibrator(Scores(), forgetting=forgetting, every=7)
    classes = CLASSES[:n_classes]
    kept: list[Any] = []
    n_learnt, calibration = 0, None
    for t in range(90):
        model.partial_fit(X[[t]], y[[t]], classes=classes, sample_weight=weight[[t]])
        if weight[t]:
            if n_learnt:
                p = proba(X[[t]], n_learnt)
                score = log_odds(p[:, 1:] if n_classes == 2 else p)
                kept.append((score[0], np.searchsorted(classes, y[t]), weight[t]))
            n_learnt += 1
            if n_learnt % 7 == 0:
                last = kept[-20:] if forgetting == "window:20" else kept
                z, codes, w = (np.array(part) for part in zip(*last, strict=True))
                if forgetting == "fading:0.8":
                    w = w * 0.8 ** np.arange(len(w))[::-1]
                    assert len(model.memory_.weight) == min(len(kept), 31)  # 0.8 ** 31 < 0.001
                    z, codes, w = z[-31:], codes[-31:], w[-31:]
                calibration = fit_calibration("sigmoid", "", z, codes, w, n_classes)
        if t % 5:
            continue
        p = proba(X[:3], n_learnt)
        if calibration is None:
            expected = p
        else:
            z = log_odds(p[:, 1:] if n_classes == 2 else p)
            ones = zip(calibration.maps, z.T, strict=True)
            share = np.column_stack([expit(m[0] * own + m[1]) for m, own in ones])
            both = np.column_stack([1 - share, share])
            expected = both if n_classes == 2 else share / share.sum(axis=1, keepdims=True)
        np.testing.assert_allclose(model.predict_proba(X[:3]), expected, rtol=1e-7)
        assert model.predict(X[:3]).tolist() == classes[expected.argmax(axis=1)].tolist()
    assert model.n_rows_learnt_ == n_learnt == np.count_nonzero(weight) and n_learnt > 60


class Given(ClassifierMixin, BaseEstimator):
    """A fitted model whose decision values are the rows."""

    def __init__(self, n_classes: int = 2):
        self.n_classes = n_classes
        self.classes_ = np.arange(n_classes)

    def fit(self, X, y):
        return self

    def predict(self, X):
        raise AssertionError("only its scores are wanted")

    def decision_function(self, X):
        return X[:, 0] if self.n_classes == 2 else X


def sample(n: int, n_classes: int) -> tuple[Any, Any, Any]:
    X, y, weight = rows(n, n_classes, seed=1)
    scores = X[:, 1:] - X[:, :1] if n_classes == 2 else X
    return scores, np.searchsorted(CLASSES, y), weight


@pytest.mark.parametrize("n_classes", [2, 3])
@pytest.mark.parametrize("method", ["sigmoid", "temperature"])
def test_fits_are_scikit_learns(method: str, n_classes: int) -> None:
    scores, codes, _ = sample(4000, n_classes)
    frozen = FrozenEstimator(Given(n_classes))
    theirs = CalibratedClassifierCV(frozen, method=method).fit(scores, codes)
    (inside,) = theirs.calibrated_classifiers_
    ours = fit_calibration(method, "decision_function", scores, codes, np.ones(4000), n_classes)
    for one, other in zip(ours.maps, inside.calibrators, strict=True):
        assert one is not None
        if method == "temperature":  # theirs does not smooth the targets; of two classes
            beta = other.beta_ * (2 if n_classes == 2 else 1)  # their logits are -z and z
            assert one[0] == pytest.approx(beta, rel=0.01)
        else:
            np.testing.assert_allclose(one, [-other.a_, -other.b_], rtol=1e-3, atol=1e-4)


def test_the_other_fits_are_minima() -> None:
    scores, codes, weight = sample(500, 2)
    z, n = scores[:, 0], [weight[codes == code].sum() for code in (0, 1)]
    target = np.where(codes == 1, (n[1] + 1) / (n[1] + 2), 1 / (n[0] + 2))
    ((beta,), (corners,)) = (
        fit_calibration(method, "decision_function", scores, codes, weight, 2).maps
        for method in ("beta", "isotonic")
    )
    assert beta is not None and corners is not None

    def loss(c: Any) -> float:
        score = c[0] * log_expit(z) - c[1] * log_expit(-z) + c[2]
        return float((weight * (np.logaddexp(0, score) - target * score)).sum())

    found = minimize(loss, [1.0, 1.0, 0.0], method="BFGS", options={"gtol": 1e-6})
    np.testing.assert_allclose(beta, found.x, atol=1e-4)
    theirs = IsotonicRegression().fit(z, target, sample_weight=weight)
    inside = np.linspace(z.min(), z.max(), 50)
    np.testing.assert_allclose(np.interp(inside, *corners), theirs.predict(inside), rtol=1e-12)
    assert 0 < corners[1].min() < corners[1].max() < 1


@pytest.mark.parametrize("method", METHODS)
def test_perfect_scores_give_no_certainty(method: str) -> None:
    """Of separated rows every other fit would go to infinity, and one error cost as much."""
    codes = np.repeat([0, 1], 50)
    z = np.where(codes == 1, 20.0, -20.0)[:, np.newaxis] * np.linspace(1, 2, 100)[:, np.newaxis]
    X = np.column_stack([np.zeros(100), z])
    model = sk.PrequentialCalibrator(Scores(), method=method, every=50).fit(X[::-1], CLASSES[codes])
    model.partial_fit(X, CLASSES[codes])
    shares = model.predict_proba(X)
    assert np.isfinite(shares).all() and shares.min() > 1e-4
    np.testing.assert_allclose(shares.sum(axis=1), 1.0, rtol=1e-12)


def test_scores_that_tell_nothing_and_scores_that_are_none() -> None:
    codes = np.arange(60) % 3 == 0
    z = np.full((60, 1), 2.0)
    z[[5, 17]] = np.nan
    for method in METHODS:
        (one,) = fit_calibration(method, "", z, codes.astype(int), np.ones(60), 2).maps
        assert one is not None and np.isfinite(one).all()
    zero = fit_calibration("sigmoid", "", np.zeros((60, 1)), codes.astype(int), np.ones(60), 2)
    assert zero.maps[0] is not None
    assert expit(zero.maps[0][1]) == pytest.approx((20 * 21 / 22 + 40 / 42) / 60)
    huge = fit_calibration("sigmoid", "", 1e90 * (z - 2 * codes[:, None]), codes, np.ones(60), 2)
    assert huge.maps[0] is not None and np.isfinite(huge.maps[0]).all()


def test_a_class_that_has_not_come_keeps_its_scores() -> None:
    X, y, _ = rows(60, 3)
    few = y != "c"
    model = sk.PrequentialCalibrator(Scores(), every=10)
    model.partial_fit(X[few], y[few], classes=CLASSES)
    assert model.calibration_ is not None
    assert [one is None for one in model.calibration_.maps] == [False, False, True]
    np.testing.assert_allclose(model.predict_proba(X).sum(axis=1), 1.0)
    only = sk.PrequentialCalibrator(Scores(), every=10)
    only.partial_fit(X[y == "b"], y[y == "b"], classes=CLASSES)
    np.testing.assert_array_equal(only.predict_proba(X), only.estimator_.predict_proba(X))


@pytest.mark.parametrize("delay", [1, 9])
def test_no_label_changes_an_earlier_answer(delay: int) -> None:
    X, y, _ = rows(60, 2)
    other = y.copy()
    other[30:] = np.where(other[30:] == "a", "b", "a")
    models = {"m": sk.PrequentialCalibrator(IncrementalGaussianNB(), every=2, method="isotonic")}
    evaluator = sk.DelayedEvaluator(
        "log_loss", delay=delay, random_state=0, polling=sk.Polling(n_bins=1)
    ).set_params(run__keep_tape=True)
    pairs = zip(*(both_ways(evaluator, models, X, labels) for labels in (y, other)), strict=True)
    for pair in pairs:
        first, again = (result.tape.scores["m"][0] for result in pair)
        last = 30 + delay  # asked at its arrival, before the label of row 30 is learnt
        assert first.shape == (60, 3)
        assert not np.array_equal(first[last + 2 :], again[last + 2 :], equal_nan=True)
        np.testing.assert_array_equal(first[: last + 1, 0], again[: last + 1, 0])
        np.testing.assert_array_equal(first[:31], again[:31])


def test_pickled_it_goes_on_and_new_parameters_are_used() -> None:
    X, y, _ = rows(100, 2)
    model = sk.PrequentialCalibrator(Scores(), every=9).fit(X[:50], y[:50])
    copy = pickle.loads(pickle.dumps(model))
    for one in (model, copy):
        one.partial_fit(X[50:], y[50:])
    assert joblib.hash(model) == joblib.hash(copy)
    model.set_params(method="isotonic", forgetting=sk.FadingFactor(0.9), every=4)
    before = model.predict_proba(X)
    model.partial_fit(X[:1], y[:1])
    assert model.calibration_.method == "sigmoid" and len(before)
    model.partial_fit(X[1:5], y[1:5])
    assert model.calibration_.method == "isotonic"
    assert (
        sk.PrequentialCalibrator(SGDClassifier(), forgetting=sk.Cumulative())
        .fit(X, y)
        .predict(X[:1])
    )


@pytest.mark.parametrize(
    ("model", "kind", "error"),
    [
        (sk.PrequentialCalibrator(Scores(), method="platt"), ValueError, "'method' parameter"),
        (sk.PrequentialCalibrator(Scores(), every=0), ValueError, "'every' parameter"),
        (
            sk.PrequentialCalibrator(Scores(), forgetting="windw:3"),
            ValueError,
            "Unknown forgetting",
        ),
        (
            sk.PrequentialCalibrator(Scores(), forgetting=sk.AdaptiveWindow()),
            ValueError,
            "must be a win",
        ),
        (sk.PrequentialCalibrator(object()), TypeError, "partial_fit"),
    ],
)
def test_wrong_parameters(model: Any, kind: type[Exception], error: str) -> None:
    with pytest.raises(kind, match=error):
        model.fit([[0.0, 1.0], [1.0, 0.0]], ["a", "b"])


def test_a_model_without_scores_is_named() -> None:
    class Mute(ClassifierMixin, BaseEstimator):
        def partial_fit(self, X, y, classes=None):
            return self

        def predict(self, X):
            return np.zeros(len(X))

    with pytest.raises(TypeError, match="Mute as set has neither predict_proba nor decision_f"):
        sk.PrequentialCalibrator(Mute()).fit([[0.0], [1.0]], [0, 1])


def test_one_class() -> None:
    X, y = np.ones((30, 2)), np.zeros(30, dtype=int)
    model = sk.PrequentialCalibrator(IncrementalGaussianNB(), every=5).fit(X, y)
    assert model.predict_proba(X[:2]).tolist() == [[1.0], [1.0]]
    result = sk.PrequentialEvaluator("accuracy").evaluate(model, X, y)
    assert next(iter(result.scores.values())) == {"accuracy": 1.0}
