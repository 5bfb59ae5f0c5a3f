"""Checks of estimators for streams."""

from __future__ import annotations

import pickle
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import partial, update_wrapper
from itertools import pairwise
from typing import Any, Literal

import joblib
import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.exceptions import NotFittedError

from skstream.base import asks_row_by_row, check_can_learn, learner
from skstream.utils._choices import check_choice
from skstream.utils._labels import as_labels
from skstream.utils._seeds import seed_estimator
from skstream.utils._sklearn import n_rows_of, rows_of
from skstream.utils._validation import is_classifier, is_regressor, unfitted_copy

__all__ = ["check_stream_estimator"]


_QUESTIONS = ("predict", "predict_proba", "decision_function")
# Counters whose pickles grow by one digit are not a leak.
_SLACK_BYTES = 256
_SLACK_SHARE = 0.02
# Calls in which a class that appears late must be learnt.
_PATIENCE = 300


class NotApplicable(Exception):
    """A check asks for something that this estimator, or these rows, do not have."""


@dataclass(frozen=True)
class Data:
    """Rows to learn and to ask about, and the classes (None for regression)."""

    X: Any
    y: NDArray[Any]
    classes: Any

    @classmethod
    def of(cls, model: Any, X: Any, y: ArrayLike | None) -> Data:
        if X is None:
            rng = np.random.default_rng(0)
            # Labels come in runs, as on a stream with temporal dependence.
            signal = np.repeat(rng.random(80), 3)
            X = rng.random((240, 4))
            X[:, 0] = np.clip(signal + rng.normal(scale=0.05, size=240), 0.0, 1.0)
            codes = np.digitize(signal, [0.3, 0.7])
            y = signal if is_regressor(model) else np.array(["down", "same", "up"])[codes]
        labels = as_labels(y)
        n_rows = n_rows_of(X)
        if n_rows != len(labels) or n_rows < 60:
            raise ValueError(
                f"The checks need at least 60 rows and a label for each. "
                f"Got {n_rows} rows and {len(labels)} labels."
            )
        classes = None if is_regressor(model) else np.unique(labels)
        if classes is not None and len(classes) < 3:
            raise ValueError(f"The checks need at least three classes. Got {classes.tolist()}.")
        return cls(X, labels, classes)

    def rows(self, begin: int, end: int) -> tuple[Any, NDArray[Any]]:
        index = np.arange(begin, end) % len(self.y)
        return rows_of(self.X, index), self.y[index]


Check = Callable[[Any, Data], None]


def _taught(model: Any, data: Data, *bounds: int) -> Any:
    """New copy that has learnt consecutive pieces of the data, one call each."""
    model = unfitted_copy(model)
    for begin, end in pairwise(bounds):
        _teach(model, data, begin, end, first=begin == bounds[0])
    return model


def _teach(model: Any, data: Data, begin: int, end: int, *, first: bool = False) -> None:
    learner(model)(*data.rows(begin, end), None, data.classes if first else None)


def _answers(model: Any, X: Any) -> dict[str, NDArray[Any]]:
    return {name: np.asarray(getattr(model, name)(X)) for name in _methods(model)}


def _methods(model: Any) -> list[str]:
    return [name for name in _QUESTIONS if hasattr(model, name)]


def _differing(one: dict[str, NDArray[Any]], other: dict[str, NDArray[Any]]) -> str | None:
    """Name of a method whose answers differ beyond rounding; None if all agree."""
    for name, answer in one.items():
        same = answer.shape == other[name].shape
        if same and answer.dtype.kind == "f":
            same = np.allclose(answer, other[name], rtol=1e-9, atol=1e-9, equal_nan=True)
        elif same:
            same = np.array_equal(answer, other[name])
        if not same:
            return name
    return None


def _check_alike(one: dict[str, NDArray[Any]], other: dict[str, NDArray[Any]], how: str) -> None:
    """Raise an error that says how a method answers, if its answers differ."""
    name = _differing(one, other)
    assert name is None, f"{name} {how}"


