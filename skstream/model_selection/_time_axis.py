"""The line on which window splitters measure: row numbers, or the times of the rows."""

from dataclasses import dataclass
from datetime import timedelta
from typing import Any

import numpy as np
from numpy.typing import NDArray

from skstream.utils._choices import is_integer, is_real
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

# Of the usual distance between rows: far more than rounding, far less than between any two rows.
_TOLERANCE = 1e-9
# Of the usual distance, which itself is only known as well as times are written.
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
                "out rows without one, or split by row numbers, without times."
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
                raise ValueError(
                    f"{name} must be a number, as the times are. Got {value!r} instead."
                )
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
                f"label_times holds {kind}, but {own} {self.kind or NUMBERS}. Both must be of one "
                "kind."
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
            f"{name} has {length:,} values, but X has {n_rows:,} rows. Give one value per row; "
            f"where a splitter gets a part of the rows, pass {name} to split, or name a column "
            "of X."
        )
