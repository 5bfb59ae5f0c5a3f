"""Integral of the error of the best possible answers."""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.special import ndtr, ndtri

from skstream.streams._generators._mixture_truth import MixtureTruth
from skstream.streams._generators._numbers import Floats, sum_of
from skstream.utils._seeds import uniform

#: Groups of points; each is shifted at random, and their spread is the standard error.
N_GROUPS = 16
#: Points that are computed at once.
N_AT_ONCE = 1 << 16


class BayesError(NamedTuple):
    """Error of the best possible answers.

    Parameters
    ----------
    error : float or ndarray
        Between 0 and 1.
    standard_error : float or ndarray
        How exact it is; 0 where there is a formula.

    Examples
    --------
    >>> from skstream.streams import load_testbed
    >>> load_testbed("NSGT-5D").bayes_error_estimate().standard_error
    0.0
    """

    error: float | NDArray[np.float64]
    standard_error: float | NDArray[np.float64]


def integrated_error(
    truth: MixtureTruth, rows: Floats, n_points: int, *, each: bool
) -> tuple[Floats, Floats]:
    """Return the error at some rows, or their mean, and its standard error.

    Parameters
    ----------
    truth : MixtureTruth
        The mixture.
    rows : ndarray of shape (n_rows,)
        Row numbers.
    n_points : int
        Points per component; for each row where `each`.
    each : bool
        Whether the error is wanted for each of the rows.

    Returns
    -------
    error, standard_error : ndarray of shape (n_rows,) or (1,)
    """
    if n_points < N_GROUPS:
        raise ValueError(f"n_points must be at least {N_GROUPS}. Got {n_points!r} instead.")
    exact = _of_equal_covariances(truth, rows)
    if exact is not None:
        error = exact if each else np.array([exact.mean()])
        return error, np.zeros_like(error)
    of_group = _at_each if each else _over_all
    n_rows = len(rows) if each else 1
    found = np.zeros((N_GROUPS, n_rows))
    n_axes = truth.n_features + (0 if each else 1)
    for number in range(len(truth.paths)):
        shifts = uniform(0, f"Bayes error {number}", 0, N_GROUPS * n_axes)
        for group, shift in enumerate(shifts.reshape(N_GROUPS, n_axes)):
            found[group] += of_group(truth, rows, number, n_points // N_GROUPS, shift)
    return found.mean(axis=0), found.std(axis=0, ddof=1) / np.sqrt(N_GROUPS)


def _of_equal_covariances(truth: MixtureTruth, rows: Floats) -> Floats | None:
    """Error at each row by the formula for two Gaussians of one covariance, if they are two."""
    if len(truth.paths) != 2 or truth.codes[0] == truth.codes[1]:
        return None
    errors = np.empty(len(rows))
    first, second = truth.paths
    for start in range(0, len(rows), N_AT_ONCE):
        at = slice(start, start + N_AT_ONCE)
        spread = first.covariance(rows[at])
        scale = np.abs(spread).max(axis=(1, 2), keepdims=True)
        if (np.abs(spread - second.covariance(rows[at])) > 1e-12 * scale).any():
            return None
        vectors, _ = first.whiten(rows[at], second.center(rows[at]))
        distance = np.sqrt(sum_of([vector * vector for vector in vectors]))
        one, other = truth.priors(rows[at])
        with np.errstate(divide="ignore", invalid="ignore"):
            shift = np.log(one / other) / distance
            error = one * ndtr(-distance / 2 - shift) + other * ndtr(-distance / 2 + shift)
        # Where a prior or the distance is 0 the answer is always the same.
        errors[at] = np.where(np.isfinite(error), error, np.minimum(one, other))
    return errors


def _over_all(
    truth: MixtureTruth, rows: Floats, number: int, n_points: int, shift: Floats
) -> Floats:
    """Part of a component in the mean error over some rows, by one group of points."""
    error = 0.0
    for start in range(0, n_points, N_AT_ONCE):
        points = _spread_evenly(start, min(start + N_AT_ONCE, n_points), shift)
        at = rows[(points[0] * len(rows)).astype(np.intp)]
        error += _errors(truth, at, number, points[1:]).sum() / n_points
    return np.array([error])


def _at_each(
    truth: MixtureTruth, rows: Floats, number: int, n_points: int, shift: Floats
) -> Floats:
    """Part of a component in the error at each row, by one group of points."""
    points = _spread_evenly(0, n_points, shift)
    n_at_once = max(1, N_AT_ONCE // n_points)
    parts = []
    for start in range(0, len(rows), n_at_once):
        some = rows[start : start + n_at_once]
        at, repeated = np.repeat(some, n_points), np.tile(points, len(some))
        errors = _errors(truth, at, number, repeated).reshape(len(some), n_points)
        parts.append(errors.mean(axis=1))
    return np.concatenate(parts) if parts else np.empty(0)


def _errors(truth: MixtureTruth, rows: Floats, number: int, points: Floats) -> Floats:
    """Probability of a component, and of an error, at points of the unit cube that it is put on."""
    columns = truth.paths[number].place(rows, list(ndtri(points)))
    _, posterior = truth.posterior(columns, rows)
    errors: Floats = (1 - posterior.max(axis=1)) * truth.priors(rows)[number]
    return errors


def _spread_evenly(start: int, stop: int, shift: Floats) -> Floats:
    """Points in the open unit cube, (n_axes, n_points): multiples of irrational steps, shifted.

    The steps are powers of the inverse of the root of x^(n+1) = x + 1, which generalises the golden
    ratio.
    """
    n_axes = len(shift)
    root = 2.0
    for _ in range(64):
        root = (1 + root) ** (1 / (n_axes + 1))
    steps = root ** -np.arange(1.0, n_axes + 1)
    numbers = np.arange(start, stop) * steps[:, np.newaxis] + shift[:, np.newaxis]
    inside: Floats = np.clip(numbers % 1, 2.0**-53, 1 - 2.0**-53)
    return inside
