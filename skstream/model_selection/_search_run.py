"""The run of a search: candidates side by side, a choice, and the chosen one that goes on."""

from collections.abc import Mapping, Sequence
from copy import deepcopy
from dataclasses import dataclass, replace
from typing import Any, NamedTuple, Self

import numpy as np
from sklearn.exceptions import UndefinedMetricWarning

from skstream.core.engine.run import Answered
from skstream.core.evaluators.settings import Settings
from skstream.core.measures.rows import ScoredRows
from skstream.core.run.input import EncodedRows
from skstream.core.run.run import EvaluationRun
from skstream.core.run.run_outcome import LaneOutcome, Place, RunOutcome
from skstream.core.run.scoring import RunScores
from skstream.core.timelines.timeline import Arrivals, rows_of_warmup
from skstream.stats._anytime import RunningAnytimeComparison
from skstream.utils._concurrency import exclusive
from skstream.utils._labels import LabelSpace, is_given
from skstream.utils._rows import Schema
from skstream.utils._warnings import warn

#: One minus the level of the intervals of the honest score.
ALPHA = 0.05


class Interval(NamedTuple):
    """An interval and how it was made, or why there is none.

    Attributes
    ----------
    low, high : float
        Its ends; NaN where there is none.
    method : str
        In words.
    """

    low: float
    high: float
    method: str

    @classmethod
    def none(cls, reason: str) -> "Interval":
        """No interval, for a reason."""
        return cls(np.nan, np.nan, f"no interval: {reason}")


class HonestLoss:
    """Confidence sequence for the error of the chosen model, row by row in constant memory.

    Parameters
    ----------
    is_accuracy : bool
        Whether the score is one minus the error.
    """

    def __init__(self, is_accuracy: bool) -> None:
        self.is_accuracy = is_accuracy
        self.problem = ""
        self._running = RunningAnytimeComparison(alpha=ALPHA, record_every=1 << 40)
        self._weight: float | None = None

    def read(self, rows: ScoredRows) -> None:
        """Read rows that were asked after the choice."""
        scored = _scored(rows)
        if rows.weight is not None and scored.any():
            self._read_weights(rows.weight[scored])
        losses = np.asarray(rows.answers[0][scored] != rows.y[scored], dtype=np.float64)
        if not self.problem:
            self._running.update(losses, np.zeros(len(losses)))

    def _read_weights(self, weight: np.ndarray) -> None:
        first = float(weight[0]) if self._weight is None else self._weight
        self._weight = first
        if (weight != first).any():
            self.problem = "the rows have different weights"

    def interval(self) -> Interval:
        """Return the interval so far."""
        if self.problem or not self._running.n_rows:
            return Interval.none(self.problem or "no row was scored after the tuning rows")
        low, high = self._running.result().interval
        low, high = max(low, 0.0), min(high, 1.0)
        if self.is_accuracy:
            low, high = 1.0 - high, 1.0 - low
        return Interval(
            float(low),
            float(high),
            f"{100 * (1 - ALPHA):g} % confidence sequence for the observed rows, valid at all "
            "rows at once; if errors depend on each other, see long_run_interval_ for the "
            "long-run score",
        )


def _scored(rows: ScoredRows) -> np.ndarray:
    """Which rows are scored for some model."""
    scored: np.ndarray = is_given(rows.y) & is_given(rows.answers).any(axis=0)
    return scored if rows.weight is None else scored & (rows.weight > 0)


def _best_first(keys: Any) -> np.ndarray:
    """Return positions from the best to the worst.

    `keys`, of shape (n_keys, n), are lines by which to order, the first before the second and so
    on; the higher the better, NaN the worst. Equal positions stay in their order.
    """
    descending = [np.where(np.isnan(key), np.inf, -key) for key in np.asarray(keys, dtype=float)]
    return np.lexsort(descending[::-1])


