"""Rows of ARFF files, block by block, as columns of Arrow."""

import re
from codecs import getincrementaldecoder
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from itertools import count
from typing import Any

import numpy as np
from numpy.typing import NDArray

from skstream.streams._arff_header import (
    DATE,
    NOMINAL,
    STRING,
    Attribute,
    Header,
    Misfit,
    attributes_of,
    split_values,
)
from skstream.streams._csv_checks import first_misfit, read_as
from skstream.streams._file_stream import not_encoded, refuse_other_kinds
from skstream.streams._file_system import DataFile
from skstream.streams._table_parameters import shortened
from skstream.utils._optional import optional_import

_BLOCK = 1 << 21
_DATA = re.compile(rb"^[ \t]*@data\b[^\n]*(?:\n|\Z)", re.IGNORECASE | re.MULTILINE)
_FIRST_ROW = re.compile(rb"^[ \t]*([^%\s][^\n]*)", re.MULTILINE)
_QUOTED = {
    # The quote comes first, so that the search goes from one quote to the next.
    quote: re.compile(b"%s(?<![^,\t\n]%s)[^%s\n]*%s(?![^,\t\r\n])" % (quote, quote, quote, quote))
    for quote in (b"'", b'"')
}
_COMMENT = re.compile(rb"^[ \t]*%[^\n]*\n?", re.MULTILINE)
_NULLS = ["?", "", " ?", " ", "? "]
_SINGLE_DIGIT = r"\b(\d)\b"


def utf8_blocks(file: DataFile, encoding: str) -> Iterator[bytes]:
    """Blocks of a text file, encoded as UTF-8, without a mark of its byte order."""
    decoder = getincrementaldecoder(encoding)()
    with file.text() as stream:
        for number in count():
            try:
                raw = stream.read(_BLOCK)
            except OSError as error:
                if number:
                    raise
                raise ValueError(f"{file} cannot be read as an ARFF file: {error}") from error
            if number == 0:
                refuse_other_kinds(file, raw, "ARFF", ".arff")
            try:
                text = decoder.decode(raw, final=not raw)
            except UnicodeDecodeError as error:
                raise not_encoded(file, encoding, error) from None
            if number == 0:
                text = text.removeprefix("\ufeff")
            if not raw:
                return
            yield text.encode()


def open_rows(file: DataFile, encoding: str) -> tuple[Header, Iterator[bytes]]:
    """Header of a file, and blocks of whole lines below it.

    Raises
    ------
    ValueError
        If the file is empty, has no line ``@data``, or another error is in its header.
    """
    blocks = utf8_blocks(file, encoding)
    head = next(blocks, b"")
    if not head.strip():
        raise ValueError(f"{file} cannot be read as an ARFF file: it is empty.")
    while (data := _DATA.search(head)) is None:
        more = next(blocks, None)
        if more is None:
            raise ValueError(
                f"{file} cannot be read as an ARFF file: it has no line @data. It begins with "
                f"{shortened(head.decode().strip().splitlines()[0])!r}."
            )
        head += more
    try:
        attributes = attributes_of(head[: data.start()].decode(), str(file))
    except Misfit as error:
        raise ValueError(f"{file}, {error}") from error
    rest = head[data.end() :]
    first = _FIRST_ROW.search(rest)
    while first is None and (more := next(blocks, None)) is not None:
        rest += more
        first = _FIRST_ROW.search(rest)
    row = first[1] if first is not None else b""
    delimiter = "\t" if b"\t" in row.strip() and b"," not in row else ","
    n_lines = head[: data.end()].count(b"\n")
    return Header(attributes, n_lines, row.startswith(b"{"), delimiter), _whole(rest, blocks)


def _whole(rest: bytes, blocks: Iterator[bytes]) -> Iterator[bytes]:
    for block in blocks:
        cut = block.rfind(b"\n") + 1
        if cut:
            yield rest + block[:cut]
            rest = block[cut:]
        else:
            rest += block
    if rest.strip():
        yield rest


