"""The folder of one group of models: checkpoints while it runs, its outcome when it is done."""

import pickle
import shutil
from collections.abc import Iterator, Mapping
from contextlib import AbstractContextManager
from dataclasses import dataclass, replace
from datetime import timedelta
from numbers import Integral
from pathlib import Path
from time import monotonic
from types import FunctionType
from typing import Any

from joblib import effective_n_jobs
from joblib.externals.loky.backend.reduction import dump as dump_for_loky

from skstream.drift._detections import Detections
from skstream.evaluation._folder._lock import only_writer, read_lock
from skstream.evaluation._folder._read_checksums import PassChecksums, differences
from skstream.evaluation._folder._reports import Reporter
from skstream.evaluation._runs._checkpoint import (
    NOT_PICKLED,
    KeptRun,
    cannot_be_saved,
    load_checkpoint,
    save_checkpoint,
)
from skstream.evaluation._runs._cost import Cost
from skstream.evaluation._runs._run_outcome import Checksums, EndedModel, LaneOutcome, RunOutcome
from skstream.metrics._checkpoints import Curves
from skstream.streams import Drift
from skstream.streams._chunk import Chunk
from skstream.utils._files import remove_stale
from skstream.utils._npy import StoredArray
from skstream.utils._saved import load_npz, save_npz
from skstream.utils._sklearn import QuietParallel
from skstream.utils._times import UNITS, parse_duration
from skstream.utils._warnings import warn

CHECKPOINT, OUTCOME = "run.checkpoint", "outcome.npz"
#: Files from which a group goes on, or is not computed again.
KEPT = (CHECKPOINT, OUTCOME)


@dataclass(frozen=True)
class Every:
    """A distance of checkpoints: in rows, or else in seconds."""

    rows: int | None = None
    seconds: float | None = None

    @classmethod
    def of(cls, given: Any) -> "Every":
        """Read the parameter `every` of a `RunFolder`."""
        if isinstance(given, Integral) and not isinstance(given, bool) and int(given) > 0:
            return cls(rows=int(given))
        duration = parse_duration(given) if isinstance(given, str) else given
        if isinstance(duration, timedelta) and duration > timedelta(0):
            return cls(seconds=duration.total_seconds())
        raise ValueError(
            'every of a RunFolder must be a text such as "30s", "10min" or "2h", a timedelta, or a '
            f"number of rows, and more than 0; units of time are {UNITS}. Got {given!r} instead."
        )

    def is_due(self, rows: int, since: float) -> bool:
        """Whether so many rows, or the time since a moment of `monotonic`, are enough."""
        if self.rows is not None:
            return rows >= self.rows
        assert self.seconds is not None
        return monotonic() - since >= self.seconds


class FolderTaken(RuntimeError):
    """The folder is gone or another run has taken it over; this one must not write into it."""


