"""The best of several models, and those that do not differ from it significantly."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import combinations, count
from typing import Any, Literal, get_args

import numpy as np
from numpy.typing import ArrayLike

from skstream.stats._checks import FloatArray, check_alpha, check_direction
from skstream.stats._fold_tests import wilcoxon
from skstream.stats._ranks import as_score_table
from skstream.stats._report import SignificanceTest, against_alpha, format_p, plural
from skstream.utils._optional import optional_import

Correction = Literal["holm", "none"]
_WORDS = {
    "holm": "corrected as by Holm for all pairs of models",
    "none": "not corrected for their number",
}


@dataclass(frozen=True, kw_only=True, repr=False, eq=False)
class BestModelResult(SignificanceTest):
    """Result of `compare_with_best`.

    Attributes
    ----------
    names : tuple of str
        The models, in the order given.
    means : ndarray of shape (n_models,)
        Mean score of each model.
    deviations : ndarray of shape (n_models,)
        Standard deviation of each model's scores (with ``n_blocks - 1``).
    best : str
        The model with the best mean; ties go to the first.
    pvalues : ndarray of shape (n_models,)
        Two-sided p-value of each model against the best, corrected where `correction` says so;
        1 for the best itself.
    pvalue : float
        The largest of the others: below `alpha` if the best differs significantly from all.
    not_told_apart : tuple of str
        The best, and the models whose p-value is not below `alpha`, in the order given.
    correction : {"holm", "none"}
        What was done about testing several models.
    n_blocks : int
        Number of seeds, streams or folds.
    alpha : float
        Level of the tests.
    higher_is_better : bool
        Whether a larger score is the better one.
    blocks : str
        What the models were compared over, such as "seeds", where that is known.
    """

    means: FloatArray
    deviations: FloatArray
    best: str
    pvalues: FloatArray
    not_told_apart: tuple[str, ...]
    correction: str
    n_blocks: int
    higher_is_better: bool
    blocks: str = "values"

    @property
    def better(self) -> str | None:
        """Name of the best model if it differs significantly from every other one, else None."""
        return self.best if self.significant else None

    def to_frame(self) -> Any:
        """Return means, deviations and p-values as a pandas data frame.

        Returns
        -------
        pandas.DataFrame
            One row per model: ``mean``, ``std``, ``pvalue`` and ``not_told_apart``.
        """
        pandas = optional_import("pandas", "BestModelResult.to_frame")
        columns = {
            "mean": self.means,
            "std": self.deviations,
            "pvalue": self.pvalues,
            "not_told_apart": [name in self.not_told_apart for name in self.names],
        }
        return pandas.DataFrame(columns, index=pandas.Index(self.names, name="model"))

    @property
    def _warning(self) -> str:
        """Say that no difference could be significant, if that is so."""
        return why_not_told(
            self.n_blocks, len(self.names), self.correction, self.alpha, self.blocks
        )

    def _verdict(self) -> str:
        others = ", ".join(name for name in self.not_told_apart if name != self.best)
        differs = f"not shown to differ from {others}" if others else "differs from all others"
        parts = [f"best {self.best}", differs, format_p(self.pvalue), self._warning]
        return ", ".join(filter(None, parts))

    def _sentences(self) -> list[str]:
        place = self.names.index(self.best)
        others = ", ".join(name for name in self.not_told_apart if name != self.best)
        differs = (
            f"it does not differ significantly from {others}"
            if others
            else f"it differs from all others ({against_alpha(self.pvalue, self.alpha)})"
        )
        pairs = ", ".join(
            f"{name} {format_p(pvalue)}"
            for name, pvalue in zip(self.names, self.pvalues, strict=True)
            if name != self.best
        )
        sentences = [
            f"{self.best} has the best mean, {self.means[place]:.4g} ± "
            f"{self.deviations[place]:.2g} over {self.n_blocks:,} {self.blocks}; {differs}.",
            f"Wilcoxon signed-rank tests against it, two-sided, {_WORDS[self.correction]}, "
            f"alpha = {self.alpha:.3g}: {pairs}.",
        ]
        if self._warning:
            sentences.append(f"{self._warning[0].upper()}{self._warning[1:]}.")
        sentences.append("A difference that is not significant does not show equality.")
        return sentences


def compare_with_best(
    scores: ArrayLike,
    names: Sequence[str] | None = None,
    *,
    higher_is_better: bool = True,
    correction: Correction = "holm",
    alpha: float = 0.05,
) -> BestModelResult:
    """Find the model with the best mean, and those that do not differ from it significantly.

    Parameters
    ----------
    scores : array-like or data frame of shape (n_blocks, n_models)
        One row per seed, stream or fold, one column per model; at least two of each.
    names : sequence of str, default=None
        Names of the models. None takes the columns of a data frame, else ``"model 1"``, ....
    higher_is_better : bool, default=True
        Whether larger scores are better. False for losses.
    correction : {"holm", "none"}, default="holm"
        "holm" corrects the p-values for all pairs of models, not only those with the best one,
        because the best is chosen by the same scores and could have been any of them. So the
        probability of a significant difference between any two equal models is at most `alpha`.
        "none" takes each test alone, as in the tables of Cervantes et al.: with many equal models,
        most tables then show some difference between them.
    alpha : float, default=0.05
        Level of the tests, in (0, 1).

    Returns
    -------
    BestModelResult
        Means, the best model, the p-values, and which models do not differ significantly from it.

    Raises
    ------
    ValueError
        If the scores are not finite, not two-dimensional or too few, names are repeated or of the
        wrong number, `correction` is unknown, or `alpha` is not in (0, 1).

    See Also
    --------
    wilcoxon : The test for two models.
    friedman_nemenyi : Ranks all models and compares all pairs.

    Notes
    -----
    With n seeds and one other model the p-value is at least ``2 ** (1 - n)``: from 6 seeds on a
    difference can be significant at 5 %. With Holm's correction and k models the smallest p-value
    is at least ``k * (k - 1) / 2 * 2 ** (1 - n)``: six models need 10 seeds. If there are too few,
    the statement says so. `benchmarks.best_levels` simulates the level for many models, with ties,
    with dependence between models, and with some that differ.

    References
    ----------
    S. Holm (1979). A simple sequentially rejective multiple test procedure. Scandinavian Journal
    of Statistics 6.

    Examples
    --------
    >>> from skstream.stats import compare_with_best
    >>> scores = [[0.9, 0.8, 0.9], [0.8, 0.7, 0.8], [0.9, 0.7, 0.8], [0.8, 0.6, 0.9]] * 2
    >>> result = compare_with_best(scores, ["sgd", "bayes", "tree"])
    >>> result.best, result.not_told_apart
    ('sgd', ('sgd', 'tree'))
    """
    alpha, higher_is_better = check_alpha(alpha), check_direction(higher_is_better)
    if correction not in get_args(Correction):
        raise ValueError(f"correction must be 'holm' or 'none'. Got {correction!r} instead.")
    table, checked = as_score_table(scores, names)
    n_blocks, n_models = table.shape
    means = table.mean(axis=0)
    best = int(means.argmax() if higher_is_better else means.argmin())
    pvalues = np.ones(n_models)
    others = np.flatnonzero(np.arange(n_models) != best)
    # All pairs, as the best of another sample would be in others of them.
    pairs = list(combinations(range(n_models), 2)) if correction == "holm" else []
    pairs = pairs or [(best, int(j)) for j in others]
    found = np.array([wilcoxon(table[:, i], table[:, j]).pvalue for i, j in pairs])
    found = holm(found) if correction == "holm" else found
    for (i, j), pvalue in zip(pairs, found.tolist(), strict=True):
        if best in (i, j):
            pvalues[i if j == best else j] = pvalue
    told = pvalues < alpha
    return BestModelResult(
        names=checked,
        means=means,
        deviations=table.std(axis=0, ddof=1),
        best=checked[best],
        pvalues=pvalues,
        pvalue=float(pvalues[others].max()),
        not_told_apart=tuple(name for name, one in zip(checked, told, strict=True) if not one),
        correction=correction,
        n_blocks=n_blocks,
        alpha=alpha,
        higher_is_better=higher_is_better,
    )


def why_not_told(
    n_blocks: int, n_models: int, correction: str, alpha: float, blocks: str = "values"
) -> str:
    """Say why no difference can be significant, even of a model that always wins; else empty."""
    n_tests = n_models * (n_models - 1) // 2 if correction == "holm" else 1
    if 2.0 ** (1 - n_blocks) * n_tests < alpha:  # the least p-value, as Holm corrects it
        return ""
    enough = next(n for n in count(n_blocks) if 2.0 ** (1 - n) * n_tests < alpha)
    models = f" and {n_models} models" if n_tests > 1 else ""
    given = plural(n_blocks, blocks.removesuffix("s"))
    return (
        f"with {given}{models} no difference can be significant: use more {blocks}, at least "
        f"{enough}"
    )


def holm(pvalues: FloatArray) -> FloatArray:
    """Return p-values corrected for their number; a set of them is below alpha as Holm rejects."""
    order = np.argsort(pvalues, kind="stable")
    factors = len(pvalues) - np.arange(len(pvalues))
    corrected = np.empty(len(pvalues))
    corrected[order] = np.minimum(np.maximum.accumulate(factors * pvalues[order]), 1.0)
    return corrected
