"""Long streams and many lanes (a model in a fold) on one process and on two.

    python -m benchmarks.bench_scale lanes         # rows x lanes per second, bytes per lane
    python -m benchmarks.bench_scale workers       # 10 folds x 4 models, one worker and two
    python -m benchmarks.bench_scale candidates    # 100 models, one worker and two
    python -m benchmarks.bench_scale reads         # bytes that workers read (Linux)
    python -m benchmarks.bench_scale checkpoints   # what a checkpoint costs
    python -m benchmarks.bench_scale tapes         # answers kept in memory, and on disk
    python -m benchmarks.bench_scale memory        # rows without end, nothing kept

Run from the top of the repository; the defaults are small. The full sizes:

    python -m benchmarks.bench_scale lanes workers candidates reads tapes --rows 1000000
    python -m benchmarks.bench_scale memory --rows 100000000

"busiest" is the processor time of the process that used most of it, and of this one if it is
another: what the clock would show if every process had a core of its own. On a busy machine it
says more than the clock.
"""

import argparse
import os
import platform
import resource
import tempfile
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from statistics import median
from time import perf_counter, process_time
from typing import Any
from unittest.mock import patch

import numpy as np
import pyarrow
import sklearn
from joblib.externals.loky import get_reusable_executor
from pyarrow import parquet
from sklearn.linear_model import SGDClassifier

import skstream
from benchmarks.bench_delayed import megabytes
from benchmarks.bench_folds import MODELS, N_FEATURES, N_FOLDS, generated
from skstream import (
    KFoldEvaluator,
    MajorityClass,
    ParquetStream,
    Persistent,
    PrequentialEvaluator,
    as_stream,
    load_run,
)
from skstream.evaluation import RunFolder
from skstream.evaluation._folder import _group
from skstream.evaluation._folder._read_checksums import PassChecksums
from skstream.evaluation._runs._checkpoint import save_checkpoint

CLASSES = [0, 1]
_TICKS = os.sysconf("SC_CLK_TCK")


@dataclass(frozen=True)
class Measured:
    """Seconds on the clock, of all processors, and of the busiest process; bytes workers read."""

    clock: float
    processor: float
    busiest: float
    read: int

    def __str__(self) -> str:
        return f"{self.clock:9.2f}{self.processor:11.2f}{self.busiest:10.2f}"


HEAD = f"{'clock s':>9}{'processor':>11}{'busiest':>10}"


def workers_used() -> dict[int, tuple[float, int]]:
    """Processor seconds and bytes read of every child process so far, by its number (Linux)."""
    used = {}
    for folder in Path("/proc").glob("[0-9]*"):
        try:
            # The name, in parentheses, may hold spaces; the parent is the second field behind.
            fields = (folder / "stat").read_text().rpartition(")")[2].split()
            if int(fields[1]) == os.getpid():
                io = dict(line.split(": ") for line in (folder / "io").read_text().splitlines())
                seconds = (int(fields[11]) + int(fields[12])) / _TICKS
                used[int(folder.name)] = seconds, int(io["rchar"])
        except (OSError, KeyError):  # it has ended
            continue
    return used


def measured(function: Callable[[], Any]) -> Measured:
    """Run it once; workers that run already are counted from now on."""
    before = workers_used()
    clock, processor = perf_counter(), process_time()
    function()
    clock, processor = perf_counter() - clock, process_time() - processor
    seconds, read = [0.0], 0
    for number, (used, n_bytes) in workers_used().items():
        used_before, bytes_before = before.get(number, (0.0, 0))
        seconds.append(used - used_before)
        read += n_bytes - bytes_before
    return Measured(clock, processor + sum(seconds), processor + max(seconds), read)


