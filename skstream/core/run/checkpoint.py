"""Checkpoints of runs: a header with a checksum, then the run, written by joblib."""

import hashlib
import json
import os
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from io import BufferedReader
from pathlib import Path
from pickle import PicklingError
from typing import Any

import joblib

from skstream.core.evaluators.record import changes
from skstream.core.run.run_outcome import Checksums
from skstream.utils._saved import atomic_write, no_such_file

CHECKPOINT_FORMAT = 11

# The first line: "skstream checkpoint <format> <sha256 of the rest>".
_MAGIC = b"skstream checkpoint "
_HEADER_BYTES = len(_MAGIC) + len(b"11 ") + 64 + len(b"\n")
#: Names of the files in a folder of checkpoints.
_FILE = re.compile(r"\d+-of-(\d+)\.checkpoint")
#: What pickling raises for what cannot be pickled.
NOT_PICKLED = (PicklingError, AttributeError, TypeError, RecursionError)


def save_checkpoint(run: Any, path: Path, about: Mapping[str, Any] | None = None) -> None:
    """Write a run, what is to be said about it, and their checksum, completely or not at all."""
    with atomic_write(path) as temporary, temporary.open("wb+") as file:
        file.write(bytes(_HEADER_BYTES))
        file.write(json.dumps(about, allow_nan=False).encode() + b"\n")
        try:
            joblib.dump(run, file)
        except NOT_PICKLED as error:
            raise TypeError(
                f"The run cannot be saved to {path}: {error}. Models, detectors, and functions "
                "given as measures, holdout, delay, features or reduce, must be importable by "
                "their names (no lambdas, no nested functions) and must not hold open files or "
                "locks."
            ) from error
        file.flush()
        file.seek(_HEADER_BYTES)
        checksum = hashlib.file_digest(file, "sha256").hexdigest()
        file.seek(0)
        file.write(_header(checksum))


def _header(checksum: str) -> bytes:
    return _MAGIC + f"{CHECKPOINT_FORMAT} {checksum}\n".encode()


def load_run(path: str | Path) -> Any:
    """Load a run or search written by its ``save`` method, to continue it.

    A checkpoint contains models and is a pickle: loading one can run any code, so load only files
    that you trust. Its checksum detects damage, but does not make the file safe.

    Parameters
    ----------
    path : str or Path
        File written by ``save``.

    Returns
    -------
    run : EvaluationRun, DelayedRun or PrequentialSearch
        The run or search, in the state when it was saved.

    Raises
    ------
    FileNotFoundError
        If there is no such file.
    ValueError
        If the file is not a checkpoint, is damaged or incomplete, or has another format version; or
        if its content cannot be loaded, for example because a model's class is missing.

    Examples
    --------
    >>> import tempfile
    >>> from pathlib import Path
    >>> from sklearn.linear_model import SGDClassifier
    >>> from skstream import PrequentialEvaluator, load_run
    >>> run = PrequentialEvaluator("accuracy").start(SGDClassifier(), classes=["a", "b"])
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     answers = run.update([[0.0], [1.0]], ["a", "b"])
    ...     path = run.save(Path(folder) / "run.joblib")
    ...     load_run(path).n_rows
    2
    """
    if os.path.isdir(path):
        raise ValueError(f"{path} is a folder. Give the path of a file written by run.save.")
    if not os.path.exists(path):
        raise no_such_file(path)
    with open(path, "rb") as file:
        _verify(file, path)
        file.readline()
        try:
            return joblib.load(file)
        except MemoryError:
            raise
        except Exception as error:
            raise ValueError(
                f"{path} is an intact checkpoint, but its content cannot be loaded here: "
                f"{type(error).__name__}: {error}. Load it where the classes of its models can be "
                "imported, with the package versions that wrote it."
            ) from error


def load_about(path: Path) -> dict[str, Any]:
    """Return what was said about the run in a checkpoint, which is not loaded."""
    with open(path, "rb") as file:
        _verify(file, path)
        return json.loads(file.readline()) or {}


