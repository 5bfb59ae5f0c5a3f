"""STAGGER: simple rules about three nominal features."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from skstream.streams._generators._base import ConceptStream, check_concepts, parameter
from skstream.streams._generators._numbers import uniform_rows

_SMALL = _RED = _CIRCULAR = 0
_GREEN = 1


@dataclass(kw_only=True, eq=False, repr=False)
class STAGGER(ConceptStream):
    """Label 1 for objects of a certain size, colour and shape; the rule changes abruptly.

    Three features with three values each, all equally likely, as codes: `size` (0 small, 1 medium,
    2 large), `colour` (0 red, 1 green, 2 blue) and `shape` (0 circular, 1 square, 2 triangular).

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
    functions : sequence of int, default=(1, 2, 3)
        Rule of each concept, in their order; 1: small and red; 2: green or circular; 3: medium or
        large.

    Notes
    -----
    River (0.26) numbers the colours otherwise (0 red, 1 blue, 2 green) and its rules from 0.

    References
    ----------
    Schlimmer, J. C. and Granger, R. H. (1986). Incremental learning from noisy data. Machine
    Learning 1(3), 317-354.

    Examples
    --------
    >>> from skstream.streams import STAGGER
    >>> stream = STAGGER(300)
    >>> X, y = stream.rows(0, 3)
    >>> X
    array([[2., 0., 2.],
           [2., 0., 1.],
           [0., 1., 0.]])
    >>> y
    array([0, 0, 0])
    """

    functions: Sequence[int] = parameter((1, 2, 3), check_concepts, range(1, 4))
    _of_concepts = "functions"

    @property
    def feature_names(self) -> list[str]:
        """Names of the three features."""
        return ["size", "colour", "shape"]

    @property
    def nominal_features(self) -> list[int]:
        """Numbers of the columns that hold codes of nominal values: all three."""
        return [0, 1, 2]

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
        X = np.floor(3 * uniform_rows(self.random_state, "STAGGER", start, stop, 3))
        return X, self._labels(X, start)

    def _label(self, concept: int, X: NDArray[np.float64]) -> Any:
        size, colour, shape = X.T
        if concept == 1:
            return (size == _SMALL) & (colour == _RED)
        if concept == 2:
            return (colour == _GREEN) | (shape == _CIRCULAR)
        return size != _SMALL
