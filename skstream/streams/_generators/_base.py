"""Generated streams: what all have, and their numbers, which depend on seed and row alone."""

import math
from abc import abstractmethod
from collections.abc import Callable, Iterator, Sequence
from dataclasses import KW_ONLY, dataclass, field, fields
from itertools import count
from numbers import Integral
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray
from scipy.special import ndtri

from skstream.core.rows.stream import NEVER, Drift, Stream
from skstream.utils._choices import check_count, is_integer, is_real
from skstream.utils._content import NotComparable, content, name_of
from skstream.utils._seeds import uniform

Floats = NDArray[np.float64]
#: Options by which samples of one generator differ, not generators. The number of rows is one,
#: unless it decides where the truth changes.
_OF_A_SAMPLE = ("random_state", "n_rows")


def generator_name(stream: Stream, options: dict[str, Any], parts: list[str]) -> str:
    """Name a generator by its type and options; empty if these cannot be compared."""
    own = [(name, value) for name, value in options.items() if name not in _OF_A_SAMPLE]
    try:
        return f"{name_of(type(stream))} {content([own, parts])[:16]}"
    except NotComparable:  # then only its labels tell it from others
        return ""


def check_block(stream: Stream, start: int, stop: int) -> None:
    """Raise an error if a stream has no rows from one number up to another."""
    n_rows = stream.n_rows
    if not 0 <= start <= stop or (n_rows is not None and stop > n_rows):
        end = "" if n_rows is None else f" <= {n_rows}"
        raise ValueError(
            f"Rows must satisfy 0 <= start <= stop{end}. Got start={start}, stop={stop}."
        )


def check_numbers(values: Any, name: str) -> tuple[float, ...]:
    """Return at least one finite number, or raise an error."""
    given = tuple(values) if np.ndim(values) == 1 else ()
    numbers = tuple(float(value) for value in given) if all(map(is_real, given)) else ()
    if not numbers or not np.isfinite(numbers).all():
        raise ValueError(f"{name} must be a sequence of finite numbers. Got {values!r} instead.")
    return numbers


def floats_of(values: Any) -> Floats:
    """Return a copy of what a user gives as an array; a single NaN where it is none of numbers."""
    try:
        return np.array(values, dtype=np.float64)
    except (TypeError, ValueError):
        return np.array(np.nan)


def uniform_rows(seed: int, name: str, start: int, stop: int, n: int) -> Floats:
    """Return numbers in [0, 1), `n` for each row from `start` up to `stop`."""
    return uniform(seed, name, start * n, stop * n).reshape(stop - start, n)


def normal_rows(seed: int, name: str, start: int, stop: int, n: int) -> Floats:
    """Return standard normal numbers, `n` for each row from `start` up to `stop`."""
    # The middle of each of the 2^53 steps, so that no number is infinite.
    numbers = uniform_rows(seed, name, start, stop, n)
    numbers += 2.0**-54
    return ndtri(numbers, out=numbers)


def order_of(seed: int, name: str, n: int) -> NDArray[np.intp]:
    """Return the numbers from 0 to `n` - 1 in random order."""
    return np.argsort(uniform(seed, name, 0, n), kind="stable")


def sum_of(rows: Any) -> Floats:
    """Sum over the first axis, one after another: NumPy's own order depends on the shape."""
    total: Floats = rows[0].copy()
    for row in rows[1:]:
        total += row
    return total


def lengths(vectors: Floats) -> Floats:
    """Return the length of each row."""
    return np.sqrt(sum_of((vectors * vectors).T))


def reflected(places: Floats) -> Floats:
    """Return places on a line as they are in [0, 1], whose ends throw back what comes to them."""
    within = places - 2 * np.floor(places / 2)
    return np.minimum(within, 2 - within)


# Taylor coefficients, the highest power first: of the sine over its argument, and of the cosine,
# both in powers of the square. Up to 45 degrees the rest is below the last bit.
_SINE = [(-1) ** k / math.factorial(2 * k + 1) for k in range(9, -1, -1)]
_COSINE = [(-1) ** k / math.factorial(2 * k) for k in range(9, -1, -1)]


