"""Logarithm of the ratio of two models' accumulated losses."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from skstream.forgetting import Forgetting
from skstream.stats._checks import FloatArray
from skstream.stats._pairs import RowWeights, RunningPair, one_forgetting, weight_sentences
from skstream.stats._report import CurveReport, over_rows, plural


@dataclass(frozen=True, kw_only=True, repr=False, eq=False)
class QStatisticResult(CurveReport):
    """Result of `q_statistic`.

    Attributes
    ----------
    checkpoints : ndarray of shape (n_checkpoints,)
        Number of rows seen at each checkpoint.
    loss_a, loss_b : ndarray of shape (n_checkpoints,)
        Running (windowed, faded) sums of the losses of the two models.
    values : ndarray of shape (n_checkpoints,)
        ``log(loss_a / loss_b)``; positive where the first model loses more.
    forgetting : Forgetting
        What the sums remember.
    names : tuple of str
        The two models.
    weights : RowWeights or None
        Sums of the scoring weights; None if the rows have none.
    """

    loss_a: FloatArray
    loss_b: FloatArray
    values: FloatArray
    forgetting: Forgetting
    weights: RowWeights | None = None

    @property
    def value(self) -> float:
        """The statistic at the last row."""
        return float(self.values[-1])

    @property
    def ahead(self) -> str | None:
        """Name of the model with the smaller loss at the last row; None if they are equal."""
        if self.value == 0:
            return None
        return self.names[1] if self.value > 0 else self.names[0]

    @property
    def pvalue(self) -> None:
        """None: Q describes, and tests nothing."""
        return None

    @property
    def significant(self) -> bool:
        """False: Q describes, and tests nothing."""
        return False

    @property
    def better(self) -> None:
        """None: Q shows no model to be better; `ahead` says which has the smaller loss."""
        return None

    def _columns(self) -> dict[str, FloatArray]:
        return {"loss_a": self.loss_a, "loss_b": self.loss_b, "q": self.values}

    def _verdict(self) -> str:
        lead = f"{self.ahead} is ahead" if self.ahead else "neither model is ahead"
        return f"{lead} {self._after()}: Q = {self.value:.4g}"

    def _sentences(self) -> list[str]:
        lead = f"{self.ahead} is ahead" if self.ahead else "Neither model is ahead"
        share = np.mean(np.sign(self.values) == np.sign(self.value))
        return [
            f"{lead} {self._after()}, {over_rows(self.forgetting.name)}: "
            f"Q = log(loss of {self.names[0]} / loss of {self.names[1]}) = {self.value:.4g}, "
            f"running losses {self.loss_a[-1]:,.6g} and {self.loss_b[-1]:,.6g}.",
            f"Q {'has this sign' if self.value else 'is 0'} at {share:.0%} of the "
            f"{plural(len(self.checkpoints), 'checkpoint')}.",
            *weight_sentences(self.weights),
            "Q is descriptive: it has no p-value and does not show that the difference is beyond "
            "chance.",
        ]


class RunningQStatistic(RunningPair):
    """Q statistic of two models while the stream is running.

    Parameters
    ----------
    forgetting : Forgetting or str, default="cumulative"
        Which rows count in the sums of losses: Cumulative, SlidingWindow or FadingFactor, or a name
        such as ``"window:1000"``. AdaptiveWindow is an error: ADWIN follows the loss of one model.
    record_every : int, default=None
        Keep every row whose number is a multiple of this, and the last one. None keeps at most
        1,024 rows, the interval doubling.
    names : sequence of two str, default=("A", "B")
        Names of the models.

    Raises
    ------
    ValueError
        If a parameter is not valid.

    See Also
    --------
    q_statistic : The same from arrays.

    Examples
    --------
    >>> from skstream.stats._q_statistic import RunningQStatistic
    >>> running = RunningQStatistic("cumulative")
    >>> _ = running.update([0, 1, 1], [0, 1, 0])
    >>> running.result().values.round(3).tolist()
    [0.0, 0.0, 0.693]
    """

    def __init__(
        self,
        forgetting: Forgetting | str = "cumulative",
        *,
        record_every: int | None = None,
        names: Sequence[str] = ("A", "B"),
    ) -> None:
        self.forgetting = one_forgetting(forgetting, "The Q statistic")
        super().__init__(2, record_every, names)
        self._loss_a = self.forgetting.sum_of_values()
        self._loss_b = self.forgetting.sum_of_values()

    _wanted = "; the Q statistic needs nonnegative losses, such as 0/1 or absolute errors."

    def _wrong(self, losses: FloatArray) -> NDArray[np.bool_]:
        return losses < 0

    def _read(self, a: FloatArray, b: FloatArray, weight: FloatArray | None) -> None:
        if weight is not None:
            a, b = weight * a, weight * b
        self._recorder.follow(self._loss_a.update(a), self._loss_b.update(b))

    def result(self) -> QStatisticResult:
        """Return the curve so far.

        Returns
        -------
        QStatisticResult
            Running losses and Q at the checkpoints and at the last row.

        Raises
        ------
        ValueError
            If there was no row yet.
        """
        checkpoints, (loss_a, loss_b) = self._curves()
        return QStatisticResult(
            checkpoints=checkpoints,
            loss_a=loss_a,
            loss_b=loss_b,
            values=log_ratio(loss_a, loss_b),
            forgetting=self.forgetting,
            names=self.names,
            weights=self._tally.result(),
        )


def log_ratio(numerator: FloatArray, denominator: FloatArray) -> FloatArray:
    """Logarithm of a ratio of nonnegative numbers; 0/0 gives 0, x/0 +inf and 0/x -inf."""
    with np.errstate(divide="ignore", invalid="ignore"):
        # Two logarithms, because the ratio of a large and a tiny number can overflow.
        ratio = np.log(numerator) - np.log(denominator)
    return np.where(numerator == denominator, 0.0, ratio)


def q_statistic(
    loss_a: ArrayLike,
    loss_b: ArrayLike,
    *,
    sample_weight: ArrayLike | None = None,
    forgetting: Forgetting | str = "cumulative",
    record_every: int | None = None,
    names: Sequence[str] = ("A", "B"),
) -> QStatisticResult:
    """Compute the logarithm of the ratio of two models' losses over time.

    Parameters
    ----------
    loss_a, loss_b : array-like of shape (n_rows,)
        Nonnegative losses of the two models, in stream order.
    sample_weight : array-like of shape (n_rows,), default=None
        Scoring weights, at least 0; the losses are multiplied by them. Rows of weight 0 are left
        out. None: every row counts once.
    forgetting : Forgetting or str, default="cumulative"
        Which rows count in the sums of losses: Cumulative, SlidingWindow or FadingFactor, or a name
        such as ``"window:1000"``. AdaptiveWindow is an error: ADWIN follows the loss of one model.
    record_every : int, default=None
        Keep every row whose number is a multiple of this, and the last one. None keeps at most
        1,024 rows, the interval doubling.
    names : sequence of two str, default=("A", "B")
        Names of the models.

    Returns
    -------
    QStatisticResult
        Running losses and Q at the checkpoints and at the last row.

    Raises
    ------
    ValueError
        If there is no row, lengths differ, a loss or weight is negative or not finite, or a
        parameter is not valid.

    See Also
    --------
    RunningQStatistic : The same while the stream is running.
    anytime_comparison : Tests whether the difference is beyond chance.

    Notes
    -----
    ``Q = log(S_A / S_B)`` of the running sums. It is positive while the first model has the larger
    loss. It is 0 if both sums are 0, and infinite if only one is. With Cumulative it hardly reacts
    to recent changes, which is why Gama et al. advise a window or a fading factor.

    References
    ----------
    J. Gama, R. Sebastiao and P. P. Rodrigues. On evaluating stream learning algorithms.
    Machine Learning 90, 2013, section 4.

    Examples
    --------
    >>> from skstream.stats import q_statistic
    >>> q_statistic([0, 1, 1], [0, 0, 1]).values.round(3).tolist()
    [0.0, inf, 0.693]
    """
    running = RunningQStatistic(forgetting, record_every=record_every, names=names)
    return running.update(loss_a, loss_b, sample_weight=sample_weight).result()
