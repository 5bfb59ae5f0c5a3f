"""What a run keeps of its labels and answers: in memory, or in files of its folder."""

from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any, Literal

import numpy as np

from skstream.engine.tape import Recorder, StoredAnswers
from skstream.metrics._rows import ScoredRows, Sets
from skstream.utils._label_space import NO_LABEL, LabelSpace
from skstream.utils._npy import GrowingArray, StoredArray, opened
from skstream.utils._warnings import warn

#: Bytes of labels and answers that wait in memory before they are written to files.
_WAITING = 1 << 23
#: Rows for which weights of 1 are written at once.
_ONES = 1 << 16

#: Columns that hold codes of labels, or targets, as the answers do.
_OF_LABELS = ("y", "previous", "majority", "inclusive")
#: Columns that only some rows have.
_OPTIONAL = ("row", "time", "previous", "majority", "inclusive")

#: Most bytes of labels and answers that "auto" keeps in memory.
BYTES_OF_LARGE_TAPE = 10**9

KeepTape = bool | Literal["disk"]


class KeptTape:
    """Labels and answers of all lanes of a run.

    Parameters
    ----------
    classes : ndarray of shape (n_classes,), or None
        Sorted labels; None for regression.
    n_lanes : int
        Models times folds.
    width : int
        Lines of answers per lane.
    on_disk : bool
        Whether they are written to files: then `keep_in` comes first, also after loading a run.
    n_scores : sequence of int, default=()
        Columns of scores of every lane, 0 for none; empty where no measure needs any.
    """

    def __init__(
        self,
        classes: np.ndarray | None,
        n_lanes: int,
        width: int,
        *,
        on_disk: bool,
        n_scores: Sequence[int] = (),
    ) -> None:
        self._dtype = LabelSpace(classes).dtype
        self._width = width
        self._on_disk = on_disk
        self._folder: Path | None = None
        self._n_rows = 0
        self._n_waiting = 0  # bytes
        self._is_broken = False
        self._lanes = list(range(n_lanes))  # by which the columns of those that go on are named
        self._n_scores = list(n_scores) or [0] * n_lanes
        self._sets: list[Sets] = []
        self._columns: dict[str, Any] = {}  # by name
        self._add("y", self._dtype)
        for lane, n in enumerate(self._n_scores):
            self._add(f"answers-{lane}", self._dtype, None if width == 1 else width)
            if n:
                self._add(f"scores-{lane}", np.dtype(np.float64), n * width)

    def __getstate__(self) -> dict[str, Any]:
        return {**self.__dict__, "_folder": None}  # folders are moved

    def _add(self, name: str, dtype: np.dtype[Any], width: int | None = None) -> None:
        column: Any = Recorder(dtype, width)
        if self._on_disk:
            column = GrowingArray(f"{name}.npy", dtype, width)
            if self._folder is not None:
                column.reopen(self._folder)
        self._columns[name] = column

    def keep_in(self, folder: Path | None) -> None:
        """Make the files in a folder, or go on in them after the rows that are known.

        None: write nothing more, and give up the tape. In memory there are no files.
        """
        if not self._on_disk:
            return
        self._folder = folder
        if folder is not None:
            folder.mkdir(parents=True, exist_ok=True)
            for one in self._columns.values():
                one.reopen(folder)

    def keep(self, rows: ScoredRows) -> None:
        """Keep the next rows; `write` writes them."""
        if self._on_disk and self._folder is None:
            return  # given up, or of a run that was loaded without its folder
        n, width = len(rows), self._width
        self._append("y", rows.y)
        for k, lane in enumerate(self._lanes):
            lines = slice(k * width, (k + 1) * width)
            answers = rows.answers[lines]
            self._append(f"answers-{lane}", answers[0] if width == 1 else answers.T)
            if self._n_scores[lane]:
                assert rows.scores is not None
                scores = rows.scores[lines].transpose(1, 0, 2)
                self._append(f"scores-{lane}", scores.reshape(n, width * self._n_scores[lane]))
        for name in _OPTIONAL:
            values = getattr(rows, name)
            if values is not None:
                self._append(name, values)
        if rows.sets is not None:
            ends, checkpoints = rows.sets
            self._sets.append(Sets(ends + self._n_rows, checkpoints))
        if rows.weight is not None and "weight" not in self._columns:
            for start in range(0, self._n_rows, _ONES):  # written at once, as they may be many
                self._append("weight", np.ones(min(_ONES, self._n_rows - start)))
                if self._folder is not None:
                    self._columns["weight"].write(self._folder)
        if rows.weight is not None or "weight" in self._columns:
            self._append("weight", np.ones(n) if rows.weight is None else rows.weight)
        self._n_rows += n

    def _append(self, name: str, values: np.ndarray) -> None:
        if name not in self._columns:
            self._add(name, self._dtype if name in _OF_LABELS else values.dtype)
        self._n_waiting += self._columns[name].append(values) or 0

    def write(self, *, all_of_it: bool, sync: bool = False) -> None:
        """Write what waits to the files, if there are any.

        Parameters
        ----------
        all_of_it : bool
            Whether to write also if little waits.
        sync : bool, default=False
            Whether it must also be safe after a power failure.

        Raises
        ------
        OSError
            If a file cannot be written. What waits goes on waiting; the scores are not touched.
        """
        if not self._on_disk or self._folder is None or not (all_of_it or self.is_due):
            return
        self._is_broken = True
        for one in self._columns.values():
            one.write(self._folder, sync=sync)
        self._is_broken, self._n_waiting = False, 0

    @property
    def is_due(self) -> bool:
        """Whether so much waits that it should be written."""
        return self._on_disk and self._n_waiting >= _WAITING

    @property
    def is_whole(self) -> bool:
        """Whether everything was written that is not in memory."""
        return not self._on_disk or (self._folder is not None and not self._is_broken)

    def _column(self, name: str) -> Any:
        column = self._columns[name]
        return column.stored(self._folder) if self._on_disk else column.array()

    def answers(self, lane: int) -> np.ndarray | StoredArray:
        """Return the answers of one lane."""
        found: np.ndarray | StoredArray = self._column(f"answers-{self._lanes[lane]}")
        return found

    def scores(self, lane: int) -> np.ndarray | StoredArray | None:
        """Return the scores of one lane, of shape (n_rows, n_columns); None if it has none."""
        number = self._lanes[lane]
        return self._column(f"scores-{number}") if self._n_scores[number] else None

    def labels(self) -> dict[str, Any]:
        """Return what is kept of the rows themselves."""
        names = [one for one in self._columns if not one.startswith(("answers-", "scores-"))]
        held: dict[str, Any] = {"weight": None} | {name: self._column(name) for name in names}
        if self._sets:
            held["sets"] = tuple(map(np.concatenate, zip(*self._sets, strict=True)))
        return held


