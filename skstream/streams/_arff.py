"""Stream of ARFF files, the lines of which scikit-learn's copy of liac-arff splits."""

import io
import re
from collections.abc import Iterator
from functools import cached_property
from itertools import chain, islice
from typing import Any, ClassVar, NamedTuple

import numpy as np
from scipy import sparse

from skstream.streams._columns import misfit, numbers_of, refuse_gap
from skstream.streams._files import FileSystem
from skstream.streams._table import Index, TableStream, check_encoding
from skstream.utils._optional import optional_import
from skstream.utils._rows import check_no_name_twice
from skstream.utils._sklearn import arff_values

#: Rows whose texts are in memory at once.
_ROWS = 4096
#: Column of a record batch that holds the features of each row that are not 0.
_CELLS = "\0cells"

NOMINAL, NUMBER, STRING, DATE = "nominal", "number", "string", "date"
_KINDS = dict.fromkeys(("numeric", "real", "integer"), NUMBER) | {"string": STRING, "date": DATE}
_QUOTED = r"""'(?:[^'\\]|\\.)*'|"(?:[^"\\]|\\.)*\""""
_ATTRIBUTE = re.compile(rf"@attribute\s+({_QUOTED}|[^\s{{'\"]+)\s*(\{{.*\}}|\w+)(.*)", re.I | re.S)
#: The weight of an attribute, which has no meaning here.
_WEIGHT = re.compile(r"\s*\{[-+.\deE\s]+\}$")
#: A line up to a comment: a percent sign that is not in quotes, which begin where a value does.
_BEFORE_COMMENT = re.compile(rf"(?:(?<![^\s,{{])(?:{_QUOTED})|[^%])*+", re.DOTALL)

#: A line of a file, with its number.
Line = tuple[int, str]


class Attribute(NamedTuple):
    """A column of an ARFF file: its kind, the values of a nominal one, the pattern of a date."""

    name: str
    kind: str
    values: tuple[str, ...] = ()
    pattern: str = ""


class Header(NamedTuple):
    """Columns of an ARFF file, whether its rows are sparse, and whether tabs separate values."""

    attributes: tuple[Attribute, ...]
    is_sparse: bool
    has_tabs: bool