def repeated(function: Callable[[], Any], times: int) -> Measured:
    """Run it several times, and return the run whose clock is the median."""
    runs = sorted((measured(function) for _ in range(times)), key=lambda run: run.clock)
    return runs[len(runs) // 2]


@contextmanager
def parquet_stream(X: np.ndarray, y: np.ndarray) -> Iterator[ParquetStream]:
    """Rows in one file."""
    with tempfile.TemporaryDirectory() as folder:
        columns = {f"x{j}": X[:, j] for j in range(X.shape[1])}
        path = Path(folder) / "rows.parquet"
        parquet.write_table(pyarrow.table({**columns, "label": y}), path, compression="none")
        yield ParquetStream(path, target="label")


def same(one: Any, other: Any) -> bool:
    """Whether two results have the same scores and answers, to the last bit."""
    if one.scores != other.scores or (one.tape is None) != (other.tape is None):
        return False
    return one.tape is None or all(
        np.array_equal(one.tape.answers[name], other.tape.answers[name]) for name in one.scores
    )


def sgd_models(number: int) -> dict[str, Any]:
    """SGD with other strengths of regularisation."""
    return {f"alpha {a:.3g}": SGDClassifier(alpha=a) for a in np.geomspace(1e-6, 1e-1, number)}


def line(x: list[float], y: list[float]) -> tuple[float, float]:
    """Intercept and slope by least squares."""
    slope, intercept = np.polyfit(x, y, 1)
    return float(intercept), float(slope)


def lanes(options: argparse.Namespace) -> None:
    """Seconds and memory against the number of lanes; what a row costs to read, and per lane."""
    with parquet_stream(*generated(options.rows)) as stream:
        reading = median(measured(lambda: list(map(len, stream))).processor for _ in range(3))
        print(f"reading alone: {reading / options.rows * 1e9:,.0f} ns per row")
        passing = median(measured(lambda: passed_over(stream)).processor for _ in range(3))
        print(f"passing over, with checksums: {passing / options.rows * 1e9:,.0f} ns per row")
        for kind in ("kernel", "loop"):
            rows = options.rows if kind == "kernel" else options.loop_rows
            print(f"\nSGD, {kind}, {rows:,} rows x {N_FEATURES}, no tape")
            print(f"{'lanes':7}{'n_jobs':>7}{HEAD}{'rows x lanes / s':>18}{'of busiest':>13}")
            seconds: dict[int, list[float]] = {1: [], 2: []}
            numbers = [10, 20, 40] if kind == "kernel" else [10, 20]
            for number in numbers:
                for n_jobs in (1, 2):
                    evaluator = KFoldEvaluator(
                        "accuracy",
                        n_folds=N_FOLDS,
                        random_state=0,
                        n_jobs=n_jobs,
                        keep_tape=False,
                        engine="auto" if kind == "kernel" else "loop",
                    )
                    source = stream if rows == options.rows else first_rows(stream, rows)
                    models = sgd_models(number // N_FOLDS)
                    evaluator.evaluate(models, first_rows(stream, 200), classes=CLASSES)
                    run = repeated(
                        lambda e=evaluator, m=models, s=source: e.evaluate(m, s, classes=CLASSES),
                        options.repeat,
                    )
                    seconds[n_jobs].append(run.processor)
                    done = rows * number
                    print(
                        f"{number:<7}{n_jobs:>7}{run}{done / run.clock:18,.0f}"
                        f"{done / run.busiest:13,.0f}",
                        flush=True,
                    )
            once, each = line(numbers, seconds[1])
            print(f"a row: {once / rows * 1e9:,.0f} ns, and {each / rows * 1e9:,.0f} ns per lane")
    memory_per_lane()


def passed_over(stream: Any) -> None:
    """Read a stream as a run does before the row at which it goes on."""
    read = PassChecksums()
    for X, y, meta in stream:
        read.add(X, y, meta)


def memory_per_lane() -> None:
    """Bytes per lane, by the sizes of checkpoints; and per row and lane with a tape."""
    rows, numbers = 5_000, [10, 100, 400]
    X, y = generated(rows)
    sizes: dict[bool, list[float]] = {False: [], True: []}
    print(f"\nbytes of a run after {rows:,} rows\n{'lanes':7}{'no tape':>13}{'tape':>13}")
    for number in numbers:
        for tape in sizes:
            evaluator = KFoldEvaluator("accuracy", n_folds=N_FOLDS, random_state=0, keep_tape=tape)
            run = evaluator.start(sgd_models(number // N_FOLDS), classes=CLASSES).update(X, y)
            with tempfile.TemporaryDirectory() as folder:
                sizes[tape].append(run.save(Path(folder) / "run").stat().st_size)
        print(f"{number:<7}{sizes[False][-1]:13,.0f}{sizes[True][-1]:13,.0f}")
    once, each = line(numbers, sizes[False])
    with_tape = line(numbers, sizes[True])[1]
    print(f"{once:,.0f}, and {each:,.0f} per lane; tape: ", end="")
    print(f"{(with_tape - each) / rows:.2f} per row and lane")


def first_rows(stream: Any, rows: int) -> Any:
    """The first rows of a stream, in memory."""
    X, y, _ = next(iter(stream)).part(0, rows)
    return as_stream(np.asarray(X), np.asarray(y))


def one_and_two(evaluator: Any, models: Any, stream: Any, what: str, repeat: int) -> None:
    """Print the time with one worker and with two, and whether the results are the same."""
    results, runs = {}, {}
    for n_jobs in (1, 2):
        evaluator.set_params(n_jobs=n_jobs)
        # Few rows would stay in this process, and start and compile nothing.
        first = measured(lambda: evaluator.evaluate(models, stream, classes=CLASSES))
        print(f"{what + ', first':30}{n_jobs:>7}{first}", flush=True)

        def run(number: int = n_jobs) -> None:
            results[number] = evaluator.evaluate(models, stream, classes=CLASSES)

        runs[n_jobs] = repeated(run, repeat)
        print(f"{what:30}{n_jobs:>7}{runs[n_jobs]}", flush=True)
    print(
        f"{'':30}two workers: {runs[1].clock / runs[2].clock:.2f} times as fast on the clock, "
        f"{runs[1].busiest / runs[2].busiest:.2f} by the busiest; "
        f"{'same results' if same(results[1], results[2]) else 'OTHER RESULTS'}"
    )


def workers(options: argparse.Namespace) -> None:
    """Ten folds of four models, of arrays and of a file, with kernels and call by call."""
    print(f"{N_FOLDS} folds x {len(MODELS)} models, {options.rows:,} rows x {N_FEATURES}")
    print(f"{'':30}{'n_jobs':>7}{HEAD}")
    X, y = generated(options.rows)
    evaluator = KFoldEvaluator("accuracy", n_folds=N_FOLDS, random_state=0)
    few = options.loop_rows
    evaluator.set_params(engine="auto")
    one_and_two(evaluator, MODELS, as_stream(X, y), "kernels, arrays", options.repeat)
    with parquet_stream(X, y) as stream:
        one_and_two(evaluator, MODELS, stream, "kernels, Parquet", options.repeat)
    evaluator.set_params(engine="loop")
    stream = as_stream(X[:few], y[:few])
    one_and_two(evaluator, MODELS, stream, f"loop, arrays, {few:,} rows", options.repeat)


def candidates(options: argparse.Namespace) -> None:
    """A hundred models on one stream."""
    print(f"100 SGD models, {options.rows:,} rows x {N_FEATURES}\n{'':30}{'n_jobs':>7}{HEAD}")
    evaluator = PrequentialEvaluator("accuracy", random_state=0)
    X, y = generated(options.rows)
    few = options.loop_rows
    for engine, name in (("auto", "kernels, arrays"), ("loop", f"loop, arrays, {few:,} rows")):
        rows = options.rows if engine == "auto" else few
        evaluator.set_params(engine=engine)
        stream = as_stream(X[:rows], y[:rows])
        one_and_two(evaluator, sgd_models(100), stream, name, options.repeat)


def reads(options: argparse.Namespace) -> None:
    """Bytes that two workers read: of files, and what comes to them by pipes."""
    cases = (
        ("kernels", "auto", options.rows, N_FEATURES, MODELS),
        ("loop", "loop", 2_000, 1_000, {"persistent": Persistent()}),
    )
    for name, engine, rows, n_features, models in cases:
        X, y = generated(rows, n_features)
        evaluator = KFoldEvaluator(
            "accuracy", n_folds=N_FOLDS, random_state=0, n_jobs=2, engine=engine
        )
        few = as_stream(X[:200], y[:200])
        evaluator.evaluate(models, few)  # starts the workers
        with parquet_stream(X, y) as stream:
            evaluator.evaluate(models, stream, classes=CLASSES)  # they import all they need
            size = Path(stream.path).stat().st_size
            for what, source in (("file", stream), ("arrays", as_stream(X, y))):
                run = measured(
                    lambda e=evaluator, m=models, s=source: e.evaluate(m, s, classes=CLASSES)
                )
                print(
                    f"{name}, {N_FOLDS} folds x {len(models)} models, {rows:,} x {n_features}, "
                    f"{what} of {(size if what == 'file' else X.nbytes) / 1e6:.1f} MB: workers "
                    f"read {run.read / 1e6:.1f} MB, {run.read / size:.2f} times the file",
                    flush=True,
                )


def checkpoints(options: argparse.Namespace) -> None:
    """Seconds and bytes of a checkpoint, and to go on from it, by the number of lanes."""
    X, y = generated(min(options.rows, 20_000))
    print(f"{'kind':8}{'lanes':>7}{'bytes':>13}{'save s':>9}{'load s':>9}{'every minute':>14}")
    for kind, engine in (("kernel", "auto"), ("loop", "loop")):
        numbers, seconds = [10, 40, 100, 200], []
        rows = len(y) if kind == "kernel" else 200
        for number in numbers:
            evaluator = KFoldEvaluator(
                "accuracy", n_folds=N_FOLDS, random_state=0, keep_tape=False, engine=engine
            )
            run = evaluator.start(sgd_models(number // N_FOLDS), classes=CLASSES)
            run.update(X[:rows], y[:rows])
            with tempfile.TemporaryDirectory(dir=options.folder) as folder:
                path = Path(folder) / "run.checkpoint"
                save = repeated(lambda r=run, p=path: r.save(p), 5)
                load = repeated(lambda p=path: load_run(p), 5)
                size = path.stat().st_size
            seconds.append(save.clock)
            print(
                f"{kind:8}{number:7}{size:13,}{save.clock:9.3f}{load.clock:9.3f}"
                f"{save.clock / 60:14.2%}"
            )
        once, each = line(numbers, seconds)
        print(f"{once * 1e3:.1f} ms, and {each * 1e3:.2f} ms per lane")
    while_evaluating(options)


def while_evaluating(options: argparse.Namespace) -> None:
    """Processor time of an evaluation without checkpoints, and with them."""
    print(
        f"\n{N_FOLDS} folds x {len(MODELS)} models, {options.rows:,} rows x {N_FEATURES}, no tape"
    )
    print(f"{'checkpoints':16}{HEAD}")
    X, y = generated(options.rows)
    evaluator = KFoldEvaluator("accuracy", n_folds=N_FOLDS, random_state=0, keep_tape=False)
    evaluator.evaluate(MODELS, as_stream(X[:5], y[:5]), classes=CLASSES)  # compiles
    settings = {"none": None, "at the start": "10h", "every second": "1s"}
    seconds: dict[str, list[float]] = {name: [] for name in settings}
    each = []
    for _ in range(options.repeat):
        for name, every in settings.items():  # in turn, as the load changes
            with (
                tempfile.TemporaryDirectory(dir=options.folder) as folder,
                patch(f"{_group.__name__}.save_checkpoint", wraps=save_checkpoint) as save,
            ):
                kept = None if every is None else RunFolder(Path(folder) / "run", every)
                evaluator.set_params(checkpoint=kept)
                run = measured(lambda: evaluator.evaluate(MODELS, X, y))
            seconds[name].append(run.processor)
            print(f"{name:16}{run}{save.call_count:6} written", flush=True)
        if save.call_count > 1:
            each.append((seconds[name][-1] - seconds["at the start"][-1]) / (save.call_count - 1))
    start = median(seconds["at the start"]) / median(seconds["none"]) - 1
    print(f"checksums of all rows and what is written once: {start:.1%}")
    if each:
        cost = median(each)
        print(f"{cost * 1e3:.0f} ms per checkpoint, {cost / 60:.2%} if there is one every minute")


def tapes(options: argparse.Namespace) -> None:
    """Seconds without and with a tape, in memory, and with a run folder on disk; its readers."""
    X, y = generated(options.rows)
    models = {**sgd_models(2), "last": Persistent(), "majority": MajorityClass()}
    print(f"{len(y):,} rows, {len(models)} kernels\n{'tape':14}{HEAD}")
    without: dict[bool, float] = {}
    for tape, in_folder in ((False, False), (True, False), (False, True), ("disk", True)):
        with tempfile.TemporaryDirectory(dir=options.folder) as folder:
            evaluator = PrequentialEvaluator(random_state=0, keep_tape=tape)
            run = partial(evaluator.evaluate, models, X, y)
            if in_folder:
                run = partial(in_new_folder, evaluator, folder, models, X, y)
            used = repeated(run, options.repeat)
            if tape is False:
                without[in_folder] = used.processor
            what = f"{tape}{', folder' if in_folder else ''}"
            print(f"{what:14}{used}   x {used.processor / without[in_folder]:.2f}")
            if tape is False:
                continue
            result = run()
            for test in ("anytime", "mcnemar", "q"):
                compared = measured(partial(result.compare, "last", "majority", test=test))
                print(f"  {test:12}{compared}")
            print(f"  {'rescore':12}{measured(partial(result.rescore, 'kappa'))}")


def in_new_folder(evaluator: Any, folder: str, *given: Any) -> Any:
    """Evaluate with a run folder that no evaluation has used."""
    evaluator.set_params(checkpoint=tempfile.mkdtemp(dir=folder))
    return evaluator.evaluate(*given)


def memory(options: argparse.Namespace) -> None:
    """Memory along generated rows, four models, no tape; and rows per second."""
    chunk, n_features = 65_536, 10

    def rows() -> Iterator[tuple[np.ndarray, np.ndarray]]:
        rng = np.random.default_rng(0)
        left = options.rows
        while left:
            n = min(chunk, left)
            X = rng.random((n, n_features))
            left -= n
            yield X, (X[:, :3].sum(axis=1) + rng.random(n) > 2).astype(np.int64)

    generating = process_time()
    for _ in zip(range(20), rows(), strict=False):
        pass
    generating = (process_time() - generating) / 20 / chunk
    evaluator = PrequentialEvaluator(keep_tape=False, random_state=0)
    run = evaluator.start(MODELS, classes=CLASSES)
    next_look, clock, used = 1, perf_counter(), process_time()
    print(f"{options.rows:,} rows x {n_features}, {len(MODELS)} models, five measures, no tape")
    print(f"{'rows':>13}{'MB in use':>11}{'most MB':>9}{'rows / s':>11}{'of processor':>14}")
    for number, (X, y) in enumerate(rows(), 1):
        run.update(X, y)
        if run.n_rows >= next_look * options.rows / 10:
            next_look += 1
            peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024 / 1e6
            print(
                f"{run.n_rows:13,}{megabytes():11.1f}{peak:9.0f}"
                f"{run.n_rows / (perf_counter() - clock):11,.0f}"
                f"{run.n_rows / (process_time() - used - number * chunk * generating):14,.0f}",
                flush=True,
            )
    result = run.close().result()
    print(f"{len(result.checkpoints):,} points on each curve; scores {result.scores['SGD']}")


SCRIPTS = {
    "lanes": lanes,
    "workers": workers,
    "candidates": candidates,
    "reads": reads,
    "checkpoints": checkpoints,
    "tapes": tapes,
    "memory": memory,
}
DEFAULT_ROWS = {"memory": 2_000_000}


def main() -> None:
    """Run the parts asked for."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("parts", nargs="*", metavar="part", help=f"of {', '.join(SCRIPTS)}")
    parser.add_argument("--rows", type=int, default=None, help="100,000; 2,000,000 of memory")
    parser.add_argument("--loop-rows", type=int, default=200, help="where models are called")
    parser.add_argument("--repeat", type=int, default=3, help="medians of so many runs")
    parser.add_argument("--folder", default=None, help="where checkpoints go; a temporary folder")
    options = parser.parse_args()
    unknown = set(options.parts) - set(SCRIPTS)
    if unknown:
        parser.error(f"unknown parts {sorted(unknown)}; there are {list(SCRIPTS)}")
    warnings.simplefilter("ignore")
    print(
        f"skstream {skstream.__version__}, scikit-learn {sklearn.__version__}, numpy "
        f"{np.__version__}, Python {platform.python_version()}, {os.cpu_count()} cores, load "
        f"{os.getloadavg()[0]:.1f}"
    )
    given = options.rows
    for part in options.parts or SCRIPTS:
        options.rows = given or DEFAULT_ROWS.get(part, 100_000)
        print(f"\n== {part}: {SCRIPTS[part].__doc__}", flush=True)
        SCRIPTS[part](options)
    get_reusable_executor().shutdown(wait=True)


if __name__ == "__main__":
    main()
