"""How far the run in a folder is, seen from anywhere, and the result of what has finished."""

import os
import time
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from skstream.evaluation._folder._group import GroupFolder
from skstream.evaluation._folder._lock import is_alive, read_lock
from skstream.evaluation._folder._reports import (
    FINISHED,
    RUNNING,
    STOPPED,
    Report,
    of_place,
    rows_of_models,
    slowest,
)
from skstream.evaluation._folder._run_folder import existing
from skstream.evaluation._parallel._joined_outcomes import joined, result_so_far
from skstream.evaluation._results._assemble import assemble
from skstream.evaluation._results._result import EvaluationResult
from skstream.evaluation._runs._run_outcome import Place
from skstream.utils._optional import optional_import
from skstream.utils._tables import aligned, listed
from skstream.utils._times import duration_in_words

WAITING, STALE, UNKNOWN = "waiting", "stale", "unknown"
#: Seconds without a sign of life after which a run or a group is called stale.
SECONDS_UNTIL_STALE = 60.0
#: Name of the model that goes on alone, which is known late.
_CHOSEN = "the chosen one"
#: Most names in a line of a group.
_MOST_NAMES = 4


@dataclass(frozen=True, kw_only=True)
class GroupStatus:
    """How far a group of models is, which one worker evaluates together.

    Attributes
    ----------
    state : {"waiting", "running", "finished", "stopped", "stale", "unknown"}
        "waiting": for a worker. "stale": its last report is more than a minute old; its worker has
        died, or one call of a model takes that long. "unknown": its report is damaged; a running
        group writes another one.
    models : tuple of (str, int)
        Names of the models, and their folds.
    n_rows : int
        Rows of the stream that it has done.
    n_rows_total : int or None
        Rows of the stream; None where that is not known.
    rows_per_second : float or None
        Rows of the stream per second, since the last call of ``evaluate``.
    seconds_left : float or None
        Estimated time until it is finished, if it is running.
    seconds : dict of (str, int) to float
        Time that every model has taken.
    host, pid : str, int or None
        Where it runs, or has run.
    failures : dict of (str, int) to str
        Why models of it have failed.
    """

    state: str
    models: tuple[Place, ...]
    n_rows: int
    n_rows_total: int | None
    rows_per_second: float | None
    seconds_left: float | None
    seconds: dict[Place, float]
    host: str | None
    pid: int | None
    failures: dict[Place, str] = field(default_factory=dict)


