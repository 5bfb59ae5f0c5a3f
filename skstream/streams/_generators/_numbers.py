"""Random numbers of generators: one for each row and column, addressed by its place."""

import numpy as np
from numpy.typing import NDArray
from scipy.special import ndtri

from skstream.utils._seeds import uniform


def uniform_rows(seed: int, name: str, start: int, stop: int, n: int) -> NDArray[np.float64]:
    """Return numbers in [0, 1), `n` for each row from `start` up to `stop`."""
    return uniform(seed, name, start * n, stop * n).reshape(stop - start, n)


def normal_rows(seed: int, name: str, start: int, stop: int, n: int) -> NDArray[np.float64]:
    """Return standard normal numbers, `n` for each row from `start` up to `stop`."""
    # The middle of each of the 2^53 steps, so that no number is infinite.
    numbers = uniform_rows(seed, name, start, stop, n)
    numbers += 2.0**-54
    normal: NDArray[np.float64] = ndtri(numbers, out=numbers)
    return normal


def order_of(seed: int, name: str, n: int) -> NDArray[np.intp]:
    """Return the numbers from 0 to `n` - 1 in random order."""
    return np.argsort(uniform(seed, name, 0, n), kind="stable")


def lengths(vectors: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return the length of each row."""
    squares = vectors * vectors
    # Column by column: the order of a sum along rows depends on their number.
    total = squares[:, 0].copy()
    for column in squares.T[1:]:
        total += column
    roots: NDArray[np.float64] = np.sqrt(total, out=total)
    return roots


def reflected(places: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return places on a line as they are in [0, 1], whose ends throw back what comes to them."""
    within = places - 2 * np.floor(places / 2)
    inside: NDArray[np.float64] = np.minimum(within, 2 - within)
    return inside
