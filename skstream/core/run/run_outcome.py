"""What a run did, as data: outcomes of its models, and what a result says beside them."""

import copyreg
import pickle
import random
from collections.abc import Mapping
from dataclasses import dataclass, field
from itertools import zip_longest
from typing import Any, NamedTuple

import numpy as np
from joblib.externals.loky.backend.reduction import dumps
from sklearn.base import BaseEstimator

from skstream.base import nested
from skstream.core.engine.answers import ModelError, in_short
from skstream.core.measures.checkpoints import Curves
from skstream.core.measures.measure import Measure
from skstream.core.rows.stream import Drift
from skstream.utils._saved import NOT_SAVED
from skstream.utils._validation import is_fitted

#: What a pass read, in words; checksums by these names are equal if two passes read the same.
Checksums = Mapping[str, tuple[int, ...]]
#: Name of a model, and number of a fold.
Place = tuple[str, int]


BYTES_PER_GIGABYTE = 1e9
SECONDS_PER_HOUR = 3600.0


@dataclass(frozen=True, kw_only=True)
class Cost:
    """Cost of one model over a run, summed over its folds.

    Attributes
    ----------
    seconds_asking, seconds_learning : float
        Time in ``predict`` and in ``partial_fit`` where the model was executed call by call.
    seconds_in_kernel : float
        Time in a kernel, which asks and learns at once. What models evaluated together share counts
        for the first of them.
    seconds_loading : float
        Time to load compiled code where this model was the first to need it; not in `seconds`.
    seconds_of_parts : dict of str to float
        Of the seconds of asking and learning, those of each part that was called row by row while
        the other parts of the model had kernels, by the name of its type.
    size : float
        Bytes of the pickled model at the end, in which a ``random.Random`` counts 2,500; NaN where
        it cannot be pickled.
    ram_hours : float
        Gigabytes held times hours of computing (Bifet et al.'s RAM-hours), with the size
        measured whenever the number of rows had doubled; of models of other libraries, which
        that would slow down, at the end alone.
    seconds_refitting : float
        Of `seconds`, those of the refits of a `PeriodicRefit`, in or around other models too.
    refit_rows : list of list of int
        Of each fold of such a model, after how many rows learnt it was refitted; [] of others.
        If a model around it restarts, as `DriftReset` does, only the refits since then are known,
        and rows are counted from there.
    n_failed_refits : int
        Refits that have failed, and left the model before them in place.
    failed_refit : str
        Why the last of these has failed; empty if none has.
    curves : list of ndarray of shape (n, 3)
        Of each fold: rows of `checkpoints` done, seconds until then, and the size as it was last
        measured (0: not yet), at the ends of steps of about a fifth of a second. Empty in files of
        earlier versions. Costs that differ in them alone are equal.
    """

    seconds_asking: float = 0.0
    seconds_learning: float = 0.0
    seconds_in_kernel: float = 0.0
    seconds_loading: float = 0.0
    seconds_of_parts: dict[str, float] = field(default_factory=dict)
    size: float = 0.0
    ram_hours: float = 0.0
    seconds_refitting: float = 0.0
    refit_rows: list[list[int]] = field(default_factory=list)
    n_failed_refits: int = 0
    failed_refit: str = ""
    curves: list[np.ndarray] = field(default_factory=list, compare=False, repr=False)

    @property
    def seconds(self) -> float:
        """All time spent in the model."""
        return self.seconds_asking + self.seconds_learning + self.seconds_in_kernel

    def __add__(self, other: "Cost") -> "Cost":
        parts, sums = dict(self.seconds_of_parts), dict(vars(self))
        for name, seconds in other.seconds_of_parts.items():
            parts[name] = parts.get(name, 0.0) + seconds
        for name, value in vars(other).items():
            if name == "failed_refit":
                sums[name] = value or self.failed_refit
            elif name != "seconds_of_parts":
                sums[name] += value
        return Cost(**{**sums, "seconds_of_parts": parts})


class Refits(NamedTuple):
    """Refits of a model so far, as its method `refits_so_far` returns them.

    Attributes
    ----------
    n_known : int
        Rows learnt.
    rows : tuple of int
        After how many rows learnt each model was fitted.
    n_failed : int
        Refits that have failed.
    failure : str
        Why the last of them has; empty if none has.
    seconds : float
        Time of all of them.
    """

    n_known: int = 0
    rows: tuple[int, ...] = ()
    n_failed: int = 0
    failure: str = ""
    seconds: float = 0.0


