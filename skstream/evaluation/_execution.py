"""Execution of an evaluation: in this process, or by groups of models in workers."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

from skstream.engine.failures import ModelError
from skstream.evaluation._folder import GroupFolder, OpenedFolder, check_importable
from skstream.evaluation._folder._read_checksums import PassChecksums
from skstream.evaluation._folder._reports import rows_of_models
from skstream.evaluation._parallel._joined_outcomes import joined, result_so_far
from skstream.evaluation._parallel._progress import bar_of_workers, progress_bar
from skstream.evaluation._parallel._stopping import stop_file
from skstream.evaluation._parallel._workers import Job, NewRun, Workers
from skstream.evaluation._results._assemble import assemble
from skstream.evaluation._results._result import EvaluationResult
from skstream.evaluation._runs._input import MissingLabelError
from skstream.evaluation._runs._run_outcome import Place, ResultHeader, RunOutcome
from skstream.evaluation._settings import Settings
from skstream.streams import Stream


class EvaluationInterrupted(KeyboardInterrupt):
    """Ctrl-C during an evaluation; carries the result so far.

    Attributes
    ----------
    result : EvaluationResult, SeedStudy, ndarray, tuple or None
        Scores of the rows that every model had done; in a parallel evaluation, of those that each
        had done: models that were behind the first are in its `ended`. Of `evaluate_over_seeds`,
        the study of the seeds that had finished; of `prequential_predict`, the predictions of the
        rows so far. None if there was nothing yet.
    """

    def __init__(self, result: Any, advice: str = "", note: str = ""):
        so_far = (
            "nothing was finished, so that there is no result so far"
            if result is None
            else "the result so far is in its attribute 'result'"
        )
        advice = advice if result is None else ""
        super().__init__(f"Evaluation interrupted: {so_far}.{advice}{note}")
        self.result = result


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
    retries : int
        Further attempts with a model whose worker terminates.
    title : str
        What a progress bar says.
    progress : bool
        Whether there is one.
    on_run : callable, default=None
        Called with the run in this process, before it begins or goes on.
    n_tuning : int, default=None
        Rows after which a search goes on with one model alone; later rows take less time.
    """

    settings: Settings
    new_run: NewRun
    models: Mapping[Place, Any]
    stream: Any
    n_jobs: int | None
    retries: int
    title: str
    progress: bool
    on_run: Callable[[Any], None] | None = None
    n_tuning: int | None = None

    def run(
        self,
        header: ResultHeader,
        groups: Sequence[Sequence[Place]] = (),
        folder: OpenedFolder | None = None,
    ) -> tuple[RunOutcome, list[RunOutcome]]:
        """Evaluate groups of models and folds, each along its own pass through the stream.

        With a run folder these are the groups that were begun there, and they go on. Return the
        outcome of all, and those of the groups.
        """
        group = None
        if folder is not None:
            assert folder.manifest is not None
            header, groups = folder.manifest.header, folder.manifest.groups
            left = [one for one in folder.groups if not one.is_finished]
            for one in folder.groups:
                if one.is_finished:
                    one.tidy()
            if not left:
                return self._apart(header, groups, folder)
            if len(groups) > 1:
                check_importable((self.new_run, self.models), self.n_jobs, folder.path)
            group = folder.groups[0]
        if len(groups) > 1:
            return self._apart(header, groups, folder)
        outcome = self.in_one_pass(header, group)
        return outcome, [outcome]

    def _sent(self) -> dict[str, Any]:
        """What is sent to the workers, by the names that messages use."""
        return {
            **{f"Model '{name}'": model for (name, _), model in self.models.items()},
            **{f"Measure '{name}'": one for name, one in self.settings.metrics.items()},
            **{f"Monitor '{one.name}'": one for one in self.settings.monitors},
            "The stream": self.stream,
            "What is given as holdout, delay or reduce": self.new_run,
        }

    def in_one_pass(self, header: ResultHeader, group: GroupFolder | None = None) -> RunOutcome:
        """Evaluate all models and folds in this process, and in a folder if given."""
        with ExitStack() as stack:
            keeper, reporter = None, None
            if group is not None:
                stack.enter_context(group.only_writer())
                if group.is_finished:
                    if self.on_run is not None:
                        self.on_run(group.load_run(0))
                    return group.load_outcome()
                reporter = group.reporter
            run = self.new_run(self.models)
            if group is not None:
                keeper = group.keeper(run)
                run = keeper.run
            if self.on_run is not None:
                self.on_run(run)
            on_rows: list[Any] = []
            if self.progress:
                total = None if self.stream.n_rows is None else self._in_bar(self.stream.n_rows)
                bar = stack.enter_context(progress_bar(total, self.title))
                bar.pass_over(self._in_bar(run.n_rows))
                on_rows.append(
                    lambda _: bar.show(self._in_bar(run.n_rows), run.seconds_of, run.path_of)
                )
            with carrying(partial(_so_far, run, header), self.stream):
                if keeper is not None:
                    run.follow(self.stream, on_rows, keeper, reporter)
                    outcome: RunOutcome = keeper.finish()
                else:
                    read = PassChecksums()
                    run.follow(read.noted(self.stream), on_rows)
                    outcome = run.outcome()
                    outcome = replace(outcome, read={**read.sums(), **outcome.read})
                if reporter is not None:
                    reporter.finish(outcome, run.n_rows)
        return outcome

    def _in_bar(self, n_rows: int) -> int:
        """Return the place of the progress bar of this process after so many rows.

        Where the number of models changes, it counts each row once for every model that takes it.
        """
        if self.n_tuning is None:
            return n_rows
        return rows_of_models(n_rows, len(self.models), self.n_tuning)

    def _apart(
        self, header: ResultHeader, groups: Sequence[Sequence[Place]], folder: OpenedFolder | None
    ) -> tuple[RunOutcome, list[RunOutcome]]:
        """Evaluate every group of models and folds in a separate worker."""
        places = list(self.models)
        total = None if self.stream.n_rows is None else self.stream.n_rows * len(places)

        def so_far(error: BaseException) -> EvaluationResult | None:
            why = "the evaluation was interrupted"
            if not isinstance(error, KeyboardInterrupt):
                why = f"{type(error).__name__} ended the evaluation"
            return result_so_far(header, workers.finished, places, why)

        with (
            stop_file() as stop,
            bar_of_workers(total, self.title, self.progress, len(groups), folder) as reporters,
        ):
            jobs = [
                Job(
                    self.new_run,
                    {place: self.models[place] for place in group},
                    self.stream,
                    number,
                    reporters[number],
                    None if folder is None else folder.group(number),
                    stop,
                )
                for number, group in enumerate(groups)
            ]
            workers = Workers(jobs, self.n_jobs, self.retries, header.survives, self._sent())
            with carrying(so_far, self.stream, _advice(folder)):
                if folder is not None:
                    workers.take_finished(folder.finished())
                with stop.made_by_interrupt():
                    workers.run()
                if any(one.interrupted for one in workers.finished):
                    raise KeyboardInterrupt
                broken = [one for one in workers.finished if one.error is not None]
                if broken:
                    assert broken[0].error is not None
                    raise broken[0].error from broken[0].cause
                outcome = joined(workers.finished, workers.dead, places)
                for job in jobs if folder is not None else ():
                    job.finish(partial(joined, workers.finished, workers.dead))
        return outcome, workers.finished


