"""The files of a stream, in their order."""

import os
import re
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

Paths = str | os.PathLike[str] | Sequence[str | os.PathLike[str]]

# Marks of files that programs write beside the data: hidden ones, half-written ones, locks.
_NOT_DATA = (".", "_", "~")


def find_files(path: Paths, suffixes: Iterable[str]) -> list[str]:
    """Absolute paths of the files of a stream, in its order.

    Parameters
    ----------
    path : str, path-like, or list of them
        A file; a folder, whose files come in natural order of their names (part.2 before
        part.10), those that begin with ".", "_" or "~" left out; or files in the order given.
    suffixes : iterable of str
        Endings of the files wanted in a folder.

    Returns
    -------
    list of str
        At least one file.

    Raises
    ------
    FileNotFoundError
        If a file or folder is not there, or a folder holds no such file.
    ValueError
        If the list of files is empty or names one twice, or `path` is a pipe.
    """
    if not isinstance(path, (str, os.PathLike)):
        return _given(path)
    place = Path(os.path.abspath(path))
    if place.is_file():
        return [str(place)]
    if not place.is_dir() and (place.exists() or str(path) == "-"):
        raise ValueError(
            f"{str(path)!r} is no file but a pipe or a device, which can be read only once, and "
            "files are read several times. Write its rows into a file."
        )
    if not place.is_dir():
        raise FileNotFoundError(f"There is no file or folder {str(place)!r}.")
    wanted = tuple(suffixes)
    files = [file.name for file in place.iterdir() if is_data(file.name, wanted) and file.is_file()]
    if not files:
        raise FileNotFoundError(f"The folder {str(place)!r} holds no file *{' or *'.join(wanted)}.")
    return [str(place / name) for name in in_natural_order(files)]


def is_data(name: str, suffixes: tuple[str, ...]) -> bool:
    """Whether a file in a folder is one of the stream, by its name."""
    return name.lower().endswith(suffixes) and not name.startswith(_NOT_DATA)


def in_natural_order(names: Iterable[str]) -> list[str]:
    """Names of files with the numbers in them in the order of their values."""
    return sorted(names, key=natural_order)


def natural_order(name: str) -> tuple[Any, ...]:
    """Key that sorts the numbers in names by their value."""
    # Texts and numbers alternate, so that only values of one type are compared; the name itself
    # decides between "1" and "01".
    pieces = re.split(r"(\d+)", name)
    key = tuple(int(piece) if place % 2 else piece for place, piece in enumerate(pieces))
    return key, name


def _given(paths: Sequence[str | os.PathLike[str]]) -> list[str]:
    files = [os.path.abspath(path) for path in paths]
    if not files:
        raise ValueError("The list of files is empty.")
    for file in files:
        if not os.path.isfile(file):
            raise FileNotFoundError(
                f"There is no file {file!r}. A list names files; a folder is given alone."
            )
        if files.count(file) > 1:
            raise ValueError(f"The list of files names {file!r} twice.")
    return files
