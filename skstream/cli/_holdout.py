"""The files or the generator of an evaluation, and the rows that ``--holdout`` keeps apart."""

import argparse
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from skstream.cli._generators import make_stream
from skstream.streams import Stream, take_rows
from skstream.streams._file_stream import FileStream
from skstream.streams._file_system import is_uri
from skstream.streams._open import open_files
from skstream.utils._rows import stack_rows

NEXT = "next"
#: Options about files.
_OF_FILES = (
    *("file", "target", "exclude", "column", "nominal", "numeric", "text", "max_categories"),
    *("delimiter", "decimal", "no_header", "null_value", "not_null", "encoding"),
    "on_bad_line",
)


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
    """

    files: FileStream | None
    names: list[str]
    stream: Stream
    holdout: Any = None
    about: str = ""


def check_options(options: argparse.Namespace) -> None:
    """Raise an error for options that do not go together."""
    if options.generator is not None:
        given = next((name for name in _OF_FILES if getattr(options, name)), None)
        if given is not None:
            shown = "FILE" if given == "file" else f"--{given.replace('_', '-')}"
            raise ValueError(
                f"{shown} is about files, and --generator makes the rows: leave one of them out."
            )
    elif not options.file:
        raise ValueError("Name a FILE to read, or a stream to make: --generator NSGT.")
    if options.holdout is None:
        if options.every is not None:
            raise ValueError("--every says how often held-out rows are asked: add --holdout.")
        return
    for option, given in (
        ("--forgetting", options.forgetting),
        ("--batch-size", options.batch_size > 1),
    ):
        if given:
            raise ValueError(
                f"{option} does not go with --holdout: rows are learnt one by one, and every set "
                "of held-out rows is scored on its own."
            )


def open_apart(options: argparse.Namespace, **reading: Any) -> Opened:
    """Open the files, and read the held-out rows."""
    files = open_files(options.file, options.target, **reading)
    names, text, n_rows = files.files, options.holdout, options.n_rows
    if text is None or text == NEXT:
        stream = files if n_rows is None else take_rows(files, n_rows)
        return Opened(files, names, stream, text, "" if text is None else "the next rows")
    if is_uri(text) or Path(text).exists():
        apart = open_files([text], options.target, **reading).files
        if set(apart) & set(names):
            raise ValueError(
                f"--holdout {text} is a file of the stream itself. Name another, or a number of "
                "rows: the last ones of the stream."
            )
        first, stop, about = _n_rows(files, None), None, text
        files = open_files([*names, *apart], options.target, **reading)
        n_learnt = first if n_rows is None else min(first, n_rows)
    else:
        n_held, stop = _number(text), _n_rows(files, n_rows)
        first = n_learnt = stop - n_held
        about = f"the last {n_held:,} rows"
        if n_learnt < 1:
            raise ValueError(f"--holdout {text} leaves none of the {stop:,} rows to learn.")
    if first == _n_rows(files, stop):
        raise ValueError(f"--holdout {text} holds no row: name a file of rows to be asked about.")
    held_out = rows_between(files, first, stop)
    return Opened(files, names, take_rows(files, n_learnt), held_out, about)


def open_generated(options: argparse.Namespace) -> Opened:
    """Make the stream that --generator describes, and the held-out rows."""
    text, held = options.generator, options.holdout
    stream = make_stream(text)
    if options.n_rows is not None:
        stream = take_rows(stream, options.n_rows)
    n_rows = stream.n_rows
    if n_rows is None:
        raise ValueError(f"--generator {text} never ends. Say how many rows to take: --n-rows N.")
    if held is None or held == NEXT:
        return Opened(None, [text], stream, held, "" if held is None else "the next rows")
    n_held = _number(held)
    if n_held >= n_rows:
        raise ValueError(f"--holdout {held} leaves none of the {n_rows:,} rows to learn.")
    n_learnt = n_rows - n_held
    apart = rows_between(stream, n_learnt, n_rows)
    return Opened(None, [text], take_rows(stream, n_learnt), apart, f"the last {n_held:,} rows")


def rows_between(stream: Stream, first: int, stop: int | None) -> tuple[Any, np.ndarray]:
    """Features and labels of the rows of a stream from one on, up to another; None: to the end."""
    X, y, start = [], [], 0
    for chunk in stream:
        part = slice(max(first - start, 0), None if stop is None else max(stop - start, 0))
        if len(chunk.y[part]):  # an empty part would keep its chunk in memory
            X.append(chunk.X[part])
            y.append(chunk.y[part])
        start += len(chunk.y)
    return stack_rows(X), np.concatenate(y)


def _n_rows(files: FileStream, limit: int | None) -> int:
    n_rows = files.n_rows
    assert n_rows is not None
    return n_rows if limit is None else min(n_rows, limit)


def _number(text: str) -> int:
    digits = text.replace(",", "")
    if not digits.isdecimal() or int(digits) < 1:
        raise ValueError(
            f"--holdout {text}: there is no such file, and it is neither a number of rows, at "
            f"least 1, nor '{NEXT}'."
        )
    return int(digits)
