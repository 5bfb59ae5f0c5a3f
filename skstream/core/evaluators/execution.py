"""Execution of an evaluation: in this process, or by groups of models in workers."""

import os
import pickle
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import closing, contextmanager, nullcontext, suppress
from copy import deepcopy
from dataclasses import dataclass, replace
from functools import partial
from multiprocessing import parent_process
from time import monotonic
from typing import Any

from joblib import effective_n_jobs
from joblib.externals.loky.backend.reduction import dump
from sklearn.utils.parallel import delayed

from skstream.base import learning_parts
from skstream.core.engine.answers import RAISED, ModelError, ends_program
from skstream.core.evaluators.settings import Settings
from skstream.core.result.result import EvaluationResult, assemble
from skstream.core.rows.arrays import begins_again
from skstream.core.rows.stream import Stream
from skstream.core.run.checkpoint import (
    NOT_PICKLED,
    CheckpointFile,
    CheckpointFolder,
)
from skstream.core.run.input import HELD_OUT, MissingLabelError, PassChecksums, differences
from skstream.core.run.run import EvaluationRun
from skstream.core.run.run_outcome import Place, ResultHeader, RunOutcome
from skstream.utils._concurrency import on_cluster
from skstream.utils._optional import optional_import
from skstream.utils._sklearn import QuietParallel
from skstream.utils._warnings import warn

NewRun = Callable[..., EvaluationRun]
#: Rows, times models and folds, from which a second process pays. To start workers takes about
#: 1.5 s, and a model with a kernel .1 to .5 microseconds per row.
ROWS_WORTH_WORKERS = 10_000_000
#: How many such rows take as long as one by an ensemble's member, or by a model called row by row.
_OF_MEMBER, _OF_CALL = 5, 500


class EvaluationInterrupted(KeyboardInterrupt):
    """Ctrl-C during an evaluation; carries the result so far.

    Attributes
    ----------
    result : EvaluationResult, SeedStudy, ndarray, tuple or None
        Scores of the rows that every model had finished; in a parallel evaluation, of the models
        that had finished. For `evaluate_over_seeds`, the study of the finished seeds; for
        `prequential_predict`, the predictions so far. None if there was nothing yet.
    """

    def __init__(self, result: Any, advice: str = "", note: str = ""):
        so_far = (
            "nothing was finished, so there is no result so far"
            if result is None
            else "the result so far is in its attribute 'result'"
        )
        advice = advice if result is None else ""
        super().__init__(f"Evaluation interrupted: {so_far}.{advice}{note}")
        self.result = result


def run_group(
    new_run: NewRun,
    models: Mapping[Place, Any],
    stream: Stream,
    file: CheckpointFile | None = None,
    on_run: Sequence[Callable[[Any], object]] = (),
    bar: Any = None,
) -> RunOutcome:
    """Evaluate models along a stream, or resume from a checkpoint.

    `on_run` are called with the run before it begins; `bar` shows how many rows are done.
    """
    run, read = new_run(models), PassChecksums()
    taken = None
    if file is not None:
        saved = file.load()
        if saved is None:
            file.save(run, {})  # what cannot be pickled or written is refused before the first row
        else:
            new, (run, taken) = run, saved
            run.go_on_as(new)
    for call in on_run:
        call(run)
    saved_at, parent = monotonic(), os.getppid()

    def after_rows(_: int) -> None:
        nonlocal saved_at
        if bar is not None:
            bar.update(run.n_rows - bar.n)
        if parent_process() is not None and os.getppid() != parent:
            raise SystemExit("The process that started this worker is gone.")
        if file is not None and monotonic() - saved_at >= file.every:
            read.add_up_to(run.n_rows)
            _save(file, run, read)
            saved_at = monotonic()

    was_closed = run.is_closed
    run.follow(stream, [after_rows], read, taken)
    if file is not None and not was_closed:
        _save(file, run, read)
    outcome = run.outcome()
    return replace(outcome, read={**read.sums(), **outcome.read})


def _save(file: CheckpointFile, run: EvaluationRun, read: PassChecksums) -> None:
    """Replace a checkpoint; a model that can no longer be pickled (a deep tree) costs no scores."""
    try:
        file.save(run, read.sums())
    except TypeError as error:
        warn(f"{error} The evaluation continues; the earlier checkpoint is kept.")


