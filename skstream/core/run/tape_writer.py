"""What a run keeps of its labels and answers."""

from collections.abc import Sequence
from typing import Any

import numpy as np

from skstream.core.engine.tape import Recorder
from skstream.core.measures.rows import ScoredRows, Sets
from skstream.utils._label_space import LabelSpace
from skstream.utils._warnings import warn

#: Columns that hold codes of labels, or targets, as the answers do.
_OF_LABELS = ("y", "previous", "majority", "inclusive")
#: Columns that only some rows have.
_OPTIONAL = ("row", "time", "previous", "majority", "inclusive")

#: Most bytes of labels and answers that "auto" keeps in memory.
BYTES_OF_LARGE_TAPE = 10**9


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
    n_scores : sequence of int, default=()
        Columns of scores of every lane, 0 for none; empty where no measure needs any.
    """

    def __init__(
        self,
        classes: np.ndarray | None,
        n_lanes: int,
        width: int,
        *,
        n_scores: Sequence[int] = (),
    ) -> None:
        self._dtype = LabelSpace(classes).dtype
        self._width = width
        self._n_rows = 0
        self._lanes = list(range(n_lanes))  # by which the columns of those that go on are named
        self._n_scores = list(n_scores) or [0] * n_lanes
        self._sets: list[Sets] = []
        self._columns: dict[str, Any] = {}  # by name
        self._add("y", self._dtype)
        for lane, n in enumerate(self._n_scores):
            self._add(f"answers-{lane}", self._dtype, None if width == 1 else width)
            if n:
                self._add(f"scores-{lane}", np.dtype(np.float64), n * width)

    def _add(self, name: str, dtype: np.dtype[Any], width: int | None = None) -> None:
        self._columns[name] = Recorder(dtype, width)

    def keep(self, rows: ScoredRows) -> None:
        """Keep the next rows."""
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
            self._append("weight", np.ones(self._n_rows))
        if rows.weight is not None or "weight" in self._columns:
            self._append("weight", np.ones(n) if rows.weight is None else rows.weight)
        self._n_rows += n

    def _append(self, name: str, values: np.ndarray) -> None:
        if name not in self._columns:
            self._add(name, self._dtype if name in _OF_LABELS else values.dtype)
        self._columns[name].append(values)

    def _column(self, name: str) -> Any:
        return self._columns[name].array()

    def answers(self, lane: int) -> np.ndarray:
        """Return the answers of one lane."""
        found: np.ndarray = self._column(f"answers-{self._lanes[lane]}")
        return found

    def scores(self, lane: int) -> np.ndarray | None:
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


def automatic_tape(
    n_answers: int,
    classes: np.ndarray | None,
    n_scores: Sequence[int],
) -> bool:
    """Whether labels and answers are kept: up to a gigabyte of them.

    Parameters
    ----------
    n_answers : int
        Answers of one model.
    classes : ndarray of shape (n_classes,), or None
        Sorted labels; None for regression.
    n_scores : sequence of int
        Columns of scores beside each answer, by model.

    Returns
    -------
    keep_tape : bool
        The decision; a warning says it where it is not memory.
    """
    bytes_of_scores = 8 * sum(n_scores)
    bytes_of_row = (len(n_scores) + 1) * LabelSpace(classes).dtype.itemsize + bytes_of_scores
    n_bytes = n_answers * bytes_of_row
    if n_bytes <= BYTES_OF_LARGE_TAPE:
        return True
    size = f"The labels and answers of all models take {n_bytes / 1e9:.1f} GB"
    warn(
        f"{size}, and are not kept under keep_tape='auto': the result cannot be scored again, nor "
        "compared row by row. To keep them, pass run=RunOptions(keep_tape=True)."
    )
    return False