def damage(columns: Iterable[Any]) -> list[ValueError]:
    """Return the errors of columns whose files are damaged; files may be missing."""
    errors = []
    for column in columns:
        try:
            opened(column)
        except OSError:
            continue
        except ValueError as error:
            errors.append(error)
    return errors


def warn_of_damaged(errors: Sequence[ValueError]) -> None:
    """Warn if files of a tape are damaged."""
    if errors:
        more = f" {len(errors) - 1} more of its files are damaged." if len(errors) > 1 else ""
        warn(f"The scores of the result are whole, but its tape is not: {errors[0]}{more}")


def all_folds(answers: list[np.ndarray | StoredArray]) -> np.ndarray | StoredAnswers:
    """Return the answers of all folds of a model, of which none is read from a file."""
    if any(isinstance(one, StoredArray) for one in answers):
        return StoredAnswers(answers)
    return np.stack([one for one in answers if isinstance(one, np.ndarray)])


def unanswered_like(answers: np.ndarray | StoredArray) -> np.ndarray:
    """Return the answers of a model that gave none, as many as another one gave; read-only."""
    like = opened(answers)
    nothing = np.nan if like.dtype.kind == "f" else NO_LABEL
    return np.broadcast_to(np.array(nothing, like.dtype), like.shape)


def automatic_tape(
    n_answers: int,
    classes: np.ndarray | None,
    n_scores: Sequence[int],
    *,
    has_folder: bool,
) -> KeepTape:
    """Where labels and answers are kept: in memory up to a gigabyte, else on disk or not at all.

    Parameters
    ----------
    n_answers : int
        Answers of one model.
    classes : ndarray of shape (n_classes,), or None
        Sorted labels; None for regression.
    n_scores : sequence of int
        Columns of scores beside each answer, by model.
    has_folder : bool
        Whether there is a folder for files.

    Returns
    -------
    keep_tape : bool or "disk"
        The decision; a warning says it where it is not memory.
    """
    bytes_of_scores = 8 * sum(n_scores)
    bytes_of_row = (len(n_scores) + 1) * LabelSpace(classes).dtype.itemsize + bytes_of_scores
    n_bytes = n_answers * bytes_of_row
    if n_bytes <= BYTES_OF_LARGE_TAPE:
        return True
    size = f"The labels and answers of all models take {n_bytes / 1e9:.1f} GB"
    if has_folder:
        warn(f"{size}: they are kept in files of the run folder under keep_tape='auto'.")
        return "disk"
    warn(
        f"{size}, and are not kept under keep_tape='auto': the result cannot be scored again, nor "
        "compared row by row. To keep them in files, pass checkpoint=FOLDER; in memory, "
        "keep_tape=True."
    )
    return False
