"""Detectors at equal caution: as many false alarms as the others."""

from __future__ import annotations

import math
from dataclasses import dataclass
from numbers import Integral, Real
from typing import Any

import numpy as np
from numpy.typing import ArrayLike
from sklearn.base import clone

from skstream.drift._base import (
    DriftDetector,
    as_values,
    check_detector,
    check_parameter,
    refuse_where,
)
from skstream.utils._choices import check_count, check_share, is_integer, is_real
from skstream.utils._seeds import drawn_seed, uniform
from skstream.utils._warnings import warn

# False alarms that are expected where a number of values is not given.
_ALARMS = 20
_STEPS = 40


@dataclass(frozen=True, kw_only=True)
class Calibration:
    """The value of a parameter at which a detector is as cautious as asked.

    Attributes
    ----------
    detector : DriftDetector
        The detector with this value, which has read nothing.
    parameter : str
        Name of the parameter.
    value : int or float
        Its value.
    run_length : float
        Mean distance of the false alarms at this value, in values of the series that was tried. The
        value was chosen by it: on another series it is as far off as `n_alarms` says.
    n_alarms : int
        Number of these alarms. The fewer they are, the less certain the distance is: its relative
        standard deviation is about ``1 / sqrt(n_alarms)``.

    See Also
    --------
    calibrate : Makes it.
    """

    detector: DriftDetector
    parameter: str
    value: float
    run_length: float
    n_alarms: int


def calibrate(
    detector: DriftDetector,
    parameter: str,
    run_length: float = 100_000,
    *,
    bounds: tuple[float, float],
    error_rate: float = 0.1,
    losses: ArrayLike | None = None,
    n_values: int | None = None,
    random_state: Any = 0,
) -> Calibration:
    """Find the parameter's value at which false alarms are `run_length` values apart on average.

    Detectors are compared fairly at equal caution: one that raises more alarms detects sooner, and
    is no better for that.

    Parameters
    ----------
    detector : DriftDetector
        The detector; it is cloned.
    parameter : str
        Name of a parameter, such as ``"threshold"``.
    run_length : float, default=100_000
        Wanted mean distance of alarms on losses without a drift, at least 1.
    bounds : tuple of (low, high)
        Values between which to look: between two positive numbers at the geometric mean of what is
        left, and otherwise at the middle. Of a parameter that is a whole number only such values
        are tried; give it whole bounds.
    error_rate : float, default=0.1
        Share of errors of the series that is tried, in [0, 1]: independent 0/1 losses.
    losses : array-like of shape (n_values,), default=None
        Another series without a drift to be tried, such as losses of the model in question; at
        least `run_length` of them.
    n_values : int, default=None
        Length of the series, where no losses are given, at least `run_length`; None: twenty times
        as long.
    random_state : int, RandomState instance or None, default=0
        Seed of the series. All values of the parameter are tried on the same one.

    Returns
    -------
    Calibration
        The value, a detector that has it, and the distance that was measured.

    Raises
    ------
    TypeError
        If `detector` is not an instance of a drift detector.
    ValueError
        If the detector has no such parameter, the series is shorter than the wanted distance, or
        this is not between those at the two bounds.

    Warns
    -----
    UserWarning
        If the distance at the best value found misses the wanted one by more than chance does, the
        standard deviation of ``1 / sqrt(n_alarms)``: the number of alarms jumps there.

    See Also
    --------
    score_detections : Scores alarms where drifts are known.

    Examples
    --------
    >>> from skstream.drift import PageHinkley
    >>> from skstream.studies import calibrate
    >>> found = calibrate(PageHinkley(), "threshold", 2000, bounds=(1.0, 500.0))
    >>> 1900 < found.run_length < 2100
    True
    """
    _check(detector, parameter, run_length, bounds)
    if losses is None:
        check_share(error_rate, "error_rate")
        wanted = _ALARMS * int(run_length) if n_values is None else n_values
        n = check_count(wanted, "n_values", 1)
        seed = drawn_seed(random_state)
        series = (uniform(seed, "calibrate", 0, n) < error_rate).astype(np.float64)
    else:
        series = as_values(losses, "losses")
        if not len(series):
            raise ValueError("losses must not be empty.")
        refuse_where(np.asarray(detector._wrong(series)), series, detector._wanted, "losses")

    n = len(series)
    target = n / run_length
    if target < 1:
        given = "losses" if losses is not None else "n_values"
        raise ValueError(
            f"The series is too short: alarms are to be {run_length:g} values apart, and {given}= "
            f"gives {n:,} values, which hold no two such alarms ({target:.2g} are expected). At "
            f"least {math.ceil(run_length):,} values are needed, and {_ALARMS} times as many to "
            "know the distance to about a fifth."
        )

    def alarms_at(value: float) -> int:
        return len(clone(detector).set_params(**{parameter: value}).update_many(series))

    whole = _takes_integers(detector, parameter)
    low, high = bounds if whole else map(float, bounds)
    n_low, n_high = alarms_at(low), alarms_at(high)
    if not min(n_low, n_high) <= target <= max(n_low, n_high):
        raise ValueError(
            f"No {parameter} in bounds={bounds!r} gives a distance of {run_length:g} between "
            f"alarms: {n} values raised {n_low} at {low!r} and {n_high} at {high!r}, and "
            f"{target:g} are wanted. Widen the bounds."
        )
    rises = n_high > n_low
    tried = {low: n_low, high: n_high}
    for _ in range(_STEPS):
        middle = _between(low, high, whole)
        if middle in tried:
            break
        tried[middle] = alarms_at(middle)
        if tried[middle] == round(target):
            break
        if (tried[middle] > target) == rises:
            high = middle
        else:
            low = middle

    def miss(value: float) -> float:
        return abs(math.log(tried[value] / target)) if tried[value] else math.inf

    value = min(tried, key=miss)
    found = Calibration(
        detector=clone(detector).set_params(**{parameter: value}),
        parameter=parameter,
        value=value,
        run_length=n / tried[value],
        n_alarms=tried[value],
    )
    if miss(value) > 1 / math.sqrt(found.n_alarms):
        warn(
            f"The alarms of {found.detector!r} are {found.run_length:.4g} values apart "
            f"({found.n_alarms} in {n:,} values), and {run_length:g} were wanted: no {parameter} "
            "that was tried comes nearer, as the number of alarms jumps there. Compare at this "
            "distance, or take another parameter."
        )
    return found


def _check(detector: Any, parameter: str, run_length: Any, bounds: Any) -> None:
    check_detector(detector)
    check_parameter(detector, parameter)
    if not is_real(run_length) or not 1 <= run_length < np.inf:
        raise ValueError(f"run_length must be a number of at least 1. Got {run_length!r} instead.")
    pair = tuple(bounds) if np.iterable(bounds) else ()
    if len(pair) != 2 or not all(map(is_real, pair)) or not pair[0] < pair[1]:
        raise ValueError(f"bounds must be two numbers (low, high), low < high. Got {bounds!r}.")


def _takes_integers(detector: DriftDetector, parameter: str) -> bool:
    """Whether a parameter is a whole number: by what is declared of it, else by its value."""
    kinds = {
        getattr(one, "type", None) for one in detector._parameter_constraints.get(parameter, [])
    }
    numbers = kinds & {Integral, Real}
    return numbers == {Integral} if numbers else is_integer(detector.get_params()[parameter])


def _between(low: float, high: float, whole: bool) -> float:
    middle = math.sqrt(low * high) if low > 0 else (low + high) / 2
    return round(middle) if whole else middle
