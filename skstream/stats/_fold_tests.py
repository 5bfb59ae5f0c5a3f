"""Tests on one value per fold: the sign test, and Wilcoxon's signed-rank test."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import ArrayLike
from scipy import stats

from skstream.stats._checks import (
    FloatArray,
    as_pair,
    check_alpha,
    check_direction,
    check_names,
)
from skstream.stats._ranks import average_ranks, paired_differences, tie_sizes
from skstream.stats._report import SignificanceTest, against_alpha, format_p, number, plural
from skstream.utils._choices import check_choice, is_real

FOLD_CAVEAT = (
    "Folds of one stream share rows and are not independent, so the p-value is approximate; "
    "it says nothing about how large or how useful the difference is."
)
# Up to here the null distribution of the ranks is computed exactly; it is the bound SciPy uses.
LARGEST_EXACT_SAMPLE = 50


@dataclass(frozen=True, kw_only=True, repr=False)
class SignTestResult(SignificanceTest):
    """Result of `sign_test`.

    Attributes
    ----------
    wins_a, wins_b : int
        Folds on which the first and on which the second model is better.
    ties : int
        Folds on which they are equal; dropped from the test.
    pvalue : float
        Exact two-sided binomial p-value; 1 when every fold is a tie.
    critical_value : int or None
        Fewest wins, of ``wins_a + wins_b``, that give a p-value below `alpha`; None if winning all
        of them is not enough.
    alpha : float
        Level of the test.
    names : tuple of str
        The two models.
    """

    wins_a: int
    wins_b: int
    ties: int
    critical_value: int | None

    @property
    def n_folds(self) -> int:
        """Number of folds given, ties included."""
        return self.wins_a + self.wins_b + self.ties

    @property
    def better(self) -> str | None:
        """Name of the model shown to be better, or None."""
        if not self.significant:
            return None
        return self.names[0] if self.wins_a > self.wins_b else self.names[1]

    def _verdict(self) -> str:
        wins = f"{self.wins_a} wins to {self.wins_b}, {format_p(self.pvalue)}"
        return f"{self._answer()}: {wins}"

    def _sentences(self) -> list[str]:
        n = self.wins_a + self.wins_b
        needed = (
            f"at least {self.critical_value} wins of {n} are needed"
            if self.critical_value is not None
            else f"{n} untied folds are too few to reach alpha with any outcome"
        )
        return [
            f"{self._answer()} on {plural(self.n_folds, 'fold')}: "
            f"{self.names[0]} wins {self.wins_a}, {self.names[1]} wins {self.wins_b}, "
            f"{plural(self.ties, 'tie')} dropped (exact two-sided sign test, "
            f"{against_alpha(self.pvalue, self.alpha)}; {needed}).",
            FOLD_CAVEAT,
        ]


def sign_test(
    a: ArrayLike,
    b: ArrayLike,
    *,
    alpha: float = 0.05,
    higher_is_better: bool = True,
    names: Sequence[str] = ("A", "B"),
) -> SignTestResult:
    """Compare two models by the number of folds that each wins.

    Parameters
    ----------
    a, b : array-like of shape (n_folds,)
        One value per fold and model, for example accuracies, in the same order of folds.
    alpha : float, default=0.05
        Level of the test, in (0, 1).
    higher_is_better : bool, default=True
        Whether larger values are better. False for losses.
    names : sequence of two str, default=("A", "B")
        Names of the models, for the printed statement.

    Returns
    -------
    SignTestResult
        Wins, ties, the exact two-sided p-value and the critical value.

    Raises
    ------
    ValueError
        If the values are not finite or not paired, or `alpha` is not in (0, 1).

    See Also
    --------
    wilcoxon : Also uses the sizes of the differences, and is usually more powerful.

    Notes
    -----
    Ties are dropped; values that differ only by rounding (1e-12 of their size) are tied. The wins
    of either model are binomial with probability 1/2 if the models do equally well. Bifet et al.
    (2015, section 4) give 8 as the critical value for ten folds at 5 %; the exact p-value of 8 wins
    is .109, and the critical value is 9.

    References
    ----------
    A. Bifet, G. De Francisci Morales, J. Read, G. Holmes and B. Pfahringer. Efficient online
    evaluation of big data stream classifiers. KDD, 2015, section 4.

    Examples
    --------
    >>> from skstream.stats import sign_test
    >>> result = sign_test([0.9, 0.8, 0.7, 0.9, 0.8, 0.9], [0.8, 0.7, 0.6, 0.7, 0.7, 0.8])
    >>> result
    SignTestResult(A is better than B: 6 wins to 0, p = 0.031; print() it for the full statement)
    """
    differences, _, alpha, checked_names = prepare(a, b, alpha, names)
    if not check_direction(higher_is_better):
        differences = -differences
    wins_a, wins_b = int(np.sum(differences > 0)), int(np.sum(differences < 0))
    n = wins_a + wins_b
    wins = np.arange(n // 2 + 1, n + 1)
    p_of_wins = np.minimum(1.0, 2 * stats.binom.sf(wins - 1, n, 0.5))
    enough = wins[p_of_wins < alpha]
    return SignTestResult(
        wins_a=wins_a,
        wins_b=wins_b,
        ties=len(differences) - n,
        pvalue=float(stats.binomtest(wins_a, n).pvalue) if n else 1.0,
        critical_value=int(enough[0]) if enough.size else None,
        alpha=alpha,
        names=checked_names,
    )


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
        n = self.n_folds - self.n_zeros
        if self.method == "exact" and 2.0 ** (1 - n) >= self.alpha:
            critical = f"; {n} folds that differ are too few to reach alpha with any outcome"
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
        How folds on which the models are equal are handled: "wilcox" drops them before ranking,
        "pratt" ranks them and then drops their ranks. The two can lead to different p-values, so
        the printed statement names the one in use.
    alpha : float, default=0.05
        Level of the test, in (0, 1).
    higher_is_better : bool, default=True
        Whether larger values are better. False for losses.
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


def prepare(
    a: ArrayLike, b: ArrayLike, alpha: float, names: Sequence[str]
) -> tuple[FloatArray, FloatArray, float, tuple[str, ...]]:
    """Check the arguments of a fold test; return the differences and their rounding errors."""
    alpha, checked_names = check_alpha(alpha), check_names(names, 2)
    if is_real(a):
        raise ValueError(
            f"a is one number, {a!r}; give one value per fold. For the result of a KFoldEvaluator: "
            "result.compare(a, b)."
        )
    values_a, values_b = as_pair(a, b, "a", "b")
    if not len(values_a):
        raise ValueError("a and b are empty; give one value per fold.")
    return *paired_differences(values_a, values_b), alpha, checked_names
