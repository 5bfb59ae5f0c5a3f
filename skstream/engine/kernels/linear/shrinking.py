"""All weights multiplied by one factor after the other, tile by tile, within the cache."""

from typing import Any

from numpy.typing import NDArray

from skstream.utils._numba import jit

# Weights that are multiplied by all factors before the next weights, and factors at a time.
TILE = 2048
FACTORS_PER_PASS = 8


@jit
def shrink(weights: NDArray[Any], factors: NDArray[Any]) -> None:
    """Multiply all weights by one factor after the other."""
    for begin in range(0, len(weights), TILE):
        tile = weights[begin : begin + TILE]
        for i in range(0, len(factors), FACTORS_PER_PASS):
            f0, f1, f2, f3 = factors[i], factors[i + 1], factors[i + 2], factors[i + 3]
            f4, f5, f6, f7 = factors[i + 4], factors[i + 5], factors[i + 6], factors[i + 7]
            for j in range(len(tile)):
                tile[j] = tile[j] * f0 * f1 * f2 * f3 * f4 * f5 * f6 * f7
