"""Groups of rows that columns name, and scores of the rows of a group."""

from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from datetime import date, datetime
from decimal import Decimal
from functools import cached_property, partial
from itertools import product
from numbers import Real
from typing import Any, NamedTuple, Self

import numpy as np
from numpy.typing import NDArray
from scipy import stats
from scipy.special import expit

from skstream.core.evaluators.delayed import DelayedResult
from skstream.core.measures.formulas import Sums
from skstream.core.measures.measure import OF_SCORES, Measure
from skstream.core.measures.rows import NOT_GIVEN, NOT_GIVEN_TARGET, ScoredRows
from skstream.core.measures.running import buffer_size
from skstream.core.measures.scores import Scores, Values, joined_values, make_sums
from skstream.core.measures.series import KindOf, baselines_of, columns_of_kinds, kind_of
from skstream.core.measures.sums import SumsByKind
from skstream.core.result.result import EvaluationResult
from skstream.core.run.tape import Tape, lanes_of, scores_of_bin, tape_of
from skstream.forgetting import Forgetting
from skstream.logs._log_rows import as_floats
from skstream.stats._pairs import wilson
from skstream.streams._values import column_at
from skstream.utils._choices import told_apart
from skstream.utils._labels import (
    NO_LABEL,
    LabelSpace,
    as_labels,
    distinct_labels,
    is_given,
    is_missing,
)
from skstream.utils._rows import is_frame

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
    of_times : bool
        Whether dates name them.
    """

    names: list[str]
    codes: Integers
    n_other: int
    of_times: bool

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
    # For each combination that occurs, its codes in the columns.
    combinations = np.zeros((1, 0), dtype=np.intp)
    for column in columns:
        size = len(column.words) + 1
        there, codes = _dense(codes * size + column.codes, len(combinations) * size)
        combinations = np.column_stack([combinations[there // size], there % size])
    codes = codes if tape.row is None else codes[tape.row]
    counts = np.bincount(codes, minlength=len(combinations))
    largest = np.argsort(-counts, kind="stable")[:max_slices]
    kept = np.sort(largest[counts[largest] > 0])
    n_other = int(np.count_nonzero(counts)) - len(kept)
    place_of = np.full(len(combinations), len(kept), dtype=np.intp)
    place_of[kept] = np.arange(len(kept))
    names = _names(columns, combinations[kept], other=n_other > 0)
    of_times = any(column.of_times for column in columns)
    return Groups(names, place_of[codes], n_other, of_times)


def _n_stream_rows(result: EvaluationResult) -> int:
    """Rows of the stream, also of those without a label."""
    tape = tape_of(result)
    if isinstance(result, DelayedResult):
        waits = result.waits
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
        raise ValueError("slices has no column: pass at least one.")
    return columns


@dataclass(frozen=True, eq=False)
class Column:
    """A column that names groups.

    Attributes
    ----------
    name : str
        Empty where it has none.
    codes : ndarray of shape (n_rows,)
        Positions in the words; their number where there is no value.
    words : list of str
        Names of the different values in their order, made of whole values.
    is_text : list of bool, or empty
        Which are texts of the user.
    of_times : bool
        Whether the values are dates.
    sign : str
        What is between the name and a word that is no text.
    """

    name: str
    codes: Integers
    words: list[str]
    is_text: Sequence[bool] = ()
    of_times: bool = False
    sign: str = "="

    @classmethod
    def of(cls, given: Any, name: str, n_rows: int, max_slices: int, n_quantiles: int) -> Self:
        what = f"slices[{name!r}]" if name else "slices"
        column = as_labels(given, what)
        if len(column) != n_rows:
            raise ValueError(
                f"{what} has {len(column):,} values, but the stream has {n_rows:,} rows (including "
                "those without a label). Pass a value for each row, in order."
            )
        if column.dtype.kind in "iuf":
            known = ~np.isnan(column)
            numbers = column[known]
            if len(np.unique(numbers[:_FIRST])) > max_slices:
                return cls._cut(name, numbers, known, n_quantiles)
        codes, values = _coded(column, what)
        if len(values) > max_slices and all(map(_is_number, values)):
            numbers = as_floats(what, column, n_rows)
            known = ~np.isnan(numbers)
            return cls._cut(name, numbers[known], known, n_quantiles)
        is_text = [isinstance(one, str) for one in values]
        times = column.dtype.kind == "M" or any(isinstance(one, date) for one in values)
        return cls(name, codes, _words(values), is_text, times)

    @classmethod
    def _cut(
        cls, name: str, numbers: NDArray[Any], known: NDArray[np.bool_], n_quantiles: int
    ) -> Self:
        """Cut numbers into quantiles of the past."""
        codes = np.full(len(known), n_quantiles, dtype=np.intp)
        codes[known] = _quantiles_of_past(numbers, n_quantiles)
        words = [_ordinal(k + 1, n_quantiles) for k in range(n_quantiles)]
        return cls(name, codes, words, sign=" ")

    def word(self, code: int, *, quoted: bool) -> str:
        """Name one of the values."""
        if code == len(self.words):
            return f"{self.name} missing".lstrip()
        word = self.words[code]
        if self.is_text and self.is_text[code]:
            return word if word.strip() and word.isprintable() and not quoted else repr(word)
        return f"{self.name}{self.sign}{word}" if self.name else word


def _is_number(value: Any) -> bool:
    others = bool | np.bool_ | np.timedelta64
    return isinstance(value, Real | Decimal) and not isinstance(value, others)


def _coded(column: NDArray[Any], what: str) -> tuple[Integers, list[Any]]:
    """Return the position of each row's value among the different ones, and these in order."""
    kind = column.dtype.kind
    if kind in "fmM":
        values, codes = np.unique(column, return_inverse=True)
        n_known = int(np.count_nonzero(values == values))  # what is missing comes last
        return np.minimum(codes, n_known), list(values[:n_known])
    given = column.tolist() if kind == "O" else []
    if kind != "O" or set(map(type, given)) <= {str, type(None)}:
        distinct = distinct_labels(column, what)
        codes = LabelSpace(distinct).encode(column)
        return np.where(codes < 0, len(distinct), codes), distinct.tolist()
    keys = [(isinstance(one, bool | np.bool_), one) for one in given]  # True equals 1
    try:
        different = [key for key in dict.fromkeys(keys) if not is_missing(key[1])]
    except TypeError as error:
        raise TypeError(f"The values in {what} cannot be compared ({error}).") from error
    with suppress(TypeError):  # they have no order
        different.sort(key=lambda key: (isinstance(key[1], str), not key[0], key[1]))
    places = {key: place for place, key in enumerate(different)}
    return np.array([places.get(key, len(places)) for key in keys]), [one for _, one in different]


