"""Evaluations killed at random moments (kill -9) and started again: is the result the same?

An evaluation with checkpoints runs in a process of its own. It is killed, or one of its workers
is, at a random moment, and the same call is made again in the same folder, and killed again, until
it gets through; then the next one starts in a new folder. Every result must be that of an
evaluation that nothing disturbed, to the last bit, and no group of lanes that was finished may be
computed again (its file of outcomes stays as it was).

    python -m benchmarks.bench_kill                                  # 3 moments of each kind
    python -m benchmarks.bench_kill --moments 50
    python -m benchmarks.bench_kill single worker --moments 10 --rows 20000
    python -m benchmarks.bench_kill dask --moments 50                # some minutes

Kinds: "single" kills an evaluation in one process, "client" one that has two workers (which are
not killed), "worker" one of the two workers, "dask" a worker of a Dask cluster of two, which starts
another one and serves all evaluations; a second line says where their time went. "delayed",
"holdout", "strings" (labels that are text, and weights), "parquet" and "kernel" kill other
evaluations in one process; they keep their tapes on disk. Every change to a folder, one by one, is
tried in ``tests/evaluation/test_kills.py``. Run from the top of the repository, on Linux.
"""

import argparse
import faulthandler
import os
import signal
import subprocess
import sys
import tempfile
import time
import warnings
from contextlib import ExitStack, suppress
from pathlib import Path
from threading import Timer
from typing import Any

import numpy as np
from sklearn.linear_model import SGDClassifier

import skstream
from benchmarks.bench_folds import generated
from skstream import (
    DelayedEvaluator,
    HoldoutEvaluator,
    KFoldEvaluator,
    Persistent,
    PrequentialEvaluator,
    load,
)
from skstream.evaluation import RunFolder
from skstream.naive_bayes import IncrementalGaussianNB
from skstream.streams import ParquetStream

MODELS = {
    "SGD": SGDClassifier(),
    "naive Bayes": IncrementalGaussianNB(),
    "persistent": Persistent(),
}
METRICS = ["accuracy", "kappa"]
#: Of the evaluations in one process: how they are made, and further options.
PROTOCOLS: dict[str, tuple[Any, dict[str, Any]]] = {
    "single": (KFoldEvaluator, {"n_folds": 4, "engine": "loop"}),
    "delayed": (DelayedEvaluator, {"delay": 50, "n_bins": 4, "keep_tape": "disk"}),
    "holdout": (HoldoutEvaluator, {"holdout": "next", "every": 50, "keep_tape": "disk"}),
    "strings": (PrequentialEvaluator, {"engine": "loop", "keep_tape": "disk"}),
    "parquet": (KFoldEvaluator, {"n_folds": 4, "engine": "loop", "keep_tape": "disk"}),
    "kernel": (KFoldEvaluator, {"n_folds": 4, "keep_tape": "disk"}),
}
IN_WORKERS = ("client", "worker", "dask")
KINDS = ("single", *IN_WORKERS, *(kind for kind in PROTOCOLS if kind != "single"))
#: Tries after which an evaluation is left alone, so that the next one gets its turn.
MOST_KILLS = 8
#: Rows, unless they are given. On a cluster each evaluation waits some seconds for a worker anyway.
ROWS, ROWS_ON_CLUSTER = 2000, 300
#: Seconds after which an evaluation on a cluster counts as hanging; it says where it stands.
HANGS = 300


def victim(kind: str, folder: Path, save: Path, rows: int) -> None:
    """Evaluate with checkpoints, and save the result."""
    X, y = generated(rows)
    make, params = PROTOCOLS["single" if kind in IN_WORKERS else kind]
    evaluator = make(
        METRICS,
        random_state=0,
        n_jobs=2 if kind in IN_WORKERS else 1,
        checkpoint=RunFolder(folder, every="0.3s"),
        **params,
    )
    if kind == "strings":
        weight = np.random.default_rng(1).uniform(0.5, 2.0, rows)
        labels = np.array(["down", "up"])[y]
        result = evaluator.evaluate(MODELS, X, labels, sample_weight=weight)
    elif kind == "parquet":
        stream = ParquetStream(save.with_name("rows.parquet"), target="y")
        result = evaluator.evaluate(MODELS, stream)
    else:
        result = evaluator.evaluate(MODELS, X, y)
    result.save(save)


