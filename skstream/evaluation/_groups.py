"""Groups of models and folds, one for each worker, balanced by what they cost on the first rows."""

from collections.abc import Iterable, Mapping, Sequence
from copy import deepcopy
from dataclasses import dataclass
from time import perf_counter
from typing import Any

from joblib import effective_n_jobs

from skstream.evaluation._outcome import Place
from skstream.evaluation._workers import NewRun
from skstream.streams._chunk import Chunk
from skstream.utils._sklearn import QuietParallel

#: Seconds that two worker processes of loky are taken to need to start and to import this package
#: on two idle cores. Measured on two busy ones (load 2.8): 1.3 to 1.4 s of processor time in each
#: worker, and 1.8 to 4.3 s on the clock.
SECONDS_OF_START = 1.5
#: Work of less than so many starts is done in this process.
STARTS_THAT_PAY = 2.0
#: Rows on which models are tried, untimed and then timed: those with kernels, and the others.
_ROWS_OF_KERNELS = (64, 4096)
_ROWS_OF_LOOPS = (4, 20)


@dataclass(frozen=True)
class Groups:
    """Which models and folds are evaluated together.

    Attributes
    ----------
    places : list of list of (str, int)
        Names and folds of every group.
    why_one : str
        Why there is one group where several workers were wanted; empty otherwise.
    """

    places: list[list[Place]]
    why_one: str = ""


def grouped(
    n_jobs: int | None, new_run: NewRun, models: Mapping[Place, Any], stream: Any
) -> Groups:
    """Distribute models and folds over workers: as many groups as workers at most."""
    places = list(models)
    n_groups = min(effective_n_jobs(n_jobs), len(places))
    if n_groups < 2 or not stream.reiterable:
        return Groups([places])
    seconds = seconds_per_row(new_run, models, stream)
    start = _seconds_of_start(n_jobs)
    if stream.n_rows is not None:
        work = stream.n_rows * sum(seconds.values())
        if work < STARTS_THAT_PAY * start:
            return Groups(
                [places],
                f"about {work:.1f} s of work, while workers take {start:.1f} s to start",
            )
    return Groups(balanced(seconds, n_groups))


def _seconds_of_start(n_jobs: int | None) -> float:
    """Seconds until workers begin; threads and those of a cluster are there already."""
    backend = QuietParallel(n_jobs=n_jobs)._backend
    is_there = getattr(backend, "uses_threads", False) or "Dask" in type(backend).__name__
    return 0.0 if is_there else SECONDS_OF_START


def balanced(seconds: Mapping[Place, float], n_groups: int) -> list[list[Place]]:
    """Give the longest first to the group that has least to do."""
    order = list(seconds)
    loads = [0.0] * n_groups
    groups: list[list[Place]] = [[] for _ in range(n_groups)]
    for place in sorted(order, key=lambda one: -seconds[one]):
        least = loads.index(min(loads))
        loads[least] += max(seconds[place], 1e-12)
        groups[least].append(place)
    return sorted(
        (sorted(group, key=order.index) for group in groups if group),
        key=lambda group: order.index(group[0]),
    )


def seconds_per_row(
    new_run: NewRun, models: Mapping[Place, Any], stream: Iterable[Chunk]
) -> dict[Place, float]:
    """Measure what each model costs, on copies and the first rows.

    If that fails, all cost the same, and much: the workers then raise the same error with more
    details.
    """
    try:
        chunk = next(iter(stream))
        kernels = _with_kernels(new_run, models, chunk)
        loops = [place for place in models if place not in kernels]
        seconds = _timed(new_run, models, kernels, chunk, *_ROWS_OF_KERNELS)
        seconds |= _timed(new_run, models, loops, chunk, *_ROWS_OF_LOOPS)
    except Exception:
        return dict.fromkeys(models, 1.0)
    return {place: seconds[place] for place in models}


def _with_kernels(new_run: NewRun, models: Mapping[Place, Any], chunk: Chunk) -> list[Place]:
    """Models that have kernels, and whose kernels accept the first rows."""
    places = list(models)
    run = new_run(deepcopy(dict(models)), places)
    places = [place for place, loops in zip(places, run.looped, strict=True) if not loops]
    if not places:
        return []
    run = new_run(deepcopy({place: models[place] for place in places}), places)
    run.feed(chunk.part(0, _ROWS_OF_KERNELS[0]))
    return [place for place, loops in zip(places, run.looped, strict=True) if not loops]


def _timed(
    new_run: NewRun,
    models: Mapping[Place, Any],
    places: Sequence[Place],
    chunk: Chunk,
    begin: int,
    end: int,
) -> dict[Place, float]:
    """Seconds per row of each model, and its share of what all of them take together."""
    if not places:
        return {}
    run = new_run(deepcopy({place: models[place] for place in places}), list(places))
    begin = min(begin, len(chunk.y) - 1)  # of a short chunk at least one row is timed
    if begin:
        run.feed(chunk.part(0, begin))
    timed = chunk.part(begin, end)
    before, started = run.seconds, perf_counter()
    run.feed(timed)
    whole = perf_counter() - started
    own = [after - earlier for after, earlier in zip(run.seconds, before, strict=True)]
    shared = max(0.0, whole - sum(own)) / len(places)
    return {place: (one + shared) / len(timed.y) for place, one in zip(places, own, strict=True)}