def _so_far(run: Any, header: ResultHeader, _: BaseException) -> EvaluationResult | None:
    """Return the result of a run so far; None before the first row."""
    if not run.n_rows:
        return None
    try:
        outcome = run.outcome()  # a failure may leave out all rows
        return assemble(header, outcome, so_far=True) if outcome.n_rows else None
    except Exception:  # of a function of the user, a measure that fails again
        kept = run.leave_out_functions()
        return assemble(kept.header, run.outcome(), so_far=True) if kept else None


def _advice(folder: OpenedFolder | None) -> str:
    """Say how rows that workers have done are not lost."""
    if folder is not None:
        return f" The same call goes on from the checkpoints in {folder.path}."
    return (
        " Workers had not scored anything yet, or could not say so within a second, or had not "
        "finished; with checkpoint=, the same call goes on from the rows that they have done."
    )


@contextmanager
def carrying(
    so_far: Callable[[BaseException], Any], stream: Stream, advice: str = ""
) -> Iterator[None]:
    """Add the result so far, if there is one, to what ends the evaluation in the block.

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
                error.add(stream.about_missing_label(error.row))
        with suppress(Exception):
            result = so_far(error)
            error.result = result  # type: ignore[union-attr]
            if result is not None and not isinstance(error, ModelError):
                error.add_note("The result so far is in the attribute 'result' of this error.")
        raise