def _unfitted_refuses(model: Any, data: Data) -> None:
    """Asked before anything was learnt, it raises NotFittedError."""
    X, _ = data.rows(0, 5)
    for name in _methods(model):
        try:
            getattr(unfitted_copy(model), name)(X)
        except NotFittedError:
            continue
        except Exception as error:
            raise AssertionError(
                f"{name} before any training raises {type(error).__name__} ({error}) instead of "
                "NotFittedError."
            ) from error
        raise AssertionError(f"{name} predicts before any training.")


def _asking_changes_nothing(model: Any, data: Data) -> None:
    """Asking changes nothing, to any depth."""
    model = _taught(model, data, 0, 30)
    X, _ = data.rows(30, 40)
    for name in _methods(model):
        before = joblib.hash(model)
        getattr(model, name)(X)
        assert joblib.hash(model) == before, (
            f"{name} changes the estimator. Prediction must not change any state, at any depth."
        )


def _order_of_questions_does_not_matter(model: Any, data: Data) -> None:
    """Rows asked together, alone or in another order get the same answers."""
    model = _taught(model, data, 0, 30)
    X, _ = data.rows(30, 50)
    alone = [_answers(model, rows_of(X, [row])) for row in range(20)]
    if asks_row_by_row(model):
        together = _answers(model, X)
        first = {n: a[:1] for n, a in together.items()}
        _check_alike(first, alone[0], "predicts the first row of a call differently than alone.")
        return
    one_by_one = {name: np.concatenate([a[name] for a in alone]) for name in alone[0]}
    for index, how in [(np.arange(20), "together"), (np.arange(20)[::-1], "in reverse order")]:
        asked = _answers(model, rows_of(X, index))
        _check_alike(
            {n: a[index] for n, a in one_by_one.items()},
            asked,
            f"predicts rows {how} differently than alone. Only training labels may matter; set "
            "_asks_row_by_row = True on models that use their own predictions.",
        )


def _goes_on_after_pickling(model: Any, data: Data) -> None:
    """Pickled in the middle of a stream, it goes on as before."""
    model = _taught(model, data, 0, 30)
    copy = pickle.loads(pickle.dumps(model))
    X, _ = data.rows(45, 60)
    for begin in (30, 31, 45):
        how = f"predicts differently after pickling, before row {begin}."
        _check_alike(_answers(model, X), _answers(copy, X), how)
        _teach(model, data, begin, begin + 1)
        _teach(copy, data, begin, begin + 1)
    how = "predicts differently after a pickled copy was trained further."
    _check_alike(_answers(model, X), _answers(copy, X), how)


def _fit_forgets(model: Any, data: Data) -> None:
    """Fit forgets what was learnt before."""
    fresh = unfitted_copy(model).fit(*data.rows(30, 60))
    again = unfitted_copy(model).fit(*data.rows(0, 30)).fit(*data.rows(30, 60))
    X, _ = data.rows(0, 60)
    how = "after a second fit still depends on the first."
    _check_alike(_answers(fresh, X), _answers(again, X), how)


def _partial_fit_after_fit_goes_on(model: Any, data: Data) -> None:
    """Partial_fit after fit does not forget."""
    X, _ = data.rows(0, 60)
    fitted = unfitted_copy(model).fit(*data.rows(0, 60))
    try:
        _teach(fitted, data, 60, 70)
    except ValueError as error:
        raise AssertionError(f"partial_fit after fit has forgotten the classes: {error}") from error
    restarted = _taught(model, data, 60, 70)
    # A model of only the last rows (such as `Persistent`) cannot be checked here.
    remembers = _differing(_answers(_taught(model, data, 0, 60, 70), X), _answers(restarted, X))
    assert remembers is None or _differing(_answers(fitted, X), _answers(restarted, X)), (
        "partial_fit after fit starts over: it predicts like a fresh model."
    )


