"""Average ranks: the Friedman test, the Nemenyi post-hoc test, and ties of scores by rounding."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike
from scipy import stats

from skstream.stats._checks import (
    FloatArray,
    as_floats,
    as_vector,
    check_alpha,
    check_direction,
    check_names,
)
from skstream.stats._report import SignificanceTest, against_alpha, format_p, number
from skstream.utils._optional import display, optional_import

# Half of 1e-12, because the allowances of the two compared values are added.
_ROUNDING = 0.5e-12


def rounding_of(values: FloatArray) -> FloatArray:
    """Return the possible rounding error of each value."""
    return _ROUNDING * np.abs(values)


def average_ranks(values: FloatArray, rounding: FloatArray) -> FloatArray:
    """Rank values from the smallest (rank 1); tied values share theirs, pair by pair.

    Parameters
    ----------
    values : ndarray of shape (n,)
        Values to rank.
    rounding : ndarray of shape (n,)
        Possible error of each. Two values tie if they differ by at most the sum of their errors.

    Returns
    -------
    ndarray of shape (n,)
        1/2, plus 1 for every value clearly below, plus 1/2 for every value tied, itself included.
    """
    low, high = values - rounding, values + rounding
    below = np.searchsorted(np.sort(high), low, side="left")
    not_above = np.searchsorted(np.sort(low), high, side="right")
    return np.asarray((below + not_above + 1) / 2)


def paired_differences(a: FloatArray, b: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Return ``a - b``, 0 where the two are tied, and the possible error of each difference."""
    rounding = rounding_of(a) + rounding_of(b)
    difference = a - b
    zero = np.abs(difference) <= rounding
    return np.where(zero, 0.0, difference), np.where(zero, 0.0, rounding)


def tie_sizes(ranks: FloatArray) -> tuple[int, ...]:
    """Return the number of entries at each tied rank, lowest rank first."""
    counts = np.unique(ranks, return_counts=True)[1]
    return tuple(int(count) for count in counts if count > 1)


