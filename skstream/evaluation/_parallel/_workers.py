"""Models and folds in worker processes, and handling of failed or terminated workers."""

import pickle
import traceback
from collections.abc import Callable, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass, field, replace
from typing import Any

from sklearn.utils.parallel import delayed

from skstream.engine.failures import RAISED, ModelError, ends_program
from skstream.evaluation._folder import GroupFolder, Reporter, first_not_pickled
from skstream.evaluation._folder._read_checksums import PassChecksums
from skstream.evaluation._parallel._stopping import StopFile, interrupted_once
from skstream.evaluation._runs._checkpoint import NOT_PICKLED
from skstream.evaluation._runs._run import EvaluationRun
from skstream.evaluation._runs._run_outcome import Place, RunOutcome
from skstream.utils._dask import on_cluster
from skstream.utils._sklearn import QuietParallel
from skstream.utils._warnings import warn

NewRun = Callable[..., EvaluationRun]


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
    reporter: Reporter
    folder: GroupFolder | None = None
    stop: StopFile = field(default_factory=StopFile)

    @property
    def places(self) -> list[Place]:
        """Names and folds."""
        return list(self.models)

    @property
    def has_finished_alone(self) -> bool:
        """Whether one of the models has, in an earlier call that was killed before the others."""
        return self.folder is not None and self.folder.has_finished_alone

    def alone(self, place: Place) -> "Job":
        """Return the job of one of the models and folds."""
        folder = None if self.folder is None else self.folder.of_lane(self.places.index(place))
        return replace(self, models={place: self.models[place]}, folder=folder)

    def finish(self, joined: Callable[[list[Place]], RunOutcome]) -> None:
        """Write what the models did that went on alone after their worker had terminated."""
        if self.folder is not None and not self.folder.is_finished:
            outcome = joined(self.places)
            self.folder.finish(outcome)
            self.reporter.finish(outcome)


def run_job(job: Job, stream: Any) -> RunOutcome:
    """Evaluate models along a stream; runs in a worker.

    An exception is not raised, and neither is Ctrl-C: the outcome holds it, with the result so far.
    """
    if job.folder is not None and job.folder.is_finished:
        return job.folder.load_outcome()
    with interrupted_once():
        outcome = _run_to_end(job, stream)
    if job.stop.is_orphaned:
        # Nothing takes it from the pipe, in which a large outcome would wait for ever.
        return RunOutcome(lanes=[], labels=None, interrupted=True)
    return outcome


def _run_to_end(job: Job, stream: Any) -> RunOutcome:
    if job.stop.is_there:
        return RunOutcome(lanes=[], labels=None, interrupted=True)
    run = job.new_run(job.models)
    error: Exception | SystemExit | None = None
    cause: BaseException | None = None
    read = PassChecksums()
    keeper = None
    interrupted = False
    try:
        if job.folder is not None:
            with job.folder.only_writer():
                if job.folder.is_finished:
                    return job.folder.load_outcome()
                keeper = job.folder.keeper(run)
                run = keeper.run
                run.follow(stream, [job.stop.check], keeper, job.reporter)
                outcome = keeper.finish()
            if job.folder.lane is None:  # here, since the client may be gone, or its clock another
                job.reporter.finish(outcome)
            return outcome
        run.follow(read.noted(stream), [job.stop.check], reporter=job.reporter)
    except KeyboardInterrupt:
        interrupted = True
    except RAISED as raised:
        if ends_program(raised):  # this process is told to end
            raise
        error, cause = portable(raised)
    is_whole = error is None and not interrupted
    done = run.outcome() if run.n_rows or is_whole else None
    if done is None or not (is_whole or done.n_rows):
        return RunOutcome(lanes=[], labels=None, error=error, cause=cause, interrupted=interrupted)
    if interrupted:
        return replace(done, interrupted=True, run=None)
    sums = read.sums() if keeper is None else keeper.sums()
    return replace(done, error=error, cause=cause, read={**sums, **done.read})


