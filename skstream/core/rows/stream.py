"""Base class of streams, and drifts: where the truth of a stream changes."""

from abc import ABC, abstractmethod
from collections.abc import Iterable, Iterator
from inspect import signature
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from skstream.core.rows.chunk import Chunk, checked

#: End of a change that goes on in a stream without an end.
NEVER = 2**63 - 1


class Drift(NamedTuple):
    """Rows over which the concept of a stream changes.

    Parameters
    ----------
    start : int
        First row that differs from the old concept.
    end : int
        First row of the new concept; equal to `start` if the change is abrupt. The rows between are
        in transition.

    Examples
    --------
    >>> from skstream.streams import SEA
    >>> SEA(2000, thresholds=(8, 9)).drifts
    (Drift(start=1000, end=1000),)
    """

    start: int
    end: int


def as_drifts(given: Any) -> tuple[Drift, ...]:
    """Return drifts in the order of their rows: of a row number, or of several, or of pairs.

    Parameters
    ----------
    given : int, Drift, or sequence of (int, Drift or pair of int)
        A number alone is the row of an abrupt drift.

    Raises
    ------
    ValueError
        If these are no numbers of rows, or one ends before it starts.
    """
    listed = [given] if isinstance(given, Drift) or not np.iterable(given) else given
    drifts = []
    for bounds in listed:
        try:
            start, end = bounds if np.iterable(bounds) else (bounds, bounds)
            drift = Drift(_row(start), _row(end))
        except (TypeError, ValueError):
            raise ValueError(
                f"drifts must be numbers of rows, or pairs (start, end) of them. Got {given!r} "
                "instead."
            ) from None
        drifts.append(drift)
        if drift.end < drift.start:
            raise ValueError(
                f"A drift must not end before it starts. Got start={drift.start}, end={drift.end}."
            )
    return tuple(sorted(drifts))


def _row(number: Any) -> int:
    if isinstance(number, str | bytes) or not np.isfinite(number) or int(number) != number:
        raise ValueError("This is not a row number.")
    return int(number)


def moved(drifts: Iterable[Drift], n_rows: int) -> tuple[Drift, ...]:
    """Return drifts `n_rows` rows later."""
    return tuple(Drift(drift.start + n_rows, drift.end + n_rows) for drift in drifts)


def between(drifts: Iterable[Drift], start: int, stop: int | None) -> tuple[Drift, ...]:
    """Return what is left of drifts in some of the rows, in the numbers of these.

    A change that goes on after the last row ends with it.
    """
    found = []
    for drift in drifts:
        if drift.end > start and (stop is None or drift.start < stop):
            end = drift.end if stop is None else min(drift.end, stop)
            found.append(Drift(max(drift.start, start) - start, end - start))
    return tuple(found)


class Stream(ABC):
    """Rows in time order, in chunks; base class of every stream.

    Iterating gives chunks ``(X, y, meta)``. The division into chunks is a detail of storage and
    never changes a result. A subclass implements `chunks`, which may yield ``(X, y)`` or ``(X, y,
    meta)``; iteration checks each chunk and reports the row of any error.

    See Also
    --------
    as_stream : Makes a stream from arrays, frames, sparse matrices, or any source of chunks.

    Notes
    -----
    `X` has shape (n_rows, n_features) and is a NumPy array, a CSR matrix, or a pandas or polars
    frame, of the same kind throughout. Raw texts must be hashed first, or be a column of a frame.
    `y` is an array of shape (n_rows,); None, NaN and ``pandas.NA`` are missing labels. `meta` maps
    any of "sample_weight", "arrival", "label_time" and "id" to arrays of shape (n_rows,), the same
    keys throughout.

    Examples
    --------
    >>> import numpy as np
    >>> from skstream.streams import Stream
    >>> class Coin(Stream):
    ...     def chunks(self):
    ...         rng = np.random.default_rng(0)
    ...         for _ in range(3):
    ...             yield rng.random((4, 2)), rng.integers(0, 2, 4)
    >>> [len(y) for X, y, meta in Coin()]
    [4, 4, 4]
    """

    @property
    def reiterable(self) -> bool:
        """Whether the stream can be iterated again, from its first row."""
        return True

    @property
    def n_rows(self) -> int | None:
        """Number of rows; None if it is unknown or the stream is endless."""
        return None

    @property
    def endless(self) -> bool:
        """Whether the stream is known to be endless."""
        return False

    @property
    def classes(self) -> NDArray[Any] | None:
        """Class labels, sorted; None if they are unknown or the targets are not labels."""
        return None

    @property
    def feature_names(self) -> list[str] | None:
        """Names of the features; None if they have none."""
        return None

    @property
    def drifts(self) -> tuple[Drift, ...]:
        """Known drifts in the order of their rows; empty if unknown."""
        return ()

    @property
    def knows_drifts(self) -> bool:
        """Whether the drifts are known; if not, `drifts` is empty."""
        return True

    def source_streams(self) -> "list[Stream]":
        """Return the original streams from which this one is composed.

        Returns
        -------
        streams : list of Stream
            The stream itself, if it is not composed of others.
        """
        return [self]

    def name_of_generator(self) -> str:
        """Return a name for the generator that the rows are a sample of.

        Returns
        -------
        name : str
            The same for other seeds and numbers of rows; empty if no generator made the rows.
        """
        return ""

    def origin(self, row: int) -> "tuple[Stream, int] | None":
        """Return which of the `source_streams` a row comes from, and its number there.

        Parameters
        ----------
        row : int
            Number of the row in this stream, counted from 0.

        Returns
        -------
        origin : tuple of Stream and int, or None
            None if unknown.
        """
        return self, row

    def row_options(self) -> dict[str, Any]:
        """Return the options that decide which rows come, besides the data.

        An evaluation with ``checkpoint=`` refuses to resume with a stream that has other options.
        Override this if anything but the constructor's parameters decides, or fewer of them.

        Returns
        -------
        options : dict of str to object
            Values by name. By default, the constructor's parameters that are also attributes,
            except `chunk_size`.
        """
        names = signature(type(self)).parameters
        return {
            name: getattr(self, name)
            for name in names
            if name != "chunk_size" and hasattr(self, name)
        }

    def place_of(self, row: int) -> str:
        """Return where a row is in a file, as "row 5 of power.csv"; empty if unknown.

        Parameters
        ----------
        row : int
            Number of the row in the stream, counted from 0.

        Returns
        -------
        place : str
            Row, counted from 0, and file.
        """
        return ""

    @abstractmethod
    def chunks(self) -> Iterable[Any]:
        """Yield chunks from the first row on, each ``(X, y)`` or ``(X, y, meta)``."""

    def labels(self) -> Iterator[NDArray[Any]]:
        """Yield only the labels, chunk by chunk."""
        for _, y, _ in self:
            yield y

    def __iter__(self) -> Iterator[Chunk]:
        return checked(self.chunks())

    def __repr__(self) -> str:
        unknown = "endless" if self.endless else "unknown number of rows"
        rows = unknown if self.n_rows is None else f"{self.n_rows:,} rows"
        once = "" if self.reiterable else ", one pass only"
        return f"{type(self).__name__}({rows}{once})"


def refuse_endless(stream: Stream) -> None:
    """Raise an error if a pass through a stream would not end."""
    if stream.endless:
        raise ValueError(
            f"The stream ({type(stream).__name__}) never ends, but all of its rows are needed. "
            "Limit it with take_rows(stream, n), of skstream.streams."
        )
