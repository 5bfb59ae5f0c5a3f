"""Stream of ARFF files."""

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from skstream.streams._arff_header import INTEGER, NOMINAL, STRING, Header, Misfit, split_pairs
from skstream.streams._arff_rows import RowReader, as_batch, lines_of, misfit, open_rows
from skstream.streams._chunk import StreamError
from skstream.streams._columns import refuse_gap
from skstream.streams._csv_checks import first_misfit, read_as
from skstream.streams._table import Index, TableStream
from skstream.streams._table_parameters import check_encoding, shortened
from skstream.utils._optional import optional_import


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
    A question mark without quotes, or nothing, is a missing value. A percent sign at the beginning
    of a line makes it a comment. Values with commas, spaces at their ends or quotes stand in single
    or double quotes; a backslash in them takes the next sign as it is. Commas separate values, or
    tabs. Dates are days, or seconds since 1970-01-01, as their pattern has times or not; patterns
    are those of Java, in digits, and the default is ``yyyy-MM-dd'T'HH:mm:ss``.

    In a sparse row (``{1 0.5, 3 up}``) what is not named is 0, and for a nominal attribute its
    first value, whose code is 0; texts and dates that are not named are missing. Features are then
    a CSR matrix, where missing values are stored as NaN. Weights of rows behind them (``{5}``) and
    relational attributes are refused.

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

    def row_options(self) -> dict[str, Any]:
        """Return how the files are read, where that decides which rows come.

        Returns
        -------
        options : dict of str to object
            Values by name.
        """
        return {**super().row_options(), "encoding": self.encoding}

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
        first = 0
        for file in self.files:
            header, blocks = open_rows(self._file(file), self.encoding)
            line = header.n_lines + 1
            for block in blocks:
                numbers = [number for number, _ in lines_of(block, line)]
                if row < first + len(numbers):
                    place = f"Row {row} is line {numbers[row - first]} of {file}"
                    return f"{place}, where column {self.target!r} has no value."
                first += len(numbers)
                line += block.count(b"\n")
        return ""

    @cached_property
    def _headers(self) -> dict[str, Header]:
        return {file: open_rows(self._file(file), self.encoding)[0] for file in self.files}

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
        for header in self._headers.values():
            for attribute in header.attributes:
                name = attribute.name
                if name not in self._features:
                    continue
                chosen = (name in self.nominal) or (name in self.numeric)
                if chosen or attribute.kind == STRING or attribute.date is not None:
                    what = (
                        "is named in nominal= or numeric="
                        if chosen
                        else f"holds {'texts' if attribute.kind == STRING else 'dates'}"
                    )
                    raise ValueError(
                        f"Column {name!r} {what}, and in the CSR matrix of a sparse file it cannot "
                        f"be a feature. Leave it out with exclude=, or pass as_frame=True."
                    )

    def _types_in(self, file: str) -> dict[str, Any]:
        plain = {self.target, *self._meta.values()}
        return {
            attribute.name: attribute.arrow_type(whole=attribute.name in plain)
            for attribute in self._headers[file].attributes
        }

    def _declared(self, columns: list[str]) -> dict[str, list[Any]]:
        found: dict[str, dict[str, None]] = {}
        for header in self._headers.values():
            for attribute in header.attributes:
                if attribute.name in columns and attribute.kind == NOMINAL:
                    values = dict.fromkeys(attribute.categories)
                    found[attribute.name] = found.get(attribute.name, {}) | values
        return {name: list(values) for name, values in found.items()}

    def _declared_nominal(self) -> set[str]:
        header = self._headers[self.files[0]]
        return {one.name for one in header.attributes if one.kind == NOMINAL}

    def _holds_integers(self, name: str, kind: Any) -> bool:
        header = self._headers[self.files[0]]
        return any(one.name == name and one.kind == INTEGER for one in header.attributes)

    def _batches_of(self, file: str, columns: list[str]) -> Iterator[Any]:
        header, blocks = open_rows(self._file(file), self.encoding)
        types = self._types_in(file)
        as_cells = self._is_sparse and columns == list(self._roles)
        dense = [name for name in columns if not (as_cells and name in self._features)]
        wanted = {name: types[name] for name in dense}
        reader: Any = RowReader(header, {name: types[name] for name in columns})
        if header.is_sparse:
            index = self._index(self._features) if as_cells else {}
            cells = {name: index.get(name) for name in self._features} if as_cells else None
            reader = SparseReader(header, wanted, cells)
        line = header.n_lines + 1
        for block in blocks:
            batch = reader.read(block, line)
            for start in range(0, batch.num_rows, self.chunk_size):
                yield batch.slice(start, self.chunk_size)
            line += block.count(b"\n")

    def _rows(self, batch: Any, index: Index, first_row: int) -> Any:
        if not self._is_sparse:
            return super()._rows(batch, index, first_row)
        if CELLS not in batch.schema.names:  # a dense file among sparse ones
            return sparse.csr_matrix(super()._rows(batch, index, first_row))
        X = matrix_of(batch.column(CELLS), len(self._features))
        gaps = np.flatnonzero(np.isnan(X.data))
        if len(gaps) and self.missing != "nan":
            names = np.array(self._features)[X.indices[gaps]]
            row = np.searchsorted(X.indptr, gaps, side="right") - 1
            refuse_gap(self.missing, str(names[0]), np.arange(X.shape[0]) == row[0], first_row)
            fill = [-1.0 if self._is_nominal(name) else float(self.missing) for name in names]
            X.data[gaps] = fill
        return X

    def _broken(
        self, file: str, first: int, row: int, columns: list[str], error: Exception
    ) -> StreamError:
        if isinstance(error, Misfit):
            return StreamError(f"{file}, {error}", row, file)
        return super()._broken(file, first, row, columns, error)


