"""The public checks pass sound estimators and catch one fault each."""

from typing import Any

import numpy as np
import pytest
from sklearn.base import BaseEstimator, ClassifierMixin, RegressorMixin
from sklearn.feature_extraction.text import HashingVectorizer
from sklearn.linear_model import LogisticRegression, Perceptron, SGDClassifier, SGDRegressor
from sklearn.naive_bayes import MultinomialNB
from sklearn.neural_network import MLPClassifier
from sklearn.utils.multiclass import unique_labels
from sklearn.utils.validation import check_is_fitted, validate_data

from skstream.pipeline import make_stream_pipeline
from skstream.testing import check_stream_estimator


class Centroids(ClassifierMixin, BaseEstimator):
    """The class whose mean is nearest: as simple and as sound as can be."""

    def fit(self, X, y):
        for name in [name for name in vars(self) if name.endswith("_")]:
            delattr(self, name)
        return self.partial_fit(X, y, classes=np.unique(y))

    def partial_fit(self, X, y, classes=None):
        first = not hasattr(self, "classes_")
        X, y = validate_data(self, X, y, reset=first)
        if first:
            if classes is None:
                raise ValueError("classes must be passed on the first call to partial_fit.")
            self.classes_ = unique_labels(classes)
            self.sums_ = np.zeros((len(self.classes_), X.shape[1]))
            self.counts_ = np.zeros(len(self.classes_))
        self._learn(X, self._codes(y))
        return self

    def _codes(self, y):
        if not np.isin(y, self.classes_).all():
            raise ValueError("unseen label")
        return np.searchsorted(self.classes_, y)

    def _learn(self, X, codes):
        for row, code in zip(X, codes, strict=True):
            self.sums_[code] += row
            self.counts_[code] += 1

    def predict_proba(self, X):
        check_is_fitted(self)
        X = validate_data(self, X, reset=False)
        means = self.sums_ / np.maximum(self.counts_, 1)[:, np.newaxis]
        distance = ((X[:, np.newaxis] - means) ** 2).sum(axis=2)
        weight = np.exp(-10 * distance) * (self.counts_ > 0)
        return weight / weight.sum(axis=1, keepdims=True)

    def predict(self, X):
        best = self.predict_proba(X).argmax(axis=1)
        return self.classes_[best]


class Mean(RegressorMixin, BaseEstimator):
    """The mean of the targets learnt."""

    def fit(self, X, y):
        self.sum_ = self.count_ = 0.0
        return self.partial_fit(X, y)

    def partial_fit(self, X, y):
        X, y = validate_data(self, X, y, reset=not hasattr(self, "n_features_in_"), y_numeric=True)
        self.sum_ = getattr(self, "sum_", 0.0) + float(y.sum())
        self.count_ = getattr(self, "count_", 0.0) + len(y)
        return self

    def predict(self, X):
        check_is_fitted(self)
        return np.full(len(validate_data(self, X, reset=False)), self.sum_ / self.count_)


def check(estimator: Any, **options: Any) -> None:
    check_stream_estimator(estimator, n_learns=1000, **options)


@pytest.mark.parametrize(
    ("estimator", "batch_split"),
    [
        (Centroids(), True),
        (Mean(), True),
        (SGDClassifier(), False),
        (SGDRegressor(), False),
        (Perceptron(), False),
    ],
    ids=repr,
)
def test_sound_estimators_pass(estimator, batch_split) -> None:
    check(estimator, batch_split=batch_split)


class RemembersQuestions(Centroids):
    """Its depth hides from a shallow copy."""

    def _learn(self, X, codes):
        super()._learn(X, codes)
        self.log_ = getattr(self, "log_", {"asked": []})

    def predict(self, X):
        check_is_fitted(self)
        self.log_["asked"].append(len(X))
        return super().predict(X)


class GoesByItsOwnAnswers(Centroids):
    """A row after one answered with the first class gets the first class."""

    def predict(self, X):
        labels = super().predict(X)
        for row in range(1, len(labels)):
            if labels[row - 1] == self.classes_[0]:
                labels[row] = self.classes_[0]
        return labels

    def predict_proba(self, X):
        return super().predict_proba(X)


class DeclaresIt(GoesByItsOwnAnswers):
    _asks_row_by_row = True


class StandardisesTheQuestion(Centroids):
    """Rows of one call decide one another's answers."""

    def predict_proba(self, X):
        check_is_fitted(self)
        return super().predict_proba(np.asarray(X) - np.mean(X, axis=0) + 0.5)


