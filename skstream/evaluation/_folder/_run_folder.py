"""The folder of an evaluation that can be stopped and goes on."""

import json
import os
import shutil
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass, replace
from hashlib import sha256
from itertools import chain
from pathlib import Path
from typing import Any
from zlib import crc32

from skstream.evaluation._folder._fingerprint import Fingerprint, differences, versions
from skstream.evaluation._folder._group import KEPT, Every, GroupFolder
from skstream.evaluation._folder._lock import Lock, read_lock
from skstream.evaluation._folder._reports import Report
from skstream.evaluation._runs._run_outcome import Place, ResultHeader, RunOutcome
from skstream.metrics import Measure
from skstream.utils._files import atomic_write
from skstream.utils._saved import as_data, check_types, of_data

FORMAT = 10
KIND = "skstream run folder"
_ADVICE = "Take a copy of it, or begin in another folder."


#: Distance of the checkpoints, unless the user says another one.
EVERY_CHECKPOINT = "10min"


@dataclass(frozen=True, repr=False)
class RunFolder:
    """Folder from which a stopped evaluation goes on, and how often it is written.

    It is given to an evaluator as ``checkpoint=RunFolder("run", every="2h")``; a path alone,
    ``checkpoint="run"``, is the short form.

    Parameters
    ----------
    path : str or path-like
        The folder: a new or empty one, or that of the same call. It holds models: use only folders
        that you trust.
    every : str, timedelta or int, default="10min"
        Distance of the checkpoints: a time such as "30s", "10min" or "2h", or a number of rows.

    Raises
    ------
    TypeError
        From the evaluation, if `path` is no path.
    ValueError
        From the evaluation, if `every` is not a time or number of rows above 0.

    See Also
    --------
    run_status : Says how far the run in a folder is.
    skstream.load : Loads the result of what has finished in it.

    Examples
    --------
    >>> from tempfile import TemporaryDirectory
    >>> from skstream import MajorityClass, PrequentialEvaluator, load
    >>> from skstream.evaluation import RunFolder
    >>> from skstream.streams import make_demo_stream
    >>> with TemporaryDirectory() as path:
    ...     evaluator = PrequentialEvaluator("accuracy", checkpoint=RunFolder(path, every=500))
    ...     result = evaluator.evaluate(MajorityClass(), make_demo_stream(2000))
    ...     load(path).scores == result.scores
    True
    >>> RunFolder("run", every="2h")
    RunFolder('run', every='2h')
    """

    path: str | os.PathLike[str]
    every: Any = EVERY_CHECKPOINT

    def __fspath__(self) -> str:
        """Return the path, so that `skstream.load` and `run_status` take it."""
        return os.fspath(self.path)

    def __repr__(self) -> str:
        path = str(self.path) if isinstance(self.path, os.PathLike) else self.path
        is_default = isinstance(self.every, str) and self.every == EVERY_CHECKPOINT
        return f"RunFolder({path!r}{'' if is_default else f', every={self.every!r}'})"


@dataclass(frozen=True, kw_only=True)
class Manifest:
    """What a run folder holds.

    Attributes
    ----------
    groups : list of list of (str, int)
        Names and folds of the models of every group.
    places : list of (str, int)
        All of them, in the order of the result.
    header : ResultHeader
        What a result says beside its curves and answers.
    fingerprint : dict of str to dict of str to str
        What must be the same where the run goes on.
    versions : dict of str to str
        Versions of the packages that write the checkpoints.
    n_rows : int or None
        Rows of the stream; None where that is not known.
    keeps_runs : bool
        Whether groups keep their runs after their last rows: one of them goes on.
    n_tuning : int or None
        Rows after which the best model goes on alone, in a folder of its own if there are several
        groups; None: no choice is made before the end.
    drops : bool
        Whether models may be dropped before those rows, by a race.
    """

    groups: list[list[Place]]
    places: list[Place]
    header: ResultHeader
    fingerprint: Fingerprint
    versions: dict[str, str]
    n_rows: int | None
    keeps_runs: bool = False
    n_tuning: int | None = None
    drops: bool = False

    @property
    def identity(self) -> str:
        """What tells the run from others: a digest of what must be the same, seed and groups.

        Of the same models in other groups, one that is in no group here would not be missed.
        """
        seed = self.header.parameters.get("seed")
        text = json.dumps([self.fingerprint, seed, self.groups], sort_keys=True, default=str)
        return sha256(text.encode()).hexdigest()[:32]

    def save(self, path: Path) -> None:
        """Write the manifest, completely or not at all."""
        own = as_data(self)
        plain = {"kind": KIND, "format": FORMAT, "checksum": checksum(own), **own}
        with atomic_write(path) as temporary:
            temporary.write_text(json.dumps(plain, indent=1, allow_nan=False))

    @classmethod
    def load(cls, path: Path) -> "Manifest":
        """Read a manifest.

        Raises
        ------
        ValueError
            If the file is something else, damaged, or of another format.
        """
        try:
            plain = json.loads(path.read_text())
            if not isinstance(plain, dict) or plain.pop("kind", None) != KIND:
                raise ValueError("it does not say that it is one")
            number = plain.pop("format", None)
        except (UnicodeDecodeError, ValueError) as error:
            raise ValueError(
                f"{path} is not the manifest of a run folder, or is damaged: {error}. {_ADVICE}"
            ) from error
        if number != FORMAT:
            raise ValueError(
                f"{path.parent} has run folder format {number}; this version of skstream reads "
                f"{FORMAT}. Use the version that wrote it."
            )
        if plain.pop("checksum", None) != checksum(plain):
            raise ValueError(
                f"{path} is damaged: its content does not have the checksum in it. {_ADVICE}"
            )
        try:
            kinds = {one.__name__: one for one in (Manifest, ResultHeader, Measure)}
            manifest: Manifest = of_data(plain, kinds)
            check_types(manifest)
            if sorted(chain.from_iterable(manifest.groups)) != sorted(manifest.places):
                raise ValueError("its groups have other models than the result")
            return manifest
        except Exception as error:  # wrong values can end in any error
            raise ValueError(
                f"{path} is damaged: its parts do not fit together ({type(error).__name__}: "
                f"{error}). {_ADVICE}"
            ) from error


