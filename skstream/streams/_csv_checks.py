"""Checks of the first lines of a CSV file, and of rows that do not fit its columns."""

import csv
import io
import re
from bisect import bisect_left
from codecs import getincrementaldecoder
from collections.abc import Callable, Iterator
from itertools import islice
from typing import Any

from skstream.streams._file_stream import beginning_of, not_encoded
from skstream.streams._file_system import DataFile
from skstream.streams._table_parameters import shortened
from skstream.utils._optional import optional_import
from skstream.utils._rows import check_no_name_twice

_BYTES = 1 << 16
_LINES = 20
# A target of more different whole numbers than this holds no labels.
_MOST_LABELS = 1 << 16
_DELIMITERS = {";": "semicolons", ",": "commas", "\t": "tabs", "|": "bars"}
_OTHER_WIDTH = re.compile(r"Expected (\d+) columns, got (\d+): (.*)", re.DOTALL)
_NUMBER = re.compile(r"\s*[-+]?(\d+[.,]?\d*|[.,]\d+)([eE][-+]?\d+)?\s*")
_COMMA = re.compile(r"\s*[-+]?\d*,\d+\s*")


def first_records(file: DataFile, delimiter: str, encoding: str) -> list[list[str]]:
    """Values in the first lines of a file, whose last may be incomplete; the first may be names."""
    text = io.StringIO(_beginning(file, encoding), newline="")
    return list(csv.reader(text, delimiter=delimiter))


def numbered_records(
    file: DataFile, delimiter: str, encoding: str
) -> Iterator[tuple[int, list[str]]]:
    """Yield the values of each record with the line on which it begins, from 1; no empty lines."""
    with file.text() as stream:
        lines = io.TextIOWrapper(stream, encoding=encoding, newline="")
        reader, begin = csv.reader(lines, delimiter=delimiter), 1
        for record in reader:
            if record:  # the reader of streams takes no notice of empty lines
                yield begin, record
            begin = reader.line_num + 1


def place_of_row(
    file: DataFile,
    row: int,
    column: int,
    delimiter: str,
    encoding: str,
    *,
    header: bool,
    width: int | None = None,
) -> tuple[int, str] | None:
    """Find where a row stands in its file, and what stands there.

    Parameters
    ----------
    file : DataFile
        The file.
    row : int
        Number of the row in this file; row 0 is the first below the names.
    column : int
        Position of the column.
    delimiter, encoding : str
        As given by the user.
    header : bool
        Whether the first line holds names.
    width : int, default=None
        Number of values of a row, where lines of more or fewer are left out.

    Returns
    -------
    (int, str) or None
        Number of the line, counted from 1, on which the row begins, and the text of the column;
        None if there is no such row.
    """
    records = numbered_records(file, delimiter, encoding)
    rows = (found for found in records if width in (None, len(found[1])))
    line, record = next(islice(rows, row + int(header), None), (0, []))
    if not line:
        return None
    return line, record[column] if column < len(record) else ""


def check_beginning(
    file: DataFile, delimiter: str, encoding: str, *, header: bool, decimal: str = "."
) -> None:
    """Raise an error if the first lines of a file are not as expected; say what they are.

    Parameters
    ----------
    file : DataFile
        The file.
    delimiter, encoding : str
        As given by the user.
    header : bool
        Whether the first line holds names.
    decimal : str, default="."
        As given by the user.

    Raises
    ------
    ValueError
        If the file is empty, encoded in another way or separated by another character, or two
        columns have the same name.
    """
    text = _beginning(file, encoding)
    if text.startswith("sep="):
        raise ValueError(
            f"{file} begins with {text.splitlines()[0]!r}, a note that Excel reads. Take this line "
            f"out, and say the character with options={{'delimiter': ...}}."
        )
    records = list(islice(csv.reader(io.StringIO(text, newline=""), delimiter=delimiter), 2))
    for record in records:
        if len(record) == 1:
            _refuse_other_delimiter(file, text, record[0], delimiter, decimal)
    if delimiter == ",":
        _refuse_decimal_commas(file, text)
    if header:
        check_no_name_twice(records[0], file.name)


