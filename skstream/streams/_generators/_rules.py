"""Classic generators whose concepts are rules of a few features: STAGGER, SEA and Sine."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.special import sindg

from skstream.streams._generators._base import (
    ConceptStream,
    check_concepts,
    check_numbers,
    parameter,
    uniform_rows,
)
from skstream.utils._choices import check_count, check_share
from skstream.utils._seeds import uniform

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
        First row of each concept but the first. By default all concepts have the same length;
        required for an endless stream of more than one concept.
    functions : sequence of int, default=(1, 2, 3)
        Rule of each concept, in order; 1: small and red; 2: green or circular; 3: medium or large.

    Notes
    -----
    River (0.26) numbers the colours differently (0 red, 1 blue, 2 green) and its rules from 0.

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
        """Numbers of the columns with codes of nominal values: all three."""
        return [0, 1, 2]

    def block(self, start: int, stop: int) -> tuple[NDArray[np.float64], NDArray[Any]]:
        """Generate the rows from `start` up to `stop`.

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


@dataclass(kw_only=True, eq=False, repr=False)
class SEA(ConceptStream):
    """Label 1 if the sum of two features is above a threshold, which changes abruptly.

    Three features are uniform in [0, 10); the third is irrelevant.

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
    thresholds : sequence of float, default=(8.0, 9.0, 7.0, 9.5)
        Threshold of each concept, in order.
    noise : float, default=0.1
        Share of rows with a wrong label, from 0 to 1.

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
        """Return the error of the best possible predictions.

        Returns
        -------
        error : float
            The share of wrong labels, or of correct ones if these are fewer.
        """
        return min(self.noise, 1 - self.noise)

    def block(self, start: int, stop: int) -> tuple[NDArray[np.float64], NDArray[Any]]:
        """Generate the rows from `start` up to `stop`.

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


_DEGREES = 57.29577951308232


@dataclass(kw_only=True, eq=False, repr=False)
class Sine(ConceptStream):
    """Label 1 below the curve of a sine, and then above it.

    All features are uniform in [0, 1). The first two, x and y, decide the label.

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
    functions : sequence of int, default=(1, 2)
        Rule of each concept, in order. 1: the label is 1 if ``y < sin(x)``; 2: the opposite; 3: the
        label is 1 if ``y < 0.5 + 0.3 sin(3 pi x)``; 4: the opposite of that.
    n_irrelevant : int, default=0
        Number of further, irrelevant features; 2 in the source.

    Notes
    -----
    River (0.26) swaps the axes: its label is 1 if its first feature is below the sine of its
    second. Its rules are numbered from 0.

    References
    ----------
    Gama, J., Medas, P., Castillo, G. and Rodrigues, P. (2004). Learning with drift detection.
    SBIA. (SINE1 is ``functions=(1, 2)``, SINE2 is ``functions=(3, 4)``.)

    Examples
    --------
    >>> from skstream.streams import Sine
    >>> stream = Sine(2000, functions=(3, 4), n_irrelevant=2)
    >>> stream.feature_names
    ['x1', 'x2', 'x3', 'x4']
    >>> stream.drifts
    (Drift(start=1000, end=1000),)
    """

    functions: Sequence[int] = parameter((1, 2), check_concepts, range(1, 5))
    n_irrelevant: int = parameter(0, check_count, 0)
    _of_concepts = "functions"

    def _prepare(self) -> None:
        super()._prepare()
        self._n_features = 2 + self.n_irrelevant

    def block(self, start: int, stop: int) -> tuple[NDArray[np.float64], NDArray[Any]]:
        """Generate the rows from `start` up to `stop`.

        Parameters
        ----------
        start, stop : int
            Row numbers.

        Returns
        -------
        X : ndarray of shape (stop - start, 2 + n_irrelevant)
            Features.
        y : ndarray of shape (stop - start,)
            Labels.
        """
        X = uniform_rows(self.random_state, "Sine", start, stop, self._n_features)
        return X, self._labels(X, start)

    def _label(self, concept: int, X: NDArray[np.float64]) -> Any:
        is_below = X[:, 1] < _curve(concept, X[:, 0])
        return is_below if concept in (1, 3) else ~is_below


def _curve(function: int, x: NDArray[np.float64]) -> NDArray[np.float64]:
    """Height of the curve above each x."""
    # The sine of SciPy is a polynomial of its own, the same on every processor.
    return sindg(x * _DEGREES) if function <= 2 else 0.5 + 0.3 * sindg(x * 540)
