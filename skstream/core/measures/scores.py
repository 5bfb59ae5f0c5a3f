"""Values of measures from rows of the stream: selects scored rows, baselines and models."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from copy import copy
from dataclasses import dataclass, replace
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from skstream.core.forgetting import (
    Forgetting,
)
from skstream.core.measures.adaptive_sums import AdaptiveSums
from skstream.core.measures.checkpoints import Values
from skstream.core.measures.formulas import Formula, Sums
from skstream.core.measures.measure import OF_SCORES, Measure
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
from skstream.core.measures.user import (
    ScoredTape,
    call_at_checkpoints,
    checked_values,
    formula_failed,
)
from skstream.utils._label_space import NO_LABEL, is_given

#: Makes running sums of kinds of series, for a number of classes and of models.
MakeSums = Callable[[frozenset[KindOf], int, int], Any]


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
    sums : dict of str to RunningSums
        By mechanism.
    tape : ScoredTape or None
        Their scored rows, for functions of the user.
    columns : ColumnStates or None
        What measures of probabilities make of their scores.
    n_scored : int
        Number of rows scored.
    """

    models: Integers
    uses_previous: bool
    sums: Mapping[str, Any]
    tape: ScoredTape | None
    columns: ColumnStates | None = None
    n_scored: int = 0

    def part(self, numbers: Sequence[int]) -> "Group":
        """Return a group of some of the models."""
        if len(numbers) == len(self.models):
            return self
        return replace(
            self,
            models=self.models[list(numbers)],
            sums={name: sums.of_models(numbers) for name, sums in self.sums.items()},
            tape=None if self.tape is None else self.tape.of_models(numbers),
            columns=None if self.columns is None else self.columns.of_models(numbers),
        )

    def oldest(self) -> int:
        """Return the oldest scored row that a mechanism still needs."""
        now = np.array([self.n_scored])
        return min(
            int(sums.oldest(number, now)[-1])
            for sums in self.sums.values()
            for number in range(len(self.models))
        )

    def copy(self) -> "Group":
        """Return a copy that can be advanced independently."""
        return replace(
            self,
            sums={name: sums.copy() for name, sums in self.sums.items()},
            tape=None if self.tape is None else self.tape.copy(),
            columns=None if self.columns is None else self.columns.copy(),
        )


