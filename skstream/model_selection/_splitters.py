"""Splitters that keep the order of time: a warm-up and the rest, and windows that move."""

import itertools
from abc import ABC, abstractmethod
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import timedelta
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator
from sklearn.utils import check_consistent_length
from sklearn.utils.metadata_routing import UNUSED

from skstream.utils._choices import check_count, is_integer, is_real
from skstream.utils._rows import check_same_order
from skstream.utils._sklearn import n_rows_of
from skstream.utils._times import (
    LARGEST_EXACT,
    MISSING,
    NUMBERS,
    as_numbers,
    duration_column,
    kind_of,
    parse_duration,
    shown_time,
    time_column,
)
from skstream.utils._warnings import warn

Indices = NDArray[np.intp]


class Splitter(BaseEstimator, ABC):
    """Base of the splitters: a scikit-learn splitter that can be cloned, compared and searched.

    `sklearn.model_selection.BaseCrossValidator` has no ``get_params``, and importing it takes as
    long as importing this package; scikit-learn asks a splitter for its methods alone.
    """

    # There are no groups in a stream: nothing asks for them to be routed.
    __metadata_request__split: ClassVar[dict[str, Any]] = {"groups": UNUSED}

    @abstractmethod
    def split(self, X: Any, y: Any = None, groups: Any = None) -> Iterator[tuple[Indices, Indices]]:
        """Yield the positions of the rows to train on and to test on."""

    @abstractmethod
    def get_n_splits(self, X: Any = None, y: Any = None, groups: Any = None) -> int:
        """Return the number of splits."""

    def _check_rows(self, X: Any, y: Any, groups: Any) -> None:
        check_consistent_length(X, y)
        check_same_order({"X": X, "y": y})
        if groups is not None:
            warn(f"{type(self).__name__} does not use groups; leave them out.")


def count_of(owner: Any, name: str, least: int) -> int:
    """Return a parameter of a splitter that counts something, or raise an error."""
    said = f"The {name!r} parameter of {type(owner).__name__}"
    return check_count(getattr(owner, name), said, least)


class Positions(np.ndarray[Any, np.dtype[np.intp]]):
    """Increasing row positions of a split, from which no rows can be drawn at random.

    A search by successive halving with ``resource="n_samples"`` draws rows from those that a
    splitter yields, in random order, and tells neither the splitter nor the scorer. It indexes
    the yielded arrays: that is where it shows. Slices and masks keep the order, and are free.
    """

    @classmethod
    def of(cls, rows: NDArray[np.intp]) -> "Positions":
        """Return a view of an array of positions."""
        return rows.view(cls)

    def __getitem__(self, key: Any) -> Any:
        """Return positions, or raise an error if they would be in another order."""
        first = key[0] if isinstance(key, tuple) and key else key
        if isinstance(first, np.ndarray | list):
            _check_order(np.asarray(first), len(self))
        return super().__getitem__(key)

    def take(self, indices: Any, *args: Any, **kwargs: Any) -> Any:
        """Return positions, or raise an error if they would be in another order."""
        _check_order(np.asarray(indices), len(self))
        return super().take(indices, *args, **kwargs)

    def __array_wrap__(self, array: Any, context: Any = None, return_scalar: bool = False) -> Any:
        """Return results of calculations as plain arrays: they are no positions."""
        return array[()] if return_scalar else np.asarray(array)


def _check_order(taken: np.ndarray, n_rows: int) -> None:
    """Refuse integers that pick some rows, or all in another order."""
    if taken.dtype.kind not in "iu" or taken.ndim != 1 or not len(taken):
        return
    if len(taken) != n_rows or (taken[1:] <= taken[:-1]).any():
        raise ValueError(
            "The rows of a split must stay complete and in the order of time, but some were to be "
            "sampled or reordered. HalvingGridSearchCV and HalvingRandomSearchCV do so with "
            'resource="n_samples", their default: they train and test on rows drawn at random. '
            "Use a parameter of the model as the resource, or GridSearchCV or RandomizedSearchCV. "
            "(In your own code: np.asarray(positions)[...].)"
        )


