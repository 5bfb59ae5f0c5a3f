"""Files that the tests of Parquet and CSV streams write themselves."""

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest


def dictionary(values: list[str], codes: list[int | None]) -> Any:
    pa = pytest.importorskip("pyarrow")
    return pa.DictionaryArray.from_arrays(pa.array(codes, pa.int32()), pa.array(values))


def write_parquet(path: Path, columns: dict[str, Any], *, about: Any = None, rows: int = 10**6):
    """Write one file of row groups of `rows` rows; `about` goes into the metadata."""
    pa = pytest.importorskip("pyarrow")
    parquet = pytest.importorskip("pyarrow.parquet")
    table = pa.table(columns)
    if about is not None:
        text = about if isinstance(about, str) else json.dumps(about)
        table = table.replace_schema_metadata({"stream": text})
    parquet.write_table(table, path, row_group_size=rows)
    return path


def rows_of(stream: Any) -> tuple[Any, np.ndarray]:
    """All rows of a stream at once."""
    chunks = list(stream)
    X = [X for X, _, _ in chunks]
    joined = np.concatenate(X) if isinstance(X[0], np.ndarray) else _stacked(X)
    return joined, np.concatenate([y for _, y, _ in chunks])


def _stacked(frames: list[Any]) -> Any:
    return pytest.importorskip("pandas").concat(frames)
