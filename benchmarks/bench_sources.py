"""Speed and memory of the streams that read files, beside pyarrow's own readers.

Rows of ten numbers, a nominal feature and a nominal label, in every format; the readers of pyarrow
alone give record batches, the streams matrices and labels. All readers take turns in one process,
and the ratio is the median over the turns. Memory is the highest of a fresh process that goes
through a file, for files of several lengths (Linux).

    python -m benchmarks.bench_sources
"""

import argparse
import platform
import re
import statistics
import subprocess
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path
from time import perf_counter

import numpy as np
import pyarrow as pa
import pyarrow.csv
import pyarrow.parquet
import sklearn
from sklearn.datasets import load_svmlight_file

import skstream
from skstream.streams import ARFFStream, CSVStream, ParquetStream, Stream, SVMLightStream

DAYS, LABELS = ["Mon", "Tue", "Wed"], ["down", "up"]
N_NUMBERS = 10
#: Features of the sparse files, and how many of them a row names.
WIDTH, N_NAMED = 1000, 10


def write_files(folder: Path, n_rows: int) -> None:
    """Write the same rows in every format."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(n_rows, N_NUMBERS)).round(4)
    day, label = rng.integers(0, len(DAYS), n_rows), rng.integers(0, len(LABELS), n_rows)
    columns = {f"x{j}": X[:, j] for j in range(N_NUMBERS)}
    columns |= {"day": np.array(DAYS)[day], "class": np.array(LABELS)[label]}
    table = pa.table(columns)
    pyarrow.parquet.write_table(table, folder / "rows.parquet")
    pyarrow.csv.write_csv(
        table, folder / "rows.csv", pyarrow.csv.WriteOptions(quoting_style="none")
    )
    lines = (folder / "rows.csv").read_text().partition("\n")[2]
    header = "".join(f"@attribute x{j} real\n" for j in range(N_NUMBERS))
    header += "@attribute day {Mon,Tue,Wed}\n@attribute class {down,up}\n@data\n"
    (folder / "rows.arff").write_text(header + lines)
    (folder / "quoted.arff").write_text(header + lines.replace("Tue", "'Tue'"))
    with (folder / "rows.svm").open("w") as file:
        for row, y in zip(X.tolist(), label.tolist(), strict=True):
            file.write(f"{y} " + " ".join(f"{j}:{x}" for j, x in enumerate(row, 1)) + "\n")
    places = np.sort(rng.integers(0, WIDTH // N_NAMED, (n_rows, N_NAMED)), axis=1)
    places = places + np.arange(N_NAMED) * (WIDTH // N_NAMED)  # no place twice
    header = "".join(f"@attribute x{j} real\n" for j in range(WIDTH))
    with (folder / "sparse.arff").open("w") as file:
        file.write(f"{header}@attribute class {{down,up}}\n@data\n")
        for named, row, y in zip(places.tolist(), X.tolist(), label.tolist(), strict=True):
            cells = ",".join(f"{j} {x}" for j, x in zip(named, row, strict=True))
            file.write(f"{{{cells}{f',{WIDTH} up' if y else ''}}}\n")


def streams(folder: Path) -> dict[str, Stream]:
    """Return a stream of every file; the classes and categories are found before the race."""
    found = {
        "ParquetStream": ParquetStream(folder / "rows.parquet", "class"),
        "CSVStream": CSVStream(folder / "rows.csv", "class"),
        "ARFFStream": ARFFStream(folder / "rows.arff", "class"),
        "ARFFStream, quoted": ARFFStream(folder / "quoted.arff", "class"),
        "ARFFStream, sparse": ARFFStream(folder / "sparse.arff", "class"),
        "SVMLightStream": SVMLightStream(folder / "rows.svm"),
    }
    for stream in found.values():
        next(iter(stream))
    return found


def read_parquet(folder: Path) -> int:
    """Go through the batches of pyarrow's own reader."""
    parquet = pyarrow.parquet.ParquetFile(folder / "rows.parquet")
    return sum(batch.num_rows for batch in parquet.iter_batches(65536))


def read_csv(folder: Path) -> int:
    """Go through the batches of pyarrow's own reader."""
    return sum(batch.num_rows for batch in pyarrow.csv.open_csv(folder / "rows.csv"))


def read_svmlight(folder: Path) -> int:
    """Read the file at once, as scikit-learn does."""
    return len(load_svmlight_file(str(folder / "rows.svm"))[1])


BARE: dict[str, Callable[[Path], int]] = {
    "ParquetStream": read_parquet,
    "CSVStream": read_csv,
    "SVMLightStream": read_svmlight,
}


def race(folder: Path, n_rows: int, repeat: int) -> None:
    """Print the rows per second of every stream, and the ratio to the bare reader."""
    found = streams(folder)
    seconds: dict[str, list[float]] = {name: [] for name in found}
    bare: dict[str, list[float]] = {name: [] for name in BARE}
    for _ in range(repeat):
        for name, stream in found.items():
            if name in BARE:
                started = perf_counter()
                assert BARE[name](folder) == n_rows
                bare[name].append(perf_counter() - started)
            started = perf_counter()
            assert sum(len(y) for _, y, _ in stream) == n_rows
            seconds[name].append(perf_counter() - started)
    print(f"\n{'stream':<22}{'rows/s':>12}{'reader alone':>15}{'time, of its':>15}")
    for name, times in seconds.items():
        line = f"{name:<22}{n_rows / statistics.median(times):>12,.0f}"
        if name in BARE:
            ratio = statistics.median(a / b for a, b in zip(times, bare[name], strict=True))
            line += f"{n_rows / statistics.median(bare[name]):>15,.0f}{ratio:>15.2f}"
        print(line)


def memory(lengths: list[int]) -> None:
    """Print the highest memory of processes that go through files of several lengths."""
    print(f"\n{'highest memory (MB)':<22}" + "".join(f"{n:>12,} rows" for n in lengths))
    found: dict[str, list[int]] = {}
    for n_rows in lengths:
        with tempfile.TemporaryDirectory() as folder:
            write_files(Path(folder), n_rows)
            for name in streams(Path(folder)):
                command = [sys.executable, __file__, "--go-through", name, "--folder", folder]
                done = subprocess.run(command, capture_output=True, text=True, check=True)
                found.setdefault(name, []).append(int(done.stdout) // 1024)
    for name, values in found.items():
        print(f"{name:<22}" + "".join(f"{value:>17,}" for value in values))


def main() -> None:
    """Print the tables."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rows", type=int, default=300_000)
    parser.add_argument("--repeat", type=int, default=5)
    parser.add_argument("--no-memory", action="store_true", help="leave the second table out")
    parser.add_argument("--go-through", metavar="STREAM", help=argparse.SUPPRESS)
    parser.add_argument("--folder", type=Path, help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.go_through:
        for _ in streams(options.folder)[options.go_through]:
            pass
        # What getrusage says includes the process that started this one.
        print(re.search(r"VmHWM:\s+(\d+)", Path("/proc/self/status").read_text())[1])
        return
    print(
        f"skstream {skstream.__version__}, scikit-learn {sklearn.__version__}, pyarrow "
        f"{pa.__version__}, Python {platform.python_version()}, {options.rows:,} rows"
    )
    with tempfile.TemporaryDirectory() as folder:
        write_files(Path(folder), options.rows)
        race(Path(folder), options.rows, options.repeat)
    if not options.no_memory:
        memory([options.rows, 4 * options.rows])


if __name__ == "__main__":
    main()
