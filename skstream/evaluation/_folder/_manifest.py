"""The manifest of a run folder: which run it holds, as plain data."""

import json
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path
from typing import Any
from zlib import crc32

from skstream.evaluation._header import ResultHeader
from skstream.evaluation._outcome import Place
from skstream.utils._files import atomic_write

FORMAT = 8
KIND = "skstream run folder"
_ADVICE = "Take a copy of it, or begin in another folder."


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
    fingerprint : dict of str to str
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
    fingerprint: dict[str, str]
    versions: dict[str, str]
    n_rows: int | None
    keeps_runs: bool = False
    n_tuning: int | None = None
    drops: bool = False

    @property
    def identity(self) -> str:
        """What tells the run from others: a digest of what must be the same, and of the seed."""
        seed = self.header.parameters.get("seed")
        text = json.dumps([self.fingerprint, seed], sort_keys=True, default=str)
        return sha256(text.encode()).hexdigest()[:32]

    def save(self, path: Path) -> None:
        """Write the manifest, completely or not at all."""
        own = {**vars(self), "header": self.header.plain()}
        plain = {"kind": KIND, "format": FORMAT, "checksum": checksum(own), **own}
        with atomic_write(path) as temporary:
            temporary.write_text(json.dumps(plain, indent=1))

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
        return cls._of_plain(plain, path)

    @classmethod
    def _of_plain(cls, plain: dict[str, Any], path: Path) -> "Manifest":
        try:
            groups = [[(str(name), int(fold)) for name, fold in one] for one in plain["groups"]]
            places = [(str(name), int(fold)) for name, fold in plain["places"]]
            header = ResultHeader.of_plain(plain["header"])
            return cls(**{**plain, "groups": groups, "places": places, "header": header})
        except (KeyError, TypeError, ValueError) as error:
            raise ValueError(
                f"{path} is damaged: its parts do not fit together ({type(error).__name__}: "
                f"{error}). {_ADVICE}"
            ) from error


def checksum(plain: dict[str, Any]) -> str:
    """Return the checksum of what a manifest says, however its text is laid out."""
    return f"{crc32(json.dumps(plain, sort_keys=True).encode()):08x}"
