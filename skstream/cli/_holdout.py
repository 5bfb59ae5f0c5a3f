"""The files or the generator of an evaluation, and the rows that ``--holdout`` keeps apart."""

import argparse
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from skstream.cli._generators import make_stream
from skstream.streams import Stream, drop_rows, take_rows
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


def open_stream(options: argparse.Namespace, **reading: Any) -> Opened:
    """Open the files, or make the stream of --generator, and read the held-out rows."""
    held, names = options.holdout, [options.generator]
    files: FileStream | None = None
    if options.generator is None:
        files = open_files(options.file, options.target, **reading)
        names = files.files
    whole = make_stream(options.generator) if files is None else files
    stream = whole if options.n_rows is None else take_rows(whole, options.n_rows)
    if stream.n_rows is None:
        raise ValueError(
            f"--generator {options.generator} never ends. Say how many rows to take: --n-rows N."
        )
    if held is None or held == NEXT:
        return Opened(files, names, stream, held, "" if held is None else "the next rows")
    if files is not None and (is_uri(held) or Path(held).exists()):
        apart = open_files([held], options.target, **reading).files
        if set(apart) & set(names):
            raise ValueError(
                f"--holdout {held} is a file of the stream itself. Name another, or a number of "
                "rows: the last ones of the stream."
            )
        first, n_learnt, about = files.n_rows or 0, stream.n_rows, held
        whole = files = open_files([*names, *apart], options.target, **reading)
        stop = files.n_rows or 0
        if first == stop:
            raise ValueError(
                f"--holdout {held} holds no row: name a file of rows to be asked about."
            )
    else:
        n_held, stop = _number(held), stream.n_rows
        first = n_learnt = stop - n_held
        about = f"the last {n_held:,} rows"
        if n_learnt < 1:
            raise ValueError(f"--holdout {held} leaves none of the {stop:,} rows to learn.")
    chunks = list(drop_rows(take_rows(whole, stop), first))
    X, y = stack_rows([chunk.X for chunk in chunks]), np.concatenate([chunk.y for chunk in chunks])
    return Opened(files, names, take_rows(whole, n_learnt), (X, y), about)


def _number(text: str) -> int:
    digits = text.replace(",", "")
    if not digits.isdecimal() or int(digits) < 1:
        raise ValueError(
            f"--holdout {text}: there is no such file, and it is neither a number of rows, at "
            f"least 1, nor '{NEXT}'."
        )
    return int(digits)
