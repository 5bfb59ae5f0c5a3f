"""Measures of probabilities: functions that make those with parameters."""

from __future__ import annotations

import math
from dataclasses import dataclass
from math import ceil
from typing import Any, ClassVar, NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from skstream.metrics import _decisions as decisions
from skstream.metrics import _formulas as formulas
from skstream.metrics._bins import BrierPart, CalibrationError
from skstream.metrics._columns import Column, OfColumn
from skstream.metrics._formulas import Formula
from skstream.metrics._measure import Measure, named
from skstream.metrics._rows import Array, Floats, ScoredRows
from skstream.metrics._series import KindOf
from skstream.utils._choices import check_choice, check_count, check_number, is_real

#: Most classes of measures that need a sum for every bin of every class.
MOST_CLASSES = 10


def top_k_accuracy(k: int = 2) -> Measure:
    """Share of the rows whose label is among the k most probable classes.

    Parameters
    ----------
    k : int, default=2
        Number of classes.

    Returns
    -------
    Measure
        Called ``"top_k_accuracy"``, and of another k such as ``"top_k_accuracy:3"``. Both are also
        names that evaluators know.

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
    series = OfColumn(decisions.TopK(int(k)))
    return _mean("top_k_accuracy", series, k, 2, higher_is_better=True, bounds=(0.0, 1.0))


def calibration_error(
    n_bins: int = 10, *, strategy: str = "uniform", norm: str = "expected"
) -> Measure:
    """Difference of the probabilities from the frequencies with which they come true, in bins.

    Parameters
    ----------
    n_bins : int, default=10
        Number of bins. With more bins the error of a perfect model grows, as chance moves the
        frequency of every bin.
    strategy : {"uniform", "quantile"}, default="uniform"
        Bins of equal width, or of equal mass: unions of neighbouring cells of width 1/64, in which
        the share of a bin differs from 1 / n_bins by at most that of the largest cell.
    norm : {"expected", "max"}, default="expected"
        Mean difference over the rows, or the largest of a bin.

    Returns
    -------
    Measure
        Called ``"calibration_error"``, with ``"_max"`` and ``"_quantile"`` added and another number
        of bins after a colon: ``"calibration_error_max:20"``. All of them are names that evaluators
        know.

    See Also
    --------
    brier_part : The reliability squares the differences.

    Notes
    -----
    Of two classes the probability of the second is compared with the share of its labels. Of more
    classes the largest probability is compared with the share of rows whose most probable class is
    the label (Guo et al. 2017).

    References
    ----------
    C. Guo, G. Pleiss, Y. Sun and K. Q. Weinberger. On calibration of modern neural networks. ICML
    2017.

    Examples
    --------
    >>> from skstream.metrics import calibration_error
    >>> calibration_error(20, norm="max").name
    'calibration_error_max:20'
    """
    check_count(n_bins, "The 'n_bins' parameter of calibration_error", 1)
    check_choice(strategy, "The 'strategy' parameter of calibration_error", ("uniform", "quantile"))
    check_choice(norm, "The 'norm' parameter of calibration_error", ("expected", "max"))
    formula = CalibrationError(int(n_bins), strategy, norm)
    name = "calibration_error" + "_max" * (norm == "max") + "_quantile" * (strategy == "quantile")
    return _measure(name, formula, formula.series, n_bins, 10, bounds=(0.0, 1.0))


def brier_part(part: str, n_bins: int = 10) -> Measure:
    """Part of the Brier score, which is reliability - resolution + uncertainty.

    Parameters
    ----------
    part : {"reliability", "resolution", "uncertainty"}
        The mean squared gap between the probabilities and the frequencies of the bins; how far the
        frequencies of the bins are from that of all rows; the Brier score of a forecaster who
        always says the frequencies of all rows.
    n_bins : int, default=10
        Number of bins of equal width.

    Returns
    -------
    Measure
        Called ``"brier_reliability"`` and so on; of another number of bins such as
        ``"brier_reliability:20"``. All of them are names that evaluators know.

    Notes
    -----
    The parts always add up to the Brier score: the resolution is what is left. It is that of
    Murphy (1973) where the probabilities of a bin are all the same, and else includes what they
    say within the bin (Stephenson, Coelho and Jolliffe 2008: less the variance within bins, plus
    twice their covariance with the labels).

    Of more than two classes they are sums over the classes, each against the rest. At most 10
    classes.

    References
    ----------
    A. H. Murphy. A new vector partition of the probability score. J. Applied Meteorology 12, 1973.

    D. B. Stephenson, C. A. S. Coelho and I. T. Jolliffe. Two extra components in the Brier score
    decomposition. Weather and Forecasting 23, 2008.

    Examples
    --------
    >>> from skstream.metrics._probabilities import brier_part
    >>> brier_part("reliability").higher_is_better
    False
    """
    check_choice(
        part, "The 'part' parameter of brier_part", ("reliability", "resolution", "uncertainty")
    )
    check_count(n_bins, "The 'n_bins' parameter of brier_part", 1)
    formula = BrierPart(part, int(n_bins))
    better = {"reliability": False, "resolution": True, "uncertainty": None}[part]
    bounds = (-2.0, 2.0) if part == "resolution" else (0.0, 2.0)
    return _measure(
        f"brier_{part}",
        formula,
        formula.series,
        n_bins,
        10,
        higher_is_better=better,
        bounds=bounds,
        max_classes=None if part == "uncertainty" else MOST_CLASSES,
        needs="labels" if part == "uncertainty" else "probabilities",
    )


def cost(matrix: ArrayLike, *, threshold: float | str | None = None) -> Measure:
    """Mean cost of the decisions that a model leads to.

    Parameters
    ----------
    matrix : array-like of shape (n_classes, n_classes)
        ``matrix[i][j]`` is the cost of deciding for class j where the label is class i, in the
        order of the sorted classes.
    threshold : float, {"best", "expected"} or None, default=None
        How a decision is made. None: it is the model's answer. A number in [0, 1]: the second of
        two classes is decided for where its probability is at least this. "best": at the
        threshold, among the multiples of 0.01 and "never", that had cost least in the rows
        before. "expected": for the class with the smallest expected cost by the probabilities,
        which is best where these are calibrated (Elkan 2001).

    Returns
    -------
    Measure
        Called ``"cost"``, or for example ``"cost:0.3"`` and ``"cost:best"``.

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
            f"The threshold {threshold!r} decides between two classes, and the matrix of cost has "
            f'{len(table)}. Pass threshold="expected", or None.'
        )
    column: Column
    if isinstance(threshold, float):
        column = decisions.ThresholdCosts(table, threshold)
    elif threshold == "best":
        column = decisions.BestThresholdCosts(table)
    else:
        by = decisions.AnswerCosts if threshold is None else decisions.ExpectedCosts
        column = by(table)
    flat = [one for row in table for one in row]
    return _mean(
        "cost",
        OfColumn(column),
        threshold,
        None,
        bounds=(min(flat), max(flat)) if min(flat) < max(flat) else (-math.inf, math.inf),
        n_classes=len(table),
        needs="labels" if threshold is None else "probabilities",
    )