#: Column of a record batch that holds the features of each row that are not 0.
CELLS = "\0cells"


@dataclass(frozen=True)
class Cells:
    """Values that some lines name.

    Attributes
    ----------
    lines : ndarray of shape (n_rows,)
        Numbers of the lines.
    lengths : ndarray of shape (n_rows,)
        Number of values of each row.
    places : ndarray of shape (n_values,)
        Position of the attribute of each value.
    texts : Arrow array of shape (n_values,)
        The values as they are written; null for missing ones.
    """

    lines: NDArray[np.int64]
    lengths: NDArray[np.int64]
    places: NDArray[np.int64]
    texts: Any

    @property
    def rows(self) -> NDArray[np.int64]:
        """Row of each value."""
        return np.repeat(np.arange(len(self.lengths)), self.lengths)

    def column(self, place: int, omitted: str | None) -> Any:
        """Texts of an attribute in all rows."""
        pa = optional_import("pyarrow", "ARFFStream")
        named = np.flatnonzero(self.places == place)
        index = np.full(len(self.lengths), len(named))
        index[self.rows[named]] = np.arange(len(named))
        texts = pa.concat_arrays(
            [self.texts.take(pa.array(named)), pa.array([omitted], pa.string())]
        )
        return texts.take(pa.array(index))


