"""The checks, run one after another, and what they have found."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal

from numpy.typing import ArrayLike

from skstream.base import check_can_learn
from skstream.testing._checks import (
    CUTS_CHECK,
    LABEL_CHECKS,
    MODEL_CHECKS,
    Check,
    Data,
    NotApplicable,
    memory_check,
    name_of,
)
from skstream.utils._choices import check_choice
from skstream.utils._seeds import seed_estimator
from skstream.utils._validation import is_classifier, is_regressor, unfitted_copy

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
    >>> from skstream.testing._stream_estimator import CheckResult
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

    - predictions before anything was learnt raise `NotFittedError`;
    - predicting changes nothing, to any depth (`check_estimator` compares shallow copies);
    - the order of the questions does not matter, only that of the labels learnt: rows asked
      together, alone or in another order get the same answers. If the answer of a model to one
      row of a call depends on its answer to the row before, only the first answer of each call
      is checked;
    - pickled and unpickled in the middle of a stream, it continues as if nothing had happened;
    - a class that appears late, between two others in the order of labels, is learnt and
      predicted;
    - answers are labels of the type learnt, in every type;
    - class probabilities are finite, non-negative and sum to 1, with a column per class;
    - memory does not grow with the rows learnt;
    - ``fit`` forgets what was learnt before, and ``partial_fit`` after ``fit`` does not;
    - classes missing at the first ``partial_fit``, labels that are not among them and rows of
      another width raise a ValueError;
    - with ``batch_split=True``, dividing rows into several calls of ``partial_fit`` changes
      nothing.

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
        Whether the estimator promises that ``partial_fit`` of some rows, then of others, is
        ``partial_fit`` of all of them.
    n_learns : int, default=10_000
        Rows learnt while memory is watched. A model that keeps a window of rows must have
        filled it after half of them.
    on_fail : {"raise"} or None, default="raise"
        Whether the first check that fails raises an error, or all are run and reported.
    expected_failed_checks : mapping of str to str, default=None
        Reasons by the name of a check, as `CheckResult.name` says it: it may fail.

    Returns
    -------
    report : CheckReport
        Every check, in words, and whether it passed. With ``on_fail="raise"`` none has failed, but
        for those expected to.

    Raises
    ------
    AssertionError
        If a check fails. The message names the check and says what was found.
    ValueError
        If `on_fail` is something else, or there is no check of a name in
        `expected_failed_checks`.
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
        raise TypeError(f"Pass an instance, {estimator.__name__}(), and not the class itself.")
    check_can_learn(estimator)
    missing = [name for name in ("fit", "get_params") if not hasattr(estimator, name)]
    if missing:
        raise TypeError(
            f"{type(estimator).__name__} has no {', '.join(missing)}. Evaluators and pipelines can "
            "do without, these checks cannot: derive it from sklearn.base.BaseEstimator."
        )
    if not (is_classifier(estimator) or is_regressor(estimator)):
        raise TypeError(
            f"{type(estimator).__name__} is neither a classifier nor a regressor, and these checks "
            "are for those. Put a transformer into a pipeline before one: "
            "make_stream_pipeline(transformer, classifier)."
        )
    model = seed_estimator(unfitted_copy(estimator), 0)
    data = Data.of(model, X, y)
    checks = MODEL_CHECKS | ({} if is_regressor(model) else LABEL_CHECKS)
    checks |= (CUTS_CHECK if batch_split else {}) | memory_check(n_learns)
    expected = dict(expected_failed_checks or {})
    known = [*map(name_of, checks.values())]
    unknown = sorted(set(expected) - set(known))
    if unknown:
        raise ValueError(f"There is no check {unknown[0]!r} here. The checks are {known}.")
    results = [
        CheckResult(name_of(check), words, *_found(check, model, data, expected, on_fail))
        for words, check in checks.items()
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