def _words(values: list[Any]) -> list[str]:
    """Write values as people do, and whole: equal words are of equal values of one kind."""
    if values and all(isinstance(one, np.datetime64) for one in values):
        times = np.array(values)
        if np.datetime_data(times.dtype)[0] not in ("Y", "M"):
            cut = (times.astype(f"M8[{unit}]") for unit in ("D", "m", "s", "ms", "us"))
            times = next((one for one in cut if (one == times).all()), times)
        return [str(one).replace("T", " ") for one in times]
    words = [_word(one) for one in values]
    if all(isinstance(one, datetime) for one in values):
        midnight = " 00:00:00"
        if all(word.endswith(midnight) for word in words):
            return [word.removesuffix(midnight) for word in words]
    return words


def _word(value: Any) -> str:
    if isinstance(value, float | np.floating):
        return str(value + 0).removesuffix(".0")  # a zero has no sign
    return str(value)


def _names(columns: Sequence[Column], combinations: Integers, *, other: bool) -> list[str]:
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
    rest = "other"
    while rest in names:
        rest = f"({rest})"
    return told_apart(names) + [rest] * other


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


#: Blocks of the rows of a group, each of which is left out once.
N_BLOCKS = 20
#: Fewer rows than these do not tell how much errors depend on each other.
LEAST_ROWS = 2 * N_BLOCKS
#: With fewer rows, intervals of measures that are no shares hold too seldom.
LEAST_OF_OTHERS = 5 * N_BLOCKS
#: Shares of rows, whose intervals are those of shares.
_SHARES = ("accuracy", "error")
_MOST_SCORES = 1 << 22
#: Number for rows that are in none of the blocks.
NO_BLOCK = -1


