"""The elementary series, from whose running means measures are computed: one table of records.

A column is made of the scores of every row, once for all mechanisms. It reads rows in their order.
What it makes of a row may depend on the rows before it, such as a threshold that was the best so
far, but never on a later one, nor on the forgetting.
"""

from abc import ABC, abstractmethod
from collections.abc import Callable, Hashable, Iterable, Sequence
from copy import copy
from dataclasses import dataclass
from operator import attrgetter
from typing import Any, ClassVar, Literal, NamedTuple, Self, TypeAlias

import numpy as np
from numpy.typing import NDArray

from skstream.core.measures.rankings import Ranking
from skstream.core.measures.rows import Array, Derived, Floats, Integers, ScoredRows
from skstream.utils._labels import NO_LABEL, UNANSWERED, is_given

# As scikit-learn clips probabilities of this type, so that one row never costs infinity.
_EPS = float(np.finfo(np.float64).eps)
#: Largest logarithmic loss of a row.
HIGHEST_LOG_LOSS = float(-np.log(_EPS))


class Column(ABC):
    """Makes arrays of the rows of one model.

    Subclasses are frozen dataclasses of their parameters: those of the same parameters are equal,
    and are read once for all measures.

    Attributes
    ----------
    of_labels : bool
        Whether it reads labels alone: all labelled rows, scored or not, the same for all models.
    of_scores : bool
        Whether it reads scores, and not only answers.
    follows : bool
        Whether a row's values depend on the rows before.
    baseline : {"previous"} or None
        The baseline that it reads.
    takes_any_scores : bool
        Whether it reads decision values, too, and not probabilities alone.
    """

    of_labels: ClassVar[bool] = False
    of_scores: ClassVar[bool] = True
    takes_any_scores: ClassVar[bool] = False
    follows: ClassVar[bool] = False
    baseline: ClassVar[Literal["previous"] | None] = None

    def start(self, n_classes: int) -> Any:
        """Return the state before the first row, which is never written into."""
        return None

    @abstractmethod
    def read(self, rows: ScoredRows, state: Any) -> tuple[tuple[Array, ...], Any]:
        """Return arrays of a value, or values of several classes, per row; and the state then."""


@dataclass(frozen=True)
class OfColumn:
    """A kind of elementary series: an array of a column, perhaps divided by the codes in another.

    Attributes
    ----------
    column : Column
        Where its values come from.
    output : int or None, default=0
        Which of the column's arrays is summed; None: rows are counted.
    by : int, default=None
        Which of them says to which series of the kind each row belongs.
    n_codes : int, default=1
        Number of codes there are.
    per_class : bool, default=False
        Whether the arrays have a column per class (of two, the second alone), each divided so.
    """

    column: Column
    output: int | None = 0
    by: int | None = None
    n_codes: int = 1
    per_class: bool = False

    by_class: ClassVar[bool] = False

    @property
    def of_labels(self) -> bool:
        """Whether it depends on labels and weights alone."""
        return self.column.of_labels

    @property
    def baseline(self) -> Literal["previous"] | None:
        """The baseline that it needs."""
        return self.column.baseline

    def codes(self, n_classes: int) -> Sequence[int]:
        """Return the codes of its series."""
        if self.by is None:
            return (NO_LABEL,)
        n_tables = n_classes if self.per_class and n_classes > 2 else 1
        return range(n_tables * self.n_codes)

    def values(self, rows: ScoredRows, code: int) -> Array:
        """Return its values in the rows of one model, before weighting."""
        assert rows.derived is not None, "the caller makes the columns that its series need"
        arrays = rows.derived[self.column]
        values = None if self.output is None else arrays[self.output][0]
        if self.by is None:
            assert values is not None
            return values
        codes = arrays[self.by][0]
        if self.per_class:
            number, code = divmod(code, self.n_codes)
            codes = codes[:, number]
            values = None if values is None else values[:, number]
        here: Array = codes == code
        chosen: Array = here
        if values is not None:
            chosen = here & values if values.dtype == bool else np.where(here, values, 0.0)
        if codes.dtype.kind == "f":  # some rows have no scores
            chosen = np.where(np.isnan(codes), np.nan, chosen)
        return chosen


