"""Base class of generated streams."""

from abc import abstractmethod
from collections.abc import Iterator
from itertools import count
from numbers import Integral
from typing import Any

import numpy as np
from numpy.typing import NDArray

from skstream.streams._stream import Stream, check_block
from skstream.utils._choices import check_count

# Rows made at once: their numbers stay in the cache of the processor, twice as fast.
_PIECE = 8192


class GeneratedStream(Stream):
    """Rows that a formula gives; base class of every generator.

    Any block of rows can be had without those before it, and every random number is addressed by
    the seed and its row, so that chunks, workers and the order of calls change nothing. A subclass
    implements `block`, and names its `classes` and `feature_names`.

    Parameters
    ----------
    n_rows : int or None, default=10_000
        Number of rows; None for an endless stream.
    random_state : int, default=0
        Seed. The same seed gives the same rows.
    chunk_size : int, default=65536
        Rows per chunk.

    See Also
    --------
    skstream.streams.Stream : Base class of every stream.

    Examples
    --------
    >>> from skstream.streams import SEA
    >>> stream = SEA(100, random_state=1)
    >>> X, y = stream.rows(40, 42)
    >>> X.shape, y.shape
    ((2, 3), (2,))
    """

    def __init__(
        self, n_rows: int | None = 10_000, *, random_state: int = 0, chunk_size: int = 65536
    ) -> None:
        if n_rows is not None and (not isinstance(n_rows, Integral) or n_rows < 1):
            raise ValueError(
                f"n_rows must be an integer >= 1, or None for an endless stream. Got {n_rows!r} "
                f"instead."
            )
        if not isinstance(random_state, Integral):
            raise ValueError(
                f"random_state must be an integer: every number of a generated stream is addressed "
                f"by it. Got {random_state!r} instead."
            )
        self._n_rows: int | None = None if n_rows is None else int(n_rows)
        self.random_state: int = int(random_state)
        self.chunk_size: int = check_count(chunk_size, "chunk_size", 1)

    @property
    def n_rows(self) -> int | None:
        """Number of rows; None if the stream is endless."""
        return self._n_rows

    @property
    def endless(self) -> bool:
        """Whether the stream has no end."""
        return self.n_rows is None

    @property
    @abstractmethod
    def classes(self) -> NDArray[Any]:
        """Sorted class labels."""

    @abstractmethod
    def block(self, start: int, stop: int) -> tuple[NDArray[np.float64], NDArray[Any]]:
        """Make the rows from `start` up to `stop`, which are known to be in the stream.

        Parameters
        ----------
        start, stop : int
            Row numbers, ``0 <= start <= stop``.

        Returns
        -------
        X : ndarray of shape (stop - start, n_features)
            Features.
        y : ndarray of shape (stop - start,)
            Labels.
        """

    def rows(self, start: int, stop: int) -> tuple[NDArray[np.float64], NDArray[Any]]:
        """Return the rows from `start` up to `stop`, without making those before.

        Parameters
        ----------
        start, stop : int
            Row numbers, ``0 <= start <= stop``, and `stop` at most the number of rows.

        Returns
        -------
        X : ndarray of shape (stop - start, n_features)
            Features.
        y : ndarray of shape (stop - start,)
            Labels.

        Raises
        ------
        ValueError
            If the stream has no such rows.
        """
        check_block(self, start, stop)
        if stop - start <= _PIECE:
            return self.block(start, stop)
        X, y = self.block(start, start + _PIECE)
        all_X = np.empty((stop - start, X.shape[1]), dtype=X.dtype)
        all_y = np.empty(stop - start, dtype=y.dtype)
        all_X[:_PIECE], all_y[:_PIECE] = X, y
        for first in range(start + _PIECE, stop, _PIECE):
            piece = slice(first - start, min(first + _PIECE, stop) - start)
            all_X[piece], all_y[piece] = self.block(start + piece.start, start + piece.stop)
        return all_X, all_y

    def bayes_error(self) -> float | None:
        """Return the error of the best possible answers, over all rows of the stream.

        Returns
        -------
        error : float or None
            Between 0 and 1; None where it is not known.
        """
        return None

    def chunks(self) -> Iterator[Any]:
        """Rows in chunks, from the first on."""
        n_rows = self.n_rows
        starts = count(0, self.chunk_size) if n_rows is None else range(0, n_rows, self.chunk_size)
        for start in starts:
            stop = start + self.chunk_size
            yield self.rows(start, stop if n_rows is None else min(stop, n_rows))


class NumberedStream(GeneratedStream):
    """Generator of labels 0, 1, ... and features x1, x2, ...; a subclass says how many."""

    _n_classes = 2
    _n_features: int

    @property
    def classes(self) -> NDArray[Any]:
        """Labels from 0 on."""
        return np.arange(self._n_classes)

    @property
    def feature_names(self) -> list[str]:
        """Names of the features: x1, x2, and so on."""
        return [f"x{number + 1}" for number in range(self._n_features)]
