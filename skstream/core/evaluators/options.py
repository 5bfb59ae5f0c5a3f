"""Options that evaluators take as one object: how a run is executed, how waiting rows are asked."""

import numbers
import os
from collections.abc import Callable
from dataclasses import dataclass, fields
from datetime import timedelta
from typing import Any, ClassVar, Literal

import numpy as np

from skstream.core.forgetting import duration_of
from skstream.utils._sklearn import Interval, StrOptions, validate_parameter_constraints


class Options:
    """Base of frozen dataclasses whose parameters are checked when they are made."""

    _parameter_constraints: ClassVar[dict[str, Any]]

    def __post_init__(self) -> None:
        validate_parameter_constraints(
            self._parameter_constraints, vars(self), caller_name=type(self).__name__
        )

    def __repr__(self) -> str:
        """Return the call that makes it, without what has its default."""
        given = [(one.name, getattr(self, one.name), one.default) for one in fields(self)]  # type: ignore[arg-type]
        shown = [f"{name}={value!r}" for name, value, default in given if value != default]
        return f"{type(self).__name__}({', '.join(shown)})"


@dataclass(frozen=True, repr=False)
class RunOptions(Options):
    """How an evaluation is executed, for the parameter `run` of evaluators.

    None of these options changes a score.

    Parameters
    ----------
    checkpoint : str or path-like, default=None
        Folder from which the same call of ``evaluate`` resumes where it was stopped: the models
        are saved there while it runs. These files are pickles: use only folders that you trust.
        ``run="folder"`` is short for ``run=RunOptions(checkpoint="folder")``.
    every : str or timedelta, default="10min"
        Time between two checkpoints.
    kernels : bool, default=True
        Use an exact kernel where there is one. False: call every model row by row.
    keep_tape : bool or "auto", default="auto"
        Keep labels and answers, with which a result can be scored again and compared row by row.
        "auto": up to a gigabyte of them, and none in a live run.

    Examples
    --------
    >>> from skstream import Persistent, PrequentialEvaluator, RunOptions
    >>> from skstream.streams import make_demo_stream
    >>> evaluator = PrequentialEvaluator("accuracy", run=RunOptions(keep_tape=False))
    >>> evaluator.evaluate(Persistent(), make_demo_stream(100)).tape is None
    True
    """

    _parameter_constraints: ClassVar[dict[str, Any]] = {
        "checkpoint": [str, os.PathLike, None],
        "every": [str, timedelta, np.timedelta64],
        "kernels": ["boolean"],
        "keep_tape": ["boolean", StrOptions({"auto"})],
    }

    checkpoint: str | os.PathLike[str] | None = None
    every: Any = "10min"
    kernels: bool = True
    keep_tape: bool | Literal["auto"] = "auto"

    def __post_init__(self) -> None:
        super().__post_init__()
        if duration_of("RunOptions", "every", self.every) is None:
            raise ValueError(
                "The 'every' parameter of RunOptions must be a duration, such as '10min'. "
                f"Got {self.every!r} instead."
            )

    @property
    def seconds(self) -> float:
        """Seconds between two checkpoints."""
        return duration_of("RunOptions", "every", self.every) / np.timedelta64(1, "s")  # type: ignore[operator]


@dataclass(frozen=True, repr=False)
class Polling(Options):
    """How rows that wait for their label are asked again, for `DelayedEvaluator`.

    Parameters
    ----------
    n_bins : int, default=50
        Bins between arrival and label.
    poll_every : int, default=10
        A waiting row is asked again whenever this many labels have come since it arrived.
        None: never, which is the "delayed" protocol of Gomes et al. 2017.
    reduce : {"auto", "dominant", "mean"} or callable, default="auto"
        The answer of a bin: the one shown longest (ties: the lowest class), the mean weighted
        by time, or ``f(answers, durations)``, called for every bin of every scored row with the
        answers that were in force there and how long (where the label comes at once, one time for
        all bins, with the newest answer and the duration 0). "auto": "dominant" for classifiers
        and "mean" for regressors. Probabilities, where a measure needs them, are always the mean
        weighted by time.
    previous_label : {"newest", "known_at_arrival"}, default="newest"
        What the persistent baseline of kappa_temporal answers: the label that came before the
        row's own, or, in all bins but the last, the newest label known when the row arrived,
        which is the only label that a real predictor could repeat.
    features : callable, default=None
        ``features(rows, times)`` gives the features of rows (by number) as known at times, where
        they change while a row waits: for every question but the first, and for learning.

    Examples
    --------
    >>> from skstream import DelayedEvaluator, Persistent, Polling
    >>> from skstream.streams import make_demo_stream
    >>> evaluator = DelayedEvaluator("accuracy", delay=100, polling=Polling(n_bins=3))
    >>> evaluator.evaluate(Persistent(), make_demo_stream(500)).bins
    ('first', 0, 1, 2, 'last')
    """

    _parameter_constraints: ClassVar[dict[str, Any]] = {
        "n_bins": [Interval(numbers.Integral, 1, None, closed="left")],
        "poll_every": [Interval(numbers.Integral, 1, None, closed="left"), None],
        "reduce": [StrOptions({"auto", "dominant", "mean"}), callable],
        "previous_label": [StrOptions({"newest", "known_at_arrival"})],
        "features": [callable, None],
    }

    n_bins: int = 50
    poll_every: int | None = 10
    reduce: str | Callable[..., Any] = "auto"
    previous_label: str = "newest"
    features: Callable[..., Any] | None = None


_DEFAULT = RunOptions()


def run_options(run: Any) -> RunOptions:
    """Return the options of a run; a path is where its checkpoints are."""
    if run is None:
        return _DEFAULT
    return run if isinstance(run, RunOptions) else RunOptions(run)