# Most candidates for parts that hold rows; they take a gigabyte.
_MOST_PARTS = 40_000_000
# Share of the usual distance between rows: far above rounding, far below any distance.
_TOLERANCE = 1e-9
# Share of the usual distance, which is only as precise as the times.
_OF_END = 0.01


@dataclass(frozen=True)
class TimeAxis:
    """Rows of a stream on a line.

    Attributes
    ----------
    positions : ndarray of shape (n_rows,), dtype float64
        Row numbers, or times, not decreasing: since the first where that is exact (datetimes, in
        microseconds, and whole numbers).
    given : ndarray of shape (n_rows,)
        The same as the user gave them, for messages.
    kind : str or None
        Kind of the times; None for row numbers.
    end : float
        Where the stream ends: one usual distance (the median) after the last row.
    tolerance : float
        Rows so little before the edge of a part count as at the edge; not 0 where parts that are
        counted off are rounded: for numbers, and for datetimes finer than microseconds. Among whole
        numbers always less than 1, so that an edge at a whole number is met exactly.
    end_tolerance : float
        A test part may end so little after the end and be whole: rows at 3 Hz whose times are cut
        to milliseconds are 333 ms apart, and end 1 ms before the next whole second.
    origin : int
        The first time, where positions leave it out: of datetimes in microseconds since 1970.
    """

    positions: NDArray[np.float64]
    given: np.ndarray
    kind: str | None
    end: float
    tolerance: float
    end_tolerance: float
    origin: int = 0

    @classmethod
    def of_rows(cls, n_rows: int) -> "TimeAxis":
        """Return the axis of rows without times."""
        numbers = np.arange(n_rows)
        return cls(numbers.astype(np.float64), numbers, None, float(n_rows), _TOLERANCE, _TOLERANCE)

    @classmethod
    def of_times(cls, values: Any, n_rows: int | None) -> "TimeAxis":
        """Return the axis of rows with times, which must be in order."""
        given = time_column(values, "times")
        _check_length("times", len(given), n_rows)
        kind, positions = kind_of(given), as_numbers(given, "times")
        origin = 0
        whole = given.dtype.kind in "iu" or (kind == NUMBERS and _are_whole(positions))
        if (whole or given.dtype.kind == "M") and len(positions) and np.isfinite(positions[0]):
            origin = int(positions[0])
            positions = positions - origin if whole else _since(given, "times", origin)
        missing = ~np.isfinite(positions)
        if missing.any():
            at = int(missing.argmax())
            raise ValueError(
                f"times[{at}] is {shown_time(given[at : at + 1])}: every row needs a time. Leave "
                "out rows without one, or split by row numbers instead of times."
            )
        steps = np.diff(positions)
        if (steps < 0).any():
            at = int((steps < 0).argmax()) + 1
            raise ValueError(
                f"times go back at row {at}: {shown_time(given[at : at + 1])} comes after "
                f"{shown_time(given[at - 1 : at])}. Sort the rows (X, y and times) by time."
            )
        usual = float(np.median(steps[steps > 0])) if (steps > 0).any() else 0.0
        tolerance = 0.0
        if len(positions) and (kind == NUMBERS or (positions % 1.0 != 0.0).any()):
            # Every position is rounded by half a spacing, and edges are sums of some of them.
            tolerance = 4.0 * float(np.spacing(np.abs(positions).max()))
            if whole:  # No position is rounded: only edges of sizes that are no whole numbers.
                tolerance = min(tolerance, 0.5)
            elif kind == NUMBERS:
                tolerance += _TOLERANCE * usual
        end = positions[-1] + usual if len(positions) else 0.0
        return cls(
            positions, given, kind, float(end), tolerance, tolerance + _OF_END * usual, origin
        )

    def length(self, value: Any, name: str, *, zero: bool = False) -> float:
        """Read a size in rows or a duration; `zero` says whether it may be 0."""
        least = "at least 0" if zero else "more than 0"
        if self.kind is None:
            if not is_integer(value):
                hint = "" if is_real(value) or value is None else " (durations need times)"
                raise ValueError(
                    f"{name} must be a whole number of rows, because there are no times. Got "
                    f"{value!r} instead{hint}."
                )
            length = float(value)
        else:
            length = self._duration(value, name)
        if not np.isfinite(length) or length < 0.0 or (length == 0.0 and not zero):
            raise ValueError(f"{name} must be {least}, and finite. Got {value!r} instead.")
        return length

    def _duration(self, value: Any, name: str) -> float:
        if self.kind == NUMBERS:
            if not is_real(value):
                raise ValueError(f"{name} must be a number, like the times. Got {value!r} instead.")
            return float(value)
        if is_real(value) and value == 0:
            return 0.0
        duration = parse_duration(value) if isinstance(value, str) else value
        if not isinstance(duration, (timedelta, np.timedelta64)):
            raise ValueError(
                f'{name} must be a duration, such as "7D", "12h" or a timedelta, because times '
                f"holds {self.kind}. Got {value!r} instead."
            )
        read = duration_column(duration, name)
        return float(_since(read, name))

    def label_times(self, values: Any) -> NDArray[np.float64]:
        """Read the times at which labels become known, infinite where they never do."""
        given = time_column(values, "label_times")
        _check_length("label_times", len(given), len(self.positions))
        kind = kind_of(given)
        if kind not in (self.kind or NUMBERS, MISSING):
            own = (
                "times holds" if self.kind else "without times they are counted in rows, which are"
            )
            raise ValueError(
                f"label_times holds {kind}, but {own} {self.kind or NUMBERS}. Both must be of the "
                "same kind."
            )
        known = _since(given, "label_times", self.origin)
        if (known < self.positions).any():
            at = int((known < self.positions).argmax())
            raise ValueError(
                f"label_times[{at}] is {shown_time(given[at : at + 1])}, before row {at} itself, "
                f"which is at {shown_time(self.given[at : at + 1])}. Labels cannot precede their "
                "rows; use np.inf (or NaT) for labels that never come."
            )
        return known

    def rows_before(self, edges: Any) -> NDArray[np.intp]:
        """Count the rows before each of some places."""
        return np.searchsorted(self.positions, np.asarray(edges) - self.tolerance, side="left")

    def shown(self, row: int) -> str:
        """Show the place of a row as the user gave it."""
        return shown_time(self.given[row : row + 1])


