"""Groups of models and folds, one for each worker, balanced by what they cost on the first rows."""

from collections.abc import Iterable, Mapping, Sequence
from copy import deepcopy
from dataclasses import dataclass
from time import perf_counter
from typing import Any

from joblib import effective_n_jobs

from skstream.evaluation._parallel._workers import NewRun
from skstream.evaluation._runs._run import EvaluationRun
from skstream.evaluation._runs._run_outcome import Place
from skstream.streams._arrays import begins_again
from skstream.streams._chunk import Chunk
from skstream.utils._sklearn import QuietParallel

#: Seconds that two worker processes of loky are taken to need to start and to import this package
#: on two idle cores. Measured on two busy ones (load 2.8): 1.3 to 1.4 s of processor time in each
#: worker, and 1.8 to 4.3 s on the clock.
SECONDS_OF_START = 1.5
#: Work of less than so many starts is done in this process.
STARTS_THAT_PAY = 2.0
#: By how much whole folds may make the longest group longer.
_AS_EVEN = 1.02
#: Rows on which models are tried, untimed and then timed: those with kernels, and the others.
_ROWS_OF_KERNELS = (64, 2048)
_ROWS_OF_LOOPS = (2, 10)


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
    if n_groups < 2:
        return Groups([places])
    if not begins_again(stream):
        return Groups([places], "the stream can be read only once")
    backend = QuietParallel(n_jobs=n_jobs)._backend
    if getattr(backend, "uses_threads", False) and _all_have_kernels(new_run, models):
        # Two threads took 12 to 26 % more processor time than one, and no less on the clock (ten
        # folds of the models of benchmarks/bench_folds.py, 200,000 rows).
        return Groups([places], "threads take turns where all models have kernels")
    seconds = seconds_per_row(new_run, models, stream)
    if stream.n_rows is not None:
        why_one = why_not_apart(n_jobs, stream.n_rows * sum(seconds.values()))
        if why_one:
            return Groups([places], why_one)
    return Groups(balanced(seconds, n_groups))


def why_not_apart(n_jobs: int | None, work: float) -> str:
    """Return why workers would not be faster for so many seconds of work; empty if they would."""
    backend, start = QuietParallel(n_jobs=n_jobs)._backend, SECONDS_OF_START
    if getattr(backend, "uses_threads", False) or "Dask" in type(backend).__name__:
        start = 0.0  # threads, and workers of a cluster, are there already
    if work >= STARTS_THAT_PAY * start:
        return ""
    return f"about {work:.1f} s of work, while workers take {start:.1f} s to start"


def balanced(seconds: Mapping[Place, float], n_groups: int) -> list[list[Place]]:
    """Divide models and folds into groups of about equal cost.

    Models of the same fold share its weights, so that whole folds cost less together; they stay
    together where the groups are then as even as without it.
    """
    folds: dict[int, list[Place]] = {}
    for place in seconds:
        folds.setdefault(place[1], []).append(place)
    apart = _shared_out([[place] for place in seconds], seconds, n_groups)
    together = _shared_out(list(folds.values()), seconds, n_groups)
    is_even = len(folds) >= n_groups and (
        _largest(together, seconds) <= _AS_EVEN * _largest(apart, seconds)
    )
    order = list(seconds)
    return sorted(
        (sorted(group, key=order.index) for group in (together if is_even else apart) if group),
        key=lambda group: order.index(group[0]),
    )


def _shared_out(
    parts: Sequence[Sequence[Place]], seconds: Mapping[Place, float], n_groups: int
) -> list[list[Place]]:
    """Give the longest first to the group that has least to do."""
    loads = [0.0] * n_groups
    groups: list[list[Place]] = [[] for _ in range(n_groups)]
    costs = [sum(seconds[place] for place in part) for part in parts]
    for k in sorted(range(len(parts)), key=lambda k: -costs[k]):
        least = loads.index(min(loads))
        loads[least] += max(costs[k], 1e-12)
        groups[least] += parts[k]
    return groups


