"""Rows that wait for their labels: the score that is expected of them, and the one that came."""

from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from skstream.calibration import calibrated, fit_calibration, scores_of
from skstream.core.measures import formulas
from skstream.core.measures.measure import Measure
from skstream.core.measures.rows import ScoredRows
from skstream.core.measures.series import BrierLoss, Column, LogLoss, OfColumn, read_scores
from skstream.utils._labels import is_given

Floats = NDArray[np.float64]
Integers = NDArray[np.intp]
#: Values that a measure gives to some rows if their labels have the codes `y`.
RowValues = Callable[[NDArray[Any], ScoredRows, int], NDArray[Any]]

#: The estimates; ties go to the first is the best.
NEWEST, CONFIDENCE, CALIBRATED = "newest labels", "confidence", "calibrated"

#: Newest labelled rows that a calibrator is fitted to.
ROWS_TO_CALIBRATE = 5_000
#: The truth of a moment is known when at most this share of its rows may still get a label.
OPEN = 0.05


def row_values_of(measure: Measure) -> RowValues:
    """Return what gives the value of each row, of a measure that is the mean of them."""
    formula = measure.formula
    series = formula.series if isinstance(formula, formulas.MeanOf) else None
    column: Column | None = None
    if formula is formulas.accuracy:
        return lambda y, rows, _: rows.p == y
    if formula is formulas.error:
        return lambda y, rows, _: rows.p != y
    if formula is formulas.log_loss:
        column = LogLoss()
    elif formula is formulas.brier:
        column = BrierLoss()
    elif isinstance(series, OfColumn) and series.by is None and series.output is not None:
        column = series.column
    if column is None or column.follows or column.of_labels or column.baseline is not None:
        raise ValueError(
            f"Measure {measure.name!r} is not the mean of a value that each row has by itself, so "
            "it cannot be estimated from probabilities. Use 'accuracy', 'error', 'log_loss', "
            "'brier', 'top_k_accuracy', or cost(matrix) of skstream.metrics, with a threshold "
            'other than "best".'
        )
    of_rows = column
    return lambda y, rows, k: read_scores(
        of_rows, ScoredRows(y, rows.answers, scores=rows.scores), None, k
    )[0][0]


class Clock(NamedTuple):
    """When rows wait, counted in rows: k stands for the arrival of row k, n for the end.

    Attributes
    ----------
    labelled : ndarray of shape (n_rows,), dtype intp
        From when on each label is known; n + 1: never.
    gone : ndarray of shape (n_rows,), dtype intp
        From when on each row no longer waits; n + 1: it waits at the end.
    order : ndarray of shape (n_labels,), dtype intp
        Labelled rows in the order of their labels.
    overdue : ndarray of shape (n_rows,), dtype bool
        Rows without a label that have waited longer than any label took.
    """

    labelled: Integers
    gone: Integers
    order: Integers
    overdue: NDArray[np.bool_]

    @classmethod
    def of(cls, came: Floats, known: Floats, end: float, max_wait: float) -> "Clock":
        n = len(came)
        has_label = np.isfinite(known)
        labelled = np.full(n, n + 1)
        # At one time events go by their rows; of one row the arrival is before the label.
        labelled[has_label] = np.maximum(
            np.searchsorted(came, known[has_label]), np.flatnonzero(has_label) + 1
        )
        gone = labelled
        if np.isfinite(max_wait):
            last = came + max_wait
            expired = np.where(last >= end, n + 1, np.searchsorted(came, last, side="right"))
            gone = np.minimum(labelled, expired)
        order = np.flatnonzero(has_label)
        order = order[np.argsort(known[order], kind="stable")]
        longest = float((known - came)[has_label].max())
        return cls(labelled, gone, order, ~has_label & (end - came > longest))

    def some(self, rows: Integers) -> "Clock":
        """Return the same of some rows, in their order; times are still those of all rows."""
        place = np.full(len(self.labelled), -1)
        place[rows] = np.arange(len(rows))
        order = place[self.order]
        return Clock(self.labelled[rows], self.gone[rows], order[order >= 0], self.overdue[rows])


def _totals(values: NDArray[Any]) -> NDArray[Any]:
    """Sums of the first 0, 1, ... values."""
    kind = np.float64 if values.dtype.kind == "f" else np.int64
    return np.concatenate([np.zeros(1, kind), np.cumsum(values, dtype=kind)])


class _Waiting:
    """Sums over the rows of a model that wait at some moments, in one pass.

    They are the sum over the rows that have come less that over those that no longer wait.
    """

    def __init__(self, log: Clock, numbers: Integers, at: Integers) -> None:
        self._order = np.argsort(log.gone, kind="stable")
        self.n_come = np.searchsorted(numbers, at, side="right")
        self._n_gone = np.searchsorted(log.gone[self._order], at, side="right")

    def sums(self, values: NDArray[Any]) -> NDArray[Any]:
        come, gone = _totals(values), _totals(values[self._order])
        return come[self.n_come] - gone[self._n_gone]

    def first(self, counted: NDArray[np.bool_]) -> Integers:
        """Return the first of the counted rows that wait at each moment."""
        n = len(self._order)
        of_all = np.where(counted[self._order], self._order, n)
        firsts = np.append(np.minimum.accumulate(of_all[::-1])[::-1], n)
        return firsts[self._n_gone]


