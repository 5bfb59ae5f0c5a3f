"""What the header of an ARFF file declares, and how values are written in it and in the rows."""

import re
from dataclasses import dataclass
from typing import Any

from skstream.streams._table_parameters import shortened
from skstream.utils._optional import optional_import
from skstream.utils._rows import check_no_name_twice

NOMINAL, REAL, INTEGER, STRING, DATE = "nominal", "real", "integer", "string", "date"

_KINDS = {"numeric": REAL, "real": REAL, "integer": INTEGER, "string": STRING, "date": DATE}
_DEFAULT_DATE = "yyyy-MM-dd'T'HH:mm:ss"
_SINGLE, _DOUBLE = r"'((?:[^'\\]|\\.|'')*)'", r'"((?:[^"\\]|\\.|"")*)"'
_NAME = re.compile(rf"(?:{_SINGLE}|{_DOUBLE}|([^\s{{'\"][^\s{{]*))\s*", re.DOTALL)
#: A value and the sign behind it, for each sign; a tab is a space where commas separate values.
_VALUES = {
    mark: re.compile(
        rf"{space}*(?:{_SINGLE}|{_DOUBLE}|((?!['\"])[^{mark}]*?)){space}*({mark}|$)", re.DOTALL
    )
    for mark, space in ((",", r"\s"), ("\t", r"[^\S\t]"))
}
_INDEX = re.compile(r"\s*(-?\d+)(?=\s)")
_ESCAPED = {"n": "\n", "t": "\t", "r": "\r"}
# Fields of a date, which in ISO form stand in this order, and what takes the place of absent ones.
_FIELDS = {"y": "", "M": "-01", "d": "-01", "H": " 00", "m": ":00", "s": ":00", "S": ""}
_MARKS = {"y": "", "M": "-", "d": "-", "H": " ", "m": ":", "s": ":", "S": "."}


class Misfit(ValueError):
    """Error of a line of an ARFF file; begins with the number of the line."""

    def __init__(self, line: int, words: str) -> None:
        super().__init__(f"line {line}: {words}")


