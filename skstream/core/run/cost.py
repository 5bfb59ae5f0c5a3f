"""Cost of a model: time, size, and RAM-hours."""

import copyreg
import pickle
import random
from dataclasses import dataclass, field, fields
from itertools import zip_longest
from typing import Any, NamedTuple

from sklearn.base import BaseEstimator

from skstream.base import nested
from skstream.core.engine.failures import ModelError
from skstream.utils._validation import is_fitted

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
        Where a model around it begins anew, as `DriftReset` does, only the refits since then are
        known, and rows are counted from there.
    n_failed_refits : int
        Refits that have failed, and left the model before them in place.
    failed_refit : str
        Why the last of these has failed; empty if none has.
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

    @property
    def seconds(self) -> float:
        """All time spent in the model."""
        return self.seconds_asking + self.seconds_learning + self.seconds_in_kernel

    def __add__(self, other: "Cost") -> "Cost":
        joined = {"seconds_of_parts", "failed_refit"}
        names = [one.name for one in fields(Cost) if one.name not in joined]
        sums = {name: getattr(self, name) + getattr(other, name) for name in names}
        parts = dict(self.seconds_of_parts)
        for name, seconds in other.seconds_of_parts.items():
            parts[name] = parts.get(name, 0.0) + seconds
        last = other.failed_refit or self.failed_refit
        return Cost(**sums, seconds_of_parts=parts, failed_refit=last)


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


def _tells_refits(part: Any) -> bool:
    return hasattr(type(part), "refits_so_far")


def refits_in(model: Any) -> list[Refits]:
    """Refits of every fitted part of a model that has them: itself, a step, a member."""
    found: list[Refits] = []
    if any(map(_tells_refits, nested(model))):
        _collect(model, found, set())
    return found


def _collect(part: Any, found: list[Refits], seen: set[int]) -> None:
    """Append the refits of those in fitted attributes."""
    if id(part) in seen:
        return
    seen.add(id(part))
    if _tells_refits(part):
        found.extend([Refits(*part.refits_so_far())] if is_fitted(part) else [])
    elif isinstance(part, BaseEstimator | dict | list | tuple):
        part = vars(part) if isinstance(part, BaseEstimator) else part
        for value in part.values() if isinstance(part, dict) else part:
            _collect(value, found, seen)


def refits_since(now: list[Refits], before: list[Refits]) -> list[Refits]:
    """Refits from an earlier time on, with rows counted from there."""
    since = []
    for one, then in zip_longest(now, before[: len(now)], fillvalue=Refits()):
        if one.n_known < then.n_known:  # it has begun anew
            then = Refits()
        n_failed = one.n_failed - then.n_failed
        since.append(
            Refits(
                one.n_known - then.n_known,
                tuple(row - then.n_known for row in one.rows[len(then.rows) :]),
                n_failed,
                one.failure if n_failed else "",
                one.seconds - then.seconds,
            )
        )
    return since


class CostMeter:
    """Follows the time and size of one model, from what it has learnt before on.

    Attributes
    ----------
    failure : str
        Why the size is not known, as the fitted model could not be written; empty if it could.
    """

    def __init__(self, estimator: Any) -> None:
        self.failure = ""
        self._before = refits_in(estimator)
        self._size = self._seconds = self._ram_hours = 0.0

    def measure(self, model: Any) -> Any:
        """Measure the size of a model, which it has had since the last time; return it fitted."""
        seconds, estimator, self._size = sum(model.seconds.values()), None, float("nan")
        try:
            estimator = model.estimator()
        except ModelError as error:
            self.failure = f"{error} Its size is not known; its scores are complete."
        else:
            self._size = pickled_size(estimator)
        hours = (seconds - self._seconds) / SECONDS_PER_HOUR
        self._ram_hours += self._size / BYTES_PER_GIGABYTE * hours
        self._seconds = seconds
        return estimator

    def cost(self, model: Any) -> Cost:
        """Return the cost so far."""
        refits = refits_since(refits_in(self.measure(model)), self._before)
        seconds = model.seconds
        return Cost(
            seconds_asking=seconds["asking"],
            seconds_learning=seconds["learning"],
            seconds_in_kernel=seconds["kernel"],
            seconds_loading=model.by_kernel.seconds_loading,
            seconds_of_parts=model.seconds_of_parts,
            size=self._size,
            ram_hours=self._ram_hours,
            seconds_refitting=sum(one.seconds for one in refits),
            refit_rows=[sorted(row for one in refits for row in one.rows)] if refits else [],
            n_failed_refits=sum(one.n_failed for one in refits),
            failed_refit=next((one.failure for one in refits if one.failure), ""),
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
