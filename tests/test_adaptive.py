"""DriftReset against its definition, written out."""

import pickle
from itertools import pairwise
from typing import Any

import joblib
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import sparse
from sklearn.base import BaseEstimator, ClassifierMixin, clone
from sklearn.linear_model import SGDClassifier
from sklearn.naive_bayes import MultinomialNB

from skstream import DriftReset, MajorityClass, PrequentialEvaluator
from skstream.drift import DDM, PageHinkley, RandomAlarm
from skstream.utils._seeds import derive_seed
from tests._examples import examples

CLASSES = np.array(["a", "b", "c"])


class Scripted(ClassifierMixin, BaseEstimator):
    """Answers the label learnt most often among the last three; it writes down every lesson."""

    def partial_fit(self, X, y, classes=None, sample_weight=None):
        if classes is not None:
            assert not hasattr(self, "lessons_")
            self.classes_, self.lessons_ = np.asarray(classes), []
        weight = np.ones(len(y)) if sample_weight is None else sample_weight
        self.lessons_ += list(zip(X[:, 0].tolist(), list(y), weight.tolist(), strict=True))
        X[:] = np.nan  # what it is given is its own
        return self

    def predict(self, X):
        answers = np.repeat(answer(self.lessons_), len(X))
        X[:] = np.nan
        return answers


def answer(lessons: list[Any]) -> Any:
    sums = [sum(w for _, label, w in lessons[-3:] if label == c) for c in CLASSES]
    return CLASSES[int(np.argmax(sums))]


class Literal:
    """The definition, which keeps the rows since the warning began."""

    def __init__(self, detector: Any, warm_up: int):
        self.detector, self.warm_up = detector, warm_up
        self.lessons: list[Any] = []
        self.zone: list[Any] = []
        self.n_since = self.n_resets = 0

    def learn(self, *lesson: Any) -> None:
        if lesson[2] == 0:
            return
        alarm = warning = False
        if self.lessons and self.n_since >= self.warm_up:
            self.detector.update(answer(self.lessons) != lesson[1])
            alarm, warning = self.detector.drift_detected, self.detector.warning_detected
        self.zone = [*self.zone, lesson] if alarm or warning else []
        if alarm:
            self.lessons, self.zone = self.zone, []
            self.n_since = 0
            self.n_resets += 1
        else:
            self.lessons.append(lesson)
            self.n_since += 1


# They raise alarms and warnings again and again.
DETECTORS = {
    "DDM": DDM(min_values=3, warning_level=0.3, drift_level=1.5),
    "Page-Hinkley": PageHinkley(threshold=0.7),
    "random": RandomAlarm(0.1, warm_up=2, random_state=1),
}