@dataclass(frozen=True, kw_only=True, repr=False, eq=False)
class FriedmanNemenyiResult(SignificanceTest):
    """Result of `friedman_nemenyi`.

    Attributes
    ----------
    names : tuple of str
        The models, in the order given.
    average_ranks : ndarray of shape (n_models,)
        Average rank per model; 1 is best.
    n_blocks : int
        Number of folds or streams.
    chi2 : float
        Friedman's statistic, corrected for ties, with ``n_models - 1`` degrees of freedom.
    chi2_pvalue : float
        Its p-value.
    f_statistic : float
        Iman and Davenport's statistic, with ``n_models - 1`` and
        ``(n_models - 1) * (n_blocks - 1)`` degrees of freedom; infinite if every block ranks
        the models alike.
    pvalue : float
        P-value of `f_statistic`, the less conservative of the two; it decides `significant`.
        Never below what chance gives if all blocks rank the models alike.
    critical_difference : float
        Nemenyi's: two models differ if their average ranks differ by at least this much.
    rank_differences : ndarray of shape (n_models, n_models)
        Average rank of the row's model minus that of the column's.
    pairwise_pvalues : ndarray of shape (n_models, n_models)
        Nemenyi's p-values, corrected for looking at all pairs; 1 on the diagonal.
    groups : tuple of tuple of str
        Maximal sets of models between which Nemenyi's test finds no difference, best first. No
        group has one member, and none lies inside another.
    n_tied_blocks : int
        Blocks in which at least two models share a rank.
    alpha : float
        Level of the tests.
    blocks : {"folds", "streams", "seeds", "folds or streams"}
        What the models were ranked on, where that is known.
    """

    average_ranks: FloatArray
    n_blocks: int
    chi2: float
    chi2_pvalue: float
    f_statistic: float
    critical_difference: float
    rank_differences: FloatArray
    pairwise_pvalues: FloatArray
    groups: tuple[tuple[str, ...], ...]
    n_tied_blocks: int
    blocks: str = "folds or streams"

    @property
    def better(self) -> str | None:
        """Name of the model shown to be better than every other one, or None.

        The best by average rank, if the models differ at all and Nemenyi's test tells it apart
        from all others.
        """
        best = self.ranking[0]
        beaten = [worse for better, worse in self.different_pairs if better == best]
        return best if self.significant and len(beaten) == len(self.names) - 1 else None

    @property
    def ranking(self) -> tuple[str, ...]:
        """Names from the best average rank to the worst."""
        return tuple(self.names[i] for i in np.argsort(self.average_ranks, kind="stable"))

    @property
    def different_pairs(self) -> tuple[tuple[str, str], ...]:
        """Pairs that differ by Nemenyi's test, the better model first."""
        order = np.argsort(self.average_ranks, kind="stable")
        return tuple(
            (self.names[i], self.names[j])
            for place, i in enumerate(order)
            for j in order[place + 1 :]
            if differ(self.rank_differences[j, i], self.critical_difference)
        )

    def to_frame(self) -> Any:
        """Return the average ranks and pairwise p-values as a pandas data frame.

        Returns
        -------
        pandas.DataFrame
            One row per model, best first: ``average_rank`` and a column ``pvalue_vs_<name>`` for
            every model.
        """
        pandas = optional_import("pandas", "FriedmanNemenyiResult.to_frame")
        columns = {"average_rank": self.average_ranks} | {
            f"pvalue_vs_{name}": self.pairwise_pvalues[:, j] for j, name in enumerate(self.names)
        }
        index = pandas.Index(self.names, name="model")
        return pandas.DataFrame(columns, index=index).loc[list(self.ranking)]

    def plot(self, **options: Any) -> Any:
        """Draw the critical-difference diagram.

        Parameters
        ----------
        **options
            Options of `skstream.plotting.CriticalDifferenceDisplay.plot`.

        Returns
        -------
        display : CriticalDifferenceDisplay
            The display, drawn.
        """
        return display("CriticalDifferenceDisplay").from_result(self, **options)

    def _verdict(self) -> str:
        best = self.ranking[0]
        rank = self.average_ranks.min()
        verdict = "the models differ" if self.significant else "no difference shown"
        return (
            f"{verdict}, {format_p(self.pvalue)}; best average rank {rank:.3g} ({best}), "
            f"critical difference {self.critical_difference:.3g}"
        )

    def _sentences(self) -> list[str]:
        k, n = len(self.names), self.n_blocks
        verdict = "The models differ" if self.significant else "No difference shown between models"
        order = np.argsort(self.average_ranks, kind="stable")
        ranks = ", ".join(f"{self.names[i]} {self.average_ranks[i]:.3g}" for i in order)
        f_statistic = f"= {number(self.f_statistic)}"
        if np.isinf(self.f_statistic):
            f_statistic = f"is infinite, as all {n} {self.blocks} rank the models in the same order"
        sentences = [
            f"{verdict}: {k} models over {n} {self.blocks}, Friedman chi2({k - 1}) = "
            f"{number(self.chi2)} ({format_p(self.chi2_pvalue)}), Iman-Davenport "
            f"F({k - 1}, {(k - 1) * (n - 1)}) {f_statistic} "
            f"({against_alpha(self.pvalue, self.alpha)}).",
            f"Average ranks, 1 is best: {ranks}.",
            f"Ties share their average rank; {self.blocks} with ties: {self.n_tied_blocks} of {n}.",
            f"Nemenyi's critical difference is {self.critical_difference:.3g}; {self._pairs()}.",
        ]
        if not self.significant and self.different_pairs:
            sentences.append("The Friedman test does not reject, so do not rely on single pairs.")
        caveat = (
            "A difference that is not significant does not show equality, and ranks say nothing "
            "about the size of a difference."
        )
        if self.blocks == "seeds":
            caveat += " Seeds of one generator say nothing about other streams."
        elif self.blocks != "streams":
            caveat += " Folds of one stream are not independent."
        sentences.append(caveat)
        return sentences

    def _pairs(self) -> str:
        if not self.groups:
            return "every pair of models differs"
        if not self.different_pairs:
            return "no pair of models differs"
        return "no difference shown in " + "; ".join("{" + ", ".join(g) + "}" for g in self.groups)