@dataclass(frozen=True)
class GroupFolder:
    """Folder of one group; it is sent to the worker that runs the group.

    Attributes
    ----------
    path : Path
        The folder.
    every : Every
        How often checkpoints are written.
    token : str
        That of the lock under which they are written.
    lane : int or None
        Number of the model in the group that runs alone, because workers have died; None: all.
    keeps_run : bool
        Whether the last checkpoint stays when the group is finished: one of its models goes on.
    run_identity : str
        That of the manifest.
    """

    path: Path
    every: Every
    token: str
    lane: int | None = None
    keeps_run: bool = False
    run_identity: str = ""

    @property
    def identity(self) -> str:
        """What its files say of the run and the group that have written them."""
        return f"{self.run_identity} {self._own.relative_to(self.path.parent).as_posix()}"

    def of_lane(self, lane: int) -> "GroupFolder":
        """Return the folder of one of the models, which runs alone."""
        return replace(self, lane=lane)

    @property
    def _own(self) -> Path:
        return self.path if self.lane is None else self.path / f"alone-{self.lane}"

    @property
    def checkpoint(self) -> Path:
        """File of the newest checkpoint, while the group is not finished."""
        return self._own / CHECKPOINT

    @property
    def outcome(self) -> Path:
        """File of what the group did, once it is finished."""
        return self._own / OUTCOME

    @property
    def tape(self) -> Path:
        """Folder of labels and answers that are kept on disk."""
        tape = self.path / "tape"
        return tape if self.lane is None else tape / f"alone-{self.lane}"

    @property
    def status(self) -> Path:
        """File that says how far the group is."""
        return self._own / "status.json"

    @property
    def reporter(self) -> Reporter:
        """Writes how far the group is."""
        return Reporter(self.status, self.path.parent / "lock", self.token)

    @property
    def has_finished_alone(self) -> bool:
        """Whether one of its models has, which went on alone, and not yet the whole group."""
        return not self.is_finished and any(self.path.glob(f"alone-*/{OUTCOME}"))

    @property
    def is_finished(self) -> bool:
        """Whether the outcome is there."""
        return self.outcome.exists()

    def load_outcome(self) -> RunOutcome:
        """Return what the finished group did."""
        try:
            outcome = load_outcome(self.outcome)
        except ValueError as error:
            raise self._unreadable(error) from error
        self._check_own(outcome.identity, self.outcome)
        return outcome

    def _check_own(self, identity: str, file: Path) -> None:
        """Raise an error if a file was written by another run, or another group."""
        if identity != self.identity:
            raise ValueError(
                f"{file} is of another run than {self.path.parent / 'manifest.json'}, or of "
                "another group of its models: it was copied from elsewhere. Put the folder back as "
                f"it was, or remove {self._own} and make the same call again, which computes its "
                "models again from the first row."
            )

    def load_run(self, lane: int) -> Any:
        """Return the run that a finished group has kept, the one that has a model."""
        alone = self.of_lane(lane)
        return (alone if alone.is_finished else self)._load().run

    def _unreadable(self, error: ValueError) -> ValueError:
        """Say what to do about a file that cannot be read."""
        return ValueError(
            f"{error} Put a whole copy of it back, or remove {self._own} and make the same "
            "call again, which computes its models again from the first row; what the other groups "
            "have done stays."
        )

    def only_writer(self) -> AbstractContextManager[None]:
        """Keep other processes from writing into the folder during a block.

        Look after it whether the group is finished: another process may have done that.
        """
        return only_writer(self.path)

    def keeper(self, run: Any) -> "Keeper":
        """Return what goes on from the checkpoint, or else begins with a new run."""
        if not self.checkpoint.exists():
            return Keeper(self, KeptRun(run, {}))
        return Keeper(self, self._load(), run)

    def _load(self) -> KeptRun:
        """Load the checkpoint."""
        try:
            kept = load_checkpoint(self.checkpoint)
        except FileNotFoundError as error:
            raise self._unreadable(ValueError(f"{self.checkpoint} is missing.")) from error
        except ValueError as error:
            raise self._unreadable(error) from error
        if not isinstance(kept, KeptRun):
            raise ValueError(
                f"{self.checkpoint} is not the checkpoint of a run folder: another file was put "
                f"in its place. Remove {self._own} to compute its models again from the first row."
            )
        self._check_own(kept.identity, self.checkpoint)
        return kept

    def finish(self, outcome: RunOutcome) -> None:
        """Write what the group did; unless it keeps its run, that is not needed any more."""
        file, own = self.outcome, replace(outcome, identity=self.identity)
        self._write(outcome.n_rows, lambda: save_npz(file, own, compress=False), file)
        self.tidy()

    def tidy(self) -> None:
        """Remove what a finished group does not need, also what killed processes have left."""
        remove_stale(self.checkpoint)
        if self.keeps_run:
            return
        self.checkpoint.unlink(missing_ok=True)
        if self.lane is None:  # the tape of models that ran alone stays
            for folder in self.path.glob("alone-*"):
                shutil.rmtree(folder, ignore_errors=True)

    def save(self, kept: KeptRun) -> None:
        """Replace the checkpoint."""
        n_rows, kept = kept.run.n_rows, replace(kept, identity=self.identity)
        self.write_tape(kept.run, all_of_it=True)
        self._write(n_rows, lambda: save_checkpoint(kept, self.checkpoint), self.checkpoint)

    def write_tape(self, run: Any, *, all_of_it: bool) -> None:
        """Write labels and answers that are kept on disk: if many wait, or all."""
        try:
            if all_of_it or run.tape_is_due:
                self._write(run.n_rows, lambda: run.write_tape(all_of_it=all_of_it), self.tape)
        except FolderTaken:
            run.keep_tape_in(None)
            raise

    def _write(self, n_rows: int, write: Any, file: Path) -> None:
        lock = self.path.parent / "lock"
        if not self.path.parent.is_dir():
            raise FolderTaken(
                f"The folder {self.path.parent} is gone: it was removed or renamed, or its disk "
                f"cannot be reached. The run ends at row {n_rows:,}. Put the folder back and make "
                "the same call again, which goes on from its checkpoints, or begin again."
            )
        if read_lock(lock).get("token") != self.token:
            raise FolderTaken(
                f"Another run has taken over {self.path.parent}, or its lock was removed: this one "
                f"ends at row {n_rows:,}, and writes nothing more into it."
            )
        try:
            self._own.mkdir(parents=True, exist_ok=True)
            write()
        except OSError as error:
            if file == self.tape and error.filename is not None:
                file = Path(error.filename)
            before = "the checkpoint before it stays" if self.checkpoint.exists() else "it is new"
            raise OSError(
                error.errno,
                f"Row {n_rows:,}: {file} could not be written ({error.strerror or error}); "
                f"{before}. Make room or mend the folder, and make the same call again: it "
                "goes on from there",
            ) from error


