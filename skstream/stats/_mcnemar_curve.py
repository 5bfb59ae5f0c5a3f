"""McNemar's signed statistic while the stream is running."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy import stats

from skstream.forgetting import Forgetting
from skstream.stats._checks import FloatArray, as_pair, check_alpha, check_names, read_only
from skstream.stats._mcnemar import (
    ROW_CAVEAT,
    name_of_better,
    row_verdict,
    signed_statistic,
    zero_one_losses,
)
from skstream.stats._recorder import CurveRecorder
from skstream.stats._report import Report, against_alpha, format_p, number, plural
from skstream.stats._running_sums import make_running_sum, one_forgetting
from skstream.utils._optional import optional_import


@dataclass(frozen=True, kw_only=True, repr=False, eq=False)
class McNemarCurve(Report):
    """Signed McNemar statistic over time.

    Attributes
    ----------
    rows : ndarray of shape (n_checkpoints,)
        Number of rows seen at each checkpoint.
    only_a_wrong, only_b_wrong : ndarray of shape (n_checkpoints,)
        Running (windowed, faded) counts of rows on which one model errs and the other does not.
    statistics : ndarray of shape (n_checkpoints,)
        Signed statistics; positive where the first model errs more.
    p_values : ndarray of shape (n_checkpoints,)
        Two-sided chi-squared p-values, each valid for a single look.
    forgetting : Forgetting
        What the counts remember.
    alpha : float
        Level of the printed statement.
    names : tuple of str
        The two models.
    """

    rows: NDArray[np.int64]
    only_a_wrong: FloatArray
    only_b_wrong: FloatArray
    statistics: FloatArray
    p_values: FloatArray
    forgetting: Forgetting
    alpha: float
    names: tuple[str, ...]

    def __post_init__(self) -> None:
        """Protect the arrays."""
        for array in (self.rows, self.only_a_wrong, self.only_b_wrong):
            read_only(array)
        read_only(self.statistics)
        read_only(self.p_values)

    @property
    def n_rows(self) -> int:
        """Number of rows seen."""
        return int(self.rows[-1])

    @property
    def statistic(self) -> float:
        """Signed statistic at the last row."""
        return float(self.statistics[-1])

    @property
    def p_value(self) -> float:
        """P-value at the last row."""
        return float(self.p_values[-1])

    @property
    def significant(self) -> bool:
        """Whether the p-value at the last row is below alpha."""
        return self.p_value < self.alpha

    @property
    def better(self) -> str | None:
        """Name of the model shown to err less at the last row, or None."""
        return name_of_better(self.statistic, self.significant, self.names)

    def to_frame(self) -> Any:
        """Return the curve as a pandas data frame, one row per checkpoint."""
        pandas = optional_import("pandas", "McNemarCurve.to_frame")
        return pandas.DataFrame(
            {
                "n_rows": self.rows,
                "only_a_wrong": self.only_a_wrong,
                "only_b_wrong": self.only_b_wrong,
                "statistic": self.statistics,
                "p_value": self.p_values,
            }
        )

    def _verdict(self) -> str:
        return (
            f"{row_verdict(self.better, self.names)} after {plural(self.n_rows, 'row')}: "
            f"signed M = {number(self.statistic)}, {format_p(self.p_value)}"
        )

    def _sentences(self) -> list[str]:
        count_a, count_b = self.only_a_wrong[-1], self.only_b_wrong[-1]
        return [
            f"{row_verdict(self.better, self.names)} after {plural(self.n_rows, 'row')} under "
            f"{self.forgetting.name}: running counts of rows on which only {self.names[0]} is "
            f"wrong {count_a:,.6g}, only {self.names[1]} {count_b:,.6g} "
            f"(McNemar's test, signed M = {number(self.statistic)}, chi-squared, 1 degree of "
            f"freedom, two-sided, {against_alpha(self.p_value, self.alpha)}).",
            f"At {np.mean(self.p_values < self.alpha):.0%} of the "
            f"{plural(len(self.rows), 'checkpoint')} the p-value is below alpha.",
            "Rows on which both are right or both wrong do not count.",
            ROW_CAVEAT,
        ]


class RunningMcNemar:
    """McNemar's signed statistic of two models while the stream is running.

    Parameters
    ----------
    forgetting : Forgetting or str, default="cumulative"
        What the counts of discordant rows remember: Cumulative, SlidingWindow or FadingFactor, or a
        name such as ``"window:1000"``. AdaptiveWindow is an error: ADWIN follows the loss of
        one model.
    record_every : int, default=None
        Keep every row whose number is a multiple of this, and the last one. None keeps at most
        1,024 rows, the interval doubling.
    alpha : float, default=0.05
        Level of the printed statement, in (0, 1).
    names : sequence of two str, default=("A", "B")
        Names of the models.

    Raises
    ------
    ValueError
        If a parameter is not valid.

    See Also
    --------
    mcnemar_curve : The same from arrays of answers.

    Notes
    -----
    See `mcnemar` for the statistic, and for its warning, which applies here at every
    checkpoint: each p-value is valid for one look only. Under a fading factor the statistic of
    equal models is about ``1 / (1 + fading_factor)`` times chi-squared, so the usual thresholds
    are conservative there.

    Examples
    --------
    >>> from skstream.stats import RunningMcNemar
    >>> running = RunningMcNemar("cumulative")
    >>> _ = running.update([1, 1, 0, 1], [0, 0, 0, 0])
    >>> _ = running.update([1, 0, 1], [0, 1, 1])
    >>> running.result().statistics.tolist()
    [1.0, 2.0, 2.0, 3.0, 4.0, 1.8, 1.8]
    """

    def __init__(
        self,
        forgetting: Forgetting | str = "cumulative",
        *,
        record_every: int | None = None,
        alpha: float = 0.05,
        names: Sequence[str] = ("A", "B"),
    ) -> None:
        self.forgetting = one_forgetting(forgetting, "McNemar's statistic")
        self.alpha = check_alpha(alpha)
        self.names = check_names(names, 2)
        self._only_a_wrong = make_running_sum(self.forgetting)
        self._only_b_wrong = make_running_sum(self.forgetting)
        self._recorder = CurveRecorder(record_every)

    def update(self, loss_a: ArrayLike, loss_b: ArrayLike) -> Self:
        """Take the losses of the next rows.

        Parameters
        ----------
        loss_a, loss_b : array-like of shape (n_rows,), or a single number
            0 or False where the model was right, 1 or True where it was wrong.

        Returns
        -------
        RunningMcNemar
            Itself.

        Raises
        ------
        ValueError
            If lengths differ or a loss is neither 0 nor 1.
        """
        a, b = as_pair(loss_a, loss_b, "loss_a", "loss_b")
        for name, losses in (("loss_a", a), ("loss_b", b)):
            bad = np.flatnonzero((losses != 0) & (losses != 1))
            if bad.size:
                raise ValueError(
                    f"{name}[{bad[0]}] is {losses[bad[0]]:g}; McNemar's test needs 0/1 losses "
                    f"(1 where the answer is wrong). For other losses use q_statistic or "
                    f"anytime_comparison."
                )
        self._recorder.record(
            self._only_a_wrong.update((a > b).astype(np.float64)),
            self._only_b_wrong.update((b > a).astype(np.float64)),
        )
        return self

    def result(self) -> McNemarCurve:
        """Return the curve so far.

        Returns
        -------
        McNemarCurve
            Counts, statistics and p-values at the checkpoints and at the last row.

        Raises
        ------
        ValueError
            If there was no row yet.
        """
        rows, counts = self._recorder.curve()
        only_a_wrong, only_b_wrong = counts.T.copy()
        statistics = signed_statistic(only_a_wrong, only_b_wrong)
        return McNemarCurve(
            rows=rows,
            only_a_wrong=only_a_wrong,
            only_b_wrong=only_b_wrong,
            statistics=statistics,
            p_values=stats.chi2.sf(np.abs(statistics), 1),
            forgetting=self.forgetting,
            alpha=self.alpha,
            names=self.names,
        )


def mcnemar_curve(
    y_true: ArrayLike,
    a: ArrayLike,
    b: ArrayLike,
    *,
    forgetting: Forgetting | str = "cumulative",
    record_every: int | None = None,
    alpha: float = 0.05,
    names: Sequence[str] = ("A", "B"),
) -> McNemarCurve:
    """Compute McNemar's signed statistic of two models over time.

    Parameters
    ----------
    y_true : array-like of shape (n_rows,)
        True labels, in stream order.
    a, b : array-like of shape (n_rows,)
        Answers of the two models.
    forgetting : Forgetting or str, default="cumulative"
        What the counts of discordant rows remember: Cumulative, SlidingWindow or FadingFactor, or a
        name such as ``"window:1000"``. AdaptiveWindow is an error: ADWIN follows the loss of
        one model.
    record_every : int, default=None
        Keep every row whose number is a multiple of this, and the last one. None keeps at most
        1,024 rows, the interval doubling.
    alpha : float, default=0.05
        Level of the printed statement, in (0, 1).
    names : sequence of two str, default=("A", "B")
        Names of the models.

    Returns
    -------
    McNemarCurve
        Counts, statistics and p-values at the checkpoints and at the last row.

    Raises
    ------
    ValueError
        If there is no row, lengths differ, a label is NaN or a parameter is not valid.

    See Also
    --------
    mcnemar : The final test, and the warning that applies to both.
    RunningMcNemar : The same while the stream is running.

    Examples
    --------
    >>> from skstream.stats import mcnemar_curve
    >>> curve = mcnemar_curve([1, 1, 1, 1], [1, 0, 0, 0], [1, 1, 1, 1])
    >>> curve.statistics.tolist()
    [0.0, 1.0, 2.0, 3.0]
    """
    running = RunningMcNemar(forgetting, record_every=record_every, alpha=alpha, names=names)
    return running.update(*zero_one_losses(y_true, a, b)).result()
