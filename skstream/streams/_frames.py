"""Features, labels and meta data of a frame that holds them all."""

from collections.abc import Mapping
from typing import Any

import numpy as np

from skstream.streams._table_parameters import shown
from skstream.utils._choices import did_you_mean
from skstream.utils._optional import optional_import
from skstream.utils._rows import as_rows, is_frame


def names_of_columns(given: dict[str, Any]) -> dict[str, str]:
    """Check the names of columns that a user gives; None stands for none."""
    named = {key: name for key, name in given.items() if name is not None}
    for key, name in named.items():
        if not isinstance(name, str):
            raise TypeError(
                f"{key} must be the name of a column where target= is given. Got "
                f"{type(name).__name__} instead."
            )
    return named


def split_columns(
    frame: Any, taken: Mapping[str, str], where: str, *, features: bool = True
) -> tuple[Any, dict[str, Any]]:
    """Split a frame into the columns that are named, by key, and a frame of the others.

    There must be others, unless `features` is False; `where` says in errors which frame it is.
    """
    frame = _as_frame(frame, where)
    names = list(frame.columns)
    for key, name in taken.items():
        if name not in names:
            texts = [str(one) for one in names]
            raise ValueError(
                f"{key} names the column {name!r}, which is not in {where}."
                f"{did_you_mean(name, texts)} Columns: {shown([repr(one) for one in names])}."
            )
    known = list(dict.fromkeys(taken.values()))
    if features and len(known) == len(names):
        raise ValueError(f"{where} has no column beside {shown(known)}, and so no feature.")
    X = frame.drop(columns=known) if hasattr(frame, "iloc") else frame.drop(known)
    return X, {key: frame[name] for key, name in taken.items()}


def holds_columns(X: Any) -> bool:
    """Whether an object is a frame, or becomes one: a table of Arrow, or a dict of columns."""
    arrow = type(X).__module__.partition(".")[0] == "pyarrow" and hasattr(X, "to_pandas")
    return is_frame(X) or isinstance(X, Mapping) or (arrow and hasattr(X, "num_columns"))


def _as_frame(frame: Any, where: str) -> Any:
    if not holds_columns(frame):
        raise TypeError(
            f"{where} is a {type(frame).__name__}. With target=, a stream is made of pandas or "
            f"polars frames, Arrow tables or record batches, or dicts of columns."
        )
    if not isinstance(frame, Mapping):
        return as_rows(frame)
    single = [name for name, values in frame.items() if np.ndim(values) == 0]
    if single:
        raise ValueError(
            f"{where} is a dict whose value of {single[0]!r} is no column: it seems to be a single "
            f"row. Pass batches of rows (of a Hugging Face dataset: dataset.iter(batch_size=1000))."
        )
    try:
        library = optional_import("pandas", "A dict of columns")
    except ImportError:
        library = optional_import("polars", "A dict of columns")
    return library.DataFrame({name: list(values) for name, values in frame.items()})