def load_outcome(path: Path) -> RunOutcome:
    """Read what a group of models did; an error says if the file is something else, or damaged."""
    # Imported here: `delayed` imports this package.
    from skstream.evaluation.delayed._counts import Waits

    kinds = (RunOutcome, LaneOutcome, Curves, Cost, Detections, EndedModel, Drift, StoredArray)
    classes: dict[str, Any] = {one.__name__: one for one in (*kinds, Waits)}
    outcome: RunOutcome = load_npz(path, "the outcome of a group of models", classes)
    return outcome


class Keeper:
    """Keeps checkpoints of a run while it reads a stream.

    Parameters
    ----------
    group : GroupFolder
        Where they are written.
    kept : KeptRun
        The run, and what it has read.
    new : StreamRun, default=None
        A new run of the same call, if the run is one that was loaded.

    Attributes
    ----------
    run : StreamRun
        The run, which may stand at a later row than the first.
    """

    def __init__(self, group: GroupFolder, kept: KeptRun, new: Any = None) -> None:
        self._group = group
        self._new = new
        self._read_before = kept.read
        self._read = PassChecksums()
        self._piece: Chunk | None = None  # that the run has got last
        self._first = 0  # its first row
        self._saved_at, self._saved = kept.run.n_rows, monotonic()
        self.run = kept.run
        self.run.keep_tape_in(group.tape)
        if new is None:  # what cannot be pickled or written is refused before the first row
            self._save()

    def chunks(self, stream: Any) -> Iterator[Chunk]:
        """Chunks of the stream from the row on at which the run stands.

        Raises
        ------
        ValueError
            If the stream does not give the rows that the run has read.
        """
        done = self.run.n_rows
        if not done:
            self._go_on()
        for chunk in stream:
            for piece in _cut(chunk, done - self._first):
                self._piece = piece
                if self._first >= done:
                    yield piece
                elif self._new is not None:
                    self._new.pass_over(piece)
                self._sum_up_to(self._first + len(piece.y))
                self._piece, self._first = None, self._read.n_rows
                if self._first == done:
                    self._check_same()
                    self._go_on()
        if self._first < done:
            raise ValueError(
                f"The stream has {self._first:,} rows, and the run in {self._group.path.parent} "
                f"had read {done:,}. Give the stream as it was, or another folder."
            )

    def _go_on(self) -> None:
        """Let a loaded run take over from the new one, at the row at which it stands."""
        if self._new is not None:
            self.run.go_on_as(self._new)
            self._new = None

    def _sum_up_to(self, end: int) -> None:
        """Add the rows of the piece up to one to the checksums."""
        if self._piece is not None and end > self._read.n_rows:
            begin = self._read.n_rows - self._first
            self._read.add(*self._piece.part(begin, end - self._first))

    def _check_same(self) -> None:
        differing = differences(self._read_before, self._read.sums())
        if differing:
            raise ValueError(
                f"The stream has changed: its first {self._first:,} rows have other "
                f"{differing} than those that the run in {self._group.path.parent} had read. Give "
                "the stream as it was, or another folder."
            )

    def advance(self, n_rows: int) -> None:
        """Write a checkpoint if one is due; called when so many more rows are done."""
        if self._group.every.is_due(self.run.n_rows - self._saved_at, self._saved):
            try:
                self._save()
            except TypeError as error:  # such as of a tree that has grown deep
                self._saved_at, self._saved = self.run.n_rows, monotonic()
                warn(f"{error} The evaluation goes on; an earlier checkpoint stays.")
        self._group.write_tape(self.run, all_of_it=False)

    def _save(self) -> None:
        self._sum_up_to(self.run.n_rows)
        self._group.save(KeptRun(self.run, self._read.sums()))
        self._saved_at, self._saved = self.run.n_rows, monotonic()

    def finish(self) -> RunOutcome:
        """Write what the run did, after its last row, and return it."""
        self._group.write_tape(self.run, all_of_it=True)
        if self._group.keeps_run:
            self._save()
        outcome: RunOutcome = self.run.kept_outcome()
        outcome = replace(outcome, read={**self.sums(), **outcome.read})
        self._group.finish(outcome)
        return outcome

    def sums(self) -> Checksums:
        """Checksums of all that was read, also after an error within a piece."""
        if self._piece is not None:
            self._sum_up_to(self._first + len(self._piece.y))
        return self._read.sums()


