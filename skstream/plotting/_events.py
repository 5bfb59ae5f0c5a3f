"""Rows with the score that a model gave to an event, and whether the event came."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike
from sklearn.utils import check_consistent_length

from skstream.engine.answers import TOLERANCE
from skstream.engine.tape import scores_of_bin
from skstream.evaluation._results._result import EvaluationResult
from skstream.evaluation._results._select import Names, bin_meant, chosen, number
from skstream.evaluation._tape_rows import tape_of
from skstream.utils._choices import is_integer
from skstream.utils._label_space import LabelSpace, listed, ordered_classes
from skstream.utils._labels import as_labels, distinct_labels
from skstream.utils._warnings import warn

#: The event that is meant where the largest probability of each row is read.
TOP = "the class of the largest probability"


class Events(NamedTuple):
    """The scored rows of one model.

    Attributes
    ----------
    row : ndarray of shape (n_rows,)
        Their positions among the rows of the tape, ascending.
    score : ndarray of shape (n_rows,)
        What the model said before: a probability of the event, or a decision value.
    came : ndarray of shape (n_rows,), dtype bool
        Whether it came.
    weight : ndarray of shape (n_rows,)
        Scoring weights.
    """

    row: np.ndarray
    score: np.ndarray
    came: np.ndarray
    weight: np.ndarray

    def between(self, start: int, stop: int) -> Events:
        """Return those of the rows from `start` up to `stop`."""
        part = slice(*np.searchsorted(self.row, [start, stop]))
        return Events(*(column[part] for column in self))


def events_of_result(
    result: EvaluationResult,
    models: Names,
    label: Any,
    rows: Sequence[int] | None,
    fold: int | None,
    bin: int | None,
    *,
    top: bool = False,
    ranking: bool = False,
) -> tuple[dict[str, Events], str, tuple[int, int]]:
    """Return the events of some models, the words for the event, and the stretch of rows.

    Parameters
    ----------
    result : EvaluationResult
        With a tape that holds scores.
    models : str or sequence of str or None
        None: all that have such scores.
    label : object
        The class whose coming is the event; None: the second of two classes.
    rows : (int, int) or None
        First row of the tape, and the row after the last; None: all, of held-out sets the last.
    fold : int or None
        Fold; None: the first of the result.
    bin : int or None
        Bin under delayed labels; None: the last of the result.
    top : bool, default=False
        Whether, without a label, the event among more than two classes is that the class of the
        largest probability comes.
    ranking : bool, default=False
        Whether decision values serve, too.
    """
    tape = tape_of(result)
    names = _with_scores(result, tape.methods, models, ranking=ranking)
    assert tape.classes is not None
    event, words = _event(tape.classes, label, top=top)
    named = bin_meant(result, bin)
    if named is not None and len(result.bins or ()) > 1:
        words = f"{words} (bin {named})"
    place = 0 if fold is None else result.folds.index(number(fold, result.folds, "fold"))
    if rows is None and tape.sets is not None:
        ends = [0, *tape.sets[0].tolist()]
        rows = (ends[-2], ends[-1])
        words = f"{words} (last set)"
    start, stop = _stretch(rows, tape.n_rows)
    part = slice(start, stop)
    y = np.asarray(tape.y[part])
    weight = np.ones(len(y)) if tape.weight is None else np.asarray(tape.weight[part])
    # Models that failed are left out, unless they are named; then their names say so.
    ends_of = result.failed_at
    failed = [name for name in names if name in ends_of and ends_of[name][place] is not None]
    if models is None and 0 < len(failed) < len(names):
        warn(
            f"Not drawn: {', '.join(map(repr, sorted(failed)))}, which failed and answered fewer "
            "rows than the others. Name models= to see them."
        )
        names = [name for name in names if name not in failed]
    events = {}
    for name in names:
        answers = np.asarray(tape.answers[name][place])[part]
        asked = (answers if named is None else answers[:, named]) != -1
        if tape.methods[name] == "predict_proba":
            scores = tape.probabilities(name, place, named)
        else:
            given = np.asarray(tape.scores[name][place])
            scores = scores_of_bin(given, tape.answers[name][place], named)
            scores = scores if scores.shape[1] > 1 else np.concatenate([-scores, scores], axis=1)
        title = f"{name} (failed)" if name in failed else name
        events[title] = _events(y, scores[part], np.where(asked, weight, 0.0), event, start)
    return events, words, (start, stop)


def events_of_predictions(
    y_true: ArrayLike,
    y_score: ArrayLike | Mapping[str, ArrayLike],
    classes: ArrayLike | None,
    sample_weight: ArrayLike | None,
    label: Any,
    *,
    top: bool = False,
    ranking: bool = False,
) -> tuple[dict[str, Events], str, tuple[int, int]]:
    """Return the events of scores that were given elsewhere; see `events_of_result`."""
    labels = as_labels(y_true, "y_true")
    known = distinct_labels(labels, "y_true") if classes is None else ordered_classes(classes)
    order = np.argsort(known)
    codes = LabelSpace(known[order]).encode_answers(labels)
    if (codes < 0).any():
        row = int((codes < 0).argmax())
        raise ValueError(f"y_true has {labels[row]!r} in row {row}, which is not among classes=.")
    codes = order[codes]
    weight = np.ones(len(codes))
    if sample_weight is not None:
        weight = np.asarray(sample_weight, dtype=np.float64)
    event, words = _event(known, label, top=top)
    named = y_score if isinstance(y_score, Mapping) else {"model": y_score}
    events = {}
    for name, given in named.items():
        scores = np.asarray(given, dtype=np.float64)
        scores = scores[:, np.newaxis] if scores.ndim == 1 else scores
        check_consistent_length(labels, scores, weight)
        if scores.shape[1] == 1 and len(known) == 2:
            scores = np.column_stack([-scores if ranking else 1.0 - scores, scores])
        if scores.shape[1] != len(known):
            raise ValueError(
                f"y_score of '{name}' has {scores.shape[1]} columns, and there are {len(known)} "
                f"classes, {listed(known.tolist())}. Pass one column per class, in this order; or "
                "classes=, if labels are missing in y_true."
            )
        off = 0.0 if ranking else np.nan_to_num(np.maximum(-scores, scores - 1.0))
        bad = ~np.isfinite(scores) | (off > TOLERANCE)
        if bad.any():
            row = int(bad.any(axis=1).argmax())
            wanted = "finite numbers" if ranking else "probabilities in [0, 1]"
            raise ValueError(
                f"y_score of '{name}' holds {scores[row].tolist()} in row {row}; "
                f"{wanted} are needed."
            )
        if np.max(off) > 0.0:
            warn(
                f"y_score of '{name}' is outside [0, 1] by at most {TOLERANCE}, and cut off there."
            )
            scores = np.clip(scores, 0.0, 1.0)
        events[name] = _events(codes, scores, weight, event)
    return events, words, (0, len(codes))


def _with_scores(
    result: EvaluationResult, methods: Mapping[str, str], models: Names, *, ranking: bool
) -> list[str]:
    """Names of the models to show; an error says which have no such scores."""
    kinds = {"predict_proba", "decision_function"} if ranking else {"predict_proba"}
    there = [name for name in result.model_names if methods.get(name) in kinds]
    names = chosen(models, result.model_names, "model") if models is not None else there
    without = [name for name in names if name not in there]
    if without or not names:
        what = "scores" if ranking else "probabilities"
        whose = f" of {without}" if without else ""
        measure = "auc" if ranking else "brier"
        raise ValueError(
            f"The tape of this result has no {what}{whose}. They are kept where a measure needs "
            f"them: evaluate with metrics=[..., {measure!r}]."
        )
    return names


def _event(classes: np.ndarray, label: Any, *, top: bool) -> tuple[int | None, str]:
    """Code of the class that makes the event, None for that of the largest probability."""
    known = classes.tolist()
    if label is None:
        if len(known) == 2:
            return 1, str(known[1])
        if top:
            return None, TOP
        raise ValueError(
            f"There are {len(known)} classes, {listed(known)}: name one, label=..., which is set "
            "against the others."
        )
    if label not in known:
        raise ValueError(f"label={label!r} is not among the classes {listed(known)}.")
    return known.index(label), str(label)


def _events(
    y: np.ndarray, scores: np.ndarray, weight: np.ndarray, event: int | None, start: int = 0
) -> Events:
    at = np.flatnonzero((y >= 0) & ~np.isnan(scores).any(axis=1) & (weight > 0))
    y, scores = y[at], scores[at]
    if event is None:
        best = scores.argmax(axis=1) if len(at) else np.empty(0, dtype=np.intp)
        score, came = scores[np.arange(len(at)), best], best == y
    else:
        score, came = scores[:, event], y == event
    return Events(at + start, score, came, weight[at])


def _stretch(rows: Sequence[int] | None, n_rows: int) -> tuple[int, int]:
    if rows is None:
        return 0, n_rows
    ends = list(rows) if np.iterable(rows) else []
    if len(ends) != 2 or not all(map(is_integer, ends)) or not 0 <= ends[0] < ends[1] <= n_rows:
        raise ValueError(
            f"rows must be two row numbers (start, stop) with 0 <= start < stop <= {n_rows}, the "
            f"rows of the tape. Got {rows!r} instead."
        )
    return int(ends[0]), int(ends[1])


def rows_as_words(rows: tuple[int, int]) -> str:
    """Words for a stretch of rows, which are counted from 1."""
    return f"rows {rows[0] + 1:,} to {rows[1]:,}"