def _run_in_worker(*group: Any) -> RunOutcome:
    """Evaluate a group of models."""
    with portable_errors():
        return run_group(*group)


@contextmanager
def portable_errors() -> Iterator[None]:
    """Let errors in a worker be such as can be pickled."""
    try:
        yield
    except RAISED as error:
        if ends_program(error):
            raise
        try:
            pickle.loads(pickle.dumps(error))
        except Exception:
            raise RuntimeError(f"{type(error).__name__}: {error}") from error
        raise


@dataclass(frozen=True, kw_only=True)
class Execution:
    """One evaluation, ready to run: prepared models, and their stream.

    Attributes
    ----------
    settings : Settings
        The evaluator's settings, resolved.
    new_run : callable
        ``new_run(models)``, which is sent to the workers.
    models : dict of (str, int) to estimator
        One prepared model per name and fold, in the order of the result.
    stream : Stream
        The rows.
    n_jobs : int or None
        As joblib takes it.
    title : str
        What a progress bar says.
    progress : bool
        Whether there is one.
    folder : CheckpointFolder, default=None
        Where the evaluation is saved, and from where it resumes.
    on_run : callable, default=None
        Called with the run in this process, before it begins or resumes.
    """

    settings: Settings
    new_run: NewRun
    models: Mapping[Place, Any]
    stream: Any
    n_jobs: int | None
    title: str
    progress: bool
    folder: CheckpointFolder | None = None
    on_run: Callable[[Any], None] | None = None

    def groups(self) -> list[list[Place]]:
        """Divide models and folds among workers, or say why one process evaluates all of them.

        An evaluation that resumes has the groups with which it began.
        """
        n_groups = min(effective_n_jobs(self.n_jobs), len(self.models))
        begun_with = None if self.folder is None else self.folder.n_groups
        if n_groups > 1 and (begun_with or 1) == 1:
            why = why_one_process(self.n_jobs, self.new_run, self.models, self.stream)
            if why:
                self.settings.parameters["in_one_process"], n_groups = why, 1
        return divided(list(self.models), begun_with or n_groups)

    def run(
        self, header: ResultHeader, groups: Sequence[Sequence[Place]] | None = None
    ) -> tuple[RunOutcome, list[RunOutcome]]:
        """Evaluate groups of models, each along its own pass through the stream.

        Return the outcome of all, and those of the groups.
        """
        groups = self.groups() if groups is None else groups
        if len(groups) == 1:
            outcome = self.in_one_pass(header)
            return outcome, [outcome]
        places = list(self.models)
        finished: list[RunOutcome] = []
        parallel = QuietParallel(n_jobs=self.n_jobs)
        backend = parallel._backend
        if not getattr(backend, "uses_threads", False):
            self._check_can_be_sent()
        if backend.supports_return_generator:
            parallel = QuietParallel(n_jobs=self.n_jobs, return_as="generator_unordered")
        calls = (  # the stream is an argument of its own, so that its arrays reach a worker once
            delayed(_run_in_worker)(
                self.new_run,
                {place: self.models[place] for place in group},
                self.stream,
                None if self.folder is None else self.folder.file(number, len(groups)),
            )
            for number, group in enumerate(groups)
        )

        advice = " With checkpoint=, the same call resumes from the rows done by workers."
        if self.folder is not None:
            advice = f" The same call resumes from the checkpoints in {self.folder.path}."

        def so_far(error: BaseException) -> EvaluationResult | None:
            return _of_finished(header, finished, places, error)

        with (
            progress_bar(self.stream.n_rows, self.title, len(places), wanted=self.progress) as bar,
            carrying(so_far, self.stream, advice),
            on_cluster(parallel._backend, self.stream),
        ):
            try:
                outcomes = parallel(calls)
                with closing(outcomes) if hasattr(outcomes, "close") else nullcontext():
                    for outcome in outcomes:
                        finished.append(outcome)
                        bar.update(outcome.n_rows * len(outcome.lanes))
            except Exception as error:
                if _is_death(error):
                    error.add_note(_died(finished, places))
                raise
            return joined(finished, places), finished

    def _check_can_be_sent(self) -> None:
        """Raise an error for what cannot be pickled, of which Dask would not tell: it would wait.

        Rows in memory are left out, as they may be many: they are sent first, and raise an error.
        """
        parts = {
            **{f"Model '{name}'": model for (name, _), model in self.models.items()},
            **{f"Measure '{name}'": measure for name, measure in self.settings.metrics.items()},
            "The stream": self.stream if getattr(self.stream, "files", None) else None,
            "What is given as holdout, delay or polling": self.new_run,
        }
        for name, part in parts.items():
            try:
                dump(part, _Nowhere())
            except NOT_PICKLED as error:
                raise TypeError(
                    f"{name} cannot be sent to worker processes: {error}. It must not hold a lock, "
                    "open file or connection: let its class leave that out (__getstate__) and "
                    "create it when used, or pass n_jobs=1."
                ) from error

    def in_one_pass(self, header: ResultHeader) -> RunOutcome:
        """Evaluate all models and folds in this process."""
        runs: list[Any] = []
        on_run = [runs.append] if self.on_run is None else [runs.append, self.on_run]
        file = None if self.folder is None else self.folder.file(0, 1)
        with (
            progress_bar(self.stream.n_rows, self.title, wanted=self.progress) as bar,
            carrying(partial(_so_far, runs, header), self.stream),
        ):
            return run_group(self.new_run, self.models, self.stream, file, on_run, bar)