def cosine_and_sine(degrees: Floats) -> tuple[Floats, Floats]:
    """Return cosine and sine of angles in degrees; exact at multiples of 90.

    NumPy's own depend on the processor.
    """
    quarters = np.rint(degrees / 90)
    angle = (degrees - 90 * quarters) * (math.pi / 180)
    square = angle * angle
    sine, cosine = angle * _polynomial(_SINE, square), _polynomial(_COSINE, square)
    quarter = quarters % 4
    odd = quarter % 2 == 1
    x, y = np.where(odd, sine, cosine), np.where(odd, cosine, sine)
    return (
        np.where((quarter == 1) | (quarter == 2), -x, x),
        np.where(quarter >= 2, -y, y),
    )


def turned(columns: list[Floats], plane: tuple[int, int], degrees: Floats) -> list[Floats]:
    """Turn vectors, given by their columns, counter-clockwise in the plane of two of these."""
    cosine, sine = cosine_and_sine(degrees)
    first, second = plane
    x, y = columns[first], columns[second]
    after = list(columns)
    after[first] = cosine * x - sine * y
    after[second] = sine * x + cosine * y
    return after


def _polynomial(coefficients: list[float], x: Floats) -> Floats:
    value = np.full_like(x, coefficients[0])
    for coefficient in coefficients[1:]:
        value = value * x + coefficient
    return value


# Rows made at once: their numbers stay in the cache of the processor, twice as fast.
_PIECE = 8192


def parameter(default: Any, check: Callable[..., Any], *limits: Any) -> Any:
    """Parameter of a generator, and its check: ``check(value, name, *limits)``."""
    return field(default=default, metadata={"check": check, "limits": limits})