def write_parquet(path: Path, rows: int) -> None:
    """Write the rows to a file."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    X, y = generated(rows)
    columns = {f"x{k}": column for k, column in enumerate(X.T)}
    pq.write_table(pa.table({**columns, "y": y}), path)


def command(kind: str, folder: Path, save: Path, rows: int) -> list[str]:
    given = ["--victim", kind, "--folder", str(folder), "--save", str(save), "--rows", str(rows)]
    return [sys.executable, "-m", "benchmarks.bench_kill", *given]


def workers_of(process: int) -> list[int]:
    """Numbers of the worker processes that a process has started."""
    found = []
    for folder in Path("/proc").glob("[0-9]*"):
        try:
            parent = int((folder / "stat").read_text().rpartition(")")[2].split()[1])
            words = (folder / "cmdline").read_bytes()
        except OSError:  # it has ended
            continue
        if parent == process and b"resource_tracker" not in words:
            found.append(int(folder.name))
    return sorted(found)


def kill(numbers: list[int]) -> None:
    for number in numbers:
        with suppress(ProcessLookupError):
            os.kill(number, signal.SIGKILL)


def finished(folder: Path) -> dict[str, tuple[int, int]]:
    """The files of outcomes, by path: which file it is, and when it was written."""
    return {
        str(path): (path.stat().st_ino, path.stat().st_mtime_ns)
        for path in folder.glob("group-*/outcome.npz")
    }


def differences(path: Path, expected: Path) -> list[str]:
    """What differs between two results."""
    one, other = load(path), load(expected)
    found = [] if one.n_rows == other.n_rows else ["n_rows"]
    if repr(one.scores) != repr(other.scores):  # as text, in which NaN is NaN
        found.append("scores")
    for name in MODELS:
        if not np.array_equal(one.tape.answers[name], other.tape.answers[name]):
            found.append(f"answers of {name}")
        found += [
            f"{metric} of {name}"
            for metric in one.metric_names
            if not np.array_equal(
                one.curve(name, metric), other.curve(name, metric), equal_nan=True
            )
        ]
    return found


class Trial:
    """Evaluations of one kind, killed at random moments."""

    def __init__(self, kind: str, options: argparse.Namespace, place: Path) -> None:
        self.kind, self.rows, self.place = kind, options.rows or ROWS, place
        self.rng = np.random.default_rng([options.seed, KINDS.index(kind)])
        self.expected = place / "expected.npz"
        self.wrong: list[str] = []
        self.n_kills = self.n_evaluations = 0
        if kind == "parquet":
            write_parquet(place / "rows.parquet", self.rows)
        self._started(place / "undisturbed", self.expected).wait()
        folder = place / "again"  # as the first start of a program takes longer
        process = self._started(folder, self.expected)
        self._wait_until_begun(process, folder, 0.0)
        begin = time.monotonic()
        if process.wait():
            sys.exit((place / "errors").read_text())
        self.seconds = time.monotonic() - begin

    @staticmethod
    def _wait_until_begun(process: subprocess.Popen[bytes], folder: Path, since: float) -> None:
        """Wait until the evaluation holds the lock of its folder, by a file written since."""
        lock = folder / "lock"
        while process.poll() is None:
            with suppress(FileNotFoundError):
                if lock.stat().st_mtime > since:
                    return
            time.sleep(0.01)

    def _started(self, folder: Path, save: Path) -> subprocess.Popen[bytes]:
        with (self.place / "errors").open("ab") as errors:  # what killed processes have left
            return subprocess.Popen(command(self.kind, folder, save, self.rows), stderr=errors)

    def evaluate(self, n_kills: int) -> None:
        """One evaluation in its own folder, killed up to so many times."""
        self.n_evaluations += 1
        folder = self.place / f"run-{self.n_evaluations}"
        save = self.place / f"result-{self.n_evaluations}.npz"
        kept: dict[str, tuple[int, int]] = {}
        left_alive: list[int] = []  # workers of a killed client go on until they notice
        for attempt in range(n_kills + 1):
            since = time.time()
            process = self._started(folder, save)
            try:
                self._wait_until_begun(process, folder, since)
                killed = attempt < n_kills and self._kill(process)
                if not killed:
                    process.wait()
            finally:
                left_alive += workers_of(process.pid)
                kill([process.pid])
                process.wait()
            now = finished(folder)
            self.wrong += [f"{path} written again" for path in kept if now[path] != kept[path]]
            kept = now
            if not killed:
                break
        kill(left_alive)
        if process.returncode:
            print((self.place / "errors").read_text(), flush=True)
            self.wrong.append(f"evaluation {self.n_evaluations} ended with {process.returncode}")
        else:
            self.wrong += differences(save, self.expected)

    def _kill(self, process: subprocess.Popen[bytes]) -> bool:
        """Kill at a random moment; whether the evaluation has to be started again."""
        try:
            process.wait(self.rng.uniform(0, self.seconds))
        except subprocess.TimeoutExpired:
            pass
        else:
            return False  # it got through before
        if self.kind == "worker":
            workers = workers_of(process.pid)
            if workers:
                os.kill(int(self.rng.choice(workers)), signal.SIGKILL)
                self.n_kills += 1
            return False  # it must go on by itself
        self.n_kills += 1
        return True


class DaskTrial:
    """Evaluations on one Dask cluster, of which a worker is killed at a random moment each."""

    def __init__(self, options: argparse.Namespace, place: Path, stack: ExitStack) -> None:
        import dask
        import distributed

        # So many seconds after the death of a worker Dask looks for the one in its place; if that
        # is starting, since it was killed as well, the cluster gives the place up for ever.
        stack.enter_context(dask.config.set({"distributed.deploy.lost-worker-timeout": "1h"}))
        self._cluster = stack.enter_context(
            distributed.LocalCluster(
                n_workers=2, threads_per_worker=1, host="127.0.0.1", dashboard_address=None
            )
        )
        self._client = stack.enter_context(distributed.Client(self._cluster))
        self.rows, self.place = options.rows or ROWS_ON_CLUSTER, place
        self.rng = np.random.default_rng([options.seed, KINDS.index("dask")])
        self.expected = place / "expected.npz"
        self.wrong: list[str] = []
        self.n_kills = self.n_evaluations = 0
        self._waits: list[float] = []
        self._evaluations: list[float] = []
        victim("single", place / "undisturbed", self.expected, self.rows)
        self._evaluate("first")  # as the workers import what they need
        self._evaluate("second")
        self._n_undisturbed = len(self._evaluations)

    @property
    def seconds(self) -> float:
        """How long an evaluation takes now, as others may use the machine."""
        return min(self._evaluations[-3:])

    @property
    def time_spent(self) -> str:
        """Where the time of the evaluations went."""
        seconds = self._evaluations[self._n_undisturbed :]
        return (
            f"waited {sum(self._waits):.0f} s for workers to start again (at most "
            f"{max(self._waits):.1f} s), evaluated {sum(seconds):.0f} s (at most "
            f"{max(seconds):.1f} s; undisturbed {self._evaluations[1]:.1f} s)"
        )

    def _wait(self) -> None:
        """Wait until both workers are there."""
        begin = time.monotonic()
        try:
            self._client.wait_for_workers(2, timeout=HANGS)
        except TimeoutError:
            found = {name: (one.status, one.pid) for name, one in self._cluster.workers.items()}
            sys.exit(f"After {HANGS} s the cluster has not two workers, but {found}")
        self._waits.append(time.monotonic() - begin)

    def _evaluate(self, name: str) -> None:
        import joblib

        save = self.place / f"{name}.npz"
        begin = time.monotonic()
        faulthandler.dump_traceback_later(HANGS, exit=True)
        with joblib.parallel_config(backend="dask"):
            victim("dask", self.place / name, save, self.rows)
        faulthandler.cancel_dump_traceback_later()
        self._evaluations.append(time.monotonic() - begin)
        self.wrong += [f"{one} of {name}" for one in differences(save, self.expected)]

    def evaluate(self, n_kills: int) -> None:
        """One evaluation, during which a worker is killed; it must go on by itself."""
        del n_kills  # one is enough: the next worker takes seconds to start
        self.n_evaluations += 1
        self._wait()
        timer = Timer(self.rng.uniform(0, self.seconds), self._kill)
        timer.start()
        self._evaluate(f"run-{self.n_evaluations}")
        timer.cancel()
        timer.join()

    def _kill(self) -> None:
        """Kill a worker without asking it for its number, which may take as long as a start."""
        pids = [one.pid for one in self._cluster.workers.values() if one.pid]
        if pids:
            kill([int(self.rng.choice(pids))])
            self.n_kills += 1


def main() -> None:
    """Kill and compare; the exit status says whether all was the same."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("kinds", nargs="*", metavar="kind", help=f"of {', '.join(KINDS)}")
    parser.add_argument("--moments", type=int, default=3, help="kills of each kind")
    parser.add_argument("--rows", type=int, help=f"{ROWS:,}, or {ROWS_ON_CLUSTER} on a cluster")
    parser.add_argument("--seed", type=int, default=0)
    for hidden in ("--victim", "--folder", "--save"):
        parser.add_argument(hidden, help=argparse.SUPPRESS)
    options = parser.parse_args()
    warnings.simplefilter("ignore")
    if options.victim:
        victim(options.victim, Path(options.folder), Path(options.save), options.rows)
        return
    if not set(options.kinds) <= set(KINDS):
        parser.error(f"kinds are {', '.join(KINDS)}")
    print(f"skstream {skstream.__version__}, load {os.getloadavg()[0]:.1f}", flush=True)
    wrong = []
    for kind in options.kinds or KINDS:
        with tempfile.TemporaryDirectory() as place, ExitStack() as stack:
            trial: Trial | DaskTrial
            if kind == "dask":
                trial = DaskTrial(options, Path(place), stack)
            else:
                trial = Trial(kind, options, Path(place))
            while trial.n_kills < options.moments and trial.n_evaluations < 5 * options.moments:
                trial.evaluate(min(MOST_KILLS, options.moments - trial.n_kills))
            found = "; ".join(trial.wrong) or "all results are the same"
            print(
                f"{kind:8}{trial.n_kills:4} kills of {trial.n_evaluations} evaluations of "
                f"{trial.seconds:.1f} s each: {found}",
                flush=True,
            )
            if isinstance(trial, DaskTrial):
                print(f"{'':8}{trial.time_spent}", flush=True)
            wrong += trial.wrong
    sys.exit(bool(wrong))


if __name__ == "__main__":
    main()
