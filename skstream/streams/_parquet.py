"""Stream of Parquet files."""

import json
from collections.abc import Iterator, Sequence
from functools import cached_property
from typing import Any

from skstream.streams._columns import values_of
from skstream.streams._files import FileSystem
from skstream.streams._table import TableStream
from skstream.utils._optional import optional_import
from skstream.utils._rows import check_no_name_twice

# Bytes read at a time from each column.
_BUFFER = 1 << 18
# The same where every read is a request to another machine.
_REMOTE_BUFFER = 1 << 20


class ParquetStream(TableStream):
    """Stream of one or several Parquet files.

    Files are read in pieces of at most `chunk_size` rows at every pass, never as a whole. The
    object holds the paths, not the data: its pickle is small, and a worker on another machine with
    access to the same folder opens the files itself. Needs pyarrow.

    Parameters
    ----------
    path : str, path-like, or list of them
        Path or URI (as ``"s3://bucket/folder"``) of a file, or of a folder of ``*.parquet`` and
        ``*.pq`` files with the same columns; or a list of files in reading order. The order of rows
        is their order in time. A folder is read in the natural order of names (part.2 before
        part.10), which the attribute `files` shows; files that begin with ".", "_" or "~" are left
        out. URIs are percent-encoded: a space is ``%20``, a ``#`` of a name ``%23``.
    target : str
        Column of the labels or targets.
    nominal : list of str, default=None
        Columns to read as categories, whatever their type; text columns always are categories.
    numeric : list of str, default=None
        Columns of texts or categories that contain numbers, to be read as numbers.
    columns : list of str, default=None
        Feature columns, in this order. None takes all columns but the target, the columns named
        below, and those named in `exclude`.
    exclude : list of str, default=None
        Columns that are not features. None: as the file itself says, the columns under
        "exclude_from_features" in its metadata, and its own target if `target` is another column.
    text : str or list of str, default=None
        Text columns to be read as plain texts, for a vectorizer. With ``as_frame=True`` they are
        columns like the others. Otherwise it must be one column, and `X` is the one-dimensional
        array of its texts, without other features. A null becomes an empty text, or is an error
        with ``{"missing": "error"}``.
    max_categories : int, default=None
        Largest number of categories of a feature: a column of more values is refused, also one in
        `nominal`. None: 1000 different texts, as more are free text or an identifier; columns in
        `nominal` have no limit, nor have columns that the file itself declares nominal.
    as_frame : bool, default=False
        If False, `X` is a float64 array, and nominal features are codes: positions in `categories`.
        If True, `X` is a pandas frame, and nominal features have a categorical dtype with all
        declared categories, for ``OneHotEncoder`` and ``ColumnTransformer``.
    chunk_size : int, default=65536
        Largest number of rows per chunk. No result depends on it.
    roles : dict of str to str, default=None
        Columns with meta data: any of "sample_weight", "arrival", "label_time" and "id", as
        ``{"arrival": "when"}``. Dates and timestamps become ``datetime64``; a null is NaN or NaT.
    options : dict, default=None
        Reading options, with any of these keys.

        - "missing" ("nan", "error" or a number): how a null, or a NaN, in a feature is read. "nan",
          the default: NaN. "error": an error that names row and column. A number: this number, and
          code -1 for a nominal feature. In a frame a missing category stays missing. Missing labels
          are always passed on, as None or NaN.
        - "sort_by" (None), "time_format" (None): order of the rows, and how times are written; see
          `CSVStream`.
        - "filesystem" (of ``pyarrow.fs`` or fsspec): where the paths are. None, the default: the
          local disk, or for a URI what it names (``s3://``, ``gs://``, ``abfs://``, ``hdfs://``,
          ``file://`` of pyarrow, others of fsspec), which every worker opens itself, with the
          credentials of its machine. A file system given here is sent to the workers as it is,
          including any credentials.

    Attributes
    ----------
    files : list of str
        Absolute paths or URIs of the files, in the order in which they are read.
    path : str or list of str
        Absolute path or URI of the file; the list `files` if there are several.
    kinds : dict of str to str
        Kind of every feature: "number", "category", "boolean", "time" or "text".
    target : str
        Column of the labels.
    chunk_size : int
        Largest number of rows per chunk.
    missing : str or float
        Rule for missing values.
    as_frame : bool
        Whether chunks contain frames.

    Raises
    ------
    ValueError
        If a column is not in the file, two columns have the same name, the files have other columns
        than the first, or a parameter is out of range. While iterating: for a category that is not
        declared, for texts that are numbers with a decimal comma, for a column with more than
        `max_categories` texts, and for missing values with ``{"missing": "error"}``.
    TypeError
        If a column has a type that is neither number, time nor category.
    StreamError
        While iterating: if reading a file fails. The message names the file and the row.

    Warns
    -----
    UserWarning
        At the first pass, if the only date column goes back: see "sort_by" of `CSVStream`.

    See Also
    --------
    CSVStream : The same for CSV files.
    as_stream : Streams of data in memory.

    Notes
    -----
    Integers, booleans (0 and 1) and decimals become float64; integers beyond 2^53 lose digits.
    Dates become days and timestamps seconds since 1970-01-01 (UTC if a time zone is known), times
    of day and durations become seconds.

    Dictionary and string columns are nominal. Their categories, and so the codes, come from (first
    that applies) the file's metadata under the key ``stream``, a JSON object with "nominal"
    ``{column: categories}`` and "target", "classes"; the dictionaries stored with the row groups
    of a dictionary column, values that never occur included; the sorted values found in a pass
    over that column alone. In a folder, categories that a later file adds come last.

    Examples
    --------
    >>> import tempfile
    >>> import pyarrow as pa, pyarrow.parquet as pq
    >>> from skstream.streams import ParquetStream
    >>> folder = tempfile.TemporaryDirectory()
    >>> table = pa.table({"load": [1, 2], "day": ["Mon", None], "class": ["up", "down"]})
    >>> pq.write_table(table, folder.name + "/power.parquet")
    >>> stream = ParquetStream(folder.name, target="class")
    >>> stream
    ParquetStream(2 rows; features: numbers load; categories day)
    >>> stream.classes.tolist(), stream.categories
    (['down', 'up'], {'day': ['Mon']})
    >>> for X, y, meta in stream:
    ...     print(X.tolist(), y.tolist())
    [[1.0, 0.0], [2.0, nan]] ['up', 'down']
    >>> folder.cleanup()
    """

    suffixes = (".parquet", ".pq")

    @cached_property
    def n_rows(self) -> int:
        """Number of rows, from the footers of the files."""
        total = 0
        for file in self.files:
            with _open(self._storage, file) as parquet:
                total += parquet.metadata.num_rows
        return total

    def _types(self) -> dict[str, Any]:
        with _open(self._storage, self.files[0]) as parquet:
            about = _about(parquet.schema_arrow)
        # Only names, so that a pickle stays small.
        self._named_nominal = set(about.get("nominal", ()))
        self._no_features = {
            *about.get("exclude_from_features", ()),
            about.get("target", self.target),
        }
        types = self._types_in(self.files[0])
        pa = optional_import("pyarrow", "ParquetStream")
        self._texts = {name for name, kind in types.items() if pa.types.is_string(kind)}
        return types

    def _types_in(self, file: str) -> dict[str, Any]:
        with _open(self._storage, file) as parquet:
            schema = parquet.schema_arrow
        check_no_name_twice(schema.names, file)
        return {field.name: field.type for field in schema}

    def _batches_of(self, file: str, columns: list[str]) -> Iterator[Any]:
        # Texts of categories are stored as codes, which need not become texts in between.
        nominal = [name for name in columns if name in self._texts and self._is_nominal(name)]
        with _open(self._storage, file, nominal) as parquet:
            yield from parquet.iter_batches(self.chunk_size, columns=columns)

    def _declared_nominal(self) -> set[str]:
        return self._named_nominal

    def _not_features(self) -> set[str]:
        return self._no_features

    def _declared(self, columns: list[str]) -> dict[str, list[Any]]:
        # A dict keeps the order in which the files name the categories.
        found: dict[str, dict[Any, None]] = {name: {} for name in columns}
        for file in self.files:
            with _open(self._storage, file) as parquet:
                declared = _in_metadata(parquet.schema_arrow)
                stored = _in_dictionaries(parquet, [n for n in found if n not in declared])
            for name in list(found):
                values = declared.get(name, stored.get(name))
                if values is None:
                    del found[name]
                else:
                    found[name] |= dict.fromkeys(values)
        return {name: list(values) for name, values in found.items()}