def checksum(plain: dict[str, Any]) -> str:
    """Return the checksum of what a manifest says, however its text is laid out."""
    return f"{crc32(json.dumps(plain, sort_keys=True).encode()):08x}"


#: Packages whose objects are in checkpoints.
_PICKLED = ("skstream", "scikit-learn", "numpy")


class OpenedFolder:
    """Opened folder of an evaluation: a manifest, and a folder for each group of models.

    Parameters
    ----------
    path : Path
        The folder.
    every : Every
        How often checkpoints are written.
    token : str, default=""
        That of the lock, where something is written.

    Attributes
    ----------
    path : Path
        The folder.
    manifest : Manifest or None
        What it holds; None as long as it is empty.
    """

    def __init__(self, path: Path, every: Every, token: str = "") -> None:
        self.path = path
        self._every = every
        self._token = token
        self._is_new = False
        file = path / "manifest.json"
        self.manifest = Manifest.load(file) if file.exists() else None

    @property
    def seed(self) -> int | None:
        """The seed that was drawn when the run began; None as long as the folder is empty."""
        return None if self.manifest is None else int(self.manifest.header.parameters["seed"])

    @property
    def groups(self) -> list[GroupFolder]:
        """The folders of all groups."""
        assert self.manifest is not None
        return [self.group(number) for number in range(len(self.manifest.groups))]

    def group(self, number: int) -> GroupFolder:
        """Return the folder of one group."""
        return self._group(f"group-{number}")

    @property
    def chosen(self) -> GroupFolder:
        """The folder of the model that goes on alone after the rows of the groups."""
        return self._group("chosen")

    def _group(self, name: str) -> GroupFolder:
        assert self.manifest is not None
        return GroupFolder(
            self.path / name,
            self._every,
            self._token,
            keeps_run=self.manifest.keeps_runs,
            run_identity=self.manifest.identity,
        )

    def finished(self) -> dict[int, RunOutcome]:
        """Outcomes of the groups that are finished, by their numbers."""
        groups = enumerate(self.groups)
        return {number: group.load_outcome() for number, group in groups if group.is_finished}

    def begin(
        self,
        groups: Sequence[Sequence[Place]],
        places: Sequence[Place],
        header: ResultHeader,
        fingerprint: Fingerprint,
        n_rows: int | None,
        **further: Any,
    ) -> Manifest:
        """Write the manifest of a new run; `further` are its fields that have defaults."""
        manifest = Manifest(
            groups=[list(one) for one in groups],
            places=list(places),
            header=header,
            fingerprint=fingerprint,
            versions=versions(),
            n_rows=n_rows,
            **further,
        )
        with _writing(self.path):
            manifest.save(self.path / "manifest.json")
        self.manifest, self._is_new = manifest, True
        return manifest

    def leave_nothing(self) -> None:
        """Remove a new run that has kept nothing, so that the folder can take another one."""
        if not self._is_new or read_lock(self.path / "lock").get("token") != self._token:
            return
        groups = list(self.path.glob("group-*"))
        if not any(one.name in KEPT for group in groups for one in group.rglob("*")):
            for group in groups:
                shutil.rmtree(group, ignore_errors=True)
            (self.path / "manifest.json").unlink(missing_ok=True)  # last: groups need one

    def check_same(self, fingerprint: Fingerprint, header: ResultHeader) -> None:
        """Raise an error if the run in the folder is another one, or cannot go on here.

        `header` is that of this call, whose ``error_score`` may be another one.
        """
        assert self.manifest is not None
        found = differences(fingerprint, self.manifest.fingerprint)
        if found:
            raise ValueError(
                f"{self.path} holds another run: {'; '.join(found)}. Make the call that began it, "
                f"or give another folder.{self._about_failed(fingerprint)}"
            )
        if not self.manifest.keeps_runs and all(group.is_finished for group in self.groups):
            return
        scores = (one.parameters.get("error_score") for one in (header, self.manifest.header))
        if len({repr(score) for score in scores}) > 1:
            self.manifest = replace(self.manifest, header=header)
            with _writing(self.path):
                self.manifest.save(self.path / "manifest.json")
        here = versions()
        found = [
            f"{name} {here[name]} instead of {self.manifest.versions.get(name)}"
            for name in _PICKLED
            if here[name] != self.manifest.versions.get(name)
        ]
        if found:
            raise ValueError(
                f"{self.path} cannot go on with other versions than those that wrote its "
                f"checkpoints: here is {', '.join(found)}. Install those, or give another folder."
            )

    def _about_failed(self, fingerprint: Fingerprint) -> str:
        """Say that a model need not be taken out of a call because it has failed."""
        failed: set[str] = set()
        for group in self.groups:
            with suppress(ValueError):  # an unreadable report
                report = Report.load(group.status)
                failed |= {name for name, _ in report.failure_of} if report else set()
        lacking = [repr(one) for one in sorted(failed) if f"model '{one}'" not in fingerprint]
        if not lacking:
            return ""
        return (
            f" {', '.join(lacking)} failed in it: leave it in the call, where the other models go "
            "on without it if error_score= is a number, such as nan."
        )