def _since(values: np.ndarray, name: str, origin: int = 0) -> NDArray[np.float64]:
    """Return `as_numbers` less the origin, with the parts of a microsecond that it cuts off.

    The origin is subtracted before they are added: since 1970 there is no room for them.
    """
    numbers: NDArray[np.float64] = as_numbers(values, name) - origin
    if values.dtype.kind not in "mM":
        return numbers
    values = np.asarray(values)
    cut = values - values.astype(f"{values.dtype.kind}8[us]")
    return numbers + np.where(np.isnat(cut), 0.0, cut / np.timedelta64(1, "us"))


def _are_whole(numbers: NDArray[np.float64]) -> bool:
    """Whether all numbers are whole, and close enough to 0 for floats to have halves as well."""
    whole = np.floor(numbers) == numbers
    return bool(whole.all() and (np.abs(numbers) <= LARGEST_EXACT / 2).all())


def _check_length(name: str, length: int, n_rows: int | None) -> None:
    if n_rows is not None and length != n_rows:
        raise ValueError(
            f"{name} has {length:,} values, but X has {n_rows:,} rows. Give one value per row; if "
            f"a splitter gets only a part of the rows, pass {name} to split, or name a column of X."
        )


class WindowSplit(Splitter):
    """What both window splitters do; they differ in the rows that a training part begins with."""

    # Times are of no other part, so that they need not be requested.
    __metadata_request__split: ClassVar[dict[str, Any]] = {"times": True, "label_times": True}
    _is_sliding: ClassVar[bool]

    def __init__(
        self,
        train_size: Any,
        *,
        test_size: Any = None,
        step: Any = None,
        gap: Any = 0,
        n_splits: int | None = None,
        keep_incomplete: bool = False,
        times: Any = None,
        label_times: Any = None,
    ) -> None:
        self.train_size = train_size
        self.test_size = test_size
        self.step = step
        self.gap = gap
        self.n_splits = n_splits
        self.keep_incomplete = keep_incomplete
        self.times = times
        self.label_times = label_times

    def split(
        self,
        X: Any,
        y: Any = None,
        groups: Any = None,
        *,
        times: Any = None,
        label_times: Any = None,
    ) -> Iterator[tuple[Indices, Indices]]:
        """Yield the positions of the rows to train on and to test on.

        Parameters
        ----------
        X : array-like of shape (n_rows, n_features)
            Rows of a stream, oldest first.
        y : array-like of shape (n_rows,), default=None
            Labels; only their number is used.
        groups : object, default=None
            Not used; for compatibility with scikit-learn.
        times, label_times : array-like of shape (n_rows,) or str, default=None
            As the parameters of the same names, in whose place they are taken. With metadata
            routing they reach the splitter without a request.

        Returns
        -------
        iterator of (train, test)
            Two increasing arrays of row positions for each split.

        Raises
        ------
        ValueError
            If a parameter is out of its range or does not go with the times, times go back, or
            the sizes leave no row to train on or to test on.
        """
        self._check_rows(X, y, groups)
        axis, known = self._read(X, times, label_times)
        parts = self._parts(axis)
        return (
            (
                Positions.of(self._train_rows(axis, known, i, part)),
                Positions.of(np.arange(part[2], part[3])),
            )
            for i, part in enumerate(parts)
        )

    def get_n_splits(
        self,
        X: Any = None,
        y: Any = None,
        groups: Any = None,
        *,
        times: Any = None,
        label_times: Any = None,
    ) -> int:
        """Return the number of splits.

        Parameters
        ----------
        X : array-like of shape (n_rows, n_features), default=None
            Rows of a stream. Needed if neither `n_splits` nor an array of times was given.
        y : object, default=None
            Not used; for compatibility with scikit-learn.
        groups : object, default=None
            Not used; for compatibility with scikit-learn.
        times, label_times : array-like of shape (n_rows,) or str, default=None
            As in `split`.

        Returns
        -------
        int
            The parameter `n_splits`, or the number of test parts with rows.

        Raises
        ------
        ValueError
            As in `split`.
        """
        if self.n_splits is not None:
            return count_of(self, "n_splits", 1)
        axis, _ = self._read(X, times, label_times)
        return len(self._parts(axis))

    def _read(self, X: Any, times: Any, label_times: Any) -> tuple[TimeAxis, Any]:
        """Return the axis, and when labels become known (None: at once)."""
        times = _column(self.times if times is None else times, "times", X)
        label_times = _column(
            self.label_times if label_times is None else label_times, "label_times", X
        )
        check_same_order({"X": X, "times": times, "label_times": label_times})
        n_rows = None if X is None else n_rows_of(X)
        if times is not None:
            axis = TimeAxis.of_times(times, n_rows)
        elif n_rows is not None:
            axis = TimeAxis.of_rows(n_rows)
        else:
            raise ValueError(
                f"The number of splits of {type(self).__name__} depends on the rows. Pass X, or "
                "set n_splits."
            )
        return axis, None if label_times is None else axis.label_times(label_times)

    def _parts(self, axis: TimeAxis) -> NDArray[np.intp]:
        """Return begin and end (exclusive) of training and test part, in rows, of every split."""
        if not len(axis.positions):
            raise ValueError(f"{type(self).__name__} got no rows.")
        n_splits = None if self.n_splits is None else count_of(self, "n_splits", 1)
        if not isinstance(self.keep_incomplete, (bool, np.bool_)):
            raise ValueError(
                f"keep_incomplete must be a bool. Got {self.keep_incomplete!r} instead."
            )
        train = axis.length(self.train_size, "train_size")
        gap = axis.length(self.gap, "gap", zero=True)
        starts, ends = self._test_edges(axis, float(axis.positions[0]) + train + gap)
        begins, stops = axis.rows_before(starts), axis.rows_before(ends)
        has_rows = stops > begins
        found = int(has_rows.sum())
        if found < (n_splits or 1):
            raise ValueError(self._too_few(axis, found, n_splits))
        train_stops = axis.rows_before(starts - gap)
        train_begins = np.zeros_like(train_stops)
        if self._is_sliding:
            train_begins = axis.rows_before(starts - gap - train)
        columns = (train_begins, train_stops, begins, stops)
        return np.column_stack(columns)[has_rows][-n_splits if n_splits else 0 :]

    def _test_edges(self, axis: TimeAxis, first: float) -> tuple[np.ndarray, np.ndarray]:
        """Return where the test parts begin and end on the axis; the first begins at `first`."""
        if self.test_size is None:
            if self.n_splits is None or self.step is not None:
                raise ValueError(
                    f"{type(self).__name__} needs test_size, or else n_splits and no step, to "
                    "divide the rows after the first training part. Got "
                    f"n_splits={self.n_splits!r} and step={self.step!r}."
                )
            edges = first + (axis.end - first) * np.arange(self.n_splits + 1) / self.n_splits
            return edges[:-1], np.append(edges[1:-1], np.inf)
        test = axis.length(self.test_size, "test_size")
        step = test if self.step is None else axis.length(self.step, "step")
        room = axis.end - first - (0.0 if self.keep_incomplete else test)
        room += axis.end_tolerance  # rounded times end a little early
        n_parts = np.floor(room / step) + 1.0 if room >= 0.0 else 0.0
        starts = first + step * self._part_numbers(axis, first, test, step, n_parts)
        return starts, starts + test

    def _part_numbers(
        self, axis: TimeAxis, start: float, test: float, step: float, n_parts: float
    ) -> NDArray[np.float64]:
        """Return the numbers of all test parts that may hold rows, and of few others.

        From a stray row of 1970 to the others, there are billions of parts without rows.
        """
        if n_parts <= len(axis.positions):
            return np.arange(n_parts)
        width = np.ceil(test / step) + 1.0  # parts that a row may be in, or at the edge of
        if not width * len(axis.positions) <= _MOST_PARTS:
            raise ValueError(
                f"With test_size={self.test_size!r} and step={self.step!r}, {type(self).__name__} "
                "would make millions of test parts with rows. Use a longer step."
            )
        last = np.floor((axis.positions - start + axis.tolerance) / step)
        numbers = np.unique(last[:, np.newaxis] + np.arange(-width, 2.0))
        return numbers[(numbers >= 0.0) & (numbers < n_parts)]

    def _train_rows(
        self, axis: TimeAxis, known: Any, number: int, part: NDArray[np.intp]
    ) -> Indices:
        """Return the rows of a training part whose labels are known when the test part begins."""
        begin, stop, first_test, _ = part
        rows = np.arange(begin, stop)
        if known is not None:
            rows = rows[known[begin:stop] <= axis.positions[first_test]]
        if not len(rows):
            why = (
                "its training window is empty"
                if stop == begin
                else (f"no label of rows {begin} to {stop - 1} is known by then")
            )
            raise ValueError(
                f"Split {number}, whose test part begins with row {first_test} at "
                f"{axis.shown(first_test)}, has no row to train on: {why}. Use a longer train_size "
                "or a shorter gap."
            )
        return rows

    def _too_few(self, axis: TimeAxis, found: int, n_splits: int | None) -> str:
        n_rows = len(axis.positions)
        stream = f"{n_rows:,} {'row' if n_rows == 1 else 'rows'}"
        if axis.kind is not None:
            stream += f" from {axis.shown(0)} to {axis.shown(n_rows - 1)}"
        sizes = ", ".join(
            f"{name}={getattr(self, name)!r}"
            for name in ("train_size", "gap", "test_size", "step")
            if getattr(self, name) is not None
        )
        fit = "no test part with rows fits" if not found else f"only {found} test parts fit"
        wanted = "" if n_splits is None or not found else f", not {n_splits}"
        return (
            f"With {sizes}, {fit} into a stream of {stream}{wanted}. Give smaller sizes"
            f"{'' if n_splits is None else ', or fewer splits'}."
        )


