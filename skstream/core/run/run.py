"""A run: models evaluated together while rows arrive, step by step."""

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import nullcontext
from copy import deepcopy
from dataclasses import dataclass, field, replace
from functools import partial
from operator import attrgetter
from pathlib import Path
from time import perf_counter, thread_time
from typing import Any, Self
from zlib import crc32

import numpy as np

from skstream.base import offered_if
from skstream.core.engine.run import Answered, Engine, ModelRun, Step
from skstream.core.evaluators.settings import Settings
from skstream.core.measures.registry import resolve_metrics
from skstream.core.measures.rows import ScoredRows
from skstream.core.result.result import EvaluationResult, assemble
from skstream.core.rows.chunk import Chunk, last_time, table_times
from skstream.core.run.checkpoint import save_checkpoint
from skstream.core.run.input import EncodedRows, PassChecksums, differences, encoded
from skstream.core.run.run_outcome import (
    Checksums,
    CostMeter,
    LaneOutcome,
    Place,
    RunOutcome,
    not_returned,
)
from skstream.core.run.scoring import AskedOnce, RunScores
from skstream.core.run.tape import PROBABILITIES, with_all_classes
from skstream.core.timelines.delayed_blocks import Features
from skstream.core.timelines.timeline import Arrivals, End, no_rows
from skstream.utils._choices import check_choice
from skstream.utils._concurrency import Deferred, Exclusive, exclusive
from skstream.utils._labels import LabelSpace, is_given
from skstream.utils._rows import Schema
from skstream.utils._times import check_arrivals, clock

_NUMBERS = re.compile(r"(u?int|float)\d+", re.IGNORECASE)
#: Rows after which the size of the models is measured first, and then whenever they have doubled.
_FIRST_MEASURED = 1024
#: Seconds are noted at most whenever the rows have grown by one part in so many.
_NOTED = 64
#: Intended duration of one step, in seconds.
TARGET = 0.2
FIRST_SIZE = 16
#: Largest factor by which the next step may be longer than this one.
GROWTH = 8
#: A step is at least so many times as long as what it takes to begin one.
WORTH = 4
#: A thread that works for a smaller share of the time waits for something.
WAITS = 0.002
#: Weight of the steps before the last, when costs are estimated.
FADING = 0.7
#: Function that is called with the number of newly finished rows.
OnRows = Callable[[int], object]
#: What notes a step in a run; it calls no function of the user.
Note = Callable[[list[Answered]], None]


