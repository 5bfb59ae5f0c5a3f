"""Bytes that an array in memory costs a Dask cluster on one machine, and seconds.

Ten models that are called row by row, in batches, on an array that is sent to two worker processes.
Bytes are those of the loopback interface, client, scheduler and workers together.

    python -m benchmarks.bench_dask_data --megabytes 100
"""

import argparse
import time
from pathlib import Path

import numpy as np
from dask.distributed import Client, LocalCluster
from joblib import parallel_config

from skstream import MajorityClass, PrequentialEvaluator, RunOptions

N_ROWS = 2_500
N_MODELS = 10


def bytes_sent() -> int:
    """Bytes sent over the loopback interface, as Linux counts them."""
    return int(Path("/sys/class/net/lo/statistics/tx_bytes").read_text())


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--megabytes", type=int, default=100)
    parser.add_argument("--workers", type=int, default=2)
    options = parser.parse_args()
    width = options.megabytes * 10**6 // 8 // N_ROWS
    X = np.random.default_rng(0).normal(size=(N_ROWS, width))
    y = (X[:, 0] > 0).astype(int)
    models = {f"model {number}": MajorityClass() for number in range(N_MODELS)}
    evaluator = PrequentialEvaluator(
        "accuracy", n_jobs=-1, batch_size=250, run=RunOptions(kernels=False)
    )
    with (
        LocalCluster(
            n_workers=options.workers,
            threads_per_worker=1,
            host="127.0.0.1",
            dashboard_address=None,
        ) as cluster,
        Client(cluster),
        parallel_config(backend="dask"),
    ):
        evaluator.evaluate(models, X[:300, :10], y[:300])  # workers import what they need
        for _ in range(3):
            sent, start = bytes_sent(), time.perf_counter()
            evaluator.evaluate(models, X, y)
            print(
                f"{X.nbytes / 1e6:.0f} MB, {options.workers} workers: "
                f"{(bytes_sent() - sent) / 1e6:,.0f} MB sent, {time.perf_counter() - start:.2f} s"
            )


if __name__ == "__main__":
    main()