class SparseReader:
    """Reads blocks of lines of a sparse ARFF file.

    Parameters
    ----------
    header : Header
        Header of the file.
    columns : dict of str to Arrow type
        Columns wanted with a value in every row, with their types.
    features : dict of str to (dict or None), default=None
        Columns wanted in `CELLS`, in their order: codes of the categories, or None for numbers.
    """

    def __init__(
        self,
        header: Header,
        columns: dict[str, Any],
        features: dict[str, dict[Any, int] | None] | None = None,
    ) -> None:
        self._header = header
        self._columns = columns
        self._places = {attribute.name: j for j, attribute in enumerate(header.attributes)}
        self._features = features
        # Position of each attribute among the features; -1 for none.
        self._positions = np.full(len(header.attributes), -1)
        for position, name in enumerate(features or ()):
            self._positions[self._places[name]] = position
        self._codes = [(features or {}).get(one.name) for one in header.attributes]
        self._is_nominal = np.array([one.kind == NOMINAL for one in header.attributes])

    def read(self, block: bytes, first_line: int) -> Any:
        """Record batch of the rows in a block of lines; raises `Misfit`."""
        cells = _fast(block, first_line) or _split(block, first_line)
        self._check(cells)
        batch = as_batch(
            self._columns,
            self._header.attributes,
            lambda place: cells.column(place, self._omitted(place)),
            cells.lines,
        )
        return batch if self._features is None else batch.append_column(CELLS, self._listed(cells))

    def _omitted(self, place: int) -> str | None:
        attribute = self._header.attributes[place]
        if attribute.kind == NOMINAL:
            return attribute.categories[0]
        return None if attribute.kind == STRING or attribute.date is not None else "0"

    def _check(self, cells: Cells) -> None:
        """Raise an error if attributes are not there, or do not stand in their order."""
        width, rows, places = len(self._header.attributes), cells.rows, cells.places
        beyond = np.flatnonzero((places < 0) | (places >= width))
        if len(beyond):
            cell = int(beyond[0])
            raise Misfit(
                int(cells.lines[rows[cell]]),
                f"the index {places[cell]} is out of range: {width} attributes are declared, and "
                f"the first has the index 0.",
            )
        falls = np.flatnonzero((np.diff(places) <= 0) & (np.diff(rows) == 0))
        if len(falls):
            cell = int(falls[0])
            raise Misfit(
                int(cells.lines[rows[cell]]),
                f"the index {places[cell + 1]} comes after {places[cell]}, and indices must "
                f"increase.",
            )

    def _listed(self, cells: Cells) -> Any:
        """Lists of the features of each row that are not 0; NaN for missing ones."""
        pa = optional_import("pyarrow", "ARFFStream")
        positions = self._positions[cells.places]
        wanted = np.flatnonzero(positions >= 0)
        is_nominal = self._is_nominal[cells.places[wanted]]
        values = np.empty(len(wanted))
        values[is_nominal] = self._codes_of(cells, wanted[is_nominal])
        values[~is_nominal] = self._numbers_of(cells, wanted[~is_nominal])
        counts = np.bincount(cells.rows[wanted], minlength=len(cells.lengths))
        return pa.ListArray.from_arrays(
            pa.array(np.append(0, np.cumsum(counts)), pa.int32()),
            pa.StructArray.from_arrays(
                [pa.array(positions[wanted]), pa.array(values)], ["feature", "value"]
            ),
        )

    def _numbers_of(self, cells: Cells, chosen: NDArray[np.int64]) -> NDArray[np.float64]:
        pa = optional_import("pyarrow", "ARFFStream")

        def read(texts: Any) -> Any:
            return read_as(texts, pa.float64(), ".")

        texts = cells.texts.take(pa.array(chosen))
        for cell, text in first_misfit(texts, read):
            raise self._misfit(cells, int(chosen[cell]), text)
        numbers: NDArray[np.float64] = read(texts).to_numpy(zero_copy_only=False)
        return numbers

    def _codes_of(self, cells: Cells, chosen: NDArray[np.int64]) -> NDArray[np.float64]:
        """Codes of nominal values; each pair of attribute and text is looked up once."""
        pa = optional_import("pyarrow", "ARFFStream")
        encoded = cells.texts.take(pa.array(chosen)).dictionary_encode()
        words = [*encoded.dictionary.to_pylist(), None]
        word = encoded.indices.fill_null(len(words) - 1).to_numpy(zero_copy_only=False)
        pairs, first, back = np.unique(
            cells.places[chosen] * len(words) + word, return_index=True, return_inverse=True
        )
        codes = np.full(len(pairs), np.nan)
        for k in np.argsort(first).tolist():
            place, text = int(pairs[k]) // len(words), words[int(pairs[k]) % len(words)]
            if text is not None:
                code = (self._codes[place] or {}).get(text)
                if code is None:
                    raise self._misfit(cells, int(chosen[first[k]]), text)
                codes[k] = code
        return codes[back]

    def _misfit(self, cells: Cells, cell: int, text: str) -> Misfit:
        line, place = int(cells.lines[cells.rows[cell]]), int(cells.places[cell])
        return misfit(line, text, self._header.attributes[place])


