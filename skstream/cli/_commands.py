"""The command line: skstream demo, evaluate, score, verify and others."""

import argparse
import os
import shlex
import sys
from collections.abc import Sequence
from contextlib import ExitStack, suppress
from dataclasses import dataclass, replace
from inspect import signature
from itertools import chain
from pathlib import Path
from typing import Any

import numpy as np

from skstream._load import load_result
from skstream.cli import _bench
from skstream.cli._against import against
from skstream.cli._arguments import make_parser
from skstream.cli._bench import DIFFERENT, FAILED, INTERRUPTED
from skstream.cli._from_text import (
    CLASSIFIER_BASELINES,
    REGRESSOR_BASELINES,
    best_possible,
    model_of,
    models_given,
)
from skstream.cli._output import (
    check_comparisons,
    check_outputs,
    draw,
    in_options,
    make_folder,
    of_rare_labels,
    one_line_warnings,
    say,
    show,
    show_below,
    with_command,
    write,
    write_report,
)
from skstream.cli._protocols import (
    Opened,
    check_options,
    check_parameters,
    make_evaluator,
    monitors_given,
    open_stream,
    shows_progress,
)
from skstream.cli._suite import RESULTS
from skstream.core.engine.answers import ModelError, ends_program
from skstream.core.evaluators.evaluator import StreamEvaluator
from skstream.core.evaluators.settings import run_options
from skstream.core.measures.registry import resolve_metrics
from skstream.evaluation import (
    DriftMonitor,
    EvaluationInterrupted,
    EvaluationResult,
    PredictionLog,
    PrequentialEvaluator,
    detect,
    score_slices,
)
from skstream.evaluation import verify as verify_result
from skstream.logs._slices import SliceScores
from skstream.reports._show_versions import show_versions
from skstream.streams import Drift, Stream, StreamError, label_profile, make_demo_stream
from skstream.streams._files import is_uri
from skstream.streams._profile import doubtful_features, label_columns, words_of
from skstream.utils._tables import filled, shown
from skstream.utils._validation import is_regressor

#: Parameters of a log that options of their own give.
_BY_OPTIONS = {
    *("self", "source", "target", "predictions", "probabilities", "arrival", "label_time"),
    *("options", "metrics", "forgetting", "record_every"),
}


def score(options: argparse.Namespace) -> int:
    """Score the predictions of a log, and write what was asked for."""
    check_outputs(options.plot, options.save, options.report)
    given = dict(options.set)
    names = [*signature(PredictionLog).parameters, *signature(PredictionLog.score).parameters]
    check_parameters(given, "PredictionLog", set(names) - _BY_OPTIONS)
    of_score = {n: given.pop(n) for n in ("view", "unanswered", "keep_tape") if n in given}
    shares = _by_model("--probabilities", options.probabilities)
    log = PredictionLog(
        options.file[0] if len(options.file) == 1 else options.file,
        target=options.target,
        predictions=_by_model("--predictions", options.predictions) or None,
        probabilities={name: _probabilities(one) for name, one in shares.items()} or None,
        arrival=options.time,
        label_time=options.label_time,
        options=dict(options.read),
        **given,
    )
    result = log.score(
        options.metric or None,
        forgetting=options.forgetting or "cumulative",
        record_every=options.every,
        **of_score,
    )
    slices = _slices(log, result, options) if options.slices else None
    skipped: Any = "skip" if "unanswered" in of_score else "error"
    estimates = log.estimate(unanswered=skipped) if options.estimate else None
    show(result)
    show(_about_guesses(result))
    if rare := of_rare_labels(result, options.metric):
        show(rare)
    if not all(isinstance(one, dict) for one in log.probabilities.values()):
        order = ", ".join(map(str, given.get("classes", np.asarray(result.classes).tolist())))
        show(f"Probabilities are read in this order of the classes: {order}.")
    further = [more for more in (slices, estimates) if more is not None]
    for more in further:
        show(f"\n{more}")
    with ExitStack() as last:  # all are done, the newest first, even if some fail
        last.callback(write_report, result, options.report, also=further)
        last.callback(write, result, options.plot, None)
        last.callback(write, result, None, options.save)
    if options.plot is not None:
        if slices is not None:
            draw(slices.plot(result.metric_names[0], kind="bars"), _beside(options.plot, "slices"))
        if estimates is not None:
            draw(estimates.plot(), _beside(options.plot, "estimates"))
    return 0