@dataclass(frozen=True)
class DateForm:
    """How dates are written.

    Attributes
    ----------
    pattern : str
        As the file declares it: "dd.MM.yyyy HH:mm".
    written : str
        Regular expression of a date.
    iso : str
        What makes of it a date in ISO form.
    unit : str
        "D" for days, "s" or "ms" for times.
    """

    pattern: str
    written: str
    iso: str
    unit: str

    @classmethod
    def of(cls, pattern: str) -> "DateForm":
        """Read a pattern of Java's SimpleDateFormat; an error names a letter without a meaning."""
        written = ""
        groups: dict[str, int] = {}
        for literal, field, other in re.findall(r"'((?:[^']|'')*)'|([A-Za-z])\2*|(.)", pattern):
            if not field:
                written += re.escape(literal.replace("''", "'") or other or "'")
                continue
            if field not in _FIELDS or field in groups:
                raise ValueError(f"the date pattern {pattern!r} has the letter {field!r}")
            groups[field] = len(groups) + 1
            digits = {"y": "4", "S": "3"}.get(field, "1,2")
            written += rf"(\d{{{digits}}})"
        if "y" not in groups or "yyyy" not in pattern:
            raise ValueError(f"the date pattern {pattern!r} has no year of four digits (yyyy)")
        if "MMM" in pattern:
            raise ValueError(f"the date pattern {pattern!r} writes months as words (MMM)")
        last = max(list(_FIELDS).index(field) for field in groups)
        unit = "ms" if "S" in groups else "s" if last > 2 else "D"
        needed = list(_FIELDS)[: 3 if unit == "D" else 6 if unit == "s" else 7]
        iso = "".join(
            rf"{_MARKS[field]}\{groups[field]}" if field in groups else _FIELDS[field]
            for field in needed
        )
        return cls(pattern, f"^{written}$", iso, unit)


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
    date : DateForm or None
        How dates are written.
    """

    name: str
    kind: str
    categories: tuple[str, ...] = ()
    date: DateForm | None = None

    def in_words(self) -> str:
        """Say what its values are."""
        if self.kind == NOMINAL:
            return f"one of its {len(self.categories):,} declared values"
        if self.date is not None:
            return f"a date written {self.date.pattern}"
        return "a whole number" if self.kind == INTEGER else "a number"

    def arrow_type(self, *, whole: bool) -> Any:
        """Return the Arrow type of its values; `whole`: integers stay integers."""
        pa = optional_import("pyarrow", "ARFFStream")
        if self.kind == NOMINAL:
            return pa.dictionary(pa.int32(), pa.string())
        if self.date is not None:
            return pa.date32() if self.date.unit == "D" else pa.timestamp(self.date.unit)
        if self.kind == STRING:
            return pa.string()
        return pa.int64() if whole and self.kind == INTEGER else pa.float64()


@dataclass(frozen=True)
class Header:
    """Header of an ARFF file.

    Attributes
    ----------
    attributes : tuple of Attribute
        Its columns.
    n_lines : int
        Number of lines up to and with that of ``@data``.
    is_sparse : bool
        Whether the rows name the attributes that are not 0.
    delimiter : str
        What separates the values of a row: a comma, or a tab.
    """

    attributes: tuple[Attribute, ...]
    n_lines: int
    is_sparse: bool
    delimiter: str


def split_values(text: str, delimiter: str = ",") -> list[str | None]:
    """Values in a line; None for a missing one, which is a question mark or nothing.

    Examples
    --------
    >>> from skstream.streams._arff_header import split_values
    >>> split_values("1.5, ?, 'a, b', '?'")
    ['1.5', None, 'a, b', '?']
    """
    values: list[str | None] = []
    place = 0
    while True:
        value, place, ends = _value_at(text, place, delimiter)
        values.append(value)
        if ends:
            return values


def split_pairs(text: str) -> list[tuple[int, str | None]]:
    """Positions and values in a sparse row, without its braces.

    Examples
    --------
    >>> from skstream.streams._arff_header import split_pairs
    >>> split_pairs("0 1.5, 3 'a b',7 ?")
    [(0, '1.5'), (3, 'a b'), (7, None)]
    """
    pairs: list[tuple[int, str | None]] = []
    place, ends = 0, not text.strip()
    while not ends:
        index = _INDEX.match(text, place)
        if index is None:
            raise ValueError(
                f"{shortened(text[place:].strip())!r} does not begin with an index and a value."
            )
        value, place, ends = _value_at(text, index.end(), ",")
        pairs.append((int(index[1]), value))
    return pairs


def _value_at(text: str, place: int, delimiter: str) -> tuple[str | None, int, bool]:
    """The value at a place, the place behind it, and whether the text ends there."""
    found = _VALUES[delimiter].match(text, place)
    if found is None:
        raise ValueError(
            f"the quote before {shortened(text[place:].strip())!r} is not closed, or is followed "
            f"by more than {'a tab' if delimiter == chr(9) else 'a comma'}."
        )
    single, double, plain, end = found.groups()
    value: str | None
    if plain is not None:
        value = None if plain.strip() in ("", "?") else plain.strip()
    else:
        value = _unescaped(single, "'") if double is None else _unescaped(double, '"')
    return value, found.end(), not end


def _unescaped(text: str, quote: str) -> str:
    text = text.replace(quote * 2, quote)
    return re.sub(r"\\(.)", lambda m: _ESCAPED.get(m[1], m[1]), text) if "\\" in text else text


def attributes_of(text: str, file: str) -> tuple[Attribute, ...]:
    """Attributes that the lines of a header declare.

    Parameters
    ----------
    text : str
        The lines above that of ``@data``.
    file : str
        Name of the file, for messages.

    Returns
    -------
    tuple of Attribute
        At least one.

    Raises
    ------
    Misfit
        If a line is neither a declaration nor a comment.
    ValueError
        If no attribute is declared, or two have the same name.
    """
    attributes = []
    lines = iter(enumerate(text.split("\n"), 1))
    for number, line in lines:
        line = line.strip()
        word = line.partition(" ")[0].partition("\t")[0].lower()
        if not line or line.startswith("%") or word == "@relation":
            continue
        if word != "@attribute":
            raise Misfit(
                number,
                f"{shortened(line)!r} is neither @relation, @attribute, @data nor a comment (%).",
            )
        declaration = line[len(word) :].strip()
        # The values of a nominal attribute may go over several lines.
        while "{" in declaration and not declaration.endswith("}"):
            more = next(lines, None)
            if more is None or more[1].lstrip().lower().startswith("@attribute"):
                raise Misfit(number, f"the brace of {shortened(line)!r} is not closed.")
            if not more[1].lstrip().startswith("%"):
                declaration += " " + more[1].strip()
        try:
            attributes.append(_attribute(declaration))
        except ValueError as error:
            raise Misfit(number, f"{error}.") from error
    if not attributes:
        raise ValueError(f"{file} cannot be read as an ARFF file: it declares no @attribute.")
    check_no_name_twice([attribute.name for attribute in attributes], file)
    return tuple(attributes)


def _attribute(declaration: str) -> Attribute:
    found = _NAME.match(declaration)
    if found is None:
        raise ValueError(f"{shortened(declaration)!r} does not begin with a name")
    single, double, plain = found.groups()
    name = plain if plain is not None else _unescaped(single or double or "", "'")
    kind = declaration[found.end() :].strip()
    if kind.startswith("{"):
        values = split_values(kind[1:-1])
        if None in values:
            raise ValueError(f"the values of {name!r} hold an empty one, or a '?' without quotes")
        texts = tuple(value for value in values if value is not None)
        if len(set(texts)) < len(texts):
            twice = next(text for text in texts if texts.count(text) > 1)
            raise ValueError(f"the values of {name!r} hold {twice!r} twice")
        return Attribute(name, NOMINAL, texts)
    word, _, rest = kind.partition(" ")
    if word.lower() == "relational":
        raise ValueError(f"{name!r} is relational: its values are tables, which no model takes")
    if word.lower() not in _KINDS:
        raise ValueError(
            f"{name!r} has the type {shortened(kind)!r}; known are numeric, real, integer, string, "
            f"date and {{values}}"
        )
    known = _KINDS[word.lower()]
    if known != DATE:
        return Attribute(name, known)
    pattern = split_values(rest.strip() or f'"{_DEFAULT_DATE}"')[0]
    return Attribute(name, DATE, date=DateForm.of(pattern or ""))