def refits_in(model: Any) -> list[Refits]:
    """Refits of every fitted part of a model that has them: itself, a step, a member."""
    found: list[Refits] = []
    for part in nested(model):
        if hasattr(type(part), "refits_so_far"):
            _collect(model, found, set())
            break
    return found


def _collect(part: Any, found: list[Refits], seen: set[int]) -> None:
    """Append the refits of those in fitted attributes."""
    if id(part) in seen:
        return
    seen.add(id(part))
    if hasattr(type(part), "refits_so_far"):
        found.extend([Refits(*part.refits_so_far())] if is_fitted(part) else [])
    elif isinstance(part, BaseEstimator | dict | list | tuple):
        part = vars(part) if isinstance(part, BaseEstimator) else part
        for value in part.values() if isinstance(part, dict) else part:
            _collect(value, found, seen)


def refits_since(now: list[Refits], before: list[Refits]) -> list[Refits]:
    """Refits from an earlier time on, with rows counted from there."""
    since = []
    for its, then in zip_longest(now, before[: len(now)], fillvalue=Refits()):
        if its.n_known < then.n_known:  # it has restarted
            then = Refits()
        n_failed = its.n_failed - then.n_failed
        since.append(
            Refits(
                its.n_known - then.n_known,
                tuple(row - then.n_known for row in its.rows[len(then.rows) :]),
                n_failed,
                its.failure if n_failed else "",
                its.seconds - then.seconds,
            )
        )
    return since


class CostMeter:
    """Follows the time and size of one model, from what it has learnt before on.

    Attributes
    ----------
    failure : str
        Why the size is not known, as the fitted model could not be written; empty if it could.
    points : list of (int, float, float)
        Rows done, seconds until then, and the size: see `Cost.curves`.
    size : float
        Size as it was last measured; 0 if it never was.
    """

    def __init__(self, estimator: Any) -> None:
        self.failure = ""
        self.points: list[tuple[int, float, float]] = []
        self._before = refits_in(estimator)
        self.size = self._seconds = self._ram_hours = 0.0

    def measure(self, model: Any) -> Any:
        """Measure the size of a model, which it has had since the last time; return it fitted."""
        seconds, estimator, self.size = sum(model.seconds.values()), None, float("nan")
        try:
            estimator = model.estimator()
        except ModelError as error:
            self.failure = f"{error} Its size is not known; its scores are complete."
        else:
            self.size = pickled_size(estimator)
        hours = (seconds - self._seconds) / SECONDS_PER_HOUR
        self._ram_hours += self.size / BYTES_PER_GIGABYTE * hours
        self._seconds = seconds
        return estimator

    def cost(self, model: Any, row: int) -> Cost:
        """Return the cost so far, after `row` rows."""
        seconds_refitting, n_failed, failed = 0.0, 0, ""
        rows: list[int] = []
        refits = refits_in(self.measure(model))
        for its in refits and refits_since(refits, self._before):
            seconds_refitting += its.seconds
            rows += its.rows
            n_failed += its.n_failed
            failed = failed or its.failure
        of_parts: dict[str, float] = {}
        for part in model.by_kernel.looped_parts():
            both = part.seconds_asking + part.seconds_learning
            of_parts[part.name] = of_parts.get(part.name, 0.0) + both
        return Cost(
            **model.seconds,
            seconds_loading=model.by_kernel.seconds_loading,
            seconds_of_parts=of_parts,
            size=self.size,
            ram_hours=self._ram_hours,
            seconds_refitting=seconds_refitting,
            refit_rows=[sorted(rows)] if refits else [],
            n_failed_refits=n_failed,
            failed_refit=failed,
            curves=[np.array([*self.points, (row, self._seconds, self.size)])],
        )


class _Counter:
    """A file that only counts what is written."""

    n_bytes = 0

    def write(self, data: Any) -> None:
        self.n_bytes += memoryview(data).nbytes


def pickled_size(model: Any) -> float:
    """Bytes of the pickled model; NaN where it cannot be pickled.

    A generator of Python's random numbers counts with its memory, 2,500 bytes: models of River hold
    thousands of them, and to pickle each number of their states takes longer than to learn.
    """
    counter = _Counter()
    pickler = pickle.Pickler(counter, protocol=pickle.HIGHEST_PROTOCOL)
    of_memory: dict[type, Any] = {random.Random: lambda _: (bytes, (bytes(2500),))}
    pickler.dispatch_table = copyreg.dispatch_table | of_memory
    try:
        pickler.dump(model)
    except Exception:  # pickling a model may raise any error: the size is then not known
        return float("nan")
    return float(counter.n_bytes)