def _late_class_is_learnt(model: Any, data: Data) -> None:
    """A class that appears late is learnt and predicted."""
    late = data.classes.tolist()[1]
    early = np.flatnonzero(data.y != late)
    model = unfitted_copy(model)
    learner(model)(rows_of(data.X, early), data.y[early], None, data.classes)
    if hasattr(model, "predict_proba"):
        columns = np.asarray(model.predict_proba(data.X)).shape[1]
        assert columns == len(data.classes), (
            f"predict_proba has {columns} columns for {len(data.classes)} classes, one of which "
            f"has not appeared."
        )
    own = np.flatnonzero(data.y == late)
    asked = [rows_of(data.X, [row]) for row in own[:20]]
    # The class soon has the newest, the most frequent and the most similar rows. Only slow learners
    # still miss it, so several calls are allowed.
    for calls in range(1, _PATIENCE + 1):
        learner(model)(rows_of(data.X, own), data.y[own], None, None)
        if calls % 5 == 0:
            n_right = sum(model.predict(row)[0] == late for row in asked)
            if n_right > len(asked) / 2:
                break
    assert np.array_equal(model.classes_, data.classes), (
        f"classes_ is {model.classes_.tolist()} after a class appeared late, "
        f"instead of {data.classes.tolist()}."
    )
    assert n_right > len(asked) / 2, (
        f"{late!r} appeared late, in {calls * len(own)} rows in succession, and only {n_right} of "
        f"{len(asked)} of these rows are predicted as such."
    )


def _labels_keep_their_type(model: Any, data: Data) -> None:
    """Answers are labels of the type learnt."""
    codes = np.searchsorted(data.classes, data.y)
    texts = np.array([f"label {code}" for code in range(len(data.classes))])
    for labels in (texts, texts.astype(object), np.arange(len(texts)) - 1, codes % 2 == 1):
        y = labels if labels.dtype == bool else labels[codes]
        relabelled = Data(data.X, y, np.unique(y))
        taught = _taught(model, relabelled, 0, 60)
        answers = np.asarray(taught.predict(data.rows(0, 60)[0]))
        assert np.isin(answers, relabelled.classes).all(), (
            f"predict returns {answers[:3].tolist()}, ... but the labels are "
            f"{relabelled.classes.tolist()}."
        )
        wanted, found = type(relabelled.classes.tolist()[0]), type(answers.tolist()[0])
        assert wanted is found, (
            f"predict returns {found.__name__}, but the labels are {wanted.__name__}."
        )


def _probabilities_are_probabilities(model: Any, data: Data) -> None:
    """Probabilities are finite, not negative and sum to 1, a column for each class."""
    model = _taught(model, data, 0, 30, 31, 60)
    if not hasattr(model, "predict_proba"):
        raise NotApplicable("it has no predict_proba")
    P = np.asarray(model.predict_proba(data.rows(0, 60)[0]))
    assert P.shape == (60, len(data.classes)), f"predict_proba has shape {P.shape}."
    assert np.isfinite(P).all() and (P >= 0).all(), "predict_proba is not finite or negative."
    assert np.allclose(P.sum(axis=1), 1.0), "predict_proba does not sum to 1."


def _bad_labels_are_refused(model: Any, data: Data) -> None:
    """Missing classes at first, and later labels that are not among them, raise a ValueError."""
    X, y = data.rows(0, 30)
    _expect_value_error(
        lambda: unfitted_copy(model).partial_fit(X, y), "a first call without classes"
    )
    taught = _taught(model, data, 0, 30)
    unseen = np.full(30, "never seen" if y.dtype.kind in "OUT" else 12345)
    _expect_value_error(lambda: taught.partial_fit(X, unseen), "a label not among the classes")


def _other_widths_are_refused(model: Any, data: Data) -> None:
    """Rows of another width raise a ValueError."""
    X, y = data.rows(0, 30)
    if not isinstance(X, np.ndarray) or X.ndim != 2 or X.shape[1] < 2:
        raise NotApplicable("the rows are not an array of several columns")
    taught = _taught(model, data, 0, 30)
    _expect_value_error(lambda: taught.partial_fit(X[:, :-1], y), "a training row too narrow")
    _expect_value_error(lambda: taught.predict(X[:, :-1]), "a row to predict too narrow")


