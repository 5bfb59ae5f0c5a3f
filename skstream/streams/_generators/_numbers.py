"""Numbers of generators that are the same to the last bit on every platform and at any place."""

import math
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.special import ndtri

from skstream.utils._seeds import uniform

Floats = NDArray[np.float64]


def floats_of(values: Any) -> Floats:
    """Return a copy of what a user gives as an array; a single NaN where it is none of numbers."""
    try:
        return np.array(values, dtype=np.float64)
    except (TypeError, ValueError):
        return np.array(np.nan)


def uniform_rows(seed: int, name: str, start: int, stop: int, n: int) -> Floats:
    """Return numbers in [0, 1), `n` for each row from `start` up to `stop`."""
    return uniform(seed, name, start * n, stop * n).reshape(stop - start, n)


def normal_rows(seed: int, name: str, start: int, stop: int, n: int) -> Floats:
    """Return standard normal numbers, `n` for each row from `start` up to `stop`."""
    # The middle of each of the 2^53 steps, so that no number is infinite.
    numbers = uniform_rows(seed, name, start, stop, n)
    numbers += 2.0**-54
    normal: Floats = ndtri(numbers, out=numbers)
    return normal


def order_of(seed: int, name: str, n: int) -> NDArray[np.intp]:
    """Return the numbers from 0 to `n` - 1 in random order."""
    return np.argsort(uniform(seed, name, 0, n), kind="stable")


def sum_of(rows: Any) -> Floats:
    """Sum over the first axis, one after another: NumPy's own order depends on the shape."""
    total: Floats = rows[0].copy()
    for row in rows[1:]:
        total += row
    return total


def lengths(vectors: Floats) -> Floats:
    """Return the length of each row."""
    return np.sqrt(sum_of((vectors * vectors).T))


def reflected(places: Floats) -> Floats:
    """Return places on a line as they are in [0, 1], whose ends throw back what comes to them."""
    within = places - 2 * np.floor(places / 2)
    inside: Floats = np.minimum(within, 2 - within)
    return inside


# Taylor coefficients, the highest power first: of the sine over its argument, and of the cosine,
# both in powers of the square. Up to 45 degrees the rest is below the last bit.
_SINE = [(-1) ** k / math.factorial(2 * k + 1) for k in range(9, -1, -1)]
_COSINE = [(-1) ** k / math.factorial(2 * k) for k in range(9, -1, -1)]


def cosine_and_sine(degrees: Floats) -> tuple[Floats, Floats]:
    """Return cosine and sine of angles in degrees; exact at multiples of 90.

    NumPy's own depend on the processor.
    """
    quarters = np.rint(degrees / 90)
    angle = (degrees - 90 * quarters) * (math.pi / 180)
    square = angle * angle
    sine, cosine = angle * _polynomial(_SINE, square), _polynomial(_COSINE, square)
    quarter = quarters % 4
    odd = quarter % 2 == 1
    x, y = np.where(odd, sine, cosine), np.where(odd, cosine, sine)
    return (
        np.where((quarter == 1) | (quarter == 2), -x, x),
        np.where(quarter >= 2, -y, y),
    )


def turned(columns: list[Floats], plane: tuple[int, int], degrees: Floats) -> list[Floats]:
    """Turn vectors, given by their columns, counter-clockwise in the plane of two of these."""
    cosine, sine = cosine_and_sine(degrees)
    first, second = plane
    x, y = columns[first], columns[second]
    after = list(columns)
    after[first] = cosine * x - sine * y
    after[second] = sine * x + cosine * y
    return after


def _polynomial(coefficients: list[float], x: Floats) -> Floats:
    value = np.full_like(x, coefficients[0])
    for coefficient in coefficients[1:]:
        value = value * x + coefficient
    return value
