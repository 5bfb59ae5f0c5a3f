"""Files that are written completely or not at all, and objects as data in them.

Fields of objects are JSON, their arrays stand beside it in one NPZ file; there are no pickles.
"""

import json
import math
import os
import secrets
import stat
import zipfile
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import MISSING, Field, fields, is_dataclass
from datetime import timedelta
from pathlib import Path
from types import UnionType
from typing import Any, Union, get_args, get_origin, get_type_hints

import numpy as np

FORMAT = 7
#: Longest part of a file's name that its temporary file repeats: names have a limit of 255 bytes.
_SHOWN = 32
#: A file may take so much memory, or so many times its own size, without being asked for.
USUAL_BYTES, USUAL_RATIO = 1 << 30, 100
#: Kinds of NumPy values of numbers, of numbers that count, of labels, and of times.
NUMBERS, COUNTS, LABELS, TIMES = "fiu", "iu", "biufUSM", "fM"
_MICROSECOND = timedelta(microseconds=1)

Arrays = dict[str, np.ndarray]
#: Classes that a file may hold, by their names.
Classes = Mapping[str, Any]
#: Metadata of a field of a data class that is left out.
NOT_SAVED = {"is_saved": False}


class _TooLarge(ValueError):
    """The arrays of a file take more memory than is allowed."""


# -- files


@contextmanager
def atomic_write(path: str | os.PathLike[str], *, flush: bool = True) -> Iterator[Path]:
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
    flush : bool, default=True
        Whether to wait until the file is on the disk. Without, it is complete or not there after
        the process was killed, but a loss of power may cut it.

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
            f"{path} cannot be written: there is no folder {target.parent}. Make it first."
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
        if flush:
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
    if flush:
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
        Arrays are put in there, by their places in the object.
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


def of_data(data: Any, classes: Classes, arrays: Arrays) -> Any:
    """Make the object that `as_data` was given; of other classes than those named none is made."""

    def inner(one: Any) -> Any:
        return of_data(one, classes, arrays)

    if isinstance(data, list):
        return list(map(inner, data))
    if not isinstance(data, dict):
        return data
    match next((key for key in data if key.startswith("$")), ""):
        case "$array":
            return arrays[data["$array"]]
        case "$number":
            return float(data["$number"])
        case "$class":
            if data["$class"] not in classes:
                raise ValueError(f"it holds a {data['$class']}")
            own = {name: inner(one) for name, one in data.items() if name != "$class"}
            return classes[data["$class"]](**own)
        case "$pairs":
            return {inner(key): inner(one) for key, one in data["$pairs"]}
        case "$tuple":
            return tuple(map(inner, data["$tuple"]))
        case "$microseconds":
            return timedelta(microseconds=data["$microseconds"])
    return {key: inner(one) for key, one in data.items()}


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
            f"The label {lost[0]!r} ends in NUL, which the file would not keep: saved results hold "
            "labels as arrays of NumPy. Use other labels."
        )
    return plain


# -- files


def save_npz(path: str | Path, value: Any, *, compress: bool = True) -> Path:
    """Write an object to one NPZ file, completely or not at all; return its path.

    ``.npz`` is appended where the path has no suffix.
    """
    path = Path(path)
    path = path if path.suffix else path.with_suffix(".npz")
    arrays: Arrays = {}
    data = as_data(value, arrays)
    header = {"format": FORMAT, "parts": sorted(arrays), **data}  # no checksum is of names
    save: Any = np.savez_compressed if compress else np.savez
    with atomic_write(path) as temporary, temporary.open("wb") as file:
        save(file, header=np.array(json.dumps(header, allow_nan=False)), **arrays)
    return path


def load_npz(
    path: Path,
    what: str,
    classes: Classes,
    check: Callable[[Any], Any] | None = None,
    *,
    hint: str = "",
    max_bytes: int | None = None,
) -> Any:
    """Make the object that `save_npz` has written to a file, which may be anything.

    Parameters
    ----------
    path : Path
        The file.
    what : str
        What the file should be, as in "a result saved by skstream".
    classes : dict of str to type
        The classes of all that may be in the object; the first ones may be the object.
    check : callable, default=None
        Raises any error where the parts of the object do not fit together.
    hint : str, default=""
        Sentence that ends the error of a file that is something else.
    max_bytes : int, default=None
        Most bytes of memory that its arrays may take. None: the larger one of `USUAL_BYTES` and
        `USUAL_RATIO` times the size of the file.
    """
    arrays, header = _read(path, what, hint, max_bytes)
    try:
        value = of_data(header, classes, arrays)
        check_types(value)
        if check is not None:
            check(value)
        return value
    except MemoryError:
        raise
    except Exception as error:  # wrong values can end in any error
        why = f"its parts do not fit together ({error})"
        if isinstance(error, KeyError):
            why = f"its part {error} is missing"
        raise ValueError(f"{path} is not {what}: {why}.") from error


