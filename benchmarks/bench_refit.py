"""Speed of PeriodicRefit and of frozen models: ``python -m benchmarks.bench_refit``.

Each row is the median ratio of an evaluation to the same work written out by hand (the refits, and
one call of ``predict`` for every stretch between them), both in one run and in turn, by processor
time. With the data of ``--data`` the stream is Electricity, else one of the demo rows.
"""

import argparse
import os
from collections.abc import Callable
from pathlib import Path
from statistics import median
from time import process_time
from typing import Any

import numpy as np
import sklearn
from sklearn.base import clone
from sklearn.ensemble import HistGradientBoostingClassifier, RandomForestClassifier
from sklearn.frozen import FrozenEstimator

import skstream
from skstream import DelayedEvaluator, ParquetStream, PeriodicRefit, Polling, PrequentialEvaluator
from skstream.streams import Stream, make_demo_stream

N_FROZEN = 1_000_000


def by_hand(model: Any, X: Any, y: Any, every: int, window: int) -> Callable[[], None]:
    """The loop that a user would write: a refit, then the answers up to the next one."""

    def run() -> None:
        for end in range(every, len(X) + 1, every):
            first = max(0, end - window)
            fitted = clone(model).set_params(random_state=0).fit(X[first:end], y[first:end])
            if end < len(X):
                fitted.predict(X[end : end + every])

    return run


def measured(work: Callable[[], Any]) -> float:
    start = process_time()
    work()
    return process_time() - start


def report(name: str, ours: Callable[[], Any], other: Callable[[], Any], repeats: int) -> None:
    """Print seconds of both, and the median ratio of runs in turn."""
    pairs = [(measured(ours), measured(other)) for _ in range(repeats)]
    ratio = median(a / b for a, b in pairs)
    a, b = (median(column) for column in zip(*pairs, strict=True))
    print(f"{name:<52}{a:>9.2f}{b:>9.2f}{ratio:>8.2f}", flush=True)


def arrays_of(stream: Stream) -> tuple[Any, Any]:
    """All rows of a stream, and their labels."""
    chunks = list(stream.chunks())
    return (
        np.concatenate([chunk.X for chunk in chunks]),
        np.concatenate([chunk.y for chunk in chunks]),
    )


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    default = os.environ.get("SKSTREAM_DATA", ".")
    parser.add_argument("--data", type=Path, default=Path(default), help="folder of the stream")
    parser.add_argument("--repeats", type=int, default=3)
    options = parser.parse_args()
    path = options.data / "electricity.parquet"
    stream: Any = make_demo_stream(45_312)
    if path.exists():
        stream = ParquetStream(path, target="class", exclude=["date", "nswprice", "vicprice"])
    X, y = arrays_of(stream)
    boosting = HistGradientBoostingClassifier(random_state=0)
    forest = RandomForestClassifier(random_state=0)
    print(f"skstream {skstream.__version__}, scikit-learn {sklearn.__version__}, {len(X):,} rows")
    print(f"{'':<52}{'seconds':>9}{'by hand':>9}{'ratio':>8}")
    prequential = PrequentialEvaluator("accuracy", random_state=0)
    late = DelayedEvaluator(
        "accuracy", delay=336, random_state=0, polling=Polling(n_bins=10, poll_every=10)
    )
    for name, model, every, window, rows in (
        ("boosting (100 iterations), weekly, last 5,000", boosting, 336, 5_000, len(X)),
        ("forest (100 trees), daily, last 2,000; 10,000 rows", forest, 48, 2_000, 10_000),
    ):
        refitted = PeriodicRefit(model, every=every, window=window)
        report(
            name,
            lambda one=refitted, n=rows: prequential.evaluate(one, X[:n], y[:n]),
            by_hand(model, X[:rows], y[:rows], every, window),
            options.repeats,
        )
    weekly = PeriodicRefit(boosting, every=336, window=5_000)
    report(
        "the first, a week late and asked again (K = 10); to prequential",
        lambda: late.evaluate(weekly, X, y),
        lambda: prequential.evaluate(weekly, X, y),
        1,
    )
    many = np.tile(X, (-(-N_FROZEN // len(X)), 1))[:N_FROZEN]
    labels = np.tile(y, -(-N_FROZEN // len(y)))[:N_FROZEN]
    fitted = clone(boosting).fit(X[:5_000], y[:5_000])
    report(
        "boosting fitted once (FrozenEstimator), 1,000,000 rows",
        lambda: prequential.evaluate(FrozenEstimator(fitted), many, labels),
        lambda: fitted.predict(many),
        options.repeats,
    )


if __name__ == "__main__":
    main()
