"""Stream of CSV files."""

from collections.abc import Iterator
from functools import partial
from typing import Any, ClassVar

from skstream.core.rows.chunk import StreamError
from skstream.streams._columns import BOOLEAN, INTEGER, NOMINAL, NUMBER, TIME, role_of
from skstream.streams._csv_text import (
    BadLines,
    CSVText,
    check_end,
    first_misfit,
    own_numbers,
    read_as,
)
from skstream.streams._table import TableStream, are_numbers
from skstream.streams._table_parameters import check_encoding
from skstream.utils._choices import check_choice
from skstream.utils._optional import optional_import
from skstream.utils._warnings import warn

#: Texts that stand for a missing value, unless the user says otherwise; below, in columns of
#: numbers, times and booleans.
MARKS_OF_TEXTS = ("", "?")
NULL_VALUES = (*MARKS_OF_TEXTS, "NA", "N/A", "NaN", "nan", "null", "NULL")


class CSVStream(TableStream):
    r"""Stream of a CSV file, or of several in the natural order of their names, or as given.

    Files are read block by block, again at every pass, and never whole; the rules are those of
    `ParquetStream`. Files ending in ``.gz`` are decompressed while they are read. Needs pyarrow.

    Parameters
    ----------
    path : str, path-like, or list of them
        Path or URI (as ``"s3://bucket/folder"``) of a file, or of a folder of ``*.csv`` and
        ``*.csv.gz`` files with the same columns; or of files in the order in which they are to be
        read. Row order is time order. A folder is read in the natural order of names (part.2 before
        part.10), which the attribute `files` shows; files that begin with ".", "_" or "~" are left
        out. URIs are percent-encoded: a space is ``%20``, a ``#`` of a name ``%23``.
    target : str
        Column of the labels or targets.
    nominal : list of str, default=None
        Columns to read as categories even if they hold numbers; columns of texts always are.
    numeric : list of str, default=None
        Columns to read as numbers even if they look like categories.
    columns : list of str, default=None
        Feature columns, in this order. None takes all columns but the target, the columns named
        below, and those named in `exclude`.
    exclude : list of str, default=None
        Columns that are not features.
    text : str or list of str, default=None
        Columns of texts to be read as they are, for a vectorizer; see `ParquetStream`. What
        `null_values` names becomes an empty text, too.
    max_categories : int, default=None
        Largest number of categories of a feature: a column of more values is refused, also one in
        `nominal`. None: 1000 different texts, as more are free text or an identifier; columns in
        `nominal` are taken as they are.
    as_frame : bool, default=False
        If False, `X` is a float64 array, and nominal features are codes: positions in `categories`.
        If True, `X` is a pandas frame, and nominal features are categorical.
    chunk_size : int, default=65536
        Largest number of rows per chunk. No result depends on it.
    roles : dict of str to str, default=None
        Columns of meta data, by what they say: any of "sample_weight", "arrival", "label_time"
        and "id", as ``{"arrival": "when"}``. Dates and timestamps become ``datetime64``;
        a gap is NaN or NaT.
    options : dict, default=None
        How the files are read, as ``{"delimiter": ";", "decimal": ","}``, with any of these keys.

        - "delimiter" (","): character between the values.
        - "decimal" ("."): character before the decimals of a number.
        - "null_values" (None): texts that stand for a missing value. None: nothing at all and
          ``?``; in columns of numbers, times and booleans also ``NA``, ``N/A``, ``NaN``, ``nan``,
          ``null`` and ``NULL``, which are texts like others in a column of texts.
        - "missing" ("nan"): how a missing value in a feature is read; see `ParquetStream`.
        - "header" (True): whether the first line holds the names of the columns. If False, they are
          called "f0", "f1", and so on.
        - "encoding" ("utf-8"): how the file encodes characters.
        - "on_bad_lines" ("error"): what becomes of a line with more or fewer values than there are
          columns: an error; or with "skip" it is left out, and a warning says how many were.
        - "sort_by" (None): column of times or numbers in whose order the rows come, equal ones as
          in the file, and those without it last; all rows are then in memory. None: the order of
          the file, with a warning if the only column of dates goes back. False: that order, and no
          warning.
        - "time_format" (None): how columns of times are written, where that is not
          ``2020-01-31 13:30``: a format of ``strptime``, as ``"%d/%m/%Y"`` or ``"%m/%d/%Y %I:%M
          %p"``, or what numbers since 1970 (UTC) count, "s", "ms", "us" or "ns"; of the columns of
          arrival and label times, or a dict by column.
        - "filesystem" (None): where the paths are; see `ParquetStream`.

    Attributes
    ----------
    files : list of str
        Absolute paths or URIs of the files, in the order in which they are read.
    path : str or list of str
        Absolute path or URI of the file; all of `files` where there are several.
    kinds : dict of str to str
        Kind of every feature: "number", "category", "boolean", "time" or "text".
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
        If a column is not in the file, two columns have the same name, the files have other columns
        than the first, the first line shows another delimiter than the one given, or a parameter is
        out of range. While iterating: for texts that write numbers with a decimal comma,
        for a column of more than `max_categories` texts, and for missing values under
        ``{"missing": "error"}``.
    StreamError
        While iterating: for a row that does not fit the columns or their types, or a file that
        cannot be read further. Says which file and row.

    Warns
    -----
    UserWarning
        If a feature has no name, such as the index in a file written by pandas.
    UserWarning
        At the end of the first pass, if lines were left out (``{"on_bad_lines": "skip"}``).
    UserWarning
        While iterating, if a feature holds whole numbers beyond 2**53, which lose digits as floats,
        and `numeric` does not name it.

    See Also
    --------
    ParquetStream : The same for Parquet files, which declare their types.
    as_stream : Streams of data in memory.

    Notes
    -----
    Types are those of the first megabyte of the first file (ISO dates and times are recognised).
    The categories of a nominal column are its sorted values, found in a pass over the file; where
    all of them are numbers, they are sorted by value. Row 0 is the first below the header.

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
    _about_marks = "If it stands for a missing value, name it in options={'null_values': [...]}."

    default_options: ClassVar[dict[str, Any]] = {
        **TableStream.default_options,
        "delimiter": ",",
        "null_values": None,
        "decimal": ".",
        "header": True,
        "encoding": "utf-8",
        "on_bad_lines": "error",
    }

    def _take_options(self, options: dict[str, Any]) -> None:
        super()._take_options(options)
        self.delimiter = _one_character(options["delimiter"], "delimiter")
        self.decimal = _one_character(options["decimal"], "decimal")
        self.header = options["header"]
        if not isinstance(self.header, bool):
            raise TypeError(
                f"header must be True if the first line holds names, else False. Got "
                f"{self.header!r} instead."
            )
        self.encoding = check_encoding(options["encoding"])
        self.on_bad_lines = options["on_bad_lines"]
        check_choice(self.on_bad_lines, "on_bad_lines", ("error", "skip"))
        self._bad_lines: dict[str, BadLines] = {}  # by file, of the last pass through it
        self._said_bad_lines = False
        given = options["null_values"]
        self.null_values = None if given is None else _texts(given)
        self._marks = NULL_VALUES if given is None else self.null_values
        self._marks_of_texts = MARKS_OF_TEXTS if given is None else self.null_values

    def _warn_of_index(self) -> None:
        if "" in self._features:
            warn(
                f"A column of {self.files[0]} has no name (pandas writes the index of a frame so), "
                f"and is read as a feature. Leave it out with exclude=[''].",
            )

    def _text(self, file: str) -> CSVText:
        return CSVText(
            self._file(file), self.delimiter, self.decimal, self.encoding, header=self.header
        )

    def _types(self) -> dict[str, Any]:
        """Types of the first file; of the first that has values, where a column begins empty."""
        pa = optional_import("pyarrow", "CSVStream")
        types = self._types_in(self.files[0])
        for file in self.files[1:]:
            for name, kind in self._types_in(file).items():
                if name in types and pa.types.is_null(types[name]):
                    types[name] = kind
        self._whole = {name for name, kind in types.items() if pa.types.is_integer(kind)}
        self._empty = {name for name, kind in types.items() if pa.types.is_null(kind)}
        # Whole numbers in the first rows may be followed by fractions, and gaps by numbers.
        types |= dict.fromkeys(self._whole | self._empty, pa.float64())
        self._arrow_types = types
        return types

    def _types_in(self, file: str) -> dict[str, Any]:
        pa = optional_import("pyarrow", "CSVStream")
        self._text(file).check()
        with self._open(file, {}, None) as reader:
            types = {field.name: field.type for field in reader.schema}
        as_texts = {*self.nominal, *self.text, *self.time_format}
        types |= dict.fromkeys(as_texts & set(types), pa.string())
        return types | dict.fromkeys(set(self.numeric) & set(types), pa.float64())

    def _may_be_whole(self, name: str, kind: Any, largest: float) -> bool:
        # All features are read as floats: those of whole numbers in the first rows, and whole
        # numbers of more than 63 bits, which are no integers of Arrow.
        return name in self._whole or largest >= 2.0**63

    @property
    def _about_commas(self) -> str:  # type: ignore[override]
        if self.decimal == ",":
            return "Take separators of thousands out of the file."
        return (
            "If it is a decimal comma, pass options={'decimal': ','}; take a separator of "
            "thousands out of the file."
        )

    def _say_of_plain_numbers(self, name: str, n_values: int, example: str) -> None:
        if self.decimal != ".":
            raise ValueError(
                f"Column {name!r} holds numbers with a decimal point ({example!r}), which would be "
                f"read as categories, since decimal={self.decimal!r} was given. If they are "
                f"categories, name the column in nominal=."
            )

    def _not_there(self, parameter: str, name: str, names: list[str]) -> str:
        message = super()._not_there(parameter, name, names)
        if self.header and any(are_numbers([one]) for one in names):
            message += (
                " These look like values: if the file has no line of names, pass "
                "options={'header': False}, and the columns are called f0, f1, and so on."
            )
        return message

    def about_missing_label(self, row: int) -> str:
        """Say what stands in the file where a row has no label.

        Parameters
        ----------
        row : int
            Number of the row in the stream.

        Returns
        -------
        words : str
            File and line, and the text that was read as a missing label.
        """
        where, text = self._found(row)
        place = f"Row {row} is {where}"
        advice = f"pass nominal=[{self.target!r}]"
        if self.null_values is not None:
            advice = "take it out of options={'null_values': [...]}"
        if not text:
            return f"{place}, where column {self.target!r} is empty." if where else ""
        return (
            f"{place}, where the text {text!r} stands in column {self.target!r} and was "
            f"read as a missing label. If it is a label, {advice}."
        )

    def place_of(self, row: int) -> str:
        """Return where a row stands in its file: "line 5 of power.csv"; empty if that is not known.

        Parameters
        ----------
        row : int
            Number of the row in the stream, counted from 0.

        Returns
        -------
        place : str
            Line and file; a header counts as a line.
        """
        return self._found(row)[0]

    def _found(self, row: int) -> tuple[str, str]:
        """Return the place of a row, and the text of its label; both empty if it is not there."""
        column = list(self._arrow_types).index(self.target)
        width = len(self._arrow_types) if self.on_bad_lines == "skip" else None
        first, row = 0, self._row_in_files(row)
        for file in self.files:
            found = self._text(file).place_of_row(row - first, column, width)
            if found is not None:
                return f"line {found[0]} of {file}", found[1]
            first += sum(batch.num_rows for batch in self._batches_of(file, [self.target]))
        return "", ""

    def _check_same_columns(self, types: dict[str, Any], file: str) -> None:
        pa = optional_import("pyarrow", "CSVStream")
        # A column without a value in the first rows can have any type, and so can texts; whole
        # numbers are numbers.
        fitting = {
            name: self._arrow_types[name]
            for name, kind in types.items()
            if (pa.types.is_null(kind) and name in self._roles)
            or (self._roles.get(name) == NOMINAL)
            or (self._roles.get(name) == NUMBER and pa.types.is_integer(kind))
        }
        try:
            super()._check_same_columns(types | fitting, file)
        except ValueError as error:
            raise ValueError(f"{error} Columns of mixed values can be named in nominal=.") from None

    def _batches(self, columns: list[str]) -> Iterator[Any]:
        texts: set[str] = set()
        for batch in super()._batches(columns):
            if _TEXTS in batch.schema.names and len(texts) <= _MOST_LABELS:
                texts.update(batch.column(_TEXTS).unique().drop_null().to_pylist())
            yield batch
        if len(texts) <= _MOST_LABELS:
            self._check_labels({text.strip() for text in texts})
        self._say_bad_lines()

    def _check_labels(self, texts: set[str]) -> None:
        """Raise an error, or warn, if labels that are different texts became the same number."""
        if not all(float(text.replace(self.decimal, ".")).is_integer() for text in texts):
            return  # these are no labels
        same: dict[str, str] = {}
        whole = [text.lstrip("-") for text in texts]
        most = 2**63 if any(text.startswith("-") for text in texts) else 2**64
        exact = all(text.isdecimal() and int(text) < most for text in whole)
        for text in sorted(filter(str.isdecimal, texts)):
            if not exact and int(float(text)) != int(text):
                raise ValueError(
                    f"The target column {self.target!r} holds {text}, a whole number which would "
                    f"lose digits as a float. If it is a label, pass nominal=[{self.target!r}]; if "
                    f"a number, numeric=[{self.target!r}]."
                )
            other = same.setdefault(text.lstrip("0"), text)
            if other != text:
                warn(
                    f"The target column {self.target!r} holds {other!r} and {text!r}, which are "
                    f"the same number, and so one label. If they are two labels, pass "
                    f"nominal=[{self.target!r}]."
                )
                return

    def _say_bad_lines(self) -> None:
        """Warn once of the lines that were left out of a pass through all files."""
        found = {file: bad for file, bad in self._bad_lines.items() if bad.n_lines}
        if found and not self._said_bad_lines:
            self._said_bad_lines = True
            file, first = next(iter(found.items()))
            n_lines = sum(bad.n_lines for bad in found.values())
            line = self._text(file).line_of_other_width(len(self._arrow_types))
            lines = "1 line has" if n_lines == 1 else f"{n_lines:,} lines have"
            warn(
                f"{lines} more or fewer values than there are columns, and on_bad_lines='skip' "
                f"leaves {'it' if n_lines == 1 else 'them'} out. The first is line {line} "
                f"{first.about_first} of {file}."
            )

    def _batches_of(self, file: str, columns: list[str]) -> Iterator[Any]:
        pa = optional_import("pyarrow", "CSVStream")
        last = None
        bad_lines = BadLines()
        with self._open(file, dict.fromkeys(columns, pa.string()), columns, bad_lines) as reader:
            for batch in reader:
                last = batch if batch.num_rows else last
                for start in range(0, batch.num_rows, self.chunk_size):
                    yield self._typed(batch.slice(start, self.chunk_size))
        self._bad_lines[file] = bad_lines
        if last is not None:
            check_end(last, self.delimiter, len(self._arrow_types))

    def _typed(self, batch: Any) -> Any:
        """Record batch of texts as one of the types of its columns; raises `Misfit`."""
        pa = optional_import("pyarrow", "CSVStream")
        compute = optional_import("pyarrow.compute", "CSVStream")
        found, misfits = {}, []
        for name, column in zip(batch.schema.names, batch.columns, strict=True):
            kind = self._arrow_types[name]
            # What has marks of missing numbers alone may be a group NA.
            is_text = pa.types.is_string(kind) or name in self._empty & self._kept
            marks = pa.array(self._marks_of_texts if is_text else self._marks, pa.string())
            texts = compute.if_else(compute.is_in(column, value_set=marks), None, column)
            convert = partial(read_as, kind=kind, decimal=self.decimal)
            if name in self._own and self._roles[name] == NUMBER:
                convert = partial(own_numbers, decimal=self.decimal)
            try:
                found[name] = texts if is_text else convert(texts)
            except ValueError:
                row = first_misfit(texts, convert)
                misfits.append((row, name, texts[row].as_py()))
        if misfits:
            raise Misfit(*min(misfits))
        # A pass over the labels alone shows how they are written.
        is_number = self._roles[self.target] == NUMBER and self.target not in self.numeric
        if is_number and list(found) == [self.target]:
            found[_TEXTS] = texts
        return pa.RecordBatch.from_pydict(found)

    def _broken(
        self, file: str, first: int, row: int, columns: list[str], error: Exception
    ) -> StreamError:
        if not isinstance(error, Misfit):
            if not isinstance(error, FileNotFoundError):
                error = ValueError(self._text(file).in_words(error))
            return super()._broken(file, first, row, columns, error)
        name, place = error.name, row - first + error.row
        where = f"row {place}" if first == 0 else f"its row {place} (row {first + place} in all)"
        if name in self.numeric:
            reason = "which numeric= says to read as numbers. Marks"
        else:
            held = f"hold {_IN_WORDS[role_of(name, self._arrow_types[name])]} there"
            if name in self._empty:
                held = "have no value there, so that numbers were expected"
            reason = (
                f"but the first rows of {self.files[0]} {held}. A column of mixed values can be "
                f"named in nominal=, and marks"
            )
        return StreamError(
            f"{file} has the text {error.text!r} in column {name!r} at {where}, {reason} of "
            f"missing values can be named in options={{'null_values': [...]}}.",
            row,
            file,
        )

    def _open(
        self,
        file: str,
        types: dict[str, Any],
        columns: list[str] | None,
        bad_lines: BadLines | None = None,
    ) -> Any:
        pa = optional_import("pyarrow", "CSVStream")
        csv = optional_import("pyarrow.csv", "CSVStream")
        try:
            return csv.open_csv(
                self._file(file).text(),
                read_options=csv.ReadOptions(
                    autogenerate_column_names=not self.header, encoding=self.encoding
                ),
                parse_options=csv.ParseOptions(
                    delimiter=self.delimiter,
                    newlines_in_values=True,
                    invalid_row_handler=(
                        (bad_lines or BadLines()).left_out if self.on_bad_lines == "skip" else None
                    ),
                ),
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
            raise ValueError(
                f"{file} cannot be read as a CSV file: {self._text(file).in_words(error)}"
            ) from error


class Misfit(ValueError):
    """Error of a text that does not have the type of its column.

    Attributes
    ----------
    row : int
        Its number among the rows of a batch.
    name, text : str
        The column, and the text.
    """

    def __init__(self, row: int, name: str, text: str) -> None:
        super().__init__(text)
        self.row, self.name, self.text = row, name, text


#: A target of more different values holds no labels.
_MOST_LABELS = 1 << 16
#: Name of the texts of the target, in batches of a pass over the labels alone.
_TEXTS = "\0texts"
_IN_WORDS = {
    BOOLEAN: "true or false",
    INTEGER: "whole numbers",
    NUMBER: "numbers",
    TIME: "dates or times",
}


def _texts(null_values: Any) -> list[str]:
    texts = [null_values] if isinstance(null_values, str) else null_values
    if not isinstance(texts, list | tuple) or not all(isinstance(one, str) for one in texts):
        raise TypeError(f"null_values must be a list of texts. Got {null_values!r} instead.")
    return sorted(set(texts))


def _one_character(text: Any, parameter: str) -> str:
    if not isinstance(text, str) or len(text) != 1:
        raise ValueError(f"{parameter} must be one character. Got {text!r} instead.")
    return text