def _column(values: Any, name: str, X: Any) -> Any:
    """Return times, which may be a column of `X`."""
    if not isinstance(values, str):
        return values
    if X is None:
        raise ValueError(f"{name}={values!r} names a column of X, but X is not given.")
    names: Any = getattr(X, "column_names", getattr(X, "columns", None))  # pyarrow has both
    if names is None:
        raise ValueError(
            f"{name}={values!r} names a column, but X has no column names. Pass the times as an "
            "array."
        )
    if values not in names:
        raise ValueError(f"{name}={values!r} names a column of X, but X has {list(names)}.")
    return X[values]


class ExpandingWindowSplit(WindowSplit):
    """Train on all rows before each test part.

    Parameters
    ----------
    train_size : int, float, str or timedelta
        Size of the first training part; all training parts start at the first row.
    test_size : int, float, str or timedelta, default=None
        Size of every test part. None: the rows after the first training part are divided into
        `n_splits` parts of equal size.
    step : int, float, str or timedelta, default=None
        Distance from the start of one test part to the start of the next. None: `test_size`, so
        they follow each other. With a shorter step they overlap.
    gap : int, float, str or timedelta, default=0
        Distance between the end of a training part and the start of its test part; rows there are
        in neither. It protects the training part only.
    n_splits : int, default=None
        Number of splits: with `test_size`, the last ones of those that fit. None: all of them.
    keep_incomplete : bool, default=False
        Whether to keep a last test part that extends beyond the end of the stream.
    times : array-like of shape (n_rows,) or str, default=None
        Time of every row, not decreasing: numbers, or datetimes with or without a time zone; or the
        name of a column of `X` with them. All sizes are then durations: numbers in the unit of the
        times, and for datetimes timedeltas (Python's, NumPy's or those of pandas) or text such as
        "7D" or "1D 12h" (units W, D, h, min, s, ms and us). None: sizes are in rows.
    label_times : array-like of shape (n_rows,) or str, default=None
        Time at which the label of every row becomes known, of the same kind as `times`; without
        times, the number of the row at whose arrival it is known. Infinite, NaN or NaT: never.
        Training rows whose label comes after the first row of the test part are left out. Test rows
        are kept; see the notes.

    See Also
    --------
    SlidingWindowSplit : Forgets the oldest rows.
    PrequentialSplit : For test-then-train evaluation along the test part.
    skstream.DelayedEvaluator : Delayed labels, along the whole stream.
    sklearn.model_selection.TimeSeriesSplit : Rows only, test parts counted from the end.

    Notes
    -----
    With the first row at t, test part i = 0, 1, ... is the half-open interval from
    t + train_size + gap + i * step, of length test_size; its training part is everything before the
    start of the interval minus the gap. Rows of the same time are never separated. Test parts
    without rows are left out; a training part without rows is an error. The stream is taken to end
    one typical distance (the median of the differences) after its last row, minus a hundredth of
    it, as times are rounded.

    Times given here belong to the rows that are split. A splitter that gets only a part of the rows
    (nested cross-validation) needs them as a column name, or as metadata:
    ``GridSearchCV(...).fit(X, y, times=times)`` with metadata routing enabled.

    `gap` and `label_times` only decide which rows `fit` gets: use `DelayedEvaluator` to score with
    delayed labels.

    Examples
    --------
    >>> import numpy as np
    >>> from skstream.model_selection import ExpandingWindowSplit
    >>> for train, test in ExpandingWindowSplit(4, test_size=2, gap=1).split(np.zeros((9, 1))):
    ...     print(train, test)
    [0 1 2 3] [5 6]
    [0 1 2 3 4 5] [7 8]
    >>> days = np.array(["2024-01-01", "2024-01-02", "2024-01-09", "2024-01-20"], "datetime64[D]")
    >>> splitter = ExpandingWindowSplit("7D", test_size="7D", times=days)
    >>> for train, test in splitter.split(np.zeros((4, 1))):
    ...     print(train, test)
    [0 1] [2]
    [0 1 2] [3]
    """

    _is_sliding = False