def matrix_of(column: Any, n_features: int) -> sparse.csr_matrix:
    """CSR matrix of the lists of a `CELLS` column."""
    compute = optional_import("pyarrow.compute", "ARFFStream")
    lengths = compute.list_value_length(column).to_numpy(zero_copy_only=False)
    cells = column.flatten()
    matrix = sparse.csr_matrix(
        (
            np.array(cells.field("value")),  # copied: what Arrow holds cannot be written to
            np.array(cells.field("feature")),
            np.append(0, np.cumsum(lengths)),
        ),
        shape=(len(lengths), n_features),
    )
    matrix.sort_indices()
    return matrix


def _fast(block: bytes, first_line: int) -> Cells | None:
    """Values of a block without quotes, comments and empty lines; None if it has some."""
    pa = optional_import("pyarrow", "ARFFStream")
    csv = optional_import("pyarrow.csv", "ARFFStream")
    if any(sign in block for sign in (b"'", b'"', b"%", b"\\", b"\t")):
        return None
    block = block.replace(b"\r\n", b"\n").rstrip(b"\n")
    for spaced, tight in ((b", ", b","), (b" ,", b","), (b"{ ", b"{"), (b" }", b"}")):
        while spaced in block:
            block = block.replace(spaced, tight)
    signs = np.frombuffer(block, dtype=np.uint8)
    opened, closed, commas = (np.flatnonzero(signs == ord(sign)) for sign in "{},")
    n_rows = block.count(b"}\n{") + 1
    # Every line is one row in braces.
    if not (
        len(opened) == len(closed) == n_rows == block.count(b"\n") + 1
        and block.startswith(b"{")
        and block.endswith(b"}")
    ):
        return None
    lengths = np.diff(np.append(np.searchsorted(commas, opened), len(commas))) + 1
    lengths[signs[opened + 1] == ord("}")] = 0
    pairs = block.translate(None, b"{}").replace(b",", b"\n") + b"\n"
    if not pairs.strip():
        return _split(block, first_line)
    try:
        table = csv.read_csv(
            pa.BufferReader(pairs),
            read_options=csv.ReadOptions(column_names=["place", "text"], block_size=len(pairs) + 1),
            parse_options=csv.ParseOptions(delimiter=" ", quote_char=False),
            convert_options=csv.ConvertOptions(
                column_types={"place": pa.int64(), "text": pa.string()},
                null_values=["?"],
                strings_can_be_null=True,
            ),
        )
    except ValueError:
        return None
    if len(table) != int(lengths.sum()) or table.column("place").null_count:
        return None
    return Cells(
        np.arange(first_line, first_line + n_rows),
        lengths,
        table.column("place").to_numpy(),
        table.column("text").combine_chunks(),
    )


def _split(block: bytes, first_line: int) -> Cells:
    """Values of a block of lines."""
    pa = optional_import("pyarrow", "ARFFStream")
    lines, lengths = [], []
    places: list[int] = []
    texts: list[str | None] = []
    for number, line in lines_of(block, first_line):
        line = line.strip()
        if not (line.startswith("{") and line.endswith("}")):
            raise Misfit(
                number,
                f"{shortened(line)!r} is no sparse row {{index value, ...}}, as the first row is.",
            )
        try:
            pairs = split_pairs(line[1:-1])
        except ValueError as error:
            raise Misfit(number, str(error)) from error
        lines.append(number)
        lengths.append(len(pairs))
        places.extend(place for place, _ in pairs)
        texts.extend(text for _, text in pairs)
    return Cells(
        np.array(lines, dtype=np.int64),
        np.array(lengths, dtype=np.int64),
        np.array(places, dtype=np.int64),
        pa.array(texts, pa.string()),
    )
