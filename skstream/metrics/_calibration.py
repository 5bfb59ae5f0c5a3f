"""Bins of probabilities: calibration errors, and the parts of the Brier score."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import partial, reduce
from operator import iadd
from typing import Any

import numpy as np

from skstream.core.measures.formulas import NEGLIGIBLE, Sums, brier, disagreement, ratio
from skstream.core.measures.measure import Measure
from skstream.core.measures.registry import offer_measure
from skstream.core.measures.rows import Array, Floats, ScoredRows
from skstream.core.measures.series import Column, OfColumn
from skstream.metrics._names import parametrised
from skstream.utils._choices import check_choice, check_count

#: Cells of equal width whose unions are the bins of equal mass.
MASS_CELLS = 64
#: Most classes of measures that need a sum for every bin of every class.
MOST_CLASSES = 10


def calibration_error(
    n_bins: int = 10, *, strategy: str = "uniform", norm: str = "expected"
) -> Measure:
    """Expected (or maximum) calibration error of the probabilities, in bins.

    Parameters
    ----------
    n_bins : int, default=10
        Number of bins. With more bins the error of a perfect model grows, as the frequency in each
        bin becomes noisier.
    strategy : {"uniform", "quantile"}, default="uniform"
        Bins of equal width, or of equal mass: the latter are unions of neighbouring cells of width
        1/64, and their shares differ from 1 / n_bins by at most that of the largest cell.
    norm : {"expected", "max"}, default="expected"
        Mean difference over the rows, or the largest difference of any bin.

    Returns
    -------
    Measure
        Named ``"calibration_error"``, with ``"_max"`` and ``"_quantile"`` appended, and another
        number of bins after a colon: ``"calibration_error_max:20"``. Evaluators accept all these
        names.

    See Also
    --------
    brier_part : The reliability squares the differences.

    Notes
    -----
    For two classes, the probability of the second is compared with the share of its labels. For
    more classes, the largest probability is compared with the share of rows whose most probable
    class is the label (Guo et al. 2017).

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
    return parametrised(name, formula, formula.series, n_bins, 10, bounds=(0.0, 1.0))


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
    >>> from skstream.metrics._calibration import brier_part
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
    return parametrised(
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


@dataclass(frozen=True)
class ConfidenceBins(Column):
    """The bin of each row's probability, and how far this lies above what came.

    Of two classes the probability of the second and whether it came; of more the largest
    probability and whether its class came.
    """

    n_bins: int

    def read(self, rows: ScoredRows, state: Any) -> tuple[tuple[Array, Floats], Any]:
        """Return bins and gaps."""
        if rows.s.shape[1] == 1:
            confidence = rows.s[:, 0]
            return (_bins(confidence, self.n_bins), confidence - (rows.y == 1)), state
        first = rows.s.argmax(axis=1)
        confidence = rows.s[np.arange(len(rows)), first]
        return (_bins(confidence, self.n_bins), confidence - (rows.y == first)), state


@dataclass(frozen=True)
class ClassBins(Column):
    """The bin of each class's probability, of two classes the second's, and its gap."""

    n_bins: int

    def read(self, rows: ScoredRows, state: Any) -> tuple[tuple[Array, Floats], Any]:
        """Return bins and gaps, shape (n_rows, n_columns)."""
        came = rows.y[:, np.newaxis] == np.arange(rows.s.shape[1])
        if rows.s.shape[1] == 1:
            came = rows.y[:, np.newaxis] == 1
        return (_bins(rows.s, self.n_bins), rows.s - came), state


def _bins(probabilities: Floats, n_bins: int) -> Array:
    """Numbers of bins [b / n, (b + 1) / n); the last one also holds 1."""
    bins = (probabilities * n_bins).astype(np.min_scalar_type(n_bins))
    np.minimum(bins, n_bins - 1, out=bins)
    return bins


def gaps_of(column: Column, n_codes: int, *, per_class: bool = False) -> OfColumn:
    """Sum of the gaps in every bin."""
    return OfColumn(column, output=1, by=0, n_codes=n_codes, per_class=per_class)


def counts_of(column: Column, n_codes: int, *, per_class: bool = False) -> OfColumn:
    """Rows in every bin."""
    return OfColumn(column, output=None, by=0, n_codes=n_codes, per_class=per_class)


@dataclass(frozen=True)
class CalibrationError:
    """Mean over the rows, or largest over the bins, of the absolute mean gap of a bin.

    Attributes
    ----------
    n_bins : int
        Number of bins.
    strategy : {"uniform", "quantile"}
        Bins of equal width or of equal mass.
    norm : {"expected", "max"}
        Which error.
    """

    n_bins: int
    strategy: str
    norm: str

    @property
    def series(self) -> tuple[OfColumn, ...]:
        """The series that it needs: gaps, and rows per bin where these count."""
        n_cells = self.n_bins if self.strategy == "uniform" else MASS_CELLS
        column = ConfidenceBins(n_cells)
        series = gaps_of(column, n_cells), counts_of(column, n_cells)
        counted = self.strategy == "quantile" or self.norm == "max"
        return series if counted else series[:1]

    def __call__(self, sums: Sums) -> Floats:
        """Return the error at every checkpoint."""
        rows = sums["rows"]
        gaps, *counts = (sums.of_classes(series) for series in self.series)
        if self.strategy == "quantile":
            gaps, *counts = _of_equal_mass(gaps, counts[0], rows, self.n_bins)
        if self.norm == "expected":
            return ratio(_total(map(np.abs, gaps)), rows)
        errors = map(np.abs, _of_bins(gaps, counts[0], rows))
        largest = reduce(np.maximum, errors)
        return np.where(rows > 0.0, largest, np.nan)


def _total(of_bins: Iterable[Floats]) -> Floats:
    """Sum over the bins; the first array is written into."""
    return reduce(iadd, of_bins)


def _of_bins(sums: Iterable[Floats], counts: Iterable[Floats], rows: Floats) -> Iterator[Floats]:
    """Sums of the bins by their rows; 0 of an empty one, NaN where probabilities are missing."""
    with np.errstate(all="ignore"):
        for of_bin, count in zip(sums, counts, strict=True):
            mean = of_bin / count
            mean[count <= NEGLIGIBLE * rows] = 0.0
            yield mean


def _of_equal_mass(
    gaps: Iterable[Floats], counts: Iterable[Floats], rows: Floats, n_bins: int
) -> tuple[Floats, Floats]:
    """Sums over groups of neighbouring cells, each cell in the group of its middle row."""
    every = np.arange(len(rows))
    sums = np.zeros((n_bins, len(rows))), np.zeros((n_bins, len(rows)))
    below = np.zeros(len(rows))
    missing = np.zeros(len(rows), dtype=bool)
    for gap, count in zip(gaps, counts, strict=True):
        with np.errstate(all="ignore"):
            middle = (below + 0.5 * count) * (n_bins / rows)
        missing |= np.isnan(count)
        group = np.clip(np.nan_to_num(middle), 0.0, n_bins - 1.0).astype(np.intp)
        sums[0][group, every] += gap
        sums[1][group, every] += count
        below += count
    for table in sums:
        table[:, missing] = np.nan
    return sums


@dataclass(frozen=True)
class BrierPart:
    """A part of the Brier score, which is reliability - resolution + uncertainty.

    Attributes
    ----------
    part : {"reliability", "resolution", "uncertainty"}
        Which part.
    n_bins : int
        Number of bins of equal width.
    """

    part: str
    n_bins: int

    @property
    def series(self) -> tuple[str | OfColumn, ...]:
        """The series that it needs."""
        if self.part == "uncertainty":
            return ("label",)
        column = ClassBins(self.n_bins)
        bins = tuple(make(column, self.n_bins, per_class=True) for make in (gaps_of, counts_of))
        return bins if self.part == "reliability" else (*bins, "label", "brier")

    def __call__(self, sums: Sums) -> Floats:
        """Return the part at every checkpoint."""
        if self.part == "uncertainty":
            return sums.value(_uncertainty)
        if self.part == "reliability":
            return self._reliability(sums)
        reliability = sums.value(BrierPart("reliability", self.n_bins))
        return reliability + sums.value(_uncertainty) - sums.value(brier)

    def _reliability(self, sums: Sums) -> Floats:
        gaps, counts = (sums.of_classes(series) for series in self.series)
        rows = sums["rows"]
        squares = (of_bin * of_bin for of_bin in gaps)
        return ratio(_total(_of_bins(squares, counts, rows)), rows)


def _uncertainty(sums: Sums) -> Floats:
    """Brier score of a forecaster who says the shares of the classes that came."""
    label, rows = sums.of_classes("label"), sums["rows"]
    apart = disagreement(label, label)
    return ratio(apart if len(label) > 2 else 0.5 * apart, rows * rows)


for _part, _meaning in (
    ("reliability", "how far probabilities are from observed frequencies"),
    ("resolution", "how much observed frequencies differ between probabilities"),
):
    _of = partial(brier_part, _part)
    offer_measure(_of(), f"part of brier: {_meaning}", _of)
offer_measure(brier_part("uncertainty"), "part of brier: uncertainty from the class shares alone")
for _norm, _gap in (
    ("expected", "mean gap between probability and frequency"),
    ("max", "largest gap"),
):
    for _strategy, _bins_of in (("uniform", "equal width"), ("quantile", "equal mass")):
        _of = partial(calibration_error, strategy=_strategy, norm=_norm)
        offer_measure(_of(), f"{_gap}, in bins of {_bins_of}", _of)