def _verify(file: BufferedReader, path: str | Path) -> None:
    """Check the header and the checksum, before anything is unpickled."""
    header = file.read(_HEADER_BYTES)
    if not header.startswith(_MAGIC):
        what = "it does not start like one" if header else "it is empty"
        raise ValueError(
            f"{path} is not a checkpoint of a run: {what}. Give the path of a file written by "
            "run.save; results are loaded with skstream.load."
        )
    number = header[len(_MAGIC) :].partition(b" ")[0]
    if number.isdigit() and int(number) != CHECKPOINT_FORMAT:
        raise ValueError(
            f"{path} has checkpoint format {int(number)}; this version of skstream reads "
            f"{CHECKPOINT_FORMAT}. Load it with the version that wrote it."
        )
    if header != _header(hashlib.file_digest(file, "sha256").hexdigest()):
        raise ValueError(
            f"{path} is damaged: its content does not match the checksum in its first line, as "
            "after an incomplete copy. Use another copy or an earlier checkpoint."
        )
    file.seek(_HEADER_BYTES)


@dataclass(frozen=True)
class CheckpointFile:
    """The file from which one group of models resumes; it is sent to the worker of the group.

    Attributes
    ----------
    path : Path
        The file, which may not be there yet.
    facts : dict of str to str
        What must be the same where the evaluation resumes.
    seed : int
        The seed of the evaluation.
    every : float
        Seconds between two checkpoints.
    """

    path: Path
    facts: Mapping[str, str]
    seed: int
    every: float

    def load(self) -> tuple[Any, Checksums] | None:
        """Return the run, and the checksums of the rows that it has taken; None without a file.

        Raises
        ------
        ValueError
            If it is of another evaluation.
        """
        if not self.path.exists():
            return None
        about = load_about(self.path)
        differs = changes(self.facts, about.get("facts", {}))
        if differs:
            raise ValueError(
                f"{self.path} belongs to another evaluation: {differs}. Make the same call as "
                "before, or use another folder in checkpoint=."
            )
        read = {name: tuple(sums) for name, sums in about["read"].items()}
        return load_run(self.path), read

    def save(self, run: Any, read: Checksums) -> None:
        """Replace the run in the file."""
        about = {"facts": dict(self.facts), "seed": self.seed, "read": read}
        try:
            save_checkpoint(run, self.path, about)
        except OSError as error:
            raise OSError(
                error.errno,
                f"Row {run.n_rows:,}: {self.path} could not be written "
                f"({error.strerror or error}); the previous checkpoint is kept. Free disk space "
                "or fix the folder, then repeat the call: it resumes from there",
            ) from error


@dataclass(frozen=True)
class CheckpointFolder:
    """The folder given as ``checkpoint``, and what an earlier call has left in it.

    Attributes
    ----------
    path : Path
        The folder, which is made if it is not there.
    n_groups : int or None
        How many groups of models, each with a file, the earlier call had; None: there was none.
    seed : int or None
        The seed of the earlier call; then that of this call.
    facts : dict of str to str
        What must be the same where the evaluation resumes.
    every : float
        Seconds between two checkpoints.
    """

    path: Path
    n_groups: int | None = None
    seed: int | None = None
    facts: Mapping[str, str] = field(default_factory=dict)
    every: float = 600.0

    @classmethod
    def opened(cls, given: str | os.PathLike[str]) -> "CheckpointFolder":
        """Make the folder, or look at what is in it."""
        path = Path(given)
        if path.exists() and not path.is_dir():
            raise NotADirectoryError(f"checkpoint={str(path)!r} is a file: pass a folder.")
        path.mkdir(parents=True, exist_ok=True)
        found = {file: _FILE.fullmatch(file.name) for file in sorted(path.iterdir())}
        numbers = {file: int(match[1]) for file, match in found.items() if match}
        if not numbers:
            return cls(path)
        if len(set(numbers.values())) > 1:
            raise ValueError(
                f"{path} holds checkpoints of several evaluations: {', '.join(map(str, numbers))}. "
                "Use another folder in checkpoint=."
            )
        file, n_groups = next(iter(numbers.items()))
        return cls(path, n_groups, load_about(file).get("seed"))

    def file(self, number: int, n_groups: int) -> CheckpointFile:
        """Return the file of a group."""
        path = self.path / f"{number + 1}-of-{n_groups}.checkpoint"
        return CheckpointFile(path, facts=self.facts, seed=self.seed or 0, every=self.every)