def gmean(threshold: float | str = "best") -> Measure:
    """Geometric mean of the accuracies on both of two classes, decided at a threshold.

    Parameters
    ----------
    threshold : float or "best", default="best"
        The second class is decided for where its probability is at least this, in [0, 1]. "best":
        the threshold, among the multiples of 0.01 and "never", that had the best geometric mean in
        the rows before.

    Returns
    -------
    Measure
        Called ``"gmean"``, and of a fixed threshold such as ``"gmean:0.3"``. Both are also names
        that evaluators know.

    See Also
    --------
    geometric_accuracy_score : That of the model's answers.

    Examples
    --------
    >>> from skstream.metrics import gmean
    >>> gmean(0.3).max_classes
    2
    """
    column: decisions.BestThresholdHits | decisions.ThresholdHits
    if threshold == "best":
        column = decisions.BestThresholdHits()
    else:
        threshold = _checked_share("threshold", threshold, "gmean", ' or "best"')
        column = decisions.ThresholdHits(threshold)
    hits = OfColumn(column, output=1, by=0, n_codes=2)
    return _measure(
        "gmean",
        decisions.GeometricMean(hits),
        (hits, "label"),
        threshold,
        "best",
        higher_is_better=True,
        bounds=(0.0, 1.0),
        max_classes=2,
    )


