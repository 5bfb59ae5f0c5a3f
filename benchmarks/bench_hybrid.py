"""Rows per second where only some parts have a kernel: looped alone, and everything by the loop.

A frame of 20 mixed columns (12 of numbers, two with gaps, five of categories, one of texts) goes
through a ColumnTransformer into a model without a kernel, or through a function of the user's own
into one with a kernel. Both ways give the same answers, which is checked.

    python -m benchmarks.bench_hybrid
"""

import argparse
import statistics
from collections.abc import Callable
from time import perf_counter
from typing import Any

import numpy as np
import pandas as pd
import sklearn
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.compose import ColumnTransformer
from sklearn.feature_extraction.text import HashingVectorizer
from sklearn.impute import SimpleImputer
from sklearn.linear_model import SGDClassifier
from sklearn.neural_network import MLPClassifier
from sklearn.preprocessing import FunctionTransformer, OneHotEncoder, StandardScaler

import skstream
from skstream import PrequentialEvaluator, RunOptions
from skstream.pipeline import StreamPipeline, make_stream_pipeline

CATEGORIES = [f"shop {k}" for k in range(20)]
WORDS = ["card", "cash", "late", "refund", "travel", "food", "rent", "gift", "fuel", "book"]


class NearestMean(ClassifierMixin, BaseEstimator):
    """A user's own model: the class whose mean is nearest."""

    def fit(self, X: Any, y: Any) -> "NearestMean":
        return self.partial_fit(X, y, np.unique(y))

    def partial_fit(self, X: Any, y: Any, classes: Any = None) -> "NearestMean":
        if classes is not None:
            self.classes_ = np.asarray(classes)
            self.sums_ = np.zeros((len(classes), X.shape[1]))
            self.counts_ = np.zeros(len(classes))
        for row, label in zip(np.asarray(X), y, strict=True):
            code = np.searchsorted(self.classes_, label)
            self.sums_[code] += row
            self.counts_[code] += 1
        return self

    def predict(self, X: Any) -> np.ndarray:
        means = self.sums_ / np.maximum(self.counts_, 1)[:, None]
        return self.classes_[[((means - row) ** 2).sum(axis=1).argmin() for row in X]]


def scaled_down(X: Any) -> Any:
    """Transform rows by a function that no kernel knows."""
    return X / (1 + np.abs(X))


def mixed_frame(n_rows: int) -> tuple[pd.DataFrame, np.ndarray]:
    """Rows of 20 columns, and their labels."""
    rng = np.random.default_rng(0)
    numbers = rng.normal(size=(n_rows, 14))
    y = (numbers[:, :4].sum(axis=1) + rng.normal(size=n_rows) > 0).astype(np.int64)
    columns: dict[str, Any] = {f"number_{k}": numbers[:, k] for k in range(14)}
    for k in (12, 13):
        columns[f"number_{k}"] = np.where(rng.random(n_rows) < 0.1, np.nan, numbers[:, k])
    for k in range(5):
        columns[f"category_{k}"] = rng.choice(CATEGORIES, n_rows)
    columns["text"] = [" ".join(rng.choice(WORDS, 4)) for _ in range(n_rows)]
    return pd.DataFrame(columns), y


def of_columns(model: Any) -> StreamPipeline:
    """A model behind transformers; the function of one's own has no kernel."""
    imputer = SimpleImputer(strategy="constant", fill_value=0.0, keep_empty_features=True)
    encoder = OneHotEncoder(categories=[CATEGORIES] * 5, handle_unknown="ignore")
    parts = [
        ("numbers", StandardScaler(), [f"number_{k}" for k in range(10)]),
        ("own", FunctionTransformer(scaled_down), ["number_10", "number_11"]),
        ("gaps", imputer, ["number_12", "number_13"]),
        ("categories", encoder, [f"category_{k}" for k in range(5)]),
        ("text", HashingVectorizer(n_features=64), "text"),
    ]
    return make_stream_pipeline(ColumnTransformer(parts, sparse_threshold=0.0), model)


CASES: dict[str, Callable[[], StreamPipeline]] = {
    "20 mixed columns, MLP of 50": lambda: of_columns(MLPClassifier((50,), random_state=0)),
    "20 mixed columns, a model of one's own": lambda: of_columns(NearestMean()),
    "20 mixed columns, SGD": lambda: of_columns(SGDClassifier(random_state=0)),
}


def timed(model: Any, engine: str, X: Any, y: np.ndarray) -> tuple[float, Any]:
    """Rows per second, and the result."""
    evaluator = PrequentialEvaluator("accuracy", run=RunOptions(kernels=engine == "auto"))
    started = perf_counter()
    result = evaluator.evaluate({"model": model}, X, y)
    return len(y) / (perf_counter() - started), result


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rows", type=int, default=20_000, help="rows with kernels")
    parser.add_argument("--loop-rows", type=int, default=200, help="rows of the loop alone")
    parser.add_argument("--repeat", type=int, default=3)
    options = parser.parse_args()
    X, y = mixed_frame(options.rows)
    few = options.loop_rows
    print(f"skstream {skstream.__version__}, scikit-learn {sklearn.__version__}")
    print(f"rows/s, medians of {options.repeat}; {options.rows:,} and {few:,} rows")
    print(f"{'':44}{'loop':>8}{'mixed':>10}{'ratio':>8}")
    for name, make in CASES.items():
        _, short = timed(make(), "auto", X.iloc[:few], y[:few])  # also compiles
        loops, kernels = [], []
        for _ in range(options.repeat):
            loop, expected = timed(make(), "loop", X.iloc[:few], y[:few])
            mixed, result = timed(make(), "auto", X, y)
            loops.append(loop)
            kernels.append(mixed)
        same = (
            short.predictions("model", every_row=True)[1:]
            == expected.predictions("model", every_row=True)[1:]
        )
        assert same.all(), "a mixed path must give the loop's answers"
        loop, mixed = statistics.median(loops), statistics.median(kernels)
        print(f"{name:44}{loop:8,.0f}{mixed:10,.0f}{mixed / loop:8.1f}")
        print(f"    {result.paths['model']}")


if __name__ == "__main__":
    main()
