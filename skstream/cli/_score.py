"""The command ``skstream score``: predictions in files, scored without a model."""

import argparse
from collections.abc import Sequence
from contextlib import ExitStack, suppress
from pathlib import Path
from typing import Any

import numpy as np

from skstream.cli._arguments import reading
from skstream.cli._output import (
    check_outputs,
    draw,
    in_options,
    metric_of,
    show,
    write,
    write_report,
)
from skstream.evaluation import EvaluationResult, PredictionLog, score_slices
from skstream.logs._estimates import LabelEstimates
from skstream.logs._slices import SliceScores


def score(options: argparse.Namespace) -> int:
    """Score the predictions of a log, and write what was asked for."""
    check_outputs(options.plot, options.save, options.plot_metric, options.report)
    if options.max_wait is not None and not options.estimate:
        raise ValueError("--max-wait is about rows that wait for labels, and needs --estimate.")
    classes = [one for text in options.classes or () for one in text.split(",") if one]
    log = PredictionLog(
        options.file[0] if len(options.file) == 1 else options.file,
        target=options.target,
        predictions=_predictions(options.predictions) or None,
        probabilities=_probabilities(options.probabilities) or None,
        arrival=options.time,
        label_time=options.label_time,
        sample_weight=options.weight,
        options=reading(options),
        classes=classes or None,
        tolerance=options.tolerance,
    )
    result = log.score(
        options.metric or None,
        forgetting=options.forgetting or "cumulative",
        view=options.view,
        unanswered=options.unanswered,
        record_every=options.every,
    )
    drawn = metric_of(options.plot_metric, result.metric_names)
    slices = _slices(log, result, options) if options.slices else None
    estimates = _estimates(log, options) if options.estimate else None
    show(result)
    show(_about_guesses(result))
    if not all(isinstance(one, dict) for one in log.probabilities.values()):
        order = ", ".join(classes or map(str, np.asarray(result.classes).tolist()))
        show(f"Probabilities are read in this order of the classes: {order}.")
    further = [more for more in (slices, estimates) if more is not None]
    for more in further:
        show(f"\n{in_options(str(more))}")
    with ExitStack() as last:  # all are done, the newest first, even if some fail
        last.callback(write_report, result, options.report, also=further)
        last.callback(write, result, options.plot, None, drawn)
        last.callback(write, result, None, options.save)
    if options.plot is not None:
        if slices is not None:
            draw(slices.plot(drawn, kind="bars"), _beside(options.plot, "slices"))
        if estimates is not None:
            draw(estimates.plot(), _beside(options.plot, "estimates"))
    return 0


def _about_guesses(result: EvaluationResult) -> str:
    """Say why the table has no naive guess, and what stands in its place."""
    zeros = [name for name, one in result.measures.items() if one.baseline_is_zero]
    known = f"A naive guess has 0 in {', '.join(zeros)}" if zeros else "Kappas compare with one"
    return (
        f"No naive guess is in the table, since no model is run. {known}"
        f"{'' if zeros else ' (--metric kappa_m, kappa_temporal)'}; skstream evaluate has guesses "
        "in its table, on a file with features."
    )


def _beside(picture: Path, what: str) -> Path:
    return picture.with_name(f"{picture.stem}-{what}{picture.suffix}")


def _slices(
    log: PredictionLog, result: EvaluationResult, options: argparse.Namespace
) -> SliceScores:
    """Scores of groups; over all rows first, which has intervals."""
    groups = {name: log.column(name) for name in options.slices}
    return score_slices(
        result,
        groups if len(groups) > 1 else next(iter(groups.values())),
        metrics=options.metric or None,
        forgetting=["cumulative", *(one for one in options.forgetting if one != "cumulative")],
        record_every=options.every,
    )


def _estimates(log: PredictionLog, options: argparse.Namespace) -> LabelEstimates:
    """Estimates of the rows without labels; `--max-wait` is a number where the times are."""
    max_wait: Any = options.max_wait
    with suppress(TypeError, ValueError):
        max_wait = float(max_wait)
    skipped: Any = "error" if options.unanswered == "error" else "skip"
    return log.estimate(max_wait=max_wait, unanswered=skipped)


def _predictions(given: Sequence[str]) -> dict[str, str]:
    """Columns of predictions by model: NAME=COLUMN, or the column alone."""
    found: dict[str, str] = {}
    for text in given:
        name, column = _named(text)
        _check_new("--predictions", name, found)
        found[name] = column
    return found


def _probabilities(given: Sequence[str]) -> dict[str, Any]:
    """Columns of probabilities by model: NAME=COLUMN,COLUMN or NAME=CLASS:COLUMN,CLASS:COLUMN."""
    found: dict[str, Any] = {}
    for text in given:
        name, columns = _named(text)
        _check_new("--probabilities", name, found)
        parts = columns.split(",")
        labels = [part.partition(":")[::2] for part in parts]
        if all(column for _, column in labels):
            found[name] = dict(labels)
        else:
            found[name] = parts[0] if len(parts) == 1 else parts
    return found


def _named(text: str) -> tuple[str, str]:
    name, equals, columns = text.partition("=")
    return (name, columns) if equals and name and columns else (text, text)


def _check_new(option: str, name: str, found: dict[str, Any]) -> None:
    if name in found:
        raise ValueError(f"{option} names the model {name!r} twice.")