class EvaluationRun(Exclusive):
    """Run of models along a stream: pass rows, and get the result at any time.

    Made by the ``start`` method of an evaluator.

    Parameters
    ----------
    settings : Settings
        The evaluator's settings, resolved.
    models : dict of (str, int) to estimator
        One prepared model per name and fold, in the order of the result.
    features : callable, default=None
        ``features(rows, times)`` where features change while a row waits for its label.
    scoring : AskedOnce or another strategy, default=None
        What turns answers into scored rows; None: every row is asked once, before it is learnt.
    width : int, default=1
        Lines of answers that are scored per model and fold.

    Attributes
    ----------
    n_rows : int
        Number of rows that have arrived.
    is_closed : bool
        Whether the stream has ended.
    is_live : bool
        Whether the user passes the rows: Ctrl-C then waits for the end of a call.

    Examples
    --------
    >>> from sklearn.linear_model import SGDClassifier
    >>> from skstream import PrequentialEvaluator
    >>> run = PrequentialEvaluator("accuracy").start(SGDClassifier(), classes=["a", "b"])
    >>> run.update([[0.0], [1.0]], ["a", "b"])
    {'SGDClassifier': array([None, 'a'], dtype=object)}
    >>> answers = run.update([[0.5]], ["b"])
    >>> run.result().checkpoints
    array([1, 2, 3])
    """

    #: Whether `last_answers` is offered.
    _tells_last = True
    #: Most rows between two points at which a run can be interrupted.
    _rows_per_step = 1 << 16
    #: The last time in the tables that the user passed; see `last_time`.
    _last_in_table: np.ndarray | None = None

    def __init__(
        self,
        settings: Settings,
        models: Mapping[Place, Any],
        features: Features | None = None,
        scoring: Any = None,
        width: int = 1,
    ) -> None:
        self._settings = settings
        self._places = list(models)
        self._meters = []
        runs, timelines = [], []
        for (name, fold), model in models.items():
            task, n_folds = settings.task_of(name), len(settings.timelines)
            rules = settings.kernels, settings.unanswered
            runs.append(ModelRun(name, fold, model, task, *rules, n_folds=n_folds))
            timelines.append(settings.timelines[fold])
            self._meters.append(CostMeter(model))
        self._engine = Engine(runs, timelines, features)
        self._pace = Pace(self._rows_per_step)
        self._space = LabelSpace(settings.classes)
        self._schema: Schema | None = None  # of the first rows
        self._scores = RunScores(settings, self._places, width)
        self._scoring = scoring or AskedOnce(settings.classes, settings.n_scores)
        self._measured_at = _FIRST_MEASURED
        self._noted_at = 1
        self._n_unlabelled = 0
        self._unlabelled = no_rows()  # those without a label that a failure may still leave out
        self.n_rows = 0
        self._ahead: list[tuple[np.ndarray, Any]] = []  # rows not noted: their codes, and answers
        self._heard: list[Any] = []  # what was answered in the last call of a live run
        self._label_sum = 0  # checksum of their labels
        self._has_labels = False
        self._is_weighted = False  # whether a row so far had a weight
        calls = any(map(attrgetter("function"), settings.metrics.values()))
        self._may_go_ahead = self._engine.is_even and not settings.n_scores and not calls
        self._counts_time = settings.counts_time
        self._last_time: np.ndarray | None = None  # of the newest row that says it
        self.is_live = False
        self.is_closed = False
        self._ends_by_failure = False  # for good, as in an evaluation
        self._has_failed = False  # this, or something else that ends the run

    @property
    def _state(self) -> str:
        if self._engine.is_inconsistent or self._has_failed:
            return "broken"
        return "closed" if self.is_closed else "open"

    def _require_open(self) -> None:
        """Begin a call, or raise an error if no rows can come any more."""
        broken = self._engine.is_inconsistent or self._has_failed
        if self.is_closed and not broken:
            raise RuntimeError("The run is closed: the stream has ended. Start a new run.")
        if broken:
            raise RuntimeError(
                "The run was stopped in the middle of a row by a failed model, another error, or "
                "an interrupt: result() returns the scores before, but the run cannot continue. "
                "Continue from a saved checkpoint (load_run), or start a new run; with "
                "error_score=nan the other models continue without the failed one."
            )
        self._heard = []

    @property
    def looped(self) -> set[Place]:
        """The models that go on which are executed, at least in part, call by call."""
        models = zip(self._places, self._engine.models, strict=True)
        return {place for place, model in models if model.by_kernel.loops}

    # -- rows come

    def follow(
        self,
        stream: Iterable[Chunk],
        on_rows: Sequence[OnRows] = (),
        read: PassChecksums | None = None,
        taken: Checksums | None = None,
    ) -> None:
        """Take the rest of a stream, after the rows that the run has taken, and close the run.

        Parameters
        ----------
        stream : iterable of Chunk
            All rows.
        on_rows : sequence of callable, default=()
            Called with a number of rows whenever so many more are done.
        read : PassChecksums, default=None
            Gets all rows.
        taken : dict, default=None
            The checksums of the rows that the run has taken.

        Raises
        ------
        ValueError
            If the stream does not give the rows that the run has taken.
        """
        done, first, was_closed = self.n_rows, 0, self.is_closed
        for chunk in stream if read is None else read.noted(stream):
            n_done, n_rows = max(0, done - first), len(chunk.y)
            first += n_rows
            if read is not None and taken is not None:
                self._check_schema(chunk.X)
                if first > done:
                    read.add_up_to(done)
                    self._check_same(read.sums(), taken)
                    taken = None
            if first > done and not was_closed:
                self.feed(chunk.part(n_done, n_rows) if n_done else chunk, on_rows)
        if first < done or (was_closed and first > done):
            raise _changed(f"it has {first:,} rows, but the run had read {done:,}")
        if read is not None and taken is not None:
            self._check_same(read.sums(), taken)
        if not was_closed:
            self.close()

    def _check_schema(self, X: Any) -> None:
        """Raise an error if rows are of another kind, or type, than those that the run has read."""
        found, known = Schema.of(X, with_types=True), self._schema
        if known is None:
            return
        pairs = zip(found.types, known.types, strict=False)  # of texts, they follow from the chunk
        other = [
            pair for pair in pairs if pair[0] != pair[1] and all(map(_NUMBERS.fullmatch, pair))
        ]
        if found != known or other:
            raise _changed(
                f"the types of its columns are {found.types} in a {found.kind}, but were "
                f"{known.types} in a {known.kind}"
            )

    def _check_same(self, read: Checksums, taken: Checksums) -> None:
        differing = differences(read, taken)
        if differing:
            rows = f"its first {self.n_rows:,} rows"
            raise _changed(f"{rows} have other {differing} than those that the run had read")

    @exclusive
    def feed(self, chunk: Chunk, on_rows: Sequence[OnRows] = ()) -> Self:
        """Process a chunk of a stream.

        Parameters
        ----------
        chunk : Chunk
            Rows that a stream has checked; they are not checked again.
        on_rows : sequence of callable, default=()
            Called with a number of rows whenever so many more are done.

        Returns
        -------
        self : EvaluationRun
            The run.
        """
        self._require_open()
        self._take(self._rows_of(chunk), on_rows=on_rows)
        return self

    @exclusive
    def update(
        self,
        X: Any,
        y: Any,
        *,
        sample_weight: Any = None,
        arrival: Any = None,
        method: str = "predict",
    ) -> dict[str, np.ndarray]:
        """Process rows with their labels: each is predicted, then learnt; return the predictions.

        Parameters
        ----------
        X : {array-like, sparse matrix, dataframe} of shape (n_rows, n_features)
            Features, in time order.
        y : array-like of shape (n_rows,)
            Labels or targets; None or NaN where missing, if the evaluator allows it.
        sample_weight : array-like of shape (n_rows,), default=None
            Weights for training and scoring. From the first call with weights on, models learn all
            rows with weights, 1 where a call has none.
        arrival : array-like of shape (n_rows,), default=None
            When the rows came, as datetimes that never go back; needed where the forgetting or
            `record_every` counts time.
        method : {"predict", "predict_proba"}, default="predict"
            Whether labels are returned, or probabilities where a measure needs them.

        Returns
        -------
        answers : dict of str to ndarray of shape (n_rows,) or (n_rows, n_classes)
            By model, what it has predicted before it learnt the rows, as on the tape; with several
            folds, with a first axis of these. None or NaN where it was not asked, as in the
            warm-up, or gave no answer. With `batch_size` these are the rows of the batches that
            the call completes, and of a `HoldoutEvaluator` the held-out rows asked in it: every
            answer is returned once, in the order of the tape.

        Raises
        ------
        ValueError
            If the rows do not fit the earlier ones, a label is unknown or missing, or there are no
            probabilities. Nothing has been learnt then.
        ModelError
            If a model fails; names the model and the row. The run ends there:
            `result` has what came before, and the last `save` goes on.
        KeyboardInterrupt
            On Ctrl-C. The run is as usable as before: `n_rows` says how many rows were taken.
        """
        self._require_open()
        self._check_method(method)
        self._update(X, y, sample_weight, arrival)
        return self.last_answers(method)

    @offered_if(lambda self: self._tells_last)
    def last_answers(self, method: str = "predict") -> dict[str, np.ndarray]:
        """Return what `close`, or the last call of `update`, has had predicted.

        With `batch_size`, `close` predicts the rows of the last, incomplete batch.

        Parameters
        ----------
        method : {"predict", "predict_proba"}, default="predict"
            As `update` takes it.

        Returns
        -------
        answers : dict of str to ndarray of shape (n_rows,) or (n_rows, n_classes)
            As `update` returns it.

        Raises
        ------
        ValueError
            If there are no probabilities.
        """
        self._check_method(method)
        parts = [answers if method == "predict" else scores for answers, scores in self._heard]
        if len(parts) == 1:
            return self._by_model(parts[0])
        columns = () if method == "predict" else (self._settings.n_scores,)
        none = np.empty((len(self._places), 0, *columns), float if columns else self._space.dtype)
        return self._by_model(np.concatenate([none, *parts], axis=1))

    def _update(self, X: Any, y: Any, sample_weight: Any, arrival: Any = None) -> None:
        """Take rows that the user gave."""
        meta = {"sample_weight": sample_weight, "arrival": arrival}
        given = {name: column for name, column in meta.items() if column is not None}
        chunk = Chunk.of(X, y, given, first_row=self.n_rows)
        self._check_columns(chunk.X)
        last = self._last_in_table
        if arrival is None:
            last = last_time(table_times(chunk.X, y), self.n_rows, last)
        rows = self._rows_of(chunk)
        if not self._go_ahead(rows):
            self._take(rows)
        self._last_in_table = last

    def _go_ahead(self, rows: EncodedRows) -> bool:
        """Let the models do a row, and note it later, if it is one like those before."""
        is_one = rows.n_rows == 1 and rows.weight is None and rows.came is None
        if not (is_one and self._may_go_ahead and is_given(rows.y)[0]):
            return False
        if self._schema is None or self._engine.states[0].n_learnt < self._settings.n_warmup:
            return False
        with self._interrupt or nullcontext():
            answers = self._engine.ahead(self.n_rows, rows.X, rows.y)
        self._ahead.append((rows.y.copy(), answers))  # the user may fill the array again
        self.n_rows += 1
        self._heard = [(answers, None)]
        stops = self._engine.failures or (self._interrupt and self._interrupt.received)
        if stops or self.n_rows >= min(self._noted_at, self._measured_at):
            self._catch_up()
        return True

    def _catch_up(self) -> None:
        """Note the rows that the models have done, as a step."""
        codes, answers = zip(*self._ahead, strict=True)
        heard, self._ahead, self._heard = self._heard, [], []
        rows = EncodedRows(None, np.concatenate(codes))
        self.n_rows -= rows.n_rows
        arrivals = Arrivals(self.n_rows, is_given(rows.y))
        step = self._engine.follow(arrivals, answers)
        self._commit(step, partial(self._note_arrived, rows))
        self._heard = heard

    def _check_method(self, method: str) -> None:
        """Raise an error if some model does not give what shall be returned."""
        check_choice(method, "method", ("predict", "predict_proba"))
        for name, _ in self._places if method == "predict_proba" else ():
            if self._settings.score_methods.get(name) != method:
                raise ValueError(
                    f"This run has no probabilities for model {name!r}. {PROBABILITIES}"
                )

    def _by_model(self, lanes: Any) -> dict[str, np.ndarray]:
        """Return what all lanes have answered: labels of codes, probabilities of scores."""
        given, n_folds = {}, len(self._settings.timelines)
        for k in range(0, len(self._places), n_folds):
            its = (lanes[k] if n_folds == 1 else lanes[k : k + n_folds]).copy()
            if its.ndim == 1 + (n_folds > 1):
                its = self._space.decode(its)
            else:
                its = with_all_classes(its, self._space.classes)
            given[self._places[k][0]] = its
        return given

    @exclusive
    def close(self) -> Self:
        """End the stream: execute what is still waiting. No rows can follow.

        Returns
        -------
        self : EvaluationRun
            The run.
        """
        if not self.is_closed or self._has_failed:
            self._require_open()
            self._take_event(self._note, End())
        return self

    def _check_columns(self, X: Any) -> None:
        """Raise an error if rows of the user do not have the columns of the first ones."""
        if self._schema is not None:
            self._schema.check(X, self.n_rows)

    def _rows_of(self, chunk: Chunk) -> EncodedRows:
        """Encode the next rows, which have been checked; an error leaves everything unchanged."""
        rows = encoded(chunk, self._space, self._settings.missing_labels, first_row=self.n_rows)
        if rows.weight is None and self._is_weighted:
            rows = replace(rows, weight=np.ones(rows.n_rows))
        came = chunk.meta.get("arrival")
        if came is not None and rows.n_rows:
            check_arrivals(came, self.n_rows, self._last_time)
            rows = replace(rows, came=came, time=clock(came) if self._counts_time else None)
        elif self._counts_time and rows.n_rows:
            raise ValueError(
                "forgetting or record_every counts time, but the rows have no arrival times: pass "
                "arrival=."
            )
        return rows

    # -- a step: rows that arrive, or another event, for all models

    def _take(self, rows: EncodedRows, on_rows: Sequence[OnRows] = ()) -> None:
        """Take rows, some in each step."""
        begin = 0
        while begin < rows.n_rows:
            end = self._end_of_step(rows, begin)
            some = rows.take(slice(begin, end))
            begin = end
            self._take_step(some)
            for call in on_rows:
                call(some.n_rows)

    def _end_of_step(self, rows: EncodedRows, begin: int) -> int:
        """Return the end of the next step, which may be beyond the last row."""
        return begin + self._pace.size

    def _take_step(self, rows: EncodedRows) -> None:
        arrivals = Arrivals(self.n_rows, is_given(rows.y), rows.weight, rows.came)
        self._take_event(partial(self._note_arrived, rows), arrivals, rows.X, rows.y)

    def _take_event(self, note: Note, *event: Any) -> None:
        """Execute an event, note it and score it.

        If it raises an exception before a model has learnt, the run is as before.

        Parameters
        ----------
        note : callable
            Notes what happened.
        event : tuple
            What the engine executes: the event, and features and labels of its rows.
        """
        if self._ahead:
            self._catch_up()
        started, worked, n_rows = perf_counter(), thread_time(), 0
        with self._interrupt or nullcontext():
            step = self._engine.execute(*event)
        self._commit(step, note)
        for answered in step.answered:
            its = answered.operations
            n_rows = max(n_rows, len(its.ask_rows), len(its.learn_rows))
        if n_rows:  # else rows only wait
            self._pace.took(n_rows, perf_counter() - started, thread_time() - worked)

    def _commit(self, step: Step, note: Note) -> None:
        """Note and score what the models have answered; the failure of one may end the run."""
        with Deferred(self):
            self._engine.commit(step)
            ends = self._settings.error_score == "raise" and bool(self._engine.failures)
            self._has_failed = self._ends_by_failure = ends
            note(step.answered)
            self.is_closed = isinstance(step.event, End)
            try:
                if self.n_rows >= self._measured_at:
                    for model, meter in zip(self._engine.models, self._meters, strict=True):
                        if not model.is_measured_late:
                            meter.measure(model)
                    self._measured_at = 1 << self.n_rows.bit_length()
                done = self.n_rows if self._settings.scored_sets else self._scores.n_rows
                if done >= self._noted_at:
                    self._noted_at = done + done // _NOTED + 1
                    for model, meter in zip(self._engine.models, self._meters, strict=True):
                        seconds = sum(model.seconds.values())
                        meter.points.append((done, seconds, meter.size))
                self._score(all_of_it=self.is_closed)
            except Exception as error:
                if self.is_live:
                    error.add_note(
                        "The rows and labels of this call were accepted. They will be scored by "
                        "result(), once that is possible."
                    )
                raise
        if self._has_failed:
            raise min(self._engine.failures.values(), key=lambda failure: failure.row)
        if self._interrupt is not None and self._interrupt.received:
            raise KeyboardInterrupt  # between two steps of a long call

    def _note_arrived(self, rows: EncodedRows, answered: list[Answered]) -> None:
        """Note rows that arrived, and what models did with them."""
        labelled = self._note_rows(rows)
        if len(self._unlabelled) or not labelled.all():
            unlabelled = self.n_rows - rows.n_rows + np.flatnonzero(~labelled)
            self._n_unlabelled += len(unlabelled)
            still_open = self._unlabelled[self._unlabelled >= self._n_finished]
            self._unlabelled = np.concatenate([still_open, unlabelled])
        self._scoring.arrive(rows)
        self._note(answered)

    def _note_rows(self, rows: EncodedRows) -> np.ndarray:
        """Count rows that arrived; return which of them have a label."""
        if self._schema is None:
            self._schema = Schema.of(rows.X, with_types=True)
        labelled = is_given(rows.y)
        values = np.where(labelled, rows.y, -1.0)  # without a label y may be anything
        self._label_sum = crc32(values.data, self._label_sum)
        self._has_labels = self._has_labels or bool(labelled.any())
        self.n_rows += rows.n_rows
        self._is_weighted |= rows.weight is not None
        self._last_time = self._last_time if rows.came is None else rows.came[-1:]
        return labelled

    def _note(self, answered: list[Answered]) -> Any:
        """Note the rows that all models have finished, up to a failure that ends the run."""
        rows = self._scoring.settle(answered)
        if self._ends_by_failure:
            rows = self._until_failure(rows)
            self._n_unlabelled -= int(np.count_nonzero(self._unlabelled >= self.n_rows))
        if self.is_live:
            self._heard.append((rows.answers, rows.scores))
        self._scores.keep(rows)
        return rows

    @property
    def _n_finished(self) -> int:
        """Rows that no failure leaves out any more."""
        return self._scores.n_rows

    def _until_failure(self, rows: ScoredRows) -> ScoredRows:
        """Leave out the rows after a failure: how many of them are in a step depends on time."""
        self.n_rows = max(0, min(failure.begin for failure in self._engine.failures.values()))
        return rows[: max(0, self.n_rows - self._scores.n_rows)]

    def _n_valid(self, lane: int) -> int:
        """Return the rows of the curves of a model that came before its failure."""
        return max(0, self._engine.failures[lane].begin)

    def _keep_lanes(self, numbers: Sequence[int]) -> None:
        """Go on with some models alone."""
        self._engine.keep(numbers)
        self._places = [self._places[k] for k in numbers]
        self._meters = [self._meters[k] for k in numbers]

    # -- scores

    def _score(self, *, all_of_it: bool = True) -> None:
        """Score what was noted. If a function of the user fails, this can be repeated."""
        self._scores.measure(is_end=self.is_closed)

    @exclusive
    def result(self) -> EvaluationResult:
        """Return the result so far; the run can continue afterwards.

        Returns
        -------
        result : EvaluationResult
            Scores of all rows that every model has done; an incomplete batch is left out.
        """
        with Deferred(self):
            if self._ahead:
                self._catch_up()
            self._score()
        return assemble(self._settings.header, self.outcome())

    def leave_out_functions(self) -> Settings | None:
        """Score by measures that cannot fail, after a function of the user has failed.

        Returns
        -------
        settings : Settings or None
            The settings with these measures; None without a tape.
        """
        settings, metrics = self._settings, dict(self._settings.metrics)
        for name, measure in settings.metrics.items():
            if measure.function is not None:
                del metrics[name]
        metrics = metrics or resolve_metrics(None, classes=settings.classes)
        settings = replace(settings, metrics=metrics)
        scores = self._scores.measured_by(settings)
        if scores is None:
            return None
        self._settings, self._scores = settings, scores
        return settings

    @exclusive
    def outcome(self) -> RunOutcome:
        """Return what every model did, from which results are made."""
        settings, tape, schema = self._settings, self._scores.tape, self._schema
        done = self.n_rows if settings.scored_sets else self._scores.n_rows
        failures, lanes, columns = self._engine.failures, [], {}
        if self._ends_by_failure:  # without what came after it
            end = min(map(self._n_valid, failures))
            failures = {k: error for k, error in failures.items() if self._n_valid(k) == end}
        for k, curves in enumerate(self._scores.curves()):
            (name, fold), meter, model = self._places[k], self._meters[k], self._engine.models[k]
            cost, lost = meter.cost(model, done), [meter.failure] * bool(meter.failure)
            answers, scores = (None, None) if tape is None else tape.lane(k)
            lanes.append(
                LaneOutcome(
                    name=name,
                    fold=fold,
                    curves=curves,
                    answers=answers,
                    scores=scores,
                    method=settings.score_methods.get(name),
                    cost=cost,
                    path=model.by_kernel.path(),
                    estimator=self._returned(model, lost) if settings.return_models else None,
                    lost=tuple(lost),
                    failure=str(failures[k]) if k in failures else None,
                    n_valid=self._n_valid(k) if k in failures else None,
                    n_unanswered=model.n_unanswered,
                )
            )
        if schema is not None:
            names = None if schema.names is None else list(map(str, schema.names))  # of arrays
            columns = {"width": schema.width, "names": names, "types": schema.types}
        return RunOutcome(
            lanes=lanes,
            labels=None if tape is None else tape.labels(),
            n_rows=self.n_rows,
            n_unlabelled=self._n_unlabelled,
            drifts=settings.drifts,
            labels_read=f"{self.n_rows} rows {self._label_sum:08x}" if self._has_labels else "",
            columns=columns,
        )

    def _returned(self, model: ModelRun, lost: list[str]) -> Any:
        """Return the fitted model; None where that cannot be done, and why is in `lost`."""
        estimator = None
        try:
            estimator = model.estimator()
            # A copy: the run continues, and the user may change the returned model.
            return deepcopy(estimator)
        except Exception as error:  # copying may raise any error, as of a tree that has grown deep
            if self.is_closed and estimator is not None:
                return estimator  # nothing changes it any more
            lost.append(not_returned(model.name, error))

    # -- checkpoints

    def go_on_as(self, new: Self) -> None:
        """Go on, after loading, where a new run of the same call has passed over the same rows.

        Parameters
        ----------
        new : EvaluationRun
            The new run, which is not needed afterwards.

        Raises
        ------
        ValueError
            If what is read beside the stream is not what this run has read.
        """
        # A failure may be handled otherwise in this call.
        self._settings = replace(
            self._settings,
            error_score=new._settings.error_score,
            parameters=new._settings.parameters,
        )

    @exclusive
    def save(self, path: str | Path) -> Path:
        """Save a checkpoint from which `load_run` continues with an identical result.

        The checkpoint holds the models and is written by joblib: load it only if you trust its
        author. The file is written completely or not at all: if the process is killed while saving,
        the previous checkpoint remains.

        Parameters
        ----------
        path : str or Path
            File to write.

        Returns
        -------
        path : Path
            The file written.

        Raises
        ------
        TypeError
            If a model or a function of yours cannot be pickled. The file is as it was.
        """
        heard = self._heard
        self._require_open()
        self._heard, path = heard, Path(path)
        save_checkpoint(self, path)
        return path

    def __repr__(self) -> str:
        names = list(dict.fromkeys(name for name, _ in self._places))
        return (
            f"{type(self).__name__}({self._state}: {', '.join(names)} after "
            f"{self.n_rows:,} rows; see result(), save(path), close())"
        )


