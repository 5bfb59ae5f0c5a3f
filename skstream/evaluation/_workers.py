"""Models and folds in worker processes, and handling of failed or terminated workers."""

import pickle
import traceback
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import closing
from copy import deepcopy
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from sklearn.utils.parallel import delayed

from skstream.engine.model import ModelError
from skstream.evaluation._outcome import LaneOutcome, RunOutcome
from skstream.evaluation._passes import PassChecksums, differences
from skstream.evaluation._progress import RowCounts, ignored
from skstream.evaluation._stream_run import StreamRun
from skstream.utils._dask import deaths_heard
from skstream.utils._sklearn import QuietParallel

Place = tuple[str, int]
NewRun = Callable[..., StreamRun]

#: Number of first rows used to find out which models have kernels.
ROWS_OF_TRIAL = 64


class WorkerTraceback(Exception):
    """Traceback of an exception in a worker, as text."""

    def __str__(self) -> str:
        return f"\n{self.args[0]}"


@dataclass(frozen=True)
class Job:
    """Models and folds that one worker evaluates together."""

    new_run: NewRun
    models: Mapping[Place, Any]
    stream: Any
    number: int
    counts: RowCounts | None

    @property
    def places(self) -> list[Place]:
        """Names and folds."""
        return list(self.models)

    def alone(self, place: Place) -> "Job":
        """Return the job of one of the models and folds."""
        return replace(self, models={place: self.models[place]})


def run_job(job: Job) -> RunOutcome:
    """Evaluate models along the stream; runs in a worker.

    An exception is not raised: the outcome holds it, with the result so far.
    """
    run = job.new_run(job.models, job.places)
    count = ignored if job.counts is None else job.counts.counter(job.number)
    n_places = len(job.places)
    error: Exception | None = None
    read = PassChecksums()
    try:
        for chunk in job.stream:
            read.add(*chunk)
            run.feed(chunk, lambda n: count(n * n_places))
        run.close()
    except Exception as raised:
        error = _portable(raised)
        error.__cause__ = WorkerTraceback(traceback.format_exc())
    if error is not None and not run.n_rows:
        return RunOutcome(lanes=[], labels=None, error=error, cause=error.__cause__)
    outcome = run.outcome()
    cause = None if error is None else error.__cause__
    return replace(outcome, error=error, cause=cause, read={**read.sums(), **outcome.read})


def _portable(error: Exception) -> Exception:
    """Return the exception if it can be pickled, else an exception with its text."""
    try:
        pickle.loads(pickle.dumps(error))
    except Exception:
        return RuntimeError(f"{type(error).__name__}: {error}")
    return error


class Workers:
    """Runs jobs through joblib, and keeps finished outcomes if other jobs fail.

    Parameters
    ----------
    jobs : sequence of Job
        What is to be done.
    n_jobs : int or None
        As joblib takes it.
    retries : int
        Number of further attempts, alone, with a model and fold whose worker terminated.
    survive : bool
        Whether the others continue if a model fails or its workers terminate.

    Attributes
    ----------
    finished : list of RunOutcome
        Outcomes so far.
    dead : dict of (str, int) to ModelError
        Models and folds whose workers terminated in every attempt.
    """

    def __init__(self, jobs: Sequence[Job], n_jobs: int | None, retries: int, survive: bool):
        self._jobs = list(jobs)
        self._n_jobs = n_jobs
        self._retries = retries
        self._survive = survive
        self.finished: list[RunOutcome] = []
        self.dead: dict[Place, ModelError] = {}

    def run(self) -> None:
        """Do all jobs.

        Raises
        ------
        ModelError
            If a model fails, or its workers terminate, and `survive` is False.
        """
        try:
            self._run(self._jobs)
        except Exception as death:
            if not _is_death(death):
                raise
            self._run_one_by_one()

    def _run(self, jobs: Sequence[Job]) -> None:
        parallel = QuietParallel(n_jobs=self._n_jobs, return_as="generator_unordered")
        calls = (delayed(run_job)(job) for job in jobs)
        with deaths_heard(parallel._backend), closing(parallel(calls)) as outcomes:
            for outcome in outcomes:
                self._take(outcome)

    def _take(self, outcome: RunOutcome) -> None:
        self.finished.append(outcome)
        if isinstance(outcome.error, ModelError) and not self._survive:
            raise outcome.error from outcome.cause
        for job in self._jobs:
            places = [(lane.name, lane.fold) for lane in outcome.lanes]
            if job.counts is not None and places == job.places:
                job.counts.finish(job.number, outcome.n_rows * len(places))

    def _run_one_by_one(self) -> None:
        """Run what is left one model and fold at a time, to find the one that ends its worker."""
        done = {(lane.name, lane.fold) for outcome in self.finished for lane in outcome.lanes}
        for job in self._jobs:
            for place in job.places:
                if place not in done:
                    self._run_alone(job.alone(place), place)

    def _run_alone(self, job: Job, place: Place) -> None:
        for attempt in range(self._retries + 1):
            try:
                self._run([job])
            except Exception as death:
                if not _is_death(death):
                    raise
                if attempt == self._retries:
                    self._note_death(place, death)
            else:
                return

    def _note_death(self, place: Place, death: Exception) -> None:
        name, fold = place
        of_fold = f" (fold {fold})" if fold else ""
        times = "once" if not self._retries else f"{self._retries + 1} times"
        error = ModelError(
            f"Model '{name}'{of_fold}: its worker died {times}, alone at last "
            f"({type(death).__name__}). It may need more memory than there is, or crash in "
            "compiled code; try it with n_jobs=1 on few rows.",
            name,
            fold,
        )
        error.__cause__ = death
        self.dead[place] = error
        if not self._survive:
            raise error


