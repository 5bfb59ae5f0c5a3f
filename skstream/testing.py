"""Checks that an estimator meets the requirements of evaluation on streams."""

import pickle
from collections.abc import Callable
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import joblib
import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.exceptions import NotFittedError

from skstream.base import asks_row_by_row, check_can_learn, learner
from skstream.utils._labels import as_labels
from skstream.utils._seeds import seed_estimator
from skstream.utils._sklearn import n_rows_of, rows_of
from skstream.utils._validation import is_regressor, unfitted_copy

__all__ = ["check_stream_estimator"]

_QUESTIONS = ("predict", "predict_proba", "decision_function")
# Counters whose pickles grow by one digit are not a leak.
_SLACK_BYTES = 256
_SLACK_SHARE = 0.02
# Calls in which a class that appears late must be learnt.
_PATIENCE = 300


def check_stream_estimator(
    estimator: Any,
    X: Any = None,
    y: ArrayLike | None = None,
    *,
    batch_split: bool = False,
    n_learns: int = 10_000,
) -> None:
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

    Raises
    ------
    AssertionError
        If a check fails. The message names the check and says what was found.
    TypeError
        If the estimator has no ``partial_fit``, ``fit`` or ``get_params``.

    Notes
    -----
    Some models of scikit-learn fail for good reasons: `MLPClassifier` stores its loss of every call
    without limit, and the discrete naive Bayes models accept an unseen label without an error.

    Examples
    --------
    >>> from sklearn.linear_model import SGDClassifier
    >>> from skstream.testing import check_stream_estimator
    >>> check_stream_estimator(SGDClassifier(), n_learns=1000)
    """
    check_can_learn(estimator)
    missing = [name for name in ("fit", "get_params") if not hasattr(estimator, name)]
    if missing:
        raise TypeError(
            f"{type(estimator).__name__} has no {', '.join(missing)}. Evaluators and pipelines can "
            "do without, these checks cannot: derive it from sklearn.base.BaseEstimator."
        )
    model = seed_estimator(unfitted_copy(estimator), 0)
    data = _Data.of(model, X, y)
    checks = [*_CHECKS, *([] if is_regressor(model) else _LABEL_CHECKS)]
    if batch_split:
        checks.append(_cuts_change_nothing)
    for check in checks:
        _run(check, model, data)
    _run(lambda model, data: _memory_is_flat(model, data, n_learns), model, data)


def _run(check: Callable[[Any, "_Data"], None], model: Any, data: "_Data") -> None:
    try:
        check(model, data)
    except AssertionError as failure:
        raise AssertionError(f"{type(model).__name__}: {failure}") from failure


@dataclass(frozen=True)
class _Data:
    """Rows to learn and to ask about, and the classes (None for regression)."""

    X: Any
    y: NDArray[Any]
    classes: NDArray[Any] | None

    @classmethod
    def of(cls, model: Any, X: Any, y: ArrayLike | None) -> "_Data":
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

    def with_labels(self, labels: NDArray[Any]) -> "_Data":
        return _Data(self.X, labels, np.unique(labels))


def _taught(model: Any, data: _Data, *bounds: int) -> Any:
    """New copy that has learnt consecutive pieces of the data, one call each."""
    model = unfitted_copy(model)
    for begin, end in pairwise(bounds):
        _teach(model, data, begin, end, first=begin == bounds[0])
    return model


def _teach(model: Any, data: _Data, begin: int, end: int, *, first: bool = False) -> None:
    learner(model)(*data.rows(begin, end), None, data.classes if first else None)


def _answers(model: Any, X: Any) -> dict[str, NDArray[Any]]:
    return {name: np.asarray(getattr(model, name)(X)) for name in _methods(model)}


def _methods(model: Any) -> list[str]:
    return [name for name in _QUESTIONS if hasattr(model, name)]


def _differing(one: dict[str, NDArray[Any]], other: dict[str, NDArray[Any]]) -> str | None:
    """Name of a method whose answers differ beyond rounding; None if all agree."""
    for name, answer in one.items():
        if answer.shape != other[name].shape:
            return name
        if answer.dtype.kind == "f":
            same = np.allclose(answer, other[name], rtol=1e-9, atol=1e-9, equal_nan=True)
        else:
            same = np.array_equal(answer, other[name])
        if not same:
            return name
    return None


def _unfitted_refuses(model: Any, data: _Data) -> None:
    X, _ = data.rows(0, 5)
    for name in _methods(model):
        try:
            getattr(unfitted_copy(model), name)(X)
        except NotFittedError:
            continue
        except Exception as error:
            raise AssertionError(
                f"{name} before anything was learnt raises {type(error).__name__} ({error}) "
                f"instead of NotFittedError."
            ) from error
        raise AssertionError(f"{name} answers before anything was learnt.")


def _asking_changes_nothing(model: Any, data: _Data) -> None:
    model = _taught(model, data, 0, 30)
    X, _ = data.rows(30, 40)
    for name in _methods(model):
        before = joblib.hash(model)
        getattr(model, name)(X)
        assert joblib.hash(model) == before, (
            f"{name} changes the estimator. Questions must leave no trace, at any depth."
        )


def _order_of_questions_does_not_matter(model: Any, data: _Data) -> None:
    model = _taught(model, data, 0, 30)
    X, _ = data.rows(30, 50)
    alone = [_answers(model, rows_of(X, [row])) for row in range(20)]
    if asks_row_by_row(model):
        together = _answers(model, X)
        name = _differing({n: a[:1] for n, a in together.items()}, alone[0])
        assert name is None, f"{name} answers the first row of a call otherwise than alone."
        return
    one_by_one = {name: np.concatenate([a[name] for a in alone]) for name in alone[0]}
    for index, how in [(np.arange(20), "together"), (np.arange(20)[::-1], "in reverse order")]:
        asked = _answers(model, rows_of(X, index))
        name = _differing({n: a[index] for n, a in one_by_one.items()}, asked)
        assert name is None, (
            f"{name} answers rows asked {how} otherwise than alone. Only labels that have been "
            f"learnt may matter; set _asks_row_by_row = True on models that go by their own "
            f"answers."
        )


def _goes_on_after_pickling(model: Any, data: _Data) -> None:
    model = _taught(model, data, 0, 30)
    copy = pickle.loads(pickle.dumps(model))
    X, _ = data.rows(45, 60)
    for begin in (30, 31, 45):
        name = _differing(_answers(model, X), _answers(copy, X))
        assert name is None, f"{name} answers otherwise after pickling, before row {begin}."
        _teach(model, data, begin, begin + 1)
        _teach(copy, data, begin, begin + 1)
    name = _differing(_answers(model, X), _answers(copy, X))
    assert name is None, f"{name} answers otherwise once a pickled copy has learnt more."


def _fit_forgets(model: Any, data: _Data) -> None:
    fresh = unfitted_copy(model).fit(*data.rows(30, 60))
    again = unfitted_copy(model).fit(*data.rows(0, 30)).fit(*data.rows(30, 60))
    X, _ = data.rows(0, 60)
    name = _differing(_answers(fresh, X), _answers(again, X))
    assert name is None, f"{name} after a second fit still shows the first."


def _partial_fit_after_fit_goes_on(model: Any, data: _Data) -> None:
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
        "partial_fit after fit starts anew: it answers like a fresh model."
    )


def _late_class_is_learnt(model: Any, data: _Data) -> None:
    assert data.classes is not None
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
        f"{late!r} appeared late, in {calls * len(own)} rows in succession, and only {n_right} "
        f"of {len(asked)} of these rows are answered with it."
    )


def _labels_keep_their_type(model: Any, data: _Data) -> None:
    assert data.classes is not None
    codes = np.searchsorted(data.classes, data.y)
    texts = np.array([f"label {code}" for code in range(len(data.classes))])
    for labels in (texts, texts.astype(object), np.arange(len(texts)) - 1, codes % 2 == 1):
        relabelled = data.with_labels(labels if labels.dtype == bool else labels[codes])
        taught = _taught(model, relabelled, 0, 60)
        answers = np.asarray(taught.predict(data.rows(0, 60)[0]))
        assert relabelled.classes is not None
        assert np.isin(answers, relabelled.classes).all(), (
            f"predict answers {answers[:3].tolist()}, ... where the labels are "
            f"{relabelled.classes.tolist()}."
        )
        wanted, found = type(relabelled.classes.tolist()[0]), type(answers.tolist()[0])
        assert wanted is found, (
            f"predict answers with {found.__name__} where labels are {wanted.__name__}."
        )


def _probabilities_are_probabilities(model: Any, data: _Data) -> None:
    assert data.classes is not None
    model = _taught(model, data, 0, 30, 31, 60)
    if not hasattr(model, "predict_proba"):
        return
    P = np.asarray(model.predict_proba(data.rows(0, 60)[0]))
    assert P.shape == (60, len(data.classes)), f"predict_proba has shape {P.shape}."
    assert np.isfinite(P).all() and (P >= 0).all(), "predict_proba is not finite or negative."
    assert np.allclose(P.sum(axis=1), 1.0), "predict_proba does not sum to 1."


def _bad_labels_are_refused(model: Any, data: _Data) -> None:
    X, y = data.rows(0, 30)
    _expect_value_error(
        lambda: unfitted_copy(model).partial_fit(X, y), "a first call without classes"
    )
    taught = _taught(model, data, 0, 30)
    unseen = np.full(30, "never seen" if y.dtype.kind in "OUT" else 12345)
    _expect_value_error(lambda: taught.partial_fit(X, unseen), "a label not among the classes")


def _other_widths_are_refused(model: Any, data: _Data) -> None:
    X, y = data.rows(0, 30)
    if not isinstance(X, np.ndarray) or X.ndim != 2 or X.shape[1] < 2:
        return
    taught = _taught(model, data, 0, 30)
    _expect_value_error(lambda: taught.partial_fit(X[:, :-1], y), "a row of another width")
    _expect_value_error(lambda: taught.predict(X[:, :-1]), "a question of another width")


def _expect_value_error(action: Callable[[], Any], what: str) -> None:
    try:
        action()
    except ValueError:
        return
    raise AssertionError(f"{what} is accepted. Raise a ValueError instead.")


def _cuts_change_nothing(model: Any, data: _Data) -> None:
    whole = _taught(model, data, 0, 60)
    X, _ = data.rows(0, 60)
    for bounds in [(0, 30, 60), (0, 1, 2, 30, 59, 60)]:
        name = _differing(_answers(whole, X), _answers(_taught(model, data, *bounds), X))
        assert name is None, (
            f"{name} differs if the rows are learnt in calls that end at {bounds[1:]} instead "
            f"of at once, although batch_split=True promises that they agree."
        )


def _memory_is_flat(model: Any, data: _Data, n_learns: int) -> None:
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


_CHECKS: list[Callable[[Any, _Data], None]] = [
    _unfitted_refuses,
    _asking_changes_nothing,
    _order_of_questions_does_not_matter,
    _goes_on_after_pickling,
    _fit_forgets,
    _partial_fit_after_fit_goes_on,
    _other_widths_are_refused,
]
_LABEL_CHECKS: list[Callable[[Any, _Data], None]] = [
    _late_class_is_learnt,
    _labels_keep_their_type,
    _probabilities_are_probabilities,
    _bad_labels_are_refused,
]
