"""Decisions that probabilities lead to: their costs, hits by class, and the k best classes."""

import math
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from numpy.typing import ArrayLike

from skstream.core.measures.formulas import Sums, geometric_accuracy, geometric_mean, ratio
from skstream.core.measures.measure import Measure, named
from skstream.core.measures.registry import CLASSIFICATION, offer_measure
from skstream.core.measures.rows import Array, Floats, ScoredRows
from skstream.core.measures.series import Column, OfColumn
from skstream.metrics._names import mean_of, parametrised
from skstream.utils._choices import check_count, is_real
from skstream.utils._labels import UNANSWERED
from skstream.utils._running_sums import running_sums

#: The best threshold so far is looked for among the multiples of one over this, and "never".
GRID = 100
#: Row and column of a cost matrix: the class that came, and the one that was decided for.
Matrix = tuple[tuple[float, ...], ...]
# 0.29 * 100 is less than 29.
_ROUNDING = 1e-9
# Rows whose costs at all thresholds are formed at a time: a table that fits the cache.
_ROWS_AT_A_TIME = 512


def top_k_accuracy(k: int = 2) -> Measure:
    """Share of the rows whose label is among the k most probable classes.

    Parameters
    ----------
    k : int, default=2
        Number of classes.

    Returns
    -------
    Measure
        Called ``"top_k_accuracy"``, or with another k, for example, ``"top_k_accuracy:3"``.
        Evaluators accept both names.

    Notes
    -----
    The value and the rule for ties are those of `sklearn.metrics.top_k_accuracy_score`.

    Examples
    --------
    >>> from skstream.metrics import top_k_accuracy
    >>> top_k_accuracy(3).name
    'top_k_accuracy:3'
    """
    check_count(k, "The 'k' parameter of top_k_accuracy", 1)
    series = OfColumn(TopK(int(k)))
    return mean_of("top_k_accuracy", series, k, 2, higher_is_better=True, bounds=(0.0, 1.0))


def cost(matrix: ArrayLike, *, threshold: float | str | None = None) -> Measure:
    """Mean cost of the decisions based on a model.

    Parameters
    ----------
    matrix : array-like of shape (n_classes, n_classes)
        ``matrix[i][j]`` is the cost of deciding for class j if the label is class i, in the order
        of the sorted classes.
    threshold : float, {"best", "expected"} or None, default=None
        How decisions are made. None: the model's predictions. A number in [0, 1]: the second of two
        classes is chosen if its probability is at least this. "best": the same with the threshold,
        among the multiples of 0.01 and "never", that cost least in the rows before. "expected": the
        class with the smallest expected cost by the probabilities, which is best if these are
        calibrated (Elkan 2001).

    Returns
    -------
    Measure
        Called ``"cost"``, or for example ``"cost:0.3"`` or ``"cost:best"``.

    References
    ----------
    C. Elkan. The foundations of cost-sensitive learning. IJCAI 2001.

    Examples
    --------
    A missed "UP" costs five times as much as a false alarm:

    >>> from skstream.metrics import cost
    >>> cost([[0, 1], [5, 0]], threshold="expected").name
    'cost:expected'
    """
    table = checked_matrix(matrix)
    if threshold is not None and threshold not in ("best", "expected"):
        threshold = _checked_share("threshold", threshold, "cost", ', "best", "expected" or None')
    if len(table) != 2 and threshold not in (None, "expected"):
        raise ValueError(
            f"The threshold {threshold!r} decides between two classes, but the matrix of cost has "
            f'{len(table)}. Pass threshold="expected", or None.'
        )
    column: Column
    if isinstance(threshold, float):
        column = ThresholdCosts(table, threshold)
    elif threshold == "best":
        column = BestThresholdCosts(table)
    else:
        by = AnswerCosts if threshold is None else ExpectedCosts
        column = by(table)
    flat = [one for row in table for one in row]
    return mean_of(
        "cost",
        OfColumn(column),
        threshold,
        None,
        bounds=(min(flat), max(flat)) if min(flat) < max(flat) else (-math.inf, math.inf),
        n_classes=len(table),
        needs="labels" if threshold is None else "probabilities",
    )


