"""The lock of a run folder: only one run at a time writes into it."""

import json
import os
import secrets
import socket
import time
from pathlib import Path
from threading import Event, Thread
from typing import Any

from skstream.utils._files import remove_stale, system, temporary_beside

#: Seconds between two signs of life of the run that holds a lock.
SECONDS_BETWEEN_SIGNS = 10.0
#: Seconds without one after which the run counts as dead, on whichever machine it was.
SECONDS_UNTIL_DEAD = 600.0

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
        pid = os.getpid()
        own = {
            "host": socket.gethostname(),
            "system": system(),
            "pid": pid,
            "started": _start_of(pid),
            "token": self.token,
        }
        with temporary_beside(self._path) as temporary:
            temporary.write_text(json.dumps(own))
            try:
                os.link(temporary, self._path)
            except FileExistsError:
                return False
            except OSError:  # a file system without links
                try:
                    with self._path.open("x") as file:
                        file.write(json.dumps(own))
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


def read_lock(path: Path) -> dict[str, Any]:
    """Return what a lock says of the run that holds it; nothing if there is none, or a broken."""
    try:
        found = json.loads(path.read_text())
    except (OSError, ValueError):
        return {}
    return found if isinstance(found, dict) else {}


def is_alive(lock: dict[str, Any]) -> bool:
    """Whether the process that holds a lock may still run.

    Processes of other machines and containers cannot be looked for, also of such as have the same
    host name: there, the age of the last sign of life tells.
    """
    if lock.get("system") != system() or os.name == "nt":
        return True
    pid = lock.get("pid")
    if not isinstance(pid, int):
        return True
    if pid == os.getpid():
        return lock.get("token") in _held
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    except OSError:
        pass
    return _start_of(pid) == lock.get("started")


def _start_of(pid: int) -> str | None:
    """Return when a process began, which tells it from a later one with its number."""
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[19]
    except (OSError, IndexError):
        return None
