"""Files of a stream, on the local disk or on a file system of pyarrow or fsspec."""

import bz2
import gzip
import io
import os
import re
from abc import abstractmethod
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cached_property
from socket import gethostname
from typing import Any, ClassVar
from urllib.parse import quote, unquote
from zlib import crc32

from skstream.core.rows.chunk import StreamError
from skstream.core.rows.stream import Stream
from skstream.utils._choices import did_you_mean
from skstream.utils._optional import optional_import

Paths = str | os.PathLike[str] | Sequence[str | os.PathLike[str]]

# Marks of files that programs write beside the data: hidden ones, half-written ones, locks.
_NOT_DATA = (".", "_", "~")
_URI = re.compile(r"[A-Za-z][A-Za-z0-9+.-]+://")
#: URIs that say more behind a question mark.
_WITH_QUERY = re.compile(r"(?i)(s3|gs|gcs|abfss?|hdfs|viewfs)://[^?]*\?\w+=|https?://")
_PASSWORD = re.compile(r"(?<=://)([^/@]*?):[^/@]*@")
#: Blocks of a file that stand for the whole, the first and the last among them, and their bytes.
_N_SAMPLES, _SAMPLE = 66, 4096


class FileStream(Stream):
    """Stream of files, which are opened again at every pass; a worker opens them itself."""

    #: Endings of the names of its files, for folders.
    suffixes: ClassVar[tuple[str, ...]]
    #: What `options` may say, with the values where it says nothing.
    default_options: ClassVar[dict[str, Any]] = {"filesystem": None}

    def __init__(self, path: Paths, options: dict[str, Any] | None) -> None:
        given = self.default_options | checked_keys(options, "options", self.default_options)
        self._take_options(given)
        self._storage = find(path, self.suffixes, given["filesystem"])
        self.files = list(self._storage.files)
        self._first_rows: dict[str, int] = {}  # of the files that a pass has reached

    def _take_options(self, options: dict[str, Any]) -> None:
        """Check and keep the options, all of which have a value."""

    @property
    def path(self) -> str | list[str]:
        """Absolute path or URI of the file; of all files where there are several."""
        return self.files[0] if len(self.files) == 1 else list(self.files)

    def contents(self) -> list[tuple[int, int | None]]:
        """Size of each file, and the checksum of blocks all over it if it is on a local disk."""
        return self._storage.contents()

    @abstractmethod
    def features_in_words(self) -> str:
        """Say what the features are read as."""

    def place_of(self, row: int) -> str:
        """Return which row of which file a row is, as far as a pass has found it.

        Parameters
        ----------
        row : int
            Number of the row in the stream, counted from 0.

        Returns
        -------
        place : str
            As "row 5 of power.csv"; a header is no row.
        """
        for file, first in reversed(self._first_rows.items()):
            if first <= row:
                return f"row {row - first} of {file}"
        return ""

    def _in_words(self) -> str:
        """Name the one file, or say how many there are."""
        return self.files[0] if len(self.files) == 1 else f"the stream of {len(self.files)} files"

    def _broken(self, file: str, row: int, error: Exception) -> StreamError:
        """Return the error of a file that cannot be read beyond a row."""
        n = row - self._first_rows[file]
        after = f" after its first {n:,} rows (row {row} of the stream)" if n else ""
        said = (
            str(error) if str(error).startswith(file) else f"{file} cannot be read{after}: {error}"
        )
        return StreamError(said, row, file)


