"""What is evaluated, and how: files or a generator, and the evaluator that the options say."""

import argparse
import math
import os
import sys
from collections.abc import Collection, Mapping
from dataclasses import dataclass
from datetime import timedelta
from importlib.util import find_spec
from inspect import signature
from pathlib import Path
from typing import Any

import numpy as np

from skstream.cli._arguments import EVERY
from skstream.cli._from_text import DETECTOR, DETECTORS, by_name, make_model, make_stream
from skstream.core.evaluators.evaluator import StreamEvaluator
from skstream.core.rows.chunk import Chunk
from skstream.drift._detect import watched
from skstream.evaluation import (
    DelayedEvaluator,
    DriftMonitor,
    HoldoutEvaluator,
    KFoldEvaluator,
    Polling,
    PrequentialEvaluator,
    RunOptions,
)
from skstream.streams import Stream, as_stream, drop_rows, take_rows
from skstream.streams._composition._base import ChangedRows
from skstream.streams._composition._delay import check_delays, late
from skstream.streams._files import FileStream, is_uri
from skstream.streams._open import open_files
from skstream.streams._table import TableStream
from skstream.utils._choices import did_you_mean
from skstream.utils._rows import stack_rows
from skstream.utils._times import parse_duration

NEXT = "next"
#: Options about files.
_OF_FILES = ("file", "target", "exclude", "read", "time", "label_time")
#: Ways to evaluate, of which there is one at a time, by the options that name them.
_PROTOCOLS = {
    "holdout": "predicts held-out rows",
    "folds": "trains copies of each model on different rows",
    "delay": "delays labels",
    "label_time": "delays labels",
}
#: Options that say more about another one.
_NEEDS = {
    "every": ("holdout", "says how often held-out rows are predicted"),
    "delay_unit": ("delay", "sets the unit of delays"),
}


@dataclass(frozen=True)
class Opened:
    """Files that were opened, or a generated stream.

    Attributes
    ----------
    files : FileStream or None
        All of them, the held-out rows included: so their texts have the same codes. None: the
        stream is generated.
    names : list of str
        Those of the stream, or the text that describes the generator.
    stream : Stream
        The rows to learn.
    holdout : tuple (X, y), "next", or None
        The held-out rows; None: none.
    about : str
        The same in words.
    protocol : {"prequential", "holdout", "folds", "delay"}
        The way to evaluate.
    """

    files: FileStream | None
    names: list[str]
    stream: Stream
    holdout: Any = None
    about: str = ""
    protocol: str = "prequential"


class DelaysOfColumn(ChangedRows):
    """Files whose column of label times holds delays: the times from arrival to label.

    Parameters
    ----------
    stream : Stream
        The files.
    unit : timedelta or None
        What a delay of 1 is, where rows arrive at datetimes.
    """

    _own_options = ("unit",)

    def __init__(self, stream: Stream, unit: timedelta | None) -> None:
        super().__init__(stream)
        self.unit = None if unit is None else np.timedelta64(unit, "us")

    def labels(self) -> Any:
        """Labels alone, chunk by chunk."""
        yield from self.parts[0].labels()

    def _changed(self, chunk: Chunk, start: int) -> Chunk:
        delays = chunk.meta["label_time"]
        if delays.dtype.kind == "M":
            raise ValueError(
                "The column of --delay has times, not delays. Name it with --label-time."
            )
        arrival = chunk.meta.get("arrival")
        if self.unit is not None and (arrival is None or arrival.dtype.kind != "M"):
            raise ValueError(
                "--delay-unit is for a --time column with dates. Here a delay is a number of "
                "rows, or in the unit of the numbers of --time."
            )
        check_delays(delays, start)
        return late(chunk, delays, start, self.unit)


def check_options(options: argparse.Namespace) -> None:
    """Raise an error for options that do not go together."""
    if options.generator is not None:
        given = next((name for name in _OF_FILES if getattr(options, name)), None)
        if given is not None:
            raise ValueError(
                f"{_shown(given)} is for files, but --generator makes the rows: leave one of them "
                "out."
            )
    elif not options.file:
        raise ValueError("Pass a FILE to read, or a stream to generate: --generator NSGT.")
    for name, (needed, words) in _NEEDS.items():
        if _given(options, name) and not _given(options, needed):
            raise ValueError(f"{_shown(name)} {words}: add {_shown(needed)}.")
    ways = [name for name in _PROTOCOLS if _given(options, name)]
    if len(ways) > 1:
        one, other = ways[:2]
        more = "" if _PROTOCOLS[one] == _PROTOCOLS[other] else f", and {_shown(other)} "
        more = f"{more}{_PROTOCOLS[other]}" if more else f", and so does {_shown(other)}"
        raise ValueError(f"{_shown(one)} {_PROTOCOLS[one]}{more}: leave one of them out.")
    for name in ("forgetting", "monitor"):
        if _given(options, "holdout") and _given(options, name):
            raise ValueError(
                f"--{name} cannot be combined with --holdout: every set of held-out rows is scored "
                "on its own."
            )


