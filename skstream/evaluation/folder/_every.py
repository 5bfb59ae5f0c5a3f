"""How often checkpoints are written."""

import re
from dataclasses import dataclass
from datetime import timedelta
from numbers import Integral
from time import monotonic
from typing import Any

_SECONDS = {"s": 1.0, "min": 60.0, "h": 3600.0}
_DURATION = re.compile(r"\s*(?P<number>\d+(?:\.\d+)?)\s*(?P<unit>s|min|h)\s*")


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
        if isinstance(given, timedelta) and given > timedelta(0):
            return cls(seconds=given.total_seconds())
        found = _DURATION.fullmatch(given) if isinstance(given, str) else None
        if found is not None and float(found["number"]) > 0.0:
            return cls(seconds=float(found["number"]) * _SECONDS[found["unit"]])
        raise ValueError(
            'checkpoint_every must be a text such as "30s", "10min" or "2h", a timedelta, or a '
            f"number of rows, and more than 0. Got {given!r} instead."
        )

    def is_due(self, rows: int, since: float) -> bool:
        """Whether so many rows, or the time since a moment of `monotonic`, are enough."""
        if self.rows is not None:
            return rows >= self.rows
        assert self.seconds is not None
        return monotonic() - since >= self.seconds