def checked_keys(given: Any, parameter: str, known: Iterable[str]) -> dict[str, Any]:
    """Return what the user gave by name, empty for None; raise an error for an unknown name."""
    names = list(known)
    if not isinstance(given, dict | None):
        raise TypeError(
            f"{parameter} must be a dict with any of the keys {', '.join(names)}. Got {given!r} "
            f"instead."
        )
    for name in given or {}:
        if name not in names:
            raise ValueError(
                f"{parameter} has no key {name!r}.{did_you_mean(str(name), names)} Known: "
                f"{', '.join(names)}."
            )
    return dict(given or {})


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
        return {name: value for name, value in vars(self).items() if name != "system"}

    @cached_property
    def system(self) -> Any:
        """File system of pyarrow; None for the local disk."""
        return self.filesystem if self.uri is None else _of_uri(self.uri)[0]

    def by_arrow(self, name: str) -> Any:
        """Open a file for reading, decompressed if its name says that it must be, by pyarrow."""
        with self.named_if_missing(name):
            if self.system is None:
                return optional_import("pyarrow", "CSVStream").input_stream(self.files[name])
            return self.system.open_input_stream(self.files[name])

    def binary(self, name: str) -> Any:
        """Open a file as `by_arrow` does, for reading by lines; local files without pyarrow."""
        if self.system is not None:
            return io.BufferedReader(self.by_arrow(name))
        openers: dict[str, Any] = {".gz": gzip.open, ".bz2": bz2.open}
        with self.named_if_missing(name):
            return openers.get(os.path.splitext(name)[1].lower(), open)(self.files[name], "rb")

    @contextmanager
    def named_if_missing(self, name: str) -> Iterator[None]:
        """Say where a file is missing, which was there when the stream was made."""
        try:
            yield
        except FileNotFoundError as error:
            raise FileNotFoundError(
                f"There is no file {name!r} in process {os.getpid()} on {gethostname()}, although "
                "it existed when the stream was made. Worker processes open files themselves, "
                "each on its own machine, and files in memory belong to one process: put them "
                "where all processes find them under the same name. Otherwise the file has been "
                "removed."
            ) from error

    def contents(self) -> list[tuple[int, int | None]]:
        """Size of each file, and a checksum of blocks all over it if it is on a local disk."""
        if self.system is None or self.system.type_name == "local":
            return [
                (os.path.getsize(path), _checksum_of_samples(path)) for path in self.files.values()
            ]
        infos = self.system.get_file_info(list(self.files.values()))
        return [(int(info.size), None) for info in infos]


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
    one = isinstance(path, str | os.PathLike)
    if not one and not isinstance(path, Iterable):
        raise TypeError(f"path must be a file, a folder or a list of files. Got {path!r} instead.")
    listed: Any = [path] if one else path
    names = [os.fspath(name) for name in listed]
    if not names:
        raise ValueError("The list of files is empty.")
    if any(map(is_uri, names)):
        found = _of_uris(names, filesystem)
    else:
        system = None if filesystem is None else _checked(filesystem)
        if "" in names and (system is None or system.type_name != "subtree"):
            raise ValueError("The path of a file or folder is empty. Use '.' for this folder.")
        if system is None or system.type_name == "local":
            names = list(map(os.path.abspath, names))
        found = FileSystem(dict(zip(names, names, strict=True)), system)
    if len(found.files) < len(names):
        raise ValueError(f"The list of files names one of {list(found.files)} twice.")
    for name, place in found.files.items():
        kind = _kind_of(found.system, name, place)
        if one and kind == "folder":
            found.files = _in_folder(found.system, name, place, tuple(suffixes))
        elif kind == "other":
            raise ValueError(
                f"{name!r} is not a file but a pipe or a device, which can be read only once, but "
                "files are read several times. Write its rows to a file."
            )
        elif kind != "file":
            more = "or folder" if one else ""
            raise FileNotFoundError(
                f"There is no file {more} {name!r}.".replace("  ", " ")
                + ("" if one else " A list must name files; pass a folder on its own.")
            )
    return found


def is_uri(name: str) -> bool:
    """Whether a name is a URI, and not a path."""
    return _URI.match(name) is not None


def shown_uri(uri: str) -> str:
    """Return a URI for messages and names of files, without a password."""
    return _PASSWORD.sub(r"\1:***@", uri)