def friedman_nemenyi(
    scores: ArrayLike | Mapping[str, ArrayLike],
    names: Sequence[str] | None = None,
    *,
    higher_is_better: bool = True,
    alpha: float = 0.05,
) -> FriedmanNemenyiResult:
    """Rank several models over folds or streams, and test which ones differ.

    Parameters
    ----------
    scores : array-like or data frame of shape (n_blocks, n_models), or dict of str to array-like
        One row per fold or stream, one column per model; at least two of each. A dict has the
        scores of each model, all in the same order of folds or streams.
    names : sequence of str, default=None
        Names of the models. None takes the columns of a data frame or the names of a dict, else
        ``"model 1"``, ....
    higher_is_better : bool, default=True
        Whether larger scores are better. False for losses.
    alpha : float, default=0.05
        Level of the tests, in (0, 1).

    Returns
    -------
    FriedmanNemenyiResult
        Average ranks, Friedman's and Iman and Davenport's test, Nemenyi's critical difference,
        pairwise p-values and the groups of a critical-difference diagram.

    Raises
    ------
    ValueError
        If the scores are not finite, not two-dimensional or too few, names are repeated or of
        the wrong number, or `alpha` is not in (0, 1).

    See Also
    --------
    skstream.plotting.CriticalDifferenceDisplay : Draws the result.

    Notes
    -----
    With average ranks R_j of k models over N blocks, Friedman's statistic is
    ``12 N / (k (k + 1)) * sum((R_j - (k + 1) / 2)**2)``, divided by
    ``1 - sum(t**3 - t) / (N k (k**2 - 1))`` over ties of size t; Iman and Davenport's is
    ``(N - 1) chi2 / (N (k - 1) - chi2)``. The p-value of the latter is 0 if all blocks agree,
    however few they are, so it is bounded below by ``(k!)**(1 - N)``, the probability of that under
    the null hypothesis (with ties, the number of distinct orders counts). Nemenyi's critical
    difference is ``q * sqrt(k (k + 1) / (6 N))`` with q the quantile of the studentized range with
    infinite degrees of freedom divided by ``sqrt(2)``. Two scores of a block that differ only by
    rounding (1e-12 of their size) share the two ranks equally.

    References
    ----------
    J. Demsar. Statistical comparisons of classifiers over multiple data sets. Journal of
    Machine Learning Research 7, 2006, section 3.2.

    Examples
    --------
    >>> from skstream.stats import friedman_nemenyi
    >>> scores = [[0.9, 0.7, 0.5], [0.8, 0.7, 0.6], [0.9, 0.8, 0.7], [0.7, 0.6, 0.5]]
    >>> result = friedman_nemenyi(scores, ["sgd", "bayes", "persistent"])
    >>> result.average_ranks.tolist()
    [1.0, 2.0, 3.0]
    >>> result.groups
    (('sgd', 'bayes'), ('bayes', 'persistent'))
    """
    alpha = check_alpha(alpha)
    if isinstance(scores, Mapping):
        names = list(scores) if names is None else names
        scores = _columns_of(scores)
    table, checked_names = as_score_table(scores, names)
    n_blocks, n_models = table.shape
    ranks = rank_rows(-table if check_direction(higher_is_better) else table)
    mean_ranks = ranks.mean(axis=0)
    chi2 = friedman_statistic(ranks)
    dof = n_models - 1
    slack = n_blocks * dof - chi2
    # All blocks in one order leave no residual: the ratio is infinite, and so must F be.
    f_statistic = (n_blocks - 1) * chi2 / slack if slack > 1e-9 * n_blocks * dof else math.inf
    standard_error = math.sqrt(n_models * (n_models + 1) / (6 * n_blocks))
    quantile = stats.studentized_range.ppf(1 - alpha, n_models, np.inf) / math.sqrt(2)
    differences = mean_ranks[:, None] - mean_ranks[None, :]
    studentized = math.sqrt(2) * np.abs(differences) / standard_error
    pvalues = np.clip(stats.studentized_range.sf(studentized, n_models, np.inf), 0.0, 1.0)
    critical_difference = float(quantile * standard_error)
    return FriedmanNemenyiResult(
        names=checked_names,
        average_ranks=mean_ranks,
        n_blocks=n_blocks,
        chi2=chi2,
        chi2_pvalue=float(stats.chi2.sf(chi2, dof)),
        f_statistic=f_statistic,
        pvalue=max(float(stats.f.sf(f_statistic, dof, dof * (n_blocks - 1))), least_pvalue(ranks)),
        critical_difference=critical_difference,
        rank_differences=differences,
        pairwise_pvalues=pvalues,
        groups=tuple(
            tuple(checked_names[j] for j in group)
            for group in maximal_groups(mean_ranks, critical_difference)
        ),
        n_tied_blocks=int(np.any(np.sort(ranks) != np.arange(1, n_models + 1), axis=1).sum()),
        alpha=alpha,
    )