class ARFFStream(TableStream):
    r"""Stream of one or several ARFF files.

    ARFF is the format of Weka, MOA and OpenML. Files are read block by block at every pass, never
    as a whole; the rules are those of `ParquetStream`. Files ending in ``.gz`` are decompressed
    while they are read. Needs pyarrow.

    Parameters
    ----------
    path : str, path-like, or list of them
        Path or URI (as ``"s3://bucket/folder"``) of a file, or of a folder of ``*.arff`` and
        ``*.arff.gz`` files with the same attributes; or a list of files in reading order. The order
        of rows is their order in time. A folder is read in the natural order of names (part.2
        before part.10), which the attribute `files` shows.
    target : str
        Attribute of the labels or targets; usually the last one, "class".
    nominal : list of str, default=None
        Attributes to read as categories, whatever their type; nominal and string attributes always
        are categories.
    numeric : list of str, default=None
        Nominal or string attributes that contain numbers, to be read as numbers.
    columns : list of str, default=None
        Features, in this order. None takes all attributes but the target, those named below, and
        those in `exclude`.
    exclude : list of str, default=None
        Attributes that are not features.
    text : str or list of str, default=None
        String attributes to be read as plain texts, for a vectorizer; see `ParquetStream`.
    max_categories : int, default=None
        Largest number of different texts of a string attribute; see `ParquetStream`.
    as_frame : bool, default=False
        If False, `X` is a float64 array, or a CSR matrix for a sparse file, and nominal features
        are codes: positions among the declared values. If True, `X` is a pandas frame, and nominal
        features are categorical.
    chunk_size : int, default=65536
        Largest number of rows per chunk. No result depends on it.
    roles : dict of str to str, default=None
        Attributes with meta data: any of "sample_weight", "arrival", "label_time" and "id", as
        ``{"arrival": "when"}``. Dates become ``datetime64``; a missing value is NaN or NaT.
    options : dict, default=None
        Reading options, with any of these keys.

        - "missing" ("nan"): how a missing value in a feature is read; see `ParquetStream`.
        - "encoding" ("utf-8"): how the file encodes characters.
        - "sort_by" (None), "time_format" (None): order of the rows, and how times are written; see
          `CSVStream`.
        - "filesystem" (None): where the paths are; see `ParquetStream`.

    Attributes
    ----------
    files : list of str
        Absolute paths or URIs of the files, in the order in which they are read.
    path : str or list of str
        Absolute path or URI of the file; the list `files` if there are several.
    kinds : dict of str to str
        Kind of every feature: "number", "category", "time" or "text".
    target : str
        Attribute of the labels.
    chunk_size : int
        Largest number of rows per chunk.
    missing : str or float
        Rule for missing values.
    as_frame : bool
        Whether chunks contain frames.
    encoding : str
        How the file encodes characters.

    Raises
    ------
    ValueError
        If the header cannot be read (the line is named), an attribute is not in the file, two have
        the same name, the files have other attributes than the first, or a parameter is out of
        range.
    StreamError
        While iterating: for a row with the wrong number of values, a value that is not declared or
        of the wrong type, a sparse index out of range, or an unclosed quote. The message names file
        and line, or row and column.

    See Also
    --------
    scipy.io.arff.loadarff : Reads a whole file of numbers and nominal values.
    CSVStream : The same for CSV files.
    SVMLightStream : The same for SVMlight files, which are sparse.

    Notes
    -----
    An unquoted question mark, or nothing, is a missing value. An unquoted percent sign begins a
    comment, up to the end of the line. Values with commas, percent signs, spaces or quotes must be
    in single or double quotes, with a backslash before a quote. Values are separated by commas or
    tabs; a trailing separator, as MOA writes it, is ignored. Dates become days since 1970-01-01, or
    seconds if their pattern has hours; they are read in ISO format (``2020-01-31T13:30:00``), or as
    "time_format" says.

    In a sparse row (``{1 0.5, 3 up}``), omitted numbers are 0 and omitted nominal attributes have
    their first value, whose code is 0; omitted texts and dates are missing. Features are then a CSR
    matrix, in which missing values are stored as NaN. Row weights after a row (``{5}``) and
    relational attributes are rejected; attribute weights are ignored.

    Examples
    --------
    >>> import tempfile
    >>> from pathlib import Path
    >>> from skstream.streams import ARFFStream
    >>> folder = tempfile.TemporaryDirectory()
    >>> path = Path(folder.name) / "power.arff"
    >>> _ = path.write_text('''@relation power
    ... @attribute load numeric
    ... @attribute day {Mon, Tue}
    ... @attribute class {up, down}
    ... @data
    ... 1,Tue,up
    ... 2,?,down
    ... ''')
    >>> for X, y, meta in ARFFStream(path, target="class"):
    ...     print(X.tolist(), y.tolist())
    [[1.0, 1.0], [2.0, nan]] ['up', 'down']
    >>> folder.cleanup()
    """

    suffixes = (".arff", ".arff.gz")
    default_options: ClassVar[dict[str, Any]] = {
        **TableStream.default_options,
        "encoding": "utf-8",
    }

    def _take_options(self, options: dict[str, Any]) -> None:
        super()._take_options(options)
        self.encoding = check_encoding(options["encoding"])

    @cached_property
    def _headers(self) -> dict[str, Header]:
        return {name: _opened(self._storage, name, self.encoding)[0] for name in self.files}

    def _attributes(self) -> Iterator[Attribute]:
        return chain.from_iterable(header.attributes for header in self._headers.values())

    @cached_property
    def _is_sparse(self) -> bool:
        """Whether the features are a CSR matrix."""
        is_matrix = not self.as_frame and not self.text
        if not is_matrix or not any(header.is_sparse for header in self._headers.values()):
            return False
        for name, kind, *_ in self._attributes():
            if name in self._features and (
                name in (*self.nominal, *self.numeric) or kind in (STRING, DATE)
            ):
                raise ValueError(
                    f"Column {name!r} is named in nominal= or numeric=, or contains texts or "
                    "dates, so it cannot be a feature in the CSR matrix of a sparse file. Leave "
                    "it out with exclude=, or pass as_frame=True."
                )
        return True

    def _types_in(self, file: str) -> dict[str, Any]:
        pa = optional_import("pyarrow", "ARFFStream")
        kinds = {NOMINAL: pa.dictionary(pa.int32(), pa.string()), NUMBER: pa.float64()}
        types = {}
        for name, kind, _, pattern in self._headers[file].attributes:
            date = pa.timestamp("us") if "H" in pattern else pa.date32()
            is_date = kind == DATE and name not in self.time_format
            types[name] = date if is_date else kinds.get(kind, pa.string())
        return types

    def _declared(self, columns: list[str]) -> dict[str, list[Any]]:
        found: dict[str, dict[str, None]] = {}
        for name, kind, values, _ in self._attributes():
            if name in columns and kind == NOMINAL:
                found.setdefault(name, {}).update(dict.fromkeys(values))
        return {name: list(values) for name, values in found.items()}

    def _declared_nominal(self) -> set[str]:
        attributes = self._headers[self.files[0]].attributes
        return {one.name for one in attributes if one.kind == NOMINAL}

    def _batches_of(self, file: str, columns: list[str]) -> Iterator[Any]:
        pa = optional_import("pyarrow", "ARFFStream")
        header, lines = _opened(self._storage, file, self.encoding)
        as_cells = header.is_sparse and self._is_sparse and columns == list(self._roles)
        dense = set(columns) - set(self._features if as_cells else ())
        first = self._first_rows[file]
        while some := list(islice(lines, min(self.chunk_size, _ROWS))):
            rows = [_row(header, line) for line in some]
            found = {}
            for place, one in enumerate(header.attributes):
                if one.name in dense:
                    values = [row[place] for row in rows] if not header.is_sparse else None
                    if values is None:
                        omitted = {NUMBER: "0", NOMINAL: one.values[:1]}.get(one.kind)
                        omitted = omitted[0] if isinstance(omitted, tuple) else omitted
                        values = [row.get(place, omitted) for row in rows]
                    found[one.name] = self._column(one, pa.array(values, pa.string()), first)
            if as_cells:
                kind = pa.list_(pa.struct([("feature", pa.int32()), ("value", pa.float64())]))
                found[_CELLS] = pa.array(self._cells(header, rows, first), kind)
            yield pa.record_batch(found)
            first += len(some)

    def _column(self, one: Attribute, texts: Any, first_row: int) -> Any:
        """Texts as values of an attribute; an error names the row of one that is none."""
        pa = optional_import("pyarrow", "ARFFStream")
        if one.kind == NOMINAL:
            return texts.dictionary_encode()
        if one.kind == NUMBER:
            return numbers_of(texts, one.name, first_row, whole=one.name in self._own)
        if one.kind == STRING or one.name in self.time_format:
            return texts
        kind = pa.timestamp("us") if "H" in one.pattern else pa.date32()
        try:
            return texts.cast(kind)
        except pa.ArrowInvalid:
            wanted = (
                "a date in ISO format. Give its format in "
                f"options={{'time_format': {{{one.name!r}: '%d.%m.%Y'}}}}"
            )
            raise misfit(texts, texts, kind, one.name, first_row, wanted) from None

    def _cells(
        self, header: Header, rows: list[dict[int, Any]], first_row: int
    ) -> list[list[tuple[int, float]]]:
        """Positions and values of the features that the rows name, NaN for missing ones."""
        index, found = self._index(self._features), []
        position = {name: k for k, name in enumerate(self._features)}
        names = [one.name for one in header.attributes]
        for number, row in enumerate(rows, first_row):
            cells: list[tuple[int, float]] = []
            for place, text in row.items():
                name = names[place]
                if name in position:
                    try:
                        code = float(text) if name not in index else index[name][text]
                        cells.append((position[name], code))
                    except (KeyError, ValueError, TypeError):
                        if text is not None:
                            raise ValueError(
                                f"Row {number} has the text {text!r} in column {name!r}, which is "
                                "neither a number nor one of its declared values."
                            ) from None
                        cells.append((position[name], np.nan))
            found.append(cells)
        return found

    def _rows(self, batch: Any, index: Index, first_row: int) -> Any:
        if not self._is_sparse:
            return super()._rows(batch, index, first_row)
        if _CELLS not in batch.schema.names:  # a dense file among sparse ones
            return sparse.csr_matrix(super()._rows(batch, index, first_row))
        column = batch.column(_CELLS)
        parts = column.values.field("value"), column.values.field("feature"), column.offsets
        # Copied: what Arrow holds cannot be written to.
        X = sparse.csr_matrix(tuple(map(np.array, parts)), (len(batch), len(self._features)))
        X.sort_indices()
        gaps = np.flatnonzero(np.isnan(X.data))
        if len(gaps) and self.missing != "nan":
            names = np.array(self._features)[X.indices[gaps]]
            row = np.searchsorted(X.indptr, gaps, side="right") - 1
            refuse_gap(self.missing, str(names[0]), np.arange(X.shape[0]) == row[0], first_row)
            X.data[gaps] = [-1.0 if name in index else float(self.missing) for name in names]
        return X


