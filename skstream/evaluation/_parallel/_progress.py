"""Progress bars: of a run in this process, and of runs in workers."""

import tempfile
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from threading import Event, Thread
from typing import Any

from skstream.evaluation._folder import OpenedFolder
from skstream.evaluation._folder._reports import FINISHED, Report, Reporter, of_place, slowest
from skstream.evaluation._runs._run_outcome import Place
from skstream.utils._optional import optional_import

#: Seconds between two updates of the progress of workers on this machine.
SECONDS_PER_LOOK = 0.2
#: Seconds between two signs of life of a bar, where no row is done meanwhile.
SECONDS_PER_SIGN = 1.0
#: Most models that a bar names for each way of execution.
_MOST_NAMES = 3


@dataclass
class Bar:
    """A progress bar of rows, shown by tqdm."""

    shown: Any

    def pass_over(self, n_rows: int) -> None:
        """Show how many rows an earlier call has done: they say nothing of the rate."""
        more = n_rows - getattr(self.shown, "initial", 0)
        if more and not self.shown.disable:
            for name in ("initial", "n", "last_print_n"):
                setattr(self.shown, name, getattr(self.shown, name) + more)
            self.shown.refresh()

    def show(self, n_rows: int, seconds: Mapping[Place, float], paths: Mapping[Place, str]) -> None:
        """Show so many rows, the model that takes longest, and how each is executed."""
        text = _in_words(seconds, paths)
        if text:
            self.shown.set_postfix_str(text, refresh=False)
        self.shown.update(n_rows - self.shown.n)


def _in_words(seconds: Mapping[Place, float], paths: Mapping[Place, str]) -> str:
    """Name the model that takes longest, with its share of time, and the paths of the others."""
    found = slowest(seconds)
    words, named = [], set()
    if found is not None:
        place, share = found
        n_folds = len({fold for _, fold in seconds})
        path = f" ({paths[place]})" if place in paths else ""
        words.append(f"slowest: {of_place(place, n_folds)}{path}, {share:.0%} of the time")
        named.add(place[0])
    others: dict[str, dict[str, None]] = {}
    for (name, _), path in paths.items():
        if name not in named:
            others.setdefault(path, {})[name] = None
    if len({name for name, _ in paths}) == 1:
        return "; ".join([*words, *others])
    for path, names in others.items():
        shown = list(names)[:_MOST_NAMES]
        more = [f"{len(names) - len(shown)} more"] if len(names) > len(shown) else []
        words.append(f"{path}: {', '.join([*shown, *more])}")
    return "; ".join(words)


@contextmanager
def progress_bar(total: int | None, what: str) -> Iterator[Bar]:
    """Show a progress bar of rows."""
    tqdm = optional_import("tqdm.auto", "progress=True").tqdm
    # Time passes, and what is left grows, though a row or a held-out set may take long.
    with (
        tqdm(total=total, unit="row", desc=what, unit_scale=True) as shown,
        _repeated(shown.refresh, SECONDS_PER_SIGN),
    ):
        yield Bar(shown)


@contextmanager
def bar_of_workers(
    total: int | None, what: str, wanted: bool, n_jobs: int, folder: OpenedFolder | None
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
        if wanted:
            bar = stack.enter_context(progress_bar(total, what))
            stack.enter_context(_followed(reporters, bar))
        yield reporters


@contextmanager
def _followed(reporters: Sequence[Reporter], bar: Bar) -> Iterator[None]:
    """Let a thread show what is reported."""

    def look() -> None:
        seen = list(_seen(reporters))
        bar.pass_over(sum(before for _, before in seen))
        bar.show(
            sum(report.n_rows * len(report.places) for report, _ in seen),
            {k: v for report, _ in seen for k, v in report.seconds_per_row.items()},
            {k: v for report, _ in seen for k, v in report.path_of.items()},
        )

    with _repeated(look, reporters[0].every):
        yield


@contextmanager
def _repeated(look: Callable[[], object], every: float) -> Iterator[None]:
    """Let a thread call a function every so many seconds, and once at the end."""
    ended = Event()

    def look_again_and_again() -> None:
        last = False
        while not last:
            last = ended.wait(every)
            look()

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