def _cut(chunk: Chunk, at: int) -> Iterator[Chunk]:
    """Cut a chunk before one of its rows, if there is something on both sides."""
    n_rows = len(chunk.y)
    if not 0 < at < n_rows:
        yield chunk
        return
    yield chunk.part(0, at)
    yield chunk.part(at, n_rows)


class _Nowhere:
    """A file that keeps nothing."""

    def write(self, data: Any) -> int:
        return memoryview(data).nbytes


class _Finder(pickle.Pickler):
    """Finds classes and functions that only the process of the script can import."""

    def __init__(self) -> None:
        super().__init__(_Nowhere())
        self.found: list[str] = []

    def reducer_override(self, thing: Any) -> Any:
        if isinstance(thing, type | FunctionType) and thing.__module__ == "__main__":
            self.found.append(thing.__qualname__)
        return NotImplemented


def check_importable(parts: Any, n_jobs: int | None, where: Any) -> None:
    """Raise an error, before any worker starts, if workers could not write checkpoints.

    Parameters
    ----------
    parts : object
        All that is sent to the workers but the stream.
    n_jobs : int or None
        As joblib takes it.
    where : path-like
        The run folder, for errors.
    """
    finder = _Finder()
    try:
        finder.dump(parts)
    except NOT_PICKLED as error:
        raise cannot_be_saved(where, error) from error
    if finder.found and effective_n_jobs(n_jobs) > 1 and not _shares_the_script(n_jobs):
        raise TypeError(
            f"{finder.found[0]} is defined in the script or notebook that you started, from which "
            "worker processes cannot import it, so that they cannot write checkpoints "
            f"(checkpoint={str(where)!r}). Move it into a module of its own and import it, or use "
            "n_jobs=1."
        )


def first_not_pickled(
    parts: Mapping[str, Any], *, by_name: bool
) -> tuple[str, Exception] | tuple[None, None]:
    """Return the name of the first part that cannot be pickled, and the error.

    Functions and classes of a script are pickled by their names alone, or as they are, as loky and
    Dask do it.
    """
    dump = pickle.dump if by_name else dump_for_loky
    for name, part in parts.items():
        try:
            dump(part, _Nowhere())
        except NOT_PICKLED as error:
            return name, error
    return None, None


def _shares_the_script(n_jobs: int | None) -> bool:
    """Whether workers are threads or forks of this process."""
    backend = QuietParallel(n_jobs=n_jobs)._backend
    return getattr(backend, "uses_threads", False) or "Multiproc" in type(backend).__name__
