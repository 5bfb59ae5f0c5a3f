"""Every path that a user could write as a loop by hand, beside that loop, row by row on one core.

Microseconds of processor time per row, the least of runs in turn; with several folds or horizons,
of all of them. Both get the same rows and give the same answers, which is checked where the loop
keeps them. With the data of ``--data`` the stream is Electricity, else one of the demo rows.

    python -m benchmarks.bench_by_hand

The last lines are the seconds of a first use, with nothing compiled, in new processes.
"""

import argparse
import os
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator
from importlib.metadata import version
from importlib.util import find_spec
from pathlib import Path
from time import process_time
from typing import Any

import numpy as np
import pandas as pd
from sklearn.base import BaseEstimator, ClassifierMixin, clone
from sklearn.linear_model import LogisticRegression, SGDClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.tree import DecisionTreeClassifier

import skstream
from benchmarks.bench_refit import arrays_of
from skstream import (
    KFoldEvaluator,
    ParquetStream,
    PeriodicRefit,
    PrequentialEvaluator,
    RunOptions,
)
from skstream.compat import from_river
from skstream.streams import make_demo_stream
from skstream.tree import HoeffdingTreeClassifier

#: Learns between two refits, and how many rows each is fitted on.
EVERY, WINDOW = 500, 2_000
FOLDS = 5
#: Rows of the first fit, and of each horizon after them.
FIRST_ROWS, HORIZON = 1_000, 250
#: Imports and model of each first use.
FIRST = {
    "own tree": ("from skstream.tree import *", "HoeffdingTreeClassifier()"),
    "own forest": ("from skstream.tree import *", "AdaptiveRandomForestClassifier()"),
    "River's forest": (
        "from skstream.compat import from_river; from river.forest import ARFClassifier",
        "from_river(ARFClassifier(seed=0))",
    ),
}
Answers = list[Any]
Work = Callable[[], Answers]


class Counts(ClassifierMixin, BaseEstimator):
    """A user's own model: the class that was most frequent where the first value was as large."""

    def partial_fit(self, X: Any, y: Any, classes: Any = None) -> "Counts":
        if classes is not None:
            self.classes_ = np.asarray(classes)
            self.counts_ = np.zeros((10, len(classes)))
        for row, label in zip(X, y, strict=True):
            self.counts_[min(int(row[0] * 10), 9), 0 if label == self.classes_[0] else 1] += 1
        return self

    def predict(self, X: Any) -> Any:
        return self.classes_[[self.counts_[min(int(row[0] * 10), 9)].argmax() for row in X]]


class CountsOfFrames(Counts):
    """The same for a frame of texts and numbers."""

    def partial_fit(self, X: Any, y: Any, classes: Any = None) -> "Counts":
        return super().partial_fit(_cells(X), y, classes)

    def predict(self, X: Any) -> Any:
        return super().predict(_cells(X))


def _cells(X: Any) -> Any:
    return zip(X["v0"].array, X["text"].array, strict=True)


def row_by_row(model: Any, X: Any, y: Any) -> Answers:
    """Ask, then learn, as one would write it by hand."""
    rows = X.iloc if hasattr(X, "iloc") else X
    model.partial_fit(rows[:1], y[:1], classes=np.unique(y))
    answers = []
    for t in range(1, len(y)):
        row = rows[t : t + 1]
        answers.append(model.predict(row)[0])
        model.partial_fit(row, y[t : t + 1])
    return answers


def river_by_hand(model: Any, X: Any, y: Any) -> Answers:
    """Ask, then learn, with rows that are dictionaries already."""
    rows, labels = [dict(enumerate(x)) for x in X.tolist()], y.tolist()
    model.learn_one(rows[0], labels[0])
    answers = []
    for row, label in zip(rows[1:], labels[1:], strict=True):
        answers.append(model.predict_one(row))
        model.learn_one(row, label)
    return answers


def refits_by_hand(model: Any, X: Any, y: Any) -> Answers:
    """Fit again whenever so many rows more are known; ask row by row."""
    answers, fitted = [], None
    for t in range(len(y)):
        if t and t % EVERY == 0:
            first = max(0, t - WINDOW)
            fitted = clone(model).fit(X[first:t], y[first:t])
        if fitted is not None:
            answers.append(fitted.predict(X[t : t + 1])[0])
    return answers


def horizons_by_hand(model: Any, X: Any, y: Any) -> Answers:
    """Ask about one horizon after the other; fit again to the newest rows after each."""
    answers = []
    for begin in range(FIRST_ROWS, len(y), HORIZON):
        fitted = clone(model).fit(X[begin - FIRST_ROWS : begin], y[begin - FIRST_ROWS : begin])
        answers += fitted.predict(X[begin : begin + HORIZON]).tolist()
    return answers