def _about_guesses(result: EvaluationResult) -> str:
    """Say why the table has no naive guess, and what stands in its place."""
    zeros = [name for name, one in result.measures.items() if one.baseline_is_zero]
    known = f"A naive guess scores 0 in {', '.join(zeros)}" if zeros else "Kappas compare with one"
    return (
        "The table has no naive baselines, since no model is run. "
        f"{known}{'' if zeros else ' (--metric kappa_m, kappa_temporal)'}; skstream evaluate has "
        "baselines in its table, on a file with features."
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


def _by_model(option: str, given: Sequence[str]) -> dict[str, str]:
    """Columns by model: NAME=COLUMN, or the column alone."""
    found: dict[str, str] = {}
    for text in given:
        name, equals, columns = text.partition("=")
        name, columns = (name, columns) if equals and name and columns else (text, text)
        if name in found:
            raise ValueError(f"{option} names the model {name!r} twice.")
        found[name] = columns
    return found


def _probabilities(columns: str) -> Any:
    """Columns of probabilities: COLUMN, COLUMN,COLUMN or CLASS:COLUMN,CLASS:COLUMN."""
    parts = columns.split(",")
    labels = [part.partition(":")[::2] for part in parts]
    if all(column for _, column in labels):
        return dict(labels)
    return parts[0] if len(parts) == 1 else parts


#: A target of more values is hardly a label, and one of so many numbers may not be one.
MAX_LABELS, MANY_LABELS = 1000, 30

DEMO_MODELS = (
    *("nb", "corrected('nb')", "augmented('nb')", "sgd", "scaled-sgd"),
    *("tree", "augmented('tree')"),
)
DEMO_FORGETTING = ("cumulative", "window:1000")
DEMO_ROWS = 20_000

#: Page that `report` writes, if no other is named.
PAGE = "report.html"


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command line.

    Parameters
    ----------
    arguments : sequence of str, default=None
        Words after the name of the program; None: those the process was started with.

    Returns
    -------
    status : int
        0, or 2 after an error, or 130 after Ctrl-C.

    Examples
    --------
    >>> from skstream.cli import main
    >>> main(["evaluate", "stream.txt", "--target", "class"])
    2
    """
    try:
        options = make_parser(**_COMMANDS).parse_args(arguments)
        options.words = list(sys.argv[1:] if arguments is None else arguments)
        return _run(options)
    except KeyboardInterrupt:  # beyond the evaluation itself, which gives the result so far
        say("interrupted; anything not printed or written yet is missing")
        return INTERRUPTED


def _run(options: argparse.Namespace) -> int:
    """Run the command, and say its errors in one line."""
    with one_line_warnings():
        try:
            status = int(options.run(options))
            sys.stdout.flush()
            return status
        except BrokenPipeError:
            # What reads the output, as `head` does, has closed it. Python must not try again.
            os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
            return FAILED
        except (ValueError, TypeError, OSError, ImportError, RuntimeError) as error:
            if options.traceback:
                raise
            say(f"error: {error}")
            return FAILED
        except SystemExit as error:
            if ends_program(error):  # a signal, such as SIGTERM
                raise
            say(f"error: the code of a model ended the program (exit status {error.code!r})")
            return FAILED


@dataclass(frozen=True, kw_only=True)
class _Planned:
    """What the options of an evaluation say."""

    opened: Opened
    models: dict[str, Any]
    classes: Any
    evaluator: StreamEvaluator
    monitors: dict[str, DriftMonitor]


def evaluate(options: argparse.Namespace) -> int:
    """Evaluate the models on a file or a generator, and write what was asked for."""
    check_outputs(options.plot, options.save, options.report)
    plan = _planned(options)
    stream = plan.opened.stream
    show(f"{_about(plan.opened, plan.classes)}\n")
    sys.stdout.flush()  # what follows may take long
    result, status = _evaluated(plan.evaluator, plan.models, stream, traceback=options.traceback)
    if result is not None:
        result = with_command(result, options.words)
        # Why models failed is said once, by the error that ends.
        show(replace(result, failures=dict.fromkeys(result.failures, "the error below says why")))
        found, compared = detect(result, plan.monitors) if plan.monitors else {}, list[Any]()
        with ExitStack() as last:  # all are done, the newest first, even if some fail
            last.callback(write_report, result, options.report, detections=found, also=compared)
            last.callback(write, result, options.plot, None, detections=found)
            last.callback(write, result, None, options.save)
            whole = show_below(result, options, found, compared)
        if status == 0 and not whole:
            status = FAILED
        if status == 0 and result.failures:
            status = f"error: {'; '.join(result.failures.values())}"
        if status == 0 and result._why_nothing_scored():
            return FAILED  # a warning has said why
    return _ended(status)


def verify(options: argparse.Namespace) -> int:
    """Run the evaluation of a saved result, or of all of a benchmark, and say what differs."""
    if _bench.is_bench(options.result):
        given = vars(options)
        return _bench.verify_bench(
            options.result, lambda path: verify(argparse.Namespace(**given | {"result": path}))
        )
    path = options.result
    result = load_result(path)
    words = result.details.record.get("command")
    if words is None and not (options.data and options.model):
        raise ValueError(
            f"{path} was not saved by skstream evaluate, and does not record how its rows were "
            "read and which models it has: add --data FILE, --target COL, and --model NAME=MODEL "
            "for each model to check."
        )
    if words is None:
        words = ["evaluate", *options.data]
    then = make_parser(**_COMMANDS).parse_args(words)
    foreign = [model for model in then.model if ":" in model]
    if foreign and not options.model:
        raise ValueError(
            f"{path} names the model {foreign[0]}, and naming a module runs its code: if "
            "you trust it, repeat all models of the result, "
            f"{' '.join(f'--model {shlex.quote(model)}' for model in then.model)}."
        )
    then.file, then.model = options.data or then.file, options.model or then.model
    then.target = options.target or then.target
    then.checkpoint = then.n_jobs = None
    plan = _planned(then)
    by_command = "command" in result.details.record
    given = plan.models if by_command else models_given(options.model, plan.opened.stream)
    evaluator = plan.evaluator if by_command else None
    found = verify_result(result, given, plan.opened.stream, evaluator=evaluator)
    show(found)
    return 0 if found.identical else DIFFERENT


def report(options: argparse.Namespace) -> int:
    """Write a saved result as a page."""
    page = options.out or Path(PAGE)
    check_outputs(None, None, page)
    if options.out is None and page.exists():
        raise FileExistsError(
            f"{page} already exists: name the file to write, --out FILE; it is then replaced."
        )
    if _bench.is_bench(options.result):
        results = sorted((options.result / RESULTS).glob("*.npz"))
        raise ValueError(
            f"{options.result} contains the results of many runs, but a page is about one: name "
            "its file" + (f", such as {results[0]}." if results else ".")
        )
    write_report(load_result(options.result), page)
    return 0


def bench(options: argparse.Namespace) -> int:
    """Run a suite of models, streams and seeds, or what is left of it."""
    if options.against is not None:
        return against(options, _planned_of)
    if options.model or options.stream:
        raise ValueError("--model and --stream are for --against RECORD; a suite names its own.")
    return _bench.bench(options, _planned_of)


def _planned_of(words: Sequence[str]) -> _Planned:
    """Plan the evaluation that the words of a command say."""
    return _planned(make_parser(**_COMMANDS).parse_args(words))


def _planned(options: argparse.Namespace) -> _Planned:
    """Open the stream, make the models and the evaluator, and check that they fit together."""
    for name in ("model", "forgetting", "monitor"):
        for value in (given := getattr(options, name)):
            if given.count(value) > 1:
                raise ValueError(f"--{name} {shlex.quote(value)} was given twice.")
    given = models_given(options.model)
    check_options(options)
    opened = open_stream(options, **dict(options.read), exclude=options.exclude or None)
    files, stream = opened.files, opened.stream
    if given and files is not None and files.feature_names == []:
        raise ValueError(
            f"{files.files[0]} has no column besides the target {options.target!r}, so models "
            f"have nothing to learn from. Without --model, the baselines are evaluated."
        )
    target = _target_in_words(options.target)
    models = _with_baselines(models_given(options.model, stream) if given else {}, stream, target)
    in_turn = opened.protocol == "prequential" and dict(options.set).get("batch_size", 1) == 1
    if files is None and in_turn:
        models |= best_possible(stream)  # it takes the number of rows learnt as the time
    classes = None if _regression(models) else stream.classes
    if files is not None and classes is not None:
        _check_labels(options, target, classes)
    measures = resolve_metrics(options.metric or None, classes=classes)
    check_comparisons(options, list(models), measures)
    return _Planned(
        opened=opened,
        models=models,
        classes=classes,
        evaluator=make_evaluator(options, opened),
        monitors=monitors_given(options, classes),
    )


def demo(options: argparse.Namespace) -> int:
    """Compare some models with the baselines; end with a table and a picture."""
    picture = options.out / "demo.png"
    make_folder(options.out, "--out")
    check_outputs(picture, None)
    stream = make_demo_stream(DEMO_ROWS)
    show(f"Stream: generated, {DEMO_ROWS:,} rows with temporal dependence and a drift")
    show(filled(f"Labels: {label_profile(stream).advice}") + "\n")
    evaluator = PrequentialEvaluator(
        forgetting=DEMO_FORGETTING,
        random_state=0,
        progress=shows_progress(),
    )
    names = (*CLASSIFIER_BASELINES, *DEMO_MODELS)
    models = {name: model_of(name, stream) for name in names}
    result, status = _evaluated(evaluator, models, stream, traceback=options.traceback)
    if result is not None:
        show(result)
        write(result, picture, options.out, metric="accuracy", forgetting=DEMO_FORGETTING[-1])
    return _ended(status)


def versions(options: argparse.Namespace) -> int:
    """Print the versions of all that takes part."""
    show_versions()
    return 0


_COMMANDS = {one.__name__: one for one in (demo, evaluate, score, verify, report, bench, versions)}


def _evaluated(
    evaluator: StreamEvaluator, models: dict[str, Any], stream: Stream, *, traceback: bool
) -> tuple[Any, int | str]:
    """Return the result, or the result so far; and the exit status, or the error to end with."""
    try:
        return evaluator.evaluate(models, stream), 0
    except EvaluationInterrupted as interrupt:
        goes_on = (
            "" if run_options(evaluator.run).checkpoint is None else "; the same command resumes"
        )
        say(f"interrupted{goes_on}; this is the result so far")
        return interrupt.result, INTERRUPTED
    except Exception as error:  # of a model, of the stream, of a disk that is full
        # What fails at its first row has a wrong parameter or the wrong data: nothing is lost.
        is_first = isinstance(error, ModelError | StreamError) and not error.row
        result = None if is_first else getattr(error, "result", None)
        if traceback or result is None:
            raise
        say("stopped by an error; this is the result so far")
        return result, f"error: {error}"


def _ended(status: int | str) -> int:
    """Say an error below the table, where it is not overlooked."""
    if isinstance(status, int):
        return status
    sys.stdout.flush()
    say(status)
    return FAILED


def _regression(models: dict[str, Any]) -> bool:
    return bool(models) and all(is_regressor(model) for model in models.values())


def _check_labels(options: argparse.Namespace, target: str, classes: Any) -> None:
    """Raise an error for a target that is hardly one of labels."""
    if len(classes) > MAX_LABELS and options.target not in dict(options.read).get("nominal", ()):
        raise ValueError(
            f"{target} has {len(classes):,} different values, each of which would be a label. For "
            "numbers, use regressors: --model sgd-regressor. If they are labels, pass --read "
            f"\"nominal=['{options.target}']\"."
        )
    if len(classes) == 1:
        raise ValueError(
            f"{target} has only one label, {classes.tolist()[0]!r}: there is nothing to predict."
            + ("" if options.target is None else " Is another column the target (--target)?")
        )


def _with_baselines(models: dict[str, Any], stream: Stream, target: str) -> dict[str, Any]:
    """Models behind the baselines of their kind, which every table shows."""
    fractional = not _regression(models) and stream.classes is None
    if fractional and models:
        wrong = next(name for name, model in models.items() if not is_regressor(model))
        raise ValueError(
            f"{target} has numbers with fractions, which need a regressor, but {wrong} is a "
            "classifier. Evaluate regressors: --model \"prepared('sgd-regressor')\"."
        )
    regression = fractional or _regression(models)
    names = REGRESSOR_BASELINES if regression else CLASSIFIER_BASELINES
    return {name: model_of(name) for name in names} | models


def _target_in_words(target: str | None) -> str:
    return "The target" if target is None else f"The target column {target!r}"


def _about(opened: Opened, classes: Any) -> str:
    """Say what was read, and as what."""
    files, names = opened.files, [Path(file).name for file in opened.names]
    holdout = f"Holdout: {opened.about}\n" if opened.about else ""
    order = f"{len(names)} files in this order: " if len(names) > 1 else ""
    labels = "numbers" if classes is None else f"labels {shown([str(c) for c in classes])}"
    if files is None:
        stream = opened.stream
        return (
            f"Stream: {opened.names[0]}\n{holdout}Features: {shown(stream.feature_names or [])}\n"
            f"Target: {labels}\nDrifts: {_drifts_in_words(stream.drifts)}"
        )
    said: list[str] = []
    if not any(map(is_uri, opened.names)):
        with suppress(ValueError):  # the evaluation says it, with the result so far
            chunks = iter(opened.stream)  # read once: with sort_by each pass sorts the file
            first = next(chunks)
            seen = chain([first], chunks)
            found = () if classes is None else label_columns(opened.stream, seen)
            said = [words_of(found)] if found else []
            said += doubtful_features(opened.stream, first)
    if classes is not None and len(classes) >= MANY_LABELS and classes.dtype.kind in "iuf":
        said.append(
            f"The target has {len(classes):,} whole numbers as labels. If they are quantities, use "
            "regressors: --model sgd-regressor."
        )
    careful = "".join(filled(f"\nCareful. {in_options(words)}") for words in said)
    features = filled(f"Features: {files.features_in_words()}", indent="  ")
    return (
        f"Stream: {order}{shown(names)}\n{holdout}{features}\n"
        f"Target: {getattr(files, 'target', 'first on each line')} ({labels}){careful}"
    )


def _drifts_in_words(drifts: Sequence[Drift]) -> str:
    words = [
        f"row {drift.start:,}"
        if drift.start == drift.end
        else f"rows {drift.start:,} to {drift.end:,}"
        for drift in drifts
    ]
    return shown(words) if words else "none known"