def _changed(what: str) -> ValueError:
    """Return the error of a stream that is not the one that a run has read."""
    advice = "Pass the same stream, or use another folder in checkpoint=."
    return ValueError(f"The stream has changed: {what}. {advice}")


@dataclass
class Pace:
    """Divides rows into steps that each take about a fifth of a second.

    The first step is short, because a model may take a second per row. Steps are longer where
    beginning one takes long by itself, as it does for kernels of data frames with many columns. The
    division changes no answer and no score: Ctrl-C and progress bars work between two steps.

    Parameters
    ----------
    max_size : int
        Most rows of a step.

    Attributes
    ----------
    size : int
        Rows of the next step.
    """

    max_size: int
    size: int = FIRST_SIZE
    _sums: np.ndarray = field(default_factory=partial(np.zeros, 5))
    _fixed: float = 0.0  # seconds of a step
    _per_row: float = 0.0  # and of each of its rows

    def took(self, n_rows: int, seconds: float, worked: float) -> None:
        """Note how long a step took by the clock, and how long its thread has worked for it.

        From all steps follow the seconds of a step however short it is, and of each of its rows.
        Without the first, steps that are slow to begin with would become shorter and shorter, and
        slower on the whole. They are seconds of work where there is any, because on a busy machine
        the clock also counts the work of others, now more and now less.
        """
        if n_rows < self.size and seconds < TARGET:
            return  # a short step says little
        cost = worked if worked > WAITS * seconds else seconds
        if self._sums[0]:
            # A shorter step may take as long as those before, but not longer.
            rows = max(n_rows, self._sums[1] / self._sums[0])
            if cost > 2 * (self._fixed + self._per_row * rows):
                self._sums[:] = 0.0  # rows take longer than they did: what was is of no use
        new = [1.0, n_rows, cost, n_rows * n_rows, n_rows * cost]
        self._sums = FADING * self._sums + new
        n, x, y, xx, xy = self._sums.tolist()
        spread = xx * n - x * x  # a line through all steps
        slope = (xy * n - x * y) / spread if spread > 1e-3 * xx * n else y / x
        self._per_row = min(max(slope, 0.05 * y / x), y / x)
        self._fixed = (y - self._per_row * x) / n
        target = max(TARGET * cost / max(seconds, 1e-9), WORTH * self._fixed)
        wanted = int((target - self._fixed) / max(self._per_row, 1e-9))
        if cost < target:
            wanted = max(self.size, wanted)
        # Costs estimated from steps of about the same size may be far off.
        growth = GROWTH if seconds < TARGET / 2 else 2
        self.size = min(max(1, min(wanted, growth * self.size)), self.max_size)
