"""Digits on a display of seven segments, some of which are wrong."""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import product
from typing import Any

import numpy as np
from numpy.typing import NDArray

from skstream.streams._generators._base import (
    ConceptStream,
    check_concepts,
    order_of,
    parameter,
    uniform_rows,
)
from skstream.utils._choices import check_count, check_share
from skstream.utils._seeds import uniform

# Segments of the digits 0 to 9: top, upper left, upper right, middle, lower left, lower right,
# bottom.
_WORDS = "1110111 0010010 1011101 1011011 0111010 1101011 1101111 1010010 1111111 1111011"
_DIGITS = np.array([[sign == "1" for sign in word] for word in _WORDS.split()])
_SEGMENTS = 7
# Irrelevant features that one random number gives.
_BITS = 32


@dataclass(kw_only=True, eq=False, repr=False)
class LED(ConceptStream):
    """Digits on a seven-segment display with errors, and irrelevant features.

    All digits are equally likely. All features are 0 or 1. In a drift, segments swap places with
    irrelevant features.

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
    noise : float, default=0.1
        Probability that a segment is inverted, for each row and segment.
    n_irrelevant : int, default=17
        Number of features, after the segments, that are 0 or 1 with equal probability.
    n_drifting : sequence of int, default=(0,)
        Number of segments swapped with irrelevant features, for each concept in order; from 0 to 7,
        and at most `n_irrelevant`. Which ones depends on the seed; smaller sets are contained in
        larger ones.

    References
    ----------
    Breiman, L., Friedman, J., Olshen, R. and Stone, C. (1984). Classification and Regression
    Trees. Wadsworth.

    Examples
    --------
    >>> from skstream.streams import LED
    >>> stream = LED(20_000, n_drifting=(0, 3, 7), change_rows=(5000, 12_000))
    >>> stream.drifts
    (Drift(start=5000, end=5000), Drift(start=12000, end=12000))
    >>> round(stream.bayes_error(), 4)
    0.26
    """

    _n_classes = 10

    noise: float = parameter(0.1, check_share)
    n_irrelevant: int = parameter(17, check_count, 0)
    n_drifting: Sequence[int] = (0,)
    _of_concepts = "n_drifting"

    def _prepare(self) -> None:
        self._n_features = _SEGMENTS + self.n_irrelevant
        most = min(_SEGMENTS, self.n_irrelevant)
        self.n_drifting = check_concepts(self.n_drifting, "n_drifting", range(most + 1))
        super()._prepare()

    @property
    def nominal_features(self) -> list[int]:
        """Numbers of the columns with codes of nominal values: all."""
        return list(range(self._n_features))

    def bayes_error(self) -> float:
        """Return the error of the best possible predictions, given how the features have moved.

        Returns
        -------
        error : float
            Exact, as a sum over the 128 states of the display.
        """
        states = np.array(list(product([False, True], repeat=_SEGMENTS)))
        is_wrong = states[:, np.newaxis, :] != _DIGITS
        probability = np.where(is_wrong, self.noise, 1 - self.noise).prod(axis=2)
        return float(1 - probability.max(axis=1).sum() / len(_DIGITS))

    def block(self, start: int, stop: int) -> tuple[NDArray[np.float64], NDArray[Any]]:
        """Generate the rows from `start` up to `stop`.

        Parameters
        ----------
        start, stop : int
            Row numbers.

        Returns
        -------
        X : ndarray of shape (stop - start, 7 + n_irrelevant)
            Features.
        y : ndarray of shape (stop - start,)
            Labels.
        """
        seed, n_irrelevant = self.random_state, self.n_irrelevant
        y = (10 * uniform(seed, "LED digit", start, stop)).astype(np.int64)
        is_wrong = uniform_rows(seed, "LED noise", start, stop, _SEGMENTS) < self.noise
        X = np.empty((stop - start, self._n_features))
        X[:, :_SEGMENTS] = _DIGITS[y] != is_wrong
        n_words = -(-n_irrelevant // _BITS)
        words = uniform_rows(seed, "LED irrelevant", start, stop, n_words) * 2.0**_BITS
        bits = words.astype(np.int64)
        for number in range(n_irrelevant):
            X[:, _SEGMENTS + number] = bits[:, number // _BITS] >> (number % _BITS) & 1
        for n_drifting, part in self._parts(start, stop):
            segments = order_of(seed, "LED segments", _SEGMENTS)[:n_drifting]
            others = _SEGMENTS + order_of(seed, "LED others", n_irrelevant)[:n_drifting]
            there, here = np.append(segments, others), np.append(others, segments)
            X[part, there] = X[part, here]
        return X, y
