"""The ARFF format: what a header declares, and the rows below it as columns of Arrow."""

import io
import re
from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from datetime import datetime
from functools import partial
from itertools import chain
from typing import Any

from skstream.streams._csv_text import first_misfit, own_numbers, read_as
from skstream.streams._file_stream import not_encoded
from skstream.streams._file_system import DataFile
from skstream.streams._table_parameters import shortened
from skstream.utils._optional import optional_import
from skstream.utils._rows import check_no_name_twice

NOMINAL, REAL, INTEGER, STRING, DATE = "nominal", "real", "integer", "string", "date"

_KINDS = {"numeric": REAL, "real": REAL, "integer": INTEGER, "string": STRING, "date": DATE}
_SINGLE, _DOUBLE = r"'((?:[^'\\]|\\.|'')*)'", r'"((?:[^"\\]|\\.|"")*)"'
_NAME = re.compile(rf"(?:{_SINGLE}|{_DOUBLE}|([^\s{{'\"][^\s{{]*))\s*", re.DOTALL)
#: A value and the sign behind it, where commas or tabs separate values, or each has its index.
_VALUES = {
    form: re.compile(
        rf"{index}{space}*(?:{_SINGLE}|{_DOUBLE}|((?!['\"])[^{mark}]*?)){space}*({mark}|$)",
        re.DOTALL,
    )
    for form, mark, space, index in (
        (",", ",", r"\s", "()"),
        ("\t", "\t", r"[^\S\t]", "()"),
        ("{", ",", r"\s", r"\s*(-?\d+)(?=\s)"),
    )
}
#: A line up to a comment: a percent sign that is not in quotes, which begin where a value does.
_BEFORE_COMMENT = re.compile(rf"(?:(?<![^\s,{{])(?:{_SINGLE}|{_DOUBLE})|[^%])*+", re.DOTALL)
#: The weight behind a row or an attribute.
_WEIGHT = re.compile(r"(?<=[^\s{])\s*(\{\s*[-+.\deE]+\s*\})$")
_ESCAPED = {"n": "\n", "t": "\t", "r": "\r"}
_DEFAULT_DATE = "yyyy-MM-dd'T'HH:mm:ss"
#: Fields of dates as Java and as Python write them.
_FIELDS = {"yyyy": "%Y", "SSS": "%f"} | {
    letter * n: f"%{python}"
    for letter, python in {"M": "m", "d": "d", "H": "H", "m": "M", "s": "S"}.items()
    for n in (1, 2)
}

#: A line of a file, with its number.
Line = tuple[int, str]
#: Values of a row, None for a missing one: a list, or a dict by their places in a sparse file.
Row = Any


class Misfit(ValueError):
    """Error of a line of an ARFF file; begins with the number of the line."""

    def __init__(self, line: int, words: str) -> None:
        super().__init__(f"line {line}: {words}")