def _columns_of(scores: Mapping[str, ArrayLike]) -> Any:
    """Return the table of the scores given by model."""
    columns = {name: as_vector(column, f"scores[{name!r}]") for name, column in scores.items()}
    lengths = {name: len(column) for name, column in columns.items()}
    if len(set(lengths.values())) > 1:
        raise ValueError(
            f"Every model needs a score for each fold or stream. Got {lengths} scores."
        )
    return np.column_stack(list(columns.values())) if columns else np.empty((0, 0))


def as_score_table(scores: Any, names: Sequence[str] | None) -> tuple[FloatArray, tuple[str, ...]]:
    """Return the scores as a finite table of at least two rows and columns, and their names."""
    if names is None and hasattr(scores, "columns"):
        names = list(scores.columns)
    table = as_floats(scores, "scores")
    if table.ndim != 2 or min(table.shape) < 2:
        raise ValueError(
            f"scores must have shape (n_blocks, n_models) with at least two folds or streams "
            f"and two models. Got shape {table.shape} instead."
        )
    bad = np.argwhere(~np.isfinite(table))
    if bad.size:
        row, column = bad[0]
        raise ValueError(
            f"scores[{row}, {column}] is {table[row, column]}; every score must be finite. Leave "
            "out folds or streams on which a model has no score."
        )
    n_models = table.shape[1]
    if names is None:
        names = [f"model {j + 1}" for j in range(n_models)]
    checked = check_names(names, n_models)
    if len(set(checked)) < n_models:
        raise ValueError(f"names must be distinct. Got {checked} instead.")
    return table, checked


def rank_rows(table: FloatArray) -> FloatArray:
    """Rank each row from its smallest value (rank 1), ties sharing their average rank."""
    return np.array([average_ranks(row, rounding_of(row)) for row in table])


def friedman_statistic(ranks: FloatArray) -> float:
    """Friedman's chi-squared of a table of ranks, corrected for ties; 0 if all are tied."""
    n_blocks, n_models = ranks.shape
    centre = (n_models + 1) / 2
    spread = n_blocks * float(np.sum((ranks.mean(axis=0) - centre) ** 2))
    # The variance of the ranks at hand holds the correction for ties.
    variance = float(np.sum((ranks - centre) ** 2)) / (n_blocks * (n_models - 1))
    return spread / variance if variance > 0 else 0.0


def least_pvalue(ranks: FloatArray) -> float:
    """Probability that blocks rank as these at their most alike, if every order is as likely.

    Each block has its order among those of its ties, A in number; renaming the models gives at
    least as many outcomes that are as extreme as the block with most orders has. No test of
    these blocks can have a smaller p-value, and where they all agree F is infinite.
    """
    orders = []
    for row in ranks:
        ties = np.unique(row, return_counts=True)[1]
        orders.append(math.factorial(len(row)) // math.prod(map(math.factorial, ties.tolist())))
    return max(orders) / math.prod(orders)


def differ(rank_difference: float, critical_difference: float) -> bool:
    """Whether average ranks differ by the critical difference, up to rounding."""
    return bool(abs(rank_difference) >= critical_difference * (1 - 1e-12))


def maximal_groups(average_ranks: FloatArray, critical_difference: float) -> list[tuple[int, ...]]:
    """Find the bars of a critical-difference diagram.

    Parameters
    ----------
    average_ranks : ndarray of shape (n_models,)
        Average ranks, in any order.
    critical_difference : float
        Models whose ranks differ by at least this much differ significantly.

    Returns
    -------
    list of tuple of int
        Indices of the members of each group, best rank first: the longest runs of neighbours
        in rank whose ends do not differ significantly. Runs of one model, and runs inside another,
        are left out.
    """
    order = np.argsort(average_ranks, kind="stable")
    groups: list[tuple[int, ...]] = []
    last_end = 0
    for start, first in enumerate(order):
        end = start + 1
        while end < len(order) and not differ(
            average_ranks[order[end]] - average_ranks[first], critical_difference
        ):
            end += 1
        if end > last_end and end - start > 1:
            groups.append(tuple(int(j) for j in order[start:end]))
        last_end = max(last_end, end)
    return groups
