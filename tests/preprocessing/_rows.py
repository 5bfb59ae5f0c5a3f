"""Rows of every kind that a frame of everyday data holds."""

from typing import Any

import numpy as np
import pytest

KINDS = ("numbers", "integers", "texts", "objects", "frame", "categories", "polars")
NUMERIC = ("numbers", "integers", "numeric frame")
DATES = ("dates", "dates in a frame", "dates as texts")


def rows_of(kind: str, n: int, rng: np.random.Generator) -> Any:
    """`n` rows of three columns with gaps, repeated values, and values that show up late."""
    numbers = rng.integers(0, 6, (n, 3)) * 0.5 + rng.integers(0, 3, (n, 3)) * np.pi
    numbers[rng.random((n, 3)) < 0.3] = np.nan
    words = np.array(["red", "green", "blue", "a longer one", "Ü", "late"], dtype=object)
    texts = words[np.minimum(rng.integers(0, 5, (n, 3)) + (np.arange(n) > n // 2)[:, None], 5)]
    if kind == "numbers":
        return numbers
    if kind in DATES:
        return _dates(kind, n, rng)
    if kind == "integers":
        return rng.integers(-2, 3, (n, 3))
    if kind == "texts":
        return texts.astype(str)
    gaps = rng.random((n, 3)) < 0.2
    texts[gaps] = None
    texts[gaps & (rng.random((n, 3)) < 0.5)] = np.nan
    if kind == "objects":
        texts[:, 2] = numbers[:, 2]
        return texts
    if kind == "polars":
        polars = pytest.importorskip("polars")
        columns = {"word": [value if isinstance(value, str) else None for value in texts[:, 0]]}
        return polars.DataFrame({**columns, "number": numbers[:, 1], "whole": np.arange(n) % 3})
    pandas = pytest.importorskip("pandas")
    if kind == "numeric frame":
        frame = pandas.DataFrame(numbers, columns=["a", "b", "c"])
        frame["b"] = pandas.array(np.arange(n) % 4, dtype="Int64")
        frame.loc[frame.index % 3 == 1, "b"] = pandas.NA
        return frame
    frame = pandas.DataFrame({"word": texts[:, 0], "number": numbers[:, 1], "whole": gaps[:, 0]})
    if kind == "categories":
        frame["word"] = frame["word"].astype("category")
        frame["whole"] = pandas.Series(np.arange(n) % 5, dtype="Int64").mask(gaps[:, 1])
    return frame


def _dates(kind: str, n: int, rng: np.random.Generator) -> Any:
    """Two columns of dates, some of them missing."""
    dates = rng.integers(-(10**9), 2 * 10**9, (n, 2)).astype("M8[s]")
    dates[rng.random((n, 2)) < 0.2] = "NaT"
    if kind == "dates":
        return dates
    if kind == "dates as texts":
        return np.where(np.isnat(dates), None, dates.astype(str))
    pandas = pytest.importorskip("pandas")
    frame = pandas.DataFrame({"paid": dates[:, 0], "sent": dates[:, 1]})
    frame["sent"] = frame["sent"].dt.tz_localize("UTC").dt.tz_convert("Asia/Tokyo")
    return frame