class Estimate(NamedTuple):
    """Score of a model over some rows, and without one block of them after the other.

    Attributes
    ----------
    value : float
        The score.
    left : ndarray of shape (N_BLOCKS,)
        The scores without each block.
    n_rows : int
        Rows that were scored.
    n_equal : float
        How many rows of equal weight would tell as much.
    """

    value: float
    left: Floats
    n_rows: int
    n_equal: float

    def minus(self, other: "Estimate") -> "Estimate":
        """Difference of two models over the same rows."""
        values = self.value - other.value, self.left - other.left
        return Estimate(*values, min(self.n_rows, other.n_rows), min(self.n_equal, other.n_equal))

    def interval(self, measure: Measure | None, alpha: float) -> tuple[float, float]:
        """Ends of the interval, NaN where there is none; of no measure: of a difference."""
        t, value = float(stats.t.ppf(1 - alpha / 2, N_BLOCKS - 1)), self.value
        if measure is not None and measure.name in _SHARES and self.n_rows:
            error = standard_error(self.left) if self.n_rows >= LEAST_ROWS else np.nan
            # As many independent rows as would have this error, but no more than there are.
            spread = value * (1 - value)
            n = min(self.n_equal, spread / error**2) if error > 0 and spread > 0 else self.n_equal
            ends = wilson(np.array([value]), np.array([n]), 1 - 2 * float(stats.norm.sf(t)))
            return float(ends[0][0]), float(ends[1][0])
        bounds = (-np.inf, np.inf) if measure is None else measure.bounds
        left = _without_bounds(np.append(self.left, value), *bounds)
        if self.n_rows < LEAST_OF_OTHERS or not np.isfinite(left).all():
            return np.nan, np.nan
        reach = t * standard_error(left[:-1])
        low, high = _with_bounds(left[-1] + np.array([-reach, reach]), *bounds).tolist()
        return low, high


def standard_error(left: Floats) -> float:
    """Jackknife, in which errors may depend on each other within a block; NaN: unknown."""
    if not np.isfinite(left).all():
        return np.nan
    return float(np.sqrt((N_BLOCKS - 1) / N_BLOCKS * np.sum((left - left.mean()) ** 2))) or np.nan


def _without_bounds(values: Floats, low: float, high: float) -> Floats:
    """Return log odds between two bounds, or the logarithm of the distance from one.

    Near a bound a measure varies less and to one side; on this scale it is closer to normal.
    """
    if np.isinf(low) and np.isinf(high):
        return values
    with np.errstate(divide="ignore", invalid="ignore"):
        above = np.log(values - low) if np.isfinite(low) else 0.0
        return np.asarray(above - (np.log(high - values) if np.isfinite(high) else 0.0))


def _with_bounds(values: Floats, low: float, high: float) -> Floats:
    """Undo `_without_bounds`."""
    if np.isfinite(low) and np.isfinite(high):
        return np.asarray(low + (high - low) * expit(values))
    if np.isfinite(low):
        return low + np.exp(values)
    return high - np.exp(-values) if np.isfinite(high) else values


