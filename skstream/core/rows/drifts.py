"""Where the truth of a stream changes."""

from collections.abc import Iterable
from typing import Any, NamedTuple

import numpy as np

#: End of a change that goes on in a stream without an end.
NEVER = 2**63 - 1


class Drift(NamedTuple):
    """Rows over which the truth of a stream changes.

    Parameters
    ----------
    start : int
        First row of another truth than before.
    end : int
        First row of the new truth; `start` where the change is abrupt. The rows between are
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
    for one in listed:
        try:
            start, end = one if np.iterable(one) else (one, one)
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
        raise ValueError("This is no number of a row.")
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