def _given(options: argparse.Namespace, name: str) -> bool:
    return getattr(options, name) not in (None, [])


def _shown(name: str) -> str:
    return "FILE" if name == "file" else f"--{name.replace('_', '-')}"


def open_stream(options: argparse.Namespace, **reading: Any) -> Opened:
    """Open the files, or make the stream of --generator, and read the held-out rows."""
    held, names = options.holdout, [options.generator]
    files: FileStream | None = None
    delays = _column_of_delays(options)
    reading["roles"] = {"arrival": options.time, "label_time": options.label_time or delays}
    reading["roles"] = {key: name for key, name in reading["roles"].items() if name} or None
    if options.generator is None:
        paths = [os.path.expandvars(file) for file in options.file]
        try:
            files = open_files(paths, options.target, **reading)
        except (ValueError, TypeError) as error:
            if delays is None:
                raise
            words = f"--delay {delays} is neither a number nor a duration, such as 7D; so it"
            raise ValueError(str(error).replace("label_time names", f"{words} names")) from error
        names = files.files
    whole: Stream = make_stream(options.generator) if files is None else files
    if delays is not None:
        whole = DelaysOfColumn(whole, _unit_of_delays(options))
    stream = whole if options.n_rows is None else take_rows(whole, options.n_rows)
    if stream.n_rows is None:
        raise ValueError(f"--generator {options.generator} never ends. Limit its rows: --n-rows N.")
    protocol = _protocol(options, stream)
    if held is None or held == NEXT:
        about = "" if held is None else "the next rows"
        return Opened(files, names, stream, held, about, protocol)
    if files is not None and (is_uri(held) or Path(held).exists()):
        apart = open_files([held], options.target, **reading).files
        if set(apart) & set(names):
            raise ValueError(
                f"--holdout {held} is a file of the stream itself. Name another, or a number of "
                "rows: the last ones of the stream."
            )
        if reading.get("sort_by"):
            raise ValueError("sort_by would mix the rows of FILE and --holdout: sort the files.")
        if isinstance(files, TableStream):
            files._say_order()
        first, n_learnt, about = files.n_rows or 0, stream.n_rows, held
        whole = files = open_files([*names, *apart], options.target, **reading | {"sort_by": False})
        stop = files.n_rows or 0
        if first == stop:
            raise ValueError(f"--holdout {held} has no rows: name a file of rows to predict.")
    else:
        n_held, stop = _number(held), stream.n_rows
        first = n_learnt = stop - n_held
        about = f"the last {n_held:,} rows"
        if n_learnt < 1:
            raise ValueError(f"--holdout {held} leaves none of the {stop:,} rows for training.")
    # Rows that are held out need no order.
    plain = whole if files is None else as_stream(lambda: ((X, y) for X, y, _ in whole.chunks()))
    chunks = list(drop_rows(take_rows(plain, stop), first))
    X, y = stack_rows([chunk.X for chunk in chunks]), np.concatenate([chunk.y for chunk in chunks])
    return Opened(files, names, take_rows(whole, n_learnt), (X, y), about, protocol)


def _number(text: str) -> int:
    digits = text.replace(",", "")
    if not digits.isdecimal() or int(digits) < 1:
        raise ValueError(
            f"--holdout {text}: there is no such file, and it is neither a number of rows, at "
            f"least 1, nor '{NEXT}'."
        )
    return int(digits)


def _protocol(options: argparse.Namespace, stream: Stream) -> str:
    """Return the way to evaluate; a generated stream may say itself when its labels come."""
    way = next((name for name in _PROTOCOLS if _given(options, name)), "prequential")
    way = "delay" if way == "label_time" else way
    if options.generator is not None and "label_time" in next(iter(stream)).meta:
        said = "The stream of --generator already has label times"
        if way == "delay":
            raise ValueError(f"{said}, but --delay sets them too: leave one of them out.")
        if way != "prequential":
            raise ValueError(f"{said}, which {_shown(way)} ignores: leave one out.")
        way = "delay"
    if options.bins is not None and way != "delay":
        raise ValueError(
            "--bins divides the time from the arrival of a row to its label: give label times "
            "with --label-time COL or --delay DELAY."
        )
    return way