def of_model(
    rows: ScoredRows,
    n_classes: int,
    log: Clock,
    places: Integers,
    values: Mapping[str, RowValues],
    window: int | None,
    calibrate: str | None,
) -> dict[str, Any]:
    """Return what `LabelEstimates` holds of one model, by its names of it."""
    at = np.append(places, len(rows))
    numbers = np.flatnonzero(_answered(rows))
    rows, log = rows[numbers], log.some(numbers)
    weight = np.ones(len(rows)) if rows.weight is None else rows.weight
    has_label, at_end = is_given(rows.y), log.gone > at[-1]
    waiting = _Waiting(log, numbers, at)
    n_waiting = waiting.sums(np.ones(len(rows), dtype=np.int64))
    n_labelled = waiting.sums(has_label)
    settled = (n_labelled > 0) & (waiting.sums(at_end) <= OPEN * n_waiting)
    n_known = np.searchsorted(log.labelled[log.order], at, side="right")
    possible = (n_waiting > 0) & (n_known > 0)
    shares = _shares(rows, n_classes)
    n_newest = n_waiting if window is None else np.full(len(at), window)
    estimates: dict[str, dict[str, Floats]] = {}
    truth = {}
    for name, row_values in values.items():
        own = np.zeros(len(rows))
        own[has_label] = row_values(rows.y[has_label], rows[np.flatnonzero(has_label)], n_classes)
        truth[name] = _ratio(waiting.sums(own * weight), waiting.sums(weight * has_label), settled)
        expected = _expected(row_values, rows, shares)
        estimates[name] = {
            NEWEST: _newest(own, weight, log.order, n_known, n_newest, possible),
            CONFIDENCE: _ratio(
                waiting.sums(expected * weight), waiting.sums(weight), n_waiting > 0
            ),
        }
    if calibrate is not None:
        for name in values:
            estimates[name][CALIBRATED] = np.full(len(at), np.nan)
        for k in np.flatnonzero(possible):
            newest = log.order[max(0, n_known[k] - ROWS_TO_CALIBRATE) : n_known[k]]
            beliefs = fit_calibration(
                calibrate,
                "predict_proba",
                scores_of(shares[newest], "predict_proba", n_classes),
                rows.y[newest].astype(np.int64),
                weight[newest],
                n_classes,
            )
            now = np.flatnonzero(log.gone[: waiting.n_come[k]] > at[k])
            believed = calibrated(beliefs, shares[now], "predict_proba", n_classes)
            some, own = rows[now], weight[now]
            for name, row_values in values.items():
                expected = _expected(row_values, some, believed)
                estimates[name][CALIBRATED][k] = (expected * own).sum() / own.sum()
    checked = np.flatnonzero((settled & possible)[:-1])
    first = numbers[waiting.first(has_label)[checked]]
    return dict(
        now={
            name: {method: float(one[-1]) for method, one in by_method.items()}
            for name, by_method in estimates.items()
        },
        waiting_now=int(n_waiting[-1]),
        overdue=int(np.count_nonzero(log.overdue & at_end)),
        given_up=int(np.count_nonzero(~has_label & ~at_end)),
        n_waiting=n_waiting[:-1],
        n_labelled=n_labelled[:-1],
        apart=checked[_apart(places[checked], first)],
        estimates={
            name: {method: one[:-1] for method, one in by_method.items()}
            for name, by_method in estimates.items()
        },
        truth={name: one[:-1] for name, one in truth.items()},
    )


def _answered(rows: ScoredRows) -> NDArray[np.bool_]:
    answered: NDArray[np.bool_] = (rows.p >= 0) & np.isfinite(rows.s).all(axis=1)
    return answered if rows.weight is None else answered & (rows.weight > 0)


def _shares(rows: ScoredRows, n_classes: int) -> Floats:
    """Probabilities of all classes."""
    second = rows.s[:, 0]
    return np.column_stack([1.0 - second, second]) if n_classes == 2 else rows.s


def _expected(row_values: RowValues, rows: ScoredRows, shares: Floats) -> Floats:
    """Value of each row that is expected if its label has these probabilities."""
    total = np.zeros(len(rows))
    n_classes = shares.shape[1]
    for code in range(n_classes):
        total += shares[:, code] * row_values(np.full_like(rows.y, code), rows, n_classes)
    return total


def _newest(
    own: Floats,
    weight: Floats,
    order: Integers,
    n_known: Integers,
    n_newest: Integers,
    possible: NDArray[np.bool_],
) -> Floats:
    """Mean value of the newest labelled rows."""
    values, weights = _totals((own * weight)[order]), _totals(weight[order])
    start = np.maximum(n_known - n_newest, 0)
    return _ratio(values[n_known] - values[start], weights[n_known] - weights[start], possible)


def _ratio(values: Floats, by: Floats, where: NDArray[np.bool_]) -> Floats:
    return np.divide(values, by, out=np.full(len(values), np.nan), where=where)


def _apart(moments: Integers, first: Integers) -> list[int]:
    """Which moments share no row with the one chosen before; `first` are their first rows."""
    chosen, last = [], -1
    for k, (moment, own) in enumerate(zip(moments.tolist(), first.tolist(), strict=True)):
        if own > last:
            chosen.append(k)
            last = moment
    return chosen
