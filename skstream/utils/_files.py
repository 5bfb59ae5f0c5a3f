"""Writing files completely or not at all, beside other processes that write and may have ended."""

import functools
import hashlib
import os
import re
import secrets
import socket
import stat
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

#: Longest part of a file's name that its temporary file repeats: names have a limit of 255 bytes.
_SHOWN = 32
#: Age from which a temporary file of another machine is taken for one of a killed process.
SECONDS_UNTIL_STALE = 24 * 3600
#: Names of the temporary files that this process is writing.
_OWN: set[str] = set()


@contextmanager
def atomic_write(path: str | os.PathLike[str], *, flush: bool = True) -> Iterator[Path]:
    """Give a temporary path whose file replaces `path` once the block ends without an error.

    At any moment `path` is either the old file or the complete new file, even if the process is
    killed or the machine loses power. If the block raises an error, the temporary file is removed
    and `path` is as it was. A killed process can leave its temporary file behind: a hidden file in
    the same folder whose name holds ".tmp". Writing the same file again removes it; if the process
    was one of another machine, after a day.

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
    >>> from skstream.utils._files import atomic_write
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
    with _temporary_beside(target) as temporary:
        if mode is not None:
            temporary.chmod(stat.S_IMODE(mode))
        with _naming(path):
            yield temporary
            if flush:
                _flush_to_disk(temporary)
            os.replace(temporary, target)
    if flush:
        _flush_folder_to_disk(target.parent)
    _remove_stale(target)


@contextmanager
def _naming(path: str | os.PathLike[str]) -> Iterator[None]:
    """Let an error of the system that names no file, such as that of a full disk, name one."""
    try:
        yield
    except OSError as error:
        if error.errno is None or error.filename is not None:
            raise
        raise OSError(error.errno, error.strerror or str(error), os.fspath(path)) from error


@contextmanager
def _temporary_beside(target: Path) -> Iterator[Path]:
    """Make an empty temporary file in the same folder; remove it in the end if it is there."""
    temporary = _new_file_beside(target)
    try:
        yield temporary
    finally:
        with suppress(OSError):
            temporary.unlink()
        _OWN.discard(temporary.name)


def _new_file_beside(target: Path) -> Path:
    """Make an empty file whose permissions are those that the process gives to new files."""
    writer = f"{system()}-{os.getpid()}-{secrets.token_hex(6)}"
    temporary = target.with_name(_name_of_temporary(target, writer))
    _OWN.add(temporary.name)
    os.close(os.open(temporary, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o666))
    return temporary


def _name_of_temporary(target: Path, writer: str) -> str:
    return f".{target.stem[:_SHOWN]}.{writer}.tmp{target.suffix[:_SHOWN]}"


def _remove_stale(target: Path) -> None:
    """Remove temporary files that killed processes left of a file, here or on other machines."""
    if len(target.stem) > _SHOWN or len(target.suffix) > _SHOWN:
        return  # other files have temporary files of such a name
    pattern = re.escape(_name_of_temporary(target, "#"))
    writer = re.compile(pattern.replace(r"\#", r"([0-9a-f]{8})-(\d+)-[0-9a-f]{12}"))
    with suppress(OSError):
        for other in target.parent.iterdir():
            found = writer.fullmatch(other.name)
            if found and other.name not in _OWN:
                with suppress(OSError):
                    age = time.time() - other.stat().st_mtime
                    here = found[1] == system()
                    if age > SECONDS_UNTIL_STALE or (here and _has_ended(int(found[2]))):
                        other.unlink()


def _has_ended(pid: int) -> bool:
    """Whether no process of this number runs here; False where the system does not say."""
    if pid == os.getpid():
        return True  # what this process writes is known: it was an earlier one of this number
    if os.name == "nt":
        return False
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return True
    except (OSError, OverflowError):
        pass
    return False


def no_such_file(path: str | os.PathLike[str]) -> FileNotFoundError:
    """Return the error for a file that is not there; names one of the same name with an ending."""
    path = Path(path)
    with suppress(OSError):
        for other in sorted(path.parent.iterdir()):
            if other.stem == path.name and other.is_file():
                return FileNotFoundError(f"There is no file {path}, but there is {other}.")
    return FileNotFoundError(f"There is no file {path}.")


def _flush_to_disk(path: Path) -> None:
    with path.open("rb+") as file:
        os.fsync(file.fileno())


def _flush_folder_to_disk(folder: Path) -> None:
    """Write the folder entry to disk where the system can; the file is complete in any case."""
    with suppress(OSError):
        descriptor = os.open(folder, os.O_RDONLY)
        try:
            os.fsync(descriptor)
        finally:
            os.close(descriptor)


@functools.cache
def system() -> str:
    """Name the system that gives this process its number: the host, or a container on it."""
    name = socket.gethostname()
    with suppress(OSError):
        # Machines and containers may share a name; of what has started once, no two have these.
        name += Path("/proc/sys/kernel/random/boot_id").read_text()
        name += os.readlink("/proc/self/ns/pid")
    return hashlib.sha256(name.encode()).hexdigest()[:8]