def gmean(threshold: float | str | None = None) -> Measure:
    """Geometric mean of the recalls of the classes.

    Parameters
    ----------
    threshold : float, "best" or None, default=None
        How decisions are made. None: the model's predictions, for any number of classes and without
        probabilities. A number in [0, 1]: the second of two classes is chosen if its probability is
        at least this. "best": the same with the threshold, among the multiples of 0.01 and "never",
        that had the best geometric mean in the rows before.

    Returns
    -------
    Measure
        Called ``"gmean"``, or for example ``"gmean:0.3"`` or ``"gmean:best"``. Evaluators accept
        these names.

    See Also
    --------
    geometric_accuracy_score : The plain measure, for arrays.

    Notes
    -----
    The k-th root of the product of the recalls of the k classes among the rows that the mean
    remembers. Classes without such a row are left out; River and imbalanced-learn give 0 then.

    Examples
    --------
    >>> from skstream.metrics import gmean
    >>> gmean().needs, gmean(0.3).needs, gmean("best").name
    ('labels', 'probabilities', 'gmean:best')
    """
    column: BestThresholdHits | ThresholdHits
    if threshold is None:
        return named("gmean", geometric_accuracy, "label", "hit", bounds=(0.0, 1.0))
    if threshold == "best":
        column = BestThresholdHits()
    else:
        threshold = _checked_share("threshold", threshold, "gmean", ', "best" or None')
        column = ThresholdHits(threshold)
    hits = OfColumn(column, output=1, by=0, n_codes=2)
    return parametrised(
        "gmean",
        GeometricMean(hits),
        (hits, "label"),
        threshold,
        None,
        higher_is_better=True,
        bounds=(0.0, 1.0),
        max_classes=2,
    )


def _checked_share(parameter: str, value: Any, function: str, or_else: str) -> float:
    if not is_real(value) or not 0.0 <= value <= 1.0:
        raise ValueError(
            f"The {parameter!r} parameter of {function} must be a number in the range [0, 1]"
            f"{or_else}. Got {value!r} instead."
        )
    return float(value)


def checked_matrix(matrix: Any) -> Matrix:
    """Return a square table of finite costs, or say what is wrong with it."""
    try:
        table = np.asarray(matrix, dtype=np.float64)
    except (TypeError, ValueError):
        table = np.empty(0)
    if table.ndim != 2 or table.shape[0] != table.shape[1] or not table.size:
        raise ValueError(
            "The 'matrix' parameter of cost must be a square table of numbers, with a row per "
            f"label and a column per decision. Got {matrix!r} instead."
        )
    if not np.isfinite(table).all():
        row, column = np.argwhere(~np.isfinite(table))[0]
        raise ValueError(
            f"The cost of deciding for class {column} if the label is class {row} is "
            f"{table[row, column]}: costs must be finite."
        )
    return tuple(map(tuple, table.tolist()))


@dataclass(frozen=True)
class TopK(Column):
    """Whether the label is among the k most probable classes; ties as in scikit-learn."""

    k: int

    def read(self, rows: ScoredRows, state: Any) -> tuple[tuple[Array], Any]:
        """Return whether each row is a hit."""
        scores, y = rows.s, rows.y
        if scores.shape[1] == 1:  # of two classes the first wins ties, else the last
            hit = (scores[:, 0] > 0.5) == (y == 1)
            return (hit if self.k == 1 else np.ones(len(y), dtype=bool),), state
        own = scores[np.arange(len(y)), y][:, np.newaxis]
        later = np.arange(scores.shape[1]) > y[:, np.newaxis]
        better = np.count_nonzero((scores > own) | ((scores == own) & later), axis=1)
        return (better < self.k,), state


@dataclass(frozen=True)
class AnswerCosts(Column):
    """Cost of each answer; of no answer that of the dearest one."""

    matrix: Matrix

    of_scores: ClassVar[bool] = False

    def read(self, rows: ScoredRows, state: Any) -> tuple[tuple[Floats], Any]:
        """Return the cost of every row."""
        costs = np.asarray(self.matrix)
        of_rows = costs[rows.y, rows.p]
        return (np.where(rows.p == UNANSWERED, costs.max(axis=1)[rows.y], of_rows),), state


@dataclass(frozen=True)
class ExpectedCosts(Column):
    """Cost of the class that has the smallest expected cost by the probabilities."""

    matrix: Matrix

    def read(self, rows: ScoredRows, state: Any) -> tuple[tuple[Floats], Any]:
        """Return the cost of every row."""
        costs, scores = np.asarray(self.matrix), rows.s
        if scores.shape[1] == 1 and len(costs) == 2:
            scores = np.column_stack((1.0 - scores[:, 0], scores[:, 0]))
        expected = scores @ costs
        # Ties go to the last decision, as for a probability at the threshold.
        decided = expected.shape[1] - 1 - expected[:, ::-1].argmin(axis=1)
        return (costs[rows.y, decided],), state


@dataclass(frozen=True)
class ThresholdCosts(Column):
    """Cost of deciding for the second of two classes from a probability on."""

    matrix: Matrix
    threshold: float

    def read(self, rows: ScoredRows, state: Any) -> tuple[tuple[Floats], Any]:
        """Return the cost of every row."""
        decided = (rows.s[:, 0] >= self.threshold).astype(np.intp)
        return (np.asarray(self.matrix)[rows.y, decided],), state


