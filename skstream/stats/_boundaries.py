"""Boundaries that a centred sum crosses, at any time, with small probability.

All classes answer the same two questions about ``S``, the sum of differences minus their
conditional expectations, and ``V``, its variance process: how far from zero may ``|S|`` be at
level alpha, and at which level does a given ``|S|`` lie on the boundary. ``V`` sums the squared
deviations of the differences from a prediction made before each of them, and no deviation lies
farther below 0 than c, so that ``exp(l * S - psi(l) * V)`` with
``psi(l) = (-log(1 - c l) - c l) / c**2`` is a supermartingale for every ``l`` in [0, 1/c) (Howard
et al. 2021, Theorem 4). c is `SPAN`, the length of the interval in which the differences lie:
enough for any prediction in that interval.
"""

import math
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy import special

from skstream.stats._checks import FloatArray

# Losses are scaled to [0, 1], so the difference of two of them lies in [-1, 1].
SPAN = 2.0


@dataclass(frozen=True)
class StitchedBoundary:
    """Stitched boundary of Howard et al. (2021), equation (10), for both signs of S.

    Attributes
    ----------
    least_variance : float
        Variance below which the boundary stays constant (their m).
    eta : float
        Ratio of the epochs of variance that are stitched together.
    exponent : float
        Power of the epoch number by which alpha is spent (their s).
    """

    least_variance: float = 25.0
    eta: float = 2.0
    exponent: float = 1.4

    def _scales(self) -> tuple[float, float]:
        k1 = (self.eta**0.25 + self.eta**-0.25) / math.sqrt(2)
        k2 = (math.sqrt(self.eta) + 1) / 2
        return k1, k2

    def _log_h(self, variance: FloatArray) -> FloatArray:
        epoch = np.log(variance / self.least_variance) / math.log(self.eta)
        return np.asarray(self.exponent * np.log(epoch + 1) + math.log(special.zeta(self.exponent)))

    def radius(self, variance: FloatArray, alpha: float, n_rows: Any = None) -> FloatArray:
        """Largest ``|S|`` inside the boundary at level alpha."""
        k1, k2 = self._scales()
        variance = np.maximum(variance, self.least_variance)
        level = self._log_h(variance) + math.log(2 / alpha)
        linear = k2 * SPAN * level
        return np.asarray(np.sqrt(k1**2 * variance * level + linear**2) + linear)

    def log_pvalue(
        self, deviation: FloatArray, variance: FloatArray, n_rows: Any = None
    ) -> FloatArray:
        """Logarithm of the level at which ``|S| = deviation`` lies on the boundary."""
        k1, k2 = self._scales()
        variance = np.maximum(variance, self.least_variance)
        exponent = deviation**2 / (k1**2 * variance + 2 * k2 * SPAN * deviation)
        return np.minimum(0.0, math.log(2) + self._log_h(variance) - exponent)


@dataclass(frozen=True)
class MixtureBoundary:
    """Gamma-exponential mixture of Howard et al. (2021), Proposition 9, for both signs of S.

    With ``u = 1 - c l`` in (0, 1] and mixing density proportional to
    ``u**(r - 1) * exp(-r u)``, ``r = tuning / c**2``, the mixture of the supermartingales is

        exp(y - r) * r**r / gamma(r, r) * gamma(a, y) / y**a,
        a = (V + tuning) / c**2,  y = (c S + V + tuning) / c**2,

    where gamma(., .) is the lower incomplete gamma function. A supermartingale that starts at 1
    reaches 2 / alpha with probability at most alpha / 2 (Ville), once for each sign of S.

    Attributes
    ----------
    tuning : float
        The boundary is tightest when V is about ten times this (their rho).
    scale : float
        Largest deviation below the prediction (their c).
    """

    tuning: float = 50.0
    scale: float = SPAN

    def log_mixture(self, total: FloatArray, variance: FloatArray) -> FloatArray:
        """Logarithm of the mixture; it reaches log(1 / alpha) with probability at most alpha."""
        c = self.scale
        r = self.tuning / c**2
        a = (variance + self.tuning) / c**2
        y = a + total / c
        constant = r * math.log(r) - r - math.lgamma(r) - math.log(special.gammainc(r, r))
        return np.asarray(
            constant + y - a * np.log(y) + special.gammaln(a) + np.log(special.gammainc(a, y))
        )

    def _slope(self, total: FloatArray, variance: FloatArray) -> FloatArray:
        """Differentiate the logarithm of the mixture by S: the mean of l under it."""
        c = self.scale
        a = (variance + self.tuning) / c**2
        y = a + total / c
        log_density = (a - 1) * np.log(y) - y - special.gammaln(a)
        return np.asarray((1 - a / y + np.exp(log_density) / special.gammainc(a, y)) / c)

    def radius(self, variance: FloatArray, alpha: float, n_rows: Any = None) -> FloatArray:
        """Largest ``|S|`` inside the boundary at level alpha."""
        variance = np.asarray(variance, dtype=np.float64)
        target = math.log(2 / alpha)
        tuned = variance + self.tuning
        radius = np.sqrt(tuned * (2 * target + np.log(tuned / self.tuning)))
        # The logarithm is increasing and convex in S: from its first step on, Newton's method
        # approaches the root from above and cannot overshoot. A fixed number of steps, more than
        # enough for any V, makes each entry independent of the others.
        for _ in range(8):
            excess = self.log_mixture(radius, variance) - target
            radius = radius - excess / self._slope(radius, variance)
        return np.asarray(radius)

    def log_pvalue(
        self, deviation: FloatArray, variance: FloatArray, n_rows: Any = None
    ) -> FloatArray:
        """Logarithm of the level at which ``|S| = deviation`` lies on the boundary."""
        return np.minimum(0.0, math.log(2) - self.log_mixture(deviation, variance))


@dataclass(frozen=True)
class AsymptoticBoundary:
    """Boundary of Waudby-Smith et al. (2024) for differences without bounds, for both signs of S.

    It holds as rows become many, and promises nothing for any number of them: before `least_rows`
    it lies at infinity.

    Attributes
    ----------
    squared_scale : float
        The boundary is tightest after about eight over this many rows (the square of their rho).
    least_rows : int
        Rows before which nothing is outside.
    """

    squared_scale: float = 0.008
    least_rows: int = 1000

    def radius(self, variance: FloatArray, alpha: float, n_rows: FloatArray) -> FloatArray:
        """Largest ``|S|`` inside the boundary at level alpha."""
        scaled = n_rows * self.squared_scale + 1
        level = np.log(scaled) / 2 - math.log(alpha)
        radius = np.sqrt(2 * scaled / self.squared_scale * level * variance / n_rows)
        return np.where(n_rows < self.least_rows, np.inf, radius)

    def log_pvalue(
        self, deviation: FloatArray, variance: FloatArray, n_rows: FloatArray
    ) -> FloatArray:
        """Logarithm of the level at which ``|S| = deviation`` lies on the boundary."""
        scaled = n_rows * self.squared_scale + 1
        # Without any variance all differences were 0.
        squares = deviation**2 * n_rows / np.where(variance > 0, variance, np.inf)
        level = np.log(scaled) / 2 - squares * self.squared_scale / (2 * scaled)
        return np.where(n_rows < self.least_rows, 0.0, np.minimum(0.0, level))


BOUNDARIES: dict[str, StitchedBoundary | MixtureBoundary | AsymptoticBoundary] = {
    "stitched": StitchedBoundary(),
    "mixture": MixtureBoundary(),
    "asymptotic": AsymptoticBoundary(),
}
