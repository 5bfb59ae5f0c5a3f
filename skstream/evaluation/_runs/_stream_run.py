"""Base class of runs: steps of the models, failures and decisions, checkpoints, results."""

from abc import abstractmethod
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager, nullcontext, suppress
from copy import deepcopy
from dataclasses import dataclass, replace
from pathlib import Path
from time import perf_counter
from typing import Any, Self

import numpy as np

from skstream.engine.delayed_blocks import Features
from skstream.engine.failures import ModelError
from skstream.engine.model import ModelRun
from skstream.engine.run import Answered, Engine, Lane, Step
from skstream.engine.timeline import End
from skstream.evaluation._results._result import EvaluationResult, assemble
from skstream.evaluation._runs._checkpoint import save_checkpoint
from skstream.evaluation._runs._cost import CostMeter
from skstream.evaluation._runs._detections import FoundByMonitor, by_monitor
from skstream.evaluation._runs._ended_models import continued
from skstream.evaluation._runs._input import EncodedRows, encoded
from skstream.evaluation._runs._pace import Pace
from skstream.evaluation._runs._run_outcome import LaneOutcome, Place, RunOutcome
from skstream.evaluation._runs._scoring import RunScores
from skstream.evaluation._runs._watch import watch_of
from skstream.evaluation._runs._which_stream import LabelSum
from skstream.evaluation._settings import Settings
from skstream.metrics._checkpoints import Curves
from skstream.metrics._resolve import resolve_metrics
from skstream.streams._chunk import Chunk
from skstream.utils._choices import check_choice
from skstream.utils._exclusive import Exclusive, exclusive
from skstream.utils._interrupt import Held, deferred_interrupt
from skstream.utils._label_space import LabelSpace
from skstream.utils._rows import Schema

#: Function that is called with the number of newly finished rows.
Advance = Callable[[int], object]

DECIDE = (
    "The run waits for your decision: go_on('retry') tries again what failed, go_on('skip') leaves "
    "the row out, go_on('leave_out') goes on without the model. save(path) works, and result() "
    "gives what came before the call."
)


@dataclass(frozen=True, kw_only=True)
class Stopped:
    """A step that a failure has stopped, and how it is noted in the end.

    `step` is what the models did. If they have not begun, it is None, `reason` says why, and
    `event` can be executed again.
    """

    note: Callable[[list[Answered]], None]
    step: Step | None = None
    event: tuple[Any, ...] = ()
    reason: str = ""


def check_on_error(on_error: str) -> None:
    """Check the parameter of the calls of a live run."""
    check_choice(on_error, "on_error", ("raise", "skip"))


def ignored(n_rows: int) -> None:
    """Show no progress."""