def coverage(alpha: float = 0.1, *, gamma: float = 0.005) -> Measure:
    """Share of the rows whose label is in the adaptive conformal set of classes.

    Parameters
    ----------
    alpha : float, default=0.1
        Share of labels that the sets may miss, in (0, 1).
    gamma : float, default=0.005
        Step of the level after every row, not negative.

    Returns
    -------
    Measure
        Called ``"coverage"``, and of another `alpha` such as ``"coverage:0.05"``. Both are also
        names that evaluators know.

    See Also
    --------
    set_size : What the coverage is paid with.

    Notes
    -----
    A set holds every class for which one minus its probability is at most a quantile of one minus
    the probabilities that the labels of the rows before had, looked for among the multiples of
    0.001. After each row the level of the quantile moves by `gamma` times `alpha`, less 1 where the
    set missed the label, so that over T rows the share of misses differs from `alpha` by at most
    (1 + gamma) / (gamma T), whatever the stream does (Gibbs and Candes 2021). Sets are learnt from
    all scored rows of a model, each counting once, whatever the forgetting.

    References
    ----------
    I. Gibbs and E. Candes. Adaptive conformal inference under distribution shift. NeurIPS 2021.

    Examples
    --------
    >>> from skstream.metrics import coverage
    >>> coverage(0.05).name
    'coverage:0.05'
    """
    series = OfColumn(_sets(alpha, gamma, "coverage"), output=0)
    return _mean("coverage", series, alpha, 0.1, higher_is_better=None, bounds=(0.0, 1.0))


def set_size(alpha: float = 0.1, *, gamma: float = 0.005) -> Measure:
    """Mean number of classes in the adaptive conformal sets.

    Parameters
    ----------
    alpha : float, default=0.1
        Share of labels that the sets may miss, in (0, 1).
    gamma : float, default=0.005
        Step of the level after every row, not negative.

    Returns
    -------
    Measure
        Called ``"set_size"``, and of another `alpha` such as ``"set_size:0.05"``. Both are also
        names that evaluators know.

    See Also
    --------
    coverage : How the sets are made.

    Examples
    --------
    >>> from skstream.metrics import set_size
    >>> set_size().higher_is_better
    False
    """
    series = OfColumn(_sets(alpha, gamma, "set_size"), output=1)
    return _mean("set_size", series, alpha, 0.1, bounds=(0.0, math.inf))


def _sets(alpha: Any, gamma: Any, function: str) -> ConformalSets:
    if not is_real(alpha) or not 0.0 < alpha < 1.0:
        raise ValueError(
            f"The 'alpha' parameter of {function} must be within (0, 1). Got {alpha!r} instead."
        )
    gamma = check_number(gamma, f"The 'gamma' parameter of {function}")
    return ConformalSets(float(alpha), gamma)


def _mean(name: str, series: OfColumn, parameter: Any, default: Any, **facts: Any) -> Measure:
    """Measure that is the mean of a column."""
    return _measure(name, formulas.MeanOf(series), (series,), parameter, default, **facts)


def _measure(
    name: str,
    formula: Formula,
    series: tuple[KindOf, ...],
    parameter: Any,
    default: Any,
    *,
    higher_is_better: bool | None = False,
    needs: str = "probabilities",
    **facts: Any,
) -> Measure:
    """Measure of one parameter, which is part of its name where it is not the default."""
    called = name if parameter == default else f"{name}:{parameter}"
    return named(called, formula, *series, needs=needs, higher_is_better=higher_is_better, **facts)


