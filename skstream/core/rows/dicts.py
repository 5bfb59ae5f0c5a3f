"""Rows that come one by one, as pairs of a dictionary and a label."""

from collections.abc import Callable, Iterable, Iterator, Mapping
from itertools import chain, islice
from typing import Any

import numpy as np

from skstream.utils._optional import optional_import

#: Rows that become a frame at once; the frames are then put together.
_ROWS_AT_ONCE = 10_000


def is_row(item: Any) -> bool:
    """Whether an item of an iterable is a pair ``(dict, y)``: a single row."""
    return isinstance(item, tuple | list) and len(item) == 2 and isinstance(item[0], Mapping)


#: What knows, unread, sources of other libraries that give such rows and end.
_KNOWN: list[Callable[[Any], bool]] = []


def offer_rows(is_known: Callable[[Any], bool]) -> None:
    """Let sources of another library be read as rows of dictionaries: those `is_known` knows."""
    _KNOWN.append(is_known)


def holds_rows(source: Any) -> bool:
    """Whether a source is known, unread, to give rows of dictionaries and to end."""
    if isinstance(source, list | tuple):
        first = source[0] if source else None
        if isinstance(first, tuple | list) and len(first) == 2 and isinstance(first[0], str):
            raise TypeError(
                "These are pairs (text, y). Pass the texts and the labels separately, as X and y: "
                "X, y = zip(*pairs)."
            )
        return is_row(first)
    return any(is_known(source) for is_known in _KNOWN)


def frame_of(rows: Iterable[Any]) -> tuple[Any, list[Any]]:
    """Read rows to their end; return a frame, with NaN where a row lacks a feature, and labels.

    Raises
    ------
    TypeError
        If a row is not a pair of a dictionary and a label, or a value is not a single one.
    """
    pandas: Any = optional_import("pandas", "A stream of rows as dictionaries")
    iterator, frames, y = iter(rows), [], list[Any]()
    while items := list(islice(iterator, _ROWS_AT_ONCE)):
        for number, item in enumerate(items, start=len(y)):
            _check_row(item, number)
        frames.append(pandas.DataFrame([dict(item[0]) for item in items]))
        y.extend(item[1] for item in items)
    return pandas.concat(frames, ignore_index=True), y


def _check_row(item: Any, number: int) -> None:
    given = type(item[0] if isinstance(item, tuple | list) and item else item).__name__
    if not is_row(item):
        raise TypeError(
            f"Row {number} is not a pair (dict, y) of named features and a label, like the rows "
            f"before it: it contains a {given}."
        )
    if isinstance(item[1], Mapping):
        raise TypeError(
            f"Row {number} has several targets, {item[1]!r}. Models predict a single target: pass "
            "pairs (x, y[name]) for one of them."
        )
    for name, value in item[0].items():
        if isinstance(value, Mapping | set) or np.ndim(value):
            raise TypeError(
                f"Feature {name!r} of row {number} holds a {type(value).__name__}, not a single "
                "value. Make one feature of each number (for an image: each pixel, or an "
                "embedding from a network)."
            )


def as_chunks(source: Iterable[Any]) -> Iterator[Any]:
    """Yield the chunks of a source; of rows of dictionaries a single one, when all are read."""
    items = iter(source)
    for item in items:
        if is_row(item):
            yield frame_of(chain([item], items))
        else:
            yield item
