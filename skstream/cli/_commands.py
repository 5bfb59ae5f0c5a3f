"""The command line: ``skstream demo``, ``evaluate``, ``score``, ``verify`` and others."""

import argparse
import os
import shlex
import sys
from collections.abc import Collection, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, replace
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np
from scipy import sparse

from skstream.cli import _bench
from skstream.cli._arguments import make_parser, reading
from skstream.cli._below import check_comparisons, show_below
from skstream.cli._generators import best_possible
from skstream.cli._models import (
    CLASSIFIER_BASELINES,
    REGRESSOR_BASELINES,
    model_of,
    models_given,
)
from skstream.cli._output import (
    RESULT_FILE,
    check_outputs,
    in_options,
    make_folder,
    metric_of,
    one_line_warnings,
    say,
    show,
    with_command,
    write,
    write_report,
)
from skstream.cli._protocols import (
    Opened,
    check_options,
    make_evaluator,
    monitors_given,
    open_stream,
)
from skstream.cli._score import score
from skstream.core.engine.failures import ModelError, ends_program
from skstream.core.evaluators.evaluator import StreamEvaluator
from skstream.core.evaluators.settings import check_can_answer
from skstream.core.measures.resolve import resolve_metrics
from skstream.core.result.storage import load_result
from skstream.evaluation import (
    DriftMonitor,
    EvaluationInterrupted,
    PrequentialEvaluator,
    detect,
)
from skstream.evaluation import verify as verify_result
from skstream.streams import Drift, Stream, StreamError, label_profile, make_demo_stream
from skstream.streams._files import is_uri
from skstream.streams._open import open_files
from skstream.streams._profile import label_columns, time_features, words_of
from skstream.utils._show_versions import show_versions
from skstream.utils._tables import shown
from skstream.utils._validation import is_regressor

#: A target of more values is hardly a label.
MAX_LABELS = 1000

DEMO_MODELS = (
    *("nb", "corrected('nb')", "augmented('nb')", "sgd", "scaled-sgd"),
    *("tree", "augmented('tree')"),
)
DEMO_FORGETTING = ("cumulative", "window:1000")
#: Inputs of Electricity from which its label is not read off.
FORECAST_INPUTS = ("day", "period", "nswdemand", "vicdemand", "transfer")
DEMO_ROWS = 20_000

#: Page that `report` writes, if no other is named.
PAGE = "report.html"
#: Exit status where `verify` has found a difference.
DIFFERENT = 1
FAILED = 2
INTERRUPTED = 130


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
        say("interrupted; what was not printed or written yet is not there")
        return INTERRUPTED


def _run(options: argparse.Namespace) -> int:
    """Run the command, and say its errors in one line."""
    with one_line_warnings(vars(options)):
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
            say(f"error: {in_options(str(error))}")
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
    metrics: list[str]
    evaluator: StreamEvaluator
    monitors: dict[str, DriftMonitor]