def _read(path: Path, what: str, hint: str, max_bytes: int | None) -> tuple[Arrays, dict[str, Any]]:
    """Read the arrays and the header of a file that may be anything."""
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
        found = header.pop("format", None) if isinstance(header, dict) else None
        if found is None:
            raise ValueError("its header names no format")
        if found == FORMAT and header.pop("parts", None) != sorted(arrays):
            raise ValueError("its parts are not those that its header lists")
    except (FileNotFoundError, PermissionError, MemoryError, _TooLarge):
        raise
    except Exception as error:  # the errors of zipfile and zlib on damaged files are not documented
        # A damaged list of its parts lets zipfile look for them before the beginning of the file.
        is_cut = isinstance(error, OSError | zipfile.BadZipFile)
        why = "its list of parts, at its end, cannot be read" if is_cut else error
        raise ValueError(f"{path} is not {what}, or is damaged: {why}.{hint}") from error
    if found != FORMAT:
        raise ValueError(
            f"{path} has format {found}; this version of skstream reads {FORMAT}. Load it with the "
            "version that wrote it."
        )
    return arrays, header


def _check_size(archive: zipfile.ZipFile, part: zipfile.ZipInfo) -> None:
    """Raise an error if an array says that it is larger than what there is of it."""
    with archive.open(part) as file:
        if np.lib.format.read_magic(file) == (1, 0):
            shape, _, dtype = np.lib.format.read_array_header_1_0(file)
        else:
            shape, _, dtype = np.lib.format.read_array_header_2_0(file)
        if math.prod(shape) * max(1, dtype.itemsize) != part.file_size - file.tell():
            raise ValueError(f"its part {part.filename} does not have the size that it declares")


# -- what was loaded


def check_types(value: Any, hint: Any = None, name: str = "it") -> None:
    """Compare a value, and all that it holds, with its type hint.

    Parameters
    ----------
    value : object
        The value.
    hint : type hint, default=None
        None: the value's own class. The fields of data classes are compared with their hints.
    name : str, default="it"
        The name of the value, for the error.

    Raises
    ------
    TypeError
        If a value has another type.
    """
    hint = type(value) if hint is None else hint
    kind, inner = get_origin(hint) or hint, get_args(hint)
    if kind is Any or kind is Callable:
        return
    if kind in (Union, UnionType):
        for one in inner:
            try:
                return check_types(value, one, name)
            except TypeError:
                continue
        raise _wrong(value, hint, name)
    if kind is float and type(value) is int:
        float(value)  # JSON does not tell whole numbers; they can be too large
        return
    if not isinstance(value, kind) or (kind is int and isinstance(value, bool)):
        raise _wrong(value, hint, name)
    if is_dataclass(kind) or hasattr(kind, "_fields"):
        for own, of_own in get_type_hints(type(value)).items():
            if hasattr(value, own):  # KW_ONLY is no field
                check_types(getattr(value, own), of_own, own)
    elif isinstance(value, Mapping) and inner:
        for key, one in value.items():
            check_types(key, inner[0], f"a name in {name}")
            check_types(one, inner[1], name)
    elif kind is tuple and inner:
        hints_of = inner[:1] * len(value) if inner[-1] is Ellipsis else inner
        if len(hints_of) != len(value):
            raise _wrong(value, hint, name)
        for one, of_one in zip(value, hints_of, strict=True):
            check_types(one, of_one, name)
    elif isinstance(value, list) and inner:
        for one in value:
            check_types(one, inner[0], name)
    elif kind is np.ndarray and inner:
        (scalar,) = get_args(inner[1])
        if scalar is not Any and value.dtype.kind != np.dtype(scalar).kind:
            raise _wrong(value, hint, name)


def check_array(array: Any, name: str, kinds: str, shape: tuple[int | None, ...]) -> None:
    """Compare the type and the shape of an array; of an axis given as None, any length will do.

    Raises
    ------
    ValueError
        If it has another one.
    """
    wanted = tuple("any" if n is None else n for n in shape)
    if not isinstance(array, np.ndarray) or array.dtype.kind not in kinds:
        raise ValueError(f"{name} has values of a wrong type")
    if array.ndim != len(shape) or any(
        n is not None and n != found for n, found in zip(shape, array.shape, strict=True)
    ):
        raise ValueError(f"{name} has shape {array.shape} instead of {wanted}")


def _wrong(value: Any, hint: Any, name: str) -> TypeError:
    needed = hint.__name__ if isinstance(hint, type) else hint
    return TypeError(f"{name} is {str(value)[:80]!r}, which is not {needed}")
