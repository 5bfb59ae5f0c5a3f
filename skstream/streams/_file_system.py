"""Files of a stream, on the local disk or on a file system of pyarrow or fsspec."""

import bz2
import gzip
import io
import os
import re
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cached_property, partial
from socket import gethostname
from typing import Any
from urllib.parse import quote, unquote
from zlib import crc32

from skstream.utils._optional import optional_import

Paths = str | os.PathLike[str] | Sequence[str | os.PathLike[str]]

# Marks of files that programs write beside the data: hidden ones, half-written ones, locks.
_NOT_DATA = (".", "_", "~")
_URI = re.compile(r"[A-Za-z][A-Za-z0-9+.-]+://")
# URIs that say more behind a question mark: pyarrow's, by keys, and those of the web.
_URI_WITH_QUERY = re.compile(r"(?i)(s3|gs|gcs|abfss?|hdfs|viewfs)://[^?]*\?\w+=|https?://")
#: Blocks of a file that stand for the whole, the first and the last among them, and their bytes.
_N_SAMPLES, _SAMPLE = 66, 4096
_PASSWORD = re.compile(r"(?<=://)([^/@]*?):[^/@]*@")


@dataclass(frozen=True)
class DataFile:
    """A file of a stream.

    Attributes
    ----------
    name : str
        What messages call it: an absolute path, a URI, or a path in the file system given.
    path : str
        Path on its file system.
    filesystem : object
        File system of pyarrow; None for the local disk.
    """

    name: str
    path: str
    filesystem: Any

    def __str__(self) -> str:
        return self.name

    @property
    def is_remote(self) -> bool:
        """Whether it may be on another machine, so that every access takes its time."""
        return self.filesystem is not None and self.filesystem.type_name != "local"

    def text(self) -> Any:
        """Open it for reading from the beginning, decompressed if its name says that it must be."""
        with self.named_if_missing():
            if self.filesystem is None:
                return optional_import("pyarrow", "CSVStream").input_stream(self.path)
            return self.filesystem.open_input_stream(self.path)

    def binary(self) -> Any:
        """Open it as `text` does, for reading by lines; most local files without pyarrow."""
        if self.filesystem is not None or self.path.lower().endswith((".zst", ".lz4")):
            return io.BufferedReader(self.text())
        with self.named_if_missing():
            for ending, opened in ((".gz", gzip.open), (".bz2", bz2.open)):
                if self.path.lower().endswith(ending):
                    return opened(self.path)
            return open(self.path, "rb")

    @contextmanager
    def named_if_missing(self) -> Iterator[None]:
        """Say where the file is missing, which was there when the stream was made."""
        try:
            yield
        except FileNotFoundError as error:
            in_memory = self.is_remote and "memory" in self.filesystem.type_name
            advice = (
                "Files in memory belong to one process, and worker processes do not see them: "
                "write them to a disk or store that all workers see, or pass n_jobs=1."
                if in_memory
                else "Worker processes open files themselves, each on its own machine: put them "
                "where all machines see them under the same name. Otherwise it was removed or "
                "renamed since."
            )
            raise FileNotFoundError(
                f"There is no file {self.name!r} in process {os.getpid()} on {gethostname()}, "
                f"though it was there when the stream was made. {advice}"
            ) from error


@dataclass
class FileSystem:
    """The files of a stream, in their order; a worker process opens the file system anew.

    Parameters
    ----------
    files : dict of str to str
        Paths in the file system by the names of the files in messages.
    filesystem : object, default=None
        File system of pyarrow that the user gave.
    uri : str, default=None
        A URI on the file system, where the user gave URIs.
    """

    files: dict[str, str]
    filesystem: Any = None
    uri: str | None = None

    def __getstate__(self) -> dict[str, Any]:
        return {name: value for name, value in vars(self).items() if name != "_system"}

    @cached_property
    def _system(self) -> Any:
        return self.filesystem if self.uri is None else _of_uri(self.uri)[0]

    def file(self, name: str) -> DataFile:
        """Return the file of that name."""
        return DataFile(name, self.files[name], self._system)

    def contents(self) -> list[tuple[int, int | None]]:
        """Size of each file, and a checksum of blocks all over it if it is on a local disk."""
        paths = list(self.files.values())
        if self._system is None:
            return [(os.path.getsize(path), _checksum_of_samples(path)) for path in paths]
        sizes = [int(info.size) for info in self._system.get_file_info(paths)]
        remote = self._system.type_name != "local"
        return [
            (size, None if remote else _checksum_of_samples(path))
            for size, path in zip(sizes, paths, strict=True)
        ]


