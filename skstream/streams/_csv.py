"""Stream of CSV files."""

import re
from collections.abc import Iterator
from typing import Any, ClassVar

from skstream.streams._columns import NOMINAL, NUMBER, is_text, numbers_of
from skstream.streams._table import TableStream, check_encoding
from skstream.utils._optional import optional_import
from skstream.utils._rows import check_no_name_twice

#: Texts that stand for a missing value, unless the user says otherwise; below, in columns of
#: numbers, times and booleans.
MARKS_OF_TEXTS = ("", "?")
NULL_VALUES = (*MARKS_OF_TEXTS, "NA", "N/A", "NaN", "nan", "null", "NULL")
#: Errors of pyarrow about a text, and about a row of another width.
_MISFIT = re.compile(r"In CSV column #(\d+): Row #(\d+): .* invalid value '(.*)'", re.DOTALL)
_WIDTH = re.compile(r"Row #(\d+): Expected (\d+) columns, got (\d+): (.{0,60})", re.DOTALL)


class CSVStream(TableStream):
    r"""Stream of one or several CSV files.

    Files are read block by block at every pass, never as a whole; the rules are those of
    `ParquetStream`. Files ending in ``.gz`` are decompressed while they are read. Needs pyarrow.

    Parameters
    ----------
    path : str, path-like, or list of them
        Path or URI (as ``"s3://bucket/folder"``) of a file, or of a folder of ``*.csv`` and
        ``*.csv.gz`` files with the same columns; or a list of files in reading order. The order of
        rows is their order in time. A folder is read in the natural order of names (part.2 before
        part.10), which the attribute `files` shows; files that begin with ".", "_" or "~" are left
        out. URIs are percent-encoded: a space is ``%20``, a ``#`` of a name ``%23``.
    target : str
        Column of the labels or targets.
    nominal : list of str, default=None
        Columns to read as categories even if they contain numbers; text columns always are
        categories.
    numeric : list of str, default=None
        Columns to read as numbers even if they look like categories.
    columns : list of str, default=None
        Feature columns, in this order. None takes all columns but the target, the columns named
        below, and those named in `exclude`.
    exclude : list of str, default=None
        Columns that are not features.
    text : str or list of str, default=None
        Text columns to be read as plain texts, for a vectorizer; see `ParquetStream`. `null_values`
        become empty texts, too.
    max_categories : int, default=None
        Largest number of categories of a feature: a column with more values is an error, even one
        in `nominal`. None: 1000 different texts, since more suggest free text or an identifier; no
        limit for columns in `nominal`.
    as_frame : bool, default=False
        If False, `X` is a float64 array, and nominal features are codes: positions in `categories`.
        If True, `X` is a pandas frame, and nominal features are categorical.
    chunk_size : int, default=65536
        Largest number of rows per chunk. No result depends on it.
    roles : dict of str to str, default=None
        Columns with meta data: any of "sample_weight", "arrival", "label_time" and "id", as
        ``{"arrival": "when"}``. Dates and timestamps become ``datetime64``; a missing value is NaN
        or NaT.
    options : dict, default=None
        Reading options, such as ``{"delimiter": ";", "decimal": ","}``, with any of these keys.

        - "delimiter" (","): character between the values.
        - "decimal" ("."): the decimal separator.
        - "null_values" (None): texts that mean a missing value. None: the empty text and ``?``; in
          columns of numbers, times and booleans also ``NA``, ``N/A``, ``NaN``, ``nan``, ``null``
          and ``NULL``, which are ordinary texts in a text column.
        - "missing" ("nan"): how a missing value in a feature is read; see `ParquetStream`.
        - "header" (True): whether the first line contains the column names. If False, they are
          called "f0", "f1", and so on.
        - "encoding" ("utf-8"): how the file encodes characters.
        - "sort_by" (None): column of times or numbers by which to sort the rows, equal ones as in
          the file, and missing ones last; all rows are then held in memory. None: the order of the
          file, with a warning if the only date column goes back. False: the order of the file
          without a warning.
        - "time_format" (None): format of time columns, if it is not ``2020-01-31 13:30``: a
          ``strptime`` format such as ``"%d/%m/%Y"`` or ``"%m/%d/%Y %I:%M %p"``, or the unit of
          numbers since 1970 (UTC), "s", "ms", "us" or "ns"; one for the columns of arrival and
          label times, or a dict by column.
        - "filesystem" (None): where the paths are; see `ParquetStream`.

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
        than the first, or a parameter is out of range. While iterating: for a text column with
        numbers written with a decimal comma, with few texts among numbers, or with more than
        `max_categories` texts; for whole-number labels that would lose digits; and for missing
        values with ``{"missing": "error"}``.
    StreamError
        While iterating: for a row that does not fit the columns or their types, or if reading a
        file fails. The message names file and row.

    Warns
    -----
    UserWarning
        At the first pass, if the only date column goes back: see "sort_by".

    See Also
    --------
    ParquetStream : The same for Parquet files, which declare their types.
    as_stream : Streams of data in memory.

    Notes
    -----
    Types are inferred from the first megabyte of the first file (ISO dates and times are
    recognised). The categories of a nominal column are its sorted values, found in a pass over the
    file; if all of them are numbers, they are sorted by value. Row 0 is the first row below the
    header. Features are floats: whole numbers beyond 2**53 lose their last digits as features, but
    not as labels or identifiers.

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
    _finds_types = True
    _about_texts = (
        "List marks of missing values in options={'null_values': [...]}, and a decimal comma or "
        "point in options={'decimal': ...}; remove thousands separators from the file."
    )
    _about_names = (
        " Describe the format with, for example, options={'delimiter': ';'}, or, without a header "
        "line, {'header': False}: the columns are then called f0, f1, and so on."
    )

    default_options: ClassVar[dict[str, Any]] = {
        **TableStream.default_options,
        **{"delimiter": ",", "null_values": None, "decimal": ".", "header": True},
        "encoding": "utf-8",
    }

    def _take_options(self, options: dict[str, Any]) -> None:
        super()._take_options(options)
        self.delimiter, self.decimal = options["delimiter"], options["decimal"]
        for name in ("delimiter", "decimal"):
            if not isinstance(options[name], str) or len(options[name]) != 1:
                raise ValueError(f"{name} must be one character. Got {options[name]!r} instead.")
        self.header = options["header"]
        if not isinstance(self.header, bool):
            raise TypeError(
                "header must be True if the first line contains names, else False. Got "
                f"{self.header!r} instead."
            )
        self.encoding = check_encoding(options["encoding"])
        given = options["null_values"]
        given = [given] if isinstance(given, str) else given
        if given is not None and not all(isinstance(one, str) for one in given):
            raise TypeError(f"null_values must be a list of texts. Got {given!r} instead.")
        self.null_values = None if given is None else sorted(set(given))
        self._marks = NULL_VALUES if given is None else self.null_values
        self._marks_of_texts = MARKS_OF_TEXTS if given is None else self.null_values

    def _types(self) -> dict[str, Any]:
        """Types of the first file; of the first that has values, where a column begins empty."""
        pa = optional_import("pyarrow", "CSVStream")
        types = self._types_in(self.files[0])
        for file in self.files[1:]:
            for name, kind in self._types_in(file).items():
                if name in types and pa.types.is_null(types[name]):
                    types[name] = kind
        self._empty = {name for name, kind in types.items() if pa.types.is_null(kind)}
        return types | dict.fromkeys(self._empty, pa.float64())  # gaps may be followed by numbers

    def _types_in(self, file: str) -> dict[str, Any]:
        pa = optional_import("pyarrow", "CSVStream")
        with self._opened(file, {}, None) as reader:
            try:
                names, kinds = reader.schema.names, reader.schema.types
            except UnicodeDecodeError:
                names, kinds = [], [pa.binary()]
        if pa.binary() in kinds:
            raise ValueError(
                f"{file} is not encoded as {self.encoding}. Pass "
                "options={'encoding': 'latin-1'}, say, or convert it to UTF-8."
            )
        check_no_name_twice(names, file)
        types = dict(zip(names, kinds, strict=True))
        # Whole numbers in the first rows may be followed by fractions.
        whole = {name for name, kind in types.items() if pa.types.is_integer(kind)}
        types |= dict.fromkeys(whole | set(self.numeric) & set(types), pa.float64())
        as_texts = {*self.nominal, *self.text, *self.time_format} & set(types)
        return types | dict.fromkeys(as_texts, pa.string())

    def _check_same_columns(self, types: dict[str, Any], file: str) -> None:
        # A column without a value in the first rows can have any type, and so can texts.
        fitting = {
            name: self._arrow_types[name]
            for name, kind in types.items()
            if self._roles.get(name) == NOMINAL or (str(kind) == "null" and name in self._roles)
        }
        super()._check_same_columns(types | fitting, file)

    def _batches_of(self, file: str, columns: list[str]) -> Iterator[Any]:
        pa = optional_import("pyarrow", "CSVStream")
        row, last = self._first_rows[file], None
        # Labels and other values of their own are read as texts, since floats do not tell all whole
        # numbers apart; what has marks of missing numbers alone may be a group NA.
        numbers = {name for name in columns if self._roles.get(name, NUMBER) == NUMBER}
        numbers = (numbers & self._own) - (self._empty & self._kept)
        own = (self._empty & self._kept) | numbers
        types = {name: pa.string() if name in own else self._arrow_types[name] for name in columns}
        try:
            with self._opened(file, types, columns) as reader:
                for batch in reader:
                    last = batch if batch.num_rows else last
                    for start in range(0, batch.num_rows, self.chunk_size):
                        part = self._with_gaps(batch.slice(start, self.chunk_size), numbers, row)
                        yield part
                        row += part.num_rows
        except pa.ArrowInvalid as error:
            raise ValueError(self._explained(file, str(error))) from error
        if last is not None:
            self._check_end(last.slice(last.num_rows - 1).to_pylist()[0])

    def _with_gaps(self, batch: Any, numbers: set[str], row: int) -> Any:
        """Return rows with nulls for marks of missing values, and own numbers made of texts."""
        pa, compute = (optional_import(f"pyarrow{end}", "CSVStream") for end in ("", ".compute"))
        columns = dict(zip(batch.schema.names, batch.columns, strict=True))
        for name, column in columns.items():
            if is_text(column.type):
                marks = pa.array(self._marks if name in numbers else self._marks_of_texts)
                texts = compute.if_else(compute.is_in(column, value_set=marks), None, column)
                if name in numbers:
                    whole = name not in self.numeric
                    texts = numbers_of(texts, name, row, decimal=self.decimal, whole=whole)
                columns[name] = texts
        return pa.RecordBatch.from_pydict(columns)

    def _check_end(self, last: dict[str, Any]) -> None:
        """Raise an error if a text of the last row holds whole rows: its quote is not closed.

        pyarrow then takes everything up to the end of the file as one value, without an error.
        """
        n = len(self._arrow_types)
        for name, value in last.items():
            begin, *rest = str(value or "-").splitlines()
            is_open = rest and n > 1 and str(value).endswith(("\n", "\r"))
            if is_open and all(line.count(self.delimiter) == n - 1 for line in rest):
                raise ValueError(
                    f"the value of column {name!r} in the last row contains {len(rest):,} whole "
                    f"rows: the quote before {begin[:60]!r} is not closed."
                )

    def _explained(self, file: str, message: str) -> str:
        """Errors of pyarrow about rows, in words."""
        first = self._first_rows.get(file, 0) - 1 - self.header
        if found := _MISFIT.search(message):
            name = list(self._types_in(file))[int(found[1])]
            kind = "number" if name in self._empty else self._roles.get(name, "value")
            return (
                f"Row {first + int(found[2])} has the text {found[3]!r} in column {name!r}, which "
                f"is not a {kind}, as numeric= or the first rows of {self.files[0]} require. List "
                "columns of mixed values in nominal=, and marks of missing values in "
                "options={'null_values': [...]}."
            )
        if found := _WIDTH.search(message):
            other = next((sign for sign in ";\t|" if sign in found[4]), None)
            if other is not None and other != self.delimiter:
                advice = f"options={{'delimiter': {other!r}}} if {other!r} separates the values"
                return (
                    f"row {first + int(found[1])} is {found[4]!r}. Pass {advice}, and "
                    "options={'decimal': ','} with it if numbers have a decimal comma."
                )
            return (
                f"row {first + int(found[1])} has {found[3]} values, but there are {found[2]} "
                f"columns: {found[4]!r}. Values that contain the delimiter must be quoted, quotes "
                "must be closed, and lines that are not rows must be removed."
            )
        return message

    def _opened(self, file: str, types: dict[str, Any], columns: list[str] | None) -> Any:
        pa, csv = (optional_import(f"pyarrow{end}", "CSVStream") for end in ("", ".csv"))
        try:
            return csv.open_csv(
                self._storage.by_arrow(file),
                read_options=csv.ReadOptions(
                    autogenerate_column_names=not self.header,
                    encoding=self.encoding,
                    use_threads=False,  # with threads, errors do not name the row
                ),
                parse_options=csv.ParseOptions(delimiter=self.delimiter, newlines_in_values=True),
                convert_options=csv.ConvertOptions(
                    column_types=types,
                    include_columns=columns,
                    null_values=self._marks,
                    decimal_point=self.decimal,
                ),
            )
        except FileNotFoundError:
            raise
        except (pa.ArrowInvalid, OSError) as error:
            words = self._explained(file, str(error))
            raise ValueError(f"{file} cannot be read as a CSV file: {words}") from error