def _expect_value_error(action: Callable[[], Any], what: str) -> None:
    try:
        action()
    except ValueError:
        return
    raise AssertionError(f"{what} is accepted. Raise a ValueError instead.")


def _cuts_change_nothing(model: Any, data: Data) -> None:
    """Rows divided into several calls are learnt alike."""
    whole = _taught(model, data, 0, 60)
    X, _ = data.rows(0, 60)
    for bounds in [(0, 30, 60), (0, 1, 2, 30, 59, 60)]:
        how = (
            f"differs between training in calls that end at {bounds[1:]} and training at once, "
            "although batch_split=True promises that they agree."
        )
        _check_alike(_answers(whole, X), _answers(_taught(model, data, *bounds), X), how)


def _memory_is_flat(model: Any, data: Data, n_learns: int) -> None:
    """Memory does not grow with the rows learnt."""
    model, step = unfitted_copy(model), 10
    half = n_learns // 2
    at_half = 0
    for begin in range(0, n_learns, step):
        _teach(model, data, begin, begin + step, first=begin == 0)
        if begin < half <= begin + step:
            at_half = len(pickle.dumps(model))
    at_end = len(pickle.dumps(model))
    assert at_end <= at_half * (1 + _SLACK_SHARE) + _SLACK_BYTES, (
        f"memory grows: {at_half} bytes after {half} rows, {at_end} after {n_learns}. A window "
        f"must be full by half of n_learns={n_learns}."
    )


#: Checks of any model, and of classifiers; what their docstrings say holds where they pass.
MODEL_CHECKS: tuple[Check, ...] = (
    *(_unfitted_refuses, _asking_changes_nothing, _order_of_questions_does_not_matter),
    *(_goes_on_after_pickling, _fit_forgets, _partial_fit_after_fit_goes_on),
    _other_widths_are_refused,
)
LABEL_CHECKS: tuple[Check, ...] = (
    *(_late_class_is_learnt, _labels_keep_their_type),
    *(_probabilities_are_probabilities, _bad_labels_are_refused),
)


def name_of(check: Check) -> str:
    """Name by which a failure is expected."""
    return "check_" + check.__name__.strip("_")


def words_of(check: Check) -> str:
    """What holds where a check passes."""
    words = check.__doc__ or check.__name__
    return f"{words[0].lower()}{words[1:].rstrip('.')}"


Status = Literal["passed", "failed", "xfail", "skipped"]

_SHOWN: dict[Status, str] = {
    "passed": "passed",
    "failed": "FAILED",
    "xfail": "failed as expected",
    "skipped": "left out",
}


@dataclass(frozen=True)
class CheckResult:
    """What one check has found.

    Attributes
    ----------
    name : str
        Name of the check, as `expected_failed_checks` takes it.
    words : str
        What holds where the check passes.
    status : {"passed", "failed", "xfail", "skipped"}
        "xfail": it failed, as was expected; "skipped": it does not apply.
    reason : str
        Why it did not pass; empty where it did.

    Examples
    --------
    >>> from skstream.testing import CheckResult
    >>> print(CheckResult("check_fit_forgets", "fit forgets what was learnt before", "passed"))
    passed: fit forgets what was learnt before
    """

    name: str
    words: str
    status: Status
    reason: str = ""

    def __str__(self) -> str:
        why = f"\n    {self.name}: {self.reason}" if self.reason else ""
        return f"{_SHOWN[self.status]}: {self.words}{why}"


