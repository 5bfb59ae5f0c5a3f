"""How often do tests of significance find a difference that is not there, or one that is?

Two copies of one randomised algorithm (SGD behind random Fourier features, drawn anew in every
copy and fold), where a rejection is an error; and a model against itself behind LabelNoise with
q = .05 and .10, where none is. After Bifet et al. (2015), section 4.1; their Table 2 is printed
beside, which averages over longer streams and other learners: compare the shape. Their Tables 3
(McNemar, held out) and 4 (Wilcoxon, trained), on their streams, come with ``--by-stream``.

McNemar's counts are summed over the folds, as in the paper. The anytime comparison takes the mean
loss over the folds asked about a row. Fractions are over streams times repetitions.

    python -m benchmarks.calibration --rows 300 --repetitions 10     (few enough for tests to fail)
    python -m benchmarks.calibration --by-stream --rows 300 --repetitions 4
    python -m benchmarks.calibration --rows 45312 --repetitions 100 --n-jobs 8 --results file.jsonl

With --results every finished repetition is kept, and a later call goes on from there. More
streams: add a function (rows, seed) -> (X, y) to STREAMS.
"""

import argparse
import json
import os
import time
from collections.abc import Callable
from functools import cache, partial
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np
import sklearn
from joblib import Parallel, delayed
from sklearn.linear_model import SGDClassifier
from sklearn.preprocessing import StandardScaler

import skstream
from benchmarks._fidelity import Row, add_json_option, record
from benchmarks._random_features import StreamRBFSampler
from skstream import KFoldEvaluator, LabelNoise, ParquetStream, make_stream_pipeline, stats
from skstream.streams import LED, SEA, RandomRBF, RotatingHyperplane, join_streams

ALPHA = 0.05
STRATEGIES = ("bootstrap", "cross", "split")
TESTS = ("mcnemar", "sign", "wilcoxon", "anytime", "stitched")
CASES = {"same": ("A", "B"), "q=.05": ("self", "noise .05"), "q=.10": ("self", "noise .10")}
# Bifet et al. (2015), Table 2: test_on, test, case -> bootstrap, cross, split.
PAPER = {
    ("held_out", "mcnemar"): ((0.71, 0.52, 0.66), (0.86, 0.80, 0.73), (0.88, 0.84, 0.75)),
    ("trained", "mcnemar"): ((0.77, 0.80, 0.42), (0.88, 0.94, 0.56), (0.90, 0.95, 0.58)),
    ("held_out", "sign"): ((0.11, 0.11, 0.10), (0.77, 0.82, 0.44), (0.82, 0.88, 0.50)),
    ("trained", "sign"): ((0.12, 0.12, 0.09), (0.77, 0.83, 0.44), (0.82, 0.89, 0.50)),
    ("held_out", "wilcoxon"): ((0.11, 0.11, 0.14), (0.79, 0.84, 0.51), (0.83, 0.90, 0.55)),
    ("trained", "wilcoxon"): ((0.11, 0.10, 0.19), (0.80, 0.84, 0.54), (0.83, 0.91, 0.59)),
}
# Tables 3 and 4: stream -> case -> bootstrap, cross, split. By their averages Table 3 is of rows
# held out, and Table 4 of the rows that are about to be learnt.
PAPER_3 = {
    "covertype": ((0.86, 0.64, 0.98), (0.97, 0.98, 0.98), (0.98, 0.99, 0.99)),
    "electricity": ((0.45, 0.16, 0.79), (0.99, 0.92, 0.88), (1.00, 1.00, 0.94)),
    "poker": ((0.73, 0.45, 0.86), (0.82, 0.78, 0.98), (0.96, 0.99, 1.00)),
    "LED(50000)": ((0.92, 0.85, 0.96), (0.96, 0.92, 1.00), (0.99, 0.96, 1.00)),
    "SEA(50)": ((0.67, 0.35, 0.88), (0.69, 0.39, 0.89), (0.70, 0.43, 0.89)),
    "SEA(50000)": ((0.68, 0.35, 0.89), (0.70, 0.41, 0.89), (0.71, 0.44, 0.89)),
    "HYP(10,0.001)": ((0.61, 0.32, 0.61), (1.00, 1.00, 1.00), (1.00, 1.00, 1.00)),
    "HYP(10,0.0001)": ((0.61, 0.40, 0.83), (1.00, 1.00, 1.00), (1.00, 1.00, 1.00)),
    "RBF(0,0)": ((0.89, 0.80, 0.36), (0.98, 0.98, 0.39), (0.99, 0.99, 0.40)),
    "RBF(50,0.001)": ((0.26, 0.20, 0.36), (0.18, 0.43, 0.39), (0.20, 0.44, 0.39)),
    "RBF(10,0.001)": ((0.88, 0.74, 0.36), (0.97, 0.96, 0.39), (0.98, 0.98, 0.40)),
    "RBF(50,0.0001)": ((0.76, 0.68, 0.37), (0.91, 0.76, 0.39), (0.91, 0.76, 0.41)),
    "RBF(10,0.0001)": ((0.89, 0.80, 0.36), (0.96, 0.92, 0.37), (0.98, 0.94, 0.40)),
}
PAPER_4 = {
    "covertype": ((0.12, 0.10, 0.10), (0.99, 1.00, 0.63), (1.00, 1.00, 0.97)),
    "electricity": ((0.12, 0.13, 0.14), (1.00, 1.00, 0.72), (1.00, 1.00, 0.98)),
    "poker": ((0.08, 0.10, 0.10), (0.79, 1.00, 1.00), (1.00, 1.00, 1.00)),
    "LED(50000)": ((0.11, 0.09, 0.10), (0.82, 0.49, 1.00), (1.00, 0.99, 1.00)),
    "SEA(50)": ((0.11, 0.12, 0.14), (0.26, 0.27, 0.11), (0.36, 0.45, 0.12)),
    "SEA(50000)": ((0.10, 0.09, 0.09), (0.21, 0.29, 0.11), (0.32, 0.49, 0.11)),
    "HYP(10,0.001)": ((0.09, 0.10, 0.13), (1.00, 1.00, 1.00), (1.00, 1.00, 1.00)),
    "HYP(10,0.0001)": ((0.13, 0.09, 0.11), (1.00, 1.00, 1.00), (1.00, 1.00, 1.00)),
    "RBF(0,0)": ((0.11, 0.10, 0.32), (1.00, 1.00, 0.29), (1.00, 1.00, 0.33)),
    "RBF(50,0.001)": ((0.14, 0.10, 0.30), (0.32, 1.00, 0.33), (0.13, 1.00, 0.29)),
    "RBF(10,0.001)": ((0.12, 0.10, 0.32), (1.00, 1.00, 0.28), (1.00, 1.00, 0.28)),
    "RBF(50,0.0001)": ((0.10, 0.11, 0.31), (1.00, 0.85, 0.31), (0.99, 0.86, 0.30)),
    "RBF(10,0.0001)": ((0.10, 0.09, 0.31), (1.00, 1.00, 0.32), (1.00, 1.00, 0.29)),
}


