"""McNemar's test on the finished answers of two models."""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy import stats

from skstream.stats._checks import FloatArray, check_alpha, check_names
from skstream.stats._report import Report, against_alpha, format_p, number, plural
from skstream.utils._masked import refuse_masked

ROW_CAVEAT = (
    "McNemar's test takes rows as independent: over folds that share rows, over long streams "
    "and when it is read again and again, it finds differences that are not there (Bifet et al. "
    "2015); use a fold test or the anytime comparison."
)


@dataclass(frozen=True, kw_only=True, repr=False)
class McNemarResult(Report):
    """Result of `mcnemar`.

    Attributes
    ----------
    only_a_wrong, only_b_wrong : int
        Rows on which one model errs and the other does not.
    n_rows : int
        Number of rows.
    statistic : float
        Signed statistic; positive if the first model errs more, 0 without discordant rows.
    p_value : float
        Two-sided p-value.
    method : {"chi2", "exact"}
        Chi-squared with one degree of freedom, or the binomial distribution of the discordant
        rows.
    alpha : float
        Level of the test.
    names : tuple of str
        The two models.
    """

    only_a_wrong: int
    only_b_wrong: int
    n_rows: int
    statistic: float
    p_value: float
    method: str
    alpha: float
    names: tuple[str, ...]

    @property
    def significant(self) -> bool:
        """Whether the p-value is below alpha."""
        return self.p_value < self.alpha

    @property
    def better(self) -> str | None:
        """Name of the model shown to err less, or None."""
        return name_of_better(self.statistic, self.significant, self.names)

    def _verdict(self) -> str:
        return (
            f"{row_verdict(self.better, self.names)}: signed M = {number(self.statistic)}, "
            f"{format_p(self.p_value)}"
        )

    def _sentences(self) -> list[str]:
        method = {"chi2": "chi-squared, 1 degree of freedom", "exact": "exact binomial"}
        return [
            f"{row_verdict(self.better, self.names)} on {plural(self.n_rows, 'row')}: only "
            f"{self.names[0]} is wrong on {self.only_a_wrong:,}, only {self.names[1]} on "
            f"{self.only_b_wrong:,} (McNemar's test, signed M = {number(self.statistic)}, "
            f"{method[self.method]}, two-sided, {against_alpha(self.p_value, self.alpha)}).",
            "Rows on which both are right or both wrong do not count.",
            ROW_CAVEAT,
        ]


def row_verdict(better: str | None, names: tuple[str, ...]) -> str:
    """Say which model errs less, or that no difference was shown."""
    if better is None:
        return f"No difference shown between {names[0]} and {names[1]}"
    worse = names[1] if better == names[0] else names[0]
    return f"{better} errs less than {worse}"


def name_of_better(statistic: float, significant: bool, names: tuple[str, ...]) -> str | None:
    """Name the model with fewer errors if the difference is significant."""
    if not significant:
        return None
    return names[1] if statistic > 0 else names[0]


def signed_statistic(only_a_wrong: FloatArray, only_b_wrong: FloatArray) -> FloatArray:
    """Return ``sign(a - b) * (a - b)**2 / (a + b)``, and 0 where ``a + b`` is 0."""
    difference, total = only_a_wrong - only_b_wrong, only_a_wrong + only_b_wrong
    square = np.sign(difference) * difference**2
    return np.divide(square, total, out=np.zeros_like(square), where=total > 0)


def mcnemar(
    y_true: ArrayLike,
    a: ArrayLike,
    b: ArrayLike,
    *,
    method: Literal["chi2", "exact"] = "chi2",
    alpha: float = 0.05,
    names: Sequence[str] = ("A", "B"),
) -> McNemarResult:
    """Compare two models by the rows on which only one of them is wrong.

    Parameters
    ----------
    y_true : array-like of shape (n_rows,)
        True labels, of any type.
    a, b : array-like of shape (n_rows,)
        Answers of the two models.
    method : {"chi2", "exact"}, default="chi2"
        Where the p-value comes from: chi-squared with one degree of freedom and no continuity
        correction, or the exact binomial distribution, to be preferred below some 25
        discordant rows.
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
        If lengths differ, a label is NaN, or `alpha` or `method` is not valid.

    Warnings
    --------
    The test takes rows as independent trials. On a long stream it calls negligible and even
    chance differences significant, and over the pooled rows of several folds the same row
    counts more than once: Bifet et al. (2015, Table 2) saw it reject a true null hypothesis in
    42 to 80 % of their runs. Prefer `wilcoxon` over folds, or `anytime_comparison` for one
    run of two models.

    See Also
    --------
    mcnemar_curve : The statistic over time, under any forgetting.
    anytime_comparison : Stays valid under dependence, drift and repeated looks.

    Notes
    -----
    With a rows on which only the first model is wrong and b on which only the second is,
    ``M = sign(a - b) * (a - b)**2 / (a + b)``; it is positive if the first model errs more.
    The difference is significant at 5 % if ``|M| > 3.841`` and at 1 % if ``|M| > 6.635``.

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
    if method not in ("chi2", "exact"):
        raise ValueError(f"method must be 'chi2' or 'exact'. Got {method!r} instead.")
    alpha, checked_names = check_alpha(alpha), check_names(names, 2)
    loss_a, loss_b = zero_one_losses(y_true, a, b)
    count_a = int(np.sum(loss_a > loss_b))
    count_b = int(np.sum(loss_b > loss_a))
    statistic = float(signed_statistic(np.array([float(count_a)]), np.array([float(count_b)]))[0])
    if method == "exact" and count_a + count_b:
        p_value = float(stats.binomtest(count_a, count_a + count_b).pvalue)
    else:
        p_value = float(stats.chi2.sf(abs(statistic), 1))
    return McNemarResult(
        only_a_wrong=count_a,
        only_b_wrong=count_b,
        n_rows=len(loss_a),
        statistic=statistic,
        p_value=p_value,
        method=method,
        alpha=alpha,
        names=checked_names,
    )


def zero_one_losses(
    y_true: ArrayLike, a: ArrayLike, b: ArrayLike
) -> tuple[NDArray[np.bool_], NDArray[np.bool_]]:
    """Return where each model is wrong, after checking that all labels are there."""
    for name, given in {"y_true": y_true, "a": a, "b": b}.items():
        refuse_masked(given, name)
    columns = {"y_true": np.asarray(y_true), "a": np.asarray(a), "b": np.asarray(b)}
    shapes = {name: column.shape for name, column in columns.items()}
    if len(set(shapes.values())) > 1 or columns["y_true"].ndim != 1:
        raise ValueError(
            f"y_true, a and b must be one-dimensional and of equal length. Got shapes {shapes}."
        )
    for name, column in columns.items():
        if column.dtype.kind in "fO":  # other kinds cannot hold it
            missing = np.flatnonzero([isinstance(v, float) and math.isnan(v) for v in column])
            if missing.size:
                raise ValueError(
                    f"{name}[{missing[0]}] is NaN; drop the rows without a label or without an "
                    f"answer from all three arrays."
                )
    return columns["y_true"] != columns["a"], columns["y_true"] != columns["b"]
