"""McNemar's signed statistic while the stream is running."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy import stats

from skstream.forgetting import FadingFactor, Forgetting
from skstream.stats._checks import FloatArray, check_alpha
from skstream.stats._forgetting import make_running_sum, one_forgetting
from skstream.stats._mcnemar import (
    ROW_CAVEAT,
    name_of_better,
    signed_statistic,
    zero_one_losses,
)
from skstream.stats._recorder import RunningPair
from skstream.stats._report import CurveReport, against_alpha, format_p, number, plural
from skstream.stats._weights import RowWeights, weight_sentences

# Below this about ten rows decide, and the chi-squared approximation is poor.
LEAST_FADING_FACTOR = 0.9


@dataclass(frozen=True, kw_only=True, repr=False, eq=False)
class McNemarCurve(CurveReport):
    """Signed McNemar statistic over time.

    Attributes
    ----------
    checkpoints : ndarray of shape (n_checkpoints,)
        Number of rows seen at each checkpoint.
    only_a_wrong, only_b_wrong : ndarray of shape (n_checkpoints,)
        Running (windowed, faded) counts of rows on which one model errs and the other does not;
        sums of their weights where the rows are weighted.
    variances : ndarray of shape (n_checkpoints,)
        Variance of the difference of the two counts if the models are equally good: the sum of
        the squares of what the discordant rows count, faded and weighted. Without either it is
        the number of discordant rows.
    statistics : ndarray of shape (n_checkpoints,)
        Signed statistics, whose sizes the p-values belong to; positive where the first model errs
        more.
    pvalues : ndarray of shape (n_checkpoints,)
        Two-sided chi-squared p-values, each valid for a single look. NaN under a fading factor
        below 0.9, where too few rows count for the chi-squared approximation.
    forgetting : Forgetting
        What the counts remember.
    alpha : float
        Level of the printed statement.
    names : tuple of str
        The two models.
    weights : RowWeights or None
        Sums of the scoring weights; None if the rows have none.
    """

    _relation = "errs less than"

    only_a_wrong: FloatArray
    only_b_wrong: FloatArray
    variances: FloatArray
    statistics: FloatArray
    pvalues: FloatArray
    forgetting: Forgetting
    alpha: float
    weights: RowWeights | None = None

    @property
    def statistic(self) -> float:
        """Signed statistic at the last row."""
        return float(self.statistics[-1])

    @property
    def pvalue(self) -> float | None:
        """P-value at the last row; None where there is none."""
        return None if np.isnan(self.pvalues[-1]) else float(self.pvalues[-1])

    @property
    def significant(self) -> bool:
        """Whether the p-value at the last row is below alpha."""
        return bool(self.pvalues[-1] < self.alpha)

    @property
    def better(self) -> str | None:
        """Name of the model shown to err less at the last row, or None."""
        return name_of_better(self.statistic, self.significant, self.names)

    def thresholds(self, alpha: float) -> FloatArray:
        """Return the size of the statistic above which its p-value is below a level.

        Parameters
        ----------
        alpha : float
            Level, in (0, 1).

        Returns
        -------
        ndarray of shape (n_checkpoints,)
            3.841 at 5 %; NaN where there is no p-value.
        """
        quantile = stats.chi2.isf(check_alpha(alpha), 1)
        return np.where(np.isnan(self.pvalues), np.nan, quantile)

    def _columns(self) -> dict[str, FloatArray]:
        return {
            "only_a_wrong": self.only_a_wrong,
            "only_b_wrong": self.only_b_wrong,
            "statistic": self.statistics,
            "pvalue": self.pvalues,
        }

    def _verdict(self) -> str:
        after = f"{self._after()}: signed M = {number(self.statistic)}"
        if self.pvalue is None:
            return f"{self.names[0]} and {self.names[1]} {after}, no p-value"
        return f"{self._answer()} {after}, {format_p(self.pvalue)}"

    def _sentences(self) -> list[str]:
        count_a, count_b = self.only_a_wrong[-1], self.only_b_wrong[-1]
        what = "counts" if self.weights is None else "weights"
        counts = (
            f"{self._after()} under {self.forgetting.name}: running {what} of "
            f"rows on which only {self.names[0]} is wrong {count_a:,.6g}, only {self.names[1]} "
            f"{count_b:,.6g} (McNemar's test, signed M = {number(self.statistic)}"
        )
        if self.pvalue is None:
            sentences = [
                f"{self.names[0]} and {self.names[1]} {counts}).",
                f"There is no p-value under a fading factor below {LEAST_FADING_FACTOR:g}: the "
                "last few rows decide.",
            ]
        else:
            sentences = [
                f"{self._answer()} {counts}, chi-squared, 1 degree of "
                f"freedom, two-sided, {against_alpha(self.pvalue, self.alpha)}).",
                f"At {np.mean(self.pvalues < self.alpha):.0%} of the "
                f"{plural(len(self.checkpoints), 'checkpoint')} the p-value is below alpha.",
            ]
        return [
            *sentences,
            *weight_sentences(self.weights),
            "Rows on which both are right or both wrong do not count.",
            ROW_CAVEAT,
        ]


class RunningMcNemar(RunningPair):
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
    checkpoint: each p-value is valid for one look only. Under a fading factor a row that counts
    ``f`` adds ``f`` to a + b and ``f**2`` to the variance of a - b. The statistic divides by the
    variance, as with weights: after many rows it is ``1 + fading_factor`` times the one that
    divides the faded ``(a - b)**2`` by the faded a + b, and it is chi-squared in the first rows,
    and after bursts of disagreement, too.

    Examples
    --------
    >>> from skstream.stats._mcnemar_curve import RunningMcNemar
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
        super().__init__(3, record_every, names)
        self._only_a_wrong = make_running_sum(self.forgetting)
        self._only_b_wrong = make_running_sum(self.forgetting)
        self._variance = make_running_sum(self.forgetting, power=2)

    _wanted = (
        "; McNemar's test needs 0/1 losses (1 where the answer is wrong). For other losses use "
        "q_statistic or anytime_comparison."
    )

    def _wrong(self, losses: FloatArray) -> NDArray[np.bool_]:
        wrong: NDArray[np.bool_] = (losses != 0) & (losses != 1)
        return wrong

    def _read(self, a: FloatArray, b: FloatArray, weight: FloatArray | None) -> None:
        only_a, only_b = (a > b).astype(np.float64), (b > a).astype(np.float64)
        if weight is not None:
            only_a, only_b = weight * only_a, weight * only_b
        self._recorder.record(
            self._only_a_wrong.update(only_a),
            self._only_b_wrong.update(only_b),
            self._variance.update((only_a + only_b) ** 2),
        )

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
        checkpoints, (only_a_wrong, only_b_wrong, variances) = self._recorder.curves()
        too_short = (
            isinstance(self.forgetting, FadingFactor)
            and self.forgetting.factor < LEAST_FADING_FACTOR
        )
        statistics = signed_statistic(only_a_wrong, only_b_wrong, variances)
        pvalues = stats.chi2.sf(np.abs(statistics), 1)
        return McNemarCurve(
            checkpoints=checkpoints,
            only_a_wrong=only_a_wrong,
            only_b_wrong=only_b_wrong,
            variances=variances,
            statistics=statistics,
            pvalues=np.full(len(checkpoints), np.nan) if too_short else pvalues,
            forgetting=self.forgetting,
            alpha=self.alpha,
            names=self.names,
            weights=self._tally.result(),
        )


def mcnemar_curve(
    y_true: ArrayLike,
    y_pred_a: ArrayLike,
    y_pred_b: ArrayLike,
    *,
    sample_weight: ArrayLike | None = None,
    forgetting: Forgetting | str = "cumulative",
    record_every: int | None = None,
    alpha: float = 0.05,
    names: Sequence[str] = ("A", "B"),
) -> McNemarCurve:
    """Compute McNemar's signed statistic of two models over time.

    Parameters
    ----------
    y_true : array-like of shape (n_rows,)
        True labels, in stream order: integers, booleans, strings, or whole numbers stored as
        floats.
    y_pred_a, y_pred_b : array-like of shape (n_rows,)
        Answers of the two models, labels of the same kind.
    sample_weight : array-like of shape (n_rows,), default=None
        Scoring weights, at least 0. Rows of weight 0 are left out; None: every row counts once.
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
        If there is no row, lengths differ, a label or an answer is missing, strings meet numbers,
        a number is no class label (a probability), or a parameter is not valid.

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
    return running.update(
        *zero_one_losses(y_true, y_pred_a, y_pred_b), sample_weight=sample_weight
    ).result()