@dataclass(frozen=True, repr=False)
class CheckReport:
    """What all checks of an estimator have found, in words; print it.

    Attributes
    ----------
    estimator : str
        Name of the estimator's type.
    results : tuple of CheckResult
        One for each check, in the order in which they were run.

    Examples
    --------
    >>> from sklearn.linear_model import SGDClassifier
    >>> from skstream.testing import check_stream_estimator
    >>> report = check_stream_estimator(SGDClassifier(), n_learns=1000)
    >>> report.passed, [result.name for result in report.failed]
    (True, [])
    """

    estimator: str
    results: tuple[CheckResult, ...]

    @property
    def passed(self) -> bool:
        """Whether no check failed, but for those expected to."""
        return not self.failed

    @property
    def failed(self) -> tuple[CheckResult, ...]:
        """The checks that failed, and were not expected to."""
        return tuple(result for result in self.results if result.status == "failed")

    def __repr__(self) -> str:
        return "\n".join([f"{self._title()}", *(f"  {result}" for result in self.results)])

    def _title(self) -> str:
        numbers = [
            (sum(result.status == status for result in self.results), shown)
            for status, shown in _SHOWN.items()
        ]
        counts = ", ".join(f"{number} {shown}" for number, shown in numbers if number)
        return f"{self.estimator}: {len(self.results)} checks of an estimator on a stream, {counts}"


