"""Callbacks: objects that follow an evaluation, and one that writes a CSV file."""

import csv
import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from time import monotonic
from typing import Any, Self

import numpy as np

from skstream.evaluation._results._rescore import final_value
from skstream.evaluation._results._result import EvaluationResult
from skstream.evaluation._tape_rows import ValuesByModel, fold_columns

#: What a callback may define.
METHODS = ("on_start", "on_checkpoint", "on_end")
#: Least number of seconds between two looks for new checkpoints.
SECONDS_PER_LOOK = 0.5


class CallbackError(RuntimeError):
    """A callback has raised an exception, and has stopped the evaluation.

    Attributes
    ----------
    result : EvaluationResult or None
        The result so far; None before the first row.
    """

    result: EvaluationResult | None = None


@dataclass(frozen=True, kw_only=True)
class Checkpoint:
    """Scores at a checkpoint, as callbacks get them.

    Attributes
    ----------
    row : int
        Rows of the stream seen.
    time : datetime64, float or None
        Its time, where curves have `times`.
    values : dict
        ``values[model][forgetting][metric]``: ndarray of shape (n_folds,), or under delayed labels
        (n_folds, n_bins + 2).
    """

    row: int
    time: Any
    values: ValuesByModel

    @property
    def scores(self) -> dict[str, dict[str, float]]:
        """Value by model and measure, under the first mechanism, as `scores` of a result."""
        return {
            model: {
                metric: float(value[0] if value.shape == (1,) else final_value(value[np.newaxis]))
                for metric, value in next(iter(by_forgetting.values())).items()
            }
            for model, by_forgetting in self.values.items()
        }


@dataclass
class CSVLog:
    """Callback that writes a line per checkpoint into a CSV file.

    A line has the row, the time if there is one, and a column ``model/metric`` for each score under
    the first forgetting mechanism. Each is on disk once it is written, so that it can be
    looked at meanwhile. A file that is there is replaced; a run that goes on writes all lines.

    Parameters
    ----------
    path : str or path-like
        The file.

    Examples
    --------
    >>> import tempfile
    >>> from pathlib import Path
    >>> from skstream import Persistent, PrequentialEvaluator
    >>> from skstream.evaluation import CSVLog
    >>> from skstream.streams import make_demo_stream
    >>> path = Path(tempfile.mkdtemp()) / "scores.csv"
    >>> evaluator = PrequentialEvaluator("accuracy", record_every=100, callbacks=CSVLog(path))
    >>> result = evaluator.evaluate({"last": Persistent()}, make_demo_stream(250))
    >>> print(path.read_text())
    row,last/accuracy
    100,0.8...
    200,0.8...
    250,0.8...
    <BLANKLINE>
    """

    path: str | os.PathLike[str]
    _file: Any = field(default=None, init=False, repr=False, compare=False)

    def on_start(self, about: Mapping[str, Any]) -> None:
        """Begin the file.

        Parameters
        ----------
        about : dict
            What is evaluated, and how.
        """
        # Closed by on_end.
        self._file = Path(self.path).open("w", newline="", encoding="utf-8")  # noqa: SIM115

    def on_checkpoint(self, checkpoint: Checkpoint) -> None:
        """Write a line; before the first one, the names of the columns.

        Parameters
        ----------
        checkpoint : Checkpoint
            The scores.
        """
        time = {} if checkpoint.time is None else {"time": checkpoint.time}
        scores = {
            f"{model}/{metric}": repr(value)
            for model, by_metric in checkpoint.scores.items()
            for metric, value in by_metric.items()
        }
        line = {"row": checkpoint.row, **time, **scores}
        writer = csv.writer(self._file, lineterminator="\n")
        if not self._file.tell():
            writer.writerow(line)
        writer.writerow(line.values())
        self._file.flush()

    def on_end(self, result: EvaluationResult | None, error: BaseException | None) -> None:
        """Close the file.

        Parameters
        ----------
        result : EvaluationResult or None
            The result; after an error the result so far, or None.
        error : BaseException or None
            What has ended the evaluation before its last row.
        """
        self._file.close()
        self._file = None


def as_callbacks(given: Any) -> tuple[Any, ...]:
    """Return callbacks, or raise an error for what cannot be one."""
    listed = () if given is None else given if isinstance(given, list | tuple) else (given,)
    for one in listed:
        if isinstance(one, type) or not any(callable(getattr(one, name, None)) for name in METHODS):
            raise TypeError(
                "callbacks must be an object, or a list of objects, with some of the methods "
                f"{', '.join(METHODS)}. Got {one!r} instead."
            )
    return tuple(listed)


class CallbackRunner:
    """The callbacks of an evaluation; they get each checkpoint once, in the order of the rows.

    A context manager, which tells them the beginning, and what ends the block by an exception.

    Parameters
    ----------
    callbacks : sequence of objects
        They are called in this order.
    about : dict
        What is evaluated, and how.
    """

    def __init__(self, callbacks: Sequence[Any], about: Mapping[str, Any]) -> None:
        self._callbacks = list(callbacks)
        self._about = about
        self._started: list[Any] = []  # and not ended
        self._seen = 0
        self._looked = monotonic()

    def __enter__(self) -> Self:
        try:
            for one in self._callbacks:
                self._call(one, "on_start", self._about)
                self._started.append(one)
        except BaseException as error:
            self._stop(error)
            raise
        return self

    def __exit__(self, kind: Any, error: BaseException | None, trace: Any) -> None:
        if error is not None:
            self._stop(error)

    def _stop(self, error: BaseException) -> None:
        while self._started:
            one = self._started.pop(0)
            try:
                self._call(one, "on_end", getattr(error, "result", None), error)
            except CallbackError as other:  # the first error is the one to be seen
                error.add_note(str(other))

    def advance(self, run: Any) -> None:
        """Show new checkpoints of a run in this process."""
        if monotonic() - self._looked >= SECONDS_PER_LOOK:
            by_model: dict[str, list[Any]] = {}
            for (name, _), curves in run.curves().items():
                by_model.setdefault(name, []).append(curves)
            first = next(iter(by_model.values()))[0]
            # The last row is always in the curves, and no checkpoint yet.
            self._show(first.checkpoints[:-1], first.times, fold_columns(by_model))
            self._looked = monotonic()

    def finish(self, result: EvaluationResult) -> None:
        """Show the checkpoints that were not shown yet, after workers all, and the result."""
        try:
            self._show(result.checkpoints, result.times, result.values)
            while self._started:
                self._call(self._started.pop(0), "on_end", result, None)
        except CallbackError as error:
            error.result = result
            raise

    def _show(self, rows: np.ndarray, times: Any, values: ValuesByModel) -> None:
        for k in np.flatnonzero(rows > self._seen):
            self._seen = int(rows[k])
            time = None if times is None else times[k]
            checkpoint = Checkpoint(row=self._seen, time=time, values=_at(values, int(k)))
            for one in self._callbacks:
                self._call(one, "on_checkpoint", checkpoint)

    def _call(self, one: Any, method: str, *arguments: Any) -> None:
        try:
            if hasattr(one, method):
                getattr(one, method)(*arguments)
        except Exception as error:
            raise CallbackError(
                f"The callback {type(one).__name__} has failed in {method} after "
                f"{self._seen:,} rows: {type(error).__name__}: {error}"
            ) from error


def _at(values: ValuesByModel, k: int) -> ValuesByModel:
    return {
        model: {
            forgetting: {metric: curve[k].copy() for metric, curve in by_metric.items()}
            for forgetting, by_metric in by_forgetting.items()
        }
        for model, by_forgetting in values.items()
    }
