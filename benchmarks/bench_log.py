"""Speed of scoring a log of predictions: ``python -m benchmarks.bench_log``.

A Parquet log of two models is scored by five measures over all rows and over a window, at about
1,024 checkpoints. Rows per second are those beyond the reader, whose seconds are measured alone.
Beside it stand pandas (a boolean column and its rolling mean, one measure of one model), windows of
time beside windows of as many rows, and `evidently` where it is installed. All in one run, by
processor time.
"""

import argparse
import resource
import tempfile
from collections.abc import Callable
from importlib.util import find_spec
from pathlib import Path
from statistics import median
from time import process_time
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq

import skstream
from skstream import ParquetStream, PredictionLog

MEASURES = ["accuracy", "kappa", "f1:1", "precision:1", "recall:1"]
FORGETTING = {"all": "cumulative", "recent": "window:10000"}


def write_log(path: Path, n_rows: int) -> None:
    """Write labels, a tenth of which are 1, answers and probabilities of two models, and times."""
    rng = np.random.default_rng(0)
    writer: Any = None
    for start in range(0, n_rows, 1 << 20):
        n = min(1 << 20, n_rows - start)
        y = (rng.random(n) < 0.1).astype(np.int8)
        shares = np.clip(0.1 + 0.3 * y + rng.normal(0, 0.2, (2, n)), 0, 1)
        answers = (shares > 0.4).astype(np.int8)
        seconds = (start + np.arange(n)) * np.timedelta64(1, "s")
        columns = {"y": y, "a": answers[0], "b": answers[1], "p_a": shares[0], "p_b": shares[1]}
        others = {f"other {k}": rng.random(n) for k in range(5)}
        table = pa.table({**columns, "time": np.datetime64("2024-01-01", "us") + seconds, **others})
        writer = writer or pq.ParquetWriter(path, table.schema)
        writer.write_table(table)
    writer.close()


def seconds(work: Callable[[], Any], repeats: int) -> float:
    """Median of some runs."""

    def once() -> float:
        start = process_time()
        work()
        return process_time() - start

    return median(once() for _ in range(repeats))


def show(name: str, n_rows: int, taken: float, reading: float = 0.0) -> None:
    """Print seconds, and millions of rows per second beyond the reader."""
    print(f"{name:<58}{taken:>8.2f}{n_rows / max(taken - reading, 1e-9) / 1e6:>10.2f}", flush=True)


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rows", type=float, default=1e7)
    parser.add_argument("--repeats", type=int, default=3)
    options = parser.parse_args()
    n = int(options.rows)
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "log.parquet"
        write_log(path, n)
        print(f"skstream {skstream.__version__}, pandas {pd.__version__}, {n:,} rows")
        print(f"{'':<58}{'seconds':>8}{'M rows/s':>10}")

        def read(columns: list[str]) -> float:
            stream = ParquetStream(path, target="y", columns=columns, as_frame=True)

            def work() -> None:
                for _ in stream:
                    pass
                assert stream.classes is not None

            return seconds(work, options.repeats)

        def scored(metrics: Any, forgetting: Any, reading: float, name: str, **given: Any) -> None:
            log = PredictionLog(path, target="y", **given)
            taken = seconds(lambda: log.score(metrics, forgetting=forgetting), options.repeats)
            show(name, n, taken, reading)

        answers, shares = {"a": "a", "b": "b"}, {"a": "p_a", "b": "p_b"}
        of_answers, of_shares = read(["a", "b"]), read(["p_a", "p_b"])
        show("reader: labels and two columns of answers", n, of_answers)
        scored(
            MEASURES,
            FORGETTING,
            of_answers,
            "five measures, two models, all rows and a window",
            predictions=answers,
        )
        what = "auc in a window, two models"
        scored("auc", "window:10000", of_shares, what, probabilities=shares)
        timed = {"predictions": answers, "arrival": "time"}
        for forgetting in ("window:10000", "window:10000s", "half-life:5000s"):
            scored(MEASURES, forgetting, of_answers, f"five measures, {forgetting}", **timed)
        peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1e3

        def by_pandas() -> None:
            frame = pd.read_parquet(path, columns=["y", "a"])
            hit = frame["y"] == frame["a"]
            hit.rolling(10_000).mean().iloc[:: max(1, n // 1024)]
            hit.expanding().mean().iloc[:: max(1, n // 1024)]

        show("pandas: accuracy of one model, reading included", n, seconds(by_pandas, 1))
        if find_spec("evidently"):
            _beside_evidently(path, min(n, 1_000_000))
        print(f"largest memory before pandas: {peak:,.0f} MB, with a tape of up to 11 bytes a row")


def _beside_evidently(path: Path, n: int) -> None:
    """A classification report of evidently over all rows at once: no curve, no window."""
    from importlib.metadata import version

    from evidently import BinaryClassification, DataDefinition, Dataset, Report
    from evidently.presets import ClassificationQuality

    frame = pd.read_parquet(path, columns=["y", "a"]).head(n).astype(int)
    definition = DataDefinition(
        classification=[BinaryClassification(target="y", prediction_labels="a", pos_label=1)]
    )

    def work() -> None:
        data = Dataset.from_pandas(frame, data_definition=definition)
        Report([ClassificationQuality()]).run(data, None)

    name = f"evidently {version('evidently')}: quality of {n:,} rows, without curves"
    show(name, n, seconds(work, 1))


if __name__ == "__main__":
    main()
