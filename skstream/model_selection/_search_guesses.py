"""What naive guesses score on the rows of a search."""

from dataclasses import replace
from typing import Any
from warnings import catch_warnings

import numpy as np

from skstream.baselines import MajorityClass, MeanRegressor, Persistent, PersistentRegressor
from skstream.core.evaluators.prequential import PrequentialEvaluator
from skstream.core.evaluators.settings import RunOptions
from skstream.core.run.tape import tape_of
from skstream.logs._slice_rows import Groups
from skstream.model_selection._search_run import SearchRun
from skstream.streams import as_stream
from skstream.utils._labels import LabelSpace


def naive_scores(run: SearchRun) -> dict[str, float]:
    """Return the scores of the naive guesses, which need no more than the labels on the tape."""
    settings, metric, n_chosen = run.settings, run.rules.metric, 0
    outcome = run.tuning_outcome()
    if run.tuned is not None and run.rules.tuning is not None:
        n_chosen, outcome = outcome.n_rows, run.outcome()
    if outcome.labels is None:
        raise AttributeError(
            "The naive guesses are not scored, because no labels were kept: pass "
            "run=RunOptions(keep_tape=True) to the evaluator."
        )
    y, weight, time = map(outcome.labels.get, ("y", "weight", "time"))
    shared = {name: getattr(settings, name) for name in ("forgetting", "n_warmup", "batch_size")}
    evaluator = PrequentialEvaluator(
        {metric: settings.metrics[metric]},
        missing_labels="skip",
        error_score=np.nan,
        run=RunOptions(keep_tape=True),
        **shared,
    )
    guesses: dict[str, Any] = {"persistent": Persistent(), "majority": MajorityClass()}
    if settings.classes is None:
        guesses = {"persistent": PersistentRegressor(), "mean": MeanRegressor()}
    y = LabelSpace(settings.classes).decode(np.asarray(y))
    rows = as_stream(np.zeros((len(y), 1)), y, sample_weight=weight, arrival=time)
    with catch_warnings(action="ignore"):  # the search itself has warned
        result = evaluator.evaluate(guesses, rows, classes=settings.classes)
        if n_chosen:
            groups = Groups([], (np.arange(len(y)) >= n_chosen).astype(np.intp), 0, False)
            result = replace(result, tape=groups.tape(tape_of(result), 1))
            result = result.rescore(evaluator.metrics, forgetting=settings.forgetting)
    return {name: result.scores[name][metric] for name in guesses}


def beside_guesses(run: SearchRun, score: float) -> list[str]:
    """Say what the naive guesses score on the rows of a score, and whether it is no better."""
    try:
        guesses = naive_scores(run)
    except AttributeError as error:
        return [f"  ({error})"]
    if np.isnan(list(guesses.values())).all():  # as all scores of no row
        return []
    sign = 1 if run.rules.lower_is_better else -1
    ranked = sorted(guesses, key=lambda name: np.nan_to_num(sign * guesses[name], nan=np.inf))
    words = ", ".join(f"{name} {guesses[name]:z.4f}" for name in ranked).replace("nan", "undefined")
    lines = [f"  naive guesses on the same rows: {words}"]
    if sign * guesses[ranked[0]] <= sign * score:
        lines.append(f"  It is not better than the naive guess {ranked[0]}.")
    return lines
