"""Durations written as text."""

import re
from datetime import timedelta

_UNITS = {
    "W": timedelta(weeks=1),
    "D": timedelta(days=1),
    "d": timedelta(days=1),
    "h": timedelta(hours=1),
    "min": timedelta(minutes=1),
    "s": timedelta(seconds=1),
    "ms": timedelta(milliseconds=1),
    "us": timedelta(microseconds=1),
}
#: The units in words.
UNITS = "W (weeks), D or d (days), h, min, s, ms and us"
_PART = re.compile(rf"\s*(\d+(?:\.\d+)?)\s*({'|'.join(sorted(_UNITS, key=len, reverse=True))})\s*")


def parse_duration(text: str) -> timedelta | None:
    """Duration of a text such as ``"30s"``, ``"7D"`` or ``"1D 12h"``; None if it is none.

    The units are those of pandas that have one fixed length: W, D (or d), h, min, s, ms and us.
    """
    duration, at = timedelta(0), 0
    while at < len(text):
        part = _PART.match(text, at)
        if part is None:
            return None
        try:
            duration += float(part[1]) * _UNITS[part[2]]
        except OverflowError:  # more than 2.7 million years
            return None
        at = part.end()
    return duration if text.strip() else None


def duration_in_words(seconds: float) -> str:
    """Write a time in its two largest units, as ``3 h 20 min``."""
    if seconds < 60:
        return f"{max(1, round(seconds))} s"
    minutes = round(seconds / 60)
    days, hours, minutes = minutes // 1440, minutes // 60 % 24, minutes % 60
    parts = [(days, "d"), (hours, "h"), (minutes, "min")]
    first = next(k for k, (number, _) in enumerate(parts) if number)
    return " ".join(f"{number} {unit}" for number, unit in parts[first : first + 2] if number)