def _largest(groups: Sequence[Sequence[Place]], seconds: Mapping[Place, float]) -> float:
    return max(sum(seconds[place] for place in group) for group in groups)


def seconds_per_row(
    new_run: NewRun, models: Mapping[Place, Any], stream: Iterable[Chunk]
) -> dict[Place, float]:
    """Measure what each model costs, on copies and the first rows.

    The folds of a model cost the same: the first is measured. If that fails, all models cost the
    same, and much: the workers then raise the same error with more details.
    """
    first = _first_folds(models)
    try:
        chunk = next(iter(stream))
        kernels = _without_loops(new_run(deepcopy(first)), first)
        seconds: dict[str, float] = {}
        while kernels and not seconds:
            run = new_run(deepcopy(kernels))
            rest = _fed(run, chunk, *_ROWS_OF_KERNELS)
            accepted = _without_loops(run, kernels)
            if len(accepted) == len(kernels):  # else many rows would take the others long
                seconds = _timed(run, rest)
            kernels = accepted
        loops = {place: model for place, model in first.items() if place[0] not in seconds}
        seconds |= _seconds_of_loops(new_run, loops, chunk)
    except Exception:
        return dict.fromkeys(models, 1.0)
    return {(name, fold): seconds[name] for name, fold in models}


def slow_loops(
    new_run: NewRun, models: Mapping[Place, Any], stream: Iterable[Chunk]
) -> dict[str, tuple[float, str]]:
    """Seconds per row of the models that are called row by row, on copies, and why they are.

    One fold of each. Empty where the first rows cannot be read, or a model fails in them.
    """
    first = _first_folds(models)
    try:
        reasons = new_run(deepcopy(first)).reasons_of_loops
        if not reasons:
            return {}
        loops = {place: first[place] for place in reasons}
        seconds = _seconds_of_loops(new_run, loops, next(iter(stream)))
    except Exception:  # the run raises it, with more details
        return {}
    return {name: (seconds[name], why) for (name, _), why in reasons.items()}


def _first_folds(models: Mapping[Place, Any]) -> dict[Place, Any]:
    """Return the first fold of every model."""
    first: dict[str, Place] = {}
    for place in models:
        first.setdefault(place[0], place)
    return {place: models[place] for place in first.values()}


def _without_loops(run: EvaluationRun, models: Mapping[Place, Any]) -> dict[Place, Any]:
    """Return the models of a run that have kernels, so far."""
    loops = run.reasons_of_loops
    return {place: model for place, model in models.items() if place not in loops}


def _all_have_kernels(new_run: NewRun, models: Mapping[Place, Any]) -> bool:
    """Whether there are kernels for all models; the folds of one are alike."""
    try:
        return not new_run(deepcopy(_first_folds(models))).reasons_of_loops
    except Exception:  # the workers raise the same error with more details
        return False


def _seconds_of_loops(
    new_run: NewRun, models: Mapping[Place, Any], chunk: Chunk
) -> dict[str, float]:
    if not models:
        return {}
    run = new_run(deepcopy(dict(models)))
    return _timed(run, _fed(run, chunk, *_ROWS_OF_LOOPS))


def _fed(run: EvaluationRun, chunk: Chunk, begin: int, end: int) -> Chunk:
    """Let a run take the rows before one; return those from there on, of which there is one."""
    begin = min(begin, len(chunk.y) - 1)
    if begin:
        run.feed(chunk.part(0, begin))
    return chunk.part(begin, end)


def _timed(run: EvaluationRun, rows: Chunk) -> dict[str, float]:
    """Seconds per row of each model, and its share of what all of them take together."""
    before, started = run.seconds_of, perf_counter()
    run.feed(rows)
    whole = perf_counter() - started
    own = {place: after - before[place] for place, after in run.seconds_of.items()}
    shared = max(0.0, whole - sum(own.values())) / len(own)
    return {name: (seconds + shared) / len(rows.y) for (name, _), seconds in own.items()}