@dataclass(frozen=True, kw_only=True, repr=False)
class RunStatus:
    """How far the run in a folder is; print it.

    Attributes
    ----------
    folder : Path
        The run's folder.
    state : {"running", "finished", "stopped", "stale"}
        "stopped": no process runs it; the call that began it goes on. "stale": the process that ran
        it was killed, or has given no sign of life for a minute.
    host, pid : str, int or None
        Where it runs, or was killed.
    groups : tuple of GroupStatus
        The groups of models.
    drops : bool
        Whether a race may drop candidates: `n_rows_total` is then an upper bound, and rows of
        candidates that were dropped count as done.
    """

    folder: Path
    state: str
    host: str | None
    pid: int | None
    groups: tuple[GroupStatus, ...]
    drops: bool = False

    @property
    def n_rows(self) -> int:
        """Rows done, each counted once for every model and fold that has done it."""
        return sum(group.n_rows * len(group.models) for group in self.groups)

    @property
    def n_rows_total(self) -> int | None:
        """Rows to be done, counted in the same way; None where that is not known."""
        totals = [(group.n_rows_total, len(group.models)) for group in self.groups]
        known = [total * n_models for total, n_models in totals if total is not None]
        return sum(known) if len(known) == len(totals) else None

    @property
    def rows_per_second(self) -> float | None:
        """Rows per second of all running groups, counted in the same way; None if none runs."""
        rates = [
            group.rows_per_second * len(group.models)
            for group in self.groups
            if group.state == RUNNING and group.rows_per_second is not None
        ]
        return sum(rates) if rates else None

    @property
    def seconds_left(self) -> float | None:
        """Estimated time until all groups are finished; None if nothing runs, or no end is known.

        At least that of the slowest running group, and what all rows need at the rate of now.
        """
        total, rate = self.n_rows_total, self.rows_per_second
        if total is None or rate is None:
            return None
        own = [group.seconds_left for group in self.groups if group.seconds_left is not None]
        return max([(total - self.n_rows) / rate, *own])

    @property
    def slowest(self) -> tuple[str, int, float] | None:
        """The model that takes longest per row, its fold, and its share of the time of all.

        None if there is one model only, or nothing is known yet.
        """
        found = slowest(
            {
                place: seconds / group.n_rows
                for group in self.groups
                if group.n_rows and len(group.seconds) == len(group.models)
                for place, seconds in group.seconds.items()
            }
        )
        return None if found is None else (*found[0], found[1])

    def to_frame(self) -> Any:
        """Return a pandas data frame, one row per model and fold."""
        pandas = optional_import("pandas", "to_frame()")
        return pandas.DataFrame(
            [
                {
                    "model": name,
                    "fold": fold,
                    "group": number,
                    "state": group.state,
                    "rows": group.n_rows,
                    "rows_total": group.n_rows_total,
                    "rows_per_second": group.rows_per_second,
                    "seconds": group.seconds.get((name, fold), 0.0),
                    "seconds_left": group.seconds_left,
                    "host": group.host,
                    "pid": group.pid,
                    "failure": group.failures.get((name, fold), ""),
                }
                for number, group in enumerate(self.groups)
                for name, fold in group.models
            ]
        )

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self._first_line()}; print it, or see to_frame())"

    def __str__(self) -> str:
        n_folds = self._n_folds
        lines = [f"Run in {self._first_line()}", self._rows()]
        if self.slowest is not None:
            name, fold, share = self.slowest
            lines.append(f"Slowest: {of_place((name, fold), n_folds)}, {share:.0%} of the time")
        for group in self.groups:
            for place, why in group.failures.items():
                lines.append(f"Failed: {of_place(place, n_folds)}: {why}")
        header = ["group", "state", "rows", "per second", "left", "where", "models"]
        cells = [
            [
                str(number),
                group.state,
                _of(group.n_rows, group.n_rows_total),
                "" if group.rows_per_second is None else f"{group.rows_per_second:,.0f}",
                "" if group.seconds_left is None else duration_in_words(group.seconds_left),
                "" if group.host is None else f"{group.host}:{group.pid}",
                _names(group.models, n_folds),
            ]
            for number, group in enumerate(self.groups)
        ]
        return "\n".join([*lines, *aligned(header, cells)])

    @property
    def _n_folds(self) -> int:
        return len({fold for group in self.groups for _, fold in group.models})

    def _first_line(self) -> str:
        where = ""
        if self.host is not None:
            verb = "was" if self.state == STALE else "is"
            where = f" (it {verb} process {self.pid} on {self.host})"
        total = self.n_rows_total
        share = f", {_percent(self.n_rows, total)} done" if total else ""
        return f"{self.folder}: {self.state}{where}{share}"

    def _rows(self) -> str:
        total = self.n_rows_total
        line = f"{_of(self.n_rows, total)} rows"
        if self.drops and self.state != FINISHED and total is not None:
            line = f"{self.n_rows:,} of at most {total:,} rows"
        if any(len(group.models) > 1 for group in self.groups) or len(self.groups) > 1:
            folds = " and fold" if self._n_folds > 1 else ""
            line += f" (each counted for every model{folds})"
        if self.rows_per_second is not None:
            line += f", {self.rows_per_second:,.0f} per second"
        if self.seconds_left is not None:
            line += f", about {duration_in_words(self.seconds_left)} left"
        return line


