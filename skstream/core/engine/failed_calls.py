"""Failed calls of models, in words: which rows it was, and which answers are missing."""

from typing import Any

import numpy as np

from skstream.core.engine.answers import Task
from skstream.core.engine.block import Block
from skstream.core.engine.failures import BadAnswer
from skstream.core.engine.loop import LoopFailed
from skstream.utils._rows import not_finite, take_rows


def failed_call(failure: LoopFailed, block: Block) -> tuple[np.ndarray, int, str]:
    """Return the rows of the call that failed, the one to name, and where that is, in words."""
    begin = failure.index
    rows, X = _rows_of_call(failure, block)
    end, at = begin + len(rows), begin
    if len(rows) > 1:
        at += int(not_finite(X).argmax())
    row = int(rows[at - begin])
    checkpoint = None if failure.action == "learning" else block.checkpoint
    held_out = "" if checkpoint is None else "holdout "
    where = f"{held_out}row {row}"
    if end > begin + 1:
        where = f"{held_out}rows {int(rows.min())} to {int(rows.max())}"
    if at > begin:
        where += f" (row {row} is not finite)"
    if checkpoint is not None:
        where += f" at checkpoint {checkpoint[begin]} of the stream"
    return rows, row, where


def _rows_of_call(failure: LoopFailed, block: Block) -> tuple[np.ndarray, Any]:
    """Return the numbers of the rows of the call that failed, and the rows."""
    if failure.action == "learning":
        numbers = block.learn_rows
        bounds, X, index = block.batches, block.learn_X, block.learn_index
    else:
        numbers = block.ask_rows if block.n_asks else block.learn_rows
        bounds, X, index = block.groups, block.ask_X, block.ask_index
    begin, end = failure.index, failure.index + 1
    if bounds is not None and not isinstance(failure.__cause__, BadAnswer):
        end = int(bounds[np.searchsorted(bounds, begin, side="right")])
    assert numbers is not None
    return numbers[begin:end], take_rows(X, index[begin:end])


def words_of_gap(answer: Any, task: Task) -> str:
    """Say that an answer is missing or infinite, and what can be done."""
    if task.method == "predict" and task.classes is None and np.isinf(answer):
        return f"its answer is {answer}; predictions must be finite numbers."
    advice = (
        "" if task.classes is None else ' Pass unanswered="wrong" to score such rows as errors.'
    )
    if task.n_scores and answer[0] >= 0:
        shown = ", ".join(map(str, answer[1:].tolist()))
        return f"its {task.scores} gave NaN ({shown}) beside a label.{advice}"
    return f"it gave no answer (None or NaN) where one was asked.{advice}"
