"""Execution of a search: all candidates along the tuning rows, the best one along the rest."""

from collections.abc import Callable
from typing import Any

from skstream.evaluation._execute import EvaluationInterrupted
from skstream.evaluation._outcome import Place
from skstream.evaluation._result import assemble
from skstream.model_selection._search_plan import Plan
from skstream.model_selection._search_run import SearchRun, all_failed
from skstream.streams import Stream
from skstream.streams._open import FirstRows

#: What is said where Ctrl-C comes while workers run the candidates.
_LOST = (
    " The search keeps nothing of what its workers did: fit begins anew. With n_jobs=None it keeps "
    "all, and partial_fit goes on."
)

Keep = Callable[[SearchRun], None]


def too_short(tuning: Any, n_rows: int, kept: str) -> ValueError:
    """Return the error for a stream that ended before the choice."""
    return ValueError(
        f"tuning={tuning!r} rows did not come: the stream ended after {n_rows:,}. {kept}; pass "
        "fewer, or tuning=None for a search without an honest score."
    )


def evaluate(search: Any, plan: Plan, stream: Stream, keep: Keep) -> None:
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
    """
    groups = plan.groups(search, stream)
    if len(groups) == 1:
        _evaluate_in_one(search, plan, stream, keep)
        return
    run = _chosen_by_workers(search, plan, stream, groups)
    keep(run)
    if plan.rules.tuning is not None:
        _evaluate_in_one(search, plan, stream, keep, run)  # after the rows that it has read


def _evaluate_in_one(
    search: Any, plan: Plan, stream: Stream, keep: Keep, begun: SearchRun | None = None
) -> None:
    """Go on in this process; the run stays open for further rows."""

    def begin(models: Any, places: list[Place]) -> SearchRun:
        run: SearchRun = plan.new_run()(models, places) if begun is None else begun
        keep(run)
        return run

    plan.execution(search, begin, stream).outcomes_of_groups([list(plan.models)])


def _chosen_by_workers(search: Any, plan: Plan, stream: Stream, groups: Any) -> SearchRun:
    """Let workers run the candidates along the tuning rows; return the run of the best."""
    tuning = plan.rules.tuning
    first = stream if tuning is None else FirstRows(stream, tuning)
    execution = plan.execution(search, plan.new_run(in_group=True), first)
    try:
        tuned, finished = execution.outcomes_of_groups(groups)
    except EvaluationInterrupted as interrupt:
        raise EvaluationInterrupted(interrupt.result, note=_LOST) from interrupt
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
    run: SearchRun = next(
        outcome.run for outcome in finished if any(lane.name == best.name for lane in outcome.lanes)
    )
    run.leave_group().choose(tuned)
    return run
