"""What the beginning of a CSV file shows, and where one does not fit its columns."""

import csv
import io
import re
from codecs import getincrementaldecoder
from collections.abc import Iterator
from typing import Any

from skstream.streams._columns import check_no_name_twice
from skstream.utils._optional import optional_import

_BYTES = 1 << 16
_DELIMITERS = {";": "semicolons", ",": "commas", "\t": "tabs", "|": "bars"}
_OTHER_WIDTH = re.compile(r"Row #(\d+): Expected (\d+) columns, got (\d+): (.*)", re.DOTALL)
_NUMBER = re.compile(r"\s*[-+]?(\d+[.,]?\d*|[.,]\d+)([eE][-+]?\d+)?\s*")


def check_beginning(file: str, delimiter: str, encoding: str, *, header: bool) -> None:
    """Refuse a file whose first lines are not what they should be, and say what they are.

    Parameters
    ----------
    file : str
        Path.
    delimiter, encoding : str
        As given by the user.
    header : bool
        Whether the first line holds names.

    Raises
    ------
    ValueError
        If the file is empty, encoded in another way or separated by another character, or two
        columns have the same name.
    """
    text = _beginning(file, encoding)
    if not text.strip():
        raise ValueError(f"{file} cannot be read as a CSV file: it is empty.")
    first = next(csv.reader(io.StringIO(text, newline=""), delimiter=delimiter), [])
    if len(first) == 1:
        _refuse_other_delimiter(file, first[0], delimiter)
    if header:
        check_no_name_twice(first, file)


def is_value(text: str) -> bool:
    """Whether what stands where names should is a number, or nothing."""
    return _NUMBER.fullmatch(text) is not None


def in_words(message: str) -> str:
    """Errors of the reader about rows of another width, in words."""
    found = _OTHER_WIDTH.search(message)
    if found is None:
        return message
    row, expected, got, text = found.groups()
    return (
        f"line {row} has {got} values, but the lines before it have {expected}: {text!r}. A value "
        f"that holds the delimiter needs quotes; lines before the names, and after the rows, have "
        f"to be taken out."
    )


def first_misfit(column: Any, kind: Any, decimal: str) -> Iterator[tuple[int, str]]:
    """Row and text of the first value in a column of texts that is not of a type, if any."""
    pa = optional_import("pyarrow", "CSVStream")
    compute = optional_import("pyarrow.compute", "CSVStream")
    texts = compute.utf8_trim_whitespace(column)
    if decimal != ".":
        texts = compute.replace_substring(texts, decimal, ".")

    def fits(begin: int, end: int) -> bool:
        try:
            texts.slice(begin, end - begin).cast(kind)
        except pa.ArrowInvalid:
            return False
        return True

    begin, end = 0, len(texts)
    if fits(begin, end):
        return
    while end - begin > 1:  # the first misfit is in this range
        middle = (begin + end) // 2
        begin, end = (middle, end) if fits(begin, middle) else (begin, middle)
    yield begin, column[begin].as_py()


def _beginning(file: str, encoding: str) -> str:
    pa = optional_import("pyarrow", "CSVStream")
    try:
        with pa.input_stream(file) as stream:
            raw = stream.read(_BYTES)
    except OSError as error:
        raise ValueError(f"{file} cannot be read as a CSV file: {error}") from error
    if raw[:2] in (b"\xff\xfe", b"\xfe\xff") and not encoding.lower().startswith("utf-16"):
        raise ValueError(f"{file} holds UTF-16 text. Pass encoding='utf-16'.")
    try:
        text = getincrementaldecoder(encoding)().decode(raw, final=len(raw) < _BYTES)
    except LookupError:
        raise ValueError(f"There is no encoding of the name {encoding!r}.") from None
    except UnicodeDecodeError as error:
        raise ValueError(
            f"{file} is not encoded as {encoding}: byte {error.object[error.start]:#04x} at "
            f"position {error.start} stands for nothing in it. Pass encoding='latin-1' if the file "
            f"comes from an older Windows program, or convert it to UTF-8."
        ) from None
    return text.removeprefix("\ufeff")


def _refuse_other_delimiter(file: str, line: str, delimiter: str) -> None:
    for other, name in _DELIMITERS.items():
        if other != delimiter and other in line:
            shown = line if len(line) <= 60 else f"{line[:60]}..."
            raise ValueError(
                f"{file} has one column when it is cut at {delimiter!r}, and its first line seems "
                f"to be separated by {name}: {shown!r}. Pass delimiter={other!r}."
            )
