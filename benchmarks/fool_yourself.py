"""Five ways to fool yourself on a stream, and how large the error is on real ones.

Run from the top of the repository; all figures of docs/fool_yourself.md come from here:

    python -m benchmarks.fool_yourself
    python -m benchmarks.fool_yourself --way 2 --data DATA

Streams are read from --data, or from the folder that the environment variable SKSTREAM_DATA names;
those that are not there are left out. All five take two minutes on one core.
"""

import argparse
import os
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import sklearn
from sklearn.linear_model import SGDClassifier
from sklearn.model_selection import GridSearchCV, KFold, ParameterGrid
from sklearn.preprocessing import StandardScaler
from sklearn.tree import DecisionTreeClassifier

import skstream
from benchmarks._random_features import StreamRBFSampler
from skstream import (
    KFoldEvaluator,
    MajorityClass,
    ParquetStream,
    Persistent,
    PrequentialEvaluator,
    TemporalCorrection,
    make_stream_pipeline,
)
from skstream.model_selection import ExpandingWindowSplit
from skstream.naive_bayes import IncrementalGaussianNB
from skstream.stats import anytime_comparison, mcnemar, mcnemar_curve
from skstream.streams import shuffle_rows

Rows = tuple[np.ndarray, np.ndarray]

GRID = ParameterGrid(
    {
        "estimator__learning_rate": ["constant", "optimal"],
        "estimator__eta0": [0.01, 0.1],
        "estimator__alpha": [1e-5, 1e-4, 1e-3],
        "fading_factor": [0.9, 0.99, 0.999, 1.0],
    }
)


def candidate(params: dict[str, Any]) -> Any:
    """Make a scaled linear model with temporal correction."""
    inner = TemporalCorrection(SGDClassifier(loss="log_loss", random_state=0))
    return make_stream_pipeline(StandardScaler(), inner.set_params(**params))


def tune_on_the_report(streams: dict[str, Rows]) -> None:
    """Choose on the rows that are reported, or on all rows before them."""
    models = {str(i): candidate(params) for i, params in enumerate(GRID)}
    print(f"{len(models)} candidates; accuracy on a block of rows, of the candidate chosen ...")
    print(f"  {'stream':17} {'rows of a block':>15} {'on it':>8} {'before it':>10} {'too good':>9}")
    for name in ("electricity", "covertype_head20k"):
        if name not in streams:
            continue
        X, y = streams[name]
        result = PrequentialEvaluator("accuracy", random_state=0).evaluate(models, X, y)
        correct = np.array(
            [result.predictions(model, every_row=True)[1:] == y[1:] for model in models]
        )
        for size in (250, 1000, 4000):
            edges = range(size, correct.shape[1] - size, size)
            blocks = np.array([correct[:, begin : begin + size].mean(axis=1) for begin in edges])
            before = np.array([correct[:, :begin].mean(axis=1).argmax() for begin in edges])
            honest = blocks[np.arange(len(blocks)), before].mean()
            flattered = blocks.max(axis=1).mean()
            print(
                f"  {name:17} {size:>15,} {flattered:>8.4f} {honest:>10.4f} "
                f"{flattered - honest:>9.4f}"
            )


