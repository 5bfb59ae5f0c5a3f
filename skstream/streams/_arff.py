"""Stream of ARFF files."""

from collections.abc import Callable, Iterator
from functools import cached_property
from itertools import islice
from typing import Any, ClassVar

import numpy as np
from scipy import sparse

from skstream.core.rows.chunk import StreamError
from skstream.streams._arff_format import (
    DATE,
    INTEGER,
    NOMINAL,
    STRING,
    Header,
    Line,
    Misfit,
    Row,
    open_arff,
)
from skstream.streams._columns import refuse_gap
from skstream.streams._file_stream import beginning_of
from skstream.streams._table import Index, TableStream
from skstream.streams._table_parameters import check_encoding
from skstream.utils._optional import optional_import

#: Rows whose texts are in memory at once.
_ROWS = 4096
#: Column of a record batch that holds the features of each row that are not 0.
_CELLS = "\0cells"

#: Positions of the features in the matrix by their places in the file, and what reads their texts.
Readers = dict[int, tuple[int, Callable[[str], Any]]]


class ARFFStream(TableStream):
    r"""Stream of an ARFF file, or of several in the natural order of their names, or as given.

    ARFF is the format of Weka, MOA and OpenML. Files are read block by block, again at every pass,
    and never whole; the rules are those of `ParquetStream`. Files ending in ``.gz`` are
    decompressed while they are read. Needs pyarrow.

    Parameters
    ----------
    path : str, path-like, or list of them
        Path or URI (as ``"s3://bucket/folder"``) of a file, or of a folder of ``*.arff`` and
        ``*.arff.gz`` files with the same attributes; or of files in the order in which they are to
        be read. Row order is time order. A folder is read in the natural order of names (part.2
        before part.10), which the attribute `files` shows.
    target : str
        Attribute of the labels or targets; usually the last one, "class".
    nominal : list of str, default=None
        Attributes to read as categories whatever their type; nominal and string attributes always
        are.
    numeric : list of str, default=None
        Nominal or string attributes that hold numbers and are to be read as such.
    columns : list of str, default=None
        Features, in this order. None takes all attributes but the target, those named below, and
        those in `exclude`.
    exclude : list of str, default=None
        Attributes that are not features.
    text : str or list of str, default=None
        String attributes to be read as they are, for a vectorizer; see `ParquetStream`.
    max_categories : int, default=None
        Largest number of different texts of a string attribute; see `ParquetStream`.
    as_frame : bool, default=False
        If False, `X` is a float64 array, of a sparse file a CSR matrix, and nominal features are
        codes: positions among the declared values. If True, `X` is a pandas frame, and nominal
        features are categorical.
    chunk_size : int, default=65536
        Largest number of rows per chunk. No result depends on it.
    roles : dict of str to str, default=None
        Attributes of meta data, by what they say: any of "sample_weight", "arrival", "label_time"
        and "id", as ``{"arrival": "when"}``. Dates become ``datetime64``; a gap is NaN or
        NaT.
    options : dict, default=None
        How the files are read, with any of these keys.

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
        Absolute path or URI of the file; all of `files` where there are several.
    kinds : dict of str to str
        Kind of every feature: "number", "category", "time" or "text".
    target : str
        Attribute of the labels.
    chunk_size : int
        Largest number of rows per chunk.
    missing : str or float
        Rule for missing values.
    as_frame : bool
        Whether chunks hold frames.
    encoding : str
        How the file encodes characters.

    Raises
    ------
    ValueError
        If the header cannot be read (the line is named), an attribute is not in the file, two have
        the same name, the files have other attributes than the first, or a parameter is out of
        range.
    StreamError
        While iterating: for a row of another width, a value that is not declared or not of its
        type, an index of a sparse row that is out of range or does not increase, a quote that is
        not closed. Says file, line and column.

    See Also
    --------
    scipy.io.arff.loadarff : Reads a whole file of numbers and nominal values.
    CSVStream : The same for CSV files.
    SVMLightStream : The same for SVMlight files, which are sparse.

    Notes
    -----
    A question mark without quotes, or nothing, is a missing value. A percent sign without quotes
    begins a comment, up to the end of its line. Values with commas, percent signs, spaces at their
    ends or quotes stand in single or double quotes; a backslash in them takes the next sign as it
    is. Commas separate values, or tabs; one more behind the last value, as MOA writes it, is no
    value. Dates are days, or seconds since 1970-01-01, as their pattern has times or not; patterns
    are those of Java, in digits, and the default is ``yyyy-MM-dd'T'HH:mm:ss``.

    In a sparse row (``{1 0.5, 3 up}``) what is not named is 0, and for a nominal attribute its
    first value, whose code is 0; texts and dates that are not named are missing. Features are then
    a CSR matrix, where missing values are stored as NaN. Weights of rows behind them (``{5}``) and
    relational attributes are refused; weights of attributes have no meaning here.

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
    _about_commas = "Write the numbers with a point, and declare the attribute numeric."
    _about_marks = "If it stands for a missing value, write ? in the file."

    default_options: ClassVar[dict[str, Any]] = {
        **TableStream.default_options,
        "encoding": "utf-8",
    }

    def _take_options(self, options: dict[str, Any]) -> None:
        super()._take_options(options)
        self.encoding = check_encoding(options["encoding"])

    def about_missing_label(self, row: int) -> str:
        """Say in which line of which file a row without a label stands.

        Parameters
        ----------
        row : int
            Number of the row in the stream.

        Returns
        -------
        words : str
            File and line.
        """
        where = self.place_of(row)
        return where and f"Row {row} is {where}, where column {self.target!r} has no value."

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
        first, row = 0, self._row_in_files(row)
        for file in self.files:
            _, lines = open_arff(self._file(file), self.encoding)
            for number, (line, _) in enumerate(lines, first):
                if number == row:
                    return f"line {line} of {file}"
                first = number + 1
        return ""

    @cached_property
    def _headers(self) -> dict[str, Header]:
        headers = {}
        for name in self.files:
            file = self._file(name)
            beginning_of(file, "an ARFF", ".arff")
            headers[name] = open_arff(file, self.encoding)[0]
        return headers

    @property
    def _is_sparse(self) -> bool:
        """Whether the features are a CSR matrix."""
        is_matrix = not self.as_frame and not self.text
        return is_matrix and any(header.is_sparse for header in self._headers.values())

    def _check_files(self, first: dict[str, Any]) -> None:
        super()._check_files(first)
        if self._is_sparse:
            self._check_sparse()

    def _check_sparse(self) -> None:
        """Raise an error for features whose value 0 is not what a row leaves out."""
        features, held = set(self._features), {STRING: "holds texts", DATE: "holds dates"}
        for attribute in (one for header in self._headers.values() for one in header.attributes):
            chosen = attribute.name in (*self.nominal, *self.numeric)
            if attribute.name in features and (chosen or attribute.kind in held):
                what = "is named in nominal= or numeric=" if chosen else held[attribute.kind]
                raise ValueError(
                    f"Column {attribute.name!r} {what}, and in the CSR matrix of a sparse file it "
                    f"cannot be a feature. Leave it out with exclude=, or pass as_frame=True."
                )

    def _types_in(self, file: str) -> dict[str, Any]:
        return {
            attribute.name: attribute.arrow_type(whole=attribute.name in self._own)
            for attribute in self._headers[file].attributes
        }

    def _declared(self, columns: list[str]) -> dict[str, list[Any]]:
        found: dict[str, dict[str, None]] = {}
        wanted = set(columns)
        for header in self._headers.values():
            for attribute in header.attributes:
                if attribute.name in wanted and attribute.kind == NOMINAL:
                    values = dict.fromkeys(attribute.categories)
                    found[attribute.name] = found.get(attribute.name, {}) | values
        return {name: list(values) for name, values in found.items()}

    def _declared_nominal(self) -> set[str]:
        header = self._headers[self.files[0]]
        return {one.name for one in header.attributes if one.kind == NOMINAL}

    def _may_be_whole(self, name: str, kind: Any, largest: float) -> bool:
        attributes = self._headers[self.files[0]].attributes
        return any(one.name == name and one.kind == INTEGER for one in attributes)

    def _batches_of(self, file: str, columns: list[str]) -> Iterator[Any]:
        pa = optional_import("pyarrow", "ARFFStream")
        header, lines = open_arff(self._file(file), self.encoding)
        as_cells = header.is_sparse and self._is_sparse and columns == list(self._roles)
        dense = set(columns) - set(self._features if as_cells else ())
        types = {name: kind for name, kind in self._types_in(file).items() if name in dense}
        readers = self._readers(header) if as_cells else {}
        while some := list(islice(lines, min(self.chunk_size, _ROWS))):
            rows = [header.row(number, line) for number, line in some]
            found = header.columns(some, rows, types, self._own)
            if as_cells:
                kind = pa.list_(pa.struct([("feature", pa.int32()), ("value", pa.float64())]))
                found[_CELLS] = pa.array(_cells(header, some, rows, readers), kind)
            yield pa.record_batch(list(found.values()), names=list(found))

    def _readers(self, header: Header) -> Readers:
        index = self._index(self._features)
        positions = {name: position for position, name in enumerate(self._features)}
        return {
            place: (
                positions[one.name],
                index[one.name].__getitem__ if one.name in index else float,
            )
            for place, one in enumerate(header.attributes)
            if one.name in positions
        }

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

    def _broken(
        self, file: str, first: int, row: int, columns: list[str], error: Exception
    ) -> StreamError:
        if isinstance(error, Misfit):
            return StreamError(f"{file}, {error}", row, file)
        return super()._broken(file, first, row, columns, error)


def _cells(
    header: Header, lines: list[Line], rows: list[Row], readers: Readers
) -> list[list[tuple[int, float]]]:
    """Positions and values of the features that the rows name, NaN for missing ones."""
    found = []
    for (number, _), row in zip(lines, rows, strict=True):
        cells = []
        for place, text in row.items():
            if place in readers:
                position, read = readers[place]
                try:
                    cells.append((position, np.nan if text is None else read(text)))
                except (KeyError, ValueError):
                    raise header.attributes[place].misfit(number, str(text)) from None
        found.append(cells)
    return found