@dataclass(frozen=True)
class Attribute:
    """A column of an ARFF file.

    Attributes
    ----------
    name : str
        Its name.
    kind : str
        `NOMINAL`, `REAL`, `INTEGER`, `STRING` or `DATE`.
    categories : tuple of str
        Declared values of a nominal attribute.
    pattern, written : str
        How dates are written: the pattern that the file declares, and the same for `strptime`.
    """

    name: str
    kind: str
    categories: tuple[str, ...] = ()
    pattern: str = ""
    written: str = ""

    def arrow_type(self, *, whole: bool) -> Any:
        """Return the Arrow type of its values; `whole`: integers stay integers."""
        pa = optional_import("pyarrow", "ARFFStream")
        if self.kind == NOMINAL:
            return pa.dictionary(pa.int32(), pa.string())
        if self.kind == DATE:
            if "%f" in self.written:
                return pa.timestamp("ms")
            return pa.timestamp("s") if re.search("%[HMS]", self.written) else pa.date32()
        if self.kind == STRING:
            return pa.string()
        return pa.int64() if whole and self.kind == INTEGER else pa.float64()

    def column(self, texts: Any, kind: Any, *, own: bool) -> Any:
        """Return texts as values of an Arrow type; a ValueError if one is none.

        `own`: whole numbers stay whole, where the type is one of floats.
        """
        pa = optional_import("pyarrow", "ARFFStream")
        if self.kind == STRING:
            return texts
        if self.kind == NOMINAL:
            column = texts.dictionary_encode()
            if set(column.dictionary.to_pylist()) - {*self.categories, None}:
                raise ValueError("a value that is not declared")
            return column
        if self.kind == DATE:
            moments = [text and datetime.strptime(text, self.written) for text in texts.to_pylist()]
            return pa.array(moments, pa.timestamp("ms")).cast(kind)
        return own_numbers(texts, ".") if own and self.kind == REAL else read_as(texts, kind, ".")

    def misfit(self, line: int, text: str) -> Misfit:
        """Return the error for a value that the attribute does not have."""
        wanted = "a whole number" if self.kind == INTEGER else "a number"
        if self.kind == DATE:
            wanted = f"a date written {self.pattern}"
        elif self.kind == NOMINAL:
            wanted = f"one of its {len(self.categories):,} declared values: "
            wanted += ", ".join(map(repr, self.categories[:20]))
            wanted += ", ..." if len(self.categories) > 20 else ""
        return Misfit(line, f"{shortened(text)!r} in column {self.name!r} is not {wanted}.")


@dataclass(frozen=True)
class Header:
    """Header of an ARFF file, and how its rows are written.

    Attributes
    ----------
    attributes : tuple of Attribute
        Its columns.
    is_sparse : bool
        Whether the rows name the attributes that are not 0.
    delimiter : str
        What separates the values of a row: a comma, or a tab.
    """

    attributes: tuple[Attribute, ...]
    is_sparse: bool
    delimiter: str

    def row(self, number: int, line: str) -> Row:
        """Return the values in a line; raises `Misfit`."""
        try:
            return self._sparse_row(line.strip()) if self.is_sparse else self._dense_row(line)
        except ValueError as error:
            raise Misfit(number, str(error)) from error

    def _dense_row(self, line: str) -> Row:
        if line.startswith("{"):
            raise ValueError(f"{shortened(line)!r} is a sparse row among rows of all values.")
        values, width = split_values(line, self.delimiter), len(self.attributes)
        if len(values) == width + 1 and line.rstrip(" ").endswith(self.delimiter):
            return values[:-1]  # MOA writes a comma behind the last value
        if len(values) != width:
            if len(values) == width + 1:
                _refuse_weight(line.strip())
            raise ValueError(
                f"{len(values)} values, but {width} attributes are declared: {shortened(line)!r}."
            )
        return values

    def _sparse_row(self, line: str) -> Row:
        if not (line.startswith("{") and line.endswith("}")):
            raise ValueError(
                f"{shortened(line)!r} is no sparse row {{index value, ...}}, as the first row is."
            )
        _refuse_weight(line)
        row: dict[int, str | None] = {}
        text, at, last = line[1:-1], 0, -1
        while text[at:].strip():
            index, value, at, _ = _value_at(text, at, "{")
            place, width = int(index), len(self.attributes)
            if not 0 <= place < width:
                raise ValueError(
                    f"the index {place} is out of range: {width} attributes are declared, and the "
                    f"first has the index 0."
                )
            if place <= last:
                raise ValueError(
                    f"the index {place} comes after {last}, and indices must increase."
                )
            row[place], last = value, place
        return row

    def _omitted(self, attribute: Attribute) -> str | None:
        """Return the value of an attribute that a sparse row does not name."""
        if attribute.kind == NOMINAL:
            return attribute.categories[0]
        return None if attribute.kind in (STRING, DATE) else "0"

    def columns(
        self, lines: list[Line], rows: list[Row], types: dict[str, Any], own: set[str]
    ) -> dict[str, Any]:
        """Return columns of rows, with the types wanted; raises `Misfit`."""
        pa = optional_import("pyarrow", "ARFFStream")
        columns = {}
        for place, attribute in enumerate(self.attributes):
            kind = types.get(attribute.name)
            if kind is not None:
                if self.is_sparse:
                    omitted = self._omitted(attribute)
                    values = [row.get(place, omitted) for row in rows]
                else:
                    values = [row[place] for row in rows]
                texts = pa.array(values, pa.string())
                convert = partial(attribute.column, kind=kind, own=attribute.name in own)
                try:
                    columns[attribute.name] = convert(texts)
                except ValueError:
                    number = first_misfit(texts, convert)
                    raise attribute.misfit(lines[number][0], values[number]) from None
        return columns