class RowReader:
    """Reads blocks of lines into some columns of a dense ARFF file.

    Parameters
    ----------
    header : Header
        Header of the file.
    columns : dict of str to Arrow type
        Columns wanted, with their types.
    """

    def __init__(self, header: Header, columns: dict[str, Any]) -> None:
        self._header = header
        self._columns = columns
        self._places = {attribute.name: j for j, attribute in enumerate(header.attributes)}

    def read(self, block: bytes, first_line: int) -> Any:
        """Record batch of the rows in a block of lines; raises `Misfit`."""
        rows = _COMMENT.sub(b"", block) if b"%" in block else block
        quote = _quote(rows, self._header.delimiter)
        if quote is not None:
            try:
                return self._fast(rows, quote)
            except ValueError:  # what is wrong, and where, the lines themselves tell
                pass
        lines, values = _split(block, first_line, self._header)
        attributes = self._header.attributes
        columns = list(zip(*values, strict=True)) if values else [()] * len(attributes)
        return as_batch(self._columns, attributes, columns.__getitem__, lines)

    def _fast(self, block: bytes, quote: str) -> Any:
        """Rows of a block that is written as CSV files are."""
        csv = optional_import("pyarrow.csv", "ARFFStream")
        pa = optional_import("pyarrow", "ARFFStream")
        attributes = self._header.attributes
        types = {
            name: kind if attributes[self._places[name]].kind != DATE else pa.string()
            for name, kind in self._columns.items()
        }
        table = csv.read_csv(
            pa.BufferReader(block),
            read_options=csv.ReadOptions(
                column_names=[attribute.name for attribute in attributes],
                block_size=len(block) + 1,
            ),
            parse_options=csv.ParseOptions(
                delimiter=self._header.delimiter, quote_char=quote or False
            ),
            convert_options=csv.ConvertOptions(
                column_types=types,
                include_columns=list(types),
                null_values=_NULLS,
                strings_can_be_null=True,
                quoted_strings_can_be_null=False,
            ),
        )
        spaces = b" " in block and not quote
        columns = [
            self._finished(name, table.column(name).combine_chunks(), spaces) for name in types
        ]
        return pa.record_batch(columns, names=list(types))

    def _finished(self, name: str, column: Any, spaces: bool) -> Any:
        pa = optional_import("pyarrow", "ARFFStream")
        compute = optional_import("pyarrow.compute", "ARFFStream")
        attribute = self._header.attributes[self._places[name]]
        if attribute.kind in (NOMINAL, STRING, DATE) and spaces:
            trimmed = compute.utf8_trim_whitespace(
                column.dictionary if attribute.kind == NOMINAL else column
            )
            if compute.any(compute.is_in(trimmed, pa.array(["?", ""]))).as_py():
                raise ValueError("a missing value between spaces")
            column = (
                pa.DictionaryArray.from_arrays(column.indices, trimmed)
                if attribute.kind == NOMINAL
                else trimmed
            )
        return _converted(column, attribute, self._columns[name])


def as_batch(
    columns: dict[str, Any],
    attributes: Sequence[Attribute],
    texts_of: Callable[[int], Any],
    lines: Sequence[int] | NDArray[np.int64],
) -> Any:
    """Record batch of columns of texts.

    Parameters
    ----------
    columns : dict of str to Arrow type
        Columns wanted, with their types.
    attributes : sequence of Attribute
        All attributes of the file.
    texts_of : callable
        Returns the texts of the attribute at a position.
    lines : sequence of int of shape (n_rows,)
        Number of the line of each row.

    Returns
    -------
    pyarrow.RecordBatch
        The columns.

    Raises
    ------
    Misfit
        For the first value of a column that does not have its type.
    """
    pa = optional_import("pyarrow", "ARFFStream")
    found = []
    for place, attribute in enumerate(attributes):
        if attribute.name in columns:
            convert = partial(_converted, attribute=attribute, kind=columns[attribute.name])
            texts = pa.array(texts_of(place), pa.string())
            for row, text in first_misfit(texts, convert):
                raise misfit(int(lines[row]), text, attribute)
            found.append((attribute.name, convert(texts)))
    # A batch without columns would have no rows.
    names = [name for name, _ in found]
    return pa.record_batch([column for _, column in found], names=names)


