"""What a search has found: a table, `cv_results_`, and intervals of the honest score."""

from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.ma import MaskedArray
from scipy import stats

from skstream.core.measures.rows import ScoredRows
from skstream.core.measures.running import RunningMeasures
from skstream.core.result.assemble import assemble
from skstream.core.result.result import EvaluationResult
from skstream.forgetting import Cumulative
from skstream.metrics import Measure
from skstream.model_selection._candidates import Candidates
from skstream.model_selection._search_run import ALPHA, Interval, SearchRun, last_scores
from skstream.stats._report import plural
from skstream.utils._label_space import LabelSpace, is_given
from skstream.utils._tables import aligned

if TYPE_CHECKING:
    from skstream.model_selection._search import PrequentialSearch


#: Blocks of rows, each of which is left out once.
N_BLOCKS = 20


def jackknife(result: EvaluationResult, metric: str, measure: Measure) -> Interval:
    """Interval from the values of a measure without one block of rows after the other.

    A block is left out of the scores as rows that were not asked: baselines know its labels.
    """
    (name,) = result.model_names
    score = result.scores[name][metric]
    tape = result.tape
    if tape is None:
        return Interval.none("it needs the answers; keep them with run=RunOptions(keep_tape=True)")
    y, answers = np.asarray(tape.y), np.asarray(tape.answers[name][0])
    weight = None if tape.weight is None else np.asarray(tape.weight)
    scored = is_given(y) & is_given(answers)
    if weight is not None:
        scored &= weight > 0
    rows = np.flatnonzero(scored)
    if len(rows) < 2 * N_BLOCKS:
        return Interval.none(f"fewer than {2 * N_BLOCKS} rows were scored after the tuning rows")
    table = np.repeat(answers[np.newaxis], N_BLOCKS, axis=0)
    for line, block in zip(table, np.array_split(rows, N_BLOCKS), strict=True):
        line[block] = LabelSpace(tape.classes).nothing
    scores, method = tape.scores.get(name), tape.methods.get(name)
    if scores is not None:
        scores = np.broadcast_to(np.asarray(scores[0]), (N_BLOCKS, *scores[0].shape))
    running = RunningMeasures(
        {metric: measure},
        {"": Cumulative()},
        classes=tape.classes,
        n_models=N_BLOCKS,
        methods=None if scores is None else [method] * N_BLOCKS,
    )
    running.read(ScoredRows(y, table, weight, scores=scores))
    values = np.asarray(running.final()[""][metric])
    if not (np.isfinite(values).all() and np.isfinite(score)):
        return Interval.none("the measure is undefined without some of the rows")
    spread = float(np.sum((values - values.mean()) ** 2))
    if not spread:
        return Interval.none("all blocks of rows have the same score, which tells no spread")
    error = np.sqrt((N_BLOCKS - 1) / N_BLOCKS * spread)
    half = float(stats.t.ppf(1 - ALPHA / 2, N_BLOCKS - 1) * error)
    low, high = measure.bounds
    return Interval(
        float(max(score - half, low)),
        float(min(score + half, high)),
        f"about {100 * (1 - ALPHA):g} %, from leaving out each of {N_BLOCKS} blocks of rows; "
        "blocks of dependent rows make it too narrow where the dependence is longer than a block",
    )


#: Candidates in the printed table.
_MOST = 5


def cv_results(run: SearchRun, candidates: Candidates) -> dict[str, Any]:
    """Return the columns of `cv_results_`, a line for each candidate."""
    lanes, rules = run.tuning_outcome().lanes, run.rules
    # Any number for what failed, as in scikit-learn; it ranks last all the same.
    failed = run.settings.error_score
    lasts = [
        last_scores(lane) if lane.failure is None else dict.fromkeys(run.settings.metrics, failed)
        for lane in lanes
    ]
    ranks = np.empty(len(lanes), dtype=np.int32)
    ranks[rules.order(lanes)] = np.arange(1, len(lanes) + 1)
    results: dict[str, Any] = {"candidate": np.array(candidates.names, dtype=object)}
    for name in dict.fromkeys(name for one in candidates.params for name in one):
        column = MaskedArray(np.empty(len(lanes), dtype=object), mask=True)
        for number, one in enumerate(candidates.params):
            if name in one:
                column[number] = one[name]
        results[f"param_{name}"] = column
    results["params"] = [dict(one) for one in candidates.params]
    results["mean_test_score"] = np.array([last[rules.metric] for last in lasts])
    results["std_test_score"] = np.full(len(lanes), np.nan)
    results["rank_test_score"] = ranks
    if rules.tie_breaker is not None:
        results[rules.tie_breaker] = np.array([last[rules.tie_breaker] for last in lasts])
    results["seconds"] = np.array([lane.cost.seconds for lane in lanes])
    return results


