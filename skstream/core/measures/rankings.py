"""Measures of rankings under every forgetting: areas under the ROC curve, average precision.

They are no sums over rows. A sliding window, and a set of rows, is ranked afresh from its rows. All
rows so far, equal or fading, are carried as a `Ranks`; so is every part of the window of ADWIN that
may be cut off, and the parts add up.

In `Ranks` equal scores are one bin. There are as many bins as there are different scores, up to a
limit, and all measures are exact. Beyond it neighbouring bins become one, so that memory does not
grow. From then on a pair of rows that fall into one bin counts one half, whichever has the higher
score. The order of the rows of different bins never gets lost.
"""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from math import log
from typing import Any, ClassVar, NamedTuple, Self

import numpy as np
from numpy.typing import NDArray

from skstream.core.measures.ranked_windows import cost_of_row, many_precisions, window_pairs
from skstream.core.measures.rows import Floats, Integers, ScoredRows
from skstream.utils._labels import UNANSWERED
from skstream.utils._running_sums import prefix_sums, window_sums

#: Rows that are ranked together before they go into the bins.
_TOGETHER = 4096
# Largest quotient of the weights of the last and the first of rows that are ranked together.
_LARGEST_FADE = 1e100
# Ends among rows ranked together up to which these are ranked once for each.
_FEW_ENDS = 16
# Microseconds for a window of its own, and for each row of it.
_COST_OF_END, _COST_OF_ROW = 40.0, 0.06
# Numbers in a table of windows by their rows.
_TABLE = 1 << 16
#: A part of an adaptive window has one in so many bins, as there are many parts.
PARTS = 4

#: Bins are joined where there are more than this.
MOST_BINS = 1 << 14
# Bins do not become narrower than one in so many rows.
_FINEST = 1 << 20
# A smaller sum is set to zero: arithmetic on subnormal numbers is slow.
_SUBNORMAL = 1e-290

#: By measure, one value for each end.
RankingValues = dict[str, Floats]


@dataclass(frozen=True)
class Ranking:
    """A kind of elementary series that is no sum: a measure of rankings, class by class.

    Attributes
    ----------
    measure : {"auc", "average_precision"}
        What is measured of a ranking.
    pairs : bool, default=False
        Whether each class is ranked against each other one, instead of against all rows of the
        others. Of two classes only the second is ranked, in either case.
    first : bool, default=False
        Whether it is the first of two classes that is ranked instead.
    """

    measure: str
    pairs: bool = False
    first: bool = False

    by_class: ClassVar[bool] = False
    of_labels: ClassVar[bool] = False
    baseline: ClassVar[None] = None
    values: ClassVar[None] = None

    def codes(self, n_classes: int) -> range:
        """Return the codes of its series."""
        if n_classes <= 2:
            return range(1)
        return range(n_classes * (n_classes - 1) if self.pairs else n_classes)

    def target(self, code: int, n_classes: int) -> "Target":
        """Return which rows a series ranks."""
        if n_classes <= 2:
            return Target(0, 0 if self.first else 1)
        if not self.pairs:
            return Target(code, code)
        own, other = divmod(code, n_classes - 1)
        return Target(own, own, other + (other >= own))


class Target(NamedTuple):
    """The class that should have the high scores, and which scores.

    Attributes
    ----------
    column : int
        Column of the scores.
    positive : int
        Code of the class.
    negative : int, default=None
        Code of the class that should have the low scores; None: all others.
    """

    column: int
    positive: int
    negative: int | None = None


class Sided(NamedTuple):
    """Scores of rows, and their weights as rows of the one and of the other side.

    Attributes
    ----------
    scores, positive, negative : ndarray of shape (n,)
        One of the two weights of a row is 0, or both.
    """

    scores: Floats
    positive: Floats
    negative: Floats

    @classmethod
    def of(cls, rows: ScoredRows, target: Target) -> Self:
        """Sides of the rows of one model. Without an answer, a row is ranked worst."""
        if not len(rows):
            return cls.none()
        scores = rows.s[:, target.column]
        if rows.s.shape[1] == 1 and target.positive == 0:  # it is the score of the second class
            scores = -scores
        positive = rows.y == target.positive
        negative = ~positive if target.negative is None else rows.y == target.negative
        unanswered = (rows.p == UNANSWERED) & np.isnan(scores)
        if unanswered.any():
            scores = np.where(unanswered, np.where(positive, -np.inf, np.inf), scores)
        weight = 1.0 if rows.weight is None else rows.weight
        return cls(scores, positive * weight, negative * weight)

    @classmethod
    def none(cls) -> Self:
        """No rows."""
        return cls(*np.zeros((3, 0)))

    def part(self, rows: slice) -> "Sided":
        """Return some of the rows."""
        return Sided(*(array[rows] for array in self))

    def following(self, earlier: "Sided") -> "Sided":
        """Return earlier rows, then these."""
        if not len(earlier.scores):
            return self
        return Sided(*map(np.concatenate, zip(earlier, self, strict=True)))

    @property
    def counted(self) -> "Sided":
        """The rows of either side."""
        some = (self.positive > 0.0) | (self.negative > 0.0)
        return self if some.all() else Sided(*(array[some] for array in self))

    @property
    def known(self) -> bool:
        """Whether all rows have scores."""
        return not np.isnan(self.scores).any()


