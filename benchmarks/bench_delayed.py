"""Speed of evaluation with delayed labels, and a soak of live use.

python -m benchmarks.bench_delayed electricity    # delays of one to two days, B = 50, K = 10
python -m benchmarks.bench_delayed long           # 10^6 rows, delay 1000, K = 100
python -m benchmarks.bench_delayed linear         # cost against asks and pending rows
python -m benchmarks.bench_delayed live           # one row per call, 200 and 20,000 pending
python -m benchmarks.bench_delayed soak --rows 1000000
"""

import argparse
import platform
import resource
import statistics
import warnings
from collections.abc import Iterator
from itertools import product
from time import perf_counter, process_time
from typing import Any

import numpy as np
import sklearn
from sklearn.linear_model import SGDClassifier

import skstream
from skstream import DelayedEvaluator, Persistent, Polling, RunOptions
from skstream.naive_bayes import IncrementalGaussianNB
from skstream.streams import as_stream


def demo_rows(n_rows: int, n_features: int = 10) -> tuple[np.ndarray, np.ndarray]:
    """Rows of a noisy linear concept."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(n_rows, n_features))
    return X, (X.sum(axis=1) + rng.normal(size=n_rows) > 0).astype(np.int64)


def electricity(options: argparse.Namespace) -> None:
    """Seconds of evaluation on Electricity, delays of 48 to 96 rows."""
    from benchmarks._delayed_streams import electricity_rows

    X, y = electricity_rows()
    delay = np.random.default_rng(0).integers(48, 97, len(y)).astype(np.float64)
    models = {
        "naive Bayes": IncrementalGaussianNB(),
        "SGD": SGDClassifier(),
        "persistent": Persistent(),
    }
    evaluator = DelayedEvaluator(
        delay=delay, random_state=0, polling=Polling(n_bins=50, poll_every=10)
    )
    for name, model in models.items():
        for engine in ("auto", "loop") if options.loop else ("auto",):
            evaluator.set_params(run__kernels=engine == "auto")
            seconds = []
            for _ in range(options.repeat):
                started = perf_counter()
                result = evaluator.evaluate({name: model}, X, y)
                seconds.append(perf_counter() - started)
            print(
                f"{name:12} {result.paths[name]:7} {statistics.median(seconds):6.2f} s "
                f"(median of {options.repeat}; in the model {result.costs[name].seconds:.2f} s), "
                f"{2 * len(y) + result.waits.n_polls:,} asks"
            )


def long(options: argparse.Namespace) -> None:
    """Rows and asks per second, and memory, over many rows."""
    X, y = demo_rows(options.rows)
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    evaluator = DelayedEvaluator(
        "accuracy",
        delay=1000,
        random_state=0,
        run=RunOptions(keep_tape=False),
        polling=Polling(n_bins=50, poll_every=100),
    )
    started = perf_counter()
    result = evaluator.evaluate({"SGD": SGDClassifier()}, as_stream(X, y))
    seconds = perf_counter() - started
    after = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    asks = 2 * options.rows + result.waits.n_polls
    print(
        f"SGD ({result.paths['SGD']}), {options.rows:,} rows, delay 1000, K = 100, B = 50: "
        f"{seconds:.1f} s, {options.rows / seconds:,.0f} rows/s, {asks / seconds:,.0f} asks/s, "
        f"{(after - before) / 1024:.0f} MB more than the {X.nbytes / 1e6:.0f} MB of data"
    )


def linear(options: argparse.Namespace) -> None:
    """Nanoseconds per ask as polls grow with the same rows pending, and as pending rows grow."""
    n_rows = min(options.rows, 100_000)
    X, y = demo_rows(n_rows)
    warm_up = DelayedEvaluator("accuracy", delay=10, random_state=0)
    warm_up.evaluate({"SGD": SGDClassifier()}, X[:1000], y[:1000])
    for delay, every in ((1000, None), (1000, 100), (1000, 20), (100, 20), (10_000, 200)):
        evaluator = DelayedEvaluator(
            "accuracy",
            delay=delay,
            random_state=0,
            run=RunOptions(keep_tape=False),
            polling=Polling(n_bins=10, poll_every=every),
        )
        started = perf_counter()
        result = evaluator.evaluate({"SGD": SGDClassifier()}, X, y)
        seconds = perf_counter() - started
        asks = 2 * n_rows + result.waits.n_polls
        print(
            f"delay {delay:6,}, K = {every!s:4}: {asks:10,} asks, {seconds:6.2f} s, "
            f"{seconds / asks * 1e9:6.0f} ns per ask"
        )


def random_events(n_rows: int, n_pending: int) -> tuple[np.ndarray, np.ndarray]:
    """Arrivals, and labels in random order: about so many rows wait at any time."""
    rng = np.random.default_rng(1)
    arrival = np.arange(n_rows, dtype=np.float64)
    return arrival, arrival + rng.integers(1, 2 * n_pending, n_rows)


def events_in_order(arrival: np.ndarray, label_time: np.ndarray) -> Iterator[tuple[bool, int]]:
    """Whether each event is a label, and its row: by time, then row."""
    n_rows = len(arrival)
    rows = np.tile(np.arange(n_rows), 2)
    is_label = np.repeat([False, True], n_rows)
    order = np.lexsort((is_label, rows, np.concatenate([arrival, label_time])))
    yield from zip(is_label[order].tolist(), rows[order].tolist(), strict=True)


def megabytes() -> float:
    """Memory in use now; on systems that do not tell, the most there was."""
    try:
        with open("/proc/self/statm") as status:
            return int(status.read().split()[1]) * resource.getpagesize() / 1e6
    except OSError:
        return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024 / 1e6


def soak(options: argparse.Namespace) -> None:
    """Ask and label live, one row per call, and compare with the batch call."""
    X, y = demo_rows(options.rows, 5)
    arrival, label_time = random_events(options.rows, options.pending)
    evaluator = DelayedEvaluator(
        ["accuracy", "kappa"],
        random_state=0,
        polling=Polling(n_bins=10, poll_every=options.pending // 4),
    )
    models = {"SGD": SGDClassifier()}
    run = evaluator.start(models, classes=[0, 1])
    events = events_in_order(arrival, label_time)
    print(f"{options.rows:,} rows, about {options.pending:,} waiting, {options.pending // 4} = K")
    started, used = perf_counter(), process_time()
    for number, (is_label, row) in enumerate(events, 1):
        if is_label:
            run.label([row], y[row : row + 1], label_time[row])
        else:
            run.ask(X[row : row + 1], [row], arrival[row])
        if number % (options.rows // 2) == 0 or number == options.rows // 10:
            print(
                f"{number:9,} asks and labels, {run.n_pending:6,} waiting, "
                f"{perf_counter() - started:7.1f} s ({process_time() - used:7.1f} s of computing), "
                f"{megabytes():6.0f} MB in use",
                flush=True,
            )
    seconds = process_time() - used
    live = run.close().result()
    batch = evaluator.evaluate(models, X, y, arrival=arrival, label_time=label_time)
    same = (live.by_bin("SGD", "kappa") == batch.by_bin("SGD", "kappa")).all()
    same &= live.scores == batch.scores and live.waits.n_polls == batch.waits.n_polls
    for name, values in batch.waits.poll_costs.items():
        same &= np.array_equal(live.waits.poll_costs[name], values)
    print(
        f"{seconds / options.rows / 2 * 1e6:.0f} microseconds of computing per event, "
        f"{2 * options.rows + live.waits.n_polls:,} answers"
    )
    print(f"same result as the batch call: {bool(same)}")


def live(options: argparse.Namespace) -> None:
    """Microseconds of computing per ask and per label, one row per call, few and many pending."""
    n_events = options.events
    X, y = demo_rows(20_000 + 2 * n_events, 5)
    models: dict[str, Any] = {
        "SGD (kernel)": SGDClassifier(),
        "naive Bayes (kernel)": IncrementalGaussianNB(),
        "SGD (loop)": SGDClassifier(),
    }
    for (name, model), every, pending in product(models.items(), (None, 10), (200, 20_000)):
        evaluator = DelayedEvaluator(
            "accuracy",
            random_state=0,
            run=RunOptions(kernels=not name.endswith("(loop)"), keep_tape=False),
            polling=Polling(n_bins=10, poll_every=every),
        )
        seconds = live_seconds(evaluator, model, X, y, pending, n_events)
        print(
            f"{name:21} K = {every!s:4}, {pending:6,} pending: "
            f"{seconds[0] / n_events * 1e6:6,.0f} µs per ask, "
            f"{seconds[1] / n_events * 1e6:6,.0f} µs per label",
            flush=True,
        )


def live_seconds(
    evaluator: DelayedEvaluator, model: Any, X: Any, y: Any, pending: int, n_events: int
) -> tuple[float, float]:
    """Seconds of computing of asks and labels, one by one in turn; labels come at random."""
    run = evaluator.start({"m": model}, classes=[0, 1])
    run.ask(X[:1], [0], 0)
    run.label([0], y[:1], 0)
    run.ask(X[1 : pending + 1], list(range(1, pending + 1)), 1)
    waiting = list(range(1, pending + 1))
    chosen = np.random.default_rng(2).integers(0, pending, n_events).tolist()
    asking = labelling = 0.0
    for k, which in enumerate(chosen):
        new, row = pending + 1 + k, waiting[which]
        started = process_time()
        run.ask(X[new : new + 1], [new], new)
        asked = process_time()
        run.label([row], y[row : row + 1], new)
        labelled = process_time()
        asking += asked - started
        labelling += labelled - asked
        waiting[which] = new
    return asking, labelling


SCRIPTS = {"electricity": electricity, "long": long, "linear": linear, "live": live, "soak": soak}


def main() -> None:
    """Run the parts asked for."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("parts", nargs="*", metavar="part", help=f"of {', '.join(SCRIPTS)}")
    parser.add_argument("--rows", type=int, default=None, help="of long, linear and soak")
    parser.add_argument("--pending", type=int, default=400, help="rows waiting in the soak")
    parser.add_argument("--events", type=int, default=2000, help="asks and labels of live")
    parser.add_argument("--repeat", type=int, default=5, help="of electricity")
    parser.add_argument("--loop", action="store_true", help="the generic path on electricity, too")
    options = parser.parse_args()
    unknown = set(options.parts) - set(SCRIPTS)
    if unknown:
        parser.error(f"unknown parts {sorted(unknown)}; there are {list(SCRIPTS)}")
    warnings.simplefilter("ignore")
    print(
        f"skstream {skstream.__version__}, scikit-learn {sklearn.__version__}, "
        f"numpy {np.__version__}, Python {platform.python_version()}"
    )
    default_rows = {"soak": 10_000, "long": 1_000_000}
    rows = options.rows
    for part in options.parts or SCRIPTS:
        options.rows = rows or default_rows.get(part, 100_000)
        SCRIPTS[part](options)


if __name__ == "__main__":
    main()
