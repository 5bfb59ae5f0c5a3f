"""Values of measures from rows of the stream: selects scored rows, baselines and models."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from copy import copy
from dataclasses import dataclass, replace
from operator import methodcaller
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from skstream.core.forgetting import Forgetting
from skstream.core.measures.adaptive_sums import AdaptiveSums
from skstream.core.measures.formulas import Formula, Sums
from skstream.core.measures.measure import (
    OF_SCORES,
    Measure,
    call_at_checkpoints,
    checked_values,
    formula_failed,
)
from skstream.core.measures.rows import (
    NOT_GIVEN,
    NOT_GIVEN_TARGET,
    Array,
    Floats,
    Integers,
    ScoredRows,
)
from skstream.core.measures.series import ColumnStates, KindOf, baselines_of, columns_of_kinds
from skstream.core.measures.sums import RunningSums, SumsByKind
from skstream.utils._labels import NO_LABEL, is_given

copy_of = methodcaller("copy")
#: Makes running sums of kinds of series, for a number of classes and of models.
MakeSums = Callable[[frozenset[KindOf], int, int], Any]
#: By mechanism, measure and model, one array of values at checkpoints.
Values = list[Floats]


@dataclass
class Group:
    """Models that were scored on the same rows up to now, and compared with the same baselines.

    Attributes
    ----------
    models : ndarray of shape (n_models,)
        Their lines in the table of answers.
    uses_previous : bool
        Whether the rows say what their persistent baseline answers; else it repeats the label of
        the row before.
    sums : list of RunningSums
        Of each mechanism.
    columns : ColumnStates or None
        What measures of probabilities make of their scores.
    n_scored : int
        Number of rows scored.
    tape : ScoredRows or None
        The last scored rows that a mechanism still needs, for functions of the user.
    """

    models: Integers
    uses_previous: bool
    sums: list[Any]
    columns: ColumnStates | None
    n_scored: int = 0
    tape: ScoredRows | None = None

    def part(self, numbers: Sequence[int]) -> "Group":
        """Return a group of some of the models."""
        if len(numbers) == len(self.models):
            return self
        return replace(
            self,
            models=self.models[list(numbers)],
            sums=[sums.of_models(numbers) for sums in self.sums],
            columns=None if self.columns is None else self.columns.of_models(numbers),
            tape=None if self.tape is None else self.tape.models(list(numbers)),
        )

    def forget(self) -> None:
        """Drop the rows on the tape that no mechanism needs."""
        now = np.array([self.n_scored])
        numbers = range(len(self.models))
        oldest = min(int(sums.oldest(k, now)[-1]) for sums in self.sums for k in numbers)
        assert self.tape is not None
        self.tape = self.tape[max(0, len(self.tape) - (self.n_scored - oldest)) :]

    def copy(self) -> "Group":
        """Return a copy that can be advanced independently."""
        copied = copy(self)
        copied.columns = None if self.columns is None else self.columns.copy()
        copied.sums = list(map(copy_of, self.sums))
        return copied


class Scores:
    """The running state of the measures of several models.

    Parameters
    ----------
    metrics : mapping of str to Measure
        What is measured.
    mechanisms : sequence of callable
        Over what: each makes the sums of some kinds of series, classes and models.
    classes : ndarray of shape (n_classes,), or None
        Labels of the codes; None for regression.
    uses_previous : ndarray of shape (n_models,), dtype bool
        Models whose persistent baseline answers what the rows say, where they say it.
    methods : sequence of str or None, default=None
        Method that has given the scores of each model; None: all are probabilities.
    """

    def __init__(
        self,
        metrics: Mapping[str, Measure],
        mechanisms: Sequence[MakeSums],
        classes: Array | None,
        uses_previous: NDArray[np.bool_],
        methods: Sequence[str | None] | None = None,
    ) -> None:
        self.metrics, self.classes, self.n_models = metrics, classes, len(uses_previous)
        self.n_values = len(mechanisms) * len(metrics) * self.n_models
        self.of_scores: list[str] = []
        self.formulas: dict[Formula, str] = {}
        self.calls_functions = False
        kinds: frozenset[KindOf] = frozenset()
        for name, measure in metrics.items():
            kinds |= measure.series
            self.calls_functions |= measure.function is not None
            if measure.needs in OF_SCORES:
                self.of_scores.append(name)
            if measure.formula is not None:
                self.formulas.setdefault(measure.formula, name)
        # Lines whose scores are decision values, or that have none.
        self.lacks_probabilities = np.zeros(self.n_models, dtype=bool)
        if methods is not None:
            self.lacks_probabilities = np.array(methods, dtype=object) != "predict_proba"
        self.needs_previous = "previous" in baselines_of(kinds)
        self.last_label: float = np.nan if classes is None else NO_LABEL
        self.last_time: Array | None = None
        n_classes, columns = 0 if classes is None else len(classes), columns_of_kinds(kinds)
        self.groups = []
        for value in (False, True):
            models = np.flatnonzero(uses_previous == value)
            if len(models):
                states = ColumnStates(columns, n_classes, len(models)) if columns else None
                group = Group(models, value, [], states)
                for make in mechanisms:
                    group.sums.append(make(kinds, n_classes, len(models)))
                self.groups.append(group)

    def check(self, rows: ScoredRows) -> None:
        """Raise an error where measures need scores, and rows come without."""
        if self.of_scores and rows.scores is None:
            raise ValueError(
                f"Measures {self.of_scores} need probabilities, but these rows have none: pass "
                "scores=."
            )

    def advance(
        self,
        rows: ScoredRows,
        ends: Integers,
        checkpoints: NDArray[np.int64],
        now: Array | None = None,
    ) -> Values:
        """Read rows and return the measures of all models after the first ``ends[i]`` of them.

        `checkpoints` are the numbers of rows of the stream so far, for errors, and `now` the times,
        for mechanisms that count time.
        """
        if rows.time is not None:
            earlier = rows.time[:1] if self.last_time is None else self.last_time
            times = np.concatenate([earlier, rows.time])
            now, self.last_time = times[ends] if now is None else now, times[-1:]
        elif self.last_time is not None and now is None:  # there is no row
            now = np.repeat(self.last_time, len(ends))
        known = is_given(rows.y)
        if rows.weight is not None:
            known &= rows.weight > 0.0
        answered = is_given(rows.answers)
        all_known, all_answered = bool(known.all()), bool(answered.all())
        labelled = rows if all_known else rows[np.flatnonzero(known)]
        if not all_answered and self.n_models > 1:
            self._split(answered[:, known])
        pasts = self._previous(labelled)
        values = [np.empty(0)] * self.n_values
        for group in self.groups:
            scored, scored_ends = None, ends
            if not (all_known and all_answered):
                counted = known & answered[group.models[0]]
                counts = np.concatenate(([0], np.cumsum(counted)))
                scored_ends = counts[ends]
                if counts[-1] < len(labelled):
                    scored = np.flatnonzero(counted[known])
            together = len(group.models) == self.n_models
            part = labelled.models(slice(None) if together else group.models)
            part.previous, part.now = pasts[group.uses_previous], now
            self._read(group, part, scored, scored_ends, checkpoints, values)
        return values

    def _read(
        self,
        group: Group,
        rows: ScoredRows,
        scored: Integers | None,
        ends: Integers,
        checkpoints: NDArray[np.int64],
        values: Values,
    ) -> None:
        """Read the rows of one group, and record the values of its models."""
        if group.columns is not None:
            rows.derived = group.columns.read(rows, scored, self.lacks_probabilities[group.models])
        if self.calls_functions:
            new = rows if scored is None else rows[scored]
            group.tape = ScoredRows(new.y, new.answers, new.weight).copy().after(group.tape)
        before = group.n_scored
        group.n_scored += len(rows) if scored is None else len(scored)
        first, stride = 0, self.n_models
        for sums in group.sums:
            stop = first + len(self.metrics) * stride
            for number, by_kind in enumerate(sums.advance(rows, scored, ends)):
                if len(ends):
                    of_model = self._values(
                        group, sums, number, by_kind, ends + before, checkpoints
                    )
                    values[first + int(group.models[number]) : stop : stride] = of_model
            first = stop
        if self.calls_functions:
            group.forget()

    def _values(
        self,
        group: Group,
        sums: Any,
        number: int,
        by_kind: Iterable[SumsByKind],
        stops: Integers,
        checkpoints: NDArray[np.int64],
    ) -> list[Floats]:
        """Values of every measure of one model under one mechanism, after ``stops[i]`` rows."""
        parts: list[list[Floats]] = []  # of many classes: at some ends after the other
        for shared in map(Sums, by_kind):
            shape = shared["rows"].shape
            parts.append([])
            for formula, name in self.formulas.items():
                try:
                    value = shared.value(formula)
                except Exception as error:
                    raise formula_failed(name, error, checkpoints.tolist()) from error
                if type(value) is not np.ndarray or value.shape != shape:
                    value = checked_values(name, value, shape)
                parts[-1].append(value)
        of_formulas = parts[0]
        for part in parts[1:]:
            of_formulas = joined_values(of_formulas, part)
        by_formula = dict(zip(self.formulas, of_formulas, strict=True))
        lacks = bool(self.lacks_probabilities[group.models[number]])
        values = []
        for name, measure in self.metrics.items():
            if lacks and measure.needs == "probabilities":
                values.append(np.full(len(stops), np.nan))
            elif measure.formula is not None:
                values.append(by_formula[measure.formula])
            else:
                assert group.tape is not None
                values.append(
                    call_at_checkpoints(
                        name,
                        measure,
                        group.tape.models(slice(number, number + 1)),
                        sums.alpha,
                        self.classes,
                        np.stack((sums.oldest(number, stops), sums.newest(stops)))
                        + len(group.tape)
                        - group.n_scored,
                        checkpoints.tolist(),
                    )
                )
        return values

    def _split(self, answered: NDArray[np.bool_]) -> None:
        """Divide the models of a group by the rows that they were asked about."""
        groups = []
        for group in self.groups:
            by_rows: dict[bytes, list[int]] = {}
            for number, model in enumerate(group.models):
                by_rows.setdefault(answered[model].tobytes(), []).append(number)
            groups += [group.part(numbers) for numbers in by_rows.values()]
        self.groups = groups

    def _previous(self, rows: ScoredRows) -> tuple[Array | None, Array | None]:
        """Return what the persistent baselines answer: the previous label, or what the row says."""
        if not self.needs_previous:
            return None, None
        before = np.empty_like(rows.y)
        if len(before):
            before[0] = self.last_label
            before[1:] = rows.y[:-1]
            self.last_label = rows.y[-1].item()
        if rows.previous is None:
            return before, before
        not_given = NOT_GIVEN_TARGET if self.classes is None else NOT_GIVEN
        return before, np.where(rows.previous == not_given, before, rows.previous)

    def copy(self) -> Self:
        """Return a copy that can be advanced independently."""
        copied = copy(self)
        copied.groups = list(map(copy_of, self.groups))
        return copied


def joined_values(first: Values, second: Values) -> Values:
    """Values at some checkpoints, then at those that follow."""
    if not first:
        return second
    return [np.concatenate(pair) for pair in zip(first, second, strict=True)]


def make_sums(
    forgetting: Forgetting, kinds: frozenset[KindOf], n_classes: int, n_models: int
) -> RunningSums[Any] | AdaptiveSums:
    """Running sums of elementary series under a mechanism, and of labels where these need them."""
    sums: RunningSums[Any] | AdaptiveSums = forgetting.sums(kinds, n_classes, n_models)
    if isinstance(sums, RunningSums) and sums.needs_majority:
        sums.labels = make_sums(forgetting, frozenset({"label"}), n_classes, 0)
    return sums