def misfit(line: int, text: str, attribute: Attribute) -> Misfit:
    """Error of a value that its attribute does not have."""
    more = ""
    if attribute.kind == NOMINAL:
        more = f": {', '.join(map(repr, attribute.categories[:20]))}"
        more += ", ..." if len(attribute.categories) > 20 else ""
    return Misfit(
        line,
        f"{shortened(text)!r} in column {attribute.name!r} is not {attribute.in_words()}{more}.",
    )


def _quote(block: bytes, delimiter: str) -> str | None:
    """The sign that quotes texts in a block, or "" for none; None if it is not as in CSV files."""
    signs = [b"%", b"\\", b"{", *([] if delimiter == "\t" else [b"\t"])]
    if any(sign in block for sign in signs):
        return None
    found = [quote for quote in (b"'", b'"') if quote in block]
    if not found:
        return ""
    quote = found[0]
    # Every quote is at the beginning or the end of a value, and no value has spaces around it.
    tight = b" " not in block or re.search(rb"[,\t\n] | [,\t\r\n]", block) is None
    if len(found) > 1 or not tight or 2 * len(_QUOTED[quote].findall(block)) != block.count(quote):
        return None
    return quote.decode()


def _split(
    block: bytes, first_line: int, header: Header
) -> tuple[list[int], list[list[str | None]]]:
    """Numbers of the lines of a block that are rows, and their values."""
    numbers, rows = [], []
    width = len(header.attributes)
    for number, line in lines_of(block, first_line):
        if line.startswith("{"):
            raise Misfit(number, f"{shortened(line)!r} is a sparse row among rows of all values.")
        try:
            values = split_values(line, header.delimiter)
        except ValueError as error:
            raise Misfit(number, str(error)) from error
        if len(values) != width:
            last = values[-1] or ""
            if len(values) == width + 1 and last.startswith("{") and last.endswith("}"):
                raise Misfit(
                    number,
                    f"the weight {last} behind the row is not read. Make it a column, and name "
                    f"that in roles={{'sample_weight': ...}}.",
                )
            raise Misfit(
                number,
                f"{len(values)} values, but {width} attributes are declared: {shortened(line)!r}.",
            )
        numbers.append(number)
        rows.append(values)
    return numbers, rows


def lines_of(block: bytes, first_line: int) -> Iterator[tuple[int, str]]:
    """Lines of a block that are neither empty nor comments, with their numbers."""
    for number, line in enumerate(block.decode().split("\n"), first_line):
        # A tab at the end of a line stands before a missing value.
        line = line.strip(" \r")
        if line and not line.lstrip().startswith("%"):
            yield number, line


def _converted(texts: Any, attribute: Attribute, kind: Any) -> Any:
    """Texts of a column as values of its type; an error if one is of another type."""
    pa = optional_import("pyarrow", "ARFFStream")
    compute = optional_import("pyarrow.compute", "ARFFStream")
    if texts.type == kind and attribute.kind != NOMINAL:
        return texts
    if attribute.kind == NOMINAL:
        column = texts if pa.types.is_dictionary(texts.type) else texts.dictionary_encode()
        known = set(attribute.categories)
        if any(value is not None and value not in known for value in column.dictionary.to_pylist()):
            raise ValueError("a value that is not declared")
        return column.cast(kind) if column.type != kind else column
    if attribute.date is None:
        return read_as(texts, kind, ".")
    if not compute.all(compute.match_substring_regex(texts, attribute.date.written)).as_py() and (
        texts.null_count < len(texts)
    ):
        raise ValueError("a date that is written otherwise")
    iso = compute.replace_substring_regex(texts, attribute.date.written, attribute.date.iso)
    return compute.replace_substring_regex(iso, _SINGLE_DIGIT, r"0\1").cast(kind)
