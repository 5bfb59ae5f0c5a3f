"""OnlineBagging and DynamicWeightedMajority against the papers' loops, written out."""

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.linear_model import Perceptron, SGDClassifier
from sklearn.naive_bayes import GaussianNB
from sklearn.neural_network import MLPClassifier
from sklearn.preprocessing import StandardScaler
from sklearn.tree import DecisionTreeClassifier

import skstream as sk
from skstream.drift import ADWIN, PageHinkley
from skstream.utils._seeds import derive_seed, poisson_weights
from tests._examples import examples

CLASSES = np.array(["a", "b", "c"])


class Scripted(ClassifierMixin, BaseEstimator):
    """Answers by what it has learnt so far; it writes down every lesson."""

    def __init__(self, random_state: Any = None):
        self.random_state = random_state

    def partial_fit(self, X, y, classes=None, sample_weight=None):
        if classes is not None:
            self.classes_, self.lessons_ = np.asarray(classes), []
        weight = np.ones(len(y)) if sample_weight is None else sample_weight
        self.lessons_ += list(zip(X[:, 0].tolist(), list(y), weight.tolist(), strict=True))
        return self

    def predict_proba(self, X):
        P = np.ones((len(X), len(self.classes_)))
        for _, label, weight in self.lessons_[-3:]:
            P[:, self.classes_ == label] += weight
        return P / P.sum(axis=1, keepdims=True)

    def predict(self, X):
        return self.classes_[self.predict_proba(X).argmax(axis=1)]


class Voter(Scripted):
    """The same without probabilities."""

    predict_proba = None

    def __getattribute__(self, name):
        if name == "predict_proba":
            raise AttributeError(name)
        return super().__getattribute__(name)

    def predict(self, X):
        return self.classes_[Scripted.predict_proba(self, X).argmax(axis=1)]


class LiteralBag:
    """Online bagging of `Scripted` models, row by row, as the papers have it."""

    def __init__(self, n: int, seed: int, detector: Any, mean: float):
        self.seed, self.detector, self.mean = seed, detector, mean
        self.lessons: list[list[Any]] = [[] for _ in range(n)]
        self.detectors = [None if detector is None else detector() for _ in range(n)]
        self.errors: list[list[float]] = [[] for _ in range(n)]
        self.replaced = [0] * n
        self.row = 0

    def shares(self, member: int) -> np.ndarray:
        P = np.ones(3)
        for _, label, weight in self.lessons[member][-3:]:
            P[CLASSES == label] += weight
        return P / P.sum()

    def probabilities(self) -> np.ndarray:
        return np.mean([self.shares(m) for m in range(len(self.lessons))], axis=0)

    def learn(self, x: float, label: str, weight: float) -> None:
        if weight == 0:
            return
        if self.row and self.detector is not None:
            alarm = False
            for m, detector in enumerate(self.detectors):
                self.errors[m].append(float(CLASSES[self.shares(m).argmax()] != label))
                alarm |= detector.update(self.errors[m][-1]).drift_detected
            if alarm:
                estimates = [
                    getattr(detector, "mean", np.mean(errors))
                    for detector, errors in zip(self.detectors, self.errors, strict=True)
                ]
                worst = int(np.argmax(estimates))
                self.lessons[worst], self.errors[worst] = [], []
                self.detectors[worst] = self.detector()
                self.replaced[worst] += 1
        for m, lessons in enumerate(self.lessons):
            k = poisson_weights(self.seed, m, self.row, self.row + 1, self.mean)[0]
            if not lessons:
                k = max(k, 1)
            if k:
                lessons.append((x, label, k * weight))
        self.row += 1


DETECTORS = {
    "none": None,
    "ADWIN": lambda: ADWIN(delta=0.99, clock=1, min_window=5),
    "Page-Hinkley": lambda: PageHinkley(threshold=0.3),
}


