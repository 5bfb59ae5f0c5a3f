"""Real streams for tests, benchmarks and examples; they are not part of the repository."""

import json
import os
from importlib import import_module
from pathlib import Path
from typing import Any

import numpy as np
import pytest

ENVIRONMENT_VARIABLE = "SKSTREAM_DATA"
_PROJECT = Path(__file__).resolve().parents[1]


def data_folder() -> Path:
    """Folder of the real streams: ``$SKSTREAM_DATA``, else ``../shared/data`` of the project."""
    named = os.environ.get(ENVIRONMENT_VARIABLE)
    return Path(named) if named else _PROJECT.parent / "shared" / "data"


def data_path(name: str) -> Path:
    """Path of a stream's Parquet file; skips the test where the file is absent."""
    path = data_folder() / f"{name}.parquet"
    if not path.is_file():
        pytest.skip(f"the real stream {path.name} is not there; set {ENVIRONMENT_VARIABLE}")
    return path


def load_stream(
    name: str, n_rows: int | None = None, *, as_frame: bool = False
) -> tuple[Any, np.ndarray]:
    """Features and labels of a real stream, in their order; skips the test without them.

    Columns that the file's own description says are not features are left out. As an array
    (float64), a nominal column is the position of its value among the declared values; as a
    pandas frame, it is categorical with all declared values. Missing values are NaN.
    """
    path = data_path(name)
    parquet = pytest.importorskip("pyarrow.parquet", reason="real streams need pyarrow")
    table = parquet.read_table(path)
    about = json.loads(table.schema.metadata[b"stream"])
    if n_rows is not None:
        table = table.slice(0, n_rows)
    y = np.asarray(table.column("class").cast("string").to_pylist())
    dropped = {"class", *about["exclude_from_features"]}
    features = [column for column in table.column_names if column not in dropped]
    if as_frame:
        return _frame(table.select(features), about["nominal"]), y
    X = np.empty((table.num_rows, len(features)))
    for j, column in enumerate(features):
        X[:, j] = _numbers(table.column(column), about["nominal"].get(column))
    return X, y


def _numbers(column: Any, declared: list[str] | None) -> np.ndarray:
    """Column as float64: numbers as they are, nominal values by declared position."""
    if declared is not None:
        pyarrow, compute = import_module("pyarrow"), import_module("pyarrow.compute")
        column = compute.index_in(column.cast("string"), pyarrow.array(declared))
    return np.array(column.to_numpy(), dtype=np.float64)


def _frame(table: Any, nominal: dict[str, list[str]]) -> Any:
    """Pandas frame whose nominal columns know all their declared values."""
    pandas = pytest.importorskip("pandas", reason="frames need pandas")
    frame = table.to_pandas()
    for column in frame.columns.intersection(list(nominal)):
        frame[column] = pandas.Categorical(frame[column], categories=nominal[column])
    return frame
