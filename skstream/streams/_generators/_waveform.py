"""Mixtures of two of three waves."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from skstream.streams._generators._base import (
    ConceptStream,
    check_concepts,
    normal_rows,
    order_of,
    parameter,
)
from skstream.utils._choices import check_count
from skstream.utils._seeds import uniform

_POINTS = 21
# Triangles of height 6 with their tops at points 11, 15 and 7, counted from 1.
_WAVES = np.maximum(6.0 - np.abs(np.arange(1, _POINTS + 1) - np.array([[11], [15], [7]])), 0)
# By integration over the plane of the waves, which the tests repeat.
_BAYES_ERROR = 0.13293319667888648
# The two waves of each class.
_PAIRS = np.array([[0, 1], [0, 2], [1, 2]])


@dataclass(kw_only=True, eq=False, repr=False)
class Waveform(ConceptStream):
    """Three classes, each a mixture of two of three waves in random proportion, with noise.

    The classes are equally likely. The 21 features are the points of the mixture, each with
    standard normal noise. In a drift, features change places.

    Parameters
    ----------
    n_rows : int or None, default=10_000
        Number of rows; None for an endless stream.
    random_state : int, default=0
        Seed. The same seed gives the same rows.
    chunk_size : int, default=65536
        Rows per chunk.
    change_rows : sequence of int, default=None
        First row of each concept but the first. By default all concepts have the same length;
        required for an endless stream of more than one concept.
    n_irrelevant : int, default=0
        Number of further features that are pure noise; 19 in the source's second version.
    n_drifting : sequence of int, default=(0,)
        Number of features permuted among each other, for each concept in order; not 1. Which ones
        depends on the seed; smaller sets are contained in larger ones.

    Notes
    -----
    The error of the best possible predictions is 13.29 %; the literature says about 14 %.

    References
    ----------
    Breiman, L., Friedman, J., Olshen, R. and Stone, C. (1984). Classification and Regression
    Trees. Wadsworth.

    Examples
    --------
    >>> from skstream.streams import Waveform
    >>> stream = Waveform(20_000, n_drifting=(0, 10))
    >>> stream.drifts
    (Drift(start=10000, end=10000),)
    >>> round(stream.bayes_error(), 4)
    0.1329
    """

    _n_classes = 3

    n_irrelevant: int = parameter(0, check_count, 0)
    n_drifting: Sequence[int] = (0,)
    _of_concepts = "n_drifting"

    def _prepare(self) -> None:
        self._n_features = _POINTS + self.n_irrelevant
        allowed = range(self._n_features + 1)
        self.n_drifting = check_concepts(self.n_drifting, "n_drifting", allowed)
        if 1 in self.n_drifting:
            raise ValueError(
                "n_drifting must not be 1: a single feature has nothing to swap with. Got "
                f"{self.n_drifting!r}."
            )
        super()._prepare()

    def bayes_error(self) -> float:
        """Return the error of the best possible predictions, given how the features have moved.

        Returns
        -------
        error : float
            By integration, with an error below 1e-7.
        """
        return _BAYES_ERROR

    def block(self, start: int, stop: int) -> tuple[NDArray[np.float64], NDArray[Any]]:
        """Generate the rows from `start` up to `stop`.

        Parameters
        ----------
        start, stop : int
            Row numbers.

        Returns
        -------
        X : ndarray of shape (stop - start, 21 + n_irrelevant)
            Features.
        y : ndarray of shape (stop - start,)
            Labels.
        """
        seed, n_features = self.random_state, self._n_features
        y = (3 * uniform(seed, "waveform class", start, stop)).astype(np.int64)
        share = uniform(seed, "waveform share", start, stop)[:, np.newaxis]
        one, other = _PAIRS[y].T
        X = normal_rows(seed, "waveform noise", start, stop, n_features)
        X[:, :_POINTS] += share * _WAVES[one] + (1 - share) * _WAVES[other]
        for n_drifting, part in self._parts(start, stop):
            places = order_of(seed, "waveform places", n_features)[:n_drifting]
            X[part, places] = X[part, np.roll(places, 1)]
        return X, y
