"""What is said below the table: deviations over folds, rows of alarms, and comparisons."""

import argparse
import textwrap
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

from skstream.cli._output import in_options, metric_of, say, show
from skstream.drift._detect import FoundByMonitor, each
from skstream.evaluation import EvaluationResult
from skstream.metrics import Measure
from skstream.reports._answer import answer
from skstream.reports._compare import higher_is_better
from skstream.utils._choices import did_you_mean
from skstream.utils._tables import aligned, listed

ALPHA = 0.05
_WIDTH = 88
#: Most rows of alarms that are named.
_MOST_ROWS = 10
#: What is said where the same folds are ranked and tested pair by pair.
_OF_TWO_TESTS = (
    "The average ranks above use less of the scores than these tests of pairs (Wilcoxon's), and "
    "may not tell apart models that these do: quote the one that you planned."
)


def check_comparisons(
    options: argparse.Namespace, models: Sequence[str], measures: Mapping[str, Measure]
) -> None:
    """Raise an error for comparisons that cannot be made, before the evaluation."""
    for name in options.compare or ():
        if name not in models:
            raise ValueError(
                f"--compare names the model {name!r}, which is not evaluated."
                f"{did_you_mean(name, models)} Models: {', '.join(models)}."
            )
    if options.compare and options.compare[0] == options.compare[1]:
        raise ValueError(f"--compare names the model {options.compare[0]!r} twice.")
    if options.compare_with_best is not None:
        metric = metric_of(options.compare_with_best, list(measures), "--compare-with-best")
        higher_is_better(metric, measures[metric])
    asked = options.compare or options.compare_with_best is not None
    if asked and options.folds is None and options.keep_tape == "no":
        option = "--compare" if options.compare else "--compare-with-best"
        raise ValueError(
            f"{option} reads the predictions row by row, and --keep-tape no keeps none: leave one "
            "of them out, or compare over --folds."
        )


def show_below(
    result: EvaluationResult, options: argparse.Namespace, detections: FoundByMonitor
) -> bool:
    """Print what was asked for below the table; False if a comparison could not be made."""
    for text in (*_deviations(result), *_alarms(result, detections)):
        show(text)
    asked: list[tuple[str, Callable[[], Any]]] = []
    if result.n_folds > 1:
        asked.append(("ranks over folds", result.rank))
    if options.compare:
        asked.append(("--compare", lambda: _compared(result, *options.compare)))
    if options.compare_with_best is not None:
        metric = metric_of(options.compare_with_best, result.metric_names, "--compare-with-best")
        asked.append(("--compare-with-best", lambda: _best(result, metric)))
    whole = True
    for what, compare in asked:
        try:
            show(f"\n{compare()}")
        except ValueError as error:
            say(f"{what}: {in_options(str(error))}")
            whole = whole and not what.startswith("--")
    return whole


def _deviations(result: EvaluationResult) -> Iterator[str]:
    """Standard deviations over folds, where there are some."""
    if result.n_folds < 2 or not len(result.checkpoints):
        return
    for forgetting in result.forgetting_names:
        rows = []
        for name, by_metric in result.values.items():
            spread = [curve[-1].std(ddof=1) for curve in by_metric[forgetting].values()]
            rows.append([name, *(f"{value:.4f}" for value in spread), ""])
        of = f" ({forgetting})" if len(result.forgetting_names) > 1 else ""
        yield f"\nstandard deviations over {result.n_folds} folds{of}:"
        lines = aligned(["model", *result.metric_names, ""], rows)
        yield "\n".join(line.rstrip() for line in lines)


def _alarms(result: EvaluationResult, detections: FoundByMonitor) -> Iterator[str]:
    """How many alarms each monitor raised, and of one fold at which rows, counted from 0.

    Alarms of naive guesses are only counted where a model is watched, too.
    """
    n_folds = result.n_folds
    for monitor, by_model in detections.items():
        counts: dict[str, int] = {}
        for one in each({monitor: by_model}):
            counts[one.model] = counts.get(one.model, 0) + len(one.alarms)
        shown = [f"{model} {n / n_folds:,.{n_folds > 1:d}f}" for model, n in counts.items()]
        each_fold = ", mean per fold" if n_folds > 1 else ""
        yield f"alarms of {monitor}{each_fold}: {listed(shown, _MOST_ROWS, 'models')}"
    if n_folds > 1:
        return
    unit = "row" if result.bins is None else "labelled row"
    naive = set(result.details.baselines)
    if naive >= set(result.model_names):
        naive = set()
    for found in each(detections):
        n = len(found.alarms)
        if n and found.model not in naive:
            rows = listed([f"{row:,}" for row in found.alarms.tolist()], _MOST_ROWS)
            yield f"{found.monitor} of {found.model}: alarm{'s' * (n > 1)} at {unit} {rows}"


def _compared(result: EvaluationResult, a: str, b: str) -> Any:
    """Compare two models; errors of numbers, which have no bounds, as rows become many.

    Under delayed labels, the answers at arrival are compared, as in `answer`.
    """
    unbounded = result.n_folds == 1 and result.classes is None
    options: Any = {"boundary": "asymptotic"} if unbounded else {}
    return result.compare(a, b, bin=None if result.bins is None else result.bins[0], **options)


def _best(result: EvaluationResult, metric: str) -> str:
    """Say which model has the best score, and from which others it is told apart."""
    found = answer(result.select(metrics=[metric]), ALPHA)
    lines = [found.headline, *found.details, *([_OF_TWO_TESTS] if result.n_folds > 1 else [])]
    return "\n".join(textwrap.fill(line, width=_WIDTH) for line in lines)