Rows = tuple[np.ndarray, np.ndarray]


@cache
def whole(name: str) -> Rows:
    """A real stream from the folder of the environment variable."""
    folder = os.environ.get("SKSTREAM_DATA")
    if folder is None:
        raise SystemExit(f"Set SKSTREAM_DATA to a folder with {name}.parquet, or --streams.")
    stream = ParquetStream(Path(folder) / f"{name}.parquet", target="class")
    chunks = list(stream)
    X, y = (np.concatenate([chunk[i] for chunk in chunks]) for i in (0, 1))
    return X, y


def real(name: str, rows: int, seed: int) -> Rows:
    """The first rows of a real stream; the same for every seed."""
    X, y = whole(name)
    return X[:rows], y[:rows]


def generated(kind: Any, rows: int, seed: int, **parameters: Any) -> Rows:
    """All rows of a generator."""
    X, y = kind(rows, random_state=seed, **parameters).rows(0, rows)
    return X, y


def moving_rbf(n_moving: int, speed: float) -> Callable[[int, int], Rows]:
    return partial(generated, RandomRBF, n_drifting=n_moving, speed=speed)


def turning_hyperplane(speed: float) -> Callable[[int, int], Rows]:
    return partial(generated, RotatingHyperplane, n_drifting=10, magnitude=speed, period=1)


