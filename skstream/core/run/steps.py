"""Rows become steps of models; a failure ends the model, or the run."""

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager, nullcontext
from dataclasses import replace
from functools import partial
from time import perf_counter
from typing import Any, Self
from zlib import crc32

import numpy as np

from skstream.core.engine.model import ModelRun
from skstream.core.engine.run import Answered, Engine, Lane, Step
from skstream.core.evaluators.settings import Settings
from skstream.core.rows.chunk import Chunk
from skstream.core.run.input import EncodedRows, encoded
from skstream.core.run.pace import Pace
from skstream.core.run.read_checksums import PassChecksums, differences
from skstream.core.run.run_outcome import Checksums, Place
from skstream.core.timelines.delayed_blocks import Features
from skstream.core.timelines.timeline import End
from skstream.utils._concurrency import Exclusive, Held, deferred_interrupt, exclusive
from skstream.utils._label_space import LabelSpace, is_given
from skstream.utils._rows import Schema
from skstream.utils._times import check_arrivals, clock

_NUMBERS = re.compile(r"(u?int|float)\d+", re.IGNORECASE)
#: Function that is called with the number of newly finished rows.
OnRows = Callable[[int], object]
#: What notes a step in a run; it calls no function of the user.
Note = Callable[[list[Answered]], None]


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
    #: The last time in the tables that the user passed; see `last_time`.
    _last_in_table: np.ndarray | None = None

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
        #: Whether the user passes the rows: Ctrl-C then waits for the end of a call.
        self.is_live = False
        self._is_closed = False
        self._ends_by_failure = False  # for good, as in an evaluation
        self._has_failed = False  # this, or something else that ends the run
        self._interrupt: Held | None = None  # delays Ctrl-C until the end of a call of a live run

    @property
    def _state(self) -> str:
        if self._engine.is_inconsistent or self._has_failed:
            return "broken"
        return "closed" if self._is_closed else "open"

    def _require_open(self) -> None:
        state = self._state
        if state == "closed":
            raise RuntimeError("The run is closed: the stream has ended. Start another.")
        if state == "broken":
            raise RuntimeError(
                "The run was stopped in the middle of a row by a model that failed, another error, "
                "or an interrupt: result() gives what came before, but it cannot go on. Go on from "
                "a saved checkpoint (load_run), or start another; with error_score=nan the other "
                "models go on without the one that fails."
            )

    @property
    def is_closed(self) -> bool:
        """Whether the stream has ended."""
        return self._is_closed

    @property
    def n_rows(self) -> int:
        """Number of rows that have arrived."""
        return self._n_arrived

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
        done, first, was_closed = self._n_arrived, 0, self.is_closed
        parts = _cut(stream, done)
        for part in parts if read is None else read.noted(parts):
            if read is not None and taken is not None:
                self._check_schema(part.X)
                if first == done:
                    self._check_same(read.sums(), taken)
                    taken = None
            first += len(part.y)
            if first > done and not was_closed:
                self.feed(part, on_rows)
        if first < done or (was_closed and first > done):
            raise ValueError(
                f"The stream has changed: it has {first:,} rows, and the run had read {done:,}. "
                "Give the stream as it was, or name another folder, checkpoint=."
            )
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
        other = [one for one in pairs if one[0] != one[1] and all(map(_NUMBERS.fullmatch, one))]
        if found != known or other:
            raise ValueError(
                f"The stream has changed: the types of its columns are {found.types} in a "
                f"{found.kind}, and were {known.types} in a {known.kind}. Give the stream as it "
                "was, or name another folder, checkpoint=."
            )

    def _check_same(self, read: Checksums, taken: Checksums) -> None:
        differing = differences(read, taken)
        if differing:
            raise ValueError(
                f"The stream has changed: its first {self._n_arrived:,} rows have other "
                f"{differing} than those that the run had read. Give the stream as it was, or name "
                "another folder, checkpoint=."
            )

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
            self._schema = Schema.of(X, with_types=True)

    def _take(
        self,
        rows: EncodedRows,
        begin: int = 0,
        on_rows: Sequence[OnRows] = (),
    ) -> None:
        """Take rows from one on, piece by piece."""
        while begin < rows.n_rows:
            end = self._prepare_piece(rows, begin)
            piece = rows.take(slice(begin, end))
            begin = end
            self._take_piece(piece)
            for one in on_rows:
                one(piece.n_rows)

    def _prepare_piece(self, rows: EncodedRows, begin: int) -> int:
        """Return the end of the next piece, which may be beyond the last row."""
        return begin + self._pace.size

    def _take_piece(self, piece: EncodedRows) -> None:
        note = partial(self._note_arrived, piece)
        self._take_event(note, piece.arrivals(self._n_arrived), piece.X, piece.y)

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

    # -- steps

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
        started = perf_counter()
        with self._interrupt or nullcontext():
            step = self._engine.execute(*event)
        self._commit(step, note)
        done = [one.operations for one in step.answered]
        n_rows = [max(len(one.ask_rows), len(one.learn_rows)) for one in done]
        if any(n_rows):  # else rows only wait
            self._pace.took(max(n_rows), perf_counter() - started)

    def _commit(self, step: Step, note: Note) -> None:
        """Note and score what the models have answered; the failure of one may end the run."""
        with nullcontext() if self._interrupt is not None else deferred_interrupt():
            self._engine.commit(step)
            ends = self._settings.error_score == "raise" and bool(self._engine.failures)
            self._has_failed = self._ends_by_failure = ends
            note(step.answered)
            self._is_closed = isinstance(step.event, End)
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


def _cut(stream: Iterable[Chunk], at: int) -> Iterator[Chunk]:
    """Chunks of a stream, of which one is cut if a certain row is within it."""
    first = 0
    for chunk in stream:
        n_rows = len(chunk.y)
        if first < at < first + n_rows:
            yield chunk.part(0, at - first)
            yield chunk.part(at - first, n_rows)
        else:
            yield chunk
        first += n_rows
