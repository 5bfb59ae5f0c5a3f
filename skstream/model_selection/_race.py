"""Races: which candidates of a search are dropped early, decided from their losses alone.

A race knows no models. It says at which rows it will look, reads the losses of the candidates
that are left, and answers at each look which are dropped. The rows at which it looks follow from
their number alone, so that a search drops the same candidates however its stream is divided.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, fields, replace
from typing import Any, Protocol

import numpy as np
from numpy.typing import ArrayLike, NDArray

from skstream.stats._boundaries import MixtureBoundary
from skstream.stats._checks import FloatArray, check_alpha, check_bounds
from skstream.utils._choices import check_count, is_real

# A look costs a model with a kernel as much as some hundred rows, because the kernel stops there.
FIRST_LOOK = 256
# Losses are gathered into blocks of this many rows, which begin anew after each look: sums do not
# depend on how the rows are divided into calls.
ROWS_AT_ONCE = 4096
# Losses are scaled to [0, 1], so that the difference d of two of them lies in [-1, 1]. With 0 as
# the prediction of each, V is the sum of d**2, and no d lies farther below its prediction than
# 1. That is all that Theorem 4 of Howard et al. (2021) needs for this sign of the sum: for d >= -1
# and l in [0, 1), exp(l d - psi(l) d**2) <= 1 + l d with psi(l) = -log(1 - l) - l (Fan et al.
# 2015), and the mean of the right-hand side, given the past, is at most exp(l E[d]).
BOUNDARY = MixtureBoundary(tuning=10.0, scale=1.0)


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
        self.race(2, 1 << 40, kind="anytime")
        self.race(2, 1 << 40, kind="halving")
        if self.kind != "anytime" and self.indifference > 0:
            drops = "drops by rank alone" if self.kind == "halving" else "drops none"
            raise ValueError(
                f'indifference={self.indifference!r} is about race="anytime", and '
                f"race={self.kind!r} {drops}. Leave it out."
            )
        return self

    def race(self, n_candidates: int, n_rows: int | None, *, kind: str | None) -> Race | None:
        """Return a race over so many tuning rows; None: no candidate is dropped early."""
        if kind == "anytime":
            bounds = self.loss_bounds or (0, 1)
            return AnytimeRace(
                n_candidates, bounds=bounds, indifference=self.indifference, alpha=self.alpha
            )
        if kind == "halving":
            if n_rows is None:
                raise ValueError(
                    'race="halving" looks at shares of the tuning rows, and how many will come is '
                    "not known: pass tuning=, a number of rows."
                )
            return HalvingRace(n_candidates, n_rows, factor=self.factor)
        return None


class Race(Protocol):
    """Interface of a race.

    Attributes
    ----------
    left : ndarray of shape (n_left,)
        Numbers of the candidates that are left, in ascending order.
    reads_losses, needs_scores : bool
        Whether `read` makes anything of losses, and whether `look` needs scores.
    """

    left: NDArray[np.intp]
    reads_losses: bool
    needs_scores: bool

    def next_look(self, n_rows: int) -> int | None:
        """Return the number of scored rows, above `n_rows`, of the next look; None: no more."""
        ...

    def read(self, losses: ArrayLike) -> None:
        """Read losses of shape (n_left, n_new_rows): of the rows since the last call."""
        ...

    def look(self, scores: ArrayLike | None = None) -> list[Dropped]:
        """Return which are dropped now, in ascending order of position; they are left no longer."""
        ...

    def leave(self, positions: Iterable[int]) -> None:
        """Take out candidates that ended for another reason, by position among those left."""
        ...


class AnytimeRace:
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
    left : ndarray of shape (n_left,)
        Numbers of the candidates that are left, in ascending order.
    n_rows : int
        Rows read.

    Raises
    ------
    ValueError
        If a parameter is not valid.

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
    needs_scores = False

    def __init__(
        self,
        n_candidates: int,
        *,
        bounds: tuple[float, float] = (0, 1),
        indifference: float = 0.0,
        alpha: float = 0.05,
    ) -> None:
        self.left = _all_of(n_candidates)
        self.bounds = check_bounds(bounds)
        self.indifference = _checked_indifference(indifference, self.bounds)
        self.alpha = check_alpha(alpha)
        n_pairs = max(n_candidates * (n_candidates - 1), 1)
        self._log_threshold = math.log(n_pairs / self.alpha)
        self.n_rows = 0
        self._totals = np.zeros(n_candidates)
        self._variances = np.zeros((n_candidates, n_candidates))
        self._regrets = np.zeros(n_candidates)
        self._block = np.empty((n_candidates, ROWS_AT_ONCE))
        self._n_waiting = 0

    def __getstate__(self) -> dict[str, Any]:
        # Of the block, only the rows that wait: checkpoints stay small.
        return {**self.__dict__, "_block": self._block[:, : self._n_waiting]}

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update(state)
        waiting, self._block = self._block, np.empty((len(self.left), ROWS_AT_ONCE))
        self._block[:, : self._n_waiting] = waiting

    def next_look(self, n_rows: int) -> int | None:
        """Return the first of the rows 256, 384, 512, 768, 1024, ... above `n_rows`."""
        return None if len(self.left) < 2 else next_anytime_look(n_rows)

    def read(self, losses: ArrayLike) -> None:
        """Read the losses of the candidates that are left, for the rows since the last call.

        Parameters
        ----------
        losses : array-like of shape (n_left, n_new_rows)
            Losses within the bounds.

        Raises
        ------
        ValueError
            If the shape is wrong, or a loss is not a number within the bounds.
        """
        scaled = self._checked(losses)
        start, n = 0, scaled.shape[1]
        while start < n:
            stop = min(n, start + ROWS_AT_ONCE - self._n_waiting)
            end = self._n_waiting + stop - start
            self._block[:, self._n_waiting : end] = scaled[:, start:stop]
            self._n_waiting, start = end, stop
            if end == ROWS_AT_ONCE:
                self._add_waiting()
        self.n_rows += n

    def _checked(self, losses: ArrayLike) -> FloatArray:
        """Losses scaled to [0, 1]."""
        values = np.asarray(losses, dtype=np.float64)
        if values.ndim != 2 or len(values) != len(self.left):
            raise ValueError(
                f"losses must have the shape (n_left, n_rows), with one line for each of the "
                f"{len(self.left)} candidates left. Got the shape {values.shape}."
            )
        low, high = self.bounds
        if values.size and not (values.min() >= low and values.max() <= high):
            line, row = np.argwhere(~((values >= low) & (values <= high)))[0]
            raise ValueError(
                f"The loss of candidate {self.left[line]} at scored row {self.n_rows + row} is "
                f"{values[line, row]:g}, outside bounds=({low:g}, {high:g}). Give bounds that "
                f"hold for every possible loss."
            )
        return values if (low, high) == (0, 1) else (values - low) / (high - low)

    def _add_waiting(self) -> None:
        """Add the rows that wait to the sums of all pairs."""
        rows = self._block[:, : self._n_waiting]
        self._totals += rows.sum(axis=1)
        self._variances += squared_differences(rows)
        self._n_waiting = 0

    def look(self, scores: ArrayLike | None = None) -> list[Dropped]:
        """Return which are dropped after the rows read so far; they are left no longer.

        Parameters
        ----------
        scores : None
            Not needed: losses decide.

        Returns
        -------
        list of Dropped
            In ascending order of position.
        """
        self._add_waiting()
        dropped = []
        # Equal ones in the order of the candidates. From the last to the first: those ahead of a
        # candidate are all still left when its turn comes.
        order = np.argsort(self._totals, kind="stable")
        for place in range(len(order) - 1, 0, -1):
            by = self._beaten_by(order[place], order[:place])
            if by is not None:
                dropped.append(Dropped(int(order[place]), by))
        self._keep_all_but([one.position for one in dropped])
        return sorted(dropped, key=lambda one: one.position)

    def _beaten_by(self, position: np.intp, ahead: NDArray[np.intp]) -> int | None:
        """Who of those ahead of a candidate drops it, taking over its regret; None if it stays."""
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

    def leave(self, positions: Iterable[int]) -> None:
        """Take out candidates that ended for another reason, such as an error.

        Parameters
        ----------
        positions : iterable of int
            Their positions among those left.
        """
        self._add_waiting()
        self._keep_all_but(positions)

    def _keep_all_but(self, positions: Iterable[int]) -> None:
        kept = _others(len(self.left), positions)
        if len(kept) < len(self.left):
            self.left = self.left[kept]
            self._totals = self._totals[kept]
            self._variances = self._variances[np.ix_(kept, kept)]
            self._regrets = self._regrets[kept]
            self._block = np.empty((len(kept), ROWS_AT_ONCE))


#: Shares of its rows after which a halving race looks.
LOOKS = (1 / 8, 1 / 4, 1 / 2)


class HalvingRace:
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
    left : ndarray of shape (n_left,)
        Numbers of the candidates that are left, in ascending order.
    looks : tuple of int
        Numbers of rows at which it looks.

    Raises
    ------
    ValueError
        If a parameter is not valid.
    """

    reads_losses = False
    needs_scores = True

    def __init__(
        self,
        n_candidates: int,
        n_rows: int,
        *,
        factor: float = 3,
    ) -> None:
        self.left = _all_of(n_candidates)
        if not (is_real(factor) and 1 < factor < math.inf):
            raise ValueError(f"The halving factor must be above 1. Got {factor!r} instead.")
        self.n_rows = check_count(n_rows, "n_rows", 1)
        self.factor = float(factor)
        self.looks = tuple(sorted({max(1, round(share * self.n_rows)) for share in LOOKS}))

    def next_look(self, n_rows: int) -> int | None:
        """Return the first of `looks` above `n_rows`; None: there is no more."""
        later = [look for look in self.looks if look > n_rows]
        return later[0] if later and len(self.left) > 1 else None

    def read(self, losses: ArrayLike) -> None:
        """Do nothing: scores decide."""

    def look(self, scores: ArrayLike | None = None) -> list[Dropped]:
        """Return which are dropped at this look; they are left no longer.

        Parameters
        ----------
        scores : array-like of shape (n_left,) or (n_keys, n_left)
            Scores of the candidates that are left, the higher the better; NaN is the lowest. The
            second line decides among equals in the first, and so on; then the earlier candidate
            is the better one.

        Returns
        -------
        list of Dropped
            In ascending order of position. They lost against no single candidate.

        Raises
        ------
        ValueError
            If there is not one score for each candidate left.
        """
        keys = np.atleast_2d(np.asarray(scores, dtype=np.float64))
        n_left = len(self.left)
        if scores is None or keys.ndim != 2 or keys.shape[1] != n_left:
            raise ValueError(f"There must be one score for each of the {n_left} candidates left.")
        n_kept = max(1, math.ceil(n_left / self.factor))
        dropped = sorted(best_first(keys)[n_kept:].tolist())
        self.leave(dropped)
        return [Dropped(position, None) for position in dropped]

    def leave(self, positions: Iterable[int]) -> None:
        """Take out candidates that ended for another reason, by position among those left."""
        self.left = self.left[_others(len(self.left), positions)]


def next_anytime_look(n_rows: int) -> int:
    """Return the first of 256, 384, 512, 768, 1024, ... above `n_rows`: two per doubling."""
    if n_rows < FIRST_LOOK:
        return FIRST_LOOK
    step = 1 << (int(n_rows).bit_length() - 2)
    return (n_rows // step + 1) * step


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


def _all_of(n_candidates: int) -> NDArray[np.intp]:
    return np.arange(check_count(n_candidates, "n_candidates", 1))


def _others(n: int, positions: Iterable[int]) -> NDArray[np.intp]:
    """All positions below n but those given."""
    return np.setdiff1d(np.arange(n), list(positions))


def _checked_indifference(indifference: float, bounds: tuple[float, float]) -> float:
    if not (is_real(indifference) and 0 <= indifference < math.inf):
        raise ValueError(f"indifference must be at least 0. Got {indifference!r} instead.")
    low, high = bounds
    if indifference >= high - low:
        raise ValueError(
            f"indifference={indifference!r} is the largest possible difference of two losses in "
            f"[{low:g}, {high:g}], or more: no difference would matter, and all candidates but "
            "one would be dropped at the first look. Pass less, such as 0.005 for half a percent "
            "of accuracy."
        )
    return float(indifference)
