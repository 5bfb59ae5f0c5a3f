"""Files that are written completely or not at all, and objects as data in them.

Fields of objects are JSON, their arrays are next to it in one NPZ file; there are no pickles.
"""

import json
import math
import os
import secrets
import stat
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import MISSING, Field, fields, is_dataclass
from datetime import timedelta
from pathlib import Path
from typing import Any

import numpy as np

FORMAT = 7
#: File of a result in the folder that the option --save of the command line names.
RESULT_FILE = "result.npz"
#: Longest part of a file's name that its temporary file repeats: names have a limit of 255 bytes.
_SHOWN = 32
_MICROSECOND = timedelta(microseconds=1)

Arrays = dict[str, np.ndarray]
#: Metadata of a field of a data class that is left out.
NOT_SAVED = {"is_saved": False}


# -- files


@contextmanager
def atomic_write(path: str | os.PathLike[str]) -> Iterator[Path]:
    """Give a temporary path whose file replaces `path` once the block ends without an error.

    At any moment `path` is either the old file or the complete new file, even if the process is
    killed or the machine loses power. If the block raises an error, the temporary file is removed
    and `path` is as it was. A killed process can leave its temporary file behind: a hidden file in
    the same folder whose name holds ".tmp", which can be deleted.

    Parameters
    ----------
    path : str or path-like
        File to write. A link stays a link: what it points to is replaced. A device or a pipe is
        written to directly.

    Yields
    ------
    temporary : Path
        Path to write to, of an empty file in the same folder, with the suffix of `path`.

    Raises
    ------
    IsADirectoryError
        If `path` is a folder.
    FileNotFoundError
        If the folder of `path` does not exist.

    Examples
    --------
    >>> import tempfile
    >>> from pathlib import Path
    >>> from skstream.utils._saved import atomic_write
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = Path(folder) / "scores.csv"
    ...     with atomic_write(path) as temporary:
    ...         _ = temporary.write_text("model,accuracy")
    ...     path.read_text()
    'model,accuracy'
    """
    target = Path(os.path.realpath(path))
    mode = target.stat().st_mode if target.exists() else None
    if mode is not None and stat.S_ISDIR(mode):
        raise IsADirectoryError(f"{path} is a folder; give the path of a file to write.")
    if mode is not None and not stat.S_ISREG(mode):
        yield target
        return
    if not target.parent.is_dir():
        raise FileNotFoundError(
            f"{path} cannot be written: there is no folder {target.parent}. Create it first."
        )
    temporary = target.with_name(
        f".{target.stem[:_SHOWN]}.{secrets.token_hex(6)}.tmp{target.suffix[:_SHOWN]}"
    )
    # Its permissions are those that the process gives to new files.
    os.close(os.open(temporary, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o666))
    try:
        if mode is not None:
            temporary.chmod(stat.S_IMODE(mode))
        yield temporary
        with temporary.open("rb+") as file:
            os.fsync(file.fileno())
        os.replace(temporary, target)
    except OSError as error:
        if error.errno is None or error.filename is not None:
            raise
        # That of a full disk, say, names no file.
        raise OSError(error.errno, error.strerror or str(error), os.fspath(path)) from error
    finally:
        with suppress(OSError):
            temporary.unlink()
    with suppress(OSError):  # where the system cannot, the file is complete in any case
        descriptor = os.open(target.parent, os.O_RDONLY)
        try:
            os.fsync(descriptor)
        finally:
            os.close(descriptor)


def no_such_file(path: str | os.PathLike[str]) -> FileNotFoundError:
    """Return the error for a file that is not there; names one of the same name with an ending."""
    path = Path(path)
    with suppress(OSError):
        for other in sorted(path.parent.iterdir()):
            if other.stem == path.name and other.is_file():
                return FileNotFoundError(f"There is no file {path}, but there is {other}.")
    return FileNotFoundError(f"There is no file {path}.")


# -- objects as data


def as_data(value: Any, arrays: Arrays, at: str = "") -> Any:
    """Return what JSON can hold of an object; `of_data` makes an equal one of it.

    Parameters
    ----------
    value : object
        A data class, or what Python's containers, numbers and texts are made of. Fields that have
        their default are left out.
    arrays : dict
        Arrays are put in there, by their positions in the object.
    at : str, default=""
        Place of the value in the object.
    """

    def inner(name: object, one: Any) -> Any:
        return as_data(one, arrays, f"{at}/{name}".lstrip("/"))

    if isinstance(value, np.generic):
        value = value.item()
    if isinstance(value, float) and not math.isfinite(value):
        return {"$number": str(value)}  # JSON has no NaN
    if hasattr(value, "__array__"):
        arrays[at] = _plain_array(np.asarray(value))
        return {"$array": at}
    if is_dataclass(value) and not isinstance(value, type):
        given = [(one, getattr(value, one.name)) for one in fields(value)]
        own = {one.name: inner(one.name, its) for one, its in given if not _is_left_out(one, its)}
        return {"$class": type(value).__name__, **own}
    if hasattr(value, "_asdict"):
        return {"$class": type(value).__name__, **value._asdict()}
    if isinstance(value, Mapping):
        pairs = [(inner(k, key), inner(k, one)) for k, (key, one) in enumerate(value.items())]
        if all(isinstance(key, str) and not key.startswith("$") for key in value):
            return dict(pairs)
        return {"$pairs": pairs}
    if isinstance(value, list | tuple):
        listed = [inner(k, one) for k, one in enumerate(value)]
        return listed if isinstance(value, list) else {"$tuple": listed}
    if isinstance(value, timedelta):
        return {"$microseconds": value // _MICROSECOND}
    return value


def _is_left_out(field: Field[Any], value: Any) -> bool:
    if field.default is MISSING or hasattr(value, "__array__"):
        return False
    is_default = type(value) is type(field.default) and value == field.default
    return field.metadata == NOT_SAVED or bool(is_default)


def _plain_array(array: np.ndarray) -> np.ndarray:
    """Return labels that are Python objects as an array that needs no pickle."""
    if not array.dtype.hasobject:
        return array
    values = array.tolist()
    plain = np.array(values)
    if plain.dtype == object:
        raise ValueError(
            f"Labels of type {type(values[0]).__name__} cannot be saved as data; use strings or "
            "numbers as labels."
        )
    lost = [label for label in values if label[-1:] in ("\0", b"\0")]
    if lost:
        raise ValueError(
            f"The label {lost[0]!r} ends in NUL, which would be lost: saved results store labels "
            "as NumPy arrays. Use other labels."
        )
    return plain


# -- files


def save_npz(path: str | Path, value: Any) -> Path:
    """Write an object to one NPZ file, completely or not at all; return its path.

    ``.npz`` is appended where the path has no suffix.
    """
    path = Path(path)
    path = path if path.suffix else path.with_suffix(".npz")
    arrays: Arrays = {}
    data = as_data(value, arrays)
    header = {"format": FORMAT, "parts": sorted(arrays), **data}  # no checksum is of names
    parts: Any = {"header": np.array(json.dumps(header, allow_nan=False)), **arrays}
    with atomic_write(path) as temporary, temporary.open("wb") as file:
        np.savez_compressed(file, **parts)
    return path