def check_stream_estimator(
    estimator: Any,
    X: Any = None,
    y: ArrayLike | None = None,
    *,
    batch_split: bool = False,
    n_learns: int = 10_000,
    on_fail: Literal["raise"] | None = "raise",
    expected_failed_checks: Mapping[str, str] | None = None,
) -> CheckReport:
    """Check that an estimator behaves on a stream; complements `check_estimator`.

    The checks are:

    - predictions before any training raise `NotFittedError`;
    - predicting changes no state, at any depth (`check_estimator` compares shallow copies);
    - the order of predictions does not matter, only that of training: rows predicted together,
      alone or in another order get the same predictions. If a model's prediction for a row depends
      on its prediction for the row before in the call, only the first of each call is checked;
    - pickling and unpickling in the middle of a stream makes no difference;
    - a class that appears late, between two others in the order of labels, is learnt and predicted;
    - predictions have the type of the training labels, for every type;
    - class probabilities are finite, non-negative and sum to 1, with a column per class;
    - memory does not grow with the number of training rows;
    - ``fit`` forgets earlier training, and ``partial_fit`` after ``fit`` does not;
    - missing classes in the first ``partial_fit``, labels that are not among them, and rows with a
      different number of columns raise a ValueError;
    - with ``batch_split=True``, dividing rows into several calls of ``partial_fit`` makes no
      difference.

    Parameters
    ----------
    estimator : estimator
        Classifier or regressor with ``partial_fit``. It is cloned; every `random_state` that is
        None is set on the clones.
    X : {array-like, sparse matrix, dataframe} of shape (n_rows, n_features), default=None
        Rows to use, at least 60. By default, 240 rows of four numbers in [0, 1].
    y : array-like of shape (n_rows,), default=None
        Their labels, from at least three classes, or targets.
    batch_split : bool, default=False
        Whether the estimator promises that ``partial_fit`` on some rows, then on others, equals
        ``partial_fit`` on all of them.
    n_learns : int, default=10_000
        Training rows while memory is watched. A model that keeps a window of rows must have filled
        it after half of them.
    on_fail : {"raise"} or None, default="raise"
        "raise": the first check that fails raises an error. None: all are run and reported.
    expected_failed_checks : mapping of str to str, default=None
        Checks that may fail, by name (`CheckResult.name`), with the reason.

    Returns
    -------
    report : CheckReport
        Every check, in words, and whether it passed. With ``on_fail="raise"``, only expected
        failures can appear.

    Raises
    ------
    AssertionError
        If a check fails. The message names the check and says what was found.
    ValueError
        If `on_fail` is anything else, or there is no check of a name in `expected_failed_checks`.
    TypeError
        If the estimator has no ``partial_fit``, ``fit`` or ``get_params``, is a class, or is
        neither a classifier nor a regressor.

    Notes
    -----
    Some models of scikit-learn fail for good reasons: `MLPClassifier` stores its loss of every call
    without limit, and the discrete naive Bayes models accept an unseen label without an error.

    Examples
    --------
    >>> from sklearn.linear_model import SGDClassifier
    >>> from skstream.testing import check_stream_estimator
    >>> check_stream_estimator(SGDClassifier(), n_learns=1000)
    SGDClassifier: 12 checks of an estimator on a stream, 11 passed, 1 left out
      passed: asked before anything was learnt, it raises NotFittedError
      passed: asking changes nothing, to any depth
      passed: rows asked together, alone or in another order get the same answers
      passed: pickled in the middle of a stream, it goes on as before
      passed: fit forgets what was learnt before
      passed: partial_fit after fit does not forget
      passed: rows of another width raise a ValueError
      passed: a class that appears late is learnt and predicted
      passed: answers are labels of the type learnt
      left out: probabilities are finite, not negative and sum to 1, a column for each class
        check_probabilities_are_probabilities: it has no predict_proba
      passed: missing classes at first, and later labels that are not among them, raise a ValueError
      passed: memory does not grow with the rows learnt

    With ``on_fail=None`` all checks are run, whatever they find.

    >>> from sklearn.naive_bayes import MultinomialNB
    >>> report = check_stream_estimator(MultinomialNB(), n_learns=1000, on_fail=None)
    >>> for result in report.failed:
    ...     print(result.name, result.reason, sep=": ")
    check_bad_labels_are_refused: a label not among the classes is accepted. Raise a ValueError
    instead.
    """
    check_choice(on_fail, "on_fail", ("raise", None))
    if isinstance(estimator, type):
        raise TypeError(f"Pass an instance, {estimator.__name__}(), not the class itself.")
    check_can_learn(estimator)
    missing = [name for name in ("fit", "get_params") if not hasattr(estimator, name)]
    if missing:
        raise TypeError(
            f"{type(estimator).__name__} has no {', '.join(missing)}. Evaluators and pipelines "
            "work without it, but these checks do not: derive it from sklearn.base.BaseEstimator."
        )
    if not (is_classifier(estimator) or is_regressor(estimator)):
        raise TypeError(
            f"{type(estimator).__name__} is neither a classifier nor a regressor, and these checks "
            "need one of them. Put a transformer into a pipeline before one: "
            "make_stream_pipeline(transformer, classifier)."
        )
    model = seed_estimator(unfitted_copy(estimator), 0)
    data = Data.of(model, X, y)
    checks = [*MODEL_CHECKS, *(() if is_regressor(model) else LABEL_CHECKS)]
    checks += [_cuts_change_nothing] if batch_split else []
    checks.append(update_wrapper(partial(_memory_is_flat, n_learns=n_learns), _memory_is_flat))
    expected = dict(expected_failed_checks or {})
    known = [*map(name_of, checks)]
    unknown = sorted(set(expected) - set(known))
    if unknown:
        raise ValueError(f"There is no check {unknown[0]!r}. The checks are {known}.")
    results = [
        CheckResult(name_of(check), words_of(check), *_found(check, model, data, expected, on_fail))
        for check in checks
    ]
    return CheckReport(type(model).__name__, tuple(results))


def _found(
    check: Check, model: Any, data: Data, expected: Mapping[str, str], on_fail: str | None
) -> tuple[Status, str]:
    """Run a check; say what came out and why, or raise what it raises and is not expected."""
    try:
        check(model, data)
    except NotApplicable as why:
        return "skipped", str(why)
    except Exception as failure:
        found = isinstance(failure, AssertionError)
        said = str(failure) if found else f"it raises {type(failure).__name__}: {failure}"
        if name_of(check) in expected:
            return "xfail", f"{expected[name_of(check)]} ({said})"
        if on_fail is None:
            return "failed", said
        if found:
            raise AssertionError(f"{type(model).__name__}: {failure}") from failure
        raise
    return "passed", ""