@dataclass(frozen=True)
class ThresholdHits(Column):
    """The label, and whether the decision at a threshold is right."""

    threshold: float

    def read(self, rows: ScoredRows, state: Any) -> tuple[tuple[Array, Array], Any]:
        """Return labels and hits."""
        return (rows.y, (rows.s[:, 0] >= self.threshold) == (rows.y == 1)), state


@dataclass(frozen=True)
class BestThresholdCosts(Column):
    """Cost at the threshold that had cost least in the rows before."""

    matrix: Matrix

    follows: ClassVar[bool] = True

    def start(self, n_classes: int) -> Floats:
        """Return no cost at any threshold."""
        return np.zeros(GRID + 2)

    def read(self, rows: ScoredRows, state: Floats) -> tuple[tuple[Floats], Floats]:
        """Return the cost of every row."""
        (miss_or_right, false_or_right) = np.asarray(self.matrix).T
        order = _order(_elkan(self.matrix))
        cells, decided = _cells(rows), np.empty(len(rows), dtype=np.intp)
        for start in range(0, len(rows), _ROWS_AT_A_TIME):
            some = slice(start, start + _ROWS_AT_A_TIME)
            y, above = rows.y[some, np.newaxis], order <= cells[some, np.newaxis]
            costs = np.where(above, false_or_right[y], miss_or_right[y])
            totals = running_sums(state, _weighted(costs, rows, some))
            best = order[totals[:-1].argmin(axis=1)]
            decided[some] = best <= cells[some]
            state = totals[-1].copy()
        return (np.asarray(self.matrix)[rows.y, decided],), state


#: Weights of right rows of the first and of the second class at every threshold.
_Rates = tuple[Floats, Floats]


@dataclass(frozen=True)
class BestThresholdHits(Column):
    """The label, and the hit at the threshold that had the best geometric mean before."""

    follows: ClassVar[bool] = True

    def start(self, n_classes: int) -> _Rates:
        """Return no rows."""
        return np.zeros(GRID + 2), np.zeros(GRID + 2)

    def read(self, rows: ScoredRows, state: _Rates) -> tuple[tuple[Array, Array], _Rates]:
        """Return labels and hits."""
        order, cells = _order(0.5), _cells(rows)
        hits = np.empty(len(rows), dtype=bool)
        for start in range(0, len(rows), _ROWS_AT_A_TIME):
            some = slice(start, start + _ROWS_AT_A_TIME)
            second, above = rows.y[some] == 1, order <= cells[some, np.newaxis]
            right = [~second[:, np.newaxis] & ~above, second[:, np.newaxis] & above]
            totals = [
                running_sums(before, _weighted(of_class, rows, some))
                for before, of_class in zip(state, right, strict=True)
            ]
            # Both shares have the same denominators at all thresholds. Before both classes have
            # come all products are 0, and the first threshold is the one in the middle.
            best = order[(totals[0][:-1] * totals[1][:-1]).argmax(axis=1)]
            hits[some] = (best <= cells[some]) == second
            state = totals[0][-1].copy(), totals[1][-1].copy()
        return (rows.y, hits), state


@dataclass(frozen=True)
class GeometricMean:
    """Geometric mean of the shares of hits in the classes that came.

    Attributes
    ----------
    hits : OfColumn
        Series of the hits by class.
    """

    hits: OfColumn

    def __call__(self, sums: Sums) -> Floats:
        """Return the mean at every checkpoint."""
        label = sums.table("label")
        hits = sums.table(self.hits)[: len(label)]
        mean = geometric_mean(ratio(hits, label, sums["rows"]))
        return np.where(np.isnan(hits).any(axis=0), np.nan, mean)


def _cells(rows: ScoredRows) -> Array:
    """Number of the last threshold of the grid that each probability reaches."""
    return np.floor(rows.s[:, 0] * GRID + _ROUNDING).astype(np.int16)


def _order(wanted: float) -> Array:
    """Numbers of the thresholds, those nearest to the wanted one first; the last is "never"."""
    away = np.abs(np.arange(GRID + 2) / GRID - wanted)
    return np.argsort(away, kind="stable").astype(np.int16)


def _elkan(matrix: Matrix) -> float:
    """Threshold at which both decisions have the same expected cost, where there is one."""
    (right_first, false_alarm), (miss, right_second) = matrix
    saved = (false_alarm - right_first) + (miss - right_second)
    return float(np.clip((false_alarm - right_first) / saved, 0.0, 1.0)) if saved > 0.0 else 0.5


def _weighted(values: Array, rows: ScoredRows, some: slice) -> Array:
    return values if rows.weight is None else values * rows.weight[some, np.newaxis]


offer_measure(
    top_k_accuracy(),
    "share of labels among the most probable classes (two, or after a colon)",
    top_k_accuracy,
)
offer_measure(
    gmean(),
    "geometric_accuracy, for two classes also at a threshold after a colon",
    gmean,
    lambda text: text if text == "best" else float(text),
    among=CLASSIFICATION,
)