def shuffle_the_folds(streams: dict[str, Rows]) -> None:
    """Choose the depth of a tree by shuffled folds, and in the order of time."""
    depths = {"max_depth": [2, 4, 8, 16, None]}
    print("decision tree; accuracy that a search claims, and that of its choice on later rows")
    print(f"  {'stream':17} {'cv':22} {'max_depth':>9} {'claimed':>8} {'later':>8} {'too good':>9}")
    for name in ("electricity", "with the date", "covertype_head20k"):
        if name not in streams:
            continue
        X, y = streams[name]
        n = len(y) // 2
        shuffled = KFold(5, shuffle=True, random_state=0)
        for cv in (shuffled, ExpandingWindowSplit(n // 2, n_splits=5)):
            search = GridSearchCV(DecisionTreeClassifier(random_state=0), depths, cv=cv)
            search.fit(X[:n], y[:n])
            # As it is used: fitted on what came before, asked about the next tenth of the rows.
            later = []
            for train, test in ExpandingWindowSplit(n, n_splits=5).split(X):
                tree = DecisionTreeClassifier(random_state=0, **search.best_params_)
                later.append(tree.fit(X[train], y[train]).score(X[test], y[test]))
            claimed, found = search.best_score_, float(np.mean(later))
            depth = search.best_params_["max_depth"]
            print(
                f"  {name:17} {type(cv).__name__:22} {depth!s:>9} {claimed:>8.4f} "
                f"{found:>8.4f} {claimed - found:>9.4f}"
            )


def ignore_persistent(streams: dict[str, Rows]) -> None:
    """Report a model without the model that repeats the last label."""
    print("naive Bayes beside Persistent, which repeats the last label")
    print(
        f"  {'stream':17} {'accuracy':>8} {'kappa':>8} {'persistent':>10} {'kappa_temporal':>14} "
        f"{'behind by':>10}"
    )
    evaluator = PrequentialEvaluator(["accuracy", "kappa", "kappa_temporal"], random_state=0)
    for name in ("electricity", "covertype_head20k"):
        if name not in streams:
            continue
        models = {"model": IncrementalGaussianNB(), "persistent": Persistent()}
        scores = evaluator.evaluate(models, *streams[name]).scores
        model, naive = scores["model"], scores["persistent"]["accuracy"]
        print(
            f"  {name:17} {model['accuracy']:>8.4f} {model['kappa']:>8.4f} {naive:>10.4f} "
            f"{model['kappa_temporal']:>14.4f} {naive - model['accuracy']:>10.4f}"
        )


def trust_accuracy(streams: dict[str, Rows]) -> None:
    """Compare models by accuracy where classes are rare, or labels repeat."""
    measures = ["accuracy", "kappa_m", "arithmetic_accuracy"]
    evaluator = PrequentialEvaluator(measures, random_state=0)
    if "ozone_eighthr" in streams:
        X, y = streams["ozone_eighthr"]
        y = np.where(y == "1", "ozone", "normal")
        rare = min(set(y.tolist()), key=y.tolist().count)
        weights = {label: 10.0 if label == rare else 1.0 for label in set(y.tolist())}
        sgd = SGDClassifier(loss="log_loss", class_weight=weights)
        models = {
            "majority": MajorityClass(),
            "naive Bayes": IncrementalGaussianNB(),
            "scaled SGD": make_stream_pipeline(StandardScaler(), SGDClassifier(loss="log_loss")),
            "scaled SGD, rare class x 10": make_stream_pipeline(StandardScaler(), sgd),
        }
        result = evaluator.set_params(metrics=[*measures, f"recall:{rare}"]).evaluate(models, X, y)
        print(f"ozone_eighthr, {np.mean(y == rare):.1%} of the rows are of class {rare}")
        print(f"  {'model':28} {'accuracy':>8} {'mean recall':>11} {'recall of the rare':>18}")
        for name, values in result.scores.items():
            print(
                f"  {name:28} {values['accuracy']:>8.4f} {values['arithmetic_accuracy']:>11.4f} "
                f"{values[f'recall:{rare}']:>18.4f}"
            )
    evaluator = PrequentialEvaluator("accuracy", random_state=0)
    models = {
        "persistent": Persistent(),
        "scaled SGD": make_stream_pipeline(StandardScaler(), SGDClassifier(loss="log_loss")),
    }
    for name in ("electricity", "covertype_head20k"):
        if name not in streams:
            continue
        for kind, rows in (
            ("as it came", streams[name]),
            ("shuffled", shuffle_rows(*streams[name], random_state=0)),
        ):
            scores = evaluator.evaluate(models, *rows).scores
            text = ", ".join(f"{model} {one['accuracy']:.4f}" for model, one in scores.items())
            print(f"{name}, {kind}: {text}")


def overdo_mcnemar(streams: dict[str, Rows], n_pairs: int = 200, n_copies: int = 100) -> None:
    """Look at McNemar's test again and again, and over the rows of all folds."""
    if "electricity" not in streams:
        return
    X, y = streams["electricity"]
    model = make_stream_pipeline(StandardScaler(), SGDClassifier(loss="log_loss"))
    result = PrequentialEvaluator("accuracy", random_state=0).evaluate({"m": model}, X, y)
    wrong = result.predictions("m", every_row=True)[1:] != y[1:]
    rng = np.random.default_rng(0)
    found = np.zeros(3)
    for _ in range(n_pairs):
        # Two copies whose answers are turned with probability .05: no difference but chance.
        a, b = (wrong ^ (rng.random(len(wrong)) < 0.05) for _ in range(2))
        pvalues = mcnemar_curve(np.zeros(len(a), int), a.astype(int), b.astype(int)).pvalues
        looks = pvalues[np.linspace(0, len(pvalues) - 1, 46).astype(int)[1:]]
        found += (
            looks[-1] < 0.05,
            (looks < 0.05).any(),
            anytime_comparison(a.astype(float), b.astype(float)).significant,
        )
    last, any_look, anytime = found / n_pairs
    print(f"electricity, {n_pairs} pairs of equal models; share called different at 5 %")
    print(f"  McNemar once, at the end {last:.3f}; at any of 45 looks {any_look:.3f}; ", end="")
    print(f"anytime, at any row {anytime:.3f}")

    X, y = X[:4000], y[:4000]
    names = [f"copy {i}" for i in range(n_copies)]
    copies = {name: random_model() for name in names}
    evaluator = KFoldEvaluator("accuracy", n_folds=10, random_state=0)
    result = evaluator.evaluate(copies, X, y)
    over_rows, by_folds = [], []
    for a, b in zip(names[::2], names[1::2], strict=True):
        answers = [
            np.concatenate(
                [result.predictions(name, fold=k, every_row=True)[1:] for k in range(10)]
            )
            for name in (a, b)
        ]
        over_rows.append(mcnemar(np.tile(y[1:], 10), *answers).significant)
        by_folds.append(result.compare(a, b).significant)
    print(
        f"electricity, first {len(y):,} rows, 10 bootstrap folds, {len(over_rows)} pairs of copies"
    )
    print("  of one random algorithm; share called different at 5 %")
    print(f"  McNemar over all folds' rows {np.mean(over_rows):.3f}; ", end="")
    print(f"Wilcoxon over folds {np.mean(by_folds):.3f}")


def random_model() -> Any:
    """Make a linear model on random features, drawn anew in every copy and fold."""
    return make_stream_pipeline(StreamRBFSampler(gamma=1.0, n_components=20), SGDClassifier())


WAYS: list[Callable[[dict[str, Rows]], None]] = [
    tune_on_the_report,
    shuffle_the_folds,
    ignore_persistent,
    trust_accuracy,
    overdo_mcnemar,
]


# Name of a stream, its file, and its columns: of Electricity the five inputs of the literature,
# since its label is read off the price of the row (way 6 of the page).
FIVE = ["day", "period", "nswdemand", "vicdemand", "transfer"]
STREAMS = {
    "electricity": ("electricity", FIVE),
    "with the date": ("electricity", ["date", *FIVE]),
    "covertype_head20k": ("covertype_head20k", None),
    "ozone_eighthr": ("ozone_eighthr", None),
}


def load_streams(folder: Path) -> dict[str, Rows]:
    """Streams that are there, nominal features as codes and missing values as 0."""
    found = {}
    for name, (file, columns) in STREAMS.items():
        path = folder / f"{file}.parquet"
        if path.is_file():
            options = {"missing": 0.0}
            chunks = list(ParquetStream(path, target="class", columns=columns, options=options))
            X, y = (np.concatenate([chunk[k] for chunk in chunks]) for k in (0, 1))
            found[name] = (X, y)
    return found


def main() -> None:
    """Print the figures of some ways, or of all."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--way", type=int, choices=range(1, 6), help="one of them; default: all")
    parser.add_argument("--data", type=Path, default=Path(os.environ.get("SKSTREAM_DATA", "data")))
    options = parser.parse_args()
    streams = load_streams(options.data)
    print(f"skstream {skstream.__version__}, scikit-learn {sklearn.__version__}")
    if not streams:
        print(f"No stream is in {options.data}.")
    for number, way in enumerate(WAYS, 1):
        if options.way in (None, number) and streams:
            started = time.perf_counter()
            print(f"\n{number}. {way.__name__.replace('_', ' ').capitalize()}")
            way(streams)
            print(f"  ({time.perf_counter() - started:.0f} s)")


if __name__ == "__main__":
    main()
