"""McNemar's test: on all predictions of two models, and its signed statistic over time."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy import stats

from skstream.forgetting import Forgetting
from skstream.stats._checks import FloatArray, check_alpha, check_names
from skstream.stats._pairs import (
    RowWeights,
    RunningPair,
    WeightTally,
    as_weights,
    drop_unweighted,
    one_forgetting,
    weight_sentences,
)
from skstream.stats._report import (
    CurveReport,
    SignificanceTest,
    against_alpha,
    format_p,
    number,
    over_rows,
    plural,
)
from skstream.utils._choices import check_choice
from skstream.utils._labels import encode_together

ROW_CAVEAT = (
    "McNemar's test assumes independent rows: over folds that share rows, on long streams and "
    "under repeated looks, it finds differences that do not exist (Bifet et al. 2015); use a fold "
    "test or the anytime comparison."
)
# Below this about ten rows decide, and the chi-squared approximation is poor.
LEAST_FADING_FACTOR = 0.9


@dataclass(frozen=True, kw_only=True, repr=False)
class McNemarResult(SignificanceTest):
    """Result of `mcnemar`.

    Attributes
    ----------
    only_a_wrong, only_b_wrong : int, or float where the rows are weighted
        Rows on which one model errs and the other does not, or the sums of their weights.
    n_rows : int
        Number of rows, those of weight 0 left out.
    statistic : float
        Signed statistic, whose size the chi-squared p-value belongs to; positive if the first
        model errs more, 0 without discordant rows.
    variance : float
        Sum of the squared weights of the discordant rows: what the square of the difference of
        the counts is compared with. Without weights it is the number of discordant rows.
    pvalue : float
        Two-sided p-value.
    method : {"chi2", "exact"}
        Chi-squared with one degree of freedom, or the binomial distribution of the discordant
        rows.
    alpha : float
        Level of the test.
    names : tuple of str
        The two models.
    weights : RowWeights or None
        Sums of the scoring weights; None if the rows have none.
    """

    _relation = "errs less than"

    only_a_wrong: float
    only_b_wrong: float
    n_rows: int
    statistic: float
    variance: float
    method: str
    weights: RowWeights | None = None

    @property
    def uncorrected(self) -> float:
        """Signed statistic of the two counts alone: another one where rows have weights."""
        counts = np.array([[self.only_a_wrong], [self.only_b_wrong]], dtype=np.float64)
        return float(_of_counts(*counts)[0])

    @property
    def better(self) -> str | None:
        """Name of the model shown to err less, or None."""
        return name_of_better(self.statistic, self.significant, self.names)

    def _verdict(self) -> str:
        return f"{self._answer()}: signed M = {number(self.statistic)}, {format_p(self.pvalue)}"

    def _sentences(self) -> list[str]:
        method = {"chi2": "chi-squared, 1 degree of freedom", "exact": "exact binomial"}
        m, other = _both_named(self.statistic, self.uncorrected)
        return [
            f"{self._answer()} on {plural(self.n_rows, 'row')}: only "
            f"{self.names[0]} is wrong on {self._count(self.only_a_wrong)}, only {self.names[1]} "
            f"on {self._count(self.only_b_wrong)} (McNemar's test, {m}, "
            f"{method[self.method]}, two-sided, {against_alpha(self.pvalue, self.alpha)}{other}).",
            *weight_sentences(self.weights),
            "Rows on which both are right or both wrong do not count.",
            ROW_CAVEAT,
        ]

    def _count(self, count: float) -> str:
        return f"{count:,}" if self.weights is None else f"a weight of {number(count)}"


def name_of_better(statistic: float, significant: bool, names: tuple[str, ...]) -> str | None:
    """Name the model with fewer errors if the difference is significant."""
    if not significant:
        return None
    return names[1] if statistic > 0 else names[0]


def signed_statistic(
    only_a_wrong: FloatArray, only_b_wrong: FloatArray, variance: FloatArray
) -> FloatArray:
    """Return ``sign(a - b) * (a - b)**2 / variance``, and 0 without variance.

    If the two models are equally good, each of them is wrong on a given discordant row with
    probability 1/2: then the size of this is chi-squared with one degree of freedom.
    """
    difference = only_a_wrong - only_b_wrong
    square = np.sign(difference) * difference**2
    return np.divide(square, variance, out=np.zeros_like(square), where=variance > 0)


def _of_counts(only_a_wrong: FloatArray, only_b_wrong: FloatArray) -> FloatArray:
    """Return the statistic of the papers, which takes a + b for the variance of a - b."""
    return signed_statistic(only_a_wrong, only_b_wrong, only_a_wrong + only_b_wrong)


def _both_named(statistic: float, uncorrected: float) -> tuple[str, str]:
    """Name the statistic, and at the end that of the papers where it is another number."""
    if np.isclose(statistic, uncorrected, rtol=1e-9, atol=0.0):
        return f"signed M = {number(statistic)}", ""
    return f"signed M corrected for rows that count unequally = {number(statistic)}", (
        f"; uncorrected M = {number(uncorrected)}, (a - b)^2 / (a + b) of these two counts, as "
        "Gama et al. (2013) define it"
    )


def mcnemar(
    y_true: ArrayLike,
    y_pred_a: ArrayLike,
    y_pred_b: ArrayLike,
    *,
    sample_weight: ArrayLike | None = None,
    method: Literal["chi2", "exact"] = "chi2",
    alpha: float = 0.05,
    names: Sequence[str] = ("A", "B"),
) -> McNemarResult:
    """Compare two models by the rows on which only one of them is wrong.

    Parameters
    ----------
    y_true : array-like of shape (n_rows,)
        True labels: integers, booleans, strings, or whole numbers stored as floats.
    y_pred_a, y_pred_b : array-like of shape (n_rows,)
        Predictions of the two models, labels of the same kind.
    sample_weight : array-like of shape (n_rows,), default=None
        Scoring weights, at least 0. Rows of weight 0 are left out; None: every row counts once.
    method : {"chi2", "exact"}, default="chi2"
        Distribution for the p-value: chi-squared with one degree of freedom and no continuity
        correction, or the exact binomial distribution, preferable with fewer than some 25
        discordant rows; it counts rows, so all weights must be equal.
    alpha : float, default=0.05
        Level of the test, in (0, 1).
    names : sequence of two str, default=("A", "B")
        Names of the models, for the printed statement.

    Returns
    -------
    McNemarResult
        Discordant rows, signed statistic and p-value.

    Raises
    ------
    ValueError
        If there is no row, lengths differ, a label or a prediction is missing, strings are mixed
        with numbers, a number is not a class label (but a probability), or a parameter is not
        valid.

    Warnings
    --------
    The test assumes that rows are independent trials. On a long stream it finds negligible and even
    random differences significant, and over the pooled rows of several folds it counts the same row
    more than once: Bifet et al. (2015, Table 2) saw it reject a true null hypothesis in 42 to 80 %
    of their runs. Prefer `wilcoxon` over folds, or `anytime_comparison` for one run of two models.

    See Also
    --------
    mcnemar_curve : The statistic over time, with any forgetting.
    anytime_comparison : Stays valid under dependence, drift and repeated looks.

    Notes
    -----
    With a rows on which only the first model is wrong and b on which only the second is,
    ``M = sign(a - b) * (a - b)**2 / (a + b)``; it is positive if the first model makes more errors.
    ``|M|`` is chi-squared with one degree of freedom if the models are equally good: the difference
    is significant at 5 % if ``|M| > 3.841`` and at 1 % if ``|M| > 6.635``.

    With weights, a and b are sums of weights, and a + b is replaced by the variance of a - b, the
    sum of the squared weights of the discordant rows, which equals a + b if all weights are 1: a
    row of weight 2 is not two independent rows. So neither M nor its p-value depends on the unit of
    the weights.

    References
    ----------
    J. Gama, R. Sebastiao and P. P. Rodrigues. On evaluating stream learning algorithms.
    Machine Learning 90, 2013, section 4.1.
    A. Bifet, G. De Francisci Morales, J. Read, G. Holmes and B. Pfahringer. Efficient online
    evaluation of big data stream classifiers. KDD, 2015, section 4.

    Examples
    --------
    >>> from skstream.stats import mcnemar
    >>> y = ["up"] * 20
    >>> result = mcnemar(y, ["up"] * 9 + ["down"] * 11, ["down"] + ["up"] * 19)
    >>> result.only_a_wrong, result.only_b_wrong, round(result.statistic, 3)
    (11, 1, 8.333)
    >>> result.better
    'B'
    """
    counts = McNemarCounts(method=method, alpha=alpha, names=names)
    losses = zero_one_losses(y_true, y_pred_a, y_pred_b)
    return counts.update(*losses, sample_weight=sample_weight).result()


class McNemarCounts:
    """Counts of discordant rows that arrive in pieces; the parameters are those of `mcnemar`."""

    def __init__(
        self,
        *,
        method: Literal["chi2", "exact"] = "chi2",
        alpha: float = 0.05,
        names: Sequence[str] = ("A", "B"),
    ) -> None:
        check_choice(method, "method", ("chi2", "exact"))
        self.method = method
        self.alpha, self.names = check_alpha(alpha), check_names(names, 2)
        self._tally = WeightTally()
        self._n_rows = 0
        self._n_discordant = np.zeros(2, dtype=np.int64)
        self._weights = np.zeros(2)
        self._variance = 0.0
        self._smallest, self._largest = np.inf, -np.inf

    def update(
        self, loss_a: FloatArray, loss_b: FloatArray, *, sample_weight: ArrayLike | None = None
    ) -> Self:
        """Take the 0/1 losses of the next rows."""
        weight, loss_a, loss_b = drop_unweighted(
            as_weights(sample_weight, len(loss_a)), loss_a, loss_b
        )
        self._tally.update(weight, len(loss_a))
        self._n_rows += len(loss_a)
        only_a, only_b = loss_a > loss_b, loss_b > loss_a
        self._n_discordant += (int(only_a.sum()), int(only_b.sum()))
        if weight is not None and len(weight):
            self._weights += (weight[only_a].sum(), weight[only_b].sum())
            self._variance += float((weight[only_a | only_b] ** 2).sum())
            self._smallest = min(self._smallest, float(weight.min()))
            self._largest = max(self._largest, float(weight.max()))
        return self

    def result(self) -> McNemarResult:
        """Return the test of the rows so far."""
        if not self._n_rows:
            raise ValueError("Every row has weight 0: there is nothing to compare.")
        weights = self._tally.result()
        n_a, n_b = self._n_discordant.tolist()
        count_a, count_b, variance = float(n_a), float(n_b), float(n_a + n_b)
        if weights is not None:
            (count_a, count_b), variance = self._weights.tolist(), self._variance
        statistic = signed_statistic(*(np.array([value]) for value in (count_a, count_b, variance)))
        if self.method == "exact":
            if self._smallest < self._largest:
                raise ValueError(
                    "The exact method counts rows, but the weights in sample_weight differ (from "
                    f"{self._smallest:g} to {self._largest:g}). Use method='chi2'."
                )
            pvalue = float(stats.binomtest(n_a, n_a + n_b).pvalue) if n_a + n_b else 1.0
        else:
            pvalue = float(stats.chi2.sf(abs(statistic[0]), 1))
        return McNemarResult(
            only_a_wrong=n_a if weights is None else count_a,
            only_b_wrong=n_b if weights is None else count_b,
            n_rows=self._n_rows,
            statistic=float(statistic[0]),
            variance=variance,
            pvalue=pvalue,
            method=self.method,
            alpha=self.alpha,
            names=self.names,
            weights=weights,
        )


def zero_one_losses(
    y_true: ArrayLike, y_pred_a: ArrayLike, y_pred_b: ArrayLike
) -> tuple[FloatArray, FloatArray]:
    """Return where each model is wrong (1.0), after checking that all are labels of one kind."""
    columns = {"y_true": y_true, "y_pred_a": y_pred_a, "y_pred_b": y_pred_b}
    codes, _ = encode_together(columns)
    shapes = {name: column.shape for name, column in codes.items()}
    if len(set(shapes.values())) > 1:
        raise ValueError(
            f"y_true, y_pred_a and y_pred_b must be of equal length. Got shapes {shapes}."
        )
    first, second = (codes["y_true"] != codes[name] for name in ("y_pred_a", "y_pred_b"))
    return first.astype(np.float64), second.astype(np.float64)


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
    def uncorrected(self) -> FloatArray:
        """Signed statistics of the two counts alone, as Gama et al. (2013) define them.

        Under a fading factor, and where rows have weights, they are others than `statistics`.
        """
        return _of_counts(self.only_a_wrong, self.only_b_wrong)

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
            "uncorrected": self.uncorrected,
            "pvalue": self.pvalues,
        }

    def _verdict(self) -> str:
        after = f"{self._after()}: signed M = {number(self.statistic)}"
        if self.pvalue is None:
            return f"{self.names[0]} and {self.names[1]} {after}, no p-value"
        return f"{self._answer()} {after}, {format_p(self.pvalue)}"

    def _sentences(self) -> list[str]:
        count_a, count_b = self.only_a_wrong[-1], self.only_b_wrong[-1]
        m, other = _both_named(self.statistic, float(self.uncorrected[-1]))
        what = "counts" if self.weights is None else "weights"
        counts = (
            f"{self._after()}, {over_rows(self.forgetting.name)}: running {what} of "
            f"rows on which only {self.names[0]} is wrong {count_a:,.6g}, only {self.names[1]} "
            f"{count_b:,.6g} (McNemar's test, {m}"
        )
        if self.pvalue is None:
            sentences = [
                f"{self.names[0]} and {self.names[1]} {counts}{other}).",
                f"There is no p-value under a fading factor below {LEAST_FADING_FACTOR:g}: the "
                "last few rows decide.",
            ]
        else:
            sentences = [
                f"{self._answer()} {counts}, chi-squared, 1 degree of "
                f"freedom, two-sided, {against_alpha(self.pvalue, self.alpha)}{other}).",
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
        Which discordant rows are counted: Cumulative, SlidingWindow or FadingFactor, or a name such
        as ``"window:1000"``. AdaptiveWindow is an error: ADWIN follows the loss of one model.
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
    mcnemar_curve : The same from arrays of predictions.

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
    >>> from skstream.stats._mcnemar import RunningMcNemar
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
        self._only_a_wrong = self.forgetting.sum_of_values()
        self._only_b_wrong = self.forgetting.sum_of_values()
        self._variance = self.forgetting.sum_of_values(power=2)

    _wanted = (
        "; McNemar's test needs 0/1 losses (1 for an error). For other losses use q_statistic or "
        "anytime_comparison."
    )

    def _wrong(self, losses: FloatArray) -> NDArray[np.bool_]:
        return (losses != 0) & (losses != 1)

    def _read(self, a: FloatArray, b: FloatArray, weight: FloatArray | None) -> None:
        only_a, only_b = (a > b).astype(np.float64), (b > a).astype(np.float64)
        if weight is not None:
            only_a, only_b = weight * only_a, weight * only_b
        self._recorder.follow(
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
        checkpoints, (only_a_wrong, only_b_wrong, variances) = self._curves()
        too_short = self.forgetting.factor < LEAST_FADING_FACTOR
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
        Predictions of the two models, labels of the same kind.
    sample_weight : array-like of shape (n_rows,), default=None
        Scoring weights, at least 0. Rows of weight 0 are left out; None: every row counts once.
    forgetting : Forgetting or str, default="cumulative"
        Which discordant rows are counted: Cumulative, SlidingWindow or FadingFactor, or a name such
        as ``"window:1000"``. AdaptiveWindow is an error: ADWIN follows the loss of one model.
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
        If there is no row, lengths differ, a label or a prediction is missing, strings are mixed
        with numbers, a number is not a class label (but a probability), or a parameter is not
        valid.

    See Also
    --------
    mcnemar : The final test, and the warning that applies to both.
    RunningMcNemar : The same while the stream is running.

    Notes
    -----
    With a fading factor, the printed statistic is about ``1 + fading_factor`` times as large as the
    papers'. Theirs is ``M = sign(a - b) * (a - b)**2 / (a + b)`` of the faded counts a and b, as if
    a row that counts ``f`` had variance ``f``. Its variance is ``f**2``, so their ``|M|`` is too
    small for chi-squared, and their p-values too large. `statistics`, `pvalues` and thresholds
    divide by the variance of a - b, which equals a + b without fading and weights; `uncorrected`
    has the papers' M. If the two differ, ``print`` shows both with the counts.

    References
    ----------
    J. Gama, R. Sebastiao and P. P. Rodrigues. On evaluating stream learning algorithms.
    Machine Learning 90, 2013, section 4.1.

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
