"""Turns in a plane, the same to the last bit on every platform and at every place of an array."""

import math

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]

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
