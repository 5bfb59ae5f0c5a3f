"""Scores of two classes in their order, from which a ranking is measured: a value that adds up.

Equal scores are one bin. There are as many bins as there are different scores, up to a limit, and
all measures are exact. Beyond it neighbouring bins become one, so that memory does not grow. From
then on a pair of rows that fall into one bin counts one half, whichever has the higher score; how
far a measure may be from the truth is counted beside it. The order of the rows of different bins
never gets lost.
"""

from dataclasses import dataclass
from typing import Any, Self

import numpy as np

from skstream.core.measures.rows import Floats, Integers

#: Bins are joined where there are more than this.
MOST_BINS = 1 << 14
# Of all rows, the part below which bins do not become narrower: one in so many.
_FINEST = 1 << 20
# A smaller sum is set to zero: arithmetic on subnormal numbers is slow.
_SUBNORMAL = 1e-290


@dataclass(frozen=True, slots=True)
class Gains:
    """What each of some rows adds to the pairs with the rows of a ranking.

    Attributes
    ----------
    pairs, doubt : ndarray of shape (n_rows,)
        Weight of the pairs in the right order, and by how much it may be wrong.
    """

    pairs: Floats
    doubt: Floats


@dataclass(frozen=True, slots=True)
class Ranks:
    """Weights of two classes by score.

    Attributes
    ----------
    low, high : ndarray of shape (n_bins,)
        Lowest and highest score of each bin, increasing; the bins have no score in common.
    positive, negative : ndarray of shape (n_bins,)
        Weight of the rows of each class.
    pairs : float
        Weight of the pairs of a positive and a negative row in which the positive row has the
        higher score, and half that of ties.
    doubt : float
        By how much that may be wrong.
    """

    low: Floats
    high: Floats
    positive: Floats
    negative: Floats
    pairs: float = 0.0
    doubt: float = 0.0

    @classmethod
    def none(cls) -> Self:
        """Return the ranking of no rows."""
        return cls(*np.zeros((4, 0)))

    @classmethod
    def of(cls, scores: Floats, positive: Floats, negative: Floats) -> Self:
        """Return the ranking of some rows."""
        bins = _united(scores, scores, positive, negative)
        return cls(*bins, pairs=float(pairs_of_bins(bins[2], bins[3])))

    def gains(self, low: Floats, high: Floats, positive: Floats, negative: Floats) -> Gains:
        """Return what other rows, or bins of other rows, add to the pairs with these."""
        first = np.searchsorted(self.high, low, side="left")
        after = np.searchsorted(self.low, high, side="right")
        below, above = np.zeros((2, len(self.low) + 1))
        np.cumsum(self.negative, out=below[1:])
        np.cumsum(self.positive[::-1], out=above[-2::-1])
        half_negative = 0.5 * _sums_between(self.negative, first, after)
        half_positive = 0.5 * _sums_between(self.positive, first, after)
        near = positive * half_negative + negative * half_positive
        # Equal scores are no doubt.
        certain = after == first
        single = np.flatnonzero(after - first == 1)
        bins = first[single]
        equal = (self.low[bins] == self.high[bins]) & (low[single] == high[single])
        certain[single[equal]] = True
        pairs = positive * below[first] + negative * above[after] + near
        return Gains(pairs, np.where(certain, 0.0, near))

    def with_rows(
        self,
        low: Floats,
        high: Floats,
        positive: Floats,
        negative: Floats,
        *,
        pairs: float,
        doubt: float,
    ) -> "Ranks":
        """Return a ranking with more rows, or bins of rows, whose pairs are known."""
        bins = _united(
            np.concatenate((self.low, low)),
            np.concatenate((self.high, high)),
            np.concatenate((self.positive, positive)),
            np.concatenate((self.negative, negative)),
        )
        return Ranks(*bins, pairs=pairs, doubt=doubt)

    def then(self, later: "Ranks") -> "Ranks":
        """Return the ranking of these rows and later ones."""
        bins = (later.low, later.high, later.positive, later.negative)
        gains = self.gains(*bins)
        return self.with_rows(
            *bins,
            pairs=self.pairs + later.pairs + float(gains.pairs.sum()),
            doubt=self.doubt + later.doubt + float(gains.doubt.sum()),
        )

    def faded(self, factor: float) -> "Ranks":
        """Return the ranking of the same rows with smaller weights."""
        if factor == 1.0:
            return self
        positive, negative = self.positive * factor, self.negative * factor
        kept = (positive > _SUBNORMAL) | (negative > _SUBNORMAL)
        return Ranks(
            self.low[kept],
            self.high[kept],
            positive[kept],
            negative[kept],
            pairs=self.pairs * factor * factor,
            doubt=self.doubt * factor * factor,
        )

    def coarser(self, parts: int = 1) -> "Ranks":
        """Return the ranking with half so many bins if there are more than one of `parts` has."""
        most = MOST_BINS // parts
        if len(self.low) <= most:
            return self
        share = sum(
            weight / total
            for weight in (self.positive, self.negative)
            if (total := float(weight.sum())) > 0.0
        )
        # Precision changes fastest at the highest scores: the bins are narrow there.
        above = np.cumsum((self.positive + self.negative)[::-1])[::-1]
        rank = np.log1p(above * (_FINEST / above[0]))
        share = share + (rank - np.append(rank[1:], 0.0)) / rank[0]
        middle = np.cumsum(share) - 0.5 * share
        group = (middle * (most // 2 / middle[-1])).astype(np.intp)
        starts = np.flatnonzero(np.diff(np.minimum(group, most // 2 - 1), prepend=-1))
        return Ranks(
            self.low[starts],
            self.high[np.append(starts[1:], len(self.low)) - 1],
            np.add.reduceat(self.positive, starts),
            np.add.reduceat(self.negative, starts),
            pairs=self.pairs,
            doubt=self.doubt,
        )

    def value(self, measure: str) -> float:
        """Return a measure of the ranking; NaN where a class has no row."""
        positive, negative = float(self.positive.sum()), float(self.negative.sum())
        if not (positive > 0.0 and negative > 0.0):
            return np.nan
        if measure == "auc":
            return self.pairs / (positive * negative)
        if measure == "auc_bound":
            return self.doubt / (positive * negative)
        if measure == "average_precision":
            return average_precision_of(self)
        return average_precision_bound(self)


def average_precision(positive: Floats, negative: Floats) -> Any:
    """Precision at the score of every positive row, on average; bins along the last axis."""
    above = positive[..., ::-1].cumsum(axis=-1)
    all_above = negative[..., ::-1].cumsum(axis=-1)
    all_above += above
    with np.errstate(divide="ignore", invalid="ignore"):
        precision = above / all_above
        precision[all_above == 0.0] = 0.0
        precision *= positive[..., ::-1]
        # One after the other, so that rows without weight change no digit.
        return precision.cumsum(axis=-1)[..., -1] / above[..., -1]


def _of_joined_bins(ranks: Ranks) -> tuple[Floats, Floats, Floats, Floats]:
    """Weights of both classes in bins of several scores, and so much with those above."""
    joined = (ranks.low < ranks.high)[::-1]
    of_bins = ranks.positive[::-1], ranks.negative[::-1]
    positive, negative = (weight[joined] for weight in of_bins)
    above, wrong = (weight.cumsum()[joined] for weight in of_bins)
    return positive, negative, above, wrong


def _mixed_precision(positive: Floats, negative: Floats, above: Floats, wrong: Floats) -> Floats:
    """Mean precision in bins whose rows follow each other in a mixed order."""
    right, before = above - positive, (above - positive) + (wrong - negative)
    here = positive + negative
    share = positive / here
    with np.errstate(divide="ignore", invalid="ignore"):
        change = (right - before * share) / here * np.log1p(here / before)
    precision: Floats = share + np.where(before > 0.0, change, 0.0)
    return np.clip(precision, 0.0, 1.0, out=precision)


def average_precision_of(ranks: Ranks) -> float:
    """Average precision; the rows of a bin of several scores count as mixed."""
    value = float(average_precision(ranks.positive, ranks.negative))
    positive, negative, above, wrong = _of_joined_bins(ranks)
    if not len(positive):
        return value
    away = _mixed_precision(positive, negative, above, wrong) - above / (above + wrong)
    return value + float((away * positive).sum() / ranks.positive.sum())


def average_precision_bound(ranks: Ranks) -> float:
    """By how much the average precision may be wrong: every bin in its best or worst order."""
    positive, negative, above, wrong = _of_joined_bins(ranks)
    if not len(positive):
        return 0.0
    here = _mixed_precision(positive, negative, above, wrong)
    with np.errstate(divide="ignore", invalid="ignore"):
        best = above / (above + (wrong - negative))
        worst = (above - positive) / (above - positive + wrong)
    away = np.fmax(np.maximum(best - here, here - worst), 0.0) * positive
    return float(np.where(np.isnan(away), positive, away).sum() / ranks.positive.sum())


def pairs_of_bins(positive: Floats, negative: Floats) -> Any:
    """Weight of the pairs in the right order; increasing bins lie along the last axis."""
    below = negative.cumsum(axis=-1)
    below -= 0.5 * negative
    return np.einsum("...i,...i->...", positive, below)


def _united(
    low: Floats, high: Floats, positive: Floats, negative: Floats
) -> tuple[Floats, Floats, Floats, Floats]:
    """Sort bins, and make one of those that have a score in common."""
    order = low.argsort(kind="stable")
    low, reach = low[order], np.maximum.accumulate(high[order])
    starts = np.flatnonzero(np.concatenate(([True], low[1:] > reach[:-1]))[: len(low)])
    if len(starts) == len(low):
        return low, reach, positive[order], negative[order]
    ends = np.append(starts[1:], len(low)) - 1
    return (
        low[starts],
        reach[ends],
        np.add.reduceat(positive[order], starts),
        np.add.reduceat(negative[order], starts),
    )


def _sums_between(values: Floats, first: Integers, after: Integers) -> Floats:
    """Sums of the values from each place to before another, which is not earlier."""
    sums = np.zeros(len(first))
    some = np.flatnonzero(after > first)
    if len(some):
        bounds = np.stack((first[some], after[some]), axis=1).ravel()
        sums[some] = np.add.reduceat(np.append(values, 0.0), bounds)[::2]
    return sums
