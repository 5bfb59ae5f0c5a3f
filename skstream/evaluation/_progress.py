"""Progress bars: of a run in this process, and of runs in workers."""

import tempfile
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from threading import Event, Thread
from typing import Any

from skstream.evaluation._outcome import Place
from skstream.evaluation.folder import RunFolder
from skstream.evaluation.folder._reports import FINISHED, Report, Reporter, of_place, slowest
from skstream.utils._optional import optional_import

#: Function that is called with the number of newly finished rows.
Advance = Callable[[int], object]

#: Seconds between two updates of the progress of workers on this machine.
SECONDS_PER_LOOK = 0.2


def ignored(n_rows: int) -> None:
    """Show no progress."""


@dataclass
class Bar:
    """A progress bar of rows; without one of tqdm, nothing is shown."""

    shown: Any = None

    def advance(self, n_rows: int) -> None:
        """Show so many more rows."""
        if self.shown is not None:
            self.shown.update(n_rows)

    def pass_over(self, n_rows: int) -> None:
        """Show rows that an earlier call has done: they say nothing of the rate."""
        if self.shown is not None and n_rows:
            for name in ("initial", "n", "last_print_n"):
                setattr(self.shown, name, getattr(self.shown, name) + n_rows)
            self.shown.refresh()

    def name_slowest(self, seconds: Mapping[Place, float]) -> None:
        """Name the model that takes longest."""
        found = slowest(seconds) if self.shown is not None else None
        if found is not None:
            place, share = found
            n_folds = len({fold for _, fold in seconds})
            text = f"slowest: {of_place(place, n_folds)}, {share:.0%} of the time"
            self.shown.set_postfix_str(text, refresh=False)


@contextmanager
def progress_bar(total: int | None, what: str, wanted: bool) -> Iterator[Bar]:
    """Show a progress bar of rows, if requested."""
    if not wanted:
        yield Bar()
        return
    tqdm = optional_import("tqdm.auto", "progress=True").tqdm
    with tqdm(total=total, unit="row", desc=what, unit_scale=True) as shown:
        yield Bar(shown)


@contextmanager
def bar_of_workers(
    total: int | None, what: str, wanted: bool, n_jobs: int, folder: RunFolder | None
) -> Iterator[list[Reporter]]:
    """Give a reporter for every job, and show a progress bar of their reports, if requested.

    Reports are in the run folder, which workers on all machines share; or else in a temporary
    folder, which those on this machine see.
    """
    with ExitStack() as stack:
        if folder is not None:
            reporters = [group.reporter for group in folder.groups]
        elif wanted:
            seen = stack.enter_context(tempfile.TemporaryDirectory(ignore_cleanup_errors=True))
            reporters = [
                Reporter(Path(seen) / f"{number}.json", every=SECONDS_PER_LOOK)
                for number in range(n_jobs)
            ]
        else:
            reporters = [Reporter()] * n_jobs
        bar = stack.enter_context(progress_bar(total, what, wanted))
        if wanted:
            stack.enter_context(_followed(reporters, bar))
        yield reporters


@contextmanager
def _followed(reporters: Sequence[Reporter], bar: Bar) -> Iterator[None]:
    """Let a thread show what is reported."""
    ended = Event()

    def look_again_and_again() -> None:
        shown = passed = 0
        last = False
        while not last:
            last = ended.wait(reporters[0].every)
            seen = list(_seen(reporters))
            done_before = sum(before for _, before in seen)
            done = sum(report.n_rows * len(report.places) for report, _ in seen)
            bar.pass_over(done_before - passed)
            bar.name_slowest(
                {k: v for report, _ in seen for k, v in report.seconds_per_row.items()}
            )
            bar.advance(done - done_before - shown)
            passed, shown = done_before, done - done_before

    thread = Thread(target=look_again_and_again, daemon=True)
    thread.start()
    try:
        yield
    finally:
        ended.set()
        thread.join()


def _seen(reporters: Sequence[Reporter]) -> Iterator[tuple[Report, int]]:
    """Reports, and how many of their rows an earlier call has done."""
    for reporter in reporters:
        report = None
        with suppress(ValueError, OSError):
            report = None if reporter.path is None else Report.load(reporter.path)
        if report is None:
            continue
        if report.token == reporter.token:
            yield report, report.first_row * len(report.places)
        elif report.state == FINISHED:
            yield report, report.n_rows * len(report.places)
