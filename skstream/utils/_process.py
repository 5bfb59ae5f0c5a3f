"""Which process this is, and whether another still runs."""

import functools
import hashlib
import os
import socket
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any


@functools.cache
def system() -> str:
    """Name the system that gives this process its number: the host, or a container on it."""
    name = socket.gethostname()
    with suppress(OSError):
        # Machines and containers may share a name; of what has started once, no two have these.
        name += Path("/proc/sys/kernel/random/boot_id").read_text()
        name += os.readlink("/proc/self/ns/pid")
    return hashlib.sha256(name.encode()).hexdigest()[:8]


def this_process() -> dict[str, Any]:
    """Say which process this is, so that another one can ask whether it still runs."""
    pid = os.getpid()
    return {
        "host": socket.gethostname(),
        "system": system(),
        "pid": pid,
        "started": _start_and_state(pid)[0],
    }


def may_run(process: Mapping[str, Any]) -> bool:
    """Whether a process may still run.

    Processes of other machines and containers cannot be looked for, also of such as have the same
    host name: they may.
    """
    pid = process.get("pid")
    if process.get("system") != system() or os.name == "nt" or not isinstance(pid, int):
        return True
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    except OSError:
        pass
    started, state = _start_and_state(pid)
    # A process that was killed keeps its number until its parent has taken note of its end.
    return started == process.get("started") and state not in ("Z", "X")


def _start_and_state(pid: int) -> tuple[str | None, str | None]:
    """Return when a process began, which tells it from a later one with its number, and its state.

    Systems without "/proc" do not say.
    """
    try:
        fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
        return fields[19], fields[0]
    except (OSError, IndexError):
        return None, None