def _checked_share(parameter: str, value: Any, function: str, or_else: str) -> float:
    if not is_real(value) or not 0.0 <= value <= 1.0:
        raise ValueError(
            f"The {parameter!r} parameter of {function} must be a number in the range [0, 1]"
            f"{or_else}. Got {value!r} instead."
        )
    return float(value)


def checked_matrix(matrix: Any) -> decisions.Matrix:
    """Return a square table of finite costs, or say what is wrong with it."""
    try:
        table = np.asarray(matrix, dtype=np.float64)
    except (TypeError, ValueError):
        table = np.empty(0)
    if table.ndim != 2 or table.shape[0] != table.shape[1] or not table.size:
        raise ValueError(
            "The 'matrix' parameter of cost must be a square table of numbers, a row for each "
            f"label and a column for each decision. Got {matrix!r} instead."
        )
    if not np.isfinite(table).all():
        row, column = np.argwhere(~np.isfinite(table))[0]
        raise ValueError(
            f"The cost of deciding for class {column} where the label is class {row} is "
            f"{table[row, column]}: costs must be finite."
        )
    return tuple(map(tuple, table.tolist()))


#: Cells of equal width in which the quantile of the scores is looked for.
N_CELLS = 1000


class _State(NamedTuple):
    """Where the quantile stands.

    Attributes
    ----------
    counts : tuple of int
        Rows in each cell.
    n_rows : int
        All rows.
    cell : int
        The cell of the latest quantile.
    reached : int
        Rows in the cells up to it.
    alpha : float
        Level that is aimed at for the next row.
    n_classes : int
        Number of classes.
    """

    counts: tuple[int, ...]
    n_rows: int
    cell: int
    reached: int
    alpha: float
    n_classes: int


@dataclass(frozen=True)
class ConformalSets(Column):
    """Sets of all classes whose probability is not much smaller than labels had before.

    A class belongs to the set if one minus its probability is at most the quantile of one minus
    the probabilities that the labels before had. The level moves after every row by `gamma` times
    alpha, less 1 where the set missed the label (Gibbs & Candes 2021).
    """

    alpha: float
    gamma: float

    follows: ClassVar[bool] = True

    def start(self, n_classes: int) -> _State:
        """Return a state without rows, in which a set holds all classes."""
        return _State((0,) * N_CELLS, 0, 0, 0, self.alpha, n_classes)

    def read(self, rows: ScoredRows, state: _State) -> tuple[tuple[Array, Floats], _State]:
        """Return whether the set of each row has the label, and its size."""
        scores = rows.s
        if scores.shape[1] == 1:
            scores = np.column_stack((1.0 - scores[:, 0], scores[:, 0]))[:, : state.n_classes]
        cells = ((1.0 - scores) * N_CELLS).astype(np.int16)
        np.clip(cells, 0, N_CELLS - 1, out=cells)
        of_labels = cells[np.arange(len(rows)), rows.y]
        quantiles, state = self._quantiles(of_labels.tolist(), state)
        limits = np.asarray(quantiles, dtype=np.int16)
        sizes = np.count_nonzero(cells <= limits[:, np.newaxis], axis=1)
        return (of_labels <= limits, sizes.astype(np.float64)), state

    def _quantiles(self, cells: list[int], state: _State) -> tuple[list[int], _State]:
        """Cell up to which classes belong to each row's set."""
        counts, (_, n, cell, reached, alpha, _) = list(state.counts), state
        quantiles = []
        for own in cells:
            rank = ceil((n + 1) * (1.0 - alpha))
            if rank > n:
                limit = N_CELLS
            elif rank <= 0:
                limit = -1
            else:
                while reached < rank:
                    cell += 1
                    reached += counts[cell]
                while reached - counts[cell] >= rank:
                    reached -= counts[cell]
                    cell -= 1
                limit = cell
            quantiles.append(limit)
            alpha += self.gamma * (self.alpha - (own > limit))
            counts[own] += 1
            n += 1
            reached += own <= cell
        after = _State(tuple(counts), n, cell, reached, alpha, state.n_classes)
        return quantiles, after