def _opened(storage: FileSystem, file: str, encoding: str) -> tuple[Header, Iterator[Line]]:
    """Return the header of a file, and the lines of its rows."""
    lines, attributes = _lines(storage.binary(file), file, encoding), []
    for number, line in lines:
        word = (line.split() or [""])[0].lower()
        if word == "@data":
            break
        while word == "@attribute" and "{" in line and not line.rstrip().endswith("}"):
            line += next(lines, (0, " }"))[1]  # nominal values on several lines
        try:
            if word == "@attribute":
                attributes.append(_attribute(line))
            elif word != "@relation":
                raise ValueError(
                    f"{line[:60]!r} is neither @relation, @attribute, @data nor a comment (%)."
                )
        except ValueError as error:
            raise ValueError(f"{file}, line {number}: {error}") from error
    if not attributes:
        raise ValueError(
            f"{file} cannot be read as an ARFF file: it declares no @attribute before @data."
        )
    check_no_name_twice([one.name for one in attributes], file)
    first = next(lines, None)
    row = "" if first is None else first[1]
    has_tabs = "\t" in row.strip() and "," not in row
    header = Header(tuple(attributes), row.lstrip().startswith("{"), has_tabs)
    return header, lines if first is None else chain([first], lines)


def _lines(opened: Any, file: str, encoding: str) -> Iterator[Line]:
    """Lines that are neither empty nor comments."""
    with io.TextIOWrapper(opened, encoding, newline="\n") as text:
        try:
            for number, line in enumerate(text, 1):
                # A tab at the end of a line stands before a missing value.
                line = line.removeprefix("\ufeff").strip(" \r\n")
                if "%" in line and (found := _BEFORE_COMMENT.match(line)):
                    line = line if found.end() == len(line) else found[0].rstrip()
                if line:
                    yield number, line
        except UnicodeDecodeError as error:
            raise ValueError(
                f"{file} is not encoded as {encoding}: byte {error.object[error.start]:#04x} has "
                f"no meaning in it. Pass options={{'encoding': 'latin-1'}}, say."
            ) from None