def honest_interval(run: SearchRun) -> Interval:
    """Return the interval of the honest score: of the rows that came, where it is a mean loss."""
    problem = "" if run.honest_loss is None else run.honest_loss.problem
    if run.honest_loss is not None and not (problem or _why_none(run)):
        return run.honest_loss.interval()
    found = long_run_interval(run)
    if problem:
        why = f"{found.method}; no confidence sequence, because {problem}"
        return found._replace(method=why)
    return found


def _why_none(run: SearchRun) -> str:
    """Say why there is no interval of any kind; empty where there is."""
    if run.has_lost_chosen:
        return "the chosen candidate has failed"
    (name, forgetting) = next(iter(run.settings.forgetting.items()))
    if forgetting != Cumulative():
        return f"under {name} the score is about the newest rows alone"
    return ""


def long_run_interval(run: SearchRun) -> Interval:
    """Return the interval of the score in the long run, by blocks of rows."""
    why = _why_none(run)
    if why:
        return Interval.none(why)
    result, metric = assemble(run.settings.header, run.outcome(), so_far=True), run.rules.metric
    return jackknife(result, metric, run.settings.metrics[metric])


def table(search: "PrequentialSearch") -> str:
    """Return what was found: the best, its scores, and the next calls."""
    run, rules = search.run_, search.run_.rules
    results = search.cv_results_
    best, metric = search.best_index_, rules.metric
    n_rows, score = run.tuning_outcome().n_rows, results["mean_test_score"][best]
    chosen = "so far" if run.tuned is None and rules.tuning else "it was chosen by these"
    lines = [
        f"{type(search).__name__}: the best of {plural(search.n_candidates_, 'candidate')} is",
        f"  {results['candidate'][best]}",
        f"{metric} on the {n_rows:,} tuning rows: {score:.4f} "
        f"({f'undefined: {run.instead} decided' if np.isnan(score) else chosen})",
    ]
    if run.tuned is not None and rules.tuning is not None:
        low, high = search.honest_interval_
        between = "" if np.isnan(low) else f", in [{low:.4f}, {high:.4f}]"
        lines += [
            f"{metric} on the {run.n_honest:,} rows after them: "
            f"{search.honest_score_:.4f}{between}",
            f"  ({search.honest_interval_method_})",
        ]
    elif rules.tuning is None:
        lines.append("There is no honest score: all rows were used to choose (pass tuning=).")
    else:
        when = f"after {rules.tuning:,}{run.at_end_of_batch}"
        lines.append(f"There is no honest score yet: the choice is made {when}.")
    failures = run.failures
    if failures:
        lines.append(f"{plural(len(failures), 'candidate')} failed: {', '.join(failures)}")
    lines += ["", *_best_rows(search, results)]
    why = run.settings.parameters.get("in_one_process")
    if why:
        lines.append(f"All in one process: {why}")
    calls = "cv_results_, best_params_, predict(X), result_.plot(), partial_fit(X, y), save(path)"
    return "\n".join([*lines, "", f"Next: {calls}"])


def _best_rows(search: "PrequentialSearch", results: dict[str, Any]) -> list[str]:
    """Table of the first candidates by rank."""
    metric, tie = search.run_.rules.metric, search.run_.rules.tie_breaker
    header = ["candidate", metric, *([tie] if tie else []), "rows", "seconds"]
    n_rows = search.run_.tuning_outcome().n_rows
    rows = [
        [
            results["candidate"][k],
            f"{results['mean_test_score'][k]:.4f}",
            *([f"{results[tie][k]:.4f}"] if tie else []),
            f"{n_rows:,}",
            f"{results['seconds'][k]:.2f}",
        ]
        for k in np.argsort(results["rank_test_score"])[:_MOST]
    ]
    more = search.n_candidates_ - len(rows)
    return [*aligned(header, rows), *([f"and {more} more"] if more > 0 else [])]
