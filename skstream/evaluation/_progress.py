"""Progress bars: of a run in this process, and of runs in workers."""

import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from threading import Event, Thread

import numpy as np

from skstream.utils._optional import optional_import

#: Function that is called with the number of newly finished rows.
Advance = Callable[[int], object]

#: Seconds between two updates of the progress of workers.
SECONDS_PER_LOOK = 0.2


def ignored(n_rows: int) -> None:
    """Show no progress."""


@contextmanager
def progress_bar(total: int | None, what: str, wanted: bool) -> Iterator[Advance]:
    """Show a progress bar of rows, if requested, and give the function that advances it."""
    if not wanted:
        yield ignored
        return
    tqdm = optional_import("tqdm.auto", "progress=True").tqdm
    with tqdm(total=total, unit="row", desc=what, unit_scale=True) as bar:
        yield bar.update


class RowCounts:
    """Rows done by every job, in a file that all processes of one machine can see.

    Parameters
    ----------
    path : Path
        The file.
    """

    def __init__(self, path: Path):
        self._path = path

    @classmethod
    def create(cls, path: Path, n_jobs: int) -> "RowCounts":
        """Begin with no row done."""
        np.zeros(n_jobs, dtype=np.int64).tofile(path)
        return cls(path)

    def counter(self, job: int) -> Advance:
        """Return a function that counts the rows of a job; on another machine it does nothing."""
        try:
            counts = np.memmap(self._path, dtype=np.int64, mode="r+")
        except OSError:
            return ignored

        def advance(n_rows: int) -> None:
            counts[job] += n_rows

        counts[job] = 0
        return advance

    def finish(self, job: int, n_rows: int) -> None:
        """Note that a job is done, on any machine."""
        np.memmap(self._path, dtype=np.int64, mode="r+")[job] = n_rows

    def total(self) -> int:
        """Count the rows done so far."""
        return int(np.fromfile(self._path, dtype=np.int64).sum())


@contextmanager
def bar_of_workers(
    total: int | None, what: str, wanted: bool, n_jobs: int
) -> Iterator[RowCounts | None]:
    """Show a progress bar that a thread updates while the workers count their rows."""
    if not wanted:
        yield None
        return
    with (
        tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as folder,
        progress_bar(total, what, wanted) as advance,
    ):
        counts = RowCounts.create(Path(folder) / "rows", n_jobs)
        ended = Event()
        thread = Thread(target=_follow, args=(counts, advance, ended), daemon=True)
        thread.start()
        try:
            yield counts
        finally:
            ended.set()
            thread.join()


def _follow(counts: RowCounts, advance: Advance, ended: Event) -> None:
    shown, last = 0, False
    while not last:
        last = ended.wait(SECONDS_PER_LOOK)
        done = counts.total()
        advance(done - shown)
        shown = done