class _Nowhere:
    """A file that keeps nothing."""

    def write(self, data: Any) -> int:
        return memoryview(data).nbytes


class _NoBar:
    """A progress bar that shows nothing."""

    n = 0

    def update(self, n_rows: int) -> None:
        """Show nothing."""


@contextmanager
def progress_bar(n_rows: int | None, title: str, times: int = 1, *, wanted: bool) -> Iterator[Any]:
    """Show a progress bar of rows that are passed over so many times, if one is wanted."""
    if not wanted:
        yield _NoBar()
        return
    total = None if n_rows is None else n_rows * times
    tqdm = optional_import("tqdm.auto", "progress=True").tqdm
    with tqdm(total=total, unit="row", desc=title, unit_scale=True) as bar:
        yield bar


# -- groups of models


def divided(places: Sequence[Place], n_groups: int) -> list[list[Place]]:
    """Divide models and folds into groups of about equal cost.

    Models of the same fold share its weights, so that whole folds cost less together: they stay
    together where every group has as many.
    """
    if n_groups == 1:
        return [list(places)]
    n_folds = 1 + max(fold for _, fold in places)
    if n_folds % n_groups == 0:
        return [[place for place in places if place[1] % n_groups == k] for k in range(n_groups)]
    return [list(places[k::n_groups]) for k in range(n_groups)]


def why_one_process(
    n_jobs: int | None, new_run: NewRun, models: Mapping[Place, Any], stream: Any, times: int = 1
) -> str:
    """Return why workers would not be faster; empty if they would.

    `times` says how often the models are evaluated on so many rows.
    """
    if not begins_again(stream):
        return "the stream can be read only once"
    backend = QuietParallel(n_jobs=n_jobs)._backend
    uses_threads = getattr(backend, "uses_threads", False)
    if "Dask" in type(backend).__name__ or (stream.n_rows is None and not uses_threads):
        return ""
    first = {place: model for place, model in models.items() if place[1] == 0}
    try:
        loops = {name for name, _ in new_run(deepcopy(first)).looped}
    except Exception:  # the run raises it, with more details
        return ""
    if uses_threads:  # they are there already; two take longer than one where they take turns
        return "" if loops else "threads would only take turns, as all models have kernels"
    weights = [_OF_CALL if name in loops else _weight(model) for (name, _), model in models.items()]
    n_rows = stream.n_rows * sum(weights) * times
    return "" if n_rows >= ROWS_WORTH_WORKERS else "so few rows do not pay for workers"


def _weight(model: Any) -> int:
    """Return about how many times as long as the fastest models one with a kernel takes."""
    members = [getattr(part, "n_estimators", 0) for part in learning_parts(model)]
    return max(1, *(_OF_MEMBER * n for n in members if isinstance(n, int)))


