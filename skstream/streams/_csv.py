"""Stream of CSV files."""

import os
from collections import deque
from collections.abc import Iterator, Sequence
from functools import cached_property
from typing import Any, cast

from skstream.streams._table import TableStream
from skstream.utils._optional import optional_import


class CSVStream(TableStream):
    r"""Stream of a CSV file with a header, or of a folder of them in the order of their names.

    Files are read block by block, anew at every pass, and never whole; the rules are those of
    `ParquetStream`. Files ending in ``.gz`` are decompressed on the way. Needs pyarrow.

    Parameters
    ----------
    path : str or path-like
        File, or folder of ``*.csv`` and ``*.csv.gz`` files with the same columns. Row order is
        time order.
    target : str
        Column of the labels or targets.
    nominal : list of str, default=None
        Columns to take as categories whatever they look like; columns of texts always are.
    columns : list of str, default=None
        Feature columns, in this order. None takes all columns but the target, the columns named
        below, and those named in `exclude`.
    exclude : list of str, default=None
        Columns that are no features.
    chunk_size : int, default=65536
        Largest number of rows per chunk. No result depends on it.
    missing : {"nan", "error"} or float, default="nan"
        What becomes of a missing value in a feature; see `ParquetStream`.
    as_frame : bool, default=False
        If False, `X` is a float64 array, and nominal features are codes: positions in `categories`.
        If True, `X` is a pandas frame, and nominal features are categorical.
    sample_weight, arrival, label_time, id : str, default=None
        Columns of meta data. Dates and timestamps become ``datetime64``; a gap is NaN or NaT.
    delimiter : str, default=","
        Character between the values.
    null_values : list of str, default=("", "?", "NA", "N/A", "NaN", "nan", "null", "NULL")
        Texts that stand for a missing value.

    Attributes
    ----------
    path : str
        Absolute path.
    target : str
        Column of the labels.
    chunk_size : int
        Largest number of rows per chunk.
    missing : str or float
        Rule for missing values.
    as_frame : bool
        Whether chunks hold frames.

    Raises
    ------
    ValueError
        If a column is not in the file, or a parameter is out of range. While iterating: for a row
        that does not fit the columns or their types, and for missing values under
        ``missing="error"``.

    See Also
    --------
    ParquetStream : The same for Parquet files, which declare their types.
    as_stream : Streams of data in memory.

    Notes
    -----
    Types are those of the first megabyte of the first file (ISO dates and times are recognised).
    The categories of a nominal column are its sorted values, found in a pass over the file.

    Examples
    --------
    >>> import tempfile
    >>> from pathlib import Path
    >>> from skstream.streams import CSVStream
    >>> folder = tempfile.TemporaryDirectory()
    >>> path = Path(folder.name) / "power.csv"
    >>> _ = path.write_text("load,day,class\n1,Mon,up\n2,?,down\n")
    >>> for X, y, meta in CSVStream(path, target="class"):
    ...     print(X.tolist(), y.tolist())
    [[1.0, 0.0], [2.0, nan]] ['up', 'down']
    >>> folder.cleanup()
    """

    suffixes = (".csv", ".csv.gz")

    def __init__(
        self,
        path: str | os.PathLike[str],
        target: str,
        *,
        nominal: Sequence[str] | None = None,
        columns: Sequence[str] | None = None,
        exclude: Sequence[str] | None = None,
        chunk_size: int = 65536,
        missing: str | float = "nan",
        as_frame: bool = False,
        sample_weight: str | None = None,
        arrival: str | None = None,
        label_time: str | None = None,
        id: str | None = None,
        delimiter: str = ",",
        null_values: Sequence[str] = ("", "?", "NA", "N/A", "NaN", "nan", "null", "NULL"),
    ) -> None:
        self._n_rows: int | None = None
        self.nominal = list(nominal or ())
        self.delimiter = delimiter
        self.null_values = list(null_values)
        meta = {
            "sample_weight": sample_weight,
            "arrival": arrival,
            "label_time": label_time,
            "id": id,
        }
        super().__init__(
            path,
            target,
            columns=columns,
            exclude=exclude,
            chunk_size=chunk_size,
            missing=missing,
            as_frame=as_frame,
            meta=meta,
        )

    @property
    def n_rows(self) -> int:
        """Number of rows, counted in the first pass of any kind."""
        if self._n_rows is None:
            deque(self._batches([self.target]), maxlen=0)
        return cast(int, self._n_rows)

    def _types(self) -> dict[str, Any]:
        return self._arrow_types

    @cached_property
    def _arrow_types(self) -> dict[str, Any]:
        pa = optional_import("pyarrow", "CSVStream")
        with self._open(self._files[0], {}, None) as reader:
            types = {field.name: field.type for field in reader.schema}
        for name in self.nominal:
            if name not in types:
                raise ValueError(
                    f"nominal names the column {name!r}, which is not in {self.path}. "
                    f"Columns: {', '.join(types)}."
                )
            types[name] = pa.string()
        for name, kind in types.items():
            # Whole numbers in the first rows may be followed by fractions, and gaps by numbers.
            if pa.types.is_null(kind) or (pa.types.is_integer(kind) and name != self.target):
                types[name] = pa.float64()
        return types

    def _batches(self, columns: list[str]) -> Iterator[Any]:
        pa = optional_import("pyarrow", "CSVStream")
        types = {name: self._arrow_types[name] for name in columns}
        n_rows = 0
        for file in self._files:
            try:
                with self._open(file, types, columns) as reader:
                    for batch in reader:
                        n_rows += batch.num_rows
                        for start in range(0, batch.num_rows, self.chunk_size):
                            yield batch.slice(start, self.chunk_size)
            except (pa.ArrowInvalid, pa.ArrowKeyError) as error:
                raise ValueError(
                    f"{file} does not fit the columns and types found in its beginning, or in "
                    f"{self._files[0]}: {error}. A column of mixed values can be named in nominal=."
                ) from error
        self._n_rows = n_rows

    def _open(self, file: str, types: dict[str, Any], columns: list[str] | None) -> Any:
        pa = optional_import("pyarrow", "CSVStream")
        csv = optional_import("pyarrow.csv", "CSVStream")
        try:
            return csv.open_csv(
                file,
                parse_options=csv.ParseOptions(delimiter=self.delimiter),
                convert_options=csv.ConvertOptions(
                    column_types=types,
                    include_columns=columns,
                    null_values=self.null_values,
                    strings_can_be_null=True,
                ),
            )
        except pa.ArrowInvalid as error:
            raise ValueError(f"{file} cannot be read as a CSV file: {error}") from error
