"""Execution of a search: all candidates along the tuning rows, the best one along the rest."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np
from joblib import effective_n_jobs

from skstream.base import check_labels, check_rows, check_some_weight, check_targets, check_weight
from skstream.evaluation._execution import EvaluationInterrupted
from skstream.evaluation._folder import GroupFolder, RunFolder, fingerprint, opened
from skstream.evaluation._results._result import assemble
from skstream.evaluation._runs._checkpoint import KeptRun
from skstream.evaluation._runs._run_outcome import Checksums
from skstream.model_selection._race import RaceOptions
from skstream.model_selection._search_plan import Plan, evaluator_of
from skstream.model_selection._search_run import SearchRun, all_failed
from skstream.streams import Stream, as_stream, take_rows
from skstream.streams._arrays import begins_again, refuse_chunks
from skstream.streams._stream import refuse_endless
from skstream.utils._validation import is_regressor


def stream_of(search: Any, X: Any, y: Any, sample_weight: Any) -> Stream:
    """Return what `fit` is given as a stream."""
    if y is not None and isinstance(X, Stream):
        raise ValueError(
            f"X is a {type(X).__name__}, which brings its own labels, and y was given too. "
            "Leave y out."
        )
    if y is not None or hasattr(X, "shape"):
        refuse_chunks(X, "y")
        X, y = checked_rows(search, X, y, reset=True)
        weight = check_weight(sample_weight, len(y))
        check_some_weight(weight)
        return as_stream(X, y, sample_weight=weight)
    stream = as_stream(X, sample_weight=sample_weight)
    refuse_endless(stream)
    in_workers = RaceOptions.of(search.race).kind is None and effective_n_jobs(search.n_jobs) > 1
    if in_workers and not begins_again(stream):
        raise ValueError(
            f"n_jobs={search.n_jobs} needs a stream that can be read again, by every worker, and "
            "this one is a one-shot iterator. Pass the generator function itself instead of "
            "its result, a list of chunks, or files; or n_jobs=None."
        )
    return stream


def checked_rows(search: Any, X: Any, y: Any, *, reset: bool) -> tuple[Any, Any]:
    """Check rows as scikit-learn's estimators do; values may be missing."""
    X = check_rows(search, X, reset=reset, texts=True)
    if y is not None and (search.missing_labels == "skip" or _has_none(y)):
        return X, y  # the run names the row, where that is an error
    return X, (check_targets if is_regressor(search.estimator) else check_labels)(search, y)


def _has_none(y: Any) -> bool:
    """Whether a label is missing, which would be compared with texts in vain."""
    values = np.asarray(y)
    return values.dtype == object and any(one is None for one in values.ravel().tolist())


#: What is said where Ctrl-C comes while workers run the candidates.
_LOST = (
    " The search keeps nothing of what its workers did: fit begins anew. With n_jobs=None it keeps "
    "all, and partial_fit goes on; with checkpoint=FOLDER the same call of fit goes on."
)
#: Parameters that are compared in another form, or on which nothing depends.
_RESOLVED = ("estimator", "param_grid", "n_iter", "metric", "refit")

Keep = Callable[[SearchRun], None]


def too_short(tuning: Any, n_rows: int, kept: str) -> ValueError:
    """Return the error for a stream that ended before the choice."""
    return ValueError(
        f"tuning={tuning!r} rows did not come: the stream ended after {n_rows:,}. {kept}; pass "
        "fewer, or tuning=None for a search without an honest score."
    )


@contextmanager
def folder_of(search: Any, stream: Stream) -> Iterator[RunFolder | None]:
    """Open the folder that keeps the search, if there is one."""
    if search.checkpoint is None:
        yield None
        return
    if search.n_iter is not None and search.random_state is None:
        raise ValueError(
            f"checkpoint= goes on with the same candidates, and n_iter={search.n_iter} draws "
            "others each time where random_state is None. Pass random_state=, a number."
        )
    evaluator_of(search)._check_can_go_on(stream)
    with opened(search.checkpoint, search.checkpoint_every) as folder:
        yield folder


