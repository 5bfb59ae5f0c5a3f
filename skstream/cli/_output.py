"""What the command line prints, below the table too, and writes."""

import argparse
import csv
import os
import re
import shlex
import sys
import warnings
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace
from difflib import get_close_matches
from functools import partial
from itertools import product
from pathlib import Path
from typing import Any

from sklearn.exceptions import FitFailedWarning

from skstream.cli._from_text import MODELS, by_name
from skstream.core.engine.answers import ENCODE, FILL_GAPS
from skstream.core.measures.registry import OF_CLASS
from skstream.core.result.select import tidy_columns
from skstream.drift._detect import FoundByMonitor, each
from skstream.evaluation import EvaluationResult
from skstream.metrics import Measure
from skstream.reports._answer import answer
from skstream.reports._compare import higher_is_better
from skstream.reports._page import marks_of, page_path, profile_of
from skstream.streams._open import PARAMETERS_OF_READERS
from skstream.utils._choices import did_you_mean
from skstream.utils._optional import optional_import
from skstream.utils._saved import RESULT_FILE, atomic_write
from skstream.utils._tables import aligned, figure, filled, listed

#: Files of the folder given as --save, besides RESULT_FILE.
SCORES_FILE, CURVE_FILE = "scores.csv", "curve.csv"

#: Columns of the latter; before them are the forgetting and, of labels that come late, the bin.
_OF_A_SCORE = ("model", "metric", "value")

#: Options by the parameters of Python that they give.
_OPTIONS = {
    **{name: f"--read {name}=" for name in PARAMETERS_OF_READERS},
    **{
        name: f"--set {name}="
        for name in (
            *("missing_labels", "unanswered", "n_warmup", "batch_size", "keep_tape", "error_score"),
            *("random_state", "strategy", "classes", "sample_weight", "tolerance", "view"),
        )
    },
    **{
        "roles": "--time or --label-time",
        "arrival": "--time",
        "label_time": "--label-time",
        "delay": "--delay",
    },
    **{"target": "--target", "exclude": "--exclude", "metrics": "--metric"},
    **{"predictions": "--predictions", "probabilities": "--probabilities"},
    **{"n_jobs": "--n-jobs", "n_folds": "--folds"},
}
_NAME = f"({'|'.join(_OPTIONS)})"
_VALUE = r"""(\{[^{}]*\}|\[[^\]]*\]|'[^']*'|"[^"]*"|True|False|\.\.\.)"""
#: What to do where a model refuses gaps or texts; the model stands in the braces.
_WRAP = {
    FILL_GAPS: " To fill gaps first, wrap the model: --model \"prepared('{}')\".",
    ENCODE: ". Without --read text=..., texts are read as categories. Else name the steps: --model "
    "\"pipeline('sklearn.feature_extraction.text:HashingVectorizer', '{}')\".",
}
_FAILED = r"(Model '(.*?)'(?: \(fold \d+\))? failed while.*?)"
#: What messages say in words of Python, as patterns, and how the command line says it.
_IN_OPTIONS: dict[str, str | Callable[[re.Match[str]], str]] = {
    rf"{_FAILED}({'|'.join(map(re.escape, _WRAP))})": lambda found: (
        found[1] + _WRAP[found[3]].format(found[2] if found[2] in MODELS else "sgd")
    ),
    r"run=RunOptions\((\w+=\w+)\)": r"--set \1",
    r"(\w+)= is not a parameter of streams of": lambda found: (
        f"{_OPTIONS.get(found[1], f'--read {found[1]}').rstrip('=')} is not known for"
    ),
    rf"The '{_NAME}' parameter of (?:\w+Evaluator|PredictionLog)": r"\1",
    "predictions or probabilities name": "--predictions or --probabilities name",
    "since arrival was not given": "since --time was not given: add --time COL",
    r"label_time\[(\d+)\] is (\S+), before arrival\[\d+\] =": (
        r"In row \1, the --label-time is \2, before the --time"
    ),
    r"use np.inf \(or NaT\) for never": "leave them empty for never",
    r"a timedelta \(datetime.timedelta or numpy.timedelta64\)": "a duration such as 7D",
    r" \(timedelta\)": "",
    r"(exclude names the column '[^']*,[^']*', .*?)( Did you mean .*?\?)? Columns:": (
        r"\1 Repeat --exclude for each column. Columns:"
    ),
    r"roles=\{'arrival': '(.*?)'\}": r"--time \1",
    r"unit=timedelta\(hours=1\)": "--delay-unit 1h",
    # Keys of options={...}, parameters of which something is said, and those with a value or none.
    rf"()(?:options=)?\{{'{_NAME}': {_VALUE}\}}": lambda found: _as_option(*found.groups("")),
    rf"(?<![\w'\"-]){_NAME}=?(?= (names the column|goes back|is missing|is a |holds |must be ))": (
        lambda found: _OPTIONS[found[1]].rstrip("=")
    ),
    rf"(\(|, |(?<![\w'\"=-]))(?<!--set )(?<!--read ){_NAME}={_VALUE}?(?![\w'\"\[(])": (
        lambda found: found[0] if found[1] and found[3] else _as_option(*found.groups(""))
    ),
}
#: All control characters but the tab and the line feed.
_CONTROLS = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f]")