def open_arff(file: DataFile, encoding: str) -> tuple[Header, Iterator[Line]]:
    """Return the header of a file, and the lines of its rows."""
    lines = _lines(file, encoding)
    try:
        attributes = _attributes(lines, str(file))
    except Misfit as error:
        raise ValueError(f"{file}, {error}") from error
    first = next(lines, None)
    row = "" if first is None else first[1]
    delimiter = "\t" if "\t" in row.strip() and "," not in row else ","
    header = Header(attributes, row.lstrip().startswith("{"), delimiter)
    return header, lines if first is None else chain([first], lines)


def _lines(file: DataFile, encoding: str) -> Iterator[Line]:
    """Lines that are neither empty nor comments."""
    with io.TextIOWrapper(file.binary(), encoding, newline="\n") as text:
        try:
            for number, line in enumerate(text, 1):
                # A tab at the end of a line stands before a missing value.
                line = (line.removeprefix("\ufeff") if number == 1 else line).strip(" \r\n")
                if "%" in line:
                    line = _before_comment(line)
                if line:
                    yield number, line
        except UnicodeDecodeError as error:
            raise not_encoded(file, encoding, error) from None


def _before_comment(line: str) -> str:
    """Return a line without the comment at its end, and without the spaces before that."""
    found = _BEFORE_COMMENT.match(line)
    assert found is not None  # which matches nothing, too
    return line if found.end() == len(line) else found[0].rstrip()


def _refuse_weight(line: str) -> None:
    found = _WEIGHT.search(line)
    if found is not None:
        raise ValueError(
            f"the weight {found[1]} behind the row is not read. Make it a column, and name that "
            f"in roles={{'sample_weight': ...}}."
        )


def split_values(text: str, delimiter: str = ",") -> list[str | None]:
    """Values in a line; None for a missing one, which is a question mark or nothing.

    Examples
    --------
    >>> from skstream.streams._arff_format import split_values
    >>> split_values("1.5, ?, 'a, b', '?'")
    ['1.5', None, 'a, b', '?']
    """
    if "'" not in text and '"' not in text:
        return [_plain(value) for value in text.split(delimiter)]
    values: list[str | None] = []
    place, ends = 0, False
    while not ends:
        _, value, place, ends = _value_at(text, place, delimiter)
        values.append(value)
    return values


def _plain(text: str) -> str | None:
    text = text.strip()
    return None if text in ("", "?") else text


def _value_at(text: str, place: int, form: str) -> tuple[str, str | None, int, bool]:
    """Index and value at a place, the place behind them, and whether the text ends there."""
    found = _VALUES[form].match(text, place)
    if found is None:
        rest = text[place:].strip()
        if form == "{" and not re.match(r"-?\d+\s", rest):
            raise ValueError(f"{shortened(rest)!r} does not begin with an index and a value.")
        raise ValueError(
            f"the quote before {shortened(rest)!r} is not closed, or is followed by more than "
            f"{'a tab' if form == chr(9) else 'a comma'}."
        )
    index, single, double, plain, end = found.groups()
    value = _unescaped(single, double) if plain is None else _plain(plain)
    return index, value, found.end(), not end


def _unescaped(single: str | None, double: str | None) -> str:
    """Text that stood in quotes of one kind."""
    text = (double or "").replace('""', '"') if single is None else single.replace("''", "'")
    return re.sub(r"\\(.)", lambda m: _ESCAPED.get(m[1], m[1]), text)