def horizons(model: Any, X: Any, y: Any) -> Answers:
    """The same by an evaluator, with a score for each horizon."""
    evaluator = PrequentialEvaluator(
        "accuracy",
        forgetting=f"tumbling:{HORIZON}",
        batch_size=HORIZON,
        n_warmup=FIRST_ROWS,
        record_every=HORIZON,
        random_state=0,
    )
    refitted = PeriodicRefit(model, every=HORIZON, window=FIRST_ROWS, min_rows=FIRST_ROWS)
    return evaluated(refitted, X, y, evaluator)


def evaluated(model: Any, X: Any, y: Any, evaluator: Any = None) -> Answers:
    """All answers of an evaluation."""
    evaluator = evaluator or PrequentialEvaluator(random_state=0)
    result = evaluator.evaluate({"m": model}, X, y)
    answers: Answers = result.predictions("m", every_row=True).tolist()
    return answers


def live(model: Any, X: Any, y: Any) -> Answers:
    """Answers of a live run that gets one row per call."""
    run = PrequentialEvaluator(random_state=0, run=RunOptions(keep_tape=False)).start(
        {"m": model}, classes=np.unique(y)
    )
    return [run.update(X[t : t + 1], y[t : t + 1])["m"][0] for t in range(len(y))]


def folds_by_hand(model: Any, X: Any, y: Any) -> Answers:
    """A copy of a River model per fold; each learns all rows but those of its own fold."""
    chosen = np.random.default_rng(0).integers(0, FOLDS, len(y)).tolist()
    rows, labels = [dict(enumerate(x)) for x in X.tolist()], y.tolist()
    right = 0
    for k in range(FOLDS):
        one = model.clone()
        one.learn_one(rows[0], labels[0])
        for row, label, fold in zip(rows[1:], labels[1:], chosen[1:], strict=True):
            right += one.predict_one(row) == label
            if fold != k:
                one.learn_one(row, label)
    return []


def folds(model: Any, X: Any, y: Any) -> Answers:
    """The same by an evaluator, which draws other folds."""
    evaluator = KFoldEvaluator(n_folds=FOLDS, strategy="cross", random_state=0)
    evaluator.evaluate({"m": model}, X, y)
    return []


def with_texts(X: Any) -> pd.DataFrame:
    """The rows as a frame, with a column of texts."""
    frame = pd.DataFrame(X, columns=[f"v{k}" for k in range(X.shape[1])])
    return frame.assign(text=[f"order {k % 97} of day {k % 7}" for k in range(len(X))])


def cases(X: Any, y: Any) -> Iterator[tuple[str, int, Work, Work]]:
    """Name, rows, the loop by hand and ours of every path whose libraries are there."""
    frame, logistic = with_texts(X), LogisticRegression()

    def case(
        name: str, n: int, loop: Any, by_hand: Any, ours: Any, model: Any, rows: Any = X
    ) -> tuple[str, int, Work, Work]:
        its = rows[:n], y[:n]
        return name, n, lambda: loop(clone_of(by_hand), *its), lambda: ours(clone_of(model), *its)

    def refitted(model: Any) -> PeriodicRefit:
        return PeriodicRefit(model, every=EVERY, window=WINDOW)

    name = "PeriodicRefit(LogisticRegression())"
    yield case(name, 5_000, refits_by_hand, logistic, evaluated, refitted(logistic))
    scaled = make_pipeline(StandardScaler(), logistic)
    name = "PeriodicRefit(scaler, LogisticRegression())"
    yield case(name, 5_000, refits_by_hand, scaled, evaluated, refitted(scaled))
    if find_spec("imblearn"):
        from imblearn.pipeline import make_pipeline as with_samplers
        from imblearn.under_sampling import RandomUnderSampler

        balanced = with_samplers(RandomUnderSampler(random_state=0), logistic)
        name = "PeriodicRefit(imblearn pipeline)"
        yield case(name, 5_000, refits_by_hand, balanced, evaluated, refitted(balanced))
    by_horizon = DecisionTreeClassifier(max_depth=4, random_state=0)
    yield case("horizons of a tree", 20_000, horizons_by_hand, by_horizon, horizons, by_horizon)
    own, of_frames = Counts(), CountsOfFrames()
    name = "own class, frame of texts and numbers"
    yield case(name, 5_000, row_by_row, of_frames, evaluated, of_frames, frame)
    yield case("own class, arrays", 20_000, row_by_row, own, evaluated, own)
    sgd, tree = SGDClassifier(random_state=0), HoeffdingTreeClassifier()
    yield case("live update(row), SGD", 5_000, row_by_row, sgd, live, sgd)
    yield case("live update(row), own tree", 2_000, row_by_row, tree, live, tree)
    if find_spec("river"):
        from river import linear_model
        from river import tree as trees

        linear, hoeffding = linear_model.LogisticRegression(), trees.HoeffdingTreeClassifier()
        y = y == y[0]  # River's logistic regression takes two values
        name = "River's logistic regression, evaluate"
        yield case(name, 20_000, river_by_hand, linear, evaluated, from_river(linear))
        name = "live update(row), River's logistic regression"
        yield case(name, 5_000, river_by_hand, linear, live, from_river(linear))
        name = "live update(row), River's tree"
        yield case(name, 5_000, river_by_hand, hoeffding, live, from_river(hoeffding))
        name = f"{FOLDS} folds of River's logistic regression"
        yield case(name, 5_000, folds_by_hand, linear, folds, from_river(linear))