class SlidingWindowSplit(WindowSplit):
    """Train on a window of the newest rows before each test part.

    Parameters
    ----------
    train_size : int, float, str or timedelta
        Size of every training part.
    test_size, step, gap : int, float, str or timedelta, default=None, None, 0
        As for `ExpandingWindowSplit`.
    n_splits : int, default=None
        As for `ExpandingWindowSplit`.
    keep_incomplete : bool, default=False
        As for `ExpandingWindowSplit`.
    times, label_times : array-like of shape (n_rows,) or str, default=None
        As for `ExpandingWindowSplit`.

    See Also
    --------
    ExpandingWindowSplit : Keeps all rows; its parameters and notes also apply here.

    Notes
    -----
    Test parts are those of `ExpandingWindowSplit`. The training part of a test part that starts at
    b is the half-open interval from b - gap - train_size to b - gap.

    Examples
    --------
    >>> import numpy as np
    >>> from skstream.model_selection import SlidingWindowSplit
    >>> for train, test in SlidingWindowSplit(4, test_size=2).split(np.zeros((9, 1))):
    ...     print(train, test)
    [0 1 2 3] [4 5]
    [2 3 4 5] [6 7]
    >>> times = [0.0, 0.5, 3.0, 3.1, 3.2, 4.9, 5.0]
    >>> splitter = SlidingWindowSplit(3, test_size=1, times=times)
    >>> for train, test in splitter.split(np.zeros((7, 1))):
    ...     print(train, test)
    [0 1] [2 3 4]
    [2 3 4] [5]
    """

    _is_sliding = True