class LosesItsStateInAPickle(Centroids):
    def __getstate__(self):
        state = super().__getstate__()
        return {**state, "sums_": state["sums_"] / 2} if "sums_" in state else state


class FitDoesNotForget(Centroids):
    def fit(self, X, y):
        return self.partial_fit(X, y, classes=np.unique(y))


class PartialFitRestarts(Centroids):
    def fit(self, X, y):
        super().fit(X, y)
        self.was_fitted_ = True
        return self

    def partial_fit(self, X, y, classes=None):
        if hasattr(self, "was_fitted_"):
            del self.was_fitted_
            self.sums_[:] = 0
            self.counts_[:] = 0
        return super().partial_fit(X, y, classes)


class PartialFitForgetsTheClasses(Centroids):
    def partial_fit(self, X, y, classes=None):
        if classes is None and len(y) < 30 and hasattr(self, "was_fitted_"):
            raise ValueError("classes must be passed")
        return super().partial_fit(X, y, classes)

    def fit(self, X, y):
        super().fit(X, y)
        self.was_fitted_ = True
        return self


class MixesUpALateClass(Centroids):
    """Codes are given in the order of arrival, but read as positions in `classes_`."""

    def _codes(self, y):
        super()._codes(y)
        order = getattr(self, "order_", [])
        order += [label for label in dict.fromkeys(y.tolist()) if label not in order]
        self.order_ = order
        return np.array([order.index(label) for label in y.tolist()])


class LeavesOutAbsentClasses(Centroids):
    def predict_proba(self, X):
        P = super().predict_proba(X)
        return P[:, self.counts_ > 0]

    def predict(self, X):
        best = Centroids.predict_proba(self, X).argmax(axis=1)
        return self.classes_[best]


class AnswersWithCodes(Centroids):
    def predict(self, X):
        return self.predict_proba(X).argmax(axis=1)


class AnswersWithFloats(Centroids):
    def predict(self, X):
        labels = super().predict(X)
        return labels.astype(float) if labels.dtype.kind in "iu" else labels


class DoesNotNormalise(Centroids):
    def predict_proba(self, X):
        return 0.5 * super().predict_proba(X)


class KeepsEveryCall(Centroids):
    def _learn(self, X, codes):
        super()._learn(X, codes)
        self.history_ = [*getattr(self, "history_", []), float(X[0, 0])]


class GuessesUnfitted(Centroids):
    def predict(self, X):
        return super().predict(X) if hasattr(self, "classes_") else np.zeros(len(X))


class CrashesUnfitted(Centroids):
    def predict_proba(self, X):
        return np.asarray(X) @ self.sums_.T


class TakesClassesFromTheFirstRows(Centroids):
    def partial_fit(self, X, y, classes=None):
        first = not hasattr(self, "classes_")
        return super().partial_fit(X, y, np.unique(y) if first and classes is None else classes)


class TakesUnseenLabels(Centroids):
    def _codes(self, y):
        return np.searchsorted(self.classes_, y) % len(self.classes_)


class TakesAnyWidth(Centroids):
    def predict_proba(self, X):
        check_is_fitted(self)
        X = np.asarray(X)
        wide = np.zeros((len(X), self.n_features_in_))
        wide[:, : X.shape[1]] = X
        return super().predict_proba(wide)


class SeesOnlyTheLastRowOfACall(Centroids):
    def _learn(self, X, codes):
        super()._learn(X[-1:], codes[-1:])


FAULTS = {
    RemembersQuestions: "predict changes the estimator",
    GoesByItsOwnAnswers: "predict predicts rows together differently than alone",
    StandardisesTheQuestion: "predicts rows together differently than alone",
    LosesItsStateInAPickle: "after pickling",
    FitDoesNotForget: "still depends on the first",
    PartialFitRestarts: "starts over",
    PartialFitForgetsTheClasses: "has forgotten the classes",
    MixesUpALateClass: "appeared late",
    LeavesOutAbsentClasses: "has 2 columns for 3 classes",
    AnswersWithCodes: "only 0 of 20 of these rows",
    AnswersWithFloats: "predict returns float, but the labels are int",
    DoesNotNormalise: "does not sum to 1",
    KeepsEveryCall: "memory grows",
    GuessesUnfitted: "predicts before any training",
    CrashesUnfitted: "raises AttributeError .* instead of NotFittedError",
    TakesClassesFromTheFirstRows: "a first call without classes is accepted",
    TakesUnseenLabels: "a label not among the classes is accepted",
    TakesAnyWidth: "a row to predict too narrow is accepted",
    SeesOnlyTheLastRowOfACall: "batch_split=True promises",
}


