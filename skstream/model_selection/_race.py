"""Races: which candidates of a search are dropped early, decided from their losses alone.

A race knows no models. It says at which rows it will look, reads the losses of the candidates
that are left, and answers at each look which are dropped. The rows at which it looks follow from
their number alone, so that a search drops the same candidates however its stream is divided.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, fields, replace
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from skstream.stats._boundaries import MixtureBoundary
from skstream.stats._checks import FloatArray, check_alpha, check_bounds
from skstream.utils._choices import is_real

# A look costs a model with a kernel as much as some hundred rows, because the kernel stops there.
FIRST_LOOK = 256
# Losses are summed in blocks of this many rows, which begin anew after each look: sums do not
# depend on how the rows are divided into calls.
ROWS_AT_ONCE = 4096
# Losses are scaled to [0, 1], so that the difference d of two of them lies in [-1, 1]. With 0 as
# the prediction of each, V is the sum of d**2, and no d lies farther below its prediction than
# 1. That is all that Theorem 4 of Howard et al. (2021) needs for this sign of the sum: for d >= -1
# and l in [0, 1), exp(l d - psi(l) d**2) <= 1 + l d with psi(l) = -log(1 - l) - l (Fan et al.
# 2015), and the mean of the right-hand side, given the past, is at most exp(l E[d]).
BOUNDARY = MixtureBoundary(tuning=10.0, scale=1.0)
#: Shares of its rows after which a halving race looks.
LOOKS = (1 / 8, 1 / 4, 1 / 2)


@dataclass(frozen=True)
class Dropped:
    """A candidate that a race drops.

    Attributes
    ----------
    position : int
        Its position among the candidates that were left before the look.
    by : int or None
        Position, among the same candidates, of the one that it lost against; None where it lost
        against no single one.
    """

    position: int
    by: int | None


@dataclass(frozen=True, kw_only=True)
class RaceOptions:
    """What the parameter `race` of a search says: which race is run, and what it promises.

    Attributes
    ----------
    kind : {"anytime", "halving"} or None
        Which race is run.
    indifference : float
        Difference of mean losses that does not matter.
    alpha : float
        What the anytime race and the interval of the honest score promise.
    factor : float
        One of so many candidates is kept at each look of a halving race.
    loss_bounds : tuple of two float or None
        Smallest and largest possible absolute error of regressors.
    """

    kind: str | None = None
    indifference: float = 0.0
    alpha: float = 0.05
    factor: float = 3
    loss_bounds: tuple[float, float] | None = None

    @classmethod
    def of(cls, race: Any) -> RaceOptions:
        """Read the parameter, with all its options checked, whether or not they are used."""
        given = race if isinstance(race, Mapping) else {"kind": race}
        keys = [field.name for field in fields(cls)]
        unknown = [key for key in given if key not in keys]
        if unknown:
            raise ValueError(
                f"race has the unknown key {unknown[0]!r}. Valid keys are: {', '.join(keys)}."
            )
        self = cls(**given)
        if self.kind not in ("anytime", "halving", None):
            raise ValueError(
                'race must be "anytime", "halving", None, or a dict with one of them as "kind". '
                f"Got {race!r} instead."
            )
        if self.loss_bounds is not None:
            try:
                self = replace(self, loss_bounds=check_bounds(self.loss_bounds))
            except ValueError as error:
                raise ValueError(f"loss_{error}") from None
        self._check_indifference()
        if not (is_real(self.factor) and 1 < self.factor < math.inf):
            raise ValueError(f"The halving factor must be above 1. Got {self.factor!r} instead.")
        if self.kind != "halving" and self.factor != cls.factor:
            raise ValueError(
                f'factor={self.factor!r} is about race="halving", and the kind of this race is '
                f"{self.kind!r}. Leave it out."
            )
        return replace(self, alpha=check_alpha(self.alpha))

    def _check_indifference(self) -> None:
        if not (is_real(self.indifference) and 0 <= self.indifference < math.inf):
            raise ValueError(f"indifference must be at least 0. Got {self.indifference!r} instead.")
        low, high = self.loss_bounds or (0, 1)
        if self.indifference >= high - low:
            raise ValueError(
                f"indifference={self.indifference!r} is the largest possible difference of two "
                f"losses in [{low:g}, {high:g}], or more: no difference would matter, and all "
                "candidates but one would be dropped at the first look. Pass less, such as 0.005 "
                "for half a percent of accuracy."
            )
        if self.kind != "anytime" and self.indifference > 0:
            drops = "drops by rank alone" if self.kind == "halving" else "drops none"
            raise ValueError(
                f'indifference={self.indifference!r} is about race="anytime", and '
                f"race={self.kind!r} {drops}. Leave it out."
            )

    def race(self, n_candidates: int, n_rows: int | None) -> Race | None:
        """Return a race over so many tuning rows; None: no candidate is dropped early."""
        if self.kind == "anytime":
            return AnytimeRace(
                n_candidates,
                bounds=self.loss_bounds or (0, 1),
                indifference=self.indifference,
                alpha=self.alpha,
            )
        if self.kind == "halving":
            if n_rows is None:
                raise ValueError(
                    'race="halving" looks at shares of the tuning rows, and how many will come is '
                    "not known: pass tuning=, a number of rows."
                )
            return HalvingRace(n_candidates, n_rows, factor=self.factor)
        return None


class Race:
    """Base class of races.

    Parameters
    ----------
    n_candidates : int
        Number of candidates at the start.

    Attributes
    ----------
    left : ndarray of shape (n_left,)
        Numbers of the candidates that are left, in ascending order.
    reads_losses : bool
        Whether losses decide; else scores do.
    """

    reads_losses = False

    def __init__(self, n_candidates: int) -> None:
        self.left: NDArray[np.intp] = np.arange(n_candidates)

    def next_look(self, n_rows: int) -> int | None:
        """Return the number of scored rows, above `n_rows`, of the next look; None: no more."""
        raise NotImplementedError

    def read(self, losses: ArrayLike) -> None:
        """Read losses of shape (n_left, n_new_rows): of the rows since the last call."""

    def look(self, scores: ArrayLike | None = None) -> list[Dropped]:
        """Return which are dropped now, in ascending order of position, and take them out.

        `scores`, of shape (n_left,) or (n_keys, n_left), are the higher the better; NaN is the
        lowest. The second line decides among equals in the first, and so on; then the earlier
        candidate is the better one.
        """
        dropped = sorted(self._dropped(scores), key=lambda one: one.position)
        self.leave([one.position for one in dropped])
        return dropped

    def _dropped(self, scores: ArrayLike | None) -> list[Dropped]:
        raise NotImplementedError

    def leave(self, positions: Iterable[int]) -> None:
        """Take out candidates, by their positions among those left."""
        kept = np.setdiff1d(np.arange(len(self.left)), list(positions))
        if len(kept) < len(self.left):
            self._keep(kept)

    def _keep(self, kept: NDArray[np.intp]) -> None:
        self.left = self.left[kept]


class AnytimeRace(Race):
    """Race that drops a candidate when it is shown not to be the best, valid at all rows at once.

    A candidate c is dropped against one that is ahead of it, l, when the lower end of the
    confidence sequence for the running mean of ``loss_c - loss_l`` lies above ``-indifference``:
    c is worse than l, or better by less than the indifference. With probability at least
    ``1 - alpha``, this is true of all candidates dropped, at the row where they are dropped,
    however the stream drifts and rows depend on the past.

    Parameters
    ----------
    n_candidates : int
        Number of candidates at the start.
    bounds : tuple of two float, default=(0, 1)
        Smallest and largest possible loss.
    indifference : float, default=0.0
        Difference of mean losses that does not matter; below that of the bounds.
    alpha : float, default=0.05
        Largest probability of a wrong drop, over all rows and pairs together.

    Attributes
    ----------
    n_rows : int
        Rows read.

    Notes
    -----
    The running mean at row n is the mean, over the first n rows, of the difference that was to be
    expected given everything before each row. After a drift a candidate that was worse over all
    rows so far may be the better one from now on: it can be dropped all the same, rightly as far
    as the promise goes.

    Every ordered pair has an alpha of ``alpha / (n_candidates * (n_candidates - 1))``. The
    candidate with the smallest mean loss, the earlier of equal ones, is never dropped.

    Where candidates are dropped one after the other against each other, the indifferences could
    add up. So each candidate that is left carries a regret: by how much, at most, a dropped one
    that it stands for is better than it. A candidate is only dropped while its regret and what
    it may be better than the other together stay below the indifference, and the other takes them
    over. If the expected losses do not drift, the best of all candidates is therefore better than
    some candidate that is left by less than the indifference.
    """

    reads_losses = True

    def __init__(
        self,
        n_candidates: int,
        *,
        bounds: tuple[float, float] = (0, 1),
        indifference: float = 0.0,
        alpha: float = 0.05,
    ) -> None:
        super().__init__(n_candidates)
        self.bounds, self.indifference = bounds, indifference
        n_pairs = max(n_candidates * (n_candidates - 1), 1)
        self._log_threshold = math.log(n_pairs / alpha)
        self.n_rows = 0
        self._totals = np.zeros(n_candidates)
        self._variances = np.zeros((n_candidates, n_candidates))
        self._regrets = np.zeros(n_candidates)
        self._waiting: list[FloatArray] = []
        self._n_waiting = 0

    def next_look(self, n_rows: int) -> int | None:
        """Return the first of the rows 256, 384, 512, 768, 1024, ... above `n_rows`."""
        if len(self.left) < 2:
            return None
        step = 1 << (int(n_rows).bit_length() - 2) if n_rows >= FIRST_LOOK else FIRST_LOOK
        return (n_rows // step + 1) * step

    def read(self, losses: ArrayLike) -> None:
        """Read losses within the bounds."""
        values = np.asarray(losses, dtype=np.float64)
        low, high = self.bounds
        scaled = values if (low, high) == (0, 1) else (values - low) / (high - low)
        self.n_rows += scaled.shape[1]
        while scaled.shape[1]:
            some = scaled[:, : ROWS_AT_ONCE - self._n_waiting]
            self._waiting.append(some.copy())
            self._n_waiting += some.shape[1]
            if self._n_waiting == ROWS_AT_ONCE:
                self._add_waiting()
            scaled = scaled[:, some.shape[1] :]

    def _add_waiting(self) -> None:
        """Add the rows that wait to the sums of all pairs."""
        if self._waiting:
            rows = np.concatenate(self._waiting, axis=1)
            self._totals += rows.sum(axis=1)
            self._variances += squared_differences(rows)
            self._waiting, self._n_waiting = [], 0

    def _dropped(self, scores: ArrayLike | None) -> list[Dropped]:
        self._add_waiting()
        dropped = []
        # Equal ones in the order of the candidates. From the last to the first: those ahead of a
        # candidate are all still left when its turn comes.
        order = np.argsort(self._totals, kind="stable")
        for place in range(len(order) - 1, 0, -1):
            by = self._beaten_by(order[place], order[:place])
            if by is not None:
                dropped.append(Dropped(int(order[place]), by))
        return dropped

    def _beaten_by(self, position: np.intp, ahead: NDArray[np.intp]) -> int | None:
        """Which one ahead of a candidate drops it, taking over its regret; None if it stays."""
        span = self.bounds[1] - self.bounds[0]
        sums = self._totals[position] - self._totals[ahead]
        variances = self._variances[position, ahead]
        allowed = max(self.indifference - self._regrets[position], 0.0) / span * self.n_rows
        # log(mixture) <= x**2 / (2 V): few pairs are left for the costly functions.
        possible = (sums + allowed) ** 2 >= 2 * variances * self._log_threshold
        if not possible.any():
            return None
        ahead, sums, variances = ahead[possible], sums[possible], variances[possible]
        certain = BOUNDARY.log_mixture(sums + allowed, variances) > self._log_threshold
        if not certain.any():
            return None
        ahead, sums, variances = ahead[certain], sums[certain], variances[certain]
        # The radius is that of both signs at twice the alpha.
        radius = BOUNDARY.radius(variances, 2 * math.exp(-self._log_threshold))
        lower = span * (sums - radius) / self.n_rows
        best = int(np.argmax(lower))
        by = int(ahead[best])
        regret = min(self._regrets[position] - lower[best], self.indifference)
        self._regrets[by] = max(self._regrets[by], regret)
        return by

    def _keep(self, kept: NDArray[np.intp]) -> None:
        super()._keep(kept)
        self._add_waiting()
        self._totals = self._totals[kept]
        self._variances = self._variances[np.ix_(kept, kept)]
        self._regrets = self._regrets[kept]


class HalvingRace(Race):
    """Race that keeps the best part of the candidates at rows fixed beforehand.

    It gives no guarantee: a candidate that is slow to learn, or unlucky, is dropped although it
    would have been the best.

    Parameters
    ----------
    n_candidates : int
        Number of candidates at the start.
    n_rows : int
        Number of rows of the whole race; shares are taken of it.
    factor : float, default=3
        One of so many candidates is kept at each look, rounded up.

    Attributes
    ----------
    looks : tuple of int
        Numbers of rows at which it looks.
    """

    def __init__(self, n_candidates: int, n_rows: int, *, factor: float = 3) -> None:
        super().__init__(n_candidates)
        self.factor = float(factor)
        self.looks = tuple(sorted({max(1, round(share * n_rows)) for share in LOOKS}))

    def next_look(self, n_rows: int) -> int | None:
        """Return the first of `looks` above `n_rows`; None: there is no more."""
        later = [look for look in self.looks if look > n_rows]
        return later[0] if later and len(self.left) > 1 else None

    def _dropped(self, scores: ArrayLike | None) -> list[Dropped]:
        keys = np.atleast_2d(np.asarray(scores, dtype=np.float64))
        n_kept = max(1, math.ceil(len(self.left) / self.factor - 1e-9))
        return [Dropped(position, None) for position in best_first(keys)[n_kept:].tolist()]


def best_first(keys: ArrayLike) -> NDArray[np.intp]:
    """Return positions from the best to the worst.

    Parameters
    ----------
    keys : array-like of shape (n_keys, n)
        Lines by which to order, the first before the second and so on; the higher the better,
        NaN the worst. Equal ones stay in their order.
    """
    descending = [np.where(np.isnan(key), np.inf, -key) for key in np.asarray(keys, dtype=float)]
    return np.lexsort(descending[::-1])


def squared_differences(rows: FloatArray) -> FloatArray:
    """Sum ``(rows[i] - rows[j])**2`` over the columns, for all pairs of lines.

    The sum of a pair does not depend on the other lines, nor on the order of the lines.
    """
    if np.array_equal(rows, rows.astype(bool)):  # 0/1 losses: whole numbers, exact in any order
        products = rows @ rows.T
        squares = np.diagonal(products)
        return np.asarray(squares[:, None] + squares[None, :] - 2 * products)
    sums = np.empty((len(rows), len(rows)))
    for line, losses in enumerate(rows):
        difference = rows[line:] - losses
        np.multiply(difference, difference, out=difference)
        sums[line, line:] = sums[line:, line] = difference.sum(axis=1)
    return sums