def check_outputs(picture: Path | None, folder: Path | None, report: Path | None = None) -> None:
    """Fail before the evaluation rather than after it."""
    if picture is not None:
        bases = optional_import("matplotlib.backend_bases", "A picture")
        formats = bases.FigureCanvasBase.get_supported_filetypes()
        if picture.suffix[1:].lower() not in formats:
            endings = ", ".join(f".{name}" for name in sorted(formats))
            raise ValueError(f"--plot {picture} must be a file with one of the endings {endings}.")
        _check_file(picture, "--plot")
    if report is not None:
        _check_file(page_path(report), "The page")
    if folder is not None:
        _check_folder(folder, "--save")


def _check_file(path: Path, option: str) -> None:
    """Fail where a file of this name cannot be written."""
    if path.is_dir():
        raise IsADirectoryError(f"{option} {path} is a folder; name a file in it.")
    if not path.parent.is_dir():
        raise FileNotFoundError(
            f"{option} needs the folder {path.parent}, which does not exist or is not a folder."
        )
    if not os.access(path.parent, os.W_OK):  # a new file takes the place of the old one
        raise PermissionError(f"{option} {path}: the folder {path.parent} is read-only.")


def make_folder(folder: Path, option: str) -> None:
    """Make the folder that an option names, if it is not there."""
    _check_folder(folder, option)
    folder.mkdir(parents=True, exist_ok=True)


def _check_folder(folder: Path, option: str) -> None:
    """Fail where a folder of this name cannot be made; it is made when something is written."""
    if folder.suffix == ".npz":
        raise ValueError(
            f"{option} takes a folder, in which it writes result.npz: {option} {folder.stem}"
        )
    there = next((one for one in (folder, *folder.parents) if os.path.lexists(one)), Path())
    if not there.is_dir():
        raise NotADirectoryError(
            f"{option} needs the folder {folder}, but that, or a part of it, is a file."
        )
    if not os.access(there, os.W_OK):
        raise PermissionError(f"{option} needs the folder {folder}, and {there} is read-only.")


def with_command(result: Any, words: Sequence[str]) -> Any:
    """Note in a result the command that made it, by which it can be verified."""
    record = {**result.details.record, "command": list(words)}
    return replace(result, details=replace(result.details, record=record))


def write(
    result: Any,
    picture: Path | None,
    folder: Path | None,
    metric: str | None = None,
    forgetting: str | None = None,
    detections: Any = None,
) -> None:
    """Write the result and its scores into a folder, and a picture, where they are asked for."""
    if folder is not None:
        make_folder(folder, "--save")
        replaced = [
            name for name in (RESULT_FILE, SCORES_FILE, CURVE_FILE) if (folder / name).exists()
        ]
        print(f"Result: {result.save(folder / RESULT_FILE)}")
        print(f"Scores: {_save_scores(result, folder / SCORES_FILE)}")
        print(f"Scores at the checkpoints: {_save_curve(result, folder / CURVE_FILE)}")
        if replaced:
            say(f"replaced an earlier result in {folder}: {', '.join(replaced)}")
    if picture is not None:
        marked = marks_of(result, detections)
        draw(result.plot(metric, forgetting=forgetting, **marked), picture)


