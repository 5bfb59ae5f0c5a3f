"""Groups of rows that columns name."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from decimal import Decimal
from functools import cached_property
from numbers import Real
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from skstream.engine.tape import Tape
from skstream.evaluation._log_rows import as_floats
from skstream.evaluation._results._result import EvaluationResult
from skstream.evaluation._tape_rows import tape_of
from skstream.evaluation.delayed import DelayedResult
from skstream.utils._label_space import LabelSpace
from skstream.utils._labels import as_labels, distinct_labels, is_missing
from skstream.utils._rows import is_frame
from skstream.utils._values import column_at

Floats = NDArray[np.float64]
Integers = NDArray[np.intp]

_PARTS = {2: "half", 3: "third", 4: "quarter", 5: "fifth", 10: "tenth", 100: "percent"}
# Quantiles of the past are taken again when it has grown by this part.
_GROWTH = 0.25
# Values that show at first sight that there are many.
_FIRST = 10_000


@dataclass(frozen=True, eq=False)
class Groups:
    """Rows of a tape by group.

    Attributes
    ----------
    names : list of str
        The groups.
    codes : ndarray of shape (n_rows,)
        Position of the group of each row.
    n_other : int
        Groups that are together in the last one.
    """

    names: list[str]
    codes: Integers
    n_other: int

    @cached_property
    def rows(self) -> list[Integers]:
        """Rows of each group, in their order."""
        few = self.codes.astype(np.min_scalar_type(len(self.names)))  # sorted in linear time
        order = np.argsort(few, kind="stable")
        sizes = np.bincount(self.codes, minlength=len(self.names))
        return np.split(order, np.cumsum(sizes)[:-1])

    def tape(self, tape: Tape, number: int) -> Tape:
        """Return a tape on which models were asked about the rows of one group alone."""
        others = self.codes != number

        def masked(columns: Any, nothing: float) -> Any:
            table = np.array(columns)
            table[:, others] = nothing
            return table

        nothing = LabelSpace(tape.classes).nothing
        return replace(
            tape,
            answers={name: masked(one, nothing) for name, one in tape.answers.items()},
            scores={name: masked(one, np.nan) for name, one in tape.scores.items()},
        )


def groups_of(slices: Any, result: EvaluationResult, max_slices: int, n_quantiles: int) -> Groups:
    """Divide the rows of a tape by the columns that name their groups."""
    tape, n_rows = tape_of(result), _n_stream_rows(result)
    columns = [
        Column.of(values, name, n_rows, max_slices, n_quantiles)
        for name, values in _columns(slices)
    ]
    codes = np.zeros(n_rows, dtype=np.intp)
    # Of each combination that occurs, its codes in the columns.
    combinations = np.zeros((1, 0), dtype=np.intp)
    for column in columns:
        size = len(column.values) + 1
        there, codes = _dense(codes * size + column.codes, len(combinations) * size)
        combinations = np.column_stack([combinations[there // size], there % size])
    codes = codes if tape.row is None else codes[tape.row]
    counts = np.bincount(codes, minlength=len(combinations))
    largest = np.argsort(-counts, kind="stable")[:max_slices]
    kept = np.sort(largest[counts[largest] > 0])
    n_other = int(np.count_nonzero(counts)) - len(kept)
    place_of = np.full(len(combinations), len(kept), dtype=np.intp)
    place_of[kept] = np.arange(len(kept))
    names = _names(columns, combinations[kept])
    if n_other:
        names.append("other" if "other" not in names else "(other)")
    return Groups(names, place_of[codes], n_other)


def _n_stream_rows(result: EvaluationResult) -> int:
    """Rows of the stream, also of those without a label."""
    tape = tape_of(result)
    if isinstance(result, DelayedResult):
        waits = result.waits
        if tape.row is None:
            raise ValueError(
                "This result was saved without the numbers of its rows, by an earlier version: "
                "evaluate again."
            )
        return waits.n_labelled + waits.n_never + waits.n_pending + waits.n_dropped
    return tape.n_rows + (0 if tape.row is None else result.n_unlabelled)


def _columns(slices: Any) -> list[tuple[str, Any]]:
    """Columns by name; one without a name has an empty one."""
    if isinstance(slices, str):
        raise TypeError(
            f"slices is the text {slices!r}; pass the column itself, such as frame[{slices!r}] or "
            f"log.column({slices!r})."
        )
    if isinstance(slices, Mapping):
        columns = [(str(name), values) for name, values in slices.items()]
    elif hasattr(slices, "column_names") and hasattr(slices, "schema"):  # of Arrow
        columns = [(str(name), slices[name]) for name in slices.column_names]
    elif is_frame(slices):
        if not hasattr(slices, "shape"):
            raise TypeError(f"slices is a {type(slices).__name__}. Pass slices.collect() instead.")
        columns = [(str(name), column_at(slices, k)) for k, name in enumerate(slices.columns)]
    else:
        return [("", slices)]
    if not columns:
        raise ValueError("slices has no column: name at least one.")
    return columns


@dataclass(frozen=True, eq=False)
class Column:
    """A column that names groups.

    Attributes
    ----------
    name : str
        Empty where it has none.
    codes : ndarray of shape (n_rows,)
        Positions in the values; their number where there is no value.
    values : array of shape (n_values,)
        The different values in their order; of quantiles their names.
    is_text : bool
        Whether the values are texts of the user.
    """

    name: str
    codes: Integers
    values: NDArray[Any]
    is_text: bool = False
    is_cut: bool = False

    @classmethod
    def of(cls, given: Any, name: str, n_rows: int, max_slices: int, n_quantiles: int) -> Self:
        what = f"slices[{name!r}]" if name else "slices"
        column = as_labels(given, what)
        if len(column) != n_rows:
            raise ValueError(
                f"{what} has {len(column):,} values, and the stream has {n_rows:,} rows (those "
                "without a label are rows, too). Pass a value for each row, in their order."
            )
        if column.dtype.kind in "mM":
            texts = column.astype(str).astype(object)
            texts[np.isnat(column)] = None
            column = texts
        if column.dtype == object:
            first = next((one for one in column if not is_missing(one)), None)
            if isinstance(first, Real | Decimal) and not isinstance(first, bool | np.bool_):
                column = as_floats(what, column, n_rows)
        if column.dtype.kind != "f":
            values = distinct_labels(column, what)
            if values.dtype.kind not in "iu" or len(values) <= max_slices:
                codes = LabelSpace(values).encode(column)
                is_text = any(isinstance(one, str) for one in values[:1])
                return cls(name, np.where(codes < 0, len(values), codes), values, is_text)
            return cls.cut(name, column, np.ones(n_rows, dtype=bool), n_quantiles)
        known = ~np.isnan(column)
        if len(np.unique(column[known][:_FIRST])) > max_slices:
            return cls.cut(name, column, known, n_quantiles)
        values, places = np.unique(column[known], return_inverse=True)
        if len(values) > max_slices:
            return cls.cut(name, column, known, n_quantiles)
        codes = np.full(n_rows, len(values), dtype=np.intp)
        codes[known] = places
        return cls(name, codes, values)

    @classmethod
    def cut(cls, name: str, column: NDArray[Any], known: NDArray[np.bool_], n: int) -> Self:
        """Cut numbers into quantiles of the past."""
        codes = np.full(len(column), n, dtype=np.intp)
        codes[known] = _quantiles_of_past(column[known], n)
        return cls(name, codes, np.array([_ordinal(k + 1, n) for k in range(n)]), is_cut=True)

    def word(self, code: int, *, quoted: bool) -> str:
        """Name one of the values."""
        if code == len(self.values):
            return f"{self.name} missing".lstrip()
        value = self.values[code]
        if self.is_text:
            text = str(value)
            plain = text.strip() and text.isprintable() and not quoted
            return text if plain else repr(text)
        if self.is_cut:
            return f"{self.name} {value}".lstrip()
        text = f"{value:.12g}" if isinstance(value, np.floating) else str(value)
        return f"{self.name}={text}" if self.name else text


def _names(columns: Sequence[Column], combinations: Integers) -> list[str]:
    """Name groups by their values, which are quoted where names would else be equal."""
    for quoted in (False, True):
        names = [
            ", ".join(
                column.word(code, quoted=quoted) for column, code in zip(columns, row, strict=True)
            )
            for row in combinations.tolist()
        ]
        if len(set(names)) == len(names):
            break
    return names


def _dense(codes: Integers, n_codes: int) -> tuple[Integers, Integers]:
    """Return the codes that occur, and the position of each row's among them."""
    if n_codes > 4 * len(codes) + 1024:
        there, places = np.unique(codes, return_inverse=True)
        return there, places
    there = np.flatnonzero(np.bincount(codes, minlength=1))
    place_of = np.zeros(n_codes, dtype=np.intp)
    place_of[there] = np.arange(len(there))
    return there, place_of[codes]


def _quantiles_of_past(numbers: NDArray[Any], n: int) -> Integers:
    """Quantile of each number among those before it, from 0 on."""
    codes = np.zeros(len(numbers), dtype=np.intp)
    start = 1
    while start < len(numbers):
        stop = start + max(1, int(_GROWTH * start))
        # The smallest of the numbers so far that at least so large a part of them do not exceed.
        places = [-(-start * k // n) - 1 for k in range(1, n)]
        bounds = np.partition(numbers[:start], places)[places]
        codes[start:stop] = np.searchsorted(bounds, numbers[start:stop])
        start = stop
    return codes


def _ordinal(k: int, n: int) -> str:
    """Write "2nd quarter"."""
    ending = "th" if k % 100 in (11, 12, 13) else {1: "st", 2: "nd", 3: "rd"}.get(k % 10, "th")
    return f"{k}{ending} {_PARTS.get(n, f'of {n}')}"
