"""How often do tests of significance find a difference that is not there, or one that is?

Two copies of one randomised algorithm (SGD behind random Fourier features, drawn anew in every
copy and fold), where a rejection is an error; and a model against itself behind LabelNoise with
q = .05 and .10, where none is. After Bifet et al. (2015), section 4.1; their Table 2 is printed
beside, which averages over longer streams and other learners: compare the shape. Their Tables 3
(McNemar, held out) and 4 (Wilcoxon, trained), on their streams, come with ``--by-stream``, and the
sentences of the paper about all three. With ``--learner forest`` the algorithm is a forest of five
trees; the paper's is a forest, too, and it does not say of how many trees.

McNemar's counts are summed over the folds, as in the paper. The anytime comparison takes the mean
loss over the folds asked about a row. Fractions are over streams times repetitions.

    python -m benchmarks.calibration --rows 300 --repetitions 10     (few enough for tests to fail)
    python -m benchmarks.calibration --by-stream --learner forest --rows 8000 --repetitions 3
    python -m benchmarks.calibration --rows 45312 --repetitions 100 --n-jobs 8 --results file.jsonl

With --results every finished repetition is kept, and a later call goes on from there. More
streams: add a function (rows, seed) -> (X, y) to STREAMS.
"""

import argparse
import json
import os
import time
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache, partial
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np
import sklearn
from joblib import Parallel, delayed
from scipy.stats import binomtest
from sklearn.linear_model import SGDClassifier
from sklearn.preprocessing import StandardScaler

import skstream
from benchmarks._fidelity import Row, add_json_option, record
from benchmarks._random_features import StreamRBFSampler
from skstream import (
    KFoldEvaluator,
    LabelNoise,
    MajorityClass,
    ParquetStream,
    make_stream_pipeline,
    stats,
)
from skstream.streams import LED, SEA, RandomRBF, RotatingHyperplane, join_streams
from skstream.tree import AdaptiveRandomForestClassifier

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


def sgd(random_state: int | None, n_features: int) -> Any:
    """SGD behind random features; None: other features in every copy and fold."""
    features = StreamRBFSampler(gamma=0.5 / n_features, n_components=40, random_state=random_state)
    return make_stream_pipeline(StandardScaler(), features, SGDClassifier(loss="log_loss"))


def forest(random_state: int | None, n_features: int) -> Any:
    """Five Hoeffding trees that see parts of the features."""
    return AdaptiveRandomForestClassifier(5, random_state=random_state)


LEARNERS = {"sgd": sgd, "forest": forest}


def competitors(learner: str, number: int, n_features: int) -> dict[str, Any]:
    """Two copies that draw, and a fixed model with and without noise."""
    make = LEARNERS[learner]
    drawn, fixed = make(None, n_features), make(number, n_features)
    return {
        "A": drawn,
        "B": drawn,
        "self": fixed,
        "noise .05": LabelNoise(fixed, noise=0.05),
        "noise .10": LabelNoise(fixed, noise=0.10),
    }


def repetition(
    stream: str,
    strategy: str,
    number: int,
    protocols: list[str],
    options: argparse.Namespace,
) -> list[dict[str, Any]]:
    """p-value of every test in every case, for each protocol; for the anytime test, its last.

    All folds are asked about all rows, once; a protocol looks at part of the answers.
    """
    X, y = STREAMS[stream](options.rows, number)
    models = competitors(options.learner, number, X.shape[1])
    folds = {"n_folds": options.n_folds, "random_state": number}
    result = KFoldEvaluator("accuracy", strategy=strategy, **folds).evaluate(models, X, y)
    assert set(result.paths.values()) == {"kernel"}, "without kernels this takes days"
    prequential = KFoldEvaluator("accuracy", strategy=f"{strategy}:trained", **folds)
    learns = prequential.evaluate({"any": MajorityClass()}, X, y).tape.answers["any"] >= 0
    found = []
    for test_on in protocols:
        asked = {"trained": learns, "held_out": ~learns, "all": np.full_like(learns, True)}[test_on]
        asked = asked & (result.tape.answers["A"] >= 0)
        pvalues = {}
        for case, pair in CASES.items():
            loss_a, loss_b = (losses(result, name, asked) for name in pair)
            known = ~np.isnan(loss_a)
            scores = [1 - np.nanmean(loss, axis=1) for loss in (loss_a, loss_b)]
            pvalues[case] = {
                "mcnemar": pooled_mcnemar(loss_a[known], loss_b[known]),
                "sign": stats.sign_test(*scores).pvalue,
                "wilcoxon": stats.wilcoxon(*scores).pvalue,
                **anytime(mean(loss_a), mean(loss_b)),
            }
        place = {"stream": stream, "test_on": test_on, "strategy": strategy, "repetition": number}
        size = {"rows": options.rows, "n_folds": options.n_folds, "learner": options.learner}
        found.append({**place, **size, "p": pvalues})
    return found