def undefined(measures: Iterable[str], n_ends: int) -> RankingValues:
    """Values of a model that has no scores."""
    return {measure: np.full(n_ends, np.nan) for measure in measures}


def in_ranges(
    rows: Sided, starts: Integers, ends: Integers, measures: Sequence[str]
) -> RankingValues:
    """Measures of the rows from each start to before each end; neither may decrease."""
    if not rows.known:
        return undefined(measures, len(ends))
    if "average_precision" in measures:
        many = many_precisions(*rows, starts, ends)
        if many is not None:
            others = [measure for measure in measures if measure != "average_precision"]
            return {**in_ranges(rows, starts, ends, others), "average_precision": many}
    if not measures:
        return {}
    values = {measure: np.full(len(ends), np.nan) for measure in measures}
    for some in _neighbours(starts, ends):
        first = int(starts[some.start])
        near = rows.part(slice(first, int(ends[some.stop - 1])))
        order = near.scores.argsort(kind="stable")
        inside = (order >= starts[some, None] - first) & (order < ends[some, None] - first)
        tables = _bins(near, order, inside)
        totals = [table.sum(axis=1) for table in tables]
        defined = (totals[0] > 0.0) & (totals[1] > 0.0)
        for measure, of_measure in values.items():
            if measure == "auc":
                of_measure[some] = _area(pairs_of_bins(*tables), *totals)
            elif len(order):
                of_measure[some] = np.where(defined, average_precision(*tables), np.nan)
    return values


def _bins(rows: Sided, order: Integers, inside: NDArray[np.bool_]) -> list[Floats]:
    """Weights of both sides by score, of the rows that are in each of some sets."""
    scores, *weights = (array[order] for array in rows)
    tables = [inside * weight for weight in weights]
    bins = np.flatnonzero(np.concatenate(([True], scores[1:] != scores[:-1]))[: len(scores)])
    if len(bins) < len(scores):
        tables = [np.add.reduceat(table, bins, axis=1) for table in tables]
    return tables