class PrequentialSplit(Splitter):
    """Train on the first rows, and test on the following rows, in order of time.

    For ``cv=`` of scikit-learn's model selection, together with a scorer that continues
    test-then-train from the fitted model: the model is fitted on the warm-up, and a copy of it
    predicts every test row before training on it. Rows must be in order, oldest first.

    Parameters
    ----------
    n_warmup : int
        Rows of the first training part, at least 1. It should be large enough to contain every
        class.
    n_splits : int, default=1
        Number of test blocks. With one, a single model predicts all rows after the warm-up, as in
        an evaluator. With several, the blocks follow each other and each has its own model, fitted
        on all rows before the block (minus the gap); the score of a candidate is the mean over the
        blocks, and its standard deviation shows how much the score changes along the stream.
    test_size : int, default=None
        Rows of each test block. None: all rows after the warm-up, divided into blocks whose sizes
        differ by one row at most. With a number, the rows after the last block are not used.
    gap : int, default=0
        Rows between the training part and the test block that are in neither. The warm-up keeps
        its `n_warmup` rows: the first test row is number ``n_warmup + gap``. It protects the
        training part only: `prequential_scorer` trains on every test row before predicting the
        next. Use `DelayedEvaluator` for delayed labels.

    See Also
    --------
    prequential_scorer : The scorer for it.
    skstream.DelayedEvaluator : Delayed labels, along the whole stream.
    sklearn.model_selection.TimeSeriesSplit : Test parts counted from the end of the rows.

    Notes
    -----
    A test block that starts at row ``b`` has the training part ``0, ..., b - gap - 1``. Training
    parts grow, and test blocks never overlap. The arrays of positions cannot be sampled or
    reordered (slices and masks are allowed): `HalvingGridSearchCV` would test rows drawn at random
    with ``resource="n_samples"``, its default, and gets an error.

    If ``fit`` is one ``partial_fit`` in row order and there is no gap, several blocks score one and
    the same pass, period by period. If it makes several passes over the rows (`SGDClassifier`),
    each block starts with a model trained for several epochs.

    Examples
    --------
    >>> import numpy as np
    >>> from skstream.model_selection import PrequentialSplit
    >>> X = np.zeros((10, 1))
    >>> for train, test in PrequentialSplit(4).split(X):
    ...     print(train, test)
    [0 1 2 3] [4 5 6 7 8 9]
    >>> for train, test in PrequentialSplit(4, n_splits=2, gap=1).split(X):
    ...     print(train, test)
    [0 1 2 3] [5 6 7]
    [0 1 2 3 4 5 6] [8 9]
    """

    def __init__(
        self, n_warmup: int, *, n_splits: int = 1, test_size: int | None = None, gap: int = 0
    ) -> None:
        self.n_warmup = n_warmup
        self.n_splits = n_splits
        self.test_size = test_size
        self.gap = gap

    def split(self, X: Any, y: Any = None, groups: Any = None) -> Iterator[tuple[Indices, Indices]]:
        """Yield the positions of the rows to train on and to test on.

        Parameters
        ----------
        X : array-like of shape (n_rows, n_features)
            Rows of a stream, oldest first.
        y : array-like of shape (n_rows,), default=None
            Labels; only their number is used.
        groups : object, default=None
            Not used; for compatibility with scikit-learn.

        Returns
        -------
        iterator of (train, test)
            Two increasing arrays of row positions for each split.

        Raises
        ------
        ValueError
            If a parameter is out of its range, or there are too few rows for all splits.
        """
        self._check_rows(X, y, groups)
        edges = self._edges(n_rows_of(X))
        return (
            (Positions.of(np.arange(begin - self.gap)), Positions.of(np.arange(begin, end)))
            for begin, end in itertools.pairwise(edges)
        )

    def get_n_splits(self, X: Any = None, y: Any = None, groups: Any = None) -> int:
        """Return the number of splits.

        Parameters
        ----------
        X : object, default=None
            Not used; for compatibility with scikit-learn.
        y : object, default=None
            Not used; for compatibility with scikit-learn.
        groups : object, default=None
            Not used; for compatibility with scikit-learn.

        Returns
        -------
        int
            The parameter `n_splits`.
        """
        return count_of(self, "n_splits", 1)

    def _edges(self, n_rows: int) -> list[int]:
        """Return the first row of every test block, and the row after the last block."""
        first = count_of(self, "n_warmup", 1) + count_of(self, "gap", 0)
        n_splits = count_of(self, "n_splits", 1)
        if self.test_size is not None:
            size = count_of(self, "test_size", 1)
            edges = [first + size * i for i in range(n_splits + 1)]
        else:
            size, longer = divmod(n_rows - first, n_splits)
            edges = [first + size * i + min(i, longer) for i in range(n_splits + 1)]
        if edges[-1] > n_rows or size < 1:
            needed = edges[-1] if self.test_size is not None else first + n_splits
            left = max(n_rows - first, 0)
            raise ValueError(
                f"{self!r} needs at least {needed:,} rows, but X has {n_rows:,}: n_warmup and gap "
                f"leave {left:,} {'row' if left == 1 else 'rows'} to test. Use a shorter warm-up, "
                "or fewer or smaller test blocks."
            )
        return edges
