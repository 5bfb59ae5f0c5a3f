"""The text of CSV files: checks of its first lines, and where rows do not fit its columns."""

import csv
import io
import re
from bisect import bisect_left
from codecs import getincrementaldecoder
from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import dataclass
from itertools import islice
from typing import Any

from skstream.streams._file_stream import beginning_of, not_encoded
from skstream.streams._file_system import DataFile
from skstream.streams._table_parameters import shortened
from skstream.utils._optional import optional_import
from skstream.utils._rows import check_no_name_twice

_BYTES = 1 << 16
_LINES = 20
_DELIMITERS = {";": "semicolons", ",": "commas", "\t": "tabs", "|": "bars"}
_OTHER_WIDTH = re.compile(r"Expected (\d+) columns, got (\d+): (.*)", re.DOTALL)
_COMMA = re.compile(r"\s*[-+]?\d*,\d+\s*")


@dataclass(frozen=True)
class CSVText:
    """The text of a CSV file, which is looked at for checks and messages.

    Attributes
    ----------
    file : DataFile
        The file.
    delimiter, decimal, encoding : str
        As given by the user.
    header : bool
        Whether the first line holds names.
    """

    file: DataFile
    delimiter: str
    decimal: str
    encoding: str
    header: bool

    def check(self) -> None:
        """Raise an error if the first lines are not as expected; say what they are."""
        file, text = self.file, self._beginning()
        lines = io.StringIO(text, newline="")
        records = list(islice(csv.reader(lines, delimiter=self.delimiter), 2))
        for record in records:
            if len(record) == 1:
                self._refuse_other_delimiter(text, record[0])
        if self.delimiter == ",":
            _refuse_decimal_commas(file, text)
        if self.header:
            check_no_name_twice(records[0], file.name)

    def records(self) -> Iterator[tuple[int, list[str]]]:
        """Yield the values of each record, and the line on which it begins; no empty lines."""
        with io.TextIOWrapper(self.file.binary(), encoding=self.encoding, newline="") as lines:
            reader, begin = csv.reader(lines, delimiter=self.delimiter), 1
            for record in reader:
                if record:  # the reader of streams takes no notice of empty lines
                    yield begin, record
                begin = reader.line_num + 1

    def place_of_row(self, row: int, column: int, width: int | None) -> tuple[int, str] | None:
        """Return on which line a row begins, and the text of a column; None if it is not there.

        Records of more or fewer values than `width` are no rows, unless it is None.
        """
        rows = (found for found in self.records() if width in (None, len(found[1])))
        line, record = next(islice(rows, row + int(self.header), None), (0, []))
        if not line:
            return None
        return line, record[column] if column < len(record) else ""

    def line_of_other_width(self, width: int) -> int:
        """Return the line on which the first record of more or fewer values begins."""
        return next((line for line, record in self.records() if len(record) != width), 1)

    def in_words(self, error: Exception) -> str:
        """Errors of the reader about rows of another width, in words."""
        message = str(error)
        found = _OTHER_WIDTH.search(message)
        if "straddling object" in message:
            return "a value there is longer than a megabyte."
        if found is None:
            return message
        expected, got, text = found.groups()
        # The reader does not count empty lines, those within quotes, or any with several threads.
        return (
            f"line {self.line_of_other_width(int(expected))} has {got} values, but the lines "
            f"before it have {expected}: {shortened(text)!r}. A value that holds the delimiter "
            f"needs quotes, and a quote another that closes it; lines before the names, and after "
            f"the rows, have to be taken out, or are left out by "
            f"options={{'on_bad_lines': 'skip'}}."
        )

    def _beginning(self) -> str:
        file, encoding = self.file, self.encoding
        raw = beginning_of(file, "a CSV", ".csv", _BYTES)
        if raw[:2] in (b"\xff\xfe", b"\xfe\xff") and not encoding.lower().startswith("utf-16"):
            raise ValueError(f"{file} holds UTF-16 text. Pass options={{'encoding': 'utf-16'}}.")
        try:
            text = getincrementaldecoder(encoding)().decode(raw, final=len(raw) < _BYTES)
        except UnicodeDecodeError as error:
            raise not_encoded(file, encoding, error, f" at position {error.start}") from None
        return text.removeprefix("\ufeff")

    def _refuse_other_delimiter(self, text: str, record: str) -> None:
        """Raise an error if another character than the delimiter seems to separate the values."""
        delimiter, decimal = self.delimiter, self.decimal
        lines = text.splitlines()[:_LINES]
        for other, name in _DELIMITERS.items():
            if other != delimiter and other in record and other in lines[0]:
                values = [value for line in lines for value in line.split(other)]
                commas = other != "," and decimal == "." and any(map(_COMMA.fullmatch, values))
                also = ", 'decimal': ','" if commas else ""
                raise ValueError(
                    f"{self.file} has one column where it is cut at {delimiter!r}, and its lines "
                    f"seem to be separated by {name}: {shortened(lines[0])!r}. Pass "
                    f"options={{'delimiter': {other!r}{also}}}."
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


class BadLines:
    """Count of lines of more or fewer values than there are columns, which are left out.

    Attributes
    ----------
    n_lines : int
        Their number, with those within a quote that begins on a line before.
    about_first : str
        What the first of them holds, in words.
    """

    def __init__(self) -> None:
        self.n_lines = 0
        self.about_first = ""

    def left_out(self, line: Any) -> str:
        """Count a line; the answer tells the reader to leave it out."""
        if not self.n_lines:
            self.about_first = (
                f"with {line.actual_columns} values for {line.expected_columns} columns, "
                f"{shortened(line.text)!r},"
            )
        self.n_lines += len(line.text.splitlines())
        return "skip"


def read_as(texts: Any, kind: Any, decimal: str) -> Any:
    """Convert texts to values of a type, as the reader of CSV files does."""
    compute = optional_import("pyarrow.compute", "CSVStream")
    texts = compute.utf8_trim_whitespace(texts)
    if decimal != "." and str(kind) == "double":
        # A point is then no part of a number: of 1.234 a thousand would become one.
        texts = compute.replace_substring(texts, ".", " ")
        texts = compute.replace_substring(texts, decimal, ".")
    if str(kind).startswith(("time32", "time64")):  # a time of day, which no text is cast to
        texts = compute.binary_join_element_wise("1970-01-01", texts, " ")
        texts = texts.cast(optional_import("pyarrow", "CSVStream").timestamp("us"))
    return texts.cast(kind)


def own_numbers(texts: Any, decimal: str) -> Any:
    """Convert texts to integers where all are whole, as floats may not hold them, else floats."""
    pa = optional_import("pyarrow", "CSVStream")
    for kind in (pa.int64(), pa.uint64()):
        with suppress(pa.ArrowInvalid):
            return read_as(texts, kind, decimal)
    return read_as(texts, pa.float64(), decimal)


def first_misfit(column: Any, convert: Callable[[Any], Any]) -> int:
    """Row of the first text in a column that cannot be converted; their number if all can."""

    def is_before(row: int) -> bool:
        try:
            convert(column.slice(0, row + 1))
        except ValueError:
            return True
        return False

    return bisect_left(range(len(column)), True, key=is_before)