def write_report(result: Any, path: Path | None, **options: Any) -> None:
    """Write the result as a page, where it is asked for."""
    if path is not None:
        print(f"Report: {result.report(path, **options)}")


def draw(display: Any, picture: Path) -> None:
    """Write what a display shows, and close it."""
    try:
        with atomic_write(picture) as temporary:
            display.figure_.savefig(temporary, dpi=150, bbox_inches="tight")
    finally:
        optional_import("matplotlib.pyplot", "A picture").close(display.figure_)
    print(f"Picture: {picture}")


def _save_scores(result: Any, path: Path) -> Path:
    rows: list[list[Any]] = []
    for forgetting, bin in product(result.forgetting_names, result.bins or (None,)):
        for model, scores in result.select(forgetting=forgetting, bins=bin).scores.items():
            place = [forgetting] if bin is None else [forgetting, bin]
            rows += [[*place, model, metric, repr(value)] for metric, value in scores.items()]
    return _save_table(
        path, ["forgetting", *([] if result.bins is None else ["bin"]), *_OF_A_SCORE], rows
    )


def _save_curve(result: Any, path: Path) -> Path:
    """Write the values at all checkpoints; of bins, those at arrival and at the label."""
    if result.bins is not None:
        result = result.select(bins=list(dict.fromkeys((result.bins[0], result.bins[-1]))))
    columns = tidy_columns(result)
    return _save_table(
        path, list(columns), zip(*(column.tolist() for column in columns.values()), strict=True)
    )


def _save_table(path: Path, header: Sequence[str], rows: Iterable[Sequence[Any]]) -> Path:
    with (
        atomic_write(path) as temporary,
        temporary.open("w", newline="", encoding="utf-8") as file,
    ):
        csv.writer(file).writerows([header, *rows])
    return path


@contextmanager
def one_line_warnings() -> Iterator[None]:
    """Show warnings as the program's own words, each text once and without a source line."""
    shown: set[str] = set()

    def one_line(message: Warning | str, *_: Any, **__: Any) -> None:
        text = str(message)
        if text not in shown:
            shown.add(text)
            say(f"warning: {text}")

    with warnings.catch_warnings():
        warnings.simplefilter("ignore", FitFailedWarning)  # the table says it
        warnings.showwarning = one_line
        yield


def show(text: Any) -> None:
    """Print something."""
    print(_without_controls(str(text)))


def say(message: str) -> None:
    """Print a sentence of the program itself."""
    print(_without_controls(f"skstream: {in_options(message)}"), file=sys.stderr)


def in_options(text: str) -> str:
    """Return a message in which options of the command line replace parameters of Python.

    Examples
    --------
    >>> from skstream.cli._output import in_options
    >>> print(in_options("Pass options={'delimiter': ';'}, or leave it out with exclude=['day']."))
    Pass --read "delimiter=';'", or leave it out with --exclude day.
    """
    for pattern, words in _IN_OPTIONS.items():
        text = re.sub(pattern, words, text, flags=re.DOTALL)
    return text


def _as_option(before: str, name: str, value: str) -> str:
    """Write a parameter as an option; one that takes one value at a time is repeated."""
    option = _OPTIONS[name]
    if option.endswith("="):
        value = re.sub("^'([a-z][\\w-]*)'$", r"\1", value.replace('"', "'") or "...")
        command, given = f"{option}{value}".split(" ", 1)
        return f"{before}{command} " + (given if re.fullmatch(r"[\w=-]+", given) else f'"{given}"')
    column = "NAME" if name == "metrics" else "DELAY" if name == "delay" else "COL"
    values = [shlex.quote(one or other) for one, other in re.findall("'(.*?)'|\"(.*?)\"", value)]
    return before + " ".join(f"{option} {one}" for one in values or [column])


def _without_controls(text: str) -> str:
    """Escape control characters, with which a name in a file could move a terminal's cursor."""
    return _CONTROLS.sub(lambda found: ascii(found[0])[1:-1], text)


# -- below the table