def joined(finished: Sequence[RunOutcome], places: Sequence[Place]) -> RunOutcome:
    """Combine the outcomes of all groups.

    Raises
    ------
    ValueError
        If the workers did not read the same.
    """
    first = finished[0]
    for other in finished[1:]:
        differing = differences(first.read, other.read)
        if first.n_rows != other.n_rows or differing:
            what = (
                f"{first.n_rows:,} and {other.n_rows:,} rows"
                if first.n_rows != other.n_rows
                else f"{first.n_rows:,} rows each, with other {differing}"
            )
            source = "holdout" if differing.startswith(HELD_OUT) else "stream"
            raise ValueError(
                f"The {source} differs from pass to pass, and each worker makes its own pass: "
                f"those of '{first.lanes[0].name}' and '{other.lanes[0].name}' read {what}. Make "
                "it yield the same rows whenever it is iterated, or pass n_jobs=1."
            )
    lanes = {(lane.name, lane.fold): lane for outcome in finished for lane in outcome.lanes}
    return replace(first, lanes=[lanes[place] for place in places])


def _of_finished(
    header: ResultHeader,
    finished: Sequence[RunOutcome],
    places: Sequence[Place],
    error: BaseException,
) -> EvaluationResult | None:
    """Return the result of the models of which all folds have finished; None if there is none.

    Where no model has all folds, it is that of the folds that all models have finished.
    """
    done = {(lane.name, lane.fold) for outcome in finished for lane in outcome.lanes}
    left = [place for place in places if place not in done]
    names, folds = {name for name, _ in left}, {fold for _, fold in left}
    whole, there = [place for place in places if place[0] not in names], None
    if not whole:
        whole = [place for place in places if place[1] not in folds]
        there = tuple(dict.fromkeys(fold for _, fold in whole))
    if not whole:
        return None
    why = "the evaluation was interrupted"
    if not isinstance(error, KeyboardInterrupt):
        why = f"{type(error).__name__} ended the evaluation"
    shown = {name for name, _ in whole}
    left_out = {name: f"it had not finished when {why}" for name, _ in left if name not in shown}
    outcome = joined(finished, whole)
    return assemble(header, outcome, so_far=True, left_out=left_out, folds=there)


def _is_death(error: BaseException) -> bool:
    """Whether an exception of joblib or Dask says that a worker process terminated.

    Dask cancels calls whose arguments were lost with the worker that held them.
    """
    kinds = {kind.__name__ for kind in type(error).__mro__}
    return not kinds.isdisjoint({"BrokenProcessPool", "KilledWorker", "CancelledError"})


def _died(finished: Sequence[RunOutcome], places: Sequence[Place]) -> str:
    done = {(lane.name, lane.fold) for outcome in finished for lane in outcome.lanes}
    left = dict.fromkeys(f"'{name}'" for name, fold in places if (name, fold) not in done)
    return (
        f"A worker process died. These models had not finished: {', '.join(left)}. One of them may "
        "have run out of memory, or crashed in compiled code; try each with n_jobs=1 on few rows. "
        "With checkpoint=, the same call resumes."
    )


# -- what ends an evaluation


def _so_far(runs: list[Any], header: ResultHeader, _: BaseException) -> EvaluationResult | None:
    """Return the result of a run so far; None before the first row."""
    if not runs or not runs[-1].n_rows:
        return None
    run = runs[-1]
    try:
        outcome = run.outcome()  # a failure may leave out all rows
        return assemble(header, outcome, so_far=True) if outcome.n_rows else None
    except Exception:  # of a function of the user, a measure that fails again
        kept = run.leave_out_functions()
        return assemble(kept.header, run.outcome(), so_far=True) if kept else None


@contextmanager
def carrying(
    so_far: Callable[[BaseException], Any], stream: Stream, advice: str = ""
) -> Iterator[None]:
    """Attach any partial result to what ends the evaluation in the block.

    Parameters
    ----------
    so_far : callable
        ``so_far(error)`` returns it, or None.
    stream : Stream
        The rows.
    advice : str, default=""
        What is said after Ctrl-C where there is none.
    """
    try:
        yield
    except KeyboardInterrupt as interrupt:
        raise EvaluationInterrupted(so_far(interrupt), advice) from interrupt
    except (Exception, SystemExit) as error:
        with suppress(Exception):  # a failure here must not hide the error itself
            if isinstance(error, MissingLabelError):
                error.add(stream.place_of(error.row))
        with suppress(Exception):
            result = so_far(error)
            error.result = result  # type: ignore[union-attr]
            if result is not None and not isinstance(error, ModelError):
                error.add_note("The result so far is in the attribute 'result' of this error.")
        raise
