"""Where the truth of a stream changes."""

from collections.abc import Iterable
from typing import NamedTuple


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


def moved(drifts: Iterable[Drift], n_rows: int) -> tuple[Drift, ...]:
    """Return drifts `n_rows` rows later."""
    return tuple(Drift(drift.start + n_rows, drift.end + n_rows) for drift in drifts)
