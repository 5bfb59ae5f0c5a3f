"""Rows become steps of models; a failure ends them, or waits for a decision of the user."""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager, nullcontext
from dataclasses import dataclass, replace
from functools import partial
from time import perf_counter
from typing import Any, Self
from zlib import crc32

import numpy as np

from skstream.engine.delayed_blocks import Features
from skstream.engine.model import ModelRun
from skstream.engine.run import Answered, Engine, Lane, Step
from skstream.engine.timeline import End
from skstream.evaluation._folder._reports import Reporter
from skstream.evaluation._runs._input import EncodedRows, encoded
from skstream.evaluation._runs._pace import Pace
from skstream.evaluation._runs._run_outcome import Place
from skstream.evaluation._settings import Settings
from skstream.streams._chunk import Chunk
from skstream.utils._choices import check_choice
from skstream.utils._exclusive import Exclusive, exclusive
from skstream.utils._interrupt import Held, deferred_interrupt
from skstream.utils._label_space import LabelSpace, is_given
from skstream.utils._rows import Schema
from skstream.utils._times import check_arrivals, clock

#: Function that is called with the number of newly finished rows.
OnRows = Callable[[int], object]
#: What notes a step in a run; it calls no function of the user.
Note = Callable[[list[Answered]], None]

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

    note: Note
    step: Step | None = None
    event: tuple[Any, ...] = ()
    reason: str = ""