@dataclass(frozen=True)
class LogLoss(Column):
    """Minus the logarithm of the probability of the label."""

    def read(self, rows: ScoredRows, state: Any) -> tuple[tuple[Floats], Any]:
        """Return the loss of every row."""
        return (log_losses(rows.y, rows.s),), None


@dataclass(frozen=True)
class BrierLoss(Column):
    """Squared distance of the probabilities from 1 for the label and 0 for the others."""

    def read(self, rows: ScoredRows, state: Any) -> tuple[tuple[Floats], Any]:
        """Return the loss of every row."""
        return (brier_losses(rows.y, rows.s),), None


def label_probabilities(y: Array, scores: Floats) -> Floats:
    """Probability of each row's label."""
    if scores.shape[1] == 1:
        second = scores[:, 0]
        return np.where(y == 1, second, 1.0 - second)
    return scores[np.arange(len(y)), y]


def log_losses(y: Array, scores: Floats) -> Floats:
    """Logarithmic loss of each row, of probabilities clipped to [eps, 1 - eps]."""
    probabilities = label_probabilities(y, scores)
    np.clip(probabilities, _EPS, 1.0 - _EPS, out=probabilities)
    np.log(probabilities, out=probabilities)
    return np.negative(probabilities, out=probabilities)


def brier_losses(y: Array, scores: Floats) -> Floats:
    """Brier score of each row: of two classes for the second alone, else summed over classes."""
    if scores.shape[1] == 1:
        error = scores[:, 0] - y
        return np.multiply(error, error, out=error)
    errors = scores.copy()
    errors[np.arange(len(y)), y] -= 1.0
    return np.einsum("ij,ij->i", errors, errors)


#: A kind of series: its name, what is summed of a column of its own, or what is ranked.
KindOf: TypeAlias = str | OfColumn | Ranking


class Series(NamedTuple):
    """An elementary series: its kind and, for kinds of several series, the class or other code."""

    kind: KindOf
    code: int = NO_LABEL


@dataclass(frozen=True, kw_only=True, slots=True)
class Kind:
    """A kind of elementary series.

    Attributes
    ----------
    values : callable, or None
        ``values(rows, code)``: its values in the rows of one model, before weighting. None: no
        sum of values; the mechanisms of forgetting carry it in another form.
    of_labels : bool
        Whether it depends on labels, weights and baselines alone, not on the answers.
    by_class : bool
        Whether there is one series for each class.
    baseline : {"previous", "majority", "inclusive"} or None
        The baseline that it needs: a column of the rows that depends on the labels before each
        row, also across the border of two parts of a stream.
    """

    values: Callable[[ScoredRows, int], Array] | None
    of_labels: bool = False
    by_class: bool = False
    baseline: Literal["previous", "majority", "inclusive"] | None = None

    def codes(self, n_classes: int) -> Sequence[int]:
        """Return the codes of its series."""
        return range(n_classes) if self.by_class else (NO_LABEL,)


def values_of(rows: ScoredRows, series: Series) -> Array:
    """Weighted values of a series: bool where all weights are 1 and it is 0/1."""
    kind = series.kind
    function = (KINDS[kind] if isinstance(kind, str) else kind).values  # called for single rows
    assert function is not None, "this kind has no values to sum"
    values = function(rows, series.code)
    return values if rows.weight is None else rows.weight * values


def _known(baseline: Array | None) -> tuple[Array, NDArray[np.bool_] | None]:
    """Answers of a baseline, and a mask of the rows that have one; None: all rows."""
    assert baseline is not None, "the caller sets the baselines that its series need"
    known = is_given(baseline)
    return baseline, None if known.all() else known


def _baseline_wrong(rows: ScoredRows, baseline: Array | None) -> Array:
    answers, known = _known(baseline)
    wrong: Array = rows.y != answers
    return wrong if known is None else wrong & known


def _wrong_beside(rows: ScoredRows, baseline: Array | None) -> Array:
    _, known = _known(baseline)
    # The same object if all is known: its sums are then computed only once.
    return rows.wrong if known is None else rows.wrong & known


def _hit(rows: ScoredRows, code: int) -> Array:
    return (rows.y == code) & ~rows.wrong


def _relative_error(rows: ScoredRows, _: int) -> Array:
    # A target of 0 counts as the smallest number, as in scikit-learn.
    size = np.maximum(np.abs(rows.y), np.finfo(np.float64).eps)
    return np.abs(rows.y - rows.p) / size