def portable(error: Exception | SystemExit) -> tuple[Exception | SystemExit, BaseException]:
    """Return the exception that is handled, and its traceback, which pickles leave out.

    If it cannot be pickled it becomes an exception with its text.
    """
    try:
        pickle.loads(pickle.dumps(error))
    except Exception:
        error = RuntimeError(f"{type(error).__name__}: {error}")
    error.__cause__ = WorkerTraceback(traceback.format_exc())
    return error, error.__cause__


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
    sent : dict of str to object
        What is sent to the workers, by the names that messages use.

    Attributes
    ----------
    finished : list of RunOutcome
        Outcomes so far.
    dead : dict of (str, int) to ModelError
        Models and folds whose workers terminated in every attempt.
    """

    def __init__(
        self,
        jobs: Sequence[Job],
        n_jobs: int | None,
        retries: int,
        survive: bool,
        sent: Mapping[str, Any],
    ):
        self._jobs = list(jobs)
        self._n_jobs = n_jobs
        self._retries = retries
        self._survive = survive
        self._sent = sent
        self._done: set[int] = set()  # jobs that an earlier call has finished
        self.finished: list[RunOutcome] = []
        self.dead: dict[Place, ModelError] = {}

    def take_finished(self, outcomes: Mapping[int, RunOutcome]) -> None:
        """Take what jobs, by their numbers, did in an earlier call."""
        for number, outcome in outcomes.items():
            self._done.add(number)
            self._take(outcome)

    def run(self) -> None:
        """Do all jobs that are not done.

        Raises
        ------
        ModelError
            If a model fails, or its workers terminate, and `survive` is False.
        """
        left = [job for job in self._jobs if job.number not in self._done]
        together = [job for job in left if not job.has_finished_alone]
        try:
            self._run(together)
        except Exception as death:
            if not _is_death(death):
                raise
            if any(job.stop.is_there for job in left):
                raise KeyboardInterrupt from death
            self._run_one_by_one(left)
        else:
            self._run_one_by_one([job for job in left if job.has_finished_alone])

    def _run(self, jobs: Sequence[Job]) -> None:
        if not jobs:
            return
        # The stream is an argument of its own, so that its arrays reach a worker once.
        calls = (delayed(run_job)(replace(job, stream=None), job.stream) for job in jobs)
        stream = jobs[0].stream
        parallel = QuietParallel(n_jobs=self._n_jobs)
        if not parallel._backend.supports_return_generator:  # multiprocessing: all at the end
            for outcome in sorted(self._at_the_end(parallel, calls), key=_has_failed):
                self._take(outcome)
            return
        parallel = QuietParallel(n_jobs=self._n_jobs, return_as="generator_unordered")
        if "Dask" in type(parallel._backend).__name__:
            self._check_for_dask(stream)
        try:
            with on_cluster(parallel._backend, stream), closing(parallel(calls)) as outcomes:
                for outcome in outcomes:
                    self._take(outcome)
        except NOT_PICKLED as error:
            raise _not_sent(self._sent) or error from error

    def _check_for_dask(self, stream: Any) -> None:
        """Raise an error for what cannot be sent, of which joblib would not hear.

        Rows in memory are left out, as they may be many: they are sent first, and raise an error.
        """
        is_small = bool(getattr(stream, "files", None))
        parts = {name: one for name, one in self._sent.items() if is_small or one is not stream}
        error = _not_sent(parts)
        if error is not None:
            raise error

    def _at_the_end(self, parallel: Any, calls: Any) -> list[RunOutcome]:
        if "Multiprocessing" in type(parallel._backend).__name__:
            warn(
                "With joblib's backend 'multiprocessing' a worker that dies is not noticed, and "
                "the evaluation waits for it for ever. The backend 'loky' (joblib's default) "
                "notices it and tries its models again."
            )
        try:
            return list(parallel(calls))
        except NOT_PICKLED as error:
            part, _ = first_not_pickled(self._sent, by_name=True)
            if part is None:
                raise
            raise _not_sent(self._sent) or TypeError(
                f"{part} cannot be sent to workers of joblib's backend 'multiprocessing', which "
                f"import it by its name ({error}). Define its functions and classes in a module "
                "and import them, or use the backend 'loky' (joblib's default), which sends them "
                "as they are."
            ) from error

    def _take(self, outcome: RunOutcome) -> None:
        self.finished.append(outcome)
        if _has_failed(outcome) and not self._survive:
            assert outcome.error is not None
            raise outcome.error from outcome.cause
        if outcome.interrupted:  # the others stop, too
            self._jobs[0].stop.make()
            return
        for job in self._jobs:
            places = [(lane.name, lane.fold) for lane in outcome.lanes]
            if outcome.error is None and places == job.places:
                job.reporter.finish(outcome)

    def _run_one_by_one(self, jobs: Sequence[Job]) -> None:
        """Run what is left one model and fold at a time, to find the one that ends its worker."""
        done = {(lane.name, lane.fold) for outcome in self.finished for lane in outcome.lanes}
        for job in jobs:
            left = [place for place in job.places if place not in done]
            if left and not self._goes_on(job):
                for place in left:
                    death = self._last_death(job.alone(place), self._retries + 1)
                    if death is not None:
                        self._note_death(place, death)

    def _goes_on(self, job: Job) -> bool:
        """Let a job go on from its checkpoints, if it has a folder; whether it could be done."""
        can_go_on = job.folder is not None and not job.has_finished_alone and self._retries > 0
        return can_go_on and self._last_death(job, self._retries) is None

    def _last_death(self, job: Job, n_attempts: int) -> Exception | None:
        """Run a job, again if its worker terminates; return why it could not be done."""
        last = None
        for _ in range(n_attempts):
            try:
                self._run([job])
            except Exception as death:
                if not _is_death(death):
                    raise
                last = death
            else:
                return None
        return last

    def _note_death(self, place: Place, death: Exception) -> None:
        name, fold = place
        several = any(other for job in self._jobs for _, other in job.places)
        of_fold = f" (fold {fold})" if several else ""
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


def _not_sent(parts: Mapping[str, Any]) -> TypeError | None:
    """Return the error for the first part that cannot be pickled in any way, if there is one."""
    part, error = first_not_pickled(parts, by_name=False)
    if part is None:
        return None
    return TypeError(
        f"{part} cannot be sent to worker processes: {error}. It may hold no lock, open file or "
        "connection: let its class leave that out (__getstate__) and make it where it is used, or "
        "pass n_jobs=1."
    )


def _has_failed(outcome: RunOutcome) -> bool:
    return isinstance(outcome.error, ModelError)


def _is_death(error: BaseException) -> bool:
    """Whether an exception of joblib or Dask says that a worker process terminated.

    Dask cancels calls whose arguments were lost with the worker that held them.
    """
    kinds = {kind.__name__ for kind in type(error).__mro__}
    return not kinds.isdisjoint({"BrokenProcessPool", "KilledWorker", "CancelledError"})