ALPHA = 0.05
#: Most rows of alarms that are named.
_MOST_ROWS = 10
#: What is said where the same folds are ranked and tested pair by pair.
_OF_TWO_TESTS = (
    "The average ranks above use less information than these pairwise Wilcoxon tests, and may not "
    "distinguish models that these do: quote the one that you planned."
)


def check_comparisons(
    options: argparse.Namespace, models: Sequence[str], measures: Mapping[str, Measure]
) -> None:
    """Raise an error for comparisons that cannot be made; name their models as the table does."""
    options.compare = [
        [_in_table(one, options, models) for one in pair] for pair in options.compare
    ]
    for a, b in options.compare:
        if a == b:
            raise ValueError(f"--compare names the model {a!r} twice.")
    if options.compare_with_best is not None:
        metric = options.compare_with_best or next(iter(measures))
        if metric not in measures:
            raise ValueError(
                f"--compare-with-best {metric} is not among the measures of this evaluation: "
                f"{', '.join(measures)}.{did_you_mean(metric, measures)} Add others with --metric."
            )
        higher_is_better(metric, measures[metric])


def _in_table(name: str, options: argparse.Namespace, models: Sequence[str]) -> str:
    """Return the name in the table of a model that is named so, or as --model has it."""
    if name in models:
        return name
    typed, plain = by_name("--model", options.model), partial(re.sub, "[\\s'\"]", "")
    found = [one for one in models if plain(name) in (plain(one), plain(typed.get(one, one)))]
    if len(found) != 1:
        near = get_close_matches(name, models, len(models), 0)
        near.sort(key=lambda one: name not in one)
        raise ValueError(
            f"--compare names the model {name!r}, which is not evaluated. Models, the nearest "
            f"first: {', '.join(near)}."
        )
    return found[0]


def show_below(
    result: EvaluationResult,
    options: argparse.Namespace,
    detections: FoundByMonitor,
    compared: list[Any],
) -> bool:
    """Print what was asked for below the table; False if a comparison could not be made.

    Those of --compare are put into `compared`.
    """
    rare = of_rare_labels(result, options.metric)
    for text in (*_deviations(result), *_alarms(result, detections), *([rare] if rare else [])):
        show(text)
    asked: list[tuple[str, Callable[[], Any]]] = []
    if result.n_folds > 1 and not result.failures:
        asked.append(("ranks over folds", result.rank))
    asked += [
        (f"--compare {' '.join(pair)}", partial(_compared, result, *pair))
        for pair in options.compare
    ]
    if options.compare_with_best is not None:
        metric = options.compare_with_best or result.metric_names[0]
        asked.append(("--compare-with-best", lambda: _best(result, metric)))
    whole = True
    for what, compare in asked:
        try:
            found = compare()
            show(f"\n{found}")
            compared += [found] if what.startswith("--compare ") else []
        except ValueError as error:
            say(f"{what}: {error}")
            whole = whole and not what.startswith("--")
    return whole


def of_rare_labels(result: EvaluationResult, measures: Sequence[str]) -> str:
    """Say which measures to add where nearly all labels are the same, if no such one is there."""
    profile = profile_of(result)
    if profile is None or any(name.partition(":")[0] in OF_CLASS for name in measures):
        return ""
    return filled(in_options(profile._of_rare_labels()).strip())


def _deviations(result: EvaluationResult) -> Iterator[str]:
    """Standard deviations over folds, where there are some."""
    if result.n_folds < 2 or not len(result.checkpoints):
        return
    for forgetting in result.forgetting_names:
        rows = []
        for name, by_metric in result.values.items():
            spread = [curve[-1].std(ddof=1) for curve in by_metric[forgetting].values()]
            rows.append([name, *map(figure, spread), ""])
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
    """Compare two models; with delayed labels by the answers at arrival, as in `answer`."""
    return result.compare(a, b, bin=None if result.bins is None else result.bins[0])


def _best(result: EvaluationResult, metric: str) -> str:
    """Say which model has the best score, and from which others it differs significantly."""
    found = answer(result.select(metrics=[metric]), ALPHA)
    lines = [found.headline, *found.details, *([_OF_TWO_TESTS] if result.n_folds > 1 else [])]
    return "\n".join(filled(line, 88) for line in lines)
