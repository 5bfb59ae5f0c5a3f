"""Every state in which a process that is killed could leave a folder."""

import os
import shutil
from contextlib import contextmanager
from pathlib import Path

#: Functions of the system that change a folder, or that wait until a change is on the disk.
CHANGES = ("open", "replace", "link", "unlink", "mkdir", "rmdir", "fsync")


class HalfWriter:
    """A file that is written over in place: every write can be cut off in its middle."""

    def __init__(self, file, look):
        self._file, self._look = file, look

    def write(self, data):
        data = memoryview(data).cast("B")
        self._file.write(data[: len(data) // 2])
        self._file.flush()
        self._look()
        return self._file.write(data[len(data) // 2 :])

    def __getattr__(self, name):
        return getattr(self._file, name)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self._file.close()


@contextmanager
def copied_states(folder, into, monkeypatch):
    """Copy a folder before every change to it, as far as the system knows of it; give the copies.

    That is what a process leaves behind that is killed there. States that are the same but for the
    names of temporary files are copied once.
    """
    copies, seen, busy = [], set(), []

    def look():
        if busy or not folder.exists():
            return
        busy.append(True)
        files = [path for path in sorted(folder.rglob("*")) if path.is_file()]
        state = tuple(
            (str(path.relative_to(folder)) if ".tmp" not in path.name else "", path.read_bytes())
            for path in files
            if path.name != "lock" and not path.name.startswith(".lock")
        ) + tuple(path.name.partition("lock")[1] for path in files)
        if state not in seen:
            seen.add(state)
            copies.append(into / str(len(copies)))
            shutil.copytree(folder, copies[-1])
        busy.clear()

    def watched(change):
        def call(*args, **kwargs):
            look()
            return change(*args, **kwargs)

        return call

    def opened(path, mode="r", *args, **kwargs):
        file = open_path(path, mode, *args, **kwargs)
        return HalfWriter(file, look) if mode == "r+b" and folder in path.parents else file

    open_path = Path.open
    with monkeypatch.context() as patch:
        for name in CHANGES:
            patch.setattr(os, name, watched(getattr(os, name)))
        patch.setattr(Path, "open", opened)
        yield copies
    look()