def evaluate(options: argparse.Namespace) -> int:
    """Evaluate the models on a file or a generator, and write what was asked for."""
    check_outputs(options.plot, options.save, options.plot_metric, options.report)
    plan = _planned(options)
    stream = plan.opened.stream
    drawn = metric_of(options.plot_metric, plan.metrics)
    result, status = _evaluated(plan.evaluator, plan.models, stream, traceback=options.traceback)
    if result is not None:
        result = with_command(result, options.words)
        show(f"{_about(plan.opened, plan.classes, options.time)}\n")
        # Why models failed is said once, by the error that ends.
        show(replace(result, failures=dict.fromkeys(result.failures, "the error below says why")))
        found = detect(result, plan.monitors) if plan.monitors else {}
        with ExitStack() as last:  # all are done, the newest first, even if some fail
            last.callback(write_report, result, options.report, detections=found)
            last.callback(write, result, options.plot, None, drawn, detections=found)
            last.callback(write, result, None, options.save)
            compared = show_below(result, options, found)
        if status == 0 and not compared:
            status = FAILED
        if status == 0 and result.failures:
            status = f"error: {_words(result.failures.values(), stream)}"
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
    path = _saved_in(options.result)
    result = load_result(path)
    words = result.details.record.get("command")
    if words is None and not (options.data and options.model):
        raise ValueError(
            f"{path} was not saved by skstream evaluate, and does not say how its rows "
            "were read and which models it is of: add --data FILE, --target COL, and --model "
            "NAME=MODEL for each model to check."
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
    check_outputs(None, None, report=page)
    if options.out is None and page.exists():
        raise FileExistsError(
            f"{page} is there already: name the file to write, --out FILE; it is replaced then."
        )
    path = _saved_in(options.result)
    if _bench.is_bench(path):
        results = sorted((path / _bench.RESULTS).glob("*.npz"))
        raise ValueError(
            f"{path} holds the results of many runs, and a page is about one: name its file"
            + (f", such as {results[0]}." if results else ".")
        )
    write_report(load_result(path), page, title=options.title)
    return 0


def _saved_in(path: Path) -> Path:
    """Return the file of the result in a folder of --save; other paths as they are."""
    saved = path / RESULT_FILE
    return saved if saved.is_file() else path


def bench(options: argparse.Namespace) -> int:
    """Run a suite of models, streams and seeds, or what is left of it."""
    return _bench.bench(options, _planned_of)


def _planned_of(words: Sequence[str]) -> _Planned:
    """Plan the evaluation that the words of a command say."""
    return _planned(make_parser(**_COMMANDS).parse_args(words))


def _planned(options: argparse.Namespace) -> _Planned:
    """Open the stream, make the models and the evaluator, and check that they fit together."""
    _check_repeated("--model", options.model)
    _check_repeated("--forgetting", options.forgetting)
    _check_repeated("--monitor", options.monitor)
    given = models_given(options.model)
    check_options(options)
    opened = open_stream(options, **_reading(options))
    files, stream = opened.files, opened.stream
    if given and files is not None and files.feature_names == []:
        raise ValueError(
            f"{files.files[0]} has no column beside the target {options.target!r}, so that models "
            f"have nothing to learn from. Without --model, the baselines are evaluated."
        )
    target = _target_in_words(options.target)
    models = _with_baselines(models_given(options.model, stream) if given else {}, stream, target)
    if files is None and opened.protocol == "prequential" and options.batch_size == 1:
        models |= best_possible(stream)  # it takes the number of rows learnt as the time
    classes = None if _regression(models) else stream.classes
    if files is not None and classes is not None:
        _check_labels(options, target, classes)
    if opened.holdout is None and stream.n_rows is not None and 0 < stream.n_rows <= options.warmup:
        raise ValueError(
            f"n_warmup={options.warmup} rows are learnt unasked, and there are {stream.n_rows:,}: "
            "no row would be scored. Pass a smaller number."
        )
    if options.warmup == 0:
        check_can_answer({(name, 0): model for name, model in models.items()}, "Pass n_warmup=1.")
    measures = resolve_metrics(options.metric or None, classes=classes)
    check_comparisons(options, list(models), measures)
    return _Planned(
        opened=opened,
        models=models,
        classes=classes,
        metrics=list(measures),
        evaluator=make_evaluator(options, opened),
        monitors=monitors_given(options, classes),
    )


def demo(options: argparse.Namespace) -> int:
    """Compare some models with the baselines; end with a table and a picture."""
    picture = options.out / "demo.png"
    make_folder(options.out, "--out")
    check_outputs(picture, None)
    stream, description = _demo_stream(options.data)
    if stream.classes is None:
        raise ValueError(
            "The target column 'class' holds numbers with fractions, which a regressor predicts, "
            "and the demo compares classifiers. Evaluate regressors: skstream evaluate "
            f"{shlex.quote(description)} --target class --model sgd-regressor."
        )
    show(f"Stream: {description}")
    show(f"Labels: {label_profile(stream).advice}\n")
    evaluator = PrequentialEvaluator(
        forgetting=DEMO_FORGETTING,
        random_state=0,
        progress=sys.stderr.isatty() and find_spec("tqdm") is not None,
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


_COMMANDS = {
    **{"demo": demo, "evaluate": evaluate, "score": score},
    **{
        "verify": verify,
        "report": report,
        "bench": bench,
        "versions": versions,
    },
}


def _evaluated(
    evaluator: StreamEvaluator, models: dict[str, Any], stream: Stream, *, traceback: bool
) -> tuple[Any, int | str]:
    """Return the result, or the result so far; and the exit status, or the error to end with."""
    try:
        return evaluator.evaluate(models, stream), 0
    except EvaluationInterrupted as interrupt:
        goes_on = "" if evaluator.checkpoint is None else "; the same command goes on"
        say(f"interrupted{goes_on}; this is the result so far")
        return interrupt.result, INTERRUPTED
    except (ModelError, StreamError) as error:
        # What fails at its first row has a wrong parameter or the wrong data: nothing is lost.
        result = error.result if error.row else None
        if traceback:
            raise
        words = _words([str(error)], stream)
        if result is None:
            raise ValueError(words) from error
        say("stopped by an error; this is the result so far")
        return result, f"error: {words}"
    except Exception as error:  # such as of a disk that is full
        result = getattr(error, "result", None)
        if traceback or result is None:
            raise
        say("stopped by an error; this is the result so far")
        return result, f"error: {in_options(str(error))}"


def _words(failures: Collection[str], stream: Stream) -> str:
    """Say why models have failed, with the first missing value if that is the reason."""
    gap = _first_gap(stream) if any("NaN" in why for why in failures) else None
    if gap is None:
        return in_options("; ".join(failures))
    # Of long advice about NaN, and about the place of a single one, ours is enough.
    short = [why.partition("\n")[0].partition(" Column ")[0].rstrip(".") for why in failures]
    return f"{in_options('; '.join(short))}. {gap}"


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
    if len(classes) > MAX_LABELS and options.target not in options.nominal:
        all_the_same = (
            ""
            if options.target is None
            else f" If they are labels all the same, pass --nominal {shlex.quote(options.target)}."
        )
        raise ValueError(
            f"{target} holds {len(classes):,} different values, each of which would be a label. "
            f"Numbers are predicted by regressors: --model sgd-regressor.{all_the_same}"
        )
    if len(classes) == 1:
        raise ValueError(
            f"{target} holds one label only, {classes.tolist()[0]!r}: there is nothing to predict."
            + ("" if options.target is None else " Is another column the target (--target)?")
        )


def _with_baselines(models: dict[str, Any], stream: Stream, target: str) -> dict[str, Any]:
    """Models behind the baselines of their kind, which every table shows."""
    fractional = not _regression(models) and stream.classes is None
    if fractional and models:
        wrong = next(name for name, model in models.items() if not is_regressor(model))
        raise ValueError(
            f"{target} holds numbers with fractions, which a regressor "
            f"predicts, and {wrong} is a classifier. Evaluate regressors: --model sgd-regressor, "
            f"or \"pipeline('scaler', 'sgd-regressor')\"."
        )
    regression = fractional or _regression(models)
    names = REGRESSOR_BASELINES if regression else CLASSIFIER_BASELINES
    return {name: model_of(name) for name in names} | models


def _target_in_words(target: str | None) -> str:
    return "The target" if target is None else f"The target column {target!r}"


def _reading(options: argparse.Namespace) -> dict[str, Any]:
    """How the files are to be read, in the words of the streams; None where nothing was said."""
    return {
        **reading(options),
        "exclude": options.exclude or None,
        "columns": options.column or None,
        "text": options.text,
        "missing": options.missing,
        "max_categories": options.max_categories,
    }


def _about(opened: Opened, classes: Any, arrival: str | None) -> str:
    """Say what was read, and as what; `arrival` is the column of --time, if there is one."""
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
    times = time_features(files)
    leak = f"\nCareful. {_of_times(times)}" if len(times) > 1 and arrival is None else ""
    if classes is not None and not any(map(is_uri, opened.names)):
        found = label_columns(opened.stream)
        leak += f"\nCareful. {words_of(found).replace('exclude=', '--exclude')}" if found else ""
    return (
        f"Stream: {order}{shown(names)}\n{holdout}Features: {files.features_in_words()}\n"
        f"Target: {getattr(files, 'target', 'first on each line')} ({labels}){leak}"
    )


def _of_times(times: Sequence[str]) -> str:
    """Say what several columns of times among the features may be."""
    return (
        f"{len(times)} columns of times are features: {shown(list(times))}. Is one of them when "
        "the label became known? A model then reads the label off it. Say what they are, --time "
        "and --label-time, or leave them out with --exclude."
    )


def _drifts_in_words(drifts: Sequence[Drift]) -> str:
    words = [
        f"row {drift.start:,}"
        if drift.start == drift.end
        else f"rows {drift.start:,} to {drift.end:,}"
        for drift in drifts
    ]
    return shown(words) if words else "none known"


def _first_gap(stream: Stream) -> str | None:
    """Say where the first missing feature is, and what can be done; None if there is none."""
    first_row = 0
    for X, y, _ in stream:
        gap = _first_nan(X)
        if gap is not None:
            row, place = first_row + gap[0], gap[1]
            if stream.feature_names is None:
                return f"The first missing value is in row {row}, feature {place} (from 0)."
            column = stream.feature_names[place]
            return (
                f"The first missing value is in row {row}, column {column!r}. Fill gaps, for "
                "example, by --model \"prepared('sgd')\", which also scales numbers and makes "
                "columns of categories; --missing 0 puts 0 in the place of a missing number (and "
                "the code -1 in that of a category); "
                f"--exclude {shlex.quote(column)} leaves the column out."
            )
        first_row += len(y)
    return None


def _first_nan(X: Any) -> tuple[int, int] | None:
    """Row and column of the first NaN in a matrix, which may be sparse; None if there is none."""
    if sparse.issparse(X):
        cells = X.tocoo()
        is_gap = np.isnan(cells.data)
        places: Any = sorted(
            zip(cells.row[is_gap].tolist(), cells.col[is_gap].tolist(), strict=True)
        )
    else:
        places = np.argwhere(np.isnan(X)).tolist()
    return (places[0][0], places[0][1]) if places else None


def _demo_stream(path: str | None) -> tuple[Stream, str]:
    """Return the file given, else the generated stream; and say which it is."""
    if path is not None:
        stream = open_files([path], "class")
        if not set(FORECAST_INPUTS) < set(stream.feature_names or ()):
            return stream, path
        # Electricity: of its other columns, a price gives the label.
        return open_files([path], "class", columns=list(FORECAST_INPUTS)), (
            f"{path}, the five inputs of the literature ({', '.join(FORECAST_INPUTS)})"
        )
    return make_demo_stream(DEMO_ROWS), (
        f"generated, {DEMO_ROWS:,} rows with temporal dependence and a drift (name a file with "
        "--data)"
    )


def _check_repeated(option: str, given: list[str]) -> None:
    for value in given:
        if given.count(value) > 1:
            raise ValueError(f"{option} {shlex.quote(value)} was given twice.")