@dataclass(frozen=True, kw_only=True)
class LaneOutcome:
    """What one model did in one fold.

    If the model failed, `failure` is the reason and `n_valid` the number of rows of its curves and
    answers before the failure. `scores` are those beside the answers on the tape, given by
    `method`, where measures need them. `lost` says, in sentences, what could not be done with the
    model at the end; scores do not need it.
    """

    name: str
    fold: int
    curves: Curves
    answers: np.ndarray | None
    cost: Cost
    path: str
    estimator: Any = field(default=None, metadata=NOT_SAVED)
    failure: str | None = None
    n_valid: int | None = None
    n_unanswered: int = 0
    scores: np.ndarray | None = None
    method: str | None = None
    lost: tuple[str, ...] = ()

    def __getstate__(self) -> dict[str, Any]:
        try:
            pickle.loads(dumps(self.estimator))
        except Exception as error:  # pickling may raise any error: a worker sends the scores alone
            lost = (*self.lost, not_returned(self.name, error))
            return {**vars(self), "estimator": None, "lost": lost}
        return vars(self)


def not_returned(name: str, error: Exception) -> str:
    """Say why a model is not in the result."""
    return (
        f"Model '{name}' cannot be returned ({in_short(error)}): it is None in result.models. Its "
        "scores are complete."
    )


@dataclass(frozen=True, kw_only=True)
class RunOutcome:
    """What one run's lanes did, and the labels they shared (None without a tape).

    `labels` holds what a tape says of the rows: labels, weights, answers of baselines. `waits` is
    only used with delayed labels: the counts of waiting rows. `drifts` says where the truth
    changes, in the rows of the curves. `labels_read` is a fingerprint of all labels.
    `columns` holds the names of the columns of the features, and their types.
    `n_unlabelled` counts rows of the stream without a label; `unlabelled_held_out` are two numbers:
    held-out rows without a label, and all that were asked.
    `read` holds checksums that show whether two workers read the same. `run` is the run
    itself, if it continues after the workers.
    """

    lanes: list[LaneOutcome]
    labels: dict[str, Any] | None
    waits: Any = None
    drifts: tuple[Drift, ...] = ()
    labels_read: str = ""
    columns: dict[str, Any] = field(default_factory=dict)
    n_rows: int = 0
    n_unlabelled: int = 0
    unlabelled_held_out: tuple[int, int] | None = None
    read: Checksums = field(default_factory=dict)
    run: Any = None

    @property
    def rows_read(self) -> tuple[Any, ...]:
        """What is equal for outcomes that read the same rows."""
        return self.n_rows, tuple(sorted(self.read.items()))


@dataclass(frozen=True, kw_only=True)
class ResultHeader:
    """Facts of an evaluation that do not depend on its rows.

    Attributes
    ----------
    protocol, scored_sets : str
        As in `EvaluationResult`.
    measures : dict of str to Measure
        What the measures say of their values, without their functions and formulas.
    mechanisms : dict of str to str
        Specification of each forgetting mechanism.
    classes : ndarray or None
        Sorted labels; None for regression.
    baselines : tuple of str
        Names of the models that are naive baselines.
    parameters : dict
        The evaluator's parameters, and the seed that was used.
    survives : bool
        Whether the others go on where a model fails.
    generator : str
        Which generator made the stream; empty if none did.
    record : dict
        Versions, platform, models and timelines: see `ResultDetails`.
    """

    protocol: str
    scored_sets: str
    measures: dict[str, Measure]
    mechanisms: dict[str, str]
    classes: np.ndarray | None
    baselines: tuple[str, ...]
    parameters: dict[str, Any]
    survives: bool
    generator: str = ""
    record: dict[str, Any] = field(default_factory=dict)

    def record_of(self, n_rows: int, columns: dict[str, Any], read: Checksums) -> dict[str, Any]:
        """Return the record of a result, with the checksums of the rows.

        It has none where the rows were not all read, or not by the evaluator.
        """
        if not self.record:
            return {}
        record, checksums = dict(self.record), {}
        known = record.pop("names", None)  # files may have them, and give arrays
        names = list(map(str, known)) if known else columns.get("names")
        if kinds := record.pop("kinds", None):
            columns = {**columns, "types": list(kinds.values())}
        for name, sums in read.items():
            checksums[name] = list(map("{:08x}".format, sums))
        record["stream"] = {"rows": n_rows, **columns, "names": names, "checksums": checksums}
        return record