@dataclass(eq=False, repr=False)
class GeneratedStream(Stream):
    """Base class of generators: rows computed from a formula.

    Any block of rows can be generated without those before it, and every random number depends only
    on the seed and its row, so chunks, workers and the order of calls make no difference. A
    subclass implements `block`, and defines its `classes` and `feature_names`.

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

    n_rows: int | None = 10_000
    _: KW_ONLY
    random_state: int = 0
    chunk_size: int = parameter(65536, check_count, 1)

    _n_classes = 0
    _n_features = 0

    def __post_init__(self) -> None:
        if self.n_rows is not None and (not is_integer(self.n_rows) or self.n_rows < 1):
            raise ValueError(
                f"n_rows must be an integer >= 1, or None for an endless stream. Got "
                f"{self.n_rows!r} instead."
            )
        if not isinstance(self.random_state, Integral):
            raise ValueError(
                "random_state must be an integer: every number of a generated stream depends on "
                f"it. Got {self.random_state!r} instead."
            )
        self.n_rows = None if self.n_rows is None else int(self.n_rows)
        self.random_state = int(self.random_state)
        for one in fields(self):
            if one.metadata:
                value = getattr(self, one.name)
                value = one.metadata["check"](value, one.name, *one.metadata["limits"])
                setattr(self, one.name, value)
        self._prepare()

    def _prepare(self) -> None:
        """Check what depends on several parameters, and make what all rows need."""

    @property
    def endless(self) -> bool:
        """Whether the stream has no end."""
        return self.n_rows is None

    def name_of_generator(self) -> str:
        """Return a name for what the rows are a sample of.

        Returns
        -------
        name : str
            The same for other seeds and numbers of rows.
        """
        return generator_name(self, self.row_options(), [])

    @property
    def classes(self) -> NDArray[Any]:
        """Class labels: the numbers from 0 on, sorted."""
        if not self._n_classes:
            raise NotImplementedError(f"{type(self).__name__} must define its classes.")
        return np.arange(self._n_classes)

    @property
    def feature_names(self) -> list[str] | None:
        """Names of the features: x1, x2, and so on."""
        return [f"x{number + 1}" for number in range(self._n_features)] or None

    @abstractmethod
    def block(self, start: int, stop: int) -> tuple[NDArray[np.float64], NDArray[Any]]:
        """Generate the rows from `start` up to `stop`, which are known to be in the stream.

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
        """Return the rows from `start` up to `stop`, without generating those before.

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
        """Return the error of the best possible predictions, over all rows of the stream.

        Returns
        -------
        error : float or None
            Between 0 and 1; None if unknown.
        """
        return None

    def chunks(self) -> Iterator[Any]:
        """Yield rows in chunks, from the first on."""
        n_rows = self.n_rows
        starts = count(0, self.chunk_size) if n_rows is None else range(0, n_rows, self.chunk_size)
        for start in starts:
            stop = start + self.chunk_size
            yield self.rows(start, stop if n_rows is None else min(stop, n_rows))


def _checked_change_rows(
    rows: Sequence[int] | None, n_concepts: int, n_rows: int | None
) -> tuple[int, ...]:
    """Return the first row of each concept but the first; equal parts where none are given."""
    if rows is None:
        if n_concepts > 1 and n_rows is None:
            raise ValueError(
                f"An endless stream of {n_concepts} concepts needs change_rows=: the first row of "
                f"each concept but the first."
            )
        return tuple(k * (n_rows or 0) // n_concepts for k in range(1, n_concepts))
    given = tuple(rows)
    if (
        len(given) != n_concepts - 1
        or not all(isinstance(row, Integral) for row in given)
        or any(after <= before for before, after in zip((0, *given), given, strict=False))
    ):
        raise ValueError(
            f"change_rows must be {n_concepts - 1} increasing row numbers >= 1, the first row of "
            f"each concept but the first. Got {rows!r} instead."
        )
    return tuple(int(row) for row in given)


def check_concepts(values: Any, name: str, allowed: range) -> tuple[int, ...]:
    """Return at least one integer of a range, one for each concept, or raise an error."""
    try:
        numbers = tuple(values)
    except TypeError:
        numbers = ()
    if not numbers or not all(isinstance(n, Integral) and int(n) in allowed for n in numbers):
        raise ValueError(
            f"{name} must be a sequence of integers from {allowed[0]} to {allowed[-1]}, one for "
            f"each concept. Got {values!r} instead."
        )
    return tuple(int(number) for number in numbers)


def continuous_drift(n_rows: int | None) -> tuple[Drift, ...]:
    """Return the drift of a truth that changes at every row but the first."""
    end = NEVER if n_rows is None else n_rows
    return (Drift(1, end),) if end > 1 else ()


@dataclass(kw_only=True, eq=False, repr=False)
class ConceptStream(GeneratedStream):
    """Generator of concepts that follow one another.

    A subclass names in `_of_concepts` the parameter that says what they are, and says in `_label`
    which labels a concept gives to rows, or uses `_parts`.
    """

    change_rows: Sequence[int] | None = None
    _of_concepts: ClassVar[str]
    _n_classes = 2

    def _prepare(self) -> None:
        self._concepts: Sequence[Any] = getattr(self, self._of_concepts)
        n_concepts, n_rows = len(self._concepts), self.n_rows
        self._begins = (0, *_checked_change_rows(self.change_rows, n_concepts, n_rows))
        self.change_rows = self._begins[1:]

    @property
    def drifts(self) -> tuple[Drift, ...]:
        """Rows at which another concept than before begins."""
        concepts = zip(self._begins[1:], self._concepts, self._concepts[1:], strict=False)
        return tuple(Drift(row, row) for row, before, after in concepts if before != after)

    def bayes_error(self) -> float | None:
        """Return the error of the best possible predictions.

        Returns
        -------
        error : float or None
            0 where the rule of a concept knows the label; None where it is not known.
        """
        return 0.0

    def _parts(self, start: int, stop: int) -> Iterator[tuple[Any, slice]]:
        """Yield each concept in a block of rows, and its rows counted from `start`."""
        ends = (*self._begins[1:], stop)
        for concept, begin, end in zip(self._concepts, self._begins, ends, strict=True):
            first, last = max(begin, start), min(end, stop)
            if first < last:
                yield concept, slice(first - start, last - start)

    def _labels(self, X: NDArray[np.float64], start: int) -> NDArray[np.int64]:
        """Return the labels of a block of rows."""
        y = np.empty(len(X), dtype=np.int64)
        for concept, part in self._parts(start, start + len(X)):
            y[part] = self._label(concept, X[part])
        return y

    def _label(self, concept: Any, X: NDArray[np.float64]) -> Any:
        """Return the labels that a concept gives to rows."""
        raise NotImplementedError
