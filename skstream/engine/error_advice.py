"""What failed calls of models have to say: which rows it was, and what to do."""

import re
import reprlib
from collections.abc import Callable
from typing import Any

import numpy as np
from scipy import sparse

from skstream.base import about_texts, learning_parts
from skstream.engine.answers import Task
from skstream.engine.block import Block
from skstream.engine.failures import BadAnswer
from skstream.engine.loop import LoopFailed
from skstream.utils._rows import has_texts, is_frame, not_finite, take_rows
from skstream.utils._sklearn import is_plain_gaussian_nb
from skstream.utils._values import (
    ONE_VALUE,
    REPLACE_INFINITE,
    column_lists,
    is_infinite,
    is_missing,
    is_several,
)

# Error messages of models that need several rows first; to these an advice is added.
_SPEAKS_OF_ROWS = re.compile("(n_|number of |few )samples")
# The same of values that are no numbers: the text itself; types; missing and infinite numbers.
_TEXT = re.compile("could not convert string to float: (.+)")
_NO_NUMBERS = re.compile(
    "arrays of bytes/strings|multiply sequence|could not be promoted|DateTime64DType"
    "|not '(?:Timestamp|datetime|date)'"
)
# The same of lists, dicts and complex numbers.
_SEVERAL = re.compile("array element with a sequence|float.. argument must be|Complex data not")
_NOT_FINITE = re.compile("Input X contains (NaN|infinity)")
# The same of models that need columns and get texts.
_SPEAKS_OF_COLUMNS = re.compile("could not convert string|2D array|numeric|tuple index")
# The same of models that take texts as `str` and get bytes.
_SPEAKS_OF_BYTES = re.compile("'bytes' object has no|bytes-like object")


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


def advice_for(failure: LoopFailed, block: Block, estimator: Any, n_warmup: int | None) -> str:
    """Return advice for a model that fails at texts, at its first rows, or at values in rows.

    `n_warmup` is None where the model has learnt rows before.
    """
    is_learning, message = failure.action == "learning", str(failure.__cause__)
    if has_texts(block.learn_X if is_learning else block.ask_X):
        if _SPEAKS_OF_BYTES.search(message):
            return (
                ". X holds bytes where the model takes texts. Decode them first: "
                "X = [text.decode() for text in X]."
            )
        if _SPEAKS_OF_COLUMNS.search(message):
            return f". X holds raw texts. {about_texts(type(estimator).__name__)}"
    of_values = _advice_of_values(failure, block)
    is_first = n_warmup is not None and is_learning and failure.index == 0
    if of_values or not (is_first and _SPEAKS_OF_ROWS.search(message)):
        return of_values
    return (
        f" If the model needs more rows at first, set n_warmup to their number (it is {n_warmup}): "
        "they are then learnt in one call."
    )


def _advice_of_values(failure: LoopFailed, block: Block) -> str:
    """Return column, row and value of what a model cannot compute with, and what to do."""
    message = str(failure.__cause__)
    is_bad, advice = _bad_values(message)
    if is_bad is None or message.startswith("Column "):  # which names it already
        return ""
    rows, X = _rows_of_call(failure, block)
    if sparse.issparse(X) or has_texts(X):
        return ""
    names = list(X.columns) if is_frame(X) else range(X.shape[1])
    for name, values in zip(names, column_lists(X), strict=True):
        for row, value in zip(rows.tolist(), values, strict=True):
            if is_bad(value):
                end = "" if message.partition("\n")[0].endswith(".") else "."
                return f"{end} Column {name!r} holds {reprlib.repr(value)} in row {row}. {advice}"
    return ""


def _bad_values(message: str) -> tuple[Callable[[Any], bool] | None, str]:
    """Return what an error of a model says of single values, as a test, and what to do."""
    text = _TEXT.search(message)
    if text is not None:
        shown = text.group(1)
        return lambda value: isinstance(value, str) and repr(str(value)) in shown, _ENCODE
    if _NO_NUMBERS.search(message):
        return lambda value: not isinstance(value, (int, float)) and not is_missing(value), _ENCODE
    if _SEVERAL.search(message):
        return lambda value: is_several(value) or isinstance(value, tuple), ONE_VALUE
    not_finite = _NOT_FINITE.search(message)
    if not_finite is None:
        return None, ""
    return (is_missing, _FILL) if not_finite[1] == "NaN" else (is_infinite, REPLACE_INFINITE)


_ENCODE = (
    "Make it a number, or encode the column: skstream.preprocessing.make_stream_preprocessor does "
    "it for a data frame."
)
_FILL = "Fill such values first, as by skstream.preprocessing.StreamImputer."


def words_of_gap(answer: Any, task: Task, estimator: Any) -> str:
    """Say that an answer is missing or infinite, and what can be done."""
    if task.method == "predict" and task.classes is None and np.isinf(answer):
        return f"its answer is {answer}; predictions must be finite numbers."
    advice = (
        "" if task.classes is None else (' Pass unanswered="wrong" to score such rows as errors.')
    )
    if any(is_plain_gaussian_nb(part) for part in learning_parts(estimator, refitted=False)):
        advice = (
            " GaussianNB takes its variance floor from the rows of one call, and from a single row "
            "that is 0. Use skstream.naive_bayes.IncrementalGaussianNB, whose floor follows all "
            "rows learnt. To keep scikit-learn's, let it learn several rows of each class before "
            f"it is asked: n_warmup=30 is mostly enough.{advice}"
        )
    if task.n_scores and answer[0] >= 0:
        shown = ", ".join(map(str, answer[1:].tolist()))
        return f"its {task.scores} gave NaN ({shown}) beside a label.{advice}"
    return f"it gave no answer (None or NaN) where one was asked.{advice}"