@contextmanager
def opened_folder(given: Any) -> Iterator[OpenedFolder]:
    """Open a folder, given as `RunFolder` or path, to run in it, and hold its lock meanwhile.

    Raises
    ------
    TypeError
        If its path is no path.
    ValueError
        If it is the folder of something else, or `every` no distance.
    RuntimeError
        If another process runs in it.
    OSError
        If it cannot be written.
    """
    where = given if isinstance(given, RunFolder) else RunFolder(given)
    if not isinstance(where.path, str | os.PathLike) or isinstance(where.path, RunFolder):
        raise TypeError(
            "path of a RunFolder must be a text or a path. Got "
            f"{where.path!r} of type {type(where.path).__name__} instead."
        )
    folder = _as_folder(where.path)
    distance = Every.of(where.every)
    with ExitStack() as stack:
        with _writing(folder):
            folder.mkdir(parents=True, exist_ok=True)
            _check_own(folder)
            lock = stack.enter_context(Lock(folder / "lock"))
        run_folder = OpenedFolder(folder, distance, lock.token)
        try:
            yield run_folder
        except BaseException:
            run_folder.leave_nothing()
            raise


def _as_folder(path: Any) -> Path:
    """Return the path of what is a folder, or nothing yet."""
    if not os.fspath(path):
        raise ValueError("The name of the run folder is empty. Give the name of a folder.")
    folder = Path(os.path.abspath(path))
    if folder.exists() and not folder.is_dir():
        raise NotADirectoryError(
            f"{folder} is a file, not a folder. Give the name of a folder for a run."
        )
    return folder


@contextmanager
def _writing(folder: Path) -> Iterator[None]:
    """Say of an error of the system that a folder cannot be written."""
    try:
        yield
    except OSError as error:
        to_do = "Make room, take the right to write into it, or give another one"
        if _has_finished(folder):
            to_do = "The run in it has finished: skstream.load(folder) gives its result"
        raise OSError(
            error.errno,
            f"The folder {folder}, given as checkpoint=, cannot be written: "
            f"{error.strerror or error}. {to_do}",
        ) from error


def _has_finished(folder: Path) -> bool:
    """Whether all groups of a folder, which may be none of a run or unreadable, have finished."""
    try:
        return all(group.is_finished for group in existing(folder).groups)
    except (OSError, ValueError):
        return False


def _check_own(folder: Path) -> None:
    """Refuse a folder that holds something else than a run."""
    if (folder / "manifest.json").exists():
        return
    # A run that was killed at its very beginning leaves a lock and hidden files alone.
    others = [one.name for one in folder.iterdir() if one.name != "lock" and one.name[0] != "."]
    if others:
        raise ValueError(
            f"{folder} is not empty and holds no run: it has {sorted(others)[0]!r}. Give the name "
            "of a new or empty folder as checkpoint=."
        )


def existing(path: Any) -> OpenedFolder:
    """Return the folder of a run that was begun, to read it.

    Raises
    ------
    ValueError
        If there is none.
    """
    folder = _as_folder(path)
    if not folder.is_dir():
        raise FileNotFoundError(f"There is no folder {folder}.")
    run_folder = OpenedFolder(folder, Every())
    if run_folder.manifest is None:
        raise ValueError(
            f"{folder} holds no run: it has no manifest.json. Give the folder that was given to an "
            "evaluator or a search as checkpoint=."
        )
    return run_folder
