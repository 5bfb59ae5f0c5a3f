"""Reports: small files that say how far the runs of groups of models are."""

import json
import os
import socket
import time
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from skstream.evaluation._folder._lock import read_lock
from skstream.evaluation._runs._run_outcome import Place, RunOutcome
from skstream.utils._files import atomic_write
from skstream.utils._saved import as_data, check_types, of_data

#: Least number of seconds between two reports in a run folder, which other machines may share.
SECONDS_BETWEEN = 1.0

RUNNING, FINISHED, STOPPED = "running", "finished", "stopped"


@dataclass(frozen=True, kw_only=True)
class Report:
    """How far the run of a group of models is.

    Attributes
    ----------
    state : {"running", "finished", "stopped"}
        What its process says of it; that of a killed process still says "running".
    seconds_of : dict of (str, int) to float
        By names and folds of the models, seconds that each has taken, in all calls of ``evaluate``.
    n_rows : int
        Rows done.
    first_row : int
        Row at which this call of ``evaluate`` began.
    seconds : float
        Seconds since then.
    host, pid : str, int
        Where it runs.
    token : str
        That of the lock under which it runs; empty without a run folder.
    time : float
        When this was written, in seconds of Unix time.
    path_of : dict of (str, int) to str
        How each of them is executed so far, in short, where that is known.
    failure_of : dict of (str, int) to str
        Why models have failed.
    """

    state: str
    seconds_of: dict[Place, float]
    n_rows: int
    first_row: int
    seconds: float
    host: str
    pid: int
    token: str
    time: float
    path_of: dict[Place, str] = field(default_factory=dict)
    failure_of: dict[Place, str] = field(default_factory=dict)

    @property
    def places(self) -> list[Place]:
        """Names of the models, and their folds."""
        return list(self.seconds_of)

    @property
    def rows_per_second(self) -> float | None:
        """Rows that this call of ``evaluate`` has done per second; None before the first."""
        done = self.n_rows - self.first_row
        return done / self.seconds if done > 0 and self.seconds > 0 else None

    @property
    def seconds_per_row(self) -> dict[Place, float]:
        """Seconds that every model takes per row; empty before the first row."""
        times = self.seconds_of.items() if self.n_rows else ()
        return {place: seconds / self.n_rows for place, seconds in times}

    def save(self, path: Path) -> None:
        """Write the report, completely or not at all; a power failure may lose it."""
        with atomic_write(path, flush=False) as temporary:
            temporary.write_text(json.dumps(as_data(self), indent=1, allow_nan=False))

    @classmethod
    def load(cls, path: Path) -> "Report | None":
        """Read a report; None if there is none yet.

        Raises
        ------
        ValueError
            If the file is something else, or damaged.
        """
        try:
            report: Report = of_data(json.loads(path.read_text()), {"Report": cls})
            check_types(report, cls)
            return report
        except FileNotFoundError:
            return None
        except Exception as error:  # wrong values can end in any error
            raise ValueError(
                f"{path} is not the report of a run: {type(error).__name__}: {error}. Remove it: "
                "the run writes another one."
            ) from error


@dataclass
class Reporter:
    """Writes reports of a run into a file, now and then.

    A report that cannot be written is left out: the run matters more.

    Parameters
    ----------
    path : Path or None, default=None
        The file; None for no reports.
    lock : Path or None, default=None
        The lock of the run's folder, under which alone is written.
    token : str, default=""
        That of the lock.
    every : float, default=1.0
        Least number of seconds between two reports.
    """

    path: Path | None = None
    lock: Path | None = None
    token: str = ""
    every: float = SECONDS_BETWEEN
    _first_row: int = 0
    _begun: float = 0.0
    _written: float = 0.0

    def begin(self, run: Any) -> None:
        """Report that a run begins, or goes on."""
        self._first_row, self._begun = run.n_rows, time.monotonic()
        self._write(run, RUNNING)

    def advance(self, run: Any) -> None:
        """Report how far the run is, if the last report is old enough."""
        if self.path is not None and time.monotonic() - self._written >= self.every:
            self._write(run, RUNNING)

    def stop(self, run: Any) -> None:
        """Report that an error has stopped the run."""
        self._write(run, STOPPED)

    def finish(self, outcome: RunOutcome, n_rows: int | None = None) -> None:
        """Report that a run is finished; it may have been one of another process.

        `n_rows` are the rows that it did, if it did others than those of the outcome.
        """
        if self.path is None:
            return
        with suppress(ValueError, OSError):
            last = Report.load(self.path)
            if last is not None and last.state == FINISHED:
                return
            lanes = {(lane.name, lane.fold): lane for lane in outcome.lanes}
            report = self._report(
                FINISHED,
                outcome.n_rows if n_rows is None else n_rows,
                {place: lane.cost.seconds for place, lane in lanes.items()},
                {place: lane.failure for place, lane in lanes.items() if lane.failure},
            )
            if last is not None and last.places == report.places:
                report = replace(report, path_of=last.path_of)
            if last is not None and not self._begun:
                report = self._of_another(report, last)
            self._save(report)

    def _write(self, run: Any, state: str) -> None:
        if self.path is not None:
            seconds_of, path_of = dict(run.seconds_of), run.path_of
            report = self._report(state, run.n_rows, seconds_of, dict(run.failure_of))
            paths = {place: path_of.get(place, "ended") for place in seconds_of}
            self._save(replace(report, path_of=paths))

    def _report(
        self,
        state: str,
        n_rows: int,
        seconds_of: dict[Place, float],
        failure_of: dict[Place, str],
    ) -> Report:
        return Report(
            state=state,
            seconds_of=seconds_of,
            failure_of=failure_of,
            n_rows=n_rows,
            first_row=self._first_row,
            seconds=time.monotonic() - self._begun if self._begun else 0.0,
            host=socket.gethostname(),
            pid=os.getpid(),
            token=self.token,
            time=time.time(),
        )

    def _of_another(self, report: Report, last: Report) -> Report:
        """Complete the last report of a run with what another process did after it."""
        rate = last.rows_per_second  # which stays
        seconds = 0.0 if rate is None else (report.n_rows - last.first_row) / rate
        return replace(
            report, first_row=last.first_row, seconds=seconds, host=last.host, pid=last.pid
        )

    def _save(self, report: Report) -> None:
        assert self.path is not None
        self._written = time.monotonic()
        if self.lock is None or read_lock(self.lock).get("token") == self.token:
            with suppress(OSError):  # such as a full disk: the next checkpoint will say so
                report.save(self.path)


def rows_of_models(n_rows: int, n_models: int, n_tuning: int | None) -> int:
    """Count rows once for every model that goes on: after the tuning rows one of them does."""
    together = n_rows if n_tuning is None else min(n_rows, n_tuning)
    return together * n_models + n_rows - together


def slowest(seconds: Mapping[Place, float]) -> tuple[Place, float] | None:
    """Return the model that takes longest, and its share of the time of all.

    None if there are not two, or nothing is known yet.
    """
    total = sum(seconds.values())
    if len(seconds) < 2 or not total > 0.0:
        return None
    place = max(seconds, key=lambda one: seconds[one])
    return place, seconds[place] / total


def of_place(place: Place, n_folds: int) -> str:
    """Name a model, and its fold where there are several."""
    name, fold = place
    return f"{name} (fold {fold})" if n_folds > 1 else name
