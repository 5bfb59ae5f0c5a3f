"""A plane through a cube that turns."""

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from skstream.core.rows.stream import Drift
from skstream.streams._generators._base import (
    GeneratedStream,
    continuous_drift,
    parameter,
    reflected,
    sum_of,
    uniform_rows,
)
from skstream.utils._choices import check_count, check_number, check_share
from skstream.utils._seeds import uniform

# Periods whose directions are drawn at once on the way to a row.
_PERIODS = 65536


@dataclass(kw_only=True, eq=False, repr=False)
class RotatingHyperplane(GeneratedStream):
    """Label 1 on one side of a slowly rotating hyperplane.

    All features are uniform in [0, 1). The label is 1 if the weighted sum of the features is at
    least half the sum of the weights, so both labels are equally frequent. The weights start at
    random in [0, 1), and those of the first `n_drifting` features move with every row.

    Parameters
    ----------
    n_rows : int or None, default=10_000
        Number of rows; None for an endless stream.
    random_state : int, default=0
        Seed. The same seed gives the same rows.
    chunk_size : int, default=65536
        Rows per chunk.
    n_features : int, default=10
        Number of features.
    n_drifting : int, default=2
        Number of features whose weights change.
    magnitude : float, default=0.1
        How far these weights move in each period, evenly along its rows. A weight that reaches 0 or
        1 is reflected.
    period : int, default=1000
        Number of rows after which each weight may change its direction.
    reversal : float, default=0.1
        Probability of a change of direction, for each period and weight.
    noise : float, default=0.05
        Share of rows with a wrong label, from 0 to 1.

    Notes
    -----
    The plane is that of [1]_; magnitude, period and reversal are those of [2]_ (t, N and 10 %),
    where weights can grow without bound, and the plane turns ever more slowly. For streams that
    other software calls HYP(10, 0.001) use ``n_drifting=10, magnitude=0.001, period=1``. Generating
    rows far from the latest ones costs a sum over all periods before them.

    References
    ----------
    .. [1] Hulten, G., Spencer, L. and Domingos, P. (2001). Mining time-changing data streams. KDD.
    .. [2] Wang, H., Fan, W., Yu, P. and Han, J. (2003). Mining concept-drifting data streams using
       ensemble classifiers. KDD.

    Examples
    --------
    >>> from skstream.streams import RotatingHyperplane
    >>> stream = RotatingHyperplane(5000, n_features=3)
    >>> stream.weights(0, 5000)[::1000].round(2)
    array([[0.72, 0.47, 0.55],
           [0.62, 0.37, 0.55],
           [0.52, 0.27, 0.55],
           [0.42, 0.17, 0.55],
           [0.32, 0.27, 0.55]])
    """

    n_features: int = parameter(10, check_count, 1)
    n_drifting: int = parameter(2, check_count, 0)
    magnitude: float = parameter(0.1, check_number)
    period: int = parameter(1000, check_count, 1)
    reversal: float = parameter(0.1, check_share)
    noise: float = parameter(0.05, check_share)
    _n_classes = 2

    def _prepare(self) -> None:
        self._n_features = self.n_features
        if self.n_drifting > self.n_features:
            raise ValueError(
                f"n_drifting must be at most n_features={self.n_features}. Got {self.n_drifting!r} "
                f"instead."
            )
        self._begin = uniform(self.random_state, "hyperplane weights", 0, self.n_features)
        is_rising = uniform(self.random_state, "hyperplane directions", 0, self.n_drifting) < 0.5
        # A period, the directions in it (1 or -1), and their sum over the periods before.
        self._first = (0, np.where(is_rising, 1, -1), np.zeros(self.n_drifting, dtype=np.int64))
        self._known = self._first

    @property
    def drifts(self) -> tuple[Drift, ...]:
        """One drift over all rows, if any weight moves."""
        return continuous_drift(self.n_rows) if self.n_drifting and self.magnitude else ()

    def bayes_error(self) -> float:
        """Return the error of the best possible predictions.

        Returns
        -------
        error : float
            The share of wrong labels, or of correct ones if these are fewer.
        """
        return min(self.noise, 1 - self.noise)

    def weights(self, start: int, stop: int) -> NDArray[np.float64]:
        """Return the weights at the rows from `start` up to `stop`.

        Parameters
        ----------
        start, stop : int
            Row numbers.

        Returns
        -------
        weights : ndarray of shape (stop - start, n_features)
            Between 0 and 1.
        """
        weights = np.repeat(self._begin[np.newaxis], stop - start, axis=0)
        if self.n_drifting and stop > start:
            period, place = np.divmod(np.arange(start, stop), self.period)
            signs, sums = self._directions(int(period[0]), int(period[-1]) + 1)
            within = period - period[0]
            steps = sums[within] + signs[within] * (place / self.period)[:, np.newaxis]
            moved = self._begin[: self.n_drifting] + self.magnitude * steps
            weights[:, : self.n_drifting] = reflected(moved)
        return weights

    def block(self, start: int, stop: int) -> tuple[NDArray[np.float64], NDArray[Any]]:
        """Generate the rows from `start` up to `stop`.

        Parameters
        ----------
        start, stop : int
            Row numbers.

        Returns
        -------
        X : ndarray of shape (stop - start, n_features)
            Features.
        y : ndarray of shape (stop - start,)
            Labels.
        """
        X = uniform_rows(self.random_state, "hyperplane", start, stop, self.n_features)
        terms = (X - 0.5) * self.weights(start, stop)
        is_wrong = uniform(self.random_state, "hyperplane noise", start, stop) < self.noise
        return X, ((sum_of(terms.T) >= 0) != is_wrong).astype(np.int64)

    def _directions(self, first: int, end: int) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """Directions in periods, and for each period the sum of the directions before it."""
        known = self._known if self._known[0] <= first else self._first
        while known[0] < first:
            signs, sums = self._go_on(known, min(known[0] + _PERIODS, first) + 1)
            known = known[0] + len(signs) - 1, signs[-1], sums[-1]
        self._known = known
        return self._go_on(known, end)

    def _go_on(
        self, known: tuple[int, NDArray[np.int64], NDArray[np.int64]], end: int
    ) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """Directions and their sums from a known period up to another."""
        first, signs, sums = known
        numbers = uniform_rows(
            self.random_state, "hyperplane reversals", first + 1, end, self.n_drifting
        )
        turns = np.where(numbers < self.reversal, -1, 1)
        all_signs = np.cumprod(np.concatenate([signs[np.newaxis], turns]), axis=0)
        steps = np.concatenate([sums[np.newaxis], all_signs[:-1]])
        return all_signs, np.cumsum(steps, axis=0)
