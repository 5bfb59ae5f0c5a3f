"""What the command line prints and writes."""

import csv
import os
import re
import sys
import warnings
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import replace
from functools import cache
from inspect import getmembers, isclass, isfunction, signature
from itertools import count, product
from pathlib import Path
from typing import Any

from sklearn.exceptions import FitFailedWarning

from skstream import evaluation, stats, streams
from skstream.cli._arguments import ALL_OPTIONS
from skstream.core.result.select import tidy_columns
from skstream.reports._page import marks_of, page_path
from skstream.utils._choices import did_you_mean
from skstream.utils._optional import optional_import
from skstream.utils._saved import atomic_write

#: Files of the folder given as --save.
RESULT_FILE, SCORES_FILE, CURVE_FILE = "result.npz", "scores.csv", "curve.csv"

#: Columns of the latter; before them are the forgetting and, of labels that come late, the bin.
_OF_A_SCORE = ("model", "metric", "value")

#: All control characters but the tab and the line feed.
_CONTROLS = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f]")
#: Options for parameters that errors name, where they are not called alike.
_OPTIONS = {
    **{"arrival": "time", "columns": "column", "metrics": "metric", "n_warmup": "warmup"},
    **{"n_folds": "folds", "null_values": "null-value"},
    **{"record_every": "every", "sample_weight": "weight"},
}
#: What the library says of durations, roles and dicts, which the command line takes as texts.
_PHRASES = {
    "pass datetimes (of seconds since 1970 np.asarray(seconds, 'datetime64[s]')), say what numbers "
    "in files count": "say what they count",
    "Give a timedelta, or say what a delay of 1 is: unit=timedelta(hours=1)": (
        "Say what a delay of 1 is: --delay-unit 1h"
    ),
    "Pass a timedelta (datetime.timedelta or numpy.timedelta64) as the delay": (
        "Pass a time, such as --delay 1D"
    ),
    "roles=": "a column of times (--time, --label-time, --delay)",
    "{'model': {...}}": "--probabilities NAME=CLASS:COLUMN",
}
#: Values of keep_tape and sort_by, which the command line calls by words.
_TAPE = {"True": "yes", "False": "no"}
_PARAMETER = re.compile(
    r"(?<![\w.(\"'/{-])(?P<name>[a-z_]+)"
    r"(?:=(?!\0)|(?= (?:names the column|goes back|is missing at) ))"
    r"(?P<value>\[.*?\]|'[^']*'|\"[^\"]*\"|\w+)?"
)
#: How files are read, which the library takes as one parameter.
_READING = re.compile(r"options=\{('.*?)\}(?=\W|$)")
_KEY = re.compile(r"'(\w+)': ('.*?'|\[\.\.\.\]|[\w.]+)")
#: A model, a generator or another call, whose parameters are no options; also as it is quoted.
_CALL = re.compile(
    r"[\w.]+\((?:[^()]|\([^()]*\))*\)|(?<!\w)'[\w.=+-]+\([^']*'|(?<!\w)\"[\w.=+-]+\([^\"]*\""
)
#: Options of the command that runs, or else of all commands.
_COMMAND: ContextVar[set[str]] = ContextVar("command", default=ALL_OPTIONS)


def check_outputs(
    picture: Path | None,
    folder: Path | None,
    metric: str | None = None,
    report: Path | None = None,
) -> None:
    """Fail before the evaluation rather than after it; `metric` is to be drawn."""
    if metric is not None and picture is None:
        raise ValueError("--plot-metric says what to draw, and needs --plot FILE.")
    if picture is not None:
        bases = optional_import("matplotlib.backend_bases", "A picture")
        formats = bases.FigureCanvasBase.get_supported_filetypes()
        if picture.suffix[1:].lower() not in formats:
            endings = ", ".join(f".{name}" for name in sorted(formats))
            raise ValueError(
                f"--plot {picture} must be a file whose ending says its format: {endings}."
            )
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
            f"{option} needs the folder {path.parent}, which is not there or is no folder."
        )
    if not os.access(path.parent, os.W_OK):  # a new file takes the place of the old one
        raise PermissionError(f"{option} {path}: the folder {path.parent} is read-only.")


def metric_of(asked: str | None, metrics: Sequence[str], option: str = "--plot-metric") -> str:
    """Name of the measure that an option names: the first, if it names none."""
    if asked and asked not in metrics:
        raise ValueError(
            f"{option} {asked} is not among the measures of this evaluation: "
            f"{', '.join(metrics)}.{did_you_mean(str(asked), metrics)} Others are asked for with "
            "--metric."
        )
    return asked or metrics[0]