def rows(seed: int, n: int) -> tuple[Any, Any, Any]:
    rng = np.random.default_rng(seed)
    truth = CLASSES[np.arange(n) // 40 % 3]
    y = np.where(rng.random(n) < 0.8, truth, rng.choice(CLASSES, n))
    weight = rng.choice([0.0, 0.5, 1.0, 2.0], n, p=[0.1, 0.1, 0.7, 0.1])
    weight[0] = 1.0
    return np.arange(n, dtype=float).reshape(-1, 1), y, weight


@given(
    seed=st.integers(0, 1000),
    detector=st.sampled_from([*DETECTORS]),
    warm_up=st.sampled_from([0, 1, 7]),
)
@examples(5)
def test_it_is_the_definition(seed: int, detector: str, warm_up: int) -> None:
    X, y, weight = rows(seed, 150)
    model = DriftReset(Scripted(), detector=DETECTORS[detector], warm_up=warm_up)
    literal = Literal(clone(DETECTORS[detector]), warm_up)
    for t in range(150):
        model.partial_fit(X[[t]], y[[t]], classes=CLASSES, sample_weight=weight[[t]])
        literal.learn(float(t), y[t], weight[t])
        assert model.predict([[0.0]]) == answer(literal.lessons)
        zone = model.background_estimator_
        assert ([] if zone is None else zone.lessons_) == literal.zone
    assert model.estimator_.lessons_ == literal.lessons
    assert model.n_resets_ == literal.n_resets == model.detector_.n_detections
    assert model.n_rows_since_reset_ == literal.n_since


class LiteralCalls(Literal):
    """The definition for calls of many rows, of which an alarm makes two."""

    def call(self, lessons: list[Any]) -> None:
        if not self.lessons:
            self.lessons, self.n_since = lessons, len(lessons)
            return
        said, n = answer(self.lessons), self.n_since
        zone = self.zone
        for i, lesson in enumerate(lessons):
            alarm = warning = False
            if n + i >= self.warm_up:
                self.detector.update(said != lesson[1])
                alarm, warning = self.detector.drift_detected, self.detector.warning_detected
            zone = [*zone, lesson] if alarm or warning else []
            if alarm:
                self.lessons, self.zone, self.n_since = zone, [], 0
                self.n_resets += 1
                if lessons[i + 1 :]:
                    self.call(lessons[i + 1 :])
                return
        self.lessons, self.zone, self.n_since = self.lessons + lessons, zone, n + len(lessons)


@given(seed=st.integers(0, 1000), detector=st.sampled_from([*DETECTORS]))
@examples(5)
def test_calls_of_many_rows(seed: int, detector: str) -> None:
    X, y, _ = rows(seed, 150)
    rng = np.random.default_rng(seed)
    bounds = np.r_[0, np.sort(rng.choice(np.arange(1, 150), 12, replace=False)), 150]
    model = DriftReset(Scripted(), detector=DETECTORS[detector], warm_up=4)
    literal = LiteralCalls(clone(DETECTORS[detector]), 4)
    kept = X.copy()
    for begin, end in pairwise(bounds):
        piece = slice(begin, end)
        model.partial_fit(X[piece], y[piece], classes=CLASSES)
        literal.call([(float(t), y[t], 1.0) for t in range(begin, end)])
        assert model.estimator_.lessons_ == literal.lessons
        zone = model.background_estimator_
        assert ([] if zone is None else zone.lessons_) == literal.zone
    assert (model.n_resets_, model.n_rows_since_reset_) == (literal.n_resets, literal.n_since)
    np.testing.assert_array_equal(X, kept)


@pytest.mark.parametrize("kind", ["csr", "csc", "pandas", "texts"])
def test_containers(kind: str, rng: np.random.Generator) -> None:
    X, y = rng.integers(0, 3, size=(60, 3)), rng.integers(0, 2, 60)
    inner: Any = MajorityClass() if kind == "texts" else MultinomialNB()
    if kind == "pandas":
        given_rows: Any = pytest.importorskip("pandas").DataFrame(X, columns=["u", "v", "w"])
    elif kind == "texts":
        given_rows = np.array([str(row) for row in X])
    else:
        given_rows = {"csr": sparse.csr_array, "csc": sparse.csc_array}[kind](X)
    model = DriftReset(inner, detector=RandomAlarm(0.2, warm_up=0, random_state=0), warm_up=2)
    models = [clone(model).fit(some, y) for some in (given_rows, X)]
    for _ in range(2):
        models[0].partial_fit(given_rows, y)
        models[1].partial_fit(X, y)
    assert models[0].n_resets_ == models[1].n_resets_ > 3
    np.testing.assert_array_equal(models[0].predict(given_rows), models[1].predict(X))


def test_pickled_in_a_warning_it_goes_on() -> None:
    X, y, _ = rows(3, 150)
    model = DriftReset(MajorityClass(), detector=DETECTORS["DDM"], warm_up=1)
    copies = []
    for t in range(150):
        for one in [model, *copies]:
            one.partial_fit(X[[t]], y[[t]], classes=CLASSES)
        if model.background_estimator_ is not None and len(copies) < 2:
            copies.append(pickle.loads(pickle.dumps(model)))
    assert len(copies) == 2 and model.n_resets_ > 1
    assert len({joblib.hash(one) for one in [model, *copies]}) == 1


def test_an_evaluator_sets_the_seeds_inside() -> None:
    X, y, _ = rows(0, 60)
    model = DriftReset(SGDClassifier(), detector=RandomAlarm(0.2, warm_up=0), warm_up=0)
    evaluator = PrequentialEvaluator("accuracy", random_state=0)
    one, again = (
        evaluator.evaluate({"m": model}, X, y, return_models=True).models["m"] for _ in range(2)
    )
    seeds = [one.estimator.random_state, one.detector.random_state]
    assert one.estimator_.random_state == seeds[0] and one.detector_.random_state == seeds[1]
    assert len(set(seeds)) == 2 and all(seed != derive_seed(0) for seed in seeds)
    assert one.n_resets_ == again.n_resets_ > 3
    assert model.estimator.random_state is None


def test_the_detector_given_is_not_used() -> None:
    X, y, _ = rows(0, 60)
    detector = DDM(min_values=3)
    detector.update_many(np.ones(20))
    before = joblib.hash(detector)
    model = DriftReset(MajorityClass(), detector=detector, warm_up=0).fit(X[:1], y[:1])
    assert joblib.hash(detector) == before and model.detector_._state is None
    assert isinstance(DriftReset(MajorityClass()).fit(X, y).detector_, DDM)


def test_parameters_reach_the_models_inside() -> None:
    X, y, _ = rows(3, 150)
    model = DriftReset(SGDClassifier(), detector=DETECTORS["DDM"], warm_up=1)
    for t in range(150):
        model.partial_fit(X[[t]], y[[t]], classes=CLASSES)
        if model.background_estimator_ is not None:
            break
    model.set_params(estimator__alpha=0.5)
    assert model.estimator_.alpha == model.background_estimator_.alpha == 0.5


@pytest.mark.parametrize(
    ("parameters", "error"),
    [
        ({"detector": DDM}, "detector is the class DDM, not an instance; pass DDM"),
        ({"detector": "DDM"}, "'detector' parameter of DriftReset must be"),
        ({"warm_up": -1}, "'warm_up' parameter of DriftReset must be an int"),
    ],
)
def test_wrong_parameters(parameters: dict[str, Any], error: str) -> None:
    with pytest.raises((TypeError, ValueError), match=error):
        DriftReset(MajorityClass(), **parameters).fit([[0.0], [1.0]], [0, 1])


def test_parameters_of_a_detector_that_was_not_given():
    model = DriftReset(MultinomialNB())
    with pytest.raises(ValueError, match=r"detector__drift_level cannot be set.*detector=DDM\(\)"):
        model.set_params(detector__drift_level=2.5)
    model.set_params(detector=DDM(), detector__drift_level=2.5)
    assert clone(model).get_params()["detector__drift_level"] == 2.5
