"""Spread of the targets: their squared distances from their mean, as the mean moves.

The spread is never computed as a sum of squares minus the square of a mean: after a change of level
no correct digits would remain. Instead the mean is updated row by row, every row adds its part to
the spread (Welford; West for weights), and parts of a window are combined by the distance of their
means (Chan, Golub and LeVeque). All terms are positive.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Self

import numpy as np

from skstream.core.measures.rows import Floats, ScoredRows

# Relative rounding error of float64: half the distance of adjacent numbers.
_ROUNDING = np.finfo(np.float64).eps / 2
#: Forms the sums ``s[0] = first``, ``s[i] = factor * s[i - 1] + values[i - 1]``.
Running = Callable[[Floats, float], Floats]


@dataclass(frozen=True, slots=True)
class Moments:
    """Weight, mean and spread of some targets.

    Attributes
    ----------
    weight : float
        Sum of the weights.
    centre, offset : float
        Their sum is the mean; the offset is small, and holds the digits that do not fit in the
        centre.
    spread : float
        Sum of the weighted squares of the distances from the mean.
    """

    weight: float = 0.0
    centre: float = 0.0
    offset: float = 0.0
    spread: float = 0.0

    @classmethod
    def of(cls, y: Floats, weight: Floats) -> Self:
        """Moments of some targets."""
        total = float(weight.sum())
        if not total > 0.0:
            return cls()
        # Twice: the second time about the mean, whose distance from the first target is rounded.
        centre = float(y[0]) + float(weight @ (y - y[0])) / total
        offset = float(weight @ (y - centre)) / total
        away = (y - centre) - offset
        return cls(total, *_sum(centre, offset), float(weight @ (away * away)))

    def faded(self, factor: float) -> "Moments":
        """Return the moments of the same targets with smaller weights."""
        return Moments(self.weight * factor, self.centre, self.offset, self.spread * factor)


def all_weights(rows: ScoredRows) -> Floats:
    """Weights of rows, 1 where there are none."""
    return np.ones(len(rows)) if rows.weight is None else rows.weight


def _unknown(weight: Any, mean: Any) -> Any:
    return weight * (_ROUNDING * mean) ** 2


def _sum(large: float, small: float) -> tuple[float, float]:
    """Return the rounded sum of two numbers, and the rounding error."""
    total = large + small
    part = total - large
    return total, (large - (total - part)) + (small - part)


def running_spread(
    earlier: Moments, y: Floats, weight: Floats, running: Running, factor: float
) -> tuple[Floats, Moments]:
    """Spread after every row.

    Parameters
    ----------
    earlier : Moments
        Of the rows before.
    y, weight : ndarray of shape (n,)
        Targets and their positive weights.
    running : callable
        ``running(values, first)`` sums as the mechanism does.
    factor : float
        What remains of a sum with every row; 1 forgets nothing.

    Returns
    -------
    spreads : ndarray of shape (n + 1,)
        After 0, 1, ..., n rows.
    moments : Moments
        After the last.
    """
    if not len(y):
        return np.array([earlier.spread]), earlier
    if not earlier.weight > 0.0:
        earlier = Moments(0.0, float(y[0]))
    values = y - earlier.centre
    weights = running(weight, earlier.weight)
    with np.errstate(divide="ignore", invalid="ignore"):
        means = running(weight * values, earlier.weight * earlier.offset) / weights
        means[0] = earlier.offset
        # After a change of level these means have the rounding errors of the old level. The errors
        # follow the same recursion, with the error of each row in place of the targets.
        share = weight / weights[1:]
        away = values - means[:-1]
        left = (means[:-1] - means[1:]) + share * away
        lack = running(weights[1:] * left, 0.0) / weights
        lack[0] = 0.0
        away -= lack[:-1]
        spreads = running(factor * weights[:-1] * share * away * away, earlier.spread)
    centre, offset = _sum(earlier.centre, float(means[-1]))
    moments = Moments(
        float(weights[-1]), *_sum(centre, offset + float(lack[-1])), float(spreads[-1])
    )
    known = spreads > _unknown(weights, earlier.centre + means)
    return np.where(known, spreads, 0.0), moments


def window_spreads(y: Floats, weight: Floats, n_old: int, size: int) -> Floats:
    """Spread over a sliding window, after 0, 1, ..., n of the new rows.

    The rows are divided into segments as long as the window, as for sums: a window is the end of
    one segment and the beginning of the next.

    Parameters
    ----------
    y, weight : ndarray of shape (n_old + n,)
        Targets and their positive weights: the last `n_old` earlier rows (as many as fit the
        window), then the new ones.
    n_old : int
        Number of earlier rows.
    size : int
        Size of the window.

    Returns
    -------
    ndarray of shape (n + 1,)
        The spreads.
    """
    n = len(y)
    size = min(size, max(n, 1))  # one segment, perhaps not complete
    n_segments = -(-n // size)
    segments = np.zeros((2, n_segments * size))
    segments[0, :n], segments[1, :n] = y, weight
    segments[0, n:] = y[-1] if n else 0.0
    values, weights = segments.reshape(2, n_segments, size)
    head = _prefixes(values, weights)
    spreads = np.concatenate(([0.0], head[2].ravel()[:n]))
    if n > size:
        backward = _prefixes(values[:, ::-1], weights[:, ::-1])
        # A window that begins with a segment is that segment alone.
        tail = tuple(part[:, ::-1].ravel()[: n - size + 1] for part in backward)
        whole = np.arange(n - size + 1) % size == 0
        ahead = tuple(part.ravel()[size - 1 : n] for part in head)
        apart = (
            np.repeat(values[:, -1], size)[: n - size + 1]
            - np.repeat(values[:, 0], size)[size - 1 : n]
        ) + (tail[1] - ahead[1])
        between = tail[0] * ahead[0] / (tail[0] + ahead[0]) * apart * apart
        spreads[size:] = ahead[2] + np.where(whole, 0.0, tail[2] + between)
    return spreads[n_old:]


def _prefixes(values: Floats, weights: Floats) -> tuple[Floats, Floats, Floats]:
    """Weight, mean less the first value, and spread of every beginning of every segment."""
    values = values - values[:, :1]
    total = weights.cumsum(axis=1)
    with np.errstate(divide="ignore", invalid="ignore"):
        means = (weights * values).cumsum(axis=1) / total
        means[total == 0.0] = 0.0
        away = values[:, 1:] - means[:, :-1]
        added = total[:, :-1] * (weights[:, 1:] / total[:, 1:]) * away * away
    added[total[:, 1:] == 0.0] = 0.0
    spreads = np.zeros_like(values)
    added.cumsum(axis=1, out=spreads[:, 1:])
    return total, means, spreads