def _checksum_of_samples(path: str) -> int:
    """Return the checksum of the first and the last block of a file and of blocks between them."""
    last = max(0, os.path.getsize(path) - _SAMPLE)
    checksum = 0
    with open(path, "rb") as file:
        for place in sorted({k * last // (_N_SAMPLES - 1) for k in range(_N_SAMPLES)}):
            file.seek(place)
            checksum = crc32(file.read(_SAMPLE), checksum)
    return checksum


def find(path: Paths, suffixes: Iterable[str], filesystem: Any = None) -> FileSystem:
    """Find the files of a stream.

    Parameters
    ----------
    path : str, path-like, or list of them
        A file, a folder, or files in the order given; paths or URIs.
    suffixes : iterable of str
        Endings of the files wanted in a folder.
    filesystem : object, default=None
        File system of pyarrow or fsspec on which the paths are; None: the local disk for paths.

    Returns
    -------
    FileSystem
        The files.

    Raises
    ------
    FileNotFoundError
        If a file or folder is not there, or a folder holds no such file.
    ValueError
        If a path or the list of files is empty, or the list names one twice, or a URI holds signs
        that must be percent-encoded, or URIs lie on several file systems.
    TypeError
        If `filesystem` is none.
    """
    if isinstance(path, str | os.PathLike):
        paths, one = [path], True
    elif isinstance(path, Iterable):
        paths, one = list(path), False
    else:
        raise TypeError(f"path must be a file, a folder or a list of files. Got {path!r} instead.")
    given = [os.fspath(name) for name in paths]
    if not given:
        raise ValueError("The list of files is empty.")
    system = None if filesystem is None else _checked(filesystem)
    if "" in given and (system is None or system.type_name != "subtree"):
        raise ValueError("The path of a file or folder is empty. Write '.' for this folder.")
    if any(is_uri(name) for name in given):
        return _find_uris(given, one, suffixes, filesystem)
    if system is None or system.type_name == "local":
        given = [os.path.abspath(name) for name in given]
    return FileSystem(_found(system, _by_name(given, given), one, tuple(suffixes)), system)


def is_uri(name: str) -> bool:
    """Whether a name is a URI, and not a path."""
    return _URI.match(name) is not None


def has_password(name: str) -> bool:
    """Whether a name is a URI with a password, which messages and names of files do not show."""
    return _shown(name) != name


def _find_uris(given: list[str], one: bool, suffixes: Iterable[str], filesystem: Any) -> FileSystem:
    first = _shown(next(filter(is_uri, given)))
    if filesystem is not None:
        raise ValueError(
            f"{first!r} is a URI, which says its file system itself. Leave out the "
            f"option filesystem, or give the path on that file system, such as 'bucket/folder'."
        )
    for name in given:
        if not is_uri(name):
            raise ValueError(f"{name!r} is a path and {first!r} a URI. Give all as URIs.")
        _check_signs(name)
    system, _ = _of_uri(given[0])
    for uri in given:
        if _root(uri) != _root(given[0]):
            raise ValueError(
                f"{_shown(uri)!r} and {first!r} are on two file systems. The files of a stream "
                f"must be on one."
            )
    names = _by_name(map(_shown, given), [_of_uri(uri)[1] for uri in given])
    return FileSystem(_found(system, names, one, tuple(suffixes)), uri=given[0])


def _check_signs(uri: str) -> None:
    """Refuse signs behind which some file systems drop the rest of the name without a word."""
    queries = _URI_WITH_QUERY.match(uri) is not None
    for sign, code in (("#", "%23"), ("?", "%3F")):
        if sign in uri and not (sign == "?" and queries):
            raise ValueError(
                f"{_shown(uri)!r} holds {sign!r}, which is no part of a name in a URI. Write "
                f"{code}, or pass options={{'filesystem': ...}} and the plain path."
            )


def _found(
    system: Any, given: dict[str, str], one: bool, suffixes: tuple[str, ...]
) -> dict[str, str]:
    """Paths of files by name; those in a folder where one is given."""
    for name, path in given.items():
        kind = _asked(name, partial(_kind_of, system, path))
        if one and kind == "folder":
            return _in_folder(system, name, path, suffixes)
        is_stdin = not kind and path == os.path.abspath("-")
        if one and (kind == "other" or is_stdin):
            raise ValueError(
                f"{('-' if is_stdin else name)!r} is no file but a pipe or a device, which can be "
                "read only once, and files are read several times. Write its rows into a file."
            )
        if kind != "file":
            what = "file or folder" if one else "file"
            more = "" if one else " A list names files; a folder is given alone."
            if is_uri(name) and "%" in name:
                more += f" It stands for the path {path!r}; a percent sign itself is %25."
            raise FileNotFoundError(f"There is no {what} {name!r}.{more}")
    return given


def _kind_of(system: Any, path: str) -> str:
    """Return "file", "folder", "other" (as a pipe) or "" for nothing."""
    if system is not None:
        types = optional_import("pyarrow.fs", "A file system").FileType
        kinds = {types.File: "file", types.Directory: "folder", types.NotFound: ""}
        return kinds.get(system.get_file_info(path).type, "other")
    if os.path.isdir(path):
        return "folder"
    return "file" if os.path.isfile(path) else "other" if os.path.exists(path) else ""


def _in_folder(system: Any, name: str, path: str, suffixes: tuple[str, ...]) -> dict[str, str]:
    entries = _asked(name, partial(_entries_of, system, path))
    found = {base: path for base, (path, is_file) in entries.items() if is_file}
    bases = sorted((one for one in found if _is_data(one, suffixes)), key=natural_order)
    if not bases:
        below = sorted(one for one in entries.keys() - found if not one.startswith(_NOT_DATA))
        raise FileNotFoundError(
            f"The folder {name!r} holds no file *{' or *'.join(suffixes)}."
            + (
                f" It holds the folder {below[0]!r}, and folders in a folder are not read. Give a "
                "list of the files in them, in the order of their rows in time."
                if below
                else ""
            )
        )
    if not is_uri(name):
        return {found[base]: found[base] for base in bases}
    folder, mark, query = name.partition("?")
    return {f"{folder.rstrip('/')}/{quote(base)}{mark}{query}": found[base] for base in bases}


def _is_data(name: str, suffixes: tuple[str, ...]) -> bool:
    """Whether a file in a folder is one of the stream, by its name."""
    return name.lower().endswith(suffixes) and not name.startswith(_NOT_DATA)


def _entries_of(system: Any, folder: str) -> dict[str, tuple[str, bool]]:
    """Paths of what is in a folder by their names, and whether each is a file."""
    if system is None:
        return {entry.name: (entry.path, entry.is_file()) for entry in os.scandir(folder)}
    fs = optional_import("pyarrow.fs", "A file system")
    entries = system.get_file_info(fs.FileSelector(folder))
    return {one.base_name: (one.path, one.type == fs.FileType.File) for one in entries}


def natural_order(name: str) -> tuple[Any, ...]:
    """Key that sorts the numbers in names by their value."""
    # Texts and numbers alternate, so that only values of one type are compared; the name itself
    # decides between "1" and "01".
    pieces = re.split(r"(\d+)", name)
    key = tuple(int(piece) if place % 2 else piece for place, piece in enumerate(pieces))
    return key, name


def _asked(name: str, ask: Any) -> Any:
    """Ask a file system; an error says what was looked for."""
    try:
        return ask()
    except OSError as error:
        raise OSError(f"{name} cannot be looked up: {error}") from error


def _of_uri(uri: str) -> tuple[Any, str]:
    """Return the file system of a URI and the path on it, from pyarrow or else fsspec."""
    pa = optional_import("pyarrow", f"{_shown(uri)!r}")
    fs = optional_import("pyarrow.fs", f"{_shown(uri)!r}")
    try:
        system, path = fs.FileSystem.from_uri(uri)
    except pa.ArrowInvalid as error:
        if "Unrecognized filesystem type" not in str(error):
            raise ValueError(
                f"{_shown(uri)!r} is no URI of a file or folder: {_shown(str(error))}. "
                f"Spaces, umlauts and signs with a meaning in URIs are percent-encoded, as %20 (by "
                f"urllib.parse.quote). Write it so, or pass options={{'filesystem': ...}} "
                f"and the plain path."
            ) from error
    except pa.ArrowNotImplementedError:  # pyarrow was built without it
        pass
    else:
        return system, path
    core = optional_import("fsspec.core", f"{_shown(uri)!r} has a scheme unknown to pyarrow, and")
    try:
        system, path = core.url_to_fs(uri)
    except (ValueError, ImportError) as error:
        raise ValueError(
            f"There is no file system for {_shown(uri)!r}, neither of pyarrow nor of fsspec: "
            f"{error}."
        ) from error
    if not is_uri(path):  # fsspec leaves what is percent-encoded as it is, pyarrow does not
        path = unquote(path)
    return fs.PyFileSystem(fs.FSSpecHandler(system)), path


def _checked(filesystem: Any) -> Any:
    """Return a file system of pyarrow, made of one of fsspec where that is given."""
    fs = optional_import("pyarrow.fs", "The option filesystem")
    if isinstance(filesystem, fs.FileSystem):
        return filesystem
    if any(one.__module__.partition(".")[0] == "fsspec" for one in type(filesystem).__mro__):
        return fs.PyFileSystem(fs.FSSpecHandler(filesystem))
    raise TypeError(
        f"filesystem must be a file system of pyarrow.fs or fsspec. Got {filesystem!r} instead."
    )


def _root(uri: str) -> str:
    scheme, _, rest = uri.partition("://")
    return f"{scheme}://{rest.partition('/')[0]}"


def _shown(uri: str) -> str:
    """Return a URI for messages, without a password."""
    return _PASSWORD.sub(r"\1:***@", uri)


def _by_name(names: Iterable[str], paths: list[str]) -> dict[str, str]:
    """Paths by the names of files, none of which is there twice."""
    found: dict[str, str] = {}
    for name, path in zip(names, paths, strict=True):
        if name in found:
            raise ValueError(f"The list of files names {name!r} twice.")
        found[name] = path
    return found