class Scores:
    """The running state of the measures of several models.

    Parameters
    ----------
    metrics : mapping of str to Measure
        What is measured.
    mechanisms : mapping of str to callable
        Over what: makes the sums of some kinds of series, classes and models.
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
        mechanisms: Mapping[str, MakeSums],
        classes: Array | None,
        uses_previous: NDArray[np.bool_],
        methods: Sequence[str | None] | None = None,
    ) -> None:
        self.metrics = metrics
        self.classes = classes
        self.n_models = len(uses_previous)
        self.of_scores = [name for name, one in metrics.items() if one.needs in OF_SCORES]
        # Lines whose scores are decision values, or that have none.
        known = ["predict_proba"] * len(uses_previous) if methods is None else methods
        self.lacks_probabilities = np.array([one != "predict_proba" for one in known], dtype=bool)
        self.formulas = {m.formula: None for m in metrics.values() if m.formula is not None}
        kinds: frozenset[KindOf] = frozenset().union(*(one.series for one in metrics.values()))
        n_classes = 0 if classes is None else len(classes)
        baselines = baselines_of(kinds)
        self.needs_previous = "previous" in baselines
        self.last_label: float = np.nan if classes is None else NO_LABEL
        self.last_time: Array | None = None
        keeps_rows = any(measure.function for measure in metrics.values())
        columns = columns_of_kinds(kinds)
        self.groups = []
        for value in (False, True):
            models = np.flatnonzero(uses_previous == value)
            if len(models):
                sums = {n: make(kinds, n_classes, len(models)) for n, make in mechanisms.items()}
                tape = ScoredTape() if keeps_rows else None
                states = ColumnStates(columns, n_classes, len(models)) if columns else None
                self.groups.append(Group(models, value, sums, tape, states))

    def check(self, rows: ScoredRows) -> None:
        """Raise an error where measures need scores, and rows come without."""
        if self.of_scores and rows.scores is None:
            raise ValueError(
                f"Measures {self.of_scores} need probabilities, and these rows come without: pass "
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
        values: Values = {
            name: {metric: [np.empty(0)] * self.n_models for metric in self.metrics}
            for name in self.groups[0].sums
        }
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
        if group.tape is not None:
            group.tape.append(rows if scored is None else rows[scored])
        for name, sums in group.sums.items():
            by_model = sums.advance(rows, scored, ends)
            for number, some in enumerate(by_model):
                if len(ends):
                    of_model = self._values(group, name, number, some, ends, checkpoints)
                    for metric, value in of_model.items():
                        values[name][metric][group.models[number]] = value
        group.n_scored += len(rows) if scored is None else len(scored)
        if group.tape is not None:
            group.tape.forget(group.oldest())

    def _values(
        self,
        group: Group,
        name: str,
        number: int,
        sums: Iterable[SumsByKind],
        ends: Integers,
        checkpoints: NDArray[np.int64],
    ) -> dict[str, Floats]:
        """Values of every measure of one model under one mechanism."""
        # Of many classes, the sums are those at some ends after the other.
        parts = [self._of_formulas(some, checkpoints) for some in map(Sums, sums)]
        of_formula = parts[0] if len(parts) == 1 else map(np.concatenate, zip(*parts, strict=True))
        by_formula = dict(zip(self.formulas, of_formula, strict=True))
        values = {}
        lacks = bool(self.lacks_probabilities[group.models[number]])
        for metric, measure in self.metrics.items():
            if lacks and measure.needs == "probabilities":
                values[metric] = np.full(len(ends), np.nan)
            elif measure.formula is not None:
                values[metric] = by_formula[measure.formula]
            elif measure.function is not None and group.tape is not None:
                oldest = group.sums[name].oldest(number, ends + group.n_scored)
                values[metric] = call_at_checkpoints(
                    metric,
                    measure.function,
                    group.tape.of_models([number]),
                    group.sums[name].alpha,
                    self.classes,
                    list(zip(oldest.tolist(), (ends + group.n_scored).tolist(), strict=True)),
                    checkpoints.tolist(),
                )
        return values

    def _of_formulas(self, sums: Sums, checkpoints: NDArray[np.int64]) -> list[Floats]:
        """Values of every formula; an error of one names its measure."""
        values = []
        shape = sums["rows"].shape
        for formula in self.formulas:
            try:
                value = sums.value(formula)
            except Exception as error:
                raise formula_failed(self._name_of(formula), error, checkpoints.tolist()) from error
            if type(value) is not np.ndarray or value.shape != shape:
                value = checked_values(self._name_of(formula), value, shape)
            values.append(value)
        return values

    def _name_of(self, formula: Formula) -> str:
        return next(n for n, measure in self.metrics.items() if measure.formula == formula)

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
        """Return what the persistent baselines answer: the label before, or what the row says."""
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

    def merge(self, later: Self) -> None:
        """Append the state of the rows that followed."""
        self.groups, others = _common_groups(self.groups, later.groups)
        for group, other in zip(self.groups, others, strict=True):
            for name, sums in group.sums.items():
                sums.merge(other.sums[name])
            group.n_scored += other.n_scored
            if group.tape is not None and other.tape is not None:
                group.tape.merge(other.tape)
        if later.last_time is not None:
            self.last_time = later.last_time
        if is_given(np.asarray([later.last_label])).all():
            self.last_label = later.last_label

    def copy(self) -> Self:
        """Return a copy that can be advanced independently."""
        copied = copy(self)
        copied.groups = [group.copy() for group in self.groups]
        return copied


def _common_groups(
    first: Sequence[Group], second: Sequence[Group]
) -> tuple[list[Group], list[Group]]:
    """Divide groups of the same models until both have the same groups."""
    ours, theirs = [], []
    for one in first:
        for other in second:
            both = np.intersect1d(one.models, other.models)
            if len(both):
                ours.append(one.part(np.searchsorted(one.models, both).tolist()))
                theirs.append(other.part(np.searchsorted(other.models, both).tolist()))
    return ours, theirs


def make_sums(
    forgetting: Forgetting, kinds: frozenset[KindOf], n_classes: int, n_models: int
) -> RunningSums | AdaptiveSums:
    """Running sums of elementary series under a mechanism, and of labels where these need them."""
    sums: RunningSums | AdaptiveSums = forgetting.sums(kinds, n_classes, n_models)
    if isinstance(sums, RunningSums) and sums.needs_majority:
        sums.labels = make_sums(forgetting, frozenset({"label"}), n_classes, 0)
    return sums
