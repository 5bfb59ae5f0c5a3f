"""Files of arrays with a JSON header: data, never pickles."""

import json
import math
import zipfile
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

import numpy as np

from skstream.utils._files import atomic_write, no_such_file

#: A file may take so much memory, or so many times its own size, without being asked for.
USUAL_BYTES, USUAL_RATIO = 1 << 30, 100


class _TooLarge(ValueError):
    """The arrays of a file take more memory than is allowed."""


def npz_path(path: str | Path) -> Path:
    """Return the path of a file to be written, with ``.npz`` where it has no suffix."""
    path = Path(path)
    return path if path.suffix else path.with_suffix(".npz")


def write_npz(
    path: Path, header: Mapping[str, Any], arrays: Mapping[str, np.ndarray], *, compress: bool
) -> None:
    """Write arrays and a header to one NPZ file, completely or not at all."""
    save: Any = np.savez_compressed if compress else np.savez
    header = {**header, "parts": sorted(arrays)}  # checksums do not cover their names
    # NumPy before 2.1 has no allow_pickle here, and would write it as one more array.
    pickled = [name for name, array in arrays.items() if array.dtype.hasobject]
    if pickled:
        raise ValueError(f"{path} is written as data, and {pickled[0]} holds Python objects.")
    with atomic_write(path) as temporary, temporary.open("wb") as file:
        save(file, header=np.array(json.dumps(header)), **arrays)


def read_npz(
    path: Path, number: int, what: str, hint: str = "", max_bytes: int | None = None
) -> tuple[dict[str, np.ndarray], dict[str, Any]]:
    """Read the arrays and the header of a file that may be anything.

    Parameters
    ----------
    path : Path
        The file.
    number : int
        The format that is read.
    what : str
        What the file should be, as in "a result saved by skstream".
    hint : str, default=""
        Sentence that ends the error of a file that is something else.
    max_bytes : int, default=None
        Most bytes of memory that its arrays may take. None: the larger one of `USUAL_BYTES` and
        `USUAL_RATIO` times the size of the file.

    Returns
    -------
    arrays : dict of str to ndarray
        The arrays.
    header : dict
        The header.
    """
    if not path.exists():
        raise no_such_file(path)
    try:
        with zipfile.ZipFile(path) as archive:
            n_bytes = sum(part.file_size for part in archive.infolist())
            if max_bytes is None:
                max_bytes = max(USUAL_BYTES, USUAL_RATIO * path.stat().st_size)
            if n_bytes > max_bytes:
                raise _TooLarge(
                    f"{path} takes {n_bytes:,} bytes of memory, more than {max_bytes:,}: a small "
                    "file from elsewhere may have been made to fill the memory. If you trust it, "
                    f"load it with max_bytes={n_bytes}."
                )
            damaged = archive.testzip()  # compares every checksum; reading arrays may not do so
            if damaged is not None:
                raise ValueError(f"the checksum of its part {damaged} is wrong")
            for part in archive.infolist():
                _check_size(archive, part)
        with np.load(path, allow_pickle=False) as file:
            arrays = {name: file[name] for name in file.files}
        if "header" not in arrays:
            raise ValueError("it has no header")
        header = json.loads(str(arrays.pop("header")))
        found = header.get("format") if isinstance(header, dict) else None
        if found is None:
            raise ValueError("its header names no format")
        if found == number and header.pop("parts", None) != sorted(arrays):
            raise ValueError("its parts are not those that its header lists")
    except (FileNotFoundError, PermissionError, MemoryError, _TooLarge):
        raise
    except Exception as error:  # the errors of zipfile and zlib on damaged files are not documented
        # A damaged list of its parts lets zipfile look for them before the beginning of the file.
        is_cut = isinstance(error, OSError | zipfile.BadZipFile)
        why = "its list of parts, at its end, cannot be read" if is_cut else error
        raise ValueError(f"{path} is not {what}, or is damaged: {why}.{hint}") from error
    if found != number:
        if "load_with" in header:  # what is no result says how it is loaded
            raise ValueError(f"{path} is not {what}: load it with {header['load_with']}.")
        raise ValueError(
            f"{path} has {what.split()[1]} format {found}; this version of skstream reads "
            f"{number}. Load it with the version that wrote it."
        )
    return arrays, header


def numbered(parts: Iterable[Mapping[str, np.ndarray]]) -> dict[str, np.ndarray]:
    """Return the arrays of several parts in one dict, their names begun by the number of the part.

    Examples
    --------
    >>> from skstream.utils._npz import by_number, numbered
    >>> numbered([{"a": 1}, {"a": 2}])
    {'0/a': 1, '1/a': 2}
    >>> by_number({"0/a": 1, "1/a": 2}, 2)
    [{'a': 1}, {'a': 2}]
    """
    return {f"{i}/{name}": one for i, arrays in enumerate(parts) for name, one in arrays.items()}


def by_number(arrays: Mapping[str, np.ndarray], n_parts: int) -> list[dict[str, np.ndarray]]:
    """Return the parts again that `numbered` has put together."""
    parts: list[dict[str, np.ndarray]] = [{} for _ in range(n_parts)]
    for name, array in arrays.items():
        number, _, own = name.partition("/")
        parts[int(number)][own] = array
    return parts


def kind_in(path: Path) -> str:
    """Return the kind of object that the header of a file names; nothing where there is none."""
    try:
        with zipfile.ZipFile(path) as archive:
            if archive.getinfo("header.npy").file_size > USUAL_BYTES:
                return ""
        with np.load(path, allow_pickle=False) as file:
            return str(json.loads(str(file["header"]))["kind"])
    except Exception:  # whatever it is: the loader of results says what is wrong with it
        return ""


def _check_size(archive: zipfile.ZipFile, part: zipfile.ZipInfo) -> None:
    """Raise an error if an array says that it is larger than what there is of it."""
    with archive.open(part) as file:
        if np.lib.format.read_magic(file) == (1, 0):
            shape, _, dtype = np.lib.format.read_array_header_1_0(file)
        else:
            shape, _, dtype = np.lib.format.read_array_header_2_0(file)
        if math.prod(shape) * max(1, dtype.itemsize) != part.file_size - file.tell():
            raise ValueError(f"its part {part.filename} does not have the size that it declares")