def _delay(options: argparse.Namespace) -> Any:
    """Delay of all rows: a number or a duration; a text is the name of a column."""
    text = options.delay
    if text is None:
        return None
    try:
        number = float(text.replace(",", ""))
    except ValueError:
        duration = parse_duration(text)
        return text if duration is None else duration
    if not number >= 0:
        raise ValueError(f"--delay {text} is not at least 0: no label comes before its row.")
    return int(number) if number.is_integer() else number


def _column_of_delays(options: argparse.Namespace) -> str | None:
    """Name of the column that holds the delays; None where there is none."""
    delay = _delay(options)
    if not isinstance(delay, str):
        if options.delay_unit is not None:
            raise ValueError(
                f"--delay-unit is for a column of numbers, but --delay is {options.delay}. Give "
                "the delay a unit, such as 1D."
            )
        return None
    if options.generator is not None:
        raise ValueError(
            f"--delay {delay} is neither a number of rows nor a time such as 1D, and a generated "
            "stream has no column of delays."
        )
    return delay


def _unit_of_delays(options: argparse.Namespace) -> timedelta | None:
    text = options.delay_unit
    unit = None if text is None else parse_duration(text)
    if text is not None and not unit:
        raise ValueError(f"--delay-unit {text} is not a duration, such as 1h or 1D.")
    return unit


def make_evaluator(options: argparse.Namespace, opened: Opened) -> StreamEvaluator:
    """Return the evaluator that the options say."""
    given: dict[str, Any] = dict(options.set)
    kind = _EVALUATORS[opened.protocol]
    own: dict[str, Any] = {"forgetting": options.forgetting or "cumulative"}
    if opened.protocol == "holdout":
        own = {"holdout": opened.holdout, "every": options.every or EVERY}
    elif opened.protocol == "folds":
        own["n_folds"] = options.folds
    elif opened.protocol == "delay":
        delay = _delay(options)
        own |= {} if isinstance(delay, str) else {"delay": delay}
        own["polling"] = Polling() if options.bins is None else Polling(n_bins=options.bins)
    common = {
        "n_jobs": options.n_jobs,
        "random_state": 0,
        "error_score": math.nan,
        "progress": shows_progress() if options.progress is None else options.progress,
        # monitors read the tape
        "run": RunOptions(options.checkpoint, keep_tape=True if options.monitor else "auto"),
    }
    # What the evaluator takes in an object is set by its own name.
    inside = {"kernels": "run__kernels"}
    inside |= {} if options.monitor else {"keep_tape": "run__keep_tape"}
    if opened.protocol == "delay":
        inside |= {name: f"polling__{name}" for name in ("poll_every", "reduce", "previous_label")}
    names = set(signature(kind).parameters) - {"metrics", "run", *own} | set(inside)
    check_parameters(given, kind.__name__, names)
    made: StreamEvaluator = kind(options.metric or None, **own, **common)
    made.set_params(**{inside.get(name, name): value for name, value in given.items()})
    return made


def shows_progress() -> bool:
    """Whether a progress bar can be shown, to a reader at a terminal."""
    return sys.stderr.isatty() and find_spec("tqdm") is not None


_EVALUATORS: dict[str, Any] = {
    "prequential": PrequentialEvaluator,
    "holdout": HoldoutEvaluator,
    "folds": KFoldEvaluator,
    "delay": DelayedEvaluator,
}


def check_parameters(given: Mapping[str, Any], of: str, names: Collection[str]) -> None:
    """Raise an error for a parameter of --set that there is not, or that has its own option."""
    for name in given:
        if name not in names:
            raise ValueError(
                f"--set {name}={given[name]}: {of} has no such parameter, or the command has its "
                f"own option for it.{did_you_mean(name, names)} Valid are: "
                f"{', '.join(sorted(names))}."
            )


def monitors_given(options: argparse.Namespace, classes: Any) -> dict[str, DriftMonitor]:
    """Return the monitors of --monitor, checked: each watches the errors of every model."""
    monitors = {
        name: DriftMonitor(make_model(text, DETECTORS, DETECTOR))
        for name, text in by_name("--monitor", options.monitor).items()
    }
    watched(monitors, classes)
    return monitors