class Steps(Exclusive):
    """Base class of runs: executes models together along rows, and handles their failures.

    Parameters
    ----------
    settings : Settings
        The evaluator's settings, resolved.
    models : dict of (str, int) to estimator
        One prepared model per name and fold, in the order of the result.
    features : callable, default=None
        ``features(rows, times)`` where features change while a row waits for its label.
    """

    #: Most rows between two points at which a run can be interrupted.
    _rows_per_piece = 1 << 16

    def __init__(
        self, settings: Settings, models: Mapping[Place, Any], features: Features | None = None
    ) -> None:
        super().__init__()
        self._settings = settings
        self._places = list(models)
        lanes = [
            Lane(
                ModelRun(
                    name,
                    fold,
                    model,
                    settings.task_of(name),
                    settings.engine,
                    settings.unanswered,
                    n_folds=len(settings.timelines),
                ),
                settings.timelines[fold],
            )
            for (name, fold), model in models.items()
        ]
        self._engine = Engine(lanes, features=features)
        self._pace = Pace(self._rows_per_piece)
        self._space = LabelSpace(settings.classes)
        self._schema: Schema | None = None  # of the first rows
        self._n_arrived = 0
        self._label_sum = 0  # checksum of their labels
        self._has_labels = False
        self._is_weighted = False  # whether a row so far had a weight
        self._counts_time = settings.counts_time
        self._last_time: np.ndarray | None = None  # of the newest row that says it
        #: Whether a failure waits for a decision of the user, as in live runs.
        self.is_live = False
        self._is_closed = False
        self._ends_by_failure = False  # for good, as in an evaluation
        self._has_failed = False  # this, or something else that ends the run
        self._interrupt: Held | None = None  # delays Ctrl-C until the end of a call of a live run
        self._stopped: Stopped | None = None  # waits for a decision
        self._rest: list[Callable[[], object]] = []  # of the call that was stopped
        self._left_out: set[int] = set()  # lanes whose failure the user has accepted
        self._skipped: dict[int, np.ndarray] = {}  # by lane, the rows skipped last
        self._n_skipped = dict.fromkeys((name for name, _ in models), 0)

    @property
    def _state(self) -> str:
        if self._engine.is_inconsistent or self._has_failed:
            return "broken"
        if self._stopped is not None:
            return "stopped"
        return "closed" if self._is_closed else "open"

    def _require_open(self) -> None:
        state = self._state
        if state == "closed":
            raise RuntimeError("The run is closed: the stream has ended. Start another.")
        if state == "stopped":
            raise RuntimeError(f"The run has stopped in the middle of a call. {DECIDE}")
        if state == "broken":
            raise RuntimeError(
                "The run was stopped in the middle of a row by an error or an interrupt: result() "
                "gives what came before, but it cannot go on. Go on from a saved checkpoint "
                "(load_run) or start another."
            )

    @property
    def n_rows(self) -> int:
        """Number of rows that have arrived."""
        return self._n_arrived

    @property
    def n_skipped(self) -> dict[str, int]:
        """By model, the rows on which it failed and that were skipped, in all folds."""
        return dict(self._n_skipped)

    @property
    def _models(self) -> Iterator[tuple[Place, ModelRun]]:
        """The models that go on."""
        return zip(self._places, [lane.model for lane in self._engine.lanes], strict=True)

    @property
    def seconds_of(self) -> dict[Place, float]:
        """Seconds that each model has taken so far."""
        return {place: sum(model.seconds.values()) for place, model in self._models}

    @property
    def path_of(self) -> dict[Place, str]:
        """How each model that goes on was executed so far, without reasons."""
        return {place: model.by_kernel.path(reasons=False) for place, model in self._models}

    @property
    def reasons_of_loops(self) -> dict[Place, str]:
        """Why models that go on are executed call by call, those that are."""
        kernels = {place: model.by_kernel for place, model in self._models if model.by_kernel.loops}
        return {place: one.path().partition(": ")[2] for place, one in kernels.items()}

    # -- rows

    def follow(
        self,
        stream: Iterable[Chunk],
        on_rows: Sequence[OnRows] = (),
        keeper: Any = None,
        reporter: Reporter | None = None,
    ) -> None:
        """Take the rest of a stream, after the rows that the run has taken, and close the run.

        Parameters
        ----------
        stream : iterable of Chunk
            All rows.
        on_rows : sequence of callable, default=()
            Called with a number of rows whenever so many more are done.
        keeper : Keeper, default=None
            Keeps checkpoints in a run folder.
        reporter : Reporter, default=None
            Reports how far the run is.
        """
        done = self._n_arrived if keeper is None else 0  # the chunks of a keeper begin after them
        on_rows = list(on_rows)
        if reporter is not None:
            on_rows.append(lambda _: reporter.advance(self))
        if keeper is not None:
            on_rows.append(keeper.advance)
        try:
            for number, chunk in enumerate(stream if keeper is None else keeper.chunks(stream)):
                if number == 0 and reporter is not None:
                    reporter.begin(self)  # not before: rows that were done are read again first
                n_rows = len(chunk.y)
                if n_rows > done:
                    self.feed(chunk.part(done, n_rows), on_rows)
                done = max(0, done - n_rows)
            self.close()
        except BaseException:
            if reporter is not None:
                reporter.stop(self)
            raise

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

    def _check_columns(self, X: Any) -> None:
        """Raise an error if rows of the user do not have the columns of the first ones."""
        if self._schema is not None:
            self._schema.check(X, self._n_arrived)

    def _rows_of(self, chunk: Chunk) -> EncodedRows:
        """Encode the next rows, which have been checked; an error leaves everything unchanged."""
        rows = encoded(chunk, self._space, self._settings.missing_labels, first_row=self._n_arrived)
        if rows.weight is None and self._is_weighted:
            rows = replace(rows, weight=np.ones(rows.n_rows))
        came = chunk.meta.get("arrival")
        if came is not None and rows.n_rows:
            check_arrivals(came, self._n_arrived, self._last_time)
            rows = replace(rows, came=came, time=clock(came) if self._counts_time else None)
        elif self._counts_time and rows.n_rows:
            raise ValueError(
                "The forgetting or record_every counts time, and the rows do not say when they "
                "came: pass arrival=."
            )
        self._learn_columns(chunk.X)
        return rows

    def _learn_columns(self, X: Any) -> None:
        if self._schema is None and X.shape[0]:  # an empty chunk may have no columns
            self._schema = Schema.of(X).with_types(X)

    def _take(
        self,
        rows: EncodedRows,
        begin: int = 0,
        *,
        skip: bool = False,
        on_rows: Sequence[OnRows] = (),
    ) -> None:
        """Take rows from one on, piece by piece."""
        while begin < rows.n_rows:
            end = self._prepare_piece(rows, begin, skip=skip)
            piece = rows.take(slice(begin, end))
            begin = end
            with self._before_rest(partial(self._take, rows, begin, skip=skip)):
                self._take_piece(piece, skip=skip)
            for one in on_rows:
                one(piece.n_rows)

    def _prepare_piece(self, rows: EncodedRows, begin: int, *, skip: bool) -> int:
        """Return the end of the next piece, which may be beyond the last row."""
        return begin + self._pace.size

    def _take_piece(self, piece: EncodedRows, *, skip: bool) -> None:
        note = partial(self._note_arrived, piece)
        self._take_event(note, piece.arrivals(self._n_arrived), piece.X, piece.y, skip=skip)

    def _note_arrived(self, piece: EncodedRows, answered: list[Answered]) -> None:
        """Note rows that arrived, and what models did with them."""
        self._note_rows(piece)
        self._note(answered)

    def _note_rows(self, piece: EncodedRows) -> np.ndarray:
        """Count rows that arrived; return which of them have a label."""
        labelled = is_given(piece.y)
        values = np.where(labelled, piece.y, -1.0)  # without a label y may be anything
        self._label_sum = crc32(values.data, self._label_sum)
        self._has_labels = self._has_labels or bool(labelled.any())
        self._n_arrived += piece.n_rows
        self._is_weighted |= piece.weight is not None
        self._last_time = self._last_time if piece.came is None else piece.came[-1:]
        return labelled

    @exclusive
    def close(self) -> Self:
        """End the stream: execute what is still waiting. No rows can follow.

        Returns
        -------
        self : EvaluationRun
            The run.
        """
        if self._state == "closed":
            return self
        self._require_open()
        self._take_event(self._note, End())
        return self

    # -- steps, and decisions about those that a failure has stopped

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
        self : EvaluationRun
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
        else:
            failed = self._failed_lanes()
            if decision == "leave_out":
                self._left_out.update(failed)
            else:
                why_not = self._why_not(decision, failed)
                if why_not:
                    raise ValueError(why_not)
                self._resume(failed, stopped.step, skip=decision == "skip")
            self._commit(stopped.step, stopped.note)
        rest, self._rest = self._rest, []
        try:
            while rest:
                rest.pop(0)()
        finally:
            self._rest += rest
        return self

    @contextmanager
    def _before_rest(self, rest: Callable[[], object]) -> Iterator[None]:
        """If the run stops in the block, let `go_on` execute the rest of the call afterwards."""
        try:
            yield
        except Exception:
            if self._state == "stopped":
                self._rest.append(rest)
            raise

    def _take_event(self, note: Note, *event: Any, skip: bool = False) -> None:
        """Execute an event, note it and score it; or stop where it can be continued.

        It is wholly taken or not at all: if it raises an exception before a model has learnt, the
        run is as before. If models fail, the run stops, and `go_on` finishes what has begun.

        Parameters
        ----------
        note : callable
            Notes what happened.
        event : tuple
            What the engine executes: the event, and features and labels of its rows.
        skip : bool, default=False
            Whether models that fail skip the row.
        """
        started = perf_counter()
        try:
            with self._interrupt or nullcontext():
                step = self._engine.execute(*event)
        except Exception as error:
            if self.is_live and not self._engine.is_inconsistent:
                reason = f"{type(error).__name__}: {error}"
                self._stopped = Stopped(note=note, event=event, reason=reason)
            raise
        self._commit(step, note, skip=skip)
        done = [one.operations for one in step.answered]
        n_rows = [max(len(one.ask_rows), len(one.learn_rows)) for one in done]
        if any(n_rows):  # else rows only wait
            self._pace.took(max(n_rows), perf_counter() - started)

    def _commit(self, step: Step, note: Note, *, skip: bool = False) -> None:
        """Note and score what the models have answered, unless one has failed."""
        with nullcontext() if self._interrupt is not None else deferred_interrupt():
            if self.is_live:
                self._handle_failures(step, note, skip=skip)
            self._engine.commit(step)
            ends = not self.is_live and self._settings.error_score == "raise"
            self._ends_by_failure = ends and bool(self._failed_lanes())
            note(step.answered)
            self._stopped = None
            self._is_closed = isinstance(step.event, End)
            self._has_failed = self._ends_by_failure
            try:
                self._score_step()
            except Exception as error:
                if self.is_live:
                    error.add_note(
                        "The rows and labels of this call have been taken. They will be scored "
                        "when result() is called, once this can be done."
                    )
                raise
        if self._has_failed:
            self._engine.raise_failure()
        if self._interrupt is not None and self._interrupt.received:
            raise KeyboardInterrupt  # between two pieces of a long call

    def _handle_failures(self, step: Step, note: Note, *, skip: bool) -> None:
        """Skip what failed, or leave the model out, as the call or the evaluator says; or stop."""
        while failed := self._failed_lanes():
            if skip and not self._why_not("skip", failed):
                self._resume(failed, step, skip=True)
            elif self._settings.error_score != "raise":
                self._left_out.update(failed)  # the others go on
            else:
                self._stopped = Stopped(note=note, step=step)
                failure = min((self._engine.failures[k] for k in failed), key=lambda one: one.row)
                failure.add_note(DECIDE)
                raise failure

    def _failed_lanes(self) -> list[int]:
        lanes = enumerate(self._engine.lanes)
        return [k for k, one in lanes if one.model.failure and k not in self._left_out]

    def _why_not(self, decision: str, failed: list[int]) -> str:
        """Say why what failed cannot be tried again, or skipped; empty if it can."""
        for k in failed:
            if not self._engine.lanes[k].model.can_resume:
                return (
                    f"Model '{self._places[k][0]}' cannot go on from where it failed: its kernel "
                    "failed, or the failure was found only after later rows were done. Decide "
                    "'leave_out', or load an earlier checkpoint."
                )
        return ""

    def _resume(self, failed: list[int], step: Step, *, skip: bool) -> None:
        """Continue with models that failed, after the failed call or by repeating it."""
        self._engine.is_inconsistent = True
        with self._interrupt or nullcontext():
            for lane in failed:
                self._resume_one(lane, step.answered, skip=skip)
        self._engine.is_inconsistent = False

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

    def _guard(self) -> AbstractContextManager[Any]:
        """In a live run, delay Ctrl-C until the end of every call."""
        return self._delayed_interrupt() if self.is_live else nullcontext()

    @contextmanager
    def _delayed_interrupt(self) -> Iterator[None]:
        """Delay Ctrl-C; a second one interrupts the models at once."""
        if self._interrupt is not None:
            yield
            return
        with deferred_interrupt() as self._interrupt:
            try:
                yield
            finally:
                self._interrupt = None

    def __getstate__(self) -> dict[str, Any]:
        return {**super().__getstate__(), "_interrupt": None}

    def _note(self, answered: list[Answered]) -> None:
        """Note a step that was due."""
        raise NotImplementedError

    def _score_step(self) -> None:
        """Score what was noted. If a function of the user fails, this can be repeated."""
        raise NotImplementedError
