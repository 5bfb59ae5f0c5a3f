"""Base class of the streams that are read from files."""

from abc import abstractmethod
from typing import Any, ClassVar

from skstream.core.rows.chunk import StreamError
from skstream.core.rows.stream import Stream
from skstream.streams._file_system import DataFile, Paths, find
from skstream.streams._table_parameters import checked_keys

# First bytes of files that are not text, whatever their names.
_OTHER_KINDS = {
    b"\x1f\x8b": "compressed; its name has to end in {ending}.gz",
    b"BZh": "compressed; its name has to end in {ending}.bz2",
    b"PK\x03\x04": "a ZIP archive or an Excel file; save the table as {kind}",
    b"PAR1": "a Parquet file; use ParquetStream, and the ending .parquet",
}


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

    def _file(self, name: str) -> DataFile:
        return self._storage.file(name)


def broken_file(file: str, first: int, row: int, error: Exception) -> StreamError:
    """Say that a file, whose rows are those from `first` on, cannot be read beyond `row`."""
    return StreamError(
        f"{file} cannot be read on after its first {row - first:,} rows (row {row} of the "
        f"stream): {error}",
        row,
        file,
    )


def not_encoded(
    file: DataFile, encoding: str, error: UnicodeDecodeError, place: str = ""
) -> ValueError:
    """Say that a file, or what stands at a place in it, has another encoding."""
    return ValueError(
        f"{file} is not encoded as {encoding}: byte {error.object[error.start]:#04x}{place} has no "
        f"meaning in it. Pass options={{'encoding': 'latin-1'}} if the file comes from an older "
        f"Windows program, or convert it to UTF-8."
    )


def beginning_of(file: DataFile, kind: str, ending: str, n_bytes: int = 64) -> bytes:
    """First bytes of a text file; an error if they show that it is none, or that it is empty."""
    try:
        with file.binary() as opened:
            raw: bytes = opened.read(n_bytes)
    except FileNotFoundError:
        raise
    except (OSError, EOFError) as error:
        raise ValueError(f"{file} cannot be read as {kind} file: {error}") from error
    for beginning, other in _OTHER_KINDS.items():
        if raw.startswith(beginning):
            other = other.format(ending=ending, kind=kind.partition(" ")[2])
            raise ValueError(f"{file} is no {kind.partition(' ')[2]} file, but {other}.")
    if not raw.strip():
        raise ValueError(f"{file} cannot be read as {kind} file: it is empty.")
    return raw
