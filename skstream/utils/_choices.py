"""Checks of what users choose by name or number, and suggestions for misspelled names."""

from collections.abc import Iterable, Mapping, Sequence
from difflib import get_close_matches
from numbers import Integral, Real
from typing import Any

import numpy as np

# Whole numbers to Python's type system, but not to a user.
_OTHERS = (bool, np.timedelta64)


def is_integer(value: Any) -> bool:
    """Whether a value is a whole number; booleans and durations are not."""
    return isinstance(value, Integral) and not isinstance(value, _OTHERS)


def is_real(value: Any) -> bool:
    """Whether a value is a real number; booleans and durations are not."""
    return isinstance(value, Real) and not isinstance(value, _OTHERS)


def check_count(value: Any, name: str, least: int) -> int:
    """Return a whole number that is not less than another, or raise an error."""
    if not isinstance(value, Integral) or isinstance(value, _OTHERS) or value < least:
        raise ValueError(f"{name} must be an integer >= {least}. Got {value!r} instead.")
    return int(value)


def check_choice(value: Any, name: str, known: Sequence[Any]) -> None:
    """Raise an error if a value is none of those that are known."""
    if value not in known:
        *others, last = map(repr, known)
        raise ValueError(f"{name} must be {', '.join(others)} or {last}. Got {value!r} instead.")


def check_share(value: Any, name: str) -> float:
    """Return a number from 0 to 1, or raise an error."""
    if not is_real(value) or not 0 <= value <= 1:
        raise ValueError(f"{name} must be a number from 0 to 1. Got {value!r} instead.")
    return float(value)


def check_number(value: Any, name: str, *, least: float = 0, above: float = -float("inf")) -> float:
    """Return a finite number of at least one number, and above another, or raise an error."""
    if not is_real(value) or not np.isfinite(value) or value < least or value <= above:
        limit = f" > {above}" if above >= least else f" >= {least}" if least == 0 else ""
        raise ValueError(f"{name} must be a finite number{limit}. Got {value!r} instead.")
    return float(value)


def check_position(name: str, position: Any, n_positions: int) -> int:
    """Return the number of a fold or bin; raise an error if it does not exist."""
    if not (is_integer(position) and 0 <= position < n_positions):
        raise ValueError(
            f"{name} must be from 0 to {n_positions - 1}, as an int. Got {position!r} instead."
        )
    return int(position)


def names_as_text(named: Mapping[Any, Any], what: str) -> dict[str, Any]:
    """Return a dict whose names are text; none is lost because two are the same as text."""
    texts = [str(name) for name in named]
    alike = [name for name in named if texts.count(str(name)) > 1]
    if alike:
        raise ValueError(
            f"The names of the {what} must differ as text, and {alike} do not. Rename them."
        )
    return dict(zip(texts, named.values(), strict=True))


def written(value: Any) -> str:
    """Write a float with six digits if these are all it has, else whole; others as they are."""
    if not isinstance(value, float | np.floating):
        return str(value)
    short = f"{value:.6g}"
    return short if float(short) == value else repr(float(value))


def told_apart(texts: Iterable[str]) -> list[str]:
    """Return texts as names that all differ: an equal one has a number after it."""
    names: dict[str, None] = {}
    for text in texts:
        name, number = text, 1
        while name in names:
            number += 1
            name = f"{text} #{number}"
        names[name] = None
    return list(names)


def did_you_mean(name: str, known: Iterable[str]) -> str:
    """Return a question that names the nearest known name, to end an error; empty if none is near.

    Case and spaces at the ends do not count.

    Parameters
    ----------
    name : str
        What was given.
    known : iterable of str
        What there is.

    Returns
    -------
    str
        `` Did you mean '...'?`` with a space before it, or an empty string.

    Examples
    --------
    >>> did_you_mean("Class ", ["day", "class"]), did_you_mean("y", ["day", "class"])
    (" Did you mean 'class'?", '')
    """
    folded: dict[str, str] = {}
    for one in known:
        folded.setdefault(one.strip().casefold(), one)
    near = get_close_matches(name.strip().casefold(), folded, n=1)
    return f" Did you mean {folded[near[0]]!r}?" if near else ""