def check_end(batch: Any, delimiter: str, n_columns: int) -> None:
    """Raise an error if a text of the last row holds whole rows: its quote is not closed.

    The reader then takes everything up to the end of the file as one value, without an error.
    """
    for name, value in batch.slice(batch.num_rows - 1).to_pylist()[0].items():
        if not (isinstance(value, str) and value.endswith(("\n", "\r")) and n_columns > 1):
            continue
        rest = value.splitlines()[1:]
        if rest and all(line.count(delimiter) == n_columns - 1 for line in rest):
            raise ValueError(
                f"the value of column {name!r} in the last row holds {len(rest):,} whole rows: the "
                f"quote before {shortened(value.splitlines()[0])!r} is not closed."
            )


def is_value(text: str) -> bool:
    """Whether the text in place of a column name is a number or empty."""
    return _NUMBER.fullmatch(text) is not None


def in_words(message: str, file: DataFile, delimiter: str, encoding: str) -> str:
    """Errors of the reader about rows of another width, in words."""
    found = _OTHER_WIDTH.search(message)
    if "straddling object" in message:
        return "a value there is longer than a megabyte; perhaps a quote is not closed."
    if found is None:
        return message
    expected, got, text = found.groups()
    # The reader counts neither empty lines nor those within quotes, nor any with several threads.
    line = first_of_other_width(file, int(expected), delimiter, encoding)
    return (
        f"line {line} has {got} values, but the lines before it have {expected}: "
        f"{shortened(text)!r}. A value that holds the delimiter needs quotes, and a quote another "
        f"that closes it; lines before the names, and after the rows, have to be taken out, or are "
        f"left out by options={{'on_bad_lines': 'skip'}}."
    )


def first_of_other_width(file: DataFile, width: int, delimiter: str, encoding: str) -> int:
    """Line on which the first record of more or fewer values than `width` begins, from 1."""
    records = numbered_records(file, delimiter, encoding)
    return next((line for line, record in records if len(record) != width), 1)


class BadLines:
    """Count of lines of another number of values than there are columns, which are left out.

    Attributes
    ----------
    n_lines : int
        How many there were.
    n_within : int
        How many of them stand within a quote that began on a line before.
    about_first : str
        The first of them, in words.
    """

    def __init__(self) -> None:
        self.n_lines = 0
        self.n_within = 0
        self.about_first = ""

    def left_out(self, line: Any) -> str:
        """Count a line; the answer tells the reader to leave it out."""
        if not self.n_lines:
            self.about_first = (
                f"with {line.actual_columns} values for {line.expected_columns} columns, "
                f"{shortened(line.text)!r},"
            )
        n_within = len(line.text.splitlines()) - 1
        self.n_lines += 1 + n_within
        self.n_within += n_within
        return "skip"


def read_as(texts: Any, kind: Any, decimal: str) -> Any:
    """Convert texts to values of a type, as the reader of CSV files does."""
    compute = optional_import("pyarrow.compute", "CSVStream")
    texts = compute.utf8_trim_whitespace(texts)
    if decimal != ".":
        texts = compute.replace_substring(texts, decimal, ".")
    return texts.cast(kind)


def first_misfit(column: Any, convert: Callable[[Any], Any]) -> int:
    """Row of the first text in a column that cannot be converted; their number if all can."""

    def is_before(row: int) -> bool:
        try:
            convert(column.slice(0, row + 1))
        except ValueError:
            return True
        return False

    return bisect_left(range(len(column)), True, key=is_before)


def _beginning(file: DataFile, encoding: str) -> str:
    raw = beginning_of(file, "a CSV", ".csv", _BYTES)
    if raw[:2] in (b"\xff\xfe", b"\xfe\xff") and not encoding.lower().startswith("utf-16"):
        raise ValueError(f"{file} holds UTF-16 text. Pass options={{'encoding': 'utf-16'}}.")
    try:
        text = getincrementaldecoder(encoding)().decode(raw, final=len(raw) < _BYTES)
    except UnicodeDecodeError as error:
        raise not_encoded(file, encoding, error, f" at position {error.start}") from None
    return text.removeprefix("\ufeff")


