"""How often checkpoints are written."""

from dataclasses import dataclass
from datetime import timedelta
from numbers import Integral
from time import monotonic
from typing import Any

from skstream.utils._durations import UNITS, parse_duration


@dataclass(frozen=True)
class Every:
    """A distance of checkpoints: in rows, or else in seconds."""

    rows: int | None = None
    seconds: float | None = None

    @classmethod
    def of(cls, given: Any) -> "Every":
        """Read the parameter ``checkpoint_every`` of an evaluator."""
        if isinstance(given, Integral) and not isinstance(given, bool) and int(given) > 0:
            return cls(rows=int(given))
        duration = parse_duration(given) if isinstance(given, str) else given
        if isinstance(duration, timedelta) and duration > timedelta(0):
            return cls(seconds=duration.total_seconds())
        raise ValueError(
            'checkpoint_every must be a text such as "30s", "10min" or "2h", a timedelta, or a '
            f"number of rows, and more than 0; units of time are {UNITS}. Got {given!r} instead."
        )

    def is_due(self, rows: int, since: float) -> bool:
        """Whether so many rows, or the time since a moment of `monotonic`, are enough."""
        if self.rows is not None:
            return rows >= self.rows
        assert self.seconds is not None
        return monotonic() - since >= self.seconds
