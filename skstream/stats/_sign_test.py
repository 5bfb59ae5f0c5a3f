"""Sign test on one value per fold."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike
from scipy import stats

from skstream.stats._checks import check_direction
from skstream.stats._folds import FOLD_CAVEAT, prepare
from skstream.stats._report import SignificanceTest, against_alpha, format_p, plural


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
    """Compare two models by the number of folds each of them wins.

    Parameters
    ----------
    a, b : array-like of shape (n_folds,)
        One value per fold and model, for example accuracies, in the same order of folds.
    alpha : float, default=0.05
        Level of the test, in (0, 1).
    higher_is_better : bool, default=True
        Whether a larger value is the better one. False for losses.
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
    wilcoxon : Uses the sizes of the differences, too, and is usually more powerful.

    Notes
    -----
    Ties are dropped; values that differ by rounding alone (1e-12 of their size) are tied. The wins
    of either model are binomial with probability 1/2 if the models do equally well. Bifet et
    al. (2015, section 4) give 8 as the critical value for ten folds at 5 %; the exact p-value
    of 8 wins is .109, and the critical value is 9.

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
