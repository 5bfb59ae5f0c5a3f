"""Points above or below a curve."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.special import sindg

from skstream.streams._generators._base import ConceptStream, check_concepts, parameter
from skstream.streams._generators._numbers import uniform_rows
from skstream.utils._choices import check_count

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
        First row of each concept but the first. By default all concepts are equally long; an
        endless stream of more than one concept must say it.
    functions : sequence of int, default=(1, 2)
        Rule of each concept, in their order. 1: the label is 1 where ``y < sin(x)``; 2: the
        contrary; 3: the label is 1 where ``y < 0.5 + 0.3 sin(3 pi x)``; 4: the contrary of that.
    n_irrelevant : int, default=0
        Number of further features, which do not matter; 2 in the source.

    Notes
    -----
    River (0.26) has the axes the other way round: its label is 1 where its first feature is below
    the sine of its second one. Its rules are numbered from 0.

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
        """Make the rows from `start` up to `stop`.

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
    heights: NDArray[np.float64]
    if function <= 2:
        heights = sindg(x * _DEGREES)
    else:
        heights = 0.5 + 0.3 * sindg(x * 540)
    return heights
