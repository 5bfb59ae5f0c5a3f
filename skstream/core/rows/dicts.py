"""Rows that come one by one, as dictionaries: data sets of River, and what is like them."""

import gc
from collections.abc import Iterable, Iterator, Mapping
from itertools import chain, islice
from typing import Any

import numpy as np

from skstream.utils._optional import optional_import

#: Rows that become a frame at once; the frames are then put together.
_ROWS_AT_ONCE = 10_000


def is_row(item: Any) -> bool:
    """Whether an item of an iterable is a pair ``(dict, y)``: a single row."""
    return isinstance(item, tuple | list) and len(item) == 2 and isinstance(item[0], Mapping)


def holds_rows(source: Any) -> bool:
    """Whether a source is known, unread, to give rows of dictionaries and to end.

    A list of them, a data set of River, or what its ``take`` or ``river.stream`` returns.

    Raises
    ------
    ValueError
        If a data set of River has no end, or too many features.
    """
    if isinstance(source, list | tuple):
        first = source[0] if source else None
        if isinstance(first, tuple | list) and len(first) == 2 and isinstance(first[0], str):
            raise TypeError(
                "These are pairs (text, y). Give the texts and the labels apart, as X and y: "
                "X, y = zip(*pairs)."
            )
        return is_row(first)
    if isinstance(source, islice):  # it does not say what it takes rows from
        return any(_home_of(one).startswith("river.") for one in gc.get_referents(source))
    if _home_of(source).startswith("river.stream."):  # such as iter_csv
        return True
    bases = {base.__name__ for base in type(source).__mro__ if base.__module__ == _HOME}
    name = type(source).__name__
    if "SyntheticDataset" in bases and source.n_samples is None:
        raise ValueError(
            f"{name}, a data set of River, never ends. Say how many rows to take: "
            f"{name}(...).take(1000)."
        )
    if bases and source.sparse and source.n_features:
        raise ValueError(
            f"{name}, a data set of River, has {source.n_features:,} features, too many for a "
            "frame. Take some of its rows, .take(1000), or pass chunks of hashed features."
        )
    return bool(bases)


_HOME = "river.datasets.base"


def _home_of(source: Any) -> str:
    """Name of the module where a generator is defined; empty of anything else."""
    return str(getattr(getattr(source, "gi_frame", None), "f_globals", {}).get("__name__", ""))


def frame_of(rows: Iterable[Any]) -> tuple[Any, list[Any]]:
    """Read rows to their end; return a frame, with NaN where a row lacks a feature, and labels.

    Raises
    ------
    TypeError
        If a row is not a pair of a dictionary and a label, or a value is not a single one.
    """
    pandas: Any = optional_import("pandas", "A stream of rows as dictionaries")
    iterator, frames, y = iter(rows), [], list[Any]()
    while block := list(islice(iterator, _ROWS_AT_ONCE)):
        for number, item in enumerate(block, start=len(y)):
            _check_row(item, number)
        frames.append(pandas.DataFrame([dict(item[0]) for item in block]))
        y.extend(item[1] for item in block)
    return pandas.concat(frames, ignore_index=True), y


def _check_row(item: Any, number: int) -> None:
    given = type(item[0] if isinstance(item, tuple | list) and item else item).__name__
    if not is_row(item):
        raise TypeError(
            f"Row {number} is no pair (dict, y) of features by name and a label, as the rows "
            f"before it are: it holds a {given}."
        )
    if isinstance(item[1], Mapping):
        raise TypeError(
            f"Row {number} has several targets, {item[1]!r}. Models learn one: give pairs "
            "(x, y[name]) for one of them."
        )
    for name, value in item[0].items():
        if isinstance(value, Mapping | set) or np.ndim(value):
            raise TypeError(
                f"Feature {name!r} of row {number} holds a {type(value).__name__}, not a single "
                "value. Make one feature of each number (of an image: of each pixel, or of what a "
                "network makes of it)."
            )


def as_chunks(source: Iterable[Any]) -> Iterator[Any]:
    """Yield the chunks of a source; of rows of dictionaries a single one, when all are read."""
    items = iter(source)
    for item in items:
        if is_row(item):
            yield frame_of(chain([item], items))
        else:
            yield item