@given(
    seed=st.integers(0, 1000),
    detector=st.sampled_from(list(DETECTORS)),
    model=st.sampled_from([Scripted(), Voter()]),
    mean=st.sampled_from([1, 6.0]),
)
@examples(8)
def test_bagging_is_the_definition(seed: int, detector: str, model: Any, mean: float) -> None:
    rng = np.random.default_rng(seed)
    n, make = int(rng.integers(1, 4)), DETECTORS[detector]
    parameters = {"detector": None if make is None else make(), "mean_weight": mean}
    bag = sk.OnlineBagging(model, n, **parameters, random_state=seed)
    known: dict[str, Any] = {"classes": CLASSES}
    literal = None
    for t in range(40):
        x, weight = float(t), float(rng.choice([0.0, 0.5, 1.0, 2.0], p=[0.1, 0.1, 0.7, 0.1]))
        label = CLASSES[min(t // 15, 2)] if rng.random() < 0.8 else rng.choice(CLASSES)
        weight = weight if t else 1.0
        bag.partial_fit([[x]], [label], sample_weight=[weight], **known)
        known = {}
        literal = literal or LiteralBag(n, bag.seed_, make, mean)
        literal.learn(x, label, weight)
        if isinstance(model, Voter):
            votes = [literal.shares(m).argmax() for m in range(n)]
            expected = np.bincount(votes, minlength=3) / n
        else:
            expected = literal.probabilities()
        np.testing.assert_allclose(bag.predict_proba([[0.0]])[0], expected, rtol=1e-12)
    assert [member.lessons_ for member in bag.estimators_] == literal.lessons
    assert bag.n_replaced_.tolist() == literal.replaced
    assert bag.n_rows_learnt_ == literal.row


class LiteralMajority:
    """The pseudocode of Kolter and Maloof's figure 1, for `Scripted` experts."""

    def __init__(self, beta: float, period: int, threshold: float, most: int | None):
        self.beta, self.period, self.threshold, self.most = beta, period, threshold, most
        self.experts: list[list[Any]] = [[]]
        self.weights = [1.0]
        self.i = 0

    @staticmethod
    def classify(lessons: list[Any]) -> int:
        P = np.ones(3)
        for _, label, weight in lessons[-3:]:
            P[CLASSES == label] += weight
        return int((P / P.sum()).argmax())

    def sums(self) -> np.ndarray:
        sigma = np.zeros(3)
        for lessons, weight in zip(self.experts, self.weights, strict=True):
            sigma[self.classify(lessons)] += weight
        return sigma

    def learn(self, x: float, label: str, weight: float) -> None:
        if weight == 0:
            return
        self.i += 1
        if self.i % self.period == 0 and self.i > 1:
            for j, lessons in enumerate(self.experts):
                if CLASSES[self.classify(lessons)] != label:
                    self.weights[j] *= self.beta
            answer = CLASSES[self.sums().argmax()]
            most = max(self.weights)
            self.weights = [w / most for w in self.weights]
            kept = [j for j, w in enumerate(self.weights) if w >= self.threshold]
            self.experts = [self.experts[j] for j in kept]
            self.weights = [self.weights[j] for j in kept]
            if answer != label:
                if self.most is not None and len(self.experts) == self.most:
                    least = int(np.argmin(self.weights))
                    del self.experts[least], self.weights[least]
                self.experts.append([])
                self.weights.append(1.0)
        for lessons in self.experts:
            lessons.append((x, label, weight))


@given(
    seed=st.integers(0, 1000),
    period=st.sampled_from([1, 2, 7]),
    beta=st.sampled_from([0.5, 0.9, 0.1]),
    most=st.sampled_from([None, 2]),
)
@examples(6)
def test_weighted_majority_is_the_definition(seed, period, beta, most):
    rng = np.random.default_rng(seed)
    model = sk.DynamicWeightedMajority(
        Scripted(), beta=beta, period=period, threshold=0.2, max_estimators=most
    )
    literal = LiteralMajority(beta, period, 0.2, most)
    known: dict[str, Any] = {"classes": CLASSES}
    t = 0
    while t < 40:  # in calls of several rows
        n = min(int(rng.integers(1, 6)), 40 - t)
        x = np.arange(t, t + n).astype(float)
        y = np.where(rng.random(n) < 0.8, CLASSES[min(t // 15, 2)], rng.choice(CLASSES, n))
        weight = rng.choice([0.0, 0.5, 1.0], n, p=[0.1, 0.1, 0.8])
        weight[0] = weight[0] if t else 1.0
        model.partial_fit(x.reshape(-1, 1), y, sample_weight=weight, **known)
        for row in zip(x.tolist(), y.tolist(), weight.tolist(), strict=True):
            literal.learn(*row)
        known, t = {}, t + n
        sums = literal.sums()
        np.testing.assert_allclose(model.predict_proba([[0.0]])[0], sums / sums.sum(), rtol=1e-12)
    assert [member.lessons_ for member in model.estimators_] == literal.experts
    np.testing.assert_allclose(model.weights_, literal.weights, rtol=1e-12)


def test_the_number_of_members_is_limited(rng: np.random.Generator) -> None:
    X, y = rng.normal(size=(25, 2)), rng.integers(0, 2, 25)
    few = sk.DynamicWeightedMajority(sk.Persistent(), period=1, max_estimators=3).fit(X, y)
    many = sk.DynamicWeightedMajority(sk.Persistent(), period=1, max_estimators=None).fit(X, y)
    assert len(few.estimators_) == 3 and few.n_made_ > 5 and len(many.estimators_) > 5
    alone = sk.DynamicWeightedMajority(sk.Persistent(), period=1, max_estimators=1).fit(X, y)
    assert alone.weights_.tolist() == [1.0] and alone.n_made_ > 5


def test_members_have_seeds_of_their_own() -> None:
    X, y = np.random.default_rng(0).random((20, 2)), np.arange(20) % 2
    for given_seed in (None, 3):
        bag = sk.OnlineBagging(MLPClassifier(2, random_state=given_seed), 3, random_state=0)
        bag.fit(X, y)
        seeds = [member.random_state for member in bag.estimators_]
        assert seeds == [
            derive_seed(bag.seed_, "member", member, 0, "random_state") for member in range(3)
        ]
        assert bag.estimator.random_state is given_seed
    again = sk.OnlineBagging(MLPClassifier(2), 3, random_state=0).fit(X, y)
    np.testing.assert_array_equal(again.predict_proba(X), bag.predict_proba(X))


def test_rows_are_repeated_for_members_without_weights() -> None:
    class Counter(ClassifierMixin, BaseEstimator):
        def partial_fit(self, X, y, classes=None):
            self.classes_ = getattr(self, "classes_", classes)
            self.n_ = getattr(self, "n_", 0) + len(y)
            return self

        def predict(self, X):
            return np.repeat(self.classes_[:1], len(X))

    X, y = np.zeros((50, 1)), np.arange(50) % 2
    bag = sk.OnlineBagging(Counter(), 2, random_state=1).fit(X, y)
    drawn = [poisson_weights(bag.seed_, m, 0, 50) for m in range(2)]
    assert [m.n_ for m in bag.estimators_] == [max(w[0], 1) + w[1:].sum() for w in drawn]
    with pytest.raises(ValueError, match="has no sample_weight"):
        sk.OnlineBagging(Counter(), 2, random_state=1).fit(X, y, sample_weight=np.full(50, 0.5))


@pytest.mark.filterwarnings("ignore:divide by zero encountered in log:RuntimeWarning")
def test_a_member_without_finite_probabilities_has_no_say() -> None:
    bag = sk.OnlineBagging(GaussianNB(), 2, random_state=0)
    X, y = np.array([[0.0], [1.0], [3.0], [4.0]]), np.array([0, 0, 1, 1])
    bag.fit(np.tile(X, (5, 1)), np.tile(y, 5))
    bag.estimators_[0].var_[:] = np.nan
    np.testing.assert_array_equal(bag.predict_proba(X), bag.estimators_[1].predict_proba(X))
    bag.estimators_[1].var_[:] = np.nan
    assert (bag.predict_proba(X) == 0.5).all()


def test_a_member_without_an_answer_has_no_vote() -> None:
    class Silent(ClassifierMixin, BaseEstimator):
        def partial_fit(self, X, y, classes=None):
            self.classes_ = classes
            return self

        def predict(self, X):
            return np.array([None if row[0] < 0 else "b" for row in X], dtype=object)

    X, y = np.array([[1.0], [-1.0]]), ["b", "a"]
    for model in (sk.OnlineBagging(Silent(), 2), sk.DynamicWeightedMajority(Silent(), period=1)):
        model.fit(X, y)
        np.testing.assert_array_equal(model.predict_proba(X), [[0.0, 1.0], [0.5, 0.5]])


@pytest.mark.parametrize(
    ("began", "new", "said"),
    [
        (None, {"n_estimators": 3}, "n_estimators=3, but 2 members"),
        (None, {"detector": ADWIN()}, r"detector=ADWIN\(\), but its members began with None"),
        (ADWIN(), {"detector": None}, r"detector=None, but its members began with ADWIN\(\)"),
        (ADWIN(), {"detector__delta": 0.5}, r"detector=ADWIN\(delta=0.5\), but its"),
    ],
)
def test_a_fitted_bag_refuses_other_members_and_detectors(began: Any, new: Any, said: str) -> None:
    X, y = np.random.default_rng(0).random((20, 2)), np.arange(20) % 2
    model = sk.OnlineBagging(SGDClassifier(), 2, detector=began, random_state=0)
    model.fit(X, y).partial_fit(X, y).set_params(**new)
    with pytest.raises(ValueError, match=rf"{said}.*fixed by the first call.*fit"):
        model.partial_fit(X, y)
    evaluator = sk.PrequentialEvaluator("accuracy", random_state=0)
    with pytest.raises(sk.ModelError, match=said):
        evaluator.evaluate({"m": model}, X, y, warm_start=True)
    model.fit(X, y)
    assert len(model.estimators_) == model.n_estimators


@pytest.mark.parametrize(
    ("model", "error"),
    [
        (sk.OnlineBagging(SGDClassifier(), 0), "n_estimators"),
        (sk.OnlineBagging(SGDClassifier(), detector="ADWIN"), "detector"),
        (sk.OnlineBagging(DecisionTreeClassifier()), "no partial_fit"),
        (sk.OnlineBagging(sk.make_stream_pipeline(StandardScaler())), "needs a classifier"),
        (sk.DynamicWeightedMajority(Perceptron(), beta=1.0), "beta"),
        (sk.DynamicWeightedMajority(Perceptron(), period=0), "period"),
        (sk.DynamicWeightedMajority(Perceptron(), threshold=1.0), "threshold"),
        (sk.DynamicWeightedMajority(Perceptron(), max_estimators=0), "max_estimators"),
    ],
    ids=repr,
)
def test_wrong_parameters(model: Any, error: str) -> None:
    with pytest.raises((TypeError, ValueError), match=error):
        model.fit([[0.0], [1.0]], [0, 1])
