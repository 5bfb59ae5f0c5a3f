"""Rows of sparse ARFF files, which name the attributes that are not 0."""

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from skstream.streams._arff_header import NOMINAL, STRING, Header, Misfit, split_pairs
from skstream.streams._arff_rows import as_batch, lines_of, misfit
from skstream.streams._csv_checks import first_misfit, read_as
from skstream.streams._table_parameters import shortened
from skstream.utils._optional import optional_import

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