def losses(result: Any, name: str, asked: np.ndarray) -> np.ndarray:
    """0/1 losses (n_folds, n_rows) of the rows that some fold was asked about; NaN: not asked."""
    wrong = result.tape.answers[name] != result.tape.y
    return np.where(asked, wrong, np.nan)[:, asked.any(axis=0)]


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
    parser.add_argument("--learner", choices=LEARNERS, default="sgd")
    parser.add_argument("--by-stream", action="store_true", help="Tables 3 and 4 of the paper")
    parser.add_argument("--test-on", nargs="+", choices=["held_out", "trained", "all"])
    parser.add_argument("--n-jobs", type=int, default=1)
    parser.add_argument("--results", type=Path, help="file of JSON lines to keep and go on from")
    add_json_option(parser)
    options = parser.parse_args()
    if options.by_stream:
        options.streams, options.test_on = list(PAPER_3), ["held_out", "trained"]
    protocols = options.test_on or ["trained"]
    records = kept(options)
    # The first repetition of all streams comes first: what is stopped is as even as possible.
    wanted = [
        (stream, test_on, strategy, number)
        for number, stream, strategy, test_on in product(
            range(options.repetitions), options.streams, STRATEGIES, protocols
        )
    ]
    missing = dict.fromkeys((a, c, d) for a, b, c, d in wanted if (a, b, c, d) not in records)
    started = time.perf_counter()
    jobs = (delayed(repetition)(*place, protocols, options) for place in missing)
    for some in Parallel(n_jobs=options.n_jobs, return_as="generator_unordered")(jobs):
        records |= {place_of(one): one for one in some}
        if options.results is not None:
            with options.results.open("a") as file:
                file.writelines(json.dumps(one) + "\n" for one in some)
    seconds = time.perf_counter() - started
    print(
        f"skstream {skstream.__version__}, scikit-learn {sklearn.__version__}; "
        f"{', '.join(options.streams)}; {options.learner}, {options.rows:,} rows, "
        f"{options.n_folds} folds, "
        f"{options.repetitions} repetitions; {len(missing)} evaluations in {seconds:,.0f} s"
    )
    for test_on in protocols:
        print_table([records[place] for place in wanted if place[1] == test_on], test_on)
    if options.by_stream:
        chosen = [records[place] for place in wanted]
        rows = [*compared(chosen, options), *sentences(chosen, options.streams)]
        print("\nTables 3 and 4 by stream, and what the paper says of them")
        for row in rows:
            if row.item != "Table 2" or not row.column:
                print(
                    f"- {row.item}, {row.line}, {row.column}: {row.ours} ({row.theirs}) {row.note}"
                )
        record(rows, options.json)


def kept(options: argparse.Namespace) -> dict[tuple[Any, ...], dict[str, Any]]:
    """Repetitions finished by earlier calls of the same size and learner."""
    path = options.results
    if path is None or not path.exists():
        return {}
    records = [json.loads(line) for line in path.read_text().splitlines()]
    same = {name: getattr(options, name) for name in ("rows", "n_folds", "learner")}
    return {place_of(record): record for record in records if same.items() <= record.items()}


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