def _squared_error(rows: ScoredRows, _: int) -> Array:
    error: Array = rows.y - rows.p
    return error * error


def _persistent_error(rows: ScoredRows, _: int) -> Array:
    forecasts, known = _known(rows.previous)
    error = rows.y - forecasts
    return error * error if known is None else np.where(known, error * error, 0.0)


def _error_beside_persistent(rows: ScoredRows, code: int) -> Array:
    _, known = _known(rows.previous)
    error = _squared_error(rows, code)
    return error if known is None else np.where(known, error, 0.0)


def _ones(rows: ScoredRows, _: int) -> NDArray[np.bool_]:
    return np.ones(len(rows), dtype=bool)


def _own_weight(rows: ScoredRows, code: int) -> Array | Floats:
    # Times its weight, as every value: the square. Forgetting squares its own weights, too.
    return _ones(rows, code) if rows.weight is None else rows.weight


#: All kinds by name. A row without a baseline's answer is left out of the errors of that baseline,
#: and of those of the model beside it.
KINDS: dict[str, Kind | OfColumn | Ranking] = {
    "rows": Kind(values=_ones, of_labels=True),
    "squared_weights": Kind(values=_own_weight, of_labels=True),
    "wrong": Kind(values=lambda rows, _: rows.wrong),
    "label": Kind(values=lambda rows, code: rows.y == code, of_labels=True, by_class=True),
    "answer": Kind(values=lambda rows, code: rows.p == code, by_class=True),
    "hit": Kind(values=_hit, by_class=True),
    "persistent_wrong": Kind(
        values=lambda rows, _: _baseline_wrong(rows, rows.previous),
        of_labels=True,
        baseline="previous",
    ),
    "wrong_beside_persistent": Kind(
        values=lambda rows, _: _wrong_beside(rows, rows.previous), baseline="previous"
    ),
    "majority_wrong": Kind(
        values=lambda rows, _: _baseline_wrong(rows, rows.majority),
        of_labels=True,
        baseline="majority",
    ),
    "wrong_beside_majority": Kind(
        values=lambda rows, _: _wrong_beside(rows, rows.majority), baseline="majority"
    ),
    "inclusive_wrong": Kind(
        values=lambda rows, _: _baseline_wrong(rows, rows.inclusive),
        of_labels=True,
        baseline="inclusive",
    ),
    "absolute_error": Kind(values=lambda rows, _: np.abs(rows.y - rows.p)),
    "relative_error": Kind(values=_relative_error),
    "error_above": Kind(values=lambda rows, _: np.maximum(rows.y - rows.p, 0.0)),
    "error_below": Kind(values=lambda rows, _: np.maximum(rows.p - rows.y, 0.0)),
    "target_at_most": Kind(values=lambda rows, _: rows.y <= rows.p),
    "squared_error": Kind(values=_squared_error),
    "target_spread": Kind(values=None, of_labels=True),
    "persistent_error": Kind(values=_persistent_error, of_labels=True, baseline="previous"),
    "error_beside_persistent": Kind(values=_error_beside_persistent, baseline="previous"),
    "auc": Ranking("auc"),
    "auc_of_pairs": Ranking("auc", pairs=True),
    "average_precision": Ranking("average_precision"),
    "average_precision_of_first": Ranking("average_precision", first=True),
    "log_loss": OfColumn(LogLoss()),
    "brier": OfColumn(BrierLoss()),
}


def kind_of(kind: KindOf) -> Kind | OfColumn | Ranking:
    """Return what is known of a kind of series."""
    return KINDS[kind] if isinstance(kind, str) else kind


def baselines_of(kinds: Iterable[KindOf]) -> set[Any]:
    """Baselines that some kinds of series need."""
    return set(map(attrgetter("baseline"), map(kind_of, kinds))) - {None}


def columns_of_kinds(kinds: Iterable[KindOf]) -> list[Column]:
    """Columns of scores that some kinds of series are sums of, each once."""
    columns: dict[Column, None] = {}
    for kind in map(kind_of, kinds):
        if isinstance(kind, OfColumn):
            columns[kind.column] = None
    return list(columns)