def changing(kind: Any, width: int, rows: int, seed: int, **parameters: Any) -> Rows:
    """A generator that changes in the middle, over `width` rows; two values of each parameter."""
    before, after = (
        kind(rows, random_state=2 * seed + k, **{name: [v[k]] for name, v in parameters.items()})
        for k in (0, 1)
    )
    X, y = join_streams(before, after, rows // 2, width).rows(0, rows)[:2]
    return X, y


# With the names of the paper's Tables 3 and 4, and SEA and LED without gradual changes; of
# Covertype and Poker Hand the first rows.
STREAMS: dict[str, Callable[[int, int], Rows]] = {
    "electricity": partial(real, "electricity"),
    "covertype": partial(real, "covertype_head20k"),
    "SEA": partial(generated, SEA),
    "LED": partial(generated, LED, n_drifting=(1, 3, 5, 7)),
    "poker": partial(real, "poker_lsn"),
    "LED(50000)": partial(changing, LED, 50_000, n_drifting=(1, 7)),
    "SEA(50)": partial(changing, SEA, 50, thresholds=(8.0, 9.0)),
    "SEA(50000)": partial(changing, SEA, 50_000, thresholds=(8.0, 9.0)),
    "HYP(10,0.001)": turning_hyperplane(0.001),
    "HYP(10,0.0001)": turning_hyperplane(0.0001),
    "RBF(0,0)": moving_rbf(0, 0.0),
    "RBF(50,0.001)": moving_rbf(50, 0.001),
    "RBF(10,0.001)": moving_rbf(10, 0.001),
    "RBF(50,0.0001)": moving_rbf(50, 0.0001),
    "RBF(10,0.0001)": moving_rbf(10, 0.0001),
}
#: Streams of Tables 3 and 4 that are not among those of the usual table.
OTHERS = ("poker", "LED(50000)", "SEA(50)", "SEA(50000)")


def model(random_state: int | None, n_features: int) -> Any:
    """SGD behind random features; None: other features in every copy and fold."""
    features = StreamRBFSampler(gamma=0.5 / n_features, n_components=40, random_state=random_state)
    return make_stream_pipeline(StandardScaler(), features, SGDClassifier(loss="log_loss"))


def repetition(
    stream: str, test_on: str, strategy: str, number: int, rows: int, n_folds: int
) -> dict[str, Any]:
    """p-value of every test in every case; for the anytime test, its last."""
    X, y = STREAMS[stream](rows, number)
    drawn, fixed = model(None, X.shape[1]), model(number, X.shape[1])
    models = {
        "A": drawn,
        "B": drawn,
        "self": fixed,
        "noise .05": LabelNoise(fixed, noise=0.05),
        "noise .10": LabelNoise(fixed, noise=0.10),
    }
    evaluator = KFoldEvaluator(
        "accuracy",
        n_folds=n_folds,
        random_state=number,
        strategy=f"{strategy}:{test_on}".removesuffix(":all"),
    )
    result = evaluator.evaluate(models, X, y)
    assert set(result.paths.values()) == {"kernel"}, "without kernels this takes days"
    pvalues = {}
    for case, (a, b) in CASES.items():
        losses_a, losses_b = losses(result, a), losses(result, b)
        asked = ~np.isnan(losses_a)
        pvalues[case] = {
            "mcnemar": pooled_mcnemar(losses_a[asked], losses_b[asked]),
            "sign": result.compare(a, b, test="sign").pvalue,
            "wilcoxon": result.compare(a, b, test="wilcoxon").pvalue,
            **anytime(mean(losses_a), mean(losses_b)),
        }
    place = {"stream": stream, "test_on": test_on, "strategy": strategy, "repetition": number}
    return {**place, "rows": rows, "n_folds": n_folds, "p": pvalues}


def losses(result: Any, name: str) -> np.ndarray:
    """0/1 losses (n_folds, n_rows) of the rows that some fold was asked about; NaN: not asked."""
    answers, y = result.tape.answers[name], result.tape.y
    asked = answers >= 0
    return np.where(asked, answers != y, np.nan)[:, asked.any(axis=0)]


def pooled_mcnemar(loss_a: np.ndarray, loss_b: np.ndarray) -> float:
    """McNemar's test of the losses of all folds together."""
    truth = np.zeros(len(loss_a), np.int64)
    return float(stats.mcnemar(truth, loss_a.astype(np.int64), loss_b.astype(np.int64)).pvalue)


def anytime(loss_a: np.ndarray, loss_b: np.ndarray) -> dict[str, float]:
    """Anytime comparison with the boundary that is the default, and with the other."""
    both = {"anytime": "mixture", "stitched": "stitched"}
    return {
        name: float(stats.anytime_comparison(loss_a, loss_b, boundary=boundary).pvalue)
        for name, boundary in both.items()
    }


def mean(losses: np.ndarray) -> np.ndarray:
    """Mean loss over the folds asked, row by row."""
    return np.nanmean(losses, axis=0)


def main() -> None:
    """Run what is missing, and print the table."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--rows", type=int, default=10_000)
    parser.add_argument("--repetitions", type=int, default=50)
    parser.add_argument("--n-folds", type=int, default=10)
    usual = [name for name in STREAMS if name not in OTHERS]
    parser.add_argument("--streams", nargs="+", choices=STREAMS, default=usual)
    parser.add_argument("--by-stream", action="store_true", help="Tables 3 and 4 of the paper")
    parser.add_argument("--test-on", nargs="+", choices=["held_out", "trained", "all"])
    parser.add_argument("--n-jobs", type=int, default=1)
    parser.add_argument("--results", type=Path, help="file of JSON lines to keep and go on from")
    add_json_option(parser)
    options = parser.parse_args()
    if options.by_stream:
        options.streams, options.test_on = list(PAPER_3), ["held_out", "trained"]
    protocols = options.test_on or ["trained"]
    records = kept(options.results, options.rows, options.n_folds)
    wanted = list(product(options.streams, protocols, STRATEGIES, range(options.repetitions)))
    missing = [place for place in wanted if place not in records]
    started = time.perf_counter()
    jobs = (delayed(repetition)(*place, options.rows, options.n_folds) for place in missing)
    for one in Parallel(n_jobs=options.n_jobs, return_as="generator_unordered")(jobs):
        records[place_of(one)] = one
        if options.results is not None:
            with options.results.open("a") as file:
                file.write(json.dumps(one) + "\n")
    seconds = time.perf_counter() - started
    print(
        f"skstream {skstream.__version__}, scikit-learn {sklearn.__version__}; "
        f"{', '.join(options.streams)}; {options.rows:,} rows, {options.n_folds} folds, "
        f"{options.repetitions} repetitions; {len(missing)} evaluations in {seconds:,.0f} s"
    )
    for test_on in protocols:
        print_table([records[place] for place in wanted if place[1] == test_on], test_on)
    if options.by_stream:
        rows = compared([records[place] for place in wanted], options.streams)
        print("\nTables 3 and 4, by stream")
        for row in rows:
            if row.item != "Table 2":
                print(f"- {row.item}, {row.line}, {row.column}: {row.ours:.2f} ({row.theirs:.2f})")
        record(rows, options.json)


def kept(path: Path | None, rows: int, n_folds: int) -> dict[tuple[Any, ...], dict[str, Any]]:
    """Repetitions finished by earlier calls of the same size."""
    if path is None or not path.exists():
        return {}
    records = [json.loads(line) for line in path.read_text().splitlines()]
    same = [one for one in records if (one["rows"], one["n_folds"]) == (rows, n_folds)]
    return {place_of(record): record for record in same}


def place_of(record: dict[str, Any]) -> tuple[Any, ...]:
    return tuple(record[key] for key in ("stream", "test_on", "strategy", "repetition"))


def print_table(records: list[dict[str, Any]], test_on: str) -> None:
    """Fraction of rejections, the paper's in parentheses."""
    print(f"\ntest_on={test_on!r}: rejections at {ALPHA:.0%} (in parentheses: the paper)\n")
    columns = [f"{case}, {strategy}" for case in CASES for strategy in STRATEGIES]
    print("| test | " + " | ".join(columns) + " |")
    print("|---|" + "---|" * len(columns))
    for test in TESTS:
        cells = []
        for (i, case), (j, strategy) in product(enumerate(CASES), enumerate(STRATEGIES)):
            values = [one["p"][case][test] for one in records if one["strategy"] == strategy]
            paper = PAPER.get((test_on, test))
            beside = f" ({paper[i][j]:.2f})" if paper else ""
            cells.append(f"{np.mean(np.array(values) < ALPHA):.2f}{beside}")
        print(f"| {test} | " + " | ".join(cells) + " |")


def rejected(records: list[dict[str, Any]], case: str, test: str) -> float:
    """Share of the repetitions in which a test rejects."""
    return float(np.mean([one["p"][case][test] < ALPHA for one in records]))


def compared(records: list[dict[str, Any]], streams: list[str]) -> list[Row]:
    """Shares of rejections beside those of Tables 2, 3 and 4."""
    found = []
    why = "short runs of another learner"
    columns = [(i, j) for i in range(len(CASES)) for j in range(len(STRATEGIES))]
    names = {(i, j): f"{list(CASES)[i]}, {STRATEGIES[j]}" for i, j in columns}

    def of(test_on: str, strategy: int, stream: str | None = None) -> list[dict[str, Any]]:
        place = {"test_on": test_on, "strategy": STRATEGIES[strategy]}
        place |= {} if stream is None else {"stream": stream}
        return [one for one in records if place.items() <= one.items()]

    for (test_on, test), paper in PAPER.items():
        for i, j in columns:
            if chosen := of(test_on, j):
                ours = rejected(chosen, list(CASES)[i], test)
                place = "Table 2", f"{test}, {test_on}", names[i, j]
                found.append(Row("bifet", *place, paper[i][j], ours, why))
    for item, test_on, test, table in (
        ("Table 3", "held_out", "mcnemar", PAPER_3),
        ("Table 4", "trained", "wilcoxon", PAPER_4),
    ):
        for stream in streams:
            for i, j in columns:
                if chosen := of(test_on, j, stream):
                    ours = rejected(chosen, list(CASES)[i], test)
                    place = item, stream, names[i, j]
                    found.append(Row("bifet", *place, table[stream][i][j], ours, why))
    return found


if __name__ == "__main__":
    main()