@dataclass(frozen=True, kw_only=True)
class Rules:
    """How candidates are compared.

    Attributes
    ----------
    metric : str
        Name of the measure, in the settings of the run.
    lower_is_better : bool
        Whether its lowest value is the best.
    tie_breaker : str or None
        Measure, the higher the better, that decides among candidates with equal values.
    tuning : int or None
        Rows after which one is chosen, once no batch is open; None: no choice is made.
    honest : HonestLoss or None
        Follows the errors of the chosen one, if its measure is accuracy or error.
    """

    metric: str
    lower_is_better: bool
    tie_breaker: str | None
    tuning: int | None
    honest: HonestLoss | None = None

    def keys(self, values: Mapping[str, Any]) -> np.ndarray:
        """Return lines by which candidates are ordered, the higher the better."""
        first = np.asarray(values[self.metric], dtype=np.float64)
        lines = [-first if self.lower_is_better else first]
        if self.tie_breaker is not None:
            lines.append(np.asarray(values[self.tie_breaker], dtype=np.float64))
            if (np.isnan(first) & (lines[1] == 1)).any():
                lines[0] = np.full(len(first), np.nan)  # a kappa: that one made no error
        return np.array(lines)

    def order(self, lanes: Sequence[LaneOutcome]) -> list[int]:
        """Order candidates: the best first, those that failed last."""
        lengths = [-1.0 if lane.failure is not None else 0.0 for lane in lanes]
        lasts = [last_scores(lane) for lane in lanes]
        values = {metric: [last[metric] for last in lasts] for metric in lasts[0]}
        return [int(k) for k in _best_first([lengths, *self.keys(values)])]


def last_scores(lane: LaneOutcome) -> dict[str, float]:
    """Return the last values of a candidate, under the first forgetting."""
    curves = next(iter(lane.curves.values.values()))
    return {
        metric: float(curve[-1]) if len(curve) and lane.failure is None else np.nan
        for metric, curve in curves.items()
    }


def all_failed(n: int, message: str, *, cause: BaseException | None = None) -> Exception:
    """Return the error for a search of whose `n` candidates none is left."""
    kind = TypeError if isinstance(cause, TypeError) else ValueError  # as models raise it
    which = "The only candidate" if n == 1 else f"All {n} candidates"
    return kind(f"{which} failed. The first failure: {message}")


