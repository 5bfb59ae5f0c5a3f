"""What a run keeps of its labels and answers: in memory, or in files of its folder."""

from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any, Literal

import numpy as np

from skstream.engine.tape import Recorder, StoredAnswers
from skstream.evaluation._tape_rows import BASELINES, pieces_of
from skstream.metrics._rows import ScoredRows, Sets
from skstream.utils._label_space import NO_LABEL, LabelSpace
from skstream.utils._npy import GrowingArray, StoredArray
from skstream.utils._warnings import warn

#: Bytes of labels and answers that wait in memory before they are written to files.
_WAITING = 1 << 23
#: Rows for which weights of 1 are written at once.
_ONES = 1 << 16

#: Types of the columns that hold neither labels nor targets.
_TYPES = {"weight": np.dtype(np.float64), "row": np.dtype(np.int64)}

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
        self._columns: dict[str, Any] = {"y": self._recorder("y", self._dtype)}
        self._answers = [
            self._recorder(f"answers-{lane}", self._dtype, None if width == 1 else width)
            for lane in range(n_lanes)
        ]
        self._n_scores = list(n_scores) or [0] * n_lanes
        self._scores = [
            self._recorder(f"scores-{lane}", np.dtype(np.float64), n * width) if n else None
            for lane, n in enumerate(self._n_scores)
        ]
        self._sets: list[Sets] = []

    def __getstate__(self) -> dict[str, Any]:
        return {**self.__dict__, "_folder": None}  # folders are moved

    def _recorder(self, name: str, dtype: np.dtype[Any], width: int | None = None) -> Any:
        return GrowingArray(f"{name}.npy", dtype, width) if self._on_disk else Recorder(dtype)

    def keep_in(self, folder: Path | None) -> None:
        """Make the files in a folder, or go on in them after the rows that are known.

        None: write nothing more, and give up the tape.
        """
        if not self._on_disk:
            return
        self._folder = folder
        if folder is not None:
            folder.mkdir(parents=True, exist_ok=True)
            for one in self._files:
                one.reopen(folder)

    @property
    def _files(self) -> list[GrowingArray]:
        if not self._on_disk:
            return []
        scores = [one for one in self._scores if one is not None]
        return [*self._columns.values(), *self._answers, *scores]

    def keep(self, rows: ScoredRows) -> None:
        """Keep the next rows; `write` writes them."""
        if self._on_disk and self._folder is None:
            return  # given up, or of a run that was loaded without its folder
        self._append("y", rows.y)
        for lane, recorder in enumerate(self._answers):
            lines = rows.answers[lane * self._width : (lane + 1) * self._width]
            self._n_waiting += recorder.append(lines[0] if self._width == 1 else lines.T) or 0
        for lane, recorder in enumerate(self._scores):
            if recorder is not None:
                assert rows.scores is not None
                of_lane = rows.scores[lane * self._width : (lane + 1) * self._width]
                columns = of_lane.transpose(1, 0, 2).reshape(
                    len(rows), self._width * self._n_scores[lane]
                )
                self._n_waiting += recorder.append(columns) or 0
        for name in ("row", "time", *BASELINES):
            answers = getattr(rows, name)
            if answers is not None:
                self._append(name, answers)
        if rows.sets is not None:
            ends, checkpoints = rows.sets
            self._sets.append(Sets(ends + self._n_rows, checkpoints))
        if rows.weight is not None and "weight" not in self._columns:
            for start in range(0, self._n_rows, _ONES):
                self._append("weight", np.ones(min(_ONES, self._n_rows - start)))
                self._write_weights()
        if rows.weight is not None or "weight" in self._columns:
            self._append("weight", np.ones(len(rows)) if rows.weight is None else rows.weight)
        self._n_rows += len(rows)

    def _append(self, name: str, values: np.ndarray) -> None:
        column = self._columns.get(name)
        if column is None:
            dtype = values.dtype if name == "time" else _TYPES.get(name, self._dtype)
            column = self._columns[name] = self._recorder(name, dtype)
            if self._folder is not None:
                column.reopen(self._folder)
        self._n_waiting += column.append(values) or 0

    def _write_weights(self) -> None:
        """Write weights at once that come late, one for every row before."""
        if self._folder is not None:
            self._columns["weight"].write(self._folder)

    def keep_lanes(self, lanes: Sequence[int]) -> None:
        """Keep the answers of some of the lanes from now on; those of the others are given up."""
        self._answers = [self._answers[lane] for lane in lanes]
        self._scores = [self._scores[lane] for lane in lanes]
        self._n_scores = [self._n_scores[lane] for lane in lanes]

    def write(self, *, all_of_it: bool, sync: bool = False) -> None:
        """Write what waits to the files, if there are any.

        Parameters
        ----------
        all_of_it : bool
            Whether to write also if little waits.
        sync : bool, default=False
            Whether it shall also survive that the machine loses power.

        Raises
        ------
        OSError
            If a file cannot be written. What waits goes on waiting; the scores are not touched.
        """
        if not self._on_disk or self._folder is None or not (all_of_it or self.is_due):
            return
        self._is_broken = True
        for one in self._files:
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

    def answers(self, lane: int) -> np.ndarray | StoredArray:
        """Return the answers of one lane."""
        if self._on_disk:
            return self._stored(self._answers[lane])
        answers: np.ndarray = self._answers[lane].array()
        return answers if self._width == 1 else answers.reshape(-1, self._width)

    def scores(self, lane: int) -> np.ndarray | StoredArray | None:
        """Return the scores of one lane, of shape (n_rows, n_columns); None if it has none."""
        recorder = self._scores[lane]
        if recorder is None:
            return None
        if self._on_disk:
            return self._stored(recorder)
        scores: np.ndarray = recorder.array()
        return scores.reshape(-1, self._width * self._n_scores[lane])

    def labels(self) -> dict[str, Any]:
        """Return what is kept of the rows themselves."""
        held: dict[str, Any] = {
            name: self._stored(one) if self._on_disk else one.array()
            for name, one in self._columns.items()
        }
        if self._sets:
            held["sets"] = tuple(map(np.concatenate, zip(*self._sets, strict=True)))
        return {"weight": None, **held}

    def _stored(self, column: GrowingArray) -> StoredArray:
        assert self._folder is not None
        return column.stored(self._folder)

    def pieces(self) -> Iterator[ScoredRows]:
        """Return all rows, some at a time."""
        held = {name: opened(column) for name, column in self.labels().items()}
        held.pop("row", None)  # scores do not depend on it
        lanes = [opened(self.answers(lane)) for lane in range(len(self._answers))]
        scores = [opened(self.scores(lane)) for lane in range(len(self._scores))]
        return pieces_of(lanes, scores, **held)


def opened(column: Any) -> Any:
    """Return a column as an array, a memory map if it is in a file."""
    return column.open() if isinstance(column, StoredArray) else column


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