def _attribute(line: str) -> Attribute:
    found = _ATTRIBUTE.fullmatch(line)
    if found is None:
        raise ValueError(f"{line[:60]!r} does not declare a name and a type.")
    name, kind, rest = str(arff_values(found[1])[0]), found[2], found[3].strip()
    if kind.startswith("{"):
        kind = _WEIGHT.sub("", kind) or kind
        values = arff_values(kind[1:-1].rstrip().removesuffix(","))
        if None in values or len(set(values)) < len(values):
            raise ValueError(
                f"the values of {name!r} contain an empty one, an unquoted '?', or a duplicate."
            )
        return Attribute(name, NOMINAL, tuple(values))
    if kind.lower() not in _KINDS:
        raise ValueError(
            f"{name!r} has the type {kind!r}; known are numeric, real, integer, string, date and "
            "{values}."
        )
    # Weka's own pattern has hours.
    return Attribute(name, _KINDS[kind.lower()], pattern=_WEIGHT.sub("", rest) or "H")


def _row(header: Header, line: Line) -> Any:
    """Return the values in a line: a list, or a dict by their places in a sparse file."""
    number, text = line
    width = len(header.attributes)
    try:
        row = arff_values(text.replace("\t", ",") if header.has_tabs else text)
    except ValueError as error:
        raise ValueError(f"line {number}: {error}") from None
    if isinstance(row, dict) != header.is_sparse:
        raise ValueError(f"line {number}: sparse rows {{...}} and rows of all values are mixed.")
    if header.is_sparse:
        if max(row, default=0) >= width:
            raise ValueError(
                f"line {number}: the index {max(row)} is out of range: {width} attributes are "
                f"declared, and the first has the index 0."
            )
        return row
    if len(row) == width + 1 and row[-1] is None:
        row.pop()  # MOA writes a comma behind the last value
    if len(row) != width:
        raise ValueError(
            f"line {number}: {len(row)} values, but {width} attributes are declared: {text[:60]!r}."
        )
    return row