@pytest.mark.parametrize("broken", FAULTS, ids=lambda broken: broken.__name__)
def test_a_fault_is_caught_and_named(broken) -> None:
    with pytest.raises(AssertionError, match=FAULTS[broken]) as caught:
        check(broken(), batch_split=broken is SeesOnlyTheLastRowOfACall)
    assert str(caught.value).startswith(f"{broken.__name__}: ")


def test_a_model_may_say_that_it_goes_by_its_own_answers() -> None:
    check(DeclaresIt())


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
def test_faults_of_scikit_learn_are_seen() -> None:
    with pytest.raises(AssertionError, match="a label not among the classes"):
        check(MultinomialNB())
    with pytest.raises(AssertionError, match="memory grows"):
        check(MLPClassifier(hidden_layer_sizes=(2,)))


def test_own_rows_may_be_of_another_kind() -> None:
    words = np.array(["up and up", "down we go", "nothing new"])
    y = np.tile(["a", "b", "c"], 30)
    X = np.tile(words, 30)
    model = make_stream_pipeline(HashingVectorizer(n_features=32), SGDClassifier(loss="log_loss"))
    check(model, X=X, y=y)
    check(model, X=X.tolist(), y=y.tolist())


def test_sparse_rows(rng: np.random.Generator) -> None:
    sparse = pytest.importorskip("scipy.sparse")
    check(SGDClassifier(), X=sparse.csr_array(rng.random((60, 3))), y=np.arange(60) % 3)


def test_bad_input() -> None:
    with pytest.raises(ValueError, match="at least 60 rows"):
        check_stream_estimator(SGDClassifier(), np.zeros((5, 1)), np.arange(5))
    with pytest.raises(ValueError, match="at least three classes"):
        check_stream_estimator(SGDClassifier(), np.zeros((60, 1)), np.arange(60) % 2)
    with pytest.raises(TypeError, match=r"no partial_fit\. Use a model with partial_fit"):
        check_stream_estimator(LogisticRegression())


def test_the_report_lists_every_check() -> None:
    report = check_stream_estimator(KeepsEveryCall(), n_learns=2000, on_fail=None)
    assert not report.passed and "check_memory_is_flat: memory grows" in str(report)
    assert [result.name for result in report.failed] == ["check_memory_is_flat"]
    expected = {"check_memory_is_flat": "the losses of all calls are kept"}
    report = check_stream_estimator(
        KeepsEveryCall(), n_learns=2000, expected_failed_checks=expected
    )
    assert report.passed and report.results[-1].status == "xfail"
    assert "the losses of all calls are kept (memory grows" in report.results[-1].reason
    names = [result.name for result in report.results]
    assert len(set(names)) == len(names) == 12 and all(r.words for r in report.results)


class Breaks(Centroids):
    def predict_proba(self, X):
        check_is_fitted(self)
        raise ArithmeticError("no luck")


def test_the_report_goes_on_after_an_error() -> None:
    report = check_stream_estimator(Breaks(), n_learns=20, on_fail=None)
    reasons = {result.reason for result in report.failed}
    assert "it raises ArithmeticError: no luck" in reasons
    statuses = {result.name: result.status for result in report.results}
    assert statuses["check_bad_labels_are_refused"] == "passed"
    with pytest.raises(ArithmeticError):
        check(Breaks())


def test_the_report_says_what_does_not_apply() -> None:
    report = check_stream_estimator(SGDClassifier(), n_learns=20)
    (skipped,) = [result for result in report.results if result.status == "skipped"]
    assert skipped.reason == "it has no predict_proba" and report.passed
    regressor = check_stream_estimator(Mean(), n_learns=20, batch_split=True)
    assert len(regressor.results) == 9 and "9 passed" in repr(regressor)


def test_bad_options_of_the_report() -> None:
    with pytest.raises(ValueError, match=r"on_fail must be 'raise' or None\. Got True"):
        check_stream_estimator(Mean(), on_fail=True)
    with pytest.raises(ValueError, match=r"no check 'check_nothing'\. The checks are"):
        check_stream_estimator(Mean(), expected_failed_checks={"check_nothing": "why"})
