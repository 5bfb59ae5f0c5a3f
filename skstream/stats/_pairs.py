"""Losses of two models row by row: their weights, and sums that forget; intervals of shares."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.special import ndtri

from skstream.core.forgetting import as_forgetting
from skstream.core.measures.checkpoints import CheckpointRecorder
from skstream.forgetting import Forgetting
from skstream.stats._checks import FloatArray, as_floats, as_pair, check_names
from skstream.stats._report import number, plural
from skstream.utils._choices import check_count
from skstream.utils._running_sums import running_sums


def wilson(share: np.ndarray, n: np.ndarray, level: float) -> tuple[np.ndarray, np.ndarray]:
    """Confidence interval of a share of `n` independent rows (Wilson 1927).

    With weights `n` is the number of rows of equal weight that would tell as much (Kish 1965).
    """
    z2 = ndtri(0.5 + level / 2) ** 2
    middle = (share + z2 / (2 * n)) / (1 + z2 / n)
    half = np.sqrt(z2 * (share * (1 - share) / n + z2 / (4 * n**2))) / (1 + z2 / n)
    return np.clip(middle - half, 0.0, 1.0), np.clip(middle + half, 0.0, 1.0)


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
            f"{number(self.total)} and a largest weight of {number(self.largest)}, which carry as "
            f"much information as {number(self.effective_rows)} rows of equal weight."
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
            f"sample_weight must contain one weight per row, shape ({n_rows},). Got shape "
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


class RunningPair(ABC):
    """Comparison of two models, row by row, while the stream is running.

    Parameters
    ----------
    n_columns : int
        Number of curves recorded.
    record_every : int or None
        Keep every row whose number is a multiple of this, and the last one. None keeps at most
        1,024 rows: the interval doubles whenever they would become more.
    names : sequence of two str
        Names of the models.
    """

    #: What is wrong with a loss that cannot be taken, in the words of an error.
    _wanted: ClassVar[str] = ""
    largest_weight: float = LARGEST_WEIGHT

    def __init__(self, n_columns: int, record_every: int | None, names: Sequence[str]) -> None:
        if record_every is not None:
            check_count(record_every, "record_every", 1)
        self.names = check_names(names, 2)
        self._recorder = CheckpointRecorder(n_columns, record_every)
        self._tally = WeightTally()

    @property
    def n_rows(self) -> int:
        """Number of rows compared so far."""
        return self._recorder.n_followed

    def update(
        self, loss_a: ArrayLike, loss_b: ArrayLike, *, sample_weight: ArrayLike | None = None
    ) -> Self:
        """Take the losses of the next rows.

        Parameters
        ----------
        loss_a, loss_b : array-like of shape (n_rows,), or a single number
            Losses of the two models.
        sample_weight : array-like of shape (n_rows,), default=None
            Scoring weights, at least 0. Rows of weight 0 are left out; None: each counts once.

        Returns
        -------
        RunningPair
            Itself.

        Raises
        ------
        ValueError
            If lengths differ, a loss cannot be taken, or a weight is negative or too large.
        """
        a, b = as_pair(loss_a, loss_b, "loss_a", "loss_b")
        for name, losses in (("loss_a", a), ("loss_b", b)):
            bad = np.flatnonzero(self._wrong(losses))
            if bad.size:
                raise ValueError(f"{name}[{bad[0]}] is {losses[bad[0]]:g}{self._wanted}")
        weight = as_weights(sample_weight, len(a))
        largest = 1.0 if weight is None else float(weight.max(initial=0.0))
        if largest > self.largest_weight:
            raise ValueError(
                f"A row has the weight {largest:g}, but largest_weight is {self.largest_weight:g}. "
                "Give the largest weight that a row can have."
            )
        weight, a, b = drop_unweighted(weight, a, b)
        self._tally.update(weight, len(a))
        self._read(a, b, weight)
        return self

    @abstractmethod
    def _wrong(self, losses: FloatArray) -> NDArray[np.bool_]:
        """Tell of each loss whether it cannot be taken."""

    @abstractmethod
    def _read(self, a: FloatArray, b: FloatArray, weight: FloatArray | None) -> None:
        """Read checked losses, and their positive weights; None where each row counts once."""

    def _curves(self) -> tuple[NDArray[np.int64], FloatArray]:
        """Return the rows kept, counted from 1, and their values, of shape (n_columns, n_rows)."""
        if not self.n_rows:
            raise ValueError("No rows were compared yet; call update with their losses first.")
        rows, values = self._recorder.followed()
        return rows.copy(), values.copy()


def one_forgetting(forgetting: Forgetting | str, purpose: str) -> Forgetting:
    """Return the one mechanism named, or raise if sums are not defined for it."""
    mechanisms = list(as_forgetting(forgetting).values())
    if len(mechanisms) != 1:
        raise ValueError(
            f"{purpose} takes one forgetting mechanism at a time. Got {len(mechanisms)}: "
            f"{mechanisms}."
        )
    if mechanisms[0].follows_loss:
        raise ValueError(
            f"{purpose} is not defined with {type(mechanisms[0]).__name__}, whose window follows "
            "the 0/1 loss of one model, but here there are two. Use Cumulative, SlidingWindow or "
            "FadingFactor."
        )
    if mechanisms[0].counts_time:
        raise ValueError(
            f"{purpose} counts rows, but {mechanisms[0]} counts time. Use rows, as in "
            'forgetting="window:1000".'
        )
    return mechanisms[0]