def _refuse_other_delimiter(
    file: DataFile, text: str, record: str, delimiter: str, decimal: str
) -> None:
    """Raise an error if another character than the delimiter seems to separate the values."""
    lines = text.splitlines()[:_LINES]
    for other, name in _DELIMITERS.items():
        if other != delimiter and other in record and other in lines[0]:
            values = [value for line in lines for value in line.split(other)]
            commas = other != "," and decimal == "." and any(map(_COMMA.fullmatch, values))
            also = ", 'decimal': ','" if commas else ""
            raise ValueError(
                f"{file} has one column where it is cut at {delimiter!r}, and its lines seem to be "
                f"separated by {name}: {shortened(lines[0])!r}. Pass "
                f"options={{'delimiter': {other!r}{also}}}."
            )
    widths = {len(line.split()) for line in lines}
    if len(widths) == 1 and widths != {1} and len(lines) > 1:
        raise ValueError(
            f"{file} has one column where it is cut at {delimiter!r}, and its lines seem to be "
            f"separated by spaces: {shortened(lines[0])!r}. If it is a single space each time, "
            f"pass options={{'delimiter': ' '}}; else turn the spaces into commas first."
        )


def _refuse_decimal_commas(file: DataFile, text: str) -> None:
    """Raise an error if semicolons separate values, and the commas are decimal commas."""
    lines = text.splitlines()[:_LINES]
    values = [value.strip() for line in lines for value in line.split(";")]
    with_comma = [value for value in values if "," in value]
    if (
        with_comma
        and len({line.count(";") for line in lines}) == 1
        and ";" in lines[0]
        and all(map(_COMMA.fullmatch, with_comma))
    ):
        raise ValueError(
            f"The lines of {file} seem to be separated by semicolons, with decimal commas: "
            f"{shortened(lines[0])!r}. Pass options={{'delimiter': ';', 'decimal': ','}}."
        )


def first_long_number(records: list[list[str]], column: int) -> str | None:
    """Return a number that 64 bits cannot hold, in a column of whole numbers alone."""
    texts = [record[column].strip() for record in records if len(record) > column]
    digits = [text.lstrip("+-") for text in texts if text]
    # The first line may hold names, and the last may be incomplete.
    if not all(map(str.isdecimal, digits[1:-1])):
        return None
    long = (text for text in digits if text.isdecimal() and int(text) >= 1 << 63)
    return next(long, None)


class WrittenLabels:
    """Texts of a target that is read as numbers, of which several may be the same number."""

    def __init__(self) -> None:
        self._texts: set[str] = set()
        self._are_whole = True

    def add(self, texts: Any, values: Any) -> None:
        """Note the texts of a piece of the column, and the numbers that they were read as."""
        pa = optional_import("pyarrow", "CSVStream")
        compute = optional_import("pyarrow.compute", "CSVStream")
        if pa.types.is_floating(values.type):
            finite = values.filter(compute.is_finite(values))
            if not finite.equals(compute.floor(finite)):
                self._are_whole = False  # these are no labels
        if self._are_whole and len(self._texts) <= _MOST_LABELS:
            texts = compute.utf8_trim_whitespace(texts.unique().drop_null())
            digits = texts.filter(compute.match_substring_regex(texts, "^[0-9]+$"))
            self._texts.update(digits.to_pylist())

    def long(self) -> str | None:
        """Return a whole number that a float does not hold, of a column of labels."""
        texts = self._texts if self._are_whole else ()
        return next((text for text in sorted(texts) if int(float(text)) != int(text)), None)

    def same(self) -> list[str]:
        """Return texts that differ in their leading zeros alone."""
        by_number: dict[str, list[str]] = {}
        for text in sorted(self._texts if self._are_whole else ()):
            by_number.setdefault(text.lstrip("0"), []).append(text)
        return next((texts for texts in by_number.values() if len(texts) > 1), [])
