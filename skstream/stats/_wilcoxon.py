"""Wilcoxon's signed-rank test on one value per fold."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import ArrayLike
from scipy import stats

from skstream.stats._checks import FloatArray, check_direction
from skstream.stats._folds import FOLD_CAVEAT, prepare
from skstream.stats._report import SignificanceTest, against_alpha, format_p, number, plural
from skstream.stats._ties import average_ranks, tie_sizes
from skstream.utils._choices import check_choice

# Up to here the null distribution of the ranks is computed exactly; it is the bound SciPy uses.
LARGEST_EXACT_SAMPLE = 50


@dataclass(frozen=True, kw_only=True, repr=False)
class WilcoxonResult(SignificanceTest):
    """Result of `wilcoxon`.

    Attributes
    ----------
    w_plus, w_minus : float
        Sums of the ranks of the positive and of the negative differences ``a - b``.
    pvalue : float
        Two-sided p-value; 1 when every difference is zero.
    critical_value : float or None
        Largest ``min(w_plus, w_minus)`` that gives a p-value below `alpha`. None if there is
        none, or if the p-value is a normal approximation.
    median_difference : float
        Median of ``a - b`` over all folds.
    n_folds : int
        Number of folds given.
    n_zeros : int
        Folds on which the two models are equal.
    tie_sizes : tuple of int
        How many nonzero differences share each tied rank; empty without ties.
    zero_method : {"wilcox", "pratt"}
        What was done with the zeros: dropped, or ranked and then dropped.
    method : {"exact", "normal approximation"}
        How the p-value was computed. "exact" counts every assignment of signs to the ranks found;
        it is ``scipy.stats.wilcoxon(method="exact")``, extended to tied ranks. "normal
        approximation" is ``scipy.stats.wilcoxon`` for more than 50 ranked folds.
    alpha : float
        Level of the test.
    names : tuple of str
        The two models.
    higher_is_better : bool
        Whether a larger value is the better one.
    """

    w_plus: float
    w_minus: float
    critical_value: float | None
    median_difference: float
    n_folds: int
    n_zeros: int
    tie_sizes: tuple[int, ...]
    zero_method: str
    method: str
    higher_is_better: bool

    @property
    def statistic(self) -> float:
        """The smaller of the two rank sums."""
        return min(self.w_plus, self.w_minus)

    @property
    def better(self) -> str | None:
        """Name of the model shown to be better, or None."""
        if not self.significant:
            return None
        a_is_better = (self.w_plus > self.w_minus) == self.higher_is_better
        return self.names[0] if a_is_better else self.names[1]

    def _verdict(self) -> str:
        sums = f"W+ = {number(self.w_plus)}, W- = {number(self.w_minus)}"
        return f"{self._answer()}: {sums}, {format_p(self.pvalue)}"

    def _sentences(self) -> list[str]:
        treatment = {"wilcox": "dropped", "pratt": "ranked, then dropped"}[self.zero_method]
        ties = (
            f"{plural(sum(self.tie_sizes), 'difference')} in ties"
            if self.tie_sizes
            else "no ties among the rest"
        )
        critical = (
            f"; at this alpha the smaller sum may be at most {number(self.critical_value)}"
            if self.critical_value is not None
            else ""
        )
        return [
            f"{self._answer()} on {plural(self.n_folds, 'fold')}: "
            f"W+ = {number(self.w_plus)}, W- = {number(self.w_minus)}, median difference "
            f"{self.names[0]} - {self.names[1]} = {self.median_difference:.4g} (Wilcoxon "
            f"signed-rank test, two-sided, {self.method}, "
            f"{against_alpha(self.pvalue, self.alpha)}{critical}).",
            f'Zero differences ({self.n_zeros}) are {treatment} ("{self.zero_method}"), {ties}.',
            FOLD_CAVEAT,
        ]


def wilcoxon(
    a: ArrayLike,
    b: ArrayLike,
    *,
    zero_method: Literal["wilcox", "pratt"] = "wilcox",
    alpha: float = 0.05,
    higher_is_better: bool = True,
    names: Sequence[str] = ("A", "B"),
) -> WilcoxonResult:
    """Compare two models by the signed ranks of their differences over folds.

    Parameters
    ----------
    a, b : array-like of shape (n_folds,)
        One value per fold and model, for example accuracies, in the same order of folds.
    zero_method : {"wilcox", "pratt"}, default="wilcox"
        What happens to folds on which the models are equal: "wilcox" drops them before
        ranking, "pratt" ranks them and then drops their ranks. The two can lead to different
        p-values, so the printed statement names the one in use.
    alpha : float, default=0.05
        Level of the test, in (0, 1).
    higher_is_better : bool, default=True
        Whether a larger value is the better one. False for losses.
    names : sequence of two str, default=("A", "B")
        Names of the models, for the printed statement.

    Returns
    -------
    WilcoxonResult
        Rank sums, the two-sided p-value and how it was computed.

    Raises
    ------
    ValueError
        If the values are not finite or not paired, `alpha` is not in (0, 1) or `zero_method`
        is unknown.

    See Also
    --------
    sign_test : Counts wins only.
    scipy.stats.wilcoxon : The same exact test without ties; used here for more than 50 folds.

    Notes
    -----
    Two absolute differences that agree up to the rounding error of their folds (1e-12 of the values
    in these folds) are tied: each gets half of the two ranks. Differences within the rounding error
    of zero are zeros. A fold of huge values does not tie other folds. With at most 50 ranked folds
    the p-value is exact, given the ranks. Folds of k-fold distributed validation share rows; Bifet
    et al. (2015, Table 2) found a true null hypothesis rejected in about 10 % of their runs at the
    5 % level.

    References
    ----------
    A. Bifet, G. De Francisci Morales, J. Read, G. Holmes and B. Pfahringer. Efficient online
    evaluation of big data stream classifiers. KDD, 2015, section 4 (their Table 1 gives
    W+ = 53 where the ranks sum to 52).

    Examples
    --------
    >>> from skstream.stats import wilcoxon
    >>> result = wilcoxon(
    ...     [0.91, 0.83, 0.75, 0.94, 0.85, 0.96], [0.90, 0.81, 0.72, 0.90, 0.80, 0.90]
    ... )
    >>> result.w_plus, result.w_minus, result.pvalue
    (21.0, 0.0, 0.03125)
    >>> print(result)
    A is better than B on 6 folds: W+ = 21, W- = 0, median difference A - B = 0.035
    (Wilcoxon signed-rank test, two-sided, exact, p = 0.031, below alpha = 0.05; at this
    alpha the smaller sum may be at most 0). Zero differences (0) are dropped ("wilcox"), no
    ties among the rest. Folds of one stream share rows and are not independent, so the
    p-value is approximate; it says nothing about how large or how useful the difference is.
    """
    check_choice(zero_method, "zero_method", ("wilcox", "pratt"))
    differences, rounding, alpha, checked_names = prepare(a, b, alpha, names)
    ranked = differences != 0 if zero_method == "wilcox" else np.full(len(differences), True)
    signed_ranks = np.sign(differences)
    signed_ranks[ranked] *= average_ranks(np.abs(differences[ranked]), rounding[ranked])
    ranks = np.abs(signed_ranks[differences != 0])
    w_plus = float(np.sum(signed_ranks[differences > 0]))
    w_minus = float(abs(np.sum(signed_ranks[differences < 0])))

    critical_value = None
    if len(ranks) > LARGEST_EXACT_SAMPLE:
        method = "normal approximation"
        # The ranks instead of the differences: SciPy would not detect ties up to rounding.
        pvalue = float(stats.wilcoxon(signed_ranks, zero_method=zero_method).pvalue)
    else:
        method = "exact"
        sums, pvalues = signed_rank_pvalues(ranks)
        pvalue = float(pvalues[np.searchsorted(sums, min(w_plus, w_minus))])
        enough = sums[pvalues < alpha]
        critical_value = float(enough[-1]) if enough.size else None
    return WilcoxonResult(
        w_plus=w_plus,
        w_minus=w_minus,
        pvalue=pvalue,
        critical_value=critical_value,
        median_difference=float(np.median(differences)) + 0.0,  # -0.0 would print a sign
        n_folds=len(differences),
        n_zeros=len(differences) - len(ranks),
        tie_sizes=tie_sizes(ranks),
        zero_method=zero_method,
        method=method,
        alpha=alpha,
        names=checked_names,
        higher_is_better=check_direction(higher_is_better),
    )


def signed_rank_pvalues(ranks: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Exact two-sided p-values of the smaller rank sum, for ranks that may be tied.

    Parameters
    ----------
    ranks : ndarray of shape (n,)
        Whole or half ranks of the nonzero differences.

    Returns
    -------
    sums : ndarray of shape (n_sums,)
        The rank sums that can occur, ascending.
    pvalues : ndarray of shape (n_sums,)
        The p-value if the smaller rank sum is this, when every rank carries either sign with
        probability 1/2. Sums beyond half of the total have p-value 1.
    """
    doubled = np.rint(2 * ranks).astype(np.int64)  # half ranks become whole numbers
    probability = np.zeros(int(doubled.sum()) + 1)
    probability[0] = 1.0
    for rank in doubled:
        shifted = np.zeros_like(probability)
        shifted[rank:] = probability[: len(probability) - rank]
        probability = (probability + shifted) / 2
    possible = np.flatnonzero(probability)
    return possible / 2, np.minimum(1.0, 2 * np.cumsum(probability)[possible])
