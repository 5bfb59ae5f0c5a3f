"""Integral of the error of the best possible answers."""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.special import ndtr, ndtri

from skstream.streams._generators._mixture_truth import MixtureTruth
from skstream.streams._generators._turns import Floats
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
    n_each = n_points // N_GROUPS
    parts = rows[:, np.newaxis] if each else rows[np.newaxis]
    found = np.array([_by_group(truth, part, n_each) for part in parts])
    return found.mean(axis=1), found.std(axis=1, ddof=1) / np.sqrt(N_GROUPS)


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
        distance = np.sqrt(sum(vector * vector for vector in vectors))
        one, other = truth.priors(rows[at])
        with np.errstate(divide="ignore", invalid="ignore"):
            shift = np.log(one / other) / distance
            error = one * ndtr(-distance / 2 - shift) + other * ndtr(-distance / 2 + shift)
        # Where a prior or the distance is 0 the answer is always the same.
        errors[at] = np.where(np.isfinite(error), error, np.minimum(one, other))
    return errors


def _by_group(truth: MixtureTruth, rows: Floats, n_points: int) -> Floats:
    """Mean error over some rows, as each group of points gives it."""
    errors = np.zeros(N_GROUPS)
    n_axes = 1 + truth.n_features
    for number, path in enumerate(truth.paths):
        shifts = uniform(0, f"Bayes error {number}", 0, N_GROUPS * n_axes)
        for group, shift in enumerate(shifts.reshape(N_GROUPS, n_axes)):
            for start in range(0, n_points, N_AT_ONCE):
                stop = min(start + N_AT_ONCE, n_points)
                points = _spread_evenly(start, stop, shift)
                at = rows[(points[0] * len(rows)).astype(np.intp)]
                columns = path.place(at, list(ndtri(points[1:])))
                _, posterior = truth.posterior(columns, at)
                wrong = (1 - posterior.max(axis=1)) * truth.priors(at)[number]
                errors[group] += wrong.sum() / n_points
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
