"""Checkpoints of runs: a header with a checksum, then the run, written by joblib."""

import hashlib
import os
from collections.abc import Mapping
from dataclasses import dataclass
from io import BufferedReader
from pathlib import Path
from pickle import PicklingError
from typing import Any

import joblib

from skstream.utils._files import atomic_write, no_such_file

CHECKPOINT_FORMAT = 9

# The first line: "skstream checkpoint <format> <sha256 of the rest>".
_MAGIC = b"skstream checkpoint "
_HEADER_BYTES = len(_MAGIC) + len(b"7 ") + 64 + len(b"\n")
#: What pickling raises for what cannot be pickled.
NOT_PICKLED = (PicklingError, AttributeError, TypeError, RecursionError)


@dataclass(frozen=True)
class KeptRun:
    """A run in a run folder, and the checksums of all rows of the stream that it has taken.

    `identity` says of which folder it is; see `Manifest.identity`.
    """

    run: Any
    read: Mapping[str, tuple[int, ...]]
    identity: str = ""


def save_checkpoint(run: Any, path: Path) -> None:
    """Write a run and its checksum to a file, completely or not at all."""
    with atomic_write(path) as temporary, temporary.open("wb+") as file:
        file.write(bytes(_HEADER_BYTES))
        try:
            joblib.dump(run, file)
        except NOT_PICKLED as error:
            raise cannot_be_saved(path, error) from error
        file.flush()
        file.seek(_HEADER_BYTES)
        checksum = hashlib.file_digest(file, "sha256").hexdigest()
        file.seek(0)
        file.write(_header(checksum))


def cannot_be_saved(path: Any, error: Exception) -> TypeError:
    """Return the error for a run that cannot be pickled."""
    return TypeError(
        f"The run cannot be saved to {path}: {error}. Models, detectors, and functions given as "
        "measures, holdout, delay, features or reduce, must be importable by their names (no "
        "lambdas, no functions within functions) and hold no open files or locks."
    )


def _header(checksum: str) -> bytes:
    return _MAGIC + f"{CHECKPOINT_FORMAT} {checksum}\n".encode()


def load_run(path: str | Path) -> Any:
    """Load what the ``save`` of a run or a search has written, to go on with it.

    A checkpoint contains models and is a pickle: loading one can run any code, so load only files
    that you trust. Its checksum shows damage, but does not make the file safe.

    Parameters
    ----------
    path : str or Path
        File written by ``save``.

    Returns
    -------
    run : EvaluationRun, DelayedRun or PrequentialSearch
        The run or search, in the state in which it was saved.

    Raises
    ------
    FileNotFoundError
        If there is no such file.
    ValueError
        If the file is not a checkpoint, is damaged or incomplete, or has another format version; or
        if its content cannot be loaded here, because a class of a model is missing.

    Examples
    --------
    >>> import tempfile
    >>> from pathlib import Path
    >>> from sklearn.linear_model import SGDClassifier
    >>> from skstream import PrequentialEvaluator, load_run
    >>> run = PrequentialEvaluator("accuracy").start(SGDClassifier(), classes=["a", "b"])
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = run.update([[0.0], [1.0]], ["a", "b"]).save(Path(folder) / "run.joblib")
    ...     load_run(path).n_rows
    2
    """
    if os.path.isdir(path):
        raise ValueError(f"{path} is a folder. Give the path of a file written by run.save.")
    if not os.path.exists(path):
        raise no_such_file(path)
    loaded = load_checkpoint(path)
    return loaded.run if isinstance(loaded, KeptRun) else loaded


def load_checkpoint(path: str | Path) -> Any:
    """Load what `save_checkpoint` wrote, after a look at its checksum."""
    with open(path, "rb") as file:
        _verify(file, path)
        try:
            return joblib.load(file)
        except MemoryError:
            raise
        except Exception as error:
            raise ValueError(
                f"{path} is a whole checkpoint, but its content cannot be loaded here: "
                f"{type(error).__name__}: {error}. Load it where the classes of its models can "
                "be imported, with the package versions that wrote it."
            ) from error


def _verify(file: BufferedReader, path: str | Path) -> None:
    """Check the header and the checksum, before anything is unpickled."""
    header = file.read(_HEADER_BYTES)
    if not header.startswith(_MAGIC):
        what = "it does not start as one" if header else "it is empty"
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
            f"{path} is damaged: its content does not have the checksum in its first line, as "
            "after an incomplete copy. Take another copy or an earlier checkpoint."
        )
    file.seek(_HEADER_BYTES)
