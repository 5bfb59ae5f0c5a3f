"""A Dask worker dies in the middle of a k-fold evaluation; the result is the same.

One model ends the process it learns in by its own process number, the first time it is run. The
scheduler gives the dead worker's models and folds to others, and a new worker takes its place.

    python -m benchmarks.bench_dask_failure
"""

import argparse
import os
import signal
import tempfile
import time
from pathlib import Path
from typing import Any

import dask
import distributed
import joblib
import numpy as np
import pyarrow
from pyarrow import parquet
from sklearn.linear_model import SGDClassifier

import skstream
from skstream import KFoldEvaluator, ParquetStream, Persistent
from skstream.streams import make_demo_stream

CLASSES = ["DOWN", "UP"]
N_FOLDS = 4


class DiesOnce(Persistent):
    """Persistent, but the first copy that learns row `at` kills its own process."""

    def __init__(self, folder: str | None = None, at: int = 5000):
        self.folder = folder
        self.at = at

    def partial_fit(self, X: Any, y: Any, classes: Any = None, sample_weight: Any = None) -> Any:
        self.n_learnt_ = getattr(self, "n_learnt_", 0) + len(y)
        if self.folder is not None and self.n_learnt_ == self.at:
            try:
                (Path(self.folder) / "died").touch(exist_ok=False)
            except FileExistsError:
                pass  # it has happened
            else:
                os.kill(os.getpid(), signal.SIGKILL)
        return super().partial_fit(X, y, classes, sample_weight)


def write_stream(folder: Path, rows: int) -> ParquetStream:
    """A folder of four Parquet files."""
    demo = make_demo_stream(rows)
    for number, part in enumerate(np.array_split(np.arange(rows), 4)):
        columns = {f"x{j}": demo.X[part, j] for j in range(demo.X.shape[1])}
        table = pyarrow.table({**columns, "label": demo.y[part]})
        parquet.write_table(table, folder / f"part-{number}.parquet")
    return ParquetStream(folder, target="label")


def main() -> None:
    """Evaluate alone, on a whole cluster, and on one that loses a worker."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--rows", type=int, default=10_000)
    options = parser.parse_args()
    print(f"skstream {skstream.__version__}, dask {dask.__version__}, joblib {joblib.__version__}")
    with tempfile.TemporaryDirectory() as folder:
        (Path(folder) / "stream").mkdir()
        stream = write_stream(Path(folder) / "stream", options.rows)
        sturdy = {"sgd": SGDClassifier(), "mortal": DiesOnce()}
        mortal = {"sgd": SGDClassifier(), "mortal": DiesOnce(folder, options.rows // 4)}
        expected = timed("one process", sturdy, stream, 1)
        with (
            distributed.LocalCluster(
                n_workers=2, threads_per_worker=1, host="127.0.0.1", dashboard_address=None
            ) as cluster,
            distributed.Client(cluster),
            joblib.parallel_config(backend="dask"),
        ):
            whole = timed("two workers", sturdy, stream, -1)
            broken = timed("two workers, one killed", mortal, stream, -1)
        assert (Path(folder) / "died").exists(), "no worker was killed"
    for result in (whole, broken):
        for name in sturdy:
            np.testing.assert_array_equal(result.tape.answers[name], expected.tape.answers[name])
            for metric in expected.metric_names:
                np.testing.assert_array_equal(
                    result.curve(name, metric), expected.curve(name, metric)
                )
    print("all answers and scores are the same")


def timed(name: str, models: dict[str, Any], stream: ParquetStream, n_jobs: int) -> Any:
    """Evaluate and print the time taken."""
    started = time.perf_counter()
    evaluator = KFoldEvaluator(n_folds=N_FOLDS, random_state=0, n_jobs=n_jobs)
    result = evaluator.evaluate(models, stream, classes=CLASSES)
    print(f"{name:26}{time.perf_counter() - started:6.1f} s", flush=True)
    return result


if __name__ == "__main__":
    main()
