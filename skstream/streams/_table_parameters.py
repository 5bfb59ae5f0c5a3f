"""Checks of the parameters of file streams, and names of columns in messages."""

import math
from numbers import Integral, Real
from typing import Any

_SHOWN = 12


def check_max_categories(max_categories: Any) -> int:
    """Raise an error unless the value is a positive integer."""
    if (
        not isinstance(max_categories, Integral)
        or isinstance(max_categories, bool)
        or max_categories < 1
    ):
        raise ValueError(f"max_categories must be an integer >= 1. Got {max_categories!r} instead.")
    return int(max_categories)


def names_given(names: Any, parameter: str) -> Any:
    """Column names as a list, of one where a text is given; None stays None."""
    if names is None:
        return None
    found = [names] if isinstance(names, str) else list(names)
    for name in found:
        if not isinstance(name, str):
            raise TypeError(f"{parameter} must hold names of columns. Got {name!r} instead.")
        if found.count(name) > 1:
            raise ValueError(f"{parameter} names the column {name!r} twice.")
    return found


def check_missing(missing: Any) -> str | float:
    """Raise an error unless the value is a rule for missing values."""
    if missing in ("nan", "error"):
        return str(missing)
    if isinstance(missing, Real) and not isinstance(missing, bool):
        fill = float(missing)
        if math.isfinite(fill):
            return fill
    raise ValueError(f"missing must be 'nan', 'error' or a finite number. Got {missing!r} instead.")


def shown(names: list[str]) -> str:
    """Names for a message, the first ones where there are many."""
    more = f", ... ({len(names):,} in all)" if len(names) > _SHOWN else ""
    return ", ".join(names[:_SHOWN]) + more
