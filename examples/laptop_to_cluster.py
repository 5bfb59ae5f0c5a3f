"""The same evaluation in one process, with two workers, and on a Dask cluster: the same result.

The stream is a folder of Parquet files, of which every worker reads the rows itself; the run on
the cluster keeps checkpoints in a folder, and the same call again finds there what is done.

    python examples/laptop_to_cluster.py
    python examples/laptop_to_cluster.py --folder /shared/demo --scheduler tcp://head:8786

Without --scheduler, a cluster of two processes is started on this machine. With it, --folder must
be one that all machines of the cluster see under the same path. Needs the extras dask and frames.
"""

import argparse
import tempfile
from contextlib import ExitStack
from pathlib import Path
from time import perf_counter
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as parquet
from dask.distributed import Client, LocalCluster
from joblib import parallel_config
from sklearn.linear_model import SGDClassifier
from sklearn.neural_network import MLPClassifier

from skstream import KFoldEvaluator, ParquetStream, Persistent
from skstream.streams import make_demo_stream

MODELS = {
    "SGD": SGDClassifier(loss="log_loss"),
    "network": MLPClassifier(hidden_layer_sizes=(8,)),
    "persistent": Persistent(),
}
N_FILES = 4


def write_files(folder: Path, n_rows: int) -> None:
    """Write a folder as a program that collects rows would: a file for every period."""
    folder.mkdir(parents=True, exist_ok=True)
    demo = make_demo_stream(n_rows)
    for number, rows in enumerate(np.array_split(np.arange(n_rows), N_FILES)):
        columns = {name: demo.X[rows, j] for j, name in enumerate(["price", "load", "wind"])}
        table = pa.table({**columns, "class": demo.y[rows]})
        parquet.write_table(table, folder / f"period-{number}.parquet")


def timed(title: str, evaluator: Any, stream: Any) -> Any:
    """Say what is evaluated, and then how long it took."""
    print(f"{title:32}", end="", flush=True)
    start = perf_counter()
    result = evaluator.evaluate(MODELS, stream, classes=["DOWN", "UP"])
    print(f"{perf_counter() - start:7.2f} s")
    return result


def main() -> None:
    """Evaluate in four ways, and compare the answers."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--rows", type=int, default=1_000)
    parser.add_argument("--folder", type=Path, help="for rows and checkpoints; default: temporary")
    parser.add_argument("--scheduler", help="address of a running Dask scheduler")
    options = parser.parse_args()
    folder = options.folder or Path(tempfile.mkdtemp(prefix="cluster-"))
    write_files(folder / "rows", options.rows)
    stream = ParquetStream(folder / "rows", target="class")

    # The laptop: one process, then two.
    evaluator = KFoldEvaluator(["accuracy", "kappa_temporal"], n_folds=3, random_state=0)
    one = timed("one process", evaluator, stream)
    evaluator.set_params(n_jobs=2)
    two = timed("n_jobs=2", evaluator, stream)

    # The cluster: the same call, inside parallel_config.
    evaluator.set_params(n_jobs=-1, retries=2, checkpoint=folder / "run")
    with ExitStack() as stack:
        address = options.scheduler or stack.enter_context(
            LocalCluster(
                n_workers=2,
                threads_per_worker=1,
                host="127.0.0.1",
                dashboard_address=None,
            )
        )
        client = stack.enter_context(Client(address))
        client.wait_for_workers(2)  # models are grouped for the workers that are there
        stack.enter_context(parallel_config(backend="dask"))
        cluster = timed("a Dask cluster, checkpoints", evaluator, stream)
        again = timed("the same call again", evaluator, stream)

    for name in MODELS:
        for other in (two, cluster, again):
            np.testing.assert_array_equal(one.tape.answers[name], other.tape.answers[name])
            assert one.scores[name] == other.scores[name]
    print("The answers are the same, row by row.\n")
    print(cluster)


if __name__ == "__main__":
    main()