def _attributes(lines: Iterable[Line], file: str) -> tuple[Attribute, ...]:
    """Attributes that the lines above that of ``@data`` declare; raises `Misfit`."""
    attributes: list[Attribute] = []
    lines = iter(lines)
    for number, line in lines:
        line = line.strip()
        word = line.partition(" ")[0].partition("\t")[0].lower()
        if word == "@data":
            break
        if word == "@relation":
            continue
        if word != "@attribute":
            raise Misfit(
                number,
                f"{shortened(line)!r} is neither @relation, @attribute, @data nor a comment (%).",
            )
        declaration = line[len(word) :].strip()
        # A type may stand on the next line, and nominal values on several.
        while not _is_whole(declaration):
            _, more = next(lines, (0, "@"))
            if not more.lstrip().startswith("@"):
                declaration += " " + more.strip()
            elif "{" in declaration:
                raise Misfit(number, f"the brace of {shortened(line)!r} is not closed.")
            else:
                break  # which is said below
        try:
            attributes.append(_attribute(declaration))
        except ValueError as error:
            raise Misfit(number, f"{error}.") from error
    else:
        raise ValueError(f"{file} cannot be read as an ARFF file: it has no line @data.")
    if not attributes:
        raise ValueError(f"{file} cannot be read as an ARFF file: it declares no @attribute.")
    check_no_name_twice([attribute.name for attribute in attributes], file)
    return tuple(attributes)


def _is_whole(declaration: str) -> bool:
    """Whether a declaration has a type, and braces that are closed."""
    found = _NAME.match(declaration)
    kind = "" if found is None else declaration[found.end() :]
    return kind.endswith("}") if kind.startswith("{") else bool(kind)


def _attribute(declaration: str) -> Attribute:
    found = _NAME.match(declaration)
    if found is None:
        raise ValueError(f"{shortened(declaration)!r} does not begin with a name")
    single, double, plain = found.groups()
    name = plain if plain is not None else _unescaped(single, double)
    kind = _WEIGHT.sub("", declaration[found.end() :].strip())  # of which no model takes notice
    if kind.startswith("{"):
        values = split_values(kind[1:-1].rstrip().removesuffix(","))
        if None in values:
            raise ValueError(f"the values of {name!r} hold an empty one, or a '?' without quotes")
        texts = tuple(value for value in values if value is not None)
        twice = [text for text, n in Counter(texts).items() if n > 1]
        if twice:
            raise ValueError(f"the values of {name!r} hold {twice[0]!r} twice")
        return Attribute(name, NOMINAL, texts)
    word, _, rest = kind.partition(" ")
    if word.lower() == "relational":
        raise ValueError(f"{name!r} is relational: its values are tables, which no model takes")
    if word.lower() not in _KINDS:
        raise ValueError(
            f"{name!r} has the type {shortened(kind)!r}; known are numeric, real, integer, string, "
            f"date and {{values}}"
        )
    if _KINDS[word.lower()] != DATE:
        return Attribute(name, _KINDS[word.lower()])
    pattern = (split_values(rest)[0] if rest.strip() else None) or _DEFAULT_DATE
    return Attribute(name, DATE, pattern=pattern, written=date_form(pattern))


def date_form(pattern: str) -> str:
    """Return a pattern of Java's SimpleDateFormat as `strptime` writes it."""
    written = ""
    for literal, field, _, other in re.findall(
        r"'((?:[^']|'')*)'|(([A-Za-z])\3*)|(.)", pattern, re.DOTALL
    ):
        if not field:
            written += (literal.replace("''", "'") or other or "'").replace("%", "%%")
        elif field not in _FIELDS or _FIELDS[field] in written:
            raise ValueError(
                f"the date pattern {pattern!r} has {field!r}; known are {', '.join(_FIELDS)}, each "
                f"once"
            )
        else:
            written += _FIELDS[field]
    if "%Y" not in written:
        raise ValueError(f"the date pattern {pattern!r} has no year of four digits (yyyy)")
    return written