def _open(storage: FileSystem, file: str, read_dictionary: Sequence[str] = ()) -> Any:
    pa = optional_import("pyarrow", "ParquetStream")
    parquet = optional_import("pyarrow.parquet", "ParquetStream")
    try:
        # pyarrow's default (pre_buffer=True) keeps every row group read so far until the end.
        with storage.named_if_missing(file):
            return parquet.ParquetFile(
                storage.files[file],
                filesystem=storage.system,
                pre_buffer=False,
                buffer_size=_BUFFER if storage.system is None else _REMOTE_BUFFER,
                read_dictionary=list(read_dictionary),
            )
    except pa.ArrowInvalid as error:
        raise ValueError(f"{file} cannot be read as a Parquet file: {error}") from error


def _about(schema: Any) -> dict[str, Any]:
    """Read the description of the stream in the file's metadata; empty where there is none."""
    text = (schema.metadata or {}).get(b"stream", b"{}")
    try:
        about = json.loads(text)
    except ValueError:  # another program uses the same key
        return {}
    return about if isinstance(about, dict) else {}


def _in_metadata(schema: Any) -> dict[str, list[str]]:
    """Categories of string columns that the file's metadata name."""
    pa = optional_import("pyarrow", "ParquetStream")
    about = _about(schema)
    named = dict(about.get("nominal", {}))
    if "target" in about and "classes" in about:
        named[about["target"]] = about["classes"]
    declared = {}
    for name in named.keys() & set(schema.names):
        kind = schema.field(name).type
        if pa.types.is_dictionary(kind):
            kind = kind.value_type
        if pa.types.is_string(kind) or pa.types.is_large_string(kind):
            declared[name] = list(named[name])
    return declared


def _in_dictionaries(parquet: Any, columns: list[str]) -> dict[str, list[Any]]:
    """Values in the dictionaries of the row groups; one row of each is read for them."""
    pa = optional_import("pyarrow", "ParquetStream")
    schema = parquet.schema_arrow
    columns = [name for name in columns if pa.types.is_dictionary(schema.field(name).type)]
    found: dict[str, list[Any]] = {name: [] for name in columns}
    for group in range(parquet.num_row_groups if columns else 0):
        for batch in parquet.iter_batches(1, row_groups=[group], columns=columns):
            for name, values in found.items():
                values.extend(values_of(batch.column(name)))
            break
    return found