def run_status(folder: str | os.PathLike[str]) -> RunStatus:
    """Say how far the run in a folder is.

    Only data is read, by any process on any machine that sees the folder, and nothing is written.

    Parameters
    ----------
    folder : str or path-like
        Folder that was given to an evaluator or a search as ``checkpoint``.

    Returns
    -------
    status : RunStatus
        State, rows done and to be done, rows per second, time left, and the slowest model; for all
        and for every group of models. Print it. In a search with ``tuning=``, the last group is
        the chosen candidate, after the tuning rows; in one with a race, the rows to be done are at
        most those given, as if no candidate were dropped.

    Raises
    ------
    FileNotFoundError
        If there is no such folder.
    ValueError
        If the folder holds no run, or its manifest is damaged.

    Examples
    --------
    >>> import tempfile
    >>> from skstream import Persistent, PrequentialEvaluator, run_status
    >>> from skstream.streams import make_demo_stream
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     evaluator = PrequentialEvaluator("accuracy", checkpoint=folder)
    ...     result = evaluator.evaluate(Persistent(), make_demo_stream(100))
    ...     seen = run_status(folder)
    >>> seen.state, seen.n_rows, seen.n_rows_total
    ('finished', 100, 100)
    """
    run = existing(folder)
    manifest = run.manifest
    assert manifest is not None
    file = run.path / "lock"
    lock = read_lock(file)
    state = _state_of(file, lock)
    total, token = manifest.n_rows, lock.get("token")
    of_groups = total if manifest.n_tuning is None else manifest.n_tuning
    groups: tuple[GroupStatus, ...]
    if manifest.n_tuning is not None and len(manifest.groups) == 1:
        found = _group(run.group(0), manifest.places, total, state, token, manifest.n_tuning)
        groups = (_of_tuning(found, manifest.n_tuning), _of_chosen(found, manifest.n_tuning))
    else:
        groups = tuple(
            _group(one, places, of_groups, state, token)
            for one, places in zip(run.groups, manifest.groups, strict=True)
        )
        if manifest.n_tuning is not None:
            found = _group(run.chosen, manifest.places, total, state, token)
            groups += (_of_chosen(found, manifest.n_tuning),)
    if all(group.state == FINISHED for group in groups):
        state, lock = FINISHED, {}
    return RunStatus(
        folder=run.path,
        state=state,
        host=lock.get("host"),
        pid=lock.get("pid"),
        groups=groups,
        drops=manifest.drops,
    )


def _state_of(file: Path, lock: dict[str, Any]) -> str:
    """State of a run that is not finished, by its lock."""
    try:
        age = time.time() - file.stat().st_mtime
    except FileNotFoundError:
        return STOPPED
    return RUNNING if is_alive(lock) and age < SECONDS_UNTIL_STALE else STALE


def _group(
    folder: GroupFolder,
    places: list[Place],
    total: int | None,
    run: str,
    token: Any,
    n_tuning: int | None = None,
) -> GroupStatus:
    """Status of a group; after `n_tuning` rows one of its models goes on alone."""
    try:
        report, is_readable = Report.load(folder.status), True
    except ValueError:
        report, is_readable = None, False
    if report is not None and not set(report.places) <= set(places):
        report, is_readable = None, False  # of another run
    state = _state_of_group(folder, report, run, token)
    if not is_readable and state != FINISHED:
        state = UNKNOWN
    rate = None if report is None else report.rows_per_second
    n_rows = 0 if report is None else report.n_rows
    if state == FINISHED:
        n_rows = n_rows if total is None else total
    elif report is not None and len(report.places) < len(places) and rate is not None:
        # One model alone, after the worker of the group has died: the others stand still.
        share = len(report.places) / len(places)
        n_rows, rate = int(n_rows * share), rate * share
    if report is not None and rate is not None and n_tuning is not None and n_rows > n_tuning:
        # The rate of now is that of one model; that of before was shared by all.
        done, before = (
            rows_of_models(n, len(places), n_tuning) for n in (report.n_rows, report.first_row)
        )
        rate *= (done - before) / (report.n_rows - report.first_row)
    left = None
    if state == RUNNING and rate is not None and total is not None:
        left = max(0, total - n_rows) / rate
    return GroupStatus(
        state=state,
        models=tuple(places),
        n_rows=n_rows,
        n_rows_total=n_rows if state == FINISHED else total,
        rows_per_second=rate,
        seconds_left=left,
        seconds={} if report is None else report.seconds_of,
        failures={} if report is None else report.failure_of,
        host=None if report is None else report.host,
        pid=None if report is None else report.pid,
    )