@dataclass(frozen=True)
class Share:
    """How many of some repetitions a test rejected."""

    n_rejected: int
    n: int

    @property
    def value(self) -> float:
        return self.n_rejected / self.n

    def __str__(self) -> str:
        """The share, and its interval at 95 % (Wilson)."""
        ends = binomtest(self.n_rejected, self.n).proportion_ci(0.95, "wilson")
        return f"{self.value:.2f} ({ends.low:.2f} to {ends.high:.2f})"


def rejected(records: list[dict[str, Any]], case: str, test: str, **place: str) -> Share:
    """How often a test rejects, of the repetitions of a place."""
    chosen = [one for one in records if place.items() <= one.items()]
    return Share(sum(one["p"][case][test] < ALPHA for one in chosen), len(chosen))


def compared(records: list[dict[str, Any]], options: argparse.Namespace) -> list[Row]:
    """Shares of rejections beside those of Tables 2, 3 and 4."""
    found = []
    why = f"{options.rows:,} rows of each stream"
    columns = list(product(enumerate(CASES), enumerate(STRATEGIES)))

    def add(item: str, line: str, table: Any, test: str, **place: str) -> None:
        for (i, case), (j, strategy) in columns:
            ours = rejected(records, case, test, strategy=strategy, **place)
            cell = item, line, f"{case}, {strategy}", table[i][j], ours.value
            found.append(Row("bifet", *cell, why, str(ours).partition("(")[2].rstrip(")")))

    for (test_on, test), paper in PAPER.items():
        add("Table 2", f"{test}, {test_on}", paper, test, test_on=test_on)
    for stream in options.streams:
        add("Table 3", stream, PAPER_3[stream], "mcnemar", test_on="held_out", stream=stream)
    for stream in options.streams:
        add("Table 4", stream, PAPER_4[stream], "wilcoxon", test_on="trained", stream=stream)
    return found


def sentences(records: list[dict[str, Any]], streams: list[str]) -> list[Row]:
    """What the paper says of its tables, and the shares that tell whether it holds."""
    found = []

    def shares(case: str, test: str, **place: str) -> str:
        of = {s: rejected(records, case, test, strategy=s, **place) for s in STRATEGIES}
        return ", ".join(f"{strategy} {share}" for strategy, share in of.items())

    def add(item: str, line: str, claim: str, said: str) -> None:
        found.append(Row("bifet", item, line, "", claim, said, "a summary"))

    for test_on, version in (("trained", "prequential"), ("held_out", "not prequential")):
        for test in ("mcnemar", "sign", "wilcoxon"):
            claim = "a difference that is not there, in at least 42 %"
            if test != "mcnemar":
                claim = "a difference that is not there, in about 10 %"
            said = shares("same", test, test_on=test_on)
            add("Table 2", f"{test}, {version}, the same algorithm", claim, said)
        for case in list(CASES)[1:]:
            claim = "cross finds it most often, then bootstrap, split least"
            said = shares(case, "wilcoxon", test_on=test_on)
            add("Table 2", f"wilcoxon, {version}, {case}", claim, said)
    more = [
        rejected(records, "same", "mcnemar", test_on="held_out", stream=stream).value
        > rejected(records, "same", "wilcoxon", test_on="trained", stream=stream).value
        for stream in streams
    ]
    claim = "it overestimates the difference, on each stream"
    said = f"more often than Wilcoxon's (Table 4) on {sum(more)} of {len(more)} streams"
    add("Table 3", "the same algorithm", claim, said)
    for case in list(CASES)[1:]:
        perfect: dict[bool, list[bool]] = {False: [], True: []}
        for stream in streams:
            place = {"test_on": "trained", "stream": stream}
            both = [
                rejected(records, case, "wilcoxon", strategy=s, **place) for s in STRATEGIES[:2]
            ]
            perfect[stream.startswith("SEA")].append(min(one.value for one in both) == 1)
        claim = "found in all repetitions by cross and bootstrap, mostly, but for SEA"
        on, on_sea = (f"{sum(those)} of {len(those)}" for those in perfect.values())
        said = f"in all {both[0].n} repetitions on {on} streams, and on {on_sea} of SEA"
        add("Table 4", case, claim, said)
    return found


if __name__ == "__main__":
    # By its name: other processes import what they run, and cannot import what is in __main__.
    from benchmarks import calibration

    calibration.main()
