"""Locks of a run folder: one run at a time writes into it, and one process into each group."""

import json
import os
import secrets
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from threading import Event, Thread
from typing import Any

from skstream.utils._files import may_run, remove_stale, system, temporary_beside, this_process

#: Seconds between two signs of life of the run that holds a lock.
SECONDS_BETWEEN_SIGNS = 10.0
#: Seconds without one after which the run counts as dead, on whichever machine it was.
SECONDS_UNTIL_DEAD = 600.0

#: Seconds that a process waits for a worker of an earlier call, whose parent was killed, to end.
SECONDS_FOR_WORKER = 15.0
_SECONDS_PER_LOOK = 0.05

#: Tokens of the locks that this process holds.
_held: set[str] = set()


class Lock:
    """Held while a run writes into its folder; other processes see when it was last alive.

    Parameters
    ----------
    path : Path
        The lock's file.

    Attributes
    ----------
    token : str
        A text that no other lock has.
    """

    def __init__(self, path: Path) -> None:
        self._path = path
        self.token = secrets.token_hex(8)
        self._released = Event()
        self._thread = Thread(target=self._give_signs, daemon=True)

    def __enter__(self) -> "Lock":
        while not self._take():
            self._remove_dead()
        _held.add(self.token)
        remove_stale(self._path)
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._released.set()
        self._thread.join()
        if read_lock(self._path).get("token") == self.token:
            self._path.unlink(missing_ok=True)
        _held.discard(self.token)

    def _take(self) -> bool:
        """Write the lock, unless there is one; it is there as a whole or not at all."""
        own = {**this_process(), "token": self.token}
        with temporary_beside(self._path) as temporary:
            temporary.write_text(json.dumps(own, allow_nan=False))
            try:
                os.link(temporary, self._path)
            except FileExistsError:
                return False
            except OSError:  # a file system without links
                try:
                    with self._path.open("x") as file:
                        file.write(json.dumps(own, allow_nan=False))
                except FileExistsError:
                    return False
        return True

    def _remove_dead(self) -> None:
        """Remove the lock of a dead run; raise an error if the run may be alive."""
        other = read_lock(self._path)
        try:
            age = time.time() - self._path.stat().st_mtime
        except FileNotFoundError:
            return
        if "pid" not in other and age < SECONDS_UNTIL_DEAD:
            raise RuntimeError(
                f"{self._path} does not say which process runs in the folder: it is empty, damaged "
                "or no lock of skstream. Remove this file if nothing runs there."
            )
        if is_alive(other) and age < SECONDS_UNTIL_DEAD:
            raise RuntimeError(
                f"{self._path.parent} is in use: process {other['pid']} on "
                f"{other.get('host', 'some machine')} writes into it (last sign of life "
                f"{max(0.0, age):.0f} s ago). Wait until it has ended, or give another folder."
            )
        with temporary_beside(self._path) as aside:
            try:
                os.replace(self._path, aside)  # of several that find it dead, one gets it
            except FileNotFoundError:
                return
            if read_lock(aside) != other:  # another was faster, and holds the lock by right
                os.replace(aside, self._path)

    def _give_signs(self) -> None:
        while not self._released.wait(SECONDS_BETWEEN_SIGNS):
            if read_lock(self._path).get("token") != self.token:
                return
            try:
                os.utime(self._path)
            except OSError:
                return


@contextmanager
def only_writer(group: Path) -> Iterator[None]:
    """Let no other process write into the folder of a group of models during the block.

    The lock of the run tells a worker whose parent was killed to end, but between its look at that
    lock and the end of its write another call may have begun. This lock belongs to the process: the
    system releases it when the process ends, however that happens. Where a system or a disk has no
    such locks, that of the run must do.

    Raises
    ------
    RuntimeError
        If another process holds it for longer than `SECONDS_FOR_WORKER`.
    """
    file = group / "writer"
    descriptor = _locked(file)
    if descriptor is None:
        yield
        return
    try:
        with suppress(OSError):
            os.truncate(descriptor, 0)
            os.write(descriptor, json.dumps(this_process(), allow_nan=False).encode())
        yield
    finally:
        with suppress(OSError):
            file.unlink()
        os.close(descriptor)


def _locked(file: Path) -> int | None:
    """Return the descriptor of a file that this process has locked; None where that cannot be."""
    try:
        import fcntl
    except ImportError:
        return None
    end = time.monotonic() + SECONDS_FOR_WORKER
    while True:
        try:
            with suppress(FileExistsError):
                file.parent.mkdir()
            descriptor = os.open(file, os.O_RDWR | os.O_CREAT, 0o666)
        except OSError:  # the first write into the folder says what is wrong with it
            return None
        try:
            fcntl.lockf(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
            with suppress(FileNotFoundError):
                if os.path.samestat(os.fstat(descriptor), file.stat()):
                    return descriptor
            os.close(descriptor)  # it was removed meanwhile, and may be there anew
            continue
        except (BlockingIOError, PermissionError):
            other = read_lock(file)
            os.close(descriptor)
        except OSError:
            os.close(descriptor)
            return None
        if time.monotonic() > end:
            raise RuntimeError(
                f"Process {other.get('pid', '(unknown)')} on {other.get('host', 'some machine')} "
                f"still writes into {file.parent}: a worker of an earlier call that was killed, "
                "which ends before its next step. Wait, or end that process, and make the same "
                "call again."
            )
        time.sleep(_SECONDS_PER_LOOK)


def read_lock(path: Path) -> dict[str, Any]:
    """Return what a lock says of the run that holds it; nothing if there is none, or a broken."""
    try:
        found = json.loads(path.read_text())
    except (OSError, ValueError):
        return {}
    return found if isinstance(found, dict) else {}


def is_alive(lock: dict[str, Any]) -> bool:
    """Whether the process that holds a lock may still run.

    Where that cannot be known, the age of the last sign of life tells.
    """
    if may_run(lock):
        is_own = lock.get("pid") == os.getpid() and lock.get("system") == system()
        return not is_own or lock.get("token") in _held
    return False
