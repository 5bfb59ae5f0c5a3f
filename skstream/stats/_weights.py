"""Scoring weights of rows, in the tests that compare row by row."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from skstream.stats._checks import FloatArray, as_floats
from skstream.stats._report import number, plural
from skstream.utils._running_sums import running_sums

# The squares of such weights, and sums of them, neither overflow nor vanish.
LARGEST_WEIGHT, SMALLEST_WEIGHT = 1e100, 1e-100


@dataclass(frozen=True, kw_only=True)
class RowWeights:
    """Sums of the scoring weights of the rows compared so far.

    Results of comparisons row by row hold it as `weights` where the rows have weights.

    Attributes
    ----------
    n_rows : int
        Rows of positive weight; the others are not compared.
    total : float
        Sum of the weights.
    total_squares : float
        Sum of their squares.
    largest : float
        The largest weight.

    See Also
    --------
    anytime_comparison, mcnemar, q_statistic : Take weights.

    Examples
    --------
    >>> from skstream.stats import q_statistic
    >>> weights = q_statistic([0, 1, 1], [1, 0, 1], sample_weight=[2.0, 1.0, 1.0]).weights
    >>> weights.total, round(weights.effective_rows, 2)
    (4.0, 2.67)
    """

    n_rows: int = 0
    total: float = 0.0
    total_squares: float = 0.0
    largest: float = 0.0

    @property
    def effective_rows(self) -> float:
        """Number of equal rows with the same information: ``total**2 / total_squares``."""
        return self.total**2 / self.total_squares

    def sentence(self) -> str:
        """Say that the rows are weighted."""
        return (
            f"The rows are weighted: {plural(self.n_rows, 'row')} with a total weight of "
            f"{number(self.total)} and a largest weight of {number(self.largest)}, which tell as "
            f"much as {number(self.effective_rows)} of equal weight."
        )


def weight_sentences(weights: RowWeights | None) -> list[str]:
    """Say that the rows are weighted, where they are."""
    return [] if weights is None else [weights.sentence()]


class WeightTally:
    """Adds up weights; the sums do not depend on how the rows were divided into calls."""

    def __init__(self) -> None:
        self._n_plain = 0  # rows that came without weights,
        self._n_weighted = 0  # and with them
        self._sums = np.zeros(2)
        self._largest = 0.0
        self._given = False

    def update(self, weight: FloatArray | None, n_rows: int) -> None:
        """Take the positive weights of the next rows; None where each counts once."""
        if weight is None:
            self._n_plain += n_rows
            return
        self._given = True
        self._n_weighted += n_rows
        if n_rows:
            terms = np.stack((weight, weight * weight), axis=1)
            self._sums = running_sums(self._sums, terms)[-1]
            self._largest = max(self._largest, float(weight.max()))

    def result(self) -> RowWeights | None:
        """Return the sums; None if weights were never given."""
        if not self._given:
            return None
        total, squares = (self._sums + self._n_plain).tolist()
        return RowWeights(
            n_rows=self._n_plain + self._n_weighted,
            total=total,
            total_squares=squares,
            largest=max(self._largest, 1.0) if self._n_plain else self._largest,
        )


def as_weights(sample_weight: ArrayLike | None, n_rows: int) -> FloatArray | None:
    """Return one weight of at least 0 per row as floats, or None for None."""
    if sample_weight is None:
        return None
    weight = np.atleast_1d(as_floats(sample_weight, "sample_weight"))
    if weight.shape != (n_rows,):
        raise ValueError(
            f"sample_weight must hold one weight per row, shape ({n_rows},). Got shape "
            f"{weight.shape} instead."
        )
    usable = (weight == 0) | ((weight >= SMALLEST_WEIGHT) & (weight <= LARGEST_WEIGHT))
    bad = np.flatnonzero(~usable)
    if bad.size:
        raise ValueError(
            f"sample_weight[{bad[0]}] is {weight[bad[0]]:g}. A weight is 0, which leaves the row "
            f"out, or from {SMALLEST_WEIGHT:g} to {LARGEST_WEIGHT:g}."
        )
    return weight


def drop_unweighted(
    weight: FloatArray | None, a: FloatArray, b: FloatArray
) -> tuple[FloatArray | None, FloatArray, FloatArray]:
    """Return weights and losses without the rows of weight 0, which are not compared."""
    if weight is None or weight.all():
        return weight, a, b
    kept = weight > 0
    return weight[kept], a[kept], b[kept]
