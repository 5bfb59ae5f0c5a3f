"""Sums of two features against a threshold that changes."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from skstream.streams._generators._base import ConceptStream, parameter
from skstream.streams._generators._numbers import uniform_rows
from skstream.utils._choices import check_numbers, check_share
from skstream.utils._seeds import uniform


@dataclass(kw_only=True, eq=False, repr=False)
class SEA(ConceptStream):
    """Label 1 where the sum of two features is above a threshold, which changes abruptly.

    Three features are uniform in [0, 10); the third one does not matter.

    Parameters
    ----------
    n_rows : int or None, default=10_000
        Number of rows; None for an endless stream.
    random_state : int, default=0
        Seed. The same seed gives the same rows.
    chunk_size : int, default=65536
        Rows per chunk.
    change_rows : sequence of int, default=None
        First row of each concept but the first. By default all concepts are equally long; an
        endless stream of more than one concept must say it.
    thresholds : sequence of float, default=(8.0, 9.0, 7.0, 9.5)
        Threshold of each concept, in their order.
    noise : float, default=0.1
        Share of the rows whose label is the wrong one, from 0 to 1.

    References
    ----------
    Street, W. N. and Kim, Y. (2001). A streaming ensemble algorithm (SEA) for large-scale
    classification. KDD.

    Examples
    --------
    >>> from skstream.streams import SEA
    >>> stream = SEA(40_000)
    >>> stream.drifts[0]
    Drift(start=10000, end=10000)
    >>> stream.bayes_error()
    0.1
    """

    _n_features = 3

    thresholds: Sequence[float] = parameter((8.0, 9.0, 7.0, 9.5), check_numbers)
    noise: float = parameter(0.1, check_share)
    _of_concepts = "thresholds"

    def bayes_error(self) -> float:
        """Return the error of the best possible answers.

        Returns
        -------
        error : float
            The share of wrong labels, or of right ones where these are fewer.
        """
        return min(self.noise, 1 - self.noise)

    def block(self, start: int, stop: int) -> tuple[NDArray[np.float64], NDArray[Any]]:
        """Make the rows from `start` up to `stop`.

        Parameters
        ----------
        start, stop : int
            Row numbers.

        Returns
        -------
        X : ndarray of shape (stop - start, 3)
            Features.
        y : ndarray of shape (stop - start,)
            Labels.
        """
        X = 10 * uniform_rows(self.random_state, "SEA features", start, stop, 3)
        concept = np.searchsorted(self._begins[1:], np.arange(start, stop), side="right")
        is_above = X[:, 0] + X[:, 1] > np.array(self.thresholds)[concept]
        is_wrong = uniform(self.random_state, "SEA noise", start, stop) < self.noise
        return X, (is_above != is_wrong).astype(np.int64)