class StreamRun(Exclusive):
    """Base class of runs: models executed together, a state, checkpoints, and results so far.

    Parameters
    ----------
    settings : Settings
        The evaluator's settings, resolved.
    models : dict of (str, int) to estimator
        One prepared model per name and fold, in the order of the result.
    features : callable, default=None
        ``features(rows, times)`` where features change while a row waits for its label.
    width : int, default=1
        Lines of answers that are scored per model and fold.
    """

    #: Most rows between two points at which a run can be interrupted.
    _rows_per_piece = 1 << 16
    _labels_read = LabelSum()

    def __init__(
        self,
        settings: Settings,
        models: Mapping[Place, Any],
        features: Features | None = None,
        width: int = 1,
    ):
        super().__init__()
        self._settings = settings
        self._places = self._all_places = places = list(models)  # those that go on, and all
        self._ended: dict[Place, LaneOutcome] = {}  # those that do not
        self._engine = Engine(_lanes(settings, models), features=features)
        self._meters = [CostMeter(model) for model in models.values()]
        self._schema: Schema | None = None  # of the first rows
        self._space = LabelSpace(settings.classes)
        self._n_arrived = self._n_unlabelled = 0
        names = [name for name, _ in places]
        self._scores = RunScores(settings, names, width, watch=watch_of(settings, places, width))
        self._pace = Pace(self._rows_per_piece)
        self._live = False
        self._is_closed = False
        self._has_failed = False  # for good: a failure has ended an evaluation
        self._interrupt: Held | None = None  # delays Ctrl-C until the end of a call of a live run
        self._stopped: Stopped | None = None  # waits for a decision
        self._rest: Callable[[], object] | None = None  # of the call that was stopped
        self._left_out: set[int] = set()  # lanes whose failure the user has accepted
        self._skipped: dict[int, np.ndarray] = {}  # by lane, the rows skipped last
        self._n_skipped = dict.fromkeys((name for name, _ in places), 0)

    @property
    def _state(self) -> str:
        if self._engine.is_torn or self._has_failed:
            return "broken"
        if self._stopped is not None:
            return "stopped"
        return "closed" if self._is_closed else "open"

    @property
    def looped(self) -> list[bool]:
        """Which models, in the order of the places, are executed call by call, and so slowly."""
        return [lane.model.by_kernel.loops for lane in self._engine.lanes]

    @property
    def seconds(self) -> list[float]:
        """Seconds that each model, in the order of the places, has taken so far."""
        return [sum(lane.model.seconds.values()) for lane in self._engine.lanes]

    @property
    def seconds_of(self) -> dict[Place, float]:
        """Seconds that each model has taken so far, also those that have ended."""
        ended = {place: lane.cost.seconds for place, lane in self._ended.items()}
        return ended | dict(zip(self._places, self.seconds, strict=True))

    @property
    def path_of(self) -> dict[Place, str]:
        """How each model that goes on was executed so far, without reasons."""
        now = (lane.model.by_kernel.path(reasons=False) for lane in self._engine.lanes)
        return dict(zip(self._places, now, strict=True))

    @property
    def reasons_of_loops(self) -> dict[Place, str | None]:
        """Why models that go on are executed call by call; None of those that have a kernel."""
        kernels = zip(
            self._places, (one.model.by_kernel for one in self._engine.lanes), strict=True
        )
        return {
            place: kernel.path().partition(": ")[2] if kernel.loops else None
            for place, kernel in kernels
        }

    @property
    def failure_of(self) -> dict[Place, str]:
        """Why models have failed, those that go on and those that have ended."""
        ended = {place: lane.failure for place, lane in self._ended.items() if lane.failure}
        now = self._shown_failures().items()
        return ended | {self._places[k]: str(failure) for k, failure in now}

    @property
    def n_rows(self) -> int:
        """Number of rows that have arrived."""
        return self._n_arrived

    @abstractmethod
    def feed(self, chunk: Chunk, advance: Advance = ignored) -> Any:
        """Process a chunk that a stream has checked.

        `advance` is called with the number of rows of every piece.
        """

    def pass_over(self, chunk: Chunk) -> None:
        """Read, in a new run, rows that a loaded run of the same call has done.

        Parameters
        ----------
        chunk : Chunk
            The next of these rows.
        """

    def go_on_as(self, new: Self) -> None:
        """Go on, after loading, where a new run of the same call has passed over the same rows.

        Parameters
        ----------
        new : StreamRun
            The new run, which is not needed afterwards.

        Raises
        ------
        ValueError
            If what is read beside the stream is not what this run has read.
        """
        # What becomes of a failure may be another in this call.
        self._settings = replace(
            self._settings,
            error_score=new._settings.error_score,
            parameters=new._settings.parameters,
        )

    @property
    def n_skipped(self) -> dict[str, int]:
        """By model, the rows on which it failed and that were skipped, in all folds."""
        return dict(self._n_skipped)

    def hold_failures(self) -> Self:
        """Wait for the user's decision if a model fails, as live runs do."""
        self._live = True
        return self

    def _score(self) -> None:
        """Score what was noted. If a function of the user fails, this can be repeated."""
        self._scores.measure()

    @abstractmethod
    def _n_valid(self, lane: int) -> int:
        """Return the rows of the curves of a lane that came before its failure."""

    @exclusive
    def close(self) -> Self:
        """End the stream: execute what is still waiting. No rows can follow.

        Returns
        -------
        self : StreamRun
            The run.
        """
        if self._state == "closed":
            return self
        self._require_open()
        self._take_event(self._note, End())
        return self

    @exclusive
    def go_on(self, decision: str) -> Self:
        """Finish the call that a failure has stopped, by the given decision.

        A model that fails in a live run stops the run in the middle of the call. No row is lost:
        the other models have finished the call, `result` gives the scores before it, and `save`
        works.

        Parameters
        ----------
        decision : {"retry", "skip", "leave_out"}
            "retry": repeat the failed step, after you have removed its cause. "skip": the model
            that failed does not learn that row; where it failed to answer, the row is scored for no
            model. "leave_out": the model is not called any more, and its later scores are NaN.

        Returns
        -------
        self : StreamRun
            The run, which is open again.

        Raises
        ------
        ModelError
            If this or another model fails: the run waits for the next decision.
        RuntimeError
            If the run does not wait for a decision.

        Examples
        --------
        >>> import numpy as np
        >>> from sklearn.linear_model import SGDClassifier
        >>> from skstream import ModelError, PrequentialEvaluator
        >>> run = PrequentialEvaluator("accuracy").start(SGDClassifier(), classes=[0, 1])
        >>> try:
        ...     run.update([[0.0], [np.nan], [1.0]], [0, 1, 1])
        ... except ModelError as error:
        ...     error.row
        1
        >>> run = run.go_on("skip")  # it could neither answer nor learn the row
        >>> run.n_rows, run.n_skipped
        (3, {'SGDClassifier': 1})
        """
        check_choice(decision, "decision", ("retry", "skip", "leave_out"))
        stopped = self._stopped
        if stopped is None or self._state != "stopped":
            raise RuntimeError("The run does not wait for a decision: no failure has stopped it.")
        if stopped.step is None:
            if decision != "retry":
                raise ValueError(
                    f"No model has failed, but {stopped.reason}: correct that, and go_on('retry')."
                )
            self._take_event(stopped.note, *stopped.event)
            self._do_rest()
            return self
        failed = self._failed_lanes()
        fixed = [k for k in failed if not self._engine.lanes[k].model.can_resume]
        if fixed and decision != "leave_out":
            name, _ = self._places[fixed[0]]
            raise ValueError(
                f"Model '{name}' cannot go on from where it failed: its kernel failed, or the "
                "failure was found only after later rows were done. Decide 'leave_out', or load an "
                "earlier checkpoint."
            )
        if decision == "skip":
            self._check_skip(failed)
        if decision == "leave_out":
            self._left_out.update(failed)
        else:
            self._resume(failed, stopped.step.lanes, skip=decision == "skip")
        self._commit(stopped.step, stopped.note)
        self._do_rest()
        return self

    def _do_rest(self) -> None:
        rest, self._rest = self._rest, None
        if rest is not None:
            rest()

    def _take_event(
        self, note: Callable[[list[Answered]], None], *event: Any, skip: bool = False
    ) -> None:
        """Execute an event, note it and score it; or stop where it can be continued.

        It is wholly taken or not at all: if it raises an exception before a model has learnt, the
        run is as before. If models fail, the run stops, and `go_on` finishes what has begun.

        Parameters
        ----------
        note : callable
            Notes what happened, and calls no function of the user.
        event : tuple
            What the engine executes: the event, and features and labels of its rows.
        skip : bool, default=False
            Whether models that fail skip the row.
        """
        started = perf_counter()
        try:
            with self._breakable():
                step = self._engine.execute(*event)
        except Exception as error:
            if self._live and not self._engine.is_torn:
                reason = f"{type(error).__name__}: {error}"
                self._stopped = Stopped(note=note, event=event, reason=reason)
            raise
        self._commit(step, note, skip=skip)
        self._pace.note(step.lanes, perf_counter() - started)

    @contextmanager
    def _first_rows(self) -> Iterator[None]:
        """If the very first rows were not accepted, the next ones may have other columns."""
        try:
            yield
        except BaseException:
            if not self._n_arrived:
                self._schema = None
            raise

    @contextmanager
    def _before_rest(self, rest: Callable[[], object]) -> Iterator[None]:
        """Store the rest of a call, which `go_on` executes if the run stops in the block."""
        try:
            yield
        except Exception:
            if self._state == "stopped":
                self._rest = rest
            raise

    def _guard(self) -> AbstractContextManager[Any]:
        """In a live run, delay Ctrl-C until the end of every call."""
        return self._hold_interrupts() if self._live and self._interrupt is None else nullcontext()

    @contextmanager
    def _hold_interrupts(self) -> Iterator[None]:
        with deferred_interrupt() as self._interrupt:
            try:
                yield
            finally:
                self._interrupt = None

    def __getstate__(self) -> dict[str, Any]:
        return {**super().__getstate__(), "_interrupt": None}

    @contextmanager
    def _breakable(self) -> Iterator[None]:
        """Let a second Ctrl-C in a live run interrupt the models at once."""
        if self._interrupt is None:
            yield
            return
        self._interrupt.breaks = True
        try:
            yield
        finally:
            self._interrupt.breaks = False

    def _commit(
        self, step: Step, note: Callable[[list[Answered]], None], *, skip: bool = False
    ) -> None:
        """Note and score what the models have answered, unless one has failed."""
        with nullcontext() if self._interrupt is not None else deferred_interrupt():
            while self._live and (failed := self._failed_lanes()):
                if not (skip and self._can_skip(failed)):
                    if self._settings.error_score != "raise":
                        self._left_out.update(failed)  # the others go on
                        break
                    self._stopped = Stopped(note=note, step=step)
                    failure = min(
                        (self._engine.failures[k] for k in failed), key=lambda error: error.row
                    )
                    failure.add_note(DECIDE)
                    raise failure
                self._resume(failed, step.lanes, skip=True)
            self._engine.commit(step)
            note(step.lanes)
            for lane, meter in zip(self._engine.lanes, self._meters, strict=True):
                meter.follow(self._n_arrived, lane.model)
            self._stopped = None
            self._is_closed = isinstance(step.event, End)
            self._has_failed = self._ends_by_failure
            try:
                self._score()
                if self._is_closed:
                    self._finish_scores()
            except Exception as error:
                if self._live:
                    error.add_note(
                        "The rows and labels of this call have been taken. They will be scored "
                        "when result() is called, once this can be done."
                    )
                raise
        if self._raises_failure:
            self._engine.raise_failure()
        if self._interrupt is not None and self._interrupt.received:
            raise KeyboardInterrupt  # between two pieces of a long call

    @property
    def _raises_failure(self) -> bool:
        return self._settings.error_score == "raise" and bool(self._failed_lanes())

    @property
    def _ends_by_failure(self) -> bool:
        return not self._live and self._raises_failure

    def _failed_lanes(self) -> list[int]:
        lanes = enumerate(self._engine.lanes)
        return [k for k, one in lanes if one.model.failure and k not in self._left_out]

    def _resume(self, failed: list[int], answered: list[Answered], *, skip: bool) -> None:
        """Continue with models that failed, after the failed call or by repeating it."""
        self._engine.is_torn = True
        with self._breakable():
            for lane in failed:
                self._resume_one(lane, answered, skip=skip)
        self._engine.is_torn = False

    def _resume_one(self, lane: int, answered: list[Answered], *, skip: bool) -> None:
        name, _ = self._places[lane]
        model, its_step = self._engine.lanes[lane].model, answered[lane]
        again = True
        while again:
            resumed = model.resume(skip=skip)
            its_step.replace_last(Answered.by(model, its_step.operations, resumed.answers))
            before = self._skipped.get(lane, resumed.rows[:0])
            self._n_skipped[name] += int(np.count_nonzero(~np.isin(resumed.rows, before)))
            if len(resumed.rows):
                self._skipped[lane] = resumed.rows
            if resumed.unasked:  # models are compared on the same rows
                for one in answered:
                    unasked = np.isin(one.operations.ask_rows, resumed.rows)
                    one.unask(unasked, np.nan if self._settings.classes is None else -1)
            # A row that it could not answer, and cannot learn either, is skipped once.
            failure = model.failure
            again = failure is not None and model.can_resume and failure.row in resumed.rows

    def _can_skip(self, failed: list[int]) -> bool:
        return all(self._engine.lanes[k].model.can_resume for k in failed)

    def _check_skip(self, failed: list[int]) -> None:
        """Raise an error if what failed cannot be skipped."""

    def _note(self, answered: list[Answered]) -> None:
        """Note a step that was due."""

    def _finish_scores(self) -> None:
        """Score the rows that the measures have buffered, at the end of the stream."""
        self._scores.finish()

    @exclusive
    def result(self) -> EvaluationResult:
        """Return the result so far; the run can continue afterwards.

        Returns
        -------
        result : EvaluationResult
            Scores of all rows that every model has done; an incomplete batch is left out.
        """
        with deferred_interrupt():
            self._score_all()
        return assemble(self._settings.header, [self.outcome()])

    @property
    @exclusive
    def detections(self) -> FoundByMonitor:
        """What the monitors have found so far, as in the result."""
        with deferred_interrupt():
            self._score_all()
        return by_monitor(self._scores.detections())

    def _score_all(self) -> None:
        """Score everything that was noted."""
        self._score()

    def leave_out_functions(self) -> Settings | None:
        """Score by measures that cannot fail, after a function of the user has failed.

        Returns
        -------
        settings : Settings or None
            The settings with these measures; None without a tape.
        """
        settings = self._settings
        named = {name: one for name, one in settings.metrics.items() if one.function is None}
        settings = replace(
            settings, metrics=named or resolve_metrics(None, classes=settings.classes)
        )
        scores = self._scores.measured_by(settings)
        if scores is None:
            return None
        self._settings, self._scores = settings, scores
        return settings

    @exclusive
    def outcome(self) -> RunOutcome:
        """Return the outcome of every lane, from which results are made."""
        with suppress(OSError):  # without its tape, then
            self._scores.write_tape(all_of_it=True)
        labels = self._scores.labels()
        going_on = self._outcomes(self._scores.curves(), range(len(self._places)))
        lanes = dict(zip(self._places, going_on, strict=True))
        checkpoints = going_on[0].curves.checkpoints
        for place, lane in self._ended.items():
            lanes[place] = continued(lane, checkpoints, labels)
        return RunOutcome(
            lanes=[lanes[place] for place in self._all_places],
            labels=labels,
            n_rows=self._n_arrived,
            n_unlabelled=self._n_unlabelled,
            drifts=self._settings.drifts,
            labels_read=self._labels_read.text,
            columns=self._columns(),
        )

    def curves(self) -> dict[Place, Curves]:
        """Return the curves so far, by model and fold; nothing changes."""
        return dict(zip(self._places, self._scores.curves(), strict=True))

    def _columns(self) -> dict[str, Any]:
        """Return the names and types of the columns, as data; names are None of arrays."""
        schema = self._schema
        if schema is None:
            return {}
        names = None if schema.names is None else list(map(str, schema.names))
        return {"width": schema.width, "names": names, "types": schema.types}

    def kept_outcome(self) -> RunOutcome:
        """Return what a run folder keeps of the run when it is finished."""
        return self.outcome()

    def _outcomes(self, curves: Sequence[Curves], numbers: Sequence[int]) -> list[LaneOutcome]:
        """Outcomes of some lanes, by their numbers, with their curves."""
        failures, settings = self._shown_failures(), self._settings
        detections = self._scores.detections()
        outcomes = []
        for k, of_lane in zip(numbers, curves, strict=True):
            (name, fold), model = self._places[k], self._engine.lanes[k].model
            outcomes.append(
                LaneOutcome(
                    name=name,
                    fold=fold,
                    curves=of_lane,
                    answers=self._scores.answers(k),
                    scores=self._scores.scores(k),
                    method=settings.scores.get(name),
                    cost=self._meters[k].cost(model),
                    path=model.by_kernel.path(),
                    # A copy: the run continues, and the user may change the returned model.
                    estimator=deepcopy(model.estimator()) if settings.return_models else None,
                    failure=str(failures[k]) if k in failures else None,
                    n_valid=self._n_valid(k) if k in failures else None,
                    n_unanswered=model.n_unanswered,
                    detections=detections[k],
                )
            )
        return outcomes

    def _shown_failures(self) -> dict[int, ModelError]:
        """Why lanes have stopped: without what came after the failure that ends the evaluation."""
        failures = self._engine.failures
        if not self._ends_by_failure:
            return failures
        ends = {k: self._n_valid(k) for k in failures}
        end = min(ends.values())
        return {k: failure for k, failure in failures.items() if ends[k] == end}

    def keep_tape_in(self, folder: Path | None) -> None:
        """Keep labels and answers in files of a folder, if they are kept on disk.

        Comes before the first row, and again after the run was loaded: what was written after it
        was saved is written again. None: write nothing more.
        """
        self._scores.keep_tape_in(folder)

    @property
    def tape_is_due(self) -> bool:
        """Whether many labels and answers wait to be written to disk."""
        return self._scores.tape_is_due

    def write_tape(self, *, all_of_it: bool) -> None:
        """Write labels and answers that are kept on disk: if many wait, or all, and for good.

        Call it between two steps, and with all of it before a checkpoint.
        """
        self._scores.write_tape(all_of_it=all_of_it, sync=all_of_it)

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
        if self._state != "stopped":
            self._require_open()
        path = Path(path)
        save_checkpoint(self, path)
        return path

    def _checked(self, X: Any, y: Any, sample_weight: Any, arrival: Any = None) -> Chunk:
        """Check rows of the user as a stream checks its chunks."""
        meta = {"sample_weight": sample_weight, "arrival": arrival}
        given = {name: one for name, one in meta.items() if one is not None}
        chunk = Chunk.of(X, y, given, first_row=self._n_arrived)
        self._check_schema(chunk.X)
        return chunk

    def _check_schema(self, X: Any) -> None:
        if self._schema is not None:
            self._schema.check(X, self._n_arrived)
        self._learn_schema(X)

    def _learn_schema(self, X: Any) -> None:
        if self._schema is None and X.shape[0]:  # no rows say nothing about the rows to come
            self._schema = Schema.of(X).with_types(X)

    def _encoded(self, chunk: Chunk, missing_labels: str) -> EncodedRows:
        self._learn_schema(chunk.X)
        return encoded(chunk, self._space, missing_labels, first_row=self._n_arrived)

    def _require_open(self) -> None:
        if self._state == "closed":
            raise RuntimeError("The run is closed: the stream has ended. Start another.")
        if self._state == "stopped":
            raise RuntimeError(f"The run has stopped in the middle of a call. {DECIDE}")
        if self._state == "broken":
            raise RuntimeError(
                "The run was stopped in the middle of a row by an error or an interrupt: result() "
                "gives what came before, but it cannot go on. Go on from a saved checkpoint "
                "(load_run) or start another."
            )

    def __repr__(self) -> str:
        names = list(dict.fromkeys(name for name, _ in self._places))
        return (
            f"{type(self).__name__}({self._state}: {', '.join(names)} after "
            f"{self._n_arrived:,} rows; see result(), save(path), close())"
        )


def _lanes(settings: Settings, models: Mapping[Place, Any]) -> list[Lane]:
    """Combine models, which look for their kernels, with the timelines of their folds."""
    n_folds = len(settings.timelines)
    return [
        Lane(
            ModelRun(
                name,
                fold,
                model,
                settings.task_of(name),
                settings.engine,
                settings.unanswered,
                n_folds=n_folds,
            ),
            settings.timelines[fold],
        )
        for (name, fold), model in models.items()
    ]