class Lines:
    """Answers of all models and folds, and what the baselines of the whole stream answered.

    Scoring some of the rows reads no others: it takes as long as there are rows.

    Parameters
    ----------
    result : EvaluationResult
        With a tape.
    measures : dict of str to Measure
        What is measured.
    mechanisms : dict of str to Forgetting
        Mechanisms that depend on the number of rows alone.
    bin : int or None
        Bin of the answers with delayed labels.
    """

    def __init__(
        self,
        result: EvaluationResult,
        measures: dict[str, Measure],
        mechanisms: dict[str, Forgetting],
        bin: int | None,
    ) -> None:
        tape = tape_of(result)
        self.tape, self.measures, self.mechanisms = tape, measures, mechanisms
        self.lanes = lanes_of(tape)
        last = 0
        self.scores: list[Any] = [None] * len(self.lanes)
        self.needs_scores = any(one.needs in OF_SCORES for one in measures.values())
        if self.needs_scores:
            self.scores = [
                scores_of_bin(tape.scores[name][fold], answers, bin)
                if name in tape.scores
                else None
                for (name, fold), answers in self.lanes.items()
            ]
        if bin is not None:
            last = next(iter(self.lanes.values())).shape[1] - 1
            self.lanes = {name: answers[:, bin] for name, answers in self.lanes.items()}
        self.y = np.asarray(tape.y)
        self.known = is_given(self.y)
        if tape.weight is not None:
            self.known &= np.asarray(tape.weight) > 0
        n_classes = 0 if tape.classes is None else len(tape.classes)
        # The blocks of rows are those of one pass over a stream.
        self.size = buffer_size(mechanisms.values())
        if any(one is not None for one in self.scores):
            self.size = min(self.size, max(1024, _MOST_SCORES // max(1, n_classes)))
        needs = baselines_of(frozenset().union(*(one.series for one in measures.values())))
        self.previous = None
        if "previous" in needs:
            # The last answers of all came when the previous label was known.
            self.previous = self._previous(
                None if bin is not None and bin == last else tape.previous
            )
        self.majorities: dict[str, tuple[NDArray[Any], NDArray[Any]]] = {}
        self.batches = [list(mechanisms)]
        if needs & {"majority", "inclusive"}:
            self.batches = [[name] for name in mechanisms]
            self.majorities = {name: self._majority(n_classes, m) for name, m in mechanisms.items()}

    def _previous(self, given: NDArray[Any] | None) -> NDArray[Any]:
        """Answers of the persistent baseline to all rows."""
        rows = np.flatnonzero(self.known)
        previous = np.full_like(self.y, LabelSpace(self.tape.classes).nothing)
        previous[rows[1:]] = self.y[rows[:-1]]
        if given is None:
            return previous
        not_given = NOT_GIVEN_TARGET if self.tape.classes is None else NOT_GIVEN
        return np.where(np.asarray(given) == not_given, previous, given)

    def _majority(self, n_classes: int, mechanism: Forgetting) -> tuple[NDArray[Any], NDArray[Any]]:
        """Answers of the majority baseline to all rows, without and with the label of the row."""
        sums: Any = make_sums(mechanism, frozenset({"label"}), n_classes, 0)
        before, after = np.full_like(self.y, NO_LABEL), np.full_like(self.y, NO_LABEL)
        for start in range(0, len(self.y), self.size):
            rows = start + np.flatnonzero(self.known[start : start + self.size])
            if len(rows):
                weight = None if self.tape.weight is None else np.asarray(self.tape.weight[rows])
                none = np.empty((0, len(rows)), self.y.dtype)
                majority = sums.majority(ScoredRows(self.y[rows], none, weight))
                before[rows], after[rows] = majority.before, majority.after
        return before, after

    def curves(
        self, rows: Integers, checkpoints: NDArray[np.int64]
    ) -> dict[tuple[str, str, str], Floats]:
        """Curves of shape (n_checkpoints, n_folds) by model, mechanism and measure."""
        counts = np.searchsorted(rows, checkpoints)
        ends, firsts, at = np.unique(counts, return_index=True, return_inverse=True)
        begun = int(len(ends) > 0 and ends[0] == 0)
        values = self._read(rows, ends[begun:], checkpoints[firsts[begun:]])
        found, tables = (
            {},
            np.array(values).reshape(
                len(self.mechanisms) * len(self.measures), len(self.lanes), len(ends) - begun
            ),
        )
        series = product(self.mechanisms, self.measures)
        for (mechanism, metric), table in zip(series, tables, strict=True):
            table = np.concatenate([np.full((len(table), begun), np.nan), table], axis=1)
            for model in dict.fromkeys(name for name, _ in self.lanes):
                found[model, mechanism, metric] = table[self._folds(model)].T[at]
        return found

    def scored(self, rows: Integers) -> dict[str, NDArray[np.bool_]]:
        """Which of some rows are scored in some fold, by model."""
        found: dict[str, NDArray[np.bool_]] = {}
        for (model, _), answers in self.lanes.items():
            one = self.known[rows] & is_given(np.asarray(answers[rows]))
            found[model] = found[model] | one if model in found else one
        return found

    def estimates(self, rows: Integers) -> dict[str, Estimate]:
        """Scores of the only measure over some rows, and without one block after the other."""
        scored = self.scored(rows)
        in_any = np.any(list(scored.values()), axis=0)
        table = np.full((len(self.lanes), N_BLOCKS + 1), np.nan)
        n = int(in_any.sum())
        (measure,) = self.measures.values()
        if n:
            blocks = np.maximum(np.cumsum(in_any) - 1, 0) * N_BLOCKS // n
            without = self._without_each_sum if is_additive(measure) else self.without_each
            if reads_all_labels(measure):
                among = np.full(len(self.y), NO_BLOCK)
                among[rows] = blocks
                table = without(np.arange(len(self.y)), among)
            else:
                table = without(rows, blocks)
        found = {}
        for model, one in scored.items():
            means = table[self._folds(model)].mean(axis=0)
            n_rows = int(one.sum())
            n_equal = float(n_rows)
            if self.tape.weight is not None and n_rows:
                weight = np.asarray(self.tape.weight)[rows[one]]
                n_equal = float(weight.sum() ** 2 / (weight**2).sum())
            # A mean over classes, of which each counts.
            if "hit" in measure.series and ":" not in measure.name and n_rows:
                _, times = np.unique(self.y[rows[one]], return_counts=True)
                means[:-1] = np.where(times.min() < N_BLOCKS, np.nan, means[:-1])
            found[model] = Estimate(float(means[-1]), means[:-1], n_rows, n_equal)
        return found

    def without_each(self, rows: Integers, blocks: Integers) -> Floats:
        """Values of all lines without one block after the other, and of all blocks."""
        ends, n_values = np.array([len(rows)]), N_BLOCKS + 1
        values = self._read(rows, ends, ends, blocks, range(n_values))
        return np.array(values).reshape(-1, n_values)

    def _without_each_sum(self, rows: Integers, blocks: Integers) -> Floats:
        """Do the same for a formula of sums: the rows are read once, and blocks subtracted."""
        ((name, measure),) = self.measures.items()
        assert measure.formula is not None
        last = np.maximum.accumulate(blocks)  # rows of other groups are in none
        ends = np.searchsorted(last, np.arange(N_BLOCKS), side="right")
        table = []
        for k in range(len(self.lanes)):
            noted = _Noted(measure.series)
            some = {name: replace(measure, formula=noted)}
            self._read(rows, ends, ends, blocks, [N_BLOCKS], some, [k])
            left: SumsByKind = {}
            for kind in measure.series:
                sums = np.concatenate([part[kind] for part in noted.parts], axis=1)
                of_all = sums[:, -1:]
                of_blocks = np.diff(sums, prepend=0.0, axis=1)
                left[kind] = list(np.concatenate([of_all - of_blocks, of_all], axis=1))
            table.append(Sums(left).value(measure.formula))
        return np.array(table)

    def _folds(self, model: str) -> list[int]:
        """Lines of a model."""
        return [k for k, (name, _) in enumerate(self.lanes) if name == model]

    def _read(
        self,
        rows: Integers,
        ends: Integers,
        n_seen: NDArray[np.int64],
        blocks: Integers | None = None,
        apart: Sequence[int] = (N_BLOCKS,),
        measures: dict[str, Measure] | None = None,
        lines: Sequence[int] | None = None,
    ) -> Values:
        """Values of lines after the first ``ends[i]`` of some rows.

        With the block of each row, there is a line for each of the blocks `apart`, in which models
        were not asked about the rows of that block, nor about those of no block.
        """
        lines = range(len(self.lanes)) if lines is None else lines
        n_lines = len(lines) * len(apart)
        names = [name for name, _ in self.lanes]
        methods = [self.tape.methods.get(names[k]) for k in lines for _ in apart]
        found: Values = []
        for batch in self.batches:
            running = Scores(
                self.measures if measures is None else measures,
                [partial(make_sums, self.mechanisms[name]) for name in batch],
                self.tape.classes,
                np.ones(n_lines, dtype=bool),
                methods if self.tape.methods else None,
            )
            values: Values = []
            for start in range(0, len(rows), self.size):
                part = slice(start, start + self.size)
                some = self._some_rows(rows[part], lines)
                if blocks is not None:
                    some = self._asked(some, blocks[part], apart)
                if self.majorities:
                    both = self.majorities[batch[0]]
                    some.majority, some.inclusive = (one[rows[part]] for one in both)
                first, last = np.searchsorted(ends, [start, start + len(some)], side="right")
                here = slice(first, last)
                more = running.advance(some, ends[here] - start, n_seen[here])
                values = joined_values(values, more)
            found += values
        return found

    def _some_rows(self, rows: Integers, lines: Sequence[int]) -> ScoredRows:
        """Some rows with the answers of some lines."""
        lanes = list(self.lanes.values())
        scores = None
        if self.needs_scores:
            there = {k: np.asarray(one[rows]) for k in lines if (one := self.scores[k]) is not None}
            like = next(iter(there.values()), np.empty((len(rows), 1)))
            scores = np.stack([there.get(k, np.full_like(like, np.nan)) for k in lines])
        return ScoredRows(
            self.y[rows],
            np.stack([np.asarray(lanes[k][rows]) for k in lines]),
            None if self.tape.weight is None else np.asarray(self.tape.weight[rows]),
            None if self.previous is None else self.previous[rows],
            scores=scores,
        )

    def _asked(self, rows: ScoredRows, blocks: Integers, apart: Sequence[int]) -> ScoredRows:
        """Repeat every line for each block that its models were not asked about."""
        left_out = (blocks == np.array(apart)[:, np.newaxis]) | (blocks == NO_BLOCK)
        nothing = rows.answers.dtype.type(LabelSpace(self.tape.classes).nothing)
        answers = np.where(left_out, nothing, rows.answers[:, np.newaxis])
        scores = None if rows.scores is None else np.repeat(rows.scores, len(apart), axis=0)
        return replace(rows, answers=answers.reshape(-1, len(rows)), scores=scores)


def reads_all_labels(measure: Measure) -> bool:
    """Whether it compares with what the labels of all rows before said, scored or not."""
    return any(column.of_labels for column in columns_of_kinds(measure.series))


def is_additive(measure: Measure) -> bool:
    """Whether it is a formula of sums over rows, of which no row changes what another adds."""
    if any(one.follows and not one.of_labels for one in columns_of_kinds(measure.series)):
        return False
    kinds = map(kind_of, measure.series)
    return measure.formula is not None and all(one.values is not None for one in kinds)


class _Noted:
    """A formula that notes the sums of some kinds.

    Attributes
    ----------
    parts : list of dict
        Sums by kind, of shape (n_series, n_ends), at some ends after the other.
    """

    def __init__(self, kinds: Iterable[KindOf]) -> None:
        self.kinds = kinds
        self.parts: list[dict[KindOf, Floats]] = []

    def __call__(self, sums: Sums) -> Floats:
        self.parts.append({kind: np.array(sums.of_classes(kind)) for kind in self.kinds})
        return np.zeros_like(sums["rows"])