def make_folder(folder: Path, option: str) -> None:
    """Make the folder that an option names, if it is not there."""
    _check_folder(folder, option)
    folder.mkdir(parents=True, exist_ok=True)


def _check_folder(folder: Path, option: str) -> None:
    """Fail where a folder of this name cannot be made; it is made when something is written."""
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
def one_line_warnings(command: Iterable[str] = ()) -> Iterator[None]:
    """Show warnings as the program's own words, each text once and without a source line.

    `command` has the options of the command that runs, which all advice is about.
    """
    options = ALL_OPTIONS & {name.replace("_", "-") for name in command} or _COMMAND.get()
    shown: set[str] = set()

    def one_line(message: Warning | str, *_: Any, **__: Any) -> None:
        text = str(message)
        if text not in shown:
            shown.add(text)
            say(f"warning: {in_options(text)}")

    with warnings.catch_warnings():
        warnings.simplefilter("ignore", FitFailedWarning)  # the table says it
        warnings.showwarning = one_line
        token = _COMMAND.set(options)
        try:
            yield
        finally:
            _COMMAND.reset(token)


def show(text: Any) -> None:
    """Print something."""
    print(_without_controls(str(text)))


def say(message: str) -> None:
    """Print a sentence of the program itself."""
    print(_without_controls(f"skstream: {message}"), file=sys.stderr)


def _without_controls(text: str) -> str:
    """Escape control characters, with which a name in a file could move a terminal's cursor."""
    return _CONTROLS.sub(lambda found: ascii(found[0])[1:-1], text)


def in_options(message: str) -> str:
    """Let an error name options instead of parameters.

    Parameters
    ----------
    message : str
        Message of an error, in which parameters are followed by "=".

    Returns
    -------
    str
        The same, with the options of the command line. Advice to pass a parameter for which there
        is no option is left out.

    Examples
    --------
    >>> from skstream.cli._output import in_options
    >>> in_options("Leave it out with exclude=, or pass missing_labels='skip'.")
    "Leave it out with --exclude, or pass --missing-labels 'skip'."
    """
    message = message.replace(", or pass options={'filesystem': ...} and the plain path", "")
    message = _READING.sub(_as_parameters, message)
    if "no-header" in _COMMAND.get():
        message = re.sub("header=False|the option header", "--no-header", message)
    for text, ours in _PHRASES.items():
        message = message.replace(text, ours)
    message = re.sub(r"time_format=\{'(\w+)': '(.*?)'\}", r"--time-format '\1=\2'", message)
    calls, places = _CALL.findall(message), count()
    message = _CALL.sub(lambda _: f"\0{next(places)}\0", message)
    message = _PARAMETER.sub(_option, message)
    parameter, clause = _python_advice()
    first, *others = (clause.sub("", one) for one in re.split(r"(?<=[.!?])(?=\s+[A-Z])", message))
    message = "".join([first, *(one for one in others if not parameter.search(one))])
    return re.sub("\0(\\d+)\0", lambda found: calls[int(found[1])], message)


@cache
def _python_advice() -> tuple[re.Pattern[str], re.Pattern[str]]:
    """Find a parameter of the library that is no option, and the clause that advises it."""
    public = [vars(p)[name] for p in (evaluation, stats, streams) for name in p.__all__]
    methods = [one for kind in public if isclass(kind) for _, one in getmembers(kind, isfunction)]
    functions = [*filter(isfunction, public), *methods]
    names = {name for one in functions for name in signature(one).parameters if len(name) > 2}
    value = r"(?:\[.*?\]|'[^']*'|\"[^\"]*\"|\w+(?:\.\w+)*)?"
    parameter = rf"(?<![\w.(\"'/{{-])(?:{'|'.join(sorted(names))})={value}"
    clause = rf"(?:,? or|[,;:]) (?:[^,;:]*? )?{parameter}[^,;:]*?(?=[.]?$|[,;:])"
    return re.compile(parameter), re.compile(clause)


def _as_parameters(found: re.Match[str]) -> str:
    pairs = _KEY.findall(found[1])
    return " and ".join(f"{name}={'' if '...' in value else value}" for name, value in pairs)


def _option(found: re.Match[str]) -> str:
    name, value = found["name"], found["value"]
    option = _OPTIONS.get(name, name.replace("_", "-"))
    if option not in _COMMAND.get():
        return found[0]
    if name in ("keep_tape", "sort_by"):
        value = _TAPE.get(value, value)
    return f"--{option}" if value is None else f"--{option} {value.strip('[]').replace(', ', ' ')}"