def clone_of(model: Any) -> Any:
    """An unfitted copy."""
    return model.clone() if hasattr(model, "clone") else clone(model)


def measured(work: Work) -> tuple[float, Answers]:
    """Seconds of processor time, and the answers."""
    start = process_time()
    answers = work()
    return process_time() - start, answers


def report(name: str, n: int, by_hand: Work, ours: Work, repeats: int) -> None:
    """Print the least microseconds of both per row, of runs in turn, and their ratio."""
    ours()  # compiles what is compiled
    pairs = []
    for _ in range(repeats):
        (hand, expected), (its, found) = measured(by_hand), measured(ours)
        assert found[-len(expected) :] == expected if expected else not found, name
        pairs.append((hand, its))
    hand, its = (min(column) * 1e6 / n for column in zip(*pairs, strict=True))
    print(f"{name:<52}{n:>8,}{hand:>9.1f}{its:>9.1f}{its / hand:>8.2f}", flush=True)


#: Run in a new process, with nothing compiled; prints seconds.
FIRST_USE = """
from time import process_time
from skstream import PrequentialEvaluator, RunOptions
{imports}
from skstream.streams import make_demo_stream
from skstream.tree import HoeffdingTreeClassifier
stream = make_demo_stream(1_500)
start = process_time()
evaluator = PrequentialEvaluator(random_state=0, run=RunOptions(kernels={kernels}))
evaluator.evaluate({model}, stream.X, stream.y)
print(process_time() - start)
"""


def first_use(imports: str, model: str, *, kernels: bool) -> float:
    """Seconds of the first evaluation of 1,500 rows in a new process, with nothing compiled."""
    code = FIRST_USE.format(imports=imports, model=model, kernels=kernels)
    with tempfile.TemporaryDirectory() as folder:
        found = subprocess.run(
            [sys.executable, "-c", code],
            env={**os.environ, "NUMBA_CACHE_DIR": folder},
            capture_output=True,
            text=True,
            check=True,
        )
    return float(found.stdout)


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    default = os.environ.get("SKSTREAM_DATA", ".")
    parser.add_argument("--data", type=Path, default=Path(default), help="folder of the stream")
    parser.add_argument("--repeats", type=int, default=3)
    parser.add_argument("--only", default="", help="paths whose name holds this text")
    options = parser.parse_args()
    path = options.data / "electricity.parquet"
    stream: Any = make_demo_stream(20_000)
    if path.exists():
        stream = ParquetStream(path, target="class", exclude=["date", "day"])
    X, y = arrays_of(stream)
    libraries = {"sklearn": "scikit-learn", "river": "river", "imblearn": "imbalanced-learn"}
    there = [f"{name} {version(name)}" for one, name in libraries.items() if find_spec(one)]
    print(f"skstream {skstream.__version__}", *there, sep=", ")
    print(f"{len(X):,} rows; µs of processor time per row")
    print(f"{'':<52}{'rows':>8}{'by hand':>9}{'ours':>9}{'ratio':>8}")
    for name, *work in cases(X, y):
        if options.only in name:
            report(name, *work, options.repeats)
    if options.only in "first use":
        print(f"{'first use, 1,500 rows, seconds':<60}{'loop':>9}{'ours':>9}")
        for name, (imports, model) in FIRST.items():
            if "river" in imports and not find_spec("river"):
                continue
            loop, ours = (first_use(imports, model, kernels=kernels) for kernels in (False, True))
            print(f"{name:<60}{loop:>9.2f}{ours:>9.2f}", flush=True)


if __name__ == "__main__":
    main()