def _neighbours(starts: Integers, ends: Integers) -> Iterator[slice]:
    """Ranges that have most of their rows in common."""
    first = 0
    while first < len(ends):
        length = int(ends[first] - starts[first])
        stop = int(np.searchsorted(ends, ends[first] + length // 8, side="right"))
        stop = int(np.searchsorted(starts[:stop], starts[first] + length // 8, side="right"))
        stop = max(min(stop, first + _TABLE // max(length, 1)), first + 1)
        yield slice(first, stop)
        first = stop


def in_windows(
    rows: Sided, n_old: int, ends: Integers, size: int, measures: Sequence[str]
) -> RankingValues:
    """Measures of the last rows.

    Parameters
    ----------
    rows : Sided
        The last `n_old` earlier rows (as many as fit the window), then the new ones.
    n_old : int
    ends : ndarray of shape (n_ends,)
        Numbers of new rows.
    size : int
        Rows of the window.
    measures : sequence of str

    Returns
    -------
    dict of str to ndarray of shape (n_ends,)
    """
    n_new = len(rows.scores) - n_old
    size = max(min(size, n_old + n_new), 1)
    stops = ends + n_old
    cost = len(ends) * (_COST_OF_END + _COST_OF_ROW * size)
    if "auc" not in measures or cost < n_new * cost_of_row() or not rows.known:
        return in_ranges(rows, np.maximum(stops - size, 0), stops, measures)
    others = [measure for measure in measures if measure != "auc"]
    values = in_ranges(rows, np.maximum(stops - size, 0), stops, others) if others else {}
    pairs = window_pairs(*_behind(rows, size - n_old), size)
    totals = [window_sums(weight, n_old, size)[ends] for weight in rows[1:]]
    return {**values, "auc": _area(pairs[ends], *totals)}


def _behind(rows: Sided, n: int) -> Sided:
    """Rows behind so many without weight."""
    # With different scores: ties take time.
    return rows.following(Sided(np.arange(n, dtype=np.float64), *np.zeros((2, n))))


def _area(pairs: Floats, positive: Floats, negative: Floats) -> Floats:
    """Share of pairs in the right order; NaN where a class has no row."""
    pairs = np.asarray(pairs, dtype=np.float64)
    defined = (positive > 0.0) & (negative > 0.0)
    area = np.full(pairs.shape, np.nan)
    # One after the other: the product may be too large, or too small.
    np.divide(pairs, positive, out=area, where=defined)
    np.divide(area, negative, out=area, where=defined)
    np.minimum(area, 1.0, out=area)
    return area


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
    """

    low: Floats
    high: Floats
    positive: Floats
    negative: Floats
    pairs: float = 0.0

    @classmethod
    def none(cls) -> Self:
        """Return the ranking of no rows."""
        return cls(*np.zeros((4, 0)))

    @classmethod
    def of(cls, scores: Floats, positive: Floats, negative: Floats) -> Self:
        """Return the ranking of some rows."""
        bins = _united(scores, scores, positive, negative)
        return cls(*bins, pairs=float(pairs_of_bins(bins[2], bins[3])))

    def gains(self, low: Floats, high: Floats, positive: Floats, negative: Floats) -> Floats:
        """Weight of the pairs in the right order of each of other rows, or bins, with these."""
        first = np.searchsorted(self.high, low, side="left")
        after = np.searchsorted(self.low, high, side="right")
        below, above = np.zeros((2, len(self.low) + 1))
        np.cumsum(self.negative, out=below[1:])
        np.cumsum(self.positive[::-1], out=above[-2::-1])
        half_negative = 0.5 * _sums_between(self.negative, first, after)
        half_positive = 0.5 * _sums_between(self.positive, first, after)
        near = positive * half_negative + negative * half_positive
        return positive * below[first] + negative * above[after] + near

    def with_rows(
        self,
        low: Floats,
        high: Floats,
        positive: Floats,
        negative: Floats,
        pairs: float,
    ) -> "Ranks":
        """Return a ranking with more rows, or bins of rows, whose pairs are known."""
        bins = _united(
            np.concatenate((self.low, low)),
            np.concatenate((self.high, high)),
            np.concatenate((self.positive, positive)),
            np.concatenate((self.negative, negative)),
        )
        return Ranks(*bins, pairs)

    def then(self, later: "Ranks") -> "Ranks":
        """Return the ranking of these rows and later ones."""
        bins = (later.low, later.high, later.positive, later.negative)
        pairs = self.pairs + later.pairs + float(self.gains(*bins).sum())
        return self.with_rows(*bins, pairs)

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
            self.pairs * factor * factor,
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
            self.pairs,
        )

    def average_precision(self) -> float:
        """Average precision; NaN where a class has no row.

        The rows of a bin of several scores count as mixed.
        """
        if not (self.positive.sum() > 0.0 and self.negative.sum() > 0.0):
            return np.nan
        value = float(average_precision(self.positive, self.negative))
        joined = (self.low < self.high)[::-1]
        if not joined.any():
            return value
        above, wrong = self.positive[::-1].cumsum()[joined], self.negative[::-1].cumsum()[joined]
        positive, negative = self.positive[::-1][joined], self.negative[::-1][joined]
        right, before = above - positive, (above - positive) + (wrong - negative)
        here = positive + negative
        share = positive / here
        with np.errstate(divide="ignore", invalid="ignore"):
            change = (right - before * share) / here * np.log1p(here / before)
        mixed = np.clip(share + np.where(before > 0.0, change, 0.0), 0.0, 1.0)
        away = mixed - above / (above + wrong)
        return value + float((away * positive).sum() / self.positive.sum())


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
    """Sums of the values from each start to before an end, which is not earlier."""
    sums = np.zeros(len(first))
    some = np.flatnonzero(after > first)
    if len(some):
        bounds = np.stack((first[some], after[some]), axis=1).ravel()
        sums[some] = np.add.reduceat(np.append(values, 0.0), bounds)[::2]
    return sums


@dataclass(frozen=True)
class Following:
    """The ranking of all rows so far, with equal or fading weights.

    Attributes
    ----------
    factor : float, default=1.0
        What remains of a row's weight with every later row.
    ranks : Ranks
        Of the rows before the recent ones.
    recent : Sided
        Fewer rows than are ranked together.
    known : bool, default=True
        Whether all rows had scores.
    """

    factor: float = 1.0
    ranks: Ranks = field(default_factory=Ranks.none)
    recent: Sided = field(default_factory=Sided.none)
    known: bool = True

    @property
    def _length(self) -> int:
        """Rows that are ranked together."""
        if self.factor == 1.0:
            return _TOGETHER
        return int(min(max(-log(_LARGEST_FADE) / log(self.factor), 1), _TOGETHER))

    def read(
        self, rows: Sided, ends: Integers, measures: Sequence[str]
    ) -> tuple[RankingValues, "Following"]:
        """Read rows; return the measures after the first ``ends[i]`` of them, and what follows."""
        if not (self.known and rows.known):
            return undefined(measures, len(ends)), Following(self.factor, known=False)
        ends = ends + len(self.recent.scores)
        rows, ranks, length = rows.following(self.recent), self.ranks, self._length
        parts, start, first = [], 0, 0
        while True:
            some = rows.part(slice(start, start + length))
            whole = len(some.scores) == length
            stop = int(np.searchsorted(ends, start + len(some.scores), side="right"))
            if whole or stop > first:
                found, after = self._together(ranks, some, ends[first:stop] - start, measures)
                parts.append(found)
            first = stop
            if not whole:
                break
            ranks, start = after, start + length
        values = {m: np.concatenate([np.empty(0), *(part[m] for part in parts)]) for m in measures}
        return values, Following(self.factor, ranks, Sided(*(a.copy() for a in some)))

    def _together(
        self, ranks: Ranks, rows: Sided, ends: Integers, measures: Sequence[str]
    ) -> tuple[RankingValues, Ranks]:
        """Measures after some of the rows, and the ranking after all."""
        n = len(rows.scores)
        if self.factor != 1.0:  # as at the first row: measures depend on shares alone
            growing = self.factor ** -np.arange(1.0, n + 1)
            rows = Sided(rows.scores, rows.positive * growing, rows.negative * growing)
        order = rows.scores.argsort(kind="stable")
        in_order = Sided(*(array[order] for array in rows))
        pairs = np.full(n + 1, ranks.pairs)
        pairs[order + 1] = ranks.gains(in_order.scores, *in_order)
        np.cumsum(pairs, out=pairs)
        pairs = pairs[np.append(ends, n)] + _pairs_before(rows, order, ends)
        totals = [
            old.sum() + prefix_sums(new)[ends]
            for old, new in ((ranks.positive, rows.positive), (ranks.negative, rows.negative))
        ]
        values = {}
        if "auc" in measures:
            values["auc"] = _area(pairs[:-1], *totals)
        new = in_order.counted
        after = ranks.with_rows(new.scores, *new, float(pairs[-1]))
        if "average_precision" in measures:
            values["average_precision"] = _precisions_at_ends(ranks, after, rows, ends)
        return values, after.faded(self.factor**n).coarser()

    def flushed(self) -> Ranks:
        """Return the ranking with the recent rows."""
        if not len(self.recent.scores):
            return self.ranks
        return self._together(self.ranks, self.recent, np.empty(0, dtype=np.intp), ())[1]

    def scaled(self, factor: float) -> "Following":
        """Return the ranking of the same rows with weights multiplied by a factor."""
        if not len(self.recent.scores) and not len(self.ranks.low):
            return self
        return Following(self.factor, self.flushed().faded(factor), known=self.known)


def _pairs_before(rows: Sided, order: Integers, ends: Integers) -> Floats:
    """Pairs in the right order among the first ``ends[i]`` rows, and among all."""
    n = len(order)
    stops = np.append(ends, n)
    if not n:
        return np.zeros(len(stops))
    if len(stops) > _FEW_ENDS:
        pairs = window_pairs(*_behind(rows, n - 1), n)
        return np.where(stops > 0, pairs[stops - 1], 0.0)
    return np.asarray(pairs_of_bins(*_bins(rows, order, order < stops[:, None])))


def _precisions_at_ends(before: Ranks, after: Ranks, rows: Sided, ends: Integers) -> Floats:
    """Average precision of the bins as the rows come; each time it is formed from all bins."""
    at = [np.searchsorted(after.low, some, side="right") - 1 for some in (before.low, rows.scores)]
    sides = np.zeros((2, len(after.low)))
    for side, old in zip(sides, (before.positive, before.negative), strict=True):
        np.add.at(side, at[0], old)
    values, first = np.empty(len(ends)), 0
    for position, end in enumerate(ends.tolist()):
        for side, weight in zip(sides, rows[1:], strict=True):
            np.add.at(side, at[1][first:end], weight[first:end])
        first = end
        values[position] = Ranks(after.low, after.high, *sides).average_precision()
    return values