def _is_death(error: BaseException) -> bool:
    """Whether an exception of joblib or Dask says that a worker process terminated."""
    kinds = {kind.__name__ for kind in type(error).__mro__}
    return not kinds.isdisjoint({"BrokenProcessPool", "KilledWorker"})


def joined(workers: Workers, places: Sequence[Place]) -> RunOutcome:
    """Combine the outcomes of all workers.

    Raises
    ------
    ValueError
        If the workers did not read the same.
    """
    outcomes = [outcome for outcome in workers.finished if outcome.lanes]
    if not outcomes:
        raise next(iter(workers.dead.values()))
    first = outcomes[0]
    for other in outcomes[1:]:
        differing = differences(first.read, other.read)
        if first.n_rows != other.n_rows or differing:
            what = (
                f"{first.n_rows:,} and {other.n_rows:,} rows"
                if first.n_rows != other.n_rows
                else f"{first.n_rows:,} rows each, with other {differing}"
            )
            raise ValueError(
                "The stream is not the same at every pass, and each worker makes one: those of "
                f"'{first.lanes[0].name}' and '{other.lanes[0].name}' read {what}. Let it give "
                "the same rows whenever it is iterated, or pass n_jobs=1."
            )
    lanes = {(lane.name, lane.fold): lane for one in outcomes for lane in one.lanes}
    for place, error in workers.dead.items():
        lanes[place] = _dead_lane(place, error, first.lanes[0])
    return replace(first, lanes=[lanes[place] for place in places])


def joined_so_far(
    workers: Workers, places: Sequence[Place], why: str
) -> tuple[RunOutcome | None, dict[str, str]]:
    """Combine the models that are complete; name the others, and why they are left out."""
    groups: dict[Any, list[RunOutcome]] = {}
    for outcome in workers.finished:
        if outcome.lanes and not isinstance(outcome.error, ModelError):
            key = outcome.n_rows, tuple(sorted(outcome.read.items()))
            groups.setdefault(key, []).append(outcome)
    names = list(dict.fromkeys(name for name, _ in places))
    n_folds = len(places) // len(names)
    best: dict[str, list[LaneOutcome]] = {}
    chosen: RunOutcome | None = None
    counts = dict.fromkeys(names, 0)
    for group in groups.values():
        by_name: dict[str, list[LaneOutcome]] = {name: [] for name in names}
        for outcome in group:
            for lane in outcome.lanes:
                by_name[lane.name].append(lane)
        counts = {name: max(counts[name], len(by_name[name])) for name in names}
        complete = {name: lanes for name, lanes in by_name.items() if len(lanes) == n_folds}
        if len(complete) > len(best):
            best, chosen = complete, group[0]
    left_out = {
        name: f"{counts[name]} of {n_folds} folds had finished when {why}"
        if n_folds > 1
        else f"it had not finished when {why}"
        for name in names
        if name not in best
    }
    if chosen is None:
        return None, left_out
    lanes = [lane for name in best for lane in sorted(best[name], key=lambda lane: lane.fold)]
    return replace(chosen, lanes=lanes), left_out


def _dead_lane(place: Place, error: ModelError, like: LaneOutcome) -> LaneOutcome:
    """Return the outcome of a model without any answers, as long as another one."""
    name, fold = place
    values = {
        forgetting: {metric: np.full_like(curve, np.nan) for metric, curve in metrics.items()}
        for forgetting, metrics in like.curves.values.items()
    }
    answers = None
    if like.answers is not None:
        nothing = np.nan if like.answers.dtype.kind == "f" else -1
        answers = np.full_like(like.answers, nothing)
    return LaneOutcome(
        name=name,
        fold=fold,
        curves=replace(like.curves, values=values),
        answers=answers,
        cost=type(like.cost)(),
        path="worker died",
        failure=str(error),
        n_valid=0,
    )


def places_with_kernels(
    new_run: NewRun, models: Mapping[Place, Any], stream: Iterable[Any]
) -> list[Place]:
    """Models and folds with kernels, found by running copies of them on the first rows.

    None if that fails: the workers then raise the same error with more details.
    """
    try:
        places = list(models)
        run = new_run(deepcopy(dict(models)), places)
        places = [place for place, loops in zip(places, run.looped, strict=True) if not loops]
        if not places:
            return []
        run = new_run(deepcopy({place: models[place] for place in places}), places)
        run.feed(next(iter(stream)).part(0, ROWS_OF_TRIAL))
    except Exception:
        return []
    return [place for place, loops in zip(places, run.looped, strict=True) if not loops]