def begin_in(folder: RunFolder, search: Any, plan: Plan, stream: Stream) -> None:
    """Begin a search in a folder, or check that the one in it is the same."""
    candidates = plan.candidates.models(search.estimator)
    of_this = fingerprint(search, candidates, plan.settings, stream, ignored=_RESOLVED)
    if folder.manifest is not None:
        folder.check_same(of_this, plan.settings.header)
        why = folder.manifest.header.parameters.get("in_one_process")
        if why:
            plan.settings.parameters["in_one_process"] = why
        return
    groups = plan.groups(search, stream)
    folder.begin(
        groups,
        list(plan.models),
        plan.settings.header,
        of_this,
        stream.n_rows,
        keeps_runs=True,
        n_tuning=plan.rules.tuning,
        drops=plan.race is not None,
    )


def evaluate(
    search: Any, plan: Plan, stream: Stream, keep: Keep, folder: RunFolder | None = None
) -> None:
    """Run all candidates along the tuning rows of a stream, and the best one along the rest.

    Parameters
    ----------
    search : PrequentialSearch
        The search, for its parameters.
    plan : Plan
        What is to be done.
    stream : Stream
        The rows.
    keep : callable
        Called with the run that the search has from now on, before it goes on.
    folder : RunFolder, default=None
        Where it was begun, and goes on.
    """
    if folder is None:
        groups, first = plan.groups(search, stream), None
    else:
        assert folder.manifest is not None
        groups, first = folder.manifest.groups, folder.group(0)
    if len(groups) == 1:
        _evaluate_in_one(search, plan, stream, keep, group=first)
        return
    goes_on = plan.rules.tuning is not None
    chosen = folder.chosen if folder is not None and goes_on else None
    run = None
    if chosen is None or not chosen.checkpoint.exists():
        run, read = _chosen_by_workers(search, plan, stream, groups, folder)
        keep(run)
        if chosen is not None:
            chosen.save(KeptRun(run, read))
    if goes_on:
        _evaluate_in_one(search, plan, stream, keep, run, chosen)  # after the rows it has read


def _evaluate_in_one(
    search: Any,
    plan: Plan,
    stream: Stream,
    keep: Keep,
    begun: SearchRun | None = None,
    group: GroupFolder | None = None,
) -> None:
    """Go on in this process; the run stays open for further rows."""
    if group is not None and group.is_finished:
        keep(group.load_run(0))
        return

    new_run = plan.new_run() if begun is None else lambda models: begun
    execution = plan.execution(search, new_run, stream, keep)
    with _told(group, ""):
        execution.in_one_pass(plan.settings.header, group)


def _chosen_by_workers(
    search: Any, plan: Plan, stream: Stream, groups: Any, folder: RunFolder | None
) -> tuple[SearchRun, Checksums]:
    """Let workers run the candidates along the tuning rows; return the run of the best.

    Also return checksums of what it has read.
    """
    tuning = plan.rules.tuning
    first = stream if tuning is None else take_rows(stream, tuning)
    execution = plan.execution(search, plan.new_run(in_group=True), first)
    with _told(folder, _LOST):
        tuned, finished = execution.run(plan.settings.header, groups, folder)
    if tuning is not None and tuned.n_rows < tuning:
        error = too_short(
            search.tuning,
            tuned.n_rows,
            "Workers have run the candidates (n_jobs), of which the search keeps none; the scores "
            "so far are in the attribute 'result' of this error",
        )
        error.result = assemble(plan.settings.header, [tuned], so_far=True)  # type: ignore[attr-defined]
        raise error
    best = tuned.lanes[plan.rules.order(tuned.lanes)[0]]
    if best.failure is not None:
        raise all_failed(len(tuned.lanes), best.failure)
    run: SearchRun
    place = best.name, best.fold
    if folder is None:
        run = next(one.run for one in finished if any(lane.name == best.name for lane in one.lanes))
    else:
        number = next(k for k, group in enumerate(groups) if place in group)
        run = folder.group(number).load_run(groups[number].index(place))
    run.leave_group().choose(tuned)
    return run, tuned.read


@contextmanager
def _told(folder: RunFolder | GroupFolder | None, otherwise: str) -> Iterator[None]:
    """Say to whom presses Ctrl-C how the search goes on."""
    try:
        yield
    except EvaluationInterrupted as interrupt:
        note = otherwise
        if folder is not None:
            path = folder.path.parent if isinstance(folder, GroupFolder) else folder.path
            note = f" The same call of fit goes on from the checkpoints in {path}."
        if not note:
            raise
        raise EvaluationInterrupted(interrupt.result, note=note) from interrupt