def _of_uris(names: list[str], filesystem: Any) -> FileSystem:
    first = shown_uri(next(filter(is_uri, names)))
    if filesystem is not None:
        raise ValueError(
            f"{first!r} is a URI, which already names its file system. Leave out the option "
            "filesystem, or give the path on that file system, such as 'bucket/folder'."
        )
    places = {}
    for name in names:
        if not is_uri(name):
            raise ValueError(f"{name!r} is a path, but {first!r} is a URI. Pass all as URIs.")
        # Some file systems drop the rest of the name behind these signs without a word.
        for sign in "#" if _WITH_QUERY.match(name) else "#?":
            if sign in name:
                raise ValueError(
                    f"{shown_uri(name)!r} holds {sign!r}, which is not allowed in a URI. Write "
                    f"{quote(sign)}, or pass options={{'filesystem': ...}} and the plain path."
                )
        if name.split("/")[:3] != names[0].split("/")[:3]:
            raise ValueError(
                f"{shown_uri(name)!r} and {first!r} are on different file systems. The files of a "
                "stream must be on one."
            )
        places[shown_uri(name)] = _of_uri(name)[1]
    return FileSystem(places, uri=names[0])


def _of_uri(uri: str) -> tuple[Any, str]:
    """Return the file system of a URI and the path on it, from pyarrow or else fsspec."""
    shown = shown_uri(uri)
    pa, fs = (optional_import(name, repr(shown)) for name in ("pyarrow", "pyarrow.fs"))
    try:
        return fs.FileSystem.from_uri(uri)
    except pa.ArrowInvalid as error:
        if "Unrecognized filesystem type" not in str(error):
            raise ValueError(
                f"{shown!r} is not the URI of a file or folder: {shown_uri(str(error))}. Spaces, "
                "umlauts and reserved characters must be percent-encoded in URIs, such as %20 (by "
                "urllib.parse.quote). Encode it, or pass options={'filesystem': ...} and the "
                "plain path."
            ) from error
    except pa.ArrowNotImplementedError:  # pyarrow was built without it
        pass
    core = optional_import("fsspec.core", f"{shown!r} has a scheme unknown to pyarrow, and")
    try:
        system, path = core.url_to_fs(uri)
    except (ValueError, ImportError) as error:
        raise ValueError(
            f"There is no file system for {shown!r}, neither of pyarrow nor of fsspec: {error}."
        ) from error
    # fsspec leaves what is percent-encoded as it is, pyarrow does not.
    return fs.PyFileSystem(fs.FSSpecHandler(system)), path if is_uri(path) else unquote(path)


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


def _kind_of(system: Any, name: str, path: str) -> str:
    """Return "file", "folder", "other" (as a pipe) or "" for nothing."""
    if system is None:
        kinds = {"folder": os.path.isdir, "file": os.path.isfile, "other": os.path.exists}
        return next((kind for kind, is_kind in kinds.items() if is_kind(path)), "")
    types = optional_import("pyarrow.fs", "A file system").FileType
    known = {types.File: "file", types.Directory: "folder", types.NotFound: ""}
    try:
        return known.get(system.get_file_info(path).type, "other")
    except OSError as error:
        raise OSError(f"{name} cannot be accessed: {error}") from error


def _in_folder(system: Any, name: str, path: str, suffixes: tuple[str, ...]) -> dict[str, str]:
    """Paths of the files of a stream in a folder, in the natural order of their names."""
    if system is None:
        found = {entry.name: entry.path for entry in os.scandir(path) if entry.is_file()}
    else:
        fs = optional_import("pyarrow.fs", "A file system")
        entries = system.get_file_info(fs.FileSelector(path))
        found = {one.base_name: one.path for one in entries if one.type == fs.FileType.File}
    bases = [
        base
        for base in sorted(found, key=natural_order)
        if base.lower().endswith(suffixes) and not base.startswith(_NOT_DATA)
    ]
    if not bases:
        raise FileNotFoundError(
            f"The folder {name!r} contains no file *{' or *'.join(suffixes)}. Subfolders are not "
            "read: pass a list of their files, in the order of their rows in time."
        )
    if not is_uri(name):
        return {found[base]: found[base] for base in bases}
    folder, mark, query = name.partition("?")
    return {f"{folder.rstrip('/')}/{quote(base)}{mark}{query}": found[base] for base in bases}


def natural_order(name: str) -> tuple[Any, ...]:
    """Key that sorts the numbers in names by their value."""
    # Texts and numbers alternate, so that only values of one type are compared; the name itself
    # decides between "1" and "01".
    pieces = re.split(r"(\d+)", name)
    key = tuple(int(piece) if place % 2 else piece for place, piece in enumerate(pieces))
    return key, name