def _of_tuning(found: GroupStatus, n_tuning: int) -> GroupStatus:
    """Status of the candidates of one group along the tuning rows."""
    if found.n_rows >= n_tuning:
        found = replace(found, state=FINISHED, n_rows=n_tuning, n_rows_total=n_tuning)
        return replace(found, rows_per_second=None, seconds_left=None)
    left, rate = found.seconds_left, found.rows_per_second
    if found.state == RUNNING and rate is not None:
        left = (n_tuning - found.n_rows) / rate
    total = found.n_rows if found.state == FINISHED else n_tuning
    return replace(found, n_rows_total=total, seconds_left=left)


def _of_chosen(found: GroupStatus, n_tuning: int) -> GroupStatus:
    """Status of the model that goes on alone after the tuning rows."""
    total = found.n_rows_total
    if found.n_rows < n_tuning and found.state != FINISHED:
        found = replace(found, state=WAITING, rows_per_second=None, seconds_left=None)
        found = replace(found, host=None, pid=None)
    return replace(
        found,
        models=((_CHOSEN, 0),),
        n_rows=max(0, found.n_rows - n_tuning),
        n_rows_total=None if total is None else max(0, total - n_tuning),
        seconds={},
    )


def _state_of_group(folder: GroupFolder, report: Report | None, run: str, token: Any) -> str:
    if folder.is_finished:
        return FINISHED
    begun = report is not None and report.token == token
    if run != RUNNING:
        return run if report is not None or folder.checkpoint.exists() else WAITING
    if report is None or not begun:
        return WAITING
    if report.state != RUNNING:
        return STOPPED
    # The clocks of two machines differ: a report from the future is new.
    return STALE if time.time() - report.time > SECONDS_UNTIL_STALE else RUNNING


def _of(n_rows: int, total: int | None) -> str:
    return f"{n_rows:,}" if total is None else f"{n_rows:,} of {total:,}"


def _percent(n_rows: int, total: int) -> str:
    """Share in whole percent, rounded down: 100 % is the end."""
    return f"{100 * n_rows // total}%"


def _names(places: tuple[Place, ...], n_folds: int) -> str:
    """Names of the models of a group, with folds where it has some of them."""
    folds: dict[str, list[int]] = {}
    for name, fold in places:
        folds.setdefault(name, []).append(fold)
    names = [
        name if len(of_model) == n_folds else f"{name} (fold {', '.join(map(str, of_model))})"
        for name, of_model in folds.items()
    ]
    return listed(names, _MOST_NAMES)


def collect_result(folder: str | os.PathLike[str]) -> EvaluationResult:
    """Make the result of the models that have finished in a run folder: see `skstream.load`."""
    run = existing(folder)
    manifest = run.manifest
    assert manifest is not None
    finished, why = list(run.finished().values()), "the result was collected"
    try:
        if len(finished) == len(manifest.groups):
            return assemble(manifest.header, joined(finished, {}, manifest.places))
        result = result_so_far(manifest.header, finished, manifest.places, why)
    except (LookupError, TypeError, AttributeError, OverflowError, StopIteration) as error:
        raise ValueError(
            f"{run.path} is damaged: what its manifest.json and the outcome.npz of its groups say "
            f"does not fit together ({type(error).__name__}: {error})."
        ) from error
    if result is None:
        raise ValueError(
            f"No model has finished yet in {run.path}: none of {len(manifest.groups)} groups of "
            "models is done. Go on with the call that began it."
        )
    return result
