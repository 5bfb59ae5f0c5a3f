"""Checks of the parameters of file streams, and names of columns in messages."""

import math
from collections.abc import Callable, Iterable
from functools import wraps
from inspect import signature
from numbers import Real
from typing import Any, ParamSpec

from skstream.utils._choices import did_you_mean
from skstream.utils._tables import shown

#: Parameters of a constructor.
Given = ParamSpec("Given")

_CHARACTERS = 60
_PLURAL = {
    "number": "numbers",
    "category": "categories",
    "boolean": "booleans",
    "time": "times",
    "text": "texts",
}


def checked_keys(given: Any, parameter: str, known: Iterable[str]) -> dict[str, Any]:
    """Return what the user gave by name, empty for None; raise an error for an unknown name."""
    if given is None:
        return {}
    names = list(known)
    if not isinstance(given, dict):
        raise TypeError(
            f"{parameter} must be a dict with any of the keys {', '.join(names)}. Got {given!r} "
            f"instead."
        )
    for name in given:
        if name not in names:
            raise ValueError(
                f"{parameter} has no key {name!r}.{did_you_mean(str(name), names)} Known: "
                f"{', '.join(names)}."
            )
    return dict(given)


def check_encoding(encoding: Any) -> str:
    """Raise an error unless the value is the name of an encoding."""
    if not isinstance(encoding, str):
        raise TypeError(f"encoding must be a name, such as 'utf-8'. Got {encoding!r} instead.")
    try:
        "".encode(encoding)  # unlike a look-up, refuses codecs of no text
    except LookupError:
        raise ValueError(f"There is no encoding of the name {encoding!r}.") from None
    return encoding


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


def check_named_once(nominal: list[str], numeric: list[str], text: list[str]) -> None:
    """Raise an error if a column is to be read in two ways."""
    for name in nominal:
        if name in numeric:
            raise ValueError(f"Column {name!r} is named in nominal= and in numeric=.")
    for name in text:
        if name in [*nominal, *numeric]:
            raise ValueError(f"Column {name!r} is named in text= and in nominal= or numeric=.")


def check_text(
    text: list[str],
    columns: list[str] | None,
    reserved: list[str | None],
    *,
    as_frame: bool,
) -> None:
    """Raise an error unless texts are the only feature, or columns of a frame."""
    for name in text:
        if name in reserved:
            raise ValueError(f"text names the column {name!r}, which is the target or meta data.")
    if as_frame or not text:
        return
    if len(text) > 1 or (columns is not None and columns != text):
        more = text if len(text) > 1 else columns
        raise ValueError(
            f"text={text[0]!r} makes X the texts of that column alone, and {more} are more. Pass "
            f"as_frame=True to have texts beside other features, in a data frame."
        )


def chosen_columns(
    names: list[str], columns: list[str] | None, reserved: set[str], dropped: Any
) -> list[str]:
    """Columns that are features: those that the user names, or all but the reserved ones."""
    if columns is None:
        return [name for name in names if name not in reserved | dropped]
    for name in columns:
        if name in reserved:
            raise ValueError(
                f"columns names the column {name!r}, which is the target or meta data, and no "
                f"feature."
            )
    return [name for name in columns if name not in (dropped or ())]


def check_missing(missing: Any) -> str | float:
    """Raise an error unless the value is a rule for missing values."""
    if missing in ("nan", "error"):
        return str(missing)
    if isinstance(missing, Real) and not isinstance(missing, bool):
        fill = float(missing)
        if math.isfinite(fill):
            return fill
    raise ValueError(f"missing must be 'nan', 'error' or a finite number. Got {missing!r} instead.")


def shortened(text: str) -> str:
    """Return the beginning of a text, for a message."""
    return text if len(text) <= _CHARACTERS else f"{text[:_CHARACTERS]}..."


def files_in_words(files: list[str]) -> str:
    """Name the one file of a stream, or say how many there are."""
    return files[0] if len(files) == 1 else f"the stream of {len(files)} files"


def kinds_in_words(kinds: dict[str, str]) -> str:
    """Kinds of features in words: "numbers load; categories day"."""
    columns: dict[str, list[str]] = {}
    for name, kind in kinds.items():
        columns.setdefault(_PLURAL[kind], []).append(name or "''")
    return "; ".join(f"{kind} {shown(names)}" for kind, names in columns.items()) or "none"


def names_options(init: Callable[Given, None]) -> Callable[Given, None]:
    """Let a constructor say where a parameter that it has not belongs."""
    known = signature(init).parameters

    @wraps(init)
    def checked(*given: Given.args, **named: Given.kwargs) -> None:
        unknown = next((name for name in named if name not in known), None)
        if unknown is not None:
            kind = type(given[0])
            where = did_you_mean(unknown, known)
            if unknown in getattr(kind, "default_options", ()):
                where = f" It is one of options: pass options={{{unknown!r}: {named[unknown]!r}}}."
            if unknown == "n_rows":
                where = " Take the first rows by skstream.streams.take_rows(stream, n)."
            raise TypeError(f"{kind.__name__} has no parameter {unknown!r}.{where}")
        init(*given, **named)

    return checked


def not_there(parameter: str, name: str, names: list[str], file: str) -> str:
    """Say that a parameter names a column that a file does not have."""
    return (
        f"{parameter} names the column {name!r}, which is not in {file}."
        f"{did_you_mean(name, names)} Columns: {shown([repr(one) for one in names])}."
    )