class SearchRun(EvaluationRun):
    """Run of candidates along a stream, of which a choice leaves one.

    Parameters
    ----------
    settings : Settings
        The evaluator's settings, resolved.
    models : dict of (str, int) to estimator
        One prepared model per candidate.
    rules : Rules
        How candidates are compared.
    in_group : bool, default=False
        Whether there are other candidates elsewhere: the choice is then made by `choose`.

    Attributes
    ----------
    tuned : RunOutcome or None
        What all candidates did on the tuning rows, once one has been chosen.
    chosen : str or None
        Its name.
    """

    #: The models can be used, and go on, after Ctrl-C.
    waits = True

    def __init__(
        self,
        settings: Settings,
        models: Mapping[Place, Any],
        *,
        rules: Rules,
        in_group: bool = False,
    ):
        super().__init__(settings, models)
        self.rules = rules
        self.tuned: RunOutcome | None = None
        self.chosen: str | None = None
        self.honest_loss = deepcopy(rules.honest)
        self._in_group = in_group
        # Scores of the chosen one: until there is one, they only learn the labels.
        self._honest = None if rules.tuning is None else RunScores(settings, self._places[:1])
        self._nothing = LabelSpace(settings.classes).nothing

    def __getstate__(self) -> dict[str, Any]:
        # What models have learnt is in the attributes of estimators, wherever it was before: a run
        # whose models were asked in the meantime looks the same.
        for model in self._engine.models:
            model.estimator()
        return super().__getstate__()

    @property
    def settings(self) -> Settings:
        """The settings of the evaluation."""
        return self._settings

    @property
    def schema(self) -> Schema | None:
        """Columns of the rows; None before the first."""
        return self._schema

    @property
    def has_learnt(self) -> bool:
        """Whether the models have learnt a row."""
        return any(model.has_learnt for model in self._engine.models)

    def close(self) -> Self:
        """Execute an incomplete batch, after which no rows can follow; else leave the run open."""
        goes_on = self._in_group and self._can_choose  # the end of a batch
        if self._settings.batch_size > 1 and not goes_on:
            super().close()
        self._decide()
        self._check_chosen()
        return self

    # -- steps and the choice: at rows that follow from their numbers alone

    def _end_of_step(self, rows: EncodedRows, begin: int) -> int:
        n_rows = super()._end_of_step(rows, begin) - begin
        if self.tuned is None and self.rules.tuning is not None:
            n_rows = min(n_rows, self._n_before_choice(self.rules.tuning, rows, begin))
        return begin + max(1, n_rows)

    def _n_before_choice(self, tuning: int, rows: EncodedRows, begin: int) -> int:
        """Rows up to the end of the tuning rows, or then of the batch that is open."""
        if self.n_rows < tuning:
            return tuning - self.n_rows
        state, n_warmup = self._engine.states[0], self._settings.n_warmup
        if state.n_learnt < n_warmup:
            n_missing = n_warmup - int(np.count_nonzero(state.learnable))
            learnable = Arrivals(0, is_given(rows.y), rows.weight).learnable
            return rows_of_warmup(n_missing, learnable[begin:])
        return self._settings.batch_size - len(state.rows)

    @property
    def at_end_of_batch(self) -> str:
        """What is said of the row of the choice, beside the number of the tuning rows."""
        return ", at the end of a batch" if self._settings.batch_size > 1 else ""

    @property
    def _can_choose(self) -> bool:
        """Whether the tuning rows have come, and all rows so far were answered and learnt."""
        tuning = self.rules.tuning
        return tuning is not None and tuning <= self.n_rows == self._scores.n_rows

    def _take_step(self, rows: EncodedRows) -> None:
        self._decide()  # what an interrupt after the last step has put off
        self._check_chosen()
        super()._take_step(rows)
        self._decide()
        self._check_chosen()

    def _decide(self) -> None:
        """Choose, if it is time."""
        if self.tuned is None and not self._has_failed and not self._in_group and self._can_choose:
            self.choose()

    def _last_values(self) -> dict[str, Any]:
        """Return the last values of every measure, of those that are left."""
        return next(iter(self._scores.final().values()))

    def check_some_left(self) -> None:
        """Raise an error if all candidates have failed."""
        if self.tuned is None:
            self._check_some_left(sorted(self._engine.failures))

    def _check_chosen(self) -> None:
        """Raise the failure of the chosen one, after which no other is left."""
        if self.has_lost_chosen:
            raise self._engine.failures[0]

    @property
    def has_lost_chosen(self) -> bool:
        """Whether the chosen one has failed."""
        return self.tuned is not None and bool(self._engine.failures)

    @property
    def n_honest(self) -> int:
        """Rows after the tuning rows that the chosen one has done."""
        assert self.tuned is not None
        ends = [self._scores.n_rows, *(self._n_valid(k) for k in self._engine.failures)]
        return max(0, min(ends) - self.tuned.n_rows)

    def _check_some_left(self, failed: Sequence[int], *, ends: bool = True) -> None:
        if len(failed) == len(self._places):
            self._has_failed |= ends
            first = min(self._engine.failures.values(), key=lambda failure: failure.row)
            raise all_failed(len(self._places), str(first), cause=first.__cause__) from first

    def warn_of_undefined(self) -> None:
        """Warn if, for want of scores, the measure chose nothing."""
        lanes = [lane for lane in self.tuning_outcome().lanes if lane.failure is None]
        metric = self.rules.metric
        undefined = [np.isnan(last_scores(lane)[metric]) for lane in lanes]
        if any(undefined) and np.isnan(last_scores(self._best_of(lanes))[metric]):
            which = "every candidate" if all(undefined) else "the best candidate"
            warn(
                f"{metric} is undefined for {which} (a kappa is undefined if its baseline makes "
                f"no error, every measure if no row was scored): {self.instead} decided which is "
                "the best.",
                UndefinedMetricWarning,
            )

    @property
    def instead(self) -> str:
        """What decides where the measure is undefined."""
        tie_breaker = self.rules.tie_breaker
        return f"{f'{tie_breaker} and ' if tie_breaker else ''}the order of the candidates"

    def _best_of(self, lanes: Sequence[LaneOutcome]) -> LaneOutcome:
        return lanes[self.rules.order(lanes)[0]]

    def best_number(self) -> int:
        """Return which of the lanes is the best so far."""
        if self.tuned is not None:
            return 0
        self._score()
        failed = sorted(self._engine.failures)
        self._check_some_left(failed, ends=False)
        lengths = np.zeros(len(self._places))
        lengths[failed] = -1
        return int(_best_first([lengths, *self.rules.keys(self._last_values())])[0])

    def choose(self, tuned: RunOutcome | None = None) -> None:
        """Choose the best; the others end, and the chosen one goes on with scores of its own.

        Parameters
        ----------
        tuned : RunOutcome, default=None
            What all candidates did, if some of them are in other runs; the best is in this one.
        """
        self._check_some_left(sorted(self._engine.failures))
        self.tuned = self.outcome() if tuned is None else replace(tuned, run=None)
        name = self._best_of(self.tuned.lanes).name
        place = name, 0
        self._keep_lanes([self._places.index(place)])
        self._n_unlabelled = 0
        self.chosen = name
        self._scores = self._honest or RunScores(self._settings, self._places)
        self._honest = None

    def tuning_outcome(self) -> RunOutcome:
        """Return what all candidates did on the tuning rows, so far."""
        return self.outcome() if self.tuned is None else self.tuned

    def outcome(self) -> RunOutcome:
        """Return the outcome of every candidate, and once one was chosen of that one."""
        outcome = super().outcome()
        return replace(outcome, run=self) if self._in_group else outcome

    def leave_group(self) -> Self:
        """Go on alone, after the others were evaluated elsewhere."""
        self._in_group = False
        return self

    # -- rows

    @exclusive
    def learn(self, X: Any, y: Any, weight: Any) -> None:
        """Let all candidates that are left process rows; a choice ends the others."""
        self._require_open()
        self._update(X, y, weight)

    def _require_open(self) -> None:
        if self._state == "broken":
            raise RuntimeError(
                "The search was stopped in the middle of a row by an error or an interrupt: "
                "result_ has the scores before, but it cannot continue. Call fit again, or "
                "continue from a saved search, load_run(path)."
            )
        super()._require_open()

    def _note(self, answered: list[Answered]) -> ScoredRows:
        rows: ScoredRows = super()._note(answered)
        if self.tuned is not None:
            if self.honest_loss is not None:
                self.honest_loss.read(rows)
        elif self._honest is not None:
            nothing = np.full((1, len(rows)), self._nothing, rows.answers.dtype)
            scores = None if rows.scores is None else np.full_like(rows.scores[:1], np.nan)
            self._honest.keep(replace(rows, answers=nothing, scores=scores))
            self._honest.measure()
        return rows

    def estimator(self, number: int) -> Any:
        """Return the fitted model of a lane: the very one that goes on."""
        return self._engine.models[number].estimator()

    def name_of(self, number: int) -> str:
        """Return the name of a lane."""
        return self._places[number][0]

    @property
    def failures(self) -> dict[str, str]:
        """Why candidates have failed, so far, by name."""
        lanes = [] if self.tuned is None else self.tuned.lanes
        failures = {lane.name: lane.failure for lane in lanes if lane.failure is not None}
        for k, failure in self._engine.failures.items():
            failures[self._places[k][0]] = str(failure)
        return failures