class ColumnStates:
    """The columns of some models that are scored on the same rows; a copy is independent.

    Parameters
    ----------
    columns : iterable of Column
        What is made of the rows.
    n_classes : int
        Number of classes.
    n_models : int
        Number of models.
    """

    def __init__(self, columns: Iterable[Column], n_classes: int, n_models: int) -> None:
        self.n_classes = n_classes
        self.states = {column: [column.start(n_classes)] * n_models for column in columns}

    def read(
        self, rows: ScoredRows, scored: Integers | None, are_others: NDArray[np.bool_] | None = None
    ) -> Derived:
        """Return the columns of the next rows; of rows that are not scored they hold anything.

        Of models whose scores are no probabilities they are NaN, unless a column takes any scores.
        """
        if rows.scores is None and not len(rows):  # no row has come that could have some
            width = 1 if self.n_classes <= 2 else self.n_classes
            rows = rows.models(slice(None))
            rows.scores = np.empty((len(rows.answers), 0, width))
        hidden = rows
        if are_others is not None and are_others.any() and rows.scores is not None:
            hidden = rows.models(slice(None))
            hidden.scores = np.where(are_others[:, np.newaxis, np.newaxis], np.nan, rows.scores)
        derived: dict[Hashable, tuple[Array, ...]] = {}
        for column, states in self.states.items():
            if column.of_labels:
                arrays, after = column.read(rows, states[0])
                derived[column] = tuple(
                    np.broadcast_to(array, (len(states), len(rows))) for array in arrays
                )
                self.states = {**self.states, column: [after] * len(states)}
            else:
                shown = rows if column.takes_any_scores else hidden
                derived[column] = self._of_answers(column, shown, scored)
        return derived

    def _of_answers(
        self, column: Column, rows: ScoredRows, scored: Integers | None
    ) -> tuple[Array, ...]:
        lines, after = [], []
        for number, state in enumerate(self.states[column]):
            model = rows.models(slice(number, number + 1))
            model = model if scored is None else model[scored]
            arrays, state = read_scores(column, model, state, self.n_classes)
            lines.append([_placed(array, scored, len(rows)) for array in arrays])
            after.append(state)
        self.states = {**self.states, column: after}
        if len(lines) == 1:
            return tuple(array[np.newaxis] for array in lines[0])
        return tuple(np.stack(of_models) for of_models in zip(*lines, strict=True))

    def of_models(self, numbers: Sequence[int]) -> Self:
        """Return a copy with some of the models."""
        copied = self.copy()
        copied.states = {c: [states[n] for n in numbers] for c, states in self.states.items()}
        return copied

    def copy(self) -> Self:
        """Return a copy that can read on independently: states are replaced, not written into."""
        return copy(self)


def _placed(array: Array, scored: Integers | None, n_rows: int) -> Array:
    """Values of scored rows in an array of all rows."""
    if scored is None:
        return array
    placed = np.zeros((n_rows, *array.shape[1:]), dtype=array.dtype)
    placed[scored] = array
    return placed


def read_scores(
    column: Column, rows: ScoredRows, state: Any, n_classes: int
) -> tuple[Sequence[Array], Any]:
    """Return the arrays of a column, NaN in rows whose model has no scores."""
    if not column.of_scores:
        return column.read(rows, state)
    missing = np.isnan(rows.s[:, 0])
    if not missing.any():
        return column.read(rows, state)
    unanswered = missing & (rows.p == UNANSWERED)
    filled = rows.models(slice(None))
    filled.scores = rows.s.copy()[np.newaxis]
    filled.scores[0, unanswered] = all_wrong(rows.y[unanswered], n_classes)
    known = np.flatnonzero(~missing | unanswered)
    arrays, state = column.read(filled[known], state)
    if len(known) == len(rows):
        return arrays, state
    tables = []
    for array in arrays:
        table = np.full((len(rows), *array.shape[1:]), np.nan)
        table[known] = array
        tables.append(table)
    return tables, state


def all_wrong(y: Array, n_classes: int) -> Floats:
    """Scores of rows without an answer, which count as wrong: all others, equally probable."""
    if n_classes <= 2:
        return np.where(y == 0, n_classes - 1.0, 0.0)[:, np.newaxis]
    scores = np.full((len(y), n_classes), 1.0 / (n_classes - 1))
    scores[np.arange(len(y)), y] = 0.0
    return scores
